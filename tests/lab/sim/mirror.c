/* tests/lab/sim/mirror.c — a reduction is a broadcast that runs backwards: where combining costs
 * nothing, it takes as long, message by message */
#include "support/simulated.h"

#include "coll/algos/chain.h"
#include "coll/algos/kary.h"

static coll_sim sim;

static coll_time makespan(const coll_algorithm *algorithm, const coll_problem *problem,
                          const uint32_t *params, const coll_cost_model *model)
{
    coll_sim_options options;
    coll_plan plan;
    CHECK_STATUS(coll_plan_init(&plan, algorithm, problem, params), COLL_OK);
    coll_sim_options_init(&options, model);
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    return sim.makespan;
}

static void check_mirror(const coll_algorithm *bcast, const coll_algorithm *reduce,
                         const coll_cost_model *model)
{
    static const uint32_t degrees[] = {2, 3, 4, 7};
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < sizeof degrees / sizeof degrees[0]; d++) {
            const uint32_t params[COLL_PARAM_MAX] = {degrees[d], 0};
            coll_problem problem;
            coll_time down, up;
            coll_problem_init(&problem, COLL_BCAST, p, 8, 1);
            down = makespan(bcast, &problem, params, model);
            coll_problem_init(&problem, COLL_REDUCE, p, 8, 1);
            problem.flags |= COLL_FLAG_COMMUTATIVE;
            up = makespan(reduce, &problem, params, model);
            CHECK_EQ(down, up);
        }
}

static void check_both(const coll_cost_model *model)
{
    check_mirror(&coll_kary_bcast, &coll_kary_reduce, model);
    check_mirror(&coll_chain_bcast, &coll_chain_reduce, model);
}

TEST(a_reduction_takes_as_long_as_its_broadcast)
{
    static const coll_hockney_costs hockney = {1, 1, 0};
    /* With o > g and bytes that take time there is no mirror: LogGP's receivers are busy with a
     * message as long as its bytes come in, and its senders are not. */
    static const coll_loggp_costs loggp[] = {{1000, 200, 300, .5, 0, 1e18, 0},
                                             {1000, 1500, 100, 0, 0, 1e18, 0},
                                             {5000, 1500, 6000, 2, 0, 1e18, 0}};
    coll_cost_model model;
    coll_sim_hockney by_hockney;
    coll_sim_loggp by_loggp;
    coll_sim_hockney_init(&model, &by_hockney, &hockney);
    check_both(&model);
    for (size_t i = 0; i < sizeof loggp / sizeof loggp[0]; i++) {
        coll_sim_loggp_init(&model, &by_loggp, &loggp[i]);
        check_both(&model);
    }
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(a_reduction_takes_as_long_as_its_broadcast);
    coll_sim_free(&sim);
    return check_done();
}
