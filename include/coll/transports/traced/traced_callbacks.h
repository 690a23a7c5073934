/* coll/transports/traced/traced_callbacks.h — the traced transport: the inner one's callbacks, with a note
 *
 * Use transports/traced.h.
 */
#ifndef COLL_TRANSPORTS_TRACED_TRACED_CALLBACKS_H
#define COLL_TRANSPORTS_TRACED_TRACED_CALLBACKS_H

#include "traced_events.h"

/* ---- messages ---------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_traced_send(void *ctx, uint32_t peer, uint32_t tag,
                                           const void *buf, size_t bytes, coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    coll_traced_event what;
    coll_i_traced_begins(traced, &what, COLL_TRACED_SEND, peer, tag, bytes);
    return coll_i_traced_note(traced, &what,
                              traced->inner->send(traced->ctx, peer, tag, buf, bytes, h), h);
}

/* The event of a message that was looked for where it lies, by this handle; NULL: none was. */
COLL_INLINE coll_traced_event *coll_i_traced_sought(const coll_traced *traced, uint32_t peer,
                                                    uint32_t tag, const coll_handle *h)
{
    coll_traced_event *event = coll_i_traced_event_of(traced, coll_i_traced_find(traced, h));
    return event && event->kind == COLL_TRACED_ACQUIRE && event->peer == peer &&
                   event->tag == tag
               ? event
               : NULL;
}

/* A message that was looked for before is received after all: its wait began then. */
COLL_INLINE coll_status coll_i_traced_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                           size_t bytes, coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    coll_traced_event *sought = coll_i_traced_sought(traced, peer, tag, h);
    coll_traced_event what;
    coll_status status;
    if (!sought) {
        coll_i_traced_begins(traced, &what, COLL_TRACED_RECV, peer, tag, bytes);
        return coll_i_traced_note(
            traced, &what, traced->inner->recv(traced->ctx, peer, tag, buf, bytes, h), h);
    }
    status = traced->inner->recv(traced->ctx, peer, tag, buf, bytes, h);
    if (status == COLL_OK || status == COLL_STARTED) {
        sought->kind = COLL_TRACED_RECV;
        sought->bytes = bytes;
    }
    if (status == COLL_OK)
        coll_i_traced_land(traced, h, COLL_OK);
    return status;
}

/* Of an operation that failed the end is its cancel. */
COLL_INLINE coll_status coll_i_traced_test(void *ctx, coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    const coll_status status = traced->inner->test(traced->ctx, h);
    if (status == COLL_OK)
        coll_i_traced_land(traced, h, COLL_OK);
    return status;
}

COLL_INLINE coll_status coll_i_traced_acquire(void *ctx, uint32_t peer, uint32_t tag,
                                              size_t bytes, const void **message,
                                              coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    const coll_status status =
        traced->inner->zero_copy->acquire(traced->ctx, peer, tag, bytes, message, h);
    if ((status == COLL_OK || status == COLL_AGAIN) &&
        !coll_i_traced_sought(traced, peer, tag, h)) {
        const bool follows = coll_i_traced_find(traced, h) < COLL_TRACED_FLIGHTS;
        coll_traced_event what;
        if (status == COLL_AGAIN && !follows)
            return status; /* it is noted once it is there */
        coll_i_traced_begins(traced, &what, COLL_TRACED_ACQUIRE, peer, tag, bytes);
        if (follows)
            coll_i_traced_fly(traced, h, coll_i_traced_new(traced, &what));
        else
            coll_i_traced_new(traced, &what)->status = COLL_OK;
    }
    return status;
}

COLL_INLINE void coll_i_traced_release(void *ctx, coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    traced->inner->zero_copy->release(traced->ctx, h);
    coll_i_traced_land(traced, h, COLL_OK);
}

COLL_INLINE coll_status coll_i_traced_read(void *ctx, coll_handle *h, size_t at, size_t bytes,
                                           const void **part)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->zero_copy->read(traced->ctx, h, at, bytes, part);
}

COLL_INLINE coll_status coll_i_traced_recv_reduce(void *ctx, const coll_arrival_call *call,
                                                  coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    coll_traced_event what;
    coll_i_traced_begins(traced, &what, COLL_TRACED_RECV_REDUCE, call->peer, call->tag,
                         (uint64_t)call->count * call->elem_bytes);
    return coll_i_traced_note(traced, &what,
                              traced->inner->arrival->recv_reduce(traced->ctx, call, h), h);
}

/* ---- what else a transport does ---------------------------------------------------------- */

COLL_INLINE coll_status coll_i_traced_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                           coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    coll_traced_event what;
    coll_i_traced_begins(traced, &what, COLL_TRACED_COPY, COLL_RANK_NONE, 0, bytes);
    return coll_i_traced_note(traced, &what,
                              traced->inner->copy(traced->ctx, dst, src, bytes, h), h);
}

COLL_INLINE coll_status coll_i_traced_reduce(void *ctx, const coll_reduce_call *call,
                                             coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    coll_traced_event what;
    coll_i_traced_begins(traced, &what, COLL_TRACED_REDUCE, COLL_RANK_NONE, 0,
                         (uint64_t)call->count * call->elem_bytes);
    return coll_i_traced_note(traced, &what, traced->inner->reduce(traced->ctx, call, h), h);
}

COLL_INLINE coll_status coll_i_traced_multicast(void *ctx, uint32_t tag, const void *buf,
                                                size_t bytes, coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    coll_traced_event what;
    coll_i_traced_begins(traced, &what, COLL_TRACED_MULTICAST, COLL_RANK_NONE, tag, bytes);
    return coll_i_traced_note(
        traced, &what, traced->inner->in_network->multicast(traced->ctx, tag, buf, bytes, h),
        h);
}

COLL_INLINE coll_status coll_i_traced_network_reduce(void *ctx, const coll_network_call *call,
                                                     coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    coll_traced_event what;
    coll_i_traced_begins(traced, &what, COLL_TRACED_NETWORK_REDUCE, COLL_RANK_NONE, call->tag,
                         (uint64_t)call->count * call->elem_bytes);
    return coll_i_traced_note(traced, &what,
                              traced->inner->in_network->reduce(traced->ctx, call, h), h);
}

COLL_INLINE uint32_t coll_i_traced_ranks(void *ctx)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->in_network->ranks(traced->ctx);
}

COLL_INLINE void coll_i_traced_cancel(void *ctx, coll_handle *h)
{
    coll_traced *traced = (coll_traced *)ctx;
    traced->inner->failure->cancel(traced->ctx, h);
    coll_i_traced_land(traced, h, COLL_ERR_CANCELLED);
}

COLL_INLINE void coll_i_traced_abort(void *ctx, uint32_t first, uint32_t tags)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->failure->abort(traced->ctx, first, tags);
}

COLL_INLINE bool coll_i_traced_dead(void *ctx, uint32_t peer)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->failure->dead(traced->ctx, peer);
}

COLL_INLINE void coll_i_traced_outlive(void *ctx, uint32_t first, uint32_t tags)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->failure->outlive(traced->ctx, first, tags);
}

COLL_INLINE void coll_i_traced_wait(void *ctx, uint32_t idle)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->wait(traced->ctx, idle);
}

COLL_INLINE void coll_i_traced_progress(void *ctx)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->progress(traced->ctx);
}

COLL_INLINE size_t coll_i_traced_shared(void *ctx, bool take, uint32_t *use, void **memory)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->node_memory->shared(traced->ctx, take, use, memory);
}

COLL_INLINE coll_status coll_i_traced_enter(void *ctx, uint32_t tag, uint32_t use)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->node_memory->enter(traced->ctx, tag, use);
}

COLL_INLINE void coll_i_traced_leave(void *ctx, uint32_t use)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->node_memory->leave(traced->ctx, use);
}

COLL_INLINE const struct coll_nodes *coll_i_traced_nodes(void *ctx)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->node_memory->nodes(traced->ctx);
}

COLL_INLINE coll_status coll_i_traced_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->tag_ranges->claim(traced->ctx, first, tags);
}

COLL_INLINE void coll_i_traced_unclaim(void *ctx, uint32_t first)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->tag_ranges->unclaim(traced->ctx, first);
}

COLL_INLINE void coll_i_traced_misfit(void *ctx, coll_misfit *its)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->tag_ranges->misfit(traced->ctx, its);
}

COLL_INLINE const coll_transport *coll_i_traced_route(void *ctx, uint32_t peer)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->routes->to(traced->ctx, peer);
}

COLL_INLINE int coll_i_traced_descriptor(void *ctx)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->events->descriptor(traced->ctx);
}

COLL_INLINE coll_status coll_i_traced_arm(void *ctx)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->events->arm(traced->ctx);
}

COLL_INLINE void coll_i_traced_keep(void *ctx, const void *memory, size_t bytes, bool writes)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->registration->keep(traced->ctx, memory, bytes, writes);
}

COLL_INLINE void coll_i_traced_forget(void *ctx, const void *memory, size_t bytes, bool writes)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->registration->forget(traced->ctx, memory, bytes, writes);
}

/* ---- puts -------------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_traced_expose(void *ctx, uint32_t number, coll_region *region)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->one_sided->expose(traced->ctx, number, region);
}

COLL_INLINE void coll_i_traced_withdraw(void *ctx, uint32_t number)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    traced->inner->one_sided->withdraw(traced->ctx, number);
}

COLL_INLINE coll_status coll_i_traced_put(void *ctx, const coll_put_call *call, coll_handle *h)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->one_sided->put(traced->ctx, call, h);
}

COLL_INLINE coll_status coll_i_traced_count(void *ctx, uint32_t number, uint32_t counter,
                                            uint32_t *value)
{
    const coll_traced *traced = (const coll_traced *)ctx;
    return traced->inner->one_sided->count(traced->ctx, number, counter, value);
}

#endif /* COLL_TRANSPORTS_TRACED_TRACED_CALLBACKS_H */
