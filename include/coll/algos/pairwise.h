/* coll/algos/pairwise.h — alltoall(v,w), reduce_scatter(_block) in rounds of one partner at a time
 *
 * Round i is a cyclic shift: everyone sends to the rank i to its right and receives from the
 * rank i to its left, so every rank handles one message in and one out at a time, and no block
 * is sent twice. In place, where a block must leave before another takes its position, a round
 * pairs the ranks instead: r and (i − r) mod p trade blocks of equal size; a copy of the one
 * leaves while the other arrives. A reduce_scatter shifts the other way: rank r takes up
 * operands r, r+1 … p−1, then 0 … r−1, two runs of consecutive ranks, and joins them in rank
 * order at the end: few blocks of scratch, any operator.
 *
 *   p = 4, partner of rank r
 *               alltoall: to, from          in place: with     reduce_scatter: to, from
 *       rank     0   1   2   3               0  1  2  3          0   1   2   3
 *       i = 0                                ·  3  ·  1
 *       i = 1   1,3 2,0 3,1 0,2              1  0  3  2         3,1 0,2 1,3 2,0
 *       i = 2   2,2 3,3 0,0 1,1              2  ·  0  ·         2,2 3,3 0,0 1,1
 *       i = 3   3,1 0,2 1,3 2,0              3  2  1  0         1,3 2,0 3,1 0,2
 *
 * Laws (tests/algos/pairwise.c)
 *   (1) what r sends in round i is what its peer receives in round i
 *   (2) the peers of a rank's rounds are all other ranks, each once
 *   (3) in place, a rank's partner has it as its partner in the same round
 *   (4) a reduce_scatter takes operands r+1 … p−1, 0 … r−1 in this order
 * Cost    p−1 rounds (in place p, of which each rank skips one), p−1 messages and blocks per rank.
 *         scratch: alltoall in place two of the largest blocks; reduce_scatter three own blocks, in
 *         place four
 * Source  Thakur, Rabenseifner, Gropp 2005 (pairwise exchange), doi:10.1177/1094342005051521
 */
#ifndef COLL_ALGOS_PAIRWISE_H
#define COLL_ALGOS_PAIRWISE_H

#include "../plan.h"

/* ---- alltoall ---------------------------------------------------------------------------- */

/* The one round of the p in which a rank is its own partner in place. It is skipped. */
COLL_INLINE uint32_t coll_i_pairwise_alone(uint32_t p, uint32_t rank)
{
    return coll_mod_add(rank, rank, p);
}

/* p−1 exchanges; the copy of the own block rides on the first (alone, it is the only step). */
COLL_INLINE size_t coll_i_pairwise_alltoall_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p - (size_t)1 + (plan->problem.p == 1 && !coll_in_place(plan) ? 1 : 0);
}

/* One block leaves, another arrives. */
COLL_INLINE unsigned coll_i_pairwise_exchange(const coll_plan *plan, uint32_t to, uint32_t from,
                                              coll_action *out)
{
    const coll_block give = coll_in_block(plan, to), take = coll_out_block(plan, from);
    coll_act_send(&out[0], to, COLL_AT(COLL_IN, give.offset), give.count);
    coll_act_recv(&out[1], from, COLL_AT(COLL_OUT, take.offset), take.count);
    return 2;
}

/* In place: a copy of the block leaves while another arrives in its position. Two copies take
 * turns, so that a round need not wait for the one before. */
COLL_INLINE unsigned coll_i_pairwise_trade(const coll_plan *plan, uint32_t with, size_t s,
                                           coll_action *out)
{
    const coll_block block = coll_out_block(plan, with);
    const coll_ref place = COLL_AT(COLL_OUT, block.offset);
    const coll_ref leaving = COLL_AT(COLL_SCRATCH, (s & 1) * plan->largest);
    coll_act_copy(&out[0], leaving, place, block.count);
    coll_act_send(&out[1], with, leaving, block.count);
    coll_act_recv(&out[2], with, place, block.count);
    return 3;
}

/* The block that stays: none in place. */
COLL_INLINE unsigned coll_i_pairwise_own(const coll_plan *plan, uint32_t rank, coll_action *out)
{
    const coll_block place = coll_out_block(plan, rank);
    if (coll_in_place(plan))
        return 0;
    coll_act_copy(&out[0], COLL_AT(COLL_OUT, place.offset),
                  COLL_AT(COLL_IN, coll_in_block(plan, rank).offset), place.count);
    return 1;
}

/* The partner in a trade at step s of all but the round in which a rank is alone. */
COLL_INLINE uint32_t coll_i_pairwise_partner(uint32_t p, uint32_t rank, size_t s)
{
    const uint32_t round = (uint32_t)s + (s >= coll_i_pairwise_alone(p, rank) ? 1 : 0);
    return coll_mod_sub(round, rank, p);
}

COLL_INLINE unsigned coll_i_pairwise_alltoall_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    unsigned n = 0;
    if (coll_in_place(plan))
        return coll_i_pairwise_trade(plan, coll_i_pairwise_partner(p, rank, s), s, out);
    if (p > 1)
        n = coll_i_pairwise_exchange(plan, coll_mod_add(rank, (uint32_t)s + 1, p),
                                     coll_mod_sub(rank, (uint32_t)s + 1, p), out);
    return n + (s == 0 ? coll_i_pairwise_own(plan, rank, &out[n]) : 0);
}

COLL_INLINE size_t coll_i_pairwise_alltoall_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_in_place(plan) ? 2 * plan->largest : 0;
}

/* A step of the blocks of more than `block` elements, where shorter ones go another way; the copies
 * of those that leave in place begin at `staging`. The own block is copied in any case. */
COLL_INLINE unsigned coll_i_pairwise_longer(const coll_plan *plan, uint32_t rank, size_t s,
                                            size_t block, size_t staging, coll_action *out)
{
    const unsigned n = coll_i_pairwise_alltoall_step(plan, rank, s, out);
    for (unsigned i = 0; i < n; i++) {
        if (out[i].kind == COLL_DO_COPY && !coll_in_place(plan))
            continue; /* the own block */
        if (out[i].count <= block)
            out[i].count = 0;
        if (out[i].kind == COLL_DO_COPY)
            out[i].dst += staging;
        else if (coll_in_place(plan) && out[i].kind == COLL_DO_SEND)
            out[i].src += staging;
    }
    return n;
}

COLL_ALGORITHM(coll_pairwise_alltoall, "pairwise", "Thakur, Rabenseifner, Gropp 2005",
    COLL_EXCHANGING, /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_pairwise_alltoall_steps, coll_i_pairwise_alltoall_step,
    coll_i_pairwise_alltoall_scratch);

/* Kumar's ring of P−1 cyclic shifts is this same order. */
COLL_ALGORITHM(coll_ring_alltoall, "ring", "Kumar 2004, cyclic shifts",
    COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_ALLTOALLV), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_pairwise_alltoall_steps, coll_i_pairwise_alltoall_step,
    coll_i_pairwise_alltoall_scratch);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

/* p−1 exchanges, then the joining; rank 0, which has nothing to join, may have its result
 * already. */
COLL_INLINE size_t coll_i_pairwise_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    return p > 1 && rank == 0 && !coll_in_place(plan) ? p - 1 : p;
}

/* SCRATCH holds two staging slots, the sum of operands 0 … r−1, and the sum of operands r … p−1
 * where that cannot form in OUT because OUT still holds operands. */
COLL_INLINE unsigned coll_i_pairwise_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                         size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t slot = coll_in_block(plan, rank).count;
    const coll_ref input = coll_input(plan), own = input + coll_in_block(plan, rank).offset;
    const coll_ref lower = COLL_AT(COLL_SCRATCH, 2 * slot), result = COLL_AT(COLL_OUT, 0);
    const coll_ref upper = coll_in_place(plan) ? lower + slot : result;
    unsigned n = 0;
    if (s + 1 < p) {
        const uint32_t to = coll_mod_sub(rank, (uint32_t)s + 1, p);
        const uint32_t from = coll_mod_add(rank, (uint32_t)s + 1, p);
        const coll_block give = coll_in_block(plan, to);
        const coll_ref via = COLL_AT(COLL_SCRATCH, (s & 1) * slot);
        coll_act_send(&out[n++], to, input + give.offset, give.count);
        if (from > rank)
            coll_act_recv_reduce(&out[n++], from, upper, s == 0 ? own : upper, via, slot);
        else if (from == 0)
            coll_act_recv(&out[n++], from, lower, slot);
        else
            coll_act_recv_reduce(&out[n++], from, lower, lower, via, slot);
        return n;
    }
    if (p == 1 ||
        (rank + 1 == p && coll_in_place(plan))) /* the upper run is operand p−1 alone */
        coll_act_copy(&out[n++], upper, own, slot);
    if (rank > 0)
        coll_act_reduce(&out[n++], result, lower,
                        rank + 1 < p || coll_in_place(plan) ? upper : own, slot);
    else if (upper != result)
        coll_act_copy(&out[n++], result, upper, slot);
    return n;
}

COLL_INLINE size_t coll_i_pairwise_reduce_scatter_scratch(const coll_plan *plan, uint32_t rank)
{
    return (coll_in_place(plan) ? 4 : 3) * coll_in_block(plan, rank).count;
}

COLL_ALGORITHM(coll_pairwise_reduce_scatter, "pairwise", "Thakur, Rabenseifner, Gropp 2005",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_pairwise_reduce_scatter_steps, coll_i_pairwise_reduce_scatter_step,
    coll_i_pairwise_reduce_scatter_scratch);

#endif /* COLL_ALGOS_PAIRWISE_H */
