/* coll/plan/peers.h — whom a rank exchanges messages with: a function of its plan
 *
 *   uint32_t peers[64];
 *   uint32_t n = coll_plan_peers(&plan, rank, peers, 64);
 *   if (n != COLL_RANK_NONE)
 *       coll_tcp_connect(tcp, peers, n);      // before the first call, all at once
 *
 * So a transport can connect exactly those ranks, instead of all with all, or each when it is first sent
 * to. What the network does for several ranks at once (multicast, reductions) is not counted.
 */
#ifndef COLL_PLAN_PEERS_H
#define COLL_PLAN_PEERS_H

#include "../plan.h"

/* Adds a peer to n ascending ones, in memory for `room`. False: it is new, and there is no room. */
COLL_INLINE bool coll_i_peers_add(uint32_t *peers, uint32_t *n, uint32_t room, uint32_t peer)
{
    uint32_t low = 0, high = *n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (peers[middle] < peer)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < *n && peers[low] == peer)
        return true;
    if (*n == room)
        return false;
    for (uint32_t i = (*n)++; i > low; i--)
        peers[i] = peers[i - 1];
    peers[low] = peer;
    return true;
}

/* Writes the ranks of the transport to which a rank sends, or from which it receives, ascending, and
 * returns how many. COLL_RANK_NONE: there are more than `room`; the first ones that it meets are written
 * then. Looks at all of the rank's actions. */
COLL_INLINE uint32_t coll_plan_peers(const coll_plan *plan, uint32_t rank, uint32_t *peers,
                                     uint32_t room)
{
    const size_t steps = coll_plan_steps(plan, rank);
    uint32_t n = 0;
    for (size_t s = 0; s < steps; s++) {
        coll_action actions[COLL_STEP_MAX];
        const unsigned count = coll_plan_step(plan, rank, s, actions);
        for (unsigned i = 0; i < count; i++)
            if (actions[i].count != 0 && coll_i_has_peer(&actions[i]) &&
                !coll_i_peers_add(peers, &n, room,
                                  coll_group_outer(&plan->group, actions[i].peer)))
                return COLL_RANK_NONE;
    }
    return n;
}

#endif /* COLL_PLAN_PEERS_H */
