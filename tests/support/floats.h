/* tests/support/floats.h — what tests know about floats without asking the library
 *
 * Bits to numbers and back, rounding to few digits through rint, and random operands that meet the
 * cases where arithmetic goes wrong: close exponents, cancellation, subnormals, special values.
 */
#ifndef COLL_TESTS_FLOATS_H
#define COLL_TESTS_FLOATS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chance.h"

static inline float f32_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A format of 16 bits: sign, exponent, fraction. */
typedef struct small_format {
    int fraction; /* bits */
    int bias;
    unsigned infinity, nan; /* bits of +∞ and of the default NaN */
} small_format;

static const small_format format_f16 = {10, 15, 0x7c00, 0x7e00};
static const small_format format_bf16 = {7, 127, 0x7f80, 0x7fc0};

/* The value of 16 bits; a NaN as any NaN. */
static inline double small_value(const small_format *f, unsigned bits)
{
    const unsigned rest = bits & 0x7fffu, fraction = rest & ((1u << f->fraction) - 1);
    const int exponent = (int)(rest >> f->fraction);
    const double magnitude =
        rest > f->infinity    ? (double)NAN
        : rest == f->infinity ? (double)INFINITY
        : exponent == 0
            ? ldexp((double)fraction, 1 - f->bias - f->fraction)
            : ldexp((double)fraction + ldexp(1, f->fraction), exponent - f->bias - f->fraction);
    return bits & 0x8000u ? -magnitude : magnitude;
}

/* The 16 bits nearest to a number, ties to even; a NaN gives the default one. */
static inline unsigned small_nearest(const small_format *f, double value)
{
    const unsigned sign = signbit(value) ? 0x8000u : 0;
    const double magnitude = fabs(value);
    int exponent;
    if (isnan(value))
        return f->nan;
    if (isinf(value))
        return sign | f->infinity;
    if (magnitude == 0)
        return sign;
    frexp(magnitude, &exponent); /* magnitude < 2^exponent */
    if (exponent < 2 - f->bias)
        exponent = 2 - f->bias;
    {
        /* in units of the last digit: 2^fraction … 2^(fraction+1), or less if subnormal */
        const double digits = rint(ldexp(magnitude, f->fraction + 1 - exponent));
        const unsigned bits =
            ((unsigned)(exponent + f->bias - 2) << f->fraction) + (unsigned)digits;
        return sign | (bits < f->infinity ? bits : f->infinity);
    }
}

/* Two operands of a format of the given bits and fraction bits, related in one of several ways. */
static inline void random_pair(unsigned bits, unsigned fraction, uint64_t *a, uint64_t *b)
{
    const uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    const uint64_t digits = ((uint64_t)1 << fraction) - 1;
    const uint64_t top = (uint64_t)1 << (bits - 1), exponents = all & ~digits & ~top;
    const uint64_t how = chance_bits(&random_state);
    uint64_t x = chance_bits(&random_state) & all, y = chance_bits(&random_state) & all;
    switch (how & 7) {
    case 0: /* anything */
    case 1:
        break;
    case 2: /* exponents at most 63 apart */
    case 3:
        y = (y & (digits | top)) | ((x + (((how >> 8 & 127) - 63) << fraction)) & exponents);
        break;
    case 4: /* nearly the same, or nearly opposite */
        y = (x ^ (how & 8 ? top : 0)) + (how >> 8 & 15) - 7;
        break;
    case 5: /* fewer digits: ties and exact results */
        x &= ~(digits >> (how >> 32) % (fraction + 1));
        y &= ~(digits >> (how >> 40) % (fraction + 1));
        y = (y & (digits | top)) | ((x + (((how >> 16 & 63) - 31) << fraction)) & exponents);
        break;
    case 6: /* the least exponents */
        x &= digits | top | (uint64_t)3 << fraction;
        y &= digits | top | (uint64_t)3 << fraction;
        break;
    default: /* exponents whose sum is near that of 1: products that are small */
        y = (y & (digits | top)) |
            (((exponents >> 1) - (x & exponents) + ((how >> 8 & 63) << fraction)) & exponents);
    }
    *a = x & all;
    *b = y & all;
}

#endif /* COLL_TESTS_FLOATS_H */
