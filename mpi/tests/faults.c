/* mpi/tests/faults.c — errors of collectives reach the program
 *
 *   mpiexec -n 2 faults
 *
 * Rank 0 broadcasts more, or fewer, elements than rank 1 expects, an error there. It has to
 * arrive where the program looks for it, and the communicator goes on working. MPICH tells errors
 * of all requests to the handler of MPI_COMM_WORLD, so that must return as well.
 */
#include <mpi.h>

#include "support/check.h"

enum { FEW = 10, MANY = 100 };

static int rank, data[MANY], called;
static MPI_Comm comm;

static void handler(MPI_Comm *of, int *code, ...)
{
    (void)of;
    called += *code != MPI_SUCCESS;
}

/* How many elements this rank says there are. */
static int elements(bool truncates)
{
    return (rank == 0) == truncates ? MANY : FEW;
}

static void works_afterwards(void)
{
    int sum = -1;
    CHECK_EQ(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(sum, 1);
}

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    CHECK_EQ(MPI_Error_class(error, &class), MPI_SUCCESS);
    return class;
}

/* Rank 1 got the error that says what is wrong, and rank 0 none. */
static void expect(int error)
{
    if (rank == 1)
        CHECK_EQ(class_of(error), MPI_ERR_TRUNCATE);
    else
        CHECK_EQ(error, MPI_SUCCESS);
}

TEST(blocking)
{
    for (int truncates = 0; truncates < 2; truncates++) {
        expect(MPI_Bcast(data, elements(truncates), MPI_INT, 0, comm));
        works_afterwards();
    }
}

TEST(nonblocking)
{
    for (int truncates = 0; truncates < 2; truncates++) {
        MPI_Request request;
        int done = 0, error = MPI_SUCCESS;
        CHECK_EQ(MPI_Ibcast(data, elements(truncates), MPI_INT, 0, comm, &request),
                 MPI_SUCCESS);
        expect(MPI_Wait(&request, MPI_STATUS_IGNORE));
        works_afterwards();
        CHECK_EQ(MPI_Ibcast(data, elements(truncates), MPI_INT, 0, comm, &request),
                 MPI_SUCCESS);
        while (!done && error == MPI_SUCCESS)
            error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        expect(error);
        works_afterwards();
    }
}

/* Of two requests the one that is in error is told. The other one may be under way still: MPI lets a
 * wait for all return at the first error, and says which ones are pending. */
TEST(one_of_two)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int error;
    MPI_Ibarrier(comm, &requests[0]);
    MPI_Ibcast(data, elements(true), MPI_INT, 0, comm, &requests[1]);
    error = MPI_Waitall(2, requests, statuses);
    if (rank == 1 && CHECK_EQ(error, MPI_ERR_IN_STATUS)) {
        if (statuses[0].MPI_ERROR == MPI_ERR_PENDING)
            statuses[0].MPI_ERROR = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
        CHECK_EQ(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    }
    works_afterwards();
}

TEST(persistent)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    CHECK_EQ(MPI_Bcast_init(data, elements(true), MPI_INT, 0, comm, MPI_INFO_NULL, &request),
             MPI_SUCCESS);
    for (int again = 0; again < 3; again++) {
        CHECK_EQ(MPI_Start(&request), MPI_SUCCESS);
        expect(MPI_Wait(&request, MPI_STATUS_IGNORE));
        works_afterwards();
    }
    CHECK_EQ(MPI_Request_free(&request), MPI_SUCCESS);
#else
    CHECK(MPI_VERSION < 4); /* there are none */
#endif
}

/* A handler of the program's is called once, for the rank that is in error. */
TEST(own_handler)
{
    MPI_Errhandler mine;
    MPI_Request request;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    called = 0;
    (void)MPI_Bcast(data, elements(true), MPI_INT, 0, comm);
    CHECK_EQ(called, rank);
    (void)MPI_Ibcast(data, elements(true), MPI_INT, 0, comm, &request);
    (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(called, 2 * rank);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
    works_afterwards();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    RUN(blocking);
    RUN(nonblocking);
    RUN(one_of_two);
    RUN(persistent);
    RUN(own_handler);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return check_done();
}
