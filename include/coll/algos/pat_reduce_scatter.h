/* coll/algos/pat_reduce_scatter.h — reduce_scatter(_block) on parallel aggregated trees
 *
 * The messages of pat.h backwards, in their order and their direction: partial sums come up the
 * trees, and far ranks, to which the fewest messages go, come last. In the trees below the top,
 * where vertices come in the order δ−1 … 1, sums are complete, and sent, before those of the next
 * subtree are begun, except on the path from there to the top. So a rank keeps sums for as many
 * messages only as the paths are long: one for each bit of δ.
 *
 *   p = 8, aggregate = 2, so δ = 4:  vertex x, to vertex
 *       3 to 2      2 to 0      1 to 0      4 to 0
 *       7 to 6      6 to 4      5 to 4
 *       r to r−1    r to r−2    r to r−1    r to r−4
 *
 * Laws (tests/algos/pat_reduce_scatter.c)
 *   (1) what r sends in a message is what its peer receives in it
 *   (2) the messages are those of an allgather backwards, to where they came from
 *   (3) a vertex sends when it has taken up all its children
 * Cost    the rounds, messages and blocks of pat.h; p−1 blocks are reduced. scratch in blocks,
 *         A = ⌈p/δ⌉: A·log2 δ for sums, and 4A for messages of several blocks, 2 if there are none
 * Source  Jeaugey 2025, arXiv:2506.20252 (NCCL 2.23)
 */
#ifndef COLL_ALGOS_PAT_REDUCE_SCATTER_H
#define COLL_ALGOS_PAT_REDUCE_SCATTER_H

#include "pat.h"

/* The input of the block whose rank is x to the left. */
COLL_HOT_INLINE coll_block coll_i_pat_operand(const coll_plan *plan, uint32_t rank, uint32_t x)
{
    return coll_in_block(plan, coll_mod_sub(rank, x, plan->problem.p));
}

/* Bits of δ, and the place of a vertex in the tree below the top. */
COLL_HOT_INLINE uint32_t coll_i_pat_depth(const coll_i_pat *trees)
{
    return trees->height - trees->top;
}

COLL_HOT_INLINE uint32_t coll_i_pat_inside(const coll_i_pat *trees, uint32_t x)
{
    return x & (uint32_t)(((uint64_t)1 << coll_i_pat_depth(trees)) - 1);
}

/* Where the sum of a vertex with children forms: there is room for a message of each bit, and for
 * one at the top. */
COLL_HOT_INLINE coll_ref coll_i_pat_sum(const coll_plan *plan, const coll_i_pat *trees,
                                        uint32_t x)
{
    const uint32_t inside = coll_i_pat_inside(trees, x), most = coll_i_pat_most(trees);
    const uint32_t room = inside == 0 ? 0 : COLL_LOWEST_BIT(inside);
    const uint32_t i = (uint32_t)((uint64_t)x >> coll_i_pat_depth(trees));
    const size_t stages = most > 1 ? 4 * (size_t)most : 2;
    if (x == 0 && !coll_in_place(plan))
        return COLL_AT(COLL_OUT, 0);
    return COLL_AT(COLL_SCRATCH, (stages + room * (size_t)most + i) * trees->slot);
}

/* Is the child x + distance the first one that is taken up? It is the farthest below the top. */
COLL_HOT_INLINE bool coll_i_pat_first(const coll_plan *plan, const coll_i_pat *trees,
                                      uint32_t x, uint32_t distance)
{
    const uint32_t inside = coll_i_pat_inside(trees, x), last = plan->problem.p - 1;
    const uint32_t reach =
        inside == 0 ? coll_i_pat_inside(trees, UINT32_MAX) : (inside & (0 - inside)) - 1;
    return coll_pow2_floor(reach < last - x ? reach : last - x) == distance;
}

/* Entry `at` of a message: packs, sends, receives and reduces instead of unpacking. */
COLL_HOT_INLINE void coll_i_pat_reduce(const coll_plan *plan, const coll_i_pat *trees,
                                       uint32_t rank, const coll_i_pat_message *message,
                                       coll_action *out)
{
    const uint32_t p = plan->problem.p, at = message->at, packs = message->packs;
    const uint32_t distance = message->distance;
    const bool sends = at <= packs, packed = packs > 0;
    const uint32_t i = at < packs ? at : at > packs + 1 ? at - packs - 2 : 0;
    const uint32_t x = coll_i_pat_vertex(message, i) - (sends ? 0 : distance);
    const coll_block block = coll_i_pat_operand(plan, rank, x);
    const coll_ref operand = coll_input(plan) + block.offset;
    const coll_ref sum = coll_i_pat_sum(plan, trees, x);
    const coll_ref stage = coll_i_pat_stage(trees, message, sends || !packed ? 0 : 2, i);
    if (sends) { /* vertices without children have their operand alone */
        const coll_ref partial = (x & 1) != 0 || x == p - 1 ? operand : sum;
        if (at < packs)
            coll_act_copy(out, stage, partial, block.count);
        else
            coll_act_send(out, coll_mod_sub(rank, distance, p), packed ? stage : partial,
                          packed ? message->blocks * trees->slot : block.count);
    } else if (packed && at == packs + 1) {
        coll_act_recv(out, coll_mod_add(rank, distance, p), stage,
                      message->blocks * trees->slot);
    } else {
        const bool first = coll_i_pat_first(plan, trees, x, distance);
        const coll_ref src = first ? operand : sum;
        if (packed)
            coll_act_reduce(out, sum, src, stage, block.count);
        else
            coll_act_recv_reduce(out, coll_mod_add(rank, distance, p), sum, src,
                                 first ? sum : stage, block.count);
    }
}

/* All messages; in place, the copy of the result to OUT. Alone, the copy, in place by way of
 * SCRATCH, as the block may overlap its new place. */
COLL_HOT_INLINE size_t coll_i_pat_copies(const coll_plan *plan)
{
    return (plan->problem.p == 1 ? 1u : 0u) + (coll_in_place(plan) ? 1u : 0u);
}

COLL_INLINE size_t coll_i_pat_reduce_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_pat trees = coll_i_pat_of(plan);
    const size_t entries = coll_i_pat_all(plan, &trees) + coll_i_pat_copies(plan);
    (void)rank;
    return (entries + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_pat_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    const coll_i_pat trees = coll_i_pat_of(plan);
    const size_t all = coll_i_pat_all(plan, &trees), first = s * COLL_STEP_MAX;
    const size_t entries = all + coll_i_pat_copies(plan);
    const coll_block own = coll_in_block(plan, rank);
    const coll_ref sum = coll_i_pat_sum(plan, &trees, 0);
    coll_i_pat_message message;
    unsigned n = 0;
    message.at = message.packs = message.blocks = 0; /* none yet */
    for (; n < COLL_STEP_MAX && first + n < all; n++) {
        if (message.blocks == 0 || message.at == 2 * message.packs + 2) {
            coll_i_pat_find(&message, plan, &trees, all - 1 - (first + n));
            message.at = 2 * message.packs + 1 - message.at;
        }
        coll_i_pat_reduce(plan, &trees, rank, &message, &out[n]);
        message.at++;
    }
    if (plan->problem.p == 1 && first == 0)
        coll_act_copy(&out[n++], sum, coll_input(plan) + own.offset, own.count);
    if (coll_in_place(plan) && n < COLL_STEP_MAX && first + n < entries)
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, 0), sum, own.count);
    return n;
}

COLL_INLINE size_t coll_i_pat_reduce_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_pat trees = coll_i_pat_of(plan);
    const size_t most = coll_i_pat_most(&trees), stages = most > 1 ? 4 * most : 2;
    (void)rank;
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? (stages + 1) * trees.slot : 0;
    return (stages + coll_i_pat_depth(&trees) * most) * trees.slot;
}

COLL_ALGORITHM(coll_pat_reduce_scatter, "pat", "Jeaugey 2025",
    COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
    COLL_NEEDS_COMMUTATIVE | COLL_USES_PADDING,
    /* window */ 2, /* sends */ 1, COLL_PARAMS(1, coll_i_pat_params),
    coll_i_pat_reduce_steps, coll_i_pat_reduce_step, coll_i_pat_reduce_scratch,
    coll_i_pat_check);

#endif /* COLL_ALGOS_PAT_REDUCE_SCATTER_H */
