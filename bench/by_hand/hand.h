/* bench/by_hand/hand.h — what schedules that are written by hand need of a network: to send and receive at once */
#ifndef COLL_BENCH_HAND_H
#define COLL_BENCH_HAND_H

#include <sched.h>

#include "../bench.h"

enum { HAND_RANKS = 8, HAND_ADDRESS = 1 << 10 };

/* A rank. */
typedef struct hand {
    uint32_t rank, p;
    bool yields; /* ranks share processors: whoever finds nothing gives way */
    /* Sends to one rank and receives from one, from memory to memory, and ends when both are done. */
    void (*exchange)(struct hand *me, uint32_t to, const void *out, uint32_t from, void *in,
                     size_t bytes);
    void *net;
} hand;

/* What others need to know to connect with a rank. */
typedef struct hand_address {
    size_t bytes;
    unsigned char at[HAND_ADDRESS];
} hand_address;

static inline void hand_stop(bool well, const char *what)
{
    if (well)
        return;
    fprintf(stderr, "by_hand: %s\n", what);
    exit(1);
}

static inline void hand_found(const hand *me, bool something)
{
    if (!something && me->yields)
        (void)sched_yield();
}

#endif /* COLL_BENCH_HAND_H */
