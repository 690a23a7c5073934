/* coll/algos/kit/digit_level.h — distances on a level in digits: which blocks travel together
 *
 * Blocks have numbers, which are distances on two levels: numbers on the first, times the size of
 * the second, plus numbers on the second. All blocks whose digit of one weight on one level is e
 * travel e times that weight on that level, in one message.
 *
 * Use algos/tuna.h.
 */
#ifndef COLL_ALGOS_KIT_DIGIT_LEVEL_H
#define COLL_ALGOS_KIT_DIGIT_LEVEL_H

#include "../../plan.h"

/* One of the two levels. */
typedef struct coll_i_digit_level {
    uint32_t size, k; /* the digits are those of numbers below `size` to the base k */
    uint32_t unit;    /* what a step is worth in a block's number */
    uint32_t copies;  /* the numbers are cut in so many runs, which are alike */
} coll_i_digit_level;

/* A radix; 0: so that there are two rounds. */
COLL_INLINE uint32_t coll_i_digit_radix(uint32_t size, uint32_t k)
{
    uint32_t root = 2;
    if (k == 0)
        while (root < (size + root - 1) / root)
            root++;
    return k == 0 ? root : k;
}

COLL_INLINE void coll_i_digit_level_of(coll_i_digit_level *level, uint32_t q, uint32_t n,
                                       bool inter, uint32_t k)
{
    level->size = inter ? n : q;
    level->k = coll_i_digit_radix(level->size, k);
    level->unit = inter ? 1 : n;
    level->copies = inter ? q : 1;
}

/* The weight of the highest digit. */
COLL_INLINE uint32_t coll_i_digit_top(const coll_i_digit_level *level)
{
    uint32_t weight = 1;
    while (weight <= (level->size - 1) / level->k)
        weight *= level->k;
    return weight;
}

/* Blocks whose digit of this weight is e, in one run. */
COLL_INLINE uint32_t coll_i_digit_blocks(const coll_i_digit_level *level, uint32_t weight,
                                         uint32_t e)
{
    const uint32_t above = (level->size - 1) / weight / level->k; /* full rows of k digits */
    const uint32_t rest = level->size - above * level->k * weight;
    const uint32_t last = rest > e * weight ? rest - e * weight : 0;
    return (above * weight + (last < weight ? last : weight)) * level->unit;
}

/* Messages of a level, added to *messages, and blocks in them, added to *blocks. */
COLL_INLINE void coll_i_digit_count(const coll_i_digit_level *level, size_t *messages,
                                    size_t *blocks)
{
    for (uint32_t weight = coll_i_digit_top(level); weight > 0; weight /= level->k)
        for (uint32_t e = 1; e < level->k && e <= (level->size - 1) / weight; e++) {
            *messages += 1;
            *blocks += (size_t)coll_i_digit_blocks(level, weight, e) * level->copies;
        }
}

#endif /* COLL_ALGOS_KIT_DIGIT_LEVEL_H */
