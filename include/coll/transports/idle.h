/* coll/transports/idle.h — waiting, for transports of one's own: spin, yield, sleep
 *
 *   coll_idle waiting;
 *   coll_idle_init(&waiting, ranks_on_this_machine);
 *   … in `wait` of the transport:
 *   coll_idle_wait(&waiting, idle, socket);
 *
 * A rank with a processor for itself spins: to give it up costs more than most messages take. Where ranks
 * share processors the one that is waited for may run on this one, so a rank yields at once: spinning a
 * few dozen times first takes twice as long for short messages. After many yields in vain it sleeps, up to
 * a millisecond or until a descriptor is readable.
 *
 * threads.h and shm.h know more of each other than that: node/waiting.h. POSIX.
 */
#ifndef COLL_TRANSPORTS_IDLE_H
#define COLL_TRANSPORTS_IDLE_H

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "../config.h"

#if defined(__linux__) && !defined(__cplusplus) /* strict C99 hides what C++ always sees */
extern long syscall(long number, ...);
#endif

/* ---- processors -------------------------------------------------------------------------- */

enum { COLL_PROCESSORS_WORDS = 16 }; /* of a set of processors, a bit each */

/* Adds to a set the processors that this thread may run on; if the system does not say, as many as
 * there are. Several threads or processes may add to a set in memory that they share. */
COLL_INLINE void coll_processors_add(uint64_t *set)
{
    uint64_t mine[COLL_PROCESSORS_WORDS] = {0};
    long online = 0;
#if defined(__linux__)
    if (syscall(SYS_sched_getaffinity, 0l, sizeof mine, mine) <= 0)
#endif
        online = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < online && i < COLL_PROCESSORS_WORDS * 64; i++)
        mine[i / 64] |= (uint64_t)1 << i % 64;
    for (uint32_t i = 0; i < COLL_PROCESSORS_WORDS; i++)
        (void)__atomic_fetch_or(&set[i], mine[i], __ATOMIC_RELAXED);
}

/* How many processors are in a set. */
COLL_INLINE uint32_t coll_processors_count(const uint64_t *set)
{
    uint32_t processors = 0;
    for (uint32_t i = 0; i < COLL_PROCESSORS_WORDS; i++)
        for (uint64_t left = __atomic_load_n(&set[i], __ATOMIC_RELAXED); left; left &= left - 1)
            processors++;
    return processors;
}

/* A number of this machine since it was started, the same for all of its processes, whatever their addresses
 * are; 0: unknown. */
COLL_INLINE uint64_t coll_machine(void)
{
    uint64_t number = 0;
#if defined(__linux__)
    char text[36]; /* a random number, of 32 hexadecimal digits and four hyphens */
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
    const bool well = fd >= 0 && read(fd, text, sizeof text) == (ssize_t)sizeof text;
    for (size_t i = 0; well && i < sizeof text; i++) {
        const char c = text[i];
        const char first = c >= 'a' ? 'a' : c >= 'A' ? 'A' : '0';
        if (c != '-')
            number =
                number << 4 ^ number >> 60 ^ (uint64_t)(c - first + (first == '0' ? 0 : 10));
    }
    if (fd >= 0)
        (void)close(fd);
    number |= well;
#endif
    return number;
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* How many tests in a row that find nothing a rank spins, and then yields, before it sleeps. Whoever knows
 * better writes other numbers after coll_idle_init. */
typedef struct coll_idle {
    uint32_t spins, yields; /* rounds of each before it sleeps */
} coll_idle;

/* For one of so many ranks that run on the processors of this thread. */
COLL_INLINE void coll_idle_init(coll_idle *waiting, uint32_t ranks)
{
    uint64_t mine[COLL_PROCESSORS_WORDS] = {0};
    coll_processors_add(mine);
    waiting->spins = ranks > coll_processors_count(mine) ? 0 : 4000;
    waiting->yields = 16384;
}

/* Tells the processor that this thread spins. */
COLL_INLINE void coll_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause" ::: "memory");
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* May it be read from a descriptor, now or within a millisecond? */
COLL_INLINE bool coll_is_readable(int fd)
{
    struct pollfd descriptor;
    descriptor.fd = fd;
    descriptor.events = POLLIN;
    descriptor.revents = 0;
    return poll(&descriptor, 1, 1) > 0;
}

/* As `wait` of a transport, after `idle` tests in a row that found nothing. A sleep ends when fd is
 * readable; −1: there is none to look at. */
COLL_INLINE void coll_idle_wait(const coll_idle *waiting, uint32_t idle, int fd)
{
    struct pollfd descriptor;
    if (idle <= waiting->spins) {
        coll_pause();
    } else if (idle - waiting->spins <= waiting->yields) {
        (void)sched_yield();
    } else {
        descriptor.fd = fd;
        descriptor.events = POLLIN;
        descriptor.revents = 0;
        (void)poll(&descriptor, 1, 1);
    }
}

#endif /* COLL_TRANSPORTS_IDLE_H */
