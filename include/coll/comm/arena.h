/* coll/comm/arena.h — first-fit allocation of numbers, and of memory, without touching either
 *
 *   unsigned char memory[1 << 16];
 *   coll_arena arena;
 *   coll_arena_init(&arena, memory, sizeof memory);
 *   coll_span piece;                                   // the caller's, as long as it is taken
 *   status = coll_arena_take(&arena, 1000, &piece);    // COLL_OK or COLL_ERR_MEMORY
 *   double *x = coll_arena_at(&arena, &piece);
 *   coll_arena_give(&arena, &piece);
 *
 * What is taken is a list of spans, sorted by place, whose nodes lie with their owners; what is
 * free is the gaps between them, so neighbouring gaps are one without any work. A take finds
 * the first gap that is large enough: its result depends on nothing but the takes and gives
 * before it, which lets ranks that make the same ones agree on the outcome without a word
 * (comm.h allocates tags this way). Time is linear in the number of spans taken. Nothing is
 * ever written to the memory.
 */
#ifndef COLL_COMM_ARENA_H
#define COLL_COMM_ARENA_H

#include "../types.h"

/* ---- numbers ----------------------------------------------------------------------------- */

/* The numbers at … at + count − 1. */
typedef struct coll_span {
    size_t at, count;
    struct coll_span *next;
} coll_span;

typedef struct coll_spans {
    size_t count;     /* the numbers 0 … count − 1 … */
    coll_span *first; /* … less these */
} coll_spans;

COLL_INLINE void coll_spans_init(coll_spans *spans, size_t count)
{
    spans->count = count;
    spans->first = NULL;
}

/* Takes `count` consecutive numbers, the lowest that are free. A span of 0 numbers is always at
 * 0 and never conflicts. The span stays where it is until it is released. COLL_ERR_MEMORY: no
 * gap is large enough. */
COLL_INLINE coll_status coll_spans_take(coll_spans *spans, size_t count, coll_span *span)
{
    coll_span **link = &spans->first;
    size_t at = 0;
    span->at = 0;
    span->count = 0;
    if (count == 0)
        return COLL_OK;
    while (*link && (*link)->at - at < count) {
        at = (*link)->at + (*link)->count;
        link = &(*link)->next;
    }
    if (!*link && spans->count - at < count)
        return COLL_ERR_MEMORY;
    span->at = at;
    span->count = count;
    span->next = *link;
    *link = span;
    return COLL_OK;
}

/* Gives a span back; one of 0 numbers, or one that was released already, has no effect. */
COLL_INLINE void coll_spans_give(coll_spans *spans, coll_span *span)
{
    for (coll_span **link = &spans->first; *link; link = &(*link)->next)
        if (*link == span) {
            *link = span->next;
            break;
        }
    span->count = 0;
}

/* The lowest number from which on all are free. */
COLL_INLINE size_t coll_spans_end(const coll_spans *spans)
{
    size_t end = 0;
    for (const coll_span *span = spans->first; span; span = span->next)
        end = span->at + span->count;
    return end;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Pieces begin at multiples of this, whatever the alignment of the memory that was given. */
#define COLL_ARENA_ALIGN 16

typedef struct coll_arena {
    unsigned char *base;
    coll_spans units; /* of COLL_ARENA_ALIGN bytes */
} coll_arena;

/* The bytes that a piece of `bytes` occupies; SIZE_MAX where that overflows. A fresh arena that
 * needs pieces of a and b bytes must be given COLL_ARENA_ALIGN − 1 + these bytes of a and of
 * b. */
COLL_INLINE size_t coll_arena_bytes(size_t bytes)
{
    return bytes > SIZE_MAX - (COLL_ARENA_ALIGN - 1)
               ? SIZE_MAX
               : (bytes + (COLL_ARENA_ALIGN - 1)) / COLL_ARENA_ALIGN * COLL_ARENA_ALIGN;
}

/* Makes an arena of `bytes` bytes at memory, the caller's as long as the arena is used; NULL
 * and 0 are an arena without memory. */
COLL_INLINE void coll_arena_init(coll_arena *arena, void *memory, size_t bytes)
{
    const size_t odd = (size_t)((uintptr_t)memory % COLL_ARENA_ALIGN);
    const size_t skip = odd == 0 ? 0 : COLL_ARENA_ALIGN - odd;
    arena->base = skip < bytes ? (unsigned char *)memory + skip : NULL;
    coll_spans_init(&arena->units, skip < bytes ? (bytes - skip) / COLL_ARENA_ALIGN : 0);
}

COLL_INLINE coll_status coll_arena_take(coll_arena *arena, size_t bytes, coll_span *piece)
{
    const size_t units = bytes / COLL_ARENA_ALIGN + (bytes % COLL_ARENA_ALIGN != 0 ? 1u : 0u);
    return coll_spans_take(&arena->units, units, piece);
}

/* Where a piece lies; NULL if it has 0 bytes. */
COLL_INLINE void *coll_arena_at(const coll_arena *arena, const coll_span *piece)
{
    return piece->count == 0 ? NULL : (void *)(arena->base + piece->at * COLL_ARENA_ALIGN);
}

COLL_INLINE void coll_arena_give(coll_arena *arena, coll_span *piece)
{
    coll_spans_give(&arena->units, piece);
}

#endif /* COLL_COMM_ARENA_H */
