/* tools/tables.c — see tables.h */
#include "tables.h"

#include "coll/lab/sim/basics.h"
#include "memory.h"

static size_t one_count(const struct ask *ask, uint64_t count, uint64_t from, uint64_t to)
{
    if (ask->seed == UINT64_MAX)
        return (size_t)count;
    return (size_t)(coll_i_mixed(ask->seed, from, to + 1) % (2 * count + 1));
}

/* Elements that `from` has for `to`. In place both directions are one block. */
static size_t pair_count(const struct ask *ask, uint64_t count, uint32_t from, uint32_t to)
{
    if (ask->in_place && from > to)
        return one_count(ask, count, to, from);
    return one_count(ask, count, from, to);
}

static void read_counts(const char *text, size_t *counts, uint32_t p)
{
    uint32_t n = 0;
    while (*text) {
        const char *from = text;
        uint64_t count;
        if (n == p)
            refuse("--counts has more than %u numbers", p);
        if (!number_take(&text, ',', &count))
            refuse("--counts is a list of whole numbers such as 3,0,5, which \"%.40s\" is not",
                   from);
        counts[n++] = (size_t)count;
    }
    if (n != p)
        refuse("--counts has %u numbers, and there are %u ranks", n, p);
}

static void sum_up(const size_t *counts, size_t *displs, uint32_t p)
{
    if (p > 0)
        displs[0] = 0;
    for (uint32_t i = 1; i < p; i++) {
        if (counts[i - 1] > SIZE_MAX - displs[i - 1])
            refuse("the blocks exceed what this machine can address");
        displs[i] = displs[i - 1] + counts[i - 1];
    }
}

size_t *table_make(const struct ask *ask, uint64_t count, coll_problem *problem)
{
    const uint32_t p = problem->p;
    size_t *counts = memory_of(p, 2 * sizeof(size_t));
    coll_layout layout = {counts, counts + p};
    if (ask->counts)
        read_counts(ask->counts, counts, p);
    else
        for (uint32_t i = 0; i < p; i++)
            counts[i] = one_count(ask, count, 0, i);
    sum_up(counts, counts + p, p);
    if (has_in_table(problem->collective))
        problem->in = layout;
    else
        problem->out = layout;
    return counts;
}

void tables_pair(const struct ask *ask, uint64_t count, uint32_t rank, size_t *at,
                 coll_problem *problem)
{
    const uint32_t p = problem->p;
    const coll_layout in = {at, at + p}, out = {at + 2 * p, at + 3 * p};
    for (uint32_t i = 0; i < p; i++) {
        at[i] = pair_count(ask, count, rank, i);
        at[2 * p + i] = pair_count(ask, count, i, rank);
    }
    sum_up(at, at + p, p);
    sum_up(at + 2 * p, at + 3 * p, p);
    problem->in = in;
    problem->out = out;
}

/* Elements that a rank has for its destination i. */
static size_t edge_count(const struct ask *ask, coll_collective c, uint64_t count,
                         uint32_t rank, uint32_t i)
{
    return one_count(ask, count, rank, c == COLL_NEIGHBOR_ALLGATHERV ? 0 : i);
}

size_t *tables_edges(const struct ask *ask, uint64_t count, uint32_t rank,
                     const coll_i_graphs *graphs, size_t *at, coll_problem *problem)
{
    const coll_collective c = problem->collective;
    const coll_graph *graph = problem->graph;
    const uint32_t n_in = graph->n_in, n_out = graph->n_out;
    const coll_layout in = {at, at + n_out}, out = {at + 2 * n_out, at + 2 * n_out + n_in};
    for (uint32_t i = 0; i < n_out; i++)
        at[i] = edge_count(ask, c, count, rank, i);
    for (uint32_t i = 0; i < n_in; i++) {
        const uint32_t from = coll_graph_source(graph, rank, i);
        at[2 * n_out + i] =
            from == COLL_RANK_NONE
                ? 0
                : edge_count(ask, c, count, from,
                             coll_graph_origin(graph, rank, i, coll_i_graph_of(graphs, from)));
    }
    sum_up(in.counts, at + n_out, n_out);
    sum_up(out.counts, at + 2 * n_out + n_in, n_in);
    problem->out = out;
    problem->count = edge_count(ask, c, count, rank, 0);
    if (c != COLL_NEIGHBOR_ALLGATHERV) {
        problem->in = in;
        problem->count = 0;
    }
    return at + 2 * (n_out + (size_t)n_in);
}
