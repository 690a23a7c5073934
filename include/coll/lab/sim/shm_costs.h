/* coll/lab/sim/shm_costs.h — ranks that share nodes: copies through their memory, reductions by
 * the network
 *
 * Between nodes another model holds. Within one, a copy costs the processor `a` and then moves
 * its bytes, `b` each, through the node's memory; all copies of a node together move a byte in
 * `node` at best, so that more than b/node of them slow each other down. A NOTIFY is seen `sync`
 * later. A message within a node is two copies, one at each end, which do not wait for memory. One
 * of at least `once` bytes is copied once, by its receiver, out of the sender's buffer, which is
 * kept until then (a copy by the kernel, or out of memory that both share).
 * Combining costs c a byte, here and between nodes; where c is not given, what the other model
 * says. Of a message that is copied once it costs c_once a byte, where that is given: the receiver
 * combines what it reads at once, instead of storing it and reading it again. A reduction by the network takes a_fabric and b_fabric a byte after the last member has
 * come.
 *
 * Source  Bayatpour et al. 2017, sections 3, 5; Wu 2005, section 2.4
 */
#ifndef COLL_LAB_SIM_SHM_COSTS_H
#define COLL_LAB_SIM_SHM_COSTS_H

#include "../model/shm_model.h"
#include "cost.h"

/* The costs of a node, above those of another model between nodes. */
typedef struct coll_sim_shm {
    const coll_shm_costs *costs;
    const coll_cost_model *between; /* without flows */
    const coll_nodes *nodes;        /* of the ranks' numbers outside of the plan … */
    uint32_t ends;                  /* … of which there are so many */
} coll_sim_shm;

COLL_INLINE uint32_t coll_i_shm_share(const coll_cost_model *model, uint32_t rank)
{
    const coll_sim_shm *at = (const coll_sim_shm *)model->data;
    return coll_node_of(at->nodes, at->ends, rank).index;
}

COLL_INLINE bool coll_i_shm_intra(const coll_cost_model *model, const coll_message *m)
{
    return m->to != COLL_RANK_NONE &&
           coll_i_shm_share(model, m->from) == coll_i_shm_share(model, m->to);
}

COLL_INLINE coll_time coll_i_shm_copy(const coll_shm_costs *costs, double bytes)
{
    return coll_time_of(costs->a_us * 1e6 + bytes * costs->b_ns_per_byte * 1000);
}

/* Is a message of a node copied once? */
COLL_INLINE bool coll_i_shm_once(const coll_shm_costs *costs, double bytes)
{
    return costs->once_bytes > 0 && bytes >= costs->once_bytes;
}

/* Is the message of a RECV_REDUCE copied once, and combined as it is read? */
COLL_INLINE bool coll_i_shm_fused(const coll_cost_model *model, uint32_t rank,
                                  const coll_action *a, size_t elem_bytes)
{
    const coll_sim_shm *at = (const coll_sim_shm *)model->data;
    return a->kind == COLL_DO_RECV_REDUCE &&
           at->costs->c_once_ns_per_byte < COLL_SHM_AS_BETWEEN &&
           coll_i_shm_once(at->costs, (double)a->count * (double)elem_bytes) &&
           coll_i_shm_share(model, a->peer) == coll_i_shm_share(model, rank);
}

COLL_INLINE void coll_i_shm_send(const coll_cost_model *model, const coll_message *m,
                                 coll_cost *cost)
{
    const coll_sim_shm *at = (const coll_sim_shm *)model->data;
    if (!coll_i_shm_intra(model, m)) {
        at->between->send(at->between, m, cost);
        return;
    }
    cost->held = coll_i_shm_once(at->costs, (double)m->bytes);
    if (m->bytes > 0 && !cost->held)
        cost->cpu = cost->done = coll_i_shm_copy(at->costs, (double)m->bytes);
    cost->wire = cost->cpu + coll_time_of(at->costs->sync_us * 1e6);
}

COLL_INLINE void coll_i_shm_receive(const coll_cost_model *model, const coll_message *m,
                                    coll_cost *cost)
{
    const coll_sim_shm *at = (const coll_sim_shm *)model->data;
    if (!coll_i_shm_intra(model, m))
        at->between->receive(at->between, m, cost);
    else if (m->bytes > 0)
        cost->cpu = cost->done = coll_i_shm_copy(at->costs, (double)m->bytes);
}

COLL_INLINE void coll_i_shm_compute(const coll_cost_model *model, uint32_t rank,
                                    const coll_action *a, size_t elem_bytes, coll_cost *cost)
{
    const coll_sim_shm *at = (const coll_sim_shm *)model->data;
    if (coll_i_shm_fused(model, rank, a, elem_bytes)) {
        cost->cpu = coll_time_of(at->costs->c_once_ns_per_byte * 1000 * (double)a->count *
                                 (double)elem_bytes);
    } else if (a->kind != COLL_DO_COPY && !(at->costs->c_ns_per_byte < COLL_SHM_AS_BETWEEN)) {
        if (at->between->compute)
            at->between->compute(at->between, rank, a, elem_bytes, cost);
    } else if (a->kind != COLL_DO_COPY) {
        cost->cpu = coll_time_of(at->costs->c_ns_per_byte * 1000 *
                                 (double)coll_combined_bytes(a, elem_bytes));
    } else if (a->dst != a->src) {
        cost->cpu = coll_time_of(at->costs->a_us * 1e6);
        cost->flow = coll_time_of((double)a->count * (double)elem_bytes *
                                  at->costs->b_ns_per_byte * 1000);
    }
}

COLL_INLINE double coll_i_shm_slow(const coll_cost_model *model, const coll_flowing *all,
                                   uint64_t bytes)
{
    const coll_shm_costs *costs = ((const coll_sim_shm *)model->data)->costs;
    const double wanted = costs->b_ns_per_byte,
                 least = all->computations * costs->node_ns_per_byte;
    (void)bytes;
    return least > wanted && wanted > 0 ? least / wanted : 1;
}

COLL_INLINE coll_time coll_i_shm_network(const coll_cost_model *model, coll_network_group group,
                                         uint64_t bytes)
{
    const coll_shm_costs *costs = ((const coll_sim_shm *)model->data)->costs;
    (void)group;
    return coll_time_of(costs->a_fabric_us * 1e6 +
                        (double)bytes * costs->b_fabric_ns_per_byte * 1000);
}

COLL_INLINE coll_time coll_i_shm_start(const coll_cost_model *model, uint32_t rank)
{
    const coll_cost_model *between = ((const coll_sim_shm *)model->data)->between;
    return between->start ? between->start(between, rank) : 0;
}

COLL_INLINE coll_time coll_i_shm_end(const coll_cost_model *model, uint32_t rank)
{
    const coll_cost_model *between = ((const coll_sim_shm *)model->data)->between;
    return between->end ? between->end(between, rank) : 0;
}

COLL_INLINE bool coll_i_shm_on_nic(const coll_cost_model *model, uint32_t rank)
{
    const coll_cost_model *between = ((const coll_sim_shm *)model->data)->between;
    return between->on_nic && between->on_nic(between, rank);
}

/* Makes *model of *at, which the caller has filled in and which must stay. */
COLL_INLINE void coll_sim_shm_init(coll_cost_model *model, const coll_sim_shm *at)
{
    coll_cost_model_init(model, at);
    model->send = coll_i_shm_send;
    model->receive = coll_i_shm_receive;
    model->compute = coll_i_shm_compute;
    model->in_network = at->costs->a_fabric_us > 0 ? coll_i_shm_network : NULL;
    model->start = coll_i_shm_start;
    model->end = coll_i_shm_end;
    model->on_nic = coll_i_shm_on_nic;
    model->share = coll_i_shm_share;
    model->slow = coll_i_shm_slow;
    model->ports = at->between->ports;
    model->byte_ps = at->between->byte_ps;
    model->eager = at->between->eager;
}

#endif /* COLL_LAB_SIM_SHM_COSTS_H */
