/* examples/mpi/layer/plans.c — which algorithm for a call */
#include "layer.h"

/* Chooses by the user's rules, the tuned and the built-in ones. A sum of floats is to have the
 * same bits everywhere. */
coll_status plan_for(struct job *job, const coll_problem *problem, bool exact)
{
    const coll_terms terms = {0, exact ? 0 : COLL_GIVES_SAME_BITS};
    const coll_rule *rule = NULL;
    coll_status status;
    if (settings.kits) {
        const size_t room = coll_kit_tables(problem);
        job->kit = pool_take(sizeof(coll_kit) + room * sizeof(size_t));
        if (!job->kit)
            return COLL_ERR_MEMORY;
        coll_kit_init(job->kit, job->comm->rank, (size_t *)((coll_kit *)job->kit + 1), room);
    }
    status = coll_select_from(settings.rules, problem, &terms, job->kit, job->plan, &rule);
    if (status == COLL_OK && settings.verbose && job->comm->rank == 0)
        report_choice(problem, rule, control_passed_over(problem, &terms, rule));
    return status;
}
