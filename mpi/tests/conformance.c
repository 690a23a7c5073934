/* The conformance kit over the transport of coll/transports/mpi.h, in each of its ways. */
#include <stdlib.h>

#include "coll/transports/mpi.h"

#include "coll/transports/conformance.h"
#include "support/check.h"

enum { SHORT = 2000, PIECES = 16384, LONG = 200000, PATIENCE = 1000000 };

static coll_mpi mpi;
static coll_conformance kit;

/* What MPI does not give: to give up a send everywhere, as the library may still read its buffer; and
 * to say that a long message has another size (transport.h). */
static void conforms_to(const coll_mpi_ways *ways, size_t longest)
{
    const uint32_t absent = 1u << COLL_CONFORMANCE_COPY | 1u << COLL_CONFORMANCE_REDUCE |
                            1u << COLL_CONFORMANCE_ACQUIRE | 1u << COLL_CONFORMANCE_MULTICAST |
                            1u << COLL_CONFORMANCE_NETWORK_REDUCE |
                            1u << COLL_CONFORMANCE_SHARED | 1u << COLL_CONFORMANCE_TURNS |
                            1u << COLL_CONFORMANCE_ABORT | 1u << COLL_CONFORMANCE_REFUSAL |
                            1u << COLL_CONFORMANCE_ARRIVAL | 1u << COLL_CONFORMANCE_DEAD |
                            1u << COLL_CONFORMANCE_USES | 1u << COLL_CONFORMANCE_CLAIMS |
                            1u << COLL_CONFORMANCE_EVENTS | 1u << COLL_CONFORMANCE_KEPT |
                            1u << COLL_CONFORMANCE_PUTS;
    const uint32_t skipped = 1u << COLL_CONFORMANCE_CANCEL_SEND |
                             (longest > PIECES ? 1u << COLL_CONFORMANCE_SIZE_ERROR : 0);
    coll_conformance_task task = {NULL, &mpi, 0, 0, longest, 0, PATIENCE, skipped, NULL, 0};
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    coll_mpi_init(&mpi, comm);
    mpi.spins = 1;
    if (ways)
        CHECK(coll_mpi_set_ways(&mpi, ways) == MPI_SUCCESS);
    task.transport = coll_mpi_table(&mpi);
    task.rank = mpi.rank;
    task.p = mpi.p;
    task.bytes = coll_conformance_bytes(&task);
    task.memory = malloc(task.bytes);
    CHECK_STATUS(coll_conformance_init(&kit, &task), COLL_OK);
    if (!CHECK_STATUS(coll_conformance_run(&kit, 1), COLL_OK))
        printf("    %s\n", coll_conformance_sentence(&kit, 1));
    for (uint32_t c = 0; c < COLL_CONFORMANCE_CHECKS && kit.status == COLL_OK; c++) {
        const uint32_t none = mpi.p < 3 ? absent | 1u << COLL_CONFORMANCE_SLOW_PEER : absent;
        const coll_conformance_result result =
            coll_conformance_result_of(&kit, 1, (coll_conformance_check)c);
        if (!CHECK(result == (none >> c & 1u      ? COLL_CONFORMANCE_NOT_THERE
                              : skipped >> c & 1u ? COLL_CONFORMANCE_NOT_RUN
                                                  : COLL_CONFORMANCE_PASSED)))
            printf("    %s: %s\n", coll_conformance_name((coll_conformance_check)c),
                   coll_conformance_result_text(result));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(coll_mpi_close(&mpi) == MPI_SUCCESS);
    free(task.memory);
}

static void conforms(const coll_mpi_ways *ways)
{
    conforms_to(ways, SHORT);
    conforms_to(ways, PIECES);
    conforms_to(ways, LONG);
}

TEST(anywhere)
{
    conforms(NULL);
}

TEST(near)
{
    const coll_mpi_ways ways = coll_mpi_usual_ways(true, false);
    conforms(&ways);
}

TEST(few_pieces)
{
    coll_mpi_ways ways = coll_mpi_usual_ways(false, true);
    conforms(&ways);
}

int main(int argc, char **argv)
{
    int failed, any;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH's tests ask it */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    RUN(anywhere);
    RUN(near);
    RUN(few_pieces);
    failed = check_done();
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any;
}
