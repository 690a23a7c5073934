/* coll/plan/problem.h — what is to be done: a collective, its ranks, sizes and blocks
 *
 * Use plan.h, which says what IN and OUT hold, or this part alone.
 */
#ifndef COLL_PLAN_PROBLEM_H
#define COLL_PLAN_PROBLEM_H

#include "../types.h"
#include "neighbors.h"
#include "topo/nodes.h"
#include "topo/partition.h"

/* Where the p blocks of a buffer lie, in elements. Both tables have p entries and are the
 * caller's; NULL means p blocks of `count` elements, one after the other. Neighbour collectives
 * have as many blocks as neighbours instead. */
typedef struct coll_layout {
    const size_t *counts, *displs;
} coll_layout;

/* The collectives whose blocks of IN, and of OUT, may have tables. The blocks of all others have
 * `count` elements each. */
#define COLL_TABLES_IN                                                                         \
    (COLL_PAIRED | COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_REDUCE_SCATTER) |                   \
     COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLW))
/* The collectives whose OUT has a layout. */
#define COLL_TABLES_OUT                                                                        \
    (COLL_PAIRED | COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLGATHERV) |                        \
     COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |                  \
     COLL_BIT(COLL_NEIGHBOR_ALLTOALLW))

enum {
    COLL_FLAG_IN_PLACE = 1,   /* the input is found in OUT: plan.h */
    COLL_FLAG_COMMUTATIVE = 2 /* the operator may be applied in any order */
};

/* What is asked. Made by coll_problem_init; set what differs from it. */
typedef struct coll_problem {
    coll_collective collective;
    uint32_t p;        /* ranks */
    uint32_t root;     /* of a rooted collective */
    uint32_t flags;    /* COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE */
    size_t count;      /* elements of the vector, or of one block */
    size_t elem_bytes; /* bytes of an element */
    coll_layout in;    /* blocks of IN: COLL_TABLES_IN; others: NULL */
    coll_layout out;   /* blocks of OUT: COLL_TABLES_OUT; others: NULL */
    coll_nodes nodes;  /* which ranks share SHARED; at first all: coll_nodes_even, …_table */
    const coll_graph *graph; /* neighbour collectives: the neighbours; others: NULL */
} coll_problem;

/* A problem without tables, flags and neighbours, with root 0, and all ranks on one node; the caller
 * sets what else there is. `count` is in elements of `elem_bytes` bytes. */
COLL_INLINE void coll_problem_init(coll_problem *problem, coll_collective collective,
                                   uint32_t p, size_t count, size_t elem_bytes)
{
    problem->collective = collective;
    problem->p = p;
    problem->root = 0;
    problem->flags = 0;
    problem->count = count;
    problem->elem_bytes = elem_bytes;
    problem->in.counts = problem->in.displs = NULL;
    problem->out.counts = problem->out.displs = NULL;
    problem->nodes.count = problem->nodes.most = 0;
    coll_i_undivided(&problem->nodes.by_ppn);
    problem->nodes.first = problem->nodes.of = NULL;
    problem->nodes.beyond = NULL;
    problem->graph = NULL;
}

/* The counts of a layout, or NULL; and a problem's graph. What reads them is no code where there are none. */
COLL_HOT_INLINE const size_t *coll_i_counts(const coll_layout *layout)
{
    return COLL_IRREGULAR ? layout->counts : NULL;
}

COLL_HOT_INLINE const coll_graph *coll_i_graph(const coll_problem *problem)
{
    return COLL_IRREGULAR ? problem->graph : NULL;
}

/* How many blocks IN has, as far as it has blocks, and OUT. */
COLL_INLINE uint32_t coll_in_blocks(const coll_problem *problem)
{
    const coll_graph *graph = coll_i_graph(problem);
    return graph ? graph->n_out : problem->p;
}

/* How many blocks OUT has. */
COLL_INLINE uint32_t coll_out_blocks(const coll_problem *problem)
{
    const coll_graph *graph = coll_i_graph(problem);
    return graph ? graph->n_in : problem->p;
}

/* ---- layouts ----------------------------------------------------------------------------- */

/* Block i. */
COLL_INLINE coll_block coll_i_layout_block(const coll_layout *layout, size_t count, uint32_t i)
{
    const size_t *counts = coll_i_counts(layout);
    coll_block block;
    block.offset = counts ? layout->displs[i] : count * i;
    block.count = counts ? counts[i] : count;
    return block;
}

/* Where block i of a packed layout begins; for i = p, where the last one ends. */
COLL_HOT_INLINE size_t coll_i_layout_at(const coll_layout *layout, size_t count, uint32_t p,
                                        uint32_t i)
{
    if (!coll_i_counts(layout))
        return count * i;
    return i < p ? layout->displs[i] : layout->displs[p - 1] + layout->counts[p - 1];
}

/* Elements of the largest of the p blocks. O(p) for a table. */
COLL_INLINE size_t coll_i_layout_largest(const coll_layout *layout, size_t count, uint32_t p)
{
    size_t largest = coll_i_counts(layout) ? 0 : count;
    for (uint32_t i = 0; coll_i_counts(layout) && i < p; i++)
        if (largest < layout->counts[i])
            largest = layout->counts[i];
    return largest;
}

/* Elements of all p blocks; SIZE_MAX if that overflows. */
COLL_INLINE size_t coll_i_layout_elements(const coll_layout *layout, size_t count, uint32_t p)
{
    size_t elements = 0;
    if (!coll_i_counts(layout))
        return coll_multiply(count, p, &elements) ? elements : SIZE_MAX;
    for (uint32_t i = 0; i < p; i++)
        elements =
            layout->counts[i] > SIZE_MAX - elements ? SIZE_MAX : elements + layout->counts[i];
    return elements;
}

/* Does each block begin where the one before ends, the first at 0? Then blocks i … k−1 are one
 * run of displs[k] − displs[i] elements. */
COLL_INLINE bool coll_i_layout_packed(const coll_layout *layout, uint32_t p)
{
    size_t at = 0;
    for (uint32_t i = 0; coll_i_counts(layout) && i < p; i++) {
        if (layout->displs[i] != at)
            return false;
        at += layout->counts[i];
    }
    return true;
}

/* Elements from the start of the buffer to the end of its last block; false if that overflows. */
COLL_INLINE bool coll_i_layout_extent(const coll_layout *layout, size_t count, uint32_t p,
                                      size_t *extent)
{
    *extent = 0;
    if (!coll_i_counts(layout))
        return coll_multiply(count, p, extent);
    for (uint32_t i = 0; i < p; i++) {
        if (layout->counts[i] > SIZE_MAX - layout->displs[i])
            return false;
        if (layout->counts[i] > 0 && *extent < layout->displs[i] + layout->counts[i])
            *extent = layout->displs[i] + layout->counts[i];
    }
    return true;
}

/* ---- copies ------------------------------------------------------------------------------ */

/* Field by field: on bare metal, compilers call memcpy for the assignment of structures this
 * large. */
COLL_INLINE void coll_i_nodes_assign(coll_nodes *to, const coll_nodes *from)
{
    to->count = from->count;
    to->most = from->most;
    to->by_ppn.by = from->by_ppn.by;
    to->by_ppn.multiplier = from->by_ppn.multiplier;
    to->by_ppn.shift1 = from->by_ppn.shift1;
    to->by_ppn.shift2 = from->by_ppn.shift2;
    to->first = from->first;
    to->of = from->of;
    to->beyond = from->beyond;
}

COLL_INLINE void coll_i_problem_assign(coll_problem *to, const coll_problem *from)
{
    to->collective = from->collective;
    to->p = from->p;
    to->root = from->root;
    to->flags = from->flags;
    to->count = from->count;
    to->elem_bytes = from->elem_bytes;
    to->in = from->in;
    to->out = from->out;
    coll_i_nodes_assign(&to->nodes, &from->nodes);
    to->graph = from->graph;
}

/* ---- places ------------------------------------------------------------------------------ */

/* Does it come out the same however the ranks are numbered? There are no blocks, and nothing is
 * combined in the order of the ranks. All ranks know. */
COLL_INLINE bool coll_problem_is_orderless(const coll_problem *problem)
{
    const unsigned moves = COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_BCAST),
                   sums = COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE);
    return coll_is(moves, problem->collective) ||
           (coll_is(sums, problem->collective) && (problem->flags & COLL_FLAG_COMMUTATIVE));
}

#endif /* COLL_PLAN_PROBLEM_H */
