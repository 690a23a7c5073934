/* bench/steps.c — ns per action of every step function
 *
 *   cc -O2 -Iinclude bench/steps.c -o steps && ./steps > steps.csv
 *   ./steps allreduce ring         only these; the algorithm may be left out
 *
 * One row for each collective, algorithm, setting of its parameters, and p. All ranks (or 16 of
 * them) walk through all steps (or 256 in a row), the way a request asks for them; time is
 * divided by the actions that came out. `least` is the best of the rounds, which other programs
 * on the machine disturb least. At the end: the mean over all rows, the mean in which every
 * collective of every algorithm weighs the same, and the worst row. Target: mean ≤ 6 ns, none
 * above 25 ns.
 */
#include "coll/plan/composite.h"
#include "coll/algos/registry.h"
#include "coll/lab/verify/axes.h"

#include "bench.h"

enum { RANKS = 16, STEPS = 256 };
static const uint32_t sizes[] = {2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 64, 1000, 4096};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* The ranks that are measured, each with its plan: those of composite algorithms differ. */
typedef struct sample {
    uint32_t n, rank[RANKS];
    coll_plan plan[RANKS];
    coll_workspace workspace[RANKS];
    size_t tables[RANKS][1 << 15];
} sample;

/* Of neighbour collectives. */
static coll_i_graphs graphs;

static coll_status choose(sample *of, const coll_algorithm *algorithm,
                          const coll_problem *problem, const uint32_t *param)
{
    const uint32_t p = problem->p;
    uint64_t state = p;
    of->n = p < RANKS ? p : RANKS;
    for (uint32_t i = 0; i < of->n; i++) {
        coll_problem mine = *problem;
        coll_status status;
        of->rank[i] = p <= RANKS ? i : i == 0 ? 0 : i == 1 ? p - 1 : bench_random(&state) % p;
        coll_workspace_init(&of->workspace[i], of->rank[i], of->tables[i],
                            sizeof of->tables[i] / sizeof of->tables[i][0]);
        if (coll_is(COLL_NEIGHBORLY, problem->collective))
            mine.graph = coll_i_graph_of(&graphs, of->rank[i]);
        status = coll_plan_build(&of->plan[i], algorithm, &mine, param, &of->workspace[i]);
        if (status != COLL_OK)
            return status;
    }
    return COLL_OK;
}

/* Walks through the sampled steps once; returns the actions. */
static size_t walk(const sample *of)
{
    size_t actions = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t steps = coll_plan_steps(&of->plan[i], of->rank[i]);
        const size_t n = steps < STEPS ? steps : STEPS;
        for (size_t s = 0; s < n; s++) {
            coll_action out[COLL_STEP_MAX];
            actions += coll_plan_step(&of->plan[i], of->rank[i], s, out);
            bench_use(out);
        }
    }
    return actions;
}

typedef struct result {
    double median, least, per_step;
    size_t actions;
} result;

static result measure(const sample *of)
{
    double rounds[BENCH_ROUNDS];
    result r;
    size_t steps = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const size_t all = coll_plan_steps(&of->plan[i], of->rank[i]);
        steps += all < STEPS ? all : STEPS;
    }
    r.actions = walk(of);
    size_t repeat = 1 + 20000 / (r.actions + 1);
    for (size_t i = 0; i < BENCH_ROUNDS; i++) {
        const double start = bench_busy();
        for (size_t k = 0; k < repeat; k++)
            walk(of);
        rounds[i] = (bench_busy() - start) / (double)(repeat * (r.actions ? r.actions : 1));
    }
    r.median = bench_median(rounds, BENCH_ROUNDS);
    r.least = rounds[0];
    r.per_step = steps ? (double)r.actions / (double)steps : 0;
    return r;
}

/* The tables that a v-collective is given: 1, 2 or 3 elements a block. */
static size_t counts[4096], displs[4096];

/* What was measured so far. */
static struct {
    size_t rows;
    double sum, sum_least, worst, worst_least;
    char worst_name[200];
    size_t lines; /* collectives of an algorithm, each of the same weight in this mean */
    double sum_lines, sum_lines_least;
} total;

static void measure_plan(const sample *of, const char *parameters)
{
    char name[200];
    const coll_plan *plan = &of->plan[0];
    const result r = measure(of);
    if (r.actions == 0)
        return;
    snprintf(name, sizeof name, "%s,%s,%s,%u", coll_collective_name(plan->problem.collective),
             plan->algorithm->name, parameters, plan->problem.p);
    printf("%s,%zu,%.2f,%.2f,%.2f\n", name, r.actions, r.per_step, r.median, r.least);
    total.rows++;
    total.sum += r.median;
    total.sum_least += r.least;
    if (total.worst < r.median)
        total.worst = r.median;
    if (total.worst_least < r.least) {
        total.worst_least = r.least;
        snprintf(total.worst_name, sizeof total.worst_name, "%s", name);
    }
}

/* The tables of a problem, where its collective has them. */
static void give_tables(coll_problem *problem)
{
    const unsigned both =
        COLL_PAIRED | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLW);
    const unsigned in = both | COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_REDUCE_SCATTER);
    const unsigned out = both | COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLGATHERV) |
                         COLL_BIT(COLL_NEIGHBOR_ALLGATHERV);
    if (coll_is(in, problem->collective)) {
        problem->in.counts = counts;
        problem->in.displs = displs;
    }
    if (coll_is(out, problem->collective)) {
        problem->out.counts = counts;
        problem->out.displs = displs;
    }
}

/* Measures a problem; of a neighbour collective on all graphs. */
static void measure_problem(const coll_algorithm *algorithm, const coll_problem *problem,
                            const uint32_t *param, const char *parameters)
{
    static sample of;
    if (!coll_is(COLL_NEIGHBORLY, problem->collective)) {
        if (choose(&of, algorithm, problem, param) == COLL_OK)
            measure_plan(&of, parameters);
        return;
    }
    for (unsigned i = COLL_GRID_NO_GRAPH + 1; i < COLL_GRID_GRAPHS; i++)
        if (coll_i_graphs_make(&graphs, (coll_grid_graph)i, problem->p) &&
            coll_i_graphs_equip(&graphs, problem, algorithm) == COLL_OK &&
            choose(&of, algorithm, problem, param) == COLL_OK)
            measure_plan(&of, coll_grid_graph_name((coll_grid_graph)i));
}

/* All p with these parameters, as far as the algorithm can. */
static void measure_sizes(const coll_algorithm *algorithm, coll_collective collective,
                          const uint32_t *param, const char *parameters)
{
    for (size_t i = 0; i < N_SIZES; i++) {
        coll_problem problem;
        coll_problem_init(&problem, collective, sizes[i], 3 * (size_t)sizes[i] + 5, 8);
        problem.flags = COLL_FLAG_COMMUTATIVE;
        problem.root = sizes[i] / 2;
        if (algorithm->traits & COLL_USES_NODES)
            coll_nodes_even(&problem.nodes, sizes[i], 4);
        give_tables(&problem);
        measure_problem(algorithm, &problem, param, parameters);
    }
}

/* All settings of its parameters. */
static void measure_algorithm(const coll_algorithm *algorithm, coll_collective collective)
{
    const size_t rows = total.rows;
    const double sum = total.sum, sum_least = total.sum_least;
    uint32_t settings = 1;
    fprintf(stderr, "%s %s\n", coll_collective_name(collective), algorithm->name);
    for (uint32_t k = 0; k < algorithm->n_params; k++) {
        uint32_t values[COLL_GRID_VALUES];
        settings *= coll_grid_values(&algorithm->params[k], values);
    }
    for (uint32_t setting = 0, rest; setting < settings; setting++) {
        uint32_t param[COLL_PARAM_MAX] = {0};
        char text[100] = "";
        size_t used = 0;
        rest = setting;
        for (uint32_t k = 0; k < algorithm->n_params; k++) {
            uint32_t values[COLL_GRID_VALUES];
            const uint32_t n = coll_grid_values(&algorithm->params[k], values);
            param[k] = values[rest % n];
            rest /= n;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%u", k ? " " : "",
                                     algorithm->params[k].name, param[k]);
        }
        measure_sizes(algorithm, collective, param, text);
    }
    if (total.rows > rows) {
        total.lines++;
        total.sum_lines += (total.sum - sum) / (double)(total.rows - rows);
        total.sum_lines_least += (total.sum_least - sum_least) / (double)(total.rows - rows);
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0, at = 0; i < 4096; at += counts[i++]) {
        counts[i] = 1 + i % 3;
        displs[i] = at;
    }
    printf("collective,algorithm,parameters,p,actions,actions_per_step,ns_per_action,"
           "ns_per_action_least\n");
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            if (coll_is(coll_registry[i]->collectives, (coll_collective)c) &&
                (argc < 2 || strcmp(argv[1], coll_collective_name((coll_collective)c)) == 0) &&
                (argc < 3 || strcmp(argv[2], coll_registry[i]->name) == 0))
                measure_algorithm(coll_registry[i], (coll_collective)c);
    if (total.rows == 0) {
        fprintf(stderr, "no such collective and algorithm; coll list shows them\n");
        return 2;
    }
    printf("mean of %zu rows,,,,,,%.2f,%.2f\n", total.rows, total.sum / (double)total.rows,
           total.sum_least / (double)total.rows);
    printf("mean of %zu lines of the registry,,,,,,%.2f,%.2f\n", total.lines,
           total.sum_lines / (double)total.lines, total.sum_lines_least / (double)total.lines);
    printf("worst,%s,,,%.2f,%.2f\n", total.worst_name, total.worst, total.worst_least);
    return 0;
}
