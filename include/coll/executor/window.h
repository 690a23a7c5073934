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

typedef struct coll_engine {
    const struct coll_task *run; /* executor.h */
    coll_slot *slots;
    size_t step, steps; /* the next step to enter the window, and how many there are */
    uint32_t free;      /* slots without an action */
    uint32_t pending;   /* slots whose action, or the last piece of it, has not started */
    uint32_t ready;     /* slots to look at: what they waited for changed, or may have */
    uint32_t flying;    /* slots with an operation that the transport works on */
    uint32_t landed;    /* slots whose message is staged and not yet combined */
    uint32_t apart;     /* slots whose staging or operands lie apart from their dst */
    coll_status status; /* COLL_AGAIN: running */
    uint16_t idle;  /* calls of progress in a row in which nothing happened, at most 65535 */
    uint8_t window; /* slots */
    uint8_t skip;   /* actions of step `step` that are in the window already */
} coll_engine;

/* ---- conflicts --------------------------------------------------------------------------- */

/* Elements that the operands at via span. */
COLL_INLINE size_t coll_i_via_span(const coll_action *a)
{
    return a->kind == COLL_DO_REDUCE ? (size_t)(a->inputs - 1) * a->stride + a->count
                                     : a->count;
}

/* What an action in a slot has as dst and src where its kind does not use them: overlaps
 * nothing. */
#define COLL_I_NOWHERE COLL_AT(COLL_SHARED, COLL_REF_LIMIT / 2)

/* Does o, in a slot, touch [ref, ref + count) so that a younger reader (writes: a writer) must
 * wait? */
COLL_HOT_INLINE bool coll_i_touches(const coll_action *o, coll_ref ref, size_t count,
                                    bool writes)
{
    if (coll_i_overlap(ref, count, o->dst, o->count) ||
        (writes && coll_i_overlap(ref, count, o->src, o->count)))
        return true;
    return (o->kind == COLL_DO_RECV_REDUCE || (writes && o->kind == COLL_DO_REDUCE)) &&
           coll_i_overlap(ref, count, o->via, coll_i_via_span(o));
}

/* The kinds that share channels with an action: nothing passes another of the same direction
 * and peer. */
COLL_INLINE unsigned coll_i_channel_kinds(const coll_action *a)
{
    if (coll_i_has(COLL_I_SENDS, a))
        return COLL_I_SENDS;
    if (coll_i_has(COLL_I_RECEIVES, a))
        return COLL_I_RECEIVES;
    return a->kind == COLL_DO_NETWORK_REDUCE ? COLL_I_KIND(NETWORK_REDUCE) : 0;
}

/* ---- the life of a slot ------------------------------------------------------------------ */

COLL_INLINE uint32_t coll_i_all(const coll_engine *r)
{
    return UINT32_MAX >> (32 - r->window);
}

/* A message that its RECV_REDUCE cannot take yet is better left with the transport, from where
 * it later goes straight into the sum. But its sender may wait for that, and this rank for the
 * sender: surely where two ranks exchange what both then overwrite, and perhaps where nothing
 * has moved for so many calls of progress. Such a message is staged. */
enum {
    COLL_I_STAGE = 0x80, /* in flags: it waits for a send */
    COLL_I_LENT =
        0x40, /* in flags: a piece of it went straight into the sum, and all others do */
    COLL_I_KEPT = 0x20, /* in flags: it is not acquired */
    COLL_I_PATIENCE = 16
};

/* Older slots that an action conflicts with. */
typedef struct coll_i_waits {
    uint32_t start;   /* before it may start */
    uint32_t combine; /* before it may combine (RECV_REDUCE) or start (all others) */
} coll_i_waits;

/* The conflicts with some slots that stagings and REDUCE's operands bring, where they lie apart
 * from dst. */
COLL_INLINE void coll_i_via_waits(const coll_engine *r, const coll_action *a, uint32_t used,
                                  coll_i_waits *waits)
{
    const bool writes = coll_i_has(COLL_I_WRITES_DST, a),
               reads = coll_i_has(COLL_I_READS_SRC, a);
    for (uint32_t left = r->apart & used; left; left &= left - 1) {
        const uint32_t j = COLL_LOWEST_BIT(left);
        const coll_action *o = &r->slots[j].act;
        const size_t span = coll_i_via_span(o);
        if ((writes && coll_i_overlap(a->dst, a->count, o->via, span)) ||
            (reads && o->kind == COLL_DO_RECV_REDUCE &&
             coll_i_overlap(a->src, a->count, o->via, span)))
            waits->combine |= (uint32_t)1 << j;
    }
    if (!coll_i_has(COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(REDUCE), a))
        return;
    for (uint32_t left = used; left; left &= left - 1) {
        const uint32_t j = COLL_LOWEST_BIT(left);
        const coll_action *o = &r->slots[j].act;
        if (a->kind == COLL_DO_REDUCE && coll_i_touches(o, a->via, coll_i_via_span(a), false))
            waits->combine |= (uint32_t)1 << j;
        if (a->kind == COLL_DO_RECV_REDUCE && coll_i_touches(o, a->via, a->count, true))
            waits->start |= (uint32_t)1 << j;
    }
}

/* Finds which of some older slots an action must wait for: its conflicts, and *order, the message
 * before it on its channel. This loop is most of what the executor costs when the window is
 * full, hence its form: a range [x, x + n) meets [y, y + m) if x + n−1 − y, which wraps, is
 * below n−1 + m. */
COLL_HOT_INLINE coll_i_waits coll_i_find_waits(const coll_engine *r, const coll_action *a,
                                               uint32_t used, uint32_t *order)
{
    const bool writes = coll_i_has(COLL_I_WRITES_DST, a),
               reads = coll_i_has(COLL_I_READS_SRC, a);
    const bool apart =
        a->kind == COLL_DO_REDUCE || (a->kind == COLL_DO_RECV_REDUCE && a->via != a->dst);
    const coll_ref elsewhere = COLL_I_NOWHERE + COLL_REF_LIMIT / 4; /* meets NOWHERE neither */
    const size_t more = a->count - 1;
    const coll_ref dst_last = (writes ? a->dst : elsewhere) + more;
    const coll_ref src_last = (reads ? a->src : elsewhere) + more;
    const unsigned kinds = coll_i_channel_kinds(a);
    uint32_t written = 0, read = 0, channel = 0, behind = 0;
    coll_i_waits waits;
    for (uint32_t left = used; left; left &= left - 1) {
        const uint32_t j = COLL_LOWEST_BIT(left);
        const coll_slot *older = &r->slots[j];
        const coll_action *o = &older->act;
        const size_t span = more + o->count;
        written |= (uint32_t)((dst_last - o->dst < span) | (dst_last - o->src < span)) << j;
        read |= (uint32_t)(src_last - o->dst < span) << j;
        if (coll_i_has(kinds, o) && (o->peer == a->peer || o->kind == COLL_DO_MULTICAST ||
                                     a->kind == COLL_DO_MULTICAST)) {
            channel |= (uint32_t)1 << j;
            behind |= older->order;
        }
    }
    *order =
        channel & ~behind & ~r->landed; /* the youngest: older ones come before it anyway */
    waits.start = apart ? 0 : written;  /* its staging is dst itself, or it has none */
    waits.combine = written | read;
    if (apart || r->apart)
        coll_i_via_waits(r, a, used, &waits);
    return waits;
}

/* Writes the action into a free slot, the lowest; what it must wait for is given. */
COLL_HOT_INLINE uint32_t coll_i_place(coll_engine *r, const coll_action *a, coll_i_waits waits,
                                      uint32_t order)
{
    const uint32_t k = COLL_LOWEST_BIT(r->free), bit = (uint32_t)1 << k;
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    coll_slot *slot = &r->slots[k];
    uint32_t sends = 0;
    for (uint32_t left = waits.start | waits.combine | order; left; left &= left - 1) {
        coll_slot *older = &r->slots[COLL_LOWEST_BIT(left)];
        older->dependents |= bit;
        if (coll_i_has(COLL_I_SENDS, &older->act))
            sends |= left & (0 - left);
    }
    coll_i_action_assign(&slot->act, a);
    if (!coll_i_has(COLL_I_WRITES_DST, a))
        slot->act.dst = COLL_I_NOWHERE;
    if (!coll_i_has(COLL_I_READS_SRC, a))
        slot->act.src = COLL_I_NOWHERE;
    if (merges && (sends & waits.combine))
        slot->act.flags |= COLL_I_STAGE;
    slot->gate = merges ? waits.start : waits.combine;
    slot->hold = merges ? waits.combine : 0;
    slot->order = order;
    slot->dependents = 0;
    r->free &= ~bit;
    r->pending |= bit;
    r->apart &= ~bit;
    if (a->kind == COLL_DO_REDUCE || (merges && a->via != a->dst))
        r->apart |= bit;
    return k;
}

/* Writes the action into a free slot, and finds what it must wait for. */
COLL_INLINE uint32_t coll_i_admit(coll_engine *r, const coll_action *a)
{
    uint32_t order = 0;
    coll_i_waits waits;
    waits.start = waits.combine = 0;
    if (r->free != coll_i_all(r))
        waits = coll_i_find_waits(r, a, coll_i_all(r) & ~r->free, &order);
    return coll_i_place(r, a, waits, order);
}

/* May the action of slot k, or its next piece, start? Nothing older that it conflicts with is
 * left, and the messages before it on its channel have started. */
COLL_INLINE bool coll_i_may_start(const coll_engine *r, uint32_t k)
{
    const coll_slot *slot = &r->slots[k];
    return (r->pending & ~r->flying & (uint32_t)1 << k) != 0 && slot->gate == 0 &&
           (slot->order & r->pending) == 0;
}

/* The action of slot k is over: nobody waits for it any longer. Clearing when the slot ends,
 * not when it is used again, matters: an old action would else wait for a younger one in the
 * same slot. */
COLL_INLINE void coll_i_finish(coll_engine *r, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k, dependents = r->slots[k].dependents;
    for (uint32_t left = dependents; left; left &= left - 1) {
        coll_slot *later = &r->slots[COLL_LOWEST_BIT(left)];
        later->gate &= ~bit;
        later->hold &= ~bit;
        later->order &= ~bit;
    }
    r->free |= bit;
    r->pending &= ~bit;
    r->flying &= ~bit;
    r->landed &= ~bit;
    r->ready = (r->ready & ~bit) | (dependents & ~r->free);
}

/* The message of slot k is staged: younger messages of its channel need not wait for the
 * combining. */
COLL_INLINE void coll_i_land(coll_engine *r, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k;
    for (uint32_t left = r->slots[k].dependents; left; left &= left - 1)
        r->slots[COLL_LOWEST_BIT(left)].order &= ~bit;
    r->ready |= r->slots[k].dependents & ~r->free;
    r->landed |= bit;
}

#endif /* COLL_EXECUTOR_WINDOW_H */
