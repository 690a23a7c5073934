/* coll/transports/threads/messages.h — the threads transport: messages from rank to rank
 *
 * Use threads.h.
 */
#ifndef COLL_TRANSPORTS_THREADS_MESSAGES_H
#define COLL_TRANSPORTS_THREADS_MESSAGES_H

#include "world.h"

/* ---- sending ----------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_threads_send(void *ctx, uint32_t peer, uint32_t tag,
                                            const void *buf, size_t bytes, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_ring *ring;
    coll_i_threads_cell *cell;
    if (peer >= me->world->p)
        return COLL_ERR_RANK;
    if (coll_i_threads_aborted(me->world, tag))
        return COLL_ERR_PEER;
    ring = coll_i_threads_ring_of(me, me->rank, peer);
    if (!ring)
        return COLL_ERR_MEMORY;
    cell = &ring->cells[ring->tail & (COLL_THREADS_CELLS - 1)];
    if (__atomic_load_n(&cell->full, __ATOMIC_ACQUIRE) != COLL_I_THREADS_EMPTY)
        return COLL_AGAIN;
    cell->tag = tag;
    cell->bytes = bytes;
    if (bytes <= COLL_THREADS_INLINE) {
        if (bytes != 0)
            memcpy(cell->payload.bytes, buf, bytes);
        __atomic_store_n(&cell->full, COLL_I_THREADS_SHORT, __ATOMIC_RELEASE);
    } else {
        coll_i_threads_op *op = coll_i_threads_take_op(me);
        if (!op)
            return COLL_ERR_MEMORY;
        op->state = COLL_I_THREADS_POSTED;
        op->receives = false;
        op->tag = tag;
        op->buf = buf;
        op->chain = NULL;
        h->word[0] = (uintptr_t)op;
        h->word[1] = 0;
        cell->payload.op = op;
        __atomic_store_n(&cell->full, COLL_I_THREADS_LONG, __ATOMIC_RELEASE);
    }
    ring->tail++;
    return bytes <= COLL_THREADS_INLINE ? COLL_OK : COLL_STARTED;
}

/* ---- receiving --------------------------------------------------------------------------- */

/* A message that the receiver has found: still in its cell, or aside. */
typedef struct coll_i_threads_found {
    coll_i_threads_cell *cell;
    coll_i_threads_aside *aside; /* the cell's, or NULL */
} coll_i_threads_found;

/* Frees the head cell of the ring. */
COLL_INLINE void coll_i_threads_pop(coll_i_threads_ring *ring)
{
    coll_i_threads_cell *cell = &ring->cells[ring->head++ & (COLL_THREADS_CELLS - 1)];
    __atomic_store_n(&cell->full, COLL_I_THREADS_EMPTY, __ATOMIC_RELEASE);
}

/* Takes the first message of the tag that *link points to from those aside. */
COLL_INLINE void coll_i_threads_unlink(coll_i_threads_aside **link)
{
    coll_i_threads_aside *first = *link, *second = first->next;
    if (second) {
        second->last = first->last;
        second->other = first->other;
    }
    *link = second ? second : first->other;
}

/* Where the ring's list has, or would have, the messages of a tag that are aside. */
COLL_INLINE coll_i_threads_aside **coll_i_threads_find(coll_i_threads_ring *ring, uint32_t tag)
{
    coll_i_threads_aside **link = &ring->aside;
    while (*link && (*link)->cell.tag != tag)
        link = &(*link)->other;
    return link;
}

COLL_INLINE bool coll_i_threads_is_cancelled(const coll_i_threads_cell *cell)
{
    return cell->full == COLL_I_THREADS_LONG &&
           __atomic_load_n(&cell->payload.op->state, __ATOMIC_ACQUIRE) ==
               COLL_I_THREADS_CANCELLED;
}

/* Moves the message in the head cell aside; drops it if nobody will ever want it. */
COLL_INLINE coll_status coll_i_threads_set_aside(coll_i_threads_rank *me,
                                                 coll_i_threads_ring *ring)
{
    const coll_i_threads_cell *cell = &ring->cells[ring->head & (COLL_THREADS_CELLS - 1)];
    coll_i_threads_aside *aside = me->free_asides, **first;
    const bool cancelled =
        cell->full == COLL_I_THREADS_LONG &&
        __atomic_load_n(&cell->payload.op->state, __ATOMIC_ACQUIRE) == COLL_I_THREADS_CANCELLED;
    if (cancelled)
        __atomic_store_n(&cell->payload.op->state, COLL_I_THREADS_FORGOTTEN, __ATOMIC_RELEASE);
    if (!cancelled &&
        (cell->full == COLL_I_THREADS_LONG || !coll_i_threads_aborted(me->world, cell->tag))) {
        if (aside)
            me->free_asides = aside->next;
        else
            aside = (coll_i_threads_aside *)coll_i_threads_new(me, sizeof *aside);
        if (!aside)
            return COLL_ERR_MEMORY;
        aside->cell = *cell;
        aside->next = NULL;
        first = coll_i_threads_find(ring, cell->tag);
        if (*first) {
            (*first)->last->next = aside;
            (*first)->last = aside;
        } else {
            aside->last = aside;
            aside->other = NULL;
            *first = aside;
        }
    }
    coll_i_threads_pop(ring);
    return COLL_OK;
}

/* Done with a message that was found: it goes away. */
COLL_INLINE void coll_i_threads_consume(coll_i_threads_rank *me, coll_i_threads_ring *ring,
                                        const coll_i_threads_found *found)
{
    if (!found->aside) {
        coll_i_threads_pop(ring);
        return;
    }
    coll_i_threads_unlink(coll_i_threads_find(ring, found->cell->tag));
    found->aside->next = me->free_asides;
    me->free_asides = found->aside;
}

/* Finds the oldest message of a tag. COLL_OK: there it is; if it is long, its sender waits for
 * this reader, who must set its state to DONE. A sender aborts a tag before it cancels, so
 * nobody takes the message after a cancelled one for it. */
COLL_INLINE coll_status coll_i_threads_match(coll_i_threads_rank *me, coll_i_threads_ring *ring,
                                             uint32_t tag, size_t bytes,
                                             coll_i_threads_found *found)
{
    while (!coll_i_threads_aborted(me->world, tag)) {
        uint32_t state = COLL_I_THREADS_POSTED;
        found->aside = ring->aside ? *coll_i_threads_find(ring, tag) : NULL;
        found->cell = found->aside ? &found->aside->cell
                                   : &ring->cells[ring->head & (COLL_THREADS_CELLS - 1)];
        if (!found->aside) {
            const uint32_t full = __atomic_load_n(&found->cell->full, __ATOMIC_ACQUIRE);
            if (full == COLL_I_THREADS_EMPTY || full == COLL_I_THREADS_BORROWED)
                return COLL_AGAIN;
            if (found->cell->tag != tag) {
                const coll_status status = coll_i_threads_set_aside(me, ring);
                if (status < 0)
                    return status;
                continue;
            }
        }
        if (found->cell->bytes != bytes && !coll_i_threads_is_cancelled(found->cell))
            return COLL_ERR_SIZE;
        if (found->cell->full != COLL_I_THREADS_LONG ||
            __atomic_compare_exchange_n(&found->cell->payload.op->state, &state,
                                        COLL_I_THREADS_READING, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return COLL_OK;
        __atomic_store_n(&found->cell->payload.op->state, COLL_I_THREADS_FORGOTTEN,
                         __ATOMIC_RELEASE);
        coll_i_threads_consume(me, ring, found); /* cancelled: look for the next, or why */
    }
    return COLL_ERR_PEER;
}

COLL_INLINE coll_status coll_i_threads_take(coll_i_threads_rank *me, coll_i_threads_ring *ring,
                                            uint32_t tag, void *into, size_t bytes)
{
    coll_i_threads_found found;
    const coll_status status = coll_i_threads_match(me, ring, tag, bytes, &found);
    if (status != COLL_OK)
        return status;
    if (bytes > COLL_THREADS_INLINE) {
        coll_i_threads_op *op = found.cell->payload.op;
        coll_i_threads_consume(me, ring, &found);
        memcpy(into, op->buf, bytes);
        __atomic_store_n(&op->state, COLL_I_THREADS_DONE, __ATOMIC_RELEASE);
    } else {
        if (bytes != 0)
            memcpy(into, found.cell->payload.bytes, bytes);
        coll_i_threads_consume(me, ring, &found);
    }
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_threads_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                            size_t bytes, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_ring *ring;
    coll_i_threads_op *op;
    if (peer >= me->world->p)
        return COLL_ERR_RANK;
    ring = coll_i_threads_ring_of(me, peer, me->rank);
    if (!ring)
        return COLL_ERR_MEMORY;
    if (ring->waiting == 0) { /* else the message may belong to a receive that came before */
        const coll_status status = coll_i_threads_take(me, ring, tag, buf, bytes);
        if (status != COLL_AGAIN)
            return status;
    }
    op = coll_i_threads_take_op(me);
    if (!op)
        return COLL_ERR_MEMORY;
    op->receives = true;
    op->peer = peer;
    op->tag = tag;
    op->into = buf;
    op->bytes = bytes;
    ring->waiting++;
    h->word[0] = (uintptr_t)op;
    h->word[1] = 0;
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_threads_borrow(void *ctx, uint32_t peer, uint32_t tag,
                                              size_t bytes, const void **message,
                                              coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_ring *ring;
    coll_i_threads_found found;
    coll_status status;
    if (peer >= me->world->p)
        return COLL_ERR_RANK;
    ring = coll_i_threads_ring_of(me, peer, me->rank);
    if (!ring)
        return COLL_ERR_MEMORY;
    status = coll_i_threads_match(me, ring, tag, bytes, &found);
    if (status != COLL_OK)
        return status;
    h->word[0] = (uintptr_t)found.cell->payload.op;
    h->word[1] = 0;
    if (bytes > COLL_THREADS_INLINE) {
        *message = found.cell->payload.op->buf;
        coll_i_threads_consume(me, ring, &found);
        return COLL_OK;
    }
    *message = found.cell->payload.bytes;
    h->word[0] = (uintptr_t)found.cell;
    h->word[1] = found.aside ? 2 : 1;
    if (found.aside)
        coll_i_threads_unlink(coll_i_threads_find(ring, tag));
    else
        ring->head++;
    __atomic_store_n(&found.cell->full, COLL_I_THREADS_BORROWED, __ATOMIC_RELAXED);
    return COLL_OK;
}

COLL_INLINE void coll_i_threads_give_back(void *ctx, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    if (h->word[1] == 0) {
        __atomic_store_n(&((coll_i_threads_op *)h->word[0])->state, COLL_I_THREADS_DONE,
                         __ATOMIC_RELEASE);
    } else if (h->word[1] == 1) {
        __atomic_store_n(&((coll_i_threads_cell *)h->word[0])->full, COLL_I_THREADS_EMPTY,
                         __ATOMIC_RELEASE);
    } else {
        coll_i_threads_aside *aside = (coll_i_threads_aside *)h->word[0];
        aside->next = me->free_asides;
        me->free_asides = aside;
    }
}

/* ---- both -------------------------------------------------------------------------------- */

/* Of the sends of a multicast, those that are done go first; the handle then names the rest. */
COLL_INLINE coll_status coll_i_threads_message_test(coll_i_threads_rank *me, coll_handle *h)
{
    coll_i_threads_op *op = (coll_i_threads_op *)h->word[0];
    if (op->receives) {
        coll_i_threads_ring *ring = coll_i_threads_ring_of(me, op->peer, me->rank);
        const coll_status status = coll_i_threads_take(me, ring, op->tag, op->into, op->bytes);
        if (status != COLL_OK)
            return status;
        ring->waiting--;
        coll_i_threads_release(me, op);
        return COLL_OK;
    }
    while (op) {
        coll_i_threads_op *next = op->chain;
        if (__atomic_load_n(&op->state, __ATOMIC_ACQUIRE) != COLL_I_THREADS_DONE) {
            h->word[0] = (uintptr_t)op;
            return coll_i_threads_aborted(me->world, op->tag) ? COLL_ERR_PEER : COLL_AGAIN;
        }
        coll_i_threads_release(me, op);
        op = next;
    }
    return COLL_OK;
}

/* Waits only for a receiver that is reading the message at this moment. */
COLL_INLINE void coll_i_threads_cancel_send(coll_i_threads_rank *me, coll_i_threads_op *op)
{
    uint32_t state = COLL_I_THREADS_POSTED;
    if (__atomic_compare_exchange_n(&op->state, &state, COLL_I_THREADS_CANCELLED, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        op->next = me->cancelled; /* the receiver may still look at it */
        me->cancelled = op;
        return;
    }
    while (state != COLL_I_THREADS_DONE) {
        (void)sched_yield();
        state = __atomic_load_n(&op->state, __ATOMIC_ACQUIRE);
    }
    coll_i_threads_release(me, op);
}

COLL_INLINE void coll_i_threads_message_cancel(coll_i_threads_rank *me, const coll_handle *h)
{
    coll_i_threads_op *op = (coll_i_threads_op *)h->word[0];
    if (op->receives) {
        coll_i_threads_ring_of(me, op->peer, me->rank)->waiting--;
        coll_i_threads_release(me, op);
        return;
    }
    while (op) {
        coll_i_threads_op *next = op->chain;
        coll_i_threads_cancel_send(me, op);
        op = next;
    }
}

/* A send to each other rank, all out of one buffer; none unless there is room for all, so that
 * nothing passes it. */
COLL_INLINE coll_status coll_i_threads_multicast(void *ctx, uint32_t tag, const void *buf,
                                                 size_t bytes, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_op *chain = NULL;
    for (uint32_t peer = 0; peer < me->world->p; peer++) {
        const coll_i_threads_ring *ring =
            peer == me->rank ? NULL : coll_i_threads_ring_of(me, me->rank, peer);
        if (!ring && peer != me->rank)
            return COLL_ERR_MEMORY;
        if (ring && __atomic_load_n(&ring->cells[ring->tail & (COLL_THREADS_CELLS - 1)].full,
                                    __ATOMIC_ACQUIRE) != COLL_I_THREADS_EMPTY)
            return COLL_AGAIN;
    }
    for (uint32_t peer = 0; peer < me->world->p; peer++) {
        coll_status status;
        if (peer == me->rank)
            continue;
        status = coll_i_threads_send(ctx, peer, tag, buf, bytes, h);
        if (status == COLL_STARTED) {
            ((coll_i_threads_op *)h->word[0])->chain = chain;
            chain = (coll_i_threads_op *)h->word[0];
        } else if (status < 0) {
            h->word[0] = (uintptr_t)chain;
            if (chain)
                coll_i_threads_message_cancel(me, h);
            return status;
        }
    }
    return chain ? COLL_STARTED : COLL_OK;
}

#endif /* COLL_TRANSPORTS_THREADS_MESSAGES_H */
