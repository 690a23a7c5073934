/* tests/algos/linear_all.c — the laws of coll/algos/linear_all.h */
#include "coll/algos/linear_all.h"

#include "support/walk.h"

/* Laws 1 and 2. */
TEST(everyone_meets_everyone_step_by_step)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned gathers = 0; gathers < 2; gathers++) {
            const coll_plan plan =
                plan_of(gathers ? &coll_linear_allgather : &coll_linear_reduce_scatter,
                        gathers ? COLL_ALLGATHER : COLL_REDUCE_SCATTER_BLOCK, p, 2, 0);
            check_step_by_step(&plan);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                uint64_t to = 0, from = 0;
                for (size_t i = 0; i < w->n; i++) {
                    uint64_t *met = is_send(&w->act[i]) ? &to : &from;
                    if (!is_send(&w->act[i]) && !is_receive(&w->act[i]))
                        continue;
                    CHECK(!((*met >> w->act[i].peer) & 1u));
                    *met |= (uint64_t)1 << w->act[i].peer;
                }
                CHECK_EQ(to, (UINT64_MAX >> (64 - p)) & ~((uint64_t)1 << rank));
                CHECK_EQ(from, to);
            }
        }
}

/* Law 3, also for more ranks than one sweep takes. */
TEST(sweeps_take_operands_in_order)
{
    static const uint32_t sizes[] = {1,     2,     3,     17,    64,     4096,   32768,
                                     32769, 32770, 65536, 65537, 131073, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const uint32_t p = sizes[i], rank = p / 2;
            const coll_plan plan =
                plan_of(&coll_linear_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, 3, flags);
            const size_t steps = coll_plan_steps(&plan, rank);
            size_t next = 0; /* operand */
            coll_ref sum = COLL_AT(COLL_SCRATCH, 0);
            for (size_t s = p == 1 ? 1 : p - 1; s < steps; s++) {
                coll_action act[COLL_STEP_MAX];
                const unsigned n = coll_plan_step(&plan, rank, s, act);
                CHECK_EQ(n,
                         (p > 1 ? 1u : 0u) + (s + 1 == steps && (flags || p == 1) ? 1u : 0u));
                if (p > 1) {
                    CHECK_EQ(act[0].kind, COLL_DO_REDUCE);
                    CHECK_EQ(act[0].src, sum);
                    CHECK_EQ(act[0].via, COLL_AT(COLL_SCRATCH, 3 * (next + 1)));
                    CHECK_EQ(act[0].stride, 3);
                    CHECK(act[0].inputs > 0);
                    sum = act[0].dst;
                    next += act[0].inputs;
                }
                if (n > 0 && act[n - 1].kind == COLL_DO_COPY) {
                    CHECK_EQ(act[n - 1].dst, COLL_AT(COLL_OUT, 0));
                    CHECK_EQ(act[n - 1].src, sum);
                } else if (s + 1 == steps) {
                    CHECK_EQ(sum, COLL_AT(COLL_OUT, 0));
                }
            }
            CHECK_EQ(next, p - 1);
            CHECK_EQ(coll_plan_scratch(&plan, rank), (size_t)3 * p);
        }
}

TEST(slots_that_do_not_fit_are_refused)
{
    static size_t counts[64], displs[64]; /* one rank has nearly all */
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_REDUCE_SCATTER, 64, 0, 1);
    problem.in.counts = counts;
    problem.in.displs = displs;
    counts[5] = SIZE_MAX / 64;
    CHECK_STATUS(coll_plan_init(&plan, &coll_linear_reduce_scatter, &problem, NULL),
                 COLL_ERR_OVERFLOW);
    counts[5] = SIZE_MAX / 64 / 32;
    CHECK_STATUS(coll_plan_init(&plan, &coll_linear_reduce_scatter, &problem, NULL), COLL_OK);
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        coll_plan plan = plan_of(&coll_linear_allgather, COLL_ALLGATHER, p, 2, 0);
        coll_report cost = cost_of(&plan);
        CHECK_EQ(cost.rounds, p - 1);
        CHECK_EQ(cost.most.messages, p - 1);
        CHECK_EQ(cost.total.messages, p * (p - 1));
        CHECK_EQ(cost.most.elements, 2 * (p - 1));
        CHECK_EQ(cost.total.scratch, 0);
        plan = plan_of(&coll_linear_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, 2, 0);
        cost = cost_of(&plan);
        CHECK_EQ(cost.rounds, p - 1);
        CHECK_EQ(cost.most.messages, p - 1);
        CHECK_EQ(cost.most.elements, 2 * (p - 1));
        CHECK_EQ(cost.most.reduced, 2 * (p - 1));
        CHECK_EQ(cost.most.scratch, 2 * p);
    }
}

int main(void)
{
    RUN(everyone_meets_everyone_step_by_step);
    RUN(sweeps_take_operands_in_order);
    RUN(slots_that_do_not_fit_are_refused);
    RUN(costs);
    return check_done();
}
