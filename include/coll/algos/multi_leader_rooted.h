/* coll/algos/multi_leader_rooted.h — gather(v), scatter(v) by several leaders a node
 *
 * The ranks of a node are cut into l runs (kit/run_bounds.h), each led by its first rank. In a
 * gather, leaders gather the blocks of their runs; those of equal number gather them on the root's
 * node, all l groups at once; the leaders there pass them to the root, run by run, which puts them
 * into the order of the ranks. A scatter does the same backwards. So what goes to or from the
 * root's node goes through l of its ranks, and all adapters that these use; with as many leaders as
 * a node has ranks (by the name of full_lane) every rank of a node drives its share. Within the
 * root's node all of it goes to the root, as in any gather.
 *
 *   2 nodes of 4 ranks, l = 2, root 1      rank   0  1  2  3  |  4  5  6  7
 *     gather                                         01 23    |  45    67
 *     gather across, to the root's node              0145 2367
 *     gather within, sorted                01 45 23 67  →  01 23 45 67
 *
 * Laws (tests/algos/multi_leader_rooted.c)
 *   (1) sorting moves every element once, at the root
 *   (2) leaders alone have messages to other nodes: on other nodes than the root's one of them
 *       each, if the inner algorithm is linear
 * Cost    messages and elements of the inner algorithms: of a gather or scatter in the run; at a
 *         leader, besides, of one across; on the root's node, of one within. Rounds: at most those
 *         of the levels, one after the other. Sorting (l > 1, several nodes): l·h copies of p
 *         blocks in all at the root. scratch: of the root p blocks, of a leader on its node those
 *         of its number, of other leaders those of their runs, if these are several
 * Source  Träff, Hunold 2020, doi:10.1109/CLUSTER49012.2020.00021 (lanes); Bayatpour et al. 2017,
 *         section 4.1 (leaders)
 */
#ifndef COLL_ALGOS_MULTI_LEADER_ROOTED_H
#define COLL_ALGOS_MULTI_LEADER_ROOTED_H

#include "multi_leader_blocks.h"
#include "two_level_blocks.h"

/* Where a rank has blocks on their way. */
typedef struct coll_i_runs_rooted {
    bool gathers, here, at_root; /* the root is on this rank's node, is this rank */
    bool aside;                  /* the blocks of the run are in SCRATCH */
    coll_ref all, led, own; /* at the root, of all ranks; of a leader's number; of its run */
} coll_i_runs_rooted;

COLL_INLINE void coll_i_runs_rooted_of(const coll_plan *plan, coll_workspace *workspace,
                                       const coll_i_runs *runs, coll_i_runs_rooted *its)
{
    const uint32_t own = runs->own, h = runs->at.nodes;
    const size_t begin = coll_i_runs_begin(plan, workspace, runs, own, 0);
    its->gathers = coll_is(COLL_I_RUNS_GATHERS, plan->problem.collective);
    its->here = runs->at.here;
    its->at_root = workspace->rank == plan->problem.root;
    its->aside = runs->leads && (its->here || runs->size > 1);
    its->all = COLL_AT(COLL_SCRATCH, 0);
    its->led = its->all + (its->at_root ? begin : 0);
    its->own = its->led;
    if (its->here)
        its->own += coll_i_runs_begin(plan, workspace, runs, own, workspace->at.index) - begin;
    if (its->at_root)
        workspace->scratch = coll_i_levels_at(plan, runs->layout, workspace->p);
    else if (its->aside)
        workspace->scratch = its->here
                                 ? coll_i_runs_begin(plan, workspace, runs, own, h) - begin
                                 : coll_i_runs_elements(plan, workspace, runs);
}

/* In the run. A rank alone in its run, away from the root's node, has nothing to do. In place the
 * root has its block already: if another rank leads its run, what a scatter brings is put aside. */
COLL_INLINE coll_status coll_i_runs_rooted_stage(coll_plan *plan, coll_workspace *workspace,
                                                 const coll_i_runs *runs,
                                                 const coll_i_runs_rooted *its)
{
    const bool in_place = coll_in_place(plan) && its->at_root;
    const bool leads = workspace->at.first + runs->begin == plan->problem.root;
    coll_phase *phase;
    const coll_status status = coll_i_runs_stage(
        plan, workspace, runs, its->gathers,
        leads && !its->gathers ? plan->problem.flags & COLL_FLAG_IN_PLACE : 0, &phase);
    if (status != COLL_OK)
        return status;
    if (its->gathers && in_place)
        phase->base[COLL_IN] =
            COLL_AT(COLL_OUT, coll_i_levels_at(plan, runs->layout, workspace->rank));
    if (!its->gathers && in_place && !leads)
        phase->base[COLL_OUT] = its->all;
    phase->base[its->gathers ? COLL_OUT : COLL_IN] = its->own;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    if (runs->size == 1 && !its->here)
        workspace->sequence.n--;
    return COLL_OK;
}

/* Across, among the leaders of a number; on the root's node blocks are where they belong. */
COLL_INLINE coll_status coll_i_runs_rooted_inter(coll_plan *plan, coll_workspace *workspace,
                                                 const coll_i_runs *runs,
                                                 const coll_i_runs_rooted *its)
{
    coll_problem of;
    coll_phase *phase;
    coll_status status;
    coll_i_runs_inter(plan, workspace, runs, its->gathers ? COLL_GATHER : COLL_SCATTER,
                      its->gathers ? COLL_GATHERV : COLL_SCATTERV, &of,
                      its->gathers ? &of.out : &of.in);
    of.root = runs->at.root.index;
    of.flags |= COLL_FLAG_IN_PLACE;
    status = coll_i_runs_meet(plan, workspace, runs, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[its->gathers ? COLL_OUT : COLL_IN] = its->led;
    if (its->aside)
        phase->base[its->gathers ? COLL_IN : COLL_OUT] = its->own;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    return COLL_OK;
}

/* Within the root's node, between its leaders and the root. */
COLL_INLINE coll_status coll_i_runs_rooted_intra(coll_plan *plan, coll_workspace *workspace,
                                                 const coll_i_runs *runs,
                                                 const coll_i_runs_rooted *its)
{
    coll_problem of;
    coll_phase *phase;
    coll_status status;
    coll_i_runs_intra(plan, workspace, runs, its->gathers ? COLL_GATHERV : COLL_SCATTERV, &of,
                      its->gathers ? &of.out : &of.in);
    of.root = its->here ? runs->at.root.local : 0;
    of.flags |= COLL_FLAG_IN_PLACE;
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[its->gathers ? COLL_OUT : COLL_IN] = its->all;
    phase->base[its->gathers ? COLL_IN : COLL_OUT] = its->led;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    if (!its->here)
        workspace->sequence.n--;
    return COLL_OK;
}

/* A gather goes through the run, across, within; a scatter backwards. The root sorts. */
COLL_INLINE coll_status coll_i_multi_leader_rooted(coll_plan *plan, coll_workspace *workspace)
{
    coll_i_runs runs;
    coll_i_runs_rooted its;
    coll_status status = COLL_OK;
    coll_i_runs_of(plan, workspace, &runs);
    if (!runs.sorts)
        return coll_i_two_level_rooted(plan, workspace);
    coll_i_runs_rooted_of(plan, workspace, &runs, &its);
    if (!its.gathers)
        status = coll_i_runs_sort(plan, workspace, &runs, COLL_AT(COLL_IN, 0), its.all);
    if (!its.gathers && !its.at_root)
        workspace->sequence.n--;
    if (status == COLL_OK && !its.gathers)
        status = coll_i_runs_rooted_intra(plan, workspace, &runs, &its);
    if (status == COLL_OK && its.gathers)
        status = coll_i_runs_rooted_stage(plan, workspace, &runs, &its);
    if (status == COLL_OK)
        status = coll_i_runs_rooted_inter(plan, workspace, &runs, &its);
    if (status == COLL_OK && !its.gathers)
        status = coll_i_runs_rooted_stage(plan, workspace, &runs, &its);
    if (status == COLL_OK && its.gathers)
        status = coll_i_runs_rooted_intra(plan, workspace, &runs, &its);
    if (status == COLL_OK && its.gathers)
        status = coll_i_runs_sort(plan, workspace, &runs, its.all, COLL_AT(COLL_OUT, 0));
    if (its.gathers && !its.at_root)
        workspace->sequence.n--;
    return status;
}

#define COLL_I_MULTI_LEADER_ROOTED "Traeff, Hunold 2020; Bayatpour et al. 2017, section 4.1"

COLL_COMPOSITE(coll_multi_leader_gather, "multi_leader", COLL_I_MULTI_LEADER_ROOTED,
    COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_leader_runs_params),
    coll_i_multi_leader_rooted, COLL_BINDINGS(4, coll_i_two_level_gather_defaults));
COLL_COMPOSITE(coll_multi_leader_gatherv, "multi_leader", COLL_I_MULTI_LEADER_ROOTED,
    COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV), COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_leader_runs_params),
    coll_i_multi_leader_rooted, COLL_BINDINGS(4, coll_i_two_level_gather_defaults));

#endif /* COLL_ALGOS_MULTI_LEADER_ROOTED_H */
