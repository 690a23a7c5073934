/* coll/exact_sum.h — sums of floats without rounding, in a fixed number of words
 *
 *     coll_exact_f64 sum;
 *     double total;
 *     coll_exact_zero_f64(&sum);
 *     coll_exact_add_f64(&sum, x, n);               an array, or one value
 *     coll_exact_merge_f64(&sum, &other);           what others have added
 *     coll_exact_read_f64(&sum, &total);            rounded once: the double nearest to the exact sum
 *
 * The sum is exact, so order and grouping do not matter: any order of adding and any tree of merges
 * reads the same bits, and has the same words after coll_exact_normalize. All is done with integers
 * on the bits of the floats: a processor without floats, another byte order, another rounding mode
 * or -ffast-math change nothing.
 *
 *   finite    rounded to nearest, ties to even. Only the result can overflow to ±∞: the sum of the
 *             greatest value twice and its negative once is the greatest value
 *   ±∞        the sum is that infinity; both signs: NaN
 *   NaN       the sum is the default NaN of softfloat.h
 *   zero      −0 if every value was −0, and there was one; else +0, that of no values too
 *
 * To sum over ranks, normalize and add the words as integers: the words of a sum are the sums of
 * the words, so any algorithm of the library, or a network that adds integers, will do:
 *
 *     coll_exact_normalize_f64(&sum);
 *     coll_allreduce(&comm, COLL_IN_PLACE, sum.word, COLL_EXACT_F64_WORDS, COLL_I64, COLL_SUM);
 *     coll_exact_read_f64(&sum, &total);
 *
 * comm/order_free.h does that, and has vectors, of which each element is such a sum.
 *
 * A sum is a number in digits of 32 bits, each in a word of 64 that has room for carries (Kulisch
 * and Miranker 1981 have one long register, "Computer Arithmetic in Theory and Practice"). A value
 * of 53 bits touches three digits and waits for no carry; after 2³⁰ values they are carried on.
 * Up to 2³⁰ normalized sums may be added word by word, and 2⁶² values in all.
 */
#ifndef COLL_EXACT_SUM_H
#define COLL_EXACT_SUM_H

#include "reduce.h"

/* ---- layout: digits, lowest first, then counts ------------------------------------------------ */

enum {
    COLL_I_EXACT_BITS = 32,       /* of a digit */
    COLL_I_EXACT_F32_DIGITS = 10, /* values have 277 bits, the last digit is for carries */
    COLL_I_EXACT_F64_DIGITS = 67, /* … 2098 bits */
    /* counts, behind the digits; all but the first are of values added */
    COLL_I_EXACT_PENDING = 0, /* digits are below so many times 2³² */
    COLL_I_EXACT_VALUES = 1,  /* any */
    COLL_I_EXACT_NANS = 2,
    COLL_I_EXACT_PLUS = 3,  /* +∞ */
    COLL_I_EXACT_MINUS = 4, /* −∞ */
    COLL_I_EXACT_ZEROS = 5, /* −0 */
    COLL_I_EXACT_COUNTS = 6,
    /* Words of a sum. */
    COLL_EXACT_F32_WORDS = COLL_I_EXACT_F32_DIGITS + COLL_I_EXACT_COUNTS,
    COLL_EXACT_F64_WORDS = COLL_I_EXACT_F64_DIGITS + COLL_I_EXACT_COUNTS
};

/* A sum of f32; 128 bytes. */
typedef struct coll_exact_f32 {
    int64_t word[COLL_EXACT_F32_WORDS]; /* to be added as they are, of normalized sums */
} coll_exact_f32;

/* A sum of f64; 584 bytes. */
typedef struct coll_exact_f64 {
    int64_t word[COLL_EXACT_F64_WORDS]; /* likewise */
} coll_exact_f64;

/* ---- numbers in digits ------------------------------------------------------------------------ */

/* The value is Σ digit[k · stride] · 2^(k · bits), k < n, each digit below 2⁶² and of any sign. Carries
 * them on: all but the last one are from 0 to 2^bits − 1 then. So a number has one form. */
COLL_INLINE void coll_i_exact_carry(int64_t *digit, size_t stride, uint32_t n, uint32_t bits)
{
    const int64_t mask = (int64_t)(((uint64_t)1 << bits) - 1);
    int64_t carry = 0;
    for (; n > 1; n--, digit += stride) {
        const int64_t d = *digit + carry;
        *digit = d & mask;
        carry = d >> bits; /* towards −∞ */
    }
    *digit += carry;
}

/* How many bits a number has; 0 has one. */
COLL_INLINE uint32_t coll_i_exact_length(uint64_t x)
{
#if COLL_I_COUNTS_ZEROS && UINTPTR_MAX > 0xffffffffu &&                                        \
    (defined(__GNUC__) || defined(__clang__))
    return 64 - (uint32_t)__builtin_clzll(x | 1u);
#else
    const uint32_t high = (uint32_t)(x >> 32);
    return high ? 33 + COLL_HIGHEST_BIT(high) : 1 + COLL_HIGHEST_BIT((uint32_t)x | 1u);
#endif
}

/* The bits of the float nearest to head · 2^(index − 63), and somewhat more if `below` is 1, in units of the
 * least subnormal; head's highest bit is set. `fraction` bits and an exponent below `infinity` (f64:
 * 52, 2047). Words of one size, and no branches: for vectors. */
COLL_HOT_INLINE uint64_t coll_i_exact_encode(uint64_t head, uint64_t below, uint64_t index,
                                             uint64_t fraction, uint64_t infinity)
{
    const uint64_t low = index > fraction ? index - fraction : 0;
    const uint64_t cut =
        63 - index + low; /* 63 − fraction, or all that is beyond the last bit */
    const uint64_t kept = head >> cut, rest = head << (64 - cut), most = infinity << fraction;
    /* More than half, or half and odd; a carry moves the exponent up as it should. */
    const uint64_t up = rest + (below | (kept & 1u)) > (uint64_t)1 << 63;
    const uint64_t bits = (low << fraction) + kept + up;
    return bits < most ? bits : most;
}

/* The bits of a number of one digit, as below. */
COLL_INLINE uint64_t coll_i_exact_round_word(int64_t digit, uint32_t base, uint32_t fraction,
                                             uint32_t infinity)
{
    const int64_t sign = -(int64_t)(digit < 0);
    const uint64_t x = (uint64_t)((digit ^ sign) - sign);
    const uint32_t length = coll_i_exact_length(x);
    const uint64_t bits =
        coll_i_exact_encode(x << (64 - length), 0, base + length - 1, fraction, infinity);
    return (x ? bits : 0) | ((uint64_t)sign & (uint64_t)(infinity + 1) << fraction);
}

/* The bits of a number of n ≥ 1 digits, in units of 2^base times the least subnormal, rounded to nearest.
 * Digits are carried on, and those of a negative number negated. Zero is +0. */
COLL_INLINE uint64_t coll_i_exact_round(int64_t *digit, size_t stride, uint32_t n,
                                        uint32_t bits, uint32_t base, uint32_t fraction,
                                        uint32_t infinity)
{
    uint64_t sign = 0, head, below = 0;
    uint32_t index, room;
    coll_i_exact_carry(digit, stride, n, bits);
    if (digit[(n - 1) * stride] < 0) {
        sign = (uint64_t)(infinity + 1) << fraction;
        for (uint32_t k = 0; k < n; k++)
            digit[k * stride] = -digit[k * stride];
        coll_i_exact_carry(digit, stride, n, bits);
    }
    while (n > 1 && digit[(n - 1) * stride] == 0)
        n--;
    n--;
    head = (uint64_t)digit[n * stride];
    if (head == 0)
        return 0;
    room = 64 - coll_i_exact_length(head);
    index = base + n * bits + 63 - room; /* of the highest bit */
    head <<= room;                       /* its highest 64 bits; `below`: is there any other? */
    while (n-- > 0) {
        const uint64_t d = (uint64_t)digit[n * stride];
        if (room >= bits) {
            room -= bits;
            head |= d << room;
        } else {
            head |= d >> (bits - room);
            below |= d & (((uint64_t)1 << (bits - room)) - 1);
            room = 0;
        }
    }
    return sign | coll_i_exact_encode(head, below != 0, index, fraction, infinity);
}

/* What a sum is that has such values in it, which its digits do not hold. */
COLL_INLINE uint64_t coll_i_exact_special(bool nan, bool plus, bool minus, uint32_t fraction,
                                          uint32_t infinity)
{
    const uint64_t without = (uint64_t)infinity << fraction;
    if (nan || (plus && minus))
        return without | (uint64_t)1 << (fraction - 1);
    return minus ? without | (uint64_t)(infinity + 1) << fraction : without;
}

/* ---- sums ------------------------------------------------------------------------------------- */

/* f names the type, U is a word of its bits. */
#define COLL_I_EXACT(f, U, ELEMENT, DIGITS, FRACTION, INFINITY_)                               \
    /* No values yet. */                                                                       \
    COLL_INLINE void coll_exact_zero_##f(coll_exact_##f *sum)                                  \
    {                                                                                          \
        for (uint32_t k = 0; k < (DIGITS) + COLL_I_EXACT_COUNTS; k++)                          \
            ((volatile int64_t *)sum->word)[k] = 0; /* no memset on bare metal */              \
    }                                                                                          \
                                                                                               \
    /* Makes the words of equal sums equal, and ready to be added as integers. */              \
    COLL_INLINE void coll_exact_normalize_##f(coll_exact_##f *sum)                             \
    {                                                                                          \
        coll_i_exact_carry(sum->word, 1, (DIGITS), COLL_I_EXACT_BITS);                         \
        sum->word[(DIGITS) + COLL_I_EXACT_PENDING] = 1;                                        \
    }                                                                                          \
                                                                                               \
    COLL_INLINE void coll_i_exact_add_##f(int64_t *word, U x)                                  \
    {                                                                                          \
        const U one = (U)1 << (FRACTION);                                                      \
        const uint32_t e = (uint32_t)(x >> (FRACTION)) & (INFINITY_);                          \
        const bool negative = x >> (sizeof(U) * 8 - 1) != 0;                                   \
        const uint64_t m = (x & (one - 1)) | (e ? one : 0);                                    \
        const uint32_t at = e ? e - 1 : 0, shift = at % COLL_I_EXACT_BITS;                     \
        const uint64_t low = (m & 0xffffffffu) << shift, high = m >> 32 << shift;              \
        const int64_t d0 = (int64_t)(low & 0xffffffffu), d2 = (int64_t)(high >> 32);           \
        const int64_t d1 = (int64_t)(low >> 32 | (high & 0xffffffffu));                        \
        const int64_t sign = -(int64_t)negative;                                               \
        if (COLL_LIKELY(e < (INFINITY_))) {                                                    \
            int64_t *digit = word + at / COLL_I_EXACT_BITS;                                    \
            digit[0] += (d0 ^ sign) - sign;                                                    \
            digit[1] += (d1 ^ sign) - sign;                                                    \
            digit[2] += (d2 ^ sign) - sign;                                                    \
            word[(DIGITS) + COLL_I_EXACT_ZEROS] += m == 0 && negative;                         \
        } else {                                                                               \
            word[(DIGITS) + (m > one    ? COLL_I_EXACT_NANS                                    \
                             : negative ? COLL_I_EXACT_MINUS                                   \
                                        : COLL_I_EXACT_PLUS)]++;                               \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* Adds `count` values, which lie at x as elements of an array do. */                      \
    COLL_INLINE void coll_exact_add_##f(coll_exact_##f *sum, const void *x, size_t count)      \
    {                                                                                          \
        const ELEMENT *value = (const ELEMENT *)x;                                             \
        int64_t *pending = &sum->word[(DIGITS) + COLL_I_EXACT_PENDING];                        \
        sum->word[(DIGITS) + COLL_I_EXACT_VALUES] += (int64_t)count;                           \
        while (count > 0) {                                                                    \
            const size_t n = count < ((size_t)1 << 28) ? count : (size_t)1 << 28;              \
            if (*pending + (int64_t)n > (int64_t)1 << 29)                                      \
                coll_exact_normalize_##f(sum);                                                 \
            for (size_t i = 0; i < n; i++)                                                     \
                coll_i_exact_add_##f(sum->word, value[i]);                                     \
            *pending += (int64_t)n;                                                            \
            value += n;                                                                        \
            count -= n;                                                                        \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* Adds all values of another sum. */                                                      \
    COLL_INLINE void coll_exact_merge_##f(coll_exact_##f *sum, const coll_exact_##f *other)    \
    {                                                                                          \
        coll_sum_i64(sum->word, sum->word, other->word, (DIGITS) + COLL_I_EXACT_COUNTS, NULL); \
        if (sum->word[(DIGITS) + COLL_I_EXACT_PENDING] > (int64_t)1 << 29)                     \
            coll_exact_normalize_##f(sum);                                                     \
    }                                                                                          \
                                                                                               \
    /* Writes the sum, rounded, to the element at out. */                                      \
    COLL_INLINE void coll_exact_read_##f(const coll_exact_##f *sum, void *out)                 \
    {                                                                                          \
        const int64_t *count = sum->word + (DIGITS);                                           \
        int64_t digit[DIGITS];                                                                 \
        uint64_t bits;                                                                         \
        COLL_COPY(digit, sum->word, sizeof digit);                                             \
        bits = coll_i_exact_round(digit, 1, (DIGITS), COLL_I_EXACT_BITS, 0, (FRACTION),        \
                                  (INFINITY_));                                                \
        if (count[COLL_I_EXACT_NANS] | count[COLL_I_EXACT_PLUS] | count[COLL_I_EXACT_MINUS])   \
            bits = coll_i_exact_special(                                                       \
                count[COLL_I_EXACT_NANS] != 0, count[COLL_I_EXACT_PLUS] != 0,                  \
                count[COLL_I_EXACT_MINUS] != 0, (FRACTION), (INFINITY_));                      \
        else if (count[COLL_I_EXACT_ZEROS] != 0 &&                                             \
                 count[COLL_I_EXACT_ZEROS] == count[COLL_I_EXACT_VALUES])                      \
            bits = (uint64_t)((INFINITY_) + 1) << (FRACTION);                                  \
        *(ELEMENT *)out = (ELEMENT)bits;                                                       \
    }

COLL_I_EXACT(f32, uint32_t, coll_i_u32, COLL_I_EXACT_F32_DIGITS, 23, 255u)
COLL_I_EXACT(f64, uint64_t, coll_i_u64, COLL_I_EXACT_F64_DIGITS, 52, 2047u)
#undef COLL_I_EXACT

#endif /* COLL_EXACT_SUM_H */
