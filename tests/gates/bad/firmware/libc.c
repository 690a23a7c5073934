/* Firmware that needs a C library. */
#include <stddef.h>

void *malloc(size_t bytes);

int main(void)
{
    return malloc(1) != NULL;
}
