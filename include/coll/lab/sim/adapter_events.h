/* coll/lab/sim/adapter_events.h — messages on their way through NICs, and what hosts and NICs
 * do for each other
 *
 * Use lab/sim.h; adapter.h says what is simulated.
 */
#ifndef COLL_LAB_SIM_ADAPTER_EVENTS_H
#define COLL_LAB_SIM_ADAPTER_EVENTS_H

#include "delivery.h"

/* ---- messages that leave ----------------------------------------------------------------- */

/* When the message's first bytes are in the NIC, and all of them: *done. */
COLL_INLINE coll_time coll_i_sim_nic_fetch(coll_sim *sim, uint32_t rank,
                                           const coll_i_sim_nic_way *way, uint64_t bytes,
                                           coll_time *done)
{
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    const bool host = coll_i_sim_nic_place(sim, rank) == COLL_SIM_ON_HOST;
    const bool keep = host && bytes > 0 && sim->options.adapter->costs->keep > 0;
    const bool elsewhere =
        (keep || !host) && coll_i_sim_nic_elsewhere(sim, rank, way->src, way->count);
    coll_i_sim_nic_crossing crossing;
    *done = sim->now;
    if (elsewhere == host || (!host && way->count == 0)) {
        nic->load.saved += host;
        return sim->now;
    }
    crossing = coll_i_sim_nic_cross(sim, nic, false, bytes, sim->now);
    if (keep)
        coll_i_sim_nic_note(sim, rank, way->src, way->count, bytes);
    else if (!host)
        coll_i_sim_nic_forget(sim, rank, way->src, way->count);
    *done = crossing.end;
    return coll_i_sim_nic_goes_on(sim, &crossing, bytes);
}

/* Message i leaves, when what it says is in the NIC. */
COLL_I_RARE void coll_i_sim_nic_leave(coll_sim *sim, uint32_t rank, uint32_t i)
{
    coll_i_sim_nic_rank *more = &sim->nics->ranks[rank];
    coll_i_sim_nic_way *way = coll_i_sim_nic_way_at(sim, i);
    coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_time done = sim->now, leaves = sim->now;
    if (!way->follows)
        leaves = coll_i_sim_nic_fetch(sim, rank, way, op->bytes, &done);
    more->leaves = coll_later(more->leaves, leaves);
    leaves = more->leaves;
    if (way->follows && !sim->ports)
        sim->ranks[rank].out = leaves + way->port;
    else if (!way->follows)
        coll_i_sim_port_give(sim, rank, false, leaves + way->port);
    way->done = coll_later(done, leaves + way->done);
    if ((op->flags & COLL_I_SIM_WAITS) && !(op->flags & COLL_I_SIM_RENDEZVOUS) &&
        sim->options.adapter->memory == UINT64_MAX) {
        coll_i_sim_put(sim, way->done, rank, COLL_I_SIM_WHAT(COLL_I_SIM_RELEASE, op->slot));
        op->flags = (uint8_t)(op->flags & ~(unsigned)COLL_I_SIM_WAITS);
    }
    coll_i_sim_see_message(sim, COLL_SEEN_LEAVE, rank, leaves + way->wire, op, i);
    if (sim->loads)
        coll_i_sim_set_out(sim, i, leaves + way->wire);
    else
        coll_i_sim_put(sim, leaves + way->wire, op->to, COLL_I_SIM_WHAT(COLL_I_SIM_ARRIVE, i));
}

/* ---- messages that come ------------------------------------------------------------------ */

/* Message i has room, and goes on to its rank. */
COLL_INLINE void coll_i_sim_nic_enter(coll_sim *sim, uint32_t rank, uint32_t i)
{
    const coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_i_sim_nic_way *way = coll_i_sim_nic_way_at(sim, i);
    const coll_sim_adapter *a = sim->options.adapter;
    coll_i_sim_nic_crossing crossing;
    coll_time time;
    if (coll_i_sim_nic_place(sim, rank) != COLL_SIM_ON_HOST) {
        coll_i_sim_arrive(sim, rank, i);
        return;
    }
    if (coll_i_adapter_crossing(a, a->up_ps, op->bytes) == 0) {
        if (way->room != COLL_RANK_NONE)
            coll_i_sim_nic_give_room(sim, way->room);
        way->room = COLL_RANK_NONE;
        coll_i_sim_arrive(sim, rank, i);
        return;
    }
    crossing =
        coll_i_sim_nic_cross(sim, coll_i_sim_nic_of(sim, rank), true, op->bytes, sim->now);
    time = coll_i_sim_nic_goes_on(sim, &crossing, op->bytes);
    coll_i_sim_put(sim, time, rank, COLL_I_SIM_WHAT(COLL_I_SIM_COME, i));
    if (way->room != COLL_RANK_NONE)
        coll_i_sim_put(sim, crossing.end, rank, COLL_I_SIM_WHAT(COLL_I_SIM_FREE, way->room));
    way->room = COLL_RANK_NONE;
}

/* Lets message i in; its sender may go on, if it waits for that. */
COLL_INLINE void coll_i_sim_nic_let_in(coll_sim *sim, uint32_t rank, uint32_t i, bool aside)
{
    coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_i_sim_nic_way *way = coll_i_sim_nic_way_at(sim, i);
    if (op->bytes > 0)
        way->room = coll_i_sim_nic_take_room(sim, rank, op->bytes, aside);
    if (!(op->flags & COLL_I_SIM_WAITS) || (op->flags & COLL_I_SIM_RENDEZVOUS))
        return;
    coll_i_sim_put(sim, coll_later(way->done, sim->now), op->from,
                   COLL_I_SIM_WHAT(COLL_I_SIM_RELEASE, op->slot));
    op->flags = (uint8_t)(op->flags & ~(unsigned)COLL_I_SIM_WAITS);
}

/* Is one of a list from this sender to this rank? */
COLL_INLINE bool coll_i_sim_nic_lists(const coll_sim *sim, uint32_t list, uint32_t from,
                                      uint32_t to)
{
    uint32_t i = list;
    if (list == COLL_I_SIM_NONE_LISTED)
        return false;
    do {
        const coll_i_op *op = coll_i_op_at(&sim->mail, i);
        if (op->from == from && op->to == to)
            return true;
        i = op->next;
    } while (i != list);
    return false;
}

/* Is there room for a message besides what is set aside? */
COLL_INLINE bool coll_i_sim_nic_has_room(const coll_sim *sim, const coll_i_sim_nic *nic,
                                         uint64_t bytes)
{
    return nic->used + bytes <= sim->options.adapter->memory - nic->aside;
}

/* Does the oldest unfinished receive of the rank on this NIC wait for this very message? Those
 * before it on its channel are through. */
COLL_INLINE bool coll_i_sim_nic_wanted(const coll_sim *sim, const coll_i_sim_nic *nic,
                                       const coll_i_op *op)
{
    const coll_i_sim_rank *at = &sim->ranks[op->to];
    const coll_window *w = &at->window;
    uint32_t open = 0, k;
    if (nic->rank == COLL_RANK_NONE || nic->asides > 0)
        return false;
    for (uint32_t left = w->pending | (w->flying & at->open); left; left &= left - 1) {
        k = COLL_LOWEST_BIT(left);
        if (coll_i_has(COLL_I_RECEIVES, &w->slots[k].act) && !(w->staged >> k & 1))
            open |= (uint32_t)1 << k;
    }
    if (!open)
        return false;
    k = coll_i_sim_oldest(w, open);
    return (w->flying & at->open & (uint32_t)1 << k) != 0 && w->slots[k].act.peer == op->from &&
           !coll_i_sim_nic_lists(sim, at->arrived, op->from, op->to) &&
           !coll_i_sim_nic_lists(sim, nic->coming, op->from, op->to);
}

/* Message i reaches the NIC. */
COLL_INLINE void coll_i_sim_nic_come(coll_sim *sim, uint32_t rank, uint32_t i)
{
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    coll_i_op *op = coll_i_op_at(&sim->mail, i);
    bool aside = false, in;
    if (nic->waiting != COLL_I_SIM_NONE_LISTED || nic->coming != COLL_I_SIM_NONE_LISTED)
        in = !coll_i_sim_nic_lists(sim, nic->waiting, op->from, rank) &&
             !coll_i_sim_nic_lists(sim, nic->coming, op->from, rank) &&
             (op->bytes == 0 || (aside = coll_i_sim_nic_wanted(sim, nic, op)));
    else
        in = op->bytes == 0 || coll_i_sim_nic_has_room(sim, nic, op->bytes) ||
             (aside = coll_i_sim_nic_wanted(sim, nic, op));
    if (in) {
        coll_i_sim_nic_let_in(sim, rank, i, aside);
        coll_i_sim_nic_enter(sim, rank, i);
        return;
    }
    op->time = sim->now;
    nic->load.refused++;
    coll_i_list_append(&sim->mail, &nic->waiting, i);
}

/* Calls the refused messages back for which there is room now. */
COLL_I_RARE void coll_i_sim_nic_call_back(coll_sim *sim, uint32_t rank)
{
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    uint32_t before = nic->waiting;
    bool first = true; /* only the wanted one passes others by */
    while (before != COLL_I_SIM_NONE_LISTED) {
        const uint32_t i = coll_i_op_at(&sim->mail, before)->next;
        coll_i_op *op = coll_i_op_at(&sim->mail, i);
        const bool last = i == nic->waiting;
        const bool room = first && coll_i_sim_nic_has_room(sim, nic, op->bytes);
        if (room || coll_i_sim_nic_wanted(sim, nic, op)) {
            (void)coll_i_list_take_after(&sim->mail, &nic->waiting, before);
            coll_i_sim_nic_let_in(sim, op->to, i, !room);
            coll_i_list_append(&sim->mail, &nic->coming, i);
            coll_i_sim_put(sim, sim->now + sim->options.adapter->again, op->to,
                           COLL_I_SIM_WHAT(COLL_I_SIM_BACK, i));
            if (last)
                return;
        } else {
            first = false;
            before = i;
            if (last)
                return;
        }
    }
}

/* Something of a rank has changed: it may receive now what was refused. */
COLL_HOT_INLINE void coll_i_sim_nic_look(coll_sim *sim, uint32_t rank)
{
    if (coll_i_sim_nic_of(sim, rank)->waiting != COLL_I_SIM_NONE_LISTED)
        coll_i_sim_nic_call_back(sim, rank);
}

/* Message i has come again. */
COLL_INLINE void coll_i_sim_nic_back(coll_sim *sim, uint32_t rank, uint32_t i)
{
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    uint32_t before = nic->coming;
    while (coll_i_op_at(&sim->mail, before)->next != i)
        before = coll_i_op_at(&sim->mail, before)->next;
    (void)coll_i_list_take_after(&sim->mail, &nic->coming, before);
    nic->load.lost += sim->now - coll_i_op_at(&sim->mail, i)->time;
    coll_i_sim_nic_enter(sim, rank, i);
}

/* ---- data -------------------------------------------------------------------------------- */

/* An action of a rank begins, and will write. */
COLL_INLINE void coll_i_sim_nic_begins(coll_sim *sim, uint32_t rank, const coll_action *a)
{
    bool copies;
    if (coll_i_sim_nic_of(sim, rank)->blocks == COLL_RANK_NONE ||
        !coll_i_has(COLL_I_WRITES_DST, a))
        return;
    copies = a->kind == COLL_DO_COPY && coll_i_sim_nic_place(sim, rank) == COLL_SIM_ON_BOTH &&
             coll_i_sim_nic_elsewhere(sim, rank, a->src, a->count);
    coll_i_sim_nic_forget(sim, rank, a->dst, a->count);
    if (copies) /* the host does, what it has */
        coll_i_sim_nic_note(sim, rank, a->dst, a->count, 0);
}

/* ---- reductions -------------------------------------------------------------------------- */

/* Does a NIC take longer to combine so many elements than to have its host do it, to which the
 * operand crosses? */
COLL_INLINE bool coll_i_sim_nic_host_faster(const coll_sim *sim, uint32_t rank, size_t count)
{
    const coll_sim_adapter *at = sim->options.adapter;
    const size_t elem = sim->plans[0].problem.elem_bytes;
    coll_action a;
    coll_cost host;
    coll_time asked;
    if (count == 0)
        return false;
    coll_act_recv_reduce(&a, 0, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_OUT, 0),
                         COLL_AT(COLL_SCRATCH, 0), count);
    coll_i_cost_clear(&host);
    if (at->base->compute)
        at->base->compute(at->base, coll_i_sim_outer(sim, rank), &a, elem, &host);
    asked = coll_i_adapter_crossing(at, at->up_ps, (uint64_t)count * elem) + at->tell +
            coll_later(host.cpu, host.done) + coll_i_adapter_crossing(at, at->down_ps, 0) +
            at->post;
    return asked < coll_time_of(coll_nic_c_us(at->costs, (double)count) * 1e6);
}

/* Has the NIC its host do the reduction of slot k? Then the operand crosses up, and what it is
 * combined with, if the host does not have that yet. */
COLL_I_RARE bool coll_i_sim_nic_asks(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_action *a = &at->window.slots[k].act;
    uint32_t *room = &sim->nics->ranks[rank].room[k];
    coll_i_sim_nic_crossing crossing;
    uint64_t bytes = coll_combined_bytes(a, sim->plans[0].problem.elem_bytes);
    bool has;
    if (coll_i_sim_nic_place(sim, rank) != COLL_SIM_ON_BOTH || a->kind == COLL_DO_COPY)
        return false;
    has = coll_i_sim_nic_elsewhere(sim, rank, a->src, a->count);
    if (!has && !coll_i_sim_nic_host_faster(sim, rank, a->count))
        return false;
    bytes += has ? 0 : (uint64_t)a->count * sim->plans[0].problem.elem_bytes;
    crossing = coll_i_sim_nic_cross(sim, coll_i_sim_nic_of(sim, rank), true, bytes, sim->now);
    at->open |= (uint32_t)1 << k;
    if (*room != COLL_RANK_NONE)
        coll_i_sim_put(sim, crossing.end, rank, COLL_I_SIM_WHAT(COLL_I_SIM_FREE, *room));
    *room = COLL_RANK_NONE;
    coll_i_sim_put(sim, crossing.end + sim->options.adapter->tell, rank,
                   COLL_I_SIM_WHAT(COLL_I_SIM_HOST, k));
    return true;
}

/* The host begins what it was asked for, once it is free; then it tells. */
COLL_I_RARE void coll_i_sim_nic_host(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_cost_model *base = sim->options.adapter->base;
    const uint32_t outer = coll_i_sim_outer(sim, rank);
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    const coll_action *a = &sim->ranks[rank].window.slots[k].act;
    const coll_time start = coll_later(nic->host, sim->now);
    coll_cost cost;
    coll_i_cost_clear(&cost);
    if (base->compute)
        base->compute(base, outer, a, sim->plans[0].problem.elem_bytes, &cost);
    cost.cpu = coll_later(cost.cpu, cost.done);
    nic->host = sim->options.noise ? coll_noise_end(sim->options.noise, outer, start, cost.cpu)
                                   : start + cost.cpu;
    nic->load.reduced++;
    coll_i_sim_nic_note(sim, rank, a->dst, a->count, 0);
    coll_i_sim_put(sim, nic->host, rank, COLL_I_SIM_WHAT(COLL_I_SIM_TOLD, k));
}

/* The host has done it, and the NIC learns that. */
COLL_INLINE void coll_i_sim_nic_told(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_i_sim_nic_crossing crossing =
        coll_i_sim_nic_cross(sim, coll_i_sim_nic_of(sim, rank), false, 0, sim->now);
    coll_i_sim_ends(sim, rank, k, crossing.end + sim->options.adapter->post);
}

/* Slot k of a NIC will have been computed at `end`: the room of its message is free then. */
COLL_INLINE void coll_i_sim_nic_computed(coll_sim *sim, uint32_t rank, uint32_t k,
                                         coll_time end)
{
    uint32_t *room = &sim->nics->ranks[rank].room[k];
    if (coll_i_sim_nic_place(sim, rank) == COLL_SIM_ON_HOST)
        return;
    coll_i_sim_nic_of(sim, rank)->load.combined +=
        sim->ranks[rank].window.slots[k].act.kind != COLL_DO_COPY;
    if (*room != COLL_RANK_NONE)
        coll_i_sim_put(sim, end, rank, COLL_I_SIM_WHAT(COLL_I_SIM_FREE, *room));
    *room = COLL_RANK_NONE;
}

/* ---- beginning and end ------------------------------------------------------------------- */

/* Bytes that a rank reads of IN, writes of OUT and writes elsewhere, and its longest message. */
typedef struct coll_i_sim_nic_needs {
    uint64_t in, out, other, message;
} coll_i_sim_nic_needs;

COLL_INLINE void coll_i_sim_nic_more(uint64_t *most, uint64_t value)
{
    *most = *most > value ? *most : value;
}

COLL_INLINE coll_i_sim_nic_needs coll_i_sim_nic_survey(const coll_plan *plan, uint32_t rank)
{
    const size_t steps = coll_plan_steps(plan, rank), elem = plan->problem.elem_bytes;
    coll_action acts[COLL_STEP_MAX];
    coll_i_sim_nic_needs needs = {0, 0, 0, 0};
    for (size_t s = 0; s < steps; s++)
        for (unsigned i = coll_plan_step(plan, rank, s, acts); i-- > 0;) {
            const coll_action *a = &acts[i];
            if (a->count == 0 || coll_i_is_token(a))
                continue;
            if (coll_i_has(COLL_I_RECEIVES, a))
                coll_i_sim_nic_more(&needs.message, (uint64_t)a->count * elem);
            if (coll_i_has(COLL_I_READS_SRC, a) && coll_ref_space(a->src) == COLL_IN)
                coll_i_sim_nic_more(&needs.in,
                                    (uint64_t)(coll_ref_offset(a->src) + a->count) * elem);
            if (coll_i_has(COLL_I_WRITES_DST, a))
                coll_i_sim_nic_more(coll_ref_space(a->dst) == COLL_OUT ? &needs.out
                                                                       : &needs.other,
                                    (uint64_t)(coll_ref_offset(a->dst) + a->count) * elem);
        }
    return needs;
}

/* Operands, results and the longest message must have room in each NIC; false: they do not in
 * that of sim->stuck. */
COLL_INLINE bool coll_i_sim_nics_begin(coll_sim *sim)
{
    const coll_sim_adapter *a = sim->options.adapter;
    for (uint32_t rank = 0; rank < sim->p; rank++) {
        const bool host = coll_i_sim_nic_place(sim, rank) == COLL_SIM_ON_HOST;
        coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
        coll_i_sim_nic_rank *more = &sim->nics->ranks[rank];
        const coll_plan *plan = coll_i_sim_plan(sim, rank);
        coll_i_sim_nic_needs needs;
        if (host && a->memory == UINT64_MAX)
            continue;
        needs = coll_i_sim_nic_survey(plan, rank);
        if (!host) {
            more->in = coll_in_place(plan) ? needs.out : needs.in;
            more->out = needs.out;
            nic->used = needs.in + needs.out + needs.other;
            nic->rank = rank;
            nic->aside = a->memory == UINT64_MAX ? 0 : needs.message;
            coll_i_sim_nic_high(nic);
        }
        if (nic->used + needs.message <= sim->nic_needs)
            continue;
        sim->nic_needs = nic->used + needs.message;
        sim->stuck = rank;
    }
    if (sim->nic_needs > a->memory)
        sim->status = COLL_ERR_MEMORY;
    return sim->status == COLL_OK;
}

/* The host of a rank begins: what it does itself, or has its NIC do. Returns whether the
 * latter. */
COLL_INLINE bool coll_i_sim_nic_posts(coll_sim *sim, uint32_t rank)
{
    const uint8_t place = coll_i_sim_nic_place(sim, rank);
    const coll_plan *plan = coll_i_sim_plan(sim, rank);
    const uint64_t bytes = sim->nics->ranks[rank].in;
    coll_i_sim_nic_crossing crossing;
    bool stays;
    if (place == COLL_SIM_ON_HOST)
        return false;
    stays = place == COLL_SIM_ON_BOTH && bytes > 0 &&
            coll_i_sim_nic_host_faster(sim, rank, plan->problem.count);
    if (stays) /* the operand crosses when it is needed */
        coll_i_sim_nic_note(sim, rank, COLL_AT(coll_in_place(plan) ? COLL_OUT : COLL_IN, 0),
                            (size_t)(bytes / plan->problem.elem_bytes), 0);
    crossing = coll_i_sim_nic_cross(sim, coll_i_sim_nic_of(sim, rank), false, stays ? 0 : bytes,
                                    sim->now);
    coll_i_sim_put(sim, crossing.end + sim->options.adapter->post, rank,
                   COLL_I_SIM_WHAT(COLL_I_SIM_START, 1));
    return true;
}

/* When a rank has ended whose last action ends at `finish`: a NIC gives its result to the host. */
COLL_INLINE coll_time coll_i_sim_nic_finish(const coll_sim *sim, uint32_t rank,
                                            coll_time finish)
{
    const coll_i_sim_nic_rank *more = &sim->nics->ranks[rank];
    const coll_plan *plan = coll_i_sim_plan(sim, rank);
    bool has;
    if (coll_i_sim_nic_place(sim, rank) == COLL_SIM_ON_HOST)
        return finish;
    has = more->out == 0 ||
          coll_i_sim_nic_elsewhere(sim, rank, COLL_AT(COLL_OUT, 0),
                                   (size_t)(more->out / plan->problem.elem_bytes));
    return coll_i_sim_nic_cross(sim, coll_i_sim_nic_of(sim, rank), true, has ? 0 : more->out,
                                finish)
               .end +
           sim->options.adapter->tell;
}

#endif /* COLL_LAB_SIM_ADAPTER_EVENTS_H */
