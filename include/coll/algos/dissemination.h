/* coll/algos/dissemination.h — barrier in which everyone tells ever more distant ranks
 *
 * In the round of stride s = f^k a rank notifies the f−1 ranks at the distances s, 2s … (f−1)s
 * to its right and awaits those to its left. Whoever has heard from the s ranks up to itself
 * before the round has heard from f·s of them after it, so after ⌈log_f p⌉ rounds from all p.
 * There is no root: every rank does the same, and nobody waits for more than the slowest. f = 2
 * is the dissemination barrier of the textbooks; a larger f has fewer, fuller rounds.
 *
 *   p = 6, f = 2: whom rank r has heard from        p = 6, f = 3: distances
 *       before      r                                   round 0   1, 2
 *       distance 1  r−1, r                              round 1   3
 *       distance 2  r−3 … r
 *       distance 4  r−7 … r, all
 *
 * Laws (tests/algos/dissemination.c)
 *   (1) whom r notifies at step s awaits r at step s
 *   (2) after the rounds of strides below s, a rank has heard of min(s, p) ranks, itself the last
 *   (3) a notification names all tokens of earlier rounds, and none of its own
 * Cost    ⌈log_f p⌉ rounds; per rank a message of 0 bytes for each distance e·f^t < p, 1 ≤ e < f
 * Source  Hensgen, Finkel, Manber 1988, doi:10.1007/BF01379320; n-way: Hoefler et al. 2006
 */
#ifndef COLL_ALGOS_DISSEMINATION_H
#define COLL_ALGOS_DISSEMINATION_H

#include "../plan.h"
#include "../plan/topo/tree.h"
#include "kit/derived.h"

COLL_TABLE(coll_param, coll_i_dissemination_params, {
    COLL_PARAM("f", "f-1 notifications a round", 2, UINT32_MAX / 2, 2, {2, 3, 5, 64})});

/* The distances are those of the children of an f-nomial tree's root. */
COLL_INLINE size_t coll_i_dissemination_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_fnomial_of(plan->problem.p, &plan->radix, 0).children;
}

/* Token 0 is the own arrival, token 1 + s the one that step s awaits. */
COLL_INLINE unsigned coll_i_dissemination_step(const coll_plan *plan, uint32_t rank, size_t s,
                                               coll_action *out)
{
    const uint32_t p = plan->problem.p, f = plan->param[0];
    const coll_fnomial_phase round = coll_fnomial_phase_of(f, (uint32_t)s);
    const uint32_t distance = ((uint32_t)s - round.first + 1) * round.stride;
    const coll_ref token = COLL_AT(COLL_SCRATCH, 0);
    coll_act_notify(&out[0], coll_mod_add(rank, distance, p), token, round.first + (size_t)1);
    coll_act_await(&out[1], coll_mod_sub(rank, distance, p), token + 1 + s, 1);
    return 2;
}

COLL_ALGORITHM(coll_dissemination_barrier, "dissemination",
    "Hensgen, Finkel, Manber 1988; Hoefler et al. 2006",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_dissemination_params, coll_i_prepare_radix),
    coll_i_dissemination_steps, coll_i_dissemination_step);

#endif /* COLL_ALGOS_DISSEMINATION_H */
