/* coll/plan/neighbors.h — the record of a graph of neighbours, which a problem refers to
 *
 * Graphs are made by plan/graph.h; plans without neighbours need no more than this.
 */
#ifndef COLL_PLAN_NEIGHBORS_H
#define COLL_PLAN_NEIGHBORS_H

#include "topo/integers.h"

enum { COLL_DIMS_MAX = 8 }; /* dimensions of a mesh */

/* The neighbours of a rank of a general graph. */
typedef struct coll_neighbors {
    uint32_t n_in;
    const uint32_t *sources;
    uint32_t n_out;
    const uint32_t *destinations;
} coll_neighbors;

/* Who is whose neighbour. Made by the functions of plan/graph.h. */
typedef struct coll_graph {
    /* Block k of those that a rank has for itself: in IN, and in OUT; false: there are no more. By the
     * maker, so that programs without graphs are without it. */
    bool (*loop)(const struct coll_graph *graph, uint32_t rank, uint32_t k, uint32_t *in,
                 uint32_t *out);
    uint32_t n_in, n_out; /* blocks of OUT and of IN */
    uint32_t n_dims;      /* of a mesh or stencil; 0: lists */
    uint32_t periodic;    /* bit d: dimension d wraps round */
    coll_fast_divisor size[COLL_DIMS_MAX], stride[COLL_DIMS_MAX]; /* of the dimensions */
    const int32_t *vectors; /* of a stencil: n_out rows of n_dims; NULL: a mesh */
    uint32_t rank;          /* whose lists and routes these are; COLL_RANK_NONE: it has none */
    const uint32_t *sources, *destinations;        /* lists of ranks, n_in and n_out */
    const uint32_t *order;                         /* n_in + n_out of coll_graph_lists */
    const struct coll_route *allgather, *alltoall; /* or NULL: algos/kit/combining.h */
} coll_graph;

/* Can p ranks use the graph? */
COLL_INLINE coll_status coll_graph_check(const coll_graph *graph, uint32_t p)
{
    if (!graph)
        return COLL_ERR_GRAPH;
    if (graph->n_dims > 0)
        return (uint64_t)graph->size[0].by * graph->stride[0].by == p ? COLL_OK
                                                                      : COLL_ERR_GRAPH;
    for (uint32_t i = 0; COLL_CHECKS && i < graph->n_in; i++)
        if (graph->sources[i] >= p)
            return COLL_ERR_GRAPH;
    for (uint32_t i = 0; COLL_CHECKS && i < graph->n_out; i++)
        if (graph->destinations[i] >= p)
            return COLL_ERR_GRAPH;
    return COLL_OK;
}

#endif /* COLL_PLAN_NEIGHBORS_H */
