/* coll/algos/kit/circulant_schedule.h — the circulant graph, and the schedules of a broadcast on it
 *
 * In the paper's letters: p ranks, q = ⌈log2 p⌉, skip[q] = p, skip[k] = ⌈skip[k+1]/2⌉. In phase k
 * of a pass rank v, renumbered so that the root is 0, sends a block to v + skip[k], and receives
 * one from v − skip[k]. The receive schedule says which block, and the send schedule is that of the
 * receiver. Block q + b is block b of this pass, and b < q the same of the pass before.
 *
 *   p = 5, q = 3, skip = 1 2 3: the block that a rank gets, and that it sends, in phase k of
 *   pass 0; those of the pass before are negative
 *       rank        1  2  3  4           0  1  2  3  4
 *       k = 0       0 -3 -2 -1           0 -3 -2 -1 -3
 *       k = 1      -1  1 -3 -2           1 -3 -2 -1 -1
 *       k = 2      -2 -1  2  0           2  0 -2 -2 -1
 *
 * A rank is a sum of skips, each the largest that fits. The index of the last one is its base: it
 * gets that block in the pass in which the root sends it, and all others in the next one. Ranks
 * with the same leading skips are a range. Within it, what a rank sends in phase k follows from
 * these; where its receiver is beyond, the receiver's schedule is made: a search for ranks that
 * have what it lacks. Both take O(log p), and the latter is seldom needed.
 *
 * Laws (tests/algos/circulant_bcast.c): (1) to (3) of circulant_bcast.h
 * Source  Träff 2024, arXiv:2407.18004
 */
#ifndef COLL_ALGOS_KIT_CIRCULANT_SCHEDULE_H
#define COLL_ALGOS_KIT_CIRCULANT_SCHEDULE_H

#include "../../plan.h"

/* p halved k ≤ 32 times, rounding up. */
COLL_HOT_INLINE uint32_t coll_i_circulant_skip(uint32_t p, uint32_t k)
{
    return (uint32_t)((uint64_t)(p - 1) >> k) + 1;
}

typedef struct coll_i_circulant_graph {
    uint32_t p, q;
} coll_i_circulant_graph;

COLL_HOT_INLINE coll_i_circulant_graph coll_i_circulant_graph_of(uint32_t p)
{
    coll_i_circulant_graph graph;
    graph.p = p;
    graph.q = coll_log2_ceil(p);
    return graph;
}

/* skip[k], k ≤ q. */
COLL_HOT_INLINE uint32_t coll_i_circulant_distance(coll_i_circulant_graph graph, uint32_t k)
{
    return coll_i_circulant_skip(graph.p, graph.q - k);
}

/* The least index of the skips whose sum is v > 0, each the largest that is not too large. */
COLL_HOT_INLINE uint32_t coll_i_circulant_base_block(coll_i_circulant_graph graph, uint32_t v)
{
    uint32_t k = graph.q;
    while (v > 0) {
        const uint32_t skip = coll_i_circulant_distance(graph, --k);
        v -= v < skip ? 0 : skip;
    }
    return k;
}

/* A rank, without its leading skips: those of index above k. */
typedef struct coll_i_circulant_range {
    uint32_t rest;  /* what is left of it: its place among … */
    uint32_t ranks; /* … so many with the same leading skips */
    uint32_t last;  /* the index of the last of these; q: there are none */
} coll_i_circulant_range;

COLL_HOT_INLINE coll_i_circulant_range coll_i_circulant_range_of(coll_i_circulant_graph graph,
                                                                 uint32_t v, uint32_t k)
{
    coll_i_circulant_range range;
    range.rest = v;
    range.ranks = graph.p;
    range.last = graph.q;
    for (uint32_t i = graph.q; i-- > k + 1;) {
        const uint32_t skip = coll_i_circulant_distance(graph, i);
        if (range.rest >= skip) {
            range.rest -= skip;
            range.ranks -= skip;
            range.last = i;
        } else if (range.ranks > skip) {
            range.ranks = skip;
        }
    }
    return range;
}

/* From here on, a pass's own block b has the number q + b, and b < q is that of the pass before. */

/* The highest bit of a set below bit `end` ≤ 32; 32 if there is none. */
COLL_HOT_INLINE uint32_t coll_i_circulant_below(uint32_t set, uint32_t end)
{
    set &= (uint32_t)(((uint64_t)1 << end) - 1);
    return set == 0 ? 32 : COLL_HIGHEST_BIT(set);
}

/* What v > 0 gets in phase k, by search. In each phase, from 0 on, it gets the base block of a rank
 * that is at least skip[k] to the left of v, and no further than skip[k+1] if there is one so near;
 * the nearest whose base block v still lacks, and nearer to rank 0 than in the phase before. Ranks
 * are sums of ever smaller skips, and are searched depth first: those from 0 to v, then those to
 * the left of 0, from which v is p + v away. 0 itself, between them, stands for v's own base. */
COLL_INLINE uint32_t coll_i_circulant_search(coll_i_circulant_graph graph, uint32_t v,
                                             uint32_t k)
{
    const uint32_t q = graph.q, base = coll_i_circulant_base_block(graph, v);
    uint32_t lacks = (uint32_t)(((uint64_t)1 << q) - 1) & ~((uint32_t)1 << base);
    uint32_t sum = 0, e = coll_i_circulant_below(lacks, q); /* the skips of a rank; the next */
    uint32_t skip = 1, next = coll_i_circulant_distance(graph, 1), phase = 0;
    uint64_t left = v, nearest = 0; /* from that rank to v; from the one of the phase before */
    for (;;) {
        bool up = e == 32;
        if (!up) {
            const uint32_t step = coll_i_circulant_distance(graph, e);
            if (left < (uint64_t)step + skip || left - step <= nearest) {
                e = coll_i_circulant_below(lacks, e);
                continue;
            }
            if (left - step >= next) {
                left -= step;
                sum |= (uint32_t)1 << e;
                e = coll_i_circulant_below(lacks, e);
                continue;
            }
            up = left < next;
        }
        while (up && sum != 0) {
            e = COLL_LOWEST_BIT(sum);
            sum &= sum - 1;
            left += coll_i_circulant_distance(graph, e);
            up = left < next;
        }
        if (up) { /* rank 0 */
            if (phase == k)
                return q + base;
            nearest = v;
            left = (uint64_t)graph.p + v;
            e = q;
        } else {
            if (phase == k)
                return e;
            nearest = left - coll_i_circulant_distance(graph, e);
            lacks &= ~((uint32_t)1 << e);
        }
        e = coll_i_circulant_below(lacks, e);
        skip = next;
        next = coll_i_circulant_distance(graph, ++phase + 1);
    }
}

/* What v sends in phase k: block k if it has taken skip[k] itself; else the base block of its
 * leading skips, which those that take skip[k] next are to get. At the end of a range this may be
 * otherwise. */
COLL_INLINE uint32_t coll_i_circulant_send_block(coll_i_circulant_graph graph, uint32_t v,
                                                 uint32_t k)
{
    const coll_i_circulant_range range = coll_i_circulant_range_of(graph, v, k);
    const uint32_t skip = coll_i_circulant_distance(graph, k);
    if (v == 0)
        return graph.q + k;
    if (k > 0) {
        const uint32_t before = coll_i_circulant_distance(graph, k - 1);
        const bool sure = range.rest < skip
                              ? range.ranks - range.rest > skip || range.ranks < before ||
                                    (k == 1 && range.rest == 0)
                              : k == 1 || range.rest > skip || range.ranks - skip < before;
        if (!sure)
            return coll_i_circulant_search(graph, coll_mod_add(v, skip, graph.p), k);
    }
    if (range.rest >= skip)
        return k;
    return range.last < graph.q ? range.last : graph.q + coll_i_circulant_base_block(graph, v);
}

/* What v > 0 gets in phase k. If it takes skip[k], from a rank with the same leading skips. */
COLL_INLINE uint32_t coll_i_circulant_recv_block(coll_i_circulant_graph graph, uint32_t v,
                                                 uint32_t k)
{
    const coll_i_circulant_range range = coll_i_circulant_range_of(graph, v, k);
    const uint32_t skip = coll_i_circulant_distance(graph, k);
    if (range.rest < skip)
        return coll_i_circulant_send_block(graph, coll_mod_sub(v, skip, graph.p), k);
    return range.last < graph.q ? range.last : graph.q + coll_i_circulant_base_block(graph, v);
}

/* ---- passes ------------------------------------------------------------------------------ */

/* Of coll_fast_divisor_of(by), by = 1 … 32: q is not known to the plan. */
#define COLL_I_MULTIPLIER(by, bits)                                                            \
    (uint32_t)(((((uint64_t)1 << (bits)) - (by)) << 32) / (by)) + 1
COLL_TABLE(uint32_t, coll_i_circulant_multipliers, {
    COLL_I_MULTIPLIER(1, 0),  COLL_I_MULTIPLIER(2, 1),  COLL_I_MULTIPLIER(3, 2),
    COLL_I_MULTIPLIER(4, 2),  COLL_I_MULTIPLIER(5, 3),  COLL_I_MULTIPLIER(6, 3),
    COLL_I_MULTIPLIER(7, 3),  COLL_I_MULTIPLIER(8, 3),  COLL_I_MULTIPLIER(9, 4),
    COLL_I_MULTIPLIER(10, 4), COLL_I_MULTIPLIER(11, 4), COLL_I_MULTIPLIER(12, 4),
    COLL_I_MULTIPLIER(13, 4), COLL_I_MULTIPLIER(14, 4), COLL_I_MULTIPLIER(15, 4),
    COLL_I_MULTIPLIER(16, 4), COLL_I_MULTIPLIER(17, 5), COLL_I_MULTIPLIER(18, 5),
    COLL_I_MULTIPLIER(19, 5), COLL_I_MULTIPLIER(20, 5), COLL_I_MULTIPLIER(21, 5),
    COLL_I_MULTIPLIER(22, 5), COLL_I_MULTIPLIER(23, 5), COLL_I_MULTIPLIER(24, 5),
    COLL_I_MULTIPLIER(25, 5), COLL_I_MULTIPLIER(26, 5), COLL_I_MULTIPLIER(27, 5),
    COLL_I_MULTIPLIER(28, 5), COLL_I_MULTIPLIER(29, 5), COLL_I_MULTIPLIER(30, 5),
    COLL_I_MULTIPLIER(31, 5), COLL_I_MULTIPLIER(32, 5)});
#undef COLL_I_MULTIPLIER

COLL_HOT_INLINE coll_fast_divisor coll_i_circulant_divisor(uint32_t q)
{
    const uint32_t bits = coll_log2_ceil(q);
    coll_fast_divisor d;
    d.by = q;
    d.multiplier = coll_i_circulant_multipliers[q - 1];
    d.shift1 = bits < 1 ? bits : 1;
    d.shift2 = bits < 1 ? 0 : bits - 1;
    return d;
}

#endif /* COLL_ALGOS_KIT_CIRCULANT_SCHEDULE_H */
