/* bench/reproduce/smp.h — the IBM cluster of Wu 2005 in the simulator: 8 nodes of 16 processors
 *
 * Messages between nodes cost what the tables of coll_plogp_ibm say. Within a node a copy takes 5 us
 * and 1.6 ns a byte, and all copies together 0.347 ns a byte at least: then a broadcast through
 * shared memory takes what tables 4.1 and 4.3 imply. Messages go through the memories of both nodes
 * too, so copies and messages slow each other down: the penalty of overlapping (section 4.5). How
 * the time divides between the two numbers is chosen so that the penalty sets in where table 4.6
 * ends. Messages flow here without steps, which coll/sim/cost.h does not mean: those of two nodes do
 * not wait for each other, and between nodes alone long messages come up to a quarter too early.
 */
#ifndef COLL_BENCH_REPRODUCE_SMP_H
#define COLL_BENCH_REPRODUCE_SMP_H

#include "coll/sim/plogp.h"
#include "coll/sim/shm.h"

#include "simulated.h"

enum { SMP_NODES = 8, SMP_RANKS = 16 };

static const coll_shm_costs smp_memory = {5, 1.6, .347, .5, 0, -1, 0};

/* A message between nodes passes the memories of both: while their ranks copy, it is slower. */
static inline void smp_move(const coll_cost_model *model, const coll_message *m,
                            coll_plogp_column column, coll_cost *cost)
{
    (void)model;
    cost->cpu = cost->done =
        coll_time_of(coll_plogp_us(&coll_plogp_ibm, column, (double)m->bytes) * 1e6);
    cost->flow =
        coll_time_of(coll_plogp_us(&coll_plogp_ibm, COLL_PLOGP_G, (double)m->bytes) * 1e6);
}

static inline void smp_send(const coll_cost_model *model, const coll_message *m,
                            coll_cost *cost)
{
    if (coll_i_shm_within(model, m)) {
        coll_i_shm_send(model, m, cost);
        return;
    }
    smp_move(model, m, COLL_PLOGP_OS, cost);
    cost->wire = coll_time_of(coll_plogp_ibm.L_us * 1e6);
}

static inline void smp_receive(const coll_cost_model *model, const coll_message *m,
                               coll_cost *cost)
{
    if (coll_i_shm_within(model, m))
        coll_i_shm_receive(model, m, cost);
    else
        smp_move(model, m, COLL_PLOGP_OR, cost);
}

/* A cluster of SMP nodes. `delayed`: copies and messages slow each other down, as above; only with
 * the network of the IBM. */
typedef struct smp_cluster {
    const coll_plogp_costs *network;
    const coll_shm_costs *memory;
    bool delayed;
} smp_cluster;

static const smp_cluster smp_ibm = {&coll_plogp_ibm, &smp_memory, true};

/* A collective of so many bytes, of a vector or a block, on nodes of ppn ranks by a row. */
static inline double smp_us(const smp_cluster *cluster, coll_collective collective,
                            uint32_t nodes, uint32_t ppn, uint64_t bytes, const char *row,
                            const uint32_t *params)
{
    coll_problem problem = simulated_problem(collective, nodes * ppn, (size_t)bytes / 8);
    coll_cost_model network, model;
    coll_sim_options options;
    coll_sim_shm shm;
    coll_nodes_even(&problem.nodes, nodes * ppn, ppn);
    coll_sim_plogp_init(&network, cluster->network);
    shm.costs = cluster->memory;
    shm.between = &network;
    shm.nodes = &problem.nodes;
    shm.ends = nodes * ppn;
    coll_sim_shm_init(&model, &shm);
    if (cluster->delayed) {
        model.send = smp_send;
        model.receive = smp_receive;
    }
    options = simulated_options(&model);
    return simulated_us(&problem, row, params, &options);
}

/* Between the nodes alone: a chain of segments. */
static inline double smp_inter_us(uint64_t bytes, uint64_t segment)
{
    const uint32_t params[COLL_PARAM_MAX] = {1, (uint32_t)(segment / 8)};
    return smp_us(&smp_ibm, COLL_BCAST, SMP_NODES, 1, bytes, "chain", params);
}

/* Within a node alone, through two buffers of up to 64 KB. */
static inline double smp_within_us(uint64_t bytes)
{
    const uint32_t piece = bytes < 65536 ? (uint32_t)bytes / 8 : 65536 / 8;
    const uint32_t params[COLL_PARAM_MAX] = {64, 2, piece};
    return smp_us(&smp_ibm, COLL_BCAST, 1, SMP_RANKS, bytes, "shm", params);
}

/* Both at once: a chain of segments of which so many bytes are copied while the next is under
 * way. */
static inline double smp_mixed_us(uint64_t bytes, uint64_t segment, uint64_t overlap)
{
    const uint32_t params[COLL_PARAM_MAX] = {1, 2, (uint32_t)(segment / 8),
                                             (uint32_t)(overlap / 8)};
    return smp_us(&smp_ibm, COLL_BCAST, SMP_NODES, SMP_RANKS, bytes, "mixed", params);
}

#endif /* COLL_BENCH_REPRODUCE_SMP_H */
