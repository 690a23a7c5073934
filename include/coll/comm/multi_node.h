/* coll/comm/multi_node.h — calls of a communicator whose ranks are on several nodes: in levels
 *
 *   coll_nodes nodes;                                   // the caller's, as long as comm
 *   coll_nodes_even(&nodes, p, 16);                     // or coll_nodes_table, for nodes of any size
 *   status = coll_comm_nodes(&comm, &nodes);
 *   status = coll_allreduce(&comm, x, y, n, COLL_F64, COLL_SUM);   // … within nodes, and across them
 *
 * Calls then choose by the rules of select/inter_node.h, or by those of a later coll_comm_rules,
 * and a composite algorithm (plan/composite.h) may be forced as any other one. Such a plan is
 * made for each call anew, in the arena: some kilobytes (coll_comm_bytes), a workspace and its
 * tables, until the call is done. Only what a rank does in few actions (COLL_CACHED_ACTIONS) is
 * remembered as other plans are. Calls for which no rule names such an algorithm take what they
 * took before.
 *
 * comm.h does not include this header, and a program that does not call coll_comm_nodes has none of
 * the code of composite algorithms.
 */
#ifndef COLL_COMM_MULTI_NODE_H
#define COLL_COMM_MULTI_NODE_H

#include "../select/inter_node.h"
#include "communicator.h"

COLL_INLINE size_t coll_i_nodes_bytes(const coll_comm *comm, const coll_problem *problem)
{
    const coll_algorithm *chosen = comm->choice[problem->collective].algorithm;
    const bool builds = chosen ? (chosen->traits & COLL_NEEDS_BUILD) != 0
                               : coll_select_builds(comm->rules, problem);
    return builds ? coll_workspace_bytes(problem) : 0;
}

COLL_INLINE coll_status coll_i_nodes_plan(const coll_comm *comm, const coll_problem *problem,
                                          const coll_conditions *conditions, void *memory,
                                          coll_plan *plan)
{
    const coll_choice *choice = &comm->choice[problem->collective];
    coll_workspace *workspace = coll_workspace_in(memory, problem, comm->rank);
    return choice->algorithm
               ? coll_plan_build(plan, choice->algorithm, problem, choice->param, workspace)
               : coll_select_from(comm->rules, problem, conditions, workspace, plan, NULL);
}

COLL_CONST(coll_i_comm_builder, coll_i_nodes_builder, {coll_i_nodes_bytes, coll_i_nodes_plan});

/* Gives each node its share of the memory that the transport says its ranks have in common: all of it, or
 * a part where several nodes lie in one of the transport's. None, where a node's ranks have none in
 * common. All ranks find the same. O(nodes). */
COLL_INLINE void coll_i_comm_share(coll_comm *comm)
{
    const coll_node_memory *memory = comm->transport->node_memory;
    uint32_t own = 0, in = 0, before = COLL_RANK_NONE;
    coll_nodes one;
    const coll_nodes *nodes = comm->nodes ? comm->nodes : &one, *theirs;
    comm->share = comm->shares = 0;
    if (comm != comm->root_comm || !memory || comm->transport->tags == 0)
        return;
    coll_nodes_even(&one, comm->p, comm->p);
    theirs = memory->nodes ? memory->nodes(comm->ctx) : &one;
    own = coll_node_of(nodes, comm->p, comm->rank).index;
    for (uint32_t i = 0; i < coll_nodes_count(nodes); i++) {
        const uint32_t first = coll_nodes_first(nodes, comm->p, i);
        const uint32_t last = coll_nodes_first(nodes, comm->p, i + 1) - 1;
        const uint32_t where = coll_node_of(theirs, comm->p, first).index;
        if (coll_node_of(theirs, comm->p, last).index != where) {
            comm->share = comm->shares = 0;
            return;
        }
        in = where == before ? in + 1 : 1;
        before = where;
        comm->shares = in > comm->shares ? in : comm->shares;
        if (i == own)
            comm->share = in - 1;
    }
}

/* Says which ranks of a communicator share a node, and has all calls that follow choose by
 * coll_rules_of_nodes. Every rank makes the same call. The nodes, and their tables, stay the caller's,
 * unchanged, as long as the communicator exists. Calls use memory that the ranks of a node share
 * (COLL_NEEDS_SHARED) if each of these nodes lies in one of the transport's (coll_node_memory). Where
 * memory is that of sockets (coll_join_parts), so are these nodes; which of them share a machine say
 * their groups. COLL_ERR_NODES: they are not those of p ranks, or what is beyond them does not fit. */
COLL_INLINE coll_status coll_comm_nodes(coll_comm *comm, const coll_nodes *nodes)
{
    if (!comm || !nodes)
        return COLL_ERR_NULL;
    if (!coll_nodes_check(nodes, comm->p) || !coll_beyond_check(nodes, comm->p))
        return COLL_ERR_NODES;
    comm->nodes = coll_nodes_count(nodes) > 1 ? nodes : NULL;
    comm->builder = &coll_i_nodes_builder;
    coll_i_comm_share(comm);
    return coll_comm_rules(comm, &coll_rules_of_nodes);
}

#endif /* COLL_COMM_MULTI_NODE_H */
