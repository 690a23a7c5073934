/* mpi/tests/shares.c — calls that use the SHARED memory of a node, those of several communicators
 * in turn
 *
 *   mpiexec -n 6 env LD_PRELOAD=… shares [threads]
 *
 * Blocking calls, whose plans may need SHARED, and nonblocking ones with the same arguments, whose may not,
 * of MPI_COMM_WORLD, a duplicate and a reversed communicator; some stay under way while others run. Rank 0
 * makes a few of them in place, so ranks remember different calls. Ranks fall behind now and then. With
 * `threads` the program asks for MPI_THREAD_MULTIPLE, and a second thread uses the duplicate meanwhile.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400, MOST = 700, RANKS = 16 };

static int rank, p;

/* Of one thread. */
struct caller {
    MPI_Comm comms[3];
    int n, id;
    long checks, failures;
};

static int value(int from, int to, int i, int round)
{
    return ((from * 31 + to) * 1009 + i) * 7 + round;
}

static void check(struct caller *me, int is, int wanted, const char *what, int round)
{
    me->checks++;
    if (is != wanted && me->failures++ < 5)
        printf("rank %d: %s of round %d: %d is not %d\n", rank, what, round, is, wanted);
}

struct buffers {
    int in[RANKS * MOST], out[RANKS * MOST];
};

static void fill(struct buffers *of, int r, int n, int round)
{
    for (int to = 0; to < p; to++)
        for (int i = 0; i < n; i++)
            of->in[to * n + i] = value(r, to, i, round);
    memset(of->out, 0, sizeof of->out);
}

static void gathered(struct caller *me, const struct buffers *of, int n, int round)
{
    for (int from = 0; from < p; from++)
        for (int i = 0; i < n; i += n / 3 + 1)
            check(me, of->out[from * n + i], value(from, 0, i, round), "allgather", round);
}

static void exchanged(struct caller *me, const struct buffers *of, int r, int n, int round)
{
    for (int from = 0; from < p; from++)
        for (int i = 0; i < n; i += n / 3 + 1)
            check(me, of->out[from * n + i], value(from, r, i, round), "alltoall", round);
}

static void reduced(struct caller *me, const struct buffers *of, int r, int n, int round)
{
    for (int i = 0; i < n; i += n / 3 + 1) {
        int sum = 0;
        for (int from = 0; from < p; from++)
            sum += value(from, r, i, round);
        check(me, of->out[i], sum, "reduce_scatter_block", round);
    }
}

static void *run(void *arg)
{
    static const int sizes[] = {1, 5, 16, 129, MOST};
    struct caller *me = arg;
    struct buffers *now = malloc(sizeof *now), *later = malloc(sizeof *later);
    unsigned late = (unsigned)(rank * 3 + me->id + 1);
    for (int round = 0; now && later && round < ROUNDS; round++) {
        const MPI_Comm comm = me->comms[round % me->n];
        const int n = sizes[round / 3 % 5], kind = round % 7 % 3;
        const int place = rank == 0 && round % 4 == 1;
        MPI_Request request;
        int r;
        MPI_Comm_rank(comm, &r);
        fill(now, r, n, round);
        fill(later, r, n, round + 1);
        if (place)
            memcpy(later->out + (size_t)r * (size_t)n, later->in, (size_t)n * sizeof(int));
        /* One that goes on while the other, with the same arguments, comes and goes. */
        MPI_Iallgather(place ? MPI_IN_PLACE : later->in, n, MPI_INT, later->out, n, MPI_INT,
                       comm, &request);
        late = late * 1103515245 + 12345;
        for (volatile unsigned spin = 0; late >> 28 == 0 && spin < 2000000; spin++)
            ;
        if (kind == 0) {
            MPI_Allgather(now->in, n, MPI_INT, now->out, n, MPI_INT, comm);
            gathered(me, now, n, round);
        } else if (kind == 1) {
            MPI_Alltoall(now->in, n, MPI_INT, now->out, n, MPI_INT, comm);
            exchanged(me, now, r, n, round);
        } else {
            MPI_Reduce_scatter_block(now->in, now->out, n, MPI_INT, MPI_SUM, comm);
            reduced(me, now, r, n, round);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        gathered(me, later, n, round + 1);
    }
    free(now);
    free(later);
    return NULL;
}

/* A communicator that is made when SHARED has been used for calls. */
static void run_late(struct caller *me)
{
    enum { N = 3, ROUND = 1 };
    struct buffers *of = malloc(sizeof *of);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!of)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fill(of, rank, N, ROUND);
    MPI_Alltoall(of->in, N, MPI_INT, of->out, N, MPI_INT, comm);
    exchanged(me, of, rank, N, ROUND);
    free(of);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    struct caller mine = {.n = 0}, other = {.n = 1, .id = 1};
    long counts[2], all[2];
    MPI_Comm twice, reversed;
    pthread_t second;
    int level;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_dup(MPI_COMM_WORLD, &twice);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    if (p > RANKS || (threads && level < MPI_THREAD_MULTIPLE))
        MPI_Abort(MPI_COMM_WORLD, 1);
    mine.comms[mine.n++] = MPI_COMM_WORLD;
    mine.comms[mine.n++] = reversed;
    if (threads)
        other.comms[0] = twice;
    else
        mine.comms[mine.n++] = twice;
    if (threads && pthread_create(&second, NULL, run, &other) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    run(&mine);
    if (threads)
        pthread_join(second, NULL);
    run_late(&mine);
    counts[0] = mine.checks + other.checks;
    counts[1] = mine.failures + other.failures;
    MPI_Reduce(counts, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("shares: %d ranks, %s, %ld failed\n", p,
               all[0] > 0 ? "checked" : "nothing checked", all[1]);
    MPI_Comm_free(&twice);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
