/* coll/transports/node/measure_costs.h — ranks that share memory: measures what the machine takes
 *
 * A second thread, on another processor if there is one, plays the other rank: it throws a line, fills
 * slots, writes what the kernel then copies, or reads itself meanwhile. Each value is the least of a
 * few, as what else runs on the machine only adds to them. The thread that asks is kept on one
 * processor meanwhile. It takes some 60 ms, up to 300 where others run, and ends after half a second
 * at the latest, whatever they do.
 *
 * Use threads.h or shm.h. Linux: elsewhere nothing is measured.
 */
#ifndef COLL_TRANSPORTS_NODE_MEASURE_COSTS_H
#define COLL_TRANSPORTS_NODE_MEASURE_COSTS_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "../clock.h"
#include "../huge.h"
#include "../idle.h"
#include "costs.h"

#if defined(MAP_ANONYMOUS) /* strict C99 hides it */
#define COLL_I_NODE_ANONYMOUS MAP_ANONYMOUS
#else
#define COLL_I_NODE_ANONYMOUS 0x20
#endif

enum {
    COLL_I_NODE_MEASURED_MS = 500, /* of all measurements, at most … */
    COLL_I_NODE_SHARE_MS = 30,     /* … and of one, once it has three samples */
    COLL_I_NODE_SAMPLES = 9, /* of each value, at most; three at least, else it is not known */
    COLL_I_NODE_YIELDS = 8,  /* the same with yields, which may last for milliseconds */
    COLL_I_NODE_SWITCH_NS = 20000, /* … longer than any switch takes by itself */
    COLL_I_NODE_BALLS = 64,        /* throws of a line in a sample, there and back */
    COLL_I_NODE_PIPE_SLOTS = 8,    /* slots, as many and as long as those of shm.h */
    COLL_I_NODE_PIPE_SLOT = 1 << 15,
    COLL_I_NODE_LONG = 1 << 18, /* bytes of a long message */
    COLL_I_NODE_BRIEF = 1 << 14 /* bytes that stay in the nearest caches */
};

/* What two threads do at the same time. */
typedef enum coll_i_node_job {
    COLL_I_NODE_THROW, /* a line, from one to the other and back */
    COLL_I_NODE_YIELD, /* the same, on one processor */
    COLL_I_NODE_PIPE,  /* the second sends through slots */
    COLL_I_NODE_SWAP,  /* both do */
    COLL_I_NODE_START, /* the second writes, and the kernel copies a line of it for the first */
    COLL_I_NODE_PULL,  /* … all of it */
    COLL_I_NODE_PULLS, /* … and that of the first for the second */
    COLL_I_NODE_END
} coll_i_node_job;

/* Memory of one of the two, each part on lines of its own. */
typedef struct coll_i_node_side {
    uint32_t turn; /* how far it is: counts up */
    unsigned char pad[60];
    uint32_t full; /* slots that it has filled, in all … */
    unsigned char pad2[60];
    uint32_t taken; /* … and that it has emptied of the other's */
    unsigned char pad3[60];
    unsigned char *slots, *message, *into;
} coll_i_node_side;

typedef struct coll_i_node_bench {
    coll_i_node_side side[2];
    uint32_t job, rounds; /* what the second is to do; how many jobs were given */
    bool huge;            /* its memory is on huge pages */
    bool late;            /* there is no time left */
    bool apart;           /* the two have a processor each */
    uint64_t until;       /* ns */
    int32_t here, there;  /* processors */
} coll_i_node_bench;

/* Keeps this thread on a processor. */
COLL_INLINE void coll_i_node_pin(int32_t processor)
{
    uint64_t set[COLL_PROCESSORS_WORDS] = {0};
    if (processor < 0)
        return;
    set[processor / 64] = (uint64_t)1 << processor % 64;
    (void)syscall(SYS_sched_setaffinity, 0l, sizeof set, set);
}

/* Is there no time left? The other one may say so at any moment. */
COLL_INLINE bool coll_i_node_is_late(const coll_i_node_bench *b)
{
    return __atomic_load_n(&b->late, __ATOMIC_RELAXED);
}

/* Waits until a word is not below `least`; false: there is no time left. `gives`: the other is on the same
 * processor. */
COLL_INLINE bool coll_i_node_await(coll_i_node_bench *b, const uint32_t *word, uint32_t least,
                                   bool gives)
{
    enum { LOOKS = 2000 };
    for (uint32_t looks = 1; (int32_t)(__atomic_load_n(word, __ATOMIC_ACQUIRE) - least) < 0;
         looks++) {
        if (gives) /* else it stays, as both have to run at the same time, whoever else wants to */
            (void)sched_yield();
        else
            coll_pause();
        if ((gives || looks % LOOKS == 0) && coll_clock_ns() > b->until)
            __atomic_store_n(&b->late, true, __ATOMIC_RELAXED);
        if (coll_i_node_is_late(b))
            return false;
    }
    return true;
}

COLL_INLINE void coll_i_node_set(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Throws a line and catches it: the first (0) begins. */
COLL_INLINE void coll_i_node_throw(coll_i_node_bench *b, uint32_t who, bool gives)
{
    uint32_t *const mine = &b->side[who].turn, *const its = &b->side[1 - who].turn;
    const uint32_t from = *mine, balls = gives ? COLL_I_NODE_YIELDS : COLL_I_NODE_BALLS;
    for (uint32_t i = 1; i <= balls; i++) {
        if (who == 0)
            coll_i_node_set(mine, from + i);
        if (!coll_i_node_await(b, its, from + i, gives))
            return;
        if (who == 1)
            coll_i_node_set(mine, from + i);
    }
}

/* Writes a word to each line that was taken out of a slot, as node/copies.h does. */
COLL_INLINE void coll_i_node_leave_slot(unsigned char *slot)
{
    for (size_t at = 0; at < COLL_I_NODE_PIPE_SLOT; at += 64)
        *(volatile uint32_t *)(void *)(slot + at) = 0;
}

/* Sends a long message through slots (`sends`), receives one, or both by turns. */
COLL_INLINE void coll_i_node_pipe(coll_i_node_bench *b, uint32_t who, bool sends, bool receives)
{
    enum { PIECES = COLL_I_NODE_LONG / COLL_I_NODE_PIPE_SLOT };
    coll_i_node_side *me = &b->side[who], *it = &b->side[1 - who];
    const uint32_t full = me->full, taken = me->taken;
    for (uint32_t i = 0; i < PIECES; i++) {
        const uint32_t out = full + i, in = taken + i;
        const size_t at = (size_t)i * COLL_I_NODE_PIPE_SLOT;
        if (sends) {
            unsigned char *const slot =
                me->slots + out % COLL_I_NODE_PIPE_SLOTS * COLL_I_NODE_PIPE_SLOT;
            if (!coll_i_node_await(b, &it->taken, out + 1 - COLL_I_NODE_PIPE_SLOTS, false))
                return;
            memcpy(slot, me->message + at, COLL_I_NODE_PIPE_SLOT);
            coll_i_node_set(&me->full, out + 1);
        }
        if (receives) {
            unsigned char *const slot =
                it->slots + in % COLL_I_NODE_PIPE_SLOTS * COLL_I_NODE_PIPE_SLOT;
            if (!coll_i_node_await(b, &it->full, in + 1, false))
                return;
            memcpy(me->into + at, slot, COLL_I_NODE_PIPE_SLOT);
            coll_i_node_leave_slot(slot);
            coll_i_node_set(&me->taken, in + 1);
        }
    }
}

/* Has the kernel copy so many bytes out of the other one's memory; false: it does not. */
COLL_INLINE bool coll_i_node_pull(coll_i_node_bench *b, uint32_t who, size_t bytes)
{
    struct iovec to, its;
    to.iov_base = b->side[who].into;
    its.iov_base = b->side[1 - who].message;
    to.iov_len = its.iov_len = bytes;
    return syscall(SYS_process_vm_readv, (long)getpid(), &to, 1ul, &its, 1ul, 0ul) ==
           (long)bytes;
}

/* One side's part of a job; false: the kernel makes no such copy. */
COLL_INLINE bool coll_i_node_work(coll_i_node_bench *b, uint32_t who, coll_i_node_job job)
{
    switch (job) {
    case COLL_I_NODE_THROW:
    case COLL_I_NODE_YIELD:
        coll_i_node_throw(b, who, job == COLL_I_NODE_YIELD);
        return true;
    case COLL_I_NODE_PIPE:
        coll_i_node_pipe(b, who, who == 1, who == 0);
        return true;
    case COLL_I_NODE_SWAP:
        coll_i_node_pipe(b, who, true, true);
        return true;
    case COLL_I_NODE_START:
        return who == 1 || coll_i_node_pull(b, who, 64);
    case COLL_I_NODE_PULL:
        return who == 1 || coll_i_node_pull(b, who, COLL_I_NODE_LONG);
    case COLL_I_NODE_PULLS:
        return coll_i_node_pull(b, who, COLL_I_NODE_LONG);
    case COLL_I_NODE_END:
        break;
    }
    return true;
}

/* Both write their messages, meet, and work. (One may begin with the next while the other one still reads:
 * where others run, each time that two meet takes as long as a turn of theirs.) */
COLL_INLINE bool coll_i_node_meet_and_work(coll_i_node_bench *b, uint32_t who,
                                           coll_i_node_job job, uint64_t *ns)
{
    uint32_t *const mine = &b->side[who].turn, *const its = &b->side[1 - who].turn;
    const bool gives = !b->apart || job == COLL_I_NODE_YIELD;
    uint64_t begin;
    bool well;
    memset(b->side[who].message, (int)__atomic_load_n(&b->rounds, __ATOMIC_RELAXED),
           COLL_I_NODE_LONG);
    coll_i_node_set(mine, *mine + 1);
    if (!coll_i_node_await(b, its, *mine, gives))
        return true;
    begin = coll_clock_ns();
    well = coll_i_node_work(b, who, job);
    *ns = coll_clock_ns() - begin;
    return well;
}

COLL_INLINE void *coll_i_node_second(void *of)
{
    coll_i_node_bench *b = (coll_i_node_bench *)of;
    bool near = false;
    coll_i_node_pin(b->there);
    for (uint32_t round = 1;; round++) {
        uint64_t ns;
        coll_i_node_job job;
        if (!coll_i_node_await(b, &b->rounds, round, !b->apart))
            return NULL;
        job = (coll_i_node_job)__atomic_load_n(&b->job, __ATOMIC_RELAXED);
        if (job == COLL_I_NODE_END)
            return NULL;
        if (near != (job == COLL_I_NODE_YIELD)) {
            near = !near;
            coll_i_node_pin(near ? b->here : b->there);
        }
        (void)coll_i_node_meet_and_work(b, 1, job, &ns);
    }
}

/* The least of n values. */
COLL_INLINE uint64_t coll_i_node_least(const uint64_t *values, uint32_t n)
{
    uint64_t least = values[0];
    for (uint32_t i = 1; i < n; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

/* Nanoseconds of a job; 0: it was not measured, or the kernel does not do it. */
COLL_INLINE uint64_t coll_i_node_time(coll_i_node_bench *b, coll_i_node_job job)
{
    enum { LEAST = 3 };
    uint64_t values[COLL_I_NODE_SAMPLES], warm;
    const uint64_t begin = coll_clock_ns();
    uint32_t n = 0;
    if (coll_i_node_is_late(b)) /* the other one may still be at work */
        return 0;
    for (uint32_t i = 0; i <= COLL_I_NODE_SAMPLES; i++) {
        if (n >= LEAST && coll_clock_ns() - begin > (uint64_t)COLL_I_NODE_SHARE_MS * 1000000)
            break;
        __atomic_store_n(&b->job, (uint32_t)job, __ATOMIC_RELAXED);
        coll_i_node_set(&b->rounds, b->rounds + 1);
        if (!coll_i_node_meet_and_work(b, 0, job, i == 0 ? &warm : &values[n]))
            return 0;
        if (coll_i_node_is_late(b))
            break;
        n += i > 0;
    }
    return n >= LEAST ? coll_i_node_least(values, n) + 1 : 0;
}

/* ---- values ------------------------------------------------------------------------------- */

/* A value as the record has it: 1 … COLL_NODE_COST_MOST. */
COLL_INLINE uint32_t coll_i_node_value(uint64_t value)
{
    const uint64_t most = COLL_NODE_COST_MOST;
    return value < 1 ? 1 : (uint32_t)(value < most ? value : most);
}

/* Picoseconds a byte of a long message that takes so long, of which `start` are no bytes'. */
COLL_INLINE uint32_t coll_i_node_byte_ps(uint64_t ns, uint64_t start)
{
    return coll_i_node_value((ns > start ? ns - start : 0) * 1000 / COLL_I_NODE_LONG);
}

/* What one rank does alone. */
COLL_INLINE void coll_i_node_measure_alone(coll_node_costs *costs, coll_i_node_bench *b)
{
    enum { LOOKS = 256, COPIES = 8 };
    uint64_t looks[COLL_I_NODE_SAMPLES], copies[COLL_I_NODE_SAMPLES];
    for (uint32_t i = 0; i < COLL_I_NODE_SAMPLES; i++) {
        uint64_t begin = coll_clock_ns();
        for (uint32_t k = 0; k < LOOKS; k++) {
            (void)__atomic_load_n(&b->side[1].turn, __ATOMIC_ACQUIRE);
            coll_pause();
        }
        looks[i] = coll_clock_ns() - begin;
        begin = coll_clock_ns();
        for (uint32_t k = 0; k < COPIES; k++) {
            memcpy(b->side[0].into, b->side[0].message, COLL_I_NODE_BRIEF);
            __asm__ volatile("" ::"r"(b->side[0].into) : "memory");
        }
        copies[i] = coll_clock_ns() - begin;
    }
    costs->look_ns = coll_i_node_value(coll_i_node_least(looks, COLL_I_NODE_SAMPLES) / LOOKS);
    costs->copy_ps = coll_i_node_value(coll_i_node_least(copies, COLL_I_NODE_SAMPLES) * 1000 /
                                       ((uint64_t)COPIES * COLL_I_NODE_BRIEF));
}

/* Memory of both on huge pages, and how long it took to move an extent there; false: it is not. */
COLL_INLINE bool coll_i_node_go_huge(coll_node_costs *costs, unsigned char *memory)
{
    uint64_t ns[2];
    enum {
        HUGE_PAGES = 14
    }; /* MADV_HUGEPAGE, as <sys/mman.h> has it where it is asked for more */
    if (!coll_huge_is_possible() || madvise(memory, 2 * COLL_HUGE_PAGE, HUGE_PAGES) != 0)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t begin = coll_clock_ns();
        if (!coll_huge_move(memory + (size_t)i * COLL_HUGE_PAGE))
            return false;
        ns[i] = coll_clock_ns() - begin;
    }
    /* the longer one: the system may have moved the other in the meantime, by itself */
    costs->move_ns = coll_i_node_value(ns[0] > ns[1] ? ns[0] : ns[1]);
    return true;
}

/* What the kernel's copies take, as far as it makes any. `memory`: two extents, in which both have their
 * messages. */
COLL_INLINE void coll_i_node_measure_kernel(coll_node_costs *costs, coll_i_node_bench *b,
                                            unsigned char *memory)
{
    uint64_t ns[3], start = coll_i_node_time(b, COLL_I_NODE_START);
    coll_node_costs its = *costs;
    its.kernel_ns = its.small_ps = its.small_swap_ps = its.huge_ps = its.huge_swap_ps = 0;
    if (start == 0) {
        if (!coll_i_node_is_late(b))
            *costs = its;
        return;
    }
    its.kernel_ns = coll_i_node_value(start);
    for (int huge = 0; huge < 2; huge++) {
        if (huge && !coll_i_node_go_huge(&its, memory))
            break;
        if (huge)
            start = coll_i_node_time(b, COLL_I_NODE_START);
        ns[0] = coll_i_node_time(b, COLL_I_NODE_PULL);
        ns[1] = coll_i_node_time(b, COLL_I_NODE_PULLS);
        if (coll_i_node_is_late(b) || ns[0] == 0 || ns[1] == 0)
            return;
        *(huge ? &its.huge_ps : &its.small_ps) = coll_i_node_byte_ps(ns[0], start);
        *(huge ? &its.huge_swap_ps : &its.small_swap_ps) = coll_i_node_byte_ps(ns[1], start);
    }
    *costs = its;
}

/* What two ranks do. False: there was not time enough, but for what a yield takes, which may stay
 * unknown: it lasts as long as others like. */
COLL_INLINE bool coll_i_node_measure_two(coll_node_costs *costs, coll_i_node_bench *b,
                                         unsigned char *memory)
{
    uint64_t ns;
    if (b->apart) {
        if ((ns = coll_i_node_time(b, COLL_I_NODE_THROW)) > 0)
            costs->line_ns = coll_i_node_value(ns / (2 * COLL_I_NODE_BALLS));
        if ((ns = coll_i_node_time(b, COLL_I_NODE_PIPE)) > 0)
            costs->slot_ps = coll_i_node_byte_ps(ns, 0);
        if ((ns = coll_i_node_time(b, COLL_I_NODE_SWAP)) > 0)
            costs->swap_ps = coll_i_node_byte_ps(ns, 0);
        coll_i_node_measure_kernel(costs, b, memory);
    }
    if (coll_i_node_is_late(b))
        return false;
    ns = coll_i_node_time(b, COLL_I_NODE_YIELD) / (2 * COLL_I_NODE_YIELDS);
    if (ns > 0 && ns < COLL_I_NODE_SWITCH_NS) /* else others had the processor meanwhile */
        costs->yield_ns = coll_i_node_value(ns);
    return true;
}

/* The processors that the two run on: this thread's, and another one. */
COLL_INLINE void coll_i_node_choose(coll_i_node_bench *b, const uint64_t *set)
{
    unsigned here = 0;
    b->here = b->there = -1;
    if (syscall(SYS_getcpu, &here, NULL, NULL) == 0 && here < COLL_PROCESSORS_WORDS * 64)
        b->here = b->there = (int32_t)here;
    for (int32_t i = 0; b->here >= 0 && i < COLL_PROCESSORS_WORDS * 64; i++)
        if (i != b->here && (set[i / 64] >> i % 64 & 1))
            b->there = i;
    b->apart = b->there != b->here;
}

/* Measures what this machine takes, and writes it. False: not all of it, as other programs kept both
 * processors, or there is no memory; then it stays as it was. */
COLL_INLINE bool coll_node_costs_measure(coll_node_costs *costs)
{
    coll_node_costs its = *costs;
    bool all;
    enum { SMALL_PAGES = 15 }; /* MADV_NOHUGEPAGE */
    const size_t extent = COLL_HUGE_PAGE,
                 slots = (size_t)COLL_I_NODE_PIPE_SLOTS * COLL_I_NODE_PIPE_SLOT;
    const size_t bytes = 5 * extent;
    uint64_t set[COLL_PROCESSORS_WORDS] = {0};
    coll_i_node_bench b;
    pthread_t second;
    unsigned char *memory;
    void *room =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | COLL_I_NODE_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    memset(&b, 0, sizeof b);
    memory = (unsigned char *)room + (extent - (uintptr_t)room % extent) % extent;
    /* small pages first: elsewhere the kernel takes huge ones by itself */
    (void)madvise(memory, 4 * extent, SMALL_PAGES);
    for (size_t i = 0; i < 2; i++) {
        b.side[i].message = memory + i * extent;
        b.side[i].into = memory + (2 + i) * extent;
        b.side[i].slots = b.side[i].into + extent / 2;
        memset(b.side[i].message, 1, extent);
        memset(b.side[i].into, 1, extent / 2 + slots);
    }
    (void)syscall(SYS_sched_getaffinity, 0l, sizeof set, set);
    coll_i_node_choose(&b, set);
    b.until = coll_clock_ns() + (uint64_t)COLL_I_NODE_MEASURED_MS * 1000000;
    coll_i_node_pin(b.here);
    coll_i_node_measure_alone(&its, &b);
    if (pthread_create(&second, NULL, coll_i_node_second, &b) != 0) {
        all = false;
    } else {
        all = coll_i_node_measure_two(&its, &b, memory);
        __atomic_store_n(&b.job, (uint32_t)COLL_I_NODE_END, __ATOMIC_RELAXED);
        coll_i_node_set(&b.rounds, b.rounds + 1);
        (void)pthread_join(second, NULL);
    }
    if (b.here >= 0)
        (void)syscall(SYS_sched_setaffinity, 0l, sizeof set, set);
    (void)munmap(room, bytes);
    if (!all || !coll_node_costs_are_well(&its))
        return false;
    *costs = its;
    return true;
}

#endif /* COLL_TRANSPORTS_NODE_MEASURE_COSTS_H */
