/* tools/report.c — coll report: a page on one algorithm among so many ranks, for people who choose or publish */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "commands.h"
#include "memory.h"
#include "names.h"
#include "output.h"
#include "workers.h"

enum {
    RANKS_MOST = 1 << 20,
    ROUNDS_MESSAGES = 1 << 20,
    ROOTS = 24, /* all of them are proven up to so many ranks, as by coll verify */
    PROVE_MOST = 64,
    PLAN_STEPS = 400000,    /* of all ranks of a plan that is proven … */
    PLAN_ELEMENTS = 4000000 /* … and elements */
};

static const char example_model[] = "loggp:L=1us,o=200,g=300,G=0.5",
                  example_memory[] = "shm:a=0.2us,b=0.1,a_fabric=2us,b_fabric=0.5";

/* ---- the command in words ---------------------------------------------------------------- */

/* The words, as a shell reads them. */
static char *command_of(int argc, char **argv)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = memory_must(open_memstream(&text, &bytes));
    fputs("coll", to);
    for (int i = 0; i < argc; i++) {
        const bool plain = argv[i][0] && argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyz"
                                                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                                 "0123456789_=:,./@+-")] == 0;
        fputs(plain ? " " : " '", to);
        for (const char *c = argv[i]; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (const char[]){*c, '\0'}, to);
        fputs(plain ? "" : "'", to);
    }
    if (fclose(to) != 0)
        memory_must(NULL);
    return text;
}

/* ---- proof ------------------------------------------------------------------------------- */

static const coll_plan *plan_of(void *arg, uint32_t rank)
{
    return job_plan(arg, rank);
}

/* May all ranks be run symbolically? */
static bool is_large(const struct job *job)
{
    double steps = 0, elements = 0;
    for (uint32_t rank = 0; rank < job->p; rank++) {
        const coll_plan *plan = job_plan(job, rank);
        const coll_extents extents = coll_plan_extents(plan, rank);
        steps += (double)coll_plan_steps(plan, rank);
        elements +=
            (double)extents.in + (double)extents.out + (double)coll_plan_scratch(plan, rank);
    }
    return steps > PLAN_STEPS || elements > PLAN_ELEMENTS;
}

static void prove(struct report *r, uint64_t jobs)
{
    coll_verify_options of_plan;
    coll_grid_options options;
    memset(&of_plan, 0, sizeof of_plan);
    of_plan.plan_of = plan_of;
    of_plan.arg = &r->job;
    r->plan_large = is_large(&r->job);
    if (!r->plan_large)
        (void)coll_verify(NULL, &of_plan, &r->plan_proof);
    coll_grid_options_init(&options, NULL, 0);
    options.p_least = r->grid_least;
    options.p_most = r->grid_most;
    options.all_roots = ROOTS;
    options.random = 0;
    options.inside.algorithms = coll_registry;
    options.inside.n = COLL_REGISTRY_COUNT;
    options.bindings = r->job.inner.bindings.binding;
    options.n_bindings = r->job.inner.bindings.n;
    options.workers = (uint32_t)(jobs < PROOF_JOBS_MOST ? jobs : PROOF_JOBS_MOST);
    r->proven = proof_make(&options, r->job.collective, &r->job.algorithm, &r->grid) &&
                (r->plan_large || r->plan_proof.ok);
}

/* ---- simulation -------------------------------------------------------------------------- */

/* What is not said of the machine. */
static void complete_machine(struct report *r)
{
    const bool near = r->ask.nodes.nodes ||
                      (r->job.algorithm->traits & (COLL_NEEDS_SHARED | COLL_I_NEEDS_GROUP));
    r->machine_given = r->on.model != NULL;
    if (!r->machine_given && !r->on.memory && near)
        r->on.memory = example_memory;
    if (!r->machine_given)
        r->on.model = example_model;
}

static void simulate(struct report *r)
{
    coll_status status;
    simulated_prepare(&r->on, r->job.plans, r->job.per_rank ? r->job.p : 1, r->job.p, 1);
    coll_sim_record_init(&r->record, REPORT_SHOWN + 1);
    r->on.options.see = coll_sim_record_see;
    r->on.options.arg = &r->record;
    coll_sim_init(&r->sim);
    status = coll_sim_run(&r->sim, r->job.plans, r->job.per_rank, &r->on.options);
    if (status != COLL_OK)
        simulated_fail(&r->sim, status);
}

static void compare(struct report *r, const char *type, uint64_t jobs)
{
    struct compared_with what = {&r->ask, &r->on, type, {0}, jobs};
    what.own.runs = 1;
    what.own.mean = coll_time_us(r->sim.makespan);
    what.own.messages = r->sim.messages;
    what.own.bytes = r->sim.bytes;
    comparison_make(&r->comparison, &what);
}

/* ---- the command ------------------------------------------------------------------------- */

int report_main(int argc, char **argv)
{
    static struct report r = {.ask = ASK_NOTHING}; /* whose machine stays where it is */
    struct option_range grid = {1, 8};
    const char *type = "f64", *path = NULL;
    uint64_t jobs = proof_processors();
    struct output out;
    char *command;
    bool good;
    const struct option options[] = {
        OPERAND("COLLECTIVE", "which collective", &r.ask.collective),
        OPERAND("ALGORITHM", "one of its algorithms: coll list COLLECTIVE", &r.ask.algorithm),
        NUMBER('p', "ranks", "P", "number of ranks", &r.ask.p, 1, RANKS_MOST),
        NUMBER('n', "count", "N", "elements of the vector, or of a block", &r.ask.count, 0,
               SIZE_MAX / 4),
        NUMBER('r', "root", "R", "root of a rooted collective (0)", &r.ask.root, 0, UINT32_MAX),
        WORDS("param", "K=V", "a parameter of the algorithm", &r.ask.params),
        INNER_OPTION(r.ask.inner),
        FLAG("in-place", "the input is in OUT", &r.ask.in_place),
        FLAG("non-commutative", "operands must stay in rank order", &r.ask.non_commutative),
        NODES_OPTIONS(r.ask.nodes),
        WORD("graph", "G", "neighbours: ring, mesh, torus, stencil, sparse, ..., torus:4x3",
             &r.ask.graph),
        WORD("type", "T", "element type (f64), of which the size counts", &type),
        SIMULATED_OPTIONS(r.on),
        RANGE(0, "prove", "A..B", "numbers of ranks that are proven besides (1..8)", &grid, 1,
              PROVE_MOST),
        {OPTION_WORD, 'o', "output", "FILE", "write this file, not the standard output", &path,
         0, 0},
        NUMBER('j', "jobs", "N", "simulations at a time (one a processor)", &jobs, 1,
               WORKERS_MOST),
    };
    const struct command report = {
        "report", "write a page on an algorithm: picture, proof, cost, simulation, comparison",
        "The page is one HTML file, without scripts or other files. Without --count a vector "
        "has P\n"
        "elements, and a block one. Without --model the machine is an example, which the page "
        "says.\n"
        "coll sim --help says how machines are described. Exit code 1 if a proof fails; then "
        "the\n"
        "page says what is wrong.",
        options, sizeof options / sizeof options[0]};
    options_read(&report, argc, argv);
    command = command_of(argc, argv);
    r.command = command;
    r.grid_least = (uint32_t)grid.first;
    r.grid_most = (uint32_t)grid.last;
    job_make(&r.job, &r.ask, coll_type_bytes(type_named(type)));
    if (r.ask.count == UINT64_MAX) { /* what it was taken for */
        const size_t count = job_plan(&r.job, 0)->problem.count;
        r.ask.count = count > 0 ? count : 1;
    }
    rounds_play(&r.played, &r.job, ROUNDS_MESSAGES);
    complete_machine(&r);
    prove(&r, jobs);
    if (r.proven) {
        simulate(&r);
        compare(&r, type, jobs);
    }
    output_open(&out, path);
    report_write(&r, out.file);
    good = output_close(&out);
    if (r.proven) {
        comparison_free(&r.comparison);
        coll_sim_record_free(&r.record);
        coll_sim_free(&r.sim);
        simulated_free(&r.on);
    }
    rounds_free(&r.played);
    job_free(&r.job);
    free(command);
    return r.proven && good ? 0 : 1;
}
