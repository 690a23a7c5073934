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
    uint32_t head, tail;  /* chunks; head is COLL_NOBODY if it is empty */
    uint32_t first, last; /* events of the head that are gone, events of the tail */
    coll_time time;       /* of all its events; COLL_NEVER: they differ */
} coll_i_bucket;

typedef struct coll_i_queue {
    coll_time last; /* nothing is earlier */
    uint64_t taken; /* events taken out so far */
    coll_i_array chunks;
    uint32_t free;
    bool out_of_memory;
    uint64_t any[COLL_I_TIME_DIGITS][COLL_I_TIME_VALUES / 64]; /* which buckets hold events */
    coll_i_bucket buckets[COLL_I_TIME_DIGITS * COLL_I_TIME_VALUES];
} coll_i_queue;

/* Empties the queue, and begins at time 0 again; what memory it has, it keeps. */
COLL_INLINE void coll_i_queue_clear(coll_i_queue *q)
{
    q->last = q->taken = 0;
    q->chunks.n = 0;
    q->free = COLL_NOBODY;
    q->out_of_memory = false;
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

COLL_INLINE void coll_i_queue_add(coll_i_queue *q, const coll_i_event *event)
{
    const uint32_t digit =
        coll_i_highest_bit64((event->time ^ q->last) | 1) / COLL_I_TIME_DIGIT;
    const uint32_t value = (uint32_t)(event->time >> (digit * COLL_I_TIME_DIGIT)) & 255u;
    coll_i_bucket *bucket = &q->buckets[digit * COLL_I_TIME_VALUES + value];
    if (bucket->head == COLL_NOBODY || bucket->last == COLL_I_SIM_CHUNK) {
        const uint32_t chunk = coll_i_chunk_take(q);
        if (chunk == COLL_NOBODY) {
            q->out_of_memory = true;
            return;
        }
        if (bucket->head == COLL_NOBODY) {
            bucket->head = chunk;
            bucket->first = 0;
            bucket->time = event->time;
            q->any[digit][value / 64] |= (uint64_t)1 << (value % 64);
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

/* The first value of a digit whose bucket holds events; COLL_I_TIME_VALUES: none does. */
COLL_INLINE uint32_t coll_i_queue_first(const coll_i_queue *q, uint32_t digit)
{
    for (uint32_t i = 0; i < COLL_I_TIME_VALUES / 64; i++) {
        const uint64_t any = q->any[digit][i];
        if ((uint32_t)any != 0)
            return 64 * i + COLL_LOWEST_BIT((uint32_t)any);
        if (any != 0)
            return 64 * i + 32 + COLL_LOWEST_BIT((uint32_t)(any >> 32));
    }
    return COLL_I_TIME_VALUES;
}

/* Deals out the first bucket of a higher digit. false: all are empty. */
COLL_INLINE bool coll_i_queue_deal(coll_i_queue *q)
{
    for (uint32_t digit = 1; digit < COLL_I_TIME_DIGITS; digit++) {
        const uint32_t value = coll_i_queue_first(q, digit), shift = digit * COLL_I_TIME_DIGIT;
        coll_i_bucket bucket;
        if (value == COLL_I_TIME_VALUES)
            continue;
        bucket = q->buckets[digit * COLL_I_TIME_VALUES + value];
        q->buckets[digit * COLL_I_TIME_VALUES + value].head = COLL_NOBODY;
        q->any[digit][value / 64] &= ~((uint64_t)1 << (value % 64));
        if (bucket.time !=
            COLL_NEVER) { /* as it is: the buckets of the lowest digit are empty */
            const uint32_t low = (uint32_t)bucket.time & (COLL_I_TIME_VALUES - 1);
            q->last = bucket.time;
            q->buckets[low] = bucket;
            q->any[0][low / 64] |= (uint64_t)1 << (low % 64);
            return true;
        }
        q->last = ((q->last >> shift >> COLL_I_TIME_DIGIT << COLL_I_TIME_DIGIT) + value)
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
        return true;
    }
    return false;
}

/* Takes the next event out; false: there is none. */
COLL_INLINE bool coll_i_queue_take(coll_i_queue *q, coll_i_event *event)
{
    uint32_t value;
    coll_i_bucket *bucket;
    while ((value = coll_i_queue_first(q, 0)) == COLL_I_TIME_VALUES)
        if (!coll_i_queue_deal(q))
            return false;
    bucket = &q->buckets[value];
    *event = coll_i_chunk_at(q, bucket->head)->events[bucket->first++];
    q->last = event->time;
    q->taken++;
    if (bucket->head == bucket->tail ? bucket->first == bucket->last
                                     : bucket->first == COLL_I_SIM_CHUNK) {
        const uint32_t chunk = bucket->head;
        if (bucket->head == bucket->tail) {
            bucket->head = COLL_NOBODY;
            q->any[0][value / 64] &= ~((uint64_t)1 << (value % 64));
        } else {
            bucket->head = coll_i_chunk_at(q, chunk)->next;
        }
        bucket->first = 0;
        coll_i_chunk_give(q, chunk);
    }
    return true;
}

/* The event that is taken out `ahead` after the next, if it is of the same bucket and not too far
 * away; else NULL. */
COLL_HOT_INLINE const coll_i_event *coll_i_queue_soon(const coll_i_queue *q, uint32_t ahead)
{
    const coll_i_bucket *bucket = &q->buckets[(uint32_t)q->last & (COLL_I_TIME_VALUES - 1)];
    uint32_t i = bucket->first + ahead, chunk = bucket->head;
    if (chunk != COLL_NOBODY && i >= COLL_I_SIM_CHUNK && chunk != bucket->tail) {
        chunk = coll_i_chunk_at(q, chunk)->next;
        i -= COLL_I_SIM_CHUNK;
    }
    if (chunk == COLL_NOBODY || i >= COLL_I_SIM_CHUNK ||
        (chunk == bucket->tail && i >= bucket->last))
        return NULL;
    return &coll_i_chunk_at(q, chunk)->events[i];
}

#endif /* COLL_SIM_QUEUE_H */
