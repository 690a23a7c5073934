/* coll/algos/snake.h — bcast, reduce, allreduce along a line that snakes through a mesh
 *
 * All ranks of a mesh of `width` columns stand in a line that runs along the first row, back
 * along the second, and so on (width 1: a line in rank order). Blocks flow along it, pipelined,
 * from both ends to the root. In an allreduce the root is the beginning of the line, and there
 * every finished block turns round and flows back among those that still come. Four links of a
 * rank are busy then, two in each direction, and no two messages of a round share one. That is
 * few for the bandwidth it gives, hence good for long vectors where a node cannot feed all its
 * links; but a block makes p − 1 hops.
 *
 *   width 3, p = 9:    6 → 7 → 8
 *                      ↑            the line; inward is against the arrows
 *                      3 ← 4 ← 5
 *                              ↑
 *                      0 → 1 → 2
 *
 * Laws (tests/algos/snake.c)
 *   (1) messages go between neighbours on the mesh
 *   (2) with one hop a round, the actions of every rank are in the order of a common clock, and
 *       no link carries two messages of a round in one direction
 *   (3) an allreduce of B ≥ 3 blocks on p ≥ 3 ranks has, in this order, rounds in which the busiest
 *       rank sends and receives so many messages: 1 of 1, p−2 of 2, 1 of 3, B−3 of 4, 1 of 3,
 *       p−2 of 2, 1 of 1; blocks are combined in the first p + B − 2
 * Cost    B = ⌈count/segment⌉ blocks, D hops from the root to the further end: reduce, bcast
 *         B + D − 1 rounds, allreduce B + 2D − 1. A rank with m neighbours behind it sends
 *         `count` elements inward once (but the root), and outward m times. scratch, if m > 0,
 *         in segments, for B > 1 twice that: 1 for the sum where there is no OUT, 1 if m = 2,
 *         1 in place where there is OUT
 * Source  Littlefield 1992, §3.2 and appendix
 */
#ifndef COLL_ALGOS_SNAKE_H
#define COLL_ALGOS_SNAKE_H

#include "../plan/topo/mesh.h"
#include "kit/derived.h"
#include "kit/mesh_flow.h"

COLL_HOT_INLINE void coll_i_snake_flow(coll_i_mesh_flow *flow, const coll_plan *plan,
                                       uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    const uint32_t end = coll_mesh_snake(&plan->radix, plan->problem.root);
    const uint32_t at = coll_mesh_snake(&plan->radix, rank);
    flow->hops = at < end ? end - at : at - end;
    flow->parent = at == end ? rank : coll_mesh_snake(&plan->radix, at < end ? at + 1 : at - 1);
    flow->children = flow->lower = 0;
    if (at <= end && at > 0) {
        flow->child[flow->children++] = coll_mesh_snake(&plan->radix, at - 1);
        flow->lower = 1;
    }
    if (at >= end && at + 1 < p)
        flow->child[flow->children++] = coll_mesh_snake(&plan->radix, at + 1);
}

COLL_INLINE size_t coll_i_snake_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_mesh_flow flow;
    coll_i_snake_flow(&flow, plan, rank);
    return coll_i_mesh_flow_steps(plan, &flow);
}

COLL_INLINE unsigned coll_i_snake_step(const coll_plan *plan, uint32_t rank, size_t s,
                                       coll_action *out)
{
    coll_i_mesh_flow flow;
    coll_i_snake_flow(&flow, plan, rank);
    return coll_i_mesh_flow_step(plan, &flow, s, out);
}

COLL_INLINE size_t coll_i_snake_scratch(const coll_plan *plan, uint32_t rank)
{
    coll_i_mesh_flow flow;
    coll_i_snake_flow(&flow, plan, rank);
    return coll_i_mesh_flow_scratch(plan, &flow);
}

COLL_ALGORITHM(coll_snake_bcast, "snake", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_BCAST), COLL_NEEDS_FULL_ROWS | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_mesh_flow_params, coll_i_prepare_radixes),
    coll_i_snake_steps, coll_i_snake_step, NULL, coll_i_mesh_check);

COLL_ALGORITHM(coll_snake_reduce, "snake", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_REDUCE), COLL_NEEDS_FULL_ROWS | COLL_NEEDS_LINE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(2, coll_i_mesh_flow_params, coll_i_prepare_radixes),
    coll_i_snake_steps, coll_i_snake_step, coll_i_snake_scratch, coll_i_mesh_check);

COLL_ALGORITHM(coll_snake_allreduce, "snake", "Littlefield 1992, section 3.2",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_FULL_ROWS | COLL_NEEDS_LINE | COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(2, coll_i_mesh_flow_params, coll_i_prepare_radixes),
    coll_i_snake_steps, coll_i_snake_step, coll_i_snake_scratch, coll_i_mesh_check);

#endif /* COLL_ALGOS_SNAKE_H */
