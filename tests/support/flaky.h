/* tests/support/flaky.h — loopback made difficult: it hesitates, copies and reduces late, fails on
 * demand, and watches that its caller keeps the contract of transport.h
 *
 *   flaky it;
 *   flaky_init(&it, &rig, seed);            // takes the place of loopback in the rig
 *   it.hesitates = 100;                  // chance in 256 of COLL_AGAIN
 *   it.fail_rank = 2; it.fail_at = 7; // the seventh call of rank 2 fails with COLL_ERR_IO
 *   it.transport.max_bytes = 3; …        // the vtable may be changed, too
 *   status = rig_loopback(&rig, &it.transport, window, seed);
 *   CHECK_EQ(it.violations, 0); CHECK_EQ(it.live, 0);
 */
#ifndef COLL_TESTS_FLAKY_H
#define COLL_TESTS_FLAKY_H

#include "records.h"
#include "rig.h"

enum { FLAKY_OPS = 2048 };

/* What became of one operation. */
typedef struct flaky_op {
    coll_handle inner;
    bool live, receives, local;
    uint32_t rank, peer;
    unsigned long serial;
    unsigned left; /* local: tests until it is done */
    bool early;    /* local: it was carried out at once, and only said to take its time */
    const coll_op *op;
    void *dst;
    const void *a, *b;
    size_t count; /* local: elements to reduce, or bytes to copy */
    /* It is combined when it has come: with what comes first, of `a`, or of this copy of it. */
    unsigned char *staging;
    size_t elem_bytes;
    bool left_one;
} flaky_op;

struct flaky;

typedef struct flaky_rank {
    struct flaky *flaky;
    coll_loopback_rank *inner;
    bool failed; /* was told of an error: only cancel and abort may follow */
    coll_handle zero_copy;
    bool lends;
} flaky_rank;

typedef struct flaky {
    coll_transport transport;
    records own; /* its records */
    uint64_t random;
    unsigned hesitates; /* chance in 256 */
    unsigned slowest;   /* tests that a copy or reduction may take */
    unsigned refuses;   /* chance in 256 of COLL_ERR_CAPABILITY from reduce, copy … */
    unsigned keeps;     /* … and from acquire, of whole messages */
    uint32_t fail_rank;
    unsigned long fail_at; /* call of that rank, counted from 1; 0: none */
    unsigned long calls, aborts, cancels, reductions, copies, borrows, kept, arrivals, declined;
    unsigned long messages; /* sent, received or acquired, or pieces of those */
    bool fired;
    unsigned long live, violations, serial;
    uint32_t used; /* entries of ops that were ever used */
    flaky_op ops[FLAKY_OPS];
    flaky_rank *ranks;
    coll_collective collective;
} flaky;

/* ---- faults ------------------------------------------------------------------------------ */

/* What happens before a callback does its work: COLL_OK lets it go on. A handle comes in zero
 * when it starts something. */
static inline coll_status flaky_enter(flaky_rank *me, const coll_handle *fresh)
{
    flaky *it = me->flaky;
    it->violations += fresh && (fresh->word[0] != 0 || fresh->word[1] != 0);
    if (me->failed || me->lends)
        it->violations++;
    if (me->inner->rank == it->fail_rank && ++it->calls == it->fail_at) {
        it->fired = true;
        me->failed = true;
        return COLL_ERR_IO;
    }
    return chance_of(&it->random, 256) < it->hesitates ? COLL_AGAIN : COLL_OK;
}

static inline coll_status flaky_leave(flaky_rank *me, coll_status status)
{
    me->failed = me->failed || status < 0;
    return status;
}

/* ---- operations -------------------------------------------------------------------------- */

static inline flaky_op *flaky_new(flaky_rank *me, coll_handle *h)
{
    flaky *it = me->flaky;
    uint32_t i = 0;
    while (i + 1 < FLAKY_OPS && it->ops[i].live)
        i++;
    if (it->ops[i].live)
        it->violations++;
    memset(&it->ops[i], 0, sizeof it->ops[i]);
    it->used = it->used > i ? it->used : i + 1;
    it->ops[i].live = true;
    it->ops[i].rank = me->inner->rank;
    it->ops[i].serial = ++it->serial;
    it->live++;
    h->word[0] = i + 1;
    return &it->ops[i];
}

static inline void flaky_end(flaky *it, flaky_op *op)
{
    free(op->staging);
    op->staging = NULL;
    op->live = false;
    it->live--;
}

/* The operation of a handle that must be in flight, on this rank. */
static inline flaky_op *flaky_of(flaky_rank *me, const coll_handle *h)
{
    flaky_op *op = &me->flaky->ops[(h->word[0] - 1) % FLAKY_OPS];
    if (h->word[0] - 1 >= FLAKY_OPS || !op->live || op->rank != me->inner->rank)
        me->flaky->violations++;
    return op;
}

/* Receives of one peer must be asked about oldest first. */
static inline void flaky_first(flaky_rank *me, uint32_t peer, unsigned long serial)
{
    for (uint32_t i = 0; i < me->flaky->used; i++) {
        const flaky_op *op = &me->flaky->ops[i];
        if (op->live && op->receives && op->rank == me->inner->rank && op->peer == peer &&
            op->serial < serial)
            me->flaky->violations++;
    }
}

/* A message that loopback has taken, or has not. */
static inline coll_status flaky_started(flaky_rank *me, coll_status status,
                                        const coll_handle *inner, uint32_t peer, bool receives,
                                        coll_handle *h)
{
    if (status == COLL_STARTED) {
        flaky_op *op = flaky_new(me, h);
        op->inner = *inner;
        op->peer = peer;
        op->receives = receives;
    }
    me->flaky->messages += status == COLL_STARTED || status == COLL_OK;
    return flaky_leave(me, status);
}

/* Bytes of the longest piece of a message; 0: it is not cut. */
static inline size_t flaky_most(const flaky *it)
{
    return coll_is(it->transport.unsegmented, it->collective) ? 0 : it->transport.max_bytes;
}

static inline void flaky_measure(flaky *it, size_t bytes)
{
    if (flaky_most(it) != 0 && bytes > flaky_most(it))
        it->violations++;
}

static inline coll_status flaky_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                     size_t bytes, coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    coll_handle inner = {{0, 0}};
    const coll_status status = flaky_enter(me, h);
    flaky_measure(me->flaky, bytes);
    if (status != COLL_OK)
        return status;
    return flaky_started(me,
                         coll_loopback_transport.send(me->inner, peer, tag, buf, bytes, &inner),
                         &inner, peer, false, h);
}

static inline coll_status flaky_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                     size_t bytes, coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    coll_handle inner = {{0, 0}};
    const coll_status status = flaky_enter(me, h);
    flaky_measure(me->flaky, bytes);
    if (status != COLL_OK)
        return status;
    return flaky_started(me,
                         coll_loopback_transport.recv(me->inner, peer, tag, buf, bytes, &inner),
                         &inner, peer, true, h);
}

/* Combines a message when it has come. Its operand is read then, or, if it is not where the result
 * goes, at once; and what is there meanwhile is spoilt. */
static inline coll_status flaky_recv_reduce(void *ctx, const coll_arrival_call *call,
                                            coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    const size_t bytes = call->count * call->elem_bytes;
    coll_handle inner = {{0, 0}};
    flaky_op *op;
    unsigned char *staging;
    coll_status status = flaky_enter(me, h);
    flaky_measure(me->flaky, bytes);
    me->flaky->violations += call->count == 0;
    if (status != COLL_OK)
        return status;
    if (chance_of(&me->flaky->random, 256) < me->flaky->refuses) {
        me->flaky->declined++;
        return COLL_ERR_CAPABILITY;
    }
    staging = (unsigned char *)malloc(2 * bytes);
    status =
        coll_loopback_transport.recv(me->inner, call->peer, call->tag, staging, bytes, &inner);
    status = flaky_started(me, status, &inner, call->peer, true, h);
    if (status != COLL_STARTED) {
        free(staging);
        return status;
    }
    op = &me->flaky->ops[h->word[0] - 1];
    op->staging = staging;
    op->op = call->op;
    op->dst = call->dst;
    op->a = call->operand;
    op->count = call->count;
    op->elem_bytes = call->elem_bytes;
    op->left_one = call->left;
    if (chance_of(&me->flaky->random, 2) == 0) {
        memcpy(staging + bytes, call->operand, bytes);
        op->a = staging + bytes;
    }
    if (op->a != call->operand || call->dst != call->operand)
        memset(call->dst, 0xEE, bytes);
    me->flaky->arrivals++;
    return COLL_STARTED;
}

static inline void flaky_arrive(const flaky_op *op)
{
    const void *left = op->left_one ? op->staging : op->a;
    const void *right = op->left_one ? op->a : op->staging;
    memset(op->dst == op->a ? op->staging + op->count * op->elem_bytes : op->dst, 0xEE,
           op->count * op->elem_bytes); /* of what it holds nothing is left */
    op->op->combine(op->dst, left, right, op->count, op->op->arg);
}

static inline coll_status flaky_multicast(void *ctx, uint32_t tag, const void *buf,
                                          size_t bytes, coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    coll_handle inner = {{0, 0}};
    const coll_status status = flaky_enter(me, h);
    flaky_measure(me->flaky, bytes);
    if (status != COLL_OK)
        return status;
    return flaky_started(
        me, coll_loopback_transport.in_network->multicast(me->inner, tag, buf, bytes, &inner),
        &inner, COLL_RANK_NONE, false, h);
}

static inline coll_status flaky_network_reduce(void *ctx, const coll_network_call *call,
                                               coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    coll_handle inner = {{0, 0}};
    const coll_status status = flaky_enter(me, h);
    if (status != COLL_OK)
        return status;
    return flaky_started(me,
                         coll_loopback_transport.in_network->reduce(me->inner, call, &inner),
                         &inner, COLL_RANK_NONE, false, h);
}

static inline void flaky_carry_out(const flaky_op *op)
{
    if (op->op)
        op->op->combine(op->dst, op->a, op->b, op->count, op->op->arg);
    else
        memcpy(op->dst, op->a, op->count);
}

/* A copy (op NULL) or reduction: at once, or as late as its handle says it is done, or in
 * between. */
static inline coll_status flaky_local(flaky_rank *me, const coll_op *op, void *dst,
                                      const void *a, const void *b, size_t count,
                                      coll_handle *h)
{
    flaky *it = me->flaky;
    flaky_op now;
    const coll_status status = flaky_enter(me, h);
    it->violations += !op && dst == a; /* such a copy is none */
    if (status != COLL_OK)
        return status;
    if (it->refuses > 0 && chance_of(&it->random, 256) < it->refuses)
        return COLL_ERR_CAPABILITY;
    memset(&now, 0, sizeof now);
    now.op = op;
    now.dst = dst;
    now.a = a;
    now.b = b;
    now.count = count;
    it->reductions += op != NULL;
    it->copies += op == NULL;
    now.left = chance_of(&it->random, it->slowest + 1);
    now.early = now.left == 0 || chance_of(&it->random, 2) == 0;
    if (now.early)
        flaky_carry_out(&now);
    if (now.left > 0) {
        flaky_op *later = flaky_new(me, h);
        now.live = true;
        now.local = true;
        now.rank = later->rank;
        now.serial = later->serial;
        *later = now;
    }
    return now.left > 0 ? COLL_STARTED : COLL_OK;
}

static inline coll_status flaky_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                     coll_handle *h)
{
    return flaky_local((flaky_rank *)ctx, NULL, dst, src, NULL, bytes, h);
}

static inline coll_status flaky_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    return flaky_local((flaky_rank *)ctx, call->op, call->dst, call->a, call->b, call->count,
                       h);
}

static inline coll_status flaky_test(void *ctx, coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    flaky_op *op = flaky_of(me, h);
    coll_status status;
    if (op->receives)
        flaky_first(me, op->peer, op->serial);
    status = flaky_enter(me, NULL);
    if (status != COLL_OK)
        return status;
    if (op->local) {
        status = --op->left > 0 ? COLL_AGAIN : COLL_OK;
        if (status == COLL_OK && !op->early)
            flaky_carry_out(op);
    } else {
        status = coll_loopback_transport.test(me->inner, &op->inner);
        if (status == COLL_OK && op->staging)
            flaky_arrive(op);
    }
    if (status == COLL_OK)
        flaky_end(me->flaky, op);
    return flaky_leave(me, status);
}

static inline void flaky_cancel(void *ctx, coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    flaky_op *op = flaky_of(me, h);
    if (!op->local)
        coll_loopback_transport.failure->cancel(me->inner, &op->inner);
    me->flaky->cancels++;
    flaky_end(me->flaky, op);
}

static inline void flaky_abort(void *ctx, uint32_t first, uint32_t tags)
{
    flaky_rank *me = (flaky_rank *)ctx;
    me->flaky->aborts++;
    coll_loopback_transport.failure->abort(me->inner, first, tags);
}

static inline coll_status flaky_borrow(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                                       const void **message, coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    coll_status status;
    flaky_first(me, peer, me->flaky->serial + 1);
    flaky_measure(me->flaky, bytes);
    me->flaky->violations +=
        me->flaky->own.zero_copy.max_bytes != 0 && bytes > me->flaky->own.zero_copy.max_bytes;
    status = flaky_enter(me, h);
    if (status != COLL_OK)
        return status;
    if (flaky_most(me->flaky) == 0 && chance_of(&me->flaky->random, 256) < me->flaky->keeps) {
        me->flaky->kept++;
        return COLL_ERR_CAPABILITY;
    }
    status = coll_loopback_transport.zero_copy->acquire(me->inner, peer, tag, bytes, message,
                                                        &me->zero_copy);
    h->word[0] = status == COLL_OK ? (uintptr_t)me : 0;
    me->lends = status == COLL_OK;
    me->flaky->borrows += me->lends;
    me->flaky->messages += me->lends;
    return flaky_leave(me, status);
}

static inline void flaky_give_back(void *ctx, coll_handle *h)
{
    flaky_rank *me = (flaky_rank *)ctx;
    if (!me->lends || h->word[0] != (uintptr_t)me)
        me->flaky->violations++;
    me->lends = false;
    coll_loopback_transport.zero_copy->release(me->inner, &me->zero_copy);
}

/* ---- setting up -------------------------------------------------------------------------- */

/* Forgets what happened, so that a run may begin. */
static inline void flaky_again(flaky *it, const rig *rigged, uint32_t seed)
{
    it->random = seed;
    it->calls = it->aborts = it->cancels = it->reductions = it->copies = it->borrows = 0;
    it->kept = it->messages = it->arrivals = it->declined = 0;
    it->fired = false;
    for (uint32_t r = 0; r < rigged->p; r++)
        it->ranks[r].failed = it->ranks[r].lends = false;
}

/* Puts itself between the rig and its world. All capabilities of loopback, and late copies and
 * reductions; flaky_recv_reduce for those who want it. */
static inline void flaky_init(flaky *it, rig *rigged, uint32_t seed)
{
    memset(it, 0, sizeof *it);
    it->transport.send = flaky_send;
    it->transport.recv = flaky_recv;
    it->transport.test = flaky_test;
    it->own.failure.cancel = flaky_cancel;
    it->own.failure.abort = flaky_abort;
    it->own.zero_copy.acquire = flaky_borrow;
    it->own.zero_copy.release = flaky_give_back;
    it->transport.copy = flaky_copy;
    it->transport.reduce = flaky_reduce;
    it->own.in_network.multicast = flaky_multicast;
    it->own.in_network.reduce = flaky_network_reduce;
    it->transport.tags = UINT32_MAX;
    records_use(&it->own, &it->transport);
    it->slowest = 3;
    it->collective = rigged->problem.collective;
    it->ranks = (flaky_rank *)calloc(rigged->p, sizeof *it->ranks);
    for (uint32_t r = 0; r < rigged->p; r++) {
        it->ranks[r].flaky = it;
        it->ranks[r].inner = &rigged->ranks[r].end;
        rigged->ranks[r].run.ctx = &it->ranks[r];
    }
    flaky_again(it, rigged, seed);
}

/* Takes itself out again. */
static inline void flaky_free(flaky *it, rig *rigged)
{
    for (uint32_t r = 0; r < rigged->p; r++)
        rigged->ranks[r].run.ctx = &rigged->ranks[r].end;
    free(it->ranks);
}

#endif /* COLL_TESTS_FLAKY_H */
