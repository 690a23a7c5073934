/* coll/transports/node/spread.h — ranks that share memory: they spread over the processors
 *
 * Two ranks that wait for each other by yields take one processor, half of it each, as far as the
 * system can see, and each has always run a moment ago: so Linux leaves them together for seconds
 * where other programs, even those of the lowest priority, keep the other processors busy, and has
 * often put them together at the start for the same reason. A call then takes two switches, or some
 * ten of a stranger's turns, instead of a few lines of memory. So where a processor has two ranks more
 * than another one that may be used, the highest of them moves there: by a set of that processor
 * alone, and then the set that it had, which is not touched if it has changed meanwhile.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_SPREAD_H
#define COLL_TRANSPORTS_NODE_SPREAD_H

#include "world.h"

/* 0: ranks run where the system puts them, and sched_setaffinity is never called. */
#ifndef COLL_NODE_SPREAD
#define COLL_NODE_SPREAD 1
#endif

/* µs between two looks, of which each costs a few system calls at most; the system balances its
 * processors every few milliseconds, too. */
enum { COLL_I_NODE_SPREAD_EVERY = 5000 };

/* The ranks on a processor, counted from 1, as far as they have told; `highest`: one of them. */
COLL_INLINE uint32_t coll_i_node_ranks_on(const coll_i_node_rank *me, uint32_t processor,
                                          uint32_t *highest)
{
    uint32_t ranks = 0;
    for (uint32_t r = 0; r < me->p; r++)
        if (__atomic_load_n(&me->cpus[r], __ATOMIC_RELAXED) == processor) {
            ranks++;
            *highest = r;
        }
    return ranks;
}

/* A processor of the set with at least two ranks less than this one has, the nearest by its number,
 * as neighbours mostly share a cache; counted from 1; 0: there is none. */
COLL_INLINE uint32_t coll_i_node_emptier(const coll_i_node_rank *me, const uint64_t *set)
{
    const uint32_t here = me->cpus[me->rank];
    uint32_t best = 0, distance = UINT32_MAX, highest = 0;
    const uint32_t company = coll_i_node_ranks_on(me, here, &highest);
    if (company < 2 || highest != me->rank)
        return 0;
    for (uint32_t i = 0; i < COLL_PROCESSORS_WORDS * 64; i++) {
        const uint32_t there = i + 1, off = there > here ? there - here : here - there;
        uint32_t unused;
        if ((set[i / 64] >> i % 64 & 1) && off < distance &&
            coll_i_node_ranks_on(me, there, &unused) + 2 <= company) {
            best = there;
            distance = off;
        }
    }
    return best;
}

/* Moves this thread to a processor that has fewer ranks, if there is one. */
COLL_INLINE void coll_i_node_spread(coll_i_node_rank *me)
{
#if defined(SYS_sched_setaffinity)
    uint64_t usual[COLL_PROCESSORS_WORDS] = {0}, alone[COLL_PROCESSORS_WORDS] = {0};
    uint64_t now;
    uint32_t there;
    if (!COLL_NODE_SPREAD || me->cpus[me->rank] == 0)
        return;
    now = coll_i_node_microseconds();
    if (now - me->spread < COLL_I_NODE_SPREAD_EVERY)
        return;
    me->spread = now;
    if (syscall(SYS_sched_getaffinity, 0l, sizeof usual, usual) <= 0)
        return;
    there = coll_i_node_emptier(me, usual);
    if (there == 0)
        return;
    alone[(there - 1) / 64] = (uint64_t)1 << (there - 1) % 64;
    if (syscall(SYS_sched_setaffinity, 0l, sizeof alone, alone) == 0) {
        uint64_t found[COLL_PROCESSORS_WORDS] = {0};
        if (syscall(SYS_sched_getaffinity, 0l, sizeof found, found) > 0 &&
            memcmp(found, alone, sizeof found) == 0)
            (void)syscall(SYS_sched_setaffinity, 0l, sizeof usual, usual);
        __atomic_store_n(&me->cpus[me->rank], there, __ATOMIC_RELAXED);
    }
#else
    (void)me;
#endif
}

#endif /* COLL_TRANSPORTS_NODE_SPREAD_H */
