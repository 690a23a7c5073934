/* coll/algos/chain.h — bcast, reduce, allreduce along chains of ranks: pipelines
 *
 * The root has a few chains of ranks hanging off it; in a chain, everyone has one neighbour above
 * and one below. That is slow for a short vector, which passes p/chains ranks one after the other.
 * Cut into many segments, a long one streams: every rank sends each element once a way, and all
 * links work at once. One chain is a pipeline; more chains are shorter, and the root sends to
 * each.
 *
 *   chains = 2, p = 8, bcast:   0 ──► 1 ──► 2 ──► 3 ──► 4        segment i comes to depth d
 *                               └───► 5 ──► 6 ──► 7              i + d messages after the start
 *
 * Laws (tests/algos/chain.c)
 *   (1) a chain is a run of ranks, and the lengths of chains differ by at most one, longer ones
 *       first
 *   (2) the root has min(chains, p−1) children, all others have at most one
 *   (3) the height is ⌈(p−1)/chains⌉
 * Cost    as in kit/tree_walk.h
 * Source  Wu 2005, figure 3.1 (chain); Pješivac-Grbović et al. 2007, doi:10.1007/s10586-007-0012-0
 *         (chains)
 */
#ifndef COLL_ALGOS_CHAIN_H
#define COLL_ALGOS_CHAIN_H

#include "kit/derived.h"
#include "kit/tree_walk.h"

COLL_TABLE(coll_param, coll_i_chain_params, {
    COLL_PARAM("chains", "how many hang off the root", 1, UINT32_MAX / 2, 4, {2, 100, 2, 2}),
    COLL_PARAM("segment", "elements of a segment; 0: the whole vector",
               0, UINT32_MAX, 0, {0, 3, 0, 0})});

COLL_INLINE coll_status coll_i_chain_check(const coll_plan *plan)
{
    return coll_i_walk_check(plan, COLL_I_CHAIN);
}

COLL_INLINE size_t coll_i_chain_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_steps(plan, COLL_I_CHAIN, plan->problem.collective, false, rank);
}

COLL_INLINE size_t coll_i_chain_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_scratch(plan, COLL_I_CHAIN, plan->problem.collective, false, rank);
}

COLL_INLINE unsigned coll_i_chain_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_CHAIN, COLL_BCAST, false, rank, s, out);
}

COLL_ALGORITHM(coll_chain_bcast, "chain", "Wu 2005, figure 3.1; Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_chain_params, coll_i_prepare_radix),
    coll_i_chain_steps, coll_i_chain_bcast_step, NULL, coll_i_chain_check);

COLL_INLINE unsigned coll_i_chain_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_CHAIN, COLL_REDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_chain_reduce, "chain", "Wu 2005, figure 3.1; Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_chain_params, coll_i_prepare_radix),
    coll_i_chain_steps, coll_i_chain_reduce_step, coll_i_chain_scratch, coll_i_chain_check);

COLL_INLINE unsigned coll_i_chain_allreduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_CHAIN, COLL_ALLREDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_chain_allreduce, "chain",
    "Wu 2005, figure 3.1; Pjesivac-Grbovic et al. 2007",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 3, /* sends */ 2, COLL_PREPARED(2, coll_i_chain_params, coll_i_prepare_radix),
    coll_i_chain_steps, coll_i_chain_allreduce_step, coll_i_chain_scratch, coll_i_chain_check);

#endif /* COLL_ALGOS_CHAIN_H */
