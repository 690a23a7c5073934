/* coll/transports/sleeper.h — a set of descriptors to sleep on, and a timer: for transports (coll_events)
 *
 *   coll_sleeper sleeper;
 *   coll_sleeper_init(&sleeper);
 *   … descriptor of coll_events:  coll_sleeper_open(&sleeper), coll_sleeper_enter(&sleeper, socket, …)
 *   … arm:                        coll_sleeper_alarm(&sleeper, ms)
 *   coll_sleeper_close(&sleeper);
 *
 * An epoll set, which is itself a descriptor. The timer in it stands for the times at which a rank has something
 * to do without being told. Linux; elsewhere none can be opened.
 */
#ifndef COLL_TRANSPORTS_SLEEPER_H
#define COLL_TRANSPORTS_SLEEPER_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "idle.h"

#if defined(__linux__) && defined(SYS_timerfd_settime)
#include <sys/epoll.h>
#define COLL_I_SLEEPERS 1
#else
#define COLL_I_SLEEPERS 0
#endif

/* A set and its timer; −1: nobody has asked for them. Private. */
typedef struct coll_sleeper {
    int epoll;    /* the set */
    int timer;    /* in it */
    bool alarmed; /* the timer runs */
} coll_sleeper;

/* Before the set is opened. */
COLL_INLINE void coll_sleeper_init(coll_sleeper *sleeper)
{
    sleeper->epoll = sleeper->timer = -1;
    sleeper->alarmed = false;
}

/* Closes the set and the timer, but not what was entered. */
COLL_INLINE void coll_sleeper_close(coll_sleeper *sleeper)
{
    if (sleeper->epoll >= 0)
        (void)close(sleeper->epoll);
    if (sleeper->timer >= 0)
        (void)close(sleeper->timer);
    coll_sleeper_init(sleeper);
}

/* Enters a descriptor, to sleep until it is readable, or (`writes`) may be written to, or changes that. False:
 * the system does not take it. */
COLL_INLINE bool coll_sleeper_enter(const coll_sleeper *sleeper, int fd, bool writes)
{
#if COLL_I_SLEEPERS
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = writes ? (uint32_t)EPOLLIN | (uint32_t)EPOLLOUT : (uint32_t)EPOLLIN;
    return epoll_ctl(sleeper->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ||
           (errno == EEXIST && epoll_ctl(sleeper->epoll, EPOLL_CTL_MOD, fd, &event) == 0);
#else
    (void)sleeper;
    (void)fd;
    (void)writes;
    return false;
#endif
}

/* The set's descriptor, made now if there is none; −1: there can be none. */
COLL_INLINE int coll_sleeper_open(coll_sleeper *sleeper)
{
#if COLL_I_SLEEPERS
    enum { MONOTONIC = 1 }; /* CLOCK_MONOTONIC, which strict C99 hides */
    if (sleeper->epoll >= 0)
        return sleeper->epoll;
    sleeper->epoll = epoll_create1(EPOLL_CLOEXEC);
    sleeper->timer = (int)syscall(SYS_timerfd_create, (long)MONOTONIC, 0l);
    if (sleeper->epoll < 0 || sleeper->timer < 0 ||
        fcntl(sleeper->timer, F_SETFD, FD_CLOEXEC) != 0 ||
        !coll_sleeper_enter(sleeper, sleeper->timer, false))
        coll_sleeper_close(sleeper);
#endif
    return sleeper->epoll;
}

/* The set is readable in so many ms at the latest, until this is called again; 0: the timer does not run. False:
 * it cannot be set. */
COLL_INLINE bool coll_sleeper_alarm(coll_sleeper *sleeper, uint64_t in)
{
#if COLL_I_SLEEPERS
    long times[4] = {0, 0, 0, 0}; /* the interval, and the first time, in seconds and ns */
    if (in == 0 && !sleeper->alarmed)
        return true;
    sleeper->alarmed = in != 0;
    times[2] = (long)(in / 1000);
    times[3] = (long)(in % 1000) * 1000000;
    return syscall(SYS_timerfd_settime, (long)sleeper->timer, 0l, times, NULL) == 0;
#else
    (void)sleeper;
    return in == 0;
#endif
}

#endif /* COLL_TRANSPORTS_SLEEPER_H */
