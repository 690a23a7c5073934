/* coll/transports/shm/vtable.h — the shared memory of processes: how long messages travel, by what the
 * machine's copies take
 *
 * A message of a rank's own memory goes through slots, cut into pieces if it is longer than one, or the
 * kernel copies it, whole: as node/costs.h computes for its length and direction. The direction is its
 * collective's, as both ends must find the same. Where ranks share processors, slots cost two copies of
 * the same processors whatever the direction, but one of the two may serve several readers, and a rank
 * need not wait for the one that reads: so the kernel copies what two ranks exchange, and scatters alone.
 *
 * Use shm.h.
 */
#ifndef COLL_TRANSPORTS_SHM_VTABLE_H
#define COLL_TRANSPORTS_SHM_VTABLE_H

#include "rank.h"

/* Collectives in which two ranks both send and receive; those that combine; of these, those whose
 * messages of private memory are read in parts (of others the sender waits, and it gains nothing); and
 * those whose long messages the kernel may copy where ranks share processors. */
enum {
    COLL_I_IPC_EXCHANGES = COLL_EXCHANGING | COLL_NEIGHBORLY | COLL_BIT(COLL_REDUCE_SCATTER) |
                           COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_I_IPC_BOTH_WAYS = COLL_I_IPC_EXCHANGES | COLL_BIT(COLL_ALLGATHER) |
                           COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_ALLREDUCE),
    COLL_I_IPC_COMBINED = COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE) |
                          COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK) |
                          COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN),
    COLL_I_IPC_READ = COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN),
    COLL_I_IPC_CROWDED = COLL_I_IPC_EXCHANGES | COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV)
};

/* Shorter messages are never read by the kernel: their senders would wait for their readers. */
enum { COLL_I_IPC_MEDIUM_LEAST = 8192 };

/* In which direction a collective's messages go. */
COLL_INLINE coll_node_direction coll_i_ipc_direction(coll_collective collective,
                                                     bool oversubscribed)
{
    const bool both = oversubscribed || coll_is(COLL_I_IPC_BOTH_WAYS, collective);
    const bool combined = coll_is(COLL_I_IPC_COMBINED, collective);
    return both ? (combined ? COLL_NODE_BOTH_COMBINED : COLL_NODE_BOTH_WAYS)
                : (combined ? COLL_NODE_ONE_COMBINED : COLL_NODE_ONE_WAY);
}

/* May the kernel copy a collective's long messages? */
COLL_INLINE bool coll_i_ipc_may_pull(coll_collective collective, bool oversubscribed)
{
    return !oversubscribed || coll_is(COLL_I_IPC_CROWDED, collective);
}

/* Bytes of the longest message that goes through a slot, and of a piece of a longer one: shorter ones than
 * a slot holds may be faster by the kernel even one way. */
COLL_INLINE uint32_t coll_i_ipc_medium(const coll_shm *shm, const coll_node_costs *costs)
{
    const size_t from = shm->node.pull && !shm->node.oversubscribed
                            ? coll_node_kernel_from(costs, COLL_NODE_ONE_WAY,
                                                    (shm->ways & COLL_I_IPC_FROM_HUGE) != 0)
                            : SIZE_MAX;
    const size_t least = COLL_I_IPC_MEDIUM_LEAST, most = COLL_SHM_SLOT;
    return (uint32_t)(from < least ? least : from < most ? from / 64 * 64 : most);
}

/* Settles how this rank talks, by the ways that all agree on and the machine's costs, so that all settle the
 * same. */
COLL_INLINE void coll_i_ipc_choose(coll_shm *shm)
{
    const coll_node_costs *costs = &shm->segment->costs;
    const bool huge = (shm->ways & COLL_I_IPC_FROM_HUGE) != 0;
    const bool in_place = (shm->ways & COLL_I_IPC_IN_PLACE) != 0;
    const uint32_t medium = coll_i_ipc_medium(shm, costs);
    shm->transport = coll_i_ipc_transport;
    shm->zero_copy = coll_i_ipc_acquires;
    shm->transport.zero_copy = &shm->zero_copy;
    shm->node.part = 0;
    if (shm->node.pull) { /* else all messages that are acquired have an address */
        shm->node.part = (uint32_t)coll_node_part_bytes(costs, huge);
        shm->node.read_from = COLL_NODE_READ;
        shm->zero_copy.read = coll_i_node_read;
        shm->zero_copy.part_bytes = shm->node.part;
        shm->zero_copy.max_bytes = in_place ? 0 : medium;
        shm->zero_copy.reads = shm->node.oversubscribed ? 0u : (uint32_t)COLL_I_IPC_READ;
    }
    coll_i_node_set_slots(&shm->node, medium, in_place ? (uint32_t)COLL_NODE_NARROW : medium);
    if (shm->ways & (COLL_I_IPC_IN_PLACE | COLL_I_IPC_DIRECT)) {
        shm->transport.max_bytes = 0;
        return;
    }
    shm->transport.max_bytes = medium;
    if (!shm->node.pull)
        return;
    for (uint32_t c = 0; c < COLL_COLLECTIVES; c++) {
        const bool may = coll_i_ipc_may_pull((coll_collective)c, shm->node.oversubscribed);
        shm->whole_from[c] =
            may ? coll_node_kernel_from(
                      costs, coll_i_ipc_direction((coll_collective)c, shm->node.oversubscribed),
                      huge)
                : SIZE_MAX;
    }
    shm->transport.whole_from = shm->whole_from;
}

/* The vtable of a rank that has joined; its ctx is the coll_shm, as long as which it lives. */
COLL_INLINE const coll_transport *coll_shm_transport(const coll_shm *shm)
{
    return &shm->transport;
}

#endif /* COLL_TRANSPORTS_SHM_VTABLE_H */
