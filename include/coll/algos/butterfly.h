/* coll/algos/butterfly.h — reduce_scatter(_block): halve what is left, near ranks first
 *
 * Recursive halving from the nearest partner to the farthest: before round t a rank stands for
 * the run of ranks of its k^t core numbers, so operands stay in rank order and the operator need
 * not commute. As digit t of its number tells which k-th it keeps in round t, and the first
 * round makes the largest parts, a rank ends with the blocks of the core number that has its
 * digits in opposite order, its mirror. One more exchange brings the blocks home, also to the
 * ranks that were folded, which wait for nothing else.
 *
 *   k = 2, p = 6: the blocks that a rank keeps
 *       rank            0    1    2    3    4    5
 *       number               0         1    2    3
 *       folded              0–5       0–5  0–5  0–5     0 → 1, 2 → 3
 *       after round 0       0–3       4–5  0–3  4–5     1 ↔ 3, 4 ↔ 5
 *       after round 1       0–1        4   2–3   5      1 ↔ 4, 3 ↔ 5
 *       at home         0    1    2    3    4    5      1 → 0, 3 → 4, 4 → 2 3
 *
 * Bits: every block is combined by one rank, all of them in the same order, which depends on p
 * and k alone, and is that of recursive_multiplying.h.
 *
 * Laws (tests/algos/butterfly.c)
 *   (1) whom a rank sends to in a turn of a round receives from it in that turn
 *   (2) the parts of a round are next to each other, together what the rank kept in the round
 *       before; each goes to the rank of the group that keeps it
 *   (3) after round t a rank has the sum over the run of ranks of its k^(t+1) core numbers
 * Cost    R = (k−1)m + c−1 messages per rank of the core to halve, and one for each of the one or
 *         two blocks that it ends with and are not its own; as many rounds if they go one by one,
 *         one more off c·k^m, and one more if a block goes home where the longest way through the
 *         rounds ends. Elements: p blocks, less the own one where that comes home by itself. An
 *         extra rank sends p blocks. scratch: the part that the rank keeps in round 0 (all where
 *         another is folded into it), and for the longest round a slot for each other member of its
 *         group; a round of two needs none if its operands are in IN
 * Source  Träff 2005, doi:10.1007/11557265_20
 */
#ifndef COLL_ALGOS_BUTTERFLY_H
#define COLL_ALGOS_BUTTERFLY_H

#include "kit/derived.h"
#include "recursive_halving.h"

/* What a number keeps after rounds 0 … t−1, and the number that keeps a piece in the end. */
COLL_HOT_INLINE coll_mirrors coll_i_mirrors_of(const coll_plan *plan, coll_i_partners partners,
                                               uint32_t number, uint32_t t)
{
    return partners == COLL_I_SWING   ? coll_swing_slots(&plan->fold, number, t)
           : partners == COLL_I_TORUS ? coll_i_torus_slots(plan, number, t)
                                      : coll_mirrors_of(&plan->fold, &plan->radix, number, t);
}

COLL_HOT_INLINE uint32_t coll_i_mirrored(const coll_plan *plan, coll_i_partners partners,
                                         uint32_t piece)
{
    return partners == COLL_I_SWING   ? coll_swing_number(&plan->fold, piece)
           : partners == COLL_I_TORUS ? coll_i_torus_number(plan, piece)
                                      : coll_mirrored(&plan->fold, &plan->radix, piece);
}

/* Round t of halving from the nearest partner to the farthest, but for where its data lie. */
COLL_HOT_INLINE coll_i_halving coll_i_butterfly_round(const coll_plan *plan,
                                                      coll_i_partners partners, uint32_t number,
                                                      uint32_t t)
{
    const coll_mirrors keep = coll_i_mirrors_of(plan, partners, number, t + 1);
    const coll_exchange x =
        coll_i_exchange_of(plan, partners, coll_i_partners_radix(plan, partners), number, t);
    coll_i_halving h;
    h.x.stride = x.stride; /* by field: on bare metal, some compilers call memcpy */
    h.x.radix = x.radix;
    h.x.digit = x.digit;
    h.x.first = x.first;
    h.x.below = x.below;
    h.span = keep.span;
    h.first = keep.first - h.x.digit * keep.span;
    h.from = h.to = h.slots = 0;
    return h;
}

/* What the rank's sums may be of: all it keeps in round 0, or everything. */
COLL_HOT_INLINE coll_block coll_i_butterfly_kept(const coll_plan *plan,
                                                 coll_i_partners partners,
                                                 const coll_i_folded *me)
{
    const coll_mirrors keep = coll_i_mirrors_of(plan, partners, me->number,
                                                me->proxy || plan->fold.rounds == 0 ? 0 : 1);
    return coll_i_pieces(plan, keep.first, keep.span);
}

COLL_HOT_INLINE coll_i_halving coll_i_butterfly_of(const coll_plan *plan,
                                                   coll_i_partners partners,
                                                   const coll_i_folded *me, uint32_t t)
{
    const coll_block kept = coll_i_butterfly_kept(plan, partners, me);
    coll_i_halving h = coll_i_butterfly_round(plan, partners, me->number, t);
    h.to = COLL_AT(COLL_SCRATCH, 0) - kept.offset;
    h.from = t == 0 && !me->proxy ? coll_input(plan) : h.to;
    h.slots = COLL_AT(COLL_SCRATCH, kept.count);
    return h;
}

/* The rank that has the sums of a core number's blocks after the rounds. */
COLL_HOT_INLINE uint32_t coll_i_butterfly_holder(const coll_plan *plan,
                                                 coll_i_partners partners, uint32_t number)
{
    return coll_fold_rank(&plan->fold, coll_i_mirrored(plan, partners, number));
}

COLL_INLINE size_t coll_i_butterfly_steps(const coll_plan *plan, coll_i_partners partners,
                                          uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return me.extra ? 2
                    : coll_i_rounds_steps(plan, coll_i_partners_radix(plan, partners), true) +
                          (me.proxy ? (size_t)2 : 1);
}

/* Brings blocks home: the one or two that this rank has the sums of, and its own. */
COLL_HOT_INLINE unsigned coll_i_butterfly_home(const coll_plan *plan, coll_i_partners partners,
                                               uint32_t rank, const coll_i_folded *me,
                                               coll_action *out)
{
    const uint32_t mirror =
        coll_i_mirrors_of(plan, partners, me->number, plan->fold.rounds).first;
    const uint32_t home = coll_fold_rank(&plan->fold, mirror);
    const coll_ref sums =
        COLL_AT(COLL_SCRATCH, 0) - coll_i_butterfly_kept(plan, partners, me).offset;
    const coll_block block = coll_in_block(plan, home);
    unsigned n = 0;
    if (coll_fold_first(&plan->fold, mirror) != home) {
        const coll_block extra = coll_in_block(plan, home - 1);
        coll_act_send(&out[n++], home - 1, sums + extra.offset, extra.count);
    }
    if (home == rank) {
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, 0), sums + block.offset, block.count);
        return n;
    }
    coll_act_send(&out[n++], home, sums + block.offset, block.count);
    coll_act_recv(&out[n++], coll_i_butterfly_holder(plan, partners, me->number),
                  COLL_AT(COLL_OUT, 0), coll_in_block(plan, rank).count);
    return n;
}

COLL_INLINE unsigned coll_i_butterfly_step(const coll_plan *plan, coll_i_partners partners,
                                           uint32_t rank, size_t s, coll_action *out)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    const coll_ref input = coll_input(plan), result = COLL_AT(COLL_OUT, 0);
    const coll_block all = coll_i_pieces(plan, 0, plan->fold.core);
    coll_i_turn at;
    if (me.extra) {
        if (s == 0)
            coll_act_send(out, rank + 1, input, all.count);
        else
            coll_act_recv(out, coll_i_butterfly_holder(plan, partners, me.number), result,
                          coll_in_block(plan, rank).count);
        return 1;
    }
    if (plan->problem.p == 1) {
        coll_act_copy(out, result, input, all.count);
        return 1;
    }
    if (me.proxy && s == 0) {
        const coll_ref sums = COLL_AT(COLL_SCRATCH, 0);
        coll_act_recv_reduce(out, rank - 1, sums, input, sums, all.count);
        out->flags = COLL_LEFT;
        return 1;
    }
    at = coll_i_turn_up(plan, coll_i_partners_radix(plan, partners), true,
                        s - (me.proxy ? 1 : 0));
    if (at.round < plan->fold.rounds) {
        const coll_i_halving h = coll_i_butterfly_of(plan, partners, &me, at.round);
        return coll_i_halving_turn(plan, partners, &h, at.turn, out);
    }
    return coll_i_butterfly_home(plan, partners, rank, &me, out);
}

COLL_INLINE size_t coll_i_butterfly_scratch(const coll_plan *plan, coll_i_partners partners,
                                            uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    size_t most = 0;
    for (uint32_t t = 0; t < plan->fold.rounds && !me.extra; t++) {
        const coll_i_halving h = coll_i_butterfly_of(plan, partners, &me, t);
        const size_t end = coll_ref_offset(h.slots) + coll_i_halving_slots(plan, &h);
        most = end > most ? end : most;
    }
    return most;
}

COLL_INLINE size_t coll_i_butterfly_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_butterfly_steps(plan, COLL_I_DIGITS, rank);
}

COLL_INLINE unsigned coll_i_butterfly_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                          size_t s, coll_action *out)
{
    return coll_i_butterfly_step(plan, COLL_I_DIGITS, rank, s, out);
}

COLL_INLINE size_t coll_i_butterfly_reduce_scatter_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_butterfly_scratch(plan, COLL_I_DIGITS, rank);
}

COLL_ALGORITHM(coll_butterfly_reduce_scatter, "butterfly", "Traeff 2005",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_PACKED | COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_halving_params, coll_i_prepare_radix_fold),
    coll_i_butterfly_reduce_scatter_steps, coll_i_butterfly_reduce_scatter_step,
    coll_i_butterfly_reduce_scatter_scratch);

#endif /* COLL_ALGOS_BUTTERFLY_H */
