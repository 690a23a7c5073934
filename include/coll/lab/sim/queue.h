/* coll/lab/sim/queue.h — events in the order of their times; those of one time in the order in
 * which they were put in
 *
 * A monotone queue of buckets: nothing is put in before the time that was taken out last. A time
 * is a number of eight digits to the base 256. An event lies in the bucket of the highest digit in
 * which its time differs from the last one, and of the value of that digit, so the next event is
 * in the first bucket of the lowest digit that has any. When that bucket is of a higher digit, its
 * events are dealt out to buckets of lower ones, in order. Events of one time always share a
 * bucket, so they keep their order; a bucket of one time is moved as it is. An event is moved once
 * a digit at most, one behind the other in memory, and never compared with another one.
 *
 * Buckets are chains of chunks.
 *
 * Source  Denardo, Fox 1979 (multi-level buckets), doi:10.1287/opre.27.1.161
 */
#ifndef COLL_LAB_SIM_QUEUE_H
#define COLL_LAB_SIM_QUEUE_H

#include "pool.h"

/* What happens then: `what` is the kind in its lowest four bits, and a number above them. */
typedef struct coll_i_event {
    coll_time time;
    uint32_t rank;
    uint32_t what;
} coll_i_event;

enum {
    COLL_I_TIME_DIGIT = 8, /* bits of a digit */
    COLL_I_TIME_VALUES = 1 << COLL_I_TIME_DIGIT,
    COLL_I_TIME_DIGITS = 64 / COLL_I_TIME_DIGIT,
    COLL_I_SIM_CHUNK = 63 /* events */
};

typedef struct coll_i_chunk {
    coll_i_event events[COLL_I_SIM_CHUNK];
    struct coll_i_chunk *next; /* if it is not the last one */
} coll_i_chunk;

typedef struct coll_i_bucket {
    coll_i_event *at;    /* the place of the next event … */
    coll_i_event *end;   /* … and where the last chunk's places end */
    coll_i_chunk *first; /* NULL: it is empty, and so are `at` and `end` */
    coll_time time;      /* of all its events; COLL_NEVER: they differ */
} coll_i_bucket;

typedef struct coll_i_queue {
    coll_time last; /* nothing is earlier */
    coll_i_pool *pool;
    bool out_of_memory;
    uint32_t words; /* which words of `any` are not 0 */
    uint64_t any[COLL_I_TIME_DIGITS * COLL_I_TIME_VALUES / 64]; /* which buckets hold events */
    coll_i_bucket buckets[COLL_I_TIME_DIGITS * COLL_I_TIME_VALUES];
} coll_i_queue;

/* Empties the queue, whose chunks come from a pool that was cleared, and begins at time 0. */
COLL_INLINE void coll_i_queue_clear(coll_i_queue *q, coll_i_pool *pool)
{
    memset(q, 0, sizeof *q);
    q->pool = pool;
}

/* Bucket i holds events from now on. */
COLL_HOT_INLINE void coll_i_queue_mark(coll_i_queue *q, uint32_t i)
{
    q->any[i / 64] |= (uint64_t)1 << (i % 64);
    q->words |= (uint32_t)1 << (i / 64);
}

/* Takes what bucket i holds. */
COLL_HOT_INLINE coll_i_bucket coll_i_queue_empty(coll_i_queue *q, uint32_t i)
{
    const coll_i_bucket bucket = q->buckets[i];
    q->buckets[i].at = q->buckets[i].end = NULL;
    q->buckets[i].first = NULL;
    q->any[i / 64] &= ~((uint64_t)1 << (i % 64));
    if (q->any[i / 64] == 0)
        q->words &= ~((uint32_t)1 << (i / 64));
    return bucket;
}

/* The chunk that ends where a bucket does. */
COLL_HOT_INLINE coll_i_chunk *coll_i_bucket_tail(const coll_i_bucket *bucket)
{
    return (coll_i_chunk *)(void *)(bucket->end - COLL_I_SIM_CHUNK);
}

/* Gives bucket i, which is empty or full, one chunk more. */
COLL_I_RARE bool coll_i_queue_grow(coll_i_queue *q, uint32_t i, coll_time time)
{
    coll_i_bucket *bucket = &q->buckets[i];
    const size_t lines = (sizeof(coll_i_chunk) + COLL_I_CACHE_LINE - 1) / COLL_I_CACHE_LINE;
    coll_i_chunk *chunk =
        (coll_i_chunk *)coll_i_pool_take(q->pool, COLL_I_POOL_CHUNK, lines * COLL_I_CACHE_LINE);
    if (!chunk) {
        q->out_of_memory = true;
        return false;
    }
    if (bucket->first) {
        coll_i_bucket_tail(bucket)->next = chunk;
    } else {
        bucket->first = chunk;
        bucket->time = time;
        coll_i_queue_mark(q, i);
    }
    bucket->at = chunk->events;
    bucket->end = chunk->events + COLL_I_SIM_CHUNK;
    return true;
}

/* Puts an event in. Its time is not before that of the last one taken out. */
COLL_HOT_INLINE void coll_i_queue_put(coll_i_queue *q, coll_time time, uint32_t rank,
                                      uint32_t what)
{
    const uint32_t shift =
        coll_i_highest_bit64((time ^ q->last) | 1) & ~(COLL_I_TIME_DIGIT - 1u);
    const uint32_t i = shift / COLL_I_TIME_DIGIT * COLL_I_TIME_VALUES +
                       ((uint32_t)(time >> shift) & (COLL_I_TIME_VALUES - 1u));
    coll_i_bucket *bucket = &q->buckets[i];
    if (bucket->at == bucket->end && !coll_i_queue_grow(q, i, time))
        return;
    if (bucket->time != time)
        bucket->time = COLL_NEVER;
    bucket->at->time = time;
    bucket->at->rank = rank;
    bucket->at->what = what;
    bucket->at++;
}

/* ---- the next events --------------------------------------------------------------------- */

/* What follows each other in memory of the events of a bucket that was taken out; they stay where
 * they are until the next span is asked for. */
typedef struct coll_i_span {
    const coll_i_event *at, *end;
    coll_i_chunk *chunk; /* in which they lie */
    coll_i_bucket of;
} coll_i_span;

/* The events of a chunk of a bucket end here. */
COLL_HOT_INLINE const coll_i_event *coll_i_chunk_end(const coll_i_bucket *of,
                                                     const coll_i_chunk *chunk)
{
    return chunk == coll_i_bucket_tail(of) ? of->at : chunk->events + COLL_I_SIM_CHUNK;
}

/* The first events of a bucket. */
COLL_INLINE coll_i_span coll_i_span_first(coll_i_bucket of)
{
    coll_i_span span;
    span.at = of.first->events;
    span.end = coll_i_chunk_end(&of, of.first);
    span.chunk = of.first;
    span.of = of;
    return span;
}

/* Goes on to the next ones; false: there are none. */
COLL_INLINE bool coll_i_span_next(coll_i_queue *q, coll_i_span *span)
{
    coll_i_chunk *chunk = span->chunk;
    const bool more = chunk != coll_i_bucket_tail(&span->of);
    if (more) {
        span->chunk = chunk->next;
        span->at = span->chunk->events;
        span->end = coll_i_chunk_end(&span->of, span->chunk);
    }
    coll_i_pool_give(q->pool, COLL_I_POOL_CHUNK, chunk);
    return more;
}

/* The event that comes `ahead` after the next one, if it is in this span or the next; else NULL. */
COLL_HOT_INLINE const coll_i_event *coll_i_span_ahead(const coll_i_span *span, size_t ahead)
{
    size_t left = (size_t)(span->end - span->at);
    const coll_i_chunk *chunk = span->chunk;
    if (ahead < left)
        return span->at + ahead;
    if (chunk == coll_i_bucket_tail(&span->of))
        return NULL;
    ahead -= left;
    left = (size_t)(coll_i_chunk_end(&span->of, chunk->next) - chunk->next->events);
    return ahead < left ? chunk->next->events + ahead : NULL;
}

/* The first bucket that holds events; there is one. */
COLL_HOT_INLINE uint32_t coll_i_queue_first(const coll_i_queue *q)
{
    const uint32_t word = COLL_LOWEST_BIT(q->words);
    const uint64_t any = q->any[word];
    return 64 * word + coll_i_highest_bit64(any & (0 - any));
}

/* Deals out the first bucket, of a higher digit; the buckets of the lowest one are empty. */
COLL_INLINE void coll_i_queue_deal(coll_i_queue *q, uint32_t first)
{
    const uint32_t shift = first / COLL_I_TIME_VALUES * COLL_I_TIME_DIGIT;
    const coll_i_bucket bucket = coll_i_queue_empty(q, first);
    coll_i_span span;
    if (bucket.time != COLL_NEVER) { /* as it is */
        const uint32_t low = (uint32_t)bucket.time & (COLL_I_TIME_VALUES - 1);
        q->last = bucket.time;
        q->buckets[low] = bucket;
        coll_i_queue_mark(q, low);
        return;
    }
    q->last = ((q->last >> shift >> COLL_I_TIME_DIGIT << COLL_I_TIME_DIGIT) +
               first % COLL_I_TIME_VALUES)
              << shift;
    span = coll_i_span_first(bucket);
    do
        for (; span.at != span.end; span.at++)
            coll_i_queue_put(q, span.at->time, span.at->rank, span.at->what);
    while (coll_i_span_next(q, &span));
}

/* Takes all events of the first time that there is; false: there is none. Events of that time which
 * are put in from here on are taken later. */
COLL_INLINE bool coll_i_queue_take(coll_i_queue *q, coll_i_span *span)
{
    uint32_t first;
    if (q->words == 0)
        return false;
    while ((first = coll_i_queue_first(q)) >= COLL_I_TIME_VALUES)
        coll_i_queue_deal(q, first);
    *span = coll_i_span_first(coll_i_queue_empty(q, first));
    q->last = span->of.time;
    return true;
}

#endif /* COLL_LAB_SIM_QUEUE_H */
