/* mpi/layer/buffers.c — where the blocks of a buffer lie, and packing those with gaps
 *
 * A buffer whose elements are one run of bytes each, without gaps between them, is used where it
 * is. All others are packed: block after block, into memory of the layer.
 */
#include <limits.h>

#include "layer.h"

/* ---- the program's tables ---------------------------------------------------------------- */

MPI_Count side_count(const struct call *call, const struct side *side, uint32_t i)
{
    if (!side->counts)
        return side->count;
    return call->wide ? ((const MPI_Count *)side->counts)[i] : ((const int *)side->counts)[i];
}

/* NULL: the library refuses it. Where there are tables of types MPICH does not look at those of
 * nothing, which may then be anything. */
static struct type *type_in(const struct call *call, const struct side *side, uint32_t i)
{
#ifdef MPICH_VERSION
    static struct type nothing;
    if (side->types && side_count(call, side, i) == 0)
        return &nothing;
#else
    (void)call;
#endif
    return type_of(side->types ? side->types[i] : side->type);
}

ptrdiff_t side_at(const struct call *call, const struct side *side, uint32_t i,
                  const struct type *type, ptrdiff_t before)
{
    ptrdiff_t displ;
    if (!side->displs)
        return before;
    displ = call->wide || call->far_displs ? ((const MPI_Aint *)side->displs)[i]
                                           : ((const int *)side->displs)[i];
    return side->types ? displ : displ * type->extent;
}

/* ---- views ------------------------------------------------------------------------------- */

verdict view_measure(const struct call *call, const struct side *side, uint32_t n,
                     struct view *view)
{
    const uint32_t kinds = side->counts ? n : n > 0;
    ptrdiff_t before = 0, end = 0;
    view->side = side;
    view->n = n;
    view->packed = view->scattered = false;
    view->bytes = 0;
    view->low = PTRDIFF_MAX;
    view->base = NULL;
    view->counts = view->displs = NULL;
    for (uint32_t i = 0; i < kinds; i++) {
        const MPI_Count count = side_count(call, side, i);
        const size_t all = side->counts ? (size_t)count : (size_t)count * n;
        const struct type *type;
        ptrdiff_t at;
        size_t bytes;
        if (count < 0)
            return DECLINED;
        type = type_in(call, side, i);
        if (!type)
            return DECLINED;
        if (!side->counts && n > 1 && all / n != (size_t)count)
            return FAILED;
        if (!coll_multiply(all, type->size, &bytes) || bytes > SIZE_MAX / 4 - view->bytes)
            return FAILED;
        at = side_at(call, side, i, type, before);
        before += (ptrdiff_t)all * type->extent;
        if (bytes == 0)
            continue;
        if (view->bytes > 0 && at + type->true_lb != end)
            view->scattered = true;
        end = at + type->true_lb + (ptrdiff_t)bytes;
        view->bytes += bytes;
        /* Blocks of a reduction begin at whole elements. */
        if (!type->dense && !(type->flat && all == 1 && call->what != COLL_REDUCE_SCATTER))
            view->packed = true;
        if (at + type->true_lb < view->low)
            view->low = at + type->true_lb;
    }
    if (view->low == PTRDIFF_MAX)
        view->low = 0;
    if (view->scattered && coll_is(settings.packs, call->what))
        view->packed = true;
    return TAKEN;
}

size_t view_tables(const struct view *view)
{
    return view->side && view->side->counts ? 2 * (size_t)view->n : 0;
}

size_t view_pieces(const struct call *call, const struct view *view)
{
    if (!view->side || !view->packed)
        return 0;
    return view->side->counts || coll_is(COLL_NEIGHBORLY, call->what) ? view->n : 1;
}

void view_place(const struct call *call, struct view *view, unsigned char *base, size_t *tables,
                size_t unit)
{
    const struct side *side = view->side;
    ptrdiff_t before = 0;
    size_t packed = 0;
    view->base = view->packed ? base : (unsigned char *)(uintptr_t)side->buf + view->low;
    if (!side->counts)
        return;
    view->counts = tables;
    view->displs = tables + view->n;
    for (uint32_t i = 0; i < view->n; i++) {
        const struct type *type = type_in(call, side, i);
        const size_t count = (size_t)side_count(call, side, i), bytes = count * type->size;
        const ptrdiff_t at = side_at(call, side, i, type, before);
        const size_t from = view->packed || !view->scattered ? packed
                            : bytes == 0                     ? 0
                                         : (size_t)(at + type->true_lb - view->low);
        view->counts[i] = bytes / unit;
        view->displs[i] = from / unit;
        before += (ptrdiff_t)count * type->extent;
        packed += bytes;
    }
}

/* Does the collective leave block i of a neighbour collective's buffer alone? */
static bool nobodys(const struct call *call, const struct view *view, uint32_t i)
{
    struct comm *comm;
    const coll_graph *graph;
    if (!coll_is(COLL_NEIGHBORLY, call->what) || view->n == 1)
        return false;
    comm = comm_of(call->comm, false);
    graph = comm_graph(comm);
    return graph->n_dims > 0 &&
           (view->side == &call->out
                ? coll_graph_source(graph, comm->rank, i)
                : coll_graph_destination(graph, comm->rank, i)) == COLL_RANK_NONE;
}

size_t view_split(const struct call *call, const struct view *view, uint32_t first,
                  uint32_t last, struct piece *pieces)
{
    const struct side *side = view->side;
    unsigned char *user = (unsigned char *)(uintptr_t)side->buf;
    ptrdiff_t before = 0;
    size_t packed = 0, n = 0;
    const bool even = !side->counts && !coll_is(COLL_NEIGHBORLY, call->what);
    for (uint32_t i = 0; i < last; i++) {
        struct type *type = type_in(call, side, i);
        const size_t one = (size_t)side_count(call, side, i);
        const size_t count = even ? one * (i < first ? first : last - first) : one;
        const ptrdiff_t at = side_at(call, side, i, type, before);
        if (i >= first && count * type->size > 0 && !nobodys(call, view, i)) {
            pieces[n].user = user + at;
            pieces[n].packed = view->base + packed;
            pieces[n].count = count;
            pieces[n++].type = type;
        }
        before += (ptrdiff_t)count * type->extent;
        packed += count * type->size;
        if (even)
            i = i < first ? first - 1 : last;
    }
    return n;
}

/* ---- packing ----------------------------------------------------------------------------- */

/* Packs or unpacks a piece, in parts whose bytes an int can count. */
static int move(const struct piece *piece, bool pack)
{
    const struct type *type = piece->type;
    const size_t most = type->size < INT_MAX ? INT_MAX / type->size : 0;
    if (most == 0)
        return MPI_ERR_COUNT; /* one element with gaps, of more than 2 GiB */
    for (size_t done = 0; done < piece->count; done += most) {
        const size_t n = piece->count - done < most ? piece->count - done : most;
        unsigned char *user = piece->user + (ptrdiff_t)done * type->extent;
        unsigned char *packed = piece->packed + done * type->size;
        const int bytes = (int)(n * type->size);
        int at = 0;
        const int error =
            pack ? PMPI_Pack(user, (int)n, type->handle, packed, bytes, &at, settings.self)
                 : PMPI_Unpack(packed, bytes, &at, user, (int)n, type->handle, settings.self);
        if (error != MPI_SUCCESS)
            return error;
    }
    return MPI_SUCCESS;
}

int job_load(const struct job *job)
{
    int error = MPI_SUCCESS;
    for (size_t i = 0; i < job->n_loads && error == MPI_SUCCESS; i++)
        error = move(&job->pieces[i], true);
    return error;
}

int job_store(const struct job *job)
{
    int error = MPI_SUCCESS;
    for (size_t i = 0; i < job->n_stores && error == MPI_SUCCESS; i++)
        error = move(&job->pieces[job->n_loads + i], false);
    return error;
}
