/* coll/comm/arena.h — first-fit allocation of numbers, and of memory, without touching either
 *
 *   unsigned char memory[1 << 16];
 *   coll_arena arena;
 *   coll_arena_init(&arena, memory, sizeof memory);
 *   coll_piece piece;                                  // the caller's, as long as it is taken
 *   status = coll_arena_take(&arena, 1000, &piece);    // COLL_OK or COLL_ERR_MEMORY
 *   double *x = coll_arena_at(&piece);
 *   coll_arena_give(&piece);
 *
 * What is taken is a list of spans, sorted by place, whose nodes lie with their owners; what is
 * free is the gaps between them, so neighbouring gaps are one without any work. A take finds the
 * first gap that is large enough: its result depends on nothing but the takes and gives before
 * it, which lets ranks that make the same ones agree on the outcome without a word (comm.h
 * allocates tags this way). Time is linear in the number of spans taken. Nothing is ever written
 * to the memory.
 *
 * Hosted programs may add an allocator (arena.allocator), from which an arena takes what it has
 * not, in pieces that double; they are its own until coll_arena_free.
 */
#ifndef COLL_COMM_ARENA_H
#define COLL_COMM_ARENA_H

#include "../types.h"

/* ---- numbers ----------------------------------------------------------------------------- */

/* The numbers at … at + count − 1. */
typedef struct coll_span {
    size_t at, count; /* the first number, and how many */
    struct coll_span *next;
} coll_span;

/* Numbers of which some are taken. */
typedef struct coll_spans {
    size_t count;     /* the numbers 0 … count − 1 … */
    coll_span *first; /* … less these */
} coll_spans;

/* The numbers 0 … count − 1, none of them taken. */
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

/* Where more memory comes from. Neither function may use the arena, or a communicator that has
 * it. */
typedef struct coll_allocator {
    /* Returns memory at a multiple of `align`, a power of two of which `bytes` is a multiple;
     * or NULL: there is none. Where this pointer is NULL there is no allocator. */
    void *(*alloc)(void *ctx, size_t bytes, size_t align);
    void (*free)(void *ctx, void *memory, size_t bytes); /* of alloc, with its bytes */
    void *ctx;
} coll_allocator;

/* The memory of a root communicator for scratch: the caller's, and an allocator's. */
typedef struct coll_arena {
    unsigned char *base;
    coll_spans units;         /* of COLL_ARENA_ALIGN bytes */
    coll_allocator allocator; /* of more memory; its take is NULL: there is none */
    struct coll_arena
        *more; /* of the allocator, the latest first, each at the head of its memory */
} coll_arena;

/* What is taken of an arena. */
typedef struct coll_piece {
    coll_span span; /* its units of the arena */
    coll_arena *of; /* if it has any bytes */
} coll_piece;

/* The bytes that a piece of `bytes` occupies; SIZE_MAX where that overflows. A fresh arena that
 * needs pieces of a and b bytes must be given COLL_ARENA_ALIGN − 1 + these bytes of a and of
 * b. */
COLL_INLINE size_t coll_arena_bytes(size_t bytes)
{
    return bytes > SIZE_MAX - (COLL_ARENA_ALIGN - 1)
               ? SIZE_MAX
               : (bytes + (COLL_ARENA_ALIGN - 1)) / COLL_ARENA_ALIGN * COLL_ARENA_ALIGN;
}

/* Bytes of memory for an arena of one such piece, at any alignment: a constant expression. Of several
 * pieces, their bytes, each a multiple of COLL_ARENA_ALIGN, are the sum of what it is without
 * COLL_ARENA_ALIGN - 1. */
#define COLL_ARENA_BYTES(bytes)                                                                \
    (((size_t)(bytes) + COLL_ARENA_ALIGN - 1) / COLL_ARENA_ALIGN * COLL_ARENA_ALIGN +          \
     COLL_ARENA_ALIGN - 1)

/* Makes an arena of `bytes` bytes at memory, the caller's as long as the arena is used; NULL
 * and 0 are an arena without memory. */
COLL_INLINE void coll_arena_init(coll_arena *arena, void *memory, size_t bytes)
{
    const size_t odd = (size_t)((uintptr_t)memory % COLL_ARENA_ALIGN);
    const size_t skip = odd == 0 ? 0 : COLL_ARENA_ALIGN - odd;
    arena->base = skip < bytes ? (unsigned char *)memory + skip : NULL;
    coll_spans_init(&arena->units, skip < bytes ? (bytes - skip) / COLL_ARENA_ALIGN : 0);
    arena->allocator.alloc = NULL;
    arena->more = NULL;
}

/* Adds memory for so many units, or for twice as many as the latest time. */
COLL_INLINE coll_status coll_i_arena_grow(coll_arena *arena, size_t units)
{
    const size_t head = coll_arena_bytes(sizeof(coll_arena));
    coll_arena *more;
    if (arena->more && units < 2 * arena->more->units.count)
        units = 2 * arena->more->units.count;
    if (units > (SIZE_MAX - head) / COLL_ARENA_ALIGN)
        return COLL_ERR_MEMORY;
    more = (coll_arena *)arena->allocator.alloc(
        arena->allocator.ctx, head + units * COLL_ARENA_ALIGN, COLL_ARENA_ALIGN);
    if (!more)
        return COLL_ERR_MEMORY;
    more->base = (unsigned char *)more + head;
    coll_spans_init(&more->units, units);
    more->more = arena->more;
    arena->more = more;
    return COLL_OK;
}

/* Takes a piece of `bytes`. COLL_ERR_MEMORY: there is no room for it. */
COLL_INLINE coll_status coll_arena_take(coll_arena *arena, size_t bytes, coll_piece *piece)
{
    const size_t units = bytes / COLL_ARENA_ALIGN + (bytes % COLL_ARENA_ALIGN != 0 ? 1u : 0u);
    coll_status status;
    piece->of = arena;
    status = coll_spans_take(&arena->units, units, &piece->span);
    if (COLL_LIKELY(status == COLL_OK) || !arena->allocator.alloc)
        return status;
    for (piece->of = arena->more; piece->of; piece->of = piece->of->more)
        if (coll_spans_take(&piece->of->units, units, &piece->span) == COLL_OK)
            return COLL_OK;
    status = coll_i_arena_grow(arena, units);
    piece->of = arena->more;
    return status == COLL_OK ? coll_spans_take(&piece->of->units, units, &piece->span) : status;
}

/* Where a piece lies; NULL if it has 0 bytes. */
COLL_INLINE void *coll_arena_at(const coll_piece *piece)
{
    return piece->span.count == 0
               ? NULL
               : (void *)(piece->of->base + piece->span.at * COLL_ARENA_ALIGN);
}

/* Gives a piece back; one of 0 bytes, or one that was given back already, has no effect. */
COLL_INLINE void coll_arena_give(coll_piece *piece)
{
    if (piece->span.count != 0)
        coll_spans_give(&piece->of->units, &piece->span);
}

/* Gives back to the allocator what came from it. No piece may be taken. */
COLL_INLINE void coll_arena_free(coll_arena *arena)
{
    while (arena->more) {
        coll_arena *more = arena->more;
        arena->more = more->more;
        arena->allocator.free(arena->allocator.ctx, more,
                              coll_arena_bytes(sizeof(coll_arena)) +
                                  more->units.count * COLL_ARENA_ALIGN);
    }
}

#endif /* COLL_COMM_ARENA_H */
