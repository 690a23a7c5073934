/* coll/algos/recursive_multiplying_scan.h — scan: multiples of distances 1, k, k² … to the right
 *
 * Before round t a rank has the sum of the k^t operands that end with its own (fewer near rank
 * 0). It sends it 1, 2 … k−1 times k^t ranks to the right, and puts what comes from as far to
 * the left before its own: the sum of k^(t+1) operands. What comes is the left operand, so any
 * operator is right, and any p. k = 2 is recursive doubling: each message is combined as it
 * comes. Of more than one a round, each has a slot in SCRATCH, so that they may come in any order.
 *
 *   p = 6: first … last operand of the sum that a rank has
 *       rank              0    1    2    3    4    5
 *       before round 0   0-0  1-1  2-2  3-3  4-4  5-5
 *       k = 2, round 0   0-0  0-1  1-2  2-3  3-4  4-5      k = 3   0-0  0-1  0-2  1-3  2-4  3-5
 *              round 1   0-0  0-1  0-2  0-3  1-4  2-5              0-0  0-1  0-2  0-3  0-4  0-5
 *              round 2   0-0  0-1  0-2  0-3  0-4  0-5
 *
 * Bits: a rank's sum is parenthesised as p, k and the rank tell, in the same way for every count.
 *
 * Laws (tests/algos/recursive_multiplying_scan.c)
 *   (1) whom r sends to in round t receives from r in round t
 *   (2) before round t rank r has the sum of operands max(0, r−k^t+1) … r
 *   (3) no round writes where its own messages are read
 * Cost    ⌈log_k p⌉ rounds; in round t rank r sends min(k−1, ⌊(p−1−r)/k^t⌋) messages of `count`.
 *         scratch: `count` where a rank receives in more than one round, or in place in any; and a
 *         slot for each message that it receives in round 0, if these are several
 * Source  Hillis, Steele 1986, doi:10.1145/7902.7903 (k = 2)
 */
#ifndef COLL_ALGOS_RECURSIVE_MULTIPLYING_SCAN_H
#define COLL_ALGOS_RECURSIVE_MULTIPLYING_SCAN_H

#include "../plan.h"
#include "kit/derived.h"

/* A round combines at most 65535 messages in one action. */
COLL_TABLE(coll_param, coll_i_multiplying_scan_params, {
    COLL_PARAM("k", "radix: a sum is sent k-1 ranks far", 2, 65536, 3, {2, 3, 9, 2})});

/* A rank's part in a round. */
typedef struct coll_i_scan_round {
    uint32_t t, stride; /* which; k^t */
    uint32_t takes;     /* messages from 1, 2 … strides to the left … */
    uint32_t gives;     /* … and to the right */
    uint32_t turn;      /* the step in it */
} coll_i_scan_round;

/* Messages of a round to or from a side where a rank has so many others, in strides. */
COLL_HOT_INLINE uint32_t coll_i_scan_messages(const coll_fast_divisor *k, uint32_t others)
{
    return others < k->by ? others : k->by - 1;
}

/* Steps of a round: one for each distance, and one to combine more than one message. */
COLL_HOT_INLINE uint32_t coll_i_scan_round_steps(uint32_t takes, uint32_t gives)
{
    return (takes > gives ? takes : gives) + (takes > 1 ? 1 : 0);
}

/* Rounds in which a rank with `others` ranks on a side has messages from or to there: the first
 * ones. */
COLL_HOT_INLINE uint32_t coll_i_scan_rounds(const coll_fast_divisor *k, uint32_t others)
{
    uint32_t rounds = 0;
    if (COLL_I_IS_TWO(k))
        return others == 0 ? 0 : COLL_HIGHEST_BIT(others) + 1;
    for (; others > 0; rounds++)
        others = coll_divide(others, k);
    return rounds;
}

/* The round of step s; after the last, one without messages. */
COLL_HOT_INLINE coll_i_scan_round coll_i_scan_round_of(const coll_plan *plan, uint32_t rank,
                                                       const coll_fast_divisor *k, size_t s)
{
    uint32_t left = rank, right = plan->problem.p - 1 - rank; /* in strides */
    coll_i_scan_round round;
    round.t = 0;
    round.stride = 1;
    round.turn = (uint32_t)s;
    if (COLL_I_IS_TWO(k)) {
        round.t = (uint32_t)s;
        round.stride <<= round.t;
        round.takes = left >> round.t ? 1 : 0;
        round.gives = right >> round.t ? 1 : 0;
        round.turn = 0;
        return round;
    }
    for (;; round.t++) {
        uint32_t steps;
        round.takes = coll_i_scan_messages(k, left);
        round.gives = coll_i_scan_messages(k, right);
        steps = coll_i_scan_round_steps(round.takes, round.gives);
        if (round.turn < steps || steps == 0)
            return round;
        round.turn -= steps;
        round.stride *= k->by;
        left = coll_divide(left, k);
        right = coll_divide(right, k);
    }
}

/* Where the sum lies before round t: in OUT and SCRATCH in turn, when it is complete in OUT. So
 * a round writes where it does not read, and nobody waits for its own message to be taken. */
COLL_HOT_INLINE coll_ref coll_i_scan_sum(uint32_t takes, uint32_t t)
{
    return t >= takes || ((takes - t) & 1) == 0 ? COLL_AT(COLL_OUT, 0)
                                                : COLL_AT(COLL_SCRATCH, 0);
}

/* Elements of SCRATCH for sums of a rank that takes in so many rounds; slots follow. */
COLL_HOT_INLINE size_t coll_i_scan_spare(const coll_plan *plan, uint32_t takes)
{
    return takes > (coll_in_place(plan) ? 0u : 1u) ? plan->problem.count : 0;
}

COLL_HOT_INLINE size_t coll_i_scan_steps(const coll_plan *plan, uint32_t rank,
                                         const coll_fast_divisor *k)
{
    uint32_t left = rank, right = plan->problem.p - 1 - rank;
    size_t steps = 0;
    while (left > 0 || right > 0) {
        steps += coll_i_scan_round_steps(coll_i_scan_messages(k, left),
                                         coll_i_scan_messages(k, right));
        left = coll_divide(left, k);
        right = coll_divide(right, k);
    }
    return steps == 0 && !coll_in_place(plan) ? 1 : steps;
}

COLL_HOT_INLINE unsigned coll_i_scan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                          const coll_fast_divisor *k, coll_action *out)
{
    const coll_i_scan_round round = coll_i_scan_round_of(plan, rank, k, s);
    const uint32_t takes = coll_i_scan_rounds(k, rank);
    const uint32_t distance = (round.turn + 1) * round.stride;
    const size_t count = plan->problem.count;
    const coll_ref input = coll_input(plan), next = coll_i_scan_sum(takes, round.t + 1);
    const coll_ref slots = COLL_AT(COLL_SCRATCH, coll_i_scan_spare(plan, takes));
    coll_ref sum = coll_i_scan_sum(takes, round.t);
    unsigned n = 0;
    if (round.t == 0 && sum != input) {
        /* rank 0's result; in place, an operand that the first round would overwrite */
        if (!coll_in_place(plan) && takes > 0)
            sum = input;
        else if (round.turn == 0)
            coll_act_copy(&out[n++], sum, input, count);
    }
    if (round.turn < round.gives)
        coll_act_send(&out[n++], rank + distance, sum, count);
    if (round.turn < round.takes && round.takes == 1) {
        coll_act_recv_reduce(&out[n], rank - distance, next, sum, next, count);
        out[n++].flags = COLL_LEFT;
    } else if (round.turn < round.takes) {
        coll_act_recv(&out[n++], rank - distance,
                      slots + (round.takes - 1 - round.turn) * count, count);
    } else if (round.turn >= round.gives && round.takes > 1) {
        coll_act_reduce(&out[n], slots, slots, slots + count, count);
        out[n].inputs = (uint16_t)(round.takes - 1);
        out[n++].stride = count;
        coll_act_reduce(&out[n++], next, slots, sum, count);
    }
    return n;
}

COLL_HOT_INLINE size_t coll_i_scan_scratch(const coll_plan *plan, uint32_t rank,
                                           const coll_fast_divisor *k)
{
    const uint32_t most = rank < k->by ? rank : k->by - 1; /* messages of a round */
    return coll_i_scan_spare(plan, coll_i_scan_rounds(k, rank)) +
           (most > 1 ? most * plan->problem.count : 0);
}

/* The messages of a round, and a sum more, must fit the machine. */
COLL_INLINE coll_status coll_i_multiplying_scan_check(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    return coll_i_vectors_check(plan, plan->param[0] < p ? plan->param[0] : p);
}

COLL_INLINE size_t coll_i_multiplying_scan_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_scan_steps(plan, rank, &plan->radix);
}

COLL_INLINE unsigned coll_i_multiplying_scan_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    return coll_i_scan_step(plan, rank, s, &plan->radix, out);
}

COLL_INLINE size_t coll_i_multiplying_scan_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_scan_scratch(plan, rank, &plan->radix);
}

COLL_ALGORITHM(coll_recursive_multiplying_scan, "recursive_multiplying",
    "Hillis, Steele 1986 (k = 2)",
    COLL_BIT(COLL_SCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_multiplying_scan_params, coll_i_prepare_radix),
    coll_i_multiplying_scan_steps, coll_i_multiplying_scan_step,
    coll_i_multiplying_scan_scratch, coll_i_multiplying_scan_check);

/* The same with k = 2 known to the compiler. */
COLL_INLINE size_t coll_i_doubling_scan_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_scan_steps(plan, rank, &coll_fast_divisor_two);
}

COLL_INLINE unsigned coll_i_doubling_scan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    return coll_i_scan_step(plan, rank, s, &coll_fast_divisor_two, out);
}

COLL_INLINE size_t coll_i_doubling_scan_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_scan_scratch(plan, rank, &coll_fast_divisor_two);
}

COLL_ALGORITHM(coll_recursive_doubling_scan, "recursive_doubling", "Hillis, Steele 1986",
    COLL_BIT(COLL_SCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_doubling_scan_steps, coll_i_doubling_scan_step, coll_i_doubling_scan_scratch);

#endif /* COLL_ALGOS_RECURSIVE_MULTIPLYING_SCAN_H */
