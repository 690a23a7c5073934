/* coll/transports/node/messages.h — ranks that share memory: messages from one to another
 *
 *   bytes            where the message lies                    copies   what travels
 *   ≤ 48             in its cell                               2        one line
 *   ≤ medium         in a slot of the channel                  2        its lines and the cell
 *   more             in the sender's buffer, until it is read  1        … and two lines of news
 *
 * The sender of a long message is told when it was read; all others are sent when they are
 * written. No locks, and no atomic read-modify-write but for a long message, which its sender
 * may want to cancel while its receiver begins to read it.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_MESSAGES_H
#define COLL_TRANSPORTS_NODE_MESSAGES_H

#include "world.h"

COLL_INLINE void coll_i_node_copy(void *to, const void *from, size_t bytes)
{
    if (bytes != 0)
        memcpy(to, from, bytes);
}

/* Is a message of so many bytes in a slot? In its sender's memory? */
COLL_INLINE bool coll_i_node_is_medium(const coll_i_node_rank *me, uint64_t bytes)
{
    return bytes > COLL_NODE_INLINE && bytes <= me->medium;
}

COLL_INLINE bool coll_i_node_is_long(const coll_i_node_rank *me, uint64_t bytes)
{
    return bytes > COLL_NODE_INLINE && bytes > me->medium;
}

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

/* Is there a cell for the next message, and a slot if it needs one? */
COLL_INLINE bool coll_i_node_has_room(const coll_i_node_rank *me, coll_i_node_link *link,
                                      size_t bytes)
{
    if (link->tail >= COLL_NODE_CELLS &&
        !coll_i_node_is_taken(link, link->tail - COLL_NODE_CELLS))
        return false;
    return !coll_i_node_is_medium(me, bytes) || link->mediums < COLL_NODE_SLOTS ||
           coll_i_node_is_taken(link, link->slot_of[link->mediums % COLL_NODE_SLOTS]);
}

COLL_INLINE coll_status coll_i_node_send(void *ctx, uint32_t peer, uint32_t tag,
                                         const void *buf, size_t bytes, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const bool is_long = coll_i_node_is_long(me, bytes);
    coll_i_node_link *link;
    coll_i_node_cell *cell;
    if (peer >= me->p)
        return COLL_ERR_RANK;
    if (coll_i_node_aborted(me, tag))
        return COLL_ERR_PEER;
    link = coll_i_node_link_to(me, peer);
    if (!link)
        return COLL_ERR_MEMORY;
    if (!coll_i_node_has_room(me, link, bytes))
        return coll_i_node_miss(me, link);
    cell = &link->out->cells[link->tail % COLL_NODE_CELLS];
    if (is_long) {
        coll_i_node_op *op = coll_i_node_take_send(me);
        if (!op)
            return COLL_ERR_MEMORY;
        op->sent->state = COLL_I_NODE_POSTED;
        op->sent->address = (uintptr_t)buf;
        op->peer = peer;
        op->tag = tag;
        op->chain = NULL;
        h->word[0] = (uintptr_t)op;
        h->word[1] = 0;
        cell->payload.sent = (uint64_t)((uintptr_t)op->sent - me->base);
    } else if (coll_i_node_is_medium(me, bytes)) {
        const uint64_t slot = link->mediums % COLL_NODE_SLOTS;
        unsigned char *const to = coll_i_node_slots(me, link);
        if (!to)
            return COLL_ERR_MEMORY;
        link->mediums++;
        link->slot_of[slot] = link->tail;
        memcpy(to + slot * me->medium, buf, bytes);
        cell->payload.slot = (uint64_t)((uintptr_t)to - me->base) + slot * me->medium;
    } else {
        coll_i_node_copy(cell->payload.bytes, buf, bytes);
    }
    cell->tag = tag;
    cell->bytes = bytes;
    __atomic_store_n(&cell->turn, (uint32_t)++link->tail, __ATOMIC_RELEASE);
    return is_long ? COLL_STARTED : COLL_OK;
}

/* ---- receiving --------------------------------------------------------------------------- */

/* A message that the receiver has found: still in its cell, or aside. */
typedef struct coll_i_node_found {
    coll_i_node_cell *cell;
    coll_i_node_aside *aside; /* the cell's, or NULL */
    coll_i_node_sent *sent;   /* of a long one */
} coll_i_node_found;

COLL_INLINE coll_i_node_cell *coll_i_node_head(const coll_i_node_link *link)
{
    return &link->in->cells[link->head % COLL_NODE_CELLS];
}

/* The sender may have the cells of all messages taken, unless one of them is lent. */
COLL_INLINE void coll_i_node_tell(coll_i_node_link *link)
{
    if (link->lent == 0)
        __atomic_store_n(&link->in->taken, (uint32_t)link->head, __ATOMIC_RELEASE);
}

COLL_INLINE void coll_i_node_pop(coll_i_node_link *link)
{
    link->head++;
    coll_i_node_tell(link);
}

/* Takes the first message of the tag that *at points to from those aside. */
COLL_INLINE void coll_i_node_unlink(coll_i_node_aside **at)
{
    coll_i_node_aside *first = *at, *second = first->next;
    if (second) {
        second->last = first->last;
        second->other = first->other;
    }
    *at = second ? second : first->other;
}

/* Where the link's list has, or would have, the messages of a tag that are aside. */
COLL_INLINE coll_i_node_aside **coll_i_node_find(coll_i_node_link *link, uint32_t tag)
{
    coll_i_node_aside **at = &link->aside;
    while (*at && (*at)->cell.tag != tag)
        at = &(*at)->other;
    return at;
}

COLL_INLINE void coll_i_node_give_aside(coll_i_node_rank *me, coll_i_node_aside *aside)
{
    coll_i_node_aside **list = aside->medium ? &me->free_mediums : &me->free_asides;
    aside->next = *list;
    *list = aside;
}

/* Room for a message aside; NULL: no memory. */
COLL_INLINE coll_i_node_aside *coll_i_node_take_aside(coll_i_node_rank *me, bool medium)
{
    coll_i_node_aside **list = medium ? &me->free_mediums : &me->free_asides, *aside = *list;
    if (aside) {
        *list = aside->next;
        return aside;
    }
    aside = (coll_i_node_aside *)coll_i_node_new(me, sizeof *aside);
    if (aside && medium)
        aside->medium = (unsigned char *)coll_i_node_new(me, me->medium);
    return !medium || (aside && aside->medium) ? aside : NULL;
}

/* The memory that a long message's cell names; NULL: nonsense. */
COLL_INLINE coll_i_node_sent *coll_i_node_sent_of(const coll_i_node_rank *me,
                                                  const coll_i_node_cell *cell)
{
    return (coll_i_node_sent *)coll_i_node_shared(me, cell->payload.sent,
                                                  sizeof(coll_i_node_sent));
}

/* A medium message in a cell; NULL: nonsense. */
COLL_INLINE const unsigned char *coll_i_node_slot_of(const coll_i_node_rank *me,
                                                     const coll_i_node_cell *cell)
{
    return (const unsigned char *)coll_i_node_shared(me, cell->payload.slot, me->medium);
}

/* Moves the message in the head cell aside; drops it if nobody will ever want it. */
COLL_INLINE coll_status coll_i_node_set_aside(coll_i_node_rank *me, coll_i_node_link *link)
{
    const coll_i_node_cell *cell = coll_i_node_head(link);
    const uint64_t bytes = cell->bytes;
    const bool is_long = coll_i_node_is_long(me, bytes);
    coll_i_node_aside *aside, **first;
    bool unwanted = !is_long && coll_i_node_aborted(me, cell->tag);
    if (is_long) {
        coll_i_node_sent *sent = coll_i_node_sent_of(me, cell);
        if (!sent)
            return COLL_ERR_IO;
        unwanted = __atomic_load_n(&sent->state, __ATOMIC_ACQUIRE) == COLL_I_NODE_CANCELLED;
        if (unwanted)
            __atomic_store_n(&sent->state, COLL_I_NODE_FORGOTTEN, __ATOMIC_RELEASE);
    }
    if (!unwanted) {
        const bool medium = coll_i_node_is_medium(me, bytes);
        const unsigned char *const slot = medium ? coll_i_node_slot_of(me, cell) : NULL;
        if (medium && !slot)
            return COLL_ERR_IO;
        aside = coll_i_node_take_aside(me, medium);
        if (!aside)
            return COLL_ERR_MEMORY;
        aside->cell = *cell;
        aside->cell.bytes = bytes;
        if (medium)
            memcpy(aside->medium, slot, bytes);
        aside->next = NULL;
        first = coll_i_node_find(link, aside->cell.tag);
        if (*first) {
            (*first)->last->next = aside;
            (*first)->last = aside;
        } else {
            aside->last = aside;
            aside->other = NULL;
            *first = aside;
        }
    }
    coll_i_node_pop(link);
    return COLL_OK;
}

/* Done with a message that was found: it goes away. */
COLL_INLINE void coll_i_node_consume(coll_i_node_rank *me, coll_i_node_link *link,
                                     const coll_i_node_found *found)
{
    if (!found->aside) {
        coll_i_node_pop(link);
        return;
    }
    coll_i_node_unlink(coll_i_node_find(link, found->cell->tag));
    coll_i_node_give_aside(me, found->aside);
}

/* Where a message that is not long can be read; NULL: nonsense. */
COLL_INLINE const unsigned char *coll_i_node_place(const coll_i_node_rank *me,
                                                   const coll_i_node_found *found, size_t bytes)
{
    if (!coll_i_node_is_medium(me, bytes))
        return found->cell->payload.bytes;
    return found->aside ? found->aside->medium : coll_i_node_slot_of(me, found->cell);
}

/* Claims the message found for its reader, if it is long. COLL_AGAIN: it was cancelled, and is
 * gone; look for the next, or why. */
COLL_INLINE coll_status coll_i_node_claim(coll_i_node_rank *me, coll_i_node_link *link,
                                          coll_i_node_found *found, size_t bytes)
{
    const uint64_t its = found->cell->bytes;
    uint32_t state = COLL_I_NODE_POSTED;
    if (coll_i_node_is_long(me, its)) {
        found->sent = coll_i_node_sent_of(me, found->cell);
        if (!found->sent)
            return COLL_ERR_IO;
        if (its != bytes)
            state = __atomic_load_n(&found->sent->state, __ATOMIC_ACQUIRE);
        else if (__atomic_compare_exchange_n(&found->sent->state, &state, COLL_I_NODE_READING,
                                             false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return COLL_OK;
        if (state == COLL_I_NODE_CANCELLED) {
            __atomic_store_n(&found->sent->state, COLL_I_NODE_FORGOTTEN, __ATOMIC_RELEASE);
            coll_i_node_consume(me, link, found);
            return COLL_AGAIN;
        }
    }
    return its == bytes ? COLL_OK : COLL_ERR_SIZE;
}

/* Finds the oldest message of a tag. COLL_OK: there it is; if it is long, its sender waits for
 * this reader, who must set its state to DONE. A sender aborts a tag before it cancels, so
 * nobody takes the message after a cancelled one for it. */
COLL_INLINE coll_status coll_i_node_match(coll_i_node_rank *me, coll_i_node_link *link,
                                          uint32_t tag, size_t bytes, coll_i_node_found *found)
{
    while (!coll_i_node_aborted(me, tag)) {
        coll_status status;
        found->sent = NULL;
        found->aside = link->aside ? *coll_i_node_find(link, tag) : NULL;
        found->cell = found->aside ? &found->aside->cell : coll_i_node_head(link);
        if (!found->aside) {
            if (__atomic_load_n(&found->cell->turn, __ATOMIC_ACQUIRE) !=
                (uint32_t)link->head + 1) {
                return coll_i_node_miss(me, link);
            }
            if (found->cell->tag != tag) {
                status = coll_i_node_set_aside(me, link);
                if (status < 0)
                    return status;
                continue;
            }
        }
        link->missed = false;
        status = coll_i_node_claim(me, link, found, bytes);
        if (status != COLL_AGAIN)
            return status;
    }
    return COLL_ERR_PEER;
}

COLL_INLINE coll_status coll_i_node_take(coll_i_node_rank *me, uint32_t peer, uint32_t tag,
                                         void *into, size_t bytes)
{
    coll_i_node_link *link = me->links[peer];
    const unsigned char *place;
    coll_i_node_found found;
    coll_status status = coll_i_node_match(me, link, tag, bytes, &found);
    if (status != COLL_OK)
        return status;
    if (coll_i_node_is_long(me, bytes)) {
        const uint64_t from = found.sent->address;
        coll_i_node_consume(me, link, &found);
        if (me->pull)
            status = me->pull(me, peer, into, from, bytes);
        else
            memcpy(into, (const void *)(uintptr_t)from, bytes);
        __atomic_store_n(&found.sent->state, COLL_I_NODE_DONE, __ATOMIC_RELEASE);
        return status;
    }
    place = coll_i_node_place(me, &found, bytes);
    if (!place)
        return COLL_ERR_IO;
    coll_i_node_copy(into, place, bytes);
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

/* ---- borrowing --------------------------------------------------------------------------- */

/* What a borrowed message is given back to: word[1] of its handle. */
enum { COLL_I_NODE_TO_SENDER, COLL_I_NODE_TO_CHANNEL, COLL_I_NODE_TO_ASIDE };

/* Between processes, long messages cannot be lent. */
COLL_INLINE coll_status coll_i_node_borrow(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                                           const void **message, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_link *link;
    coll_i_node_found found;
    coll_status status;
    if (peer >= me->p)
        return COLL_ERR_RANK;
    if (me->pull && coll_i_node_is_long(me, bytes))
        return COLL_ERR_CAPABILITY;
    link = coll_i_node_link_from(me, peer);
    if (!link)
        return COLL_ERR_MEMORY;
    status = coll_i_node_match(me, link, tag, bytes, &found);
    if (status != COLL_OK)
        return status;
    if (coll_i_node_is_long(me, bytes)) {
        *message = (const void *)(uintptr_t)found.sent->address;
        coll_i_node_consume(me, link, &found);
        h->word[0] = (uintptr_t)found.sent;
        h->word[1] = COLL_I_NODE_TO_SENDER;
        return COLL_OK;
    }
    *message = coll_i_node_place(me, &found, bytes);
    if (!*message)
        return COLL_ERR_IO;
    if (found.aside) {
        coll_i_node_unlink(coll_i_node_find(link, tag));
        h->word[0] = (uintptr_t)found.aside;
        h->word[1] = COLL_I_NODE_TO_ASIDE;
    } else {
        link->head++;
        link->lent++;
        h->word[0] = (uintptr_t)link;
        h->word[1] = COLL_I_NODE_TO_CHANNEL;
    }
    return COLL_OK;
}

COLL_INLINE void coll_i_node_give_back(void *ctx, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    if (h->word[1] == COLL_I_NODE_TO_SENDER) {
        __atomic_store_n(&((coll_i_node_sent *)h->word[0])->state, COLL_I_NODE_DONE,
                         __ATOMIC_RELEASE);
    } else if (h->word[1] == COLL_I_NODE_TO_CHANNEL) {
        coll_i_node_link *link = (coll_i_node_link *)h->word[0];
        link->lent--;
        coll_i_node_tell(link);
    } else {
        coll_i_node_give_aside(me, (coll_i_node_aside *)h->word[0]);
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
            return status;
        me->links[op->peer]->waiting--;
        coll_i_node_release(me, op);
        return COLL_OK;
    }
    while (op) {
        coll_i_node_op *next = op->chain;
        if (__atomic_load_n(&op->sent->state, __ATOMIC_ACQUIRE) != COLL_I_NODE_DONE) {
            h->word[0] = (uintptr_t)op;
            return coll_i_node_aborted(me, op->tag) ? COLL_ERR_PEER
                                                    : coll_i_node_miss(me, me->links[op->peer]);
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
        if (me->gone && me->gone(me, op->peer))
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

/* A send to each other rank, all out of one buffer; none unless there is room for all, so that
 * nothing passes it. */
COLL_INLINE coll_status coll_i_node_multicast(void *ctx, uint32_t tag, const void *buf,
                                              size_t bytes, coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    coll_i_node_op *chain = NULL;
    for (uint32_t peer = 0; peer < me->p; peer++) {
        coll_i_node_link *link = peer == me->rank ? NULL : coll_i_node_link_to(me, peer);
        if (!link && peer != me->rank)
            return COLL_ERR_MEMORY;
        if (link && !coll_i_node_has_room(me, link, bytes))
            return coll_i_node_miss(me, link);
    }
    for (uint32_t peer = 0; peer < me->p; peer++) {
        coll_status status;
        if (peer == me->rank)
            continue;
        status = coll_i_node_send(ctx, peer, tag, buf, bytes, h);
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
        link->tail = link->taken = link->mediums = link->head = 0;
        link->waiting = link->lent = 0;
        link->missed = false;
        while (link->aside) {
            coll_i_node_aside *first = link->aside;
            coll_i_node_unlink(&link->aside);
            coll_i_node_give_aside(me, first);
        }
    }
    for (coll_i_node_op *op = me->cancelled; op; op = op->next)
        op->sent->state = COLL_I_NODE_FORGOTTEN;
}

#endif /* COLL_TRANSPORTS_NODE_MESSAGES_H */
