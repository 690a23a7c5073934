/* coll/algos/fnomial.h — bcast, reduce, allreduce, barrier on f-nomial trees
 *
 * A binomial tree doubles the ranks that it reaches in every phase; an f-nomial tree multiplies
 * them by f, its parents talking to f−1 children a phase. A larger f makes a flatter tree: fewer
 * phases, each longer. Broadcast goes down from the root, largest subtree first; reduction comes
 * up, smallest subtree first. With order = 1 it is the other way round, for ranks that are ready in
 * that order: a reduction then keeps the sum of the children apart, which grows from the last rank
 * to the first, and combines it with the own operand at the end.
 *
 *   f = 2, p = 6, reduce:      0 ◄─ 1        phase 0: 1→0, 3→2, 5→4
 *                              ├◄─ 2 ◄─ 3    phase 1: 2→0
 *                              └◄─ 4 ◄─ 5    phase 2: 4→0
 *
 * Laws (tests/algos/fnomial.c)
 *   (1) the parent of a rank has the rank's number to the base f, but 0 for its lowest digit that
 *       is not 0
 *   (2) the subtrees of a rank's children in slot order, after the rank itself, are consecutive
 *       rank intervals
 *   (3) the height of the tree is the digits of the longest number 1…1 below p, at most ⌈log_f p⌉
 *   (4) up, children take turns in increasing order, and down in decreasing; with order = 1 in
 *       reverse
 * Cost    as in kit/tree_walk.h; the root has a child for each e·f^i < p, 1 ≤ e < f, at most
 *         (f−1)⌈log_f p⌉, the others no more. scratch with order = 1: `count` in place, too
 * Source  Moody 2003, §3.2.3 and Appendix A
 */
#ifndef COLL_ALGOS_FNOMIAL_H
#define COLL_ALGOS_FNOMIAL_H

#include "../plan/topo/tree.h"
#include "kit/derived.h"
#include "kit/tree_walk.h"

/* Of an algorithm that gathers, or of a barrier, only the first. */
COLL_TABLE(coll_param, coll_i_fnomial_params, {
    COLL_PARAM("f", "degree of the tree: f-1 children a phase",
               2, UINT32_MAX / 2, 2, {2, 5, 2, 2}),
    COLL_PARAM("segment", "elements of a segment; 0: the whole vector",
               0, UINT32_MAX, 0, {0, 3, 0, 0}),
    COLL_PARAM("order", "1: up the largest subtree first, down last; 0: reverse",
               0, 1, 0, {0, 1, 0, 0})});

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

/* ---- bcast, reduce, allreduce ------------------------------------------------------------ */

COLL_INLINE coll_status coll_i_fnomial_check(const coll_plan *plan)
{
    return coll_i_walk_check(plan, COLL_I_FNOMIAL);
}

COLL_INLINE size_t coll_i_fnomial_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_steps(plan, COLL_I_FNOMIAL, plan->problem.collective,
                             plan->param[2] != 0, rank);
}

COLL_INLINE unsigned coll_i_fnomial_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_FNOMIAL, COLL_BCAST, plan->param[2] != 0, rank, s,
                            out);
}
COLL_INLINE unsigned coll_i_fnomial_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_FNOMIAL, COLL_REDUCE, plan->param[2] != 0, rank, s,
                            out);
}
COLL_INLINE unsigned coll_i_fnomial_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_FNOMIAL, COLL_ALLREDUCE, plan->param[2] != 0, rank, s,
                            out);
}

COLL_INLINE size_t coll_i_fnomial_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_scratch(plan, COLL_I_FNOMIAL, plan->problem.collective,
                               plan->param[2] != 0, rank);
}

COLL_ALGORITHM(coll_fnomial_bcast, "fnomial", "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_fnomial_steps, coll_i_fnomial_bcast_step, NULL, coll_i_fnomial_check);

COLL_ALGORITHM(coll_fnomial_reduce, "fnomial", "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_fnomial_steps, coll_i_fnomial_reduce_step, coll_i_fnomial_scratch,
    coll_i_fnomial_check);

COLL_ALGORITHM(coll_fnomial_allreduce, "fnomial", "Moody 2003, section 3.2.3",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 3, /* sends */ 2, COLL_PREPARED(3, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_fnomial_steps, coll_i_fnomial_allreduce_step, coll_i_fnomial_scratch,
    coll_i_fnomial_check);

/* ---- barrier ----------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_fnomial_barrier_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_tree_barrier_steps(plan, COLL_I_FNOMIAL, rank);
}

COLL_INLINE unsigned coll_i_fnomial_barrier_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    return coll_i_tree_barrier_step(plan, COLL_I_FNOMIAL, rank, s, out);
}

COLL_ALGORITHM(coll_fnomial_barrier, "fnomial", "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_fnomial_barrier_steps, coll_i_fnomial_barrier_step, NULL, coll_i_fnomial_check);

#endif /* COLL_ALGOS_FNOMIAL_H */
