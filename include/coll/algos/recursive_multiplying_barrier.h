/* coll/algos/recursive_multiplying_barrier.h — barrier: all tell all in groups of k
 *
 * In round t the k ranks whose numbers differ in digit t alone, k^t apart, notify each other.
 * Whoever has heard from k^t ranks before the round has heard from k^(t+1) of them after it. k = 2
 * is recursive doubling. p ranks fold to a core of c·k^m first, as in recursive_multiplying.h: the
 * even rank of a pair of neighbours tells the odd one that it is here, and waits for its word.
 * Other than in dissemination.h the ranks of a round tell each other, so where ranks share
 * processors two of them change once a round, and not with a third one.
 *
 *   k = 2, p = 6:   rank     0  1  2  3  4  5
 *                   fold     └─►1  └─►3
 *                   number      0     1  2  3
 *                   round 0     └─────┘  └──┘
 *                   round 1     └────────┘ (and rank 3 with 5)
 *                   unfold   0◄─┘  2◄─┘
 *
 * Laws (tests/algos/recursive_multiplying_barrier.c)
 *   (1) whom a rank notifies in a turn of a round notifies it in that turn
 *   (2) before round t a rank has heard of the run of ranks of k^t core numbers, of no others
 *   (3) a notification names all tokens of earlier rounds, and none of its own
 * Cost    R = (k−1)m + c−1 messages of 0 bytes per rank of the core, and one more where another is
 *         folded into it; one per extra rank; m rounds and one of c, and off c·k^m one or two more,
 *         as in recursive_multiplying.h
 * Source  Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521 (k = 2); Ruefenacht,
 *         Bull, Booth 2017, doi:10.1016/j.parco.2017.08.004
 */
#ifndef COLL_ALGOS_RECURSIVE_MULTIPLYING_BARRIER_H
#define COLL_ALGOS_RECURSIVE_MULTIPLYING_BARRIER_H

#include "kit/derived.h"
#include "kit/folded_exchange.h"

COLL_INLINE size_t coll_i_multiplying_barrier_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    return me.extra
               ? 1
               : coll_i_rounds_steps(plan, &plan->radix, false) + (me.proxy ? (size_t)2 : 0);
}

/* Token 0 is the own arrival; those that are awaited follow, in their order. */
COLL_INLINE unsigned coll_i_multiplying_barrier_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    const coll_ref tokens = COLL_AT(COLL_SCRATCH, 0);
    const size_t heard = me.proxy ? 2 : 1;       /* tokens before the rounds, … */
    const size_t turns = s - (me.proxy ? 1 : 0); /* … and turns before this one */
    if (me.extra) {
        coll_act_notify(&out[0], rank + 1, tokens, 1);
        coll_act_await(&out[1], rank + 1, tokens + 1, 1);
        return 2;
    }
    if (me.proxy && s == 0) {
        coll_act_await(&out[0], rank - 1, tokens + 1, 1);
        return 1;
    }
    {
        const coll_i_turn at = coll_i_turn_up(plan, &plan->radix, false, turns);
        if (at.round < plan->fold.rounds) {
            const coll_exchange x =
                coll_i_exchange_of(plan, COLL_I_DIGITS, &plan->radix, me.number, at.round);
            coll_act_notify(
                &out[0],
                coll_i_exchange_peer(plan, COLL_I_DIGITS, &x, coll_i_turn_to(&x, at.turn)),
                tokens, heard + turns - at.turn);
            coll_act_await(
                &out[1],
                coll_i_exchange_peer(plan, COLL_I_DIGITS, &x, coll_i_turn_from(&x, at.turn)),
                tokens + heard + turns, 1);
            return 2;
        }
    }
    coll_act_notify(&out[0], rank - 1, tokens, heard + turns);
    return 1;
}

COLL_ALGORITHM(coll_recursive_multiplying_barrier, "recursive_multiplying",
    "Thakur, Rabenseifner, Gropp 2005; Ruefenacht, Bull, Booth 2017",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_multiplying_params, coll_i_prepare_radix_fold),
    coll_i_multiplying_barrier_steps, coll_i_multiplying_barrier_step);

#endif /* COLL_ALGOS_RECURSIVE_MULTIPLYING_BARRIER_H */
