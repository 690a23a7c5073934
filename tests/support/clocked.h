/* tests/support/clocked.h — a transport with a clock, which notes what starts on it, and when
 *
 * A message takes a time that depends on its ends and its size, copies and reductions one that
 * depends on their size; a sender is done after another one, or when its message is received.
 * Nothing here takes a processor's time.
 */
#ifndef COLL_TESTS_CLOCKED_H
#define COLL_TESTS_CLOCKED_H

#include "check.h"
#include "coll/lab/sim.h"
#include "coll/transport.h"

enum { RANKS = 13, CHANNEL = 256, NOTES = 1 << 15 };

/* ---- what starts, and when --------------------------------------------------------------- */

typedef struct note {
    coll_time time;
    uint32_t rank, kind, peer;
    uint64_t count;
} note;

typedef struct notes {
    note at[NOTES];
    size_t n;
} notes;

static notes ran;

static inline void note_add(notes *to, coll_time time, uint32_t rank, uint32_t kind,
                            uint32_t peer, uint64_t count)
{
    note *n = &to->at[to->n++];
    if (to->n > NOTES) {
        CHECK(false); /* not so: there is room for all notes */
        exit(1);
    }
    n->time = time;
    n->rank = rank;
    n->kind = kind;
    n->peer = peer;
    n->count = count;
}

static inline int note_compare(const void *one, const void *other)
{
    const note *a = (const note *)one, *b = (const note *)other;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    return a->count == b->count ? 0 : a->count < b->count ? -1 : 1;
}

/* What is noted: messages by their direction, work by its kind. */
enum { SENDS, RECEIVES, COPIES, REDUCES, MEETS };

/* ---- costs ------------------------------------------------------------------------------- */

static bool rendezvous;

static inline coll_time wire_time(uint32_t from, uint32_t to)
{
    return 100 + coll_i_mixed(1, from, to) % 900;
}

static inline coll_time send_time(uint64_t bytes)
{
    return 50 + 3 * bytes;
}

static inline coll_time data_time(uint64_t bytes)
{
    return 20 + 2 * bytes;
}

static inline coll_time work_time(uint64_t bytes)
{
    return 30 + bytes;
}

static inline coll_time meet_time(uint64_t bytes)
{
    return 500 + bytes;
}

/* ---- a transport with a clock ------------------------------------------------------------ */

typedef struct channel {
    coll_time arrives[CHANNEL], posted[CHANNEL]; /* of message and receive number … */
    uint64_t bytes[CHANNEL];
    uint32_t sent, received;
} channel;

typedef struct meeting {
    uint32_t come;
    coll_time over;
} meeting;

typedef struct clocked {
    coll_time now;
    coll_time soon[NOTES]; /* times at which something may end */
    size_t n_soon;
    channel channels[RANKS][RANKS];
    uint32_t met[RANKS][COLL_NETWORK_GROUPS];
    meeting meetings[CHANNEL][COLL_NETWORK_GROUPS];
    uint32_t spread[RANKS][RANKS]; /* numbers of the messages of the last multicast */
    uint32_t p;
} clocked;

static clocked world;
static uint32_t endpoints[RANKS];

enum { AT_TIME, SENT, SPREAD, RECEIVED, MEETING };

/* Names an operation by its kind, two ranks and a number or time. */
static inline coll_status started(coll_handle *h, unsigned kind, uint32_t a, uint32_t b,
                                  uint64_t word)
{
    h->word[0] = kind | a << 4 | b << 16;
    h->word[1] = (uintptr_t)word;
    return COLL_STARTED;
}

static inline void wake_at(coll_time time)
{
    world.soon[world.n_soon++] = time;
    if (world.n_soon == NOTES) {
        CHECK(false); /* not so: there is room for all times */
        exit(1);
    }
}

static inline coll_status ends_after(coll_handle *h, coll_time time)
{
    wake_at(world.now + time);
    return started(h, AT_TIME, 0, 0, world.now + time);
}

/* Sends one message; its number. */
static inline uint32_t put(uint32_t from, uint32_t to, coll_time wire, uint64_t bytes)
{
    channel *c = &world.channels[from][to];
    if (c->sent == CHANNEL) {
        CHECK(false); /* not so: there is room for all messages */
        exit(1);
    }
    c->arrives[c->sent] = world.now + wire;
    c->bytes[c->sent] = bytes;
    wake_at(world.now + wire);
    wake_at(world.now + wire + data_time(bytes));
    return c->sent++;
}

/* When a message met its receive. */
static inline coll_time met(uint32_t from, uint32_t to, uint32_t number)
{
    const channel *c = &world.channels[from][to];
    return number < c->received && number < c->sent
               ? coll_later(c->arrives[number], c->posted[number])
               : COLL_NEVER;
}

static inline coll_status clocked_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                       size_t bytes, coll_handle *h)
{
    const uint32_t me = *(const uint32_t *)ctx;
    const uint32_t number = put(me, peer, wire_time(me, peer), bytes);
    (void)tag, (void)buf;
    note_add(&ran, world.now, me, SENDS, peer, bytes);
    return rendezvous && bytes > 0 ? started(h, SENT, me, peer, number)
                                   : ends_after(h, send_time(bytes));
}

static inline coll_status clocked_multicast(void *ctx, uint32_t tag, const void *buf,
                                            size_t bytes, coll_handle *h)
{
    const uint32_t me = *(const uint32_t *)ctx;
    (void)tag, (void)buf;
    note_add(&ran, world.now, me, SENDS, COLL_RANK_NONE, bytes);
    for (uint32_t to = 0; to < world.p; to++)
        if (to != me)
            world.spread[me][to] = put(me, to, wire_time(me, me), bytes);
    return rendezvous && world.p > 1 ? started(h, SPREAD, me, 0, 0)
                                     : ends_after(h, send_time(bytes));
}

static inline coll_status clocked_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                       size_t bytes, coll_handle *h)
{
    const uint32_t me = *(const uint32_t *)ctx;
    channel *c = &world.channels[peer][me];
    (void)tag, (void)buf;
    note_add(&ran, world.now, me, RECEIVES, peer, bytes);
    c->posted[c->received % CHANNEL] = world.now;
    return started(h, RECEIVED, peer, me, c->received++);
}

static inline coll_status clocked_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                       coll_handle *h)
{
    (void)dst, (void)src;
    note_add(&ran, world.now, *(const uint32_t *)ctx, COPIES, 0, bytes);
    return ends_after(h, work_time(bytes));
}

static inline coll_status clocked_reduce(void *ctx, const coll_reduce_call *call,
                                         coll_handle *h)
{
    const size_t bytes = call->count * sizeof(uint64_t);
    note_add(&ran, world.now, *(const uint32_t *)ctx, REDUCES, 0, bytes);
    return ends_after(h, work_time(bytes));
}

static inline coll_status clocked_meet(void *ctx, const coll_network_call *call, coll_handle *h)
{
    const coll_network_group group = call->group;
    const size_t bytes = call->count * call->elem_bytes;
    const uint32_t me = *(const uint32_t *)ctx, k = world.met[me][group.number]++;
    meeting *at = &world.meetings[k][group.number];
    note_add(&ran, world.now, me, MEETS, group.number, bytes);
    at->come++;
    if (at->come == group.members) {
        (void)ends_after(h, meet_time(bytes));
        at->over = world.now + meet_time(bytes);
    }
    return started(h, MEETING, k, group.number, 0);
}

static inline coll_status clocked_test(void *ctx, coll_handle *h)
{
    const uint32_t a = (uint32_t)(h->word[0] >> 4) & 0xfffu, b = (uint32_t)(h->word[0] >> 16);
    const uint32_t number = (uint32_t)h->word[1];
    coll_time done = 0;
    (void)ctx;
    switch (h->word[0] & 15u) {
    case AT_TIME:
        done = h->word[1];
        break;
    case SENT:
        done = met(a, b, number);
        break;
    case SPREAD:
        for (uint32_t to = 0; to < world.p; to++)
            done = to == a ? done : coll_later(done, met(a, to, world.spread[a][to]));
        break;
    case RECEIVED: {
        const channel *c = &world.channels[a][b];
        done = met(a, b, number);
        if (done != COLL_NEVER)
            done = coll_later(done, c->arrives[number] + data_time(c->bytes[number]));
        break;
    }
    default:
        done = world.meetings[a][b].over;
        break;
    }
    return done <= world.now ? COLL_OK : COLL_AGAIN;
}

static const coll_in_network clocked_network = {clocked_multicast, clocked_meet, 0, NULL};
static const coll_transport clocked_transport = {
    .send = clocked_send,
    .recv = clocked_recv,
    .test = clocked_test,
    .copy = clocked_copy,
    .reduce = clocked_reduce,
    .in_network = &clocked_network,
};

/* Goes on to the next time at which something may end; false: there is none. */
static inline bool tick(void)
{
    coll_time next = COLL_NEVER;
    size_t n = 0;
    for (size_t i = 0; i < world.n_soon; i++) {
        if (world.soon[i] <= world.now)
            continue;
        next = world.soon[i] < next ? world.soon[i] : next;
        world.soon[n++] = world.soon[i];
    }
    world.n_soon = n;
    world.now = next;
    return next != COLL_NEVER;
}

#endif /* COLL_TESTS_CLOCKED_H */
