/* coll/transports/shm.h — one rank a process, all of them on one machine (hosted)
 *
 *   int fd = coll_shm_create("/word", p, shared_bytes, why);  // one of them, or who starts them
 *   int fd = coll_shm_open("/word", milliseconds, why);       // the others; or they inherit fd
 *   coll_shm *shm = coll_shm_attach(fd, rank, p, shared_bytes, why);
 *   if (!shm || !coll_shm_join(shm, milliseconds, why)) …     // `why` is a sentence
 *   coll_shm_unlink("/word");                                 // by one of them: nothing is left behind
 *   coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, p, memory, bytes);
 *   …
 *   coll_shm_detach(shm);
 *
 * `coll launch -n P PROGRAM` starts such processes; there
 *   coll_shm *shm = coll_shm_launched(milliseconds, why);
 * does all that, and coll_shm_rank and coll_shm_size tell who this is.
 *
 * A program that can choose where its buffers lie is up to three times as fast with long ones:
 *   coll_shm *shm = coll_shm_attach_launched(why);    // or coll_shm_attach, as above
 *   coll_shm_ask_zero_copy(shm);                       // all ranks, before they join
 *   if (!coll_shm_join(shm, milliseconds, why)) …
 *   double *vector = coll_shm_alloc(shm, bytes);      // buffers, and the communicator's memory
 *   coll_shm_free(shm, vector);                       // when no call uses it any more
 *
 * Messages travel as node/messages.h says: up to 112 bytes in a cell of two cache lines; up to
 * COLL_SHM_SLOT through a slot of the segment; longer ones in pieces through the slots, so that the
 * sender copies one in while the receiver copies another out, or by process_vm_readv straight from the
 * memory of the sender, where that is faster on this machine at this length, one way or both
 * (node/costs.h). Who makes a segment finds out what the machine's copies take, out of a file in the
 * user's cache directory, or by measuring it once (node/find_costs.h, COLL_MACHINE). That
 * memory is moved to huge pages if it is used again and again (huge.h). With coll_shm_ask_slots all go
 * in pieces, with coll_shm_ask_direct none; with coll_shm_ask_zero_copy the receiver reads
 * messages of more than 2048 bytes where they lie, as that memory is the segment's. Reductions
 * read messages, and the pieces of longer ones, where they lie; what lies in memory of its sender they
 * read in parts that stay in the nearest caches, and combine each at once.
 *
 * A rank whose process ends, however it does, is noticed by those that wait for something: their
 * calls end with COLL_ERR_PEER, and so do all later ones; make another segment. It takes a few
 * milliseconds, and some more for each 16 ranks. coll_shm_lost tells who it was. After coll_shm_detach
 * that is so only if somebody waits for what the rank should have done, and may take a tenth of a second.
 *
 * Waiting spins for some 0.15 ms, or, if there are less cores for them than ranks, as long as no
 * rank of the same core can go on (node/waiting.h), then yields the processor, and after some
 * milliseconds sleeps for one at a time. Where more than two ranks share a core, one may say to the
 * system that its next turn counts less than usual (sched_setattr; node/turns.h, COLL_NODE_ORDER).
 * A rank on a core that has two more of them than another core moves there (sched_setaffinity, for an
 * instant, within the cores that its thread may use; node/spread.h, COLL_NODE_SPREAD).
 * One thread at a time may use a rank. A process that forks keeps its rank alive until the child is
 * gone, or executes a program.
 *
 * Memory: what coll_shm_alloc takes; 8 KiB when a rank first talks to another, 16 KiB when it first
 * sends more than 112 bytes, and 8·COLL_SHM_SLOT when it first sends more than 2048; as much again
 * for messages to all others, and 2 KiB for an operand of a reduction (node/reduction.h). 32 KiB
 * of its own when it first receives 16 KiB or more (node/copies.h), and 12 KiB when it first
 * sends a message that the kernel copies (huge.h). Of addresses COLL_SHM_SPACE a rank. Needs
 * 64-bit Linux, /proc, and the __atomic functions of gcc or clang.
 *
 * Measurements: docs/internals/shared-memory.md.
 */
#ifndef COLL_TRANSPORTS_SHM_H
#define COLL_TRANSPORTS_SHM_H

#include "shm/launched.h"
#include "shm/space.h"

/* For coll_node_rules: are long messages of two ranks that exchange read where they lie, in the segment, or
 * by the kernel? When they have joined, all hear the same. */
COLL_INLINE bool coll_shm_is_zero_copy(const coll_shm *shm)
{
    enum { LONG = 512 << 10 }; /* from which on those rules differ */
    const size_t *const from = shm->transport.whole_from;
    return (shm->ways & (COLL_I_IPC_IN_PLACE | COLL_I_IPC_DIRECT)) != 0 ||
           (from && from[COLL_ALLREDUCE] <= LONG);
}

/* Which rank this is. */
COLL_INLINE uint32_t coll_shm_rank(const coll_shm *shm)
{
    return shm->node.rank;
}

/* How many ranks there are. */
COLL_INLINE uint32_t coll_shm_size(const coll_shm *shm)
{
    return shm->node.p;
}

/* For coll_node_rules (select/intra_node.h): are there more ranks than processors that any of
 * them could run on when it attached? When they have joined, all hear the same. */
COLL_INLINE bool coll_shm_is_oversubscribed(const coll_shm *shm)
{
    return shm->node.oversubscribed;
}

/* The SHARED memory of all ranks, of the size that they asked for, zeroed: for programs that run
 * requests of their own. The calls of comm.h use all of it but for what was kept, in turn
 * (node/shared.h). */
COLL_INLINE void *coll_shm_shared(const coll_shm *shm)
{
    return shm->shared;
}

/* Leaves the first bytes of it to the program, of all ranks alike, before any call. */
COLL_INLINE void coll_shm_keep(coll_shm *shm, size_t bytes)
{
    const size_t most = shm->shared_bytes, whole = coll_i_ipc_up(bytes, COLL_NODE_LINE),
                 kept = bytes < most && whole < most ? whole : most;
    coll_i_node_share(&shm->node, shm->node.turns, shm->shared + kept, most - kept);
}

#endif /* COLL_TRANSPORTS_SHM_H */
