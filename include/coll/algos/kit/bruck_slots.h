/* coll/algos/kit/bruck_slots.h — which blocks a message of Bruck's alltoall has, and where they lie
 *
 * In the round of digit t all blocks whose digit is e travel e·k^t to the right. They are runs of
 * consecutive numbers, and stay where they arrived until they are sent on: slots of OUT and
 * SCRATCH.
 *
 *   p = 6, k = 2: numbers of the blocks in the message, and in the runs it is made of
 *       digit 2, to r+4     4 5
 *       digit 1, to r+2     2 3
 *       digit 0, to r+1     1, 3, 5      3 arrived in the round of digit 1, 5 in that of digit 2
 *
 * Laws (tests/algos/bruck_alltoall.c): (1) to (3) of bruck_alltoall.h
 * Source  Bruck, Ho, Kipnis, Upfal, Weathersby 1997, doi:10.1109/71.642949
 */
#ifndef COLL_ALGOS_KIT_BRUCK_SLOTS_H
#define COLL_ALGOS_KIT_BRUCK_SLOTS_H

#include "../../plan.h"

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

#endif /* COLL_ALGOS_KIT_BRUCK_SLOTS_H */
