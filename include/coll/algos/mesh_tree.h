/* coll/algos/mesh_tree.h — bcast, reduce, allreduce on binary trees along a mesh: tree
 *
 * On a mesh of W columns and H rows: a binary tree along every row first, in which half of the
 * ranks that still take part send to the other half, 1, 2, 4 … columns away; then one along the
 * column of the root; and all the way back. Every step doubles the distance, yet with cut-through
 * routing a message takes no longer for it as long as no other shares a link, and none does.
 * The fewest steps of all algorithms on a mesh, but vectors go whole: cut into segments they would
 * meet on the links. Columns and rows are counted cyclically from those of the root; operands
 * that must keep their order climb to rank 0 instead, as in kit/tree_walk.h, for rows are runs of
 * ranks.
 *
 *   width 4, reduce along a row:   0 ◄─ 1   2 ◄─ 3      step 0
 *                                  0 ◄───── 2           step 1
 *
 * Laws (tests/algos/mesh_tree.c)
 *   (1) messages go along a row or along a column
 *   (2) one message at a time and rank, no link carries two messages of a step in one direction
 *   (3) that takes ⌈log2 W⌉ + ⌈log2 H⌉ steps up, and as many down
 * Cost    as in kit/tree_walk.h; the root has ⌈log2 W⌉ + ⌈log2 H⌉ children, the others no
 *         more; the height is ⌊log2 W⌋ + ⌊log2 H⌋
 * Source  Littlefield 1992, §3.2 and appendix
 */
#ifndef COLL_ALGOS_MESH_TREE_H
#define COLL_ALGOS_MESH_TREE_H

#include "kit/derived.h"
#include "kit/tree_walk.h"

COLL_TABLE(coll_param, coll_i_mesh_tree_params, {
    COLL_PARAM("width", "columns of the mesh; rank y*width + x is in column x of row y",
               1, UINT32_MAX, 1,
     {1, 4, 3, 1})});

COLL_INLINE size_t coll_i_mesh_tree_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_steps(plan, COLL_I_MESH, plan->problem.collective, false, rank);
}

COLL_INLINE size_t coll_i_mesh_tree_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_walk_scratch(plan, COLL_I_MESH, plan->problem.collective, false, rank);
}

COLL_INLINE unsigned coll_i_mesh_tree_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_MESH, COLL_BCAST, false, rank, s, out);
}

COLL_ALGORITHM(coll_mesh_tree_bcast, "tree", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_BCAST), COLL_NEEDS_FULL_ROWS | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_mesh_tree_params, coll_i_prepare_radix),
    coll_i_mesh_tree_steps, coll_i_mesh_tree_bcast_step, NULL, coll_i_mesh_check);

COLL_INLINE unsigned coll_i_mesh_tree_reduce_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_MESH, COLL_REDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_mesh_tree_reduce, "tree", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_REDUCE), COLL_NEEDS_FULL_ROWS,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_mesh_tree_params, coll_i_prepare_radix),
    coll_i_mesh_tree_steps, coll_i_mesh_tree_reduce_step, coll_i_mesh_tree_scratch, coll_i_mesh_check);

COLL_INLINE unsigned coll_i_mesh_tree_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    return coll_i_walk_step(plan, COLL_I_MESH, COLL_ALLREDUCE, false, rank, s, out);
}

COLL_ALGORITHM(coll_mesh_tree_allreduce, "tree", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_FULL_ROWS | COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_mesh_tree_params, coll_i_prepare_radix),
    coll_i_mesh_tree_steps, coll_i_mesh_tree_allreduce_step, coll_i_mesh_tree_scratch, coll_i_mesh_check);

#endif /* COLL_ALGOS_MESH_TREE_H */
