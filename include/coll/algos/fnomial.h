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
    place.at = coll_fnomial_of(plan->problem.p, &plan->radix, place.v);
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

COLL_INLINE size_t coll_i_fnomial_segments(const coll_plan *plan)
{
    return coll_segments(plan->problem.count, plan->param[1]);
}

/* Splits step s into a segment, returned, and the step *j of the `per` that each segment takes. */
COLL_INLINE coll_block coll_i_fnomial_split(const coll_plan *plan, size_t s, uint32_t per,
                                            uint32_t *j)
{
    const size_t index = s < per ? 0 : s / per;
    *j = (uint32_t)(s - index * per);
    return coll_segment_block(plan->problem.count, plan->param[1], index);
}

/* ---- bcast ------------------------------------------------------------------------------- */

/* Steps of a segment: receive, then one child each. The root has its children first, and then copies
 * to OUT if the data came from IN. */
COLL_INLINE uint32_t coll_i_fnomial_bcast_per(const coll_i_fnomial *place, coll_ref from)
{
    return place->at.children + (place->v != 0 || from != COLL_AT(COLL_OUT, 0) ? 1u : 0u);
}

/* The data lies at `from` on the root, and comes to OUT everywhere. */
COLL_INLINE unsigned coll_i_fnomial_bcast_at(const coll_plan *plan, const coll_i_fnomial *place,
                                             coll_ref from, size_t s, coll_action *out)
{
    uint32_t j;
    const coll_block seg =
        coll_i_fnomial_split(plan, s, coll_i_fnomial_bcast_per(place, from), &j);
    const coll_ref here = COLL_AT(COLL_OUT, seg.offset);
    const uint32_t m = place->at.children;
    if (place->v == 0 && j < m)
        coll_act_send(out, coll_i_fnomial_child(plan, place, m - 1 - j), from + seg.offset,
                      seg.count);
    else if (place->v == 0)
        coll_act_copy(out, here, from + seg.offset, seg.count);
    else if (j > 0)
        coll_act_send(out, coll_i_fnomial_child(plan, place, m - j), here, seg.count);
    else
        coll_act_recv(out, coll_i_fnomial_parent(plan, place), here, seg.count);
    return 1;
}

COLL_INLINE size_t coll_i_fnomial_bcast_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    return coll_i_fnomial_bcast_per(&place, coll_input(plan)) * coll_i_fnomial_segments(plan);
}

COLL_INLINE unsigned coll_i_fnomial_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    return coll_i_fnomial_bcast_at(plan, &place, coll_input(plan), s, out);
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
    bool keeps;          /* does not send the sum on */
    bool collects; /* the root of a non-commutative reduction, waiting for rank 0's result */
} coll_i_fnomial_role;

COLL_INLINE coll_i_fnomial_role coll_i_fnomial_role_of(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const uint32_t top = of->flags & COLL_COMMUTATIVE ? of->root : 0;
    const bool has_out = of->collective == COLL_ALLREDUCE || rank == of->root;
    coll_i_fnomial_role role;
    role.place = coll_i_fnomial_place(plan, top, rank);
    role.keeps = rank == top && top == of->root;
    role.collects = rank != top && rank == of->root;
    role.input = has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0);
    role.sum = has_out && !role.collects ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
    return role;
}

/* Steps of a segment: one child each; send the sum, or where nobody was added, bring it to its place;
 * collect the result. */
COLL_INLINE uint32_t coll_i_fnomial_reduce_per(const coll_i_fnomial_role *role)
{
    const bool last =
        !role->keeps || (role->place.at.children == 0 && role->input != role->sum);
    return role->place.at.children + (last ? 1u : 0u) + (role->collects ? 1u : 0u);
}

/* Elements of a staging slot. A rank with children has two, after its sum where that is in SCRATCH: one
 * fills while the other is combined. */
COLL_INLINE size_t coll_i_fnomial_staging(const coll_plan *plan)
{
    return coll_segment_block(plan->problem.count, plan->param[1], 0).count;
}

COLL_INLINE unsigned coll_i_fnomial_reduce_at(const coll_plan *plan,
                                              const coll_i_fnomial_role *role, size_t s,
                                              coll_action *out)
{
    const uint32_t m = role->place.at.children;
    uint32_t j;
    const coll_block seg = coll_i_fnomial_split(plan, s, coll_i_fnomial_reduce_per(role), &j);
    if (j < m) {
        const size_t sum = role->sum == COLL_AT(COLL_SCRATCH, 0) ? plan->problem.count : 0;
        const coll_ref via =
            COLL_AT(COLL_SCRATCH, sum + (j & 1u ? coll_i_fnomial_staging(plan) : 0));
        coll_act_recv_reduce(out, coll_i_fnomial_child(plan, &role->place, j),
                             role->sum + seg.offset,
                             (j == 0 ? role->input : role->sum) + seg.offset, via, seg.count);
    } else if (j == m && !role->keeps) {
        const uint32_t to =
            role->place.v == 0 ? plan->problem.root : coll_i_fnomial_parent(plan, &role->place);
        coll_act_send(out, to, (m == 0 ? role->input : role->sum) + seg.offset, seg.count);
    } else if (j == m && !role->collects) {
        coll_act_copy(out, role->sum + seg.offset, role->input + seg.offset, seg.count);
    } else {
        coll_act_recv(out, 0, COLL_AT(COLL_OUT, seg.offset), seg.count);
    }
    return 1;
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
    return coll_i_fnomial_reduce_at(plan, &role, s, out);
}

COLL_INLINE size_t coll_i_fnomial_reduce_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    const uint32_t m = role.place.at.children;
    const size_t sum = role.sum == COLL_AT(COLL_SCRATCH, 0) ? plan->problem.count : 0;
    return m == 0 ? 0 : sum + (m < 2 ? m : 2) * coll_i_fnomial_staging(plan);
}

static const coll_algorithm coll_fnomial_reduce = {"fnomial",
                                                   "Moody 2003, section 3.2.3, Appendix A",
                                                   COLL_BIT(COLL_REDUCE),
                                                   0,
                                                   1, /* window */
                                                   2, /* parameters */
                                                   coll_i_fnomial_params,
                                                   NULL,
                                                   coll_i_fnomial_reduce_steps,
                                                   coll_i_fnomial_reduce_step,
                                                   coll_i_fnomial_reduce_scratch,
                                                   NULL};

/* ---- allreduce: reduce to rank 0, then bcast from it, on one tree ------------------------ */

COLL_INLINE size_t coll_i_fnomial_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    return (coll_i_fnomial_reduce_per(&role) +
            coll_i_fnomial_bcast_per(&role.place, COLL_AT(COLL_OUT, 0))) *
           coll_i_fnomial_segments(plan);
}

COLL_INLINE unsigned coll_i_fnomial_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    const coll_i_fnomial_role role = coll_i_fnomial_role_of(plan, rank);
    const size_t up = coll_i_fnomial_reduce_per(&role) * coll_i_fnomial_segments(plan);
    if (s < up)
        return coll_i_fnomial_reduce_at(plan, &role, s, out);
    return coll_i_fnomial_bcast_at(plan, &role.place, COLL_AT(COLL_OUT, 0), s - up, out);
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
