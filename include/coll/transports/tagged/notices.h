/* coll/transports/tagged/notices.h — ranks joined by a library with tagged messages: what they tell each other
 *
 * A notice is six words: what it is, who says it, and up to two numbers. Receives are always posted for them,
 * so no notice waits behind a message: as many (net->posted) as the library takes well. Some compare each
 * message that comes with all receives that ignore bits of the tag, the oldest first, and these are the
 * oldest.
 *
 * Use ../ofi.h or ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_TAGGED_NOTICES_H
#define COLL_TRANSPORTS_TAGGED_NOTICES_H

#include "registered.h"

typedef enum coll_i_tagged_notice {
    COLL_I_TAGGED_CREDIT,   /* this many units were consumed */
    COLL_I_TAGGED_GO,       /* the send of this number may start, for the receive of that one */
    COLL_I_TAGGED_GIVEN_UP, /* the send for the receive of this number */
    COLL_I_TAGGED_ABORT,    /* tags: the first, and how many */
    COLL_I_TAGGED_PING,     /* so that the library finds out whether the peer is there */
    COLL_I_TAGGED_PONG,
    COLL_I_TAGGED_LEAVE, /* the sender is done, and will go when it is answered */
    COLL_I_TAGGED_LEFT   /* the answer */
} coll_i_tagged_notice;

/* ---- saying ------------------------------------------------------------------------------ */

/* Hands a message to the library. Since when it takes none for a peer is noted, as it may never say why. */
COLL_INLINE coll_status coll_i_tagged_hand(coll_i_tagged *net, coll_i_tagged_link *link,
                                           uint64_t tag, const void *buf, size_t bytes,
                                           coll_i_tagged_op *op, void *registered)
{
    const coll_status status = net->library->send(net, link, tag, buf, bytes, op, registered);
    if (status != COLL_AGAIN)
        link->refused = 0;
    else if (link->refused == 0)
        link->refused = coll_i_tcp_now();
    return status;
}

/* Sends something short that is this rank's own. */
COLL_INLINE coll_status coll_i_tagged_send_own(coll_i_tagged *net, coll_i_tagged_link *link,
                                               uint64_t tag, const void *what, size_t bytes)
{
    coll_i_tagged_op *op;
    coll_status status = COLL_AGAIN;
    if (bytes < net->inject_end && !net->closing) {
        status = coll_i_tagged_hand(net, link, tag, what, bytes, NULL, NULL);
        if (status != COLL_AGAIN || !net->direct)
            return status;
    }
    op = coll_i_tagged_op_take(net, link, COLL_I_TAGGED_SEND, 0, NULL, bytes);
    if (!op)
        return COLL_AGAIN;
    memcpy(op->head, what, bytes);
    op->given_up = op->has = true;
    net->orphans++;
    status = coll_i_tagged_hand(net, link, tag, op->head, bytes, op, op->own);
    if (status == COLL_STARTED)
        return COLL_OK;
    net->orphans--;
    coll_i_tagged_op_give(net, op);
    return status;
}

/* COLL_AGAIN: not yet. Nobody is told who is lost. */
COLL_INLINE coll_status coll_i_tagged_try(coll_i_tagged *net, uint32_t to,
                                          const uint32_t *words)
{
    coll_i_tagged_link *link = coll_i_tagged_link_of(net, to);
    if (!link)
        return COLL_AGAIN;
    if (net->broken || (link->lost && !link->left))
        return COLL_OK;
    return coll_i_tagged_send_own(
        net, link, coll_i_tagged_tag(net, net->rank, COLL_I_TAGGED_IS_NOTICE, 0, 0), words,
        COLL_I_TAGGED_NOTICE);
}

COLL_INLINE void coll_i_tagged_say(coll_i_tagged *net, uint32_t to, coll_i_tagged_notice what,
                                   uint32_t a, uint32_t b)
{
    coll_i_tagged_waiting *one;
    uint32_t words[COLL_I_TAGGED_NOTICE / 4] = {0, 0, 0, 0, 0, 0};
    words[0] = (uint32_t)what;
    words[1] = net->rank;
    words[2] = a;
    words[3] = b;
    if (coll_i_tagged_try(net, to, words) != COLL_AGAIN)
        return;
    if (net->n_waiting == net->waiting_room) {
        const uint32_t room = net->waiting_room ? 2 * net->waiting_room : 16;
        void *moved = realloc(net->waiting, room * sizeof *net->waiting);
        if (!moved)
            return; /* the others will see that this rank does nothing */
        net->waiting = (coll_i_tagged_waiting *)moved;
        net->waiting_room = room;
    }
    one = &net->waiting[net->n_waiting++];
    one->to = to;
    memcpy(one->words, words, sizeof words);
}

/* Says what waits, as far as the library takes it. */
COLL_INLINE void coll_i_tagged_say_waiting(coll_i_tagged *net)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < net->n_waiting; i++) {
        const coll_i_tagged_waiting one = net->waiting[i];
        if (coll_i_tagged_try(net, one.to, one.words) == COLL_AGAIN)
            net->waiting[left++] = one;
    }
    net->n_waiting = left;
}

/* A message that came before its receive was consumed. */
COLL_INLINE void coll_i_tagged_owe(coll_i_tagged *net, coll_i_tagged_link *link, size_t bytes)
{
    link->owed += coll_i_tagged_units(bytes);
    if (link->owed >= COLL_I_TAGGED_UNITS / 2 && !link->owing) {
        link->owing = true;
        link->next_owing = net->owing;
        net->owing = link;
    }
}

/* Gives credit back where messages did not. */
COLL_INLINE void coll_i_tagged_pay(coll_i_tagged *net)
{
    while (net->owing) {
        coll_i_tagged_link *link = net->owing;
        net->owing = link->next_owing;
        link->owing = false;
        if (link->owed >= COLL_I_TAGGED_UNITS / 2) {
            coll_i_tagged_say(net, link->peer, COLL_I_TAGGED_CREDIT, link->owed, 0);
            link->owed = 0;
        }
    }
}

COLL_INLINE void coll_i_tagged_credit(coll_i_tagged_link *link, uint32_t units)
{
    const uint32_t room = COLL_I_TAGGED_UNITS - link->credit;
    link->credit += units < room ? units : room;
}

/* ---- the second part of a message that was announced ---------------------------------------- */

COLL_INLINE void coll_i_tagged_end_op(coll_i_tagged *net, coll_i_tagged_op *op,
                                      coll_status status)
{
    net->news = net->news || !op->given_up;
    op->state = COLL_I_TAGGED_OVER;
    op->status = status;
}

/* Hands the message, or its receive, to the library; if that does not take it now, later. */
COLL_INLINE void coll_i_tagged_start_data(coll_i_tagged *net, coll_i_tagged_op *op)
{
    const bool sends = op->kind == COLL_I_TAGGED_SEND;
    coll_status status = COLL_ERR_MEMORY;
    op->state = COLL_I_TAGGED_FLYING;
    op->has = true;
    if (op->kind == COLL_I_TAGGED_HEAR)
        status = net->library->recv(
            net, NULL, coll_i_tagged_tag(net, 0, COLL_I_TAGGED_IS_NOTICE, 0, 0),
            net->notice_ignore, op->head, COLL_I_TAGGED_NOTICE, op, op->own);
    else if (!coll_i_tagged_register(net, op))
        status = COLL_ERR_MEMORY;
    else if (sends)
        status = coll_i_tagged_hand(
            net, op->link, coll_i_tagged_tag(net, net->rank, COLL_I_TAGGED_DATA, op->other, 0),
            op->buf, op->bytes, op, op->registered);
    else
        status = net->library->recv(
            net, op->link,
            coll_i_tagged_tag(net, op->link->peer, COLL_I_TAGGED_DATA, op->id, 0),
            net->data_ignore, op->buf, op->bytes, op, op->registered);
    if (status == COLL_STARTED) {
        if (op->kind == COLL_I_TAGGED_RECV_DATA)
            coll_i_tagged_say(net, op->link->peer, COLL_I_TAGGED_GO, op->other, op->id);
        return;
    }
    op->has = false;
    if (status == COLL_AGAIN) {
        op->state = COLL_I_TAGGED_STUCK;
        coll_i_tagged_append(&net->stuck, op);
    } else {
        coll_i_tagged_end_op(net, op, status);
    }
}

COLL_INLINE void coll_i_tagged_start_stuck(coll_i_tagged *net)
{
    coll_i_tagged_op *op = net->stuck.first;
    coll_i_tagged_list_init(&net->stuck);
    while (op) {
        coll_i_tagged_op *next = op->next;
        coll_i_tagged_start_data(net, op);
        op = next;
    }
}

/* ---- aborted tags ------------------------------------------------------------------------ */

COLL_INLINE bool coll_i_tagged_is_aborted(const coll_i_tagged *net, uint32_t tag)
{
    for (uint32_t i = 0; i < net->n_aborted; i++)
        if (coll_i_tags_are_among(coll_claim_tag(tag), 1, net->aborted[i].first,
                                  net->aborted[i].tags))
            return true;
    return false;
}

/* Notes aborted tags, and passes on what is news to the ranks at a distance of 1, 2, 4 …: all hear of it in
 * log p steps, and on 2 log p ways, should others be dead. */
COLL_INLINE void coll_i_tagged_abort_tags(coll_i_tagged *net, uint32_t first, uint32_t tags)
{
    for (uint32_t i = 0; i < net->n_aborted; i++)
        if (coll_i_tags_are_among(first, tags, net->aborted[i].first, net->aborted[i].tags))
            return;
    if (net->n_aborted == net->aborted_room) {
        const uint32_t room = net->aborted_room ? 2 * net->aborted_room : 16;
        void *moved = realloc(net->aborted, room * sizeof *net->aborted);
        if (!moved)
            return; /* the others will see that this rank does nothing */
        net->aborted = (coll_i_tagged_aborted *)moved;
        net->aborted_room = room;
    }
    net->news = true;
    net->aborted[net->n_aborted].first = first;
    net->aborted[net->n_aborted++].tags = tags;
    for (uint64_t far = 1; far < net->p; far *= 2) {
        const uint32_t up = (uint32_t)((net->rank + far) % net->p);
        const uint32_t down = (uint32_t)((net->rank + net->p - far) % net->p);
        coll_i_tagged_say(net, up, COLL_I_TAGGED_ABORT, first, tags);
        if (down != up)
            coll_i_tagged_say(net, down, COLL_I_TAGGED_ABORT, first, tags);
    }
}

/* ---- hearing ----------------------------------------------------------------------------- */

/* The peer has the buffer of a receive ready. */
COLL_INLINE void coll_i_tagged_go(coll_i_tagged *net, coll_i_tagged_link *link, uint32_t send,
                                  uint32_t recv)
{
    coll_i_tagged_op *op = coll_i_tagged_op_of(net, link, send);
    if (op && op->state == COLL_I_TAGGED_ANNOUNCED) {
        op->other = recv;
        coll_i_tagged_start_data(net, op);
    } else {
        coll_i_tagged_say(net, link->peer, COLL_I_TAGGED_GIVEN_UP, recv, 0);
    }
}

/* What a receive waits for does not come. */
COLL_INLINE void coll_i_tagged_give_up(coll_i_tagged *net, coll_i_tagged_link *link,
                                       uint32_t recv)
{
    coll_i_tagged_op *op = coll_i_tagged_op_of(net, link, recv);
    if (!op || op->kind != COLL_I_TAGGED_RECV_DATA || !op->has)
        return;
    op->refused = COLL_ERR_PEER;
    net->news = true;
    if (op->given_up)
        net->library->cancel(net, op);
}

COLL_INLINE void coll_i_tagged_hear(coll_i_tagged *net, const unsigned char *notice)
{
    uint32_t words[COLL_I_TAGGED_NOTICE / 4];
    coll_i_tagged_link *link;
    memcpy(words, notice, sizeof words);
    if (words[1] >= net->p || words[1] == net->rank)
        return;
    link = coll_i_tagged_link_of(net, words[1]);
    if (!link)
        return;
    switch (words[0]) {
    case COLL_I_TAGGED_CREDIT:
        coll_i_tagged_credit(link, words[2]);
        return;
    case COLL_I_TAGGED_GO:
        coll_i_tagged_go(net, link, words[2], words[3]);
        return;
    case COLL_I_TAGGED_GIVEN_UP:
        coll_i_tagged_give_up(net, link, words[2]);
        return;
    case COLL_I_TAGGED_ABORT:
        if (words[3] != 0 && words[2] < COLL_CLAIM_ALL && words[3] <= COLL_CLAIM_ALL - words[2])
            coll_i_tagged_abort_tags(net, words[2], words[3]);
        return;
    case COLL_I_TAGGED_PING:
        coll_i_tagged_say(net, link->peer, COLL_I_TAGGED_PONG, 0, 0);
        return;
    case COLL_I_TAGGED_PONG:
        link->asked = false;
        return;
    case COLL_I_TAGGED_LEAVE:
        link->left = link->lost = true;
        coll_i_tagged_say(net, link->peer, COLL_I_TAGGED_LEFT, 0, 0);
        return;
    case COLL_I_TAGGED_LEFT:
        link->heard = true;
        return;
    default:
        return;
    }
}

#endif /* COLL_TRANSPORTS_TAGGED_NOTICES_H */
