/* tests/algos/shm_flat.c — the laws of coll/algos/shm_flat.h */
#include "coll/algos/shm_flat.h"

#include "support/walk.h"

static const struct {
    const coll_algorithm *algorithm;
    coll_collective collective;
} rows[] = {{&coll_shm_flat_allgather, COLL_ALLGATHER},
            {&coll_shm_flat_alltoall, COLL_ALLTOALL},
            {&coll_shm_flat_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK}};

static bool is_put(const coll_action *a)
{
    return a->kind == COLL_DO_COPY && coll_ref_space(a->dst) == COLL_SHARED;
}

/* Laws 1 and 2. */
TEST(put_meet_get)
{
    enum { COUNT = 3 };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        for (uint32_t p = 2; p <= CHECK_RANKS; p++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan =
                    plan_of(rows[row].algorithm, rows[row].collective, p, COUNT, flags);
                const size_t shared = coll_plan_shared(&plan), part = shared / p;
                CHECK_EQ(part, rows[row].collective == COLL_ALLGATHER ? COUNT : p * COUNT);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    CHECK(w->n >= 3);
                    CHECK(is_put(&w->act[0]));
                    CHECK_EQ(w->act[0].dst, COLL_AT(COLL_SHARED, rank * part));
                    CHECK_EQ(w->act[0].count,
                             part - (flags && rank + 1 == p && row == 1 ? COUNT : 0));
                    CHECK_EQ(w->act[1].kind, COLL_DO_NETWORK_REDUCE);
                    CHECK_EQ(w->act[1].flags, COLL_NETWORK_BARRIER);
                    CHECK_EQ(w->act[1].stride, p);
                    for (size_t i = 2; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        CHECK(a->kind == COLL_DO_COPY || a->kind == COLL_DO_REDUCE);
                        CHECK(!is_put(a));
                        CHECK_EQ(coll_ref_space(a->src), COLL_SHARED);
                        CHECK(coll_ref_offset(a->src) + a->count <= shared);
                        CHECK(coll_i_overlap(a->src, a->count, w->act[1].src, w->act[1].count));
                    }
                }
            }
}

/* Law 3. */
TEST(operands_in_rank_order)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const coll_plan plan =
            plan_of(&coll_shm_flat_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, 2, 0);
        const walk *w = walk_of(&plan, p - 1);
        const coll_action *a = &w->act[w->n - 1];
        CHECK_EQ(a->kind, COLL_DO_REDUCE);
        CHECK_EQ(a->inputs, p - 1);
        CHECK_EQ(a->src, COLL_AT(COLL_SHARED, 2 * (p - 1)));
        for (uint32_t i = 0; i + 1 < p; i++)
            CHECK_EQ(a->via + i * a->stride, a->src + (i + 1) * (size_t)2 * p);
    }
}

/* Each block has room for the largest one, and gets its place. */
TEST(blocks_of_many_sizes)
{
    static const size_t counts[4] = {2, 0, 5, 1}, displs[4] = {1, 4, 5, 11}, none[4] = {0};
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLGATHERV, 4, 0, 4);
    problem.out.counts = counts;
    problem.out.displs = displs;
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_flat_allgather, &problem, NULL), COLL_OK);
    CHECK_EQ(coll_plan_shared(&plan), 20);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const walk *w = walk_of(&plan, rank);
        uint32_t got = 0;
        for (size_t i = 0; i < w->n; i++) {
            const coll_action *a = &w->act[i];
            if (is_put(a)) {
                CHECK_EQ(a->count, counts[rank]);
            } else if (a->kind == COLL_DO_COPY) {
                CHECK_EQ(a->src, COLL_AT(COLL_SHARED, 5 * got));
                CHECK_EQ(a->dst, COLL_AT(COLL_OUT, displs[got]));
                CHECK_EQ(a->count, counts[got]);
                got++;
            }
        }
        CHECK_EQ(got, 4);
    }
    problem.out.counts = none;
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_flat_allgather, &problem, NULL), COLL_OK);
    for (uint32_t rank = 0; rank < 4; rank++)
        CHECK_EQ(coll_plan_steps(&plan, rank), 0);
}

TEST(what_is_refused)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_REDUCE_SCATTER_BLOCK, 0x10001, 1, 1);
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_flat_reduce_scatter, &problem, NULL),
                 COLL_ERR_SHAPE);
    coll_problem_init(&problem, COLL_ALLTOALL, 0x10000, SIZE_MAX >> 33, 1);
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_flat_alltoall, &problem, NULL),
                 COLL_ERR_OVERFLOW);
    coll_problem_init(&problem, COLL_ALLGATHER, 4, 1, 1);
    coll_nodes_even(&problem.nodes, 4, 2);
    CHECK_STATUS(coll_plan_init(&plan, &coll_shm_flat_allgather, &problem, NULL),
                 COLL_ERR_NODES);
}

TEST(alone)
{
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan =
                plan_of(rows[row].algorithm, rows[row].collective, 1, 3, flags);
            const walk *w = walk_of(&plan, 0);
            CHECK_EQ(coll_plan_shared(&plan), 0);
            CHECK_EQ(w->n, flags ? 0 : 1);
            CHECK(flags || (w->act[0].kind == COLL_DO_COPY && w->act[0].count == 3));
        }
}

TEST(costs)
{
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
            const coll_plan plan = plan_of(rows[row].algorithm, rows[row].collective, p, 5, 0);
            const coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.rounds, p > 1);
            CHECK_EQ(cost.total.messages, 0);
            CHECK_EQ(coll_plan_scratch(&plan, 0), 0);
        }
}

int main(void)
{
    RUN(put_meet_get);
    RUN(operands_in_rank_order);
    RUN(blocks_of_many_sizes);
    RUN(what_is_refused);
    RUN(alone);
    RUN(costs);
    return check_done();
}
