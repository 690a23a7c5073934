/* coll/comm/order_free_loops.h — the loops over whole blocks in which order-free sums spend their time
 *
 * Each on vectors of what the processor has, as those of reduce.h; without branches, so that compilers can.
 * order_free_blocks.h says what a block is and does all that is rare: blocks at the end, those with values
 * that are not finite or −0, and those that need more than two digits.
 */
#ifndef COLL_COMM_ORDER_FREE_LOOPS_H
#define COLL_COMM_ORDER_FREE_LOOPS_H

#include "../exact_sum.h"

enum { COLL_I_ORDER_FREE_BLOCK = 64 }; /* elements; windows are 1 to 2 % of their bytes */

/* What is the least and the greatest of a block, as integers without the sign. */
typedef struct coll_i_block_extremes {
    uint64_t above, below; /* the greatest one; the least one that is not 0, less 1 */
    bool zero;             /* there is −0 */
} coll_i_block_extremes;

/* The loops of a format. */
typedef struct coll_i_order_free_loops {
    void (*extremes)(const void *x, coll_i_block_extremes *are);
    void (*write_1)(const void *x, uint32_t base, uint32_t bits, int64_t *word);
    void (*write_2)(const void *x, uint32_t base, uint32_t bits, int64_t *word);
    void (*read_1)(const int64_t *word, uint32_t base, void *out); /* or NULL */
} coll_i_order_free_loops;

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* x_i of a value that is finite: its bits of fraction, which are m · 2^(shift + base). */
#define COLL_I_TAKE_APART(FRACTION, INFINITY_)                                                 \
    const uint64_t x_i = value[i], one = (uint64_t)1 << (FRACTION);                            \
    const uint64_t e = x_i >> (FRACTION) & (INFINITY_), normal = e > 0;                        \
    const uint64_t m = (x_i & (one - 1)) | normal << (FRACTION), shift = e - normal - base;    \
    const int64_t sign = -(int64_t)(x_i > ((uint64_t)(INFINITY_) << (FRACTION) | (one - 1)))

/* Sums of one digit. One at a time takes three times the time of vectors of 64 bytes, and no more than those of
 * 32. The bits of a number above bit 30, of which there are at most 32 after a move by 32, become a double
 * without rounding, in whatever mode: its exponent tells where the highest one is. */
#define COLL_I_READ_LOOP(target, name, ELEMENT, FRACTION, INFINITY_)                           \
    COLL_INLINE target void coll_i_read_1_##name(const int64_t *word, uint32_t base,           \
                                                 void *out)                                    \
    {                                                                                          \
        ELEMENT *value = (ELEMENT *)out;                                                       \
        COLL_I_INDEPENDENT                                                                     \
        for (uint32_t i = 0; i < COLL_I_ORDER_FREE_BLOCK; i++) {                               \
            const int64_t sign = word[i] < 0 ? -1 : 0, x = (word[i] ^ sign) - sign;            \
            const uint64_t minus = (uint64_t)sign & (uint64_t)((INFINITY_) + 1) << (FRACTION); \
            int64_t head = x;                                                                  \
            uint64_t index = (uint64_t)base + 62, bits;                                        \
            const uint64_t far = head < (int64_t)1 << 31 ? 32 : 0;                             \
            const double top = (double)(int64_t)((uint64_t)head << far >> 31);                 \
            uint64_t length, by;                                                               \
            __builtin_memcpy(&length, &top, sizeof length);                                    \
            by = ((1023 + 31 - (length >> 52)) & 63u) + far;                                   \
            head = (int64_t)((uint64_t)head << by);                                            \
            index -= by;                                                                       \
            bits =                                                                             \
                coll_i_exact_encode((uint64_t)head << 1, 0, index, (FRACTION), (INFINITY_));   \
            value[i] = (ELEMENT)((bits & (0 - (uint64_t)(x > 0))) | minus);                    \
        }                                                                                      \
    }
#define COLL_I_READ_LOOP_OF(name) coll_i_read_1_##name
#define COLL_I_NO_LOOP(name)      NULL

/* `read`: gives the name of the loop above, or NULL; S: words of the element's bits, with a sign. */
#define COLL_I_LOOPS(target, name, read, S, ELEMENT, FRACTION, INFINITY_)                      \
    COLL_INLINE target void coll_i_extremes_##name(const void *x, coll_i_block_extremes *are)  \
    {                                                                                          \
        const ELEMENT *value = (const ELEMENT *)x;                                             \
        const S all = (S)(((uint64_t)(INFINITY_) << (FRACTION)) | (((S)1 << (FRACTION)) - 1)); \
        S above = 0, below = all, lowest = 0;                                                  \
        for (uint32_t i = 0; i < COLL_I_ORDER_FREE_BLOCK; i++) {                               \
            const S x_i = (S)value[i], a = x_i & all, less = (a - 1) & all;                    \
            above = a > above ? a : above;                                                     \
            below = less < below ? less : below;                                               \
            lowest = x_i < lowest ? x_i : lowest;                                              \
        }                                                                                      \
        are->above = (uint64_t)above;                                                          \
        are->below = (uint64_t)below;                                                          \
        are->zero = lowest == -1 - all;                                                        \
    }                                                                                          \
                                                                                               \
    COLL_INLINE target void coll_i_write_1_##name(const void *x, uint32_t base, uint32_t bits, \
                                                  int64_t *word)                               \
    {                                                                                          \
        const ELEMENT *value = (const ELEMENT *)x;                                             \
        (void)bits;                                                                            \
        COLL_I_INDEPENDENT                                                                     \
        for (uint32_t i = 0; i < COLL_I_ORDER_FREE_BLOCK; i++) {                               \
            COLL_I_TAKE_APART(FRACTION, INFINITY_);                                            \
            word[i] = ((int64_t)(m << (shift & 63u)) ^ sign) - sign;                           \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    COLL_INLINE target void coll_i_write_2_##name(const void *x, uint32_t base, uint32_t bits, \
                                                  int64_t *word)                               \
    {                                                                                          \
        const ELEMENT *value = (const ELEMENT *)x;                                             \
        const uint64_t mask = ((uint64_t)1 << bits) - 1, room = bits;                          \
        COLL_I_INDEPENDENT                                                                     \
        for (uint32_t i = 0; i < COLL_I_ORDER_FREE_BLOCK; i++) {                               \
            COLL_I_TAKE_APART(FRACTION, INFINITY_);                                            \
            const uint64_t high = 0 - (uint64_t)((int64_t)shift >= (int64_t)room);             \
            const uint64_t up = m << ((shift - (room & high)) & 63u);                          \
            const uint64_t over = m >> ((room - shift) & 63u);                                 \
            word[i] = ((int64_t)(up & mask & ~high) ^ sign) - sign;                            \
            word[COLL_I_ORDER_FREE_BLOCK + i] =                                                \
                ((int64_t)((up & high) | (over & ~high)) ^ sign) - sign;                       \
        }                                                                                      \
    }                                                                                          \
    COLL_CONST(coll_i_order_free_loops, coll_i_order_free_##name,                              \
               {coll_i_extremes_##name, coll_i_write_1_##name, coll_i_write_2_##name, read(name)});

#define COLL_I_BOTH_LOOPS(target, name, read)                                                  \
    COLL_I_LOOPS(target, name##_f32, read, int32_t, coll_i_u32, 23, 255)                       \
    COLL_I_LOOPS(target, name##_f64, read, int64_t, coll_i_u64, 52, 2047)

COLL_I_BOTH_LOOPS(, plain, COLL_I_NO_LOOP)
#if COLL_WIDE_LOOPS >= 32
COLL_I_BOTH_LOOPS(__attribute__((target("avx2"))), wide, COLL_I_NO_LOOP)
#endif
#if COLL_WIDE_LOOPS >= 64
COLL_I_READ_LOOP(__attribute__((target(COLL_I_AVX512))), widest_f32, coll_i_u32, 23, 255)
COLL_I_READ_LOOP(__attribute__((target(COLL_I_AVX512))), widest_f64, coll_i_u64, 52, 2047)
COLL_I_BOTH_LOOPS(__attribute__((target(COLL_I_AVX512))), widest, COLL_I_READ_LOOP_OF)
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/* The loops for this processor. */
COLL_INLINE const coll_i_order_free_loops *coll_i_order_free_loops_of(bool f64)
{
#if COLL_WIDE_LOOPS >= 64
    if (__builtin_cpu_supports("avx512vbmi2"))
        return f64 ? &coll_i_order_free_widest_f64 : &coll_i_order_free_widest_f32;
#endif
#if COLL_WIDE_LOOPS >= 32
    if (__builtin_cpu_supports("avx2"))
        return f64 ? &coll_i_order_free_wide_f64 : &coll_i_order_free_wide_f32;
#endif
    return f64 ? &coll_i_order_free_plain_f64 : &coll_i_order_free_plain_f32;
}

#undef COLL_I_LOOPS
#undef COLL_I_READ_LOOP
#undef COLL_I_READ_LOOP_OF
#undef COLL_I_NO_LOOP
#undef COLL_I_BOTH_LOOPS
#undef COLL_I_TAKE_APART

#endif /* COLL_COMM_ORDER_FREE_LOOPS_H */
