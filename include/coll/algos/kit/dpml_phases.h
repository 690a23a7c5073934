/* coll/algos/kit/dpml_phases.h — the phases of dpml.h within a node: plans of the node's ranks
 *
 * To collect, every rank puts its operands into SHARED, and the leaders reduce them, each its block
 * of partitions. To spread, every rank copies the results of all leaders out. Leaders meet in
 * rounds: in round x leader y notifies y + x and awaits y − x.
 *
 *   collect   put own partitions in, notify leaders  │  leader: await all, reduce its block
 *   spread    leader: results are there, notify all  │  all: await leaders, copy results out
 *
 * Laws (tests/algos/dpml.c): (1) and (3) of dpml.h
 * Source  Bayatpour et al. 2017, section 4, phases 1, 2 and 4, doi:10.1145/3126908.3126954
 */
#ifndef COLL_ALGOS_KIT_DPML_PHASES_H
#define COLL_ALGOS_KIT_DPML_PHASES_H

#include "../../plan/composite.h"

/* The two phases within a node are plans of the node's ranks. Of them every radix.by-th leads,
 * until there are L, or those that were chosen by their rails. Number y of them takes care of the
 * block of partitions for which it is the leader. Block y has a region of SHARED with a slot for each rank; its result lies in the
 * first one. */
COLL_HOT_INLINE uint32_t coll_i_dpml_leading(const coll_plan *plan)
{
    const uint32_t l = coll_i_workspace(plan)->leaders.by, m = plan->problem.p;
    return l < m ? l : m;
}

/* Where rails chose the leaders, among fewer than all ranks: how many of them are below each rank of
 * this node; else NULL. */
COLL_HOT_INLINE const size_t *coll_i_dpml_below(const coll_plan *plan)
{
    const coll_workspace *workspace = coll_i_workspace(plan);
    return workspace->below && workspace->leaders.by < plan->problem.p
               ? workspace->below + workspace->at.first
               : NULL;
}

/* The rank that takes care of block y. */
COLL_HOT_INLINE uint32_t coll_i_dpml_rank(const coll_plan *plan, uint32_t y)
{
    const size_t *below = coll_i_dpml_below(plan);
    return COLL_LIKELY(!below) ? y * plan->radix.by
                               : coll_i_rails_leader(below, plan->problem.p, y);
}

/* The first partition of block y. */
COLL_HOT_INLINE size_t coll_i_dpml_begin(const coll_plan *plan, uint32_t y)
{
    const coll_workspace *workspace = coll_i_workspace(plan);
    const uint32_t l = workspace->leaders.by, m = plan->problem.p;
    const size_t n = plan->problem.count;
    size_t at = workspace->part;
    if (m >= l)
        at *= y;
    else if (!workspace->below)
        at *= coll_divide(y * l + m - 1, &plan->second);
    else
        at *= y < m ? workspace->below[workspace->at.first + y] : l;
    return at < n ? at : n;
}

COLL_HOT_INLINE coll_block coll_i_dpml_block(const coll_plan *plan, uint32_t y)
{
    coll_block block;
    block.offset = coll_i_dpml_begin(plan, y);
    block.count = coll_i_dpml_begin(plan, y + 1) - block.offset;
    return block;
}

COLL_HOT_INLINE coll_ref coll_i_dpml_slot(const coll_plan *plan, coll_block block,
                                          uint32_t rank)
{
    return COLL_AT(COLL_SHARED, plan->problem.p * block.offset + rank * block.count);
}

/* The number of the block that a rank takes care of; COLL_RANK_NONE: it does not lead. */
COLL_HOT_INLINE uint32_t coll_i_dpml_number(const coll_plan *plan, uint32_t rank)
{
    const size_t *below = coll_i_dpml_below(plan);
    const uint32_t y = COLL_LIKELY(!below) ? coll_divide(rank, &plan->radix) : 0;
    if (below)
        return coll_i_rails_leads(below, plan->problem.p, coll_i_workspace(plan)->leaders.by,
                                  rank)
                   ? (uint32_t)below[rank]
                   : COLL_RANK_NONE;
    return y * plan->radix.by == rank && y < coll_i_dpml_leading(plan) ? y : COLL_RANK_NONE;
}

/* Steps in which a leading rank meets all that do not lead, four a step; those that lead are
 * skipped. */
COLL_HOT_INLINE size_t coll_i_dpml_others(const coll_plan *plan)
{
    return coll_i_dpml_leading(plan) == plan->problem.p
               ? 0
               : (plan->problem.p + (size_t)COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

/* Does the sum of a block go to SCRATCH, where the leaders' allreduce reads it? Else it stays
 * in OUT: there is only one node. */
COLL_HOT_INLINE bool coll_i_dpml_aside(const coll_plan *plan)
{
    return plan->param[0] != 0;
}

/* Collecting. A leading rank: the own operand; rounds among those that lead; the others; the
 * reduction. Another: two blocks a step. */
COLL_INLINE size_t coll_i_dpml_collect_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t leading = coll_i_dpml_leading(plan);
    if (plan->problem.p == 1)
        return coll_i_dpml_aside(plan) && coll_in_place(plan) ? 1 : 0;
    return coll_i_dpml_number(plan, rank) == COLL_RANK_NONE
               ? (leading + (size_t)1) / 2
               : leading + coll_i_dpml_others(plan) + 1;
}

/* Puts the operand of block y into its slot, and says so. */
COLL_HOT_INLINE unsigned coll_i_dpml_put(const coll_plan *plan, uint32_t rank, uint32_t y,
                                         coll_action *out)
{
    const coll_block block = coll_i_dpml_block(plan, y);
    const coll_ref slot = coll_i_dpml_slot(plan, block, rank);
    const uint32_t leader = coll_i_dpml_rank(plan, y);
    coll_act_copy(&out[0], slot, coll_input(plan) + block.offset, block.count);
    if (leader == rank)
        return 1;
    coll_act_notify(&out[1], leader, slot, block.count);
    return 2;
}

COLL_INLINE unsigned coll_i_dpml_collect_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const uint32_t leading = coll_i_dpml_leading(plan), m = plan->problem.p;
    const uint32_t own = coll_i_dpml_number(plan, rank);
    coll_block block;
    unsigned n = 0;
    if (m == 1) {
        coll_act_copy(out, COLL_AT(COLL_SCRATCH, 0), COLL_AT(COLL_OUT, 0), plan->problem.count);
        return 1;
    }
    if (own == COLL_RANK_NONE) {
        const uint32_t y = (uint32_t)s * 2;
        n = coll_i_dpml_put(plan, rank, y, out);
        return y + 1 < leading ? n + coll_i_dpml_put(plan, rank, y + 1, out + n) : n;
    }
    block = coll_i_dpml_block(plan, own);
    if (s < leading) {
        const uint32_t x = (uint32_t)s;
        const uint32_t from = coll_i_dpml_rank(plan, coll_mod_sub(own, x, leading));
        n = coll_i_dpml_put(plan, rank, coll_mod_add(own, x, leading), out);
        if (x > 0)
            coll_act_await(&out[n++], from, coll_i_dpml_slot(plan, block, from), block.count);
        return n;
    }
    s -= leading;
    if (s < coll_i_dpml_others(plan)) {
        const uint32_t first = (uint32_t)s * COLL_STEP_MAX;
        for (uint32_t i = first; i < m && i < first + COLL_STEP_MAX; i++)
            if (coll_i_dpml_number(plan, i) == COLL_RANK_NONE)
                coll_act_await(&out[n++], i, coll_i_dpml_slot(plan, block, i), block.count);
        return n;
    }
    coll_act_reduce(
        out,
        coll_i_dpml_aside(plan) ? COLL_AT(COLL_SCRATCH, 0) : COLL_AT(COLL_OUT, block.offset),
        coll_i_dpml_slot(plan, block, 0), coll_i_dpml_slot(plan, block, 1), block.count);
    out->inputs = (uint16_t)(m - 1);
    out->stride = block.count;
    return 1;
}

/* Spreading. A leading rank: its result to SHARED; the others, which need not wait until it has
 * fetched what it wants itself; rounds among those that lead. Another: two blocks a step. */
COLL_INLINE size_t coll_i_dpml_spread_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t leading = coll_i_dpml_leading(plan);
    if (plan->problem.p == 1)
        return 0;
    return coll_i_dpml_number(plan, rank) == COLL_RANK_NONE
               ? (leading + (size_t)1) / 2
               : leading + coll_i_dpml_others(plan);
}

/* Waits for the result of block y, and copies it. */
COLL_HOT_INLINE void coll_i_dpml_fetch(const coll_plan *plan, uint32_t y, coll_action *out)
{
    const coll_block block = coll_i_dpml_block(plan, y);
    const coll_ref result = coll_i_dpml_slot(plan, block, 0);
    coll_act_await(&out[0], coll_i_dpml_rank(plan, y), result, block.count);
    coll_act_copy(&out[1], COLL_AT(COLL_OUT, block.offset), result, block.count);
}

COLL_INLINE unsigned coll_i_dpml_spread_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    const uint32_t leading = coll_i_dpml_leading(plan), m = plan->problem.p;
    const uint32_t own = coll_i_dpml_number(plan, rank);
    coll_block block;
    coll_ref result;
    unsigned n = 0;
    if (own == COLL_RANK_NONE) {
        const uint32_t y = (uint32_t)s * 2;
        coll_i_dpml_fetch(plan, y, out);
        if (y + 1 == leading)
            return 2;
        coll_i_dpml_fetch(plan, y + 1, out + 2);
        return 4;
    }
    block = coll_i_dpml_block(plan, own);
    result = coll_i_dpml_slot(plan, block, 0);
    if (s == 0) {
        coll_act_copy(out, result, COLL_AT(COLL_OUT, block.offset), block.count);
        return 1;
    }
    if (s > coll_i_dpml_others(plan)) {
        const uint32_t x = (uint32_t)(s - coll_i_dpml_others(plan));
        coll_act_notify(out, coll_i_dpml_rank(plan, coll_mod_add(own, x, leading)), result,
                        block.count);
        coll_i_dpml_fetch(plan, coll_mod_sub(own, x, leading), out + 1);
        return 3;
    }
    for (uint32_t i = ((uint32_t)s - 1) * COLL_STEP_MAX, end = i + COLL_STEP_MAX;
         i < m && i < end; i++)
        if (coll_i_dpml_number(plan, i) == COLL_RANK_NONE)
            coll_act_notify(&out[n++], i, result, block.count);
    return n;
}

COLL_ALGORITHM(coll_i_dpml_collect, "dpml collect", "Bayatpour et al. 2017, phases 1 and 2",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_SHARED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_dpml_collect_steps, coll_i_dpml_collect_step);

COLL_ALGORITHM(coll_i_dpml_spread, "dpml spread", "Bayatpour et al. 2017, phase 4",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_SHARED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_dpml_spread_steps, coll_i_dpml_spread_step);

#endif /* COLL_ALGOS_KIT_DPML_PHASES_H */
