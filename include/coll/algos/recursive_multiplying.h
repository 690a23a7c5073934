/* coll/algos/recursive_multiplying.h — allreduce: all with all in groups of k
 *
 * In round t the k ranks whose numbers differ in digit t alone, k^t apart, tell each other all they
 * have. Sets of k^t ranks that have the same become sets of k^(t+1): ⌈log_k p⌉ rounds suffice, of
 * k−1 messages each that travel side by side. k = 2 is recursive doubling. p ranks fold to a core
 * of c·k^m first: the extra rank of a pair hands its data to its proxy, waits, and is handed the
 * result (kit/folded_exchange.h). So a set is always a run of consecutive ranks, and operands stay
 * in rank order.
 *
 *   k = 2, p = 6:   rank     0  1  2  3  4  5      k = 3, p = 7:   rank     0  1  2  3  4  5  6
 *                   fold     └─►1  └─►3                            fold     └─►1
 *                   number      0     1  2  3                      number      0  1  2  3  4  5
 *                   round 0     └─────┘  └──┘                      round 0     └──┴──┘  └──┴──┘
 *                   round 1     └────────┘                         round 1     └────────┘
 *                   (and rank 3 with 5)                            (2 with 5, 3 with 6)
 *                   unfold   0◄─┘  2◄─┘                            unfold   0◄─┘
 *
 * Two operands are combined as the second comes; more of them wait in SCRATCH, a slot each, so that
 * they may come in any order. An allgather in these rounds is in recursive_multiplying_allgather.h.
 *
 * Bits: every rank of a group combines lower ⊕ own ⊕ higher operands from left to right. So all
 * ranks get the same bits, and the parenthesisation depends on p and k alone.
 *
 * Laws (tests/algos/recursive_multiplying.c)
 *   (1) whom a rank sends to in a turn of a round receives from it in that turn
 *   (2) before round t a rank stands for the run of ranks of its k^t core numbers; the runs of a
 *       group are next to each other, in rank order
 *   (3) a round of an allreduce reads its sum where it does not write
 * Cost    R = (k−1)m + c−1 messages per rank of the core, and one more of a proxy; one per extra
 *         rank; as many rounds if messages go one by one, and off c·k^m two more, or one if no
 *         longest way through the rounds begins and ends at proxies. Messages of `count`; scratch
 *         of the core `count` (none in a single round out of place but of a proxy), and for a
 *         largest radix r > 2 r−1 times that
 * Source  Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521 (k = 2); Ruefenacht,
 *         Bull, Booth 2017, doi:10.1016/j.parco.2017.08.004
 */
#ifndef COLL_ALGOS_RECURSIVE_MULTIPLYING_H
#define COLL_ALGOS_RECURSIVE_MULTIPLYING_H

#include "kit/derived.h"
#include "kit/folded_exchange.h"

/* Where the sum lies before round t: in OUT and SCRATCH in turn, after the last round in OUT.
 * So a round writes where it does not read, and nobody waits for its own message to be taken. */
COLL_HOT_INLINE coll_ref coll_i_multiplying_sum(const coll_plan *plan, uint32_t t)
{
    return ((plan->fold.rounds - t) & 1) == 0 ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
}

/* Elements of SCRATCH for sums: none if the only round goes from IN to OUT. Slots follow. */
COLL_HOT_INLINE size_t coll_i_multiplying_spare(const coll_plan *plan, bool proxy)
{
    return plan->fold.rounds == 1 && !proxy && !coll_in_place(plan) ? 0 : plan->problem.count;
}

COLL_HOT_INLINE unsigned coll_i_multiplying_allreduce(const coll_plan *plan, uint32_t rank,
                                                      size_t s, coll_i_partners partners,
                                                      const coll_fast_divisor *k,
                                                      coll_action *out)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    const size_t count = plan->problem.count;
    const coll_ref input = coll_input(plan), result = COLL_AT(COLL_OUT, 0);
    coll_i_turn at;
    coll_exchange x;
    coll_i_operands of;
    unsigned n = 0;
    if (me.extra) {
        if (s == 0)
            coll_act_send(out, rank + 1, input, count);
        else
            coll_act_recv(out, rank + 1, result, count);
        return 1;
    }
    if (me.proxy && s == 0) {
        of.sum = coll_i_multiplying_sum(plan, 0);
        coll_act_recv_reduce(out, rank - 1, of.sum, input,
                             of.sum == input ? COLL_AT(COLL_SCRATCH, 0) : of.sum, count);
        out->flags = COLL_LEFT;
        return 1;
    }
    at = coll_i_turn_up(plan, k, true, s - (me.proxy ? 1 : 0));
    if (at.round == plan->fold.rounds) {
        if (me.proxy)
            coll_act_send(out, rank - 1, result, count);
        else
            coll_act_copy(out, result, input, count);
        return 1;
    }
    of.own = coll_i_multiplying_sum(plan, at.round);
    of.sum = coll_i_multiplying_sum(plan, at.round + 1);
    of.slots = COLL_AT(COLL_SCRATCH, coll_i_multiplying_spare(plan, me.proxy));
    of.count = count;
    if (at.round == 0 && !me.proxy && of.own != input) {
        if (!coll_in_place(plan))
            of.own = input;
        else if (at.turn == 0)
            coll_act_copy(&out[n++], of.own, input, count);
    }
    x = coll_i_exchange_of(plan, partners, k, me.number, at.round);
    if (at.turn + 1 == x.radix)
        return coll_i_combine_operands(&x, &of, out);
    coll_act_send(&out[n++],
                  coll_i_exchange_peer(plan, partners, &x, coll_i_turn_to(&x, at.turn)), of.own,
                  count);
    coll_i_take_operand(plan, partners, &x, coll_i_turn_from(&x, at.turn), &of, &out[n++]);
    return n;
}

COLL_HOT_INLINE size_t coll_i_multiplying_scratch(const coll_plan *plan, uint32_t rank,
                                                  const coll_fast_divisor *k)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    const uint32_t most = plan->fold.rounds > 1 ? k->by : plan->fold.top;
    if (me.extra || plan->fold.rounds == 0)
        return 0;
    return coll_i_multiplying_spare(plan, me.proxy) +
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
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_multiplying_params, coll_i_prepare_radix_fold),
    coll_i_multiplying_allreduce_steps, coll_i_multiplying_allreduce_step,
    coll_i_multiplying_allreduce_scratch, coll_i_multiplying_check);

/* The same with k = 2 known to the compiler. */
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
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_fold),
    coll_i_doubling_steps, coll_i_doubling_allreduce_step, coll_i_doubling_allreduce_scratch);

#endif /* COLL_ALGOS_RECURSIVE_MULTIPLYING_H */
