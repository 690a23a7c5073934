/* coll/transports/bootstrap/rendezvous.h — how ranks find each other: some of them, the roots, listen where all
 * know
 *
 *   root    "collRDV2", 16 random bytes
 *   others  rank, how many there are, bytes; 16 random bytes; checksum; what they have
 *   root    what all have, by rank; checksum
 *
 * Checksums are of all that was said, random bytes included, with the job's secret (tcp/siphash.h): who
 * does not know that is turned away, and learns nothing.
 *
 * With m roots the ranks are m groups of consecutive ones, as equal as can be, and the first of each is its
 * root. The others of a group visit their root; when it has heard all, it visits rank 0 and says what its group
 * has. So nobody is visited by more than p/m + m ranks. An example of 10 ranks and 3 roots:
 *
 *   root 0 of 0 1 2     root 3 of 3 4 5     root 6 of 6 7 8 9     3 and 6 visit 0
 *
 * Use ../bootstrap.h.
 */
#ifndef COLL_TRANSPORTS_BOOTSTRAP_RENDEZVOUS_H
#define COLL_TRANSPORTS_BOOTSTRAP_RENDEZVOUS_H

#include "../tcp.h"

enum {
    COLL_I_RDV_BYTES = 1 << 16, /* the most that a rank has */
    COLL_I_RDV_HEAD = 12 + COLL_I_TCP_RANDOM + 8,
    COLL_I_RDV_CHECKED = 12 + 2 * COLL_I_TCP_RANDOM /* … of both sides, but the checksum */
};

/* What a rank knows of the meeting. */
typedef struct coll_i_rdv {
    const unsigned char *secret;
    uint32_t rank, p, roots;
    size_t bytes; /* that each rank has */
    unsigned char
        *room; /* COLL_I_TCP_RANDOM bytes, then what each rank has, its own at first */
    uint64_t until;
} coll_i_rdv;

/* Who has connected to a root. */
typedef struct coll_i_rdv_guest {
    int fd;
    uint32_t rank;
    bool ready, all; /* it has something to say, has said all */
    size_t have, n;  /* bytes that it has said; that it has, if its head is there */
    unsigned char random[COLL_I_TCP_RANDOM], head[COLL_I_RDV_HEAD];
    unsigned char
        *said; /* what its checksum is of: COLL_I_RDV_CHECKED bytes, and what it has */
} coll_i_rdv_guest;

typedef struct coll_i_rdv_hall {
    coll_i_rdv_guest *guests; /* first those that have said all */
    uint32_t known, n, most;
    struct pollfd *polled; /* of the others, and of the listener */
    bool *came;            /* by rank */
} coll_i_rdv_hall;

/* ---- groups ------------------------------------------------------------------------------ */

/* The root of group g; p if there is none. */
COLL_INLINE uint32_t coll_i_rdv_root(uint32_t p, uint32_t roots, uint32_t g)
{
    return (uint32_t)((uint64_t)g * p / roots);
}

/* The group of a rank. */
COLL_INLINE uint32_t coll_i_rdv_group(uint32_t p, uint32_t roots, uint32_t rank)
{
    return (uint32_t)((((uint64_t)rank + 1) * roots - 1) / p);
}

/* Ranks for which a rank speaks when it visits the root `host`; 0: it has no business there. */
COLL_INLINE uint32_t coll_i_rdv_speaks_for(const coll_i_rdv *its, uint32_t host, uint32_t rank)
{
    const uint32_t g = coll_i_rdv_group(its->p, its->roots, rank);
    const uint32_t root = coll_i_rdv_root(its->p, its->roots, g);
    if (rank == host)
        return 0;
    if (rank != root)
        return root == host;
    return host == 0 ? coll_i_rdv_root(its->p, its->roots, g + 1) - root : 0;
}

/* What a rank and those behind it have. */
COLL_INLINE unsigned char *coll_i_rdv_at(const coll_i_rdv *its, uint32_t rank)
{
    return its->room + COLL_I_TCP_RANDOM + rank * its->bytes;
}

/* ---- moving ------------------------------------------------------------------------------ */

/* Waits until something can be moved. False: the time is over. */
COLL_INLINE bool coll_i_rdv_wait(int fd, bool sends, uint64_t until)
{
    for (uint64_t now = coll_i_tcp_now(); now < until; now = coll_i_tcp_now()) {
        struct pollfd polled;
        polled.fd = fd;
        polled.events = sends ? POLLOUT : POLLIN;
        polled.revents = 0;
        if (poll(&polled, 1, (int)(until - now < 1000 ? until - now : 1000)) > 0)
            return true;
    }
    return false;
}

/* All of n bytes, until the time is over. */
COLL_INLINE bool coll_i_rdv_move(int fd, bool sends, unsigned char *bytes, size_t n,
                                 uint64_t until)
{
    while (n > 0) {
        const ssize_t moved = sends ? send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT)
                                    : recv(fd, bytes, n, MSG_DONTWAIT);
        if (moved > 0) {
            bytes += moved;
            n -= (size_t)moved;
        } else if (moved == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) ||
                   !coll_i_rdv_wait(fd, sends, until)) {
            return false;
        }
    }
    return true;
}

/* ---- roots ------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_rdv_turn_away(coll_i_rdv_hall *hall, uint32_t number)
{
    (void)close(hall->guests[number].fd);
    free(hall->guests[number].said);
    hall->guests[number] = hall->guests[--hall->n];
}

/* Takes in who has connected. */
COLL_INLINE void coll_i_rdv_take(coll_i_rdv_hall *hall, int listener)
{
    while (hall->n < hall->most) {
        coll_i_rdv_guest *guest = &hall->guests[hall->n];
        unsigned char said[8 + COLL_I_TCP_RANDOM];
        guest->fd = accept(listener, NULL, NULL);
        guest->ready = guest->all = false;
        guest->have = guest->n = 0;
        guest->said = NULL;
        if (guest->fd < 0)
            return;
        hall->n++;
        memcpy(said, "collRDV2", 8);
        coll_i_tcp_set(guest->fd, IPPROTO_TCP, TCP_NODELAY, 1);
        if (fcntl(guest->fd, F_SETFD, FD_CLOEXEC) != 0 ||
            !coll_i_tcp_random(said + 8, COLL_I_TCP_RANDOM) ||
            !coll_i_tcp_tell(guest->fd, said, sizeof said))
            coll_i_rdv_turn_away(hall, hall->n - 1);
        else
            memcpy(guest->random, said + 8, COLL_I_TCP_RANDOM);
    }
}

/* A guest has said its head. False: that is not what a rank says here. */
COLL_INLINE bool coll_i_rdv_expect(const coll_i_rdv *its, const coll_i_rdv_hall *hall,
                                   coll_i_rdv_guest *guest)
{
    uint32_t ranks = 0;
    guest->rank = (uint32_t)coll_i_tcp_get(guest->head, 4);
    if (guest->rank < its->p && !hall->came[guest->rank])
        ranks = coll_i_rdv_speaks_for(its, its->rank, guest->rank);
    guest->n = ranks * its->bytes;
    if (ranks == 0 || coll_i_tcp_get(guest->head + 4, 4) != its->p ||
        coll_i_tcp_get(guest->head + 8, 4) != guest->n)
        return false;
    guest->said = (unsigned char *)malloc(COLL_I_RDV_CHECKED + guest->n);
    if (!guest->said)
        return false;
    memcpy(guest->said, guest->random, COLL_I_TCP_RANDOM);
    memcpy(guest->said + COLL_I_TCP_RANDOM, guest->head, COLL_I_RDV_HEAD - 8);
    return true;
}

/* Hears a guest. 1: it is a rank, and has said all; 0: not yet; −1: it is turned away. */
COLL_INLINE int coll_i_rdv_hear(const coll_i_rdv *its, const coll_i_rdv_hall *hall,
                                coll_i_rdv_guest *guest)
{
    for (;;) {
        const bool heads = guest->have < COLL_I_RDV_HEAD;
        unsigned char *to =
            heads ? guest->head + guest->have
                  : guest->said + COLL_I_RDV_CHECKED + (guest->have - COLL_I_RDV_HEAD);
        const size_t left = COLL_I_RDV_HEAD + guest->n - guest->have;
        ssize_t n = 0;
        if (left > 0)
            n = recv(guest->fd, to, left, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            return 0;
        if (left > 0 && n <= 0)
            return -1;
        guest->have += (size_t)n;
        if (heads && guest->have == COLL_I_RDV_HEAD && !coll_i_rdv_expect(its, hall, guest))
            return -1;
        if (!heads && guest->have == COLL_I_RDV_HEAD + guest->n)
            break;
    }
    return !hall->came[guest->rank] &&
                   coll_i_tcp_get(guest->head + COLL_I_RDV_HEAD - 8, 8) ==
                       coll_i_siphash(its->secret, guest->said, COLL_I_RDV_CHECKED + guest->n)
               ? 1
               : -1;
}

/* Hears those who have something to say. */
COLL_INLINE void coll_i_rdv_hear_all(const coll_i_rdv *its, coll_i_rdv_hall *hall)
{
    for (uint32_t i = hall->n; i-- > hall->known;) {
        coll_i_rdv_guest *guest = &hall->guests[i];
        const int heard = guest->ready ? coll_i_rdv_hear(its, hall, guest) : 0;
        guest->ready = false;
        if (heard < 0) {
            coll_i_rdv_turn_away(hall, i);
        } else if (heard > 0) {
            guest->all = hall->came[guest->rank] = true;
            memcpy(coll_i_rdv_at(its, guest->rank), guest->said + COLL_I_RDV_CHECKED, guest->n);
            free(guest->said);
            guest->said = NULL;
        }
    }
    for (uint32_t i = hall->known; i < hall->n; i++)
        if (hall->guests[i].all) {
            const coll_i_rdv_guest other = hall->guests[hall->known];
            hall->guests[hall->known++] = hall->guests[i];
            hall->guests[i] = other;
        }
}

/* Hears all who are to come. */
COLL_INLINE bool coll_i_rdv_gather(const coll_i_rdv *its, coll_i_rdv_hall *hall, int listener,
                                   uint32_t wanted)
{
    while (hall->known < wanted && coll_i_tcp_now() < its->until) {
        const uint32_t first = hall->known, n = hall->n - first;
        for (uint32_t i = 0; i < n; i++) {
            hall->polled[i].fd = hall->guests[first + i].fd;
            hall->polled[i].events = POLLIN;
        }
        hall->polled[n].fd = hall->n < hall->most ? listener : -1;
        hall->polled[n].events = POLLIN;
        if (poll(hall->polled, n + 1, 100) <= 0)
            continue;
        for (uint32_t i = 0; i < n; i++)
            hall->guests[first + i].ready = hall->polled[i].revents != 0;
        if (hall->polled[n].revents)
            coll_i_rdv_take(hall, listener);
        coll_i_rdv_hear_all(its, hall);
    }
    return hall->known == wanted;
}

/* Gives all to a guest. */
COLL_INLINE bool coll_i_rdv_give(const coll_i_rdv *its, const coll_i_rdv_guest *guest)
{
    const size_t n = its->p * its->bytes;
    unsigned char checksum[8];
    memcpy(its->room, guest->head + 12, COLL_I_TCP_RANDOM);
    coll_i_tcp_put(checksum, coll_i_siphash(its->secret, its->room, COLL_I_TCP_RANDOM + n), 8);
    return coll_i_rdv_move(guest->fd, true, its->room + COLL_I_TCP_RANDOM, n, its->until) &&
           coll_i_rdv_move(guest->fd, true, checksum, sizeof checksum, its->until);
}

/* ---- who visits a root ------------------------------------------------------------------- */

/* Connects to a root, which may not listen yet. −1: it did not until the time was over. */
COLL_INLINE int coll_i_rdv_connect(const coll_tcp_address *where, uint64_t until)
{
    struct sockaddr_storage address;
    const socklen_t length = coll_i_tcp_socket_address(where, &address);
    while (coll_i_tcp_now() < until) {
        const int fd = socket(address.ss_family, SOCK_STREAM, 0);
        socklen_t size = sizeof(int);
        int error = 0;
        if (fd < 0)
            return -1;
        coll_i_tcp_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
            (connect(fd, (const struct sockaddr *)&address, length) == 0 ||
             (errno == EINPROGRESS && coll_i_rdv_wait(fd, true, until) &&
              getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)))
            return fd;
        (void)close(fd);
        (void)poll(NULL, 0, 20);
    }
    return -1;
}

/* Says what this rank has, and those for which it speaks, and hears what all have. */
COLL_INLINE bool coll_i_rdv_visit(const coll_i_rdv *its, int fd, uint32_t ranks)
{
    enum { BODY = COLL_I_RDV_CHECKED + 8 }; /* what it has, behind the checksum */
    const size_t n = ranks * its->bytes, all = its->p * its->bytes;
    unsigned char *const said = (unsigned char *)malloc(BODY + n);
    unsigned char *const head = said + COLL_I_TCP_RANDOM;
    unsigned char challenge[8 + COLL_I_TCP_RANDOM], checksum[8];
    bool well = said && coll_i_tcp_random(its->room, COLL_I_TCP_RANDOM) &&
                coll_i_rdv_move(fd, false, challenge, sizeof challenge, its->until) &&
                memcmp(challenge, "collRDV2", 8) == 0;
    if (well) {
        memcpy(said, challenge + 8, COLL_I_TCP_RANDOM);
        coll_i_tcp_put(head, its->rank, 4);
        coll_i_tcp_put(head + 4, its->p, 4);
        coll_i_tcp_put(head + 8, n, 4);
        memcpy(head + 12, its->room, COLL_I_TCP_RANDOM);
        memcpy(said + COLL_I_RDV_CHECKED, coll_i_rdv_at(its, its->rank), n);
        coll_i_tcp_put(checksum, coll_i_siphash(its->secret, said, COLL_I_RDV_CHECKED + n), 8);
        memmove(said + BODY, said + COLL_I_RDV_CHECKED, n);
        memcpy(said + COLL_I_RDV_CHECKED, checksum, sizeof checksum);
        well = coll_i_rdv_move(fd, true, head, COLL_I_RDV_HEAD + n, its->until) &&
               coll_i_rdv_move(fd, false, its->room + COLL_I_TCP_RANDOM, all, its->until) &&
               coll_i_rdv_move(fd, false, checksum, sizeof checksum, its->until) &&
               coll_i_tcp_get(checksum, 8) ==
                   coll_i_siphash(its->secret, its->room, COLL_I_TCP_RANDOM + all);
    }
    free(said);
    return well;
}

/* ---- all --------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_rdv_visit_at(const coll_i_rdv *its, const coll_tcp_address *where,
                                     uint32_t ranks)
{
    const int fd = coll_i_rdv_connect(where, its->until);
    const bool well = fd >= 0 && coll_i_rdv_visit(its, fd, ranks);
    if (fd >= 0)
        (void)close(fd);
    return well;
}

/* The root of a group hears its ranks, and rank 0 the other roots; then all hear all. */
COLL_INLINE bool coll_i_rdv_serve(const coll_i_rdv *its, int listener,
                                  const coll_tcp_address *first)
{
    const uint32_t g = coll_i_rdv_group(its->p, its->roots, its->rank);
    const uint32_t ranks = coll_i_rdv_root(its->p, its->roots, g + 1) - its->rank;
    const uint32_t wanted = ranks - 1 + (g == 0 ? its->roots - 1 : 0);
    coll_i_rdv_hall hall;
    bool well;
    hall.known = hall.n = 0;
    hall.most = wanted + COLL_I_TCP_STRANGERS;
    hall.guests = (coll_i_rdv_guest *)calloc(hall.most, sizeof *hall.guests);
    hall.polled = (struct pollfd *)calloc(hall.most + 1, sizeof *hall.polled);
    hall.came = (bool *)calloc(its->p, sizeof *hall.came);
    well = hall.guests && hall.polled && hall.came &&
           coll_i_rdv_gather(its, &hall, listener, wanted) &&
           (g == 0 || coll_i_rdv_visit_at(its, first, ranks));
    for (uint32_t i = 0; well && i < hall.known; i++)
        well = coll_i_rdv_give(its, &hall.guests[i]);
    while (hall.n > 0)
        coll_i_rdv_turn_away(&hall, hall.n - 1);
    free(hall.guests);
    free(hall.polled);
    free(hall.came);
    return well;
}

/* This rank's part: where its group's root listens, and rank 0; of a root, what it listens at. */
COLL_INLINE bool coll_i_rdv_meet(const coll_i_rdv *its, int listener,
                                 const coll_tcp_address *where, const coll_tcp_address *first)
{
    const uint32_t g = coll_i_rdv_group(its->p, its->roots, its->rank);
    return its->rank == coll_i_rdv_root(its->p, its->roots, g)
               ? coll_i_rdv_serve(its, listener, first)
               : coll_i_rdv_visit_at(its, where, 1);
}

#endif /* COLL_TRANSPORTS_BOOTSTRAP_RENDEZVOUS_H */
