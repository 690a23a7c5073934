/* coll/plan/topo/fold.h — folding p ranks to a core of c·k^m, and the exchanges within it
 *
 * Use plan/topo.h, or this part alone.
 */
#ifndef COLL_PLAN_TOPO_FOLD_H
#define COLL_PLAN_TOPO_FOLD_H

#include "integers.h"

/* ---- folding to a core of c·k^m ranks ------------------------------------------------------
 * The core is the largest c·k^m ≤ p with c < k; a power of two for k = 2. The first 2·extra
 * ranks form pairs of neighbours (2i, 2i+1); the even one folds into the odd one and waits. The
 * odd ones and the others are numbered 0 … core−1 in rank order. As extra < k^m ≤ core, no rank
 * has more than one folded into it.
 *
 *   p = 6, k = 2, core 4:   rank  0 1 2 3 4 5     p = 7, k = 3, core 6:   rank  0 1 2 3 4 5 6
 *                           core  · 0 · 1 2 3                             core  · 0 1 2 3 4 5
 */
typedef struct coll_fold {
    uint32_t core, extra; /* core + extra = p */
    uint32_t rounds; /* digits of the core's numbers, from the lowest: all of radix k … */
    uint32_t top;    /* … but the highest of radix `top`: c, or k where c is 1 */
} coll_fold;

/* k->by is at least 2. */
COLL_INLINE coll_fold coll_fold_of(uint32_t p, const coll_fast_divisor *k)
{
    coll_fold fold;
    fold.core = 1;
    fold.rounds = 0;
    for (fold.top = p; fold.top >= k->by; fold.rounds++) {
        fold.top = coll_divide(fold.top, k);
        fold.core *= k->by;
    }
    fold.core *= fold.top;
    fold.extra = p - fold.core;
    if (fold.top > 1)
        fold.rounds++;
    else
        fold.top = k->by;
    return fold;
}

/* Is rank r extra: does it wait while the core works? */
COLL_HOT_INLINE bool coll_fold_is_extra(const coll_fold *fold, uint32_t r)
{
    return r < 2 * fold->extra && !(r & 1u);
}

/* The core number of a rank that is not extra, and back. */
COLL_HOT_INLINE uint32_t coll_fold_number(const coll_fold *fold, uint32_t r)
{
    return r < 2 * fold->extra ? r >> 1 : r - fold->extra;
}

/* The rank that has a number of the core. */
COLL_HOT_INLINE uint32_t coll_fold_rank(const coll_fold *fold, uint32_t number)
{
    return number < fold->extra ? 2 * number + 1 : number + fold->extra;
}

/* The first rank whose data core number `number` stands for: its own, or that of the rank
 * folded into it. */
COLL_HOT_INLINE uint32_t coll_fold_first(const coll_fold *fold, uint32_t number)
{
    return number < fold->extra ? 2 * number : number + fold->extra;
}

/* ---- exchanges in the core ----------------------------------------------------------------
 * In round t the numbers that differ in digit t alone form a group: `radix` numbers, k^t apart.
 * The groups of round 0 are neighbours; after rounds 0 … t−1 in this order, k^t consecutive
 * numbers are in touch. Read from the other end, the digits give the number's mirror: digit 0
 * tells in which k-th of the core the mirror is, digit 1 in which k-th of that, and so on.
 *
 *   k = 2, core 8:   number  0 1 2 3 4 5 6 7      k = 3, core 6:   number  0 1 2 3 4 5
 *                    mirror  0 4 2 6 1 5 3 7                       mirror  0 2 4 1 3 5
 */
typedef struct coll_exchange {
    uint32_t stride, radix; /* of the group */
    uint32_t digit;         /* the number's place in it */
    uint32_t first;         /* the number at place 0 */
    uint32_t below;         /* the number modulo stride */
} coll_exchange;

/* The group of a number in round t < fold->rounds. O(1) for k = 2, else O(t). */
COLL_HOT_INLINE coll_exchange coll_exchange_of(const coll_fold *fold,
                                               const coll_fast_divisor *k, uint32_t number,
                                               uint32_t t)
{
    coll_exchange x;
    if (COLL_I_IS_TWO(k)) {
        x.stride = (uint32_t)1 << t;
        x.radix = 2;
        x.digit = number >> t & 1u;
        x.below = number & (x.stride - 1);
    } else {
        x.stride = 1;
        x.digit = number;
        for (uint32_t i = 0; i < t; i++) {
            x.stride *= k->by;
            x.digit = coll_divide(x.digit, k);
        }
        x.below = number - x.digit * x.stride;
        x.radix = t + 1 == fold->rounds ? fold->top : k->by;
        x.digit -= t + 1 == fold->rounds ? 0 : coll_divide(x.digit, k) * k->by;
    }
    x.first = number - x.digit * x.stride;
    return x;
}

/* The number at place i of the group. */
COLL_HOT_INLINE uint32_t coll_exchange_number(const coll_exchange *x, uint32_t i)
{
    return x->first + i * x->stride;
}

/* The same where, k = 3, a number meets those of a stride above and below it, round the core: place 0
 * is above place 2. All others of the group have other groups. */
COLL_HOT_INLINE uint32_t coll_ring_exchange_number(const coll_fold *fold,
                                                   const coll_exchange *x, uint32_t i)
{
    const uint32_t own = x->first + x->digit * x->stride;
    if (x->radix < 3 || i == x->digit)
        return coll_exchange_number(x, i);
    return i == x->digit + 1 || i + 2 == x->digit ? coll_mod_add(own, x->stride, fold->core)
                                                  : coll_mod_sub(own, x->stride, fold->core);
}

/* An interval of mirrors. */
typedef struct coll_mirrors {
    uint32_t first, span; /* the first number, and how many */
} coll_mirrors;

/* Where the mirror of a number is known to lie after rounds 0 … t−1; for t = fold->rounds it is
 * `first`. O(1) for k = 2, else O(t). */
COLL_HOT_INLINE coll_mirrors coll_mirrors_of(const coll_fold *fold, const coll_fast_divisor *k,
                                             uint32_t number, uint32_t t)
{
    coll_mirrors m;
    m.span = fold->core;
    if (COLL_I_IS_TWO(k)) {
        m.span >>= t;
        m.first = coll_reverse_bits(number, fold->rounds) & ~(m.span - 1);
        return m;
    }
    m.first = 0;
    for (uint32_t i = 0; i < t; i++) {
        const uint32_t above = coll_divide(number, k);
        if (i + 1 == fold->rounds) {
            m.first += number;
            m.span = 1;
            break;
        }
        m.span = coll_divide(m.span, k);
        m.first += (number - above * k->by) * m.span;
        number = above;
    }
    return m;
}

/* The number that has this mirror. O(1) for k = 2, else O(rounds). */
COLL_HOT_INLINE uint32_t coll_mirrored(const coll_fold *fold, const coll_fast_divisor *k,
                                       uint32_t mirror)
{
    if (COLL_I_IS_TWO(k))
        return coll_reverse_bits(mirror, fold->rounds);
    if (fold->rounds == 0)
        return 0;
    const uint32_t above =
        (uint32_t)coll_i_quotient(mirror, fold->top); /* its other digits, all of radix k */
    uint32_t number = mirror - above * fold->top;
    mirror = above;
    for (uint32_t i = 1; i < fold->rounds; i++) {
        const uint32_t rest = coll_divide(mirror, k);
        number = number * k->by + (mirror - rest * k->by);
        mirror = rest;
    }
    return number;
}

/* ---- swinging exchanges ------------------------------------------------------------------------
 * In round t of a core of 2^rounds ranks in a ring, even numbers meet the number ρ(t) above
 * theirs, odd ones the number ρ(t) below, ρ(t) = 1 − 2 + 4 − … ± 2^t: the distances 1, 1, 3, 5,
 * 11 … grow a third slower than powers of two, and partners swing from side to side. The numbers
 * that one meets in rounds t, t + 1 … and those that they meet, are all whose slots have the
 * same highest t bits: half of them those of the partner in round t. De Sensi, Bonato, Saam,
 * Hoefler 2024, §3; the slots: De Sensi et al. 2025.
 *
 *   core 8:  number        0 1 2 3 4 5 6 7
 *            round 0, +1   1 0 3 2 5 4 7 6
 *            round 1, −1   7 2 1 4 3 6 5 0
 *            round 2, +3   3 6 5 0 7 2 1 4
 *            slot          0 4 6 1 3 7 5 2
 */

/* ρ(t), modulo 2^32. */
COLL_HOT_INLINE uint32_t coll_swing_distance(uint32_t t)
{
    return coll_from_negabinary(((uint32_t)2 << t) - 1);
}

/* The core is a power of two. */
COLL_HOT_INLINE uint32_t coll_swing_partner(uint32_t core, uint32_t number, uint32_t t)
{
    const uint32_t distance = coll_swing_distance(t);
    return (number & 1u ? number - distance : number + distance) & (core - 1);
}

/* The slot of a number of the core, and back. */
COLL_HOT_INLINE uint32_t coll_swing_slot(const coll_fold *fold, uint32_t number)
{
    const uint32_t digits = coll_negabinary(number & 1u ? number : 0 - number);
    return coll_reverse_bits(coll_gray(digits & (fold->core - 1)), fold->rounds);
}

/* The number of the core that has a slot of the vector in the end. */
COLL_HOT_INLINE uint32_t coll_swing_number(const coll_fold *fold, uint32_t slot)
{
    const uint32_t digits = coll_from_gray(coll_reverse_bits(slot, fold->rounds));
    const uint32_t number = coll_from_negabinary(digits);
    return (number & 1u ? number : 0 - number) & (fold->core - 1);
}

/* Like coll_mirrors_of: the slots of a number and all that it meets from round t on. */
COLL_HOT_INLINE coll_mirrors coll_swing_slots(const coll_fold *fold, uint32_t number,
                                              uint32_t t)
{
    coll_mirrors m;
    m.span = fold->core >> t;
    m.first = coll_swing_slot(fold, number) & ~(m.span - 1);
    return m;
}

/* Like coll_exchange_of: the pair of round t. The one with the lower slot has place 0. */
COLL_HOT_INLINE coll_exchange coll_swing_exchange(const coll_fold *fold, uint32_t number,
                                                  uint32_t t)
{
    const uint32_t partner = coll_swing_partner(fold->core, number, t);
    coll_exchange x;
    x.radix = 2;
    x.digit = coll_swing_slot(fold, number) >> (fold->rounds - 1 - t) & 1u;
    x.first = x.digit ? partner : number;
    x.stride = x.digit ? number - partner : partner - number; /* modulo 2^32 */
    x.below = 0;
    return x;
}

#endif /* COLL_PLAN_TOPO_FOLD_H */
