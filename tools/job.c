/* tools/job.c — from what the user asks for to plans */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/verify_grid.h"
#include "imported.h"
#include "memory.h"
#include "names.h"
#include "neighbors.h"
#include "nodes.h"
#include "tables.h"

/* Ranks for which tables are made: of a row for each rank, of one number for each. */
enum { MATRIX_RANKS_MAX = 2048, TABLE_RANKS_MAX = 1 << 24 };

/* … and for which plans of composite algorithms are. */
enum { BUILT_RANKS_MAX = 1 << 17 };

/* Actions that a step may write beyond COLL_STEP_MAX without harm, and steps that are looked at
 * before anything else is done with them. */
enum { STEP_ROOM = 1 << 16, CHECKED_STEPS = 1 << 12 };

static coll_status make_plan(const struct job *job, const coll_problem *problem,
                             const uint32_t *params, uint32_t rank)
{
    coll_workspace *workspace =
        job->workspaces
            ? (coll_workspace *)(void *)(job->workspaces + rank * job->workspace_bytes)
            : NULL;
    return coll_plan_build(&job->plans[rank], job->algorithm, problem, params, workspace);
}

/* The plans of a neighbour collective. */
static coll_status make_neighbors(struct job *job, const struct ask *ask, uint64_t count,
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
        return status;
    job->per_rank = v || job->grid->graphs.per_rank;
    for (uint32_t rank = 0; v && rank < job->p; rank++) {
        const coll_graph *graph = coll_i_graph_of(&job->grid->graphs, rank);
        blocks += graph->n_in + (size_t)graph->n_out;
    }
    at = job->tables = memory_of(2 * blocks, sizeof *job->tables);
    job->plans = memory_of(job->per_rank ? job->p : 1, sizeof(coll_plan));
    for (uint32_t rank = 0; status == COLL_OK && rank < (job->per_rank ? job->p : 1); rank++) {
        problem->graph = coll_i_graph_of(&job->grid->graphs, rank);
        if (v)
            at = tables_edges(ask, count, rank, &job->grid->graphs, at, problem);
        status = make_plan(job, problem, params, rank);
    }
    return status;
}

static void make_kits(struct job *job, const coll_problem *problem)
{
    if (job->p > BUILT_RANKS_MAX)
        refuse("the plans of %s are made for at most %u ranks here, not %u",
               job->algorithm->name, BUILT_RANKS_MAX, job->p);
    job->workspace_bytes = coll_workspace_bytes(problem);
    job->workspaces = memory_of(job->p, job->workspace_bytes);
    for (uint32_t rank = 0; rank < job->p; rank++) {
        coll_workspace *workspace =
            coll_workspace_in(job->workspaces + rank * job->workspace_bytes, problem, rank);
        workspace->bindings = job->inner.bindings.binding;
        workspace->n_bindings = job->inner.bindings.n;
    }
}

/* Which rails of the grid these are. */
static coll_grid_rails grid_rails(const char *words)
{
    for (unsigned i = 0; words && i < COLL_GRID_RAILS; i++)
        if (strcmp(words, coll_grid_rails_words((coll_grid_rails)i)) == 0)
            return (coll_grid_rails)i;
    if (words)
        refuse("--layout goes with --rails 2, 0,1 or 0,2,2,1,2");
    return COLL_GRID_NO_RAILS;
}

/* Plans as the verifier's grid makes them. */
static coll_status make_layout(struct job *job, const struct ask *ask,
                               const coll_problem *problem, uint32_t nodes,
                               const uint32_t *params)
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
    of.rails = grid_rails(ask->nodes.rails);
    if (problem->nodes.beyond && problem->nodes.beyond->groups) {
        if (problem->nodes.beyond->groups->first && strcmp(ask->nodes.groups, "uneven") != 0)
            refuse("--layout goes with groups of one size, or uneven ones");
        of.groups = problem->nodes.beyond->groups->first
                        ? COLL_GRID_NODES_UNEVEN
                        : problem->nodes.beyond->groups->by_ppn.by;
    }
    if (job->graph)
        of.graph = graph_named(job->graph);
    of.bindings = job->inner.bindings.binding;
    of.n_bindings = job->inner.bindings.n;
    memcpy(of.param, params, job->algorithm->n_params * sizeof *params);
    job->grid = memory_of(1, sizeof *job->grid);
    coll_grid_worker_init(job->grid);
    status = coll_i_grid_plans(job->grid, &of);
    job->per_rank = true;
    job->plans = job->grid->plans.at;
    return status;
}

/* Puts the ranks on nodes, and gives them places there if they may have some. */
static uint32_t make_nodes(struct job *job, const struct ask *ask, coll_problem *problem)
{
    if (!ask->places)
        return nodes_place(problem, &ask->nodes, &job->nodes);
    places_read(&job->groups, ask->places, job->p);
    if (coll_problem_place(problem, &job->groups.places) && job->groups.places.rank)
        job->placed = ask->places;
    return 0;
}

/* Plans of a schedule that is read, and proven: what is not right is refused. */
static void make_import(struct job *job, const struct ask *ask, size_t elem_bytes)
{
    coll_import *it = memory_of(1, sizeof *it);
    imported_check(ask);
    inner_read(&job->inner, &ask->inner);
    job->import = it;
    if (imported_read(it, ask->import, ask->count, elem_bytes, ask->in_place) !=
            COLL_IMPORTED ||
        !coll_import_prove(it))
        refuse("%s is wrong: %s", ask->import, it->report.sentence);
    if (ask->in_place && !(it->problem.flags & COLL_FLAG_IN_PLACE))
        refuse("%s is not for calls in place", ask->import);
    if (it->format == COLL_IMPORT_JSON && it->problem.elem_bytes != elem_bytes)
        refuse("%s is for elements of %zu bytes, not of %zu: give --type", ask->import,
               it->problem.elem_bytes, elem_bytes);
    job->collective = it->problem.collective;
    job->algorithm = &it->algorithm;
    job->p = it->p;
    job->plans = it->plans;
    job->per_rank = true;
}

static coll_status make_plans(struct job *job, const struct ask *ask, size_t elem_bytes)
{
    const coll_collective c = ask->import ? COLL_BARRIER : collective_named(ask->collective);
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
    coll_status status = COLL_OK;
    bool built;
    memset(job, 0, sizeof *job);
    if (ask->import) {
        make_import(job, ask, elem_bytes);
        return COLL_OK;
    }
    job->collective = c;
    algorithm_named(c, ask->algorithm, &pick);
    job->algorithm = pick.algorithm;
    built = (job->algorithm->traits & COLL_NEEDS_BUILD) != 0;
    if (ask->inner.n > 0 && !built)
        refuse("%s is not composite, so --inner has no meaning", job->algorithm->name);
    inner_read(&job->inner, &ask->inner);
    ask_check(ask, c);
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
    if (ask->layout && ask->nodes.nodes && nodes == 0)
        refuse("--layout goes with nodes of one size, or uneven ones");
    if (ask->layout)
        return make_layout(job, ask, &problem, nodes, params);
    if (job->graph)
        return make_neighbors(job, ask, count, &problem, params);
    for (uint32_t i = 0; i < job->inner.bindings.n; i++)
        if ((job->inner.bindings.binding[i].algorithm->traits & COLL_NEEDS_BUILD) &&
            !ask->nodes.groups)
            refuse("%s is composite, so it needs --groups of nodes to be used among them",
                   job->inner.bindings.binding[i].algorithm->name);
    if (built)
        make_kits(job, &problem);
    job->per_rank = coll_is(COLL_PAIRED, c) || built;
    job->plans = memory_of(job->per_rank ? job->p : 1, sizeof(coll_plan));
    if (coll_is(COLL_PAIRED, c))
        job->tables = memory_of(job->p, 4 * job->p * sizeof(size_t));
    else if (has_table)
        job->tables = table_make(ask, count, &problem);
    for (uint32_t rank = 0; status == COLL_OK && rank < (job->per_rank ? job->p : 1); rank++) {
        if (coll_is(COLL_PAIRED, c))
            tables_pair(ask, count, rank, job->tables + (size_t)rank * 4 * job->p, &problem);
        status = make_plan(job, &problem, params, rank);
    }
    return status;
}

unsigned job_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *acts)
{
    static coll_action taken[COLL_STEP_MAX + STEP_ROOM];
    const unsigned n = coll_plan_step(plan, rank, s, taken);
    if (n > COLL_STEP_MAX)
        refuse("rank %u, step %zu: yields %u actions; COLL_STEP_MAX is %d", rank, s, n,
               COLL_STEP_MAX);
    memcpy(acts, taken, n * sizeof *acts);
    return n;
}

/* Takes the first steps of the plans once, so that nobody need ask again whether they fit. */
static void check_steps(const struct job *job)
{
    size_t left = CHECKED_STEPS;
    for (uint32_t rank = 0; rank < job->p && rank < CHECKED_STEPS && left > 0; rank++) {
        const coll_plan *plan = job_plan(job, rank);
        const size_t steps = coll_plan_steps(plan, rank);
        for (size_t s = 0; s < steps && left > 0; s++, left--) {
            coll_action acts[COLL_STEP_MAX];
            (void)job_step(plan, rank, s, acts);
        }
    }
}

coll_status job_try(struct job *job, const struct ask *ask, size_t elem_bytes)
{
    coll_status status;
    ask_named(ask);
    status = make_plans(job, ask, elem_bytes);
    if (status != COLL_OK)
        return status;
    check_steps(job);
    if (ask->group) {
        group_read(&job->groups, ask->group, job->p);
        job->placed = ask->group;
    }
    for (uint32_t rank = 0;
         job->placed && status == COLL_OK && rank < (job->per_rank ? job->p : 1); rank++)
        status = coll_plan_place(&job->plans[rank], &job->groups.group);
    return status;
}

void job_make(struct job *job, const struct ask *ask, size_t elem_bytes)
{
    const coll_status status = job_try(job, ask, elem_bytes);
    if (status != COLL_OK)
        refuse("%s %s is impossible: %s", coll_collective_name(job->collective),
               job->algorithm->name, coll_status_text(status));
}

void job_print_rank(const struct job *job, uint32_t rank, FILE *to)
{
    fprintf(to, "%u", rank);
    if (job->placed)
        fprintf(to, " (%u outside)", coll_group_outer(&job->groups.group, rank));
}

static bool is_blockwise(coll_collective c)
{
    return c == COLL_GATHER || c == COLL_SCATTER || c == COLL_ALLGATHER || c == COLL_ALLTOALL ||
           c == COLL_REDUCE_SCATTER_BLOCK || c == COLL_NEIGHBOR_ALLGATHER ||
           c == COLL_NEIGHBOR_ALLTOALL;
}

void job_print(const struct job *job, FILE *to)
{
    const coll_problem *of = &job_plan(job, 0)->problem;
    fprintf(to, "%s, %s",
            job->import && job->import->custom ? "custom"
                                               : coll_collective_name(of->collective),
            job->algorithm->name);
    for (uint32_t i = 0; i < job->algorithm->n_params; i++)
        fprintf(to, " %s=%u", job->algorithm->params[i].name, job_plan(job, 0)->param[i]);
    inner_print(&job->inner, " ", to);
    fprintf(to, ": %u rank%s", of->p, of->p == 1 ? "" : "s");
    if (has_in_table(of->collective) || has_out_table(of->collective)) {
        size_t largest = 0;
        for (uint32_t rank = 0; rank < (job->per_rank ? of->p : 1); rank++)
            largest = job->plans[rank].largest > largest ? job->plans[rank].largest : largest;
        fprintf(to, ", blocks of up to %zu element%s", largest, largest == 1 ? "" : "s");
    } else if (of->collective != COLL_BARRIER) {
        fprintf(to, ", %zu element%s%s", of->count, of->count == 1 ? "" : "s",
                is_blockwise(of->collective) ? " a block" : "");
    }
    if (job->graph)
        fprintf(to, ", %s", job->graph);
    if (coll_is(COLL_ROOTED, of->collective)) {
        fprintf(to, ", root ");
        job_print_rank(job, of->root, to);
    }
    nodes_print(&of->nodes, of->p, to);
    if (job->placed)
        fprintf(to, ", placed by %s", job->placed);
    if (of->flags & COLL_FLAG_IN_PLACE)
        fprintf(to, ", in place");
    if (coll_is(COLL_REDUCING, of->collective) && !(of->flags & COLL_FLAG_COMMUTATIVE))
        fprintf(to, ", operands in rank order");
}

void job_free(struct job *job)
{
    nodes_free(&job->nodes);
    coll_i_groups_release(&job->groups);
    free(job->workspaces);
    if (job->import) {
        coll_import_release(job->import);
        free(job->import);
    } else if (!job->grid || job->plans != job->grid->plans.at) {
        free(job->plans);
    }
    free(job->tables);
    if (job->grid) {
        coll_grid_worker_release(job->grid);
        free(job->grid);
    }
}
