/* tests/support/counted.h — the bytes that a library of headers has allocated: include this before them
 *
 *   #include "support/counted.h"
 *   #include "coll/transports/tcp.h"
 *   … counted_now, counted_most …
 *
 * What this file's includer allocates itself is counted, too. Of one thread. glibc.
 */
#ifndef COLL_TESTS_COUNTED_H
#define COLL_TESTS_COUNTED_H

#undef COLL_EXTERN /* the bodies of this file are its own */

#include <malloc.h>
#include <stdlib.h>

static size_t counted_now, counted_most;

static inline void *counted_add(void *memory)
{
    counted_now += memory ? malloc_usable_size(memory) : 0;
    counted_most = counted_now > counted_most ? counted_now : counted_most;
    return memory;
}

static inline void *counted_malloc(size_t bytes)
{
    return counted_add(malloc(bytes));
}

static inline void *counted_calloc(size_t n, size_t bytes)
{
    return counted_add(calloc(n, bytes));
}

static inline void *counted_realloc(void *memory, size_t bytes)
{
    const size_t before = memory ? malloc_usable_size(memory) : 0;
    void *const moved = realloc(memory, bytes);
    counted_now -= moved ? before : 0;
    return moved ? counted_add(moved) : NULL;
}

static inline void counted_free(void *memory)
{
    counted_now -= memory ? malloc_usable_size(memory) : 0;
    free(memory);
}

#define malloc  counted_malloc
#define calloc  counted_calloc
#define realloc counted_realloc
#define free    counted_free

#endif /* COLL_TESTS_COUNTED_H */
