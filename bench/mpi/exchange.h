/* bench/mpi/exchange.h — reductions of two ranks written by hand: what the messages alone would allow
 *
 * Each rank sends the other one what that one reduces, in one MPI_Sendrecv, and adds. Of allreduce
 * there are two: both exchange and add the whole vector; or each adds its half, and the halves are
 * exchanged once more.
 */
#ifndef COLL_BENCH_MPI_EXCHANGE_H
#define COLL_BENCH_MPI_EXCHANGE_H

#include "calls.h"

static void exchange(const float *ours, float *theirs, int n)
{
    PMPI_Sendrecv(ours, n, MPI_FLOAT, 1 - mpi.rank, 0, theirs, n, MPI_FLOAT, 1 - mpi.rank, 0,
                  mpi.world, MPI_STATUS_IGNORE);
}

__attribute__((optimize("O3"))) /* vectorised, as the layer's */
static void
exchange_add(const float *restrict a, const float *restrict b, float *restrict sum, int n)
{
    for (int i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

/* Rank r gets the sum of block r of `a`, n floats each, in `b`. */
static void exchange_blocks(const float *a, float *b, float *scratch, int n)
{
    exchange(a + (1 - mpi.rank) * n, scratch, n);
    exchange_add(a + mpi.rank * n, scratch, b, n);
}

/* Both get the sum of the n floats of `a` in `b`. */
static void exchange_whole(const float *a, float *b, float *scratch, int n)
{
    exchange(a, scratch, n);
    exchange_add(a, scratch, b, n);
}

/* The same by halves; n is even. */
static void exchange_halves(const float *a, float *b, float *scratch, int n)
{
    const int half = n / 2;
    exchange_blocks(a, b + mpi.rank * half, scratch, half);
    exchange(b + mpi.rank * half, b + (1 - mpi.rank) * half, half);
}

#endif /* COLL_BENCH_MPI_EXCHANGE_H */
