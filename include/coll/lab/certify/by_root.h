/* coll/lab/certify/by_root.h — the argument of the root: everyone with the root, one after the other
 *
 * The root has a step for each rank, and each other rank one or two. So the root is proven by induction
 * over its steps, as in by_exchange.h, and the others whole.
 *
 *   reduce to rank 0, p = 6, before step 3:   OUT of the root is the sum of ranks 0 … 3
 *   step 3 receives from rank 4               OUT of the root is the sum of ranks 0 … 4
 *
 * A message's level is that of the root's step.
 */
#ifndef COLL_LAB_CERTIFY_BY_ROOT_H
#define COLL_LAB_CERTIFY_BY_ROOT_H

#include "local_proof.h"

/* The root's step in which it meets another rank; `down`: and sends to it. */
COLL_INLINE size_t coll_i_root_step(const coll_i_theorem *of, uint32_t rank, bool down)
{
    const coll_problem *problem = &of->plan->problem;
    switch (problem->collective) {
    case COLL_BCAST:
        return coll_mod_sub(rank, problem->root, of->in.p) - 1;
    case COLL_REDUCE:
        return rank - (problem->root == 0 ? 1 : 0);
    case COLL_ALLREDUCE:
        return rank - 1 + (down ? of->in.p - (size_t)1 : 0);
    default:
        return rank;
    }
}

COLL_INLINE bool coll_i_root_message(const coll_i_theorem *of, uint32_t from, uint32_t to,
                                     size_t step, coll_i_claim *claimed)
{
    const coll_problem *problem = &of->plan->problem;
    (void)step;
    claimed->count = 1;
    claimed->is = from == problem->root && problem->collective == COLL_ALLREDUCE
                      ? coll_i_complete(of)
                      : coll_i_given(of, from, 1);
    if (problem->collective == COLL_SCATTER)
        claimed->is.element = to;
    return true;
}

COLL_INLINE size_t coll_i_root_there(const coll_i_theorem *of, uint32_t rank, size_t step,
                                     const coll_action *a)
{
    const coll_problem *problem = &of->plan->problem;
    (void)step;
    if (rank != problem->root)
        return coll_i_root_step(of, rank, !coll_i_has(COLL_I_SENDS, a));
    return problem->collective == COLL_ALLREDUCE && coll_i_has(COLL_I_SENDS, a) ? 1 : 0;
}

COLL_INLINE uint64_t coll_i_root_when(const coll_i_theorem *of, uint32_t rank, size_t step,
                                      const coll_action *a)
{
    const bool sends = coll_i_has(COLL_I_SENDS, a), is_root = rank == of->plan->problem.root;
    const uint64_t at = is_root ? step : coll_i_root_step(of, rank, !sends);
    return 2 * at + (sends ? 1 : 2);
}

/* The root's step s begins at 2s + 1. Of the others, the second step is in the second half of the root's. */
COLL_INLINE uint64_t coll_i_root_since(const coll_i_theorem *of, uint32_t rank, size_t step)
{
    const uint64_t p = of->in.p, whole = 8 * p;
    if (rank == of->plan->problem.root)
        return 2 * (uint64_t)step + 1;
    return step == 0                                                     ? 1
           : step == 1 && of->plan->problem.collective == COLL_ALLREDUCE ? 2 * (p - 1) + 1
                                                                         : whole;
}

/* The sum of the ranks so far, or their blocks; of a scatter the own block, if that has come. */
COLL_INLINE bool coll_i_root_before(const coll_i_theorem *of, uint32_t rank, size_t step,
                                    coll_i_held *held)
{
    const coll_problem *problem = &of->plan->problem;
    const uint32_t done = (uint32_t)step;
    coll_i_piece *piece = &held->piece[held->n];
    piece->at = COLL_AT(COLL_OUT, 0);
    piece->count = 1;
    piece->is = coll_i_given(of, 0, 1);
    if (rank != problem->root || problem->collective == COLL_BCAST)
        return true; /* nothing but its input */
    if (problem->collective == COLL_GATHER) {
        piece->count = done;
        piece->is.first_moves = done > 1;
    } else if (problem->collective == COLL_SCATTER) {
        if (done <= rank)
            return true;
        (void)coll_i_wanted(of, rank, &piece->is);
    } else {
        piece->is.ranks = done + (problem->root == 0 ? 1 : 0);
        if (piece->is.ranks > of->in.p) /* the second half of an allreduce */
            piece->is.ranks = of->in.p;
        coll_i_contributions_tidy(&of->in, &piece->is);
    }
    held->n++;
    return true;
}

/* The root, where all else meets; the first rank, the last, and any one. */
COLL_INLINE unsigned coll_i_root_classes(const coll_i_theorem *of, uint32_t *rank)
{
    rank[0] = of->plan->problem.root;
    rank[1] = 0;
    rank[2] = of->in.p - 1;
    rank[3] = coll_i_drawn(of->in.p, 1, of->in.p);
    return 4;
}

COLL_CONST(coll_i_claims, coll_i_by_root, {
    coll_i_root_message, coll_i_root_there,  coll_i_root_when, coll_i_root_since,
    coll_i_root_before,  coll_i_root_classes, false});

#endif /* COLL_LAB_CERTIFY_BY_ROOT_H */
