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

typedef enum coll_route_kind { COLL_ROUTE_BY_MESH, COLL_ROUTE_BY_NODES } coll_route_kind;

/* What a rank does in a neighbor_allgather or neighbor_alltoall on a graph. */
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

/* ---- making a route: one phase ----------------------------------------------------------- */

/* A block that goes to a peer, or comes from one, in a phase. */
typedef struct coll_i_parcel {
    uint32_t peer;
    uint32_t key[3]; /* parcels of a message are in the order of these, at both ends */
    uint32_t place;  /* where it is; of one that comes, where it goes: filled in */
    uint32_t want;   /* where one that comes belongs in the end; COLL_RANK_NONE: not here */
    uint32_t slot;   /* the maker's name for it */
} coll_i_parcel;

/* A route in the making. */
typedef struct coll_i_router {
    uint32_t rank, p;
    bool shared; /* parcels of equal keys are one block: an allgather */
    coll_move *moves;
    uint32_t n, scratch;
    coll_i_parcel *parcels; /* of this phase: those that go, then those that come */
    uint32_t goes, parcels_n;
    uint32_t *order;
} coll_i_router;

COLL_INLINE void coll_i_route_move(coll_i_router *router, uint32_t peer, uint32_t src,
                                   uint32_t dst, uint32_t blocks)
{
    coll_move *move = &router->moves[router->n++];
    move->peer = peer;
    move->blocks = blocks;
    move->src = src;
    move->dst = dst;
}

/* Copies a block; as part of the copy before, if it goes on where that ends. */
COLL_INLINE void coll_i_route_copy(coll_i_router *router, uint32_t src, uint32_t dst)
{
    coll_move *last = router->n ? &router->moves[router->n - 1] : NULL;
    if (last && last->peer == COLL_RANK_NONE && src == last->src + last->blocks &&
        dst == last->dst + last->blocks)
        last->blocks++;
    else
        coll_i_route_move(router, COLL_RANK_NONE, src, dst, 1);
}

/* Begins a phase. */
COLL_INLINE void coll_i_route_begin(coll_i_router *router)
{
    router->goes = router->parcels_n = 0;
}

/* Adds a parcel; all that go before the first that comes. */
COLL_INLINE coll_i_parcel *coll_i_route_parcel(coll_i_router *router, uint32_t peer,
                                               uint32_t slot, bool goes)
{
    coll_i_parcel *parcel = &router->parcels[router->parcels_n++];
    router->goes += goes ? 1 : 0;
    parcel->peer = peer;
    parcel->key[0] = parcel->key[1] = parcel->key[2] = 0;
    parcel->place = parcel->want = COLL_RANK_NONE;
    parcel->slot = slot;
    return parcel;
}

COLL_INLINE uint32_t coll_i_parcel_way(const coll_i_router *router, uint32_t i)
{
    const uint32_t peer = router->parcels[i].peer;
    return i < router->goes ? coll_mod_sub(peer, router->rank, router->p)
                            : coll_mod_sub(router->rank, peer, router->p);
}

COLL_INLINE bool coll_i_parcel_same(const coll_i_parcel *a, const coll_i_parcel *b)
{
    return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->key[2] == b->key[2];
}

/* By way, sends first, by keys, by slot. */
COLL_INLINE bool coll_i_parcel_before(const void *of, uint32_t i, uint32_t j)
{
    const coll_i_router *router = (const coll_i_router *)of;
    const coll_i_parcel *a = &router->parcels[i], *b = &router->parcels[j];
    const uint32_t x = coll_i_parcel_way(router, i), y = coll_i_parcel_way(router, j);
    if (x != y)
        return x < y;
    if ((i < router->goes) != (j < router->goes))
        return i < router->goes;
    for (unsigned k = 0; k < 3; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] < b->key[k];
    return a->slot < b->slot;
}

/* One message, parcels order[first] … order[end − 1]. */
COLL_INLINE void coll_i_route_message(coll_i_router *router, uint32_t first, uint32_t end)
{
    const bool goes = router->order[first] < router->goes;
    const uint32_t area = COLL_PLACE(COLL_SCRATCH, router->scratch);
    coll_i_parcel *head = &router->parcels[router->order[first]], *last = head;
    uint32_t blocks = 1;
    bool together = true; /* as they lie, or as they are wanted */
    for (uint32_t i = first + 1; i < end; i++) {
        coll_i_parcel *next = &router->parcels[router->order[i]];
        if (router->shared && coll_i_parcel_same(last, next))
            continue;
        together =
            together && (goes ? next->place == last->place + 1 : next->want == last->want + 1);
        last = next;
        blocks++;
    }
    together = together && (goes || head->want != COLL_RANK_NONE);
    if (!together)
        router->scratch += blocks;
    blocks = 0;
    for (uint32_t i = first; i < end; i++) {
        coll_i_parcel *parcel = &router->parcels[router->order[i]];
        const bool again = i > first && router->shared &&
                           coll_i_parcel_same(&router->parcels[router->order[i - 1]], parcel);
        blocks += again ? 0 : 1;
        if (!goes)
            parcel->place = (together ? head->want : area) + blocks - 1;
        else if (!together && !again)
            coll_i_route_copy(router, parcel->place, area + blocks - 1);
    }
    if (goes)
        coll_i_route_move(router, head->peer, together ? head->place : area, COLL_RANK_NONE,
                          blocks);
    else
        coll_i_route_move(router, head->peer, COLL_RANK_NONE, head->place, blocks);
}

/* The messages of the phase. Then each parcel that comes has its place. */
COLL_INLINE void coll_i_route_phase(coll_i_router *router)
{
    const uint32_t n = router->parcels_n;
    for (uint32_t i = 0; i < n; i++)
        router->order[i] = i;
    coll_i_sort(router->order, n, coll_i_parcel_before, router);
    for (uint32_t first = 0, end; first < n; first = end) {
        const uint32_t head = router->order[first];
        for (end = first + 1; end < n; end++) {
            const uint32_t next = router->order[end];
            if ((next < router->goes) != (head < router->goes) ||
                router->parcels[next].peer != router->parcels[head].peer)
                break;
        }
        coll_i_route_message(router, first, end);
    }
}

/* ---- making a route: from begin to end --------------------------------------------------- */

COLL_INLINE void coll_i_route_init(coll_i_router *router, const coll_problem *problem,
                                   uint32_t rank)
{
    router->rank = rank;
    router->p = problem->p;
    router->shared = problem->collective == COLL_NEIGHBOR_ALLGATHER;
    router->n = router->scratch = 0;
}

/* Block k of OUT is at `place`: it is copied unless it is there already. */
COLL_INLINE void coll_i_route_deliver(coll_i_router *router, uint32_t place, uint32_t k)
{
    if (place != COLL_PLACE(COLL_OUT, k))
        coll_i_route_copy(router, place, COLL_PLACE(COLL_OUT, k));
}

COLL_INLINE void coll_i_route_end(const coll_i_router *router, coll_route *route,
                                  const coll_problem *problem, coll_route_kind kind)
{
    route->kind = kind;
    route->collective = problem->collective;
    route->rank = router->rank;
    route->n = router->n;
    route->scratch = router->scratch;
    route->moves = router->moves;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Cuts from the caller's memory; counts only where there is none. */
typedef struct coll_i_cutter {
    unsigned char *at;
    size_t used;
} coll_i_cutter;

/* Memory for n entries of `bytes` bytes, which are a multiple of 4. */
COLL_INLINE void *coll_i_cut(coll_i_cutter *cutter, size_t n, size_t bytes)
{
    void *area = cutter->at ? cutter->at + cutter->used : NULL;
    cutter->used += n * bytes;
    return area;
}

#endif /* COLL_ALGOS_KIT_COMBINING_H */
