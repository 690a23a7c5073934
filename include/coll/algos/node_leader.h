/* coll/algos/node_leader.h — allreduce by the network among leaders of nodes, or of sockets
 *
 * A network that reduces (network.h) takes few operands at a time, so not all ranks hand theirs
 * over, but one of each node: it reduces those of its node before, and spreads the result after
 * that, as in two_level.h. A leader is slow to reach from other sockets than its own; so a leader
 * for each socket may be better, as long as they are not too many for the network. The ranks of a
 * node are cut into as many runs of nearly equal length as it has sockets.
 *
 *   2 nodes of 4 ranks           0  1  2  3  |  4  5  6  7
 *     node_leader                0 ◄─ ◄─ ◄─     4 ◄─ ◄─ ◄─     the network: 0 4
 *     socket_leader, 2 sockets   0 ◄─ 2 ◄─      4 ◄─ 6 ◄─      the network: 0 2 4 6
 *
 * Laws (tests/algos/node_leader.c)
 *   (1) the leaders of all nodes, or sockets, meet once in the network, and no other rank does
 *   (2) all messages stay within a node, or socket
 * Cost    of the reduce and the bcast of the ranks of a node, or socket; at a leader, besides, one
 *         action of `count` elements. Rounds: those of the largest, and one. scratch of a leader:
 *         `count` besides
 * Source  Bayatpour et al. 2017, section 4.3, doi:10.1145/3126908.3126954
 */
#ifndef COLL_ALGOS_NODE_LEADER_H
#define COLL_ALGOS_NODE_LEADER_H

#include "in_network.h"
#include "two_level.h"

/* ---- sockets ----------------------------------------------------------------------------- */

COLL_TABLE(coll_param, coll_i_socket_params, {
    COLL_PARAM("sockets", "of a node: runs of ranks of nearly equal length",
               1, 4096, 2, {2, 3, 2, 2})});

/* Numbers the sockets of all nodes through, and makes this rank's its node; which of its node's
 * it is. O(nodes). */
COLL_INLINE uint32_t coll_i_sockets_of(const coll_plan *plan, coll_workspace *workspace,
                                       coll_i_levels *at)
{
    const uint32_t most = plan->param[0], m = workspace->at.ranks, nodes = at->nodes;
    const coll_partition cut = coll_partition_of(m, most < m ? most : m);
    coll_block run = coll_part_block(cut, 0);
    uint32_t own = 0;
    workspace->sockets = most;
    while (workspace->at.local >= run.offset + run.count)
        run = coll_part_block(cut, ++own);
    at->nodes = 0;
    at->intra = false;
    for (uint32_t node = 0; node < nodes; node++) {
        const uint32_t ranks = coll_node_at(&workspace->nodes, workspace->p, node, 0).ranks;
        if (node == workspace->at.index)
            at->index = at->nodes + own;
        at->nodes += ranks < most ? ranks : most;
        at->intra = at->intra || ranks > most;
    }
    at->inter = at->nodes > 1;
    at->group = COLL_GROUP_SOCKETS;
    workspace->at.first += (uint32_t)run.offset;
    workspace->at.ranks = (uint32_t)run.count;
    workspace->at.local -= (uint32_t)run.offset;
    at->lead = 0;
    at->leads = workspace->at.local == 0;
    return own;
}

COLL_INLINE coll_status coll_i_socket_leader_build(coll_plan *plan, coll_workspace *workspace)
{
    coll_i_levels at;
    coll_status status;
    size_t own;
    coll_i_levels_of(plan, workspace, &at);
    own = coll_i_sockets_of(plan, workspace, &at);
    status = coll_i_levels_allreduce(plan, workspace, &at);
    /* sockets of a node have SHARED of their own */
    for (uint32_t i = 0; i < workspace->sequence.n; i++)
        workspace->phases[i].base[COLL_SHARED] += own * workspace->shared;
    if (status == COLL_OK &&
        (!coll_multiply(workspace->shared, plan->param[0], &workspace->shared) ||
         !coll_i_addressable(workspace->shared, plan->problem.elem_bytes)))
        status = COLL_ERR_OVERFLOW;
    return status;
}

/* ---- records ----------------------------------------------------------------------------- */

COLL_TABLE(coll_binding, coll_i_node_leader_defaults, {
    {COLL_INTRA, &coll_fnomial_reduce, NULL},
    {COLL_INTRA, &coll_fnomial_bcast, NULL},
    {COLL_INTER, &coll_in_network_allreduce, NULL}});
COLL_COMPOSITE(coll_node_leader_allreduce, "node_leader", "Bayatpour et al. 2017, section 4.3",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_NEEDS_NETWORK_REDUCE,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_two_level_allreduce, COLL_BINDINGS(3, coll_i_node_leader_defaults));

COLL_COMPOSITE(coll_socket_leader_allreduce, "socket_leader",
    "Bayatpour et al. 2017, section 4.3",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_NETWORK_REDUCE | COLL_NEEDS_INTER_GROUP | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_socket_params),
    coll_i_socket_leader_build, COLL_BINDINGS(3, coll_i_node_leader_defaults));

#endif /* COLL_ALGOS_NODE_LEADER_H */
