/* mpi/bench/calls.h — MPI's collectives as the benchmarks call them: the layer's or the library's
 * own */
#ifndef COLL_BENCH_MPI_CALLS_H
#define COLL_BENCH_MPI_CALLS_H

#include <mpi.h>
#include <stdbool.h>

#include "coll/types.h"

/* What calls need besides buffers: tables of p entries, and a graph in which each rank and the one
 * after it are neighbours. */
static struct {
    MPI_Comm world, ring;
    int rank, p;
    int *counts, *displs, *bytes; /* the last are `displs` in bytes, … */
    MPI_Aint *far;                /* … and these too */
    MPI_Datatype *types;
} mpi;

/* Runs the call of the library's own or of the layer; n: floats of the vector or a block. */
typedef int (*mpi_runner)(bool own, int n, int root, const float *a, float *b);

#define MPI_RUN(name, call, ...)                                                               \
    static int mpi_##name(bool own, int n, int root, const float *a, float *b)                 \
    {                                                                                          \
        (void)n, (void)root, (void)a, (void)b;                                                 \
        return own ? PMPI_##call(__VA_ARGS__) : MPI_##call(__VA_ARGS__);                       \
    }

#define W mpi.world
#define F MPI_FLOAT
MPI_RUN(barrier, Barrier, W)
MPI_RUN(bcast, Bcast, b, n, F, root, W)
MPI_RUN(reduce, Reduce, a, b, n, F, MPI_SUM, root, W)
MPI_RUN(allreduce, Allreduce, a, b, n, F, MPI_SUM, W)
MPI_RUN(gather, Gather, a, n, F, b, n, F, root, W)
MPI_RUN(gatherv, Gatherv, a, n, F, b, mpi.counts, mpi.displs, F, root, W)
MPI_RUN(scatter, Scatter, a, n, F, b, n, F, root, W)
MPI_RUN(scatterv, Scatterv, a, mpi.counts, mpi.displs, F, b, n, F, root, W)
MPI_RUN(allgather, Allgather, a, n, F, b, n, F, W)
MPI_RUN(allgatherv, Allgatherv, a, n, F, b, mpi.counts, mpi.displs, F, W)
MPI_RUN(alltoall, Alltoall, a, n, F, b, n, F, W)
MPI_RUN(alltoallv, Alltoallv, a, mpi.counts, mpi.displs, F, b, mpi.counts, mpi.displs, F, W)
MPI_RUN(alltoallw, Alltoallw, a, mpi.counts, mpi.bytes, mpi.types, b, mpi.counts, mpi.bytes,
        mpi.types, W)
MPI_RUN(reduce_scatter, Reduce_scatter, a, b, mpi.counts, F, MPI_SUM, W)
MPI_RUN(reduce_scatter_block, Reduce_scatter_block, a, b, n, F, MPI_SUM, W)
MPI_RUN(scan, Scan, a, b, n, F, MPI_SUM, W)
MPI_RUN(exscan, Exscan, a, b, n, F, MPI_SUM, W)
MPI_RUN(neighbor_allgather, Neighbor_allgather, a, n, F, b, n, F, mpi.ring)
MPI_RUN(neighbor_allgatherv, Neighbor_allgatherv, a, n, F, b, mpi.counts, mpi.displs, F,
        mpi.ring)
MPI_RUN(neighbor_alltoall, Neighbor_alltoall, a, n, F, b, n, F, mpi.ring)
MPI_RUN(neighbor_alltoallv, Neighbor_alltoallv, a, mpi.counts, mpi.displs, F, b, mpi.counts,
        mpi.displs, F, mpi.ring)
MPI_RUN(neighbor_alltoallw, Neighbor_alltoallw, a, mpi.counts, mpi.far, mpi.types, b,
        mpi.counts, mpi.far, mpi.types, mpi.ring)
#undef W
#undef F

static const mpi_runner mpi_runners[COLL_COLLECTIVES] = {
    [COLL_BARRIER] = mpi_barrier,
    [COLL_BCAST] = mpi_bcast,
    [COLL_REDUCE] = mpi_reduce,
    [COLL_ALLREDUCE] = mpi_allreduce,
    [COLL_GATHER] = mpi_gather,
    [COLL_GATHERV] = mpi_gatherv,
    [COLL_SCATTER] = mpi_scatter,
    [COLL_SCATTERV] = mpi_scatterv,
    [COLL_ALLGATHER] = mpi_allgather,
    [COLL_ALLGATHERV] = mpi_allgatherv,
    [COLL_ALLTOALL] = mpi_alltoall,
    [COLL_ALLTOALLV] = mpi_alltoallv,
    [COLL_ALLTOALLW] = mpi_alltoallw,
    [COLL_REDUCE_SCATTER] = mpi_reduce_scatter,
    [COLL_REDUCE_SCATTER_BLOCK] = mpi_reduce_scatter_block,
    [COLL_SCAN] = mpi_scan,
    [COLL_EXSCAN] = mpi_exscan,
    [COLL_NEIGHBOR_ALLGATHER] = mpi_neighbor_allgather,
    [COLL_NEIGHBOR_ALLGATHERV] = mpi_neighbor_allgatherv,
    [COLL_NEIGHBOR_ALLTOALL] = mpi_neighbor_alltoall,
    [COLL_NEIGHBOR_ALLTOALLV] = mpi_neighbor_alltoallv,
    [COLL_NEIGHBOR_ALLTOALLW] = mpi_neighbor_alltoallw,
};

/* Fills in `mpi`; collective. */
static void mpi_begin(void)
{
    const int weights[2] = {1, 1};
    int neighbors[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.world);
    MPI_Comm_rank(mpi.world, &mpi.rank);
    MPI_Comm_size(mpi.world, &mpi.p);
    neighbors[0] = (mpi.rank + mpi.p - 1) % mpi.p;
    neighbors[1] = (mpi.rank + 1) % mpi.p;
    MPI_Dist_graph_create_adjacent(mpi.world, 2, neighbors, weights, 2, neighbors, weights,
                                   MPI_INFO_NULL, 0, &mpi.ring);
    mpi.counts = malloc((size_t)(mpi.p + 1) * sizeof *mpi.counts);
    mpi.displs = malloc((size_t)(mpi.p + 1) * sizeof *mpi.displs);
    mpi.bytes = malloc((size_t)(mpi.p + 1) * sizeof *mpi.bytes);
    mpi.far = malloc((size_t)(mpi.p + 1) * sizeof *mpi.far);
    mpi.types = malloc((size_t)(mpi.p + 1) * sizeof *mpi.types);
}

/* Blocks of n floats. */
static void mpi_blocks(int n)
{
    for (int i = 0; i <= mpi.p; i++) {
        mpi.counts[i] = n;
        mpi.displs[i] = i * n;
        mpi.bytes[i] = i * n * (int)sizeof(float);
        mpi.far[i] = mpi.bytes[i];
        mpi.types[i] = MPI_FLOAT;
    }
}

static void mpi_end(void)
{
    MPI_Comm_free(&mpi.ring);
    MPI_Comm_free(&mpi.world);
    free(mpi.counts);
    free(mpi.displs);
    free(mpi.bytes);
    free(mpi.far);
    free(mpi.types);
}

#endif /* COLL_BENCH_MPI_CALLS_H */
