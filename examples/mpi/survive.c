/* examples/mpi/survive.c — a sum that is made again and again, of which one rank dies, and the
 * others go on
 *
 *   mpicc -I…/mpi survive.c -o survive
 *   mpiexec.mpich -disable-auto-cleanup -n 4 -env LD_PRELOAD …/libcollmpi.so ./survive
 *   mpiexec.openmpi --enable-recovery -n 4 -x LD_PRELOAD=…/libcollmpi.so ./survive
 *
 * After each step all survivors agree on whether it was well everywhere. If not, they make a
 * communicator without the dead rank, and repeat the step.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "coll_ulfm.h"

/* Adds up on all ranks; false, on all survivors: one of them has died. */
static int add(MPI_Comm comm, int mine, int *sum)
{
    int well = MPI_Allreduce(&mine, sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS;
    if (!well)
        MPIX_Comm_revoke(comm); /* nobody waits in a call of it any more */
    MPIX_Comm_failure_ack(comm);
    MPIX_Comm_agree(comm, &well);
    return well;
}

static MPI_Comm survivors_of(MPI_Comm comm)
{
    MPI_Comm smaller = MPI_COMM_NULL;
    if (MPIX_Comm_shrink(comm, &smaller) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    return smaller;
}

int main(int argc, char **argv)
{
    enum { STEPS = 4, LAST_OF_RANK_2 = 2 };
    MPI_Comm comm = MPI_COMM_WORLD;
    int world, rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!MPIX_Comm_is_revoked) {
        if (world == 0)
            puts("preload libcollmpi.so");
        MPI_Finalize();
        return 1;
    }
    for (int step = 1; step <= STEPS; step++) {
        if (world == 2 && step > LAST_OF_RANK_2)
            _exit(0); /* as if it crashed */
        while (!add(comm, step, &sum))
            comm = survivors_of(comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (rank == 0)
            printf("step %d: %d ranks add up to %d\n", step, size, sum);
    }
    MPI_Finalize();
    return 0;
}
