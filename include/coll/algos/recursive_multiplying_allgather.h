/* coll/algos/recursive_multiplying_allgather.h — allgather(v): all with all in groups of k
 *
 * The rounds of recursive_multiplying.h: in round t the k ranks of a group send each other all the
 * blocks that they have. A set of ranks that have the same is a run of consecutive ranks, so what a
 * rank sends is one piece of OUT, and k times as long in the next round. k = 2 is recursive
 * doubling. An extra rank hands its block to its proxy, and is handed all of them.
 *
 *   k = 2, p = 5, blocks that a rank has:   rank       0     1     2     3     4
 *                                           fold             0–1   2     3     4
 *                                           round 0          0–2   0–2   3–4   3–4
 *                                           round 1          0–4   0–4   0–4   0–4
 *                                           unfold    0–4
 *
 * Laws (tests/algos/recursive_multiplying.c)
 *   (1) whom a rank sends to in a turn of a round receives from it in that turn
 *   (2) before round t a rank stands for the run of ranks of its k^t core numbers; the runs of a
 *       group are next to each other, in rank order
 * Cost    R = (k−1)m + c−1 messages per rank of the core, and one more of a proxy; one per extra
 *         rank; rounds as in recursive_multiplying.h. Every block comes once (to an extra rank its
 *         own too). scratch: none
 * Source  Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521 (k = 2); Ruefenacht,
 *         Bull, Booth 2017, doi:10.1016/j.parco.2017.08.004
 */
#ifndef COLL_ALGOS_RECURSIVE_MULTIPLYING_ALLGATHER_H
#define COLL_ALGOS_RECURSIVE_MULTIPLYING_ALLGATHER_H

#include "kit/derived.h"
#include "kit/folded_exchange.h"

COLL_HOT_INLINE unsigned coll_i_multiplying_allgather(const coll_plan *plan, uint32_t rank,
                                                      size_t s, const coll_fast_divisor *k,
                                                      coll_action *out)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    const coll_layout *layout = &plan->problem.out;
    const coll_block block = coll_out_block(plan, rank);
    const coll_ref blocks = COLL_AT(COLL_OUT, 0), place = blocks + block.offset;
    const coll_ref own = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    const size_t all =
        coll_i_layout_at(layout, plan->problem.count, plan->problem.p, plan->problem.p);
    const coll_i_turn at = coll_i_turn_up(plan, k, false, s - (me.proxy ? 1 : 0));
    unsigned n = 0;
    if (me.extra) { /* its own block comes back with the others */
        if (s == 0)
            coll_act_send(out, rank + 1, own, block.count);
        else
            coll_act_recv(out, rank + 1, blocks, all);
        return 1;
    }
    if (me.proxy && s == 0) {
        const coll_block theirs = coll_out_block(plan, rank - 1);
        coll_act_recv(&out[n++], rank - 1, blocks + theirs.offset, theirs.count);
    } else if (at.round < plan->fold.rounds) {
        const coll_exchange x = coll_exchange_of(&plan->fold, k, me.number, at.round);
        const uint32_t to = coll_i_turn_to(&x, at.turn), from = coll_i_turn_from(&x, at.turn);
        const coll_block mine = coll_i_peer_run(plan, layout, &x, x.digit);
        const coll_block theirs = coll_i_peer_run(plan, layout, &x, from);
        coll_act_send(&out[n++], coll_i_exchange_peer(plan, COLL_I_DIGITS, &x, to),
                      at.round == 0 && !me.proxy ? own : blocks + mine.offset, mine.count);
        coll_act_recv(&out[n++], coll_i_exchange_peer(plan, COLL_I_DIGITS, &x, from),
                      blocks + theirs.offset, theirs.count);
    } else if (me.proxy) {
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
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_multiplying_params, coll_i_prepare_radix_fold),
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
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_fold),
    coll_i_doubling_steps, coll_i_doubling_allgather_step);

#endif /* COLL_ALGOS_RECURSIVE_MULTIPLYING_ALLGATHER_H */
