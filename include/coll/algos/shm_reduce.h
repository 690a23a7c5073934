/* coll/algos/shm_reduce.h — reduce, allreduce through the shared memory of a node
 *
 * Every rank puts a segment of its vector into a slot of its own in the pipeline buffer. Reduce:
 * the root, once all have told it, combines the p slots in one pass, in rank order. Allreduce:
 * a group_sync, each rank combines its part of the segment, a group_sync, and all get the result.
 *
 *   allreduce, p = 3, a segment of 6:     slots          result
 *     put         rank r → slot r         a a a a a a
 *     sync                                b b b b b b
 *     combine     rank 0 ▸ 0 1            c c c c c c    ▸ Σ Σ Σ Σ Σ Σ
 *                 rank 1 ▸ 2 3, rank 2 ▸ 4 5
 *     sync, get   all ◂ 0 … 5
 *
 * Laws (tests/algos/shm.c)
 *   (1) operands are combined in rank order, from rank 0 on, whoever does it
 *   (2) the parts of a segment tile it
 *   (3) a slot is put into only when its segment of stage t − buffers is combined, and a result
 *       written only when all have got the one of stage t − buffers
 * Cost    S = ⌈count/buffer⌉, B = buffers, E = max(0, S − B), h the height of the tree. reduce:
 *         count elements are put by each rank, p·count combined by the root; (p−1)(S + E)
 *         notifications, h·(2E + 1) rounds. allreduce: put and got by each, count/p of p operands
 *         combined by each; (p−1)(4S + E) notifications, 4h·S rounds
 * Source  Wu 2005, section 2.4; Bayatpour et al. 2017, section 4 (every rank a leader)
 */
#ifndef COLL_ALGOS_SHM_REDUCE_H
#define COLL_ALGOS_SHM_REDUCE_H

#include "kit/shared_buffers.h"

/* A pipeline buffer of a stage: p slots and, for allreduce, a result. */
typedef struct coll_i_shm_slots {
    coll_block seg;              /* of the vector */
    size_t piece;                /* elements from slot to slot */
    coll_ref first, own, result; /* slot 0, the rank's, and what is behind the last one */
    size_t all;                  /* elements of the whole buffer that are used */
} coll_i_shm_slots;

COLL_HOT_INLINE coll_i_shm_slots coll_i_shm_slots_of(const coll_plan *plan, uint32_t rank,
                                                     size_t stage, bool has_result)
{
    const uint32_t p = plan->problem.p, pieces = p + (has_result ? 1 : 0);
    coll_i_shm_slots slots;
    slots.seg = coll_i_shm_segment(plan, stage);
    slots.piece = coll_i_shm_piece(plan);
    slots.first =
        COLL_AT(COLL_SHARED, coll_i_shm_buffer(plan, stage) * (size_t)pieces * slots.piece);
    slots.own = slots.first + rank * slots.piece;
    slots.result = slots.first + p * slots.piece;
    slots.all = (pieces - 1) * slots.piece + slots.seg.count;
    return slots;
}

/* dst = all slots in rank order, of `count` elements from `offset` on. */
COLL_HOT_INLINE void coll_i_shm_combine(const coll_plan *plan, const coll_i_shm_slots *slots,
                                        coll_ref dst, size_t offset, size_t count,
                                        coll_action *out)
{
    coll_act_reduce(out, dst, slots->first + offset, slots->first + slots->piece + offset,
                    count);
    out->inputs = (uint16_t)(plan->problem.p - 1);
    out->stride = slots->piece;
}

/* One pass has at most so many operands. */
COLL_INLINE coll_status coll_i_shm_reduce_check(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    if (p > 0x10000)
        return COLL_ERR_SHAPE;
    return coll_i_shm_check(plan, 1, p + (size_t)1);
}

/* ---- reduce ------------------------------------------------------------------------------ */

COLL_HOT_INLINE uint32_t coll_i_shm_reduce_per(const coll_i_shm_tree *tree)
{
    return 2 * tree->children + (tree->v == 0 ? 2 : 3);
}

/* Puts, is told by all, combines, and tells all which slots are free for the next stage. */
COLL_HOT_INLINE void coll_i_shm_reduce_root(const coll_plan *plan, const coll_i_shm_tree *tree,
                                            size_t stage, uint32_t j, coll_action *out)
{
    const uint32_t m = tree->children;
    const coll_i_shm_slots slots = coll_i_shm_slots_of(plan, plan->problem.root, stage, false);
    const coll_ref result = COLL_AT(COLL_OUT, slots.seg.offset);
    if (j == 0) {
        coll_act_copy(out, slots.own, coll_input(plan) + slots.seg.offset, slots.seg.count);
    } else if (j <= m) {
        coll_act_await(out, coll_i_shm_child(tree, j - 1), slots.first,
                       slots.seg.count ? slots.all : 0);
    } else if (j == m + 1) {
        coll_i_shm_combine(plan, &slots, result, 0, slots.seg.count, out);
    } else {
        const coll_block freed = coll_i_shm_freed(plan, stage);
        coll_act_notify(out, coll_i_shm_child(tree, j - m - 2), COLL_AT(COLL_OUT, freed.offset),
                        freed.count);
    }
}

COLL_HOT_INLINE void coll_i_shm_reduce_other(const coll_plan *plan, const coll_i_shm_tree *tree,
                                             size_t stage, uint32_t j, coll_action *out)
{
    const uint32_t m = tree->children;
    const uint32_t rank = coll_mod_add(tree->v, tree->root, plan->problem.p);
    const coll_i_shm_slots slots = coll_i_shm_slots_of(plan, rank, stage, false);
    const size_t count = slots.seg.count, waits = coll_i_shm_waits(plan, stage) ? count : 0;
    if (j == 0)
        coll_act_await(out, tree->parent, slots.own, waits);
    else if (j <= m)
        coll_act_notify(out, coll_i_shm_child(tree, j - 1), slots.own, waits);
    else if (j == m + 1)
        coll_act_copy(out, slots.own, COLL_AT(COLL_IN, slots.seg.offset), count);
    else if (j < 2 * m + 2)
        coll_act_await(out, coll_i_shm_child(tree, j - m - 2), slots.own, count);
    else
        coll_act_notify(out, tree->parent, slots.own, count);
}

COLL_INLINE size_t coll_i_shm_reduce_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_shm_tree tree;
    coll_i_shm_tree_of(plan, plan->problem.root, rank, &tree);
    return coll_i_shm_list_steps(plan, coll_i_shm_reduce_per(&tree));
}

COLL_INLINE unsigned coll_i_shm_reduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    coll_i_shm_tree tree;
    coll_i_shm_tree_of(plan, plan->problem.root, rank, &tree);
    const uint32_t per = coll_i_shm_reduce_per(&tree);
    const size_t stages = coll_i_shm_segments(plan);
    coll_i_shm_at at = coll_i_shm_first(s, per);
    unsigned n = 0;
    if (plan->problem.p == 1)
        return coll_i_shm_alone(plan, out);
    for (; n < COLL_STEP_MAX && at.stage < stages; n++, coll_i_shm_next(&at, per)) {
        if (tree.v == 0)
            coll_i_shm_reduce_root(plan, &tree, at.stage, at.j, &out[n]);
        else
            coll_i_shm_reduce_other(plan, &tree, at.stage, at.j, &out[n]);
    }
    return n;
}

COLL_INLINE size_t coll_i_shm_reduce_shared(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    return p == 1 ? 0 : coll_i_shm_extent(plan, coll_i_shm_segments(plan), p);
}

COLL_ALGORITHM(coll_shm_reduce, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_REDUCE), COLL_NEEDS_SHARED | COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_shm_params, coll_i_prepare_radixes),
    coll_i_shm_reduce_steps, coll_i_shm_reduce_step, NULL, coll_i_shm_reduce_check,
    coll_i_shm_reduce_shared);

/* ---- allreduce --------------------------------------------------------------------------- */

/* A stage of a rank with m children. Putting and combining are followed by words up the tree, from
 * its children and to its parent, and down again, from its parent and to its children; getting
 * by words up that the result is free. */
COLL_HOT_INLINE uint32_t coll_i_shm_allreduce_per(const coll_i_shm_tree *tree)
{
    return 5 * tree->children + (tree->v == 0 ? 3 : 8);
}

/* Word j of a group_sync, up to rank 0 and down again. `up` is what the rank and those below it
 * have done; `down` is what all have. */
COLL_HOT_INLINE void coll_i_shm_sync(const coll_i_shm_tree *tree, uint32_t j, coll_ref up,
                                     size_t up_count, coll_ref down, size_t down_count,
                                     coll_action *out)
{
    const uint32_t m = tree->children;
    const bool top = tree->v == 0;
    if (j < m)
        coll_act_await(out, coll_i_shm_child(tree, j), top ? down : up,
                       top ? down_count : up_count);
    else if (j == m && !top)
        coll_act_notify(out, tree->parent, up, up_count);
    else if (j == m + 1 && !top)
        coll_act_await(out, tree->parent, down, down_count);
    else
        coll_act_notify(out, coll_i_shm_child(tree, j - m - (top ? 0 : 2)), down, down_count);
}

COLL_HOT_INLINE void coll_i_shm_allreduce_at(const coll_plan *plan, const coll_i_shm_tree *tree,
                                             size_t stage, uint32_t j, coll_action *out)
{
    const uint32_t p = plan->problem.p, rank = tree->v, m = tree->children;
    const uint32_t sync = 2 * m + (rank == 0 ? 0 : 2); /* words of a group_sync */
    const coll_i_shm_slots slots = coll_i_shm_slots_of(plan, rank, stage, true);
    const size_t count = slots.seg.count, all = count ? slots.all : 0;
    if (j == 0) {
        coll_act_copy(out, slots.own, coll_input(plan) + slots.seg.offset, count);
    } else if (j <= sync) {
        coll_i_shm_sync(tree, j - 1, slots.own, count, slots.first, all, out);
    } else if (j == sync + 1) {
        const coll_block part = coll_part_block(coll_partition_of(count, p), rank);
        coll_i_shm_combine(plan, &slots, slots.result + part.offset, part.offset, part.count,
                           out);
    } else if (j <= 2 * sync + 1) {
        coll_i_shm_sync(tree, j - sync - 2, slots.result, count, slots.first, all, out);
    } else if (j == 2 * sync + 2) {
        coll_act_copy(out, COLL_AT(COLL_OUT, slots.seg.offset), slots.result, count);
    } else {
        const bool wanted = coll_i_shm_awaited(plan, stage, coll_i_shm_segments(plan));
        coll_i_shm_sync(tree, j - 2 * sync - 3, COLL_AT(COLL_OUT, slots.seg.offset),
                        wanted ? count : 0, slots.first, wanted ? all : 0, out);
    }
}

COLL_INLINE size_t coll_i_shm_allreduce_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_shm_tree tree;
    coll_i_shm_tree_of(plan, 0, rank, &tree);
    return coll_i_shm_list_steps(plan, coll_i_shm_allreduce_per(&tree));
}

COLL_INLINE unsigned coll_i_shm_allreduce_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    coll_i_shm_tree tree;
    coll_i_shm_tree_of(plan, 0, rank, &tree);
    const uint32_t per = coll_i_shm_allreduce_per(&tree);
    const size_t stages = coll_i_shm_segments(plan);
    coll_i_shm_at at = coll_i_shm_first(s, per);
    unsigned n = 0;
    if (plan->problem.p == 1)
        return coll_i_shm_alone(plan, out);
    for (; n < COLL_STEP_MAX && at.stage < stages; n++, coll_i_shm_next(&at, per))
        coll_i_shm_allreduce_at(plan, &tree, at.stage, at.j, &out[n]);
    return n;
}

COLL_INLINE size_t coll_i_shm_allreduce_shared(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    return p == 1 ? 0 : coll_i_shm_extent(plan, coll_i_shm_segments(plan), p + (size_t)1);
}

COLL_ALGORITHM(coll_shm_allreduce, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_SHARED | COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_shm_params, coll_i_prepare_radixes),
    coll_i_shm_allreduce_steps, coll_i_shm_allreduce_step, NULL, coll_i_shm_reduce_check,
    coll_i_shm_allreduce_shared);

#endif /* COLL_ALGOS_SHM_REDUCE_H */
