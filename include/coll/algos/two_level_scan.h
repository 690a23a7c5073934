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

/* The next stage: one action. */
COLL_INLINE coll_action *coll_i_kit_action(coll_kit *kit)
{
    return &coll_i_kit_stage(kit, NULL, 0, COLL_I_NO_SEATS, 0)->act;
}

/* SCRATCH has what the nodes before contribute; at a last rank of an exscan then what its node
 * contributes, and its own operand if OUT cannot keep it. The last node contributes nothing. */
COLL_INLINE coll_status coll_i_two_level_scan(coll_plan *plan, coll_kit *kit)
{
    const coll_collective it = plan->problem.collective;
    const bool exclusive = it == COLL_EXSCAN;
    const size_t count = plan->problem.count;
    const coll_ref out = COLL_AT(COLL_OUT, 0), before = COLL_AT(COLL_SCRATCH, 0);
    const bool later = kit->at.index > 0;
    bool adds; /* this rank adds its operand to what its node contributes */
    const coll_ref sum = before + (later ? count : 0);
    coll_ref own = coll_input(plan);
    coll_i_levels at;
    coll_problem of;
    coll_stage *stage;
    coll_status status;
    coll_i_levels_of(plan, kit, &at);
    at.seats = COLL_I_LASTS;
    at.lead = kit->at.ranks - 1;
    at.leads = kit->at.local == at.lead;
    if (!at.intra || !at.inter) {
        coll_i_levels_problem(plan, kit, &at, at.intra ? COLL_INTRA : COLL_INTER, it, &of);
        return at.intra ? coll_i_kit_intra(plan, kit, &of, &stage)
                        : coll_i_kit_inter(plan, kit, &at, &of, &stage);
    }
    adds = exclusive && at.leads && kit->at.index + 1 < at.nodes && kit->at.ranks > 1;
    kit->scratch = (later ? count : 0) + (adds ? count : 0);
    if (adds && coll_in_place(plan)) {
        coll_act_copy(coll_i_kit_action(kit), sum + count, own, count);
        own = sum + count;
        kit->scratch += count;
    }
    coll_i_levels_problem(plan, kit, &at, COLL_INTRA, it, &of);
    of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
    status = coll_i_kit_intra(plan, kit, &of, &stage);
    if (status != COLL_OK)
        return status;
    stage->base[COLL_SCRATCH] += kit->scratch;
    if (adds)
        coll_act_reduce(coll_i_kit_action(kit), sum, out, own, count);
    coll_i_levels_problem(plan, kit, &at, COLL_INTER, COLL_EXSCAN, &of);
    status = coll_i_kit_inter(plan, kit, &at, &of, &stage);
    if (status != COLL_OK)
        return status;
    stage->base[COLL_IN] = adds ? sum : exclusive && kit->at.ranks == 1 ? own : out;
    stage->base[COLL_OUT] = before;
    stage->base[COLL_SCRATCH] += kit->scratch;
    coll_i_levels_problem(plan, kit, &at, COLL_INTRA, COLL_BCAST, &of);
    of.flags |= COLL_FLAG_IN_PLACE;
    status = coll_i_kit_intra(plan, kit, &of, &stage);
    if (status != COLL_OK)
        return status;
    stage->base[COLL_OUT] = before;
    stage->base[COLL_SCRATCH] += kit->scratch;
    if (!later)
        kit->n_stages--;
    else if (exclusive && kit->at.local == 0)
        coll_act_copy(coll_i_kit_action(kit), out, before, count);
    else
        coll_act_reduce(coll_i_kit_action(kit), out, before, out, count);
    return COLL_OK;
}

static const coll_use coll_i_two_level_scan_defaults[] = {
    {COLL_INTRA, &coll_recursive_doubling_scan, NULL},
    {COLL_INTRA, &coll_recursive_doubling_exscan, NULL},
    {COLL_INTRA, &coll_fnomial_bcast, NULL},
    {COLL_INTER, &coll_recursive_doubling_scan, NULL},
    {COLL_INTER, &coll_recursive_doubling_exscan, NULL}};

static const coll_recipe coll_two_level_scan = {
    COLL_I_LEVELS("two_level", "Wu 2005, chapter 3",
                  COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN), 0, 1),
    coll_i_two_level_scan, coll_i_two_level_scan_defaults, 5};

#endif /* COLL_ALGOS_TWO_LEVEL_SCAN_H */
