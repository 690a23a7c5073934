/* coll/algos/kit/router.h — making a route: blocks that travel together, phase by phase
 *
 *   coll_i_route_init(&router, problem, rank);     // its arrays are the maker's
 *   coll_i_route_begin(&router);                   // a phase
 *   coll_i_route_parcel(&router, peer, slot, goes); // … for each block that goes or comes in it
 *   coll_i_route_phase(&router);                   // its messages; places of what came
 *   coll_i_route_deliver(&router, place, k);       // in the end: block k of OUT is there
 *   coll_i_route_end(&router, &route, problem, kind);
 *
 * The route that comes of it is a list of moves (kit/combining.h, which says how they are ordered).
 */
#ifndef COLL_ALGOS_KIT_ROUTER_H
#define COLL_ALGOS_KIT_ROUTER_H

#include "../../plan/graph.h"
#include "combining.h"

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

#endif /* COLL_ALGOS_KIT_ROUTER_H */
