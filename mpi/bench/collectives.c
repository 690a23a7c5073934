/* mpi/bench/collectives.c — MPI's collectives with and without the layer, in one job
 *
 *   LD_PRELOAD=…/libcollmpi.so mpiexec -n 2 ./collectives [--only allreduce,bcast] [--rounds 15]
 *       [--most 4194304]
 *
 * For each collective and size, calls of MPI_X (the layer's) and PMPI_X (the library's own) take
 * turns. Each call is timed by itself, behind a barrier of the library, as the OSU benchmarks do;
 * the time of a call is that of the slowest rank. Buffers go round among several, and are
 * written anew before each turn, as data that nobody touches between calls flatters copies. The
 * layer's are its own, as it may move them to huge pages.
 *
 * Prints CSV: library, ranks, collective, bytes (of the vector, or of one block), median
 * microseconds with the layer and without, median of the ratios without/with: above 1, the
 * layer is faster; and of a reduction of two ranks what the better exchange written by hand
 * over the same messages takes (0: there is none).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

/* Collectives of vectors that are cut into blocks, and those that have no blocks. */
enum {
    CUTS = COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    WHOLE = COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE) |
            COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN),
    BY_HAND = CUTS | COLL_BIT(COLL_ALLREDUCE)
};
enum { LARGEST = 4 << 20, BUFFERS = 4, ROUNDS_MOST = 101 };

static const size_t sizes[] = {8, 64, 512, 4096, 16384, 65536, 262144, 1048576, LARGEST};

/* Who takes turns; by hand (exchange.h), allreduce alone has a second way. */
enum contestant { LAYER, LIBRARY, WHOLE_BY_HAND, HALVES_BY_HAND };

/* Buffers: of the layer, and of the others. */
static struct {
    float *in[BUFFERS], *out[BUFFERS];
} memory[2];
static float *scratch;
static size_t most = LARGEST; /* bytes */

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

/* One call of a contestant. */
static void run(enum contestant who, coll_collective which, int n, const float *a, float *b)
{
    if (who == LAYER || who == LIBRARY)
        mpi_runners[which](who == LIBRARY, n, 0, a, b);
    else if (which != COLL_ALLREDUCE)
        exchange_blocks(a, b, scratch, n);
    else if (who == WHOLE_BY_HAND)
        exchange_whole(a, b, scratch, n);
    else
        exchange_halves(a, b, scratch, n);
}

/* Mean time of so many calls on the slowest rank, in µs. */
static double timed(enum contestant who, coll_collective which, int n, int calls)
{
    float **const in = memory[who != LAYER].in, **const out = memory[who != LAYER].out;
    double total = 0, slowest;
    for (int i = 0; i < calls; i++) {
        double begin;
        PMPI_Barrier(mpi.world);
        begin = PMPI_Wtime();
        run(who, which, n, in[i % BUFFERS], out[i % BUFFERS]);
        total += PMPI_Wtime() - begin;
    }
    PMPI_Allreduce(&total, &slowest, 1, MPI_DOUBLE, MPI_MAX, mpi.world);
    return slowest / calls * 1e6;
}

static void measure(coll_collective which, size_t bytes, int rounds, const char *library)
{
    const int vector = (int)(bytes / sizeof(float)) > 0 ? (int)(bytes / sizeof(float)) : 1;
    const int n = (COLL_BIT(which) & CUTS) ? (vector + mpi.p - 1) / mpi.p : vector;
    const size_t written = (size_t)n * (COLL_BIT(which) & WHOLE ? 1 : (size_t)mpi.p);
    const bool by_hand = mpi.p == 2 && (COLL_BIT(which) & BY_HAND) && vector % 2 == 0;
    const int contestants = !by_hand ? LIBRARY + 1 : which == COLL_ALLREDUCE ? 4 : 3;
    double time[4][ROUNDS_MOST], ratio[ROUNDS_MOST], once;
    int calls;
    mpi_blocks(n);
    once = timed(LIBRARY, which, n, 3) + timed(LAYER, which, n, 3);
    calls = once > 20000 ? 1 : (int)(20000 / (once + 20)) + 1; /* 20 ms a round at most */
    PMPI_Bcast(&calls, 1, MPI_INT, 0, mpi.world);
    for (int round = 0; round < rounds; round++) {
        for (int turn = 0; turn < contestants; turn++) {
            const int who = (turn + round) % contestants;
            float **const in = memory[who != LAYER].in, **const out = memory[who != LAYER].out;
            for (int b = 0; b < BUFFERS; b++)
                for (size_t k = 0; k < written; k++)
                    in[b][k] = out[b][k] = (float)((k + (size_t)round) % 7);
            time[who][round] = timed((enum contestant)who, which, n, calls);
        }
        ratio[round] = time[LIBRARY][round] / time[LAYER][round];
    }
    if (mpi.rank == 0) {
        double best = 0;
        for (int who = WHOLE_BY_HAND; who < contestants; who++) {
            const double middle = median(time[who], rounds);
            best = best > 0 && best < middle ? best : middle;
        }
        printf("%s,%d,%s,%zu,%.3f,%.3f,%.3f,%.3f\n", library, mpi.p,
               coll_collective_name(which), bytes, median(time[LAYER], rounds),
               median(time[LIBRARY], rounds), median(ratio, rounds), best);
        fflush(stdout);
    }
}

/* Both send all of their memory, a few times: pages are there then, and known to the network, or larger,
 * as in a program that runs for long. */
static void touch(void)
{
    const size_t step = LARGEST / sizeof(float), end = step * (size_t)(mpi.p < 2 ? 2 : mpi.p);
    mpi_blocks((int)step);
    for (int pass = 0; pass < 3; pass++)
        for (int b = 0; b < BUFFERS; b++)
            for (int who = LAYER; who <= LIBRARY; who++) {
                float *const in = memory[who].in[b], *const out = memory[who].out[b];
                for (size_t at = 0; at < end; at += step) {
                    mpi_neighbor_allgather(who == LIBRARY, (int)step, 0, in + at, out);
                    mpi_neighbor_allgather(who == LIBRARY, (int)step, 0, out + at, in);
                }
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
    int length, rounds = 15;
    *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
            *only = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0) {
            rounds = atoi(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--most") == 0) {
            most = strtoul(argv[++i], NULL, 10);
        } else {
            rounds = 0;
        }
    }
    mpi_begin();
    if (rounds < 1 || rounds > ROUNDS_MOST || most < 1 || most > LARGEST ||
        (int (*)(MPI_Comm))MPI_Barrier == PMPI_Barrier) {
        if (mpi.rank == 0)
            fprintf(stderr, (int (*)(MPI_Comm))MPI_Barrier != PMPI_Barrier
                                ? "collectives [--only NAME,NAME…] [--rounds 1..101] "
                                  "[--most BYTES, up to 4194304]\n"
                                : "collectives: run it with LD_PRELOAD=…/libcollmpi.so, as "
                                  "without the layer there is nothing to compare\n");
        return 0;
    }
    MPI_Get_library_version(version, &length);
    *library = strstr(version, "Open MPI") ? "openmpi" : "mpich";
    return rounds;
}

int main(int argc, char **argv)
{
    const char *only, *library;
    int rounds;
    MPI_Init(&argc, &argv);
    rounds = begin(argc, argv, &only, &library);
    if (rounds == 0) {
        mpi_end();
        MPI_Finalize();
        return 2;
    }
    for (int b = 0; b < 2 * BUFFERS; b++) {
        const size_t bytes = (size_t)LARGEST * (size_t)(mpi.p < 2 ? 2 : mpi.p);
        memory[b / BUFFERS].in[b % BUFFERS] = calloc(bytes, 1);
        memory[b / BUFFERS].out[b % BUFFERS] = calloc(bytes, 1);
    }
    scratch = malloc(LARGEST);
    if (most == LARGEST)
        touch();
    if (mpi.rank == 0)
        printf("library,ranks,collective,bytes,layer_us,library_us,ratio,by_hand_us\n");
    for (unsigned which = 0; which < COLL_COLLECTIVES; which++) {
        const coll_collective what = (coll_collective)which;
        if (!in_list(only, coll_collective_name(what)))
            continue;
        if (what == COLL_BARRIER)
            measure(what, 0, rounds, library);
        for (size_t i = 0; what != COLL_BARRIER && i < sizeof sizes / sizeof *sizes; i++)
            if (sizes[i] <= most)
                measure(what, sizes[i], rounds, library);
    }
    for (int b = 0; b < 2 * BUFFERS; b++) {
        free(memory[b / BUFFERS].in[b % BUFFERS]);
        free(memory[b / BUFFERS].out[b % BUFFERS]);
    }
    free(scratch);
    mpi_end();
    MPI_Finalize();
    return 0;
}
