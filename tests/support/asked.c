/* tests/support/asked.c — problems of selection */
#include "asked.h"

void asked_begin(asked_memory *memory)
{
    memset(memory, 0, sizeof *memory);
}

void asked_end(asked_memory *memory)
{
    coll_i_release(&memory->tables);
    coll_i_release(&memory->starts);
    coll_i_graphs_release(&memory->graphs);
}

bool asked_has_tables(coll_collective collective)
{
    return coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                       COLL_BIT(COLL_ALLGATHERV) | COLL_PAIRED | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   collective);
}

/* Elements of block i of p, count · p in all. */
static size_t block(const asked *it, uint32_t i)
{
    const bool last = i + 1 == it->p && it->p % 2 == 1;
    if (it->layout == ASKED_ONE)
        return i == it->p / 2 ? it->count * it->p : 0;
    return last || it->count == 0 ? it->count : i % 2 == 0 ? it->count - 1 : it->count + 1;
}

/* What `from` has for `to`, where each two ranks have counts of their own. In place, what goes one
 * way must come back. */
static size_t pair(const asked *it, uint32_t from, uint32_t to)
{
    const size_t a = from, b = to;
    const size_t any =
        (it->flags & COLL_FLAG_IN_PLACE) ? (a + b) * 2 + a * b : a * 3 + b * 4 + a * b;
    return it->layout == ASKED_ONE ? (a + b == it->p ? it->count : 0) : any % 5;
}

/* Elements of block i of a rank's IN; of an allgather, of its only one. */
static size_t edge(const asked *it, uint32_t rank, uint32_t i)
{
    const size_t block = it->collective == COLL_NEIGHBOR_ALLGATHERV ? 0 : i;
    return it->layout == ASKED_ONE ? (rank == it->p / 2 && block == 0 ? it->count : 0)
                                   : (rank * (size_t)3 + block * 4 + rank * block) % 5;
}

/* Where the blocks lie. */
static void place(const asked *it, uint32_t n, const size_t *counts, size_t *displs)
{
    const bool gaps = it->layout == ASKED_GAPS;
    size_t at = gaps ? 1 : 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = gaps ? n - 1 - k : k;
        displs[i] = at;
        at += counts[i] + (gaps ? 1 + k % 2 : 0);
    }
}

/* Counts and displacements of IN, then of OUT, of each rank in turn. */
static bool make_edges(asked_memory *memory, const asked *it)
{
    const coll_i_graphs *graphs = &memory->graphs;
    size_t entries = 1, at = 0, *tables, *starts;
    for (uint32_t rank = 0; rank < it->p; rank++) {
        const coll_graph *graph = coll_i_graph_of(graphs, rank);
        entries += 2 * ((size_t)graph->n_in + graph->n_out);
    }
    tables = (size_t *)coll_i_reserve_new(&memory->tables, entries * sizeof *tables);
    starts = (size_t *)coll_i_reserve_new(&memory->starts, it->p * sizeof *starts);
    for (uint32_t rank = 0; tables && starts && rank < it->p; rank++) {
        const coll_graph *graph = coll_i_graph_of(graphs, rank);
        size_t *in = tables + at, *out = in + 2 * (size_t)graph->n_out;
        starts[rank] = at;
        at += 2 * ((size_t)graph->n_in + graph->n_out);
        for (uint32_t i = 0; i < graph->n_out; i++)
            in[i] = edge(it, rank, i);
        for (uint32_t i = 0; i < graph->n_in; i++) {
            const uint32_t from = coll_graph_source(graph, rank, i);
            out[i] =
                from == COLL_RANK_NONE
                    ? 3 /* which nobody looks at */
                    : edge(it, from,
                           coll_graph_origin(graph, rank, i, coll_i_graph_of(graphs, from)));
        }
        place(it, graph->n_out, in, in + graph->n_out);
        place(it, graph->n_in, out, out + graph->n_in);
    }
    return tables && starts;
}

static bool make_tables(asked_memory *memory, const asked *it)
{
    const bool paired = coll_is(COLL_PAIRED, it->collective);
    const size_t entries = paired ? 4 * (size_t)it->p * it->p : 2 * (size_t)it->p;
    size_t *tables = (size_t *)coll_i_reserve_new(&memory->tables, entries * sizeof *tables);
    for (uint32_t rank = 0; tables && rank < (paired ? it->p : 1); rank++) {
        size_t *in = tables + (size_t)rank * 4 * it->p, *out = in + 2 * it->p;
        for (uint32_t i = 0; i < it->p; i++) {
            in[i] = paired ? pair(it, rank, i) : block(it, i);
            if (paired)
                out[i] = pair(it, i, rank);
        }
        place(it, it->p, in, in + it->p);
        if (paired)
            place(it, it->p, out, out + it->p);
    }
    return tables != NULL;
}

static void set_nodes(const asked *it, coll_problem *problem)
{
    if (it->nodes > 1 && it->ppn)
        coll_nodes_even(&problem->nodes, it->p, it->ppn);
    else if (it->nodes > 1)
        coll_nodes_table(&problem->nodes, it->nodes, it->first, NULL);
}

coll_status asked_make(asked_memory *memory, const asked *it)
{
    const bool tables = it->layout != ASKED_PLAIN;
    memory->per_rank = tables;
    if (!coll_is(COLL_NEIGHBORLY, it->collective))
        return !tables || make_tables(memory, it) ? COLL_OK : COLL_ERR_MEMORY;
    if (!coll_i_graphs_make(&memory->graphs, it->graph, it->p))
        return COLL_ERR_MEMORY;
    if (it->route) {
        coll_problem problem;
        coll_status status;
        coll_problem_init(&problem, it->collective, it->p, it->count, it->elem_bytes);
        set_nodes(it, &problem);
        status = coll_i_graphs_equip(&memory->graphs, &problem, it->route);
        if (status != COLL_OK)
            return status;
    }
    memory->per_rank = tables || memory->graphs.per_rank;
    return !tables || make_edges(memory, it) ? COLL_OK : COLL_ERR_MEMORY;
}

/* The tables of a neighbour collective. */
static void set_edges(const asked_memory *memory, const asked *it, uint32_t rank,
                      coll_problem *problem)
{
    const coll_graph *graph = problem->graph;
    const size_t *in =
        (const size_t *)memory->tables.at + ((const size_t *)memory->starts.at)[rank];
    const size_t *out = in + 2 * (size_t)graph->n_out;
    const bool gather = it->collective == COLL_NEIGHBOR_ALLGATHERV;
    problem->count = gather ? edge(it, rank, 0) : 0;
    problem->out.counts = out;
    problem->out.displs = out + graph->n_in;
    if (gather)
        return;
    problem->in.counts = in;
    problem->in.displs = in + graph->n_out;
}

void asked_problem(const asked_memory *memory, const asked *it, uint32_t rank,
                   coll_problem *problem)
{
    const bool paired = coll_is(COLL_PAIRED, it->collective);
    const size_t *mine =
        (const size_t *)memory->tables.at + (paired ? (size_t)rank * 4 * it->p : 0);
    coll_layout layout;
    coll_problem_init(problem, it->collective, it->p, it->count, it->elem_bytes);
    problem->root = it->root;
    problem->flags = it->flags;
    set_nodes(it, problem);
    if (coll_is(COLL_NEIGHBORLY, it->collective))
        problem->graph = coll_i_graph_of(&memory->graphs, rank);
    if (it->layout == ASKED_PLAIN)
        return;
    if (problem->graph) {
        set_edges(memory, it, rank, problem);
        return;
    }
    layout.counts = mine;
    layout.displs = mine + it->p;
    problem->count = paired ? 0 : mine[rank];
    if (it->root_only && rank != it->root)
        return;
    if (paired || it->collective == COLL_SCATTERV || it->collective == COLL_REDUCE_SCATTER)
        problem->in = layout;
    else
        problem->out = layout;
    if (paired) {
        problem->out.counts = mine + 2 * it->p;
        problem->out.displs = mine + 3 * it->p;
    }
}

void asked_words(const asked *it, char *text, size_t bytes)
{
    static const char *const layouts[] = {"", " packed", " in-one-block", " with-gaps"};
    size_t n = (size_t)snprintf(text, bytes, "%s p=%u root=%u count=%zu of %zu bytes%s%s%s%s",
                                coll_collective_name(it->collective), it->p, it->root,
                                it->count, it->elem_bytes, layouts[it->layout],
                                it->root_only ? " (tables at the root alone)" : "",
                                it->flags & COLL_FLAG_COMMUTATIVE ? " commutative" : "",
                                it->flags & COLL_FLAG_IN_PLACE ? " in-place" : "");
    if (n < bytes && it->graph != COLL_GRID_NO_GRAPH)
        n += (size_t)snprintf(text + n, bytes - n, " graph=%s route=%s",
                              coll_grid_graph_name(it->graph),
                              it->route ? it->route->name : "none");
    if (n < bytes && it->nodes > 1)
        n += (size_t)snprintf(text + n, bytes - n, " nodes at");
    for (uint32_t i = 0; i < it->nodes && it->nodes > 1 && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, " %u", it->first[i]);
}
