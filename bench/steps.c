/* bench/steps.c — ns per action of every step function
 *
 *   cc -O2 -Iinclude bench/steps.c -o steps && ./steps > steps.csv
 *   ./steps allreduce ring         only these; the algorithm may be left out
 *
 * One row for each collective, algorithm, setting of its parameters, and p. All ranks (or 16 of them) walk through all
 * steps (or 256 in a row), the way a request asks for them; time is divided by the actions that came out. The last row
 * but one is the mean over all rows, the last one the worst. Target: mean ≤ 6 ns, none above 25 ns.
 */
#include "coll/registry.h"

#include "bench.h"

enum { RANKS = 16, STEPS = 256 };
static const uint32_t sizes[] = {2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 64, 1000, 4096};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* Walks through the sampled steps once; returns the actions. */
static size_t walk(const coll_plan *plan, const uint32_t *ranks, uint32_t n_ranks)
{
    size_t actions = 0;
    for (uint32_t i = 0; i < n_ranks; i++) {
        const size_t steps = coll_plan_steps(plan, ranks[i]);
        const size_t n = steps < STEPS ? steps : STEPS;
        for (size_t s = 0; s < n; s++) {
            coll_action out[COLL_STEP_MAX];
            actions += coll_plan_step(plan, ranks[i], s, out);
            bench_use(out);
        }
    }
    return actions;
}

typedef struct result {
    double median, least, per_step;
    size_t actions;
} result;

static result measure(const coll_plan *plan)
{
    uint32_t ranks[RANKS];
    const uint32_t p = plan->problem.p, n = p < RANKS ? p : RANKS;
    double rounds[BENCH_ROUNDS];
    uint64_t state = p;
    result r;
    size_t steps = 0;
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = p <= RANKS ? i : i == 0 ? 0 : i == 1 ? p - 1 : bench_random(&state) % p;
        const size_t all = coll_plan_steps(plan, ranks[i]);
        steps += all < STEPS ? all : STEPS;
    }
    r.actions = walk(plan, ranks, n);
    size_t repeat = 1 + 20000 / (r.actions + 1);
    for (size_t i = 0; i < BENCH_ROUNDS; i++) {
        const double start = bench_now();
        for (size_t k = 0; k < repeat; k++)
            walk(plan, ranks, n);
        rounds[i] = (bench_now() - start) / (double)(repeat * (r.actions ? r.actions : 1));
    }
    r.median = bench_median(rounds, BENCH_ROUNDS);
    r.least = rounds[0];
    r.per_step = steps ? (double)r.actions / (double)steps : 0;
    return r;
}

/* Values of a parameter's grid. */
static uint32_t grid_values(const coll_param *param)
{
    uint32_t n = 1;
    while (n < 4 && param->grid[n] != param->grid[0])
        n++;
    return n;
}

int main(int argc, char **argv)
{
    size_t *counts = bench_memory(4096 * sizeof(size_t));
    size_t *displs = bench_memory(4096 * sizeof(size_t));
    double sum = 0, worst = 0;
    char worst_name[160] = "";
    size_t rows = 0;
    for (size_t i = 0, at = 0; i < 4096; at += counts[i++]) {
        counts[i] = 1 + i % 3;
        displs[i] = at;
    }
    printf("collective,algorithm,parameters,p,actions,actions_per_step,ns_per_action,ns_per_"
           "action_least\n");
    for (size_t row = 0; row < COLL_REGISTRY_COUNT; row++) {
        const coll_algorithm *algorithm = coll_registry[row];
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
            const coll_collective collective = (coll_collective)c;
            uint32_t settings = 1, param[COLL_PARAM_MAX] = {0};
            if (!coll_is(algorithm->collectives, collective) ||
                (argc > 1 && strcmp(argv[1], coll_collective_name(collective)) != 0) ||
                (argc > 2 && strcmp(argv[2], algorithm->name) != 0))
                continue;
            fprintf(stderr, "%s %s\n", coll_collective_name(collective), algorithm->name);
            for (uint32_t k = 0; k < algorithm->n_params; k++)
                settings *= grid_values(&algorithm->params[k]);
            for (uint32_t setting = 0; setting < settings; setting++) {
                char text[100] = "";
                size_t used = 0;
                for (uint32_t k = 0, rest = setting; k < algorithm->n_params; k++) {
                    const uint32_t n = grid_values(&algorithm->params[k]);
                    param[k] = algorithm->params[k].grid[rest % n];
                    rest /= n;
                    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%u",
                                             k ? " " : "", algorithm->params[k].name, param[k]);
                }
                for (size_t i = 0; i < N_SIZES; i++) {
                    coll_problem problem;
                    coll_plan plan;
                    coll_problem_init(&problem, collective, sizes[i], 3 * (size_t)sizes[i] + 5,
                                      8);
                    problem.flags = COLL_COMMUTATIVE;
                    problem.root = sizes[i] / 2;
                    if (coll_is(COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_ALLTOALLV) |
                                    COLL_BIT(COLL_REDUCE_SCATTER),
                                collective)) {
                        problem.in.counts = counts;
                        problem.in.displs = displs;
                    }
                    if (coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLTOALLV) |
                                    COLL_BIT(COLL_ALLGATHERV),
                                collective)) {
                        problem.out.counts = counts;
                        problem.out.displs = displs;
                    }
                    if (coll_plan_init(&plan, algorithm, &problem, param) != COLL_OK)
                        continue; /* this p does not suit it */
                    const result r = measure(&plan);
                    if (r.actions == 0)
                        continue;
                    printf("%s,%s,%s,%u,%zu,%.2f,%.2f,%.2f\n", coll_collective_name(collective),
                           algorithm->name, text, sizes[i], r.actions, r.per_step, r.median,
                           r.least);
                    rows++;
                    sum += r.median;
                    if (r.median > worst) {
                        worst = r.median;
                        snprintf(worst_name, sizeof worst_name, "%s,%s,%s,%u",
                                 coll_collective_name(collective), algorithm->name, text,
                                 sizes[i]);
                    }
                }
            }
        }
    }
    if (rows == 0) {
        fprintf(stderr, "no such collective and algorithm; coll list shows them\n");
        return 2;
    }
    printf("mean,%zu rows,,,,,%.2f,\n", rows, sum / (double)rows);
    printf("worst of %s,,,%.2f,\n", worst_name, worst);
    free(counts);
    free(displs);
    return 0;
}
