/* Rules for several nodes: each is reached, and simulated on clusters, faster on the whole than what the
 * built-in rules choose there, and nowhere much slower. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "coll/lab/model/dpml_model.h"
#include "coll/select/inter_node.h"
#include "coll/lab/sim.h"
#include "coll/lab/sim/hockney_costs.h"
#include "coll/lab/sim/shm_costs.h"
#include "coll/lab/sim/topology/sockets.h"

/* What an InfiniBand cluster takes whose ranks share fast memory, one with slower memory, and Omni-Path. */
static const coll_dpml_costs machines[] = {{1.3, .1, .2, .1, .09, .1, .1, 0, 0},
                                           {1.3, .1, .3, .15, .09, .1, .1, 0, 0},
                                           {1.5, .1, .2, .1, .15, .05, .08, 0, 0}};
static const uint32_t shapes[][2] = {/* nodes, ranks of each */
                                     {2, 2},  {2, 8}, {4, 4},  {8, 8},  {16, 16}, {4, 32},
                                     {32, 4}, {3, 6}, {5, 12}, {6, 24}, {4, 48},  {7, 13}};
enum {
    MACHINES = sizeof machines / sizeof machines[0],
    SHAPES = sizeof shapes / sizeof shapes[0],
    RULES = sizeof coll_nodes_rules / sizeof coll_nodes_rules[0],
    RANKS = 256,
    MOST = 1 << 20, /* bytes of a rank's vector, of all blocks 16 times as much */
    UNIT = 8        /* bytes of an element */
};

static coll_sim sim;
static coll_plan plans[RANKS];
static coll_workspace workspaces[RANKS];

/* Microseconds of what the rules choose for a problem, with memory that the ranks of a node share or
 * without; *found: which rule. */
static double us_of(const coll_rule_list *rules, const coll_problem *problem, unsigned shared,
                    const coll_dpml_costs *costs, const coll_rule **found)
{
    const coll_hockney_costs far = {costs->a_us, costs->b_ns_per_byte, costs->c_ns_per_byte};
    const coll_shm_costs near = {
        costs->a_shm_us, costs->b_shm_ns_per_byte, 0, 0, costs->c_ns_per_byte, 0, 0, 0, 0};
    const coll_conditions conditions = {COLL_NEEDS_PACKED | shared, COLL_GIVES_IDENTICAL};
    const size_t room = coll_workspace_tables(problem);
    const uint32_t p = problem->p;
    size_t *tables = (size_t *)malloc(p * room * sizeof *tables);
    coll_cost_model network, model;
    coll_sim_hockney between;
    coll_sim_options options;
    coll_topology nics;
    coll_sim_shm shm;
    coll_sim_hockney_init(&network, &between, &far);
    shm.costs = &near;
    shm.between = &network;
    shm.nodes = &problem->nodes;
    shm.ends = p;
    coll_sim_shm_init(&model, &shm);
    coll_topology_nodes(&nics, coll_nodes_count(&problem->nodes), 1,
                        coll_nodes_largest(&problem->nodes, p));
    nics.cost.message = coll_time_of(costs->gap_us * 1e6);
    nics.cost.byte_ps = costs->wire_ns_per_byte * 1000;
    coll_sim_options_init(&options, &model);
    options.topology = &nics;
    for (uint32_t rank = 0; rank < p; rank++) {
        coll_workspace_init(&workspaces[rank], rank, tables + rank * room, room);
        CHECK_STATUS(coll_select_from(rules, problem, &conditions, &workspaces[rank],
                                      &plans[rank], found),
                     COLL_OK);
    }
    CHECK_STATUS(coll_sim_run(&sim, plans, true, &options), COLL_OK);
    free(tables);
    return coll_time_us(sim.makespan);
}

/* The lengths on which a rule is tried: its ends, and some between. */
static size_t next_bytes(const coll_rule *rule, size_t bytes)
{
    const size_t most = rule->bytes_most < MOST ? rule->bytes_most / UNIT * UNIT : MOST;
    return bytes >= most ? 0 : bytes < UNIT ? UNIT : bytes * 4 < most ? bytes * 4 : most;
}

/* How many times faster a rule is than what would be taken without it: logarithms. */
typedef struct gain {
    double sum, least;
    uint32_t n;
} gain;

static void try_shape(const coll_rule *rule, coll_collective collective, uint32_t nodes,
                      uint32_t ppn, const coll_dpml_costs *costs, gain *gains)
{
    static size_t counts[2 * RANKS];
    const uint32_t p = nodes * ppn, blocks = coll_is(COLL_ROOTED | COLL_REDUCING, collective) &&
                                                     collective != COLL_GATHER &&
                                                     collective != COLL_SCATTER
                                                 ? 1
                                                 : p;
    const unsigned shared = rule->algorithm->traits & COLL_NEEDS_SHARED;
    size_t bytes = rule->bytes_least;
    do {
        const coll_rule *found;
        coll_problem problem;
        double with, without;
        if (bytes * blocks > 16 * (size_t)MOST)
            break;
        coll_problem_init(&problem, collective, p,
                          collective == COLL_BARRIER ? 0 : bytes / UNIT, UNIT);
        problem.flags = COLL_FLAG_COMMUTATIVE;
        coll_nodes_even(&problem.nodes, p, ppn);
        for (uint32_t i = 0; collective == COLL_REDUCE_SCATTER && i < p; i++) {
            counts[i] = bytes / UNIT;
            counts[RANKS + i] = i * (bytes / UNIT);
            problem.in.counts = counts;
            problem.in.displs = counts + RANKS;
        }
        with = us_of(&coll_rules_of_nodes, &problem, shared, costs, &found);
        without = us_of(&coll_rules_built_in, &problem, shared, costs, NULL);
        if (found != rule || with <= 0)
            continue;
        if (!CHECK(with <= 1.25 * without) || getenv("COLL_TELL"))
            printf("    %s, %u nodes of %u, %zu bytes: %.1f us, without the rule %.1f\n",
                   coll_collective_name(collective), nodes, ppn, bytes, with, without);
        gains->sum += log(without / with);
        gains->n++;
    } while (collective != COLL_BARRIER && (bytes = next_bytes(rule, bytes)) > 0);
}

TEST(rules_of_nodes)
{
    coll_sim_init(&sim);
    for (uint32_t r = 0; r < RULES; r++) {
        const coll_rule *rule = &coll_nodes_rules[r];
        gain gains = {0, 0, 0};
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            for (uint32_t s = 0; s < SHAPES && coll_is(rule->collectives, (coll_collective)c);
                 s++)
                for (uint32_t m = 0; m < MACHINES && shapes[s][1] >= rule->ppn_least;
                     m += CHECK_SHARE)
                    try_shape(rule, (coll_collective)c, shapes[s][0], shapes[s][1],
                              &machines[m], &gains);
        CHECK(gains.n > 0 && gains.sum / gains.n > 0.02);
        printf("    %5.2f times as fast in %3u cases: %s\n",
               exp(gains.sum / (gains.n ? gains.n : 1)), gains.n, rule->why);
    }
    coll_sim_free(&sim);
}

/* What has one node, or ranks that are nodes, is as it was. */
TEST(other_problems_are_not_theirs)
{
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (uint32_t ppn = 1; ppn <= 64; ppn *= 64) {
            const coll_conditions conditions = {0, 0};
            size_t tables[4 * (64 + 64) + 64];
            const coll_rule *found;
            coll_problem problem;
            coll_workspace workspace;
            coll_plan plan;
            coll_problem_init(&problem, (coll_collective)c, 64, 1, UNIT);
            if (coll_is(COLL_NEIGHBORLY, c) || coll_is(COLL_PAIRED, c))
                continue;
            coll_nodes_even(&problem.nodes, 64, ppn);
            coll_workspace_init(&workspace, 5, tables, sizeof tables / sizeof tables[0]);
            if (coll_select_from(&coll_rules_of_nodes, &problem, &conditions, &workspace, &plan,
                                 &found) == COLL_OK)
                CHECK(found >= coll_rules && found < coll_rules + COLL_RULE_COUNT);
        }
}

int main(void)
{
    RUN(rules_of_nodes);
    RUN(other_problems_are_not_theirs);
    return check_done();
}
