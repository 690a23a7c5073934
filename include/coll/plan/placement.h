/* coll/plan/placement.h — leaf, intermediate or root: where a rank's part of a collective should
 * run
 *
 *   const bool on_nic = coll_placement_of(&plan, rank) == COLL_INTERMEDIATE;
 *   run.transport = on_nic ? &nic : &host;       // or: pack the plan (pack.h) and hand it over
 *
 * A processor in the network adapter is slower than the host's, but nearer to the network, and
 * nothing interrupts it. Handing a collective to it, and being told of its end, costs a crossing
 * of the bus each. An intermediate rank of a tree, which waits for others first and is waited
 * for by others, hides both behind the first and the last messages of the collective; a leaf and
 * the root cannot, and are faster on the host. Trees of two ranks, and f-nomial trees of three,
 * have no intermediate rank.
 *
 * Source  Moody 2003, §3.3.2
 */
#ifndef COLL_PLAN_PLACEMENT_H
#define COLL_PLAN_PLACEMENT_H

#include "../plan.h"

/* Where in a plan a rank is. */
typedef enum coll_placement {
    COLL_LEAF,         /* combines nothing, and hands on nothing that came from another rank */
    COLL_INTERMEDIATE, /* does */
    COLL_ROOT /* the root; in collectives without one, rank 0, as in trees up and down */
} coll_placement;

/* What a rank of a plan is. For trees; in other patterns, ranks that forward or combine are
 * intermediate. Reads the rank's actions up to the first that tells: few of an intermediate
 * rank, all of a leaf. */
COLL_INLINE coll_placement coll_placement_of(const coll_plan *plan, uint32_t rank)
{
    const size_t steps = coll_plan_steps(plan, rank);
    uint32_t from = COLL_RANK_NONE; /* the last rank that a message came from */
    if (rank == plan->problem.root)
        return COLL_ROOT;
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < n; i++) {
            const coll_action *a = &acts[i];
            if (a->count == 0)
                continue;
            if (coll_i_has(COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(REDUCE), a) ||
                (coll_i_has(COLL_I_SENDS, a) && from != COLL_RANK_NONE &&
                 (a->kind == COLL_DO_MULTICAST || a->peer != from)))
                return COLL_INTERMEDIATE;
            if (coll_i_has(COLL_I_RECEIVES, a))
                from = a->peer;
        }
    }
    return COLL_LEAF;
}

#endif /* COLL_PLAN_PLACEMENT_H */
