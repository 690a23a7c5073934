/* mpi/tests/differential/sides.c — the buffers of one side of a call, with guards */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "differential.h"

enum { GUARD = 64 };

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "differential: no memory left for %zu bytes\n", bytes);
        abort();
    }
    return memory;
}

/* Memory for what lies from `from` to `to` of the address that is passed. */
static void place(struct side *side, MPI_Aint from, MPI_Aint to)
{
    if (to < from)
        from = to = 0;
    const MPI_Aint before = GUARD + ((from % 16) + 16) % 16;
    side->bytes = (size_t)(before + (to - from) + GUARD);
    side->from = (size_t)before;
    side->to = side->bytes - GUARD;
    side->asked = chance(&memories, options.asked);
    if (!side->asked)
        side->memory = allocate(side->bytes);
    else if (MPI_Alloc_mem((MPI_Aint)side->bytes, MPI_INFO_NULL, &side->memory) != MPI_SUCCESS)
        abort();
    side->initial = allocate(side->bytes);
    side->expected = allocate(side->bytes);
    side->origin = (void *)((uintptr_t)side->memory + (uintptr_t)(before - from));
}

/* Bytes that items first … first+n−1 of a type cover. */
static void cover(MPI_Datatype type, long first, long n, MPI_Aint *from, MPI_Aint *to)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int size;
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    PMPI_Type_size(type, &size);
    *from = 0;
    *to = -1;
    if (n <= 0 || size == 0)
        return;
    *from = first * extent + true_lb;
    *to = (first + n - 1) * extent + true_lb + true_extent;
}

void side_none(struct side *side, struct stream *s)
{
    *side = (struct side){.origin = NULL, .type = MPI_DATATYPE_NULL, .count = -below(s, 2)};
}

/* Vectors of an operator: elements to their ends. */
static void place_vector(struct side *side, MPI_Datatype type, int count)
{
    MPI_Aint from, to, lb, extent;
    PMPI_Type_get_extent(type, &lb, &extent);
    cover(type, 0, count, &from, &to);
    if (from < to && to < lb + count * extent)
        to = lb + count * extent;
    place(side, from, to);
}

void side_plain(struct side *side, MPI_Datatype type, int count)
{
    *side = (struct side){.type = type, .count = count};
    place_vector(side, type, count);
}

void side_regular(struct side *side, const struct elements *e, int elements, int blocks,
                  struct stream *s)
{
    MPI_Aint from, to;
    *side = (struct side){.blocks = blocks, .layout_count = 1};
    struct layout *l = &side->layouts[0];
    layout_make(l, e, elements * (blocks > 0 ? blocks : 1) + 1, s);
    side->type = l->type;
    side->count = l->elements ? elements / l->elements : elements;
    cover(side->type, 0, (long)side->count * blocks, &from, &to);
    place(side, from, to);
    if (side->count == 0 && chance(s, 50))
        side->origin = NULL;
}

static void arrays(struct side *side, int blocks)
{
    const size_t n = (size_t)blocks + 1;
    *side = (struct side){.blocks = blocks};
    side->counts = allocate(n * sizeof *side->counts);
    side->displs = allocate(n * sizeof *side->displs);
    side->types = allocate(n * sizeof *side->types);
    side->counts_c = allocate(n * sizeof *side->counts_c);
    side->displs_c = allocate(n * sizeof *side->displs_c);
}

/* Wider calls take the same in wider words. */
static void widen(struct side *side)
{
    for (int i = 0; i < side->blocks; i++) {
        side->counts_c[i] = side->counts[i];
        side->displs_c[i] = side->displs[i];
    }
}

void side_parts(struct side *side, MPI_Datatype type, const int *counts, int blocks, int held)
{
    arrays(side, blocks);
    memcpy(side->counts, counts, (size_t)blocks * sizeof *counts);
    memset(side->displs, 0, (size_t)blocks * sizeof *side->displs);
    side->type = type;
    side->count = held;
    place_vector(side, type, held);
    widen(side);
}

void side_v(struct side *side, const struct elements *e, const int *elements, int blocks,
            struct stream *s)
{
    int order[MANY], total = 0, at = 0;
    MPI_Aint from, to, first = 0, last = -1;
    arrays(side, blocks);
    for (int i = 0; i < blocks; i++)
        total += elements[i];
    struct layout *l = &side->layouts[side->layout_count++];
    layout_make(l, e, total + 3 * blocks + 1, s);
    side->type = l->type;
    permutation(s, order, blocks);
    const bool gaps = chance(s, 50);
    const int start =
        chance(s, 40) ? -below(s, total / (l->elements ? l->elements : 1) + 2) : 0;
    for (int k = 0; k < blocks; k++) {
        const int i = order[k], n = l->elements ? elements[i] / l->elements : elements[i];
        at += gaps ? below(s, 3) : 0;
        side->counts[i] = n;
        side->displs[i] = start + at;
        at += n;
        cover(side->type, side->displs[i], n, &from, &to);
        if (to < from)
            continue;
        first = last < first || from < first ? from : first;
        last = to > last ? to : last;
    }
    place(side, first, last);
    widen(side);
}

void side_w(struct side *side, const struct elements *e, const int *elements, int blocks,
            struct stream *s)
{
    int order[MANY];
    arrays(side, blocks);
    const MPI_Aint start = chance(s, 40) ? -32 * below(s, 100) : 0;
    MPI_Aint at = start;
    permutation(s, order, blocks);
    for (int k = 0; k < blocks; k++) {
        const int i = order[k];
        struct layout *l = &side->layouts[side->layout_count++];
        MPI_Aint from, to;
        layout_make(l, e, elements[i] + 1, s);
        side->types[i] = l->type;
        side->counts[i] = l->elements ? elements[i] / l->elements : elements[i];
        cover(l->type, 0, side->counts[i], &from, &to);
        if (to < from)
            from = to = 0;
        at += below(s, 3) * (e->ragged ? 32 : 8);
        side->displs[i] = (int)(at - from);
        at += to - from;
    }
    place(side, start, at);
    widen(side);
}

/* Random bytes everywhere; where an operator wants values, those. */
void side_fill(struct side *side, const struct operator_ *op, struct stream *s)
{
    random_bytes(s, side->memory, side->bytes);
    if (op && op->base && side->to > side->from) {
        MPI_Aint lb, extent;
        PMPI_Type_get_extent(op->base->type, &lb, &extent);
        values_write(op->base, side->memory + side->from,
                     (side->to - side->from + (size_t)extent - 1) / (size_t)extent, s);
    }
    memcpy(side->initial, side->memory, side->bytes);
}

void side_free_types(struct side *side)
{
    for (int i = 0; i < side->layout_count; i++)
        if (side->layouts[i].mine)
            MPI_Type_free(&side->layouts[i].type);
    side->layout_count = 0;
}

void side_free(struct side *side)
{
    side_free_types(side);
    if (side->asked)
        MPI_Free_mem(side->memory);
    else
        free(side->memory);
    free(side->initial);
    free(side->expected);
    free(side->counts);
    free(side->displs);
    free(side->types);
    free(side->counts_c);
    free(side->displs_c);
}
