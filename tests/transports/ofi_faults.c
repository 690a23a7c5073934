/* Ranks joined by libfabric of which one is killed, at any time: all others end with an error, in bounded time.
 *
 *   ofi_faults [KILLS [PROVIDER]]      20 of them by TCP if nothing is said
 */
#include "coll/transports/ofi.h"
#include "support/kills.h"

static const char *provider = "tcp;ofi_rxm";

static int body(uint32_t round)
{
    char why[COLL_OFI_WHY];
    coll_ofi_options options = {0};
    coll_ofi *ofi;
    int code;
    options.provider = provider;
    options.source = strcmp(provider, "shm") == 0 ? NULL : "127.0.0.1";
    ofi = coll_ofi_launched(&options, why);
    if (!ofi) {
        printf("    %s\n", why);
        return KILLS_ALONE;
    }
    code = calls_until_one_fails(round, &coll_ofi_transport, ofi, coll_ofi_rank(ofi));
    if (code == 0) /* while the others learn of it */
        for (unsigned i = 0; i < 20; i++) {
            coll_i_tagged_move(&ofi->net);
            (void)poll(NULL, 0, 1);
        }
    coll_ofi_abandon(ofi);
    fflush(stdout);
    return code;
}

TEST(all_survivors_hear_of_it)
{
    kill_some(kills, body);
}

int main(int argc, char **argv)
{
    kills_asked(argc, argv);
    if (argc > 2)
        provider = argv[2];
    RUN(all_survivors_hear_of_it);
    return check_done();
}
