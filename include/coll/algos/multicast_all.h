/* coll/algos/multicast_all.h — allgather(v): everyone tells all others, in one multicast each
 *
 * Where one message reaches all ranks at the cost of one, or is written once and read by all as
 * among the ranks of a node, every rank multicasts its block. All ranks take the blocks in the same
 * order, and multicast their own when it is its turn: so the oldest that somebody still waits for
 * is never held up, though messages may be cut into pieces of which each must have reached all
 * before the next. What comes at once a window keeps in flight at once.
 *
 *   p = 4    step  0        1        2        3
 *            0 ══► 1,2,3    1 ══►    2 ══►    3 ══► 0,1,2
 *
 * Laws (tests/algos/multicast_all.c)
 *   (1) at step s rank s multicasts its block, and all others receive it
 *   (2) there are no other messages, and no more steps
 * Cost    p rounds, in each of which one rank multicasts its block; a window of p has all of them
 *         in flight at once. No scratch
 * Source  Moody 2003, §2.1 (multicast); Kumar 2004 (direct)
 */
#ifndef COLL_ALGOS_MULTICAST_ALL_H
#define COLL_ALGOS_MULTICAST_ALL_H

#include "../plan.h"

/* The copy of the own block rides on its multicast; alone, it is the only action. */
COLL_INLINE size_t coll_i_multicast_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 1 && coll_in_place(plan) ? 0 : plan->problem.p;
}

COLL_INLINE unsigned coll_i_multicast_allgather_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    const coll_block block = coll_out_block(plan, (uint32_t)s);
    const coll_ref place = COLL_AT(COLL_OUT, block.offset);
    unsigned n = 0;
    if (s != rank) {
        coll_act_recv(&out[n++], (uint32_t)s, place, block.count);
        return n;
    }
    if (plan->problem.p > 1)
        coll_act_multicast(&out[n++], coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0),
                           block.count);
    if (!coll_in_place(plan))
        coll_act_copy(&out[n++], place, COLL_AT(COLL_IN, 0), block.count);
    return n;
}

COLL_ALGORITHM(coll_multicast_allgather, "multicast", "Moody 2003, section 2.1",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_NEEDS_MULTICAST | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_multicast_allgather_steps, coll_i_multicast_allgather_step);

#endif /* COLL_ALGOS_MULTICAST_ALL_H */
