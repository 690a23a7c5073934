/* coll/algos/recursive_halving.h — reduce_scatter(_block): halve what is left, far ranks first
 *
 * The rounds of recursive multiplying backwards, from the farthest partner to the nearest. In
 * round t a rank and the k−1 others of its group still have the blocks of one run of k·k^t core
 * numbers to reduce. Each keeps the k-th of the run that its own block is in, sends the other
 * parts to those who keep them, and combines what comes. So the messages get shorter by k each
 * round, and after round 0 a rank has the sum of its own block, or of two where another rank is
 * folded into it. Far ranks are combined first: the operator must commute.
 *
 *   k = 2, p = 6: the blocks that a rank keeps
 *       rank            0    1    2    3    4    5
 *       number               0         1    2    3
 *       folded              0–5       0–5  0–5  0–5     0 → 1, 2 → 3
 *       after round 1       0–3       0–3  4–5  4–5     1 ↔ 4, 3 ↔ 5
 *       after round 0       0–1       2–3   4    5      1 ↔ 3, 4 ↔ 5
 *       unfolded        0    1    2    3    4    5      1 → 0, 3 → 2
 *
 * Bits: every block is combined by one rank, all of them in the same order, which depends on p
 * and k alone.
 *
 * Laws (tests/algos/recursive_halving.c)
 *   (1) whom a rank sends to in a turn of a round receives from it in that turn
 *   (2) the parts of a round are runs of blocks next to each other, together what the rank kept
 *       in the round before; each goes to the rank of the group that has its own block in it
 *   (3) after round 0 a rank keeps the blocks of the ranks for which it stands
 * Cost    R = (k−1)m + c−1 messages per rank of the core, and one more where another is folded into
 *         it; one per extra rank; as many rounds if they go one by one, and off c·k^m one or two
 *         more, as in recursive_multiplying.h. Elements: p−1 blocks per rank of the core, p of an
 *         extra one. scratch: the part that the rank keeps in its first round (all where another is
 *         folded into it; none in a single round out of place), and for the longest round a slot
 *         for each other member of its group; a round of two needs none where its operands are in
 *         IN or its sum is in OUT
 * Source  Thakur, Rabenseifner, Gropp 2005, §4.4, doi:10.1177/1094342005051521
 */
#ifndef COLL_ALGOS_RECURSIVE_HALVING_H
#define COLL_ALGOS_RECURSIVE_HALVING_H

#include "kit/derived.h"
#include "kit/folded_exchange.h"

COLL_TABLE(coll_param, coll_i_halving_params, {
    COLL_PARAM("k", "radix: a round is among k ranks", 2, 65536, 2, {2, 3, 9, 2})});

/* ---- a round of halving: of all algorithms that halve ------------------------------------ */

/* A round, and where its data lie: element i of the vector at from + i, its sum at to + i. */
typedef struct coll_i_halving {
    coll_exchange x;
    uint32_t first, span; /* place j keeps `span` pieces from first + j·span on */
    coll_ref from, to, slots;
} coll_i_halving;

/* What `span` pieces from `first` on are: of a reduce_scatter the blocks of core numbers, else
 * equal pieces of the vector. */
COLL_HOT_INLINE coll_block coll_i_pieces(const coll_plan *plan, uint32_t first, uint32_t span)
{
    coll_block run;
    if (coll_is(COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                plan->problem.collective))
        return coll_i_core_run(plan, &plan->problem.in, first, span);
    run.offset = coll_part_offset(plan->pieces, first);
    run.count = coll_part_offset(plan->pieces, first + span) - run.offset;
    return run;
}

/* What a place of the group keeps. */
COLL_HOT_INLINE coll_block coll_i_halving_part(const coll_plan *plan, const coll_i_halving *h,
                                               uint32_t place)
{
    return coll_i_pieces(plan, h->first + place * h->span, h->span);
}

COLL_HOT_INLINE unsigned coll_i_halving_turn(const coll_plan *plan, coll_i_partners partners,
                                             const coll_i_halving *h, uint32_t turn,
                                             coll_action *out)
{
    const coll_block keep = coll_i_halving_part(plan, h, h->x.digit);
    coll_i_operands of;
    of.own = h->from + keep.offset;
    of.sum = h->to + keep.offset;
    of.slots = h->slots;
    of.count = keep.count;
    if (turn + 1 == h->x.radix)
        return coll_i_combine_operands(&h->x, &of, out);
    {
        const uint32_t to = coll_i_turn_to(&h->x, turn);
        const coll_block give = coll_i_halving_part(plan, h, to);
        coll_act_send(&out[0], coll_i_exchange_peer(plan, partners, &h->x, to),
                      h->from + give.offset, give.count);
    }
    coll_i_take_operand(plan, partners, &h->x, coll_i_turn_from(&h->x, turn), &of, &out[1]);
    return 2;
}

/* Elements of SCRATCH for the slots of a round. */
COLL_INLINE size_t coll_i_halving_slots(const coll_plan *plan, const coll_i_halving *h)
{
    const bool staged = h->x.radix > 2 || h->from == h->to;
    return staged ? (h->x.radix - 1) * coll_i_halving_part(plan, h, h->x.digit).count : 0;
}

/* Step s of the rounds from the last to the first; after the first, round is their number. */
COLL_HOT_INLINE coll_i_turn coll_i_turn_down(const coll_plan *plan, const coll_fast_divisor *k,
                                             bool combines, size_t s)
{
    const uint32_t rounds = plan->fold.rounds;
    coll_i_turn at;
    at.turn = COLL_I_IS_TWO(k) ? 0 : (uint32_t)s;
    at.round = rounds;
    if (COLL_I_IS_TWO(k)) {
        at.round = s < rounds ? rounds - 1 - (uint32_t)s : rounds;
        return at;
    }
    for (uint32_t t = rounds; t-- > 0;) {
        const uint32_t steps =
            coll_i_round_steps(t + 1 == rounds ? plan->fold.top : k->by, combines);
        if (at.turn < steps) {
            at.round = t;
            break;
        }
        at.turn -= steps;
    }
    return at;
}

/* ---- reduce_scatter ---------------------------------------------------------------------- */

/* Does the last round bring the result to its place? Not where there is another's result too,
 * nor where its operand lies there. */
COLL_HOT_INLINE bool coll_i_recursive_halving_direct(const coll_plan *plan,
                                                     const coll_i_folded *me)
{
    return !me->proxy && !(plan->fold.rounds == 1 && coll_in_place(plan));
}

/* What the rank's sums may be of: all it keeps in its first round, or everything. */
COLL_HOT_INLINE coll_block coll_i_recursive_halving_kept(const coll_plan *plan,
                                                         const coll_i_folded *me)
{
    const coll_fold *fold = &plan->fold;
    coll_exchange x;
    if (me->proxy)
        return coll_i_core_run(plan, &plan->problem.in, 0, fold->core);
    x = coll_exchange_of(fold, &plan->radix, me->number, fold->rounds - 1);
    return coll_i_core_run(plan, &plan->problem.in, x.digit * x.stride, x.stride);
}

COLL_HOT_INLINE coll_i_halving coll_i_recursive_halving_of(const coll_plan *plan, uint32_t rank,
                                                           const coll_i_folded *me, uint32_t t)
{
    const coll_block kept = coll_i_recursive_halving_kept(plan, me);
    const coll_ref sums = COLL_AT(COLL_SCRATCH, 0) - kept.offset;
    const bool direct = coll_i_recursive_halving_direct(plan, me);
    coll_i_halving h;
    h.x = coll_exchange_of(&plan->fold, &plan->radix, me->number, t);
    h.span = h.x.stride;
    h.first = h.x.first - h.x.below;
    h.from = t + 1 == plan->fold.rounds && !me->proxy ? coll_input(plan) : sums;
    h.to = t == 0 && direct ? COLL_AT(COLL_OUT, 0) - coll_in_block(plan, rank).offset : sums;
    h.slots = COLL_AT(COLL_SCRATCH, plan->fold.rounds == 1 && direct ? 0 : kept.count);
    return h;
}

COLL_INLINE size_t coll_i_recursive_halving_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return me.extra
               ? 2
               : coll_i_rounds_steps(plan, &plan->radix, true) + (me.proxy ? (size_t)1 : 0) +
                     (coll_i_recursive_halving_direct(plan, &me) ? 0 : 1);
}

COLL_INLINE unsigned coll_i_recursive_halving_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    const coll_ref input = coll_input(plan), result = COLL_AT(COLL_OUT, 0);
    const coll_block own = coll_in_block(plan, rank);
    const coll_block all = coll_i_core_run(plan, &plan->problem.in, 0, plan->fold.core);
    const coll_ref sums = COLL_AT(COLL_SCRATCH, 0);
    coll_i_turn at;
    unsigned n = 0;
    if (me.extra) {
        if (s == 0)
            coll_act_send(out, rank + 1, input, all.count);
        else
            coll_act_recv(out, rank + 1, result, own.count);
        return 1;
    }
    if (me.proxy && s == 0) {
        coll_act_recv_reduce(out, rank - 1, sums, input, sums, all.count);
        out->flags = COLL_LEFT;
        return 1;
    }
    at = coll_i_turn_down(plan, &plan->radix, true, s - (me.proxy ? 1 : 0));
    if (at.round < plan->fold.rounds) {
        const coll_i_halving h = coll_i_recursive_halving_of(plan, rank, &me, at.round);
        return coll_i_halving_turn(plan, COLL_I_DIGITS, &h, at.turn, out);
    }
    if (me.proxy) {
        const coll_block theirs = coll_in_block(plan, rank - 1);
        coll_act_send(&out[n++], rank - 1, sums + theirs.offset, theirs.count);
        coll_act_copy(&out[n++], result, sums + own.offset, own.count);
    } else {
        coll_act_copy(&out[n++], result, plan->problem.p == 1 ? input : sums, own.count);
    }
    return n;
}

COLL_INLINE size_t coll_i_recursive_halving_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    size_t slots = 0, sums = 0;
    if (me.extra)
        return 0;
    for (uint32_t t = plan->fold.rounds; t-- > 0;) {
        const coll_i_halving h = coll_i_recursive_halving_of(plan, rank, &me, t);
        const size_t more = coll_i_halving_slots(plan, &h);
        slots = more > slots ? more : slots;
        sums = coll_ref_offset(h.slots);
    }
    return sums + slots;
}

COLL_ALGORITHM(coll_recursive_halving_reduce_scatter, "recursive_halving",
    "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_PACKED | COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_halving_params, coll_i_prepare_radix_fold),
    coll_i_recursive_halving_steps, coll_i_recursive_halving_step,
    coll_i_recursive_halving_scratch);

#endif /* COLL_ALGOS_RECURSIVE_HALVING_H */
