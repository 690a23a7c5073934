/* mpi/bench/tables.c — how long calls of the MPI library take, by whatever table it reads: for
 * bench/tables.sh
 *
 *   tables ROUNDS MOST     a line for each collective and size up to MOST bytes: collective,bytes,us
 *
 * The time of a cell is the median over the rounds; a round is a few calls behind a barrier. The
 * ranks have one clock: they are on one node. Bytes are of the vector or of a block. */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

enum { ROUNDS_MOST = 1000 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds of a call: of some, from the first rank's beginning to the last one's end, as a rank
 * that had no processor meanwhile finds its messages there and takes no time at all. */
static double cell(coll_collective c, int n, int rounds, const float *a, float *b)
{
    static double took[ROUNDS_MOST];
    const int calls = n < 4096 ? 20 : 3;
    for (int round = -1; round < rounds; round++) {
        double mine[2], all[2]; /* since the beginning, and the end */
        PMPI_Barrier(mpi.world);
        mine[0] = -PMPI_Wtime();
        for (int i = 0; i < calls; i++)
            mpi_runners[c](true, n, 0, a, b);
        mine[1] = PMPI_Wtime();
        PMPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, mpi.world);
        took[round < 0 ? 0 : round] = (all[0] + all[1]) * 1e6 / calls;
    }
    qsort(took, (size_t)rounds, sizeof took[0], by_size);
    return took[rounds / 2];
}

int main(int argc, char **argv)
{
    static const coll_collective collectives[] = {COLL_BARRIER,   COLL_BCAST,
                                                  COLL_REDUCE,    COLL_ALLREDUCE,
                                                  COLL_GATHER,    COLL_SCATTER,
                                                  COLL_ALLGATHER, COLL_ALLGATHERV,
                                                  COLL_ALLTOALL,  COLL_REDUCE_SCATTER_BLOCK};
    const int rounds = argc > 1 ? atoi(argv[1]) : 0, most = argc > 2 ? atoi(argv[2]) : 0;
    float *a, *b;
    MPI_Init(&argc, &argv);
    mpi_begin();
    a = calloc((size_t)mpi.p * (size_t)(most > 8 ? most : 8), 1);
    b = calloc((size_t)mpi.p * (size_t)(most > 8 ? most : 8), 1);
    if (rounds < 1 || rounds > ROUNDS_MOST || most < 8 || !a || !b) {
        fprintf(stderr, "usage: tables ROUNDS MOST, with 1 to %d rounds and 8 bytes or more\n",
                ROUNDS_MOST);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (size_t k = 0; k < sizeof collectives / sizeof collectives[0]; k++)
        for (int bytes = 8; bytes <= most; bytes *= 8) {
            const int n = bytes / (int)sizeof(float);
            double us;
            mpi_blocks(n);
            us = cell(collectives[k], n, rounds, a, b);
            if (mpi.rank == 0)
                printf("%s,%d,%.3f\n", coll_collective_name(collectives[k]),
                       collectives[k] == COLL_BARRIER ? 0 : bytes, us);
            if (collectives[k] == COLL_BARRIER)
                break;
        }
    free(a);
    free(b);
    mpi_end();
    MPI_Finalize();
    return 0;
}
