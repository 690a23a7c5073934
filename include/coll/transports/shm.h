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
 * sender copies one in while the receiver copies another out, or, where two ranks both send and
 * receive, and in a few other cases, by process_vm_readv straight from the memory of the sender. That
 * memory is moved to huge pages if it is used again and again (huge.h). With coll_shm_ask_slots all go
 * in pieces, with coll_shm_ask_direct none; with coll_shm_ask_zero_copy the receiver reads
 * messages of more than 2048 bytes where they lie, as that memory is the segment's. Reductions
 * read messages, and the pieces of longer ones, where they lie.
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

#include "node/callbacks.h"
#include "shm/launched.h"
#include "shm/space.h"

/* Collectives whose long messages the kernel copies, if it may: where two ranks both send and receive,
 * as then neither waits while the other one copies; and where more ranks share processors, if memory
 * can have huge pages. (Measurements: docs/internals/shared-memory.md.) */
enum {
    COLL_I_IPC_BOTH_WAYS = COLL_EXCHANGING | COLL_NEIGHBORLY | COLL_BIT(COLL_REDUCE_SCATTER) |
                           COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_I_IPC_ROOMY = COLL_I_IPC_BOTH_WAYS | COLL_BIT(COLL_ALLGATHER) |
                       COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_ALLREDUCE),
    COLL_I_IPC_CROWDED = COLL_I_IPC_BOTH_WAYS | COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV)
};

/* Messages of any length are acquired, or those that a slot holds. */
COLL_CONST(coll_zero_copy, coll_i_ipc_acquires_any, COLL_I_NODE_ZERO_COPY(0));
COLL_CONST(coll_zero_copy, coll_i_ipc_acquires, COLL_I_NODE_ZERO_COPY(COLL_SHM_SLOT));
COLL_CONST(coll_in_network, coll_i_ipc_network, COLL_I_NODE_NETWORK(COLL_NODE_REDUCE));

#define COLL_I_IPC_TRANSPORT(max_bytes, unsegmented, zero_copy)                                \
    COLL_I_NODE_TRANSPORT(max_bytes, unsegmented, zero_copy, &coll_i_ipc_network)

COLL_CONST(coll_transport, coll_i_ipc_zero_copy, COLL_I_IPC_TRANSPORT(0, 0, &coll_i_ipc_acquires_any));
COLL_CONST(coll_transport, coll_i_ipc_direct, COLL_I_IPC_TRANSPORT(0, 0, &coll_i_ipc_acquires));
COLL_CONST(coll_transport, coll_i_ipc_staged, COLL_I_IPC_TRANSPORT(COLL_SHM_SLOT, 0, &coll_i_ipc_acquires));
COLL_CONST(coll_transport, coll_i_ipc_dedicated, COLL_I_IPC_TRANSPORT(COLL_SHM_SLOT, COLL_I_IPC_ROOMY, &coll_i_ipc_acquires));
COLL_CONST(coll_transport, coll_i_ipc_oversubscribed, COLL_I_IPC_TRANSPORT(COLL_SHM_SLOT, COLL_I_IPC_CROWDED, &coll_i_ipc_acquires));

/* For coll_node_rules: are long messages read where they lie, in the segment, or by the kernel where
 * two ranks both send and receive? When they have joined, all hear the same. */
COLL_INLINE bool coll_shm_is_zero_copy(const coll_shm *shm)
{
    return shm->ways != 0;
}

/* The vtable of a rank that has joined; its ctx is the coll_shm. */
COLL_INLINE const coll_transport *coll_shm_transport(const coll_shm *shm)
{
    if (shm->ways & COLL_I_IPC_IN_PLACE)
        return &coll_i_ipc_zero_copy;
    if (shm->ways & COLL_I_IPC_DIRECT)
        return &coll_i_ipc_direct;
    if (!(shm->ways & COLL_I_IPC_WHOLE))
        return &coll_i_ipc_staged;
    if (!shm->node.oversubscribed)
        return &coll_i_ipc_dedicated;
    return shm->ways & COLL_I_IPC_FROM_HUGE ? &coll_i_ipc_oversubscribed : &coll_i_ipc_staged;
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
