/* Bad: calls the C library to copy memory. */
#ifndef COLL_MEMORY_H
#define COLL_MEMORY_H
#include <stddef.h>
#ifndef COLL_INLINE
#define COLL_INLINE static inline
#endif

void *memcpy(void *to, const void *from, size_t bytes);

COLL_INLINE void coll_copy_bytes(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif /* COLL_MEMORY_H */
