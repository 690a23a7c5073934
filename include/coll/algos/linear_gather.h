/* coll/algos/linear_gather.h — gather(v), scatter(v): everyone with the root
 *
 * The root receives each rank's block straight into its place in OUT, or sends it from its
 * place in IN. No block is copied or sent twice, blocks may differ in size, and only the root
 * needs to know the sizes of all.
 *
 *   p = 4, root 1, gather      rank 0 ──► OUT block 0      step 0
 *                              IN     ──► OUT block 1      step 1, a copy; in place no step
 *                              rank 2 ──► OUT block 2      step 2
 *                              rank 3 ──► OUT block 3      step 3
 *
 * Laws (tests/algos/linear_gather.c)
 *   (1) the root has one action for each rank, in rank order, and none for itself in place
 *   (2) every other rank has one action, with the root
 *   (3) only the root looks at the tables of gatherv and scatterv
 * Cost    p−1 messages, all of them at the root, each one block, in one round
 * Source  Moody 2003, §3.2.1 (serial)
 */
#ifndef COLL_ALGOS_LINEAR_GATHER_H
#define COLL_ALGOS_LINEAR_GATHER_H

#include "../plan.h"

/* Both: the root has a step for each rank, in place without itself. */
COLL_INLINE size_t coll_i_linear_gather_steps(const coll_plan *plan, uint32_t rank)
{
    if (rank != plan->problem.root)
        return 1;
    return plan->problem.p - (coll_in_place(plan) ? (size_t)1 : 0);
}

/* The rank that the root's step s is for. */
COLL_INLINE uint32_t coll_i_linear_other(const coll_plan *plan, size_t s)
{
    return (uint32_t)s + (coll_in_place(plan) && s >= plan->problem.root ? 1 : 0);
}

COLL_INLINE unsigned coll_i_linear_gather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    const uint32_t root = plan->problem.root;
    if (rank != root) {
        coll_act_send(out, root, COLL_AT(COLL_IN, 0), coll_own_count(plan, rank));
    } else {
        const uint32_t i = coll_i_linear_other(plan, s);
        const coll_block block = coll_out_block(plan, i);
        const coll_ref place = COLL_AT(COLL_OUT, block.offset);
        if (i == root)
            coll_act_copy(out, place, COLL_AT(COLL_IN, 0), block.count);
        else
            coll_act_recv(out, i, place, block.count);
    }
    return 1;
}

COLL_ALGORITHM(coll_linear_gather, "linear", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_linear_gather_steps, coll_i_linear_gather_step);

COLL_INLINE unsigned coll_i_linear_scatter_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const uint32_t root = plan->problem.root;
    if (rank != root) {
        coll_act_recv(out, root, COLL_AT(COLL_OUT, 0), coll_own_count(plan, rank));
    } else {
        const uint32_t i = coll_i_linear_other(plan, s);
        const coll_block block = coll_in_block(plan, i);
        const coll_ref place = COLL_AT(COLL_IN, block.offset);
        if (i == root)
            coll_act_copy(out, COLL_AT(COLL_OUT, 0), place, block.count);
        else
            coll_act_send(out, i, place, block.count);
    }
    return 1;
}

COLL_ALGORITHM(coll_linear_scatter, "linear", "Moody 2003, section 3.2.1",
    COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_i_linear_gather_steps, coll_i_linear_scatter_step);

#endif /* COLL_ALGOS_LINEAR_GATHER_H */
