/* mpi/heap/heap.h — what libcollheap.so and libcollmpi.so are to each other
 *
 * Either works without the other; what is not there has the address NULL.
 */
#ifndef COLL_HEAP_H
#define COLL_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define COLL_HEAP_SHARED __attribute__((visibility("default"), weak))

/* From so many bytes on malloc asks for the node's memory. */
extern COLL_HEAP_SHARED const size_t collheap_least;

/* Memory of the node, whole pages; NULL: there is none, or no more. */
COLL_HEAP_SHARED void *collmpi_take(size_t bytes);
/* Does memory, or a part of it, lie where collmpi_take gave some, so that nobody else did? */
COLL_HEAP_SHARED bool collmpi_has(const void *memory);
/* Gives back what collmpi_take gave. */
COLL_HEAP_SHARED void collmpi_give(void *memory);

#endif /* COLL_HEAP_H */
