/* mpi/tests/differential/communicators.c — a communicator of any kind, and its neighbours */
#include <stdio.h>

#include "differential.h"

static void neighbours(struct communicator *c)
{
    int kind;
    PMPI_Topo_test(c->comm, &kind);
    c->topology = kind != MPI_UNDEFINED;
    c->cartesian = kind == MPI_CART;
    if (kind == MPI_CART) {
        int dimensions;
        PMPI_Cartdim_get(c->comm, &dimensions);
        for (int d = 0; d < dimensions; d++) {
            PMPI_Cart_shift(c->comm, d, 1, &c->sources[2 * d], &c->sources[2 * d + 1]);
            PMPI_Cart_shift(c->comm, d, 1, &c->destinations[2 * d],
                            &c->destinations[2 * d + 1]);
        }
        c->in = c->out = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(c->comm, c->rank, &c->in);
        PMPI_Graph_neighbors(c->comm, c->rank, c->in, c->sources);
        memcpy(c->destinations, c->sources, sizeof c->sources);
        c->out = c->in;
    } else if (kind == MPI_DIST_GRAPH) {
        int weighted, a[MANY], b[MANY];
        PMPI_Dist_graph_neighbors_count(c->comm, &c->in, &c->out, &weighted);
        PMPI_Dist_graph_neighbors(c->comm, c->in, c->sources, a, c->out, c->destinations, b);
    }
    int odd[2] = {0, c->in != c->out};
    for (int i = 0; i < c->out; i++)
        for (int k = 0; k < i; k++)
            odd[0] |= c->destinations[i] >= 0 && c->destinations[i] == c->destinations[k];
    PMPI_Allreduce(MPI_IN_PLACE, odd, 2, MPI_INT, MPI_MAX, c->comm);
    c->parallel = odd[0];
    c->uneven = odd[1];
}

static MPI_Comm cartesian(const struct communicator *from, struct stream *s)
{
    int sizes[3], wrap[3], left = from->size, dimensions = 1 + below(s, 3);
    MPI_Comm comm;
    for (int d = 0; d < dimensions; d++) {
        sizes[d] = 1 + below(s, left);
        left /= sizes[d];
        wrap[d] = chance(s, 60);
    }
    MPI_Cart_create(from->comm, dimensions, sizes, wrap, 0, &comm);
    return comm;
}

/* Edges go both ways. */
static MPI_Comm graph(const struct communicator *from, struct stream *s)
{
    int n = 1 + below(s, from->size), index[MANY], edges[MANY * 16], count = 0;
    const uint64_t key = draw(s);
    MPI_Comm comm;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            struct stream edge =
                stream_of(key, (uint64_t)(i < j ? i : j), (uint64_t)(i < j ? j : i));
            if (chance(&edge, 40))
                edges[count++] = j;
        }
        index[i] = count;
    }
    MPI_Graph_create(from->comm, n, index, edges, 0, &comm);
    return comm;
}

/* Any edges, some twice; each rank has its own order of them. */
static MPI_Comm adjacent(const struct communicator *from, struct stream *s)
{
    int sources[MANY], destinations[MANY], weights[MANY] = {0}, in = 0, out = 0;
    const uint64_t key = draw(s);
    const int density = below(s, 100);
    struct stream own = stream_of(key, (uint64_t)from->rank, UINT64_MAX);
    MPI_Comm comm;
    for (int i = 0; i < from->size; i++)
        for (int j = 0; j < from->size; j++) {
            struct stream edge = stream_of(key, (uint64_t)i, (uint64_t)j);
            for (int n = chance(&edge, density) ? 1 + below(&edge, 2) : 0; n > 0; n--) {
                if (i == from->rank && out < MANY)
                    destinations[out++] = j;
                if (j == from->rank && in < MANY)
                    sources[in++] = i;
            }
        }
    shuffle(&own, sources, in);
    shuffle(&own, destinations, out);
    MPI_Dist_graph_create_adjacent(from->comm, in, sources, weights, out, destinations, weights,
                                   MPI_INFO_NULL, 0, &comm);
    return comm;
}

#ifndef OMPI_MAJOR_VERSION /* 4.1.4: some MPI_Dist_graph_create never returns once there are other communicators */
static MPI_Comm distributed(const struct communicator *from, struct stream *s)
{
    int destinations[MANY], weights[MANY] = {0};
    const int shift = below(s, from->size), degree = 1 + below(s, 2);
    MPI_Comm comm;
    for (int k = 0; k < degree; k++)
        destinations[k] = (from->rank + shift + 3 * k) % from->size;
    MPI_Dist_graph_create(from->comm, 1, &from->rank, &degree, destinations, weights,
                          MPI_INFO_NULL, 0, &comm);
    return comm;
}
#endif

static MPI_Comm merged(const struct communicator *from, struct stream *s)
{
    const int cut = 1 + below(s, from->size - 1);
    const bool low = from->rank < cut, swapped = chance(s, 50);
    MPI_Comm half, inter, comm;
    MPI_Comm_split(from->comm, low, from->rank, &half);
    MPI_Intercomm_create(half, 0, from->comm, low ? cut : 0, 17, &inter);
    MPI_Intercomm_merge(inter, low == swapped, &comm);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return comm;
}

static MPI_Comm range(const struct communicator *from, struct stream *s)
{
    int part[1][3];
    MPI_Group all, some;
    MPI_Comm comm = MPI_COMM_NULL;
    part[0][0] = below(s, from->size);
    part[0][1] = part[0][0] + below(s, from->size - part[0][0]);
    part[0][2] = 1 + below(s, 2);
    const bool backwards = chance(s, 50), by_group = chance(s, 50);
    MPI_Comm_group(from->comm, &all);
    if (backwards) {
        const int t = part[0][0];
        part[0][0] = part[0][1];
        part[0][1] = t;
        part[0][2] = -part[0][2];
    }
    MPI_Group_range_incl(all, 1, part, &some);
    if (by_group) {
        int rank;
        MPI_Group_rank(some, &rank);
        if (rank != MPI_UNDEFINED)
            MPI_Comm_create_group(from->comm, some, 5, &comm);
    } else {
        MPI_Comm_create(from->comm, some, &comm);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return comm;
}

void communicator_make(struct communicator *c, const struct communicator *parent,
                       struct stream *s)
{
    static const char *const kinds[] = {"dup",
                                        "idup",
                                        "dup with info",
                                        "split",
                                        "reordered",
                                        "range",
                                        "merge",
                                        "split by node",
                                        "cart",
                                        "cart",
                                        "graph",
                                        "dist graph adjacent",
                                        "dist graph adjacent",
                                        "dist graph"};
    struct stream own = stream_of(draw(s), 0, 0); /* so that those that are not in it keep up */
    const int kind = below(&own, (int)(sizeof kinds / sizeof kinds[0]));
    MPI_Request request;
    *c = (struct communicator){.comm = MPI_COMM_NULL, .mine = true};
    if (parent->comm == MPI_COMM_NULL)
        return;
    struct stream key = stream_of(draw(&own), (uint64_t)parent->rank, 1);
    const int color = below(&key, 3), order = below(&key, 100);
    say("making a communicator: %s", kinds[kind]);
    switch (kind) {
    case 0:
        MPI_Comm_dup(parent->comm, &c->comm);
        break;
    case 1:
        MPI_Comm_idup(parent->comm, &c->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(c->comm); /* before a call that blocks we would test the library's own */
        break;
    case 2:
        MPI_Comm_dup_with_info(parent->comm, MPI_INFO_NULL, &c->comm);
        break;
    case 3:
        MPI_Comm_split(parent->comm, color == 2 ? MPI_UNDEFINED : color, order, &c->comm);
        break;
    case 4:
        MPI_Comm_split(parent->comm, 0, chance(&own, 50) ? order : -parent->rank, &c->comm);
        break;
    case 5:
        c->comm = range(parent, &own);
        break;
    case 6:
        if (parent->size > 1)
            c->comm = merged(parent, &own);
        break;
    case 7:
        MPI_Comm_split_type(parent->comm, MPI_COMM_TYPE_SHARED, order, MPI_INFO_NULL, &c->comm);
        break;
    case 8:
    case 9:
        c->comm = cartesian(parent, &own);
        break;
    case 10:
        c->comm = graph(parent, &own);
        break;
    case 11:
    case 12:
        c->comm = adjacent(parent, &own);
        break;
    default:
#ifdef OMPI_MAJOR_VERSION
        c->comm = adjacent(parent, &own);
#else
        c->comm = distributed(parent, &own);
#endif
    }
    if (c->comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_rank(c->comm, &c->rank);
    PMPI_Comm_size(c->comm, &c->size);
    if (kind <= 2 || kind >= 8) /* Open MPI takes a part of a graph for a graph */
        neighbours(c);
    snprintf(c->text, sizeof c->text, "%s of %d", kinds[kind], c->size);
}

void communicator_free(struct communicator *c)
{
    if (!c->mine || c->comm == MPI_COMM_NULL)
        return;
    say("freeing a communicator: %s", c->text);
    MPI_Comm_free(&c->comm);
}
