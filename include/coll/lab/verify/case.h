/* coll/lab/verify/case.h — one plan of a grid: made from a few numbers, proven, and named by words
 *
 *   coll_grid_worker worker;
 *   coll_report report;
 *   coll_grid_worker_init(&worker);
 *   if (coll_grid_prove(&worker, &one, &report) == COLL_OK && !report.ok)
 *       puts(report.sentence);
 *   coll_grid_worker_release(&worker);
 *
 * The tables of v-collectives come from the case's layout, and neighbours from its graph
 * (graphs.h), which everyone can make again from their names; algorithms that need packed
 * tables get them without gaps. Hosted; allocates.
 */
#ifndef COLL_LAB_VERIFY_CASE_H
#define COLL_LAB_VERIFY_CASE_H

#include "grid_case.h"

/* Elements that `from` has for `to` (alltoallv, -w), or that the block of `from` has (to = 0). In
 * place, what goes one way must come back. */
COLL_INLINE size_t coll_i_grid_count(const coll_grid_case *of, uint32_t from, uint32_t to)
{
    const bool matrix = coll_is(COLL_PAIRED, of->collective);
    const size_t a = from, b = to;
    const size_t any = !matrix                            ? a * 7 + 3
                       : (of->flags & COLL_FLAG_IN_PLACE) ? (a + b) * 2 + a * b
                                                          : a * 3 + b * 4 + a * b;
    switch (of->layout) {
    case COLL_GRID_UNEVEN:
        return any % 5;
    case COLL_GRID_GAPS:
        return 1 + any % 4;
    case COLL_GRID_ONE:
        return (matrix ? a + b == of->p : a == of->p / 2) ? of->count : 0;
    default:
        return 0;
    }
}

/* Elements of block i of the IN of a rank; of an allgather, of its only one. */
COLL_INLINE size_t coll_i_grid_edge(const coll_grid_case *of, uint32_t rank, uint32_t i)
{
    const size_t block = of->collective == COLL_NEIGHBOR_ALLGATHERV ? 0 : i;
    const size_t any = rank * (size_t)3 + block * 4 + rank * block;
    return of->layout == COLL_GRID_UNEVEN ? any % 5
           : of->layout == COLL_GRID_GAPS ? 1 + any % 4
           : of->layout == COLL_GRID_ONE  ? (rank == of->p / 2 && block == 0 ? of->count : 0)
                                          : 0;
}

/* Writes the displacements of n blocks of these counts. */
COLL_INLINE void coll_i_grid_place(const coll_grid_case *of, uint32_t n, const size_t *counts,
                                   size_t *displs)
{
    const bool packed = (coll_i_case_traits(of) & COLL_NEEDS_PACKED) != 0;
    const bool gaps = of->layout == COLL_GRID_GAPS && !packed;
    size_t at = gaps ? 1 : 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t block = gaps ? n - 1 - k : k;
        displs[block] = at;
        at += counts[block] + (gaps ? 1 + k % 2 : 0);
        if (counts[block] == 0 && !packed)
            displs[block] = 1000003; /* where an empty block lies means nothing */
    }
}

/* Nodes of 1 to 4 ranks. `tables` has room for 2p + 1. */
COLL_INLINE void coll_i_grid_uneven(coll_nodes *nodes, uint32_t p, uint32_t *tables)
{
    uint32_t *of = tables + p + 1;
    uint32_t n = 0;
    for (uint32_t rank = 0, end = 0; rank < p; rank++) {
        if (rank == end) {
            tables[n] = rank;
            end += 1 + (5 * n + 2) % 4;
            n++;
        }
        of[rank] = n - 1;
    }
    tables[n] = p;
    coll_nodes_table(nodes, n, tables, p & 1 ? of : NULL);
}

/* Puts the ranks on the case's nodes. False: no memory. */
COLL_INLINE bool coll_i_grid_nodes(coll_grid_worker *worker, const coll_grid_case *of,
                                   coll_problem *problem)
{
    const uint32_t p = problem->p;
    if (of->nodes == COLL_GRID_NODES_UNEVEN) {
        uint32_t *tables = (uint32_t *)coll_i_reserve_new(&worker->nodes,
                                                          (2 * (size_t)p + 1) * sizeof *tables);
        if (!tables)
            return false;
        coll_i_grid_uneven(&problem->nodes, p, tables);
    } else if (of->nodes != 0) {
        coll_nodes_even(&problem->nodes, p, of->nodes);
    }
    return coll_i_beyond_make(&worker->beyond, &problem->nodes, p, of->rails, of->groups,
                              coll_i_grid_uneven);
}

/* Makes one rank's plan, where nothing that its algorithm did not prepare is what another one's prepared.
 * Without a trait, it is that of a copy of the record that has not got it. */
COLL_INLINE coll_status coll_i_grid_plan(const coll_grid_case *of, const coll_problem *problem,
                                         coll_workspace *workspace, coll_plan *plan)
{
    coll_composite copy;
    coll_status status;
    memset(plan, 0x5A, sizeof *plan);
    if (!of->lifted)
        return coll_plan_build(plan, of->algorithm, problem, of->param, workspace);
    memset(&copy, 0, sizeof copy);
    if (of->algorithm->traits & COLL_NEEDS_BUILD)
        copy = *coll_composite_of(of->algorithm);
    copy.algorithm = *of->algorithm;
    copy.algorithm.traits = coll_i_case_traits(of);
    status = coll_plan_build(plan, &copy.algorithm, problem, of->param, workspace);
    plan->algorithm = of->algorithm; /* a record may be a part of something */
    plan->traits &= ~of->lifted;
    return status;
}

/* The plans of a neighbour collective, a rank's tables as long as its lists. */
COLL_INLINE coll_status coll_i_grid_neighbor_plans(coll_grid_worker *worker,
                                                   const coll_grid_case *of)
{
    const bool v = of->layout != COLL_GRID_PLAIN;
    coll_algorithm as;
    coll_status status;
    size_t blocks = 0, *tables;
    coll_problem problem;
    coll_plan *plans;
    coll_problem_init(&problem, of->collective, of->p, of->count, 8);
    problem.flags = of->flags;
    if (!coll_i_grid_nodes(worker, of, &problem) ||
        !coll_i_graphs_make(&worker->graphs, of->graph, of->p))
        return COLL_ERR_MEMORY;
    as = *of->algorithm;
    as.traits = coll_i_case_traits(of);
    status = coll_i_graphs_equip(&worker->graphs, &problem, &as);
    if (status != COLL_OK)
        return status;
    worker->per_rank = v || worker->graphs.per_rank;
    for (uint32_t rank = 0; v && rank < of->p; rank++) {
        const coll_graph *graph = coll_i_graph_of(&worker->graphs, rank);
        blocks += graph->n_in + (size_t)graph->n_out;
    }
    plans = (coll_plan *)coll_i_reserve_new(&worker->plans,
                                            (worker->per_rank ? of->p : 1) * sizeof *plans);
    tables = (size_t *)coll_i_reserve_new(&worker->tables, (2 * blocks + 1) * sizeof *tables);
    if (!plans || !tables)
        return COLL_ERR_MEMORY;
    for (uint32_t rank = 0; rank < (worker->per_rank ? of->p : 1) && status == COLL_OK;
         rank++) {
        const coll_graph *graph = coll_i_graph_of(&worker->graphs, rank);
        const uint32_t n_in = graph->n_in, n_out = graph->n_out;
        problem.graph = graph;
        if (v) {
            size_t *in = tables, *out = in + 2 * (size_t)n_out;
            for (uint32_t i = 0; i < n_out; i++)
                in[i] = coll_i_grid_edge(of, rank, i);
            for (uint32_t i = 0; i < n_in; i++) {
                const uint32_t from = coll_graph_source(graph, rank, i);
                out[i] = from == COLL_RANK_NONE
                             ? 3 /* which nobody looks at */
                             : coll_i_grid_edge(
                                   of, from,
                                   coll_graph_origin(graph, rank, i,
                                                     coll_i_graph_of(&worker->graphs, from)));
            }
            coll_i_grid_place(of, n_out, in, in + n_out);
            coll_i_grid_place(of, n_in, out, out + n_in);
            problem.count = coll_i_grid_edge(of, rank, 0);
            problem.out.counts = out;
            problem.out.displs = out + n_in;
            if (of->collective != COLL_NEIGHBOR_ALLGATHERV) {
                problem.count = 0;
                problem.in.counts = in;
                problem.in.displs = in + n_out;
            }
            tables = out + 2 * (size_t)n_in;
        }
        status = coll_i_grid_plan(of, &problem, NULL, &plans[rank]);
    }
    return status;
}

/* The algorithms of a play's name, with its parameters. */
COLL_INLINE void coll_i_grid_binding(coll_grid_worker *worker, coll_level level,
                                     const coll_grid_play *play)
{
    const coll_grid_pool *pool = &worker->pool;
    coll_i_grid_bindings *bindings = &worker->bindings;
    for (uint32_t i = 0; i < pool->n && bindings->n < COLL_I_GRID_USES; i++) {
        const coll_algorithm *algorithm = pool->algorithms[i];
        uint32_t *param = bindings->param[bindings->n];
        if (!coll_i_pool_kin(pool, i, play->algorithm))
            continue;
        for (uint32_t k = 0; k < algorithm->n_params; k++) {
            uint32_t same = 0;
            while (same < play->algorithm->n_params &&
                   strcmp(play->algorithm->params[same].name, algorithm->params[k].name) != 0)
                same++;
            param[k] = same < play->algorithm->n_params ? play->param[same]
                                                        : algorithm->params[k].default_value;
        }
        bindings->binding[bindings->n].level = level;
        bindings->binding[bindings->n].algorithm = algorithm;
        bindings->binding[bindings->n++].params = param;
    }
}

/* Gets the memory of all ranks' workspaces. False: there is none. */
COLL_INLINE bool coll_i_grid_workspaces(coll_grid_worker *worker, const coll_grid_case *of,
                                        const coll_problem *problem)
{
    /* the ranks' own, and behind them those that are nested: groups of the grid have no groups */
    const uint32_t h = coll_nodes_count(&problem->nodes);
    const coll_nodes *groups = problem->nodes.beyond ? problem->nodes.beyond->groups : NULL;
    const size_t room = coll_workspace_tables(problem), nests = COLL_WORKSPACE_NESTED;
    const size_t nested_room = groups ? coll_i_workspace_tables(groups, h) : 0;
    coll_workspace *workspaces;
    size_t *tables;
    workspaces = (coll_workspace *)coll_i_reserve_new(
        &worker->workspaces, of->p * (groups ? 1 + nests : 1) * sizeof *workspaces);
    tables = (size_t *)coll_i_reserve_new(
        &worker->workspace_tables, of->p * (room + nests * nested_room) * sizeof *tables);
    worker->bindings.n = 0;
    for (unsigned level = 0; level < COLL_LEVELS; level++)
        if (of->play[level].algorithm)
            coll_i_grid_binding(worker, (coll_level)level, &of->play[level]);
    for (uint32_t rank = 0; workspaces && tables && rank < of->p; rank++) {
        coll_workspace_init(&workspaces[rank], rank, tables + rank * room, room);
        workspaces[rank].bindings = of->n_bindings ? of->bindings : worker->bindings.binding;
        workspaces[rank].n_bindings = of->n_bindings ? of->n_bindings : worker->bindings.n;
        for (size_t i = 0; groups && i < nests; i++)
            coll_workspace_init(&workspaces[of->p + rank * nests + i], 0,
                                tables + of->p * room + (rank * nests + i) * nested_room,
                                nested_room);
        if (groups)
            workspaces[rank].nested = &workspaces[of->p + rank * nests];
    }
    return workspaces && tables;
}

/* Writes the tables of all ranks: counts, then displacements; an alltoallv has a row for each rank,
 * and as much again for what comes back. */
COLL_INLINE void coll_i_grid_tables(const coll_grid_case *of, size_t *tables)
{
    const uint32_t p = of->p;
    const bool matrix = coll_is(COLL_PAIRED, of->collective);
    const size_t table = matrix ? (size_t)p * p : p;
    for (uint32_t rank = 0; rank < (matrix ? p : 1); rank++) {
        size_t *in = tables + (size_t)rank * p, *out = in + 2 * table;
        for (uint32_t k = 0; k < p; k++) {
            in[k] = matrix ? coll_i_grid_count(of, rank, k) : coll_i_grid_count(of, k, 0);
            if (matrix)
                out[k] = coll_i_grid_count(of, k, rank);
        }
        coll_i_grid_place(of, p, in, in + table);
        if (matrix)
            coll_i_grid_place(of, p, out, out + table);
    }
}

/* What of the problem is this rank's own: its tables, as far as it has them. */
COLL_INLINE void coll_i_grid_own(const coll_grid_case *of, const size_t *tables, uint32_t rank,
                                 coll_problem *problem)
{
    const bool matrix = coll_is(COLL_PAIRED, of->collective);
    const size_t table = matrix ? (size_t)of->p * of->p : of->p;
    const size_t *mine = tables + (matrix ? (size_t)rank * of->p : 0);
    coll_layout layout, none;
    none.counts = none.displs = NULL;
    layout.counts = mine;
    layout.displs = mine + table;
    problem->count = matrix ? 0 : mine[rank];
    problem->in = problem->out = none;
    if (of->root_only && rank != of->root)
        return;
    if (matrix || of->collective == COLL_SCATTERV || of->collective == COLL_REDUCE_SCATTER)
        problem->in = layout;
    else
        problem->out = layout;
    if (matrix) {
        problem->out.counts = mine + 2 * table;
        problem->out.displs = mine + 3 * table;
    }
}

/* Puts the ranks on the case's nodes, and gives them places there. False: no memory. */
COLL_INLINE bool coll_i_grid_places(coll_grid_worker *worker, const coll_grid_case *of,
                                    coll_problem *problem)
{
    if (of->places.kind == COLL_GRID_NO_PLACES)
        return coll_i_grid_nodes(worker, of, problem);
    if (!coll_i_rank_order_make(&worker->groups, &of->places, of->p))
        return false;
    worker->asked = *problem;
    worker->moved = coll_problem_place(problem, &worker->groups.places) &&
                    worker->groups.places.rank != NULL;
    return true;
}

/* Makes the plans of all ranks, not placed. */
COLL_INLINE coll_status coll_i_grid_rank_plans(coll_grid_worker *worker,
                                               const coll_grid_case *of)
{
    const uint32_t p = of->p;
    const bool matrix = coll_is(COLL_PAIRED, of->collective);
    const bool tabled = of->layout != COLL_GRID_PLAIN;
    const bool built = (of->algorithm->traits & COLL_NEEDS_BUILD) != 0;
    const size_t room = !tabled ? 1 : matrix ? 4 * (size_t)p * p : 2 * (size_t)p;
    coll_problem problem;
    size_t *tables;
    coll_plan *plans;
    coll_status status = COLL_OK;
    worker->per_rank = tabled || built;
    plans = (coll_plan *)coll_i_reserve_new(&worker->plans,
                                            (worker->per_rank ? p : 1) * sizeof(coll_plan));
    tables = (size_t *)coll_i_reserve_new(&worker->tables, room * sizeof(size_t));
    if (!plans || !tables)
        return COLL_ERR_MEMORY;
    coll_problem_init(&problem, of->collective, p, of->count, 8);
    problem.root = of->root;
    problem.flags = of->flags;
    if (!coll_i_grid_places(worker, of, &problem) ||
        (built && !coll_i_grid_workspaces(worker, of, &problem)))
        return COLL_ERR_MEMORY;
    if (tabled)
        coll_i_grid_tables(of, tables);
    for (uint32_t rank = 0; rank < (worker->per_rank ? p : 1) && status == COLL_OK; rank++) {
        if (tabled)
            coll_i_grid_own(of, tables, rank, &problem);
        status = coll_i_grid_plan(of, &problem,
                                  built ? (coll_workspace *)worker->workspaces.at + rank : NULL,
                                  &plans[rank]);
    }
    return status;
}

/* Places a plan. Here no rank is outside: the group is the whole transport, whatever its numbers are. */
COLL_INLINE coll_status coll_i_grid_put(coll_plan *plan, const coll_group *group)
{
    bool reduces;
    if (!coll_i_plan_needs_all(plan, &reduces))
        return coll_plan_place(plan, group);
    coll_group_assign(&plan->group, group);
    return COLL_OK;
}

/* Makes the plans of all ranks; what coll_plan_build, or coll_plan_place, says of the first that it
 * refuses. */
COLL_INLINE coll_status coll_i_grid_plans(coll_grid_worker *worker, const coll_grid_case *of)
{
    coll_plan *plans;
    coll_status status = coll_i_groups_make(&worker->groups, &of->group, of->p);
    worker->moved = false;
    if (status != COLL_OK)
        return status;
    status = coll_is(COLL_NEIGHBORLY, of->collective) ? coll_i_grid_neighbor_plans(worker, of)
                                                      : coll_i_grid_rank_plans(worker, of);
    plans = (coll_plan *)worker->plans.at;
    for (uint32_t rank = 0; rank < (worker->per_rank ? of->p : 1) && status == COLL_OK; rank++)
        if (of->group.kind != COLL_GRID_NO_GROUP || worker->moved)
            status = coll_i_grid_put(&plans[rank], &worker->groups.group);
    return status;
}

COLL_INLINE const coll_plan *coll_i_grid_plan_of(void *arg, uint32_t rank)
{
    const coll_grid_worker *worker = (const coll_grid_worker *)arg;
    return (const coll_plan *)worker->plans.at + (worker->per_rank ? rank : 0);
}

/* The index of the parameter that says how many ranks there are outside; COLL_PARAM_MAX: none. */
COLL_INLINE uint32_t coll_i_grid_machine(const coll_algorithm *algorithm)
{
    uint32_t i = 0;
    if (!(algorithm->traits & COLL_USES_GROUP))
        return COLL_PARAM_MAX;
    while (i < algorithm->n_params && strcmp(algorithm->params[i].name, "machine") != 0)
        i++;
    return i < algorithm->n_params ? i : COLL_PARAM_MAX;
}

/* What making the case's plans must end with, as far as their group goes: a machine must hold the
 * group, ascending. 0 ranks outside: they are not looked at. */
COLL_INLINE coll_status coll_i_grid_group_status(const coll_grid_worker *worker,
                                                 const coll_grid_case *of)
{
    const uint32_t i = coll_i_grid_machine(of->algorithm);
    const uint64_t machine = i < COLL_PARAM_MAX ? of->param[i] : 0;
    uint64_t next = 0;
    for (uint32_t rank = 0; machine > 0 && rank < of->p; rank++) {
        const coll_group *group = &worker->groups.group;
        const uint64_t outer =
            group->table ? group->table[rank] : group->base + (uint64_t)rank * group->stride;
        if (outer < next || outer >= machine)
            return COLL_ERR_GROUP;
        next = outer + 1;
    }
    return COLL_OK;
}

/* How many leaders a node of the case has, if it says so: its first parameter; 0: it does not. */
COLL_INLINE uint32_t coll_i_grid_leaders(const coll_grid_case *of)
{
    return of->algorithm->n_params > 0 && strcmp(of->algorithm->params[0].name, "leaders") == 0
               ? of->param[0]
               : 0;
}

/* Are the case's plans short enough to be lowered for a NIC, which takes the square of their steps? */
COLL_INLINE bool coll_i_grid_is_short(const coll_grid_worker *worker, const coll_grid_case *of)
{
    for (uint32_t rank = 0; rank < of->p; rank++) {
        const coll_plan *plan =
            (const coll_plan *)worker->plans.at + (worker->per_rank ? rank : 0);
        if (coll_plan_steps(plan, rank) > COLL_GRID_NIC_STEPS)
            return false;
    }
    return true;
}

/* Proves the case that the worker has made plans of. */
COLL_INLINE void coll_i_grid_prove_plans(coll_grid_worker *worker, const coll_grid_case *of,
                                         uint32_t window, uint32_t sends, coll_report *report)
{
    coll_verify_options options;
    memset(&options, 0, sizeof options);
    options.plan_of = coll_i_grid_plan_of;
    options.arg = worker;
    options.verifier = &worker->verifier;
    options.skip = worker->skip;
    options.nic = worker->nic && coll_i_grid_is_short(worker, of) ? worker->nic : NULL;
    options.nic_random = worker->nic_random;
    options.crashes = of->lifted ? 0 : worker->crashes;
    options.crash_work =
        worker->crash_ran || worker->crash_work == 0 ? worker->crash_work : UINT64_MAX;
    options.window = window;
    options.sends = sends;
    if (worker->moved) {
        options.asked = &worker->asked;
        options.node = worker->groups.node;
    }
    coll_verify(NULL, &options, report);
    if (report->crash.runs > 0) {
        const uint64_t cost = coll_i_crash_cost(report);
        worker->crash_ran = true;
        worker->crash_work -= cost < worker->crash_work ? cost : worker->crash_work;
    }
    if (report->ok && of->rails != COLL_GRID_NO_RAILS && coll_i_grid_leaders(of) > 0)
        (void)coll_i_rails_prove(report, coll_i_grid_plan_of, worker, coll_i_grid_leaders(of));
}

/* Proves one case. Returns what coll_plan_build says of it; on COLL_OK, *report has the proof or
 * the finding. */
COLL_INLINE coll_status coll_grid_prove(coll_grid_worker *worker, const coll_grid_case *of,
                                        coll_report *report)
{
    const coll_status status = coll_i_grid_plans(worker, of);
    const coll_status group = coll_i_grid_group_status(worker, of);
    if (status != COLL_OK)
        return status;
    if (group == COLL_OK)
        coll_i_grid_prove_plans(worker, of, 0, 0, report);
    else
        coll_i_found(report, COLL_FOUND_TRAIT, 0, COLL_NO_STEP,
                     "coll_plan_place must say of this group: %s", coll_status_text(group));
    return COLL_OK;
}

#endif /* COLL_LAB_VERIFY_CASE_H */
