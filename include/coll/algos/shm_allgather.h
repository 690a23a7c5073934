/* coll/algos/shm_allgather.h — allgather through the shared memory of a node
 *
 * If all blocks fit into SHARED together, everyone puts its own, a group_sync, and everyone gets
 * all of them. Else the ranks broadcast segment after segment in turn through the pipeline buffers:
 * the owner of a stage puts, all others get.
 *
 *   p = 3, 2 segments a block:    stage      0  1  2  3  4  5
 *                                 owner      0  1  2  0  1  2
 *                                 segment    0  0  0  1  1  1
 *
 * Laws (tests/algos/shm.c)
 *   (1) the owner of stage t is rank t mod p, of segment t / p
 *   (2) a buffer is put into only after all who took from it in stage t − buffers are done
 * Cost    S = ⌈count/buffer⌉, B = buffers. At once: every rank puts its block and gets p; 2(p−1)
 *         notifications in all, 2h rounds, h the height of the tree. In stages: it puts a block and
 *         gets p−1; p·S stages of p−1 notifications, and p−1 more for each but the first B; 2p·S −
 *         B rounds, 2S for p = 2
 * Source  Wu 2005, section 2.4, table 2.3
 */
#ifndef COLL_ALGOS_SHM_ALLGATHER_H
#define COLL_ALGOS_SHM_ALLGATHER_H

#include "kit/shared_stages.h"

/* As in kit/shared_buffers.h, but for the proven values: stages go with the square of p here. */
COLL_TABLE(coll_param, coll_i_shm_all_params, {
    COLL_PARAM("f", "degree of the tree of notifications", 2, UINT32_MAX / 2, 64, {3, 4, 3, 3}),
    COLL_PARAM("buffers", "pipeline buffers", 1, 1 << 16, 2, {1, 3, 1, 1}),
    COLL_PARAM("buffer", "elements of a pipeline buffer",
               1, UINT32_MAX, 1024, {40, 40, 40, 40})});

COLL_INLINE coll_ref coll_i_shm_own_block(const coll_plan *plan, uint32_t rank)
{
    return coll_in_place(plan) ? COLL_AT(COLL_OUT, plan->problem.count * rank)
                               : COLL_AT(COLL_IN, 0);
}

/* Actions of a period of p stages: one in which the rank is the owner, awaits all others, puts
 * and notifies them, says that the buffer is full, and has its own block in OUT; p−1 in which it
 * awaits, gets and says that the buffer is free. */
COLL_HOT_INLINE size_t coll_i_shm_period(uint32_t p)
{
    return 2 * (size_t)p + 1 + 3 * ((size_t)p - 1);
}

COLL_INLINE size_t coll_i_shm_allgather_stages(const coll_plan *plan)
{
    return coll_i_shm_segments(plan) * plan->problem.p;
}

/* Tells the owner of the next stage that its buffer is free: at the end of this stage, so that
 * nothing overtakes this owner's own notifications. The token is what the rank copied then. */
COLL_HOT_INLINE void coll_i_shm_tell_next(const coll_plan *plan, uint32_t rank, size_t stage,
                                          uint32_t owner, coll_action *out)
{
    const uint32_t p = plan->problem.p, next = coll_mod_add(owner, 1, p);
    if (next == rank || stage + 1 < plan->param[1] ||
        stage + 1 == coll_i_shm_allgather_stages(plan)) {
        coll_act_notify(out, coll_mod_add(rank, 1, p), COLL_AT(COLL_OUT, 0), 0);
    } else {
        const uint32_t freed = (uint32_t)(stage + 1 - plan->param[1]);
        const uint32_t segment = freed / p, by = freed - segment * p;
        const coll_block seg = coll_i_shm_segment(plan, segment);
        coll_act_notify(out, next,
                        by == rank ? COLL_AT(COLL_SHARED, coll_i_shm_buffer(plan, freed) *
                                                              coll_i_shm_piece(plan))
                                   : COLL_AT(COLL_OUT, plan->problem.count * by + seg.offset),
                        seg.count);
    }
}

/* Action j of a stage. */
COLL_HOT_INLINE void coll_i_shm_turn(const coll_plan *plan, uint32_t rank, size_t segment,
                                     uint32_t owner, uint32_t j, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t stage = segment * p + owner;
    const coll_block seg = coll_i_shm_segment(plan, segment);
    const coll_ref buffer =
        COLL_AT(COLL_SHARED, coll_i_shm_buffer(plan, stage) * coll_i_shm_piece(plan));
    const coll_ref place = COLL_AT(COLL_OUT, plan->problem.count * owner + seg.offset);
    const coll_ref own = coll_i_shm_own_block(plan, rank) + seg.offset;
    if (owner != rank) {
        if (j == 0)
            coll_act_await(out, owner, buffer, seg.count);
        else if (j == 1)
            coll_act_copy(out, place, buffer, seg.count);
        else
            coll_i_shm_tell_next(plan, rank, stage, owner, out);
    } else if (j < p - 1) {
        coll_act_await(out, coll_mod_add(rank, j + 1, p), buffer,
                       coll_i_shm_waits(plan, stage) ? seg.count : 0);
    } else if (j == p - 1) {
        coll_act_copy(out, buffer, own, seg.count);
    } else if (j < 2 * p - 1) {
        coll_act_notify(out, coll_mod_add(rank, j - p + 1, p), buffer, seg.count);
    } else if (j == 2 * p - 1) {
        coll_i_shm_tell_next(plan, rank, stage, owner, out);
    } else {
        coll_act_copy(out, place, own, coll_in_place(plan) ? 0 : seg.count);
    }
}

COLL_HOT_INLINE void coll_i_shm_gather_together(const coll_plan *plan,
                                                const coll_i_shm_tree *tree, uint32_t j,
                                                coll_action *out)
{
    const uint32_t m = tree->children, p = plan->problem.p, rank = tree->v;
    const size_t count = plan->problem.count, all = count * p;
    const coll_ref shared = COLL_AT(COLL_SHARED, 0), own = shared + count * rank;
    const uint32_t up = m + 1, down = rank == 0 ? m + 1 : m + 3;
    if (j == 0)
        coll_act_copy(out, own, coll_i_shm_own_block(plan, rank), count);
    else if (j < up)
        coll_act_await(out, coll_i_shm_child(tree, j - 1), rank == 0 ? shared : own,
                       rank == 0 ? all : count);
    else if (j < down && j == up)
        coll_act_notify(out, tree->parent, own, count);
    else if (j < down)
        coll_act_await(out, tree->parent, shared, all);
    else if (j < down + m)
        coll_act_notify(out, coll_i_shm_child(tree, j - down), shared, all);
    else
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), shared, all);
}

COLL_INLINE size_t coll_i_shm_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    size_t actions;
    if (p == 1)
        return coll_in_place(plan) ? 0 : 1;
    if (coll_i_shm_at_once(plan)) {
        coll_i_shm_tree tree;
        coll_i_shm_tree_of(plan, 0, rank, &tree);
        actions = coll_i_shm_together(&tree);
    } else {
        actions = coll_i_shm_period(p) * coll_i_shm_segments(plan);
    }
    return (actions + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_shm_allgather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t segments = coll_i_shm_segments(plan), per = coll_i_shm_period(p);
    const uint32_t before = 3 * rank, beyond = before + 2 * p + 1; /* the rank's own stage */
    size_t i = s * COLL_STEP_MAX, segment;
    unsigned n = 0;
    if (p == 1)
        return coll_i_shm_alone(plan, out);
    if (coll_i_shm_at_once(plan)) {
        coll_i_shm_tree tree;
        coll_i_shm_tree_of(plan, 0, rank, &tree);
        for (; n < COLL_STEP_MAX && i + n < coll_i_shm_together(&tree); n++)
            coll_i_shm_gather_together(plan, &tree, (uint32_t)i + n, &out[n]);
        return n;
    }
    segment = i < per ? 0 : i / per;
    for (i -= segment * per; n < COLL_STEP_MAX && segment < segments; n++) {
        const uint32_t j = (uint32_t)i;
        if (j < before)
            coll_i_shm_turn(plan, rank, segment, j / 3, j % 3, &out[n]);
        else if (j < beyond)
            coll_i_shm_turn(plan, rank, segment, rank, j - before, &out[n]);
        else
            coll_i_shm_turn(plan, rank, segment, rank + 1 + (j - beyond) / 3, (j - beyond) % 3,
                            &out[n]);
        if (++i == per) {
            i = 0;
            segment++;
        }
    }
    return n;
}

COLL_INLINE size_t coll_i_shm_allgather_shared(const coll_plan *plan)
{
    if (plan->problem.p == 1)
        return 0;
    return coll_i_shm_at_once(plan)
               ? plan->problem.p * plan->problem.count
               : coll_i_shm_extent(plan, coll_i_shm_allgather_stages(plan), 1);
}

COLL_ALGORITHM(coll_shm_allgather, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_ALLGATHER), COLL_NEEDS_SHARED | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_shm_all_params, coll_i_prepare_radixes),
    coll_i_shm_allgather_steps, coll_i_shm_allgather_step, NULL, coll_i_shm_stages_check,
    coll_i_shm_allgather_shared);

#endif /* COLL_ALGOS_SHM_ALLGATHER_H */
