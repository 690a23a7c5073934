/* coll/topo.h — pattern arithmetic: integers in, integers or small structures out
 *
 * Logarithms, partitions, nodes, trees, folding to a power of two, meshes. Pure functions without
 * any notion of messages, so they can be tested law by law (tests/topo.c) and used alone.
 * Ranks are uint32_t, p is the number of ranks, element counts and offsets are size_t.
 */
#ifndef COLL_TOPO_H
#define COLL_TOPO_H

#include "types.h"

#define COLL_NOBODY UINT32_MAX /* instead of a rank: none */

/* ---- integers ------------------------------------------------------------------------- */

/* The least k with 2^k >= x; 0 for x <= 1. */
COLL_HOT_INLINE uint32_t coll_log2_ceil(uint32_t x)
{
    return x <= 1 ? 0 : COLL_HIGHEST_BIT(x - 1) + 1;
}

/* The largest power of two that is <= x; x is at least 1. */
COLL_INLINE uint32_t coll_pow2_floor(uint32_t x)
{
    return (uint32_t)1 << COLL_HIGHEST_BIT(x);
}

/* How many bits of x are set. */
COLL_HOT_INLINE uint32_t coll_bits(uint32_t x)
{
    x -= x >> 1 & 0x55555555u; /* sums of 2 bits, 4, 8; the product adds up the bytes */
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return x * 0x01010101u >> 24;
}

/* (a + b) mod p for a, b < p, without a division and for any p. */
COLL_HOT_INLINE uint32_t coll_mod_add(uint32_t a, uint32_t b, uint32_t p)
{
    return a >= p - b ? a - (p - b) : a + b;
}

/* (a − b) mod p for a, b < p. */
COLL_HOT_INLINE uint32_t coll_mod_sub(uint32_t a, uint32_t b, uint32_t p)
{
    return a >= b ? a - b : a + (p - b);
}

/* Division by a number that stays the same: multiplication and shifts instead of the
 * processor's division, which is slow, or on a Cortex-M0 not there. Granlund, Montgomery 1994,
 * figure 4.1, doi:10.1145/178243.178249. */
typedef struct coll_divider {
    uint32_t by, multiplier;
    uint32_t shift1, shift2;
} coll_divider;

/* by is at least 1. */
COLL_INLINE coll_divider coll_divider_of(uint32_t by)
{
    const uint32_t bits = coll_log2_ceil(by);
    coll_divider d;
    d.by = by;
    d.multiplier = (uint32_t)(((((uint64_t)1 << bits) - by) << 32) / by) + 1;
    d.shift1 = bits < 1 ? bits : 1;
    d.shift2 = bits < 1 ? 0 : bits - 1;
    return d;
}

/* x / d.by, for every x. */
COLL_HOT_INLINE uint32_t coll_divide(uint32_t x, const coll_divider *d)
{
    const uint32_t high = (uint32_t)(((uint64_t)x * d->multiplier) >> 32);
    return (high + ((x - high) >> d->shift1)) >> d->shift2;
}

/* Division by 2. */
static const coll_divider coll_divider_two = {2, 1, 1, 0};

/* The lowest `bits` ≤ 31 bits of x, which has no others, in opposite order. */
COLL_HOT_INLINE uint32_t coll_reverse_bits(uint32_t x, uint32_t bits)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    x = x >> 16 | x << 16;
    return x >> 1 >> (31 - bits);
}

/* *product = a · b; false where that does not fit. */
COLL_INLINE bool coll_multiply(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return b == 0 || a <= SIZE_MAX / b;
}

/* The digits of x to the base −2, and back: two's complement, modulo 2^32. Schroeppel 1972,
 * HAKMEM item 128: adding 0xaa… carries where a digit of negative weight takes from the next. */
COLL_HOT_INLINE uint32_t coll_negabinary(uint32_t x)
{
    return (x + 0xaaaaaaaau) ^ 0xaaaaaaaau;
}

COLL_HOT_INLINE uint32_t coll_from_negabinary(uint32_t digits)
{
    return (digits ^ 0xaaaaaaaau) - 0xaaaaaaaau;
}

/* The Gray code of x, in which each bit tells whether two neighbouring bits of x differ, and
 * back. */
COLL_HOT_INLINE uint32_t coll_gray(uint32_t x)
{
    return x ^ x >> 1;
}

COLL_HOT_INLINE uint32_t coll_from_gray(uint32_t gray)
{
    gray ^= gray >> 1;
    gray ^= gray >> 2;
    gray ^= gray >> 4;
    gray ^= gray >> 8;
    return gray ^ gray >> 16;
}

/* ---- partitions ----------------------------------------------------------------------- */

/* A run of elements. */
typedef struct coll_block {
    size_t offset, count;
} coll_block;

/* A vector cut into parts whose sizes differ by at most one, the larger ones first. */
typedef struct coll_partition {
    size_t base;    /* elements of every part … */
    uint32_t extra; /* … and the first `extra` parts have one more */
} coll_partition;

COLL_INLINE coll_partition coll_partition_of(size_t count, uint32_t parts)
{
    coll_partition cut;
    cut.base = count / parts;
    cut.extra = (uint32_t)(count - cut.base * parts);
    return cut;
}

COLL_HOT_INLINE size_t coll_part_offset(coll_partition cut, uint32_t i)
{
    return cut.base * i + (i < cut.extra ? i : cut.extra);
}

COLL_HOT_INLINE coll_block coll_part_block(coll_partition cut, uint32_t i)
{
    coll_block block;
    block.offset = coll_part_offset(cut, i);
    block.count = cut.base + (i < cut.extra ? 1u : 0u);
    return block;
}

/* The part, of `parts` in all, that holds element i of the vector. O(log parts). */
COLL_HOT_INLINE uint32_t coll_part_of(coll_partition cut, uint32_t parts, size_t i)
{
    uint32_t first = 0;
    while (parts > 1) { /* it is one of `parts` parts from `first` on */
        const uint32_t half = parts / 2;
        const bool above = coll_part_offset(cut, first + half) <= i;
        first += above ? half : 0;
        parts = above ? parts - half : half;
    }
    return first;
}

/* A vector of count elements cut into segments of `segment` (0: one segment, the whole vector).
 * There is always at least one segment, so that an empty vector has an empty one. */
COLL_HOT_INLINE size_t coll_segments(size_t count, size_t segment)
{
    return segment == 0 || count <= segment ? 1 : (count - 1) / segment + 1;
}

COLL_HOT_INLINE coll_block coll_segment_block(size_t count, size_t segment, size_t i)
{
    coll_block block;
    block.offset = segment * i;
    block.count =
        segment == 0 || count - block.offset < segment ? count - block.offset : segment;
    return block;
}

/* ---- nodes ---------------------------------------------------------------------------- */

/* Which ranks share a node: runs of consecutive ranks. Zeroed: all ranks are on one node. */
typedef struct coll_nodes {
    uint32_t count;      /* how many nodes; 0: one, of all ranks */
    uint32_t most;       /* ranks of the largest */
    uint32_t ppn;        /* ranks of a node (the last may have fewer), where `first` is NULL */
    coll_divider by_ppn; /* division by that */
    const uint32_t *first; /* count + 1 entries, the caller's: node i has ranks first[i] …
                              first[i+1]−1. Or NULL */
    const uint32_t *of;    /* with `first`: the node of each rank; NULL: it is searched for */
} coll_nodes;

/* A rank's place. */
typedef struct coll_node {
    uint32_t index; /* of the node */
    uint32_t first; /* its first rank */
    uint32_t ranks; /* how many it has */
    uint32_t local; /* the rank is its number `local`, from 0 */
} coll_node;

/* ⌈p/ppn⌉ nodes of ppn ranks, the last with what is left. ppn is at least 1. */
COLL_INLINE void coll_nodes_even(coll_nodes *nodes, uint32_t p, uint32_t ppn)
{
    nodes->by_ppn = coll_divider_of(ppn);
    nodes->count = coll_divide(p - 1, &nodes->by_ppn) + 1;
    nodes->ppn = ppn;
    nodes->most = ppn < p ? ppn : p;
    nodes->first = nodes->of = NULL;
}

/* Nodes of any size. Both tables are the caller's, and unchanged while they are used. O(nodes). */
COLL_INLINE void coll_nodes_table(coll_nodes *nodes, uint32_t count, const uint32_t *first,
                                  const uint32_t *of)
{
    nodes->by_ppn = coll_divider_of(1);
    nodes->count = count;
    nodes->ppn = nodes->most = 0;
    for (uint32_t node = 0; node < count; node++)
        if (nodes->most < first[node + 1] - first[node])
            nodes->most = first[node + 1] - first[node];
    nodes->first = first;
    nodes->of = of;
}

COLL_INLINE uint32_t coll_nodes_count(const coll_nodes *nodes)
{
    return nodes->count ? nodes->count : 1;
}

/* The first rank of a node; p for the node after the last. */
COLL_INLINE uint32_t coll_nodes_first(const coll_nodes *nodes, uint32_t p, uint32_t node)
{
    if (nodes->first)
        return nodes->first[node];
    return node >= coll_nodes_count(nodes) ? p : node * nodes->ppn;
}

/* Place of rank `local` of a node. */
COLL_INLINE coll_node coll_node_at(const coll_nodes *nodes, uint32_t p, uint32_t node,
                                   uint32_t local)
{
    coll_node at;
    at.index = node;
    at.first = coll_nodes_first(nodes, p, node);
    at.ranks = coll_nodes_first(nodes, p, node + 1) - at.first;
    at.local = local;
    return at;
}

/* Place of a rank. O(1), or O(log nodes) for a table without `of`. */
COLL_HOT_INLINE coll_node coll_node_of(const coll_nodes *nodes, uint32_t p, uint32_t rank)
{
    uint32_t node = 0;
    coll_node at;
    if (nodes->of) {
        node = nodes->of[rank];
    } else if (nodes->first) {
        uint32_t beyond = nodes->count; /* first[node] <= rank < first[beyond] */
        while (beyond - node > 1) {
            const uint32_t middle = node + (beyond - node) / 2;
            if (nodes->first[middle] <= rank)
                node = middle;
            else
                beyond = middle;
        }
    } else if (nodes->count) {
        node = coll_divide(rank, &nodes->by_ppn);
    }
    at = coll_node_at(nodes, p, node, 0);
    at.local = rank - at.first;
    return at;
}

/* Does every rank below p have a node, and every node a rank? O(nodes), with `of` O(p). */
COLL_INLINE bool coll_nodes_check(const coll_nodes *nodes, uint32_t p)
{
    if (nodes->count == 0)
        return !nodes->first && !nodes->of;
    if (!nodes->first)
        return nodes->ppn > 0 && nodes->ppn == nodes->by_ppn.by &&
               nodes->most == (nodes->ppn < p ? nodes->ppn : p) &&
               nodes->count == coll_divide(p - 1, &nodes->by_ppn) + 1;
    if (nodes->first[0] != 0 || nodes->first[nodes->count] != p)
        return false;
    for (uint32_t node = 0; node < nodes->count; node++) {
        if (nodes->first[node] >= nodes->first[node + 1])
            return false;
        for (uint32_t r = nodes->first[node]; nodes->of && r < nodes->first[node + 1]; r++)
            if (nodes->of[r] != node)
                return false;
    }
    return true;
}

/* Ranks of the largest node. */
COLL_INLINE uint32_t coll_nodes_largest(const coll_nodes *nodes, uint32_t p)
{
    return nodes->count ? nodes->most : p;
}

/* Ranks of the smallest node. O(nodes) for a table. */
COLL_INLINE uint32_t coll_nodes_smallest(const coll_nodes *nodes, uint32_t p)
{
    uint32_t least = p;
    if (!nodes->first)
        return nodes->count ? p - (nodes->count - 1) * nodes->ppn : p;
    for (uint32_t node = 0; node < nodes->count; node++)
        if (least > nodes->first[node + 1] - nodes->first[node])
            least = nodes->first[node + 1] - nodes->first[node];
    return least;
}

/* Leaders of a node: l of them, at most COLL_LEADERS_MOST, spread evenly over its ranks, in
 * their order. Where there are fewer ranks than l, each is several leaders.
 *
 *   l = 3:    8 ranks  0 · 1 · 2 · · ·      3 ranks  0 1 2      2 ranks  0,1 2
 */
enum { COLL_LEADERS_MOST = 4096 };

/* The local rank of leader j on a node of `ranks` ranks. */
COLL_HOT_INLINE uint32_t coll_leader(uint32_t ranks, uint32_t j, const coll_divider *l)
{
    return ranks >= l->by ? coll_divide(ranks, l) * j : coll_divide(ranks * j, l);
}

/* How many of the l leaders have a lower local rank: those from this number on, up to that of
 * the next rank, are rank `local` itself. */
COLL_INLINE uint32_t coll_leaders_below(uint32_t ranks, uint32_t local, uint32_t l)
{
    if (ranks >= l) {
        const uint32_t apart = ranks / l, below = local / apart + (local % apart != 0 ? 1 : 0);
        return below < l ? below : l;
    }
    return (local * l + ranks - 1) / ranks;
}

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
COLL_HOT_INLINE coll_fnomial coll_fnomial_of(uint32_t p, const coll_divider *f, uint32_t v)
{
    coll_fnomial at;
    if (f->by == 2) {
        const uint32_t most =
            coll_log2_ceil(p - v); /* children at distances 1, 2, 4 … < p − v */
        at.slot = v == 0 ? most : COLL_LOWEST_BIT(v);
        at.children = at.slot < most ? at.slot : most;
        at.parent = v == 0 ? 0 : v & (v - 1); /* without its lowest bit */
        at.stride = v == 0 ? p : (uint32_t)1 << at.slot;
        return at;
    }
    uint64_t stride = 1; /* 64 bits: the stride beyond the last phase may reach p·f */
    uint32_t digits = v; /* v / stride */
    at.children = 0;
    at.slot = 0;
    at.parent = v;
    while (stride < p) {
        const uint32_t above = coll_divide(digits, f), digit = digits - above * f->by;
        if (digit != 0) {
            at.slot += digit - 1;
            at.parent = v - (uint32_t)(digit * stride);
            break;
        }
        if (v + (f->by - 1) * stride < p)
            at.children += f->by - 1;
        else /* the last phase in which this rank is a parent, and not full */
            at.children += (uint32_t)((p - 1 - v) / (uint32_t)stride);
        at.slot += f->by - 1;
        stride *= f->by;
        digits = above;
    }
    at.stride = stride < p ? (uint32_t)stride : p;
    return at;
}

/* The phase in which a rank has its child number `slot`. */
typedef struct coll_fnomial_phase {
    uint32_t first;  /* the slot of the first of the f−1 children of this phase */
    uint32_t stride; /* f^phase: their distance, and the ranks of each subtree, but beyond p */
} coll_fnomial_phase;

COLL_HOT_INLINE coll_fnomial_phase coll_fnomial_phase_of(uint32_t f, uint32_t slot)
{
    coll_fnomial_phase phase;
    if (f == 2) {
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
COLL_HOT_INLINE uint32_t coll_fnomial_depth(const coll_divider *f, uint32_t v)
{
    uint32_t depth = 0;
    if (f->by == 2)
        return coll_bits(v);
    while (v != 0) {
        const uint32_t above = coll_divide(v, f);
        depth += v != above * f->by ? 1 : 0;
        v = above;
    }
    return depth;
}

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

COLL_HOT_INLINE coll_bine coll_bine_of(uint32_t p, uint32_t v)
{
    coll_bine at;
    at.number = coll_bine_number(p, v);
    {
        const coll_fnomial binomial = coll_fnomial_of(p, &coll_divider_two, at.number);
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
COLL_HOT_INLINE coll_partition coll_i_ranks_in_parts(uint32_t ranks, const coll_divider *d)
{
    const uint32_t base = coll_divide(ranks, d);
    coll_partition cut;
    cut.base = base;
    cut.extra = ranks - base * d->by;
    return cut;
}

COLL_HOT_INLINE uint32_t coll_branch_child(const coll_branch *at, uint32_t v, uint32_t i)
{
    return v + 1 + (uint32_t)coll_part_offset(at->below, i);
}

/* v's place in the k-ary tree of p ranks, k->by ≥ 2, v < p. O(log p). */
COLL_HOT_INLINE coll_branch coll_kary_of(uint32_t p, const coll_divider *k, uint32_t v)
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
COLL_HOT_INLINE coll_branch coll_chain_of(uint32_t p, const coll_divider *chains, uint32_t v)
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
COLL_INLINE coll_fold coll_fold_of(uint32_t p, const coll_divider *k)
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

/* Does rank r wait while the core works? */
COLL_HOT_INLINE bool coll_fold_idle(const coll_fold *fold, uint32_t r)
{
    return r < 2 * fold->extra && !(r & 1u);
}

/* The core number of a rank that is not idle, and back. */
COLL_HOT_INLINE uint32_t coll_fold_number(const coll_fold *fold, uint32_t r)
{
    return r < 2 * fold->extra ? r >> 1 : r - fold->extra;
}

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
COLL_HOT_INLINE coll_exchange coll_exchange_of(const coll_fold *fold, const coll_divider *k,
                                               uint32_t number, uint32_t t)
{
    coll_exchange x;
    if (k->by == 2) {
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

/* An interval of mirrors. */
typedef struct coll_mirrors {
    uint32_t first, span;
} coll_mirrors;

/* Where the mirror of a number is known to lie after rounds 0 … t−1; for t = fold->rounds it is
 * `first`. O(1) for k = 2, else O(t). */
COLL_HOT_INLINE coll_mirrors coll_mirrors_of(const coll_fold *fold, const coll_divider *k,
                                             uint32_t number, uint32_t t)
{
    coll_mirrors m;
    m.span = fold->core;
    if (k->by == 2) {
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
COLL_HOT_INLINE uint32_t coll_mirrored(const coll_fold *fold, const coll_divider *k,
                                       uint32_t mirror)
{
    if (k->by == 2)
        return coll_reverse_bits(mirror, fold->rounds);
    if (fold->rounds == 0)
        return 0;
    const uint32_t above = mirror / fold->top; /* its other digits, all of radix k */
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

/* ---- meshes --------------------------------------------------------------------------- Ranks
 * row by row on a mesh of `width` columns, a divider: rank y·width + x is in column x of row y.
 * Along a boustrophedon line, which turns back at the end of every row, neighbours on the line
 * are neighbours on the mesh.
 *
 *   width = 4, p = 12:   y = 2   8  9 10 11      the line:   8→ 9→10→11
 *                        y = 1   4  5  6  7                  4← 5← 6← 7
 *                        y = 0   0  1  2  3                  0→ 1→ 2→ 3
 */
typedef struct coll_mesh_place {
    uint32_t x, y;
} coll_mesh_place;

COLL_HOT_INLINE coll_mesh_place coll_mesh_place_of(const coll_divider *width, uint32_t rank)
{
    coll_mesh_place at;
    at.y = coll_divide(rank, width);
    at.x = rank - at.y * width->by;
    return at;
}

/* Where on the line a rank is, and which rank is there: the same function, as it only turns the
 * odd rows round. The last row must be full. */
COLL_HOT_INLINE uint32_t coll_mesh_snake(const coll_divider *width, uint32_t rank)
{
    const coll_mesh_place at = coll_mesh_place_of(width, rank);
    return at.y & 1u ? rank + (width->by - 1) - 2 * at.x : rank;
}

/* The width of the mesh of p ranks that is nearest to a square, no wider than high. O(√p): to
 * make plans, not in them. */
COLL_INLINE uint32_t coll_mesh_width(uint32_t p)
{
    uint32_t width = 1;
    for (uint32_t w = 2; w <= p / w; w++)
        if (p % w == 0)
            width = w;
    return width;
}

/* Where a rank of a mesh of p ranks is if columns and rows are counted, cyclically, from those of
 * `root` on: as a rank, 0 for the root itself. And back. */
COLL_HOT_INLINE uint32_t coll_mesh_from(const coll_divider *width, uint32_t p, uint32_t root,
                                        uint32_t rank)
{
    const coll_mesh_place at = coll_mesh_place_of(width, rank);
    const coll_mesh_place zero = coll_mesh_place_of(width, root);
    return coll_mod_sub(at.y, zero.y, coll_divide(p, width)) * width->by +
           coll_mod_sub(at.x, zero.x, width->by);
}

COLL_HOT_INLINE uint32_t coll_mesh_back(const coll_divider *width, uint32_t p, uint32_t root,
                                        uint32_t v)
{
    const coll_mesh_place at = coll_mesh_place_of(width, v);
    const coll_mesh_place zero = coll_mesh_place_of(width, root);
    return coll_mod_add(at.y, zero.y, coll_divide(p, width)) * width->by +
           coll_mod_add(at.x, zero.x, width->by);
}

/* Binary trees on a mesh: one along each row, from column 0, and one along column 0. The parent
 * of column x is x without its lowest bit, so is that of a row. Every subtree is a run of ranks,
 * the children's in order.
 *
 *   width = 4, p = 12:   0 ─ 1                    along the rows
 *                        ├ 2 ─ 3
 *                        ├ 4 ─ 5, 6 ─ 7           along column 0
 *                        └ 8 ─ 9, 10 ─ 11
 */
typedef struct coll_mesh_branch {
    uint32_t parent;   /* the rank itself at the root, 0 */
    uint32_t children; /* how many */
} coll_mesh_branch;

/* Children of i on a line of n: at distances 1, 2, 4 … */
COLL_HOT_INLINE uint32_t coll_i_mesh_children(uint32_t n, uint32_t i)
{
    const uint32_t most = coll_log2_ceil(n - i);
    return i == 0 || most < COLL_LOWEST_BIT(i) ? most : COLL_LOWEST_BIT(i);
}

/* v's place in the tree of p ranks. O(1). */
COLL_HOT_INLINE coll_mesh_branch coll_mesh_tree(const coll_divider *width, uint32_t p,
                                                uint32_t v)
{
    const coll_mesh_place at = coll_mesh_place_of(width, v);
    coll_mesh_branch branch;
    branch.children = coll_i_mesh_children(width->by, at.x);
    branch.parent = v - (at.x & (0 - at.x));
    if (at.x == 0) {
        branch.children += coll_i_mesh_children(coll_divide(p, width), at.y);
        branch.parent = v - (at.y & (0 - at.y)) * width->by;
    }
    return branch;
}

/* Child number i of v, which exists: those in its row come first. */
COLL_HOT_INLINE uint32_t coll_mesh_child(const coll_divider *width, uint32_t v, uint32_t i)
{
    const uint32_t most = coll_log2_ceil(width->by); /* a rank beyond column 0 has fewer */
    return i < most ? v + ((uint32_t)1 << i) : v + (width->by << (i - most));
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
    uint32_t level;
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

#endif /* COLL_TOPO_H */
