/* coll/algos/linear_all.h — allgather(v), reduce_scatter(_block): everyone with everyone
 *
 * Every rank sends straight to all others, beginning with its right neighbour, so that no two
 * of them send to one rank at the same step. In an allgather the message is the rank's block.
 * In a reduce_scatter it is the receiver's block of operands; the receiver puts each in a slot
 * of its own and adds them up in one sweep, in rank order: the same parenthesisation for every
 * block.
 *
 *   p = 4: whom rank r sends to, and receives from
 *       rank    0   1   2   3
 *       s = 0  1,3 2,0 3,1 0,2
 *       s = 1  2,2 3,3 0,0 1,1
 *       s = 2  3,1 0,2 1,3 2,0
 *
 * Laws (tests/algos/linear_all.c)
 *   (1) what r sends at step s is what its peer receives at step s
 *   (2) the peers of a rank's p−1 steps are all other ranks
 *   (3) the sweeps of a reduce_scatter take operands 0 … p−1 in order, each once
 * Cost    p−1 rounds and messages per rank; allgather: the own block p−1 times; reduce_scatter: all
 *         blocks but the own. scratch: reduce_scatter p times the own block
 * Source  Kumar 2004 (direct); Moody 2003, §3.2.1 (own slots, rank order)
 */
#ifndef COLL_ALGOS_LINEAR_ALL_H
#define COLL_ALGOS_LINEAR_ALL_H

#include "../plan.h"

/* ---- allgather --------------------------------------------------------------------------- */

/* p−1 exchanges; the copy of the own block rides on the first (alone, it is the only step). */
COLL_INLINE size_t coll_i_linear_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p - (size_t)1 + (plan->problem.p == 1 && !coll_in_place(plan) ? 1 : 0);
}

COLL_INLINE unsigned coll_i_linear_allgather_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_block own = coll_out_block(plan, rank);
    const coll_ref place = COLL_AT(COLL_OUT, own.offset);
    const coll_ref input = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    unsigned n = 0;
    if (p > 1) {
        const uint32_t from = coll_mod_sub(rank, (uint32_t)s + 1, p);
        const coll_block block = coll_out_block(plan, from);
        coll_act_send(&out[n++], coll_mod_add(rank, (uint32_t)s + 1, p), input, own.count);
        coll_act_recv(&out[n++], from, COLL_AT(COLL_OUT, block.offset), block.count);
    }
    if (s == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], place, input, own.count);
    return n;
}

COLL_ALGORITHM(coll_linear_allgather, "linear", "Kumar 2004",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_linear_allgather_steps, coll_i_linear_allgather_step);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

enum {
    COLL_I_LINEAR_SWEEP = 32768
}; /* operands that one REDUCE adds; it counts them in 16 bits */

/* p−1 exchanges (alone: the copy), then the sweeps over the p slots. */
COLL_INLINE uint32_t coll_i_linear_exchanges(const coll_plan *plan)
{
    return plan->problem.p == 1 ? 1 : plan->problem.p - 1;
}

COLL_INLINE size_t coll_i_linear_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_i_linear_exchanges(plan) + (size_t)1 +
           (coll_i_linear_exchanges(plan) - 1) / COLL_I_LINEAR_SWEEP;
}

/* Slot i holds operand i of this rank's block; slot 0, or OUT where it is free, becomes the sum. */
COLL_INLINE unsigned coll_i_linear_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                       size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p, exchanges = coll_i_linear_exchanges(plan);
    const coll_ref input = coll_input(plan);
    const coll_block own = coll_in_block(plan, rank);
    unsigned n = 0;
    if (s < exchanges) {
        if (p > 1) {
            const uint32_t to = coll_mod_add(rank, (uint32_t)s + 1, p);
            const uint32_t from = coll_mod_sub(rank, (uint32_t)s + 1, p);
            const coll_block block = coll_in_block(plan, to);
            coll_act_send(&out[n++], to, input + block.offset, block.count);
            coll_act_recv(&out[n++], from, COLL_AT(COLL_SCRATCH, own.count * from), own.count);
        }
        if (s == 0)
            coll_act_copy(&out[n++], COLL_AT(COLL_SCRATCH, own.count * rank),
                          input + own.offset, own.count);
        return n;
    }
    {
        const uint32_t done =
            (uint32_t)(s - exchanges) * COLL_I_LINEAR_SWEEP; /* and operand 0 */
        const uint32_t left = p - 1 - done;
        const coll_ref slots = COLL_AT(COLL_SCRATCH, 0);
        const coll_ref sum = coll_in_place(plan) ? slots : COLL_AT(COLL_OUT, 0);
        const uint32_t most = COLL_I_LINEAR_SWEEP;
        if (left > 0) {
            coll_act_reduce(&out[n], sum, done == 0 ? slots : sum,
                            slots + own.count * ((size_t)done + 1), own.count);
            out[n].inputs = (uint16_t)(left < most ? left : most);
            out[n++].stride = own.count;
        }
        if (left <= most && (sum == slots || p == 1))
            coll_act_copy(&out[n++], COLL_AT(COLL_OUT, 0), slots, own.count);
    }
    return n;
}

COLL_INLINE size_t coll_i_linear_reduce_scatter_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_in_block(plan, rank).count * plan->problem.p;
}

/* p blocks of the largest size must fit the machine. */
COLL_INLINE coll_status coll_i_linear_reduce_scatter_check(const coll_plan *plan)
{
    size_t elements;
    return coll_multiply(plan->largest, plan->problem.p, &elements) &&
                   coll_i_addressable(elements, plan->problem.elem_bytes)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

COLL_ALGORITHM(coll_linear_reduce_scatter, "linear", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_linear_reduce_scatter_steps, coll_i_linear_reduce_scatter_step,
    coll_i_linear_reduce_scatter_scratch, coll_i_linear_reduce_scatter_check);

#endif /* COLL_ALGOS_LINEAR_ALL_H */
