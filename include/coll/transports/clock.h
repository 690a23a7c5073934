/* coll/transports/clock.h — nanoseconds that only go forward (hosted) */
#ifndef COLL_TRANSPORTS_CLOCK_H
#define COLL_TRANSPORTS_CLOCK_H

#include <sched.h> /* struct timespec, which strict C99 hides */
#include <time.h>

#include "../config.h"

#if defined(__linux__) && !defined(__cplusplus) /* strict C99 hides what C++ always sees */
extern int clock_gettime(int clock, struct timespec *now); /* clockid_t, which it hides, too */
#endif

/* Nanoseconds since some moment that is the same for all processes of a machine. */
COLL_INLINE uint64_t coll_clock_ns(void)
{
    enum { MONOTONIC = 1 }; /* CLOCK_MONOTONIC */
    struct timespec now;
    (void)clock_gettime(MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif /* COLL_TRANSPORTS_CLOCK_H */
