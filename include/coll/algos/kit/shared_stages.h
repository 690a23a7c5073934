/* coll/algos/kit/shared_stages.h — blocks through shared memory, all at once or in stages
 *
 * If the blocks of all ranks fit into SHARED together, one put, one group_sync and one get move
 * them. Else they go segment by segment through the pipeline buffers; between a root and all others
 * the stages go round the other ranks, so that they all copy at the same time.
 *
 *   p = 3, root 0, 2 segments a block, 2 buffers, scatter:
 *     stage           0        1        2        3
 *     buffer          0        1        0        1
 *     segment, rank   0 → 1    0 → 2    1 → 1    1 → 2
 *
 * Source  Wu 2005, section 2.4, tables 2.2 and 2.3
 */
#ifndef COLL_ALGOS_KIT_SHARED_STAGES_H
#define COLL_ALGOS_KIT_SHARED_STAGES_H

#include "shared_buffers.h"

/* ---- all blocks at once ------------------------------------------------------------------ */

/* Do all blocks fit into SHARED together? */
COLL_INLINE bool coll_i_shm_at_once(const coll_plan *plan)
{
    return (uint64_t)plan->problem.p * plan->problem.count <=
           (uint64_t)plan->param[1] * plan->param[2];
}

/* Actions of a rank when all blocks go at once: it puts, up the tree, down the tree, gets. */
COLL_HOT_INLINE uint32_t coll_i_shm_together(const coll_i_shm_tree *tree)
{
    return 2 * tree->children + (tree->v == 0 ? 2 : 4);
}

COLL_INLINE coll_status coll_i_shm_stages_check(const coll_plan *plan)
{
    return coll_i_shm_check(plan, plan->problem.p, 1);
}

/* ---- stages between the root and one other rank ------------------------------------------ */

/* A stage between the root and one other rank: segment `segment` of that rank's block. */
typedef struct coll_i_shm_stage {
    uint32_t peer;
    coll_block segment;
    coll_ref buffer;
} coll_i_shm_stage;

COLL_HOT_INLINE uint32_t coll_i_shm_stage_peer(const coll_plan *plan, size_t stage)
{
    const uint32_t others = plan->problem.p - 1, t = (uint32_t)stage;
    return coll_mod_add(plan->problem.root, 1 + t % others, plan->problem.p);
}

COLL_HOT_INLINE coll_i_shm_stage coll_i_shm_stage_of(const coll_plan *plan, size_t stage)
{
    const uint32_t others = plan->problem.p - 1, t = (uint32_t)stage;
    coll_i_shm_stage at;
    at.peer = coll_i_shm_stage_peer(plan, stage);
    at.segment = coll_i_shm_segment(plan, t / others);
    at.buffer = COLL_AT(COLL_SHARED, coll_i_shm_buffer(plan, stage) * coll_i_shm_piece(plan));
    return at;
}

COLL_INLINE size_t coll_i_shm_stages(const coll_plan *plan)
{
    return coll_i_shm_segments(plan) * (plan->problem.p - 1);
}

/* The stage that moves segment i of a rank's block. */
COLL_INLINE size_t coll_i_shm_stage_at(const coll_plan *plan, uint32_t rank, size_t i)
{
    return i * (plan->problem.p - 1) + coll_mod_sub(rank, plan->problem.root, plan->problem.p) -
           1;
}

/* The root's own block, which passes no buffer. */
COLL_INLINE void coll_i_shm_own(const coll_plan *plan, coll_action *out)
{
    const size_t count = plan->problem.count, at = count * plan->problem.root;
    const bool gathers = plan->problem.collective == COLL_GATHER;
    coll_act_copy(out, COLL_AT(COLL_OUT, gathers ? at : 0), COLL_AT(COLL_IN, gathers ? 0 : at),
                  coll_in_place(plan) ? 0 : count);
}

#endif /* COLL_ALGOS_KIT_SHARED_STAGES_H */
