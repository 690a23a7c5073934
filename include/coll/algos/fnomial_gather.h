/* coll/algos/fnomial_gather.h — gather(v), scatter(v) on f-nomial trees
 *
 * The tree is that of fnomial.h: a subtree is an interval of renumbered ranks that begins with its
 * root. What a rank does is in kit/tree_gather.h.
 *
 * Laws    as in kit/tree_gather.h
 * Cost    as in kit/tree_gather.h; the height of fnomial.h
 * Source  Moody 2003, §3.2.3 and Appendix A (the tree)
 */
#ifndef COLL_ALGOS_FNOMIAL_GATHER_H
#define COLL_ALGOS_FNOMIAL_GATHER_H

#include "fnomial.h"
#include "kit/derived.h"
#include "kit/tree_gather.h"

COLL_INLINE size_t coll_i_fnomial_gather_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_tree_gather_steps(plan, COLL_I_FNOMIAL, rank);
}

COLL_INLINE unsigned coll_i_fnomial_gather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    return coll_i_tree_gather_step(plan, COLL_I_FNOMIAL, rank, s, out);
}

COLL_INLINE size_t coll_i_fnomial_gather_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_tree_gather_scratch(plan, COLL_I_FNOMIAL, rank);
}

COLL_ALGORITHM(coll_fnomial_gather, "fnomial", "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_fnomial_gather_steps, coll_i_fnomial_gather_step, coll_i_fnomial_gather_scratch);

COLL_ALGORITHM(coll_fnomial_gatherv, "fnomial", "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV), COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_fnomial_params, coll_i_prepare_radix),
    coll_i_fnomial_gather_steps, coll_i_fnomial_gather_step, coll_i_fnomial_gather_scratch);

#endif /* COLL_ALGOS_FNOMIAL_GATHER_H */
