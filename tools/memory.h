/* tools/memory.h — memory that is there, or an end with a sentence */
#ifndef COLL_TOOLS_MEMORY_H
#define COLL_TOOLS_MEMORY_H

#include <stddef.h>

/* Zeroed memory, for free(); none of 0 elements is some all the same. */
void *memory_of(size_t elements, size_t bytes);

/* The memory itself; refuses the request if it is NULL. */
void *memory_must(void *memory);

#endif /* COLL_TOOLS_MEMORY_H */
