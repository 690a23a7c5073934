/* coll/comm/recall.h — plans that a communicator remembers, for calls that are made again
 *
 * A call with the arguments of an earlier one but for its buffers runs by that one's plan, where it
 * lies. What the plan points to is copied, as the caller's tables may change. Use comm/request.h.
 */
#ifndef COLL_COMM_RECALL_H
#define COLL_COMM_RECALL_H

#include "../executor.h"
#include "args.h"

/* Where the plan of such a call is remembered. Only a rooted one has a root. */
COLL_INLINE coll_recall *coll_i_recall_at(coll_comm *comm, const coll_args *args)
{
    const uint32_t root = coll_is(COLL_ROOTED, args->collective) ? args->root : 0;
    return &comm->recalls[((uint32_t)args->collective + root) % COLL_RECALLS];
}

/* Is this table, if the plan has it, the one that was remembered? */
COLL_INLINE bool coll_i_recall_has(const size_t *was, const size_t *table, uint32_t n)
{
    if (!was)
        return true;
    for (uint32_t i = 0; table && i < n; i++)
        if (was[i] != table[i])
            return false;
    return table != NULL;
}

COLL_INLINE bool coll_i_recall_tables_are(const coll_recall *recall, const coll_args *args)
{
    const coll_problem *its = &recall->plan.problem;
    const bool by_out =
        recall->in_is_out &&
        coll_is(COLL_BIT(COLL_ALLTOALLV) | COLL_BIT(COLL_ALLTOALLW), its->collective);
    return coll_i_recall_has(its->in.counts, by_out ? args->out_counts : args->in_counts,
                             recall->n_in) &&
           recall->packed == coll_i_args_packed(args) &&
           (recall->packed ||
            coll_i_recall_has(its->in.displs, by_out ? args->out_displs : args->in_displs,
                              recall->n_in)) &&
           coll_i_recall_has(its->out.counts, args->out_counts, recall->n_out) &&
           coll_i_recall_has(its->out.displs, args->out_displs, recall->n_out);
}

/* Is it what these arguments ask for? */
COLL_INLINE bool coll_i_recall_is(const coll_recall *recall, const coll_args *args,
                                  size_t offered)
{
    const coll_problem *its = &recall->plan.problem;
    return recall->valid && its->collective == args->collective &&
           recall->count == args->count && recall->type == args->type &&
           recall->number == args->op &&
           (recall->root == args->root || !coll_is(COLL_ROOTED, args->collective)) &&
           recall->offered == offered && recall->in_is_out == (args->in == COLL_IN_PLACE) &&
           recall->out_is_in == (args->out == COLL_IN_PLACE) &&
           (!its->graph || coll_graph_same_mesh(&recall->mesh, args->graph)) &&
           ((!its->in.counts && !its->out.counts) || coll_i_recall_tables_are(recall, args));
}

/* Copies a layout's tables, and has it point to the copies. */
COLL_INLINE void coll_i_recall_layout(coll_layout *layout, size_t *counts, size_t *displs,
                                      uint32_t n)
{
    if (!layout->counts)
        return;
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = layout->counts[i];
        displs[i] = layout->displs[i];
    }
    layout->counts = counts;
    layout->displs = displs;
}

/* What a rank does in a call whose plan is remembered, written out; NULL: it does more than fits. */
COLL_INLINE const coll_schedule *coll_i_recall_schedule(coll_recall *recall, uint32_t rank)
{
#if COLL_RECALL_ACTIONS
    if (!recall->again) {
        recall->again = true;
        recall->brief = coll_schedule_write(&recall->schedule, &recall->plan, rank,
                                            recall->actions, COLL_RECALL_ACTIONS) == COLL_OK;
    }
    return recall->brief ? &recall->schedule : NULL;
#else
    (void)recall, (void)rank;
    return NULL;
#endif
}

/* Remembers the call of a run that can be started, unless it has long tables, or lists of
 * neighbours. A plan by which calls run stays where it is. One that is made of others is so in memory
 * of its call, so it is remembered if what the rank does fits. */
COLL_INLINE void coll_i_recall_write(coll_recall *recall, const coll_args *args,
                                     const coll_task *run, size_t offered)
{
    const coll_problem *problem = &run->plan->problem;
    const coll_extents need = coll_plan_extents(run->plan, run->rank);
    coll_problem *its = &recall->plan.problem;
    const uint32_t n_in = problem->in.counts ? coll_in_blocks(problem) : 0;
    const uint32_t n_out = problem->out.counts ? coll_out_blocks(problem) : 0;
    if (recall->requests != 0 || n_in > COLL_RECALL_BLOCKS || n_out > COLL_RECALL_BLOCKS ||
        (problem->graph && !coll_graph_same_mesh(problem->graph, problem->graph)))
        return;
    COLL_COPY(&recall->plan, run->plan, sizeof recall->plan);
    if (problem->graph) {
        COLL_COPY(&recall->mesh, problem->graph, sizeof recall->mesh);
        its->graph = &recall->mesh;
    }
    coll_i_recall_layout(&its->in, recall->tables[0], recall->tables[1], n_in);
    coll_i_recall_layout(&its->out, recall->tables[2], recall->tables[3], n_out);
    if (run->op)
        coll_op_assign(&recall->op, run->op);
    recall->count = args->count;
    recall->type = args->type;
    recall->number = args->op;
    recall->root = args->root;
    recall->offered = offered;
    recall->scratch = run->scratch_bytes;
    recall->in_is_out = args->in == COLL_IN_PLACE;
    recall->out_is_in = args->out == COLL_IN_PLACE;
    recall->packed = coll_i_args_packed(args);
    recall->n_in = n_in;
    recall->n_out = n_out;
    recall->in = need.in != 0;
    recall->out = need.out != 0;
#if COLL_RECALL_ACTIONS
    recall->again = false;
#endif
    recall->valid = !(run->plan->traits & COLL_NEEDS_BUILD) ||
                    (COLL_TRADES && coll_i_recall_schedule(recall, run->rank));
    recall->plan.inner = NULL;
}

#endif /* COLL_COMM_RECALL_H */
