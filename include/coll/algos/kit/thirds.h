/* coll/algos/kit/thirds.h — intervals of blocks about a rank, and their thirds, on a ring of any p ranks
 *
 * The turns of a reduce_scatter that keeps the middle third each round, of ⌈p/3^k⌉ blocks before round
 * k; an allgather has the same backwards. Where an interval is not three equal thirds, the lower one
 * is shorter; of four blocks or two there is none, and the round has one turn.
 *
 *   p = 7:   round 0     r−2 | r−1 … r+1 | r+2 … r+4      lower, kept, upper
 *            round 1           r−1 | r | r+1
 *
 * Laws (tests/algos/trivance_blocks.c): (1) to (3) of trivance_blocks.h
 */
#ifndef COLL_ALGOS_KIT_THIRDS_H
#define COLL_ALGOS_KIT_THIRDS_H

#include "../../plan.h"

/* A turn of a round of a reduce_scatter. The rank r keeps `keep` blocks from r − lower on; before,
 * it has `keep` more above these and `below` more below. */
typedef struct coll_i_thirds {
    uint32_t round, keep, below, lower;
    bool down; /* the second turn: the lower third leaves. The first: the upper one */
} coll_i_thirds;

/* ⌈n/3⌉; the plan's radix is 3. */
COLL_HOT_INLINE uint32_t coll_i_third(const coll_plan *plan, uint32_t n)
{
    return coll_divide(n - 1, &plan->radix) + 1;
}

/* Turns of all rounds. */
COLL_HOT_INLINE uint32_t coll_i_thirds_turns(const coll_plan *plan)
{
    uint32_t turns = 0;
    for (uint32_t n = plan->problem.p, keep; n > 1; n = keep) {
        keep = coll_i_third(plan, n);
        turns += n > 2 * keep ? 2 : 1;
    }
    return turns;
}

/* Turn number `turn` of a reduce_scatter. O(log p) */
COLL_HOT_INLINE void coll_i_thirds_at(const coll_plan *plan, uint32_t turn, coll_i_thirds *at)
{
    uint32_t n = plan->problem.p;
    at->round = 0;
    for (;; at->round++) {
        uint32_t turns;
        at->keep = coll_i_third(plan, n);
        at->below = n - 2 * at->keep;
        turns = at->below > 0 ? 2 : 1;
        if (turn < turns)
            break;
        turn -= turns;
        n = at->keep;
    }
    at->down = turn > 0;
    at->lower = at->keep - 1; /* less what will go up */
    for (n = at->keep; n > 1;) {
        n = coll_i_third(plan, n);
        at->lower -= n;
    }
}

/* The rank that a turn of a reduce_scatter sends to, and the one that it receives from; and the
 * runs of blocks, by their first and how many: both the rank's own numbers. */
typedef struct coll_i_thirds_move {
    uint32_t to, from, give, take, blocks;
} coll_i_thirds_move;

COLL_HOT_INLINE void coll_i_thirds_move_of(const coll_plan *plan, uint32_t rank,
                                           const coll_i_thirds *at, coll_i_thirds_move *move)
{
    const uint32_t p = plan->problem.p, kept = coll_mod_sub(rank, at->lower, p);
    const uint32_t up = coll_mod_add(rank, at->keep, p), down = coll_mod_sub(rank, at->keep, p);
    move->to = at->down ? down : up;
    move->from = at->down ? up : down;
    move->blocks = at->down ? at->below : at->keep;
    move->give = at->down ? coll_mod_sub(kept, at->below, p) : coll_mod_add(kept, at->keep, p);
    move->take = at->down ? coll_mod_add(kept, at->keep - at->below, p) : kept;
}

#endif /* COLL_ALGOS_KIT_THIRDS_H */
