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

#include "../../plan.h"

/* Shapes; param[0] is the degree, but of a Bine tree, or the width of a mesh. The caller of what
 * follows gives a constant, so that nothing is decided at run time. */
typedef enum coll_i_shape {
    COLL_I_FNOMIAL,
    COLL_I_KARY,
    COLL_I_CHAIN,
    COLL_I_BINE,
    COLL_I_MESH
} coll_i_shape;

/* Elements of a segment: the last parameter of those that a shape has. */
COLL_HOT_INLINE uint32_t coll_i_tree_segment(const coll_plan *plan, coll_i_shape shape)
{
    return plan->param[shape == COLL_I_BINE ? 0 : 1];
}

/* The root of the tree in true rank order. */
COLL_HOT_INLINE uint32_t coll_i_tree_top(const coll_plan *plan, coll_i_shape shape)
{
    return shape == COLL_I_BINE ? coll_bine_before(plan->problem.p, 0, 32) : 0;
}

/* ---- a rank's place ---------------------------------------------------------------------- */

typedef struct coll_i_tree_place {
    uint32_t root;   /* the rank that is renumbered 0 */
    uint32_t v;      /* this rank, renumbered */
    uint32_t number; /* of a Bine tree: this rank's in the binomial tree */
    coll_branch at;  /* in renumbered ranks; depth and parts of k-ary trees and chains alone */
} coll_i_tree_place;

/* Written in place: on bare metal, compilers call memcpy for the copy of a structure this large. */
COLL_HOT_INLINE void coll_i_tree_place_set(coll_i_tree_place *place, const coll_plan *plan,
                                           coll_i_shape shape, uint32_t root, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    place->root = root;
    place->v = shape == COLL_I_MESH ? coll_mesh_from(&plan->radix, p, root, rank)
                                    : coll_mod_sub(rank, root, p);
    place->number = 0;
    place->at.depth = 0;
    place->at.below.base = 0;
    place->at.below.extra = 0;
    if (shape == COLL_I_FNOMIAL) {
        const coll_fnomial at = coll_fnomial_of(p, &plan->radix, place->v);
        place->at.parent = at.parent;
        place->at.children = at.children;
    } else if (shape == COLL_I_BINE) {
        const coll_bine at = coll_bine_of(p, place->v);
        place->number = at.number;
        place->at.parent = at.parent;
        place->at.children = at.children;
    } else if (shape == COLL_I_MESH) {
        const coll_mesh_branch at = coll_mesh_tree(&plan->radix, p, place->v);
        place->at.parent = at.parent;
        place->at.children = at.children;
    } else {
        const coll_branch at = shape == COLL_I_KARY ? coll_kary_of(p, &plan->radix, place->v)
                                                    : coll_chain_of(p, &plan->radix, place->v);
        place->at.parent = at.parent;
        place->at.children = at.children;
        place->at.depth = at.depth;
        place->at.below.base = at.below.base;
        place->at.below.extra = at.below.extra;
    }
}

/* For segments: trees on meshes have none. */
COLL_HOT_INLINE uint32_t coll_i_tree_depth(const coll_plan *plan, coll_i_shape shape,
                                           const coll_i_tree_place *place)
{
    return shape == COLL_I_FNOMIAL ? coll_fnomial_depth(&plan->radix, place->v)
           : shape == COLL_I_BINE  ? coll_bits(place->number)
                                   : place->at.depth;
}

/* The rank that is renumbered v. */
COLL_HOT_INLINE uint32_t coll_i_tree_rank(const coll_plan *plan, coll_i_shape shape,
                                          const coll_i_tree_place *place, uint32_t v)
{
    const uint32_t p = plan->problem.p;
    return shape == COLL_I_MESH ? coll_mesh_back(&plan->radix, p, place->root, v)
                                : coll_mod_add(v, place->root, p);
}

/* The rank of the parent, and of child number i. */
COLL_HOT_INLINE uint32_t coll_i_tree_parent(const coll_plan *plan, coll_i_shape shape,
                                            const coll_i_tree_place *place)
{
    return coll_i_tree_rank(plan, shape, place, place->at.parent);
}

COLL_HOT_INLINE uint32_t coll_i_tree_child(const coll_plan *plan, coll_i_shape shape,
                                           const coll_i_tree_place *place, uint32_t i)
{
    const uint32_t child =
        shape == COLL_I_FNOMIAL ? coll_fnomial_child(plan->param[0], place->v, i)
        : shape == COLL_I_BINE  ? coll_bine_child(plan->problem.p, place->v, place->number, i)
        : shape == COLL_I_MESH  ? coll_mesh_child(&plan->radix, place->v, i)
                                : coll_branch_child(&place->at, place->v, i);
    return coll_i_tree_rank(plan, shape, place, child);
}

/* ---- what a rank does -------------------------------------------------------------------- */

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
                                        w->last_first ? j - first : first + m - 1 - j),
                      first ? here : w->from + seg.offset, seg.count);
    else
        coll_act_copy(out, here, w->from + seg.offset, seg.count);
}

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
    uint32_t up, down; /* actions of this turn */
} coll_i_walk_turn;

COLL_HOT_INLINE void coll_i_walk_turn_set(coll_i_walk_turn *turn, const coll_i_walk *w,
                                          size_t t)
{
    turn->t = t;
    turn->up = t < w->segments ? w->up : 0;
    turn->down = t - w->lag < w->segments ? w->down : 0; /* wraps where t < lag */
}

/* The place of action i. Up to three runs of turns: only up; up and down; only down. */
COLL_HOT_INLINE void coll_i_walk_turn_find(coll_i_walk_turn *turn, const coll_i_walk *w,
                                           size_t i)
{
    size_t t = 0;
    if (w->lag > 0) {
        const size_t up = w->lag * w->up;
        const size_t both = (w->segments - w->lag) * (w->up + (size_t)w->down);
        if (i >= up) {
            i -= up;
            t = w->lag;
            if (i >= both) {
                i -= both;
                t = w->segments;
            }
        }
    }
    coll_i_walk_turn_set(turn, w, t);
    if (i >= turn->up + turn->down) {
        const size_t passed = i / (turn->up + turn->down);
        i -= passed * (turn->up + turn->down);
        turn->t = t + passed;
    }
    turn->j = (uint32_t)i;
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
    coll_i_walk_turn turn;
    coll_i_walk_turn_find(&turn, &w, s * COLL_STEP_MAX);
    for (unsigned i = 0; i < n; i++, turn.j++) {
        if (turn.j == turn.up + turn.down) {
            turn.j = 0;
            coll_i_walk_turn_set(&turn, &w, turn.t + 1);
        }
        if (turn.j < turn.up)
            coll_i_walk_up(plan, shape, &w, turn.t, turn.j, &out[i]);
        else
            coll_i_walk_down(plan, shape, &w, turn.t - w.lag, turn.j - turn.up, &out[i]);
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
           (m == 1 && w.segments == 1 ? 1 : 2) * coll_i_walk_staging(plan, shape);
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
