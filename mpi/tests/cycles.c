/* mpi/tests/cycles.c — communicators that come and go
 *
 *   mpiexec -n 2 cycles [CYCLES [--plain]]
 *
 * Makes communicators in several ways, runs collectives on each, some of which end only after it is
 * freed, and prints this process's memory after a fifth of the cycles and after all. --plain: they
 * end before, as Open MPI 4.1 itself does not survive that.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 64, LARGE = 1 << 18 };

static int rank, p;
static bool plain;
static long failures;

static void check(long is, long wanted, const char *what, long cycle)
{
    if (is != wanted && failures++ < 5)
        printf("cycles: rank %d, cycle %ld, %s: %ld is not %ld\n", rank, cycle, what, is,
               wanted);
}

static MPI_Comm make(long cycle)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group;
    int dims[1] = {p}, periods[1] = {1};
    switch (cycle % 5) {
    case 0:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        break;
    case 1:
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* reversed */
        break;
    case 2:
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
        MPI_Group_free(&group);
        break;
    case 3:
        MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
        break;
    default:
        MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm); /* each alone */
        break;
    }
    return comm;
}

static void cycle_of(long cycle)
{
    MPI_Comm comm = make(cycle);
    double in[COUNT], sums[COUNT], later[COUNT];
    int gathered[16] = {0}, size, mine;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &mine);
    for (int i = 0; i < COUNT; i++)
        in[i] = (double)(cycle % 1000 + i);
    MPI_Allreduce(in, sums, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    check((long)sums[1], size * (cycle % 1000 + 1), "allreduce", cycle);
    if (cycle % 5 == 3) {
        MPI_Neighbor_allgather(&rank, 1, MPI_INT, gathered, 1, MPI_INT, comm);
        check(gathered[0], (rank + p - 1) % p, "neighbor_allgather", cycle);
    }
#if MPI_VERSION >= 4
    MPI_Bcast_init(gathered, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
    for (int again = 0; again < 2; again++) {
        gathered[0] = mine == 0 ? (int)cycle + again : -1;
        MPI_Start(&requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        check(gathered[0], cycle + again, "bcast_init", cycle);
    }
    if (cycle % 2)
        MPI_Request_free(&requests[1]);
#endif
    MPI_Iallreduce(in, later, COUNT, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
    if (plain)
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check((long)later[2], size * (cycle % 1000 + 2), "iallreduce", cycle);
    if (requests[1] != MPI_REQUEST_NULL)
        MPI_Request_free(&requests[1]);
}

/* A communicator whose first blocking collective makes ranks wait for each other while one of them
 * has a collective under way that the other waits for first. */
static void first_use(void)
{
    int *data = calloc(LARGE, sizeof *data);
    MPI_Comm late;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &late, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data[LARGE - 1] = rank + 1;
    MPI_Iallreduce(MPI_IN_PLACE, data, LARGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank > 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(late);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(data[LARGE - 1], p * (p + 1) / 2, "iallreduce before the first use", 0);
    MPI_Comm_free(&late);
    free(data);
}

/* kB of memory that this process has in fact. */
static long resident(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;
    while (file && kb < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld kB", &kb) != 1)
            kb = -1;
    if (file)
        fclose(file);
    return kb;
}

int main(int argc, char **argv)
{
    const long cycles = argc > 1 ? atol(argv[1]) : 10000;
    long early = 0, all = 0;
    plain = argc > 2 && strcmp(argv[2], "--plain") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    first_use();
    for (long cycle = 0; cycle < cycles; cycle++) {
        if (cycle == cycles / 5)
            early = resident();
        cycle_of(cycle);
    }
    MPI_Allreduce(&failures, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        const long late = resident();
        printf("cycles: %ld, %ld failed\n", cycles, all);
        printf("kB after a fifth: %ld, after all: %ld, grown by %ld\n", early, late,
               late - early);
    }
    MPI_Finalize();
    return 0;
}
