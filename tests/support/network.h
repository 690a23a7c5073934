/* tests/support/network.h — ranks of a transport between machines, in one process
 *
 *   static const struct network mine = {"ucx", &coll_ucx_transport, open_rank, address, join, close, …};
 *   network = &mine;
 *   if (!begin(4, 0)) …                 // ranks[0] … ranks[3]
 *   on_threads(body, args, 4);
 *   end();
 */
#ifndef COLL_TESTS_NETWORK_H
#define COLL_TESTS_NETWORK_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll/coll.h"
#include "coll/transports/tcp.h"

enum { NETWORK_MOST = 8 };

struct network {
    const char *name;
    const coll_transport *transport;
    void *(*open)(uint32_t rank, uint32_t p, uint32_t patience, char *why);
    const void *(*address)(const void *rank, size_t *bytes);
    bool (*join)(void *rank, const void *all, size_t bytes, char *why);
    void (*close)(void *rank);
    void (*describe)(const void *rank, char *text,
                     size_t bytes);    /* NULL: there is nothing to tell */
    void (*settled)(const void *rank); /* checks what holds after calls; NULL: nothing more */
    uint32_t depth;                    /* of the kit, with long messages */
    bool sleeps;                       /* it has a descriptor to sleep on */
    bool may_be_full;                  /* its queues are, or are not: nobody knows */
    bool stalls; /* messages between busy ranks may take minutes: only the kit is run */
};

static const struct network *network;
static void *ranks[NETWORK_MOST];
static uint32_t n_ranks;

/* Each rank by a thread of its own, as one may wait for another. */
static inline void on_threads(void *(*body)(void *), void *const *args, uint32_t n)
{
    pthread_t threads[NETWORK_MOST];
    for (uint32_t r = 0; r < n; r++)
        CHECK_EQ(pthread_create(&threads[r], NULL, body, args[r]), 0);
    for (uint32_t r = 0; r < n; r++)
        (void)pthread_join(threads[r], NULL);
}

/* Opens and joins p ranks. */
static inline bool begin(uint32_t p, uint32_t patience)
{
    char why[COLL_TCP_WHY] = "";
    unsigned char *all;
    size_t most = 0, bytes;
    bool well = true;
    n_ranks = p;
    for (uint32_t r = 0; r < p; r++) {
        ranks[r] = network->open(r, p, patience, why);
        if (!CHECK(ranks[r] != NULL)) {
            printf("    %s\n", why);
            return false;
        }
        (void)network->address(ranks[r], &bytes);
        most = bytes > most ? bytes : most;
    }
    all = calloc(p, most);
    for (uint32_t r = 0; r < p; r++) {
        const void *its = network->address(ranks[r], &bytes);
        memcpy(all + r * most, its, bytes);
    }
    for (uint32_t r = 0; r < p; r++)
        if (!CHECK(network->join(ranks[r], all, most, why))) {
            printf("    %s\n", why);
            well = false;
        }
    free(all);
    return well;
}

static inline void *leave(void *rank)
{
    network->close(rank);
    return NULL;
}

static inline void end(void)
{
    on_threads(leave, ranks, n_ranks);
}

#endif /* COLL_TESTS_NETWORK_H */
