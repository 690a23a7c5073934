/* coll/algos/split_binary.h — bcast: half of the vector down each of two trees, then an exchange
 *
 * Below the root hang two binary trees of the same shape. One half of the vector streams down the
 * left one, the other half down the right one, in segments. Ranks at the same place of both are
 * partners, and send each other every segment as soon as they have it. So where a single binary
 * tree has its inner ranks send the whole vector twice, they send half of it three times, and the
 * leaves, idle there, take part. If a rank is left over, the last leaf of each tree sends it that
 * tree's half.
 *
 *   p = 8             0
 *              ┌──────┴──────┐         half 0:     0 → 1 → 2, 1 → 3
 *              1 ◄─────────► 4         half 1:     0 → 4 → 5, 4 → 6
 *            ┌─┴─┐         ┌─┴─┐       exchange:   1 ↔ 4, 2 ↔ 5, 3 ↔ 6
 *            2   3         5   6       left over:  3 → 7 (half 0), 6 → 7 (half 1)
 *
 * Laws (tests/algos/split_binary.c)
 *   (1) partners are at the same depth of different trees, and partners of each other
 *   (2) every rank but the root and, for even p, the last is in one tree and has one partner
 *   (3) with n = ⌊(p−1)/2⌋ > 0 ranks in a tree: if a message takes one unit of time and every link
 *       carries one at a time, it takes S + ⌊log2 n⌋ + 1
 * Cost    S = ⌈⌈count/2⌉/segment⌉ (1 for segment 0) segments of a half, T of the other, shorter
 *         one. The root sends S + T messages, `count` elements; a rank with m children its half m
 *         + 1 times, the last leaves of an even p once more: three times at most; ⌊log2 n⌋ + 2
 *         rounds for S = 1, or p − 1 for n = 0. no scratch
 * Source  Pješivac-Grbović et al. 2007, doi:10.1007/s10586-007-0012-0 (splitted-binary)
 */
#ifndef COLL_ALGOS_SPLIT_BINARY_H
#define COLL_ALGOS_SPLIT_BINARY_H

#include "../plan/topo/tree.h"
#include "double_tree.h"

COLL_TABLE(coll_param, coll_i_split_binary_params, {
    COLL_PARAM("segment", "elements of a segment; 0: half the vector",
               0, UINT32_MAX, 0, {0, 2, 0, 0})});

/* A rank's place. Number 0 is the root; then come the left tree, the right one, and, for even p,
 * the one left over. */
typedef struct coll_i_split_binary_place {
    uint32_t ranks;  /* of each tree */
    uint32_t number; /* the rank's */
    uint32_t half;   /* of the vector, which its tree has */
    uint32_t first;  /* the first number of its tree */
    coll_branch at;  /* its place there, if it is in one */
} coll_i_split_binary_place;

COLL_HOT_INLINE coll_i_split_binary_place coll_i_split_binary_place_of(const coll_plan *plan,
                                                                       uint32_t rank)
{
    coll_i_split_binary_place place;
    place.ranks = (plan->problem.p - 1) / 2;
    place.number = coll_mod_sub(rank, plan->problem.root, plan->problem.p);
    place.half = place.number > place.ranks ? 1 : 0;
    place.first = place.half ? place.ranks + 1 : 1;
    place.at.children = 0;
    if (place.number - 1 < 2 * place.ranks) { /* wraps for the root */
        const coll_branch at =
            coll_kary_of(place.ranks, &coll_fast_divisor_two, place.number - place.first);
        place.at.parent =
            at.parent; /* by field: on bare metal, compilers call memcpy for all */
        place.at.children = at.children;
        place.at.depth = at.depth;
        place.at.below.base = at.below.base;
        place.at.below.extra = at.below.extra;
    }
    return place;
}

/* A segment is one step, but two if there are two children. The root copies to OUT at the end. */
COLL_INLINE size_t coll_i_split_binary_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const size_t segments = coll_segments(of->count - of->count / 2, plan->param[0]);
    if (rank == of->root)
        return (of->p > 1 ? segments : 0) + (coll_in_place(plan) ? 0 : 1);
    return segments << (coll_i_split_binary_place_of(plan, rank).at.children == 2 ? 1 : 0);
}

COLL_INLINE unsigned coll_i_split_binary_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const uint32_t p = plan->problem.p, root = plan->problem.root;
    const coll_i_split_binary_place place = coll_i_split_binary_place_of(plan, rank);
    const uint32_t n = place.ranks, m = place.at.children, v = place.number - place.first;
    const size_t segment = m == 2 ? s / 2 : s;
    const coll_block one = coll_i_double_segment(plan, place.half, segment);
    const coll_block other = coll_i_double_segment(plan, 1 - place.half, segment);
    const coll_ref data = place.number == 0 ? coll_input(plan) : COLL_AT(COLL_OUT, 0);
    unsigned k = 0;
    if (place.number == 0 && s + 1 == coll_i_split_binary_steps(plan, rank) &&
        !coll_in_place(plan)) {
        coll_act_copy(&out[k++], COLL_AT(COLL_OUT, 0), data, plan->problem.count);
    } else if (place.number == 0) {
        coll_act_send(&out[k++], coll_mod_add(1, root, p), data + one.offset, one.count);
        coll_act_send(&out[k++], coll_mod_add(n + 1, root, p), data + other.offset,
                      other.count);
    } else if (place.number > 2 * n) { /* left over: from the last of either tree */
        coll_act_recv(&out[k++], coll_mod_add(n, root, p), data + other.offset, other.count);
        coll_act_recv(&out[k++], coll_mod_add(2 * n, root, p), data + one.offset, one.count);
    } else {
        if (m < 2 || (s & 1) == 0) {
            const uint32_t parent = v == 0 ? 0 : place.first + place.at.parent;
            coll_act_recv(&out[k++], coll_mod_add(parent, root, p), data + one.offset,
                          one.count);
            for (uint32_t i = 0; i < m; i++)
                coll_act_send(
                    &out[k++],
                    coll_mod_add(place.first + coll_branch_child(&place.at, v, i), root, p),
                    data + one.offset, one.count);
        }
        if (m < 2 || (s & 1) == 1) {
            const uint32_t partner = coll_mod_add((place.half ? 1 : n + 1) + v, root, p);
            coll_act_send(&out[k++], partner, data + one.offset, one.count);
            if (v + 1 == n && p > 2 * n + 1)
                coll_act_send(&out[k++], coll_mod_add(p - 1, root, p), data + one.offset,
                              one.count);
            coll_act_recv(&out[k++], partner, data + other.offset, other.count);
        }
    }
    return k;
}

COLL_ALGORITHM(coll_split_binary_bcast, "split_binary", "Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 2, COLL_PARAMS(1, coll_i_split_binary_params),
    coll_i_split_binary_steps, coll_i_split_binary_step);

#endif /* COLL_ALGOS_SPLIT_BINARY_H */
