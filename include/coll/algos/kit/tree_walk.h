/* coll/algos/kit/tree_walk.h — bcast, reduce, allreduce, barrier on trees: what the shapes have
 * in common
 *
 * An algorithm on a tree is a shape (plan/topo.h) and this walk. Broadcast goes down the tree,
 * reduction comes up. Ranks are renumbered cyclically, so that the root is 0, and every subtree is
 * a run of numbers: what a parent has summed up is always of consecutive ranks. The run begins
 * with its root; in a Bine tree the root is inside. A reduction whose operator is not commutative
 * climbs in true rank order instead, to the top: rank 0, or, of a Bine tree, the one inside. That
 * forwards the result to the root. Vectors may be cut into segments that follow each other
 * through the tree.
 *
 * In an allreduce segments come down while later ones still go up. On a rank of depth d the way
 * down of segment i follows the way up of segment i + 2d: d messages to the root and d back after
 * it was sent, that is about when it comes.
 *
 *   a rank of depth 1, 5 segments:   u0 u1 u2 d0 u3 d1 u4 d2 d3 d4       u: up, d: down
 *
 * Laws (tests/algos/tree.c)
 *   (1) a rank talks to its parent and its children only: with each once a segment and way, up
 *       after it heard from all children, down after it heard from its parent
 *   (2) before a rank of depth d takes segment i of an allreduce's result, it has sent min(S, i +
 *       2d + 1) segments up
 *   (3) if a message takes one unit of time and every link carries one at a time, bcast and reduce
 *       take height + S − 1, and allreduce takes 2·height + S − 1
 *   (4) an allreduce needs a window of 3 where sends wait for receivers, however many children
 *       there are: with two segments waiting to go up, a rank can already take what its parent
 *       waits to send; nothing else needs more than 1
 * Cost    S = ⌈count/segment⌉ (1 for segment 0), a rank has m children. bcast: it sends m·S
 *         messages, m·count elements; `height` rounds. reduce: S messages, `count` elements, none
 *         at the root; `height` rounds; an operator that is not commutative, to another root than
 *         the top: all ranks send, one round more (for S = 1). allreduce: both, 2·height rounds
 *         (for S = 1). barrier: m + 1 messages, m at the root, 2·height rounds. scratch, where
 *         there are children: two segments (one if m·S = 1), and `count` where the sum is not in
 *         OUT
 * Source  Moody 2003, §3.2.3 and Appendix A; the order of an allreduce: Littlefield 1992 (snake)
 */
#ifndef COLL_ALGOS_KIT_TREE_WALK_H
#define COLL_ALGOS_KIT_TREE_WALK_H

#include "tree_actions.h"

/* ---- the list of actions ----------------------------------------------------------------- */

COLL_HOT_INLINE size_t coll_i_walk_actions(const coll_i_walk *w)
{
    return (w->up + (size_t)w->down) * w->segments;
}

/* A place in the list: action j of turn t, in which segment t goes up and segment t − lag goes
 * down, as far as there are such segments. */
typedef struct coll_i_walk_turn {
    size_t t;
    uint32_t j;
} coll_i_walk_turn;

/* How many actions of turn t go up, and how many down. */
COLL_HOT_INLINE uint32_t coll_i_walk_ups(const coll_i_walk *w, size_t t)
{
    return t < w->segments ? w->up : 0;
}

COLL_HOT_INLINE uint32_t coll_i_walk_downs(const coll_i_walk *w, size_t t)
{
    return t - w->lag < w->segments ? w->down : 0; /* wraps where t < lag */
}

/* The place of action i. Up to three runs of turns: only up; up and down; only down. */
COLL_HOT_INLINE coll_i_walk_turn coll_i_walk_turn_find(const coll_i_walk *w, size_t i)
{
    uint32_t each = w->up + w->down;
    coll_i_walk_turn turn;
    turn.t = 0;
    if (w->lag > 0) {
        const size_t up = w->lag * w->up, both = (w->segments - w->lag) * each;
        if (i < up) {
            each = w->up;
        } else {
            i -= up;
            turn.t = w->lag;
            if (i >= both) {
                i -= both;
                turn.t = w->segments;
                each = w->down;
            }
        }
    }
    if (i >= each) {
        const size_t passed = coll_i_quotient(i, each);
        i -= passed * each;
        turn.t += passed;
    }
    turn.j = (uint32_t)i;
    return turn;
}

/* Has the list, of the rank with the most children too, an end that can be counted? */
COLL_HOT_INLINE coll_status coll_i_walk_check(const coll_plan *plan, coll_i_shape shape)
{
    const size_t segments =
        coll_segments(plan->problem.count, coll_i_tree_segment(plan, shape));
    coll_i_tree_place top;
    size_t actions;
    if (!COLL_CHECKS)
        return COLL_OK;
    coll_i_tree_place_set(&top, plan, shape, 0, 0);
    return top.at.children < UINT32_MAX / 2 - COLL_STEP_MAX &&
                   coll_multiply(2 * ((size_t)top.at.children + COLL_STEP_MAX), segments,
                                 &actions)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

COLL_HOT_INLINE size_t coll_i_walk_steps(const coll_plan *plan, coll_i_shape shape,
                                         coll_collective collective, bool last_first,
                                         uint32_t rank)
{
    coll_i_walk w;
    coll_i_walk_set(&w, plan, shape, collective, last_first, rank);
    return (coll_i_walk_actions(&w) + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_HOT_INLINE unsigned coll_i_walk_step(const coll_plan *plan, coll_i_shape shape,
                                          coll_collective collective, bool last_first,
                                          uint32_t rank, size_t s, coll_action *out)
{
    coll_i_walk w;
    coll_i_walk_set(&w, plan, shape, collective, last_first, rank);
    const size_t left = coll_i_walk_actions(&w) - s * COLL_STEP_MAX;
    const unsigned n = left < COLL_STEP_MAX ? (unsigned)left : COLL_STEP_MAX;
    coll_i_walk_turn turn = coll_i_walk_turn_find(&w, s * COLL_STEP_MAX);
    for (unsigned i = 0; i < n; i++, out++) {
        const uint32_t up = coll_i_walk_ups(&w, turn.t);
        coll_i_walk_spot spot;
        size_t rest;
        spot.segment = turn.j < up ? turn.t : turn.t - w.lag;
        spot.j = turn.j < up ? turn.j : turn.j - up;
        spot.offset = w.longest * spot.segment;
        rest = plan->problem.count - spot.offset;
        coll_i_act(out, COLL_DO_SEND, 0, rest < w.longest ? rest : w.longest);
        if (turn.j < up)
            coll_i_walk_up(plan, shape, &w, &spot, out);
        else
            coll_i_walk_down(plan, shape, &w, &spot, out);
        if (++turn.j == up + coll_i_walk_downs(&w, turn.t)) {
            turn.j = 0;
            turn.t++;
        }
    }
    return n;
}

/* At most the vector and two segments, on a rank that combines. */
COLL_HOT_INLINE size_t coll_i_walk_scratch(const coll_plan *plan, coll_i_shape shape,
                                           coll_collective collective, bool last_first,
                                           uint32_t rank)
{
    coll_i_walk w;
    coll_i_walk_set(&w, plan, shape, collective, last_first, rank);
    const uint32_t m = w.place.at.children;
    if (w.up == 0 || m == 0)
        return 0;
    return (coll_i_walk_sums_apart(&w) ? plan->problem.count : 0) +
           (m == 1 && w.segments == 1 ? 1 : 2) * w.longest;
}

/* ---- barrier: notifications up, then down ------------------------------------------------ */

COLL_HOT_INLINE uint32_t coll_i_tree_barrier_actions(const coll_i_tree_place *place)
{
    return 2 * place->at.children + (place->v == 0 ? 0 : 2);
}

COLL_HOT_INLINE size_t coll_i_tree_barrier_steps(const coll_plan *plan, coll_i_shape shape,
                                                 uint32_t rank)
{
    coll_i_tree_place place;
    coll_i_tree_place_set(&place, plan, shape, 0, rank);
    return (coll_i_tree_barrier_actions(&place) + (size_t)COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

/* Await every child, notify the parent, await it, notify every child. Token 0 is the rank's own
 * arrival and its parent's release; token 1 + i is that of child i. */
COLL_HOT_INLINE unsigned coll_i_tree_barrier_step(const coll_plan *plan, coll_i_shape shape,
                                                  uint32_t rank, size_t s, coll_action *out)
{
    coll_i_tree_place place;
    coll_i_tree_place_set(&place, plan, shape, 0, rank);
    const uint32_t m = place.at.children, down = m + (place.v == 0 ? 0 : 2);
    const uint32_t actions = coll_i_tree_barrier_actions(&place);
    const coll_ref token = COLL_AT(COLL_SCRATCH, 0);
    unsigned n = 0;
    for (uint32_t i = (uint32_t)s * COLL_STEP_MAX; n < COLL_STEP_MAX && i < actions; n++, i++) {
        if (i < m)
            coll_act_await(&out[n], coll_i_tree_child(plan, shape, &place, i), token + 1 + i,
                           1);
        else if (i >= down)
            coll_act_notify(&out[n], coll_i_tree_child(plan, shape, &place, i - down), token,
                            m + (size_t)1);
        else if (i == m)
            coll_act_notify(&out[n], place.at.parent, token, m + (size_t)1);
        else
            coll_act_await(&out[n], place.at.parent, token, 1);
    }
    return n;
}

#endif /* COLL_ALGOS_KIT_TREE_WALK_H */
