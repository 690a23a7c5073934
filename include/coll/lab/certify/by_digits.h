/* coll/lab/certify/by_digits.h — the argument of digits and folds: recursive doubling and its kin
 *
 * p ranks fold to a core of c·k^m (plan/topo/fold.h). A number of the core stands, before round t, for
 * the k^t numbers that are equal but in the lowest t digits, and these are a run of ranks: that is
 * claimed of its message. Recursive halving goes the other way: before round t a number has the sums
 * of all numbers that are equal in the digits up to t. So a plan is known by its digits, and a rank
 * by what it is: extra, proxy or base, and its digits.
 *
 *   p = 6, k = 2     rank     0  1  2  3  4  5
 *                    number      0     1  2  3
 *     before round 0 claimed     0–1   2–3 4  5        of the ranks
 *     before round 1             0–3   0–3 4–5 4–5
 *
 * The extra rank and its proxy have a step before the rounds, and one after them.
 */
#ifndef COLL_LAB_CERTIFY_BY_DIGITS_H
#define COLL_LAB_CERTIFY_BY_DIGITS_H

#include "../../algos/recursive_halving.h"
#include "local_proof.h"

COLL_INLINE bool coll_i_digits_halves(const coll_i_theorem *of)
{
    return of->in.core > 0;
}

COLL_INLINE const coll_fast_divisor *coll_i_digits_radix(const coll_i_theorem *of)
{
    return of->plan->algorithm->n_params > 0 ? &of->plan->radix : &coll_fast_divisor_two;
}

/* The ranks for which `span` numbers stand. */
COLL_INLINE coll_block coll_i_digits_run(const coll_i_theorem *of, uint32_t first,
                                         uint32_t span)
{
    const uint32_t begin = coll_fold_first(&of->plan->fold, first);
    coll_block run;
    run.offset = begin;
    run.count = coll_fold_first(&of->plan->fold, first + span) - begin;
    return run;
}

/* What a number of the core sends in a round. */
COLL_INLINE void coll_i_digits_round(const coll_i_theorem *of, uint32_t number,
                                     const coll_i_turn *at, coll_i_claim *claimed)
{
    const coll_exchange x =
        coll_exchange_of(&of->plan->fold, coll_i_digits_radix(of), number, at->round);
    if (coll_i_digits_halves(of)) { /* what its partner keeps */
        const coll_block part = coll_i_digits_run(
            of, x.first - x.below + coll_i_turn_to(&x, at->turn) * x.stride, x.stride);
        claimed->is.element = (uint32_t)part.offset;
        claimed->is.stride = x.radix * x.stride;
        claimed->is.first = number % claimed->is.stride;
        claimed->is.ranks = COLL_I_HALF_BOTH;
        claimed->count = part.count;
    } else {
        const coll_block run = coll_i_digits_run(of, number - x.below, x.stride);
        const bool gathers = of->plan->problem.collective == COLL_ALLGATHER;
        claimed->is.first = (uint32_t)run.offset;
        claimed->is.ranks = gathers ? 1 : (uint32_t)run.count;
        claimed->is.first_moves = gathers;
        claimed->count = gathers ? run.count : 1;
    }
}

COLL_INLINE bool coll_i_digits_message(const coll_i_theorem *of, uint32_t from, uint32_t to,
                                       size_t step, coll_i_claim *claimed)
{
    const coll_plan *plan = of->plan;
    const coll_collective c = plan->problem.collective;
    const coll_i_folded me = coll_i_folded_of(plan, from);
    claimed->count = coll_i_digits_halves(of) ? of->in.p : 1;
    claimed->is = coll_i_given(of, from, claimed->count);
    if (me.extra)
        return true;
    if (me.proxy && to + 1 == from) { /* the result of the extra rank */
        claimed->count = coll_i_wanted(of, to, &claimed->is);
        if (c == COLL_BARRIER)
            claimed->is = coll_i_complete(of);
        claimed->count = claimed->count > 0 ? claimed->count : 1;
        return true;
    }
    {
        const size_t s = step - (me.proxy ? 1 : 0);
        const coll_i_turn at =
            coll_i_digits_halves(of)
                ? coll_i_turn_down(plan, coll_i_digits_radix(of), true, s)
                : coll_i_turn_up(plan, coll_i_digits_radix(of), c == COLL_ALLREDUCE, s);
        if (at.round >= plan->fold.rounds)
            return false;
        coll_i_digits_round(of, me.number, &at, claimed);
    }
    coll_i_contributions_tidy(&of->in, &claimed->is);
    return true;
}

/* The same turn of the same round; a proxy is a step later. */
COLL_INLINE size_t coll_i_digits_there(const coll_i_theorem *of, uint32_t rank, size_t step,
                                       const coll_action *a)
{
    const coll_plan *plan = of->plan;
    const coll_i_folded me = coll_i_folded_of(plan, rank),
                        other = coll_i_folded_of(plan, a->peer);
    const bool sends = coll_i_has(COLL_I_SENDS, a);
    if (me.extra ? sends : other.extra && !sends)
        return 0;
    if (me.extra || other.extra)
        return plan->algorithm->steps(plan, a->peer) - 1;
    return step - (me.proxy ? 1 : 0) + (other.proxy ? 1 : 0);
}

/* An extra rank sends at first, and receives at the end, in a step of its own but for a barrier. */
COLL_INLINE uint64_t coll_i_digits_since(const coll_i_theorem *of, uint32_t rank, size_t step)
{
    const coll_i_folded me = coll_i_folded_of(of->plan, rank);
    if (me.extra)
        return step == 0                                           ? 1
               : step < of->plan->algorithm->steps(of->plan, rank) ? 2
                                                                   : UINT64_MAX;
    return 2 * ((uint64_t)step + (me.proxy ? 0 : 1)) + 1;
}

COLL_INLINE uint64_t coll_i_digits_when(const coll_i_theorem *of, uint32_t rank, size_t step,
                                        const coll_action *a)
{
    const bool receives = coll_i_has(COLL_I_RECEIVES, a);
    if (!coll_i_folded_of(of->plan, rank).extra)
        return coll_i_digits_since(of, rank, step) + (receives ? 1 : 0);
    return receives ? 2 * (uint64_t)of->plan->algorithm->steps(of->plan, rank + 1) : 1;
}

/* The last extra rank or its proxy; the first that is neither; the last rank, and to whom it sends in some round;
 * any one. */
COLL_INLINE unsigned coll_i_digits_classes(const coll_i_theorem *of, uint32_t *rank)
{
    const uint32_t p = of->in.p, folded = 2 * of->plan->fold.extra;
    unsigned n = 0;
    if (folded > 0)
        rank[n++] = folded - 1 - coll_i_drawn(p, 0, 2);
    if (folded < p)
        rank[n++] = folded;
    rank[n++] = p - 1;
    if (coll_i_digits_radix(of)->by > 2) { /* where that is not from whom it receives */
        const coll_fold *fold = &of->plan->fold;
        const coll_exchange x = coll_exchange_of(fold, coll_i_digits_radix(of), fold->core - 1,
                                                 coll_i_drawn(p, 5, fold->rounds));
        rank[n++] = coll_fold_rank(fold, coll_exchange_number(&x, coll_i_turn_to(&x, 0)));
    }
    rank[n++] = coll_i_drawn(p, 1, p);
    return n;
}

COLL_CONST(coll_i_claims, coll_i_by_digits, {
    coll_i_digits_message, coll_i_digits_there,
    coll_i_digits_when,    coll_i_digits_since,
    NULL,                  coll_i_digits_classes, false});

#endif /* COLL_LAB_CERTIFY_BY_DIGITS_H */
