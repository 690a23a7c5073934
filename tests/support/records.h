/* tests/support/records.h — the records of a transport that a test changes, and calls of its network
 *
 *   coll_transport transport = coll_loopback_transport;
 *   records own;
 *   records_of(&own, &transport);       // those that it has, as copies
 *   own.failure.abort = NULL;
 *   records_use(&own, &transport);      // … which it has from now on, but for those without anything
 */
#ifndef COLL_TESTS_RECORDS_H
#define COLL_TESTS_RECORDS_H

#include <string.h>

#include "coll/transport.h"

typedef struct records {
    coll_zero_copy zero_copy;
    coll_arrival arrival;
    coll_failure failure;
    coll_in_network in_network;
    coll_node_memory node_memory;
    coll_tag_ranges tag_ranges;
    coll_events events;
    coll_registration registration;
    coll_one_sided one_sided;
} records;

static inline void records_of(records *own, const coll_transport *t)
{
    memset(own, 0, sizeof *own);
    if (t->zero_copy)
        own->zero_copy = *t->zero_copy;
    if (t->arrival)
        own->arrival = *t->arrival;
    if (t->failure)
        own->failure = *t->failure;
    if (t->in_network)
        own->in_network = *t->in_network;
    if (t->node_memory)
        own->node_memory = *t->node_memory;
    if (t->tag_ranges)
        own->tag_ranges = *t->tag_ranges;
    if (t->events)
        own->events = *t->events;
    if (t->registration)
        own->registration = *t->registration;
    if (t->one_sided)
        own->one_sided = *t->one_sided;
}

static inline void records_use(const records *own, coll_transport *t)
{
    const coll_zero_copy *z = &own->zero_copy;
    const coll_failure *f = &own->failure;
    const coll_in_network *n = &own->in_network;
    const coll_node_memory *m = &own->node_memory;
    const coll_tag_ranges *r = &own->tag_ranges;
    const coll_events *e = &own->events;
    const coll_registration *k = &own->registration;
    t->zero_copy = z->acquire || z->release ? z : NULL;
    t->arrival = own->arrival.recv_reduce ? &own->arrival : NULL;
    t->failure = f->cancel || f->abort || f->dead ? f : NULL;
    t->in_network = n->multicast || n->reduce || n->ranks ? n : NULL;
    t->node_memory = m->shared || m->enter || m->leave ? m : NULL;
    t->tag_ranges = r->claim || r->unclaim || r->use_step ? r : NULL;
    t->events = e->descriptor || e->arm ? e : NULL;
    t->registration = k->keep || k->forget ? k : NULL;
    t->one_sided = own->one_sided.put ? &own->one_sided : NULL;
}

/* A reduction in the network by a group of which nobody tells who is in it. */
static inline coll_status network_reduce(const coll_transport *t, void *ctx, uint32_t tag,
                                         coll_network_group group, const coll_op *op, void *dst,
                                         const void *src, size_t count, size_t elem_bytes,
                                         coll_handle *h)
{
    coll_network_call call;
    memset(&call, 0, sizeof call);
    call.tag = tag;
    call.group = group;
    call.op = op;
    call.dst = dst;
    call.src = src;
    call.count = count;
    call.elem_bytes = elem_bytes;
    return t->in_network->reduce(ctx, &call, h);
}

#endif /* COLL_TESTS_RECORDS_H */
