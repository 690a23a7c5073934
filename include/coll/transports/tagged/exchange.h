/* coll/transports/tagged/exchange.h — ranks joined by a library with tagged messages: the callbacks of their transport
 *
 * Use ../ofi.h or ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_TAGGED_EXCHANGE_H
#define COLL_TRANSPORTS_TAGGED_EXCHANGE_H

#include "completions.h"

enum {
    COLL_I_TAGGED_GRACE = 1000, /* ms that cancel waits for the library to let go of a buffer */
    COLL_I_TAGGED_FAREWELL = 100, /* … if the peer is lost */
    COLL_I_TAGGED_DRAINED = 16 /* rounds in which the library has found a message that it has */
};

/* The link with a peer, as an operation of this tag may use it; else *status says why not. */
COLL_INLINE coll_i_tagged_link *coll_i_tagged_link_for(coll_i_tagged *net, uint32_t peer,
                                                       uint32_t tag, coll_status *status)
{
    coll_i_tagged_link *link;
    *status = COLL_ERR_PEER;
    if (net->n_aborted != 0 && coll_i_tagged_is_aborted(net, tag))
        return NULL;
    *status = COLL_ERR_RANK;
    if (peer >= net->p || peer == net->rank)
        return NULL;
    *status = COLL_ERR_IO;
    if (net->broken)
        return NULL;
    link = net->links[peer];
    if (!link)
        link = coll_i_tagged_link_of(net, peer);
    *status = COLL_ERR_MEMORY;
    return link;
}

/* ---- sends ------------------------------------------------------------------------------- */

/* Announces a message that waits for its receive. */
COLL_INLINE coll_status coll_i_tagged_announce(coll_i_tagged *net, coll_i_tagged_link *link,
                                               uint32_t tag, const void *buf, size_t bytes,
                                               coll_handle *h)
{
    unsigned char head[COLL_I_TAGGED_HEAD] = {0};
    const uint64_t length = bytes;
    coll_i_tagged_op *op = coll_i_tagged_op_take(net, link, COLL_I_TAGGED_SEND, tag,
                                                 (void *)(uintptr_t)buf, bytes);
    coll_status status;
    if (!op)
        return COLL_AGAIN;
    memcpy(head, &length, sizeof length);
    memcpy(head + sizeof length, &op->id, sizeof op->id);
    op->state = COLL_I_TAGGED_ANNOUNCED;
    status = coll_i_tagged_send_own(
        net, link, coll_i_tagged_tag(net, net->rank, COLL_I_TAGGED_ANNOUNCEMENT, tag, 0), head,
        sizeof head);
    if (status != COLL_OK) {
        coll_i_tagged_op_give(net, op);
        return status;
    }
    h->word[0] = (uintptr_t)op;
    return COLL_STARTED;
}

/* Sends a short message for which the receiver has room. */
COLL_INLINE coll_status coll_i_tagged_send_short(coll_i_tagged *net, coll_i_tagged_link *link,
                                                 uint32_t tag, const void *buf, size_t bytes,
                                                 coll_handle *h)
{
    const uint32_t credit = link->owed < net->credit_mask ? link->owed : net->credit_mask;
    const uint64_t its = coll_i_tagged_tag(net, net->rank, COLL_I_TAGGED_SHORT, tag, credit);
    coll_i_tagged_op *op = NULL;
    coll_status status = COLL_AGAIN;
    if (bytes < net->inject_end)
        status = coll_i_tagged_hand(net, link, its, buf, bytes, NULL, NULL);
    if (status == COLL_AGAIN && (bytes >= net->inject_end || net->direct)) {
        op = coll_i_tagged_op_take(net, link, COLL_I_TAGGED_SEND, tag, (void *)(uintptr_t)buf,
                                   bytes);
        if (!op)
            return COLL_AGAIN;
        op->has = true;
        if (net->direct) {
            status = coll_i_tagged_hand(net, link, its, buf, bytes, op, NULL);
        } else if (!coll_i_tagged_has_bounce(net, op)) {
            status = COLL_AGAIN;
        } else {
            op->by_bounce = true;
            memcpy(op->bounce, buf, bytes);
            status = coll_i_tagged_hand(net, link, its, op->bounce, bytes, op, op->bounce_own);
        }
        if (status != COLL_STARTED)
            coll_i_tagged_op_give(net, op);
    }
    if (status >= 0 && status != COLL_AGAIN) {
        link->owed -= credit;
        link->credit -= coll_i_tagged_units(bytes);
    }
    if (status == COLL_STARTED)
        h->word[0] = (uintptr_t)op;
    return status;
}

COLL_INLINE coll_status coll_i_tagged_send(void *ctx, uint32_t peer, uint32_t tag,
                                           const void *buf, size_t bytes, coll_handle *h)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    coll_status status;
    coll_i_tagged_link *link = coll_i_tagged_link_for(net, peer, tag, &status);
    if (!link)
        return status;
    if (link->lost)
        return COLL_ERR_IO;
    status = bytes <= COLL_I_TAGGED_EAGER && coll_i_tagged_units(bytes) <= link->credit
                 ? coll_i_tagged_send_short(net, link, tag, buf, bytes, h)
                 : coll_i_tagged_announce(net, link, tag, buf, bytes, h);
    if (status == COLL_AGAIN)
        coll_i_tagged_move(net);
    else if (status == COLL_ERR_IO)
        coll_i_tagged_lose(net, link);
    return status;
}

/* ---- receives ---------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_tagged_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                           size_t bytes, coll_handle *h)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    coll_status status;
    coll_i_tagged_link *link = coll_i_tagged_link_for(net, peer, tag, &status);
    size_t room = COLL_I_TAGGED_HEAD;
    coll_i_tagged_op *op;
    void *own;
    if (!link)
        return status;
    op = coll_i_tagged_op_take(net, link, COLL_I_TAGGED_RECV, tag, buf, bytes);
    if (!op)
        return COLL_AGAIN;
    op->into = op->head; /* what is announced is longer than the buffer, or does not fit */
    own = op->own;
    if (net->bounces) {
        if (!coll_i_tagged_has_bounce(net, op)) {
            coll_i_tagged_op_give(net, op);
            return COLL_AGAIN;
        }
        room = COLL_I_TAGGED_EAGER;
        op->into = op->bounce;
        own = op->bounce_own;
    } else if (bytes >= COLL_I_TAGGED_HEAD && bytes <= COLL_I_TAGGED_EAGER) {
        room = bytes;
        op->into = op->buf;
    }
    op->has = true;
    status =
        net->library->recv(net, link, coll_i_tagged_tag(net, peer, COLL_I_TAGGED_SHORT, tag, 0),
                           net->recv_ignore, op->into, room, op, own);
    if (status != COLL_STARTED) {
        op->has = false;
        coll_i_tagged_op_give(net, op);
        if (status == COLL_AGAIN)
            coll_i_tagged_move(net);
        return status;
    }
    if (op->state == COLL_I_TAGGED_OVER) {
        status = coll_i_tagged_status(net, op);
        coll_i_tagged_op_give(net, op);
        return status;
    }
    h->word[0] = (uintptr_t)op;
    return COLL_STARTED;
}

/* ---- tests ------------------------------------------------------------------------------- */

/* The peer is lost. Has what it sent before been looked for long enough? A library may have a thread of its
 * own that is still to find it. */
COLL_INLINE bool coll_i_tagged_is_late(coll_i_tagged_op *op)
{
    if (op->late++ == 0)
        op->late_since = coll_i_tcp_now();
    return op->late > COLL_I_TAGGED_LATE &&
           coll_i_tcp_now() - op->late_since >= COLL_I_TAGGED_LATE_MS;
}

COLL_INLINE coll_status coll_i_tagged_test(void *ctx, coll_handle *h)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    coll_i_tagged_op *op = (coll_i_tagged_op *)h->word[0];
    if (op->state != COLL_I_TAGGED_OVER) {
        if (op->round == net->round) /* all have been asked for since the last round */
            coll_i_tagged_move(net);
        op->round = net->round;
    }
    if (op->state == COLL_I_TAGGED_OVER) {
        const coll_status status = coll_i_tagged_status(net, op);
        if (status == COLL_OK)
            coll_i_tagged_op_give(net, op);
        return status;
    }
    if (net->n_aborted != 0 && coll_i_tagged_is_aborted(net, op->tag))
        return COLL_ERR_PEER;
    if (op->refused != COLL_OK)
        return op->refused;
    return op->link->lost && coll_i_tagged_is_late(op) ? COLL_ERR_IO : COLL_AGAIN;
}

/* ---- giving up --------------------------------------------------------------------------- */

/* Ends the library, and with it all that it has. */
COLL_INLINE void coll_i_tagged_break(coll_i_tagged *net)
{
    if (net->broken)
        return;
    net->library->shut(net); /* also if it was opened in part, or not at all */
    net->broken = true;
    for (uint32_t i = 0; i < net->n_ops; i++) {
        coll_i_tagged_op *op = &net->ops[i / COLL_I_TAGGED_OPS][i % COLL_I_TAGGED_OPS];
        op->has = false;
        if (op->state == COLL_I_TAGGED_FREE)
            continue;
        if (op->given_up || op->kind == COLL_I_TAGGED_HEAR)
            coll_i_tagged_op_give(net, op);
        else if (op->state != COLL_I_TAGGED_OVER)
            coll_i_tagged_end_op(net, op, COLL_ERR_IO);
    }
    coll_i_tagged_list_init(&net->due);
    coll_i_tagged_list_init(&net->stuck);
    net->orphans = 0;
    for (uint32_t i = 0; i < net->n_links; i++)
        net->list[i]->lost = true;
}

/* Waits until the library has let go of an operation: it takes it back, or ends it. If it does neither, the
 * connection is given up, and at last the library. */
COLL_INLINE void coll_i_tagged_take_back(coll_i_tagged *net, coll_i_tagged_op *op)
{
    uint64_t until = coll_i_tcp_now() + (op->link->lost ? 0 : COLL_I_TAGGED_GRACE);
    bool gave_up = false;
    net->library->cancel(net, op);
    for (unsigned turn = 0; op->has; turn++) {
        net->library->progress(net);
        coll_i_tagged_look(net);
        if (!op->has || turn < COLL_I_TAGGED_DRAINED ||
            (coll_i_tcp_now() < until && (gave_up || !op->link->lost))) {
            if (turn > COLL_I_TAGGED_DRAINED)
                (void)sched_yield();
        } else if (!gave_up) {
            gave_up = op->link->lost = true;
            net->library->lose(net, op->link);
            until = coll_i_tcp_now() + COLL_I_TAGGED_FAREWELL;
        } else {
            coll_i_tagged_break(net);
            return;
        }
    }
}

/* A receive whose message comes nevertheless, as the peer was told to send it: into memory of its own. */
COLL_INLINE void coll_i_tagged_sink(coll_i_tagged *net, coll_i_tagged_op *op)
{
    coll_i_tagged_unregister(net, op);
    op->buf = (unsigned char *)malloc(op->bytes);
    op->sunk = op->given_up = op->has = true;
    op->state = COLL_I_TAGGED_FLYING;
    if (op->buf && coll_i_tagged_register(net, op)) {
        for (unsigned turn = 0; turn < 1000; turn++) {
            const coll_status status = net->library->recv(
                net, op->link,
                coll_i_tagged_tag(net, op->link->peer, COLL_I_TAGGED_DATA, op->id, 0),
                net->data_ignore, op->buf, op->bytes, op, op->registered);
            if (status == COLL_STARTED)
                return;
            if (status != COLL_AGAIN)
                break;
            net->library->progress(net);
        }
    }
    op->has = false; /* then the peer's send does not end: it gives up the connection */
    coll_i_tagged_op_give(net, op);
}

COLL_INLINE void coll_i_tagged_cancel_send(coll_i_tagged *net, coll_i_tagged_op *op)
{
    if (op->state == COLL_I_TAGGED_STUCK) {
        coll_i_tagged_remove(&net->stuck, op);
        coll_i_tagged_say(net, op->link->peer, COLL_I_TAGGED_GIVEN_UP, op->other, 0);
    } else if (op->has && op->by_bounce) {
        op->given_up = true; /* it goes, but the caller's buffer is free */
        net->orphans++;
        return;
    } else if (op->has) {
        coll_i_tagged_take_back(net, op);
    }
    coll_i_tagged_op_give(net, op);
}

COLL_INLINE void coll_i_tagged_cancel_recv(coll_i_tagged *net, coll_i_tagged_op *op)
{
    if (op->state == COLL_I_TAGGED_STUCK)
        coll_i_tagged_remove(&net->stuck, op);
    if (op->state == COLL_I_TAGGED_DUE) {
        op->given_up = true; /* it is in the list */
        return;
    }
    if (op->has && op->kind == COLL_I_TAGGED_RECV && op->into != op->buf) {
        net->library->cancel(net, op);
        if (op->has) {
            op->given_up = true;
            return;
        }
    } else if (op->has) {
        coll_i_tagged_take_back(net, op);
        if (op->state == COLL_I_TAGGED_DUE) {
            op->given_up = true;
            return;
        }
    }
    if (op->kind == COLL_I_TAGGED_RECV_DATA && op->end == COLL_I_TAGGED_TAKEN_BACK &&
        op->refused == COLL_OK && !op->link->lost && !net->broken)
        coll_i_tagged_sink(net, op);
    else
        coll_i_tagged_op_give(net, op);
}

COLL_INLINE void coll_i_tagged_cancel(void *ctx, coll_handle *h)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    coll_i_tagged_op *op = (coll_i_tagged_op *)h->word[0];
    if (op->kind == COLL_I_TAGGED_SEND)
        coll_i_tagged_cancel_send(net, op);
    else
        coll_i_tagged_cancel_recv(net, op);
}

COLL_INLINE void coll_i_tagged_abort(void *ctx, uint32_t first, uint32_t tags)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    coll_i_tagged_abort_tags(net, coll_claim_tag(first), tags);
    coll_i_tagged_move(net);
}

COLL_INLINE bool coll_i_tagged_dead(void *ctx, uint32_t peer)
{
    const coll_i_tagged *net = (const coll_i_tagged *)ctx;
    if (peer >= net->p || peer == net->rank)
        return false;
    return (net->links[peer] && net->links[peer]->lost) || coll_i_tagged_has_ended(net, peer);
}

COLL_INLINE void coll_i_tagged_wait(void *ctx, uint32_t idle)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    if (idle > net->idle.spins + net->idle.yields)
        coll_i_tagged_look(net);
    coll_idle_wait(&net->idle, idle, -1);
}

COLL_INLINE void coll_i_tagged_progress(void *ctx)
{
    coll_i_tagged_move((coll_i_tagged *)ctx);
}

COLL_INLINE uint32_t coll_i_tagged_ranks(void *ctx)
{
    return ((const coll_i_tagged *)ctx)->p;
}

/* ---- tags -------------------------------------------------------------------------------- */

/* Receives and drops one message of a range of tags. False: there is none. */
COLL_INLINE bool coll_i_tagged_drain(coll_i_tagged *net, uint32_t range)
{
    const uint64_t sources = net->all_bits >> net->source_shift << net->source_shift;
    coll_i_tagged_op *op =
        coll_i_tagged_op_take(net, NULL, COLL_I_TAGGED_DRAIN, 0, NULL, COLL_I_TAGGED_HEAD);
    coll_i_tagged_link *link = NULL;
    uint64_t until;
    uint32_t source;
    bool found;
    if (!op)
        return false;
    if (!coll_i_tagged_has_bounce(net, op)) {
        coll_i_tagged_op_give(net, op);
        return false;
    }
    op->has = true;
    if (net->library->recv(
            net, NULL,
            coll_i_tagged_tag(net, 0, COLL_I_TAGGED_SHORT, range * COLL_CLAIM_TAGS, 0),
            net->recv_ignore | sources | (COLL_CLAIM_TAGS - 1), op->bounce, COLL_I_TAGGED_EAGER,
            op, op->bounce_own) != COLL_STARTED) {
        op->has = false;
        coll_i_tagged_op_give(net, op);
        return false;
    }
    for (unsigned turn = 0; op->has && turn < COLL_I_TAGGED_DRAINED; turn++)
        net->library->progress(net);
    if (op->has)
        net->library->cancel(net, op);
    for (until = coll_i_tcp_now() + COLL_I_TAGGED_GRACE; op->has && coll_i_tcp_now() < until;)
        net->library->progress(net);
    if (op->has) { /* it stays, and is as good as a message that was received */
        op->given_up = true;
        return false;
    }
    found = op->end <= COLL_I_TAGGED_CUT;
    source = (uint32_t)(op->its_tag >> net->source_shift);
    if (found && source < net->p && source != net->rank)
        link = coll_i_tagged_link_of(net, source);
    if (link) {
        coll_i_tagged_credit(link, coll_i_tagged_credit_of(net, op->its_tag));
        if (coll_i_tagged_kind_of(net, op->its_tag) == COLL_I_TAGGED_SHORT)
            coll_i_tagged_owe(net, link, op->its_bytes);
    }
    coll_i_tagged_op_give(net, op);
    return found;
}

/* What was sent long ago with tags of the range is dropped. */
COLL_INLINE void coll_i_tagged_clean(void *ctx, uint32_t range)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    uint32_t left = 0;
    while (!net->broken && coll_i_tagged_drain(net, range))
        ;
    coll_i_tagged_move(net);
    for (uint32_t i = 0; i < net->n_aborted; i++)
        if (coll_claim_range(net->aborted[i].first) != range)
            net->aborted[left++] = net->aborted[i];
    net->n_aborted = left;
}

COLL_INLINE coll_status coll_i_tagged_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    return coll_claims_take(&((coll_i_tagged *)ctx)->claims, coll_i_tagged_clean, ctx, first,
                            tags);
}

COLL_INLINE void coll_i_tagged_unclaim(void *ctx, uint32_t first)
{
    coll_claims_give(&((coll_i_tagged *)ctx)->claims, coll_claim_range(first));
}

COLL_INLINE void coll_i_tagged_misfit(void *ctx, coll_misfit *its)
{
    *its = ((const coll_i_tagged *)ctx)->misfit;
}

COLL_CONST(coll_failure, coll_i_tagged_failure,
           {coll_i_tagged_cancel, coll_i_tagged_abort, coll_i_tagged_dead, NULL /* outlive: all do */});
COLL_CONST(coll_in_network, coll_i_tagged_network,
           {NULL /* multicast */, NULL /* reduce */, 0, coll_i_tagged_ranks});
COLL_CONST(coll_tag_ranges, coll_i_tagged_tag_ranges,
           {coll_i_tagged_claim, coll_i_tagged_unclaim, COLL_CLAIM_ALL, coll_i_tagged_misfit});

#endif /* COLL_TRANSPORTS_TAGGED_EXCHANGE_H */
