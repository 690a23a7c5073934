/* coll/algos/kit/run_bounds.h — runs of a node's ranks, their leaders, and where their blocks begin
 *
 * The ranks of a node are cut into l runs of equal length (the last has what is left), and the
 * first rank of each leads it. Where the rails of ranks are known (coll_beyond), leaders are spread
 * over them instead (topo/rails.h), and a run goes from its leader to before the next one.
 *
 *   2 nodes of 4 ranks, l = 2       rank    0  1  2  3  |  4  5  6  7
 *                                   run     0  0  1  1  |  0  0  1  1
 *                                   leads   0     1     |  0     1
 *
 * Laws (tests/algos/multi_leader_blocks.c)
 *   (1) runs tile the nodes, and each has a leader, its first rank
 */
#ifndef COLL_ALGOS_KIT_RUN_BOUNDS_H
#define COLL_ALGOS_KIT_RUN_BOUNDS_H

#include "leaders.h"
#include "levels.h"

#define COLL_I_RUNS_ALLGATHERS (COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV))
#define COLL_I_RUNS_GATHERS    (COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV))
#define COLL_I_RUNS_SCATTERS   (COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV))
#define COLL_I_RUNS_REDUCE_SCATTERS                                                            \
    (COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK))

/* Tables in a workspace: how many ranks are in a run of the nodes before each, but for the last
 * run, h + 1 entries; where blocks have a table, or runs any length, where each run begins, run by
 * run, l·h + 1, else none; blocks across, 2h; and within, 2m; and where those of this rank's run
 * begin, m. */
typedef struct coll_i_runs {
    coll_i_levels at;
    const coll_layout *layout; /* of all blocks */
    size_t *before, *inter, *intra, *run;
    uint32_t l, own;      /* runs of a node; this rank's */
    uint32_t begin, size; /* local rank at which this rank's run begins; its ranks */
    size_t block;         /* elements that a rank gives to its leader, or gets from it */
    uint32_t home;        /* the run that the root leads on its node, or COLL_RANK_NONE */
    uint32_t root;        /* who leads this rank's run, by its number in it */
    bool leads, sorts;
} coll_i_runs;

/* The layout of all blocks. */
COLL_HOT_INLINE const coll_layout *coll_i_runs_layout(const coll_problem *problem)
{
    const unsigned gathers = COLL_I_RUNS_ALLGATHERS | COLL_I_RUNS_GATHERS;
    return coll_is(gathers, problem->collective) ? &problem->out : &problem->in;
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
    runs->block = coll_own_count(plan, workspace->rank);
}

#endif /* COLL_ALGOS_KIT_RUN_BOUNDS_H */
