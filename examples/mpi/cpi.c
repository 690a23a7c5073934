/* examples/mpi/cpi.c — π by the midpoint rule: an ordinary MPI program, which knows nothing of coll
 *
 *   mpicc cpi.c -o cpi -lm
 *   mpiexec -n 4 ./cpi [STEPS]
 *   LD_PRELOAD=…/libcollmpi.so COLL_VERBOSE=1 mpiexec -n 4 ./cpi
 *
 * Rank 0 broadcasts the number of steps; every rank adds up 4 / (1 + x²) in the middle of its steps
 * of [0, 1]; a reduction adds up the parts.
 */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    long steps = 1000000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && argc > 1) {
        char *end;
        errno = 0;
        steps = strtol(argv[1], &end, 10);
        if (errno || *end || steps < 1) {
            fprintf(stderr, "cpi: \"%s\" is not a number of steps; give 1 or more\n", argv[1]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    const double start = MPI_Wtime();
    MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    const double width = 1.0 / (double)steps;
    double part = 0, pi = 0;
    for (long i = rank; i < steps; i += size) {
        const double x = width * ((double)i + 0.5);
        part += 4 / (1 + x * x);
    }
    part *= width;
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is about %.16f, error %.1e, %d ranks, %.6f s\n", pi, fabs(pi - acos(-1.0)),
               size, MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
