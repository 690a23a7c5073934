/* mpi/layer/ops.c — operators
 *
 * Predefined operators on types that coll knows are coll's; all others are called through the
 * library, which also knows how to call a program's function: inout = in ⊕ inout. As coll's
 * operators are three-address, dst = a ⊕ b, some copying comes with it.
 */
#include <limits.h>
#include <stdlib.h>

#include "layer.h"

enum { PREDEFINED_MAX = 16 };

static struct operation predefined[PREDEFINED_MAX];
static size_t n_predefined;
static struct operation *programs; /* operators, that were used */

static void name(MPI_Op op, int number)
{
    struct operation *operation = &predefined[n_predefined++];
    operation->handle = op;
    operation->number = number;
    operation->commutative = true;
}

void ops_init(void)
{
    name(MPI_SUM, COLL_SUM);
    name(MPI_MAX, COLL_MAX);
    name(MPI_MIN, COLL_MIN);
    name(MPI_PROD, COLL_PROD);
    name(MPI_LAND, COLL_LAND);
    name(MPI_BAND, COLL_BAND);
    name(MPI_LOR, COLL_LOR);
    name(MPI_BOR, COLL_BOR);
    name(MPI_LXOR, COLL_LXOR);
    name(MPI_BXOR, COLL_BXOR);
    name(MPI_MINLOC, COLL_MINLOC);
    name(MPI_MAXLOC, COLL_MAXLOC);
}

struct operation *operation_of(MPI_Op op)
{
    struct operation *operation;
    int commutative = 0;
    for (size_t i = 0; i < n_predefined; i++)
        if (predefined[i].handle == op)
            return &predefined[i];
    for (operation = programs; operation; operation = operation->next)
        if (operation->handle == op)
            return operation;
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP ||
        PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS)
        return NULL;
    operation = calloc(1, sizeof *operation);
    if (!operation)
        return NULL;
    operation->handle = op;
    operation->number = COLL_USER_OP;
    operation->commutative = commutative != 0;
    operation->next = programs;
    programs = operation;
    return operation;
}

void operation_use(struct operation *operation)
{
    if (operation)
        operation->users++;
}

static int forget(struct operation *operation)
{
    MPI_Op handle = operation->handle;
    struct operation **link = &programs;
    while (*link && *link != operation)
        link = &(*link)->next;
    if (*link) {
        *link = operation->next;
        free(operation);
    }
    return PMPI_Op_free(&handle);
}

void operation_done(struct operation *operation)
{
    if (operation && --operation->users == 0 && operation->freed)
        (void)forget(operation);
}

/* An operator that jobs still need is freed by the last of them. */
EXPORT int MPI_Op_free(MPI_Op *op)
{
    struct operation *operation;
    int error = MPI_SUCCESS;
    if (!settings.ready || !op)
        return PMPI_Op_free(op);
    lock();
    operation = programs;
    while (operation && operation->handle != *op)
        operation = operation->next;
    if (!operation) {
        unlock();
        return PMPI_Op_free(op);
    }
    if (operation->users > 0)
        operation->freed = true;
    else
        error = forget(operation);
    *op = MPI_OP_NULL;
    unlock();
    return error;
}

/* Bytes of an element with all its gaps, which a program's function may copy, too; *low: where it begins,
 * so that what is aligned in the program is so in memory that begins there. */
static size_t whole_element(const struct type *type, ptrdiff_t *low)
{
    enum { LINE = 64 };
    const ptrdiff_t begin = type->lb < type->true_lb ? type->lb : type->true_lb,
                    ub = type->lb + type->extent, true_ub = type->true_lb + type->true_extent,
                    end = ub > true_ub ? ub : true_ub;
    *low = begin - ((begin % LINE) + LINE) % LINE;
    return ((size_t)(end - *low) + LINE - 1) / LINE * LINE;
}

size_t combine_room(const struct type *type)
{
    ptrdiff_t low;
    const size_t two = 2 * whole_element(type, &low);
    return two > 4096 ? two : 4096;
}

/* ---- calling the library's --------------------------------------------------------------- */

/* to = from ⊕ to, for elements as the program lays them out. */
static void apply(const struct combination *with, const void *from, void *to, size_t count)
{
    (void)PMPI_Reduce_local(from, to, (int)count, with->type->handle, with->operation->handle);
}

/* Of elements that are one run of bytes: packed, they look as they do in the program. */
static void combine_dense(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    const struct combination *with = (const struct combination *)arg;
    const ptrdiff_t shift = -with->type->true_lb;
    const size_t size = with->type->size;
    size_t most = INT_MAX;
    if (dst == a && with->operation->commutative) {
        a = b;
        b = dst;
    }
    if (dst == a) /* what is to be overwritten comes first, and the function wants it last */
        most = combine_room(with->type) / size;
    else if (dst != b)
        memcpy(dst, b, count * size);
    for (size_t done = 0; done < count; done += most) {
        const size_t n = count - done < most ? count - done : most, at = done * size;
        unsigned char *to = (unsigned char *)dst + at;
        const unsigned char *from = (const unsigned char *)a + at;
        if (dst == a) {
            memcpy(with->room, (const unsigned char *)b + at, n * size);
            apply(with, from + shift, with->room + shift, n);
            memcpy(to, with->room, n * size);
        } else {
            apply(with, from + shift, to + shift, n);
        }
    }
}

/* Of elements with gaps: unpacked, one at a time, for the function. */
static void combine_gaps(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    const struct combination *with = (const struct combination *)arg;
    const struct type *type = with->type;
    const size_t size = type->size;
    ptrdiff_t low;
    const size_t whole = whole_element(type, &low);
    unsigned char *from = with->room - low, *to = from + whole;
    for (size_t i = 0; i < count; i++) {
        int at = 0;
        (void)PMPI_Unpack((const unsigned char *)a + i * size, (int)size, &at, from, 1,
                          type->handle, settings.self);
        at = 0;
        (void)PMPI_Unpack((const unsigned char *)b + i * size, (int)size, &at, to, 1,
                          type->handle, settings.self);
        apply(with, from, to, 1);
        at = 0;
        (void)PMPI_Pack(to, 1, type->handle, (unsigned char *)dst + i * size, (int)size, &at,
                        settings.self);
    }
}

/* ---- which operators there are ----------------------------------------------------------- */

#define BIT(number) (1u << (unsigned)(number))

/* Libraries take more than the standard allows, as MPI_CHAR for a sum, and programs use it: so they are asked, but
 * not of everything, as MPICH ends at some pairs that it means to take. */
bool operations_ask(struct type *type)
{
    enum { BYTES = 64 }; /* of the longest predefined type, and more */
    const unsigned arithmetic = BIT(COLL_SUM) | BIT(COLL_PROD),
                   order = BIT(COLL_MIN) | BIT(COLL_MAX),
                   logical = BIT(COLL_LAND) | BIT(COLL_LOR) | BIT(COLL_LXOR),
                   bitwise = BIT(COLL_BAND) | BIT(COLL_BOR) | BIT(COLL_BXOR),
                   location = BIT(COLL_MINLOC) | BIT(COLL_MAXLOC);
    _Alignas(16) unsigned char a[BYTES] = {0xfd}; /* -3, or 253 */
    _Alignas(16) unsigned char b[BYTES];
    bool is_signed = false;
    unsigned doubtful = 0;
    switch (type->kind) {
    case KIND_INTEGER:
        type->taken = arithmetic | order | logical | bitwise;
        break;
    case KIND_FORTRAN_INTEGER:
        type->taken = arithmetic | order | bitwise;
        doubtful = logical;
        break;
    case KIND_FLOATING:
        type->taken = arithmetic | order;
        break;
    case KIND_COMPLEX:
        type->taken = arithmetic;
        break;
    case KIND_LOGICAL:
        type->taken = logical;
        break;
    case KIND_BYTE:
        type->taken = bitwise;
        doubtful = arithmetic | order | logical;
        break;
    case KIND_CHARACTER:
        type->taken = 0;
        doubtful = arithmetic | order | logical | bitwise;
        break;
    case KIND_PAIR:
        type->taken = location;
        break;
    case KIND_OTHER:
        type->taken = 0;
        break;
    }
    for (size_t i = 0; i < n_predefined; i++) {
        const unsigned bit = BIT(predefined[i].number);
        memset(b, 0, sizeof b);
        b[0] = 5;
        if (!(doubtful & bit) ||
            PMPI_Reduce_local(a, b, 1, type->handle, predefined[i].handle) != MPI_SUCCESS)
            continue;
        type->taken |= bit;
        if (predefined[i].number == COLL_MAX)
            is_signed = b[0] == 5;
    }
    return is_signed;
}

bool operation_on(struct operation *operation, struct type *type,
                  struct combination *combination, coll_op *op)
{
    combination->type = NULL;
    if (operation->number != COLL_USER_OP) {
        if (!type->predefined || !(type->taken & BIT(operation->number)))
            return false;
        if (type->element != COLL_TYPES &&
            coll_op_builtin(op, (coll_operator)operation->number, type->element) == COLL_OK)
            return true;
    }
    combination->operation = operation;
    combination->type = type;
    op->combine = type->dense ? combine_dense : combine_gaps;
    op->arg = combination;
    op->number = op->type = 0;
    op->commutative = operation->commutative;
    /* Of the program's we cannot know; of the library's, all but sums of floats are exact. */
    op->exact = operation->number != COLL_USER_OP &&
                ((operation->number != COLL_SUM && operation->number != COLL_PROD) ||
                 type->kind == KIND_INTEGER || type->kind == KIND_FORTRAN_INTEGER);
    return true;
}
