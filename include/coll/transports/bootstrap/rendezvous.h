/* coll/transports/bootstrap/rendezvous.h — how ranks find each other: rank 0 listens where all know
 *
 *   rank 0  "collRDV1", 16 random bytes
 *   others  rank, how many there are, bytes; 16 random bytes; checksum; what they have
 *   rank 0  what all have, by rank; checksum
 *
 * Checksums are of all that was said, random bytes included, with the job's secret (tcp/siphash.h): who
 * does not know that is turned away, and learns nothing.
 *
 * Use ../bootstrap.h.
 */
#ifndef COLL_TRANSPORTS_BOOTSTRAP_RENDEZVOUS_H
#define COLL_TRANSPORTS_BOOTSTRAP_RENDEZVOUS_H

#include "../tcp.h"

enum {
    COLL_I_RDV_BYTES = 4096, /* the most that a rank has */
    COLL_I_RDV_HEAD = 12 + COLL_I_TCP_RANDOM + 8,
    COLL_I_RDV_CHECKED = 12 + 2 * COLL_I_TCP_RANDOM /* … of both sides, but the checksum */
};

/* What rank 0 knows of somebody who has connected. */
typedef struct coll_i_rdv_guest {
    int fd;
    bool known; /* it is a rank, and has said all */
    uint32_t rank, have;
    unsigned char random[COLL_I_TCP_RANDOM];
    unsigned char said[COLL_I_RDV_HEAD + COLL_I_RDV_BYTES];
} coll_i_rdv_guest;

typedef struct coll_i_rdv_hall {
    coll_i_rdv_guest *guests;
    struct pollfd *polled; /* of each, and of the listener */
    uint32_t n;
} coll_i_rdv_hall;

/* Of what a rank says. */
COLL_INLINE uint64_t coll_i_rdv_checksum(const unsigned char *secret,
                                         const unsigned char *random, const unsigned char *said,
                                         size_t bytes)
{
    unsigned char all[COLL_I_RDV_CHECKED + COLL_I_RDV_BYTES];
    memcpy(all, random, COLL_I_TCP_RANDOM);
    memcpy(all + COLL_I_TCP_RANDOM, said, COLL_I_RDV_HEAD - 8);
    memcpy(all + COLL_I_RDV_CHECKED, said + COLL_I_RDV_HEAD, bytes);
    return coll_i_siphash(secret, all, COLL_I_RDV_CHECKED + bytes);
}

/* All of n bytes, until the time is over. */
COLL_INLINE bool coll_i_rdv_move(int fd, bool sends, unsigned char *bytes, size_t n,
                                 uint64_t until)
{
    while (n > 0) {
        const uint64_t now = coll_i_tcp_now();
        struct pollfd polled;
        ssize_t moved;
        polled.fd = fd;
        polled.events = sends ? POLLOUT : POLLIN;
        polled.revents = 0;
        if (now >= until)
            return false;
        if (poll(&polled, 1, (int)(until - now < 1000 ? until - now : 1000)) <= 0)
            continue;
        moved = sends ? send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT)
                      : recv(fd, bytes, n, MSG_DONTWAIT);
        if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            continue;
        if (moved <= 0)
            return false;
        bytes += moved;
        n -= (size_t)moved;
    }
    return true;
}

/* ---- rank 0 ------------------------------------------------------------------------------ */

/* Takes in somebody who connects. */
COLL_INLINE bool coll_i_rdv_take(int listener, coll_i_rdv_guest *guest)
{
    unsigned char said[8 + COLL_I_TCP_RANDOM];
    guest->fd = accept(listener, NULL, NULL);
    guest->have = 0;
    guest->known = false;
    if (guest->fd < 0)
        return false;
    memcpy(said, "collRDV1", 8);
    if (fcntl(guest->fd, F_SETFD, FD_CLOEXEC) == 0 &&
        coll_i_tcp_random(said + 8, COLL_I_TCP_RANDOM) &&
        coll_i_tcp_tell(guest->fd, said, sizeof said)) {
        memcpy(guest->random, said + 8, COLL_I_TCP_RANDOM);
        return true;
    }
    (void)close(guest->fd);
    return false;
}

/* Hears a guest. 1: it is a rank, and has said all; 0: not yet; −1: it is turned away. */
COLL_INLINE int coll_i_rdv_hear(coll_i_rdv_guest *guest, const unsigned char *secret,
                                uint32_t p, size_t bytes)
{
    const size_t all = COLL_I_RDV_HEAD + bytes;
    const ssize_t n =
        recv(guest->fd, guest->said + guest->have, all - guest->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    if (n <= 0)
        return -1;
    guest->have += (uint32_t)n;
    if (guest->have < all)
        return 0;
    guest->rank = (uint32_t)coll_i_tcp_get(guest->said, 4);
    return guest->rank > 0 && guest->rank < p && coll_i_tcp_get(guest->said + 4, 4) == p &&
                   coll_i_tcp_get(guest->said + 8, 4) == bytes &&
                   coll_i_tcp_get(guest->said + COLL_I_RDV_HEAD - 8, 8) ==
                       coll_i_rdv_checksum(secret, guest->random, guest->said, bytes)
               ? 1
               : -1;
}

/* Gives all to a guest. `room` holds random bytes, then all. */
COLL_INLINE bool coll_i_rdv_give(const coll_i_rdv_guest *guest, const unsigned char *secret,
                                 unsigned char *room, size_t n, uint64_t until)
{
    unsigned char checksum[8];
    memcpy(room, guest->said + 12, COLL_I_TCP_RANDOM);
    coll_i_tcp_put(checksum, coll_i_siphash(secret, room, COLL_I_TCP_RANDOM + n), 8);
    return coll_i_rdv_move(guest->fd, true, room + COLL_I_TCP_RANDOM, n, until) &&
           coll_i_rdv_move(guest->fd, true, checksum, sizeof checksum, until);
}

/* Hears those who have something to say: how many more ranks have said all. */
COLL_INLINE uint32_t coll_i_rdv_hear_all(coll_i_rdv_hall *hall, const unsigned char *secret,
                                         uint32_t p, size_t bytes, unsigned char *room)
{
    uint32_t more = 0;
    for (uint32_t i = hall->n; i-- > 0;) {
        coll_i_rdv_guest *guest = &hall->guests[i];
        int heard = 0;
        if (hall->polled[i].fd >= 0 && hall->polled[i].revents)
            heard = coll_i_rdv_hear(guest, secret, p, bytes);
        for (uint32_t other = 0; heard > 0 && other < hall->n; other++)
            if (hall->guests[other].known && hall->guests[other].rank == guest->rank)
                heard = -1; /* it is there already */
        if (heard > 0) {
            guest->known = true;
            more++;
            memcpy(room + COLL_I_TCP_RANDOM + guest->rank * bytes,
                   guest->said + COLL_I_RDV_HEAD, bytes);
        } else if (heard < 0) {
            (void)close(guest->fd);
            *guest = hall->guests[--hall->n];
        }
    }
    return more;
}

/* Rank 0 hears all others, and gives them all, which `room` has behind COLL_I_TCP_RANDOM bytes: its own at
 * first. */
COLL_INLINE bool coll_i_rdv_serve(int listener, const unsigned char *secret, uint32_t p,
                                  size_t bytes, unsigned char *room, uint64_t until)
{
    const uint32_t most = p + COLL_I_TCP_STRANGERS;
    coll_i_rdv_hall hall;
    uint32_t known = 1;
    bool well;
    hall.n = 0;
    hall.guests = (coll_i_rdv_guest *)malloc(most * sizeof *hall.guests);
    hall.polled = (struct pollfd *)malloc((most + 1) * sizeof *hall.polled);
    while (hall.guests && hall.polled && known < p && coll_i_tcp_now() < until) {
        for (uint32_t i = 0; i < hall.n; i++) {
            hall.polled[i].fd = hall.guests[i].known ? -1 : hall.guests[i].fd;
            hall.polled[i].events = POLLIN;
        }
        hall.polled[hall.n].fd = hall.n < most ? listener : -1;
        hall.polled[hall.n].events = POLLIN;
        if (poll(hall.polled, hall.n + 1, 100) <= 0)
            continue;
        if (hall.polled[hall.n].revents && coll_i_rdv_take(listener, &hall.guests[hall.n])) {
            hall.polled[hall.n].fd = -1;
            hall.n++;
        }
        known += coll_i_rdv_hear_all(&hall, secret, p, bytes, room);
    }
    well = known == p;
    for (uint32_t i = 0; i < hall.n; i++) {
        if (hall.guests[i].known && well)
            well = coll_i_rdv_give(&hall.guests[i], secret, room, p * bytes, until);
        (void)close(hall.guests[i].fd);
    }
    free(hall.guests);
    free(hall.polled);
    return well;
}

/* ---- the others -------------------------------------------------------------------------- */

/* Says what this rank has, and hears what all have, which is written behind the random bytes of `room`. */
COLL_INLINE bool coll_i_rdv_visit(int fd, const unsigned char *secret, uint32_t rank,
                                  uint32_t p, const void *mine, size_t bytes,
                                  unsigned char *room, uint64_t until)
{
    unsigned char challenge[8 + COLL_I_TCP_RANDOM], checksum[8];
    unsigned char said[COLL_I_RDV_HEAD + COLL_I_RDV_BYTES];
    coll_i_tcp_put(said, rank, 4);
    coll_i_tcp_put(said + 4, p, 4);
    coll_i_tcp_put(said + 8, bytes, 4);
    memcpy(said + COLL_I_RDV_HEAD, mine, bytes);
    if (!coll_i_tcp_random(room, COLL_I_TCP_RANDOM) ||
        !coll_i_rdv_move(fd, false, challenge, sizeof challenge, until) ||
        memcmp(challenge, "collRDV1", 8) != 0)
        return false;
    memcpy(said + 12, room, COLL_I_TCP_RANDOM);
    coll_i_tcp_put(said + COLL_I_RDV_HEAD - 8,
                   coll_i_rdv_checksum(secret, challenge + 8, said, bytes), 8);
    return coll_i_rdv_move(fd, true, said, COLL_I_RDV_HEAD + bytes, until) &&
           coll_i_rdv_move(fd, false, room + COLL_I_TCP_RANDOM, p * bytes, until) &&
           coll_i_rdv_move(fd, false, checksum, sizeof checksum, until) &&
           coll_i_tcp_get(checksum, 8) ==
               coll_i_siphash(secret, room, COLL_I_TCP_RANDOM + p * bytes);
}

/* Connects to rank 0, which may not listen yet. −1: it did not until the time was over. */
COLL_INLINE int coll_i_rdv_connect(const coll_tcp_address *where, uint64_t until)
{
    struct sockaddr_storage address;
    const socklen_t length = coll_i_tcp_socket_address(where, &address);
    while (coll_i_tcp_now() < until) {
        const int fd = socket(address.ss_family, SOCK_STREAM, 0);
        if (fd < 0)
            return -1;
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
            connect(fd, (const struct sockaddr *)&address, length) == 0)
            return fd;
        (void)close(fd);
        (void)poll(NULL, 0, 20);
    }
    return -1;
}

#endif /* COLL_TRANSPORTS_BOOTSTRAP_RENDEZVOUS_H */
