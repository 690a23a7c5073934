/* coll/transports/loopback/exposed.h — all ranks in one thread: regions that are exposed (one_sided.h)
 *
 * They are in a list, through their own words: so a world takes no memory for them.
 *
 * Use loopback.h.
 */
#ifndef COLL_TRANSPORTS_LOOPBACK_EXPOSED_H
#define COLL_TRANSPORTS_LOOPBACK_EXPOSED_H

#include "../../transport.h"

enum { COLL_I_LOOP_REGIONS = 8 }; /* of a rank */

/* Of all ranks. */
typedef struct coll_i_loop_regions {
    coll_region *first;
} coll_i_loop_regions;

COLL_INLINE coll_region *coll_i_loop_next_region(const coll_region *region)
{
    return (coll_region *)region->own[0];
}

/* Region `number` of a rank, or NULL; *before: the one before it, or the last. */
COLL_INLINE coll_region *coll_i_loop_region(const coll_i_loop_regions *all, uint32_t rank,
                                            uint32_t number, coll_region **before)
{
    const uintptr_t name = (uintptr_t)rank * COLL_I_LOOP_REGIONS + number;
    coll_region *at = number < COLL_I_LOOP_REGIONS ? all->first : NULL;
    *before = NULL;
    while (at && at->own[1] != name) {
        *before = at;
        at = coll_i_loop_next_region(at);
    }
    return at;
}

COLL_INLINE coll_status coll_i_loop_list_region(coll_i_loop_regions *all, uint32_t rank,
                                                uint32_t number, coll_region *region)
{
    coll_region *before;
    if (!region || (!region->memory && region->bytes != 0) ||
        (!region->counters && region->n != 0))
        return COLL_ERR_NULL;
    if (number >= COLL_I_LOOP_REGIONS)
        return COLL_ERR_COUNTS;
    if (coll_i_loop_region(all, rank, number, &before))
        return COLL_ERR_STATE;
    for (uint32_t c = 0; c < region->n; c++)
        region->counters[c] = 0;
    region->own[0] = (uintptr_t)all->first;
    region->own[1] = (uintptr_t)rank * COLL_I_LOOP_REGIONS + number;
    all->first = region;
    return COLL_OK;
}

COLL_INLINE void coll_i_loop_unlist_region(coll_i_loop_regions *all, uint32_t rank,
                                           uint32_t number)
{
    coll_region *before, *region = coll_i_loop_region(all, rank, number, &before);
    if (!region)
        return;
    if (before)
        before->own[0] = region->own[0];
    else
        all->first = coll_i_loop_next_region(region);
}

/* Writes to a region, and counts. */
COLL_INLINE coll_status coll_i_loop_write(const coll_i_loop_regions *all,
                                          const coll_put_call *call)
{
    coll_region *before, *region = coll_i_loop_region(all, call->peer, call->region, &before);
    if (!region || call->counter >= region->n ||
        !coll_region_covers(region->bytes, call->offset, call->bytes))
        return COLL_ERR_PLACE;
    if (call->bytes != 0)
        COLL_COPY((unsigned char *)region->memory + call->offset, call->from, call->bytes);
    region->counters[call->counter]++;
    return COLL_OK;
}

#endif /* COLL_TRANSPORTS_LOOPBACK_EXPOSED_H */
