/* coll/lab/tables/mpich_names.h — algorithms of MPICH beside ours, and what it chooses by itself
 *
 * See mpich_json.h. A pair has the end of a name: "binomial" is MPIR_Bcast_intra_binomial, and
 * "sched_binomial" or "tsp_tree" the one of the nonblocking call. Pairs without the first run as
 * the nonblocking call and a wait (…_allcomm_nb). Of MPICH 4.0 and later.
 */
#ifndef COLL_LAB_TABLES_MPICH_NAMES_H
#define COLL_LAB_TABLES_MPICH_NAMES_H

#include "choices.h"

/* Ours and theirs. */
COLL_INLINE coll_i_table_pairs coll_i_mpich_pairs(void)
{
    enum { COLL_I_TABLE_MASKS, TREE = COLL_I_TABLE_RADIX | COLL_I_TABLE_SEGMENT };
    static const coll_i_table_pair pair[] = {
        {BARRIER, "dissemination", 2, "dissemination", 0, "sched_recursive_doubling"},
        {BARRIER, "dissemination", 0, "dissemination", COLL_I_TABLE_NEAR,
         "sched_recursive_doubling"},
        {BARRIER, "recursive_multiplying", 0, "dissemination", COLL_I_TABLE_NEAR,
         "sched_recursive_doubling"},

        {BCAST, "fnomial", 2, "binomial", COLL_I_TABLE_WHOLE, "sched_binomial"},
        {BCAST, "fnomial", 0, NULL, TREE, "tsp_tree"},
        {BCAST, "kary", 0, NULL, TREE, "tsp_tree"},
        {BCAST, "bine", 0, "binomial", COLL_I_TABLE_NEAR, "sched_binomial"},
        {BCAST, "chain", 1, NULL, COLL_I_TABLE_SEGMENT, "tsp_ring"},
        {BCAST, "chain", 0, NULL, COLL_I_TABLE_SEGMENT | COLL_I_TABLE_NEAR, "tsp_ring"},
        {BCAST, "scatter_allgather", 2, "scatter_recursive_doubling_allgather",
         COLL_I_TABLE_POWER, "sched_scatter_recursive_doubling_allgather"},
        {BCAST, "scatter_allgather", 0, "scatter_recursive_doubling_allgather",
         COLL_I_TABLE_POWER | COLL_I_TABLE_NEAR, "sched_scatter_recursive_doubling_allgather"},
        {BCAST, "scatter_ring", 0, "scatter_ring_allgather", 0, "sched_scatter_ring_allgather"},

        {REDUCE, "fnomial", 2, "binomial", COLL_I_TABLE_WHOLE, "sched_binomial"},
        {REDUCE | ALLREDUCE, "fnomial", 0, NULL, TREE, "tsp_tree"},
        {REDUCE | ALLREDUCE, "kary", 0, NULL, TREE, "tsp_tree"},
        {REDUCE, "bine", 0, "binomial", COLL_I_TABLE_NEAR, "sched_binomial"},
        {REDUCE, "chain", 1, NULL, COLL_I_TABLE_SEGMENT, "tsp_ring"},
        {REDUCE, "chain", 0, NULL, COLL_I_TABLE_SEGMENT | COLL_I_TABLE_NEAR, "tsp_ring"},
        {REDUCE, "rabenseifner", 2, "reduce_scatter_gather", COLL_I_TABLE_OPERATOR,
         "sched_reduce_scatter_gather"},
        {REDUCE, "rabenseifner", 0, "reduce_scatter_gather",
         COLL_I_TABLE_OPERATOR | COLL_I_TABLE_NEAR, "sched_reduce_scatter_gather"},

        {ALLREDUCE, "recursive_doubling", 0, "recursive_doubling", 0,
         "sched_recursive_doubling"},
        {ALLREDUCE, "recursive_multiplying", 2, "recursive_doubling", 0,
         "sched_recursive_doubling"},
        {ALLREDUCE, "recursive_multiplying", 0, NULL, COLL_I_TABLE_RADIX,
         "tsp_recexch_multiple_buffer"},
        {ALLREDUCE, "swing_latency", 0, "recursive_doubling", COLL_I_TABLE_NEAR,
         "sched_recursive_doubling"},
        {ALLREDUCE, "rabenseifner", 2, "reduce_scatter_allgather", COLL_I_TABLE_OPERATOR,
         "sched_reduce_scatter_allgather"},
        {ALLREDUCE, "rabenseifner", 0, "reduce_scatter_allgather",
         COLL_I_TABLE_OPERATOR | COLL_I_TABLE_NEAR, "sched_reduce_scatter_allgather"},
        {ALLREDUCE, "circulant", 0, "reduce_scatter_allgather",
         COLL_I_TABLE_OPERATOR | COLL_I_TABLE_NEAR, "sched_reduce_scatter_allgather"},
        {ALLREDUCE, "swing", 0, "reduce_scatter_allgather",
         COLL_I_TABLE_OPERATOR | COLL_I_TABLE_NEAR, "sched_reduce_scatter_allgather"},
        {ALLREDUCE, "bine", 0, "reduce_scatter_allgather",
         COLL_I_TABLE_OPERATOR | COLL_I_TABLE_NEAR, "sched_reduce_scatter_allgather"},
        {ALLREDUCE, "ring", 0, NULL, 0, "tsp_ring"},

        {GATHER | SCATTER, "fnomial", 2, "binomial", 0, "sched_binomial"},
        {GATHER | SCATTER, "fnomial", 0, "binomial", COLL_I_TABLE_NEAR, "sched_binomial"},
        {GATHER | SCATTER, "bine", 0, "binomial", COLL_I_TABLE_NEAR, "sched_binomial"},
        {VECTORS, "linear", 0, "linear", 0, "sched_linear"},

        {ALLGATHER | ALLGATHERV, "recursive_doubling", 0, "recursive_doubling",
         COLL_I_TABLE_POWER, "sched_recursive_doubling"},
        {ALLGATHER | ALLGATHERV, "recursive_multiplying", 2, "recursive_doubling",
         COLL_I_TABLE_POWER, "sched_recursive_doubling"},
        {ALLGATHER | ALLGATHERV, "recursive_multiplying", 0, "recursive_doubling",
         COLL_I_TABLE_POWER | COLL_I_TABLE_NEAR, "sched_recursive_doubling"},
        {ALLGATHER | ALLGATHERV, "bruck", 2, "brucks", 0, "sched_brucks"},
        {ALLGATHER | ALLGATHERV, "bruck", 0, "brucks", COLL_I_TABLE_NEAR, "sched_brucks"},
        {ALLGATHER | ALLGATHERV, "circulant", 0, "brucks", COLL_I_TABLE_NEAR, "sched_brucks"},
        {ALLGATHER | ALLGATHERV, "ring", 0, "ring", 0, "sched_ring"},
        {ALLGATHER | ALLGATHERV, "neighbor_exchange", 0, "ring", COLL_I_TABLE_NEAR,
         "sched_ring"},

        {ALLTOALL, "bruck", 2, "brucks", 0, "sched_brucks"},
        {ALLTOALL, "bruck", 0, "brucks", COLL_I_TABLE_NEAR, "sched_brucks"},
        {ALLTOALL, "pairwise", 0, "pairwise", 0, "sched_pairwise"},
        {ALLTOALL, "throttled", 0, "scattered", 0, "sched_permuted_sendrecv"},
        {ALLTOALLV | ALLTOALLW, "throttled", 0, "scattered", 0, "sched_blocked"},
        {ALLTOALLV | ALLTOALLW, "pairwise", 0, "scattered", COLL_I_TABLE_NEAR, "sched_blocked"},

        {SCATTERED | BLOCKS, "recursive_halving", 2, "recursive_halving", COLL_I_TABLE_COMMUTES,
         "sched_recursive_halving"},
        {SCATTERED | BLOCKS, "recursive_halving", 0, "recursive_halving",
         COLL_I_TABLE_NEAR | COLL_I_TABLE_COMMUTES, "sched_recursive_halving"},
        {SCATTERED | BLOCKS, "pairwise", 0, "pairwise", COLL_I_TABLE_COMMUTES,
         "sched_pairwise"},
        {SCATTERED | BLOCKS, "ring", 0, "pairwise", COLL_I_TABLE_NEAR | COLL_I_TABLE_COMMUTES,
         "sched_pairwise"},
        {SCATTERED | BLOCKS, "butterfly", 2, "noncommutative",
         COLL_I_TABLE_POWER | COLL_I_TABLE_REGULAR, "sched_noncommutative"},
        {SCATTERED | BLOCKS, "butterfly", 0, "noncommutative",
         COLL_I_TABLE_POWER | COLL_I_TABLE_REGULAR | COLL_I_TABLE_NEAR, "sched_noncommutative"},
        {SCATTERED | BLOCKS, "recursive_doubling", 0, "recursive_doubling", 0,
         "sched_recursive_doubling"}, /* not one of ours */

        {SCANS, "recursive_doubling", 0, "recursive_doubling", 0, "sched_recursive_doubling"},
        {SCANS, "recursive_multiplying", 0, "recursive_doubling", COLL_I_TABLE_NEAR,
         "sched_recursive_doubling"},
    };
    coll_i_table_pairs pairs;
    pairs.pair = pair;
    pairs.n = sizeof pair / sizeof pair[0];
    return pairs;
}

/* The pair of a name of ours, of radix 2 in one piece. */
COLL_INLINE const coll_i_table_pair *coll_i_mpich_pair(coll_collective c, const char *ours)
{
    const coll_i_table_pairs pairs = coll_i_mpich_pairs();
    size_t i = 0;
    while (i + 1 < pairs.n &&
           (!coll_is(pairs.pair[i].collectives, c) || strcmp(pairs.pair[i].ours, ours) != 0))
        i++;
    return &pairs.pair[i];
}

/* What stands in for a pair where it cannot be used. */
COLL_INLINE const coll_i_table_pair *coll_i_mpich_instead(coll_collective c)
{
    switch (c) {
    case COLL_BCAST:
        return coll_i_mpich_pair(c, "scatter_ring");
    case COLL_REDUCE:
        return coll_i_mpich_pair(c, "fnomial");
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        return coll_i_mpich_pair(c, "bruck");
    default:
        return coll_i_mpich_pair(c, "recursive_doubling");
    }
}

/* What MPICH 4.0 chooses by itself: for communicators below 8 ranks, of a power of two, or all; up
 * to so many bytes (as mpich_json.h counts them) the first that fits. */
typedef struct coll_i_mpich_own {
    uint32_t collectives;
    const char *ranks; /* "comm_size<8", "comm_size=pow2", or "comm_size=any" */
    int bytes;         /* -1: any */
    const char *ours;
} coll_i_mpich_own;

COLL_INLINE const coll_i_mpich_own *coll_i_mpich_owns(size_t *n)
{
    enum { COLL_I_TABLE_MASKS };
    static const coll_i_mpich_own own[] = {
        {BCAST, "comm_size<8", -1, "fnomial"},
        {BCAST, "comm_size=pow2", 12288, "fnomial"},
        {BCAST, "comm_size=pow2", 524288, "scatter_allgather"},
        {BCAST, "comm_size=pow2", -1, "scatter_ring"},
        {BCAST, "comm_size=any", 12288, "fnomial"},
        {BCAST, "comm_size=any", -1, "scatter_ring"},
        {REDUCE, "comm_size=any", 2048, "fnomial"},
        {REDUCE, "comm_size=any", -1, "rabenseifner"},
        {ALLREDUCE, "comm_size=any", 8, "recursive_doubling"},
        {ALLREDUCE, "comm_size=any", -1, "rabenseifner"},
        {ALLGATHER | ALLGATHERV, "comm_size=pow2", 524287, "recursive_doubling"},
        {ALLGATHER | ALLGATHERV, "comm_size=pow2", -1, "ring"},
        {ALLGATHER | ALLGATHERV, "comm_size=any", 81919, "bruck"},
        {ALLGATHER | ALLGATHERV, "comm_size=any", -1, "ring"},
        {ALLTOALL, "comm_size<8", 32768, "throttled"},
        {ALLTOALL, "comm_size<8", -1, "pairwise"},
        {ALLTOALL, "comm_size=any", 256, "bruck"},
        {ALLTOALL, "comm_size=any", 32768, "throttled"},
        {ALLTOALL, "comm_size=any", -1, "pairwise"},
        {SCATTERED | BLOCKS, "comm_size=any", 524287, "recursive_halving"},
        {SCATTERED | BLOCKS, "comm_size=any", -1, "pairwise"},
        {BARRIER, "comm_size=any", -1, "dissemination"},
        {GATHER | SCATTER, "comm_size=any", -1, "fnomial"},
        {VECTORS, "comm_size=any", -1, "linear"},
        {ALLTOALLV | ALLTOALLW, "comm_size=any", -1, "throttled"},
        {SCANS, "comm_size=any", -1, "recursive_doubling"},
    };
    *n = sizeof own / sizeof own[0];
    return own;
}

/* Between two groups of processes there is no choice: the algorithms of blocking and nonblocking
 * calls. NULL: there is none such. */
COLL_INLINE const char *coll_i_mpich_between(coll_collective c, bool nonblocking)
{
    switch (c) {
    case COLL_BARRIER:
        return nonblocking ? "sched_bcast" : "bcast";
    case COLL_BCAST:
        return nonblocking ? "sched_flat" : "remote_send_local_bcast";
    case COLL_REDUCE:
        return nonblocking ? "sched_local_reduce_remote_send" : "local_reduce_remote_send";
    case COLL_ALLREDUCE:
        return nonblocking ? "sched_remote_reduce_local_bcast" : "reduce_exchange_bcast";
    case COLL_GATHER:
        return nonblocking ? "sched_long" : "linear";
    case COLL_SCATTER:
        return nonblocking ? "sched_linear" : "linear";
    case COLL_ALLGATHER:
        return nonblocking ? "sched_local_gather_remote_bcast" : "local_gather_remote_bcast";
    case COLL_ALLGATHERV:
        return nonblocking ? "sched_remote_gather_local_bcast" : "remote_gather_local_bcast";
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return nonblocking ? "sched_pairwise_exchange" : "pairwise_exchange";
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return nonblocking ? "sched_remote_reduce_local_scatterv"
                           : "remote_reduce_local_scatter";
    default:
        return NULL;
    }
}

#endif /* COLL_LAB_TABLES_MPICH_NAMES_H */
