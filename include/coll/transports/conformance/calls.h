/* coll/transports/conformance/calls.h — the conformance kit: how the transport is called, and what for
 *
 * All that the kit knows of the record of a transport is here.
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_CALLS_H
#define COLL_TRANSPORTS_CONFORMANCE_CALLS_H

#include "kit.h"

/* ---- the transport: all that is known of its record ---------------------------------------- */

COLL_INLINE uint32_t coll_i_conformance_tags(const coll_conformance *kit)
{
    return kit->task.transport->tags ? kit->task.transport->tags : 1;
}

COLL_INLINE bool coll_i_conformance_has(const coll_conformance *kit,
                                        coll_i_conformance_kind kind)
{
    const coll_transport *t = kit->task.transport;
    switch (kind) {
    case COLL_I_CONFORMANCE_ACQUIRES:
        return t->zero_copy != NULL;
    case COLL_I_CONFORMANCE_ARRIVES:
        return t->arrival != NULL;
    case COLL_I_CONFORMANCE_MULTICASTS:
        return t->in_network && t->in_network->multicast;
    case COLL_I_CONFORMANCE_COPIES:
        return t->copy != NULL;
    case COLL_I_CONFORMANCE_REDUCES:
        return t->reduce != NULL;
    case COLL_I_CONFORMANCE_MEETS:
        return t->in_network && t->in_network->reduce;
    case COLL_I_CONFORMANCE_ENTERS:
    case COLL_I_CONFORMANCE_LOOKS:
    case COLL_I_CONFORMANCE_LEAVES:
        return t->node_memory != NULL;
    case COLL_I_CONFORMANCE_CANCELS:
        return t->failure && t->failure->cancel;
    case COLL_I_CONFORMANCE_ABORTS:
        return t->failure && t->failure->abort;
    case COLL_I_CONFORMANCE_SLEEPS:
        return t->events != NULL;
    case COLL_I_CONFORMANCE_FORGETS:
        return t->registration != NULL;
    case COLL_I_CONFORMANCE_PUTS:
        return t->one_sided != NULL;
    default:
        return true;
    }
}

/* The longest message that may be acquired, the longest vector that the network reduces. */
COLL_INLINE size_t coll_i_conformance_limit(const coll_conformance *kit, size_t limit)
{
    return limit && limit < kit->longest ? limit : kit->longest;
}

COLL_INLINE size_t coll_i_conformance_acquires_most(const coll_conformance *kit)
{
    const coll_zero_copy *of = kit->task.transport->zero_copy;
    return coll_i_conformance_limit(kit, of && !of->reads ? of->max_bytes : 0);
}

COLL_INLINE size_t coll_i_conformance_meets_most(const coll_conformance *kit)
{
    const coll_in_network *of = kit->task.transport->in_network;
    return coll_i_conformance_limit(kit, of ? of->max_bytes : 0);
}

/* An element of reductions; the chain's operator takes x → b + a·x one after the other. */
typedef struct coll_i_conformance_element {
    uint32_t a, b;
} coll_i_conformance_element;

/* Starts an operation. */
COLL_INLINE coll_status coll_i_conformance_call(coll_conformance *kit,
                                                coll_i_conformance_op *op)
{
    const coll_transport *t = kit->task.transport;
    void *ctx = kit->task.ctx;
    coll_handle *h = &op->handle;
    const coll_op *reduction = op->number % 2 ? &kit->sum : &kit->chain;
    switch ((coll_i_conformance_kind)op->kind) {
    case COLL_I_CONFORMANCE_SENDS:
        return t->send(ctx, op->peer, op->tag, op->buf, op->bytes, h);
    case COLL_I_CONFORMANCE_RECEIVES:
        return t->recv(ctx, op->peer, op->tag, op->buf, op->bytes, h);
    case COLL_I_CONFORMANCE_ACQUIRES: {
        const void *message = NULL;
        const coll_status status =
            t->zero_copy->acquire(ctx, op->peer, op->tag, op->bytes, &message, h);
        op->a = (const unsigned char *)message;
        return status;
    }
    case COLL_I_CONFORMANCE_MULTICASTS:
        return t->in_network->multicast(ctx, op->tag, op->buf, op->bytes, h);
    case COLL_I_CONFORMANCE_COPIES:
        return t->copy(ctx, op->buf, op->a, op->bytes, h);
    case COLL_I_CONFORMANCE_REDUCES: {
        coll_reduce_call call;
        call.op = reduction;
        call.dst = op->buf;
        call.a = op->a;
        call.b = op->b;
        call.count = op->count;
        call.elem_bytes = sizeof(coll_i_conformance_element);
        return t->reduce(ctx, &call, h);
    }
    case COLL_I_CONFORMANCE_ARRIVES: {
        coll_arrival_call call;
        call.peer = op->peer;
        call.tag = op->tag;
        call.op = reduction;
        call.dst = op->buf;
        call.operand = op->a;
        call.count = op->count;
        call.elem_bytes = sizeof(coll_i_conformance_element);
        call.left = op->number / 2 % 2 != 0;
        return t->arrival->recv_reduce(ctx, &call, h);
    }
    case COLL_I_CONFORMANCE_MEETS: {
        coll_network_call call;
        call.tag = op->tag;
        call.group.number = COLL_GROUP_ALL;
        call.group.members = kit->task.p;
        call.is_member = NULL;
        call.of = NULL;
        call.op = op->count ? reduction : NULL;
        call.dst = op->buf;
        call.src = op->a;
        call.count = op->count;
        call.elem_bytes = op->count ? sizeof(coll_i_conformance_element) : 0;
        return t->in_network->reduce(ctx, &call, h);
    }
    case COLL_I_CONFORMANCE_PUTS: {
        coll_put_call call;
        call.peer = op->peer;
        call.region = op->its_tag;
        call.offset = op->its_bytes;
        call.counter = op->count;
        call.from = op->bytes ? op->buf : NULL;
        call.bytes = op->bytes;
        return t->one_sided->put(ctx, &call, h);
    }
    case COLL_I_CONFORMANCE_ENTERS: /* the use was taken */
        return t->node_memory->enter(ctx, op->tag, op->count);
    default:
        return COLL_ERR_STATE;
    }
}

COLL_INLINE coll_status coll_i_conformance_test(coll_conformance *kit,
                                                coll_i_conformance_op *op)
{
    return kit->task.transport->test(kit->task.ctx, &op->handle);
}

/* Where an acquired message is, now: at its address, or, if that cannot be addressed, in the operation's
 * buffer, into which it was just read part by part. NULL: nowhere. */
COLL_INLINE const unsigned char *coll_i_conformance_acquired(coll_conformance *kit,
                                                             coll_i_conformance_op *op)
{
    const coll_zero_copy *of = kit->task.transport->zero_copy;
    const coll_transport *route = kit->task.transport->routes
                                      ? kit->task.transport->routes->to(kit->task.ctx, op->peer)
                                      : kit->task.transport;
    const size_t most = of->read && route->zero_copy ? route->zero_copy->part_bytes : 0;
    if (op->a || most == 0)
        return op->a;
    for (size_t at = 0; at < op->bytes; at += most) {
        const size_t bytes = op->bytes - at < most ? op->bytes - at : most;
        const void *part = NULL;
        if (of->read(kit->task.ctx, &op->handle, at, bytes, &part) != COLL_OK || !part)
            return NULL;
        COLL_COPY(op->buf + at, part, bytes);
    }
    op->holds = COLL_I_CONFORMANCE_MESSAGE;
    return op->buf;
}

COLL_INLINE void coll_i_conformance_release(coll_conformance *kit, coll_i_conformance_op *op)
{
    kit->task.transport->zero_copy->release(kit->task.ctx, &op->handle);
}

COLL_INLINE void coll_i_conformance_cancel(coll_conformance *kit, coll_i_conformance_op *op)
{
    if (coll_i_conformance_has(kit, COLL_I_CONFORMANCE_CANCELS))
        kit->task.transport->failure->cancel(kit->task.ctx, &op->handle);
}

COLL_INLINE void coll_i_conformance_abort(coll_conformance *kit, uint32_t first, uint32_t tags)
{
    kit->task.transport->failure->abort(kit->task.ctx, first, tags);
}

/* Says the transport that a rank is dead? */
COLL_INLINE bool coll_i_conformance_is_dead(coll_conformance *kit, uint32_t peer)
{
    const coll_failure *failure = kit->task.transport->failure;
    return failure && failure->dead && failure->dead(kit->task.ctx, peer);
}

/* What uses of a tag differ by; 0: they do not. */
COLL_INLINE uint32_t coll_i_conformance_use_step(const coll_conformance *kit)
{
    return coll_i_use_step(kit->task.transport);
}

COLL_INLINE bool coll_i_conformance_claims(const coll_conformance *kit)
{
    return kit->task.transport->tag_ranges && kit->task.transport->tag_ranges->claim;
}

/* Claims tags, or gives them back. */
COLL_INLINE coll_status coll_i_conformance_claim(coll_conformance *kit, uint32_t i)
{
    return kit->task.transport->tag_ranges->claim(kit->task.ctx, &kit->claim[i][0],
                                                  &kit->claim[i][1]);
}

COLL_INLINE void coll_i_conformance_unclaim(coll_conformance *kit, uint32_t i)
{
    kit->task.transport->tag_ranges->unclaim(kit->task.ctx, kit->claim[i][0]);
}

/* What the last COLL_ERR_SIZE was about; false: nobody knows. */
COLL_INLINE bool coll_i_conformance_misfit(coll_conformance *kit, coll_misfit *its)
{
    const coll_tag_ranges *ranges = kit->task.transport->tag_ranges;
    if (!ranges || !ranges->misfit)
        return false;
    ranges->misfit(kit->task.ctx, its);
    return true;
}

/* Bytes of a part of SHARED; with `take`, the next use, and its memory. */
COLL_INLINE size_t coll_i_conformance_part(coll_conformance *kit, bool take, uint32_t *use,
                                           void **memory)
{
    *use = 0;
    *memory = NULL;
    return kit->task.transport->node_memory->shared(kit->task.ctx, take, use, memory);
}

COLL_INLINE void coll_i_conformance_leave(coll_conformance *kit, uint32_t use)
{
    kit->task.transport->node_memory->leave(kit->task.ctx, use);
}

/* The descriptor to sleep on; −1: there is none. */
COLL_INLINE int coll_i_conformance_descriptor(coll_conformance *kit)
{
    return kit->task.transport->events->descriptor(kit->task.ctx);
}

COLL_INLINE coll_status coll_i_conformance_arm(coll_conformance *kit)
{
    return kit->task.transport->events->arm(kit->task.ctx);
}

COLL_INLINE void coll_i_conformance_register(coll_conformance *kit, const void *memory,
                                             size_t bytes, bool writes)
{
    kit->task.transport->registration->keep(kit->task.ctx, memory, bytes, writes);
}

COLL_INLINE void coll_i_conformance_forget(coll_conformance *kit,
                                           const coll_i_conformance_op *op)
{
    kit->task.transport->registration->forget(kit->task.ctx, op->a, op->bytes, op->count != 0);
}

/* Exposes the kit's region, as number 0. */
COLL_INLINE coll_status coll_i_conformance_expose(coll_conformance *kit)
{
    return kit->task.transport->one_sided->expose(kit->task.ctx, 0, &kit->region);
}

COLL_INLINE void coll_i_conformance_withdraw(coll_conformance *kit)
{
    kit->task.transport->one_sided->withdraw(kit->task.ctx, 0);
}

COLL_INLINE coll_status coll_i_conformance_count(coll_conformance *kit, uint32_t counter,
                                                 uint32_t *value)
{
    return kit->task.transport->one_sided->count(kit->task.ctx, 0, counter, value);
}

COLL_INLINE void coll_i_conformance_wait(coll_conformance *kit)
{
    if (kit->task.transport->wait)
        kit->task.transport->wait(kit->task.ctx, kit->idle);
}

/* ---- operations -------------------------------------------------------------------------- */

/* Adds an operation to the phase, with a buffer of its own if it has one. */
COLL_INLINE coll_i_conformance_op *coll_i_conformance_add(coll_conformance *kit,
                                                          coll_i_conformance_kind kind,
                                                          size_t bytes, size_t skew)
{
    const bool fits = kit->n_ops < kit->most_ops;
    coll_i_conformance_op *op = &kit->ops[fits ? kit->n_ops++ : 0];
    op->handle.word[0] = op->handle.word[1] = 0;
    op->kind = (uint8_t)kind;
    op->state = COLL_I_CONFORMANCE_PENDING;
    op->flags = 0;
    op->ends = COLL_I_CONFORMANCE_WELL;
    op->holds = COLL_I_CONFORMANCE_ANYTHING;
    op->peer = op->tag = op->number = op->key = op->after = op->refusals = op->count = 0;
    op->its_tag = op->its_bytes = 0;
    op->bytes = bytes;
    op->a = op->b = NULL;
    op->of = NULL;
    op->buf =
        kind <= COLL_I_CONFORMANCE_KEEPS ? coll_i_conformance_buffer(kit, bytes, skew) : NULL;
    if ((!fits || (kind <= COLL_I_CONFORMANCE_KEEPS && !op->buf)) && kit->status >= 0) {
        kit->status = COLL_ERR_MEMORY;
        coll_i_conformance_say(kit, "the memory given to the conformance kit is used up");
        op->bytes = 0; /* and nothing is written to it */
    }
    return op;
}

/* A message; `sends`: to the peer, else from it. */
COLL_INLINE coll_i_conformance_op *coll_i_conformance_message(coll_conformance *kit, bool sends,
                                                              uint32_t peer, uint32_t tag,
                                                              uint32_t number, size_t bytes,
                                                              size_t skew)
{
    const uint32_t rank = kit->task.rank;
    coll_i_conformance_op *op = coll_i_conformance_add(
        kit, sends ? COLL_I_CONFORMANCE_SENDS : COLL_I_CONFORMANCE_RECEIVES, bytes, skew);
    op->peer = peer;
    op->tag = tag;
    op->number = number;
    op->key = coll_i_conformance_key(sends ? rank : peer, sends ? peer : rank, tag, number);
    op->holds = sends ? COLL_I_CONFORMANCE_MESSAGE : COLL_I_CONFORMANCE_BLANK;
    coll_i_conformance_write(op->buf, op->bytes, op->key, sends ? 0 : 255);
    return op;
}

COLL_INLINE coll_i_conformance_op *coll_i_conformance_send(coll_conformance *kit, uint32_t peer,
                                                           uint32_t tag, uint32_t number,
                                                           size_t bytes)
{
    return coll_i_conformance_message(kit, true, peer, tag, number, bytes, 0);
}

COLL_INLINE coll_i_conformance_op *coll_i_conformance_recv(coll_conformance *kit, uint32_t peer,
                                                           uint32_t tag, uint32_t number,
                                                           size_t bytes)
{
    return coll_i_conformance_message(kit, false, peer, tag, number, bytes, 0);
}

/* Marks an operation. */
COLL_INLINE void coll_i_conformance_mark(coll_i_conformance_op *op, unsigned flags)
{
    op->flags = (uint8_t)(op->flags | flags);
}

COLL_INLINE bool coll_i_conformance_is_marked(const coll_i_conformance_op *op, unsigned flag)
{
    return (op->flags & flag) != 0;
}

COLL_INLINE bool coll_i_conformance_receives(const coll_i_conformance_op *op)
{
    return op->kind == COLL_I_CONFORMANCE_RECEIVES || op->kind == COLL_I_CONFORMANCE_ACQUIRES ||
           op->kind == COLL_I_CONFORMANCE_ARRIVES;
}

COLL_INLINE bool coll_i_conformance_is_sent(const coll_i_conformance_op *op)
{
    return op->kind == COLL_I_CONFORMANCE_SENDS || op->kind == COLL_I_CONFORMANCE_MULTICASTS ||
           op->kind == COLL_I_CONFORMANCE_PUTS;
}

/* Do two operations send, or receive, on the same channel? Uses of a tag are one. */
COLL_INLINE bool coll_i_conformance_in_line(const coll_conformance *kit,
                                            const coll_i_conformance_op *a,
                                            const coll_i_conformance_op *b)
{
    const uint32_t its = coll_i_conformance_use_step(kit) - 1; /* what is not the use */
    if (((a->tag ^ b->tag) & its) != 0)
        return false;
    if (coll_i_conformance_receives(a))
        return coll_i_conformance_receives(b) && a->peer == b->peer;
    return coll_i_conformance_is_sent(a) && coll_i_conformance_is_sent(b) &&
           (a->peer == b->peer || a->kind == COLL_I_CONFORMANCE_MULTICASTS ||
            b->kind == COLL_I_CONFORMANCE_MULTICASTS);
}

/* May operation i start now? */
COLL_INLINE bool coll_i_conformance_may_start(const coll_conformance *kit, uint32_t i)
{
    const coll_i_conformance_op *op = &kit->ops[i];
    const bool started = coll_i_conformance_is_marked(op, COLL_I_CONFORMANCE_AFTER_STARTED);
    const bool done = coll_i_conformance_is_marked(op, COLL_I_CONFORMANCE_AFTER_DONE);
    if (op->kind != COLL_I_CONFORMANCE_PAUSES && kit->round < op->after)
        return false;
    for (uint32_t k = 0; k < i; k++) {
        const coll_i_conformance_op *older = &kit->ops[k];
        if (older->state == COLL_I_CONFORMANCE_ENDED)
            continue;
        if (older->state == COLL_I_CONFORMANCE_PENDING &&
            (started || coll_i_conformance_in_line(kit, op, older)))
            return false;
        if (done && !coll_i_conformance_is_marked(older, COLL_I_CONFORMANCE_ASIDE))
            return false;
        if ((op->kind == COLL_I_CONFORMANCE_ACQUIRES ||
             older->kind == COLL_I_CONFORMANCE_ACQUIRES) &&
            coll_i_conformance_in_line(kit, op, older))
            return false;
    }
    return true;
}

/* Receives of one peer and tag are tested oldest first, and that of a sleeper by him alone. */
COLL_INLINE bool coll_i_conformance_is_next(const coll_conformance *kit, uint32_t i)
{
    const coll_i_conformance_op *op = &kit->ops[i];
    if (!coll_i_conformance_receives(op))
        return true;
    for (uint32_t k = i + 1; k < kit->n_ops; k++)
        if (kit->ops[k].kind == COLL_I_CONFORMANCE_SLEEPS && kit->ops[k].of == op)
            return false;
    for (uint32_t k = 0; k < i; k++)
        if (kit->ops[k].state == COLL_I_CONFORMANCE_FLYING &&
            coll_i_conformance_in_line(kit, op, &kit->ops[k]))
            return false;
    return true;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_CALLS_H */
