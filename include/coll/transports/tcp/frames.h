/* coll/transports/tcp/frames.h — ranks joined by TCP: what travels, and how it is written
 *
 *   WHOLE    a message: tag, number of its send, bytes; the message
 *   BEGIN    the beginning of a message, which goes on when its receive is there (READY)
 *   READY    the receive of a send is there: both numbers
 *   REST     more of a message: number of its receive; bytes
 *   GIVEN_UP the send of this number does not go on
 *   CREDIT   nothing but what each head says: how many bytes were received
 *   ABORT    the tags first … first + tags − 1 are aborted
 *   LEAVE    this rank is done
 *
 * A message that has a receive is read straight into its buffer. One that has none is kept, up to
 * coll_tcp_credit bytes of each peer, who knows how much of that is left; what is beyond waits at the
 * sender for READY, so a rank that does not receive never makes others keep more. Frames are short enough
 * for those of other tags to get between. Numbers are little-endian.
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_FRAMES_H
#define COLL_TRANSPORTS_TCP_FRAMES_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "links.h"

typedef enum coll_i_tcp_kind {
    COLL_I_TCP_WHOLE = 1,
    COLL_I_TCP_BEGIN,
    COLL_I_TCP_READY,
    COLL_I_TCP_REST,
    COLL_I_TCP_GIVEN_UP,
    COLL_I_TCP_CREDIT,
    COLL_I_TCP_ABORT,
    COLL_I_TCP_LEAVE
} coll_i_tcp_kind;

typedef struct coll_i_tcp_frame {
    uint32_t kind, credit; /* credit: bytes that were received since the last frame */
    uint32_t tag;          /* of a message; the first one of an ABORT */
    uint32_t send, recv;   /* numbers of operations */
    uint32_t part;         /* bytes behind the head; of an ABORT: tags */
    uint64_t bytes;        /* of the message */
} coll_i_tcp_frame;

/* ---- heads ------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_tcp_put(unsigned char *to, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(number >> 8 * i);
}

COLL_INLINE uint64_t coll_i_tcp_get(const unsigned char *from, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number |= (uint64_t)from[i] << 8 * i;
    return number;
}

COLL_INLINE void coll_i_tcp_put_frame(unsigned char *head, const coll_i_tcp_frame *frame)
{
    coll_i_tcp_put(head, frame->kind, 4);
    coll_i_tcp_put(head + 4, frame->credit, 4);
    coll_i_tcp_put(head + 8, frame->tag, 4);
    coll_i_tcp_put(head + 12, frame->send, 4);
    coll_i_tcp_put(head + 16, frame->recv, 4);
    coll_i_tcp_put(head + 20, frame->part, 4);
    coll_i_tcp_put(head + 24, frame->bytes, 8);
}

COLL_INLINE coll_i_tcp_frame coll_i_tcp_get_frame(const unsigned char *head)
{
    coll_i_tcp_frame frame;
    frame.kind = (uint32_t)coll_i_tcp_get(head, 4);
    frame.credit = (uint32_t)coll_i_tcp_get(head + 4, 4);
    frame.tag = (uint32_t)coll_i_tcp_get(head + 8, 4);
    frame.send = (uint32_t)coll_i_tcp_get(head + 12, 4);
    frame.recv = (uint32_t)coll_i_tcp_get(head + 16, 4);
    frame.part = (uint32_t)coll_i_tcp_get(head + 20, 4);
    frame.bytes = coll_i_tcp_get(head + 24, 8);
    return frame;
}

/* Bytes of credit that a frame uses. */
COLL_INLINE size_t coll_i_tcp_cost(const coll_i_tcp_frame *frame)
{
    return frame->kind == COLL_I_TCP_WHOLE ||
                   (frame->kind == COLL_I_TCP_BEGIN && frame->part != 0)
               ? (size_t)frame->part + COLL_I_TCP_KEPT
               : 0;
}

/* A frame of a kind, which tells the peer of its credit. */
COLL_INLINE coll_i_tcp_frame coll_i_tcp_frame_of(coll_i_tcp_link *link, coll_i_tcp_kind kind)
{
    coll_i_tcp_frame frame;
    frame.kind = (uint32_t)kind;
    frame.credit = (uint32_t)link->owed;
    frame.tag = frame.send = frame.recv = frame.part = 0;
    frame.bytes = 0;
    link->taken -= link->owed;
    link->owed = 0;
    return frame;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Puts a frame without a body before the next one that has one. False: there is no memory. */
COLL_INLINE bool coll_i_tcp_control(coll_i_tcp_link *link, const coll_i_tcp_frame *frame)
{
    if (link->control_room - link->control_to < COLL_I_TCP_HEAD) {
        const uint32_t left = link->control_to - link->control_from;
        if (left != 0 && link->control_from != 0)
            memmove(link->control, link->control + link->control_from, left);
        link->control_from = 0;
        link->control_to = left;
        if (link->control_room - left < COLL_I_TCP_HEAD) {
            const uint32_t room = link->control_room ? 2 * link->control_room : 256;
            void *moved = realloc(link->control, room);
            if (!moved)
                return false;
            link->control = (unsigned char *)moved;
            link->control_room = room;
        }
    }
    coll_i_tcp_put_frame(link->control + link->control_to, frame);
    link->control_to += COLL_I_TCP_HEAD;
    return true;
}

/* Begins the next frame of a send: its first one goes without waiting for the receive as far as the
 * peer can keep it. Of a long message it is shorter, so that the receiver is soon at saying READY. */
COLL_INLINE void coll_i_tcp_begin_frame(coll_i_tcp_link *link, coll_i_tcp_op *op)
{
    const size_t left = op->bytes - op->done;
    coll_i_tcp_frame frame;
    size_t part;
    if (op->begun) {
        part = left < COLL_I_TCP_CHUNK ? left : (size_t)COLL_I_TCP_CHUNK;
        frame = coll_i_tcp_frame_of(link, COLL_I_TCP_REST);
        frame.recv = op->other;
    } else {
        const bool keeps = link->credit >= COLL_I_TCP_KEPT;
        const size_t room = keeps ? link->credit - COLL_I_TCP_KEPT : 0;
        part = left <= link->allowed / 2 ? left : link->allowed / 4;
        part = part < room ? part : room;
        frame = coll_i_tcp_frame_of(link, keeps && part == left ? COLL_I_TCP_WHOLE
                                                                : COLL_I_TCP_BEGIN);
    }
    frame.tag = op->tag;
    frame.send = op->id;
    frame.part = (uint32_t)part;
    frame.bytes = op->bytes;
    link->credit -= coll_i_tcp_cost(&frame);
    coll_i_tcp_put_frame(link->head, &frame);
    link->head_left = COLL_I_TCP_HEAD;
    link->body = op->buf ? op->buf + op->done : NULL;
    link->body_left = part;
    link->middle = false;
    link->writing = op;
}

/* A frame was written: what becomes of its send? One that does not wait, and has more, goes behind
 * those of other tags. */
COLL_INLINE void coll_i_tcp_end_frame(coll_i_tcp_link *link)
{
    coll_i_tcp_op *op = link->writing;
    const uint32_t kind = (uint32_t)coll_i_tcp_get(link->head, 4);
    link->writing = NULL;
    link->middle = false;
    free(link->copy);
    link->copy = NULL;
    if (!op)
        return;
    op->done += (size_t)coll_i_tcp_get(link->head + 20, 4);
    op->begun = true;
    if (kind == COLL_I_TCP_BEGIN && !op->called) {
        op->state = COLL_I_TCP_WAITING;
        coll_i_tcp_append(&link->waiting, op);
    } else if (kind != COLL_I_TCP_BEGIN && op->done == op->bytes) {
        coll_i_tcp_end(op, COLL_OK);
    } else {
        coll_i_tcp_append(&link->sending, op);
    }
}

/* Accounts for n bytes of what lies in this order: control frames before or behind the frame. */
COLL_INLINE void coll_i_tcp_written(coll_i_tcp_link *link, size_t n)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        const bool frame = link->middle == (turn == 0);
        if (frame && (link->head_left != 0 || link->body_left != 0)) {
            const size_t head = n < link->head_left ? n : link->head_left;
            const size_t body = n - head < link->body_left ? n - head : link->body_left;
            link->head_left -= (uint32_t)head;
            link->body_left -= body;
            if (link->body)
                link->body += body;
            n -= head + body;
        } else if (!frame) {
            const size_t control = link->control_to - link->control_from;
            const size_t those = n < control ? n : control;
            link->control_from += (uint32_t)those;
            n -= those;
        }
    }
}

/* Gives parts to the connection. Short ones are put together first: that takes less time than the system needs
 * to collect them. */
COLL_INLINE ssize_t coll_i_tcp_give(int fd, struct iovec *parts, unsigned n, size_t all)
{
    unsigned char together[COLL_I_TCP_TOGETHER];
    struct msghdr message;
    if (all <= COLL_I_TCP_TOGETHER) {
        size_t at = 0;
        for (unsigned i = 0; i < n; i++)
            if (parts[i].iov_len != 0) {
                memcpy(together + at, parts[i].iov_base, parts[i].iov_len);
                at += parts[i].iov_len;
            }
        return send(fd, together, all, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    memset(&message, 0, sizeof message);
    message.msg_iov = parts;
    message.msg_iovlen = n;
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Writes what there is to write, as far as the connection takes it. False: it is lost. */
COLL_INLINE bool coll_i_tcp_flush(coll_i_tcp_link *link)
{
    link->blocked = false;
    for (;;) {
        struct iovec parts[3];
        size_t all = 0;
        unsigned n = 0;
        ssize_t written;
        if (!link->writing && link->head_left == 0 && link->body_left == 0 &&
            link->sending.first) {
            coll_i_tcp_op *op = link->sending.first;
            (void)coll_i_tcp_remove(&link->sending, op);
            coll_i_tcp_begin_frame(link, op);
        }
        for (unsigned turn = 0; turn < 2; turn++) {
            if (link->middle == (turn == 0)) {
                parts[n].iov_base = link->head + COLL_I_TCP_HEAD - link->head_left;
                parts[n++].iov_len = link->head_left;
                parts[n].iov_base = (void *)(uintptr_t)link->body;
                parts[n++].iov_len = link->body_left;
            } else {
                parts[n].iov_base = link->control ? link->control + link->control_from : NULL;
                parts[n++].iov_len = link->control_to - link->control_from;
            }
        }
        for (unsigned i = 0; i < n; i++)
            all += parts[i].iov_len;
        if (all == 0)
            return true;
        written = coll_i_tcp_give(link->fd, parts, n, all);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            link->blocked = true;
            return true;
        }
        if (written < 0)
            return false;
        coll_i_tcp_written(link, (size_t)written);
        link->middle = link->head_left != COLL_I_TCP_HEAD &&
                       (link->head_left != 0 || link->body_left != 0);
        if (link->control_from == link->control_to)
            link->control_from = link->control_to = 0;
        if (link->head_left == 0 && link->body_left == 0 && (link->writing || link->copy))
            coll_i_tcp_end_frame(link);
        if ((size_t)written < all) {
            link->blocked = true;
            return true;
        }
    }
}

/* A send is given up: of a frame that is on its way the rest is copied, so the buffer is the caller's
 * again. False: there is no memory for it. */
COLL_INLINE bool coll_i_tcp_let_go(coll_i_tcp_link *link, const coll_i_tcp_op *op)
{
    if (link->writing != op)
        return true;
    link->writing = NULL;
    if (!link->middle) { /* nothing of it was written, so the peer was told of nothing */
        const coll_i_tcp_frame frame = coll_i_tcp_get_frame(link->head);
        link->credit += coll_i_tcp_cost(&frame);
        link->owed += frame.credit;
        link->taken += frame.credit;
        link->head_left = 0;
        link->body_left = 0;
        return true;
    }
    link->copy = (unsigned char *)malloc(link->body_left ? link->body_left : 1);
    if (!link->copy)
        return false;
    if (link->body_left != 0)
        memcpy(link->copy, link->body, link->body_left);
    link->body = link->copy;
    return true;
}

#endif /* COLL_TRANSPORTS_TCP_FRAMES_H */
