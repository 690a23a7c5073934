/* coll/algos/kit/shared_buffers.h — what collectives in the shared memory of a node are made of
 *
 * The ranks of a node share a buffer of limited size, SHARED, cut into a number of pipeline
 * buffers. Seven operations move data through it; here each is a few actions:
 *
 *   sender_put      one rank copies into the buffer                     COPY
 *   receiver_get    one rank copies out of it                           COPY
 *   pair_sync       one rank tells another                              NOTIFY, AWAIT
 *   group_get       all copy the same out of it                         COPY on each
 *   group_seg_get   all copy out of it, each its own part               COPY on each
 *   group_seg_put   all copy into it, each its own part                 COPY on each
 *   group_sync      all tell one, one tells all, or both                NOTIFY, AWAIT along a tree
 *
 * A long vector goes through in stages; stage t uses buffer t mod `buffers`, once it is free:
 * all who took something out of it in stage t − buffers have said so. Nothing else holds a
 * stage back, so with several buffers copying in and copying out overlap. The tree of
 * notifications is f-nomial (plan/topo.h); with f > p all ranks talk to one.
 *
 *   bcast, 4 ranks, 2 buffers:   root    put 0   put 1   · put 2 (0 is free)   · put 3
 *                                others          get 0     get 1                 get 2
 *
 * SHARED belongs to a collective from the start of its first rank to the end of its last one.
 * Source  Wu 2005, section 2.4
 */
#ifndef COLL_ALGOS_KIT_SHARED_BUFFERS_H
#define COLL_ALGOS_KIT_SHARED_BUFFERS_H

#include "../../plan.h"
#include "../../plan/topo/tree.h"
#include "derived.h"

/* param[0] … param[2] of all algorithms in shared memory. A buffer of 4 to 16 KB was best in
 * section 2.5. */
COLL_TABLE(coll_param, coll_i_shm_params, {
    COLL_PARAM("f", "degree of the tree of notifications", 2, UINT32_MAX / 2, 64, {3, 4, 3, 3}),
    COLL_PARAM("buffers", "pipeline buffers", 1, 1 << 16, 2, {1, 3, 1, 1}),
    COLL_PARAM("buffer", "elements of a pipeline buffer",
               1, UINT32_MAX, 1024, {16, 16, 16, 16})});

/* Elements of a stage: of a whole block or vector, if a buffer has room for it. */
COLL_INLINE size_t coll_i_shm_piece(const coll_plan *plan)
{
    return plan->problem.count < plan->param[2] ? plan->problem.count : plan->param[2];
}

/* Stages of a block or vector. */
COLL_INLINE size_t coll_i_shm_segments(const coll_plan *plan)
{
    return coll_segments(plan->problem.count, plan->param[2]);
}

COLL_INLINE coll_block coll_i_shm_segment(const coll_plan *plan, size_t i)
{
    return coll_segment_block(plan->problem.count, plan->param[2], i);
}

/* Which buffer a stage uses. */
COLL_INLINE uint32_t coll_i_shm_buffer(const coll_plan *plan, size_t stage)
{
    const uint32_t t = (uint32_t)stage;
    return t - coll_divide(t, &plan->second) * plan->param[1];
}

/* Must stage t wait for the buffer of an earlier one? Will a later one wait for its? */
COLL_INLINE bool coll_i_shm_waits(const coll_plan *plan, size_t stage)
{
    return stage >= plan->param[1];
}

COLL_INLINE bool coll_i_shm_awaited(const coll_plan *plan, size_t stage, size_t stages)
{
    return stages - stage > plan->param[1];
}

/* The segment whose buffer the next stage uses again; empty where that is none. It is told of at
 * the end of a stage, not earlier, so that nobody has to keep the news. */
COLL_INLINE coll_block coll_i_shm_freed(const coll_plan *plan, size_t stage)
{
    const bool wanted = stage + 1 >= plan->param[1] && stage + 1 < coll_i_shm_segments(plan);
    coll_block freed = coll_i_shm_segment(plan, wanted ? stage + 1 - plan->param[1] : 0);
    if (!wanted)
        freed.count = 0;
    return freed;
}

/* Elements of SHARED if each of the buffers that are used has `parts` pieces. */
COLL_INLINE size_t coll_i_shm_extent(const coll_plan *plan, size_t stages, size_t parts)
{
    const size_t used = stages < plan->param[1] ? stages : plan->param[1];
    return used * parts * coll_i_shm_piece(plan);
}

/* Are there so few stages, `blocks` times those of a block, that they, and the actions of a rank, can
 * be counted? These are no more than 8·p a stage. */
COLL_INLINE bool coll_i_shm_counts(const coll_plan *plan, size_t stages_of_block, size_t blocks,
                                   size_t *stages)
{
    size_t actions;
    return coll_multiply(stages_of_block, blocks, stages) && *stages <= UINT32_MAX &&
           plan->problem.p <= UINT32_MAX / 8 &&
           coll_multiply(*stages, 8 * (size_t)plan->problem.p, &actions);
}

/* Are there few enough stages, and is SHARED, with `parts` pieces in each buffer, not too large? */
COLL_INLINE coll_status coll_i_shm_check(const coll_plan *plan, size_t blocks, size_t parts)
{
    size_t stages, elements;
    if (!coll_i_shm_counts(plan, coll_i_shm_segments(plan), blocks, &stages))
        return COLL_ERR_PARAM;
    if (!coll_multiply(coll_i_shm_piece(plan), parts, &elements) ||
        !coll_multiply(elements, stages < plan->param[1] ? stages : plan->param[1],
                       &elements) ||
        !coll_i_addressable(elements, plan->problem.elem_bytes))
        return COLL_ERR_OVERFLOW;
    return COLL_OK;
}

/* ---- group_sync -------------------------------------------------------------------------- */

/* A rank's place in a tree of notifications among consecutive ranks. */
typedef struct coll_i_shm_tree {
    uint32_t first, ranks, root; /* who they are; the root counts from `first` */
    uint32_t f, v;               /* degree; the rank, renumbered */
    uint32_t parent, children;
} coll_i_shm_tree;

/* Writes it. `local` and `root` count from the first of the ranks. */
COLL_HOT_INLINE void coll_i_shm_tree_among(coll_i_shm_tree *tree, const coll_fast_divisor *f,
                                           uint32_t first, uint32_t ranks, uint32_t root,
                                           uint32_t local)
{
    const uint32_t v = coll_mod_sub(local, root, ranks);
    const coll_fnomial at = coll_fnomial_of(ranks, f, v);
    tree->first = first;
    tree->ranks = ranks;
    tree->root = root;
    tree->f = f->by;
    tree->v = v;
    tree->parent = first + coll_mod_add(at.parent, root, ranks);
    tree->children = at.children;
}

/* Among all ranks. */
COLL_HOT_INLINE void coll_i_shm_tree_of(const coll_plan *plan, uint32_t root, uint32_t rank,
                                        coll_i_shm_tree *tree)
{
    coll_i_shm_tree_among(tree, &plan->radix, 0, plan->problem.p, root, rank);
}

COLL_HOT_INLINE uint32_t coll_i_shm_child(const coll_i_shm_tree *tree, uint32_t i)
{
    return tree->first +
           coll_mod_add(coll_fnomial_child(tree->f, tree->v, i), tree->root, tree->ranks);
}

/* ---- a stage of a broadcast -------------------------------------------------------------- */

/* What goes through a buffer, and the words of those who use it. The tokens name the buffer,
 * and what was copied from one that is free for the next stage; 0 elements are no word. */
typedef struct coll_i_shm_pass {
    coll_block part; /* of OUT */
    coll_ref buffer;
    size_t full, waits; /* elements: it is full; it must be free */
    coll_ref freed;
    size_t frees; /* elements: that the next stage's is free */
} coll_i_shm_pass;

COLL_HOT_INLINE uint32_t coll_i_shm_pass_actions(const coll_i_shm_tree *tree)
{
    return 2 * tree->children + (tree->v == 0 ? 1 : 3);
}

/* Action j of the root of the tree: awaits, puts what lies at `from`, notifies. */
COLL_HOT_INLINE void coll_i_shm_pass_put(const coll_i_shm_pass *pass,
                                         const coll_i_shm_tree *tree, coll_ref from, uint32_t j,
                                         coll_action *out)
{
    const uint32_t m = tree->children;
    if (j < m)
        coll_act_await(out, coll_i_shm_child(tree, j), pass->buffer, pass->waits);
    else if (j == m)
        coll_act_copy(out, pass->buffer, from + pass->part.offset, pass->part.count);
    else
        coll_act_notify(out, coll_i_shm_child(tree, j - m - 1), pass->buffer, pass->full);
}

/* Action j of another rank: awaits, notifies, gets; then the word that a buffer is free comes
 * up. */
COLL_HOT_INLINE void coll_i_shm_pass_get(const coll_i_shm_pass *pass,
                                         const coll_i_shm_tree *tree, uint32_t j,
                                         coll_action *out)
{
    const uint32_t m = tree->children;
    if (j == 0)
        coll_act_await(out, tree->parent, pass->buffer, pass->full);
    else if (j <= m)
        coll_act_notify(out, coll_i_shm_child(tree, j - 1), pass->buffer, pass->full);
    else if (j == m + 1)
        coll_act_copy(out, COLL_AT(COLL_OUT, pass->part.offset), pass->buffer,
                      pass->part.count);
    else if (j < 2 * m + 2)
        coll_act_await(out, coll_i_shm_child(tree, j - m - 2), pass->freed, pass->frees);
    else
        coll_act_notify(out, tree->parent, pass->freed, pass->frees);
}

/* ---- lists of actions -------------------------------------------------------------------- */

/* Where an action stands in the list of a rank: action j of a stage. */
typedef struct coll_i_shm_at {
    size_t stage;
    uint32_t j;
} coll_i_shm_at;

/* The first action of step s, with `per` actions a stage. */
COLL_HOT_INLINE coll_i_shm_at coll_i_shm_first(size_t s, uint32_t per)
{
    const size_t i = s * COLL_STEP_MAX;
    coll_i_shm_at at;
    at.stage = i < per ? 0 : i / per;
    at.j = (uint32_t)(i - at.stage * per);
    return at;
}

COLL_HOT_INLINE void coll_i_shm_next(coll_i_shm_at *at, uint32_t per)
{
    if (++at->j == per) {
        at->j = 0;
        at->stage++;
    }
}

/* Steps of a list of `per` actions for each segment; of a rank alone, of a copy. */
COLL_INLINE size_t coll_i_shm_list_steps(const coll_plan *plan, uint32_t per)
{
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    return (per * coll_i_shm_segments(plan) + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
}

COLL_INLINE unsigned coll_i_shm_alone(const coll_plan *plan, coll_action *out)
{
    coll_act_copy(out, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), plan->problem.count);
    return 1;
}

#endif /* COLL_ALGOS_KIT_SHARED_BUFFERS_H */
