/* bench/by_hand/sockets.h — sockets that do not block, one for each pair of ranks */
#ifndef COLL_BENCH_SOCKETS_H
#define COLL_BENCH_SOCKETS_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hand.h"

static struct {
    int listener, fd[HAND_RANKS];
} sockets;

static inline void sockets_exchange(hand *me, uint32_t to, const void *out, uint32_t from,
                                    void *in, size_t bytes)
{
    size_t sent = 0, got = 0;
    while (sent < bytes || got < bytes) {
        ssize_t a = 0, b = 0;
        if (sent < bytes)
            a = send(sockets.fd[to], (const char *)out + sent, bytes - sent, MSG_NOSIGNAL);
        if (got < bytes)
            b = recv(sockets.fd[from], (char *)in + got, bytes - got, 0);
        sent += a > 0 ? (size_t)a : 0;
        got += b > 0 ? (size_t)b : 0;
        hand_found(me, a > 0 || b > 0);
    }
}

static inline void sockets_open(hand *me, hand_address *mine)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockets.listener = socket(AF_INET, SOCK_STREAM, 0);
    hand_stop(bind(sockets.listener, (struct sockaddr *)&at, sizeof at) == 0 &&
                  listen(sockets.listener, HAND_RANKS) == 0 &&
                  getsockname(sockets.listener, (struct sockaddr *)&at, &length) == 0,
              "there is no port on 127.0.0.1");
    mine->bytes = sizeof at;
    memcpy(mine->at, &at, sizeof at);
    me->exchange = sockets_exchange;
}

/* Connects with the ranks below, and waits for those above. */
static inline void sockets_connect(hand *me, const hand_address *all)
{
    const int one = 1;
    for (uint32_t r = 0; r < me->rank; r++) {
        struct sockaddr_in at;
        memcpy(&at, all[r].at, sizeof at);
        sockets.fd[r] = socket(AF_INET, SOCK_STREAM, 0);
        hand_stop(connect(sockets.fd[r], (struct sockaddr *)&at, sizeof at) == 0 &&
                      write(sockets.fd[r], &me->rank, sizeof me->rank) == sizeof me->rank,
                  "a connection is refused");
    }
    for (uint32_t r = me->rank + 1; r < me->p; r++) {
        uint32_t its = HAND_RANKS;
        const int fd = accept(sockets.listener, NULL, NULL);
        hand_stop(fd >= 0 && read(fd, &its, sizeof its) == sizeof its && its < me->p,
                  "a connection is none of a rank");
        sockets.fd[its] = fd;
    }
    for (uint32_t r = 0; r < me->p; r++)
        hand_stop(r == me->rank || (fcntl(sockets.fd[r], F_SETFL, O_NONBLOCK) == 0 &&
                                    setsockopt(sockets.fd[r], IPPROTO_TCP, TCP_NODELAY, &one,
                                               sizeof one) == 0),
                  "a connection cannot be set up");
}

static inline void sockets_close(hand *me)
{
    for (uint32_t r = 0; r < me->p; r++)
        if (r != me->rank)
            (void)close(sockets.fd[r]);
    (void)close(sockets.listener);
}

#endif /* COLL_BENCH_SOCKETS_H */
