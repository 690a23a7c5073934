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
    /* First, as Thumb has short addresses for the first bytes of a structure. */
    bool last_first; /* the last of several children is combined first, and served last */
    bool keeps;      /* does not send its sum on */
    uint32_t up, down;
    uint32_t takes; /* actions of `up` that combine the children's sums and the own operand */
    size_t segments, lag;
    size_t longest;      /* elements of a segment, but perhaps the last */
    coll_ref input, sum; /* the own operand; the sum, or what goes down */
    coll_ref part;       /* last_first: the sum of the children so far */
    coll_i_tree_place place;
} coll_i_walk;

/* last_first: is the order of the children other than usual? */
COLL_HOT_INLINE void coll_i_walk_set(coll_i_walk *w, const coll_plan *plan, coll_i_shape shape,
                                     coll_collective collective, bool last_first, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const bool reduces = collective != COLL_BCAST, spreads = collective != COLL_REDUCE;
    const bool rooted = !reduces || (!spreads && (of->flags & COLL_FLAG_COMMUTATIVE));
    /* 0 or 1, and sums of these below: with conditions instead, gcc makes 100 bytes more of it. */
    uint32_t is_root, has_out;
    uint32_t
        collects; /* the root of a non-commutative reduction: gets the result from the top */
    uint32_t m;
    coll_i_tree_place_set(&w->place, plan, shape,
                          rooted ? of->root : coll_i_tree_top(plan, shape), rank);
    m = w->place.at.children;
    is_root = (spreads ? w->place.v : rank - of->root) == 0;
    has_out = is_root | (of->collective != COLL_REDUCE);
    collects = is_root & (w->place.v != 0);
    w->segments = 1;
    w->longest = coll_i_tree_segment(plan, shape);
    if (w->longest == 0 || w->longest >= of->count)
        w->longest = of->count;
    else
        w->segments += coll_i_quotient(of->count - 1, w->longest);
    w->last_first = last_first & (m > 1);
    w->takes = m + w->last_first;
    w->keeps = is_root != collects;
    w->input = COLL_AT(COLL_IN + (has_out & of->flags & COLL_FLAG_IN_PLACE), 0);
    w->sum = COLL_AT(COLL_SCRATCH - (has_out - collects), 0);
    w->part = w->sum;
    w->up = w->down = 0;
    w->lag = 0;
    if (!reduces) {
        if (is_root)
            w->sum = w->input;
    } else { /* combine; then send the sum, or bring it to its place; then collect */
        if (w->last_first && w->sum == w->input)
            w->part = COLL_AT(COLL_SCRATCH, 0);
        w->up = w->takes + 1 + collects - (w->keeps & (m != 0 || w->input == w->sum));
    }
    if (spreads) { /* receive, then a child each; on the root copy to OUT, if need be, at the end */
        w->down = m + (!is_root || w->sum != COLL_AT(COLL_OUT, 0));
        if (reduces && w->segments > 1) {
            const size_t depth = coll_i_tree_depth(plan, shape, &w->place);
            w->lag = 2 * depth < w->segments ? 2 * depth : w->segments;
        }
    }
}

/* Is a sum, or a part of one, in SCRATCH? */
COLL_HOT_INLINE bool coll_i_walk_sums_apart(const coll_i_walk *w)
{
    return w->part != COLL_AT(COLL_OUT, 0) || w->sum != COLL_AT(COLL_OUT, 0);
}

/* Action j of the way of segment number `segment`, up or down; *out has its elements, and nothing else. */
typedef struct coll_i_walk_spot {
    size_t segment, offset; /* where the segment begins */
    uint32_t j;
} coll_i_walk_spot;

/* Of the way up. The first message is staged where the sum is to be, if the own operand lies elsewhere;
 * others in two slots, after what is summed in SCRATCH: one fills while the other is combined. */
COLL_I_HOT_APART void coll_i_walk_up(const coll_plan *plan, coll_i_shape shape,
                                     const coll_i_walk *w, const coll_i_walk_spot *spot,
                                     coll_action *out)
{
    const uint32_t m = w->place.at.children, j = spot->j;
    const coll_ref sum = w->sum + spot->offset, part = w->part + spot->offset,
                   input = w->input + spot->offset;
    if (j < m) {
        out->kind = COLL_DO_RECV_REDUCE;
        out->peer = coll_i_tree_child(plan, shape, &w->place, w->last_first ? m - 1 - j : j);
        out->dst = part; /* the sum, but with last_first */
        if (w->last_first && j == 0) {
            out->kind = COLL_DO_RECV;
            return;
        }
        out->src = j == 0 ? input : part;
        out->via =
            j == 0 && w->input != w->sum
                ? sum
                : COLL_AT(COLL_SCRATCH, coll_i_walk_sums_apart(w) ? plan->problem.count : 0) +
                      ((spot->segment * m + j) & 1u ? w->longest : 0);
        if (w->last_first || (shape == COLL_I_BINE && !coll_bine_is_after(w->place.number, j)))
            out->flags = COLL_LEFT;
    } else if (j < w->takes) {
        out->kind = COLL_DO_REDUCE;
        out->inputs = 1;
        out->dst = sum;
        out->src = input;
        out->via = part;
    } else if (w->keeps) {
        out->kind = COLL_DO_COPY;
        out->dst = sum;
        out->src = input;
    } else if (j == w->takes) {
        out->peer =
            w->place.v == 0 ? plan->problem.root : coll_i_tree_parent(plan, shape, &w->place);
        out->src = m == 0 ? input : sum;
    } else {
        out->kind = COLL_DO_RECV;
        out->peer = w->place.root;
        out->dst = COLL_AT(COLL_OUT, spot->offset);
    }
}

/* Is child 0 the first to be served? The largest subtree takes longest: it is the first one of k-ary
 * trees and of chains, and the last one of the others. */
COLL_HOT_INLINE bool coll_i_walk_serves_first(const coll_i_walk *w, coll_i_shape shape)
{
    return w->last_first || shape == COLL_I_KARY || shape == COLL_I_CHAIN;
}

/* Of the way down. */
COLL_I_HOT_APART void coll_i_walk_down(const coll_plan *plan, coll_i_shape shape,
                                       const coll_i_walk *w, const coll_i_walk_spot *spot,
                                       coll_action *out)
{
    const uint32_t m = w->place.at.children, first = w->place.v == 0 ? 0 : 1,
                   child = spot->j - first; /* wraps for the parent */
    if (spot->j < first) {
        out->kind = COLL_DO_RECV;
        out->peer = coll_i_tree_parent(plan, shape, &w->place);
        out->dst = COLL_AT(COLL_OUT, spot->offset);
        return;
    }
    out->src = w->sum + spot->offset;
    if (child < m) {
        out->peer = coll_i_tree_child(
            plan, shape, &w->place, coll_i_walk_serves_first(w, shape) ? child : m - 1 - child);
    } else {
        out->kind = COLL_DO_COPY;
        out->dst = COLL_AT(COLL_OUT, spot->offset);
    }
}

#endif /* COLL_ALGOS_KIT_TREE_ACTIONS_H */
