/* coll/algos/shm_bcast.h — bcast through the shared memory of a node
 *
 * The root puts a segment into a buffer and tells all along a tree; all get it at once; up the tree
 * comes that the buffer is free again.
 *
 *   4 ranks, 2 buffers:   root      put 0   put 1   · put 2 (0 is free)   · put 3
 *                         others            get 0     get 1                 get 2
 *
 * Laws (tests/algos/shm.c)
 *   (1) nobody but the root puts
 *   (2) stage t is put only after all who took from the buffer in stage t − buffers are done
 *   (3) SHARED is never larger than buffers · buffer
 * Cost    S = ⌈count/buffer⌉, B = buffers, h the height of the tree: every element is copied once
 *         in and once out on every other rank (the root has its OUT from its IN); E = max(0, S −
 *         B): (p−1)(S + E) notifications, h·(2E + 1) rounds
 * Source  Wu 2005, section 2.4, tables 2.2 and 2.3
 */
#ifndef COLL_ALGOS_SHM_BCAST_H
#define COLL_ALGOS_SHM_BCAST_H

#include "kit/shared_buffers.h"

COLL_HOT_INLINE coll_i_shm_pass coll_i_shm_bcast_pass(const coll_plan *plan, size_t stage)
{
    const coll_block freed = coll_i_shm_freed(plan, stage);
    coll_i_shm_pass pass;
    pass.part = coll_i_shm_segment(plan, stage);
    pass.buffer = COLL_AT(COLL_SHARED, coll_i_shm_buffer(plan, stage) * coll_i_shm_piece(plan));
    pass.full = pass.part.count;
    pass.waits = coll_i_shm_waits(plan, stage) ? pass.part.count : 0;
    pass.freed = COLL_AT(COLL_OUT, freed.offset);
    pass.frees = freed.count;
    return pass;
}

/* Actions of a stage. The root also has its own OUT. */
COLL_HOT_INLINE uint32_t coll_i_shm_bcast_per(const coll_i_shm_tree *tree)
{
    return coll_i_shm_pass_actions(tree) + (tree->v == 0 ? 1 : 0);
}

COLL_INLINE size_t coll_i_shm_bcast_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_shm_tree tree;
    coll_i_shm_tree_of(plan, plan->problem.root, rank, &tree);
    return coll_i_shm_list_steps(plan, coll_i_shm_bcast_per(&tree));
}

COLL_INLINE unsigned coll_i_shm_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                           coll_action *out)
{
    coll_i_shm_tree tree;
    coll_i_shm_tree_of(plan, plan->problem.root, rank, &tree);
    const uint32_t per = coll_i_shm_bcast_per(&tree);
    const size_t stages = coll_i_shm_segments(plan);
    coll_i_shm_at at = coll_i_shm_first(s, per);
    unsigned n = 0;
    if (plan->problem.p == 1)
        return coll_i_shm_alone(plan, out);
    for (; n < COLL_STEP_MAX && at.stage < stages; n++, coll_i_shm_next(&at, per)) {
        const coll_i_shm_pass pass = coll_i_shm_bcast_pass(plan, at.stage);
        if (tree.v != 0)
            coll_i_shm_pass_get(&pass, &tree, at.j, &out[n]);
        else if (at.j + 1 < per)
            coll_i_shm_pass_put(&pass, &tree, coll_input(plan), at.j, &out[n]);
        else
            coll_act_copy(&out[n], COLL_AT(COLL_OUT, pass.part.offset),
                          coll_input(plan) + pass.part.offset,
                          coll_in_place(plan) ? 0 : pass.part.count);
    }
    return n;
}

COLL_INLINE size_t coll_i_shm_bcast_shared(const coll_plan *plan)
{
    return plan->problem.p == 1 ? 0 : coll_i_shm_extent(plan, coll_i_shm_segments(plan), 1);
}

COLL_INLINE coll_status coll_i_shm_bcast_check(const coll_plan *plan)
{
    return coll_i_shm_check(plan, 1, 1);
}

COLL_ALGORITHM(coll_shm_bcast, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_BCAST), COLL_NEEDS_SHARED | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(3, coll_i_shm_params, coll_i_prepare_radixes),
    coll_i_shm_bcast_steps, coll_i_shm_bcast_step, NULL, coll_i_shm_bcast_check,
    coll_i_shm_bcast_shared);

#endif /* COLL_ALGOS_SHM_BCAST_H */
