/* coll/softfloat.h — IEEE 754 add, multiply, min and max in integers only
 *
 * For processors without floating point (a NIC, a Cortex-M0) and for code that must not touch its
 * registers. Values are passed as the bits that they have in memory: uint32_t for binary32,
 * uint64_t for binary64, uint16_t for binary16 (f16) and bfloat16 (bf16), uint8_t for E4M3 and E5M2
 * (OCP 8-bit Floating Point Specification, revision 1.0).
 *
 *     sum = coll_soft_add_f32(sum, bits);
 *
 *              add, mul      min, max      convert
 *   f32        yes           yes           f16, bf16
 *   f64        yes           yes           –
 *   f16, bf16  through f32   yes           f32
 *   f8_e4m3, f8_e5m2         yes           f32
 *
 * add, mul    round to nearest, ties to even; subnormals, infinities, signed zeros as IEEE 754 has
 *             them; any NaN operand or invalid operation gives the default NaN: positive, quiet, no
 *             payload. No flags, no traps.
 * min, max    −∞ < … < −0 < +0 < … < +∞; any NaN operand gives the default NaN. Both are therefore
 *             commutative and associative to the bit.
 * widening    exact; a NaN keeps sign and payload
 * narrowing   round to nearest, ties to even; overflow gives ∞; a NaN gives the default NaN. To 8
 *             bits, what is too large, ∞ too, gives the largest number (that specification's
 *             saturating conversion): E4M3 has no infinities, and its largest number is 448
 *
 * Adding or multiplying two numbers of 8 or 16 bits in f32 and narrowing the result rounds as if once:
 * f32 has more than twice their digits and two more.
 *
 * Nothing is wider than 64 bits. f32 needs 32-bit arithmetic alone, but for the product of two
 * significands. Loops run at most once a bit of the significand.
 */
#ifndef COLL_SOFTFLOAT_H
#define COLL_SOFTFLOAT_H

#include "config.h"

/* ---- order: U and S words of that size, NAN_ the default NaN, INFINITY_ the bits of +∞ ------- */

/* A key is an integer that orders as the value does, −0 just below +0, NaNs beyond the
 * infinities. The same formula takes a key back to its bits. min and max have no branches. */
#define COLL_I_SOFT_ORDER(f, U, S, INFINITY_, NAN_)                                            \
    COLL_INLINE bool coll_soft_is_nan_##f(U x)                                                 \
    {                                                                                          \
        return (U)(x << 1) > (U)((U)(INFINITY_) << 1);                                         \
    }                                                                                          \
                                                                                               \
    COLL_INLINE S coll_soft_key_##f(U x)                                                       \
    {                                                                                          \
        return (S)(x ^ (U)((S)x >> (sizeof(U) * 8 - 1)) >> 1);                                 \
    }                                                                                          \
                                                                                               \
    COLL_INLINE U coll_i_soft_bits_##f(S key)                                                  \
    {                                                                                          \
        return (U)coll_soft_key_##f((U)key);                                                   \
    }                                                                                          \
                                                                                               \
    COLL_INLINE U coll_i_soft_select_##f(S lower, S upper, S selected)                         \
    {                                                                                          \
        const U number = coll_i_soft_bits_##f(selected);                                       \
        return ((upper > (S)(INFINITY_)) | (lower < -1 - (S)(INFINITY_))) ? (U)(NAN_)          \
                                                                          : number;            \
    }                                                                                          \
                                                                                               \
    COLL_INLINE U coll_soft_min_##f(U a, U b)                                                  \
    {                                                                                          \
        const S x = coll_soft_key_##f(a), y = coll_soft_key_##f(b);                            \
        const S lower = x < y ? x : y, upper = x < y ? y : x;                                  \
        return coll_i_soft_select_##f(lower, upper, lower);                                    \
    }                                                                                          \
                                                                                               \
    COLL_INLINE U coll_soft_max_##f(U a, U b)                                                  \
    {                                                                                          \
        const S x = coll_soft_key_##f(a), y = coll_soft_key_##f(b);                            \
        const S lower = x < y ? x : y, upper = x < y ? y : x;                                  \
        return coll_i_soft_select_##f(lower, upper, upper);                                    \
    }

/* Of E4M3 the largest number stands for ∞. */
COLL_I_SOFT_ORDER(f8_e4m3, uint8_t, int8_t, 0x7e, 0x7fu)
COLL_I_SOFT_ORDER(f8_e5m2, uint8_t, int8_t, 0x7c, 0x7eu)
COLL_I_SOFT_ORDER(f16, uint16_t, int16_t, 0x7c00, 0x7e00u)
COLL_I_SOFT_ORDER(bf16, uint16_t, int16_t, 0x7f80, 0x7fc0u)
COLL_I_SOFT_ORDER(f32, uint32_t, int32_t, 0x7f800000, 0x7fc00000u)
COLL_I_SOFT_ORDER(f64, uint64_t, int64_t, 0x7ff0000000000000, 0x7ff8000000000000u)
#undef COLL_I_SOFT_ORDER

/* ---- products of two significands -------------------------------------------------------- */

/* The product of two words that have bit 23 as their highest, ending three bits below it; what
 * was cut off is kept in the lowest bit. */
COLL_INLINE uint32_t coll_i_soft_product_f32(uint32_t a, uint32_t b)
{
    const uint64_t product = (uint64_t)a * b;
    return (uint32_t)(product >> 20) | (uint32_t)((product & 0xfffffu) != 0);
}

/* The same with bit 52, from four products of halves. */
COLL_INLINE uint64_t coll_i_soft_product_f64(uint64_t a, uint64_t b)
{
    const uint64_t half = 0xffffffffu;
    const uint64_t low = (a & half) * (b & half);
    const uint64_t middle = (a >> 32) * (b & half) + (low >> 32);
    const uint64_t other = (a & half) * (b >> 32) + (middle & half);
    const uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
    const uint64_t rest = other << 32 | (low & half);
    return high << 15 | rest >> 49 | (uint64_t)((rest & 0x1ffffffffffffu) != 0);
}

/* ---- arithmetic: F bits of fraction, E the exponent of ∞ ----------------------------------- */

/* Inside, a finite value is sign, exponent e ≥ 1 and a significand x with three bits below the
 * fraction (two to round with, and a sticky one); x < 2^(F+3) only where e = 1: a subnormal. */
#define COLL_I_SOFT_ARITHMETIC(f, U, BITS, F, E, NAN_)                                         \
    /* x / 2ⁿ, the lowest bit set if anything was cut off. */                                \
    COLL_INLINE U coll_i_soft_shift_##f(U x, uint32_t n)                                       \
    {                                                                                          \
        if (n == 0)                                                                            \
            return x;                                                                          \
        return n >= (BITS) ? (U)(x != 0) : x >> n | (U)(x << ((BITS)-n) != 0);                 \
    }                                                                                          \
                                                                                               \
    COLL_INLINE U coll_i_soft_round_##f(U sign, uint32_t e, U x)                               \
    {                                                                                          \
        if (x >> ((F) + 4)) {                                                                  \
            x = x >> 1 | (x & 1u);                                                             \
            e++;                                                                               \
        }                                                                                      \
        for (; e > 1 && !(x >> ((F) + 3)); e--)                                                \
            x <<= 1;                                                                           \
        if (e >= (E))                                                                          \
            return sign | (U)(E) << (F);                                                       \
        /* More than half, or half and odd; a carry out of x moves e up as it should. */       \
        x = (x >> 3) + (U)((x & 7u) + (x >> 3 & 1u) > 4u);                                     \
        return sign | (((U)(e - 1) << (F)) + x);                                               \
    }                                                                                          \
                                                                                               \
    /* a + b. */                                                                               \
    COLL_INLINE U coll_soft_add_##f(U a, U b)                                                  \
    {                                                                                          \
        const U top = (U)1 << ((BITS)-1), one = (U)1 << (F), infinity = (U)(E) << (F);         \
        if ((a & (top - 1)) < (b & (top - 1))) {                                               \
            const U t = a;                                                                     \
            a = b;                                                                             \
            b = t;                                                                             \
        }                                                                                      \
        if ((a & (top - 1)) >= infinity) {                                                     \
            const bool opposite = (a ^ b) == top;                                              \
            return (a & (top - 1)) > infinity || opposite ? (U)(NAN_) : a;                     \
        }                                                                                      \
        const uint32_t e = (uint32_t)((a & (top - 1)) >> (F));                                 \
        const uint32_t d = (uint32_t)((b & (top - 1)) >> (F));                                 \
        const U x = ((a & (one - 1)) | (e ? one : 0)) << 3;                                    \
        const U y = coll_i_soft_shift_##f(((b & (one - 1)) | (d ? one : 0)) << 3,              \
                                          (e ? e : 1) - (d ? d : 1));                          \
        if (!((a ^ b) & top))                                                                  \
            return coll_i_soft_round_##f(a & top, e ? e : 1, x + y);                           \
        return x == y ? 0 : coll_i_soft_round_##f(a & top, e ? e : 1, x - y);                  \
    }                                                                                          \
                                                                                               \
    /* a · b. */                                                                              \
    COLL_INLINE U coll_soft_mul_##f(U a, U b)                                                  \
    {                                                                                          \
        const U top = (U)1 << ((BITS)-1), one = (U)1 << (F), infinity = (U)(E) << (F);         \
        const U sign = (a ^ b) & top;                                                          \
        a &= top - 1;                                                                          \
        b &= top - 1;                                                                          \
        if (a > infinity || b > infinity || (a == infinity && b == 0) ||                       \
            (b == infinity && a == 0))                                                         \
            return (U)(NAN_);                                                                  \
        if (a == infinity || b == infinity)                                                    \
            return sign | infinity;                                                            \
        if (a == 0 || b == 0)                                                                  \
            return sign;                                                                       \
        int32_t e = (int32_t)(a >> (F)), d = (int32_t)(b >> (F));                              \
        U x = a & (one - 1), y = b & (one - 1);                                                \
        for (x = e ? x | one : x << 1; !(x & one); e--)                                        \
            x <<= 1;                                                                           \
        for (y = d ? y | one : y << 1; !(y & one); d--)                                        \
            y <<= 1;                                                                           \
        e += d - (E) / 2;                                                                      \
        x = coll_i_soft_product_##f(x, y);                                                     \
        return e < 1 ? coll_i_soft_round_##f(sign, 1,                                          \
                                             coll_i_soft_shift_##f(x, (uint32_t)(1 - e)))      \
                     : coll_i_soft_round_##f(sign, (uint32_t)e, x);                            \
    }

COLL_I_SOFT_ARITHMETIC(f32, uint32_t, 32u, 23, 0xff, 0x7fc00000u)
COLL_I_SOFT_ARITHMETIC(f64, uint64_t, 64u, 52, 0x7ff, 0x7ff8000000000000u)
#undef COLL_I_SOFT_ARITHMETIC

/* ---- conversions ------------------------------------------------------------------------- */

/* The bits of an f32 of the same value. */
COLL_INLINE uint32_t coll_f32_from_bf16(uint16_t x)
{
    return (uint32_t)x << 16;
}

/* The bits of the nearest bf16; ties go to the even one. */
COLL_INLINE uint16_t coll_bf16_from_f32(uint32_t x)
{
    const uint16_t rounded = (uint16_t)((x + 0x7fffu + (x >> 16 & 1u)) >> 16);
    return coll_soft_is_nan_f32(x) ? (uint16_t)0x7fc0u : rounded;
}

/* The bits of an f32 of the same value. */
COLL_INLINE uint32_t coll_f32_from_f16(uint16_t x)
{
    const uint32_t sign = (x & 0x8000u) << 16, rest = x & 0x7fffu;
    if (rest >= 0x7c00u)
        return sign | 0x7f800000u | rest << 13;
    if (rest >= 0x0400u)
        return sign | ((rest << 13) + (112u << 23));
    if (rest == 0)
        return sign;
    uint32_t e = 113, fraction = rest;
    for (; !(fraction & 0x0400u); e--)
        fraction <<= 1;
    return sign | e << 23 | (fraction & 0x03ffu) << 13;
}

/* The bits of the nearest f16; ties go to the even one. */
COLL_INLINE uint16_t coll_f16_from_f32(uint32_t x)
{
    const uint32_t sign = x >> 16 & 0x8000u, rest = x & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return 0x7e00u;
    if (rest >= 0x47800000u) /* 2¹⁶ */
        return (uint16_t)(sign | 0x7c00u);
    if (rest >= 0x38800000u) /* 2⁻¹⁴, the least normal f16 */
        return (uint16_t)(sign | (rest - (112u << 23) + 0x0fffu + (rest >> 13 & 1u)) >> 13);
    if (rest <= 0x33000000u) /* 2⁻²⁵, half the least subnormal */
        return (uint16_t)sign;
    const uint32_t n = 126 - (rest >> 23), fraction = (rest & 0x7fffffu) | 0x800000u;
    return (uint16_t)(sign | (fraction + (1u << (n - 1)) - 1 + (fraction >> n & 1u)) >> n);
}

/* The bits of an f32 of the same value: an E5M2 is the upper half of an f16. */
COLL_INLINE uint32_t coll_f32_from_f8_e5m2(uint8_t x)
{
    return coll_f32_from_f16((uint16_t)(x << 8));
}

/* The bits of an f32 of the same value: an E4M3 is an f16 whose exponent is 8 less. */
COLL_INLINE uint32_t coll_f32_from_f8_e4m3(uint8_t x)
{
    const uint32_t sign = (x & 0x80u) << 24, rest = x & 0x7fu;
    const uint32_t bits = coll_f32_from_f16((uint16_t)(rest << 7));
    if (rest == 0x7fu)
        return sign | 0x7fc00000u;
    return rest == 0 ? sign : sign | (bits + (8u << 23));
}

/* The 8 bits nearest to the f32 x, ties to even: of `digits` bits of fraction, `bias`, and no greater than the f32
 * `largest`. Not of a NaN. */
COLL_INLINE uint8_t coll_i_soft_narrow(uint32_t x, uint32_t digits, uint32_t bias,
                                       uint32_t largest)
{
    const uint32_t sign = x >> 24 & 0x80u, cut = 23 - digits, least = 128 - bias;
    const uint32_t rest = (x & 0x7fffffffu) < largest ? x & 0x7fffffffu : largest;
    const uint32_t e = rest >> 23, fraction = (rest & 0x7fffffu) | 0x800000u;
    const uint32_t n = cut + least - e; /* of a subnormal: the bits to cut off */
    if (e >= least)
        return (uint8_t)(sign | (rest - ((least - 1) << 23) + (1u << (cut - 1)) - 1 +
                                 (rest >> cut & 1u)) >>
                                    cut);
    if (n > 24)
        return (uint8_t)sign;
    return (uint8_t)(sign | (fraction + (1u << (n - 1)) - 1 + (fraction >> n & 1u)) >> n);
}

/* The bits of the nearest E4M3, at most 448; ties go to the even one. */
COLL_INLINE uint8_t coll_f8_e4m3_from_f32(uint32_t x)
{
    return coll_soft_is_nan_f32(x) ? (uint8_t)0x7fu : coll_i_soft_narrow(x, 3, 7, 0x43e00000u);
}

/* The bits of the nearest E5M2, at most 57344; ties go to the even one. */
COLL_INLINE uint8_t coll_f8_e5m2_from_f32(uint32_t x)
{
    return coll_soft_is_nan_f32(x) ? (uint8_t)0x7eu : coll_i_soft_narrow(x, 2, 15, 0x47600000u);
}

#endif /* COLL_SOFTFLOAT_H */
