/* bench/size/comm.c — an allreduce by a communicator, for bench/size.sh */
#define COLL_IRREGULAR 1
#include "coll/comm.h"

coll_status coll_size_allreduce(coll_comm *comm, const coll_transport *transport, void *ctx,
                                uint32_t rank, uint32_t p, float *x, size_t count);

coll_status coll_size_allreduce(coll_comm *comm, const coll_transport *transport, void *ctx,
                                uint32_t rank, uint32_t p, float *x, size_t count)
{
    const coll_status status = coll_comm_init(comm, transport, ctx, rank, p, NULL, 0);
    return status == COLL_OK ? coll_allreduce(comm, COLL_IN_PLACE, x, count, COLL_F32, COLL_SUM)
                             : status;
}
