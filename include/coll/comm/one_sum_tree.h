/* coll/comm/one_sum_tree.h — an order of operands that depends on their numbers alone
 *
 * Operands are numbered from 0, over all ranks. Those with the numbers i·2^l … (i+1)·2^l − 1 are a block of
 * level l: its value is that of its left half ⊕ that of its right half. Operands 0 … n−1 are the largest
 * blocks that they consist of, from left to right B₀, B₁, … Bₖ, whose levels fall; their value is
 * B₀ ⊕ (B₁ ⊕ (… ⊕ Bₖ)). For n = 2^l that is one block.
 *
 * Nothing of this knows of ranks. A rank that has some operands in a row computes the blocks among them, at most
 * two of each level, and whoever has blocks that follow each other merges those that are halves of
 * one: always the same pairs.
 *
 * Source: ReproRed (Stelz, Hübner, Stamatakis), for a tree over operands and not over ranks. Use one_sum.h.
 */
#ifndef COLL_COMM_ONE_SUM_TREE_H
#define COLL_COMM_ONE_SUM_TREE_H

#include "../types.h"

enum {
    COLL_I_ONE_SUM_LEVELS = 48, /* operands are fewer than 2 to the power of it */
    COLL_I_ONE_SUM_PIECE =
        4096 /* bytes of vectors that are merged at a time: they stay in caches */
};

/* The level of the first block of the n > 0 operands from `first` on. */
COLL_INLINE uint32_t coll_i_one_sum_level(uint64_t first, uint64_t n)
{
    uint32_t level = 0;
    while (level < COLL_I_ONE_SUM_LEVELS && (first >> level & 1) == 0 && n >> (level + 1) != 0)
        level++;
    return level;
}

/* How many blocks these are. */
COLL_INLINE uint32_t coll_i_one_sum_blocks(uint64_t first, uint64_t n)
{
    uint32_t blocks = 0;
    while (n > 0) {
        const uint64_t block = (uint64_t)1 << coll_i_one_sum_level(first, n);
        first += block;
        n -= block;
        blocks++;
    }
    return blocks;
}

/* The most blocks that n operands from 0 on can be. */
COLL_INLINE uint32_t coll_i_one_sum_depth(uint64_t n)
{
    uint32_t depth = 1;
    while (n >> depth != 0)
        depth++;
    return depth;
}

/* Do p ranks with a block each, all of the same level, combine them in this order where they fold to a core of
 * 2^m in pairs, the first ones, and then near ones first (algos/recursive_multiplying.h, rabenseifner.h)? If p has
 * no 0 between the 1s of its digits: else a pair and a rank alone come together that are no halves. */
COLL_INLINE bool coll_i_one_sum_folds(uint32_t p)
{
    return (p & (p + (p & (0u - p)))) == 0;
}

/* Blocks that follow each other, those that are halves of one merged: pieces of vectors. */
typedef struct coll_i_one_sum {
    coll_combine combine;
    void *arg;
    size_t count;        /* elements of the piece */
    unsigned char *room; /* where merged ones are: coll_i_one_sum_depth of … */
    size_t piece;        /* … so many bytes */
    uint32_t n;          /* blocks */
    struct {
        const unsigned char *value;
        uint32_t level;
    } block[COLL_I_ONE_SUM_LEVELS + 1];
} coll_i_one_sum;

/* One more block, behind the others. Its value must stay until no block is left. */
COLL_INLINE void coll_i_one_sum_push(coll_i_one_sum *sum, const unsigned char *value,
                                     uint32_t level)
{
    while (sum->n > 0 && sum->block[sum->n - 1].level == level) {
        unsigned char *merged = sum->room + (size_t)(sum->n - 1) * sum->piece;
        sum->combine(merged, sum->block[sum->n - 1].value, value, sum->count, sum->arg);
        value = merged;
        level++;
        sum->n--;
    }
    sum->block[sum->n].value = value;
    sum->block[sum->n++].level = level;
}

/* The value of all operands so far, of which there is one at least, to `out`. */
COLL_INLINE void coll_i_one_sum_value(const coll_i_one_sum *sum, unsigned char *out,
                                      size_t elem_bytes)
{
    const unsigned char *value = sum->block[sum->n - 1].value;
    for (uint32_t i = sum->n - 1; i-- > 0;) {
        sum->combine(out, sum->block[i].value, value, sum->count, sum->arg);
        value = out;
    }
    if (value != out)
        COLL_COPY(out, value, sum->count * elem_bytes);
}

#endif /* COLL_COMM_ONE_SUM_TREE_H */
