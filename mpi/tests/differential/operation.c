/* mpi/tests/differential/operation.c — a random call: drawn, filled, compared */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "differential.h"

static void describe(struct operation *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void describe(struct operation *o, const char *format, ...)
{
    const size_t used = strlen(o->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(o->text + used, sizeof o->text - used, format, arguments);
    va_end(arguments);
}

static void describe_side(struct operation *o, const char *verb, const struct side *side)
{
    if (!side->memory)
        return;
    describe(o, ", %s ", verb);
    if (!side->counts) {
        describe(o, "%d", side->count);
        if (side->blocks > 1)
            describe(o, " x %d", side->blocks);
    } else {
        for (int i = 0; i < side->blocks && i < 16; i++)
            describe(o, "%s%d@%d", i ? "," : "", side->counts[i], side->displs[i]);
    }
    for (int i = 0; i < side->layout_count && i < 3; i++)
        describe(o, " (%s)", side->layouts[i].text);
}

/* ---- drawing ----------------------------------------------------------------------------- */

/* How many blocks of so many bytes. */
static int units_draw(struct stream *s, size_t bytes, int blocks)
{
    const int kind = below(s, 100);
    size_t n, room = options.bytes / (bytes * (size_t)(blocks > 0 ? blocks : 1));
    if (kind < 10)
        n = 0;
    else if (kind < 25)
        n = 1;
    else if (kind < 45)
        n = 2 + (size_t)below(s, 7);
    else if (kind < 75)
        n = 2 * (size_t)below(s, 50) + 1;
    else if (kind < 98)
        n = (size_t)below(s, 4000);
    else {
        n = 30000 + (size_t)below(s, 120000);
        room *= 8;
    }
    return (int)(n < room ? n : room);
}

static int some(const struct elements *e, struct stream *s, int blocks)
{
    return e->unit * units_draw(s, e->bytes, blocks);
}

/* What goes from a to b, the same for both, by which edge of several; either_way: and as much back. */
static int between(const struct elements *e, int a, int b, int edge, bool either_way,
                   int blocks)
{
    const bool swap = either_way && a > b;
    struct stream s = stream_of(
        e->key, (uint64_t)(swap ? b : a) * 1000003 + (uint64_t)(swap ? a : b), (uint64_t)edge);
    return chance(&s, 25) ? 0 : some(e, &s, blocks);
}

static void rooted(struct operation *o, const struct elements *e, struct stream *s,
                   struct stream *own)
{
    const int n = o->on->size, me = o->on->rank;
    const bool root = me == o->root, v = o->what == is_gatherv || o->what == is_scatterv;
    const bool gathers = o->what == is_gather || o->what == is_gatherv;
    struct side *one = gathers ? &o->send : &o->recv, *all = gathers ? &o->recv : &o->send;
    int counts[MANY];
    counts[0] = some(e, s, n);
    for (int i = 1; i < n; i++)
        counts[i] = v ? some(e, s, n) : counts[0];
    if (root && v)
        side_v(all, e, counts, n, own);
    else if (root)
        side_regular(all, e, counts[0], n, own);
    else
        side_none(all, own);
    if (root && o->in_place)
        side_none(one, own);
    else
        side_regular(one, e, counts[me], 1, own);
    if (root && o->in_place)
        one->origin = MPI_IN_PLACE;
}

static void all_to_all(struct operation *o, const struct elements *e, struct stream *s,
                       struct stream *own)
{
    const int n = o->on->size, me = o->on->rank;
    int to[MANY], from[MANY];
    switch (o->what) {
    case is_allgather:
    case is_alltoall:
        to[0] = some(e, s, n);
        side_regular(&o->recv, e, to[0], n, own);
        if (!o->in_place)
            side_regular(&o->send, e, to[0], o->what == is_alltoall ? n : 1, own);
        break;
    case is_allgatherv:
        for (int i = 0; i < n; i++)
            to[i] = some(e, s, n);
        side_v(&o->recv, e, to, n, own);
        if (!o->in_place)
            side_regular(&o->send, e, to[me], 1, own);
        break;
    default:
        for (int i = 0; i < n; i++) {
            to[i] = between(e, me, i, 0, o->in_place, n);
            from[i] = between(e, i, me, 0, o->in_place, n);
        }
        (o->what == is_alltoallw ? side_w : side_v)(&o->recv, e, from, n, own);
        if (!o->in_place)
            (o->what == is_alltoallw ? side_w : side_v)(&o->send, e, to, n, own);
    }
    if (o->in_place) {
        side_none(&o->send, own);
        o->send.origin = MPI_IN_PLACE;
    }
}

int edge_of(const struct communicator *c, bool sending, int k)
{
    const int *list = sending ? c->destinations : c->sources;
    int n = 0;
    if (c->cartesian) /* what one sends up arrives from below */
        return sending ? k ^ 1 : k;
    for (int i = 0; i < k; i++)
        n += list[i] == list[k];
    return n;
}

static void neighborly(struct operation *o, const struct elements *e, struct stream *s,
                       struct stream *own)
{
    const struct communicator *c = o->on;
    const int n = c->size, me = c->rank;
    int to[MANY], from[MANY], each[MANY];
    for (int i = 0; i < n; i++)
        each[i] = some(e, s, 16);
    for (int k = 0; k < c->out; k++)
        to[k] = c->destinations[k] < 0
                    ? e->unit
                    : between(e, me, c->destinations[k], edge_of(c, true, k), false, 16);
    for (int k = 0; k < c->in; k++)
        from[k] = c->sources[k] < 0
                      ? e->unit
                      : between(e, c->sources[k], me, edge_of(c, false, k), false, 16);
    switch (o->what) {
    case is_neighbor_allgather:
        side_regular(&o->send, e, each[0], 1, own);
        side_regular(&o->recv, e, each[0], c->in, own);
        break;
    case is_neighbor_allgatherv:
        for (int k = 0; k < c->in; k++)
            from[k] = c->sources[k] < 0 ? e->unit : each[c->sources[k]];
        side_regular(&o->send, e, each[me], 1, own);
        side_v(&o->recv, e, from, c->in, own);
        break;
    case is_neighbor_alltoall:
        side_regular(&o->send, e, each[0], c->out, own);
        side_regular(&o->recv, e, each[0], c->in, own);
        break;
    default:
        (o->what == is_neighbor_alltoallw ? side_w : side_v)(&o->send, e, to, c->out, own);
        (o->what == is_neighbor_alltoallw ? side_w : side_v)(&o->recv, e, from, c->in, own);
    }
}

static void reducing(struct operation *o, struct stream *s, struct stream *own)
{
    const int n = o->on->size, me = o->on->rank;
    const bool scatters = o->what == is_reduce_scatter || o->what == is_reduce_scatter_block;
    const bool here = o->what != is_reduce || me == o->root;
    int counts[MANY], total = 0;
    MPI_Aint lb, extent;
    o->reduction = true;
    operator_draw(&o->op, s);
    PMPI_Type_get_extent(o->op.type, &lb, &extent);
    counts[0] = units_draw(s, (size_t)extent, scatters ? n : 1);
    for (int i = 1; i < n; i++)
        counts[i] = o->what == is_reduce_scatter ? units_draw(s, (size_t)extent, n) : counts[0];
    for (int i = 0; i < n; i++)
        total += counts[i];
    if (!scatters)
        total = counts[0];
    const bool in_place = o->in_place && here;
    if (here)
        side_parts(&o->recv, o->op.type, counts, n, in_place || !scatters ? total : counts[me]);
    else
        side_none(&o->recv, own);
    if (in_place) {
        side_none(&o->send, own);
        o->send.origin = MPI_IN_PLACE;
    } else {
        side_plain(&o->send, o->op.type, total);
    }
    o->count = counts[0];
}

bool operation_draw(struct operation *o, const struct communicator *on, uint32_t forms,
                    uint64_t key)
{
    struct stream s = stream_of(key, 0, 0), own = stream_of(key, (uint64_t)on->rank + 1, 1);
    const uint32_t neighbors = ~0u << is_neighbor_allgather;
    uint32_t may = options.collectives;
    if (!on->topology)
        may &= ~neighbors;
    else if ((may & neighbors) && chance(&s, 70))
        may &= neighbors;
    if (!may)
        return false;
    *o =
        (struct operation){.on = on, .comm = on->comm, .key = key, .request = MPI_REQUEST_NULL};
    do
        o->what = (enum collective)below(&s, COLLECTIVE_COUNT);
    while (!(may >> o->what & 1));
    do
        o->form = (enum form)below(&s, FORM_COUNT);
    while (!(forms >> o->form & 1));
    o->large = options.large_counts && chance(&s, 30);
    o->in_place = chance(&s, 30);
    o->root = below(&s, on->size);
    describe(o, "%s %s%s on %s, root %d, rank %d", form_names[o->form],
             collective_names[o->what], o->large ? "_c" : "", on->text, o->root, on->rank);

    switch (o->what) {
    case is_barrier:
        o->in_place = false;
        side_none(&o->send, &own);
        side_none(&o->recv, &own);
        break;
    case is_reduce:
    case is_allreduce:
    case is_reduce_scatter:
    case is_reduce_scatter_block:
    case is_scan:
    case is_exscan:
        reducing(o, &s, &own);
        describe(o, ", %s", o->op.text);
        break;
    default:
        elements_draw(&o->elements, &s);
        describe(o, ", %s", o->elements.text);
        if (o->what == is_bcast) {
            o->in_place = false;
            side_none(&o->send, &own);
            side_regular(&o->recv, &o->elements, some(&o->elements, &s, 1), 1, &own);
        } else if (o->what >= is_neighbor_allgather) {
            o->in_place = false;
            neighborly(o, &o->elements, &s, &own);
        } else if (o->what <= is_scatterv) {
            rooted(o, &o->elements, &s, &own);
        } else {
            all_to_all(o, &o->elements, &s, &own);
        }
        if (o->elements.mine)
            PMPI_Type_free(&o->elements.base);
    }
    if (o->in_place)
        describe(o, ", in place");
    if (o->what >= is_neighbor_allgather) {
        describe(o, ", to");
        for (int k = 0; k < on->out; k++)
            describe(o, " %d", on->destinations[k]);
        describe(o, ", from");
        for (int k = 0; k < on->in; k++)
            describe(o, " %d", on->sources[k]);
    }
    describe_side(o, "sends", &o->send);
    describe_side(o, "receives", &o->recv);
    if (options.plain && library_is_wrong(o)) {
        operation_free(o);
        return false;
    }
    return true;
}

void operation_fill(struct operation *o, int round)
{
    struct stream s = stream_of(o->key, (uint64_t)o->on->rank + 1, 2 + (uint64_t)round);
    const struct operator_ *op = o->reduction ? &o->op : NULL;
    if (o->send.memory)
        side_fill(&o->send, op, &s);
    if (o->recv.memory)
        side_fill(&o->recv, op, &s);
}

void operation_free_types(struct operation *o)
{
    side_free_types(&o->send);
    side_free_types(&o->recv);
    if (o->op.mine)
        MPI_Op_free(&o->op.op);
    if (o->op.type_mine)
        MPI_Type_free(&o->op.type);
    o->op.mine = o->op.type_mine = false;
}

void operation_free(struct operation *o)
{
    operation_free_types(o);
    side_free(&o->send);
    side_free(&o->recv);
}

/* ---- comparing --------------------------------------------------------------------------- */

static bool complain_of(const struct operation *o, const struct side *side, const char *whose,
                        const unsigned char *is, const unsigned char *wanted)
{
    size_t i = 0, different = 0;
    for (size_t k = side->bytes; k-- > 0;)
        if (is[k] != wanted[k]) {
            i = k;
            different++;
        }
    complain("%s: %s buffer differs in %zu of %zu bytes, first at %td from its origin%s: "
             "%02x instead of %02x, before %02x",
             o->text, whose, different, side->to - side->from,
             (ptrdiff_t)((uintptr_t)side->memory + i - (uintptr_t)side->origin),
             i < side->from || i >= side->to ? " (a guard)" : "", is[i], wanted[i],
             side->initial[i]);
    return false;
}

bool operation_check(const struct operation *o)
{
    const struct side *send = &o->send, *recv = &o->recv;
    if (send->memory && memcmp(send->memory, send->initial, send->bytes) != 0)
        return complain_of(o, send, "the send", send->memory, send->initial);
    if (!recv->memory || memcmp(recv->memory, recv->expected, recv->bytes) == 0)
        return true;
    bool same = true;
    unsigned char *is = malloc(2 * recv->bytes), *wanted = is + recv->bytes;
    memcpy(is, recv->memory, recv->bytes);
    memcpy(wanted, recv->expected, recv->bytes);
    if (o->what == is_exscan && o->on->rank == 0) /* undefined */
        memcpy(is + recv->from, wanted + recv->from, recv->to - recv->from);
    if (!o->reduction) {
        elements_level(&o->elements, is + recv->from, recv->to - recv->from);
        elements_level(&o->elements, wanted + recv->from, recv->to - recv->from);
    } else if (o->op.base) {
        MPI_Aint lb, extent;
        PMPI_Type_get_extent(o->op.base->type, &lb, &extent);
        const size_t n = (recv->to - recv->from + (size_t)extent - 1) / (size_t)extent;
        values_level(o->op.base, is + recv->from, n);
        values_level(o->op.base, wanted + recv->from, n);
    }
    if (memcmp(is, wanted, recv->bytes) != 0)
        same = complain_of(o, recv, "the receive", is, wanted);
    free(is);
    return same;
}
