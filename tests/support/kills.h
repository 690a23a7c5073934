/* tests/support/kills.h — ranks that are processes, of which one is killed at any time: all others end with an
 * error, in bounded time
 *
 *   static int body(uint32_t round) { … opens its rank, and returns calls_until_one_fails(…); }
 *   TEST(all_survivors_hear_of_it) { kill_some(kills, body); }
 *   int main(int argc, char **argv) { kills_asked(argc, argv); RUN(all_survivors_hear_of_it); … }
 */
#ifndef COLL_TESTS_KILLS_H
#define COLL_TESTS_KILLS_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "coll/comm.h"
#include "coll/transports/bootstrap.h"

#ifndef KILLS_MANY /* ranks: a test may ask for more */
#define KILLS_MANY 4
#endif

enum { KILLS_RANKS = KILLS_MANY, KILLS_LONG = 1 << 17, KILLS_ALONE = 2, KILLS_WRONG = 3 };

static uint32_t *
    kills_entered; /* shared: ranks that have ended a call; [1]: 1 + one that killed itself, too */

/* Calls until one fails, on a rank of KILLS_RANKS. Exit code 0: by the loss of a peer, and then all that
 * follow, too. */
static inline int calls_until_one_fails(uint32_t round, const coll_transport *transport,
                                        void *ctx, uint32_t rank)
{
    static int32_t in[KILLS_LONG], out[KILLS_LONG];
    static unsigned char memory[1 << 21];
    coll_comm comm;
    coll_status status =
        coll_comm_init(&comm, transport, ctx, rank, KILLS_RANKS, memory, sizeof memory);
    for (uint32_t i = 0; status == COLL_OK && i < 1000000; i++) {
        const size_t count = (round + i) % 5 == 0   ? KILLS_LONG
                             : (round + i) % 3 == 0 ? 3000
                                                    : 1;
        status = i % 4 == 3   ? coll_barrier(&comm)
                 : i % 4 == 2 ? coll_bcast(&comm, out, count, COLL_I32, i % KILLS_RANKS)
                              : coll_allreduce(&comm, in, out, count, COLL_I32, COLL_SUM);
        if (i == 0)
            __atomic_add_fetch(kills_entered, 1, __ATOMIC_RELEASE);
    }
    if (coll_barrier(&comm) == COLL_OK)
        status = COLL_OK;
    return status == COLL_ERR_IO || status == COLL_ERR_PEER ? 0 : KILLS_WRONG;
}

/* Starts the ranks, kills one, and returns how long the last survivor took, in ms; < 0: one did not end
 * as it should. */
static double kill_one(uint32_t round, uint32_t *random, int (*body)(uint32_t round))
{
    char where[COLL_RENDEZVOUS_TEXT], secret[COLL_RENDEZVOUS_SECRET], number[16];
    const int listener = coll_rendezvous_open(where, secret);
    pid_t pids[KILLS_RANKS];
    uint32_t victim;
    uint64_t killed;
    bool well = CHECK(listener >= 0);
    kills_entered[0] = kills_entered[1] = 0;
    (void)snprintf(number, sizeof number, "%d", KILLS_RANKS);
    setenv("COLL_SIZE", number, 1);
    setenv("COLL_RENDEZVOUS", where, 1);
    setenv("COLL_SECRET", secret, 1);
    (void)snprintf(number, sizeof number, "%d", listener);
    for (uint32_t r = 0; r < KILLS_RANKS; r++) {
        fflush(NULL);
        pids[r] = fork();
        if (pids[r] == 0) {
            char own[16];
            (void)snprintf(own, sizeof own, "%u", r);
            setenv("COLL_RANK", own, 1);
            if (r == 0)
                setenv("COLL_RENDEZVOUS_FD", number, 1);
            else
                (void)close(listener);
            _exit(body(round));
        }
        well = CHECK(pids[r] > 0) && well;
    }
    (void)close(listener);
    *random = *random * 1664525 + 1013904223;
    victim = (*random >> 16) % KILLS_RANKS;
    for (unsigned waited = 0;
         __atomic_load_n(kills_entered, __ATOMIC_ACQUIRE) < KILLS_RANKS && waited < 6000;
         waited++)
        (void)poll(NULL, 0, 5);
    well = CHECK_EQ(*kills_entered, KILLS_RANKS) && well;
    (void)poll(NULL, 0, (int)((*random >> 20) % 60));
    (void)kill(pids[victim], SIGKILL);
    killed = coll_i_tcp_now();
    for (uint32_t r = 0; r < KILLS_RANKS; r++) {
        int state = 0;
        unsigned waited = 0;
        while (waitpid(pids[r], &state, WNOHANG) == 0 && waited++ < 6000)
            (void)poll(NULL, 0, 5);
        if (waited >= 6000) {
            (void)kill(pids[r], SIGKILL);
            (void)waitpid(pids[r], &state, 0);
        }
        if (r == victim || kills_entered[1] == r + 1)
            continue;
        if (!CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0)) {
            printf("    round %u, rank %u: state %#x\n", round, r, (unsigned)state);
            well = false;
        }
    }
    return well ? (double)(coll_i_tcp_now() - killed) : -1;
}

/* Memory that the ranks will share. */
static void *kills_shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return CHECK(memory != MAP_FAILED) ? memory : NULL;
}

/* As often as that; says how long it took. `before`: called before the ranks of each round start; or NULL. */
static void kill_some_after(uint32_t kills, void (*before)(void), int (*body)(uint32_t round))
{
    uint32_t random = 12345;
    double longest = 0;
    kills_entered = (uint32_t *)kills_shared(2 * sizeof *kills_entered);
    if (!kills_entered)
        return;
    unsetenv("PMI_FD");
    for (uint32_t round = 0; round < kills; round++) {
        double took;
        if (before)
            before();
        took = kill_one(round, &random, body);
        longest = took > longest ? took : longest;
    }
    printf("    %u kills: the last survivor had ended after %.3f s at most\n", kills,
           longest / 1e3);
}

static inline void kill_some(uint32_t kills, int (*body)(uint32_t round))
{
    kill_some_after(kills, NULL, body);
}

static uint32_t kills = 20; /* or as many as the first argument says */

static void kills_asked(int argc, char **argv)
{
    if (argc > 1)
        kills = (uint32_t)strtoul(argv[1], NULL, 10);
}

#endif /* COLL_TESTS_KILLS_H */
