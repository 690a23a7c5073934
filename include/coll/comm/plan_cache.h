/* coll/comm/plan_cache.h — plans that a communicator remembers, for calls that are made again
 *
 * A call with the arguments of an earlier one but for its buffers runs by that one's plan, where it
 * lies. What the plan points to is copied, as the caller's tables may change. Use comm/request.h.
 */
#ifndef COLL_COMM_PLAN_CACHE_H
#define COLL_COMM_PLAN_CACHE_H

#include "../executor.h"
#include "../plan/graph.h"
#include "args.h"

/* Where the plan of such a call is remembered. Only a rooted one has a root. */
COLL_INLINE coll_cached_plan *coll_i_cache_at(coll_comm *comm, const coll_args *args)
{
    const uint32_t root = coll_is(COLL_ROOTED, args->collective) ? args->root : 0;
    return &comm->cached_plans[((uint32_t)args->collective + root) % COLL_CACHED_PLANS];
}

/* Is this table, if the plan has it, the one that was remembered? */
COLL_INLINE bool coll_i_cache_has(const size_t *was, const size_t *table, uint32_t n)
{
    if (!was)
        return true;
    for (uint32_t i = 0; table && i < n; i++)
        if (was[i] != table[i])
            return false;
    return table != NULL;
}

COLL_INLINE bool coll_i_cache_tables_are(const coll_cached_plan *cached, const coll_args *args)
{
    const coll_problem *its = &cached->plan.problem;
    const bool by_out =
        cached->in_is_out &&
        coll_is(COLL_BIT(COLL_ALLTOALLV) | COLL_BIT(COLL_ALLTOALLW), its->collective);
    return coll_i_cache_has(its->in.counts, by_out ? args->out_counts : args->in_counts,
                            cached->n_in) &&
           cached->packed == coll_i_args_packed(args) &&
           (cached->packed ||
            coll_i_cache_has(its->in.displs, by_out ? args->out_displs : args->in_displs,
                             cached->n_in)) &&
           coll_i_cache_has(its->out.counts, args->out_counts, cached->n_out) &&
           coll_i_cache_has(its->out.displs, args->out_displs, cached->n_out);
}

/* Is it what these arguments ask for? */
COLL_INLINE bool coll_i_cache_is(const coll_cached_plan *cached, const coll_args *args,
                                 size_t offered)
{
    const coll_problem *its = &cached->plan.problem;
    return cached->valid && its->collective == args->collective &&
           cached->count == args->count && cached->type == args->type &&
           cached->number == args->op &&
           (cached->root == args->root || !coll_is(COLL_ROOTED, args->collective)) &&
           cached->offered == offered && cached->in_is_out == (args->in == COLL_IN_PLACE) &&
           cached->out_is_in == (args->out == COLL_IN_PLACE) &&
           (!its->graph || coll_graph_same_mesh(&cached->mesh, args->graph)) &&
           ((!its->in.counts && !its->out.counts) || coll_i_cache_tables_are(cached, args));
}

/* Copies a layout's tables, and has it point to the copies. */
COLL_INLINE void coll_i_cache_layout(coll_layout *layout, size_t *counts, size_t *displs,
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

/* What a rank does in a call whose plan is remembered, written out; NULL: it does more than fits.
 * */
COLL_INLINE const coll_schedule *coll_i_cache_schedule(coll_cached_plan *cached, uint32_t rank)
{
#if COLL_CACHED_ACTIONS
    if (!cached->again) {
        cached->again = true;
        cached->brief = coll_schedule_write(&cached->schedule, &cached->plan, rank,
                                            cached->actions, COLL_CACHED_ACTIONS) == COLL_OK;
    }
    return cached->brief ? &cached->schedule : NULL;
#else
    (void)cached, (void)rank;
    return NULL;
#endif
}

/* Remembers the call of a run that can be started, unless it has long tables, or lists of
 * neighbours. A plan by which calls run stays where it is. One that is composite is so in memory
 * of its call, so it is remembered if what the rank does fits. */
COLL_INLINE void coll_i_cache_write(coll_cached_plan *cached, const coll_args *args,
                                    const coll_task *task, size_t offered)
{
    const coll_problem *problem = &task->plan->problem;
    const coll_extents need = coll_plan_extents(task->plan, task->rank);
    coll_problem *its = &cached->plan.problem;
    const uint32_t n_in = problem->in.counts ? coll_in_blocks(problem) : 0;
    const uint32_t n_out = problem->out.counts ? coll_out_blocks(problem) : 0;
    if (cached->requests != 0 || n_in > COLL_CACHED_BLOCKS || n_out > COLL_CACHED_BLOCKS ||
        (problem->graph && !coll_graph_same_mesh(problem->graph, problem->graph)))
        return;
    COLL_COPY(&cached->plan, task->plan, sizeof cached->plan);
    if (problem->graph) {
        COLL_COPY(&cached->mesh, problem->graph, sizeof cached->mesh);
        its->graph = &cached->mesh;
    }
    coll_i_cache_layout(&its->in, cached->tables[0], cached->tables[1], n_in);
    coll_i_cache_layout(&its->out, cached->tables[2], cached->tables[3], n_out);
    if (task->op)
        coll_op_assign(&cached->op, task->op);
    cached->count = args->count;
    cached->type = args->type;
    cached->number = args->op;
    cached->root = args->root;
    cached->offered = offered;
    cached->scratch = task->scratch_bytes;
    cached->in_is_out = args->in == COLL_IN_PLACE;
    cached->out_is_in = args->out == COLL_IN_PLACE;
    cached->packed = coll_i_args_packed(args);
    cached->n_in = n_in;
    cached->n_out = n_out;
    cached->in = need.in != 0;
    cached->out = need.out != 0;
#if COLL_CACHED_ACTIONS
    cached->again = false;
#endif
    cached->valid =
        !(task->plan->traits & COLL_NEEDS_BUILD) || coll_i_cache_schedule(cached, task->rank);
    cached->plan.inner = NULL;
}

#endif /* COLL_COMM_PLAN_CACHE_H */
