/* coll/algos/neighbor_exchange.h — allgather(v) by exchanges with both neighbours in turn
 *
 * First the ranks of a pair (2j, 2j+1) exchange their blocks. From then on a rank exchanges two
 * blocks at a time, in odd rounds with its neighbour in the next pair, in even rounds with the
 * one in its own: it hands on the pair of blocks that it got last. So both directions of every
 * link are in use, and it takes half the rounds of a ring. That needs an even ring. With odd p,
 * rank p−1 plays two ranks of p+1, itself and one without a block: it skips the rounds within
 * its pair, and has two exchanges in each of the others. If ⌈p/2⌉ is even, both its places lack
 * the same pair in the end, and it comes but once.
 *
 *   p = 6, blocks that a rank gets    p = 5
 *       rank      0   1   2   3   4   5     rank      0   1   2   3   4
 *       round 0   1   0   3   2   5   4     round 0   1   0   3   2
 *       round 1  45  23  01  45  23  01     round 1   4  23  01   4  23 01
 *       round 2  23  45  45  01  01  23     round 2  23   4   4  01
 *
 * Laws (tests/algos/neighbor_exchange.c)
 *   (1) what r sends in a round is what its peer, a neighbour on the ring, receives in it
 *   (2) after the first round a rank sends its pair, then what it received in the round before
 *   (3) every block comes once
 * Cost    R = ⌈p/2⌉ rounds. Even p: R messages per rank, of p−1 blocks together. Odd p: R messages
 *         of p−1 or p blocks; rank p−1 2⌊R/2⌋ messages of 4⌊R/2⌋ − 2 blocks, and if R is even rank
 *         0 one message, of two blocks, less
 * Source  Chen, Zhang, Zhang, Yuan 2005 (even p), doi:10.1109/HPCASIA.2005.75
 */
#ifndef COLL_ALGOS_NEIGHBOR_EXCHANGE_H
#define COLL_ALGOS_NEIGHBOR_EXCHANGE_H

#include "../plan.h"

/* Places on the ring: the next even number. */
COLL_HOT_INLINE uint32_t coll_i_exchange_ring(uint32_t p)
{
    return p + (p & 1);
}

/* Does this rank play two places? */
COLL_HOT_INLINE bool coll_i_exchange_twice(uint32_t p, uint32_t rank)
{
    return (p & 1) != 0 && rank + 1 == p;
}

/* The first block of the pair that a place has after a round; a later one's is new to it. */
COLL_HOT_INLINE uint32_t coll_i_exchange_pair(uint32_t ring, uint32_t place, uint32_t round)
{
    const uint32_t own = place & ~(uint32_t)1, distance = round + (round & 1);
    return ((place ^ round) & 1) == 0 ? coll_mod_add(own, distance, ring)
                                      : coll_mod_sub(own, distance, ring);
}

/* The blocks of a pair, of which the last may be one alone. */
COLL_HOT_INLINE coll_block coll_i_exchange_blocks(const coll_plan *plan, uint32_t first)
{
    const coll_layout *layout = &plan->problem.out;
    const size_t count = plan->problem.count;
    const uint32_t p = plan->problem.p, end = p - first < 2 ? p : first + 2;
    coll_block run;
    run.offset = coll_i_layout_at(layout, count, p, first);
    run.count = coll_i_layout_at(layout, count, p, end) - run.offset;
    return run;
}

/* A place's exchange in a round from 1 on. */
COLL_HOT_INLINE unsigned coll_i_exchange_act(const coll_plan *plan, uint32_t place,
                                             uint32_t round, coll_action *out)
{
    const uint32_t p = plan->problem.p, ring = coll_i_exchange_ring(p);
    const uint32_t with = (round & 1) == 0   ? place ^ 1
                          : (place & 1) == 0 ? coll_mod_sub(place, 1, ring)
                                             : coll_mod_add(place, 1, ring);
    const uint32_t peer = with < p ? with : p - 1;
    const coll_block give =
        coll_i_exchange_blocks(plan, coll_i_exchange_pair(ring, place, round - 1));
    const coll_block take =
        coll_i_exchange_blocks(plan, coll_i_exchange_pair(ring, place, round));
    const bool opposite = round + 1 == ring / 2; /* as far as possible from place p */
    unsigned n = 0;
    if (with < p || !opposite)
        coll_act_send(&out[n++], peer, COLL_AT(COLL_OUT, give.offset), give.count);
    if (place < p || !opposite)
        coll_act_recv(&out[n++], peer, COLL_AT(COLL_OUT, take.offset), take.count);
    return n;
}

COLL_INLINE size_t coll_i_exchange_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p, rounds = coll_i_exchange_ring(p) / 2;
    if (coll_i_exchange_twice(p, rank))
        return rounds / 2 + (coll_in_place(plan) ? (size_t)0 : 1);
    return rounds;
}

COLL_INLINE unsigned coll_i_exchange_step(const coll_plan *plan, uint32_t rank, size_t s,
                                          coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_block own = coll_out_block(plan, rank);
    const coll_ref place = COLL_AT(COLL_OUT, own.offset);
    const coll_ref input = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    unsigned n = 0;
    if (coll_i_exchange_twice(p, rank)) {
        const bool copies = !coll_in_place(plan);
        const uint32_t round = 2 * (uint32_t)(s - (copies ? 1 : 0)) + 1;
        if (copies && s == 0) {
            coll_act_copy(out, place, input, own.count);
            return 1;
        }
        n = coll_i_exchange_act(plan, rank, round, out);
        return n + coll_i_exchange_act(plan, p, round, &out[n]);
    }
    if (s > 0)
        return coll_i_exchange_act(plan, rank, (uint32_t)s, out);
    {
        const coll_block theirs = coll_out_block(plan, rank ^ 1);
        coll_act_send(&out[n++], rank ^ 1, input, own.count);
        coll_act_recv(&out[n++], rank ^ 1, COLL_AT(COLL_OUT, theirs.offset), theirs.count);
    }
    if (!coll_in_place(plan))
        coll_act_copy(&out[n++], place, input, own.count);
    return n;
}

COLL_ALGORITHM(coll_neighbor_exchange_allgather, "neighbor_exchange",
    "Chen, Zhang, Zhang, Yuan 2005",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_exchange_steps, coll_i_exchange_step);

#endif /* COLL_ALGOS_NEIGHBOR_EXCHANGE_H */
