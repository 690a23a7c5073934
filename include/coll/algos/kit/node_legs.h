/* coll/algos/kit/node_legs.h — the edges of a node's ranks, and phases from node to node
 *
 * A leg is an edge of the graph with an end on the node. What goes along it is handed to the rank
 * that speaks with the other node (collect), sent to the rank that listens there (exchange), and
 * dealt out (deal); what stays on the node goes straight. node_combining.h makes a route of that.
 *
 *   rank 0 → rank 4, on nodes of 3 ranks:   collect 0 → 1, exchange 1 → 3, deal 3 → 4
 *
 * Laws (tests/algos/node_combining.c): those of node_combining.h
 * Source  Bienz, Gropp, Olson 2019 (node-aware communication in three steps), JPDC 130
 */
#ifndef COLL_ALGOS_KIT_NODE_LEGS_H
#define COLL_ALGOS_KIT_NODE_LEGS_H

#include "../../plan/graph.h"
#include "router.h"

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

#endif /* COLL_ALGOS_KIT_NODE_LEGS_H */
