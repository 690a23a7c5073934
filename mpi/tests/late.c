/* mpi/tests/late.c — ranks that make each other wait, for COLL_DEADLINE
 *
 *   mpiexec -n 4 late WHAT        absent: the last rank calls a second late; other, root: ranks call other
 *                                 collectives, or give other roots, and wait until the program is ended
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, p, x = 1, y[64] = {0};
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(what, "absent") == 0) {
        if (rank == p - 1)
            usleep(1000000);
        MPI_Allreduce(&x, y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "other") == 0 && rank == p - 1) {
        MPI_Bcast(y, 64, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "other") == 0) {
        MPI_Allreduce(&x, y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "root") == 0) { /* each waits for the other */
        MPI_Bcast(y, 64, MPI_INT, rank == 0 ? p - 1 : 0, MPI_COMM_WORLD);
    }
    if (strcmp(what, "absent") == 0 && rank == 0)
        printf("the sum is %d\n", y[0]);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
