/* Ranks joined by libfabric, on this machine, over TCP and UDP: the conformance kit,
 * collectives, and what may go wrong.
 *
 *   ofi [PROVIDER…]      tcp;ofi_rxm and udp;ofi_rxd if nothing is said
 */
#include "coll/transports/ofi.h"
#include "support/tagged.h"

static coll_ofi_options options;

static void *open_rank(uint32_t rank, uint32_t p, uint32_t patience, char *why)
{
    options.patience = patience;
    return coll_ofi_open(rank, p, &options, why);
}

static const void *address(const void *rank, size_t *bytes)
{
    return coll_ofi_own_address((const coll_ofi *)rank, bytes);
}

static bool join(void *rank, const void *all, size_t bytes, char *why)
{
    return coll_ofi_join((coll_ofi *)rank, all, bytes, why);
}

static void close_rank(void *rank)
{
    coll_ofi_close((coll_ofi *)rank);
}

static void describe(const void *rank, char *text, size_t bytes)
{
    coll_ofi_describe((const coll_ofi *)rank, text, bytes);
}

/* By one provider, over loopback. */
static void by(const char *provider)
{
    struct network its = {NULL,      &coll_ofi_transport,
                          open_rank, address,
                          join,      close_rank,
                          describe,  NULL,
                          200,       true,
                          true,      false};
    its.name = options.provider = provider;
    its.stalls = strcmp(provider, "udp;ofi_rxd") == 0;
    its.sleeps = !its.stalls;
    options.source = strcmp(provider, "shm") == 0 ? NULL : "127.0.0.1";
    network_tests(&its);
}

TEST(what_is_refused)
{
    char why[COLL_OFI_WHY];
    options.source = NULL;
    if (FI_VERSION_LT(fi_version(), FI_VERSION(1, 18))) {
        options.provider = "shm";
        CHECK(coll_ofi_open(0, 2, &options, why) == NULL);
        CHECK(strstr(why, "shm of libfabric 1.17 loses messages") != NULL);
    }
    options.provider = "nothing";
    CHECK(coll_ofi_open(0, 2, &options, why) == NULL);
    CHECK(strstr(why, "no provider nothing") != NULL);
    options.provider = "tcp;ofi_rxm";
    options.source = "198.51.100.1";
    CHECK(coll_ofi_open(0, 2, &options, why) == NULL);
    CHECK(strstr(why, "libfabric") != NULL || strstr(why, "cannot be opened") != NULL);
    CHECK(coll_ofi_open(2, 2, &options, why) == NULL);
    CHECK(strstr(why, "no rank 2 of 2") != NULL);
}

int main(int argc, char **argv)
{
    static const char *const providers[] = {"tcp;ofi_rxm", "udp;ofi_rxd"};
    if (argc > 1) {
        for (int i = 1; i < argc; i++)
            by(argv[i]);
        return check_done();
    }
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++)
        by(providers[i]);
    options.always_register = true;
    by("tcp;ofi_rxm");
    RUN(what_is_refused);
    return check_done();
}
