/* mpi/tests/differential/operators.c — operators, the types that they take, and values for them
 *
 * Of what the standard allows, a library may lack some; this is found out by trying. Values are such that
 * the order of operations does not matter for their bits: small whole numbers for reals, anything for
 * integers. The caller's operators are associative on any bits, and know their types by their extents.
 */
#include <stdio.h>
#include <stdlib.h>

#include "differential.h"

static MPI_Op predefined[16];
static const char *const predefined_names[] = {"MAX",  "MIN",  "SUM",    "PROD",
                                               "LAND", "BAND", "LOR",    "BOR",
                                               "LXOR", "BXOR", "MAXLOC", "MINLOC"};
enum { PREDEFINED = 12, SUM = 2 };

/* ---- values ------------------------------------------------------------------------------ */

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

/* A long double has bytes that are nobody's. */
static void long_double_end(unsigned char *at, size_t size)
{
#if defined(__x86_64__) || defined(__i386__)
    if (size == sizeof(long double))
        memset(at + 10, 0, size - 10);
#else
    (void)at;
    (void)size;
#endif
}

static void real_write(enum values values, unsigned char *at, size_t size, int x)
{
    const float f = (float)x;
    const double d = x;
    const long double l = x;
    const quad q = x;
    memset(at, 0, size);
    if (values == QUAD || values == QUAD_COMPLEX) {
        memcpy(at, &q, sizeof q);
        return;
    }
    if (size == sizeof f)
        memcpy(at, &f, sizeof f);
    else if (size == sizeof d)
        memcpy(at, &d, sizeof d);
    else
        memcpy(at, &l, sizeof l);
    long_double_end(at, size);
}

static void integer_write(unsigned char *at, size_t size, int x)
{
    const long l = x;
    const short h = (short)x;
    if (size == sizeof x)
        memcpy(at, &x, sizeof x);
    else if (size == sizeof h)
        memcpy(at, &h, sizeof h);
    else
        memcpy(at, &l, sizeof l);
}

/* Shifts the number's sign away, whichever end it is at. */
static void half_of(unsigned char *at, size_t size)
{
    static const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    at[low ? size - 1 : 0] &= 0x7f;
}

static size_t extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(type, &lb, &extent);
    return (size_t)extent;
}

void values_write(const struct base *base, unsigned char *at, size_t n, struct stream *s)
{
    static const int small[] = {1, 2, -1, 3, 1, -2, 1, 1};
    const size_t step = extent_of(base->type), half = base->size / 2;
    for (size_t i = 0; i < n; i++, at += step) {
        const int x = small[below(s, 8)], y = small[below(s, 8)];
        switch (base->values) {
        case BYTES:
        case INTEGER:
            random_bytes(s, at, base->size);
            if (base->natural) /* both libraries compare some of these as if they were signed */
                half_of(at, base->size);
            break;
        case LOGICAL:
            memset(at, 0, base->size);
            at[0] = chance(s, 70);
            break;
        case REAL:
        case QUAD:
            real_write(base->values, at, base->size, x);
            break;
        case COMPLEX:
        case QUAD_COMPLEX:
            real_write(base->values, at, half, x);
            real_write(base->values, at + half, half, y);
            break;
        case PAIR:
            (base->real ? real_write(REAL, at, base->size, x)
                        : integer_write(at, base->size, x));
            if (base->both && base->real)
                real_write(REAL, at + base->second, base->size, y);
            else
                integer_write(at + base->second, sizeof(int), y);
            break;
        }
    }
}

static void real_level(unsigned char *at, size_t size)
{
    long double l;
    if (size != sizeof l || sizeof l == sizeof(double))
        return;
    memcpy(&l, at, sizeof l);
    if (l == 0)
        memset(at, 0, size);
    long_double_end(at, size);
}

static void zero_level(unsigned char *at, size_t size)
{
    float f;
    double d;
    if (size == sizeof f) {
        memcpy(&f, at, sizeof f);
        if (f == 0)
            memset(at, 0, size);
    } else if (size == sizeof d) {
        memcpy(&d, at, sizeof d);
        if (d == 0)
            memset(at, 0, size);
    }
}

void values_level(const struct base *base, unsigned char *at, size_t n)
{
    const size_t step = extent_of(base->type), half = base->size / 2;
    for (size_t i = 0; i < n; i++, at += step)
        switch (base->values) {
        case REAL:
            real_level(at, base->size);
            break;
        case COMPLEX:
            real_level(at, half);
            real_level(at + half, half);
            zero_level(at, half);
            zero_level(at + half, half);
            break;
        case PAIR:
            if (base->real)
                real_level(at, base->size);
            memset(at + base->size, 0, base->second - base->size);
            if (!base->both)
                memset(at + base->second + sizeof(int), 0, step - base->second - sizeof(int));
            break;
        default:
            break;
        }
}

/* ---- the caller's operators -------------------------------------------------------------- */

/* The types that they take: where the numbers of an element are. */
enum { SHAPES = 8 };
static const struct shape {
    int numbers;
    MPI_Aint at[4], lb,
        extent; /* extents differ; lb 0 and extent of the numbers: no resizing */
    const char *text;
} shapes[SHAPES] = {
    {2, {0, 4}, 0, 8, "two"},
    {2, {4, 0}, 0, 12, "two exchanged, resized"},
    {2, {0, 16}, 0, 20, "two with a gap"},
    {2, {-8, 4}, -8, 24, "two, negative"},
    {4, {0, 4, 8, 12}, 0, 16, "four"},
    {4, {12, 0, 8, 4}, 0, 28, "four permuted, resized"},
    {4, {-16, -4, 20, 8}, -16, 40, "four, negative"},
    {4, {0, 8, 16, 24}, -4, 32, "four with gaps, resized down"},
};

static const struct shape *shape_of(MPI_Datatype type)
{
    const MPI_Aint extent = (MPI_Aint)extent_of(type);
    for (int i = 0; i < SHAPES; i++)
        if (shapes[i].extent == extent)
            return &shapes[i];
    fprintf(stderr, "differential: an operator was called with a type that it was not given\n");
    abort();
}

/* Of two numbers x → a·x + b, of four the product of matrices: neither commutes. */
static void compose_some(const unsigned char *in, unsigned char *inout, size_t n,
                         MPI_Datatype type)
{
    const struct shape *s = shape_of(type);
    for (size_t i = 0; i < n; i++, in += s->extent, inout += s->extent) {
        uint32_t a[4], b[4], c[4];
        for (int k = 0; k < s->numbers; k++) {
            memcpy(&a[k], in + s->at[k], 4);
            memcpy(&b[k], inout + s->at[k], 4);
        }
        if (s->numbers == 2) {
            c[0] = a[0] * b[0];
            c[1] = a[0] * b[1] + a[1];
        } else {
            for (int k = 0; k < 4; k++)
                c[k] = a[k & 2] * b[k & 1] + a[(k & 2) + 1] * b[2 + (k & 1)];
        }
        for (int k = 0; k < s->numbers; k++)
            memcpy(inout + s->at[k], &c[k], 4);
    }
}

/* Commutes: sums and exclusive ors in turn. */
static void mix_some(const unsigned char *in, unsigned char *inout, size_t n, MPI_Datatype type)
{
    const struct shape *s = shape_of(type);
    for (size_t i = 0; i < n; i++, in += s->extent, inout += s->extent)
        for (int k = 0; k < s->numbers; k++) {
            uint32_t a, b;
            memcpy(&a, in + s->at[k], 4);
            memcpy(&b, inout + s->at[k], 4);
            b = k & 1 ? a ^ b : a + b;
            memcpy(inout + s->at[k], &b, 4);
        }
}

/* The first operand, of any predefined type: does not commute. */
static void first_some(const void *in, void *inout, size_t n, MPI_Datatype type)
{
    MPI_Aint lb, last;
    PMPI_Type_get_true_extent(type, &lb, &last);
    if (n > 0)
        memcpy(inout, in, (n - 1) * extent_of(type) + (size_t)last);
}

#define CALLBACKS(name)                                                                        \
    static void name(void *in, void *inout, int *n, MPI_Datatype *type)                        \
    {                                                                                          \
        name##_some(in, inout, (size_t)*n, *type);                                             \
    }                                                                                          \
    LARGE_CALLBACK(name)
#if LARGE_COUNTS
#define LARGE_CALLBACK(name)                                                                   \
    static void name##_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)              \
    {                                                                                          \
        name##_some(in, inout, (size_t)*n, *type);                                             \
    }
#else
#define LARGE_CALLBACK(name)
#endif
CALLBACKS(compose)
CALLBACKS(mix)
CALLBACKS(first)

static void op_make(struct operator_ *o, struct stream *s, MPI_User_function *function,
                    void (*function_c)(void *, void *, MPI_Count *, MPI_Datatype *),
                    bool commutes)
{
    o->mine = true;
#if LARGE_COUNTS
    if (function_c && chance(s, 30)) {
        MPI_Op_create_c(function_c, commutes, &o->op);
        return;
    }
#else
    (void)s;
    (void)function_c;
#endif
    MPI_Op_create(function, commutes, &o->op);
}

#if LARGE_COUNTS
#define BOTH(name) name, name##_c
#else
#define BOTH(name) name, NULL
#endif

static void derived_draw(struct operator_ *o, struct stream *s)
{
    const struct shape *shape = &shapes[below(s, SHAPES)];
    int ones[4] = {1, 1, 1, 1};
    MPI_Datatype type;
    PMPI_Type_create_hindexed(shape->numbers, ones, shape->at, MPI_UINT32_T, &type);
    PMPI_Type_create_resized(type, shape->lb, shape->extent, &o->type);
    PMPI_Type_free(&type);
    PMPI_Type_commit(&o->type);
    o->type_mine = true;
    const bool commutes = chance(s, 30);
    if (commutes)
        op_make(o, s, BOTH(mix), true);
    else
        op_make(o, s, BOTH(compose), false);
    snprintf(o->text, sizeof o->text, "%s of %s", commutes ? "mix" : "compose", shape->text);
}

/* ---- drawing ------------------------------------------------------------------------------ */

void operators_begin(void)
{
    const MPI_Op all[PREDEFINED] = {MPI_MAX,  MPI_MIN,  MPI_SUM,    MPI_PROD,
                                    MPI_LAND, MPI_BAND, MPI_LOR,    MPI_BOR,
                                    MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    MPI_Errhandler on_world, on_self;
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &on_world);
    PMPI_Comm_get_errhandler(MPI_COMM_SELF, &on_self);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    memcpy(predefined, all, sizeof all);
    for (int i = 0; i < base_count; i++)
        for (int k = 0; k < PREDEFINED; k++) {
            _Alignas(16) unsigned char a[64], b[64];
            struct stream s = stream_of(1, 2, 3);
            values_write(&bases[i], a, 1, &s);
            memcpy(b, a, sizeof b);
            if (!(bases[i].operators >> k & 1))
                continue;
            if (PMPI_Reduce_local(a, b, 1, bases[i].type, all[k]) != MPI_SUCCESS)
                bases[i].operators &= ~(1u << k);
            /* A library's quads may be another kind than the compiler's; sums tell. */
            if ((bases[i].values == QUAD || bases[i].values == QUAD_COMPLEX) && k == SUM) {
                quad x, y;
                memcpy(&x, a, sizeof x);
                memcpy(&y, b, sizeof y);
                if (y != x + x)
                    bases[i].operators = 0;
            }
        }
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, on_world);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, on_self);
    PMPI_Errhandler_free(&on_world);
    PMPI_Errhandler_free(&on_self);
}

void operator_draw(struct operator_ *o, struct stream *s)
{
    *o = (struct operator_){.op = MPI_OP_NULL};
    const int kind = below(s, 100);
    if (kind < 30) {
        derived_draw(o, s);
        return;
    }
    const struct base *base = &bases[below(s, base_count)];
    while (kind >= 40 && !base->operators)
        base = &bases[below(s, base_count)];
    o->type = base->type;
    o->base = base;
    if (kind < 40) {
        op_make(o, s, BOTH(first), false);
        snprintf(o->text, sizeof o->text, "first of %s", base->name);
        return;
    }
    int k;
    do
        k = below(s, PREDEFINED);
    while (!(base->operators >> k & 1));
    o->op = predefined[k];
    snprintf(o->text, sizeof o->text, "%s of %s", predefined_names[k], base->name);
}
