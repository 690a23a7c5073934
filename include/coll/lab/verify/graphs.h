/* coll/lab/verify/graphs.h — graphs of any number of ranks, by name
 *
 *   coll_i_graphs graphs;
 *   memset(&graphs, 0, sizeof graphs);
 *   if (coll_i_graphs_make(&graphs, COLL_GRID_SPARSE, p))
 *       … coll_i_graph_of(&graphs, rank) …
 *   coll_i_graphs_release(&graphs);
 *
 * The graphs for which neighbour collectives are proven: meshes whose dimensions come from the
 * factors of p, so that many have 1 or 2 ranks; stencils with the zero vector, repeated vectors,
 * and some longer than the mesh; lists at random, with repeated neighbours and loops. Everyone
 * can make them again from their names. Each can have routes (algos/kit/combining.h). Hosted;
 * allocates.
 */
#ifndef COLL_LAB_VERIFY_GRAPHS_H
#define COLL_LAB_VERIFY_GRAPHS_H

#include "../../algos/mesh_combining.h"
#include "../../algos/node_combining.h"
#include "../../plan/graph.h"
#include "report.h"

/* One line a graph: name, text, meaning. */
#define COLL_GRID_GRAPH_LIST(X)                                                                \
    X(COLL_GRID_NO_GRAPH, "none")                                                              \
    X(COLL_GRID_RING, "ring")       /* 1 dimension that wraps round */                         \
    X(COLL_GRID_MESH, "mesh")       /* 2 dimensions with ends */                               \
    X(COLL_GRID_TUBE, "tube")       /* 3 dimensions, the second wraps round */                 \
    X(COLL_GRID_TORUS, "torus")     /* 3 dimensions that wrap round */                         \
    X(COLL_GRID_STENCIL, "stencil") /* 9 points and some more, 2 dimensions that wrap round */ \
    X(COLL_GRID_CLIPPED, "clipped") /* the same with an end, and 3 dimensions */               \
    X(COLL_GRID_SPARSE, "sparse")   /* lists of up to 4 */                                     \
    X(COLL_GRID_DENSE, "dense")     /* lists of up to 24, and of up to 2p */

#define COLL_I_GRID_GRAPH(name, text) name,
/* Graphs on which neighbour collectives are proven. */
typedef enum coll_grid_graph {
    COLL_GRID_GRAPH_LIST(COLL_I_GRID_GRAPH) COLL_GRID_GRAPHS
} coll_grid_graph;

/* The name of a graph, never NULL. */
COLL_INLINE const char *coll_grid_graph_name(coll_grid_graph graph)
{
#define COLL_I_GRID_GRAPH_CASE(name, text)                                                     \
    case name:                                                                                 \
        return text;
    switch (graph) {
        COLL_GRID_GRAPH_LIST(COLL_I_GRID_GRAPH_CASE)
    case COLL_GRID_GRAPHS:
        break;
    }
    return "unknown graph";
}

typedef struct coll_i_graphs {
    uint64_t seed;          /* of lists; others have other lists */
    bool per_rank;          /* each rank has a graph of its own; else there is one */
    coll_i_memory graphs;   /* of coll_graph */
    coll_i_memory lists;    /* of uint32_t: edges by sender, by receiver, the orders */
    coll_i_memory in_first; /* of uint32_t: by rank, where its sources begin */
    coll_i_memory out_first;
    coll_i_memory all;           /* of coll_neighbors: the lists of all ranks */
    coll_i_memory routes, moves; /* of coll_route, by rank, and of their coll_move */
    coll_i_memory work;
} coll_i_graphs;

COLL_INLINE void coll_i_graphs_release(coll_i_graphs *graphs)
{
    coll_i_release(&graphs->graphs);
    coll_i_release(&graphs->lists);
    coll_i_release(&graphs->in_first);
    coll_i_release(&graphs->out_first);
    coll_i_release(&graphs->all);
    coll_i_release(&graphs->routes);
    coll_i_release(&graphs->moves);
    coll_i_release(&graphs->work);
}

COLL_INLINE const coll_graph *coll_i_graph_of(const coll_i_graphs *graphs, uint32_t rank)
{
    return (const coll_graph *)graphs->graphs.at + (graphs->per_rank ? rank : 0);
}

/* ---- meshes and stencils ----------------------------------------------------------------- */

/* The largest divisor of n that is not above `most`. */
COLL_INLINE uint32_t coll_i_divisor(uint32_t n, uint32_t most)
{
    uint32_t by = most < n ? most : n;
    while (n % by != 0)
        by--;
    return by;
}

COLL_INLINE uint32_t coll_i_square_root(uint32_t n)
{
    uint32_t root = 1;
    while ((uint64_t)(root + 1) * (root + 1) <= n)
        root++;
    return root;
}

/* Cuts p into n factors, not far from each other where p allows it. */
COLL_INLINE void coll_i_factors(uint32_t p, uint32_t n, uint32_t *dims)
{
    for (uint32_t d = 0; d + 1 < n; d++) {
        const uint32_t root = coll_i_square_root(p);
        dims[d] = coll_i_divisor(p, n - d == 2 ? root : coll_i_square_root(root) + 1);
        p /= dims[d];
    }
    dims[n - 1] = p;
}

typedef int32_t coll_i_plane_step[2], coll_i_space_step[3];

COLL_TABLE(coll_i_plane_step, coll_i_stencil_plane, {
    {-1, -1}, {1, 1},  {0, 0}, {-1, 0},
    {-1, 1},  {0, -1}, {0, 1}, {1, 0},
    {1, -1},  {1, 1},  {4, 0}, {-3, 5}});
COLL_TABLE(coll_i_space_step, coll_i_stencil_space, {
    {1, 0, 1}, {0, 0, 1}, {0, 0, -1}, {1, 1, 1},   {1, 0, 1},  {-1, 2, 1},
    {0, 2, 1}, {0, 0, 0}, {0, -1, 0}, {-1, -1, 1}, {-2, 1, -1}});

COLL_INLINE coll_status coll_i_graph_mesh_of(coll_graph *graph, coll_grid_graph which,
                                             uint32_t p)
{
    uint32_t dims[3];
    coll_i_factors(p,
                   which == COLL_GRID_RING                                 ? 1
                   : which == COLL_GRID_MESH || which == COLL_GRID_STENCIL ? 2
                                                                           : 3,
                   dims);
    switch (which) {
    case COLL_GRID_RING:
        return coll_graph_mesh(graph, 1, dims, 1);
    case COLL_GRID_MESH:
        return coll_graph_mesh(graph, 2, dims, 0);
    case COLL_GRID_TUBE:
        return coll_graph_mesh(graph, 3, dims, 2);
    case COLL_GRID_STENCIL:
        return coll_graph_stencil(graph, 2, dims, 3, &coll_i_stencil_plane[0][0], 12);
    case COLL_GRID_CLIPPED:
        return coll_graph_stencil(graph, 3, dims, 1, &coll_i_stencil_space[0][0], 11);
    default:
        return coll_graph_mesh(graph, 3, dims, 7);
    }
}

/* ---- lists ------------------------------------------------------------------------------- */

/* Makes the lists of all ranks: every rank sends to some at random, sometimes to one again; and
 * every rank has its sources in an order of its own. */
COLL_INLINE bool coll_i_graphs_lists(coll_i_graphs *graphs, coll_grid_graph which, uint32_t p)
{
    const uint32_t default_value = which == COLL_GRID_SPARSE ? 4 : 24;
    const uint32_t most = default_value < 2 * p ? default_value : 2 * p;
    uint64_t random = (graphs->seed << 32) + p * (uint64_t)COLL_GRID_GRAPHS + (unsigned)which;
    uint32_t n = 0, *destinations, *sources, *order;
    uint32_t *in =
        (uint32_t *)coll_i_reserve_new(&graphs->in_first, (p + (size_t)1) * sizeof(uint32_t));
    uint32_t *out =
        (uint32_t *)coll_i_reserve_new(&graphs->out_first, (p + (size_t)1) * sizeof(uint32_t));
    destinations = (uint32_t *)coll_i_reserve_new(&graphs->lists, ((size_t)p * most * 4 + 1) *
                                                                      sizeof(uint32_t));
    if (!in || !out || !destinations)
        return false;
    memset(in, 0, (p + (size_t)1) * sizeof(uint32_t));
    for (uint32_t rank = 0; rank < p; rank++) {
        const uint32_t degree = coll_i_random_below(&random, most + 1);
        out[rank] = n;
        for (uint32_t i = 0; i < degree; i++) {
            const bool again = i > 0 && coll_i_random_below(&random, 4) == 0;
            destinations[n] = again ? destinations[n - 1] : coll_i_random_below(&random, p);
            in[destinations[n++] + 1]++;
        }
    }
    out[p] = n;
    sources = destinations + n;
    order = sources + n;
    for (uint32_t rank = 0; rank < p; rank++)
        in[rank + 1] += in[rank];
    for (uint32_t rank = p; rank-- > 0;) /* in[rank + 1] sinks to where its own begin */
        for (uint32_t e = out[rank]; e < out[rank + 1]; e++)
            sources[--in[destinations[e] + 1]] = rank;
    for (uint32_t rank = 0; rank < p; rank++)
        in[rank] = in[rank + 1];
    in[p] = n;
    for (uint32_t rank = 0; rank < p; rank++) {
        coll_neighbors mine;
        mine.n_in = in[rank + 1] - in[rank];
        mine.sources = sources + in[rank];
        mine.n_out = out[rank + 1] - out[rank];
        mine.destinations = destinations + out[rank];
        for (uint32_t i = mine.n_in; i > 1; i--) {
            uint32_t *at = sources + in[rank];
            const uint32_t k = coll_i_random_below(&random, i), other = at[k];
            at[k] = at[i - 1];
            at[i - 1] = other;
        }
        if (coll_graph_lists((coll_graph *)graphs->graphs.at + rank, &mine, rank, p,
                             order + in[rank] + out[rank]) != COLL_OK)
            return false;
    }
    return true;
}

/* Makes the graphs of all ranks. False: no memory. */
COLL_INLINE bool coll_i_graphs_make(coll_i_graphs *graphs, coll_grid_graph which, uint32_t p)
{
    graphs->per_rank = which == COLL_GRID_SPARSE || which == COLL_GRID_DENSE;
    if (!coll_i_reserve_new(&graphs->graphs, (graphs->per_rank ? p : 1) * sizeof(coll_graph)))
        return false;
    if (graphs->per_rank)
        return coll_i_graphs_lists(graphs, which, p);
    return coll_i_graph_mesh_of((coll_graph *)graphs->graphs.at, which, p) == COLL_OK;
}

/* ---- routes ------------------------------------------------------------------------------ */

/* Gives every rank a graph of its own. */
COLL_INLINE bool coll_i_graphs_spread(coll_i_graphs *graphs, uint32_t p)
{
    coll_graph *at = (coll_graph *)coll_i_reserve(&graphs->graphs, p * sizeof(coll_graph));
    for (uint32_t rank = 1; at && !graphs->per_rank && rank < p; rank++)
        at[rank] = at[0];
    graphs->per_rank = true;
    return at != NULL;
}

/* The lists of all ranks; NULL: no memory. */
COLL_INLINE const coll_neighbors *coll_i_graphs_all(coll_i_graphs *graphs, uint32_t p)
{
    coll_neighbors *all =
        (coll_neighbors *)coll_i_reserve_new(&graphs->all, p * sizeof(coll_neighbors));
    for (uint32_t rank = 0; all && rank < p; rank++) {
        const coll_graph *graph = coll_i_graph_of(graphs, rank);
        all[rank].n_in = graph->n_in;
        all[rank].sources = graph->sources;
        all[rank].n_out = graph->n_out;
        all[rank].destinations = graph->destinations;
    }
    return all;
}

/* Gives the graphs of all ranks routes for a problem, whose own graph does not matter: by its
 * nodes, or by the mesh. COLL_ERR_GRAPH: there is no mesh. */
COLL_INLINE coll_status coll_i_graphs_route(coll_i_graphs *graphs, const coll_problem *problem,
                                            bool by_nodes)
{
    const uint32_t p = problem->p;
    coll_problem of = *problem;
    coll_route *routes;
    const coll_neighbors *all = NULL;
    const bool lists = coll_i_graph_of(graphs, 0)->n_dims == 0;
    size_t moves = 0;
    if (!by_nodes && lists)
        return COLL_ERR_GRAPH;
    routes = (coll_route *)coll_i_reserve_new(&graphs->routes, p * sizeof(coll_route));
    if (!coll_i_graphs_spread(graphs, p) || !routes ||
        (lists && !(all = coll_i_graphs_all(graphs, p))))
        return COLL_ERR_MEMORY;
    for (uint32_t rank = 0; rank < p; rank++) {
        coll_status status;
        size_t bytes;
        void *work;
        of.graph = coll_i_graph_of(graphs, rank);
        bytes =
            by_nodes ? coll_route_nodes_bytes(&of, rank, all) : coll_route_mesh_bytes(of.graph);
        work = coll_i_reserve_new(&graphs->work, bytes);
        if (!work)
            return COLL_ERR_MEMORY;
        status = by_nodes ? coll_route_by_nodes(&routes[rank], &of, rank, all, work, bytes)
                          : coll_route_by_mesh(&routes[rank], &of, rank, work, bytes);
        if (status != COLL_OK)
            return status;
        if (!coll_i_reserve(&graphs->moves, (moves + routes[rank].n) * sizeof(coll_move)))
            return COLL_ERR_MEMORY;
        memcpy((coll_move *)graphs->moves.at + moves, routes[rank].moves,
               routes[rank].n * sizeof(coll_move));
        moves += routes[rank].n;
    }
    for (uint32_t rank = p; rank-- > 0;) {
        moves -= routes[rank].n;
        routes[rank].moves = (const coll_move *)graphs->moves.at + moves;
        (void)coll_graph_add_route((coll_graph *)graphs->graphs.at + rank, &routes[rank]);
    }
    return COLL_OK;
}

/* Gives the graphs what an algorithm needs for a problem. */
COLL_INLINE coll_status coll_i_graphs_equip(coll_i_graphs *graphs, const coll_problem *problem,
                                            const coll_algorithm *algorithm)
{
    return algorithm->traits & COLL_NEEDS_ROUTE
               ? coll_i_graphs_route(graphs, problem,
                                     (algorithm->traits & COLL_USES_NODES) != 0)
               : COLL_OK;
}

#endif /* COLL_LAB_VERIFY_GRAPHS_H */
