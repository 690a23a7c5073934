/* mpi/layer/plans.c — which algorithm for a call
 *
 * On several nodes the plan of a call is made for places (coll/plan/rank_order.h), if its
 * ranks are not numbered by nodes and what it does is the same in any order. What has blocks is
 * not: those of a node would have to lie together for it to send them as one, which is what two
 * levels gain there.
 */
#include "layer.h"

/* Memory for a plan that is composite. */
static coll_workspace *new_kit(const struct job *job, const coll_problem *problem)
{
    void *memory = pool_take(coll_workspace_bytes(problem));
    return memory ? coll_workspace_in(memory, problem, job->run.rank) : NULL;
}

/* Has the plan the ranks' own numbers after all. It is none of those that know nodes. */
static coll_status number_by_rank(struct job *job, const coll_problem *problem)
{
    const coll_algorithm *algorithm = job->prepared->plan.algorithm;
    uint32_t param[COLL_PARAM_MAX];
    memcpy(param, job->prepared->plan.param, sizeof param);
    job->run.rank = job->comm->rank;
    return coll_plan_init(&job->prepared->plan, algorithm, problem, param);
}

/* Chooses by the user's rules, the tuned and the built-in ones. A sum of floats is to have the same
 * bits everywhere; and wherever the ranks are, if it is by an algorithm of the user's that promises
 * that. */
coll_status plan_for(struct job *job, const coll_problem *asked, bool exact)
{
    const struct comm *comm = job->comm;
    const unsigned packed = coll_is(settings.packs, asked->collective) ? COLL_NEEDS_PACKED : 0;
    coll_problem problem = *asked;
    bool placed = coll_problem_place(&problem, &comm->places), workspaces, spread;
    coll_conditions conditions = {nodes_offers(comm, &problem, job->how == BLOCKING) | packed,
                                  exact ? 0 : COLL_GIVES_IDENTICAL};
    const coll_rule_list *rules;
    const coll_rule *rule = NULL;
    coll_plan *const plan = &job->prepared->plan;
    coll_status status;
    job->run.rank = placed ? coll_place_of(&comm->places, comm->rank) : comm->rank;
    spread = settings.dedicated && coll_nodes_count(&problem.nodes) > 1;
    rules = spread           ? settings.spread_rules
            : comm->one_node ? settings.node_rules
                             : settings.rules;
    workspaces = coll_select_builds(rules, &problem);
    if (workspaces) {
        job->workspace = new_kit(job, &problem);
        if (!job->workspace)
            return COLL_ERR_MEMORY;
    }
    status = coll_select_from(rules, &problem, &conditions, job->workspace, plan, &rule);
    if (status == COLL_OK && !nodes_hold(plan)) {
        conditions.capabilities &= ~(unsigned)COLL_NEEDS_SHARED;
        status = coll_select_from(rules, &problem, &conditions, job->workspace, plan, &rule);
    }
    if (status == COLL_OK && !plan->inner) {
        pool_give(job->workspace); /* it is not composite */
        job->workspace = NULL;
    }
    if (status == COLL_OK && placed && comm->places.rank && !exact &&
        (plan->traits & COLL_GIVES_REPRODUCIBLE) && control_asked_for(rule)) {
        placed = false;
        status = number_by_rank(job, asked);
    }
    if (status == COLL_OK)
        status = coll_plan_place(plan, placed ? &comm->placed : &comm->group);
    if (status == COLL_OK && settings.verbose && comm->rank == 0) {
        coll_workspace *workspace = workspaces ? new_kit(job, &problem) : NULL;
        report_choice(&problem, rule,
                      control_passed_over(&problem, &conditions, workspace, rule));
        pool_give(workspace);
    }
    return status;
}
