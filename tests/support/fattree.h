/* tests/support/fattree.h — do the messages of a stage share links of a k-ary n-tree?
 *
 *   fattree tree;
 *   fattree_init(&tree, k, n, FATTREE_BY_SOURCE);
 *   fattree_clear(&tree);                    // a stage begins
 *   fattree_send(&tree, from, to);           // … false: another message has one of its links
 *
 * kⁿ nodes below n levels of switches. The k^l nodes of a subtree of level l have k^l links
 * upwards, and as many down: link number u of a subtree has the digits of u, base k, as the
 * choices of port at the switches on the way up. A message climbs to the first subtree that its
 * source and destination have in common, and comes down on the other side by the link of the
 * same number. The choices are the low digits of the source's number or of the destination's.
 */
#ifndef COLL_TESTS_FATTREE_H
#define COLL_TESTS_FATTREE_H

#include <string.h>

#include "coll/config.h"

enum { FATTREE_NODES = 256, FATTREE_LEVELS = 8 };

typedef enum fattree_route { FATTREE_BY_SOURCE, FATTREE_BY_DESTINATION } fattree_route;

typedef struct fattree {
    uint32_t k, levels, nodes;
    fattree_route route;
    bool up[FATTREE_LEVELS][FATTREE_NODES], down[FATTREE_LEVELS][FATTREE_NODES];
} fattree;

/* Forgets the messages so far. */
static inline void fattree_clear(fattree *tree)
{
    memset(tree->up, 0, sizeof tree->up);
    memset(tree->down, 0, sizeof tree->down);
}

static inline void fattree_init(fattree *tree, uint32_t k, uint32_t levels, fattree_route route)
{
    tree->k = k;
    tree->levels = levels;
    tree->route = route;
    tree->nodes = 1;
    for (uint32_t l = 0; l < levels; l++)
        tree->nodes *= k;
    fattree_clear(tree);
}

/* Takes the links of a message; were all of them free? */
static inline bool fattree_send(fattree *tree, uint32_t from, uint32_t to)
{
    const uint32_t digits = tree->route == FATTREE_BY_SOURCE ? from : to;
    bool free = true;
    for (uint32_t l = 0, size = 1; from / size != to / size; l++, size *= tree->k) {
        bool *up = &tree->up[l][from / size * size + digits % size];
        bool *down = &tree->down[l][to / size * size + digits % size];
        free = free && !*up && !*down;
        *up = *down = true;
    }
    return free;
}

#endif /* COLL_TESTS_FATTREE_H */
