/* Firmware that needs a C library. */
#include "coll_ring.h"

void *malloc(size_t bytes);
int start(void);

int start(void)
{
    return malloc(sizeof(coll_plan)) != NULL;
}
