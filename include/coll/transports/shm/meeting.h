/* coll/transports/shm/meeting.h — the shared memory of processes: ranks meet, and agree on how long messages
 * travel
 *
 * Use shm.h.
 */
#ifndef COLL_TRANSPORTS_SHM_MEETING_H
#define COLL_TRANSPORTS_SHM_MEETING_H

#include "vtable.h"

/* ---- meeting ----------------------------------------------------------------------------- */

/* Can this rank read the memory of all others? */
COLL_INLINE bool coll_i_ipc_reads_all(const coll_shm *shm)
{
    for (uint32_t r = 0; r < shm->node.p; r++) {
        const coll_i_ipc_member *its = &shm->members[r];
        uint64_t word = 0;
        if (coll_i_ipc_read(shm, r, &word, its->probe, sizeof word) != COLL_OK ||
            word != coll_i_ipc_word(r, its->pid))
            return false;
    }
    return true;
}

/* Waits until all ranks have come so far. */
COLL_INLINE bool coll_i_ipc_meet(coll_shm *shm, uint32_t state, uint64_t until, char *why)
{
    uint32_t rank = 0;
    for (uint32_t tries = 0; rank < shm->node.p; tries++) {
        if (coll_i_ipc_state(shm, rank) >= state) {
            rank++;
        } else if (coll_i_ipc_state(shm, rank) != COLL_I_IPC_AWAY &&
                   coll_i_ipc_died(shm, rank)) {
            coll_i_ipc_say(why, "rank %u ended before all ranks were attached", rank);
            return false;
        } else if (coll_i_ipc_milliseconds() >= until) {
            coll_i_ipc_say(why, "rank %u has not attached to the segment in time", rank);
            return false;
        } else if (tries < COLL_NODE_MISSES) {
            (void)sched_yield();
        } else {
            (void)poll(NULL, 0, 1);
        }
    }
    return true;
}

/* Has messages of more than COLL_SHM_SLOT bytes read straight from the memory of their senders, by
 * process_vm_readv, in all collectives, if all ranks ask for it before coll_shm_join, and the kernel
 * lets all of them. Without this that is so where it is the faster way (shm.h), and the kernel lets
 * all of them. */
COLL_INLINE void coll_shm_ask_direct(coll_shm *shm)
{
    shm->ways |= COLL_I_IPC_DIRECT;
}

/* No message is read by process_vm_readv, nor memory moved to huge pages, if any rank asks for this
 * before coll_shm_join. */
COLL_INLINE void coll_shm_ask_slots(coll_shm *shm)
{
    shm->ways &= ~(uint32_t)(COLL_I_IPC_DIRECT | COLL_I_IPC_WHOLE);
}

/* Has messages of more than 2048 bytes read where they lie, as threads do, by a promise that they
 * lie in memory from coll_shm_alloc: all buffers of calls, and the memory of communicators. If all
 * ranks ask for it before coll_shm_join. A message that lies elsewhere goes through a slot if it has
 * up to COLL_SHM_SLOT bytes; a longer one is read by process_vm_readv, or COLL_ERR_PLACE where that is
 * not allowed. If they ask for coll_shm_ask_direct, too, they promise nothing: where that is not
 * allowed all messages go in pieces. */
COLL_INLINE void coll_shm_ask_zero_copy(coll_shm *shm)
{
    shm->ways |= COLL_I_IPC_IN_PLACE;
}

/* Waits for all ranks to attach, at most so many milliseconds, and agrees with them on how long
 * messages travel. Collective: every rank calls it once, before any message. False: `why` says;
 * detach. */
COLL_INLINE bool coll_shm_join(coll_shm *shm, uint32_t milliseconds, char *why)
{
    const uint32_t pulls = COLL_I_IPC_DIRECT | COLL_I_IPC_WHOLE;
    const uint64_t until = coll_i_ipc_milliseconds() + milliseconds;
    if (!coll_i_ipc_meet(shm, COLL_I_IPC_ATTACHED, until, why))
        return false;
    coll_i_node_settle(&shm->node, shm->segment->processors, &shm->segment->costs);
    /* (in a child of the process that attached, the others would read that one's memory) */
    if ((shm->ways & pulls) &&
        (shm->members[shm->node.rank].pid != (int32_t)getpid() || !coll_i_ipc_reads_all(shm))) {
        if (shm->ways & COLL_I_IPC_DIRECT)
            shm->ways &= ~(uint32_t)COLL_I_IPC_IN_PLACE;
        coll_shm_ask_slots(shm);
    }
    if ((shm->ways & COLL_I_IPC_WHOLE) && coll_huge_is_possible())
        shm->ways |= COLL_I_IPC_FROM_HUGE;
    shm->members[shm->node.rank].ways = shm->ways;
    __atomic_store_n(&shm->members[shm->node.rank].state, COLL_I_IPC_JOINED, __ATOMIC_RELEASE);
    if (!coll_i_ipc_meet(shm, COLL_I_IPC_JOINED, until, why))
        return false;
    for (uint32_t r = 0; r < shm->node.p; r++)
        shm->ways &= shm->members[r].ways;
    if (shm->ways & pulls)
        shm->node.pull = coll_i_ipc_pull;
    if (shm->ways & COLL_I_IPC_FROM_HUGE)
        shm->node.offer = coll_i_ipc_offer;
    coll_i_ipc_choose(shm);
    return true;
}

/* A rank whose process has ended, or who left in the middle, which made calls end with
 * COLL_ERR_PEER; or COLL_RANK_NONE. */
COLL_INLINE uint32_t coll_shm_lost(const coll_shm *shm)
{
    return __atomic_load_n(&shm->segment->lost, __ATOMIC_RELAXED) - 1;
}

#endif /* COLL_TRANSPORTS_SHM_MEETING_H */
