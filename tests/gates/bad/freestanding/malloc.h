/* Bad: allocates. */
#ifndef COLL_MALLOC_H
#define COLL_MALLOC_H
#include <stddef.h>
#ifndef COLL_INLINE
#define COLL_INLINE static inline
#endif

void *malloc(size_t bytes);

COLL_INLINE void *coll_new(size_t bytes)
{
    return malloc(bytes);
}

#endif /* COLL_MALLOC_H */
