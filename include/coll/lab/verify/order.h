/* coll/lab/verify/order.h — what happens before what, where only the executor's order counts
 *
 * A rank's actions are ordered only where the executor orders them: where refs conflict, and
 * within a channel; ranks are ordered by messages alone. Each action gets edges to those that
 * it waits for, and what precedes it is searched for along them. In a barrier every rank must
 * know, when it ends, of an action of every other. In a plan with SHARED any two actions that
 * touch one element of it, one of them writing, must be ordered. Where a sequence stands for calls
 * that use SHARED in turn, only that orders the actions of one call and another: no channel,
 * nor memory. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_ORDER_H
#define COLL_LAB_VERIFY_ORDER_H

#include "precedence.h"

/* Who touched an element of SHARED: the last writer, and the readers since then. */
typedef struct coll_i_touch {
    uint32_t writer, readers;
} coll_i_touch;

/* Does the action touch elements of SHARED? (Tokens do not: they are never dereferenced.) */
COLL_INLINE bool coll_i_is_shared(const coll_action *a)
{
    if (a->count == 0 || coll_i_is_token(a))
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

/* The oldest deed of others that touched [ref, ref + count), so that this one must come after
 * it. */
COLL_INLINE void coll_i_oldest(const coll_i_order *o, uint32_t deed, coll_ref ref, size_t count,
                               bool writes, uint32_t *oldest)
{
    const coll_i_touch *touched =
        (const coll_i_touch *)o->touched.at + coll_ref_offset(ref) +
        coll_i_order_rank_at(o, coll_i_deed_at(o, deed)->rank)->shared;
    for (size_t i = 0; coll_ref_space(ref) == COLL_SHARED && i < count; i++) {
        if (touched[i].writer < *oldest)
            *oldest = touched[i].writer;
        for (uint32_t note = writes ? touched[i].readers : COLL_I_NONE; note != COLL_I_NONE;
             note = coll_i_note_at(o, note)->next)
            if (coll_i_note_at(o, note)->deed < *oldest)
                *oldest = coll_i_note_at(o, note)->deed;
    }
}

/* Searches for what precedes a deed, down to `oldest`. A rank that copies many blocks after one
 * message finds each time the same. False: no memory. */
COLL_INLINE bool coll_i_search_once(coll_i_order *o, uint32_t deed, uint32_t oldest)
{
    const uint32_t *edges = (const uint32_t *)o->edges.at;
    const coll_i_deed *here = coll_i_deed_at(o, deed),
                      *last =
                          o->searched == COLL_I_NONE ? NULL : coll_i_deed_at(o, o->searched);
    const uint32_t n = here->n[COLL_I_OVER];
    if (last && o->oldest <= oldest && last->meeting == here->meeting &&
        last->n[COLL_I_OVER] == n &&
        memcmp(edges + last->first[COLL_I_OVER], edges + here->first[COLL_I_OVER],
               n * sizeof *edges) == 0)
        return true;
    o->query++;
    o->searched = deed;
    o->oldest = oldest;
    return coll_i_search(o, deed, COLL_I_OVER, oldest);
}

/* The deed touches [ref, ref + count) after what the last search found. */
COLL_INLINE bool coll_i_touch_range(coll_i_order *o, uint32_t deed, coll_ref ref, size_t count,
                                    bool writes, coll_report *report)
{
    coll_i_touch *touched = (coll_i_touch *)o->touched.at + coll_ref_offset(ref) +
                            coll_i_order_rank_at(o, coll_i_deed_at(o, deed)->rank)->shared;
    for (size_t i = 0; coll_ref_space(ref) == COLL_SHARED && i < count; i++) {
        const uint32_t writer = touched[i].writer;
        uint32_t note = touched[i].readers;
        if (writer != COLL_I_NONE && writer != deed &&
            coll_i_deed_at(o, writer)->known != o->query)
            return coll_i_found_race(o, deed, writer, coll_ref_offset(ref) + i, writes, report);
        for (; writes && note != COLL_I_NONE; note = coll_i_note_at(o, note)->next) {
            const uint32_t reader = coll_i_note_at(o, note)->deed;
            if (reader != deed && coll_i_deed_at(o, reader)->known != o->query)
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

/* A NETWORK_REDUCE reads when the rank comes, and writes when all have. */
COLL_INLINE bool coll_i_check_races(coll_i_order *o, uint32_t deed, coll_report *report)
{
    const coll_action a = coll_i_deed_at(o, deed)->act;
    const bool alone =
        a.kind == COLL_DO_NETWORK_REDUCE && coll_i_deed_at(o, deed)->meeting == COLL_I_NONE;
    const bool reads = coll_i_has(COLL_I_READS_SRC, &a),
               writes = coll_i_has(COLL_I_WRITES_DST, &a) && !alone;
    const uint32_t inputs = a.kind == COLL_DO_REDUCE ? a.inputs : 0;
    uint32_t oldest = COLL_I_NONE;
    if (!coll_i_is_shared(&a))
        return true;
    if (a.kind == COLL_DO_RECV_REDUCE) {
        coll_i_oldest(o, deed, a.via, a.count, true, &oldest);
        o->query++;
        o->searched = COLL_I_NONE;
        if (oldest != COLL_I_NONE && !coll_i_search(o, deed, COLL_I_STAGED, oldest))
            return coll_i_no_memory(report);
        if (!coll_i_touch_range(o, deed, a.via, a.count, true, report))
            return false;
        oldest = COLL_I_NONE;
    }
    if (reads)
        coll_i_oldest(o, deed, a.src, a.count, false, &oldest);
    for (uint32_t i = 0; i < inputs; i++)
        coll_i_oldest(o, deed, a.via + i * a.stride, a.count, false, &oldest);
    if (writes)
        coll_i_oldest(o, deed, a.dst, a.count, true, &oldest);
    if (oldest != COLL_I_NONE && !coll_i_search_once(o, deed, oldest))
        return coll_i_no_memory(report);
    if (reads && !coll_i_touch_range(o, deed, a.src, a.count, false, report))
        return false;
    for (uint32_t i = 0; i < inputs; i++)
        if (!coll_i_touch_range(o, deed, a.via + i * a.stride, a.count, false, report))
            return false;
    return !writes || coll_i_touch_range(o, deed, a.dst, a.count, true, report);
}

/* ---- the run ----------------------------------------------------------------------------- */

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

/* Waits the rank for its group? */
COLL_INLINE bool coll_i_order_meets(const coll_i_order *o, uint32_t rank, uint32_t group)
{
    const coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    return at->state == COLL_I_WAITS_ALL && at->peer == group;
}

/* All ranks of a group met in a NETWORK_REDUCE: what one knew when it came, all know, but not
 * that it is over for others. */
COLL_INLINE bool coll_i_order_meet(coll_i_order *o, uint32_t rank, uint32_t group,
                                   coll_report *report)
{
    const coll_i_deed last = *coll_i_deed_at(o, coll_i_order_rank_at(o, rank)->last);
    coll_i_deed *all = coll_i_deed_new(o, rank, last.step, &last.act);
    const uint32_t meeting = o->n_deeds - 1;
    if (!all)
        return coll_i_no_memory(report);
    coll_i_node_begin(o, all, COLL_I_OVER);
    for (uint32_t r = 0; r < o->p; r++) {
        const uint32_t deed = coll_i_order_rank_at(o, r)->last;
        if (!coll_i_order_meets(o, r, group))
            continue;
        if (!coll_i_edge(o, deed, o->barrier ? COLL_I_ITSELF : 0))
            return coll_i_no_memory(report);
        coll_i_deed_at(o, deed)->meeting = meeting;
    }
    coll_i_node_end(o, all, COLL_I_OVER);
    o->searched = COLL_I_NONE;
    for (uint32_t r = 0; r < o->p; r++) {
        if (!coll_i_order_meets(o, r, group))
            continue;
        if (!coll_i_check_races(o, coll_i_order_rank_at(o, r)->last, report))
            return false;
        coll_i_order_rank_at(o, r)->state = COLL_I_READY;
        if (r != rank)
            coll_i_order_ready(o, r);
    }
    o->met[group] = 0;
    return true;
}

/* The rank may begin its call: all that ranks did in calls up to the one before its turns is over. */
COLL_INLINE bool coll_i_order_enter(coll_i_order *o, uint32_t rank)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    coll_action none;
    coll_i_deed *deed;
    coll_i_act(&none, COLL_DO_NOTIFY, 0, 0);
    deed = coll_i_deed_new(o, rank, at->step, &none);
    if (!deed)
        return false;
    at->entered = o->n_deeds - 1;
    o->part = 0;
    coll_i_node_begin(o, deed, COLL_I_OVER);
    for (uint32_t r = 0; r < o->p; r++)
        for (uint32_t i = coll_i_order_rank_at(o, r)->last; i != COLL_I_NONE;
             i = coll_i_deed_at(o, i)->previous)
            if (coll_i_deed_at(o, i)->part + o->turns <= at->part &&
                !coll_i_edge(o, i, COLL_I_ITSELF))
                return false;
    coll_i_node_end(o, deed, COLL_I_OVER);
    return true;
}

/* A rank comes to its next step: perhaps of the next call, when others may begin theirs, and it
 * may have to wait until all are done with a call before. False: no memory. */
COLL_INLINE bool coll_i_order_turn(coll_i_order *o, uint32_t rank)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    const coll_composition *of = coll_i_composition(at->plan);
    size_t step = at->step;
    const uint32_t part =
        step < coll_plan_steps(at->plan, rank)
            ? (uint32_t)(coll_i_sequence_find(at->plan, rank, &step) - of->phases)
            : of->n;
    if (part == at->begun)
        return true;
    for (uint32_t r = 0; part != at->part && r < o->p; r++)
        if (r != rank && coll_i_order_rank_at(o, r)->state == COLL_I_WAITS_TURN)
            coll_i_order_ready(o, r);
    at->part = part;
    if (at->step == at->steps)
        return true;
    for (uint32_t r = 0; r < o->p; r++)
        if (coll_i_order_rank_at(o, r)->part + o->turns <= part) {
            at->state = COLL_I_WAITS_TURN;
            return true;
        }
    at->begun = part;
    return part < o->turns || coll_i_order_enter(o, rank);
}

/* Does a rank's next action, or lets the rank wait for a message, or for its group. False: a
 * finding. */
COLL_INLINE bool coll_i_order_act(coll_i_order *o, uint32_t rank, coll_report *report)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    const coll_action *a = &at->acts[at->next];
    const bool all = a->kind == COLL_DO_MULTICAST, meets = a->kind == COLL_DO_NETWORK_REDUCE;
    uint32_t message = COLL_I_NONE;
    if (a->count == 0) {
        at->next++;
        return true;
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
        !coll_i_check_races(o, at->last, report))
        return false;
    at->next++;
    if (coll_i_has(COLL_I_SENDS, a))
        for (uint32_t to = all ? 0 : a->peer; to <= (all ? o->p - 1 : a->peer); to++)
            if (to != rank && !coll_i_order_post(o, rank, to))
                return coll_i_no_memory(report);
    if (!meets)
        return true;
    at->state = COLL_I_WAITS_ALL;
    at->peer = a->peer;
    return ++o->met[a->peer] < a->stride || coll_i_order_meet(o, rank, a->peer, report);
}

/* Runs a rank until it ends or waits. False: a finding. */
COLL_INLINE bool coll_i_order_run_rank(coll_i_order *o, uint32_t rank, coll_report *report)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    for (;;) {
        while (at->next < at->n) {
            if (!coll_i_order_act(o, rank, report))
                return false;
            if (at->state != COLL_I_READY)
                return true;
        }
        if (o->turns && !coll_i_order_turn(o, rank))
            return coll_i_no_memory(report);
        if (at->state != COLL_I_READY)
            return true;
        if (at->step == at->steps)
            break;
        at->n = coll_plan_step(at->plan, rank, at->step++, at->acts);
        at->next = 0;
    }
    at->state = COLL_I_ENDED;
    return true;
}

/* Checks that each action is legal by itself. */
COLL_INLINE bool coll_i_check_actions(coll_i_data *d, coll_report *report)
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
        uint32_t deed = coll_i_order_rank_at(o, rank)->last;
        o->query++;
        o->searched = COLL_I_NONE;
        for (; deed != COLL_I_NONE; deed = coll_i_deed_at(o, deed)->previous)
            if (!coll_i_search(o, deed, COLL_I_OVER, 0))
                return coll_i_no_memory(report);
        for (uint32_t other = 0; other < o->p; other++)
            if (other != rank && coll_i_order_rank_at(o, other)->known != o->query)
                return coll_i_found(report, COLL_FOUND_BARRIER, rank, COLL_NO_STEP,
                                    "may leave the barrier before rank %u enters it", other);
    }
    return true;
}

/* Runs all ranks, and notes what they did and what precedes it. Races are looked for in plans with SHARED.
 * False: a finding. A deadlock is left to the data run. */
COLL_INLINE bool coll_i_order_run(coll_i_order *o, const coll_i_data *d, bool barrier,
                                  uint32_t turns, coll_report *report)
{
    const uint32_t p = o->p = d->p;
    const size_t shared = coll_i_rank_at(d, 0)->extent[COLL_SHARED] * d->nodes;
    o->barrier = barrier;
    o->turns = turns;
    o->part = 0;
    o->n_deeds = o->n_edges = o->n_notes = o->n_ranges = o->n_ready = o->mark = o->query = 0;
    o->searched = COLL_I_NONE;
    memset(o->met, 0, sizeof o->met);
    coll_i_channels_clear(&o->channels);
    coll_i_channels_clear(&o->places);
    if (!coll_i_reserve_new(&o->ranks, p * sizeof(coll_i_order_rank)) ||
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
        at->last = at->multicast = at->entered = COLL_I_NONE;
        at->known = at->part = at->begun = 0;
        for (int space = 0; space < COLL_SPACES; space++)
            at->ranges[space] = COLL_I_NONE;
        at->shared = coll_i_shared_base(d, rank);
        coll_i_order_ready(o, rank);
    }
    while (o->n_ready > 0)
        if (!coll_i_order_run_rank(o, ((uint32_t *)o->ready.at)[--o->n_ready], report))
            return false;
    return true;
}

/* Checks the causality of a barrier, which the data run has found to end, or the races of a
 * plan with SHARED, which the data run has set up and not yet run. False: a finding. */
COLL_INLINE bool coll_i_check_order(coll_i_order *o, coll_i_data *d, bool barrier,
                                    uint32_t turns, coll_report *report)
{
    return (barrier || coll_i_check_actions(d, report)) &&
           coll_i_order_run(o, d, barrier, turns, report) &&
           (!barrier || coll_i_check_barrier(o, report));
}

COLL_INLINE void coll_i_order_release(coll_i_order *o)
{
    coll_i_channels_release(&o->channels);
    coll_i_channels_release(&o->places);
    coll_i_release(&o->ranks);
    coll_i_release(&o->deeds);
    coll_i_release(&o->edges);
    coll_i_release(&o->notes);
    coll_i_release(&o->ranges);
    coll_i_release(&o->ready);
    coll_i_release(&o->touched);
    coll_i_release(&o->stack);
}

#endif /* COLL_LAB_VERIFY_ORDER_H */
