/* coll/algos/fnomial.h — bcast, reduce, allreduce, barrier on f-nomial trees
 *
 * A binomial tree doubles the ranks that it reaches in every phase; an f-nomial tree multiplies them by f,
 * its parents talking to f−1 children a phase. A larger f makes a flatter tree: fewer phases, each longer.
 * Broadcast goes down from the root, largest subtree first; reduction comes up, smallest subtree first,
 * so that a parent's accumulator always holds a run of consecutive ranks. The root is rank 0 after a
 * cyclic renumbering; a reduction whose operator is not commutative climbs to rank 0 in true rank
 * order instead, and rank 0 forwards the result to the root. Vectors may be cut into segments that
 * follow each other through the tree.
 *
 *   f = 2, p = 6, reduce:      0 ◄─ 1        phase 0: 1→0, 3→2, 5→4
 *                              ├◄─ 2 ◄─ 3    phase 1: 2→0
 *                              └◄─ 4 ◄─ 5    phase 2: 4→0
 *
 * Laws (tests/algos/fnomial.c)
 *   (1) every rank but the root has one parent, which has it as a child exactly once
 *   (2) the subtrees of a rank's children in slot order, after the rank itself, are consecutive rank intervals
 *   (3) the depth of the tree is at most ⌈log_f p⌉
 * Cost    reduce, bcast: p−1 messages of `count` elements in all, cut in S = ⌈count/segment⌉ segments;
 *         a rank sends to ≤ (f−1)⌈log_f p⌉ children. allreduce: both. barrier: 2(p−1) messages of 0 bytes.
 *         scratch: reduce: count where a rank has children and is not the root, and two segments
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

COLL_INLINE coll_i_fnomial coll_i_fnomial_place(const coll_plan *plan, uint32_t root,
                                                uint32_t rank)
{
    coll_i_fnomial place;
    place.root = root;
    place.v = coll_mod_sub(rank, root, plan->problem.p);
    place.at = coll_fnomial_of(plan->problem.p, plan->param[0], place.v);
    return place;
}

COLL_INLINE uint32_t coll_i_fnomial_parent(const coll_plan *plan, const coll_i_fnomial *place)
{
    return coll_mod_add(place->at.parent, place->root, plan->problem.p);
}

COLL_INLINE uint32_t coll_i_fnomial_child(const coll_plan *plan, const coll_i_fnomial *place,
                                          uint32_t slot)
{
    return coll_mod_add(coll_fnomial_child(plan->param[0], place->v, slot), place->root,
                        plan->problem.p);
}

/* Splits a step into a segment and a step within it; `per` steps a segment. */
typedef struct coll_i_fnomial_step {
    coll_block seg;
    size_t index;
    uint32_t j;
} coll_i_fnomial_step;

COLL_INLINE coll_i_fnomial_step coll_i_fnomial_split(const coll_plan *plan, size_t s,
                                                     uint32_t per)
{
    coll_i_fnomial_step step;
    step.index = s < per ? 0 : s / per;
    step.j = (uint32_t)(s - step.index * per);
    step.seg = coll_segment_block(plan->problem.count, plan->param[1], step.index);
    return step;
}

COLL_INLINE size_t coll_i_fnomial_segments(const coll_plan *plan)
{
    return coll_segments(plan->problem.count, plan->param[1]);
}

/* ---- bcast ------------------------------------------------------------------------------- */

/* Steps of a segment: receive (root: copy to OUT, where the data is not there yet), then one child each. */
COLL_INLINE size_t coll_i_fnomial_bcast_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    return (place.at.children + (size_t)1) * coll_i_fnomial_segments(plan);
}

/* The data is at `from` on the root, and comes to OUT everywhere. */
COLL_INLINE unsigned coll_i_fnomial_bcast_from(const coll_plan *plan, coll_ref from,
                                               uint32_t rank, size_t s, coll_action *out)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    const uint32_t m = place.at.children;
    const coll_i_fnomial_step step = coll_i_fnomial_split(plan, s, m + 1);
    const coll_ref here = COLL_AT(COLL_OUT, step.seg.offset);
    const bool root = place.v == 0;
    if (root ? step.j < m : step.j > 0) {
        const uint32_t slot = root ? m - 1 - step.j : m - step.j;
        coll_act_send(out, coll_i_fnomial_child(plan, &place, slot),
                      root ? from + step.seg.offset : here, step.seg.count);
        return 1;
    }
    if (!root)
        coll_act_recv(out, coll_i_fnomial_parent(plan, &place), here, step.seg.count);
    else if (from != COLL_AT(COLL_OUT, 0))
        coll_act_copy(out, here, from + step.seg.offset, step.seg.count);
    else
        return 0;
    return 1;
}

COLL_INLINE unsigned coll_i_fnomial_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    return coll_i_fnomial_bcast_from(plan, coll_input(plan), rank, s, out);
}

static const coll_algorithm coll_fnomial_bcast = {"fnomial",
                                                  "Moody 2003, section 3.2.3",
                                                  COLL_BIT(COLL_BCAST),
                                                  COLL_GIVES_SAME_BITS,
                                                  1, /* window */
                                                  2, /* parameters */
                                                  coll_i_fnomial_params,
                                                  NULL,
                                                  coll_i_fnomial_bcast_steps,
                                                  coll_i_fnomial_bcast_step,
                                                  NULL,
                                                  NULL};

/* ---- reduce ------------------------------------------------------------------------------ */

/* How a rank takes part in a reduction whose result is wanted in OUT of the root. */
typedef struct coll_i_fnomial_role {
    coll_i_fnomial place;
    coll_ref input, sum; /* its own operand, and where it accumulates */
    uint32_t to;   /* the rank to send the sum to; COLL_NOBODY at the rank that keeps it */
    bool collects; /* the root of a non-commutative reduction, waiting for rank 0's result */
    bool copies;   /* a rank without children that keeps its sum and did not have it there */
} coll_i_fnomial_role;

COLL_INLINE coll_i_fnomial_role coll_i_fnomial_role_of(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const bool everywhere = of->collective == COLL_ALLREDUCE; /* everybody has an OUT */
    const uint32_t top = of->flags & COLL_COMMUTATIVE ? of->root : 0;
    coll_i_fnomial_role role;
    role.place = coll_i_fnomial_place(plan, top, rank);
    role.input = everywhere || rank == of->root ? coll_input(plan) : COLL_AT(COLL_IN, 0);
    role.collects = rank == of->root && rank != top;
    role.sum = (everywhere || rank == of->root) && !role.collects ? COLL_AT(COLL_OUT, 0)
                                                                  : COLL_AT(COLL_SCRATCH, 0);
    if (rank != top)
        role.to = coll_i_fnomial_parent(plan, &role.place);
    else
        role.to = top == of->root ? COLL_NOBODY : of->root;
    role.copies =
        role.place.at.children == 0 && role.to == COLL_NOBODY && role.input != role.sum;
    return role;
}

/* Steps of a segment: one child each, then send the sum (or keep it), then perhaps collect the result. */
COLL_INLINE uint32_t coll_i_fnomial_reduce_per(const coll_i_fnomial_role *role)
{
    return role->place.at.children + (role->to != COLL_NOBODY || role->copies ? 1u : 0u) +
           (role->collects ? 1u : 0u);
}

COLL_INLINE size_t coll_i_fnomial_reduce_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    return coll_i_fnomial_reduce_per(&role) * coll_i_fnomial_segments(plan);
}

COLL_INLINE unsigned coll_i_fnomial_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    const uint32_t m = role.place.at.children;
    const coll_i_fnomial_step step =
        coll_i_fnomial_split(plan, s, coll_i_fnomial_reduce_per(&role));
    const size_t at = step.seg.offset, n = step.seg.count;
    if (step.j <
        m) { /* the staging of one child is filled while that of the one before is combined */
        const size_t sum = coll_ref_space(role.sum) == COLL_SCRATCH ? plan->problem.count : 0;
        const size_t staging = coll_segment_block(plan->problem.count, plan->param[1], 0).count;
        coll_act_recv_reduce(out, coll_i_fnomial_child(plan, &role.place, step.j),
                             role.sum + at, (step.j == 0 ? role.input : role.sum) + at,
                             COLL_AT(COLL_SCRATCH, sum + (step.j & 1u) * staging), n);
    } else if (step.j == m && role.to != COLL_NOBODY) {
        coll_act_send(out, role.to, (m == 0 ? role.input : role.sum) + at, n);
    } else if (step.j == m && role.copies) {
        coll_act_copy(out, role.sum + at, role.input + at, n);
    } else {
        coll_act_recv(out, 0, COLL_AT(COLL_OUT, at), n);
    }
    return 1;
}

COLL_INLINE size_t coll_i_fnomial_reduce_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    const uint32_t m = role.place.at.children;
    const size_t sum = coll_ref_space(role.sum) == COLL_SCRATCH ? plan->problem.count : 0;
    const size_t staging = coll_segment_block(plan->problem.count, plan->param[1], 0).count;
    return m == 0 ? 0 : sum + (m < 2 ? m : 2) * staging;
}

static const coll_algorithm coll_fnomial_reduce = {"fnomial",
                                                   "Moody 2003, section 3.2.3, Appendix A",
                                                   COLL_BIT(COLL_REDUCE),
                                                   0, /* window */
                                                   1, /* parameters */
                                                   2,
                                                   coll_i_fnomial_params,
                                                   NULL,
                                                   coll_i_fnomial_reduce_steps,
                                                   coll_i_fnomial_reduce_step,
                                                   coll_i_fnomial_reduce_scratch,
                                                   NULL};

/* ---- allreduce: reduce to rank 0, then bcast from it ------------------------------------- */

COLL_INLINE size_t coll_i_fnomial_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_fnomial_reduce_steps(plan, rank) + coll_i_fnomial_bcast_steps(plan, rank);
}

COLL_INLINE unsigned coll_i_fnomial_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    const size_t up = coll_i_fnomial_reduce_steps(plan, rank);
    if (s < up)
        return coll_i_fnomial_reduce_step(plan, rank, s, out);
    return coll_i_fnomial_bcast_from(plan, COLL_AT(COLL_OUT, 0), rank, s - up, out);
}

static const coll_algorithm coll_fnomial_allreduce = {"fnomial",
                                                      "Moody 2003, section 3.2.3",
                                                      COLL_BIT(COLL_ALLREDUCE),
                                                      COLL_GIVES_SAME_BITS,
                                                      1, /* window */
                                                      2, /* parameters */
                                                      coll_i_fnomial_params,
                                                      NULL,
                                                      coll_i_fnomial_allreduce_steps,
                                                      coll_i_fnomial_allreduce_step,
                                                      coll_i_fnomial_reduce_scratch,
                                                      NULL};

/* ---- barrier: notifications up, then down ------------------------------------------------ */

COLL_INLINE size_t coll_i_fnomial_barrier_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, 0, rank);
    return 2 * (size_t)place.at.children + (rank == 0 ? 0 : 2);
}

/* Token 0 is the rank's own arrival, or its parent's release; token 1 + i is that of child i. */
COLL_INLINE unsigned coll_i_fnomial_barrier_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, 0, rank);
    const uint32_t m = place.at.children, last = m + (rank == 0 ? 0 : 2);
    const coll_ref token = COLL_AT(COLL_SCRATCH, 0);
    if (s < m)
        coll_act_await(out, coll_i_fnomial_child(plan, &place, (uint32_t)s), token + 1 + s, 1);
    else if (s >= last)
        coll_act_notify(out, coll_i_fnomial_child(plan, &place, (uint32_t)(s - last)), token,
                        m + (size_t)1);
    else if (s == m)
        coll_act_notify(out, place.at.parent, token, m + (size_t)1);
    else
        coll_act_await(out, place.at.parent, token, 1);
    return 1;
}

static const coll_algorithm coll_fnomial_barrier = {"fnomial",
                                                    "Moody 2003, section 3.2.3",
                                                    COLL_BIT(COLL_BARRIER),
                                                    0, /* window */
                                                    1, /* parameters */
                                                    1,
                                                    coll_i_fnomial_params,
                                                    NULL,
                                                    coll_i_fnomial_barrier_steps,
                                                    coll_i_fnomial_barrier_step,
                                                    NULL,
                                                    NULL};

#endif /* COLL_ALGOS_FNOMIAL_H */
