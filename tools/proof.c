/* tools/proof.c — see proof.h */
#include "proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "names.h"
#include "progress.h"

/* ---- words ------------------------------------------------------------------------------- */

struct text {
    char *at;
    size_t left;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *to, const char *format, ...)
{
    va_list arguments;
    int n;
    va_start(arguments, format);
    n = vsnprintf(to->at, to->left, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= to->left)
        n = (int)to->left - 1;
    to->at += n;
    to->left -= (size_t)n;
}

void proof_command(const coll_grid_case *of, const struct inner *inner, char *text)
{
    struct text to = {text, PROOF_COMMAND};
    add(&to, "%s %s -p %u", coll_collective_name(of->collective), of->algorithm->name, of->p);
    if (of->collective != COLL_BARRIER)
        add(&to, " --count %zu", of->count);
    if (of->graph != COLL_GRID_NO_GRAPH)
        add(&to, " --graph %s", coll_grid_graph_name(of->graph));
    if (of->layout != COLL_GRID_PLAIN)
        add(&to, " --layout %s", coll_grid_layout_name(of->layout));
    if (of->nodes == COLL_GRID_NODES_UNEVEN)
        add(&to, " --nodes uneven");
    else if (of->nodes != 0)
        add(&to, " --nodes %u", of->nodes);
    if (of->rails != COLL_GRID_NO_RAILS)
        add(&to, " --rails %s", coll_grid_rails_words(of->rails));
    if (of->groups == COLL_GRID_NODES_UNEVEN)
        add(&to, " --groups uneven");
    else if (of->groups != 0)
        add(&to, " --groups %u", of->groups);
    if (of->places.kind != COLL_GRID_NO_PLACES)
        add(&to, " --places %s:%u:%u", coll_grid_places_name(of->places.kind), of->places.nodes,
            of->places.which);
    if (of->group.kind != COLL_GRID_NO_GROUP)
        add(&to, " --group %s:%u:%u", coll_grid_group_name(of->group.kind), of->group.outer,
            of->group.which);
    if (coll_is(COLL_ROOTED, of->collective))
        add(&to, " --root %u", of->root);
    if (of->root_only)
        add(&to, " --root-tables");
    for (uint32_t i = 0; i < of->algorithm->n_params; i++)
        add(&to, " --param %s=%u", of->algorithm->params[i].name, of->param[i]);
    for (size_t w = 0; inner && w < inner->words->n; w++)
        add(&to, " --inner %s", inner->words->word[w]);
    for (unsigned level = 0; level < COLL_LEVELS; level++) {
        char words[160];
        if (coll_grid_play_words(of, (coll_level)level, words, sizeof words) > 0)
            add(&to, " --inner %s", words);
    }
    if (coll_is(COLL_REDUCING, of->collective) && !(of->flags & COLL_FLAG_COMMUTATIVE))
        add(&to, " --non-commutative");
    if (of->flags & COLL_FLAG_IN_PLACE)
        add(&to, " --in-place");
}

void proof_head(void)
{
    printf("%-20s %-20s %9s %8s %8s %6s %9s\n", "collective", "algorithm", "plans", "most p",
           "window", "sends", "seconds");
}

/* What becomes of the row's plans when ranks stop. */
static void print_crashes(const coll_crash_count *of)
{
    if (of->points == 0)
        return;
    printf("; crashes: %" PRIu64 " points (all %" PRIu64 ", some %" PRIu64 ", none %" PRIu64
           "), %" PRIu64 " runs, %" PRIu64 " with leftovers, OK is %s",
           of->points, of->all, of->some, of->none, of->runs, of->leftovers,
           of->several > 0 && of->uniform == of->several ? "uniform" : "right");
}

static void print_row(const coll_grid_row *row, const struct inner *inner, double seconds)
{
    printf("%-20s %-20s %9" PRIu64 " %8u %8u %6u %9.2f  %s",
           coll_collective_name(row->collective), row->algorithm->name, row->plans, row->p_most,
           row->window, row->sends, seconds, row->report.ok ? "proven" : "FAILED");
    if (row->nic.ops > 0)
        printf("; NIC: %" PRIu64 " plans, %u operations in %zu bytes, %u counters, %u receives",
               row->nic_plans, row->nic.ops, row->nic_bytes, row->nic.counters,
               row->nic.receives);
    print_crashes(&row->crash);
    printf("\n");
    if (!row->report.ok) {
        char command[PROOF_COMMAND];
        proof_command(&row->failed, inner, command);
        printf("  %s\n  coll %sshow %s\n", row->report.sentence, algorithms_from(), command);
    }
    fflush(stdout);
}

static void say_progress(void *arg, const coll_grid_progress *progress)
{
    (void)arg;
    progress_say("coll %s: %s %s, p = %u, %zu of %zu, %" PRIu64 " plans proven", command_name(),
                 coll_collective_name(progress->row->collective),
                 progress->row->algorithm->name, progress->p, progress->done, progress->units,
                 progress->plans);
}

/* ---- the proof --------------------------------------------------------------------------- */

uint32_t proof_processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > PROOF_JOBS_MOST ? PROOF_JOBS_MOST : (uint32_t)n;
}

static void keep_row(void *arg, const coll_grid_row *row)
{
    *(coll_grid_row *)arg = *row;
}

bool proof_make(coll_grid_options *options, coll_collective c,
                const coll_algorithm *const *algorithm, coll_grid_row *row)
{
    coll_grid_result result;
    memset(row, 0, sizeof *row);
    options->algorithms = algorithm;
    options->n_algorithms = 1;
    options->collectives = COLL_BIT(c);
    options->progress = say_progress;
    options->row = keep_row;
    options->arg = row;
    (void)coll_verify_grid(options, &result);
    if (!result.ok)
        *row = result.failure;
    progress_clear();
    row->algorithm = *algorithm;
    row->collective = c;
    return result.ok;
}

bool proof_row(coll_grid_options *options, coll_collective c,
               const coll_algorithm *const *algorithm, const struct inner *inner,
               coll_grid_row *row)
{
    const double start = seconds_now();
    const bool held = proof_make(options, c, algorithm, row);
    print_row(row, inner, seconds_now() - start);
    return held;
}
