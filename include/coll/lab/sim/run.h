/* coll/lab/sim/run.h — runs the ranks of a plan through simulated time
 *
 * The semantics are those of executor.h, on the same window (executor/window.h): what starts,
 * waits, lands and ends is decided by the same masks. Instead of asking a transport, a slot is
 * told when it ends, by an event; an end that nothing waits for has none, and is noticed when
 * something does. Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_RUN_H
#define COLL_LAB_SIM_RUN_H

#include "adapter_events.h"

/* ---- slots ------------------------------------------------------------------------------- */

/* Slot k begins to compute. */
COLL_INLINE void coll_i_sim_compute(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_action *act = &at->window.slots[k].act;
    coll_action outside;
    coll_cost cost;
    coll_time late;
    coll_i_cost_clear(&cost);
    if (sim->nics && coll_i_sim_nic_asks(sim, rank, k))
        return;
    if (sim->outside && act->kind == COLL_DO_RECV_REDUCE) {
        outside = *act;
        outside.peer = coll_i_sim_outer(sim, act->peer);
        act = &outside;
    }
    if (model->compute)
        model->compute(model, coll_i_sim_outer(sim, rank), act,
                       sim->plans[0].problem.elem_bytes, &cost);
    if (cost.flow > 0) {
        const uint32_t flow =
            coll_i_sim_flow(sim, rank, COLL_RANK_NONE, cost.flow, sim->now + cost.cpu);
        if (flow == COLL_RANK_NONE)
            return;
        coll_i_sim_flow_at(sim, flow)->slot = (uint8_t)k;
        coll_i_sim_flow_at(sim, flow)->start = sim->now;
        at->open |= (uint32_t)1 << k;
        at->cpu = COLL_NEVER;
        coll_i_sim_hold(sim, rank);
        return;
    }
    late = coll_i_sim_occupy(sim, rank, sim->now, cost.cpu);
    late += sim->now + coll_later(cost.cpu, cost.done);
    coll_i_sim_see(sim, COLL_SEEN_COMPUTE, rank, late, &at->window.slots[k].act);
    if (sim->nics)
        coll_i_sim_nic_computed(sim, rank, k, late);
    coll_i_sim_ends(sim, rank, k, late);
}

/* An event of flow i: when it has ended, the message is there, or the computation done. */
COLL_I_RARE void coll_i_sim_flow_event(coll_sim *sim, uint32_t rank, uint32_t i)
{
    const coll_i_sim_flow_state *flow = coll_i_sim_flow_at(sim, i);
    coll_i_sim_rank *at = &sim->ranks[rank];
    if (flow->rank != rank || !coll_i_sim_flows(sim, i))
        return; /* an old event, perhaps of a flow that had this number before */
    if (flow->message != COLL_RANK_NONE) {
        coll_i_sim_flowed(sim, rank, flow->message);
        return;
    }
    {
        const coll_time now = sim->now;
        (void)coll_i_sim_occupy(sim, rank, flow->start, now - flow->start);
        sim->now = flow->start; /* the processor has worked since then */
        coll_i_sim_see(sim, COLL_SEEN_COMPUTE, rank, at->cpu,
                       &at->window.slots[flow->slot].act);
        sim->now = now;
    }
    coll_i_sim_ends(sim, rank, flow->slot, at->cpu);
}

/* Must slot k wait for the message before it on its channel? */
COLL_INLINE bool coll_i_sim_behind(const coll_sim *sim, const coll_i_sim_rank *at, uint32_t k)
{
    const uint32_t before = at->window.slots[k].order;
    return (before & (sim->options.model->step > 0 ? at->waits | at->open : at->waits)) != 0;
}

/* Slot k is ready to send or to compute. */
COLL_INLINE void coll_i_sim_work(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    const bool sends = coll_i_has(COLL_I_SENDS, &at->window.slots[k].act);
    if (!coll_i_sim_idle(sim, at, sends ? at->out : 0) || coll_i_sim_behind(sim, at, k)) {
        at->waits |= (uint32_t)1 << k;
        coll_i_slot_set_time(&at->window.slots[k], sim->now);
    } else if (sends) {
        coll_i_sim_send(sim, rank, k);
    } else {
        coll_i_sim_compute(sim, rank, k);
    }
}

/* Can nothing of slot k begin yet? So it is with most slots that are looked at, and they are
 * passed over here before anything of them is done. */
COLL_HOT_INLINE bool coll_i_sim_held(const coll_window *w, uint32_t k)
{
    return w->slots[k].gate != 0 || ((w->staged >> k & 1) && w->slots[k].hold != 0);
}

/* Begins the action of slot k. */
COLL_INLINE void coll_i_sim_start_slot(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_window *w = &sim->ranks[rank].window;
    const coll_slot *slot = &w->slots[k];
    w->pending &= ~((uint32_t)1 << k);
    w->flying |= (uint32_t)1 << k;
    w->ready |= slot->dependents & ~w->free;
    coll_i_sim_see(sim, COLL_SEEN_BEGIN, rank, COLL_NEVER, &slot->act);
    if (sim->nics)
        coll_i_sim_nic_begins(sim, rank, &slot->act);
    if (coll_i_has(COLL_I_RECEIVES, &slot->act))
        coll_i_sim_receive(sim, rank, k);
    else if (slot->act.kind == COLL_DO_NETWORK_REDUCE)
        coll_i_sim_attend(sim, rank, k);
    else
        coll_i_sim_work(sim, rank, k);
}

/* Begins what of slot k can begin: as coll_i_engine_issue (executor.h). */
COLL_INLINE void coll_i_sim_launch(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_window *w = &at->window;
    const uint32_t bit = (uint32_t)1 << k;
    const coll_slot *slot = &w->slots[k];
    w->ready &= ~bit;
    if (w->flying & bit) {
        if ((coll_i_sim_unwatched(at) & bit) && coll_i_slot_time(slot) <= sim->now)
            coll_i_sim_retire(at, k); /* a receive that had to wait for an older one */
        else if (sim->options.model->step > 0 && (at->open & ~at->watched & bit) &&
                 coll_i_has(COLL_I_RECEIVES, &slot->act))
            coll_i_sim_receive(sim, rank, k); /* the one before it has ended */
    } else if (w->staged & bit) {
        if (slot->hold == 0) {
            w->flying |= bit;
            coll_i_sim_work(sim, rank, k);
        }
    } else if (coll_i_window_may_start(w, k)) {
        coll_i_sim_start_slot(sim, rank, k);
    }
}

/* Gives a rank so many slots, or as many as the window may have; false: there is no memory. */
COLL_INLINE bool coll_i_sim_widen(coll_sim *sim, uint32_t rank, size_t wanted)
{
    coll_window *w = &sim->ranks[rank].window;
    const coll_window old = *w;
    const uint32_t most = sim->options.window, had = w->size;
    const uint32_t window = wanted < most ? (uint32_t)wanted : most;
    coll_slot *slots;
    slots = coll_i_slots_take(&sim->pool, coll_log2_ceil(window));
    if (!slots) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, rank);
        return false;
    }
    w->slots = slots;
    w->size = (uint8_t)window;
    if (had > 0) {
        memcpy(slots, old.slots, had * sizeof *slots);
        memcpy(coll_i_sim_notes(w), coll_i_sim_notes(&old), had * sizeof(coll_i_sim_note));
        coll_i_slots_give(&sim->pool, old.slots, coll_log2_ceil(had));
    }
    w->free |= coll_i_window_all(w) & ~(((uint32_t)1 << had) - 1);
    return true;
}

/* Makes room for an action: notices what has ended, or has twice the slots, if it may. false:
 * neither; the next end will be seen. */
COLL_INLINE bool coll_i_sim_room(coll_sim *sim, uint32_t rank)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_window *w = &at->window;
    const uint32_t most = sim->options.window, had = w->size;
    for (uint32_t left = coll_i_sim_unwatched(at); left; left &= left - 1) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        if (had == most || coll_i_slot_time(&w->slots[k]) <= sim->now)
            coll_i_sim_watch(sim, rank, k);
    }
    if (w->free || had == most)
        return w->free != 0;
    return coll_i_sim_widen(sim, rank, 2 * had);
}

/* Is there room for an action, or can there be? In a full window mostly not, which is seen
 * here. */
COLL_HOT_INLINE bool coll_i_sim_has_room(coll_sim *sim, uint32_t rank)
{
    const coll_i_sim_rank *at = &sim->ranks[rank];
    return at->window.free != 0 || at->window.size == 0 ||
           ((at->window.size != sim->options.window || coll_i_sim_unwatched(at) != 0) &&
            coll_i_sim_room(sim, rank));
}

/* Takes the action of a place in the program into the window, and begins what of it can begin. */
COLL_INLINE void coll_i_sim_admit(coll_sim *sim, uint32_t rank, const coll_action *a,
                                  uint32_t place)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_window *w = &at->window;
    uint32_t k, waits;
    if (coll_i_has_peer(a) && (a->peer >= sim->p || a->peer == rank)) {
        coll_i_sim_fail(sim, COLL_ERR_RANK, rank);
        return;
    }
    k = coll_i_sim_enter(w, a, place);
    waits = w->slots[k].gate | w->slots[k].hold | w->slots[k].order;
    for (waits &= coll_i_sim_unwatched(at); waits; waits &= waits - 1)
        coll_i_sim_watch(sim, rank, COLL_LOWEST_BIT(waits));
    w->ready &= ~((uint32_t)1 << k);
    if (coll_i_window_may_start(w, k))
        coll_i_sim_start_slot(sim, rank, k);
}

/* Takes steps into the window while there is room: as coll_i_engine_fill (executor.h). */
COLL_INLINE void coll_i_sim_fill(coll_sim *sim, uint32_t rank)
{
    const coll_plan *plan = coll_i_sim_plan(sim, rank);
    coll_window *w = &sim->ranks[rank].window;
    coll_action acts[COLL_STEP_MAX];
    while (w->step < w->steps && coll_i_sim_has_room(sim, rank)) {
        const uint32_t n = coll_plan_step(plan, rank, w->step, acts);
        uint32_t i = w->skip;
        if (w->size == 0 && !coll_i_sim_widen(sim, rank, n > w->steps ? n : w->steps))
            return;
        for (; i < n && coll_i_sim_has_room(sim, rank); i++)
            if (acts[i].count != 0)
                coll_i_sim_admit(sim, rank, &acts[i], (uint32_t)w->step * COLL_STEP_MAX + i);
        w->skip = (uint8_t)(i < n ? i : 0);
        if (i < n)
            return;
        w->step++;
    }
}

/* Which slot begins next, and since when it has waited; `slot` 0: none. */
typedef struct coll_i_sim_turn {
    uint32_t slot;   /* its bit */
    coll_time since; /* four times the time, and 2 more for a computation */
    coll_time again; /* when a sending port is free that another one waits for */
} coll_i_sim_turn;

/* Who has waited longest begins; among those of one time, sends before computations, and of these
 * the first in program order. */
COLL_INLINE coll_i_sim_turn coll_i_sim_next(const coll_sim *sim, const coll_i_sim_rank *at)
{
    coll_i_sim_turn turn = {0, COLL_NEVER, COLL_NEVER};
    for (uint32_t left = at->waits; left; left &= left - 1) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        const coll_slot *slot = &at->window.slots[k];
        const bool sends = coll_i_has(COLL_I_SENDS, &slot->act);
        const coll_time time = 4 * coll_i_slot_time(slot) + (sends ? 0 : 2);
        const bool later = sends && at->out > sim->now;
        if ((later ? at->out >= turn.again : time > turn.since) ||
            coll_i_sim_behind(sim, at, k))
            continue;
        if (later) {
            turn.again = at->out;
        } else if (time < turn.since) {
            turn.since = time;
            turn.slot = (uint32_t)1 << k;
        } else {
            turn.slot |= (uint32_t)1 << k;
        }
    }
    if (turn.slot)
        turn.slot = (uint32_t)1 << coll_i_sim_oldest(&at->window, turn.slot);
    return turn;
}

/* Is it the turn of the first message that waits, rather than that of a slot? */
COLL_INLINE bool coll_i_sim_message_first(const coll_sim *sim, const coll_i_sim_rank *at,
                                          const coll_i_sim_turn *turn)
{
    const coll_i_op *first = coll_i_op_at(&sim->mail, at->arrived);
    first = coll_i_op_at(&sim->mail, first->next);
    if (turn->slot ? 4 * first->time + 1 >= turn->since : !coll_i_sim_ending(sim, at))
        return !turn->slot;
    return !coll_i_sim_by_hand(sim, first);
}

/* Gives the processor and the ports to who may have them next. Returns when there may be
 * something to give again. */
COLL_INLINE coll_time coll_i_sim_give(coll_sim *sim, uint32_t rank)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    while (at->waits != 0 || at->arrived != COLL_I_SIM_NONE_LISTED) {
        const bool message = at->arrived != COLL_I_SIM_NONE_LISTED;
        coll_i_sim_turn turn;
        if (at->cpu > sim->now)
            return at->cpu;
        if (coll_i_sim_moves(sim, rank))
            return COLL_NEVER; /* the end of a flow comes back here */
        turn = coll_i_sim_next(sim, at);
        if (message && at->in <= sim->now && coll_i_sim_message_first(sim, at, &turn)) {
            coll_i_sim_take(sim, rank, coll_i_list_take(&sim->mail, &at->arrived));
            if (at->window.ready)
                return COLL_NEVER; /* its data is there: what waits for that is to be looked at */
        } else if (turn.slot) {
            const uint32_t k = COLL_LOWEST_BIT(turn.slot);
            at->waits &= ~turn.slot;
            if (coll_i_has(COLL_I_SENDS, &at->window.slots[k].act))
                coll_i_sim_send(sim, rank, k);
            else
                coll_i_sim_compute(sim, rank, k);
        } else { /* an action that ends now comes back here, too */
            return message && at->in > sim->now ? (at->in < turn.again ? at->in : turn.again)
                                                : turn.again;
        }
    }
    return COLL_NEVER;
}

/* Does all that can be done on a rank now, in program order. */
COLL_INLINE void coll_i_sim_settle(coll_sim *sim, uint32_t rank)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_window *w = &at->window;
    coll_time again;
    do {
        while (w->ready) {
            uint32_t left = w->ready;
            for (; left; left &= left - 1)
                if (coll_i_sim_held(w, COLL_LOWEST_BIT(left)))
                    w->ready &= ~(left & (0 - left));
            if (w->ready)
                coll_i_sim_launch(sim, rank, coll_i_sim_oldest(w, w->ready));
        }
        if (w->step < w->steps)
            coll_i_sim_fill(sim, rank);
        again = coll_i_sim_give(sim, rank);
    } while ((w->ready || (w->step < w->steps && w->free)) && sim->status == COLL_OK);
    if (again < at->timer) {
        at->timer = again;
        coll_i_sim_put(sim, again, rank, COLL_I_SIM_WHAT(COLL_I_SIM_GIVE, 0));
    }
}

/* ---- events ------------------------------------------------------------------------------ */

/* A rank begins, or, where its NIC is still to be told, its host. */
COLL_INLINE void coll_i_sim_start(coll_sim *sim, uint32_t rank, bool told)
{
    if (sim->nics && !told && coll_i_sim_nic_posts(sim, rank))
        return;
    sim->ranks[rank].window.steps = coll_plan_steps(coll_i_sim_plan(sim, rank), rank);
    coll_i_sim_settle(sim, rank);
}

/* One of what slot k waits for has come. */
COLL_INLINE void coll_i_sim_count_down(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_slot *slot = &sim->ranks[rank].window.slots[k];
    const coll_time left = coll_i_slot_time(slot) - 1;
    coll_i_slot_set_time(slot, left);
    if (left == 0)
        coll_i_sim_ends(sim, rank, k, sim->now);
}

COLL_INLINE void coll_i_sim_event(coll_sim *sim, const coll_i_event *event)
{
    const uint32_t number = event->what >> 4, rank = event->rank;
    coll_i_sim_rank *at = &sim->ranks[rank];
    switch (event->what & 15u) {
    case COLL_I_SIM_START:
        coll_i_sim_start(sim, rank, number > 0);
        return;
    case COLL_I_SIM_HOP:
        coll_i_sim_hop(sim, number);
        return;
    case COLL_I_SIM_ARRIVE:
        if (sim->nics &&
            coll_i_sim_nic_between(sim, coll_i_op_at(&sim->mail, number)->from, rank))
            coll_i_sim_nic_come(sim, rank, number);
        else
            coll_i_sim_arrive(sim, rank, number);
        break;
    case COLL_I_SIM_RELEASE:
        coll_i_sim_count_down(sim, rank, number);
        break;
    case COLL_I_SIM_FLOW:
        coll_i_sim_flow_event(sim, rank, number);
        break;
    case COLL_I_SIM_END:
        coll_i_sim_retire(at, number);
        break;
    case COLL_I_SIM_CROSS:
        coll_i_sim_nic_leave(sim, rank, number);
        break;
    case COLL_I_SIM_COME:
        coll_i_sim_arrive(sim, rank, number);
        break;
    case COLL_I_SIM_BACK:
        coll_i_sim_nic_back(sim, rank, number);
        break;
    case COLL_I_SIM_FREE:
        coll_i_sim_nic_give_room(sim, number);
        return;
    case COLL_I_SIM_HOST:
        coll_i_sim_nic_host(sim, rank, number);
        return;
    case COLL_I_SIM_TOLD:
        coll_i_sim_nic_told(sim, rank, number);
        break;
    default: /* COLL_I_SIM_GIVE */
        if (at->timer != event->time)
            return; /* another event was earlier */
        at->timer = COLL_NEVER;
        break;
    }
    if (at->window.ready || at->waits || at->arrived != COLL_I_SIM_NONE_LISTED ||
        at->window.step < at->window.steps)
        coll_i_sim_settle(sim, rank);
}

/* Has what the next events need in the cache when they are due: the rank and the message, then
 * the slots up to the last one that is used, and the notes. */
COLL_HOT_INLINE void coll_i_sim_prefetch(const coll_sim *sim, const coll_i_span *span)
{
    const coll_i_event *soon = coll_i_span_ahead(span, 16);
    if (soon) {
        COLL_I_PREFETCH(&sim->ranks[soon->rank]);
        COLL_I_PREFETCH(&sim->ranks[soon->rank].cpu);
        COLL_I_PREFETCH(&sim->busy[soon->rank]);
        if ((soon->what & 15u) == COLL_I_SIM_ARRIVE)
            COLL_I_PREFETCH(coll_i_op_at(&sim->mail, soon->what >> 4));
    }
    soon = coll_i_span_ahead(span, 8);
    if (soon && sim->ranks[soon->rank].window.size > 0) { /* it has begun */
        const coll_window *w = &sim->ranks[soon->rank].window;
        const uint32_t used = coll_i_window_all(w) & ~w->free;
        const coll_slot *end = w->slots + COLL_HIGHEST_BIT(used | 1) + 1;
        for (const char *line = (const char *)w->slots; line < (const char *)end;
             line += COLL_I_CACHE_LINE)
            COLL_I_PREFETCH(line);
        COLL_I_PREFETCH(coll_i_sim_notes(w));
    }
}

#endif /* COLL_LAB_SIM_RUN_H */
