/* tools/neighbors.h — graphs of neighbour collectives from the words of --graph
 *
 *   ring, mesh, tube, torus, stencil, clipped, sparse, dense     as the proofs have them
 *   mesh:4x3, torus:4x3x2      of these dimensions, with ends, or wrapping round
 *   clipped:4x3, stencil:4x3   the same, and the neighbours are all ranks around
 */
#ifndef COLL_TOOLS_NEIGHBORS_H
#define COLL_TOOLS_NEIGHBORS_H

#include "coll/lab/verify/graphs.h"

/* The graph of the proofs that this is the name of; refuses other words. */
coll_grid_graph graph_named(const char *word);

/* Makes the graphs of p ranks, or refuses the words. */
void graphs_make(coll_i_graphs *graphs, const char *words, uint32_t p);

#endif /* COLL_TOOLS_NEIGHBORS_H */
