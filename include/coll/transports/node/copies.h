/* coll/transports/node/copies.h — ranks that share memory: how a rank copies
 *
 * A line that is written is read first, unless the copy goes past the caches (non-temporal
 * stores). Where the destination is in no cache, that is a third of the traffic; where it is,
 * it is driven out. So stores past the caches are faster with memory that is elsewhere each time, and
 * slower with memory that is the same (docs/internals/shared-memory.md).
 *
 * What its program has touched a rank cannot know. But where it wrote something itself, and more than
 * the caches hold since then, the lines of that time are gone. So it remembers how much it
 * had written, in all, when it wrote to a place last, for the last few thousand places. Memory that it
 * knows nothing of is taken for one that is in the caches.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_COPIES_H
#define COLL_TRANSPORTS_NODE_COPIES_H

#include "world.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Bytes of the largest cache, of which each rank has a part. What the C library says of it is not to
 * be relied on. */
#ifndef COLL_NODE_CACHES
#define COLL_NODE_CACHES (32u << 20)
#endif

enum {
    COLL_I_NODE_PLACE = 1 << 14, /* bytes of a place; shorter copies stay in the caches */
    COLL_I_NODE_PLACES = 1 << 12 /* so many are remembered: of 64 MiB */
};

/* Memory that was written: a hint, so the numbers may be cut off. */
typedef struct coll_i_node_written {
    uint32_t place; /* 0: none */
    uint32_t when;  /* how much had been written then, in places */
} coll_i_node_written;

/* Is memory that is about to be written in no cache, as far as this rank knows? */
COLL_INLINE bool coll_i_node_is_cold(coll_i_node_rank *me, const void *to, size_t bytes)
{
#if defined(__SSE2__)
    const uint32_t place = (uint32_t)((uintptr_t)to / COLL_I_NODE_PLACE) + 1;
    coll_i_node_written *written;
    uint32_t before;
    if (bytes < COLL_I_NODE_PLACE)
        return false;
    if (!me->written)
        me->written = (coll_i_node_written *)coll_i_node_new(me, COLL_I_NODE_PLACES *
                                                                     sizeof *me->written);
    if (!me->written)
        return false;
    me->writes += bytes;
    written = &me->written[place % COLL_I_NODE_PLACES];
    before =
        written->place == place ? written->when : (uint32_t)(me->writes / COLL_I_NODE_PLACE);
    written->place = place;
    written->when = (uint32_t)(me->writes / COLL_I_NODE_PLACE);
    return written->when - before > COLL_NODE_CACHES / COLL_I_NODE_PLACE / me->p;
#else
    (void)me, (void)to, (void)bytes;
    return false;
#endif
}

/* Copies past the caches; whole lines of `to`. */
COLL_INLINE void coll_i_node_stream(unsigned char *to, const unsigned char *from, size_t bytes)
{
#if defined(__SSE2__) && COLL_I_MODE != 1
    __m128i *line = (__m128i *)(void *)to;
    for (size_t at = 0; at < bytes; at += COLL_NODE_LINE, line += 4) {
        const __m128i *its = (const __m128i *)(const void *)(from + at);
        const __m128i a = _mm_loadu_si128(its), b = _mm_loadu_si128(its + 1),
                      c = _mm_loadu_si128(its + 2), d = _mm_loadu_si128(its + 3);
        _mm_stream_si128(line, a);
        _mm_stream_si128(line + 1, b);
        _mm_stream_si128(line + 2, c);
        _mm_stream_si128(line + 3, d);
    }
    _mm_sfence(); /* before anybody is told */
#else
    memcpy(to, from, bytes);
#endif
}

/* … of any memory. */
COLL_INLINE void coll_i_node_copy_past(void *to, const void *from, size_t bytes)
{
    unsigned char *at = (unsigned char *)to;
    const unsigned char *its = (const unsigned char *)from;
    const size_t head = (size_t)((unsigned char *)coll_i_node_line(at) - at);
    const size_t lines = (bytes - head) - (bytes - head) % COLL_NODE_LINE;
    memcpy(at, its, head);
    coll_i_node_stream(at + head, its + head, lines);
    memcpy(at + head + lines, its + head + lines, bytes - head - lines);
}

/* Copies for this rank's program. */
COLL_INLINE void coll_i_node_copy(coll_i_node_rank *me, void *to, const void *from,
                                  size_t bytes)
{
    if (coll_i_node_is_cold(me, to, bytes))
        coll_i_node_copy_past(to, from, bytes);
    else if (bytes != 0)
        memcpy(to, from, bytes);
}

/* Writes to each line of a message in a slot that this rank alone has read. A line that was written
 * moves to the sender's cache as soon as that writes to it again; of a line that was only read the
 * reader's cache has to be told first. */
COLL_INLINE void coll_i_node_dirty(unsigned char *message, size_t bytes)
{
    unsigned char *line = message - (uintptr_t)message % COLL_NODE_LINE;
    for (; line < message + bytes; line += COLL_NODE_LINE)
        *(volatile uint32_t *)(void *)line = 0;
}

/* Takes a message out of a slot; `alone`: no other rank reads it. */
COLL_INLINE void coll_i_node_take_out(coll_i_node_rank *me, void *to, unsigned char *message,
                                      size_t bytes, bool alone)
{
    enum { AT_ONCE = 1024 }; /* which stay in the nearest cache until they are dirty */
    if (!alone) {
        coll_i_node_copy(me, to, message, bytes);
    } else if (coll_i_node_is_cold(me, to, bytes)) {
        coll_i_node_copy_past(to, message, bytes);
        coll_i_node_dirty(message, bytes);
    } else {
        size_t at = 0;
        while (at <
               bytes) { /* up to the end of a line: of what is dirty nothing is to be read */
            const size_t most = AT_ONCE - (uintptr_t)(message + at) % COLL_NODE_LINE;
            const size_t part = bytes - at < most ? bytes - at : most;
            memcpy((unsigned char *)to + at, message + at, part);
            coll_i_node_dirty(message + at, part);
            at += part;
        }
    }
}

/* For actions that copy. */
COLL_INLINE coll_status coll_i_node_local(void *ctx, void *to, const void *from, size_t bytes,
                                          coll_handle *h)
{
    (void)h;
    coll_i_node_copy((coll_i_node_rank *)ctx, to, from, bytes);
    return COLL_OK;
}

#endif /* COLL_TRANSPORTS_NODE_COPIES_H */
