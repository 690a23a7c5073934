/* coll/verify/order.h — what happens before what, where only the executor's order counts
 *
 * A rank's actions are ordered only where the executor orders them: where refs conflict, and
 * within a channel; ranks are ordered by messages alone. Each action gets the set of events
 * that are certain to have happened before it. For a barrier the events are the ranks' entries,
 * and every rank must know all of them when it ends. For a plan with SHARED they are the
 * actions that touch it, and two that touch one element, one of them writing, must be ordered.
 * Use verify.h.
 */
#ifndef COLL_VERIFY_ORDER_H
#define COLL_VERIFY_ORDER_H

#include "../request.h"
#include "data.h"

/* An action that was run. Its sets are bit sets of events, at these words of `sets`. */
typedef struct coll_i_deed {
    coll_action act;
    size_t step;
    uint32_t rank;
    uint32_t previous; /* the rank's deed before this one */
    uint32_t event;    /* its own; COLL_I_NONE */
    size_t before;     /* what is sure to have happened when it is over, without itself */
    size_t received;   /* … when its message is here, though not yet combined */
} coll_i_deed;

typedef struct coll_i_order_rank {
    const coll_plan *plan;
    size_t step, steps;
    uint32_t n, next, last; /* last deed */
    uint32_t state, peer;
    size_t shared; /* where its node's SHARED begins in `touched` */
    coll_action acts[COLL_STEP_MAX];
} coll_i_order_rank;

/* A note in a channel, or that a deed read an element. */
typedef struct coll_i_note {
    uint32_t deed, next;
} coll_i_note;

typedef struct coll_i_order {
    coll_i_channels channels;
    coll_i_memory ranks, deeds, sets, notes, ready, touched;
    uint32_t p, n_deeds, n_notes, n_ready, n_events;
    uint32_t met[COLL_TEAMS]; /* ranks of each team in its current FABRIC_REDUCE */
    size_t words, used;       /* of a set; of all sets */
    size_t staging; /* a set: what precedes the write to the staging of a RECV_REDUCE */
    bool barrier;
} coll_i_order;

/* Who touched an element of SHARED: the last writer, and the readers since then. */
typedef struct coll_i_touch {
    uint32_t writer, readers;
} coll_i_touch;

COLL_INLINE coll_i_deed *coll_i_deed_at(const coll_i_order *o, uint32_t deed)
{
    return (coll_i_deed *)o->deeds.at + deed;
}

COLL_INLINE uint64_t *coll_i_set_at(const coll_i_order *o, size_t set)
{
    return (uint64_t *)o->sets.at + set;
}

COLL_INLINE void coll_i_set_join(const coll_i_order *o, size_t set, size_t other)
{
    uint64_t *to = coll_i_set_at(o, set);
    const uint64_t *from = coll_i_set_at(o, other);
    for (size_t i = 0; i < o->words; i++)
        to[i] |= from[i];
}

COLL_INLINE void coll_i_set_add(const coll_i_order *o, size_t set, uint32_t event)
{
    if (event != COLL_I_NONE)
        coll_i_set_at(o, set)[event / 64] |= (uint64_t)1 << event % 64;
}

COLL_INLINE bool coll_i_set_has(const coll_i_order *o, size_t set, uint32_t event)
{
    return (coll_i_set_at(o, set)[event / 64] >> event % 64 & 1u) != 0;
}

/* A new, empty set; SIZE_MAX: no memory. */
COLL_INLINE size_t coll_i_set_new(coll_i_order *o)
{
    const size_t set = o->used;
    if (!coll_i_reserve(&o->sets, (set + o->words) * sizeof(uint64_t)))
        return SIZE_MAX;
    memset(coll_i_set_at(o, set), 0, o->words * sizeof(uint64_t));
    o->used += o->words;
    return set;
}

COLL_INLINE coll_i_order_rank *coll_i_order_rank_at(const coll_i_order *o, uint32_t rank)
{
    return (coll_i_order_rank *)o->ranks.at + rank;
}

COLL_INLINE coll_i_note *coll_i_note_at(const coll_i_order *o, uint32_t note)
{
    return (coll_i_note *)o->notes.at + note;
}

COLL_INLINE uint32_t coll_i_note_new(coll_i_order *o, uint32_t deed, uint32_t next)
{
    if (!coll_i_reserve(&o->notes, (o->n_notes + (size_t)1) * sizeof(coll_i_note)))
        return COLL_I_NONE;
    coll_i_note_at(o, o->n_notes)->deed = deed;
    coll_i_note_at(o, o->n_notes)->next = next;
    return o->n_notes++;
}

/* Does the action touch elements of SHARED? (Tokens do not: they are never dereferenced.) */
COLL_INLINE bool coll_i_is_shared(const coll_action *a)
{
    if (a->count == 0 || coll_i_has(COLL_I_TOKENS, a))
        return false;
    return (coll_i_has(COLL_I_READS_SRC, a) && coll_ref_space(a->src) == COLL_SHARED) ||
           (coll_i_has(COLL_I_WRITES_DST, a) && coll_ref_space(a->dst) == COLL_SHARED) ||
           ((a->kind == COLL_DO_REDUCE || a->kind == COLL_DO_RECV_REDUCE) &&
            coll_ref_space(a->via) == COLL_SHARED);
}

/* ---- races ------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_found_race(const coll_i_order *o, uint32_t deed, uint32_t other,
                                   size_t element, bool writes, coll_report *report)
{
    const coll_i_deed *here = coll_i_deed_at(o, deed), *there = coll_i_deed_at(o, other);
    return coll_i_found(report, COLL_FOUND_RACE, here->rank, here->step,
                        "%s SHARED[%zu] in no order with rank %u, step %zu",
                        writes ? "writes" : "reads", element, there->rank, there->step);
}

/* The deed touches [ref, ref + count) after the events of `set`. */
COLL_INLINE bool coll_i_touch_range(coll_i_order *o, uint32_t deed, size_t set, coll_ref ref,
                                    size_t count, bool writes, coll_report *report)
{
    coll_i_touch *touched = (coll_i_touch *)o->touched.at + coll_ref_offset(ref) +
                            coll_i_order_rank_at(o, coll_i_deed_at(o, deed)->rank)->shared;
    if (coll_ref_space(ref) != COLL_SHARED)
        return true;
    for (size_t i = 0; i < count; i++) {
        const uint32_t writer = touched[i].writer;
        uint32_t note = touched[i].readers;
        if (writer != COLL_I_NONE && writer != deed &&
            !coll_i_set_has(o, set, coll_i_deed_at(o, writer)->event))
            return coll_i_found_race(o, deed, writer, coll_ref_offset(ref) + i, writes, report);
        for (; writes && note != COLL_I_NONE; note = coll_i_note_at(o, note)->next) {
            const uint32_t reader = coll_i_note_at(o, note)->deed;
            if (reader != deed && !coll_i_set_has(o, set, coll_i_deed_at(o, reader)->event))
                return coll_i_found_race(o, deed, reader, coll_ref_offset(ref) + i, true,
                                         report);
        }
        if (writes) {
            touched[i].writer = deed;
            touched[i].readers = COLL_I_NONE;
        } else {
            touched[i].readers = coll_i_note_new(o, deed, touched[i].readers);
            if (touched[i].readers == COLL_I_NONE)
                return coll_i_no_memory(report);
        }
    }
    return true;
}

COLL_INLINE bool coll_i_check_races(coll_i_order *o, uint32_t deed, coll_report *report)
{
    const coll_action a = coll_i_deed_at(o, deed)->act;
    const size_t set = coll_i_deed_at(o, deed)->before;
    if (!coll_i_is_shared(&a))
        return true;
    if (coll_i_has(COLL_I_READS_SRC, &a) &&
        !coll_i_touch_range(o, deed, set, a.src, a.count, false, report))
        return false;
    for (uint32_t i = 0; a.kind == COLL_DO_REDUCE && i < a.inputs; i++)
        if (!coll_i_touch_range(o, deed, set, a.via + i * a.stride, a.count, false, report))
            return false;
    if (a.kind == COLL_DO_RECV_REDUCE &&
        !coll_i_touch_range(o, deed, o->staging, a.via, a.count, true, report))
        return false;
    return !coll_i_has(COLL_I_WRITES_DST, &a) ||
           coll_i_touch_range(o, deed, set, a.dst, a.count, true, report);
}

/* ---- what the executor orders ------------------------------------------------------------ */

/* Must action a wait for an older one o of its rank, as coll_i_admit has it? o's unused refs
 * are nowhere. */
COLL_INLINE bool coll_i_waits_on(const coll_action *a, const coll_action *o)
{
    return (coll_i_has(COLL_I_WRITES_DST, a) && coll_i_touches(o, a->dst, a->count, true)) ||
           (coll_i_has(COLL_I_READS_SRC, a) && coll_i_touches(o, a->src, a->count, false)) ||
           (a->kind == COLL_DO_REDUCE && coll_i_touches(o, a->via, coll_i_via_span(a), false));
}

/* Are both messages of one channel: the same direction, and the same peer (a multicast: any)? */
COLL_INLINE bool coll_i_same_channel(const coll_action *a, const coll_action *o)
{
    return coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, a) &&
           coll_i_has(coll_i_channel_kinds(a), o) &&
           (a->peer == o->peer || a->kind == COLL_DO_MULTICAST || o->kind == COLL_DO_MULTICAST);
}

/* ---- the run ----------------------------------------------------------------------------- */

/* What the executor orders before a deed of this rank: joins it to the deed's sets. */
COLL_INLINE void coll_i_order_within(const coll_i_order *o, const coll_i_deed *deed)
{
    const coll_action *a = &deed->act;
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    for (uint32_t p = deed->previous; p != COLL_I_NONE; p = coll_i_deed_at(o, p)->previous) {
        const coll_i_deed *older = coll_i_deed_at(o, p);
        if (coll_i_waits_on(a, &older->act)) {
            coll_i_set_join(o, deed->before, older->before);
            coll_i_set_add(o, deed->before, older->event);
        }
        if (merges && coll_i_touches(&older->act, a->via, a->count, true)) {
            coll_i_set_join(o, o->staging, older->before);
            coll_i_set_add(o, o->staging, older->event);
        }
        if (coll_i_has(COLL_I_SENDS, a) && coll_i_same_channel(a, &older->act))
            coll_i_set_join(o, deed->before, older->before);
        if (coll_i_has(COLL_I_RECEIVES, a) && coll_i_same_channel(a, &older->act)) {
            coll_i_set_join(o, deed->received, older->received);
            if (older->act.kind != COLL_DO_RECV_REDUCE)
                coll_i_set_add(o, deed->received, older->event);
        }
    }
}

/* Records a deed, with its sets. `message` is the deed that sent what it receives, or
 * COLL_I_NONE. */
COLL_INLINE bool coll_i_order_deed(coll_i_order *o, uint32_t rank, size_t step,
                                   const coll_action *a, uint32_t message, coll_report *report)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    const uint32_t index = o->n_deeds;
    coll_i_deed *deed;
    if (!coll_i_reserve(&o->deeds, (index + (size_t)1) * sizeof(coll_i_deed)))
        return coll_i_no_memory(report);
    deed = coll_i_deed_at(o, index);
    deed->act = *a;
    if (!coll_i_has(COLL_I_WRITES_DST, a))
        deed->act.dst = COLL_I_NOWHERE;
    if (!coll_i_has(COLL_I_READS_SRC, a))
        deed->act.src = COLL_I_NOWHERE;
    deed->step = step;
    deed->rank = rank;
    deed->previous = at->last;
    deed->event = o->barrier ? rank : coll_i_is_shared(a) ? o->n_events++ : COLL_I_NONE;
    deed->before = coll_i_set_new(o);
    deed->received = coll_i_has(COLL_I_RECEIVES, a) ? coll_i_set_new(o) : deed->before;
    if (deed->before == SIZE_MAX || deed->received == SIZE_MAX)
        return coll_i_no_memory(report);
    memset(coll_i_set_at(o, o->staging), 0, o->words * sizeof(uint64_t));
    if (message != COLL_I_NONE) {
        const coll_i_deed *sent = coll_i_deed_at(o, message);
        coll_i_set_join(o, deed->received, sent->before);
        if (o->barrier || sent->act.kind != COLL_DO_MULTICAST) /* others may still receive it */
            coll_i_set_add(o, deed->received, sent->event);
    }
    coll_i_order_within(o, deed);
    coll_i_set_join(o, deed->before, deed->received);
    coll_i_set_join(o, o->staging, deed->received);
    if (a->kind == COLL_DO_RECV || a->kind == COLL_DO_AWAIT)
        coll_i_set_join(o, deed->received, deed->before);
    at->last = index;
    o->n_deeds++;
    return true;
}

COLL_INLINE void coll_i_order_ready(coll_i_order *o, uint32_t rank)
{
    coll_i_order_rank_at(o, rank)->state = COLL_I_READY;
    ((uint32_t *)o->ready.at)[o->n_ready++] = rank;
}

/* Tells `to` of the rank's last deed. */
COLL_INLINE bool coll_i_order_post(coll_i_order *o, uint32_t rank, uint32_t to)
{
    const uint32_t c = coll_i_channel_of(&o->channels, rank, to);
    const coll_i_order_rank *receiver = coll_i_order_rank_at(o, to);
    const uint32_t note = coll_i_note_new(o, coll_i_order_rank_at(o, rank)->last, COLL_I_NONE);
    coll_i_channel *channel;
    if (c == COLL_I_NONE || note == COLL_I_NONE)
        return false;
    channel = coll_i_channel_at(&o->channels, c);
    if (channel->head == COLL_I_NONE)
        channel->head = note;
    else
        coll_i_note_at(o, channel->tail)->next = note;
    channel->tail = note;
    if (receiver->state == COLL_I_WAITS && receiver->peer == rank)
        coll_i_order_ready(o, to);
    return true;
}

/* Waits the rank for its team? */
COLL_INLINE bool coll_i_order_meets(const coll_i_order *o, uint32_t rank, uint32_t team)
{
    const coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    return at->state == COLL_I_WAITS_ALL && at->peer == team;
}

/* All ranks of a team met in a FABRIC_REDUCE: what one knew when it came, all know, but not
 * that it is over for others. */
COLL_INLINE bool coll_i_order_meet(coll_i_order *o, uint32_t rank, uint32_t team,
                                   coll_report *report)
{
    const size_t all = coll_i_set_new(o);
    if (all == SIZE_MAX)
        return coll_i_no_memory(report);
    for (uint32_t r = 0; r < o->p; r++) {
        const coll_i_deed *deed;
        if (!coll_i_order_meets(o, r, team))
            continue;
        deed = coll_i_deed_at(o, coll_i_order_rank_at(o, r)->last);
        coll_i_set_join(o, all, deed->before);
        if (o->barrier)
            coll_i_set_add(o, all, deed->event);
    }
    for (uint32_t r = 0; r < o->p; r++) {
        const uint32_t deed = coll_i_order_rank_at(o, r)->last;
        if (!coll_i_order_meets(o, r, team))
            continue;
        coll_i_set_join(o, coll_i_deed_at(o, deed)->before, all);
        if (!coll_i_check_races(o, deed, report))
            return false;
        coll_i_order_rank_at(o, r)->state = COLL_I_READY;
        if (r != rank)
            coll_i_order_ready(o, r);
    }
    o->met[team] = 0;
    return true;
}

/* Runs a rank until it ends or waits. False: a finding. */
COLL_INLINE bool coll_i_order_run_rank(coll_i_order *o, uint32_t rank, coll_report *report)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    for (;;) {
        while (at->next < at->n) {
            const coll_action *a = &at->acts[at->next];
            uint32_t message = COLL_I_NONE;
            if (a->count == 0) {
                at->next++;
                continue;
            }
            if (coll_i_has(COLL_I_RECEIVES, a)) {
                const uint32_t c = coll_i_channel_of(&o->channels, a->peer, rank);
                coll_i_channel *channel;
                if (c == COLL_I_NONE)
                    return coll_i_no_memory(report);
                channel = coll_i_channel_at(&o->channels, c);
                if (channel->head == COLL_I_NONE) {
                    at->state = COLL_I_WAITS;
                    at->peer = a->peer;
                    return true;
                }
                message = coll_i_note_at(o, channel->head)->deed;
                channel->head = coll_i_note_at(o, channel->head)->next;
            }
            if (!coll_i_order_deed(o, rank, at->step - 1, a, message, report) ||
                (a->kind != COLL_DO_FABRIC_REDUCE && !coll_i_check_races(o, at->last, report)))
                return false;
            at->next++;
            if (coll_i_has(COLL_I_SENDS, a)) {
                const bool all = a->kind == COLL_DO_MULTICAST;
                for (uint32_t to = all ? 0 : a->peer; to <= (all ? o->p - 1 : a->peer); to++)
                    if (to != rank && !coll_i_order_post(o, rank, to))
                        return coll_i_no_memory(report);
            }
            if (a->kind == COLL_DO_FABRIC_REDUCE) {
                at->state = COLL_I_WAITS_ALL;
                at->peer = a->peer;
                if (++o->met[a->peer] < a->stride)
                    return true;
                if (!coll_i_order_meet(o, rank, a->peer, report))
                    return false;
            }
        }
        if (at->step == at->steps)
            break;
        at->n = coll_plan_step(at->plan, rank, at->step++, at->acts);
        at->next = 0;
    }
    at->state = COLL_I_ENDED;
    return true;
}

/* Counts the actions that touch SHARED, after checking that each action is legal by itself. */
COLL_INLINE bool coll_i_count_shared(coll_i_data *d, uint32_t *events, coll_report *report)
{
    for (uint32_t rank = 0; rank < d->p; rank++) {
        coll_i_rank *at = coll_i_rank_at(d, rank);
        while (at->step < at->steps) {
            if (!coll_i_take_step(d, rank, report))
                return false;
            for (uint32_t i = 0; i < at->n; i++) {
                const coll_action *a = &at->acts[i];
                if (!coll_i_check_kind(d, rank, at->step - 1, a, report) ||
                    (a->count > 0 && !coll_i_check_action(d, rank, at->step - 1, a, report)))
                    return false;
                *events += coll_i_is_shared(a);
            }
        }
        at->step = at->n = at->next = 0;
    }
    return true;
}

/* Every rank must know, when all its actions are over, that every other has entered. */
COLL_INLINE bool coll_i_check_barrier(coll_i_order *o, coll_report *report)
{
    for (uint32_t rank = 0; rank < o->p; rank++) {
        const size_t known = o->staging;
        uint32_t deed = coll_i_order_rank_at(o, rank)->last;
        memset(coll_i_set_at(o, known), 0, o->words * sizeof(uint64_t));
        coll_i_set_add(o, known, rank);
        for (; deed != COLL_I_NONE; deed = coll_i_deed_at(o, deed)->previous)
            coll_i_set_join(o, known, coll_i_deed_at(o, deed)->before);
        for (uint32_t other = 0; other < o->p; other++)
            if (!coll_i_set_has(o, known, other))
                return coll_i_found(report, COLL_FOUND_BARRIER, rank, COLL_NO_STEP,
                                    "may leave the barrier before rank %u enters it", other);
    }
    return true;
}

/* Checks the causality of a barrier, which the data run has found to end, or the races of a
 * plan with SHARED, which the data run has set up and not yet run. False: a finding. A deadlock
 * is left to the data run. */
COLL_INLINE bool coll_i_check_order(coll_i_order *o, coll_i_data *d, bool barrier,
                                    coll_report *report)
{
    const uint32_t p = o->p = d->p;
    uint32_t events = p;
    const size_t shared = coll_i_rank_at(d, 0)->extent[COLL_SHARED] *
                          coll_nodes_count(&coll_i_rank_at(d, 0)->plan->problem.nodes);
    o->barrier = barrier;
    if (!barrier) {
        events = 0;
        if (!coll_i_count_shared(d, &events, report))
            return false;
    }
    o->words = events / 64 + 1;
    o->used = 0;
    o->n_deeds = o->n_notes = o->n_ready = o->n_events = 0;
    memset(o->met, 0, sizeof o->met);
    o->staging = coll_i_set_new(o);
    coll_i_channels_clear(&o->channels);
    if (o->staging == SIZE_MAX ||
        !coll_i_reserve_new(&o->ranks, p * sizeof(coll_i_order_rank)) ||
        !coll_i_reserve_new(&o->ready, p * sizeof(uint32_t)) ||
        !coll_i_reserve_new(&o->touched, shared * sizeof(coll_i_touch)))
        return coll_i_no_memory(report);
    for (size_t i = 0; i < shared; i++) {
        ((coll_i_touch *)o->touched.at)[i].writer = COLL_I_NONE;
        ((coll_i_touch *)o->touched.at)[i].readers = COLL_I_NONE;
    }
    for (uint32_t rank = p; rank-- > 0;) {
        coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
        at->plan = coll_i_rank_at(d, rank)->plan;
        at->step = 0;
        at->steps = coll_i_rank_at(d, rank)->steps;
        at->n = at->next = 0;
        at->last = COLL_I_NONE;
        at->shared = coll_i_shared_base(coll_i_rank_at(d, rank), rank);
        coll_i_order_ready(o, rank);
    }
    while (o->n_ready > 0)
        if (!coll_i_order_run_rank(o, ((uint32_t *)o->ready.at)[--o->n_ready], report))
            return false;
    return !barrier || coll_i_check_barrier(o, report);
}

COLL_INLINE void coll_i_order_release(coll_i_order *o)
{
    coll_i_channels_release(&o->channels);
    coll_i_release(&o->ranks);
    coll_i_release(&o->deeds);
    coll_i_release(&o->sets);
    coll_i_release(&o->notes);
    coll_i_release(&o->ready);
    coll_i_release(&o->touched);
}

#endif /* COLL_VERIFY_ORDER_H */
