/* mpi/tests/refusals.c — bad arguments: what a call says of them, and to whom
 *
 *   mpiexec -n 2 refusals
 *
 * Each collective, in all its forms, is called as MPI and as PMPI with one argument that is wrong on all
 * ranks. With a layer preloaded, both have to return an error of the same class, after the same calls of
 * the communicator's error handler; afterwards the communicator works.
 */
#include <mpi.h>
#include <string.h>

#include "support/check.h"

enum { BLOCKS = 8 };

static int rank, p;
static MPI_Comm comm;

/* What was told to the handler. */
static struct told {
    int calls, of_comm, class_of;
} told;

static void handler(MPI_Comm *of, int *code, ...)
{
    told.calls++;
    told.of_comm += *of == comm;
    MPI_Error_class(*code, &told.class_of);
}

/* The arguments; one of them is wrong. */
static struct arguments {
    int count, root;
    MPI_Datatype type;
    MPI_Op op;
    int counts[BLOCKS], displs[BLOCKS];
    MPI_Aint far_displs[BLOCKS];
    MPI_Datatype types[BLOCKS];
} with;

static int in[BLOCKS], out[BLOCKS];

static void right(void)
{
    with.count = 1;
    with.root = 0;
    with.type = MPI_INT;
    with.op = MPI_SUM;
    for (int i = 0; i < BLOCKS; i++) {
        with.counts[i] = 1;
        with.displs[i] = i;
        with.far_displs[i] = i * (MPI_Aint)sizeof(int);
        with.types[i] = MPI_INT;
    }
}

static const char *wrong; /* which */

/* One answer of a call: its error's class, and what the handler was told. */
struct answer {
    int class_of;
    struct told told;
};

static struct answer answer(int error)
{
    struct answer a;
    MPI_Error_class(error, &a.class_of);
    a.told = told;
    memset(&told, 0, sizeof told);
    return a;
}

static void compare(const char *call, struct answer library, struct answer layer)
{
    if (!CHECK(memcmp(&library, &layer, sizeof library) == 0))
        printf("    %s with a wrong %s: class %d after %d calls of the handler, with class %d; "
               "by the "
               "library: class %d after %d, with class %d\n",
               call, wrong, layer.class_of, layer.told.calls, layer.told.class_of,
               library.class_of, library.told.calls, library.told.class_of);
}

static void give_up(int error, MPI_Request *request)
{
    if (error == MPI_SUCCESS && *request != MPI_REQUEST_NULL)
        PMPI_Wait(request, MPI_STATUS_IGNORE);
}

/* The calls of one collective. */
#if MPI_VERSION >= 4
#define PERSISTENT(Name, ...)                                                                  \
    do {                                                                                       \
        MPI_Request made = MPI_REQUEST_NULL, unused = MPI_REQUEST_NULL;                        \
        const int refused = PMPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &unused);           \
        const struct answer library = answer(refused);                                         \
        const int got = MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &made);                  \
        compare("MPI_" #Name "_init", library, answer(got));                                   \
        if (refused == MPI_SUCCESS)                                                            \
            PMPI_Request_free(&unused);                                                        \
        if (got == MPI_SUCCESS)                                                                \
            MPI_Request_free(&made);                                                           \
    } while (0)
#else
#define PERSISTENT(Name, ...) (void)0
#endif

#define CALLS(Name, iname, ...)                                                                \
    do {                                                                                       \
        MPI_Request mine = MPI_REQUEST_NULL, theirs = MPI_REQUEST_NULL;                        \
        const struct answer blocking = answer(PMPI_##Name(__VA_ARGS__));                       \
        compare("MPI_" #Name, blocking, answer(MPI_##Name(__VA_ARGS__)));                      \
        const int wanted = PMPI_I##iname(__VA_ARGS__, &theirs);                                \
        give_up(wanted, &theirs);                                                              \
        const struct answer nonblocking = answer(wanted);                                      \
        const int is = MPI_I##iname(__VA_ARGS__, &mine);                                       \
        if (is == MPI_SUCCESS)                                                                 \
            MPI_Wait(&mine, MPI_STATUS_IGNORE);                                                \
        compare("MPI_I" #iname, nonblocking, answer(is));                                      \
        PERSISTENT(Name, __VA_ARGS__);                                                         \
    } while (0)

enum { HAS_COUNT = 1, HAS_COUNTS = 2, HAS_ROOT, HAS_OP, HAS_TYPES };

/* What crashes in the library itself: MPICH 4.0.2, Open MPI 4.1.4. */
#ifdef MPICH_VERSION
enum { REDUCTIONS_LOOK_AT_COUNTS = 0, ALLGATHERV_LOOKS_AT_COUNTS = 1 };
#else
enum { REDUCTIONS_LOOK_AT_COUNTS = 1, ALLGATHERV_LOOKS_AT_COUNTS = 0 };
#endif

#define ONE          with.count, with.type
#define TABLE        with.counts, with.displs, with.type
#define IN_BY_TYPES  in, with.counts, with.displs, with.types
#define OUT_BY_TYPES out, with.counts, with.displs, with.types

/* Those collectives that have all the arguments of a kind. */
static void call_all(int kind)
{
    const bool count = kind == HAS_COUNT, counts = kind == HAS_COUNTS, root = kind == HAS_ROOT;
    const bool op = kind == HAS_OP, types = kind == HAS_TYPES, type = kind == 0;
    if (count || root || type)
        CALLS(Bcast, bcast, out, ONE, with.root, comm);
    if ((count && REDUCTIONS_LOOK_AT_COUNTS) || root || type || op)
        CALLS(Reduce, reduce, in, out, ONE, with.op, with.root, comm);
    if ((count && REDUCTIONS_LOOK_AT_COUNTS) || type || op) {
        CALLS(Allreduce, allreduce, in, out, ONE, with.op, comm);
        CALLS(Scan, scan, in, out, ONE, with.op, comm);
        CALLS(Exscan, exscan, in, out, ONE, with.op, comm);
        CALLS(Reduce_scatter_block, reduce_scatter_block, in, out, ONE, with.op, comm);
    }
    if (counts || type || op)
        CALLS(Reduce_scatter, reduce_scatter, in, out, with.counts, with.type, with.op, comm);
    if (count || root || type) {
        CALLS(Gather, gather, in, ONE, out, ONE, with.root, comm);
        CALLS(Scatter, scatter, in, ONE, out, ONE, with.root, comm);
    }
    if (root || type) {
        CALLS(Gatherv, gatherv, in, ONE, out, TABLE, with.root, comm);
        CALLS(Scatterv, scatterv, in, TABLE, out, ONE, with.root, comm);
    }
    if (count || type) {
        CALLS(Allgather, allgather, in, ONE, out, ONE, comm);
        CALLS(Alltoall, alltoall, in, ONE, out, ONE, comm);
    }
    if (counts || type) {
        if (type || ALLGATHERV_LOOKS_AT_COUNTS)
            CALLS(Allgatherv, allgatherv, in, ONE, out, TABLE, comm);
        CALLS(Alltoallv, alltoallv, in, TABLE, out, TABLE, comm);
    }
    if (counts || types)
        CALLS(Alltoallw, alltoallw, IN_BY_TYPES, OUT_BY_TYPES, comm);
}

static void works_afterwards(void)
{
    int sum = -1;
    CHECK_EQ(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(sum, p * (p - 1) / 2);
    CHECK_EQ(told.calls, 0);
}

TEST(counts)
{
    right();
    wrong = "count, -1";
    with.count = -1;
    call_all(HAS_COUNT);
    right();
    wrong = "entry of a table of counts, -1";
    for (int i = 0; i < BLOCKS; i++)
        with.counts[i] = -1;
    call_all(HAS_COUNTS);
    works_afterwards();
}

TEST(roots)
{
    const int no_ranks[] = {-1, p, 1000000, MPI_ROOT, MPI_PROC_NULL, MPI_ANY_SOURCE};
    right();
    wrong = "root";
    for (size_t i = 0; i < sizeof no_ranks / sizeof no_ranks[0]; i++) {
        with.root = no_ranks[i];
        call_all(HAS_ROOT);
    }
    works_afterwards();
}

TEST(operators)
{
    right();
    wrong = "operator, MPI_OP_NULL";
    with.op = MPI_OP_NULL;
    call_all(HAS_OP);
    wrong = "operator, a bitwise one of doubles";
    with.op = MPI_BAND;
    with.type = MPI_DOUBLE;
    call_all(HAS_OP);
    wrong = "operator, MPI_MAXLOC of ints";
    with.op = MPI_MAXLOC;
    with.type = MPI_INT;
    call_all(HAS_OP);
    works_afterwards();
}

TEST(types)
{
    MPI_Datatype open;
    right();
    wrong = "type, MPI_DATATYPE_NULL";
    with.type = MPI_DATATYPE_NULL;
    call_all(0);
    for (int i = 0; i < BLOCKS; i++)
        with.types[i] = MPI_DATATYPE_NULL;
    call_all(HAS_TYPES);
    right();
#ifdef OMPI_MAJOR_VERSION /* says so on some ranks alone, and the others wait */
    const bool refuses_open_ones = false;
#else
    const bool refuses_open_ones = true;
#endif
    wrong = "type, one that is not committed";
    MPI_Type_contiguous(1, MPI_INT, &open);
    with.type = open;
    if (refuses_open_ones)
        call_all(0);
    MPI_Type_free(&open);
    works_afterwards();
}

#ifdef OMPI_MAJOR_VERSION
/* MPICH crashes on such calls. Rooted ones by a rank alone: the others would send what nobody takes. */
TEST(tables)
{
    const int *const none = NULL;
    const MPI_Aint *const far_none = NULL;
    const MPI_Comm all = comm;
    int self[] = {0}, weight[] = {1};
    MPI_Comm alone, ring;
    right();
    wrong = "table, NULL";
    CALLS(Allgatherv, allgatherv, in, ONE, out, with.counts, none, with.type, comm);
    CALLS(Alltoallv, alltoallv, in, with.counts, none, with.type, out, TABLE, comm);
    CALLS(Alltoallv, alltoallv, in, TABLE, out, with.counts, none, with.type, comm);
    CALLS(Alltoallv, alltoallv, in, none, with.displs, with.type, out, TABLE, comm);
    CALLS(Alltoallw, alltoallw, in, with.counts, none, with.types, OUT_BY_TYPES, comm);
    CALLS(Alltoallw, alltoallw, IN_BY_TYPES, out, none, with.displs, with.types, comm);
    works_afterwards();
    MPI_Comm_split(all, rank, 0, &alone);
    MPI_Dist_graph_create_adjacent(alone, 1, self, weight, 1, self, weight, MPI_INFO_NULL, 0,
                                   &ring);
    comm = alone;
    CALLS(Gatherv, gatherv, in, ONE, out, with.counts, none, with.type, 0, comm);
    CALLS(Scatterv, scatterv, in, with.counts, none, with.type, out, ONE, 0, comm);
    comm = ring;
    CALLS(Neighbor_allgatherv, neighbor_allgatherv, in, ONE, out, with.counts, none, with.type,
          comm);
    CALLS(Neighbor_alltoallv, neighbor_alltoallv, in, with.counts, none, with.type, out, TABLE,
          comm);
    CALLS(Neighbor_alltoallw, neighbor_alltoallw, in, with.counts, far_none, with.types, out,
          with.counts, with.far_displs, with.types, comm);
    comm = all;
    MPI_Comm_free(&ring);
    MPI_Comm_free(&alone);
}
#endif

#ifdef MPICH_VERSION /* Open MPI crashes */
TEST(no_memory)
{
    int *const none = NULL;
    const int *const reads = NULL;
    right();
    wrong = "buffer, NULL";
    CALLS(Bcast, bcast, none, ONE, with.root, comm);
    CALLS(Allreduce, allreduce, reads, out, ONE, with.op, comm);
    CALLS(Allreduce, allreduce, in, none, ONE, with.op, comm);
    CALLS(Reduce_scatter, reduce_scatter, in, none, with.counts, with.type, with.op, comm);
    CALLS(Allgather, allgather, reads, ONE, out, ONE, comm);
    CALLS(Allgatherv, allgatherv, in, ONE, none, TABLE, comm);
    CALLS(Alltoall, alltoall, in, ONE, none, ONE, comm);
    works_afterwards();
}
#endif

/* What is read and what is written may not be the same; MPICH looks for that, in some collectives. */
TEST(one_buffer)
{
    const int *const reads = out;
    right();
    wrong = "buffer, the one that is read";
    CALLS(Allreduce, allreduce, reads, out, ONE, with.op, comm);
    CALLS(Scan, scan, reads, out, ONE, with.op, comm);
    CALLS(Exscan, exscan, reads, out, ONE, with.op, comm);
    CALLS(Reduce_scatter_block, reduce_scatter_block, reads, out, ONE, with.op, comm);
    CALLS(Allgather, allgather, reads + rank, ONE, out, ONE, comm);
    CALLS(Allgatherv, allgatherv, reads + rank, ONE, out, TABLE, comm);
    CALLS(Alltoall, alltoall, reads, ONE, out, ONE, comm);
    CALLS(Alltoallv, alltoallv, reads, TABLE, out, TABLE, comm);
    works_afterwards();
}

/* Two halves of one buffer are not one block, also if both are given by the same address: a rank that
 * left such a call to the library would leave the others waiting. */
TEST(halves)
{
    int buffer[2 * BLOCKS], numbers[BLOCKS], there[BLOCKS], other[2 * BLOCKS];
    MPI_Aint far_there[BLOCKS];
    int *const from = rank == 0 ? buffer : other, ring[] = {1 - rank}, weights[] = {1};
    MPI_Comm neighbors;
    right();
    for (int i = 0; i < BLOCKS; i++) {
        numbers[i] = with.counts[i];
        there[i] = BLOCKS + i;
        far_there[i] = there[i] * (MPI_Aint)sizeof(int);
        from[i] = 10 * rank + i;
        with.displs[i] = i * (int)sizeof(int);
    }
    MPI_Dist_graph_create_adjacent(comm, 1, ring, weights, 1, ring, weights, MPI_INFO_NULL, 0,
                                   &neighbors);
    buffer[BLOCKS] = -1;
    CHECK_EQ(MPI_Neighbor_alltoallw(from, with.counts, with.far_displs, with.types, buffer,
                                    numbers, far_there, with.types, neighbors),
             MPI_SUCCESS);
    CHECK_EQ(buffer[BLOCKS], 10 * (1 - rank));
    for (int i = 0; i < BLOCKS; i++)
        there[i] *= (int)sizeof(int);
    buffer[BLOCKS] = buffer[BLOCKS + 1] = -1;
    CHECK_EQ(MPI_Alltoallw(from, with.counts, with.displs, with.types, buffer, numbers, there,
                           with.types, comm),
             MPI_SUCCESS);
    for (int i = 0; i < p; i++)
        CHECK_EQ(buffer[BLOCKS + i], 10 * i + rank);
    MPI_Comm_free(&neighbors);
    works_afterwards();
}

int main(int argc, char **argv)
{
    MPI_Errhandler mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    RUN(counts);
    RUN(roots);
    RUN(operators);
    RUN(types);
#ifdef OMPI_MAJOR_VERSION
    RUN(tables);
#endif
#ifdef MPICH_VERSION
    RUN(no_memory);
#endif
    RUN(one_buffer);
    RUN(halves);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&mine);
    MPI_Finalize();
    return check_done();
}
