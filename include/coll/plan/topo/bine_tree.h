/* coll/plan/topo/bine_tree.h — Bine trees: binomial trees of near ranks
 *
 * Use plan/topo.h, or this part alone.
 */
#ifndef COLL_PLAN_TOPO_BINE_TREE_H
#define COLL_PLAN_TOPO_BINE_TREE_H

#include "tree.h"

/* ---- Bine trees ------------------------------------------------------------------------------
 * A binomial tree whose ranks lie near each other on a ring: the subtrees of a rank's children
 * are put alternately after and before what the rank has so far, nearest the smallest, and
 * within a subtree the other way round. So every subtree is a run of ranks, around the ring,
 * with its root inside; parents are 1, 1, 3, 5, 11 … ranks away instead of 1, 2, 4, 8, 16 …. A
 * rank's number in the binomial tree tells its parent and children; a child is after its parent
 * if the phase and the parent's depth are both even or both odd. Where all subtrees are full,
 * the number is the Gray code of the distance from the root to the base −2: the binomial
 * negabinary tree of De Sensi et al. 2025, for powers of two. For other p the last numbers are
 * missing, and the others close ranks.
 *
 *   p = 8:  rank    −2 −1  0  1  2  3  4  5      p = 6:  rank    −2 −1  0  1  2  3
 *           number   3  2  0  1  5  4  6  7              number   3  2  0  1  5  4
 *           parent  −1  0     0  3  0  3  4              parent  −1  0     0  3  0
 */

/* A rank's place in the tree. */
typedef struct coll_bine {
    uint32_t number;   /* of the rank, in the binomial tree */
    uint32_t parent;   /* a rank; the rank itself at the root, 0 */
    uint32_t children; /* how many */
    uint32_t slot;     /* it is its parent's child number `slot`; at the root, ⌈log2 p⌉ */
} coll_bine;

/* Is child number i of this number after it? */
COLL_HOT_INLINE bool coll_bine_is_after(uint32_t number, uint32_t i)
{
    return ((coll_bits(number) ^ i) & 1u) == 0;
}

/* Of a number that is the first of `left` ≥ 1: the ranks of its children of phases below `phases`
 * that are even (even: 1) or odd. All are full but that of phase log2 left. */
COLL_HOT_INLINE uint32_t coll_i_bine_ranks(uint32_t left, uint32_t phases, uint32_t even)
{
    const uint32_t full = COLL_HIGHEST_BIT(left), which = 0xaaaaaaaau >> even;
    uint32_t ranks = which & (((uint32_t)1 << (full < phases ? full : phases)) - 1);
    if (full < phases && (which >> full & 1u))
        ranks += left - ((uint32_t)1 << full);
    return ranks;
}

/* Ranks of the subtree of a number after it, and before it, with children of phases below
 * `phases`. */
COLL_HOT_INLINE uint32_t coll_bine_after(uint32_t p, uint32_t number, uint32_t phases)
{
    return coll_i_bine_ranks(p - number, phases, ~coll_bits(number) & 1u);
}

/* … and before it. */
COLL_HOT_INLINE uint32_t coll_bine_before(uint32_t p, uint32_t number, uint32_t phases)
{
    return coll_i_bine_ranks(p - number, phases, coll_bits(number) & 1u);
}

/* Ranks from a number to its child number i: what lies between is the other children of either in
 * phases that are even or odd like i. */
COLL_HOT_INLINE uint32_t coll_i_bine_distance(uint32_t p, uint32_t number, uint32_t i)
{
    const uint32_t child = number + ((uint32_t)1 << i), even = ~i & 1u;
    return 1 + coll_i_bine_ranks(p - number, i, even) + coll_i_bine_ranks(p - child, i, even);
}

/* The number of rank v < p. O(1) for a power of two, else O(bits set in p), on average less than
 * 2 turns: one for each full subtree that v is not in. */
COLL_HOT_INLINE uint32_t coll_bine_number(uint32_t p, uint32_t v)
{
    uint32_t number = 0, left = p; /* the root of the rest, and the ranks in it */
    bool turned = false;           /* is its depth odd? */
    uint32_t to = v <= coll_bine_after(p, 0, 32) ? v : v - p; /* v from there, modulo 2^32 */
    for (;;) {
        const uint32_t full = COLL_HIGHEST_BIT(left), low = ((uint32_t)1 << full) - 1;
        const uint32_t ahead = turned ? 0 - to : to;
        if (ahead + (0xaaaaaaaau & low) <= low)
            return number + coll_gray(coll_negabinary(ahead) & low);
        {
            const uint32_t distance = coll_i_bine_distance(p, number, full);
            to = ((full & 1u) != 0) == turned ? to - distance : to + distance;
            number += low + 1;
            left -= low + 1;
            turned = !turned;
        }
    }
}

/* The rank of v's child number i, which exists. */
COLL_HOT_INLINE uint32_t coll_bine_child(uint32_t p, uint32_t v, uint32_t number, uint32_t i)
{
    const uint32_t distance = coll_i_bine_distance(p, number, i);
    return coll_bine_is_after(number, i) ? coll_mod_add(v, distance, p)
                                         : coll_mod_sub(v, distance, p);
}

/* The place of virtual rank v. */
COLL_HOT_INLINE coll_bine coll_bine_of(uint32_t p, uint32_t v)
{
    coll_bine at;
    at.number = coll_bine_number(p, v);
    {
        const coll_fnomial binomial = coll_fnomial_of(p, &coll_fast_divisor_two, at.number);
        at.children = binomial.children;
        at.slot = binomial.slot;
        at.parent = v;
        if (v != 0) {
            const uint32_t distance = coll_i_bine_distance(p, binomial.parent, at.slot);
            at.parent = coll_bine_is_after(binomial.parent, at.slot)
                            ? coll_mod_sub(v, distance, p)
                            : coll_mod_add(v, distance, p);
        }
    }
    return at;
}

#endif /* COLL_PLAN_TOPO_BINE_TREE_H */
