/* tests/algos/multicast_all.c — the laws of coll/algos/multicast_all.h */
#include "coll/algos/multicast_all.h"

#include "support/walk.h"

/* Laws 1 and 2. */
TEST(all_take_turns)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan =
                plan_of(&coll_multicast_allgather, COLL_ALLGATHER, p, 3, flags);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                uint32_t step = 0;
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    if (a->kind == COLL_DO_COPY) {
                        CHECK(!flags && step == (p > 1 ? rank + 1 : 0));
                    } else if (step++ == rank) {
                        CHECK_EQ(a->kind, COLL_DO_MULTICAST);
                        CHECK_EQ(a->src, flags ? COLL_AT(COLL_OUT, 3 * (size_t)rank)
                                               : COLL_AT(COLL_IN, 0));
                    } else {
                        CHECK(is_receive(a));
                        CHECK_EQ(a->peer, step - 1);
                        CHECK_EQ(a->dst, COLL_AT(COLL_OUT, 3 * (size_t)(step - 1)));
                    }
                    CHECK_EQ(a->count, 3);
                }
                CHECK_EQ(step, p > 1 ? p : 0);
            }
        }
}

/* What there is nothing of is not sent. */
TEST(blocks_of_many_sizes)
{
    static const size_t counts[4] = {2, 0, 5, 1}, displs[4] = {1, 4, 5, 11};
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLGATHERV, 4, 0, 4);
    problem.out.counts = counts;
    problem.out.displs = displs;
    CHECK_STATUS(coll_plan_init(&plan, &coll_multicast_allgather, &problem, NULL), COLL_OK);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const walk *w = walk_of(&plan, rank);
        for (size_t i = 0; i < w->n; i++) {
            const coll_action *a = &w->act[i];
            CHECK_EQ(a->count, counts[is_receive(a) ? a->peer : rank]);
            if (is_receive(a))
                CHECK_EQ(a->dst, COLL_AT(COLL_OUT, displs[a->peer]));
        }
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const coll_plan plan = plan_of(&coll_multicast_allgather, COLL_ALLGATHER, p, 5, 0);
        const coll_report cost = cost_of(&plan);
        CHECK_EQ(cost.rounds, p > 1 ? p : 0);
        CHECK_EQ(cost.total.messages, p > 1 ? p : 0);
        CHECK_EQ(cost.total.elements, p > 1 ? 5 * p : 0);
        CHECK_EQ(coll_plan_scratch(&plan, 0), 0);
    }
}

int main(void)
{
    RUN(all_take_turns);
    RUN(blocks_of_many_sizes);
    RUN(costs);
    return check_done();
}
