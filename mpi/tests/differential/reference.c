/* mpi/tests/differential/reference.c — what a collective does, by its definition: packed blocks
 * sent as ordinary messages, and operands combined in rank order. Slow, and right where a library
 * is not.
 */
#include <stdlib.h>

#include "differential.h"

struct block {
    int peer, edge, count;
    void *at;
    MPI_Datatype type;
};

enum { BLOCKS = 2 * MANY, TAG = 31999 };

static int packed_size(const struct block *b, MPI_Comm comm)
{
    int bytes;
    PMPI_Pack_size(b->count, b->type, comm, &bytes);
    return bytes;
}

/* Sends and receives blocks; those between two ranks in their order. All are packed before any is
 * received, so that they may lie in the same memory. */
static void move(const struct block *sends, int n_sends, const struct block *receives,
                 int n_receives, MPI_Comm comm)
{
    MPI_Request requests[2 * BLOCKS];
    MPI_Status statuses[2 * BLOCKS];
    unsigned char *packed[2 * BLOCKS];
    int n = 0;
    for (int i = 0; i < n_receives; i++, n++) {
        const int bytes = packed_size(&receives[i], comm);
        packed[n] = malloc((size_t)bytes + 1);
        PMPI_Irecv(packed[n], bytes, MPI_PACKED, receives[i].peer, TAG - receives[i].edge, comm,
                   &requests[n]);
    }
    for (int i = 0; i < n_sends; i++, n++) {
        const int bytes = packed_size(&sends[i], comm);
        int at = 0;
        packed[n] = malloc((size_t)bytes + 1);
        PMPI_Pack(sends[i].at, sends[i].count, sends[i].type, packed[n], bytes, &at, comm);
        PMPI_Isend(packed[n], at, MPI_PACKED, sends[i].peer, TAG - sends[i].edge, comm,
                   &requests[n]);
    }
    PMPI_Waitall(n, requests, statuses);
    for (int i = 0; i < n_receives; i++) {
        const struct block *r = &receives[i];
        int at = 0;
        if (r->peer != MPI_PROC_NULL)
            PMPI_Unpack(packed[i], packed_size(r, comm), &at, r->at, r->count, r->type, comm);
    }
    while (n > 0)
        free(packed[--n]);
}

/* Block i of a side of a collective that has blocks of one kind or another. */
static struct block block_of(const struct side *side, int i, int peer, bool w)
{
    struct block b = {peer, 0, side->count, side->origin, side->type};
    MPI_Aint lb, extent, at = 0;
    if (side->counts && w) {
        b.count = side->counts[i];
        b.type = side->types[i];
        at = side->displs[i];
    } else {
        PMPI_Type_get_extent(side->type, &lb, &extent);
        if (side->counts)
            b.count = side->counts[i];
        at = extent * (side->counts ? side->displs[i] : (MPI_Aint)i * side->count);
    }
    b.at = (void *)((uintptr_t)side->origin + (uintptr_t)at);
    return b;
}

static void moving(const struct operation *o)
{
    const struct communicator *c = o->on;
    const struct side *s = &o->send, *r = &o->recv;
    const int n = c->size, me = c->rank;
    const bool root = me == o->root;
    struct block sends[BLOCKS], receives[BLOCKS];
    int n_sends = 0, n_receives = 0;
    switch (o->what) {
    case is_bcast:
        for (int i = 0; root && i < n; i++)
            if (i != me)
                sends[n_sends++] = block_of(r, 0, i, false);
        if (!root)
            receives[n_receives++] = block_of(r, 0, o->root, false);
        break;
    case is_gather:
    case is_gatherv:
        if (!root || !o->in_place)
            sends[n_sends++] = block_of(s, 0, o->root, false);
        for (int i = 0; root && i < n; i++)
            if (i != me || !o->in_place)
                receives[n_receives++] = block_of(r, i, i, false);
        break;
    case is_scatter:
    case is_scatterv:
        for (int i = 0; root && i < n; i++)
            if (i != me || !o->in_place)
                sends[n_sends++] = block_of(s, i, i, false);
        if (!root || !o->in_place)
            receives[n_receives++] = block_of(r, 0, o->root, false);
        break;
    case is_allgather:
    case is_allgatherv:
        for (int i = 0; i < n; i++) {
            sends[n_sends] = block_of(o->in_place ? r : s, o->in_place ? me : 0, i, false);
            receives[n_receives] = block_of(r, i, i, false);
            if (i != me || !o->in_place)
                n_sends++, n_receives++;
        }
        break;
    case is_alltoall:
    case is_alltoallv:
    case is_alltoallw:
        for (int i = 0; i < n; i++) {
            const bool w = o->what == is_alltoallw;
            sends[n_sends++] = block_of(o->in_place ? r : s, i, i, w);
            receives[n_receives++] = block_of(r, i, i, w);
        }
        break;
    default: { /* to neighbours */
        const bool w = o->what == is_neighbor_alltoallw;
        const bool gathers =
            o->what == is_neighbor_allgather || o->what == is_neighbor_allgatherv;
        for (int k = 0; k < c->out; k++) {
            sends[n_sends] = block_of(s, gathers ? 0 : k, c->destinations[k], w);
            sends[n_sends++].edge = edge_of(c, true, k);
        }
        for (int k = 0; k < c->in; k++) {
            receives[n_receives] = block_of(r, k, c->sources[k], w);
            receives[n_receives++].edge = edge_of(c, false, k);
        }
    }
    }
    move(sends, n_sends, receives, n_receives, o->comm);
}

static void reducing(const struct operation *o)
{
    const int n = o->on->size, me = o->on->rank;
    const MPI_Datatype type = o->op.type;
    const bool blocks = o->what == is_reduce_scatter || o->what == is_reduce_scatter_block;
    MPI_Aint lb, extent, true_lb, true_extent;
    int total = o->count, first = 0, count = o->count, to = n;
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    if (blocks) {
        total = 0;
        for (int i = 0; i < n; i++) {
            first = i == me ? total : first;
            total += o->recv.counts[i];
        }
        count = o->recv.counts[me];
    }
    if (o->what == is_scan || o->what == is_exscan)
        to = me + (o->what == is_scan);

    /* The operands of all ranks, each with room around it. */
    const size_t room =
        (size_t)(extent * (total + 2) + true_extent + 2 * (true_lb < 0 ? -true_lb : true_lb)) /
            16 * 16 +
        16;
    unsigned char *memory = calloc((size_t)n, room);
    struct block sends[BLOCKS], receives[BLOCKS];
    const size_t shift = (size_t)(true_lb < 0 ? -true_lb + 15 : 15) / 16 * 16;
    for (int i = 0; i < n; i++) {
        sends[i] = (struct block){
            i, 0, total, o->in_place && o->recv.memory ? o->recv.origin : o->send.origin, type};
        receives[i] = (struct block){i, 0, total, memory + (size_t)i * room + shift, type};
    }
    move(sends, n, receives, n, o->comm);
    for (int i = to - 2; i >= 0 && total > 0; i--)
        PMPI_Reduce_local(receives[i].at, receives[to - 1].at, total, type, o->op.op);
    const bool result = to > 0 && (o->what != is_reduce || me == o->root);
    if (result) {
        unsigned char *const at = (unsigned char *)receives[to - 1].at + first * extent;
        const struct block out = {me, 0, count, at, type},
                           in = {me, 0, count, o->recv.origin, type};
        move(&out, 1, &in, 1, o->comm);
    }
    free(memory);
}

void operation_define(const struct operation *o)
{
    if (o->what == is_barrier)
        PMPI_Barrier(o->comm);
    else if (o->reduction)
        reducing(o);
    else
        moving(o);
}
