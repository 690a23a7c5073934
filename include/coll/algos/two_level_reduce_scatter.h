/* coll/algos/two_level_reduce_scatter.h — reduce_scatter(_block) in two levels
 *
 * The vector is reduced at the leaders, which reduce_scatter the blocks of nodes, and scatter the
 * blocks of ranks.
 *
 *   2 nodes of 2 ranks, leaders 0, 2:   rank         0           1     2           3
 *                                       reduced      Σ 0, 1            Σ 2, 3         blocks 0–3
 *                                       across       blocks 0, 1       blocks 2, 3    of Σ 0–3
 *                                       scattered    0           1     2           3
 *
 * Laws (tests/algos/two_level_exchange.c)
 *   (1) only leaders have messages to other nodes, and these are those of the inner algorithm of
 *       as many ranks as there are nodes
 * Cost    messages, elements and combinations of the inner algorithms: within a node of m ranks, of
 *         a reduce of all blocks and a scatter of m; at a leader, besides, of the one across.
 *         Rounds as in two_level.h. scratch of a leader: all blocks and, if m > 1, those of its
 *         node
 * Source  Wu 2005, chapter 3 (levels); Bayatpour et al. 2017, section 2.1
 */
#ifndef COLL_ALGOS_TWO_LEVEL_REDUCE_SCATTER_H
#define COLL_ALGOS_TWO_LEVEL_REDUCE_SCATTER_H

#include "pairwise.h"
#include "two_level_blocks.h"

/* A leader's SCRATCH has the sum of all blocks, and behind it the result of its node's. A rank
 * alone on its node has it in OUT at once. */
COLL_INLINE coll_status coll_i_two_level_reduce_scatter(coll_plan *plan,
                                                        coll_workspace *workspace)
{
    const coll_layout *layout = &plan->problem.in;
    const bool v = plan->problem.collective == COLL_REDUCE_SCATTER;
    const size_t all = coll_i_levels_at(plan, layout, plan->problem.p);
    const size_t node = coll_i_levels_node(plan, workspace, layout);
    const size_t begin = coll_i_levels_at(plan, layout, workspace->at.first);
    const bool alone = workspace->at.ranks == 1;
    coll_i_levels at;
    coll_problem of;
    coll_phase *phase;
    coll_status status = COLL_OK;
    size_t sum = 0, held;
    coll_i_levels_of(plan, workspace, &at);
    if (at.intra && at.leads)
        sum = all;
    held = sum + (sum && at.inter && !alone ? node : 0);
    workspace->scratch = held;
    if (at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, COLL_REDUCE, &of);
        of.flags &= ~(uint32_t)COLL_FLAG_IN_PLACE;
        of.count = all;
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
        if (status != COLL_OK)
            return status;
        phase->base[COLL_IN] = coll_input(plan);
        phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
        phase->base[COLL_SCRATCH] += held;
    }
    if (at.inter || !at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTER, plan->problem.collective, &of);
        coll_i_levels_inter(plan, workspace, &at, layout, COLL_REDUCE_SCATTER, &of, &of.in);
        status = coll_i_composite_inter(plan, workspace, &at, &of, &phase);
        if (status != COLL_OK)
            return status;
        if (at.intra) {
            phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, 0);
            phase->base[COLL_OUT] = alone ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, all);
        }
        phase->base[COLL_SCRATCH] += held;
    }
    if (at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTRA,
                              v ? COLL_SCATTERV : COLL_SCATTER, &of);
        of.flags &= ~(uint32_t)COLL_FLAG_IN_PLACE;
        coll_i_levels_intra(workspace, &at, layout, &of.in);
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
        if (status != COLL_OK)
            return status;
        phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, at.inter ? all : begin);
        phase->base[COLL_SCRATCH] += held;
        if (at.inter && alone)
            workspace->sequence.n--;
    }
    return status;
}

COLL_TABLE(coll_binding, coll_i_two_level_reduce_scatter_defaults, {
    {COLL_INTRA, &coll_fnomial_reduce, NULL},
    {COLL_INTRA, &coll_fnomial_gather, NULL},
    {COLL_INTRA, &coll_fnomial_gatherv, NULL},
    {COLL_INTER, &coll_pairwise_reduce_scatter, NULL}});
COLL_COMPOSITE(coll_two_level_reduce_scatter_block, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_reduce_scatter, COLL_BINDINGS(4, coll_i_two_level_reduce_scatter_defaults));
COLL_COMPOSITE(coll_two_level_reduce_scatter, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_REDUCE_SCATTER), COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_reduce_scatter, COLL_BINDINGS(4, coll_i_two_level_reduce_scatter_defaults));

#endif /* COLL_ALGOS_TWO_LEVEL_REDUCE_SCATTER_H */
