/* coll/registry.h — the table of algorithms
 *
 *   const coll_algorithm *ring = coll_find(COLL_ALLREDUCE, "ring");
 *   for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
 *       if (coll_is(coll_registry[i]->collectives, COLL_BCAST))
 *           …
 *
 * To add an algorithm: its file in algos/, and a row here for each record in it. Tests, bench,
 * the command `coll` and selection follow from the row. A program that names the algorithms it
 * uses, and not this table, links those only.
 */
#ifndef COLL_REGISTRY_H
#define COLL_REGISTRY_H

#include "algos/binary_tree_scan.h"
#include "algos/bruck.h"
#include "algos/bruck_alltoall.h"
#include "algos/bruck_alltoallv.h"
#include "algos/butterfly.h"
#include "algos/chain.h"
#include "algos/dissemination.h"
#include "algos/fence.h"
#include "algos/fnomial.h"
#include "algos/fnomial_gather.h"
#include "algos/kary.h"
#include "algos/kshift.h"
#include "algos/linear.h"
#include "algos/linear_all.h"
#include "algos/linear_gather.h"
#include "algos/linear_neighbor.h"
#include "algos/linear_scan.h"
#include "algos/mesh_combining.h"
#include "algos/node_combining.h"
#include "algos/pairwise.h"
#include "algos/prefix.h"
#include "algos/rabenseifner.h"
#include "algos/recursive_doubling_exscan.h"
#include "algos/recursive_halving.h"
#include "algos/recursive_multiplying.h"
#include "algos/recursive_multiplying_scan.h"
#include "algos/ring.h"
#include "algos/scatter_allgather.h"
#include "algos/snake.h"
#include "algos/throttled.h"
#include "algos/shm_all.h"
#include "algos/shm_reduce.h"
#include "algos/shm_rooted.h"

/* Of one collective, no two have the same name. */
static const coll_algorithm *const coll_registry[] = {
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

    /* trees */
    &coll_fnomial_barrier,
    &coll_fnomial_bcast,
    &coll_fnomial_reduce,
    &coll_fnomial_allreduce,
    &coll_kary_barrier,
    &coll_kary_bcast,
    &coll_kary_reduce,
    &coll_kary_allreduce,
    &coll_chain_bcast,
    &coll_chain_reduce,
    &coll_chain_allreduce,
    &coll_fnomial_gather,
    &coll_fnomial_gatherv,
    &coll_scatter_allgather_bcast,
    &coll_scatter_ring_bcast,
    &coll_binary_tree_scan,
    &coll_binary_tree_exscan,

    /* rings */
    &coll_ring_allgather,
    &coll_prefix_allgather,
    &coll_kshift_allgather,
    &coll_ring_reduce_scatter,
    &coll_ring_allreduce,

    /* meshes */
    &coll_snake_bcast,
    &coll_snake_reduce,
    &coll_snake_allreduce,
    &coll_fence_bcast,
    &coll_fence_reduce,
    &coll_fence_allreduce,

    /* recursive doubling, halving, multiplying */
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

    /* dissemination, and its kin that gathers */
    &coll_dissemination_barrier,
    &coll_bruck_allgather,

    /* every rank with every other, straight or by way of others */
    &coll_bruck_alltoall,
    &coll_bruck_alltoallv,
    &coll_pairwise_alltoall,
    &coll_throttled_alltoall,
    &coll_ring_alltoall,
    &coll_prefix_alltoall,
    &coll_kshift_alltoall,
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
};

#define COLL_REGISTRY_COUNT (sizeof coll_registry / sizeof coll_registry[0])

/* The algorithm of this name for this collective; NULL if there is none. */
COLL_INLINE const coll_algorithm *coll_find(coll_collective collective, const char *name)
{
    for (size_t i = 0; name && i < COLL_REGISTRY_COUNT; i++) {
        const char *a = coll_registry[i]->name, *b = name;
        if (!coll_is(coll_registry[i]->collectives, collective))
            continue;
        while (*a && *a == *b) {
            a++;
            b++;
        }
        if (*a == *b)
            return coll_registry[i];
    }
    return NULL;
}

#endif /* COLL_REGISTRY_H */
