/* coll/algos/two_level.h — barrier, bcast, reduce, allreduce in two levels: within nodes, across
 *
 * Ranks of a node talk to each other faster than to those of other nodes. So each node has a
 * leader, its first rank, or the root on the root's own node; what nodes have to tell each other
 * goes through leaders alone, once, and within a node everybody talks to the leader. Which
 * algorithms are used for the levels is open. Nodes may have any sizes; operands stay in rank
 * order, as nodes are runs of ranks.
 *
 *   2 nodes of 3 ranks, root 4:      0  1  2  |  3 (4) 5
 *     bcast     across               0 ◄──────────── 4
 *               within               0 ► 1 2      3 ◄ 4 ► 5
 *     reduce    within               0 ◄ 1 2      3 ► 4 ◄ 5
 *               across               0 ──────────────► 4
 *     allreduce within up, across 0 and 3, within down
 *     barrier   within, across, within again, which lets the ranks go
 *
 * Laws (tests/algos/two_level.c)
 *   (1) only leaders have messages to other nodes, and these are those of the inner algorithm of
 *       as many ranks as there are nodes
 *   (2) a node has one leader, and it is the root if the root is there
 * Cost    messages, elements and combinations of the inner algorithms: of the reduce, the bcast,
 *         both, or two barriers, of the node's ranks; at a leader, besides, of the one across.
 *         Rounds: those of the levels, one after the other, on nodes of one size; on others at most
 *         those of the longest. scratch: the most of any level; at a leader of several ranks
 *         `count` besides, in an allreduce (one in place: of one rank, too), and in a reduce away
 *         from the root, if there are several nodes
 * Source  Bayatpour et al. 2017, section 2.1, doi:10.1145/3126908.3126954; Wu 2005, chapter 3
 */
#ifndef COLL_ALGOS_TWO_LEVEL_H
#define COLL_ALGOS_TWO_LEVEL_H

#include "dissemination.h"
#include "fnomial.h"
#include "kit/levels.h"
#include "recursive_multiplying.h"

/* ---- barrier ----------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_two_level_barrier(coll_plan *plan, coll_workspace *workspace)
{
    coll_i_levels at;
    coll_status status = COLL_OK;
    coll_i_levels_of(plan, workspace, &at);
    for (uint32_t i = 0; i < 3 && status == COLL_OK; i++) {
        const coll_level level = i == 1 ? COLL_INTER : COLL_INTRA;
        coll_problem of;
        coll_phase *phase;
        if (i == 1 ? !at.inter : !at.intra || (i == 2 && !at.inter))
            continue;
        coll_i_levels_problem(plan, workspace, &at, level, COLL_BARRIER, &of);
        status = i == 1 ? coll_i_composite_inter(plan, workspace, &at, &of, &phase)
                        : coll_i_composite_intra(plan, workspace, &of, &phase);
    }
    return status;
}

/* ---- bcast ------------------------------------------------------------------------------- */

/* Across the leaders from the root, then within each node, where the vector is in the leader's
 * OUT. */
COLL_INLINE coll_status coll_i_two_level_bcast(coll_plan *plan, coll_workspace *workspace)
{
    coll_i_levels at;
    coll_problem of;
    coll_phase *phase;
    coll_status status = COLL_OK;
    coll_i_levels_of(plan, workspace, &at);
    if (at.inter || !at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTER, COLL_BCAST, &of);
        of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
        status = coll_i_composite_inter(plan, workspace, &at, &of, &phase);
    }
    if (status == COLL_OK && at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, COLL_BCAST, &of);
        of.flags |= at.inter ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
    }
    plan->traits |= COLL_GIVES_IDENTICAL;
    return status;
}

/* ---- reduce ------------------------------------------------------------------------------ */

/* Within each node to its leader, whose sum is in SCRATCH, or in OUT if it is the root; then
 * across. */
COLL_INLINE coll_status coll_i_two_level_reduce(coll_plan *plan, coll_workspace *workspace)
{
    coll_i_levels at;
    coll_problem of;
    coll_phase *phase;
    coll_status status = COLL_OK;
    size_t held;
    bool sums;
    coll_i_levels_of(plan, workspace, &at);
    sums = at.intra && at.inter && !at.here && workspace->at.ranks > 1;
    held = sums && at.leads ? plan->problem.count : 0;
    workspace->scratch = held;
    if (at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, COLL_REDUCE, &of);
        if (at.here)
            of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
        if (status != COLL_OK)
            return status;
        if (!at.here)
            phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
        if (!at.here && !sums) /* the sum is the rank's own operand */
            workspace->sequence.n--;
        phase->base[COLL_SCRATCH] += held;
    }
    if (at.inter || !at.intra) {
        coll_i_levels_problem(plan, workspace, &at, COLL_INTER, COLL_REDUCE, &of);
        of.flags |= at.intra ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
        status = coll_i_composite_inter(plan, workspace, &at, &of, &phase);
        if (status != COLL_OK)
            return status;
        if (sums)
            phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, 0);
        phase->base[COLL_SCRATCH] += held;
    }
    return status;
}

/* ---- allreduce --------------------------------------------------------------------------- */

/* Within each node to its leader, whose sum is in SCRATCH; across; within from its OUT. */
COLL_INLINE coll_status coll_i_levels_allreduce(coll_plan *plan, coll_workspace *workspace,
                                                const coll_i_levels *at)
{
    const bool in_place = coll_in_place(plan);
    coll_problem of;
    coll_phase *phase;
    coll_status status = COLL_OK;
    size_t held;
    bool sums;
    sums = at->intra && at->inter && (workspace->at.ranks > 1 || in_place);
    held = sums && at->leads ? plan->problem.count : 0;
    workspace->scratch = held;
    if (at->intra) {
        coll_i_levels_problem(plan, workspace, at, COLL_INTRA, COLL_REDUCE, &of);
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
        if (status != COLL_OK)
            return status;
        if (in_place)
            phase->base[COLL_IN] = COLL_AT(COLL_OUT, 0);
        if (at->inter)
            phase->base[COLL_OUT] = COLL_AT(COLL_SCRATCH, 0);
        if (at->inter && !sums) /* the sum is the rank's own operand */
            workspace->sequence.n--;
        phase->base[COLL_SCRATCH] += held;
    }
    if (at->inter || !at->intra) {
        coll_i_levels_problem(plan, workspace, at, COLL_INTER, COLL_ALLREDUCE, &of);
        status = coll_i_composite_inter(plan, workspace, at, &of, &phase);
        if (status != COLL_OK)
            return status;
        plan->traits |= phase->plan->traits & COLL_GIVES_IDENTICAL;
        if (sums)
            phase->base[COLL_IN] = COLL_AT(COLL_SCRATCH, 0);
        phase->base[COLL_SCRATCH] += held;
    } else {
        plan->traits |= COLL_GIVES_IDENTICAL; /* all get what rank 0 has */
    }
    if (at->intra) {
        coll_i_levels_problem(plan, workspace, at, COLL_INTRA, COLL_BCAST, &of);
        of.flags |= COLL_FLAG_IN_PLACE;
        status = coll_i_composite_intra(plan, workspace, &of, &phase);
    }
    return status;
}

COLL_INLINE coll_status coll_i_two_level_allreduce(coll_plan *plan, coll_workspace *workspace)
{
    coll_i_levels at;
    coll_i_levels_of(plan, workspace, &at);
    return coll_i_levels_allreduce(plan, workspace, &at);
}

/* ---- records ----------------------------------------------------------------------------- */

#define COLL_I_TWO_LEVEL_SOURCE "Bayatpour et al. 2017, section 2.1"

COLL_TABLE(coll_binding, coll_i_two_level_barrier_defaults, {
    {COLL_INTRA, &coll_dissemination_barrier, NULL},
    {COLL_INTER, &coll_dissemination_barrier, NULL}});
COLL_COMPOSITE(coll_two_level_barrier, "two_level", COLL_I_TWO_LEVEL_SOURCE,
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_barrier, COLL_BINDINGS(2, coll_i_two_level_barrier_defaults));

COLL_TABLE(coll_binding, coll_i_two_level_bcast_defaults, {
    {COLL_INTRA, &coll_fnomial_bcast, NULL}, {COLL_INTER, &coll_fnomial_bcast, NULL}});
COLL_COMPOSITE(coll_two_level_bcast, "two_level", COLL_I_TWO_LEVEL_SOURCE,
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_bcast, COLL_BINDINGS(2, coll_i_two_level_bcast_defaults));

COLL_TABLE(coll_binding, coll_i_two_level_reduce_defaults, {
    {COLL_INTRA, &coll_fnomial_reduce, NULL}, {COLL_INTER, &coll_fnomial_reduce, NULL}});
COLL_COMPOSITE(coll_two_level_reduce, "two_level", COLL_I_TWO_LEVEL_SOURCE,
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_reduce, COLL_BINDINGS(2, coll_i_two_level_reduce_defaults));

COLL_TABLE(coll_binding, coll_i_two_level_allreduce_defaults, {
    {COLL_INTRA, &coll_fnomial_reduce, NULL},
    {COLL_INTRA, &coll_fnomial_bcast, NULL},
    {COLL_INTER, &coll_recursive_doubling_allreduce, NULL}});
COLL_COMPOSITE(coll_two_level_allreduce, "two_level", COLL_I_TWO_LEVEL_SOURCE,
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_allreduce, COLL_BINDINGS(3, coll_i_two_level_allreduce_defaults));

#endif /* COLL_ALGOS_TWO_LEVEL_H */
