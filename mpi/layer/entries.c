/* mpi/layer/entries.c — MPI's collectives: their arguments in one form
 *
 * Each collective comes in up to six calls: blocking, nonblocking and persistent, with counts
 * that are ints or, from MPI-4 on, MPI_Count. They differ in the types of counts and
 * displacements alone, so each collective is described once, by two macros, its parameters, with
 * C for the type of a count and D for that of a displacement, and its arguments; and by how these
 * fill a struct call.
 */
#include "again.h"
#include "ticks.h"

#define CALL(params, wide_, what_, ...)                                                        \
    const struct call call = {.what = what_, .wide = wide_, .comm = comm, __VA_ARGS__};

/* The calls of one collective with one width of counts. What recognises a call that was made before
 * is not to have its arguments in memory, so all else is another function. */
#define CALLS(wide, name, iname, init, C, D, params, args, what, ...)                          \
    static __attribute__((noinline)) int name##_anew(params(C, D))                             \
    {                                                                                          \
        CALL(params, wide, what, __VA_ARGS__)                                                  \
        uint64_t begun;                                                                        \
        int error;                                                                             \
        if (settings.one_sum && one_sum_takes(&call, &error))                                  \
            return error;                                                                      \
        if (layer_takes(&call, BLOCKING, NULL, &error))                                        \
            return error;                                                                      \
        begun = settings.trace ? ticks_now() : 0;                                              \
        error = P##name(args());                                                               \
        if (settings.trace)                                                                    \
            trace_own(&call, begun, error);                                                    \
        return error;                                                                          \
    }                                                                                          \
    EXPORT int name(params(C, D))                                                              \
    {                                                                                          \
        CALL(params, wide, what, __VA_ARGS__)                                                  \
        struct job *job = job_again(&call);                                                    \
        const int error = job ? job_rush(job) : NO_CODE;                                       \
        return COLL_LIKELY(error != NO_CODE) ? error : name##_anew(args());                    \
    }                                                                                          \
    EXPORT int iname(params(C, D), MPI_Request *request)                                       \
    {                                                                                          \
        CALL(params, wide, what, __VA_ARGS__)                                                  \
        int error;                                                                             \
        return request && layer_takes(&call, NONBLOCKING, request, &error)                     \
                   ? error                                                                     \
                   : P##iname(args(), request);                                                \
    }                                                                                          \
    INIT(wide, init, C, D, params, args, what, __VA_ARGS__)

#if MPI_VERSION >= 4
#define INIT(wide, name, C, D, params, args, what, ...)                                        \
    EXPORT int name(params(C, D), MPI_Info info, MPI_Request *request)                         \
    {                                                                                          \
        CALL(params, wide, what, __VA_ARGS__)                                                  \
        int error;                                                                             \
        return request && layer_takes(&call, PERSISTENT, request, &error)                      \
                   ? error                                                                     \
                   : P##name(args(), info, request);                                           \
    }
#define LARGE(Name, name, params, args, what, ...)                                             \
    CALLS(true, MPI_##Name##_c, MPI_I##name##_c, MPI_##Name##_init_c, MPI_Count, MPI_Aint,     \
          params, args, what, __VA_ARGS__)
#else
#define INIT(...)
#define LARGE(...)
#endif
#define SMALL(Name, name, params, args, what, ...)                                             \
    CALLS(false, MPI_##Name, MPI_I##name, MPI_##Name##_init, int, int, params, args, what,     \
          __VA_ARGS__)
#define COLLECTIVE(Name, name, params, args, what, ...)                                        \
    SMALL(Name, name, params, args, what, __VA_ARGS__)                                         \
    LARGE(Name, name, params, args, what, __VA_ARGS__)

/* ---- barrier, bcast ---------------------------------------------------------------------- */

#define BARRIER(C, D)  MPI_Comm comm
#define BARRIER_ARGS() comm
SMALL(Barrier, barrier, BARRIER, BARRIER_ARGS, COLL_BARRIER, .root = 0)

#define BCAST(C, D)  void *buffer, C count, MPI_Datatype datatype, int root, MPI_Comm comm
#define BCAST_ARGS() buffer, count, datatype, root, comm
COLLECTIVE(Bcast, bcast, BCAST, BCAST_ARGS, COLL_BCAST, .root = root,
           .out = {buffer, count, datatype, NULL, NULL, NULL})

/* ---- reductions -------------------------------------------------------------------------- */

#define VECTORS                                                                                \
    .op = op, .in = {sendbuf, count, datatype, NULL, NULL, NULL},                              \
    .out = {recvbuf, count, datatype, NULL, NULL, NULL}

#define REDUCE(C, D)                                                                           \
    const void *sendbuf, void *recvbuf, C count, MPI_Datatype datatype, MPI_Op op, int root,   \
        MPI_Comm comm
#define REDUCE_ARGS() sendbuf, recvbuf, count, datatype, op, root, comm
COLLECTIVE(Reduce, reduce, REDUCE, REDUCE_ARGS, COLL_REDUCE, .root = root, VECTORS)

#define ALLREDUCE(C, D)                                                                        \
    const void *sendbuf, void *recvbuf, C count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
#define ALLREDUCE_ARGS() sendbuf, recvbuf, count, datatype, op, comm
COLLECTIVE(Allreduce, allreduce, ALLREDUCE, ALLREDUCE_ARGS, COLL_ALLREDUCE, VECTORS)
COLLECTIVE(Scan, scan, ALLREDUCE, ALLREDUCE_ARGS, COLL_SCAN, VECTORS)
COLLECTIVE(Exscan, exscan, ALLREDUCE, ALLREDUCE_ARGS, COLL_EXSCAN, VECTORS)
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, ALLREDUCE, ALLREDUCE_ARGS,
           COLL_REDUCE_SCATTER_BLOCK, VECTORS)

#define REDUCE_SCATTER(C, D)                                                                   \
    const void *sendbuf, void *recvbuf, const C recvcounts[], MPI_Datatype datatype,           \
        MPI_Op op, MPI_Comm comm
#define REDUCE_SCATTER_ARGS() sendbuf, recvbuf, recvcounts, datatype, op, comm
COLLECTIVE(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, REDUCE_SCATTER_ARGS,
           COLL_REDUCE_SCATTER, .op = op, .in = {sendbuf, 0, datatype, recvcounts, NULL, NULL},
           .out = {recvbuf, 0, datatype, NULL, NULL, NULL})

/* ---- gathers and scatters ---------------------------------------------------------------- */

#define EVEN                                                                                   \
    .in = {sendbuf, sendcount, sendtype, NULL, NULL, NULL},                                    \
    .out = {recvbuf, recvcount, recvtype, NULL, NULL, NULL}
#define UNEVEN_OUT                                                                             \
    .in = {sendbuf, sendcount, sendtype, NULL, NULL, NULL},                                    \
    .out = {recvbuf, 0, recvtype, recvcounts, displs, NULL}

#define GATHER(C, D)                                                                           \
    const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount,       \
        MPI_Datatype recvtype, int root, MPI_Comm comm
#define GATHER_ARGS() sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm
COLLECTIVE(Gather, gather, GATHER, GATHER_ARGS, COLL_GATHER, .root = root, EVEN)
COLLECTIVE(Scatter, scatter, GATHER, GATHER_ARGS, COLL_SCATTER, .root = root, EVEN)

#define GATHERV(C, D)                                                                          \
    const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf,                    \
        const C recvcounts[], const D displs[], MPI_Datatype recvtype, int root, MPI_Comm comm
#define GATHERV_ARGS()                                                                         \
    sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm
COLLECTIVE(Gatherv, gatherv, GATHERV, GATHERV_ARGS, COLL_GATHERV, .root = root, UNEVEN_OUT)

#define SCATTERV(C, D)                                                                         \
    const void *sendbuf, const C sendcounts[], const D displs[], MPI_Datatype sendtype,        \
        void *recvbuf, C recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
#define SCATTERV_ARGS()                                                                        \
    sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm
COLLECTIVE(Scatterv, scatterv, SCATTERV, SCATTERV_ARGS, COLL_SCATTERV, .root = root,
           .in = {sendbuf, 0, sendtype, sendcounts, displs, NULL},
           .out = {recvbuf, recvcount, recvtype, NULL, NULL, NULL})

#define ALLGATHER(C, D)                                                                        \
    const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount,       \
        MPI_Datatype recvtype, MPI_Comm comm
#define ALLGATHER_ARGS() sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm
COLLECTIVE(Allgather, allgather, ALLGATHER, ALLGATHER_ARGS, COLL_ALLGATHER, EVEN)
COLLECTIVE(Neighbor_allgather, neighbor_allgather, ALLGATHER, ALLGATHER_ARGS,
           COLL_NEIGHBOR_ALLGATHER, EVEN)

#define ALLGATHERV(C, D)                                                                       \
    const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf,                    \
        const C recvcounts[], const D displs[], MPI_Datatype recvtype, MPI_Comm comm
#define ALLGATHERV_ARGS()                                                                      \
    sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm
COLLECTIVE(Allgatherv, allgatherv, ALLGATHERV, ALLGATHERV_ARGS, COLL_ALLGATHERV, UNEVEN_OUT)
COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, ALLGATHERV, ALLGATHERV_ARGS,
           COLL_NEIGHBOR_ALLGATHERV, UNEVEN_OUT)

/* ---- all to all -------------------------------------------------------------------------- */

COLLECTIVE(Alltoall, alltoall, ALLGATHER, ALLGATHER_ARGS, COLL_ALLTOALL, EVEN)
COLLECTIVE(Neighbor_alltoall, neighbor_alltoall, ALLGATHER, ALLGATHER_ARGS,
           COLL_NEIGHBOR_ALLTOALL, EVEN)

#define ALLTOALLV(C, D)                                                                        \
    const void *sendbuf, const C sendcounts[], const D sdispls[], MPI_Datatype sendtype,       \
        void *recvbuf, const C recvcounts[], const D rdispls[], MPI_Datatype recvtype,         \
        MPI_Comm comm
#define ALLTOALLV_ARGS()                                                                       \
    sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm
#define UNEVEN                                                                                 \
    .in = {sendbuf, 0, sendtype, sendcounts, sdispls, NULL},                                   \
    .out = {recvbuf, 0, recvtype, recvcounts, rdispls, NULL}
COLLECTIVE(Alltoallv, alltoallv, ALLTOALLV, ALLTOALLV_ARGS, COLL_ALLTOALLV, UNEVEN)
COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, ALLTOALLV, ALLTOALLV_ARGS,
           COLL_NEIGHBOR_ALLTOALLV, UNEVEN)

#define ALLTOALLW(C, D)                                                                        \
    const void *sendbuf, const C sendcounts[], const D sdispls[],                              \
        const MPI_Datatype sendtypes[], void *recvbuf, const C recvcounts[],                   \
        const D rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm
#define NEIGHBOR_ALLTOALLW(C, D) ALLTOALLW(C, MPI_Aint)
#define ALLTOALLW_ARGS()                                                                       \
    sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm
#define OF_TYPES                                                                               \
    .in = {sendbuf, 0, MPI_DATATYPE_NULL, sendcounts, sdispls, sendtypes},                     \
    .out = {recvbuf, 0, MPI_DATATYPE_NULL, recvcounts, rdispls, recvtypes}
COLLECTIVE(Alltoallw, alltoallw, ALLTOALLW, ALLTOALLW_ARGS, COLL_ALLTOALLW, OF_TYPES)
COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, ALLTOALLW_ARGS,
           COLL_NEIGHBOR_ALLTOALLW, .far_displs = true, OF_TYPES)
