/* coll/algos/linear_scan.h — scan, exscan along the line of ranks
 *
 * The sum of the ranks 0 … r−1 reaches rank r from its left neighbour; r adds its operand and
 * passes the sum on. Segments follow each other down the line, so a long vector costs little
 * more than its transfer once.
 *
 *   p = 4, scan, segments a, b:    rank 0 ─a─► 1 ─a─► 2 ─a─► 3
 *                                         ─b─►   ─b─►   ─b─►      each one hop behind a
 *
 * Laws (tests/algos/linear_scan.c)
 *   (1) r receives from r−1 and sends to r+1, each segment once, in order
 *   (2) a segment leaves a rank in the step in which it came
 *   (3) if a message takes one unit of time and every link carries one at a time, all is done after
 *       p + S − 2: a segment makes p−1 hops
 * Cost    S = ⌈count/segment⌉ (1 for segment 0): S messages and `count` elements per rank; p−1
 *         rounds. scratch: scan in place two segments; exscan two, in place four; the first rank
 *         none, nor the last in an exscan
 * Source  Moody 2003, §3.2.1 (the order of operands); Littlefield 1992 (a pipelined line)
 */
#ifndef COLL_ALGOS_LINEAR_SCAN_H
#define COLL_ALGOS_LINEAR_SCAN_H

#include "../plan.h"

COLL_TABLE(coll_param, coll_i_linear_scan_params, {
    COLL_PARAM("segment", "elements of a segment; 0: the whole vector",
               0, UINT32_MAX, 0, {0, 1, 7, 0})});

/* A step a segment. */
COLL_INLINE size_t coll_i_linear_scan_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_segments(plan->problem.count, plan->param[0]);
}

/* Elements of a segment's slot in SCRATCH. */
COLL_INLINE size_t coll_i_linear_scan_slot(const coll_plan *plan)
{
    return coll_segment_block(plan->problem.count, plan->param[0], 0).count;
}

COLL_INLINE unsigned coll_i_linear_scan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    const coll_block seg = coll_segment_block(plan->problem.count, plan->param[0], s);
    const coll_ref input = coll_input(plan) + seg.offset, sum = COLL_AT(COLL_OUT, seg.offset);
    unsigned n = 0;
    if (rank > 0) {
        const coll_ref slot = COLL_AT(COLL_SCRATCH, (s & 1) * coll_i_linear_scan_slot(plan));
        coll_act_recv_reduce(&out[n], rank - 1, sum, input, coll_in_place(plan) ? slot : sum,
                             seg.count);
        out[n++].flags = COLL_LEFT;
    }
    if (rank + 1 < plan->problem.p)
        coll_act_send(&out[n++], rank + 1, rank > 0 ? sum : input, seg.count);
    if (rank == 0 && !coll_in_place(plan))
        coll_act_copy(&out[n++], sum, input, seg.count);
    return n;
}

COLL_INLINE size_t coll_i_linear_scan_scratch(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 || !coll_in_place(plan) ? 0 : 2 * coll_i_linear_scan_slot(plan);
}

COLL_ALGORITHM(coll_linear_scan, "linear", "Moody 2003, section 3.2.1; Littlefield 1992",
    COLL_BIT(COLL_SCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_linear_scan_params),
    coll_i_linear_scan_steps, coll_i_linear_scan_step, coll_i_linear_scan_scratch);

/* The sum that arrives is this rank's result, and the left operand of the one that leaves. In
 * place, OUT still holds the other operand, so the sum that arrives waits in SCRATCH. */
COLL_INLINE unsigned coll_i_linear_exscan_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    const coll_block seg = coll_segment_block(plan->problem.count, plan->param[0], s);
    const coll_ref input = coll_input(plan) + seg.offset,
                   result = COLL_AT(COLL_OUT, seg.offset);
    const size_t slot = coll_i_linear_scan_slot(plan);
    const coll_ref leaving = COLL_AT(COLL_SCRATCH, (s & 1) * slot);
    const bool last = rank + 1 == plan->problem.p;
    const coll_ref arriving = coll_in_place(plan) && !last ? leaving + 2 * slot : result;
    unsigned n = 0;
    if (rank == 0) {
        if (!last)
            coll_act_send(&out[n++], 1, input, seg.count);
        return n;
    }
    coll_act_recv(&out[n++], rank - 1, arriving, seg.count);
    if (!last) {
        coll_act_reduce(&out[n++], leaving, arriving, input, seg.count);
        coll_act_send(&out[n++], rank + 1, leaving, seg.count);
    }
    if (arriving != result)
        coll_act_copy(&out[n++], result, arriving, seg.count);
    return n;
}

COLL_INLINE size_t coll_i_linear_exscan_scratch(const coll_plan *plan, uint32_t rank)
{
    if (rank == 0 || rank + 1 == plan->problem.p)
        return 0;
    return (coll_in_place(plan) ? 4 : 2) * coll_i_linear_scan_slot(plan);
}

COLL_ALGORITHM(coll_linear_exscan, "linear", "Moody 2003, section 3.2.1; Littlefield 1992",
    COLL_BIT(COLL_EXSCAN), COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PARAMS(1, coll_i_linear_scan_params),
    coll_i_linear_scan_steps, coll_i_linear_exscan_step, coll_i_linear_exscan_scratch);

#endif /* COLL_ALGOS_LINEAR_SCAN_H */
