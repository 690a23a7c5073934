/* bench/mpi/collectives.c — MPI's collectives with and without the layer, in one job
 *
 *   LD_PRELOAD=…/libcollmpi.so mpiexec -n 2 ./collectives [--only allreduce,bcast] [--rounds 15]
 *
 * For each collective and size, calls of MPI_X (the layer's) and PMPI_X (the library's own) take
 * turns. Each call is timed by itself, behind a barrier of the library, as the OSU benchmarks do;
 * the time of a call is that of the slowest rank. Buffers go round among several, and are
 * written anew before each round, as data that nobody touches between calls flatters copies.
 *
 * Prints CSV: library, ranks, collective, bytes (of the vector, or of one block), median
 * microseconds with the layer and without, median of the ratios without/with: above 1, the
 * layer is faster.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 4 << 20, BUFFERS = 4, ROUNDS_MOST = 101 };

static MPI_Comm world, ring; /* ring: each rank and the one after it are neighbours */
static int rank, p;
static int *counts, *displs;
static MPI_Datatype *types;
static float *in[BUFFERS], *out[BUFFERS];

/* ---- what is measured -------------------------------------------------------------------- */

/* Runs the call of the library's own or of the layer; n: elements, a: buffers. */
typedef int (*runner)(bool own, int n, const float *a, float *b);

#define RUN(name, call, ...)                                                                   \
    static int run_##name(bool own, int n, const float *a, float *b)                           \
    {                                                                                          \
        (void)n;                                                                               \
        (void)a;                                                                               \
        (void)b;                                                                               \
        return own ? PMPI_##call(__VA_ARGS__) : MPI_##call(__VA_ARGS__);                       \
    }

#define F MPI_FLOAT
RUN(barrier, Barrier, world)
RUN(bcast, Bcast, b, n, F, 0, world)
RUN(reduce, Reduce, a, b, n, F, MPI_SUM, 0, world)
RUN(allreduce, Allreduce, a, b, n, F, MPI_SUM, world)
RUN(gather, Gather, a, n, F, b, n, F, 0, world)
RUN(gatherv, Gatherv, a, n, F, b, counts, displs, F, 0, world)
RUN(scatter, Scatter, a, n, F, b, n, F, 0, world)
RUN(scatterv, Scatterv, a, counts, displs, F, b, n, F, 0, world)
RUN(allgather, Allgather, a, n, F, b, n, F, world)
RUN(allgatherv, Allgatherv, a, n, F, b, counts, displs, F, world)
RUN(alltoall, Alltoall, a, n, F, b, n, F, world)
RUN(alltoallv, Alltoallv, a, counts, displs, F, b, counts, displs, F, world)
RUN(alltoallw, Alltoallw, a, counts, displs, types, b, counts, displs, types, world)
RUN(reduce_scatter, Reduce_scatter, a, b, counts, F, MPI_SUM, world)
RUN(reduce_scatter_block, Reduce_scatter_block, a, b, n, F, MPI_SUM, world)
RUN(scan, Scan, a, b, n, F, MPI_SUM, world)
RUN(exscan, Exscan, a, b, n, F, MPI_SUM, world)
RUN(neighbor_allgather, Neighbor_allgather, a, n, F, b, n, F, ring)
RUN(neighbor_alltoall, Neighbor_alltoall, a, n, F, b, n, F, ring)

/* How many blocks of `n` elements a buffer has. */
enum { ONE, ALL, SHARED_OUT /* the vector is cut into blocks of n/p */ };

static const struct {
    const char *name;
    runner run;
    int blocks;
    bool sizes; /* it has data */
    bool bytes; /* displacements are bytes */
} collectives[] = {
    {"barrier", run_barrier, ONE, false, false},
    {"bcast", run_bcast, ONE, true, false},
    {"reduce", run_reduce, ONE, true, false},
    {"allreduce", run_allreduce, ONE, true, false},
    {"gather", run_gather, ALL, true, false},
    {"gatherv", run_gatherv, ALL, true, false},
    {"scatter", run_scatter, ALL, true, false},
    {"scatterv", run_scatterv, ALL, true, false},
    {"allgather", run_allgather, ALL, true, false},
    {"allgatherv", run_allgatherv, ALL, true, false},
    {"alltoall", run_alltoall, ALL, true, false},
    {"alltoallv", run_alltoallv, ALL, true, false},
    {"alltoallw", run_alltoallw, ALL, true, true},
    {"reduce_scatter", run_reduce_scatter, SHARED_OUT, true, false},
    {"reduce_scatter_block", run_reduce_scatter_block, SHARED_OUT, true, false},
    {"scan", run_scan, ONE, true, false},
    {"exscan", run_exscan, ONE, true, false},
    {"neighbor_allgather", run_neighbor_allgather, ALL, true, false},
    {"neighbor_alltoall", run_neighbor_alltoall, ALL, true, false},
};
enum { COLLECTIVES = sizeof collectives / sizeof collectives[0] };

/* ---- measuring --------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const double *values, int n)
{
    double sorted[ROUNDS_MOST];
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return sorted[n / 2];
}

/* Mean time of so many calls on the slowest rank, in µs. */
static double timed(runner run, bool own, int n, int calls)
{
    double total = 0, slowest;
    for (int i = 0; i < calls; i++) {
        double begin;
        PMPI_Barrier(world);
        begin = PMPI_Wtime();
        run(own, n, in[i % BUFFERS], out[i % BUFFERS]);
        total += PMPI_Wtime() - begin;
    }
    PMPI_Allreduce(&total, &slowest, 1, MPI_DOUBLE, MPI_MAX, world);
    return slowest / calls * 1e6;
}

static void measure(int which, size_t bytes, int rounds, const char *library)
{
    const int blocks = collectives[which].blocks;
    const int vector = (int)(bytes / sizeof(float)) > 0 ? (int)(bytes / sizeof(float)) : 1;
    const int n = blocks == SHARED_OUT ? (vector + p - 1) / p : vector;
    const size_t written = (blocks == ONE ? 1 : (size_t)p) * (size_t)n;
    double with[ROUNDS_MOST], without[ROUNDS_MOST], ratio[ROUNDS_MOST], once;
    int calls;
    for (int i = 0; i < p; i++) {
        counts[i] = n;
        displs[i] = i * n * (collectives[which].bytes ? (int)sizeof(float) : 1);
    }
    once =
        timed(collectives[which].run, true, n, 3) + timed(collectives[which].run, false, n, 3);
    calls = once > 20000 ? 1 : (int)(20000 / (once + 20)) + 1; /* 20 ms a round at most */
    PMPI_Bcast(&calls, 1, MPI_INT, 0, world);
    for (int round = 0; round < rounds; round++) {
        for (int b = 0; b < BUFFERS; b++)
            for (size_t k = 0; k < written; k++)
                in[b][k] = out[b][k] = (float)((k + (size_t)round) % 7);
        for (int turn = 0; turn < 2; turn++) {
            const bool own = (turn + round) % 2 == 0;
            *(own ? &without[round] : &with[round]) =
                timed(collectives[which].run, own, n, calls);
        }
        ratio[round] = without[round] / with[round];
    }
    if (rank == 0) {
        printf("%s,%d,%s,%zu,%.3f,%.3f,%.3f\n", library, p, collectives[which].name, bytes,
               median(with, rounds), median(without, rounds), median(ratio, rounds));
        fflush(stdout);
    }
}

/* ---- the program ------------------------------------------------------------------------- */

static bool in_list(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    return !list;
}

static int begin(int argc, char **argv, const char **only, const char **library)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    const int weights[2] = {1, 1};
    int length, rounds = 15, neighbors[2];
    *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
            *only = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0) {
            rounds = atoi(argv[++i]);
        } else {
            rounds = 0;
        }
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (rounds < 1 || rounds > ROUNDS_MOST || (int (*)(MPI_Comm))MPI_Barrier == PMPI_Barrier) {
        if (rank == 0)
            fprintf(stderr, rounds < 1 || rounds > ROUNDS_MOST
                                ? "collectives [--only NAME,NAME…] [--rounds 1..101]\n"
                                : "collectives: run it with LD_PRELOAD=…/libcollmpi.so, as "
                                  "without the layer there is nothing to compare\n");
        return 0;
    }
    MPI_Get_library_version(version, &length);
    *library = strstr(version, "Open MPI") ? "openmpi" : "mpich";
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    neighbors[0] = (rank + p - 1) % p;
    neighbors[1] = (rank + 1) % p;
    MPI_Dist_graph_create_adjacent(world, 2, neighbors, weights, 2, neighbors, weights,
                                   MPI_INFO_NULL, 0, &ring);
    return rounds;
}

int main(int argc, char **argv)
{
    const char *only, *library;
    int rounds;
    MPI_Init(&argc, &argv);
    rounds = begin(argc, argv, &only, &library);
    if (rounds == 0) {
        MPI_Finalize();
        return 2;
    }
    counts = malloc((size_t)p * sizeof *counts);
    displs = malloc((size_t)p * sizeof *displs);
    types = malloc((size_t)p * sizeof *types);
    for (int i = 0; i < p; i++)
        types[i] = MPI_FLOAT;
    for (int b = 0; b < BUFFERS; b++) {
        in[b] = malloc((size_t)LARGEST * (size_t)(p < 2 ? 2 : p));
        out[b] = malloc((size_t)LARGEST * (size_t)(p < 2 ? 2 : p));
    }
    if (rank == 0)
        printf("library,ranks,collective,bytes,layer_us,library_us,ratio\n");
    for (int which = 0; which < COLLECTIVES; which++)
        for (size_t bytes = 8; bytes <= LARGEST && in_list(only, collectives[which].name);
             bytes *= 8) {
            measure(which, collectives[which].sizes ? bytes : 0, rounds, library);
            if (!collectives[which].sizes)
                break;
        }
    MPI_Comm_free(&ring);
    MPI_Comm_free(&world);
    for (int b = 0; b < BUFFERS; b++) {
        free(in[b]);
        free(out[b]);
    }
    free(counts);
    free(displs);
    free(types);
    MPI_Finalize();
    return 0;
}
