/* coll/plan/topo/integers.h — logarithms, sums modulo p, division by multiplication; no rank
 *
 * Use plan/topo.h, or this part alone.
 */
#ifndef COLL_PLAN_TOPO_INTEGERS_H
#define COLL_PLAN_TOPO_INTEGERS_H

#include "../../types.h"

/* Instead of a rank: none. */
#define COLL_RANK_NONE UINT32_MAX

/* The least k with 2^k >= x; 0 for x <= 1. */
COLL_HOT_INLINE uint32_t coll_log2_ceil(uint32_t x)
{
    return x <= 1 ? 0 : COLL_HIGHEST_BIT(x - 1) + 1;
}

/* The largest power of two that is <= x; x is at least 1. */
COLL_INLINE uint32_t coll_pow2_floor(uint32_t x)
{
    return (uint32_t)1 << COLL_HIGHEST_BIT(x);
}

/* How many bits of x are set. */
COLL_HOT_INLINE uint32_t coll_bits(uint32_t x)
{
    x -= x >> 1 & 0x55555555u; /* sums of 2 bits, 4, 8; the product adds up the bytes */
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return x * 0x01010101u >> 24;
}

/* (a + b) mod p for a, b < p, without a division and for any p. */
COLL_HOT_INLINE uint32_t coll_mod_add(uint32_t a, uint32_t b, uint32_t p)
{
    return a >= p - b ? a - (p - b) : a + b;
}

/* (a − b) mod p for a, b < p. */
COLL_HOT_INLINE uint32_t coll_mod_sub(uint32_t a, uint32_t b, uint32_t p)
{
    return a >= b ? a - b : a + (p - b);
}

/* ⌊a / b⌋. Where the processor has no division, in a step for each bit of the quotient. */
COLL_HOT_INLINE size_t coll_i_quotient(size_t a, size_t b)
{
#if COLL_DIVIDES
    return a / b;
#else
    size_t quotient = 0, bit = 1;
    for (; b <= a >> 1; b <<= 1)
        bit <<= 1;
    for (; bit != 0; bit >>= 1, b >>= 1)
        if (a >= b) {
            a -= b;
            quotient |= bit;
        }
    return quotient;
#endif
}

/* Division by a number that stays the same: multiplication and shifts instead of the
 * processor's division, which is slow. Granlund, Montgomery 1994, figure 4.1,
 * doi:10.1145/178243.178249. Without COLL_FAST_DIVISION `by` is all that is used. */
typedef struct coll_fast_divisor {
    uint32_t by, multiplier; /* the divisor, and its magic number */
    uint32_t shift1, shift2; /* those of coll_divide */
} coll_fast_divisor;

/* by is at least 1. */
COLL_INLINE coll_fast_divisor coll_fast_divisor_of(uint32_t by)
{
    const uint32_t bits = COLL_FAST_DIVISION ? coll_log2_ceil(by) : 0;
    coll_fast_divisor d;
    d.by = by;
    d.multiplier =
        COLL_FAST_DIVISION ? (uint32_t)(((((uint64_t)1 << bits) - by) << 32) / by) + 1 : 0;
    d.shift1 = bits < 1 ? bits : 1;
    d.shift2 = bits < 1 ? 0 : bits - 1;
    return d;
}

/* Division by 1, member by member: compilers that optimize little copy a record by memcpy. */
COLL_INLINE void coll_i_undivided(coll_fast_divisor *d)
{
    d->by = 1;
    d->multiplier = COLL_FAST_DIVISION;
    d->shift1 = d->shift2 = 0;
}

/* x / d.by, for every x. */
COLL_HOT_INLINE uint32_t coll_divide(uint32_t x, const coll_fast_divisor *d)
{
#if COLL_FAST_DIVISION
    const uint32_t high = (uint32_t)(((uint64_t)x * d->multiplier) >> 32);
    return (high + ((x - high) >> d->shift1)) >> d->shift2;
#else
    return (uint32_t)coll_i_quotient(x, d->by);
#endif
}

/* Is it division by 2, for which there is a shorter way? Small code has that only where the compiler knows. */
#if COLL_SMALL && (defined(__GNUC__) || defined(__clang__))
#define COLL_I_IS_TWO(divisor) (__builtin_constant_p((divisor)->by) && (divisor)->by == 2)
#else
#define COLL_I_IS_TWO(divisor) ((divisor)->by == 2)
#endif

/* Division by 2. */
COLL_CONST(coll_fast_divisor, coll_fast_divisor_two, {2, 1, 1, 0});

/* The lowest `bits` ≤ 31 bits of x, which has no others, in opposite order. */
COLL_HOT_INLINE uint32_t coll_reverse_bits(uint32_t x, uint32_t bits)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    x = x >> 16 | x << 16;
    return x >> 1 >> (31 - bits);
}

/* *product = a · b; false where that does not fit. Divides only if one of them is large. */
COLL_INLINE bool coll_multiply(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return ((a | b) >> (sizeof(size_t) * 4)) == 0 || b == 0 ||
           a <= coll_i_quotient(SIZE_MAX, b);
}

/* The digits of x to the base −2, and back: two's complement, modulo 2^32. Schroeppel 1972,
 * HAKMEM item 128: adding 0xaa… carries where a digit of negative weight takes from the next. */
COLL_HOT_INLINE uint32_t coll_negabinary(uint32_t x)
{
    return (x + 0xaaaaaaaau) ^ 0xaaaaaaaau;
}

/* The integer that has these digits in base −2. */
COLL_HOT_INLINE uint32_t coll_from_negabinary(uint32_t digits)
{
    return (digits ^ 0xaaaaaaaau) - 0xaaaaaaaau;
}

/* The Gray code of x, in which each bit tells whether two neighbouring bits of x differ, and
 * back. */
COLL_HOT_INLINE uint32_t coll_gray(uint32_t x)
{
    return x ^ x >> 1;
}

/* The number whose Gray code this is. */
COLL_HOT_INLINE uint32_t coll_from_gray(uint32_t gray)
{
    gray ^= gray >> 1;
    gray ^= gray >> 2;
    gray ^= gray >> 4;
    gray ^= gray >> 8;
    return gray ^ gray >> 16;
}

#endif /* COLL_PLAN_TOPO_INTEGERS_H */
