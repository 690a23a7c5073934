/* tests/fuzz/exact_sum.c — values in any bits: their exact sum is that of tests/support/exact_reference.h, in
 * one piece and in two, and as digits of a block, which comm/order_free.h adds up */
#include "fuzz.h"

#include "coll/comm/order_free_blocks.h"
#include "support/exact_reference.h"

enum { VALUES = 64, RANKS = 4 };

#define TARGET(f, U, wide)                                                                     \
    /* The values of a few ranks, n each, added up by column. */                               \
    static void block_##f(const U *x, uint32_t p, uint32_t n)                                  \
    {                                                                                          \
        static const coll_i_float_format format = {(wide) ? 52 : 23, (wide) ? 2047 : 255};     \
        const coll_i_order_free_loops *loops = coll_i_order_free_loops_of(wide);               \
        static int64_t sum[VALUES * 53], word[VALUES * 53];                                    \
        coll_i_block_window all = {0, 0, 0};                                                   \
        coll_i_block_digits digits;                                                            \
        size_t words;                                                                          \
        U out[VALUES];                                                                         \
        for (uint32_t r = 0; r < p; r++) {                                                     \
            coll_i_block_window its;                                                           \
            coll_i_order_free_window_##f(&its, loops, x + r * n, n);                           \
            all.above = its.above > all.above ? its.above : all.above;                         \
            all.below = its.below > all.below ? its.below : all.below;                         \
            all.kinds = its.kinds > all.kinds ? its.kinds : all.kinds;                         \
        }                                                                                      \
        digits = coll_i_order_free_digits(&all, coll_i_order_free_bits(p), format);            \
        words = n * coll_i_order_free_planes(&digits);                                         \
        memset(sum, 0, sizeof sum);                                                            \
        for (uint32_t r = 0; r < p; r++) {                                                     \
            coll_i_order_free_write_##f(loops, &digits, x + r * n, n, word);                   \
            for (size_t i = 0; i < words; i++)                                                 \
                sum[i] += word[i];                                                             \
        }                                                                                      \
        coll_i_order_free_read_##f(loops, &digits, p, sum, n, out);                            \
        for (uint32_t i = 0; i < n; i++) {                                                     \
            reference right;                                                                   \
            reference_begin(&right, wide);                                                     \
            for (uint32_t r = 0; r < p; r++)                                                   \
                reference_add(&right, x[r * n + i]);                                           \
            must(out[i] == reference_read(&right), "element %u of %u, %u ranks", i, n, p);     \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* n values, the first `part` of them apart. */                                            \
    static void sum_##f(const U *x, uint32_t n, uint32_t part)                                 \
    {                                                                                          \
        coll_exact_##f one, two, rest;                                                         \
        reference right;                                                                       \
        U bits = 0;                                                                            \
        reference_begin(&right, wide);                                                         \
        for (uint32_t i = 0; i < n; i++)                                                       \
            reference_add(&right, x[i]);                                                       \
        coll_exact_zero_##f(&one);                                                             \
        coll_exact_zero_##f(&two);                                                             \
        coll_exact_zero_##f(&rest);                                                            \
        coll_exact_add_##f(&one, x, n);                                                        \
        coll_exact_add_##f(&two, x, part);                                                     \
        coll_exact_add_##f(&rest, x + part, n - part);                                         \
        coll_exact_normalize_##f(&rest);                                                       \
        coll_exact_merge_##f(&two, &rest);                                                     \
        coll_exact_read_##f(&two, &bits);                                                      \
        must(bits == reference_read(&right), "%u values", n);                                  \
        coll_exact_normalize_##f(&one);                                                        \
        coll_exact_normalize_##f(&two);                                                        \
        must(memcmp(&one, &two, sizeof one) == 0, "words of %u values differ", n);             \
    }

TARGET(f32, uint32_t, false)
TARGET(f64, uint64_t, true)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t bytes = size > 1 && data[0] % 2 ? 8 : 4;
    uint32_t n, p;
    void *x;
    if (size < 2)
        return 0;
    n = (uint32_t)((size - 2) / bytes < VALUES * RANKS ? (size - 2) / bytes : VALUES * RANKS);
    x = bytes_of(data + 2, n * bytes);
    p = 1 + data[0] / 2 % RANKS;
    if (bytes == 8) {
        sum_f64((const uint64_t *)x, n, n * data[1] / 256);
        block_f64((const uint64_t *)x, p, n / p < VALUES ? n / p : VALUES);
    } else {
        sum_f32((const uint32_t *)x, n, n * data[1] / 256);
        block_f32((const uint32_t *)x, p, n / p < VALUES ? n / p : VALUES);
    }
    free(x);
    return 0;
}
