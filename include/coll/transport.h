/* coll/transport.h — what the library asks of a messaging layer
 *
 * Fill in send, recv and test; leave everything else zero. A callback that is NULL is a
 * capability that the transport does not have. `ctx` is the caller's and reaches every
 * callback; ranks and tags are plain numbers.
 *
 *   static const coll_transport mine = {.send = my_send, .recv = my_recv, .test = my_test};
 *
 * Contract
 *   - Messages from one rank to another with one tag arrive in the order in which they were
 *     sent, and receives with one (peer, tag) take them in the order in which they were
 *     started. The library tests such receives oldest first, so a transport may do all its
 *     matching in test.
 *   - send, recv, copy and reduce return
 *       COLL_OK       done: the buffers are the caller's again, h is not used
 *       COLL_STARTED  in flight: the buffers belong to the transport until test(h) returns COLL_OK
 *       COLL_AGAIN    nothing was taken (a queue is full); the library calls again later
 *       < 0           an error: the collective ends with it
 *     and, but for trade, never wait for another rank.
 *   - test returns COLL_OK (done; h is never used again), COLL_AGAIN, or an error. After an
 *     error the operation is still in flight, until cancel.
 *   - A callback never calls back into the library.
 */
#ifndef COLL_TRANSPORT_H
#define COLL_TRANSPORT_H

#include "types.h"

struct coll_plan;

/* Names an operation in flight; the words are the transport's own, zero before it is started. */
typedef struct coll_handle {
    uintptr_t word[2];
} coll_handle;

typedef struct coll_transport {
    /* Sends bytes at buf to peer. buf stays unchanged and valid until the operation is done.
     * bytes may be 0. */
    coll_status (*send)(void *ctx, uint32_t peer, uint32_t tag, const void *buf, size_t bytes,
                        coll_handle *h);
    /* Receives exactly bytes from peer; a message of another size is COLL_ERR_SIZE. */
    coll_status (*recv)(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                        coll_handle *h);
    coll_status (*test)(void *ctx, coll_handle *h);

    /* ---- all that follows may be NULL or 0 ------------------------------------------------ */

    /* Gives up an operation in flight. After it returns, the transport touches the buffers no more.
     * Without it, a failed collective's buffers must outlive the transport. */
    void (*cancel)(void *ctx, coll_handle *h);
    /* This rank failed: on all ranks operations of the tags first … first + tags − 1, those in
     * flight and all later ones, end with COLL_ERR_PEER within bounded time; its own are cancelled
     * after this call. A collective that fails aborts its tag, a communicator (comm.h) all of its
     * own, which may include some that were aborted before. Without it, other ranks wait for messages
     * that do not come. */
    void (*abort)(void *ctx, uint32_t first, uint32_t tags);
    /* Nothing happened in `idle` tests one after the other: spin, yield or sleep. */
    void (*wait)(void *ctx, uint32_t idle);
    /* Acquires a message where it lies instead of receiving it: COLL_OK puts its address in
     * *message; the memory is readable until release. COLL_AGAIN: not here yet.
     * COLL_ERR_CAPABILITY: this one is not acquired, and will be received. Matched as recv and test
     * together are. */
    coll_status (*acquire)(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                           const void **message, coll_handle *h);
    void (*release)(void *ctx, coll_handle *h);
    /* Copies by something else than this processor, say a DMA engine. */
    coll_status (*copy)(void *ctx, void *dst, const void *src, size_t bytes, coll_handle *h);
    /* dst = a ⊕ b by something else than this processor. COLL_ERR_CAPABILITY: not this
     * operator, combine here. */
    coll_status (*reduce)(void *ctx, const coll_op *op, void *dst, const void *a, const void *b,
                          size_t count, coll_handle *h);
    /* Sends to every rank of the transport but this one, which receive it by recv. */
    coll_status (*multicast)(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                             coll_handle *h);
    /* dst = src ⊕ … ⊕ src over the ranks of the team (types.h), in rank order; each of them
     * calls it, when src is read, and dst is written when all have. dst may be src. Of 0 elements it
     * is a barrier, and op, dst and src may be NULL.
     * COLL_ERR_CAPABILITY: there is no such team. `plan` tells who is in it (plan/team.h), and
     * stays as it is until the operation is done; NULL: nobody tells. */
    coll_status (*network_reduce)(void *ctx, uint32_t tag, coll_team team,
                                  const struct coll_plan *plan, const coll_op *op, void *dst,
                                  const void *src, size_t count, size_t elem_bytes,
                                  coll_handle *h);

    size_t max_bytes; /* longest message; longer ones are cut by the engine. 0: no limit */
    uint32_t tags; /* tags 0 … tags−1 may run at once. 0: no tags, one collective at a time */
    size_t
        max_zero_copy; /* longest message, or piece, that is acquired, not received. 0: any */

    /* Memory that all ranks of the transport share, in parts that successive collectives use in
     * turn. shared returns the bytes of a part, the same on all ranks, 0 where there is none, and
     * writes the number of the next use and where its part is; with `take` that use is taken. All
     * ranks take uses in the same order for the same collectives. enter: COLL_OK once this rank
     * may touch the part, COLL_AGAIN before. leave: it touches it no more. All three or none. */
    size_t (*shared)(void *ctx, bool take, uint32_t *use, void **memory);
    coll_status (*enter)(void *ctx, uint32_t tag, uint32_t use);
    void (*leave)(void *ctx, uint32_t use);

    /* Sends, or receives, and waits until that is over: for callers who wait for the collective
     * anyway, and run nothing else meanwhile. Called, while nothing else of this rank is in flight,
     * for messages of a schedule that was closed (executor/schedule.h). buf of a send is only
     * read. Never COLL_STARTED; COLL_AGAIN: not this one, nothing was done, it goes by send or
     * recv. */
    coll_status (*trade)(void *ctx, bool sends, uint32_t peer, uint32_t tag, void *buf,
                         size_t bytes);
    /* With it, trade does not wait for what it sends, which moves on while trade waits for what it
     * receives, so sends may still follow; settle waits for all of that, or, with `give_up`, touches
     * the buffers no more. */
    coll_status (*settle)(void *ctx, bool give_up);

    /* Mask of COLL_BIT: collectives whose messages are not cut, whatever max_bytes is. */
    uint32_t whole;
    size_t
        max_network_reduce; /* bytes of the longest vector that network_reduce takes; 0: any */
} coll_transport;

/* Are these tags all among those? */
COLL_INLINE bool coll_i_tags_are_among(uint32_t first, uint32_t tags, uint32_t those_first,
                                       uint32_t those_tags)
{
    const uint32_t skip = first - those_first; /* more than there are if it is below them */
    return skip < those_tags && tags <= those_tags - skip;
}

/* Are the callbacks there that everything needs, and in pairs? */
COLL_INLINE coll_status coll_transport_check(const coll_transport *transport)
{
    if (!transport)
        return COLL_ERR_NULL;
    if (!transport->send || !transport->recv || !transport->test ||
        !transport->acquire != !transport->release || !transport->shared != !transport->enter ||
        !transport->shared != !transport->leave)
        return COLL_ERR_TRANSPORT;
    return COLL_OK;
}

#endif /* COLL_TRANSPORT_H */
