/* bench/reproduce/littlefield.c — Littlefield 1992, modeling node bandwidth limits */
#include "delta.h"
#include "papers.h"
#include "report.h"

static const coll_nbl_costs *const nominal = &coll_nbl_delta_nominal;
static const coll_nbl_costs *const standard = &coll_nbl_delta_standard;
static const coll_nbl_costs *const fitted = &coll_nbl_delta;

static double snake_us(const coll_nbl_costs *m, uint32_t P, uint64_t N)
{
    return coll_nbl_snake_us(m, P, (double)N, (double)coll_nbl_snake_best_block(m, P, N));
}

static double fence_us(const coll_nbl_costs *m, uint32_t W, uint32_t H, uint64_t N)
{
    return coll_nbl_fence_us(m, W, H, (double)N, (double)coll_nbl_fence_best_block(m, W, H, N));
}

static void table_1(void)
{
    static const double T[4][4] = {{74, 129, 259, 345},
                                   {139, 235, 398, 575},
                                   {293, 502, 833, 1222},
                                   {525, 942, 1733, 2578}};
    static const double printed[3][3] = {{1.6, 2.1, 3.8}, {1.7, 2.8, 4.2}, {1.9, 3.9, 5.8}};
    static const int links[3] = {2, 4, 6}, sizes[4] = {60, 120, 300, 600};
    report_section("Table 1: f(L) from times of 60 to 600 elements");
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 3; i++) {
            char what[60];
            snprintf(what, sizeof what, "f(%d), %d to %d elements", links[i], sizes[r],
                     sizes[r + 1]);
            if (r == 0 && i == 2) /* the misprint */
                report_missed(what, printed[r][i], (T[1][3] - T[0][3]) / (T[1][0] - T[0][0]),
                              "", -6.9);
            else /* two digits are printed */
                report_row(what, printed[r][i],
                           (T[r + 1][i + 1] - T[r][i + 1]) / (T[r + 1][0] - T[r][0]), "", 3);
        }
    report_text("The 3.8 is a misprint: the table's own 230 us over 65 us are 3.5.");
    report_picture(
        "littlefield_table_1",
        "Messages over L links at once; lines: L times as long as over one, f(L) = L",
        "block, elements", "time, µs", NULL);
    for (int i = 0; i < 4; i++) {
        char label[20];
        snprintf(label, sizeof label, "L = %d", i > 0 ? links[i - 1] : 1);
        report_curve(label, REPORT_LINE);
        for (int r = 0; r < 4; r++)
            report_point(sizes[r], (i > 0 ? links[i - 1] : 1) * T[r][0]);
        report_curve("", REPORT_PAPER);
        for (int r = 0; r < 4; r++)
            report_point(sizes[r], T[r][i]);
    }
}

/* Time over the size of blocks. */
static void curve(const char *label, const coll_nbl_costs *m, bool fence, uint64_t N)
{
    report_curve(label, REPORT_LINE);
    for (double S = 20; S <= 2000; S *= 1.03)
        report_point(S, (fence ? coll_nbl_fence_us(m, 16, 16, (double)N, S)
                               : coll_nbl_snake_us(m, 256, (double)N, S)) /
                            1e6);
}

/* The same simulated, for some blocks; returns the fastest of them. */
static uint64_t points(const coll_nbl_costs *m, coll_nbl_algorithm algorithm, uint64_t N,
                       double *least_us)
{
    uint64_t best = 0;
    report_curve("", REPORT_SIMULATED);
    *least_us = HUGE_VAL;
    for (double S = 64; S <= 2048; S *= sqrt(2)) {
        const double us = delta_us(m, algorithm, 16, 16, N, (uint64_t)S);
        report_point((double)(uint64_t)S, us / 1e6);
        if (us < *least_us) {
            *least_us = us;
            best = (uint64_t)S;
        }
    }
    return best;
}

static void figure_4(void)
{
    const uint64_t N = 100000;
    const struct {
        const char *name;
        const coll_nbl_costs *m;
    } models[] = {{"standard", standard}, {"nominal NBL", nominal}};
    double least[4];
    uint64_t best[4];
    report_section("Figure 4: snake and fence over the size of blocks");
    report_text(
        "The figure does not say for which machine; here it is 16 x 16 nodes and 10^5 "
        "elements. Blocks are those of the formulas against the best of all whole ones.");
    report_basis(SCORES_OWN);
    for (int i = 0; i < 2; i++) {
        char what[60];
        snprintf(what, sizeof what, "snake, %s: best block", models[i].name);
        report_row(what, coll_nbl_snake_block(models[i].m, 256, (double)N),
                   (double)coll_nbl_snake_best_block(models[i].m, 256, N), "elements", 4);
        snprintf(what, sizeof what, "fence, %s: best block", models[i].name);
        report_row(what, coll_nbl_fence_block(models[i].m, 16, 16, (double)N),
                   (double)coll_nbl_fence_best_block(models[i].m, 16, 16, N), "elements", 4);
    }
    report_basis(SCORES_PREDICTED);
    report_says("faster, standard model", "fence",
                fence_us(standard, 16, 16, N) < snake_us(standard, 256, N),
                "%.3f s, snake %.3f s", fence_us(standard, 16, 16, N) / 1e6,
                snake_us(standard, 256, N) / 1e6);
    report_says("faster, nominal NBL model", "snake",
                snake_us(nominal, 256, N) < fence_us(nominal, 16, 16, N),
                "%.3f s, fence %.3f s", snake_us(nominal, 256, N) / 1e6,
                fence_us(nominal, 16, 16, N) / 1e6);
    report_picture("littlefield_4", "16 x 16 nodes, 100000 elements", "block, elements",
                   "time, s", "set logscale xy");
    for (int i = 0; i < 4; i++) {
        const coll_nbl_algorithm a = i % 2 ? COLL_NBL_FENCE : COLL_NBL_SNAKE;
        char label[60];
        snprintf(label, sizeof label, "%s, %s", i % 2 ? "fence" : "snake", models[i / 2].name);
        curve(label, models[i / 2].m, i % 2, N);
        best[i] = points(models[i / 2].m, a, N, &least[i]);
    }
    report_says("simulated: faster, standard model", "fence", least[1] < least[0],
                "%.3f s, snake %.3f s", least[1] / 1e6, least[0] / 1e6);
    report_says("simulated: faster, nominal NBL model", "snake", least[2] < least[3],
                "%.3f s, fence %.3f s", least[2] / 1e6, least[3] / 1e6);
    report_says("simulated: NBL makes the best blocks", "smaller",
                best[2] < best[0] && best[3] < best[1],
                "snake %llu to %llu, fence %llu to %llu", (unsigned long long)best[0],
                (unsigned long long)best[2], (unsigned long long)best[1],
                (unsigned long long)best[3]);
}

/* A map of regimes: meshes of so many nodes, and a cell for each point. */
#define MAP "set logscale x 2\nset logscale y\nset xtics scale 0\nunset grid"

static void regimes(const char *name, const char *title, const coll_nbl_costs *m,
                    unsigned cells[3])
{
    static const char *const names[] = {"tree", "snake", "fence"};
    report_picture(name, title, "nodes", "vector, elements",
                   MAP "\nset xrange [11:1448]\nset yrange [91:5.2e5]");
    for (unsigned a = 0; a < 3; a++) {
        cells[a] = 0;
        report_cells(names[a], 1.4142, 1.0955);
        for (double N = 100; N < 5.1e5; N *= 1.2)
            for (uint32_t log = 4; log <= 10; log++) {
                const uint32_t W = 1u << (log + 1) / 2, H = 1u << log / 2;
                if ((unsigned)coll_nbl_fastest(m, W, H, (uint64_t)N).algorithm == a) {
                    report_point(W * H, N);
                    cells[a]++;
                }
            }
    }
}

/* How much longer than with the fastest of other blocks the simulated pipeline takes with the block
 * of the formula. */
static double too_long(const coll_nbl_costs *m, coll_nbl_algorithm algorithm, uint32_t W,
                       uint32_t H, uint64_t N)
{
    const double us = delta_best_us(m, algorithm, W, H, N);
    const double S = (double)delta_block(m, algorithm, W, H, N);
    double least = us;
    for (int i = -4; i <= 4; i++)
        least = fmin(least, delta_us(m, algorithm, W, H, N, (uint64_t)(S * pow(2, i / 4.))));
    return us / least - 1;
}

static void blocks(void)
{
    static const struct {
        const char *name;
        const coll_nbl_costs *m;
    } models[] = {{"standard", &coll_nbl_delta_standard},
                  {"nominal NBL", &coll_nbl_delta_nominal},
                  {"fitted NBL", &coll_nbl_delta}};
    report_section("Equation 1: the best blocks, simulated");
    report_basis(SCORES_OWN);
    report_text("Times with the block of the formula, against the fastest of blocks from half "
                "to twice as large.");
    for (int i = 0; i < 6; i++)
        for (uint32_t side = 4; side <= 8; side *= 2) {
            const coll_nbl_algorithm a = i % 2 ? COLL_NBL_FENCE : COLL_NBL_SNAKE;
            const double more = too_long(models[i / 2].m, a, side, side, 100000);
            char what[80];
            snprintf(what, sizeof what, "%s, %s, %u x %u, 100000 elements",
                     i % 2 ? "fence" : "snake", models[i / 2].name, side, side);
            report_says(what, "within 2 % of the best", more < .02, "%.1f %% longer",
                        100 * more);
        }
}

/* Figure 5 by the simulator, on some of its points. */
static void simulated_regimes(const char *name, const char *title, const coll_nbl_costs *m)
{
    static const char *const names[] = {"tree", "snake", "fence"};
    unsigned fastest[3][6], equal = 0, cells = 0;
    double worst = 1;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 6; k++) {
            const uint32_t side = 4u << i;
            const uint64_t N = (uint64_t)(100 * pow(10, k * .6));
            const unsigned formula = coll_nbl_fastest(m, side, side, N).algorithm;
            double us[3];
            fastest[i][k] = 0;
            for (unsigned a = 0; a < 3; a++) {
                us[a] = delta_best_us(m, (coll_nbl_algorithm)a, side, side, N);
                if (us[a] < us[fastest[i][k]])
                    fastest[i][k] = a;
            }
            cells++;
            equal += fastest[i][k] == formula;
            worst = fmax(worst, us[formula] / us[fastest[i][k]]);
        }
    report_picture(name, title, "nodes", "vector, elements",
                   MAP "\nset xtics 4\nset xrange [8:512]\nset yrange [50:199526]");
    for (unsigned a = 0; a < 3; a++) {
        report_cells(names[a], 2, 1.9953);
        report_point(1, 1); /* for the key; outside of the map */
        for (uint32_t i = 0; i < 18; i++)
            if (fastest[i / 6][i % 6] == a)
                report_point(16 << 2 * (i / 6), 100 * pow(10, i % 6 * .6));
    }
    report_basis(SCORES_OWN);
    report_says(title, "as by the formulas", 10 * equal >= 9 * cells && worst < 1.01,
                "%u of %u points; elsewhere the formulas' choice takes at most %.1f %% longer",
                equal, cells, 100 * (worst - 1));
}

static void figure_5(void)
{
    unsigned of_standard[3], of_nominal[3];
    report_section("Figure 5: the fastest algorithm over vector length and mesh");
    regimes("littlefield_5_standard", "Standard model, f(L) = 1", standard, of_standard);
    regimes("littlefield_5_nominal", "Nominal NBL model, f(L) = L", nominal, of_nominal);
    report_says("standard: fence almost everywhere but with short vectors", "yes",
                of_standard[COLL_NBL_FENCE] > 10 * of_standard[COLL_NBL_SNAKE],
                "%u cells, snake %u", of_standard[COLL_NBL_FENCE], of_standard[COLL_NBL_SNAKE]);
    report_says("standard: snake with very long vectors on few nodes", "yes",
                coll_nbl_fastest(standard, 4, 4, 500000).algorithm == COLL_NBL_SNAKE &&
                    coll_nbl_fastest(standard, 8, 8, 500000).algorithm == COLL_NBL_FENCE,
                "on 4 x 4, not on 8 x 8");
    report_says("nominal: snake over a large regime", "yes",
                of_nominal[COLL_NBL_SNAKE] > of_nominal[COLL_NBL_FENCE] &&
                    coll_nbl_fastest(nominal, 16, 16, 500000).algorithm == COLL_NBL_SNAKE,
                "%u cells, fence %u", of_nominal[COLL_NBL_SNAKE], of_nominal[COLL_NBL_FENCE]);
    report_says("nominal: the regime of tree grows too", "yes",
                of_nominal[COLL_NBL_TREE] > of_standard[COLL_NBL_TREE], "%u cells against %u",
                of_nominal[COLL_NBL_TREE], of_standard[COLL_NBL_TREE]);
    simulated_regimes("littlefield_5_standard_simulated", "Fastest simulated, standard model",
                      standard);
    simulated_regimes("littlefield_5_nominal_simulated", "Fastest simulated, nominal NBL model",
                      nominal);
}

/* The fence with few blocks, where what its formula has too much is seen
 * (tests/lab/sim/models.c). */
static void few_blocks(void)
{
    const uint64_t S = 100;
    double least = 0, away = 0;
    for (uint64_t B = 3; B <= 10; B++)
        for (uint32_t side = 4; side <= 16; side *= 2) {
            const double us = delta_us(fitted, COLL_NBL_FENCE, side, side, B * S, S);
            const double formula =
                coll_nbl_fence_us(fitted, side, side, (double)(B * S), (double)S);
            const unsigned most = B == 3 ? 4 : 6;
            const double less = coll_nbl_message_us(fitted, most, (double)S) -
                                coll_nbl_message_us(fitted, most - 1, (double)S) +
                                fitted->c2_us_per_element * (double)S;
            least = fmin(least, us / formula - 1);
            away = fmax(away, fabs(us / (formula - less) - 1));
        }
    report_text(
        "With few blocks the simulated fence is faster than its formula, in which all nodes "
        "make "
        "each step together. (1) The node beside the root has taken two blocks from its "
        "column, "
        "as many as it has room for, when the first comes along the row; so the last of the "
        "steps of six links (of three blocks: of four) has one link less. (2) The root "
        "combines "
        "its last block while that node still moves data. That is all, on any mesh and with "
        "any "
        "number of blocks.");
    report_says("simulated fence, 3 to 10 blocks of 100 elements", "the formula", away < 1e-6,
                "up to %.1f %% faster; within %.1g of the formula less these two", -100 * least,
                away);
}

static void figure_7(void)
{
    double away = 0, short_blocks = 0;
    static const uint32_t side[][2] = {{4, 4}, {16, 16}, {32, 16}};
    report_section("Figure 7: the model fitted to the DELTA");
    report_row(
        "16 nodes, f(L) = L, N to infinity: snake needs less, %", 33,
        100 * (1 - snake_us(nominal, 16, 1000000000) / fence_us(nominal, 4, 4, 1000000000)), "",
        2);
    report_row("16 nodes, f(L) = L, 500000 elements: snake needs less, %", 33,
               100 * (1 - snake_us(nominal, 16, 500000) / fence_us(nominal, 4, 4, 500000)), "",
               6);
    report_fit("f(2), f(3), f(4), f(6) of the fitted NBL model",
               "by the report itself, to its measured runs, which figure 7 shows");
    report_basis(SCORES_FITTED);
    report_row("16 nodes, fitted f, N to infinity: fence takes longer, %", 33,
               100 *
                   (fence_us(fitted, 4, 4, 1000000000) / snake_us(fitted, 16, 1000000000) - 1),
               "", 5);
    for (int i = 0; i < 3; i++) {
        const uint32_t W = side[i][0], H = side[i][1];
        char name[60];
        int changes = 0;
        bool in_order = true;
        coll_nbl_algorithm before = COLL_NBL_TREE;
        for (double N = 100; N < 1e7; N *= 1.05) {
            const coll_nbl_algorithm now =
                coll_nbl_fastest(fitted, W, H, (uint64_t)N).algorithm;
            if (now != before) {
                in_order = in_order && now == (changes == 0 ? COLL_NBL_FENCE : COLL_NBL_SNAKE);
                changes++;
            }
            before = now;
        }
        snprintf(name, sizeof name, "%u x %u nodes: first tree, then fence, then snake", W, H);
        report_says(name, "yes", in_order && changes == 2, "%d changes", changes);
    }
    for (int i = 0; i < 3; i++) {
        const uint32_t W = side[i][0], H = side[i][1];
        char name[60], title[100];
        snprintf(name, sizeof name, "littlefield_7_%u", W * H);
        snprintf(title, sizeof title, "%u x %u nodes, fitted NBL model, best blocks", W, H);
        report_picture(name, title, "vector, elements", "time, s",
                       "set logscale xy\nset format x '%.0s%c'");
        for (int a = 0; a < 3; a++) {
            report_curve(a == 0 ? "tree" : a == 1 ? "fence" : "snake", REPORT_LINE);
            for (double N = 100; N <= 5e5; N *= 1.2)
                report_point(N, (a == 0   ? coll_nbl_tree_us(fitted, W, H, N)
                                 : a == 1 ? fence_us(fitted, W, H, (uint64_t)N)
                                          : snake_us(fitted, W * H, (uint64_t)N)) /
                                    1e6);
            report_curve("", REPORT_SIMULATED);
            for (uint64_t N = 100; N <= 100000; N *= 10) {
                static const coll_nbl_algorithm algorithms[] = {COLL_NBL_TREE, COLL_NBL_FENCE,
                                                                COLL_NBL_SNAKE};
                const double us = delta_best_us(fitted, algorithms[a], W, H, N);
                const double model = a == 0   ? coll_nbl_tree_us(fitted, W, H, (double)N)
                                     : a == 1 ? fence_us(fitted, W, H, N)
                                              : snake_us(fitted, W * H, N);
                report_point((double)N, us / 1e6);
                if (N == 100000)
                    away = fmax(away, fabs(us / model - 1));
            }
        }
    }
    report_basis(SCORES_OWN);
    report_says("simulated against the fitted model, 100000 elements", "within 1 %", away < .01,
                "within %.1f %%", 100 * away);
    for (uint64_t N = 100; N <= 1000; N *= 10)
        for (int i = 0; i < 3; i++) {
            const uint32_t W = side[i][0], H = side[i][1];
            short_blocks =
                fmax(short_blocks, fabs(delta_best_us(fitted, COLL_NBL_SNAKE, W, H, N) /
                                            snake_us(fitted, W * H, N) -
                                        1));
        }
    report_says("simulated against the fitted model, snake of 100 and 1000 elements",
                "within 1 %", short_blocks < .01, "within %.2f %%", 100 * short_blocks);
    few_blocks();
}

void reproduce_littlefield(void)
{
    report_chapter("Littlefield 1992: node bandwidth limits");
    table_1();
    figure_4();
    blocks();
    figure_5();
    figure_7();
    reproduce_littlefield_fit();
}
