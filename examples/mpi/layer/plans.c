/* examples/mpi/layer/plans.c — which algorithm for a call */
#include "layer.h"

/* Memory for a plan that is made of others. */
static coll_kit *new_kit(const struct job *job, const coll_problem *problem)
{
    const size_t room = coll_kit_tables(problem);
    coll_kit *kit = (coll_kit *)pool_take(sizeof *kit + room * sizeof(size_t));
    if (kit)
        coll_kit_init(kit, job->comm->rank, (size_t *)(void *)(kit + 1), room);
    return kit;
}

/* Chooses by the user's rules, the tuned and the built-in ones. A sum of floats is to have the
 * same bits everywhere. */
coll_status plan_for(struct job *job, const coll_problem *problem, bool exact)
{
    const unsigned packed =
        coll_is(settings.packs, problem->collective) ? COLL_NEEDS_PACKED : 0;
    const coll_terms terms = {nodes_offers(job->comm, problem) | packed,
                              exact ? 0 : COLL_GIVES_SAME_BITS};
    const bool spread = settings.roomy && coll_nodes_count(&job->comm->nodes) > 1;
    const bool kits = settings.kits || spread;
    const coll_rule *rule = NULL;
    coll_status status;
    if (kits) {
        job->kit = new_kit(job, problem);
        if (!job->kit)
            return COLL_ERR_MEMORY;
    }
    status = coll_select_from(spread                ? settings.spread_rules
                              : job->comm->one_node ? settings.node_rules
                                                    : settings.rules,
                              problem, &terms, job->kit, job->plan, &rule);
    if (status == COLL_OK)
        status = coll_plan_place(job->plan, &job->comm->group);
    if (status == COLL_OK && settings.verbose && job->comm->rank == 0) {
        coll_kit *kit = kits ? new_kit(job, problem) : NULL;
        report_choice(problem, rule, control_passed_over(problem, &terms, kit, rule));
        pool_give(kit);
    }
    return status;
}
