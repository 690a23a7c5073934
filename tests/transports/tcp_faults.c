/* Ranks joined by TCP of which one is killed, at any time: all others end with an error, in bounded time.
 *
 *   tcp_faults [KILLS]      20 of them if nothing is said
 */
#include "support/kills.h"

static int body(uint32_t round)
{
    char why[COLL_TCP_WHY];
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    int code;
    if (!tcp)
        return KILLS_ALONE;
    code = calls_until_one_fails(round, &coll_tcp_transport, tcp, coll_tcp_rank(tcp));
    if (code == 0) /* while the others learn of it */
        for (unsigned i = 0; i < 20; i++)
            (void)coll_i_tcp_sweep(tcp, 1);
    coll_tcp_abandon(tcp);
    return code;
}

TEST(all_survivors_hear_of_it)
{
    kill_some(kills, body);
}

int main(int argc, char **argv)
{
    kills_asked(argc, argv);
    RUN(all_survivors_hear_of_it);
    return check_done();
}
