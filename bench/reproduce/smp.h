/* bench/reproduce/smp.h — the IBM cluster of Wu 2005 in the simulator: 8 nodes of 16 processors
 *
 * Messages between nodes cost what the tables of coll_plogp_ibm say. Within a node a copy takes 5 us
 * and 1.6 ns a byte, and all copies together 0.4 ns a byte at least: then a broadcast through shared
 * memory takes what tables 4.1 and 4.3 imply, within 6 % from 4 KB on. A message of more than 64 KB
 * stands still while ranks of either of its nodes copy, the largest penalty of overlapping that the
 * thesis found (section 4.5.1): above that size, the most that MP_EAGER_LIMIT may be, IBM's MPI sends
 * nothing before the receiver has answered, and by default arriving packets do not interrupt it.
 */
#ifndef COLL_BENCH_REPRODUCE_SMP_H
#define COLL_BENCH_REPRODUCE_SMP_H

#include "coll/lab/sim/plogp_costs.h"
#include "coll/lab/sim/shm_costs.h"

#include "simulated.h"

enum { SMP_NODES = 8, SMP_RANKS = 16, SMP_EAGER = 65536 };

static const coll_shm_costs smp_memory = {5, 1.6, .4, .5, 0, -1, 0, 0, 0};

/* A message between nodes takes its ports for g(m), however long that becomes. */
static inline void smp_move(const coll_cost_model *model, const coll_message *m,
                            coll_plogp_column overhead, coll_cost *cost)
{
    const coll_cost_model *between = ((const coll_sim_shm *)model->data)->between;
    const coll_time g = coll_i_plogp_time(between, COLL_PLOGP_G, m);
    cost->cpu = cost->done = coll_i_plogp_time(between, overhead, m);
    cost->port = COLL_NEVER;
    cost->flow = g > cost->cpu ? g - cost->cpu : 1;
}

static inline void smp_send(const coll_cost_model *model, const coll_message *m,
                            coll_cost *cost)
{
    coll_i_shm_send(model, m, cost);
    if (!coll_i_shm_intra(model, m))
        smp_move(model, m, COLL_PLOGP_OS, cost);
}

static inline void smp_receive(const coll_cost_model *model, const coll_message *m,
                               coll_cost *cost)
{
    if (coll_i_shm_intra(model, m))
        coll_i_shm_receive(model, m, cost);
    else
        smp_move(model, m, COLL_PLOGP_OR, cost);
}

static inline double smp_slow(const coll_cost_model *model, const coll_flowing *all,
                              uint64_t bytes)
{
    if (bytes == 0)
        return coll_i_shm_slow(model, all, bytes);
    return bytes > SMP_EAGER && all->computations > 0 ? HUGE_VAL : 1;
}

/* A cluster of SMP nodes. `delayed`: copies hold messages up, as above. */
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
    if (collective == COLL_BCAST)
        problem.flags |= COLL_FLAG_IN_PLACE; /* MPI's has one buffer */
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
        model.slow = smp_slow;
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

/* Within a node alone, through two buffers of up to 16 KB, the best in section 2.5. */
static inline double smp_within_us(uint64_t bytes)
{
    const uint32_t piece = bytes < 16384 ? (uint32_t)bytes / 8 : 16384 / 8;
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
