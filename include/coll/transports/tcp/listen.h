/* coll/transports/tcp/listen.h — ranks joined by TCP: where a rank listens
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_LISTEN_H
#define COLL_TRANSPORTS_TCP_LISTEN_H

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>

#include "connect.h"

/* An address of this machine, as ranks have it; family 0: it is neither IPv4 nor IPv6. */
COLL_INLINE coll_tcp_address coll_i_tcp_address_of(const struct sockaddr *from)
{
    coll_tcp_address to;
    memset(&to, 0, sizeof to);
    if (from && from->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)from;
        to.family = 4;
        to.port = ntohs(in->sin_port);
        memcpy(to.ip, &in->sin_addr, 4);
    } else if (from && from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)from;
        to.family = 6;
        to.port = ntohs(in6->sin6_port);
        to.scope = in6->sin6_scope_id;
        memcpy(to.ip, &in6->sin6_addr, 16);
    }
    return to;
}

/* Is this word a prefix, such as 10.1.0.0/16 or fd00::/8, or an address? Then *bits of *prefix count. */
COLL_INLINE bool coll_i_tcp_prefix(const char *word, coll_tcp_address *prefix, unsigned *bits)
{
    char text[64];
    const char *slash = strchr(word, '/');
    const size_t length = slash ? (size_t)(slash - word) : strlen(word);
    char *end = NULL;
    unsigned long n;
    if (length == 0 || length >= sizeof text)
        return false;
    memcpy(text, word, length);
    text[length] = 0;
    memset(prefix, 0, sizeof *prefix);
    if (inet_pton(AF_INET, text, prefix->ip) == 1)
        prefix->family = 4;
    else if (inet_pton(AF_INET6, text, prefix->ip) == 1)
        prefix->family = 6;
    else
        return false;
    *bits = prefix->family == 4 ? 32 : 128;
    if (!slash)
        return true;
    n = strtoul(slash + 1, &end, 10);
    if (end == slash + 1 || *end || n > *bits)
        return false;
    *bits = (unsigned)n;
    return true;
}

COLL_INLINE bool coll_i_tcp_has_prefix(const coll_tcp_address *its,
                                       const coll_tcp_address *prefix, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++)
        if ((its->ip[i / 8] ^ prefix->ip[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return its->family == prefix->family;
}

/* The first address of an interface of this name, or with this prefix; NULL: of any that is up, and not
 * loopback but if there is no other. */
COLL_INLINE bool coll_i_tcp_find_address(const struct ifaddrs *all, const char *word,
                                         coll_tcp_address *found)
{
    enum { UP = 1, LOOPBACK = 8 }; /* IFF_UP, IFF_LOOPBACK */
    coll_tcp_address prefix;
    unsigned bits = 0;
    const bool by_prefix = word && coll_i_tcp_prefix(word, &prefix, &bits);
    for (unsigned loopback = 0; loopback < 2; loopback++)
        for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
            const coll_tcp_address its = coll_i_tcp_address_of(one->ifa_addr);
            const bool is_loopback = (one->ifa_flags & LOOPBACK) != 0;
            const bool fits = by_prefix ? coll_i_tcp_has_prefix(&its, &prefix, bits)
                              : word    ? strcmp(one->ifa_name, word) == 0
                                        : is_loopback == (loopback != 0);
            if (its.family != 0 && (one->ifa_flags & UP) && fits) {
                *found = its;
                return true;
            }
        }
    return false;
}

/* Chooses an address by the words of `interfaces`. */
COLL_INLINE bool coll_i_tcp_choose(const char *interfaces, coll_tcp_address *found)
{
    struct ifaddrs *all = NULL;
    bool well = false;
    if (getifaddrs(&all) != 0)
        return false;
    if (!interfaces || !*interfaces)
        well = coll_i_tcp_find_address(all, NULL, found);
    while (!well && interfaces && *interfaces) {
        char word[80];
        const size_t length = strcspn(interfaces, ",");
        if (length > 0 && length < sizeof word) {
            memcpy(word, interfaces, length);
            word[length] = 0;
            well = coll_i_tcp_find_address(all, word, found);
        }
        interfaces += length + (interfaces[length] == ',');
    }
    freeifaddrs(all);
    return well;
}

/* Listens at an address, whose port is found out if it is 0. The descriptor, which does not block; −1: errno
 * says why. */
COLL_INLINE int coll_i_tcp_listen_at(coll_tcp_address *where)
{
    struct sockaddr_storage address;
    socklen_t length = coll_i_tcp_socket_address(where, &address);
    const int fd = socket(address.ss_family, SOCK_STREAM, 0);
    int error;
    if (fd < 0)
        return -1;
    if (where->port != 0)
        coll_i_tcp_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
        bind(fd, (const struct sockaddr *)&address, length) == 0 && listen(fd, 1024) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        where->port = coll_i_tcp_address_of((const struct sockaddr *)&address).port;
        return fd;
    }
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

#endif /* COLL_TRANSPORTS_TCP_LISTEN_H */
