/* coll/select/cluster_crowded.h — rules for several nodes of a cluster: crowded
 *
 * Made by bench/clusters.sh, which says how. Use select/clusters.h, or this list alone.
 */
#ifndef COLL_SELECT_CLUSTER_CROWDED_H
#define COLL_SELECT_CLUSTER_CROWDED_H

#include "../algos/binary_tree_exscan.h"
#include "../algos/binary_tree_scan.h"
#include "../algos/bine_butterfly.h"
#include "../algos/bruck.h"
#include "../algos/bruck_alltoall.h"
#include "../algos/butterfly.h"
#include "../algos/chain.h"
#include "../algos/circulant.h"
#include "../algos/dissemination.h"
#include "../algos/double_tree.h"
#include "../algos/fnomial.h"
#include "../algos/fnomial_gather.h"
#include "../algos/fnomial_split.h"
#include "../algos/kary.h"
#include "../algos/kshift.h"
#include "../algos/linear_gather.h"
#include "../algos/linear_scan.h"
#include "../algos/multi_leader.h"
#include "../algos/neighbor_exchange.h"
#include "../algos/pairwise.h"
#include "../algos/pat_reduce_scatter.h"
#include "../algos/rabenseifner.h"
#include "../algos/recursive_doubling_exscan.h"
#include "../algos/recursive_halving.h"
#include "../algos/recursive_multiplying.h"
#include "../algos/recursive_multiplying_allgather.h"
#include "../algos/recursive_multiplying_barrier.h"
#include "../algos/recursive_multiplying_scan.h"
#include "../algos/ring.h"
#include "../algos/scatter_allgather.h"
#include "../algos/swing.h"
#include "../algos/two_level.h"
#include "../algos/two_level_blocks.h"
#include "../algos/two_level_reduce_scatter.h"
#include "../algos/two_level_scan.h"
#include "cluster_rows.h"

/* clang-format off */
COLL_TABLE(coll_rule, coll_cluster_crowded_rules, {
    COLL_I_CLUSTER(COLL_BARRIER, 1, COLL_ANY_P, 0, SIZE_MAX, 5, COLL_ANY_P, &coll_two_level_barrier.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 64, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_dissemination_barrier, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 16, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_dissemination_barrier, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 1, 7, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_two_level_barrier.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_multiplying_barrier, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 4095, 10, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 127, 262144, SIZE_MAX, 5, COLL_ANY_P, &coll_ring_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 64, COLL_ANY_P, 0, 4095, 1, 4, &coll_recursive_multiplying_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 256, 4095, 5, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 65535, 20, COLL_ANY_P, &coll_fnomial_split_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 32, COLL_ANY_P, 65536, 1048575, 5, 19, &coll_double_tree_allreduce, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 4095, 5, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 8, COLL_ANY_P, 0, 1023, 1, COLL_ANY_P, &coll_recursive_multiplying_allreduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 16, COLL_ANY_P, 65536, SIZE_MAX, 5, COLL_ANY_P, &coll_double_tree_allreduce, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 4095, 1, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 32, COLL_ANY_P, 0, 65535, 1, 4, &coll_rabenseifner_allreduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 31, 0, 65535, 5, COLL_ANY_P, &coll_multi_leader_allreduce.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 16383, 1, 9, &coll_multi_leader_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_double_tree_allreduce, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 64, COLL_ANY_P, 0, SIZE_MAX, 5, COLL_ANY_P, &coll_multi_leader_allreduce.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 7, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_rabenseifner_allreduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 63, 65536, 262143, 1, 4, &coll_circulant_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 31, 65536, SIZE_MAX, 1, COLL_ANY_P, &coll_ring_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 262144, SIZE_MAX, 1, COLL_ANY_P, &coll_circulant_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 16, COLL_ANY_P, 0, 65535, 1, 9, &coll_rabenseifner_allreduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 65535, 1, COLL_ANY_P, &coll_fnomial_split_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_bine_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 32, COLL_ANY_P, 0, 4095, 1, 9, &coll_fnomial_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 63, 0, 4095, 5, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 65536, 262143, 1, COLL_ANY_P, &coll_double_tree_bcast, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 1023, 20, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 64, COLL_ANY_P, 0, 16383, 1, 19, &coll_fnomial_bcast, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 16, COLL_ANY_P, 0, 16383, 1, 9, &coll_fnomial_bcast, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 127, 16384, 262143, 5, COLL_ANY_P, &coll_kary_bcast, COLL_DEFAULT, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 16383, 5, 35, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 1023, 1, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 16384, 262143, 1, COLL_ANY_P, &coll_kary_bcast, COLL_DEFAULT, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_BCAST, 1, 31, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_double_tree_bcast, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 8, COLL_ANY_P, 16384, SIZE_MAX, 1, 4, &coll_double_tree_bcast, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 262143, 5, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 127, 0, SIZE_MAX, 20, COLL_ANY_P, &coll_scatter_ring_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 64, COLL_ANY_P, 0, 1048575, 1, 35, &coll_double_tree_bcast, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 1048575, 5, 59, &coll_scatter_ring_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 262143, 1, COLL_ANY_P, &coll_fnomial_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 128, COLL_ANY_P, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_double_tree_bcast, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 1048575, 1, COLL_ANY_P, &coll_double_tree_bcast, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, 63, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_chain_bcast, 1, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_scatter_ring_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 65536, 1048575, 5, COLL_ANY_P, &coll_double_tree_reduce, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 16, 4095, 20, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 32, COLL_ANY_P, 16, 1023, 1, 9, &coll_fnomial_reduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 63, 16, 4095, 5, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 64, COLL_ANY_P, 4096, 1048575, 10, COLL_ANY_P, &coll_fnomial_split_reduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 65536, SIZE_MAX, 10, COLL_ANY_P, &coll_double_tree_reduce, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_REDUCE, 16, COLL_ANY_P, 16, 4095, 1, 9, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 8, COLL_ANY_P, 16384, 262143, 1, COLL_ANY_P, &coll_fnomial_split_reduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 64, COLL_ANY_P, 0, SIZE_MAX, 10, 19, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, 4095, 10, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 63, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_double_tree_reduce, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_REDUCE, 8, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_double_tree_reduce, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 127, 4096, 16383, 1, 9, &coll_multi_leader_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 15, 0, 255, 1, COLL_ANY_P, &coll_fnomial_reduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 32, COLL_ANY_P, 0, 4095, 1, COLL_ANY_P, &coll_fnomial_reduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 4096, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_split_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 16, SIZE_MAX, 1, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, SIZE_MAX, 5, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 4096, SIZE_MAX, 5, COLL_ANY_P, &coll_kshift_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 256, SIZE_MAX, 10, COLL_ANY_P, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 20, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 31, 0, 255, 5, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 16, 127, 4096, 262143, 1, COLL_ANY_P, &coll_kshift_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 64, COLL_ANY_P, 0, 63, 1, 9, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 127, 256, SIZE_MAX, 5, COLL_ANY_P, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 8, 127, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_kshift_allgather, 2, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 16, COLL_ANY_P, 256, 4095, 1, 4, &coll_bruck_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 8, COLL_ANY_P, 1024, SIZE_MAX, 1, COLL_ANY_P, &coll_kshift_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 64, COLL_ANY_P, 0, SIZE_MAX, 10, COLL_ANY_P, &coll_recursive_doubling_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 7, 0, 16383, 1, COLL_ANY_P, &coll_kshift_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 15, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_multiplying_allgather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 32, 63, 0, SIZE_MAX, 1, 9, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, 4, &coll_bruck_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 63, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 4096, SIZE_MAX, 5, COLL_ANY_P, &coll_ring_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, 63, 5, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 4096, SIZE_MAX, 1, COLL_ANY_P, &coll_pairwise_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 31, 0, 255, 1, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, 1023, 20, 59, &coll_swing_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 1024, SIZE_MAX, 10, COLL_ANY_P, &coll_ring_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 64, COLL_ANY_P, 0, 255, 1, 4, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 64, COLL_ANY_P, 0, SIZE_MAX, 10, COLL_ANY_P, &coll_swing_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 15, 0, SIZE_MAX, 1, 4, &coll_pairwise_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 127, 1024, SIZE_MAX, 5, COLL_ANY_P, &coll_ring_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 32, 63, 0, 1023, 1, 4, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 31, 0, 1023, 1, COLL_ANY_P, &coll_recursive_halving_reduce_scatter, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 127, 0, 255, 1, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 256, 1023, 5, 9, &coll_butterfly_reduce_scatter, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 32, COLL_ANY_P, 1024, SIZE_MAX, 1, 4, &coll_circulant_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 32, COLL_ANY_P, 0, SIZE_MAX, 1, 4, &coll_bine_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 127, 0, SIZE_MAX, 5, COLL_ANY_P, &coll_swing_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, SIZE_MAX, 5, COLL_ANY_P, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_pairwise_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 4096, SIZE_MAX, 1, COLL_ANY_P, &coll_ring_alltoall, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 0, 63, 10, COLL_ANY_P, &coll_bruck_alltoall, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 64, COLL_ANY_P, 0, 255, 1, 35, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, 31, 0, SIZE_MAX, 1, 4, &coll_kshift_alltoall, 2, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, 127, 256, SIZE_MAX, 10, COLL_ANY_P, &coll_bruck_alltoall, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 1024, SIZE_MAX, 1, COLL_ANY_P, &coll_kshift_alltoall, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 0, 255, 5, 9, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 16, COLL_ANY_P, 0, SIZE_MAX, 5, 35, &coll_bruck_alltoall, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 0, 255, 1, COLL_ANY_P, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 16, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_bruck_alltoall, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_kshift_alltoall, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_gather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 64, COLL_ANY_P, 256, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 32, COLL_ANY_P, 0, 4095, 1, 9, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, 63, 0, 255, 5, 19, &coll_two_level_gather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 16, COLL_ANY_P, 0, 255, 1, 19, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, 63, 5, COLL_ANY_P, &coll_two_level_gather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, 15, 256, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 1024, SIZE_MAX, 10, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 8, 127, 0, 255, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, 255, 1, COLL_ANY_P, &coll_two_level_gather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 1024, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 5, 19, &coll_two_level_gather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 32, COLL_ANY_P, 1024, 262143, 1, 59, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 32, COLL_ANY_P, 0, SIZE_MAX, 1, 9, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 8, 15, 16, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, 63, 0, 255, 5, COLL_ANY_P, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 0, 63, 20, COLL_ANY_P, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 16, COLL_ANY_P, 0, 255, 1, 19, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 1024, 16383, 1, 59, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 64, COLL_ANY_P, 256, 16383, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, 7, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 1024, SIZE_MAX, 10, COLL_ANY_P, &coll_linear_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 1024, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 0, SIZE_MAX, 5, 35, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 0, 255, 1, COLL_ANY_P, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, 16383, 5, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 8, COLL_ANY_P, 262144, SIZE_MAX, 1, 59, &coll_linear_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 64, COLL_ANY_P, 16384, 1048575, 1, COLL_ANY_P, &coll_binary_tree_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 32, COLL_ANY_P, 0, 255, 1, COLL_ANY_P, &coll_recursive_multiplying_scan, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 16, COLL_ANY_P, 0, 4095, 1, COLL_ANY_P, &coll_recursive_multiplying_scan, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 8, COLL_ANY_P, 16384, 65535, 1, COLL_ANY_P, &coll_binary_tree_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 1, 31, 16384, 1048575, 1, COLL_ANY_P, &coll_linear_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 1024, 65535, 1, COLL_ANY_P, &coll_recursive_multiplying_scan, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, 65535, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 16, COLL_ANY_P, 0, 16383, 5, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 8, COLL_ANY_P, 262144, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 8, COLL_ANY_P, 0, 1023, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 64, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_binary_tree_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, COLL_ANY_P, 65536, 1048575, 1, 19, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 16, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_binary_tree_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 16, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_doubling_exscan, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, 7, 0, 16383, 1, COLL_ANY_P, &coll_recursive_doubling_exscan, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, COLL_ANY_P, 0, 16383, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
});
/* clang-format on */

/* The rules of this cluster, then the built-in ones. */
COLL_CONST(coll_rule_list, coll_cluster_crowded, {
    coll_cluster_crowded_rules, sizeof coll_cluster_crowded_rules / sizeof coll_cluster_crowded_rules[0],
    &coll_rules_built_in});

#endif /* COLL_SELECT_CLUSTER_CROWDED_H */
