/* examples/10_mixed/extremes.cpp — see 10_mixed.c */
#include "extremes.h"

#include <algorithm>

/* min and max by one allreduce: the greatest of x is the least of −x. */
coll_status extremes_of_all(coll_comm *comm, const int32_t *x, size_t n, extremes *all)
{
    const auto mine = std::minmax_element(x, x + n);
    int32_t both[] = {*mine.first, -*mine.second};
    const coll_status status = coll_allreduce(comm, COLL_IN_PLACE, both, 2, COLL_I32, COLL_MIN);
    all->least = both[0];
    all->greatest = -both[1];
    return status;
}
