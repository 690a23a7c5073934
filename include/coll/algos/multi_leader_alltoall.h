/* coll/algos/multi_leader_alltoall.h — alltoall by several leaders a node
 *
 * The ranks of a node are cut into l runs, each led by its first rank (kit/run_bounds.h). A leader
 * gathers all blocks of its run and sorts them by node. Leaders of equal number exchange across the
 * nodes, all l groups at once: a leader then has what the runs of its number have for its node. It
 * sorts that by destination; leaders of a node exchange it, and each puts what is for its run into
 * the order of the sources, and scatters.
 *
 * With one leader this is two_level_exchange.h. With as many as a node has ranks (by the name of
 * full_lane) nobody gathers, and every rank sends to one rank of each other node: its lane. In
 * between the messages of a node across, l(h − 1), are traded for their length, and for the copies
 * and the idle ranks of a run. There are at most as many leaders as the smallest node has ranks.
 * Where ranks have rails (coll_beyond), leaders are spread over them.
 *
 *   2 nodes of 2 ranks, l = 2; rank 1 has     1:0 1:1 1:2 1:3                        (from:to)
 *     across, with rank 3                     1:0 1:1 | 3:0 3:1
 *     by destination                          1:0 3:0 | 1:1 3:1
 *     within, with rank 0                     0:1 2:1 | 1:1 3:1
 *     by source                               0:1 1:1 2:1 3:1
 *
 * Laws (tests/algos/multi_leader_alltoall.c)
 *   (1) sorting moves every element once
 *   (2) a leader has one message to each other node, to the leader of its number, for what its run
 *       has for that node
 * Cost    with s ranks in a run and n in all runs of its number, of a leader on a node of m:
 *         messages, elements and combinations of a gather and a scatter of s·p blocks, of an
 *         alltoall across of s·m blocks, and of one of n·s blocks within. Rounds: at most those of
 *         the levels, one after the other. Sorting (several nodes): s·h (not if s = 1), n·m and
 *         s·l·h copies. scratch of a leader: twice the more of s·p and n·m blocks; if s = 1, once,
 *         and n·m
 * Source  Kinkead, Bienz et al. 2025, arXiv:2601.17606; Träff, Hunold 2020 (lanes),
 *         doi:10.1109/CLUSTER49012.2020.00021
 */
#ifndef COLL_ALGOS_MULTI_LEADER_ALLTOALL_H
#define COLL_ALGOS_MULTI_LEADER_ALLTOALL_H

#include "kit/leader_runs.h"
#include "two_level_exchange.h"

/* ---- sorting ----------------------------------------------------------------------------- */

/* Copies of a leader from IN to OUT: a plan of its own of p = s·l ranks, radix is h, second l. IN
 * has, of the runs of each number, for each rank of the own run the blocks from all nodes; OUT has
 * for each rank of the run those of all ranks. */
COLL_INLINE unsigned coll_i_sort_by_source_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const coll_workspace *workspace = coll_i_workspace(plan);
    const size_t count = plan->problem.count;
    const uint32_t h = plan->radix.by, l = plan->second.by, all = plan->problem.p * h;
    const uint32_t ranks = coll_divide(plan->problem.p, &plan->second);
    unsigned n = 0;
    (void)rank;
    for (uint32_t x = (uint32_t)s * COLL_STEP_MAX; n < COLL_STEP_MAX && x < all; x++) {
        const uint32_t y = coll_divide(x, &plan->radix), node = x - y * h;
        const uint32_t t = coll_divide(y, &plan->second), j = y - t * l;
        const coll_layout *none = &plan->problem.in;
        const size_t begin = coll_i_runs_at(workspace, none, count, h, l, j, 0);
        const size_t end = coll_i_runs_at(workspace, none, count, h, l, j, h);
        const size_t at = coll_i_runs_at(workspace, none, count, h, l, j, node);
        const size_t from = coll_i_runs_first(workspace, l, j, node);
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, ((size_t)t * workspace->p + from) * count),
                      COLL_AT(COLL_IN, begin * ranks + t * (end - begin) + at - begin),
                      coll_i_runs_at(workspace, none, count, h, l, j, node + 1) - at);
    }
    return n;
}

COLL_ALGORITHM(coll_i_sort_by_source, "sort by source", "",
    COLL_BIT(COLL_ALLTOALL), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_sort_by_node_steps, coll_i_sort_by_source_step);

/* A phase that sorts, at a rank that `sorts`: a plan of p ranks, from the first half of SCRATCH to
 * the second. */
COLL_INLINE coll_status coll_i_runs_reorder(coll_plan *plan, coll_workspace *workspace,
                                            const coll_algorithm *algorithm, uint32_t p,
                                            uint32_t radix, bool sorts, size_t half)
{
    const uint32_t m = workspace->at.ranks;
    coll_i_levels at;
    coll_status status;
    at.leads = sorts;
    workspace->at.ranks = p;
    status = coll_i_levels_sort(plan, workspace, &at, algorithm, radix, 0, half);
    workspace->at.ranks = m;
    return status;
}

/* ---- exchanges --------------------------------------------------------------------------- */

/* Are all nodes, and so the runs of one number, of one size? */
COLL_INLINE bool coll_i_runs_even(const coll_workspace *workspace, const coll_i_runs *runs)
{
    return !coll_i_runs_tabled(workspace, runs->layout) &&
           coll_nodes_smallest(&workspace->nodes, workspace->p) ==
               coll_nodes_largest(&workspace->nodes, workspace->p);
}

/* Across: a block of this rank's run for each node, and of each node's run for this node. */
COLL_INLINE void coll_i_runs_exchange_inter(const coll_plan *plan, coll_workspace *workspace,
                                            const coll_i_runs *runs, coll_problem *of)
{
    const uint32_t h = runs->at.nodes, p = workspace->p, own = runs->own;
    const size_t m = workspace->at.ranks, give = runs->size * plan->problem.count;
    size_t *in = runs->inter, *out = in + 2 * (size_t)h;
    const size_t begin = coll_i_runs_begin(plan, workspace, runs, own, 0);
    coll_i_composite_problem(plan, COLL_INTER, COLL_ALLTOALL, h, give * m, of);
    if (coll_i_runs_even(workspace, runs))
        return;
    for (uint32_t i = 0; i < h; i++) {
        const size_t at = coll_i_runs_begin(plan, workspace, runs, own, i);
        const coll_node node = coll_node_at(&workspace->nodes, p, i, 0);
        in[i] = node.ranks * give;
        in[h + i] = node.first * give;
        out[i] = (coll_i_runs_begin(plan, workspace, runs, own, i + 1) - at) * m;
        out[h + i] = (at - begin) * m;
    }
    of->collective = COLL_ALLTOALLV;
    of->count = 0;
    of->in.counts = in;
    of->in.displs = in + h;
    of->out.counts = out;
    of->out.displs = out + h;
}

/* Within: leaders have, for each run of the node, what the runs of their number have for it. */
COLL_INLINE void coll_i_runs_exchange_intra(const coll_plan *plan, coll_workspace *workspace,
                                            const coll_i_runs *runs, coll_problem *of)
{
    const uint32_t h = runs->at.nodes, m = workspace->at.ranks, l = runs->l;
    const size_t led = coll_i_runs_begin(plan, workspace, runs, runs->own, h) -
                       coll_i_runs_begin(plan, workspace, runs, runs->own, 0);
    size_t *in = runs->intra, *out = in + 2 * (size_t)m;
    coll_i_composite_problem(plan, COLL_INTRA, COLL_ALLTOALL, m, led, of);
    if (coll_i_runs_even(workspace, runs) && l == m)
        return;
    for (uint32_t t = 0; t < m; t++) {
        bool leads;
        const uint32_t j = coll_i_runs_of_rank(workspace, l, t, &leads);
        const uint32_t ranks = coll_i_runs_first(workspace, l, j + 1, runs->at.index) -
                               coll_i_runs_first(workspace, l, j, runs->at.index);
        const size_t begin = coll_i_runs_begin(plan, workspace, runs, j, 0);
        in[t] = leads && runs->leads ? led * ranks : 0;
        in[m + t] = led * t;
        out[t] = leads && runs->leads
                     ? (coll_i_runs_begin(plan, workspace, runs, j, h) - begin) * runs->size
                     : 0;
        out[m + t] = begin * runs->size;
    }
    of->collective = COLL_ALLTOALLV;
    of->count = 0;
    of->in.counts = in;
    of->in.displs = in + m;
    of->out.counts = out;
    of->out.displs = out + m;
}

/* ---- alltoall ---------------------------------------------------------------------------- */

/* SCRATCH of a leader has two halves: gathered, exchanged; sorted. Alone in its run it sends its
 * blocks from where they are, and puts them into OUT. */
COLL_INLINE coll_status coll_i_multi_leader_alltoall(coll_plan *plan, coll_workspace *workspace)
{
    const size_t count = plan->problem.count, p = plan->problem.p;
    const uint32_t m = workspace->at.ranks;
    coll_i_runs runs;
    coll_problem of;
    coll_phase *phase;
    coll_status status;
    size_t half, held;
    uint32_t led = 0, h;
    bool alone, gathers;
    if (!coll_multiply(count * p, coll_nodes_largest(&workspace->nodes, workspace->p), &half) ||
        !coll_i_addressable(2 * half, plan->problem.elem_bytes))
        return COLL_ERR_OVERFLOW;
    coll_i_runs_of(plan, workspace, &runs);
    if (runs.l == 1 || !runs.at.inter)
        return coll_i_two_level_alltoall(plan, workspace);
    h = runs.at.nodes;
    for (uint32_t i = 0; i < h; i++)
        led += coll_i_runs_first(workspace, runs.l, runs.own + 1, i) -
               coll_i_runs_first(workspace, runs.l, runs.own, i);
    alone = runs.size == 1;
    gathers = runs.leads && !alone;
    half = (runs.size * p > (size_t)led * m ? runs.size * p : (size_t)led * m) * count;
    held = half + (alone ? (size_t)led * m * count : half);
    held = runs.leads ? held : 0;
    workspace->scratch = held;
    runs.block = p * count;
    runs.intra += 2 * (size_t)h; /* tables across are of IN and of OUT */

    status = coll_i_runs_stage(plan, workspace, &runs, true, 0, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = coll_input(plan);
    phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
    phase->base[COLL_SCRATCH] += held;
    if (alone)
        workspace->sequence.n--;
    status =
        coll_i_runs_reorder(plan, workspace, &coll_i_sort_by_node, runs.size, h, gathers, half);
    if (status != COLL_OK)
        return status;

    coll_i_runs_exchange_inter(plan, workspace, &runs, &of);
    status = coll_i_runs_meet(plan, workspace, &runs, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = alone ? coll_input(plan) : COLL_AT(COLL_SCRATCH, half);
    phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
    phase->base[COLL_SCRATCH] += held;
    status =
        coll_i_runs_reorder(plan, workspace, &coll_i_sort_by_rank, m, led, runs.leads, half);
    if (status != COLL_OK)
        return status;

    coll_i_runs_exchange_intra(plan, workspace, &runs, &of);
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, half);
    phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
    phase->base[COLL_SCRATCH] += held;
    status = coll_i_runs_reorder(plan, workspace, &coll_i_sort_by_source, runs.size * runs.l, h,
                                 runs.leads, half);
    if (status != COLL_OK)
        return status;
    workspace->plans[workspace->n_plans - 1].second = coll_fast_divisor_of(runs.l);
    if (alone)
        workspace->phases[workspace->sequence.n - 1].base[COLL_OUT] = COLL_AT(COLL_OUT, 0);

    status = coll_i_runs_stage(plan, workspace, &runs, false, 0, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, half);
    phase->base[COLL_SCRATCH] += held;
    if (alone)
        workspace->sequence.n--;
    return COLL_OK;
}

COLL_COMPOSITE(coll_multi_leader_alltoall, "multi_leader",
    "Kinkead, Bienz et al. 2025; Traeff, Hunold 2020",
    COLL_BIT(COLL_ALLTOALL), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_leader_runs_params),
    coll_i_multi_leader_alltoall, COLL_BINDINGS(3, coll_i_two_level_alltoall_defaults));

#endif /* COLL_ALGOS_MULTI_LEADER_ALLTOALL_H */
