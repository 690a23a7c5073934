/* coll/algos/two_level_exchange.h — alltoall in two levels
 *
 * A leader gathers all blocks of its node's ranks, sorts them by the node that they go to,
 * exchanges one message with every other leader, sorts what came by its node's ranks, and scatters.
 * Every block is moved five times instead of once, but the network has h² messages instead of p²,
 * so this is for short blocks. On one node the ranks exchange directly.
 *
 *   2 nodes of 2 ranks, leader 0     gathered     0:0 0:1 0:2 0:3 | 1:0 1:1 1:2 1:3   (from:to)
 *                                    by node      0:0 0:1 1:0 1:1 | 0:2 0:3 1:2 1:3
 *                                    exchanged    0:0 0:1 1:0 1:1 | 2:0 2:1 3:0 3:1
 *                                    by rank      0:0 1:0 2:0 3:0 | 0:1 1:1 2:1 3:1
 *
 * Laws (tests/algos/two_level_exchange.c)
 *   (1) sorting moves every element once
 *   (2) only leaders have messages to other nodes, and these are those of the inner algorithm of
 *       as many ranks as there are nodes
 * Cost    messages, elements and combinations of the inner algorithms: within a node of m ranks, of
 *         a gather and a scatter of m·p blocks; at a leader, besides, of the one across. Rounds as
 *         in two_level.h. Sorting: m·h and m·p copies. scratch of a leader: 2·m·p blocks
 * Source  Wu 2005, chapter 3 (levels); Bayatpour et al. 2017, section 2.1
 */
#ifndef COLL_ALGOS_TWO_LEVEL_EXCHANGE_H
#define COLL_ALGOS_TWO_LEVEL_EXCHANGE_H

#include "pairwise.h"
#include "two_level_blocks.h"

/* ---- sorting ----------------------------------------------------------------------------- */

/* Copies of a leader of a node of m ranks from IN to OUT, a plan of its own of p = m ranks.
 * First: IN has p blocks of each rank of the node, OUT those for each node, by rank: m·h
 * copies, radix is h. */
COLL_INLINE size_t coll_i_sort_by_node_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return ((size_t)plan->problem.p * plan->radix.by + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_sort_by_node_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const coll_workspace *workspace = coll_i_workspace(plan);
    const size_t count = plan->problem.count;
    const uint32_t m = plan->problem.p, p = workspace->p, all = m * plan->radix.by;
    unsigned n = 0;
    (void)rank;
    for (uint32_t x = (uint32_t)s * COLL_STEP_MAX; n < COLL_STEP_MAX && x < all; x++) {
        const uint32_t t = coll_divide(x, &plan->radix), node = x - t * plan->radix.by;
        const size_t first = coll_nodes_first(&workspace->nodes, p, node);
        const size_t ranks = coll_nodes_first(&workspace->nodes, p, node + 1) - first;
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, (first * m + t * ranks) * count),
                      COLL_AT(COLL_IN, ((size_t)t * p + first) * count), ranks * count);
    }
    return n;
}

/* Then: IN has m blocks of each of all ranks, OUT those for each rank of the node: m·p copies,
 * radix is p. */
COLL_INLINE unsigned coll_i_sort_by_rank_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const size_t count = plan->problem.count, m = plan->problem.p;
    const uint32_t p = plan->radix.by, all = plan->problem.p * p;
    unsigned n = 0;
    (void)rank;
    for (uint32_t x = (uint32_t)s * COLL_STEP_MAX; n < COLL_STEP_MAX && x < all; x++) {
        const uint32_t t = coll_divide(x, &plan->radix), from = x - t * p;
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, x * count),
                      COLL_AT(COLL_IN, (from * m + t) * count), count);
    }
    return n;
}

COLL_ALGORITHM(coll_i_sort_by_node, "sort by node", "",
    COLL_BIT(COLL_ALLTOALL), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_sort_by_node_steps, coll_i_sort_by_node_step);
COLL_ALGORITHM(coll_i_sort_by_rank, "sort by rank", "",
    COLL_BIT(COLL_ALLTOALL), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_sort_by_node_steps, coll_i_sort_by_rank_step);

/* A phase that sorts, at a leader. */
COLL_INLINE coll_status coll_i_levels_sort(coll_plan *plan, coll_workspace *workspace,
                                           const coll_i_levels *at,
                                           const coll_algorithm *algorithm, uint32_t radix,
                                           size_t from, size_t to)
{
    coll_problem of;
    coll_plan *inner;
    coll_phase *phase;
    coll_status status;
    coll_i_composite_problem(plan, COLL_INTRA, COLL_ALLTOALL, workspace->at.ranks,
                             plan->problem.count, &of);
    status = coll_i_composite_make(plan, workspace, algorithm, NULL, &of, &inner);
    if (status != COLL_OK)
        return status;
    inner->inner = workspace;
    inner->radix = coll_fast_divisor_of(radix);
    phase = coll_i_composite_phase(workspace, inner, 0, 0);
    phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, from);
    phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, to);
    if (!at->leads)
        workspace->sequence.n--;
    return COLL_OK;
}

/* ---- alltoall ---------------------------------------------------------------------------- */

/* What each node has for each other: m_i·m_k blocks. Tables, where nodes differ. */
COLL_INLINE void coll_i_levels_matrix(const coll_plan *plan, coll_workspace *workspace,
                                      const coll_i_levels *at, coll_problem *of)
{
    const coll_nodes *nodes = &workspace->nodes;
    const size_t own = workspace->at.ranks * plan->problem.count;
    size_t *counts = workspace->tables, *displs = counts + at->nodes;
    of->count = own * workspace->at.ranks;
    if (coll_nodes_smallest(nodes, workspace->p) == coll_nodes_largest(nodes, workspace->p))
        return;
    for (uint32_t i = 0; i < at->nodes; i++) {
        displs[i] = coll_nodes_first(nodes, workspace->p, i) * own;
        counts[i] = coll_nodes_first(nodes, workspace->p, i + 1) * own - displs[i];
    }
    of->collective = COLL_ALLTOALLV;
    of->count = 0;
    of->in.counts = of->out.counts = counts;
    of->in.displs = of->out.displs = displs;
}

/* SCRATCH has two halves: gathered and exchanged; sorted, before and after. */
COLL_INLINE coll_status coll_i_two_level_alltoall(coll_plan *plan, coll_workspace *workspace)
{
    const uint32_t p = plan->problem.p, nodes = coll_nodes_count(&workspace->nodes);
    const coll_ref input = coll_input(plan);
    coll_i_levels at;
    coll_problem of;
    coll_phase *phase;
    coll_status status;
    size_t half, held;
    coll_i_levels_of(plan, workspace, &at);
    if (!at.intra || !at.inter) {
        const coll_level level = at.intra ? COLL_INTRA : COLL_INTER;
        coll_i_levels_problem(plan, workspace, &at, level, COLL_ALLTOALL, &of);
        return at.intra ? coll_i_composite_intra(plan, workspace, &of, &phase)
                        : coll_i_composite_inter(plan, workspace, &at, &of, &phase);
    }
    if (!coll_multiply(plan->problem.count * p, coll_nodes_largest(&workspace->nodes, p),
                       &half) ||
        !coll_i_addressable(2 * half, plan->problem.elem_bytes))
        return COLL_ERR_OVERFLOW;
    half = plan->problem.count * p * workspace->at.ranks;
    held = at.leads ? 2 * half : 0;
    workspace->scratch = held;
    coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, COLL_GATHER, &of);
    of.count = plan->problem.count * p;
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = input;
    phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
    phase->base[COLL_SCRATCH] += held;
    status = coll_i_levels_sort(plan, workspace, &at, &coll_i_sort_by_node, nodes, 0, half);
    if (status != COLL_OK)
        return status;
    coll_i_levels_problem(plan, workspace, &at, COLL_INTER, COLL_ALLTOALL, &of);
    coll_i_levels_matrix(plan, workspace, &at, &of);
    status = coll_i_composite_inter(plan, workspace, &at, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, half);
    phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
    phase->base[COLL_SCRATCH] += held;
    status = coll_i_levels_sort(plan, workspace, &at, &coll_i_sort_by_rank, p, 0, half);
    if (status != COLL_OK)
        return status;
    coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, COLL_SCATTER, &of);
    of.count = plan->problem.count * p;
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, half);
    phase->base[COLL_SCRATCH] += held;
    return COLL_OK;
}

COLL_TABLE(coll_binding, coll_i_two_level_alltoall_defaults, {
    {COLL_INTRA, &coll_fnomial_gather, NULL},
    {COLL_INTRA, &coll_pairwise_alltoall, NULL},
    {COLL_INTER, &coll_pairwise_alltoall, NULL}});
COLL_COMPOSITE(coll_two_level_alltoall, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_ALLTOALL), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_alltoall, COLL_BINDINGS(3, coll_i_two_level_alltoall_defaults));

#endif /* COLL_ALGOS_TWO_LEVEL_EXCHANGE_H */
