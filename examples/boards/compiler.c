/* examples/boards/compiler.c — what compilers call where a structure is copied: the library does not ask for it, but with
 * many algorithms in one program inlining brings it about (docs/microcontroller.md) */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);

void *memcpy(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *at =
        (volatile unsigned char *)to; /* or this loop becomes a call of itself */
    const unsigned char *its = (const unsigned char *)from;
    while (bytes-- > 0)
        *at++ = *its++;
    return to;
}
