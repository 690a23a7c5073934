/* coll/algos/kit/combining.h — routes: neighbour collectives by way of other ranks, in fewer
 * messages
 *
 *   coll_route route;                              // made once, for any number of calls
 *   status = coll_route_by_mesh(&route, &problem, rank, memory, bytes);
 *   status = coll_graph_add_route(&graph, &route);
 *
 * Short messages cost their number, not their length. So blocks may travel over ranks in
 * between, if there they can share messages with others. Which blocks travel together is worked
 * out ahead, in phases: in each, a rank sends what it holds and what must go on, and receives,
 * one message to and from each of its peers of this phase. What is left is a list of moves of
 * whole blocks, which this header turns into actions for blocks of any size.
 *
 * In a message, blocks are in an order that both ends work out for themselves. A message whose
 * blocks lie one behind the other, as they are to be sent, is sent from where they are; else
 * they are copied to SCRATCH. Likewise it is received where its blocks belong, if these places
 * are neighbours in OUT, or into SCRATCH. Within a phase, messages are in the order of the ways
 * that they go round the circle of ranks, as in coll_graph_lists: so no window is too small.
 *
 * algos/mesh_combining.h and algos/node_combining.h have the two kinds of route, and their
 * algorithms.
 */
#ifndef COLL_ALGOS_KIT_COMBINING_H
#define COLL_ALGOS_KIT_COMBINING_H

#include "../../plan.h"

/* Where a block is: a space and a number of blocks in one word, as a coll_ref. */
#define COLL_PLACE(space, block) (((uint32_t)(space) << 30) + (uint32_t)(block))

/* One step of a route: blocks that lie one behind the other move. */
typedef struct coll_move {
    uint32_t peer;     /* to or from whom; COLL_RANK_NONE: a copy */
    uint32_t blocks;   /* how many */
    uint32_t src, dst; /* places; COLL_RANK_NONE at the peer */
} coll_move;

/* How a route was worked out. */
typedef enum coll_route_kind {
    COLL_ROUTE_BY_MESH,
    COLL_ROUTE_BY_NODES,
    COLL_ROUTE_BY_DIGITS
} coll_route_kind;

/* What a rank does in a neighbor_allgather or neighbor_alltoall on a graph, or, by digits, in an
 * alltoallv (algos/tuna.h). */
typedef struct coll_route {
    coll_route_kind kind;
    coll_collective collective;
    uint32_t rank;          /* whose it is */
    uint32_t n;             /* moves */
    uint32_t scratch;       /* blocks of SCRATCH */
    const coll_move *moves; /* the caller's memory */
} coll_route;

/* Gives a rank's graph a route of this rank, which stays the caller's. All ranks do so.
 * COLL_ERR_ROUTE: the graph is another rank's. */
COLL_INLINE coll_status coll_graph_add_route(coll_graph *graph, const coll_route *route)
{
    if (!graph || !route)
        return COLL_ERR_NULL;
    if (graph->rank != COLL_RANK_NONE && graph->rank != route->rank)
        return COLL_ERR_ROUTE;
    graph->rank = route->rank;
    if (route->collective == COLL_NEIGHBOR_ALLGATHER)
        graph->allgather = route;
    else
        graph->alltoall = route;
    return COLL_OK;
}

/* ---- running a route --------------------------------------------------------------------- */

COLL_INLINE const coll_route *coll_i_route(const coll_plan *plan)
{
    const coll_graph *graph = plan->problem.graph;
    return plan->problem.collective == COLL_NEIGHBOR_ALLGATHER ? graph->allgather
                                                               : graph->alltoall;
}

/* Is there a route, of this kind, whose blocks fit the machine? */
COLL_INLINE coll_status coll_i_route_check(const coll_plan *plan, coll_route_kind kind)
{
    const coll_route *route = coll_i_route(plan);
    size_t elements;
    if (!route || route->kind != kind)
        return COLL_ERR_ROUTE;
    return coll_multiply(route->scratch, plan->problem.count, &elements) &&
                   coll_i_addressable(elements, plan->problem.elem_bytes)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

COLL_INLINE size_t coll_i_route_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return (coll_i_route(plan)->n + (size_t)3) / 4;
}

COLL_INLINE coll_ref coll_i_place_ref(uint32_t place, size_t count)
{
    return COLL_AT(place >> 30, (place & 0x3fffffffu) * count);
}

COLL_INLINE unsigned coll_i_route_step(const coll_plan *plan, uint32_t rank, size_t s,
                                       coll_action *out)
{
    const coll_route *route = coll_i_route(plan);
    const size_t count = plan->problem.count;
    unsigned n = 0;
    (void)rank;
    for (size_t i = 4 * s; i < 4 * s + 4 && i < route->n; i++) {
        const coll_move *move = &route->moves[i];
        const size_t elements = move->blocks * count;
        const coll_ref src = coll_i_place_ref(move->src, count);
        const coll_ref dst = coll_i_place_ref(move->dst, count);
        if (move->peer == COLL_RANK_NONE)
            coll_act_copy(&out[n++], dst, src, elements);
        else if (move->dst == COLL_RANK_NONE)
            coll_act_send(&out[n++], move->peer, src, elements);
        else
            coll_act_recv(&out[n++], move->peer, dst, elements);
    }
    return n;
}

COLL_INLINE size_t coll_i_route_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_i_route(plan)->scratch * plan->problem.count;
}

#endif /* COLL_ALGOS_KIT_COMBINING_H */
