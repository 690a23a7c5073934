/* tests/plan/topo.c — pattern arithmetic against its definitions, for all small p and at the ends
 * of the range */
#include "support/chance.h"
#include "support/check.h"
#include "coll/plan/rank_order.h"
#include "coll/plan/topo.h"

static uint32_t random32(void)
{
    return (uint32_t)chance_bits(&random_state);
}

/* Interesting numbers of 32 bits: near 0, powers of two and the end. */
static const uint32_t ends[] = {0,           1,           2,          3,          5,
                                7,           8,           9,          0xffff,     0x10000,
                                0x10001,     0x7ffffffe,  0x7fffffff, 0x80000000, 0x80000001,
                                0xaaaaaaaau, 0xfffffffdu, 0xfffffffe, 0xffffffff};
enum { ENDS = sizeof ends / sizeof *ends };

/* ---- integers ------------------------------------------------------------------------------ */

static void check_logarithms(uint32_t x)
{
    uint32_t k = 0;
    while (((uint64_t)1 << k) < x)
        k++;
    CHECK_EQ(coll_log2_ceil(x), k);
    if (x > 0) {
        CHECK(coll_pow2_floor(x) <= x);
        CHECK((uint64_t)coll_pow2_floor(x) * 2 > x);
        CHECK_EQ(coll_pow2_floor(x) & (coll_pow2_floor(x) - 1), 0);
        CHECK_EQ(coll_i_highest_bit(x), COLL_HIGHEST_BIT(x));
        CHECK_EQ(coll_i_lowest_bit(x), COLL_LOWEST_BIT(x));
        CHECK_EQ((uint32_t)1 << COLL_LOWEST_BIT(x), x & (0 - x));
    }
}

TEST(logarithms)
{
    for (uint32_t x = 0; x < 1100; x++)
        check_logarithms(x);
    for (size_t i = 0; i < ENDS; i++)
        check_logarithms(ends[i]);
}

static void check_modulo(uint32_t a, uint32_t b, uint32_t p)
{
    CHECK_EQ(coll_mod_add(a, b, p), ((uint64_t)a + b) % p);
    CHECK_EQ(coll_mod_sub(a, b, p), ((uint64_t)a + p - b) % p);
}

TEST(bits_that_are_set)
{
    for (size_t i = 0; i < ENDS; i++)
        for (uint32_t n = 0; n < 200; n++) {
            const uint32_t x = n == 0 ? ends[i] : random32() & ends[i];
            uint32_t wanted = 0;
            for (uint32_t bit = 0; bit < 32; bit++)
                wanted += x >> bit & 1;
            CHECK_EQ(coll_bits(x), wanted);
        }
}

TEST(sums_modulo_p)
{
    for (uint32_t p = 1; p <= 40; p++)
        for (uint32_t a = 0; a < p; a++)
            for (uint32_t b = 0; b < p; b++)
                check_modulo(a, b, p);
    for (size_t i = 1; i < ENDS; i++)
        for (uint32_t n = 0; n < 100; n++)
            check_modulo(chance(ends[i]), chance(ends[i]), ends[i]);
    check_modulo(UINT32_MAX - 1, UINT32_MAX - 1, UINT32_MAX);
}

static void check_division(uint32_t x, uint32_t by)
{
    const coll_fast_divisor d = coll_fast_divisor_of(by);
    CHECK_EQ(coll_divide(x, &d), x / by);
}

TEST(division_by_multiplication)
{
    for (uint32_t by = 1; by <= 300; by++) {
        for (uint32_t x = 0; x < 700; x++)
            check_division(x, by);
        for (size_t i = 0; i < ENDS; i++)
            check_division(ends[i], by);
    }
    for (size_t i = 1; i < ENDS; i++) {
        for (size_t k = 0; k < ENDS; k++)
            check_division(ends[k], ends[i]);
        for (uint32_t n = 0; n < 1000; n++) {
            const uint32_t quotient =
                (uint32_t)(random32() % ((uint64_t)UINT32_MAX / ends[i] + 1));
            check_division(random32(), ends[i]);
            check_division(quotient * ends[i], ends[i]); /* on the edge, and below it */
            check_division(quotient * ends[i] - 1, ends[i]);
        }
    }
    for (uint32_t n = 0; n < 20000; n++)
        check_division(random32(), (random32() >> (n & 31)) | 1);
}

TEST(products_that_fit)
{
    volatile size_t nothing = 0; /* at run time: a sanitizer sees a division by it */
    size_t product;
    CHECK(coll_multiply(0, SIZE_MAX, &product));
    CHECK_EQ(product, 0);
    CHECK(coll_multiply(SIZE_MAX, nothing, &product));
    CHECK_EQ(product, 0);
    CHECK(coll_multiply(SIZE_MAX, 1, &product));
    CHECK(product == SIZE_MAX);
    CHECK(coll_multiply(SIZE_MAX / 3, 3, &product));
    CHECK(!coll_multiply(SIZE_MAX / 3 + 1, 3, &product));
    CHECK(!coll_multiply(SIZE_MAX, 2, &product));
    CHECK(!coll_multiply(SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, &product));
}

/* ---- partitions ---------------------------------------------------------------------------- */

static void check_parts(size_t count, uint32_t parts)
{
    const coll_partition cut = coll_partition_of(count, parts);
    size_t end = 0, last = SIZE_MAX;
    for (uint32_t i = 0; i < parts; i++) {
        const coll_block part = coll_part_block(cut, i);
        CHECK_EQ(part.offset, end);
        CHECK_EQ(coll_part_offset(cut, i), part.offset);
        CHECK(part.count <= last); /* larger ones first … */
        CHECK(part.count >= count / parts && part.count <= count / parts + 1); /* … by one */
        last = part.count;
        end += part.count;
    }
    CHECK_EQ(end, count);
}

TEST(parts_tile_the_vector)
{
    for (uint32_t parts = 1; parts <= 40; parts++)
        for (size_t count = 0; count <= 130; count++)
            check_parts(count, parts);
    check_parts(SIZE_MAX, 7);
    check_parts(SIZE_MAX - 1, 64);
    const coll_partition cut = coll_partition_of(UINT32_MAX - (size_t)1, UINT32_MAX);
    CHECK_EQ(coll_part_block(cut, UINT32_MAX - 2).count, 1);
    CHECK_EQ(coll_part_block(cut, UINT32_MAX - 1).count, 0);
    CHECK_EQ(coll_part_offset(cut, UINT32_MAX - 1), UINT32_MAX - 1);
}

TEST(elements_have_their_parts)
{
    for (uint32_t parts = 1; parts <= 40; parts++)
        for (size_t count = 1; count <= 130; count++) {
            const coll_partition cut = coll_partition_of(count, parts);
            for (size_t i = 0; i < count; i++) {
                const coll_block part = coll_part_block(cut, coll_part_of(cut, parts, i));
                CHECK(coll_part_of(cut, parts, i) < parts);
                CHECK(part.offset <= i && i - part.offset < part.count);
            }
        }
    CHECK_EQ(coll_part_of(coll_partition_of(UINT32_MAX, UINT32_MAX), UINT32_MAX, 12345), 12345);
}

TEST(segments_tile_the_vector)
{
    for (size_t segment = 0; segment <= 70; segment++)
        for (size_t count = 0; count <= 130; count++) {
            const size_t segments = coll_segments(count, segment);
            size_t end = 0;
            CHECK(segments >= 1);
            for (size_t i = 0; i < segments; i++) {
                const coll_block seg = coll_segment_block(count, segment, i);
                CHECK_EQ(seg.offset, end);
                CHECK(count == 0 || seg.count > 0);
                CHECK(segment == 0 || i + 1 == segments
                          ? seg.count <= (segment ? segment : count)
                          : seg.count == segment);
                end += seg.count;
            }
            CHECK_EQ(end, count);
        }
    CHECK_EQ(coll_segments(SIZE_MAX, 1), SIZE_MAX);
    CHECK_EQ(coll_segment_block(SIZE_MAX, 2, SIZE_MAX / 2).count, 1);
}

/* ---- f-nomial trees ------------------------------------------------------------------------ */

/* The tree as the thesis defines it, phase by phase. */
typedef struct definition {
    uint64_t parent, stride;
    uint32_t children, slot;
    bool is_root;
} definition;

static definition define(uint32_t p, uint32_t f, uint32_t v)
{
    definition at = {0, p, 0, 0, true};
    uint32_t phase = 0;
    for (uint64_t s = 1; s < p; s *= f, phase++) {
        if ((v / s) % f != 0) {
            at.is_root = false;
            at.parent = v / (s * f) * (s * f);
            at.slot = phase * (f - 1) + (uint32_t)((v / s) % f) - 1;
            at.stride = s;
            return at;
        }
        for (uint64_t i = 1; i < f && v + i * s < p; i++)
            at.children++;
    }
    return at;
}

static void check_tree(uint32_t p, uint32_t f)
{
    const coll_fast_divisor radix = coll_fast_divisor_of(f);
    for (uint32_t v = 0; v < p; v++) {
        const definition wanted = define(p, f, v);
        const coll_fnomial at = coll_fnomial_of(p, &radix, v);
        uint32_t slot = 0, phase = 0;
        CHECK_EQ(at.children, wanted.children);
        CHECK_EQ(at.parent, wanted.parent);
        CHECK_EQ(wanted.is_root, v == 0);
        CHECK_EQ(at.stride, wanted.stride);
        CHECK_EQ(coll_fnomial_depth(&radix, v),
                 v == 0 ? 0 : coll_fnomial_depth(&radix, at.parent) + 1);
        if (v != 0) {
            CHECK_EQ(at.slot, wanted.slot);
            CHECK_EQ(coll_fnomial_child(f, at.parent, at.slot), v);
        }
        for (uint64_t s = 1; s < at.stride; s *= f, phase++)
            for (uint64_t i = 1; i < f && v + i * s < p; i++, slot++) {
                const coll_fnomial_phase of = coll_fnomial_phase_of(f, slot);
                CHECK_EQ(coll_fnomial_child(f, v, slot), v + i * s);
                CHECK_EQ(of.stride, s);
                CHECK_EQ(of.first, phase * (f - 1));
            }
        CHECK_EQ(slot, at.children);
    }
}

TEST(trees_of_the_thesis)
{
    static const uint32_t degrees[] = {2,  3,  4,  5,  6,  7,   8,      9,
                                       10, 16, 31, 64, 65, 200, 1000000};
    for (uint32_t p = 1; p <= 140; p++)
        for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
            check_tree(p, degrees[i]);
    check_tree(4097, 2);
    check_tree(4097, 3);
    check_tree(4097, 16);
}

/* One rank of a tree that is too large to define phase by phase. */
static void check_large(uint32_t p, uint32_t f, uint32_t v)
{
    const coll_fast_divisor radix = coll_fast_divisor_of(f);
    const coll_fnomial at = coll_fnomial_of(p, &radix, v);
    if (v == 0) {
        CHECK_EQ(at.stride, p);
        CHECK(at.children > 0 || p == 1);
    } else {
        CHECK(at.parent < v && v - at.parent < (uint64_t)at.stride * f);
        CHECK_EQ((v - at.parent) % at.stride, 0);
        CHECK_EQ(at.parent % ((uint64_t)at.stride * f), 0);
        CHECK_EQ(coll_fnomial_child(f, at.parent, at.slot), v);
    }
    if (at.children > 0) { /* the last child is there, and no child is left out */
        const coll_fnomial_phase phase = coll_fnomial_phase_of(f, at.children - 1);
        const uint32_t last = coll_fnomial_child(f, v, at.children - 1);
        const uint64_t end = (uint64_t)last + phase.stride;
        CHECK(last > v && last < p);
        CHECK(end >= p || (v != 0 && end == (uint64_t)v + at.stride));
        CHECK_EQ(coll_fnomial_of(p, &radix, last).parent, v);
        CHECK_EQ(coll_fnomial_of(p, &radix, last).slot, at.children - 1);
    } else if (v != 0) {
        CHECK(at.stride == 1 || v + 1 == p);
    }
}

TEST(trees_do_not_overflow)
{
    static const uint32_t degrees[] = {2,     3,     5,          64,         65535,
                                       65536, 65537, 0x7ffffffe, 0x7fffffff, 1u << 30};
    for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
        for (size_t i = 1; i < ENDS; i++) {
            const uint32_t p = ends[i];
            check_large(p, degrees[d], 0);
            check_large(p, degrees[d], p - 1);
            check_large(p, degrees[d], p / 2);
            check_large(p, degrees[d], coll_pow2_floor(p) % p);
            for (uint32_t n = 0; n < 200; n++) {
                const uint32_t v = chance(p);
                check_large(p, degrees[d], v);
                check_large(p, degrees[d], v - v % degrees[d]);
                check_large(p, degrees[d], v & ~0xffffu);
            }
        }
}

/* ---- k-ary trees and chains ---------------------------------------------------------------- */

/* Both ends of each edge agree, and a rank's children follow each other, the longer parts first. */
static void check_branches(bool chains, uint32_t p, uint32_t degree)
{
    const coll_fast_divisor d = coll_fast_divisor_of(degree);
    uint32_t ranks[200], met = 1;
    for (uint32_t v = p; v-- > 0;) {
        const coll_branch at = chains ? coll_chain_of(p, &d, v) : coll_kary_of(p, &d, v);
        CHECK(at.children <= (chains && v > 0 ? 1 : degree));
        ranks[v] = 1;
        for (uint32_t i = 0; i < at.children; i++) {
            const uint32_t child = coll_branch_child(&at, v, i);
            const coll_branch below =
                chains ? coll_chain_of(p, &d, child) : coll_kary_of(p, &d, child);
            CHECK_EQ(child, v + ranks[v]);
            CHECK_EQ(below.parent, v);
            CHECK_EQ(below.depth, at.depth + 1);
            CHECK_EQ(ranks[child], coll_part_block(at.below, i).count);
            ranks[v] += ranks[child];
            met++;
        }
        CHECK(v != 0 || (at.parent == 0 && at.depth == 0));
    }
    CHECK_EQ(ranks[0], p);
    CHECK_EQ(met, p);
}

/* The run of the root grows by one subtree a phase, and so does that of everybody else. */
static void check_bine(uint32_t p, uint32_t v)
{
    const coll_bine at = coll_bine_of(p, v);
    uint32_t first = v, ranks = 1; /* the run so far */
    CHECK(at.number < p);
    CHECK_EQ(coll_bine_number(p, v), at.number);
    CHECK_EQ(coll_bine_before(p, at.number, 0) + coll_bine_after(p, at.number, 0), 0);
    for (uint32_t i = 0; i < at.children; i++) {
        const uint32_t child = coll_bine_child(p, v, at.number, i);
        const coll_bine below = coll_bine_of(p, child);
        const uint32_t before = coll_bine_before(p, below.number, i);
        const uint32_t all = before + 1 + coll_bine_after(p, below.number, i);
        const uint32_t begin = coll_mod_sub(child, before, p);
        CHECK_EQ(below.number, at.number + ((uint32_t)1 << i));
        CHECK_EQ(below.parent, v);
        CHECK_EQ(below.slot, i);
        if (coll_bine_is_after(at.number, i))
            CHECK_EQ(begin, (uint32_t)(((uint64_t)first + ranks) % p));
        else
            CHECK_EQ((uint32_t)(((uint64_t)begin + all) % p), first);
        first = coll_bine_is_after(at.number, i) ? first : begin;
        ranks += all;
        CHECK_EQ(coll_mod_sub(v, coll_bine_before(p, at.number, i + 1), p), first);
        CHECK_EQ(coll_bine_before(p, at.number, i + 1) + coll_bine_after(p, at.number, i + 1) +
                     1,
                 ranks);
    }
}

TEST(bine_subtrees_are_runs_around_their_roots)
{
    for (uint32_t p = 1; p <= 200; p++) {
        for (uint32_t v = 0; v < p; v++)
            check_bine(p, v);
        CHECK_EQ(coll_bine_before(p, 0, 32) + coll_bine_after(p, 0, 32) + 1, p);
        CHECK_EQ(coll_bine_of(p, 0).number, 0);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t p = UINT32_MAX - i * 3999999, v = (uint32_t)(i * 2654435761u) % p;
        check_bine(p, v);
    }
}

TEST(branches_are_runs_of_ranks)
{
    static const uint32_t degrees[] = {1, 2, 3, 4, 5, 8, 31, 64, 199, 1000000};
    for (uint32_t p = 1; p <= 200; p++)
        for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
            if (degrees[i] > 1)
                check_branches(false, p, degrees[i]);
            check_branches(true, p, degrees[i]);
        }
}

/* Ranks of trees that are too large to walk through; deep ones take time. */
TEST(branches_do_not_overflow)
{
    static const uint32_t degrees[] = {2, 3, 64, 65535, 65536, 0x7ffffffe, 0x7fffffff};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        for (size_t e = 1; e < ENDS; e++)
            for (uint32_t n = 0; n < 300; n++) {
                const coll_fast_divisor d = coll_fast_divisor_of(degrees[i]);
                const uint32_t p = ends[e], v = n == 0 ? p - 1 : chance(p);
                for (uint32_t chains = 0; chains < 2; chains++) {
                    const coll_branch at =
                        chains ? coll_chain_of(p, &d, v) : coll_kary_of(p, &d, v);
                    CHECK(v == 0 || at.parent < v);
                    if (at.children > 0) {
                        const uint32_t last = coll_branch_child(&at, v, at.children - 1);
                        const coll_branch below =
                            chains ? coll_chain_of(p, &d, last) : coll_kary_of(p, &d, last);
                        CHECK(last > v && last < p);
                        CHECK_EQ(below.parent, v);
                    }
                }
            }
}

/* ---- folding ------------------------------------------------------------------------------- */

static void check_fold_rank(uint32_t p, const coll_fold *fold, uint32_t number)
{
    const uint32_t rank = coll_fold_rank(fold, number), first = coll_fold_first(fold, number);
    CHECK(rank < p);
    CHECK(!coll_fold_is_extra(fold, rank));
    CHECK_EQ(coll_fold_number(fold, rank), number);
    CHECK_EQ(rank - first, number < fold->extra ? 1 : 0);
    CHECK(first == rank || coll_fold_is_extra(fold, first));
    CHECK_EQ(coll_fold_first(fold, number + 1), rank + 1); /* runs tile; beyond the last is p */
}

static const uint32_t radices[] = {2, 3, 4, 5, 7, 8, 16, 64, 299, 300, 1000000};
enum { RADICES = sizeof radices / sizeof *radices };

/* The core is the largest c·k^m ≤ p. */
static void check_core(uint32_t p, uint32_t k, const coll_fold *fold)
{
    uint64_t power = 1;
    uint32_t rounds = 0;
    while (power * k <= p) {
        power *= k;
        rounds++;
    }
    CHECK_EQ(fold->core, p / power * power);
    CHECK_EQ(fold->core + (uint64_t)fold->extra, p);
    CHECK(fold->extra < power);
    CHECK_EQ(fold->rounds, rounds + (p / power > 1 ? 1 : 0));
    CHECK_EQ(fold->top, p / power > 1 ? p / power : k);
    CHECK_EQ(coll_fold_first(fold, 0), 0);
    CHECK_EQ(coll_fold_first(fold, fold->core), p);
}

TEST(folding_keeps_rank_order)
{
    for (size_t i = 0; i < RADICES; i++) {
        const coll_fast_divisor k = coll_fast_divisor_of(radices[i]);
        for (uint32_t p = 1; p <= 300; p++) {
            const coll_fold fold = coll_fold_of(p, &k);
            uint32_t idle = 0;
            check_core(p, radices[i], &fold);
            for (uint32_t number = 0; number < fold.core; number++)
                check_fold_rank(p, &fold, number);
            for (uint32_t rank = 0; rank < p; rank++)
                idle += coll_fold_is_extra(&fold, rank) ? 1 : 0;
            CHECK_EQ(idle, fold.extra);
        }
        for (size_t e = 1; e < ENDS; e++) {
            const coll_fold fold = coll_fold_of(ends[e], &k);
            check_core(ends[e], radices[i], &fold);
            check_fold_rank(ends[e], &fold, 0);
            check_fold_rank(ends[e], &fold, fold.core - 1);
            for (uint32_t n = 0; n < 100; n++)
                check_fold_rank(ends[e], &fold, chance(fold.core));
        }
    }
}

/* ---- exchanges ----------------------------------------------------------------------------- */

TEST(bits_in_opposite_order)
{
    CHECK_EQ(coll_fast_divisor_two.by, 2);
    for (uint32_t bits = 0; bits <= 31; bits++)
        for (uint32_t n = 0; n < 50; n++) {
            const uint32_t x = bits == 0 ? 0 : random32() >> (32 - bits);
            uint32_t wanted = 0;
            for (uint32_t i = 0; i < bits; i++)
                wanted |= (x >> i & 1) << (bits - 1 - i);
            CHECK_EQ(coll_reverse_bits(x, bits), wanted);
            CHECK_EQ(coll_divide(x, &coll_fast_divisor_two), x / 2);
        }
}

/* Digits of the number from the lowest, and its mirror's from the highest. */
static void check_number(const coll_fold *fold, const coll_fast_divisor *k, uint32_t number)
{
    uint64_t stride = 1, span = fold->core;
    uint32_t digits = number, first = 0;
    for (uint32_t t = 0; t < fold->rounds; t++) {
        const uint32_t radix = t + 1 == fold->rounds ? fold->top : k->by;
        const coll_exchange x = coll_exchange_of(fold, k, number, t);
        const coll_mirrors m = coll_mirrors_of(fold, k, number, t);
        CHECK_EQ(x.radix, radix);
        CHECK_EQ(x.stride, stride);
        CHECK_EQ(x.digit, digits % radix);
        CHECK_EQ(coll_exchange_number(&x, x.digit), number);
        CHECK_EQ(x.first, number - x.digit * stride);
        CHECK_EQ(x.below, number % stride);
        CHECK_EQ(m.first, first);
        CHECK_EQ(m.span, span);
        CHECK_EQ(span % radix, 0);
        span /= radix;
        first += (uint32_t)(digits % radix * span);
        digits /= radix;
        stride *= radix;
    }
    CHECK_EQ(stride, fold->core);
    CHECK_EQ(coll_mirrors_of(fold, k, number, fold->rounds).first, first);
    CHECK_EQ(coll_mirrors_of(fold, k, number, fold->rounds).span, 1);
    CHECK_EQ(coll_mirrored(fold, k, first), number);
}

TEST(digits_and_mirrors)
{
    for (size_t i = 0; i < RADICES; i++) {
        const coll_fast_divisor k = coll_fast_divisor_of(radices[i]);
        for (uint32_t p = 1; p <= 300; p++) {
            const coll_fold fold = coll_fold_of(p, &k);
            for (uint32_t number = 0; number < fold.core; number++)
                check_number(&fold, &k, number);
        }
        for (size_t e = 1; e < ENDS; e++) {
            const coll_fold fold = coll_fold_of(ends[e], &k);
            check_number(&fold, &k, fold.core - 1);
            for (uint32_t n = 0; n < 100; n++)
                check_number(&fold, &k, chance(fold.core));
        }
    }
}

/* ---- swinging exchanges ------------------------------------------------------------------ */

TEST(digits_to_the_base_minus_two)
{
    for (uint32_t digits = 0; digits < 4096; digits++) {
        uint32_t value = 0, weight = 1;
        for (uint32_t i = 0; i < 12; i++, weight *= (uint32_t)-2)
            value += (digits >> i & 1u) * weight;
        CHECK_EQ(coll_from_negabinary(digits), value);
        CHECK_EQ(coll_negabinary(value), digits);
    }
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t x = UINT32_MAX / 3 * i + (1u << i);
        CHECK_EQ(coll_from_negabinary(coll_negabinary(x)), x);
        CHECK_EQ(coll_from_gray(coll_gray(x)), x);
        for (uint32_t b = 0; b < 31; b++)
            CHECK_EQ(coll_gray(x) >> b & 1u, (x >> b & 1u) != (x >> (b + 1) & 1u));
    }
}

/* The numbers that one meets from round t on, and those that they meet. */
static uint64_t swing_reach(uint32_t core, uint32_t rounds, uint32_t number, uint32_t t)
{
    if (t == rounds)
        return (uint64_t)1 << number;
    return swing_reach(core, rounds, number, t + 1) |
           swing_reach(core, rounds, coll_swing_partner(core, number, t), t + 1);
}

TEST(swinging_partners_and_their_slots)
{
    int64_t distance = 0, term = 1;
    for (uint32_t t = 0; t < 31; t++, term *= -2) {
        distance += term;
        CHECK_EQ(coll_swing_distance(t), (uint32_t)distance);
    }
    for (uint32_t core = 1; core <= 64; core *= 2) {
        const coll_fold fold = coll_fold_of(core, &coll_fast_divisor_two);
        for (uint32_t number = 0; number < core; number++) {
            const uint32_t slot = coll_swing_slot(&fold, number);
            CHECK(slot < core);
            CHECK_EQ(coll_swing_number(&fold, slot), number);
            for (uint32_t t = 0; t <= fold.rounds; t++) {
                const coll_mirrors m = coll_swing_slots(&fold, number, t);
                uint64_t members = 0;
                CHECK_EQ(m.span, core >> t);
                for (uint32_t i = 0; i < m.span; i++)
                    members |= (uint64_t)1 << coll_swing_number(&fold, m.first + i);
                CHECK_EQ(members, swing_reach(core, fold.rounds, number, t));
            }
            for (uint32_t t = 0; t < fold.rounds; t++) {
                const coll_exchange x = coll_swing_exchange(&fold, number, t);
                const uint32_t other = coll_swing_partner(core, number, t);
                CHECK_EQ(coll_swing_partner(core, other, t), number);
                CHECK_EQ(coll_exchange_number(&x, x.digit), number);
                CHECK_EQ(coll_exchange_number(&x, 1 - x.digit), other);
                CHECK_EQ(x.digit, coll_swing_slot(&fold, other) < slot);
            }
        }
    }
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* Every rank is number `local` of its node, and the nodes tile the ranks. */
static void check_nodes(const coll_nodes *nodes, uint32_t p)
{
    const uint32_t n = coll_nodes_count(nodes);
    uint32_t next = 0, largest = 0, smallest = p;
    CHECK(coll_nodes_check(nodes, p));
    CHECK_EQ(coll_nodes_first(nodes, p, n), p);
    for (uint32_t node = 0; node < n; node++) {
        const coll_node at = coll_node_at(nodes, p, node, 0);
        CHECK_EQ(at.first, next);
        CHECK(at.ranks > 0);
        largest = at.ranks > largest ? at.ranks : largest;
        smallest = at.ranks < smallest ? at.ranks : smallest;
        for (uint32_t local = 0; local < at.ranks; local++) {
            const coll_node of = coll_node_of(nodes, p, next++);
            CHECK_EQ(of.index, node);
            CHECK_EQ(of.first, at.first);
            CHECK_EQ(of.ranks, at.ranks);
            CHECK_EQ(of.local, local);
        }
    }
    CHECK_EQ(next, p);
    CHECK_EQ(coll_nodes_largest(nodes, p), largest);
    CHECK_EQ(coll_nodes_smallest(nodes, p), smallest);
}

TEST(nodes_tile_the_ranks)
{
    coll_nodes nodes;
    for (uint32_t p = 1; p <= 64; p++) {
        uint32_t first[65], of[64], n = 0;
        coll_problem problem;
        coll_problem_init(&problem, COLL_BARRIER, p, 0, 1);
        check_nodes(&problem.nodes, p);
        for (uint32_t ppn = 1; ppn <= p + 1; ppn++) {
            coll_nodes_even(&nodes, p, ppn);
            CHECK_EQ(nodes.count, (p + ppn - 1) / ppn);
            check_nodes(&nodes, p);
        }
        for (uint32_t rank = 0; rank < p; rank++) {
            if (rank == 0 || chance(3) == 0)
                first[n++] = rank;
            of[rank] = n - 1;
        }
        first[n] = p;
        coll_nodes_table(&nodes, n, first, NULL);
        check_nodes(&nodes, p);
        coll_nodes_table(&nodes, n, first, of);
        check_nodes(&nodes, p);
    }
}

/* Every leader is one rank, in order and as far apart as can be; with several on a rank, they are as
 * many as on any other, or one more. */
TEST(leaders_are_spread_evenly)
{
    for (uint32_t ranks = 1; ranks <= 70; ranks++)
        for (uint32_t l = 1; l <= 70; l++) {
            const coll_fast_divisor by = coll_fast_divisor_of(l);
            const uint32_t apart = ranks >= l ? ranks / l : 1;
            CHECK_EQ(coll_leaders_below(ranks, 0, l), 0);
            CHECK_EQ(coll_leaders_below(ranks, ranks, l), l);
            for (uint32_t local = 0; local < ranks; local++) {
                const uint32_t first = coll_leaders_below(ranks, local, l);
                const uint32_t end = coll_leaders_below(ranks, local + 1, l);
                CHECK(ranks >= l ? end - first <= 1
                                 : end - first == l / ranks || end - first == l / ranks + 1);
                CHECK(ranks < l || (end > first) == (local % apart == 0 && local / apart < l));
                for (uint32_t j = first; j < end; j++)
                    CHECK_EQ(coll_leader(ranks, j, &by), local);
            }
        }
    {
        const coll_fast_divisor most = coll_fast_divisor_of(COLL_LEADERS_MOST);
        CHECK_EQ(coll_leader(COLL_LEADERS_MOST - 1, COLL_LEADERS_MOST - 1, &most),
                 COLL_LEADERS_MOST - 2);
        CHECK_EQ(coll_leader(UINT32_MAX, COLL_LEADERS_MOST - 1, &most),
                 (UINT32_MAX / COLL_LEADERS_MOST) * (COLL_LEADERS_MOST - 1));
    }
}

TEST(nodes_that_do_not_fit)
{
    const uint32_t late[] = {1, 3}, empty[] = {0, 2, 2, 3}, few[] = {0, 1, 2},
                   good[] = {0, 1, 3}, beyond[] = {0, 4, 3};
    const uint32_t of[] = {0, 1, 0}, of_beyond[] = {0, 0, 0};
    coll_nodes nodes;
    coll_nodes_table(&nodes, 1, late, NULL);
    CHECK(!coll_nodes_check(&nodes, 3));
    coll_nodes_table(&nodes, 3, empty, NULL);
    CHECK(!coll_nodes_check(&nodes, 3));
    coll_nodes_table(&nodes, 2, few, NULL);
    CHECK(!coll_nodes_check(&nodes, 3));
    coll_nodes_table(&nodes, 2, good, of);
    CHECK(!coll_nodes_check(&nodes, 3));
    /* A node that ends beyond the last rank: what `of` says there is not looked at. */
    coll_nodes_table(&nodes, 2, beyond, of_beyond);
    CHECK(!coll_nodes_check(&nodes, 3));
    coll_nodes_table(&nodes, 2, good, NULL);
    CHECK(coll_nodes_check(&nodes, 3));
    coll_nodes_even(&nodes, 8, 3);
    CHECK(!coll_nodes_check(&nodes, 10));
    CHECK(!coll_nodes_check(&nodes, 6));
}

/* ---- groups -------------------------------------------------------------------------------- */

enum { OUTSIDE = 40 };

/* A group tells the rank of an outer rank as it tells the outer rank of a rank, and who is no member. */
static void check_group(const coll_group *group, uint32_t p)
{
    uint32_t members = 0;
    CHECK_EQ(coll_group_check(group, p, OUTSIDE), COLL_OK);
    for (uint32_t rank = 0; rank < p; rank++)
        CHECK_EQ(coll_group_rank(group, p, coll_group_outer(group, rank)), rank);
    for (uint32_t outer = 0; outer < OUTSIDE; outer++) {
        const uint32_t rank = coll_group_rank(group, p, outer);
        members += rank != COLL_RANK_NONE;
        CHECK(rank == COLL_RANK_NONE || coll_group_outer(group, rank) == outer);
    }
    CHECK_EQ(members, p);
}

TEST(groups_that_are_none)
{
    static const uint32_t up[3] = {1, 4, 6}, down[3] = {6, 4, 1}, twice[3] = {1, 6, 1};
    static const uint32_t inverse[7] = {COLL_RANK_NONE, 0, COLL_RANK_NONE, COLL_RANK_NONE, 1,
                                        COLL_RANK_NONE, 2},
                          wrong[7] = {COLL_RANK_NONE, 0, COLL_RANK_NONE, COLL_RANK_NONE, 2,
                                      COLL_RANK_NONE, 1};
    coll_group group;
    coll_group_affine(&group, 1, 2);
    CHECK_EQ(coll_group_check(&group, 3, 6), COLL_OK);
    CHECK(coll_group_ascends(&group, 3, 6));
    CHECK_EQ(coll_group_check(&group, 3, 5), COLL_ERR_GROUP);
    CHECK(!coll_group_ascends(&group, 3, 5));
    CHECK_EQ(coll_group_check(&group, 0, 6), COLL_ERR_GROUP);
    CHECK(!coll_group_ascends(&group, 0, 6));
    coll_group_affine(&group, 1, 0);
    CHECK_EQ(coll_group_check(&group, 1, 6), COLL_ERR_GROUP);
    coll_group_affine(&group, UINT32_MAX, 1); /* which does not wrap round */
    CHECK_EQ(coll_group_check(&group, 2, 6), COLL_ERR_GROUP);
    coll_group_affine(&group, 0, (uint32_t)1 << 31);
    CHECK_EQ(coll_group_check(&group, 3, 6), COLL_ERR_GROUP);
    coll_group_table(&group, up, NULL);
    CHECK_EQ(coll_group_check(&group, 3, 7), COLL_OK);
    CHECK_EQ(coll_group_check(&group, 3, 6), COLL_ERR_GROUP);
    CHECK_EQ(coll_group_check(&group, 0, 7), COLL_ERR_GROUP);
    CHECK(coll_group_ascends(&group, 3, 7));
    CHECK(!coll_group_ascends(&group, 3, 6));
    CHECK(!coll_group_ascends(&group, 0, 7));
    coll_group_table(&group, up, inverse);
    CHECK_EQ(coll_group_check(&group, 3, 7), COLL_OK);
    coll_group_table(&group, up, wrong);
    CHECK_EQ(coll_group_check(&group, 3, 7), COLL_ERR_GROUP);
    coll_group_table(&group, twice, NULL);
    CHECK_EQ(coll_group_check(&group, 3, 7), COLL_ERR_GROUP);
    CHECK(!coll_group_ascends(&group, 3, 7));
    coll_group_table(&group, down, NULL);
    CHECK_EQ(coll_group_check(&group, 3, 7), COLL_OK);
    CHECK(!coll_group_ascends(&group, 3, 7));
}

TEST(ranks_of_groups)
{
    coll_group group;
    for (uint32_t p = 1; p <= OUTSIDE; p++)
        for (uint32_t stride = 1; stride <= 3; stride++)
            for (uint32_t base = 0; base + (p - 1) * stride < OUTSIDE; base++) {
                coll_group_affine(&group, base, stride);
                check_group(&group, p);
            }
    for (uint32_t p = 1; p <= OUTSIDE; p++) { /* any p of them, in any order */
        uint32_t table[OUTSIDE], inverse[OUTSIDE];
        for (uint32_t i = 0; i < OUTSIDE; i++) {
            const uint32_t k = chance(i + 1);
            table[i] = table[k];
            table[k] = i;
            inverse[i] = COLL_RANK_NONE;
        }
        for (uint32_t rank = 0; rank < p; rank++)
            inverse[table[rank]] = rank;
        coll_group_table(&group, table, NULL);
        check_group(&group, p);
        coll_group_table(&group, table, inverse);
        check_group(&group, p);
    }
}

/* ---- places -------------------------------------------------------------------------------- */

/* Laws (1) to (4) of plan/rank_order.h. */
static void check_places(const uint32_t *node, uint32_t p)
{
    uint32_t tables[4 * 64 + 2], before = 0;
    coll_rank_order places;
    coll_group group;
    bool runs = true, same = true;
    CHECK(coll_rank_order_tables(p) <= 4 * 64 + 1);
    tables[coll_rank_order_tables(p)] = 0xC0FFEE;
    coll_rank_order_of(&places, node, p, tables);
    CHECK_EQ(tables[coll_rank_order_tables(p)], 0xC0FFEE);
    check_nodes(&places.nodes, p);
    coll_group_places(&group, &places);
    CHECK_EQ(coll_group_check(&group, p, p), COLL_OK);
    for (uint32_t rank = 0; rank < p; rank++) {
        const uint32_t place = coll_place_of(&places, rank);
        CHECK_EQ(coll_group_outer(&group, place), rank);
        CHECK_EQ(coll_group_rank(&group, p, rank), place);
        same = same && place == rank;
        for (uint32_t other = 0; other < rank; other++) {
            const uint32_t its = coll_place_of(&places, other);
            CHECK_EQ(coll_node_of(&places.nodes, p, place).index ==
                         coll_node_of(&places.nodes, p, its).index,
                     node[rank] == node[other]);
            CHECK(node[rank] != node[other] || its < place);
            for (uint32_t between = other; between < rank; between++)
                runs = runs && (node[rank] != node[other] || node[between] == node[rank]);
        }
    }
    CHECK_EQ(runs, same);
    CHECK_EQ(runs, places.rank == NULL);
    CHECK_EQ(runs, places.place == NULL);
    for (uint32_t i = 0; i < places.nodes.count; i++) {
        const uint32_t first = coll_group_outer(&group, coll_nodes_first(&places.nodes, p, i));
        CHECK(i == 0 ? first == 0 : first > before);
        before = first;
    }
}

/* Dealt out in turn, in runs, and by chance, under names that are close, far from each other, or cross
 * the end. */
TEST(places_follow_the_nodes)
{
    const uint32_t apart[] = {1, 2, 64, 65536, 0x9E3779B9u}, least[] = {0, 7, UINT32_MAX - 2};
    for (uint32_t p = 1; p <= 64; p++)
        for (uint32_t nodes = 1; nodes <= p; nodes += p > 8 ? 7 : 1)
            for (uint32_t kind = 0; kind < 4; kind++)
                for (uint32_t by = 0; by < 5; by++) {
                    uint32_t node[64];
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const uint32_t of = kind == 0   ? rank % nodes
                                            : kind == 1 ? rank / ((p + nodes - 1) / nodes)
                                            : kind == 2 ? nodes - 1 - rank % nodes
                                                        : chance(nodes);
                        node[rank] = least[by % 3] + of * apart[by];
                    }
                    check_places(node, p);
                }
}

TEST(places_of_one_node)
{
    coll_rank_order places;
    coll_group group;
    coll_rank_order_init(&places);
    check_nodes(&places.nodes, 5);
    CHECK_EQ(coll_nodes_count(&places.nodes), 1);
    CHECK_EQ(coll_place_of(&places, 3), 3);
    coll_group_places(&group, &places);
    CHECK_EQ(coll_group_outer(&group, 3), 3);
}

/* A problem's ranks are its places where none of their numbers matters, and where they are the same. */
TEST(problems_that_have_places)
{
    const uint32_t scattered[] = {0, 1, 0, 1, 0}, runs[] = {0, 0, 1, 1, 1};
    const unsigned always = COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_BCAST),
                   commuting = COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE);
    uint32_t tables[4 * 5 + 1];
    coll_rank_order places;
    for (uint32_t dealt = 0; dealt < 2; dealt++) {
        coll_rank_order_of(&places, dealt ? scattered : runs, 5, tables);
        for (uint32_t what = 0; what < COLL_COLLECTIVES; what++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_COMMUTATIVE;
                 flags += COLL_FLAG_COMMUTATIVE) {
                const bool orderless =
                    coll_is(flags ? always | commuting : always, (coll_collective)what);
                const bool rooted = coll_is(COLL_ROOTED, (coll_collective)what);
                coll_problem problem;
                coll_problem_init(&problem, (coll_collective)what, 5, 1, 8);
                problem.flags = flags;
                problem.root = 3;
                CHECK_EQ(coll_problem_place(&problem, &places), orderless || !dealt);
                CHECK_EQ(coll_nodes_count(&problem.nodes), orderless || !dealt ? 2 : 1);
                CHECK_EQ(problem.root, orderless && dealt && rooted ? 4 : 3);
                problem.root = 5; /* is refused where the plan is made */
                (void)coll_problem_place(&problem, &places);
                CHECK_EQ(problem.root, 5);
            }
    }
}

/* ---- meshes -------------------------------------------------------------------------------- */

static void check_mesh_rank(uint32_t width, uint32_t p, uint32_t rank)
{
    const coll_fast_divisor w = coll_fast_divisor_of(width);
    const coll_mesh_place at = coll_mesh_place_of(&w, rank);
    const uint32_t there = coll_mesh_snake(&w, rank);
    CHECK(at.x < width);
    CHECK_EQ((uint64_t)at.y * width + at.x, rank);
    CHECK(there < p);
    CHECK_EQ(coll_mesh_snake(&w, there), rank);
    if (there + 1 < p) { /* the next on the line is the next on the mesh */
        const coll_mesh_place next = coll_mesh_place_of(&w, coll_mesh_snake(&w, there + 1));
        const uint32_t inter = next.x > at.x ? next.x - at.x : at.x - next.x;
        CHECK(next.y >= at.y);
        CHECK_EQ(inter + (next.y - at.y), 1);
    }
}

TEST(lines_on_a_mesh)
{
    for (uint32_t width = 1; width <= 40; width++)
        for (uint32_t height = 1; height <= 12; height++)
            for (uint32_t rank = 0; rank < width * height; rank++)
                check_mesh_rank(width, width * height, rank);
    for (size_t i = 1; i < ENDS; i++)
        for (uint32_t n = 0; n < 200; n++) {
            const uint32_t p = UINT32_MAX / ends[i] * ends[i];
            check_mesh_rank(ends[i], p, n < 100 ? chance(p) : p - 1 - (n - 100) % p);
        }
}

static void check_mesh_tree_rank(const coll_fast_divisor *w, uint32_t p, uint32_t v)
{
    const uint32_t x = v % w->by, y = v / w->by, height = p / w->by;
    const coll_mesh_branch at = coll_mesh_tree(w, p, v);
    uint32_t i = 0;
    for (uint64_t k = 1; x + k < w->by && (x & k) == 0; k *= 2)
        CHECK_EQ(coll_mesh_child(w, v, i++), v + k);
    for (uint64_t k = 1; x == 0 && y + k < height && (y & k) == 0; k *= 2)
        CHECK_EQ(coll_mesh_child(w, v, i++), v + k * w->by);
    CHECK_EQ(at.children, i);
    CHECK_EQ(at.parent, x > 0 ? y * w->by + (x & (x - 1)) : y > 0 ? (y & (y - 1)) * w->by : 0);
}

static void check_mesh_view(const coll_fast_divisor *w, uint32_t p, uint32_t root,
                            uint32_t rank)
{
    const uint32_t v = coll_mesh_from(w, p, root, rank);
    const uint64_t width = w->by, height = p / w->by;
    CHECK_EQ(v % width, (rank % width + width - root % width) % width);
    CHECK_EQ(v / width, (rank / width + height - root / width) % height);
    CHECK_EQ(coll_mesh_back(w, p, root, v), rank);
}

TEST(trees_on_a_mesh)
{
    for (uint32_t width = 1; width <= 20; width++)
        for (uint32_t height = 1; height <= 20; height++) {
            const coll_fast_divisor w = coll_fast_divisor_of(width);
            const uint32_t p = width * height;
            for (uint32_t rank = 0; rank < p; rank++) {
                check_mesh_tree_rank(&w, p, rank);
                for (uint32_t root = 0; root < p; root += 1 + p / 7)
                    check_mesh_view(&w, p, root, rank);
            }
        }
    for (size_t i = 1; i < ENDS; i++)
        for (uint32_t n = 0; n < 200; n++) {
            const coll_fast_divisor w = coll_fast_divisor_of(ends[i]);
            const uint32_t p = UINT32_MAX / ends[i] * ends[i], rank = chance(p);
            check_mesh_tree_rank(&w, p, rank);
            check_mesh_tree_rank(&w, p, rank & 0xffff0000u);
            check_mesh_tree_rank(&w, p, rank - rank % ends[i]);
            check_mesh_view(&w, p, chance(p), rank);
        }
}

TEST(nearly_square_meshes)
{
    for (uint32_t p = 1; p <= 2000; p++) {
        const uint32_t width = coll_mesh_width(p);
        CHECK_EQ(p % width, 0);
        CHECK(width <= p / width);
        for (uint32_t w = width + 1; w * w <= p; w++)
            CHECK(p % w != 0);
    }
    CHECK_EQ(coll_mesh_width(0xfffffffbu), 1); /* the largest prime below 2^32 */
    CHECK_EQ(coll_mesh_width(0xfffe0001u), 65535);
    CHECK_EQ(coll_mesh_width(0xffffffffu), 65535);
}

static void check_inorder(uint32_t p, uint32_t v)
{
    const coll_inorder at = coll_inorder_of(p, v);
    CHECK(at.first <= v && v <= at.last && at.last < p);
    CHECK((v + 1) >> at.level & 1u);
    CHECK_EQ(((v + 1) & (((uint32_t)1 << at.level) - 1)), 0);
    CHECK_EQ(at.left<v, at.level> 0);
    CHECK_EQ(at.left < v, at.first < v);
    CHECK_EQ(at.right > v, at.last > v);
    if (at.left < v) {
        const coll_inorder left = coll_inorder_of(p, at.left);
        CHECK_EQ(left.first, at.first);
        CHECK_EQ(left.last, v - 1);
        CHECK_EQ(left.parent, v);
        CHECK_EQ(left.level, at.level - 1);
    }
    if (at.right > v) {
        const coll_inorder right = coll_inorder_of(p, at.right);
        CHECK_EQ(right.first, v + 1);
        CHECK_EQ(right.last, at.last);
        CHECK_EQ(right.parent, v);
        CHECK(right.level + 1 == at.level || (right.level < at.level && right.last == p - 1));
    }
    if (at.parent == v) {
        CHECK_EQ(v + 1, coll_pow2_floor(p));
        CHECK_EQ(coll_inorder_depth(p, v), 0);
        CHECK_EQ(at.first, 0);
        CHECK_EQ(at.last, p - 1);
    } else {
        const coll_inorder parent = coll_inorder_of(p, at.parent);
        CHECK(parent.left == v || parent.right == v);
        CHECK_EQ(coll_inorder_depth(p, v), coll_inorder_depth(p, at.parent) + 1);
    }
}

TEST(trees_in_order)
{
    for (uint32_t p = 1; p <= 300; p++)
        for (uint32_t v = 0; v < p; v++)
            check_inorder(p, v);
    for (size_t i = 1; i < ENDS; i++)
        for (uint32_t n = 0; n < 200; n++)
            check_inorder(ends[i],
                          n < 100 ? chance(ends[i]) : ends[i] - 1 - (n - 100) % ends[i]);
}

int main(void)
{
    RUN(logarithms);
    RUN(bits_that_are_set);
    RUN(sums_modulo_p);
    RUN(division_by_multiplication);
    RUN(products_that_fit);
    RUN(parts_tile_the_vector);
    RUN(elements_have_their_parts);
    RUN(segments_tile_the_vector);
    RUN(trees_of_the_thesis);
    RUN(trees_do_not_overflow);
    RUN(bine_subtrees_are_runs_around_their_roots);
    RUN(branches_are_runs_of_ranks);
    RUN(branches_do_not_overflow);
    RUN(folding_keeps_rank_order);
    RUN(bits_in_opposite_order);
    RUN(digits_and_mirrors);
    RUN(digits_to_the_base_minus_two);
    RUN(swinging_partners_and_their_slots);
    RUN(nodes_tile_the_ranks);
    RUN(leaders_are_spread_evenly);
    RUN(nodes_that_do_not_fit);
    RUN(groups_that_are_none);
    RUN(ranks_of_groups);
    RUN(places_follow_the_nodes);
    RUN(places_of_one_node);
    RUN(problems_that_have_places);
    RUN(lines_on_a_mesh);
    RUN(trees_on_a_mesh);
    RUN(nearly_square_meshes);
    RUN(trees_in_order);
    return check_done();
}
