/* mpi/tests/threads.c — thread levels, and collectives of several threads at once
 *
 *   mpiexec -n 3 threads single | funneled | serialized | multiple [ROUNDS]
 *
 * Prints the level that MPI provides. With MPI_THREAD_MULTIPLE three threads then make
 * communicators and run collectives on them, each on its own, and check every result.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 3, ELEMENTS = 300, LARGE = 1 << 18 };

static int rank, p;

struct task {
    int number, rounds;
    MPI_Comm comm;
    long checks, failures;
};

/* A value of each thread, round, rank and element. */
static int value(const struct task *task, int round, int of, int i)
{
    return task->number * 1000000 + round * 1000 + of * 17 + i % 101;
}

static void check(struct task *task, int is, int wanted, const char *what, int round)
{
    task->checks++;
    if (is != wanted && task->failures++ < 5)
        printf("threads: rank %d, thread %d, round %d, %s: %d is not %d\n", rank, task->number,
               round, what, is, wanted);
}

/* The sum over ranks first … last − 1 of their values. */
static int sum(const struct task *task, int round, int first, int last, int i)
{
    int total = 0;
    for (int of = first; of < last; of++)
        total += value(task, round, of, i);
    return total;
}

static void fill(const struct task *task, int round, int *data, int n)
{
    for (int i = 0; i < n; i++)
        data[i] = value(task, round, rank, i);
}

/* ---- a program's type and operator: x -> a x + b, composed, which does not commute ---------- */

enum { A, GAP, B, WORDS };

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const unsigned *f = in;
    unsigned *g = inout;
    (void)type;
    for (int i = 0; i < *count; i++, f += WORDS, g += WORDS) {
        g[B] += g[A] * f[B];
        g[A] *= f[A];
    }
}

static void user_operator(struct task *task, int round)
{
    enum { COUNT = 9 };
    unsigned in[COUNT][WORDS], out[COUNT][WORDS];
    MPI_Datatype maps, all;
    MPI_Request request;
    MPI_Op op;
    MPI_Type_vector(2, 1, 2, MPI_INT, &maps);
    MPI_Type_create_resized(maps, 0, sizeof in[0], &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&maps);
    MPI_Op_create(compose, 0, &op);
    for (int i = 0; i < COUNT; i++) {
        in[i][A] = (unsigned)value(task, round, rank, i) | 1u;
        in[i][B] = (unsigned)value(task, round, rank, i) * 7;
        in[i][GAP] = 0;
        out[i][GAP] = 4711;
    }
    if (round % 2) {
        MPI_Allreduce(in, out, COUNT, all, op, task->comm);
        MPI_Op_free(&op);
        MPI_Type_free(&all);
    } else { /* the last to need them is the collective */
        MPI_Iallreduce(in, out, COUNT, all, op, task->comm, &request);
        MPI_Op_free(&op);
        MPI_Type_free(&all);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < COUNT; i++) {
        unsigned a = 1, b = 0;
        for (int of = 0; of < p; of++) {
            const unsigned m = (unsigned)value(task, round, of, i);
            b = (m | 1u) * b + m * 7;
            a *= m | 1u;
        }
        check(task, (int)out[i][A], (int)a, "user operator", round);
        check(task, (int)out[i][B], (int)b, "user operator", round);
        check(task, (int)out[i][GAP], 4711, "gap", round);
    }
}

/* ---- collectives ---------------------------------------------------------------------------- */

static void blocking(struct task *task, int round, int *in, int *out)
{
    const int n = 1 + (round * 37) % (ELEMENTS - 1), root = round % p;
    fill(task, round, in, p * ELEMENTS);
    MPI_Barrier(task->comm);
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, task->comm);
    check(task, out[n - 1], sum(task, round, 0, p, n - 1), "allreduce", round);
    MPI_Reduce(in, out, n, MPI_INT, MPI_MAX, root, task->comm);
    if (rank == root)
        check(task, out[n - 1], value(task, round, p - 1, n - 1), "reduce", round);
    MPI_Scan(in, out, n, MPI_INT, MPI_SUM, task->comm);
    check(task, out[n - 1], sum(task, round, 0, rank + 1, n - 1), "scan", round);
    MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, task->comm);
    if (rank > 0)
        check(task, out[n - 1], sum(task, round, 0, rank, n - 1), "exscan", round);
    MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, task->comm);
    check(task, out[0], sum(task, round, 0, p, rank * n), "reduce_scatter_block", round);
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, task->comm);
    for (int of = 0; of < p; of++)
        check(task, out[of * n], value(task, round, of, 0), "allgather", round);
    MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, task->comm);
    for (int of = 0; of < p; of++)
        check(task, out[of * n], value(task, round, of, rank * n), "alltoall", round);
    MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, task->comm);
    check(task, out[n - 1], value(task, round, root, rank * n + n - 1), "scatter", round);
    MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, task->comm);
    for (int of = 0; of < p && rank == root; of++)
        check(task, out[of * n], value(task, round, of, 0), "gather", round);
}

static void nonblocking(struct task *task, int round, int *in, int *out)
{
    const int n = ELEMENTS, root = round % p;
    MPI_Request request[4];
    MPI_Status statuses[4];
    int done = 0;
    fill(task, round, in, n);
    memset(out, 0, 4 * (size_t)n * sizeof *out);
    if (rank == root)
        memcpy(out, in, (size_t)n * sizeof *out);
    MPI_Ibcast(out, n, MPI_INT, root, task->comm, &request[0]);
    MPI_Iallreduce(in, out + n, n, MPI_INT, MPI_SUM, task->comm, &request[1]);
    MPI_Ibarrier(task->comm, &request[2]);
    MPI_Iscan(in, out + 2 * n, n, MPI_INT, MPI_SUM, task->comm, &request[3]);
    if (round % 3 == 0)
        MPI_Waitall(4, request, statuses);
    for (int i = 3; i >= 0 && round % 3 == 1; i--)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < 4 && round % 3 == 2; i++, done = 0)
        while (!done)
            MPI_Test(&request[i], &done, MPI_STATUS_IGNORE);
    check(task, out[n - 1], value(task, round, root, n - 1), "ibcast", round);
    check(task, out[n], sum(task, round, 0, p, 0), "iallreduce", round);
    check(task, out[2 * n], sum(task, round, 0, rank + 1, 0), "iscan", round);
#if MPI_VERSION >= 4
    MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, task->comm, MPI_INFO_NULL, &request[0]);
    MPI_Bcast_init(out + n, 1, MPI_INT, root, task->comm, MPI_INFO_NULL, &request[1]);
    for (int again = 0; again < 2; again++) {
        out[0] = 0;
        out[n] = rank == root ? round + again : -1;
        MPI_Startall(2, request);
        MPI_Waitall(2, request, statuses);
        check(task, out[0], sum(task, round, 0, p, 0), "allreduce_init", round);
        check(task, out[n], round + again, "bcast_init", round);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
#endif
}

/* Messages around the ring, while a collective is under way. */
static void messages(struct task *task, int round)
{
    const int right = (rank + 1) % p, left = (rank + p - 1) % p;
    int in = value(task, round, rank, 0), out = -1;
    MPI_Request request;
    MPI_Ibarrier(task->comm, &request);
    if (rank % 2 == 0) {
        MPI_Send(&in, 1, MPI_INT, right, 1, task->comm);
        MPI_Recv(&out, 1, MPI_INT, left, 1, task->comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&out, 1, MPI_INT, left, 1, task->comm, MPI_STATUS_IGNORE);
        MPI_Send(&in, 1, MPI_INT, right, 1, task->comm);
    }
    check(task, out, value(task, round, left, 0), "message", round);
    MPI_Sendrecv(&in, 1, MPI_INT, left, 2, &out, 1, MPI_INT, right, 2, task->comm,
                 MPI_STATUS_IGNORE);
    check(task, out, value(task, round, right, 0), "message back", round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void *work(void *argument)
{
    struct task *task = argument;
    const MPI_Comm base = task->comm;
    const MPI_Aint bytes = (MPI_Aint)((size_t)(p + 4) * ELEMENTS * sizeof(int));
    for (int round = 0; round < task->rounds; round++) {
        int *in, *out;
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &in);
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &out);
        if (round % 5 == 0) { /* the other threads do the same now */
            if (round > 0)
                MPI_Comm_free(&task->comm);
            if (round % 2)
                MPI_Comm_dup(base, &task->comm);
            else
                MPI_Comm_split(base, 0, rank, &task->comm);
        }
        blocking(task, round, in, out);
        nonblocking(task, round, in, out);
        user_operator(task, round);
        if (task->number == 0)
            messages(task, round);
        MPI_Free_mem(in);
        MPI_Free_mem(out);
    }
    MPI_Comm_free(&task->comm);
    task->comm = base;
    return NULL;
}

/* ---- a thread that waits for a message moves the collectives of others on ------------------- */

static void *receive(void *argument)
{
    struct task *task = argument;
    int got = 0;
    MPI_Recv(&got, 1, MPI_INT, p - 1, 3, task->comm, MPI_STATUS_IGNORE);
    check(task, got, 12345, "message to a thread", 0);
    return NULL;
}

static void progress_by_another(struct task *task)
{
    const struct timespec moment = {0, 50000000};
    int *data = calloc(LARGE, sizeof *data), sent = 12345;
    MPI_Comm other;
    MPI_Request request;
    pthread_t thread;
    MPI_Comm_dup(task->comm, &other);
    if (rank == 0) {
        pthread_create(&thread, NULL, receive, task);
        nanosleep(&moment, NULL); /* until it waits */
    }
    data[LARGE - 1] = rank + 1;
    MPI_Iallreduce(MPI_IN_PLACE, data, LARGE, MPI_INT, MPI_SUM, other, &request);
    if (rank == 0)
        pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(task, data[LARGE - 1], p * (p + 1) / 2, "progress by another thread", 0);
    if (rank == p - 1)
        MPI_Send(&sent, 1, MPI_INT, 0, 3, task->comm);
    MPI_Comm_free(&other);
    free(data);
}

/* ---- a thread frees what another one's collective needs ------------------------------------- */

static struct {
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    int under_way; /* the operator was called, so the collective has begun */
} shared;

static void add_wide(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[2 * i] += ((int *)in)[2 * i];
    __atomic_store_n(&shared.under_way, 1, __ATOMIC_RELEASE);
}

static void *free_shared(void *argument)
{
    while (!__atomic_load_n(&shared.under_way, __ATOMIC_ACQUIRE))
        sched_yield();
    MPI_Type_free(&shared.type);
    MPI_Op_free(&shared.op);
    for (int i = 2; i < p; i++)
        MPI_Send(NULL, 0, MPI_BYTE, i, 4, shared.comm);
    return argument;
}

/* Rank 1 adds its data to those of rank 0 while the others have not begun. */
static void freed_by_another(struct task *task)
{
    enum { TIMES = 40, FEW = 20000 };
    int *in = calloc(2 * FEW, sizeof *in), *out = calloc(2 * FEW, sizeof *out);
    for (int round = 0; round < TIMES; round++) {
        MPI_Datatype type;
        MPI_Op op;
        pthread_t thread;
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
        MPI_Type_commit(&type);
        MPI_Op_create(add_wide, 1, &op);
        shared.type = type;
        shared.op = op;
        shared.comm = task->comm;
        shared.under_way = rank != 1;
        for (int i = 0; i < 2 * FEW; i++)
            in[i] = i + rank;
        if (rank == 1)
            pthread_create(&thread, NULL, free_shared, NULL);
        else if (rank > 1)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 4, task->comm, MPI_STATUS_IGNORE);
        MPI_Scan(in, out, FEW, type, op, task->comm);
        check(task, out[2 * FEW - 2], (rank + 1) * (2 * FEW - 2) + rank * (rank + 1) / 2,
              "scan whose type is freed", round);
        if (rank == 1) {
            pthread_join(thread, NULL);
        } else {
            MPI_Type_free(&type);
            MPI_Op_free(&op);
        }
    }
    free(in);
    free(out);
}

static void run(int rounds)
{
    struct task tasks[THREADS];
    pthread_t threads[THREADS];
    long mine[2] = {0, 0}, all[2];
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (struct task){.number = i, .rounds = rounds};
        MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &tasks[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (p > 1)
        progress_by_another(&tasks[0]);
    if (p > 2)
        freed_by_another(&tasks[0]);
    for (int i = 0; i < THREADS; i++) {
        mine[0] += tasks[i].checks;
        mine[1] += tasks[i].failures;
        MPI_Comm_free(&tasks[i].comm);
    }
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("threads: %ld checks, %ld failed\n", all[0], all[1]);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE};
    const int rounds = argc > 2 ? atoi(argv[2]) : 20;
    int wanted = 0, provided = -1, queried = -1;
    while (wanted < 4 && (argc < 2 || strcmp(argv[1], names[wanted]) != 0))
        wanted++;
    if (wanted == 4) {
        fprintf(stderr, "usage: threads single | funneled | serialized | multiple [ROUNDS]\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, levels[wanted], &provided);
    MPI_Query_thread(&queried);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (rank == 0)
        for (int i = 0; i < 4; i++)
            if (levels[i] == provided)
                printf("threads: asked for %s: %s%s\n", names[wanted], names[i],
                       queried == provided ? "" : ", but MPI_Query_thread differs");
    if (wanted == 3 && provided == MPI_THREAD_MULTIPLE && rounds > 0)
        run(rounds);
    MPI_Finalize();
    return 0;
}
