/* coll/algos/kshift.h — allgather(v), alltoall(v): to the neighbours, and k on
 *
 * A rank sends every block that it holds to its k−1 neighbours, ⌊(k−1)/2⌋ before it and the rest
 * behind it, and forwards it once, to the rank k further on, which does the same. So a block's
 * holders are its owner i, i+k, i+2k …, and their neighbourhoods tile the ring; if p is no
 * multiple of k, the last one is shorter, and may end before the rank k on: then its last rank is
 * the holder. All messages but one in k stay near, and every rank does the same, whatever p and k
 * are. On a machine with missing nodes the ranks are the nodes that exist: those far from a
 * missing one send to the same nodes as if it were there. An alltoall sends straight, in the same
 * order of distances.
 *
 *   p = 10, k = 4
 *       block 0    9 ← 0 → 1, 2      rank r      sends block    to              receives block
 *                      ↓             step 0      r              r+4             r−4
 *                  3 ← 4 → 5, 6      steps 1–3   r              r−1, r+1, r+2   r+1, r−1, r−2
 *                      ↓             step 4      r−4            r+4             r−8
 *                  7 ← 8             steps 5–7   r−4            r−1, r+1, r+2   r−3, r−5, r−6
 *                                    step 9      r−8            r−1             r−7
 *
 * Laws (tests/algos/kshift.c)
 *   (1) what r sends at step s is what its peer receives at step s
 *   (2) in an allgather, the block of steps tk … tk+k−1 is that of the rank tk before the sender
 *       (in the last turn perhaps nearer); the first of them forwards it
 *   (3) blocks are sent to each distance 1 … p−1 from their owners, once
 *   (4) if one of 3k, 4k … nodes is missing, all but k+⌊(k−1)/2⌋ keep their k destinations
 * Cost    p−1 messages and blocks per rank, ⌈p/k⌉−1 of them to the next holder; at most p−1
 *         rounds. The blocks that a rank of an allgather sends are ⌈(p−1)/k⌉ different ones: time
 *         (p−1)(α + mβ) + ⌈(p−1)/k⌉mδ where each is copied to the network processor once.
 *         scratch: alltoall in place two of the largest blocks
 * Source  Kumar 2004 (k-shift)
 */
#ifndef COLL_ALGOS_KSHIFT_H
#define COLL_ALGOS_KSHIFT_H

#include "kit/derived.h"
#include "pairwise.h"

COLL_TABLE(coll_param, coll_i_kshift_params, {
    COLL_PARAM("k", "ranks of a neighbourhood", 1, UINT32_MAX, 8, {8, 1, 3, 100})});
COLL_TABLE(coll_param, coll_i_kshift_alltoall_params, {
    COLL_PARAM("k", "ranks of a neighbourhood", 1, UINT32_MAX, 8, {3, 100, 3, 3})});

/* How far a block is from its owner, modulo p, at some step: with its holder of this turn, and
 * with the rank to which that sends it. */
typedef struct coll_i_kshift {
    uint32_t holder, to; /* the same: nothing is sent */
} coll_i_kshift;

COLL_HOT_INLINE coll_i_kshift coll_i_kshift_of(const coll_plan *plan, size_t s)
{
    const uint32_t p = plan->problem.p, k = plan->param[0];
    const uint32_t step = (uint32_t)s, turn = coll_divide(step, &plan->radix), at = turn * k;
    const uint32_t before = ((k < p ? k : p) - 1) / 2, last = p - 1 - before;
    coll_i_kshift it;
    it.holder = at < last ? at : last;
    if (step == at) {
        it.to = k > p - 1 - at ? it.holder : at + k < last ? at + k : last; /* forwards */
    } else { /* counted from the first neighbour of the owner, without the holder */
        const uint32_t place = step - (step <= it.holder + before ? 1 : 0);
        it.to = place >= before ? place - before : place + (p - before);
    }
    return it;
}

/* ---- allgather --------------------------------------------------------------------------- */

/* One for each rank that a block gets to. The owner's is the first, which forwards, too. */
COLL_INLINE size_t coll_i_kshift_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p;
}

COLL_INLINE unsigned coll_i_kshift_allgather_step(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_i_kshift it = coll_i_kshift_of(plan, s);
    const uint32_t given = coll_mod_sub(rank, it.holder, p);
    const coll_block give = coll_out_block(plan, given);
    const bool fresh = given == rank && !coll_in_place(plan);
    unsigned n = 0;
    if (it.to != it.holder) {
        const uint32_t taken = coll_mod_sub(rank, it.to, p);
        const coll_block take = coll_out_block(plan, taken);
        coll_act_send(&out[n++], coll_mod_add(given, it.to, p),
                      fresh ? COLL_AT(COLL_IN, 0) : COLL_AT(COLL_OUT, give.offset), give.count);
        coll_act_recv(&out[n++], coll_mod_add(taken, it.holder, p),
                      COLL_AT(COLL_OUT, take.offset), take.count);
    }
    if (s == 0 && fresh)
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, give.offset), COLL_AT(COLL_IN, 0),
                      give.count);
    return n;
}

COLL_ALGORITHM(coll_kshift_allgather, "kshift", "Kumar 2004, k-shift",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_kshift_params, coll_i_prepare_radix),
    coll_i_kshift_allgather_steps, coll_i_kshift_allgather_step);

/* ---- alltoall ---------------------------------------------------------------------------- */

/* In place, pairs trade blocks in the order of pairwise.h. */
COLL_INLINE size_t coll_i_kshift_alltoall_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_in_place(plan) ? coll_i_pairwise_alltoall_steps(plan, rank) : plan->problem.p;
}

COLL_INLINE unsigned coll_i_kshift_alltoall_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_i_kshift it = coll_i_kshift_of(plan, s);
    unsigned n = 0;
    if (coll_in_place(plan))
        return coll_i_pairwise_alltoall_step(plan, rank, s, out);
    if (it.to != it.holder)
        n = coll_i_pairwise_exchange(plan, coll_mod_add(rank, it.to, p),
                                     coll_mod_sub(rank, it.to, p), out);
    return n + (s == 0 ? coll_i_pairwise_own(plan, rank, &out[n]) : 0);
}

COLL_ALGORITHM(coll_kshift_alltoall, "kshift", "Kumar 2004, k-shift",
    COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_ALLTOALLV), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_kshift_alltoall_params, coll_i_prepare_radix),
    coll_i_kshift_alltoall_steps, coll_i_kshift_alltoall_step, coll_i_pairwise_alltoall_scratch);

#endif /* COLL_ALGOS_KSHIFT_H */
