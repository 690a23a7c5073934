/* coll/transports/node/inbox.h — ranks that share memory: the messages that came in, and which of
 * them belongs to a receive
 *
 * A reader looks for the oldest message of a tag. Those of other tags that lie before it in the
 * channel it sets aside, so that collectives which run at the same time never block each other.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_INBOX_H
#define COLL_TRANSPORTS_NODE_INBOX_H

#include "aborts.h"
#include "copies.h"
#include "waiting.h"

/* A short message. */
COLL_INLINE unsigned char *coll_i_node_payload(coll_i_node_entry *entry)
{
    return (unsigned char *)entry + offsetof(coll_i_node_entry, payload);
}

/* Is a message in a slot? In its sender's memory? */
COLL_INLINE bool coll_i_node_is_medium(const coll_i_node_entry *entry)
{
    return entry->bytes > COLL_NODE_INLINE && !(entry->payload.sent & COLL_I_NODE_LIES);
}

COLL_INLINE bool coll_i_node_is_long(const coll_i_node_entry *entry)
{
    return entry->bytes > COLL_NODE_INLINE && (entry->payload.sent & COLL_I_NODE_LIES);
}

/* A message goes one way, after so many the other way: do they stream, as one answers none? */
COLL_INLINE bool coll_i_node_is_one_way(coll_i_node_one_way *stream, uint64_t other)
{
    enum { STREAM = 8 };
    if (stream->other != other) {
        stream->other = other;
        stream->length = 0;
    } else if (stream->length < STREAM) {
        stream->length++;
    }
    return stream->length == STREAM;
}

/* ---- receiving --------------------------------------------------------------------------- */

/* A message that the receiver has found: still in its cell, or aside. */
typedef struct coll_i_node_found {
    coll_i_node_entry *entry;
    coll_i_node_unexpected *unexpected; /* the entry's, or NULL */
    coll_i_node_sent *sent;             /* of a long one … */
    const void *message;                /* … that lies in shared memory; else NULL */
} coll_i_node_found;

COLL_INLINE coll_i_node_entry *coll_i_node_head(const coll_i_node_link *link)
{
    coll_i_node_cell *cell = &link->in->cells[link->head % COLL_NODE_CELLS];
    return link->second ? &cell->second : &cell->first;
}

/* Goes on to the next message. */
COLL_INLINE void coll_i_node_advance(coll_i_node_link *link)
{
    const coll_i_node_cell *cell = &link->in->cells[link->head % COLL_NODE_CELLS];
    link->second = !link->second && cell->first.bytes <= COLL_NODE_PAIRED &&
                   __atomic_load_n(&cell->second.turn, __ATOMIC_RELAXED) != COLL_I_NODE_NONE;
    link->head += !link->second;
}

/* Is the next message there? `turn`: that of the head. */
COLL_INLINE bool coll_i_node_has_come(coll_i_node_link *link, uint32_t *turn)
{
    *turn = __atomic_load_n(&coll_i_node_head(link)->turn, __ATOMIC_ACQUIRE);
    if (link->second && *turn == COLL_I_NODE_PAST) {
        coll_i_node_advance(link);
        *turn = __atomic_load_n(&coll_i_node_head(link)->turn, __ATOMIC_ACQUIRE);
    }
    return *turn == (link->second ? (uint32_t)COLL_I_NODE_HERE : (uint32_t)link->head + 1);
}

/* The sender may have the cells and slots of all messages taken, unless one of them is acquired.
 * It is told at once of slots, which are few, and else now and then: a sender that waits for
 * cells looks at that line all the time, so to write it is dear. Those that it was not told of
 * are too few to keep it waiting for a reader that waits for it. */
COLL_INLINE void coll_i_node_tell(coll_i_node_link *link, bool at_once)
{
    if (link->zero_copy == 0 && (at_once || link->head - link->told >= COLL_NODE_LAG)) {
        link->told = link->head;
        __atomic_store_n(&link->in->taken, (uint32_t)link->head, __ATOMIC_RELEASE);
    }
}

COLL_INLINE void coll_i_node_pop(coll_i_node_link *link, bool medium)
{
    coll_i_node_advance(link);
    coll_i_node_tell(link, medium);
}

/* Takes the first message of the tag that *at points to from those aside. */
COLL_INLINE void coll_i_node_unlink(coll_i_node_unexpected **at)
{
    coll_i_node_unexpected *first = *at, *second = first->next;
    if (second) {
        second->last = first->last;
        second->other = first->other;
    }
    *at = second ? second : first->other;
}

/* Where the link's list has, or would have, the messages of a tag, of all its uses, that are aside. */
COLL_INLINE coll_i_node_unexpected **coll_i_node_find(coll_i_node_link *link, uint32_t tag)
{
    coll_i_node_unexpected **at = &link->unexpected;
    while (*at && coll_claim_tag((*at)->cell.first.tag ^ tag) != 0)
        at = &(*at)->other;
    return at;
}

COLL_INLINE void coll_i_node_give_unexpected(coll_i_node_rank *me,
                                             coll_i_node_unexpected *unexpected)
{
    coll_i_node_unexpected **list =
        unexpected->medium ? &me->free_mediums : &me->free_unexpected;
    unexpected->next = *list;
    *list = unexpected;
}

/* Room for a message aside; NULL: no memory. */
COLL_INLINE coll_i_node_unexpected *coll_i_node_take_unexpected(coll_i_node_rank *me,
                                                                bool medium)
{
    coll_i_node_unexpected **list = medium ? &me->free_mediums : &me->free_unexpected,
                           *unexpected = *list;
    if (unexpected) {
        *list = unexpected->next;
        return unexpected;
    }
    unexpected = (coll_i_node_unexpected *)coll_i_node_new(me, sizeof *unexpected);
    if (unexpected && medium)
        unexpected->medium = (unsigned char *)coll_i_node_new(me, me->longest);
    return !medium || (unexpected && unexpected->medium) ? unexpected : NULL;
}

/* The memory that a long message's entry names; NULL: nonsense. */
COLL_INLINE coll_i_node_sent *coll_i_node_sent_of(const coll_i_node_rank *me,
                                                  const coll_i_node_entry *entry)
{
    return (coll_i_node_sent *)coll_i_node_shared(me, entry->payload.sent & ~COLL_I_NODE_LIES,
                                                  sizeof(coll_i_node_sent));
}

/* Do other ranks read the slot, too? */
COLL_INLINE bool coll_i_node_is_to_all(const coll_i_node_entry *entry)
{
    return (entry->payload.slot & COLL_I_NODE_TO_ALL) != 0;
}

/* A medium message; NULL: nonsense. */
COLL_INLINE unsigned char *coll_i_node_slot_of(const coll_i_node_rank *me,
                                               const coll_i_node_entry *entry, size_t bytes)
{
    const uint64_t within = entry->payload.slot % COLL_NODE_LINE / 2 * 2;
    const uint64_t line = entry->payload.slot / COLL_NODE_LINE * COLL_NODE_LINE;
    unsigned char *slot = (unsigned char *)coll_i_node_shared(me, line, bytes + within);
    return slot ? slot + within : NULL;
}

/* Moves the message at the head aside; drops it if nobody will ever want it. */
COLL_INLINE coll_status coll_i_node_set_unexpected(coll_i_node_rank *me, coll_i_node_link *link)
{
    const coll_i_node_entry *entry = coll_i_node_head(link);
    const uint64_t bytes = entry->bytes;
    const bool is_long = coll_i_node_is_long(entry), medium = coll_i_node_is_medium(entry);
    coll_i_node_unexpected *unexpected, **first;
    bool unwanted = !is_long && coll_i_node_aborted(me, entry->tag);
    if (is_long) {
        coll_i_node_sent *sent = coll_i_node_sent_of(me, entry);
        if (!sent)
            return COLL_ERR_IO;
        unwanted = __atomic_load_n(&sent->state, __ATOMIC_ACQUIRE) == COLL_I_NODE_CANCELLED;
        if (unwanted)
            __atomic_store_n(&sent->state, COLL_I_NODE_FORGOTTEN, __ATOMIC_RELEASE);
    }
    if (!unwanted) {
        unsigned char *const slot = medium ? coll_i_node_slot_of(me, entry, bytes) : NULL;
        if (medium && (!slot || bytes > me->longest))
            return COLL_ERR_IO;
        unexpected = coll_i_node_take_unexpected(me, medium);
        if (!unexpected)
            return COLL_ERR_MEMORY;
        memcpy(&unexpected->cell, entry,
               bytes > COLL_NODE_PAIRED ? sizeof unexpected->cell : sizeof *entry);
        unexpected->cell.first.bytes = bytes;
        if (medium)
            coll_i_node_take_out(me, unexpected->medium, slot, bytes,
                                 !coll_i_node_is_to_all(entry));
        unexpected->next = NULL;
        first = coll_i_node_find(link, unexpected->cell.first.tag);
        if (*first) {
            (*first)->last->next = unexpected;
            (*first)->last = unexpected;
        } else {
            unexpected->last = unexpected;
            unexpected->other = NULL;
            *first = unexpected;
        }
    }
    coll_i_node_pop(link, medium);
    return COLL_OK;
}

/* Done with a message that was found: it goes away. */
COLL_INLINE void coll_i_node_consume(coll_i_node_rank *me, coll_i_node_link *link,
                                     const coll_i_node_found *found)
{
    if (!found->unexpected) {
        coll_i_node_pop(link, coll_i_node_is_medium(found->entry));
        return;
    }
    coll_i_node_unlink(coll_i_node_find(link, found->entry->tag));
    coll_i_node_give_unexpected(me, found->unexpected);
}

/* Where a message that is not long can be read; NULL: nonsense. */
COLL_INLINE unsigned char *coll_i_node_place(const coll_i_node_rank *me,
                                             const coll_i_node_found *found, size_t bytes)
{
    if (!coll_i_node_is_medium(found->entry))
        return coll_i_node_payload(found->entry);
    return found->unexpected ? found->unexpected->medium
                             : coll_i_node_slot_of(me, found->entry, bytes);
}

/* Where in shared memory a long message lies; NULL: it does not, or nonsense. */
COLL_INLINE const void *coll_i_node_lies_at(const coll_i_node_rank *me,
                                            const coll_i_node_sent *sent, size_t bytes)
{
    const void *message = (const void *)(me->base + (uintptr_t)sent->address);
    return sent->shared && coll_i_node_is_shared(me, message, bytes) ? message : NULL;
}

/* A message that was found is not what a receive expects. */
COLL_INLINE coll_status coll_i_node_misfits(coll_i_node_rank *me, const coll_i_node_link *link,
                                            const coll_i_node_found *found, uint32_t tag,
                                            size_t bytes)
{
    (void)coll_misfit_note(&me->misfit, link->peer, tag, bytes);
    me->misfit.its_tag = found->entry->tag;
    me->misfit.bytes = (size_t)found->entry->bytes;
    return COLL_ERR_SIZE;
}

/* Claims the message found for its reader, if it is long. COLL_AGAIN: it was cancelled, and is
 * gone; look for the next, or why. COLL_ERR_CAPABILITY: it cannot be acquired (`acquires`). */
COLL_INLINE coll_status coll_i_node_claim(coll_i_node_rank *me, coll_i_node_link *link,
                                          coll_i_node_found *found, size_t bytes, bool acquires)
{
    const uint64_t its = found->entry->bytes;
    uint32_t state = COLL_I_NODE_POSTED;
    if (coll_i_node_is_long(found->entry)) {
        found->sent = coll_i_node_sent_of(me, found->entry);
        if (!found->sent)
            return COLL_ERR_IO;
        found->message = coll_i_node_lies_at(me, found->sent, bytes);
        if (acquires && !found->message &&
            (me->part == 0 || found->sent->shared || its < me->read_from))
            return COLL_ERR_CAPABILITY;
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
    return its == bytes ? COLL_OK
                        : coll_i_node_misfits(me, link, found, found->entry->tag, bytes);
}

/* Who receives again and again, sends nothing, and finds messages at once is behind its sender: the
 * lines of later ones are surely written, and fetched while these are dealt with
 * (docs/internals/shared-memory.md). */
COLL_INLINE void coll_i_node_look_ahead(coll_i_node_link *link)
{
    enum { AHEAD = 3 };
    if (coll_i_node_is_one_way(&link->in_stream, link->tail) && !link->missed)
        COLL_PREFETCH(&link->in->cells[(link->head + AHEAD) % COLL_NODE_CELLS]);
}

/* Finds the oldest message of a tag. COLL_OK: there it is; if it is long, its sender waits for
 * this reader, who must set its state to DONE. A sender aborts a tag before it cancels, so
 * nobody takes the message after a cancelled one for it. */
COLL_INLINE coll_status coll_i_node_match(coll_i_node_rank *me, coll_i_node_link *link,
                                          uint32_t tag, size_t bytes, bool acquires,
                                          coll_i_node_found *found)
{
    while (!coll_i_node_aborted(me, tag)) {
        coll_status status;
        found->sent = NULL;
        found->message = NULL;
        found->unexpected = link->unexpected ? *coll_i_node_find(link, tag) : NULL;
        if (found->unexpected) {
            found->entry = &found->unexpected->cell.first;
            if (found->entry->tag != tag)
                return coll_i_node_misfits(me, link, found, tag, bytes);
        } else {
            uint32_t turn;
            const bool there = coll_i_node_has_come(link, &turn);
            found->entry = coll_i_node_head(link);
            if (!there)
                return coll_i_node_miss(me, link, &found->entry->turn, turn);
            if (found->entry->tag != tag) {
                if (coll_claim_tag(found->entry->tag ^ tag) == 0)
                    return coll_i_node_misfits(me, link, found, tag, bytes);
                status = coll_i_node_set_unexpected(me, link);
                if (status < 0)
                    return status;
                continue;
            }
        }
        coll_i_node_look_ahead(link);
        link->missed = false;
        link->heard = me->order.n_turns;
        status = coll_i_node_claim(me, link, found, bytes, acquires);
        if (status != COLL_AGAIN)
            return status;
    }
    return COLL_ERR_PEER;
}

/* ---- cleaning ------------------------------------------------------------------------------ */

/* Drops what is aside of the tags of a range, but for long messages that their senders have not given up:
 * these are in flight. */
COLL_INLINE void coll_i_node_drop_unexpected(coll_i_node_rank *me, coll_i_node_link *link,
                                             uint32_t range)
{
    coll_i_node_unexpected **at = &link->unexpected;
    while (*at) {
        coll_i_node_unexpected *first = *at;
        const coll_i_node_entry *entry = &first->cell.first;
        bool stays = coll_claim_range(entry->tag) != range;
        if (!stays && coll_i_node_is_long(entry)) {
            coll_i_node_sent *sent = coll_i_node_sent_of(me, entry);
            uint32_t state = COLL_I_NODE_CANCELLED;
            stays = sent &&
                    !__atomic_compare_exchange_n(&sent->state, &state, COLL_I_NODE_FORGOTTEN,
                                                 false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        }
        if (stays) {
            at = &first->other;
        } else {
            coll_i_node_unlink(at);
            coll_i_node_give_unexpected(me, first);
        }
    }
}

/* Makes the tags of a range clean, as far as this rank can: nobody uses them. */
COLL_INLINE void coll_i_node_clean(void *ctx, uint32_t range)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    uint32_t turn;
    __atomic_store_n(&me->world->left[range], 0,
                     __ATOMIC_RELAXED); /* some were never unclaimed */
    me->outlives &= ~((uint64_t)1 << range);
    coll_i_node_forgive(me->world, range);
    for (uint32_t peer = 0; peer < me->p; peer++) {
        coll_i_node_link *link = me->links[peer];
        while (link && link->in && coll_i_node_has_come(link, &turn) &&
               coll_i_node_set_unexpected(me, link) == COLL_OK)
            continue;
        if (link)
            coll_i_node_drop_unexpected(me, link, range);
    }
}

COLL_INLINE coll_status coll_i_node_claim_tags(void *ctx, uint32_t *first, uint32_t *tags)
{
    return coll_claims_take(&((coll_i_node_rank *)ctx)->claims, coll_i_node_clean, ctx, first,
                            tags);
}

/* With the last rank that used a range its aborts go. */
COLL_INLINE void coll_i_node_unclaim_tags(void *ctx, uint32_t first)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const uint32_t range = coll_claim_range(first);
    coll_claims_give(&me->claims, range);
    me->outlives &= ~((uint64_t)1 << range);
    if (__atomic_add_fetch(&me->world->left[range], 1, __ATOMIC_ACQ_REL) == me->p) {
        __atomic_store_n(&me->world->left[range], 0, __ATOMIC_RELAXED);
        coll_i_node_forgive(me->world, range);
    }
}

#endif /* COLL_TRANSPORTS_NODE_INBOX_H */
