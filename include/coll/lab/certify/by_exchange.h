/* coll/lab/certify/by_exchange.h — the argument of exchanges: p−1 steps, one like the other
 *
 * All ranks are in the same step, and in each a rank sends one message and receives one. A program has
 * p−1 steps, so no checker can follow one for each p up to a million. It is proven by induction over the
 * steps instead: of what a rank holds before a step there is a claim, in a piece or two, and each step
 * alone must lead from the claim before it to the claim after it.
 *
 *   ring allgather, p = 6, rank 1, before step 3:  OUT  0 1 · · 4 5    blocks r−3 … r, modulo p
 *   step 3 sends block 4, receives block 3         OUT  0 1 · 3 4 5    that is the claim for step 4
 *
 * ring            allgather, alltoall: blocks r−s … r; reduce_scatter: the sum of s + 1 ranks that was
 *                 received last; allreduce: the one, then the other
 * pairwise        alltoall as of ring; reduce_scatter: the sums of the ranks from r and from 0 on
 * linear          allgather, where each block comes from its own rank: blocks r−s … r
 * neighbor_exchange   pairs of blocks, of which the last may be one block; what rank p−1 does for two
 *                 places is a step for two rounds
 */
#ifndef COLL_LAB_CERTIFY_BY_EXCHANGE_H
#define COLL_LAB_CERTIFY_BY_EXCHANGE_H

#include "../../algos/neighbor_exchange.h"
#include "local_proof.h"

COLL_INLINE bool coll_i_exchanges_by(const coll_i_theorem *of, const char *algorithm)
{
    return strcmp(of->plan->algorithm->name, algorithm) == 0;
}

/* Are there pairs of blocks? */
COLL_INLINE bool coll_i_exchanges_pairs(const coll_i_theorem *of)
{
    return coll_i_exchanges_by(of, "neighbor_exchange");
}

/* … and has the rank two places? */
COLL_INLINE bool coll_i_exchanges_twice(const coll_i_theorem *of, uint32_t rank)
{
    return coll_i_exchanges_pairs(of) && coll_i_exchange_twice(of->in.p, rank);
}

/* The round of a rank's step; its step 0 is a copy where it has two places. */
COLL_INLINE uint64_t coll_i_exchanges_round(const coll_i_theorem *of, uint32_t rank, size_t s)
{
    return coll_i_exchanges_twice(of, rank) && s > 0 ? 2 * (uint64_t)s - 1 : s;
}

/* The sum of `ranks` ranks, or block, that is element `element` of rank `first` on. */
COLL_INLINE coll_contributions coll_i_exchanges_sum(const coll_i_theorem *of, uint32_t element,
                                                    uint32_t first, uint32_t ranks)
{
    coll_contributions sum = coll_i_given(of, first, 1);
    sum.element = element;
    sum.ranks = ranks;
    coll_i_contributions_tidy(&of->in, &sum);
    return sum;
}

COLL_INLINE bool coll_i_exchanges_message(const coll_i_theorem *of, uint32_t from, uint32_t to,
                                          size_t step, coll_i_claim *claimed)
{
    const coll_collective c = of->plan->problem.collective;
    const uint32_t p = of->in.p, s = (uint32_t)step;
    const bool ring = coll_i_exchanges_by(of, "ring");
    claimed->count = 1;
    if (c == COLL_ALLTOALL || (c == COLL_REDUCE_SCATTER_BLOCK && !ring)) {
        claimed->is = coll_i_exchanges_sum(of, to, from, 1);
    } else if (coll_i_exchanges_pairs(of)) {
        const uint32_t place = coll_i_exchanges_twice(of, from) && to == 0 ? p : from;
        const uint32_t round = (uint32_t)coll_i_exchanges_round(of, from, step);
        const uint32_t first =
            round == 0 ? from : coll_i_exchange_pair(p + (p & 1), place, round - 1);
        claimed->is = coll_i_given(of, first, 1);
        claimed->count = round > 0 && p - first > 1 ? 2 : 1;
        claimed->is.first_moves = claimed->count > 1;
    } else if (c == COLL_ALLGATHER) {
        claimed->is = coll_i_given(of, ring ? coll_mod_sub(from, s, p) : from, 1);
    } else if (step < p - 1) { /* the sum of the ranks that the block has passed */
        const uint32_t before = coll_mod_sub(from, s, p);
        claimed->is = coll_i_exchanges_sum(of, coll_mod_sub(before, 1, p), before, s + 1);
    } else {
        claimed->is = coll_i_exchanges_sum(of, coll_mod_sub(from, s - (p - 1), p), 0, p);
    }
    return true;
}

COLL_INLINE size_t coll_i_exchanges_there(const coll_i_theorem *of, uint32_t rank, size_t step,
                                          const coll_action *a)
{
    const uint64_t round = coll_i_exchanges_round(of, rank, step);
    return (size_t)(coll_i_exchanges_twice(of, a->peer) ? (round + 1) / 2 : round);
}

/* Four levels a round: two for what rank p−1 exchanges at its second place, with rank 0. */
COLL_INLINE uint64_t coll_i_exchanges_since(const coll_i_theorem *of, uint32_t rank,
                                            size_t step)
{
    return 4 * coll_i_exchanges_round(of, rank, step) + 1;
}

COLL_INLINE uint64_t coll_i_exchanges_when(const coll_i_theorem *of, uint32_t rank, size_t step,
                                           const coll_action *a)
{
    const bool second = (rank == 0 && coll_i_exchanges_twice(of, a->peer)) ||
                        (a->peer == 0 && coll_i_exchanges_twice(of, rank));
    return coll_i_exchanges_since(of, rank, step) + (second ? 2 : 0) +
           (coll_i_has(COLL_I_RECEIVES, a) ? 1 : 0);
}

/* ---- what a rank holds ------------------------------------------------------------------- */

COLL_INLINE void coll_i_exchanges_hold(coll_i_held *held, coll_ref at, size_t count,
                                       const coll_contributions *is)
{
    coll_i_piece *piece = &held->piece[held->n++];
    piece->at = at;
    piece->count = count;
    piece->is = *is;
}

/* `count` blocks of OUT from block `first` on, of `end` with those that do not exist, past the last to block 0.
 * Block 0 is *is; the others are the next elements of the inputs, or of the next ranks. */
COLL_INLINE void coll_i_exchanges_hold_blocks(const coll_i_theorem *of, coll_i_held *held,
                                              uint32_t first, uint32_t count, uint32_t end,
                                              const coll_contributions *is)
{
    const uint32_t before = end - first < count ? end - first : count; /* block 0 */
    const uint32_t exist = before < of->in.p - first ? before : of->in.p - first;
    const coll_contributions begun = coll_i_contributions_at(&of->in, is, first);
    coll_i_exchanges_hold(held, COLL_AT(COLL_OUT, first), exist, &begun);
    if (count > before)
        coll_i_exchanges_hold(held, COLL_AT(COLL_OUT, 0), count - before, is);
}

/* The sums of a pairwise reduce_scatter: of ranks r, r+1 … and of ranks 0, 1 …; one operand is still in IN. */
COLL_INLINE void coll_i_exchanges_hold_sums(const coll_i_theorem *of, uint32_t rank, uint32_t s,
                                            coll_i_held *held)
{
    const uint32_t after = of->in.p - 1 - rank;
    coll_contributions sum;
    if (after > 0) {
        sum = coll_i_exchanges_sum(of, rank, rank, (s < after ? s : after) + 1);
        coll_i_exchanges_hold(held, COLL_AT(COLL_OUT, 0), 1, &sum);
    }
    if (s > after) {
        sum = coll_i_exchanges_sum(of, rank, 0, s - after);
        coll_i_exchanges_hold(held, COLL_AT(COLL_SCRATCH, 2), 1, &sum);
    }
}

/* Pairs to both sides, in turn; of rank p−1, if it has two places, at once. */
COLL_INLINE void coll_i_exchanges_hold_pairs(const coll_i_theorem *of, uint32_t rank,
                                             uint32_t s, const coll_contributions *all,
                                             coll_i_held *held)
{
    const uint32_t ring = of->in.p + (of->in.p & 1), own = rank & ~(uint32_t)1;
    uint32_t left = s & ~(uint32_t)1, places = 2 * s; /* of an even place */
    if (coll_i_exchanges_twice(of, rank)) {
        left = 2 * (s - 1);
        places = 2 * left + 2;
    } else if (rank % 2 == 1) {
        left = places - 2 - left;
    }
    coll_i_exchanges_hold_blocks(of, held, coll_mod_sub(own, left, ring),
                                 places < ring ? places : ring, ring, all);
}

COLL_INLINE bool coll_i_exchanges_before(const coll_i_theorem *of, uint32_t rank, size_t step,
                                         coll_i_held *held)
{
    const coll_collective c = of->plan->problem.collective;
    const uint32_t p = of->in.p, s = (uint32_t)step;
    const bool ring = coll_i_exchanges_by(of, "ring");
    coll_contributions all;
    coll_ref at;
    if (coll_is(COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLTOALL), c)) {
        (void)coll_i_wanted(of, rank, &all);
        if (coll_i_exchanges_pairs(of))
            coll_i_exchanges_hold_pairs(of, rank, s, &all, held);
        else
            coll_i_exchanges_hold_blocks(of, held, coll_mod_sub(rank, s, p), s + 1, p, &all);
        return true;
    }
    if (!ring) {
        coll_i_exchanges_hold_sums(of, rank, s, held);
        return true;
    }
    if (s >= p) { /* the result of an allreduce */
        (void)coll_i_wanted(of, rank, &all);
        coll_i_exchanges_hold_blocks(of, held, coll_mod_sub(rank, s - (p - 1), p),
                                     s - (p - 1) + 1, p, &all);
        return true;
    }
    {
        const uint32_t block = coll_mod_sub(rank, s + 1 < p ? s + 1 : 0, p);
        at = c == COLL_ALLREDUCE ? COLL_AT(COLL_OUT, block)
                                 : COLL_AT(COLL_SCRATCH, (step - 1) & 1);
        all = coll_i_exchanges_sum(of, block, coll_mod_sub(rank, s, p), s + 1);
    }
    coll_i_exchanges_hold(held, at, 1, &all);
    return true;
}

/* The first, the last, a neighbour of them, and any rank. */
COLL_INLINE unsigned coll_i_exchanges_classes(const coll_i_theorem *of, uint32_t *rank)
{
    const uint32_t p = of->in.p;
    rank[0] = 0;
    rank[1] = p - 1;
    rank[2] = coll_i_drawn(p, 0, 2) ? 1 : p - 2;
    rank[3] = coll_i_drawn(p, 1, p);
    return 4;
}

COLL_CONST(coll_i_claims, coll_i_by_exchange, {
    coll_i_exchanges_message, coll_i_exchanges_there,
    coll_i_exchanges_when,    coll_i_exchanges_since,
    coll_i_exchanges_before,  coll_i_exchanges_classes, false});

#endif /* COLL_LAB_CERTIFY_BY_EXCHANGE_H */
