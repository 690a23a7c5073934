/* tests/exact_sum.c — exact sums against a sum worked out bit by bit, in any order and any tree */
#include "coll/exact_sum.h"

#include "coll/softfloat.h"
#include "support/check.h"
#include "support/exact_reference.h"

enum { MOST = 300, PARTS = 7, ROUNDS = 400 / CHECK_SHARE, PAIRS = 100000 / CHECK_SHARE };

static uint64_t wide[MOST];
static uint32_t narrow[MOST];

/* ---- values ------------------------------------------------------------------------------- */

/* n values of one kind, in `wide`, and as f32 in `narrow`. */
static void draw(bool f64, uint32_t kind, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        wide[i] = reference_value(f64, kind, i % 2 ? wide[i - 1] : 0);
        narrow[i] = (uint32_t)wide[i];
    }
}

static void shuffle(uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t k = chance(i);
        const uint64_t x = wide[i - 1];
        wide[i - 1] = wide[k];
        wide[k] = x;
        narrow[i - 1] = (uint32_t)wide[i - 1];
        narrow[k] = (uint32_t)x;
    }
}

/* ---- sums --------------------------------------------------------------------------------- */

#define TEST_SUMS(f, U, array, f64)                                                            \
    /* All n values, in parts that are merged in any order. */                                 \
    static uint64_t by_parts_##f(uint32_t n, coll_exact_##f *sum)                              \
    {                                                                                          \
        coll_exact_##f part[PARTS];                                                            \
        uint32_t parts = 1 + chance(PARTS), at = 0;                                            \
        U bits = 0;                                                                            \
        for (uint32_t i = 0; i < parts; i++) {                                                 \
            const uint32_t here = i + 1 < parts ? chance(n - at + 1) : n - at;                 \
            coll_exact_zero_##f(&part[i]);                                                     \
            coll_exact_add_##f(&part[i], array + at, here);                                    \
            if (chance(2))                                                                     \
                coll_exact_normalize_##f(&part[i]);                                            \
            at += here;                                                                        \
        }                                                                                      \
        for (; parts > 1; parts--) {                                                           \
            const uint32_t to = chance(parts - 1);                                             \
            coll_exact_merge_##f(&part[to], &part[parts - 1]);                                 \
        }                                                                                      \
        *sum = part[0];                                                                        \
        coll_exact_read_##f(sum, &bits);                                                       \
        return bits;                                                                           \
    }                                                                                          \
                                                                                               \
    TEST(sums_##f)                                                                             \
    {                                                                                          \
        for (uint32_t round = 0; round < ROUNDS; round++) {                                    \
            const uint32_t kind = round % REFERENCE_KINDS, n = chance(MOST + 1);               \
            coll_exact_##f first, again;                                                       \
            reference right;                                                                   \
            uint64_t want;                                                                     \
            draw(f64, kind, n);                                                                \
            reference_begin(&right, f64);                                                      \
            for (uint32_t i = 0; i < n; i++)                                                   \
                reference_add(&right, array[i]);                                               \
            want = reference_read(&right);                                                     \
            CHECK_EQ(by_parts_##f(n, &first), want);                                           \
            shuffle(n);                                                                        \
            CHECK_EQ(by_parts_##f(n, &again), want);                                           \
            coll_exact_normalize_##f(&first);                                                  \
            coll_exact_normalize_##f(&again);                                                  \
            CHECK(memcmp(&first, &again, sizeof first) == 0);                                  \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* Of two values it is what floats add up to. */                                           \
    TEST(pairs_##f)                                                                            \
    {                                                                                          \
        for (uint32_t i = 0; i < PAIRS; i++) {                                                 \
            uint64_t a, b;                                                                     \
            coll_exact_##f sum;                                                                \
            U two[2], bits;                                                                    \
            random_pair(sizeof(U) * 8, (f64) ? 52 : 23, &a, &b);                               \
            two[0] = (U)a;                                                                     \
            two[1] = (U)b;                                                                     \
            coll_exact_zero_##f(&sum);                                                         \
            coll_exact_add_##f(&sum, two, 2);                                                  \
            coll_exact_read_##f(&sum, &bits);                                                  \
            CHECK_EQ(bits, coll_soft_add_##f(two[0], two[1]));                                 \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* So many of the greatest values that digits must be carried on, and the last is used. */ \
    TEST(room_##f)                                                                             \
    {                                                                                          \
        const U top = (U)1 << (sizeof(U) * 8 - 1);                                             \
        const U greatest = (f64) ? (U)0x7fefffffffffffff : (U)0x7f7fffff;                      \
        const U values[2] = {greatest, (U)(greatest | top)};                                   \
        coll_exact_##f many, back, one;                                                        \
        U bits;                                                                                \
        coll_exact_zero_##f(&many);                                                            \
        coll_exact_zero_##f(&back);                                                            \
        coll_exact_zero_##f(&one);                                                             \
        coll_exact_read_##f(&many, &bits);                                                     \
        CHECK_EQ(bits, 0);                                                                     \
        coll_exact_add_##f(&many, &values[0], 1);                                              \
        coll_exact_add_##f(&one, &values[0], 1);                                               \
        coll_exact_add_##f(&back, &values[1], 1);                                              \
        for (int i = 0; i < 40; i++) {                                                         \
            coll_exact_merge_##f(&many, &many);                                                \
            coll_exact_merge_##f(&back, &back);                                                \
        }                                                                                      \
        coll_exact_read_##f(&many, &bits);                                                     \
        CHECK_EQ(bits, greatest + 1); /* ∞ */                                                \
        coll_exact_read_##f(&back, &bits);                                                     \
        CHECK_EQ(bits, (greatest | top) + 1);                                                  \
        coll_exact_merge_##f(&one, &many);                                                     \
        coll_exact_merge_##f(&one, &back);                                                     \
        coll_exact_read_##f(&one, &bits);                                                      \
        CHECK_EQ(bits, greatest);                                                              \
        coll_exact_normalize_##f(&many);                                                       \
        for (size_t k = 0; k < sizeof many / sizeof many.word[0] - 7; k++)                     \
            CHECK(many.word[k] >= 0 && many.word[k] >> 32 == 0);                               \
    }

TEST_SUMS(f32, uint32_t, narrow, false)
TEST_SUMS(f64, uint64_t, wide, true)

int main(void)
{
    RUN(sums_f32);
    RUN(sums_f64);
    RUN(pairs_f32);
    RUN(pairs_f64);
    RUN(room_f32);
    RUN(room_f64);
    return check_done();
}
