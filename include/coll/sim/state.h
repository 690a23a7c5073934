/* coll/sim/state.h — a simulation in memory: ranks, slots, messages
 *
 * A rank is two cache lines, its window's slots, and its messages under way. Slots come from a
 * pool: as many as the rank has steps, then twice as many, up to the window. Messages are in one
 * array and linked by their numbers.
 */
#ifndef COLL_SIM_STATE_H
#define COLL_SIM_STATE_H

#include "../window.h"
#include "cost.h"
#include "queue.h"

/* ---- messages ---------------------------------------------------------------------------- */

/* Flags: the sender's slot waits for its flow, or, of a rendezvous, until it meets its receive. */
enum { COLL_I_SIM_WAITS = 1, COLL_I_SIM_RENDEZVOUS = 2 };

typedef struct coll_i_op {
    uint32_t next;     /* in a list */
    uint32_t from, to; /* ranks */
    uint8_t slot;      /* of the sender */
    uint8_t flags;
    uint8_t receiver; /* the slot that waits for its flows, and 1 */
    uint8_t flows;    /* of its two ends, those that go on */
    coll_time time;   /* of its arrival; then when its data is there, COLL_NEVER: it flows */
    uint64_t bytes;
} coll_i_op;

/* A list, by its last member, whose `next` is the first. */
#define COLL_I_SIM_NONE_LISTED 0x7fffffffu

/* ---- ranks ------------------------------------------------------------------------------- */

/* Of the masks of the request, `flying` are the slots whose action has begun, or waits for the
 * processor or a port; `landed` and `flying` are those that combine. */
typedef struct coll_i_sim_rank {
    coll_request request;
    coll_time cpu, out, in; /* when the processor and the ports are free */
    coll_time timer;  /* the event that gives the processor to who waits; COLL_NEVER: none */
    coll_time finish; /* the last end known so far */
    uint32_t open;    /* slots in flight of which nobody knows when they end */
    uint32_t waits;   /* slots in flight that wait for the processor or a port */
    uint32_t arrived; /* list: messages that wait for the processor or the port */
    uint32_t inbox;   /* list: messages that wait for their receive; or a table (inbox.h) */
    uint32_t inbox_n; /* how many those are */
    uint32_t watched; /* slots in flight whose end has an event */
} coll_i_sim_rank;

/* ---- slots ------------------------------------------------------------------------------- */

/* When the action of a slot ends, or since when it waits. */
COLL_INLINE coll_time coll_i_slot_time(const coll_slot *slot)
{
    return sizeof(uintptr_t) >= sizeof(coll_time)
               ? (coll_time)slot->handle.word[0]
               : (coll_time)slot->handle.word[1] << 16 << 16 | slot->handle.word[0];
}

COLL_INLINE void coll_i_slot_set_time(coll_slot *slot, coll_time time)
{
    slot->handle.word[0] = (uintptr_t)time;
    slot->handle.word[1] = (uintptr_t)(time >> 32);
}

/* Behind the slots: of each, its action's place in the program, and the slots whose actions end
 * before it, if they are older and not used again. */
typedef struct coll_i_sim_note {
    uint32_t place, before;
} coll_i_sim_note;

COLL_HOT_INLINE coll_i_sim_note *coll_i_sim_notes(const coll_request *r)
{
    return (coll_i_sim_note *)(void *)(r->slots + r->window);
}

/* The first of some slots in program order. Places wrap, but those of a window lie together. */
COLL_HOT_INLINE uint32_t coll_i_sim_oldest(const coll_request *r, uint32_t slots)
{
    const coll_i_sim_note *notes = coll_i_sim_notes(r);
    uint32_t oldest = COLL_LOWEST_BIT(slots);
    for (slots &= slots - 1; slots; slots &= slots - 1) {
        const uint32_t k = COLL_LOWEST_BIT(slots);
        if (notes[oldest].place - notes[k].place < UINT32_MAX / 2)
            oldest = k;
    }
    return oldest;
}

enum { COLL_I_SIM_SLOT_CLASSES = 6, COLL_I_SIM_SLAB = 256 * 1024, COLL_I_SIM_SLAB_HEAD = 64 };

/* Blocks of slots are behind it. */
typedef struct coll_i_slab {
    struct coll_i_slab *next;
    size_t used, bytes; /* with this */
    void *memory;
} coll_i_slab;

typedef struct coll_i_slots {
    coll_i_slab *first, *current;
    void *free
        [COLL_I_SIM_SLOT_CLASSES]; /* blocks of 1, 2, 4 … slots; the first word is the next */
    size_t bytes;                  /* of all slabs */
} coll_i_slots;

/* Takes all blocks back; what memory the pool has, it keeps. */
COLL_INLINE void coll_i_slots_clear(coll_i_slots *pool)
{
    memset(pool->free, 0, sizeof pool->free);
    for (coll_i_slab *slab = pool->first; slab; slab = slab->next)
        slab->used = COLL_I_SIM_SLAB_HEAD;
    pool->current = pool->first;
}

COLL_INLINE void coll_i_slots_free(coll_i_slots *pool)
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
COLL_INLINE bool coll_i_slots_next(coll_i_slots *pool)
{
    coll_i_slab *slab = pool->current ? pool->current->next : pool->first;
    if (!slab) {
        const size_t more = pool->bytes / 4 / COLL_I_CACHE_LINE * COLL_I_CACHE_LINE;
        const size_t bytes = more > COLL_I_SIM_SLAB ? more : (size_t)COLL_I_SIM_SLAB;
        void *memory = malloc(bytes + COLL_I_CACHE_LINE);
        if (!memory)
            return false;
        coll_i_large_pages(memory, bytes);
        slab = (coll_i_slab *)coll_i_cache_line(memory);
        slab->memory = memory;
        slab->next = NULL;
        slab->used = COLL_I_SIM_SLAB_HEAD;
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

/* Bytes of a window and what lies behind it, whole lines. */
COLL_HOT_INLINE size_t coll_i_slots_bytes(uint32_t window)
{
    const size_t bytes = window * (sizeof(coll_slot) + sizeof(coll_i_sim_note));
    return (bytes + COLL_I_CACHE_LINE - 1) / COLL_I_CACHE_LINE * COLL_I_CACHE_LINE;
}

/* A block of 2^order slots, and what lies behind them; NULL: there is no memory. */
COLL_INLINE coll_slot *coll_i_slots_take(coll_i_slots *pool, uint32_t order)
{
    const size_t bytes = coll_i_slots_bytes((uint32_t)1 << order);
    void *block = pool->free[order];
    if (block) {
        memcpy(&pool->free[order], block, sizeof block);
        return (coll_slot *)block;
    }
    if ((!pool->current || pool->current->used + bytes > pool->current->bytes) &&
        !coll_i_slots_next(pool))
        return NULL;
    block = (char *)pool->current + pool->current->used;
    pool->current->used += bytes;
    return (coll_slot *)block;
}

COLL_INLINE void coll_i_slots_give(coll_i_slots *pool, coll_slot *block, uint32_t order)
{
    memcpy(block, &pool->free[order], sizeof(void *));
    pool->free[order] = block;
}

#endif /* COLL_SIM_STATE_H */
