/* coll/sim/queue.h — events in the order of their times; those of one time in the order in which
 * they were put in
 *
 * A monotone queue of buckets: nothing is put in before the time that was taken out last. A time
 * is a number of eight digits to the base 256. An event lies in the bucket of the highest digit in
 * which its time differs from the last one, and of the value of that digit, so the next event is
 * in the first bucket of the lowest digit that has any. When that bucket is of a higher digit, its
 * events are dealt out to buckets of lower ones, in order. Events of one time always share a
 * bucket, so they keep their order; a bucket of one time is moved as it is. An event is moved once
 * a digit at most, one behind the other in memory, and never compared with another one.
 *
 * Buckets are chains of chunks out of one array.
 *
 * Source  Denardo, Fox 1979 (multi-level buckets), doi:10.1287/opre.27.1.161
 */
#ifndef COLL_SIM_QUEUE_H
#define COLL_SIM_QUEUE_H

#include "base.h"

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
    COLL_I_SIM_CHUNK = 63
};

typedef struct coll_i_chunk {
    uint32_t next, unused[3];
    coll_i_event events[COLL_I_SIM_CHUNK];
} coll_i_chunk;

typedef struct coll_i_bucket {
    uint32_t head, tail; /* chunks; head is COLL_NOBODY if it is empty */
    uint32_t last;       /* events of the tail */
    coll_time time;      /* of all its events; COLL_NEVER: they differ */
} coll_i_bucket;

typedef struct coll_i_queue {
    coll_time last; /* nothing is earlier */
    uint64_t taken; /* events taken out so far */
    coll_i_array chunks;
    uint32_t free;
    bool out_of_memory;
    uint32_t words; /* which words of `any` are not 0 */
    uint64_t any[COLL_I_TIME_DIGITS * COLL_I_TIME_VALUES / 64]; /* which buckets hold events */
    coll_i_bucket buckets[COLL_I_TIME_DIGITS * COLL_I_TIME_VALUES];
} coll_i_queue;

/* Empties the queue, and begins at time 0 again; what memory it has, it keeps. */
COLL_INLINE void coll_i_queue_clear(coll_i_queue *q)
{
    q->last = q->taken = 0;
    q->chunks.n = 0;
    q->free = COLL_NOBODY;
    q->out_of_memory = false;
    q->words = 0;
    memset(q->any, 0, sizeof q->any);
    for (uint32_t i = 0; i < COLL_I_TIME_DIGITS * COLL_I_TIME_VALUES; i++)
        q->buckets[i].head = COLL_NOBODY;
}

COLL_INLINE void coll_i_queue_free(coll_i_queue *q)
{
    coll_i_array_free(&q->chunks);
}

COLL_INLINE coll_i_chunk *coll_i_chunk_at(const coll_i_queue *q, uint32_t i)
{
    return (coll_i_chunk *)q->chunks.at + i;
}

/* A chunk, or COLL_NOBODY. */
COLL_INLINE uint32_t coll_i_chunk_take(coll_i_queue *q)
{
    uint32_t i = q->free;
    if (i != COLL_NOBODY) {
        q->free = coll_i_chunk_at(q, i)->next;
    } else {
        if (!coll_i_array_reserve(&q->chunks, q->chunks.n + 1, sizeof(coll_i_chunk)))
            return COLL_NOBODY;
        i = (uint32_t)q->chunks.n++;
    }
    coll_i_chunk_at(q, i)->next = COLL_NOBODY;
    return i;
}

COLL_INLINE void coll_i_chunk_give(coll_i_queue *q, uint32_t i)
{
    coll_i_chunk_at(q, i)->next = q->free;
    q->free = i;
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
    q->buckets[i].head = COLL_NOBODY;
    q->any[i / 64] &= ~((uint64_t)1 << (i % 64));
    if (q->any[i / 64] == 0)
        q->words &= ~((uint32_t)1 << (i / 64));
    return bucket;
}

COLL_INLINE void coll_i_queue_add(coll_i_queue *q, const coll_i_event *event)
{
    const uint32_t digit =
        coll_i_highest_bit64((event->time ^ q->last) | 1) / COLL_I_TIME_DIGIT;
    const uint32_t value = (uint32_t)(event->time >> (digit * COLL_I_TIME_DIGIT)) & 255u;
    const uint32_t number = digit * COLL_I_TIME_VALUES + value;
    coll_i_bucket *bucket = &q->buckets[number];
    if (bucket->head == COLL_NOBODY || bucket->last == COLL_I_SIM_CHUNK) {
        const uint32_t chunk = coll_i_chunk_take(q);
        if (chunk == COLL_NOBODY) {
            q->out_of_memory = true;
            return;
        }
        if (bucket->head == COLL_NOBODY) {
            bucket->head = chunk;
            bucket->time = event->time;
            coll_i_queue_mark(q, number);
        } else {
            coll_i_chunk_at(q, bucket->tail)->next = chunk;
        }
        bucket->tail = chunk;
        bucket->last = 0;
    }
    if (bucket->time != event->time)
        bucket->time = COLL_NEVER;
    coll_i_chunk_at(q, bucket->tail)->events[bucket->last++] = *event;
}

/* Puts an event in. Its time is not before that of the last one taken out. */
COLL_INLINE void coll_i_queue_put(coll_i_queue *q, coll_time time, uint32_t rank, uint32_t what)
{
    coll_i_event event;
    event.time = time;
    event.rank = rank;
    event.what = what;
    coll_i_queue_add(q, &event);
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
    for (uint32_t chunk = bucket.head; chunk != COLL_NOBODY;) {
        const uint32_t next = coll_i_chunk_at(q, chunk)->next;
        const uint32_t n = chunk == bucket.tail ? bucket.last : (uint32_t)COLL_I_SIM_CHUNK;
        for (uint32_t i = 0; i < n; i++) {
            const coll_i_event event = coll_i_chunk_at(q, chunk)->events[i];
            coll_i_queue_add(q, &event);
        }
        coll_i_chunk_give(q, chunk);
        chunk = next;
    }
}

/* The next events, all of one time: taken out together, but kept as long as they are dealt with. */
typedef struct coll_i_batch {
    uint32_t chunk, tail, last; /* as of a bucket */
    uint32_t first, end;        /* events of the chunk */
} coll_i_batch;

COLL_INLINE uint32_t coll_i_batch_end(const coll_i_batch *batch)
{
    return batch->chunk == batch->tail ? batch->last : (uint32_t)COLL_I_SIM_CHUNK;
}

/* Takes all events of the first time that there is; false: there is none. Events of that time
 * which are put in from here on are of another batch. */
COLL_INLINE bool coll_i_queue_take(coll_i_queue *q, coll_i_batch *batch)
{
    coll_i_bucket bucket;
    uint32_t first;
    if (q->words == 0)
        return false;
    while ((first = coll_i_queue_first(q)) >= COLL_I_TIME_VALUES)
        coll_i_queue_deal(q, first);
    bucket = coll_i_queue_empty(q, first);
    batch->chunk = bucket.head;
    batch->tail = bucket.tail;
    batch->last = bucket.last;
    batch->first = 0;
    batch->end = coll_i_batch_end(batch);
    q->last = bucket.time;
    return true;
}

/* The next event of a batch; NULL: that was the last. */
COLL_HOT_INLINE const coll_i_event *coll_i_batch_next(coll_i_queue *q, coll_i_batch *batch)
{
    if (batch->first == batch->end) {
        const uint32_t chunk = batch->chunk;
        if (chunk == COLL_NOBODY)
            return NULL;
        batch->chunk = chunk == batch->tail ? COLL_NOBODY : coll_i_chunk_at(q, chunk)->next;
        coll_i_chunk_give(q, chunk);
        if (batch->chunk == COLL_NOBODY)
            return NULL;
        batch->first = 0;
        batch->end = coll_i_batch_end(batch);
    }
    q->taken++;
    return &coll_i_chunk_at(q, batch->chunk)->events[batch->first++];
}

/* The event of a batch that comes `ahead` after the next one, if it has it; else NULL. */
COLL_HOT_INLINE const coll_i_event *coll_i_batch_soon(const coll_i_queue *q,
                                                      const coll_i_batch *batch, uint32_t ahead)
{
    const coll_i_chunk *chunk = coll_i_chunk_at(q, batch->chunk);
    uint32_t i = batch->first + ahead, end = batch->end;
    if (i < end)
        return &chunk->events[i];
    if (batch->chunk == batch->tail)
        return NULL;
    i -= COLL_I_SIM_CHUNK;
    end = chunk->next == batch->tail ? batch->last : (uint32_t)COLL_I_SIM_CHUNK;
    return i < end ? &coll_i_chunk_at(q, chunk->next)->events[i] : NULL;
}

#endif /* COLL_SIM_QUEUE_H */
