/* coll/lab/verify/crash_world.h — a transport whose ranks stop, and what the others hear of it
 *
 * It is that of window_bound.h, which counts messages and moves no data; a rank stops after so many
 * operations of its own. What it sent until then arrives. What it has posted stays posted. Nobody hears
 * of it at first; from when it is *noticed* on, an operation with it that cannot end is COLL_ERR_IO, and
 * the rank that is told so aborts, so that all others are told COLL_ERR_PEER. Or, with `early`, all are
 * told that at once. Both are what transport.h allows (coll_failure.dead).
 *
 * A second collective on the same channels has another use of its tag. A message that was left over in
 * a channel is not taken by it: COLL_ERR_SIZE. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_CRASH_WORLD_H
#define COLL_LAB_VERIFY_CRASH_WORLD_H

#include "window_bound.h"

/* What the tag of the second collective has on top, and how much a channel holds whose sends do not wait. */
enum { COLL_I_STOPS_USE = 1 << 16, COLL_I_STOPS_EAGER = 1 << 30 };

/* All ranks, of which some stop. */
typedef struct coll_i_stops {
    coll_i_world *world;
    const coll_transport *transport;
    coll_i_memory ranks;   /* coll_i_stops_rank */
    coll_i_memory before;  /* channels at the end of the first collective */
    uint32_t n_before;     /* … so many */
    uint64_t stopped;      /* one bit a rank */
    bool early;            /* all are told as soon as a rank stops */
    bool noticed, aborted; /* those who wait for a stopped rank are told; all are told */
    bool found_leftover;   /* a receive of the second collective met a message of the first */
} coll_i_stops;

/* One rank: the ctx of its transport. */
typedef struct coll_i_stops_rank {
    coll_i_endpoint end;
    coll_i_stops *of;
    uint32_t events,
        last;        /* operations that began or ended; how many there are before it stops */
    uint32_t flying; /* operations in flight */
} coll_i_stops_rank;

COLL_INLINE coll_i_stops_rank *coll_i_stops_at(const coll_i_stops *s, uint32_t rank)
{
    return (coll_i_stops_rank *)s->ranks.at + rank;
}

/* Has this rank stopped? */
COLL_INLINE bool coll_i_stops_has(const coll_i_stops *s, uint32_t rank)
{
    return (s->stopped >> rank & 1u) != 0;
}

/* May the rank do something? COLL_AGAIN: it does nothing any more. */
COLL_INLINE coll_status coll_i_stops_enter(coll_i_stops_rank *me)
{
    if (me->events < me->last)
        return COLL_OK;
    me->of->stopped |= (uint64_t)1 << me->end.rank;
    me->of->aborted = me->of->aborted || me->of->early;
    return COLL_AGAIN;
}

/* The same, for what begins: an aborted tag takes nothing, and a peer that is known to have stopped neither. */
COLL_INLINE coll_status coll_i_stops_begin(coll_i_stops_rank *me, uint32_t peer)
{
    const coll_status status = coll_i_stops_enter(me);
    const uint32_t to =
        peer == COLL_RANK_NONE ? me->end.rank : coll_i_world_seat(me->of->world, peer);
    if (status != COLL_OK)
        return status;
    if (me->of->aborted)
        return COLL_ERR_PEER;
    return me->of->noticed && to != COLL_I_NONE && coll_i_stops_has(me->of, to) ? COLL_ERR_IO
                                                                                : COLL_OK;
}

/* Counts an operation that was begun. */
COLL_INLINE coll_status coll_i_stops_begun(coll_i_stops_rank *me, coll_status status)
{
    me->events += status >= 0 && status != COLL_AGAIN ? 1 : 0;
    me->flying += status == COLL_STARTED ? 1 : 0;
    return status;
}

/* ---- the callbacks ----------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_stops_send(void *ctx, uint32_t peer, uint32_t tag,
                                          const void *buf, size_t bytes, coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    const coll_status status = coll_i_stops_begin(me, peer);
    return status != COLL_OK
               ? status
               : coll_i_stops_begun(me, coll_i_world_send(&me->end, peer, tag, buf, bytes, h));
}

/* Was the message of this number left over in its channel by the first collective? */
COLL_INLINE bool coll_i_stops_is_left(const coll_i_stops *s, uint32_t channel, uint32_t number)
{
    return channel < s->n_before &&
           number < ((const coll_i_channel *)s->before.at)[channel].sent;
}

COLL_INLINE coll_status coll_i_stops_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                          size_t bytes, coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    coll_status status = coll_i_stops_begin(me, peer);
    if (status != COLL_OK)
        return status;
    status = coll_i_world_recv(&me->end, peer, tag, buf, bytes, h);
    if (status >= 0 && tag >= COLL_I_STOPS_USE &&
        coll_i_stops_is_left(me->of, (uint32_t)(h->word[0] / 4), (uint32_t)h->word[1])) {
        coll_i_channel_at(&me->of->world->channels, (uint32_t)(h->word[0] / 4))->received--;
        me->of->found_leftover = true;
        return COLL_ERR_SIZE;
    }
    return coll_i_stops_begun(me, status);
}

COLL_INLINE coll_status coll_i_stops_multicast(void *ctx, uint32_t tag, const void *buf,
                                               size_t bytes, coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    const coll_status status = coll_i_stops_begin(me, COLL_RANK_NONE);
    return status != COLL_OK
               ? status
               : coll_i_stops_begun(me, coll_i_world_multicast(&me->end, tag, buf, bytes, h));
}

COLL_INLINE coll_status coll_i_stops_meet(void *ctx, const coll_network_call *call,
                                          coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    const coll_status status = coll_i_stops_begin(me, COLL_RANK_NONE);
    return status != COLL_OK ? status
                             : coll_i_stops_begun(me, coll_i_world_meet(&me->end, call, h));
}

COLL_INLINE coll_status coll_i_stops_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                          coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    const coll_status status = coll_i_stops_enter(me);
    return status != COLL_OK
               ? status
               : coll_i_stops_begun(me, coll_i_world_copy(&me->end, dst, src, bytes, h));
}

COLL_INLINE coll_status coll_i_stops_reduce(void *ctx, const coll_reduce_call *call,
                                            coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    const coll_status status = coll_i_stops_enter(me);
    return status != COLL_OK ? status
                             : coll_i_stops_begun(me, coll_i_world_reduce(&me->end, call, h));
}

/* Does an operation that cannot end wait for a rank that has stopped? */
COLL_INLINE bool coll_i_stops_waits(const coll_i_stops_rank *me, const coll_handle *h)
{
    const coll_i_stops *s = me->of;
    const unsigned kind = (unsigned)(h->word[0] & 3u);
    const coll_i_channel *channel;
    if (kind > 1) /* a multicast, or a group: whoever of them it is */
        return s->stopped != 0;
    channel = coll_i_channel_at(&s->world->channels, (uint32_t)(h->word[0] / 4));
    return coll_i_stops_has(s, kind == 0 ? channel->to : channel->from);
}

COLL_INLINE coll_status coll_i_stops_test(void *ctx, coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    coll_status status = coll_i_stops_enter(me);
    if (status != COLL_OK)
        return status;
    status = coll_i_world_test(&me->end, h);
    if (status == COLL_OK) {
        me->events++;
        me->flying--;
    } else if (me->of->aborted) {
        status = COLL_ERR_PEER;
    } else if (me->of->noticed && coll_i_stops_waits(me, h)) {
        status = COLL_ERR_IO;
    }
    return status;
}

/* Matching is done in test, so a message that is here stays in its channel if its receive is given up. A
 * send that was not taken was never there. */
COLL_INLINE void coll_i_stops_cancel(void *ctx, coll_handle *h)
{
    coll_i_stops_rank *me = (coll_i_stops_rank *)ctx;
    coll_i_world *w = me->of->world;
    const unsigned kind = (unsigned)(h->word[0] & 3u);
    const uint32_t channel = (uint32_t)(h->word[0] / 4);
    me->flying--;
    if (kind == 1)
        coll_i_channel_at(&w->channels, channel)->received--;
    else if (kind == 0 && coll_i_world_test(&me->end, h) == COLL_AGAIN)
        coll_i_channel_at(&w->channels, channel)->sent--;
}

COLL_INLINE void coll_i_stops_abort(void *ctx, uint32_t first, uint32_t tags)
{
    (void)first, (void)tags;
    ((coll_i_stops_rank *)ctx)->of->aborted = true;
}

/* The records, and the vtable; ctx is a coll_i_stops_rank. */
COLL_CONST(coll_failure, coll_i_stops_failure,
           {coll_i_stops_cancel, coll_i_stops_abort, NULL /* dead */, NULL /* outlive */});
COLL_CONST(coll_in_network, coll_i_stops_network,
           {coll_i_stops_multicast, coll_i_stops_meet, 0, NULL /* ranks */});
COLL_CONST(coll_transport, coll_i_stops_transport,
           {coll_i_stops_send, coll_i_stops_recv, coll_i_stops_test, coll_i_stops_copy,
            coll_i_stops_reduce, NULL /* wait */, NULL /* progress */, 0 /* tags */,
            0 /* max_bytes */, 0 /* unsegmented */, NULL /* zero copy */, NULL /* arrival */,
            &coll_i_stops_failure, &coll_i_stops_network, NULL /* node memory */,
            NULL /* tag ranges */, NULL /* routes */, NULL /* events */,
            NULL /* registration */, NULL /* whole from */, NULL /* one sided */});

/* ---- one collective ---------------------------------------------------------------------- */

/* Forgets what was done before, and has no rank stop. False: no memory. */
COLL_INLINE bool coll_i_stops_begin_run(coll_i_stops *s, coll_i_world *w, uint32_t capacity)
{
    s->world = w;
    if (!coll_i_reserve_new(&s->ranks, w->p * sizeof(coll_i_stops_rank)))
        return false;
    coll_i_channels_clear(&w->channels);
    w->capacity = capacity;
    w->n_copies = w->meetings = w->n_ready = 0;
    memset(w->queued.at, 1, w->p); /* nobody is to be woken: all are asked in turn */
    for (uint32_t rank = 0; rank < w->p; rank++) {
        coll_i_stops_rank *me = coll_i_stops_at(s, rank);
        memset(me, 0, sizeof *me);
        me->end.world = w;
        me->end.rank = rank;
        me->of = s;
        me->last = UINT32_MAX;
    }
    s->stopped = 0;
    s->n_before = 0;
    s->early = s->noticed = s->aborted = s->found_leftover = false;
    return true;
}

/* Is the rank still at it? */
COLL_INLINE bool coll_i_stops_runs(const coll_i_stops *s, uint32_t rank, coll_i_world_way how)
{
    return !coll_i_stops_has(s, rank) && coll_i_world_status(s->world, rank, how) == COLL_AGAIN;
}

/* Moves ranks on in turn until all have ended or stopped, or nothing moves; how often something did. */
COLL_INLINE uint32_t coll_i_stops_settle(coll_i_stops *s, coll_i_world_way how)
{
    const uint32_t patience = how == COLL_I_WORLD_IN_ORDER ? 1 : COLL_I_WINDOW_PATIENCE + 1;
    uint32_t rounds = 0, moves = 0, running = 1;
    for (uint32_t quiet = 0; running > 0 && quiet <= patience; quiet++) {
        running = 0;
        rounds++;
        for (uint32_t rank = 0; rank < s->world->p; rank++) {
            bool moved = false;
            if (!coll_i_stops_runs(s, rank, how))
                continue;
            if (coll_i_world_move(s->world, rank, how, &moved) != COLL_AGAIN || moved) {
                quiet = 0;
                moves = rounds;
            }
            if (coll_i_stops_runs(s, rank, how))
                running++;
        }
    }
    return moves;
}

/* The ranks of which the collective has ended well. */
COLL_INLINE uint64_t coll_i_stops_well(const coll_i_stops *s, coll_i_world_way how)
{
    uint64_t well = 0;
    for (uint32_t rank = 0; rank < s->world->p; rank++)
        if (!coll_i_stops_has(s, rank) && coll_i_world_status(s->world, rank, how) == COLL_OK)
            well |= (uint64_t)1 << rank;
    return well;
}

/* How many messages a rank has sent to another. */
COLL_INLINE uint32_t coll_i_stops_sent(const coll_i_stops *s, uint32_t from, uint32_t to)
{
    coll_i_channels *channels = &s->world->channels;
    const coll_i_channel_key *slot;
    if (channels->n == 0)
        return 0;
    slot = coll_i_channel_slot(channels, (uint64_t)from << 32 | to);
    return slot->epoch == channels->epoch ? coll_i_channel_at(channels, slot->index)->sent : 0;
}

/* Begins another collective, with new processes for the ranks that stopped: what was sent to those is
 * gone. In groups no rank comes to where others were in the first collective. */
COLL_INLINE void coll_i_stops_again(coll_i_stops *s)
{
    for (uint32_t rank = 0; rank < s->world->p; rank++) {
        coll_i_stops_rank *me = coll_i_stops_at(s, rank);
        me->last = UINT32_MAX;
        me->events = me->flying = 0;
    }
    for (uint32_t group = 0; group < COLL_NETWORK_GROUPS; group++) {
        uint32_t most = 0;
        for (uint32_t rank = 0; rank < s->world->p; rank++)
            if (coll_i_stops_at(s, rank)->end.meetings[group] > most)
                most = coll_i_stops_at(s, rank)->end.meetings[group];
        for (uint32_t rank = 0; rank < s->world->p; rank++)
            coll_i_stops_at(s, rank)->end.meetings[group] = most;
    }
    s->stopped = 0;
    s->noticed = s->aborted = s->early = false;
}

/* Keeps the channels as the first collective left them, those to ranks that stopped empty. Is a message left
 * over for a rank that lives? *no_memory tells that there was none. */
COLL_INLINE bool coll_i_stops_keep(coll_i_stops *s, bool *no_memory)
{
    coll_i_channels *channels = &s->world->channels;
    const size_t bytes = channels->n * sizeof(coll_i_channel);
    bool left = false;
    *no_memory = !coll_i_reserve_new(&s->before, bytes + 1);
    if (*no_memory)
        return false;
    for (uint32_t c = 0; c < channels->n; c++) {
        coll_i_channel *channel = coll_i_channel_at(channels, c);
        if (coll_i_stops_has(s, channel->to))
            channel->received = channel->sent;
        left = left || channel->sent > channel->received;
    }
    if (bytes > 0)
        memcpy(s->before.at, channels->list.at, bytes);
    s->n_before = channels->n;
    return left;
}

/* A rank that took a message of the first collective for one of the second; COLL_I_NONE: none did. */
COLL_INLINE uint32_t coll_i_stops_mistaken(const coll_i_stops *s)
{
    for (uint32_t c = 0; c < s->n_before; c++) {
        const coll_i_channel *before = (const coll_i_channel *)s->before.at + c;
        if (before->received < before->sent &&
            coll_i_channel_at(&s->world->channels, c)->received > before->received)
            return before->to;
    }
    return COLL_I_NONE;
}

COLL_INLINE void coll_i_stops_release(coll_i_stops *s)
{
    coll_i_release(&s->ranks);
    coll_i_release(&s->before);
}

#endif /* COLL_LAB_VERIFY_CRASH_WORLD_H */
