/* coll/algos/bine.h — bcast, reduce, allreduce, gather(v), scatter(v) on Bine trees
 *
 * A Bine (binomial negabinary) tree is a binomial tree with other ranks in its places: a
 * parent's children are on both sides of it in turn, and so is what hangs off them. Every
 * subtree is still a run of ranks, but grows on both sides of its root, so parents are nearer:
 * 1, 1, 3, 5, 11 … ranks away instead of 1, 2, 4, 8, 16 …. On a network where near ranks are
 * near each other fewer messages cross the links between groups. Broadcast goes down from the
 * root, largest subtree first; reduction comes up, smallest first, and combines what comes from
 * a lower rank on the left.
 *
 *   p = 8, reduce to rank 0 (ranks 6, 7 are its neighbours below):
 *
 *       phase 0   6 → 7    1 → 0    2 → 3    5 → 4
 *       phase 1   7 → 0    4 → 3
 *       phase 2   3 → 0                                  distances 1, 1, 3; binomial 1, 2, 4
 *
 *   the tree   6 ─ 7 ─ 0 ─ 1      the same with true ranks, if the operator is not commutative:
 *                      └─ 3 ─ 2                      0 ─ 1 ─ 2 ─ 3
 *                         └─ 4 ─ 5                           └─ 5 ─ 4, 6 ─ 7; the sum at 2
 *
 * Any p: the tree of plan/topo.h keeps runs of ranks, and phases, where the paper's needs a power
 * of two.
 *
 * Laws (tests/algos/bine.c)
 *   (1) with p a power of two, the parent of rank r (root 0) is r with its u lowest digits to
 *       the base −2 inverted, where u of them, and no more, are alike; the digits are those of r
 *       or of r − p
 *   (2) a rank's subtree is a run of ranks around the ring, the subtrees of its children put on
 *       its two sides in turn
 *   (3) it has the phases and the number of children of a binomial tree
 *   (4) the distances of all ranks to their parents on the ring make at most the sum of a
 *       binomial tree's, and less for p > 6
 * Cost    as in kit/tree_walk.h and kit/tree_gather.h; the root has ⌈log2 p⌉ children, the
 *         others fewer; the height is ⌊log2 p⌋
 * Source  De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler 2025
 *         (distance-halving tree), doi:10.1145/3712285.3759835
 */
#ifndef COLL_ALGOS_BINE_H
#define COLL_ALGOS_BINE_H

#include "kit/tree_gather.h"

COLL_TABLE(coll_param, coll_i_bine_params, {
    COLL_PARAM("segment", "elements of a segment; 0: the whole vector",
               0, UINT32_MAX, 0, {0, 3, 0, 0})});

COLL_INLINE coll_status coll_i_bine_check(const coll_plan *plan)
{
    return coll_i_walk_check(plan, COLL_I_BINE);
}

COLL_INLINE size_t coll_i_bine_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_steps(plan, COLL_I_BINE, plan->problem.collective, false, rank);
}

COLL_INLINE size_t coll_i_bine_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_scratch(plan, COLL_I_BINE, plan->problem.collective, false, rank);
}

COLL_INLINE unsigned coll_i_bine_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_BINE, COLL_BCAST, false, rank, s, out);
}

COLL_ALGORITHM(coll_bine_bcast, "bine", "De Sensi et al. 2025",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_bine_params),
    coll_i_bine_steps, coll_i_bine_bcast_step, NULL, coll_i_bine_check);

COLL_INLINE unsigned coll_i_bine_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_BINE, COLL_REDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_bine_reduce, "bine", "De Sensi et al. 2025",
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_bine_params),
    coll_i_bine_steps, coll_i_bine_reduce_step, coll_i_bine_scratch, coll_i_bine_check);

COLL_INLINE unsigned coll_i_bine_allreduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_BINE, COLL_ALLREDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_bine_tree_allreduce, "bine_tree", "De Sensi et al. 2025",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 3, /* sends */ 2, COLL_PARAMS(1, coll_i_bine_params),
    coll_i_bine_steps, coll_i_bine_allreduce_step, coll_i_bine_scratch, coll_i_bine_check);

/* ---- gather, scatter --------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_bine_gather_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_tree_gather_steps(plan, COLL_I_BINE, rank);
}

COLL_INLINE unsigned coll_i_bine_gather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    return coll_i_tree_gather_step(plan, COLL_I_BINE, rank, s, out);
}

COLL_INLINE size_t coll_i_bine_gather_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_tree_gather_scratch(plan, COLL_I_BINE, rank);
}

COLL_ALGORITHM(coll_bine_gather, "bine", "De Sensi et al. 2025",
    COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_bine_gather_steps, coll_i_bine_gather_step, coll_i_bine_gather_scratch);

COLL_ALGORITHM(coll_bine_gatherv, "bine", "De Sensi et al. 2025",
    COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV), COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_bine_gather_steps, coll_i_bine_gather_step, coll_i_bine_gather_scratch);

#endif /* COLL_ALGOS_BINE_H */
