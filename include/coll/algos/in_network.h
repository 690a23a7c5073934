/* coll/algos/in_network.h — barrier, allreduce, reduce_scatter(_block) by the network: all ranks
 * meet once
 *
 * The switches on the way reduce what the ranks hand to them, and hand the result back. Few
 * networks take more than some reductions at a time, of short vectors; so in larger systems the
 * ranks that hand over are leaders of nodes or sockets (two_level.h). Every rank gets the result of
 * all; in a reduce_scatter it takes its block of that. Where reductions in the network are short
 * anyway, that takes one round, and no rank works for p blocks.
 *
 * A barrier is such a meeting without operands.
 *
 * Cost    one action of `count` elements, or of all blocks; reduce_scatter: scratch for these
 * Source  Bayatpour et al. 2017, section 2.2, doi:10.1145/3126908.3126954; Graham et al. 2016
 * (SHArP)
 */
#ifndef COLL_ALGOS_IN_NETWORK_H
#define COLL_ALGOS_IN_NETWORK_H

#include "../plan.h"

/* Reduces a vector of all ranks. */
COLL_INLINE void coll_i_in_network_act(const coll_plan *plan, coll_ref dst, size_t count,
                                       coll_action *out)
{
    coll_network_group all;
    all.number = COLL_GROUP_ALL;
    all.members = plan->problem.p;
    coll_act_network_reduce(out, all, dst, coll_input(plan), count);
}

/* ---- barrier ------------------------------------------------------------------------------ */

COLL_INLINE size_t coll_i_in_network_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 1;
}

COLL_INLINE unsigned coll_i_in_network_barrier_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    coll_network_group all;
    (void)rank;
    (void)s;
    all.number = COLL_GROUP_ALL;
    all.members = plan->problem.p;
    coll_act_network_barrier(out, all, COLL_AT(COLL_SCRATCH, 0));
    return 1;
}

COLL_ALGORITHM(coll_in_network_barrier, "in_network", "Bayatpour et al. 2017, section 2.2",
    COLL_BIT(COLL_BARRIER), COLL_NEEDS_NETWORK_BARRIER,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_in_network_steps, coll_i_in_network_barrier_step);

/* ---- allreduce --------------------------------------------------------------------------- */

COLL_INLINE unsigned coll_i_in_network_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    (void)rank;
    (void)s;
    coll_i_in_network_act(plan, COLL_AT(COLL_OUT, 0), plan->problem.count, out);
    return 1;
}

COLL_ALGORITHM(coll_in_network_allreduce, "in_network", "Bayatpour et al. 2017, section 2.2",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_NETWORK_REDUCE | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_in_network_steps, coll_i_in_network_step);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

/* Elements of all blocks. */
COLL_INLINE size_t coll_i_in_network_reduce_scatter_scratch(const coll_plan *plan,
                                                            uint32_t rank)
{
    const coll_block last = coll_in_block(plan, plan->problem.p - 1);
    (void)rank;
    return last.offset + last.count;
}

COLL_INLINE size_t coll_i_in_network_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 2;
}

COLL_INLINE unsigned coll_i_in_network_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                           size_t s, coll_action *out)
{
    const coll_ref all = COLL_AT(COLL_SCRATCH, 0);
    const coll_block own = coll_in_block(plan, rank);
    if (s == 0)
        coll_i_in_network_act(plan, all, coll_i_in_network_reduce_scatter_scratch(plan, rank),
                              out);
    else
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), all + own.offset, own.count);
    return 1;
}

COLL_ALGORITHM(coll_in_network_reduce_scatter, "in_network",
    "Bayatpour et al. 2017, section 2.2",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_NETWORK_REDUCE | COLL_NEEDS_PACKED,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_in_network_reduce_scatter_steps, coll_i_in_network_reduce_scatter_step,
    coll_i_in_network_reduce_scatter_scratch);

#endif /* COLL_ALGOS_IN_NETWORK_H */
