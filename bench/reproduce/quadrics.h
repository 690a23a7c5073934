/* bench/reproduce/quadrics.h — the fat tree of Kumar 2004 in the simulator: Quadrics Elan3,
 * 4-ary
 *
 * A message costs α + m β on the network, and takes α and m β of the ports. Before that it
 * crosses the bus to its NIC, unless the NIC's memory holds it, and behind it the one to the
 * host (lab/sim/adapter.h): 128 MB/s down, 320 MB/s up and on the network, as slides 14 to 16
 * print, 9 us, as slide 27 does. Nothing of this is fitted. The network sends packets of 320
 * bytes, the next when the one before is acknowledged (slides 16 to 18); switches and wires
 * take `hop`, an acknowledgement `ack` besides. These two are fitted to the bandwidths of
 * prefix on slide 23, which fall with the distance. The length of messages is not told.
 */
#ifndef COLL_BENCH_REPRODUCE_QUADRICS_H
#define COLL_BENCH_REPRODUCE_QUADRICS_H

#include "coll/lab/model/kumar.h"
#include "coll/algos/registry.h"
#include "coll/lab/sim.h"

static const coll_hockney_costs quadrics_costs = {9, 1000 / 320., 0};
static const double quadrics_bytes = 64 * 1024;
static const char quadrics_links[] = "packet=320,ack=736,hop=48,byte=3.125";

enum { QUADRICS_RANKS = 1024, QUADRICS_NODES = 750 /* Lemieux's */ };

/* Nodes `first` … of the machine, of which number `missing` is none: 0: all are there. */
typedef struct quadrics_block {
    uint32_t first, missing;
} quadrics_block;

static const quadrics_block quadrics_whole = {0, 0};

/* One of the places on the machine for p nodes with a hole among them, any of them. It begins
 * at a multiple of 8, so without the hole partitions of k-prefix would be those of the tree. */
static inline quadrics_block quadrics_somewhere(uint32_t p, uint64_t seed, uint32_t number)
{
    const uint32_t places = (QUADRICS_NODES - p - 1) / 8 + 1;
    quadrics_block block;
    block.first = 8 * (uint32_t)(coll_i_fraction(coll_i_mixed(seed, 0, number)) * places);
    block.missing = 1 + (uint32_t)(coll_i_fraction(coll_i_mixed(seed, 1, number)) * (p - 1));
    return block;
}

static inline uint32_t quadrics_node(quadrics_block block, uint32_t rank)
{
    return block.first + rank + (block.missing > 0 && rank >= block.missing ? 1 : 0);
}

/* The tree of the nodes up to this one. */
static inline bool quadrics_tree(coll_topology *tree, uint32_t nodes)
{
    char words[100];
    coll_sentence why;
    uint32_t n = 1;
    for (uint32_t ends = 4; ends < nodes; ends *= 4)
        n++;
    snprintf(words, sizeof words, "fattree:k=4,n=%u,%s", n, quadrics_links);
    return coll_topology_read(tree, words, &why);
}

/* What leaves a node. */
typedef enum quadrics_from {
    QUADRICS_NETWORK, /* it lies in the NIC's memory, and what comes stays there */
    QUADRICS_MAIN,   /* it crosses the bus each time that it is sent: the library of the talk */
    QUADRICS_KEPT,   /* it crosses once, and is kept: the strategies of the talk */
    QUADRICS_ARRIVED /* what came is kept, too */
} quadrics_from;

/* What puts nodes out of step. */
typedef struct quadrics_chance {
    const coll_noise *noise; /* of the hosts, or NULL */
    coll_time skew;          /* nodes begin at random times up to this one */
    uint64_t seed;
} quadrics_chance;

/* Of a run; ps is 0 after an error. */
typedef struct quadrics_result {
    coll_time ps;
    coll_nic_load nic; /* of the first node, if it has one */
    double busy_us;    /* of the processor of a node, in the mean */
} quadrics_result;

/* Runs a plan on a block of nodes. */
static inline quadrics_result quadrics_measure(coll_plan *plan, quadrics_block block,
                                               quadrics_from from, quadrics_chance chance)
{
    static uint32_t table[QUADRICS_RANKS];
    coll_nic_costs nic = coll_nic_lemieux;
    const uint32_t p = plan->problem.p;
    coll_topology tree;
    coll_group group;
    coll_cost_model model, network;
    coll_sim_hockney at;
    coll_sim_adapter adapter;
    coll_sim_options options;
    coll_sim sim;
    quadrics_result result;
    memset(&result, 0, sizeof result);
    nic.keep = (double)from - QUADRICS_MAIN;
    for (uint32_t rank = 0; rank < p; rank++)
        table[rank] = quadrics_node(block, rank);
    coll_group_table(&group, table, NULL);
    if (!quadrics_tree(&tree, table[p - 1] + 1) || coll_plan_place(plan, &group) != COLL_OK)
        return result;
    coll_sim_hockney_init(&network, &at, &quadrics_costs);
    coll_sim_options_init(&options, &network);
    if (from != QUADRICS_NETWORK) {
        coll_sim_adapter_init(&adapter, &model, &nic, &network, NULL, NULL, table[p - 1] + 1);
        options.model = &model;
        options.adapter = &adapter;
    }
    options.topology = &tree;
    options.noise = chance.noise;
    options.skew_most = chance.skew;
    options.seed = chance.seed;
    coll_sim_init(&sim);
    if (coll_sim_run(&sim, plan, false, &options) == COLL_OK) {
        result.ps = sim.makespan;
        for (uint32_t rank = 0; rank < p; rank++)
            result.busy_us += coll_time_us(coll_sim_busy(&sim, rank)) / p;
        if (options.adapter)
            result.nic = *coll_sim_nic(&sim, table[0]);
    }
    coll_sim_free(&sim);
    return result;
}

/* Picoseconds of a plan whose nodes begin together; 0: an error. *load, which may be NULL: of its
 * first NIC. */
static inline coll_time quadrics_run(coll_plan *plan, quadrics_block block, quadrics_from from,
                                     coll_nic_load *load)
{
    const quadrics_chance none = {NULL, 0, 0};
    const quadrics_result result = quadrics_measure(plan, block, from, none);
    if (load)
        *load = result.nic;
    return result.ps;
}

/* MB/s of a node each way in an allgather, by a row of the registry. */
static inline double quadrics_MB_per_s(const char *row, quadrics_from from, uint32_t p,
                                       quadrics_block block)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLGATHER, p, (size_t)quadrics_bytes / 8, 8);
    if (coll_plan_init(&plan, coll_find(COLL_ALLGATHER, row), &problem, NULL) != COLL_OK)
        return 0;
    return (p - 1.0) * quadrics_bytes * 1e6 / (double)quadrics_run(&plan, block, from, NULL);
}

/* Of p ranks that on which most is received from far away: the links that its messages pass in
 * the mean. */
static inline double quadrics_longest_way(const char *row, uint32_t p, quadrics_block block)
{
    double longest = 0;
    coll_topology tree;
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLGATHER, p, 1, 8);
    if (coll_plan_init(&plan, coll_find(COLL_ALLGATHER, row), &problem, NULL) != COLL_OK ||
        !quadrics_tree(&tree, quadrics_node(block, p - 1) + 1))
        return 0;
    for (uint32_t rank = 0; rank < p; rank++) {
        const uint32_t to = quadrics_node(block, rank);
        coll_action acts[COLL_STEP_MAX];
        double hops = 0;
        for (size_t s = 0; s < coll_plan_steps(&plan, rank); s++)
            for (unsigned i = coll_plan_step(&plan, rank, s, acts); i-- > 0;)
                if (acts[i].kind == COLL_DO_RECV)
                    hops += tree.hops(&tree, quadrics_node(block, acts[i].peer), to);
        longest = hops > longest ? hops : longest;
    }
    return longest / (p - 1.0);
}

/* ---- one permutation --------------------------------------------------------------------- */

static const coll_param quadrics_distance[] = {
    {"distance",
     "XOR of the numbers of two ranks that exchange a block",
     1,
     1 << 30,
     1,
     {1, 1, 1, 1}}};

static inline size_t quadrics_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan, (void)rank;
    return 1;
}

static inline unsigned quadrics_step(const coll_plan *plan, uint32_t rank, size_t step,
                                     coll_action *out)
{
    const uint32_t peer = rank ^ plan->param[0];
    (void)step;
    coll_act_send(&out[0], peer, COLL_AT(COLL_IN, 0), plan->problem.count);
    coll_act_recv(&out[1], peer, COLL_AT(COLL_OUT, 0), plan->problem.count);
    return 2;
}

COLL_STATIC_ALGORITHM(quadrics_exchange, "exchange", "Kumar 2004, slide 8",
                      COLL_BIT(COLL_ALLGATHER), /* traits */ 0,
                      /* window */ 2, /* sends */ 1, COLL_PARAMS(1, quadrics_distance),
                      quadrics_steps, quadrics_step);

/* MB/s of a node each way if each of 256 exchanges a long message with the one at a distance. */
static inline double quadrics_exchange_MB_per_s(uint32_t distance, quadrics_from from)
{
    const double bytes = 1 << 20;
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLGATHER, 256, (size_t)bytes / 8, 8);
    if (coll_plan_init(&plan, &quadrics_exchange, &problem, &distance) != COLL_OK)
        return 0;
    return bytes * 1e6 / (double)quadrics_run(&plan, quadrics_whole, from, NULL);
}

/* The same from the NIC's memory: slide 15. */
static inline double quadrics_permutation_MB_per_s(uint32_t distance)
{
    return quadrics_exchange_MB_per_s(distance, QUADRICS_NETWORK);
}

#endif /* COLL_BENCH_REPRODUCE_QUADRICS_H */
