/* bench/reproduce/cluster.h — the machines of Bayatpour et al. 2017 in the simulator: nodes whose
 * ranks share memory, a NIC each, and a network that may reduce
 *
 * The costs are those of coll/lab/model/dpml_model.h: gap and wire are the links of the NICs, a
 * and b those of the sending and the receiving process. Copies of a node do not slow each other
 * down.
 */
#ifndef COLL_BENCH_REPRODUCE_CLUSTER_H
#define COLL_BENCH_REPRODUCE_CLUSTER_H

#include "coll/lab/model/dpml_model.h"
#include "coll/lab/sim/hockney_costs.h"
#include "coll/lab/sim/shm_costs.h"
#include "coll/lab/sim/topology/sockets.h"

#include "simulated.h"

/* An allreduce of n bytes, 4 an element, on h nodes of ppn ranks, by a row with such parameters. The
 * ranks of a node reduce and broadcast by the row `within`, if the composite algorithm asks for
 * that. */
static inline double cluster_with_us(const coll_dpml_costs *m, uint32_t h, uint32_t ppn,
                                     const char *row, const char *within,
                                     const uint32_t *params, double n)
{
    const coll_hockney_costs far = {m->a_us, m->b_ns_per_byte, m->c_ns_per_byte};
    const coll_shm_costs near = {
        m->a_shm_us,    m->b_shm_ns_per_byte,    0, 0, m->c_ns_per_byte,
        m->a_fabric_us, m->b_fabric_ns_per_byte, 0, 0};
    coll_problem problem = simulated_problem(COLL_ALLREDUCE, h * ppn, (size_t)n / 4);
    coll_cost_model network, model;
    coll_sim_hockney between;
    coll_sim_options options;
    coll_topology nics;
    coll_sim_shm shm;
    problem.elem_bytes = 4;
    coll_nodes_even(&problem.nodes, h * ppn, ppn);
    coll_sim_hockney_init(&network, &between, &far);
    shm.costs = &near;
    shm.between = &network;
    shm.nodes = &problem.nodes;
    shm.ends = h * ppn;
    coll_sim_shm_init(&model, &shm);
    coll_topology_nodes(&nics, h, 1, ppn);
    nics.cost.message = coll_time_of(m->gap_us * 1e6);
    nics.cost.byte_ps = m->wire_ns_per_byte * 1000;
    options = simulated_options(&model);
    options.topology = &nics;
    options.window = 32;
    return within ? simulated_composite_us(&problem, row, within, params, &options)
                  : simulated_us(&problem, row, params, &options);
}

/* The same by a row with one parameter. */
static inline double cluster_us(const coll_dpml_costs *m, uint32_t h, uint32_t ppn,
                                const char *row, const char *within, uint32_t param, double n)
{
    uint32_t params[COLL_PARAM_MAX] = {0};
    params[0] = param;
    return cluster_with_us(m, h, ppn, row, within, params, n);
}

/* dpml with l leaders a node. */
static inline double cluster_dpml_us(const coll_dpml_costs *m, uint32_t h, uint32_t ppn,
                                     uint32_t l, double n)
{
    return cluster_us(m, h, ppn, "dpml", NULL, l, n);
}

/* The power of two of leaders, up to 16, that is the fastest. */
static inline uint32_t cluster_best_leaders(const coll_dpml_costs *m, uint32_t h, uint32_t ppn,
                                            double n, double *us)
{
    uint32_t best = 1;
    *us = cluster_dpml_us(m, h, ppn, 1, n);
    for (uint32_t l = 2; l <= 16 && l <= ppn; l *= 2) {
        const double now = cluster_dpml_us(m, h, ppn, l, n);
        if (now < *us) {
            *us = now;
            best = l;
        }
    }
    return best;
}

#endif /* COLL_BENCH_REPRODUCE_CLUSTER_H */
