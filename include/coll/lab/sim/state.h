/* coll/lab/sim/state.h — a simulation in memory: ranks, slots, messages
 *
 * A rank is two cache lines, its window's slots, and its messages under way. Slots come from a
 * pool: as many as the rank has steps, or actions in the first of them, then twice as many, up to
 * the window. Messages are in one array and linked by their numbers.
 */
#ifndef COLL_LAB_SIM_STATE_H
#define COLL_LAB_SIM_STATE_H

#include "../../executor/window.h"
#include "cost.h"
#include "queue.h"

/* ---- messages ---------------------------------------------------------------------------- */

/* Flags: the sender's slot waits for its flow, or, of a rendezvous, until it meets its receive; the
 * data was written by its sender; the rendezvous lasts until the data is there. */
enum {
    COLL_I_SIM_WAITS = 1,
    COLL_I_SIM_RENDEZVOUS = 2,
    COLL_I_SIM_WRITTEN = 4,
    COLL_I_SIM_HELD = 8
};

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
 * processor or a port; `staged` and `flying` are those that combine. */
typedef struct coll_i_sim_rank {
    coll_window window;
    coll_time cpu, out, in; /* when the processor and the ports are free */
    coll_time timer;  /* the event that gives the processor to who waits; COLL_NEVER: none */
    coll_time finish; /* the last end known so far */
    uint32_t open;    /* slots in flight of which nobody knows when they end */
    uint32_t waits;   /* slots in flight that wait for the processor or a port */
    uint32_t arrived; /* list: messages that wait for the processor or the port */
    uint32_t inbox; /* list: messages that wait for their receive; or a table (unexpected.h) */
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

COLL_HOT_INLINE coll_i_sim_note *coll_i_sim_notes(const coll_window *w)
{
    return (coll_i_sim_note *)(void *)(w->slots + w->size);
}

/* The first of some slots in program order. Places wrap, but those of a window lie together. */
COLL_HOT_INLINE uint32_t coll_i_sim_oldest(const coll_window *w, uint32_t slots)
{
    const coll_i_sim_note *notes = coll_i_sim_notes(w);
    uint32_t oldest = COLL_LOWEST_BIT(slots);
    for (slots &= slots - 1; slots; slots &= slots - 1) {
        const uint32_t k = COLL_LOWEST_BIT(slots);
        if (notes[oldest].place - notes[k].place < UINT32_MAX / 2)
            oldest = k;
    }
    return oldest;
}

/* Bytes of a window and what lies behind it, whole lines. */
COLL_HOT_INLINE size_t coll_i_slots_bytes(uint32_t window)
{
    const size_t bytes = window * (sizeof(coll_slot) + sizeof(coll_i_sim_note));
    return (bytes + COLL_I_CACHE_LINE - 1) / COLL_I_CACHE_LINE * COLL_I_CACHE_LINE;
}

/* A window of 2^order slots, and what lies behind them; NULL: there is no memory. */
COLL_INLINE coll_slot *coll_i_slots_take(coll_i_pool *pool, uint32_t order)
{
    return (coll_slot *)coll_i_pool_take(pool, order, coll_i_slots_bytes((uint32_t)1 << order));
}

COLL_INLINE void coll_i_slots_give(coll_i_pool *pool, coll_slot *slots, uint32_t order)
{
    coll_i_pool_give(pool, order, slots);
}

#endif /* COLL_LAB_SIM_STATE_H */
