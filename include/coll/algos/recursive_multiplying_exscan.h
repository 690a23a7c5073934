/* coll/algos/recursive_multiplying_exscan.h — exscan: distances 1 … k−1, then multiples of k−1, k(k−1) …
 *
 * Before round t > 0 a rank has the sum of the c = (k−1)·k^(t−1) operands before its own (fewer near
 * rank 0). It sends it c, 2c … (k−1)c ranks to the right, and puts what comes from as far to the left
 * before its own: the sum of k·c operands. In round 0 it sends its operand itself to the next k−1
 * ranks. What comes is the left operand, so any operator is right, and any p. k = 2 are the rounds of
 * recursive_doubling_exscan.h with one inclusive round. Of more than one message a round, each has a
 * slot in SCRATCH, so that they may come in any order.
 *
 *   p = 8, k = 3: first … last operand of the sum that a rank has
 *       rank                             0    1    2    3    4    5    6    7
 *       after round 0, distances 1, 2    –   0-0  0-1  1-2  2-3  3-4  4-5  5-6
 *       after round 1, distances 2, 4    –   0-0  0-1  0-2  0-3  0-4  0-5  1-6
 *       after round 2, distance 6        –   0-0  0-1  0-2  0-3  0-4  0-5  0-6
 *
 * Bits: a rank's sum is parenthesised as p, k and the rank tell, in the same way for every count.
 *
 * Laws (tests/algos/recursive_multiplying_exscan.c)
 *   (1) whom r sends to in round t receives from r in round t
 *   (2) before round t > 0 rank r has the sum of operands max(0, r−c) … r−1
 *   (3) no round writes where its own messages are read
 * Cost    1 + ⌈log_k((p−1)/(k−1))⌉ rounds, at least one for p > 1; rank r > 0 sends
 *         min(k−1, ⌊(p−1−r)/c⌋) messages of `count` in a round, rank 0 only in round 0. scratch in
 *         vectors: 1 if it receives in more than one round, in place 1 if it sends, and one for each
 *         message that it receives in round 0, if these are several; rank 0 none
 * Source  Ruefenacht, Bull, Booth 2017, doi:10.1016/j.parco.2017.08.004 (multiplying); Träff 2025,
 *         arXiv:2507.04785 (exscan, k = 2)
 */
#ifndef COLL_ALGOS_RECURSIVE_MULTIPLYING_EXSCAN_H
#define COLL_ALGOS_RECURSIVE_MULTIPLYING_EXSCAN_H

#include "kit/derived.h"
#include "recursive_multiplying_scan.h"

/* A rank's part in round t: c, messages from the left and to the right, and the step in the round. */
COLL_HOT_INLINE void coll_i_exscan_messages(const coll_plan *plan, uint32_t rank,
                                            coll_i_scan_round *round)
{
    const uint32_t right = plan->problem.p - 1 - rank;
    if (round->t == 0) {
        round->takes = coll_i_scan_messages(&plan->radix, rank);
        round->gives = coll_i_scan_messages(&plan->radix, right);
    } else { /* rank 0 has nothing to send on */
        round->takes =
            rank == 0 ? 0
                      : coll_i_scan_messages(
                            &plan->radix, (uint32_t)coll_i_quotient(rank - 1, round->stride));
        round->gives =
            rank == 0 ? 0
                      : coll_i_scan_messages(&plan->radix,
                                             (uint32_t)coll_i_quotient(right, round->stride));
    }
}

/* The round after this one; distances beyond all ranks stay there. */
COLL_HOT_INLINE void coll_i_exscan_next(const coll_plan *plan, uint32_t rank,
                                        coll_i_scan_round *round)
{
    const uint32_t times = round->t == 0 ? plan->radix.by - 1 : plan->radix.by;
    round->stride =
        round->stride > plan->problem.p / times ? plan->problem.p : round->stride * times;
    round->t++;
    coll_i_exscan_messages(plan, rank, round);
}

COLL_HOT_INLINE void coll_i_exscan_begin(const coll_plan *plan, uint32_t rank,
                                         coll_i_scan_round *round)
{
    round->t = round->turn = 0;
    round->stride = 1;
    coll_i_exscan_messages(plan, rank, round);
}

/* Rounds in which a rank receives: the first ones. */
COLL_HOT_INLINE uint32_t coll_i_exscan_takes(const coll_plan *plan, uint32_t rank)
{
    coll_i_scan_round round;
    for (coll_i_exscan_begin(plan, rank, &round); round.takes > 0;)
        coll_i_exscan_next(plan, rank, &round);
    return round.t;
}

COLL_INLINE size_t coll_i_multiplying_exscan_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_scan_round round;
    size_t steps = 0;
    for (coll_i_exscan_begin(plan, rank, &round); round.takes > 0 || round.gives > 0;
         coll_i_exscan_next(plan, rank, &round))
        steps += coll_i_scan_round_steps(round.takes, round.gives);
    return steps;
}

/* Does a rank keep its operand in SCRATCH, as OUT will be overwritten while it is sent? */
COLL_HOT_INLINE bool coll_i_exscan_keeps(const coll_plan *plan, uint32_t rank)
{
    return coll_in_place(plan) && rank > 0 && rank + 1 < plan->problem.p;
}

/* SCRATCH holds the sum at times, the operand, and the slots. */
COLL_INLINE unsigned coll_i_multiplying_exscan_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    const uint32_t takes = coll_i_exscan_takes(plan, rank);
    const size_t count = plan->problem.count;
    const bool keeps = coll_i_exscan_keeps(plan, rank);
    const coll_ref kept = COLL_AT(COLL_SCRATCH, takes > 1 ? count : 0);
    const coll_ref slots = kept + (keeps ? count : 0);
    coll_i_scan_round round;
    coll_ref sum, next;
    uint32_t distance;
    unsigned n = 0;
    for (coll_i_exscan_begin(plan, rank, &round);; coll_i_exscan_next(plan, rank, &round)) {
        const uint32_t steps = coll_i_scan_round_steps(round.takes, round.gives);
        if (s < steps)
            break;
        s -= steps;
    }
    round.turn = (uint32_t)s;
    distance = (round.turn + 1) * round.stride;
    sum = coll_i_scan_sum(takes, round.t);
    next = coll_i_scan_sum(takes, round.t + 1);
    if (round.t == 0) {
        sum = keeps ? kept : coll_input(plan);
        if (keeps && round.turn == 0)
            coll_act_copy(&out[n++], kept, coll_input(plan), count);
    }
    if (round.turn < round.gives)
        coll_act_send(&out[n++], rank + distance, sum, count);
    if (round.turn < round.takes && round.takes > 1) {
        coll_act_recv(&out[n++], rank - distance,
                      slots + (round.takes - 1 - round.turn) * count, count);
    } else if (round.turn < round.takes && round.t == 0) {
        coll_act_recv(&out[n++], rank - distance, next, count);
    } else if (round.turn < round.takes) {
        coll_act_recv_reduce(&out[n], rank - distance, next, sum, next, count);
        out[n++].flags = COLL_LEFT;
    } else if (round.turn >= round.gives && round.takes > 1) {
        const bool last = round.t == 0; /* these are all */
        coll_act_reduce(&out[n], last ? next : slots, slots, slots + count, count);
        out[n].inputs = (uint16_t)(round.takes - 1);
        out[n++].stride = count;
        if (!last)
            coll_act_reduce(&out[n++], next, slots, sum, count);
    }
    return n;
}

COLL_INLINE size_t coll_i_multiplying_exscan_scratch(const coll_plan *plan, uint32_t rank)
{
    const uint32_t most = coll_i_scan_messages(&plan->radix, rank);
    return ((coll_i_exscan_takes(plan, rank) > 1 ? 1u : 0u) +
            (coll_i_exscan_keeps(plan, rank) ? 1u : 0u) + (most > 1 ? (size_t)most : 0)) *
           plan->problem.count;
}

/* The messages of a round, and two sums more, must fit the machine. */
COLL_INLINE coll_status coll_i_multiplying_exscan_check(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    return coll_i_vectors_check(plan, (plan->param[0] < p ? plan->param[0] : p) + (size_t)1);
}

COLL_ALGORITHM(coll_recursive_multiplying_exscan, "recursive_multiplying",
    "Ruefenacht, Bull, Booth 2017; Traeff 2025 (k = 2)",
    COLL_BIT(COLL_EXSCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_multiplying_scan_params, coll_i_prepare_radix),
    coll_i_multiplying_exscan_steps, coll_i_multiplying_exscan_step,
    coll_i_multiplying_exscan_scratch, coll_i_multiplying_exscan_check);

#endif /* COLL_ALGOS_RECURSIVE_MULTIPLYING_EXSCAN_H */
