/* coll/lab/tune/bench.h — what measurements need: ranks that do the same at the same time, over a
 * transport and a clock of the caller's
 *
 *   coll_bench bench;
 *   coll_bench_options options;
 *   coll_bench_options_init(&options);
 *   options.clock.now = my_nanoseconds;
 *   status = coll_bench_init(&bench, &transport, ctx, rank, p, tag, &options);
 *   coll_estimate e = coll_bench_measure(&bench, round_trip, &how, COLL_BENCH_ROOT); // measure.h
 *   coll_bench_free(&bench);
 *
 * All ranks call the same functions in the same order with the same arguments. After an error nothing
 * is done any more; bench.status keeps the first one.
 *
 * A clock may be one that is simulated: then measurements are of a simulated machine, and find its
 * parameters.
 */
#ifndef COLL_LAB_TUNE_BENCH_H
#define COLL_LAB_TUNE_BENCH_H

#include "../../transport.h"
#include "sample.h"

#include <string.h>

/* Time, in nanoseconds since a moment of this rank's own; it never goes back. */
typedef struct coll_bench_clock {
    double (*now)(void *arg);
    /* Returns when it is that late. NULL: the clock is read until then. */
    void (*until)(void *arg, double ns);
    void *arg;
} coll_bench_clock;

/* What state messages and copies are in before each repetition. */
typedef enum coll_bench_data {
    COLL_BENCH_WRITTEN, /* their owner has just written them, as programs do */
    COLL_BENCH_KEPT,    /* as the last repetition left them: all caches may have copies */
    COLL_BENCH_PURGED   /* in no cache */
} coll_bench_data;

/* How to measure. */
typedef struct coll_bench_options {
    coll_bench_clock clock; /* of this rank */
    coll_bench_data data;   /* the state of what is sent, copied and combined */
    double within_ns;       /* time for everything that is measured */
    double precision;       /* of the medians: .02 is two percent to either side */
    uint32_t least, most;   /* repetitions, of at most COLL_SAMPLE_MOST */
    size_t largest;         /* bytes of the longest message */
    uint32_t peer;          /* rank 0's, where two ranks are measured: on another node, say */
    size_t cache;           /* bytes that fill all caches, where data is purged */
    void (*say)(void *arg,
                const char *what); /* on rank 0: what is measured now; NULL: nobody listens */
    void *arg;
} coll_bench_options;

enum {
    COLL_BENCH_BATCH = 8, /* repetitions between two decisions */
    COLL_BENCH_FLIGHT = 8 /* messages of a rank at once */
};

/* The ranks' bench. */
typedef struct coll_bench {
    const coll_transport *transport;
    void *ctx;
    uint32_t rank, p, tag;
    coll_bench_options options; /* a copy */
    coll_status status;         /* of the first error, or COLL_OK */
    unsigned char *out,
        *in;              /* a message of `largest` bytes, or COLL_BENCH_FLIGHT shorter ones */
    unsigned char *cache; /* options.cache bytes, written to purge what the caches have */
    double read_ns;       /* what reading the clock takes */
    double deadline;      /* of all that is measured, by rank 0's clock */
    double ahead, drift, since; /* of this rank's clock beside rank 0's: clock_offsets.h */
    uint32_t left; /* measurements that are to come until then, as far as is known */
    uint32_t turn; /* what was written last */
} coll_bench;

/* ---- clocks ------------------------------------------------------------------------------------- */

/* Now, by this rank's clock. */
COLL_INLINE double coll_bench_now(const coll_bench *b)
{
    return b->options.clock.now(b->options.clock.arg);
}

/* Returns when it is that late by this rank's clock. Messages do not move meanwhile. */
COLL_INLINE void coll_bench_until(const coll_bench *b, double ns)
{
    if (b->options.clock.until)
        b->options.clock.until(b->options.clock.arg, ns);
    else
        while (coll_bench_now(b) < ns)
            ;
}

/* How long something took, that began with reading the clock and ended so. */
COLL_INLINE double coll_bench_took(const coll_bench *b, double start, double end)
{
    const double ns = end - start - b->read_ns;
    return ns > 0 ? ns : 0;
}

/* ---- making it ---------------------------------------------------------------------------------- */

/* 20 s, two percent, messages of up to 4 MiB; the clock is the caller's to set. */
COLL_INLINE void coll_bench_options_init(coll_bench_options *options)
{
    memset(options, 0, sizeof *options);
    options->within_ns = 20e9;
    options->precision = .02;
    options->least = 16;
    options->most = 200;
    options->peer = 1;
    options->largest = (size_t)4 << 20;
    options->cache = (size_t)64 << 20;
}

/* Frees its memory. */
COLL_INLINE void coll_bench_free(coll_bench *b)
{
    free(b->out);
    free(b->in);
    free(b->cache);
    b->out = b->in = b->cache = NULL;
}

/* The least time from one reading of the clock to the next. */
COLL_INLINE void coll_i_bench_read_clock(coll_bench *b)
{
    b->read_ns = 1e9;
    for (int i = 0; i < 100; i++) {
        const double start = coll_bench_now(b), end = coll_bench_now(b);
        if (end - start < b->read_ns)
            b->read_ns = end - start;
    }
}

/* A bench of ranks 0 … p − 1 of a transport, which use one of its tags, if it has some. Its memory,
 * twice the longest message, and a cache to be purged, is freed by coll_bench_free. */
COLL_INLINE coll_status coll_bench_init(coll_bench *b, const coll_transport *transport,
                                        void *ctx, uint32_t rank, uint32_t p, uint32_t tag,
                                        const coll_bench_options *options)
{
    const size_t least = (size_t)COLL_BENCH_FLIGHT << 16;
    const size_t bytes = options->largest > least ? options->largest : least;
    const coll_status status = coll_transport_check(transport);
    memset(b, 0, sizeof *b);
    if (status != COLL_OK)
        return status;
    if (!options->clock.now)
        return COLL_ERR_NULL;
    if (p == 0 || rank >= p || (p > 1 && (options->peer == 0 || options->peer >= p)))
        return COLL_ERR_RANK;
    b->transport = transport;
    b->ctx = ctx;
    b->rank = rank;
    b->p = p;
    b->tag = tag;
    b->options = *options;
    b->out = (unsigned char *)malloc(bytes);
    b->in = (unsigned char *)malloc(bytes);
    if (options->data == COLL_BENCH_PURGED)
        b->cache = (unsigned char *)malloc(options->cache);
    if (!b->out || !b->in || (options->data == COLL_BENCH_PURGED && !b->cache)) {
        coll_bench_free(b);
        return COLL_ERR_MEMORY;
    }
    memset(b->out, 0, bytes);
    memset(b->in, 0, bytes);
    coll_i_bench_read_clock(b);
    b->deadline = coll_bench_now(b) + options->within_ns;
    b->left = 1;
    return COLL_OK;
}

/* Makes memory what options.data says, before it is sent, copied or combined. */
COLL_INLINE void coll_bench_prepare(coll_bench *b, void *memory, size_t bytes)
{
    if (b->options.data == COLL_BENCH_KEPT)
        return;
    memset(memory, 0x3e + (int)(++b->turn & 1), bytes); /* floats of any type that are normal */
    if (b->options.data == COLL_BENCH_PURGED)
        memset(b->cache, (int)(b->turn & 0xff), b->options.cache);
}

#endif /* COLL_LAB_TUNE_BENCH_H */
