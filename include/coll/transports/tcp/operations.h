/* coll/transports/tcp/operations.h — ranks joined by TCP: the callbacks of their transport
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_OPERATIONS_H
#define COLL_TRANSPORTS_TCP_OPERATIONS_H

#include "connect.h"

enum {
    COLL_I_TCP_FEW = 2, /* connections that are read without asking first which has something */
    COLL_I_TCP_OTHERS = 32 /* sweeps until all the others are looked after, too */
};

/* Does an operation wait for what a peer says or takes? */
COLL_INLINE bool coll_i_tcp_is_busy(const coll_i_tcp_link *link)
{
    return link->receiving.first || link->waiting.first || link->sending.first || link->writing;
}

/* Moves on what is waited for. Few connections are read at once, as that is shorter than to ask first. */
COLL_INLINE void coll_i_tcp_move(coll_tcp *tcp)
{
    coll_i_tcp_link *busy[COLL_I_TCP_FEW];
    uint32_t n = 0;
    bool up = ++tcp->round % COLL_I_TCP_OTHERS != 0;
    for (uint32_t i = 0; up && i < tcp->n_links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        if (!coll_i_tcp_is_busy(link))
            continue;
        up = n < COLL_I_TCP_FEW && link->stage == COLL_I_TCP_UP;
        if (up)
            busy[n++] = link;
    }
    if (!up || n == 0)
        (void)coll_i_tcp_sweep(tcp, 0);
    else
        for (uint32_t i = 0; i < n; i++)
            (void)coll_i_tcp_read(tcp, busy[i]);
}

/* The link with a peer, as an operation of this tag may use it; else *status says why not. */
COLL_INLINE coll_i_tcp_link *coll_i_tcp_link_for(coll_tcp *tcp, uint32_t peer, uint32_t tag,
                                                 coll_status *status)
{
    coll_i_tcp_link *link;
    *status = COLL_ERR_PEER;
    if (tcp->n_aborted != 0 && coll_i_tcp_is_aborted(tcp, tag))
        return NULL;
    *status = COLL_ERR_RANK;
    if (peer >= tcp->p || peer == tcp->rank)
        return NULL;
    link = coll_i_tcp_link_of(tcp, peer);
    *status = COLL_ERR_MEMORY;
    return link;
}

/* There is no memory for an operation, and no descriptor tells when there is. */
COLL_INLINE coll_status coll_i_tcp_no_room(coll_tcp *tcp)
{
    tcp->news = true;
    return COLL_AGAIN;
}

COLL_INLINE coll_status coll_i_tcp_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                        size_t bytes, coll_handle *h)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    coll_status status;
    coll_i_tcp_link *link = coll_i_tcp_link_for(tcp, peer, tag, &status);
    coll_i_tcp_op *op;
    if (!link)
        return status;
    if (coll_i_tcp_is_lost(link))
        return COLL_ERR_IO;
    op = coll_i_tcp_op_take(tcp, link, true, tag, (void *)(uintptr_t)buf, bytes);
    if (!op)
        return coll_i_tcp_no_room(tcp);
    coll_i_tcp_append(&link->sending, op);
    coll_i_tcp_push(tcp, link);
    if (op->state == COLL_I_TCP_OVER) {
        coll_i_tcp_op_give(tcp, op);
        return op->status;
    }
    h->word[0] = (uintptr_t)op;
    return COLL_STARTED;
}

/* Takes the kept message that is due. COLL_STARTED: there is none, or not all of it. */
COLL_INLINE coll_status coll_i_tcp_recv_kept(coll_tcp *tcp, coll_i_tcp_op *op)
{
    coll_i_tcp_unexpected **at = coll_i_tcp_find_kept(op->link, op->tag);
    if (!at)
        return COLL_STARTED;
    if (!coll_i_tcp_fits(op, (*at)->tag, (*at)->bytes)) {
        coll_i_tcp_forget(tcp, op->link, at);
        return coll_i_tcp_status(tcp, op);
    }
    if ((*at)->given_up) {
        coll_i_tcp_forget(tcp, op->link, at);
        return coll_i_tcp_is_lost(op->link) ? COLL_ERR_IO : COLL_ERR_PEER;
    }
    coll_i_tcp_append(&op->link->receiving, op);
    coll_i_tcp_take_kept(tcp, op, at);
    return op->state == COLL_I_TCP_OVER ? op->status : COLL_STARTED;
}

COLL_INLINE coll_status coll_i_tcp_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                        size_t bytes, coll_handle *h)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    coll_status status;
    coll_i_tcp_link *link = coll_i_tcp_link_for(tcp, peer, tag, &status);
    coll_i_tcp_op *op;
    if (!link)
        return status;
    op = coll_i_tcp_op_take(tcp, link, false, tag, buf, bytes);
    if (!op)
        return coll_i_tcp_no_room(tcp);
    /* Behind another receive of the channel that has no message there is none for this one. */
    status = coll_i_tcp_find_posted(link, tag) ? COLL_STARTED : coll_i_tcp_recv_kept(tcp, op);
    if (status == COLL_STARTED && op->state == COLL_I_TCP_POSTED) {
        if (coll_i_tcp_is_lost(link))
            status = COLL_ERR_IO;
        else
            coll_i_tcp_append(&link->receiving, op);
    }
    if (link->control_from != link->control_to)
        coll_i_tcp_push(tcp, link);
    if (status != COLL_STARTED) {
        coll_i_tcp_op_give(tcp, op);
        return status;
    }
    h->word[0] = (uintptr_t)op;
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_tcp_test(void *ctx, coll_handle *h)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    coll_i_tcp_op *op = (coll_i_tcp_op *)h->word[0];
    if (op->state != COLL_I_TCP_OVER) {
        if (op->round == tcp->round) /* all have been asked for since the last round */
            coll_i_tcp_move(tcp);
        op->round = tcp->round;
    }
    if (op->state == COLL_I_TCP_OVER) {
        if (op->status == COLL_OK)
            coll_i_tcp_op_give(tcp, op);
        return coll_i_tcp_status(tcp, op);
    }
    return tcp->n_aborted != 0 && coll_i_tcp_is_aborted(tcp, op->tag) ? COLL_ERR_PEER
                                                                      : COLL_AGAIN;
}

/* A send is given up; its receiver is told if it has heard of it. */
COLL_INLINE void coll_i_tcp_cancel_send(coll_tcp *tcp, coll_i_tcp_op *op)
{
    coll_i_tcp_link *link = op->link;
    const bool writes = link->writing == op;
    const bool told = op->begun || (writes && link->middle);
    const bool whole =
        !op->begun && writes && coll_i_tcp_get(link->head, 4) == (uint64_t)COLL_I_TCP_WHOLE;
    if (!coll_i_tcp_let_go(link, op)) {
        coll_i_tcp_lose(tcp, link); /* the buffer cannot be kept, so the message cannot end */
        return;
    }
    (void)coll_i_tcp_remove(&link->sending, op);
    (void)coll_i_tcp_remove(&link->waiting, op);
    if (told && !whole) {
        coll_i_tcp_frame frame = coll_i_tcp_frame_of(link, COLL_I_TCP_GIVEN_UP);
        frame.send = op->id;
        coll_i_tcp_say(tcp, link, &frame);
    }
    coll_i_tcp_push(tcp, link);
}

COLL_INLINE void coll_i_tcp_cancel(void *ctx, coll_handle *h)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    coll_i_tcp_op *op = (coll_i_tcp_op *)h->word[0];
    if (op->state == COLL_I_TCP_ARRIVING) { /* the rest of it is dropped */
        op->given_up = true;
        op->buf = NULL;
        if (op->link->in_op == op)
            op->link->into = NULL;
        return;
    }
    if (op->state == COLL_I_TCP_POSTED)
        (void)coll_i_tcp_remove(&op->link->receiving, op);
    else if (op->state != COLL_I_TCP_OVER)
        coll_i_tcp_cancel_send(tcp, op);
    coll_i_tcp_op_give(tcp, op);
}

COLL_INLINE void coll_i_tcp_abort(void *ctx, uint32_t first, uint32_t tags)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    coll_i_tcp_abort_tags(tcp, coll_claim_tag(first), tags);
}

COLL_INLINE bool coll_i_tcp_dead(void *ctx, uint32_t peer)
{
    const coll_tcp *tcp = (const coll_tcp *)ctx;
    return peer < tcp->p && tcp->links[peer] && coll_i_tcp_is_lost(tcp->links[peer]);
}

COLL_INLINE void coll_i_tcp_wait(void *ctx, uint32_t idle)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    if (idle <= tcp->idle.spins + tcp->idle.yields)
        coll_idle_wait(&tcp->idle, idle, -1);
    else
        (void)coll_i_tcp_sweep(tcp, 1);
}

COLL_INLINE void coll_i_tcp_progress(void *ctx)
{
    coll_i_tcp_move((coll_tcp *)ctx);
}

COLL_INLINE uint32_t coll_i_tcp_ranks(void *ctx)
{
    return ((const coll_tcp *)ctx)->p;
}

/* ---- tags -------------------------------------------------------------------------------- */

/* What was sent long ago with tags of the range is read first, so that none of it comes later. */
COLL_INLINE void coll_i_tcp_clean(void *ctx, uint32_t range)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    const uint32_t first = range * COLL_CLAIM_TAGS;
    uint32_t left = 0;
    while (coll_i_tcp_sweep(tcp, 0))
        ;
    coll_i_tcp_drop(tcp, first, COLL_CLAIM_TAGS);
    for (uint32_t i = 0; i < tcp->n_aborted; i++)
        if (coll_claim_range(tcp->aborted[i].first) != range)
            tcp->aborted[left++] = tcp->aborted[i];
    tcp->n_aborted = left;
}

COLL_INLINE coll_status coll_i_tcp_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    return coll_claims_take(&((coll_tcp *)ctx)->claims, coll_i_tcp_clean, ctx, first, tags);
}

COLL_INLINE void coll_i_tcp_unclaim(void *ctx, uint32_t first)
{
    coll_claims_give(&((coll_tcp *)ctx)->claims, coll_claim_range(first));
}

COLL_INLINE void coll_i_tcp_misfit(void *ctx, coll_misfit *its)
{
    *its = ((const coll_tcp *)ctx)->misfit;
}

COLL_CONST(coll_failure, coll_i_tcp_failure,
           {coll_i_tcp_cancel, coll_i_tcp_abort, coll_i_tcp_dead, NULL /* outlive: all do */});
COLL_CONST(coll_in_network, coll_i_tcp_network,
           {NULL /* multicast */, NULL /* reduce */, 0, coll_i_tcp_ranks});
COLL_CONST(coll_tag_ranges, coll_i_tcp_tag_ranges,
           {coll_i_tcp_claim, coll_i_tcp_unclaim, COLL_CLAIM_ALL, coll_i_tcp_misfit});

#endif /* COLL_TRANSPORTS_TCP_OPERATIONS_H */
