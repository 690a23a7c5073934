/* mpi/tests/overrun.c — a program that is wrong: its buffer is one element too short
 *
 *   mpiexec -n 2 overrun
 *
 * For valgrind.sh, which has to see what a layer over MPI then reads.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { COUNT = 10 };
    int sum[COUNT], *some = calloc(COUNT - 1, sizeof *some);
    MPI_Init(&argc, &argv);
    MPI_Allreduce(some, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    free(some);
    return 0;
}
