/* coll/algos/multi_ring.h — allgather(v), reduce_scatter(_block), allreduce around several rings at once
 *
 * Every block is cut into as many pieces as there are rings, and each piece goes round a ring of its
 * own, as in ring.h: the first upwards in steps of one rank, the second downwards, the next two in
 * steps of the next number that has no factor in common with p, and so on. Two rings use both
 * directions of the links of a torus; more of them talk to as many peers at once, through as many
 * ports or paths. An allreduce may cut the pieces into segments, too: one is combined while the next
 * one comes, and goes on before the next one is there.
 *
 *   p = 8, rings = 4:   ring          0         1         2         3
 *                       r sends to   r+1       r−1       r+3       r−3
 *
 * Laws (tests/algos/multi_ring.c)
 *   (1) rings 2i and 2i+1 are the same one in opposite directions, of the i-th least of the numbers
 *       up to p/2 that have no factor in common with p; from the least again where there are no more
 *   (2) of every block a ring has one piece; these differ by an element at the most
 *   (3) what r sends at step s is what its peer receives at step s
 * Cost    elements as in ring.h. R rings, K segments: R times as many messages and steps, of an
 *         allreduce R·K times; rounds as in ring.h if a rank sends R·K messages at once. scratch:
 *         reduce_scatter two of the largest blocks, allreduce in place two of the largest parts
 * Source  Patarasuk, Yuan 2009, doi:10.1016/j.jpdc.2008.09.002 (the ring); Jain, Sabharwal 2010
 *         (ICS: bucket algorithms in both directions of a torus); Wang et al. 2023 (NSDI, TopoOpt:
 *         rings of several strides)
 */
#ifndef COLL_ALGOS_MULTI_RING_H
#define COLL_ALGOS_MULTI_RING_H

#include "kit/ring_lanes.h"

COLL_TABLE(coll_param, coll_i_multi_ring_params, {
    COLL_PARAM("rings", "rings: both directions of one after the other", 1, 16, 2, {1, 2, 3, 5}),
    COLL_PARAM("segment", "elements of a segment; 0: the whole piece",
               0, UINT32_MAX, 0, {1, 2, 3, 0})});

/* ---- allgather --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_multi_ring_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    (void)rank;
    return p == 1 ? (coll_in_place(plan) ? 0 : 1) : (p - (size_t)1) * plan->param[0];
}

COLL_INLINE unsigned coll_i_multi_ring_allgather_step(const coll_plan *plan, uint32_t rank,
                                                      size_t s, coll_action *out)
{
    unsigned n = 0;
    if (plan->problem.p > 1) {
        coll_i_ring_lane lane;
        coll_block give, take, piece;
        coll_i_lane_at(plan, rank, s, 1, &lane);
        give = coll_out_block(plan, lane.give);
        take = coll_out_block(plan, lane.take);
        piece = coll_i_lane_piece(plan, &lane, give.count);
        coll_act_send(&out[n++], lane.to,
                      (lane.round == 0 && !coll_in_place(plan)
                           ? COLL_AT(COLL_IN, 0)
                           : COLL_AT(COLL_OUT, give.offset)) +
                          piece.offset,
                      piece.count);
        piece = coll_i_lane_piece(plan, &lane, take.count);
        coll_act_recv(&out[n++], lane.from, COLL_AT(COLL_OUT, take.offset) + piece.offset,
                      piece.count);
    }
    if (s == 0 && !coll_in_place(plan)) {
        const coll_block own = coll_out_block(plan, rank);
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, own.offset), COLL_AT(COLL_IN, 0), own.count);
    }
    return n;
}

COLL_ALGORITHM(coll_multi_ring_allgather, "multi_ring",
    "Jain, Sabharwal 2010; Wang et al. 2023",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_multi_ring_params),
    coll_i_multi_ring_allgather_steps, coll_i_multi_ring_allgather_step);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

/* Alone, or in place with the result still in scratch, a copy at the end. */
COLL_INLINE size_t coll_i_multi_ring_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    (void)rank;
    return (p - (size_t)1) * plan->param[0] + (p == 1 || coll_in_place(plan) ? 1 : 0);
}

/* Sums lie in two slots in turn, as in ring.h, of the largest block, which gives each ring its place.
 * In the last round pieces come to where they are in the result. */
COLL_INLINE unsigned coll_i_multi_ring_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                           size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_ref input = coll_input(plan), home = COLL_AT(COLL_OUT, 0);
    coll_i_ring_lane lane;
    coll_block give, take, piece;
    coll_ref sum, last;
    if (s == (p - (size_t)1) * plan->param[0]) {
        const coll_block own = coll_in_block(plan, rank);
        const coll_ref slot = COLL_AT(COLL_SCRATCH, p > 1 ? (p & 1) * plan->largest : 0);
        unsigned n = 0;
        if (p == 1 && coll_in_place(plan)) /* the block may overlap its new place */
            coll_act_copy(&out[n++], slot, input + own.offset, own.count);
        coll_act_copy(&out[n++], home, coll_in_place(plan) ? slot : input + own.offset,
                      own.count);
        return n;
    }
    coll_i_lane_at(plan, rank, s, 1, &lane);
    give = coll_in_block(plan, lane.give);
    take = coll_in_block(plan, lane.take);
    piece = coll_i_lane_piece(plan, &lane, plan->largest);
    sum = COLL_AT(COLL_SCRATCH, (lane.round & 1) * plan->largest) + piece.offset;
    last = COLL_AT(COLL_SCRATCH, ((lane.round & 1) ^ 1) * plan->largest) + piece.offset;
    piece = coll_i_lane_piece(plan, &lane, give.count);
    coll_act_send(&out[0], lane.to, lane.round == 0 ? input + give.offset + piece.offset : last,
                  piece.count);
    piece = coll_i_lane_piece(plan, &lane, take.count);
    if (lane.round == p - 2)
        sum = (coll_in_place(plan) ? COLL_AT(COLL_SCRATCH, (p & 1) * plan->largest) : home) +
              piece.offset;
    coll_act_recv_reduce(&out[1], lane.from, sum, input + take.offset + piece.offset, sum,
                         piece.count);
    return 2;
}

COLL_INLINE size_t coll_i_multi_ring_reduce_scatter_scratch(const coll_plan *plan,
                                                            uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    const size_t rounds = p - (size_t)1 - (coll_in_place(plan) ? 0 : 1); /* into SCRATCH */
    (void)rank;
    return p == 1 ? (coll_in_place(plan) ? plan->largest : 0)
                  : (rounds < 2 ? rounds : 2) * plan->largest;
}

COLL_ALGORITHM(coll_multi_ring_reduce_scatter, "multi_ring",
    "Jain, Sabharwal 2010; Wang et al. 2023",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), COLL_NEEDS_COMMUTATIVE,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_multi_ring_params),
    coll_i_multi_ring_reduce_scatter_steps, coll_i_multi_ring_reduce_scatter_step,
    coll_i_multi_ring_reduce_scatter_scratch);

/* ---- allreduce --------------------------------------------------------------------------- */

/* Elements of the largest part. */
COLL_HOT_INLINE size_t coll_i_multi_ring_part(const coll_plan *plan)
{
    return plan->cut.base + (plan->cut.extra > 0 ? 1 : 0);
}

COLL_INLINE size_t coll_i_multi_ring_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    (void)rank;
    return p == 1 ? (coll_in_place(plan) ? 0 : 1)
                  : 2 * (p - (size_t)1) * plan->param[0] *
                        coll_i_lane_segments(plan, coll_i_multi_ring_part(plan));
}

/* As in ring.h: sums form in OUT, where also their messages are staged unless it holds the input. */
COLL_INLINE unsigned coll_i_multi_ring_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                      size_t s, coll_action *out)
{
    const size_t part = coll_i_multi_ring_part(plan);
    coll_i_ring_lane lane;
    coll_block give, take, piece;
    coll_ref here;
    size_t staged;
    if (plan->problem.p == 1) {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), coll_input(plan), plan->problem.count);
        return 1;
    }
    coll_i_lane_at(plan, rank, s, coll_i_lane_segments(plan, part), &lane);
    staged = coll_i_lane_piece(plan, &lane, part).offset;
    give = coll_part_block(plan->cut, lane.give);
    take = coll_part_block(plan->cut, lane.take);
    piece = coll_i_lane_piece(plan, &lane, give.count);
    coll_act_send(&out[0], lane.to,
                  (lane.round == 0 ? coll_input(plan) : COLL_AT(COLL_OUT, 0)) + give.offset +
                      piece.offset,
                  piece.count);
    piece = coll_i_lane_piece(plan, &lane, take.count);
    here = COLL_AT(COLL_OUT, take.offset) + piece.offset;
    if (lane.round >= plan->problem.p - 1)
        coll_act_recv(&out[1], lane.from, here, piece.count);
    else
        coll_act_recv_reduce(
            &out[1], lane.from, here, coll_input(plan) + take.offset + piece.offset,
            coll_in_place(plan) ? COLL_AT(COLL_SCRATCH, (lane.round & 1) * part) + staged
                                : here,
            piece.count);
    return 2;
}

COLL_INLINE size_t coll_i_multi_ring_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    (void)rank;
    return p == 1 || !coll_in_place(plan) ? 0
                                          : (p == 2 ? 1u : 2u) * coll_i_multi_ring_part(plan);
}

COLL_ALGORITHM(coll_multi_ring_allreduce, "multi_ring",
    "Jain, Sabharwal 2010; Wang et al. 2023; Patarasuk, Yuan 2009",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(2, coll_i_multi_ring_params),
    coll_i_multi_ring_allreduce_steps, coll_i_multi_ring_allreduce_step,
    coll_i_multi_ring_allreduce_scratch);

#endif /* COLL_ALGOS_MULTI_RING_H */
