/* tests/gates/modes/part.c — see main.c */
#include "coll/comm.h"

#include "part.h"

coll_status begin(coll_comm *comm, double *x, coll_request *call)
{
    return coll_iallreduce(comm, COLL_IN_PLACE, x, COUNT, COLL_F64, COLL_SUM, call);
}

const coll_algorithm *ring(void)
{
    return &coll_ring_allreduce;
}
