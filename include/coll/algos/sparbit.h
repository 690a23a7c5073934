/* coll/algos/sparbit.h — allgather(v) over all ranks' binomial trees at once, far ranks first
 *
 * Each block spreads along a binomial tree of its own, and all trees have the same shape,
 * rotated. In the round of distance d = 2^j, from the largest d < p down to 1, a rank sends to
 * the rank d to its right the blocks that it has: those of the ranks 0, 2d, 4d … to its left.
 * Where far ranks are behind slower links, these see the few blocks of the first rounds, and the
 * many of the last ones go to close ranks: the contrary of bruck.h. Blocks are apart from each
 * other, so each is a message of its own, straight to its place.
 *
 *   p = 6     rank r has            and sends to
 *       d = 4     r                     r+4   r
 *       d = 2     r, r−4                r+2   r        (r+2 has block r−4 = r+2 already: its own)
 *       d = 1     r, r−2, r−4           r+1   all three
 *
 * Laws (tests/algos/sparbit.c)
 *   (1) what r sends at step s is what its peer receives at step s
 *   (2) before the round of distance d a rank has the blocks r − 2dm, 2dm < p, and sends those with
 *       (2m+1)d < p
 *   (3) every block comes once
 * Cost    ⌈log2 p⌉ distances; p−1 messages of a block per rank, in p−1 rounds if they go one by one
 * Source  Loch, Koslovski 2021, arXiv:2109.08751
 */
#ifndef COLL_ALGOS_SPARBIT_H
#define COLL_ALGOS_SPARBIT_H

#include "../plan.h"

/* The exchange of a step: the block from the rank `give` to the left of this one goes to the rank
 * `distance` to its right, and that from the rank give + distance to the left comes. */
typedef struct coll_i_sparbit {
    uint32_t distance, give;
} coll_i_sparbit;

/* A rank has ⌈p/2d⌉ blocks before the round of distance d, and ⌈p/d⌉ after it. */
COLL_HOT_INLINE coll_i_sparbit coll_i_sparbit_of(uint32_t p, uint32_t s)
{
    const uint32_t has = s + 1; /* blocks, before the step */
    uint32_t j = COLL_HIGHEST_BIT(p - 1) - COLL_HIGHEST_BIT(has);
    coll_i_sparbit at;
    if ((p - 1) >> j < has) /* ⌈p/2^j⌉ ≤ has: that round is over */
        j--;
    at.distance = (uint32_t)1 << j;
    at.give = (has - 1 - ((p - 1) >> j >> 1)) << j << 1;
    return at;
}

/* p−1 exchanges; the copy of the own block rides on the first (alone, it is the only step). */
COLL_INLINE size_t coll_i_sparbit_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p - (size_t)1 + (plan->problem.p == 1 && !coll_in_place(plan) ? 1 : 0);
}

COLL_INLINE unsigned coll_i_sparbit_step(const coll_plan *plan, uint32_t rank, size_t s,
                                         coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_block own = coll_out_block(plan, rank);
    unsigned n = 0;
    if (p > 1) {
        const coll_i_sparbit at = coll_i_sparbit_of(p, (uint32_t)s);
        const coll_block give = coll_out_block(plan, coll_mod_sub(rank, at.give, p));
        const coll_block take =
            coll_out_block(plan, coll_mod_sub(rank, at.give + at.distance, p));
        coll_act_send(&out[n++], coll_mod_add(rank, at.distance, p),
                      at.give == 0 && !coll_in_place(plan) ? COLL_AT(COLL_IN, 0)
                                                           : COLL_AT(COLL_OUT, give.offset),
                      give.count);
        coll_act_recv(&out[n++], coll_mod_sub(rank, at.distance, p),
                      COLL_AT(COLL_OUT, take.offset), take.count);
    }
    if (s == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, own.offset), COLL_AT(COLL_IN, 0), own.count);
    return n;
}

COLL_ALGORITHM(coll_sparbit_allgather, "sparbit", "Loch, Koslovski 2021",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_sparbit_steps, coll_i_sparbit_step);

#endif /* COLL_ALGOS_SPARBIT_H */
