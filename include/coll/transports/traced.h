/* coll/transports/traced.h — a transport that notes what goes through another one, and when
 *
 *   static coll_traced_event events[4096];
 *   coll_traced traced;                                  // at a fixed place
 *   const coll_clock clock = {my_nanoseconds, NULL};
 *   status = coll_traced_init(&traced, &coll_threads_transport, ctx, &clock, events, 4096);
 *   status = coll_comm_init(&comm, coll_traced_transport(&traced), &traced, rank, p, memory, bytes);
 *   …
 *   for (uint32_t i = 0; i < coll_traced_kept(&traced); i++)
 *       … coll_traced_at(&traced, i) …                   // oldest first
 *
 * comm/trace_calls.h notes the calls of a communicator as well; lab/sim/real_record.h makes a trace for
 * Perfetto, or a picture, of what all ranks noted.
 *
 * An event is 40 bytes. The caller's memory holds the latest ones: each new one takes the place of the
 * oldest. An operation costs two readings of the clock; tests in which nothing happens cost none. A
 * program that does not wrap its transport pays nothing.
 *
 * What is seen is what a transport is asked to do: messages, and copies and reductions that the transport
 * itself carries out; puts are passed on without a note. A receive lasts from where it was posted to where
 * it was found to be there, or, of a message that is combined where it lies, to where that is done. What
 * this processor copies and combines beside that lies in the gaps.
 *
 * The inner transport, its ctx and the events stay the caller's as long as the traced one. What it can do, and
 * its limits, are the inner one's as they were at coll_traced_init. A traced transport is used by one thread at a
 * time, as the inner one; it must not move. Freestanding.
 */
#ifndef COLL_TRANSPORTS_TRACED_H
#define COLL_TRANSPORTS_TRACED_H

#include "traced/traced_callbacks.h"

/* ---- making one -------------------------------------------------------------------------- */

/* What concerns messages. */
COLL_INLINE void coll_i_traced_offer_messages(coll_traced *traced)
{
    const coll_transport *inner = traced->inner;
    const coll_zero_copy *zero_copy = inner->zero_copy;
    const coll_in_network *network = inner->in_network;
    coll_transport *t = &traced->transport;
    t->send = coll_i_traced_send;
    t->recv = coll_i_traced_recv;
    t->test = coll_i_traced_test;
    t->copy = inner->copy ? coll_i_traced_copy : NULL;
    t->reduce = inner->reduce ? coll_i_traced_reduce : NULL;
    t->wait = inner->wait ? coll_i_traced_wait : NULL;
    t->progress = inner->progress ? coll_i_traced_progress : NULL;
    t->tags = inner->tags;
    t->max_bytes = inner->max_bytes;
    t->unsegmented = inner->unsegmented;
    t->whole_from = inner->whole_from;
    t->one_sided = NULL; /* what nobody would note */
    traced->zero_copy.acquire = coll_i_traced_acquire;
    traced->zero_copy.release = coll_i_traced_release;
    traced->zero_copy.read = zero_copy && zero_copy->read ? coll_i_traced_read : NULL;
    traced->zero_copy.max_bytes = zero_copy ? zero_copy->max_bytes : 0;
    traced->zero_copy.part_bytes = zero_copy ? zero_copy->part_bytes : 0;
    traced->zero_copy.reads = zero_copy ? zero_copy->reads : 0;
    t->zero_copy = zero_copy ? &traced->zero_copy : NULL;
    traced->arrival.recv_reduce = coll_i_traced_recv_reduce;
    t->arrival = inner->arrival ? &traced->arrival : NULL;
    traced->network.multicast = network && network->multicast ? coll_i_traced_multicast : NULL;
    traced->network.reduce = network && network->reduce ? coll_i_traced_network_reduce : NULL;
    traced->network.ranks = network && network->ranks ? coll_i_traced_ranks : NULL;
    traced->network.max_bytes = network ? network->max_bytes : 0;
    t->in_network = network ? &traced->network : NULL;
}

/* … and the rest. */
COLL_INLINE void coll_i_traced_offer(coll_traced *traced)
{
    const coll_transport *inner = traced->inner;
    const coll_failure *failure = inner->failure;
    const coll_tag_ranges *ranges = inner->tag_ranges;
    coll_transport *t = &traced->transport;
    coll_i_traced_offer_messages(traced);
    traced->failure.cancel = failure && failure->cancel ? coll_i_traced_cancel : NULL;
    traced->failure.abort = failure && failure->abort ? coll_i_traced_abort : NULL;
    traced->failure.dead = failure && failure->dead ? coll_i_traced_dead : NULL;
    traced->failure.outlive = failure && failure->outlive ? coll_i_traced_outlive : NULL;
    t->failure = failure ? &traced->failure : NULL;
    traced->memory.shared = coll_i_traced_shared;
    traced->memory.enter = coll_i_traced_enter;
    traced->memory.leave = coll_i_traced_leave;
    traced->memory.nodes =
        inner->node_memory && inner->node_memory->nodes ? coll_i_traced_nodes : NULL;
    t->node_memory = inner->node_memory ? &traced->memory : NULL;
    traced->tag_ranges.claim = ranges && ranges->claim ? coll_i_traced_claim : NULL;
    traced->tag_ranges.unclaim = ranges && ranges->unclaim ? coll_i_traced_unclaim : NULL;
    traced->tag_ranges.misfit = ranges && ranges->misfit ? coll_i_traced_misfit : NULL;
    traced->tag_ranges.use_step = ranges ? ranges->use_step : 0;
    t->tag_ranges = ranges ? &traced->tag_ranges : NULL;
    traced->routes.to = coll_i_traced_route;
    t->routes = inner->routes ? &traced->routes : NULL;
    traced->sleeping.descriptor = coll_i_traced_descriptor;
    traced->sleeping.arm = coll_i_traced_arm;
    t->events = inner->events ? &traced->sleeping : NULL;
    traced->registration.keep = coll_i_traced_keep;
    traced->registration.forget = coll_i_traced_forget;
    t->registration = inner->registration ? &traced->registration : NULL;
    traced->one_sided.expose = coll_i_traced_expose;
    traced->one_sided.withdraw = coll_i_traced_withdraw;
    traced->one_sided.put = coll_i_traced_put;
    traced->one_sided.count = coll_i_traced_count;
    traced->one_sided.regions = inner->one_sided ? inner->one_sided->regions : 0;
    traced->one_sided.counters = inner->one_sided ? inner->one_sided->counters : 0;
    t->one_sided = inner->one_sided ? &traced->one_sided : NULL;
}

/* Wraps a transport, so that its latest `room` operations are noted in `events`, with times of a clock that never
 * goes back, in its unit. COLL_ERR_NULL: no clock, or no events; COLL_ERR_TRANSPORT: the inner one is not whole. */
COLL_INLINE coll_status coll_traced_init(coll_traced *traced, const coll_transport *inner,
                                         void *ctx, const coll_clock *clock,
                                         coll_traced_event *events, uint32_t room)
{
    coll_status status;
    if (!traced || !clock || !clock->now || !events || room == 0)
        return COLL_ERR_NULL;
    status = coll_transport_check(inner);
    if (status != COLL_OK)
        return status;
    traced->inner = inner;
    traced->ctx = ctx;
    traced->clock.now = clock->now;
    traced->clock.arg = clock->arg;
    traced->events = events;
    traced->room = room;
    traced->n = 0;
    traced->at = traced->flying = 0;
    coll_i_traced_offer(traced);
    return COLL_OK;
}

/* The table of a traced transport, which is the ctx. */
COLL_INLINE const coll_transport *coll_traced_transport(const coll_traced *traced)
{
    return &traced->transport;
}

/* ---- calls, and what was noted ----------------------------------------------------------- */

/* A call begins, whose messages have this tag: COLL_COLLECTIVES for a part of the program that is none. Returns
 * its number, for coll_traced_end. */
COLL_INLINE uint64_t coll_traced_begin(coll_traced *traced, coll_collective which, uint32_t tag,
                                       uint64_t bytes)
{
    coll_traced_event what;
    coll_i_traced_begins(traced, &what, COLL_TRACED_CALL, COLL_RANK_NONE, tag, bytes);
    what.which = (uint16_t)which;
    (void)coll_i_traced_new(traced, &what);
    return traced->n - 1;
}

/* The call of this number is over, with a status. Has no effect if newer events took its place. */
COLL_INLINE void coll_traced_end(coll_traced *traced, uint64_t number, coll_status status)
{
    const uint64_t back = traced->n - number;
    coll_traced_event *event;
    if (back == 0 || back > traced->room)
        return;
    event = &traced->events[traced->at >= back ? traced->at - (uint32_t)back
                                               : traced->at + (traced->room - (uint32_t)back)];
    event->end = coll_i_traced_now(traced);
    event->status = status;
}

/* How many events are there. */
COLL_INLINE uint32_t coll_traced_kept(const coll_traced *traced)
{
    return traced->n < traced->room ? (uint32_t)traced->n : traced->room;
}

/* Event i of those that are there, of which 0 is the one that began first. */
COLL_INLINE const coll_traced_event *coll_traced_at(const coll_traced *traced, uint32_t i)
{
    const uint32_t first = traced->n < traced->room ? 0 : traced->at;
    const uint32_t left = traced->room - first; /* up to the end of the memory */
    return &traced->events[i < left ? first + i : i - left];
}

/* Forgets all that was noted. What is in flight goes on, and its ends are not noted. */
COLL_INLINE void coll_traced_clear(coll_traced *traced)
{
    traced->n = 0;
    traced->at = traced->flying = 0;
}

#endif /* COLL_TRANSPORTS_TRACED_H */
