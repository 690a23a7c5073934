/* coll/lab/sim/network.h — messages on the links of a topology (topology.h)
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_NETWORK_H
#define COLL_LAB_SIM_NETWORK_H

#include "routing.h"
#include "traffic.h"

/* By how much acknowledgements of packets slow a message down that goes over so many links. */
COLL_INLINE double coll_i_sim_packets(const coll_sim *sim, uint32_t hops)
{
    const coll_topology *t = sim->options.topology;
    const double byte = t->cost.byte_ps < 0 ? sim->options.model->byte_ps : t->cost.byte_ps;
    const double packet = (double)t->packet * byte;
    const double round = (double)t->ack + 2.0 * hops * (double)t->cost.hop;
    return t->packet > 0 && round > packet && packet > 0 ? round / packet : 1;
}

/* Message i sets out at `time`. */
COLL_I_RARE void coll_i_sim_set_out(coll_sim *sim, uint32_t i, coll_time time)
{
    const coll_topology *t = sim->options.topology;
    const coll_i_op *op = coll_i_op_at(&sim->mail, i);
    const uint32_t from = coll_i_sim_outer(sim, op->from), to = coll_i_sim_outer(sim, op->to);
    const uint32_t hops = t->hops(t, from, to);
    coll_i_sim_travel *travel;
    if (hops == 0) {
        coll_i_sim_put(sim, time, op->to, COLL_I_SIM_WHAT(COLL_I_SIM_ARRIVE, i));
        return;
    }
    travel = coll_i_sim_travel_new(sim, i);
    if (!travel) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, op->from);
        return;
    }
    travel->hops = hops;
    coll_i_sim_put(sim, time, op->to, COLL_I_SIM_WHAT(COLL_I_SIM_HOP, i));
}

/* Of the links that lie beside this one, the first that is free. */
COLL_INLINE uint32_t coll_i_sim_free_link(const coll_sim *sim, uint32_t link)
{
    const coll_topology *t = sim->options.topology;
    const uint32_t end = link + (t->parallel ? t->parallel(t, link) : 1);
    uint32_t first = link;
    for (uint32_t i = link + 1; i < end && sim->loads[first].free > sim->now; i++)
        if (sim->loads[i].free < sim->loads[first].free)
            first = i;
    return first;
}

/* Message i is before its first link. false: there is no way. */
COLL_INLINE bool coll_i_sim_depart(coll_sim *sim, uint32_t i, uint32_t from, uint32_t to)
{
    const coll_topology *t = sim->options.topology;
    coll_i_sim_travel *travel = coll_i_sim_travel_at(sim, i);
    if ((t->route != COLL_ROUTE_FIXED || t->n_failed > 0) &&
        !coll_i_sim_route(sim, i, from, to))
        return false;
    travel->slow = coll_i_sim_packets(sim, travel->hops);
    sim->hops += travel->hops;
    sim->hops_most = sim->hops_most > travel->hops ? sim->hops_most : travel->hops;
    return true;
}

/* Message i is before its next link, or behind the last. */
COLL_I_RARE void coll_i_sim_hop(coll_sim *sim, uint32_t i)
{
    const coll_topology *t = sim->options.topology;
    const coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_i_sim_travel *travel = coll_i_sim_travel_at(sim, i);
    const uint32_t from = coll_i_sim_outer(sim, op->from), to = coll_i_sim_outer(sim, op->to);
    const double stream = (double)op->bytes * sim->options.model->byte_ps;
    coll_time head = sim->now;
    if (travel->hop == 0 && !coll_i_sim_depart(sim, i, from, to))
        return;
    while (travel->hop < travel->hops && head == sim->now) {
        const uint32_t link =
            coll_i_sim_free_link(sim, coll_i_sim_next_link(sim, travel, from, to));
        const coll_link_cost cost = coll_topology_cost(t, link);
        const double byte = cost.byte_ps < 0 ? sim->options.model->byte_ps : cost.byte_ps;
        const coll_time taken =
            cost.message + coll_time_of((double)op->bytes * byte * travel->slow);
        coll_link_load *load = &sim->loads[link];
        coll_time enter;
        if (sim->options.traffic)
            coll_traffic_pass(sim->options.traffic, link,
                              cost.message +
                                  coll_time_of((double)sim->options.traffic->bytes * byte),
                              head, &sim->others[link], &load->free);
        enter = coll_later(head, load->free);
        travel->hop++;
        load->free = enter + taken;
        load->busy += taken;
        load->waited += enter - head;
        load->messages++;
        load->bytes += op->bytes;
        head = enter + cost.hop;
        travel->tail = coll_later(travel->tail,
                                  enter + taken + cost.hop * (travel->hops - travel->hop + 1));
    }
    if (travel->hop > travel->hops) { /* again, now that it is there */
        coll_i_sim_land(sim, i);
        coll_i_sim_put(sim, head, op->to, COLL_I_SIM_WHAT(COLL_I_SIM_ARRIVE, i));
        return;
    }
    if (travel->hop < travel->hops) {
        coll_i_sim_put(sim, head, op->to, COLL_I_SIM_WHAT(COLL_I_SIM_HOP, i));
        return;
    }
    if (travel->tail > coll_time_of(stream))
        head = coll_later(head, travel->tail - coll_time_of(stream));
    if (sim->flights) {
        travel->hop++;
        coll_i_sim_put(sim, head, op->to, COLL_I_SIM_WHAT(COLL_I_SIM_HOP, i));
        return;
    }
    coll_i_sim_put(sim, head, op->to, COLL_I_SIM_WHAT(COLL_I_SIM_ARRIVE, i));
}

/* ---- results ----------------------------------------------------------------------------- */

/* What went over a link of the topology. */
COLL_INLINE const coll_link_load *coll_sim_link(const coll_sim *sim, uint32_t link)
{
    return &sim->loads[link];
}

/* Was a link taken longer than another one, or as long by more messages? */
COLL_INLINE bool coll_sim_busier(const coll_sim *sim, uint32_t link, uint32_t than)
{
    const coll_link_load *a = &sim->loads[link], *b = &sim->loads[than];
    return a->busy > b->busy || (a->busy == b->busy && a->messages > b->messages);
}

/* The link that was taken longest, the first of several; COLL_RANK_NONE: none was used. */
COLL_INLINE uint32_t coll_sim_busiest(const coll_sim *sim)
{
    uint32_t busiest = COLL_RANK_NONE;
    for (uint32_t link = 0; link < sim->links; link++)
        if (sim->loads[link].messages > 0 &&
            (busiest == COLL_RANK_NONE || coll_sim_busier(sim, link, busiest)))
            busiest = link;
    return busiest;
}

#endif /* COLL_LAB_SIM_NETWORK_H */
