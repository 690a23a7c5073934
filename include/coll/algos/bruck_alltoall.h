/* coll/algos/bruck_alltoall.h — alltoall by way of other ranks in few rounds, radix k
 *
 * Block i of rank r is the one for rank r+i (modulo p, as all ranks here). It travels that
 * distance digit by digit of i, to the base k: in the round of digit t every rank sends all
 * blocks whose digit is e on to the rank e·k^t to its right, as one message, for e = 1 … k−1.
 * So each of the ⌈log_k p⌉ rounds has at most k−1 messages, of about p/k blocks: for blocks so
 * short that the number of messages is what counts.
 *
 * A message must be one run of elements. The highest digit comes first: its blocks are one run,
 * then those of the next digit are k runs, and so on, so that few pieces are copied until the
 * last rounds. Messages stay where they arrive until their blocks are sent on, or in the end
 * copied to their places: each block is copied at most once a round, and no round sorts.
 *
 *   p = 6, k = 2: numbers of the blocks in the message, and in the runs it is made of
 *       digit 2, to r+4     4 5
 *       digit 1, to r+2     2 3
 *       digit 0, to r+1     1, 3, 5      3 arrived in the round of digit 1, 5 in that of digit 2
 *
 * Laws (tests/algos/bruck_alltoall.c)
 *   (1) what r sends in a round is what its peer receives in it, one message for each digit e
 *   (2) a block's distances add up to its number
 *   (3) the runs of a message are its blocks in increasing order, each from where it arrived last
 *   (4) with k = n, p = m·n and m ≤ n it is the exchange on a virtual mesh of m rows of n ranks, but for
 *       where rows begin: n−1 messages of m blocks, to the next n−1 ranks, and m−1 of n blocks
 * Cost    ⌈log_k p⌉ rounds; a message for each distance e·k^t < p, 1 ≤ e < k, of those of the p
 *         blocks whose digit t is e. scratch: p−1 blocks, and for each round p−⌈p/k⌉; for packing
 *         once more, from two rounds on
 * Source  Bruck, Ho, Kipnis, Upfal, Weathersby 1997, doi:10.1109/71.642949; meshes: Kumar 2004
 */
#ifndef COLL_ALGOS_BRUCK_ALLTOALL_H
#define COLL_ALGOS_BRUCK_ALLTOALL_H

#include "kit/bruck_slots.h"
#include "kit/derived.h"

COLL_TABLE(coll_param, coll_i_bruck_alltoall_params, {
    COLL_PARAM("k", "k-1 messages a round", 2, UINT32_MAX / 2, 2, {2, 3, 100, 2})});

/* ---- actions ----------------------------------------------------------------------------- */

/* Copies a run to its message, sends the message, or receives one. */
COLL_HOT_INLINE void coll_i_bruck_act(const coll_plan *plan, const coll_i_bruck *list,
                                      uint32_t rank, const coll_i_bruck_entry *entry,
                                      coll_action *out)
{
    const uint32_t p = plan->problem.p, stride = entry->round.stride, e = entry->e;
    const size_t before = coll_i_bruck_below(plan, &entry->round, e);
    const coll_ref packed = coll_i_bruck_region(plan, list, list->rounds) + before * list->slot;
    size_t count;
    if (entry->at < entry->runs) {
        const uint32_t row = entry->at, i = (row * plan->param[0] + e) * stride;
        coll_i_bruck_round above;
        coll_i_bruck_above(&above, plan, &entry->round);
        coll_act_copy(out, packed + (size_t)row * stride * list->slot,
                      coll_i_bruck_place(plan, list, &above, i, row),
                      (p - i < stride ? p - i : stride) * list->slot);
        return;
    }
    count = (coll_i_bruck_below(plan, &entry->round, e + 1) - before) * list->slot;
    if (entry->at == entry->runs)
        coll_act_send(out, coll_mod_add(rank, e * stride, p),
                      entry->runs > 0
                          ? packed
                          : COLL_AT(COLL_SCRATCH, (e * (size_t)stride - 1) * list->slot),
                      count);
    else
        coll_act_recv(out, coll_mod_sub(rank, e * stride, p),
                      coll_i_bruck_region(plan, list, entry->round.t) + before * list->slot,
                      count);
}

/* What of a block has a slot: all, or where it does not fit, nothing. */
COLL_HOT_INLINE size_t coll_i_bruck_rides(const coll_i_bruck *list, size_t count)
{
    return count <= list->slot ? count : 0;
}

/* The first part: block n+1, or where all have the same size, those for the ranks to the right
 * at once, then those for ranks 0 … rank−1. */
COLL_HOT_INLINE void coll_i_bruck_enter(const coll_plan *plan, const coll_i_bruck *list,
                                        uint32_t rank, size_t n, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_ref head = COLL_AT(COLL_SCRATCH, 0), input = coll_input(plan);
    if (list->even) {
        const size_t right = (p - 1 - rank) * list->slot;
        if (n == 0)
            coll_act_copy(out, head, input + (rank + (size_t)1) * list->slot, right);
        else
            coll_act_copy(out, head + right, input, rank * list->slot);
    } else {
        const uint32_t to = coll_mod_add(rank, (uint32_t)n + 1, p);
        const coll_block block =
            coll_in_place(plan) ? coll_out_block(plan, to) : coll_in_block(plan, to);
        coll_act_copy(out, head + n * list->slot, input + block.offset,
                      coll_i_bruck_rides(list, block.count));
    }
}

/* The last part: block i is from the rank i to the left. */
COLL_HOT_INLINE void coll_i_bruck_leave(const coll_plan *plan, const coll_i_bruck *list,
                                        uint32_t rank, uint32_t i, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_block to = coll_out_block(plan, coll_mod_sub(rank, i, p));
    coll_i_bruck_round round;
    coll_i_bruck_round_of(&round, plan, 0, 1, p);
    coll_act_copy(out, COLL_AT(COLL_OUT, to.offset),
                  coll_i_bruck_place(plan, list, &round, i, i),
                  coll_i_bruck_rides(list, to.count));
}

/* The steps of the list, and one of them. */
COLL_HOT_INLINE size_t coll_i_bruck_list_steps(const coll_i_bruck *list)
{
    return (list->enter + list->go + list->end + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_bruck_list_step(const coll_plan *plan, const coll_i_bruck *list,
                                            uint32_t rank, size_t s, coll_action *out)
{
    const size_t left = list->enter + list->go + list->end - s * COLL_STEP_MAX;
    const unsigned actions = left < COLL_STEP_MAX ? (unsigned)left : COLL_STEP_MAX;
    coll_i_bruck_entry entry;
    entry.e = 0; /* not found yet */
    entry.at = entry.runs = 0;
    for (unsigned a = 0; a < actions; a++) {
        size_t n = s * COLL_STEP_MAX + a;
        if (n < list->enter) {
            coll_i_bruck_enter(plan, list, rank, n, &out[a]);
            continue;
        }
        n -= list->enter;
        if (n < list->go) {
            if (entry.e == 0)
                coll_i_bruck_find(&entry, plan, list, n);
            coll_i_bruck_act(plan, list, rank, &entry, &out[a]);
            if (++entry.at == entry.runs + 2)
                entry.e = 0; /* the next message is to be found */
            continue;
        }
        coll_i_bruck_leave(plan, list, rank, (uint32_t)(n - list->go) + 1, &out[a]);
    }
    return actions;
}

/* ---- alltoall ---------------------------------------------------------------------------- */

/* The list; not in place, the copy of the own block. */
COLL_INLINE size_t coll_i_bruck_alltoall_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->problem.count);
    (void)rank;
    return coll_i_bruck_list_steps(&list) + (coll_in_place(plan) ? 0 : 1);
}

COLL_INLINE unsigned coll_i_bruck_alltoall_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->problem.count);
    const size_t own = rank * list.slot;
    if (s < coll_i_bruck_list_steps(&list))
        return coll_i_bruck_list_step(plan, &list, rank, s, out);
    coll_act_copy(out, COLL_AT(COLL_OUT, own), COLL_AT(COLL_IN, own), list.slot);
    return 1;
}

COLL_INLINE size_t coll_i_bruck_alltoall_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->problem.count);
    (void)rank;
    return coll_i_bruck_slots(plan, &list) * list.slot;
}

/* SCRATCH must fit the machine. */
COLL_INLINE coll_status coll_i_bruck_fits(const coll_plan *plan, const coll_i_bruck *list)
{
    size_t elements;
    return coll_multiply(plan->problem.p * ((size_t)list->rounds + 2), list->slot, &elements) &&
                   coll_i_addressable(elements, plan->problem.elem_bytes)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

COLL_INLINE coll_status coll_i_bruck_alltoall_check(const coll_plan *plan)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->problem.count);
    return coll_i_bruck_fits(plan, &list);
}

COLL_ALGORITHM(coll_bruck_alltoall, "bruck", "Bruck et al. 1997",
    COLL_BIT(COLL_ALLTOALL), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_bruck_alltoall_params, coll_i_prepare_radix),
    coll_i_bruck_alltoall_steps, coll_i_bruck_alltoall_step, coll_i_bruck_alltoall_scratch,
    coll_i_bruck_alltoall_check);

#endif /* COLL_ALGOS_BRUCK_ALLTOALL_H */
