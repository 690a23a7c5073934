/* coll/lab/verify/memory.h — memory that grows, and records for the channels of ranks that talk
 *
 * What the hosted readers of plans keep their notes in. Private.
 */
#ifndef COLL_LAB_VERIFY_MEMORY_H
#define COLL_LAB_VERIFY_MEMORY_H

#include "../../config.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* ---- memory that grows ------------------------------------------------------------------- */

typedef struct coll_i_memory {
    void *at;
    size_t bytes;
} coll_i_memory;

/* Tells gcc's AddressSanitizer that `bytes` may be touched; and if the memory is fresh, that the rest
 * of it, which is spare, may not. */
COLL_INLINE void coll_i_binding_bytes(const coll_i_memory *memory, size_t bytes, bool fresh)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(memory->at, bytes);
    if (fresh)
        __asan_poison_memory_region((char *)memory->at + bytes, memory->bytes - bytes);
#else
    (void)memory, (void)bytes, (void)fresh;
#endif
}

/* At least `bytes` bytes, with the contents kept; NULL if there are none. */
COLL_INLINE void *coll_i_reserve(coll_i_memory *memory, size_t bytes)
{
    const bool fresh = bytes > memory->bytes || !memory->at;
    if (fresh) {
        const size_t more = bytes + bytes / 2 + 64;
        void *at = more < bytes ? NULL : realloc(memory->at, more);
        if (!at)
            return NULL;
        memory->at = at;
        memory->bytes = more;
    }
    coll_i_binding_bytes(memory, bytes, fresh);
    return memory->at;
}

/* The same, with the contents lost. */
COLL_INLINE void *coll_i_reserve_new(coll_i_memory *memory, size_t bytes)
{
    if (bytes > memory->bytes) {
        free(memory->at);
        memory->at = NULL;
        memory->bytes = 0;
    } else if (memory->at) {
        coll_i_binding_bytes(memory, bytes, true);
    }
    return coll_i_reserve(memory, bytes);
}

COLL_INLINE void coll_i_release(coll_i_memory *memory)
{
    free(memory->at);
    memory->at = NULL;
    memory->bytes = 0;
}

/* ---- channels: a small record for each ordered pair of ranks that talk -------------------- */

#define COLL_I_NONE UINT32_MAX

typedef struct coll_i_channel {
    uint32_t from, to;
    uint32_t head, tail;     /* messages under way, in passes that carry them */
    uint32_t sent, received; /* their number */
} coll_i_channel;

typedef struct coll_i_channels {
    coll_i_memory list, table; /* channels; {key, epoch, index} by hash */
    uint32_t n, epoch;
    uint32_t slots; /* of the table, a power of two */
} coll_i_channels;

typedef struct coll_i_channel_key {
    uint64_t pair;
    uint32_t epoch, index;
} coll_i_channel_key;

/* Forgets all channels. */
COLL_INLINE void coll_i_channels_clear(coll_i_channels *c)
{
    c->n = 0;
    c->epoch++;
}

COLL_INLINE coll_i_channel *coll_i_channel_at(coll_i_channels *c, uint32_t index)
{
    return (coll_i_channel *)c->list.at + index;
}

COLL_INLINE coll_i_channel_key *coll_i_channel_slot(const coll_i_channels *c, uint64_t pair)
{
    coll_i_channel_key *table = (coll_i_channel_key *)c->table.at;
    uint32_t i = (uint32_t)((pair * 0x9e3779b97f4a7c15u) >> 32) & (c->slots - 1);
    while (table[i].epoch == c->epoch && table[i].pair != pair)
        i = (i + 1) & (c->slots - 1);
    return &table[i];
}

COLL_INLINE bool coll_i_channels_grow(coll_i_channels *c)
{
    const uint32_t slots = c->slots ? 2 * c->slots : 256;
    coll_i_memory table = {NULL, 0};
    if (!coll_i_reserve(&table, slots * sizeof(coll_i_channel_key)))
        return false;
    memset(table.at, 0, slots * sizeof(coll_i_channel_key));
    coll_i_release(&c->table);
    c->table = table;
    c->slots = slots;
    if (c->epoch == 0)
        c->epoch = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        const coll_i_channel *channel = coll_i_channel_at(c, i);
        const uint64_t pair = (uint64_t)channel->from << 32 | channel->to;
        coll_i_channel_key *slot = coll_i_channel_slot(c, pair);
        slot->pair = pair;
        slot->epoch = c->epoch;
        slot->index = i;
    }
    return true;
}

/* The index of a channel, made where it does not exist; COLL_I_NONE: no memory. */
COLL_INLINE uint32_t coll_i_channel_of(coll_i_channels *c, uint32_t from, uint32_t to)
{
    const uint64_t pair = (uint64_t)from << 32 | to;
    coll_i_channel_key *slot;
    coll_i_channel *channel;
    if (2 * c->n >= c->slots && !coll_i_channels_grow(c))
        return COLL_I_NONE;
    slot = coll_i_channel_slot(c, pair);
    if (slot->epoch == c->epoch)
        return slot->index;
    if (!coll_i_reserve(&c->list, (c->n + (size_t)1) * sizeof(coll_i_channel)))
        return COLL_I_NONE;
    slot->pair = pair;
    slot->epoch = c->epoch;
    slot->index = c->n;
    channel = coll_i_channel_at(c, c->n);
    channel->from = from;
    channel->to = to;
    channel->head = channel->tail = COLL_I_NONE;
    channel->sent = channel->received = 0;
    return c->n++;
}

COLL_INLINE void coll_i_channels_release(coll_i_channels *c)
{
    coll_i_release(&c->list);
    coll_i_release(&c->table);
    c->n = c->slots = c->epoch = 0;
}

#endif /* COLL_LAB_VERIFY_MEMORY_H */
