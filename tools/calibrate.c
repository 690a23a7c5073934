/* tools/calibrate.c — coll calibrate: measures a machine over a transport, and writes its file */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/tune.h"
#include "coll/transports/idle.h"
#include "benched.h"
#include "commands.h"
#include "machine_plot.h"
#include "memory.h"
#include "names.h"
#include "output.h"
#include "predict.h"
#include "progress.h"

enum { LARGEST = 4 << 20 };

/* What the user says. */
struct setting {
    struct benched ranks;
    const char *within, *data, *output, *plot, *from;
    uint64_t largest, cache;
    uint64_t precision;  /* percent */
    uint32_t processors; /* that this process may run on */
    bool check;
    coll_machine_file *machine; /* rank 0's result */
};

static void check(const struct setting *s)
{
    if (s->from && (s->ranks.transport || s->output || s->check || s->ranks.p != UINT64_MAX))
        refuse("--from shows what a file has: it goes with --plot alone");
    if (!s->from)
        benched_check(&s->ranks);
}

static uint32_t processors(void)
{
    uint64_t mine[COLL_PROCESSORS_WORDS] = {0};
    coll_processors_add(mine);
    return coll_processors_count(mine);
}

static coll_bench_options bench_options(const struct setting *s)
{
    coll_bench_options options = benched_options(&s->ranks, s->within);
    options.precision = (double)s->precision / 100;
    options.data = (coll_bench_data)name_index("data", s->data, coll_bench_data_names,
                                               COLL_BENCH_PURGED + 1);
    options.largest = (size_t)s->largest;
    options.cache = (size_t)s->cache;
    return options;
}

/* Measures, on every rank. */
static coll_status measure(void *arg, const struct benched_rank *me)
{
    const struct setting *s = arg;
    coll_bench_options options = bench_options(s);
    coll_machine_file *machine = me->rank == 0 ? s->machine : memory_of(1, sizeof *machine);
    coll_bench bench;
    coll_status status;
    options.peer = me->peer;
    status =
        coll_bench_init(&bench, me->transport, me->ctx, me->rank, me->p, me->tag, &options);
    if (status == COLL_OK)
        status = coll_calibrate(&bench, s->ranks.transport, s->processors, machine);
    if (status == COLL_OK && s->check)
        status = predict_check(&bench, machine);
    coll_bench_free(&bench);
    if (me->rank > 0)
        free(machine);
    return status;
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
    struct setting s = {.ranks = {.command = "calibrate",
                                  .p = UINT64_MAX,
                                  .nodes = UINT64_MAX,
                                  .measure = measure},
                        .within = "20s",
                        .data = "written",
                        .largest = LARGEST,
                        .cache = 64 << 20,
                        .precision = 2};
    const struct option options[] = {
        NUMBER('p', "ranks", "P", "number of ranks", &s.ranks.p, 1, BENCHED_RANKS_MOST),
        BENCHED_OPTIONS(s.ranks),
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
        int code;
        (void)bench_options(&s); /* what is wrong is said once */
        s.machine = machine;
        s.ranks.arg = &s;
        switch (benched_run(&s.ranks, argc, argv, &code)) {
        case BENCHED_OTHER:
            return 0;
        case BENCHED_STARTED:
            return code;
        default:
            break;
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
