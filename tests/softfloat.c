/* tests/softfloat.c — integer arithmetic against the processor's, bit by bit */
#include "coll/softfloat.h"

#include <float.h>

#include "support/check.h"
#include "support/floats.h"

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_UNDEFINED__)
enum { PAIRS = 10000000, STRIDE = 131 };
#else
enum { PAIRS = 400000, STRIDE = 1999 };
#endif

/* ---- the processor's sums and products ---------------------------------------------------- */

/* On x87 a double is computed with more digits and exponents than it has, and rounded again when it is
 * stored. Such a sum is that of the library only if the first rounding is to odd: then the second one is
 * as if it were the only one. A float has so few digits that it does not matter. */
#ifndef MORE_DIGITS
#define MORE_DIGITS (FLT_EVAL_METHOD != 0)
#endif

/* The double nearest to s + error, which is between s and a neighbour of it, in one rounding. */
static double rounded(long double s, long double error)
{
    volatile double stored; /* in memory it has no more digits than a double */
    uint64_t digits;
    memcpy(&digits, &s, sizeof digits);
    if (!(digits & 1) && (error < 0 || error > 0) && isfinite(s))
        s = nextafterl(s, error > 0 ? (long double)INFINITY : -(long double)INFINITY);
    stored = (double)s;
    return stored;
}

/* Knuth's sum and Dekker's product: the result, and what is missing. */
static double sum_f64(double x, double y)
{
    const long double a = x, b = y, s = a + b, from_b = s - a;
    return MORE_DIGITS ? rounded(s, (a - (s - from_b)) + (b - from_b)) : x + y;
}

static double product_f64(double x, double y)
{
    const long double a = x, b = y, s = a * b, half = 4294967297.0L; /* 2^32 + 1 */
    const long double a1 = half * a - (half * a - a), a2 = a - a1;
    const long double b1 = half * b - (half * b - b), b2 = b - b1;
    return MORE_DIGITS ? rounded(s, ((a1 * b1 - s) + a1 * b2 + a2 * b1) + a2 * b2) : x * y;
}

/* What the library promises: the processor's result, but for NaNs. */
static uint32_t default_f32(float value)
{
    return isnan(value) ? 0x7fc00000u : bits_of_f32(value);
}

static uint64_t default_f64(double value)
{
    return isnan(value) ? 0x7ff8000000000000u : bits_of_f64(value);
}

/* Of numbers that are equal, the lesser is the one with the sign. */
static double lesser(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static double greater(double a, double b)
{
    return -lesser(-a, -b);
}

static void same_f32(uint32_t a, uint32_t b)
{
    const float x = f32_of(a), y = f32_of(b);
    const bool held = CHECK(coll_soft_add_f32(a, b) == default_f32(x + y)) &&
                      CHECK(coll_soft_mul_f32(a, b) == default_f32(x * y)) &&
                      CHECK(coll_soft_min_f32(a, b) == default_f32((float)lesser(x, y))) &&
                      CHECK(coll_soft_max_f32(a, b) == default_f32((float)greater(x, y)));
    if (!held && check_failures < 100)
        printf("    operands %08x %08x\n", (unsigned)a, (unsigned)b);
}

static void same_f64(uint64_t a, uint64_t b)
{
    const double x = f64_of(a), y = f64_of(b);
    const bool held = CHECK(coll_soft_add_f64(a, b) == default_f64(sum_f64(x, y))) &&
                      CHECK(coll_soft_mul_f64(a, b) == default_f64(product_f64(x, y))) &&
                      CHECK(coll_soft_min_f64(a, b) == default_f64(lesser(x, y))) &&
                      CHECK(coll_soft_max_f64(a, b) == default_f64(greater(x, y)));
    if (!held && check_failures < 100)
        printf("    operands %016llx %016llx\n", (unsigned long long)a, (unsigned long long)b);
}

/* Exponents and fractions at every edge, of both signs. */
static const unsigned edges_f32[] = {0,   1,   2,   23,  24,  25,  126, 127, 128,
                                     150, 151, 229, 230, 252, 253, 254, 255};
static const uint32_t fractions_f32[] = {0,        1,        2,        3,       0x3fffff,
                                         0x400000, 0x400001, 0x7ffffe, 0x7fffff};
static const unsigned edges_f64[] = {0,    1,    2,    52,   53,   54,   1022, 1023, 1024,
                                     1075, 1076, 1992, 1993, 2044, 2045, 2046, 2047};
static const uint64_t fractions_f64[] = {0,
                                         1,
                                         2,
                                         3,
                                         0x7ffffffffffff,
                                         0x8000000000000,
                                         0x8000000000001,
                                         0xffffffffffffe,
                                         0xfffffffffffff};
enum { EDGES = 17, FRACTIONS = 9, SPECIALS = EDGES * FRACTIONS * 2 };

static uint32_t special_f32(unsigned i)
{
    return (uint32_t)(i & 1) << 31 | edges_f32[i / 2 % EDGES] << 23 |
           fractions_f32[i / 2 / EDGES];
}

static uint64_t special_f64(unsigned i)
{
    return (uint64_t)(i & 1) << 63 | (uint64_t)edges_f64[i / 2 % EDGES] << 52 |
           fractions_f64[i / 2 / EDGES];
}

TEST(specials)
{
    for (unsigned i = 0; i < SPECIALS; i++) {
        for (unsigned k = 0; k < SPECIALS; k++) {
            same_f32(special_f32(i), special_f32(k));
            same_f64(special_f64(i), special_f64(k));
        }
    }
}

TEST(random_f32)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        uint64_t a, b;
        random_pair(32, 23, &a, &b);
        same_f32((uint32_t)a, (uint32_t)b);
    }
}

TEST(random_f64)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        uint64_t a, b;
        random_pair(64, 52, &a, &b);
        same_f64(a, b);
    }
}

/* Keys order as values do, and NaNs are told from numbers. */
TEST(order)
{
    for (unsigned i = 0; i < SPECIALS; i++) {
        const uint32_t a = special_f32(i);
        const uint64_t c = special_f64(i);
        CHECK_EQ(coll_soft_is_nan_f32(a), isnan(f32_of(a)) != 0);
        CHECK_EQ(coll_soft_is_nan_f64(c), isnan(f64_of(c)) != 0);
        for (unsigned k = 0; k < SPECIALS; k++) {
            const uint32_t b = special_f32(k);
            const uint64_t d = special_f64(k);
            if (f32_of(a) < f32_of(b))
                CHECK(coll_soft_key_f32(a) < coll_soft_key_f32(b));
            if (f64_of(c) < f64_of(d))
                CHECK(coll_soft_key_f64(c) < coll_soft_key_f64(d));
        }
    }
    CHECK(coll_soft_key_f32(0x80000000u) < coll_soft_key_f32(0));
    CHECK(coll_soft_key_f64(0x8000000000000000u) < coll_soft_key_f64(0));
}

/* Every f16 and bf16: its value, and the way there and back. */
TEST(widening)
{
    for (unsigned i = 0; i < 0x10000; i++) {
        const uint16_t x = (uint16_t)i;
        const uint32_t f16 = coll_f32_from_f16(x), bf16 = coll_f32_from_bf16(x);
        if ((i & 0x7fff) > format_f16.infinity)
            CHECK(f16 == ((i & 0x8000u) << 16 | 0x7f800000u | (i & 0x3ff) << 13));
        else
            CHECK(f16 == bits_of_f32((float)small_value(&format_f16, i)));
        if ((i & 0x7fff) > format_bf16.infinity)
            CHECK(bf16 == i << 16);
        else
            CHECK(bf16 == bits_of_f32((float)small_value(&format_bf16, i)));
        CHECK_EQ(coll_f16_from_f32(f16),
                 small_nearest(&format_f16, small_value(&format_f16, i)));
        CHECK_EQ(coll_bf16_from_f32(bf16),
                 small_nearest(&format_bf16, small_value(&format_bf16, i)));
        CHECK_EQ(coll_soft_is_nan_f16(x), isnan(small_value(&format_f16, i)) != 0);
        CHECK_EQ(coll_soft_is_nan_bf16(x), isnan(small_value(&format_bf16, i)) != 0);
    }
}

static void narrows(uint32_t x)
{
    const bool held =
        CHECK(coll_f16_from_f32(x) == small_nearest(&format_f16, (double)f32_of(x))) &&
        CHECK(coll_bf16_from_f32(x) == small_nearest(&format_bf16, (double)f32_of(x)));
    if (!held && check_failures < 100)
        printf("    operand %08x\n", (unsigned)x);
}

/* Each f16 and bf16, the middle between it and the next, and the f32 beside these; and a sweep. */
TEST(narrowing)
{
    for (unsigned i = 0; i < 0x10000; i++) {
        for (uint32_t near = 0; near < 3; near++) {
            const uint32_t f16 = coll_f32_from_f16((uint16_t)i), bf16 = i << 16;
            const uint32_t half = (i & 0x7fff) >= 0x0400 ? 0x1000u : 0;
            narrows(f16 + near - 1);
            narrows(f16 + half + near - 1);
            narrows(bf16 + near - 1);
            narrows(bf16 + 0x8000u + near - 1);
        }
    }
    for (uint32_t i = 0; i < 2048; i++) /* middles of f16 subnormals */
        for (uint32_t near = 0; near < 3; near++)
            narrows(bits_of_f32(ldexpf((float)i + 0.5f, -24)) + near - 1);
    for (uint64_t x = 0; x <= UINT32_MAX; x += STRIDE * 13)
        narrows((uint32_t)x);
}

/* Adding and multiplying through f32 rounds once; min and max of 16 bits. */
TEST(small_formats)
{
    for (uint64_t i = 0; i < UINT32_MAX; i += STRIDE * 23) {
        const uint16_t a = (uint16_t)(i ^ i >> 16), b = (uint16_t)(i >> 16);
        const small_format *const formats[2] = {&format_f16, &format_bf16};
        for (unsigned k = 0; k < 2; k++) {
            const small_format *f = formats[k];
            const double x = small_value(f, a), y = small_value(f, b);
            const uint32_t u = k ? coll_f32_from_bf16(a) : coll_f32_from_f16(a);
            const uint32_t v = k ? coll_f32_from_bf16(b) : coll_f32_from_f16(b);
            const uint32_t sum = coll_soft_add_f32(u, v), product = coll_soft_mul_f32(u, v);
            const unsigned either = (x < y || (x == y && signbit(x))) ? a : b;
            const unsigned lower = isnan(x) || isnan(y) ? f->nan : either;
            const unsigned upper = isnan(x) || isnan(y) ? f->nan : a ^ b ^ either;
            /* The sum of two bf16 far apart does not fit a double: no oracle for these. */
            const double exact_sum = x + y;
            if (k == 0 || !(fabs(x) > 0 && fabs(y) > 0 && fabs(log2(fabs(x) / fabs(y))) > 40))
                CHECK_EQ(k ? coll_bf16_from_f32(sum) : coll_f16_from_f32(sum),
                         small_nearest(f, exact_sum));
            CHECK_EQ(k ? coll_bf16_from_f32(product) : coll_f16_from_f32(product),
                     small_nearest(f, x * y));
            CHECK_EQ(k ? coll_soft_min_bf16(a, b) : coll_soft_min_f16(a, b), lower);
            CHECK_EQ(k ? coll_soft_max_bf16(a, b) : coll_soft_max_f16(a, b), upper);
        }
    }
}

int main(void)
{
    RUN(specials);
    RUN(random_f32);
    RUN(random_f64);
    RUN(order);
    RUN(widening);
    RUN(narrowing);
    RUN(small_formats);
    return check_done();
}
