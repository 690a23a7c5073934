/* mpi/tests/differential/call.c — an operation as a call of MPI, in all its forms, and of PMPI */
#include "differential.h"

/* The arguments of each collective. N is empty, or _c for the arrays of the wider call. */
#define BARRIER(N)              o->comm
#define BCAST(N)                r->origin, r->count, r->type, o->root, o->comm
#define VECTOR(N)               s->origin, r->origin, o->count, o->op.type, o->op.op
#define REDUCE(N)               VECTOR(N), o->root, o->comm
#define ALLREDUCE(N)            VECTOR(N), o->comm
#define REDUCE_SCATTER_BLOCK(N) VECTOR(N), o->comm
#define SCAN(N)                 VECTOR(N), o->comm
#define EXSCAN(N)               VECTOR(N), o->comm
#define REDUCE_SCATTER(N)       s->origin, r->origin, r->counts##N, o->op.type, o->op.op, o->comm
#define SEND_ONE                s->origin, s->count, s->type
#define RECV_ONE                r->origin, r->count, r->type
#define SEND_V(N)               s->origin, s->counts##N, s->displs##N, s->type
#define RECV_V(N)               r->origin, r->counts##N, r->displs##N, r->type
#define GATHER(N)               SEND_ONE, RECV_ONE, o->root, o->comm
#define GATHERV(N)              SEND_ONE, RECV_V(N), o->root, o->comm
#define SCATTER(N)              SEND_ONE, RECV_ONE, o->root, o->comm
#define SCATTERV(N)             SEND_V(N), RECV_ONE, o->root, o->comm
#define ALLGATHER(N)            SEND_ONE, RECV_ONE, o->comm
#define ALLGATHERV(N)           SEND_ONE, RECV_V(N), o->comm
#define ALLTOALL(N)             SEND_ONE, RECV_ONE, o->comm
#define ALLTOALLV(N)            SEND_V(N), RECV_V(N), o->comm
#define W(x, N)                 x->origin, x->counts##N, x->displs##N, x->types
#define ALLTOALLW(N)            W(s, N), W(r, N), o->comm
#define NEIGHBOR_ALLGATHER(N)   SEND_ONE, RECV_ONE, o->comm
#define NEIGHBOR_ALLGATHERV(N)  SEND_ONE, RECV_V(N), o->comm
#define NEIGHBOR_ALLTOALL(N)    SEND_ONE, RECV_ONE, o->comm
#define NEIGHBOR_ALLTOALLV(N)   SEND_V(N), RECV_V(N), o->comm
#define FAR(x, N)               x->origin, x->counts##N, x->displs_c, x->types
#define NEIGHBOR_ALLTOALLW(N)   FAR(s, N), FAR(r, N), o->comm

/* F(Name, name after an I, arguments) of all collectives; barriers have no wider call. */
#define COUNTED(F)                                                                             \
    F(bcast, Bcast, bcast, BCAST)                                                              \
    F(reduce, Reduce, reduce, REDUCE)                                                          \
    F(allreduce, Allreduce, allreduce, ALLREDUCE)                                              \
    F(gather, Gather, gather, GATHER)                                                          \
    F(gatherv, Gatherv, gatherv, GATHERV)                                                      \
    F(scatter, Scatter, scatter, SCATTER)                                                      \
    F(scatterv, Scatterv, scatterv, SCATTERV)                                                  \
    F(allgather, Allgather, allgather, ALLGATHER)                                              \
    F(allgatherv, Allgatherv, allgatherv, ALLGATHERV)                                          \
    F(alltoall, Alltoall, alltoall, ALLTOALL)                                                  \
    F(alltoallv, Alltoallv, alltoallv, ALLTOALLV)                                              \
    F(alltoallw, Alltoallw, alltoallw, ALLTOALLW)                                              \
    F(reduce_scatter, Reduce_scatter, reduce_scatter, REDUCE_SCATTER)                          \
    F(reduce_scatter_block, Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK)  \
    F(scan, Scan, scan, SCAN)                                                                  \
    F(exscan, Exscan, exscan, EXSCAN)                                                          \
    F(neighbor_allgather, Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER)          \
    F(neighbor_allgatherv, Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV)      \
    F(neighbor_alltoall, Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL)              \
    F(neighbor_alltoallv, Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV)          \
    F(neighbor_alltoallw, Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW)

/* A call in its forms; MORE are what a suffix adds. */
#if LARGE_COUNTS
#define FORMS(Name, iname, c, args)                                                            \
    switch (o->form) {                                                                         \
    case BLOCKING:                                                                             \
        return MPI_##Name##c(args);                                                            \
    case NONBLOCKING:                                                                          \
        return MPI_I##iname##c(args, &o->request);                                             \
    default:                                                                                   \
        return MPI_##Name##_init##c(args, MPI_INFO_NULL, &o->request);                         \
    }
#define WIDER(Name, iname, ARGS)                                                               \
    if (o->large)                                                                              \
    FORMS(Name, iname, _c, ARGS(_c))
#else
#define FORMS(Name, iname, c, args)                                                            \
    return o->form == BLOCKING ? MPI_##Name(args) : MPI_I##iname(args, &o->request);
#define WIDER(Name, iname, ARGS)
#endif

#define EXPECT(what, Name, iname, ARGS)                                                        \
    case is_##what:                                                                            \
        return PMPI_##Name(ARGS());
#define CALL(what, Name, iname, ARGS)                                                          \
    case is_##what: {                                                                          \
        WIDER(Name, iname, ARGS)                                                               \
        FORMS(Name, iname, , ARGS())                                                           \
    }

static int library(struct operation *o)
{
    const struct side *s = &o->send, *r = &o->recv;
    switch (o->what) {
    case is_barrier:
        return PMPI_Barrier(o->comm);
        COUNTED(EXPECT)
    default:
        return MPI_ERR_OTHER;
    }
}

static int tested(struct operation *o)
{
    const struct side *s = &o->send, *r = &o->recv;
    switch (o->what) {
    case is_barrier: {
        FORMS(Barrier, barrier, , o->comm)
    }
        COUNTED(CALL)
    default:
        return MPI_ERR_OTHER;
    }
}

void operation_expect(struct operation *o)
{
    if (options.by_definition || library_is_wrong(o))
        operation_define(o);
    else
        library(o);
    struct side *const sides[2] = {&o->send, &o->recv};
    for (int i = 0; i < 2; i++)
        if (sides[i]->memory) {
            memcpy(sides[i]->expected, sides[i]->memory, sides[i]->bytes);
            memcpy(sides[i]->memory, sides[i]->initial, sides[i]->bytes);
        }
}

void operation_call(struct operation *o)
{
    tested(o);
}
