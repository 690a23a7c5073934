/* coll/comm/sized_call.h — calls by a route of blocks whose sizes travel first
 *
 * Use comm/tuna_alltoallv.h or comm/combining_neighbors.h.
 */
#ifndef COLL_COMM_SIZED_CALL_H
#define COLL_COMM_SIZED_CALL_H

#include "../algos/kit/sized_route.h"
#include "request.h"

/* May a call begin on it? */
COLL_INLINE coll_status coll_i_sized_ready(const coll_comm *comm)
{
    if (!comm)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    return comm->status < 0 ? comm->status : COLL_OK;
}

/* Has a communicator make the plan of one call. */
typedef struct coll_i_sized_builder {
    coll_i_comm_builder builder; /* the first member */
    const coll_sized_route *sized;
} coll_i_sized_builder;

/* The plan needs none, but without there is no builder. */
COLL_INLINE size_t coll_i_sized_bytes(const coll_comm *comm, const coll_problem *problem)
{
    (void)comm;
    (void)problem;
    return 1;
}

COLL_INLINE coll_status coll_i_sized_plan(const coll_comm *comm, const coll_problem *problem,
                                          const coll_conditions *conditions, void *memory,
                                          coll_plan *plan)
{
    const coll_i_sized_builder *of = (const coll_i_sized_builder *)(const void *)comm->builder;
    (void)conditions;
    (void)memory;
    return coll_plan_by_sizes(plan, problem, of->sized);
}

/* Runs a call by a sized route. `at` not NULL: its elements are COLL_U64, the sizes; writes what
 * coll_sized_route_offsets makes of those that passed. A persistent call, so that nobody keeps its
 * plan for calls with the same arguments, and as its scratch is there until it is freed. */
COLL_INLINE coll_status coll_i_sized_run(coll_comm *comm, const coll_args *args,
                                         const coll_sized_route *sized, size_t *at)
{
    const coll_i_comm_builder *before = comm->builder;
    coll_i_sized_builder own;
    coll_request request;
    coll_status status;
    own.builder.bytes = coll_i_sized_bytes;
    own.builder.plan = coll_i_sized_plan;
    own.sized = sized;
    comm->builder = &own.builder;
    status = coll_request_init(comm, args, &request);
    comm->builder = before;
    if (status != COLL_OK)
        return status;
    status = coll_start(&request);
    if (status == COLL_OK)
        status = coll_wait(&request);
    if (status == COLL_OK && at)
        status = coll_sized_route_offsets(sized->route,
                                          (const uint64_t *)request.engine.task.scratch, at);
    (void)coll_request_free(&request);
    return status;
}

/* Sends the sizes, a word for each block, by a call whose OUT is words as well. Writes where blocks
 * will lie in scratch to `at`, of route->scratch + 1 entries. COLL_ERR_SIZE: what has come is not
 * what is in `wanted`, of n sizes. */
COLL_INLINE coll_status coll_i_sized_words(coll_comm *comm, const coll_args *args,
                                           const coll_route *route, size_t *at,
                                           const size_t *wanted, uint32_t n)
{
    const uint64_t *come = (const uint64_t *)args->out;
    coll_sized_route words;
    coll_status status;
    words.route = route;
    words.at = NULL;
    status = coll_i_sized_run(comm, args, &words, at);
    for (uint32_t i = 0; i < n && status == COLL_OK; i++)
        if (come[i] != wanted[i])
            status = COLL_ERR_SIZE;
    return status;
}

/* Does this error of sending the sizes say that nothing was sent, and that it may be tried again? */
COLL_INLINE bool coll_i_sized_unsent(coll_status status)
{
    return status == COLL_ERR_BUSY || status == COLL_ERR_TAG;
}

#endif /* COLL_COMM_SIZED_CALL_H */
