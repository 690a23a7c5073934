/* coll/transports/threads.h — one rank a thread, messages through shared memory (hosted)
 *
 *   coll_threads *world = coll_threads_create(p);
 *   in the thread of rank r:
 *       run.transport = &coll_threads_transport;
 *       run.ctx = coll_threads_rank(world, r);
 *       coll_engine_start(&request, &run); coll_engine_wait(&request);
 *   coll_threads_destroy(world);             // when all threads are done with it
 *
 * Messages travel as node/messages.h says: one that fits neither into a cell nor into a slot, of
 * COLL_THREADS_SLOT bytes, stays in the sender's buffer, from where the receiver copies it, or
 * reduces straight out of it (acquire). A full channel is COLL_AGAIN. A reader that looks for one
 * tag sets messages of other tags aside, so that collectives which run at the same time never
 * block each other. A multicast is a send to each other rank, all out of one buffer; it starts
 * when every channel has room. A reduction of a group is done by its last rank (node/reduction.h).
 *
 * coll_threads_share gives the world SHARED memory, for the calls of comm.h (node/shared.h).
 *
 * Waiting spins for some 0.15 ms, or, if there are less cores than ranks, as long as no rank of the
 * same core can go on (node/waiting.h), then yields the processor, so that other programs
 * beside them work well; after some milliseconds it sleeps for one at a time. Where more than two
 * ranks share a core, a thread that uses one may say to the system that its next turn counts less
 * than usual (sched_setattr; node/turns.h, COLL_NODE_ORDER), and one on a core that has two more of
 * them than another moves there (sched_setaffinity, for an instant, within the cores that the thread
 * may use; node/spread.h, COLL_NODE_SPREAD). One thread at a time may use a rank.
 *
 * Memory: 16 bytes per pair of ranks; about 128·COLL_NODE_CELLS bytes more when a pair first
 * talks, COLL_NODE_SLOTS·COLL_THREADS_SLOT when it first says more than a cell holds, and
 * COLL_NODE_SLOTS·COLL_NODE_STREAM when longer messages stream (node/messages.h); 128
 * bytes for an operation in flight, 128 for a message set aside, 2 KiB for an operand of a group, all used
 * again and freed by destroy. Needs the __atomic functions of gcc or clang, malloc and sched_yield.
 */
#ifndef COLL_TRANSPORTS_THREADS_H
#define COLL_TRANSPORTS_THREADS_H

#include "node/callbacks.h"
#include "threads/ranks.h"

/* The vtable; ctx is what coll_threads_rank returns. */
COLL_CONST(coll_zero_copy, coll_i_threads_zero_copy, COLL_I_NODE_ZERO_COPY(0));
COLL_CONST(coll_in_network, coll_i_threads_network, COLL_I_NODE_NETWORK(0));
/* The transport; its ctx is coll_threads_rank(threads, rank). */
COLL_CONST(coll_transport, coll_threads_transport,
           COLL_I_NODE_TRANSPORT(0, 0, &coll_i_threads_zero_copy, &coll_i_threads_network));

#endif /* COLL_TRANSPORTS_THREADS_H */
