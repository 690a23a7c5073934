/* coll/transports/traced/traced_events.h — the traced transport: what it notes, and where
 *
 * Use transports/traced.h.
 */
#ifndef COLL_TRANSPORTS_TRACED_TRACED_EVENTS_H
#define COLL_TRANSPORTS_TRACED_TRACED_EVENTS_H

#include "../../executor.h"

/* Operations in flight whose ends are noted; those beyond stay COLL_STARTED. */
#ifndef COLL_TRACED_FLIGHTS
#define COLL_TRACED_FLIGHTS 64
#endif

/* What an event is about. */
typedef enum coll_traced_kind {
    COLL_TRACED_CALL,           /* a collective, or a part of the program */
    COLL_TRACED_SEND,           /* a message to a peer */
    COLL_TRACED_RECV,           /* … from a peer */
    COLL_TRACED_ACQUIRE,        /* … which is combined where it lies */
    COLL_TRACED_RECV_REDUCE,    /* … as it arrives */
    COLL_TRACED_MULTICAST,      /* a message to all other ranks */
    COLL_TRACED_NETWORK_REDUCE, /* a reduction in the network */
    COLL_TRACED_COPY,           /* a copy by the transport */
    COLL_TRACED_REDUCE,         /* two operands in memory, combined by the transport */
    COLL_TRACED_KINDS
} coll_traced_kind;

/* One thing that happened on this rank. Without pointers, so that it may be sent to another one. */
typedef struct coll_traced_event {
    uint64_t start, end; /* by the clock; end is start as long as it is in flight */
    uint64_t bytes;
    uint32_t peer;  /* of a message, in ranks of the transport; else COLL_RANK_NONE */
    uint32_t tag;   /* as the transport was given it; of a call: that of its messages */
    uint16_t kind;  /* coll_traced_kind */
    uint16_t which; /* of a call: its collective; COLL_COLLECTIVES: none */
    int32_t status; /* COLL_OK, COLL_STARTED: in flight, or the error by which it ended */
} coll_traced_event;

/* An operation in flight. Private. */
typedef struct coll_i_traced_flight {
    const coll_handle *h;
    coll_traced_event *event;
    uint64_t number; /* of the event: it may have been replaced */
} coll_i_traced_flight;

/* One rank's traced transport, which is its own ctx. Read n; the rest is private. */
typedef struct coll_traced {
    uint64_t n; /* events so far, of which the last `room` are there */
    const coll_transport *inner;
    void *ctx; /* the inner one's */
    coll_clock clock;
    coll_traced_event *events;
    uint32_t room, at; /* where the next event goes */
    uint32_t flying;   /* operations in flight */
    coll_i_traced_flight flights[COLL_TRACED_FLIGHTS];
    coll_transport transport; /* the table; its records are these: */
    coll_zero_copy zero_copy;
    coll_arrival arrival;
    coll_failure failure;
    coll_in_network network;
    coll_node_memory memory;
    coll_tag_ranges tag_ranges;
    coll_routes routes;
    coll_events sleeping;
    coll_registration registration;
    coll_one_sided one_sided;
} coll_traced;

/* ---- events ------------------------------------------------------------------------------ */

COLL_INLINE uint64_t coll_i_traced_now(const coll_traced *traced)
{
    return traced->clock.now(traced->clock.arg);
}

/* What begins now. */
COLL_INLINE void coll_i_traced_begins(const coll_traced *traced, coll_traced_event *what,
                                      coll_traced_kind kind, uint32_t peer, uint32_t tag,
                                      uint64_t bytes)
{
    what->start = coll_i_traced_now(traced);
    what->bytes = bytes;
    what->peer = peer;
    what->tag = tag;
    what->kind = (uint16_t)kind;
    what->which = (uint16_t)COLL_COLLECTIVES;
}

/* The next event, in flight: as this one, which begins now or before. */
COLL_INLINE coll_traced_event *coll_i_traced_new(coll_traced *traced,
                                                 const coll_traced_event *what)
{
    coll_traced_event *event = &traced->events[traced->at];
    traced->at = traced->at + 1 < traced->room ? traced->at + 1 : 0;
    traced->n++;
    event->start = event->end = what->start;
    event->bytes = what->bytes;
    event->peer = what->peer;
    event->tag = what->tag;
    event->kind = what->kind;
    event->which = what->which;
    event->status = COLL_STARTED;
    return event;
}

/* Which flight has this handle; traced->flying: none. */
COLL_INLINE uint32_t coll_i_traced_find(const coll_traced *traced, const coll_handle *h)
{
    uint32_t i = 0;
    while (i < traced->flying && traced->flights[i].h != h)
        i++;
    return i;
}

/* The newest event is in flight with this handle, which one that ended without a word may have had. */
COLL_INLINE void coll_i_traced_fly(coll_traced *traced, const coll_handle *h,
                                   coll_traced_event *event)
{
    const uint32_t i = coll_i_traced_find(traced, h);
    if (i == COLL_TRACED_FLIGHTS)
        return;
    if (i == traced->flying)
        traced->flying++;
    traced->flights[i].h = h;
    traced->flights[i].event = event;
    traced->flights[i].number = traced->n - 1;
}

/* The event of a flight, if it is there still. */
COLL_INLINE coll_traced_event *coll_i_traced_event_of(const coll_traced *traced, uint32_t i)
{
    return i < traced->flying && traced->n - traced->flights[i].number <= traced->room
               ? traced->flights[i].event
               : NULL;
}

/* The operation with this handle is over. */
COLL_INLINE void coll_i_traced_land(coll_traced *traced, const coll_handle *h,
                                    coll_status status)
{
    const uint32_t i = coll_i_traced_find(traced, h);
    coll_traced_event *event = coll_i_traced_event_of(traced, i);
    if (event) {
        event->end = coll_i_traced_now(traced);
        event->status = status;
    }
    if (i < traced->flying) {
        const coll_i_traced_flight *last = &traced->flights[--traced->flying];
        traced->flights[i].h = last->h;
        traced->flights[i].event = last->event;
        traced->flights[i].number = last->number;
    }
}

/* An operation began, and the inner transport said `status`. */
COLL_INLINE coll_status coll_i_traced_note(coll_traced *traced, const coll_traced_event *what,
                                           coll_status status, const coll_handle *h)
{
    coll_traced_event *event;
    if (status != COLL_OK && status != COLL_STARTED)
        return status;
    event = coll_i_traced_new(traced, what);
    if (status == COLL_OK) {
        event->end = coll_i_traced_now(traced);
        event->status = COLL_OK;
    } else {
        coll_i_traced_fly(traced, h, event);
    }
    return status;
}

#endif /* COLL_TRANSPORTS_TRACED_TRACED_EVENTS_H */
