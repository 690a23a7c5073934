/* coll/algos/swing.h — allreduce, reduce_scatter(_block), allgather(v): swing to and fro on a ring
 *
 * Halving and doubling like in butterfly.h, but with partners that are near each other on a ring
 * or torus. In round t even ranks meet the rank ρ(t) = 1 − 2 + 4 − … ± 2^t above theirs, odd
 * ones the rank ρ(t) below: distances 1, 1, 3, 5, 11 … instead of 1, 2, 4, 8, 16 …, and the
 * direction changes each round. So fewer links are crossed, by a third in the long run, and both
 * directions are used. The longest messages go to the nearest partner. What a rank gives away in
 * round t is all that its partner, and whom that meets later, are to have. That is a run of
 * pieces: they are not in rank order but in that of slots (plan/topo.h).
 *
 *   p = 8, pieces (slots) that a rank keeps:
 *       rank                  0    1    2    3    4    5    6    7
 *       round 0, distance 1  0–3  4–7  4–7  0–3  0–3  4–7  4–7  0–3     0 ↔ 1, 2 ↔ 3, 4 ↔ 5, 6 ↔ 7
 *       round 1, distance 1  0–1  4–5  6–7  0–1  2–3  6–7  4–5  2–3     0 ↔ 7, 2 ↔ 1, 4 ↔ 3, 6 ↔ 5
 *       round 2, distance 3   0    4    6    1    3    7    5    2      0 ↔ 3, 2 ↔ 5, 4 ↔ 7, 6 ↔ 1
 *
 * An allreduce (swing, "B" in the paper) is these rounds, then the same backwards. Of whole
 * vectors (swing_latency, "L") it takes half of the rounds. In a reduce_scatter one more exchange
 * brings the block of each slot home; in an allgather one before the rounds brings it there. Off
 * powers of two the ranks are folded to a core (plan/topo.h): what the paper does for even p, to
 * swing without a core and skip what has come already, gives up that parts are runs. With the
 * distances the other way round they stay runs: bine_butterfly.h.
 *
 * Bits: a piece is reduced by one rank, so all ranks get the same; but not all pieces in the
 * same order. With swing_latency, each rank adds up in an order of its own.
 *
 * Laws (tests/algos/swing.c)
 *   (1) partners in a round are partners of each other, and ρ of the round apart in the core
 *   (2) what a rank gives in round t is what its partner is to have, or passes on after that
 *       round
 *   (3) from whom a rank gave a part to in round t of halving, it gets that part back, complete
 *   (4) elements · ranks crossed: in an allreduce, p = 2^m > 2, less than in Rabenseifner's
 * Cost    m = ⌊log2 p⌋. Messages per rank of the core: allreduce 2m, swing_latency m, and one more
 *         where another rank is folded into it; elements and scratch as in rabenseifner.h and
 *         recursive_multiplying.h; reduce_scatter as in butterfly.h, all for k = 2. Allgather: m
 *         messages, one more unless the own block's place is here, and one more where another rank
 *         is folded into it; an extra rank sends its block; m + 1 rounds (m for p ≤ 3), and one
 *         more off powers of two
 * Source  De Sensi, Bonato, Saam, Hoefler 2024 (NSDI), §3; slots, and bringing blocks home: De
 *         Sensi et al. 2025, doi:10.1145/3712285.3759835
 */
#ifndef COLL_ALGOS_SWING_H
#define COLL_ALGOS_SWING_H

#include "kit/derived.h"
#include "rabenseifner.h"
#include "recursive_multiplying.h"

/* ---- allreduce --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_swing_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_steps(plan, COLL_I_SWING, rank);
}

COLL_INLINE unsigned coll_i_swing_allreduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    return coll_i_halved_allreduce_step(plan, COLL_I_SWING, rank, s, out);
}

COLL_INLINE size_t coll_i_swing_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_scratch(plan, COLL_I_SWING, rank);
}

COLL_ALGORITHM(coll_swing_allreduce, "swing", "De Sensi, Bonato, Saam, Hoefler 2024, section 3",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_pieces),
    coll_i_swing_allreduce_steps, coll_i_swing_allreduce_step, coll_i_swing_allreduce_scratch);

/* Of whole vectors: recursive doubling with other partners. */
COLL_INLINE unsigned coll_i_swing_latency_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    return coll_i_multiplying_allreduce(plan, rank, s, COLL_I_SWING, &coll_fast_divisor_two,
                                        out);
}

COLL_ALGORITHM(coll_swing_latency_allreduce, "swing_latency",
    "De Sensi, Bonato, Saam, Hoefler 2024, section 3",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_fold),
    coll_i_doubling_steps, coll_i_swing_latency_step, coll_i_doubling_allreduce_scratch);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_swing_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_butterfly_steps(plan, COLL_I_SWING, rank);
}

COLL_INLINE unsigned coll_i_swing_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                      size_t s, coll_action *out)
{
    return coll_i_butterfly_step(plan, COLL_I_SWING, rank, s, out);
}

COLL_INLINE size_t coll_i_swing_reduce_scatter_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_butterfly_scratch(plan, COLL_I_SWING, rank);
}

COLL_ALGORITHM(coll_swing_reduce_scatter, "swing",
    "De Sensi, Bonato, Saam, Hoefler 2024, section 3",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_fold),
    coll_i_swing_reduce_scatter_steps, coll_i_swing_reduce_scatter_step,
    coll_i_swing_reduce_scatter_scratch);

/* ---- allgather --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_swing_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return me.extra ? 2 : 1 + (size_t)plan->fold.rounds + (me.proxy ? 1 : 0);
}

/* Brings blocks to the ranks of their slots: the own one away, one or two others here. The own
 * block comes back with the others. */
COLL_HOT_INLINE unsigned coll_i_swing_leave_home(const coll_plan *plan, uint32_t rank,
                                                 const coll_i_folded *me, coll_action *out)
{
    const uint32_t holder = coll_i_butterfly_holder(plan, COLL_I_SWING, me->number);
    const uint32_t slot = coll_swing_slot(&plan->fold, me->number);
    const uint32_t home = coll_fold_rank(&plan->fold, slot);
    const coll_block own = coll_out_block(plan, rank), block = coll_out_block(plan, home);
    const coll_ref blocks = COLL_AT(COLL_OUT, 0), place = blocks + own.offset;
    const coll_ref input = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    unsigned n = 0;
    if (me->extra || holder != rank)
        coll_act_send(&out[n++], holder, input, own.count);
    else if (!coll_in_place(plan))
        coll_act_copy(&out[n++], place, input, own.count);
    if (me->extra)
        return n;
    if (home != rank)
        coll_act_recv(&out[n++], home, blocks + block.offset, block.count);
    if (coll_fold_first(&plan->fold, slot) != home) {
        const coll_block folded = coll_out_block(plan, home - 1);
        coll_act_recv(&out[n++], home - 1, blocks + folded.offset, folded.count);
    }
    return n;
}

COLL_INLINE unsigned coll_i_swing_allgather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    const coll_layout *layout = &plan->problem.out;
    const coll_ref blocks = COLL_AT(COLL_OUT, 0);
    if (s == 0)
        return coll_i_swing_leave_home(plan, rank, &me, out);
    if (me.extra || s > plan->fold.rounds) {
        coll_act_move(out, me.proxy, me.extra ? rank + 1 : rank - 1, blocks,
                      coll_i_core_run(plan, layout, 0, plan->fold.core).count);
        return 1;
    }
    {
        const uint32_t t = plan->fold.rounds - (uint32_t)s;
        const uint32_t partner =
            coll_fold_rank(&plan->fold, coll_swing_partner(plan->fold.core, me.number, t));
        const coll_mirrors keep = coll_swing_slots(&plan->fold, me.number, t + 1);
        const coll_block mine = coll_i_core_run(plan, layout, keep.first, keep.span);
        const coll_block theirs =
            coll_i_core_run(plan, layout, keep.first ^ keep.span, keep.span);
        coll_act_send(&out[0], partner, blocks + mine.offset, mine.count);
        coll_act_recv(&out[1], partner, blocks + theirs.offset, theirs.count);
    }
    return 2;
}

COLL_ALGORITHM(coll_swing_allgather, "swing", "De Sensi, Bonato, Saam, Hoefler 2024, section 3",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_NEEDS_PACKED | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_fold),
    coll_i_swing_allgather_steps, coll_i_swing_allgather_step);

#endif /* COLL_ALGOS_SWING_H */
