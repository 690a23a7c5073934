/* coll/algos/shm_flat.h — allgather(v), alltoall, reduce_scatter(_block) in the shared memory of
 * a node, with one barrier by the network
 *
 * Every rank puts all that it gives into SHARED, all ranks meet, and every rank gets what is for
 * it: all blocks, its column, or its block of all operands, which it combines there. So a rank
 * waits once, for all others at a time, and nobody waits for a root. SHARED must hold everything:
 * these are for short blocks, where ranks share processors and to wait is what costs.
 *
 *   p = 4, alltoall        put          meet        get
 *   rank 1                 10 11 12 13  ═══════     01 11 21 31
 *
 * Laws (tests/algos/shm_flat.c)
 *   (1) a rank has put all that it gives before it meets, once, all ranks, and gets after that
 *   (2) no two ranks put to the same place, and only what was put is got
 *   (3) operands are combined in rank order
 * Cost    one meeting; a rank puts its block, or p of them, and gets p blocks. SHARED: p times the
 *         largest block; alltoall and reduce_scatter p times all of a rank's blocks
 * Source  Wu 2005, section 2.4 (group_seg_put, group_sync, group_get)
 */
#ifndef COLL_ALGOS_SHM_FLAT_H
#define COLL_ALGOS_SHM_FLAT_H

#include "../plan.h"

/* Elements of SHARED that each rank puts; 0: there is nothing to do. */
COLL_INLINE size_t coll_i_shm_flat_part(const coll_plan *plan)
{
    const coll_problem *of = &plan->problem;
    return of->collective == COLL_ALLGATHER || of->collective == COLL_ALLGATHERV
               ? plan->largest
               : coll_i_layout_at(&of->in, of->count, of->p, of->p);
}

/* A rank alone copies. */
COLL_INLINE size_t coll_i_shm_flat_shared(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    return p == 1 ? 0 : p * coll_i_shm_flat_part(plan);
}

COLL_INLINE coll_status coll_i_shm_flat_check(const coll_plan *plan)
{
    size_t elements;
    if (plan->problem.p > 0x10000) /* operands that are combined at once */
        return COLL_ERR_SHAPE;
    return coll_multiply(plan->problem.p, coll_i_shm_flat_part(plan), &elements) &&
                   coll_i_addressable(elements, plan->problem.elem_bytes)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

/* The first step of all: the rank puts `count` elements, and meets the others. */
COLL_INLINE unsigned coll_i_shm_flat_put(const coll_plan *plan, uint32_t rank, coll_ref from,
                                         size_t count, coll_action *out)
{
    coll_network_group all;
    if (plan->problem.p == 1) {
        coll_act_copy(out, COLL_AT(COLL_OUT, coll_out_block(plan, rank).offset), from, count);
        return 1;
    }
    all.number = COLL_GROUP_ALL;
    all.members = plan->problem.p;
    coll_act_copy(&out[0], COLL_AT(COLL_SHARED, rank * coll_i_shm_flat_part(plan)), from,
                  count);
    coll_act_network_barrier(&out[1], all, COLL_AT(COLL_SHARED, 0));
    out[1].count = coll_i_shm_flat_shared(plan);
    return 2;
}

/* Steps if a rank gets so many pieces. */
COLL_INLINE size_t coll_i_shm_flat_steps_of(const coll_plan *plan, size_t pieces)
{
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return coll_i_shm_flat_part(plan) == 0 ? 0
                                           : 1 + (pieces + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

/* Elements of block i that a rank gets, of which its own are in place. */
COLL_INLINE size_t coll_i_shm_flat_got(const coll_plan *plan, uint32_t rank, uint32_t i)
{
    return i == rank && coll_in_place(plan) ? 0 : coll_out_block(plan, i).count;
}

/* ---- allgather --------------------------------------------------------------------------- */

/* Blocks that lie one behind the other, here and there, are one piece. */
COLL_INLINE uint32_t coll_i_shm_flat_pieces(const coll_plan *plan)
{
    return plan->problem.out.counts ? plan->problem.p : 1;
}

COLL_INLINE size_t coll_i_shm_flat_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_i_shm_flat_steps_of(plan, coll_i_shm_flat_pieces(plan));
}

COLL_INLINE unsigned coll_i_shm_flat_allgather_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    const uint32_t pieces = coll_i_shm_flat_pieces(plan);
    const coll_block own = coll_out_block(plan, rank);
    uint32_t i = (uint32_t)(s - 1) * COLL_STEP_MAX;
    unsigned n = 0;
    if (s == 0)
        return coll_i_shm_flat_put(plan, rank,
                                   coll_in_place(plan) ? COLL_AT(COLL_OUT, own.offset)
                                                       : COLL_AT(COLL_IN, 0),
                                   own.count, out);
    for (; n < COLL_STEP_MAX && i < pieces; n++, i++)
        coll_act_copy(&out[n], COLL_AT(COLL_OUT, coll_out_block(plan, i).offset),
                      COLL_AT(COLL_SHARED, i * plan->largest),
                      pieces == 1 ? coll_i_shm_flat_shared(plan)
                                  : coll_i_shm_flat_got(plan, rank, i));
    return n;
}

COLL_ALGORITHM(coll_shm_flat_allgather, "shm_flat", "Wu 2005, section 2.4",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_BARRIER | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_shm_flat_allgather_steps, coll_i_shm_flat_allgather_step, NULL,
    coll_i_shm_flat_check, coll_i_shm_flat_shared);

/* ---- alltoall ---------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_shm_flat_alltoall_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_i_shm_flat_steps_of(plan, plan->problem.p);
}

COLL_INLINE unsigned coll_i_shm_flat_alltoall_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    const size_t count = plan->problem.count, part = coll_i_shm_flat_part(plan);
    uint32_t i = (uint32_t)(s - 1) * COLL_STEP_MAX;
    unsigned n = 0;
    if (s == 0) /* nobody gets the last rank's last block, if that is in place */
        return coll_i_shm_flat_put(
            plan, rank, coll_input(plan),
            part - (coll_in_place(plan) && rank + 1 == plan->problem.p ? count : 0), out);
    for (; n < COLL_STEP_MAX && i < plan->problem.p; n++, i++)
        coll_act_copy(&out[n], COLL_AT(COLL_OUT, i * count),
                      COLL_AT(COLL_SHARED, i * part + rank * count),
                      coll_i_shm_flat_got(plan, rank, i));
    return n;
}

COLL_ALGORITHM(coll_shm_flat_alltoall, "shm_flat", "Wu 2005, section 2.4",
    COLL_BIT(COLL_ALLTOALL), COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_BARRIER,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_shm_flat_alltoall_steps, coll_i_shm_flat_alltoall_step, NULL, coll_i_shm_flat_check,
    coll_i_shm_flat_shared);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_shm_flat_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_i_shm_flat_steps_of(plan, 1);
}

COLL_INLINE unsigned coll_i_shm_flat_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                         size_t s, coll_action *out)
{
    const size_t part = coll_i_shm_flat_part(plan);
    const coll_block own = coll_in_block(plan, rank);
    const coll_ref first = COLL_AT(COLL_SHARED, own.offset);
    if (s == 0)
        return coll_i_shm_flat_put(plan, rank, coll_input(plan), part, out);
    coll_act_reduce(out, COLL_AT(COLL_OUT, 0), first, first + part, own.count);
    out->inputs = (uint16_t)(plan->problem.p - 1);
    out->stride = part;
    return 1;
}

COLL_ALGORITHM(coll_shm_flat_reduce_scatter, "shm_flat", "Wu 2005, section 2.4",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_BARRIER | COLL_NEEDS_PACKED |
        COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_shm_flat_reduce_scatter_steps, coll_i_shm_flat_reduce_scatter_step, NULL,
    coll_i_shm_flat_check, coll_i_shm_flat_shared);

#endif /* COLL_ALGOS_SHM_FLAT_H */
