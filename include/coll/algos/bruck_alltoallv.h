/* coll/algos/bruck_alltoallv.h — alltoallv, alltoallw: short blocks in few rounds, long straight
 *
 * A rank that passes a block on does not know its size: only the two at its ends do. So short
 * blocks ride as in bruck_alltoall.h, each in a slot of `block` elements, the same on all ranks
 * (padded Bruck); what a slot holds beyond its block is sent, and never looked at. A block of
 * more than `block` elements goes straight from its rank to the other, after the rounds, in the
 * order of pairwise.h; its slot travels empty. Both ends decide alike, as they agree on the
 * size, and nobody else needs to know: so any tables will do, and `block` is but the size from
 * which the messages that a straight way costs are worth the copies and padding that it saves.
 * With 0, all go straight.
 *
 *   p = 4, k = 2, block = 2, sizes of rank 0's blocks  · 1 5 2
 *       rounds: slots with 1, – and 2 elements;  straight: 5 to rank 2
 *
 * Laws (tests/algos/bruck_alltoallv.c)
 *   (1) the rounds are those of an alltoall of blocks of `block` elements, whatever the tables say
 *   (2) a block goes straight if it has more than `block` elements, and else rides
 * Cost    the rounds, messages and scratch of bruck_alltoall.h with blocks of `block` elements,
 *         where that is not 0; and a message for each longer block, in place through two of the
 *         largest blocks of scratch, in at most as many rounds as there are of pairwise.h in which
 *         somebody has one
 * Source  Bruck et al. 1997, doi:10.1109/71.642949; padding, and short and long blocks in two ways:
 *         in use
 */
#ifndef COLL_ALGOS_BRUCK_ALLTOALLV_H
#define COLL_ALGOS_BRUCK_ALLTOALLV_H

#include "kit/derived.h"
#include "bruck_alltoall.h"
#include "pairwise.h"

COLL_TABLE(coll_param, coll_i_bruck_alltoallv_params, {
    COLL_PARAM("k", "k-1 messages a round", 2, UINT32_MAX / 2, 2, {2, 3, 2, 2}),
    COLL_PARAM("block", "elements of the longest blocks that ride",
               0, UINT32_MAX, 64, {2, 0, 8, 2})});

/* Steps of the rounds; the others are those of the straight way, and the copy of the own block. */
COLL_HOT_INLINE size_t coll_i_bruck_riding(const coll_i_bruck *list)
{
    return list->slot > 0 ? coll_i_bruck_list_steps(list) : 0;
}

COLL_INLINE size_t coll_i_bruck_alltoallv_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->param[1]);
    return coll_i_bruck_riding(&list) + coll_i_pairwise_alltoall_steps(plan, rank);
}

COLL_INLINE unsigned coll_i_bruck_alltoallv_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->param[1]);
    const size_t riding = coll_i_bruck_riding(&list);
    if (s < riding)
        return coll_i_bruck_list_step(plan, &list, rank, s, out);
    return coll_i_pairwise_longer(plan, rank, s - riding, list.slot,
                                  coll_i_bruck_slots(plan, &list) * list.slot, out);
}

COLL_INLINE size_t coll_i_bruck_alltoallv_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->param[1]);
    return coll_i_bruck_slots(plan, &list) * list.slot +
           coll_i_pairwise_alltoall_scratch(plan, rank);
}

COLL_INLINE coll_status coll_i_bruck_alltoallv_check(const coll_plan *plan)
{
    const coll_i_bruck list = coll_i_bruck_of(plan, plan->param[1]);
    return coll_i_bruck_fits(plan, &list);
}

COLL_ALGORITHM(coll_bruck_alltoallv, "bruck", "Bruck et al. 1997",
    COLL_PAIRED, COLL_USES_PADDING,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(2, coll_i_bruck_alltoallv_params, coll_i_prepare_radix),
    coll_i_bruck_alltoallv_steps, coll_i_bruck_alltoallv_step, coll_i_bruck_alltoallv_scratch,
    coll_i_bruck_alltoallv_check);

#endif /* COLL_ALGOS_BRUCK_ALLTOALLV_H */
