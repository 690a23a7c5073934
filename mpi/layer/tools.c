/* mpi/layer/tools.c — other libraries that are preloaded, or linked into the program
 *
 * The layer moves its collectives on in the calls in which a program waits. A tool that takes one of these
 * before it, and makes the profiling interface's call, would let the program wait for ever; one that takes MPI_Init
 * would leave the layer off. And a layer knows the handles of one MPI library alone.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

#ifdef OPEN_MPI
static const char own_library[] = "Open MPI", own_folder[] = "openmpi";
static const char foreign[] = "MPICH", its_folder[] = "mpich";
#else
static const char own_library[] = "MPICH", own_folder[] = "mpich";
static const char foreign[] = "Open MPI", its_folder[] = "openmpi";
#endif

/* The file that this program takes a function from, unless it is the layer; NULL: it is. */
static const char *taken_by(const char *function)
{
    Dl_info mine, its;
    void *symbol = dlsym(RTLD_DEFAULT, function);
    if (!symbol || !dladdr(&settings, &mine) || !dladdr(symbol, &its) ||
        its.dli_fbase == mine.dli_fbase)
        return NULL;
    return its.dli_fname;
}

void tools_look(void)
{
    static const char *const waits[] = {
        "MPI_Wait",    "MPI_Waitall", "MPI_Waitany",  "MPI_Waitsome", "MPI_Test",
        "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Recv",     "MPI_Send",
        "MPI_Ssend",   "MPI_Rsend",   "MPI_Sendrecv", "MPI_Probe",    "MPI_Iprobe",
        "MPI_Mprobe",  "MPI_Start"};
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (PMPI_Get_library_version(version, &length) == MPI_SUCCESS &&
        strstr(version, foreign) == version) {
        fprintf(
            stderr,
            "coll: this libcollmpi.so was built for %s, and the program runs with %s; preload "
            "mpi/%s/libcollmpi.so in place of mpi/%s/libcollmpi.so\n",
            own_library, foreign, its_folder, own_folder);
        exit(2);
    }
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        const char *file = taken_by(waits[i]);
        if (!file)
            continue;
        fprintf(
            stderr,
            "coll: %s takes %s before the layer, which could not move its collectives on; "
            "preload libcollmpi.so before it (it then does not see what the layer does), or "
            "leave one of them out\n",
            file, waits[i]);
        exit(2);
    }
}

void tools_missed(void)
{
    static bool told;
    int begun = 0, over = 0;
    if (told || PMPI_Initialized(&begun) != MPI_SUCCESS || !begun ||
        PMPI_Finalized(&over) != MPI_SUCCESS || over)
        return;
    told = true;
    fprintf(stderr,
            "coll: the layer is off, as MPI_Init did not come through it (%s has it); preload "
            "libcollmpi.so first\n",
            taken_by("MPI_Init") ? taken_by("MPI_Init") : "another library");
}
