/* coll/algos/recursive_doubling_scan.h — scan: distances 1, 2, 4 … to the right
 *
 * Before round k a rank has the sum of the 2^k operands that end with its own (fewer near rank
 * 0). It sends it 2^k ranks to the right, and puts what comes from 2^k ranks to the left before
 * its own: the sum of 2^(k+1) operands. What comes is the left operand, so any operator is
 * right, and any p.
 *
 *   p = 6, scan: first … last operand of the sum that a rank has
 *       rank              0    1    2    3    4    5
 *       before round 0   0-0  1-1  2-2  3-3  4-4  5-5
 *       after round 0    0-0  0-1  1-2  2-3  3-4  4-5
 *       after round 1    0-0  0-1  0-2  0-3  1-4  2-5
 *       after round 2    0-0  0-1  0-2  0-3  0-4  0-5
 *
 * Laws (tests/algos/recursive_doubling_scan.c)
 *   (1) whom r sends to in round k receives from r in round k
 *   (2) before round k rank r has the sum of operands max(0, r−2^k+1) … r
 *   (3) no round writes where its own message is read
 * Cost    ⌈log2 p⌉ rounds, at most that many messages of `count` per rank, scratch `count`
 * Source  Hillis, Steele 1986, doi:10.1145/7902.7903
 */
#ifndef COLL_ALGOS_RECURSIVE_DOUBLING_SCAN_H
#define COLL_ALGOS_RECURSIVE_DOUBLING_SCAN_H

#include "../plan.h"

/* A rank's part. */
typedef struct coll_i_doubling_scan {
    uint32_t takes; /* rounds in which it receives … */
    uint32_t gives; /* … and in which it sends; both are the first ones */
} coll_i_doubling_scan;

COLL_INLINE coll_i_doubling_scan coll_i_doubling_scan_of(const coll_plan *plan, uint32_t rank)
{
    coll_i_doubling_scan part;
    part.takes = coll_log2_ceil(rank + 1);
    part.gives = coll_log2_ceil(plan->problem.p - rank);
    return part;
}

/* Where the sum lies before round k: in OUT and SCRATCH in turn, when it is complete in OUT. So
 * a round writes where it does not read, and nobody waits for its own message to be taken. */
COLL_INLINE coll_ref coll_i_doubling_scan_sum(coll_i_doubling_scan part, uint32_t k)
{
    return k >= part.takes || ((part.takes - k) & 1) == 0 ? COLL_AT(COLL_OUT, 0)
                                                          : COLL_AT(COLL_SCRATCH, 0);
}

COLL_INLINE size_t coll_i_doubling_scan_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_doubling_scan part = coll_i_doubling_scan_of(plan, rank);
    const uint32_t rounds = part.takes > part.gives ? part.takes : part.gives;
    return rounds == 0 && !coll_in_place(plan) ? 1 : rounds;
}

COLL_INLINE unsigned coll_i_doubling_scan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    const coll_i_doubling_scan part = coll_i_doubling_scan_of(plan, rank);
    const uint32_t k = (uint32_t)s, distance = (uint32_t)1 << k;
    const size_t count = plan->problem.count;
    const coll_ref input = coll_input(plan);
    coll_ref sum = coll_i_doubling_scan_sum(part, k);
    unsigned n = 0;
    if (k == 0 && sum != input) {
        /* rank 0's result; in place, an operand that the first round would overwrite */
        if (coll_in_place(plan) || part.takes == 0)
            coll_act_copy(&out[n++], sum, input, count);
        else
            sum = input;
    }
    if (k < part.gives)
        coll_act_send(&out[n++], rank + distance, sum, count);
    if (k < part.takes) {
        const coll_ref next = coll_i_doubling_scan_sum(part, k + 1);
        coll_act_recv_reduce(&out[n], rank - distance, next, sum, next, count);
        out[n++].flags = COLL_LEFT;
    }
    return n;
}

COLL_INLINE size_t coll_i_doubling_scan_scratch(const coll_plan *plan, uint32_t rank)
{
    const uint32_t takes = coll_i_doubling_scan_of(plan, rank).takes;
    return takes > 1 || (takes == 1 && coll_in_place(plan)) ? plan->problem.count : 0;
}

static const coll_algorithm coll_recursive_doubling_scan = {
    "recursive_doubling",
    "Hillis, Steele 1986",
    COLL_BIT(COLL_SCAN),
    COLL_GIVES_FIXED_ORDER,
    /* window */ 1,
    /* parameters */ 0,
    NULL,
    /* check */ NULL,
    coll_i_doubling_scan_steps,
    coll_i_doubling_scan_step,
    coll_i_doubling_scan_scratch,
    /* shared */ NULL,
};

#endif /* COLL_ALGOS_RECURSIVE_DOUBLING_SCAN_H */
