/* coll/algos/kit/leader_runs.h — runs of a node's ranks, their leaders and their blocks
 *
 * The ranks of a node are cut into l runs of equal length (the last has what is left), and the
 * first rank of each leads it. Where the rails of ranks are known (coll_beyond), leaders are spread
 * over them instead (topo/rails.h), and a run goes from its leader to before the next one. Here are the problems of the levels: within the run, across the
 * leaders of equal number, and within the node.
 *
 *   2 nodes of 4 ranks, l = 2       rank    0  1  2  3  |  4  5  6  7
 *                                   run     0  0  1  1  |  0  0  1  1
 *                                   leads   0     1     |  0     1
 *
 * Laws (tests/algos/multi_leader_blocks.c)
 *   (1) runs tile the nodes, and each has a leader, its first rank
 */
#ifndef COLL_ALGOS_KIT_LEADER_RUNS_H
#define COLL_ALGOS_KIT_LEADER_RUNS_H

#include "leaders.h"
#include "levels.h"

#define COLL_I_RUNS_ALLGATHERS (COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV))
#define COLL_I_RUNS_REDUCE_SCATTERS                                                            \
    (COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK))

/* Tables in a workspace: how many ranks are in a run of the nodes before each, but for the last
 * run, h + 1 entries; where blocks have a table, or runs any length, where each run begins, run by
 * run, l·h + 1, else none; blocks across, 2h; and within, 2m; and where those of this rank's run begin, m. */
typedef struct coll_i_runs {
    coll_i_levels at;
    const coll_layout *layout; /* of all blocks */
    size_t *before, *inter, *intra, *run;
    uint32_t l, own;      /* runs of a node; this rank's */
    uint32_t begin, size; /* local rank at which this rank's run begins; its ranks */
    bool leads, sorts;
} coll_i_runs;

/* The layout of all blocks. */
COLL_HOT_INLINE const coll_layout *coll_i_runs_layout(const coll_problem *problem)
{
    return coll_is(COLL_I_RUNS_ALLGATHERS, problem->collective) ? &problem->out : &problem->in;
}

/* Ranks in run j of the nodes before node i; i = h: of all. */
COLL_HOT_INLINE size_t coll_i_runs_before(const coll_nodes *nodes, uint32_t p,
                                          const size_t *before, uint32_t l, uint32_t j,
                                          uint32_t i)
{
    return j + 1 < l ? before[i] : coll_nodes_first(nodes, p, i) - (l - 1) * before[i];
}

/* First rank of run j of node i; j = l: of the next node. */
COLL_HOT_INLINE uint32_t coll_i_runs_first(const coll_workspace *workspace, uint32_t l,
                                           uint32_t j, uint32_t i)
{
    const uint32_t first = coll_nodes_first(&workspace->nodes, workspace->p, i);
    const uint32_t next = coll_nodes_first(&workspace->nodes, workspace->p, i + 1);
    if (j == l)
        return next;
    return first + (workspace->below
                        ? coll_i_rails_leader(workspace->below + first, next - first, j)
                        : j * (uint32_t)(workspace->tables[i + 1] - workspace->tables[i]));
}

/* Do runs of nodes have where they begin in a table? */
COLL_HOT_INLINE bool coll_i_runs_tabled(const coll_workspace *workspace,
                                        const coll_layout *layout)
{
    return layout->counts || workspace->below;
}

/* The run of a local rank of this node, and whether the rank leads it. */
COLL_INLINE uint32_t coll_i_runs_of_rank(const coll_workspace *workspace, uint32_t l,
                                         uint32_t t, bool *leads)
{
    const uint32_t m = workspace->at.ranks, apart = m / l;
    const size_t *below = workspace->below;
    uint32_t j;
    if (below) {
        below += workspace->at.first;
        *leads = coll_i_rails_leads(below, m, l, t);
        return (uint32_t)below[t] - (*leads ? 0 : 1);
    }
    j = t / apart < l ? t / apart : l - 1;
    *leads = t == j * apart;
    return j;
}

/* Where run j of node i begins, of h nodes, as blocks lie run by run; i = h: where run j ends. */
COLL_HOT_INLINE size_t coll_i_runs_at(const coll_workspace *workspace,
                                      const coll_layout *layout, size_t count, uint32_t h,
                                      uint32_t l, uint32_t j, uint32_t i)
{
    const size_t *before = workspace->tables, *begins = before + h + 1;
    return coll_i_runs_tabled(workspace, layout)
               ? begins[(size_t)j * h + i]
               : (j * before[h] +
                  coll_i_runs_before(&workspace->nodes, workspace->p, before, l, j, i)) *
                     count;
}

/* The same in what is being made. */
COLL_INLINE size_t coll_i_runs_begin(const coll_plan *plan, const coll_workspace *workspace,
                                     const coll_i_runs *runs, uint32_t j, uint32_t i)
{
    return coll_i_runs_at(workspace, runs->layout, plan->problem.count, runs->at.nodes, runs->l,
                          j, i);
}

/* Elements of this rank's run. */
COLL_INLINE size_t coll_i_runs_elements(const coll_plan *plan, const coll_workspace *workspace,
                                        const coll_i_runs *runs)
{
    return coll_i_runs_begin(plan, workspace, runs, runs->own, workspace->at.index + 1) -
           coll_i_runs_begin(plan, workspace, runs, runs->own, workspace->at.index);
}

/* Writes where every run begins. */
COLL_INLINE void coll_i_runs_tabulate(const coll_plan *plan, const coll_workspace *workspace,
                                      const coll_i_runs *runs, size_t *begins)
{
    const uint32_t h = runs->at.nodes;
    size_t at = 0;
    for (uint32_t j = 0; j < runs->l; j++)
        for (uint32_t i = 0; i < h; i++) {
            *begins++ = at;
            at += coll_i_levels_at(plan, runs->layout,
                                   coll_i_runs_first(workspace, runs->l, j + 1, i)) -
                  coll_i_levels_at(plan, runs->layout,
                                   coll_i_runs_first(workspace, runs->l, j, i));
        }
    *begins = at;
}

COLL_INLINE void coll_i_runs_of(const coll_plan *plan, coll_workspace *workspace,
                                coll_i_runs *runs)
{
    const uint32_t smallest = coll_nodes_smallest(&workspace->nodes, workspace->p),
                   m = workspace->at.ranks;
    uint32_t h, first;
    bool tabled;
    coll_i_levels_of(plan, workspace, &runs->at);
    h = runs->at.nodes;
    runs->l = plan->param[0] < smallest ? plan->param[0] : smallest;
    coll_i_leaders_choose(plan, workspace, runs->l);
    runs->layout = coll_i_runs_layout(&plan->problem);
    runs->before = workspace->tables;
    tabled = coll_i_runs_tabled(workspace, runs->layout);
    runs->inter = runs->before + h + 1 + (tabled ? (size_t)runs->l * h + 1 : 0);
    runs->intra = runs->inter + 2 * (size_t)h;
    runs->run = runs->intra + 2 * (size_t)m;
    runs->before[0] = 0;
    for (uint32_t i = 0; i < h; i++)
        runs->before[i + 1] =
            runs->before[i] +
            coll_node_at(&workspace->nodes, workspace->p, i, 0).ranks / runs->l;
    if (tabled)
        coll_i_runs_tabulate(plan, workspace, runs, runs->before + h + 1);
    runs->own = coll_i_runs_of_rank(workspace, runs->l, workspace->at.local, &runs->leads);
    first = coll_i_runs_first(workspace, runs->l, runs->own, workspace->at.index);
    runs->begin = first - workspace->at.first;
    runs->size =
        coll_i_runs_first(workspace, runs->l, runs->own + 1, workspace->at.index) - first;
    runs->sorts = runs->l > 1 && runs->at.inter;
}

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
                             coll_own_count(plan, workspace->rank), &of);
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

#endif /* COLL_ALGOS_KIT_LEADER_RUNS_H */
