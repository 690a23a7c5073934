/* coll/reduce/complex.h — the predefined operators on complex numbers: sums and products
 *
 * A part of reduce.h, which says what they do. Elements are laid out as those of C's float _Complex
 * and double _Complex, and of C++'s std::complex.
 */
#ifndef COLL_REDUCE_COMPLEX_H
#define COLL_REDUCE_COMPLEX_H

#include "floats.h"

/* Two floats, of COLL_CF32: the number re + i · im. */
typedef struct COLL_I_ALIAS coll_cf32 {
    float re, im; /* real and imaginary part */
} coll_cf32;

/* Two doubles, of COLL_CF64: likewise. */
typedef struct COLL_I_ALIAS coll_cf64 {
    double re, im; /* real and imaginary part */
} coll_cf64;

/* ---- sums: of twice as many floats -------------------------------------------------------- */

#define COLL_I_COMPLEX_SUM(name, loop)                                                         \
    COLL_INLINE void name(void *dst, const void *a, const void *b, size_t count, void *arg)    \
    {                                                                                          \
        loop(dst, a, b, 2 * count, arg);                                                       \
    }

COLL_I_COMPLEX_SUM(coll_sum_cf32, coll_sum_f32)
COLL_I_COMPLEX_SUM(coll_sum_cf64, coll_sum_f64)
#if COLL_WIDE_LOOPS >= 32
COLL_I_COMPLEX_SUM(coll_i_wide_sum_cf32, coll_i_wide_sum_f32)
COLL_I_COMPLEX_SUM(coll_i_wide_sum_cf64, coll_i_wide_sum_f64)
#endif
#if COLL_WIDE_LOOPS >= 64
COLL_I_COMPLEX_SUM(coll_i_widest_sum_cf32, coll_i_widest_sum_f32)
COLL_I_COMPLEX_SUM(coll_i_widest_sum_cf64, coll_i_widest_sum_f64)
#endif

COLL_CONST(coll_i_loops, coll_i_loops_sum_cf32,
           {coll_sum_cf32, COLL_I_WIDE_OF(sum_cf32), COLL_I_WIDEST_OF(sum_cf32)});
COLL_CONST(coll_i_loops, coll_i_loops_sum_cf64,
           {coll_sum_cf64, COLL_I_WIDE_OF(sum_cf64), COLL_I_WIDEST_OF(sum_cf64)});

/* ---- products ------------------------------------------------------------------------------ */

/* u · v and u + v of the bits of floats; `zero` is 0, which the compiler does not know. It stands between a
 * product and a sum, which compilers otherwise fuse where the processor can: results would depend on it. */
#if COLL_SOFT_FLOAT
#define COLL_I_PRODUCT_F32(u, v, zero) (coll_soft_mul_f32((u), (v)) ^ (zero))
#define COLL_I_PLUS_F32(u, v)          coll_soft_add_f32((u), (v))
#define COLL_I_PRODUCT_F64(u, v, zero) (coll_soft_mul_f64((u), (v)) ^ (zero))
#define COLL_I_PLUS_F64(u, v)          coll_soft_add_f64((u), (v))
#else
#define COLL_I_PRODUCT_F32(u, v, zero) (coll_i_bits(coll_i_float(u) * coll_i_float(v)) ^ (zero))
#define COLL_I_PLUS_F32(u, v)          coll_i_bits(coll_i_float(u) + coll_i_float(v))
#define COLL_I_PRODUCT_F64(u, v, zero)                                                         \
    (coll_i_double_bits(coll_i_double(u) * coll_i_double(v)) ^ (zero))
#define COLL_I_PLUS_F64(u, v) coll_i_double_bits(coll_i_double(u) + coll_i_double(v))
#endif

/* U the bits of a part, I those of its ∞, ONE of 1. A number with an infinite part is infinite, even if the other
 * part is a NaN; and so is its product with any number that is neither zero nor without a number in both parts.
 * C11, G.5.1: where the formula gives two NaNs, infinite operands are taken as ±1 and ±0 in their parts, NaNs of the
 * other operand as zeros, and the result is multiplied by ∞. Seldom, so in integers. */
#define COLL_I_COMPLEX_PROD(f, F, U, I, ONE)                                                   \
    typedef struct coll_i_bits_c##f {                                                          \
        U re, im;                                                                              \
    } coll_i_bits_c##f;                                                                        \
                                                                                               \
    COLL_INLINE bool coll_i_infinite_c##f(const coll_i_bits_c##f *x)                           \
    {                                                                                          \
        return (U)(x->re << 1) == (U)((I) << 1) || (U)(x->im << 1) == (U)((I) << 1);           \
    }                                                                                          \
                                                                                               \
    COLL_INLINE U coll_i_unit_##f(U x)                                                         \
    {                                                                                          \
        const U sign = x & ~((U)-1 >> 1);                                                      \
        return (U)(x << 1) == (U)((I) << 1) ? sign | (ONE) : sign;                             \
    }                                                                                          \
                                                                                               \
    COLL_INLINE void coll_i_without_nan_c##f(coll_i_bits_c##f *x)                              \
    {                                                                                          \
        const U top = ~((U)-1 >> 1);                                                           \
        x->re = coll_soft_is_nan_##f(x->re) ? x->re & top : x->re;                             \
        x->im = coll_soft_is_nan_##f(x->im) ? x->im & top : x->im;                             \
    }                                                                                          \
                                                                                               \
    COLL_INLINE void coll_i_infinities_c##f(coll_i_bits_c##f *x, coll_i_bits_c##f *y,          \
                                            coll_i_bits_c##f *to)                              \
    {                                                                                          \
        const U top = ~((U)-1 >> 1);                                                           \
        coll_i_bits_c##f own, cross; /* the four products */                                   \
        const bool first = coll_i_infinite_c##f(x), second = coll_i_infinite_c##f(y);          \
        own.re = coll_soft_mul_##f(x->re, y->re);                                              \
        own.im = coll_soft_mul_##f(x->im, y->im);                                              \
        cross.re = coll_soft_mul_##f(x->re, y->im);                                            \
        cross.im = coll_soft_mul_##f(x->im, y->re);                                            \
        if (!first && !second && !coll_i_infinite_c##f(&own) && !coll_i_infinite_c##f(&cross)) \
            return;                                                                            \
        if (first) {                                                                           \
            x->re = coll_i_unit_##f(x->re);                                                    \
            x->im = coll_i_unit_##f(x->im);                                                    \
        }                                                                                      \
        if (second) {                                                                          \
            y->re = coll_i_unit_##f(y->re);                                                    \
            y->im = coll_i_unit_##f(y->im);                                                    \
        }                                                                                      \
        coll_i_without_nan_c##f(x);                                                            \
        coll_i_without_nan_c##f(y);                                                            \
        to->re =                                                                               \
            coll_soft_mul_##f(I, coll_soft_add_##f(coll_soft_mul_##f(x->re, y->re),            \
                                                   coll_soft_mul_##f(x->im, y->im) ^ top));    \
        to->im = coll_soft_mul_##f(I, coll_soft_add_##f(coll_soft_mul_##f(x->re, y->im),       \
                                                        coll_soft_mul_##f(x->im, y->re)));     \
    }                                                                                          \
                                                                                               \
    COLL_INLINE void coll_prod_c##f(void *dst, const void *a, const void *b, size_t count,     \
                                    void *arg)                                                 \
    {                                                                                          \
        typedef U word COLL_I_ALIAS;                                                           \
        const volatile U none = 0;                                                             \
        const U zero = none, minus = zero ^ ~((U)-1 >> 1);                                     \
        const word *x = (const word *)a, *y = (const word *)b;                                 \
        word *to = (word *)dst;                                                                \
        (void)arg;                                                                             \
        for (size_t i = 0; i < 2 * count; i += 2) {                                            \
            coll_i_bits_c##f u, v, w;                                                          \
            u.re = x[i];                                                                       \
            u.im = x[i + 1];                                                                   \
            v.re = y[i];                                                                       \
            v.im = y[i + 1];                                                                   \
            w.re = COLL_I_PLUS_##F(COLL_I_PRODUCT_##F(u.re, v.re, zero),                       \
                                   COLL_I_PRODUCT_##F(u.im, v.im, minus));                     \
            w.im = COLL_I_PLUS_##F(COLL_I_PRODUCT_##F(u.re, v.im, zero),                       \
                                   COLL_I_PRODUCT_##F(u.im, v.re, zero));                      \
            if (coll_soft_is_nan_##f(w.re) && coll_soft_is_nan_##f(w.im))                      \
                coll_i_infinities_c##f(&u, &v, &w);                                            \
            to[i] = w.re;                                                                      \
            to[i + 1] = w.im;                                                                  \
        }                                                                                      \
    }                                                                                          \
    COLL_CONST(coll_i_loops, coll_i_loops_prod_c##f, {coll_prod_c##f, NULL, NULL});

COLL_I_COMPLEX_PROD(f32, F32, uint32_t, 0x7f800000u, 0x3f800000u)
COLL_I_COMPLEX_PROD(f64, F64, uint64_t, (uint64_t)0x7ff0000000000000, 0x3ff0000000000000u)

#undef COLL_I_PRODUCT_F32
#undef COLL_I_PRODUCT_F64
#undef COLL_I_PLUS_F32
#undef COLL_I_PLUS_F64

#endif /* COLL_REDUCE_COMPLEX_H */
