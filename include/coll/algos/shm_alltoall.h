/* coll/algos/shm_alltoall.h — alltoall through the shared memory of a node
 *
 * Every rank has pipeline buffers of its own. In a round the ranks form pairs, and the partners put
 * for each other, tell, and get; with a buffer for every round, all puts come before all gets. If
 * all blocks fit into SHARED together, everyone puts all of its own, a group_sync, and everyone
 * gets one of each rank.
 *
 *   p = 4, partners in round:   0: 0–0 1–3 2–2    1: 0–1 2–3    2: 0–2 1–1 3–3    3: 0–3 1–2
 *
 * Laws (tests/algos/shm.c)
 *   (1) the partner of a partner is the rank itself, and every rank is partner once
 *   (2) a buffer is put into only after all who took from it in stage t − buffers are done
 * Cost    S = ⌈count/buffer⌉. At once: every rank puts its blocks and gets p; 2(p−1) notifications
 *         in all, 2h rounds, h the height of the tree. In stages: it puts p−1 blocks and gets p−1;
 *         S notifications to each partner, and as many back for stages whose buffer is used again;
 *         p·S rounds, but 2S − 1 for p = 2, and else with one buffer from 2(p−1)S to (2p−1)S − 1
 * Source  Wu 2005, section 2.4, table 2.2
 */
#ifndef COLL_ALGOS_SHM_ALLTOALL_H
#define COLL_ALGOS_SHM_ALLTOALL_H

#include "kit/shared_stages.h"

/* A partner's word that a buffer is free is awaited when the buffer is used again, so if
 * notifications wait to be awaited, a window must hold one for each buffer. */
COLL_TABLE(coll_param, coll_i_shm_alltoall_params, {
    COLL_PARAM("f", "degree of the tree of notifications", 2, UINT32_MAX / 2, 64, {3, 4, 3, 3}),
    COLL_PARAM("buffers", "pipeline buffers of each rank", 1, 8, 2, {1, 8, 1, 1}),
    COLL_PARAM("buffer", "elements of a pipeline buffer",
               1, UINT32_MAX, 1024, {40, 40, 40, 40})});

/* Stages of a rank: segment 0 of all blocks, then segment 1 … */
COLL_INLINE size_t coll_i_shm_exchanges(const coll_plan *plan)
{
    return coll_i_shm_segments(plan) * (plan->problem.p - 1);
}

/* Each rank has pipeline buffers of its own: with more than p − 1 of them, news of a free one and
 * of a full one might pass each other. */
COLL_INLINE uint32_t coll_i_shm_own_buffers(const coll_plan *plan)
{
    const uint32_t others = plan->problem.p - 1;
    return plan->param[1] < others ? plan->param[1] : others;
}

/* Where they begin in SHARED. At once, a rank's part holds all of its blocks. */
COLL_INLINE size_t coll_i_shm_area(const coll_plan *plan)
{
    return coll_i_shm_at_once(plan) ? plan->problem.p * plan->problem.count
                                    : coll_i_shm_own_buffers(plan) * coll_i_shm_piece(plan);
}

/* The buffer of a rank's stage: of segment i of block number `block`. */
COLL_HOT_INLINE coll_ref coll_i_shm_own_buffer(const coll_plan *plan, uint32_t rank, uint32_t i,
                                               uint32_t block)
{
    const uint32_t others = plan->problem.p - 1;
    const uint32_t k =
        plan->param[1] < others ? coll_i_shm_buffer(plan, i * others + block) : block;
    return COLL_AT(COLL_SHARED, coll_i_shm_area(plan) * rank + k * coll_i_shm_piece(plan));
}

COLL_INLINE coll_ref coll_i_shm_alltoall_input(const coll_plan *plan)
{
    return coll_in_place(plan) ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_IN, 0);
}

/* Puts all blocks, up the tree, down the tree, gets a block of each. The token down is all of
 * SHARED, so that nothing is got before. */
COLL_HOT_INLINE void coll_i_shm_exchange_together(const coll_plan *plan,
                                                  const coll_i_shm_tree *tree, uint32_t j,
                                                  coll_action *out)
{
    const uint32_t m = tree->children, p = plan->problem.p, rank = tree->v;
    const size_t count = plan->problem.count, part = count * p, all = part * p;
    const coll_ref shared = COLL_AT(COLL_SHARED, 0), own = shared + part * rank;
    const uint32_t up = m + 1, down = rank == 0 ? m + 1 : m + 3;
    if (j == 0)
        coll_act_copy(out, own, coll_i_shm_alltoall_input(plan), part);
    else if (j < up)
        coll_act_await(out, coll_i_shm_child(tree, j - 1), rank == 0 ? shared : own,
                       rank == 0 ? all : part);
    else if (j < down && j == up)
        coll_act_notify(out, tree->parent, own, part);
    else if (j < down)
        coll_act_await(out, tree->parent, shared, all);
    else if (j < down + m)
        coll_act_notify(out, coll_i_shm_child(tree, j - down), shared, all);
    else
        coll_act_copy(out, COLL_AT(COLL_OUT, (j - down - m) * count),
                      shared + (j - down - m) * part + rank * count, count);
}

COLL_INLINE size_t coll_i_shm_alltoall_steps(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    if (p > 1 && coll_i_shm_at_once(plan)) {
        coll_i_shm_tree tree;
        coll_i_shm_tree_of(plan, 0, rank, &tree);
        return ((size_t)coll_i_shm_together(&tree) - 1 + p + COLL_STEP_MAX - 1) / COLL_STEP_MAX;
    }
    return 2 * coll_i_shm_exchanges(plan) + (coll_in_place(plan) ? 0 : 1);
}

/* The partner whom a rank exchanges block number `block` with, and in which round. */
typedef struct coll_i_shm_pair {
    uint32_t with, round;
} coll_i_shm_pair;

COLL_HOT_INLINE coll_i_shm_pair coll_i_shm_pair_of(uint32_t p, uint32_t rank, uint32_t block)
{
    coll_i_shm_pair pair; /* the round in which the rank were its own partner is left out */
    pair.round = block + (block >= coll_mod_add(rank, rank, p) ? 1 : 0);
    pair.with = coll_mod_sub(pair.round, rank, p);
    return pair;
}

/* Which of a rank's blocks is exchanged in a round. */
COLL_HOT_INLINE uint32_t coll_i_shm_block_of(uint32_t p, uint32_t rank, uint32_t round)
{
    return round - (round > coll_mod_add(rank, rank, p) ? 1 : 0);
}

/* Puts segment i of block number `block`, when the one that had the buffer before is done. */
COLL_HOT_INLINE unsigned coll_i_shm_put(const coll_plan *plan, uint32_t rank, uint32_t i,
                                        uint32_t block, coll_action *out)
{
    const uint32_t p = plan->problem.p, back = coll_i_shm_own_buffers(plan);
    const uint32_t with = coll_i_shm_pair_of(p, rank, block).with;
    const coll_block seg = coll_i_shm_segment(plan, i);
    const coll_ref buffer = coll_i_shm_own_buffer(plan, rank, i, block);
    unsigned n = 0;
    if (i > 0 || block >= back) {
        const uint32_t before = block >= back ? block - back : block + (p - 1) - back;
        coll_act_await(&out[n++], coll_i_shm_pair_of(p, rank, before).with, buffer, seg.count);
    }
    coll_act_copy(&out[n++], buffer,
                  coll_i_shm_alltoall_input(plan) + with * plan->problem.count + seg.offset,
                  seg.count);
    coll_act_notify(&out[n++], with, buffer, seg.count);
    return n;
}

/* Gets what the partner has put, and says so if its buffer is used again. */
COLL_HOT_INLINE unsigned coll_i_shm_get(const coll_plan *plan, uint32_t rank, uint32_t i,
                                        uint32_t block, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const coll_i_shm_pair pair = coll_i_shm_pair_of(p, rank, block);
    const uint32_t its = coll_i_shm_block_of(p, pair.with, pair.round);
    const coll_block seg = coll_i_shm_segment(plan, i);
    const coll_ref place = COLL_AT(COLL_OUT, pair.with * plan->problem.count + seg.offset);
    const coll_ref buffer = coll_i_shm_own_buffer(plan, pair.with, i, its);
    coll_act_await(&out[0], pair.with, buffer, seg.count);
    coll_act_copy(&out[1], place, buffer, seg.count);
    if (coll_i_shm_exchanges(plan) - (i * (size_t)(p - 1) + its) <=
        coll_i_shm_own_buffers(plan))
        return 2;
    coll_act_notify(&out[2], pair.with, place, seg.count);
    return 3;
}

COLL_INLINE unsigned coll_i_shm_alltoall_step(const coll_plan *plan, uint32_t rank, size_t s,
                                              coll_action *out)
{
    const uint32_t p = plan->problem.p, stage = (uint32_t)(s / 2);
    uint32_t i, block;
    unsigned n = 0;
    if (p > 1 && coll_i_shm_at_once(plan)) {
        coll_i_shm_tree tree;
        coll_i_shm_tree_of(plan, 0, rank, &tree);
        const uint32_t all = coll_i_shm_together(&tree) - 1 + p;
        for (; n < COLL_STEP_MAX && s * COLL_STEP_MAX + n < all; n++)
            coll_i_shm_exchange_together(plan, &tree, (uint32_t)s * COLL_STEP_MAX + n, &out[n]);
        return n;
    }
    if (s == 2 * coll_i_shm_exchanges(plan)) {
        const size_t own = plan->problem.count * rank;
        coll_act_copy(out, COLL_AT(COLL_OUT, own), COLL_AT(COLL_IN, own), plan->problem.count);
        return 1;
    }
    i = stage < p - 1 ? 0 : stage / (p - 1);
    block = stage - i * (p - 1);
    return s & 1 ? coll_i_shm_get(plan, rank, i, block, out)
                 : coll_i_shm_put(plan, rank, i, block, out);
}

COLL_INLINE size_t coll_i_shm_alltoall_shared(const coll_plan *plan)
{
    return plan->problem.p == 1 ? 0 : plan->problem.p * coll_i_shm_area(plan);
}

COLL_INLINE coll_status coll_i_shm_alltoall_check(const coll_plan *plan)
{
    size_t parts;
    if (!coll_multiply(plan->problem.p, plan->problem.p, &parts))
        return COLL_ERR_OVERFLOW;
    return coll_i_shm_check(plan, plan->problem.p,
                            coll_i_shm_at_once(plan) ? parts : plan->problem.p);
}

COLL_ALGORITHM(coll_shm_alltoall, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_ALLTOALL), COLL_NEEDS_SHARED,
    /* window */ 9, /* sends */ 9, COLL_PREPARED(3, coll_i_shm_alltoall_params, coll_i_prepare_radixes),
    coll_i_shm_alltoall_steps, coll_i_shm_alltoall_step, NULL, coll_i_shm_alltoall_check,
    coll_i_shm_alltoall_shared);

#endif /* COLL_ALGOS_SHM_ALLTOALL_H */
