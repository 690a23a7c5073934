/* coll/plan/topo/tree.h — f-nomial and k-ary trees, chains, binary trees in order
 *
 * Use plan/topo.h, or this part alone.
 */
#ifndef COLL_PLAN_TOPO_TREE_H
#define COLL_PLAN_TOPO_TREE_H

#include "partition.h"

/* ---- f-nomial trees ------------------------------------------------------------------- Moody
 * 2003, §3.2.3 and Appendix A. In the phase of stride s = f^phase, a rank v that is a multiple
 * of s·f is the parent of v + i·s, i = 1 … f−1, where that rank exists. The subtree of a child
 * v + i·s is the rank interval [v + i·s, v + (i+1)·s), so children in increasing order are in
 * rank order.
 *
 *   f = 2, p = 8:  0 ─ 1        f = 3, p = 8:  0 ─ 1
 *                  ├ 2 ─ 3                     ├ 2
 *                  └ 4 ─ 5                     ├ 3 ─ 4, 5
 *                      └ 6 ─ 7                 └ 6 ─ 7
 */

/* A rank's place in the tree. */
typedef struct coll_fnomial {
    uint32_t parent;   /* the rank itself at the root, 0 */
    uint32_t children; /* how many */
    uint32_t slot;     /* it is its parent's child number `slot`, from 0 in increasing rank */
    uint32_t stride;   /* … in the phase of this stride; the least stride ≥ p at the root */
} coll_fnomial;

/* v's place in the f-nomial tree of p ranks, f->by ≥ 2, v < p. O(1) for f = 2, else O(phases in
 * which v is a parent). */
COLL_HOT_INLINE coll_fnomial coll_fnomial_of(uint32_t p, const coll_fast_divisor *f, uint32_t v)
{
    coll_fnomial at;
    if (!COLL_SMALL && f->by == 2) {
        const uint32_t most =
            coll_log2_ceil(p - v); /* children at distances 1, 2, 4 … < p − v */
        at.slot = v == 0 ? most : COLL_LOWEST_BIT(v);
        at.children = at.slot < most ? at.slot : most;
        at.parent = v == 0 ? 0 : v & (v - 1); /* without its lowest bit */
        at.stride = v == 0 ? p : (uint32_t)1 << at.slot;
        return at;
    }
    uint32_t digits = v, after = p - 1 - v; /* v, and how many ranks follow it, / stride */
    at.stride = 1;
    at.children = 0;
    at.slot = 0;
    at.parent = v;
    while ((digits | after) != 0) {
        const uint32_t above = coll_divide(digits, f), digit = digits - above * f->by;
        if (digit != 0) {
            at.slot += digit - 1;
            at.parent = v - digit * at.stride;
            return at;
        }
        at.children += after < f->by - 1 ? after : f->by - 1;
        at.slot += f->by - 1;
        at.stride *= f->by; /* wraps only at the root, beyond p */
        after = coll_divide(after, f);
        digits = above;
    }
    at.stride = p;
    return at;
}

/* The phase in which a rank has its child number `slot`. */
typedef struct coll_fnomial_phase {
    uint32_t first;  /* the slot of the first of the f−1 children of this phase */
    uint32_t stride; /* f^phase: their distance, and the ranks of each subtree, but beyond p */
} coll_fnomial_phase;

/* The phase and the child's place that a slot of an f-nomial tree is. */
COLL_HOT_INLINE coll_fnomial_phase coll_fnomial_phase_of(uint32_t f, uint32_t slot)
{
    coll_fnomial_phase phase;
    if (!COLL_SMALL && f == 2) {
        phase.first = slot;
        phase.stride = (uint32_t)1 << slot;
        return phase;
    }
    phase.first = 0;
    phase.stride = 1;
    while (slot - phase.first >= f - 1) {
        phase.first += f - 1;
        phase.stride *= f;
    }
    return phase;
}

/* The rank of v's child number `slot`, which exists. */
COLL_HOT_INLINE uint32_t coll_fnomial_child(uint32_t f, uint32_t v, uint32_t slot)
{
    const coll_fnomial_phase phase = coll_fnomial_phase_of(f, slot);
    return v + (slot - phase.first + 1) * phase.stride;
}

/* The rank's distance from the root: its digits to the base f that are not 0. */
COLL_HOT_INLINE uint32_t coll_fnomial_depth(const coll_fast_divisor *f, uint32_t v)
{
    uint32_t depth = 0;
    if (!COLL_SMALL && f->by == 2)
        return coll_bits(v);
    while (v != 0) {
        const uint32_t above = coll_divide(v, f);
        depth += v != above * f->by ? 1 : 0;
        v = above;
    }
    return depth;
}

/* ---- k-ary trees, and chains ------------------------------------------------------------- A
 * subtree is a run of ranks, and its first rank is its root. In a k-ary tree the other ranks are
 * cut into at most k parts whose sizes differ by at most one, each the subtree of a child: no
 * tree of that degree is less deep. Chains hang off the root; whoever is in one has one child.
 *
 *   k-ary, k = 2, p = 8:  0 ─ 1 ─ 2 ─ 3     2 chains, p = 8:  0 ─ 1 ─ 2 ─ 3 ─ 4
 *                         │   └ 4                             └ 5 ─ 6 ─ 7
 *                         └ 5 ─ 6
 *                             └ 7
 */

/* A rank's place in such a tree. */
typedef struct coll_branch {
    uint32_t parent;      /* the rank itself at the root, 0 */
    uint32_t children;    /* how many */
    uint32_t depth;       /* distance from the root */
    coll_partition below; /* the ranks after it in its subtree: a part for each child */
} coll_branch;

/* `ranks` ranks in d->by parts. */
COLL_HOT_INLINE coll_partition coll_i_ranks_in_parts(uint32_t ranks, const coll_fast_divisor *d)
{
    const uint32_t base = coll_divide(ranks, d);
    coll_partition cut;
    cut.base = base;
    cut.extra = ranks - base * d->by;
    return cut;
}

/* The virtual rank of child i of virtual rank v. */
COLL_HOT_INLINE uint32_t coll_branch_child(const coll_branch *at, uint32_t v, uint32_t i)
{
    return v + 1 + (uint32_t)coll_part_offset(at->below, i);
}

/* v's place in the k-ary tree of p ranks, k->by ≥ 2, v < p. O(log p). */
COLL_HOT_INLINE coll_branch coll_kary_of(uint32_t p, const coll_fast_divisor *k, uint32_t v)
{
    uint32_t root = 0,
             below = v; /* root of the subtree of p ranks that holds v; ranks before v */
    coll_branch at;
    at.parent = 0;
    at.depth = 0;
    while (below > 0) {
        coll_block part;
        below--;
        if (k->by == 2) {
            const uint32_t first = p / 2;
            part.offset = below < first ? 0 : first;
            part.count = below < first ? first : p - 1 - first;
        } else {
            const coll_partition cut = coll_i_ranks_in_parts(p - 1, k);
            const uint32_t parts = p - 1 < k->by ? p - 1 : k->by;
            part = coll_part_block(cut, coll_part_of(cut, parts, below));
        }
        at.parent = root;
        at.depth++;
        root += 1 + (uint32_t)part.offset;
        below -= (uint32_t)part.offset;
        p = (uint32_t)part.count;
    }
    at.below = coll_i_ranks_in_parts(p - 1, k);
    at.children = p - 1 < k->by ? p - 1 : k->by;
    return at;
}

/* v's place among p ranks in chains of which as many as possible, but at most chains->by, hang
 * off the root, v < p. O(log chains). */
COLL_HOT_INLINE coll_branch coll_chain_of(uint32_t p, const coll_fast_divisor *chains,
                                          uint32_t v)
{
    coll_branch at;
    at.parent = 0;
    at.depth = 0;
    at.below = coll_i_ranks_in_parts(p - 1, chains);
    at.children = p - 1 < chains->by ? p - 1 : chains->by;
    if (v != 0) {
        const uint32_t i = coll_part_of(at.below, at.children, v - 1);
        const coll_block part = coll_part_block(at.below, i);
        at.depth = v - (uint32_t)part.offset;
        at.parent = at.depth == 1 ? 0 : v - 1;
        at.below.base = part.count - at.depth;
        at.below.extra = 0;
        at.children = at.below.base > 0 ? 1 : 0;
    }
    return at;
}

/* ---- binary trees in order -------------------------------------------------------------------
 * Left subtree, rank, right subtree: every subtree is a run of ranks, and the rank itself stands
 * within. With n = rank + 1, a rank of level i has n = 2^i · an odd number, and 2^i − 1 ranks on
 * each side of it are in its subtree, as far as they exist.
 *
 *   p = 6    level 2         3
 *                  1     1       5
 *                  0   0   2   4
 */
typedef struct coll_inorder {
    uint32_t level;               /* 0: a leaf */
    uint32_t parent, left, right; /* the rank itself where there is none */
    uint32_t first, last;         /* the ranks of its subtree */
} coll_inorder;

/* v's place in the tree of p ranks, v < p. The root is rank 2^⌊log2 p⌋ − 1. O(1). */
COLL_HOT_INLINE coll_inorder coll_inorder_of(uint32_t p, uint32_t v)
{
    const uint32_t n = v + 1, bit = n & (~n + 1), after = p - n;
    coll_inorder at;
    at.level = COLL_LOWEST_BIT(n);
    at.first = n - bit;
    at.last = bit - 1 < after ? v + (bit - 1) : p - 1;
    at.left = v - bit / 2;
    at.right = v;
    if (at.last != v) { /* on the right there may be too few for a child of the next level */
        const uint32_t largest = coll_pow2_floor(after);
        at.right += bit / 2 < largest ? bit / 2 : largest;
    }
    if (bit <= after && !(n & (2 * bit)))
        at.parent = v + bit;
    else
        at.parent = n == bit ? v : v - bit;
    return at;
}

/* The rank's distance from the root. */
COLL_HOT_INLINE uint32_t coll_inorder_depth(uint32_t p, uint32_t v)
{
    const uint32_t n = v + 1, level = COLL_LOWEST_BIT(n);
    uint32_t bit;
    if (n == p)
        return coll_bits(n) - 1;
    /* Down the right side of the tree n is p without its lowest bits; the others are to the left
     * of a rank there, whose n ends with the highest bit in which p is more. */
    bit = COLL_HIGHEST_BIT(n ^ p);
    return level > bit ? coll_bits(n) - 1 : coll_bits(p >> bit) - 1 + bit - level;
}

#endif /* COLL_PLAN_TOPO_TREE_H */
