/* coll/lab/sim/pool.h — memory in blocks that do not move: windows of slots, chunks of events
 *
 * Blocks of a class have one size, of whole cache lines, and are used again, the last one first.
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_POOL_H
#define COLL_LAB_SIM_POOL_H

#include "basics.h"

/* Classes 0 … 5 are windows of 2^class slots. */
enum {
    COLL_I_POOL_CHUNK = 6, /* chunks of the queue */
    COLL_I_POOL_CLASSES,
    COLL_I_POOL_SLAB = 256 * 1024,
    COLL_I_POOL_SLAB_HEAD = 64
};

/* Blocks are behind it. */
typedef struct coll_i_slab {
    struct coll_i_slab *next;
    size_t used, bytes; /* with this */
    void *memory;
} coll_i_slab;

typedef struct coll_i_pool {
    coll_i_slab *first, *current;
    void *free[COLL_I_POOL_CLASSES]; /* the first word of a block is the next */
    size_t bytes;                    /* of all slabs */
} coll_i_pool;

/* Takes all blocks back; what memory the pool has, it keeps. */
COLL_INLINE void coll_i_pool_clear(coll_i_pool *pool)
{
    memset(pool->free, 0, sizeof pool->free);
    for (coll_i_slab *slab = pool->first; slab; slab = slab->next)
        slab->used = COLL_I_POOL_SLAB_HEAD;
    pool->current = pool->first;
}

COLL_INLINE void coll_i_pool_free(coll_i_pool *pool)
{
    while (pool->first) {
        coll_i_slab *next = pool->first->next;
        free(pool->first->memory);
        pool->first = next;
    }
    memset(pool, 0, sizeof *pool);
}

/* The slab after the current one becomes that, or a new one of a quarter of all memory so far;
 * false: there is no memory for one. */
COLL_I_RARE bool coll_i_pool_next(coll_i_pool *pool)
{
    coll_i_slab *slab = pool->current ? pool->current->next : pool->first;
    if (!slab) {
        const size_t more = pool->bytes / 4 / COLL_I_CACHE_LINE * COLL_I_CACHE_LINE;
        const size_t bytes = more > COLL_I_POOL_SLAB ? more : (size_t)COLL_I_POOL_SLAB;
        void *memory = malloc(bytes + COLL_I_CACHE_LINE);
        if (!memory)
            return false;
        coll_i_large_pages(memory, bytes);
        slab = (coll_i_slab *)coll_i_cache_line(memory);
        slab->memory = memory;
        slab->next = NULL;
        slab->used = COLL_I_POOL_SLAB_HEAD;
        if (pool->current)
            pool->current->next = slab;
        else
            pool->first = slab;
        slab->bytes = bytes;
        pool->bytes += bytes;
    }
    pool->current = slab;
    return true;
}

/* A block of a class, whose blocks have so many bytes, whole lines; NULL: there is no memory. */
COLL_INLINE void *coll_i_pool_take(coll_i_pool *pool, uint32_t of, size_t bytes)
{
    void *block = pool->free[of];
    if (block) {
        memcpy(&pool->free[of], block, sizeof block);
        return block;
    }
    if ((!pool->current || pool->current->used + bytes > pool->current->bytes) &&
        !coll_i_pool_next(pool))
        return NULL;
    block = (char *)pool->current + pool->current->used;
    pool->current->used += bytes;
    return block;
}

COLL_INLINE void coll_i_pool_give(coll_i_pool *pool, uint32_t of, void *block)
{
    memcpy(block, &pool->free[of], sizeof(void *));
    pool->free[of] = block;
}

#endif /* COLL_LAB_SIM_POOL_H */
