/* coll/lab/export/msccl/limits.h — what MSCCL cannot express, and how large a chunk is
 *
 * Private; use msccl.h.
 */
#ifndef COLL_LAB_EXPORT_MSCCL_LIMITS_H
#define COLL_LAB_EXPORT_MSCCL_LIMITS_H

#include "../writer.h"

/* The collective in MSCCL's words; NULL: the executors do not know it. */
COLL_INLINE const char *coll_i_msccl_name(coll_collective collective)
{
    switch (collective) {
    case COLL_BCAST:
        return "broadcast";
    case COLL_REDUCE_SCATTER_BLOCK:
        return "reducescatter";
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_GATHER:
    case COLL_SCATTER:
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
        return coll_collective_name(collective);
    default:
        return NULL;
    }
}

/* The collective with equal blocks; NULL: its blocks are equal. */
COLL_INLINE const char *coll_i_msccl_equal(coll_collective collective)
{
    switch (collective) {
    case COLL_GATHERV:
        return "gather";
    case COLL_SCATTERV:
        return "scatter";
    case COLL_ALLGATHERV:
        return "allgather";
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return "alltoall";
    case COLL_REDUCE_SCATTER:
        return "reduce_scatter_block";
    default:
        return NULL;
    }
}

COLL_INLINE coll_export_result coll_i_msccl_check(coll_export *job)
{
    const coll_plan *plan = coll_i_export_plan(job, 0);
    const coll_collective collective = plan->problem.collective;
    const char *name = coll_collective_name(collective);
    if (collective == COLL_BARRIER)
        return coll_i_refuse(job, "MSCCL has no messages without data, and so no barrier: "
                                  "export it as JSON");
    if (coll_i_msccl_equal(collective))
        return coll_i_refuse(job, "MSCCL has no blocks of different sizes: export %s",
                             coll_i_msccl_equal(collective));
    if (!coll_i_msccl_name(collective))
        return coll_i_refuse(job, "the executors of MSCCL do not know %s: export it as JSON",
                             name);
    if (coll_is(COLL_REDUCING, collective) && !(plan->problem.flags & COLL_FLAG_COMMUTATIVE))
        return coll_i_refuse(job, "the executors of MSCCL combine operands in any order: "
                                  "export for an operator that commutes");
    if (coll_in_place(plan) && coll_is(COLL_ROOTED, collective))
        return coll_i_refuse(job,
                             "the executors of MSCCL ask each rank whether it is in "
                             "place: export %s out of place",
                             name);
    if (coll_in_place(plan) && collective == COLL_REDUCE_SCATTER_BLOCK)
        return coll_i_refuse(job,
                             "in place, NCCL leaves the result in the rank's own block, "
                             "and this plan in the first: export %s out of place",
                             name);
    if (plan->problem.count == 0)
        return coll_i_refuse(job, "a chunk has at least one element: export more of them");
    return COLL_EXPORTED;
}

COLL_INLINE size_t coll_i_gcd(size_t a, size_t b)
{
    while (b != 0) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Finds the size of a chunk, and refuses actions. */
COLL_INLINE coll_export_result coll_i_msccl_asks(coll_export *job, const coll_plan *plan,
                                                 const coll_action *a, const void *arg)
{
    size_t *chunk = *(size_t *const *)arg;
    (void)plan;
    if (coll_i_is_token(a))
        return coll_i_refuse(job, "MSCCL has neither messages without data nor memory that "
                                  "ranks share: export an algorithm without notifications, "
                                  "or as JSON");
    if (a->kind == COLL_DO_MULTICAST)
        return coll_i_refuse(job, "MSCCL has no multicast: export an algorithm without the "
                                  "trait needs-multicast, or as JSON");
    if (a->kind == COLL_DO_NETWORK_REDUCE)
        return coll_i_refuse(job,
                             "MSCCL has no reduction by the network: export an "
                             "algorithm without the trait needs-network-reduce, or as JSON");
    *chunk = coll_i_gcd(*chunk, a->count);
    if (coll_i_has(COLL_I_READS_SRC, a))
        *chunk = coll_i_gcd(*chunk, coll_ref_offset(a->src));
    if (coll_i_has(COLL_I_WRITES_DST, a))
        *chunk = coll_i_gcd(*chunk, coll_ref_offset(a->dst));
    if (a->kind == COLL_DO_REDUCE)
        *chunk = coll_i_gcd(coll_i_gcd(*chunk, coll_ref_offset(a->via)),
                            a->inputs > 1 ? a->stride : 0);
    return COLL_EXPORTED;
}

#endif /* COLL_LAB_EXPORT_MSCCL_LIMITS_H */
