/* tests/support/faulty.h — transports that break the contract of transport.h, each in one way
 *
 *   for (uint32_t i = 0; i < FAULTS; i++) {
 *       coll_transport broken;
 *       records own;
 *       faulty_make(&broken, &own, &faults[i]);   // over faulty_world, whose ends are the ctx
 *       …
 *   }
 *
 * Each is loopback with one or two callbacks in whose stead a worse one comes, so it knows what lies in
 * the entries of the world. loopback itself neither copies nor reduces; the others do.
 */
#ifndef COLL_TESTS_FAULTY_H
#define COLL_TESTS_FAULTY_H

#include <string.h>

#include "coll/transports/conformance.h"
#include "coll/transports/loopback.h"
#include "faulty_puts.h"
#include "records.h"

enum { FAULTY_RANKS = 3, FAULTY_MESSAGES = 1024, FAULTY_LONGEST = 4096 };

static coll_loopback faulty_world;
static const coll_transport *const faulty_inner = &coll_loopback_transport;

/* A message that is combined when it has come. */
typedef struct faulty_arrival {
    coll_arrival_call call;
    unsigned char message[FAULTY_LONGEST];
    bool used;
} faulty_arrival;

/* What faults remember. */
static struct {
    bool fired;
    uint32_t posted[FAULTY_RANKS]
                   [FAULTY_RANKS]; /* receives in flight, by source and destination */
    uint32_t calls;                /* of rank 0 */
    uint32_t at[FAULTY_MESSAGES];  /* when messages were sent */
    coll_i_loop_entry *zombie;
    coll_handle *handle;
    unsigned char stale[2][FAULTY_LONGEST];
    coll_op swapped;
    uint32_t armed[FAULTY_RANKS]; /* messages that were due when it was armed */
    coll_claims claims[FAULTY_RANKS];
    uint32_t keeps, kept;           /* ranges that were kept, and that are */
    const unsigned char *forgotten; /* memory that is of no use any more, … */
    size_t forgotten_bytes;         /* … and how much */
    faulty_arrival arrivals[FAULTY_MESSAGES];
} faulty;

static coll_i_loop_entry *faulty_entry(const coll_handle *h)
{
    return &faulty_world.entries[h->word[0]];
}

static bool faulty_receives(const coll_handle *h)
{
    return faulty_entry(h)->state == COLL_I_LOOP_RECEIVE;
}

/* The oldest message of an entry's channel. */
static coll_i_loop_entry *faulty_first(const coll_i_loop_entry *e)
{
    const uint32_t i = coll_i_loop_find(&faulty_world, e->src, e->dst, e->tag);
    return i == COLL_RANK_NONE ? NULL : &faulty_world.entries[i];
}

/* … and the next one. */
static coll_i_loop_entry *faulty_second(const coll_i_loop_entry *e)
{
    const coll_i_loop_entry *first = faulty_first(e);
    for (uint32_t i = first ? first->next : COLL_RANK_NONE; i != COLL_RANK_NONE;
         i = faulty_world.entries[i].next) {
        coll_i_loop_entry *its = &faulty_world.entries[i];
        if (its->src == e->src && its->dst == e->dst && its->tag == e->tag)
            return its;
    }
    return NULL;
}

static uint32_t faulty_flying(void)
{
    return FAULTY_MESSAGES - faulty_world.n_free;
}

/* ---- sound ------------------------------------------------------------------------------- */

static coll_status sound_copy(void *ctx, void *dst, const void *src, size_t bytes,
                              coll_handle *h)
{
    (void)ctx, (void)h;
    memcpy(dst, src, bytes);
    return COLL_OK;
}

static coll_status sound_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    (void)ctx, (void)h;
    call->op->combine(call->dst, call->a, call->b, call->count, call->op->arg);
    return COLL_OK;
}

/* Messages for a rank that its receives in flight are waiting for. */
static uint32_t faulty_due(uint32_t rank)
{
    uint32_t due = 0;
    for (uint32_t i = 0; i < FAULTY_MESSAGES; i++) {
        const coll_i_loop_entry *e = &faulty_world.entries[i];
        due += e->state == COLL_I_LOOP_RECEIVE && e->dst == rank && faulty_first(e) != NULL;
    }
    return due;
}

/* Its descriptors are the ranks, as faulty_readable knows; others are of faults. */
enum { FAULTY_SILENT = 100, FAULTY_FORGETFUL = 200 };

static int sound_descriptor(void *ctx)
{
    return (int)((const coll_loopback_rank *)ctx)->rank;
}

static coll_status sound_arm(void *ctx)
{
    return faulty_due(((const coll_loopback_rank *)ctx)->rank) ? COLL_AGAIN : COLL_OK;
}

static bool faulty_readable(int descriptor)
{
    const uint32_t number = (uint32_t)descriptor;
    if (number >= FAULTY_FORGETFUL)
        return faulty_due(number - FAULTY_FORGETFUL) > faulty.armed[number - FAULTY_FORGETFUL];
    return number < FAULTY_SILENT && faulty_due(number) > 0;
}

static void sound_keep(void *ctx, const void *memory, size_t bytes, bool writes)
{
    (void)ctx, (void)memory, (void)bytes, (void)writes;
    faulty.keeps++;
    faulty.kept++;
}

static void sound_forget(void *ctx, const void *memory, size_t bytes, bool writes)
{
    (void)ctx, (void)memory, (void)bytes, (void)writes;
    faulty.kept--;
}

/* Room for a few messages at once. */
static coll_status narrow_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                               size_t bytes, coll_handle *h)
{
    uint32_t queued = 0;
    for (uint32_t i = 0; i < FAULTY_MESSAGES; i++)
        queued += faulty_world.entries[i].state == COLL_I_LOOP_QUEUED;
    return queued > 30 ? COLL_AGAIN : faulty_inner->send(ctx, peer, tag, buf, bytes, h);
}

static coll_status refusing_acquire(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                                    const void **message, coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)bytes, (void)message, (void)h;
    return COLL_ERR_CAPABILITY;
}

static coll_status refusing_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    (void)ctx, (void)call, (void)h;
    return COLL_ERR_CAPABILITY;
}

static coll_status refusing_network_reduce(void *ctx, const coll_network_call *call,
                                           coll_handle *h)
{
    (void)ctx, (void)call, (void)h;
    return COLL_ERR_CAPABILITY;
}

/* A message is received, and combined when it has come: what for, the handle's second word says. */
static coll_status sound_recv_reduce(void *ctx, const coll_arrival_call *call, coll_handle *h)
{
    const size_t bytes = call->count * call->elem_bytes;
    faulty_arrival *its = NULL;
    coll_status status;
    for (uint32_t i = 0; i < FAULTY_MESSAGES && !its; i++)
        its = faulty.arrivals[i].used ? NULL : &faulty.arrivals[i];
    its->call = *call;
    status = faulty_inner->recv(ctx, call->peer, call->tag, its->message, bytes, h);
    its->used = status == COLL_STARTED;
    h->word[1] = (uintptr_t)its;
    return status;
}

static coll_status arriving_test(void *ctx, coll_handle *h)
{
    faulty_arrival *its = (faulty_arrival *)h->word[1];
    const coll_status status = faulty_inner->test(ctx, h);
    if (status == COLL_OK && its) {
        const coll_arrival_call *call = &its->call;
        call->op->combine(call->dst, call->left ? its->message : call->operand,
                          call->left ? call->operand : its->message, call->count,
                          call->op->arg);
        its->used = false;
    }
    return status;
}

static coll_status refusing_recv_reduce(void *ctx, const coll_arrival_call *call,
                                        coll_handle *h)
{
    (void)ctx, (void)call, (void)h;
    return COLL_ERR_CAPABILITY;
}

/* ---- messages ---------------------------------------------------------------------------- */

static coll_status garbage_test(void *ctx, coll_handle *h)
{
    const coll_status status = faulty_inner->test(ctx, h);
    return status == COLL_AGAIN ? COLL_STARTED : status;
}

static coll_status short_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h);
    unsigned char *last =
        faulty_receives(h) && e->bytes ? (unsigned char *)e->into + e->bytes - 1 : NULL;
    const unsigned char before = last ? *last : 0;
    const coll_status status = faulty_inner->test(ctx, h);
    if (status == COLL_OK && last)
        *last = before;
    return status;
}

/* Swaps two messages that are there. */
static void faulty_swap(const coll_i_loop_entry *e)
{
    coll_i_loop_entry *first = faulty_first(e), *second = faulty_second(e);
    if (second && !faulty.fired && first->bytes == second->bytes) {
        const void *buf = first->buf;
        first->buf = second->buf;
        second->buf = buf;
        faulty.fired = true;
    }
}

static coll_status reordering_test(void *ctx, coll_handle *h)
{
    if (faulty_receives(h))
        faulty_swap(faulty_entry(h));
    return faulty_inner->test(ctx, h);
}

/* A receive looks for its message at once, whether or not an older one waits. */
static coll_status hasty_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                              coll_handle *h)
{
    const coll_status status = faulty_inner->recv(ctx, peer, tag, buf, bytes, h);
    if (status != COLL_STARTED || faulty_inner->test(ctx, h) != COLL_OK)
        return status;
    return COLL_OK;
}

static coll_status counted_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    const coll_status status = faulty_inner->recv(ctx, peer, tag, buf, bytes, h);
    if (status == COLL_STARTED)
        faulty.posted[peer][((coll_loopback_rank *)ctx)->rank]++;
    return status;
}

static coll_status counted_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h);
    const bool receives = faulty_receives(h);
    const uint32_t src = e->src, dst = e->dst;
    const coll_status status = faulty_inner->test(ctx, h);
    if (receives && status == COLL_OK)
        faulty.posted[src][dst]--;
    return status;
}

/* The youngest receive first. */
static coll_status youngest_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h);
    if (faulty_receives(h) && faulty.posted[e->src][e->dst] > 2)
        faulty_swap(e);
    return counted_test(ctx, h);
}

static coll_status waiting_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    return faulty.posted[((coll_loopback_rank *)ctx)->rank][peer] == 0
               ? COLL_AGAIN
               : faulty_inner->send(ctx, peer, tag, buf, bytes, h);
}

static coll_status long_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h);
    unsigned char *into =
        faulty_receives(h) && e->bytes > 1000 ? (unsigned char *)e->into : NULL;
    const coll_status status = faulty_inner->test(ctx, h);
    if (status == COLL_OK && into)
        into[1000] = 7;
    return status;
}

static coll_status null_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                             size_t bytes, coll_handle *h)
{
    return buf ? faulty_inner->send(ctx, peer, tag, buf, bytes, h) : COLL_ERR_NULL;
}

static coll_status beyond_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h);
    unsigned char *end =
        faulty_receives(h) && e->into ? (unsigned char *)e->into + e->bytes : NULL;
    const coll_status status = faulty_inner->test(ctx, h);
    if (status == COLL_OK && end)
        *end ^= 1;
    return status;
}

static coll_status writing_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h);
    unsigned char *buf =
        !faulty_receives(h) && e->bytes ? (unsigned char *)(uintptr_t)e->buf : NULL;
    const coll_status status = faulty_inner->test(ctx, h);
    if (status == COLL_OK && buf)
        *buf ^= 1;
    return status;
}

/* Says that it is done, and reads the buffer when the message is received. */
static coll_status late_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                             size_t bytes, coll_handle *h)
{
    coll_handle lost = *h;
    const coll_status status = faulty_inner->send(ctx, peer, tag, buf, bytes, &lost);
    return status == COLL_STARTED ? COLL_OK : status;
}

static coll_status scribbling_test(void *ctx, coll_handle *h)
{
    coll_status status;
    if (faulty.handle)
        faulty.handle->word[1] = 7;
    status = faulty_inner->test(ctx, h);
    faulty.handle = status == COLL_OK ? h : NULL;
    return status;
}

static coll_status twice_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                              size_t bytes, coll_handle *h)
{
    if (faulty_flying() > 100 && !faulty.fired) {
        coll_handle lost = *h;
        faulty.fired = true;
        (void)faulty_inner->send(ctx, peer, tag, buf, bytes, &lost);
        return COLL_AGAIN;
    }
    return faulty_inner->send(ctx, peer, tag, buf, bytes, h);
}

static coll_status shallow_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    return faulty_flying() > 300 ? COLL_ERR_MEMORY
                                 : faulty_inner->recv(ctx, peer, tag, buf, bytes, h);
}

static coll_status folding_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    return faulty_inner->send(ctx, peer, tag == COLL_CLAIM_ALL - 1 ? 0 : tag, buf, bytes, h);
}

static coll_status folding_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    return faulty_inner->recv(ctx, peer, tag == COLL_CLAIM_ALL - 1 ? 0 : tag, buf, bytes, h);
}

/* Several messages of other tags that are not received yet hold up those of this one. */
static coll_status held_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h);
    uint32_t others = 0;
    for (uint32_t i = 0; i < FAULTY_MESSAGES; i++) {
        const coll_i_loop_entry *its = &faulty_world.entries[i];
        others += its->state == COLL_I_LOOP_QUEUED && its->src == e->src &&
                  its->dst == e->dst && its->tag != e->tag;
    }
    return faulty_receives(h) && others > 4 && faulty.posted[e->src][e->dst] == 1
               ? COLL_AGAIN
               : counted_test(ctx, h);
}

/* All messages go through rank 0, which moves them on when it calls. */
static coll_status star_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                             size_t bytes, coll_handle *h)
{
    const coll_status status = faulty_inner->send(ctx, peer, tag, buf, bytes, h);
    faulty.calls += ((coll_loopback_rank *)ctx)->rank == 0;
    if (status == COLL_STARTED)
        faulty.at[h->word[0]] = faulty.calls;
    return status;
}

static coll_status star_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h), *first = faulty_first(e);
    faulty.calls += ((coll_loopback_rank *)ctx)->rank == 0;
    if (faulty_receives(h) && first && e->src && e->dst &&
        faulty.at[first - faulty_world.entries] == faulty.calls)
        return COLL_AGAIN;
    return faulty_inner->test(ctx, h);
}

/* ---- what may be there ------------------------------------------------------------------- */

static coll_status short_copy(void *ctx, void *dst, const void *src, size_t bytes,
                              coll_handle *h)
{
    return sound_copy(ctx, dst, src, bytes ? bytes - 1 : 0, h);
}

static coll_status swapping_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    coll_reduce_call swapped = *call;
    swapped.a = call->b;
    swapped.b = call->a;
    return sound_reduce(ctx, &swapped, h);
}

/* Writes dst before it has read b. */
static coll_status careless_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    coll_reduce_call later = *call;
    memmove(call->dst, call->a, call->count * call->elem_bytes);
    later.a = call->dst;
    return sound_reduce(ctx, &later, h);
}

static coll_status stale_acquire(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                                 const void **message, coll_handle *h)
{
    const coll_status status =
        faulty_inner->zero_copy->acquire(ctx, peer, tag, bytes, message, h);
    if (status == COLL_OK && ((coll_loopback_rank *)ctx)->rank == 0) {
        memcpy(faulty.stale[faulty.fired], *message, bytes);
        *message = faulty.stale[0];
        faulty.fired = true;
    }
    return status;
}

static coll_status any_size_acquire(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                                    const void **message, coll_handle *h)
{
    const uint32_t rank = ((coll_loopback_rank *)ctx)->rank;
    const uint32_t i = coll_i_loop_find(&faulty_world, peer, rank, tag);
    if (i != COLL_RANK_NONE)
        faulty_world.entries[i].bytes = bytes;
    return faulty_inner->zero_copy->acquire(ctx, peer, tag, bytes, message, h);
}

static coll_status missing_multicast(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                     coll_handle *h)
{
    const coll_status status = faulty_inner->in_network->multicast(ctx, tag, buf, bytes, h);
    for (uint32_t i = (uint32_t)h->word[0]; i != COLL_RANK_NONE;
         i = faulty_world.entries[i].chain)
        if (faulty_world.entries[i].dst == FAULTY_RANKS - 1) {
            coll_i_loop_dequeue(&faulty_world, i);
            faulty_world.entries[i].state = COLL_I_LOOP_DONE;
        }
    return status;
}

static void swapped_combine(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    const coll_op *op = (const coll_op *)arg;
    op->combine(dst, b, a, count, op->arg);
}

static coll_status swapping_network_reduce(void *ctx, const coll_network_call *call,
                                           coll_handle *h)
{
    coll_network_call swapped = *call;
    faulty.swapped.combine = swapped_combine;
    faulty.swapped.arg = (void *)(uintptr_t)call->op;
    swapped.op = &faulty.swapped;
    return faulty_inner->in_network->reduce(ctx, &swapped, h);
}

/* ---- failures ---------------------------------------------------------------------------- */

static void writing_cancel(void *ctx, coll_handle *h)
{
    if (faulty_receives(h))
        faulty.zombie = faulty_entry(h);
    else
        faulty_inner->failure->cancel(ctx, h);
}

static coll_status zombie_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *first = faulty.zombie ? faulty_first(faulty.zombie) : NULL;
    if (first) {
        memcpy(faulty.zombie->into, first->buf, first->bytes);
        faulty.zombie = NULL;
    }
    return faulty_inner->test(ctx, h);
}

static void reading_cancel(void *ctx, coll_handle *h)
{
    if (faulty_receives(h))
        faulty_inner->failure->cancel(ctx, h);
}

static coll_status forgetting_test(void *ctx, coll_handle *h)
{
    const bool receives = faulty_receives(h);
    const coll_status status = faulty_inner->test(ctx, h);
    return receives && status == COLL_ERR_PEER ? COLL_AGAIN : status;
}

static coll_status io_test(void *ctx, coll_handle *h)
{
    const coll_status status = faulty_inner->test(ctx, h);
    return status == COLL_ERR_PEER ? COLL_ERR_IO : status;
}

static void wide_abort(void *ctx, uint32_t first, uint32_t tags)
{
    faulty_inner->failure->abort(ctx, first, tags + 1);
}

static coll_status any_size_test(void *ctx, coll_handle *h)
{
    coll_i_loop_entry *e = faulty_entry(h), *first = faulty_first(e);
    if (faulty_receives(h) && first && first->bytes != e->bytes) {
        const size_t bytes = first->bytes < e->bytes ? first->bytes : e->bytes;
        memcpy(e->into, first->buf, bytes);
        e->bytes = first->bytes;
        e->into = faulty.stale;
    }
    return faulty_inner->test(ctx, h);
}

/* Waits for the rest of a message that is too short. */
static coll_status rest_test(void *ctx, coll_handle *h)
{
    const coll_i_loop_entry *e = faulty_entry(h), *first = faulty_first(e);
    return faulty_receives(h) && first && first->bytes < e->bytes ? COLL_AGAIN
                                                                  : faulty_inner->test(ctx, h);
}

/* ---- arrivals, tags ---------------------------------------------------------------------- */

static coll_status swapping_recv_reduce(void *ctx, const coll_arrival_call *call,
                                        coll_handle *h)
{
    coll_arrival_call swapped = *call;
    swapped.left = false;
    return sound_recv_reduce(ctx, &swapped, h);
}

/* Takes what comes, whatever it is for. */
static coll_status any_size_arriving_test(void *ctx, coll_handle *h)
{
    coll_i_loop_entry *e = faulty_entry(h), *first = faulty_first(e);
    if (h->word[1] && faulty_receives(h) && first && first->bytes < e->bytes)
        e->bytes = first->bytes;
    return arriving_test(ctx, h);
}

static bool hasty_dead(void *ctx, uint32_t peer)
{
    return ((coll_loopback_rank *)ctx)->rank != peer;
}

static coll_status useless_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    return faulty_inner->send(ctx, peer, coll_claim_tag(tag), buf, bytes, h);
}

static coll_status useless_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    return faulty_inner->recv(ctx, peer, coll_claim_tag(tag), buf, bytes, h);
}

static void wrong_misfit(void *ctx, coll_misfit *its)
{
    faulty_inner->tag_ranges->misfit(ctx, its);
    its->bytes++;
}

static void forgetful_misfit(void *ctx, coll_misfit *its)
{
    faulty_inner->tag_ranges->misfit(ctx, its);
    its->its_tag = its->tag;
}

static coll_status same_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    (void)ctx;
    *first = 7;
    *tags = COLL_CLAIM_TAGS;
    return COLL_OK;
}

static coll_status own_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    const coll_status status = faulty_inner->tag_ranges->claim(ctx, first, tags);
    *first += ((coll_loopback_rank *)ctx)->rank;
    return status;
}

static void keep_dirt(void *ctx, uint32_t range)
{
    (void)ctx, (void)range;
}

static coll_status dirty_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    return coll_claims_take(&faulty.claims[((coll_loopback_rank *)ctx)->rank], keep_dirt, ctx,
                            first, tags);
}

static void dirty_unclaim(void *ctx, uint32_t first)
{
    coll_claims_give(&faulty.claims[((coll_loopback_rank *)ctx)->rank],
                     coll_claim_range(first));
}

/* Gives nothing back. */
static void no_unclaim(void *ctx, uint32_t first)
{
    (void)ctx, (void)first;
}

/* ---- the list ---------------------------------------------------------------------------- */

typedef struct faulty_fault {
    const char *name;
    coll_conformance_check check; /* finds it, and no other does, as it is the last that runs */
    const char *sentence;
    coll_status (*send)(void *, uint32_t, uint32_t, const void *, size_t, coll_handle *);
    coll_status (*recv)(void *, uint32_t, uint32_t, void *, size_t, coll_handle *);
    coll_status (*test)(void *, coll_handle *);
    void (*set)(coll_transport *transport, records *own); /* any other callback */
} faulty_fault;

static void set_alone(coll_transport *t, records *own)
{
    (void)t;
    own->zero_copy.release = NULL;
}

static void set_copy(coll_transport *t, records *own)
{
    (void)own;
    t->copy = short_copy;
}

static void set_reduce(coll_transport *t, records *own)
{
    (void)own;
    t->reduce = swapping_reduce;
}

static void set_careless(coll_transport *t, records *own)
{
    (void)own;
    t->reduce = careless_reduce;
}

static void set_acquire(coll_transport *t, records *own)
{
    (void)t;
    own->zero_copy.acquire = stale_acquire;
}

static void set_any_size(coll_transport *t, records *own)
{
    (void)t;
    own->zero_copy.acquire = any_size_acquire;
}

static void set_multicast(coll_transport *t, records *own)
{
    (void)t;
    own->in_network.multicast = missing_multicast;
}

static void set_network_reduce(coll_transport *t, records *own)
{
    (void)t;
    own->in_network.reduce = swapping_network_reduce;
}

static void set_writing(coll_transport *t, records *own)
{
    (void)t;
    own->failure.cancel = writing_cancel;
}

static void set_reading(coll_transport *t, records *own)
{
    (void)t;
    own->failure.cancel = reading_cancel;
}

static void set_wide(coll_transport *t, records *own)
{
    (void)t;
    own->failure.abort = wide_abort;
}

static void set_swapping_arrival(coll_transport *t, records *own)
{
    t->test = arriving_test;
    own->arrival.recv_reduce = swapping_recv_reduce;
}

/* Its test knows nothing of it. */
static void set_idle_arrival(coll_transport *t, records *own)
{
    (void)t;
    own->arrival.recv_reduce = sound_recv_reduce;
}

static void set_any_size_arrival(coll_transport *t, records *own)
{
    t->test = any_size_arriving_test;
    own->arrival.recv_reduce = sound_recv_reduce;
}

static void set_dead(coll_transport *t, records *own)
{
    (void)t;
    own->failure.dead = hasty_dead;
}

static void set_misfit(coll_transport *t, records *own)
{
    (void)t;
    own->tag_ranges.misfit = wrong_misfit;
}

static void set_forgetful(coll_transport *t, records *own)
{
    (void)t;
    own->tag_ranges.misfit = forgetful_misfit;
}

static void set_same(coll_transport *t, records *own)
{
    (void)t;
    own->tag_ranges.claim = same_claim;
}

static void set_own(coll_transport *t, records *own)
{
    (void)t;
    own->tag_ranges.claim = own_claim;
}

static void set_dirty(coll_transport *t, records *own)
{
    (void)t;
    own->tag_ranges.claim = dirty_claim;
    own->tag_ranges.unclaim = dirty_unclaim;
}

static void set_greedy(coll_transport *t, records *own)
{
    (void)t;
    own->tag_ranges.unclaim = no_unclaim;
}

/* A descriptor that nobody writes to. */
static int silent_descriptor(void *ctx)
{
    return FAULTY_SILENT + sound_descriptor(ctx);
}

static void set_silent(coll_transport *t, records *own)
{
    (void)t;
    own->events.descriptor = silent_descriptor;
}

/* What has come before is forgotten: the descriptor is readable of what comes later. */
static int forgetful_descriptor(void *ctx)
{
    return FAULTY_FORGETFUL + sound_descriptor(ctx);
}

static coll_status forgetful_arm(void *ctx)
{
    const uint32_t rank = ((const coll_loopback_rank *)ctx)->rank;
    faulty.armed[rank] = faulty_due(rank);
    return COLL_OK;
}

static void set_forgetful_arm(coll_transport *t, records *own)
{
    (void)t;
    own->events.descriptor = forgetful_descriptor;
    own->events.arm = forgetful_arm;
}

static coll_status failing_arm(void *ctx)
{
    (void)ctx;
    return COLL_ERR_IO;
}

static void set_failing_arm(coll_transport *t, records *own)
{
    (void)t;
    own->events.arm = failing_arm;
}

/* Pages come into memory by a write. */
static void touching_keep(void *ctx, const void *memory, size_t bytes, bool writes)
{
    (void)ctx, (void)bytes;
    if (writes)
        *(unsigned char *)(uintptr_t)memory = 0;
}

static void set_touching(coll_transport *t, records *own)
{
    (void)t;
    own->registration.keep = touching_keep;
}

/* What is forgotten is taken from operations in flight. */
static void hasty_forget(void *ctx, const void *memory, size_t bytes, bool writes)
{
    (void)ctx;
    if (!writes)
        return;
    faulty.forgotten = memory;
    faulty.forgotten_bytes = bytes;
}

static coll_status forgotten_test(void *ctx, coll_handle *h)
{
    if (faulty.forgotten && faulty_receives(h) &&
        (uintptr_t)faulty_entry(h)->into - (uintptr_t)faulty.forgotten < faulty.forgotten_bytes)
        return COLL_ERR_IO;
    return faulty_inner->test(ctx, h);
}

static void set_miser(coll_transport *t, records *own)
{
    (void)t;
    own->registration.forget = NULL;
}

static void set_hasty_forget(coll_transport *t, records *own)
{
    (void)t;
    own->registration.forget = hasty_forget;
}

static const faulty_fault faults[] = {
    {"puts a byte too few", COLL_CONFORMANCE_PUTS,
     "rank 1, what is put of 16 bytes by rank 0, tag 0, message 0: byte 15 was not written",
     NULL, NULL, NULL, set_put_cut},
    {"counts a put twice", COLL_CONFORMANCE_PUTS, "rank 0: counter 0 is 16 after 8 puts to it",
     NULL, NULL, NULL, set_put_twice},
    {"puts in another order", COLL_CONFORMANCE_PUTS,
     "rank 1, what is put of 16 bytes by rank 0, tag 0, message 0: byte 0 was not written",
     NULL, NULL, NULL, set_put_late},
    {"reads what is put when that is over", COLL_CONFORMANCE_PUTS,
     "rank 1, what is put of 16 bytes by rank 0, tag 0, message 0: what the sender wrote to "
     "its buffer after its send was over came instead",
     NULL, NULL, NULL, set_put_later},
    {"puts beyond a region", COLL_CONFORMANCE_PUTS,
     "rank 1, what is put of 16 bytes by rank 0, tag 0, message 0: byte 0 behind its buffer "
     "was written",
     NULL, NULL, NULL, set_put_anywhere},
    {"counts a put that leads astray", COLL_CONFORMANCE_PUTS,
     "rank 0: counter 1 is 1 after 0 puts to it", NULL, NULL, NULL, set_put_counts_elsewhere},
    {"counts after an abort", COLL_CONFORMANCE_PUTS,
     "rank 2, what is put of 16 bytes by rank 1, tag 0, message 0: nothing has moved for 501 "
     "rounds",
     NULL, NULL, NULL, set_count_after_an_abort},
    {"keeps a region that is withdrawn", COLL_CONFORMANCE_PUTS,
     "rank 0: expose ended with \"the request is not in the state that this call needs\"", NULL,
     NULL, NULL, set_withdraw_not},
    {"puts and does not count", COLL_CONFORMANCE_CALLBACKS,
     "rank 0: coll_transport_check says \"the transport lacks send, recv or test\"", NULL, NULL,
     NULL, set_put_missing},
    {"writes to what it keeps", COLL_CONFORMANCE_KEPT,
     "rank 2, send of 16 bytes to rank 0, tag 0, message 0: bytes in front of its buffer were "
     "written",
     NULL, NULL, NULL, set_touching},
    {"forgets what is in flight", COLL_CONFORMANCE_KEPT,
     "rank 2, recv of 16 bytes from rank 1, tag 0, message 0: it ended with \"the transport "
     "failed\" instead of \"done\"",
     NULL, NULL, forgotten_test, set_hasty_forget},
    {"keeps and never forgets", COLL_CONFORMANCE_CALLBACKS,
     "rank 0: coll_transport_check says \"the transport lacks send, recv or test\"", NULL, NULL,
     NULL, set_miser},
    {"a silent descriptor", COLL_CONFORMANCE_EVENTS,
     "rank 0, recv of 16 bytes from rank 1, tag 1, message 0: it had come, arm said COLL_OK, "
     "and the descriptor was not readable",
     NULL, NULL, NULL, set_silent},
    {"arm forgets what has come", COLL_CONFORMANCE_EVENTS,
     "rank 0, recv of 16 bytes from rank 1, tag 1, message 0: it had come, arm said COLL_OK, "
     "and the descriptor was not readable",
     NULL, NULL, NULL, set_forgetful_arm},
    {"arm fails", COLL_CONFORMANCE_EVENTS,
     "rank 0, recv of 16 bytes from rank 1, tag 1, message 0: arm, while it is in flight, "
     "returned \"the transport failed\"",
     NULL, NULL, NULL, set_failing_arm},
    {"acquires and never releases", COLL_CONFORMANCE_CALLBACKS,
     "rank 0: coll_transport_check says \"the transport lacks send, recv or test\"", NULL, NULL,
     NULL, set_alone},
    {"test says COLL_STARTED", COLL_CONFORMANCE_DELIVERY,
     "rank 0, send of 16 bytes to rank 1, tag 0, message 0: test returned 2, which it never "
     "does",
     NULL, NULL, garbage_test, NULL},
    {"drops the last byte", COLL_CONFORMANCE_DELIVERY,
     "rank 0, recv of 16 bytes from rank 2, tag 0, message 0: byte 15 was not written", NULL,
     NULL, short_test, NULL},
    {"reorders two messages", COLL_CONFORMANCE_ORDER,
     "rank 0, recv of 16 bytes from rank 2, tag 0, message 0: message 1 came instead", NULL,
     NULL, reordering_test, NULL},
    {"the youngest receive first", COLL_CONFORMANCE_MATCHING,
     "rank 2, recv of 16 bytes from rank 1, tag 1, message 0: message 1 came instead", NULL,
     counted_recv, youngest_test, NULL},
    {"a new receive first", COLL_CONFORMANCE_MATCHING,
     "rank 0, recv of 16 bytes from rank 2, tag 1, message 1: message 0 came instead", NULL,
     hasty_recv, NULL, NULL},
    {"long messages have a hole", COLL_CONFORMANCE_SIZES,
     "rank 1, recv of 1023 bytes from rank 2, tag 0, message 25: byte 1000 is 7 instead of 188",
     NULL, NULL, long_test, NULL},
    {"refuses NULL for 0 bytes", COLL_CONFORMANCE_EMPTY,
     "rank 1, send of 0 bytes to rank 2, tag 0, message 0: it ended with \"a pointer that is "
     "needed is NULL\" instead of \"done\"",
     null_send, NULL, NULL, NULL},
    {"writes one byte beyond", COLL_CONFORMANCE_BUFFERS,
     "rank 2, recv of 16 bytes from rank 1, tag 0, message 0: byte 0 behind its buffer was "
     "written",
     NULL, NULL, beyond_test, NULL},
    {"writes what it sends", COLL_CONFORMANCE_BUFFERS,
     "rank 2, send of 16 bytes to rank 0, tag 0, message 0: byte 0 of its buffer, which is "
     "only to be read, was written",
     NULL, NULL, writing_test, NULL},
    {"reads what it sends late", COLL_CONFORMANCE_REUSE,
     "rank 0, recv of 16 bytes from rank 2, tag 0, message 0: what the sender wrote to its "
     "buffer after its send was over came instead",
     late_send, NULL, NULL, NULL},
    {"writes a handle late", COLL_CONFORMANCE_REUSE,
     "rank 0, send of 16 bytes to rank 1, tag 0, message 0: its handle was written after it "
     "was over",
     NULL, NULL, scribbling_test, NULL},
    {"send waits for the receiver", COLL_CONFORMANCE_SEND_FIRST,
     "rank 2, send of 16 bytes to rank 0, tag 0, message 0: was told COLL_AGAIN 501 times, and "
     "nothing has moved for 501 rounds",
     waiting_send, counted_recv, counted_test, NULL},
    {"takes what it refuses", COLL_CONFORMANCE_REFUSAL,
     "rank 1, recv of 16 bytes from rank 0, tag 0, message 38: message 37 came instead",
     twice_send, NULL, NULL, NULL},
    {"has few receives", COLL_CONFORMANCE_DEPTH,
     "rank 1, recv of 11 bytes from rank 0, tag 3, message 3: it ended with \"the memory given "
     "by the caller is used up\" instead of \"done\"",
     NULL, shallow_recv, NULL, NULL},
    {"folds the last tag", COLL_CONFORMANCE_TAGS,
     "rank 2, recv of 16 bytes from rank 1, tag 4194303, message 0: message 0 of tag 0 came "
     "instead",
     folding_send, folding_recv, NULL, NULL},
    {"a tag holds up another", COLL_CONFORMANCE_TAGS_APART,
     "rank 1, recv of 16 bytes from rank 0, tag 1, message 0: nothing has moved for 501 rounds",
     NULL, counted_recv, held_test, NULL},
    {"rank 0 moves all", COLL_CONFORMANCE_SLOW_PEER,
     "rank 2, send of 16 bytes to rank 1, tag 0, message 0: nothing has moved for 501 rounds",
     star_send, NULL, star_test, NULL},
    {"copies too little", COLL_CONFORMANCE_COPY,
     "rank 1, copy of 1 bytes: byte 0 was not written", NULL, NULL, NULL, set_copy},
    {"reduces b with a", COLL_CONFORMANCE_REDUCE,
     "rank 1, reduce of 8 bytes: element 0 has its operands in the wrong order", NULL, NULL,
     NULL, set_reduce},
    {"reduces over b", COLL_CONFORMANCE_REDUCE, "rank 1, reduce of 8 bytes: element 0 is wrong",
     NULL, NULL, NULL, set_careless},
    {"acquires what was there before", COLL_CONFORMANCE_ACQUIRE,
     "rank 0, acquire of 8 bytes from rank 2, tag 0, message 2: message 0 came instead", NULL,
     NULL, NULL, set_acquire},
    {"multicast misses a rank", COLL_CONFORMANCE_MULTICAST,
     "rank 2, recv of 16 bytes from rank 0, tag 0, message 1: nothing has moved for 501 rounds",
     NULL, NULL, NULL, set_multicast},
    {"the network reduces backwards", COLL_CONFORMANCE_NETWORK_REDUCE,
     "rank 0, network_reduce of 8 bytes: element 0 has its operands in the wrong order", NULL,
     NULL, NULL, set_network_reduce},
    {"a cancelled receive writes", COLL_CONFORMANCE_CANCEL_RECV,
     "rank 2, recv of 16 bytes from rank 1, tag 4194297, message 0: byte 0 of its buffer "
     "was written, though no message came",
     NULL, NULL, zombie_test, set_writing},
    {"a cancelled send reads", COLL_CONFORMANCE_CANCEL_SEND,
     "rank 0, recv of 4096 bytes from rank 2, tag 4194296, message 0: what the sender wrote "
     "to its buffer after its send was over came instead",
     NULL, NULL, NULL, set_reading},
    {"abort forgets receives", COLL_CONFORMANCE_ABORT,
     "rank 1, recv of 16 bytes from rank 0, tag 4194293, message 0: nothing has moved for "
     "501 rounds",
     NULL, NULL, forgetting_test, NULL},
    {"abort ends with another error", COLL_CONFORMANCE_ABORT,
     "rank 1, recv of 16 bytes from rank 0, tag 4194293, message 0: it ended with \"the "
     "transport failed\" instead of \"another rank failed in this collective\"",
     NULL, NULL, io_test, NULL},
    {"aborts a tag too many", COLL_CONFORMANCE_ABORT,
     "rank 1, recv of 16 bytes from rank 0, tag 4194295, message 0: it ended with \"another "
     "rank failed in this collective\" instead of \"done\"",
     NULL, NULL, NULL, set_wide},
    {"takes any size", COLL_CONFORMANCE_SIZE_ERROR,
     "rank 2, recv of 15 bytes from rank 1, tag 4194303, message 0: it ended with \"done\" "
     "instead of \"a message has another size than its receiver expects\"",
     NULL, NULL, any_size_test, NULL},
    {"acquires any size", COLL_CONFORMANCE_SIZE_ERROR,
     "rank 0, acquire of 16 bytes from rank 2, tag 4194291, message 0: it ended with "
     "\"done\" instead of \"a message has another size than its receiver expects\"",
     NULL, NULL, NULL, set_any_size},
    {"waits for more bytes", COLL_CONFORMANCE_SIZE_ERROR,
     "rank 2, recv of 16 bytes from rank 1, tag 4194302, message 0: nothing has moved for "
     "501 rounds",
     NULL, NULL, rest_test, NULL},
    {"combines in one order alone", COLL_CONFORMANCE_ARRIVAL,
     "rank 0, recv_reduce of 8 bytes from rank 2, tag 0, message 6: element 0 has its operands "
     "in the wrong order",
     NULL, NULL, NULL, set_swapping_arrival},
    {"receives, and combines nothing", COLL_CONFORMANCE_ARRIVAL,
     "rank 0, recv_reduce of 8 bytes from rank 2, tag 0, message 0: element 0 was not combined",
     NULL, NULL, NULL, set_idle_arrival},
    {"combines any size", COLL_CONFORMANCE_SIZE_ERROR,
     "rank 2, recv_reduce of 8 bytes from rank 1, tag 4194290, message 0: it ended with "
     "\"done\" instead of \"a message has another size than its receiver expects\"",
     NULL, NULL, NULL, set_any_size_arrival},
    {"thinks that others are dead", COLL_CONFORMANCE_DEAD, "rank 1: dead says so of rank 0",
     NULL, NULL, NULL, set_dead},
    {"knows of no uses", COLL_CONFORMANCE_USES,
     "rank 1, recv of 16 bytes from rank 0, tag 29360113, message 0: it ended with \"done\" "
     "instead of \"a message has another size than its receiver expects\"",
     useless_send, useless_recv, NULL, NULL},
    {"says another size", COLL_CONFORMANCE_SIZE_ERROR,
     "rank 0, acquire of 16 bytes from rank 2, tag 4194291, message 0: misfit says that bytes "
     "is 16, not 15",
     NULL, NULL, NULL, set_misfit},
    {"says another use", COLL_CONFORMANCE_USES,
     "rank 1, recv of 16 bytes from rank 0, tag 29360113, message 0: misfit says that its_tag "
     "is 29360113, not 25165809",
     NULL, NULL, NULL, set_forgetful},
    {"claims the same tags twice", COLL_CONFORMANCE_CLAIMS,
     "rank 1: claim 0 has tag 7, which is claimed already", NULL, NULL, NULL, set_same},
    {"claims other tags on each rank", COLL_CONFORMANCE_CLAIMS,
     "rank 1, send of 16 bytes to rank 2, tag 65537, message 0: nothing has moved for 501 "
     "rounds",
     NULL, NULL, NULL, set_own},
    {"claims tags that were aborted", COLL_CONFORMANCE_CLAIMS,
     "rank 1, send of 16 bytes to rank 2, tag 65536, message 63: it ended with \"another rank "
     "failed in this collective\" instead of \"done\"",
     NULL, NULL, NULL, set_dirty},
    {"gives no tags back", COLL_CONFORMANCE_CLAIMS,
     "rank 2: claim 23 ended with \"the communicator has too few tags left: free persistent "
     "calls or communicators, or give it more; or the tag is not below the transport's number "
     "of tags\"",
     NULL, NULL, NULL, set_greedy},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

/* A transport that keeps the contract, with all that is not SHARED. */
static void faulty_sound(coll_transport *transport, records *own)
{
    memset(&faulty, 0, sizeof faulty);
    *transport = coll_loopback_transport;
    records_of(own, transport);
    transport->copy = sound_copy;
    transport->reduce = sound_reduce;
    own->events.descriptor = sound_descriptor;
    own->events.arm = sound_arm;
    own->registration.keep = sound_keep;
    own->registration.forget = sound_forget;
}

/* One that has a fault. */
static void faulty_make(coll_transport *transport, records *own, const faulty_fault *fault)
{
    faulty_sound(transport, own);
    if (fault->send)
        transport->send = fault->send;
    if (fault->recv)
        transport->recv = fault->recv;
    if (fault->test)
        transport->test = fault->test;
    if (fault->set)
        fault->set(transport, own);
    records_use(own, transport);
}

#endif /* COLL_TESTS_FAULTY_H */
