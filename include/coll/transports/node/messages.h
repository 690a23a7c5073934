/* coll/transports/node/messages.h — ranks that share memory: messages from one to another
 *
 *   bytes            where the message lies                    copies   what travels
 *   ≤ 16             in a cell, for two if they stream         2        one line, or a half
 *   ≤ 48             in its cell                               2        one line
 *   ≤ 112            in its cell                               2        two lines
 *   ≤ medium         in a slot of the channel                  2        its lines and the cell
 *   more             in the sender's buffer, until it is read  1        … and two lines of news
 *   to all others    multicast_buffer.h
 *
 * Where ranks share processors, messages of medium length and some more go through slots, too, if
 * they stream, one way only: their sender need not wait for their reader, and runs ahead.
 *
 * The sender of a long message, which lies in shared memory, or in memory that the receiver has a
 * way to read, is told when it was read; all others are sent when they are written. No locks, and
 * no atomic read-modify-write but for a long message, which its sender may want to cancel while
 * its receiver begins to read it.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_MESSAGES_H
#define COLL_TRANSPORTS_NODE_MESSAGES_H

#include "inbox.h"

/* ---- sending ----------------------------------------------------------------------------- */

/* Has the reader taken message n? Asks it only if that is not known. */
COLL_INLINE bool coll_i_node_is_taken(coll_i_node_link *link, uint64_t n)
{
    if (link->taken <= n) {
        const uint32_t taken = __atomic_load_n(&link->out->taken, __ATOMIC_ACQUIRE);
        const uint32_t left = (uint32_t)link->tail - taken;
        if (left <= link->tail - link->taken) /* else nonsense: as if nothing was taken */
            link->taken = link->tail - left;
    }
    return link->taken > n;
}

/* The cell of the next message; is it free? */
COLL_INLINE coll_i_node_cell *coll_i_node_next_cell(const coll_i_node_link *link)
{
    return &link->out->cells[link->tail % COLL_NODE_CELLS];
}

COLL_INLINE coll_i_node_cell *coll_i_node_last_cell(const coll_i_node_link *link)
{
    return &link->out->cells[(link->tail - 1) % COLL_NODE_CELLS];
}

COLL_INLINE bool coll_i_node_has_cell(coll_i_node_link *link)
{
    return link->tail < COLL_NODE_CELLS ||
           coll_i_node_is_taken(link, link->tail - COLL_NODE_CELLS);
}

COLL_INLINE bool coll_i_node_is_free(coll_i_node_link *link, const coll_i_node_lane *lane,
                                     uint32_t slot)
{
    return lane->last[slot] == 0 || coll_i_node_is_taken(link, lane->last[slot] - 1);
}

/* … and a slot, if the message needs one? Where ranks share processors the first that is free, as it
 * was used not long ago; else the one after the last, as to ask for news of its reader is dear. */
COLL_INLINE bool coll_i_node_has_room(const coll_i_node_rank *me, coll_i_node_link *link,
                                      size_t bytes, bool in_slot)
{
    coll_i_node_lane *lane = &link->lanes[coll_i_node_lane_of(bytes)];
    const uint32_t after = (lane->next + 1) % COLL_NODE_SLOTS;
    if (!coll_i_node_has_cell(link))
        return false;
    if (!in_slot)
        return true;
    for (uint32_t slot = me->oversubscribed ? 0 : after; slot < COLL_NODE_SLOTS; slot++) {
        if (coll_i_node_is_free(link, lane, slot)) {
            lane->next = slot;
            return true;
        }
        if (!me->oversubscribed)
            break;
    }
    return false;
}

/* Who sends again and again, and hears nothing meanwhile, waits for no answer: that the reader has
 * the lines of the cells, from the last time round, is then what takes longest. So they are fetched
 * early, to be written, if it has surely read them. */
COLL_INLINE void coll_i_node_fetch_ahead(coll_i_node_link *link)
{
    enum { AHEAD = 2 };
    if (link->tail + AHEAD < link->taken + COLL_NODE_CELLS) {
#if defined(__x86_64__)
        const coll_i_node_cell *cell =
            &link->out->cells[(link->tail + AHEAD) % COLL_NODE_CELLS];
        /* the compilers' builtin only says so where it may use what came after x86-64 */
        __asm__ volatile("prefetchw %0" : : "m"(cell->first.turn));
#endif
    }
}

/* The message in the next cell goes off. `streams`: if it is short, so may be the next. */
COLL_INLINE void coll_i_node_post(coll_i_node_link *link, uint32_t tag, size_t bytes,
                                  bool streams)
{
    coll_i_node_cell *cell = coll_i_node_next_cell(link);
    if (link->open)
        __atomic_store_n(&coll_i_node_last_cell(link)->second.turn, COLL_I_NODE_PAST,
                         __ATOMIC_RELEASE);
    link->open = streams && bytes <= COLL_NODE_PAIRED;
    if (bytes <= COLL_NODE_PAIRED)
        cell->second.turn = link->open ? COLL_I_NODE_OPEN : COLL_I_NODE_NONE;
    cell->first.tag = tag;
    cell->first.bytes = bytes;
    __atomic_store_n(&cell->first.turn, (uint32_t)++link->tail, __ATOMIC_RELEASE);
}

/* A message goes off that is the second one of its cell. */
COLL_INLINE void coll_i_node_post_second(coll_i_node_link *link, uint32_t tag, const void *buf,
                                         size_t bytes)
{
    coll_i_node_entry *second = &coll_i_node_last_cell(link)->second;
    link->open = false;
    second->tag = tag;
    second->bytes = bytes;
    if (bytes != 0)
        memcpy(second->payload.bytes, buf, bytes);
    __atomic_store_n(&second->turn, COLL_I_NODE_HERE, __ATOMIC_RELEASE);
}

/* What an operation says that would say `status`: one with a lost peer, whose tag outlives that, is over. */
COLL_INLINE coll_status coll_i_node_missing(const coll_i_node_rank *me, uint32_t peer,
                                            coll_status status)
{
    return status == COLL_AGAIN && me->outlives != 0 && me->links[peer]->lost ? COLL_ERR_IO
                                                                              : status;
}

/* Does a message go through a slot, though it could be read where it lies? */
COLL_INLINE bool coll_i_node_streams(const coll_i_node_rank *me, coll_i_node_link *link,
                                     size_t bytes)
{
    return me->oversubscribed && bytes <= COLL_NODE_STREAM &&
           coll_i_node_is_one_way(&link->out_stream, link->head);
}

/* `streams`: it may go through a slot, for which there may be no room. */
COLL_INLINE coll_status coll_i_node_send_one(coll_i_node_rank *me, uint32_t peer, uint32_t tag,
                                             const void *buf, size_t bytes, bool streams,
                                             coll_handle *h)
{
    bool is_long = coll_i_node_is_read_there(me, buf, bytes), one_way;
    coll_i_node_link *link;
    coll_i_node_entry *entry;
    if (peer >= me->p)
        return COLL_ERR_RANK;
    if (coll_i_node_aborted(me, tag))
        return COLL_ERR_PEER;
    link = coll_i_node_link_to(me, peer);
    if (!link)
        return COLL_ERR_MEMORY;
    if (link->open && bytes <= COLL_NODE_PAIRED) {
        coll_i_node_post_second(link, tag, buf, bytes);
        return COLL_OK;
    }
    if (is_long && !me->pull && !coll_i_node_is_shared(me, buf, bytes))
        return COLL_ERR_PLACE;
    if (is_long && streams && coll_i_node_streams(me, link, bytes))
        is_long = false;
    if (!coll_i_node_has_room(me, link, bytes, bytes > COLL_NODE_INLINE && !is_long))
        return coll_i_node_missing(
            me, peer, coll_i_node_miss(me, link, &link->out->taken, (uint32_t)link->taken));
    entry = &coll_i_node_next_cell(link)->first;
    if (is_long) {
        const bool is_shared = coll_i_node_is_shared(me, buf, bytes);
        coll_i_node_op *op;
        if (me->offer && !is_shared)
            me->offer(me, buf, bytes);
        op = coll_i_node_take_send(me);
        if (!op)
            return COLL_ERR_MEMORY;
        __atomic_store_n(&op->sent->state, COLL_I_NODE_POSTED, __ATOMIC_RELAXED);
        op->sent->shared = is_shared;
        op->sent->address = (uintptr_t)buf - (is_shared ? me->base : 0);
        op->peer = peer;
        op->tag = tag;
        op->chain = NULL;
        h->word[0] = (uintptr_t)op;
        h->word[1] = 0;
        entry->payload.sent = (uint64_t)((uintptr_t)op->sent - me->base) | COLL_I_NODE_LIES;
    } else if (bytes > COLL_NODE_INLINE) {
        const uint32_t number = coll_i_node_lane_of(bytes);
        coll_i_node_lane *lane = &link->lanes[number];
        const uint32_t slot = lane->next;
        unsigned char *to = coll_i_node_slots(me, link, number);
        if (!to)
            return COLL_ERR_MEMORY;
        lane->last[slot] = link->tail + 1;
        to += (size_t)slot * coll_i_node_wide(me, number);
        to = coll_i_node_in_slot(to, number, buf);
        memcpy(to, buf, bytes);
        entry->payload.slot = (uint64_t)((uintptr_t)to - me->base);
    } else {
        coll_i_node_copy(me, coll_i_node_payload(entry), buf, bytes);
    }
    one_way = !me->oversubscribed && coll_i_node_is_one_way(&link->out_stream, link->head);
    coll_i_node_post(link, tag, bytes, one_way);
    if (one_way)
        coll_i_node_fetch_ahead(link);
    return is_long ? COLL_STARTED : COLL_OK;
}

COLL_INLINE coll_status coll_i_node_send(void *ctx, uint32_t peer, uint32_t tag,
                                         const void *buf, size_t bytes, coll_handle *h)
{
    return coll_i_node_send_one((coll_i_node_rank *)ctx, peer, tag, buf, bytes, true, h);
}

/* ---- receiving ---------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_node_take(coll_i_node_rank *me, uint32_t peer, uint32_t tag,
                                         void *into, size_t bytes)
{
    coll_i_node_link *link = me->links[peer];
    unsigned char *place;
    coll_i_node_found found;
    coll_status status = coll_i_node_match(me, link, tag, bytes, false, &found);
    if (status != COLL_OK)
        return status;
    if (found.sent) {
        coll_i_node_consume(me, link, &found);
        if (found.message)
            coll_i_node_copy(me, into, found.message, bytes);
        else if (me->pull && !found.sent->shared)
            status = me->pull(me, peer, into, found.sent->address, bytes);
        else
            status = COLL_ERR_IO;
        __atomic_store_n(&found.sent->state, COLL_I_NODE_DONE, __ATOMIC_RELEASE);
        return status;
    }
    place = coll_i_node_place(me, &found, bytes);
    if (!place)
        return COLL_ERR_IO;
    if (!found.unexpected && coll_i_node_is_medium(found.entry))
        coll_i_node_take_out(me, into, place, bytes, !coll_i_node_is_to_all(found.entry));
    else
        coll_i_node_copy(me, into, place, bytes);
    coll_i_node_consume(me, link, &found);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_node_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                         size_t bytes, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_link *link;
    coll_i_node_op *op;
    if (peer >= me->p)
        return COLL_ERR_RANK;
    link = coll_i_node_link_from(me, peer);
    if (!link)
        return COLL_ERR_MEMORY;
    if (link->waiting == 0) { /* else the message may belong to a receive that came before */
        const coll_status status = coll_i_node_take(me, peer, tag, buf, bytes);
        if (status != COLL_AGAIN)
            return status;
    }
    op = coll_i_node_take_receive(me);
    if (!op)
        return COLL_ERR_MEMORY;
    op->peer = peer;
    op->tag = tag;
    op->into = buf;
    op->bytes = bytes;
    link->waiting++;
    h->word[0] = (uintptr_t)op;
    h->word[1] = 0;
    return COLL_STARTED;
}

/* ---- acquiring --------------------------------------------------------------------------- */

/* What an acquired message is released to: word[1] of its handle, beside the message's entry, which is
 * at a multiple of 4, or beside 4 · its sender. */
enum {
    COLL_I_NODE_TO_SENDER,
    COLL_I_NODE_TO_CHANNEL,
    COLL_I_NODE_TO_ASIDE,
    COLL_I_NODE_TO_READER /* the message lies in memory of its sender, and is read */
};

COLL_INLINE coll_status coll_i_node_acquire(void *ctx, uint32_t peer, uint32_t tag,
                                            size_t bytes, const void **message, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_link *link;
    coll_i_node_found found;
    coll_status status;
    if (peer >= me->p)
        return COLL_ERR_RANK;
    link = coll_i_node_link_from(me, peer);
    if (!link)
        return COLL_ERR_MEMORY;
    status = coll_i_node_match(me, link, tag, bytes, true, &found);
    if (status != COLL_OK)
        return coll_i_node_missing(me, peer, status);
    if (found.sent) {
        *message = found.message;
        coll_i_node_consume(me, link, &found);
        h->word[0] = (uintptr_t)found.sent;
        h->word[1] = found.message ? (uintptr_t)COLL_I_NODE_TO_SENDER
                                   : COLL_I_NODE_TO_READER + 4 * (uintptr_t)peer;
        return COLL_OK;
    }
    *message = coll_i_node_place(me, &found, bytes);
    if (!*message)
        return COLL_ERR_IO;
    if (found.unexpected) {
        coll_i_node_unlink(coll_i_node_find(link, tag));
        h->word[0] = (uintptr_t)found.unexpected;
        h->word[1] = COLL_I_NODE_TO_ASIDE;
    } else {
        coll_i_node_advance(link);
        link->zero_copy++;
        h->word[0] = (uintptr_t)link;
        h->word[1] = (uintptr_t)found.entry + COLL_I_NODE_TO_CHANNEL;
    }
    return COLL_OK;
}

/* Reads a part of an acquired message that lies in memory of its sender. */
COLL_INLINE coll_status coll_i_node_read(void *ctx, coll_handle *h, size_t at, size_t bytes,
                                         const void **part)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const coll_i_node_sent *sent = (const coll_i_node_sent *)h->word[0];
    if (!me->bounce)
        me->bounce = (unsigned char *)coll_i_node_new(me, me->part);
    if (!me->bounce)
        return COLL_ERR_MEMORY;
    *part = me->bounce;
    return me->pull(me, (uint32_t)(h->word[1] / 4), me->bounce, sent->address + at, bytes);
}

COLL_INLINE void coll_i_node_release_message(void *ctx, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    if (h->word[1] == COLL_I_NODE_TO_SENDER || h->word[1] % 4 == COLL_I_NODE_TO_READER) {
        __atomic_store_n(&((coll_i_node_sent *)h->word[0])->state, COLL_I_NODE_DONE,
                         __ATOMIC_RELEASE);
    } else if (h->word[1] == COLL_I_NODE_TO_ASIDE) {
        coll_i_node_give_unexpected(me, (coll_i_node_unexpected *)h->word[0]);
    } else {
        coll_i_node_link *link = (coll_i_node_link *)h->word[0];
        const coll_i_node_entry *entry =
            (const coll_i_node_entry *)(h->word[1] - COLL_I_NODE_TO_CHANNEL);
        const size_t bytes = entry->bytes;
        if (coll_i_node_is_medium(entry) && !coll_i_node_is_to_all(entry)) {
            unsigned char *slot = coll_i_node_slot_of(me, entry, bytes);
            if (slot)
                coll_i_node_dirty(slot, bytes);
        }
        link->zero_copy--;
        coll_i_node_tell(link, true);
    }
}

/* ---- operations in flight ---------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_node_test(void *ctx, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_op *op = (coll_i_node_op *)h->word[0];
    if (!op->sent) {
        const coll_status status = coll_i_node_take(me, op->peer, op->tag, op->into, op->bytes);
        if (status != COLL_OK)
            return coll_i_node_missing(me, op->peer, status);
        me->links[op->peer]->waiting--;
        coll_i_node_release(me, op);
        return COLL_OK;
    }
    while (op) {
        coll_i_node_op *next = op->chain;
        const uint32_t state = __atomic_load_n(&op->sent->state, __ATOMIC_ACQUIRE);
        if (state != COLL_I_NODE_DONE) {
            h->word[0] = (uintptr_t)op;
            if (coll_i_node_aborted(me, op->tag))
                return COLL_ERR_PEER;
            (void)coll_i_node_miss(me, me->links[op->peer], &op->sent->state, state);
            for (; next && coll_i_node_misses_all(me); next = next->chain)
                if (__atomic_load_n(&next->sent->state, __ATOMIC_ACQUIRE) != COLL_I_NODE_DONE)
                    me->links[next->peer]->missed = true;
            return coll_i_node_missing(me, op->peer, COLL_AGAIN);
        }
        coll_i_node_release(me, op);
        op = next;
    }
    return COLL_OK;
}

/* Waits only for a receiver that is reading the message at this moment, or died of it: such a
 * message's memory is used no more. */
COLL_INLINE void coll_i_node_cancel_send(coll_i_node_rank *me, coll_i_node_op *op)
{
    uint32_t state = COLL_I_NODE_POSTED;
    if (__atomic_compare_exchange_n(&op->sent->state, &state, COLL_I_NODE_CANCELLED, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        op->next = me->cancelled; /* the receiver may still look at it */
        me->cancelled = op;
        return;
    }
    while (state != COLL_I_NODE_DONE) {
        if (me->is_dead && me->is_dead(me, op->peer))
            return;
        (void)sched_yield();
        state = __atomic_load_n(&op->sent->state, __ATOMIC_ACQUIRE);
    }
    coll_i_node_release(me, op);
}

COLL_INLINE void coll_i_node_cancel(void *ctx, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_op *op = (coll_i_node_op *)h->word[0];
    if (!op->sent) {
        me->links[op->peer]->waiting--;
        coll_i_node_release(me, op);
        return;
    }
    while (op) {
        coll_i_node_op *next = op->chain;
        coll_i_node_cancel_send(me, op);
        op = next;
    }
}

/* ---- after a failure --------------------------------------------------------------------- */

/* Drops all that a rank has sent or has not taken. Every rank does so before any talks again. */
COLL_INLINE void coll_i_node_forget(coll_i_node_rank *me)
{
    for (uint32_t peer = 0; peer < me->p; peer++) {
        coll_i_node_link *link = me->links[peer];
        if (!link)
            continue;
        if (link->out)
            memset(link->out, 0, sizeof *link->out);
        memset(link->lanes[0].last, 0, sizeof link->lanes[0].last);
        memset(link->lanes[1].last, 0, sizeof link->lanes[1].last);
        link->tail = link->taken = link->head = link->told = 0;
        link->waiting = link->zero_copy = 0;
        link->missed = link->open = link->second = false;
        while (link->unexpected) {
            coll_i_node_unexpected *first = link->unexpected;
            coll_i_node_unlink(&link->unexpected);
            coll_i_node_give_unexpected(me, first);
        }
    }
    me->multicasts[0].used = me->multicasts[1].used = 0;
    for (coll_i_node_op *op = me->cancelled; op; op = op->next)
        op->sent->state = COLL_I_NODE_FORGOTTEN;
}

#endif /* COLL_TRANSPORTS_NODE_MESSAGES_H */
