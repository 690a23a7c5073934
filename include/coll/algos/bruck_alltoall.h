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
 * Cost    ⌈log_k p⌉ rounds; a message for each distance e·k^t < p, 1 ≤ e < k, of those of the p
 *         blocks whose digit t is e. scratch: p−1 blocks, and for each round p−⌈p/k⌉; for packing
 *         once more, from two rounds on
 * Source  Bruck, Ho, Kipnis, Upfal, Weathersby 1997, doi:10.1109/71.642949
 */
#ifndef COLL_ALGOS_BRUCK_ALLTOALL_H
#define COLL_ALGOS_BRUCK_ALLTOALL_H

#include "../plan.h"

COLL_TABLE(coll_param, coll_i_bruck_alltoall_params, {
    {"k", "k-1 messages a round", 2, UINT32_MAX / 2, 2, {2, 3, 100, 2}}});

/* ---- runs -------------------------------------------------------------------------------- */

/* The blocks cut into runs of k^t. Digit t of a block's number is that of its run's number,
 * modulo k, and the digits above it are its row. */
typedef struct coll_i_bruck_round {
    uint32_t t, stride; /* k^t */
    uint32_t rows;      /* full ones, of k runs; and then … */
    uint32_t last;      /* … runs of digit 0 … last, of which the very last may be short */
} coll_i_bruck_round;

/* Writes the round of digit t, in which there are ⌈p/k^t⌉ runs. */
COLL_HOT_INLINE void coll_i_bruck_round_of(coll_i_bruck_round *round, const coll_plan *plan,
                                           uint32_t t, uint32_t stride, uint32_t runs)
{
    round->t = t;
    round->stride = stride;
    round->rows = coll_divide(runs - 1, &plan->radix);
    round->last = runs - 1 - round->rows * plan->param[0];
}

/* Writes the round of the next higher digit, where there is one: rows > 0. May be the same. */
COLL_HOT_INLINE void coll_i_bruck_above(coll_i_bruck_round *above, const coll_plan *plan,
                                        const coll_i_bruck_round *round)
{
    coll_i_bruck_round_of(above, plan, round->t + 1, round->stride * plan->param[0],
                          round->rows + 1);
}

/* How many blocks have a digit from 1 to e−1. */
COLL_HOT_INLINE size_t coll_i_bruck_below(const coll_plan *plan,
                                          const coll_i_bruck_round *round, uint32_t e)
{
    const size_t runs =
        (size_t)(e - 1) * round->rows + (e - 1 < round->last ? e - 1 : round->last);
    const bool short_one = round->last > 0 && round->last < e;
    const size_t all = (size_t)round->rows * plan->param[0] + round->last + 1;
    return runs * round->stride - (short_one ? all * round->stride - plan->problem.p : 0);
}

/* ---- what a rank does -------------------------------------------------------------------- */

/* The list of its actions: all blocks to the head of SCRATCH in the order of their numbers; round
 * after round for each message its runs, the send and the receive; all blocks to their places.
 * bruck_alltoallv.h has blocks of different sizes in slots of the same size. */
typedef struct coll_i_bruck {
    uint32_t rounds, top;  /* and the runs of the first of them */
    size_t slot;           /* elements of a block in SCRATCH */
    size_t region;         /* at least the blocks that a round receives */
    size_t enter, go, end; /* entries of the three parts */
    bool even;             /* all blocks have the size of a slot */
} coll_i_bruck;

COLL_HOT_INLINE coll_i_bruck coll_i_bruck_of(const coll_plan *plan, size_t slot)
{
    const uint32_t p = plan->problem.p, k = plan->param[0];
    coll_i_bruck list;
    list.rounds = 0;
    list.top = p;
    if (k == 2) {
        list.rounds = coll_log2_ceil(p);
        list.top = 2;
    } else if (p > 1) {
        uint32_t rows = p - 1;
        do {
            list.rounds++;
            list.top = rows + 1;
            rows = coll_divide(rows, &plan->radix);
        } while (rows > 0);
    }
    list.slot = slot;
    list.region = p - (coll_divide(p - 1, &plan->radix) + (size_t)1);
    list.even = plan->problem.collective == COLL_ALLTOALL;
    list.enter = p == 1 ? 0 : list.even ? 2 : p - 1;
    list.go = p == 1 ? 0
                     : 2 * ((size_t)list.top - 1) + (list.rounds - 1) * 2 * ((size_t)k - 1) +
                           (p - list.top);
    list.end = p - 1;
    return list;
}

/* Slots in SCRATCH: the blocks, a region for each round, and one for packing after the first. */
COLL_HOT_INLINE size_t coll_i_bruck_slots(const coll_plan *plan, const coll_i_bruck *list)
{
    return plan->problem.p - 1 +
           (list->rounds + (list->rounds > 1 ? (size_t)1 : 0)) * list->region;
}

/* Where the messages of the round of digit t arrive; t = rounds: where they are put together. */
COLL_HOT_INLINE coll_ref coll_i_bruck_region(const coll_plan *plan, const coll_i_bruck *list,
                                             uint32_t t)
{
    return COLL_AT(COLL_SCRATCH, (plan->problem.p - 1 + t * list->region) * list->slot);
}

/* Where block i is, after the rounds of digit round->t and above; `high` are these digits. The
 * round is changed. */
COLL_HOT_INLINE coll_ref coll_i_bruck_place(const coll_plan *plan, const coll_i_bruck *list,
                                            coll_i_bruck_round *round, uint32_t i,
                                            uint32_t high)
{
    const uint32_t k = plan->param[0];
    uint32_t row, digit;
    if (high == 0) /* it has not been sent yet */
        return COLL_AT(COLL_SCRATCH, (i - (size_t)1) * list->slot);
    for (;;) { /* the lowest digit that is not 0 was the last one that moved it */
        row = coll_divide(high, &plan->radix);
        digit = high - row * k;
        if (digit != 0)
            break;
        high = row;
        coll_i_bruck_above(round, plan, round);
    }
    return coll_i_bruck_region(plan, list, round->t) +
           (coll_i_bruck_below(plan, round, digit) + (size_t)row * round->stride + i -
            (size_t)high * round->stride) *
               list->slot;
}

/* An entry of the middle part: number `at` of the entries of message e of a round. */
typedef struct coll_i_bruck_entry {
    coll_i_bruck_round round;
    uint32_t e, runs, at; /* its runs come first, then the send and the receive */
} coll_i_bruck_entry;

/* The first round needs no packing. */
COLL_HOT_INLINE uint32_t coll_i_bruck_runs(const coll_i_bruck_round *round, uint32_t e)
{
    return round->rows == 0 ? 0 : round->rows + (e <= round->last ? 1 : 0);
}

/* Entries of a round before those of message e. */
COLL_HOT_INLINE size_t coll_i_bruck_first(const coll_i_bruck_round *round, uint32_t e)
{
    const size_t more = e - 1 < round->last ? e - 1 : round->last;
    return (e - (size_t)1) * (2 + (size_t)round->rows) + (round->rows == 0 ? 0 : more);
}

COLL_HOT_INLINE void coll_i_bruck_find(coll_i_bruck_entry *entry, const coll_plan *plan,
                                       const coll_i_bruck *list, size_t n)
{
    const uint32_t k = plan->param[0];
    coll_i_bruck_round *round = &entry->round;
    uint32_t beyond;
    coll_i_bruck_round_of(round, plan, 0, 1, plan->problem.p);
    while (round->rows > 0) { /* from the last round backwards, as most entries are there */
        const size_t before = 2 * ((size_t)list->top - 1) +
                              (list->rounds - 2 - round->t) * 2 * ((size_t)k - 1) +
                              (round->rows + (size_t)1 - list->top);
        if (n >= before) {
            n -= before;
            break;
        }
        coll_i_bruck_above(round, plan, round);
    }
    entry->e = 1;
    beyond = (round->rows > 0 ? k - 1 : round->last) + 1;
    while (beyond - entry->e > 1) {
        const uint32_t middle = entry->e + (beyond - entry->e) / 2;
        if (coll_i_bruck_first(round, middle) <= n)
            entry->e = middle;
        else
            beyond = middle;
    }
    entry->runs = coll_i_bruck_runs(round, entry->e);
    entry->at = (uint32_t)(n - coll_i_bruck_first(round, entry->e));
}

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
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_bruck_alltoall_params),
    coll_i_bruck_alltoall_steps, coll_i_bruck_alltoall_step, coll_i_bruck_alltoall_scratch,
    coll_i_bruck_alltoall_check);

#endif /* COLL_ALGOS_BRUCK_ALLTOALL_H */
