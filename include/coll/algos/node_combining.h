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

#include "kit/combining.h"

/* ---- edges ------------------------------------------------------------------------------- */

/* How many destinations, or sources, a rank has. `all`: as for coll_route_by_nodes. */
COLL_INLINE uint32_t coll_i_all_degree(const coll_graph *graph, const coll_neighbors *all,
                                       uint32_t rank, bool out)
{
    if (graph->n_dims)
        return graph->n_out;
    return out ? all[rank].n_out : all[rank].n_in;
}

COLL_INLINE uint32_t coll_i_all_peer(const coll_graph *graph, const coll_neighbors *all,
                                     uint32_t rank, uint32_t i, bool out)
{
    if (graph->n_dims)
        return out ? coll_graph_destination(graph, rank, i) : coll_graph_source(graph, rank, i);
    return out ? all[rank].destinations[i] : all[rank].sources[i];
}

/* An edge with an end on the node. */
typedef struct coll_i_leg {
    uint32_t from, to; /* COLL_RANK_NONE: over the end of a mesh */
    uint32_t number;   /* parallel edges are in the order of these, at both ends */
    uint32_t block;    /* of the IN of `from`, or of the OUT of `to`: of the end on the node */
    uint32_t place;    /* of what goes along it */
} coll_i_leg;

typedef struct coll_i_node_route {
    coll_i_router router;
    const coll_problem *problem;
    coll_node node;    /* of the rank */
    coll_i_leg *legs;  /* from the node, in the order of ranks and of blocks; then to it */
    uint32_t out, all; /* legs from it, and in all */
} coll_i_node_route;

/* ---- who stands for whom ----------------------------------------------------------------- */

COLL_INLINE coll_node coll_i_node_of(const coll_i_node_route *r, uint32_t rank)
{
    return coll_node_of(&r->problem->nodes, r->problem->p, rank);
}

/* The rank of a node that speaks with another node. */
COLL_INLINE uint32_t coll_i_node_speaker(const coll_node *of, const coll_node *with)
{
    return of->first + with->index % of->ranks;
}

/* Whom the sender of a leg hands its block: the receiver, if that is on the same node. */
COLL_INLINE uint32_t coll_i_leg_speaker(const coll_i_node_route *r, const coll_i_leg *leg)
{
    const coll_node from = coll_i_node_of(r, leg->from), to = coll_i_node_of(r, leg->to);
    return from.index == to.index ? leg->to : coll_i_node_speaker(&from, &to);
}

/* Who hands its block to the receiver of a leg: the sender, if that is on the same node. */
COLL_INLINE uint32_t coll_i_leg_listener(const coll_i_node_route *r, const coll_i_leg *leg)
{
    const coll_node from = coll_i_node_of(r, leg->from), to = coll_i_node_of(r, leg->to);
    return from.index == to.index ? leg->from : coll_i_node_speaker(&to, &from);
}

COLL_INLINE bool coll_i_leg_stays(const coll_i_node_route *r, const coll_i_leg *leg)
{
    return leg->from - r->node.first < r->node.ranks && leg->to - r->node.first < r->node.ranks;
}

/* ---- the route --------------------------------------------------------------------------- */

/* Adds what goes along a leg to the phase. */
COLL_INLINE coll_i_parcel *coll_i_leg_parcel(coll_i_node_route *r, uint32_t e, uint32_t peer,
                                             bool goes)
{
    const coll_i_leg *leg = &r->legs[e];
    coll_i_parcel *parcel = coll_i_route_parcel(&r->router, peer, e, goes);
    parcel->key[0] = leg->from;
    parcel->key[1] = r->router.shared ? 0 : leg->to;
    parcel->key[2] = r->router.shared ? 0 : leg->number;
    if (goes)
        parcel->place = leg->place;
    else if (e >= r->out && leg->to == r->router.rank)
        parcel->want = COLL_PLACE(COLL_OUT, leg->block);
    return parcel;
}

COLL_INLINE void coll_i_node_phase(coll_i_node_route *r)
{
    coll_i_route_phase(&r->router);
    for (uint32_t k = r->router.goes; k < r->router.parcels_n; k++)
        r->legs[r->router.parcels[k].slot].place = r->router.parcels[k].place;
    coll_i_route_begin(&r->router);
}

/* Blocks go to their receivers on the node, and to the speakers of it. */
COLL_INLINE void coll_i_node_collect(coll_i_node_route *r)
{
    const uint32_t rank = r->router.rank;
    for (uint32_t e = 0; e < r->out; e++)
        if (r->legs[e].from == rank && r->legs[e].to != COLL_RANK_NONE &&
            coll_i_leg_speaker(r, &r->legs[e]) != rank)
            coll_i_leg_parcel(r, e, coll_i_leg_speaker(r, &r->legs[e]), true);
    for (uint32_t e = 0; e < r->out; e++)
        if (r->legs[e].from != rank && r->legs[e].to != COLL_RANK_NONE &&
            !coll_i_leg_stays(r, &r->legs[e]) && coll_i_leg_speaker(r, &r->legs[e]) == rank)
            coll_i_leg_parcel(r, e, r->legs[e].from, false);
    for (uint32_t e = r->out; e < r->all; e++)
        if (r->legs[e].to == rank && r->legs[e].from != rank &&
            r->legs[e].from != COLL_RANK_NONE && coll_i_leg_stays(r, &r->legs[e]))
            coll_i_leg_parcel(r, e, r->legs[e].from, false);
    coll_i_node_phase(r);
}

/* … from speakers to listeners … */
COLL_INLINE void coll_i_node_exchange(coll_i_node_route *r)
{
    const uint32_t rank = r->router.rank;
    for (uint32_t e = 0; e < r->all; e++) {
        const coll_i_leg *leg = &r->legs[e];
        const bool goes = e < r->out;
        if ((goes ? leg->to : leg->from) == COLL_RANK_NONE || coll_i_leg_stays(r, leg))
            continue;
        if (goes && coll_i_leg_speaker(r, leg) == rank)
            coll_i_leg_parcel(r, e, coll_i_leg_listener(r, leg), true);
        else if (!goes && coll_i_leg_listener(r, leg) == rank)
            coll_i_leg_parcel(r, e, coll_i_leg_speaker(r, leg), false);
    }
    coll_i_node_phase(r);
}

/* … and from these to the receivers. */
COLL_INLINE void coll_i_node_deal(coll_i_node_route *r)
{
    const uint32_t rank = r->router.rank;
    for (int goes = 1; goes >= 0; goes--)
        for (uint32_t e = r->out; e < r->all; e++) {
            const coll_i_leg *leg = &r->legs[e];
            uint32_t listener;
            if (leg->from == COLL_RANK_NONE || coll_i_leg_stays(r, leg))
                continue;
            listener = coll_i_leg_listener(r, leg);
            if (goes && listener == rank && leg->to != rank)
                coll_i_leg_parcel(r, e, leg->to, true);
            else if (!goes && listener != rank && leg->to == rank)
                coll_i_leg_parcel(r, e, listener, false);
        }
    coll_i_node_phase(r);
}

/* What has arrived is copied to OUT, if it is not there yet; so is what a rank has for itself. */
COLL_INLINE void coll_i_node_deliver(coll_i_node_route *r)
{
    uint32_t loop = 0; /* the next leg from the rank to itself, of lists */
    for (uint32_t e = r->out; e < r->all; e++) {
        const coll_i_leg *leg = &r->legs[e];
        uint32_t place = leg->place;
        if (leg->to != r->router.rank || leg->from == COLL_RANK_NONE)
            continue;
        if (leg->from == leg->to && r->problem->graph->n_dims) {
            place = COLL_PLACE(COLL_IN, r->router.shared ? 0 : leg->number);
        } else if (leg->from == leg->to) {
            while (loop < r->out &&
                   (r->legs[loop].from != leg->from || r->legs[loop].to != leg->to))
                loop++;
            if (loop < r->out)
                place = r->legs[loop++].place;
        }
        coll_i_route_deliver(&r->router, place, leg->block);
    }
}

/* ---- making it --------------------------------------------------------------------------- */

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
