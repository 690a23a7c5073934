/* coll/algos/kit/folded_exchange.h — rounds among groups of a radix, in a core of the ranks
 *
 * Ranks of the core, a number c·k^m of them, have numbers (plan/topo.h). In round t the ranks whose
 * numbers differ in digit t alone are a group, of k ranks or, in the last round, of c: the radix.
 * In turn i of a round each rank sends to the peer whose digit is i+1 above its own, cyclically,
 * and receives from the one i+1 below. The other p − core ranks are extra: such a rank hands its
 * data to its proxy, the next rank, before the rounds, and is handed the result after them. All
 * other ranks of the core are base.
 *
 *   k = 2, p = 6:   rank     0  1  2  3  4  5
 *                   is       e  p  e  p  b  b       extra, proxy, base
 *                   number      0     1  2  3
 *                   round 0     └─────┘  └──┘
 *                   round 1     └────────┘          and rank 3 with 5
 *
 * A rank stands for its own data, and a proxy for its extra rank's too: so groups are runs of
 * ranks. Whoever combines more than two operands takes them into slots, and combines them in rank
 * order.
 *
 * recursive_multiplying.h, recursive_halving.h, butterfly.h, rabenseifner.h, swing.h, swing_torus.h
 * and trivance.h exchange so; their laws are tested there.
 */
#ifndef COLL_ALGOS_KIT_FOLDED_EXCHANGE_H
#define COLL_ALGOS_KIT_FOLDED_EXCHANGE_H

#include "../../plan.h"
#include "torus_swing.h"

/* A round combines at most 65535 messages in one action. */
COLL_TABLE(coll_param, coll_i_multiplying_params, {
    COLL_PARAM("k", "radix: a round is among k ranks", 2, 65536, 4, {2, 3, 9, 2})});

/* ---- rounds ------------------------------------------------------------------------------ */

/* Who meets whom: numbers that differ in one digit, (k = 2) those of swing.h or swing_torus.h, or
 * (k = 3) those of trivance.h. The caller of what follows gives a constant, so that nothing is decided
 * at run time. */
typedef enum coll_i_partners {
    COLL_I_DIGITS,
    COLL_I_SWING,
    COLL_I_TORUS,
    COLL_I_TRIVANCE
} coll_i_partners;

COLL_HOT_INLINE const coll_fast_divisor *coll_i_partners_radix(const coll_plan *plan,
                                                               coll_i_partners partners)
{
    return partners == COLL_I_SWING || partners == COLL_I_TORUS ? &coll_fast_divisor_two
                                                                : &plan->radix;
}

COLL_HOT_INLINE coll_exchange coll_i_exchange_of(const coll_plan *plan,
                                                 coll_i_partners partners,
                                                 const coll_fast_divisor *k, uint32_t number,
                                                 uint32_t t)
{
    switch (partners) {
    case COLL_I_SWING:
        return coll_swing_exchange(&plan->fold, number, t);
    case COLL_I_TORUS:
        return coll_i_torus_exchange(plan, number, t);
    case COLL_I_TRIVANCE: /* others of the group: coll_i_exchange_peer */
    case COLL_I_DIGITS:
        break;
    }
    return coll_exchange_of(&plan->fold, k, number, t);
}

/* A rank's part. */
typedef struct coll_i_folded {
    uint32_t number; /* in the core */
    bool extra;      /* the even rank of a pair, which only hands over and is handed */
    bool proxy;      /* the odd one, which has a step before the rounds and one after */
} coll_i_folded;

COLL_HOT_INLINE coll_i_folded coll_i_folded_of(const coll_plan *plan, uint32_t rank)
{
    coll_i_folded me;
    me.number = coll_fold_number(&plan->fold, rank);
    me.extra = coll_fold_is_extra(&plan->fold, rank);
    me.proxy = rank < 2 * plan->fold.extra && !me.extra;
    return me;
}

/* Steps of a round among `radix` ranks: one a partner; and where there is more than one message
 * to combine, one for that. */
COLL_HOT_INLINE uint32_t coll_i_round_steps(uint32_t radix, bool combines)
{
    return radix - 1 + (combines && radix > 2 ? 1 : 0);
}

/* Steps of all rounds; `k` is that of the plan's fold. */
COLL_HOT_INLINE uint32_t coll_i_rounds_steps(const coll_plan *plan, const coll_fast_divisor *k,
                                             bool combines)
{
    const uint32_t rounds = plan->fold.rounds;
    return rounds == 0 ? 0
                       : (rounds - 1) * coll_i_round_steps(k->by, combines) +
                             coll_i_round_steps(plan->fold.top, combines);
}

/* A step of the rounds: a round, and the turn in it. */
typedef struct coll_i_turn {
    uint32_t round, turn;
} coll_i_turn;

/* Step s of the rounds from the first to the last; after the last, round is their number. */
COLL_HOT_INLINE coll_i_turn coll_i_turn_up(const coll_plan *plan, const coll_fast_divisor *k,
                                           bool combines, size_t s)
{
    coll_i_turn at;
    at.round = COLL_I_IS_TWO(k) ? (uint32_t)s : 0;
    at.turn = COLL_I_IS_TWO(k) ? 0 : (uint32_t)s;
    for (; !COLL_I_IS_TWO(k) && at.round < plan->fold.rounds; at.round++) {
        const uint32_t steps = coll_i_round_steps(
            at.round + 1 == plan->fold.rounds ? plan->fold.top : k->by, combines);
        if (at.turn < steps)
            break;
        at.turn -= steps;
    }
    return at;
}

/* The rank whom this one sends to in a turn, and the one that it receives from: by digit. */
COLL_HOT_INLINE uint32_t coll_i_turn_to(const coll_exchange *x, uint32_t turn)
{
    return coll_mod_add(x->digit, turn + 1, x->radix);
}

COLL_HOT_INLINE uint32_t coll_i_turn_from(const coll_exchange *x, uint32_t turn)
{
    return coll_mod_sub(x->digit, turn + 1, x->radix);
}

/* The rank of the group that has a digit. */
COLL_HOT_INLINE uint32_t coll_i_exchange_peer(const coll_plan *plan, coll_i_partners partners,
                                              const coll_exchange *x, uint32_t digit)
{
    return coll_fold_rank(&plan->fold, partners == COLL_I_TRIVANCE
                                           ? coll_ring_exchange_number(&plan->fold, x, digit)
                                           : coll_exchange_number(x, digit));
}

/* ---- combining --------------------------------------------------------------------------- */

/* Where the operands of a round lie. */
typedef struct coll_i_operands {
    coll_ref own, sum; /* the same place, or two apart */
    coll_ref slots;    /* the others, by digit; of two, staging, used where own is sum */
    size_t count;
} coll_i_operands;

/* Takes the operand of the peer with digit `from`. Of two, the sum is complete then. */
COLL_HOT_INLINE void coll_i_take_operand(const coll_plan *plan, coll_i_partners partners,
                                         const coll_exchange *x, uint32_t from,
                                         const coll_i_operands *of, coll_action *out)
{
    const uint32_t peer = coll_i_exchange_peer(plan, partners, x, from);
    if (x->radix == 2) {
        coll_act_recv_reduce(out, peer, of->sum, of->own,
                             of->sum == of->own ? of->slots : of->sum, of->count);
        out->flags = from < x->digit ? COLL_LEFT : 0;
    } else {
        const uint32_t slot = from < x->digit ? from : from - 1;
        coll_act_recv(out, peer, of->slots + slot * of->count, of->count);
    }
}

/* Combines more than two, from left to right. */
COLL_HOT_INLINE unsigned coll_i_combine_operands(const coll_exchange *x,
                                                 const coll_i_operands *of, coll_action *out)
{
    const uint32_t lower = x->digit, higher = x->radix - 1 - x->digit;
    unsigned n = 0;
    if (lower > 1) {
        coll_act_reduce(&out[n], of->slots, of->slots, of->slots + of->count, of->count);
        out[n].inputs = (uint16_t)(lower - 1);
        out[n++].stride = of->count;
    }
    if (lower > 0)
        coll_act_reduce(&out[n++], of->sum, of->slots, of->own, of->count);
    if (higher > 0) {
        coll_act_reduce(&out[n], of->sum, lower > 0 ? of->sum : of->own,
                        of->slots + lower * of->count, of->count);
        out[n].inputs = (uint16_t)higher;
        out[n++].stride = of->count;
    }
    return n;
}

/* ---- runs of blocks ---------------------------------------------------------------------- */

/* The blocks for which `span` core numbers stand, from `first` on. */
COLL_HOT_INLINE coll_block coll_i_core_run(const coll_plan *plan, const coll_layout *layout,
                                           uint32_t first, uint32_t span)
{
    const uint32_t begin = coll_fold_first(&plan->fold, first);
    const uint32_t end = coll_fold_first(&plan->fold, first + span);
    const size_t count = plan->problem.count;
    coll_block run;
    run.offset = coll_i_layout_at(layout, count, plan->problem.p, begin);
    run.count = coll_i_layout_at(layout, count, plan->problem.p, end) - run.offset;
    return run;
}

/* The blocks that the rank of the group with a digit has before its round. */
COLL_HOT_INLINE coll_block coll_i_peer_run(const coll_plan *plan, const coll_layout *layout,
                                           const coll_exchange *x, uint32_t digit)
{
    return coll_i_core_run(plan, layout, coll_exchange_number(x, digit) - x->below, x->stride);
}

/* ---- steps of a rank: the rounds and what folding adds ------------------------------------ */

/* Alone, the copy. */
COLL_HOT_INLINE size_t coll_i_multiplying_steps(const coll_plan *plan, uint32_t rank,
                                                const coll_fast_divisor *k, bool combines)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return me.extra ? 2 : coll_i_rounds_steps(plan, k, combines) + (me.proxy ? (size_t)2 : 0);
}

/* … with k = 2 known to the compiler. */
COLL_INLINE size_t coll_i_doubling_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_multiplying_steps(plan, rank, &coll_fast_divisor_two, false);
}

#endif /* COLL_ALGOS_KIT_FOLDED_EXCHANGE_H */
