/* coll/algos/recursive_multiplying.h — allreduce, allgather(v): all with all in groups of k
 *
 * In round t the k ranks whose numbers differ in digit t alone, k^t apart, tell each other all
 * they have. Sets of k^t ranks that have the same become sets of k^(t+1): ⌈log_k p⌉ rounds
 * suffice, of k−1 messages each that travel side by side. k = 2 is recursive doubling. p ranks
 * fold to a core of c·k^m first (plan/topo.h): the even rank of a pair of neighbours hands its data
 * to the odd one, waits, and is handed the result. So a set is always a run of consecutive
 * ranks: blocks stay in one piece, and operands in rank order.
 *
 *   k = 2, p = 6:   rank     0  1  2  3  4  5      k = 3, p = 7:   rank     0  1  2  3  4  5  6
 *                   fold     └─►1  └─►3                            fold     └─►1
 *                   number      0     1  2  3                      number      0  1  2  3  4  5
 *                   round 0     └─────┘  └──┘                      round 0     └──┴──┘  └──┴──┘
 *                   round 1     └────────┘                         round 1     └────────┘
 *                   (and rank 3 with 5)                            (2 with 5, 3 with 6)
 *                   unfold   0◄─┘  2◄─┘                            unfold   0◄─┘
 *
 * In turn i of a round each rank sends to the place i+1 above its own, cyclically, and receives
 * from i+1 below. An allreduce combines two operands as the second comes; more of them wait in
 * SCRATCH, a slot each, so that they may come in any order.
 *
 * Bits: every rank of a group combines lower ⊕ own ⊕ higher operands from left to right. So all
 * ranks get the same bits, and the parenthesisation depends on p and k alone.
 *
 * Laws (tests/algos/recursive_multiplying.c)
 *   (1) whom a rank sends to in a turn of a round receives from it in that turn
 *   (2) before round t a rank stands for the run of ranks of its k^t core numbers; the runs of a
 *       group are next to each other, in rank order
 *   (3) a round of an allreduce reads its sum where it does not write
 * Cost    R = (k−1)m + c−1 messages per rank of the core, and one more where another is folded into
 *         it; one per idle rank; as many rounds if messages go one by one, and off c·k^m two more,
 *         or one if no longest way through the rounds begins and ends at folded ranks. allreduce:
 *         messages of `count`; scratch of the core `count` (none in a single round out of place
 *         where nobody is folded in), and for a largest radix r > 2 r−1 times that. allgather:
 *         every block comes once (to an idle rank its own too)
 * Source  Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521 (k = 2); Ruefenacht,
 *         Bull, Booth 2017, doi:10.1016/j.parco.2017.08.004
 */
#ifndef COLL_ALGOS_RECURSIVE_MULTIPLYING_H
#define COLL_ALGOS_RECURSIVE_MULTIPLYING_H

#include "../plan.h"

/* A round combines at most 65535 messages in one action. */
COLL_TABLE(coll_param, coll_i_multiplying_params, {
    {"k", "radix: a round is among k ranks", 2, 65536, 4, {2, 3, 9, 2}}});

/* ---- rounds: of all algorithms that exchange in a folded core ---------------------------- */

/* Who meets whom: numbers that differ in one digit, or (k = 2) those of swing.h. The caller of what
 * follows gives a constant, so that nothing is decided at run time. */
typedef enum coll_i_partners { COLL_I_DIGITS, COLL_I_SWING } coll_i_partners;

COLL_HOT_INLINE const coll_fast_divisor *coll_i_partners_radix(const coll_plan *plan,
                                                               coll_i_partners partners)
{
    return partners == COLL_I_SWING ? &coll_fast_divisor_two : &plan->radix;
}

COLL_HOT_INLINE coll_exchange coll_i_exchange_of(const coll_plan *plan,
                                                 coll_i_partners partners,
                                                 const coll_fast_divisor *k, uint32_t number,
                                                 uint32_t t)
{
    return partners == COLL_I_SWING ? coll_swing_exchange(&plan->fold, number, t)
                                    : coll_exchange_of(&plan->fold, k, number, t);
}

/* A rank's part. */
typedef struct coll_i_member {
    uint32_t number; /* in the core */
    bool idle;       /* the even rank of a pair, which only hands over and is handed */
    bool folded;     /* the odd one, which has a step before the rounds and one after */
} coll_i_member;

COLL_HOT_INLINE coll_i_member coll_i_member_of(const coll_plan *plan, uint32_t rank)
{
    coll_i_member me;
    me.number = coll_fold_number(&plan->fold, rank);
    me.idle = coll_fold_idle(&plan->fold, rank);
    me.folded = rank < 2 * plan->fold.extra && !me.idle;
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
    at.round = k->by == 2 ? (uint32_t)s : 0;
    at.turn = k->by == 2 ? 0 : (uint32_t)s;
    for (; k->by != 2 && at.round < plan->fold.rounds; at.round++) {
        const uint32_t steps = coll_i_round_steps(
            at.round + 1 == plan->fold.rounds ? plan->fold.top : k->by, combines);
        if (at.turn < steps)
            break;
        at.turn -= steps;
    }
    return at;
}

/* The rank whom this one sends to in a turn, and the one that it receives from: by place. */
COLL_HOT_INLINE uint32_t coll_i_turn_to(const coll_exchange *x, uint32_t turn)
{
    return coll_mod_add(x->digit, turn + 1, x->radix);
}

COLL_HOT_INLINE uint32_t coll_i_turn_from(const coll_exchange *x, uint32_t turn)
{
    return coll_mod_sub(x->digit, turn + 1, x->radix);
}

COLL_HOT_INLINE uint32_t coll_i_place_rank(const coll_plan *plan, const coll_exchange *x,
                                           uint32_t place)
{
    return coll_fold_rank(&plan->fold, coll_exchange_number(x, place));
}

/* ---- combining --------------------------------------------------------------------------- */

/* Where the operands of a round lie. */
typedef struct coll_i_operands {
    coll_ref own, sum; /* the same place, or two apart */
    coll_ref slots;    /* the others, by place; of two, staging, used where own is sum */
    size_t count;
} coll_i_operands;

/* Takes the operand of place `from`. Of two, the sum is complete then. */
COLL_HOT_INLINE void coll_i_take_operand(const coll_plan *plan, const coll_exchange *x,
                                         uint32_t from, const coll_i_operands *of,
                                         coll_action *out)
{
    const uint32_t peer = coll_i_place_rank(plan, x, from);
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

/* ---- both: the rounds and what folding adds ---------------------------------------------- */

/* Alone, the copy. */
COLL_HOT_INLINE size_t coll_i_multiplying_steps(const coll_plan *plan, uint32_t rank,
                                                const coll_fast_divisor *k, bool combines)
{
    const coll_i_member me = coll_i_member_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return me.idle ? 2 : coll_i_rounds_steps(plan, k, combines) + (me.folded ? (size_t)2 : 0);
}

/* ---- allreduce --------------------------------------------------------------------------- */

/* Where the sum lies before round t: in OUT and SCRATCH in turn, after the last round in OUT.
 * So a round writes where it does not read, and nobody waits for its own message to be taken. */
COLL_HOT_INLINE coll_ref coll_i_multiplying_sum(const coll_plan *plan, uint32_t t)
{
    return ((plan->fold.rounds - t) & 1) == 0 ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
}

/* Elements of SCRATCH for sums: none if the only round goes from IN to OUT. Slots follow. */
COLL_HOT_INLINE size_t coll_i_multiplying_spare(const coll_plan *plan, bool folded)
{
    return plan->fold.rounds == 1 && !folded && !coll_in_place(plan) ? 0 : plan->problem.count;
}

COLL_HOT_INLINE unsigned coll_i_multiplying_allreduce(const coll_plan *plan, uint32_t rank,
                                                      size_t s, coll_i_partners partners,
                                                      const coll_fast_divisor *k,
                                                      coll_action *out)
{
    const coll_i_member me = coll_i_member_of(plan, rank);
    const size_t count = plan->problem.count;
    const coll_ref input = coll_input(plan), result = COLL_AT(COLL_OUT, 0);
    coll_i_turn at;
    coll_exchange x;
    coll_i_operands of;
    unsigned n = 0;
    if (me.idle) {
        if (s == 0)
            coll_act_send(out, rank + 1, input, count);
        else
            coll_act_recv(out, rank + 1, result, count);
        return 1;
    }
    if (me.folded && s == 0) {
        of.sum = coll_i_multiplying_sum(plan, 0);
        coll_act_recv_reduce(out, rank - 1, of.sum, input,
                             of.sum == input ? COLL_AT(COLL_SCRATCH, 0) : of.sum, count);
        out->flags = COLL_LEFT;
        return 1;
    }
    at = coll_i_turn_up(plan, k, true, s - (me.folded ? 1 : 0));
    if (at.round == plan->fold.rounds) {
        if (me.folded)
            coll_act_send(out, rank - 1, result, count);
        else
            coll_act_copy(out, result, input, count);
        return 1;
    }
    of.own = coll_i_multiplying_sum(plan, at.round);
    of.sum = coll_i_multiplying_sum(plan, at.round + 1);
    of.slots = COLL_AT(COLL_SCRATCH, coll_i_multiplying_spare(plan, me.folded));
    of.count = count;
    if (at.round == 0 && !me.folded && of.own != input) {
        if (!coll_in_place(plan))
            of.own = input;
        else if (at.turn == 0)
            coll_act_copy(&out[n++], of.own, input, count);
    }
    x = coll_i_exchange_of(plan, partners, k, me.number, at.round);
    if (at.turn + 1 == x.radix)
        return coll_i_combine_operands(&x, &of, out);
    coll_act_send(&out[n++], coll_i_place_rank(plan, &x, coll_i_turn_to(&x, at.turn)), of.own,
                  count);
    coll_i_take_operand(plan, &x, coll_i_turn_from(&x, at.turn), &of, &out[n++]);
    return n;
}

COLL_HOT_INLINE size_t coll_i_multiplying_scratch(const coll_plan *plan, uint32_t rank,
                                                  const coll_fast_divisor *k)
{
    const coll_i_member me = coll_i_member_of(plan, rank);
    const uint32_t most = plan->fold.rounds > 1 ? k->by : plan->fold.top;
    if (me.idle || plan->fold.rounds == 0)
        return 0;
    return coll_i_multiplying_spare(plan, me.folded) +
           (most > 2 ? (most - 1) * plan->problem.count : 0);
}

/* The operands of the largest group, and a sum more, must fit the machine. */
COLL_INLINE coll_status coll_i_multiplying_check(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    return coll_i_vectors_check(plan, (plan->param[0] < p ? plan->param[0] : p) + (size_t)1);
}

COLL_INLINE size_t coll_i_multiplying_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_multiplying_steps(plan, rank, &plan->radix, true);
}

COLL_INLINE unsigned coll_i_multiplying_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                       size_t s, coll_action *out)
{
    return coll_i_multiplying_allreduce(plan, rank, s, COLL_I_DIGITS, &plan->radix, out);
}

COLL_INLINE size_t coll_i_multiplying_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_multiplying_scratch(plan, rank, &plan->radix);
}

COLL_ALGORITHM(coll_recursive_multiplying_allreduce, "recursive_multiplying",
    "Ruefenacht, Bull, Booth 2017",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_multiplying_params),
    coll_i_multiplying_allreduce_steps, coll_i_multiplying_allreduce_step,
    coll_i_multiplying_allreduce_scratch, coll_i_multiplying_check);

/* The same with k = 2 known to the compiler. */
COLL_INLINE size_t coll_i_doubling_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_multiplying_steps(plan, rank, &coll_fast_divisor_two, false);
}

COLL_INLINE unsigned coll_i_doubling_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    return coll_i_multiplying_allreduce(plan, rank, s, COLL_I_DIGITS, &coll_fast_divisor_two,
                                        out);
}

COLL_INLINE size_t coll_i_doubling_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_multiplying_scratch(plan, rank, &coll_fast_divisor_two);
}

COLL_ALGORITHM(coll_recursive_doubling_allreduce, "recursive_doubling",
    "Thakur, Rabenseifner, Gropp 2005",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_doubling_steps, coll_i_doubling_allreduce_step, coll_i_doubling_allreduce_scratch);

/* ---- allgather --------------------------------------------------------------------------- */

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

/* The blocks that the rank at a place of the group has before its round. */
COLL_HOT_INLINE coll_block coll_i_place_run(const coll_plan *plan, const coll_layout *layout,
                                            const coll_exchange *x, uint32_t place)
{
    return coll_i_core_run(plan, layout, coll_exchange_number(x, place) - x->below, x->stride);
}

COLL_HOT_INLINE unsigned coll_i_multiplying_allgather(const coll_plan *plan, uint32_t rank,
                                                      size_t s, const coll_fast_divisor *k,
                                                      coll_action *out)
{
    const coll_i_member me = coll_i_member_of(plan, rank);
    const coll_layout *layout = &plan->problem.out;
    const coll_block block = coll_out_block(plan, rank);
    const coll_ref blocks = COLL_AT(COLL_OUT, 0), place = blocks + block.offset;
    const coll_ref own = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    const size_t all =
        coll_i_layout_at(layout, plan->problem.count, plan->problem.p, plan->problem.p);
    const coll_i_turn at = coll_i_turn_up(plan, k, false, s - (me.folded ? 1 : 0));
    unsigned n = 0;
    if (me.idle) { /* its own block comes back with the others */
        if (s == 0)
            coll_act_send(out, rank + 1, own, block.count);
        else
            coll_act_recv(out, rank + 1, blocks, all);
        return 1;
    }
    if (me.folded && s == 0) {
        const coll_block theirs = coll_out_block(plan, rank - 1);
        coll_act_recv(&out[n++], rank - 1, blocks + theirs.offset, theirs.count);
    } else if (at.round < plan->fold.rounds) {
        const coll_exchange x = coll_exchange_of(&plan->fold, k, me.number, at.round);
        const uint32_t to = coll_i_turn_to(&x, at.turn), from = coll_i_turn_from(&x, at.turn);
        const coll_block mine = coll_i_place_run(plan, layout, &x, x.digit);
        const coll_block theirs = coll_i_place_run(plan, layout, &x, from);
        coll_act_send(&out[n++], coll_i_place_rank(plan, &x, to),
                      at.round == 0 && !me.folded ? own : blocks + mine.offset, mine.count);
        coll_act_recv(&out[n++], coll_i_place_rank(plan, &x, from), blocks + theirs.offset,
                      theirs.count);
    } else if (me.folded) {
        coll_act_send(&out[n++], rank - 1, blocks, all);
    }
    if (s == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], place, own, block.count);
    return n;
}

COLL_INLINE size_t coll_i_multiplying_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_multiplying_steps(plan, rank, &plan->radix, false);
}

COLL_INLINE unsigned coll_i_multiplying_allgather_step(const coll_plan *plan, uint32_t rank,
                                                       size_t s, coll_action *out)
{
    return coll_i_multiplying_allgather(plan, rank, s, &plan->radix, out);
}

COLL_ALGORITHM(coll_recursive_multiplying_allgather, "recursive_multiplying",
    "Ruefenacht, Bull, Booth 2017",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_NEEDS_PACKED | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_multiplying_params),
    coll_i_multiplying_allgather_steps, coll_i_multiplying_allgather_step);

COLL_INLINE unsigned coll_i_doubling_allgather_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    return coll_i_multiplying_allgather(plan, rank, s, &coll_fast_divisor_two, out);
}

COLL_ALGORITHM(coll_recursive_doubling_allgather, "recursive_doubling",
    "Thakur, Rabenseifner, Gropp 2005",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_NEEDS_PACKED | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_doubling_steps, coll_i_doubling_allgather_step);

#endif /* COLL_ALGOS_RECURSIVE_MULTIPLYING_H */
