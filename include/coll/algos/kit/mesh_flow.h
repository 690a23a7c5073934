/* coll/algos/kit/mesh_flow.h — blocks that flow to a root through neighbours on a mesh, and back
 *
 * What snake and fence share. The vector is cut into blocks of `segment` elements that follow
 * each other through a tree whose edges are links of a mesh, one hop a round: inward, where each
 * rank combines a block with its own, and, once the root has all of it, outward. A rank h hops
 * from the root handles block b inward in its round b and outward in its round b + 2h, so in the
 * middle of a long vector it handles two blocks a round.
 *
 *   a line of 4 ranks, 5 blocks: what each receives in each round, inward › and outward ‹
 *       round   0     1     2     3     4     5     6     7     8     9
 *       rank 3                                ‹0    ‹1    ‹2    ‹3    ‹4
 *       rank 2  ›0    ›1    ›2    ›3    ›4 ‹0 ‹1    ‹2    ‹3    ‹4
 *       rank 1        ›0    ›1    ›2 ‹0 ›3 ‹1 ›4 ‹2 ‹3    ‹4
 *       rank 0              ›0    ›1    ›2    ›3    ›4
 *
 * In a round a rank receives and combines, then sends, which its neighbours receive in the next:
 * so each rank's actions are in the order of a common clock.
 *
 * Source  Littlefield 1992, §3.2 and appendix
 */
#ifndef COLL_ALGOS_KIT_MESH_FLOW_H
#define COLL_ALGOS_KIT_MESH_FLOW_H

#include "../../plan.h"

/* param[0] and param[1] of snake and fence. */
COLL_TABLE(coll_param, coll_i_mesh_flow_params, {
    COLL_PARAM("width", "columns of the mesh; rank y*width + x is in column x of row y",
               1, UINT32_MAX, 1,
     {1, 4, 3, 1}),
    COLL_PARAM("segment", "elements of a block; 0: the whole vector",
               0, UINT32_MAX, 512, {0, 3, 0, 0})});

/* A rank's neighbours in the tree. */
typedef struct coll_i_mesh_flow {
    uint32_t hops;     /* to the root, which has 0 */
    uint32_t parent;   /* the neighbour one hop nearer to it */
    uint32_t children; /* neighbours one hop further away … */
    uint32_t child[4]; /* … the one with the longest way behind it first */
    uint32_t lower;    /* the first so many of them bring operands of lower ranks than this */
} coll_i_mesh_flow;

/* A rank's rounds: first those with an inward block alone, then those with both, then those with
 * an outward block alone. Two steps a round where the actions do not fit one. */
typedef struct coll_i_mesh_rounds {
    uint32_t in_recv, out_recv, in_send, out_send; /* actions for a block, in this order */
    size_t first, both, last;                      /* rounds */
    uint32_t first_split, both_split, last_split;  /* 1: two steps */
} coll_i_mesh_rounds;

/* Do all operands of a block meet in one pass? Not on a line, where they may have to keep their
 * order. */
COLL_HOT_INLINE bool coll_i_mesh_joins(const coll_i_mesh_flow *flow)
{
    return flow->children > 1 && flow->lower == 0;
}

/* Blocks of the vector, without a division where the count allows it. */
COLL_HOT_INLINE size_t coll_i_mesh_blocks(const coll_plan *plan)
{
    const size_t count = plan->problem.count, segment = plan->param[1];
    if (segment == 0 || count <= segment || (count - 1) >> 16 >> 16 != 0)
        return coll_segments(count, segment);
    return coll_divide((uint32_t)(count - 1), &plan->second) + (size_t)1;
}

COLL_HOT_INLINE coll_i_mesh_rounds coll_i_mesh_rounds_of(const coll_plan *plan,
                                                         const coll_i_mesh_flow *flow)
{
    const bool reduces = plan->problem.collective != COLL_BCAST;
    const bool spreads = plan->problem.collective != COLL_REDUCE;
    const bool root = flow->hops == 0;
    const uint32_t m = flow->children, copies = root && !coll_in_place(plan) ? 1 : 0;
    const size_t blocks = coll_i_mesh_blocks(plan);
    const size_t ahead = 2 * (size_t)flow->hops; /* inward blocks before the first result */
    uint32_t inward, outward;
    coll_i_mesh_rounds r;
    r.in_recv = !reduces ? 0 : m == 0 ? copies : m + (coll_i_mesh_joins(flow) ? 1u : 0u);
    r.in_send = reduces && !root ? 1 : 0;
    r.out_recv = spreads && !root ? 1 : 0;
    r.out_send = spreads ? m + (reduces ? 0 : copies) : 0;
    inward = r.in_recv + r.in_send;
    outward = r.out_recv + r.out_send;
    r.first = inward == 0 ? 0 : outward > 0 && ahead < blocks ? ahead : blocks;
    r.both = inward > 0 && outward > 0 ? blocks - r.first : 0;
    r.last = outward > 0 ? blocks - r.both : 0;
    r.first_split = inward > COLL_STEP_MAX ? 1 : 0;
    r.both_split = inward + outward > COLL_STEP_MAX ? 1 : 0;
    r.last_split = outward > COLL_STEP_MAX ? 1 : 0;
    return r;
}

/* Elements of a staging slot: of the largest block. */
COLL_HOT_INLINE size_t coll_i_mesh_slot(const coll_plan *plan)
{
    return coll_segment_block(plan->problem.count, plan->param[1], 0).count;
}

/* How many slots, or sets of them, are used in turn. */
COLL_HOT_INLINE size_t coll_i_mesh_turns(const coll_plan *plan)
{
    return plan->problem.count > coll_i_mesh_slot(plan) ? 2 : 1;
}

/* Has a rank OUT, to sum in? Without it, it sums in two slots of SCRATCH in turn. */
COLL_HOT_INLINE bool coll_i_mesh_has_out(const coll_plan *plan, const coll_i_mesh_flow *flow)
{
    return flow->hops == 0 || plan->problem.collective != COLL_REDUCE;
}

/* Slots of SCRATCH in which the messages of a block are staged: those of the last children. The
 * first message may be staged where the sum forms, unless an operand is there. */
COLL_HOT_INLINE uint32_t coll_i_mesh_staged(const coll_plan *plan, const coll_i_mesh_flow *flow)
{
    const bool occupied = coll_i_mesh_has_out(plan, flow) && coll_in_place(plan);
    return flow->children - (coll_i_mesh_joins(flow) || occupied ? 0u : 1u);
}

/* Inward action j for block b: receive from child j and combine; where they join, after the last
 * child the combining. Two sets of slots in turn: one fills while the other is combined. */
COLL_HOT_INLINE void coll_i_mesh_in_recv(const coll_plan *plan, const coll_i_mesh_flow *flow,
                                         size_t b, uint32_t j, coll_action *out)
{
    const coll_block block = coll_segment_block(plan->problem.count, plan->param[1], b);
    const uint32_t m = flow->children, staged = coll_i_mesh_staged(plan, flow);
    const bool has_out = coll_i_mesh_has_out(plan, flow);
    const size_t slot = coll_i_mesh_slot(plan), turn = b & 1 ? slot : 0;
    const coll_ref input = (has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0)) + block.offset;
    const coll_ref sum =
        has_out ? COLL_AT(COLL_OUT, block.offset) : COLL_AT(COLL_SCRATCH, turn);
    const coll_ref operands =
        COLL_AT(COLL_SCRATCH, (has_out ? 0 : coll_i_mesh_turns(plan) * slot) + staged * turn);
    if (m == 0) {
        coll_act_copy(out, sum, input, block.count);
    } else if (!coll_i_mesh_joins(flow)) {
        const coll_ref src = j == 0 ? input : sum;
        const coll_ref via = src == sum ? operands + (j + staged - m) * slot : sum;
        coll_act_recv_reduce(out, flow->child[j], sum, src, via, block.count);
        out->flags = j < flow->lower ? COLL_LEFT : 0;
    } else if (j < m) {
        coll_act_recv(out, flow->child[j], operands + j * slot, block.count);
    } else {
        coll_act_reduce(out, sum, input, operands, block.count);
        out->inputs = (uint16_t)m;
        out->stride = slot;
    }
}

/* Outward action j for block b: send to child j; after the last, the root of a broadcast copies
 * the block to OUT. */
COLL_HOT_INLINE void coll_i_mesh_out_send(const coll_plan *plan, const coll_i_mesh_flow *flow,
                                          size_t b, uint32_t j, coll_action *out)
{
    const coll_block block = coll_segment_block(plan->problem.count, plan->param[1], b);
    const coll_ref here = COLL_AT(COLL_OUT, block.offset);
    const bool source = flow->hops == 0 && plan->problem.collective == COLL_BCAST;
    const coll_ref from = source ? coll_input(plan) + block.offset : here;
    if (j < flow->children)
        coll_act_send(out, flow->child[j], from, block.count);
    else
        coll_act_copy(out, here, from, block.count);
}

/* The inward send of block b: a rank without children has nothing to add to its input. */
COLL_HOT_INLINE void coll_i_mesh_in_send(const coll_plan *plan, const coll_i_mesh_flow *flow,
                                         size_t b, coll_action *out)
{
    const coll_block block = coll_segment_block(plan->problem.count, plan->param[1], b);
    const bool has_out = coll_i_mesh_has_out(plan, flow);
    coll_ref from = COLL_AT(COLL_SCRATCH, b & 1 ? coll_i_mesh_slot(plan) : 0);
    if (flow->children == 0)
        from = (has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0)) + block.offset;
    else if (has_out)
        from = COLL_AT(COLL_OUT, block.offset);
    coll_act_send(out, flow->parent, from, block.count);
}

COLL_HOT_INLINE size_t coll_i_mesh_flow_steps(const coll_plan *plan,
                                              const coll_i_mesh_flow *flow)
{
    const coll_i_mesh_rounds r = coll_i_mesh_rounds_of(plan, flow);
    return (r.first << r.first_split) + (r.both << r.both_split) + (r.last << r.last_split);
}

COLL_HOT_INLINE unsigned coll_i_mesh_flow_step(const coll_plan *plan,
                                               const coll_i_mesh_flow *flow, size_t s,
                                               coll_action *out)
{
    const coll_i_mesh_rounds r = coll_i_mesh_rounds_of(plan, flow);
    const size_t both_at = r.first << r.first_split;
    const size_t last_at = both_at + (r.both << r.both_split);
    const bool inward = s < last_at, outward = s >= both_at;
    const uint32_t split = !outward ? r.first_split : inward ? r.both_split : r.last_split;
    const size_t at = s - (!outward ? 0 : inward ? both_at : last_at);
    const size_t in = (outward ? r.first : 0) + (at >> split);
    const size_t back = (inward ? 0 : r.both) + (at >> split);
    const uint32_t out_recv = inward ? r.in_recv : 0;
    const uint32_t in_send = out_recv + (outward ? r.out_recv : 0);
    const uint32_t out_send = in_send + (inward ? r.in_send : 0);
    const uint32_t end = out_send + (outward ? r.out_send : 0);
    uint32_t j = split && (at & 1) ? COLL_STEP_MAX : 0;
    unsigned n = 0;
    for (; n < COLL_STEP_MAX && j < end; n++, j++) {
        if (j < out_recv) {
            coll_i_mesh_in_recv(plan, flow, in, j, &out[n]);
        } else if (j < in_send) {
            const coll_block block =
                coll_segment_block(plan->problem.count, plan->param[1], back);
            coll_act_recv(&out[n], flow->parent, COLL_AT(COLL_OUT, block.offset), block.count);
        } else if (j < out_send) {
            coll_i_mesh_in_send(plan, flow, in, &out[n]);
        } else {
            coll_i_mesh_out_send(plan, flow, back, j - out_send, &out[n]);
        }
    }
    return n;
}

COLL_INLINE size_t coll_i_mesh_flow_scratch(const coll_plan *plan, const coll_i_mesh_flow *flow)
{
    const size_t sums = coll_i_mesh_has_out(plan, flow) ? 0 : 1;
    if (plan->problem.collective == COLL_BCAST || flow->children == 0)
        return 0;
    return (sums + coll_i_mesh_staged(plan, flow)) * coll_i_mesh_turns(plan) *
           coll_i_mesh_slot(plan);
}

#endif /* COLL_ALGOS_KIT_MESH_FLOW_H */
