/* coll/reduce/floats.h — the predefined operators on f16, bf16, f32 and f64
 *
 * A part of reduce.h, which says what they do.
 */
#ifndef COLL_REDUCE_FLOATS_H
#define COLL_REDUCE_FLOATS_H

#include "../softfloat.h"
#include "loop.h"

#if defined(__clang__) /* warns where it does not use vectors, be that right or not */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define COLL_I_MIN_F16(T, u, v)  coll_soft_min_f16((u), (v))
#define COLL_I_MAX_F16(T, u, v)  coll_soft_max_f16((u), (v))
#define COLL_I_MIN_BF16(T, u, v) coll_soft_min_bf16((u), (v))
#define COLL_I_MAX_BF16(T, u, v) coll_soft_max_bf16((u), (v))

COLL_I_KERNEL(min_f16, coll_i_u16, COLL_I_MIN_F16)
COLL_I_KERNEL(max_f16, coll_i_u16, COLL_I_MAX_F16)
COLL_I_KERNEL(min_bf16, coll_i_u16, COLL_I_MIN_BF16)
COLL_I_KERNEL(max_bf16, coll_i_u16, COLL_I_MAX_BF16)

#if COLL_SOFT_FLOAT

#define COLL_I_SUM_F16(T, u, v)                                                                \
    coll_f16_from_f32(coll_soft_add_f32(coll_f32_from_f16(u), coll_f32_from_f16(v)))
#define COLL_I_PROD_F16(T, u, v)                                                               \
    coll_f16_from_f32(coll_soft_mul_f32(coll_f32_from_f16(u), coll_f32_from_f16(v)))
#define COLL_I_SUM_BF16(T, u, v)                                                               \
    coll_bf16_from_f32(coll_soft_add_f32(coll_f32_from_bf16(u), coll_f32_from_bf16(v)))
#define COLL_I_PROD_BF16(T, u, v)                                                              \
    coll_bf16_from_f32(coll_soft_mul_f32(coll_f32_from_bf16(u), coll_f32_from_bf16(v)))
#define COLL_I_SUM_F32(T, u, v)  coll_soft_add_f32((u), (v))
#define COLL_I_PROD_F32(T, u, v) coll_soft_mul_f32((u), (v))
#define COLL_I_MIN_F32(T, u, v)  coll_soft_min_f32((u), (v))
#define COLL_I_MAX_F32(T, u, v)  coll_soft_max_f32((u), (v))
#define COLL_I_SUM_F64(T, u, v)  coll_soft_add_f64((u), (v))
#define COLL_I_PROD_F64(T, u, v) coll_soft_mul_f64((u), (v))
#define COLL_I_MIN_F64(T, u, v)  coll_soft_min_f64((u), (v))
#define COLL_I_MAX_F64(T, u, v)  coll_soft_max_f64((u), (v))

COLL_I_KERNEL(sum_f32, coll_i_u32, COLL_I_SUM_F32)
COLL_I_KERNEL(min_f32, coll_i_u32, COLL_I_MIN_F32)
COLL_I_KERNEL(max_f32, coll_i_u32, COLL_I_MAX_F32)
COLL_I_KERNEL(prod_f32, coll_i_u32, COLL_I_PROD_F32)
COLL_I_KERNEL(sum_f64, coll_i_u64, COLL_I_SUM_F64)
COLL_I_KERNEL(min_f64, coll_i_u64, COLL_I_MIN_F64)
COLL_I_KERNEL(max_f64, coll_i_u64, COLL_I_MAX_F64)
COLL_I_KERNEL(prod_f64, coll_i_u64, COLL_I_PROD_F64)

#else

typedef union coll_i_word32 {
    uint32_t bits;
    float value;
} coll_i_word32;

typedef union coll_i_word64 {
    uint64_t bits;
    double value;
} coll_i_word64;

COLL_INLINE float coll_i_float(uint32_t bits)
{
    coll_i_word32 word;
    word.bits = bits;
    return word.value;
}

COLL_INLINE uint32_t coll_i_bits(float value)
{
    coll_i_word32 word;
    word.value = value;
    return word.bits;
}

COLL_INLINE double coll_i_double(uint64_t bits)
{
    coll_i_word64 word;
    word.bits = bits;
    return word.value;
}

COLL_INLINE uint64_t coll_i_double_bits(double value)
{
    coll_i_word64 word;
    word.value = value;
    return word.bits;
}

/* Numbers that are equal differ at most in the sign of a zero: "or" takes −0, "and" takes +0. */
COLL_INLINE float coll_i_min_f32(float x, float y)
{
    const float u = x < y ? x : y, v = y < x ? y : x;
    const uint32_t lower = coll_i_bits(u) | coll_i_bits(v);
    return coll_i_float(((x != x) | (y != y)) ? 0x7fc00000u : lower);
}

COLL_INLINE float coll_i_max_f32(float x, float y)
{
    const float u = x > y ? x : y, v = y > x ? y : x;
    const uint32_t upper = coll_i_bits(u) & coll_i_bits(v);
    return coll_i_float(((x != x) | (y != y)) ? 0x7fc00000u : upper);
}

COLL_INLINE double coll_i_min_f64(double x, double y)
{
    const double u = x < y ? x : y, v = y < x ? y : x;
    const uint64_t lower = coll_i_double_bits(u) | coll_i_double_bits(v);
    return coll_i_double(((x != x) | (y != y)) ? 0x7ff8000000000000u : lower);
}

COLL_INLINE double coll_i_max_f64(double x, double y)
{
    const double u = x > y ? x : y, v = y > x ? y : x;
    const uint64_t upper = coll_i_double_bits(u) & coll_i_double_bits(v);
    return coll_i_double(((x != x) | (y != y)) ? 0x7ff8000000000000u : upper);
}

COLL_INLINE float coll_i_float_from_bf16(uint16_t x)
{
    return coll_i_float(coll_f32_from_bf16(x));
}

/* All ones where a < b; both are below 2³¹. A comparison would become a branch. */
COLL_INLINE uint32_t coll_i_below(uint32_t a, uint32_t b)
{
    return (uint32_t)((int32_t)(a - b) >> 31);
}

/* The f32 of an f16, without branches. An f16 subnormal is read as 2⁻¹⁴ too much, so that no
 * float is subnormal on the way, for those are slow or taken as zero. */
COLL_INLINE float coll_i_float_from_f16(uint16_t x)
{
    const uint32_t sign = (x & 0x8000u) << 16, rest = (x & 0x7fffu) << 13;
    const uint32_t subnormal = coll_i_below(rest, 1u << 23);
    const uint32_t special = coll_i_below(0x0f7fffffu, rest); /* ∞ and NaN */
    const uint32_t bits = rest + (112u << 23) + (subnormal & 1u << 23) + (special & 112u << 23);
    return coll_i_float(sign |
                        coll_i_bits(coll_i_float(bits) - coll_i_float(subnormal & 113u << 23)));
}

/* The float of `width` bits, `digits` of them its fraction and of the given bias, that is nearest to an
 * f32, without branches. With the bound below which x lies, times 2 for each digit that is lost, added,
 * its last digit is the last one of the float, and the sum is rounded to it. What is not below the f32
 * of the bits `largest` becomes that. */
COLL_INLINE uint32_t coll_i_narrow(float x, uint32_t width, uint32_t digits, uint32_t bias,
                                   uint32_t largest, uint32_t default_nan)
{
    const uint32_t bits = coll_i_bits(x), rest = bits & 0x7fffffffu;
    const uint32_t sign = bits >> (32 - width) & 1u << (width - 1);
    const uint32_t cut = 23 - digits,
                   lowest = 128 - bias; /* the least normal number's exponent */
    const uint32_t small = coll_i_below(rest, largest);
    const uint32_t clamped = (rest & small) | (largest & ~small);
    const uint32_t exponent = clamped & 0x7f800000u;
    const uint32_t subnormal = coll_i_below(exponent, lowest << 23);
    const uint32_t least = (exponent & ~subnormal) | (lowest << 23 & subnormal);
    const uint32_t offset = least + (cut << 23);
    const uint32_t rounded = coll_i_bits(coll_i_float(clamped) + coll_i_float(offset));
    const uint32_t number = sign | (rounded - offset + (least >> cut) - (lowest << digits));
    const uint32_t nan = coll_i_below(0x7f800000u, rest);
    return (number & ~nan) | (default_nan & nan);
}

COLL_INLINE uint16_t coll_i_f16_from_float(float x) /* 2¹⁶ becomes ∞ */
{
    return (uint16_t)coll_i_narrow(x, 16, 10, 15, 0x47800000u, 0x7e00u);
}

#define COLL_I_SUM_F16(T, u, v)                                                                \
    coll_i_f16_from_float(coll_i_float_from_f16(u) + coll_i_float_from_f16(v))
#define COLL_I_PROD_F16(T, u, v)                                                               \
    coll_i_f16_from_float(coll_i_float_from_f16(u) * coll_i_float_from_f16(v))
#define COLL_I_SUM_BF16(T, u, v)                                                               \
    coll_bf16_from_f32(coll_i_bits(coll_i_float_from_bf16(u) + coll_i_float_from_bf16(v)))
#define COLL_I_PROD_BF16(T, u, v)                                                              \
    coll_bf16_from_f32(coll_i_bits(coll_i_float_from_bf16(u) * coll_i_float_from_bf16(v)))
#define COLL_I_SUM_FLOAT(T, u, v)  ((u) + (v))
#define COLL_I_PROD_FLOAT(T, u, v) ((u) * (v))
#define COLL_I_MIN_F32(T, u, v)    coll_i_min_f32((u), (v))
#define COLL_I_MAX_F32(T, u, v)    coll_i_max_f32((u), (v))
#define COLL_I_MIN_F64(T, u, v)    coll_i_min_f64((u), (v))
#define COLL_I_MAX_F64(T, u, v)    coll_i_max_f64((u), (v))

COLL_I_KERNEL(sum_f32, coll_i_f32, COLL_I_SUM_FLOAT)
COLL_I_KERNEL(min_f32, coll_i_f32, COLL_I_MIN_F32)
COLL_I_KERNEL(max_f32, coll_i_f32, COLL_I_MAX_F32)
COLL_I_KERNEL(prod_f32, coll_i_f32, COLL_I_PROD_FLOAT)
COLL_I_KERNEL(sum_f64, coll_i_f64, COLL_I_SUM_FLOAT)
COLL_I_KERNEL(min_f64, coll_i_f64, COLL_I_MIN_F64)
COLL_I_KERNEL(max_f64, coll_i_f64, COLL_I_MAX_F64)
COLL_I_KERNEL(prod_f64, coll_i_f64, COLL_I_PROD_FLOAT)

#endif /* COLL_SOFT_FLOAT */

COLL_I_KERNEL(sum_f16, coll_i_u16, COLL_I_SUM_F16)
COLL_I_KERNEL(prod_f16, coll_i_u16, COLL_I_PROD_F16)
COLL_I_KERNEL(sum_bf16, coll_i_u16, COLL_I_SUM_BF16)
COLL_I_KERNEL(prod_bf16, coll_i_u16, COLL_I_PROD_BF16)

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif /* COLL_REDUCE_FLOATS_H */
