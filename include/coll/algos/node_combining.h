/* coll/algos/node_combining.h — neighbour collectives on any graph, one message from node to node
 *
 * All blocks that the ranks of one node have for the ranks of another travel together. A rank hands
 * what it has for node B to the rank of its own node that speaks with B; this one sends it all to
 * the rank of B that listens to it; and there it is dealt out. What stays on a node goes straight.
 * So there is one message for each pair of nodes with any edge, instead of one for each edge; and
 * in an allgather, a block is in it once. The work is spread: rank number B mod n of node A, which
 * has n ranks, speaks with node B, and listens to it.
 *
 *   ranks 0 1 2 | 3 4 5; edges 0 → 3, 0 → 4, 1 → 4, 2 → 5
 *     on node 0    0 and 2 hand their blocks to rank 1, which speaks with node 1
 *     between      1 sends 4 blocks to rank 3, which listens to node 0
 *     on node 1    3 keeps one, and deals out two to rank 4, one to rank 5
 *
 * The route needs the lists of all ranks, and time about linear in the edges of its own node. The
 * nodes may as well be groups of ranks that are made up, to trade messages for copies.
 *
 * Laws (tests/algos/node_combining.c)
 *   (1) between two nodes with an edge there is one message, from the rank that speaks to the
 *       one that listens; between others none
 *   (2) on a node, a rank sends at most two messages to each other rank: of its own blocks, and
 *       of blocks that came for that rank
 *   (3) in a message, a block of an alltoall is once for its edge, one of an allgather once
 * Cost    per rank, on a node of n out of N: at most 2(n − 1) messages on the node, and ⌈N / n⌉ to
 *         others. A block is sent at most three times. Rounds: in each phase at most one for each
 *         way round the circle of ranks that a message goes. scratch: at most what the rank sends
 *         and receives
 * Source  Bienz, Gropp, Olson 2019 (node-aware communication in three steps), JPDC 130
 */
#ifndef COLL_ALGOS_NODE_COMBINING_H
#define COLL_ALGOS_NODE_COMBINING_H

#include "../plan/graph.h"
#include "kit/node_legs.h"

/* ---- making the route -------------------------------------------------------------------- */

/* Counts the edges of the rank's node, and cuts the memory for them. SIZE_MAX: far too many. */
COLL_INLINE size_t coll_i_node_cut(coll_i_node_route *r, const coll_problem *problem,
                                   uint32_t rank, const coll_neighbors *all, void *memory)
{
    const uint64_t most = 1u << 24;
    uint64_t out = 0, in = 0;
    coll_i_cutter cutter;
    coll_node node;
    r->problem = problem;
    node = coll_i_node_of(r, rank);
    r->node.index = node.index; /* by field: on bare metal, compilers call memcpy for all */
    r->node.first = node.first;
    r->node.ranks = node.ranks;
    r->node.local = node.local;
    for (uint32_t k = 0; k < r->node.ranks && out + in <= most; k++) {
        out += coll_i_all_degree(problem->graph, all, r->node.first + k, true);
        in += coll_i_all_degree(problem->graph, all, r->node.first + k, false);
    }
    if (out + in > most)
        return SIZE_MAX;
    r->out = (uint32_t)out;
    r->all = (uint32_t)(out + in);
    cutter.at = (unsigned char *)memory;
    cutter.used = 0;
    r->router.moves =
        (coll_move *)coll_i_cut(&cutter, 4 * (size_t)r->all, sizeof *r->router.moves);
    r->router.parcels = (coll_i_parcel *)coll_i_cut(&cutter, r->all, sizeof *r->router.parcels);
    r->router.order = (uint32_t *)coll_i_cut(&cutter, r->all, sizeof(uint32_t));
    r->legs = (coll_i_leg *)coll_i_cut(&cutter, r->all, sizeof *r->legs);
    return cutter.used;
}

/* Writes the legs that leave the ranks of the node, or those that arrive. False: one leads to no
 * rank. */
COLL_INLINE bool coll_i_node_legs(coll_i_node_route *r, const coll_neighbors *all, bool out)
{
    const coll_graph *graph = r->problem->graph;
    coll_i_leg *leg = out ? r->legs : r->legs + r->out;
    for (uint32_t rank = r->node.first; rank < r->node.first + r->node.ranks; rank++) {
        const uint32_t n = coll_i_all_degree(graph, all, rank, out);
        for (uint32_t i = 0; i < n; i++, leg++) {
            const uint32_t peer = coll_i_all_peer(graph, all, rank, i, out);
            if (peer >= r->problem->p && peer != COLL_RANK_NONE)
                return false;
            leg->from = out ? rank : peer;
            leg->to = out ? peer : rank;
            leg->number = out || graph->n_dims == 0 ? i : coll_graph_opposite(graph, i);
            leg->block = i;
            leg->place = COLL_PLACE(COLL_IN, r->router.shared ? 0 : i);
        }
    }
    return true;
}

/* Bytes of memory that coll_route_by_nodes needs on a rank; SIZE_MAX: it will refuse. */
COLL_INLINE size_t coll_route_nodes_bytes(const coll_problem *problem, uint32_t rank,
                                          const coll_neighbors *all)
{
    coll_i_node_route r;
    if (!problem || !problem->graph || (problem->graph->n_dims == 0 && !all) ||
        rank >= problem->p)
        return SIZE_MAX;
    return coll_i_node_cut(&r, problem, rank, all, NULL);
}

/* Makes a rank's route for a problem of neighbor_allgather or neighbor_alltoall, of any count, by
 * way of problem->nodes. `all` are the lists of the p ranks, the same everywhere; NULL for a mesh
 * or stencil. `memory` as for coll_route_by_mesh, with coll_route_nodes_bytes; errors likewise,
 * and COLL_ERR_NODES. */
COLL_INLINE coll_status coll_route_by_nodes(coll_route *route, const coll_problem *problem,
                                            uint32_t rank, const coll_neighbors *all,
                                            void *memory, size_t bytes)
{
    coll_i_node_route r;
    size_t needs;
    if (!route || !problem || (!memory && bytes != 0))
        return COLL_ERR_NULL;
    if (problem->collective != COLL_NEIGHBOR_ALLGATHER &&
        problem->collective != COLL_NEIGHBOR_ALLTOALL)
        return COLL_ERR_COLLECTIVE;
    if (coll_graph_check(problem->graph, problem->p) != COLL_OK ||
        (problem->graph->n_dims == 0 && !all))
        return COLL_ERR_GRAPH;
    if (rank >= problem->p)
        return COLL_ERR_RANK;
    if (!coll_nodes_check(&problem->nodes, problem->p))
        return COLL_ERR_NODES;
    needs = coll_i_node_cut(&r, problem, rank, all, memory);
    if (bytes < needs)
        return COLL_ERR_MEMORY;
    coll_i_route_init(&r.router, problem, rank);
    if (!coll_i_node_legs(&r, all, true) || !coll_i_node_legs(&r, all, false))
        return COLL_ERR_GRAPH;
    coll_i_route_begin(&r.router);
    coll_i_node_collect(&r);
    coll_i_node_exchange(&r);
    coll_i_node_deal(&r);
    coll_i_node_deliver(&r);
    coll_i_route_end(&r.router, route, problem, COLL_ROUTE_BY_NODES);
    return COLL_OK;
}

/* ---- the algorithm ----------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_node_combining_check(const coll_plan *plan)
{
    return coll_i_route_check(plan, COLL_ROUTE_BY_NODES);
}

COLL_ALGORITHM(coll_node_combining, "node_combining", "Bienz, Gropp, Olson 2019",
    COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLTOALL),
    COLL_NEEDS_ROUTE | COLL_USES_NODES,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_route_steps, coll_i_route_step, coll_i_route_scratch, coll_i_node_combining_check);

#endif /* COLL_ALGOS_NODE_COMBINING_H */
