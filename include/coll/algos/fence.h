/* coll/algos/fence.h — bcast, reduce, allreduce down the columns of a mesh and along a row
 *
 * On a mesh of W columns and H rows, blocks flow, pipelined, along the columns to the root's row
 * and along that row to the root; results fan out the same way back. A rank of that row combines
 * its own block with the one from along the row and those from its column in one pass over
 * memory. In an allreduce, whose root is rank 0 in the corner, these are three blocks. No two
 * messages of a round share a link. A block makes far fewer hops than on a line, but the ranks of
 * the row have six busy links.
 *
 *   width 4, p = 12:    8    9   10   11        inward; outward is against the arrows
 *                       ↓    ↓    ↓    ↓
 *                       4    5    6    7
 *                       ↓    ↓    ↓    ↓
 *                       0 ←  1 ←  2 ←  3
 *
 * Laws (tests/algos/fence.c)
 *   (1) messages go between neighbours on the mesh
 *   (2) with one hop a round, the actions of every rank are in the order of a common clock, and
 *       no link carries two messages of a round in one direction
 *   (3) an allreduce of B ≥ 3 blocks, W ≥ 3, H ≥ 2 has, in this order, rounds in which the busiest
 *       rank sends and receives so many messages: 1 of 1, H−1 of 2, W−2 of 3, 1 of 4, B−3 of 6,
 *       1 of 4, W−2 of 3, H−1 of 2, 1 of 1; three blocks meet from the H-th round on
 *   (4) a rank combines all operands of a block in one pass
 * Cost    B = ⌈count/segment⌉ blocks, D hops from the root to the furthest rank, W + H − 2 from a
 *         corner: reduce, bcast B + D − 1 rounds, allreduce B + 2D − 1. A rank with m neighbours
 *         behind it sends `count` elements inward once (but the root), and outward m times.
 *         scratch, if m > 0, in segments, for B > 1 twice that: 1 for the sum where there is no
 *         OUT; m if m > 1, else 1 in place where there is OUT
 * Source  Littlefield 1992, §3.2 and appendix
 */
#ifndef COLL_ALGOS_FENCE_H
#define COLL_ALGOS_FENCE_H

#include "../plan/topo/mesh.h"
#include "kit/derived.h"
#include "kit/mesh_flow.h"

/* The neighbours of a rank: along the row first, as more ranks are behind them. */
COLL_HOT_INLINE void coll_i_fence_flow(coll_i_mesh_flow *flow, const coll_plan *plan,
                                       uint32_t rank)
{
    const uint32_t p = plan->problem.p, width = plan->param[0];
    const coll_mesh_place at = coll_mesh_place_of(&plan->radix, rank);
    const coll_mesh_place root = coll_mesh_place_of(&plan->radix, plan->problem.root);
    const bool in_row = at.y == root.y;
    flow->hops = (at.x < root.x ? root.x - at.x : at.x - root.x) +
                 (at.y < root.y ? root.y - at.y : at.y - root.y);
    flow->parent = rank;
    flow->children = flow->lower = 0;
    if (!in_row)
        flow->parent = at.y > root.y ? rank - width : rank + width;
    else if (at.x != root.x)
        flow->parent = at.x > root.x ? rank - 1 : rank + 1;
    if (in_row && at.x >= root.x && at.x + 1 < width)
        flow->child[flow->children++] = rank + 1;
    if (in_row && at.x <= root.x && at.x > 0)
        flow->child[flow->children++] = rank - 1;
    if (at.y >= root.y && p - rank > width)
        flow->child[flow->children++] = rank + width;
    if (at.y <= root.y && rank >= width)
        flow->child[flow->children++] = rank - width;
}

COLL_INLINE size_t coll_i_fence_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_mesh_flow flow;
    coll_i_fence_flow(&flow, plan, rank);
    return coll_i_mesh_flow_steps(plan, &flow);
}

COLL_INLINE unsigned coll_i_fence_step(const coll_plan *plan, uint32_t rank, size_t s,
                                       coll_action *out)
{
    coll_i_mesh_flow flow;
    coll_i_fence_flow(&flow, plan, rank);
    return coll_i_mesh_flow_step(plan, &flow, s, out);
}

COLL_INLINE size_t coll_i_fence_scratch(const coll_plan *plan, uint32_t rank)
{
    coll_i_mesh_flow flow;
    coll_i_fence_flow(&flow, plan, rank);
    return coll_i_mesh_flow_scratch(plan, &flow);
}

/* Two sets of five slots must fit the machine. */
COLL_INLINE coll_status coll_i_fence_check(const coll_plan *plan)
{
    const coll_status status = coll_i_mesh_check(plan);
    size_t elements;
    if (status != COLL_OK)
        return status;
    return coll_multiply(10, coll_i_mesh_slot(plan), &elements) &&
                   coll_i_addressable(elements, plan->problem.elem_bytes)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

COLL_ALGORITHM(coll_fence_bcast, "fence", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_BCAST), COLL_NEEDS_FULL_ROWS | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_mesh_flow_params, coll_i_prepare_radixes),
    coll_i_fence_steps, coll_i_fence_step, NULL, coll_i_fence_check);

COLL_ALGORITHM(coll_fence_reduce, "fence", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_REDUCE), COLL_NEEDS_FULL_ROWS | COLL_NEEDS_COMMUTATIVE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_mesh_flow_params, coll_i_prepare_radixes),
    coll_i_fence_steps, coll_i_fence_step, coll_i_fence_scratch, coll_i_fence_check);

COLL_ALGORITHM(coll_fence_allreduce, "fence", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_FULL_ROWS | COLL_NEEDS_COMMUTATIVE | COLL_GIVES_IDENTICAL |
        COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 2, COLL_PREPARED(2, coll_i_mesh_flow_params, coll_i_prepare_radixes),
    coll_i_fence_steps, coll_i_fence_step, coll_i_fence_scratch, coll_i_fence_check);

#endif /* COLL_ALGOS_FENCE_H */
