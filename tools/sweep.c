/* tools/sweep.c — coll sweep: a grid of simulations, as lines of CSV */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "memory.h"
#include "progress.h"
#include "proof.h"
#include "sweep_file.h"
#include "workers.h"

static const char result_columns[] =
    "runs,mean_us,ci95_us,least_us,most_us,messages,sent_bytes,refused\n";

struct run {
    struct sweep sweep;
    struct sweep_file file;    /* to: NULL, as a table is printed instead */
    struct sweep_times *times; /* of all cells */
    size_t first;              /* cell that was not there */
    uint64_t refused;
};

/* ---- a cell ------------------------------------------------------------------------------ */

/* The 0.975 quantile of Student's distribution, for n − 1 degrees of freedom: from a table, or by the
 * expansion of Fisher and Cornish, which is within 1 ‰ from five degrees on. */
static double student(uint64_t n)
{
    static const double few[] = {0, 12.7062, 4.3027, 3.1824, 2.7764};
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z,
                 v = (double)n - 1;
    if (n <= 5)
        return few[n - 1];
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

void sweep_simulate(const struct sweep *s, size_t i, struct sweep_times *times)
{
    static struct simulated on; /* which must stay where it is, and is large */
    static coll_sim sim;
    const uint64_t seeds = s->seeds == UINT64_MAX ? 1 : s->seeds,
                   first = s->seed == UINT64_MAX ? 1 : s->seed;
    double squares = 0;
    coll_sim_init(&sim);
    for (uint64_t k = 0; k < seeds; k++) {
        struct job job;
        coll_status status;
        double us, off;
        sweep_job(s, i, first + k, &job, &on);
        status = coll_sim_run(&sim, job.plans, job.per_rank, &on.options);
        if (status != COLL_OK)
            simulated_fail(&sim, status);
        us = coll_time_us(sim.makespan);
        if (k == 0) {
            times->least = times->most = us;
            times->messages = sim.messages;
            times->bytes = sim.bytes;
        }
        times->least = fmin(times->least, us);
        times->most = fmax(times->most, us);
        off = us - times->mean; /* Welford's sum of squares */
        times->mean += off / (double)(k + 1);
        squares += off * (us - times->mean);
        simulated_free(&on);
        job_free(&job);
    }
    times->runs = seeds;
    times->half =
        seeds < 2 ? -1
                  : student(seeds) * sqrt(squares / (double)(seeds - 1)) / sqrt((double)seeds);
}

/* In a process of its own. */
static void simulate(void *arg, size_t i, void *record)
{
    sweep_simulate(&((const struct run *)arg)->sweep, i, record);
}

/* ---- its line ---------------------------------------------------------------------------- */

static void print_line(void *arg, size_t i, const void *record, const char *sentence)
{
    struct run *run = arg;
    FILE *to = run->file.to;
    progress_clear();
    if (!to) {
        if (record)
            memcpy(&run->times[i], record, sizeof run->times[i]);
        run->refused += record == NULL;
        return;
    }
    sweep_key(&run->sweep, i, to);
    if (record) {
        const struct sweep_times *t = &run->times[i];
        memcpy(&run->times[i], record, sizeof *t);
        fprintf(to, "%" PRIu64 ",%.9g,", t->runs, t->mean);
        if (t->half >= 0)
            fprintf(to, "%.4g", t->half);
        fprintf(to, ",%.9g,%.9g,%" PRIu64 ",%" PRIu64 ",\n", t->least, t->most, t->messages,
                t->bytes);
    } else {
        fputs("0,,,,,,,\"", to);
        for (; *sentence; sentence++)
            fputs(*sentence == '"' ? "\"\"" : (const char[]){*sentence, '\0'}, to);
        fputs("\"\n", to);
        run->refused++;
    }
    sweep_file_flush(&run->file);
    progress_say("coll sweep: %zu of %zu combinations", i + 1, run->sweep.n);
}

/* A line that was there. */
static bool take_line(void *arg, size_t i, const char *line)
{
    struct run *run = arg;
    struct sweep_times *t;
    char *key = NULL, interval[32] = "";
    size_t n = 0;
    FILE *to;
    bool good;
    if (i >= run->sweep.n)
        return false;
    to = open_memstream(&key, &n);
    if (!to)
        refuse("there is not enough memory for this");
    sweep_key(&run->sweep, i, to);
    fclose(to);
    good = strncmp(line, key, n) == 0;
    free(key);
    if (!good)
        return false;
    t = &run->times[i];
    t->half = -1;
    if (sscanf(line + n, "%" SCNu64 ",%lg,", &t->runs, &t->mean) == 2) {
        if (sscanf(line + n, "%*u,%*[^,],%31[^,],", interval) == 1)
            t->half = strtod(interval, NULL);
        return t->runs > 0;
    }
    run->refused++;
    return strncmp(line + n, "0,,,,,,,\"", 9) == 0;
}

/* ---- the command ------------------------------------------------------------------------- */

/* The lines before the first cell's. The caller frees them. */
static char *head_of(const struct sweep *sweep)
{
    char *head = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&head, &n);
    if (!to)
        refuse("there is not enough memory for this");
    fputs("# ", to);
    sweep_print(sweep, to);
    fprintf(to, "\n%s%s", sweep_key_columns, result_columns);
    if (fclose(to) != 0)
        refuse("there is not enough memory for this");
    return head;
}

int sweep_main(int argc, char **argv)
{
    static struct run run = {.sweep = SWEEP_NOTHING};
    struct sweep *s = &run.sweep;
    const char *path = NULL, *plot = NULL;
    uint64_t jobs = proof_processors();
    bool table = false;
    char *head;
    const struct option options[] = {
        OPERAND("COLLECTIVE,…", "which collectives", &s->collectives),
        OPTIONAL("ALGORITHM,…", "which of their algorithms (all)", &s->algorithms),
        {OPTION_WORD, 'p', "ranks", "GRID", "numbers of ranks", &s->ranks, 0, 0},
        {OPTION_WORD, 'n', "counts", "GRID", "elements of the vector, or of a block (1)",
         &s->counts, 0, 0},
        WORDS("param", "K=GRID", "a parameter, of the algorithms that have it", &s->ask.params),
        EACH("model", "MODEL", "what messages cost, as in loggp:L=1us,o=200,g=300,G=0.5",
             &s->models),
        EACH("topology", "TOPOLOGY", "links, as in mesh:16x32,hop=40ns or fattree:k=4,n=3",
             &s->topologies),
        EACH("noise", "NOISE", "of processors: noise:frequency=100Hz,duration=250us",
             &s->noises),
        EACH("skew", "TIME", "ranks begin at random times up to this one, as 5us (0)",
             &s->skews),
        NUMBER(0, "seeds", "N",
               "simulations of each combination, of which the mean is told (1)", &s->seeds, 1,
               1000000),
        NUMBER(0, "seed", "S",
               "the first of their seeds (1); sizes of blocks are random, too, "
               "if one of both is given",
               &s->seed, 0, UINT64_MAX / 2),
        WORD("memory", "SHM", "ranks of a node copy through it, as in shm:a=0.2us,b=0.1",
             &s->on.memory),
        WORD("nic", "NIC", "the NICs, as coll sim has them", &s->on.nic),
        WORD("placement", "P", "who uses its NIC: all, hybrid, action, host", &s->on.placement),
        WORD("map", "MAP", "ranks on the places of topologies, as coll sim has it", &s->on.map),
        WORD("traffic", "TRAFFIC", "of others on their links: traffic:load=0.3,bytes=4096",
             &s->on.traffic),
        NUMBER(0, "ports", "N", "ports of a rank, as coll sim has them (1)", &s->on.ports, 1,
               COLL_PORTS_MOST),
        WORD("type", "T", "element type (f64), of which the size counts", &s->type),
        NUMBER('r', "root", "R", "root of rooted collectives (0)", &s->ask.root, 0, UINT32_MAX),
        INNER_OPTION(s->ask.inner),
        FLAG("in-place", "the input is in OUT", &s->ask.in_place),
        FLAG("non-commutative", "operands must stay in rank order", &s->ask.non_commutative),
        NODES_OPTIONS(s->ask.nodes),
        WORD("graph", "G", "neighbours: ring, mesh, torus, stencil, sparse, ..., torus:4x3",
             &s->ask.graph),
        {OPTION_WORD, 'o', "output", "FILE", "write, or continue, this file", &path, 0, 0},
        NUMBER('j', "jobs", "N", "simulations at a time (one a processor)", &jobs, 1,
               WORKERS_MOST),
        FLAG("table",
             "print the means, in us, as a table, the least with *; CSV only to --output",
             &table),
        WORD("plot", "FILE",
             "draws it over ranks, counts or a parameter: a .svg, .pdf or .png by gnuplot",
             &plot),
    };
    const struct command sweep = {
        "sweep", "simulate all combinations of algorithms, sizes and machines",
        "A GRID is numbers and ranges with commas between them: 16..1024 doubles, 4..20+4 adds "
        "4.\n"
        "--model, --topology, --noise and --skew may be given several times, and coll sim "
        "--help says\n"
        "what they are. A line of CSV for each combination: the mean of all seeds, and half of "
        "its\n"
        "interval of confidence, at 95%. What cannot be is a line that says why. With "
        "--output, "
        "a\n"
        "sweep that was interrupted goes on where it ended.",
        options, sizeof options / sizeof options[0]};
    options_read(&sweep, argc, argv);
    sweep_make(s);
    if (plot)
        sweep_check_plot(s, plot);
    if (table)
        sweep_check_table(s);
    head = head_of(s);
    run.times = memory_of(s->n, sizeof *run.times);
    if (!table || path)
        run.first = sweep_file_open(&run.file, path, head, take_line, &run);
    workers_run(run.first, s->n, jobs, simulate, print_line, &run, sizeof(struct sweep_times));
    if (run.file.to)
        sweep_file_close(&run.file);
    progress_clear();
    if (table)
        sweep_table(s, run.times);
    if (plot)
        sweep_plot(s, run.times, plot);
    free(run.times);
    free(head);
    if (run.refused == s->n)
        fprintf(stderr, "coll sweep: no combination can be simulated; %s says why\n",
                run.file.to ? "the last column" : "without --table the last column");
    sweep_free(s);
    return run.refused == s->n ? 2 : 0;
}
