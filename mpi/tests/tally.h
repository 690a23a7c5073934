/* mpi/tests/tally.h — what a program about memory of the node counts: checks, and calls for
 * memory of which some is the node's */
#ifndef COLL_TESTS_MPI_TALLY_H
#define COLL_TESTS_MPI_TALLY_H

#include <mpi.h>
#include <stdio.h>

#include "support/pages.h"

static int rank, p;
static long checks, failures, given, of_node;

static void check(int holds, const char *what, long number)
{
    checks++;
    if (!holds && failures++ < 10)
        printf("rank %d: does not hold: %s (%ld)\n", rank, what, number);
}

static int is_of_node(const void *memory)
{
    return is_mapped_of(memory, "/collmpi-");
}

/* Rank 0 says what all ranks have counted until now; `calls` are those for memory. */
static void tally(const char *program, const char *calls)
{
    long mine[4] = {checks, failures, given, of_node}, all[4];
    MPI_Allreduce(mine, all, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %ld checks, %ld failed; of %ld %s the node's: %s\n", program, all[0],
               all[1], all[2], calls,
               all[3] == all[2] ? "all"
               : all[3] == 0    ? "none"
                                : "some");
}

#endif /* COLL_TESTS_MPI_TALLY_H */
