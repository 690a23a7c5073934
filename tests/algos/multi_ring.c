/* tests/algos/multi_ring.c — the laws of coll/algos/multi_ring.h */
#include "coll/algos/multi_ring.h"
#include "coll/algos/ring.h"

#include "support/walk.h"

enum { RINGS_MOST = 16 };

static uint32_t divisor_of_both(uint32_t a, uint32_t b)
{
    uint32_t divisor = a < b ? a : b;
    while (a % divisor || b % divisor)
        divisor--;
    return divisor;
}

/* The strides of the rings that go up, by definition. */
static uint32_t stride_of(uint32_t p, uint32_t ring)
{
    uint32_t strides[64], n = 0;
    for (uint32_t d = 1; d == 1 || d <= p / 2; d++)
        if (divisor_of_both(p, d) == 1)
            strides[n++] = d;
    return strides[ring / 2 % n];
}

static coll_plan rings_of(const coll_algorithm *algorithm, coll_collective collective,
                          uint32_t p, size_t count, uint32_t rings, uint32_t segment)
{
    const uint32_t params[] = {rings, segment};
    return plan_with(algorithm, collective, p, count, COLL_FLAG_COMMUTATIVE, 0, params);
}

/* Laws 1 and 3. */
TEST(rings_go_up_and_down)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t rings = p > 20 ? 3 : 1; rings <= (p > 20 ? 4 : RINGS_MOST);
             rings += rings < 4 ? 1 : 6) {
            const size_t block = rings;
            const coll_plan plans[] = {
                rings_of(&coll_multi_ring_allgather, COLL_ALLGATHER, p, block, rings, 0),
                rings_of(&coll_multi_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, block,
                         rings, 0),
                rings_of(&coll_multi_ring_allreduce, COLL_ALLREDUCE, p, block * p, rings, 0)};
            for (uint32_t which = 0; which < 3; which++) {
                check_step_by_step(&plans[which]);
                for (uint32_t rank = 0; rank < p; rank += p - 1) {
                    const walk *w = walk_of(&plans[which], rank);
                    for (size_t i = 0; i < w->n; i++) {
                        const uint32_t ring = (uint32_t)(w->step[i] % rings);
                        const uint32_t up = stride_of(p, ring);
                        const bool ahead = is_send(&w->act[i]) == (ring % 2 == 0);
                        if (is_send(&w->act[i]) || is_receive(&w->act[i]))
                            CHECK_EQ(w->act[i].peer, (rank + (ahead ? up : p - up)) % p);
                    }
                }
            }
        }
}

/* Law 2: on its way through all ranks, a ring takes its piece of every block, and the pieces of a block
 * tile it; segments tile pieces. */
TEST(pieces_tile_blocks)
{
    for (uint32_t p = 2; p <= 12; p++)
        for (uint32_t rings = 1; rings <= 5; rings++)
            for (uint32_t segment = 0; segment <= 3; segment++) {
                const size_t count = 7 * (size_t)p + 3;
                const coll_plan plan = rings_of(&coll_multi_ring_allreduce, COLL_ALLREDUCE, p,
                                                count, rings, segment);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    size_t sent[8] = {0}; /* by ring, in the first half */
                    bool taken[128] = {false};
                    const size_t half = coll_plan_steps(&plan, rank) / 2;
                    const size_t segments = half / (p - 1) / rings;
                    for (size_t i = 0; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        if (segment > 0)
                            CHECK(a->count <= segment);
                        if (w->step[i] < half || !is_receive(a))
                            continue;
                        sent[w->step[i] / segments % rings] += a->count;
                        for (size_t e = 0; e < a->count; e++) {
                            CHECK(!taken[coll_ref_offset(a->dst) + e]);
                            taken[coll_ref_offset(a->dst) + e] = true;
                        }
                    }
                    for (size_t e = 0; e < count; e++)
                        CHECK_EQ(taken[e], coll_part_of(plan.cut, p, e) != rank);
                    for (uint32_t ring = 0; ring < rings; ring++)
                        CHECK(sent[0] - sent[ring] <= p && sent[ring] <= sent[0]);
                }
            }
}

/* One ring in one piece is that of ring.h, action by action. */
TEST(one_ring_is_the_ring)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const coll_plan one =
            rings_of(&coll_multi_ring_allreduce, COLL_ALLREDUCE, p, 2 * (size_t)p + 1, 1, 0);
        const coll_plan ring = plan_of(&coll_ring_allreduce, COLL_ALLREDUCE, p,
                                       2 * (size_t)p + 1, COLL_FLAG_COMMUTATIVE);
        for (uint32_t rank = 0; rank < p; rank++)
            for (size_t s = 0; s < coll_plan_steps(&ring, rank); s++) {
                coll_action mine[COLL_STEP_MAX], theirs[COLL_STEP_MAX];
                const unsigned n = coll_plan_step(&one, rank, s, mine);
                CHECK_EQ(n, coll_plan_step(&ring, rank, s, theirs));
                for (unsigned i = 0; i < n; i++) {
                    CHECK_EQ(mine[i].kind, theirs[i].kind);
                    CHECK_EQ(mine[i].peer, theirs[i].peer);
                    CHECK_EQ(mine[i].count, theirs[i].count);
                    CHECK_EQ(mine[i].src, theirs[i].src);
                    CHECK_EQ(mine[i].dst, theirs[i].dst);
                }
            }
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= 20; p++)
        for (uint32_t rings = 1; rings <= 4; rings++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const uint32_t params[] = {rings, 2}, all = flags | COLL_FLAG_COMMUTATIVE;
                const size_t block = 3 * (size_t)rings;
                const coll_plan gather = plan_with(&coll_multi_ring_allgather, COLL_ALLGATHER,
                                                   p, block, all, 0, params);
                const coll_plan scatter =
                    plan_with(&coll_multi_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p,
                              block, all, 0, params);
                const coll_plan both = plan_with(&coll_multi_ring_allreduce, COLL_ALLREDUCE, p,
                                                 block * p, all, 0, params);
                const coll_plan *plans[] = {&gather, &scatter, &both};
                for (uint32_t which = 0; which < 3; which++) {
                    const coll_report cost = cost_of(plans[which]);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        CHECK_EQ(cost.ranks[rank].messages,
                                 (which == 2 ? 4u : 1u) * (p - 1) * (size_t)rings);
                        CHECK_EQ(cost.ranks[rank].elements,
                                 (which == 2 ? 2u : 1u) * (p - 1) * block);
                    }
                }
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK(coll_plan_scratch(&scatter, rank) <= 2 * block);
                    CHECK_EQ(coll_plan_scratch(&both, rank),
                             p == 1 || !flags ? 0 : (p == 2 ? block : 2 * block));
                }
            }
}

int main(void)
{
    RUN(rings_go_up_and_down);
    RUN(pieces_tile_blocks);
    RUN(one_ring_is_the_ring);
    RUN(costs);
    return check_done();
}
