/* mpi/bench/exchange.h — reductions of two ranks written by hand: what the messages alone would
 * allow
 *
 * Each rank sends the other one what that one reduces, in one MPI_Sendrecv, and adds, by the same
 * function as the layer. Of allreduce there are two: both exchange and add the whole vector; or each
 * adds its half, and the halves are exchanged once more.
 */
#ifndef COLL_BENCH_MPI_EXCHANGE_H
#define COLL_BENCH_MPI_EXCHANGE_H

#include "calls.h"
#include "coll/reduce.h"

static void exchange(const float *ours, float *theirs, int n)
{
    PMPI_Sendrecv(ours, n, MPI_FLOAT, 1 - mpi.rank, 0, theirs, n, MPI_FLOAT, 1 - mpi.rank, 0,
                  mpi.world, MPI_STATUS_IGNORE);
}

/* Rank r gets the sum of block r of `a`, n floats each, in `b`. */
static void exchange_blocks(const float *a, float *b, float *scratch, int n)
{
    exchange(a + (1 - mpi.rank) * n, scratch, n);
    coll_sum_f32(b, a + mpi.rank * n, scratch, (size_t)n, NULL);
}

/* Both get the sum of the n floats of `a` in `b`. */
static void exchange_whole(const float *a, float *b, float *scratch, int n)
{
    exchange(a, scratch, n);
    coll_sum_f32(b, a, scratch, (size_t)n, NULL);
}

/* The same by halves; n is even. */
static void exchange_halves(const float *a, float *b, float *scratch, int n)
{
    const int half = n / 2;
    exchange_blocks(a, b + mpi.rank * half, scratch, half);
    exchange(b + mpi.rank * half, b + (1 - mpi.rank) * half, half);
}

#endif /* COLL_BENCH_MPI_EXCHANGE_H */
