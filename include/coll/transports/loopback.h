/* coll/transports/loopback.h — all ranks in one thread, deterministic
 *
 *   static unsigned char memory[COLL_LOOPBACK_BYTES(P * 16)];
 *   coll_loopback world;
 *   coll_loopback_rank ends[P];
 *   coll_loopback_init(&world, P, P * 16, memory, sizeof memory);
 *   for each rank r:
 *       coll_loopback_attach(&world, r, &ends[r]);
 *       run[r].transport = &coll_loopback_transport;
 *       run[r].ctx = &ends[r];
 *       coll_engine_start(&request[r], &run[r]);
 *   status = coll_loopback_run(&world, requests, P);
 *
 * For tests, simulations and bare metal. Sends are synchronous, the strictest kind: one is done
 * when its message was received, straight from the sender's buffer into the receiver's or, by
 * acquire, into the reduction. Nothing is allocated; every operation in flight takes one of the
 * `messages` entries of the world (a multicast p − 1), and is told COLL_AGAIN when none is
 * left. p times the window of the requests, times the collectives that run at once, are always
 * enough. The world must not move while an endpoint is attached. One thread at a time may use a
 * world and its requests.
 */
#ifndef COLL_TRANSPORTS_LOOPBACK_H
#define COLL_TRANSPORTS_LOOPBACK_H

#include "../executor.h"
#include "loopback/aborted.h"
#include "loopback/exposed.h"

typedef enum coll_i_loop_state {
    COLL_I_LOOP_RECEIVE, /* a receive that waits for its message */
    COLL_I_LOOP_QUEUED,  /* a message, or an operand of a network reduction, in its bucket */
    COLL_I_LOOP_LENT,    /* a message that its receiver reads */
    COLL_I_LOOP_DROPPED, /* the same, after the sender cancelled */
    COLL_I_LOOP_DONE     /* its starter has not been told yet */
} coll_i_loop_state;

/* An operation in flight. Entries are named by index; COLL_RANK_NONE names none. */
typedef struct coll_i_loop_entry {
    const void *buf;  /* what is sent, or the operand of a network reduction */
    void *into;       /* where a receive or a network reduction ends */
    size_t bytes;     /* of the message, or of an element of a network reduction */
    size_t count;     /* elements of a network reduction … */
    uint32_t members; /* … and the ranks of its group */
    const coll_op *op;
    uint32_t src, dst, tag; /* dst of a network reduction: coll_i_loop_reduction */
    uint32_t next;          /* in its bucket, or among the free */
    uint32_t chain;         /* the next message of a multicast */
    coll_i_loop_state state;
} coll_i_loop_entry;

/* Messages whose (src, dst, tag) hash alike, oldest first. */
typedef struct coll_i_loop_bucket {
    uint32_t head, tail;
} coll_i_loop_bucket;

/* All ranks of a group, in one thread. */
typedef struct coll_loopback {
    coll_i_loop_entry *entries;
    coll_i_loop_bucket *buckets;
    uint32_t p, mask;      /* ranks; buckets − 1 */
    uint32_t free, n_free; /* the first free entry, and how many */
    coll_i_loop_aborts aborts;
    coll_i_loop_regions regions;
    coll_misfit misfit; /* the last one, of whatever rank */
    uint32_t seed;      /* for coll_loopback_run: 0 goes round robin, else another order each */
    uint32_t quiet; /* for coll_loopback_run: rounds without progress that make a deadlock */
    size_t events;  /* operations started and done so far */
} coll_loopback;

/* One rank's end: the ctx of its transport. */
typedef struct coll_loopback_rank {
    coll_loopback *world;
    uint32_t rank;
    coll_claims claims; /* its root communicators' */
} coll_loopback_rank;

/* ---- the world --------------------------------------------------------------------------- */

/* The largest power of two that is not above the number of entries. */
COLL_INLINE uint32_t coll_i_loop_buckets(uint32_t messages)
{
    uint32_t buckets = 1;
    while (buckets <= messages / 2)
        buckets *= 2;
    return buckets;
}

/* Bytes of memory for a world with so many operations in flight, at any alignment: a constant expression,
 * for a number that can be addressed. */
#define COLL_LOOPBACK_BYTES(messages)                                                          \
    ((size_t)(messages)*COLL_I_LOOP_BYTES + COLL_I_LOOP_ALIGN - 1)
#define COLL_I_LOOP_BYTES (sizeof(coll_i_loop_entry) + sizeof(coll_i_loop_bucket))
#define COLL_I_LOOP_ALIGN (sizeof(void *) > sizeof(size_t) ? sizeof(void *) : sizeof(size_t))

/* Makes a world of p ranks in the caller's memory, of any alignment, which it keeps. */
COLL_INLINE coll_status coll_loopback_init(coll_loopback *world, uint32_t p, uint32_t messages,
                                           void *memory, size_t bytes)
{
    const size_t align = COLL_I_LOOP_ALIGN;
    unsigned char *at = (unsigned char *)memory;
    if (!world || !memory)
        return COLL_ERR_NULL;
    if (p == 0 || p == COLL_RANK_NONE)
        return COLL_ERR_RANKS;
    if (messages == 0 || messages == COLL_RANK_NONE || bytes < align - 1 ||
        (bytes - (align - 1)) / COLL_I_LOOP_BYTES < messages)
        return COLL_ERR_MEMORY;
    at += (align - (uintptr_t)at % align) % align;
    world->entries = (coll_i_loop_entry *)(void *)at;
    world->buckets = (coll_i_loop_bucket *)(void *)(world->entries + messages);
    world->p = p;
    world->mask = coll_i_loop_buckets(messages) - 1;
    world->free = 0;
    world->n_free = messages;
    coll_i_loop_forgive_all(&world->aborts);
    world->regions.first = NULL;
    world->seed = 0;
    world->quiet = 64;
    world->events = 0;
    for (uint32_t i = 0; i < messages; i++)
        world->entries[i].next = i + 1 < messages ? i + 1 : COLL_RANK_NONE;
    for (uint32_t i = 0; i <= world->mask; i++)
        world->buckets[i].head = world->buckets[i].tail = COLL_RANK_NONE;
    return COLL_OK;
}

/* Makes *end the end of a rank: the ctx for coll_loopback_transport. */
COLL_INLINE coll_status coll_loopback_attach(coll_loopback *world, uint32_t rank,
                                             coll_loopback_rank *end)
{
    if (!world || !end)
        return COLL_ERR_NULL;
    if (rank >= world->p)
        return COLL_ERR_RANK;
    end->world = world;
    end->rank = rank;
    coll_claims_init(&end->claims);
    return COLL_OK;
}

/* Makes the tags of failed collectives usable again. Call it when no request is running. */
COLL_INLINE void coll_loopback_recover(coll_loopback *world)
{
    coll_i_loop_forgive_all(&world->aborts);
}

/* ---- entries and buckets ----------------------------------------------------------------- */

COLL_INLINE coll_i_loop_bucket *coll_i_loop_bucket_of(coll_loopback *world, uint32_t src,
                                                      uint32_t dst, uint32_t tag)
{
    const uint32_t hash =
        (src * 0x9E3779B1u ^ dst * 0x85EBCA77u ^ coll_claim_tag(tag) * 0xC2B2AE3Du);
    return &world->buckets[(hash ^ hash >> 15) & world->mask];
}

COLL_INLINE coll_i_loop_entry *coll_i_loop_take(coll_loopback *world, coll_handle *h)
{
    const uint32_t i = world->free;
    if (i == COLL_RANK_NONE)
        return NULL;
    world->free = world->entries[i].next;
    world->n_free--;
    world->events++;
    world->entries[i].chain = COLL_RANK_NONE;
    h->word[0] = i;
    return &world->entries[i];
}

COLL_INLINE void coll_i_loop_release(coll_loopback *world, uint32_t i)
{
    world->entries[i].next = world->free;
    world->free = i;
    world->n_free++;
    world->events++;
}

COLL_INLINE void coll_i_loop_enqueue(coll_loopback *world, uint32_t i)
{
    coll_i_loop_entry *e = &world->entries[i];
    coll_i_loop_bucket *bucket = coll_i_loop_bucket_of(world, e->src, e->dst, e->tag);
    e->state = COLL_I_LOOP_QUEUED;
    e->next = COLL_RANK_NONE;
    if (bucket->head == COLL_RANK_NONE)
        bucket->head = i;
    else
        world->entries[bucket->tail].next = i;
    bucket->tail = i;
}

/* Takes entry i out of its bucket. */
COLL_INLINE void coll_i_loop_dequeue(coll_loopback *world, uint32_t i)
{
    const coll_i_loop_entry *e = &world->entries[i];
    coll_i_loop_bucket *bucket = coll_i_loop_bucket_of(world, e->src, e->dst, e->tag);
    uint32_t before = COLL_RANK_NONE, at = bucket->head;
    while (at != i) {
        before = at;
        at = world->entries[at].next;
    }
    if (before == COLL_RANK_NONE)
        bucket->head = e->next;
    else
        world->entries[before].next = e->next;
    if (bucket->tail == i)
        bucket->tail = before;
}

/* The oldest message from src to dst with this tag, of any use, or COLL_RANK_NONE. */
COLL_INLINE uint32_t coll_i_loop_find(coll_loopback *world, uint32_t src, uint32_t dst,
                                      uint32_t tag)
{
    uint32_t i = coll_i_loop_bucket_of(world, src, dst, tag)->head;
    while (i != COLL_RANK_NONE) {
        const coll_i_loop_entry *e = &world->entries[i];
        if (e->src == src && e->dst == dst && coll_claim_tag(e->tag ^ tag) == 0)
            break;
        i = e->next;
    }
    return i;
}

/* What an operation of this tag says while it cannot go on. */
COLL_INLINE coll_status coll_i_loop_again(const coll_loopback *world, uint32_t tag)
{
    return coll_i_loop_is_aborted(&world->aborts, tag) ? COLL_ERR_PEER : COLL_AGAIN;
}

/* ---- the transport ----------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_loop_send(void *ctx, uint32_t peer, uint32_t tag,
                                         const void *buf, size_t bytes, coll_handle *h)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    const coll_status status = coll_i_loop_again(end->world, tag);
    coll_i_loop_entry *e;
    if (peer >= end->world->p)
        return COLL_ERR_RANK;
    if (status < 0 || !(e = coll_i_loop_take(end->world, h)))
        return status;
    e->buf = buf;
    e->bytes = bytes;
    e->src = end->rank;
    e->dst = peer;
    e->tag = tag;
    coll_i_loop_enqueue(end->world, (uint32_t)h->word[0]);
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_loop_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                         size_t bytes, coll_handle *h)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    const coll_status status = coll_i_loop_again(end->world, tag);
    coll_i_loop_entry *e;
    if (peer >= end->world->p)
        return COLL_ERR_RANK;
    if (status < 0 || !(e = coll_i_loop_take(end->world, h)))
        return status;
    e->into = buf;
    e->bytes = bytes;
    e->src = peer;
    e->dst = end->rank;
    e->tag = tag;
    e->state = COLL_I_LOOP_RECEIVE;
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_loop_multicast(void *ctx, uint32_t tag, const void *buf,
                                              size_t bytes, coll_handle *h)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    coll_loopback *world = end->world;
    const coll_status status = coll_i_loop_again(world, tag);
    coll_handle one;
    uint32_t chain = COLL_RANK_NONE;
    one.word[0] = one.word[1] = 0;
    if (status < 0 || world->n_free < world->p - 1)
        return status;
    if (world->p == 1)
        return COLL_OK;
    for (uint32_t peer = 0; peer < world->p; peer++) {
        if (peer == end->rank)
            continue;
        (void)coll_i_loop_send(ctx, peer, tag, buf, bytes, &one);
        world->entries[one.word[0]].chain = chain;
        chain = (uint32_t)one.word[0];
    }
    *h = one;
    return COLL_STARTED;
}

/* Operands for a group wait as messages to nobody that exists. */
COLL_INLINE uint32_t coll_i_loop_reduction(uint32_t group)
{
    return COLL_RANK_NONE - group;
}

COLL_INLINE coll_status coll_i_loop_network_reduce(void *ctx, const coll_network_call *call,
                                                   coll_handle *h)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    const coll_status status = coll_i_loop_again(end->world, call->tag);
    const coll_network_group group = call->group;
    coll_i_loop_entry *e;
    if (group.number >= COLL_NETWORK_GROUPS || group.members == 0 ||
        group.members > end->world->p)
        return COLL_ERR_CAPABILITY;
    if (status < 0 || !(e = coll_i_loop_take(end->world, h)))
        return status;
    e->buf = call->src;
    e->into = call->dst;
    e->bytes = call->elem_bytes;
    e->count = call->count;
    e->op = call->op;
    e->src = end->rank;
    e->dst = coll_i_loop_reduction(group.number);
    e->members = group.members;
    e->tag = call->tag;
    coll_i_loop_enqueue(end->world, (uint32_t)h->word[0]);
    return COLL_STARTED;
}

/* The next operand of a group, from rank *r on; NULL: there is none. */
COLL_INLINE coll_i_loop_entry *coll_i_loop_operand(coll_loopback *world, uint32_t *r,
                                                   uint32_t group, uint32_t tag)
{
    for (; *r < world->p; (*r)++) {
        const uint32_t i = coll_i_loop_find(world, *r, group, tag);
        if (i != COLL_RANK_NONE)
            return &world->entries[i];
    }
    return NULL;
}

/* Reduces a group's oldest operands, in rank order, if every member has brought one. */
COLL_INLINE coll_status coll_i_loop_meet(coll_loopback *world, uint32_t group, uint32_t tag)
{
    const coll_i_loop_entry *first = NULL;
    coll_i_loop_entry *e;
    uint32_t n = 0;
    for (uint32_t r = 0; (e = coll_i_loop_operand(world, &r, group, tag)) != NULL; r++, n++) {
        if (!first)
            first = e;
        if (e->count != first->count || e->bytes != first->bytes ||
            e->members != first->members || e->tag != tag)
            return coll_misfit_note(&world->misfit, COLL_RANK_NONE, tag,
                                    first->count * first->bytes);
    }
    if (!first || n < first->members)
        return coll_i_loop_again(world, tag);
    if (first->members == 1 && first->into != first->buf)
        COLL_COPY(first->into, first->buf, first->count * first->bytes);
    n = 0;
    for (uint32_t r = 0; (e = coll_i_loop_operand(world, &r, group, tag)) != NULL; r++, n++)
        if (n > 0 && first->count > 0)
            first->op->combine(first->into, n == 1 ? first->buf : first->into, e->buf,
                               first->count, first->op->arg);
    for (uint32_t r = 0; (e = coll_i_loop_operand(world, &r, group, tag)) != NULL; r++) {
        if (e != first && first->count > 0)
            COLL_COPY(e->into, first->into, first->count * first->bytes);
        coll_i_loop_dequeue(world, (uint32_t)(e - world->entries));
        e->state = COLL_I_LOOP_DONE;
    }
    return COLL_OK;
}

/* Takes the message for a receiver out of its bucket: COLL_OK, and which it is. */
COLL_INLINE coll_status coll_i_loop_match(coll_loopback *world, uint32_t src, uint32_t dst,
                                          uint32_t tag, size_t bytes, uint32_t *message)
{
    *message = coll_i_loop_find(world, src, dst, tag);
    if (*message == COLL_RANK_NONE)
        return coll_i_loop_again(world, tag);
    if (world->entries[*message].bytes != bytes || world->entries[*message].tag != tag) {
        (void)coll_misfit_note(&world->misfit, src, tag, bytes);
        world->misfit.its_tag = world->entries[*message].tag;
        world->misfit.bytes = world->entries[*message].bytes;
        return COLL_ERR_SIZE;
    }
    coll_i_loop_dequeue(world, *message);
    world->events++;
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_loop_test(void *ctx, coll_handle *h)
{
    coll_loopback *world = ((const coll_loopback_rank *)ctx)->world;
    const uint32_t i = (uint32_t)h->word[0];
    coll_i_loop_entry *e = &world->entries[i];
    coll_status status;
    if (e->state == COLL_I_LOOP_RECEIVE) {
        uint32_t message;
        status = coll_i_loop_match(world, e->src, e->dst, e->tag, e->bytes, &message);
        if (status != COLL_OK)
            return status;
        if (e->bytes != 0)
            COLL_COPY(e->into, world->entries[message].buf, e->bytes);
        world->entries[message].state = COLL_I_LOOP_DONE;
        coll_i_loop_release(world, i);
        return COLL_OK;
    }
    if (e->state == COLL_I_LOOP_QUEUED &&
        e->dst >= coll_i_loop_reduction(COLL_NETWORK_GROUPS - 1)) {
        status = coll_i_loop_meet(world, e->dst, e->tag);
        if (status != COLL_OK)
            return status;
    }
    for (uint32_t k = i; k != COLL_RANK_NONE; k = world->entries[k].chain)
        if (world->entries[k].state != COLL_I_LOOP_DONE)
            return coll_i_loop_again(world, e->tag);
    for (uint32_t k = i; k != COLL_RANK_NONE; k = world->entries[k].chain)
        coll_i_loop_release(world, k);
    return COLL_OK;
}

COLL_INLINE void coll_i_loop_cancel(void *ctx, coll_handle *h)
{
    coll_loopback *world = ((const coll_loopback_rank *)ctx)->world;
    for (uint32_t k = (uint32_t)h->word[0]; k != COLL_RANK_NONE; k = world->entries[k].chain) {
        if (world->entries[k].state == COLL_I_LOOP_QUEUED)
            coll_i_loop_dequeue(world, k);
        if (world->entries[k].state == COLL_I_LOOP_LENT)
            world->entries[k].state = COLL_I_LOOP_DROPPED;
        else
            coll_i_loop_release(world, k);
    }
}

COLL_INLINE void coll_i_loop_abort(void *ctx, uint32_t first, uint32_t tags)
{
    coll_loopback *world = ((const coll_loopback_rank *)ctx)->world;
    coll_i_loop_note(&world->aborts, first, tags);
    world->events++;
}

/* Sends are synchronous, so there are no messages but of operations in flight. */
COLL_INLINE void coll_i_loop_clean(void *ctx, uint32_t range)
{
    coll_i_loop_forgive(&((coll_loopback_rank *)ctx)->world->aborts, range);
}

COLL_INLINE coll_status coll_i_loop_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    return coll_claims_take(&((coll_loopback_rank *)ctx)->claims, coll_i_loop_clean, ctx, first,
                            tags);
}

/* With the last rank that used a range its aborts go. */
COLL_INLINE void coll_i_loop_unclaim(void *ctx, uint32_t first)
{
    coll_loopback_rank *end = (coll_loopback_rank *)ctx;
    const uint32_t range = coll_claim_range(first);
    coll_claims_give(&end->claims, range);
    if (++end->world->aborts.left[range] == end->world->p)
        coll_i_loop_forgive(&end->world->aborts, range);
}

COLL_INLINE coll_status coll_i_loop_acquire(void *ctx, uint32_t peer, uint32_t tag,
                                            size_t bytes, const void **message, coll_handle *h)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    uint32_t i;
    const coll_status status = coll_i_loop_match(end->world, peer, end->rank, tag, bytes, &i);
    if (status != COLL_OK)
        return status;
    end->world->entries[i].state = COLL_I_LOOP_LENT;
    *message = end->world->entries[i].buf;
    h->word[0] = i;
    return COLL_OK;
}

COLL_INLINE void coll_i_loop_release_message(void *ctx, coll_handle *h)
{
    coll_loopback *world = ((const coll_loopback_rank *)ctx)->world;
    coll_i_loop_entry *e = &world->entries[h->word[0]];
    if (e->state == COLL_I_LOOP_DROPPED)
        coll_i_loop_release(world, (uint32_t)h->word[0]);
    else
        e->state = COLL_I_LOOP_DONE;
}

COLL_INLINE uint32_t coll_i_loop_ranks(void *ctx)
{
    return ((const coll_loopback_rank *)ctx)->world->p;
}

COLL_INLINE void coll_i_loop_misfit(void *ctx, coll_misfit *its)
{
    const coll_misfit *last = &((const coll_loopback_rank *)ctx)->world->misfit;
    (void)coll_misfit_note(its, last->peer, last->tag, last->expected);
    its->its_tag = last->its_tag;
    its->bytes = last->bytes;
}

/* ---- puts -------------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_loop_expose(void *ctx, uint32_t number, coll_region *region)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    return coll_i_loop_list_region(&end->world->regions, end->rank, number, region);
}

COLL_INLINE void coll_i_loop_withdraw(void *ctx, uint32_t number)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    coll_i_loop_unlist_region(&end->world->regions, end->rank, number);
}

/* This rank's own region; *status: why none of its number is used. */
COLL_INLINE const coll_region *coll_i_loop_own_region(const coll_loopback_rank *end,
                                                      uint32_t number, coll_status *status)
{
    coll_region *before;
    const coll_region *region =
        coll_i_loop_region(&end->world->regions, end->rank, number, &before);
    *status = !region                                                    ? COLL_ERR_STATE
              : coll_i_loop_is_aborted(&end->world->aborts, region->tag) ? COLL_ERR_PEER
                                                                         : COLL_OK;
    return region;
}

COLL_INLINE coll_status coll_i_loop_put(void *ctx, const coll_put_call *call, coll_handle *h)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    coll_status status;
    (void)h;
    if (call->peer >= end->world->p || call->peer == end->rank)
        return COLL_ERR_RANK;
    (void)coll_i_loop_own_region(end, call->region, &status);
    if (status != COLL_OK)
        return status;
    end->world->events++;
    return coll_i_loop_write(&end->world->regions, call);
}

COLL_INLINE coll_status coll_i_loop_count(void *ctx, uint32_t number, uint32_t counter,
                                          uint32_t *value)
{
    coll_status status;
    const coll_region *region =
        coll_i_loop_own_region((const coll_loopback_rank *)ctx, number, &status);
    if (status != COLL_OK)
        return status;
    if (counter >= region->n)
        return COLL_ERR_STATE;
    *value = region->counters[counter];
    return COLL_OK;
}

/* The records, and the vtable; ctx is a coll_loopback_rank. Copy it to set max_bytes, or to take what it
 * can do away. */
COLL_CONST(coll_zero_copy, coll_i_loop_zero_copy,
           {coll_i_loop_acquire, coll_i_loop_release_message, 0, NULL /* read */, 0, 0});
COLL_CONST(coll_failure, coll_i_loop_failure, {coll_i_loop_cancel, coll_i_loop_abort, NULL, NULL});
COLL_CONST(coll_in_network, coll_i_loop_network,
           {coll_i_loop_multicast, coll_i_loop_network_reduce, 0, coll_i_loop_ranks});
COLL_CONST(coll_tag_ranges, coll_i_loop_tag_ranges,
           {coll_i_loop_claim, coll_i_loop_unclaim, COLL_CLAIM_ALL, coll_i_loop_misfit});
COLL_CONST(coll_one_sided, coll_i_loop_one_sided,
           {coll_i_loop_expose, coll_i_loop_withdraw, coll_i_loop_put, coll_i_loop_count,
            COLL_I_LOOP_REGIONS, 0 /* counters: any number */});
/* The transport; its ctx is a coll_loopback_rank. */
COLL_CONST(coll_transport, coll_loopback_transport,
           {coll_i_loop_send, coll_i_loop_recv, coll_i_loop_test, NULL /* copy */,
            NULL /* reduce */, NULL /* wait: the other ranks are in this thread */,
            NULL /* progress */,            COLL_CLAIM_ALL /* tags */, 0 /* max_bytes */, 0 /* unsegmented */,
            &coll_i_loop_zero_copy, NULL /* arrival */, &coll_i_loop_failure,
            &coll_i_loop_network, NULL /* node memory */, &coll_i_loop_tag_ranges, NULL /* routes */, NULL /* events */, NULL /* registration */,
            NULL /* whole from */, &coll_i_loop_one_sided});

/* ---- running ----------------------------------------------------------------------------- */

/* Moves n started requests on, one after the other, until all have ended. The order is round
 * robin, or, with world->seed not 0, picked at random and the same for the same seed. Returns
 * COLL_OK, the error of the request that failed first, or COLL_ERR_DEADLOCK when nothing moved
 * for world->quiet rounds; the requests that wait for each other are then still running, and
 * the caller's to cancel. */
COLL_INLINE coll_status coll_loopback_run(coll_loopback *world, coll_engine *const *requests,
                                          uint32_t n)
{
    coll_status first = COLL_OK;
    uint32_t random = world->seed, running = 0, quiet = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (requests[i]->status == COLL_AGAIN)
            running++;
        else if (first == COLL_OK)
            first = requests[i]->status;
    }
    while (running > 0) {
        const size_t events = world->events;
        bool moved = false;
        for (uint32_t turn = 0; turn < n; turn++) {
            uint32_t i = turn;
            coll_status status;
            if (random != 0) {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                i = (uint32_t)((uint64_t)random * n >> 32);
            }
            if (requests[i]->status != COLL_AGAIN)
                continue;
            status = coll_engine_progress(requests[i]);
            moved = moved || requests[i]->window.idle == 0;
            if (status == COLL_AGAIN)
                continue;
            running--;
            moved = true;
            if (first == COLL_OK)
                first = status;
        }
        quiet = moved || world->events != events ? 0 : quiet + 1;
        if (quiet > world->quiet)
            return COLL_ERR_DEADLOCK;
    }
    return first;
}

#endif /* COLL_TRANSPORTS_LOOPBACK_H */
