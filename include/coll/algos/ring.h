/* coll/algos/ring.h — allgather(v), reduce_scatter(_block), allreduce around a ring
 *
 * Every rank talks to its two neighbours only: it sends to r+1 and receives from r−1, one block
 * a step. In an allgather each block travels once around. In a reduce_scatter the partial sum
 * of block b starts at rank b+1 and takes up one operand a step until it ends, complete, at
 * rank b. An allreduce is both, on the vector cut into p parts: the least traffic possible, in
 * 2(p−1) steps.
 *
 *   p = 4, allgather: block that each rank sends at step s
 *       rank   0  1  2  3
 *       s = 0  0  1  2  3
 *       s = 1  3  0  1  2
 *       s = 2  2  3  0  1
 *
 * Laws (tests/algos/ring.c)
 *   (1) the block that r sends at step s is the one that r+1 receives at step s
 *   (2) in an allgather r sends at step s+1 what it received at step s
 *   (3) in a reduce_scatter r receives block r at the last step, and never sends it
 * Cost    allgather, reduce_scatter: p−1 rounds, messages and blocks sent per rank; allreduce:
 *         2(p−1) messages, 2·count·(p−1)/p elements. scratch: reduce_scatter two of the largest
 *         blocks, allreduce in place two of the largest parts
 * Source  Kumar 2004 (ring); Thakur, Rabenseifner, Gropp 2005, §4.1, §4.4,
 *         doi:10.1177/1094342005051521; Patarasuk, Yuan 2009, doi:10.1016/j.jpdc.2008.09.002
 */
#ifndef COLL_ALGOS_RING_H
#define COLL_ALGOS_RING_H

#include "../plan.h"

/* The block that r sends at step s of an allgather; (r − s) mod p for s ≤ p. */
COLL_INLINE uint32_t coll_i_ring_block(uint32_t p, uint32_t r, size_t s)
{
    return r >= s ? r - (uint32_t)s : r + (p - (uint32_t)s);
}

COLL_INLINE uint32_t coll_i_ring_next(uint32_t p, uint32_t r)
{
    return r + 1 == p ? 0 : r + 1;
}

COLL_INLINE uint32_t coll_i_ring_previous(uint32_t p, uint32_t r)
{
    return r == 0 ? p - 1 : r - 1;
}

/* ---- allgather --------------------------------------------------------------------------- */

/* p−1 exchanges; the copy of the own block rides on the first (alone, it is the only step). */
COLL_INLINE size_t coll_i_ring_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p - (size_t)1 + (plan->problem.p == 1 && !coll_in_place(plan) ? 1 : 0);
}

COLL_INLINE unsigned coll_i_ring_allgather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_block own = coll_out_block(plan, coll_i_ring_block(p, rank, s));
    const bool first = s == 0 && !coll_in_place(plan);
    unsigned n = 0;
    if (p > 1) {
        const coll_block next = coll_out_block(plan, coll_i_ring_block(p, rank, s + 1));
        coll_act_send(&out[n++], coll_i_ring_next(p, rank),
                      first ? COLL_AT(COLL_IN, 0) : COLL_AT(COLL_OUT, own.offset), own.count);
        coll_act_recv(&out[n++], coll_i_ring_previous(p, rank), COLL_AT(COLL_OUT, next.offset),
                      next.count);
    }
    if (first)
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, own.offset), COLL_AT(COLL_IN, 0), own.count);
    return n;
}

COLL_ALGORITHM(coll_ring_allgather, "ring",
    "Kumar 2004; Thakur, Rabenseifner, Gropp 2005, section 4.1",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_ring_allgather_steps, coll_i_ring_allgather_step);

/* ---- reduce_scatter ---------------------------------------------------------------------- */

/* p−1 exchanges; alone, or in place with the result still in scratch, one copy more. */
COLL_INLINE size_t coll_i_ring_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    (void)rank;
    return p - (size_t)1 + (p == 1 || coll_in_place(plan) ? 1 : 0);
}

/* Partial sums live in two scratch slots in turn, the last one in OUT; in place, where OUT
 * still holds operands, in the scratch slot too, until the final copy. */
COLL_INLINE unsigned coll_i_ring_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_ref input = coll_input(plan);
    if (s == p - 1) {
        const coll_block own = coll_in_block(plan, rank);
        const coll_ref sum = COLL_AT(COLL_SCRATCH, ((s & 1) ^ 1) * plan->largest);
        unsigned n = 0;
        if (p == 1 && coll_in_place(plan)) /* the block may overlap its new place */
            coll_act_copy(&out[n++], sum, input + own.offset, own.count);
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, 0),
                      coll_in_place(plan) ? sum : input + own.offset, own.count);
        return n;
    }
    {
        const coll_block give = coll_in_block(plan, coll_i_ring_block(p, rank, s + 1));
        const coll_block take = coll_in_block(plan, coll_i_ring_block(p, rank, s + 2));
        const coll_ref sum = COLL_AT(COLL_SCRATCH, (s & 1) * plan->largest);
        const coll_ref last = COLL_AT(COLL_SCRATCH, ((s & 1) ^ 1) * plan->largest);
        const coll_ref here = s == p - 2 && !coll_in_place(plan) ? COLL_AT(COLL_OUT, 0) : sum;
        coll_act_send(&out[0], coll_i_ring_next(p, rank), s == 0 ? input + give.offset : last,
                      give.count);
        coll_act_recv_reduce(&out[1], coll_i_ring_previous(p, rank), here, input + take.offset,
                             here, take.count);
    }
    return 2;
}

COLL_INLINE size_t coll_i_ring_reduce_scatter_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 1 && !coll_in_place(plan) ? 0 : 2 * plan->largest;
}

COLL_ALGORITHM(coll_ring_reduce_scatter, "ring",
    "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), COLL_NEEDS_COMMUTATIVE,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_ring_reduce_scatter_steps, coll_i_ring_reduce_scatter_step,
    coll_i_ring_reduce_scatter_scratch);

/* ---- allreduce --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_ring_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 1 ? 1 : 2 * ((size_t)plan->problem.p - 1);
}

/* Sums form in OUT, which is also where their messages are staged, unless OUT holds the input. */
COLL_INLINE unsigned coll_i_ring_allreduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const bool summing = s < p - 1;
    const size_t phase =
        summing ? s : s - (p - 1); /* the gathering starts with block r, complete */
    const uint32_t skew = summing ? 1 : 0;
    const coll_block give =
        coll_part_block(plan->cut, coll_i_ring_block(p, rank, phase + skew));
    const coll_block take =
        coll_part_block(plan->cut, coll_i_ring_block(p, rank, phase + skew + 1));
    const coll_ref here = COLL_AT(COLL_OUT, take.offset);
    if (p == 1) {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), coll_input(plan), plan->problem.count);
        return 1;
    }
    coll_act_send(&out[0], coll_i_ring_next(p, rank),
                  (s == 0 ? coll_input(plan) : COLL_AT(COLL_OUT, 0)) + give.offset, give.count);
    if (summing)
        coll_act_recv_reduce(
            &out[1], coll_i_ring_previous(p, rank), here, coll_input(plan) + take.offset,
            coll_in_place(plan) ? COLL_AT(COLL_SCRATCH, (s & 1) * (plan->cut.base + 1)) : here,
            take.count);
    else
        coll_act_recv(&out[1], coll_i_ring_previous(p, rank), here, take.count);
    return 2;
}

COLL_INLINE size_t coll_i_ring_allreduce_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 1 || !coll_in_place(plan) ? 0 : 2 * (plan->cut.base + 1);
}

COLL_ALGORITHM(coll_ring_allreduce, "ring",
    "Thakur, Rabenseifner, Gropp 2005, section 4.5; Patarasuk, Yuan 2009",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_ring_allreduce_steps, coll_i_ring_allreduce_step, coll_i_ring_allreduce_scratch);

#endif /* COLL_ALGOS_RING_H */
