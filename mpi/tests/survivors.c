/* mpi/tests/survivors.c — ranks that die one after the other, and the others that go on without
 * them
 *
 *   mpiexec -n 4 survivors CALL VICTIM     launched so that the survivors live
 *   mpiexec -n 2 survivors refused 0       of a communicator that the layer does not run
 *
 * In each round one rank ends, between calls or, by a signal, at any place of one, while the
 * others make that call again and again. They get an error of the right class, revoke, agree,
 * shrink, and add up right on the communicator of survivors, on which the next round is, until
 * one rank is left.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "coll_ulfm.h"
#include "support/check.h"

enum { LONG = 100000, CALLS = 20, MOST = 100000000 };

static double in[LONG], out[LONG];
static int numbers[2][64];

/* ---- calls that are made again and again ------------------------------------------------- */

static int barrier(MPI_Comm comm)
{
    return MPI_Barrier(comm);
}

static int bcast(MPI_Comm comm)
{
    return MPI_Bcast(out, 1, MPI_DOUBLE, 0, comm);
}

static int reduce(MPI_Comm comm)
{
    return MPI_Reduce(in, out, 10, MPI_DOUBLE, MPI_SUM, 0, comm);
}

static int allreduce(MPI_Comm comm)
{
    return MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm);
}

static int long_allreduce(MPI_Comm comm)
{
    return MPI_Allreduce(in, out, LONG, MPI_DOUBLE, MPI_SUM, comm);
}

static int alltoall(MPI_Comm comm)
{
    return MPI_Alltoall(numbers[0], 2, MPI_INT, numbers[1], 2, MPI_INT, comm);
}

static int scan(MPI_Comm comm)
{
    return MPI_Scan(in, out, 3, MPI_DOUBLE, MPI_MAX, comm);
}

/* The last error that the handler of MPI_COMM_WORLD was told. */
static int heard = MPI_SUCCESS;

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    heard = *code;
}

static int iallreduce(MPI_Comm comm)
{
    MPI_Request request;
    const int error = MPI_Iallreduce(in, out, 5, MPI_DOUBLE, MPI_SUM, comm, &request);
    return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

static int now; /* the round */

/* The error of the first status that has one. */
static int error_of(int n, const MPI_Status statuses[])
{
    for (int i = 0; i < n; i++)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            return statuses[i].MPI_ERROR;
    return MPI_ERR_IN_STATUS;
}

/* Waits in a call for several requests, in each round another one. What is left of them may be waited for, too. */
static int several(MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int error = MPI_SUCCESS, n = 2, indices[2] = {0, 0};
    for (int i = 0; i < 2 && error == MPI_SUCCESS; i++) {
        requests[i] = MPI_REQUEST_NULL;
        error = MPI_Iallreduce(in + i, out + i, 1, MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
    }
    for (int done = 0; error == MPI_SUCCESS && done < 2; done += n) {
        n = 2;
        if (now % 3 == 0) {
            error = MPI_Waitall(2, requests, statuses);
        } else if (now % 3 == 1) {
            n = 1;
            error = MPI_Waitany(2, requests, indices, statuses);
        } else {
            error = MPI_Waitsome(2, requests, &n, indices, statuses);
        }
    }
    if (error == MPI_ERR_IN_STATUS)
        error = error_of(n, statuses);
    for (int i = 0; i < 2 && error != MPI_SUCCESS; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            (void)MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return error;
}

/* By requests that persist, where there are any, and calls that test. */
static int tested(MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int error, done = 0;
#if MPI_VERSION >= 4
    error = MPI_Allreduce_init(in, out, 3, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
    if (error == MPI_SUCCESS)
        error = MPI_Start(&request);
#else
    error = MPI_Iallreduce(in, out, 3, MPI_DOUBLE, MPI_SUM, comm, &request);
#endif
    while (error == MPI_SUCCESS && !done)
        error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL)
        (void)MPI_Request_free(&request);
    return error;
}

static const struct {
    const char *name;
    int (*make)(MPI_Comm comm);
} calls[] = {{"barrier", barrier},
             {"bcast", bcast},
             {"reduce", reduce},
             {"allreduce", allreduce},
             {"long_allreduce", long_allreduce},
             {"alltoall", alltoall},
             {"scan", scan},
             {"iallreduce", iallreduce},
             {"several", several},
             {"tested", tested}};

/* ---- death ------------------------------------------------------------------------------- */

static void die(int signal)
{
    (void)signal;
#ifdef OPEN_MPI /* MPICH's launcher ends all ranks then */
    (void)kill(getpid(), SIGKILL);
#endif
    _exit(0);
}

static void die_soon(long microseconds)
{
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_value.tv_usec = microseconds;
    (void)signal(SIGALRM, die);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- recovery ---------------------------------------------------------------------------- */

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    CHECK_EQ(MPI_Error_class(error, &class), MPI_SUCCESS);
    return class;
}

static int size_of(MPI_Group group)
{
    int n = -1;
    MPI_Group_size(group, &n);
    if (group != MPI_GROUP_EMPTY)
        MPI_Group_free(&group);
    return n;
}

/* Two agreements at once, none of which is waited for before both have begun; the class of the first one's error. */
static int iagree(MPI_Comm comm, int *flag)
{
    MPI_Request requests[2];
    int other = ~*flag, error;
    const int both = *flag | other;
    CHECK_EQ(MPIX_Comm_iagree(comm, flag, &requests[0]), MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_iagree(comm, &other, &requests[1]), MPI_SUCCESS);
    error = class_of(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK_EQ(class_of(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)), error);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    CHECK_EQ(*flag & other, 0);
    CHECK_EQ(both, -1);
    return error;
}

/* The first survivor, whose bits are zero in this word, calls it before it sends the others the message that they
 * wait for before they call it. */
static MPI_Comm ishrink(MPI_Comm comm, int rank, int p, int dead)
{
    MPI_Comm smaller = MPI_COMM_WORLD;
    MPI_Request request;
    int first = 0, token = 0;
    while (dead >> first & 1)
        first++;
    if (rank != first)
        CHECK_EQ(MPI_Recv(&token, 1, MPI_INT, first, 7, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_ishrink(comm, &smaller, &request), MPI_SUCCESS);
    for (int r = first + 1; rank == first && r < p; r++)
        if (!(dead >> r & 1))
            CHECK_EQ(MPI_Send(&token, 1, MPI_INT, r, 7, comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    return smaller;
}

static int acknowledged(MPI_Comm comm, int n)
{
    int so_many = -1;
    CHECK_EQ(MPIX_Comm_ack_failed(comm, n, &so_many), MPI_SUCCESS);
    return so_many;
}

/* The communicator has lost one rank, and this one had that error. In each other round the calls do not block. */
static MPI_Comm recover(MPI_Comm comm, int error)
{
    int flag = 0, well = 0, class = class_of(error), rank, p, sum = -1, one = 1;
    const bool waits = now % 2 == 0;
    MPI_Comm smaller = MPI_COMM_NULL;
    MPI_Group failed;
    MPI_Comm_size(comm, &p);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED);
    CHECK_EQ(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_EQ(class_of(MPI_Barrier(comm)), MPIX_ERR_REVOKED);
    /* nobody has acknowledged the death yet, as each does so behind an agreement of all */
    well = 6 | (p % 2);
    CHECK_EQ(waits ? class_of(MPIX_Comm_agree(comm, &well)) : iagree(comm, &well),
             MPIX_ERR_PROC_FAILED);
    CHECK_EQ(well, 6 | (p % 2));
    CHECK_EQ(MPIX_Comm_failure_get_acked(comm, &failed), MPI_SUCCESS);
    CHECK_EQ(size_of(failed), 0);
    CHECK_EQ(acknowledged(comm, 0), 0);
    if (waits)
        CHECK_EQ(MPIX_Comm_failure_ack(comm), MPI_SUCCESS);
    else
        CHECK_EQ(acknowledged(comm, 5), 1);
    CHECK_EQ(acknowledged(comm, 0), 1);
    CHECK_EQ(MPIX_Comm_failure_get_acked(comm, &failed), MPI_SUCCESS);
    CHECK_EQ(size_of(failed), 1);
    CHECK_EQ(MPIX_Comm_get_failed(comm, &failed), MPI_SUCCESS);
    CHECK_EQ(size_of(failed), 1);
    MPI_Comm_rank(comm, &rank);
    well = ~(1 << rank);
    if (waits)
        CHECK_EQ(MPIX_Comm_agree(comm, &well), MPI_SUCCESS);
    else
        CHECK_EQ(iagree(comm, &well), MPI_SUCCESS);
    for (int r = 0, cleared = 0; r < p; r++) {
        cleared += !(well >> r & 1);
        CHECK(r < p - 1 || cleared == p - 1);
    }
    if (waits)
        CHECK_EQ(MPIX_Comm_shrink(comm, &smaller), MPI_SUCCESS);
    else
        smaller = ishrink(comm, rank, p, well);
    if (!CHECK(smaller != MPI_COMM_NULL))
        exit(1);
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, smaller), MPI_SUCCESS);
    CHECK_EQ(sum, p - 1);
    return smaller;
}

static MPI_Comm round_of(int (*call)(MPI_Comm comm), MPI_Comm comm, int victim, int round)
{
    MPI_Comm smaller;
    int rank, p, error = MPI_SUCCESS;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    victim %= p;
    now = round;
    for (int i = 0; i < MOST && error == MPI_SUCCESS; i++) {
        if (rank == victim && i == CALLS) {
            if (round % 2 == 0)
                _exit(0);
            die_soon(1000 + 700 * round);
        }
        error = call(comm);
    }
    smaller = recover(comm, error);
    if (comm != MPI_COMM_WORLD)
        CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    return smaller;
}

/* Of a communicator that the layer does not run. */
static int refused(void)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int flag, length, rank, error = MPIX_Comm_is_revoked(MPI_COMM_WORLD, &flag);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(error != MPI_SUCCESS && heard == error);
    CHECK_EQ(MPI_Error_string(error, text, &length), MPI_SUCCESS);
    if (rank == 0)
        printf("%s\n", text);
    MPI_Finalize();
    return check_done();
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Errhandler handler;
    int p, world, over = 0;
    unsigned call = 0;
    if (argc < 3)
        return 2;
    while (call < sizeof calls / sizeof *calls && strcmp(calls[call].name, argv[1]) != 0)
        call++;
    MPI_Init(&argc, &argv);
    if (!MPIX_Comm_is_revoked) {
        puts("there is no layer");
        return MPI_Finalize();
    }
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (call == sizeof calls / sizeof *calls)
        return refused();
    for (int round = 0;; round++) {
        MPI_Comm_size(comm, &p);
        if (p == 1)
            break;
        comm = round_of(calls[call].make, comm, atoi(argv[2]), round);
    }
    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
    CHECK_EQ(MPI_Finalized(&over), MPI_SUCCESS);
    CHECK_EQ(over, 1);
    printf("rank %d is left\n", world);
    return check_done();
}
