/* tests/support/heap.h — malloc as a communicator's allocator */
#ifndef COLL_TESTS_HEAP_H
#define COLL_TESTS_HEAP_H

#include <stdlib.h>

#include "coll/comm.h"

static inline void *heap_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static inline void heap_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx, (void)bytes;
    free(memory);
}

static const coll_allocator heap = {heap_alloc, heap_free, NULL};

#endif /* COLL_TESTS_HEAP_H */
