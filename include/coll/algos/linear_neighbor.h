/* coll/algos/linear_neighbor.h — neighbour collectives: every block straight to its neighbour
 *
 * A rank sends a message to each destination and receives one from each source; a block that a
 * rank has for itself is copied. What needs thought is the order, so that no rank waits for
 * another that cannot reach its message within its window. On a mesh or stencil, all ranks
 * shift their blocks in one direction after the other; over an end nothing goes or comes. Lists
 * are taken in the order that coll_graph_lists prepared: from both ends, the short ways round
 * the circle of ranks first.
 *
 *   mesh of 4 × 2 ranks that wraps round       lists: 0 → 1 twice, 2 → 1, 1 → 0, 1 → 1; p = 3
 *   rank 0   to 6, from 2   −1, dimension 0    way      0        1                2
 *            to 2, from 6   +1                 rank 0            to 1, to 1       from 1
 *            to 1, from 1   −1, dimension 1    rank 1   a copy   from 0, from 0   to 0, from 2
 *            to 1, from 1   +1                 rank 2                             to 1
 *
 * Laws (tests/algos/linear_neighbor.c)
 *   (1) messages from one rank to another come in the order in which they are sent, and each is
 *       the block that plan/graph.h says
 *   (2) a rank sends one message to each destination but itself, and receives one from each
 *       source but itself
 *   (3) both ends take the messages of a direction of a mesh after those of the directions
 *       before it, and the messages of a way of lists after those of all shorter ways
 * Cost    per rank a message for each destination but itself, with its block. Rounds: one for each
 *         direction of a torus, at most one with ends; for each way of lists, at most as many as
 *         any rank sends. No scratch
 * Source  MPI Forum, MPI 4.1, section 8.6
 */
#ifndef COLL_ALGOS_LINEAR_NEIGHBOR_H
#define COLL_ALGOS_LINEAR_NEIGHBOR_H

#include "../plan.h"
#include "../plan/graph.h"

/* What a rank has for its destination i: in an allgather, the same for all. */
COLL_INLINE coll_block coll_i_neighbor_block(const coll_plan *plan, uint32_t i)
{
    const unsigned same =
        COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLGATHERV);
    coll_block block;
    if (!coll_is(same, plan->problem.collective))
        return coll_in_block(plan, i);
    block.offset = 0;
    block.count = plan->problem.count;
    return block;
}

/* Two directions of a mesh or stencil a step, or four entries of the order of lists. */
COLL_INLINE size_t coll_i_linear_neighbor_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_graph *graph = plan->problem.graph;
    (void)rank;
    return graph->n_dims ? (graph->n_out + (size_t)1) / 2
                         : (graph->n_in + (size_t)graph->n_out + 3) / 4;
}

/* Sends block i of IN, unless it is for the rank itself or nobody. Returns how many actions that
 * is. */
COLL_INLINE unsigned coll_i_neighbor_give(const coll_plan *plan, uint32_t rank, uint32_t to,
                                          uint32_t i, coll_action *out)
{
    const coll_block block = coll_i_neighbor_block(plan, i);
    if (to == rank || to == COLL_RANK_NONE)
        return 0;
    coll_act_send(out, to, COLL_AT(COLL_IN, block.offset), block.count);
    return 1;
}

/* Receives block k of OUT, or copies it from block `own` of IN where the rank itself is the
 * source. */
COLL_INLINE unsigned coll_i_neighbor_take(const coll_plan *plan, uint32_t rank, uint32_t from,
                                          uint32_t k, uint32_t own, coll_action *out)
{
    const coll_block block = coll_out_block(plan, k);
    const coll_ref place = COLL_AT(COLL_OUT, block.offset);
    if (from == COLL_RANK_NONE)
        return 0;
    if (from == rank)
        coll_act_copy(out, place, COLL_AT(COLL_IN, coll_i_neighbor_block(plan, own).offset),
                      block.count);
    else
        coll_act_recv(out, from, place, block.count);
    return 1;
}

COLL_INLINE unsigned coll_i_linear_neighbor_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const coll_graph *graph = plan->problem.graph;
    unsigned n = 0;
    if (graph->n_dims) {
        for (uint32_t i = 2 * (uint32_t)s; i < 2 * s + 2 && i < graph->n_out; i++) {
            const coll_direction way = coll_graph_direction(graph, rank, i);
            if ((way.to & way.from) == COLL_RANK_NONE) /* neither: over both ends */
                continue;
            n += coll_i_neighbor_give(plan, rank, way.to, i, &out[n]);
            n += coll_i_neighbor_take(plan, rank, way.from, coll_graph_opposite(graph, i), i,
                                      &out[n]);
        }
        return n;
    }
    for (size_t e = 4 * s; e < 4 * s + 4 && e < graph->n_in + (size_t)graph->n_out; e++) {
        const uint32_t block = graph->order[e] >> 1;
        if (graph->order[e] & 1u) { /* a copy's block of IN is the entry before */
            const uint32_t from = graph->sources[block];
            n += coll_i_neighbor_take(plan, rank, from, block,
                                      from == rank ? graph->order[e - 1] >> 1 : 0, &out[n]);
        } else {
            n += coll_i_neighbor_give(plan, rank, graph->destinations[block], block, &out[n]);
        }
    }
    return n;
}

COLL_ALGORITHM(coll_linear_neighbor, "linear", "MPI 4.1, section 8.6",
    COLL_NEIGHBORLY, /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_linear_neighbor_steps, coll_i_linear_neighbor_step);

#endif /* COLL_ALGOS_LINEAR_NEIGHBOR_H */
