/* coll/algos/mesh_combining.h — neighbour collectives on meshes and stencils, dimension by
 * dimension
 *
 * A block that is to go (2, −1) goes 2 along dimension 0, and then −1 along dimension 1. All
 * blocks that go equally far along a dimension go in one message. So the 26 neighbours around a
 * rank of a 3-dimensional torus take 6 messages, 2 in each dimension. Every rank does the same
 * with its own blocks, so at any time a rank has at most one block of each vector in hand, and
 * knows from the vector where that came from.
 *
 * In an allgather, blocks of one origin are one block. It is sent once for all vectors that
 * have led to the same rank so far and go equally far now. So vectors with equal beginnings
 * share their way, as in a tree.
 *
 *   vectors (1,0) (1,1) (1,2) (0,2) of a torus     alltoall                 allgather
 *     dimension 0, +1                              blocks 0, 1, 2           the own, once
 *     dimension 1, +1                              block 1                  that of (1,·)
 *     dimension 1, +2                              blocks 2, 3              that of (1,·), the own
 *     3 messages, instead of 4                     6 blocks, instead of 4   4 blocks
 *
 * A mesh with ends needs no detours: each coordinate of a block on its way is that of its origin
 * or that of its destination. A block that would leave the mesh does not set out, as everyone
 * on its way can tell.
 *
 * Laws (tests/algos/mesh_combining.c)
 *   (1) in each dimension, a rank sends one message for each distance, modulo the size where it
 *       wraps round, at which any block goes from this rank; and receives likewise
 *   (2) a message has a block for each vector that goes so far, if its block has set out; in an
 *       allgather, one for each different beginning of these vectors
 *   (3) messages of a dimension come after those of the dimensions before it
 * Cost    on a torus, per rank: in each dimension as many messages as the vectors have different
 *         distances there other than 0. A block is sent as often as its vector has distances other
 *         than 0. Rounds: in each dimension at most one for each way round the circle of ranks that
 *         a message goes. scratch: at most what the rank sends and receives
 * Source  Träff, Hunold 2019 (Cartesian collective communication, ICPP)
 */
#ifndef COLL_ALGOS_MESH_COMBINING_H
#define COLL_ALGOS_MESH_COMBINING_H

#include "../plan/graph.h"
#include "kit/router.h"

/* ---- vectors ----------------------------------------------------------------------------- */

/* How far vector i goes in dimension d: equal numbers for equal moves, 0 for none. */
COLL_INLINE uint32_t coll_i_mesh_move(const coll_graph *graph, uint32_t i, uint32_t d)
{
    const int32_t component = coll_graph_component(graph, i, d);
    const coll_fast_divisor *size = &graph->size[d];
    uint32_t distance = coll_i_distance(component);
    if (!((graph->periodic >> d) & 1u))
        return (uint32_t)component;
    distance -= coll_divide(distance, size) * size->by;
    return component < 0 && distance != 0 ? size->by - distance : distance;
}

/* The rank that many moves of vector i in dimension d away from a rank. */
COLL_INLINE uint32_t coll_i_mesh_next(const coll_graph *graph, uint32_t rank, uint32_t i,
                                      uint32_t d, bool back)
{
    const int32_t component = coll_graph_component(graph, i, d);
    return coll_mesh_shift(graph, rank, d, coll_i_distance(component), (component < 0) != back);
}

/* Does a block of vector i pass this rank, having gone along the dimensions below `done`? */
COLL_INLINE bool coll_i_mesh_passes(const coll_graph *graph, uint32_t rank, uint32_t i,
                                    uint32_t done)
{
    for (uint32_t d = 0; d < graph->n_dims; d++)
        if (coll_i_mesh_next(graph, rank, i, d, d < done) == COLL_RANK_NONE)
            return false;
    return true;
}

/* Does vector i go nowhere in the dimensions from d on? */
COLL_INLINE bool coll_i_mesh_ends(const coll_graph *graph, uint32_t i, uint32_t d)
{
    while (d < graph->n_dims && coll_i_mesh_move(graph, i, d) == 0)
        d++;
    return d == graph->n_dims;
}

/* Lexicographic order. */
COLL_INLINE bool coll_i_mesh_before(const void *of, uint32_t i, uint32_t k)
{
    const coll_graph *graph = (const coll_graph *)of;
    for (uint32_t d = 0; d < graph->n_dims; d++) {
        const uint32_t x = coll_i_mesh_move(graph, i, d), y = coll_i_mesh_move(graph, k, d);
        if (x != y)
            return x < y;
    }
    return i < k;
}

/* ---- the route --------------------------------------------------------------------------- */

typedef struct coll_i_mesh_route {
    coll_i_router router;
    const coll_graph *graph;
    uint32_t *place; /* of the block of each vector that is in hand */
    uint32_t *label; /* vectors with equal ones have one block, by the end of this dimension */
    uint32_t *sorted;
} coll_i_mesh_route;

/* Cuts the memory for n vectors. */
COLL_INLINE size_t coll_i_mesh_cut(coll_i_mesh_route *m, const coll_graph *graph, void *memory)
{
    const size_t n = graph->n_out;
    coll_i_cutter cutter;
    cutter.at = (unsigned char *)memory;
    cutter.used = 0;
    m->graph = graph;
    m->router.moves =
        (coll_move *)coll_i_cut(&cutter, n * (3 * graph->n_dims + 1), sizeof *m->router.moves);
    m->router.parcels = (coll_i_parcel *)coll_i_cut(&cutter, 2 * n, sizeof *m->router.parcels);
    m->router.order = (uint32_t *)coll_i_cut(&cutter, 2 * n, sizeof(uint32_t));
    m->place = (uint32_t *)coll_i_cut(&cutter, n, sizeof(uint32_t));
    m->label = (uint32_t *)coll_i_cut(&cutter, n, sizeof(uint32_t));
    m->sorted = (uint32_t *)coll_i_cut(&cutter, n, sizeof(uint32_t));
    return cutter.used;
}

/* Labels the vectors by their components up to dimension d, which in an alltoall makes no
 * difference. */
COLL_INLINE void coll_i_mesh_label(coll_i_mesh_route *m, uint32_t d)
{
    for (uint32_t k = 0; k < m->graph->n_out; k++) {
        const uint32_t i = m->sorted[k], before = k == 0 ? i : m->sorted[k - 1];
        bool same = k > 0 && m->router.shared;
        for (uint32_t c = 0; c <= d && same; c++)
            same = coll_i_mesh_move(m->graph, i, c) == coll_i_mesh_move(m->graph, before, c);
        m->label[i] = same ? m->label[before] : k;
    }
}

/* All blocks go along dimension d. */
COLL_INLINE void coll_i_mesh_phase(coll_i_mesh_route *m, uint32_t d)
{
    coll_i_router *router = &m->router;
    const coll_graph *graph = m->graph;
    const uint32_t rank = router->rank;
    coll_i_mesh_label(m, d);
    coll_i_route_begin(router);
    for (uint32_t i = 0; i < graph->n_out; i++)
        if (coll_i_mesh_move(graph, i, d) != 0 && coll_i_mesh_passes(graph, rank, i, d)) {
            coll_i_parcel *parcel = coll_i_route_parcel(
                router, coll_i_mesh_next(graph, rank, i, d, false), i, true);
            parcel->key[0] = m->label[i];
            parcel->place = m->place[i];
        }
    for (uint32_t i = 0; i < graph->n_out; i++)
        if (coll_i_mesh_move(graph, i, d) != 0 && coll_i_mesh_passes(graph, rank, i, d + 1)) {
            coll_i_parcel *parcel = coll_i_route_parcel(
                router, coll_i_mesh_next(graph, rank, i, d, true), i, false);
            parcel->key[0] = m->label[i];
            if (coll_i_mesh_ends(graph, i, d + 1))
                parcel->want = COLL_PLACE(COLL_OUT, coll_graph_opposite(graph, i));
        }
    coll_i_route_phase(router);
    for (uint32_t k = router->goes; k < router->parcels_n; k++)
        m->place[router->parcels[k].slot] = router->parcels[k].place;
}

/* Bytes of memory that coll_route_by_mesh needs on any rank; 0: the graph is no mesh or stencil,
 * or far too large. */
COLL_INLINE size_t coll_route_mesh_bytes(const coll_graph *graph)
{
    coll_i_mesh_route m;
    return graph && graph->n_dims != 0 && graph->n_out <= 1u << 20
               ? coll_i_mesh_cut(&m, graph, NULL)
               : 0;
}

/* Makes a rank's route for a problem of neighbor_allgather or neighbor_alltoall, of any count.
 * `memory`, of `bytes` bytes and aligned as uint32_t, begins with the moves of the route, which
 * are to be kept; what is behind them is free again. COLL_ERR_COLLECTIVE: another collective;
 * COLL_ERR_GRAPH: no mesh or stencil; COLL_ERR_MEMORY: fewer than coll_route_mesh_bytes. */
COLL_INLINE coll_status coll_route_by_mesh(coll_route *route, const coll_problem *problem,
                                           uint32_t rank, void *memory, size_t bytes)
{
    const coll_graph *graph;
    coll_i_mesh_route m;
    if (!route || !problem || (!memory && bytes != 0))
        return COLL_ERR_NULL;
    graph = problem->graph;
    if (problem->collective != COLL_NEIGHBOR_ALLGATHER &&
        problem->collective != COLL_NEIGHBOR_ALLTOALL)
        return COLL_ERR_COLLECTIVE;
    if (coll_graph_check(graph, problem->p) != COLL_OK || graph->n_dims == 0)
        return COLL_ERR_GRAPH;
    if (rank >= problem->p)
        return COLL_ERR_RANK;
    if (bytes < coll_route_mesh_bytes(graph) || (graph->n_out && bytes == 0))
        return COLL_ERR_MEMORY;
    coll_i_mesh_cut(&m, graph, memory);
    coll_i_route_init(&m.router, problem, rank);
    for (uint32_t i = 0; i < graph->n_out; i++) {
        m.place[i] = COLL_PLACE(COLL_IN, m.router.shared ? 0 : i);
        m.sorted[i] = i;
    }
    coll_i_sort(m.sorted, graph->n_out, coll_i_mesh_before, graph);
    for (uint32_t d = 0; d < graph->n_dims; d++)
        coll_i_mesh_phase(&m, d);
    for (uint32_t k = 0; k < graph->n_in; k++) {
        const uint32_t i = coll_graph_opposite(graph, k);
        if (coll_i_mesh_passes(graph, rank, i, graph->n_dims))
            coll_i_route_deliver(&m.router, m.place[i], k);
    }
    coll_i_route_end(&m.router, route, problem, COLL_ROUTE_BY_MESH);
    return COLL_OK;
}

/* ---- the algorithm ----------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_mesh_combining_check(const coll_plan *plan)
{
    return coll_i_route_check(plan, COLL_ROUTE_BY_MESH);
}

COLL_ALGORITHM(coll_mesh_combining, "mesh_combining", "Träff, Hunold 2019",
    COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLTOALL),
    COLL_NEEDS_ROUTE | COLL_NEEDS_CARTESIAN,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_route_steps, coll_i_route_step, coll_i_route_scratch, coll_i_mesh_combining_check);

#endif /* COLL_ALGOS_MESH_COMBINING_H */
