/* A constant of each file's own, in a function that all files share. */
#include "coll/config.h"

static const int coll_three[] = {3};

COLL_INLINE const int *coll_three_of(void)
{
    return coll_three;
}
