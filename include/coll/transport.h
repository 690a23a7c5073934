/* coll/transport.h — what the library asks of a messaging layer
 *
 * Fill in send, recv and test; leave everything else zero:
 *
 *   static const coll_transport mine = {.send = my_send, .recv = my_recv, .test = my_test};
 *
 * All else is optional. What belongs together is a record of its own, a *capability*; its pointer is
 * NULL if the transport does not have it:
 *
 *   coll_zero_copy     reads a message where it lies, instead of receiving it
 *   coll_arrival       combines a message with an operand as it arrives
 *   coll_failure       gives up operations, tells other ranks of a failure, knows who is dead
 *   coll_in_network    multicasts and reductions that the network carries out
 *   coll_node_memory   memory that the ranks of a node share, which collectives use in turn
 *   coll_tag_ranges    tags that are claimed, and whose uses are told apart
 *   coll_routes        other transports, by which it reaches one peer and another
 *   coll_events        a descriptor to sleep on until there is something to do
 *   coll_registration  memory that is used again and again, which its NIC may register once
 *   coll_one_sided     puts into memory of peers, which counters tell of (one_sided.h)
 *
 *   static const coll_failure my_failure = {.cancel = my_cancel, .abort = my_abort};
 *   static const coll_transport mine = {.send = …, .failure = &my_failure};
 *
 * Records are constant while the transport is used. `ctx` is the caller's and reaches every callback;
 * ranks and tags are plain numbers.
 *
 * Contract
 *   - Messages from one rank to another with one tag arrive in the order in which they were
 *     sent, and receives with one (peer, tag) take them in the order in which they were
 *     started. The library tests such receives oldest first, so a transport may do all its
 *     matching in test.
 *   - send, recv, recv_reduce, copy, reduce, multicast and the reduce of the network return
 *       COLL_OK       done: the buffers are the caller's again, h is not used
 *       COLL_STARTED  in flight: the buffers belong to the transport until test(h) returns COLL_OK
 *       COLL_AGAIN    nothing was taken (a queue is full); the library calls again later
 *       < 0           an error: the collective ends with it
 *     and never wait for another rank.
 *   - COLL_ERR_CAPABILITY means: not this one, and nothing was taken. Where a capability saves work
 *     (zero_copy, arrival, copy, reduce) the library does it without: it receives, copies and combines by
 *     this processor. What the network alone can do ends with that status (coll_in_network).
 *   - Messages move on in send, recv and test: a rank that waits may call nothing but test. wait is a
 *     hint, and may never be called.
 *   - Messages of one tag never hold up those of another, whether or not they are received.
 *   - A message of 0 bytes is one like any other; its buffer may be NULL. No rank sends to itself.
 *   - h is at the same address from the start to the end of an operation. A structure that describes a
 *     call (coll_reduce_call …) is gone when that returns.
 *   - test returns COLL_OK (done; h is never used again), COLL_AGAIN, or an error. After an
 *     error the operation is still in flight, until cancel.
 *   - A callback never calls back into the library.
 *   - An aborted tag stays so until the range that it is in is claimed anew (coll_tag_ranges).
 *
 * transports/conformance.h runs a transport through this contract, and says what it does not keep.
 */
#ifndef COLL_TRANSPORT_H
#define COLL_TRANSPORT_H

#include "one_sided.h"

/* Names an operation in flight; the words are the transport's own, zero before it is started. */
typedef struct coll_handle {
    uintptr_t word[2];
} coll_handle;

/* ---- calls of many arguments ------------------------------------------------------------------- */

/* dst = a ⊕ b of `count` elements. dst may be a or b. */
typedef struct coll_reduce_call {
    const coll_op
        *op; /* unchanged until the operation is done; coll_op_predefined says which it is */
    void *dst;
    const void *a, *b;
    size_t count, elem_bytes;
} coll_reduce_call;

/* dst = operand ⊕ the next message of a peer, of count · elem_bytes bytes; or, with `left`, message ⊕
 * operand. dst may be the operand; else neither overlaps the other. */
typedef struct coll_arrival_call {
    uint32_t peer, tag;
    const coll_op *op; /* unchanged until the operation is done */
    void *dst;
    const void *operand;
    size_t count, elem_bytes; /* count is not 0 */
    bool left;
} coll_arrival_call;

/* dst = src ⊕ … ⊕ src over the members of a group, in the order of their ranks. dst may be src. Of 0
 * elements it is a barrier, and op, dst and src may be NULL. */
typedef struct coll_network_call {
    uint32_t tag;
    coll_network_group group; /* its number, and how many members it has (types.h) */
    /* Is a rank of the transport a member? A pure function of its arguments, in O(log p) where the
     * plan's ranks are found in O(1); NULL: nobody tells. It is not asked about COLL_GROUP_ALL, of which
     * all ranks are. It and `of` stay as they are until the operation is done. */
    coll_is_member is_member;
    const void *of;    /* the plan, to hand to is_member */
    const coll_op *op; /* unchanged until the operation is done */
    void *dst;
    const void *src;
    size_t count, elem_bytes;
} coll_network_call;

/* ---- capabilities ------------------------------------------------------------------------------ */

/* Reads messages where they lie. The first two callbacks are there. */
typedef struct coll_zero_copy {
    /* Acquires the next message of a peer instead of receiving it. COLL_OK puts its address in
     * *message; the memory is the transport's, readable until release. COLL_AGAIN: not here yet.
     * COLL_ERR_CAPABILITY: this one is not acquired, and will be received. COLL_ERR_SIZE: it has not
     * so many bytes. Matched as recv and test together are. *message = NULL, if there is `read`: it lies
     * where this processor cannot address it, and is read part by part. */
    coll_status (*acquire)(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                           const void **message, coll_handle *h);
    /* Gives an acquired message back: its sender may go on. */
    void (*release)(void *ctx, coll_handle *h);
    size_t max_bytes; /* of a message, or piece, that is acquired to have an address. 0: any */
    /* Reads bytes at … at + bytes − 1 of an acquired message, at most part_bytes of them: *part is where
     * they are, until the next read or release. COLL_OK or an error, which ends the collective: no
     * other status, as the message is here. NULL: acquire finds an address for every message, and
     * those of more than max_bytes are received. */
    coll_status (*read)(void *ctx, coll_handle *h, size_t at, size_t bytes, const void **part);
    size_t part_bytes; /* what stays in the nearest caches while it is combined */
    /* Mask of COLL_BIT: collectives whose messages of more than max_bytes are acquired, to be read. */
    uint32_t reads;
} coll_zero_copy;

/* Combines messages as they arrive, by something else than this processor. */
typedef struct coll_arrival {
    /* Receives a message into a reduction: dst is written, and the operand read, between start and end.
     * Started, tested and matched as recv, whose order on a channel it keeps: after COLL_STARTED a
     * message of another size is COLL_ERR_SIZE. A message that is cut (max_bytes) comes piece by piece,
     * if these end with an element, else it is received. COLL_ERR_CAPABILITY: not this operator, type or
     * length; the message is received, and combined here. Two pieces of a message may be treated
     * differently. It may not be NULL. */
    coll_status (*recv_reduce)(void *ctx, const coll_arrival_call *call, coll_handle *h);
} coll_arrival;

/* What becomes of operations when something fails. Each may be NULL, but not the first three at once. */
typedef struct coll_failure {
    /* Gives up an operation in flight. After it returns, the transport touches the buffers no more.
     * Without it, a failed collective's buffers must outlive the transport. */
    void (*cancel)(void *ctx, coll_handle *h);
    /* This rank failed: on all ranks operations of the tags first … first + tags − 1, those in
     * flight and all later ones, end with COLL_ERR_PEER within bounded time; its own are cancelled
     * after this call. A collective that fails aborts its tag, a communicator (comm.h) all of its
     * own, which may include some that were aborted before. Without it, other ranks wait for messages
     * that do not come. */
    void (*abort)(void *ctx, uint32_t first, uint32_t tags);
    /* Is a peer known to be dead, or to have left? What waits for it ends with an error: COLL_ERR_PEER
     * if all ranks notice, even one that waits for another; else a different one, after which the
     * library aborts. False if it is alive, this rank itself, or nobody knows. Does not wait, moves
     * nothing on, and may be called at any time; it may cost a system call. NULL: ranks do not die, or
     * nobody notices. */
    bool (*dead)(void *ctx, uint32_t peer);
    /* For ranks that go on without those that die (comm/recover.h): from now on a death ends, of the operations of
     * these tags, those alone that wait for the dead rank, with another error than COLL_ERR_PEER. It may
     * be so for more tags of their root communicator, too, until that unclaims them. Called while nobody has
     * died. NULL: it is so for all tags. */
    void (*outlive)(void *ctx, uint32_t first, uint32_t tags);
} coll_failure;

/* What the network does for several ranks at once. Each may be NULL, but not all three. A plan that needs
 * one that is not there is not started (COLL_ERR_CAPABILITY), by no rank, as all have the same plan. */
typedef struct coll_in_network {
    /* Sends to every rank of the transport but this one, which receive it by recv, in order with other
     * messages of this rank and tag. COLL_ERR_CAPABILITY ends the collective. */
    coll_status (*multicast)(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                             coll_handle *h);
    /* Each member of the group calls it; src is read then, and dst is written when all have. As no
     * member can do without, COLL_ERR_CAPABILITY (there is no such group, or not this operator) ends the
     * collective: on this rank with that status, on the others, if there is abort, with COLL_ERR_PEER. A
     * transport that refuses lengths says so by max_bytes, and comm.h then chooses something else on all
     * ranks. */
    coll_status (*reduce)(void *ctx, const coll_network_call *call, coll_handle *h);
    size_t max_bytes; /* of the longest vector that reduce takes; 0: any */
    /* How many ranks the transport has: a plan that multicasts, or reduces in the network, is of all of
     * them, or it is not started (COLL_ERR_GROUP), and so is a root communicator (comm.h). Without it,
     * nobody finds out, and the ranks that are left out get messages that they do not receive. */
    uint32_t (*ranks)(void *ctx);
} coll_in_network;

struct coll_nodes; /* plan/topo/nodes.h */

/* Memory that all ranks of a node share, in parts that successive collectives use in turn. The first three
 * callbacks are there. */
typedef struct coll_node_memory {
    /* Returns the bytes of a part, the same on all ranks of all nodes, 0 where there is none, and writes the
     * number of the next use and where its part is; with `take` that use is taken. All ranks take uses in
     * the same order for the same collectives. */
    size_t (*shared)(void *ctx, bool take, uint32_t *use, void **memory);
    /* COLL_OK once this rank may touch the part, COLL_AGAIN before; COLL_ERR_PEER: its tag is aborted. */
    coll_status (*enter)(void *ctx, uint32_t tag, uint32_t use);
    /* This rank touches the part no more. */
    void (*leave)(void *ctx, uint32_t use);
    /* Which ranks share a part: those of each of these nodes of the transport's ranks, which stay as they
     * are. NULL: all ranks are on one. */
    const struct coll_nodes *(*nodes)(void *ctx);
} coll_node_memory;

/* A message that does not fit its receive. */
typedef struct coll_misfit {
    uint32_t peer; /* who sent it; COLL_RANK_NONE: an operand of a reduction in the network */
    uint32_t tag,
        its_tag; /* of the receive, and of the message: with another use, it was left over */
    size_t expected, bytes; /* what the receive is for, and what came */
} coll_misfit;

/* Tags that root communicators have for themselves, and whose uses are told apart. Claims or uses may be
 * missing, but not both. */
typedef struct coll_tag_ranges {
    /* Gives a root communicator (comm.h) tags of its own, *first … *first + *tags − 1, until unclaim: no
     * other has them, and they are clean, whatever went wrong with those who had them before. All ranks
     * claim and unclaim in the same order, and find the same tags. COLL_ERR_TAG: there are none left. Both
     * or none; without them a communicator takes all tags, so there may be one at a time on a ctx, and
     * it must not fail. coll_claims, below, is all that a transport needs for it. */
    coll_status (*claim)(void *ctx, uint32_t *first, uint32_t *tags);
    /* Gives claimed tags back; this rank uses them no more. */
    void (*unclaim)(void *ctx, uint32_t first);
    /* Not 0: uses of a tag are told apart. A power of two, at least `tags`: what callbacks get as a tag is
     * tag + use_step · use, modulo 2³², but for abort and claim, which do not look at the use. All uses
     * of a tag are one channel: a message that is met by an operation of another use was left over, or
     * is too early as one before it is missing, and that operation is COLL_ERR_SIZE. So no call takes for
     * data what was sent in an earlier one, by ranks that did not agree on sizes. */
    uint32_t use_step;
    /* What the last COLL_ERR_SIZE of this rank was about (coll_comm_misfit). NULL: nobody knows. */
    void (*misfit)(void *ctx, coll_misfit *its);
} coll_tag_ranges;

struct coll_transport;

/* Transports, each of which reaches some of the peers (transports/join.h). */
typedef struct coll_routes {
    /* By which one messages go to and from a peer: its limits (max_bytes, unsegmented, and those of
     * zero_copy) hold for them, and both ends find the same. Of the transport itself these hold for what
     * has no peer. Each passes an abort on to the ranks that it reaches alone; so the library has a rank
     * that hears of one abort the same tags. */
    const struct coll_transport *(*to)(void *ctx, uint32_t peer);
} coll_routes;

/* A descriptor to sleep on, for callers who wait for other things, too. Both callbacks are there. */
typedef struct coll_events {
    /* A descriptor of POSIX, which poll, epoll or an event loop says is readable when this rank has
     * something to do: the same one as long as ctx is there, the transport's, and of no other use. −1:
     * there is none here, nor will be. */
    int (*descriptor)(void *ctx);
    /* Before sleep. COLL_OK: nothing is to be done, and when something is, the descriptor is readable, until
     * it is done. COLL_AGAIN: something has happened: each operation in flight may be done, and must be tested
     * before arm is called again, though it may be in vain. As tests move on all that there is, this
     * must cover operations that were done in the test of another one, aborts, and a message that acquire
     * asked for in vain. < 0: an error; poll now and
     * then instead. What this rank then starts, tests or gives up ends it: arm comes before each
     * sleep. May move messages on; does not wait. */
    coll_status (*arm)(void *ctx);
} coll_events;

/* Memory that is used again and again: prepared calls (coll_request_init) tell of their buffers and their
 * scratch. For transports whose NIC has to know memory before it touches it, and which would otherwise
 * register the buffers of each operation, or search a cache for them. Both callbacks are there. */
typedef struct coll_registration {
    /* A hint: from now on, operations use parts of these bytes again and again, as buffers that are sent
     * from and, with `writes`, received into; without it the memory may be read-only. `bytes` is not 0. The
     * memory stays the caller's, and valid until forget. It is neither read nor changed here. Ranges may
     * overlap, and be kept several times; each time counts. What goes wrong is told to nobody: then the
     * transport does without. Does not wait for other ranks; it may cost system calls, and memory that
     * cannot be swapped out. */
    void (*keep)(void *ctx, const void *memory, size_t bytes, bool writes);
    /* Takes one keep of the same arguments back, in any order. Operations in flight in this memory are not
     * affected: they end as they would have. What is kept when ctx ends is forgotten then. */
    void (*forget)(void *ctx, const void *memory, size_t bytes, bool writes);
} coll_registration;

/* ---- the transport ----------------------------------------------------------------------------- */

/* What a messaging layer brings; the head of this file is its contract. */
typedef struct coll_transport {
    /* Sends bytes at buf to peer. buf stays unchanged and valid until the operation is done.
     * bytes may be 0. */
    coll_status (*send)(void *ctx, uint32_t peer, uint32_t tag, const void *buf, size_t bytes,
                        coll_handle *h);
    /* Receives exactly bytes from peer; a message of another size is COLL_ERR_SIZE. */
    coll_status (*recv)(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                        coll_handle *h);
    /* Is an operation done? Moves it on if not; see the contract. */
    coll_status (*test)(void *ctx, coll_handle *h);

    /* ---- all that follows may be NULL or 0 ---- */

    /* Copies by something else than this processor, say a DMA engine. COLL_ERR_CAPABILITY: not this
     * one, copy here. */
    coll_status (*copy)(void *ctx, void *dst, const void *src, size_t bytes, coll_handle *h);
    /* Combines by something else than this processor. It gets every combination of two operands, that of
     * a message that was received, too; none is acquired then. COLL_ERR_CAPABILITY: not this operator,
     * combine here. */
    coll_status (*reduce)(void *ctx, const coll_reduce_call *call, coll_handle *h);
    /* Nothing happened in `idle` tests one after the other: spin, yield or sleep, and return within some
     * milliseconds, whether or not anything comes (deadlines). transports/idle.h has one. */
    void (*wait)(void *ctx, uint32_t idle);
    /* Moves all on that is under way, as test does, where there is no operation to ask about. Returns
     * without waiting. NULL: nothing moves but by test. */
    void (*progress)(void *ctx);

    uint32_t tags; /* tags 0 … tags−1 may run at once. 0: no tags, one collective at a time */
    size_t max_bytes; /* longest message; longer ones are cut by the engine. 0: no limit */
    /* Mask of COLL_BIT: collectives whose messages are not cut, whatever max_bytes is. */
    uint32_t unsegmented;

    const coll_zero_copy *zero_copy;       /* messages are read where they lie */
    const coll_arrival *arrival;           /* … combined as they arrive */
    const coll_failure *failure;           /* what becomes of operations when something fails */
    const coll_in_network *in_network;     /* what the network does */
    const coll_node_memory *node_memory;   /* memory that the ranks of a node share */
    const coll_tag_ranges *tag_ranges;     /* tags that are claimed, uses that are told apart */
    const coll_routes *routes;             /* other transports, by which peers are reached */
    const coll_events *events;             /* a descriptor to sleep on */
    const coll_registration *registration; /* memory that is used again and again */
    /* Of each collective (COLL_COLLECTIVES): from how many bytes on a message is not cut, either, as a
     * longer one travels faster whole; the same on all ranks. NULL, or without COLL_ZERO_COPY (config.h):
     * max_bytes holds for any length. */
    const size_t *whole_from;
    const coll_one_sided *one_sided; /* puts into memory of peers */
} coll_transport;

/* What the network does that engines use; NULL: nothing. */
COLL_INLINE const coll_in_network *coll_i_transport_network(const coll_transport *transport)
{
    return COLL_IN_NETWORK ? transport->in_network : NULL;
}

/* Are `left` bytes of a message of a collective too many to go as one, unless it goes whole? */
COLL_HOT_INLINE bool coll_i_transport_cuts(const coll_transport *transport,
                                           coll_collective collective, size_t left)
{
    return transport->max_bytes != 0 && left > transport->max_bytes &&
           !coll_is(transport->unsegmented, collective);
}

/* Does a message of so many bytes go whole, however long it is? Only engines with zero copy gain by it. */
COLL_HOT_INLINE bool coll_i_transport_is_whole_from(const coll_transport *transport,
                                                    coll_collective collective, size_t bytes)
{
    return COLL_ZERO_COPY && transport->whole_from &&
           bytes >= transport->whole_from[collective];
}

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

/* Which ranges of tags are claimed: of a rank, in its own memory. */
typedef struct coll_claims {
    uint32_t next;           /* ranges that were passed so far */
    uint8_t n;               /* … claimed now */
    bool taken[COLL_CLAIMS]; /* is a range claimed? */
} coll_claims;

/* No range is claimed. */
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

/* Gives a range back, if it is claimed. */
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

/* The range of a tag. */
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

/* Are claim and unclaim both there or none, and uses, if there are any, above so many tags? */
COLL_INLINE bool coll_i_tag_ranges_fit(const coll_tag_ranges *ranges, uint32_t tags)
{
    const uint32_t step = ranges->use_step;
    return !ranges->claim == !ranges->unclaim && (ranges->claim || step) &&
           (step == 0 || ((step & (step - 1)) == 0 && step >= tags));
}

/* What uses of a tag differ by; 0: they do not. */
COLL_INLINE uint32_t coll_i_use_step(const coll_transport *transport)
{
    return transport->tag_ranges ? transport->tag_ranges->use_step : 0;
}

/* After this status, are there ranks that may not have heard that one failed? */
COLL_INLINE bool coll_i_abort_is_news(const coll_transport *transport, coll_status status)
{
    return status != COLL_ERR_PEER || (COLL_ROUTES && transport->routes);
}

COLL_INLINE bool coll_i_zero_copy_is_whole(const coll_zero_copy *zero_copy)
{
    return zero_copy->acquire && zero_copy->release;
}

/* Is all there that an engine calls without asking? */
COLL_INLINE bool coll_i_transport_is_whole(const coll_transport *t)
{
    return t->send && t->recv && t->test &&
           (!COLL_ZERO_COPY || !t->zero_copy || coll_i_zero_copy_is_whole(t->zero_copy)) &&
           (!COLL_ARRIVAL || !t->arrival || t->arrival->recv_reduce);
}

/* Is there all that everything needs, and in each record what is needed there? COLL_ERR_TRANSPORT: not. */
COLL_INLINE coll_status coll_transport_check(const coll_transport *transport)
{
    const coll_transport *t = transport;
    if (!t)
        return COLL_ERR_NULL;
    if (!coll_i_transport_is_whole(t) ||
        (t->zero_copy && !coll_i_zero_copy_is_whole(t->zero_copy)) ||
        (t->arrival && !t->arrival->recv_reduce) ||
        (t->failure && !t->failure->cancel && !t->failure->abort && !t->failure->dead) ||
        (t->in_network && !t->in_network->multicast && !t->in_network->reduce &&
         !t->in_network->ranks) ||
        (t->node_memory &&
         (!t->node_memory->shared || !t->node_memory->enter || !t->node_memory->leave)) ||
        (t->tag_ranges && !coll_i_tag_ranges_fit(t->tag_ranges, t->tags)) ||
        (COLL_ROUTES && t->routes && !t->routes->to) ||
        (t->events && (!t->events->descriptor || !t->events->arm)) ||
        (t->registration && (!t->registration->keep || !t->registration->forget)) ||
        (t->one_sided && (!t->one_sided->expose || !t->one_sided->withdraw ||
                          !t->one_sided->put || !t->one_sided->count)))
        return COLL_ERR_TRANSPORT;
    return COLL_OK;
}

#endif /* COLL_TRANSPORT_H */
