/* tests/lab/model/littlefield.c — the formulas of Littlefield 1992 against its printed numbers,
 * against the pipelines played step by step, and against numeric minima */
#include "coll/lab/model/littlefield.h"

#include <stdlib.h>
#include <string.h>

#include "support/near.h"

static const coll_nbl_costs *const nominal = &coll_nbl_delta_nominal;
static const coll_nbl_costs *const standard = &coll_nbl_delta_standard;
static const coll_nbl_costs *const fitted = &coll_nbl_delta;

TEST(f_of_links)
{
    for (unsigned L = 1; L <= 12; L++) {
        CHECK_SAME(coll_nbl_f(nominal, L), (double)L);
        CHECK_SAME(coll_nbl_f(standard, L), L <= 6 ? 1. : L / 6.);
    }
    CHECK_SAME(coll_nbl_f(fitted, 5), 4.5);
    CHECK_SAME(coll_nbl_message_us(fitted, 4, 100), 4 * 54 + 3.9 * 1.54 * 100);
}

/* Table 1: f(L) = dT(L)/dT(1) of neighbouring rows, to the digit that is printed. The table's 3.8
 * for six links between 60 and 120 elements is a misprint: its 230 us over 65 us are 3.5. */
TEST(table_1)
{
    static const struct {
        double T[4], f[3];
    } rows[] = {{{74, 129, 259, 345}, {1.6, 2.1, 3.5}},
                {{139, 235, 398, 575}, {1.7, 2.8, 4.2}},
                {{293, 502, 833, 1222}, {1.9, 3.9, 5.8}},
                {{525, 942, 1733, 2578}, {0, 0, 0}}};
    for (int r = 0; r < 3; r++)
        for (int L = 1; L < 4; L++) {
            const double d =
                (rows[r + 1].T[L] - rows[r].T[L]) / (rows[r + 1].T[0] - rows[r].T[0]);
            CHECK(fabs(d - rows[r].f[L - 1]) < .05);
        }
}

/* ---- the pipelines, step by step -----------------------------------------------------------
 * Every node does what it can in each step; a link is active at a node in a step in which it sends
 * or receives over it. Rows of the table count the steps by the most links of a node. */
enum { STEPS = 400, NODES = 256 };

static unsigned links[STEPS][NODES];
static unsigned last_step;

static void message(unsigned step, unsigned from, unsigned to)
{
    links[step][from]++;
    links[step][to]++;
    if (step > last_step)
        last_step = step;
}

static bool as_in_table(const coll_nbl_phase *phases, size_t n, unsigned P)
{
    unsigned step = 0;
    bool same = true;
    for (size_t i = 0; i < n; i++)
        for (double k = 0; k < phases[i].steps; k++, step++) {
            unsigned most = 0;
            for (unsigned v = 0; v < P; v++)
                if (links[step][v] > most)
                    most = links[step][v];
            same = same && most == phases[i].links;
        }
    return same && step == last_step + 1;
}

TEST(steps_of_snake)
{
    coll_nbl_phase phases[COLL_NBL_PHASES];
    for (unsigned P = 2; P <= 40; P++)
        for (unsigned B = 3; B <= 20; B++) {
            memset(links, 0, sizeof links);
            last_step = 0;
            for (unsigned b = 0; b < B; b++)
                for (unsigned hop = 0; hop < P - 1; hop++) {
                    message(b + hop, P - 1 - hop, P - 2 - hop); /* inward */
                    message(b + P - 1 + hop, hop, hop + 1);     /* outward */
                }
            CHECK(as_in_table(phases, coll_nbl_snake_phases(fitted, P, B, phases), P));
        }
}

TEST(steps_of_fence)
{
    coll_nbl_phase phases[COLL_NBL_PHASES];
    for (unsigned W = 2; W <= 8; W++)
        for (unsigned H = 2; H <= 8; H++)
            for (unsigned B = 3; B <= 12; B++) {
                memset(links, 0, sizeof links);
                last_step = 0;
                for (unsigned b = 0; b < B; b++)
                    for (unsigned x = 0; x < W; x++) {
                        /* Node (x, y) is number y W + x. Columns begin one after the other
                         * from the right, so that a block comes from above when it comes from
                         * the right too: in one pass, and with six links active. */
                        const unsigned end = H + W - 2; /* steps until it is at node (0, 0) */
                        for (unsigned y = 1; y < H; y++) {
                            message(b + H - 1 - y + W - 1 - x, y * W + x, (y - 1) * W + x);
                            message(b + end + x + y - 1, (y - 1) * W + x, y * W + x);
                        }
                        if (x > 0) {
                            message(b + H - 1 + W - 1 - x, x, x - 1);
                            message(b + end + x - 1, x - 1, x);
                        }
                    }
                CHECK(
                    as_in_table(phases, coll_nbl_fence_phases(fitted, W, H, B, phases), W * H));
            }
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* T(S) with B = N/S not rounded, as in dT/dS = 0. */
static double smooth_us(const coll_nbl_costs *m, unsigned W, unsigned H, double N, double S)
{
    coll_nbl_phase phases[COLL_NBL_PHASES];
    const size_t n = H == 0 ? coll_nbl_snake_phases(m, W, N / S, phases)
                            : coll_nbl_fence_phases(m, W, H, N / S, phases);
    return coll_nbl_phases_us(m, phases, n, S);
}

static double numeric_minimum(const coll_nbl_costs *m, unsigned W, unsigned H, double N)
{
    double low = 1e-3, high = N;
    for (int i = 0; i < 300; i++) { /* T has one minimum */
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (smooth_us(m, W, H, N, a) < smooth_us(m, W, H, N, b))
            high = b;
        else
            low = a;
    }
    return low;
}

/* The formulas are the minimum of T(S), for all three f. */
TEST(block_formulas_are_the_minimum)
{
    const coll_nbl_costs *const every[] = {standard, nominal, fitted};
    for (int i = 0; i < 3; i++)
        for (double N = 1000; N <= 1e6; N *= 10)
            for (unsigned W = 4; W <= 32; W *= 2)
                for (unsigned H = 4; H <= W; H *= 2) {
                    CHECK_NEAR(coll_nbl_snake_block(every[i], W * H, N),
                               numeric_minimum(every[i], W * H, 0, N), 1e-4);
                    CHECK_NEAR(coll_nbl_fence_block(every[i], W, H, N),
                               numeric_minimum(every[i], W, H, N), 1e-4);
                }
}

/* The whole block that the search finds is the best of all, and the formula's costs at most 2 %
 * more where it has many blocks. */
TEST(best_blocks)
{
    const coll_nbl_costs *const every[] = {standard, nominal, fitted};
    for (int i = 0; i < 3; i++) {
        for (uint64_t N = 1; N <= 3000; N += N < 40 ? 1 : 97) {
            const uint64_t snake = coll_nbl_snake_best_block(every[i], 16, N);
            const uint64_t fence = coll_nbl_fence_best_block(every[i], 8, 4, N);
            CHECK((snake == 0) == (N < 3) && (fence == 0) == (N < 3));
            for (uint64_t S = 1; S <= N && N >= 3; S++) {
                CHECK(coll_nbl_snake_us(every[i], 16, (double)N, (double)snake) <=
                      coll_nbl_snake_us(every[i], 16, (double)N, (double)S));
                CHECK(coll_nbl_fence_us(every[i], 8, 4, (double)N, (double)fence) <=
                      coll_nbl_fence_us(every[i], 8, 4, (double)N, (double)S));
            }
        }
        for (uint64_t N = 10000; N <= 500000; N *= 5)
            for (unsigned W = 4; W <= 32; W *= 2)
                for (unsigned H = 4; H <= W; H *= 2) {
                    const double n = (double)N, s = coll_nbl_snake_block(every[i], W * H, n),
                                 f = coll_nbl_fence_block(every[i], W, H, n);
                    const double snake = coll_nbl_snake_us(
                        every[i], W * H, n,
                        (double)coll_nbl_snake_best_block(every[i], W * H, N));
                    const double fence =
                        coll_nbl_fence_us(every[i], W, H, n,
                                          (double)coll_nbl_fence_best_block(every[i], W, H, N));
                    if (n / s >= 30)
                        CHECK_NEAR(coll_nbl_snake_us(every[i], W * H, n, s), snake, .02);
                    if (n / f >= 30)
                        CHECK_NEAR(coll_nbl_fence_us(every[i], W, H, n, f), fence, .02);
                }
    }
}

TEST(limits)
{
    /* Many blocks: a step of the full pipeline each. */
    const double N = 1e12, S = 100, B = N / S;
    CHECK_NEAR(coll_nbl_snake_us(nominal, 16, N, S) / B, 4 * 54 + 4 * 1.54 * S + .25 * S, 1e-6);
    CHECK_NEAR(coll_nbl_fence_us(nominal, 4, 4, N, S) / B, 6 * 54 + 6 * 1.54 * S + .37 * S,
               1e-6);
    CHECK_SAME(coll_nbl_tree_us(nominal, 32, 16, 7), 9 * (2 * (54 + 1.54 * 7) + .25 * 7));
    CHECK_SAME(coll_nbl_tree_us(nominal, 1, 1, 7), 0);
    CHECK(coll_nbl_snake_us(nominal, 16, 100, 50) > 1e300);
    CHECK(coll_nbl_fence_us(nominal, 16, 1, 100, 1) > 1e300);
    /* Two nodes, three blocks: one link, twice two, one. */
    CHECK_SAME(coll_nbl_snake_us(standard, 2, 30, 10), 6 * 54 + 4 * 15.4 + 3 * 2.5);
}

/* ---- what the paper says ------------------------------------------------------------------ */

static double best_us(const coll_nbl_costs *m, unsigned W, unsigned H, uint64_t N)
{
    const uint64_t S =
        H == 0 ? coll_nbl_snake_best_block(m, W, N) : coll_nbl_fence_best_block(m, W, H, N);
    return H == 0 ? coll_nbl_snake_us(m, W, (double)N, (double)S)
                  : coll_nbl_fence_us(m, W, H, (double)N, (double)S);
}

/* Abstract and section 4.2: with f(L) = L and very long vectors on 16 nodes, snake takes up to 33 %
 * less time than fence; at the longest vector of the paper, 5·10⁵ elements, 31 %. */
TEST(snake_33_percent_faster)
{
    const uint64_t long_vector = 1000000000;
    CHECK_NEAR(1 - (4 * 1.54 + .25) / (6 * 1.54 + .37), .33, .01); /* N → ∞ */
    CHECK_NEAR(1 - best_us(nominal, 16, 0, long_vector) / best_us(nominal, 4, 4, long_vector),
               .33, .01);
    CHECK_NEAR(1 - best_us(nominal, 16, 0, 500000) / best_us(nominal, 4, 4, 500000), .312, .01);
    for (uint64_t N = 100; N <= 500000; N *= 2)
        CHECK(1 - best_us(nominal, 16, 0, N) / best_us(nominal, 4, 4, N) < .333);
}

/* Figure 4: with f(L) = L all is slower, snake is the faster one instead of fence, and the best
 * blocks are smaller. */
TEST(figure_4)
{
    const uint64_t N = 10000;
    CHECK(best_us(standard, 256, 0, N) > best_us(standard, 16, 16, N));
    CHECK(best_us(nominal, 256, 0, 100 * N) < best_us(nominal, 16, 16, 100 * N));
    for (uint64_t n = N; n <= 100 * N; n *= 10) {
        CHECK(best_us(nominal, 256, 0, n) > 1.5 * best_us(standard, 256, 0, n));
        CHECK(best_us(nominal, 16, 16, n) > 1.5 * best_us(standard, 16, 16, n));
        CHECK(coll_nbl_snake_block(nominal, 256, (double)n) <
              .8 * coll_nbl_snake_block(standard, 256, (double)n));
        CHECK(coll_nbl_fence_block(nominal, 16, 16, (double)n) <
              .8 * coll_nbl_fence_block(standard, 16, 16, (double)n));
    }
}

/* Figure 5. Counts the cells of each algorithm over N = 10² … 5·10⁵ and W × H = 4 × 4 … 32 × 32. */
static void regimes(const coll_nbl_costs *m, unsigned cells[3])
{
    memset(cells, 0, 3 * sizeof cells[0]);
    for (double N = 100; N < 5.1e5; N *= 1.3)
        for (unsigned P = 16; P <= 1024; P *= 2) {
            const unsigned log = coll_log_ceil(2, P), W = 1u << (log + 1) / 2,
                           H = 1u << log / 2;
            cells[coll_nbl_fastest(m, W, H, (uint64_t)N).algorithm]++;
        }
}

TEST(figure_5)
{
    unsigned of_standard[3], of_nominal[3];
    regimes(standard, of_standard);
    regimes(nominal, of_nominal);
    for (unsigned P = 4; P <= 32; P *= 2) { /* short vectors: tree, in both */
        CHECK_EQ(coll_nbl_fastest(standard, P, P, 100).algorithm, COLL_NBL_TREE);
        CHECK_EQ(coll_nbl_fastest(nominal, P, P, 100).algorithm, COLL_NBL_TREE);
    }
    /* standard: fence almost everywhere else, snake with very long vectors on a few nodes */
    CHECK(of_standard[COLL_NBL_FENCE] > 10 * of_standard[COLL_NBL_SNAKE]);
    CHECK_EQ(coll_nbl_fastest(standard, 4, 4, 500000).algorithm, COLL_NBL_SNAKE);
    CHECK_EQ(coll_nbl_fastest(standard, 8, 8, 500000).algorithm, COLL_NBL_FENCE);
    CHECK_EQ(coll_nbl_fastest(standard, 32, 32, 500000).algorithm, COLL_NBL_FENCE);
    /* nominal: snake over a large regime with long vectors, also on many nodes */
    CHECK(of_nominal[COLL_NBL_SNAKE] > of_nominal[COLL_NBL_FENCE]);
    CHECK(of_nominal[COLL_NBL_TREE] > of_standard[COLL_NBL_TREE]);
    CHECK_EQ(coll_nbl_fastest(nominal, 4, 4, 10000).algorithm, COLL_NBL_SNAKE);
    CHECK_EQ(coll_nbl_fastest(nominal, 16, 16, 500000).algorithm, COLL_NBL_SNAKE);
}

/* Section 4.2, figure 7: with the fitted f the fastest is first tree, then fence, then snake. */
TEST(transition)
{
    coll_nbl_algorithm before = COLL_NBL_TREE;
    unsigned changes = 0;
    for (double N = 100; N < 1e6; N *= 1.1) {
        const coll_nbl_algorithm now = coll_nbl_fastest(fitted, 16, 16, (uint64_t)N).algorithm;
        if (now != before) {
            CHECK_EQ(now, changes == 0 ? COLL_NBL_FENCE : COLL_NBL_SNAKE);
            changes++;
        }
        before = now;
    }
    CHECK_EQ(changes, 2);
}

int main(void)
{
    RUN(f_of_links);
    RUN(table_1);
    RUN(steps_of_snake);
    RUN(steps_of_fence);
    RUN(block_formulas_are_the_minimum);
    RUN(best_blocks);
    RUN(limits);
    RUN(snake_33_percent_faster);
    RUN(figure_4);
    RUN(figure_5);
    RUN(transition);
    return check_done();
}
