/* mpi/tests/differential/types.c — the predefined types, and layouts of elements in memory */
#include <stdio.h>
#include <stdlib.h>

#include "differential.h"

/* The operators that the standard allows or some library takes, as masks of `predefined` in operators.c. */
enum { NONE = 0, ORDER = 0x3, SUMS = 0xc, LOGIC = 0x150, BITS = 0x2a0, PLACES = 0xc00 };
enum { NUMBERS = ORDER | SUMS, COUNTS = NUMBERS | BITS, ALL = COUNTS | LOGIC };

/* clang-format off */
#define OF(T, values, operators) {#T, T, values, 0, 0, false, false, 0, false, operators}
#define OF_PAIR(T, C, D, real, both) \
    {#T, T, PAIR, sizeof(C), offsetof(struct { C a; D b; }, b), real, both, 0, false, PLACES}
/* clang-format on */

struct base bases[] = {
    OF(MPI_BYTE, INTEGER, ALL),
    OF(MPI_CHAR, INTEGER, ALL),
    OF(MPI_SIGNED_CHAR, INTEGER, ALL),
    OF(MPI_UNSIGNED_CHAR, INTEGER, ALL),
    OF(MPI_SHORT, INTEGER, ALL),
    OF(MPI_UNSIGNED_SHORT, INTEGER, ALL),
    OF(MPI_INT, INTEGER, ALL),
    OF(MPI_UNSIGNED, INTEGER, ALL),
    OF(MPI_LONG, INTEGER, ALL),
    OF(MPI_UNSIGNED_LONG, INTEGER, ALL),
    OF(MPI_LONG_LONG, INTEGER, ALL),
    OF(MPI_UNSIGNED_LONG_LONG, INTEGER, ALL),
    OF(MPI_INT8_T, INTEGER, ALL),
    OF(MPI_INT16_T, INTEGER, ALL),
    OF(MPI_INT32_T, INTEGER, ALL),
    OF(MPI_INT64_T, INTEGER, ALL),
    OF(MPI_UINT8_T, INTEGER, ALL),
    OF(MPI_UINT16_T, INTEGER, ALL),
    OF(MPI_UINT32_T, INTEGER, ALL),
    OF(MPI_UINT64_T, INTEGER, ALL),
    OF(MPI_AINT, INTEGER, COUNTS),
    OF(MPI_OFFSET, INTEGER, COUNTS),
    OF(MPI_COUNT, INTEGER, COUNTS),
    OF(MPI_WCHAR, BYTES, NONE),
    OF(MPI_PACKED, BYTES, NONE),
    OF(MPI_C_BOOL, LOGICAL, LOGIC),
    OF(MPI_FLOAT, REAL, NUMBERS),
    OF(MPI_DOUBLE, REAL, NUMBERS),
    OF(MPI_LONG_DOUBLE, REAL, NUMBERS),
    OF(MPI_C_COMPLEX, COMPLEX, SUMS),
    OF(MPI_C_FLOAT_COMPLEX, COMPLEX, SUMS),
    OF(MPI_C_DOUBLE_COMPLEX, COMPLEX, SUMS),
    OF(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, SUMS),
    OF_PAIR(MPI_FLOAT_INT, float, int, true, false),
    OF_PAIR(MPI_DOUBLE_INT, double, int, true, false),
    OF_PAIR(MPI_LONG_INT, long, int, false, false),
    OF_PAIR(MPI_2INT, int, int, false, true),
    OF_PAIR(MPI_SHORT_INT, short, int, false, false),
    OF_PAIR(MPI_LONG_DOUBLE_INT, long double, int, true, false),
    /* C++ */
    OF(MPI_CXX_BOOL, LOGICAL, LOGIC),
    OF(MPI_CXX_FLOAT_COMPLEX, COMPLEX, SUMS),
    OF(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, SUMS),
    OF(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, SUMS),
    /* Fortran */
    OF(MPI_INTEGER, INTEGER, ALL),
    OF(MPI_REAL, REAL, NUMBERS),
    OF(MPI_DOUBLE_PRECISION, REAL, NUMBERS),
    OF(MPI_COMPLEX, COMPLEX, SUMS),
    OF(MPI_DOUBLE_COMPLEX, COMPLEX, SUMS),
    OF(MPI_LOGICAL, LOGICAL, LOGIC),
    OF(MPI_CHARACTER, INTEGER, ALL),
    OF(MPI_INTEGER1, INTEGER, ALL),
    OF(MPI_INTEGER2, INTEGER, ALL),
    OF(MPI_INTEGER4, INTEGER, ALL),
    OF(MPI_INTEGER8, INTEGER, ALL),
    OF(MPI_REAL4, REAL, NUMBERS),
    OF(MPI_REAL8, REAL, NUMBERS),
    OF(MPI_REAL16, QUAD, NUMBERS),
    OF(MPI_COMPLEX8, COMPLEX, SUMS),
    OF(MPI_COMPLEX16, COMPLEX, SUMS),
    OF(MPI_COMPLEX32, QUAD_COMPLEX, SUMS),
    OF_PAIR(MPI_2INTEGER, int, int, false, true),
    OF_PAIR(MPI_2REAL, float, float, true, true),
    OF_PAIR(MPI_2DOUBLE_PRECISION, double, double, true, true),
};
int base_count;

void types_begin(void)
{
    const int all = (int)(sizeof bases / sizeof bases[0]);
    for (int i = 0; i < all; i++) {
        int size = 0;
        if (bases[i].type == MPI_DATATYPE_NULL ||
            PMPI_Type_size(bases[i].type, &size) != MPI_SUCCESS || size <= 0)
            continue;
        if (bases[i].values != PAIR)
            bases[i].size = (size_t)size;
        const size_t real = bases[i].values == COMPLEX ? bases[i].size / 2 : bases[i].size;
        bases[i].ragged =
            (bases[i].values == REAL || bases[i].values == COMPLEX || bases[i].real) &&
                    real == sizeof(long double) && real > sizeof(double)
                ? 1 + bases[i].real
                : 0;
        bases[i].natural = strstr(bases[i].name, "_U") || bases[i].type == MPI_OFFSET;
        if (bases[i].values == QUAD_COMPLEX)
            bases[i].ragged = 3;
        bases[base_count++] = bases[i];
    }
}

/* A struct of a few basic types, with gaps. */
static MPI_Datatype compound_make(struct stream *s, char *text, size_t room)
{
    enum { MOST = 4 };
    const int n = 2 + below(s, MOST - 1);
    int lengths[MOST], order[MOST];
    MPI_Aint at[MOST], end = 0;
    MPI_Datatype types[MOST], type;
    permutation(s, order, n);
    for (int i = 0; i < n; i++) { /* in memory in any order */
        MPI_Aint lb, extent;
        const int k = order[i];
        lengths[k] = 1 + below(s, 2);
        const struct base *base;
        do
            base = &bases[below(s, base_count)];
        while (base->ragged);
        types[k] = base->type;
        PMPI_Type_get_extent(types[k], &lb, &extent);
        at[k] = end + below(s, 8);
        end = at[k] + lengths[k] * extent;
    }
    PMPI_Type_create_struct(n, lengths, at, types, &type);
    snprintf(text, room, "struct of %d", n);
    return type;
}

void elements_draw(struct elements *e, struct stream *s)
{
    static const int most[] = {1, 1, 2, 3, 4, 6, 12};
    MPI_Aint lb, extent;
    *e = (struct elements){.most = chance(s, 4) ? 0 : most[below(s, 7)]};
    e->mine = e->mixed = chance(s, 20);
    if (e->mine) {
        e->base = compound_make(s, e->text, sizeof e->text);
    } else {
        const struct base *base = &bases[below(s, base_count)];
        e->base = base->type;
        e->ragged = base->ragged;
        e->mixed = base->values == PAIR;
        snprintf(e->text, sizeof e->text, "%s", base->name);
    }
    PMPI_Type_get_extent(e->base, &lb, &extent);
    e->unit = e->most ? e->most : 1;
    e->bytes = (size_t)extent * (size_t)e->unit;
    e->uniform = chance(s, 50);
    e->key = draw(s);
}

void elements_level(const struct elements *e, unsigned char *at, size_t n)
{
    for (size_t i = 0; (e->ragged == 1 || e->ragged == 2) && i < n; i++)
        if (i % 16 >= 10 || (e->ragged == 2 && i % 32 >= 20))
            at[i] = 0;
}

/* Replaces a type by one made of it. */
static void now(MPI_Datatype *type, MPI_Datatype made)
{
    PMPI_Type_free(type);
    *type = made;
}

static int divisor(struct stream *s, int n)
{
    int m;
    do
        m = 1 + below(s, n);
    while (n % m != 0);
    return m;
}

void layout_make(struct layout *l, const struct elements *e, int span, struct stream *own)
{
    struct stream same = stream_of(e->key, 0, 0), *const s = e->uniform ? &same : own;
    enum { MOST = 16 };
    const int m = e->most > 0 ? divisor(s, e->most) : 0, span_matters = 5, drawn = below(s, 10),
              kind = e->ragged || (e->uniform && drawn == span_matters) ? 9 : drawn;
    const MPI_Datatype base = e->base;
    const char *name = "contiguous";
    int where[MOST], ones[MOST], inner;
    MPI_Aint lb, extent, before, at[MOST], cell;
    MPI_Datatype types[MOST], type, made;

    PMPI_Type_get_true_extent(base, &lb, &cell);
    PMPI_Type_get_extent(base, &lb, &extent);
    cell = cell > extent ? cell : extent;
    *l = (struct layout){.type = base, .elements = m};
    snprintf(l->text, sizeof l->text, "itself");
    if (m == 1 && chance(s, 50)) {
        int integers, addresses, others, combiner;
        PMPI_Type_get_envelope(base, &integers, &addresses, &others, &combiner);
        if (combiner == MPI_COMBINER_NAMED)
            return;
        PMPI_Type_dup(base, &l->type);
        PMPI_Type_commit(&l->type);
        l->mine = true;
        return;
    }
    permutation(s, where, m);
    for (int i = 0; i < m; i++) {
        ones[i] = 1;
        types[i] = base;
    }
    switch (kind) {
    case 0:
        name = "vector";
        PMPI_Type_vector(m, 1, 2 + below(s, 2), base, &type);
        break;
    case 1:
        name = "indexed";
        for (int i = 0; i < m; i++)
            where[i] *= 1 + (int)(draw(s) % 2);
        permutation(s, where, m);
        PMPI_Type_create_indexed_block(m, 1, where, base, &type);
        break;
    case 2:
        name = "hindexed, negative";
        for (int i = 0; i < m; i++)
            at[i] = (where[i] - m / 2) * (cell + 8) - 8;
        PMPI_Type_create_hindexed(m, ones, at, base, &type);
        break;
    case 3:
        name = "struct, negative";
        for (int i = 0; i < m; i++)
            at[i] = (where[i] - m) * (cell + 4);
        PMPI_Type_create_struct(m, ones, at, types, &type);
        break;
    case 4:
        name = "resized larger";
        PMPI_Type_contiguous(m, base, &type);
        PMPI_Type_get_extent(type, &lb, &extent);
        before = 16 * below(s, 2);
        PMPI_Type_create_resized(type, lb - before, extent + before + 8 * below(s, 4), &made);
        now(&type, made);
        break;
    case 5:
        name = "interleaved";
        PMPI_Type_create_hvector(m, 1, cell * span, base, &type);
        PMPI_Type_create_resized(type, 0, cell, &made);
        now(&type, made);
        break;
    case 6:
        name = "vector of vectors";
        inner = m ? divisor(s, m) : 1;
        PMPI_Type_vector(inner, 1, 2, base, &type);
        PMPI_Type_vector(m / inner, 1, 1, type, &made);
        now(&type, made);
        break;
    case 7:
        name = "subarray";
        if (m) {
            int sizes[2], parts[2], starts[2];
            parts[0] = divisor(s, m);
            parts[1] = m / parts[0];
            for (int i = 0; i < 2; i++) {
                sizes[i] = parts[i] + below(s, 3);
                starts[i] = below(s, sizes[i] - parts[i] + 1);
            }
            PMPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, base, &type);
            break;
        }
        PMPI_Type_contiguous(0, base, &type);
        break;
    case 8:
        name = "duplicate";
        PMPI_Type_contiguous(m, base, &type);
        PMPI_Type_dup(type, &made);
        now(&type, made);
        break;
    default:
        PMPI_Type_contiguous(m, base, &type);
    }
    PMPI_Type_commit(&type);
    l->type = type;
    l->mine = true;
    snprintf(l->text, sizeof l->text, "%s x %d", name, m);
}
