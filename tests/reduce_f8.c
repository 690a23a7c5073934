/* tests/reduce_f8.c — floats of 8 bits: every pair of operands, every conversion, against doubles
 *
 * The tables of the OCP 8-bit Floating Point Specification, revision 1.0, sections 5.1 and 5.2, are written
 * out here; rounding goes through rint.
 */
#include "coll/reduce.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/floats.h"

typedef struct format {
    const char *name;
    coll_type type;
    int fraction, bias;    /* bits of the fraction */
    unsigned infinity;     /* its bits; beyond those of a number if there is none */
    unsigned least_nan;    /* NaNs are these and more, with either sign */
    unsigned nan;          /* the default one */
    unsigned most;         /* bits of the largest number */
    double largest, least; /* the largest number, and the least above 0 */
    uint32_t (*widened)(uint8_t x);
    uint8_t (*narrowed)(uint32_t x);
    coll_combine combine[4]; /* sum, prod, min, max */
} format;

static const format formats[] = {
    {"f8_e4m3",
     COLL_F8_E4M3,
     3,
     7,
     0x100,
     0x7f,
     0x7f,
     0x7e,
     448,
     0x1p-9,
     coll_f32_from_f8_e4m3,
     coll_f8_e4m3_from_f32,
     {coll_sum_f8_e4m3, coll_prod_f8_e4m3, coll_min_f8_e4m3, coll_max_f8_e4m3}},
    {"f8_e5m2",
     COLL_F8_E5M2,
     2,
     15,
     0x7c,
     0x7d,
     0x7e,
     0x7b,
     57344,
     0x1p-16,
     coll_f32_from_f8_e5m2,
     coll_f8_e5m2_from_f32,
     {coll_sum_f8_e5m2, coll_prod_f8_e5m2, coll_min_f8_e5m2, coll_max_f8_e5m2}},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };
static const coll_operator ops[] = {COLL_SUM, COLL_PROD, COLL_MIN, COLL_MAX};

static double value_of(const format *f, unsigned bits)
{
    const unsigned rest = bits & 0x7fu, digits = rest & ((1u << f->fraction) - 1);
    const int e = (int)(rest >> f->fraction);
    const double magnitude =
        rest == f->infinity    ? (double)INFINITY
        : rest >= f->least_nan ? (double)NAN
        : e == 0               ? ldexp((double)digits, 1 - f->bias - f->fraction)
                 : ldexp((double)digits + ldexp(1, f->fraction), e - f->bias - f->fraction);
    return bits & 0x80u ? -magnitude : magnitude;
}

/* By the values of all 128 numbers: the nearest, of two the one with an even last digit. */
static unsigned nearest(const format *f, double value)
{
    const unsigned sign = signbit(value) ? 0x80u : 0;
    const double magnitude = fabs(value);
    unsigned best = 0;
    if (isnan(value))
        return f->nan;
    for (unsigned bits = 1; bits <= f->most; bits++) {
        const double is = fabs(value_of(f, bits) - magnitude);
        const double was = fabs(value_of(f, best) - magnitude);
        if (is < was || (is == was && (bits & 1) == 0))
            best = bits;
    }
    return sign | (magnitude >= f->largest ? f->most : best);
}

/* Doubles hold all sums and products of 8 bits. */
static unsigned oracle(const format *f, coll_operator op, unsigned a, unsigned b)
{
    const double x = value_of(f, a), y = value_of(f, b);
    const bool a_lower = x < y || (x == y && signbit(x));
    if (op == COLL_SUM || op == COLL_PROD)
        return nearest(f, op == COLL_SUM ? x + y : x * y);
    if (isnan(x) || isnan(y))
        return f->nan;
    return a_lower == (op == COLL_MIN) ? a : b;
}

TEST(the_specification)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        CHECK(value_of(f, f->most) == f->largest && value_of(f, 1) == f->least);
        CHECK_EQ(coll_type_bytes(f->type), 1);
        CHECK(strcmp(coll_type_name(f->type), f->name) == 0);
        CHECK(value_of(f, (unsigned)f->bias << f->fraction) == 1.0);
    }
}

/* All 65,536 pairs, for each operator: as loops, on long vectors and short ones. */
TEST(every_pair)
{
    enum { ALL = 256 };
    for (int i = 0; i < FORMATS; i++)
        for (int o = 0; o < 4; o++) {
            const format *f = &formats[i];
            unsigned wrong = 0;
            coll_op op;
            if (!CHECK(coll_op_builtin(&op, ops[o], f->type) == COLL_OK))
                continue;
            CHECK(op.commutative);
            CHECK_EQ(op.exact, ops[o] == COLL_MIN || ops[o] == COLL_MAX);
            for (unsigned a = 0; a < ALL; a++) {
                uint8_t x[ALL], y[ALL], plain[ALL], chosen[ALL];
                for (unsigned b = 0; b < ALL; b++) {
                    x[b] = (uint8_t)a;
                    y[b] = (uint8_t)b;
                }
                f->combine[o](plain, x, y, ALL, NULL);
                op.combine(chosen, x, y, ALL - 3, NULL);
                for (unsigned b = 0; b < ALL; b++) {
                    const unsigned wanted = oracle(f, ops[o], a, b);
                    const bool right =
                        plain[b] == wanted && (b >= ALL - 3 || chosen[b] == wanted);
                    if (!right && wrong++ < 5)
                        printf("    %s %s: %02x and %02x give %02x instead of %02x\n",
                               coll_operator_name(ops[o]), f->name, a, b, plain[b], wanted);
                }
            }
            CHECK_EQ(wrong, 0);
        }
}

TEST(conversions)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (unsigned bits = 0; bits < 256; bits++) {
            const double value = value_of(f, bits);
            const float wide = f32_of(f->widened((uint8_t)bits));
            CHECK(isnan(value) ? isnan(wide) && !signbit(wide) == !(bits & 0x80)
                               : (double)wide == value && !signbit(wide) == !(bits & 0x80));
            if (!isinf(value))
                CHECK_EQ(f->narrowed(f->widened((uint8_t)bits)), isnan(value) ? f->nan : bits);
        }
        /* f32 of every sign, exponent and upper digits, and those next to the middles of numbers */
        unsigned wrong = 0;
        for (uint32_t x = 0; x < 0x10000; x++)
            for (uint32_t low = 0; low < 3; low++) {
                const uint32_t bits = x << 16 | (low == 2 ? 0xffffu : low);
                const unsigned wanted = nearest(f, (double)f32_of(bits));
                wrong += f->narrowed(bits) != wanted;
            }
        CHECK_EQ(wrong, 0);
        CHECK_EQ(f->narrowed(bits_of_f32(INFINITY)), f->most);
        CHECK_EQ(f->narrowed(bits_of_f32(-INFINITY)), f->most | 0x80);
        CHECK_EQ(f->narrowed(bits_of_f32(1e30f)), f->most);
    }
}

TEST(refusals)
{
    for (int i = 0; i < FORMATS; i++)
        for (coll_operator which = COLL_BAND; which < COLL_OPERATORS; which++) {
            coll_op op;
            CHECK_STATUS(coll_op_builtin(&op, which, formats[i].type), COLL_ERR_OP);
        }
}

int main(void)
{
    RUN(the_specification);
    RUN(every_pair);
    RUN(conversions);
    RUN(refusals);
    return check_done();
}
