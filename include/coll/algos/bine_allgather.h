/* coll/algos/bine_allgather.h — allgather(v) on the Bine butterfly
 *
 * The rounds of kit/bine_rounds.h: in round t a rank sends all that it has, a run of 2^t blocks,
 * and receives the run next to it. So blocks stay in rank order, nothing needs to be brought home,
 * and p need not be a power of two, only even. If p is odd, rank p−1 hands its block to the one
 * before, and is handed all of them.
 *
 *   p = 6: blocks that a rank has
 *       rank      0      1      2      3      4      5
 *       round 0  0–1    0–1    2–3    2–3    4–5    4–5      0 ↔ 1, 2 ↔ 3, 4 ↔ 5
 *       round 1  4–1    0–3    0–3    2–5    2–5    4–1      0 ↔ 5, 2 ↔ 1, 4 ↔ 3
 *       round 2  all    all    all    all    all    all      0 ↔ 3, 2 ↔ 5, 4 ↔ 1: 2 blocks each way
 *
 * Laws (tests/algos/bine_butterfly.c): (1), (2) and (4) of bine_butterfly.h
 * Cost    q = p, or p−1 if p is odd; m = ⌈log2 q⌉ rounds, for odd p one more, or two if rank q−1 is
 *         where m rounds lead from it. Per rank a message a round, two where the run passes rank
 *         q−1; q−1 blocks in all. Besides, for odd p: rank p−1 sends its block, rank p−2 all blocks
 *         to it. scratch: none
 * Source  De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler 2025,
 *         doi:10.1145/3712285.3759835
 */
#ifndef COLL_ALGOS_BINE_ALLGATHER_H
#define COLL_ALGOS_BINE_ALLGATHER_H

#include "kit/bine_rounds.h"

COLL_INLINE size_t coll_i_bine_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_bine_member me = coll_i_bine_member_of(plan, rank);
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return me.extra ? 2 : me.rounds + (me.proxy ? (size_t)2 : 0);
}

COLL_INLINE unsigned coll_i_bine_allgather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const coll_i_bine_member me = coll_i_bine_member_of(plan, rank);
    const coll_block own = coll_out_block(plan, rank);
    const coll_ref blocks = COLL_AT(COLL_OUT, 0), place = blocks + own.offset;
    const coll_ref input = coll_in_place(plan) ? place : COLL_AT(COLL_IN, 0);
    unsigned n = 0;
    if (plan->problem.p > 1 && me.extra) {
        if (s == 0)
            coll_act_send(&out[n++], rank - 1, input, own.count);
        else
            coll_act_recv(&out[n++], rank - 1, blocks, coll_i_bine_all(plan, &me));
        return n;
    }
    if (me.proxy && s == 0) {
        const coll_block theirs = coll_out_block(plan, rank + 1);
        coll_act_recv(&out[n++], rank + 1, blocks + theirs.offset, theirs.count);
    } else if (plan->problem.p > 1) {
        const uint32_t t = (uint32_t)s - (me.proxy ? 1 : 0);
        if (t == me.rounds)
            coll_act_send(&out[n++], rank + 1, blocks, coll_i_bine_all(plan, &me));
        else
            n = coll_i_bine_gather(plan, &me, rank, t, s == 0 ? input - own.offset : blocks,
                                   out);
    }
    if (s == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], place, input, own.count);
    return n;
}

COLL_ALGORITHM(coll_bine_allgather, "bine", "De Sensi et al. 2025",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_NEEDS_PACKED | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_bine_allgather_steps, coll_i_bine_allgather_step);

#endif /* COLL_ALGOS_BINE_ALLGATHER_H */
