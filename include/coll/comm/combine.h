/* coll/comm/combine.h — the collectives that combine data by an operator
 *
 * Use comm.h, which says what all of them have in common, or this part alone.
 */
#ifndef COLL_COMM_COMBINE_H
#define COLL_COMM_COMBINE_H

#include "request.h"

/* ---- reduce ----------------------------------------------------------------------------- */

/* out of the root = in of rank 0 ⊕ in of rank 1 … ⊕ in of rank p−1, element by element; `count`
 * elements. out is not used away from the root. */
COLL_HOT_INLINE coll_status coll_reduce(coll_comm *comm, const void *in, void *out,
                                        size_t count, coll_type type, coll_operator op,
                                        uint32_t root)
{
    coll_args args;
    coll_i_reducing(&args, COLL_REDUCE, in, out, count, type, op, root);
    return coll_run(comm, &args);
}

COLL_HOT_INLINE coll_status coll_ireduce(coll_comm *comm, const void *in, void *out,
                                         size_t count, coll_type type, coll_operator op,
                                         uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_REDUCE, in, out, count, type, op, root);
    return coll_post(comm, &args, request);
}

COLL_HOT_INLINE coll_status coll_reduce_init(coll_comm *comm, const void *in, void *out,
                                             size_t count, coll_type type, coll_operator op,
                                             uint32_t root, coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_REDUCE, in, out, count, type, op, root);
    return coll_request_init(comm, &args, request);
}

/* ---- allreduce -------------------------------------------------------------------------- */

/* The same on every rank: out = in of rank 0 ⊕ … ⊕ in of rank p−1; `count` elements. */
COLL_HOT_INLINE coll_status coll_allreduce(coll_comm *comm, const void *in, void *out,
                                           size_t count, coll_type type, coll_operator op)
{
    coll_args args;
    coll_i_reducing(&args, COLL_ALLREDUCE, in, out, count, type, op, 0);
    return coll_run(comm, &args);
}

COLL_HOT_INLINE coll_status coll_iallreduce(coll_comm *comm, const void *in, void *out,
                                            size_t count, coll_type type, coll_operator op,
                                            coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_ALLREDUCE, in, out, count, type, op, 0);
    return coll_post(comm, &args, request);
}

COLL_HOT_INLINE coll_status coll_allreduce_init(coll_comm *comm, const void *in, void *out,
                                                size_t count, coll_type type, coll_operator op,
                                                coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_ALLREDUCE, in, out, count, type, op, 0);
    return coll_request_init(comm, &args, request);
}

/* ---- reduce_scatter --------------------------------------------------------------------- */

COLL_HOT_INLINE void coll_i_reduce_scatter_args(coll_args *args, const void *in, void *out,
                                                const size_t *counts, coll_type type,
                                                coll_operator op)
{
    coll_i_reducing(args, COLL_REDUCE_SCATTER, in, out, 0, type, op, 0);
    args->in_counts = counts;
}

/* in holds p blocks, block i of counts[i] elements, one after the other; rank r's out becomes
 * block r of the sum over all ranks. All ranks give the same counts. A table of p sizes is
 * taken from the arena. */
COLL_HOT_INLINE coll_status coll_reduce_scatter(coll_comm *comm, const void *in, void *out,
                                                const size_t *counts, coll_type type,
                                                coll_operator op)
{
    coll_args args;
    coll_i_reduce_scatter_args(&args, in, out, counts, type, op);
    return coll_run(comm, &args);
}

COLL_HOT_INLINE coll_status coll_ireduce_scatter(coll_comm *comm, const void *in, void *out,
                                                 const size_t *counts, coll_type type,
                                                 coll_operator op, coll_request *request)
{
    coll_args args;
    coll_i_reduce_scatter_args(&args, in, out, counts, type, op);
    return coll_post(comm, &args, request);
}

COLL_HOT_INLINE coll_status coll_reduce_scatter_init(coll_comm *comm, const void *in, void *out,
                                                     const size_t *counts, coll_type type,
                                                     coll_operator op, coll_request *request)
{
    coll_args args;
    coll_i_reduce_scatter_args(&args, in, out, counts, type, op);
    return coll_request_init(comm, &args, request);
}

/* ---- reduce_scatter_block --------------------------------------------------------------- */

/* As reduce_scatter, with p blocks of `count` elements. */
COLL_HOT_INLINE coll_status coll_reduce_scatter_block(coll_comm *comm, const void *in,
                                                      void *out, size_t count, coll_type type,
                                                      coll_operator op)
{
    coll_args args;
    coll_i_reducing(&args, COLL_REDUCE_SCATTER_BLOCK, in, out, count, type, op, 0);
    return coll_run(comm, &args);
}

COLL_HOT_INLINE coll_status coll_ireduce_scatter_block(coll_comm *comm, const void *in,
                                                       void *out, size_t count, coll_type type,
                                                       coll_operator op, coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_REDUCE_SCATTER_BLOCK, in, out, count, type, op, 0);
    return coll_post(comm, &args, request);
}

COLL_HOT_INLINE coll_status coll_reduce_scatter_block_init(coll_comm *comm, const void *in,
                                                           void *out, size_t count,
                                                           coll_type type, coll_operator op,
                                                           coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_REDUCE_SCATTER_BLOCK, in, out, count, type, op, 0);
    return coll_request_init(comm, &args, request);
}

/* ---- scan ------------------------------------------------------------------------------- */

/* Rank r's out = in of rank 0 ⊕ … ⊕ in of rank r; `count` elements. */
COLL_HOT_INLINE coll_status coll_scan(coll_comm *comm, const void *in, void *out, size_t count,
                                      coll_type type, coll_operator op)
{
    coll_args args;
    coll_i_reducing(&args, COLL_SCAN, in, out, count, type, op, 0);
    return coll_run(comm, &args);
}

COLL_HOT_INLINE coll_status coll_iscan(coll_comm *comm, const void *in, void *out, size_t count,
                                       coll_type type, coll_operator op, coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_SCAN, in, out, count, type, op, 0);
    return coll_post(comm, &args, request);
}

COLL_HOT_INLINE coll_status coll_scan_init(coll_comm *comm, const void *in, void *out,
                                           size_t count, coll_type type, coll_operator op,
                                           coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_SCAN, in, out, count, type, op, 0);
    return coll_request_init(comm, &args, request);
}

/* ---- exscan ----------------------------------------------------------------------------- */

/* Rank r's out = in of rank 0 ⊕ … ⊕ in of rank r−1; `count` elements. Rank 0's out is not
 * touched. */
COLL_HOT_INLINE coll_status coll_exscan(coll_comm *comm, const void *in, void *out,
                                        size_t count, coll_type type, coll_operator op)
{
    coll_args args;
    coll_i_reducing(&args, COLL_EXSCAN, in, out, count, type, op, 0);
    return coll_run(comm, &args);
}

COLL_HOT_INLINE coll_status coll_iexscan(coll_comm *comm, const void *in, void *out,
                                         size_t count, coll_type type, coll_operator op,
                                         coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_EXSCAN, in, out, count, type, op, 0);
    return coll_post(comm, &args, request);
}

COLL_HOT_INLINE coll_status coll_exscan_init(coll_comm *comm, const void *in, void *out,
                                             size_t count, coll_type type, coll_operator op,
                                             coll_request *request)
{
    coll_args args;
    coll_i_reducing(&args, COLL_EXSCAN, in, out, count, type, op, 0);
    return coll_request_init(comm, &args, request);
}

#endif /* COLL_COMM_COMBINE_H */
