/* mpi/heap/malloc.c — libcollheap.so: long blocks of malloc are memory of the node
 *
 *   COLL_ZERO_COPY=1 LD_PRELOAD=…/libcollheap.so:…/libcollmpi.so mpiexec -n 8 ./program
 *
 * Beside the layer, which has the memory (layer/memory.c), it makes buffers that a program allocates
 * after MPI_Init memory that the other ranks of the node read where it lies. malloc, calloc,
 * aligned_alloc, posix_memalign and memalign ask for such memory from collheap_least bytes on, which
 * C++'s new and Fortran's allocate come to as well; if there is no more, or no layer, and for what is
 * shorter, the next library's malloc gives its own. Pages are there from the beginning, touched or not,
 * and free gives back those of long blocks only. A child of the process has such memory as its own, but
 * sees what the parent writes to pages that it has not written itself.
 *
 * In front of a block lies where it begins and how long it is. realloc leaves blocks where they are,
 * the node's or not, and a block of the node that grows has room to grow again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

#define EXPORT __attribute__((visibility("default")))

/* Where the C library's malloc begins to take pages for a block alone. */
EXPORT const size_t collheap_least = 128 << 10;

/* In front of the data, which stays as aligned as it was. */
struct head {
    void *start;  /* of what was taken */
    size_t bytes; /* of data, at most */
};
enum { HEAD = 64 };

/* ---- the next library's ------------------------------------------------------------------ */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    size_t (*usable)(void *);
} next;

/* dlsym may ask for a few bytes itself, which are not freed. */
static _Alignas(16) unsigned char early[4096];
static size_t n_early;

static void *early_take(size_t bytes)
{
    void *memory = early + n_early;
    if (bytes > sizeof early - n_early)
        return NULL;
    n_early += (bytes + 15) / 16 * 16;
    return memory;
}

static bool is_early(const void *memory)
{
    return (uintptr_t)memory - (uintptr_t)early < sizeof early;
}

/* Is there somebody to ask? False: it is being found out. */
static bool find_next(void)
{
    static bool looking;
    if (next.usable)
        return true;
    if (looking)
        return false;
    looking = true;
#define FIND(field, name) *(void **)&next.field = dlsym(RTLD_NEXT, name)
    FIND(malloc, "malloc");
    FIND(calloc, "calloc");
    FIND(realloc, "realloc");
    FIND(free, "free");
    FIND(memalign, "memalign");
    FIND(posix_memalign, "posix_memalign");
    FIND(aligned_alloc, "aligned_alloc");
    FIND(usable, "malloc_usable_size");
#undef FIND
    return true;
}

/* ---- the node's -------------------------------------------------------------------------- */

static bool is_of_node(const void *memory)
{
    return collmpi_has && collmpi_has(memory);
}

static struct head *head_of(void *memory)
{
    return (struct head *)(void *)((unsigned char *)memory - HEAD);
}

/* Memory of the node with room for so many bytes, of which `bytes` are asked for, at a multiple of a power of two;
 * NULL: there is none, or they are too few. */
static void *take(size_t bytes, size_t room, size_t align)
{
    const size_t front = align < HEAD ? HEAD : align;
    unsigned char *start, *memory;
    if (bytes < collheap_least || !collmpi_take || front > PTRDIFF_MAX / 4 ||
        room > PTRDIFF_MAX - 2 * front)
        return NULL;
    start = collmpi_take(front + room + (align > 4096 ? align : 0));
    if (!start)
        return NULL;
    memory = start + front;
    memory += -(uintptr_t)memory & (front - 1);
    head_of(memory)->start = start;
    head_of(memory)->bytes = room;
    return memory;
}

/* ---- what programs call ------------------------------------------------------------------ */

EXPORT void *malloc(size_t bytes)
{
    void *memory = take(bytes, bytes, 1);
    return memory ? memory : find_next() ? next.malloc(bytes) : early_take(bytes);
}

EXPORT void free(void *memory)
{
    if (is_of_node(memory))
        collmpi_give(head_of(memory)->start);
    else if (!is_early(memory) && find_next())
        next.free(memory);
}

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    void *memory = __builtin_mul_overflow(n, size, &bytes) ? NULL : take(bytes, bytes, 1);
    if (memory)
        return memset(memory, 0, bytes);
    return find_next() ? next.calloc(n, size) : early_take(n * size);
}

EXPORT void *realloc(void *memory, size_t bytes)
{
    size_t has;
    void *moved;
    if (!memory)
        return malloc(bytes);
    if (!is_of_node(memory))
        return find_next() ? next.realloc(memory, bytes) : NULL;
    if (bytes == 0) {
        free(memory);
        return NULL;
    }
    has = head_of(memory)->bytes;
    if (bytes <= has && bytes >= has / 2)
        return memory;
    moved = bytes < has ? NULL : take(bytes, bytes + bytes / 8, 1);
    if (!moved)
        moved = malloc(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, memory, bytes < has ? bytes : has);
    free(memory);
    return moved;
}

static bool is_power(size_t align)
{
    return align > 0 && (align & (align - 1)) == 0;
}

EXPORT void *memalign(size_t align, size_t bytes)
{
    void *memory = is_power(align) ? take(bytes, bytes, align) : NULL;
    return memory ? memory : find_next() ? next.memalign(align, bytes) : NULL;
}

EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    void *memory = is_power(align) ? take(bytes, bytes, align) : NULL;
    return memory ? memory : find_next() ? next.aligned_alloc(align, bytes) : NULL;
}

EXPORT int posix_memalign(void **memory, size_t align, size_t bytes)
{
    void *its =
        is_power(align) && align % sizeof(void *) == 0 ? take(bytes, bytes, align) : NULL;
    if (!its)
        return find_next() ? next.posix_memalign(memory, align, bytes) : ENOMEM;
    *memory = its;
    return 0;
}

EXPORT size_t malloc_usable_size(void *memory)
{
    if (is_of_node(memory))
        return head_of(memory)->bytes;
    return find_next() ? next.usable(memory) : 0;
}
