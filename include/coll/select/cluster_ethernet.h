/* coll/select/cluster_ethernet.h — rules for several nodes of a cluster: ethernet
 *
 * Made by bench/clusters.sh, which says how. Use select/clusters.h, or this list alone.
 */
#ifndef COLL_SELECT_CLUSTER_ETHERNET_H
#define COLL_SELECT_CLUSTER_ETHERNET_H

#include "../algos/binary_tree_exscan.h"
#include "../algos/binary_tree_scan.h"
#include "../algos/bine_allgather.h"
#include "../algos/bine_butterfly.h"
#include "../algos/bruck.h"
#include "../algos/bruck_alltoall.h"
#include "../algos/butterfly.h"
#include "../algos/chain.h"
#include "../algos/circulant_bcast.h"
#include "../algos/dissemination.h"
#include "../algos/double_tree.h"
#include "../algos/fnomial.h"
#include "../algos/fnomial_gather.h"
#include "../algos/fnomial_split.h"
#include "../algos/kprefix.h"
#include "../algos/kshift.h"
#include "../algos/linear_all.h"
#include "../algos/linear_scan.h"
#include "../algos/multi_leader.h"
#include "../algos/multi_leader_blocks.h"
#include "../algos/neighbor_exchange.h"
#include "../algos/pairwise.h"
#include "../algos/pat.h"
#include "../algos/pat_reduce_scatter.h"
#include "../algos/rabenseifner.h"
#include "../algos/rabenseifner_reduce.h"
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
#include "../algos/two_level_exchange.h"
#include "../algos/two_level_reduce_scatter.h"
#include "../algos/two_level_scan.h"
#include "cluster_rows.h"

/* clang-format off */
COLL_TABLE(coll_rule, coll_cluster_ethernet_rules, {
    COLL_I_CLUSTER(COLL_BARRIER, 1, COLL_ANY_P, 0, SIZE_MAX, 4, COLL_ANY_P, &coll_two_level_barrier.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 32, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_dissemination_barrier, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 1, COLL_ANY_P, 0, SIZE_MAX, 2, COLL_ANY_P, &coll_two_level_barrier.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 8, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_dissemination_barrier, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BARRIER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_multiplying_barrier, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 4095, 8, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 31, 0, 4095, 2, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 8, COLL_ANY_P, 0, 4095, 1, 1, &coll_recursive_multiplying_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 16, 127, 1024, 1048575, 4, 7, &coll_multi_leader_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 64, COLL_ANY_P, 0, 255, 1, COLL_ANY_P, &coll_recursive_multiplying_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 127, 16384, SIZE_MAX, 16, COLL_ANY_P, &coll_multi_leader_allreduce.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 32, COLL_ANY_P, 262144, SIZE_MAX, 4, COLL_ANY_P, &coll_ring_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 16, 127, 64, 16383, 2, 7, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 262143, 8, 15, &coll_multi_leader_allreduce.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 127, 0, 16383, 2, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 8, 127, 262144, SIZE_MAX, 2, 3, &coll_ring_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 8, 127, 65536, 1048575, 1, 1, &coll_fnomial_split_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 32, COLL_ANY_P, 16384, SIZE_MAX, 1, 1, &coll_rabenseifner_allreduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 8, COLL_ANY_P, 65536, SIZE_MAX, 2, 3, &coll_swing_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 127, 0, 262143, 2, COLL_ANY_P, &coll_multi_leader_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 7, 0, 16383, 1, COLL_ANY_P, &coll_recursive_multiplying_allreduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 16384, SIZE_MAX, 8, COLL_ANY_P, &coll_multi_leader_allreduce.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 16, COLL_ANY_P, 0, 16383, 1, COLL_ANY_P, &coll_two_level_allreduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 65536, SIZE_MAX, 1, 1, &coll_fnomial_split_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 15, 0, SIZE_MAX, 2, COLL_ANY_P, &coll_multi_leader_allreduce.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 16383, 1, COLL_ANY_P, &coll_recursive_multiplying_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, COLL_ANY_P, 0, 65535, 2, COLL_ANY_P, &coll_rabenseifner_allreduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 8, 15, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_rabenseifner_allreduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 127, 0, 1048575, 1, COLL_ANY_P, &coll_rabenseifner_allreduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLREDUCE, 1, 127, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_ring_allreduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 4095, 8, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 63, 16, 4095, 2, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 64, COLL_ANY_P, 0, 4095, 2, COLL_ANY_P, &coll_fnomial_bcast, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 1024, 16383, 1, 1, &coll_fnomial_bcast, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 262144, SIZE_MAX, 1, 1, &coll_circulant_bcast, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 16, COLL_ANY_P, 0, 16383, 1, 1, &coll_fnomial_bcast, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 16, COLL_ANY_P, 0, 65535, 4, 7, &coll_multi_leader_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 16, 16383, 2, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 63, 1048576, SIZE_MAX, 1, 15, &coll_chain_bcast, 1, 65536, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 65535, 4, 27, &coll_multi_leader_bcast.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 16383, 1, 1, &coll_fnomial_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 16, COLL_ANY_P, 0, SIZE_MAX, 1, 1, &coll_circulant_bcast, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, 1048575, 16, COLL_ANY_P, &coll_multi_leader_bcast.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 31, 0, 65535, 2, COLL_ANY_P, &coll_two_level_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 32, 127, 262144, SIZE_MAX, 4, 15, &coll_chain_bcast, 1, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_BCAST, 64, COLL_ANY_P, 65536, 1048575, 1, 7, &coll_double_tree_bcast, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, 127, 0, 262143, 4, COLL_ANY_P, &coll_multi_leader_bcast.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 16, COLL_ANY_P, 262144, SIZE_MAX, 1, 7, &coll_scatter_ring_bcast, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, SIZE_MAX, 1, 1, &coll_scatter_allgather_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 63, 0, SIZE_MAX, 4, COLL_ANY_P, &coll_multi_leader_bcast.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 127, 262144, SIZE_MAX, 1, COLL_ANY_P, &coll_scatter_ring_bcast, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 16, 65535, 1, COLL_ANY_P, &coll_multi_leader_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, 31, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_multi_leader_bcast.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 16, 262143, 1, COLL_ANY_P, &coll_double_tree_bcast, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_BCAST, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_scatter_allgather_bcast, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 64, COLL_ANY_P, 0, 4095, 2, 7, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 15, 0, 16383, 2, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 63, 0, 4095, 8, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 1024, 16383, 1, 1, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 32, COLL_ANY_P, 4096, 65535, 4, 15, &coll_multi_leader_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 32, COLL_ANY_P, 0, 255, 1, 3, &coll_fnomial_reduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 16, 127, 0, 255, 1, 15, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 8, COLL_ANY_P, 65536, 262143, 1, 3, &coll_fnomial_split_reduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 16, 16383, 28, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 65536, 1048575, 16, COLL_ANY_P, &coll_multi_leader_reduce.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 16384, 65535, 2, 15, &coll_multi_leader_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 15, 0, 16383, 1, COLL_ANY_P, &coll_fnomial_reduce, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 32, 127, 16, 1023, 1, COLL_ANY_P, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 16, 1023, 2, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 1024, 1048575, 1, 1, &coll_fnomial_split_reduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 4096, 16383, 1, COLL_ANY_P, &coll_multi_leader_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 32, 127, 262144, SIZE_MAX, 4, 15, &coll_chain_reduce, 1, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 127, 4096, 1048575, 8, COLL_ANY_P, &coll_multi_leader_reduce.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 1024, SIZE_MAX, 1, 1, &coll_double_tree_reduce, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 63, 1048576, SIZE_MAX, 1, 7, &coll_chain_reduce, 1, 65536, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 16, 16383, 2, COLL_ANY_P, &coll_two_level_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 64, COLL_ANY_P, 0, 1048575, 2, 7, &coll_rabenseifner_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 128, COLL_ANY_P, 262144, SIZE_MAX, 4, COLL_ANY_P, &coll_chain_reduce, 1, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 31, 0, 262143, 2, COLL_ANY_P, &coll_multi_leader_reduce.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 16, 16383, 1, COLL_ANY_P, &coll_fnomial_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 63, 0, SIZE_MAX, 8, COLL_ANY_P, &coll_multi_leader_reduce.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 15, 0, SIZE_MAX, 1, 3, &coll_chain_reduce, 1, 65536, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_REDUCE, 16, 31, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_chain_reduce, 1, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, 1048575, 16, 27, &coll_rabenseifner_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 128, COLL_ANY_P, 0, 65535, 1, COLL_ANY_P, &coll_fnomial_split_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, 1048575, 8, COLL_ANY_P, &coll_rabenseifner_reduce, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 1, 31, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_multi_leader_reduce.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 128, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_double_tree_reduce, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, SIZE_MAX, 8, 27, &coll_chain_reduce, 1, 65536, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, SIZE_MAX, 8, COLL_ANY_P, &coll_multi_leader_reduce.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE, 64, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_chain_reduce, 1, 8192, COLL_DEFAULT, 2),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, SIZE_MAX, 1, 3, &coll_double_tree_reduce, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_REDUCE, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_rabenseifner_reduce, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 32, COLL_ANY_P, 1024, 65535, 4, COLL_ANY_P, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 8, COLL_ANY_P, 0, 1023, 1, 1, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 127, 4096, 262143, 4, COLL_ANY_P, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, 255, 16, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 31, 16384, SIZE_MAX, 1, 1, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 63, 0, 63, 4, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 15, 4096, 1048575, 2, COLL_ANY_P, &coll_multi_leader_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 128, COLL_ANY_P, 1024, SIZE_MAX, 2, COLL_ANY_P, &coll_kprefix_allgather, 2, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 15, 0, 1048575, 2, 3, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, 63, 4, COLL_ANY_P, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 7, 0, 1048575, 1, COLL_ANY_P, &coll_linear_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 63, 16, 1023, 1, 3, &coll_bine_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 4096, SIZE_MAX, 4, COLL_ANY_P, &coll_kprefix_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 32, 63, 0, SIZE_MAX, 1, 1, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 63, 0, 1023, 8, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 16, 31, 16, 16383, 2, 7, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 64, COLL_ANY_P, 256, 65535, 2, 3, &coll_bine_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 128, COLL_ANY_P, 0, SIZE_MAX, 1, 3, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 31, 256, SIZE_MAX, 2, COLL_ANY_P, &coll_multi_leader_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 64, COLL_ANY_P, 64, 255, 1, COLL_ANY_P, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 65536, SIZE_MAX, 1, COLL_ANY_P, &coll_ring_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 4096, SIZE_MAX, 1, 1, &coll_pat_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 28, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 64, COLL_ANY_P, 64, SIZE_MAX, 2, 7, &coll_swing_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 64, COLL_ANY_P, 0, SIZE_MAX, 2, 7, &coll_recursive_doubling_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 31, 16, SIZE_MAX, 2, COLL_ANY_P, &coll_two_level_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 15, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 127, 0, SIZE_MAX, 8, 15, &coll_multi_leader_allgather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 256, SIZE_MAX, 4, 15, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 4096, 16383, 1, COLL_ANY_P, &coll_neighbor_exchange_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 31, 16, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_multiplying_allgather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 64, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_bruck_allgather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, 31, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_bine_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, 63, 1, COLL_ANY_P, &coll_recursive_multiplying_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 256, 16383, 1, COLL_ANY_P, &coll_pat_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 4, COLL_ANY_P, &coll_recursive_multiplying_allgather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLGATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_ring_allgather, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 31, 1024, SIZE_MAX, 2, COLL_ANY_P, &coll_multi_leader_reduce_scatter.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 127, 0, 255, 4, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 16384, 262143, 4, COLL_ANY_P, &coll_ring_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 32, COLL_ANY_P, 0, 255, 1, 7, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, 255, 2, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 4096, 65535, 2, COLL_ANY_P, &coll_multi_leader_reduce_scatter.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 127, 65536, SIZE_MAX, 1, 1, &coll_pairwise_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 8, COLL_ANY_P, 0, 1023, 1, 1, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 127, 1024, SIZE_MAX, 2, 7, &coll_multi_leader_reduce_scatter.algorithm, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 32, COLL_ANY_P, 0, 262143, 4, 15, &coll_multi_leader_reduce_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 15, 0, 1023, 1, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 1024, SIZE_MAX, 2, 27, &coll_multi_leader_reduce_scatter.algorithm, 16, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 127, 0, 1023, 4, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 128, COLL_ANY_P, 0, SIZE_MAX, 1, 15, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_pat_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 4096, SIZE_MAX, 1, COLL_ANY_P, &coll_pat_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 128, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_two_level_reduce_scatter_block.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 32, COLL_ANY_P, 1024, SIZE_MAX, 1, 27, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 7, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 15, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_halving_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 31, 0, SIZE_MAX, 2, COLL_ANY_P, &coll_multi_leader_reduce_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, SIZE_MAX, 4, COLL_ANY_P, &coll_butterfly_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, 63, 0, SIZE_MAX, 2, COLL_ANY_P, &coll_bine_reduce_scatter, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, SIZE_MAX, 2, COLL_ANY_P, &coll_butterfly_reduce_scatter, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_REDUCE_SCATTER_BLOCK, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_recursive_halving_reduce_scatter, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 4096, SIZE_MAX, 1, COLL_ANY_P, &coll_kshift_alltoall, 2, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 32, COLL_ANY_P, 0, 255, 1, 7, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 0, 63, 8, COLL_ANY_P, &coll_bruck_alltoall, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 32, COLL_ANY_P, 256, 1023, 2, 27, &coll_bruck_alltoall, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 16, 127, 0, 1023, 1, 3, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, 15, 0, 1023, 2, COLL_ANY_P, &coll_two_level_alltoall.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 1024, SIZE_MAX, 4, 15, &coll_kshift_alltoall, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 32, 127, 256, SIZE_MAX, 1, COLL_ANY_P, &coll_bruck_alltoall, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, 15, 0, 1023, 1, COLL_ANY_P, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 0, 1023, 8, COLL_ANY_P, &coll_bruck_alltoall, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 1024, SIZE_MAX, 2, COLL_ANY_P, &coll_kshift_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, 127, 16, SIZE_MAX, 1, COLL_ANY_P, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_ALLTOALL, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_bruck_alltoall, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 64, COLL_ANY_P, 0, SIZE_MAX, 1, 7, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, 255, 8, COLL_ANY_P, &coll_two_level_gather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 16, 31, 0, SIZE_MAX, 1, 7, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, 1, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, 31, 0, 4095, 1, COLL_ANY_P, &coll_two_level_gather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 1024, SIZE_MAX, 16, COLL_ANY_P, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 16, COLL_ANY_P, 0, SIZE_MAX, 1, 7, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 16, COLL_ANY_P, 0, SIZE_MAX, 1, 15, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 4, COLL_ANY_P, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_GATHER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_two_level_gather.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, 63, 0, 4095, 2, COLL_ANY_P, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 64, COLL_ANY_P, 0, SIZE_MAX, 1, 7, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 128, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 32, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, 15, 0, SIZE_MAX, 1, 1, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, 15, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 0, 1023, 2, COLL_ANY_P, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, 1, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 16384, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 32, COLL_ANY_P, 4096, SIZE_MAX, 1, COLL_ANY_P, &coll_fnomial_gather, 8, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCATTER, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_two_level_scatter.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, 127, 0, 65535, 4, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 16, COLL_ANY_P, 65536, 1048575, 2, COLL_ANY_P, &coll_linear_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 16, COLL_ANY_P, 0, 1023, 1, 3, &coll_recursive_multiplying_scan, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, 1048575, 8, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, 15, 0, 65535, 2, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, 4095, 1, 1, &coll_recursive_multiplying_scan, 4, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 16, COLL_ANY_P, 16384, 262143, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 64, COLL_ANY_P, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_scan, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 1, 127, 4096, 65535, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 8, 63, 4096, SIZE_MAX, 1, 3, &coll_linear_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, 65535, 1, COLL_ANY_P, &coll_recursive_multiplying_scan, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_SCAN, 1, 63, 0, SIZE_MAX, 1, 3, &coll_linear_scan, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 16, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_binary_tree_scan, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, 262143, 1, COLL_ANY_P, &coll_linear_scan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_SCAN, 1, COLL_ANY_P, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_scan, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, COLL_ANY_P, 0, 16383, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 16, COLL_ANY_P, 65536, 1048575, 2, COLL_ANY_P, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 32, COLL_ANY_P, 0, 65535, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 64, COLL_ANY_P, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, COLL_ANY_P, 1048576, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_exscan, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 8, COLL_ANY_P, 0, 262143, 2, COLL_ANY_P, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, 15, 262144, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_exscan, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, 31, 65536, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, 127, 0, 262143, 1, COLL_ANY_P, &coll_two_level_scan.algorithm, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, 0),
    COLL_I_CLUSTER(COLL_EXSCAN, 64, COLL_ANY_P, 262144, SIZE_MAX, 1, COLL_ANY_P, &coll_binary_tree_exscan, 65536, COLL_DEFAULT, COLL_DEFAULT, 1),
    COLL_I_CLUSTER(COLL_EXSCAN, 1, 127, 0, SIZE_MAX, 1, COLL_ANY_P, &coll_linear_exscan, 8192, COLL_DEFAULT, COLL_DEFAULT, 1),
});
/* clang-format on */

/* The rules of this cluster, then the built-in ones. */
COLL_CONST(coll_rule_list, coll_cluster_ethernet, {
    coll_cluster_ethernet_rules, sizeof coll_cluster_ethernet_rules / sizeof coll_cluster_ethernet_rules[0],
    &coll_rules_built_in});

#endif /* COLL_SELECT_CLUSTER_ETHERNET_H */
