/* coll/algos/double_ring.h — barrier: a token goes twice round the ring
 *
 * Rank 0 sends a token to rank 1, that to rank 2, and so on. When it is back at rank 0 all ranks have
 * come, and a second time round tells them so. Every rank has two messages to send and two to receive,
 * to one neighbour and from the other: the fewest connections of all barriers, and the longest way.
 *
 *   p = 4:   0 → 1 → 2 → 3 → 0 → 1 → 2 → 3
 *
 * Laws (tests/algos/double_ring.c)
 *   (1) hop h of 2p−1 goes from rank h mod p to the next one; these are all messages
 *   (2) what a rank sends on names the token that it received in the hop before
 * Cost    2p−1 messages of 0 bytes, one after the other
 * Source  Open MPI, coll/base/coll_base_barrier.c, doublering: there the token comes to rank 0 once
 *         more in the end, a message more
 */
#ifndef COLL_ALGOS_DOUBLE_RING_H
#define COLL_ALGOS_DOUBLE_RING_H

#include "../plan.h"

/* A step for each time round; rank 0 sends before it receives. */
COLL_INLINE size_t coll_i_double_ring_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 1 ? 0 : 2;
}

/* Token 0 is the own arrival, token 1 + s the one that time s awaits. */
COLL_INLINE unsigned coll_i_double_ring_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    const uint32_t p = plan->problem.p, next = rank + 1 == p ? 0 : rank + 1;
    const coll_ref token = COLL_AT(COLL_SCRATCH, 0);
    unsigned n = 0;
    if (rank > 0)
        coll_act_await(&out[n++], rank - 1, token + 1 + s, 1);
    if (s == 0 || next > 0)
        coll_act_notify(&out[n++], next, token, rank > 0 ? s + 2 : s + 1);
    if (rank == 0 && s == 0)
        coll_act_await(&out[n++], p - 1, token + 1, 1);
    return n;
}

COLL_ALGORITHM(coll_double_ring_barrier, "double_ring", "Open MPI, coll/base",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_double_ring_steps, coll_i_double_ring_step);

#endif /* COLL_ALGOS_DOUBLE_RING_H */
