/* coll/algos/circulant.h — reduce_scatter(_block), allreduce, allgather(v) by halves, for any p
 *
 * Halve p, rounding up, until it is 1: these numbers are the distances of all messages, in a graph
 * that looks the same from every rank. In a reduce_scatter rank r starts with p blocks, r, r+1 …
 * and sends the second half of what it has to the rank half as far to the right, and combines what
 * comes from the left with its first half; until it has one block, its own. So it takes the fewest
 * rounds and the least traffic possible at once, whatever p is: nobody folds. An allgather is the
 * same backwards, and an allreduce both, on the vector cut into p parts.
 *
 *   p = 6, reduce_scatter:  blocks that rank r has, and sends
 *       before round 0      r … r+5               r+3 … r+5 to rank r+3
 *       before round 1      r … r+2               r+2 to rank r+2
 *       before round 2      r, r+1                r+1 to rank r+1
 *       in the end          r
 *
 * Laws (tests/algos/circulant.c)
 *   (1) before round k of a reduce_scatter rank r has ⌈p/2^k⌉ blocks, from its own on; it sends
 *       those from number ⌈p/2^(k+1)⌉ on, to the rank so far to its right
 *   (2) the rounds of an allgather are those of a reduce_scatter backwards, the other way
 *   (3) each block of a reduce_scatter is sent once by every rank but its own
 * Cost    reduce_scatter, allgather: ⌈log2 p⌉ rounds, p−1 blocks sent by a rank, a message a round;
 *         two in the first round of a reduce_scatter, and in any round of an allgather, if its
 *         blocks go on from block p−1 to block 0. allreduce: both. scratch: allgather none, else
 *         ⌈p/2⌉ blocks, for p > 4 ⌊⌈p/2⌉/2⌋ more; p = 2 one in place, else none
 * Source  Träff 2025, doi:10.34726/10760; the allgather: Bruck et al. 1997, doi:10.1109/71.642949
 */
#ifndef COLL_ALGOS_CIRCULANT_H
#define COLL_ALGOS_CIRCULANT_H

#include "kit/circulant_blocks.h"
#include "kit/circulant_schedule.h"

/* ---- reduce_scatter, and the first half of allreduce ------------------------------------- */

/* Where a rank's partial sums lie, its own block first: in SCRATCH, and behind them a message that
 * is being combined. */
typedef struct coll_i_circulant_sums {
    uint32_t rounds;
    coll_ref home; /* of the result */
    coll_ref staging;
} coll_i_circulant_sums;

COLL_HOT_INLINE coll_i_circulant_sums coll_i_circulant_sums_of(const coll_plan *plan,
                                                               uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    coll_i_circulant_sums sums;
    sums.rounds = coll_log2_ceil(p);
    sums.staging =
        COLL_AT(COLL_SCRATCH,
                p == 2 ? 0 /* nothing else is there */
                       : coll_i_circulant_elements(plan, rank, coll_i_circulant_skip(p, 1)));
    if (plan->problem.collective == COLL_ALLREDUCE)
        sums.home = COLL_AT(COLL_OUT, coll_i_circulant_at(plan, rank));
    else /* in place, operands may lie there until the end of round 0 */
        sums.home =
            COLL_AT(coll_in_place(plan) && sums.rounds == 1 ? COLL_SCRATCH : COLL_OUT, 0);
    return sums;
}

/* Round 0 takes from the input: at most two sends, and the same cut at the receiver. */
COLL_HOT_INLINE unsigned coll_i_circulant_first(const coll_plan *plan, uint32_t rank,
                                                const coll_i_circulant_sums *sums,
                                                coll_action *out)
{
    const uint32_t p = plan->problem.p, skip = coll_i_circulant_skip(p, 1), blocks = p - skip;
    const uint32_t to = coll_mod_add(rank, skip, p);
    const coll_ref input = coll_input(plan);
    coll_ref sum = sums->rounds == 1 ? sums->home : COLL_AT(COLL_SCRATCH, 0);
    unsigned n = 0;
    for (uint32_t i = 0, first = to, run; i < blocks; i += run, first = 0) {
        const size_t at = coll_i_circulant_at(plan, first);
        run = blocks - i < p - first ? blocks - i : p - first;
        coll_act_send(&out[n++], to, input + at, coll_i_circulant_at(plan, first + run) - at);
    }
    for (uint32_t i = 0, first = rank, run; i < blocks; i += run, first = 0) {
        const size_t at = coll_i_circulant_at(plan, first);
        size_t count;
        run = blocks - i < p - first ? blocks - i : p - first;
        count = coll_i_circulant_at(plan, first + run) - at;
        coll_act_recv_reduce(&out[n++], coll_mod_sub(rank, skip, p), sum, input + at,
                             sum == input + at ? sums->staging : sum, count);
        sum += count;
    }
    return n;
}

/* Round k > 0 is in SCRATCH. For an odd p the last block there has not been combined with any; it
 * is brought there in round 1, in which it leaves. */
COLL_HOT_INLINE unsigned coll_i_circulant_round(const coll_plan *plan, uint32_t rank,
                                                const coll_i_circulant_sums *sums, uint32_t k,
                                                coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const uint32_t had = coll_i_circulant_skip(p, k), skip = coll_i_circulant_skip(p, k + 1);
    const uint32_t to = coll_mod_add(rank, skip, p);
    const coll_ref sum = COLL_AT(COLL_SCRATCH, 0);
    const coll_ref result = k + 1 == sums->rounds ? sums->home : sum;
    unsigned n = 0;
    if (k == 1 && (p & 1)) {
        const uint32_t last = coll_mod_add(rank, had - 1, p);
        const size_t at = coll_i_circulant_at(plan, last);
        coll_act_copy(&out[n++], sum + coll_i_circulant_elements(plan, rank, had - 1),
                      coll_input(plan) + at, coll_i_circulant_at(plan, last + 1) - at);
    }
    coll_act_send(&out[n++], to, sum + coll_i_circulant_elements(plan, rank, skip),
                  coll_i_circulant_elements(plan, to, had - skip));
    coll_act_recv_reduce(&out[n++], coll_mod_sub(rank, skip, p), result, sum,
                         result == sum ? sums->staging : result,
                         coll_i_circulant_elements(plan, rank, had - skip));
    return n;
}

COLL_INLINE size_t coll_i_circulant_reduce_scatter_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t rounds = coll_log2_ceil(plan->problem.p);
    (void)rank;
    return rounds + (rounds == 0 && !coll_in_place(plan) ? (size_t)1 : 0);
}

COLL_INLINE unsigned coll_i_circulant_reduce_scatter_step(const coll_plan *plan, uint32_t rank,
                                                          size_t s, coll_action *out)
{
    const coll_i_circulant_sums sums = coll_i_circulant_sums_of(plan, rank);
    const coll_ref result = COLL_AT(COLL_OUT, 0);
    unsigned n = 0;
    if (sums.rounds == 0) {
        coll_act_copy(out, result, COLL_AT(COLL_IN, 0), coll_i_circulant_at(plan, 1));
        return 1;
    }
    if (s > 0)
        return coll_i_circulant_round(plan, rank, &sums, (uint32_t)s, out);
    n = coll_i_circulant_first(plan, rank, &sums, out);
    if (sums.rounds == 1 && coll_ref_space(sums.home) == COLL_SCRATCH)
        coll_act_copy(&out[n++], result, sums.home, coll_i_circulant_elements(plan, rank, 1));
    return n;
}

/* None where the result is all that there is. Sums are staged apart in rounds that are neither the
 * first nor the last. */
COLL_INLINE size_t coll_i_circulant_scratch(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p, half = coll_i_circulant_skip(p, 1);
    if (p == 1 || (p == 2 && !coll_in_place(plan)))
        return 0;
    return coll_i_circulant_elements(plan, rank, half) +
           coll_i_circulant_elements(plan, rank, p > 4 ? half / 2 : 0);
}

COLL_ALGORITHM(coll_circulant_reduce_scatter, "circulant", "Traeff 2025",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_circulant_reduce_scatter_steps, coll_i_circulant_reduce_scatter_step,
    coll_i_circulant_scratch);

/* ---- allgather, and the second half of allreduce ----------------------------------------- */

/* n blocks from number `first` on, in OUT; two messages around the end. */
COLL_HOT_INLINE unsigned coll_i_circulant_move(const coll_plan *plan, bool send, uint32_t peer,
                                               uint32_t first, uint32_t blocks,
                                               coll_action *out)
{
    const uint32_t p = plan->problem.p;
    unsigned n = 0;
    for (uint32_t run; blocks > 0; blocks -= run, first = 0) {
        const size_t at = coll_i_circulant_at(plan, first);
        run = blocks < p - first ? blocks : p - first;
        coll_act_move(&out[n++], send, peer, COLL_AT(COLL_OUT, at),
                      coll_i_circulant_at(plan, first + run) - at);
    }
    return n;
}

/* Round k, in which a rank has the blocks from its own on that it had before the round after this
 * in a reduce_scatter, and gets those that it had before this one. */
COLL_HOT_INLINE unsigned coll_i_circulant_gather(const coll_plan *plan, uint32_t rank,
                                                 uint32_t k, coll_action *out)
{
    const uint32_t p = plan->problem.p, has = coll_i_circulant_skip(p, k + 1);
    const uint32_t blocks = coll_i_circulant_skip(p, k) - has;
    const uint32_t from = coll_mod_add(rank, has, p);
    const unsigned n =
        coll_i_circulant_move(plan, true, coll_mod_sub(rank, has, p), rank, blocks, out);
    return n + coll_i_circulant_move(plan, false, from, from, blocks, &out[n]);
}

COLL_INLINE unsigned coll_i_circulant_allgather_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p, rounds = coll_log2_ceil(p);
    unsigned n = 0;
    if (p > 1)
        n = coll_i_circulant_gather(plan, rank, rounds - 1 - (uint32_t)s, out);
    if (s == 0 && !coll_in_place(plan)) {
        out[0].src = COLL_AT(COLL_IN, 0);
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, coll_i_circulant_at(plan, rank)),
                      COLL_AT(COLL_IN, 0), coll_own_count(plan, rank));
    }
    return n;
}

COLL_ALGORITHM(coll_circulant_allgather, "circulant", "Traeff 2025; Bruck et al. 1997",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_circulant_reduce_scatter_steps, coll_i_circulant_allgather_step);

/* ---- allreduce --------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_circulant_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_log2_ceil(plan->problem.p) + coll_i_circulant_reduce_scatter_steps(plan, rank);
}

COLL_INLINE unsigned coll_i_circulant_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                     size_t s, coll_action *out)
{
    const uint32_t rounds = coll_log2_ceil(plan->problem.p);
    if (s >= rounds && rounds > 0)
        return coll_i_circulant_gather(plan, rank, 2 * rounds - 1 - (uint32_t)s, out);
    return coll_i_circulant_reduce_scatter_step(plan, rank, s, out);
}

COLL_ALGORITHM(coll_circulant_allreduce, "circulant", "Traeff 2025",
    COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_circulant_allreduce_steps, coll_i_circulant_allreduce_step, coll_i_circulant_scratch);

#endif /* COLL_ALGOS_CIRCULANT_H */
