/* coll/transports/node/regions.h — ranks that share memory: puts into each other's regions (one_sided.h)
 *
 * What a rank exposes is in a table of its own, in shared memory, made when it exposes something first. Who puts looks there,
 * copies, and counts. While it does, it says so in a word of that table: a rank that withdraws a region waits until
 * nobody writes any more. Regions lie in shared memory: with processes, that is memory of coll_shm_alloc, or SHARED.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_REGIONS_H
#define COLL_TRANSPORTS_NODE_REGIONS_H

#include <sched.h>

#include "aborts.h"

enum {
    COLL_NODE_REGIONS = 4,              /* of a rank, at one time */
    COLL_NODE_REGION_COUNTERS = 1 << 16 /* of each of them */
};

/* In shared memory. */
typedef struct coll_i_node_region {
    uint32_t exposed; /* written last */
    uint32_t n, tag;
    uint32_t room;   /* counters that there is memory for, the owner's note */
    uint64_t memory; /* distances … */
    uint64_t bytes;
    uint64_t counters; /* … likewise */
} coll_i_node_region;

/* All of a rank; behind it a word for each rank: that writes to one of them now. */
typedef struct coll_i_node_regions {
    coll_i_node_region at[COLL_NODE_REGIONS];
} coll_i_node_regions;

COLL_INLINE size_t coll_i_node_regions_bytes(const coll_i_node_rank *me)
{
    return sizeof(coll_i_node_regions) + me->p * sizeof(uint32_t);
}

/* The table of a rank; NULL: it has none. */
COLL_INLINE coll_i_node_regions *coll_i_node_regions_of(const coll_i_node_rank *me,
                                                        uint32_t rank)
{
    return (coll_i_node_regions *)coll_i_node_shared(
        me, __atomic_load_n(&me->regions[rank], __ATOMIC_ACQUIRE),
        coll_i_node_regions_bytes(me));
}

COLL_INLINE uint32_t *coll_i_node_writes_now(coll_i_node_regions *table, uint32_t rank)
{
    return (uint32_t *)(void *)(table + 1) + rank;
}

/* This rank's region of a number, if it is exposed, else NULL. */
COLL_INLINE coll_i_node_region *coll_i_node_own_region(const coll_i_node_rank *me,
                                                       uint32_t number)
{
    coll_i_node_regions *table =
        number < COLL_NODE_REGIONS ? coll_i_node_regions_of(me, me->rank) : NULL;
    return table && table->at[number].exposed ? &table->at[number] : NULL;
}

/* This rank's table, made if there is none. NULL: no memory. */
COLL_INLINE coll_i_node_regions *coll_i_node_make_regions(coll_i_node_rank *me)
{
    coll_i_node_regions *table = coll_i_node_regions_of(me, me->rank);
    if (!table) {
        const uint64_t at = me->carve(me, coll_i_node_regions_bytes(me));
        __atomic_store_n(&me->regions[me->rank], at, __ATOMIC_RELEASE);
        table = coll_i_node_regions_of(me, me->rank);
    }
    return table;
}

COLL_INLINE coll_status coll_i_node_expose(void *ctx, uint32_t number, coll_region *region)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_regions *table;
    coll_i_node_region *its;
    uint32_t *counters;
    if (!region || (!region->memory && region->bytes != 0))
        return COLL_ERR_NULL;
    if (number >= COLL_NODE_REGIONS || region->n > COLL_NODE_REGION_COUNTERS)
        return COLL_ERR_COUNTS;
    if (region->bytes != 0 && !coll_i_node_is_shared(me, region->memory, region->bytes))
        return COLL_ERR_PLACE;
    if (!(table = coll_i_node_make_regions(me)))
        return COLL_ERR_MEMORY;
    its = &table->at[number];
    if (its->exposed)
        return COLL_ERR_STATE;
    if (region->n > its->room) {
        its->counters = me->carve(me, region->n * sizeof *counters);
        its->room = its->counters ? region->n : 0;
        if (!its->counters)
            return COLL_ERR_MEMORY;
    }
    counters = (uint32_t *)(me->base + (uintptr_t)its->counters);
    for (uint32_t c = 0; c < region->n; c++)
        __atomic_store_n(&counters[c], 0, __ATOMIC_RELAXED);
    its->memory = region->bytes ? (uintptr_t)region->memory - me->base : 0;
    its->bytes = region->bytes;
    its->n = region->n;
    its->tag = region->tag;
    __atomic_store_n(&its->exposed, 1, __ATOMIC_SEQ_CST);
    return COLL_OK;
}

/* A peer that writes now is waited for, unless it is dead, and so writes no more. */
COLL_INLINE void coll_i_node_withdraw(void *ctx, uint32_t number)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_region *its = coll_i_node_own_region(me, number);
    coll_i_node_regions *table = coll_i_node_regions_of(me, me->rank);
    if (!its)
        return;
    __atomic_store_n(&its->exposed, 0, __ATOMIC_SEQ_CST);
    for (uint32_t r = 0; r < me->p; r++)
        while (__atomic_load_n(coll_i_node_writes_now(table, r), __ATOMIC_SEQ_CST) != 0 &&
               !(me->is_dead && me->is_dead(me, r)))
            (void)sched_yield();
}

/* Writes to a region, and counts, if it is exposed and has all that. What is in shared memory is read once. */
COLL_INLINE coll_status coll_i_node_write_region(const coll_i_node_rank *me,
                                                 const coll_i_node_region *its,
                                                 const coll_put_call *call)
{
    uint64_t memory, bytes, at, counters;
    uint32_t *counter;
    if (!__atomic_load_n(&its->exposed, __ATOMIC_SEQ_CST))
        return COLL_ERR_PLACE;
    memory = its->memory;
    bytes = its->bytes;
    at = its->counters;
    counters = (uint64_t)its->n * sizeof(uint32_t);
    if (bytes > me->end || memory > me->end - bytes || counters > me->end ||
        at > me->end - counters || call->counter >= counters / sizeof(uint32_t) ||
        bytes > SIZE_MAX || !coll_region_covers((size_t)bytes, call->offset, call->bytes))
        return COLL_ERR_PLACE;
    if (call->bytes != 0)
        memcpy((unsigned char *)(me->base + (uintptr_t)memory) + call->offset, call->from,
               call->bytes);
    counter = (uint32_t *)(me->base + (uintptr_t)at) + call->counter;
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_node_put(void *ctx, const coll_put_call *call, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const coll_i_node_region *own = coll_i_node_own_region(me, call->region);
    coll_i_node_regions *table;
    coll_status status;
    (void)h;
    if (call->peer >= me->p || call->peer == me->rank)
        return COLL_ERR_RANK;
    if (!own)
        return COLL_ERR_STATE;
    if (coll_i_node_aborted(me, own->tag))
        return COLL_ERR_PEER;
    table = coll_i_node_regions_of(me, call->peer);
    if (!table)
        return COLL_ERR_PLACE;
    __atomic_store_n(coll_i_node_writes_now(table, me->rank), 1, __ATOMIC_SEQ_CST);
    status = coll_i_node_write_region(me, &table->at[call->region], call);
    __atomic_store_n(coll_i_node_writes_now(table, me->rank), 0, __ATOMIC_SEQ_CST);
    return status;
}

COLL_INLINE coll_status coll_i_node_count(void *ctx, uint32_t number, uint32_t counter,
                                          uint32_t *value)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const coll_i_node_region *its = coll_i_node_own_region(me, number);
    const uint32_t *at;
    if (!its || counter >= its->n)
        return COLL_ERR_STATE;
    if (coll_i_node_aborted(me, its->tag))
        return COLL_ERR_PEER;
    at = (const uint32_t *)(me->base + (uintptr_t)its->counters) + counter;
    *value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (me->check_liveness && ++me->misses % COLL_NODE_MISSES == 0)
        me->check_liveness(me);
    return COLL_OK;
}

COLL_CONST(coll_one_sided, coll_i_node_one_sided,
           {coll_i_node_expose, coll_i_node_withdraw, coll_i_node_put, coll_i_node_count,
            COLL_NODE_REGIONS, COLL_NODE_REGION_COUNTERS});

#endif /* COLL_TRANSPORTS_NODE_REGIONS_H */
