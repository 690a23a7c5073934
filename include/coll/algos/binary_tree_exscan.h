/* coll/algos/binary_tree_exscan.h — exscan on a binary tree, in segments
 *
 * As binary_tree_scan.h, but a rank's result is q ⊕ l, of what came down and the sum of its left
 * subtree, without its own operand.
 *
 *   p = 6        3           up:    0 to 1: 0      2 to 1: 2     1 to 3: 0 1 2     4 to 5: 4
 *             ┌──┴──┐        down:  3 to 5: 0-3    5 to 4: 0-3   1 to 2: 0 1
 *             1     5        results: 1 has 0, 2 has 0 1, 3 has 0-2, 4 has 0-3, 5 has 0-4
 *           ┌─┴─┐ ┌─┘
 *           0   2 4
 *
 * Laws (tests/algos/binary_tree_scan.c): (1) to (3) of binary_tree_scan.h
 * Cost    messages, elements and rounds as there. scratch in pairs of segments, a pair being one
 *         for S = 1: a rank with children, but for p = 2, 1 for what goes right, and 2 if ranks are
 *         after its subtree, else 1 if ranks are before it; where they are after it alone, d levels
 *         below the root, what goes right has for S > 1 as many segments as the least power of two
 *         > min(d, S); in place `count` besides
 * Source  Sanders, Träff 2006, doi:10.1007/11846802_15
 */
#ifndef COLL_ALGOS_BINARY_TREE_EXSCAN_H
#define COLL_ALGOS_BINARY_TREE_EXSCAN_H

#include "binary_tree_scan.h"

/* In SCRATCH: slots for what goes right, l ⊕ x or q ⊕ l ⊕ x; pairs of slots, 0 for what comes down
 * and 1 for what goes up; in place, where OUT holds x until the end, l. Where nothing comes down,
 * l ⊕ x goes up and right, so that each segment on its way has a slot. */
COLL_HOT_INLINE size_t coll_i_tree_exscan_rights(const coll_i_tree_scan *role)
{
    const size_t lag = role->follows || !role->rises ? 1 : role->lag;
    return role->segments == 1 ? 1 : (size_t)1 << coll_log2_ceil((uint32_t)lag + 1);
}

COLL_HOT_INLINE size_t coll_i_tree_exscan_slots(const coll_plan *plan,
                                                const coll_i_tree_scan *role)
{
    if (!role->inner || !(role->rises || role->follows || role->right))
        return 0;
    return coll_i_tree_exscan_rights(role) * coll_i_linear_scan_slot(plan) +
           coll_i_tree_scan_slots(plan, role,
                                  role->rises     ? 2
                                  : role->follows ? 1
                                                  : 0);
}

COLL_INLINE size_t coll_i_tree_exscan_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_tree_scan role = coll_i_tree_scan_of(plan, rank);
    return coll_i_tree_exscan_slots(plan, &role) +
           (role.inner && coll_in_place(plan) ? plan->problem.count : 0);
}

/* OUT, or in place its stand-in, takes l on the way up, and q ⊕ l on the way down. */
COLL_INLINE unsigned coll_i_tree_exscan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    const coll_i_tree_scan role = coll_i_tree_scan_of(plan, rank);
    const coll_i_tree_scan_part part = coll_i_tree_scan_part_of(&role, s);
    const coll_block seg =
        coll_segment_block(plan->problem.count, plan->param[0], part.segment);
    const coll_ref input = coll_input(plan) + seg.offset,
                   result = COLL_AT(COLL_OUT, seg.offset);
    const size_t rights = coll_i_tree_exscan_rights(&role);
    const size_t slot = coll_i_linear_scan_slot(plan);
    const coll_ref with_own = COLL_AT(COLL_SCRATCH, (part.segment & (rights - 1)) * slot);
    const coll_ref coming = coll_i_tree_scan_slot(plan, &role, 0, part.segment) + rights * slot;
    const coll_ref rising = coll_i_tree_scan_slot(plan, &role, 1, part.segment) + rights * slot;
    coll_ref before = result;
    unsigned n = 0;
    if (coll_in_place(plan))
        before = COLL_AT(COLL_SCRATCH, coll_i_tree_exscan_slots(plan, &role) + seg.offset);
    if (part.up) {
        if (role.inner)
            coll_act_recv(&out[n++], role.at.left, before, seg.count);
        if (role.inner && role.rises) {
            coll_act_reduce(&out[n++], with_own, before, input, seg.count);
            coll_act_recv_reduce(&out[n++], role.at.right, rising, with_own, rising, seg.count);
        }
        if (role.rises)
            coll_act_send(&out[n++], role.at.parent, role.inner ? rising : input, seg.count);
        return n;
    }
    if (role.follows && part.down == 0) {
        coll_act_recv(&out[n++], role.at.parent, role.inner ? coming : result, seg.count);
        if (role.inner) {
            coll_act_send(&out[n++], role.at.left, coming, seg.count);
            coll_act_reduce(&out[n++], role.right ? before : result, coming, before, seg.count);
        }
        return n;
    }
    if (role.right) {
        if (role.follows || !role.rises) /* else it is there since the way up */
            coll_act_reduce(&out[n++], with_own, before, input, seg.count);
        coll_act_send(&out[n++], role.at.right, with_own, seg.count);
    }
    if (before != result)
        coll_act_copy(&out[n++], result, before, seg.count);
    return n;
}

COLL_ALGORITHM(coll_binary_tree_exscan, "binary_tree", "Sanders, Traeff 2006",
    COLL_BIT(COLL_EXSCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_linear_scan_params),
    coll_i_tree_scan_steps, coll_i_tree_exscan_step, coll_i_tree_exscan_scratch);

#endif /* COLL_ALGOS_BINARY_TREE_EXSCAN_H */
