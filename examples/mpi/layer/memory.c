/* examples/mpi/layer/memory.c — scratch that is kept between calls, and MPI_Alloc_mem
 *
 * A fresh page costs more than a microsecond, each time the system gives it anew. What has more than
 * 128 MiB is not kept. With COLL_IN_PLACE both are memory that all ranks of the node can read, as long
 * as there is some (nodes.c): what a program sends out of it, and partial results, are read where they
 * lie. Other memory may be sent, too; then the kernel reads it. (Children of a process share such
 * memory with it, instead of having what it was when they began.)
 */
#include <stdlib.h>

#include "layer.h"

enum { CLASS_LEAST = 8, CLASSES = 28, KEPT_OF_CLASS = 8 };

/* At the head of a block; the rest of its cache line keeps the data aligned. */
struct block {
    struct block *next;
    unsigned class;
    bool of_node; /* its memory; else this rank's */
};
enum { HEAD = 64 };

static struct block *kept[CLASSES];
static unsigned n_kept[CLASSES];

void *pool_take(size_t bytes)
{
    struct block *block;
    unsigned class;
    if (bytes > SIZE_MAX / 4)
        return NULL;
    class = 64 - (unsigned)__builtin_clzll(bytes + HEAD - 1);
    if (class < CLASS_LEAST)
        class = CLASS_LEAST;
    if (class < CLASSES && kept[class]) {
        block = kept[class];
        kept[class] = block->next;
        n_kept[class]--;
    } else {
        void *shared = nodes_alloc((size_t)1 << class);
        block = shared ? shared : aligned_alloc(HEAD, (size_t)1 << class);
        if (!block)
            return NULL;
        block->class = class;
        block->of_node = shared != NULL;
    }
    return (unsigned char *)block + HEAD;
}

static void release(struct block *block)
{
    if (block->of_node)
        (void)nodes_free(block);
    else
        free(block);
}

void pool_give(void *memory)
{
    struct block *block;
    if (!memory)
        return;
    block = (struct block *)(void *)((unsigned char *)memory - HEAD);
    if (block->class >= CLASSES || n_kept[block->class] == KEPT_OF_CLASS) {
        release(block);
        return;
    }
    block->next = kept[block->class];
    kept[block->class] = block;
    n_kept[block->class]++;
}

void pool_end(void)
{
    for (unsigned class = 0; class < CLASSES; class ++)
        while (kept[class]) {
            struct block *block = kept[class];
            kept[class] = block->next;
            release(block);
        }
}

/* ---- the program's ----------------------------------------------------------------------- */

/* Who has wishes is heard by the library, and refused where that refuses. */
EXPORT int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    void *memory = NULL;
    if (settings.ready && size > 0 && info == MPI_INFO_NULL && baseptr) {
        lock();
        memory = nodes_alloc((size_t)size);
        if (settings.in_place)
            report_memory(memory != NULL, (size_t)size);
        unlock();
    }
    if (!memory)
        return PMPI_Alloc_mem(size, info, baseptr);
    *(void **)baseptr = memory;
    return MPI_SUCCESS;
}

/* Also in MPI_Finalize, where callbacks may free what they have, and after it. */
EXPORT int MPI_Free_mem(void *base)
{
    bool ours;
    lock();
    ours = nodes_free(base);
    unlock();
    return ours ? MPI_SUCCESS : PMPI_Free_mem(base);
}
