/* mpi/layer/types.c — datatypes
 *
 * Of a predefined type all is known from the start. Of one that the program made, a record is
 * made when it is first used, and hangs on it as an attribute until it is freed.
 */
#include <stdlib.h>

#include "layer.h"

enum { NAMED_MAX = 128, NAMED_SLOTS = 256 };

static struct type named[NAMED_MAX];
static struct type *named_slots[NAMED_SLOTS];
static size_t n_named;
static int keyval = MPI_KEYVAL_INVALID;

static size_t slot_of(MPI_Datatype datatype)
{
    uint64_t word = 0;
    memcpy(&word, &datatype, sizeof datatype);
    return (size_t)((word * 0x9E3779B97F4A7C15u) >> 56);
}

/* ---- predefined types -------------------------------------------------------------------- */

static coll_type element_of(type_kind kind, size_t size, bool is_signed)
{
    if (kind == KIND_FLOATING)
        return size == 4 ? COLL_F32 : size == 8 ? COLL_F64 : COLL_TYPES;
    if (kind == KIND_COMPLEX)
        return size == 8 ? COLL_CF32 : size == 16 ? COLL_CF64 : COLL_TYPES;
    if (kind != KIND_INTEGER && kind != KIND_FORTRAN_INTEGER && kind != KIND_BYTE &&
        kind != KIND_CHARACTER)
        return COLL_TYPES;
    switch (size) {
    case 1:
        return is_signed ? COLL_I8 : COLL_U8;
    case 2:
        return is_signed ? COLL_I16 : COLL_U16;
    case 4:
        return is_signed ? COLL_I32 : COLL_U32;
    case 8:
        return is_signed ? COLL_I64 : COLL_U64;
    default:
        return COLL_TYPES;
    }
}

static bool measure(struct type *type)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    if (PMPI_Type_size_x(type->handle, &size) != MPI_SUCCESS ||
        PMPI_Type_get_extent_x(type->handle, &lb, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent_x(type->handle, &true_lb, &true_extent) != MPI_SUCCESS ||
        size < 0)
        return false;
    type->size = (size_t)size;
    type->extent = (ptrdiff_t)extent;
    type->lb = (ptrdiff_t)lb;
    type->true_lb = (ptrdiff_t)true_lb;
    type->true_extent = (ptrdiff_t)true_extent;
    return true;
}

static void name(MPI_Datatype datatype, type_kind kind, bool is_signed, coll_type pair)
{
    struct type *type = &named[n_named];
    size_t slot = slot_of(datatype);
    if (datatype == MPI_DATATYPE_NULL)
        return; /* the library does not have it */
    while (named_slots[slot] && named_slots[slot]->handle != datatype)
        slot = (slot + 1) % NAMED_SLOTS;
    if (named_slots[slot])
        return; /* another name of the same type */
    type->handle = datatype;
    if (!measure(type) || type->size == 0)
        return;
    type->kind = kind;
    type->predefined = true;
    if (kind == KIND_CHARACTER)
        is_signed = operations_ask(type);
    else
        (void)operations_ask(type);
    /* Of a pair, only the gap is open, and pairs that have one are longer than their data. */
    type->flat = type->true_extent == (ptrdiff_t)type->size;
    type->dense = type->flat && type->extent == (ptrdiff_t)type->size;
    type->element = kind == KIND_PAIR && type->dense && coll_type_bytes(pair) == type->size
                        ? pair
                        : element_of(kind, type->size, is_signed);
    named_slots[slot] = type;
    n_named++;
}

static int drop(MPI_Datatype datatype, int key, void *value, void *extra)
{
    struct type *type = (struct type *)value;
    (void)datatype;
    (void)key;
    (void)extra;
    free(type);
    return MPI_SUCCESS;
}

#define OF(kind, sign, datatype) name(datatype, kind, sign, COLL_TYPES)

void types_init(void)
{
    const MPI_Comm both[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    MPI_Errhandler handlers[2];
    for (unsigned i = 0; i < 2; i++) {
        PMPI_Comm_get_errhandler(both[i], &handlers[i]);
        PMPI_Comm_set_errhandler(both[i], MPI_ERRORS_RETURN);
    }
    OF(KIND_INTEGER, true, MPI_SIGNED_CHAR);
    OF(KIND_INTEGER, true, MPI_SHORT);
    OF(KIND_INTEGER, true, MPI_INT);
    OF(KIND_INTEGER, true, MPI_LONG);
    OF(KIND_INTEGER, true, MPI_LONG_LONG_INT);
    OF(KIND_INTEGER, true, MPI_INT8_T);
    OF(KIND_INTEGER, true, MPI_INT16_T);
    OF(KIND_INTEGER, true, MPI_INT32_T);
    OF(KIND_INTEGER, true, MPI_INT64_T);
    OF(KIND_INTEGER, false, MPI_UNSIGNED_CHAR);
    OF(KIND_INTEGER, false, MPI_UNSIGNED_SHORT);
    OF(KIND_INTEGER, false, MPI_UNSIGNED);
    OF(KIND_INTEGER, false, MPI_UNSIGNED_LONG);
    OF(KIND_INTEGER, false, MPI_UNSIGNED_LONG_LONG);
    OF(KIND_INTEGER, false, MPI_UINT8_T);
    OF(KIND_INTEGER, false, MPI_UINT16_T);
    OF(KIND_INTEGER, false, MPI_UINT32_T);
    OF(KIND_INTEGER, false, MPI_UINT64_T);
    OF(KIND_INTEGER, true, MPI_AINT);
    OF(KIND_INTEGER, true, MPI_OFFSET);
    OF(KIND_INTEGER, true, MPI_COUNT);
    OF(KIND_FLOATING, true, MPI_FLOAT);
    OF(KIND_FLOATING, true, MPI_DOUBLE);
    OF(KIND_FLOATING, true, MPI_LONG_DOUBLE);
    OF(KIND_COMPLEX, true, MPI_C_FLOAT_COMPLEX);
    OF(KIND_COMPLEX, true, MPI_C_DOUBLE_COMPLEX);
    OF(KIND_COMPLEX, true, MPI_C_LONG_DOUBLE_COMPLEX);
    OF(KIND_LOGICAL, false, MPI_C_BOOL);
    OF(KIND_LOGICAL, false, MPI_CXX_BOOL);
    OF(KIND_COMPLEX, true, MPI_CXX_FLOAT_COMPLEX);
    OF(KIND_COMPLEX, true, MPI_CXX_DOUBLE_COMPLEX);
    OF(KIND_COMPLEX, true, MPI_CXX_LONG_DOUBLE_COMPLEX);
    OF(KIND_BYTE, false, MPI_BYTE);
    OF(KIND_CHARACTER, true, MPI_CHAR);
    OF(KIND_OTHER, false, MPI_WCHAR);
    OF(KIND_OTHER, false, MPI_PACKED);
    OF(KIND_FORTRAN_INTEGER, true, MPI_INTEGER);
    OF(KIND_FORTRAN_INTEGER, true, MPI_INTEGER1);
    OF(KIND_FORTRAN_INTEGER, true, MPI_INTEGER2);
    OF(KIND_FORTRAN_INTEGER, true, MPI_INTEGER4);
    OF(KIND_FORTRAN_INTEGER, true, MPI_INTEGER8);
    OF(KIND_FLOATING, true, MPI_REAL);
    OF(KIND_FLOATING, true, MPI_DOUBLE_PRECISION);
    OF(KIND_FLOATING, true, MPI_REAL4);
    OF(KIND_FLOATING, true, MPI_REAL8);
    OF(KIND_FLOATING, true, MPI_REAL16);
    OF(KIND_COMPLEX, true, MPI_COMPLEX);
    OF(KIND_COMPLEX, true, MPI_DOUBLE_COMPLEX);
    OF(KIND_COMPLEX, true, MPI_COMPLEX8);
    OF(KIND_COMPLEX, true, MPI_COMPLEX16);
    OF(KIND_COMPLEX, true, MPI_COMPLEX32);
    OF(KIND_LOGICAL, true, MPI_LOGICAL);
    OF(KIND_CHARACTER, true, MPI_CHARACTER);
    name(MPI_2INT, KIND_PAIR, true, COLL_I32_I32);
    name(MPI_FLOAT_INT, KIND_PAIR, true, COLL_F32_I32);
    OF(KIND_PAIR, true, MPI_DOUBLE_INT);
    OF(KIND_PAIR, true, MPI_LONG_INT);
    OF(KIND_PAIR, true, MPI_SHORT_INT);
    OF(KIND_PAIR, true, MPI_LONG_DOUBLE_INT);
    OF(KIND_PAIR, true, MPI_2REAL);
    OF(KIND_PAIR, true, MPI_2DOUBLE_PRECISION);
    name(MPI_2INTEGER, KIND_PAIR, true, COLL_I32_I32);
    for (unsigned i = 0; i < 2; i++) {
        PMPI_Comm_set_errhandler(both[i], handlers[i]);
        if (handlers[i] != MPI_ERRHANDLER_NULL)
            PMPI_Errhandler_free(&handlers[i]);
    }
    (void)PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop, &keyval, NULL);
}

void types_end(void)
{
    (void)PMPI_Type_free_keyval(&keyval);
}

/* ---- types that the program made --------------------------------------------------------- */

/* Is what the library sends of one element its bytes, in their order? Found by sending each
 * byte's number, a digit of base 256 at a time. */
static bool sends_bytes_in_order(const struct type *type)
{
    const size_t size = type->size;
    unsigned char *bytes = malloc(2 * size), *sent = bytes + size;
    bool same = bytes != NULL;
    for (unsigned digit = 0; same && digit < 32 && (digit == 0 || size >> digit != 0);
         digit += 8) {
        int at = 0;
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(i >> digit);
        same = PMPI_Pack(bytes - type->true_lb, 1, type->handle, sent, (int)size, &at,
                         settings.self) == MPI_SUCCESS &&
               (size_t)at == size && memcmp(bytes, sent, size) == 0;
    }
    free(bytes);
    return same;
}

/* Whether an element's data is one run of bytes. Long types are asked for what they are made of
 * first: packing gigabytes for an answer would be a bad surprise. */
static bool is_flat(const struct type *type)
{
    enum { PROBED_MOST = 1 << 26 };
    int n_ints, n_aints, n_types, combiner, ints[1];
    MPI_Aint aints[1];
    MPI_Datatype inner;
    const struct type *of;
    bool flat;
    if (type->true_extent != (ptrdiff_t)type->size || type->size == 0)
        return false;
    if (type->size <= PROBED_MOST)
        return sends_bytes_in_order(type);
    if (PMPI_Type_get_envelope(type->handle, &n_ints, &n_aints, &n_types, &combiner) !=
            MPI_SUCCESS ||
        n_ints > 1 || n_aints > 0 || n_types != 1 ||
        (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) ||
        PMPI_Type_get_contents(type->handle, n_ints, 0, 1, ints, aints, &inner) != MPI_SUCCESS)
        return false;
    of = type_of(inner);
    flat = of && (combiner == MPI_COMBINER_DUP ? of->flat : of->dense);
    if (of && !of->predefined)
        (void)PMPI_Type_free(&inner);
    return flat;
}

/* Does the library take it for communication? */
static bool is_legal(const struct type *type)
{
    unsigned char nothing;
    int at = 0;
    return PMPI_Pack(&nothing, 0, type->handle, &nothing, 1, &at, settings.self) == MPI_SUCCESS;
}

static struct type *derive(MPI_Datatype datatype)
{
    struct type *type = calloc(1, sizeof *type);
    if (!type)
        return NULL;
    type->handle = datatype;
    type->kind = KIND_OTHER;
    type->element = COLL_TYPES;
    if (!measure(type) || !is_legal(type)) {
        free(type);
        return NULL;
    }
    type->flat = is_flat(type);
    type->dense = type->flat && type->extent == (ptrdiff_t)type->size;
    if (PMPI_Type_set_attr(datatype, keyval, type) != MPI_SUCCESS) {
        free(type);
        return NULL;
    }
    return type;
}

struct type *type_of(MPI_Datatype datatype)
{
    void *value;
    int found = 0;
    for (size_t slot = slot_of(datatype); named_slots[slot]; slot = (slot + 1) % NAMED_SLOTS)
        if (named_slots[slot]->handle == datatype)
            return named_slots[slot];
    if (datatype == MPI_DATATYPE_NULL ||
        PMPI_Type_get_attr(datatype, keyval, &value, &found) != MPI_SUCCESS)
        return NULL;
    return found ? (struct type *)value : derive(datatype);
}

void type_use(struct type *type)
{
    if (type && !type->predefined)
        type->users++;
}

void type_done(struct type *type)
{
    if (!type || type->predefined || --type->users > 0 || !type->freed)
        return;
    MPI_Datatype handle = type->handle;
    (void)PMPI_Type_free(&handle);
}

/* A type that jobs still need is freed by the last of them. */
EXPORT int MPI_Type_free(MPI_Datatype *datatype)
{
    void *value;
    int found = 0;
    if (!settings.ready || !datatype || *datatype == MPI_DATATYPE_NULL)
        return PMPI_Type_free(datatype);
    lock();
    if (PMPI_Type_get_attr(*datatype, keyval, &value, &found) == MPI_SUCCESS && found &&
        ((struct type *)value)->users > 0) {
        ((struct type *)value)->freed = true;
        *datatype = MPI_DATATYPE_NULL;
        unlock();
        return MPI_SUCCESS;
    }
    unlock();
    return PMPI_Type_free(datatype);
}
