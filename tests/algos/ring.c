/* tests/algos/ring.c — the laws of coll/algos/ring.h */
#include "coll/algos/ring.h"

#include "support/walk.h"

enum { COUNT = 2 }; /* elements of a block */

static coll_plan ring(coll_collective collective, uint32_t p, uint32_t flags)
{
    const coll_algorithm *algorithm = collective == COLL_ALLGATHER ? &coll_ring_allgather
                                      : collective == COLL_ALLREDUCE
                                          ? &coll_ring_allreduce
                                          : &coll_ring_reduce_scatter;
    return plan_of(algorithm, collective, p, collective == COLL_ALLREDUCE ? 3 * p + 1 : COUNT,
                   flags | COLL_FLAG_COMMUTATIVE);
}

static const coll_collective solved[] = {COLL_ALLGATHER, COLL_REDUCE_SCATTER_BLOCK,
                                         COLL_ALLREDUCE};

TEST(neighbours_are_inverse)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p; rank++) {
            CHECK_EQ(coll_i_ring_next(p, rank), (rank + 1) % p);
            CHECK_EQ(coll_i_ring_previous(p, coll_i_ring_next(p, rank)), rank);
            for (size_t s = 0; s <= p; s++)
                CHECK_EQ(coll_i_ring_block(p, rank, s), (rank + p - s) % p);
        }
}

/* Law 1: the same step, and the same block. */
TEST(a_block_goes_to_the_right_neighbour)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t which = 0; which < 3; which++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = ring(solved[which], p, flags);
                check_step_by_step(&plan);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    for (size_t i = 0; i < w->n; i++) {
                        if (is_send(&w->act[i]))
                            CHECK_EQ(w->act[i].peer, (rank + 1) % p);
                        if (is_receive(&w->act[i]))
                            CHECK_EQ(w->act[i].peer, (rank + p - 1) % p);
                    }
                }
            }
}

/* Law 2. */
TEST(what_came_goes_on)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_plan plan = ring(COLL_ALLGATHER, p, 0);
            const walk *w = walk_of(&plan, rank);
            coll_ref came = COLL_AT(COLL_IN, 0);
            for (size_t i = 0; i < w->n; i++) {
                if (is_send(&w->act[i]))
                    CHECK_EQ(w->act[i].src, came);
                if (is_receive(&w->act[i])) {
                    came = w->act[i].dst;
                    CHECK_EQ(coll_ref_offset(came),
                             COUNT * ((rank + 2 * p - 1 - w->step[i]) % p));
                }
            }
        }
}

/* Law 3: the operand that an arriving sum takes up is of this block. */
TEST(the_own_block_comes_last_and_stays)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_plan plan = ring(COLL_REDUCE_SCATTER_BLOCK, p, 0);
            const walk *w = walk_of(&plan, rank);
            uint32_t block = (rank + p - 1) % p; /* sent first: an operand of its own */
            size_t received = 0;
            CHECK_EQ(w->act[0].src, COLL_AT(COLL_IN, COUNT * block));
            for (size_t i = 0; i < w->n; i++) {
                if (is_send(&w->act[i]))
                    CHECK(block != rank);
                if (is_receive(&w->act[i])) {
                    block = (uint32_t)(coll_ref_offset(w->act[i].src) / COUNT);
                    received++;
                    CHECK_EQ(block == rank, received == p - 1);
                }
            }
            CHECK_EQ(block, rank);
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            coll_plan plan = ring(COLL_ALLGATHER, p, flags);
            coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.rounds, p - 1);
            CHECK_EQ(cost.most.messages, p - 1);
            CHECK_EQ(cost.most.elements, COUNT * (p - 1));
            plan = ring(COLL_REDUCE_SCATTER_BLOCK, p, flags);
            cost = cost_of(&plan);
            CHECK_EQ(cost.rounds, p - 1);
            CHECK_EQ(cost.most.messages, p - 1);
            CHECK_EQ(cost.most.elements, COUNT * (p - 1));
            for (uint32_t rank = 0; rank < p; rank++)
                CHECK_EQ(coll_plan_scratch(&plan, rank), p > 1 || flags ? 2 * COUNT : 0);
            plan = ring(COLL_ALLREDUCE, p, flags);
            cost = cost_of(&plan);
            CHECK_EQ(cost.rounds, 2 * (p - 1));
            CHECK_EQ(cost.most.messages, 2 * (p - 1));
            CHECK_EQ(cost.total.elements, 2 * (3 * p + 1) * (p - 1));
            CHECK_EQ(cost.total.reduced, (3 * p + 1) * (p - 1));
            for (uint32_t rank = 0; rank < p; rank++)
                CHECK_EQ(coll_plan_scratch(&plan, rank), flags && p > 1 ? 8 : 0);
        }
}

int main(void)
{
    RUN(neighbours_are_inverse);
    RUN(a_block_goes_to_the_right_neighbour);
    RUN(what_came_goes_on);
    RUN(the_own_block_comes_last_and_stays);
    RUN(costs);
    return check_done();
}
