/* coll/algos/registry.h — the table of algorithms
 *
 *   const coll_algorithm *ring = coll_find(COLL_ALLREDUCE, "ring");
 *   const coll_algorithm *pipe = coll_resolve(COLL_BCAST, "pipeline", params); // chain, chains=1
 *   for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
 *       if (coll_is(coll_registry[i]->collectives, COLL_BCAST))
 *           …
 *
 * To add an algorithm: its file in algos/, and a row here for each record in it. Tests, bench,
 * the command `coll` and selection follow from the row. A program that names the algorithms it
 * uses, and not this table, links those only. A program of several files that use it compiles it
 * once with COLL_ONE_REGISTRY (config.h).
 */
#ifndef COLL_ALGOS_REGISTRY_H
#define COLL_ALGOS_REGISTRY_H

#include "binary_tree_exscan.h"
#include "binary_tree_scan.h"
#include "bine.h"
#include "bine_allgather.h"
#include "bine_butterfly.h"
#include "bruck.h"
#include "bruck_alltoall.h"
#include "bruck_alltoallv.h"
#include "butterfly.h"
#include "chain.h"
#include "circulant.h"
#include "circulant_bcast.h"
#include "dissemination.h"
#include "double_ring.h"
#include "double_tree.h"
#include "dpml.h"
#include "fence.h"
#include "fnomial.h"
#include "fnomial_gather.h"
#include "fnomial_split.h"
#include "in_network.h"
#include "kary.h"
#include "kprefix.h"
#include "kprefix_lb.h"
#include "kshift.h"
#include "linear.h"
#include "linear_all.h"
#include "linear_gather.h"
#include "linear_neighbor.h"
#include "linear_scan.h"
#include "locality_bruck.h"
#include "mesh_combining.h"
#include "mesh_tree.h"
#include "mixed.h"
#include "mixed_allgather.h"
#include "multi_leader.h"
#include "multi_leader_alltoall.h"
#include "multi_leader_blocks.h"
#include "multi_leader_rooted.h"
#include "multi_leader_scan.h"
#include "multi_ring.h"
#include "multicast.h"
#include "multicast_all.h"
#include "neighbor_exchange.h"
#include "node_combining.h"
#include "node_leader.h"
#include "pairwise.h"
#include "pat.h"
#include "pat_reduce_scatter.h"
#include "permutation_group.h"
#include "prefix.h"
#include "rabenseifner.h"
#include "rabenseifner_reduce.h"
#include "recursive_doubling_exscan.h"
#include "recursive_halving.h"
#include "recursive_multiplying.h"
#include "recursive_multiplying_allgather.h"
#include "recursive_multiplying_barrier.h"
#include "recursive_multiplying_exscan.h"
#include "recursive_multiplying_scan.h"
#include "ring.h"
#include "scatter_allgather.h"
#include "shm_allgather.h"
#include "shm_alltoall.h"
#include "shm_barrier.h"
#include "shm_bcast.h"
#include "shm_flat.h"
#include "shm_reduce.h"
#include "shm_rooted.h"
#include "snake.h"
#include "sparbit.h"
#include "split_binary.h"
#include "swing.h"
#include "swing_torus.h"
#include "throttled.h"
#include "trivance.h"
#include "trivance_blocks.h"
#include "two_level.h"
#include "two_level_alltoallv.h"
#include "two_level_blocks.h"
#include "two_level_exchange.h"
#include "two_level_reduce_scatter.h"
#include "two_level_scan.h"

#if !COLL_ONE_REGISTRY
#define COLL_I_REGISTRY(...) COLL_TABLE(coll_algorithm *const, coll_registry, __VA_ARGS__)
#elif defined(COLL_REGISTRY_HERE)
extern const coll_algorithm *const coll_registry[];
#define COLL_I_REGISTRY(...) const coll_algorithm *const coll_registry[] = __VA_ARGS__
#else /* only counted here */
#define COLL_I_REGISTRY(...)                                                                   \
    extern const coll_algorithm                                                                \
        *const coll_registry[COLL_I_ROWS(coll_algorithm *const, __VA_ARGS__)]
#endif

/* Of one collective, no two have the same name. Plans of rows with COLL_NEEDS_BUILD are made by
 * coll_plan_build (plan/composite.h). */
COLL_I_REGISTRY({
    /* straight from and to the root, or along the ranks */
    &coll_linear_barrier,
    &coll_linear_bcast,
    &coll_linear_reduce,
    &coll_linear_allreduce,
    &coll_linear_gather,
    &coll_linear_scatter,
    &coll_linear_allgather,
    &coll_linear_reduce_scatter,
    &coll_linear_scan,
    &coll_linear_exscan,

    /* with a multicast by the network */
    &coll_multicast_bcast,
    &coll_serial_reduce,
    &coll_serial_allreduce,
    &coll_fnomial_multicast_allreduce,
    &coll_multicast_allgather,

    /* trees */
    &coll_fnomial_barrier,
    &coll_fnomial_bcast,
    &coll_fnomial_reduce,
    &coll_fnomial_allreduce,
    &coll_kary_barrier,
    &coll_kary_bcast,
    &coll_kary_reduce,
    &coll_kary_allreduce,
    &coll_bine_bcast,
    &coll_bine_reduce,
    &coll_bine_tree_allreduce,
    &coll_chain_bcast,
    &coll_chain_reduce,
    &coll_chain_allreduce,
    &coll_double_tree_bcast,
    &coll_double_tree_reduce,
    &coll_double_tree_allreduce,
    &coll_split_binary_bcast,
    &coll_fnomial_gather,
    &coll_fnomial_gatherv,
    &coll_bine_gather,
    &coll_bine_gatherv,
    &coll_fnomial_split_reduce,
    &coll_fnomial_split_allreduce,
    &coll_scatter_allgather_bcast,
    &coll_scatter_ring_bcast,
    &coll_binary_tree_scan,
    &coll_binary_tree_exscan,

    /* rings */
    &coll_ring_allgather,
    &coll_neighbor_exchange_allgather,
    &coll_ring_reduce_scatter,
    &coll_ring_allreduce,
    &coll_double_ring_barrier,
    &coll_multi_ring_allgather,
    &coll_multi_ring_reduce_scatter,
    &coll_multi_ring_allreduce,

    /* permutations that share no link of a fat tree */
    &coll_prefix_allgather,
    &coll_kprefix_allgather,
    &coll_kprefix_lb_allgather,
    &coll_kshift_allgather,
    &coll_ring_alltoall,
    &coll_prefix_alltoall,
    &coll_kshift_alltoall,

    /* meshes */
    &coll_mesh_tree_bcast,
    &coll_mesh_tree_reduce,
    &coll_mesh_tree_allreduce,
    &coll_snake_bcast,
    &coll_snake_reduce,
    &coll_snake_allreduce,
    &coll_fence_bcast,
    &coll_fence_reduce,
    &coll_fence_allreduce,

    /* recursive doubling, halving, multiplying */
    &coll_recursive_multiplying_barrier,
    &coll_recursive_doubling_allreduce,
    &coll_recursive_multiplying_allreduce,
    &coll_recursive_doubling_allgather,
    &coll_recursive_multiplying_allgather,
    &coll_recursive_halving_reduce_scatter,
    &coll_butterfly_reduce_scatter,
    &coll_rabenseifner_reduce,
    &coll_rabenseifner_allreduce,
    &coll_recursive_doubling_scan,
    &coll_recursive_multiplying_scan,
    &coll_recursive_doubling_exscan,
    &coll_recursive_multiplying_exscan,

    /* circulant graphs */
    &coll_circulant_bcast,
    &coll_circulant_reduce,
    &coll_circulant_reduce_scatter,
    &coll_circulant_allgather,
    &coll_circulant_allreduce,
    &coll_permutation_group_allreduce,

    /* near partners on a ring, on one side or on both */
    &coll_swing_allreduce,
    &coll_swing_latency_allreduce,
    &coll_swing_allgather,
    &coll_swing_reduce_scatter,
    &coll_swing_torus_allreduce,
    &coll_swing_torus_latency_allreduce,
    &coll_swing_torus_reduce_scatter,
    &coll_trivance_allreduce,
    &coll_trivance_latency_allreduce,
    &coll_trivance_allgather,
    &coll_trivance_reduce_scatter,
    &coll_bine_allgather,
    &coll_bine_reduce_scatter,
    &coll_bine_allreduce,

    /* dissemination, and its kin that gathers */
    &coll_dissemination_barrier,
    &coll_bruck_allgather,
    &coll_locality_bruck_allgather,
    &coll_sparbit_allgather,
    &coll_pat_allgather,
    &coll_pat_reduce_scatter,

    /* every rank with every other, straight or by way of others */
    &coll_bruck_alltoall,
    &coll_bruck_alltoallv,
    &coll_pairwise_alltoall,
    &coll_throttled_alltoall,
    &coll_pairwise_reduce_scatter,

    /* neighbours */
    &coll_linear_neighbor,
    &coll_mesh_combining,
    &coll_node_combining,

    /* in the shared memory of a node */
    &coll_shm_barrier,
    &coll_shm_bcast,
    &coll_shm_reduce,
    &coll_shm_allreduce,
    &coll_shm_scatter,
    &coll_shm_gather,
    &coll_shm_allgather,
    &coll_shm_alltoall,

    &coll_shm_flat_allgather,
    &coll_shm_flat_alltoall,
    &coll_shm_flat_reduce_scatter,

    /* by the network */
    &coll_in_network_barrier,
    &coll_in_network_allreduce,
    &coll_in_network_reduce_scatter,

    /* levels: within the nodes and across them */
    &coll_two_level_barrier.algorithm,
    &coll_two_level_bcast.algorithm,
    &coll_two_level_reduce.algorithm,
    &coll_two_level_allreduce.algorithm,
    &coll_two_level_gather.algorithm,
    &coll_two_level_gatherv.algorithm,
    &coll_two_level_scatter.algorithm,
    &coll_two_level_scatterv.algorithm,
    &coll_two_level_allgather.algorithm,
    &coll_two_level_allgatherv.algorithm,
    &coll_two_level_alltoall.algorithm,
    &coll_two_level_alltoallv.algorithm,
    &coll_two_level_reduce_scatter.algorithm,
    &coll_two_level_reduce_scatter_block.algorithm,
    &coll_two_level_scan.algorithm,
    &coll_node_leader_allreduce.algorithm,
    &coll_socket_leader_allreduce.algorithm,
    &coll_multi_leader_bcast.algorithm,
    &coll_multi_leader_reduce.algorithm,
    &coll_multi_leader_allreduce.algorithm,
    &coll_multi_leader_allgather.algorithm,
    &coll_multi_leader_reduce_scatter.algorithm,
    &coll_multi_leader_alltoall.algorithm,
    &coll_multi_leader_gather.algorithm,
    &coll_multi_leader_gatherv.algorithm,
    &coll_multi_leader_scan.algorithm,
    &coll_dpml_allreduce.algorithm,
    &coll_dpml_pipelined_allreduce.algorithm,
    &coll_mixed_bcast,
    &coll_mixed_allgather,
});

/* How many rows the table has. */
#define COLL_REGISTRY_COUNT (sizeof coll_registry / sizeof coll_registry[0])

COLL_INLINE bool coll_i_same_name(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* The algorithm of this name for this collective; NULL if there is none. */
COLL_INLINE const coll_algorithm *coll_find(coll_collective collective, const char *name)
{
    for (size_t i = 0; name && i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, collective) &&
            coll_i_same_name(coll_registry[i]->name, name))
            return coll_registry[i];
    return NULL;
}

/* ---- other names ------------------------------------------------------------------------- */

/* What the field calls an algorithm that is another one with its first parameter fixed. */
typedef struct coll_alias {
    const char *name;
    const char *algorithm; /* as in the table above */
    uint32_t first;        /* value of its first parameter; 0: any */
    uint32_t collectives;  /* mask of COLL_BIT */
} coll_alias;

#define COLL_I_TREES                                                                           \
    (COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) |                   \
     COLL_BIT(COLL_ALLREDUCE))
/* What every rank of a node drives its share of, with as many leaders as ranks. */
#define COLL_I_LANES                                                                           \
    (COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTER) |                 \
     COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_SCAN) |                 \
     COLL_BIT(COLL_EXSCAN))
#define COLL_I_RINGS                                                                           \
    (COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV) |         \
     COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK))
/* What goes along the rows and then the columns of a mesh of any ranks. */
#define COLL_I_MESHES                                                                          \
    (COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV))
/* Other names of algorithms. */
COLL_TABLE(coll_alias, coll_aliases, {
    {"flat", "linear", 0, COLL_I_TREES | COLL_ROOTED},
    {"binary", "kary", 2, COLL_I_TREES},
    {"binomial", "fnomial", 2, COLL_I_TREES | COLL_ROOTED},
    {"knomial", "fnomial", 0, COLL_I_TREES | COLL_ROOTED},
    {"pipeline", "chain", 1, COLL_I_TREES & ~COLL_BIT(COLL_BARRIER)},
    {"dbt", "double_tree", 0, COLL_I_TREES & ~COLL_BIT(COLL_BARRIER)},
    {"full_lane", "multi_leader", COLL_LEADERS_MOST, COLL_I_LANES},
    {"bidirectional_ring", "multi_ring", 2, COLL_I_RINGS},
    {"segmented_ring", "multi_ring", 1, COLL_BIT(COLL_ALLREDUCE)},
    {"virtual_mesh", "bruck", 0, COLL_I_MESHES}, /* k: its columns, ⌈√p⌉ or what divides p */
});

/* How many other names there are. */
#define COLL_ALIAS_COUNT (sizeof coll_aliases / sizeof coll_aliases[0])

/* The other name, if it is one; else NULL. */
COLL_INLINE const coll_alias *coll_find_alias(coll_collective collective, const char *name)
{
    for (size_t i = 0; name && i < COLL_ALIAS_COUNT; i++)
        if (coll_is(coll_aliases[i].collectives, collective) &&
            coll_i_same_name(coll_aliases[i].name, name))
            return &coll_aliases[i];
    return NULL;
}

/* The algorithm that goes by this name, one of the table or another one, and in params, of
 * COLL_PARAM_MAX entries, what coll_plan_init needs: the default values, but what the name fixes.
 * NULL if there is none. */
COLL_INLINE const coll_algorithm *coll_resolve(coll_collective collective, const char *name,
                                               uint32_t *params)
{
    const coll_alias *alias = coll_find_alias(collective, name);
    const coll_algorithm *algorithm = coll_find(collective, alias ? alias->algorithm : name);
    for (uint32_t i = 0; algorithm && i < algorithm->n_params; i++)
        params[i] =
            i == 0 && alias && alias->first ? alias->first : algorithm->params[i].default_value;
    return algorithm;
}

#endif /* COLL_ALGOS_REGISTRY_H */
