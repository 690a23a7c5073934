/* coll/lab/sim/adapter.h — network adapters: what is between ranks and the network
 *
 *   coll_sim_adapter adapter;                  // *model: what base costs, and NICs besides
 *   coll_sim_adapter_init(&adapter, &model, &costs, &base, place, &nodes, p);
 *   options.model = &model;
 *   options.adapter = &adapter;
 *   … coll_sim_run …
 *   coll_sim_nic(&sim, 3)->high;               // most bytes that were in the memory of NIC 3
 *
 * Each node has a NIC; without nodes, each rank. A rank's part runs on its host, on its NIC, or on
 * the NIC but for reductions that its host does faster. Three things happen by events:
 *
 *   the bus      What crosses waits until the bus of its direction is free, takes it for `take`
 *                and so much a byte, and is there `bus` later. A message goes on when `chunk` bytes
 *                have crossed, but not so early that it would have to wait for the rest. A host's
 *                messages cross down when they are sent, and up when they arrive; a port that a
 *                message takes is its own meanwhile. NICs send, receive and combine without a
 *                crossing: the operand crosses before a NIC begins, the result when it has ended.
 *
 *   the memory   A message for a host is in the memory from its arrival until it has crossed; one
 *                for a NIC until it has been combined, or is in its place. Operands and results of
 *                NICs are there from the start. What a host sends streams through, and takes no
 *                room. A message that finds no room is refused by its header: its sender keeps it,
 *                is told when there is room, and it comes `again` later. It does not wait in the
 *                network: there it would hold links and ports that others need to make room, and
 *                ranks could wait in a circle. So with a finite memory a send ends when its message
 *                was let in.
 *
 *   combining    A NIC combines an operand where it lies in its memory, on its own processor and at
 *                its own costs, when what is older on the same data has ended. These are the
 *                window's masks, so operands keep the order that the action promises.
 *
 * Room for the longest message is set aside for the one that the oldest unfinished receive of a NIC
 * waits for. Nothing younger holds up that one, so its room is free again after some time. So every
 * plan ends that ends where receives are done one by one (executor/in_order.h);
 * tests/lab/sim/adapter.c runs all rows with the least memory.
 *
 * With `keep`, blocks that a host has sent, or received, stay in the memory while nothing else needs
 * the room, and are sent again without a crossing. What was used last is dropped last.
 *
 * Source  Moody 2003, §2.2.1, §3.3; Kumar 2004, slides 16 to 23
 */
#ifndef COLL_LAB_SIM_ADAPTER_H
#define COLL_LAB_SIM_ADAPTER_H

#include "../model/nic_model.h"
#include "cost.h"

/* Where a rank's part runs: on its host; on its NIC; on its NIC but for what the host combines
 * faster. */
enum { COLL_SIM_ON_HOST, COLL_SIM_ON_NIC, COLL_SIM_ON_BOTH };

/* The NICs of a machine. */
typedef struct coll_sim_adapter {
    const coll_nic_costs *costs;
    const coll_cost_model *base; /* the network's costs, and the hosts' */
    const uint8_t *place; /* a byte for each end, COLL_SIM_ON_…; NULL: all are on hosts */
    const coll_nodes *nodes;
    uint32_t ends;                          /* numbers outside of the plan */
    coll_time bus, take, again, post, tell; /* of the costs, as all of the following */
    double down_ps, up_ps;                  /* a byte */
    uint64_t memory, chunk;                 /* UINT64_MAX: as much as there is need of */
} coll_sim_adapter;

/* What became of a NIC. */
typedef struct coll_nic_load {
    uint64_t high;       /* most bytes in its memory at one time */
    uint64_t refused;    /* messages that found no room */
    coll_time lost;      /* … and how long they waited for it, all together */
    uint64_t downs, ups; /* crossings to it, and to its host */
    coll_time down, up;  /* how long they took its bus */
    uint64_t saved;      /* messages that were sent out of its memory without a crossing */
    uint64_t combined, reduced; /* reductions that it did, and that its host did for it */
} coll_nic_load;

/* Where the part of an end runs. */
COLL_INLINE uint8_t coll_i_adapter_place(const coll_sim_adapter *a, uint32_t end)
{
    return a->place ? a->place[end] : (uint8_t)COLL_SIM_ON_HOST;
}

/* The NIC of an end, and how many there are. */
COLL_INLINE uint32_t coll_i_adapter_nic(const coll_sim_adapter *a, uint32_t end)
{
    return a->nodes && a->nodes->count > 0 ? coll_node_of(a->nodes, a->ends, end).index : end;
}

COLL_INLINE uint32_t coll_i_adapter_count(const coll_sim_adapter *a)
{
    return a->nodes && a->nodes->count > 0 ? a->nodes->count : a->ends;
}

/* How long a crossing of so many bytes takes altogether, if the bus is free. */
COLL_INLINE coll_time coll_i_adapter_crossing(const coll_sim_adapter *a, double byte_ps,
                                              uint64_t bytes)
{
    return a->bus + a->take + coll_time_of((double)bytes * byte_ps);
}

/* ---- costs ------------------------------------------------------------------------------- */

COLL_INLINE const coll_sim_adapter *coll_i_adapter_of(const coll_cost_model *model)
{
    return (const coll_sim_adapter *)model->data;
}

COLL_INLINE bool coll_i_adapter_on_nic(const coll_cost_model *model, uint32_t rank)
{
    return coll_i_adapter_place(coll_i_adapter_of(model), rank) != COLL_SIM_ON_HOST;
}

COLL_INLINE void coll_i_adapter_send(const coll_cost_model *model, const coll_message *m,
                                     coll_cost *cost)
{
    const coll_cost_model *base = coll_i_adapter_of(model)->base;
    base->send(base, m, cost);
    if (coll_i_adapter_on_nic(model,
                              m->from)) { /* the host's processor has nothing to do with it */
        cost->wire -= cost->cpu < cost->wire ? cost->cpu : cost->wire;
        cost->done -= cost->cpu < cost->done ? cost->cpu : cost->done;
        cost->cpu = 0;
    }
}

COLL_INLINE void coll_i_adapter_receive(const coll_cost_model *model, const coll_message *m,
                                        coll_cost *cost)
{
    const coll_sim_adapter *at = coll_i_adapter_of(model);
    at->base->receive(at->base, m, cost);
    if (coll_i_adapter_on_nic(model, m->to)) {
        const coll_time r = coll_time_of(at->costs->r_us * 1e6);
        cost->done = r + (cost->done > cost->cpu ? cost->done - cost->cpu : 0);
        cost->cpu = r;
    }
}

COLL_INLINE void coll_i_adapter_compute(const coll_cost_model *model, uint32_t rank,
                                        const coll_action *a, size_t elem_bytes,
                                        coll_cost *cost)
{
    const coll_sim_adapter *at = coll_i_adapter_of(model);
    const unsigned times = a->kind == COLL_DO_REDUCE ? a->inputs : a->kind != COLL_DO_COPY;
    if (coll_i_adapter_on_nic(model, rank))
        cost->cpu = coll_time_of(times * coll_nic_c_us(at->costs, (double)a->count) * 1e6);
    else if (at->base->compute)
        at->base->compute(at->base, rank, a, elem_bytes, cost);
}

COLL_INLINE coll_time coll_i_adapter_start(const coll_cost_model *model, uint32_t rank)
{
    const coll_cost_model *base = coll_i_adapter_of(model)->base;
    return base->start ? base->start(base, rank) : 0;
}

COLL_INLINE coll_time coll_i_adapter_end(const coll_cost_model *model, uint32_t rank)
{
    const coll_cost_model *base = coll_i_adapter_of(model)->base;
    return base->end ? base->end(base, rank) : 0;
}

COLL_INLINE coll_time coll_i_adapter_network(const coll_cost_model *model,
                                             coll_network_group group, uint64_t bytes)
{
    const coll_cost_model *base = coll_i_adapter_of(model)->base;
    return base->in_network(base, group, bytes);
}

/* Makes *model of *adapter: what `base` says of hosts and network, and `costs` of NICs. Where
 * ranks share nodes these have one NIC each. All of it is the caller's and must stay; place, of
 * `ends` bytes, may be NULL, and so may nodes. The base must be without flows
 * (coll_cost_model.share). */
COLL_INLINE void coll_sim_adapter_init(coll_sim_adapter *adapter, coll_cost_model *model,
                                       const coll_nic_costs *costs, const coll_cost_model *base,
                                       const uint8_t *place, const coll_nodes *nodes,
                                       uint32_t ends)
{
    const bool any = !(costs->memory_bytes < COLL_NIC_MEMORY_ANY);
    memset(adapter, 0, sizeof *adapter);
    adapter->costs = costs;
    adapter->base = base;
    adapter->place = place;
    adapter->nodes = nodes;
    adapter->ends = ends;
    adapter->bus = coll_time_of(costs->bus_us * 1e6);
    adapter->take = coll_time_of(costs->take_us * 1e6);
    adapter->again = coll_time_of(costs->again_us * 1e6);
    adapter->post = coll_time_of(costs->post_us * 1e6);
    adapter->tell = coll_time_of(costs->tell_us * 1e6);
    adapter->down_ps = costs->down_ns_per_byte * 1000;
    adapter->up_ps = costs->up_ns_per_byte * 1000;
    adapter->memory = any ? UINT64_MAX : (uint64_t)costs->memory_bytes;
    adapter->chunk = costs->chunk_bytes > 0 ? (uint64_t)costs->chunk_bytes : UINT64_MAX;
    coll_cost_model_init(model, adapter);
    model->send = coll_i_adapter_send;
    model->receive = coll_i_adapter_receive;
    model->compute = coll_i_adapter_compute;
    model->in_network = base->in_network ? coll_i_adapter_network : NULL;
    model->start = coll_i_adapter_start;
    model->end = coll_i_adapter_end;
    model->on_nic = coll_i_adapter_on_nic;
    model->ports = base->ports;
    model->byte_ps = base->byte_ps;
    model->eager = base->eager;
}

#endif /* COLL_LAB_SIM_ADAPTER_H */
