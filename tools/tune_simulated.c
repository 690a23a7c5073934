/* tools/tune_simulated.c — see tune_simulated.h */
#include "tune_simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* A rank's plan of a choice, or one for all of them: as a rule has it, so that composite ones have their parts. */
static coll_status plan_of(const coll_problem *problem, const coll_candidate *one,
                           coll_workspace *workspace, coll_plan *plan)
{
    const coll_conditions conditions = {~0u, 0};
    coll_rule rule = {.collectives = COLL_BIT(problem->collective),
                      .p_most = COLL_ANY_P,
                      .bytes_most = SIZE_MAX,
                      .algorithm = one->algorithm,
                      .why = ""};
    const coll_rule_list list = {&rule, 1, NULL};
    memcpy(rule.param, one->param, sizeof rule.param);
    return coll_select_from(&list, problem, &conditions, workspace, plan, NULL);
}

/* Nanoseconds that a choice takes on the machine; < 0: it cannot be made, or run there. */
static double simulated_ns(struct simulated *on, coll_sim *sim, const coll_problem *problem,
                           const coll_candidate *one, double most)
{
    const bool built = (one->algorithm->traits & COLL_NEEDS_BUILD) != 0;
    const uint32_t n = built ? problem->p : 1;
    const size_t room = built ? coll_workspace_tables(problem) : 0;
    coll_plan *plans = memory_of(n, sizeof *plans);
    coll_workspace *workspaces = memory_of(n, sizeof *workspaces);
    size_t *tables = memory_of(n * room + 1, sizeof *tables);
    coll_status status = COLL_OK;
    double ns = -1;
    for (uint32_t rank = 0; rank < n && status == COLL_OK; rank++) {
        if (built)
            coll_workspace_init(&workspaces[rank], rank, tables + rank * room, room);
        status = plan_of(problem, one, built ? &workspaces[rank] : NULL, &plans[rank]);
    }
    if (status == COLL_OK) {
        simulated_prepare(on, plans, n, problem->p, 1);
        if (most < 1e15)
            on->options.most = coll_time_of(most * 1e3);
        if (coll_sim_run(sim, plans, built, &on->options) == COLL_OK)
            ns = coll_time_us(sim->makespan) * 1000;
        simulated_free(on);
    }
    free(plans);
    free(workspaces);
    free(tables);
    return ns;
}

void tune_simulate_cell(struct simulated *on, unsigned capabilities, coll_sim *sim,
                        const coll_tuner *tuner, coll_tuner_cell *cell)
{
    coll_candidates *all = memory_of(1, sizeof *all);
    double best = HUGE_VAL;
    coll_candidates_find(all, tuner->rules, tuner->algorithms, tuner->n_algorithms,
                         &cell->problem, capabilities);
    cell->considered = all->n;
    for (uint32_t i = 0; i < all->n; i++) {
        coll_candidate *one = &all->one[i];
        one->predicted_ns = simulated_ns(on, sim, &cell->problem, one,
                                         one->by_rules ? HUGE_VAL : tuner->near * best);
        if (one->predicted_ns >= 0)
            best = fmin(best, one->predicted_ns);
    }
    coll_candidates_keep(all, tuner->near, COLL_TUNER_KEPT);
    cell->n = all->n;
    memcpy(cell->one, all->one, all->n * sizeof all->one[0]);
    free(all);
}
