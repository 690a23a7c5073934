/* coll/select/intra_node.h — which algorithm among ranks that share the memory of a node
 *
 *   coll_comm_rules(&comm, coll_node_rules(coll_shm_is_oversubscribed(shm),
 *                                          coll_shm_is_zero_copy(shm)));
 *   coll_comm_rules(&comm, coll_node_rules(coll_threads_is_oversubscribed(threads), true));
 *
 * Measured with bench/collectives.c (all algorithms, 8 B … 4 MiB, 2, 4 and 8 ranks, sums of
 * doubles) on two processors. A message costs a cache line or one copy there, whoever the peers are.
 * With a processor for each rank, rounds count, and from half a MiB on how the combining is shared
 * out. Where ranks take turns on the processors, each round in which a rank waits costs a change of
 * context, some twenty times as much as a message; so what is done in one round wins, though its
 * root handles p messages, until the copying costs more.
 *
 * Measurements, and what was tried and not kept: docs/internals/shared-memory.md.
 *
 * What these lists leave open the built-in rules say, which are the last of them.
 */
#ifndef COLL_SELECT_INTRA_NODE_H
#define COLL_SELECT_INTRA_NODE_H

#include "../algos/bine_butterfly.h"
#include "../algos/chain.h"
#include "../algos/dissemination.h"
#include "../algos/fnomial_split.h"
#include "../algos/in_network.h"
#include "../algos/linear.h"
#include "../algos/linear_all.h"
#include "../algos/linear_gather.h"
#include "../algos/linear_scan.h"
#include "../algos/multicast.h"
#include "../algos/multicast_all.h"
#include "../algos/pairwise.h"
#include "../algos/rabenseifner.h"
#include "../algos/recursive_multiplying.h"
#include "../algos/ring.h"
#include "../algos/shm_flat.h"
#include "../select.h"

#define COLL_I_NODE(collective, from, to, least, most, algorithm, why)                         \
    {                                                                                          \
        COLL_BIT(collective), from, to, least, most, algorithm, COLL_DEFAULTS(why)             \
    }
#define COLL_I_NODE_BOTH(first, second, from, to, least, most, algorithm, why)                 \
    {                                                                                          \
        COLL_BIT(first) | COLL_BIT(second), from, to, least, most, algorithm,                  \
            COLL_DEFAULTS(why)                                                                 \
    }

/* The end of a rule for up to six ranks, all of which meet in one round. */
#define COLL_I_NODE_RADIX(why)                                                                 \
    {6, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT}, 0, why, NULL, 0, 0, 0

/* clang-format off */
/* A processor for each rank. */
COLL_TABLE(coll_rule, coll_node_dedicated, {
    COLL_I_NODE(COLL_ALLREDUCE, 2, 2, COLL_I_KIB(512), SIZE_MAX, &coll_ring_allreduce,
                "long, and the operator commutes: each rank combines its half"),
    COLL_I_NODE(COLL_ALLREDUCE, 2, 2, COLL_I_KIB(512), SIZE_MAX, &coll_rabenseifner_allreduce,
                "long, operands in rank order: each rank combines its half"),
    COLL_I_NODE(COLL_REDUCE, 2, 2, COLL_I_KIB(512), SIZE_MAX, &coll_linear_reduce,
                "long: the root combines what the other one never writes again"),
    {COLL_BIT(COLL_SCAN), 2, 2, COLL_I_KIB(2048), SIZE_MAX, &coll_linear_scan,
     COLL_IN_SEGMENTS(0, 262144, "long: the first rank copies while the other one combines")},
    COLL_I_NODE(COLL_SCAN, 2, 2, 0, SIZE_MAX, &coll_linear_scan, "the first rank need not wait"),
    COLL_I_NODE(COLL_EXSCAN, 2, 2, 0, SIZE_MAX, &coll_linear_exscan, "the first rank need not wait"),
});

/* A processor for each rank, and long messages are read where they lie. */
COLL_TABLE(coll_rule, coll_node_zero_copy, {
    COLL_I_NODE(COLL_ALLREDUCE, 2, 2, COLL_I_KIB(512), SIZE_MAX, &coll_recursive_doubling_allreduce,
                "long, out of each other's memory: nobody reads what is written again"),
});

/* More ranks than processors. */
COLL_TABLE(coll_rule, coll_node_oversubscribed, {
    COLL_I_NODE(COLL_BARRIER, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_in_network_barrier,
                "the last one to come tells all others"),
    {COLL_BIT(COLL_BARRIER), 3, 6, 0, SIZE_MAX, &coll_dissemination_barrier,
     COLL_I_NODE_RADIX("few ranks: all tell all others, in one round, and nobody waits for a root")},
    COLL_I_NODE(COLL_BARRIER, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_barrier,
                "to the root and back: few messages"),

    COLL_I_NODE(COLL_BCAST, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_multicast_bcast,
                "one round: the root copies once, and every rank from there, or from its memory"),
    COLL_I_NODE(COLL_BCAST, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_bcast,
                "one round: every rank copies from the root's memory"),

    COLL_I_NODE(COLL_REDUCE, 3, COLL_ANY_P, 0, COLL_I_KIB(64) - 1, &coll_linear_reduce,
                "short: one round"),
    COLL_I_NODE(COLL_REDUCE, 3, COLL_ANY_P, COLL_I_KIB(64), COLL_I_KIB(512) - 1, &coll_chain_reduce,
                "longer: each rank combines what the one before it has just left in the cache"),
    COLL_I_NODE(COLL_REDUCE, 3, COLL_ANY_P, COLL_I_KIB(512), SIZE_MAX, &coll_fnomial_split_reduce,
                "long: all ranks combine equally much"),

    COLL_I_NODE(COLL_ALLREDUCE, 3, COLL_ANY_P, 0, COLL_I_KIB(128) - 1, &coll_in_network_allreduce,
                "threads, or short: the last one to come combines for all"),
    {COLL_BIT(COLL_ALLREDUCE), 3, 5, 0, COLL_I_KIB(2) - 1, &coll_recursive_multiplying_allreduce,
     COLL_I_NODE_RADIX("short, few ranks: all tell all others, in one round")},
    COLL_I_NODE(COLL_ALLREDUCE, 3, COLL_ANY_P, 0, COLL_I_KIB(64) - 1, &coll_serial_allreduce,
                "short: to the root and back"),
    COLL_I_NODE(COLL_ALLREDUCE, 4, 4, COLL_I_KIB(64), COLL_I_KIB(128) - 1, &coll_bine_allreduce,
                "longer, and the operator commutes: the least traffic in few rounds"),
    COLL_I_NODE(COLL_ALLREDUCE, 3, 5, COLL_I_KIB(64), SIZE_MAX, &coll_ring_allreduce,
                "longer, few ranks, and the operator commutes: the least traffic"),
    COLL_I_NODE(COLL_ALLREDUCE, 3, COLL_ANY_P, COLL_I_KIB(64), SIZE_MAX, &coll_rabenseifner_allreduce,
                "longer: the least traffic in few rounds"),

    COLL_I_NODE_BOTH(COLL_GATHER, COLL_GATHERV, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_gather,
                     "one round: the root copies from every rank's memory"),
    COLL_I_NODE_BOTH(COLL_SCATTER, COLL_SCATTERV, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_scatter,
                     "one round: every rank copies from the root's memory"),
    COLL_I_NODE_BOTH(COLL_ALLGATHER, COLL_ALLGATHERV, 5, COLL_ANY_P, 0, COLL_I_KIB(16), &coll_shm_flat_allgather,
                     "short: every rank waits once for all others, and copies all blocks at once"),
    COLL_I_NODE_BOTH(COLL_ALLGATHER, COLL_ALLGATHERV, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_multicast_allgather,
                     "one round: every rank copies its block once, and all others' from there, or from their memory"),
    COLL_I_NODE_BOTH(COLL_ALLGATHER, COLL_ALLGATHERV, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_allgather,
                     "one round: every rank copies from all others' memory"),
    COLL_I_NODE(COLL_ALLTOALL, 5, COLL_ANY_P, 0, COLL_I_KIB(16), &coll_shm_flat_alltoall,
                "short: every rank waits once for all others"),
    COLL_I_NODE(COLL_ALLTOALL, 3, COLL_ANY_P, 0, SIZE_MAX, &coll_pairwise_alltoall,
                "every block straight to its rank, whatever its size"),

    COLL_I_NODE_BOTH(COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK, 3, COLL_ANY_P, 0,
                     COLL_I_KIB(2), &coll_in_network_reduce_scatter, "short: the last one to come combines for all"),
    COLL_I_NODE_BOTH(COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK, 3, COLL_ANY_P, 0,
                     COLL_I_KIB(16), &coll_shm_flat_reduce_scatter,
                     "longer: every rank waits once for all others, and combines its block of all operands"),
    COLL_I_NODE_BOTH(COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK, 3, COLL_ANY_P, 0,
                     COLL_I_KIB(1), &coll_linear_reduce_scatter, "short: one round"),
    COLL_I_NODE_BOTH(COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK, 3, COLL_ANY_P, 0, SIZE_MAX,
                     &coll_pairwise_reduce_scatter, "every block straight to its rank"),

    {COLL_BIT(COLL_SCAN), 2, COLL_ANY_P, COLL_I_KIB(512), SIZE_MAX, &coll_linear_scan,
     COLL_IN_SEGMENTS(0, 262144, "long: ranks work on segments, which stay in the cache, at the same time")},
    {COLL_BIT(COLL_EXSCAN), 2, COLL_ANY_P, COLL_I_KIB(512), SIZE_MAX, &coll_linear_exscan,
     COLL_IN_SEGMENTS(0, 262144, "long: ranks work on segments, which stay in the cache, at the same time")},
    COLL_I_NODE(COLL_SCAN, 2, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_scan, "every rank waits once"),
    COLL_I_NODE(COLL_EXSCAN, 2, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_exscan, "every rank waits once"),
});
/* clang-format on */

/* A processor for each rank. */
COLL_CONST(coll_rule_list, coll_node_dedicated_rules, {
    coll_node_dedicated, sizeof coll_node_dedicated / sizeof coll_node_dedicated[0], &coll_rules_built_in});
/* … and long messages are read where they lie. */
COLL_CONST(coll_rule_list, coll_node_zero_copy_rules, {
    coll_node_zero_copy, sizeof coll_node_zero_copy / sizeof coll_node_zero_copy[0],
    &coll_node_dedicated_rules});
/* More ranks than processors. */
COLL_CONST(coll_rule_list, coll_node_oversubscribed_rules, {
    coll_node_oversubscribed, sizeof coll_node_oversubscribed / sizeof coll_node_oversubscribed[0],
    &coll_rules_built_in});

/* The lists of rules for ranks of one node. `oversubscribed`: there are more than processors that
 * they may run on; `zero_copy`: two ranks read each other's long messages where they lie, as
 * threads do, and processes unless all their messages go through slots. Both are the same on all
 * ranks. */
COLL_INLINE const coll_rule_list *coll_node_rules(bool oversubscribed, bool zero_copy)
{
    return oversubscribed ? &coll_node_oversubscribed_rules
           : zero_copy    ? &coll_node_zero_copy_rules
                          : &coll_node_dedicated_rules;
}

#endif /* COLL_SELECT_INTRA_NODE_H */
