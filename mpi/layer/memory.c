/* mpi/layer/memory.c — memory of the node, scratch that is kept between calls, and MPI_Alloc_mem
 *
 * With COLL_ZERO_COPY the program's memory of MPI_Alloc_mem, and with libcollheap.so of malloc,
 * is memory that all ranks of the node can read, as long as there is some, and so is the layer's
 * scratch: what a program sends out of it, and partial results, are read where they lie. Other
 * memory may be sent, too; then the kernel reads it.
 *
 * A fresh page costs more than a microsecond, each time the system gives it anew. So scratch is kept,
 * but for what has more than 128 MiB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "../heap/heap.h"
#include "coll/select/intra_node.h"
#include "coll/transports/shm.h"
#include "layer.h"

/* ---- of the node ------------------------------------------------------------------------- */

/* Any thread may call malloc, and so does the layer while it holds its own lock. */
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
static coll_shm *segment; /* NULL: there is no such memory, or no more */
static uintptr_t from,
    to; /* all that was taken lies there, and while any of it is in use nothing else */
static size_t in_use;

static void *take(size_t bytes)
{
    unsigned char *memory = NULL;
    pthread_mutex_lock(&taking);
    if (segment && bytes > COLL_NODE_NARROW)
        memory = coll_shm_alloc(segment, bytes);
    if (memory) {
        in_use++;
        if (from == 0 || (uintptr_t)memory < from)
            __atomic_store_n(&from, (uintptr_t)memory, __ATOMIC_RELAXED);
        if ((uintptr_t)memory + bytes > to)
            __atomic_store_n(&to, (uintptr_t)memory + bytes, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&taking);
    return memory;
}

static bool is_of_node(const void *memory)
{
    return (uintptr_t)memory < __atomic_load_n(&to, __ATOMIC_RELAXED) &&
           (uintptr_t)memory >= __atomic_load_n(&from, __ATOMIC_RELAXED);
}

/* False: it is not such memory. What was not freed before the end, or is a parent's, stays. As in free,
 * errno does, too. */
static bool give(void *memory)
{
    const int error = errno;
    bool ours = is_of_node(memory);
    if (!ours)
        return false;
    pthread_mutex_lock(&taking);
    ours = !segment || coll_shm_free(segment, memory);
    in_use -= segment && ours;
    pthread_mutex_unlock(&taking);
    errno = error;
    return ours;
}

static void before_fork(void)
{
    pthread_mutex_lock(&taking);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&taking);
}

/* The segment's list is the parent's: a child that took or freed would do so under its hands. */
static void in_child(void)
{
    if (segment)
        (void)coll_shm_part(segment);
    segment = NULL;
    pthread_mutex_unlock(&taking);
}

void memory_open(coll_shm *shm)
{
    if (pthread_atfork(before_fork, in_parent, in_child) != 0)
        return;
    pthread_mutex_lock(&taking);
    segment = shm;
    pthread_mutex_unlock(&taking);
}

void memory_close(void)
{
    pthread_mutex_lock(&taking);
    segment = NULL;
    if (in_use == 0) /* the segment is unmapped as a whole */
        __atomic_store_n(&to, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&taking);
}

EXPORT void *collmpi_take(size_t bytes)
{
    void *memory;
    if (!__atomic_load_n(&segment, __ATOMIC_RELAXED))
        return NULL;
    memory = take(bytes);
    report_memory(true, memory != NULL, bytes);
    return memory;
}

EXPORT bool collmpi_has(const void *memory)
{
    return is_of_node(memory);
}

EXPORT void collmpi_give(void *memory)
{
    (void)give(memory);
}

/* ---- scratch ----------------------------------------------------------------------------- */

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
        void *shared = take((size_t)1 << class);
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
        (void)give(block);
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
        memory = take((size_t)size);
        if (settings.zero_copy)
            report_memory(false, memory != NULL, (size_t)size);
    }
    if (!memory)
        return PMPI_Alloc_mem(size, info, baseptr);
    *(void **)baseptr = memory;
    return MPI_SUCCESS;
}

/* Also in MPI_Finalize, where callbacks may free what they have, and after it. */
EXPORT int MPI_Free_mem(void *base)
{
    return give(base) ? MPI_SUCCESS : PMPI_Free_mem(base);
}
