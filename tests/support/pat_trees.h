/* tests/support/pat_trees.h — the messages of parallel aggregated trees, by their definition: for
 * the tests of pat.h and pat_reduce_scatter.h
 */
#ifndef COLL_TESTS_ALGOS_PAT_TREES_H
#define COLL_TESTS_ALGOS_PAT_TREES_H

#include "walk.h"

enum { TREES_AGGREGATES = 6, TREES_MESSAGES = 64 };

static const uint32_t trees_aggregates[TREES_AGGREGATES] = {1, 2, 3, 4, 8, 100};

/* A message: `blocks` vertices x, x + apart … of which each has its parent `distance` before it. */
typedef struct trees_message {
    uint32_t x, distance, apart, blocks;
} trees_message;

typedef struct trees {
    uint32_t delta, top, n; /* messages of the top, and all */
    trees_message message[TREES_MESSAGES];
} trees;

static inline void trees_add(trees *t, uint32_t p, uint32_t x, uint32_t distance,
                             uint32_t apart)
{
    trees_message *message = &t->message[t->n++];
    message->x = x;
    message->distance = distance;
    message->apart = apart;
    message->blocks = (p - 1 - x) / apart + 1;
}

/* In the order of an allgather. */
static inline trees trees_of(uint32_t p, uint32_t aggregate)
{
    uint32_t size = 1, most = 1;
    trees t;
    memset(&t, 0, sizeof t);
    while (size < p)
        size *= 2;
    while (2 * most <= aggregate && 2 * most < p)
        most *= 2;
    t.delta = size / most;
    for (uint32_t d = size / 2; d >= t.delta && d > 0; d /= 2)
        trees_add(&t, p, d, d, 2 * d);
    t.top = t.n;
    for (uint32_t x = 1; x < t.delta && x < p; x++)
        trees_add(&t, p, x, x & (0 - x), t.delta);
    return t;
}

/* Blocks of the messages that have several. */
static inline uint32_t trees_packed(const trees *t)
{
    uint32_t blocks = 0;
    for (uint32_t k = 0; k < t->n; k++)
        blocks += t->message[k].blocks > 1 ? t->message[k].blocks : 0;
    return blocks;
}

#endif /* COLL_TESTS_ALGOS_PAT_TREES_H */
