/* coll/algos/rabenseifner.h — allreduce: halve the vector, then gather the pieces
 *
 * The rounds of butterfly.h on the vector, cut into a piece for each rank of the core: ever shorter
 * parts are exchanged with ever farther partners, and each rank ends with one piece reduced over
 * all. The same rounds backwards bring the pieces together again, to all members of a group
 * (rabenseifner_reduce.h: to the one in the root's subtree alone). Each half moves
 * count·(core−1)/core elements per rank, as few as can be. Any count; where it is below the number
 * of pieces, some are empty. Operands stay in rank order.
 *
 *   k = 2, p = 5, pieces 0 … 3, that a rank has after each round:
 *       rank        0    1    2    3    4
 *       number           0    1    2    3
 *       folded          0–3  0–3  0–3  0–3     0 → 1
 *       halved 0        0–1  2–3  0–1  2–3     1 ↔ 2, 3 ↔ 4
 *       halved 1         0    2    1    3      1 ↔ 3, 2 ↔ 4
 *       gathered 1      0–1  2–3  0–1  2–3     3 ↔ 1, 4 ↔ 2
 *       gathered 0      0–3  0–3  0–3  0–3     1 ↔ 2, 3 ↔ 4
 *       unfolded   0–3  0–3  0–3  0–3  0–3     1 → 0
 *
 * Bits: every piece is reduced by one rank, all pieces in the same order, which depends on p and
 * k alone, and is that of recursive_multiplying.h. So all ranks get the same bits, and the same
 * as from that.
 *
 * Laws (tests/algos/rabenseifner.c)
 *   (1) after halving the pieces of the core's ranks tile the vector
 *   (2) from whom a rank gave a part to in round t of halving, it gets that part back in round t
 *       of gathering, complete
 * Cost    R = (k−1)m + c−1: 2R messages per rank of the core, and one more of `count` of a proxy;
 *         an extra rank sends `count`. Rounds if messages go one by one: 2R, and two more off
 *         c·k^m. Elements: halving sends all but the own piece of count/core, gathering as much.
 *         scratch: for the longest round a slot of the part that it keeps for each other member of
 *         its group (at least `count` to fold in place; none for a round of two whose operands are
 *         in IN and whose sum is not); and without OUT, what it keeps in round 0, or `count` where
 *         another is folded into it
 * Source  Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1; Thakur, Rabenseifner, Gropp 2005,
 *         §4.5, doi:10.1177/1094342005051521
 */
#ifndef COLL_ALGOS_RABENSEIFNER_H
#define COLL_ALGOS_RABENSEIFNER_H

#include "kit/derived.h"
#include "butterfly.h"

/* A rank's part, and where its data lie: element i at input + i, its sum at sums + i. */
typedef struct coll_i_rabenseifner {
    coll_i_folded me;
    coll_ref input, sums, slots;
} coll_i_rabenseifner;

/* `has_out`: OUT is the rank's. */
COLL_HOT_INLINE coll_i_rabenseifner coll_i_rabenseifner_of(const coll_plan *plan,
                                                           coll_i_partners partners,
                                                           uint32_t rank, bool has_out)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    coll_i_rabenseifner part;
    part.me.number = me.number; /* by field: on bare metal, some compilers call memcpy */
    part.me.extra = me.extra;
    part.me.proxy = me.proxy;
    part.input = has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0);
    part.sums = COLL_AT(COLL_OUT, 0);
    part.slots = COLL_AT(COLL_SCRATCH, 0);
    if (!has_out) {
        const coll_block kept = coll_i_butterfly_kept(plan, partners, &me);
        part.sums = COLL_AT(COLL_SCRATCH, 0) - kept.offset;
        part.slots += kept.count;
    }
    return part;
}

COLL_HOT_INLINE coll_i_halving coll_i_rabenseifner_round(const coll_plan *plan,
                                                         coll_i_partners partners,
                                                         const coll_i_rabenseifner *part,
                                                         uint32_t t)
{
    coll_i_halving h = coll_i_butterfly_round(plan, partners, part->me.number, t);
    h.from = t == 0 && !part->me.proxy ? part->input : part->sums;
    h.to = part->sums;
    h.slots = part->slots;
    return h;
}

/* Steps of the first half of a rank that is not extra. */
COLL_HOT_INLINE size_t coll_i_rabenseifner_halves(const coll_plan *plan,
                                                  coll_i_partners partners,
                                                  const coll_i_rabenseifner *part)
{
    return coll_i_rounds_steps(plan, coll_i_partners_radix(plan, partners), true) +
           (part->me.proxy ? (size_t)1 : 0);
}

/* Step s of the first half, or the only one of an extra rank. */
COLL_HOT_INLINE unsigned coll_i_rabenseifner_halve(const coll_plan *plan,
                                                   coll_i_partners partners, uint32_t rank,
                                                   const coll_i_rabenseifner *part, size_t s,
                                                   coll_action *out)
{
    const size_t count = plan->problem.count;
    if (part->me.extra) {
        coll_act_send(out, rank + 1, part->input, count);
        return 1;
    }
    if (part->me.proxy && s == 0) {
        coll_act_recv_reduce(out, rank - 1, part->sums, part->input,
                             part->sums == part->input ? part->slots : part->sums, count);
        out->flags = COLL_LEFT;
        return 1;
    }
    {
        const coll_i_turn at = coll_i_turn_up(plan, coll_i_partners_radix(plan, partners), true,
                                              s - (part->me.proxy ? 1 : 0));
        const coll_i_halving h = coll_i_rabenseifner_round(plan, partners, part, at.round);
        return coll_i_halving_turn(plan, partners, &h, at.turn, out);
    }
}

/* Elements of SCRATCH. */
COLL_INLINE size_t coll_i_rabenseifner_needs(const coll_plan *plan, coll_i_partners partners,
                                             const coll_i_rabenseifner *part)
{
    const size_t sums = coll_ref_offset(part->slots);
    size_t slots = part->me.proxy && part->sums == part->input ? plan->problem.count : 0;
    if (part->me.extra)
        return 0;
    for (uint32_t t = 0; t < plan->fold.rounds; t++) {
        const coll_i_halving h = coll_i_rabenseifner_round(plan, partners, part, t);
        const size_t more = coll_i_halving_slots(plan, &h);
        slots = more > slots ? more : slots;
    }
    return sums + slots;
}

COLL_INLINE size_t coll_i_halved_allreduce_steps(const coll_plan *plan,
                                                 coll_i_partners partners, uint32_t rank)
{
    const coll_i_rabenseifner part = coll_i_rabenseifner_of(plan, partners, rank, true);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return part.me.extra
               ? 2
               : coll_i_rabenseifner_halves(plan, partners, &part) +
                     coll_i_rounds_steps(plan, coll_i_partners_radix(plan, partners), false) +
                     (part.me.proxy ? 1 : 0);
}

COLL_INLINE unsigned coll_i_halved_allreduce_step(const coll_plan *plan,
                                                  coll_i_partners partners, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const coll_i_rabenseifner part = coll_i_rabenseifner_of(plan, partners, rank, true);
    const size_t halves = part.me.extra ? 1 : coll_i_rabenseifner_halves(plan, partners, &part);
    coll_i_turn at;
    if (s < halves)
        return coll_i_rabenseifner_halve(plan, partners, rank, &part, s, out);
    at = coll_i_turn_down(plan, coll_i_partners_radix(plan, partners), false, s - halves);
    if (part.me.extra) {
        coll_act_recv(out, rank + 1, part.sums, plan->problem.count);
    } else if (plan->problem.p == 1) {
        coll_act_copy(out, part.sums, part.input, plan->problem.count);
    } else if (at.round == plan->fold.rounds) {
        coll_act_send(out, rank - 1, part.sums, plan->problem.count);
    } else {
        const coll_i_halving h =
            coll_i_butterfly_round(plan, partners, part.me.number, at.round);
        const uint32_t to = coll_i_turn_to(&h.x, at.turn);
        const uint32_t from = coll_i_turn_from(&h.x, at.turn);
        const coll_block mine = coll_i_halving_part(plan, &h, h.x.digit);
        const coll_block theirs = coll_i_halving_part(plan, &h, from);
        coll_act_send(&out[0], coll_i_exchange_peer(plan, partners, &h.x, to),
                      part.sums + mine.offset, mine.count);
        coll_act_recv(&out[1], coll_i_exchange_peer(plan, partners, &h.x, from),
                      part.sums + theirs.offset, theirs.count);
        return 2;
    }
    return 1;
}

COLL_INLINE size_t coll_i_halved_allreduce_scratch(const coll_plan *plan,
                                                   coll_i_partners partners, uint32_t rank)
{
    const coll_i_rabenseifner part = coll_i_rabenseifner_of(plan, partners, rank, true);
    return coll_i_rabenseifner_needs(plan, partners, &part);
}

COLL_INLINE size_t coll_i_rabenseifner_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_steps(plan, COLL_I_DIGITS, rank);
}

COLL_INLINE unsigned coll_i_rabenseifner_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                        size_t s, coll_action *out)
{
    return coll_i_halved_allreduce_step(plan, COLL_I_DIGITS, rank, s, out);
}

COLL_INLINE size_t coll_i_rabenseifner_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_scratch(plan, COLL_I_DIGITS, rank);
}

COLL_ALGORITHM(coll_rabenseifner_allreduce, "rabenseifner",
    "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_halving_params, coll_i_prepare_radix_pieces),
    coll_i_rabenseifner_allreduce_steps, coll_i_rabenseifner_allreduce_step,
    coll_i_rabenseifner_allreduce_scratch);

#endif /* COLL_ALGOS_RABENSEIFNER_H */
