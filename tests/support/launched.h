/* tests/support/launched.h — processes of this program as the ranks of a job, which find each other as those of a
 * launcher do
 *
 *   pid_t rank[64];
 *   launched_start(rank, 64, 4, body, argument);      // 4 roots; int body(void *argument) returns 0 if all is well
 *   CHECK(launched_end(rank, 64, 60));                // all did, within 60 s; else they are killed
 */
#ifndef COLL_TESTS_LAUNCHED_H
#define COLL_TESTS_LAUNCHED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/transports/bootstrap.h"

enum { LAUNCHED_ROOTS = 16 };

static inline void launched_set(const char *name, uint32_t value)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", value);
    setenv(name, text, 1);
}

static inline void launched_start(pid_t *rank, uint32_t p, uint32_t roots, int (*body)(void *),
                                  void *argument)
{
    char where[LAUNCHED_ROOTS * COLL_RENDEZVOUS_TEXT] = "", secret[COLL_RENDEZVOUS_SECRET];
    int listener[LAUNCHED_ROOTS];
    for (uint32_t g = 0; g < roots; g++) {
        char *const at = where + strlen(where);
        listener[g] = g == 0 ? coll_rendezvous_open(at, secret) : coll_rendezvous_listen(at);
        if (listener[g] < 0)
            abort();
        if (g + 1 < roots)
            strcat(where, ",");
    }
    unsetenv("PMI_FD");
    launched_set("COLL_SIZE", p);
    setenv("COLL_RENDEZVOUS", where, 1);
    setenv("COLL_SECRET", secret, 1);
    fflush(NULL);
    for (uint32_t r = 0; r < p; r++) {
        rank[r] = fork();
        if (rank[r] < 0)
            abort();
        if (rank[r] > 0)
            continue;
        launched_set("COLL_RANK", r);
        unsetenv("COLL_RENDEZVOUS_FD");
        for (uint32_t g = 0; g < roots; g++)
            if (coll_rendezvous_rank(p, roots, g) == r)
                launched_set("COLL_RENDEZVOUS_FD", (uint32_t)listener[g]);
            else
                (void)close(listener[g]);
        _exit(body(argument));
    }
    for (uint32_t g = 0; g < roots; g++)
        (void)close(listener[g]);
}

static inline bool launched_end(pid_t *rank, uint32_t p, uint32_t seconds)
{
    const uint64_t until = coll_i_tcp_now() + 1000 * (uint64_t)seconds;
    bool well = true;
    for (uint32_t r = 0; r < p; r++) {
        int state = 0;
        while (waitpid(rank[r], &state, WNOHANG) == 0) {
            if (coll_i_tcp_now() > until)
                (void)kill(rank[r], SIGKILL);
            (void)poll(NULL, 0, 2);
        }
        if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
            printf("    rank %u: state %#x\n", r, (unsigned)state);
            well = false;
        }
    }
    return well;
}

#endif /* COLL_TESTS_LAUNCHED_H */
