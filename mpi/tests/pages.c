/* mpi/tests/pages.c — memory that long messages are sent from again and again
 *
 *   mpiexec -n 2 pages
 *
 * Two ranks exchange it, check what they receive, and one prints what it has of huge pages. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "support/pages.h"
#include "coll/transports/huge.h"

enum { EXTENTS = 4, BYTES = EXTENTS * COLL_HUGE_PAGE, BLOCK = BYTES / 2, CALLS = 16 };
/* After so many calls memory has earned it, however long a move took. */
enum { EARNING = COLL_HUGE_LATER / COLL_HUGE_PAGE };

/* Memory with a page before it and one behind it that nobody may touch, so that it is a mapping of its own. */
static unsigned char *memory(void)
{
    unsigned char *all =
        mmap(NULL, BYTES + 2 * COLL_HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *its =
        all + COLL_HUGE_PAGE - (uintptr_t)all % COLL_HUGE_PAGE; /* the next extent */
    if (all == MAP_FAILED || mprotect(its, BYTES, PROT_READ | PROT_WRITE) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return its;
}

/* Does the system give memory huge pages though nobody asks for them? */
static int come_by_themselves(void)
{
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char first = 0;
    if (file) {
        first = (char)fgetc(file);
        (void)fclose(file);
    }
    return first == '['; /* "[always] madvise never" */
}

int main(int argc, char **argv)
{
    unsigned char *in, *out;
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = memory();
    out = memory();
    for (int call = 0; call < CALLS; call++) {
        for (size_t i = 0; i < BYTES; i++)
            in[i] = (unsigned char)(i % 251 + (size_t)(rank + call));
        for (int k = 0; call == CALLS / 2 && k < EARNING; k++)
            MPI_Alltoall(in, BLOCK, MPI_BYTE, out, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Alltoall(in, BLOCK, MPI_BYTE, out, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
        for (size_t i = 0; i < BYTES; i++) {
            const size_t theirs = (size_t)rank * BLOCK + i % BLOCK;
            wrong += out[i] != (unsigned char)(theirs % 251 + i / BLOCK + (size_t)call);
        }
        for (size_t i = 0; i < BYTES; i++)
            wrong += in[i] != (unsigned char)(i % 251 + (size_t)(rank + call));
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d bytes are wrong; of %d KiB that were sent huge pages hold %ld; they %s\n",
               wrong, BLOCK / 1024, huge_kib(in, BYTES),
               come_by_themselves()      ? "come by themselves"
               : coll_huge_is_possible() ? "are possible"
                                         : "are not possible");
    MPI_Finalize();
    return 0;
}
