/* coll/lab/sim/adapter_ways.h — what a message that is sent or received is to NICs
 *
 * Use lab/sim.h; adapter.h says what is simulated.
 */
#ifndef COLL_LAB_SIM_ADAPTER_WAYS_H
#define COLL_LAB_SIM_ADAPTER_WAYS_H

#include "adapter_state.h"
#include "ports.h"

/* Does a message go from one NIC to another? */
COLL_INLINE bool coll_i_sim_nic_between(const coll_sim *sim, uint32_t from, uint32_t to)
{
    return coll_i_sim_nic_number(sim, from) != coll_i_sim_nic_number(sim, to);
}

/* What message i of slot k is to the NIC; its processor has done its part at `time`. Returns
 * whether an event will send it on. */
COLL_INLINE bool coll_i_sim_nic_take_on(coll_sim *sim, uint32_t i, const coll_action *a,
                                        coll_time time, const coll_cost *cost, bool follows)
{
    struct coll_i_sim_nics *nics = sim->nics;
    const coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_i_sim_nic_way *way;
    if (!coll_i_array_reserve(&nics->ways, (size_t)i + 1, sizeof *way)) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, op->from);
        return false;
    }
    way = coll_i_sim_nic_way_at(sim, i);
    way->room = COLL_RANK_NONE;
    if (!nics->holds || !coll_i_sim_nic_between(sim, op->from, op->to))
        return false;
    way->wire = cost->wire > cost->cpu ? cost->wire - cost->cpu : 0;
    way->done = cost->done > cost->cpu ? cost->done - cost->cpu : 0;
    way->port = cost->port > cost->cpu ? cost->port - cost->cpu : 0;
    way->src = a->src;
    way->count = coll_i_is_token(a) ? 0 : a->count;
    way->follows = follows;
    if (cost->port > 0 &&
        !(follows && sim->ports)) /* until it is known when the message leaves */
        coll_i_sim_port_change(sim, op->from, false, time - cost->cpu + cost->port, COLL_NEVER);
    coll_i_sim_put(sim, time, op->from, COLL_I_SIM_WHAT(COLL_I_SIM_CROSS, i));
    return true;
}

/* Message i is slot k's: its room is free when it is in its place, or combined. */
COLL_INLINE void coll_i_sim_nic_met(coll_sim *sim, uint32_t rank, uint32_t k, uint32_t i)
{
    const coll_action *a = &sim->ranks[rank].window.slots[k].act;
    const coll_i_op *op = coll_i_op_at(&sim->mail, i);
    const uint32_t room = coll_i_sim_nic_way_at(sim, i)->room;
    if (room == COLL_RANK_NONE) {
        if (sim->options.adapter->costs->keep > 1 && a->kind == COLL_DO_RECV &&
            coll_i_sim_nic_between(sim, op->from, rank) &&
            coll_i_sim_nic_place(sim, rank) == COLL_SIM_ON_HOST)
            coll_i_sim_nic_note(sim, rank, a->dst, a->count, op->bytes);
    } else if (a->kind == COLL_DO_RECV_REDUCE) {
        sim->nics->ranks[rank].room[k] = room;
    } else {
        coll_i_sim_put(sim, coll_later(op->time, sim->now), rank,
                       COLL_I_SIM_WHAT(COLL_I_SIM_FREE, room));
    }
}

#endif /* COLL_LAB_SIM_ADAPTER_WAYS_H */
