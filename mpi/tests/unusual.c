/* mpi/tests/unusual.c — what programs seldom do, but may
 *
 *   mpiexec -n 2 unusual
 *
 * A collective that does not block is under way, and the ranks that it needs are in a call that makes
 * or ends communicators, or waits for a message; arguments that are not looked at; collectives in
 * callbacks.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

enum { COUNT = 1 << 20, MOST = 64 };

static int rank, p, *data;

/* ---- while a collective is under way --------------------------------------------------------- */

static MPI_Comm half, inter, made;

static void creates_of_group(MPI_Comm from)
{
    MPI_Group group;
    MPI_Comm_group(from, &group);
    MPI_Comm_create_group(from, group, 3, &made);
    MPI_Group_free(&group);
}

static void creates_inter(MPI_Comm from)
{
    MPI_Intercomm_create(half, 0, from, 1 - rank % 2, 7, &made);
}

static void merges(MPI_Comm from)
{
    (void)from;
    MPI_Intercomm_merge(inter, rank % 2, &made);
}

static void doubles_inter(MPI_Comm from)
{
    (void)from;
    MPI_Comm_dup(inter, &made);
}

static void splits_inter(MPI_Comm from)
{
    (void)from;
    MPI_Comm_split(inter, 0, rank, &made);
}

static void disconnects(MPI_Comm from)
{
    MPI_Comm mine;
    MPI_Comm_dup(from, &mine);
    MPI_Comm_disconnect(&mine);
}

#if MPI_VERSION >= 4
/* From all to the first one, and back: in calls that wait. */
static void sends_large_counts(MPI_Comm from)
{
    const int first = rank == 0, next = (rank + 1) % p, last = (rank + p - 1) % p;
    int word = rank, got = -1;
    MPI_Sendrecv_c(&word, 1, MPI_INT, next, 0, &got, 1, MPI_INT, last, 0, from,
                   MPI_STATUS_IGNORE);
    CHECK_EQ(got, last);
    MPI_Sendrecv_replace_c(&got, 1, MPI_INT, last, 0, next, 0, from, MPI_STATUS_IGNORE);
    CHECK_EQ(got, rank);
    for (int i = 1; i < p; i++)
        if (first)
            MPI_Recv_c(&got, 1, MPI_INT, i, 0, from, MPI_STATUS_IGNORE);
    if (!first)
        MPI_Ssend_c(&word, 1, MPI_INT, 0, 0, from);
    for (int i = 1; i < p; i++)
        if (first)
            MPI_Ssend_c(&word, 1, MPI_INT, i, 0, from);
    if (!first)
        MPI_Recv_c(&got, 1, MPI_INT, 0, 0, from, MPI_STATUS_IGNORE);
}
#endif

/* The root waits for its broadcast afterwards, the others before. */
static void while_broadcasting(void (*does)(MPI_Comm), const char *what)
{
    for (int root = 0; root < 2; root++) {
        MPI_Request request;
        for (int i = 0; i < COUNT; i++)
            data[i] = rank == root ? i + root : -1;
        MPI_Ibcast(data, COUNT, MPI_INT, root, MPI_COMM_WORLD, &request);
        if (rank != root)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        made = MPI_COMM_NULL;
        does(MPI_COMM_WORLD);
        if (rank == root)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (!CHECK_EQ(data[COUNT - 1], COUNT - 1 + root))
            printf("    %s\n", what);
        if (made != MPI_COMM_NULL)
            MPI_Comm_free(&made);
    }
}

TEST(under_way)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    while_broadcasting(creates_of_group, "MPI_Comm_create_group");
    while_broadcasting(creates_inter, "MPI_Intercomm_create");
    while_broadcasting(merges, "MPI_Intercomm_merge");
    while_broadcasting(doubles_inter, "MPI_Comm_dup of an intercommunicator");
    while_broadcasting(splits_inter, "MPI_Comm_split of an intercommunicator");
    while_broadcasting(disconnects, "MPI_Comm_disconnect");
#if MPI_VERSION >= 4
    while_broadcasting(sends_large_counts, "messages of large counts");
#endif
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Each group has its own tag, and ranks that are in none do not take part. */
TEST(groups_of_some)
{
    int firsts[1][3] = {{0, p - 1, 1}}, sum = 0;
    MPI_Group world, some;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int step = 1; step < 4; step++) {
        firsts[0][2] = step;
        firsts[0][0] = rank % step;
        MPI_Group_range_incl(world, 1, firsts, &some);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 100000 * step + rank % step, &comm);
        MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQ(sum, step * ((p - 1 - rank % step) / step + 1));
        MPI_Comm_free(&comm);
        MPI_Group_free(&some);
    }
    MPI_Group_free(&world);
}

/* ---- intercommunicators ------------------------------------------------------------------ */

TEST(intercommunicators)
{
    int one = 1, sum = 0, there = 0;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    MPI_Comm_remote_size(inter, &there);
    MPI_Barrier(inter);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, there);
    sum = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(sum, there);
    CHECK_EQ(MPI_Comm_free(&inter), MPI_SUCCESS);
    MPI_Comm_free(&half);
}

/* ---- what is not looked at --------------------------------------------------------------- */

/* The whole of a rooted collective is the root's; the others may give anything. */
TEST(buffers_of_others)
{
    int counts[MOST], displs[MOST], all[MOST], mine = rank + 1, got = -1;
    const int root = p - 1;
    void *const whole = rank == root ? all : MPI_IN_PLACE;
    for (int i = 0; i < p; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    for (int again = 0; again < 3; again++) {
        MPI_Reduce(&mine, rank == root ? &got : MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, root,
                   MPI_COMM_WORLD);
        CHECK(rank != root || got == p * (p + 1) / 2);
        memset(all, 0, sizeof all);
        MPI_Gather(&mine, 1, MPI_INT, whole, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(rank != root || (all[0] == 1 && all[root] == p));
        memset(all, 0, sizeof all);
        MPI_Gatherv(&mine, 1, MPI_INT, whole, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(rank != root || (all[0] == 1 && all[root] == p));
        got = -1;
        MPI_Scatter(whole, 1, MPI_INT, &got, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK_EQ(got, rank + 1);
        got = -1;
        MPI_Scatterv(whole, counts, displs, MPI_INT, &got, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK_EQ(got, rank + 1);
    }
}

/* In tables MPICH does not look at types of nothing, here of one rank. */
#ifdef MPICH_VERSION
TEST(types_of_nothing)
{
    int to[MOST] = {0}, from[MOST] = {0}, displs[MOST] = {0}, got;
    const int next = (rank + 1) % p, last = (rank + p - 1) % p;
    MPI_Datatype in[MOST], out[MOST];
    for (int i = 0; i < p; i++)
        in[i] = out[i] = rank == 0 ? MPI_DATATYPE_NULL : MPI_INT;
    to[next] = from[last] = 1;
    in[next] = out[last] = MPI_INT;
    for (int again = 0; again < 3; again++) {
        got = -1;
        MPI_Alltoallw(&rank, to, displs, in, &got, from, displs, out, MPI_COMM_WORLD);
        CHECK_EQ(got, last);
    }
}
#endif

/* Elements of which a part is combined are copied as a whole. */
struct wide {
    double sum;
    char rest[100000];
};

static void add_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct wide *a = in;
    struct wide *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        const double sum = a[i].sum + b[i].sum;
        b[i] = a[i];
        b[i].sum = sum;
    }
}

TEST(operators_that_copy_gaps)
{
    enum { FEW = 3 };
    struct wide *in = calloc(FEW, sizeof *in), *out = calloc(FEW, sizeof *out);
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_create_resized(MPI_DOUBLE, 0, sizeof *in, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_first, 1, &op);
    for (int i = 0; i < FEW; i++)
        in[i].sum = i + rank;
    MPI_Allreduce(in, out, FEW, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < FEW; i++)
        CHECK_EQ(out[i].sum, p * i + p * (p - 1) / 2);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(in);
    free(out);
}

/* ---- callbacks --------------------------------------------------------------------------- */

/* Of a communicator that is being freed: it is still there. */
static int says_goodbye(MPI_Comm comm, int key, void *value, void *extra)
{
    int one = 1, sum = 0;
    MPI_Request request;
    (void)key;
    (void)extra;
    MPI_Barrier(comm);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(sum, p);
    ++*(int *)value;
    return MPI_SUCCESS;
}

/* More often than there are communicators at a time. */
TEST(delete_functions)
{
    enum { TIMES = 2500 };
    MPI_Comm comm;
    int key, called = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, says_goodbye, &key, NULL);
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_attr(comm, key, &called);
        MPI_Comm_free(&comm);
    }
    CHECK_EQ(called, TIMES);
    MPI_Comm_free_keyval(&key);
}

/* What cannot be freed stays as it is. */
TEST(world_stays)
{
    int sum = 0;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0)
        CHECK(MPI_Comm_free(&world) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, p * (p - 1) / 2);
}

static MPI_Comm late[2];
static void *memory;

/* At the beginning of MPI_Finalize. */
static int cleans_up(MPI_Comm comm, int key, void *value, void *extra)
{
    int one = 1, sum = 0;
    MPI_Comm made_late;
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, late[0]);
    CHECK_EQ(sum, p);
    MPI_Comm_dup(MPI_COMM_WORLD, &made_late);
    MPI_Barrier(made_late);
    MPI_Comm_free(&made_late);
    MPI_Comm_free(&late[0]);
    MPI_Comm_free(&late[1]);
    memset(memory, 1, COUNT);
    MPI_Free_mem(memory);
    return MPI_SUCCESS;
}

TEST(end)
{
    int key, counts[MOST], displs[MOST], *gathered = calloc((size_t)p * 6000, sizeof(int));
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, cleans_up, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_dup(MPI_COMM_WORLD, &late[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &late[1]);
    MPI_Alloc_mem(COUNT, MPI_INFO_NULL, &memory);
    for (int i = 0; i < p; i++) {
        counts[i] = 5000;
        displs[i] = i * 6000;
    }
    MPI_Allgatherv(data, 5000, MPI_INT, gathered, counts, displs, MPI_INT, late[1]);
    MPI_Allgatherv(data, 5000, MPI_INT, gathered, counts, displs, MPI_INT, late[1]);
    CHECK_EQ(gathered[p * 6000 - 1001], data[4999]);
    free(gathered);
}

/* The standard has no sum of MPI_CHAR; libraries and benchmarks have. The script sees that coll's, too, has. */
TEST(sums_of_characters)
{
    enum { N = 1009 };
    static char in[N], sum[N], most[N];
    bool same = true;
    for (int i = 0; i < N; i++)
        in[i] = (char)(i % 5 - 2 * rank);
    CHECK_EQ(MPI_Allreduce(in, sum, N, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(MPI_Allreduce(in, most, N, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        same = same && sum[i] == (char)(p * (i % 5) - p * (p - 1)) && most[i] == (char)(i % 5);
    CHECK(same);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    data = calloc(COUNT, sizeof *data);
    if (p > 1) {
        RUN(under_way);
        RUN(intercommunicators);
    }
    RUN(groups_of_some);
    RUN(buffers_of_others);
#ifdef MPICH_VERSION
    RUN(types_of_nothing);
#endif
    RUN(operators_that_copy_gaps);
    RUN(sums_of_characters);
    RUN(delete_functions);
    RUN(world_stays);
    RUN(end);
    MPI_Finalize();
    free(data);
    return check_done();
}
