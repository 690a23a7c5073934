/* coll/plan/topo.h — pattern arithmetic: integers in, integers or small structures out
 *
 *   topo/integers.h    logarithms, sums modulo p, division by multiplication
 *   topo/partition.h   vectors in parts and segments
 *   topo/nodes.h       which ranks share a node
 *   topo/tree.h        f-nomial and k-ary trees, chains, binary trees in order
 *   topo/rails.h       rails of nodes, and leaders spread over them
 *   topo/bine_tree.h   Bine trees
 *   topo/fold.h        folding to a core, exchanges in it
 *   topo/mesh.h        ranks on a mesh
 *
 * Pure functions without any notion of messages, so they can be tested law by law
 * (tests/plan/topo.c) and used alone. Ranks are uint32_t, p is the number of ranks, element
 * counts and offsets are size_t.
 */
#ifndef COLL_PLAN_TOPO_H
#define COLL_PLAN_TOPO_H

#include "topo/bine_tree.h"
#include "topo/fold.h"
#include "topo/integers.h"
#include "topo/mesh.h"
#include "topo/nodes.h"
#include "topo/partition.h"
#include "topo/rails.h"
#include "topo/tree.h"

#endif /* COLL_PLAN_TOPO_H */
