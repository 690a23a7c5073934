/* bench/reproduce/simulated.c — see simulated.h */
#include "simulated.h"

#include "coll/algos/registry.h"
#include "coll/lab/sim.h"

static coll_sim sim; /* its memory is used again by the next run */

static void check(coll_status status, const char *what)
{
    if (status == COLL_OK)
        return;
    fprintf(stderr, "reproduce: %s cannot be simulated: %s\n", what, coll_status_text(status));
    exit(2);
}

coll_problem simulated_problem(coll_collective collective, uint32_t p, size_t count)
{
    coll_problem problem;
    coll_problem_init(&problem, collective, p, count, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    return problem;
}

static const coll_algorithm *find(coll_collective collective, const char *row)
{
    const coll_algorithm *algorithm = coll_find(collective, row);
    check(algorithm ? COLL_OK : COLL_ERR_UNKNOWN, row);
    return algorithm;
}

static double run(const coll_plan *plans, bool per_rank, const coll_sim_options *options)
{
    check(coll_sim_run(&sim, plans, per_rank, options), plans->algorithm->name);
    return coll_time_us(sim.makespan);
}

coll_plan simulated_plan(const coll_problem *problem, const char *row, const uint32_t *params)
{
    coll_plan plan;
    check(coll_plan_init(&plan, find(problem->collective, row), problem, params), row);
    return plan;
}

coll_sim_options simulated_options(const coll_cost_model *model)
{
    coll_sim_options options;
    coll_sim_options_init(&options, model);
    return options;
}

double simulated_plan_us(const coll_plan *plan, const coll_sim_options *options)
{
    return run(plan, false, options);
}

double simulated_us(const coll_problem *problem, const char *row, const uint32_t *params,
                    const coll_sim_options *options)
{
    coll_plan plan;
    if (find(problem->collective, row)->traits & COLL_NEEDS_BUILD)
        return simulated_composite_us(problem, row, NULL, params, options);
    plan = simulated_plan(problem, row, params);
    return run(&plan, false, options);
}

double simulated_composite_us(const coll_problem *problem, const char *row, const char *within,
                              const uint32_t *params, const coll_sim_options *options)
{
    const coll_algorithm *algorithm = find(problem->collective, row);
    const size_t p = problem->p, room = coll_workspace_tables(problem);
    coll_plan *plans = (coll_plan *)malloc(p * sizeof *plans);
    coll_workspace *workspaces = (coll_workspace *)malloc(p * sizeof *workspaces);
    size_t *tables = (size_t *)malloc(p * room * sizeof *tables);
    coll_binding bindings[2] = {{COLL_INTRA, NULL, NULL}, {COLL_INTRA, NULL, NULL}};
    double us;
    check(plans && workspaces && tables ? COLL_OK : COLL_ERR_MEMORY, row);
    if (within) {
        bindings[0].algorithm = find(COLL_REDUCE, within);
        bindings[1].algorithm = find(COLL_BCAST, within);
    }
    for (uint32_t rank = 0; rank < p; rank++) {
        coll_workspace_init(&workspaces[rank], rank, tables + rank * room, room);
        workspaces[rank].bindings = bindings;
        workspaces[rank].n_bindings = within ? 2 : 0;
        check(coll_plan_build(&plans[rank], algorithm, problem, params, &workspaces[rank]),
              row);
    }
    us = run(plans, true, options);
    free(plans);
    free(workspaces);
    free(tables);
    return us;
}
