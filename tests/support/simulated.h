/* tests/support/simulated.h — what the tests of the simulator share: plans of one word, runs of
 * one line
 *
 *   CHECK_EQ(sim_ps(sim_row("bcast", "fnomial"), COLL_BCAST, 1024, 1, &model), 14070000);
 */
#ifndef COLL_TESTS_SIM_H
#define COLL_TESTS_SIM_H

#include "check.h"
#include "coll/algos/registry.h"
#include "coll/lab/sim.h"

/* The row of the registry with this name for this collective. */
static inline const coll_algorithm *sim_row(coll_collective collective, const char *name)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, collective) &&
            strcmp(coll_registry[i]->name, name) == 0)
            return coll_registry[i];
    CHECK(false); /* there is no such row */
    return coll_registry[0];
}

/* A plan of `count` doubles with two parameters; 0: the default one. */
static inline coll_plan sim_plan_with(coll_collective collective, const char *name, uint32_t p,
                                      size_t count, uint32_t first, uint32_t second)
{
    const coll_algorithm *row = sim_row(collective, name);
    coll_problem problem;
    coll_plan plan;
    uint32_t params[COLL_PARAM_MAX] = {0};
    coll_problem_init(&problem, collective, p, count, sizeof(double));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    for (uint32_t i = 0; i < row->n_params; i++)
        params[i] = row->params[i].default_value;
    if (first > 0)
        params[0] = first;
    if (second > 0)
        params[1] = second;
    CHECK_STATUS(coll_plan_init(&plan, row, &problem, params), COLL_OK);
    return plan;
}

static inline coll_plan sim_plan(coll_collective collective, const char *name, uint32_t p,
                                 size_t count, uint32_t param)
{
    return sim_plan_with(collective, name, p, count, param, 0);
}

/* Picoseconds that a plan takes. */
static inline coll_time sim_ps(const coll_plan *plan, const coll_cost_model *model)
{
    coll_sim_options options;
    coll_sim sim;
    coll_time makespan;
    coll_sim_options_init(&options, model);
    coll_sim_init(&sim);
    CHECK_STATUS(coll_sim_run(&sim, plan, false, &options), COLL_OK);
    makespan = sim.makespan;
    coll_sim_free(&sim);
    return makespan;
}

#endif /* COLL_TESTS_SIM_H */
