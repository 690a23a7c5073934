/* tests/support/network_tcp.h — ranks joined by TCP, over loopback, in one process: for network.h */
#ifndef COLL_TESTS_NETWORK_TCP_H
#define COLL_TESTS_NETWORK_TCP_H

#include "network.h"

static const unsigned char secret[COLL_TCP_SECRET] = "we know it, too";

static inline void *tcp_open(uint32_t rank, uint32_t p, uint32_t patience, char *why)
{
    coll_tcp_options options = {0};
    options.interfaces = "127.0.0.0/8";
    options.secret = secret;
    options.patience = patience;
    return coll_tcp_open(rank, p, &options, why);
}

static inline const void *tcp_address(const void *rank, size_t *bytes)
{
    *bytes = sizeof(coll_tcp_address);
    return &((const coll_tcp *)rank)->own;
}

static inline bool tcp_join(void *rank, const void *all, size_t bytes, char *why)
{
    (void)bytes;
    return coll_tcp_join((coll_tcp *)rank, (const coll_tcp_address *)all, why);
}

static inline void tcp_close(void *rank)
{
    coll_tcp_close((coll_tcp *)rank);
}

static inline void tcp_settled(const void *rank)
{
    CHECK_EQ(((const coll_tcp *)rank)->kept, 0);
}

static const struct network network_tcp = {
    "tcp", &coll_tcp_transport, tcp_open, tcp_address, tcp_join, tcp_close,
    NULL,  tcp_settled,         300,      true,        false,    false};

#endif /* COLL_TESTS_NETWORK_TCP_H */
