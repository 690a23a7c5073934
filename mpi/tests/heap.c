/* mpi/tests/heap.c — malloc of programs that run under libcollheap.so
 *
 *   mpiexec -n 4 heap
 *
 * Uses all functions of malloc's family as programs do, in one thread, in several, in a child and after
 * MPI_Finalize, and runs collectives on what they give. Prints what does not hold, and whether long
 * blocks are the node's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/chance.h"
#include "tally.h"

enum { LEAST = 128 << 10, LONG = 3 << 20, ELEMENTS = 50000 };

/* What was asked for after MPI_Init, and is long. */
static void *counted(void *memory, size_t align)
{
    check(memory != NULL && (uintptr_t)memory % align == 0, "an aligned block", (long)align);
    given++;
    of_node += is_of_node(memory);
    return memory;
}

static void mark(void *memory, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)memory)[i] = (unsigned char)(seed + i * 7 + (i >> 12));
}

static int holds(const void *memory, size_t bytes, unsigned seed)
{
    size_t i = 0;
    while (i < bytes &&
           ((const unsigned char *)memory)[i] == (unsigned char)(seed + i * 7 + (i >> 12)))
        i++;
    return i == bytes;
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void lengths(void)
{
    static const size_t bytes[] = {LEAST, LEAST + 1, 1 << 20, (2 << 20) - 64, 2 << 20, LONG};
    enum { N = sizeof bytes / sizeof *bytes };
    void *memory[N], *few = malloc(LEAST - 1), *none = malloc(0);
    check(!is_of_node(few) && !is_of_node(none), "short blocks are not the node's", 0);
    for (unsigned i = 0; i < N; i++) {
        errno = EDOM;
        memory[i] = counted(malloc(bytes[i]), 16);
        check(errno == EDOM, "errno stays", i);
        check(malloc_usable_size(memory[i]) >= bytes[i], "all of it is usable", i);
        mark(memory[i], malloc_usable_size(memory[i]), i);
    }
    for (unsigned i = 0; i < N; i++) {
        check(holds(memory[i], malloc_usable_size(memory[i]), i), "contents", i);
        errno = ERANGE;
        free(memory[i]);
        check(errno == ERANGE, "errno stays in free", i);
    }
    free(few);
    free(none);
    free(NULL);
}

static void alignments(void)
{
    static const size_t aligns[] = {16, 64, 128, 4096, 8192, 1 << 20, 2 << 20, 4 << 20};
    for (unsigned i = 0; i < sizeof aligns / sizeof *aligns; i++) {
        void *memory[3] = {NULL, NULL, NULL};
        check(posix_memalign(&memory[0], aligns[i], LONG) == 0, "posix_memalign", i);
        memory[1] = aligned_alloc(aligns[i], 4 << 20);
        memory[2] = memalign(aligns[i], LEAST + 8);
        for (unsigned k = 0; k < 3; k++)
            mark(counted(memory[k], aligns[i]), LEAST + 8, k);
        for (unsigned k = 0; k < 3; k++) {
            check(holds(memory[k], LEAST + 8, k), "contents of aligned blocks", i);
            free(memory[k]);
        }
    }
}

static void zeroed(void)
{
    for (int i = 0; i < 3; i++) {
        unsigned char *memory = counted(calloc(LONG / 8, 8), 16);
        check(memory[0] == 0 && memcmp(memory, memory + 1, LONG - 1) == 0, "calloc has zeros",
              i);
        memset(memory, 0xA5, LONG);
        free(memory);
    }
}

/* How lengths that cannot be had are refused, as by the C library. */
static void refusals(void)
{
    /* volatile: compilers have opinions on what follows these calls. */
    void *(*volatile move)(void *, size_t) = realloc;
    void *(*volatile move_array)(void *, size_t, size_t) = reallocarray;
    volatile size_t huge = PTRDIFF_MAX, most = SIZE_MAX, align = 24;
    void *memory = malloc(LONG), *volatile other;
    errno = 0;
    other = malloc(huge);
    check(!other && errno == ENOMEM, "malloc of too much", 0);
    errno = 0;
    other = calloc(most / 2, 4);
    check(!other && errno == ENOMEM, "calloc of too much", 0);
    errno = 0;
    other = aligned_alloc(4096, huge);
    check(!other && errno == ENOMEM, "aligned_alloc of too much", 0);
    errno = 0;
    other = aligned_alloc(1 << 20, most - 100);
    check(!other && errno == ENOMEM, "aligned_alloc of nearly all", 0);
    other = aligned_alloc(most / 2 + 1, LONG);
    check(!other, "the largest alignment", 0);
    mark(memory, LONG, 3);
    errno = 0;
    other = move(memory, huge);
    check(!other && errno == ENOMEM, "realloc to too much", 0);
    errno = 0;
    other = move_array(memory, most / 2, 4);
    check(!other && errno == ENOMEM, "reallocarray to too much", 0);
    check(holds(memory, LONG, 3), "contents after a refusal", 0);
    other = NULL;
    check(posix_memalign((void **)&other, align, LONG) == EINVAL && !other, "a wrong alignment",
          0);
    free(memory);
    memory = malloc(((size_t)p << 30) + 1); /* more than the node has */
    check(memory && !is_of_node(memory), "more than the node has is the C library's", 0);
    free(memory);
}

static void moves(void)
{
    static const size_t bytes[] = {LEAST,       LEAST * 2, LEAST * 2 + 1, LONG,
                                   LONG + 4096, 10 << 20,  9 << 20,       LEAST + 3,
                                   LEAST - 1,   100,       LEAST,         0};
    unsigned char *memory = counted(realloc(NULL, LEAST), 16);
    size_t has = LEAST;
    mark(memory, has, 9);
    for (unsigned i = 0; bytes[i] > 0; i++) {
        memory = realloc(memory, bytes[i]);
        check(memory && holds(memory, bytes[i] < has ? bytes[i] : has, 9),
              "contents that moved", i);
        check(malloc_usable_size(memory) >= bytes[i], "all that moved is usable", i);
        has = bytes[i];
        mark(memory, has, 9);
    }
    check(realloc(memory, 0) == NULL, "realloc to nothing frees", 0);
    memory = counted(reallocarray(NULL, LONG, 2), 16);
    mark(memory, 2 * LONG, 4);
    memory = reallocarray(memory, 4, LONG);
    check(memory && holds(memory, 2 * LONG, 4), "contents of an array that moved", 0);
    free(memory);
    for (has = LEAST, memory = malloc(has); has < (8 << 20); has += 4096)
        memory = realloc(memory, has);
    free(memory);
}

/* A child uses what it has of its parent, and more, and changes nothing of it. */
static void children(void)
{
    unsigned char *memory = malloc(LONG), *other = malloc(LONG), *more;
    char said[16] = "";
    int status = -1;
    pid_t child;
    FILE *pipe;
    mark(memory, LONG, 1);
    mark(other, LONG, 2);
    child = fork();
    if (child == 0) {
        int good = holds(memory, LONG, 1) && holds(other, LONG, 2);
        mark(memory, LONG, 5);
        more = malloc(LONG);
        good = good && more && !is_of_node(more);
        mark(more, LONG, 6);
        free(other);
        memory = realloc(memory, 2 * LONG);
        good = good && memory && holds(memory, LONG, 5) && holds(more, LONG, 6);
        free(memory);
        free(more);
        _exit(good ? 0 : 1);
    }
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child", status);
    check(holds(memory, LONG, 1) && holds(other, LONG, 2), "contents after a child", 0);
    free(other);
    more = counted(malloc(LONG), 16);
    mark(more, LONG, 8);
    check(holds(memory, LONG, 1), "contents after that", 0);
    pipe = popen("echo heard", "r");
    check(pipe && fgets(said, sizeof said, pipe) && strcmp(said, "heard\n") == 0, "a command",
          0);
    if (pipe)
        pclose(pipe);
    free(memory);
    free(more);
}

/* ---- several threads ------------------------------------------------------------------------- */

enum { THREADS = 4, PLACES = 24, TURNS = 1500, MOST = 1 << 20 };

static struct {
    pthread_mutex_t mutex;
    unsigned char *memory;
    size_t bytes;
    unsigned seed;
} places[PLACES];

/* Takes whatever lies in a place, wherever it came from, looks at it and puts something else there. */
static void *use_places(void *arg)
{
    uint64_t state = 77u * (uint32_t)(uintptr_t)arg + (uint32_t)rank;
    intptr_t bad = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        const uint32_t place = chance_of(&state, PLACES), how = chance_of(&state, 4);
        const size_t bytes = chance_of(&state, MOST) + 1;
        pthread_mutex_lock(&places[place].mutex);
        if (places[place].memory &&
            !holds(places[place].memory, places[place].bytes < 512 ? places[place].bytes : 512,
                   places[place].seed))
            bad++;
        if (how == 0 && places[place].memory) {
            const size_t least = bytes < places[place].bytes ? bytes : places[place].bytes;
            places[place].memory = realloc(places[place].memory, bytes);
            if (!holds(places[place].memory, least < 512 ? least : 512, places[place].seed))
                bad++;
        } else {
            free(places[place].memory);
            places[place].memory = how == 1   ? calloc(bytes, 1)
                                   : how == 2 ? memalign(256, bytes)
                                              : malloc(bytes);
        }
        places[place].bytes = bytes;
        places[place].seed = chance_of(&state, 256);
        mark(places[place].memory, bytes < 512 ? bytes : 512, places[place].seed);
        places[place].memory[bytes - 1] = bytes > 512 ? 1 : places[place].memory[bytes - 1];
        pthread_mutex_unlock(&places[place].mutex);
    }
    return (void *)bad;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < PLACES; i++)
        pthread_mutex_init(&places[i].mutex, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, use_places, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(thread[i], &bad);
        check(bad == NULL, "contents among threads", (long)(intptr_t)bad);
    }
    for (int i = 0; i < PLACES; i++)
        free(places[i].memory);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* On blocks of malloc, at any place in them, and in memory of other kinds on some ranks. */
static void collectives(void)
{
    static double before_and_static[8 * ELEMENTS];
    double *wanted = malloc(8 * ELEMENTS * sizeof *wanted);
    for (int round = 0; round < 24; round++) {
        const int n = round % 3 == 0 ? ELEMENTS : 1 + (int)chance(ELEMENTS);
        const size_t shift = chance(8);
        double *in = malloc(((size_t)n * 8 + shift) * sizeof *in);
        double *out = calloc((size_t)n * 8 + shift, sizeof *out);
        double *from = round % 4 == rank ? before_and_static : in + shift;
        double *to = out + shift;
        for (int i = 0; i < n * p; i++)
            from[i] = i * (rank + 1) + round;
        if (round % 3 == 2) {
            MPI_Alltoall(from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, MPI_COMM_WORLD);
            PMPI_Alltoall(from, n, MPI_DOUBLE, wanted, n, MPI_DOUBLE, MPI_COMM_WORLD);
            check(memcmp(to, wanted, (size_t)(n * p) * sizeof *to) == 0, "an alltoall", n);
        } else {
            MPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            PMPI_Allreduce(from, wanted, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            check(memcmp(to, wanted, (size_t)n * sizeof *to) == 0, "an allreduce", n);
        }
        free(in);
        free(out);
    }
    free(wanted);
}

/* Other memory does not come to lie among what is left of the node's, as free could not tell it. */
static void later_memory(unsigned char *never)
{
    unsigned char *hint = never + 2 * LONG, *at;
    hint -= (uintptr_t)hint % 4096;
    at = mmap(hint, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(at != MAP_FAILED && (at != hint || !is_of_node(never)), "where memory lies later", 0);
    munmap(at, 4096);
}

int main(int argc, char **argv)
{
    void *early = malloc(LONG), *late, *never;
    mark(early, LONG, 11);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    random_state = 5;
    check(!is_of_node(early), "what is older than MPI_Init is not the node's", 0);
    lengths();
    alignments();
    zeroed();
    refusals();
    moves();
    children();
    threads();
    collectives();
    early = realloc(early, 2 * LONG);
    check(early && holds(early, LONG, 11), "contents from before", 0);
    free(early);
    late = counted(malloc(LONG), 16);
    never = counted(malloc(LONG), 16);
    mark(late, LONG, 12);
    mark(never, LONG, 13);
    tally("heap", "long blocks");
    MPI_Finalize();
    check(holds(late, LONG, 12), "contents after the end", 0);
    late = realloc(late, 4 * LONG);
    check(late && holds(late, LONG, 12), "contents that moved after the end", 0);
    free(late);
    later_memory(never);
    late = malloc(LONG);
    mark(late, LONG, 14);
    free(late);
    check(holds(never, LONG, 13), "contents to the last", 0);
    return failures > 0;
}
