/* coll/algos/shm_barrier.h — barrier in the shared memory of a node
 *
 * A group_sync (kit/shared_buffers.h) and nothing else: notifications up the tree of fnomial.h,
 * then down.
 *
 *   p = 4, f = 2:   3 → 2, 2 → 0, 1 → 0, then 0 → 2, 0 → 1, 2 → 3
 *
 * Laws    those of a barrier on a tree (tests/algos/tree.c)
 * Cost    2(p−1) notifications, 2h rounds, h the height of the tree
 * Source  Wu 2005, section 2.4
 */
#ifndef COLL_ALGOS_SHM_BARRIER_H
#define COLL_ALGOS_SHM_BARRIER_H

#include "fnomial.h"
#include "kit/shared_buffers.h"

COLL_ALGORITHM(coll_shm_barrier, "shm", "Wu 2005, section 2.4",
    COLL_BIT(COLL_BARRIER), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(1, coll_i_shm_params, coll_i_prepare_radix),
    coll_i_fnomial_barrier_steps, coll_i_fnomial_barrier_step);

#endif /* COLL_ALGOS_SHM_BARRIER_H */
