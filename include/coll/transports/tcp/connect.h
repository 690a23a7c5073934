/* coll/transports/tcp/connect.h — ranks joined by TCP: how connections are made, and with whom
 *
 * A rank listens. Who connects is challenged: he answers with who he is, and a checksum that only a rank
 * of the job can make (siphash.h) of the challenge, which is new each time; so does the listener, of a
 * challenge in the answer. Until then nothing that he says is believed, and little is kept of him: so
 * strangers, port scanners and recorded greetings are turned away.
 *
 *   listener  CHALLENGE  "collTCP1", 16 random bytes
 *   rank      GREETING   its rank, the listener's, how many there are; 16 random bytes; checksum
 *   listener  WELCOME    1: welcome, 2: the listener's own connection comes instead; checksum
 *
 * Of two ranks the lower one connects, when it first has something to do with the other one; the higher
 * one does so only if that does not come soon. If both do, the lower one's connection is used.
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_CONNECT_H
#define COLL_TRANSPORTS_TCP_CONNECT_H

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "reading.h"
#include "siphash.h"

enum {
    COLL_I_TCP_RANDOM = 16,
    COLL_I_TCP_CHALLENGE_BYTES = 8 + COLL_I_TCP_RANDOM,
    COLL_I_TCP_GREETING_BYTES = 12 + COLL_I_TCP_RANDOM + 8,
    COLL_I_TCP_WELCOME_BYTES = 12,
    COLL_I_TCP_SOON = 20, /* ms that the higher rank waits for the lower one to connect */
    COLL_I_TCP_IS_WELCOME = 1,
    COLL_I_TCP_IS_EXPECTED = 2
};

/* ---- the system -------------------------------------------------------------------------- */

/* Milliseconds since some time. */
COLL_INLINE uint64_t coll_i_tcp_now(void)
{
    struct timeval now;
    (void)gettimeofday(&now, NULL);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_usec / 1000;
}

/* Writes random bytes. */
COLL_INLINE bool coll_i_tcp_random(unsigned char *to, size_t n)
{
    const int fd = open("/dev/urandom", O_RDONLY);
    const bool well = fd >= 0 && read(fd, to, n) == (ssize_t)n;
    if (fd >= 0)
        (void)close(fd);
    return well;
}

/* An address as the system has it; returns its length. */
COLL_INLINE socklen_t coll_i_tcp_socket_address(const coll_tcp_address *from,
                                                struct sockaddr_storage *to)
{
    memset(to, 0, sizeof *to);
    if (from->family == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)to;
        in->sin_family = AF_INET;
        in->sin_port = htons(from->port);
        memcpy(&in->sin_addr, from->ip, 4);
        return (socklen_t)sizeof *in;
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(from->port);
        in6->sin6_scope_id = from->scope;
        memcpy(&in6->sin6_addr, from->ip, 16);
        return (socklen_t)sizeof *in6;
    }
}

COLL_INLINE void coll_i_tcp_set(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

/* Makes a connection one that does not block, sends at once, and notices that the peer's machine is gone. */
COLL_INLINE bool coll_i_tcp_prepare(uint32_t patience, int fd)
{
    const int seconds = (int)(patience / 1000) + 1;
    coll_i_tcp_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    coll_i_tcp_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#if defined(TCP_KEEPIDLE) && defined(TCP_KEEPINTVL) && defined(TCP_KEEPCNT)
    coll_i_tcp_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, (seconds + 1) / 2);
    coll_i_tcp_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds / 6 + 1);
    coll_i_tcp_set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
#endif
#if defined(TCP_USER_TIMEOUT)
    coll_i_tcp_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
#endif
    return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* ---- checksums --------------------------------------------------------------------------- */

/* Of what one of two ranks says, which has answered the challenges of both. */
COLL_INLINE uint64_t coll_i_tcp_checksum(const coll_tcp *tcp, char what, uint32_t word,
                                         uint32_t from, uint32_t to,
                                         const unsigned char *challenge,
                                         const unsigned char *answer)
{
    unsigned char all[17 + 2 * COLL_I_TCP_RANDOM];
    all[0] = (unsigned char)what;
    coll_i_tcp_put(all + 1, word, 4);
    coll_i_tcp_put(all + 5, from, 4);
    coll_i_tcp_put(all + 9, to, 4);
    coll_i_tcp_put(all + 13, tcp->p, 4);
    memcpy(all + 17, challenge, COLL_I_TCP_RANDOM);
    memcpy(all + 17 + COLL_I_TCP_RANDOM, answer, COLL_I_TCP_RANDOM);
    return coll_i_siphash(tcp->secret, all, sizeof all);
}

/* ---- links ------------------------------------------------------------------------------- */

/* What this rank has with a peer; NULL: there is no memory. */
COLL_INLINE coll_i_tcp_link *coll_i_tcp_link_of(coll_tcp *tcp, uint32_t peer)
{
    coll_i_tcp_link *link = tcp->links[peer];
    void *moved;
    if (link)
        return link;
    moved =
        realloc(tcp->polled, (tcp->n_links + 2 + COLL_I_TCP_STRANGERS) * sizeof(struct pollfd));
    if (!moved)
        return NULL;
    tcp->polled = moved;
    moved = realloc(tcp->list, (tcp->n_links + 1) * sizeof *tcp->list);
    if (!moved)
        return NULL;
    tcp->list = (coll_i_tcp_link **)moved;
    link = (coll_i_tcp_link *)calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->peer = peer;
    link->fd = -1;
    link->stage = COLL_I_TCP_AWAY;
    link->deadline = coll_i_tcp_now() + (tcp->rank < peer ? 0 : COLL_I_TCP_SOON);
    link->credit = link->allowed = coll_tcp_credit(tcp->p);
    link->kept_end = &link->kept;
    coll_i_tcp_queue_init(&link->sending);
    coll_i_tcp_queue_init(&link->waiting);
    coll_i_tcp_queue_init(&link->receiving);
    tcp->links[peer] = link;
    tcp->list[tcp->n_links++] = link;
    return link;
}

/* The connection is there: the peer learns what was aborted, and gets what waits for it. */
COLL_INLINE void coll_i_tcp_come_up(coll_tcp *tcp, coll_i_tcp_link *link, int fd)
{
    link->fd = fd;
    link->watched = 0;
    link->stage = COLL_I_TCP_UP;
    for (uint32_t i = 0; i < tcp->n_aborted; i++) {
        coll_i_tcp_frame frame = coll_i_tcp_frame_of(link, COLL_I_TCP_ABORT);
        frame.tag = tcp->aborted[i].first;
        frame.recv = tcp->aborted[i].tags;
        coll_i_tcp_say(tcp, link, &frame);
    }
    coll_i_tcp_push(tcp, link);
}

/* Has the peer not yet what was sent to it? */
COLL_INLINE bool coll_i_tcp_has_more(const coll_i_tcp_link *link)
{
    int bytes = 0;
    if (link->head_left != 0 || link->body_left != 0 || link->control_from != link->control_to)
        return true;
#if defined(TIOCOUTQ)
    if (ioctl(link->fd, TIOCOUTQ, &bytes) != 0)
        return false;
#endif
    return bytes > 0;
}

/* Keeps the addresses of all ranks, the short ones shortly: they are most of what a rank has of a large job. False:
 * there is no memory. */
COLL_INLINE bool coll_i_tcp_keep_addresses(coll_tcp *tcp, const coll_tcp_address *all)
{
    bool shorts = true;
    for (uint32_t r = 0; r < tcp->p; r++)
        shorts = shorts && all[r].family == 4;
    tcp->address_bytes = shorts ? (uint32_t)COLL_I_TCP_SHORT : (uint32_t)sizeof *all;
    tcp->addresses = (unsigned char *)malloc((size_t)tcp->p * tcp->address_bytes);
    for (uint32_t r = 0; tcp->addresses && r < tcp->p; r++) {
        unsigned char *to = tcp->addresses + (size_t)r * tcp->address_bytes;
        if (shorts) {
            memcpy(to, all[r].ip, 4);
            memcpy(to + 4, &all[r].port, 2);
        } else {
            memcpy(to, &all[r], sizeof all[r]);
        }
    }
    return tcp->addresses != NULL;
}

COLL_INLINE coll_tcp_address coll_i_tcp_address_at(const coll_tcp *tcp, uint32_t rank)
{
    const unsigned char *from = tcp->addresses + (size_t)rank * tcp->address_bytes;
    coll_tcp_address its;
    memset(&its, 0, sizeof its);
    if (tcp->address_bytes == COLL_I_TCP_SHORT) {
        its.family = 4;
        memcpy(its.ip, from, 4);
        memcpy(&its.port, from + 4, 2);
    } else {
        memcpy(&its, from, sizeof its);
    }
    return its;
}

/* Begins to connect. */
COLL_INLINE void coll_i_tcp_connect(coll_tcp *tcp, coll_i_tcp_link *link)
{
    struct sockaddr_storage address;
    const coll_tcp_address its = coll_i_tcp_address_at(tcp, link->peer);
    const socklen_t length = coll_i_tcp_socket_address(&its, &address);
    link->deadline = coll_i_tcp_now() + tcp->patience;
    link->fd = socket(address.ss_family, SOCK_STREAM, 0);
    link->watched = 0;
    if (link->fd < 0 || !coll_i_tcp_prepare(tcp->patience, link->fd) ||
        (connect(link->fd, (const struct sockaddr *)&address, length) != 0 &&
         errno != EINPROGRESS && errno != EINTR)) {
        coll_i_tcp_lose(tcp, link);
        return;
    }
    link->greeting.have = 0;
    link->stage = COLL_I_TCP_CONNECTING;
}

/* ---- who connects ------------------------------------------------------------------------ */

/* Reads up to `most` bytes of what the other side says at the beginning. −1: it is gone. */
COLL_INLINE int coll_i_tcp_hear(int fd, coll_i_tcp_greeting *greeting, uint32_t most)
{
    const ssize_t n =
        recv(fd, greeting->bytes + greeting->have, most - greeting->have, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        return -1;
    greeting->have += n > 0 ? (uint32_t)n : 0;
    return greeting->have == most;
}

/* Says all of something short, at the beginning of a connection, which has room for it. */
COLL_INLINE bool coll_i_tcp_tell(int fd, const unsigned char *bytes, size_t n)
{
    return send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

/* Answers a challenge. */
COLL_INLINE bool coll_i_tcp_greet(coll_tcp *tcp, coll_i_tcp_link *link)
{
    unsigned char said[COLL_I_TCP_GREETING_BYTES];
    coll_i_tcp_greeting *greeting = &link->greeting;
    const unsigned char *challenge = greeting->bytes + 8;
    if (memcmp(greeting->bytes, "collTCP1", 8) != 0 ||
        !coll_i_tcp_random(greeting->nonce, COLL_I_TCP_RANDOM))
        return false;
    coll_i_tcp_put(said, tcp->rank, 4);
    coll_i_tcp_put(said + 4, link->peer, 4);
    coll_i_tcp_put(said + 8, tcp->p, 4);
    memcpy(said + 12, greeting->nonce, COLL_I_TCP_RANDOM);
    coll_i_tcp_put(
        said + 12 + COLL_I_TCP_RANDOM,
        coll_i_tcp_checksum(tcp, 'G', 0, tcp->rank, link->peer, challenge, greeting->nonce), 8);
    memcpy(greeting->challenge, challenge, COLL_I_TCP_RANDOM);
    greeting->have = 0;
    return coll_i_tcp_tell(link->fd, said, sizeof said);
}

/* Goes on with a connection that this rank makes. */
COLL_INLINE void coll_i_tcp_go_on(coll_tcp *tcp, coll_i_tcp_link *link)
{
    coll_i_tcp_greeting *greeting = &link->greeting;
    int heard = 0;
    if (link->stage == COLL_I_TCP_CONNECTING) {
        int error = 0;
        socklen_t length = sizeof error;
        if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0) {
            coll_i_tcp_lose(tcp, link);
            return;
        }
        link->stage = COLL_I_TCP_CHALLENGED;
    }
    if (link->stage == COLL_I_TCP_CHALLENGED) {
        heard = coll_i_tcp_hear(link->fd, greeting, COLL_I_TCP_CHALLENGE_BYTES);
        if (heard > 0 && coll_i_tcp_greet(tcp, link))
            link->stage = COLL_I_TCP_GREETED;
        else if (heard != 0)
            coll_i_tcp_lose(tcp, link);
    } else if (link->stage == COLL_I_TCP_GREETED) {
        heard = coll_i_tcp_hear(link->fd, greeting, COLL_I_TCP_WELCOME_BYTES);
        if (heard > 0) {
            const uint32_t word = (uint32_t)coll_i_tcp_get(greeting->bytes, 4);
            const int fd = link->fd;
            if (coll_i_tcp_get(greeting->bytes + 4, 8) !=
                coll_i_tcp_checksum(tcp, 'W', word, link->peer, tcp->rank, greeting->nonce,
                                    greeting->challenge)) {
                coll_i_tcp_lose(tcp, link);
            } else if (word == COLL_I_TCP_IS_WELCOME) {
                coll_i_tcp_come_up(tcp, link, fd);
            } else {
                (void)close(fd);
                link->fd = -1;
                link->watched = 0;
                link->stage = COLL_I_TCP_AWAY;
                link->expected = true;
                link->deadline = coll_i_tcp_now() + tcp->patience;
            }
        } else if (heard < 0) {
            coll_i_tcp_lose(tcp, link);
        }
    }
}

/* ---- who is connected to ----------------------------------------------------------------- */

COLL_INLINE void coll_i_tcp_turn_away(coll_tcp *tcp, uint32_t number)
{
    (void)close(tcp->strangers[number].fd);
    tcp->strangers[number] = tcp->strangers[--tcp->n_strangers];
    tcp->turned_away++;
}

/* Takes in whoever connects, and challenges him. If there are too many, the one who has been silent for
 * the longest time has to go. */
COLL_INLINE void coll_i_tcp_take_strangers(coll_tcp *tcp)
{
    for (unsigned turn = 0; turn < COLL_I_TCP_STRANGERS; turn++) {
        unsigned char said[COLL_I_TCP_CHALLENGE_BYTES];
        coll_i_tcp_stranger *stranger;
        const int fd = accept(tcp->listener, NULL, NULL);
        if (fd < 0)
            return;
        if (tcp->n_strangers == COLL_I_TCP_STRANGERS) {
            uint32_t oldest = 0;
            for (uint32_t i = 1; i < tcp->n_strangers; i++)
                if (tcp->strangers[i].deadline < tcp->strangers[oldest].deadline)
                    oldest = i;
            coll_i_tcp_turn_away(tcp, oldest);
        }
        stranger = &tcp->strangers[tcp->n_strangers++];
        stranger->fd = fd;
        stranger->watched = 0;
        stranger->deadline = coll_i_tcp_now() + tcp->patience;
        stranger->greeting.have = 0;
        memcpy(said, "collTCP1", 8);
        if (!coll_i_tcp_prepare(tcp->patience, fd) ||
            !coll_i_tcp_random(said + 8, COLL_I_TCP_RANDOM) ||
            !coll_i_tcp_tell(fd, said, sizeof said))
            coll_i_tcp_turn_away(tcp, tcp->n_strangers - 1);
        else
            memcpy(stranger->greeting.nonce, said + 8, COLL_I_TCP_RANDOM);
    }
}

/* Who has said all of a greeting: a rank of the job? */
COLL_INLINE bool coll_i_tcp_is_known(const coll_tcp *tcp, const coll_i_tcp_greeting *greeting)
{
    const unsigned char *said = greeting->bytes;
    const uint32_t peer = (uint32_t)coll_i_tcp_get(said, 4);
    return peer < tcp->p && peer != tcp->rank && coll_i_tcp_get(said + 4, 4) == tcp->rank &&
           coll_i_tcp_get(said + 8, 4) == tcp->p &&
           coll_i_tcp_get(said + 12 + COLL_I_TCP_RANDOM, 8) ==
               coll_i_tcp_checksum(tcp, 'G', 0, peer, tcp->rank, greeting->nonce, said + 12);
}

/* A rank of the job has connected: is its connection used? */
COLL_INLINE bool coll_i_tcp_welcome(coll_tcp *tcp, coll_i_tcp_link *link, int fd,
                                    const coll_i_tcp_greeting *greeting)
{
    const bool tries =
        link->stage >= COLL_I_TCP_CONNECTING && link->stage <= COLL_I_TCP_GREETED;
    const bool used = link->stage == COLL_I_TCP_AWAY || (tries && link->peer < tcp->rank);
    const uint32_t word = used ? COLL_I_TCP_IS_WELCOME : COLL_I_TCP_IS_EXPECTED;
    unsigned char said[COLL_I_TCP_WELCOME_BYTES];
    if (!used && !tries)
        return false; /* it has one, or had */
    coll_i_tcp_put(said, word, 4);
    coll_i_tcp_put(said + 4,
                   coll_i_tcp_checksum(tcp, 'W', word, tcp->rank, link->peer,
                                       greeting->bytes + 12, greeting->nonce),
                   8);
    if (!coll_i_tcp_tell(fd, said, sizeof said) || !used)
        return false;
    if (link->fd >= 0)
        (void)close(link->fd);
    coll_i_tcp_come_up(tcp, link, fd);
    return true;
}

/* Hears what somebody says who is still to say who that is. */
COLL_INLINE void coll_i_tcp_hear_stranger(coll_tcp *tcp, uint32_t number)
{
    coll_i_tcp_stranger *stranger = &tcp->strangers[number];
    const int heard =
        coll_i_tcp_hear(stranger->fd, &stranger->greeting, COLL_I_TCP_GREETING_BYTES);
    coll_i_tcp_link *link = NULL;
    if (heard == 0)
        return;
    if (heard > 0 && tcp->addresses && coll_i_tcp_is_known(tcp, &stranger->greeting)) {
        link = coll_i_tcp_link_of(tcp, (uint32_t)coll_i_tcp_get(stranger->greeting.bytes, 4));
        if (link && coll_i_tcp_welcome(tcp, link, stranger->fd, &stranger->greeting)) {
            *stranger = tcp->strangers[--tcp->n_strangers];
            return;
        }
    }
    coll_i_tcp_turn_away(tcp, number);
    if (link)
        tcp->turned_away--; /* it is known, but comes twice */
}

/* ---- all of them ------------------------------------------------------------------------- */

/* Looks after all connections, at most `timeout` ms later: what has come, what can be written, who
 * connects, whose time is over. True: something happened. */
COLL_INLINE bool coll_i_tcp_sweep(coll_tcp *tcp, int timeout)
{
    struct pollfd *polled = (struct pollfd *)tcp->polled;
    const uint32_t links = tcp->n_links, strangers = tcp->n_strangers;
    const bool looks_at_time = timeout != 0 || tcp->sweeps++ % 64 == 0;
    const uint64_t now = looks_at_time ? coll_i_tcp_now() : 0;
    bool happened = false;
    for (uint32_t i = 0; i < links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        if (link->stage == COLL_I_TCP_AWAY &&
            (now == 0 ? tcp->rank < link->peer && !link->expected : now >= link->deadline)) {
            if (link->expected)
                coll_i_tcp_lose(tcp, link); /* it did not come */
            else
                coll_i_tcp_connect(tcp, link);
        } else if (now > link->deadline && link->stage >= COLL_I_TCP_CONNECTING &&
                   link->stage <= COLL_I_TCP_GREETED) {
            coll_i_tcp_lose(tcp, link);
        }
        polled[i].fd = link->fd;
        polled[i].events = POLLIN;
        if (link->stage == COLL_I_TCP_CONNECTING || (link->blocked && link->fd >= 0))
            polled[i].events = POLLIN | POLLOUT;
    }
    for (uint32_t i = 0; i < strangers; i++) {
        polled[links + i].fd = tcp->strangers[i].fd;
        polled[links + i].events = POLLIN;
    }
    polled[links + strangers].fd = tcp->listener;
    polled[links + strangers].events = POLLIN;
    if (poll(polled, links + strangers + 1, timeout) <= 0)
        memset(polled, 0, (links + strangers + 1) * sizeof *polled);
    for (uint32_t i = strangers; i-- > 0;) {
        if (polled[links + i].revents) {
            coll_i_tcp_hear_stranger(tcp, i);
            polled = (struct pollfd *)tcp->polled;
            happened = true;
        } else if (now > tcp->strangers[i].deadline) {
            coll_i_tcp_turn_away(tcp, i);
        }
    }
    for (uint32_t i = 0; i < links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        if (!polled[i].revents || link->fd < 0 || link->fd != polled[i].fd)
            continue;
        if (link->stage < COLL_I_TCP_UP) {
            coll_i_tcp_go_on(tcp, link);
            happened = true;
        } else {
            if (polled[i].revents & POLLOUT)
                coll_i_tcp_push(tcp, link);
            if (polled[i].revents & ~POLLOUT)
                happened = coll_i_tcp_read(tcp, link) || happened;
        }
    }
    if (polled[links + strangers].revents)
        coll_i_tcp_take_strangers(tcp);
    return happened;
}

#endif /* COLL_TRANSPORTS_TCP_CONNECT_H */
