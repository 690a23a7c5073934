/* tools/nodes.h — which ranks share a node, which rails they use, and which nodes are a group
 *
 *   --nodes 4            four ranks on every node, fewer on the last one
 *   --nodes 3,1,2        so many on each
 *   --nodes uneven       1 to 4, as the proofs have them
 *   --rails 2            two rails a node: its ranks are cut into two runs
 *   --rails 0,1          rails of a node's ranks, again and again
 *   --groups …           nodes of every group, written like --nodes
 */
#ifndef COLL_TOOLS_NODES_H
#define COLL_TOOLS_NODES_H

#include <stdio.h>

#include "coll/plan.h"

/* What the user says; NULL: nothing. */
struct nodes_words {
    const char *nodes, *rails, *groups;
};

/* What the nodes are in, at a fixed place. */
struct nodes_memory {
    uint32_t *first, *group_first;
    uint8_t *rail;
    coll_nodes groups;
    coll_beyond beyond;
};

#define NODES_OPTIONS(words)                                                                   \
    WORD("nodes", "N|A,B,...", "ranks of every node, or of each; uneven: 1 to 4",              \
         &(words).nodes),                                                                      \
        WORD("rails", "N|A,B,...", "rails of a node, in runs of ranks, or those of its ranks", \
             &(words).rails),                                                                  \
        WORD("groups", "N|A,B,...", "nodes of every group, or of each, written like --nodes",  \
             &(words).groups)

/* Puts the problem's ranks on nodes, or refuses the words. Returns the case of the verifier's grid
 * (lab/verify_grid.h) that has the same nodes, or 0. */
uint32_t nodes_place(coll_problem *problem, const struct nodes_words *words,
                     struct nodes_memory *memory);

/* Writes what is beyond the nodes. */
void nodes_print(const coll_nodes *nodes, uint32_t p, FILE *to);

void nodes_free(struct nodes_memory *memory);

#endif /* COLL_TOOLS_NODES_H */
