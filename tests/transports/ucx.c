/* Ranks joined by UCX, on this machine: the conformance kit, collectives, and what may go wrong. */
#include "coll/transports/ucx.h"
#include "support/tagged.h"

static void *open_rank(uint32_t rank, uint32_t p, uint32_t patience, char *why)
{
    coll_ucx_options options = {0};
    options.patience = patience;
    return coll_ucx_open(rank, p, &options, why);
}

static const void *address(const void *rank, size_t *bytes)
{
    return coll_ucx_own_address((const coll_ucx *)rank, bytes);
}

static bool join(void *rank, const void *all, size_t bytes, char *why)
{
    return coll_ucx_join((coll_ucx *)rank, all, bytes, why);
}

static void close_rank(void *rank)
{
    coll_ucx_close((coll_ucx *)rank);
}

static void describe(const void *rank, char *text, size_t bytes)
{
    coll_ucx_describe((const coll_ucx *)rank, text, bytes);
}

int main(void)
{
    static const struct network shared = {"ucx",     &coll_ucx_transport,
                                          open_rank, address,
                                          join,      close_rank,
                                          describe,  NULL,
                                          200,       true,
                                          true,      false};
    struct network tcp = shared;
    char why[COLL_UCX_WHY];
    network_tests(&shared);
    tcp.name = "ucx by tcp alone";
    setenv("UCX_TLS", "tcp,self", 1);
    setenv("UCX_NET_DEVICES", "lo", 1);
    network_tests(&tcp);
    setenv("UCX_TLS", "nothing", 1);
    CHECK(coll_ucx_open(0, 2, NULL, why) == NULL);
    CHECK(strstr(why, "UCX cannot be opened") != NULL);
    CHECK(coll_ucx_open(2, 2, NULL, why) == NULL);
    CHECK(strstr(why, "no rank 2 of 2") != NULL);
    return check_done();
}
