/* mpi/tests/preload/inits.c — a tool that takes MPI_Init alone */
#include <mpi.h>

__attribute__((visibility("default"))) int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}
