/* coll/algos/kit/tree_actions.h — what a rank of a tree does with a segment: on its way up, and on
 * its way down
 *
 * On the way up a rank takes and combines the sums of its children, and sends the result to its
 * parent; on the way down it receives from the parent and sends to each child. In which order a
 * rank works on its segments is in kit/tree_walk.h.
 *
 *   a rank with two children     up     recv_reduce, recv_reduce, send
 *                                down   recv, send, send
 */
#ifndef COLL_ALGOS_KIT_TREE_ACTIONS_H
#define COLL_ALGOS_KIT_TREE_ACTIONS_H

#include "../../plan/topo/bine_tree.h"
#include "tree_shape.h"

/* For every segment `up` actions, and, for the segment `lag` before that, `down` actions. They are
 * a list, of which a step yields the next COLL_STEP_MAX. */
typedef struct coll_i_walk {
    coll_i_tree_place place;
    size_t segments, lag;
    uint32_t up, down;
    uint32_t takes;  /* actions of `up` that combine the children's sums and the own operand */
    bool last_first; /* the last child is the first to be combined, and the last to be served */
    bool keeps;      /* does not send its sum on */
    bool collects;   /* the root of a non-commutative reduction: gets the result from the top */
    coll_ref input, sum; /* the own operand, and the sum */
    coll_ref part;       /* last_first: the sum of the children so far */
    coll_ref from;       /* down: where the data lies on the root */
} coll_i_walk;

/* last_first: is the order of the children other than usual? */
COLL_HOT_INLINE void coll_i_walk_set(coll_i_walk *w, const coll_plan *plan, coll_i_shape shape,
                                     coll_collective collective, bool last_first, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const bool reduces = collective != COLL_BCAST, spreads = collective != COLL_REDUCE;
    const bool rooted = !reduces || (!spreads && (of->flags & COLL_FLAG_COMMUTATIVE));
    const uint32_t top = rooted ? of->root : coll_i_tree_top(plan, shape);
    const bool is_root = rank == (reduces && spreads ? top : of->root);
    uint32_t m;
    coll_i_tree_place_set(&w->place, plan, shape, top, rank);
    w->segments = coll_segments(of->count, coll_i_tree_segment(plan, shape));
    w->up = w->down = 0;
    w->lag = 0;
    w->last_first = last_first;
    w->keeps = w->collects = false;
    w->takes = m = w->place.at.children;
    w->input = w->sum = w->part = w->from = COLL_AT(COLL_OUT, 0);
    if (reduces) { /* combine; then send the sum, or bring it to its place; then collect */
        const bool has_out = of->collective != COLL_REDUCE || is_root;
        w->input = has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0);
        w->keeps = is_root && w->place.v == 0;
        w->collects = is_root && w->place.v != 0 && !spreads;
        w->sum = has_out && !w->collects ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
        w->part = w->sum;
        if (last_first && m > 1) { /* the own operand is the last to be combined */
            w->part = w->sum == w->input ? COLL_AT(COLL_SCRATCH, 0) : w->sum;
            w->takes = m + 1;
        }
        w->up = w->takes + (!w->keeps || (m == 0 && w->input != w->sum) ? 1u : 0u) +
                (w->collects ? 1u : 0u);
    }
    if (spreads) { /* receive, then a child each; on the root copy to OUT, if need be, at the end */
        w->from = reduces ? COLL_AT(COLL_OUT, 0) : coll_input(plan);
        w->down = m + (w->place.v != 0 || w->from != COLL_AT(COLL_OUT, 0) ? 1u : 0u);
    }
    if (reduces && spreads && w->segments > 1) {
        const size_t depth = coll_i_tree_depth(plan, shape, &w->place);
        w->lag = 2 * depth < w->segments ? 2 * depth : w->segments;
    }
}

/* Elements of a staging slot: of the largest segment. */
COLL_HOT_INLINE size_t coll_i_walk_staging(const coll_plan *plan, coll_i_shape shape)
{
    return coll_segment_block(plan->problem.count, coll_i_tree_segment(plan, shape), 0).count;
}

/* Is a sum, or a part of one, in SCRATCH? */
COLL_HOT_INLINE bool coll_i_walk_sums_apart(const coll_i_walk *w)
{
    return w->part != COLL_AT(COLL_OUT, 0) || w->sum != COLL_AT(COLL_OUT, 0);
}

/* Action j of the way up. The first message is staged where the sum is to be, if the own operand lies
 * elsewhere; others in two slots, after what is summed in SCRATCH: one fills while the other is
 * combined. */
COLL_HOT_INLINE void coll_i_walk_up(const coll_plan *plan, coll_i_shape shape,
                                    const coll_i_walk *w, size_t segment, uint32_t j,
                                    coll_action *out)
{
    const uint32_t m = w->place.at.children;
    const coll_block seg =
        coll_segment_block(plan->problem.count, coll_i_tree_segment(plan, shape), segment);
    const coll_ref sum = w->sum + seg.offset, part = w->part + seg.offset;
    if (j < m) {
        const bool last_first = w->last_first && m > 1;
        const uint32_t peer =
            coll_i_tree_child(plan, shape, &w->place, last_first ? m - 1 - j : j);
        const coll_ref via =
            j == 0 && w->input != w->sum && !last_first
                ? sum
                : COLL_AT(COLL_SCRATCH, coll_i_walk_sums_apart(w) ? plan->problem.count : 0) +
                      ((segment * m + j) & 1u ? coll_i_walk_staging(plan, shape) : 0);
        if (!last_first) {
            coll_act_recv_reduce(out, peer, sum, j == 0 ? w->input + seg.offset : sum, via,
                                 seg.count);
            if (shape == COLL_I_BINE && !coll_bine_is_after(w->place.number, j))
                out->flags = COLL_LEFT;
        } else if (j == 0)
            coll_act_recv(out, peer, part, seg.count);
        else {
            coll_act_recv_reduce(out, peer, part, part, via, seg.count);
            out->flags = COLL_LEFT;
        }
    } else if (j < w->takes) {
        coll_act_reduce(out, sum, w->input + seg.offset, part, seg.count);
    } else if (j == w->takes && !w->keeps) {
        const uint32_t to =
            w->place.v == 0 ? plan->problem.root : coll_i_tree_parent(plan, shape, &w->place);
        coll_act_send(out, to, m == 0 ? w->input + seg.offset : sum, seg.count);
    } else if (j == w->takes && !w->collects) {
        coll_act_copy(out, sum, w->input + seg.offset, seg.count);
    } else {
        coll_act_recv(out, w->place.root, COLL_AT(COLL_OUT, seg.offset), seg.count);
    }
}

/* Is child 0 the first to be served? The largest subtree takes longest: it is the first one of k-ary
 * trees and of chains, and the last one of the others. */
COLL_HOT_INLINE bool coll_i_walk_serves_first(const coll_i_walk *w, coll_i_shape shape)
{
    return w->last_first || shape == COLL_I_KARY || shape == COLL_I_CHAIN;
}

/* Action j of the way down. */
COLL_HOT_INLINE void coll_i_walk_down(const coll_plan *plan, coll_i_shape shape,
                                      const coll_i_walk *w, size_t segment, uint32_t j,
                                      coll_action *out)
{
    const coll_block seg =
        coll_segment_block(plan->problem.count, coll_i_tree_segment(plan, shape), segment);
    const uint32_t m = w->place.at.children, first = w->place.v == 0 ? 0 : 1;
    const coll_ref here = COLL_AT(COLL_OUT, seg.offset);
    if (j < first)
        coll_act_recv(out, coll_i_tree_parent(plan, shape, &w->place), here, seg.count);
    else if (j < first + m)
        coll_act_send(out,
                      coll_i_tree_child(plan, shape, &w->place,
                                        coll_i_walk_serves_first(w, shape) ? j - first
                                                                           : first + m - 1 - j),
                      first ? here : w->from + seg.offset, seg.count);
    else
        coll_act_copy(out, here, w->from + seg.offset, seg.count);
}

#endif /* COLL_ALGOS_KIT_TREE_ACTIONS_H */
