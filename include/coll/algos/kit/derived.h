/* coll/algos/kit/derived.h — numbers that follow from ranks and parameters (`prepare` of a record)
 *
 * An algorithm with a radix divides by it in each step, and one that folds needs its core: so these are
 * calculated once, when the plan is made, by the algorithms that use them.
 */
#ifndef COLL_ALGOS_KIT_DERIVED_H
#define COLL_ALGOS_KIT_DERIVED_H

#include "../../plan.h"

/* radix: division by param[0]. */
COLL_INLINE void coll_i_prepare_radix(coll_plan *plan)
{
    plan->radix = coll_fast_divisor_of(plan->param[0] ? plan->param[0] : 1);
}

/* radix and second: division by param[0] and param[1]. */
COLL_INLINE void coll_i_prepare_radixes(coll_plan *plan)
{
    coll_i_prepare_radix(plan);
    plan->second = coll_fast_divisor_of(plan->param[1] ? plan->param[1] : 1);
}

/* fold: to a core of c·k^m ranks. By field: some compilers call memcpy for all. */
COLL_INLINE void coll_i_prepare_core(coll_plan *plan, const coll_fast_divisor *k)
{
    const coll_fold fold = coll_fold_of(plan->problem.p, k);
    plan->fold.core = fold.core;
    plan->fold.extra = fold.extra;
    plan->fold.rounds = fold.rounds;
    plan->fold.top = fold.top;
}

/* … k = 2. */
COLL_INLINE void coll_i_prepare_fold(coll_plan *plan)
{
    coll_i_prepare_core(plan, &coll_fast_divisor_two);
}

/* … and pieces: the vector in as many parts. */
COLL_INLINE void coll_i_prepare_pieces(coll_plan *plan)
{
    coll_i_prepare_fold(plan);
    plan->pieces = coll_partition_of(plan->problem.count, plan->fold.core);
}

/* radix, and fold with k = param[0]. */
COLL_INLINE void coll_i_prepare_radix_fold(coll_plan *plan)
{
    coll_i_prepare_radix(plan);
    coll_i_prepare_core(plan, &plan->radix);
}

/* … and pieces. */
COLL_INLINE void coll_i_prepare_radix_pieces(coll_plan *plan)
{
    coll_i_prepare_radix_fold(plan);
    plan->pieces = coll_partition_of(plan->problem.count, plan->fold.core);
}

/* `check` of an algorithm with COLL_NEEDS_FULL_ROWS: has a mesh of param[0] columns the plan's ranks, and,
 * with COLL_NEEDS_LINE, in the order of the operands? */
COLL_INLINE coll_status coll_i_mesh_check(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p, width = plan->param[0];
    if ((plan->traits & COLL_NEEDS_FULL_ROWS) && coll_divide(p, &plan->radix) * width != p)
        return COLL_ERR_SHAPE;
    if ((plan->traits & COLL_NEEDS_LINE) && !(plan->problem.flags & COLL_FLAG_COMMUTATIVE) &&
        width > 1 && width < p)
        return COLL_ERR_ORDER;
    return COLL_OK;
}

#endif /* COLL_ALGOS_KIT_DERIVED_H */
