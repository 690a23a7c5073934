/* Bad: loses the upper half of a count. */
#ifndef COLL_CONVERSION_H
#define COLL_CONVERSION_H
#include <stdint.h>

static inline uint32_t coll_low_half(uint64_t count)
{
    return count;
}

#endif /* COLL_CONVERSION_H */
