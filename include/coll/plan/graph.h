/* coll/plan/graph.h — who is whose neighbour: what the neighbour collectives communicate along
 *
 *   coll_graph torus;                      // 4 × 3 ranks, wrapping round in both dimensions
 *   const uint32_t dims[2] = {4, 3};
 *   status = coll_graph_mesh(&torus, 2, dims, 3);
 *
 *   const int32_t vectors[3][2] = {{0, 1}, {1, 1}, {-2, 0}};
 *   status = coll_graph_stencil(&stencil, 2, dims, 3, &vectors[0][0], 3);
 *
 *   const coll_neighbors mine = {2, sources, 1, destinations};     // of this rank alone
 *   uint32_t order[2 + 1];
 *   status = coll_graph_lists(&graph, &mine, rank, p, order);
 *
 * A rank's OUT has a block from each of its n_in sources, its IN, where it has something else for
 * each, a block for each of its n_out destinations. Three kinds:
 *
 *   kind     neighbours                      order of blocks            MPI has it as
 *   mesh     −1 and +1 in every dimension    −1, +1 of dimension 0, …   a Cartesian topology
 *   stencil  block i: to rank + vector i,    that of the vectors        –
 *            from rank − vector i
 *   lists    any; more than once; itself     that of the lists          a distributed graph
 *
 * Ranks of a mesh are numbered row by row, the last dimension fastest. A mesh that does not wrap
 * round has ends, over which there is no neighbour: the block of IN is not read, the block of OUT
 * not written. Where two ranks have several blocks for each other, one rule says which is which:
 * in a mesh, what is sent in one direction comes from the opposite one, so block i of IN is
 * block i ^ 1 of OUT there; in a stencil, block i is block i; in lists, the k-th mention of the
 * receiver by the sender is the k-th mention of the sender by the receiver.
 *
 * A graph is plain data, and the lists and vectors in it stay the caller's. A mesh or stencil is
 * the same on all ranks; lists are each rank's own, and must agree with those of the others.
 * Nothing here allocates, blocks or communicates.
 *
 * Source  MPI Forum, MPI 4.1, section 8.6 (blocks of meshes and lists); Träff, Hunold 2019
 *         (ICPP; stencils: Cartesian collective communication)
 */
#ifndef COLL_PLAN_GRAPH_H
#define COLL_PLAN_GRAPH_H

#include "neighbors.h"

/* ---- sorting ----------------------------------------------------------------------------- */

/* Is item a to come before item b? */
typedef bool (*coll_i_before)(const void *of, uint32_t a, uint32_t b);

/* Lets the item at `i` sink to its place in the heap of n items, the last one on top. */
COLL_INLINE void coll_i_sink(uint32_t *items, uint32_t n, uint32_t i, coll_i_before before,
                             const void *of)
{
    const uint32_t item = items[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(of, items[child], items[child + 1]))
            child++;
        if (!before(of, item, items[child]))
            break;
        items[i] = items[child];
    }
    items[i] = item;
}

/* Sorts n < 2³¹ items in place, in O(n log n). No two may be equal. */
COLL_INLINE void coll_i_sort(uint32_t *items, uint32_t n, coll_i_before before, const void *of)
{
    for (uint32_t i = n / 2; i-- > 0;)
        coll_i_sink(items, n, i, before, of);
    for (uint32_t left = n; left > 1;) {
        const uint32_t last = items[--left];
        items[left] = items[0];
        items[0] = last;
        coll_i_sink(items, left, 0, before, of);
    }
}

/* ---- meshes ------------------------------------------------------------------------------ */

/* A rank's coordinate in dimension d. */
COLL_HOT_INLINE uint32_t coll_mesh_coordinate(const coll_graph *graph, uint32_t rank,
                                              uint32_t d)
{
    const uint32_t row = coll_divide(rank, &graph->stride[d]);
    return row - coll_divide(row, &graph->size[d]) * graph->size[d].by;
}

/* The coordinate that many up or down dimension d; COLL_RANK_NONE: over its end. */
COLL_HOT_INLINE uint32_t coll_i_mesh_slide(const coll_graph *graph, uint32_t d, uint32_t at,
                                           uint32_t distance, bool down)
{
    const coll_fast_divisor *size = &graph->size[d];
    if ((graph->periodic >> d) & 1u) {
        if (distance >= size->by)
            distance -= coll_divide(distance, size) * size->by;
        return down ? coll_mod_sub(at, distance, size->by)
                    : coll_mod_add(at, distance, size->by);
    }
    if (distance > (down ? at : size->by - 1 - at))
        return COLL_RANK_NONE;
    return down ? at - distance : at + distance;
}

/* The rank that many up or down dimension d from a rank of a mesh; COLL_RANK_NONE: over its end. */
COLL_INLINE uint32_t coll_mesh_shift(const coll_graph *graph, uint32_t rank, uint32_t d,
                                     uint32_t distance, bool down)
{
    const uint32_t at = coll_mesh_coordinate(graph, rank, d);
    const uint32_t to = coll_i_mesh_slide(graph, d, at, distance, down);
    return to == COLL_RANK_NONE ? COLL_RANK_NONE : rank + (to - at) * graph->stride[d].by;
}

/* How far a component of a vector leads, whichever way. */
COLL_INLINE uint32_t coll_i_distance(int32_t component)
{
    return component < 0 ? 0u - (uint32_t)component : (uint32_t)component;
}

/* Component d of the way to destination i of a mesh or stencil. */
COLL_INLINE int32_t coll_graph_component(const coll_graph *graph, uint32_t i, uint32_t d)
{
    if (graph->vectors)
        return graph->vectors[(size_t)i * graph->n_dims + d];
    return d != i >> 1 ? 0 : i & 1 ? 1 : -1;
}

/* A direction of a mesh or stencil: whom block i of IN goes to, and who is as far the other way,
 * whose block i comes here. COLL_RANK_NONE: over an end. */
typedef struct coll_direction {
    uint32_t to, from;
} coll_direction;

COLL_HOT_INLINE void coll_i_direction_add(const coll_graph *graph, uint32_t rank, uint32_t d,
                                          int32_t component, coll_direction *way)
{
    const uint32_t at = coll_mesh_coordinate(graph, rank, d), stride = graph->stride[d].by;
    const uint32_t distance = coll_i_distance(component);
    const uint32_t to = coll_i_mesh_slide(graph, d, at, distance, component < 0);
    const uint32_t from = coll_i_mesh_slide(graph, d, at, distance, component > 0);
    way->to = to == COLL_RANK_NONE || way->to == COLL_RANK_NONE ? COLL_RANK_NONE
                                                                : way->to + (to - at) * stride;
    way->from = from == COLL_RANK_NONE || way->from == COLL_RANK_NONE
                    ? COLL_RANK_NONE
                    : way->from + (from - at) * stride;
}

/* Direction i of a mesh or stencil, from a rank. */
COLL_HOT_INLINE coll_direction coll_graph_direction(const coll_graph *graph, uint32_t rank,
                                                    uint32_t i)
{
    coll_direction way;
    way.to = way.from = rank;
    if (graph->vectors) {
        const int32_t *vector = graph->vectors + (size_t)i * graph->n_dims;
        for (uint32_t d = 0; d < graph->n_dims; d++) /* longer than the mesh: nobody's way */
            if (!((graph->periodic >> d) & 1u) &&
                coll_i_distance(vector[d]) >= graph->size[d].by) {
                way.to = way.from = COLL_RANK_NONE;
                return way;
            }
        for (uint32_t d = 0; d < graph->n_dims && (way.to & way.from) != COLL_RANK_NONE; d++)
            if (vector[d] != 0)
                coll_i_direction_add(graph, rank, d, vector[d], &way);
    } else {
        coll_i_direction_add(graph, rank, i >> 1, i & 1 ? 1 : -1, &way);
    }
    return way;
}

/* Are both the same mesh? Stencils and lists are never the same: what they point to may change. */
COLL_INLINE bool coll_graph_same_mesh(const coll_graph *a, const coll_graph *b)
{
    if (!a || !b || a->n_dims == 0 || a->n_dims != b->n_dims || a->periodic != b->periodic ||
        a->n_in != b->n_in || a->n_out != b->n_out || a->vectors || b->vectors ||
        a->allgather != b->allgather || a->alltoall != b->alltoall || a->allgather ||
        a->alltoall)
        return false;
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (a->size[d].by != b->size[d].by)
            return false;
    return true;
}

/* ---- neighbours -------------------------------------------------------------------------- */

/* Which block of its destination's OUT block i of IN is, in a mesh or stencil. */
COLL_INLINE uint32_t coll_graph_opposite(const coll_graph *graph, uint32_t i)
{
    return graph->vectors ? i : i ^ 1u;
}

/* Whom block i of a rank's IN goes to; COLL_RANK_NONE: over the end of a mesh. */
COLL_INLINE uint32_t coll_graph_destination(const coll_graph *graph, uint32_t rank, uint32_t i)
{
    return graph->n_dims ? coll_graph_direction(graph, rank, i).to : graph->destinations[i];
}

/* Whom block i of a rank's OUT comes from. */
COLL_INLINE uint32_t coll_graph_source(const coll_graph *graph, uint32_t rank, uint32_t i)
{
    return graph->n_dims ? coll_graph_direction(graph, rank, coll_graph_opposite(graph, i)).from
                         : graph->sources[i];
}

/* Which block of the IN of its source, of which `theirs` is the graph, block i of a rank's OUT is;
 * COLL_RANK_NONE: of none, the lists contradict each other. O(n_in + n_out) for lists. */
COLL_INLINE uint32_t coll_graph_origin(const coll_graph *graph, uint32_t rank, uint32_t i,
                                       const coll_graph *theirs)
{
    uint32_t mentions = 0;
    if (graph->n_dims != 0)
        return coll_graph_opposite(graph, i);
    for (uint32_t k = 0; k < i; k++)
        mentions += graph->sources[k] == graph->sources[i] ? 1 : 0;
    for (uint32_t k = 0; k < theirs->n_out; k++)
        if (theirs->destinations[k] == rank && mentions-- == 0)
            return k;
    return COLL_RANK_NONE;
}

/* ---- making graphs ----------------------------------------------------------------------- */

/* The blocks of a rank for itself, of a mesh or stencil. O(n_in). */
COLL_INLINE bool coll_i_mesh_loop(const coll_graph *graph, uint32_t rank, uint32_t k,
                                  uint32_t *in, uint32_t *out)
{
    for (uint32_t i = 0; i < graph->n_in; i++)
        if (coll_graph_source(graph, rank, i) == rank && k-- == 0) {
            *in = coll_graph_opposite(graph, i);
            *out = i;
            return true;
        }
    return false;
}

/* … and of lists: the first in the order, the block of IN and that of OUT in turn. */
COLL_INLINE bool coll_i_lists_loop(const coll_graph *graph, uint32_t rank, uint32_t k,
                                   uint32_t *in, uint32_t *out)
{
    if (k >= graph->n_out || k >= graph->n_in)
        return false;
    *in = graph->order[2 * (size_t)k] >> 1;
    if ((graph->order[2 * (size_t)k] & 1u) || graph->destinations[*in] != rank)
        return false;
    *out = graph->order[2 * (size_t)k + 1] >> 1;
    return true;
}

/* A graph that has no neighbours, and is no mesh. */
COLL_INLINE void coll_i_graph_init(coll_graph *graph)
{
    graph->loop = coll_i_lists_loop;
    graph->n_in = graph->n_out = graph->n_dims = graph->periodic = 0;
    graph->vectors = NULL;
    graph->rank = COLL_RANK_NONE;
    graph->sources = graph->destinations = graph->order = NULL;
    graph->allgather = graph->alltoall = NULL;
}

/* Makes a mesh of dims[0] × … × dims[n_dims − 1] ranks. Bit d of `periodic`: dimension d wraps
 * round. COLL_ERR_GRAPH: no dimensions or more than COLL_DIMS_MAX, or an empty one, or 2³² ranks
 * or more. */
COLL_INLINE coll_status coll_graph_mesh(coll_graph *graph, uint32_t n_dims,
                                        const uint32_t *dims, uint32_t periodic)
{
    uint64_t ranks = 1;
    if (!graph || !dims)
        return COLL_ERR_NULL;
    coll_i_graph_init(graph);
    graph->loop = coll_i_mesh_loop;
    if (n_dims == 0 || n_dims > COLL_DIMS_MAX)
        return COLL_ERR_GRAPH;
    for (uint32_t d = n_dims; d-- > 0;) {
        if (dims[d] == 0)
            return COLL_ERR_GRAPH;
        graph->size[d] = coll_fast_divisor_of(dims[d]);
        graph->stride[d] = coll_fast_divisor_of((uint32_t)ranks);
        ranks *= dims[d];
        if (ranks > UINT32_MAX)
            return COLL_ERR_GRAPH;
    }
    graph->n_dims = n_dims;
    graph->periodic = periodic;
    graph->n_in = graph->n_out = 2 * n_dims;
    return COLL_OK;
}

/* Makes a stencil on such a mesh: n vectors of n_dims components each, row by row. */
COLL_INLINE coll_status coll_graph_stencil(coll_graph *graph, uint32_t n_dims,
                                           const uint32_t *dims, uint32_t periodic,
                                           const int32_t *vectors, uint32_t n)
{
    const coll_status status = coll_graph_mesh(graph, n_dims, dims, periodic);
    if (status != COLL_OK)
        return status;
    if (!vectors)
        return COLL_ERR_NULL;
    graph->n_in = graph->n_out = n;
    graph->vectors = vectors;
    return COLL_OK;
}

/* Entry e of `order` is block e >> 1 of OUT if it is odd, of IN if it is even. How far the block
 * goes: from sender to receiver, modulo p. */
typedef struct coll_i_lists {
    const coll_neighbors *of;
    uint32_t rank, p;
} coll_i_lists;

COLL_INLINE uint32_t coll_i_lists_way(const coll_i_lists *lists, uint32_t entry)
{
    return entry & 1 ? coll_mod_sub(lists->rank, lists->of->sources[entry >> 1], lists->p)
                     : coll_mod_sub(lists->of->destinations[entry >> 1], lists->rank, lists->p);
}

COLL_INLINE bool coll_i_lists_before(const void *of, uint32_t a, uint32_t b)
{
    const coll_i_lists *lists = (const coll_i_lists *)of;
    const uint32_t x = coll_i_lists_way(lists, a), y = coll_i_lists_way(lists, b);
    return x != y ? x < y : (a & 1) != (b & 1) ? (a & 1) < (b & 1) : a < b;
}

/* Makes a graph of this rank's lists, which stay the caller's, as does `order`, memory for
 * n_in + n_out numbers. Into it go the blocks in the order of the ways that they go, and in turn
 * sent and received where these are equal. Then the block that has the shortest way, of all that
 * are not yet where they belong, is the next one at both of its ends: no window is too small.
 * COLL_ERR_GRAPH: a neighbour is not below p, or sends itself more, or less, than it receives. */
COLL_INLINE coll_status coll_graph_lists(coll_graph *graph, const coll_neighbors *lists,
                                         uint32_t rank, uint32_t p, uint32_t *order)
{
    coll_i_lists by;
    uint32_t n, loops = 0;
    if (!graph || !lists || (lists->n_in && !lists->sources) ||
        (lists->n_out && !lists->destinations) || (lists->n_in + lists->n_out && !order))
        return COLL_ERR_NULL;
    coll_i_graph_init(graph);
    if (rank >= p || lists->n_in > UINT32_MAX / 4 || lists->n_out > UINT32_MAX / 4)
        return COLL_ERR_GRAPH;
    by.of = lists;
    by.rank = rank;
    by.p = p;
    n = lists->n_in + lists->n_out;
    for (uint32_t i = 0; i < n; i++) {
        const bool in = i >= lists->n_out;
        const uint32_t block = in ? i - lists->n_out : i;
        const uint32_t peer = in ? lists->sources[block] : lists->destinations[block];
        if (peer >= p)
            return COLL_ERR_GRAPH;
        if (peer == rank)
            loops += in ? UINT32_MAX : 1;
        order[i] = 2 * block + (in ? 1 : 0);
    }
    if (loops != 0)
        return COLL_ERR_GRAPH;
    coll_i_sort(order, n, coll_i_lists_before, &by);
    for (uint32_t first = 0, end; first < n; first = end) { /* a run of equal ways */
        uint32_t sends = 0;
        for (end = first; end < n && coll_i_lists_way(&by, order[end]) ==
                                         coll_i_lists_way(&by, order[first]);
             end++)
            sends += order[end] & 1 ? 0 : 1;
        for (uint32_t k = 0; k < sends && first + sends + k < end; k++) {
            const uint32_t receive = order[first + sends + k];
            for (uint32_t i = first + sends + k; i > first + 2 * k + 1; i--)
                order[i] = order[i - 1];
            order[first + 2 * k + 1] = receive;
        }
    }
    graph->n_in = lists->n_in;
    graph->n_out = lists->n_out;
    graph->sources = lists->sources;
    graph->destinations = lists->destinations;
    graph->order = order;
    graph->rank = rank;
    return COLL_OK;
}

#endif /* COLL_PLAN_GRAPH_H */
