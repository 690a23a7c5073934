/* mpi/layer/one_sum.c — COLL_ONE_SUM=1: sums of floats that do not depend on order, ranks' places or algorithm
 *
 * A blocking reduction by MPI_SUM of floats or doubles becomes the same reduction of exact sums (coll/exact_sum.h):
 * each operand is written as a number in digits, the digits are added as integers, and each result is rounded
 * once. So it is the float nearest to the exact sum of the ranks' operands. A reduction in one order of the
 * operands (coll/comm/one_sum.h) would have to know how the program numbers them, which it does not say.
 *
 * Long vectors are cut into runs of elements, so that digits take some hundred kilobytes at most.
 */
#include <limits.h>
#include <stdlib.h>

#include "coll/exact_sum.h"
#include "layer.h"

enum { ELEMENTS = 512 }; /* of a run, of all blocks */

/* A sum's words, and what is done with them. */
struct format {
    size_t bytes, words;
    void (*write)(int64_t *words, const void *value);
    void (*read)(const int64_t *words, void *value);
};

#define FORMAT(f, T)                                                                           \
    static void write_##f(int64_t *words, const void *value)                                   \
    {                                                                                          \
        coll_exact_##f sum;                                                                    \
        T x;                                                                                   \
        memcpy(&x, value, sizeof x);                                                           \
        coll_exact_zero_##f(&sum);                                                             \
        coll_exact_add_##f(&sum, &x, 1);                                                       \
        coll_exact_normalize_##f(&sum);                                                        \
        memcpy(words, sum.word, sizeof sum.word);                                              \
    }                                                                                          \
    static void read_##f(const int64_t *words, void *value)                                    \
    {                                                                                          \
        coll_exact_##f sum;                                                                    \
        T x;                                                                                   \
        memcpy(sum.word, words, sizeof sum.word);                                              \
        coll_exact_read_##f(&sum, &x);                                                         \
        memcpy(value, &x, sizeof x);                                                           \
    }
FORMAT(f32, float)
FORMAT(f64, double)

static const struct format formats[2] = {
    {sizeof(float), COLL_EXACT_F32_WORDS, write_f32, read_f32},
    {sizeof(double), COLL_EXACT_F64_WORDS, write_f64, read_f64}};

/* What one call needs to know. */
struct one_sum {
    const struct call *call;
    const struct format *format;
    const unsigned char *in; /* the operands, also in place */
    unsigned char *out;      /* the results; NULL: none of this rank's */
    size_t count, blocks;    /* elements of a block */
};

/* The reduction of the words, by the layer or, where it declines, by the library. */
static int reduce_words(const struct call *call, int64_t *words, int n, bool gives)
{
    struct call of = *call;
    const MPI_Datatype type = MPI_INT64_T;
    const void *const in = call->what == COLL_REDUCE && !gives ? words : MPI_IN_PLACE;
    int error;
    of.wide = false;
    of.in = of.out = (struct side){words, n, type, NULL, NULL, NULL};
    of.in.buf = in;
    if (layer_takes(&of, BLOCKING, NULL, &error))
        return error;
    switch (call->what) {
    case COLL_REDUCE:
        return PMPI_Reduce(in, words, n, type, MPI_SUM, call->root, call->comm);
    case COLL_SCAN:
        return PMPI_Scan(in, words, n, type, MPI_SUM, call->comm);
    case COLL_EXSCAN:
        return PMPI_Exscan(in, words, n, type, MPI_SUM, call->comm);
    case COLL_REDUCE_SCATTER_BLOCK:
        return PMPI_Reduce_scatter_block(in, words, n, type, MPI_SUM, call->comm);
    default:
        return PMPI_Allreduce(in, words, n, type, MPI_SUM, call->comm);
    }
}

/* Elements at … at + n − 1 of each block. In place, what is overwritten was read before: it is of this run. */
static int run_of(const struct one_sum *it, int64_t *words, size_t at, size_t n)
{
    const struct format *format = it->format;
    int64_t *word = words;
    int error;
    for (size_t block = 0; block < it->blocks; block++)
        for (size_t i = at; i < at + n; i++, word += format->words)
            format->write(word, it->in + (block * it->count + i) * format->bytes);
    error = reduce_words(it->call, words, (int)(n * format->words), it->out != NULL);
    for (size_t i = 0; error == MPI_SUCCESS && it->out && i < n; i++)
        format->read(words + i * format->words, it->out + (at + i) * format->bytes);
    return error;
}

static const struct format *format_of(const struct call *call)
{
    const struct type *type;
    coll_type element;
    lock();
    type = type_of(call->out.type);
    if (!type || !type->predefined) /* a reduction's root alone has to have an output */
        type = type_of(call->in.type);
    element = type && type->predefined ? type->element : COLL_TYPES;
    unlock();
    return element == COLL_F32 ? &formats[0] : element == COLL_F64 ? &formats[1] : NULL;
}

bool one_sum_takes(const struct call *call, int *error)
{
    const coll_collective it = call->what;
    struct one_sum sum = {call, NULL, call->in.buf, (void *)(uintptr_t)call->out.buf, 0, 1};
    int inter = 0, rank, p;
    size_t run;
    int64_t *words;
    if (!settings.ready || call->op != MPI_SUM || call->comm == MPI_COMM_NULL ||
        call->in.count <= 0 || !(sum.format = format_of(call)) ||
        PMPI_Comm_test_inter(call->comm, &inter) != MPI_SUCCESS || inter ||
        PMPI_Comm_rank(call->comm, &rank) != MPI_SUCCESS ||
        PMPI_Comm_size(call->comm, &p) != MPI_SUCCESS)
        return false;
    if (it == COLL_REDUCE && (call->root < 0 || call->root >= p))
        return false;
    if (call->in.buf == MPI_IN_PLACE)
        sum.in = sum.out;
    if ((it == COLL_REDUCE && rank != call->root) || (it == COLL_EXSCAN && rank == 0))
        sum.out = NULL;
    if (!sum.in || (!sum.out && it != COLL_REDUCE && it != COLL_EXSCAN))
        return false;
    sum.count = (size_t)call->in.count;
    sum.blocks = it == COLL_REDUCE_SCATTER_BLOCK ? (size_t)p : 1;
    run = ELEMENTS / sum.blocks > 0 ? ELEMENTS / sum.blocks : 1;
    run = run < sum.count ? run : sum.count;
    words = malloc(run * sum.blocks * sum.format->words * sizeof *words);
    *error = words ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (size_t at = 0; *error == MPI_SUCCESS && at < sum.count; at += run)
        *error = run_of(&sum, words, at, sum.count - at < run ? sum.count - at : run);
    free(words);
    if (*error == MPI_ERR_NO_MEM)
        (void)PMPI_Comm_call_errhandler(call->comm, *error);
    return true;
}
