/* tools/tune.c — coll tune: simulates all algorithms on a calibrated machine, measures those that are near the
 * best, and writes a table of rules; or does so by simulation alone, on any machine */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/tune/tuned_rules.h"
#include "coll/table.h"
#include "benched.h"
#include "commands.h"
#include "measured.h"
#include "member.h"
#include "memory.h"
#include "names.h"
#include "output.h"
#include "progress.h"
#include "tune_report.h"
#include "tune_simulated.h"

enum { LISTED = 16, LEAST_BYTES = 8, LARGEST = 1 << 20, SIMULATED_RANKS = 4096 };

/* What the user says. */
struct setting {
    struct benched ranks;
    struct simulated on; /* with --simulate */
    bool simulate, multicast;
    const char *p, *model, *within, *collectives, *output, *near_ties, *measured, *plot;
    uint64_t largest, loss, check;
    uint32_t numbers[LISTED], n_numbers;
    uint32_t mask; /* of collectives */
    coll_machine_file *machine;
    struct measured file;
    struct tune_report report;
};

/* What the tuner knows the choices of: blocks that are all of one size, or none. */
static const coll_collective tuned[] = {
    COLL_BARRIER,   COLL_BCAST,    COLL_REDUCE,
    COLL_ALLREDUCE, COLL_GATHER,   COLL_SCATTER,
    COLL_ALLGATHER, COLL_ALLTOALL, COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,      COLL_EXSCAN};
enum { TUNED = sizeof tuned / sizeof tuned[0] };

/* ---- what is asked for --------------------------------------------------------------------- */

static void read_numbers(struct setting *s)
{
    const uint32_t most = s->simulate ? SIMULATED_RANKS : BENCHED_RANKS_MOST;
    const char *text = s->p;
    while (text && *text) {
        uint64_t p;
        const bool last = !strchr(text, ',');
        if (!number_take(&text, last ? '\0' : ',', &p) || p < 2 || p > most ||
            s->n_numbers == LISTED)
            refuse("--ranks is a number of ranks from 2 to %u, or up to %d such with a comma "
                   "between them, not \"%.60s\"",
                   most, LISTED, s->p);
        s->numbers[s->n_numbers++] = (uint32_t)p;
        if (last)
            break;
    }
}

static void read_collectives(struct setting *s)
{
    coll_sentence why;
    uint32_t known = 0;
    for (size_t i = 0; i < TUNED; i++)
        known |= COLL_BIT(tuned[i]);
    s->mask = known;
    if (s->collectives && !coll_collectives_read(s->collectives, &s->mask, &why))
        refuse("%s", why.text);
    if (s->mask & ~known && strcmp(s->collectives, "all") != 0)
        refuse("only collectives whose blocks have one size are tuned; those with tables and "
               "those of neighbours go by the built-in rules");
    s->mask &= known;
}

/* Nothing is measured. */
static void check_simulated(const struct setting *s)
{
    if (s->ranks.transport || s->check || s->measured || s->ranks.bind || s->within ||
        s->near_ties)
        refuse("--simulate measures nothing: leave out --transport, --bind, --check, "
               "--measured, --within and --near-ties");
    if (s->n_numbers == 0)
        refuse("--ranks P, the number of ranks, is missing");
}

static void check(struct setting *s)
{
    coll_sentence why;
    if (s->simulate) {
        read_numbers(s);
        read_collectives(s);
        check_simulated(s);
        return;
    }
    if (s->multicast || s->on.memory || s->on.nic || s->on.placement || s->on.topology ||
        s->on.noise || s->on.skew)
        refuse("--memory, --nic, --placement, --topology, --noise, --skew and --multicast are "
               "of a "
               "machine on which --simulate goes");
    s->within = s->within ? s->within : "60s";
    (void)benched_options(&s->ranks, s->within); /* what is wrong is said once */
    read_numbers(s);
    read_collectives(s);
    if (!s->model || s->model[0] != '@')
        refuse("--model @FILE is missing, a file of coll calibrate over the same transport");
    if (!coll_machine_file_load(s->machine, s->model + 1, &why))
        refuse("%s", why.text);
    if (s->machine->plogp.n == 0)
        refuse("%s has no table of P-LogP, so nothing can be simulated by it", s->model + 1);
    if (s->n_numbers > 0)
        s->ranks.p = s->numbers[0];
    else if (s->ranks.transport && !member_is_launched(s->ranks.transport))
        refuse("--ranks P, the number of ranks, is missing");
    benched_check(&s->ranks);
    if (s->n_numbers > 1 &&
        (benched_has_processes(&s->ranks) || member_is_launched(s->ranks.transport)))
        refuse(
            "ranks by %s are processes, of which one run has one number: --measured keeps what "
            "each run finds",
            s->ranks.transport);
}

/* ---- the work -------------------------------------------------------------------------------- */

static void known(void *arg, const coll_tuner_cell *cell, coll_candidate *one)
{
    const struct setting *s = arg;
    measured_known(&s->file, cell, one);
}

static void measured(void *arg, const coll_tuner_cell *cell, const coll_candidate *one,
                     double ns)
{
    const struct setting *s = arg;
    measured_add(&s->file, cell, one, ns);
}

/* A problem with so many bytes of a vector, or of one block. */
static coll_problem problem_of(coll_collective collective, uint32_t p, size_t bytes)
{
    coll_problem problem;
    coll_problem_init(&problem, collective, p, bytes / sizeof(double), sizeof(double));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    return problem;
}

/* Does the vector have a block for each rank? */
static bool in_blocks(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_ALLGATHER) |
                       COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                   c);
}

/* Has the ranks' vectors of this many bytes room in the bench's messages? */
static bool has_room(const struct setting *s, coll_collective c, uint32_t p, size_t bytes)
{
    return bytes * (in_blocks(c) ? p : 1) <= s->largest;
}

static coll_status add_cells(coll_tuner *tuner, const struct setting *s, uint32_t p)
{
    coll_status status = COLL_OK;
    for (size_t i = 0; i < TUNED && status == COLL_OK; i++) {
        const size_t least = tuned[i] == COLL_BARRIER ? 0 : LEAST_BYTES;
        if (!coll_is(s->mask, tuned[i]))
            continue;
        for (size_t bytes = least; status == COLL_OK && has_room(s, tuned[i], p, bytes);
             bytes *= 4) {
            coll_problem problem = problem_of(tuned[i], p, bytes);
            if (s->simulate && s->ranks.nodes != UINT64_MAX)
                coll_nodes_even(&problem.nodes, p, (uint32_t)s->ranks.nodes);
            status = coll_tuner_add(tuner, &problem);
            if (bytes == 0)
                break;
        }
    }
    return status;
}

/* Problems that are none of the cells: any number of elements. The same ones on all ranks. */
static coll_status add_unseen(coll_tuner *tuner, const struct setting *s, uint32_t p)
{
    uint64_t random = 1;
    coll_status status = COLL_OK;
    for (uint64_t i = 0; i < s->check && status == COLL_OK;) {
        coll_problem problem;
        coll_collective c;
        size_t bytes;
        random = random * 6364136223846793005u + 1442695040888963407u;
        c = tuned[(random >> 33) % TUNED];
        random = random * 6364136223846793005u + 1442695040888963407u;
        bytes = (size_t)exp2(3 + (double)(random >> 40) / (1 << 24) * 20) / 8 * 8;
        if (c == COLL_BARRIER && s->mask != COLL_BIT(COLL_BARRIER))
            continue;
        if (!coll_is(s->mask, c) || !has_room(s, c, p, bytes))
            continue;
        problem = problem_of(c, p, c == COLL_BARRIER ? 0 : bytes);
        status = coll_tuner_add(tuner, &problem);
        i++;
    }
    return status;
}

/* Tunes, or measures what the rules so far lose in unseen cells. */
static coll_status tune_cells(struct setting *s, coll_bench *bench, bool unseen,
                              const coll_rule_list *rules)
{
    coll_tuner tuner;
    size_t n;
    const coll_algorithm *const *algorithms = algorithms_known(&n);
    coll_status status;
    coll_tuner_init(&tuner, bench, s->machine, algorithms, n);
    tuner.loss = (double)s->loss / 100;
    tuner.arg = s;
    tuner.rules = rules;
    if (s->measured && !unseen) {
        tuner.known = known;
        tuner.measured = measured;
    }
    status = unseen ? add_unseen(&tuner, s, bench->p) : add_cells(&tuner, s, bench->p);
    if (status == COLL_OK)
        status = coll_tuner_run(&tuner);
    if (status == COLL_OK && bench->rank == 0 && unseen)
        tune_report_unseen(&s->report, &tuner);
    else if (status == COLL_OK && bench->rank == 0)
        tune_report_add(&s->report, &tuner);
    coll_tuner_free(&tuner);
    return status;
}

/* On every rank. */
static coll_status tune(void *arg, const struct benched_rank *me)
{
    struct setting *s = arg;
    const double parts = (s->n_numbers > 0 ? s->n_numbers : 1) * (s->check > 0 ? 1.5 : 1);
    coll_bench_options options = benched_options(&s->ranks, s->within);
    coll_tuned_rules *rules = memory_of(1, sizeof *rules);
    coll_rule_list list = {rules->rule, 0, &coll_rules_built_in};
    coll_bench bench;
    coll_status status;
    options.peer = me->peer;
    options.largest = (size_t)s->largest;
    options.within_ns /= parts;
    if (me->rank == 0 && s->measured && !s->file.file)
        measured_open(&s->file, s->measured, s->ranks.transport);
    status =
        coll_bench_init(&bench, me->transport, me->ctx, me->rank, me->p, me->tag, &options);
    if (status == COLL_OK)
        status = tune_cells(s, &bench, false, &coll_rules_built_in);
    if (status == COLL_OK && s->check > 0) {
        if (me->rank == 0)
            coll_tuned_rules_make(rules, s->report.cell, s->report.n, (double)s->loss / 100);
        list.n = rules->n;
        bench.deadline = coll_bench_now(&bench) + options.within_ns / 2;
        status = tune_cells(s, &bench, true, &list);
    }
    coll_bench_free(&bench);
    free(rules);
    return status;
}

/* Runs all numbers of ranks, one after the other. False: *code is the end of this process. */
static bool run_all(struct setting *s, int argc, char **argv, int *code)
{
    const uint32_t times = s->n_numbers > 1 ? s->n_numbers : 1;
    for (uint32_t i = 0; i < times; i++) {
        if (s->n_numbers > 0)
            s->ranks.p = s->numbers[i];
        if (benched_run(&s->ranks, argc, argv, code) != BENCHED_HERE)
            return false;
    }
    return true;
}

/* ---- simulation alone ---------------------------------------------------------------------------- */

static void simulate_all(struct setting *s)
{
    static coll_sim sim;
    const unsigned capabilities = COLL_NEEDS_BUILD | COLL_NEEDS_NETWORK_REDUCE |
                                  COLL_NEEDS_NETWORK_BARRIER |
                                  (s->multicast ? COLL_NEEDS_MULTICAST : 0) |
                                  (s->ranks.nodes != UINT64_MAX ? COLL_NEEDS_SHARED : 0);
    size_t n;
    const coll_algorithm *const *algorithms = algorithms_known(&n);
    s->on.model = s->model;
    coll_sim_init(&sim);
    for (uint32_t i = 0; i < s->n_numbers; i++) {
        coll_tuner tuner;
        coll_tuner_init(&tuner, NULL, NULL, algorithms, n);
        tuner.in_time = true;
        if (add_cells(&tuner, s, s->numbers[i]) != COLL_OK)
            refuse("there is not enough memory for this");
        for (uint32_t c = 0; c < tuner.n; c++)
            tune_simulate_cell(&s->on, capabilities, &sim, &tuner, &tuner.cell[c]);
        tune_report_add(&s->report, &tuner);
        coll_tuner_free(&tuner);
    }
    coll_sim_free(&sim);
}

/* ---- earlier runs ------------------------------------------------------------------------------ */

/* What the file has of a problem. */
static void add_earlier(struct setting *s, const coll_problem *problem)
{
    size_t n;
    const coll_algorithm *const *algorithms = algorithms_known(&n);
    coll_candidates *all = memory_of(1, sizeof *all);
    coll_tuner_cell cell = {.problem = *problem};
    coll_candidates_find(all, &coll_rules_built_in, algorithms, n, problem, 0);
    for (uint32_t i = 0; i < all->n && cell.n < COLL_TUNER_KEPT; i++) {
        coll_candidate *one = &all->one[i];
        measured_known(&s->file, &cell, one);
        if (one->is.n > 0)
            cell.one[cell.n++] = *one;
    }
    if (cell.n > 0)
        tune_report_add_earlier(&s->report, &cell);
    free(all);
}

/* Other numbers of ranks, and sizes, that the file knows get rules, too: of processes, each run has one number. */
static void add_all_earlier(struct setting *s)
{
    for (size_t i = 0; i < s->file.n; i++) {
        coll_collective c;
        uint32_t p;
        size_t bytes;
        coll_problem problem;
        if (!measured_about(&s->file, i, &c, &p, &bytes) || !coll_is(s->mask, c) || p < 2)
            continue;
        problem = problem_of(c, p, bytes);
        if (coll_problem_bytes(&problem) == bytes && !tune_report_has(&s->report, &problem))
            add_earlier(s, &problem);
    }
}

/* ---- the table --------------------------------------------------------------------------------- */

/* Writes rules to a file; NULL: to the standard output. `what`: of a line at its head. */
static bool write_rules(const struct setting *s, const char *file,
                        const coll_tuned_rules *rules, const char *what)
{
    char text[COLL_RULE_TEXT];
    struct output out;
    output_open(&out, file);
    if (s->simulate) {
        fprintf(out.file, "# coll tune --simulate, on %s", s->model);
        simulated_print(&s->on, out.file);
        fprintf(out.file, ": %s\n", what);
    } else {
        fprintf(out.file, "# coll tune over %s, by the machine of %s: %s\n", s->ranks.transport,
                s->model + 1, what);
    }
    for (uint32_t i = 0; i < rules->n; i++) {
        (void)coll_rule_text(&rules->rule[i], text, sizeof text);
        fprintf(out.file, "%s\n", text);
    }
    return output_close(&out);
}

static bool write_tables(const struct setting *s)
{
    const double loss = (double)s->loss / 100;
    coll_tuned_rules *rules = memory_of(1, sizeof *rules);
    bool good;
    coll_tuned_rules_make(rules, s->report.cell, s->report.n, loss);
    good = write_rules(s, s->output, rules, "read by coll_table_load");
    fprintf(stderr, "%" PRIu32 " rules\n", rules->n);
    if (s->near_ties) {
        coll_tuned_near_ties_make(rules, s->report.cell, s->report.n, loss);
        good = write_rules(s, s->near_ties, rules, "near ties, for coll_comm_settle") && good;
    }
    free(rules);
    return good;
}

int tune_main(int argc, char **argv)
{
    struct setting s = {
        .ranks = {.command = "tune", .p = UINT64_MAX, .nodes = UINT64_MAX, .measure = tune},
        .largest = LARGEST,
        .loss = 2};
    const struct option options[] = {
        WORD("model", "@FILE", "the machine: what coll calibrate wrote over the same transport",
             &s.model),
        FLAG("simulate", "measures nothing: --model is any that coll sim has, and what follows",
             &s.simulate),
        SIMULATED_MORE(s.on),
        FLAG("multicast", "the network of that machine has multicasts", &s.multicast),
        WORD("ranks", "P,…", "numbers of ranks; several where ranks are threads", &s.p),
        BENCHED_OPTIONS(s.ranks),
        WORD("within", "TIME", "how long it may take, about (60s)", &s.within),
        WORD("collectives", "LIST", "which; those with blocks of one size are all (all)",
             &s.collectives),
        NUMBER(0, "largest", "BYTES", "longest vector of a rank (1M)", &s.largest, 64, 1 << 28),
        NUMBER(0, "loss", "PERCENT", "so much more time than the best does not matter (2)",
               &s.loss, 1, 50),
        NUMBER(0, "check", "N",
               "measures what the table loses in N problems that it has not seen", &s.check, 1,
               1000),
        WORD("measured", "FILE",
             "keeps all measurements there, and makes none again that it has", &s.measured),
        WORD("output", "FILE", "where the table goes (the standard output)", &s.output),
        WORD("near-ties", "FILE",
             "all choices that may be as fast, for calls that settle while a program runs",
             &s.near_ties),
        WORD("plot", "FILE", "draws what won where: a .svg, .pdf or .png by gnuplot", &s.plot),
    };
    const struct command command = {
        "tune", "find the fastest algorithms, and write rules",
        "All algorithms and parameters are simulated on the machine; those near the best, and "
        "what the built-in\nrules choose, are measured, the most doubtful ones again, until "
        "nothing is left that would save\nmore than the loss, or the time is over.\n"
        "With --simulate the simulator alone decides, on a machine in the words of coll sim; "
        "algorithms that are\n"
        "made of others, for --nodes, and what its network reduces are among the choices.",
        options, sizeof options / sizeof options[0]};
    int code;
    bool good;
    options_read(&command, argc, argv);
    s.machine = memory_of(1, sizeof *s.machine);
    s.ranks.arg = &s;
    check(&s);
    if (s.simulate)
        simulate_all(&s);
    else if (!run_all(&s, argc, argv, &code))
        return code;
    progress_clear();
    add_all_earlier(&s);
    tune_report_sort(&s.report);
    good = write_tables(&s);
    tune_report_print(&s.report);
    if (s.plot)
        tune_report_plot(&s.report, s.plot);
    measured_close(&s.file);
    tune_report_free(&s.report);
    free(s.machine);
    return good ? 0 : 1;
}
