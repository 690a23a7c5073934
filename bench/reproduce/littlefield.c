/* bench/reproduce/littlefield.c — Littlefield 1992, modeling node bandwidth limits */
#include "coll/model/littlefield.h"

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
            report_row(what, printed[r][i],
                       (T[r + 1][i + 1] - T[r][i + 1]) / (T[r + 1][0] - T[r][0]), "");
        }
    report_text("The 3.8 is a misprint: the table's own 230 us over 65 us are 3.5.");
}

/* Time over the size of blocks. */
static void curve(const char *label, const coll_nbl_costs *m, bool fence, uint64_t N)
{
    report_curve(label, "lines");
    for (double S = 20; S <= 2000; S *= 1.03)
        report_point(S, (fence ? coll_nbl_fence_us(m, 16, 16, (double)N, S)
                               : coll_nbl_snake_us(m, 256, (double)N, S)) /
                            1e6);
}

static void figure_4(void)
{
    const uint64_t N = 100000;
    const struct {
        const char *name;
        const coll_nbl_costs *m;
    } models[] = {{"standard", standard}, {"nominal NBL", nominal}};
    report_section("Figure 4: snake and fence over the size of blocks");
    report_text(
        "The figure does not say for which machine; here it is 16 x 16 nodes and 10^5 "
        "elements. Blocks are those of the formulas against the best of all whole ones.");
    for (int i = 0; i < 2; i++) {
        char what[60];
        snprintf(what, sizeof what, "snake, %s: best block", models[i].name);
        report_row(what, coll_nbl_snake_block(models[i].m, 256, (double)N),
                   (double)coll_nbl_snake_best_block(models[i].m, 256, N), "elements");
        snprintf(what, sizeof what, "fence, %s: best block", models[i].name);
        report_row(what, coll_nbl_fence_block(models[i].m, 16, 16, (double)N),
                   (double)coll_nbl_fence_best_block(models[i].m, 16, 16, N), "elements");
    }
    report_says("faster, standard model", "fence",
                fence_us(standard, 16, 16, N) < snake_us(standard, 256, N),
                "%.3f s, snake %.3f s", fence_us(standard, 16, 16, N) / 1e6,
                snake_us(standard, 256, N) / 1e6);
    report_says("faster, nominal NBL model", "snake",
                snake_us(nominal, 256, N) < fence_us(nominal, 16, 16, N),
                "%.3f s, fence %.3f s", snake_us(nominal, 256, N) / 1e6,
                fence_us(nominal, 16, 16, N) / 1e6);
    report_picture("littlefield_4", "16 x 16 nodes, 100000 elements", "block, elements", "s",
                   "set logscale xy");
    curve("snake, standard", standard, false, N);
    curve("fence, standard", standard, true, N);
    curve("snake, nominal NBL", nominal, false, N);
    curve("fence, nominal NBL", nominal, true, N);
}

static void regimes(const char *name, const char *title, const coll_nbl_costs *m,
                    unsigned cells[3])
{
    static const char *const names[] = {"tree", "snake", "fence"};
    report_picture(name, title, "nodes", "elements", "set logscale xy\nset xrange [12:1400]");
    for (unsigned a = 0; a < 3; a++) {
        cells[a] = 0;
        report_curve(names[a], "points pt 5 ps 1.6");
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
}

static void figure_7(void)
{
    static const uint32_t side[][2] = {{4, 4}, {16, 16}, {32, 16}};
    report_section("Figure 7: the model fitted to the DELTA");
    report_row(
        "16 nodes, f(L) = L, N to infinity: snake needs less, %", 33,
        100 * (1 - snake_us(nominal, 16, 1000000000) / fence_us(nominal, 4, 4, 1000000000)),
        "");
    report_row("16 nodes, f(L) = L, 500000 elements: snake needs less, %", 33,
               100 * (1 - snake_us(nominal, 16, 500000) / fence_us(nominal, 4, 4, 500000)), "");
    report_row(
        "16 nodes, fitted f, N to infinity: fence takes longer, %", 33,
        100 * (fence_us(fitted, 4, 4, 1000000000) / snake_us(fitted, 16, 1000000000) - 1), "");
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
        char name[60], title[60];
        snprintf(name, sizeof name, "littlefield_7_%u", W * H);
        snprintf(title, sizeof title, "%u x %u nodes, fitted NBL model, best blocks", W, H);
        report_picture(name, title, "elements", "s", "set logscale xy");
        for (int a = 0; a < 3; a++) {
            report_curve(a == 0 ? "tree" : a == 1 ? "fence" : "snake", "lines");
            for (double N = 100; N <= 5e5; N *= 1.2)
                report_point(N, (a == 0   ? coll_nbl_tree_us(fitted, W, H, N)
                                 : a == 1 ? fence_us(fitted, W, H, (uint64_t)N)
                                          : snake_us(fitted, W * H, (uint64_t)N)) /
                                    1e6);
        }
    }
}

void reproduce_littlefield(void)
{
    report_chapter("Littlefield 1992: node bandwidth limits");
    table_1();
    figure_4();
    figure_5();
    figure_7();
}
