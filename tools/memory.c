/* tools/memory.c — see memory.h */
#include "memory.h"

#include <stdlib.h>

#include "options.h"

void *memory_must(void *memory)
{
    if (!memory)
        refuse("there is not enough memory for this");
    return memory;
}

void *memory_of(size_t elements, size_t bytes)
{
    return memory_must(calloc(elements ? elements : 1, bytes));
}
