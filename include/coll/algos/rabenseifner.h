/* coll/algos/rabenseifner.h — allreduce, reduce: halve the vector, then gather the pieces
 *
 * The rounds of butterfly.h on the vector, cut into a piece for each rank of the core: ever
 * shorter parts are exchanged with ever farther partners, and each rank ends with one piece
 * reduced over all. The same rounds backwards bring the pieces together again: to all members
 * of a group (allreduce), or to the one in the root's subtree alone (reduce). Each half moves
 * count·(core−1)/core elements per rank, as few as can be. Any count; where it is below the
 * number of pieces, some are empty. Operands stay in rank order.
 *
 *   k = 2, p = 5, pieces 0 … 3, that a rank has after each round:
 *       rank        0    1    2    3    4
 *       number           0    1    2    3
 *       folded          0–3  0–3  0–3  0–3     0 → 1
 *       halved 0        0–1  2–3  0–1  2–3     1 ↔ 2, 3 ↔ 4
 *       halved 1         0    2    1    3      1 ↔ 3, 2 ↔ 4
 *       gathered 1      0–1  2–3  0–1  2–3     reduce to rank 2:        3 → 1, 4 → 2
 *       gathered 0      0–3  0–3  0–3  0–3                              1 → 2
 *       unfolded   0–3  0–3  0–3  0–3  0–3     1 → 0
 *
 * A root that would be idle changes places with its neighbour.
 *
 * Bits: every piece is reduced by one rank, all pieces in the same order, which depends on p and
 * k alone, and is that of recursive_multiplying.h. So all ranks get the same bits, and the same
 * as from that.
 *
 * Laws (tests/algos/rabenseifner.c)
 *   (1) after halving the pieces of the core's ranks tile the vector
 *   (2) from whom a rank gave a part to in round t of halving, it gets that part back in round t
 *       of gathering, complete
 *   (3) in a reduce, a rank of the core sends once after halving, last of all; the root does not
 * Cost    R = (k−1)m + c−1. allreduce: 2R messages per rank of the core, and one more of `count`
 *         where another is folded into it; reduce: R+1, the root R; an idle rank sends `count`.
 *         Rounds if messages go one by one: 2R, and two more off c·k^m; a reduce: at most R, one
 *         for each of the rounds again, and one off c·k^m. Elements: halving sends all but the own
 *         piece of count/core; the gathering of an allreduce as much, that of a reduce what the
 *         rank has. scratch: for the longest round a slot of the part that it keeps for each other
 *         member of its group (at least `count` to fold in place; none for a round of two whose
 *         operands are in IN and whose sum is not); and without OUT, what it keeps in round 0, or
 *         `count` where another is folded into it
 * Source  Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1; Thakur, Rabenseifner, Gropp 2005,
 *         §4.5, doi:10.1177/1094342005051521
 */
#ifndef COLL_ALGOS_RABENSEIFNER_H
#define COLL_ALGOS_RABENSEIFNER_H

#include "butterfly.h"

/* A rank's part, and where its data lie: element i at input + i, its sum at sums + i. */
typedef struct coll_i_rabenseifner {
    coll_i_member me;
    coll_ref input, sums, slots;
} coll_i_rabenseifner;

/* `has_out`: OUT is the rank's. */
COLL_HOT_INLINE coll_i_rabenseifner coll_i_rabenseifner_of(const coll_plan *plan,
                                                           coll_i_partners partners,
                                                           uint32_t rank, bool has_out)
{
    const coll_i_member me = coll_i_member_of(plan, rank);
    coll_i_rabenseifner part;
    part.me.number = me.number; /* by field: on bare metal, some compilers call memcpy */
    part.me.idle = me.idle;
    part.me.folded = me.folded;
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
    h.from = t == 0 && !part->me.folded ? part->input : part->sums;
    h.to = part->sums;
    h.slots = part->slots;
    return h;
}

/* Steps of the first half of a rank that is not idle. */
COLL_HOT_INLINE size_t coll_i_rabenseifner_halves(const coll_plan *plan,
                                                  coll_i_partners partners,
                                                  const coll_i_rabenseifner *part)
{
    return coll_i_rounds_steps(plan, coll_i_partners_radix(plan, partners), true) +
           (part->me.folded ? (size_t)1 : 0);
}

/* Step s of the first half, or the only one of an idle rank. */
COLL_HOT_INLINE unsigned coll_i_rabenseifner_halve(const coll_plan *plan,
                                                   coll_i_partners partners, uint32_t rank,
                                                   const coll_i_rabenseifner *part, size_t s,
                                                   coll_action *out)
{
    const size_t count = plan->problem.count;
    if (part->me.idle) {
        coll_act_send(out, rank + 1, part->input, count);
        return 1;
    }
    if (part->me.folded && s == 0) {
        coll_act_recv_reduce(out, rank - 1, part->sums, part->input,
                             part->sums == part->input ? part->slots : part->sums, count);
        out->flags = COLL_LEFT;
        return 1;
    }
    {
        const coll_i_turn at = coll_i_turn_up(plan, coll_i_partners_radix(plan, partners), true,
                                              s - (part->me.folded ? 1 : 0));
        const coll_i_halving h = coll_i_rabenseifner_round(plan, partners, part, at.round);
        return coll_i_halving_turn(plan, &h, at.turn, out);
    }
}

/* Elements of SCRATCH. */
COLL_INLINE size_t coll_i_rabenseifner_needs(const coll_plan *plan, coll_i_partners partners,
                                             const coll_i_rabenseifner *part)
{
    const size_t sums = coll_ref_offset(part->slots);
    size_t slots = part->me.folded && part->sums == part->input ? plan->problem.count : 0;
    if (part->me.idle)
        return 0;
    for (uint32_t t = 0; t < plan->fold.rounds; t++) {
        const coll_i_halving h = coll_i_rabenseifner_round(plan, partners, part, t);
        const size_t more = coll_i_halving_slots(plan, &h);
        slots = more > slots ? more : slots;
    }
    return sums + slots;
}

/* ---- allreduce --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_halved_allreduce_steps(const coll_plan *plan,
                                                 coll_i_partners partners, uint32_t rank)
{
    const coll_i_rabenseifner part = coll_i_rabenseifner_of(plan, partners, rank, true);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return part.me.idle
               ? 2
               : coll_i_rabenseifner_halves(plan, partners, &part) +
                     coll_i_rounds_steps(plan, coll_i_partners_radix(plan, partners), false) +
                     (part.me.folded ? 1 : 0);
}

COLL_INLINE unsigned coll_i_halved_allreduce_step(const coll_plan *plan,
                                                  coll_i_partners partners, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const coll_i_rabenseifner part = coll_i_rabenseifner_of(plan, partners, rank, true);
    const size_t halves = part.me.idle ? 1 : coll_i_rabenseifner_halves(plan, partners, &part);
    coll_i_turn at;
    if (s < halves)
        return coll_i_rabenseifner_halve(plan, partners, rank, &part, s, out);
    at = coll_i_turn_down(plan, coll_i_partners_radix(plan, partners), false, s - halves);
    if (part.me.idle) {
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
        coll_act_send(&out[0], coll_i_place_rank(plan, &h.x, to), part.sums + mine.offset,
                      mine.count);
        coll_act_recv(&out[1], coll_i_place_rank(plan, &h.x, from), part.sums + theirs.offset,
                      theirs.count);
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
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_halving_params),
    coll_i_rabenseifner_allreduce_steps, coll_i_rabenseifner_allreduce_step,
    coll_i_rabenseifner_allreduce_scratch);

/* ---- reduce ------------------------------------------------------------------------------ */

/* A rank by its role: the root and its neighbour change places if it would be idle. */
COLL_HOT_INLINE uint32_t coll_i_rabenseifner_role(const coll_plan *plan, uint32_t rank)
{
    const uint32_t root = plan->problem.root;
    return (rank | 1u) == (root | 1u) && coll_fold_idle(&plan->fold, root) ? rank ^ 1u : rank;
}

/* Rounds from which on two numbers have the same digits. */
COLL_HOT_INLINE uint32_t coll_i_rabenseifner_apart(const coll_plan *plan, uint32_t a,
                                                   uint32_t b)
{
    uint32_t t = 0;
    if (plan->radix.by == 2)
        return a == b ? 0 : COLL_HIGHEST_BIT(a ^ b) + 1;
    for (; a != b; t++) {
        a = coll_divide(a, &plan->radix);
        b = coll_divide(b, &plan->radix);
    }
    return t;
}

/* What a rank of the core gathers: the parts of the rounds from `until` on. In round until − 1,
 * if there is one, it sends all that to the member of the group that agrees with the root. */
typedef struct coll_i_rabenseifner_climb {
    uint32_t top; /* the root's number */
    uint32_t until;
} coll_i_rabenseifner_climb;

COLL_HOT_INLINE coll_i_rabenseifner_climb coll_i_rabenseifner_climb_of(const coll_plan *plan,
                                                                       uint32_t number)
{
    coll_i_rabenseifner_climb climb;
    climb.top =
        coll_fold_number(&plan->fold, coll_i_rabenseifner_role(plan, plan->problem.root));
    climb.until = coll_i_rabenseifner_apart(plan, number, climb.top);
    return climb;
}

COLL_INLINE size_t coll_i_rabenseifner_reduce_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t role = coll_i_rabenseifner_role(plan, rank), rounds = plan->fold.rounds;
    const coll_i_rabenseifner part =
        coll_i_rabenseifner_of(plan, COLL_I_DIGITS, role, rank == plan->problem.root);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    if (part.me.idle)
        return 1;
    {
        const uint32_t until = coll_i_rabenseifner_climb_of(plan, part.me.number).until;
        const uint32_t gathers =
            until == rounds ? 0
                            : (rounds - 1 - until) * (plan->radix.by - 1) + plan->fold.top - 1;
        return coll_i_rabenseifner_halves(plan, COLL_I_DIGITS, &part) + gathers +
               (until > 0 ? 1 : 0);
    }
}

COLL_HOT_INLINE unsigned coll_i_rabenseifner_gather(const coll_plan *plan,
                                                    const coll_i_rabenseifner *part, size_t s,
                                                    coll_action *out)
{
    const coll_i_rabenseifner_climb climb = coll_i_rabenseifner_climb_of(plan, part->me.number);
    const coll_i_turn at = coll_i_turn_down(plan, &plan->radix, false, s);
    const coll_i_halving h =
        coll_i_butterfly_round(plan, COLL_I_DIGITS, part->me.number, at.round);
    if (at.round >= climb.until) {
        const uint32_t from = coll_i_turn_from(&h.x, at.turn);
        const coll_block theirs = coll_i_halving_part(plan, &h, from);
        coll_act_recv(out, coll_i_place_rank(plan, &h.x, from), part->sums + theirs.offset,
                      theirs.count);
    } else {
        const coll_exchange top =
            coll_exchange_of(&plan->fold, &plan->radix, climb.top, at.round);
        const coll_block mine = coll_i_halving_part(plan, &h, h.x.digit);
        coll_act_send(out, coll_i_place_rank(plan, &h.x, top.digit), part->sums + mine.offset,
                      mine.count);
    }
    return 1;
}

COLL_INLINE unsigned coll_i_rabenseifner_reduce_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    const uint32_t role = coll_i_rabenseifner_role(plan, rank);
    const coll_i_rabenseifner part =
        coll_i_rabenseifner_of(plan, COLL_I_DIGITS, role, rank == plan->problem.root);
    const size_t halves =
        part.me.idle ? 1 : coll_i_rabenseifner_halves(plan, COLL_I_DIGITS, &part);
    unsigned n;
    if (plan->problem.p == 1) {
        coll_act_copy(out, part.sums, part.input, plan->problem.count);
        return 1;
    }
    if (s < halves)
        n = coll_i_rabenseifner_halve(plan, COLL_I_DIGITS, role, &part, s, out);
    else
        n = coll_i_rabenseifner_gather(plan, &part, s - halves, out);
    for (unsigned i = 0; i < n; i++)
        if (coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, &out[i]))
            out[i].peer = coll_i_rabenseifner_role(plan, out[i].peer);
    if (part.me.folded && s == 0) /* the operand of the folded rank may be the right one */
        out->flags = out->peer < rank ? COLL_LEFT : 0;
    return n;
}

COLL_INLINE size_t coll_i_rabenseifner_reduce_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_rabenseifner part = coll_i_rabenseifner_of(
        plan, COLL_I_DIGITS, coll_i_rabenseifner_role(plan, rank), rank == plan->problem.root);
    return coll_i_rabenseifner_needs(plan, COLL_I_DIGITS, &part);
}

COLL_ALGORITHM(coll_rabenseifner_reduce, "rabenseifner",
    "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5",
    COLL_BIT(COLL_REDUCE), COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_halving_params),
    coll_i_rabenseifner_reduce_steps, coll_i_rabenseifner_reduce_step,
    coll_i_rabenseifner_reduce_scratch);

#endif /* COLL_ALGOS_RABENSEIFNER_H */
