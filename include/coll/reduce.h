/* coll/reduce.h — the predefined operators: one loop for each (operator, type), and their choice
 *
 *     coll_op op;
 *     status = coll_op_builtin(&op, COLL_SUM, COLL_F64);
 *
 * or, so that nothing else is linked (bare metal):
 *
 *     const coll_op op = COLL_OP(coll_sum_f64, NULL, true, false);      commutative, not exact
 *
 * Each loop is a coll_combine named coll_<operator>_<type>: dst[i] = a[i] ⊕ b[i]. Buffers are
 * aligned as their elements are; dst may be a or b itself; arg is not used. Memory may be
 * declared as any type of the same bytes.
 *
 *                 sum prod   min max   band bor bxor land lor lxor   minloc maxloc
 *   i8 … u64      exact      exact     exact                         –
 *   f8 … f64      rounded    exact     –                             –
 *   cf32, cf64    rounded    –         –                             –
 *   pairs         –          –         –                             exact
 *
 * All are commutative; exact ones give the same bits in any order and grouping; "–" is COLL_ERR_OP.
 *
 * Integers  sums and products wrap around (two's complement); logical operators give 0 or 1.
 * Floats    rounded to nearest even, once an element (those of 8 and 16 bits too). min and max give a
 *           NaN if an operand is one, and take −0 to be below +0. NaNs that come from floats of 8 or 16
 *           bits, min or max are the default NaN of softfloat.h; those from f32 and f64 sums and
 *           products are the machine's. Sums and products of 8 bits that are too large, and those of
 *           ∞, are the largest number: softfloat.h says why, and names the specification.
 * Complex   sums part by part; products by (a + ib)(c + id) = (ac − bd) + i(ad + bc), each of the six
 *           operations rounded once and none fused, with the infinities of C11's Annex G. Complex
 *           numbers have no order, so they have no min and max.
 * Pairs     the value decides, then the lower index. −0 and +0 are one value; a NaN comes before
 *           any number, for minloc and maxloc alike. Pairs that still tie are told apart by their
 *           bits.
 *
 * A program that is built for any x86-64 has vectors of 16 bytes. Where the processor has wider ones,
 * coll_op_builtin picks other loops (COLL_WIDE_LOOPS, config.h): sums of 16 KiB of f32 take half of the
 * time on vectors of 32 bytes and a quarter on those of 64, sums of f16 half and a fifth; what does not
 * lie in the caches takes as long.
 *
 * With COLL_SOFT_FLOAT (config.h) floats are computed by softfloat.h, with the same results and the
 * default NaN throughout. Without, -ffast-math and its kin void what is said of NaNs, and an x87
 * (gcc -m32 without -mfpmath=sse) may round sums and products of f64 twice.
 */
#ifndef COLL_REDUCE_H
#define COLL_REDUCE_H

#include "reduce/complex.h"
#include "reduce/f8.h"
#include "reduce/floats.h"

/* ---- pairs: a value and the index that minloc and maxloc carry, laid out as MPI's are ---- */

/* An int16_t and its index, of COLL_I16_I32: for MINLOC and MAXLOC. */
typedef struct COLL_I_ALIAS coll_i16_i32 {
    int16_t value;
    int32_t index;
} coll_i16_i32;

/* An int32_t and its index, of COLL_I32_I32: for MINLOC and MAXLOC. */
typedef struct COLL_I_ALIAS coll_i32_i32 {
    int32_t value;
    int32_t index;
} coll_i32_i32;

/* An int64_t and its index, of COLL_I64_I32: for MINLOC and MAXLOC. */
typedef struct COLL_I_ALIAS coll_i64_i32 {
    int64_t value COLL_I_ALIGN(8); /* 16 bytes on every machine */
    int32_t index;
} coll_i64_i32;

/* A float and its index, of COLL_F32_I32: for MINLOC and MAXLOC. */
typedef struct COLL_I_ALIAS coll_f32_i32 {
    float value;
    int32_t index;
} coll_f32_i32;

/* A double and its index, of COLL_F64_I32: for MINLOC and MAXLOC. */
typedef struct COLL_I_ALIAS coll_f64_i32 {
    double value COLL_I_ALIGN(8); /* likewise */
    int32_t index;
} coll_f64_i32;

/* ---- one element: T the type, u ⊕ v the operands ------------------------------------------- */

/* 1u* makes the narrow types unsigned before they are promoted to int, which could overflow. */
#define COLL_I_SUM(T, u, v)  ((T)(1u * (u) + (v)))
#define COLL_I_PROD(T, u, v) ((T)(1u * (u) * (v)))
#define COLL_I_MIN(T, u, v)  ((T)((u) < (v) ? (u) : (v)))
#define COLL_I_MAX(T, u, v)  ((T)((u) > (v) ? (u) : (v)))
#define COLL_I_BAND(T, u, v) ((T)((u) & (v)))
#define COLL_I_BOR(T, u, v)  ((T)((u) | (v)))
#define COLL_I_BXOR(T, u, v) ((T)((u) ^ (v)))
#define COLL_I_LAND(T, u, v) ((T)(((u) != 0) & ((v) != 0)))
#define COLL_I_LOR(T, u, v)  ((T)(((u) | (v)) != 0))
#define COLL_I_LXOR(T, u, v) ((T)(((u) != 0) ^ ((v) != 0)))

#if defined(__clang__) /* warns where it does not use vectors, be that right or not */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* ---- integers ---------------------------------------------------------------------------- */

/* Apart from min and max signed operands give the bits that unsigned ones give. */
#define COLL_I_INTEGER(bits)                                                                   \
    COLL_I_KERNEL(sum_u##bits, coll_i_u##bits, COLL_I_SUM)                                     \
    COLL_I_KERNEL(sum_i##bits, coll_i_u##bits, COLL_I_SUM)                                     \
    COLL_I_KERNEL(prod_u##bits, coll_i_u##bits, COLL_I_PROD)                                   \
    COLL_I_KERNEL(prod_i##bits, coll_i_u##bits, COLL_I_PROD)                                   \
    COLL_I_KERNEL(min_u##bits, coll_i_u##bits, COLL_I_MIN)                                     \
    COLL_I_KERNEL(min_i##bits, coll_i_i##bits, COLL_I_MIN)                                     \
    COLL_I_KERNEL(max_u##bits, coll_i_u##bits, COLL_I_MAX)                                     \
    COLL_I_KERNEL(max_i##bits, coll_i_i##bits, COLL_I_MAX)                                     \
    COLL_I_KERNEL(band_u##bits, coll_i_u##bits, COLL_I_BAND)                                   \
    COLL_I_KERNEL(band_i##bits, coll_i_u##bits, COLL_I_BAND)                                   \
    COLL_I_KERNEL(bor_u##bits, coll_i_u##bits, COLL_I_BOR)                                     \
    COLL_I_KERNEL(bor_i##bits, coll_i_u##bits, COLL_I_BOR)                                     \
    COLL_I_KERNEL(bxor_u##bits, coll_i_u##bits, COLL_I_BXOR)                                   \
    COLL_I_KERNEL(bxor_i##bits, coll_i_u##bits, COLL_I_BXOR)                                   \
    COLL_I_KERNEL(land_u##bits, coll_i_u##bits, COLL_I_LAND)                                   \
    COLL_I_KERNEL(land_i##bits, coll_i_u##bits, COLL_I_LAND)                                   \
    COLL_I_KERNEL(lor_u##bits, coll_i_u##bits, COLL_I_LOR)                                     \
    COLL_I_KERNEL(lor_i##bits, coll_i_u##bits, COLL_I_LOR)                                     \
    COLL_I_KERNEL(lxor_u##bits, coll_i_u##bits, COLL_I_LXOR)                                   \
    COLL_I_KERNEL(lxor_i##bits, coll_i_u##bits, COLL_I_LXOR)

COLL_I_INTEGER(8)
COLL_I_INTEGER(16)
COLL_I_INTEGER(32)
COLL_I_INTEGER(64)

/* ---- pairs ------------------------------------------------------------------------------- */

/* Floats are handled as the integers that have their bits, and compared by keys that order as
 * the values do, −0 and +0 and all NaNs alike. */
COLL_INLINE int32_t coll_i_key_f32(uint32_t x, int32_t nan)
{
    return coll_soft_is_nan_f32(x) ? nan : coll_soft_key_f32(x == 0x80000000u ? 0 : x);
}

COLL_INLINE int64_t coll_i_key_f64(uint64_t x, int64_t nan)
{
    return coll_soft_is_nan_f64(x) ? nan : coll_soft_key_f64(x == 0x8000000000000000u ? 0 : x);
}

#define COLL_I_KEY(value)         (value)
#define COLL_I_KEY_MIN_F32(value) coll_i_key_f32((uint32_t)(value), INT32_MIN)
#define COLL_I_KEY_MAX_F32(value) coll_i_key_f32((uint32_t)(value), INT32_MAX)
#define COLL_I_KEY_MIN_F64(value) coll_i_key_f64((uint64_t)(value), INT64_MIN)
#define COLL_I_KEY_MAX_F64(value) coll_i_key_f64((uint64_t)(value), INT64_MAX)

/* Without branches, which random operands would mispredict; by field, because some compilers
 * call memcpy for a structure. Padding keeps what dst had. */
#define COLL_I_LOC(name, T, V, KEY, BEFORE)                                                    \
    COLL_INLINE void coll_##name(void *dst, const void *a, const void *b, size_t count,        \
                                 void *arg)                                                    \
    {                                                                                          \
        T *to = (T *)dst;                                                                      \
        const T *x = (const T *)a, *y = (const T *)b;                                          \
        (void)arg;                                                                             \
        for (size_t i = 0; i < count; i++) {                                                   \
            const V u = x[i].value, v = y[i].value, k = KEY(u), l = KEY(v);                    \
            const int32_t m = x[i].index, n = y[i].index;                                      \
            const bool first = (k BEFORE l) | ((k == l) & ((m < n) | ((m == n) & (u <= v))));  \
            to[i].value = (V)(v ^ ((u ^ v) & -(V)first));                                      \
            to[i].index = n ^ ((m ^ n) & -(int32_t)first);                                     \
        }                                                                                      \
    }                                                                                          \
    COLL_CONST(coll_i_loops, coll_i_loops_##name, {coll_##name, NULL, NULL});

COLL_I_LOC(minloc_i16_i32, coll_i16_i32, int16_t, COLL_I_KEY, <)
COLL_I_LOC(maxloc_i16_i32, coll_i16_i32, int16_t, COLL_I_KEY, >)
COLL_I_LOC(minloc_i32_i32, coll_i32_i32, int32_t, COLL_I_KEY, <)
COLL_I_LOC(maxloc_i32_i32, coll_i32_i32, int32_t, COLL_I_KEY, >)
COLL_I_LOC(minloc_i64_i32, coll_i64_i32, int64_t, COLL_I_KEY, <)
COLL_I_LOC(maxloc_i64_i32, coll_i64_i32, int64_t, COLL_I_KEY, >)
COLL_I_LOC(minloc_f32_i32, coll_i32_i32, int32_t, COLL_I_KEY_MIN_F32, <)
COLL_I_LOC(maxloc_f32_i32, coll_i32_i32, int32_t, COLL_I_KEY_MAX_F32, >)
COLL_I_LOC(minloc_f64_i32, coll_i64_i32, int64_t, COLL_I_KEY_MIN_F64, <)
COLL_I_LOC(maxloc_f64_i32, coll_i64_i32, int64_t, COLL_I_KEY_MAX_F64, >)

/* ---- the choice -------------------------------------------------------------------------- */

#define COLL_I_OF(name) &coll_i_loops_##name
#define COLL_I_UNSIGNED(name)                                                                  \
    COLL_I_OF(name##_u8), COLL_I_OF(name##_u16), COLL_I_OF(name##_u32), COLL_I_OF(name##_u64)
#define COLL_I_SAME(name) COLL_I_UNSIGNED(name), COLL_I_UNSIGNED(name)
#define COLL_I_SIGNED(name)                                                                    \
    COLL_I_OF(name##_i8), COLL_I_OF(name##_i16), COLL_I_OF(name##_i32), COLL_I_OF(name##_i64), \
        COLL_I_UNSIGNED(name)
#define COLL_I_FLOATS(name)                                                                    \
    COLL_I_OF(name##_f16), COLL_I_OF(name##_bf16), COLL_I_OF(name##_f32), COLL_I_OF(name##_f64)
#define COLL_I_ABSENT        NULL, NULL, NULL, NULL
#define COLL_I_NO_PAIRS      NULL, NULL, NULL, NULL, NULL
#define COLL_I_COMPLEX(name) COLL_I_OF(name##_cf32), COLL_I_OF(name##_cf64)
#define COLL_I_F8(name)      COLL_I_OF(name##_f8_e4m3), COLL_I_OF(name##_f8_e5m2)
#define COLL_I_PAIRS(name)                                                                     \
    COLL_I_OF(name##_i16_i32), COLL_I_OF(name##_i32_i32), COLL_I_OF(name##_i64_i32),           \
        COLL_I_OF(name##_f32_i32), COLL_I_OF(name##_f64_i32)

/* The loops of an operator on a type; NULL if it has none. Where both are constants, nothing else
 * of the table is compiled. */
COLL_HOT_INLINE const coll_i_loops *coll_i_loops_of(coll_operator which, coll_type type)
{
    /* In the order of COLL_OPERATOR_LIST and COLL_TYPE_LIST; what is left out at the end is NULL.
     * */
    /* clang-format off */
    static const coll_i_loops *const table[COLL_OPERATORS][COLL_TYPES] = {
        {COLL_I_SAME(sum), COLL_I_FLOATS(sum), COLL_I_NO_PAIRS, COLL_I_COMPLEX(sum), COLL_I_F8(sum)},
        {COLL_I_SAME(prod), COLL_I_FLOATS(prod), COLL_I_NO_PAIRS, COLL_I_COMPLEX(prod), COLL_I_F8(prod)},
        {COLL_I_SIGNED(min), COLL_I_FLOATS(min), COLL_I_NO_PAIRS, NULL, NULL, COLL_I_F8(min)},
        {COLL_I_SIGNED(max), COLL_I_FLOATS(max), COLL_I_NO_PAIRS, NULL, NULL, COLL_I_F8(max)},
        {COLL_I_SAME(band)},
        {COLL_I_SAME(bor)},
        {COLL_I_SAME(bxor)},
        {COLL_I_SAME(land)},
        {COLL_I_SAME(lor)},
        {COLL_I_SAME(lxor)},
        {COLL_I_ABSENT, COLL_I_ABSENT, COLL_I_ABSENT, COLL_I_PAIRS(minloc)},
        {COLL_I_ABSENT, COLL_I_ABSENT, COLL_I_ABSENT, COLL_I_PAIRS(maxloc)},
    };
    /* clang-format on */
    return which < COLL_OPERATORS && type < COLL_TYPES ? table[which][type] : NULL;
}

/* As coll_op_builtin, with what coll_i_loops_of says. */
COLL_INLINE coll_status coll_i_op_write(coll_op *op, const coll_i_loops *loops,
                                        coll_operator which, coll_type type)
{
    if (type >= COLL_TYPES)
        return COLL_ERR_TYPE;
    if (!loops)
        return COLL_ERR_OP;
    op->combine = loops->plain;
#if COLL_WIDE_LOOPS >= 32
    if (loops->wide && __builtin_cpu_supports("avx2"))
        op->combine = loops->wide;
#endif
#if COLL_WIDE_LOOPS >=                                                                         \
    64 /* processors without VBMI2 become slow for a while after such vectors */
    if (loops->widest && __builtin_cpu_supports("avx512vbmi2"))
        op->combine = loops->widest;
#endif
    op->arg = NULL;
    op->commutative = true;
    op->exact = !((which == COLL_SUM || which == COLL_PROD) && type >= COLL_F16);
    op->number = (uint8_t)(1 + which);
    op->type = (uint8_t)type;
    return COLL_OK;
}

/* Writes the predefined operator on elements of a type to *op. COLL_ERR_TYPE: no such type, or an
 * opaque one; COLL_ERR_OP: no such operator, or not on this type (see the table above). */
COLL_INLINE coll_status coll_op_builtin(coll_op *op, coll_operator which, coll_type type)
{
    return op ? coll_i_op_write(op, coll_i_loops_of(which, type), which, type) : COLL_ERR_NULL;
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#undef COLL_I_ALIAS
#undef COLL_I_ALIGN
#undef COLL_I_SUM
#undef COLL_I_PROD
#undef COLL_I_MIN
#undef COLL_I_MAX
#undef COLL_I_BAND
#undef COLL_I_BOR
#undef COLL_I_BXOR
#undef COLL_I_LAND
#undef COLL_I_LOR
#undef COLL_I_LXOR
#undef COLL_I_UNROLLED
#undef COLL_I_BLOCKS
#undef COLL_I_LOOP
#undef COLL_I_WIDE
#undef COLL_I_WIDEST
#undef COLL_I_WIDE_OF
#undef COLL_I_WIDEST_OF
#undef COLL_I_KERNEL
#undef COLL_I_INTEGER
#undef COLL_I_MIN_F16
#undef COLL_I_MAX_F16
#undef COLL_I_MIN_BF16
#undef COLL_I_MAX_BF16
#undef COLL_I_SUM_F16
#undef COLL_I_PROD_F16
#undef COLL_I_SUM_BF16
#undef COLL_I_PROD_BF16
#undef COLL_I_SUM_F32
#undef COLL_I_PROD_F32
#undef COLL_I_MIN_F32
#undef COLL_I_MAX_F32
#undef COLL_I_SUM_F64
#undef COLL_I_PROD_F64
#undef COLL_I_MIN_F64
#undef COLL_I_MAX_F64
#undef COLL_I_SUM_FLOAT
#undef COLL_I_PROD_FLOAT
#undef COLL_I_KEY
#undef COLL_I_KEY_MIN_F32
#undef COLL_I_KEY_MAX_F32
#undef COLL_I_KEY_MIN_F64
#undef COLL_I_KEY_MAX_F64
#undef COLL_I_LOC
#undef COLL_I_SAME
#undef COLL_I_SIGNED
#undef COLL_I_FLOATS
#undef COLL_I_ABSENT
#undef COLL_I_NO_PAIRS
#undef COLL_I_COMPLEX
#undef COLL_I_F8
#undef COLL_I_MIN_F8_E4M3
#undef COLL_I_MAX_F8_E4M3
#undef COLL_I_MIN_F8_E5M2
#undef COLL_I_MAX_F8_E5M2
#undef COLL_I_SUM_F8_E4M3
#undef COLL_I_PROD_F8_E4M3
#undef COLL_I_SUM_F8_E5M2
#undef COLL_I_PROD_F8_E5M2
#undef COLL_I_COMPLEX_SUM
#undef COLL_I_COMPLEX_PROD
#undef COLL_I_PAIRS
#undef COLL_I_OF
#undef COLL_I_UNSIGNED

#endif /* COLL_REDUCE_H */
