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
 *     and never wait for another rank.
 *   - Messages move on in send, recv and test: a rank that waits may call nothing but test. wait is a
 *     hint, and may never be called.
 *   - Messages of one tag never hold up those of another, whether or not they are received.
 *   - A message of 0 bytes is one like any other; its buffer may be NULL. No rank sends to itself.
 *   - h is at the same address from the start to the end of an operation.
 *   - test returns COLL_OK (done; h is never used again), COLL_AGAIN, or an error. After an
 *     error the operation is still in flight, until cancel.
 *   - A callback never calls back into the library.
 *   - An aborted tag stays so until the range that it is in is claimed anew (claim, below).
 *
 * transports/conformance.h runs a transport through this contract, and says what it does not keep.
 */
#ifndef COLL_TRANSPORT_H
#define COLL_TRANSPORT_H

#include "types.h"

struct coll_plan;

/* Names an operation in flight; the words are the transport's own, zero before it is started. */
typedef struct coll_handle {
    uintptr_t word[2];
} coll_handle;

/* A message that does not fit its receive. */
typedef struct coll_misfit {
    uint32_t peer; /* who sent it; COLL_RANK_NONE: an operand of a reduction in the network */
    uint32_t tag,
        its_tag; /* of the receive, and of the message: with another use, it was left over */
    size_t expected, bytes; /* what the receive is for, and what came */
} coll_misfit;

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
    /* Copies by something else than this processor, say a DMA engine. COLL_ERR_CAPABILITY: not this
     * one, copy here. */
    coll_status (*copy)(void *ctx, void *dst, const void *src, size_t bytes, coll_handle *h);
    /* dst = a ⊕ b by something else than this processor. It gets every combination, that of a message
     * that was received, too; none is acquired then. COLL_ERR_CAPABILITY: not this operator, combine
     * here. */
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

    /* Mask of COLL_BIT: collectives whose messages are not cut, whatever max_bytes is. */
    uint32_t whole;
    size_t
        max_network_reduce; /* bytes of the longest vector that network_reduce takes; 0: any */

    /* How many ranks the transport has: a plan that multicasts, or reduces in the network, is of all of
     * them, or it is not started (COLL_ERR_GROUP), and so is a root communicator (comm.h). Without it,
     * nobody finds out, and the ranks that are left out get messages that they do not receive. */
    uint32_t (*ranks)(void *ctx);

    /* Gives a root communicator (comm.h) tags of its own, *first … *first + *tags − 1, until unclaim: no
     * other has them, and they are clean, whatever went wrong with those who had them before. All ranks
     * claim and unclaim in the same order, and find the same tags. COLL_ERR_TAG: there are none left. Both
     * or none; without them a communicator takes all tags, so there may be one at a time on a ctx, and
     * it must not fail. coll_claims, below, is all that a transport needs for it. */
    coll_status (*claim)(void *ctx, uint32_t *first, uint32_t *tags);
    void (*unclaim)(void *ctx, uint32_t first);

    /* Not 0: uses of a tag are told apart. A power of two, at least `tags`: what callbacks get as a tag is
     * tag + use_step · use, modulo 2³², but for abort and claim, which do not look at the use. All uses
     * of a tag are one channel: a message that is met by an operation of another use was left over, or
     * is too early as one before it is missing, and that operation is COLL_ERR_SIZE. So no call takes for
     * data what was sent in an earlier one, by ranks that did not agree on sizes. */
    uint32_t use_step;

    /* What the last COLL_ERR_SIZE of this rank was about (coll_comm_misfit). */
    void (*misfit)(void *ctx, coll_misfit *its);
} coll_transport;

/* *misfit = these, with COLL_ERR_SIZE to return: for transports. */
COLL_INLINE coll_status coll_misfit_note(coll_misfit *misfit, uint32_t peer, uint32_t tag,
                                         size_t expected)
{
    misfit->peer = peer;
    misfit->tag = misfit->its_tag = tag;
    misfit->expected = expected;
    misfit->bytes = 0;
    return COLL_ERR_SIZE;
}

/* ---- for transports ---------------------------------------------------------------------------- */

/* How a transport may give out its tags. They are COLL_CLAIMS ranges, which rank by rank are claimed one
 * after the other, round and round, but for those that are claimed still. Half way round before a
 * range may be claimed again it is cleaned: its aborts are forgotten, and its messages dropped. Nobody uses
 * it then, as long as no rank is COLL_CLAIMS/2 − COLL_CLAIMS_MOST claims ahead of another. */
enum {
    COLL_CLAIMS = 64,
    COLL_CLAIMS_MOST = 24,                         /* at the same time */
    COLL_CLAIM_TAGS = 1 << 16,                     /* of a range */
    COLL_CLAIM_ALL = COLL_CLAIMS * COLL_CLAIM_TAGS /* tags, and use_step, of such a transport */
};

typedef struct coll_claims {
    uint32_t next; /* ranges that were passed so far */
    uint8_t n;     /* … claimed now */
    bool taken[COLL_CLAIMS];
} coll_claims;

COLL_INLINE void coll_claims_init(coll_claims *claims)
{
    claims->next = claims->n = 0;
    for (uint32_t i = 0; i < COLL_CLAIMS; i++)
        claims->taken[i] = false;
}

/* As claim of a transport, which has `clean` make the tags of a range clean, as far as this rank can. */
COLL_INLINE coll_status coll_claims_take(coll_claims *claims,
                                         void (*clean)(void *ctx, uint32_t range), void *ctx,
                                         uint32_t *first, uint32_t *tags)
{
    uint32_t range;
    if (claims->n == COLL_CLAIMS_MOST)
        return COLL_ERR_TAG;
    do {
        const uint32_t opposite = (claims->next + COLL_CLAIMS / 2) % COLL_CLAIMS;
        range = claims->next++ % COLL_CLAIMS;
        if (!claims->taken[opposite])
            clean(ctx, opposite);
    } while (claims->taken[range]);
    claims->taken[range] = true;
    claims->n++;
    *first = range * COLL_CLAIM_TAGS;
    *tags = COLL_CLAIM_TAGS;
    return COLL_OK;
}

COLL_INLINE void coll_claims_give(coll_claims *claims, uint32_t range)
{
    if (range < COLL_CLAIMS && claims->taken[range]) {
        claims->taken[range] = false;
        claims->n--;
    }
}

/* The tag without its use, and the range that has it. */
COLL_INLINE uint32_t coll_claim_tag(uint32_t tag)
{
    return tag % COLL_CLAIM_ALL;
}

COLL_INLINE uint32_t coll_claim_range(uint32_t tag)
{
    return tag / COLL_CLAIM_TAGS % COLL_CLAIMS;
}

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
        !transport->shared != !transport->leave || !transport->claim != !transport->unclaim ||
        (transport->use_step & (transport->use_step - 1)) != 0)
        return COLL_ERR_TRANSPORT;
    return COLL_OK;
}

#endif /* COLL_TRANSPORT_H */
