/* examples/mpi/layer/memory.c — scratch that is kept between calls: a fresh page costs more than
 * a microsecond, each time the system gives it anew. What has more than 128 MiB is not kept. */
#include <stdlib.h>

#include "layer.h"

enum { CLASS_LEAST = 8, CLASSES = 28, KEPT_OF_CLASS = 8 };

/* At the head of a block; the rest of its cache line keeps the data aligned. */
struct block {
    struct block *next;
    unsigned class;
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
        block = (struct block *)aligned_alloc(HEAD, (size_t)1 << class);
        if (!block)
            return NULL;
        block->class = class;
    }
    return (unsigned char *)block + HEAD;
}

void pool_give(void *memory)
{
    struct block *block;
    if (!memory)
        return;
    block = (struct block *)(void *)((unsigned char *)memory - HEAD);
    if (block->class >= CLASSES || n_kept[block->class] == KEPT_OF_CLASS) {
        free(block);
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
            free(block);
        }
}
