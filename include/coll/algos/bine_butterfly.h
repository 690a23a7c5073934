/* coll/algos/bine_butterfly.h — reduce_scatter(_block), allreduce: the Bine butterfly
 *
 * All ranks at once grow the runs of a Bine tree. In round t even ranks meet the rank ρ(t) = 1 − 2
 * + 4 − … ± 2^t above theirs, odd ones the rank ρ(t) below, like in swing.h; but here the distance
 * grows with what they have. What a rank has is a run of blocks around the ring, and what it gets
 * lies at one end of it: after it, before it, and so on. So blocks stay in rank order, nothing
 * needs to be brought home, and p need not be a power of two, only even: the last round takes no
 * more than is missing. Where a run passes the last rank, it is two messages. If p is odd, rank
 * p−1 hands its data to the one before, which stands for both, and is handed the result.
 *
 *   p = 6, allgather: blocks that a rank has
 *       rank      0      1      2      3      4      5
 *       round 0  0–1    0–1    2–3    2–3    4–5    4–5      0 ↔ 1, 2 ↔ 3, 4 ↔ 5
 *       round 1  4–1    0–3    0–3    2–5    2–5    4–1      0 ↔ 5, 2 ↔ 1, 4 ↔ 3
 *       round 2  all    all    all    all    all    all      0 ↔ 3, 2 ↔ 5, 4 ↔ 1: 2 blocks each way
 *
 * A reduce_scatter is this backwards: a rank sends the sums so far of what it got in a round, and
 * takes those of what it gave. An allreduce is both, on the vector cut into parts. Where rounds are
 * long and links shared, swing.h has the longest messages nearest.
 *
 * Bits: a block is reduced by one rank, so all ranks of an allreduce get the same.
 *
 * Laws (tests/algos/bine_butterfly.c)
 *   (1) partners in a round are partners of each other; what one gives is what the other takes
 *   (2) before round t a rank has a run of 2^t blocks, its own inside; what it takes is next to
 *       that, what it gives is at that end
 *   (3) halving is gathering backwards, with the messages the other way round
 *   (4) elements · ranks crossed: in an allgather, p = 2^m > 2, less than in recursive doubling
 * Cost    q = p, or p−1 if p is odd; m = ⌈log2 q⌉ rounds, for odd p one more, or two if rank q−1 is
 *         where m rounds lead from it; an allreduce 2m, for odd p 2m + 2. Per rank a message a
 *         round, two where the run passes rank q−1; q−1 blocks in all, or count·(q−1)/q in each
 *         half of an allreduce, where of odd p two blocks or parts are as one. Besides, for odd p:
 *         rank p−1 sends its data, rank p−2 the result to it. scratch: allreduce, the longest part
 *         taken up in a round, without OUT = IN but in the first (in place rank p−2 of odd p:
 *         count); reduce_scatter the run left after its first round, and the longest part of a
 *         round between first and last (rank p−2 of odd p: all blocks, and the longest part of any
 *         round); none for m = 1, unless in place
 * Source  De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler 2025,
 *         doi:10.1145/3712285.3759835
 */
#ifndef COLL_ALGOS_BINE_BUTTERFLY_H
#define COLL_ALGOS_BINE_BUTTERFLY_H

#include "kit/bine_rounds.h"

/* Where a rank's data lie. */
typedef struct coll_i_bine_sums {
    coll_ref input, sums; /* of an allreduce, OUT; of a reduce_scatter, SCRATCH, from … */
    uint32_t first;       /* … this rank's block on, */
    uint32_t ranks;       /* this many: what is left after the first round, or all */
    coll_ref staging;
    bool scatters; /* a reduce_scatter */
    bool direct;   /* … whose last round has its sum in OUT */
    bool copies;   /* there are operands that the first round does not bring to their sums */
} coll_i_bine_sums;

COLL_HOT_INLINE coll_i_bine_sums coll_i_bine_sums_of(const coll_plan *plan,
                                                     const coll_i_bine_member *me,
                                                     uint32_t rank)
{
    const coll_i_bine_round x = coll_i_bine_round_of(me, rank, me->rounds - 1);
    coll_i_bine_sums of;
    of.scatters = plan->problem.collective != COLL_ALLREDUCE;
    of.input = coll_input(plan);
    of.sums = of.scatters ? COLL_AT(COLL_SCRATCH, 0) : COLL_AT(COLL_OUT, 0);
    of.first = me->proxy || !of.scatters ? 0 : ((rank ^ me->rounds) & 1u ? x.rest : x.give);
    of.ranks = me->proxy || !of.scatters ? me->size : x.ranks + x.rests;
    of.direct = of.scatters && !me->proxy && !(me->rounds == 1 && coll_in_place(plan));
    of.copies = x.rests > 0 && !me->proxy && of.sums != of.input;
    of.staging = COLL_AT(COLL_SCRATCH, 0);
    if (of.scatters)
        of.staging += coll_i_bine_elements(plan, me, of.first, of.ranks);
    return of;
}

/* Where the sum of an element is. The run is in one piece in SCRATCH. */
COLL_HOT_INLINE coll_ref coll_i_bine_sum_at(const coll_plan *plan, const coll_i_bine_member *me,
                                            const coll_i_bine_sums *of, size_t offset)
{
    const size_t begin = of->scatters ? coll_i_bine_at(plan, me, of->first) : 0;
    return of->sums +
           (offset >= begin ? offset - begin : offset + (coll_i_bine_all(plan, me) - begin));
}

/* Round t: the messages of gathering, the other way round. */
COLL_HOT_INLINE unsigned coll_i_bine_halve(const coll_plan *plan, const coll_i_bine_member *me,
                                           const coll_i_bine_sums *of, uint32_t rank,
                                           uint32_t t, coll_action *out)
{
    const coll_i_bine_round x = coll_i_bine_round_of(me, rank, t);
    const bool first = t + 1 == me->rounds && !me->proxy;
    coll_ref staging = of->staging;
    unsigned n = 0;
    for (unsigned i = 0; i < 2; i++) {
        const coll_block part = coll_i_bine_piece(plan, me, x.take, x.ranks, i);
        if (part.count > 0)
            coll_act_send(&out[n++], x.partner,
                          first ? of->input + part.offset
                                : coll_i_bine_sum_at(plan, me, of, part.offset),
                          part.count);
    }
    for (unsigned i = 0; i < 2; i++) {
        const coll_block part = coll_i_bine_piece(plan, me, x.give, x.ranks, i);
        const coll_ref sum = coll_i_bine_sum_at(plan, me, of, part.offset);
        const coll_ref src = first ? of->input + part.offset : sum;
        const coll_ref dst = t == 0 && of->direct ? COLL_AT(COLL_OUT, 0) : sum;
        if (part.count == 0)
            continue;
        coll_act_recv_reduce(&out[n++], x.partner, dst, src, dst == src ? staging : dst,
                             part.count);
        staging += part.count;
    }
    return n;
}

/* Brings the operands that the first round does not take to their sums. */
COLL_HOT_INLINE unsigned coll_i_bine_keep(const coll_plan *plan, const coll_i_bine_member *me,
                                          const coll_i_bine_sums *of, uint32_t rank,
                                          coll_action *out)
{
    const coll_i_bine_round x = coll_i_bine_round_of(me, rank, me->rounds - 1);
    unsigned n = 0;
    for (unsigned i = 0; i < 2; i++) {
        const coll_block part = coll_i_bine_piece(plan, me, x.rest, x.rests, i);
        if (part.count > 0)
            coll_act_copy(&out[n++], coll_i_bine_sum_at(plan, me, of, part.offset),
                          of->input + part.offset, part.count);
    }
    return n;
}

/* Steps: what comes before the rounds, the rounds of halving, those of gathering, what follows. */
COLL_INLINE size_t coll_i_bine_halving_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_bine_member me = coll_i_bine_member_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    if (me.extra)
        return 2;
    {
        const coll_i_bine_sums of = coll_i_bine_sums_of(plan, &me, rank);
        return (me.proxy || of.copies ? 1 : 0) + (of.scatters ? 1 : 2) * (size_t)me.rounds +
               (me.proxy || (of.scatters && !of.direct) ? 1 : 0);
    }
}

COLL_INLINE unsigned coll_i_bine_halving_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const coll_i_bine_member me = coll_i_bine_member_of(plan, rank);
    const coll_ref result = COLL_AT(COLL_OUT, 0);
    const size_t all = coll_i_bine_all(plan, &me);
    unsigned n = 0;
    if (plan->problem.p == 1) {
        coll_act_copy(out, result, coll_input(plan), all);
        return 1;
    }
    if (me.extra) {
        if (s == 0)
            coll_act_send(out, rank - 1, coll_input(plan), all);
        else
            coll_act_recv(out, rank - 1, result,
                          plan->problem.collective == COLL_ALLREDUCE
                              ? all
                              : coll_in_block(plan, rank).count);
        return 1;
    }
    {
        const coll_i_bine_sums of = coll_i_bine_sums_of(plan, &me, rank);
        const uint32_t t = (uint32_t)s - (me.proxy || of.copies ? 1 : 0);
        if (me.proxy && s == 0) {
            coll_act_recv_reduce(out, rank + 1, of.sums, of.input,
                                 of.sums == of.input ? of.staging : of.sums, all);
            return 1;
        }
        if (of.copies && s == 0)
            return coll_i_bine_keep(plan, &me, &of, rank, out);
        if (t < me.rounds)
            return coll_i_bine_halve(plan, &me, &of, rank, me.rounds - 1 - t, out);
        if (!of.scatters && t < 2 * me.rounds)
            return coll_i_bine_gather(plan, &me, rank, t - me.rounds, result, out);
        if (!of.scatters) {
            coll_act_send(&out[n++], rank + 1, result, all);
            return n;
        }
        if (me.proxy) {
            const coll_block theirs = coll_in_block(plan, rank + 1);
            coll_act_send(&out[n++], rank + 1,
                          coll_i_bine_sum_at(plan, &me, &of, theirs.offset), theirs.count);
        }
        {
            const coll_block own = coll_in_block(plan, rank);
            coll_act_copy(&out[n++], result, coll_i_bine_sum_at(plan, &me, &of, own.offset),
                          own.count);
        }
    }
    return n;
}

COLL_INLINE size_t coll_i_bine_halving_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_bine_member me = coll_i_bine_member_of(plan, rank);
    size_t staged = 0;
    if (plan->problem.p == 1 || me.extra)
        return 0;
    {
        const coll_i_bine_sums of = coll_i_bine_sums_of(plan, &me, rank);
        if (me.proxy && of.sums == of.input)
            staged = coll_i_bine_all(plan, &me);
        for (uint32_t t = 0; t < me.rounds; t++) {
            const coll_i_bine_round x = coll_i_bine_round_of(&me, rank, t);
            const size_t part = coll_i_bine_elements(plan, &me, x.give, x.ranks);
            if (part > staged && !(t == 0 && of.direct) &&
                (t + 1 < me.rounds || me.proxy || of.sums == of.input))
                staged = part;
        }
        return me.rounds == 1 && of.direct ? 0 : coll_ref_offset(of.staging) + staged;
    }
}

COLL_ALGORITHM(coll_bine_reduce_scatter, "bine", "De Sensi et al. 2025",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_bine_halving_steps, coll_i_bine_halving_step, coll_i_bine_halving_scratch);

COLL_ALGORITHM(coll_bine_allreduce, "bine", "De Sensi et al. 2025",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_bine_halving_steps, coll_i_bine_halving_step, coll_i_bine_halving_scratch);

#endif /* COLL_ALGOS_BINE_BUTTERFLY_H */
