/* coll/algos/binary_tree_scan.h — scan on a binary tree, in segments
 *
 * The ranks stand in the tree in order: left subtree, rank, right subtree. Sums of subtrees come
 * up, each of consecutive ranks; then the sum of all ranks to the left of a subtree comes down to
 * it. A rank of which l is the sum of its left subtree, x its operand and q what came down passes q
 * on to the left and q ⊕ l ⊕ x to the right, which is its own result, too (binary_tree_exscan.h: q
 * ⊕ l). Segments follow each other up and down, and both ways at once: so a long vector costs
 * little more than three times its transfer, and a short one twice the height of the tree.
 *
 *   p = 6        3           up:    0 to 1: 0      2 to 1: 2     1 to 3: 0 1 2     4 to 5: 4
 *             ┌──┴──┐        down:  3 to 5: 0-3    5 to 4: 0-3   1 to 2: 0 1
 *             1     5
 *           ┌─┴─┐ ┌─┘        Along the sides of the tree nothing is to be known: nobody needs a
 *           0   2 4          sum that ends with rank p−1, and nothing is left of rank 0.
 *
 * A rank that is d levels below the root's does the way up of segment i + d before the way down of
 * segment i, which has not come back earlier.
 *
 * Laws (tests/algos/binary_tree_scan.c; those of the tree in tests/plan/topo.c)
 *   (1) a segment goes up each edge of the tree once, but from a subtree with rank p−1 never;
 *       and down each edge once, but to a subtree with rank 0 never
 *   (2) what goes up is the sum of the subtree, in rank order
 *   (3) what comes down is the sum of all ranks before the subtree, in rank order
 * Cost    S = ⌈count/segment⌉ (1 for segment 0): a rank sends at most 3S messages, 3·`count`
 *         elements; all of them, fewer than 2(p−1)·S messages; ≤ 2⌊log2 p⌋ rounds for S = 1.
 *         scratch in pairs of segments, a pair being one for S = 1: a leaf 1 in place if ranks are
 *         before it; a rank with children 2 if ranks are before its subtree, else 1 in place or if
 *         ranks are after it
 * Source  Sanders, Träff 2006, doi:10.1007/11846802_15
 */
#ifndef COLL_ALGOS_BINARY_TREE_SCAN_H
#define COLL_ALGOS_BINARY_TREE_SCAN_H

#include "../plan/topo/tree.h"
#include "linear_scan.h"

/* What a rank does: for every segment `up` steps and `down` steps. */
typedef struct coll_i_tree_scan {
    coll_inorder at;
    bool inner;        /* it has a left child … */
    bool right;        /* … and a right one */
    bool rises;        /* its subtree's sum is needed */
    bool follows;      /* there are ranks before its subtree */
    uint32_t up, down; /* steps for each segment: up at most one, down at most two */
    size_t segments;
    size_t lag; /* segments that it does the way up of before the first way down */
} coll_i_tree_scan;

COLL_HOT_INLINE coll_i_tree_scan coll_i_tree_scan_of(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    const bool in_place = coll_in_place(plan);
    coll_i_tree_scan role;
    role.at = coll_inorder_of(p, rank);
    role.inner = role.at.level > 0;
    role.right = rank < role.at.last;
    role.rises = role.at.last + 1 < p;
    role.follows = role.at.first > 0;
    role.up = role.inner || role.rises ? 1 : 0;
    if (plan->problem.collective == COLL_SCAN)
        role.down = role.follows || role.right || (!role.inner && !in_place) ? 1 : 0;
    else
        role.down = (role.follows ? 1u : 0u) +
                    (role.right || (role.inner && !role.follows && in_place) ? 1u : 0u);
    role.segments = coll_segments(plan->problem.count, plan->param[0]);
    role.lag = role.up * role.down == 0 ? 0 : COLL_HIGHEST_BIT(p) - role.at.level;
    role.lag = role.lag < role.segments ? role.lag : role.segments;
    return role;
}

COLL_INLINE size_t coll_i_tree_scan_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_tree_scan role = coll_i_tree_scan_of(plan, rank);
    return (role.up + role.down) * role.segments;
}

/* What a step is for. */
typedef struct coll_i_tree_scan_part {
    size_t segment;
    bool up;
    uint32_t down; /* which step of the way down */
} coll_i_tree_scan_part;

/* x / by, for by = 1, 2, 3. */
COLL_HOT_INLINE size_t coll_i_tree_scan_divide(size_t x, uint32_t by)
{
    return by == 3 ? x / 3 : x >> (by - 1);
}

/* `lag` steps up, then up and down in turn, then down what is left. */
COLL_HOT_INLINE coll_i_tree_scan_part coll_i_tree_scan_part_of(const coll_i_tree_scan *role,
                                                               size_t s)
{
    const size_t turns = role->segments - role->lag;
    const uint32_t per = role->up + role->down;
    coll_i_tree_scan_part part;
    part.up = s < role->lag;
    part.segment = s;
    part.down = 0;
    if (part.up)
        return part;
    s -= role->lag;
    if (s < turns * per) {
        part.segment = coll_i_tree_scan_divide(s, per);
        part.down = (uint32_t)(s - part.segment * per);
        part.up = part.down < role->up;
        part.segment += part.up ? role->lag : 0;
        part.down -= role->up; /* wraps on the way up */
        return part;
    }
    s -= turns * per;
    part.segment = coll_i_tree_scan_divide(s, role->down);
    part.down = (uint32_t)(s - part.segment * role->down);
    part.segment += turns;
    return part;
}

/* A segment's place in one of the pairs of slots in SCRATCH, which segments use in turn; a single
 * segment has one slot. */
COLL_HOT_INLINE coll_ref coll_i_tree_scan_slot(const coll_plan *plan,
                                               const coll_i_tree_scan *role, uint32_t pair,
                                               size_t segment)
{
    return COLL_AT(COLL_SCRATCH, (role->segments == 1 ? pair : 2 * pair + (segment & 1)) *
                                     coll_i_linear_scan_slot(plan));
}

COLL_INLINE size_t coll_i_tree_scan_slots(const coll_plan *plan, const coll_i_tree_scan *role,
                                          uint32_t pairs)
{
    return (role->segments == 1 ? 1 : 2) * pairs * coll_i_linear_scan_slot(plan);
}

/* Pairs of slots: 0 for what comes up, 1 for what comes down. A leaf has only the latter. */
COLL_INLINE size_t coll_i_tree_scan_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_tree_scan role = coll_i_tree_scan_of(plan, rank);
    const bool in_place = coll_in_place(plan);
    if (!role.inner)
        return coll_i_tree_scan_slots(plan, &role, role.follows && in_place ? 1 : 0);
    return coll_i_tree_scan_slots(plan, &role,
                                  role.follows             ? 2
                                  : role.rises || in_place ? 1
                                                           : 0);
}

/* OUT takes l ⊕ x on the way up, and q ⊕ l ⊕ x on the way down. */
COLL_INLINE unsigned coll_i_tree_scan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                           coll_action *out)
{
    const coll_i_tree_scan role = coll_i_tree_scan_of(plan, rank);
    const coll_i_tree_scan_part part = coll_i_tree_scan_part_of(&role, s);
    const coll_block seg =
        coll_segment_block(plan->problem.count, plan->param[0], part.segment);
    const coll_ref input = coll_input(plan) + seg.offset, sum = COLL_AT(COLL_OUT, seg.offset);
    const coll_ref rising = coll_i_tree_scan_slot(plan, &role, 0, part.segment);
    const coll_ref coming =
        coll_i_tree_scan_slot(plan, &role, role.inner ? 1 : 0, part.segment);
    unsigned n = 0;
    if (part.up) {
        if (role.inner) {
            coll_act_recv_reduce(&out[n], role.at.left, sum, input,
                                 coll_in_place(plan) ? rising : sum, seg.count);
            out[n++].flags = COLL_LEFT;
        }
        if (role.inner && role.rises)
            coll_act_recv_reduce(&out[n++], role.at.right, rising, sum, rising, seg.count);
        if (role.rises)
            coll_act_send(&out[n++], role.at.parent, role.inner ? rising : input, seg.count);
        return n;
    }
    if (role.follows && role.inner) {
        coll_act_recv(&out[n++], role.at.parent, coming, seg.count);
        coll_act_send(&out[n++], role.at.left, coming, seg.count);
        coll_act_reduce(&out[n++], sum, coming, sum, seg.count);
    } else if (role.follows) {
        coll_act_recv_reduce(&out[n], role.at.parent, sum, input,
                             coll_in_place(plan) ? coming : sum, seg.count);
        out[n++].flags = COLL_LEFT;
    } else if (!role.inner) { /* rank 0 */
        coll_act_copy(&out[n++], sum, input, seg.count);
    }
    if (role.right)
        coll_act_send(&out[n++], role.at.right, sum, seg.count);
    return n;
}

COLL_ALGORITHM(coll_binary_tree_scan, "binary_tree", "Sanders, Traeff 2006",
    COLL_BIT(COLL_SCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_linear_scan_params),
    coll_i_tree_scan_steps, coll_i_tree_scan_step, coll_i_tree_scan_scratch);

#endif /* COLL_ALGOS_BINARY_TREE_SCAN_H */
