/* tools/nodes.h — which ranks share a node, from the words of --nodes
 *
 *   4            four ranks on every node, fewer on the last one
 *   3,1,2        so many on each
 *   uneven       1 to 4, as the proofs have them
 */
#ifndef COLL_TOOLS_NODES_H
#define COLL_TOOLS_NODES_H

#include "coll/plan.h"

#define NODES_OPTION(words)                                                                    \
    WORD("nodes", "N|A,B,...", "ranks of every node, or of each; uneven: 1 to 4", &(words))

/* Puts the problem's ranks on nodes, or refuses the words; NULL: none. A list takes memory, which
 * *first then is. Returns the case of the verifier's grid (lab/verify_grid.h) that has the same
 * nodes, or 0. */
uint32_t nodes_place(coll_problem *problem, const char *words, uint32_t **first);

#endif /* COLL_TOOLS_NODES_H */
