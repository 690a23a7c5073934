/* mpi/tests/lengths.c — collectives whose lengths differ between ranks end on all of them
 *
 *   mpiexec -n 3 lengths [short]
 *
 * The last rank gives fewer elements than others, at lengths at which the ranks run different algorithms, and at
 * short ones; or what a rank sends to itself has another size than what it receives. Whoever cannot end
 * well gets an error, whoever notices MPI_ERR_TRUNCATE, and nobody waits for ever: the test's own
 * time is bounded by its script.
 */
#include <mpi.h>
#include <stdlib.h>

#include "support/check.h"

enum { MOST = 400000 };

static int rank, p;
static bool only_short; /* longer ones may be cut into pieces that fit */
static long *in, *out;
static int counts[64], displs[64];

static int call(int which, int n, MPI_Comm comm)
{
    MPI_Request request;
    int error;
    switch (which) {
    case 0:
        return MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, comm);
    case 1:
        return MPI_Bcast(in, n, MPI_LONG, 0, comm);
    case 2:
        return MPI_Scan(in, out, n, MPI_LONG, MPI_SUM, comm);
    case 3:
        return MPI_Reduce(in, out, n, MPI_LONG, MPI_SUM, 1, comm);
    case 4:
        return MPI_Allgather(in, n, MPI_LONG, out, n, MPI_LONG, comm);
    case 5:
        return MPI_Alltoall(in, n, MPI_LONG, out, n, MPI_LONG, comm);
    case 6:
        return MPI_Reduce_scatter_block(in, out, n, MPI_LONG, MPI_SUM, comm);
    default:
        error = MPI_Iallreduce(in, out, n, MPI_LONG, MPI_SUM, comm, &request);
        return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
    }
}

/* How many ranks were told, and how many of them that lengths differ. */
static void count(int error, int told[2])
{
    int class = MPI_SUCCESS, mine[2];
    if (error != MPI_SUCCESS)
        (void)MPI_Error_class(error, &class);
    mine[0] = error != MPI_SUCCESS;
    mine[1] = class == MPI_ERR_TRUNCATE;
    PMPI_Allreduce(mine, told, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Each on a communicator of its own, as what is left of a call that failed may still be there. */
TEST(between_ranks)
{
    const int lengths[3][2] = {{10, 5}, {4000, 2000}, {MOST, MOST / 2}};
    for (int which = 0; which < 8; which++)
        for (int i = 0; i < (only_short ? 1 : 3); i++) {
            int told[2];
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            count(call(which, lengths[i][rank == p - 1], comm), told);
            CHECK(told[0] > 0);
            CHECK(told[1] > 0);
            MPI_Comm_free(&comm);
        }
}

static int own_call(int which, int n, int m, MPI_Comm comm)
{
    int sent[64], from[64], bytes[64];
    MPI_Datatype types[64];
    for (int i = 0; i < p; i++) {
        counts[i] = sent[i] = m;
        displs[i] = m * i;
        from[i] = 16 * i; /* behind the longest block */
        bytes[i] = (int)sizeof(long) * m * i;
        types[i] = MPI_LONG;
    }
    sent[rank] = n;
    switch (which) {
    case 0:
        return MPI_Allgather(in, n, MPI_LONG, out, m, MPI_LONG, comm);
    case 1:
        return MPI_Alltoall(in, n, MPI_LONG, out, m, MPI_LONG, comm);
    case 2:
        return MPI_Allgatherv(in, n, MPI_LONG, out, counts, displs, MPI_LONG, comm);
    case 3:
        return MPI_Gather(in, n, MPI_LONG, out, m, MPI_LONG, 0, comm);
    case 4:
        return MPI_Gatherv(in, n, MPI_LONG, out, counts, displs, MPI_LONG, 0, comm);
    case 5:
        return MPI_Alltoallv(in, sent, from, MPI_LONG, out, counts, displs, MPI_LONG, comm);
    case 6:
        for (int i = 0; i < p; i++)
            from[i] *= (int)sizeof(long);
        return MPI_Alltoallw(in, sent, from, types, out, counts, bytes, types, comm);
    case 7:
        return MPI_Scatter(out, m, MPI_LONG, in, n, MPI_LONG, 0, comm);
    default:
        return MPI_Scatterv(out, counts, displs, MPI_LONG, in, n, MPI_LONG, 0, comm);
    }
}

/* The first rank's own blocks differ, either way; what others give fits, and they get their data, but for
 * what the first rank should have sent. No memory beyond the blocks is read or written. */
TEST(own_blocks)
{
    enum { M = 12 };
    const int lengths[2] = {10, 15};
    for (int which = 0; which < 9; which++)
        for (int i = 0; i < 2; i++) {
            const bool each = which == 5 || which == 6; /* others see nothing of it */
            const int n = rank == 0 ? lengths[i] : M;
            int told[2];
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            for (int k = 0; k < M * (p + 1); k++)
                in[k] = k < n * p ? 100 * rank + k : -2, out[k] = -1;
            for (int k = 0; each && k < 16 * p; k++)
                in[k] = 100 * rank + k;
            count(own_call(which, n, M, comm), told);
            CHECK_EQ(told[0], 1);
            CHECK_EQ(told[1], 1);
            if (rank > 0 && which < 3) /* the last rank's block, of its first elements */
                CHECK_EQ(out[M * (p - 1)], 100 * (p - 1) + (which == 1 ? M * rank : 0));
            for (int r = 0; each && r < p; r++)
                CHECK_EQ(out[M * r], rank == 0 && r == 0 ? -1 : 100 * r + 16 * rank);
            if (which < 7)
                CHECK_EQ(out[M * p], -1);
            MPI_Comm_free(&comm);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    only_short = argc > 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    in = calloc((size_t)MOST * (size_t)(p + 1), sizeof *in);
    out = calloc((size_t)MOST * (size_t)(p + 1), sizeof *out);
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    RUN(between_ranks);
    RUN(own_blocks);
    free(in);
    free(out);
    MPI_Finalize();
    return check_done();
}
