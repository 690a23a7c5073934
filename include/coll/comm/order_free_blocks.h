/* coll/comm/order_free_blocks.h — blocks of floats as integers that can be added in any order
 *
 * The values of a block of elements, on all ranks, lie between two powers of two: its window. In units
 * of the lower one they are integers, which are cut into digits of so many bits that a word holds the
 * digits of all ranks. Sums of digits are exact and the same in any order; most blocks need one or two
 * digits an element, where a sum of any floats (exact_sum.h) needs 67.
 *
 *   windows      three numbers a block, whose maximum over the ranks all ranks know
 *   digits       of a block, in planes: the lowest one of each element, then the next ones
 *   kinds        a last plane, where there are values that digits do not hold: how many ranks have −0, +∞
 *                or NaN, −∞ or NaN, in 21 bits each
 */
#ifndef COLL_COMM_ORDER_FREE_BLOCKS_H
#define COLL_COMM_ORDER_FREE_BLOCKS_H

#include "order_free_loops.h"

enum {
    COLL_I_ORDER_FREE_KIND = 21, /* bits of a number of ranks, all of which may be meant */
    COLL_I_ORDER_FREE_RANKS = 1 << 20
};

/* A format: f64 has 52 and 2047, f32 23 and 255. */
typedef struct coll_i_float_format {
    uint32_t fraction, infinity; /* bits of fraction; the exponent of ∞ */
} coll_i_float_format;

/* A window; all 0: there are only zeros. Exponents as in the bits, that of subnormals is 1. */
typedef struct coll_i_block_window {
    uint16_t above; /* the greatest exponent */
    uint16_t below; /* that of ∞ less the least one */
    uint16_t kinds; /* 1: there are values that are not finite, or −0 */
} coll_i_block_window;

/* What the digits of a block are. */
typedef struct coll_i_block_digits {
    uint32_t bits, n, base; /* bits of a digit, digits of an element; units of 2^base */
    bool kinds;             /* one more plane */
} coll_i_block_digits;

/* ---- digits -------------------------------------------------------------------------------- */

/* Bits of a digit such that the sum of p of them, and a carry, is below 2⁶²; p ≥ 1. */
COLL_INLINE uint32_t coll_i_order_free_bits(uint32_t p)
{
    return p > 1 ? 61 - COLL_HIGHEST_BIT(p - 1) : 62;
}

/* The digits of a block with such a window. */
COLL_INLINE coll_i_block_digits coll_i_order_free_digits(const coll_i_block_window *window,
                                                         uint32_t bits,
                                                         coll_i_float_format format)
{
    coll_i_block_digits digits;
    digits.bits = bits;
    digits.base = digits.n = 0;
    digits.kinds = window->kinds != 0;
    if (window->above > 0) {
        const uint32_t least = format.infinity - window->below;
        digits.base = least - 1;
        digits.n = (window->above - least + 1 + format.fraction + bits - 1) / bits;
    }
    return digits;
}

/* Words of an element. */
COLL_INLINE size_t coll_i_order_free_planes(const coll_i_block_digits *digits)
{
    return (size_t)digits->n + digits->kinds;
}

/* The window of any values. */
COLL_INLINE void coll_i_order_free_widest(coll_i_block_window *window,
                                          coll_i_float_format format)
{
    window->above = window->below = (uint16_t)(format.infinity - 1);
    window->kinds = 1;
}

/* The digits that hold any float. */
COLL_INLINE coll_i_block_digits coll_i_order_free_any(uint32_t bits, coll_i_float_format format)
{
    coll_i_block_window window;
    coll_i_order_free_widest(&window, format);
    return coll_i_order_free_digits(&window, bits, format);
}

/* Elements of the block with which `left` elements begin. */
COLL_INLINE uint32_t coll_i_order_free_length(size_t left)
{
    return left < COLL_I_ORDER_FREE_BLOCK ? (uint32_t)left : (uint32_t)COLL_I_ORDER_FREE_BLOCK;
}

/* m · 2^shift to an element's digits, which are 0. */
COLL_INLINE void coll_i_order_free_place(int64_t *digit, size_t stride, uint32_t bits,
                                         uint64_t m, uint32_t shift, int64_t sign)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    digit += shift / bits * stride;
    shift %= bits;
    *digit = ((int64_t)(m << shift & mask) ^ sign) - sign;
    for (m >>= bits - shift; m > 0; m >>= bits) {
        digit += stride;
        *digit = ((int64_t)(m & mask) ^ sign) - sign;
    }
}

/* ---- of each format ---------------------------------------------------------------------------- */

#define COLL_I_ORDER_FREE(f, U, ELEMENT, FRACTION, INFINITY_)                                  \
    /* The window of n values. */                                                              \
    COLL_INLINE void coll_i_order_free_window_##f(coll_i_block_window *window,                 \
                                                  const coll_i_order_free_loops *loops,        \
                                                  const void *x, uint32_t n)                   \
    {                                                                                          \
        const ELEMENT *value = (const ELEMENT *)x;                                             \
        const U top = (U)1 << (sizeof(U) * 8 - 1);                                             \
        coll_i_block_extremes are; /* by members: no memcpy */                                 \
        are.above = 0;                                                                         \
        are.below = top - 1;                                                                   \
        are.zero = false;                                                                      \
        if (n == COLL_I_ORDER_FREE_BLOCK)                                                      \
            loops->extremes(x, &are);                                                          \
        if (n < COLL_I_ORDER_FREE_BLOCK || are.above >> (FRACTION) >= (INFINITY_)) {           \
            are.above = 0;                                                                     \
            are.below = top - 1;                                                               \
            for (uint32_t i = 0; i < n; i++) {                                                 \
                const U a = value[i] & (top - 1), less = (a - 1) & (top - 1);                  \
                are.zero |= value[i] == top || a >> (FRACTION) >= (INFINITY_);                 \
                are.above = a >> (FRACTION) < (INFINITY_) && a > are.above ? a : are.above;    \
                are.below = less < are.below ? less : are.below;                               \
            }                                                                                  \
        }                                                                                      \
        window->kinds = are.zero;                                                              \
        window->above = window->below = 0;                                                     \
        if (are.above > 0) {                                                                   \
            const U most = (U)are.above >> (FRACTION),                                         \
                    least = ((U)are.below + 1) >> (FRACTION);                                  \
            window->above = (uint16_t)(most > 0 ? most : 1);                                   \
            window->below = (uint16_t)((INFINITY_) - (least > 0 ? least : 1));                 \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* How many ranks have −0, and so on: of n values. */                                    \
    COLL_INLINE void coll_i_order_free_kinds_##f(const void *x, uint32_t n, int64_t *word)     \
    {                                                                                          \
        const ELEMENT *value = (const ELEMENT *)x;                                             \
        const U infinite = (U)(INFINITY_) << (FRACTION);                                       \
        for (uint32_t i = 0; i < n; i++) {                                                     \
            const U a = (U)(value[i] << 1) >> 1;                                               \
            const bool nan = a > infinite, minus = a != value[i];                              \
            const int64_t zero = a == 0 && minus, down = nan || (a == infinite && minus);      \
            const int64_t up = nan || (a == infinite && !minus);                               \
            word[i] =                                                                          \
                zero | up << COLL_I_ORDER_FREE_KIND | down << 2 * COLL_I_ORDER_FREE_KIND;      \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* Writes the digits of n values that lie in the window. */                                \
    COLL_INLINE void coll_i_order_free_write_##f(const coll_i_order_free_loops *loops,         \
                                                 const coll_i_block_digits *digits,            \
                                                 const void *x, uint32_t n, int64_t *word)     \
    {                                                                                          \
        const ELEMENT *value = (const ELEMENT *)x;                                             \
        const U one = (U)1 << (FRACTION);                                                      \
        const size_t words = (size_t)digits->n * n;                                            \
        if (digits->kinds)                                                                     \
            coll_i_order_free_kinds_##f(x, n, word + words);                                   \
        else if (n == COLL_I_ORDER_FREE_BLOCK && (digits->n == 1 || digits->n == 2)) {         \
            (digits->n == 1 ? loops->write_1 : loops->write_2)(x, digits->base, digits->bits,  \
                                                               word);                          \
            return;                                                                            \
        }                                                                                      \
        for (size_t i = 0; i < words; i++)                                                     \
            ((volatile int64_t *)word)[i] = 0; /* no memset on bare metal */                   \
        for (uint32_t i = 0; i < n; i++) {                                                     \
            const int64_t sign = -(int64_t)(value[i] >> (sizeof(U) * 8 - 1));                  \
            const uint32_t e = (uint32_t)(value[i] >> (FRACTION)) & (INFINITY_);               \
            const U m = (value[i] & (one - 1)) | (e > 0 ? one : 0);                            \
            if (m > 0 && e < (INFINITY_))                                                      \
                coll_i_order_free_place(word + i, n, digits->bits, m,                          \
                                        e - (e > 0) - digits->base, sign);                     \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* Reads the n sums of p ranks; digits are spoilt. */                                      \
    COLL_INLINE void coll_i_order_free_read_##f(const coll_i_order_free_loops *loops,          \
                                                const coll_i_block_digits *digits, uint32_t p, \
                                                int64_t *word, uint32_t n, void *out)          \
    {                                                                                          \
        ELEMENT *value = (ELEMENT *)out;                                                       \
        const int64_t *kinds = word + (size_t)digits->n * n;                                   \
        const int64_t some = ((int64_t)1 << COLL_I_ORDER_FREE_KIND) - 1;                       \
        if (n == COLL_I_ORDER_FREE_BLOCK && digits->n == 1 && !digits->kinds &&                \
            loops->read_1) {                                                                   \
            loops->read_1(word, digits->base, out);                                            \
            return;                                                                            \
        }                                                                                      \
        for (uint32_t i = 0; i < n; i++) {                                                     \
            const int64_t kind = digits->kinds ? kinds[i] : 0;                                 \
            uint64_t bits = 0;                                                                 \
            if (kind > some)                                                                   \
                bits = coll_i_exact_special(                                                   \
                    false, (kind >> COLL_I_ORDER_FREE_KIND & some) != 0,                       \
                    kind >> 2 * COLL_I_ORDER_FREE_KIND != 0, (FRACTION), (INFINITY_));         \
            else if (kind == p)                                                                \
                bits = (uint64_t)((INFINITY_) + 1) << (FRACTION);                              \
            else if (digits->n == 1)                                                           \
                bits =                                                                         \
                    coll_i_exact_round_word(word[i], digits->base, (FRACTION), (INFINITY_));   \
            else if (digits->n > 1)                                                            \
                bits = coll_i_exact_round(word + i, n, digits->n, digits->bits, digits->base,  \
                                          (FRACTION), (INFINITY_));                            \
            value[i] = (U)bits;                                                                \
        }                                                                                      \
    }

COLL_I_ORDER_FREE(f32, uint32_t, coll_i_u32, 23, 255u)
COLL_I_ORDER_FREE(f64, uint64_t, coll_i_u64, 52, 2047u)
#undef COLL_I_ORDER_FREE

#endif /* COLL_COMM_ORDER_FREE_BLOCKS_H */
