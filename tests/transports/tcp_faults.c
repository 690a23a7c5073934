/* Ranks joined by TCP of which one is killed, at any time: all others end with an error, in bounded time.
 *
 *   tcp_faults [KILLS]      20 of them if nothing is said
 */
#include "support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/comm.h"
#include "coll/transports/bootstrap.h"

enum { P = 4, LONG = 1 << 17 };

/* Calls until one fails. Exit code 0: by the loss of a peer, and then all that follow, too. */
static int body(uint32_t round)
{
    static int32_t in[LONG], out[LONG];
    static unsigned char memory[1 << 21];
    char why[COLL_TCP_WHY];
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    coll_comm comm;
    coll_status status;
    if (!tcp)
        return 2;
    status = coll_comm_init(&comm, &coll_tcp_transport, tcp, coll_tcp_rank(tcp),
                            coll_tcp_size(tcp), memory, sizeof memory);
    for (uint32_t i = 0; status == COLL_OK && i < 1000000; i++) {
        const size_t count = (round + i) % 5 == 0 ? LONG : (round + i) % 3 == 0 ? 3000 : 1;
        status = i % 4 == 3   ? coll_barrier(&comm)
                 : i % 4 == 2 ? coll_bcast(&comm, out, count, COLL_I32, i % P)
                              : coll_allreduce(&comm, in, out, count, COLL_I32, COLL_SUM);
    }
    if (coll_barrier(&comm) == COLL_OK)
        status = COLL_OK;
    if (status == COLL_ERR_IO || status == COLL_ERR_PEER) /* while the others learn of it */
        for (unsigned i = 0; i < 20; i++)
            (void)coll_i_tcp_sweep(tcp, 1);
    coll_tcp_abandon(tcp);
    return status == COLL_ERR_IO || status == COLL_ERR_PEER ? 0 : 3;
}

static double seconds_now(void)
{
    return (double)coll_i_tcp_now() / 1e3;
}

/* Starts P ranks, kills one, and returns how long the last survivor took; < 0: one did not end as it should. */
static double kill_one(uint32_t round, uint32_t *random)
{
    char where[COLL_RENDEZVOUS_TEXT], secret[COLL_RENDEZVOUS_SECRET], number[16];
    const int listener = coll_rendezvous_open(where, secret);
    pid_t ranks[P];
    uint32_t victim;
    double killed;
    bool well = CHECK(listener >= 0);
    setenv("COLL_SIZE", "4", 1);
    setenv("COLL_RENDEZVOUS", where, 1);
    setenv("COLL_SECRET", secret, 1);
    (void)snprintf(number, sizeof number, "%d", listener);
    for (uint32_t r = 0; r < P; r++) {
        fflush(NULL);
        ranks[r] = fork();
        if (ranks[r] == 0) {
            char own[16];
            (void)snprintf(own, sizeof own, "%u", r);
            setenv("COLL_RANK", own, 1);
            if (r == 0)
                setenv("COLL_RENDEZVOUS_FD", number, 1);
            else
                (void)close(listener);
            _exit(body(round));
        }
        well = CHECK(ranks[r] > 0) && well;
    }
    (void)close(listener);
    *random = *random * 1664525 + 1013904223;
    victim = *random >> 16 & 3;
    (void)poll(NULL, 0,
               (int)(100 + (*random >> 20) % 60)); /* most are in their calls by then */
    (void)kill(ranks[victim], SIGKILL);
    killed = seconds_now();
    for (uint32_t r = 0; r < P; r++) {
        int state = 0;
        unsigned waited = 0;
        while (waitpid(ranks[r], &state, WNOHANG) == 0 && waited++ < 6000)
            (void)poll(NULL, 0, 5);
        if (waited >= 6000) {
            (void)kill(ranks[r], SIGKILL);
            (void)waitpid(ranks[r], &state, 0);
        }
        if (r == victim)
            continue;
        /* 2: it was not in its calls yet, and the victim did not come */
        if (!CHECK(WIFEXITED(state) && (WEXITSTATUS(state) == 0 || WEXITSTATUS(state) == 2))) {
            printf("    round %u, rank %u: state %#x\n", round, r, (unsigned)state);
            well = false;
        }
    }
    return well ? seconds_now() - killed : -1;
}

static uint32_t kills = 20;

TEST(all_survivors_hear_of_it)
{
    uint32_t random = 12345;
    double longest = 0;
    unsetenv("PMI_FD");
    for (uint32_t round = 0; round < kills; round++) {
        const double took = kill_one(round, &random);
        longest = took > longest ? took : longest;
    }
    printf("    %u kills: the last survivor had ended after %.3f s at most\n", kills, longest);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        kills = (uint32_t)strtoul(argv[1], NULL, 10);
    RUN(all_survivors_hear_of_it);
    return check_done();
}
