/* coll/algos/fnomial.h — bcast, reduce, allreduce, barrier on f-nomial trees
 *
 * A binomial tree doubles the ranks that it reaches in every phase; an f-nomial tree multiplies
 * them by f, its parents talking to f−1 children a phase. A larger f makes a flatter tree:
 * fewer phases, each longer. Broadcast goes down from the root, largest subtree first;
 * reduction comes up, smallest subtree first, so that a parent's accumulator always holds a run
 * of consecutive ranks. The root is rank 0 after a cyclic renumbering; a reduction whose
 * operator is not commutative climbs to rank 0 in true rank order instead, and rank 0 forwards
 * the result to the root. Vectors may be cut into segments that follow each other through the
 * tree.
 *
 *   f = 2, p = 6, reduce:      0 ◄─ 1        phase 0: 1→0, 3→2, 5→4
 *                              ├◄─ 2 ◄─ 3    phase 1: 2→0
 *                              └◄─ 4 ◄─ 5    phase 2: 4→0
 *
 * Laws (tests/algos/fnomial.c)
 *   (1) every rank but the root has one parent, which has it as a child exactly once
 *   (2) the subtrees of a rank's children in slot order, after the rank itself, are consecutive
 *       rank intervals
 *   (3) the depth of the tree is at most ⌈log_f p⌉
 * Cost    reduce, bcast: p−1 messages of `count` elements in all, cut in S = ⌈count/segment⌉ segments;
 *         a rank sends to ≤ (f−1)⌈log_f p⌉ children. allreduce: both. barrier: 2(p−1) messages of 0 bytes.
 *         a reduction of a non-commutative operator to another root than 0: one more message. scratch of a rank with
 *         children: at most two segments, and `count` where it does not sum in OUT
 * Source  Moody 2003, §3.2.3 and Appendix A
 */
#ifndef COLL_ALGOS_FNOMIAL_H
#define COLL_ALGOS_FNOMIAL_H

#include "../plan.h"

/* param[0] and param[1] of every algorithm in this file that moves vectors. */
static const coll_param coll_i_fnomial_params[] = {
    {"f", "degree of the tree: f-1 children a phase", 2, UINT32_MAX / 2, 2, {2, 3, 5, 64}},
    {"segment", "elements of a segment; 0: the whole vector", 0, UINT32_MAX, 0, {0, 1, 7, 0}}};

/* A rank's place in a tree over the plan's ranks. */
typedef struct coll_i_fnomial {
    coll_fnomial at; /* in renumbered ranks */
    uint32_t v;      /* the rank, renumbered */
    uint32_t root;   /* the rank that is renumbered 0 */
} coll_i_fnomial;

COLL_HOT_INLINE coll_i_fnomial coll_i_fnomial_place(const coll_plan *plan, uint32_t root,
                                                    uint32_t rank)
{
    const uint32_t v = coll_mod_sub(rank, root, plan->problem.p);
    const coll_fnomial at = coll_fnomial_of(plan->problem.p, &plan->radix, v);
    coll_i_fnomial place;
    place.root = root;
    place.v = v;
    place.at.parent =
        at.parent; /* by field: on bare metal, some compilers call memcpy for all */
    place.at.children = at.children;
    place.at.slot = at.slot;
    place.at.stride = at.stride;
    return place;
}

COLL_HOT_INLINE uint32_t coll_i_fnomial_parent(const coll_plan *plan,
                                               const coll_i_fnomial *place)
{
    return coll_mod_add(place->at.parent, place->root, plan->problem.p);
}

COLL_HOT_INLINE uint32_t coll_i_fnomial_child(const coll_plan *plan,
                                              const coll_i_fnomial *place, uint32_t slot)
{
    return coll_mod_add(coll_fnomial_child(plan->param[0], place->v, slot), place->root,
                        plan->problem.p);
}

/* ---- bcast, reduce, allreduce: up the tree, down the tree, or both ------------------------ */

/* What a rank does. Its actions are a list: for every segment `up` actions, then for every segment
 * `down` actions; a step yields the next COLL_STEP_MAX of them. */
typedef struct coll_i_fnomial_role {
    coll_i_fnomial place;
    uint32_t up, down;   /* actions for each segment */
    coll_ref input, sum; /* up: the rank's own operand, and where it accumulates */
    bool keeps;          /* up: does not send the sum on */
    bool collects; /* up: the root of a non-commutative reduction gets the result from rank 0 */
    coll_ref from; /* down: where the data lies on the root */
} coll_i_fnomial_role;

COLL_HOT_INLINE coll_i_fnomial_role coll_i_fnomial_role_of(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const bool reduces = of->collective != COLL_BCAST, spreads = of->collective != COLL_REDUCE;
    const uint32_t top = !reduces || (of->flags & COLL_COMMUTATIVE) ? of->root : 0;
    const bool is_root = rank == of->root;
    coll_i_fnomial_role role;
    uint32_t m;
    role.place = coll_i_fnomial_place(plan, top, rank);
    m = role.place.at.children;
    role.up = role.down = 0;
    if (reduces) { /* a child each; then send the sum, or bring it to its place; then collect */
        const bool has_out = spreads || is_root;
        role.input = has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0);
        role.keeps = is_root && role.place.v == 0;
        role.collects = is_root && role.place.v != 0 && !spreads;
        role.sum = has_out && !role.collects ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
        role.up = m + (!role.keeps || (m == 0 && role.input != role.sum) ? 1u : 0u) +
                  (role.collects ? 1u : 0u);
    }
    if (spreads) { /* receive, then a child each; on the root copy to OUT, if need be, at the end */
        role.from = reduces ? COLL_AT(COLL_OUT, 0) : coll_input(plan);
        role.down = m + (role.place.v != 0 || role.from != COLL_AT(COLL_OUT, 0) ? 1u : 0u);
    }
    return role;
}

/* Elements of a staging slot: of the largest segment. */
COLL_HOT_INLINE size_t coll_i_fnomial_staging(const coll_plan *plan)
{
    return coll_segment_block(plan->problem.count, plan->param[1], 0).count;
}

/* Action j of the way up. Two staging slots, after the sum where that is in SCRATCH: one fills
 * while the other is combined. */
COLL_HOT_INLINE void coll_i_fnomial_up(const coll_plan *plan, const coll_i_fnomial_role *role,
                                       size_t segment, uint32_t j, coll_action *out)
{
    const uint32_t m = role->place.at.children;
    const coll_block seg = coll_segment_block(plan->problem.count, plan->param[1], segment);
    if (j < m) {
        const coll_ref staging =
            COLL_AT(COLL_SCRATCH, role->sum == COLL_AT(COLL_OUT, 0) ? 0 : plan->problem.count);
        coll_act_recv_reduce(
            out, coll_i_fnomial_child(plan, &role->place, j), role->sum + seg.offset,
            (j == 0 ? role->input : role->sum) + seg.offset,
            staging + ((segment * m + j) & 1u ? coll_i_fnomial_staging(plan) : 0), seg.count);
    } else if (j == m && !role->keeps) {
        const uint32_t to =
            role->place.v == 0 ? plan->problem.root : coll_i_fnomial_parent(plan, &role->place);
        coll_act_send(out, to, (m == 0 ? role->input : role->sum) + seg.offset, seg.count);
    } else if (j == m && !role->collects) {
        coll_act_copy(out, role->sum + seg.offset, role->input + seg.offset, seg.count);
    } else {
        coll_act_recv(out, 0, COLL_AT(COLL_OUT, seg.offset), seg.count);
    }
}

/* Action j of the way down, the largest subtree first. */
COLL_HOT_INLINE void coll_i_fnomial_down(const coll_plan *plan, const coll_i_fnomial_role *role,
                                         size_t segment, uint32_t j, coll_action *out)
{
    const coll_block seg = coll_segment_block(plan->problem.count, plan->param[1], segment);
    const uint32_t m = role->place.at.children, first = role->place.v == 0 ? 0 : 1;
    const coll_ref here = COLL_AT(COLL_OUT, seg.offset);
    if (j < first)
        coll_act_recv(out, coll_i_fnomial_parent(plan, &role->place), here, seg.count);
    else if (j < first + m)
        coll_act_send(out, coll_i_fnomial_child(plan, &role->place, first + m - 1 - j),
                      first ? here : role->from + seg.offset, seg.count);
    else
        coll_act_copy(out, here, role->from + seg.offset, seg.count);
}

COLL_INLINE size_t coll_i_fnomial_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    const size_t segments = coll_segments(plan->problem.count, plan->param[1]);
    return ((role.up + (size_t)role.down) * segments + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_fnomial_step(const coll_plan *plan, uint32_t rank, size_t s,
                                         coll_action *out)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    const size_t segments = coll_segments(plan->problem.count, plan->param[1]);
    size_t i = s * COLL_STEP_MAX, segment = 0; /* position in the list; segment of that */
    bool up = i < role.up * segments;
    uint32_t n, per = up ? role.up : role.down;
    if (!up)
        i -= role.up * segments;
    if (i >= per) {
        segment = i / per;
        i -= segment * per;
    }
    for (n = 0; n < COLL_STEP_MAX; n++, i++) {
        if (i == per) {
            i = 0;
            if (++segment == segments) { /* the way up ends, or all of it */
                if (!up || role.down == 0)
                    break;
                up = false;
                per = role.down;
                segment = 0;
            }
        }
        if (up)
            coll_i_fnomial_up(plan, &role, segment, (uint32_t)i, &out[n]);
        else
            coll_i_fnomial_down(plan, &role, segment, (uint32_t)i, &out[n]);
    }
    return n;
}

COLL_INLINE size_t coll_i_fnomial_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    const uint32_t m = role.place.at.children;
    if (role.up == 0 || m == 0)
        return 0;
    return (role.sum == COLL_AT(COLL_OUT, 0) ? 0 : plan->problem.count) +
           (m * coll_segments(plan->problem.count, plan->param[1]) < 2 ? 1 : 2) *
               coll_i_fnomial_staging(plan);
}

static const coll_algorithm coll_fnomial_bcast = {
    "fnomial",
    "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_BCAST),
    COLL_GIVES_SAME_BITS,
    /* window */ 1,
    /* parameters */ 2,
    coll_i_fnomial_params,
    /* check */ NULL,
    coll_i_fnomial_steps,
    coll_i_fnomial_step,
    /* scratch */ NULL,
    /* shared */ NULL,
};

static const coll_algorithm coll_fnomial_reduce = {
    "fnomial",
    "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_REDUCE),
    /* traits */ 0,
    /* window */ 1,
    /* parameters */ 2,
    coll_i_fnomial_params,
    /* check */ NULL,
    coll_i_fnomial_steps,
    coll_i_fnomial_step,
    coll_i_fnomial_scratch,
    /* shared */ NULL,
};

static const coll_algorithm coll_fnomial_allreduce = {
    "fnomial",
    "Moody 2003, section 3.2.3",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_GIVES_SAME_BITS,
    /* window */ 1,
    /* parameters */ 2,
    coll_i_fnomial_params,
    /* check */ NULL,
    coll_i_fnomial_steps,
    coll_i_fnomial_step,
    coll_i_fnomial_scratch,
    /* shared */ NULL,
};

/* ---- barrier: notifications up, then down ------------------------------------------------ */

COLL_HOT_INLINE uint32_t coll_i_fnomial_barrier_actions(const coll_i_fnomial *place)
{
    return 2 * place->at.children + (place->v == 0 ? 0 : 2);
}

COLL_INLINE size_t coll_i_fnomial_barrier_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, 0, rank);
    return (coll_i_fnomial_barrier_actions(&place) + (size_t)COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

/* Await every child, notify the parent, await it, notify every child. Token 0 is the rank's own
 * arrival and its parent's release; token 1 + i is that of child i. */
COLL_INLINE unsigned coll_i_fnomial_barrier_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, 0, rank);
    const uint32_t m = place.at.children, down = m + (place.v == 0 ? 0 : 2);
    const uint32_t actions = coll_i_fnomial_barrier_actions(&place);
    const coll_ref token = COLL_AT(COLL_SCRATCH, 0);
    unsigned n = 0;
    for (uint32_t i = (uint32_t)s * COLL_STEP_MAX; n < COLL_STEP_MAX && i < actions; n++, i++) {
        if (i < m)
            coll_act_await(&out[n], coll_i_fnomial_child(plan, &place, i), token + 1 + i, 1);
        else if (i >= down)
            coll_act_notify(&out[n], coll_i_fnomial_child(plan, &place, i - down), token,
                            m + (size_t)1);
        else if (i == m)
            coll_act_notify(&out[n], place.at.parent, token, m + (size_t)1);
        else
            coll_act_await(&out[n], place.at.parent, token, 1);
    }
    return n;
}

static const coll_algorithm coll_fnomial_barrier = {
    "fnomial",
    "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_BARRIER),
    /* traits */ 0,
    /* window */ 1,
    /* parameters */ 1,
    coll_i_fnomial_params,
    /* check */ NULL,
    coll_i_fnomial_barrier_steps,
    coll_i_fnomial_barrier_step,
    /* scratch */ NULL,
    /* shared */ NULL,
};

#endif /* COLL_ALGOS_FNOMIAL_H */
