/* coll/algos/trivance.h — allreduce: both neighbours on a ring at once, three times as far each round
 *
 * In round t a rank sends to the ranks 3^t above and below it on the ring of the core, and combines
 * what comes from both with its own. So it stands for three times as many ranks after each round,
 * the same number on both sides, and both directions of the links are used. Recursive multiplying
 * with k = 3 takes as many rounds, but some of its partners are 2·3^t away.
 *
 * A rank either sends all that it has (trivance_latency), or what its partner and those whom that
 * meets later are to have (trivance): the numbers with the partner's lowest t + 1 digits to base 3.
 * With the pieces in the order of mirrors (plan/topo.h) these are a run, and the longest messages go
 * to the nearest ranks. The rounds backwards bring the pieces together again.
 *
 *   p = 9, the pieces (mirrors) that a rank keeps
 *       rank      0    1    2    3    4    5    6    7    8
 *       round 0  0–2  3–5  6–8  0–2  3–5  6–8  0–2  3–5  6–8     from the ranks 1 to the sides
 *       round 1   0    3    6    1    4    7    2    5    8      … and 3 to the sides
 *
 * The core has 3^m or 2·3^m ranks; in the last round of the latter there is one partner, half of the
 * core away. Other ranks are folded (kit/folded_exchange.h).
 *
 * Bits: a piece is reduced by one rank, so all ranks get the same; but not all pieces in the same
 * order. With trivance_latency, each rank adds up in an order of its own.
 *
 * Laws (tests/algos/trivance.c)
 *   (1) in round t < m a number sends to those 3^t above and below it in the core, and receives from
 *       them
 *   (2) before round t a rank of trivance_latency stands for the 3^t numbers nearest to its own, as
 *       many above as below
 *   (3) in round t the pieces that a rank gives to a partner are those of the numbers that equal the
 *       partner's modulo 3^(t+1), and it gets as many back when they are complete
 *   (4) elements · ranks crossed: for p = 3^m > 3, less than with Rabenseifner's and recursive
 *       multiplying's partners of k = 3
 * Cost    R = 2m, one more for 2·3^m. Messages, elements and scratch of trivance as in
 *         rabenseifner.h, of trivance_latency as in recursive_multiplying.h, with k = 3 and such R
 * Source  Juerss, Addanki, Schmid 2026, arXiv:2602.17254
 */
#ifndef COLL_ALGOS_TRIVANCE_H
#define COLL_ALGOS_TRIVANCE_H

#include "kit/derived.h"
#include "rabenseifner.h"
#include "recursive_multiplying.h"

/* radix, fold and pieces, of k = 3. */
COLL_INLINE void coll_i_prepare_thirds(coll_plan *plan)
{
    plan->radix = coll_fast_divisor_of(3);
    coll_i_prepare_core(plan, &plan->radix);
    plan->pieces = coll_partition_of(plan->problem.count, plan->fold.core);
}

/* ---- in pieces --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_trivance_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_steps(plan, COLL_I_TRIVANCE, rank);
}

COLL_INLINE unsigned coll_i_trivance_step(const coll_plan *plan, uint32_t rank, size_t s,
                                          coll_action *out)
{
    return coll_i_halved_allreduce_step(plan, COLL_I_TRIVANCE, rank, s, out);
}

COLL_INLINE size_t coll_i_trivance_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_halved_allreduce_scratch(plan, COLL_I_TRIVANCE, rank);
}

COLL_ALGORITHM(coll_trivance_allreduce, "trivance", "Juerss, Addanki, Schmid 2026",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_thirds),
    coll_i_trivance_steps, coll_i_trivance_step, coll_i_trivance_scratch);

/* ---- of whole vectors -------------------------------------------------------------------- */

COLL_INLINE unsigned coll_i_trivance_latency_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    return coll_i_multiplying_allreduce(plan, rank, s, COLL_I_TRIVANCE, &plan->radix, out);
}

COLL_ALGORITHM(coll_trivance_latency_allreduce, "trivance_latency",
    "Juerss, Addanki, Schmid 2026",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(0, NULL, coll_i_prepare_thirds),
    coll_i_multiplying_allreduce_steps, coll_i_trivance_latency_step,
    coll_i_multiplying_allreduce_scratch);

#endif /* COLL_ALGOS_TRIVANCE_H */
