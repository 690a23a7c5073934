/* coll/comm/scaled.h — averages, and sums of operands that each rank multiplies by a factor of its own
 *
 *   coll_scaled_op memory;                           // at a fixed place, as long as the operator
 *   coll_operator average;
 *   status = coll_comm_add_average(&comm, &memory, COLL_F32, &average);
 *   status = coll_allreduce(&comm, x, y, n, COLL_F32, average);
 *   … coll_comm_remove_op(&comm, average);
 *
 * Every algorithm computes the sum; a call of the communicator multiplies before it starts, and divides when it
 * is done. So the sum's operator, its rules and its hardware apply, and what is said of order and bits of
 * sums. Blocking, nonblocking and persistent calls take such operators.
 *
 *   average       (x₀ + … + x₍n₋₁₎) / n, of as many operands as the result has: p; of a scan r + 1 on
 *                 rank r, of an exscan r. One division, last. Integers are truncated towards zero, after a
 *                 sum that wraps around; floats of 8 and 16 bits are divided in f32; complex numbers by parts.
 *   premul sum    f₀·x₀ + … + f₍p₋₁₎·x₍p₋₁₎, with the factor that rank r gave. Products are those of
 *                 COLL_PROD, each rounded once before anything is added. The operand is copied to the
 *                 communicator's memory, of which coll_comm_bytes knows; in place it is multiplied where
 *                 it lies.
 *
 * NCCL has both for its reductions (ncclAvg, ncclRedOpCreatePreMulSum), and multiplies floats by 1/n before the
 * sum; dividing at the end keeps sums exact that are exact, and costs an overflow where the sum overflows.
 * Whoever drives the executor himself scales his buffers himself.
 */
#ifndef COLL_COMM_SCALED_H
#define COLL_COMM_SCALED_H

#include "../reduce.h"
#include "communicator.h"

enum { COLL_I_FACTOR_WORDS = 64 };

/* An average or a premultiplied sum on elements of one type. Private. */
typedef struct coll_scaled_op {
    coll_i_scaling scaling;     /* the first member */
    coll_op_entry entry;        /* of the sum */
    coll_op product;            /* of operand and factor */
    size_t elem_bytes, at_once; /* bytes of an element, and how many factors there are */
    uint64_t factors[COLL_I_FACTOR_WORDS]; /* the factor, `at_once` times */
} coll_scaled_op;

/* ---- dividing ------------------------------------------------------------------------------ */

#define COLL_I_SIGNED(v, n)   ((int64_t)(v) / (int64_t)(n))
#define COLL_I_UNSIGNED(v, n) ((v) / (n))
#if !COLL_SOFT_FLOAT
#define COLL_I_F8_E4M3(v, n)                                                                   \
    coll_i_f8_e4m3_from_float(coll_i_float_from_f8_e4m3(v) / (float)(n))
#define COLL_I_F8_E5M2(v, n)                                                                   \
    coll_i_f8_e5m2_from_float(coll_i_float_from_f8_e5m2(v) / (float)(n))
#define COLL_I_F16(v, n) coll_i_f16_from_float(coll_i_float_from_f16(v) / (float)(n))
#define COLL_I_BF16(v, n)                                                                      \
    coll_bf16_from_f32(coll_i_bits(coll_i_float_from_bf16(v) / (float)(n)))
#define COLL_I_F32(v, n) ((v) / (float)(n))
#define COLL_I_F64(v, n) ((v) / (double)(n))
#endif

/* x[i] = QUOTIENT(x[i], n). */
#define COLL_I_DIVIDE(name, T, QUOTIENT)                                                       \
    COLL_INLINE void coll_i_divide_##name(void *x, size_t count, uint32_t n)                   \
    {                                                                                          \
        T *to = (T *)x;                                                                        \
        for (size_t i = 0; i < count; i++)                                                     \
            to[i] = (T)QUOTIENT(to[i], n);                                                     \
    }

COLL_I_DIVIDE(i8, coll_i_i8, COLL_I_SIGNED)
COLL_I_DIVIDE(i16, coll_i_i16, COLL_I_SIGNED)
COLL_I_DIVIDE(i32, coll_i_i32, COLL_I_SIGNED)
COLL_I_DIVIDE(i64, coll_i_i64, COLL_I_SIGNED)
COLL_I_DIVIDE(u8, coll_i_u8, COLL_I_UNSIGNED)
COLL_I_DIVIDE(u16, coll_i_u16, COLL_I_UNSIGNED)
COLL_I_DIVIDE(u32, coll_i_u32, COLL_I_UNSIGNED)
COLL_I_DIVIDE(u64, coll_i_u64, COLL_I_UNSIGNED)
#if !COLL_SOFT_FLOAT
COLL_I_DIVIDE(f8_e4m3, coll_i_u8, COLL_I_F8_E4M3)
COLL_I_DIVIDE(f8_e5m2, coll_i_u8, COLL_I_F8_E5M2)
COLL_I_DIVIDE(f16, coll_i_u16, COLL_I_F16)
COLL_I_DIVIDE(bf16, coll_i_u16, COLL_I_BF16)
COLL_I_DIVIDE(f32, coll_i_f32, COLL_I_F32)
COLL_I_DIVIDE(f64, coll_i_f64, COLL_I_F64)

COLL_INLINE void coll_i_divide_cf32(void *x, size_t count, uint32_t n)
{
    coll_i_divide_f32(x, 2 * count, n);
}

COLL_INLINE void coll_i_divide_cf64(void *x, size_t count, uint32_t n)
{
    coll_i_divide_f64(x, 2 * count, n);
}
#define COLL_I_DIVIDE_FLOATS(X)                                                                \
    X(f8_e4m3, F8_E4M3)                                                                        \
    X(f8_e5m2, F8_E5M2)                                                                        \
    X(f16, F16) X(bf16, BF16) X(f32, F32) X(f64, F64) X(cf32, CF32) X(cf64, CF64)
#else
#define COLL_I_DIVIDE_FLOATS(X)
#endif
#undef COLL_I_DIVIDE
#undef COLL_I_SIGNED
#undef COLL_I_UNSIGNED
#undef COLL_I_F8_E4M3
#undef COLL_I_F8_E5M2
#undef COLL_I_F16
#undef COLL_I_BF16
#undef COLL_I_F32
#undef COLL_I_F64

/* Divides elements of a type; NULL: they cannot be divided. */
COLL_INLINE void (*coll_i_divide_of(coll_type type))(void *x, size_t count, uint32_t n)
{
#define COLL_I_DIVIDE_CASE(name, NAME)                                                         \
    case COLL_##NAME:                                                                          \
        return coll_i_divide_##name;
    switch (type) {
        COLL_I_DIVIDE_CASE(i8, I8)
        COLL_I_DIVIDE_CASE(i16, I16)
        COLL_I_DIVIDE_CASE(i32, I32)
        COLL_I_DIVIDE_CASE(i64, I64)
        COLL_I_DIVIDE_CASE(u8, U8)
        COLL_I_DIVIDE_CASE(u16, U16)
        COLL_I_DIVIDE_CASE(u32, U32)
        COLL_I_DIVIDE_CASE(u64, U64)
        COLL_I_DIVIDE_FLOATS(COLL_I_DIVIDE_CASE)
    default:
        return NULL;
    }
#undef COLL_I_DIVIDE_CASE
}
#undef COLL_I_DIVIDE_FLOATS

/* ---- multiplying --------------------------------------------------------------------------- */

/* As many elements at once as there are copies of the factor. */
COLL_INLINE void coll_i_scaled_multiply(const coll_i_scaling *scaling, void *to,
                                        const void *from, size_t count)
{
    const coll_scaled_op *op = (const coll_scaled_op *)(const void *)scaling;
    const unsigned char *x = (const unsigned char *)from;
    unsigned char *y = (unsigned char *)to;
    for (size_t n; count > 0; count -= n) {
        n = count < op->at_once ? count : op->at_once;
        op->product.combine(y, x, op->factors, n, op->product.arg);
        x += n * op->elem_bytes;
        y += n * op->elem_bytes;
    }
}

/* ---- operators ----------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_scaled_add(coll_comm *comm, coll_scaled_op *memory,
                                          coll_type type, coll_operator *number)
{
    coll_op sum;
    coll_status status = coll_op_builtin(&sum, COLL_SUM, type);
    if (status == COLL_OK)
        status = coll_comm_add_op(comm, &memory->entry, &sum, type, number);
    if (status == COLL_OK)
        memory->entry.scaling = &memory->scaling;
    return status;
}

/* Makes the average on elements of a type known to a communicator and all that share its root communicator, as
 * coll_comm_add_op does, and writes its number. `memory` is the caller's until the root communicator is freed,
 * or coll_comm_remove_op. COLL_ERR_TYPE: no predefined type; COLL_ERR_OP: pairs, and with COLL_SOFT_FLOAT floats. */
COLL_INLINE coll_status coll_comm_add_average(coll_comm *comm, coll_scaled_op *memory,
                                              coll_type type, coll_operator *number)
{
    if (!comm || !memory || !number)
        return COLL_ERR_NULL;
    if (type >= COLL_TYPES)
        return COLL_ERR_TYPE;
    memory->scaling.multiply = NULL;
    memory->scaling.divide = coll_i_divide_of(type);
    return memory->scaling.divide ? coll_i_scaled_add(comm, memory, type, number) : COLL_ERR_OP;
}

/* The same of the sum of operands that are multiplied by *factor, an element of the type, which is copied. Ranks
 * may give different ones. COLL_ERR_OP: pairs, which have no product. */
COLL_INLINE coll_status coll_comm_add_premul_sum(coll_comm *comm, coll_scaled_op *memory,
                                                 const void *factor, coll_type type,
                                                 coll_operator *number)
{
    unsigned char *factors;
    coll_status status;
    if (!comm || !memory || !factor || !number)
        return COLL_ERR_NULL;
    status = coll_op_builtin(&memory->product, COLL_PROD, type);
    if (status != COLL_OK)
        return status;
    memory->scaling.multiply = coll_i_scaled_multiply;
    memory->scaling.divide = NULL;
    memory->elem_bytes = coll_type_bytes(type);
    memory->at_once = sizeof memory->factors / memory->elem_bytes;
    factors = (unsigned char *)memory->factors;
    for (size_t i = 0; i < memory->at_once; i++)
        COLL_COPY(factors + i * memory->elem_bytes, factor, memory->elem_bytes);
    return coll_i_scaled_add(comm, memory, type, number);
}

#endif /* COLL_COMM_SCALED_H */
