/* tools/job.c — from what the user asks for to plans */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/sim/basics.h"
#include "coll/lab/verify_grid.h"
#include "names.h"
#include "neighbors.h"
#include "nodes.h"

/* Ranks for which tables are made: of a row for each rank, of one number for each. */
enum { MATRIX_RANKS_MAX = 2048, TABLE_RANKS_MAX = 1 << 24 };

/* … and for which plans of composite algorithms are. */
enum { BUILT_RANKS_MAX = 1 << 17 };

void *memory_of(size_t elements, size_t bytes)
{
    void *memory = calloc(elements ? elements : 1, bytes);
    if (!memory)
        refuse("there is not enough memory for this");
    return memory;
}

/* ---- tables of v-collectives ------------------------------------------------------------- */

static bool has_in_table(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_SCATTERV) | COLL_PAIRED | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   c);
}

static bool has_out_table(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLGATHERV) | COLL_PAIRED |
                       COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   c);
}

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

/* One table of counts, the displacements after it. */
static void make_table(struct job *job, const struct ask *ask, uint64_t count,
                       coll_problem *problem)
{
    size_t *counts = memory_of(job->p, 2 * sizeof(size_t));
    coll_layout layout = {counts, counts + job->p};
    job->tables = counts;
    if (ask->counts)
        read_counts(ask->counts, counts, job->p);
    else
        for (uint32_t i = 0; i < job->p; i++)
            counts[i] = one_count(ask, count, 0, i);
    sum_up(counts, counts + job->p, job->p);
    if (has_in_table(job->collective))
        problem->in = layout;
    else
        problem->out = layout;
}

/* The two tables of a rank of alltoallv, -w: what it has for each rank, and what each has for it. */
static void make_tables(const struct job *job, const struct ask *ask, uint64_t count,
                        uint32_t rank, coll_problem *problem)
{
    size_t *at = job->tables + (size_t)rank * 4 * job->p;
    const coll_layout in = {at, at + job->p}, out = {at + 2 * job->p, at + 3 * job->p};
    for (uint32_t i = 0; i < job->p; i++) {
        at[i] = pair_count(ask, count, rank, i);
        at[2 * job->p + i] = pair_count(ask, count, i, rank);
    }
    sum_up(at, at + job->p, job->p);
    sum_up(at + 2 * job->p, at + 3 * job->p, job->p);
    problem->in = in;
    problem->out = out;
}

/* ---- the job ----------------------------------------------------------------------------- */

static _Noreturn void refuse_plan(const struct job *job, coll_status status)
{
    refuse("%s %s is impossible: %s", coll_collective_name(job->collective),
           job->algorithm->name, coll_status_text(status));
}

static void make_plan(const struct job *job, const coll_problem *problem,
                      const uint32_t *params, uint32_t rank)
{
    coll_workspace *workspace = job->workspaces ? &job->workspaces[rank] : NULL;
    const coll_status status =
        coll_plan_build(&job->plans[rank], job->algorithm, problem, params, workspace);
    if (status != COLL_OK)
        refuse_plan(job, status);
}

/* Elements that a rank has for its destination i. */
static size_t edge_count(const struct job *job, const struct ask *ask, uint64_t count,
                         uint32_t rank, uint32_t i)
{
    return one_count(ask, count, rank, job->collective == COLL_NEIGHBOR_ALLGATHERV ? 0 : i);
}

/* The tables of a rank of a neighbour collective, at `at`. Returns where the next rank's begin. */
static size_t *make_edge_tables(const struct job *job, const struct ask *ask, uint64_t count,
                                uint32_t rank, size_t *at, coll_problem *problem)
{
    const coll_graph *graph = problem->graph;
    const uint32_t n_in = graph->n_in, n_out = graph->n_out;
    const coll_layout in = {at, at + n_out}, out = {at + 2 * n_out, at + 2 * n_out + n_in};
    for (uint32_t i = 0; i < n_out; i++)
        at[i] = edge_count(job, ask, count, rank, i);
    for (uint32_t i = 0; i < n_in; i++) {
        const uint32_t from = coll_graph_source(graph, rank, i);
        at[2 * n_out + i] =
            from == COLL_RANK_NONE
                ? 0
                : edge_count(job, ask, count, from,
                             coll_graph_origin(graph, rank, i,
                                               coll_i_graph_of(&job->grid->graphs, from)));
    }
    sum_up(in.counts, at + n_out, n_out);
    sum_up(out.counts, at + 2 * n_out + n_in, n_in);
    problem->out = out;
    problem->count = edge_count(job, ask, count, rank, 0);
    if (job->collective != COLL_NEIGHBOR_ALLGATHERV) {
        problem->in = in;
        problem->count = 0;
    }
    return at + 2 * (n_out + (size_t)n_in);
}

/* The plans of a neighbour collective. */
static void make_neighbors(struct job *job, const struct ask *ask, uint64_t count,
                           coll_problem *problem, const uint32_t *params)
{
    const bool v = has_out_table(job->collective);
    coll_status status;
    size_t blocks = 0, *at;
    job->grid = memory_of(1, sizeof *job->grid);
    coll_grid_worker_init(job->grid);
    graphs_make(&job->grid->graphs, job->graph, job->p);
    status = coll_i_graphs_equip(&job->grid->graphs, problem, job->algorithm);
    if (status != COLL_OK)
        refuse_plan(job, status);
    job->per_rank = v || job->grid->graphs.per_rank;
    for (uint32_t rank = 0; v && rank < job->p; rank++) {
        const coll_graph *graph = coll_i_graph_of(&job->grid->graphs, rank);
        blocks += graph->n_in + (size_t)graph->n_out;
    }
    at = job->tables = memory_of(2 * blocks, sizeof *job->tables);
    job->plans = memory_of(job->per_rank ? job->p : 1, sizeof(coll_plan));
    for (uint32_t rank = 0; rank < (job->per_rank ? job->p : 1); rank++) {
        problem->graph = coll_i_graph_of(&job->grid->graphs, rank);
        if (v)
            at = make_edge_tables(job, ask, count, rank, at, problem);
        make_plan(job, problem, params, rank);
    }
}

static void make_kits(struct job *job, const coll_problem *problem)
{
    const size_t room = coll_workspace_tables(problem);
    if (job->p > BUILT_RANKS_MAX)
        refuse("the plans of %s are made for at most %u ranks here, not %u",
               job->algorithm->name, BUILT_RANKS_MAX, job->p);
    job->workspaces = memory_of(job->p, sizeof *job->workspaces);
    job->workspace_tables = memory_of(job->p, room * sizeof *job->workspace_tables);
    for (uint32_t rank = 0; rank < job->p; rank++) {
        coll_workspace_init(&job->workspaces[rank], rank, job->workspace_tables + rank * room,
                            room);
        job->workspaces[rank].bindings = job->inner.bindings.binding;
        job->workspaces[rank].n_bindings = job->inner.bindings.n;
    }
}

/* Plans as the verifier's grid makes them. */
static void make_layout(struct job *job, const struct ask *ask, const coll_problem *problem,
                        uint32_t nodes, const uint32_t *params)
{
    const char *names[COLL_GRID_LAYOUTS];
    coll_grid_case of;
    coll_status status;
    memset(&of, 0, sizeof of);
    for (unsigned i = COLL_GRID_UNEVEN; i < COLL_GRID_LAYOUTS; i++)
        names[i - COLL_GRID_UNEVEN] = coll_grid_layout_name((coll_grid_layout)i);
    of.layout =
        (coll_grid_layout)(COLL_GRID_UNEVEN + name_index("layout", ask->layout, names,
                                                         COLL_GRID_LAYOUTS - COLL_GRID_UNEVEN));
    of.algorithm = job->algorithm;
    of.collective = job->collective;
    of.p = job->p;
    of.root = problem->root;
    of.flags = problem->flags;
    of.count = problem->count;
    of.root_only = ask->root_tables;
    of.nodes = nodes;
    if (job->graph)
        of.graph = graph_named(job->graph);
    of.bindings = job->inner.bindings.binding;
    of.n_bindings = job->inner.bindings.n;
    memcpy(of.param, params, job->algorithm->n_params * sizeof *params);
    job->grid = memory_of(1, sizeof *job->grid);
    coll_grid_worker_init(job->grid);
    status = coll_i_grid_plans(job->grid, &of);
    if (status != COLL_OK)
        refuse_plan(job, status);
    job->per_rank = true;
    job->plans = job->grid->plans.at;
}

/* Refuses options that are missing, or have no meaning for this collective or beside others. */
static void check_ask(const struct ask *ask, coll_collective c)
{
    const char *name = coll_collective_name(c);
    const bool has_table = has_in_table(c) || has_out_table(c);
    const bool sizes = ask->seed != UINT64_MAX && !ask->seeds_more;
    if (ask->p == UINT64_MAX)
        refuse("-p P, the number of ranks, is missing");
    if (ask->root != UINT64_MAX && !coll_is(COLL_ROOTED, c))
        refuse("%s has no root", name);
    if (ask->root != UINT64_MAX && ask->root >= ask->p)
        refuse("the root is a rank from 0 to %llu, not %llu", (unsigned long long)ask->p - 1,
               (unsigned long long)ask->root);
    if (c == COLL_BARRIER && ask->count != UINT64_MAX && ask->count != 0)
        refuse("barrier moves no elements, so it has no count");
    if (c == COLL_BARRIER && ask->in_place)
        refuse("barrier has no buffers, so it cannot be in place");
    if (ask->non_commutative && !coll_is(COLL_REDUCING, c))
        refuse("%s has no operator", name);
    if (ask->graph && !coll_is(COLL_NEIGHBORLY, c))
        refuse("%s has no neighbours, so --graph has no meaning", name);
    if (ask->in_place && coll_is(COLL_NEIGHBORLY, c))
        refuse("%s cannot be in place", name);
    if (ask->counts && (!has_table || coll_is(COLL_PAIRED | COLL_NEIGHBORLY, c)))
        refuse("--counts is for gatherv, scatterv, allgatherv and reduce_scatter");
    if (ask->counts && ask->count != UINT64_MAX)
        refuse("--count and --counts exclude each other");
    if (sizes && !has_table)
        refuse("--seed is for collectives whose blocks may differ");
    if (sizes && ask->counts)
        refuse("--counts and --seed exclude each other");
    if (ask->layout && !has_table)
        refuse("--layout is for collectives whose blocks may differ");
    if (ask->layout && (ask->counts || ask->seed != UINT64_MAX))
        refuse("--layout excludes --counts and --seed");
    if (ask->group && ask->places)
        refuse("--group and --places exclude each other");
    if (ask->places && (ask->nodes || ask->layout || ask->graph))
        refuse("--places excludes --nodes, --layout and --graph");
    if (ask->root_tables && (!ask->layout || !coll_is(COLL_ROOTED, c)))
        refuse("--root-tables goes with --layout, for gatherv and scatterv");
}

/* Puts the ranks on nodes, and gives them places there if they may have some. */
static uint32_t make_nodes(struct job *job, const struct ask *ask, coll_problem *problem)
{
    if (!ask->places)
        return nodes_place(problem, ask->nodes, &job->nodes);
    places_read(&job->groups, ask->places, job->p);
    if (coll_problem_place(problem, &job->groups.places) && job->groups.places.rank)
        job->placed = ask->places;
    return 0;
}

static void make_plans(struct job *job, const struct ask *ask, size_t elem_bytes)
{
    const coll_collective c = collective_named(ask->collective);
    const char *name = coll_collective_name(c);
    const bool has_table = has_in_table(c) || has_out_table(c),
               vector = c == COLL_BCAST || c == COLL_REDUCE || c == COLL_ALLREDUCE ||
                        c == COLL_SCAN || c == COLL_EXSCAN;
    const uint32_t most_ranks =
        coll_is(COLL_PAIRED, c) || ask->layout ? MATRIX_RANKS_MAX : TABLE_RANKS_MAX;
    coll_problem problem;
    uint32_t params[COLL_PARAM_MAX], nodes;
    uint64_t count = ask->count;
    coll_pick pick;
    coll_sentence why;
    bool built;
    memset(job, 0, sizeof *job);
    job->collective = c;
    algorithm_named(c, ask->algorithm, &pick);
    job->algorithm = pick.algorithm;
    built = (job->algorithm->traits & COLL_NEEDS_BUILD) != 0;
    if (ask->inner.n > 0 && !built)
        refuse("%s is not composite, so --inner has no meaning", job->algorithm->name);
    inner_read(&job->inner, &ask->inner);
    check_ask(ask, c);
    job->p = (uint32_t)ask->p;
    if (coll_is(COLL_NEIGHBORLY, c))
        job->graph = ask->graph ? ask->graph : "torus";
    if (count == UINT64_MAX)
        count = c == COLL_BARRIER ? 0 : vector ? ask->p : 1;
    if (has_table && count > SIZE_MAX / 4)
        refuse("the blocks exceed what this machine can address");
    if (has_table && ask->p > most_ranks)
        refuse("the tables of %s are made for at most %u ranks here, not %u", name, most_ranks,
               job->p);
    for (size_t w = 0; w < ask->params.n; w++)
        if (!coll_param_read(&pick, ask->params.word[w], false, &why))
            refuse("%s", why.text);
    coll_pick_params(&pick, params);

    coll_problem_init(&problem, c, job->p, (size_t)count, elem_bytes);
    problem.root = ask->root == UINT64_MAX ? 0 : (uint32_t)ask->root;
    if (coll_is(COLL_REDUCING, c) && !ask->non_commutative)
        problem.flags |= COLL_FLAG_COMMUTATIVE;
    if (ask->in_place)
        problem.flags |= COLL_FLAG_IN_PLACE;
    nodes = make_nodes(job, ask, &problem);
    if (ask->layout && ask->nodes && nodes == 0)
        refuse("--layout goes with nodes of one size, or uneven ones");
    if (ask->layout) {
        make_layout(job, ask, &problem, nodes, params);
        return;
    }
    if (job->graph) {
        make_neighbors(job, ask, count, &problem, params);
        return;
    }
    if (built)
        make_kits(job, &problem);
    job->per_rank = coll_is(COLL_PAIRED, c) || built;
    job->plans = memory_of(job->per_rank ? job->p : 1, sizeof(coll_plan));
    if (coll_is(COLL_PAIRED, c))
        job->tables = memory_of(job->p, 4 * job->p * sizeof(size_t));
    else if (has_table)
        make_table(job, ask, count, &problem);
    for (uint32_t rank = 0; rank < (job->per_rank ? job->p : 1); rank++) {
        if (coll_is(COLL_PAIRED, c))
            make_tables(job, ask, count, rank, &problem);
        make_plan(job, &problem, params, rank);
    }
}

void job_make(struct job *job, const struct ask *ask, size_t elem_bytes)
{
    make_plans(job, ask, elem_bytes);
    if (ask->group) {
        group_read(&job->groups, ask->group, job->p);
        job->placed = ask->group;
    }
    for (uint32_t rank = 0; job->placed && rank < (job->per_rank ? job->p : 1); rank++) {
        const coll_status status = coll_plan_place(&job->plans[rank], &job->groups.group);
        if (status != COLL_OK)
            refuse_plan(job, status);
    }
}

void job_print_rank(const struct job *job, uint32_t rank)
{
    printf("%u", rank);
    if (job->placed)
        printf(" (%u outside)", coll_group_outer(&job->groups.group, rank));
}

static bool is_blockwise(coll_collective c)
{
    return c == COLL_GATHER || c == COLL_SCATTER || c == COLL_ALLGATHER || c == COLL_ALLTOALL ||
           c == COLL_REDUCE_SCATTER_BLOCK || c == COLL_NEIGHBOR_ALLGATHER ||
           c == COLL_NEIGHBOR_ALLTOALL;
}

void job_print(const struct job *job)
{
    const coll_problem *of = &job_plan(job, 0)->problem;
    printf("%s, %s", coll_collective_name(of->collective), job->algorithm->name);
    for (uint32_t i = 0; i < job->algorithm->n_params; i++)
        printf(" %s=%u", job->algorithm->params[i].name, job_plan(job, 0)->param[i]);
    inner_print(&job->inner, " ");
    printf(": %u rank%s", of->p, of->p == 1 ? "" : "s");
    if (has_in_table(of->collective) || has_out_table(of->collective)) {
        size_t largest = 0;
        for (uint32_t rank = 0; rank < (job->per_rank ? of->p : 1); rank++)
            largest = job->plans[rank].largest > largest ? job->plans[rank].largest : largest;
        printf(", blocks of up to %zu element%s", largest, largest == 1 ? "" : "s");
    } else if (of->collective != COLL_BARRIER) {
        printf(", %zu element%s%s", of->count, of->count == 1 ? "" : "s",
               is_blockwise(of->collective) ? " a block" : "");
    }
    if (job->graph)
        printf(", %s", job->graph);
    if (coll_is(COLL_ROOTED, of->collective)) {
        printf(", root ");
        job_print_rank(job, of->root);
    }
    if (of->nodes.count > 0)
        printf(", on %u node%s", of->nodes.count, of->nodes.count == 1 ? "" : "s");
    if (job->placed)
        printf(", placed by %s", job->placed);
    if (of->flags & COLL_FLAG_IN_PLACE)
        printf(", in place");
    if (coll_is(COLL_REDUCING, of->collective) && !(of->flags & COLL_FLAG_COMMUTATIVE))
        printf(", operands in rank order");
}

void job_free(struct job *job)
{
    free(job->nodes);
    coll_i_groups_release(&job->groups);
    free(job->workspaces);
    free(job->workspace_tables);
    if (!job->grid || job->plans != job->grid->plans.at)
        free(job->plans);
    free(job->tables);
    if (job->grid) {
        coll_grid_worker_release(job->grid);
        free(job->grid);
    }
}
