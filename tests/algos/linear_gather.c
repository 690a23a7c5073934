/* tests/algos/linear_gather.c — the laws of coll/algos/linear_gather.h */
#include "coll/algos/linear_gather.h"

#include "support/walk.h"

/* Laws 1 and 2. */
TEST(one_action_for_each_rank_in_order)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t root = 0; root < p; root += 1 + p / 5)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (unsigned gathers = 0; gathers < 2; gathers++) {
                    const coll_plan plan = plan_with(
                        gathers ? &coll_linear_gather : &coll_linear_scatter,
                        gathers ? COLL_GATHER : COLL_SCATTER, p, 3, flags, root, NULL);
                    const walk *w = walk_of(&plan, root);
                    uint32_t next = 0;
                    for (size_t i = 0; i < w->n; i++, next++) {
                        const coll_action *a = &w->act[i];
                        if (flags && next == root)
                            next++;
                        if (next == root)
                            CHECK_EQ(a->kind, COLL_DO_COPY);
                        else
                            CHECK_EQ(a->kind, gathers ? COLL_DO_RECV : COLL_DO_SEND);
                        CHECK(next == root || a->peer == next);
                        CHECK_EQ(gathers ? a->dst : a->src,
                                 COLL_AT(gathers ? COLL_OUT : COLL_IN, next * 3));
                    }
                    CHECK_EQ(w->n, p - (flags ? 1 : 0));
                    for (uint32_t rank = 0; rank < p; rank++)
                        if (rank != root) {
                            w = walk_of(&plan, rank);
                            CHECK_EQ(w->n, 1);
                            CHECK_EQ(w->act[0].kind, gathers ? COLL_DO_SEND : COLL_DO_RECV);
                            CHECK_EQ(w->act[0].peer, root);
                        }
                }
}

/* Law 3: a rank without tables knows its own count alone. */
TEST(only_the_root_needs_tables)
{
    const size_t counts[4] = {3, 0, 5, 1}, displs[4] = {7, 0, 1, 20};
    for (unsigned gathers = 0; gathers < 2; gathers++)
        for (uint32_t rank = 0; rank < 4; rank++) {
            const uint32_t root = 2;
            coll_problem problem;
            coll_plan plan;
            coll_layout *tables = gathers ? &problem.out : &problem.in;
            coll_problem_init(&problem, gathers ? COLL_GATHERV : COLL_SCATTERV, 4, counts[rank],
                              8);
            problem.root = root;
            if (rank == root) {
                tables->counts = counts;
                tables->displs = displs;
            }
            CHECK_STATUS(coll_plan_init(&plan,
                                        gathers ? &coll_linear_gather : &coll_linear_scatter,
                                        &problem, NULL),
                         COLL_OK);
            CHECK_STATUS(coll_plan_check_rank(&plan, rank), COLL_OK);
            const walk *w = walk_of(&plan, rank);
            if (rank != root) {
                CHECK_EQ(w->n, 1);
                CHECK_EQ(w->act[0].count, counts[rank]);
                CHECK_STATUS(coll_plan_check_rank(&plan, root), COLL_ERR_COUNTS);
                continue;
            }
            CHECK_EQ(w->n, 4);
            for (uint32_t i = 0; i < 4; i++) {
                CHECK_EQ(w->act[i].count, counts[i]);
                CHECK_EQ(coll_ref_offset(gathers ? w->act[i].dst : w->act[i].src), displs[i]);
            }
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned gathers = 0; gathers < 2; gathers++) {
            const coll_plan plan =
                plan_with(gathers ? &coll_linear_gather : &coll_linear_scatter,
                          gathers ? COLL_GATHER : COLL_SCATTER, p, 3, 0, p / 3, NULL);
            const coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.total.messages, p - 1);
            CHECK_EQ(cost.total.elements, 3 * (p - 1));
            CHECK_EQ(cost.total.copied, 3);
            CHECK_EQ(cost.total.scratch, 0);
            CHECK_EQ(cost.rounds, p > 1 ? 1 : 0);
        }
}

int main(void)
{
    RUN(one_action_for_each_rank_in_order);
    RUN(only_the_root_needs_tables);
    RUN(costs);
    return check_done();
}
