/* tests/support/comm_cases.h — calls of comm.h on real data: arguments, buffers with guards, and
 * what must come out
 *
 *   comm_case it = {COLL_GATHERV, p, root, count, in_place, &comm_sorts[0], packed};
 *   comm_rank *mine = comm_rank_new(&it, rank);
 *   status = comm_issue(&it, mine, COMM_NONBLOCKING, &comm, &call);
 *   … CHECK(comm_right(&it, mine)); comm_rank_free(mine);
 *
 * One rank's part needs nothing of the other ranks, so threads can check their own. Of what MPI
 * calls not significant, buffers are NULL, and tables are addresses that must not be read.
 * comm_rank_fill makes the buffers as new, for persistent calls. The graph of a neighbour collective
 * depends on p and count.
 */
#ifndef COLL_TESTS_COMM_CASES_H
#define COLL_TESTS_COMM_CASES_H

#include <stdlib.h>
#include <string.h>

#include "coll/neighbor.h"
#include "coll/lab/verify/graphs.h"

/* ---- elements ---------------------------------------------------------------------------- */

/* The product of 2×2 matrices of integers modulo 2^64: associative, not commutative. */
static inline void comm_multiply(void *dst, const void *a, const void *b, size_t count,
                                 void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++) {
        uint64_t x[4], y[4], z[4];
        memcpy(x, (const char *)a + i * sizeof x, sizeof x);
        memcpy(y, (const char *)b + i * sizeof y, sizeof y);
        z[0] = x[0] * y[0] + x[1] * y[2];
        z[1] = x[0] * y[1] + x[1] * y[3];
        z[2] = x[2] * y[0] + x[3] * y[2];
        z[3] = x[2] * y[1] + x[3] * y[3];
        memcpy((char *)dst + i * sizeof z, z, sizeof z);
    }
}

/* A type, and the operator that it is reduced by. */
typedef struct comm_sort {
    coll_type type;
    coll_operator op; /* COLL_USER_OP: comm_multiply, which must be the first operator added */
} comm_sort;

static const comm_sort comm_sorts[] = {
    {COLL_U64, COLL_SUM}, {COLL_OPAQUE(32), COLL_USER_OP}, {COLL_I16, COLL_MAX}};
enum { COMM_SORTS = sizeof comm_sorts / sizeof comm_sorts[0], COMM_ELEMENT = 32 };

/* Writes element k of the block that a rank has for rank `block`. */
static inline void comm_value(const comm_sort *sort, uint32_t rank, uint32_t block, size_t k,
                              unsigned char *element)
{
    const size_t bytes = coll_type_bytes(sort->type);
    uint64_t x = (uint64_t)rank * 1000003u + (uint64_t)block * 10007u + k;
    for (size_t i = 0; i < bytes; i += sizeof x) {
        x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u + 0x9E3779B97F4A7C15u;
        x ^= x >> 32;
        memcpy(element + i, &x, bytes - i < sizeof x ? bytes - i : sizeof x);
    }
}

/* Writes the reduction over ranks 0 … last. */
static inline void comm_sum(const comm_sort *sort, uint32_t last, uint32_t block, size_t k,
                            unsigned char *sum)
{
    coll_op op = COLL_OP(comm_multiply, NULL, false, true);
    if (sort->op < COLL_USER_OP)
        (void)coll_op_builtin(&op, sort->op, sort->type);
    comm_value(sort, 0, block, k, sum);
    for (uint32_t r = 1; r <= last; r++) {
        uint64_t left[COMM_ELEMENT / 8], right[COMM_ELEMENT / 8];
        memcpy(left, sum, COMM_ELEMENT);
        comm_value(sort, r, block, k, (unsigned char *)right);
        op.combine(left, left, right, 1, op.arg);
        memcpy(sum, left, COMM_ELEMENT);
    }
}

/* ---- cases ------------------------------------------------------------------------------- */

/* Ranks; blocks of a rank; bytes on each side of a buffer. */
enum { COMM_MOST = 16, COMM_BLOCKS = 64, COMM_GUARD = 48 };

typedef struct comm_case {
    coll_collective collective;
    uint32_t p, root;
    size_t count;
    bool in_place;
    const comm_sort *sort;
    bool packed;                  /* tables without gaps, in rank order */
    const coll_algorithm *routed; /* its routes are added to the graphs; NULL: none */
} comm_case;

typedef struct comm_buffer {
    unsigned char *raw, *start, *want; /* want: what raw is to be at the end … */
    size_t bytes;                      /* between the guards … */
    size_t free_from, free_to;         /* … but for these of them, which may be anything */
} comm_buffer;

typedef struct comm_rank {
    uint32_t rank;
    comm_buffer in, out;
    size_t in_counts[COMM_BLOCKS], in_displs[COMM_BLOCKS]; /* of all collectives with blocks */
    size_t out_counts[COMM_BLOCKS], out_displs[COMM_BLOCKS];
    size_t w[4][COMM_BLOCKS]; /* these four for an alltoallw, in bytes */
    coll_i_graphs graphs;
} comm_rank;

static inline bool comm_is_v(coll_collective collective)
{
    return coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                       COLL_BIT(COLL_ALLGATHERV) | COLL_PAIRED | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   collective);
}

/* Does the case make sense? */
static inline bool comm_valid(const comm_case *it)
{
    if (it->root != 0 && !coll_is(COLL_ROOTED, it->collective))
        return false;
    if (it->in_place && coll_is(COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_BCAST) | COLL_NEIGHBORLY,
                                it->collective))
        return false; /* a bcast has one buffer anyway */
    return true;
}

/* Elements from one rank to another, symmetric so that an alltoallv can be in place. */
static inline size_t comm_block(const comm_case *it, uint32_t from, uint32_t to)
{
    const uint32_t a = from < to ? from : to, b = from < to ? to : from;
    if (!comm_is_v(it->collective))
        return it->count;
    if (!coll_is(COLL_PAIRED, it->collective))
        return (to * 7 + it->count) % (it->count + 2);
    return (a * 3 + b * 5 + it->count) % (it->count + 2);
}

/* Lays p blocks out: v-collectives with gaps unless packed, and then backwards where `turned`.
 * Returns the extent. */
static inline size_t comm_layout(const comm_case *it, uint32_t rank, bool turned,
                                 size_t *counts, size_t *displs)
{
    const bool gaps =
        comm_is_v(it->collective) && it->collective != COLL_REDUCE_SCATTER && !it->packed;
    size_t at = 0;
    for (uint32_t n = 0; n < it->p; n++) {
        const uint32_t i = turned && gaps ? it->p - 1 - n : n;
        counts[i] = comm_block(it, coll_is(COLL_PAIRED, it->collective) ? rank : 0, i);
        displs[i] = at;
        at += counts[i] + (gaps ? n % 3 : 0);
    }
    return at;
}

static inline void comm_buffer_new(comm_buffer *buffer, size_t bytes)
{
    const size_t all = bytes + 2 * (size_t)COMM_GUARD;
    buffer->bytes = bytes;
    buffer->raw = (unsigned char *)malloc(all);
    buffer->start = buffer->raw + COMM_GUARD;
    buffer->want = (unsigned char *)malloc(all);
}

/* Puts `count` elements of a block at an element offset, into the buffer (and what is wanted
 * there), or what is wanted only. A block of a reducing collective's result has last !=
 * COLL_RANK_NONE: summed over ranks 0 … last. */
static inline void comm_put(const comm_case *it, comm_buffer *buffer, bool want_only, size_t at,
                            size_t count, uint32_t rank, uint32_t block, uint32_t last)
{
    const size_t bytes = coll_type_bytes(it->sort->type);
    for (size_t k = 0; k < count; k++) {
        unsigned char element[COMM_ELEMENT] = {0};
        if (last == COLL_RANK_NONE)
            comm_value(it->sort, rank, block, k, element);
        else
            comm_sum(it->sort, last, block, k, element);
        memcpy(buffer->want + COMM_GUARD + (at + k) * bytes, element, bytes);
        if (!want_only)
            memcpy(buffer->start + (at + k) * bytes, element, bytes);
    }
}

/* ---- neighbours -------------------------------------------------------------------------- */

static inline coll_grid_graph comm_graph(const comm_case *it)
{
    if (!coll_is(COLL_NEIGHBORLY, it->collective))
        return COLL_GRID_NO_GRAPH;
    if (it->routed && !(it->routed->traits & COLL_USES_NODES)) /* it needs a mesh */
        return (coll_grid_graph)(1 + (it->p + it->count) % (COLL_GRID_SPARSE - 1));
    return (coll_grid_graph)(1 + (it->p + it->count) % (COLL_GRID_GRAPHS - 1));
}

/* Makes the graphs of all ranks; routes by nodes go by pairs of ranks. */
static inline void comm_graphs(const comm_case *it, coll_i_graphs *graphs)
{
    (void)coll_i_graphs_make(graphs, comm_graph(it), it->p);
    if (it->routed) {
        coll_problem problem;
        coll_problem_init(&problem, it->collective, it->p, it->count, 1);
        coll_nodes_even(&problem.nodes, it->p, 2);
        (void)coll_i_graphs_equip(graphs, &problem, it->routed);
    }
}

static inline bool comm_gathers(coll_collective collective)
{
    return collective == COLL_NEIGHBOR_ALLGATHER || collective == COLL_NEIGHBOR_ALLGATHERV;
}

/* Elements that a rank has for its destination i; in an allgather there is only block 0. */
static inline size_t comm_edge(const comm_case *it, uint32_t rank, uint32_t i)
{
    return comm_is_v(it->collective) ? (rank * 3 + i * 5 + it->count) % (it->count + 2)
                                     : it->count;
}

/* The source of block i of a rank's OUT, and its block. */
static inline uint32_t comm_origin(const comm_case *it, const comm_rank *me, uint32_t i,
                                   uint32_t *block)
{
    const coll_graph *graph = coll_i_graph_of(&me->graphs, me->rank);
    const uint32_t from = coll_graph_source(graph, me->rank, i);
    *block = from == COLL_RANK_NONE || comm_gathers(it->collective)
                 ? 0
                 : coll_graph_origin(graph, me->rank, i, coll_i_graph_of(&me->graphs, from));
    return from;
}

/* Lays out the blocks of a rank, v-collectives with gaps, and returns the elements of IN and OUT. */
static inline coll_extents comm_neighbors(const comm_case *it, comm_rank *me)
{
    const coll_graph *graph = coll_i_graph_of(&me->graphs, me->rank);
    const bool gaps = comm_is_v(it->collective);
    coll_extents extents = {0, 0, true};
    for (uint32_t i = 0; i < (comm_gathers(it->collective) ? 1 : graph->n_out); i++) {
        me->in_counts[i] = comm_edge(it, me->rank, i);
        me->in_displs[i] = extents.in;
        extents.in += me->in_counts[i] + (gaps ? i % 2 : 0);
    }
    for (uint32_t i = 0; i < graph->n_in; i++) {
        uint32_t block;
        const uint32_t from = comm_origin(it, me, i, &block);
        me->out_counts[i] = from == COLL_RANK_NONE ? it->count : comm_edge(it, from, block);
        me->out_displs[i] = extents.out;
        extents.out += me->out_counts[i] + (gaps ? i % 3 : 0);
    }
    return extents;
}

/* IN of a rank, and what OUT must be at the end. */
static inline void comm_fill_neighbors(const comm_case *it, comm_rank *me)
{
    const coll_graph *graph = coll_i_graph_of(&me->graphs, me->rank);
    for (uint32_t i = 0; i < (comm_gathers(it->collective) ? 1 : graph->n_out); i++)
        comm_put(it, &me->in, false, me->in_displs[i], me->in_counts[i], me->rank, i,
                 COLL_RANK_NONE);
    for (uint32_t i = 0; i < graph->n_in; i++) {
        uint32_t block;
        const uint32_t from = comm_origin(it, me, i, &block);
        if (from != COLL_RANK_NONE)
            comm_put(it, &me->out, true, me->out_displs[i], me->out_counts[i], from, block,
                     COLL_RANK_NONE);
    }
}

/* What this rank's result is, in OUT. */
static inline void comm_want(const comm_case *it, comm_rank *me)
{
    const uint32_t r = me->rank;
    const bool root = r == it->root;
    switch (it->collective) {
    case COLL_BARRIER:
    case COLL_COLLECTIVES:
        return;
    case COLL_BCAST:
        comm_put(it, &me->out, true, 0, it->count, it->root, 0, COLL_RANK_NONE);
        return;
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
        if (root || it->collective == COLL_ALLREDUCE)
            comm_put(it, &me->out, true, 0, it->count, 0, 0, it->p - 1);
        return;
    case COLL_SCAN:
        comm_put(it, &me->out, true, 0, it->count, 0, 0, r);
        return;
    case COLL_EXSCAN:
        if (r > 0)
            comm_put(it, &me->out, true, 0, it->count, 0, 0, r - 1);
        return;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        for (uint32_t i = 0; i < it->p; i++)
            if (root || !coll_is(COLL_ROOTED, it->collective))
                comm_put(it, &me->out, true, me->out_displs[i], me->out_counts[i], i, 0,
                         COLL_RANK_NONE);
        return;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        if (!(root && it->in_place))
            comm_put(it, &me->out, true, 0, comm_block(it, 0, r), it->root, r, COLL_RANK_NONE);
        return;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        for (uint32_t i = 0; i < it->p; i++)
            comm_put(it, &me->out, true, me->out_displs[i], me->out_counts[i], i, r,
                     COLL_RANK_NONE);
        return;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        if (it->in_place) { /* the other blocks are lost */
            me->out.free_from = comm_block(it, 0, r) * coll_type_bytes(it->sort->type);
            me->out.free_to = me->out.bytes;
        }
        comm_put(it, &me->out, true, 0, comm_block(it, 0, r), 0, r, it->p - 1);
        return;
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        comm_fill_neighbors(it, me);
        return;
    }
}

/* Makes all buffers as before the call. */
static inline void comm_rank_fill(const comm_case *it, comm_rank *me)
{
    const coll_collective c = it->collective;
    const uint32_t r = me->rank;
    const bool here = r == it->root || !coll_is(COLL_ROOTED, c), moved = it->in_place && here;
    const bool scatters = c == COLL_SCATTER || c == COLL_SCATTERV;
    comm_buffer *const buffers[2] = {&me->in, &me->out};
    comm_buffer *from = (moved && !scatters) || c == COLL_BCAST ? &me->out : &me->in;
    for (int i = 0; i < 2; i++) {
        const size_t all = buffers[i]->bytes + 2 * (size_t)COMM_GUARD;
        memset(buffers[i]->raw, 0xA5, all);
        memset(buffers[i]->want, 0xA5, all);
        buffers[i]->free_from = buffers[i]->free_to = 0;
    }
    if (coll_is(COLL_EXCHANGING, c) || c == COLL_REDUCE_SCATTER ||
        c == COLL_REDUCE_SCATTER_BLOCK || (scatters && here)) {
        const bool out = from == &me->out && coll_is(COLL_EXCHANGING, c);
        for (uint32_t i = 0; i < it->p; i++)
            comm_put(it, from, false, out ? me->out_displs[i] : me->in_displs[i],
                     me->in_counts[i], r, i, COLL_RANK_NONE);
    } else if (coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV) |
                           COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
                       c)) {
        comm_put(it, from, false, moved ? me->out_displs[r] : 0, comm_block(it, 0, r), r, 0,
                 COLL_RANK_NONE);
    } else if (!coll_is(COLL_BIT(COLL_BARRIER) | COLL_NEIGHBORLY, c) && !scatters &&
               (c != COLL_BCAST || here)) {
        comm_put(it, from, false, 0, it->count, r, 0, COLL_RANK_NONE);
    }
    comm_want(it, me);
}

static inline comm_rank *comm_rank_new(const comm_case *it, uint32_t rank)
{
    comm_rank *me = (comm_rank *)calloc(1, sizeof *me);
    const size_t bytes = coll_type_bytes(it->sort->type);
    const bool blocks =
        coll_is(COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_SCAN) |
                    COLL_BIT(COLL_EXSCAN) | COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_BARRIER),
                it->collective) == 0;
    size_t in, out;
    me->rank = rank;
    in = comm_layout(it, rank, false, me->in_counts, me->in_displs);
    out = comm_layout(it, rank, true, me->out_counts, me->out_displs);
    if (comm_graph(it) != COLL_GRID_NO_GRAPH) {
        coll_extents extents;
        comm_graphs(it, &me->graphs);
        extents = comm_neighbors(it, me);
        in = extents.in;
        out = extents.out;
    }
    for (uint32_t i = 0; i < COMM_BLOCKS; i++) {
        me->w[0][i] = me->in_counts[i] * bytes;
        me->w[1][i] = me->in_displs[i] * bytes;
        me->w[2][i] = me->out_counts[i] * bytes;
        me->w[3][i] = me->out_displs[i] * bytes;
    }
    comm_buffer_new(&me->in, (blocks ? in : it->count) * bytes);
    comm_buffer_new(&me->out, (blocks ? in < out ? out : in : it->count) * bytes);
    comm_rank_fill(it, me);
    return me;
}

static inline void comm_rank_free(comm_rank *me)
{
    comm_buffer *const buffers[2] = {&me->in, &me->out};
    for (int i = 0; i < 2; i++) {
        free(buffers[i]->raw);
        free(buffers[i]->want);
    }
    coll_i_graphs_release(&me->graphs);
    free(me);
}

/* Are IN, OUT and their guards what they must be? */
static inline bool comm_right(const comm_rank *me)
{
    const comm_buffer *const buffers[2] = {&me->in, &me->out};
    for (int i = 0; i < 2; i++) {
        const comm_buffer *b = buffers[i];
        const size_t from = COMM_GUARD + b->free_from;
        if (b->free_to > b->free_from)
            memcpy(b->want + from, b->raw + from, b->free_to - b->free_from);
        if (memcmp(b->raw, b->want, b->bytes + 2 * (size_t)COMM_GUARD) != 0)
            return false;
    }
    return true;
}

/* ---- calls ------------------------------------------------------------------------------- */

typedef enum comm_mode { COMM_BLOCKING, COMM_NONBLOCKING, COMM_PERSISTENT } comm_mode;

#define COMM_CALL(name, ...)                                                                   \
    (mode == COMM_BLOCKING      ? coll_##name(comm, __VA_ARGS__)                               \
     : mode == COMM_NONBLOCKING ? coll_i##name(comm, __VA_ARGS__, request)                     \
                                : coll_##name##_init(comm, __VA_ARGS__, request))

/* Makes the call of this rank, by the function of its collective. */
static inline coll_status comm_issue(const comm_case *it, comm_rank *me, comm_mode mode,
                                     coll_comm *comm, coll_request *request)
{
    const bool root = me->rank == it->root || !coll_is(COLL_ROOTED, it->collective);
    const bool scatters = it->collective == COLL_SCATTER || it->collective == COLL_SCATTERV;
    const bool moved = it->in_place && root;
    const void *in = moved && !scatters  ? COLL_IN_PLACE
                     : scatters && !root ? NULL
                                         : me->in.start;
    void *out = scatters && moved ? COLL_IN_PLACE : me->out.start;
    const size_t own = comm_block(it, 0, me->rank), n = it->count;
    const bool everywhere =
        root || comm->choice[it->collective].algorithm; /* which may need them */
    const size_t *const wild = (const size_t *)(uintptr_t)16;
    const size_t *ic = everywhere ? me->in_counts : wild,
                 *id = everywhere ? me->in_displs : wild;
    const size_t *oc = everywhere ? me->out_counts : wild,
                 *od = everywhere ? me->out_displs : wild;
    const coll_type type = it->sort->type;
    const coll_operator op = it->sort->op;
    const coll_graph *graph = comm_graph(it) ? coll_i_graph_of(&me->graphs, me->rank) : NULL;
    const uint32_t to = it->root;
    if (!root && (it->collective == COLL_REDUCE || it->collective == COLL_GATHER ||
                  it->collective == COLL_GATHERV))
        out = NULL;
    switch (it->collective) {
    case COLL_BARRIER:
        return mode == COMM_BLOCKING      ? coll_barrier(comm)
               : mode == COMM_NONBLOCKING ? coll_ibarrier(comm, request)
                                          : coll_barrier_init(comm, request);
    case COLL_BCAST:
        return COMM_CALL(bcast, me->out.start, n, type, to);
    case COLL_REDUCE:
        return COMM_CALL(reduce, in, out, n, type, op, to);
    case COLL_ALLREDUCE:
        return COMM_CALL(allreduce, in, out, n, type, op);
    case COLL_GATHER:
        return COMM_CALL(gather, in, out, n, type, to);
    case COLL_GATHERV:
        return COMM_CALL(gatherv, in, moved ? 12345 : own, out, oc, od, type, to);
    case COLL_SCATTER:
        return COMM_CALL(scatter, in, out, n, type, to);
    case COLL_SCATTERV:
        return COMM_CALL(scatterv, in, ic, id, out, moved ? 12345 : own, type, to);
    case COLL_ALLGATHER:
        return COMM_CALL(allgather, in, out, n, type);
    case COLL_ALLGATHERV:
        return COMM_CALL(allgatherv, in, moved ? 12345 : own, out, oc, od, type);
    case COLL_ALLTOALL:
        return COMM_CALL(alltoall, in, out, n, type);
    case COLL_ALLTOALLV:
        return COMM_CALL(alltoallv, in, moved ? NULL : ic, moved ? NULL : id, out, oc, od,
                         type);
    case COLL_ALLTOALLW:
        return COMM_CALL(alltoallw, in, moved ? NULL : me->w[0], moved ? NULL : me->w[1], out,
                         me->w[2], me->w[3]);
    case COLL_REDUCE_SCATTER:
        return COMM_CALL(reduce_scatter, in, out, ic, type, op);
    case COLL_REDUCE_SCATTER_BLOCK:
        return COMM_CALL(reduce_scatter_block, in, out, n, type, op);
    case COLL_SCAN:
        return COMM_CALL(scan, in, out, n, type, op);
    case COLL_EXSCAN:
        return COMM_CALL(exscan, in, out, n, type, op);
    case COLL_NEIGHBOR_ALLGATHER:
        return COMM_CALL(neighbor_allgather, graph, in, out, n, type);
    case COLL_NEIGHBOR_ALLGATHERV:
        return COMM_CALL(neighbor_allgatherv, graph, in, me->in_counts[0], out, oc, od, type);
    case COLL_NEIGHBOR_ALLTOALL:
        return COMM_CALL(neighbor_alltoall, graph, in, out, n, type);
    case COLL_NEIGHBOR_ALLTOALLV:
        return COMM_CALL(neighbor_alltoallv, graph, in, ic, id, out, oc, od, type);
    case COLL_NEIGHBOR_ALLTOALLW:
        return COMM_CALL(neighbor_alltoallw, graph, in, me->w[0], me->w[1], out, me->w[2],
                         me->w[3]);
    case COLL_COLLECTIVES:
        break;
    }
    return COLL_ERR_COLLECTIVE;
}

/* The same as coll_args, for coll_comm_bytes and the calls that take the collective as a
 * value. */
static inline coll_args comm_args(const comm_case *it, comm_rank *me)
{
    const bool root = me->rank == it->root || !coll_is(COLL_ROOTED, it->collective);
    const bool scatters = it->collective == COLL_SCATTER || it->collective == COLL_SCATTERV;
    coll_args args;
    coll_args_init(&args, it->collective);
    args.root = it->root;
    args.in = it->in_place && root && !scatters ? COLL_IN_PLACE : me->in.start;
    args.out = it->in_place && root && scatters ? COLL_IN_PLACE : me->out.start;
    args.count = comm_is_v(it->collective) ? comm_block(it, 0, me->rank) : it->count;
    args.in_counts = me->in_counts;
    args.in_displs = it->collective == COLL_REDUCE_SCATTER ? NULL : me->in_displs;
    args.out_counts = me->out_counts;
    args.out_displs = me->out_displs;
    if (it->collective == COLL_ALLTOALLW || it->collective == COLL_NEIGHBOR_ALLTOALLW) {
        args.in_counts = me->w[0];
        args.in_displs = me->w[1];
        args.out_counts = me->w[2];
        args.out_displs = me->w[3];
    }
    args.type = it->sort->type;
    args.op = it->sort->op;
    if (comm_graph(it) != COLL_GRID_NO_GRAPH) {
        args.count = comm_gathers(it->collective) ? me->in_counts[0] : it->count;
        args.graph = coll_i_graph_of(&me->graphs, me->rank);
    }
    return args;
}

#endif /* COLL_TESTS_COMM_CASES_H */
