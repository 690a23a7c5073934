/* coll/algos/multi_leader_blocks.h — allgather(v), reduce_scatter(_block) by several leaders a node
 *
 * The ranks of a node are cut into l runs of equal length (the last has what is left), and the
 * first rank of each leads it. In an allgather, a leader gathers the blocks of its run; leaders of
 * equal number allgather across the nodes, all l groups at once; and within the nodes, an
 * allgather brings together what they have. As that lies run by run, and within a run node by
 * node, every rank finally sorts it by rank, into OUT. A reduce_scatter does the same backwards.
 * There are as many leaders as the smallest node has ranks, if that is fewer than l. Blocks of
 * several sizes lie packed in their table, so that those of a run are one piece. Where ranks have rails
 * (coll_beyond), leaders are spread over them, and runs of a node differ in length.
 *
 *   2 nodes of 4 ranks, l = 2       rank    0  1  2  3  |  4  5  6  7
 *     gather                                0,1   2,3   |  4,5   6,7
 *     allgather, with rank                  4     6     |  0     2
 *     allgather, sorted              0 1 4 5 2 3 6 7  →  0 1 2 3 4 5 6 7
 *
 * Laws (tests/algos/multi_leader_blocks.c)
 *   (1) runs tile the nodes, and each has a leader, its first rank
 *   (2) sorting moves every element once
 * Cost    messages, elements and combinations of the inner algorithms: of a gather or scatter in
 *         the run, and an allgather or reduce_scatter within the node; at a leader, besides, of the
 *         one across. Rounds: at most those of the levels, one after the other; just that on nodes
 *         of one size, in a reduce_scatter if runs are of one size too and no block is empty.
 *         Sorting (l > 1, several nodes): l·h copies of p blocks in all. scratch: p blocks if they
 *         are sorted; at a leader in a reduce_scatter those of its number, and of its run
 * Source  Bayatpour et al. 2017, sections 4.1 and 8 (other collectives),
 *         doi:10.1145/3126908.3126954
 */
#ifndef COLL_ALGOS_MULTI_LEADER_BLOCKS_H
#define COLL_ALGOS_MULTI_LEADER_BLOCKS_H

#include "fnomial_gather.h"
#include "kit/leader_runs.h"
#include "pairwise.h"
#include "ring.h"

/* ---- sorting ----------------------------------------------------------------------------- */

/* Copies between OUT, by rank, and IN, run by run: a plan of its own, radix is h, second l,
 * inner the workspace. reduce_scatter(_block): from IN, by rank, to OUT. */
COLL_INLINE size_t coll_i_sort_runs_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return ((size_t)plan->radix.by * plan->second.by + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_sort_runs_step(const coll_plan *plan, uint32_t rank, size_t s,
                                           coll_action *out)
{
    const coll_workspace *workspace = coll_i_workspace(plan);
    const coll_layout *layout = coll_i_runs_layout(&plan->problem);
    const size_t count = plan->problem.count;
    const uint32_t h = plan->radix.by, l = plan->second.by, all = h * l;
    const bool back = layout == &plan->problem.in;
    unsigned n = 0;
    (void)rank;
    for (uint32_t x = (uint32_t)s * COLL_STEP_MAX; n < COLL_STEP_MAX && x < all; x++) {
        const uint32_t j = coll_divide(x, &plan->radix), i = x - j * h;
        const size_t at = coll_i_runs_at(workspace, layout, count, h, l, j, i);
        const size_t first =
            coll_i_levels_at(plan, layout, coll_i_runs_first(workspace, l, j, i));
        const coll_ref by_rank = COLL_AT(back ? COLL_IN : COLL_OUT, first);
        const coll_ref by_run = COLL_AT(back ? COLL_OUT : COLL_IN, at);
        coll_act_copy(&out[n++], back ? by_run : by_rank, back ? by_rank : by_run,
                      coll_i_runs_at(workspace, layout, count, h, l, j, i + 1) - at);
    }
    return n;
}

COLL_ALGORITHM(coll_i_sort_runs, "sort runs", "",
    COLL_I_RUNS_ALLGATHERS | COLL_I_RUNS_GATHERS | COLL_I_RUNS_SCATTERS | COLL_I_RUNS_REDUCE_SCATTERS,
    /* traits */ 0, /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_sort_runs_steps, coll_i_sort_runs_step);

COLL_INLINE coll_status coll_i_runs_sort(coll_plan *plan, coll_workspace *workspace,
                                         const coll_i_runs *runs, coll_ref in, coll_ref out)
{
    coll_problem of;
    coll_plan *inner;
    coll_phase *phase;
    coll_status status;
    coll_i_composite_problem(plan, COLL_INTRA, plan->problem.collective, plan->problem.p,
                             plan->problem.count, &of);
    of.in.counts = plan->problem.in.counts;
    of.in.displs = plan->problem.in.displs;
    of.out.counts = plan->problem.out.counts;
    of.out.displs = plan->problem.out.displs;
    status = coll_i_composite_make(plan, workspace, &coll_i_sort_runs, NULL, &of, &inner);
    if (status != COLL_OK)
        return status;
    inner->inner = workspace;
    inner->radix = coll_fast_divisor_of(runs->at.nodes);
    inner->second = coll_fast_divisor_of(runs->l);
    phase = coll_i_composite_phase(workspace, inner, 0, 0);
    phase->base[COLL_IN] = in;
    phase->base[COLL_OUT] = out;
    return COLL_OK;
}

/* ---- allgather --------------------------------------------------------------------------- */

/* Blocks come together run by run in SCRATCH, or where they need not be sorted in OUT. */
COLL_INLINE coll_status coll_i_multi_leader_allgather(coll_plan *plan,
                                                      coll_workspace *workspace)
{
    const coll_ref out = COLL_AT(COLL_OUT, 0);
    const bool in_place = coll_in_place(plan);
    coll_ref all, led;
    coll_i_runs runs;
    coll_problem of;
    coll_phase *phase;
    coll_status status = COLL_OK;
    coll_i_runs_of(plan, workspace, &runs);
    plan->traits |= COLL_GIVES_IDENTICAL;
    workspace->scratch = runs.sorts ? coll_i_levels_at(plan, runs.layout, workspace->p) : 0;
    all = runs.sorts ? COLL_AT(COLL_SCRATCH, 0) : out;
    led = all + coll_i_runs_begin(plan, workspace, &runs, runs.own, 0);
    if (runs.at.intra) {
        status = coll_i_runs_stage(plan, workspace, &runs, true,
                                   runs.sorts ? 0 : plan->problem.flags & COLL_FLAG_IN_PLACE,
                                   &phase);
        if (status != COLL_OK)
            return status;
        if (in_place)
            phase->base[COLL_IN] = out + coll_i_levels_at(plan, runs.layout, workspace->rank);
        phase->base[COLL_OUT] =
            all + coll_i_runs_begin(plan, workspace, &runs, runs.own, workspace->at.index);
        phase->base[COLL_SCRATCH] += workspace->scratch;
    }
    if (runs.at.inter || !runs.at.intra) {
        coll_i_runs_inter(plan, workspace, &runs, COLL_ALLGATHER, COLL_ALLGATHERV, &of,
                          &of.out);
        of.flags |= runs.at.intra ? (uint32_t)COLL_FLAG_IN_PLACE
                                  : plan->problem.flags & COLL_FLAG_IN_PLACE;
        status = coll_i_runs_meet(plan, workspace, &runs, &of, &phase);
        if (status != COLL_OK)
            return status;
        phase->base[COLL_OUT] = led;
        phase->base[COLL_SCRATCH] += workspace->scratch;
    }
    if (runs.at.intra) {
        coll_i_runs_intra(plan, workspace, &runs, COLL_ALLGATHERV, &of, &of.out);
        of.flags |= COLL_FLAG_IN_PLACE;
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
        if (status != COLL_OK)
            return status;
        phase->base[COLL_OUT] = all;
        phase->base[COLL_SCRATCH] += workspace->scratch;
    }
    return runs.sorts ? coll_i_runs_sort(plan, workspace, &runs, all, out) : COLL_OK;
}

/* ---- reduce_scatter ---------------------------------------------------------------------- */

/* SCRATCH has the input run by run, if it must be sorted; at a leader then what its node
 * contributes to its number, and the result of its run, unless that is OUT at once. */
COLL_INLINE coll_status coll_i_multi_leader_reduce_scatter(coll_plan *plan,
                                                           coll_workspace *workspace)
{
    coll_ref from = coll_input(plan), sums, result = COLL_AT(COLL_OUT, 0);
    coll_i_runs runs;
    coll_problem of;
    coll_phase *phase;
    coll_status status = COLL_OK;
    bool scatters;
    coll_i_runs_of(plan, workspace, &runs);
    if (!runs.at.intra) {
        coll_i_runs_inter(plan, workspace, &runs, COLL_REDUCE_SCATTER_BLOCK,
                          COLL_REDUCE_SCATTER, &of, &of.in);
        of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
        return coll_i_runs_meet(plan, workspace, &runs, &of, &phase);
    }
    if (runs.sorts) {
        workspace->scratch = coll_i_levels_at(plan, runs.layout, workspace->p);
        status = coll_i_runs_sort(plan, workspace, &runs, from, COLL_AT(COLL_SCRATCH, 0));
        from = COLL_AT(COLL_SCRATCH, 0);
    }
    if (status != COLL_OK)
        return status;
    scatters = runs.size > 1 || !runs.at.inter;
    sums = COLL_AT(COLL_SCRATCH, workspace->scratch);
    coll_i_runs_intra(plan, workspace, &runs, COLL_REDUCE_SCATTER, &of, &of.in);
    if (runs.at.inter)
        workspace->scratch += of.count;
    if (scatters && runs.leads) {
        result = COLL_AT(COLL_SCRATCH, workspace->scratch);
        workspace->scratch += coll_i_runs_elements(plan, workspace, &runs);
    }
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = from;
    phase->base[COLL_OUT] = runs.at.inter ? sums : result;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    if (runs.at.inter) {
        coll_i_runs_inter(plan, workspace, &runs, COLL_REDUCE_SCATTER_BLOCK,
                          COLL_REDUCE_SCATTER, &of, &of.in);
        status = coll_i_runs_meet(plan, workspace, &runs, &of, &phase);
        if (status != COLL_OK)
            return status;
        phase->base[COLL_IN] = sums;
        phase->base[COLL_OUT] = result;
        phase->base[COLL_SCRATCH] += workspace->scratch;
    }
    status = coll_i_runs_stage(plan, workspace, &runs, false, 0, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = result;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    if (!scatters)
        workspace->sequence.n--;
    return COLL_OK;
}

/* ---- records ----------------------------------------------------------------------------- */

COLL_TABLE(coll_binding, coll_i_multi_leader_allgather_defaults, {
    {COLL_INTRA, &coll_fnomial_gather, NULL},
    {COLL_INTRA, &coll_fnomial_gatherv, NULL},
    {COLL_INTRA, &coll_ring_allgather, NULL},
    {COLL_INTER, &coll_ring_allgather, NULL}});
COLL_COMPOSITE(coll_multi_leader_allgather, "multi_leader",
    "Bayatpour et al. 2017, sections 4.1, 8",
    COLL_I_RUNS_ALLGATHERS, COLL_GIVES_IDENTICAL | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_leader_runs_params),
    coll_i_multi_leader_allgather, COLL_BINDINGS(4, coll_i_multi_leader_allgather_defaults));

COLL_TABLE(coll_binding, coll_i_multi_leader_reduce_scatter_defaults, {
    {COLL_INTRA, &coll_pairwise_reduce_scatter, NULL},
    {COLL_INTRA, &coll_fnomial_gather, NULL},
    {COLL_INTRA, &coll_fnomial_gatherv, NULL},
    {COLL_INTER, &coll_pairwise_reduce_scatter, NULL}});
COLL_COMPOSITE(coll_multi_leader_reduce_scatter, "multi_leader",
    "Bayatpour et al. 2017, sections 4.1, 8",
    COLL_I_RUNS_REDUCE_SCATTERS, COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_leader_runs_params),
    coll_i_multi_leader_reduce_scatter,
    COLL_BINDINGS(4, coll_i_multi_leader_reduce_scatter_defaults));

#endif /* COLL_ALGOS_MULTI_LEADER_BLOCKS_H */
