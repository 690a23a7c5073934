/* coll/lab/sim/delivery.h — messages between ranks, multicasts, reductions by the network
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_DELIVERY_H
#define COLL_LAB_SIM_DELIVERY_H

#include "adapter_ways.h"
#include "flow.h"
#include "network.h"
#include "ports.h"

/* Does a send of a rank end only when NICs say so? */
COLL_INLINE bool coll_i_sim_nics_hold(const coll_sim *sim)
{
    return sim->nics && sim->nics->holds;
}

/* Sends slot k's message to `to`, the first of its receivers or not: it will arrive at `time`,
 * and flow as its cost says. */
COLL_INLINE void coll_i_sim_post(coll_sim *sim, uint32_t rank, uint32_t k, uint32_t to,
                                 const coll_message *m, coll_time time, const coll_cost *cost,
                                 bool first)
{
    const coll_time flow = cost->flow;
    const uint32_t i = coll_i_op_take(&sim->mail);
    coll_i_op *op;
    if (i == COLL_RANK_NONE)
        return;
    op = coll_i_op_at(&sim->mail, i);
    op->from = rank;
    op->to = to;
    op->slot = (uint8_t)k;
    op->receiver = 0;
    op->time = 0;
    op->bytes = m->bytes;
    op->flags = 0;
    if (m->bytes > sim->options.model->eager || cost->held)
        op->flags = COLL_I_SIM_WAITS | COLL_I_SIM_RENDEZVOUS;
    else if (flow > 0 || coll_i_sim_nics_hold(sim))
        op->flags = COLL_I_SIM_WAITS;
    op->flags = (uint8_t)(op->flags | (m->written ? COLL_I_SIM_WRITTEN : 0) |
                          (cost->held ? COLL_I_SIM_HELD : 0));
    op->flows = flow > 0;
    if (flow > 0)
        coll_i_sim_flow(sim, rank, i, flow, sim->ranks[rank].cpu);
    if (sim->nics && coll_i_sim_nic_take_on(sim, i, &sim->ranks[rank].window.slots[k].act,
                                            time - cost->wire + cost->cpu, cost, !first))
        return;
    if (coll_i_sim_nics_hold(sim) && op->flags == COLL_I_SIM_WAITS) { /* within a node */
        coll_i_sim_put(sim, time - cost->wire + cost->done, rank,
                       COLL_I_SIM_WHAT(COLL_I_SIM_RELEASE, k));
        op->flags = 0;
    }
    coll_i_sim_see_message(sim, COLL_SEEN_LEAVE, rank, time, op, i);
    if (sim->loads && m->to != COLL_RANK_NONE)
        coll_i_sim_set_out(sim, i, time);
    else
        coll_i_sim_put(sim, time, to, COLL_I_SIM_WHAT(COLL_I_SIM_ARRIVE, i));
}

/* Until when a message that starts now, a little late perhaps, has its port; COLL_NEVER: until it
 * has flowed. */
COLL_INLINE coll_time coll_i_sim_port(const coll_sim *sim, const coll_cost *cost,
                                      coll_time late)
{
    return cost->port == COLL_NEVER ? COLL_NEVER : sim->now + late + cost->port;
}

/* Slot k begins to send. */
COLL_INLINE void coll_i_sim_send(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_action *a = &at->window.slots[k].act;
    const bool all = a->kind == COLL_DO_MULTICAST;
    const uint32_t first = all ? 0 : a->peer, end = all ? sim->p : a->peer + 1;
    coll_cost cost;
    coll_message m;
    coll_time late;
    bool waits;
    m.from = coll_i_sim_outer(sim, rank);
    m.to = all ? COLL_RANK_NONE : coll_i_sim_outer(sim, a->peer);
    m.bytes = coll_i_sim_bytes(sim, a);
    m.written = m.bytes > 0 && coll_ref_space(a->src) != COLL_IN;
    coll_i_cost_clear(&cost);
    model->send(model, &m, &cost);
    late = coll_i_sim_occupy(sim, rank, sim->now, cost.cpu);
    coll_i_sim_port_take(sim, rank, false, coll_i_sim_port(sim, &cost, late));
    coll_i_sim_see(sim, COLL_SEEN_SEND, rank, sim->now + late + coll_later(cost.cpu, cost.done),
                   a);
    waits =
        (m.bytes > model->eager || cost.held || cost.flow > 0 || coll_i_sim_nics_hold(sim)) &&
        sim->p > 1;
    sim->messages++;
    sim->bytes += m.bytes;
    if (waits) {
        at->open |= (uint32_t)1 << k;
        coll_i_slot_set_time(&at->window.slots[k], all ? sim->p - 1 : 1);
    } else {
        coll_i_sim_ends(sim, rank, k, sim->now + late + cost.done);
    }
    for (uint32_t to = first; to < end; to++)
        if (to != rank)
            coll_i_sim_post(sim, rank, k, to, &m, sim->now + late + cost.wire, &cost,
                            to == first + (first == rank));
}

/* The oldest receive that waits for a message of this rank; COLL_RANK_NONE: there is none. */
COLL_INLINE uint32_t coll_i_sim_receiver(const coll_sim *sim, const coll_i_sim_rank *at,
                                         uint32_t from)
{
    const uint32_t left_over = /* what combines has its message */
        at->open & ~(at->watched | at->window.staged);
    const uint32_t open = sim->options.model->step > 0 ? at->open : left_over;
    for (uint32_t left = left_over; left; left &= left - 1) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        const coll_slot *slot = &at->window.slots[k];
        if (slot->act.peer == from && !(slot->order & open) &&
            coll_i_has(COLL_I_RECEIVES, &slot->act))
            return k;
    }
    return COLL_RANK_NONE;
}

/* The sender of a message may go on, if it waits. */
COLL_INLINE void coll_i_sim_release(coll_sim *sim, coll_i_op *op)
{
    if (op->flags & COLL_I_SIM_WAITS)
        coll_i_sim_put(sim,
                       op->flags & COLL_I_SIM_HELD ? coll_later(op->time, sim->now) : sim->now,
                       op->from, COLL_I_SIM_WHAT(COLL_I_SIM_RELEASE, op->slot));
    op->flags = (uint8_t)(op->flags & ~(unsigned)COLL_I_SIM_WAITS);
}

/* A message and its receive have met. */
COLL_INLINE void coll_i_sim_meet(coll_sim *sim, uint32_t rank, uint32_t k, uint32_t i)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_i_op *op = coll_i_op_at(&sim->mail, i);
    if (op->bytes != coll_i_sim_bytes(sim, &at->window.slots[k].act))
        coll_i_sim_fail(sim, COLL_ERR_SIZE, rank);
    if (op->time == COLL_NEVER) { /* it flows: the end of that will come back here */
        op->receiver = (uint8_t)(k + 1);
        at->open |= (uint32_t)1 << k;
        at->watched |= (uint32_t)1 << k;
        return;
    }
    if (sim->nics)
        coll_i_sim_nic_met(sim, rank, k, i);
    at->watched &= ~((uint32_t)1 << k);
    coll_i_sim_ends(sim, rank, k, coll_later(op->time, sim->now));
    coll_i_sim_release(sim, op);
    coll_i_op_give(&sim->mail, i);
}

/* One of the two flows of message i has ended, `rank`'s. */
COLL_INLINE void coll_i_sim_flowed(coll_sim *sim, uint32_t rank, uint32_t i)
{
    coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_i_sim_port_give(sim, rank, rank != op->from, sim->now);
    if (rank == op->from && !(op->flags & COLL_I_SIM_RENDEZVOUS))
        coll_i_sim_release(sim, op);
    if (--op->flows > 0 || op->time != COLL_NEVER)
        return; /* the other one goes on, or is still to come */
    op->time = sim->now;
    if (op->receiver) {
        const uint32_t to = op->to, k = op->receiver - 1u;
        coll_i_sim_meet(sim, to, k, i);
        if (sim->ranks[to].timer > sim->now) { /* it is to be looked at */
            sim->ranks[to].timer = sim->now;
            coll_i_sim_put(sim, sim->now, to, COLL_I_SIM_WHAT(COLL_I_SIM_GIVE, 0));
        }
    }
}

/* What a message takes of its receiver. */
COLL_INLINE coll_cost coll_i_sim_receiving(const coll_sim *sim, const coll_i_op *op)
{
    const coll_cost_model *model = sim->options.model;
    coll_message m;
    coll_cost cost;
    m.from = coll_i_sim_outer(sim, op->from);
    m.to = coll_i_sim_outer(sim, op->to);
    m.bytes = op->bytes;
    m.written = (op->flags & COLL_I_SIM_WRITTEN) != 0;
    coll_i_cost_clear(&cost);
    model->receive(model, &m, &cost);
    return cost;
}

/* The rank begins to take in message i. */
COLL_INLINE void coll_i_sim_take(coll_sim *sim, uint32_t rank, uint32_t i)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    coll_i_op *op = coll_i_op_at(&sim->mail, i);
    const coll_cost cost = coll_i_sim_receiving(sim, op);
    coll_time late;
    uint32_t k;
    late = coll_i_sim_occupy(sim, rank, sim->now, cost.cpu);
    coll_i_sim_port_take(sim, rank, true, coll_i_sim_port(sim, &cost, late));
    op->time = cost.flow > 0 ? COLL_NEVER : sim->now + late + cost.done;
    if (cost.flow > 0) {
        op->flows++;
        coll_i_sim_flow(sim, rank, i, cost.flow, at->cpu);
    }
    coll_i_sim_see_message(sim, COLL_SEEN_RECEIVE, rank,
                           sim->now + late + coll_later(cost.cpu, cost.done), op, i);
    k = op->receiver ? op->receiver - 1u : coll_i_sim_receiver(sim, at, op->from);
    if (k != COLL_RANK_NONE)
        coll_i_sim_meet(sim, rank, k, i);
    else
        coll_i_inbox_put(&sim->mail, at, i);
}

/* Can a send, a message or a computation start at once, and is it its turn? */
COLL_INLINE bool coll_i_sim_idle(const coll_sim *sim, const coll_i_sim_rank *at, coll_time port)
{
    return at->cpu <= sim->now && port <= sim->now && at->waits == 0 &&
           at->arrived == COLL_I_SIM_NONE_LISTED &&
           !coll_i_sim_moves(sim, (uint32_t)(at - sim->ranks));
}

/* Is the receiving processor busy until the data of a message is there and the port is free?
 * Then the message waits for what the rank itself has to do. Data that moves by itself once it
 * is taken in waits its turn: a port would be idle for what an overhead takes. */
COLL_INLINE bool coll_i_sim_by_hand(const coll_sim *sim, const coll_i_op *op)
{
    const coll_cost cost = coll_i_sim_receiving(sim, op);
    return cost.cpu > 0 && cost.cpu >= cost.port && cost.flow == 0;
}

/* Does an action end now whose event is still to come? */
COLL_INLINE bool coll_i_sim_ending(const coll_sim *sim, const coll_i_sim_rank *at)
{
    for (uint32_t left = at->watched & ~at->open; left; left &= left - 1)
        if (coll_i_slot_time(&at->window.slots[COLL_LOWEST_BIT(left)]) <= sim->now)
            return true;
    return false;
}

/* Message i waits for the processor and the port, or need not. */
COLL_INLINE void coll_i_sim_queue(coll_sim *sim, uint32_t rank, uint32_t i)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    if (coll_i_sim_idle(sim, at, at->in) &&
        (!coll_i_sim_ending(sim, at) ||
         !coll_i_sim_by_hand(sim, coll_i_op_at(&sim->mail, i)))) {
        coll_i_sim_take(sim, rank, i);
    } else {
        coll_i_op_at(&sim->mail, i)->time = sim->now;
        coll_i_list_append(&sim->mail, &at->arrived, i);
    }
}

/* Message i is for slot k, which has begun to wait for it. */
COLL_INLINE void coll_i_sim_claim(coll_sim *sim, uint32_t rank, uint32_t k, uint32_t i)
{
    coll_i_op_at(&sim->mail, i)->receiver = (uint8_t)(k + 1);
    sim->ranks[rank].open |= (uint32_t)1 << k;
    sim->ranks[rank].watched |= (uint32_t)1 << k;
    coll_i_sim_queue(sim, rank, i);
}

/* Message i arrives. */
COLL_INLINE void coll_i_sim_arrive(coll_sim *sim, uint32_t rank, uint32_t i)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    if (sim->options.model->step > 0) {
        const uint32_t k = coll_i_sim_receiver(sim, at, coll_i_op_at(&sim->mail, i)->from);
        if (k == COLL_RANK_NONE)
            coll_i_inbox_put(&sim->mail, at, i);
        else
            coll_i_sim_claim(sim, rank, k, i);
    } else {
        coll_i_sim_queue(sim, rank, i);
    }
}

/* Slot k waits for its message from now on. */
COLL_INLINE void coll_i_sim_receive(coll_sim *sim, uint32_t rank, uint32_t k)
{
    coll_i_sim_rank *at = &sim->ranks[rank];
    const bool steps = sim->options.model->step > 0;
    const coll_slot *slot = &at->window.slots[k];
    const uint32_t i = steps && (slot->order & at->open)
                           ? COLL_RANK_NONE
                           : coll_i_inbox_take(&sim->mail, at, slot->act.peer);
    if (i == COLL_RANK_NONE)
        at->open |= (uint32_t)1 << k;
    else if (steps)
        coll_i_sim_claim(sim, rank, k, i);
    else
        coll_i_sim_meet(sim, rank, k, i);
}

/* ---- reductions by the network ----------------------------------------------------------- */

/* Slot k comes to the next reduction of its group; the last member ends it for all. */
COLL_I_RARE void coll_i_sim_attend(coll_sim *sim, uint32_t rank, uint32_t k)
{
    const coll_cost_model *model = sim->options.model;
    coll_i_sim_rank *at = &sim->ranks[rank];
    const coll_action *a = &at->window.slots[k].act;
    const uint32_t i = coll_i_op_take(&sim->mail);
    coll_i_sim_meeting *meeting;
    size_t number;
    coll_network_group group;
    group.number = a->peer;
    group.members = (uint32_t)a->stride;
    if (!model->in_network || group.number >= COLL_NETWORK_GROUPS) {
        coll_i_sim_fail(sim, COLL_ERR_CAPABILITY, rank);
        return;
    }
    if (!sim->attended)
        sim->attended = (uint32_t *)calloc(sim->p, COLL_NETWORK_GROUPS * sizeof(uint32_t));
    number =
        sim->attended ? sim->attended[(size_t)rank * COLL_NETWORK_GROUPS + group.number]++ : 0;
    number = number * COLL_NETWORK_GROUPS + group.number;
    if (!sim->attended || i == COLL_RANK_NONE ||
        !coll_i_array_reserve(&sim->meetings, number + 1, sizeof(coll_i_sim_meeting))) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, rank);
        return;
    }
    for (; sim->meetings.n <= number; sim->meetings.n++) {
        meeting = (coll_i_sim_meeting *)sim->meetings.at + sim->meetings.n;
        meeting->members = COLL_I_SIM_NONE_LISTED;
        meeting->left = 0;
    }
    meeting = (coll_i_sim_meeting *)sim->meetings.at + number;
    if (meeting->members == COLL_I_SIM_NONE_LISTED)
        meeting->left = group.members;
    at->open |= (uint32_t)1 << k;
    coll_i_slot_set_time(&at->window.slots[k], 1);
    coll_i_op_at(&sim->mail, i)->from = rank;
    coll_i_op_at(&sim->mail, i)->slot = (uint8_t)k;
    coll_i_list_append(&sim->mail, &meeting->members, i);
    if (--meeting->left > 0)
        return;
    while (meeting->members != COLL_I_SIM_NONE_LISTED) {
        const uint32_t member = coll_i_list_take(&sim->mail, &meeting->members);
        const coll_i_op *op = coll_i_op_at(&sim->mail, member);
        coll_i_sim_put(sim,
                       sim->now + model->in_network(model, group, coll_i_sim_bytes(sim, a)),
                       op->from, COLL_I_SIM_WHAT(COLL_I_SIM_RELEASE, op->slot));
        coll_i_op_give(&sim->mail, member);
    }
}

#endif /* COLL_LAB_SIM_DELIVERY_H */
