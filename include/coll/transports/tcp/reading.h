/* coll/transports/tcp/reading.h — ranks joined by TCP: how what arrives is read
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_READING_H
#define COLL_TRANSPORTS_TCP_READING_H

#include "arrivals.h"

/* n bytes of a frame's body have come to where they belong. */
COLL_INLINE void coll_i_tcp_came(coll_i_tcp_link *link, size_t n)
{
    link->in_left -= n;
    if (link->into)
        link->into += n;
    if (link->in_kept)
        link->in_kept->have += (uint32_t)n;
    if (link->in_op)
        link->in_op->done += n;
}

/* Takes in bytes that were read; those of a message may lie in its receive already, or in one behind it.
 * False: they are no frames. */
COLL_INLINE bool coll_i_tcp_take_in(coll_tcp *tcp, coll_i_tcp_link *link,
                                    const unsigned char *bytes, size_t n)
{
    while (n != 0) {
        size_t those;
        if (link->in_have < COLL_I_TCP_HEAD) {
            those = COLL_I_TCP_HEAD - link->in_have;
            those = n < those ? n : those;
            memcpy(link->in_head + link->in_have, bytes, those);
            link->in_have += (uint32_t)those;
            if (link->in_have == COLL_I_TCP_HEAD && !coll_i_tcp_frame_comes(tcp, link))
                return false;
        } else {
            those = n < link->in_left ? n : link->in_left;
            if (link->into && link->into != bytes)
                memmove(link->into, bytes, those);
            coll_i_tcp_came(link, those);
        }
        bytes += those;
        n -= those;
        if (link->in_have == COLL_I_TCP_HEAD && link->in_left == 0)
            coll_i_tcp_frame_ends(tcp, link);
    }
    return true;
}

/* The receive that the next message is probably for, if it is worth to be read into at once: it has no message
 * yet, so what else comes may lie in its buffer for a while. Of one whose message waits for READY the head is
 * read first. NULL: there is none. */
COLL_INLINE const coll_i_tcp_op *coll_i_tcp_guess(const coll_i_tcp_link *link)
{
    const coll_i_tcp_op *op = link->in_have == 0 ? link->receiving.first : NULL;
    return op && op->state == COLL_I_TCP_POSTED && op->bytes >= COLL_I_TCP_LONG &&
                   op->bytes <= link->allowed / 2
               ? op
               : NULL;
}

/* Reads what a peer has sent: messages straight into their receives. True: something came. */
COLL_INLINE bool coll_i_tcp_read(coll_tcp *tcp, coll_i_tcp_link *link)
{
    bool came = false;
    for (unsigned turn = 0; turn < 8 && link->fd >= 0; turn++) {
        const coll_i_tcp_op *guess = coll_i_tcp_guess(link);
        const size_t head = guess ? (size_t)COLL_I_TCP_HEAD : 0;
        const size_t straight = guess ? guess->bytes : link->into ? link->in_left : 0;
        const size_t all = straight + COLL_I_TCP_STAGING;
        const unsigned first = guess ? 0 : straight ? 1 : 2;
        struct iovec parts[3];
        struct msghdr message;
        ssize_t n;
        parts[0].iov_base = tcp->staging;
        parts[0].iov_len = head;
        parts[1].iov_base = guess ? guess->buf : link->into;
        parts[1].iov_len = straight;
        parts[2].iov_base = tcp->staging + head;
        parts[2].iov_len = COLL_I_TCP_STAGING - head;
        if (first == 2) { /* shorter than a list of one */
            n = recv(link->fd, tcp->staging, COLL_I_TCP_STAGING, MSG_DONTWAIT);
        } else {
            memset(&message, 0, sizeof message);
            message.msg_iov = parts + first;
            message.msg_iovlen = 3 - first;
            n = recvmsg(link->fd, &message, MSG_DONTWAIT);
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n <= 0) { /* the peer is gone */
            coll_i_tcp_lose(tcp, link);
            return true;
        }
        came = true;
        for (size_t i = first, left = (size_t)n; left != 0 && link->fd >= 0; i++) {
            const size_t those = left < parts[i].iov_len ? left : parts[i].iov_len;
            left -= those;
            if (!coll_i_tcp_take_in(tcp, link, (const unsigned char *)parts[i].iov_base, those))
                coll_i_tcp_lose(tcp, link);
        }
        if (link->control_from != link->control_to)
            coll_i_tcp_push(tcp, link); /* who waits for READY goes on while this rank reads */
        if ((size_t)n < all)
            break; /* there was no more */
    }
    coll_i_tcp_push(tcp, link);
    return came;
}

#endif /* COLL_TRANSPORTS_TCP_READING_H */
