/* coll/algos/multi_leader_scan.h — scan, exscan by several leaders a node
 *
 * The vector is cut into l partitions, of which every node has a leader each (kit/leaders.h). A
 * reduce_scatter within a node brings what the node contributes to the leaders, and its ranks scan
 * among themselves. Leaders of equal number exscan their partition across the nodes, all l groups
 * at once, so that each has what the nodes before its own contribute; an allgather within the node
 * brings these partitions together, and every rank combines them with its own result, from the
 * left. Nodes are runs of ranks, so operands are in rank order. With a leader for each rank (by the
 * name of full_lane) every rank of a node drives its share across, where in two_level_scan.h one
 * drives all.
 *
 *   2 nodes of 2 ranks, l = 2, partitions a b    rank   0      1      2          3
 *     reduce_scatter                                    a01    b01    –          –
 *     scan within                                       0      01     2          23
 *     exscan across                                                   a01        b01
 *     allgather                                                       a01 b01    a01 b01
 *     combined                                          0      01     012        0123
 *
 * Laws (tests/algos/multi_leader_scan.c)
 *   (1) messages to other nodes are those of an inner exscan of as many ranks as there are nodes,
 *       of each partition, by its leader
 *   (2) the last node reduces nothing for others; the first gets nothing
 * Cost    messages, elements and combinations of the inner algorithms: within a node, of a scan or
 *         exscan, of a reduce_scatter but on the last, of an allgather but on the first; at a
 *         leader, besides, of an exscan across, for each piece of its partitions. Rounds: at most
 *         those of the levels, one after the other. Besides, `count` combinations on all nodes but
 *         the first at every rank (of an exscan, but the first of its node). scratch: `count` on
 *         all nodes but the first; the partitions of a leader on all nodes but the last
 * Source  Träff, Hunold 2020, doi:10.1109/CLUSTER49012.2020.00021
 */
#ifndef COLL_ALGOS_MULTI_LEADER_SCAN_H
#define COLL_ALGOS_MULTI_LEADER_SCAN_H

#include "multi_leader.h"
#include "two_level_scan.h"

/* SCRATCH has what the nodes before contribute, and then what the node contributes to the
 * partitions that this rank leads. In place, OUT has the operands until they are scanned, so they
 * are reduced first. */
COLL_INLINE coll_status coll_i_multi_leader_scan(coll_plan *plan, coll_workspace *workspace)
{
    const coll_collective it = plan->problem.collective;
    const size_t count = plan->problem.count;
    const coll_ref out = COLL_AT(COLL_OUT, 0), before = COLL_AT(COLL_SCRATCH, 0);
    coll_ref sums = before;
    coll_i_leaders my;
    coll_problem of;
    coll_status status;
    bool first, last;
    size_t held;
    coll_i_leaders_of(plan, workspace, &my);
    if (!my.at.intra || !my.at.inter)
        return coll_i_two_level_scan(plan, workspace);
    first = workspace->at.index == 0;
    last = workspace->at.index + 1 == my.at.nodes;
    sums += first ? 0 : count;
    held = (first ? 0 : count) + (last ? 0 : my.own);
    workspace->scratch = held;
    coll_i_leaders_problem(plan, workspace, COLL_REDUCE_SCATTER, 0, &of);
    status = coll_i_leaders_intra(plan, workspace, &of, !last, coll_input(plan), sums, held);
    if (status != COLL_OK)
        return status;
    coll_i_levels_problem(plan, workspace, &my.at, COLL_INTRA, it, &of);
    of.root = 0;
    of.flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
    status = coll_i_leaders_intra(plan, workspace, &of, true, COLL_AT(COLL_IN, 0), out, held);
    if (status != COLL_OK)
        return status;
    coll_i_composite_problem(plan, COLL_INTER, COLL_EXSCAN, my.at.nodes, 0, &of);
    status = coll_i_leaders_inter(plan, workspace, &of, my.k, last ? out + my.begin : sums,
                                  before + my.begin, held);
    if (status != COLL_OK)
        return status;
    coll_i_leaders_problem(plan, workspace, COLL_ALLGATHERV, 0, &of);
    of.flags |= COLL_FLAG_IN_PLACE;
    status =
        coll_i_leaders_intra(plan, workspace, &of, !first, COLL_AT(COLL_IN, 0), before, held);
    if (status != COLL_OK || first)
        return status;
    if (it == COLL_EXSCAN && workspace->at.local == 0)
        coll_act_copy(coll_i_composite_action(workspace), out, before, count);
    else
        coll_act_reduce(coll_i_composite_action(workspace), out, before, out, count);
    return COLL_OK;
}

COLL_TABLE(coll_binding, coll_i_multi_leader_scan_defaults, {
    {COLL_INTRA, &coll_recursive_doubling_scan, NULL},
    {COLL_INTRA, &coll_recursive_doubling_exscan, NULL},
    {COLL_INTRA, &coll_pairwise_reduce_scatter, NULL},
    {COLL_INTRA, &coll_ring_allgather, NULL},
    {COLL_INTER, &coll_recursive_doubling_scan, NULL},
    {COLL_INTER, &coll_recursive_doubling_exscan, NULL}});

COLL_COMPOSITE(coll_multi_leader_scan, "multi_leader", "Traeff, Hunold 2020",
    COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(2, coll_i_multi_leader_params),
    coll_i_multi_leader_scan, COLL_BINDINGS(6, coll_i_multi_leader_scan_defaults));

#endif /* COLL_ALGOS_MULTI_LEADER_SCAN_H */
