/* coll/transports/tcp/arrivals.h — ranks joined by TCP: what arrives, and the receive that it is for
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_ARRIVALS_H
#define COLL_TRANSPORTS_TCP_ARRIVALS_H

#include <unistd.h>

#include "frames.h"

/* ---- links ------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_tcp_is_lost(const coll_i_tcp_link *link)
{
    return link->stage == COLL_I_TCP_LEFT || link->stage == COLL_I_TCP_DEAD;
}

/* Ends what waits for a peer; not with COLL_ERR_PEER, as others may wait for this rank, and are told by the
 * library only of errors of its own. Receives whose message is kept have it already. */
COLL_INLINE void coll_i_tcp_end_all(coll_tcp *tcp, coll_i_tcp_link *link)
{
    coll_i_tcp_queue *const queues[3] = {&link->sending, &link->waiting, &link->receiving};
    for (unsigned i = 0; i < 3; i++) {
        coll_i_tcp_op *op = queues[i]->first, *next;
        for (; op; op = next) {
            next = op->next;
            if (op->given_up)
                coll_i_tcp_op_give(tcp, op);
            else
                coll_i_tcp_end(op, COLL_ERR_IO);
        }
        coll_i_tcp_queue_init(queues[i]);
    }
    if (link->writing)
        coll_i_tcp_end(link->writing, COLL_ERR_IO);
    link->writing = NULL;
    for (coll_i_tcp_unexpected *one = link->kept; one; one = one->next)
        one->given_up = one->given_up || one->waits || one->have < one->part;
}

/* The connection with a peer is no more. */
COLL_INLINE void coll_i_tcp_lose(coll_tcp *tcp, coll_i_tcp_link *link)
{
    if (link->fd >= 0)
        (void)close(link->fd);
    link->fd = -1;
    link->watched = 0;
    if (link->stage != COLL_I_TCP_LEFT)
        link->stage = COLL_I_TCP_DEAD;
    coll_i_tcp_end_all(tcp, link);
    link->in_op = NULL;
    link->in_kept = NULL;
    link->into = NULL;
    link->in_left = 0;
    link->head_left = 0;
    link->body_left = 0;
    link->control_from = link->control_to = 0;
}

/* Writes; a connection that is lost is lost. */
COLL_INLINE void coll_i_tcp_push(coll_tcp *tcp, coll_i_tcp_link *link)
{
    if (link->fd >= 0 && link->stage >= COLL_I_TCP_UP && !coll_i_tcp_flush(link))
        coll_i_tcp_lose(tcp, link);
}

/* Says something to a peer with which there is a connection. */
COLL_INLINE void coll_i_tcp_say(coll_tcp *tcp, coll_i_tcp_link *link,
                                const coll_i_tcp_frame *frame)
{
    if (link->stage == COLL_I_TCP_UP && !coll_i_tcp_control(link, frame))
        coll_i_tcp_lose(tcp, link);
}

/* Bytes of a peer's messages are received, or dropped. */
COLL_INLINE void coll_i_tcp_owe(coll_tcp *tcp, coll_i_tcp_link *link, size_t bytes)
{
    link->owed += bytes;
    if (link->owed >= link->allowed / 4) {
        const coll_i_tcp_frame frame = coll_i_tcp_frame_of(link, COLL_I_TCP_CREDIT);
        coll_i_tcp_say(tcp, link, &frame);
    }
}

/* ---- kept messages ----------------------------------------------------------------------- */

/* Takes a kept message out of its list and gives back what it counts for; it is freed. */
COLL_INLINE void coll_i_tcp_forget(coll_tcp *tcp, coll_i_tcp_link *link,
                                   coll_i_tcp_unexpected **at)
{
    coll_i_tcp_unexpected *one = *at;
    *at = one->next;
    if (link->kept_end == &one->next)
        link->kept_end = at;
    if (link->in_kept == one) { /* what is still to come of it is dropped */
        link->in_kept = NULL;
        link->into = NULL;
        link->in_credit = one->part + (size_t)COLL_I_TCP_KEPT;
    } else if (!one->waits || one->part != 0) {
        coll_i_tcp_owe(tcp, link, one->part + (size_t)COLL_I_TCP_KEPT);
    }
    tcp->kept -= one->part;
    free(one);
}

/* The first one of a channel; NULL: there is none. */
COLL_INLINE coll_i_tcp_unexpected **coll_i_tcp_find_kept(coll_i_tcp_link *link, uint32_t tag)
{
    coll_i_tcp_unexpected **at = &link->kept;
    while (*at && !coll_i_tcp_same_channel((*at)->tag, tag))
        at = &(*at)->next;
    return *at ? at : NULL;
}

/* Drops what was kept of some tags. */
COLL_INLINE void coll_i_tcp_drop(coll_tcp *tcp, uint32_t first, uint32_t tags)
{
    for (uint32_t i = 0; i < tcp->n_links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        for (coll_i_tcp_unexpected **at = &link->kept; *at;)
            if (coll_i_tags_are_among(coll_claim_tag((*at)->tag), 1, first, tags))
                coll_i_tcp_forget(tcp, link, at);
            else
                at = &(*at)->next;
    }
}

/* ---- matching ---------------------------------------------------------------------------- */

/* A message and its receive have met. Do they fit? If not, the receive ends with COLL_ERR_SIZE. */
COLL_INLINE bool coll_i_tcp_fits(coll_i_tcp_op *op, uint32_t tag, uint64_t bytes)
{
    if (op->tag == tag && op->bytes == bytes)
        return true;
    op->other = tag;
    op->done = (size_t)bytes;
    coll_i_tcp_end(op, COLL_ERR_SIZE);
    return false;
}

/* The status of an operation that is over; what did not fit is noted. */
COLL_INLINE coll_status coll_i_tcp_status(coll_tcp *tcp, const coll_i_tcp_op *op)
{
    if (op->status == COLL_ERR_SIZE) {
        (void)coll_misfit_note(&tcp->misfit, op->link->peer, op->tag, op->bytes);
        tcp->misfit.its_tag = op->other;
        tcp->misfit.bytes = op->done;
    }
    return op->status;
}

/* Tells the send of a message that its receive is there. */
COLL_INLINE void coll_i_tcp_call(coll_tcp *tcp, coll_i_tcp_link *link, const coll_i_tcp_op *op)
{
    coll_i_tcp_frame frame = coll_i_tcp_frame_of(link, COLL_I_TCP_READY);
    frame.send = op->other;
    frame.recv = op->id;
    coll_i_tcp_say(tcp, link, &frame);
}

/* More of a receive has come: is that all? */
COLL_INLINE void coll_i_tcp_arrived(coll_tcp *tcp, coll_i_tcp_link *link, coll_i_tcp_op *op)
{
    if (op->done < op->bytes)
        return;
    (void)coll_i_tcp_remove(&link->receiving, op);
    if (op->given_up)
        coll_i_tcp_op_give(tcp, op);
    else
        coll_i_tcp_end(op, COLL_OK);
}

/* A receive takes the kept message that is due, which fits: what has come of it is copied. */
COLL_INLINE void coll_i_tcp_take_kept(coll_tcp *tcp, coll_i_tcp_op *op,
                                      coll_i_tcp_unexpected **at)
{
    coll_i_tcp_link *link = op->link;
    coll_i_tcp_unexpected *one = *at;
    const bool waits = one->waits, comes = link->in_kept == one;
    const size_t have = one->have;
    op->other = one->id;
    op->done = have;
    op->state = COLL_I_TCP_ARRIVING;
    if (have != 0)
        memcpy(op->buf, coll_i_tcp_unexpected_data(one), have);
    coll_i_tcp_forget(tcp, link, at);
    if (comes) {
        link->in_op = op;
        link->into = op->buf + have; /* it has some bytes, then */
    }
    if (waits)
        coll_i_tcp_call(tcp, link, op);
    else if (!comes)
        coll_i_tcp_arrived(tcp, link, op);
}

/* The first receive of a channel that has no message; NULL: there is none. */
COLL_INLINE coll_i_tcp_op *coll_i_tcp_find_posted(const coll_i_tcp_link *link, uint32_t tag)
{
    coll_i_tcp_op *op = link->receiving.first;
    while (op && !(op->state == COLL_I_TCP_POSTED && coll_i_tcp_same_channel(op->tag, tag)))
        op = op->next;
    return op;
}

/* ---- frames ------------------------------------------------------------------------------ */

/* A message, or its beginning, comes. False: that cannot be, or there is no memory. */
COLL_INLINE bool coll_i_tcp_message_comes(coll_tcp *tcp, coll_i_tcp_link *link,
                                          const coll_i_tcp_frame *frame)
{
    const bool waits = frame->kind == COLL_I_TCP_BEGIN;
    coll_i_tcp_unexpected *one;
    coll_i_tcp_op *op;
    if (frame->part > frame->bytes || frame->bytes > SIZE_MAX ||
        (!waits && frame->part != frame->bytes) ||
        (waits && frame->bytes != 0 && frame->part == frame->bytes) ||
        frame->part > link->allowed / 2 || coll_i_tcp_cost(frame) > link->allowed - link->taken)
        return false;
    link->taken += coll_i_tcp_cost(frame);
    link->in_credit = coll_i_tcp_cost(frame);
    if (coll_i_tcp_is_aborted(tcp, frame->tag))
        return true; /* it is dropped */
    op = coll_i_tcp_find_posted(link, frame->tag);
    if (op) {
        if (!coll_i_tcp_fits(op, frame->tag, frame->bytes)) {
            (void)coll_i_tcp_remove(&link->receiving, op);
            return true;
        }
        op->state = COLL_I_TCP_ARRIVING;
        op->other = frame->send;
        link->in_op = waits && frame->part == 0 ? NULL : op; /* it ends with a frame to come */
        link->into = op->buf;
        if (waits)
            coll_i_tcp_call(tcp, link, op);
        return true;
    }
    one = (coll_i_tcp_unexpected *)malloc(sizeof *one + frame->part);
    if (!one)
        return false;
    one->next = NULL;
    one->bytes = (size_t)frame->bytes;
    one->part = frame->part;
    one->have = 0;
    one->tag = frame->tag;
    one->id = frame->send;
    one->waits = waits;
    one->given_up = false;
    *link->kept_end = one;
    link->kept_end = &one->next;
    tcp->kept += one->part;
    link->in_kept = one;
    link->into = coll_i_tcp_unexpected_data(one);
    link->in_credit = 0; /* when it is received */
    return true;
}

/* More of a message comes. */
COLL_INLINE bool coll_i_tcp_rest_comes(coll_tcp *tcp, coll_i_tcp_link *link,
                                       const coll_i_tcp_frame *frame)
{
    coll_i_tcp_op *op = coll_i_tcp_op_of(tcp, link, frame->recv, false);
    if (!op || op->state != COLL_I_TCP_ARRIVING || op->other != frame->send ||
        frame->part > op->bytes - op->done || frame->part > COLL_I_TCP_CHUNK)
        return false;
    link->in_op = op;
    link->into = op->given_up ? NULL : op->buf + op->done;
    return true;
}

/* A receive is there for one of this rank's sends; if that was given up, it was told so. The peer says so when
 * the head of the first frame has come, and then the rest of that may still be here. */
COLL_INLINE void coll_i_tcp_ready_comes(coll_tcp *tcp, coll_i_tcp_link *link,
                                        const coll_i_tcp_frame *frame)
{
    coll_i_tcp_op *op = coll_i_tcp_op_of(tcp, link, frame->send, true);
    if (op && op == link->writing && !op->begun) {
        op->called = true;
        op->other = frame->recv;
    }
    if (!op || op->state != COLL_I_TCP_WAITING || !coll_i_tcp_remove(&link->waiting, op))
        return;
    op->other = frame->recv;
    op->state = COLL_I_TCP_QUEUED;
    coll_i_tcp_append(&link->sending, op);
}

/* A send of the peer's was given up. */
COLL_INLINE void coll_i_tcp_give_up_comes(coll_tcp *tcp, coll_i_tcp_link *link,
                                          const coll_i_tcp_frame *frame)
{
    coll_i_tcp_op *op = link->receiving.first;
    for (coll_i_tcp_unexpected *one = link->kept; one; one = one->next)
        if (one->waits && one->id == frame->send) {
            one->given_up = true;
            return;
        }
    while (op && !(op->state == COLL_I_TCP_ARRIVING && op->other == frame->send))
        op = op->next;
    if (!op)
        return;
    (void)coll_i_tcp_remove(&link->receiving, op);
    if (op->given_up)
        coll_i_tcp_op_give(tcp, op);
    else
        coll_i_tcp_end(op, COLL_ERR_PEER);
}

/* Some tags are aborted, here or by a peer, and what is kept of them is dropped; all others that this
 * rank talks with are told. */
COLL_INLINE void coll_i_tcp_abort_tags(coll_tcp *tcp, uint32_t first, uint32_t tags)
{
    for (uint32_t i = 0; i < tcp->n_aborted; i++)
        if (coll_i_tags_are_among(first, tags, tcp->aborted[i].first, tcp->aborted[i].tags))
            return;
    if (tcp->n_aborted == tcp->aborted_room) {
        const uint32_t room = tcp->aborted_room ? 2 * tcp->aborted_room : 16;
        void *moved = realloc(tcp->aborted, room * sizeof *tcp->aborted);
        if (!moved)
            return; /* the others will see that this rank does nothing */
        tcp->aborted = (coll_i_tcp_aborted *)moved;
        tcp->aborted_room = room;
    }
    tcp->aborted[tcp->n_aborted].first = first;
    tcp->aborted[tcp->n_aborted++].tags = tags;
    tcp->news = true;
    coll_i_tcp_drop(tcp, first, tags);
    for (uint32_t i = 0; i < tcp->n_links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        if (link->stage == COLL_I_TCP_UP) {
            coll_i_tcp_frame frame = coll_i_tcp_frame_of(link, COLL_I_TCP_ABORT);
            frame.tag = first;
            frame.part = 0;
            frame.recv = tags;
            coll_i_tcp_say(tcp, link, &frame);
            coll_i_tcp_push(tcp, link);
        }
    }
}

/* The head of a frame has come. False: it is not what a rank of this job sends. */
COLL_INLINE bool coll_i_tcp_frame_comes(coll_tcp *tcp, coll_i_tcp_link *link)
{
    const coll_i_tcp_frame frame = coll_i_tcp_get_frame(link->in_head);
    link->in_op = NULL;
    link->in_kept = NULL;
    link->into = NULL;
    link->in_credit = 0;
    link->in_left = frame.part;
    if (frame.credit > link->allowed - link->credit)
        return false;
    link->credit += frame.credit;
    switch (frame.kind) {
    case COLL_I_TCP_WHOLE:
    case COLL_I_TCP_BEGIN:
        return coll_i_tcp_message_comes(tcp, link, &frame);
    case COLL_I_TCP_REST:
        return coll_i_tcp_rest_comes(tcp, link, &frame);
    default:
        break;
    }
    if (frame.part != 0)
        return false;
    switch (frame.kind) {
    case COLL_I_TCP_READY:
        coll_i_tcp_ready_comes(tcp, link, &frame);
        return true;
    case COLL_I_TCP_GIVEN_UP:
        coll_i_tcp_give_up_comes(tcp, link, &frame);
        return true;
    case COLL_I_TCP_CREDIT:
        return true;
    case COLL_I_TCP_ABORT:
        if (!coll_i_tags_are_among(frame.tag, frame.recv, 0, COLL_CLAIM_ALL))
            return false;
        coll_i_tcp_abort_tags(tcp, frame.tag, frame.recv);
        return true;
    case COLL_I_TCP_LEAVE:
        link->stage = COLL_I_TCP_LEFT;
        return true;
    default:
        return false;
    }
}

/* All of a frame has come. */
COLL_INLINE void coll_i_tcp_frame_ends(coll_tcp *tcp, coll_i_tcp_link *link)
{
    coll_i_tcp_op *op = link->in_op;
    link->in_have = 0;
    link->in_op = NULL;
    link->in_kept = NULL;
    link->into = NULL;
    if (link->in_credit != 0)
        coll_i_tcp_owe(tcp, link, link->in_credit);
    link->in_credit = 0;
    if (op)
        coll_i_tcp_arrived(tcp, link, op);
}

#endif /* COLL_TRANSPORTS_TCP_ARRIVALS_H */
