/* coll/transports/node/multicast_buffer.h — ranks that share memory: one message to all others
 *
 * A short one is written into a cell for each, a long one is read by each where it lies. One of
 * medium length is written once, into a slot of the sender's own that the cells to all others name;
 * the slot is free again when all have told that they took it.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_MULTICAST_BUFFER_H
#define COLL_TRANSPORTS_NODE_MULTICAST_BUFFER_H

#include "messages.h"

/* A multicast finds no room on the way to a peer; `waits`: nor to one before. False: that is all there is
 * to know. */
COLL_INLINE bool coll_i_node_misses_also(coll_i_node_rank *me, coll_i_node_link *link,
                                         bool *waits)
{
    if (!*waits)
        (void)coll_i_node_miss(me, link, &link->out->taken, (uint32_t)link->taken);
    link->missed = *waits = true;
    return coll_i_node_misses_all(me);
}

/* Is the next slot of the lane free? */
COLL_INLINE bool coll_i_node_cast_has_room(coll_i_node_rank *me,
                                           const coll_i_node_multicast_buffer *cast)
{
    const uint64_t *last = cast->last + cast->used % COLL_NODE_SLOTS * me->p;
    bool waits = false;
    if (cast->used < COLL_NODE_SLOTS)
        return true;
    for (uint32_t peer = 0; peer < me->p; peer++)
        if (peer != me->rank && !coll_i_node_is_taken(me->links[peer], last[peer]) &&
            !coll_i_node_misses_also(me, me->links[peer], &waits))
            return false;
    return !waits;
}

/* A message of medium length to all others, whose channels are open and have a cell each. */
COLL_INLINE coll_status coll_i_node_cast_medium(coll_i_node_rank *me, uint32_t tag,
                                                const void *buf, size_t bytes)
{
    const uint32_t number = coll_i_node_lane_of(bytes), wide = coll_i_node_wide(me, number);
    coll_i_node_multicast_buffer *cast = &me->multicasts[number];
    uint64_t *last;
    const uint64_t to_all = me->p > 2 ? COLL_I_NODE_TO_ALL : 0; /* one reader has it alone */
    unsigned char *to;
    if (!cast->last)
        cast->last =
            (uint64_t *)coll_i_node_new(me, COLL_NODE_SLOTS * me->p * sizeof(uint64_t));
    if (!cast->slots)
        cast->slots = (unsigned char *)coll_i_node_shared(
            me, me->carve(me, (size_t)wide * COLL_NODE_SLOTS), (size_t)wide * COLL_NODE_SLOTS);
    if (!cast->last || !cast->slots)
        return COLL_ERR_MEMORY;
    if (!coll_i_node_cast_has_room(me, cast))
        return coll_i_node_again(me);
    last = cast->last + cast->used % COLL_NODE_SLOTS * me->p;
    to = cast->slots + cast->used % COLL_NODE_SLOTS * wide;
    to = coll_i_node_in_slot(to, number, buf);
    cast->used++;
    memcpy(to, buf, bytes);
    for (uint32_t i = 1; i < me->p; i++) { /* the one on the right first: often the next root */
        const uint32_t peer = coll_mod_add(me->rank, i, me->p);
        coll_i_node_link *link = me->links[peer];
        last[peer] = link->tail;
        coll_i_node_next_cell(link)->first.payload.slot =
            (uint64_t)((uintptr_t)to - me->base) + to_all;
        coll_i_node_post(link, tag, bytes, false);
    }
    return COLL_OK;
}

/* A send to each other rank, all out of one buffer; none unless there is room for all, so that
 * nothing passes it. */
COLL_INLINE coll_status coll_i_node_multicast(void *ctx, uint32_t tag, const void *buf,
                                              size_t bytes, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_op *chain = NULL;
    bool waits = false;
    if (coll_i_node_aborted(me, tag))
        return COLL_ERR_PEER;
    for (uint32_t peer = 0; peer < me->p; peer++) {
        coll_i_node_link *link = peer == me->rank ? NULL : coll_i_node_link_to(me, peer);
        if (!link && peer != me->rank)
            return COLL_ERR_MEMORY;
        if (link && !coll_i_node_has_cell(link) && !coll_i_node_misses_also(me, link, &waits))
            return coll_i_node_again(me);
    }
    if (waits)
        return coll_i_node_again(me);
    if (bytes > COLL_NODE_INLINE && !coll_i_node_is_read_there(me, buf, bytes))
        return coll_i_node_cast_medium(me, tag, buf, bytes);
    for (uint32_t i = 1; i < me->p; i++) {
        const coll_status status = coll_i_node_send_one(me, coll_mod_add(me->rank, i, me->p),
                                                        tag, buf, bytes, false, h);
        if (status == COLL_STARTED) {
            ((coll_i_node_op *)h->word[0])->chain = chain;
            chain = (coll_i_node_op *)h->word[0];
        } else if (status < 0) {
            h->word[0] = (uintptr_t)chain;
            if (chain)
                coll_i_node_cancel(ctx, h);
            return status;
        }
    }
    return chain ? COLL_STARTED : COLL_OK;
}

#endif /* COLL_TRANSPORTS_NODE_MULTICAST_BUFFER_H */
