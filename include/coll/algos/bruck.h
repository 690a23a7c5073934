/* coll/algos/bruck.h — allgather(v) by ever longer runs of blocks, radix k
 *
 * Before the round of stride s = k^j a rank has the s blocks from its own one on, r, r+1 …
 * r+s−1. It sends them to the k−1 ranks at distances s, 2s … (k−1)s to its left, and gets the
 * runs that follow its own one from those to its right; so ⌈log_k p⌉ rounds suffice for any p,
 * and a larger k has fewer, fuller rounds. In the last one, only what is still missing moves.
 * Blocks lie at their final places from the start, so there is nothing to rotate in the end; a
 * run that goes on from block p−1 to block 0 is two messages.
 *
 *   p = 6, k = 2: runs that rank r has         k = 3
 *       before      r                              before      r
 *       stride 1    r, r+1        from r+1         stride 1    r, r+1, r+2   from r+1, r+2
 *       stride 2    r … r+3       from r+2         stride 3    r … r+5       from r+3
 *       stride 4    r … r+5       from r+4
 *
 * Laws (tests/algos/bruck.c)
 *   (1) what r sends at step s is what its peer receives from it at step s
 *   (2) before the round of stride s a rank has blocks r … r+s−1 (modulo p), and sends no others
 *   (3) every block comes once
 * Cost    ⌈log_k p⌉ rounds; p−1 blocks per rank, in (k−1)·j + ⌈p/k^j⌉ − 1 messages,
 *         j = ⌈log_k p⌉ − 1, and one more for each that begins at block r and goes beyond p−1
 * Source  Bruck, Ho, Kipnis, Upfal, Weathersby 1997, doi:10.1109/71.642949
 */
#ifndef COLL_ALGOS_BRUCK_H
#define COLL_ALGOS_BRUCK_H

#include "../plan.h"
#include "../plan/topo/tree.h"
#include "kit/derived.h"

COLL_TABLE(coll_param, coll_i_bruck_params, {
    COLL_PARAM("k", "k-1 messages a round", 2, UINT32_MAX / 2, 2, {2, 3, 4, 100})});

/* The distances are those of the children of a k-nomial tree's root; alone, the copy. */
COLL_INLINE size_t coll_i_bruck_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    (void)rank;
    return p > 1 ? coll_fnomial_of(p, &plan->radix, 0).children : coll_in_place(plan) ? 0u : 1u;
}

/* Elements of OUT before block i; all of them for i = p. */
COLL_HOT_INLINE size_t coll_i_bruck_at(const coll_plan *plan, uint32_t i)
{
    return coll_i_layout_at(&plan->problem.out, plan->problem.count, plan->problem.p, i);
}

/* The messages of `blocks` blocks from number `first` on: one, or two around the end. */
COLL_HOT_INLINE unsigned coll_i_bruck_move(const coll_plan *plan, bool send, uint32_t peer,
                                           uint32_t first, uint32_t blocks, coll_action *out)
{
    const uint32_t left = plan->problem.p - first, straight = blocks < left ? blocks : left;
    const size_t begin = coll_i_bruck_at(plan, first);
    coll_act_move(&out[0], send, peer, COLL_AT(COLL_OUT, begin),
                  coll_i_bruck_at(plan, first + straight) - begin);
    if (straight == blocks)
        return 1;
    coll_act_move(&out[1], send, peer, COLL_AT(COLL_OUT, 0),
                  coll_i_bruck_at(plan, blocks - straight));
    return 2;
}

COLL_INLINE unsigned coll_i_bruck_allgather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const uint32_t p = plan->problem.p;
    unsigned n = 0;
    if (p > 1) {
        const coll_fnomial_phase round = coll_fnomial_phase_of(plan->param[0], (uint32_t)s);
        const uint32_t distance = ((uint32_t)s - round.first + 1) * round.stride;
        const uint32_t missing = p - distance;
        const uint32_t blocks = round.stride < missing ? round.stride : missing;
        const uint32_t from = coll_mod_add(rank, distance, p);
        n = coll_i_bruck_move(plan, true, coll_mod_sub(rank, distance, p), rank, blocks, out);
        if (round.stride == 1 && !coll_in_place(plan))
            out[0].src = COLL_AT(COLL_IN, 0);
        n += coll_i_bruck_move(plan, false, from, from, blocks, &out[n]);
    }
    if (s == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, coll_i_bruck_at(plan, rank)),
                      COLL_AT(COLL_IN, 0), coll_out_block(plan, rank).count);
    return n;
}

COLL_ALGORITHM(coll_bruck_allgather, "bruck", "Bruck et al. 1997",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_NEEDS_PACKED,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_bruck_params, coll_i_prepare_radix),
    coll_i_bruck_allgather_steps, coll_i_bruck_allgather_step);

#endif /* COLL_ALGOS_BRUCK_H */
