/* coll/algos/two_level_blocks.h — gather(v), scatter(v), allgather(v) in two levels
 *
 * As two_level.h: a node's blocks are gathered by its leader, and go to the root's node as one; or
 * come from there as one, and are scattered. As nodes are runs of ranks, the blocks of a node lie
 * together in the root's buffer, so nothing is ever rearranged. An allgather gathers in every
 * leader's OUT, at the place of the node's blocks; leaders exchange these; and then every leader
 * sends all blocks to its node. Where nodes have different sizes, or the blocks have, the leaders
 * use the v-collective, with tables in the workspace.
 *
 *   2 nodes of 3 ranks, gather, root 4:    within   0 ◄ 1 2      3 ► 4 ◄ 5
 *                                          across   0 ─────────────► 4   blocks 0 1 2 in one
 *
 * Laws (tests/algos/two_level_blocks.c)
 *   (1) only leaders have messages to other nodes, and these are those of the inner algorithm of
 *       as many ranks as there are nodes, with the blocks of a node for a block
 *   (2) the tables across are packed and tile the buffer
 * Cost    messages and elements of the inner algorithms: within a node, of a gather or scatter, or
 *         of a gather and a bcast of all blocks; at a leader, besides, of the one across. Rounds as
 *         in two_level.h, at most if blocks are empty. scratch of a leader away from the root, in
 *         gather and scatter: the blocks of its node, if these are several
 * Source  Wu 2005, chapter 3; Bayatpour et al. 2017, section 2.1, doi:10.1145/3126908.3126954
 */
#ifndef COLL_ALGOS_TWO_LEVEL_BLOCKS_H
#define COLL_ALGOS_TWO_LEVEL_BLOCKS_H

#include "bruck.h"
#include "fnomial_gather.h"
#include "kit/levels.h"
#include "kit/tree_walk.h"
#include "linear_gather.h"
#include "ring.h"

/* ---- blocks of nodes --------------------------------------------------------------------- */

/* The blocks of a problem across: those of the nodes. Writes tables, and makes it one of `v`,
 * where they differ. */
COLL_INLINE void coll_i_levels_inter(const coll_plan *plan, coll_workspace *workspace,
                                     const coll_i_levels *at, const coll_layout *layout,
                                     coll_collective v, coll_problem *of, coll_layout *cut)
{
    const coll_nodes *nodes = &workspace->nodes;
    size_t *counts = workspace->tables, *displs = counts + at->nodes;
    of->count = coll_i_levels_node(plan, workspace, layout);
    if (!layout->counts &&
        coll_nodes_smallest(nodes, workspace->p) == coll_nodes_largest(nodes, workspace->p))
        return;
    for (uint32_t i = 0; i < at->nodes; i++) {
        displs[i] = coll_i_levels_at(plan, layout, coll_nodes_first(nodes, workspace->p, i));
        counts[i] =
            coll_i_levels_at(plan, layout, coll_nodes_first(nodes, workspace->p, i + 1)) -
            displs[i];
    }
    of->collective = v;
    cut->counts = counts;
    cut->displs = displs;
}

/* The blocks of a problem within: those of the node's ranks. */
COLL_INLINE void coll_i_levels_intra(coll_workspace *workspace, const coll_i_levels *at,
                                     const coll_layout *layout, coll_layout *cut)
{
    size_t *displs = workspace->tables + 2 * (size_t)at->nodes;
    if (!layout->counts)
        return;
    for (uint32_t i = 0; i < workspace->at.ranks; i++)
        displs[i] =
            layout->displs[workspace->at.first + i] - layout->displs[workspace->at.first];
    cut->counts = layout->counts + workspace->at.first;
    cut->displs = displs;
}

/* ---- gather, scatter --------------------------------------------------------------------- */

/* Blocks come to the root's OUT, or from its IN. On the way a leader that is not the root has those
 * of its node in SCRATCH, or, alone, its own where it is. */
typedef struct coll_i_rooted {
    coll_i_levels at;
    bool gathers;
    bool aside;        /* the blocks of this rank's node are not where the root's are */
    coll_space blocks; /* OUT or IN … */
    coll_space own;    /* … and the other */
    const coll_layout *layout;
} coll_i_rooted;

COLL_INLINE void coll_i_rooted_of(const coll_plan *plan, const coll_workspace *workspace,
                                  coll_i_rooted *its)
{
    const unsigned gathering = COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV);
    coll_i_levels_of(plan, workspace, &its->at);
    its->gathers = coll_is(gathering, plan->problem.collective);
    its->aside = its->at.intra && !its->at.here && workspace->at.ranks > 1;
    its->blocks = its->gathers ? COLL_OUT : COLL_IN;
    its->own = its->gathers ? COLL_IN : COLL_OUT;
    its->layout = its->gathers ? &plan->problem.out : &plan->problem.in;
}

/* Between the ranks of the node and its leader. A rank alone on its node has nothing to do. */
COLL_INLINE coll_status coll_i_rooted_intra(coll_plan *plan, coll_workspace *workspace,
                                            const coll_i_rooted *its)
{
    coll_problem of;
    coll_phase *phase;
    coll_status status;
    coll_i_levels_problem(plan, workspace, &its->at, COLL_INTRA, plan->problem.collective, &of);
    coll_i_levels_intra(workspace, &its->at, its->layout, its->gathers ? &of.out : &of.in);
    if (its->at.here)
        of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    if (its->at.here)
        phase->base[its->blocks] += coll_i_levels_at(plan, its->layout, workspace->at.first);
    else if (its->aside)
        phase->base[its->blocks] = COLL_AT(COLL_SCRATCH, 0);
    else
        workspace->sequence.n--;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    return COLL_OK;
}

/* Between the leaders; at the root, the blocks of its own node are where they belong. */
COLL_INLINE coll_status coll_i_rooted_inter(coll_plan *plan, coll_workspace *workspace,
                                            const coll_i_rooted *its)
{
    const coll_collective v = its->gathers ? COLL_GATHERV : COLL_SCATTERV;
    coll_problem of;
    coll_phase *phase;
    coll_status status;
    coll_i_levels_problem(plan, workspace, &its->at, COLL_INTER, plan->problem.collective, &of);
    coll_i_levels_inter(plan, workspace, &its->at, its->layout, v, &of,
                        its->gathers ? &of.out : &of.in);
    of.flags |= its->at.intra ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
    status = coll_i_composite_inter(plan, workspace, &its->at, &of, &phase);
    if (status != COLL_OK)
        return status;
    if (its->aside)
        phase->base[its->own] = COLL_AT(COLL_SCRATCH, 0);
    phase->base[COLL_SCRATCH] += workspace->scratch;
    return COLL_OK;
}

/* A gather goes within, then across; a scatter backwards. */
COLL_INLINE coll_status coll_i_two_level_rooted(coll_plan *plan, coll_workspace *workspace)
{
    coll_i_rooted its;
    coll_status status = COLL_OK;
    coll_i_rooted_of(plan, workspace, &its);
    workspace->scratch =
        its.aside && its.at.leads ? coll_i_levels_node(plan, workspace, its.layout) : 0;
    if (its.gathers && its.at.intra)
        status = coll_i_rooted_intra(plan, workspace, &its);
    if (status == COLL_OK && (its.at.inter || !its.at.intra))
        status = coll_i_rooted_inter(plan, workspace, &its);
    if (status == COLL_OK && !its.gathers && its.at.intra)
        status = coll_i_rooted_intra(plan, workspace, &its);
    return status;
}

/* ---- allgather --------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_two_level_allgather(coll_plan *plan, coll_workspace *workspace)
{
    const coll_layout *layout = &plan->problem.out;
    const bool v = plan->problem.collective == COLL_ALLGATHERV, in_place = coll_in_place(plan);
    const size_t begin = coll_i_levels_at(plan, layout, workspace->at.first);
    coll_i_levels at;
    coll_problem of;
    coll_phase *phase;
    coll_status status = COLL_OK;
    coll_i_levels_of(plan, workspace, &at);
    if (at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, v ? COLL_GATHERV : COLL_GATHER,
                              &of);
        coll_i_levels_intra(workspace, &at, layout, &of.out);
        of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
        if (status != COLL_OK)
            return status;
        phase->base[COLL_OUT] += begin;
        if (in_place)
            phase->base[COLL_IN] =
                COLL_AT(COLL_OUT, coll_i_levels_at(plan, layout, workspace->rank));
    }
    if (at.inter || !at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTER, plan->problem.collective, &of);
        coll_i_levels_inter(plan, workspace, &at, layout, COLL_ALLGATHERV, &of, &of.out);
        of.flags |= at.intra ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
        status = coll_i_composite_inter(plan, workspace, &at, &of, &phase);
    }
    if (status == COLL_OK && at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, COLL_BCAST, &of);
        of.count = coll_i_levels_at(plan, layout, plan->problem.p);
        of.flags |= COLL_FLAG_IN_PLACE;
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
    }
    plan->traits |= COLL_GIVES_IDENTICAL;
    return status;
}

/* ---- records ----------------------------------------------------------------------------- */

#define COLL_I_TWO_LEVEL_BLOCKS "Wu 2005, chapter 3; Bayatpour et al. 2017, section 2.1"

COLL_TABLE(coll_binding, coll_i_two_level_gather_defaults, {
    {COLL_INTRA, &coll_fnomial_gather, NULL}, {COLL_INTRA, &coll_fnomial_gatherv, NULL},
    {COLL_INTER, &coll_fnomial_gather, NULL}, {COLL_INTER, &coll_fnomial_gatherv, NULL},
    {COLL_INTRA, &coll_fnomial_bcast, NULL},  {COLL_INTER, &coll_ring_allgather, NULL}});

COLL_COMPOSITE(coll_two_level_gather, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_GATHER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_rooted, COLL_BINDINGS(4, coll_i_two_level_gather_defaults));
COLL_COMPOSITE(coll_two_level_gatherv, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_GATHERV), COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_rooted, COLL_BINDINGS(4, coll_i_two_level_gather_defaults));
COLL_COMPOSITE(coll_two_level_scatter, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_SCATTER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_rooted, COLL_BINDINGS(4, coll_i_two_level_gather_defaults));
COLL_COMPOSITE(coll_two_level_scatterv, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_SCATTERV), COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_rooted, COLL_BINDINGS(4, coll_i_two_level_gather_defaults));
COLL_COMPOSITE(coll_two_level_allgather, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_ALLGATHER), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_allgather, COLL_BINDINGS(6, coll_i_two_level_gather_defaults));
COLL_COMPOSITE(coll_two_level_allgatherv, "two_level", COLL_I_TWO_LEVEL_BLOCKS,
    COLL_BIT(COLL_ALLGATHERV), COLL_GIVES_IDENTICAL | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_allgather, COLL_BINDINGS(6, coll_i_two_level_gather_defaults));

#endif /* COLL_ALGOS_TWO_LEVEL_BLOCKS_H */
