/* mpi/tests/alloc.c — memory of MPI_Alloc_mem, and collectives on it
 *
 *   mpiexec -n 4 alloc
 *
 * Asks for memory of all sizes, frees it and asks again; runs collectives on such memory, on other
 * memory, and on both, and compares them with the library's own; and uses it in a window, in callbacks
 * of MPI_Finalize and after that. Prints what does not hold, and how much of the memory is the node's.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

enum { BLOCK = 40000, BUFFERS = 3, SHORTEST = 2049 };

static void *ask(size_t bytes)
{
    void *memory = NULL;
    check(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS && memory,
          "there is memory", (long)bytes);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (bytes >= SHORTEST) {
        given++;
        of_node += is_of_node(memory);
    }
    return memory;
}

static int holds(const unsigned char *memory, size_t bytes, int mark)
{
    size_t i = 0;
    while (i < bytes && memory[i] == (unsigned char)mark)
        i++;
    return i == bytes;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* What the library refuses is refused, and its error handler is called. */
static void refusals(void)
{
    void *memory[2] = {NULL, NULL};
    int is, wanted, is_class, wanted_class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    is = MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory[0]);
    wanted = PMPI_Alloc_mem(-1, MPI_INFO_NULL, &memory[1]);
    MPI_Error_class(is, &is_class);
    MPI_Error_class(wanted, &wanted_class);
    check(is != MPI_SUCCESS && is_class == wanted_class, "a negative size", is_class);
    is = MPI_Alloc_mem(0, MPI_INFO_NULL, &memory[0]);
    wanted = PMPI_Alloc_mem(0, MPI_INFO_NULL, &memory[1]);
    check((is == MPI_SUCCESS) == (wanted == MPI_SUCCESS), "no bytes", is);
    if (is == MPI_SUCCESS && memory[0])
        check(MPI_Free_mem(memory[0]) == MPI_SUCCESS, "no bytes are freed", 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Of all lengths, with a wish, of the library itself, and more than the node has. */
static void lengths(void)
{
    static const size_t bytes[] = {1, 64, 2048, 2049, 4096, 5000, 1 << 20, 40 << 20};
    const size_t most = ((size_t)p << 30) + 1;
    unsigned char *memory[sizeof bytes / sizeof *bytes], *other;
    void *large, *small;
    MPI_Info info;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        memory[i] = ask(bytes[i]);
        memset(memory[i], (int)i, bytes[i]);
    }
    large = ask(most);
    ((unsigned char *)large)[most - 1] = 1;
    check(!is_of_node(large), "more than the node has is the library's", 0);
    given--;
    small = ask(64);
    check(!is_of_node(small), "few bytes are the library's", 0);
    MPI_Info_create(&info);
    MPI_Alloc_mem(BLOCK, info, &other);
    check(!is_of_node(other), "with a wish it is the library's", 0);
    MPI_Info_free(&info);
    MPI_Free_mem(other);
    PMPI_Alloc_mem(BLOCK, MPI_INFO_NULL, &other);
    check(MPI_Free_mem(other) == MPI_SUCCESS, "the library's is freed", 0);
    check(MPI_Free_mem(large) == MPI_SUCCESS && MPI_Free_mem(small) == MPI_SUCCESS,
          "it is freed", 0);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        check(holds(memory[i], bytes[i], (int)i), "contents", (long)i);
        check(MPI_Free_mem(memory[i]) == MPI_SUCCESS, "it is freed", (long)i);
    }
}

/* More than there is, if nothing was used again. */
static void often(void)
{
    enum { BYTES = 30 << 20, TIMES = 200 };
    unsigned char *first = ask(BYTES), *again = first;
    const int wanted = is_of_node(first);
    for (int i = 0; i < TIMES; i++) {
        MPI_Free_mem(again);
        again = ask((size_t)BYTES - (size_t)i * 1000);
        again[0] = again[BYTES - (size_t)i * 1000 - 1] = 1;
    }
    check(is_of_node(again) == wanted, "freed memory is used again", 0);
    MPI_Free_mem(again);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static int *in, *out, *expected; /* p blocks of BLOCK each */

enum { KINDS = 11 };

/* One of several collectives, by the layer (own = 0) or the library; the elements of its result. */
static int call(int kind, int own, int n, int root, const int *a, int *b)
{
    const MPI_Comm w = MPI_COMM_WORLD;
    const MPI_Datatype t = MPI_INT;
    const int at_root = rank == root;
#define RUN(name, ...) (own ? PMPI_##name(__VA_ARGS__) : MPI_##name(__VA_ARGS__))
    switch (kind) {
    case 0:
        if (at_root)
            memcpy(b, a, (size_t)n * sizeof *b);
        RUN(Bcast, b, n, t, root, w);
        return n;
    case 1:
        RUN(Reduce, a, b, n, t, MPI_SUM, root, w);
        return at_root ? n : 0;
    case 2:
        RUN(Allreduce, a, b, n, t, MPI_SUM, w);
        return n;
    case 3:
        RUN(Gather, a, n, t, b, n, t, root, w);
        return at_root ? p * n : 0;
    case 4:
        RUN(Scatter, a, n, t, b, n, t, root, w);
        return n;
    case 5:
        RUN(Allgather, a, n, t, b, n, t, w);
        return p * n;
    case 6:
        RUN(Alltoall, a, n, t, b, n, t, w);
        return p * n;
    case 7:
        RUN(Reduce_scatter_block, a, b, n, t, MPI_SUM, w);
        return n;
    case 8:
        RUN(Scan, a, b, n, t, MPI_SUM, w);
        return n;
    case 9:
        RUN(Exscan, a, b, n, t, MPI_SUM, w);
        return rank > 0 ? n : 0;
    default:
        memcpy(b, a, (size_t)n * sizeof *b);
        RUN(Allreduce, MPI_IN_PLACE, b, n, t, MPI_MAX, w);
        return n;
    }
#undef RUN
}

/* `whose`: a bit for each of the buffers, 1: of MPI_Alloc_mem. */
static void collectives(int whose)
{
    static const int counts[] = {1, 200, 600, 5000, 10000, BLOCK};
    const size_t bytes = (size_t)p * BLOCK * sizeof(int);
    in = whose & 1 ? ask(bytes) : malloc(bytes);
    out = whose & 2 ? ask(bytes) : malloc(bytes);
    expected = malloc(bytes);
    for (size_t size = 0; size < sizeof counts / sizeof *counts; size++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int round = 0; round < 3; round++) { /* the later ones are repetitions */
                const int n = counts[size], root = (kind + round) % p;
                int results;
                for (int i = 0; i < p * n; i++)
                    in[i] = rank * 7919 + i * (round + 1) + kind;
                memset(out, 0, bytes);
                memset(expected, 0, bytes);
                results = call(kind, 1, n, root, in, expected);
                call(kind, 0, n, root, in, out);
                check(memcmp(out, expected, (size_t)results * sizeof *out) == 0, "a result",
                      kind * 1000000L + n);
            }
    if (whose & 2)
        MPI_Free_mem(out);
    else
        free(out);
    if (whose & 1)
        MPI_Free_mem(in);
    else
        free(in);
    free(expected);
}

/* Of elements with gaps, which the layer packs; and several at once, which do not block. */
static void others(void)
{
    MPI_Datatype gaps;
    MPI_Request request[2];
    MPI_Status statuses[2]; /* of MPI_STATUSES_IGNORE compilers complain */
    int *a = ask(2 * BLOCK * sizeof *a), *b = ask(2 * BLOCK * sizeof *b);
    int *sum = ask(BLOCK * sizeof *sum);
    for (int i = 0; i < 2 * BLOCK; i++) {
        a[i] = rank + i;
        b[i] = rank == p - 1 ? i : -1;
    }
    MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Ibcast(b, 1, gaps, p - 1, MPI_COMM_WORLD, &request[0]);
    MPI_Iallreduce(a, sum, BLOCK, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, statuses);
    for (int i = 0; i < BLOCK; i++) {
        check(sum[i] == p * i + p * (p - 1) / 2, "a sum", i);
        check(b[2 * i] == 2 * i && b[2 * i + 1] == (rank == p - 1 ? 2 * i + 1 : -1),
              "an element among gaps", i);
    }
    MPI_Type_free(&gaps);
    MPI_Free_mem(a);
    MPI_Free_mem(b);
    MPI_Free_mem(sum);
}

static void windows(void)
{
    const MPI_Aint bytes = BLOCK * sizeof(int);
    int *memory = ask((size_t)bytes), *mine = ask((size_t)bytes);
    MPI_Win window;
    for (int i = 0; i < BLOCK; i++)
        mine[i] = rank * BLOCK + i;
    MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(mine, BLOCK, MPI_INT, (rank + 1) % p, 0, BLOCK, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < BLOCK; i++)
        check(memory[i] == (rank + p - 1) % p * BLOCK + i, "a word of a window", i);
    MPI_Win_free(&window);
    MPI_Free_mem(memory);
    MPI_Free_mem(mine);
}

/* ---- the end --------------------------------------------------------------------------------- */

static unsigned char *late;

static int free_late(MPI_Comm comm, int key, void *value, void *extra)
{
    unsigned char *later;
    (void)comm, (void)key, (void)extra;
    check(value == late && holds(late, BLOCK, 5), "contents at the end", 0);
    check(MPI_Free_mem(late) == MPI_SUCCESS, "it is freed at the end", 0);
    check(MPI_Alloc_mem(BLOCK, MPI_INFO_NULL, &later) == MPI_SUCCESS, "there is more", 0);
    memset(later, 6, BLOCK);
    check(MPI_Free_mem(later) == MPI_SUCCESS, "that is freed, too", 0);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    unsigned char *never;
    int key;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    refusals();
    lengths();
    often();
    for (int whose = 0; whose < 4; whose++) {
        collectives(whose);
        collectives(rank % 2 ? whose : 3); /* ranks differ */
        collectives(rank % 2 ? 3 - whose : whose);
    }
    others();
    windows();
    never = ask(BLOCK);
    memset(never, rank + 1, BLOCK);
    late = ask(BLOCK);
    memset(late, 5, BLOCK);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_late, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, late);
    tally("alloc", "calls of MPI_Alloc_mem");
    MPI_Finalize();
    check(holds(never, BLOCK, rank + 1), "contents after the end", 0);
    return failures > 0;
}
