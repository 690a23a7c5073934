/* coll/algos/kary.h — bcast, reduce, allreduce, barrier on k-ary trees
 *
 * Every rank has at most k children. Unlike in an f-nomial tree, whose root has the most, all
 * parents do the same work, so a vector cut into segments streams through the tree at the pace of
 * k messages a segment everywhere. Subtrees are runs of ranks and as equal in size as can be: that
 * keeps operands in rank order, and neighbours near each other.
 *
 *   k = 2, p = 8, reduce:   0 ◄─ 1 ◄─ 2 ◄─ 3
 *                           │    └◄─ 4
 *                           └◄─ 5 ◄─ 6
 *                               └◄─ 7
 *
 * Laws (tests/algos/kary.c)
 *   (1) the ranks of a subtree after its root are cut into k runs, each the subtree of a child,
 *       whose lengths differ by at most one, longer ones first
 *   (2) no tree in which ranks have at most k children has a smaller height
 *   (3) a broadcast goes to the larger subtrees first
 * Cost    as in kit/tree_walk.h; the root has min(k, p−1) children, the others no more
 * Source  Wu 2005, figure 3.1 (binary); Pješivac-Grbović et al. 2007,
 *         doi:10.1007/s10586-007-0012-0
 */
#ifndef COLL_ALGOS_KARY_H
#define COLL_ALGOS_KARY_H

#include "kit/derived.h"
#include "kit/tree_walk.h"

COLL_TABLE(coll_param, coll_i_kary_params, {
    COLL_PARAM("k", "children of a rank, at most", 2, UINT32_MAX / 2, 2, {5, 100, 5, 5}),
    COLL_PARAM("segment", "elements of a segment; 0: the whole vector",
               0, UINT32_MAX, 0, {0, 3, 0, 0})});

COLL_INLINE coll_status coll_i_kary_check(const coll_plan *plan)
{
    return coll_i_walk_check(plan, COLL_I_KARY);
}

COLL_INLINE size_t coll_i_kary_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_steps(plan, COLL_I_KARY, plan->problem.collective, false, rank);
}

COLL_INLINE size_t coll_i_kary_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_scratch(plan, COLL_I_KARY, plan->problem.collective, false, rank);
}

COLL_INLINE unsigned coll_i_kary_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_KARY, COLL_BCAST, false, rank, s, out);
}

COLL_ALGORITHM(coll_kary_bcast, "kary", "Wu 2005, figure 3.1; Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_kary_params, coll_i_prepare_radix),
    coll_i_kary_steps, coll_i_kary_bcast_step, NULL, coll_i_kary_check);

COLL_INLINE unsigned coll_i_kary_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_KARY, COLL_REDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_kary_reduce, "kary", "Wu 2005, figure 3.1; Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_kary_params, coll_i_prepare_radix),
    coll_i_kary_steps, coll_i_kary_reduce_step, coll_i_kary_scratch, coll_i_kary_check);

COLL_INLINE unsigned coll_i_kary_allreduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_KARY, COLL_ALLREDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_kary_allreduce, "kary", "Wu 2005, figure 3.1; Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 3, /* sends */ 2, COLL_PREPARED(2, coll_i_kary_params, coll_i_prepare_radix),
    coll_i_kary_steps, coll_i_kary_allreduce_step, coll_i_kary_scratch, coll_i_kary_check);

/* ---- barrier ----------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_kary_barrier_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_tree_barrier_steps(plan, COLL_I_KARY, rank);
}

COLL_INLINE unsigned coll_i_kary_barrier_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    return coll_i_tree_barrier_step(plan, COLL_I_KARY, rank, s, out);
}

COLL_ALGORITHM(coll_kary_barrier, "kary", "Wu 2005, figure 3.1; Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_kary_params, coll_i_prepare_radix),
    coll_i_kary_barrier_steps, coll_i_kary_barrier_step, NULL, coll_i_kary_check);

#endif /* COLL_ALGOS_KARY_H */
