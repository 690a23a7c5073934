/* coll/algos/shm_rooted.h — scatter, gather through the shared memory of a node
 *
 * If all blocks fit into SHARED together, one put, one group_sync, one get; else block by block
 * through the pipeline buffers, each stage between the root and one other rank. The stages go round
 * the ranks, so that they all copy at the same time.
 *
 *   p = 3, root 0, 2 segments a block, 2 buffers, scatter:
 *     stage           0        1        2        3
 *     buffer          0        1        0        1
 *     segment, rank   0 → 1    0 → 2    1 → 1    1 → 2
 *
 * Laws (tests/algos/shm.c)
 *   (1) nobody but the root puts in a scatter; nobody but the root gets in a gather
 *   (2) stage t is put only after all who took from the buffer in stage t − buffers are done
 *   (3) SHARED is never larger than buffers · buffer
 * Cost    S = ⌈count/buffer⌉, B = buffers, h the height of the tree. p−1 blocks are copied in and
 *         out; if all p blocks fit into SHARED (p are copied at the root of a scatter), p−1
 *         notifications, h rounds; else T = (p−1)S, E = max(0, T − B): T + E notifications; rounds:
 *         gather 2E + 1, scatter 2⌈E/g⌉ + 1, g = 1 + (B−1) mod (p−1), as so many ranks copy at the
 *         same time
 * Source  Wu 2005, section 2.4, tables 2.2 and 2.3
 */
#ifndef COLL_ALGOS_SHM_ROOTED_H
#define COLL_ALGOS_SHM_ROOTED_H

#include "kit/shared_stages.h"

/* Actions of a rank when all blocks go at once. */
COLL_HOT_INLINE uint32_t coll_i_shm_once_actions(const coll_i_shm_tree *tree, bool gathers)
{
    return tree->children + (tree->v == 0 && gathers ? 3u : 2u);
}

COLL_INLINE size_t coll_i_shm_rooted_steps(const coll_plan *plan, uint32_t rank)
{
    if (coll_i_shm_at_once(plan) || plan->problem.p == 1) {
        coll_i_shm_tree tree;
        coll_i_shm_tree_of(plan, plan->problem.root, rank, &tree);
        const bool gathers = plan->problem.collective == COLL_GATHER;
        return (coll_i_shm_once_actions(&tree, gathers) + COLL_STEP_MAX - (size_t)1) /
               COLL_STEP_MAX;
    }
    return rank == plan->problem.root ? coll_i_shm_stages(plan) + 1 : coll_i_shm_segments(plan);
}

/* Table 2.2. The tokens are all of SHARED that is used, or the rank's own block of it. */
COLL_HOT_INLINE void coll_i_shm_scatter_at_once(const coll_plan *plan,
                                                const coll_i_shm_tree *tree, uint32_t j,
                                                coll_action *out)
{
    const uint32_t m = tree->children;
    const size_t count = plan->problem.count, all = count * plan->problem.p;
    const coll_ref shared = COLL_AT(COLL_SHARED, 0);
    const uint32_t rank = coll_mod_add(tree->v, tree->root, plan->problem.p);
    if (j == 0 && tree->v == 0)
        coll_act_copy(out, shared, COLL_AT(COLL_IN, 0), plan->problem.p == 1 ? 0 : all);
    else if (j == 0)
        coll_act_await(out, tree->parent, shared, all);
    else if (j <= m)
        coll_act_notify(out, coll_i_shm_child(tree, j - 1), shared, all);
    else if (tree->v == 0)
        coll_i_shm_own(plan, out);
    else
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), shared + count * rank, count);
}

COLL_HOT_INLINE void coll_i_shm_gather_at_once(const coll_plan *plan,
                                               const coll_i_shm_tree *tree, uint32_t j,
                                               coll_action *out)
{
    const uint32_t p = plan->problem.p, m = tree->children;
    const uint32_t rank = coll_mod_add(tree->v, tree->root, p);
    const size_t count = plan->problem.count, before = count * tree->root;
    const coll_ref shared = COLL_AT(COLL_SHARED, 0), own = shared + count * rank;
    if (tree->v != 0) { /* the own block is put first, then told with those of the children */
        if (j == 0)
            coll_act_copy(out, own, COLL_AT(COLL_IN, 0), count);
        else if (j <= m)
            coll_act_await(out, coll_i_shm_child(tree, j - 1), own, count);
        else
            coll_act_notify(out, tree->parent, own, count);
    } else if (j < m) {
        coll_act_await(out, coll_i_shm_child(tree, j), shared, count * p);
    } else if (j == m) {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), shared, before);
    } else if (j == m + 1) {
        coll_act_copy(out, COLL_AT(COLL_OUT, before + count), shared + before + count,
                      count * (p - 1 - tree->root));
    } else {
        coll_i_shm_own(plan, out);
    }
}

/* Table 2.3, scatter. */
COLL_HOT_INLINE unsigned coll_i_shm_scatter_stage(const coll_plan *plan, uint32_t rank,
                                                  size_t s, coll_action *out)
{
    const bool root = rank == plan->problem.root;
    const size_t stage = root ? s : coll_i_shm_stage_at(plan, rank, s);
    const coll_i_shm_stage at = coll_i_shm_stage_of(plan, stage);
    const coll_ref from = COLL_AT(COLL_IN, plan->problem.count * at.peer + at.segment.offset);
    const coll_ref to = COLL_AT(COLL_OUT, at.segment.offset);
    if (root) {
        const bool waits = coll_i_shm_waits(plan, stage);
        coll_act_await(&out[0],
                       coll_i_shm_stage_peer(plan, waits ? stage - plan->param[1] : stage),
                       at.buffer, waits ? at.segment.count : 0);
        coll_act_copy(&out[1], at.buffer, from, at.segment.count);
        coll_act_notify(&out[2], at.peer, at.buffer, at.segment.count);
    } else { /* in its last stage before the buffer is used again, a rank says that it is free */
        const size_t back = (plan->param[1] - 1) / (plan->problem.p - 1);
        const size_t freed = s < back ? 0 : s - back;
        const bool awaited =
            s >= back && coll_i_shm_awaited(plan, coll_i_shm_stage_at(plan, rank, freed),
                                            coll_i_shm_stages(plan));
        const coll_block done = coll_i_shm_segment(plan, freed);
        coll_act_await(&out[0], plan->problem.root, at.buffer, at.segment.count);
        coll_act_copy(&out[1], to, at.buffer, at.segment.count);
        coll_act_notify(&out[2], plan->problem.root, COLL_AT(COLL_OUT, done.offset),
                        awaited ? done.count : 0);
    }
    return 3;
}

/* Table 2.3, gather. The root tells the rank of the next stage that its buffer is free: by the
 * place in OUT to which it was copied. */
COLL_HOT_INLINE unsigned coll_i_shm_gather_stage(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const bool root = rank == plan->problem.root;
    const size_t stage = root ? s : coll_i_shm_stage_at(plan, rank, s);
    const size_t count = plan->problem.count;
    const coll_i_shm_stage at = coll_i_shm_stage_of(plan, stage);
    if (root) {
        const bool wanted =
            stage + 1 < coll_i_shm_stages(plan) && coll_i_shm_waits(plan, stage + 1);
        const coll_i_shm_stage freed =
            coll_i_shm_stage_of(plan, wanted ? stage + 1 - plan->param[1] : 0);
        coll_act_await(&out[0], at.peer, at.buffer, at.segment.count);
        coll_act_copy(&out[1], COLL_AT(COLL_OUT, count * at.peer + at.segment.offset),
                      at.buffer, at.segment.count);
        coll_act_notify(&out[2], coll_i_shm_stage_peer(plan, stage + 1),
                        COLL_AT(COLL_OUT, count * freed.peer + freed.segment.offset),
                        wanted ? freed.segment.count : 0);
    } else {
        coll_act_await(&out[0], plan->problem.root, at.buffer,
                       coll_i_shm_waits(plan, stage) ? at.segment.count : 0);
        coll_act_copy(&out[1], at.buffer, COLL_AT(COLL_IN, at.segment.offset),
                      at.segment.count);
        coll_act_notify(&out[2], plan->problem.root, at.buffer, at.segment.count);
    }
    return 3;
}

COLL_HOT_INLINE unsigned coll_i_shm_rooted_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                bool gathers, coll_action *out)
{
    if (coll_i_shm_at_once(plan) || plan->problem.p == 1) {
        coll_i_shm_tree tree;
        coll_i_shm_tree_of(plan, plan->problem.root, rank, &tree);
        const uint32_t all = coll_i_shm_once_actions(&tree, gathers);
        const uint32_t j = (uint32_t)s * COLL_STEP_MAX;
        unsigned n = 0;
        for (; n < COLL_STEP_MAX && j + n < all; n++) {
            if (gathers)
                coll_i_shm_gather_at_once(plan, &tree, j + n, &out[n]);
            else
                coll_i_shm_scatter_at_once(plan, &tree, j + n, &out[n]);
        }
        return n;
    }
    if (rank == plan->problem.root && s == coll_i_shm_stages(plan)) {
        coll_i_shm_own(plan, out);
        return 1;
    }
    return gathers ? coll_i_shm_gather_stage(plan, rank, s, out)
                   : coll_i_shm_scatter_stage(plan, rank, s, out);
}

COLL_INLINE unsigned coll_i_shm_scatter_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    return coll_i_shm_rooted_step(plan, rank, s, false, out);
}

COLL_INLINE unsigned coll_i_shm_gather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    return coll_i_shm_rooted_step(plan, rank, s, true, out);
}

COLL_INLINE size_t coll_i_shm_rooted_shared(const coll_plan *plan)
{
    if (plan->problem.p == 1)
        return 0;
    return coll_i_shm_at_once(plan) ? plan->problem.p * plan->problem.count
                                    : coll_i_shm_extent(plan, coll_i_shm_stages(plan), 1);
}

COLL_ALGORITHM(coll_shm_scatter, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_SCATTER), COLL_NEEDS_SHARED,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_shm_params, coll_i_prepare_radixes),
    coll_i_shm_rooted_steps, coll_i_shm_scatter_step, NULL, coll_i_shm_stages_check,
    coll_i_shm_rooted_shared);

COLL_ALGORITHM(coll_shm_gather, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_GATHER), COLL_NEEDS_SHARED,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_shm_params, coll_i_prepare_radixes),
    coll_i_shm_rooted_steps, coll_i_shm_gather_step, NULL, coll_i_shm_stages_check,
    coll_i_shm_rooted_shared);

#endif /* COLL_ALGOS_SHM_ROOTED_H */
