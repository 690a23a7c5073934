/* Ranks joined by UCX of which one is killed, at any time: all others end with an error, in bounded time.
 *
 *   ucx_faults [KILLS]      20 of them if nothing is said, and 20 by TCP alone
 */
#include "coll/transports/ucx.h"
#include "support/kills.h"

static int body(uint32_t round)
{
    char why[COLL_UCX_WHY], text[300];
    coll_ucx *ucx = coll_ucx_launched(NULL, why);
    int code;
    if (!ucx) {
        printf("    %s\n", why);
        return KILLS_ALONE;
    }
    code = calls_until_one_fails(round, &coll_ucx_transport, ucx, coll_ucx_rank(ucx));
    if (round == 0 && coll_ucx_rank(ucx) == 0) {
        coll_ucx_describe(ucx, text, sizeof text);
        printf("    %s\n", text);
    }
    if (code == 0) /* while the others learn of it */
        for (unsigned i = 0; i < 20; i++) {
            coll_i_tagged_move(&ucx->net);
            (void)poll(NULL, 0, 1);
        }
    coll_ucx_abandon(ucx);
    fflush(stdout);
    return code;
}

TEST(all_survivors_hear_of_it)
{
    kill_some(kills, body);
}

TEST(by_tcp_alone)
{
    setenv("UCX_TLS", "tcp,self", 1);
    setenv("UCX_NET_DEVICES", "lo", 1);
    kill_some(kills, body);
}

int main(int argc, char **argv)
{
    kills_asked(argc, argv);
    RUN(all_survivors_hear_of_it);
    RUN(by_tcp_alone);
    return check_done();
}
