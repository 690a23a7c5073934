/* tests/reduce_complex.c — sums and products of complex numbers, against the compiler's
 *
 * Products are compared with the formula, rounded at each step, and where that gives no number, with
 * what the compiler's own multiplication says: infinite or not a number.
 */
#include "coll/reduce.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/floats.h"

enum { MOST = 700, ROUNDS = 40 };

/* ---- parts ----------------------------------------------------------------------------------- */

/* Parts that meet: special values, small integers, and anything. */
static float random_f32(void)
{
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0xbf800000,
                                       0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
                                       0xff7fffff, 1,          0x80000001, 0x00800000};
    const uint64_t how = chance_bits(&random_state);
    if ((how & 3) == 0)
        return f32_of(special[(how >> 8) % 12]);
    if ((how & 3) == 1)
        return (float)((int)(how >> 8 & 15) - 8);
    return f32_of((uint32_t)(how >> 16));
}

static double random_f64(void)
{
    uint64_t a, b;
    if (chance_bits(&random_state) & 1)
        return (double)random_f32();
    random_pair(64, 52, &a, &b);
    return f64_of(a);
}

static bool same_f32(float a, float b)
{
    return bits_of_f32(a) == bits_of_f32(b) || (isnan(a) && isnan(b));
}

static bool same_f64(double a, double b)
{
    return bits_of_f64(a) == bits_of_f64(b) || (isnan(a) && isnan(b));
}

/* ---- what the loops must give ------------------------------------------------------------------ */

/* volatile: so that no compiler fuses the product with the sum, nor keeps more digits. */
#define ORACLE(f, T)                                                                           \
    static bool right_##f(coll_operator op, coll_c##f a, coll_c##f b, coll_c##f is)            \
    {                                                                                          \
        volatile T ac = a.re * b.re, bd = a.im * b.im, ad = a.re * b.im, bc = a.im * b.re;     \
        volatile T re = op == COLL_SUM ? a.re + b.re : ac - bd;                                \
        volatile T im = op == COLL_SUM ? a.im + b.im : ad + bc;                                \
        T _Complex x, y, z;                                                                    \
        T parts[2];                                                                            \
        if (op == COLL_SUM || !isnan(re) || !isnan(im))                                        \
            return same_##f(is.re, re) && same_##f(is.im, im);                                 \
        memcpy(&x, &a, sizeof x);                                                              \
        memcpy(&y, &b, sizeof y);                                                              \
        z = x * y;                                                                             \
        memcpy(parts, &z, sizeof parts);                                                       \
        return same_##f(is.re, parts[0]) && same_##f(is.im, parts[1]);                         \
    }
ORACLE(f32, float)
ORACLE(f64, double)

/* Runs an operator on random vectors, dst apart from the operands (0), on a (1), on b (2) or on both (3). */
#define AGAINST(f)                                                                             \
    static void against_##f(coll_combine combine, coll_operator op, size_t count, int alias)   \
    {                                                                                          \
        static coll_c##f a[MOST + 1], b[MOST + 1], x[MOST + 1], y[MOST + 1], apart[MOST + 1];  \
        coll_c##f *const to = alias == 0 ? apart : alias == 2 ? y : x;                         \
        coll_c##f *const second = alias == 3 ? x : y;                                          \
        bool held = true;                                                                      \
        for (size_t i = 0; i <= MOST; i++) {                                                   \
            a[i].re = random_##f();                                                            \
            a[i].im = random_##f();                                                            \
            b[i].re = random_##f();                                                            \
            b[i].im = random_##f();                                                            \
        }                                                                                      \
        memcpy(x, a, sizeof a);                                                                \
        memcpy(y, b, sizeof b);                                                                \
        memcpy(apart, b, sizeof b);                                                            \
        combine(to, x, second, count, NULL);                                                   \
        for (size_t i = 0; i < count && held; i++) {                                           \
            held = right_##f(op, a[i], alias == 3 ? a[i] : b[i], to[i]);                       \
            if (!held)                                                                         \
                printf("    %s: %a %+ai and %a %+ai give %a %+ai\n", coll_operator_name(op),   \
                       (double)a[i].re, (double)a[i].im, (double)b[i].re, (double)b[i].im,     \
                       (double)to[i].re, (double)to[i].im);                                    \
        }                                                                                      \
        CHECK(held);                                                                           \
        CHECK(memcmp(&to[count], to == x ? &a[count] : &b[count],                              \
                     (MOST + 1 - count) * sizeof a[0]) == 0);                                  \
    }
AGAINST(f32)
AGAINST(f64)

TEST(every_loop)
{
    static const coll_operator ops[] = {COLL_SUM, COLL_PROD};
    static const coll_combine plain[2][2] = {{coll_sum_cf32, coll_prod_cf32},
                                             {coll_sum_cf64, coll_prod_cf64}};
    for (int round = 0; round < ROUNDS; round++)
        for (int o = 0; o < 2; o++)
            for (int alias = 0; alias < 4; alias++) {
                const size_t count = round < 20 ? (size_t)round : MOST - (size_t)round;
                coll_op op;
                against_f32(plain[0][o], ops[o], count, alias);
                against_f64(plain[1][o], ops[o], count, alias);
                if (CHECK(coll_op_builtin(&op, ops[o], COLL_CF32) == COLL_OK))
                    against_f32(op.combine, ops[o], count, alias);
                if (CHECK(coll_op_builtin(&op, ops[o], COLL_CF64) == COLL_OK))
                    against_f64(op.combine, ops[o], count, alias);
            }
}

/* Operators that complex numbers lack, and what is promised of those that they have. */
TEST(choice)
{
    for (coll_operator which = 0; which < COLL_OPERATORS; which++)
        for (coll_type type = COLL_CF32; type <= COLL_CF64; type++) {
            coll_op op;
            coll_operator told;
            coll_type of;
            if (which != COLL_SUM && which != COLL_PROD) {
                CHECK_STATUS(coll_op_builtin(&op, which, type), COLL_ERR_OP);
                continue;
            }
            if (!CHECK(coll_op_builtin(&op, which, type) == COLL_OK))
                continue;
            CHECK(op.commutative && !op.exact);
            CHECK(coll_op_predefined(&op, &told, &of) && told == which && of == type);
        }
}

/* The rules of reduce.h's head, in values that a reader can follow. */
TEST(rules)
{
    const coll_cf64 x[] = {{1, 2}, {INFINITY, (double)NAN}, {INFINITY, 0}, {(double)NAN, 0}};
    const coll_cf64 y[] = {{3, -4}, {0, 2}, {0, 0}, {1, 1}};
    coll_cf64 z[4];
    coll_prod_cf64(z, x, y, 4, NULL);
    CHECK(z[0].re == 11 && z[0].im == 2);
    CHECK(isinf(z[1].re) || isinf(z[1].im));   /* infinite times a number that is not zero */
    CHECK(!isinf(z[2].re) && !isinf(z[2].im)); /* infinite times zero */
    CHECK(isnan(z[3].re) && isnan(z[3].im));
    coll_sum_cf64(z, x, y, 1, NULL);
    CHECK(z[0].re == 4 && z[0].im == -2);
}

TEST(layout)
{
    CHECK_EQ(sizeof(coll_cf32), coll_type_bytes(COLL_CF32));
    CHECK_EQ(sizeof(coll_cf64), coll_type_bytes(COLL_CF64));
    CHECK_EQ(sizeof(float _Complex), sizeof(coll_cf32));
    CHECK_EQ(sizeof(double _Complex), sizeof(coll_cf64));
    CHECK_EQ(offsetof(coll_cf64, im), 8);
}

int main(void)
{
    RUN(every_loop);
    RUN(choice);
    RUN(rules);
    RUN(layout);
    return check_done();
}
