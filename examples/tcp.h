/* examples/tcp.h — a transport of one's own: TCP, with tags, waiting, failures and death
 *
 *   static tcp me;                            // large
 *   tcp_init(&me, rank, P, fd);               // fd[q]: a connection with rank q, made by a launcher
 *   coll_comm_init(&comm, &tcp_transport, &me, rank, P, memory, sizeof memory);
 *   …
 *   tcp_close(&me);
 *
 * docs/writing-a-transport.md explains it, 07_tcp_transport.c runs it, and tests/examples/tcp.c has it
 * checked by transports/conformance.h.
 *
 * Messages are eager: a rank reads whatever comes, and keeps what it has not received yet, so no tag
 * holds up another. Nothing bounds that memory but how far a sender runs ahead. All ranks have the same
 * byte order. POSIX.
 */
#ifndef COLL_EXAMPLES_TCP_H
#define COLL_EXAMPLES_TCP_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "coll/transport.h"
#include "coll/transports/idle.h"

enum { TCP_RANKS = 32, TCP_BYTES = 1 << 15 }; /* at the most; the engine cuts longer messages */

typedef struct tcp_head {
    uint32_t tag, bytes; /* of the message that follows */
    uint32_t aborts;     /* not 0: none follows; so many tags, from this one on, are aborted */
} tcp_head;

typedef struct tcp_frame { /* one that came */
    struct tcp_frame *next;
    uint32_t peer;
    tcp_head head;
    unsigned char data[];
} tcp_frame;

typedef struct tcp_receive {
    uint32_t peer, tag;
    void *buf;
    size_t bytes;
} tcp_receive;

typedef struct tcp_stream {
    unsigned char in[sizeof(tcp_head) + TCP_BYTES], out[sizeof(tcp_head) + TCP_BYTES];
    size_t got;           /* bytes of `in`: the beginning of a frame */
    size_t at, end;       /* of `out`: what the system did not take yet of a message … */
    uint32_t number, tag; /* … its number, and its tag */
} tcp_stream;

typedef struct tcp {
    uint32_t rank, p;
    struct pollfd fd[TCP_RANKS]; /* −1: the peer is dead, or has left */
    tcp_stream stream[TCP_RANKS];
    tcp_frame *first, **last; /* messages that are not received yet, and aborts, oldest first */
    coll_claims claims;
    coll_misfit misfit;
    coll_idle idle;
} tcp;

/* ---- progress ------------------------------------------------------------------------------ */

/* The connection has ended, or is given up. */
static inline void tcp_lose(tcp *me, uint32_t peer)
{
    if (me->fd[peer].fd >= 0)
        (void)close(me->fd[peer].fd);
    me->fd[peer].fd = -1; /* poll passes over it */
}

static inline bool tcp_keep(tcp *me, uint32_t peer, tcp_head head, const void *data)
{
    tcp_frame *frame = (tcp_frame *)malloc(sizeof *frame + head.bytes);
    if (!frame)
        return false;
    frame->next = NULL;
    frame->peer = peer;
    frame->head = head;
    memcpy(frame->data, data, head.bytes);
    *me->last = frame;
    me->last = &frame->next;
    return true;
}

static inline void tcp_drop(tcp *me, tcp_frame **link)
{
    tcp_frame *frame = *link;
    *link = frame->next;
    if (!*link)
        me->last = link;
    free(frame);
}

static inline void tcp_read(tcp *me, uint32_t peer)
{
    tcp_stream *s = &me->stream[peer];
    const ssize_t n = recv(me->fd[peer].fd, s->in + s->got, sizeof s->in - s->got, 0);
    bool well = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
    size_t at = 0;
    tcp_head head;
    for (s->got += n > 0 ? (size_t)n : 0; well && s->got - at >= sizeof head;) {
        memcpy(&head, s->in + at, sizeof head);
        if (s->got - at - sizeof head < head.bytes)
            break; /* the rest is still to come */
        well = tcp_keep(me, peer, head, s->in + at + sizeof head);
        at += sizeof head + head.bytes;
    }
    memmove(s->in, s->in + at, s->got -= at);
    if (!well)
        tcp_lose(me, peer);
}

static inline void tcp_write(tcp *me, uint32_t peer)
{
    tcp_stream *s = &me->stream[peer];
    const ssize_t n = send(me->fd[peer].fd, s->out + s->at, s->end - s->at, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        tcp_lose(me, peer);
    s->at += n > 0 ? (size_t)n : 0;
    me->fd[peer].events = s->at < s->end ? POLLIN | POLLOUT : POLLIN;
}

/* Each callback comes here: a rank that waits may call one of them again and again, and no other. */
static inline void tcp_progress(tcp *me, int milliseconds)
{
    if (poll(me->fd, me->p, milliseconds) <= 0)
        return;
    for (uint32_t peer = 0; peer < me->p; peer++) {
        if (me->fd[peer].fd >= 0 && (me->fd[peer].revents & POLLOUT))
            tcp_write(me, peer);
        if (me->fd[peer].fd >= 0 && (me->fd[peer].revents & ~POLLOUT))
            tcp_read(me, peer);
    }
}

static inline bool tcp_is_aborted(const tcp *me, uint32_t tag)
{
    for (const tcp_frame *f = me->first; f; f = f->next)
        if (coll_claim_tag(tag) - coll_claim_tag(f->head.tag) < f->head.aborts)
            return true;
    return false;
}

/* Gives a frame to the system; what that does not take now is written later. */
static inline void tcp_put(tcp *me, uint32_t peer, tcp_head head, const void *data)
{
    tcp_stream *s = &me->stream[peer];
    memcpy(s->out, &head, sizeof head);
    if (head.bytes > 0) /* data may be NULL */
        memcpy(s->out + sizeof head, data, head.bytes);
    s->at = 0;
    s->end = sizeof head + head.bytes;
    s->tag = head.tag;
    s->number++;
    tcp_write(me, peer);
}

/* ---- send, recv, test ---------------------------------------------------------------------- */

static inline coll_status tcp_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                   size_t bytes, coll_handle *h)
{
    tcp *me = (tcp *)ctx;
    tcp_stream *s = &me->stream[peer];
    const tcp_head head = {tag, (uint32_t)bytes, 0};
    tcp_progress(me, 0);
    if (tcp_is_aborted(me, tag))
        return COLL_ERR_PEER;
    if (me->fd[peer].fd < 0)
        return COLL_ERR_IO; /* not COLL_ERR_PEER: the others may wait for this rank, and not know */
    if (s->at < s->end)
        return COLL_AGAIN; /* the rest of an older message comes first */
    tcp_put(me, peer, head, buf);
    if (s->at == s->end)
        return COLL_OK; /* the system has all of it, and delivers it even if this rank ends */
    h->word[0] = 0;
    h->word[1] = (uintptr_t)s->number * TCP_RANKS + peer;
    return COLL_STARTED; /* COLL_OK would be wrong: a rank that calls no more writes no more */
}

/* A receive is matched when it is tested, which the library does oldest first. */
static inline coll_status tcp_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                   size_t bytes, coll_handle *h)
{
    tcp_receive *receive = (tcp_receive *)malloc(sizeof *receive);
    (void)ctx;
    if (!receive)
        return COLL_AGAIN;
    receive->peer = peer;
    receive->tag = tag;
    receive->buf = buf;
    receive->bytes = bytes;
    h->word[0] = (uintptr_t)receive;
    return COLL_STARTED;
}

static inline coll_status tcp_match(tcp *me, const tcp_receive *receive)
{
    tcp_frame **link = &me->first, *f;
    while ((f = *link) && (f->peer != receive->peer || /* all uses of a tag are one channel: */
                           coll_claim_tag(f->head.tag ^ receive->tag) != 0))
        link = &f->next;
    if (!f)
        return me->fd[receive->peer].fd < 0 ? COLL_ERR_IO : COLL_AGAIN;
    if (f->head.tag != receive->tag || f->head.bytes != receive->bytes) {
        (void)coll_misfit_note(&me->misfit, receive->peer, receive->tag, receive->bytes);
        me->misfit.its_tag = f->head.tag;
        me->misfit.bytes = f->head.bytes;
        return COLL_ERR_SIZE;
    }
    if (receive->bytes > 0) /* buf may be NULL */
        memcpy(receive->buf, f->data, receive->bytes);
    tcp_drop(me, link);
    return COLL_OK;
}

static inline coll_status tcp_test(void *ctx, coll_handle *h)
{
    tcp *me = (tcp *)ctx;
    tcp_receive *receive = (tcp_receive *)h->word[0]; /* or NULL: a send */
    const uint32_t peer = (uint32_t)(h->word[1] % TCP_RANKS);
    const tcp_stream *s = &me->stream[peer];
    coll_status status;
    tcp_progress(me, 0);
    if (!receive && (s->at == s->end || (uintptr_t)s->number * TCP_RANKS + peer != h->word[1]))
        return COLL_OK;
    if (tcp_is_aborted(me, receive ? receive->tag : s->tag))
        return COLL_ERR_PEER;
    if (!receive)
        return me->fd[peer].fd < 0 ? COLL_ERR_IO : COLL_AGAIN;
    status = tcp_match(me, receive);
    if (status == COLL_OK)
        free(receive); /* after an error, cancel does */
    return status;
}

/* Spins if it has a processor for itself, yields if not, and at last sleeps until something comes. */
static inline void tcp_wait(void *ctx, uint32_t idle)
{
    tcp *me = (tcp *)ctx;
    if (idle <= me->idle.spins + me->idle.yields)
        coll_idle_wait(&me->idle, idle, -1);
    else
        tcp_progress(me, 1);
}

/* ---- failures, and tags -------------------------------------------------------------------- */

static inline void tcp_cancel(void *ctx, coll_handle *h)
{
    (void)ctx;
    free((tcp_receive *)h->word[0]); /* a send has been copied, and goes on */
}

static inline void tcp_abort(void *ctx, uint32_t first, uint32_t tags)
{
    tcp *me = (tcp *)ctx;
    const tcp_head head = {first, 0, tags};
    (void)tcp_keep(me, me->rank, head, "");
    for (uint32_t peer = 0; peer < me->p; peer++) {
        tcp_stream *s = &me->stream[peer];
        if (me->fd[peer].fd >= 0 && s->at == s->end)
            tcp_put(me, peer, head, NULL);
        if (s->at < s->end)
            tcp_lose(me, peer); /* it cannot be told now: it reads the end of the connection */
    }
}

static inline bool tcp_dead(void *ctx, uint32_t peer)
{
    const tcp *me = (const tcp *)ctx;
    return peer != me->rank && me->fd[peer].fd < 0;
}

/* Forgets messages and aborts of a range of tags. */
static inline void tcp_clean(void *ctx, uint32_t range)
{
    tcp *me = (tcp *)ctx;
    tcp_progress(me, 0);
    for (tcp_frame **link = &me->first; *link;)
        if (coll_claim_range((*link)->head.tag) == range)
            tcp_drop(me, link);
        else
            link = &(*link)->next;
}

static inline coll_status tcp_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    return coll_claims_take(&((tcp *)ctx)->claims, tcp_clean, ctx, first, tags);
}

static inline void tcp_unclaim(void *ctx, uint32_t first)
{
    coll_claims_give(&((tcp *)ctx)->claims, coll_claim_range(first));
}

static inline void tcp_misfit(void *ctx, coll_misfit *its)
{
    *its = ((const tcp *)ctx)->misfit;
}

static const coll_failure tcp_failure = {tcp_cancel, tcp_abort, tcp_dead, NULL};
static const coll_tag_ranges tcp_tags = {tcp_claim, tcp_unclaim, COLL_CLAIM_ALL, tcp_misfit};
static const coll_transport tcp_transport = {.send = tcp_send,
                                             .recv = tcp_recv,
                                             .test = tcp_test,
                                             .wait = tcp_wait,
                                             .tags = COLL_CLAIM_ALL,
                                             .max_bytes = TCP_BYTES,
                                             .failure = &tcp_failure,
                                             .tag_ranges = &tcp_tags};

/* ---- beginning and end --------------------------------------------------------------------- */

/* Rank `rank` of p, with a connected socket of each other rank, which is the transport's now. */
static inline bool tcp_init(tcp *me, uint32_t rank, uint32_t p, const int *fd)
{
    const int one = 1;
    bool well = p <= TCP_RANKS;
    memset(me, 0, sizeof *me);
    me->rank = rank;
    me->p = p;
    me->last = &me->first;
    coll_claims_init(&me->claims);
    coll_idle_init(&me->idle, p); /* if all ranks are on this machine */
    for (uint32_t peer = 0; peer < p && well; peer++) {
        me->fd[peer].fd = peer == rank ? -1 : fd[peer];
        me->fd[peer].events = POLLIN;
        well = peer == rank ||
               (fcntl(fd[peer], F_SETFL, O_NONBLOCK) == 0 &&
                setsockopt(fd[peer], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
    }
    return well;
}

/* Messages that were sent still arrive. */
static inline void tcp_close(tcp *me)
{
    for (uint32_t peer = 0; peer < me->p; peer++)
        tcp_lose(me, peer);
    while (me->first)
        tcp_drop(me, &me->first);
}

/* Connects p ranks of one machine: fd[a · p + b] is the end of rank a of its connection with rank b. */
static inline bool tcp_connect_all(uint32_t p, int *fd)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* and a port that the system chooses */
    bool well = bind(listener, (struct sockaddr *)&at, sizeof at) == 0 &&
                listen(listener, 1) == 0 &&
                getsockname(listener, (struct sockaddr *)&at, &length) == 0;
    for (uint32_t a = 0; a < p; a++)
        for (uint32_t b = 0; b < a && well; b++) {
            fd[a * p + b] = socket(AF_INET, SOCK_STREAM, 0);
            well = connect(fd[a * p + b], (struct sockaddr *)&at, sizeof at) == 0 &&
                   (fd[b * p + a] = accept(listener, NULL, NULL)) >= 0;
        }
    (void)close(listener);
    return well;
}

#endif /* COLL_EXAMPLES_TCP_H */
