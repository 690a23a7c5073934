/* coll/select/inter_node.h — which algorithm for which problem on several nodes
 *
 *   status = coll_select_from(&coll_rules_of_nodes, &problem, &conditions, &workspace, &plan, &rule);
 *
 * Rules before the built-in ones, for ranks of several nodes whose ranks reach each other faster than
 * those of other nodes, and share what leads there. Most are of composite algorithms: they
 * are passed over without a workspace; those first that use memory which the ranks of a node share
 * (coll_node_memory), where there is some. What the rules leave open is as fast in one level: trees
 * of contiguous ranks keep to nodes by themselves, as far as these have powers of two of them;
 * rings leave a node once.
 *
 * Simulated: 2 to 32 nodes of 2 to 48 ranks, powers of two and others, on machines like those of
 * Bayatpour et al. 2017 whose NICs take 0.1 µs a message and as long for a byte as its process. A
 * test (tests/select/nodes.c) simulates that again: each is faster on the whole, 1.04 to 3.4
 * times, and nowhere there more than a quarter slower, than what the built-in rules say.
 */
#ifndef COLL_SELECT_INTER_NODE_H
#define COLL_SELECT_INTER_NODE_H

#include "../algos/dpml.h"
#include "../algos/mixed.h"
#include "../algos/mixed_allgather.h"
#include "../algos/multi_leader.h"
#include "../algos/ring.h"
#include "../algos/two_level.h"
#include "../algos/two_level_blocks.h"
#include "../algos/two_level_exchange.h"
#include "../algos/two_level_reduce_scatter.h"
#include "../algos/two_level_scan.h"
#include "../select.h"

#define COLL_I_SPREAD(collectives, ppn, least, most, algorithm, param, why)                    \
    COLL_I_SPREAD_TO(collectives, COLL_ANY_P, ppn, least, most, algorithm, param,              \
                     COLL_DEFAULT, why)
/* The same for at most `ranks`, with the third parameter, too. */
#define COLL_I_SPREAD_TO(collectives, ranks, ppn, least, most, algorithm, param, third, why)   \
    {                                                                                          \
        collectives, 1, ranks, least, most, algorithm,                                         \
            {param, COLL_DEFAULT, third, COLL_DEFAULT}, 0, why, NULL, 0, ppn, UINT32_MAX       \
    }

/* clang-format off */
COLL_TABLE(coll_rule, coll_nodes_rules, {
    COLL_I_SPREAD(COLL_BIT(COLL_BARRIER), 2, 0, SIZE_MAX, &coll_two_level_barrier.algorithm, COLL_DEFAULT,
                  "a few messages between nodes, not of all ranks at once"),

    COLL_I_SPREAD_TO(COLL_BIT(COLL_BCAST), COLL_ANY_P, 4, 0, COLL_I_KIB(64) - 1, &coll_mixed_bcast, 0, 0,
                     "memory of the nodes: to each node once, and read there by all at a time"),
    COLL_I_SPREAD_TO(COLL_BIT(COLL_BCAST), 256, 6, COLL_I_KIB(64), SIZE_MAX, &coll_mixed_bcast, 1, COLL_DEFAULT,
                     "memory of the nodes, longer: pieces go on to the next node while they are read"),
    COLL_I_SPREAD(COLL_BIT(COLL_BCAST), 2, 0, COLL_I_KIB(8) - 1, &coll_two_level_bcast.algorithm, COLL_DEFAULT,
                  "short: to each node once, by the fewest messages in a row"),
    COLL_I_SPREAD(COLL_BIT(COLL_BCAST), 6, COLL_I_KIB(64), COLL_I_KIB(512) - 1, &coll_multi_leader_bcast.algorithm, 16,
                  "longer: to each node once, a part of it to each of its leaders"),

    COLL_I_SPREAD(COLL_BIT(COLL_REDUCE), 2, 0, COLL_I_KIB(4) - 1, &coll_two_level_reduce.algorithm, COLL_DEFAULT,
                  "short: from each node once, by the fewest messages in a row"),
    COLL_I_SPREAD(COLL_BIT(COLL_REDUCE), 24, COLL_I_KIB(64), SIZE_MAX, &coll_multi_leader_reduce.algorithm, 32,
                  "longer, very many ranks a node: a part of it from each of 32 leaders"),
    COLL_I_SPREAD(COLL_BIT(COLL_REDUCE), 6, COLL_I_KIB(32), SIZE_MAX, &coll_multi_leader_reduce.algorithm, 16,
                  "longer: from each node once, a part of it from each of its leaders"),

    COLL_I_SPREAD(COLL_BIT(COLL_ALLREDUCE), 4, 0, COLL_I_KIB(1) - 1, &coll_dpml_allreduce.algorithm, 1,
                  "memory of the nodes, short: one leader of a node combines what lies there"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLREDUCE), 4, COLL_I_KIB(1), COLL_I_KIB(4) - 1, &coll_dpml_allreduce.algorithm, 2,
                  "memory of the nodes: two leaders combine, and talk at a time"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLREDUCE), 12, COLL_I_KIB(8), COLL_I_KIB(32) - 1, &coll_dpml_allreduce.algorithm, 8,
                  "memory of the nodes, many ranks a node: eight leaders, as combining takes longer"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLREDUCE), 4, COLL_I_KIB(4), COLL_I_KIB(16) - 1, &coll_dpml_allreduce.algorithm, 4,
                  "memory of the nodes: four leaders, as combining takes longer"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLREDUCE), 12, COLL_I_KIB(32), SIZE_MAX, &coll_dpml_allreduce.algorithm, 16,
                  "memory of the nodes, many ranks a node: all that can help do"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLREDUCE), 6, COLL_I_KIB(16), SIZE_MAX, &coll_dpml_allreduce.algorithm, 8,
                  "memory of the nodes, long: eight leaders"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLREDUCE), 12, 0, COLL_I_KIB(4) - 1, &coll_two_level_allreduce.algorithm, COLL_DEFAULT,
                  "short, many ranks a node: one message of a node at a time"),

    COLL_I_SPREAD(COLL_BIT(COLL_GATHER), 6, 0, COLL_I_KIB(16) - 1, &coll_two_level_gather.algorithm, COLL_DEFAULT,
                  "not long: one message of each node, so the root's node takes few"),
    COLL_I_SPREAD(COLL_BIT(COLL_SCATTER), 6, 0, COLL_I_KIB(16) - 1, &coll_two_level_scatter.algorithm, COLL_DEFAULT,
                  "not long: one message to each node, so the root's node sends few"),

    COLL_I_SPREAD(COLL_BIT(COLL_ALLGATHER), 12, 128, 511, &coll_mixed_allgather, COLL_DEFAULT,
                  "memory of the nodes, many ranks a node: what a node has travels as one"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLGATHER), 6, 512, COLL_I_KIB(4) - 1, &coll_mixed_allgather, COLL_DEFAULT,
                  "memory of the nodes: what a node has travels as one"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLGATHER), 32, 0, 255, &coll_two_level_allgather.algorithm, COLL_DEFAULT,
                  "short blocks, very many ranks a node: what a node has travels as one"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLGATHER), 12, 256, COLL_I_KIB(2) - 1, &coll_two_level_allgather.algorithm, COLL_DEFAULT,
                  "many ranks a node: what a node has travels as one"),
    COLL_I_SPREAD(COLL_BIT(COLL_ALLGATHER), 12, COLL_I_KIB(2), SIZE_MAX, &coll_ring_allgather, COLL_DEFAULT,
                  "longer, many ranks a node: one of them at a time sends to another node"),

    COLL_I_SPREAD(COLL_BIT(COLL_REDUCE_SCATTER), 32, 0, COLL_I_KIB(2) - 1, &coll_two_level_reduce_scatter.algorithm, COLL_DEFAULT,
                  "short blocks, very many ranks a node: what is for a node travels as one"),
    COLL_I_SPREAD(COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 32, 0, COLL_I_KIB(2) - 1, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT,
                  "short blocks, very many ranks a node: what is for a node travels as one"),
    COLL_I_SPREAD(COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 12, COLL_I_KIB(2), SIZE_MAX,
                  &coll_ring_reduce_scatter, COLL_DEFAULT,
                  "longer, many ranks a node: one of them at a time sends to another node"),

    COLL_I_SPREAD(COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN), 12, 0, COLL_I_KIB(32) - 1, &coll_two_level_scan.algorithm, COLL_DEFAULT,
                  "many ranks a node: from each node to the next ones once"),
});
/* clang-format on */

/* The rules for several nodes, then the built-in ones. */
COLL_CONST(coll_rule_list, coll_rules_of_nodes, {
    coll_nodes_rules, sizeof coll_nodes_rules / sizeof coll_nodes_rules[0],
    &coll_rules_built_in});

#endif /* COLL_SELECT_INTER_NODE_H */
