/* coll/comm/move.h — the collectives that move data, and the barrier
 *
 * Use comm.h, which says what all of them have in common, or this part alone.
 */
#ifndef COLL_COMM_MOVE_H
#define COLL_COMM_MOVE_H

#include "request.h"

/* ---- barrier ---------------------------------------------------------------------------- */

/* No rank leaves before every rank has entered. */
COLL_INLINE coll_status coll_barrier(coll_comm *comm)
{
    coll_args args;
    coll_i_args_init(&args, COLL_BARRIER, NULL, NULL, 0, COLL_U8);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ibarrier(coll_comm *comm, coll_request *request)
{
    coll_args args;
    coll_i_args_init(&args, COLL_BARRIER, NULL, NULL, 0, COLL_U8);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_barrier_init(coll_comm *comm, coll_request *request)
{
    coll_args args;
    coll_i_args_init(&args, COLL_BARRIER, NULL, NULL, 0, COLL_U8);
    return coll_request_init(comm, &args, request);
}

/* ---- bcast ------------------------------------------------------------------------------ */

/* Every rank's buf becomes the root's: `count` elements. */
COLL_INLINE coll_status coll_bcast(coll_comm *comm, void *buf, size_t count, coll_type type,
                                   uint32_t root)
{
    coll_args args;
    coll_i_moving(&args, COLL_BCAST, COLL_IN_PLACE, buf, count, type, root);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ibcast(coll_comm *comm, void *buf, size_t count, coll_type type,
                                    uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_BCAST, COLL_IN_PLACE, buf, count, type, root);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_bcast_init(coll_comm *comm, void *buf, size_t count,
                                        coll_type type, uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_BCAST, COLL_IN_PLACE, buf, count, type, root);
    return coll_request_init(comm, &args, request);
}

/* ---- gather ----------------------------------------------------------------------------- */

/* The root's out holds every rank's `count` elements, in rank order. out is not used away from
 * the root. */
COLL_INLINE coll_status coll_gather(coll_comm *comm, const void *in, void *out, size_t count,
                                    coll_type type, uint32_t root)
{
    coll_args args;
    coll_i_moving(&args, COLL_GATHER, in, out, count, type, root);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_igather(coll_comm *comm, const void *in, void *out, size_t count,
                                     coll_type type, uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_GATHER, in, out, count, type, root);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_gather_init(coll_comm *comm, const void *in, void *out,
                                         size_t count, coll_type type, uint32_t root,
                                         coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_GATHER, in, out, count, type, root);
    return coll_request_init(comm, &args, request);
}

/* ---- gatherv ---------------------------------------------------------------------------- */

COLL_INLINE void coll_i_gatherv_args(coll_args *args, const void *in, size_t in_count,
                                     void *out, const size_t *counts, const size_t *displs,
                                     coll_type type, uint32_t root)
{
    coll_i_args_init(args, COLL_GATHERV, NULL, NULL, 0, COLL_U8);
    args->in = in;
    args->count = in_count;
    args->out = out;
    args->out_counts = counts;
    args->out_displs = displs;
    args->type = type;
    args->root = root;
}

/* As gather, with in_count elements from each rank: rank i's counts[i] elements come to out +
 * displs[i]. The tables and out are not used away from the root. */
COLL_INLINE coll_status coll_gatherv(coll_comm *comm, const void *in, size_t in_count,
                                     void *out, const size_t *counts, const size_t *displs,
                                     coll_type type, uint32_t root)
{
    coll_args args;
    coll_i_gatherv_args(&args, in, in_count, out, counts, displs, type, root);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_igatherv(coll_comm *comm, const void *in, size_t in_count,
                                      void *out, const size_t *counts, const size_t *displs,
                                      coll_type type, uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_gatherv_args(&args, in, in_count, out, counts, displs, type, root);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_gatherv_init(coll_comm *comm, const void *in, size_t in_count,
                                          void *out, const size_t *counts, const size_t *displs,
                                          coll_type type, uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_gatherv_args(&args, in, in_count, out, counts, displs, type, root);
    return coll_request_init(comm, &args, request);
}

/* ---- scatter ---------------------------------------------------------------------------- */

/* Every rank's out gets its block of `count` elements of the root's in. in is not used away
 * from the root. */
COLL_INLINE coll_status coll_scatter(coll_comm *comm, const void *in, void *out, size_t count,
                                     coll_type type, uint32_t root)
{
    coll_args args;
    coll_i_moving(&args, COLL_SCATTER, in, out, count, type, root);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_iscatter(coll_comm *comm, const void *in, void *out, size_t count,
                                      coll_type type, uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_SCATTER, in, out, count, type, root);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_scatter_init(coll_comm *comm, const void *in, void *out,
                                          size_t count, coll_type type, uint32_t root,
                                          coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_SCATTER, in, out, count, type, root);
    return coll_request_init(comm, &args, request);
}

/* ---- scatterv --------------------------------------------------------------------------- */

COLL_INLINE void coll_i_scatterv_args(coll_args *args, const void *in, const size_t *counts,
                                      const size_t *displs, void *out, size_t out_count,
                                      coll_type type, uint32_t root)
{
    coll_i_args_init(args, COLL_SCATTERV, NULL, NULL, 0, COLL_U8);
    args->in = in;
    args->in_counts = counts;
    args->in_displs = displs;
    args->out = out;
    args->count = out_count;
    args->type = type;
    args->root = root;
}

/* As scatter: rank i gets the counts[i] elements at in + displs[i]; its out_count is the same
 * number. The tables and in are not used away from the root. */
COLL_INLINE coll_status coll_scatterv(coll_comm *comm, const void *in, const size_t *counts,
                                      const size_t *displs, void *out, size_t out_count,
                                      coll_type type, uint32_t root)
{
    coll_args args;
    coll_i_scatterv_args(&args, in, counts, displs, out, out_count, type, root);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_iscatterv(coll_comm *comm, const void *in, const size_t *counts,
                                       const size_t *displs, void *out, size_t out_count,
                                       coll_type type, uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_scatterv_args(&args, in, counts, displs, out, out_count, type, root);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_scatterv_init(coll_comm *comm, const void *in,
                                           const size_t *counts, const size_t *displs,
                                           void *out, size_t out_count, coll_type type,
                                           uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_scatterv_args(&args, in, counts, displs, out, out_count, type, root);
    return coll_request_init(comm, &args, request);
}

/* ---- allgather -------------------------------------------------------------------------- */

/* Every rank's out holds every rank's `count` elements, in rank order. */
COLL_INLINE coll_status coll_allgather(coll_comm *comm, const void *in, void *out, size_t count,
                                       coll_type type)
{
    coll_args args;
    coll_i_moving(&args, COLL_ALLGATHER, in, out, count, type, 0);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_iallgather(coll_comm *comm, const void *in, void *out,
                                        size_t count, coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_ALLGATHER, in, out, count, type, 0);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_allgather_init(coll_comm *comm, const void *in, void *out,
                                            size_t count, coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_ALLGATHER, in, out, count, type, 0);
    return coll_request_init(comm, &args, request);
}

/* ---- allgatherv ------------------------------------------------------------------------- */

COLL_INLINE void coll_i_allgatherv_args(coll_args *args, const void *in, size_t in_count,
                                        void *out, const size_t *counts, const size_t *displs,
                                        coll_type type)
{
    coll_i_args_init(args, COLL_ALLGATHERV, NULL, NULL, 0, COLL_U8);
    args->in = in;
    args->count = in_count;
    args->out = out;
    args->out_counts = counts;
    args->out_displs = displs;
    args->type = type;
}

/* As allgather, with in_count elements from each rank: rank i's counts[i] elements come to out
 * + displs[i]. All ranks give the same counts; in_count is this rank's. */
COLL_INLINE coll_status coll_allgatherv(coll_comm *comm, const void *in, size_t in_count,
                                        void *out, const size_t *counts, const size_t *displs,
                                        coll_type type)
{
    coll_args args;
    coll_i_allgatherv_args(&args, in, in_count, out, counts, displs, type);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_iallgatherv(coll_comm *comm, const void *in, size_t in_count,
                                         void *out, const size_t *counts, const size_t *displs,
                                         coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_allgatherv_args(&args, in, in_count, out, counts, displs, type);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_allgatherv_init(coll_comm *comm, const void *in, size_t in_count,
                                             void *out, const size_t *counts,
                                             const size_t *displs, coll_type type,
                                             coll_request *request)
{
    coll_args args;
    coll_i_allgatherv_args(&args, in, in_count, out, counts, displs, type);
    return coll_request_init(comm, &args, request);
}

/* ---- alltoall --------------------------------------------------------------------------- */

/* Block i of rank k's in becomes block k of rank i's out; blocks of `count` elements. */
COLL_INLINE coll_status coll_alltoall(coll_comm *comm, const void *in, void *out, size_t count,
                                      coll_type type)
{
    coll_args args;
    coll_i_moving(&args, COLL_ALLTOALL, in, out, count, type, 0);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ialltoall(coll_comm *comm, const void *in, void *out, size_t count,
                                       coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_ALLTOALL, in, out, count, type, 0);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_alltoall_init(coll_comm *comm, const void *in, void *out,
                                           size_t count, coll_type type, coll_request *request)
{
    coll_args args;
    coll_i_moving(&args, COLL_ALLTOALL, in, out, count, type, 0);
    return coll_request_init(comm, &args, request);
}

/* ---- alltoallv -------------------------------------------------------------------------- */

COLL_INLINE void coll_i_alltoallv_args(coll_args *args, const void *in, const size_t *in_counts,
                                       const size_t *in_displs, void *out,
                                       const size_t *out_counts, const size_t *out_displs,
                                       coll_type type)
{
    coll_i_args_init(args, COLL_ALLTOALLV, NULL, NULL, 0, COLL_U8);
    args->in = in;
    args->in_counts = in_counts;
    args->in_displs = in_displs;
    args->out = out;
    args->out_counts = out_counts;
    args->out_displs = out_displs;
    args->type = type;
}

/* As alltoall: in_counts[i] elements at in + in_displs[i] go to rank i, out_counts[i] elements
 * from rank i come to out + out_displs[i]. What a rank sends to another is as much as that one
 * expects. */
COLL_INLINE coll_status coll_alltoallv(coll_comm *comm, const void *in, const size_t *in_counts,
                                       const size_t *in_displs, void *out,
                                       const size_t *out_counts, const size_t *out_displs,
                                       coll_type type)
{
    coll_args args;
    coll_i_alltoallv_args(&args, in, in_counts, in_displs, out, out_counts, out_displs, type);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ialltoallv(coll_comm *comm, const void *in,
                                        const size_t *in_counts, const size_t *in_displs,
                                        void *out, const size_t *out_counts,
                                        const size_t *out_displs, coll_type type,
                                        coll_request *request)
{
    coll_args args;
    coll_i_alltoallv_args(&args, in, in_counts, in_displs, out, out_counts, out_displs, type);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_alltoallv_init(coll_comm *comm, const void *in,
                                            const size_t *in_counts, const size_t *in_displs,
                                            void *out, const size_t *out_counts,
                                            const size_t *out_displs, coll_type type,
                                            coll_request *request)
{
    coll_args args;
    coll_i_alltoallv_args(&args, in, in_counts, in_displs, out, out_counts, out_displs, type);
    return coll_request_init(comm, &args, request);
}

/* ---- alltoallw -------------------------------------------------------------------------- */

COLL_INLINE void coll_i_alltoallw_args(coll_args *args, const void *in, const size_t *in_bytes,
                                       const size_t *in_displs, void *out,
                                       const size_t *out_bytes, const size_t *out_displs)
{
    coll_i_alltoallv_args(args, in, in_bytes, in_displs, out, out_bytes, out_displs, COLL_U8);
    args->collective = COLL_ALLTOALLW;
}

/* As alltoallv, for blocks of different types: all numbers are bytes, and a type with gaps is the
 * caller's to pack. */
COLL_INLINE coll_status coll_alltoallw(coll_comm *comm, const void *in, const size_t *in_bytes,
                                       const size_t *in_displs, void *out,
                                       const size_t *out_bytes, const size_t *out_displs)
{
    coll_args args;
    coll_i_alltoallw_args(&args, in, in_bytes, in_displs, out, out_bytes, out_displs);
    return coll_run(comm, &args);
}

COLL_INLINE coll_status coll_ialltoallw(coll_comm *comm, const void *in, const size_t *in_bytes,
                                        const size_t *in_displs, void *out,
                                        const size_t *out_bytes, const size_t *out_displs,
                                        coll_request *request)
{
    coll_args args;
    coll_i_alltoallw_args(&args, in, in_bytes, in_displs, out, out_bytes, out_displs);
    return coll_post(comm, &args, request);
}

COLL_INLINE coll_status coll_alltoallw_init(coll_comm *comm, const void *in,
                                            const size_t *in_bytes, const size_t *in_displs,
                                            void *out, const size_t *out_bytes,
                                            const size_t *out_displs, coll_request *request)
{
    coll_args args;
    coll_i_alltoallw_args(&args, in, in_bytes, in_displs, out, out_bytes, out_displs);
    return coll_request_init(comm, &args, request);
}

#endif /* COLL_COMM_MOVE_H */
