/* bench/reproduce/atcom.c — Wu 2005, performance tuning of collective communications on SMP
 * clusters */
#include "coll/lab/model/atcom.h"

#include "papers.h"
#include "report.h"
#include "smp.h"
#include "wu_matrix.h"

static const coll_plogp_costs *const ibm = &coll_plogp_ibm;

/* What the filters left, against tables 4.4 to 4.6, of the thesis's matrix or of a simulated one. */
static void rows_of_marks(const coll_atcom_result *filtered, bool simulated)
{
    char lines[14 * 20];
    int equal = 0, least[COLL_ATCOM_MEASURED + 1] = {0};
    for (int row = 0; row < 14; row++)
        for (int column = 0; column < 10; column++) {
            const unsigned mark = filtered->mark[row][column];
            char *at = &lines[20 * row + 2 * column];
            at[0] = mark_letters[mark];
            at[1] = column < 9 ? ' ' : '\n';
            equal += at[0] == marks[row][column];
            for (unsigned m = 0; m <= mark; m++)
                least[m]++;
        }
    report_text("```\n%.*s```", (int)sizeof lines, lines);
    report_row("entries after filter 1, table 4.4", 30, least[COLL_ATCOM_FEW], "", 0);
    report_row("entries after filter 2, table 4.5", 18, least[COLL_ATCOM_POSSIBLE], "", 0);
    if (simulated) {
        report_missed("entries after filter 3, table 4.6", 12, least[COLL_ATCOM_COMPUTED], "",
                      -50);
        report_missed("of them measured", 4, least[COLL_ATCOM_MEASURED], "", -50);
    } else {
        report_row("entries after filter 3, table 4.6", 12, least[COLL_ATCOM_COMPUTED], "", 0);
        report_row("of them measured", 4, least[COLL_ATCOM_MEASURED], "", 0);
    }
    report_row("entries as in the tables", 140, equal, "", simulated ? 5 : 0);
}

/* What tuning costs, and loses; chosen: the time of the filters' choice. */
static void rows_of_costs(const coll_atcom_result *filtered,
                          const coll_atcom_result *exhaustive, double chosen, bool simulated)
{
    const double share = 100 * filtered->spent_us / exhaustive->spent_us;
    if (simulated)
        report_missed("time of filtered over exhaustive tuning, chain", 10.8, share, "%", -22);
    else
        report_row("time of filtered over exhaustive tuning, chain", 10.8, share, "%", 5);
    report_says("loss against the best of all", "at most 5 to 10 %",
                chosen < 1.1 * exhaustive->us, "%.1f %%: %llu K, overlap %llu K",
                100 * (chosen / exhaustive->us - 1),
                (unsigned long long)filtered->segment / 1024,
                (unsigned long long)filtered->overlap / 1024);
}

static void tables(void)
{
    uint64_t bytes = 8 << 20;
    const coll_atcom_tuning t = tuning(&bytes);
    coll_atcom_result filtered, exhaustive;
    double chosen;
    coll_atcom_tune(&t, &filtered);
    coll_atcom_tune_exhaustively(&t, &exhaustive);
    chosen = mixed(&bytes, filtered.segment, filtered.overlap);
    report_section("Tables 4.4 to 4.6: the filters on the measured matrix of table 4.1");
    report_text(
        "Costs of messages and of shared memory are those which tables 4.1 and 4.3 imply "
        "(`coll_plogp_ibm`); beyond segments of 2 MB, where table 4.1 ends, times are those "
        "of equation 4.6. x: left by filter 1; o: left by filter 2; X: measured, c: computed "
        "by filter 3. Columns are segments of 16K to 8M, rows overlaps of 1K to 8M.");
    report_fit("the IBM's os, or, g and L, and its copies",
               "tables 4.1 and 4.3, which imply them");
    report_basis(SCORES_ASSUMED); /* the filters are given what the tables were made of */
    rows_of_marks(&filtered, false);
    report_section("Tables 4.7, 4.8 and figure 4.19: what filtered tuning costs, and loses");
    rows_of_costs(&filtered, &exhaustive, chosen, false);
}

static void figures(void)
{
    static const struct {
        const char *name, *title;
        coll_atcom_mode mode;
    } equations[] = {{"atcom_4_15", "Equation 4.3, overlapping", COLL_ATCOM_OVERLAPPING},
                     {"atcom_4_16", "Equation 4.4, wholly overlapped", COLL_ATCOM_COMPLETE},
                     {"atcom_4_17", "Equation 4.6, with penalty", COLL_ATCOM_PENALTY}};
    report_section("Figures 4.15 to 4.17: what the equations say of 8 MB to 8 x 16 processes");
    for (int i = 0; i < 3; i++) {
        report_picture(equations[i].name, equations[i].title, "overlap, bytes", "time, s",
                       "set logscale x 2\nset format x '%.0b%B'\nset yrange [0:*]");
        for (double segment = 1 << 14; segment <= 1 << 23; segment *= 4) {
            char label[40];
            snprintf(label, sizeof label, "segments of %g KiB", segment / 1024);
            report_curve(label, REPORT_LINKED);
            for (double overlap = 1 << 10; overlap <= segment; overlap *= 2) {
                const coll_atcom_terms t = coll_atcom_chain(ibm, 8, 8 << 20, segment, overlap);
                report_point(overlap, coll_atcom_us(&t, equations[i].mode) / 1e6);
            }
        }
    }
}

/* ---- simulated --------------------------------------------------------------------------- */

static double simulated[COLL_ATCOM_SIZES][COLL_ATCOM_SIZES]; /* by the logarithms; 0: not yet */
static coll_plogp_costs measured; /* those of the IBM, with simulated shared memory */

static double simulated_inter(void *ctx, uint64_t segment)
{
    return smp_inter_us(*(const uint64_t *)ctx, segment);
}

static double simulated_within(void *ctx, uint64_t bytes)
{
    (void)ctx;
    return smp_within_us(bytes);
}

static double simulated_mixed(void *ctx, uint64_t segment, uint64_t overlap)
{
    double *us = &simulated[coll_log_ceil(2, segment)][coll_log_ceil(2, overlap)];
    if (*us == 0)
        *us = smp_mixed_us(*(const uint64_t *)ctx, segment, overlap);
    return *us;
}

static coll_atcom_terms measured_terms(void *ctx, uint64_t segment, uint64_t overlap)
{
    return coll_atcom_chain(&measured, SMP_NODES, (double)*(const uint64_t *)ctx,
                            (double)segment, (double)overlap);
}

/* How far between nodes alone simulation and formula are apart at most. */
static double off_the_formula(double bytes)
{
    double most = 0;
    for (double segment = 1 << 10; segment <= bytes; segment *= 2)
        most = fmax(most, fabs(smp_inter_us((uint64_t)bytes, (uint64_t)segment) /
                                   coll_plogp_chain_us(ibm, SMP_NODES, bytes, segment) -
                               1));
    return most;
}

static void simulated_tables(void)
{
    uint64_t bytes = 8 << 20;
    const coll_atcom_tuning t = {
        bytes,           1 << 14,        1 << 10, simulated_inter, simulated_within,
        simulated_mixed, measured_terms, &bytes};
    coll_atcom_result filtered, exhaustive;
    const double off = off_the_formula((double)bytes);
    double printed = 0, ours = 0;
    int cells = 0;
    measured = *ibm;
    for (uint32_t i = 0; i < measured.n; i++)
        measured.row[i].us[COLL_PLOGP_SMCC] = smp_within_us((uint64_t)measured.row[i].bytes);
    coll_atcom_tune(&t, &filtered);
    coll_atcom_tune_exhaustively(&t, &exhaustive);
    report_section("Tables 4.1 and 4.4 to 4.6: the filters on a simulated matrix");
    report_text(
        "Every entry is a simulation of the library's `mixed` broadcast of 8 MB on a "
        "chain of 8 nodes of 16 ranks; between nodes alone it is `chain`, within a node "
        "`shm`. Messages cost as above, and copies what those times of shared memory "
        "imply. A message of more than 64 KB stands still while ranks of its nodes copy, "
        "which is the penalty of overlapping at its largest (`smp.h`). So it sets in at "
        "segments "
        "of 128 KB, in the thesis at 512 KB, and filter 3 ends two columns sooner. If a copy "
        "alone takes 1 to 2.4 ns a byte instead of 1.6, and all copies "
        "together accordingly more or less, tuning costs 8.1 to 8.7 %% of the exhaustive "
        "search; if nothing holds messages up, 11.6 %%. The thesis's matrix is faster in its "
        "first columns than between nodes alone, by its own equations too (table 4.3): it puts "
        "that down to a library that floods of short messages slow down, which is not here.");
    report_basis(SCORES_OWN);
    report_says("between nodes alone, against the formula of the chain", "the same", off < .022,
                "within %.1f %%; without overheads, exactly", 100 * off);
    report_basis(SCORES_PREDICTED);
    rows_of_marks(&filtered, true);
    for (int row = 0; row < 12; row++)
        for (int column = 0; column < 8; column++)
            if (table_4_1[row][column] > 0) {
                cells++;
                printed += table_4_1[row][column];
                ours += simulated[14 + column][10 + row] / 1e6;
            }
    report_basis(SCORES_FITTED);
    report_row("mean over the entries of table 4.1", printed / cells, ours / cells, "s", 10);
    report_basis(SCORES_PREDICTED);
    rows_of_costs(&filtered, &exhaustive,
                  filtered.overlap ? simulated_mixed(&bytes, filtered.segment, filtered.overlap)
                                   : filtered.us,
                  true);
    report_picture("atcom_4_1", "Simulated broadcasts of 8 MB to 8 x 16 ranks",
                   "overlap, bytes", "time, s",
                   "set logscale x 2\nset format x '%.0b%B'\nset yrange [0:*]");
    for (uint32_t s = 14; s <= 22; s += 2) {
        char label[40];
        snprintf(label, sizeof label, "segments of %u KiB", 1u << s >> 10);
        report_curve(label, REPORT_LINKED);
        for (uint32_t o = 10; o <= s; o++)
            report_point(1 << o, simulated[s][o] / 1e6);
        report_curve("", REPORT_PAPER);
        for (uint32_t o = 10; s <= 21 && o <= s; o++)
            report_point(1 << o, table_4_1[o - 10][s - 14]);
    }
}

void reproduce_atcom(void)
{
    report_chapter("Wu 2005: ATCOM");
    tables();
    figures();
    simulated_tables();
    reproduce_atcom_library();
}
