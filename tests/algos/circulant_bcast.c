/* tests/algos/circulant_bcast.c — the laws of coll/algos/circulant_bcast.h and kit/circulant_schedule.h */
#include "coll/algos/circulant_bcast.h"

#include "support/walk.h"

enum { MOST = 4100 };

/* p halved, rounding up, until it is 1, in increasing order; their number. */
static uint32_t skips_of(uint32_t p, uint32_t *skip)
{
    uint32_t q = 0;
    for (uint32_t s = p; s > 1; s = s / 2 + s % 2)
        q++;
    skip[q] = p;
    for (uint32_t k = q; k > 0; k--)
        skip[k - 1] = skip[k] / 2 + skip[k] % 2;
    return q;
}

/* The schedules of ranks 1 … p−1. */
static uint8_t taken[MOST][16], base[MOST];

static void check_schedules(uint32_t p)
{
    const coll_i_circulant_graph graph = coll_i_circulant_graph_of(p);
    uint32_t skip[17];
    const uint32_t q = skips_of(p, skip);
    CHECK_EQ(graph.q, q);
    for (uint32_t k = 0; k <= q; k++)
        CHECK_EQ(coll_i_circulant_distance(graph, k), skip[k]);
    for (uint32_t v = 1; v < p; v++) {
        uint32_t rest = v;
        for (uint32_t k = q; k-- > 0;)
            if (rest >= skip[k]) {
                rest -= skip[k];
                base[v] = (uint8_t)k;
            }
        CHECK_EQ(rest, 0);
        CHECK_EQ(coll_i_circulant_base_block(graph, v), base[v]);
        for (uint32_t k = 0; k < q; k++)
            taken[v][k] = (uint8_t)coll_i_circulant_recv_block(graph, v, k);
    }
    for (uint32_t v = 0; v < p; v++)
        for (uint32_t k = 0; k < q; k++) {
            const uint32_t to = (v + skip[k]) % p;
            if (to == 0)
                continue;
            CHECK_EQ(coll_i_circulant_search(graph, to, k), taken[to][k]);
            CHECK_EQ(coll_i_circulant_send_block(graph, v, k), taken[to][k]); /* law 1 */
        }
    for (uint32_t v = 1; v < p; v++) { /* law 2 */
        uint32_t met = 0;
        for (uint32_t k = 0; k < q; k++)
            if (taken[v][k] == q + base[v])
                met |= (uint32_t)1 << base[v];
            else if (CHECK(taken[v][k] < q && taken[v][k] != base[v]))
                met |= (uint32_t)1 << taken[v][k];
        CHECK_EQ(met, ((uint32_t)1 << q) - 1);
    }
    for (uint32_t v = 0; v < p; v++) /* law 3 */
        for (uint32_t k = 0; k < q; k++) {
            const uint32_t number = coll_i_circulant_send_block(graph, v, k);
            bool has = number == (v == 0 ? q + k : base[v]);
            for (uint32_t i = 0; v > 0 && i < k; i++)
                has = has || taken[v][i] == number;
            CHECK(has || (v + skip[k]) % p == 0);
        }
}

/* Laws 1 to 3; and beyond the ranks that the verifier takes many blocks to. */
TEST(schedules)
{
    const uint32_t large[] = {255,  256,  257,  1000, 1023, 1024,
                              1025, 2049, 3000, 4095, 4096, 4097};
    for (uint32_t p = 2; p <= 200; p++)
        check_schedules(p);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        check_schedules(large[i]);
}

TEST(division_by_the_number_of_phases)
{
    for (uint32_t q = 1; q <= 32; q++) {
        const coll_fast_divisor by_q = coll_i_circulant_divisor(q),
                                other = coll_fast_divisor_of(q);
        CHECK_EQ(by_q.by, q);
        CHECK_EQ(by_q.multiplier, other.multiplier);
        CHECK_EQ(by_q.shift1, other.shift1);
        CHECK_EQ(by_q.shift2, other.shift2);
    }
}

static coll_plan blocks(bool reduces, uint32_t p, size_t count, uint32_t flags, uint32_t root,
                        uint32_t segment)
{
    return plan_with(reduces ? &coll_circulant_reduce : &coll_circulant_bcast,
                     reduces ? COLL_REDUCE : COLL_BCAST, p, count,
                     flags | COLL_FLAG_COMMUTATIVE, root, &segment);
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
            for (unsigned reduces = 0; reduces < 2; reduces++)
                for (uint32_t segment = 0; segment <= 6; segment += 3) {
                    const size_t count = 35;
                    const uint32_t root = p / 3, q = coll_log2_ceil(p);
                    const uint32_t n = segment ? (34 + segment) / segment : 1;
                    const coll_plan plan = blocks(reduces, p, count, flags, root, segment);
                    const coll_report cost = cost_of(&plan);
                    CHECK_EQ(cost.total.messages, n * (p - 1));
                    CHECK_EQ(cost.total.elements, count * (p - 1));
                    CHECK_EQ(cost.total.reduced, reduces ? count * (p - 1) : 0);
                    CHECK(cost.rounds <= n - 1 + q);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const size_t block = segment ? segment : count;
                        if (p > 1)
                            CHECK_EQ(coll_plan_steps(&plan, rank), n - 1 + q);
                        CHECK_EQ(coll_plan_scratch(&plan, rank),
                                 reduces && p > 1 ? 2 * block + (rank != root ? count : 0) : 0);
                        if (rank != root && reduces) {
                            CHECK_EQ(cost.ranks[rank].messages, n);
                            CHECK_EQ(cost.ranks[rank].elements, count);
                        }
                    }
                    /* the root sends a block in every round */
                    if (!reduces && p > 1)
                        CHECK_EQ(cost.ranks[root].messages, n - 1 + q);
                }
}

/* Rounds are numbers of 32 bits. */
TEST(more_blocks_than_can_be_counted)
{
    coll_problem problem;
    coll_plan plan;
    uint32_t segment = 1;
    coll_problem_init(&problem, COLL_BCAST, 3, (size_t)UINT32_MAX, 1);
    if (sizeof(size_t) < 8)
        return;
    CHECK_STATUS(coll_plan_init(&plan, &coll_circulant_bcast, &problem, &segment),
                 COLL_ERR_PARAM);
    segment = 2;
    CHECK_STATUS(coll_plan_init(&plan, &coll_circulant_bcast, &problem, &segment), COLL_OK);
    CHECK_EQ(coll_plan_steps(&plan, 0), ((size_t)1 << 31) + 1);
}

int main(void)
{
    RUN(schedules);
    RUN(division_by_the_number_of_phases);
    RUN(costs);
    RUN(more_blocks_than_can_be_counted);
    return check_done();
}
