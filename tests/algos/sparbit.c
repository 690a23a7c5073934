/* tests/algos/sparbit.c — the laws of coll/algos/sparbit.h */
#include "coll/algos/sparbit.h"

#include "support/walk.h"

enum { COUNT = 2 }; /* elements of a block */

static coll_plan sparbit(uint32_t p, uint32_t flags)
{
    return plan_of(&coll_sparbit_allgather, COLL_ALLGATHER, p, COUNT, flags);
}

/* Law 1. */
TEST(both_ends_agree)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan = sparbit(p, flags);
            check_step_by_step(&plan);
        }
}

/* Laws 2 and 3. */
TEST(trees_grow_from_afar)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_plan plan = sparbit(p, COLL_FLAG_IN_PLACE);
            const walk *w = walk_of(&plan, rank);
            bool has[64] = {false}; /* by how far to the left */
            size_t a = 0;
            has[0] = true;
            for (uint32_t d = coll_pow2_floor(p - 1); d > 0; d /= 2) {
                for (uint32_t left = 0; left < p; left++)
                    CHECK_EQ(has[left], left % (2 * d) == 0);
                for (uint32_t left = 0; left + d < p; left += 2 * d) {
                    const coll_action *send = &w->act[a++], *recv = &w->act[a++];
                    CHECK_EQ(send->peer, (rank + d) % p);
                    CHECK_EQ(recv->peer, (rank + p - d) % p);
                    CHECK_EQ(send->src, COLL_AT(COLL_OUT, COUNT * ((rank + p - left) % p)));
                    CHECK_EQ(recv->dst, COLL_AT(COLL_OUT, COUNT * ((rank + p - left - d) % p)));
                    CHECK(!has[left + d]);
                    has[left + d] = true;
                }
            }
            CHECK_EQ(a, w->n);
            for (uint32_t left = 0; left < p; left++)
                CHECK(has[left]);
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan = sparbit(p, flags);
            const coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.rounds, p - 1);
            for (uint32_t rank = 0; rank < p; rank++) {
                CHECK_EQ(cost.ranks[rank].messages, p - 1);
                CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                CHECK_EQ(cost.ranks[rank].copied, flags ? 0 : COUNT);
            }
        }
}

int main(void)
{
    RUN(both_ends_agree);
    RUN(trees_grow_from_afar);
    RUN(costs);
    return check_done();
}
