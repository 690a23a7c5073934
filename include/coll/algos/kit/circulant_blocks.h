/* coll/algos/kit/circulant_blocks.h — a vector of p blocks, from any block on, and around its end
 *
 * Of allreduces the plan cuts the vector; of other collectives the blocks are those of its ranks. For
 * circulant.h and permutation_group.h.
 */
#ifndef COLL_ALGOS_KIT_CIRCULANT_BLOCKS_H
#define COLL_ALGOS_KIT_CIRCULANT_BLOCKS_H

#include "../../plan.h"

/* Where block i begins in the vector that is cut into p blocks; for i = p, where that ends. */
COLL_HOT_INLINE size_t coll_i_circulant_at(const coll_plan *plan, uint32_t i)
{
    const coll_problem *of = &plan->problem;
    if (of->collective == COLL_ALLREDUCE)
        return coll_part_offset(plan->cut, i);
    return coll_i_layout_at(coll_is(COLL_REDUCING, of->collective) ? &of->in : &of->out,
                            of->count, of->p, i);
}

/* Elements of n blocks from number `first` on, around the end. */
COLL_HOT_INLINE size_t coll_i_circulant_elements(const coll_plan *plan, uint32_t first,
                                                 uint32_t n)
{
    const uint32_t p = plan->problem.p, straight = p - first;
    if (n <= straight)
        return coll_i_circulant_at(plan, first + n) - coll_i_circulant_at(plan, first);
    return coll_i_circulant_at(plan, p) - coll_i_circulant_at(plan, first) +
           coll_i_circulant_at(plan, n - straight);
}

/* Blocks of a message, one run, or two around the end of the vector. */
typedef struct coll_i_circulant_run {
    uint32_t first, blocks, left;
    size_t at, before, count; /* in the vector, in the message, in the run: elements */
} coll_i_circulant_run;

COLL_HOT_INLINE void coll_i_circulant_cut(const coll_plan *plan, coll_i_circulant_run *run)
{
    const uint32_t straight = plan->problem.p - run->first;
    run->blocks = run->left < straight ? run->left : straight;
    run->at = coll_i_circulant_at(plan, run->first);
    run->count = coll_i_circulant_at(plan, run->first + run->blocks) - run->at;
}

/* The first run; the whole vector is one. */
COLL_HOT_INLINE void coll_i_circulant_begin(const coll_plan *plan, uint32_t first,
                                            uint32_t blocks, coll_i_circulant_run *run)
{
    run->first = blocks == plan->problem.p ? 0 : first;
    run->left = blocks;
    run->before = 0;
    coll_i_circulant_cut(plan, run);
}

COLL_HOT_INLINE void coll_i_circulant_next(const coll_plan *plan, coll_i_circulant_run *run)
{
    run->left -= run->blocks;
    run->before += run->count;
    run->first = 0;
    if (run->left > 0)
        coll_i_circulant_cut(plan, run);
}

#endif /* COLL_ALGOS_KIT_CIRCULANT_BLOCKS_H */
