/* coll/comm/combining_neighbors.h — neighbour collectives of blocks of any sizes, combined
 *
 *     problem.collective = COLL_NEIGHBOR_ALLTOALL;              // a route of any count, made once
 *     status = coll_route_by_mesh(&route, &problem, rank, moves, n);    // or coll_route_by_nodes
 *     status = coll_graph_add_route(&graph, &route);
 *     …
 *     bytes = coll_combining_bytes(&graph, COLL_NEIGHBOR_ALLTOALLV);
 *     status = coll_combining_neighbor_alltoallv(&comm, &graph, in, in_counts, in_displs,
 *                                                out, out_counts, out_displs, COLL_F64, memory,
 *                                                bytes);
 *
 * Not included by neighbor.h. A rank that passes a block on does not know its size. So sizes go
 * first, a word for each block, by the graph's route for equal blocks (algos/mesh_combining.h,
 * algos/node_combining.h), and then the blocks by the same route. It costs the messages of the route
 * twice; where that is still less than one for each neighbour, it pays for short blocks.
 *
 * Blocks of `in`, and of `out`, lie one behind the other (COLL_ERR_LAYOUT). All ranks make the call,
 * with a graph that has a route of the kind that all have; without one it is COLL_ERR_ROUTE. Sizes
 * are compared before any block is sent: a rank that does not agree finds COLL_ERR_SIZE, its `out` is
 * as it was, and the others end with COLL_ERR_PEER.
 *
 * `memory` is the caller's while the call runs. Of the arena the calls within take 8 bytes for each
 * block of the route's scratch, and then these blocks. They are persistent ones, with a tag: they
 * block, and end with what ends one of them. COLL_ERR_TYPE all ranks find, and may go on; all else
 * that is wrong with the arguments ends the communicator. Over a transport without tags no other
 * call may run (COLL_ERR_BUSY).
 */
#ifndef COLL_COMM_COMBINING_NEIGHBORS_H
#define COLL_COMM_COMBINING_NEIGHBORS_H

#include "../algos/kit/router.h"
#include "../neighbor.h"
#include "sized_call.h"

/* The memory of a call, cut. */
typedef struct coll_i_combining_memory {
    uint64_t *send, *get; /* sizes of blocks of IN, and of OUT */
    size_t *at;           /* where blocks lie in scratch */
    size_t bytes;
} coll_i_combining_memory;

/* The route of a graph for a collective; NULL: it has none. */
COLL_INLINE const coll_route *coll_i_combining_route(const coll_graph *graph,
                                                     coll_collective collective)
{
    return collective == COLL_NEIGHBOR_ALLGATHERV ? graph->allgather : graph->alltoall;
}

COLL_INLINE void coll_i_combining_cut(coll_i_combining_memory *cut, const coll_graph *graph,
                                      const coll_route *route, void *memory)
{
    coll_i_cutter cutter;
    cutter.at = (unsigned char *)memory;
    cutter.used = (0 - (uintptr_t)memory) % sizeof(uint64_t);
    cut->send = (uint64_t *)coll_i_cut(&cutter, (size_t)graph->n_out + 1, sizeof(uint64_t));
    cut->get = (uint64_t *)coll_i_cut(&cutter, graph->n_in, sizeof(uint64_t));
    cut->at = (size_t *)coll_i_cut(&cutter, (size_t)route->scratch + 1, sizeof(size_t));
    cut->bytes = cutter.used;
}

/* Bytes of memory for a call of this rank: COLL_NEIGHBOR_ALLGATHERV, _ALLTOALLV or _ALLTOALLW; 0:
 * the graph has no route for it. */
COLL_INLINE size_t coll_combining_bytes(const coll_graph *graph, coll_collective collective)
{
    const coll_route *route = graph ? coll_i_combining_route(graph, collective) : NULL;
    coll_i_combining_memory cut;
    if (!route)
        return 0;
    coll_i_combining_cut(&cut, graph, route, NULL);
    return cut.bytes + sizeof(uint64_t) - 1;
}

/* What is wrong with this rank's arguments? */
COLL_INLINE coll_status coll_i_combining_check(const coll_comm *comm, const coll_args *args,
                                               const void *memory, size_t bytes)
{
    const bool gathers = args->collective == COLL_NEIGHBOR_ALLGATHERV;
    const coll_graph *graph = args->graph;
    coll_layout in, out;
    if (coll_graph_check(graph, comm->p) != COLL_OK)
        return COLL_ERR_GRAPH;
    if (!coll_i_combining_route(graph, args->collective))
        return COLL_ERR_ROUTE;
    if (bytes < coll_combining_bytes(graph, args->collective))
        return COLL_ERR_MEMORY;
    if (!memory)
        return COLL_ERR_NULL;
    if ((graph->n_in > 0 && (!args->out_counts || !args->out_displs)) ||
        (graph->n_out > 0 && !gathers && (!args->in_counts || !args->in_displs)))
        return COLL_ERR_COUNTS;
    coll_i_args_layout(&in, gathers ? NULL : args->in_counts, args->in_displs);
    coll_i_args_layout(&out, args->out_counts, args->out_displs);
    return coll_i_layout_packed(&in, graph->n_out) && coll_i_layout_packed(&out, graph->n_in)
               ? COLL_OK
               : COLL_ERR_LAYOUT;
}

/* The sizes, by the route of the blocks. */
COLL_INLINE coll_status coll_i_combining_sizes(coll_comm *comm, const coll_args *of,
                                               const coll_route *route,
                                               const coll_i_combining_memory *cut)
{
    const bool gathers = of->collective == COLL_NEIGHBOR_ALLGATHERV;
    coll_args args;
    if (gathers)
        cut->send[0] = of->count;
    for (uint32_t i = 0; i < of->graph->n_out && !gathers; i++)
        cut->send[i] = of->in_counts[i];
    for (uint32_t i = 0; i < of->graph->n_in; i++)
        cut->get[i] = of->out_counts[i]; /* nothing comes from beyond the ends of a mesh */
    coll_i_neighbor_args(&args, gathers ? COLL_NEIGHBOR_ALLGATHER : COLL_NEIGHBOR_ALLTOALL,
                         of->graph, cut->send, cut->get, 1, COLL_U64);
    return coll_i_sized_words(comm, &args, route, cut->at, of->out_counts, of->graph->n_in);
}

COLL_INLINE coll_status coll_i_combining_run(coll_comm *comm, const coll_args *args,
                                             void *memory, size_t bytes)
{
    coll_i_combining_memory cut;
    coll_sized_route sized;
    coll_status status = coll_i_sized_ready(comm);
    if (status != COLL_OK)
        return status;
    if (coll_type_bytes(args->type) == 0)
        return COLL_ERR_TYPE;
    status = coll_i_combining_check(comm, args, memory, bytes);
    if (status == COLL_OK) {
        sized.route = coll_i_combining_route(args->graph, args->collective);
        coll_i_combining_cut(&cut, args->graph, sized.route, memory);
        sized.at = cut.at;
        status = coll_i_combining_sizes(comm, args, sized.route, &cut);
        if (coll_i_sized_unsent(status))
            return status;
        if (status == COLL_OK)
            status = coll_i_sized_run(comm, args, &sized, NULL);
    }
    if (status != COLL_OK)
        (void)coll_comm_abort(comm, status);
    return status;
}

/* coll_neighbor_allgatherv by the graph's route for neighbor_allgather. */
COLL_INLINE coll_status coll_combining_neighbor_allgatherv(
    coll_comm *comm, const coll_graph *graph, const void *in, size_t in_count, void *out,
    const size_t *counts, const size_t *displs, coll_type type, void *memory, size_t bytes)
{
    coll_args args;
    coll_i_neighbor_allgatherv_args(&args, graph, in, in_count, out, counts, displs, type);
    return coll_i_combining_run(comm, &args, memory, bytes);
}

/* coll_neighbor_alltoallv by the graph's route for neighbor_alltoall. */
COLL_INLINE coll_status coll_combining_neighbor_alltoallv(
    coll_comm *comm, const coll_graph *graph, const void *in, const size_t *in_counts,
    const size_t *in_displs, void *out, const size_t *out_counts, const size_t *out_displs,
    coll_type type, void *memory, size_t bytes)
{
    coll_args args;
    coll_i_neighbor_alltoallv_args(&args, graph, in, in_counts, in_displs, out, out_counts,
                                   out_displs, type);
    return coll_i_combining_run(comm, &args, memory, bytes);
}

/* coll_neighbor_alltoallw by the same route: all numbers are bytes. */
COLL_INLINE coll_status coll_combining_neighbor_alltoallw(
    coll_comm *comm, const coll_graph *graph, const void *in, const size_t *in_bytes,
    const size_t *in_displs, void *out, const size_t *out_bytes, const size_t *out_displs,
    void *memory, size_t bytes)
{
    coll_args args;
    coll_i_neighbor_alltoallw_args(&args, graph, in, in_bytes, in_displs, out, out_bytes,
                                   out_displs);
    return coll_i_combining_run(comm, &args, memory, bytes);
}

#endif /* COLL_COMM_COMBINING_NEIGHBORS_H */
