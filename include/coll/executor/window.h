/* coll/executor/window.h — the window of an engine: actions in flight, and which must wait for
 * which
 *
 * An action is admitted to a free slot in program order, and gets masks of the older slots that
 * it must wait for. When a slot's action ends, its bit leaves the masks of those that wait for
 * it, and they become ready to be looked at. Nothing here starts or moves anything: that is
 * executor.h, which includes this header.
 *
 * Two actions conflict if one writes what the other reads or writes. Besides, messages of one
 * channel (same direction, same peer) keep their order.
 */
#ifndef COLL_EXECUTOR_WINDOW_H
#define COLL_EXECUTOR_WINDOW_H

#include "../plan.h"
#include "../transport.h"

/* An action in the window. Bit k of a mask stands for slot k. */
typedef struct coll_slot {
    coll_action act; /* act.stride of a message: bytes of it that are done */
    coll_handle handle;
    uint32_t gate;  /* conflicting older actions that must end before this one starts … */
    uint32_t hold;  /* … or, RECV_REDUCE, before it combines */
    uint32_t order; /* the message before it of the same peer and direction */
    uint32_t dependents; /* slots that have this one in a mask */
} coll_slot;

/* The window of a rank, and how far its program has entered it. */
typedef struct coll_window {
    coll_slot *slots;
    size_t step, steps; /* the next step to enter, and how many there are */
    uint32_t free;      /* slots without an action */
    uint32_t pending;   /* slots whose action, or the last piece of it, has not started */
    uint32_t ready;     /* slots to look at: what they waited for changed, or may have */
    uint32_t flying;    /* slots with an operation that the transport works on */
    uint32_t staged;    /* slots whose message is staged and not yet combined */
    uint32_t apart;     /* slots whose staging or operands lie apart from their dst */
    uint16_t idle; /* calls of progress in a row in which nothing happened, at most 65535 */
    uint8_t size;  /* slots */
    uint8_t skip;  /* actions of step `step` that are in the window already */
} coll_window;

/* An empty window, before a program of so many steps. */
COLL_INLINE void coll_i_window_begin(coll_window *w, size_t steps)
{
    w->step = 0;
    w->steps = steps;
    w->free = UINT32_MAX >> (32 - w->size);
    w->pending = w->ready = w->flying = w->staged = w->apart = 0;
    w->idle = 0;
    w->skip = 0;
}

/* ---- conflicts --------------------------------------------------------------------------- */

/* What an action in a slot has as dst and src where its kind does not use them: overlaps
 * nothing. */
#define COLL_I_WINDOW_NOWHERE COLL_AT(COLL_SHARED, COLL_REF_LIMIT / 2)

/* Does o, in a slot, touch [ref, ref + count) so that a younger reader (writes: a writer) must
 * wait? */
COLL_HOT_INLINE bool coll_i_window_touches(const coll_action *o, coll_ref ref, size_t count,
                                           bool writes)
{
    if (coll_i_overlap(ref, count, o->dst, o->count) ||
        (writes && coll_i_overlap(ref, count, o->src, o->count)))
        return true;
    return (o->kind == COLL_DO_RECV_REDUCE || (writes && o->kind == COLL_DO_REDUCE)) &&
           coll_i_overlap(ref, count, o->via, coll_i_action_via_span(o));
}

/* The kinds that share channels with an action: nothing passes another of the same direction
 * and peer. */
COLL_INLINE unsigned coll_i_window_channel_kinds(const coll_action *a)
{
    if (coll_i_has(COLL_I_SENDS, a))
        return COLL_I_SENDS;
    if (coll_i_has(COLL_I_RECEIVES, a))
        return COLL_I_RECEIVES;
    return COLL_IN_NETWORK && a->kind == COLL_DO_NETWORK_REDUCE ? COLL_I_KIND(NETWORK_REDUCE)
                                                                : 0;
}

/* ---- the life of a slot ------------------------------------------------------------------ */

COLL_INLINE uint32_t coll_i_window_all(const coll_window *w)
{
    return UINT32_MAX >> (32 - w->size);
}

/* A message that its RECV_REDUCE cannot take yet is better left with the transport, from where
 * it later goes straight into the sum. But its sender may wait for that, and this rank for the
 * sender: surely where two ranks exchange what both then overwrite, and perhaps where nothing
 * has moved for so many calls of progress. Such a message is staged. */
enum {
    COLL_I_WINDOW_STAGE = 0x80, /* in flags: it waits for a send */
    COLL_I_WINDOW_ACQUIRED =
        0x40, /* in flags: a piece of it went straight into the sum, and all others do */
    COLL_I_WINDOW_RECEIVED = 0x20, /* in flags: it is not acquired */
    COLL_I_WINDOW_PATIENCE = 16
};

/* Older slots that an action conflicts with. */
typedef struct coll_i_window_waits {
    uint32_t start;   /* before it may start */
    uint32_t combine; /* before it may combine (RECV_REDUCE) or start (all others) */
} coll_i_window_waits;

/* The conflicts with some slots that stagings and REDUCE's operands bring, where they lie apart
 * from dst. */
COLL_INLINE void coll_i_window_via_waits(const coll_window *w, const coll_action *a,
                                         uint32_t used, coll_i_window_waits *waits)
{
    const bool writes = coll_i_has(COLL_I_WRITES_DST, a),
               reads = coll_i_has(COLL_I_READS_SRC, a);
    for (uint32_t left = w->apart & used; left; left &= left - 1) {
        const uint32_t j = COLL_LOWEST_BIT(left);
        const coll_action *o = &w->slots[j].act;
        const size_t span = coll_i_action_via_span(o);
        if ((writes && coll_i_overlap(a->dst, a->count, o->via, span)) ||
            (reads && o->kind == COLL_DO_RECV_REDUCE &&
             coll_i_overlap(a->src, a->count, o->via, span)))
            waits->combine |= (uint32_t)1 << j;
    }
    if (!coll_i_has(COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(REDUCE), a))
        return;
    for (uint32_t left = used; left; left &= left - 1) {
        const uint32_t j = COLL_LOWEST_BIT(left);
        const coll_action *o = &w->slots[j].act;
        if (a->kind == COLL_DO_REDUCE &&
            coll_i_window_touches(o, a->via, coll_i_action_via_span(a), false))
            waits->combine |= (uint32_t)1 << j;
        if (a->kind == COLL_DO_RECV_REDUCE && coll_i_window_touches(o, a->via, a->count, true))
            waits->start |= (uint32_t)1 << j;
    }
}

/* Finds which of some older slots an action must wait for: its conflicts, and *order, the message
 * before it on its channel. This loop is most of what the executor costs when the window is
 * full, hence its form: a range [x, x + n) meets [y, y + m) if x + n−1 − y, which wraps, is
 * below n−1 + m. */
COLL_HOT_INLINE coll_i_window_waits coll_i_window_find_waits(const coll_window *w,
                                                             const coll_action *a,
                                                             uint32_t used, uint32_t *order)
{
    const bool writes = coll_i_has(COLL_I_WRITES_DST, a),
               reads = coll_i_has(COLL_I_READS_SRC, a);
    const bool apart =
        a->kind == COLL_DO_REDUCE || (a->kind == COLL_DO_RECV_REDUCE && a->via != a->dst);
    const coll_ref elsewhere =
        COLL_I_WINDOW_NOWHERE + COLL_REF_LIMIT / 4; /* meets NOWHERE neither */
    const size_t more = a->count - 1;
    const coll_ref dst_last = (writes ? a->dst : elsewhere) + more;
    const coll_ref src_last = (reads ? a->src : elsewhere) + more;
    const unsigned kinds = coll_i_window_channel_kinds(a);
    uint32_t written = 0, read = 0, channel = 0, behind = 0;
    coll_i_window_waits waits;
    for (uint32_t left = used; left; left &= left - 1) {
        const uint32_t j = COLL_LOWEST_BIT(left);
        const coll_slot *older = &w->slots[j];
        const coll_action *o = &older->act;
        const size_t span = more + o->count;
        written |= (uint32_t)((dst_last - o->dst < span) | (dst_last - o->src < span)) << j;
        read |= (uint32_t)(src_last - o->dst < span) << j;
        if (coll_i_has(kinds, o) && coll_i_share_a_channel(o, a)) {
            channel |= (uint32_t)1 << j;
            behind |= older->order;
        }
    }
    *order =
        channel & ~behind & ~w->staged; /* the youngest: older ones come before it anyway */
    waits.start = apart ? 0 : written;  /* its staging is dst itself, or it has none */
    waits.combine = written | read;
    if (apart || w->apart)
        coll_i_window_via_waits(w, a, used, &waits);
    return waits;
}

/* Writes the action into a free slot, the lowest; what it must wait for is given. */
COLL_HOT_INLINE uint32_t coll_i_window_place(coll_window *w, const coll_action *a,
                                             coll_i_window_waits waits, uint32_t order)
{
    const uint32_t k = COLL_LOWEST_BIT(w->free), bit = (uint32_t)1 << k;
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    coll_slot *slot = &w->slots[k];
    uint32_t sends = 0;
    for (uint32_t left = waits.start | waits.combine | order; left; left &= left - 1) {
        coll_slot *older = &w->slots[COLL_LOWEST_BIT(left)];
        older->dependents |= bit;
        if (coll_i_has(COLL_I_SENDS, &older->act))
            sends |= left & (0 - left);
    }
    coll_i_action_assign(&slot->act, a);
    if (!coll_i_has(COLL_I_WRITES_DST, a))
        slot->act.dst = COLL_I_WINDOW_NOWHERE;
    if (!coll_i_has(COLL_I_READS_SRC, a))
        slot->act.src = COLL_I_WINDOW_NOWHERE;
    if (merges && (sends & waits.combine))
        slot->act.flags |= COLL_I_WINDOW_STAGE;
    slot->gate = merges ? waits.start : waits.combine;
    slot->hold = merges ? waits.combine : 0;
    slot->order = order;
    slot->dependents = 0;
    w->free &= ~bit;
    w->pending |= bit;
    w->apart &= ~bit;
    if (a->kind == COLL_DO_REDUCE || (merges && a->via != a->dst))
        w->apart |= bit;
    return k;
}

/* Writes the action into a free slot, and finds what it must wait for. */
COLL_INLINE uint32_t coll_i_window_admit(coll_window *w, const coll_action *a)
{
    uint32_t order = 0;
    coll_i_window_waits waits;
    waits.start = waits.combine = 0;
    if (w->free != coll_i_window_all(w))
        waits = coll_i_window_find_waits(w, a, coll_i_window_all(w) & ~w->free, &order);
    return coll_i_window_place(w, a, waits, order);
}

/* May the action of slot k, or its next piece, start? Nothing older that it conflicts with is
 * left, and the messages before it on its channel have started. */
COLL_INLINE bool coll_i_window_may_start(const coll_window *w, uint32_t k)
{
    const coll_slot *slot = &w->slots[k];
    return (w->pending & ~w->flying & (uint32_t)1 << k) != 0 && slot->gate == 0 &&
           (slot->order & w->pending) == 0;
}

/* The action of slot k is over: nobody waits for it any longer. Clearing when the slot ends,
 * not when it is used again, matters: an old action would else wait for a younger one in the
 * same slot. */
COLL_INLINE void coll_i_window_retire(coll_window *w, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k, dependents = w->slots[k].dependents;
    for (uint32_t left = dependents; left; left &= left - 1) {
        coll_slot *later = &w->slots[COLL_LOWEST_BIT(left)];
        later->gate &= ~bit;
        later->hold &= ~bit;
        later->order &= ~bit;
    }
    w->free |= bit;
    w->pending &= ~bit;
    w->flying &= ~bit;
    w->staged &= ~bit;
    w->ready = (w->ready & ~bit) | (dependents & ~w->free);
}

/* The message of slot k is staged: younger messages of its channel need not wait for the
 * combining. */
COLL_INLINE void coll_i_window_stage(coll_window *w, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k;
    for (uint32_t left = w->slots[k].dependents; left; left &= left - 1)
        w->slots[COLL_LOWEST_BIT(left)].order &= ~bit;
    w->ready |= w->slots[k].dependents & ~w->free;
    w->staged |= bit;
}

#endif /* COLL_EXECUTOR_WINDOW_H */
