/* coll/algos/circulant_bcast.h — bcast, reduce in blocks, a fixed distance in every round
 *
 * The vector is cut into n blocks, and n − 1 + q rounds, q = ⌈log2 p⌉, bring all of them to all
 * ranks: fewer cannot be. Rounds come in passes of q. Those of phase k have the distance skip[k] of
 * the circulant graph: skip[q] = p, skip[k] = ⌈skip[k+1]/2⌉. Every rank sends a block so far to its
 * right, and gets one that it lacks from as far to its left; the root, renumbered 0, sends block k
 * in phase k of pass 0, and q more in every further pass. A schedule says which block a rank gets
 * in each phase of pass 0 (kit/circulant_schedule.h); in the next pass, all numbers are q higher.
 * Blocks that are not there yet are not sent, and those from n − 1 on are all that one. A reduction
 * is the same backwards: what a rank gets in the broadcast it sends, and what it sends there, comes
 * and is added.
 *
 *   p = 5, q = 3, skip = 1 2 3: the block that a rank gets, and that it sends, in phase k of
 *   pass 0; those of the pass before are negative
 *       rank        1  2  3  4           0  1  2  3  4
 *       k = 0       0 -3 -2 -1           0 -3 -2 -1 -3
 *       k = 1      -1  1 -3 -2           1 -3 -2 -1 -1
 *       k = 2      -2 -1  2  0           2  0 -2 -2 -1
 *
 * Laws (tests/algos/circulant_bcast.c)
 *   (1) what a rank sends in phase k is what the rank skip[k] to its right gets then
 *   (2) in a pass a rank gets its base block, and of the pass before all other ones, each once
 *   (3) what a rank sends in phase k came in an earlier phase of the pass, or is the base block of
 *       the pass before
 * Cost    n = ⌈count/segment⌉ (1 for segment 0): n − 1 + ⌈log2 p⌉ steps, at most as many rounds;
 *         each rank but the root gets (bcast) or sends (reduce) each block once. scratch: bcast
 *         none; reduce for p > 1 two blocks, and `count` more but at the root
 * Source  Träff 2024, arXiv:2407.18004
 */
#ifndef COLL_ALGOS_CIRCULANT_BCAST_H
#define COLL_ALGOS_CIRCULANT_BCAST_H

#include "circulant.h"

COLL_TABLE(coll_param, coll_i_circulant_bcast_params, {
    COLL_PARAM("segment", "elements of a block; 0: the whole vector",
               0, UINT32_MAX, 0, {0, 3, 1000, 0})});

/* ---- rounds and blocks ------------------------------------------------------------------- */

/* A round of a bcast to p > 1 ranks. The last pass is full, the first one perhaps not; block n − 1
 * is also any that is beyond it. */
typedef struct coll_i_circulant_turn {
    coll_i_circulant_graph graph;
    uint32_t v;                 /* the rank, renumbered */
    uint32_t phase, skip, next; /* next: skip[phase + 1] */
    uint32_t blocks;            /* n */
    uint32_t before, lead;      /* number i is block i + before − lead */
} coll_i_circulant_turn;

/* n − 1 + q, and for one rank none. */
COLL_HOT_INLINE uint32_t coll_i_circulant_rounds(const coll_plan *plan)
{
    const size_t blocks = coll_segments(plan->problem.count, plan->param[0]);
    const uint32_t q = coll_log2_ceil(plan->problem.p);
    return q == 0 ? 0 : (uint32_t)blocks - 1 + q;
}

COLL_HOT_INLINE void coll_i_circulant_turn_of(const coll_plan *plan, uint32_t rank,
                                              uint32_t round, coll_i_circulant_turn *turn)
{
    const uint32_t rounds = coll_i_circulant_rounds(plan);
    turn->graph = coll_i_circulant_graph_of(plan->problem.p);
    turn->v = coll_mod_sub(rank, plan->problem.root, plan->problem.p);
    turn->blocks = rounds - turn->graph.q + 1;
    {
        const uint32_t q = turn->graph.q;
        const coll_fast_divisor by_q = coll_i_circulant_divisor(q);
        const uint32_t over = rounds - coll_divide(rounds, &by_q) * q;
        const uint32_t missing = over == 0 ? 0 : q - over; /* phases of the first pass */
        turn->before = coll_divide(round + missing, &by_q) * q;
        turn->phase = round + missing - turn->before;
        turn->lead = missing + q;
        turn->skip = coll_i_circulant_distance(turn->graph, turn->phase);
        turn->next = coll_i_circulant_distance(turn->graph, turn->phase + 1);
    }
}

/* The block that moves in a round, as a part of the vector. */
COLL_HOT_INLINE coll_block coll_i_circulant_block(const coll_plan *plan,
                                                  const coll_i_circulant_turn *turn,
                                                  uint32_t number)
{
    const uint32_t i = turn->before + number - turn->lead, last = turn->blocks - 1;
    return coll_segment_block(plan->problem.count, plan->param[0], i < last ? i : last);
}

/* The block that goes to the right; false if there is none yet, or there is the root. In pass 0
 * only own blocks move: to ranks for which this is the first skip, in one range with v. */
COLL_HOT_INLINE bool coll_i_circulant_right(const coll_plan *plan,
                                            const coll_i_circulant_turn *turn,
                                            coll_block *block)
{
    const uint32_t v = turn->v, skip = turn->skip;
    uint32_t number;
    if (v + skip == turn->graph.p ||
        (turn->before == 0 && (v >= skip || v >= turn->next - skip)))
        return false;
    number = coll_i_circulant_send_block(turn->graph, v, turn->phase);
    if (turn->before + number < turn->lead)
        return false;
    *block = coll_i_circulant_block(plan, turn, number);
    return true;
}

/* The one that comes from the left. In pass 0 the numbers of others than own blocks are too small,
 * and are not searched for: that is half of the time of a step, with few blocks. */
COLL_HOT_INLINE bool coll_i_circulant_left(const coll_plan *plan,
                                           const coll_i_circulant_turn *turn, coll_block *block)
{
    const uint32_t v = turn->v;
    uint32_t number;
    if (v == 0 || (turn->before == 0 && (v < turn->skip || v >= turn->next)))
        return false;
    number = coll_i_circulant_recv_block(turn->graph, v, turn->phase);
    if (turn->before + number < turn->lead)
        return false;
    *block = coll_i_circulant_block(plan, turn, number);
    return true;
}

/* Rounds are counted in 32 bits. */
COLL_INLINE coll_status coll_i_circulant_bcast_check(const coll_plan *plan)
{
    return coll_segments(plan->problem.count, plan->param[0]) < UINT32_MAX - 128
               ? COLL_OK
               : COLL_ERR_PARAM;
}

/* ---- bcast ------------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_circulant_bcast_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 1 ? (coll_in_place(plan) ? 0u : 1u)
                                : coll_i_circulant_rounds(plan);
}

/* A step a round; the last one with the root's copy. */
COLL_INLINE unsigned coll_i_circulant_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const bool copies = rank == plan->problem.root && !coll_in_place(plan);
    unsigned n = 0;
    if (p > 1) {
        coll_i_circulant_turn turn;
        coll_i_circulant_turn_of(plan, rank, (uint32_t)s, &turn);
        const coll_ref from = copies ? COLL_AT(COLL_IN, 0) : COLL_AT(COLL_OUT, 0);
        coll_block block;
        if (coll_i_circulant_right(plan, &turn, &block))
            coll_act_send(&out[n++], coll_mod_add(rank, turn.skip, p), from + block.offset,
                          block.count);
        if (coll_i_circulant_left(plan, &turn, &block))
            coll_act_recv(&out[n++], coll_mod_sub(rank, turn.skip, p), from + block.offset,
                          block.count);
        if (!copies || s + 1 < coll_i_circulant_rounds(plan))
            return n;
    }
    coll_act_copy(&out[n++], COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), plan->problem.count);
    return n;
}

COLL_ALGORITHM(coll_circulant_bcast, "circulant", "Traeff 2024",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_circulant_bcast_params),
    coll_i_circulant_bcast_steps, coll_i_circulant_bcast_step, NULL,
    coll_i_circulant_bcast_check);

/* ---- reduce ------------------------------------------------------------------------------ */

/* Round s backwards. A rank other than the root sums up in SCRATCH, where its own operand must be
 * first; a block has its first round q rounds, or less, before that of the block's number. */
COLL_INLINE unsigned coll_i_circulant_reduce_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p, root = plan->problem.root;
    const size_t count = plan->problem.count;
    coll_ref sum = COLL_AT(COLL_OUT, 0), staging = COLL_AT(COLL_SCRATCH, 0);
    coll_i_circulant_turn turn;
    coll_block block;
    unsigned n = 0;
    if (p == 1) {
        coll_act_copy(out, sum, COLL_AT(COLL_IN, 0), count);
        return 1;
    }
    coll_i_circulant_turn_of(plan, rank, coll_i_circulant_rounds(plan) - 1 - (uint32_t)s,
                             &turn);
    if (rank != root) {
        const uint32_t later = (uint32_t)s + turn.graph.q; /* blocks in use, from the end */
        sum = COLL_AT(COLL_SCRATCH, 0);
        staging = sum + count;
        if (later < turn.blocks || s == 0) {
            const uint32_t i = later < turn.blocks ? turn.blocks - 1 - later : 0;
            const size_t at = coll_segment_block(count, plan->param[0], i).offset;
            const coll_block one = coll_segment_block(count, plan->param[0], i);
            coll_act_copy(&out[n++], sum + at, COLL_AT(COLL_IN, at),
                          s == 0 ? count - at : one.count);
        }
    }
    if (coll_i_circulant_left(plan, &turn, &block))
        coll_act_send(&out[n++], coll_mod_sub(rank, turn.skip, p), sum + block.offset,
                      block.count);
    if (coll_i_circulant_right(plan, &turn, &block)) {
        /* the root sends each block but the last once, and that first in the last round */
        const bool fresh = rank == root && (s == 0 || block.offset + block.count < count);
        const coll_ref at = sum + block.offset;
        const coll_ref src = fresh ? coll_input(plan) + block.offset : at;
        const size_t slot = coll_segment_block(count, plan->param[0], 0).count;
        coll_act_recv_reduce(&out[n++], coll_mod_add(rank, turn.skip, p), at, src,
                             src == at ? staging + (s & 1 ? slot : 0) : at, block.count);
    }
    return n;
}

COLL_INLINE size_t coll_i_circulant_reduce_scratch(const coll_plan *plan, uint32_t rank)
{
    const bool is_root = rank == plan->problem.root;
    if (plan->problem.p == 1)
        return 0;
    return (is_root ? 0 : plan->problem.count) +
           2 * coll_segment_block(plan->problem.count, plan->param[0], 0).count;
}

COLL_ALGORITHM(coll_circulant_reduce, "circulant", "Traeff 2024",
    COLL_BIT(COLL_REDUCE), COLL_NEEDS_COMMUTATIVE,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_circulant_bcast_params),
    coll_i_circulant_bcast_steps, coll_i_circulant_reduce_step, coll_i_circulant_reduce_scratch,
    coll_i_circulant_bcast_check);

#endif /* COLL_ALGOS_CIRCULANT_BCAST_H */
