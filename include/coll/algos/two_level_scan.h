/* coll/algos/two_level_scan.h — scan, exscan in two levels
 *
 * Ranks scan within their node; the last rank of each then has what the node contributes (in an
 * exscan: after combining it with its own operand). These last ranks exscan across the nodes, so
 * each has what all nodes before its own contribute, and sends it to its node, where every rank
 * combines it with its own result from the left. Nodes are runs of ranks, so operands are in rank
 * order.
 *
 *   2 nodes of 3 ranks        0    1    2   |  3     4     5
 *     scan within             0    01   012 |  3     34    345
 *     exscan across                ·        |              012
 *     combined                0    01   012 |  0123  01234 012345
 *
 * Laws (tests/algos/two_level_scan.c)
 *   (1) only last ranks have messages to other nodes, and these are those of an inner exscan of as
 *       many ranks as there are nodes
 *   (2) the first node gets nothing from other nodes, and combines nothing but within
 * Cost    messages, elements and combinations of the inner algorithms: within a node, of a scan or
 *         exscan and, but on the first one, of a bcast; at a last rank, besides, of an exscan
 *         across. Rounds as in two_level.h. Besides, `count` combinations on all nodes but the
 *         first at every rank (of an exscan, but the first of its node), and of an exscan on all
 *         nodes of several ranks but the last at the last rank. scratch: `count` on all nodes but
 *         the first; where the last rank of an exscan combines, once or, in place, twice more
 * Source  Wu 2005, chapter 3 (levels)
 */
#ifndef COLL_ALGOS_TWO_LEVEL_SCAN_H
#define COLL_ALGOS_TWO_LEVEL_SCAN_H

#include "fnomial.h"
#include "kit/levels.h"
#include "recursive_doubling_exscan.h"
#include "recursive_multiplying_scan.h"

/* The next phase: one action. */
COLL_INLINE coll_action *coll_i_composite_action(coll_workspace *workspace)
{
    return &coll_i_composite_phase(workspace, NULL, 0, 0)->act;
}

/* SCRATCH has what the nodes before contribute; at a last rank of an exscan then what its node
 * contributes, and its own operand if OUT cannot keep it. The last node contributes nothing. */
COLL_INLINE coll_status coll_i_two_level_scan(coll_plan *plan, coll_workspace *workspace)
{
    const coll_collective it = plan->problem.collective;
    const bool exclusive = it == COLL_EXSCAN;
    const size_t count = plan->problem.count;
    const coll_ref out = COLL_AT(COLL_OUT, 0), before = COLL_AT(COLL_SCRATCH, 0);
    const bool later = workspace->at.index > 0;
    bool adds; /* this rank adds its operand to what its node contributes */
    const coll_ref sum = before + (later ? count : 0);
    coll_ref own = coll_input(plan);
    coll_i_levels at;
    coll_problem of;
    coll_phase *phase;
    coll_status status;
    coll_i_levels_of(plan, workspace, &at);
    at.lasts = true;
    at.lead = workspace->at.ranks - 1;
    at.leads = workspace->at.local == at.lead;
    if (!at.intra || !at.inter) {
        coll_i_levels_problem(plan, workspace, &at, at.intra ? COLL_INTRA : COLL_INTER, it,
                              &of);
        return at.intra ? coll_i_composite_intra(plan, workspace, &of, &phase)
                        : coll_i_composite_inter(plan, workspace, &at, &of, &phase);
    }
    adds =
        exclusive && at.leads && workspace->at.index + 1 < at.nodes && workspace->at.ranks > 1;
    workspace->scratch = (later ? count : 0) + (adds ? count : 0);
    if (adds && coll_in_place(plan)) {
        coll_act_copy(coll_i_composite_action(workspace), sum + count, own, count);
        own = sum + count;
        workspace->scratch += count;
    }
    coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, it, &of);
    of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    if (adds)
        coll_act_reduce(coll_i_composite_action(workspace), sum, out, own, count);
    coll_i_levels_problem(plan, workspace, &at, COLL_INTER, COLL_EXSCAN, &of);
    status = coll_i_composite_inter(plan, workspace, &at, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_IN] = adds ? sum : exclusive && workspace->at.ranks == 1 ? own : out;
    phase->base[COLL_OUT] = before;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    coll_i_levels_problem(plan, workspace, &at, COLL_INTRA, COLL_BCAST, &of);
    of.flags |= COLL_FLAG_IN_PLACE;
    status = coll_i_composite_intra(plan, workspace, &of, &phase);
    if (status != COLL_OK)
        return status;
    phase->base[COLL_OUT] = before;
    phase->base[COLL_SCRATCH] += workspace->scratch;
    if (!later)
        workspace->sequence.n--;
    else if (exclusive && workspace->at.local == 0)
        coll_act_copy(coll_i_composite_action(workspace), out, before, count);
    else
        coll_act_reduce(coll_i_composite_action(workspace), out, before, out, count);
    return COLL_OK;
}

COLL_TABLE(coll_binding, coll_i_two_level_scan_defaults, {
    {COLL_INTRA, &coll_recursive_doubling_scan, NULL},
    {COLL_INTRA, &coll_recursive_doubling_exscan, NULL},
    {COLL_INTRA, &coll_fnomial_bcast, NULL},
    {COLL_INTER, &coll_recursive_doubling_scan, NULL},
    {COLL_INTER, &coll_recursive_doubling_exscan, NULL}});

COLL_COMPOSITE(coll_two_level_scan, "two_level", "Wu 2005, chapter 3",
    COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_scan, COLL_BINDINGS(5, coll_i_two_level_scan_defaults));

#endif /* COLL_ALGOS_TWO_LEVEL_SCAN_H */
