/* coll/algos/kit/leader_runs.h — what the levels do with runs of a node's ranks and their blocks
 *
 * Here are the problems of the levels: within the run, across the leaders of equal number, and within the
 * node. Where runs are, and who leads them: run_bounds.h.
 */
#ifndef COLL_ALGOS_KIT_LEADER_RUNS_H
#define COLL_ALGOS_KIT_LEADER_RUNS_H

#include "run_bounds.h"

/* A gather (else a scatter) among the ranks of a run, which has SHARED of its own. */
COLL_INLINE coll_status coll_i_runs_stage(coll_plan *plan, coll_workspace *workspace,
                                          const coll_i_runs *runs, bool gathers, uint32_t flags,
                                          coll_phase **phase)
{
    const uint32_t first = workspace->at.first, m = workspace->at.ranks,
                   local = workspace->at.local;
    const uint32_t begin = first + runs->begin;
    const size_t *counts = runs->layout->counts, *displs = runs->layout->displs;
    size_t shared = workspace->shared; /* before, and of a run */
    coll_problem of;
    coll_status status;
    coll_i_composite_problem(plan, COLL_INTRA, gathers ? COLL_GATHER : COLL_SCATTER, runs->size,
                             runs->block, &of);
    of.flags |= flags;
    if (counts) {
        coll_layout *cut = gathers ? &of.out : &of.in;
        for (uint32_t i = 0; i < runs->size; i++)
            runs->run[i] = displs[begin + i] - displs[begin];
        of.collective = gathers ? COLL_GATHERV : COLL_SCATTERV;
        cut->counts = counts + begin;
        cut->displs = runs->run;
    }
    workspace->at.first = begin;
    workspace->at.local -= runs->begin;
    workspace->at.ranks = runs->size;
    workspace->runs = runs->l;
    status = coll_i_composite_intra(plan, workspace, &of, phase);
    workspace->runs = 1;
    workspace->at.first = first;
    workspace->at.local = local;
    workspace->at.ranks = m;
    if (status != COLL_OK)
        return status;
    shared = workspace->shared - shared;
    (*phase)->base[COLL_SHARED] += runs->own * shared;
    if (!coll_multiply(shared, runs->l - 1, &shared))
        return COLL_ERR_OVERFLOW;
    workspace->shared += shared;
    return coll_i_addressable(workspace->shared, plan->problem.elem_bytes) ? COLL_OK
                                                                           : COLL_ERR_OVERFLOW;
}

/* The problem among leaders of this rank's number: blocks of their runs. */
COLL_INLINE void coll_i_runs_inter(const coll_plan *plan, coll_workspace *workspace,
                                   const coll_i_runs *runs, coll_collective plain,
                                   coll_collective v, coll_problem *of, coll_layout *cut)
{
    const coll_nodes *nodes = &workspace->nodes;
    const uint32_t h = runs->at.nodes, own = runs->own;
    coll_i_composite_problem(plan, COLL_INTER, plain, h,
                             coll_i_runs_elements(plan, workspace, runs), of);
    if (!coll_i_runs_tabled(workspace, runs->layout) &&
        coll_nodes_smallest(nodes, workspace->p) == coll_nodes_largest(nodes, workspace->p))
        return;
    for (uint32_t i = 0; i < h; i++) {
        const size_t at = coll_i_runs_begin(plan, workspace, runs, own, i);
        runs->inter[i] = coll_i_runs_begin(plan, workspace, runs, own, i + 1) - at;
        runs->inter[h + i] = at - coll_i_runs_begin(plan, workspace, runs, own, 0);
    }
    of->collective = v;
    cut->counts = runs->inter;
    cut->displs = runs->inter + h;
}

/* A phase among them. On ranks that do not lead nothing comes of it but errors and traits. */
COLL_INLINE coll_status coll_i_runs_meet(coll_plan *plan, coll_workspace *workspace,
                                         const coll_i_runs *runs, const coll_problem *of,
                                         coll_phase **phase)
{
    coll_plan *inner;
    const coll_status status =
        coll_i_composite_play(plan, workspace, COLL_INTER, of, runs->l == 1, &inner);
    if (status != COLL_OK)
        return status;
    *phase = coll_i_composite_leaders(workspace, inner, workspace->at.index, runs->own);
    (*phase)->group = runs->l == 1 ? COLL_GROUP_NODES : COLL_GROUP_ALL;
    if (!runs->leads)
        workspace->sequence.n--;
    return COLL_OK;
}

/* The problem within: a leader has the blocks of all runs of its number. */
COLL_INLINE void coll_i_runs_intra(const coll_plan *plan, coll_workspace *workspace,
                                   const coll_i_runs *runs, coll_collective collective,
                                   coll_problem *of, coll_layout *cut)
{
    const uint32_t m = workspace->at.ranks, h = runs->at.nodes;
    size_t at = 0;
    coll_i_composite_problem(plan, COLL_INTRA, collective, m, 0, of);
    for (uint32_t t = 0; t < m; t++) {
        bool leads;
        const uint32_t j = coll_i_runs_of_rank(workspace, runs->l, t, &leads);
        runs->intra[t] = leads ? coll_i_runs_begin(plan, workspace, runs, j, h) -
                                     coll_i_runs_begin(plan, workspace, runs, j, 0)
                               : 0;
        runs->intra[m + t] = at;
        at += runs->intra[t];
    }
    of->count = runs->intra[workspace->at.local];
    cut->counts = runs->intra;
    cut->displs = runs->intra + m;
}

COLL_TABLE(coll_param, coll_i_leader_runs_params, {
    COLL_PARAM("leaders", "leaders of a node, of a run of its ranks each",
               1, COLL_LEADERS_MOST, 4,
     {2, 3, 2, 2})});

#endif /* COLL_ALGOS_KIT_LEADER_RUNS_H */
