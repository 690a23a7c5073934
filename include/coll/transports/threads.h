/* coll/transports/threads.h — one rank a thread, messages through shared memory (hosted)
 *
 *   coll_threads *world = coll_threads_create(p);
 *   in the thread of rank r:
 *       run.transport = &coll_threads_transport;
 *       run.ctx = coll_threads_rank(world, r);
 *       coll_request_start(&request, &run); coll_request_wait(&request);
 *   coll_threads_destroy(world);             // when all threads are done with it
 *
 * Each ordered pair of ranks that talks has a ring of cells, of one writer and one reader. A
 * message of up to COLL_THREADS_INLINE bytes lies in its cell, and its send is done at once. A
 * longer one stays in the sender's buffer: the receiver copies it from there, or reduces
 * straight out of it (borrow), and then tells the sender. A full ring is COLL_AGAIN. A reader
 * that looks for one tag sets messages of other tags aside, so that collectives which run at
 * the same time never block each other. A multicast is a send to each other rank, all out of one
 * buffer; it starts when every ring has room. A reduction of a team is done by its last rank.
 *
 * Waiting spins for about a microsecond, if there are as many cores as ranks, and then yields
 * the processor, so that more ranks than cores, and other programs beside them, work well. One
 * thread at a time may use a rank.
 *
 * Memory: 8 bytes per pair of ranks; about 64·COLL_THREADS_CELLS bytes more when a pair first
 * talks; 64 bytes for an operation in flight and 96 for a message set aside or an operand of a
 * team, all used again and freed by destroy. Needs the __atomic functions of gcc or clang, malloc
 * and sched_yield.
 */
#ifndef COLL_TRANSPORTS_THREADS_H
#define COLL_TRANSPORTS_THREADS_H

#include "threads/fabric.h"
#include "threads/messages.h"

COLL_INLINE void coll_i_threads_wait(void *ctx, uint32_t idle)
{
    if (idle > ((coll_i_threads_rank *)ctx)->world->spins) {
        (void)sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause" ::: "memory");
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

COLL_INLINE coll_status coll_i_threads_test(void *ctx, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    return h->word[1] ? coll_i_threads_operand_test(me, (coll_i_threads_operand *)h->word[0])
                      : coll_i_threads_message_test(me, h);
}

COLL_INLINE void coll_i_threads_cancel(void *ctx, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    if (h->word[1])
        coll_i_threads_operand_cancel(me, (coll_i_threads_operand *)h->word[0]);
    else
        coll_i_threads_message_cancel(me, h);
}

/* The vtable; ctx is what coll_threads_rank returns. */
static const coll_transport coll_threads_transport = {coll_i_threads_send,
                                                      coll_i_threads_recv,
                                                      coll_i_threads_test,
                                                      coll_i_threads_cancel,
                                                      coll_i_threads_abort,
                                                      coll_i_threads_wait,
                                                      coll_i_threads_borrow,
                                                      coll_i_threads_give_back,
                                                      NULL, /* copy */
                                                      NULL, /* reduce */
                                                      coll_i_threads_multicast,
                                                      coll_i_threads_fabric_reduce,
                                                      0, /* any length */
                                                      UINT32_MAX};

#endif /* COLL_TRANSPORTS_THREADS_H */
