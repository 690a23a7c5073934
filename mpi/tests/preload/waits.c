/* mpi/tests/preload/waits.c — a tool that takes MPI_Wait and MPI_Send, counts them, and does not take MPI_Init */
#include <mpi.h>
#include <stdio.h>

#define TOOL __attribute__((visibility("default")))

static int calls;

TOOL int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    calls++;
    return PMPI_Wait(request, status);
}

TOOL int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm)
{
    calls++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

TOOL int MPI_Finalize(void)
{
    printf("the tool saw %d calls\n", calls);
    return PMPI_Finalize();
}
