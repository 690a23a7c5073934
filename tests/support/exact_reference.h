/* tests/support/exact_reference.h — the exact sum of floats, worked out slowly and bit by bit; and floats for
 * which sums go wrong
 *
 * How often each power of two occurs among the values is counted; from that the bits of the sum follow, and
 * from those the nearest float. Nothing is shared with the library.
 */
#ifndef COLL_TESTS_EXACT_REFERENCE_H
#define COLL_TESTS_EXACT_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "floats.h"

enum { REFERENCE_BITS = 2300 };

typedef struct reference {
    int fraction, infinity;            /* of the format: 23 and 255, or 52 and 2047 */
    int64_t occurs[REFERENCE_BITS];    /* of each power of two, from the least subnormal up */
    bool nan, plus, minus, other, any; /* other than −0 */
} reference;

static inline void reference_begin(reference *sum, bool f64)
{
    memset(sum, 0, sizeof *sum);
    sum->fraction = f64 ? 52 : 23;
    sum->infinity = f64 ? 2047 : 255;
}

static inline void reference_add(reference *sum, uint64_t x)
{
    const uint64_t digits = x & (((uint64_t)1 << sum->fraction) - 1);
    const int rest = (int)(x >> sum->fraction), exponent = rest & sum->infinity;
    const bool negative = rest > sum->infinity;
    sum->any = true;
    sum->other |= !negative || digits != 0 || exponent != 0;
    if (exponent == sum->infinity) {
        sum->nan |= digits != 0;
        sum->plus |= digits == 0 && !negative;
        sum->minus |= digits == 0 && negative;
        return;
    }
    for (int i = 0; i <= sum->fraction; i++) {
        const bool set = i < sum->fraction ? (digits >> i & 1) != 0 : exponent != 0;
        const int power = exponent > 0 ? exponent - 1 + i : i;
        if (set)
            sum->occurs[power] += negative ? -1 : 1;
    }
}

/* The bits of the nearest float. */
static inline uint64_t reference_read(const reference *sum)
{
    const uint64_t sign = (uint64_t)(sum->infinity + 1) << sum->fraction;
    const uint64_t infinite = (uint64_t)sum->infinity << sum->fraction;
    static bool bit[REFERENCE_BITS];
    bool negative = false, above_half, half, odd;
    int64_t carry;
    int top, low;
    uint64_t bits = 0;
    if (sum->nan || (sum->plus && sum->minus))
        return infinite | (uint64_t)1 << (sum->fraction - 1);
    if (sum->plus || sum->minus)
        return infinite | (sum->minus ? sign : 0);
    if (!sum->other)
        return sum->any ? sign : 0;
    for (int turn = 0; turn < 2; turn++) { /* the sum, and, if that is below 0, its negative */
        carry = 0;
        for (int i = 0; i < REFERENCE_BITS; i++) {
            const int64_t all = carry + (negative ? -sum->occurs[i] : sum->occurs[i]);
            bit[i] = all % 2 != 0;
            carry = (all - bit[i]) / 2;
        }
        if (carry == 0)
            break;
        negative = true;
    }
    for (top = REFERENCE_BITS - 1; top >= 0 && !bit[top]; top--)
        ;
    if (top < 0)
        return 0;
    low = top > sum->fraction ? top - sum->fraction : 0; /* the last bit that the float has */
    for (int i = top; i >= low; i--)
        bits = bits << 1 | bit[i];
    half = low > 0 && bit[low - 1];
    odd = bit[low];
    above_half = false;
    for (int i = 0; i < low - 1; i++)
        above_half |= bit[i];
    bits += half && (above_half || odd);
    bits +=
        (uint64_t)low << sum->fraction; /* the leading bit is the lowest one of the exponent */
    return (negative ? sign : 0) | (bits < infinite ? bits : infinite);
}

enum { REFERENCE_KINDS = 9 };

/* The bits of a value of one of several kinds; `before`: the value before it, if there is one. */
static inline uint64_t reference_value(bool f64, uint32_t kind, uint64_t before)
{
    const unsigned bits = f64 ? 64 : 32, fraction = f64 ? 52 : 23;
    const uint64_t one = (uint64_t)1 << fraction;
    const uint64_t infinite = f64 ? (uint64_t)0x7ff << 52 : 0x7f800000u;
    const uint64_t top = (uint64_t)1 << (bits - 1);
    uint64_t x = chance_bits(&random_state) & (top | (top - 1)), other;
    switch (kind) {
    case 0: /* any finite ones */
        break;
    case 1: /* operands that are related */
        random_pair(bits, fraction, &x, &other);
        break;
    case 2: /* what cancels but for the last bits */
        if (before != 0 && (before & infinite) != infinite && chance(4) != 0)
            x = ((before ^ top) + chance(3) - 1) & (top | (top - 1));
        break;
    case 3: /* subnormals and zeros */
        x &= top | (one - 1);
        if (chance(4) == 0)
            x &= top;
        break;
    case 4: /* the greatest ones */
        x |= infinite - one;
        break;
    case 5: /* few bits: ties */
        x = (x & (top | one << chance(6) | one >> chance(3))) + 64 * one;
        break;
    case 6: /* −0 alone, or nearly */
        x = chance(200) == 0 ? 0 : top;
        break;
    case 7: /* from −2 to 2 */
        x = (x & (top | (one - 1))) | (infinite / 2 / one - chance(3) * chance(3)) * one;
        break;
    default: /* now and then one that is not finite */
        if (chance(100) == 0)
            x |= infinite;
        if (chance(100) == 0)
            x = infinite | (x & top);
    }
    return kind < 8 && (x & infinite) == infinite ? x ^ one : x;
}

#endif /* COLL_TESTS_EXACT_REFERENCE_H */
