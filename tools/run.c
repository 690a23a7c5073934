/* tools/run.c — coll run: the collective on real data, checked and timed */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/comm/scaled.h"
#include "coll/reduce.h"
#include "commands.h"
#include "imported.h"
#include "member.h"
#include "memory.h"
#include "names.h"
#include "progress.h"
#include "traces.h"
#include "world.h"

enum {
    REPEAT = 10,
    REPEAT_MAX = 10000000,
    THREADS_MAX = 4096,
    LOOPBACK_MAX = 16384,
    BUFFERS_MAX = 4096,
    SEED = 1
};

struct run {
    struct ask ask;
    uint64_t repeat, window; /* window UINT64_MAX: the usual one */
    uint64_t buffers;        /* sets of them */
    coll_type type;
    const char *op; /* NULL: sum, or minloc */
    enum world_kind kind;
    const char *transport;
    struct member *member; /* of a job of processes; NULL: all ranks are in this one */
    struct traces traces;
    bool all; /* the table's rows, a line for each */
    double *times;
};

/* ---- the request ------------------------------------------------------------------------- */

/* Fills in the operator, or says where it is defined. */
static void choose_operator(struct data *data, coll_type type, const char *word)
{
    const bool reduces = coll_is(COLL_REDUCING, data->job->collective);
    const bool averages = word && strcmp(word, "avg") == 0; /* a sum, divided */
    char types[256];
    int n = 0;
    data->which = COLL_SUM;
    data->divide = NULL;
    if (!reduces && word)
        refuse("%s has no operator, so --op has no meaning",
               coll_collective_name(data->job->collective));
    if (!reduces)
        return;
    if (averages)
        data->divide = coll_i_divide_of(type);
    else if (word)
        data->which = operator_named(word);
    else if (type >= COLL_I16_I32 && type <= COLL_F64_I32)
        data->which = COLL_MINLOC;
    if (coll_op_builtin(&data->op, data->which, type) == COLL_OK)
        return;
    for (coll_type t = 0; t < COLL_TYPES && n < (int)sizeof types; t++) {
        coll_op op;
        if (coll_op_builtin(&op, data->which, t) == COLL_OK)
            n += snprintf(types + n, sizeof types - (size_t)n, "%s%s", n ? ", " : "",
                          coll_type_name(t));
    }
    refuse("%s is not defined on %s; it is on %s",
           averages ? word : coll_operator_name(data->which), coll_type_name(type), types);
}

static enum world_kind kind_named(const char *word)
{
    static const char *const names[] = {"threads", "loopback", "tcp", "join",
                                        "shm",     "ucx",      "ofi"};
    const size_t kind = name_index("transport", word, names, sizeof names / sizeof names[0]);
    if (kind < WORLD_PROCESSES)
        return (enum world_kind)kind;
    if (!member_knows(word))
        refuse("this command was built without %s: cmake -DCOLL_WITH_%s=ON builds it with that",
               strcmp(word, "ucx") == 0 ? "UCX" : "libfabric",
               strcmp(word, "ucx") == 0 ? "UCX" : "OFI");
    if (!member_is_launched(word))
        refuse("by %s each rank is a process: coll launch -n P coll run …%s", word,
               strcmp(word, "shm") == 0 ? "" : ", mpiexec or srun");
    return WORLD_PROCESSES;
}

static void check_ranks(const struct run *run, uint64_t p)
{
    const uint32_t most = run->kind == WORLD_LOOPBACK ? LOOPBACK_MAX : THREADS_MAX;
    if (!run->member && p != UINT64_MAX && p > most)
        refuse("the transport %s runs at most %u ranks here, not %u", run->transport, most,
               (unsigned)p);
}

static void check_memory(const struct data *data, const struct run *run, uint32_t window)
{
    const uint64_t machine =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t bytes = world_bytes(data, window, (uint32_t)run->buffers);
    if (bytes > machine / 4 * 3)
        refuse("the buffers of %u ranks need %.3g GB, and this machine has %.3g GB",
               data->job->p, (double)bytes / 1e9, (double)machine / 1e9);
}

static uint32_t choose_window(const struct job *job, uint64_t asked)
{
    const uint32_t least = job_plan(job, 0)->window;
    const uint32_t default_value = least > COLL_WINDOW ? least : COLL_WINDOW;
    if (asked == UINT64_MAX)
        return default_value;
    if (asked < least)
        refuse("%s needs a window of at least %u", job->algorithm->name, least);
    return (uint32_t)asked;
}

/* ---- the report -------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_time(const char *name, double seconds)
{
    const char *unit = seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
    printf("%s %.4g %s", name, seconds * (seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1), unit);
}

static void print_bytes(const char *before, double bytes, const char *after)
{
    const int unit = bytes < 1e3 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
    static const char *const units[] = {"B", "kB", "MB", "GB"};
    static const double scale[] = {1, 1e3, 1e6, 1e9};
    printf("%s%s%.4g %s%s", before, *before ? " " : "", bytes / scale[unit], units[unit],
           after);
}

/* Bytes of the largest buffer that any rank gives or gets. */
static double largest_buffer(const struct data *data)
{
    size_t most = 0;
    for (uint32_t rank = 0; rank < data->job->p; rank++) {
        const coll_extents extents = coll_plan_extents(job_plan(data->job, rank), rank);
        most = extents.in > most ? extents.in : most;
        most = extents.out > most ? extents.out : most;
    }
    return (double)most * (double)data->elem_bytes;
}

static void print_report(const struct data *data, const struct run *run)
{
    const double bytes = largest_buffer(data);
    const uint64_t n = run->repeat;
    double *times = run->times, median;
    qsort(times, n, sizeof *times, by_size);
    median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
    if (run->all) {
        printf("%-24s %-24s right", coll_collective_name(data->job->collective),
               data->job->algorithm->name);
        print_time(", median", median);
        putchar('\n');
        return;
    }
    printf("result     right on all ranks, in the first and the last of %" PRIu64
           " repetition%s\n",
           n, n == 1 ? "" : "s");
    print_time("time       least", times[0]);
    print_time(", median", median);
    putchar('\n');
    if (bytes > 0 && median > 0) {
        print_bytes("bandwidth ", bytes / median, "/s, the largest buffer of a rank, ");
        print_bytes("", bytes, ", in the median time\n");
    }
}

static void print_head(const struct data *data, const struct run *run)
{
    job_print(data->job, stdout);
    if (data->job->collective != COLL_BARRIER)
        printf("; %s", coll_type_name(data->type));
    if (coll_is(COLL_REDUCING, data->job->collective))
        printf(", %s", data->divide ? "avg" : coll_operator_name(data->which));
    if (run->member)
        printf("; a process a rank, by %s\n",
               strcmp(run->transport, "tcp") == 0   ? "TCP"
               : strcmp(run->transport, "shm") == 0 ? "shared memory"
               : strcmp(run->transport, "ucx") == 0 ? "UCX"
                                                    : "libfabric");
    else
        printf("; %s\n", run->kind == WORLD_LOOPBACK ? "all ranks in one thread"
                         : run->kind == WORLD_TCP    ? "a thread a rank, by TCP"
                         : run->kind == WORLD_JOIN   ? "a thread a rank, by TCP between nodes"
                                                     : "a thread a rank");
    fflush(stdout);
}

/* ---- the repetitions --------------------------------------------------------------------- */

/* Runs and checks, all ranks in this process. *written: false if a trace could not be. */
static bool repeat_here(const struct data *data, const struct run *run, uint32_t window,
                        struct failure *failure, bool *written)
{
    const bool in_place = coll_in_place(job_plan(data->job, 0));
    struct world world;
    bool well = true;
    memset(failure, 0, sizeof *failure);
    world_make(&world, data, run->kind, window, (uint32_t)run->buffers);
    if (traces_are_wanted(&run->traces))
        world_trace(&world, traces_room(world.p));
    for (uint64_t i = 0; well && i < run->repeat; i++) {
        const bool checked = i == 0 || i + 1 == run->repeat;
        failure->repetition = i + 1;
        failure->status =
            world_run(&world, checked || in_place || i < run->buffers, &run->times[i]);
        failure->rank = world.failed;
        if (failure->status == COLL_OK && world.barrier_broken)
            snprintf(failure->why, sizeof failure->why,
                     "a rank left the barrier before all had come");
        well = failure->status == COLL_OK && !world.barrier_broken &&
               (!checked || data_check(data, 0, data->job->p, world.in, world.out, failure->why,
                                       sizeof failure->why));
        if (!run->all)
            progress_say("coll run: repetition %" PRIu64 " of %" PRIu64, i + 1, run->repeat);
    }
    progress_clear();
    if (well && traces_are_wanted(&run->traces)) {
        coll_real_rank *ranks = memory_of(world.p, sizeof *ranks);
        for (uint32_t rank = 0; rank < world.p; rank++)
            ranks[rank] = world_traced(&world, rank);
        *written =
            traces_write_run(&run->traces, data->job, ranks, run->times[run->repeat - 1]);
        free(ranks);
    }
    world_free(&world);
    return well;
}

/* The same, of which this process is one rank. */
static bool repeat_there(const struct data *data, const struct run *run, uint32_t window,
                         struct failure *failure, bool *written)
{
    struct member *me = run->member;
    coll_real_rank *ranks;
    bool well;
    if (traces_are_wanted(&run->traces))
        member_trace(me, traces_room(me->p));
    well = member_repeat(me, data, window, (uint32_t)run->buffers, run->repeat, run->times,
                         failure);
    if (!well || !traces_are_wanted(&run->traces))
        return well;
    ranks = memory_of(me->p, sizeof *ranks);
    failure->status = member_traced(me, ranks);
    if (failure->status == COLL_OK && me->rank == 0)
        *written =
            traces_write_run(&run->traces, data->job, ranks, run->times[run->repeat - 1]);
    for (uint32_t rank = 0; rank < me->p; rank++)
        free((void *)(uintptr_t)ranks[rank].events);
    free(ranks);
    return failure->status == COLL_OK;
}

static void print_failure(const struct job *job, const struct run *run,
                          const struct failure *failure)
{
    fprintf(stderr, "coll run: ");
    if (run->all)
        fprintf(stderr, "%s %s: ", coll_collective_name(job->collective), job->algorithm->name);
    if (failure->status != COLL_OK)
        fprintf(stderr, "rank %u failed in repetition %" PRIu64 ": %s\n", failure->rank,
                failure->repetition, coll_status_text(failure->status));
    else
        fprintf(stderr, "the result of repetition %" PRIu64 " is wrong: %s\n",
                failure->repetition, failure->why);
}

/* What a schedule that was read must be like here. */
static void check_import(const struct run *run, const struct job *job)
{
    imported_has_data(job->import, run->ask.import);
    if (job->import->custom)
        refuse("%s does not say what comes out, so no result could be checked",
               run->ask.import);
    if (run->member && run->member->p != job->p)
        refuse("the job has %u ranks, and %s is for %u", run->member->p, run->ask.import,
               job->p);
    if (job->import->report.window == 0)
        refuse("%s needs more than 32 actions in flight", run->ask.import);
    check_ranks(run, job->p);
}

/* One algorithm of one collective. COLL_OK: it ran, and *code is 0, or 1 where something was wrong; else
 * why it cannot be run here, of rows of the table. */
static coll_status run_one(const struct run *run, int *code)
{
    struct job job;
    struct data data = {.job = &job};
    struct failure failure = {0};
    const bool speaks = !run->member || run->member->rank == 0;
    coll_status status = COLL_OK;
    data.seed = run->ask.seed;
    data.type = run->type;
    data.elem_bytes = coll_type_bytes(data.type);
    *code = 0;
    if (run->all)
        status = job_try(&job, &run->ask, data.elem_bytes);
    else
        job_make(&job, &run->ask, data.elem_bytes);
    if (status == COLL_OK) {
        uint32_t window;
        bool well, written = true;
        if (run->ask.import)
            check_import(run, &job);
        window = choose_window(&job, run->window);
        traces_check(&run->traces, job.p);
        choose_operator(&data, data.type, run->op);
        check_memory(&data, run, window);
        if (speaks && !run->all)
            print_head(&data, run);
        well = run->member ? repeat_there(&data, run, window, &failure, &written)
                           : repeat_here(&data, run, window, &failure, &written);
        if (run->all && failure.status == COLL_ERR_CAPABILITY)
            status = failure.status;
        else if (!well)
            print_failure(&job, run, &failure);
        *code = (well && written) || status != COLL_OK ? 0 : 1;
        if (well && speaks)
            print_report(&data, run);
        if (run->member && failure.status != COLL_OK && failure.status != COLL_ERR_CAPABILITY)
            exit(1); /* the others are told of it, or have left, and nothing more can be run */
    }
    job_free(&job);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------- */

/* What goes with one algorithm, and not with all. */
static void check_all(const struct run *run)
{
    const struct ask *ask = &run->ask;
    if (ask->params.n || ask->inner.n || ask->root != UINT64_MAX || ask->in_place ||
        ask->non_commutative || ask->graph || ask->counts || run->op ||
        traces_are_wanted(&run->traces) || run->window != UINT64_MAX)
        refuse(
            "all goes with --ranks, --count, --nodes, --type, --transport, --repeat, --buffers "
            "and --seed alone");
}

/* All algorithms of a collective, or of all, one after the other. Returns the exit code. */
static int run_all(struct run *run)
{
    const char *const collective = run->ask.collective;
    const coll_collective one =
        strcmp(collective, "all") == 0 ? COLL_COLLECTIVES : collective_named(collective);
    const bool speaks = !run->member || run->member->rank == 0;
    const uint64_t count = run->ask.count;
    size_t n, right = 0, wrong = 0, skipped = 0;
    const coll_algorithm *const *algorithms = algorithms_known(&n);
    check_all(run);
    for (coll_collective c = 0; c < COLL_COLLECTIVES; c++)
        for (size_t i = 0; i < n; i++) {
            const char *const name = coll_collective_name(c);
            coll_status status;
            int code;
            if (!coll_is(algorithms[i]->collectives, c) ||
                (one != COLL_COLLECTIVES && one != c))
                continue;
            run->ask.collective = name;
            run->ask.algorithm = algorithms[i]->name;
            run->ask.count = c == COLL_BARRIER ? UINT64_MAX : count;
            status = run_one(run, &code);
            if (status != COLL_OK && speaks)
                printf("%-24s %-24s not here: %s\n", name, algorithms[i]->name,
                       coll_status_text(status));
            fflush(stdout);
            skipped += status != COLL_OK;
            wrong += code != 0;
            right += status == COLL_OK && code == 0;
        }
    if (speaks)
        printf("%zu right, %zu wrong, %zu not here\n", right, wrong, skipped);
    return wrong == 0 ? 0 : 1;
}

int run_main(int argc, char **argv)
{
    struct run run = {.ask = ASK_NOTHING,
                      .repeat = REPEAT,
                      .buffers = 1,
                      .window = UINT64_MAX,
                      .transport = "threads"};
    const char *type_word = "f64";
    const struct option options[] = {
        ASK_OPTIONS(run.ask),
        WORD("type", "T",
             "element type (f64): i8 … i64, u8 … u64, f8_e4m3, f8_e5m2, f16, bf16, f32, f64, "
             "cf32, cf64, i32_i32 …",
             &type_word),
        WORD("op", "OP",
             "operator (sum): sum, prod, min, max, band … lxor, minloc, maxloc, avg", &run.op),
        WORD("transport", "T",
             "threads (one a rank), tcp (between those), join (tcp between nodes alone), "
             "loopback (all ranks in one thread), shm, ucx or ofi (processes)",
             &run.transport),
        NUMBER(0, "repeat", "N", "repetitions (10)", &run.repeat, 1, REPEAT_MAX),
        NUMBER(0, "buffers", "N", "sets of buffers, which repetitions take in turn (1)",
               &run.buffers, 1, BUFFERS_MAX),
        NUMBER('w', "window", "W", "actions in flight of a rank (16)", &run.window, 1, 32),
        NUMBER(0, "seed", "S", "of the data, and of a v-collective's sizes (1)", &run.ask.seed,
               0, UINT64_MAX - 1),
        TRACES_OPTIONS(run.traces, "the last repetition"),
    };
    const struct command command = {
        "run", "run an algorithm on data, check the result and measure",
        "Without --count a vector has P elements, and a block one.\n"
        "Without --counts the blocks of a v-collective have random "
        "sizes, up to 2·count elements.\n"
        "COLLECTIVE all runs all its algorithms, a line for each; all all, those of all "
        "collectives.\n"
        "With --transport tcp, ucx or ofi, and started by coll launch, mpiexec or srun, or "
        "with "
        "shm and by coll launch, this process is one of the ranks.",
        options, sizeof options / sizeof options[0]};
    struct member member;
    int code;
    options_read(&command, argc, argv);
    if (run.ask.seed == UINT64_MAX)
        run.ask.seed = SEED;
    run.ask.seeds_more = true;
    run.type = type_named(type_word);
    ask_named(&run.ask);
    run.all = !run.ask.import && strcmp(run.ask.algorithm, "all") == 0;
    if (!run.ask.import && strcmp(run.ask.collective, "all") == 0 && !run.all)
        refuse("all collectives go with all algorithms: coll run all all");
    run.kind = kind_named(run.transport);
    if (member_is_launched(run.transport)) {
        member_join(&member, run.transport);
        run.member = &member;
        if (run.ask.p != UINT64_MAX && run.ask.p != member.p)
            refuse("the job has %u ranks, not %llu", member.p, (unsigned long long)run.ask.p);
        run.ask.p = run.ask.import ? UINT64_MAX : member.p;
    }
    check_ranks(&run, run.ask.p);
    run.times = memory_of(run.repeat, sizeof *run.times);
    if (run.all)
        code = run_all(&run);
    else
        (void)run_one(&run, &code);
    if (run.member)
        member_leave(run.member);
    free(run.times);
    return code;
}
