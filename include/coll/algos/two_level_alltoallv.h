/* coll/algos/two_level_alltoallv.h — alltoallv, alltoallw: short blocks in two levels
 *
 * A leader does not know the sizes of the blocks that its ranks have for others: only the two at
 * a block's ends do. So short blocks ride as in the alltoall of two_level_exchange.h, each in a
 * slot of `block` elements, the same on all ranks; what a slot holds beyond its block is sent, and
 * never looked at. A block of more than `block` elements goes straight from its rank to the other,
 * in the order of pairwise.h; its slot travels empty. Both ends decide alike, as they agree on the
 * size. With 0, all go straight.
 *
 *   2 nodes of 2 ranks, block = 2, sizes of rank 0's blocks  · 1 5 2
 *       alltoall: slots with –, 1, – and 2 elements;  straight: 5 to rank 2
 *
 * Laws (tests/algos/two_level_alltoallv.c)
 *   (1) messages are those of an alltoall in two levels of blocks of `block` elements, where that
 *       is not 0, whatever the tables say; and then one for each longer block, to its rank
 *   (2) every shorter block is copied to its slot, and from its slot, once
 * Cost    rounds, messages and elements of two_level_exchange.h with blocks of `block` elements,
 *         where that is not 0 and p > 1; and a message for each longer block, in at most as many
 *         rounds as there are of pairwise.h in which somebody has one. scratch: 2·p slots; behind
 *         them that of the alltoall, and in place at least two of the largest blocks
 * Source  Wu 2005, chapter 3 (levels); padding, and short and long blocks in two ways: in use
 */
#ifndef COLL_ALGOS_TWO_LEVEL_ALLTOALLV_H
#define COLL_ALGOS_TWO_LEVEL_ALLTOALLV_H

#include "two_level_exchange.h"

/* ---- slots ------------------------------------------------------------------------------- */

/* SCRATCH begins with a slot for each rank and then one from each rank. Alone, nothing rides. */
COLL_INLINE size_t coll_i_slots_size(const coll_plan *plan)
{
    return plan->problem.p > 1 ? plan->param[0] : 0;
}

/* Into the slots: blocks for the ranks to the right, one after the other. */
COLL_INLINE size_t coll_i_slots_fill_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return ((size_t)plan->problem.p + COLL_STEP_MAX - 2) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_slots_fill_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t slot = coll_i_slots_size(plan);
    unsigned n = 0;
    for (uint32_t x = (uint32_t)s * COLL_STEP_MAX + 1; n < COLL_STEP_MAX && x < p; x++) {
        const uint32_t to = coll_mod_add(rank, x, p);
        const coll_block block =
            coll_in_place(plan) ? coll_out_block(plan, to) : coll_in_block(plan, to);
        coll_act_copy(&out[n++], COLL_AT(COLL_SCRATCH, to * slot),
                      coll_input(plan) + block.offset, block.count <= slot ? block.count : 0);
    }
    return n;
}

/* Out of them: a block a step, next to an exchange of longer ones. */
COLL_INLINE unsigned coll_i_slots_empty_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    const uint32_t p = plan->problem.p, from = coll_mod_sub(rank, (uint32_t)s + 1, p);
    const size_t slot = coll_i_slots_size(plan);
    const coll_block block = coll_out_block(plan, from);
    coll_act_copy(&out[0], COLL_AT(COLL_OUT, block.offset),
                  COLL_AT(COLL_SCRATCH, ((size_t)p + from) * slot),
                  block.count <= slot ? block.count : 0);
    return 1 + coll_i_pairwise_longer(plan, rank, s, slot, 2 * (size_t)p * slot, &out[1]);
}

COLL_INLINE size_t coll_i_slots_empty_scratch(const coll_plan *plan, uint32_t rank)
{
    return 2 * (size_t)plan->problem.p * coll_i_slots_size(plan) +
           coll_i_pairwise_alltoall_scratch(plan, rank);
}

COLL_TABLE(coll_param, coll_i_two_level_alltoallv_params, {
    COLL_PARAM("block", "elements of the longest blocks that ride",
               0, UINT32_MAX, 64, {2, 0, 8, 2})});

COLL_ALGORITHM(coll_i_slots_fill, "fill slots", "",
    COLL_PAIRED, COLL_USES_PADDING,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_two_level_alltoallv_params),
    coll_i_slots_fill_steps, coll_i_slots_fill_step);
COLL_ALGORITHM(coll_i_slots_empty, "empty slots", "",
    COLL_PAIRED, /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_two_level_alltoallv_params),
    coll_i_pairwise_alltoall_steps, coll_i_slots_empty_step, coll_i_slots_empty_scratch);

/* ---- phases ------------------------------------------------------------------------------ */

/* The phases of an alltoall of slots, as if that were the problem; its IN and OUT are the two rows
 * of slots, its SCRATCH what comes behind them. */
COLL_INLINE coll_status coll_i_slots_alltoall(coll_plan *plan, coll_workspace *workspace,
                                              size_t slot)
{
    coll_problem *problem = &plan->problem;
    const coll_collective it = problem->collective;
    const uint32_t flags = problem->flags;
    const size_t count = problem->count, row = problem->p * slot;
    const uint32_t first = workspace->sequence.n;
    coll_ref base[COLL_SPACES];
    coll_status status;
    problem->collective = COLL_ALLTOALL;
    problem->flags = flags & ~(uint32_t)COLL_FLAG_IN_PLACE;
    problem->count = slot;
    status = coll_i_two_level_alltoall(plan, workspace);
    problem->collective = it;
    problem->flags = flags;
    problem->count = count;
    base[COLL_IN] = COLL_AT(COLL_SCRATCH, 0);
    base[COLL_OUT] = COLL_AT(COLL_SCRATCH, row);
    base[COLL_SCRATCH] = COLL_AT(COLL_SCRATCH, 2 * row);
    base[COLL_SHARED] = COLL_AT(COLL_SHARED, 0);
    for (uint32_t i = first; status == COLL_OK && i < workspace->sequence.n; i++)
        for (unsigned space = 0; space < COLL_SPACES; space++) {
            coll_ref *begin = &workspace->phases[i].base[space];
            *begin = base[coll_ref_space(*begin)] + coll_ref_offset(*begin);
        }
    workspace->scratch += 2 * row;
    return status;
}

COLL_INLINE coll_status coll_i_two_level_alltoallv(coll_plan *plan, coll_workspace *workspace)
{
    const size_t slot = coll_i_slots_size(plan), p = plan->problem.p;
    const size_t most = coll_nodes_largest(&workspace->nodes, workspace->p);
    size_t row, held;
    coll_plan *inner;
    coll_status status = COLL_OK;
    if (!coll_multiply(p, slot, &row) || !coll_multiply(row, 2 * most + 2, &held) ||
        !coll_i_addressable(held, plan->problem.elem_bytes))
        return COLL_ERR_OVERFLOW;
    if (slot > 0) {
        status = coll_i_composite_make(plan, workspace, &coll_i_slots_fill, plan->param,
                                       &plan->problem, &inner);
        if (status == COLL_OK) {
            coll_i_composite_phase(workspace, inner, workspace->rank, 0);
            status = coll_i_slots_alltoall(plan, workspace, slot);
        }
    }
    if (status == COLL_OK)
        status = coll_i_composite_make(plan, workspace, &coll_i_slots_empty, plan->param,
                                       &plan->problem, &inner);
    if (status == COLL_OK)
        coll_i_composite_phase(workspace, inner, workspace->rank, 0);
    return status;
}

COLL_COMPOSITE(coll_two_level_alltoallv, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_PAIRED, COLL_USES_PADDING,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_two_level_alltoallv_params),
    coll_i_two_level_alltoallv, COLL_BINDINGS(3, coll_i_two_level_alltoall_defaults));

#endif /* COLL_ALGOS_TWO_LEVEL_ALLTOALLV_H */
