/* coll/algos/rabenseifner_reduce.h — reduce: halve the vector, then gather the pieces at the root
 *
 * The first half is that of rabenseifner.h: every rank of the core ends with a piece reduced over
 * all. The same rounds backwards bring the pieces together again, to the one member of each group
 * that is in the root's subtree. A root that would be an extra rank changes places with its proxy.
 * Operands stay in rank order.
 *
 *   k = 2, p = 5, root 2, pieces 0 … 3, that a rank has after each round:
 *       rank        0    1    2    3    4
 *       number           0    1    2    3
 *       halved           0    2    1    3
 *       gathered 1      0–1  2–3   ·    ·      3 → 1, 4 → 2
 *       gathered 0       ·   0–3   ·    ·      1 → 2
 *
 * Laws (tests/algos/rabenseifner.c)
 *   (1) a rank of the core sends once after halving, last of all; the root does not
 * Cost    R = (k−1)m + c−1: R+1 messages per rank of the core, the root R; an extra rank sends
 *         `count`. At most R rounds, one for each of the rounds again, and one off c·k^m. Elements:
 *         halving sends all but the own piece of count/core, gathering what the rank has. scratch:
 *         as in rabenseifner.h, and without OUT what the rank keeps in round 0, or `count` of a
 *         proxy
 * Source  Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1; Thakur, Rabenseifner, Gropp 2005,
 *         §4.5, doi:10.1177/1094342005051521
 */
#ifndef COLL_ALGOS_RABENSEIFNER_REDUCE_H
#define COLL_ALGOS_RABENSEIFNER_REDUCE_H

#include "kit/derived.h"
#include "rabenseifner.h"

/* A rank by its role: the root and its neighbour change places if it would be extra. */
COLL_HOT_INLINE uint32_t coll_i_rabenseifner_role(const coll_plan *plan, uint32_t rank)
{
    const uint32_t root = plan->problem.root;
    return (rank | 1u) == (root | 1u) && coll_fold_is_extra(&plan->fold, root) ? rank ^ 1u
                                                                               : rank;
}

/* Rounds from which on two numbers have the same digits. */
COLL_HOT_INLINE uint32_t coll_i_rabenseifner_apart(const coll_plan *plan, uint32_t a,
                                                   uint32_t b)
{
    uint32_t t = 0;
    if (COLL_I_IS_TWO(&plan->radix))
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
    if (part.me.extra)
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
        coll_act_recv(out, coll_i_exchange_peer(plan, COLL_I_DIGITS, &h.x, from),
                      part->sums + theirs.offset, theirs.count);
    } else {
        const coll_exchange top =
            coll_exchange_of(&plan->fold, &plan->radix, climb.top, at.round);
        const coll_block mine = coll_i_halving_part(plan, &h, h.x.digit);
        coll_act_send(out, coll_i_exchange_peer(plan, COLL_I_DIGITS, &h.x, top.digit),
                      part->sums + mine.offset, mine.count);
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
        part.me.extra ? 1 : coll_i_rabenseifner_halves(plan, COLL_I_DIGITS, &part);
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
    if (part.me.proxy && s == 0) /* the operand of the folded rank may be the right one */
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
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_halving_params, coll_i_prepare_radix_pieces),
    coll_i_rabenseifner_reduce_steps, coll_i_rabenseifner_reduce_step,
    coll_i_rabenseifner_reduce_scratch);

#endif /* COLL_ALGOS_RABENSEIFNER_REDUCE_H */
