/* coll/transports/tagged/watch.h — ranks joined by a library with tagged messages: is a peer still there?
 *
 * Of a peer on the same machine its process tells. One on another machine that says nothing may compute, or be
 * gone, and a library does not always notice. So each rank listens on a TCP socket, from which it never accepts
 * anything: a rank that has waited for a peer for some time connects, and the system of that machine
 * answers, whatever the peer does. When the connection breaks, or none is made within `patience`, the peer is lost.
 *
 * Where no such connections are made at all, as between machines with a firewall, nothing follows from one
 * that fails: a rank tries one with another machine when it joins, to know. More than 1024 ranks of a
 * job, or as many as the system keeps for a listener (net.core.somaxconn), cannot wait for one peer
 * for longer than `patience` while that makes no progress.
 *
 * Use ../ofi.h or ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_TAGGED_WATCH_H
#define COLL_TRANSPORTS_TAGGED_WATCH_H

#include "notices.h"

/* What has become of a connection. */
typedef enum coll_i_tagged_sight {
    COLL_I_TAGGED_UNCLEAR, /* the system is at it */
    COLL_I_TAGGED_THERE,
    COLL_I_TAGGED_GONE
} coll_i_tagged_sight;

/* Where this rank listens: at `interfaces` (tcp.h). Without such a place nobody watches it. */
COLL_INLINE void coll_i_tagged_be_watched(coll_i_tagged *net, const char *interfaces)
{
    coll_tcp_address *own = &net->self.watched;
    if (!coll_i_tcp_choose(interfaces, own))
        return;
    own->port = 0;
    net->listener = coll_i_tcp_listen_at(own);
    if (net->listener < 0)
        memset(own, 0, sizeof *own);
}

/* Begins to connect with a peer; −1: there is no way, or there are no more descriptors. */
COLL_INLINE int coll_i_tagged_watch_begin(const coll_i_tagged *net, uint32_t peer)
{
    const coll_tcp_address *its = &net->processes[peer].watched;
    struct sockaddr_storage address;
    socklen_t length;
    int fd;
    if (its->family == 0)
        return -1;
    length = coll_i_tcp_socket_address(its, &address);
    fd = socket(address.ss_family, SOCK_STREAM, 0);
    if (fd >= 0 && coll_i_tcp_prepare(net->patience, fd) &&
        (connect(fd, (const struct sockaddr *)&address, length) == 0 || errno == EINPROGRESS ||
         errno == EINTR))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

COLL_INLINE coll_i_tagged_sight coll_i_tagged_watch_see(int fd)
{
    struct pollfd polled;
    polled.fd = fd;
    polled.events = POLLIN | POLLOUT;
    polled.revents = 0;
    if (poll(&polled, 1, 0) <= 0)
        return COLL_I_TAGGED_UNCLEAR;
    /* it is never sent anything, so there is only an end to be read */
    return (polled.revents & ~POLLOUT) != 0 ? COLL_I_TAGGED_GONE : COLL_I_TAGGED_THERE;
}

/* Is a peer on this machine, and in the same network of it? */
COLL_INLINE bool coll_i_tagged_is_near(const coll_i_tagged *net, uint32_t peer)
{
    return net->self.machine != 0 && net->processes[peer].machine == net->self.machine;
}

/* Tries whether ranks of other machines can be watched. */
COLL_INLINE void coll_i_tagged_probe(coll_i_tagged *net)
{
    for (uint32_t i = 1; i < net->p && net->probe < 0; i++) {
        const uint32_t peer = (uint32_t)(((uint64_t)net->rank + i) % net->p);
        if (coll_i_tagged_is_near(net, peer))
            continue;
        net->probe = coll_i_tagged_watch_begin(net, peer);
        return;
    }
}

COLL_INLINE void coll_i_tagged_probed(coll_i_tagged *net)
{
    const coll_i_tagged_sight sight =
        net->probe < 0 ? COLL_I_TAGGED_UNCLEAR : coll_i_tagged_watch_see(net->probe);
    if (sight == COLL_I_TAGGED_UNCLEAR)
        return;
    net->watches = net->watches || sight == COLL_I_TAGGED_THERE;
    (void)close(net->probe);
    net->probe = -1;
}

COLL_INLINE void coll_i_tagged_watch_end(coll_i_tagged_link *link)
{
    if (link->watched)
        (void)close(link->watch);
    link->watched = link->seen = false;
}

/* A peer of another machine says nothing: it is watched from now on. */
COLL_INLINE void coll_i_tagged_watch(coll_i_tagged *net, coll_i_tagged_link *link, uint64_t now)
{
    if (link->watched || coll_i_tagged_is_near(net, link->peer))
        return;
    link->watch = coll_i_tagged_watch_begin(net, link->peer);
    link->watched = link->watch >= 0;
    link->watched_since = now;
}

/* Is a peer lost that is watched? */
COLL_INLINE bool coll_i_tagged_watch_misses(coll_i_tagged *net, coll_i_tagged_link *link,
                                            uint64_t now)
{
    coll_i_tagged_sight sight;
    bool seen;
    if (!link->watched)
        return false;
    sight = coll_i_tagged_watch_see(link->watch);
    if (sight == COLL_I_TAGGED_THERE) {
        link->seen = net->watches = true;
        return false;
    }
    if (sight == COLL_I_TAGGED_UNCLEAR &&
        (link->seen || now - link->watched_since < (uint64_t)net->patience * 2 / 3))
        return false;
    seen = link->seen;
    coll_i_tagged_watch_end(link);
    return seen || net->watches;
}

#endif /* COLL_TRANSPORTS_TAGGED_WATCH_H */
