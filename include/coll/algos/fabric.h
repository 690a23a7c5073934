/* coll/algos/fabric.h — allreduce by the network: one reduction of all ranks
 *
 * The switches on the way reduce what the ranks hand to them, and hand the result back. Few
 * networks take more than some reductions at a time, of short vectors; so in larger systems the
 * ranks that hand over are leaders of nodes or sockets (two_level.h).
 *
 * Cost    one action of `count` elements
 * Source  Bayatpour et al. 2017, section 2.2, doi:10.1145/3126908.3126954; Graham et al. 2016
 * (SHArP)
 */
#ifndef COLL_ALGOS_FABRIC_H
#define COLL_ALGOS_FABRIC_H

#include "../plan.h"

COLL_INLINE size_t coll_i_fabric_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 1;
}

COLL_INLINE unsigned coll_i_fabric_step(const coll_plan *plan, uint32_t rank, size_t s,
                                        coll_action *out)
{
    coll_team all;
    (void)rank;
    (void)s;
    all.number = COLL_TEAM_ALL;
    all.members = plan->problem.p;
    coll_act_fabric_reduce(out, all, COLL_AT(COLL_OUT, 0), coll_input(plan),
                           plan->problem.count);
    return 1;
}

static const coll_algorithm coll_fabric_allreduce = {
    "fabric",
    "Bayatpour et al. 2017, section 2.2",
    COLL_BIT(COLL_ALLREDUCE),
    COLL_NEEDS_FABRIC_REDUCE | COLL_GIVES_SAME_BITS,
    /* window */ 1,
    /* parameters */ 0,
    NULL,
    /* check */ NULL,
    coll_i_fabric_steps,
    coll_i_fabric_step,
    /* scratch */ NULL,
    /* shared */ NULL,
};

#endif /* COLL_ALGOS_FABRIC_H */
