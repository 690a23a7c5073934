/* bench/simulator.c — messages a second of the simulator, and the memory of a rank
 *
 *   cc -O2 -Iinclude bench/simulator.c -lm -o simulator && ./simulator > simulator.csv
 *   ./simulator allreduce recursive_doubling 65536    only this collective, algorithm, p; the last ones may be left
 *                                                     out, and - stands for any
 *
 * One element of 8 bytes, LogGP, one core. The targets are 5 million messages a second at p =
 * 65,536, and less than 20 s and 24 GiB for a broadcast and an f-nomial allreduce at p = 1,048,576.
 * `best` is the fastest round, `median` the middle one, both of the processor's time; the first round,
 * which also gets the memory from the system, is `first`.
 */
#include "coll/algos/registry.h"
#include "coll/lab/sim.h"

#include "bench.h"

static const struct row {
    coll_collective collective;
    const char *name;
    uint32_t p;
} rows[] = {
    {COLL_BCAST, "fnomial", 1 << 16},
    {COLL_REDUCE, "fnomial", 1 << 16},
    {COLL_ALLREDUCE, "fnomial", 1 << 16},
    {COLL_ALLREDUCE, "recursive_doubling", 1 << 16},
    {COLL_ALLREDUCE, "recursive_multiplying", 1 << 16},
    {COLL_BARRIER, "dissemination", 1 << 16},
    {COLL_BCAST, "linear", 1 << 16},
    {COLL_BCAST, "fnomial", 1 << 20},
    {COLL_ALLREDUCE, "fnomial", 1 << 20},
    {COLL_ALLREDUCE, "recursive_doubling", 1 << 20},
};

static const coll_algorithm *find(const struct row *row)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, row->collective) &&
            strcmp(coll_registry[i]->name, row->name) == 0)
            return coll_registry[i];
    return NULL;
}

static void must(coll_status status, const struct row *row)
{
    if (status == COLL_OK)
        return;
    fprintf(stderr, "%s %s: %s\n", coll_collective_name(row->collective), row->name,
            coll_status_text(status));
    exit(1);
}

static void measure(const struct row *row)
{
    const coll_loggp_costs costs = {1000, 200, 300, .5, 0, 1e18, 0};
    coll_problem problem;
    coll_plan plan;
    coll_cost_model model;
    coll_sim_loggp loggp;
    coll_sim_options options;
    coll_sim sim;
    double first = 0, seconds[BENCH_ROUNDS];
    const size_t rounds = row->p > 1 << 16 ? 3 : BENCH_ROUNDS;
    coll_problem_init(&problem, row->collective, row->p,
                      row->collective == COLL_BARRIER ? 0 : 1, 8);
    if (row->collective != COLL_BARRIER && row->collective != COLL_BCAST)
        problem.flags = COLL_FLAG_COMMUTATIVE;
    must(coll_plan_init(&plan, find(row), &problem, NULL), row);
    coll_sim_loggp_init(&model, &loggp, &costs);
    coll_sim_options_init(&options, &model);
    coll_sim_init(&sim);
    for (size_t i = 0; i < rounds; i++) {
        const double start = bench_busy();
        must(coll_sim_run(&sim, &plan, false, &options), row);
        seconds[i] = (bench_busy() - start) * 1e-9;
        first = i == 0 ? seconds[0] : first;
    }
    {
        const double median = bench_median(seconds, rounds), n = (double)sim.messages * 1e-6;
        printf("%s,%s,%u,%llu,%llu,%.3f,%.2f,%.2f,%.2f,%.3f,%.0f\n",
               coll_collective_name(row->collective), row->name, row->p,
               (unsigned long long)sim.messages, (unsigned long long)sim.events,
               coll_time_us(sim.makespan), n / seconds[0], n / median, n / first, first,
               (double)sim.memory / row->p);
    }
    fflush(stdout);
    coll_sim_free(&sim);
}

static bool wanted(int argc, char **argv, int i, const char *word)
{
    return i >= argc || strcmp(argv[i], "-") == 0 || strcmp(argv[i], word) == 0;
}

int main(int argc, char **argv)
{
    bool found = false;
    printf("collective,algorithm,p,messages,events,makespan_us,best_million_per_s,"
           "median_million_per_s,first_million_per_s,first_s,bytes_per_rank\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char p[16];
        snprintf(p, sizeof p, "%u", rows[i].p);
        if (wanted(argc, argv, 1, coll_collective_name(rows[i].collective)) &&
            wanted(argc, argv, 2, rows[i].name) && wanted(argc, argv, 3, p)) {
            measure(&rows[i]);
            found = true;
        }
    }
    if (!found)
        fprintf(stderr, "no row of this benchmark is called so\n");
    return found ? 0 : 2;
}
