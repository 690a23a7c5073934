/* tools/calibrate.c — coll calibrate: measures a machine over a transport, and writes its file */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/lab/tune.h"
#include "coll/transports/idle.h"
#include "bind.h"
#include "commands.h"
#include "ends.h"
#include "machine_plot.h"
#include "member.h"
#include "memory.h"
#include "names.h"
#include "output.h"
#include "predict.h"
#include "progress.h"

enum { RANKS_MOST = 1024, STACK = 1 << 20, WITHIN_S = 20, LARGEST = 4 << 20 };

/* What the user says. */
struct setting {
    const char *transport, *within, *data, *output, *plot, *from;
    uint64_t p, nodes, largest, cache;
    uint64_t precision;  /* percent */
    uint32_t processors; /* that this process may run on */
    bool check, bind;
};

/* All ranks of this process. */
struct run {
    const struct setting *setting;
    coll_bench_options options;
    struct ends ends;
    coll_nodes nodes;
    struct rank *ranks;
    uint32_t p;
};

struct rank {
    struct run *run;
    uint32_t number;
    coll_status status;
    coll_machine_file *machine;
    pthread_t thread;
};

/* ---- what is asked for ------------------------------------------------------------------------- */

static double nanoseconds(const char *option, const char *text)
{
    static const coll_parameter row = {"", "s", COLL_PARAMETER_NUMBER, 0, .001, 1e6, 0, ""};
    double s;
    if (!coll_i_parameter_number(&row, text, &s))
        refuse("%s is a time from 1ms to 1000000s such as 20s, not \"%.60s\"", option, text);
    return s * 1e9;
}

/* Is this a transport whose ranks are processes? Refuses what is none here. */
static bool has_processes(const char *word)
{
    static const char *const names[] = {"threads", "tcp", "join", "shm", "ucx", "ofi"};
    const size_t i = name_index("transport", word, names, sizeof names / sizeof names[0]);
    if (i >= 3 && !member_knows(names[i]))
        refuse("this command was built without %s: cmake -DCOLL_WITH_%s=ON builds it with that",
               i == 4 ? "UCX" : "libfabric", i == 4 ? "UCX" : "OFI");
    return i >= 3;
}

static void check(const struct setting *s)
{
    if (s->from && (s->transport || s->output || s->check || s->p != UINT64_MAX))
        refuse("--from shows what a file has: it goes with --plot alone");
    if (s->from)
        return;
    if (!s->transport)
        refuse("--transport is missing: threads, shm, tcp, join, ucx or ofi");
    if (s->nodes != UINT64_MAX && strcmp(s->transport, "join") != 0)
        refuse("--nodes is for --transport join, whose ranks are on several");
    if (s->p == UINT64_MAX && !member_is_launched(s->transport))
        refuse("-p P, the number of ranks, is missing");
    if (strcmp(s->transport, "join") == 0 && s->nodes != UINT64_MAX && s->p != UINT64_MAX &&
        s->nodes >= s->p)
        refuse("with %" PRIu64 " ranks a node, all %" PRIu64 " are on one: --transport threads",
               s->nodes, s->p);
}

static uint32_t processors(void)
{
    uint64_t mine[COLL_PROCESSORS_WORDS] = {0};
    coll_processors_add(mine);
    return coll_processors_count(mine);
}

static void say(void *arg, const char *what)
{
    (void)arg;
    progress_say("coll calibrate: %s", what);
}

static double now_ns(void *arg)
{
    (void)arg;
    return seconds_now() * 1e9;
}

static coll_bench_options bench_options(const struct setting *s)
{
    coll_bench_options options;
    coll_bench_options_init(&options);
    options.clock.now = now_ns;
    options.within_ns = nanoseconds("--within", s->within);
    options.precision = (double)s->precision / 100;
    options.data = (coll_bench_data)name_index("data", s->data, coll_bench_data_names,
                                               COLL_BENCH_PURGED + 1);
    options.largest = (size_t)s->largest;
    options.cache = (size_t)s->cache;
    options.say = say;
    return options;
}

/* ---- ranks -------------------------------------------------------------------------------------- */

static _Noreturn void fail(uint32_t rank, coll_status status)
{
    progress_clear();
    fprintf(stderr, "coll calibrate: rank %u: %s\n", rank, coll_status_text(status));
    exit(1);
}

/* Measures, on every rank. */
static coll_status measure(const coll_transport *transport, void *ctx, uint32_t rank,
                           uint32_t p, uint32_t tag, const struct setting *s,
                           const coll_bench_options *options, coll_machine_file *machine)
{
    coll_bench bench;
    coll_status status = coll_bench_init(&bench, transport, ctx, rank, p, tag, options);
    if (status == COLL_OK)
        status = coll_calibrate(&bench, s->transport, s->processors, machine);
    if (status == COLL_OK && s->check)
        status = predict_check(&bench, machine);
    coll_bench_free(&bench);
    return status;
}

static void *rank_main(void *argument)
{
    struct rank *me = argument;
    struct run *run = me->run;
    void *ctx;
    const coll_transport *transport = ends_of(&run->ends, me->number, &ctx);
    if (run->setting->bind)
        bind_rank(me->number);
    me->status = measure(transport, ctx, me->number, run->p, 0, run->setting, &run->options,
                         me->machine);
    return NULL;
}

/* Ranks are threads of this process. */
static void run_threads(const struct setting *s, coll_machine_file *machine)
{
    struct run run = {.setting = s, .options = bench_options(s), .p = (uint32_t)s->p};
    const uint32_t per_node = s->nodes == UINT64_MAX ? 1 : (uint32_t)s->nodes;
    pthread_attr_t attributes;
    coll_nodes_even(&run.nodes, run.p, per_node);
    if (strcmp(s->transport, "join") == 0)
        run.options.peer = per_node; /* the first on another node */
    ends_make(&run.ends,
              strcmp(s->transport, "join") == 0  ? ENDS_JOIN
              : strcmp(s->transport, "tcp") == 0 ? ENDS_TCP
                                                 : ENDS_THREADS,
              run.p, &run.nodes);
    run.ranks = memory_of(run.p, sizeof *run.ranks);
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, STACK) != 0)
        refuse("there is not enough memory for %u threads", run.p);
    for (uint32_t r = 0; r < run.p; r++) {
        struct rank *rank = &run.ranks[r];
        rank->run = &run;
        rank->number = r;
        rank->machine = r == 0 ? machine : memory_of(1, sizeof *machine);
        if (pthread_create(&rank->thread, &attributes, rank_main, rank) != 0)
            refuse("this machine does not start %u threads", run.p);
    }
    pthread_attr_destroy(&attributes);
    for (uint32_t r = 0; r < run.p; r++)
        pthread_join(run.ranks[r].thread, NULL);
    for (uint32_t r = 0; r < run.p; r++) {
        if (run.ranks[r].status != COLL_OK)
            fail(r, run.ranks[r].status);
        if (r > 0)
            free(run.ranks[r].machine);
    }
    ends_free(&run.ends);
    free(run.ranks);
}

/* This process is a rank. true: it is rank 0, and has the result. */
static bool run_member(const struct setting *s, coll_machine_file *machine)
{
    const coll_bench_options options = bench_options(s);
    struct member member;
    coll_status status;
    uint32_t rank;
    if (s->bind && getenv("COLL_RANK")) /* mpiexec and srun bind better */
        bind_rank(strtoull(getenv("COLL_RANK"), NULL, 10));
    member_join(&member, s->transport);
    rank = member.rank;
    if (s->p != UINT64_MAX && s->p != member.p)
        refuse("the job has %u ranks, not %" PRIu64, member.p, s->p);
    status = measure(member.transport, member.ctx, member.rank, member.p, member.tag, s,
                     &options, machine);
    if (status != COLL_OK)
        fail(member.rank, status);
    member_leave(&member);
    return rank == 0;
}

/* Starts ranks that are processes: this command, once for each. */
static int run_launched(const struct setting *s, int argc, char **argv)
{
    static char own[4096], launch[] = "launch", n[] = "-n", ranks[24];
    char **arguments = memory_of((size_t)argc + 6, sizeof *arguments);
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        refuse("ranks by %s are processes: coll launch -n P coll calibrate …", s->transport);
    snprintf(ranks, sizeof ranks, "%" PRIu64, s->p);
    arguments[0] = launch;
    arguments[1] = n;
    arguments[2] = ranks;
    arguments[3] = own;
    memcpy(&arguments[4], argv, (size_t)argc * sizeof *argv); /* argv[0]: calibrate */
    return launch_main(argc + 4, arguments);
}

/* ---- the report --------------------------------------------------------------------------------- */

static void print_summary(const coll_machine_file *m)
{
    uint32_t values = 0, outliers = 0, unsure = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const coll_estimate *e = &m->measured[i].is;
        values += e->n;
        outliers += e->outliers;
        unsure += !coll_estimate_is_precise(e, .1);
    }
    fprintf(
        stderr,
        "%.0f rank%s over %s, %.3g s: %u medians of %u values, %u of them outliers; %u medians "
        "are unsure by more than 10%%\n",
        m->origin.ranks, m->origin.ranks > 1 ? "s" : "", m->origin.transport, m->origin.seconds,
        m->n, values, outliers, unsure);
    if (m->plogp.n > 0)
        fprintf(stderr,
                "a message of 8 bytes takes %.3g us, then %.3g ns a byte; fitted within %.0f%% "
                "in the "
                "median\n",
                m->hockney.alpha_us, m->hockney.beta_ns_per_byte, 100 * machine_fit_error(m));
}

int calibrate_main(int argc, char **argv)
{
    struct setting s = {.within = "20s",
                        .data = "written",
                        .p = UINT64_MAX,
                        .nodes = UINT64_MAX,
                        .largest = LARGEST,
                        .cache = 64 << 20,
                        .precision = 2};
    const struct option options[] = {
        WORD("transport", "T",
             "threads, tcp, join (threads that are ranks); shm, ucx, ofi (processes)",
             &s.transport),
        NUMBER('p', "ranks", "P", "number of ranks", &s.p, 1, RANKS_MOST),
        NUMBER(0, "nodes", "N", "ranks on every node, for join (1)", &s.nodes, 1, RANKS_MOST),
        WORD("within", "TIME", "how long it may take, about (20s)", &s.within),
        NUMBER(0, "precision", "PERCENT", "how sure medians are to be, at 95% confidence (2)",
               &s.precision, 1, 50),
        WORD("data", "STATE",
             "of what is sent: written just before (written), kept, or purged from all caches",
             &s.data),
        NUMBER(0, "largest", "BYTES", "longest message (4M)", &s.largest, 1 << 16, 1 << 30),
        NUMBER(0, "cache", "BYTES", "what is written to purge all caches (64M)", &s.cache,
               1 << 16, 1 << 30),
        WORD("output", "FILE", "where the machine's file goes (the standard output)",
             &s.output),
        WORD("plot", "FILE", "draws measured values and fits: a .svg, .pdf or .png by gnuplot",
             &s.plot),
        WORD("from", "FILE", "measures nothing: shows what an earlier file has", &s.from),
        FLAG("bind", "each rank stays on one processor", &s.bind),
        FLAG("check", "measures some collectives, too, beside what the simulator says of them",
             &s.check),
    };
    const struct command command = {
        "calibrate", "measure what messages, copies and reductions take on this machine",
        "The file is for coll sim, coll model and coll regimes: --model @FILE.\n"
        "With --transport shm, ucx or ofi each rank is a process, which this one starts. "
        "Started by coll "
        "launch,\nmpiexec or srun, this process is one of the ranks, over several machines, "
        "too.",
        options, sizeof options / sizeof options[0]};
    coll_machine_file *machine;
    struct output out;
    coll_sentence why;
    bool good = true;
    options_read(&command, argc, argv);
    check(&s);
    s.processors = processors();
    machine = memory_of(1, sizeof *machine);
    if (s.from) {
        if (!coll_machine_file_load(machine, s.from, &why))
            refuse("%s", why.text);
    } else {
        const bool processes = has_processes(s.transport);
        (void)bench_options(&s); /* what is wrong is said once */
        if (member_is_launched(s.transport)) {
            if (!run_member(&s, machine))
                return 0;
        } else if (processes) {
            return run_launched(&s, argc, argv);
        } else {
            run_threads(&s, machine);
        }
        progress_clear();
        if (!s.check || s.output) {
            output_open(&out, s.output);
            coll_machine_file_write(machine, out.file);
            good = output_close(&out);
        }
    }
    print_summary(machine);
    if (s.plot)
        machine_plot(machine, s.plot);
    free(machine);
    return good ? 0 : 1;
}
