/* tests/support/asked.h — a problem of selection, made from a few numbers, as each rank has it
 *
 *   asked_memory memory;
 *   asked_begin(&memory);
 *   if (asked_make(&memory, &it) == COLL_OK)
 *       … asked_problem(&memory, &it, rank, &problem) …
 *   asked_end(&memory);
 *
 * An element may have any number of bytes, so that a few of them are as long as a rule wants them.
 */
#ifndef COLL_TESTS_SHARED_ASKED_H
#define COLL_TESTS_SHARED_ASKED_H

#include "coll/lab/verify/case.h"

/* How the blocks of a v-collective lie: of `count` elements on average. */
typedef enum asked_layout {
    ASKED_PLAIN,  /* it has no tables */
    ASKED_PACKED, /* each right behind the last */
    ASKED_ONE,    /* … and all in one of them */
    ASKED_GAPS,   /* from last to first, with gaps */
    ASKED_LAYOUTS
} asked_layout;

enum { ASKED_RANKS = 1024 };

typedef struct asked {
    coll_collective collective;
    uint32_t p, root, flags;
    size_t count, elem_bytes;
    asked_layout layout;
    bool root_only;                  /* gatherv, scatterv: only the root has the tables */
    uint32_t nodes;                  /* 0: one */
    uint32_t first[ASKED_RANKS + 1]; /* … of several, their first ranks, and p */
    uint32_t ppn;                    /* not 0: they are even */
    coll_grid_graph graph;
    const coll_algorithm *route; /* whose route the graph has; NULL: none */
} asked;

typedef struct asked_memory {
    coll_i_memory tables, starts; /* starts: by rank, of neighbour collectives */
    coll_i_graphs graphs;
    bool per_rank; /* the ranks' problems differ */
} asked_memory;

void asked_begin(asked_memory *memory);
void asked_end(asked_memory *memory);

/* Makes what the problems of all ranks point to. COLL_ERR_GRAPH: the graph has no such route. */
coll_status asked_make(asked_memory *memory, const asked *it);

/* The problem of a rank, as long as memory and *it stay. */
void asked_problem(const asked_memory *memory, const asked *it, uint32_t rank,
                   coll_problem *problem);

/* All of it in words. */
void asked_words(const asked *it, char *text, size_t bytes);

/* Has the collective tables? */
bool asked_has_tables(coll_collective collective);

#endif /* COLL_TESTS_SHARED_ASKED_H */
