/* mpi/layer/ticks.h — the cheapest clock, and what trace.c notes by it
 *
 * A reading of the system's clock takes some 25 ns, a tenth of a short call; one of the processor's counter
 * half of that or less.
 */
#ifndef COLL_LAYER_TICKS_H
#define COLL_LAYER_TICKS_H

#include "coll/transports/traced.h"
#include "layer.h"

/* The processor's counter goes at one rate. */
extern bool ticks_are_even;

/* Nanoseconds of the system's clock that never goes back. */
uint64_t ticks_of_system(void);

/* Ticks of a clock that all ranks of a machine share. */
COLL_HOT_INLINE uint64_t ticks_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (COLL_LIKELY(ticks_are_even))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
    return ticks_of_system();
}

/* What this rank has noted: a ring. */
struct trace {
    coll_traced_event *events;
    uint32_t room, at;
    uint64_t n;    /* so far */
    uint64_t left; /* bits of the number of a short call that are zero if it is noted */
};
extern struct trace trace;

/* Notes a call. Under the lock. The place of a later one is fetched meanwhile: else the next message, which a
 * processor writes in its turn, would wait for this memory. */
COLL_HOT_INLINE void trace_note(coll_collective what, uint64_t bytes, uint64_t begun, bool good)
{
    enum { AHEAD = 4 };
    coll_traced_event *event = &trace.events[trace.at];
    __builtin_prefetch(event + AHEAD, 1);
    event->start = begun;
    event->end = ticks_now();
    event->bytes = bytes;
    event->peer = COLL_RANK_NONE;
    event->tag = 0;
    event->kind = COLL_TRACED_CALL;
    event->which = (uint16_t)what;
    event->status = good ? COLL_OK : COLL_ERR_PEER;
    trace.at = trace.at + 1 < trace.room ? trace.at + 1 : 0;
    trace.n++;
}

/* A job begins, which has its number. The same calls are noted on all ranks. */
COLL_HOT_INLINE void trace_begin(struct job *job)
{
    enum { SHORT = 4096 };
    const uint64_t number = job->how == PERSISTENT ? job->call >> 32 : job->call;
    job->begun = (number & trace.left) == 0 || job->bytes > SHORT ? ticks_now() : 0;
}

/* It is over. */
COLL_HOT_INLINE void trace_job(const struct job *job, bool good)
{
    if (job->begun != 0)
        trace_note(job->prepared->plan.problem.collective, job->bytes, job->begun, good);
}

#endif /* COLL_LAYER_TICKS_H */
