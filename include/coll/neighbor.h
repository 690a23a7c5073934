/* coll/neighbor.h — the neighbour collectives: blocking, nonblocking, persistent
 *
 *   const uint32_t dims[2] = {4, 3};
 *   coll_graph torus;                       // plan/graph.h: meshes, stencils, lists of neighbours
 *   status = coll_graph_mesh(&torus, 2, dims, 3);
 *   status = coll_neighbor_alltoall(&comm, &torus, x, y, n, COLL_F64);
 *
 * Functions and calls are those of comm.h. The graph stands where MPI has a communicator with
 * a topology: one communicator may have many. All ranks call with the same mesh or stencil, or
 * each with its own lists. The graph is the caller's, and unchanged until the call is done.
 * There is no in place.
 */
#ifndef COLL_NEIGHBOR_H
#define COLL_NEIGHBOR_H

#include "comm.h"

COLL_INLINE void coll_i_neighbor_args(coll_args *args, coll_collective collective,
                                      const coll_graph *graph, const void *in, void *out,
                                      size_t count, coll_type type)
{
    coll_i_moving(args, collective, in, out, count, type, 0);
    args->graph = graph;
}

/* ---- neighbor_allgather ----------------------------------------------------------------- */

/* Every rank's `count` elements go to all its destinations; its out holds those of its sources, in
 * the order of the graph. */
COLL_INLINE coll_status coll_neighbor_allgather(coll_comm *comm, const coll_graph *graph,
                                                const void *in, void *out, size_t count,
                                                coll_type type)
{
    coll_args args;
    coll_i_neighbor_args(&args, COLL_NEIGHBOR_ALLGATHER, graph, in, out, count, type);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ineighbor_allgather(coll_comm *comm, const coll_graph *graph,
                                                 const void *in, void *out, size_t count,
                                                 coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_neighbor_args(&args, COLL_NEIGHBOR_ALLGATHER, graph, in, out, count, type);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_neighbor_allgather_init(coll_comm *comm, const coll_graph *graph,
                                                     const void *in, void *out, size_t count,
                                                     coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_neighbor_args(&args, COLL_NEIGHBOR_ALLGATHER, graph, in, out, count, type);
    return coll_request_init(comm, &args, request);
}

/* ---- neighbor_allgatherv ---------------------------------------------------------------- */

COLL_INLINE void coll_i_neighbor_allgatherv_args(coll_args *args, const coll_graph *graph,
                                                 const void *in, size_t in_count, void *out,
                                                 const size_t *counts, const size_t *displs,
                                                 coll_type type)
{
    coll_i_neighbor_args(args, COLL_NEIGHBOR_ALLGATHERV, graph, in, out, in_count, type);
    args->out_counts = counts;
    args->out_displs = displs;
}

/* As neighbor_allgather, with in_count elements from this rank: the counts[i] elements of source i
 * come to out + displs[i]. */
COLL_INLINE coll_status coll_neighbor_allgatherv(coll_comm *comm, const coll_graph *graph,
                                                 const void *in, size_t in_count, void *out,
                                                 const size_t *counts, const size_t *displs,
                                                 coll_type type)
{
    coll_args args;
    coll_i_neighbor_allgatherv_args(&args, graph, in, in_count, out, counts, displs, type);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ineighbor_allgatherv(coll_comm *comm, const coll_graph *graph,
                                                  const void *in, size_t in_count, void *out,
                                                  const size_t *counts, const size_t *displs,
                                                  coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_neighbor_allgatherv_args(&args, graph, in, in_count, out, counts, displs, type);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_neighbor_allgatherv_init(coll_comm *comm, const coll_graph *graph,
                                                      const void *in, size_t in_count,
                                                      void *out, const size_t *counts,
                                                      const size_t *displs, coll_type type,
                                                      coll_request *request)
{
    coll_args args;
    coll_i_neighbor_allgatherv_args(&args, graph, in, in_count, out, counts, displs, type);
    return coll_request_init(comm, &args, request);
}

/* ---- neighbor_alltoall ------------------------------------------------------------------ */

/* Block i of in, `count` elements, goes to destination i; block i of out comes from source i. */
COLL_INLINE coll_status coll_neighbor_alltoall(coll_comm *comm, const coll_graph *graph,
                                               const void *in, void *out, size_t count,
                                               coll_type type)
{
    coll_args args;
    coll_i_neighbor_args(&args, COLL_NEIGHBOR_ALLTOALL, graph, in, out, count, type);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ineighbor_alltoall(coll_comm *comm, const coll_graph *graph,
                                                const void *in, void *out, size_t count,
                                                coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_neighbor_args(&args, COLL_NEIGHBOR_ALLTOALL, graph, in, out, count, type);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_neighbor_alltoall_init(coll_comm *comm, const coll_graph *graph,
                                                    const void *in, void *out, size_t count,
                                                    coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_neighbor_args(&args, COLL_NEIGHBOR_ALLTOALL, graph, in, out, count, type);
    return coll_request_init(comm, &args, request);
}

/* ---- neighbor_alltoallv ----------------------------------------------------------------- */

COLL_INLINE void coll_i_neighbor_alltoallv_args(coll_args *args, const coll_graph *graph,
                                                const void *in, const size_t *in_counts,
                                                const size_t *in_displs, void *out,
                                                const size_t *out_counts,
                                                const size_t *out_displs, coll_type type)
{
    coll_i_alltoallv_args(args, in, in_counts, in_displs, out, out_counts, out_displs, type);
    args->collective = COLL_NEIGHBOR_ALLTOALLV;
    args->graph = graph;
}

/* As neighbor_alltoall: the in_counts[i] elements at in + in_displs[i] go to destination i, the
 * out_counts[i] elements of source i come to out + out_displs[i]. */
COLL_INLINE coll_status coll_neighbor_alltoallv(coll_comm *comm, const coll_graph *graph,
                                                const void *in, const size_t *in_counts,
                                                const size_t *in_displs, void *out,
                                                const size_t *out_counts,
                                                const size_t *out_displs, coll_type type)
{
    coll_args args;
    coll_i_neighbor_alltoallv_args(&args, graph, in, in_counts, in_displs, out, out_counts,
                                   out_displs, type);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ineighbor_alltoallv(coll_comm *comm, const coll_graph *graph,
                                                 const void *in, const size_t *in_counts,
                                                 const size_t *in_displs, void *out,
                                                 const size_t *out_counts,
                                                 const size_t *out_displs, coll_type type,
                                                 coll_request *request)
{
    coll_args args;
    coll_i_neighbor_alltoallv_args(&args, graph, in, in_counts, in_displs, out, out_counts,
                                   out_displs, type);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_neighbor_alltoallv_init(coll_comm *comm, const coll_graph *graph,
                                                     const void *in, const size_t *in_counts,
                                                     const size_t *in_displs, void *out,
                                                     const size_t *out_counts,
                                                     const size_t *out_displs, coll_type type,
                                                     coll_request *request)
{
    coll_args args;
    coll_i_neighbor_alltoallv_args(&args, graph, in, in_counts, in_displs, out, out_counts,
                                   out_displs, type);
    return coll_request_init(comm, &args, request);
}

/* ---- neighbor_alltoallw ----------------------------------------------------------------- */

COLL_INLINE void coll_i_neighbor_alltoallw_args(coll_args *args, const coll_graph *graph,
                                                const void *in, const size_t *in_bytes,
                                                const size_t *in_displs, void *out,
                                                const size_t *out_bytes,
                                                const size_t *out_displs)
{
    coll_i_alltoallw_args(args, in, in_bytes, in_displs, out, out_bytes, out_displs);
    args->collective = COLL_NEIGHBOR_ALLTOALLW;
    args->graph = graph;
}

/* As neighbor_alltoallv, with counts and displacements in bytes: blocks may hold different types,
 * as in alltoallw. */
COLL_INLINE coll_status coll_neighbor_alltoallw(coll_comm *comm, const coll_graph *graph,
                                                const void *in, const size_t *in_bytes,
                                                const size_t *in_displs, void *out,
                                                const size_t *out_bytes,
                                                const size_t *out_displs)
{
    coll_args args;
    coll_i_neighbor_alltoallw_args(&args, graph, in, in_bytes, in_displs, out, out_bytes,
                                   out_displs);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ineighbor_alltoallw(coll_comm *comm, const coll_graph *graph,
                                                 const void *in, const size_t *in_bytes,
                                                 const size_t *in_displs, void *out,
                                                 const size_t *out_bytes,
                                                 const size_t *out_displs,
                                                 coll_request *request)
{
    coll_args args;
    coll_i_neighbor_alltoallw_args(&args, graph, in, in_bytes, in_displs, out, out_bytes,
                                   out_displs);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_neighbor_alltoallw_init(coll_comm *comm, const coll_graph *graph,
                                                     const void *in, const size_t *in_bytes,
                                                     const size_t *in_displs, void *out,
                                                     const size_t *out_bytes,
                                                     const size_t *out_displs,
                                                     coll_request *request)
{
    coll_args args;
    coll_i_neighbor_alltoallw_args(&args, graph, in, in_bytes, in_displs, out, out_bytes,
                                   out_displs);
    return coll_request_init(comm, &args, request);
}

#endif /* COLL_NEIGHBOR_H */
