/* tools/compared.c — see compared.h */
#include "compared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "names.h"
#include "progress.h"
#include "workers.h"

enum { WORDS = 512, SIZE_STEP = 8, SIZES_BYTES = 4 << 20 };

/* A sweep that is under way, and where its results go. */
struct run {
    const struct sweep *sweep;
    struct sweep_times *times; /* of its cells */
    char **refusals;           /* likewise; or NULL: they are not wanted */
};

static void simulate(void *arg, size_t i, void *record)
{
    sweep_simulate(((const struct run *)arg)->sweep, i, record);
}

static void keep(void *arg, size_t i, const void *record, const char *sentence)
{
    struct run *run = arg;
    if (record)
        memcpy(&run->times[i], record, sizeof run->times[i]);
    else if (run->refusals)
        run->refusals[i] = memory_must(strdup(sentence));
    progress_say("coll %s: %zu of %zu simulations", command_name(), i + 1, run->sweep->n);
}

static void run_all(struct run *run, uint64_t jobs)
{
    workers_run(0, run->sweep->n, jobs, simulate, keep, run, sizeof *run->times);
    progress_clear();
}

static void add_word(struct option_words *words, const char *word)
{
    if (word)
        words->word[words->n++] = word;
}

/* The problem and the machine, as a sweep of these algorithms and counts. The words must stay. */
static void begin(struct sweep *s, const struct compared_with *what, const char *algorithms,
                  const char *ranks, const char *counts)
{
    const struct sweep nothing = SWEEP_NOTHING;
    *s = nothing;
    s->collectives = what->ask->collective;
    s->algorithms = algorithms;
    s->ranks = ranks;
    s->counts = counts;
    s->type = what->type;
    s->ask.root = what->ask->root;
    s->ask.in_place = what->ask->in_place;
    s->ask.non_commutative = what->ask->non_commutative;
    s->ask.nodes = what->ask->nodes;
    s->ask.graph = what->ask->graph;
    s->on.memory = what->on->memory;
    s->on.nic = what->on->nic;
    s->on.placement = what->on->placement;
    add_word(&s->models, what->on->model);
    add_word(&s->topologies, what->on->topology);
    add_word(&s->noises, what->on->noise);
    add_word(&s->skews, what->on->skew);
}

/* ---- at one size ------------------------------------------------------------------------- */

bool compared_is_free(const struct simulated *on, const coll_algorithm *algorithm)
{
    return !on->memory && !on->machine.nics && (algorithm->traits & COLL_NEEDS_SHARED) != 0;
}

static int by_time(const void *a, const void *b)
{
    const struct compared *x = a, *y = b;
    if ((x->times.runs == 0) != (y->times.runs == 0))
        return x->times.runs == 0 ? 1 : -1;
    if (x->times.mean < y->times.mean || x->times.mean > y->times.mean)
        return x->times.mean < y->times.mean ? -1 : 1;
    return x->own != y->own ? (x->own ? -1 : 1) : strcmp(x->name, y->name);
}

/* Simulates the others at one size, and sorts them; `own` too, if wanted, with its times. Their names are the
 * sweep's. The caller frees rows and refusals. */
static struct compared *compare_at(const struct sweep *s, const char *own,
                                   const struct compared_with *what, bool with_own, size_t *n)
{
    struct run run = {s, memory_of(s->n, sizeof *run.times),
                      memory_of(s->n, sizeof *run.refusals)};
    struct compared *rows = memory_of(s->n + 1, sizeof *rows);
    run_all(&run, what->jobs);
    *n = 0;
    if (with_own) {
        rows[0].name = own;
        rows[0].own = true;
        rows[(*n)++].times = what->own;
    }
    for (size_t i = 0; i < s->n; i++) {
        struct compared *row = &rows[*n];
        coll_pick pick;
        if (coll_name_is(s->cells[i].algorithm, own)) { /* with other parameters, perhaps */
            free(run.refusals[i]);
            continue;
        }
        row->name = s->cells[i].algorithm;
        row->times = run.times[i];
        row->refusal = run.refusals[i];
        (*n)++;
        algorithm_named(s->cells[i].collective, row->name, &pick);
        if (row->refusal || !compared_is_free(what->on, pick.algorithm))
            continue;
        row->times.runs = 0;
        row->refusal = memory_must(strdup("it copies through the memory of a node, which takes "
                                          "no time here: give the machine --memory shm:…"));
    }
    qsort(rows, *n, sizeof *rows, by_time);
    free(run.times);
    free(run.refusals);
    return rows;
}

static void free_rows(struct compared *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(rows[i].refusal);
    free(rows);
}

/* ---- over sizes -------------------------------------------------------------------------- */

/* Counts eight times as large each, and that of the job in place of those near to it. */
static void choose_counts(struct comparison *all, uint64_t own, size_t elem_bytes, char *words)
{
    const uint64_t most = SIZES_BYTES / elem_bytes;
    uint64_t counts[CHART_POINTS];
    size_t length = 0, n = 0, at = 0;
    for (uint64_t count = 1; count <= most; count *= SIZE_STEP)
        if (own == 0 || count / 3 >= own || own / 3 >= count)
            counts[n++] = count;
    while (at < n && counts[at] < own)
        at++;
    if (own > 0) {
        memmove(&counts[at + 1], &counts[at], (n - at) * sizeof counts[0]);
        counts[at] = own;
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        all->bytes[i] = counts[i] * elem_bytes;
        length += (size_t)snprintf(words + length, WORDS - length, "%s%" PRIu64, i ? "," : "",
                                   counts[i]);
    }
    all->chart.n = n;
}

/* Takes the times of a sweep, of which each algorithm is a line. */
static void add_lines(struct comparison *all, const struct sweep *s, uint64_t jobs)
{
    struct run run = {s, memory_of(s->n, sizeof *run.times), NULL};
    run_all(&run, jobs);
    for (size_t i = 0; i < s->n; i++) {
        struct chart_line *line = &all->chart.line[all->chart.lines];
        line->y[i % all->chart.n] = run.times[i].mean;
        if (i % all->chart.n == 0)
            snprintf(line->name, sizeof line->name, "%s", s->cells[i].algorithm);
        if (i % all->chart.n == all->chart.n - 1)
            all->chart.lines++;
    }
    free(run.times);
}

/* The names of the fastest `most` that are not there yet, each after a comma. Those that take as long as a faster one
 * are left out, as they would draw the same line. Returns how many names there are. */
static size_t add_fastest(char *names, size_t there, const struct compared *rows, size_t n,
                          size_t most)
{
    double last = -1;
    for (size_t i = 0; i < n && there < most && rows[i].times.runs > 0; i++) {
        const double us = rows[i].times.mean;
        const bool same = us <= last;
        char word[80];
        last = us;
        snprintf(word, sizeof word, ",%s,", rows[i].name);
        if (same || rows[i].own || strstr(names, word))
            continue;
        snprintf(names + strlen(names), WORDS - strlen(names), "%s", word + 1);
        there++;
    }
    return there;
}

/* The fastest at the size of the report, and at the largest one: names with commas around each. */
static void choose_others(const struct comparison *all, const struct compared_with *what,
                          const char *own, const char *ranks, char *names)
{
    const size_t half = (CHART_LINES - 1) / 2;
    size_t n, there = add_fastest(names, 0, all->row, all->ran, half);
    struct compared *rows;
    struct sweep s;
    char count[32];
    snprintf(count, sizeof count, "%" PRIu64,
             all->bytes[all->chart.n - 1] / all->sweep.elem_bytes);
    begin(&s, what, "all", ranks, count);
    sweep_make(&s);
    rows = compare_at(&s, own, what, false, &n);
    there = add_fastest(names, there, rows, n, 2 * half);
    (void)add_fastest(names, there, all->row, all->ran, 2 * half);
    free_rows(rows, n);
    sweep_free(&s);
}

static void compare_over_sizes(struct comparison *all, const struct compared_with *what,
                               const char *own, const char *ranks)
{
    char counts[WORDS], others[WORDS] = ",";
    struct sweep s;
    choose_counts(all, all->sweep.count.at[0], all->sweep.elem_bytes, counts);
    all->chart.x = all->bytes;
    all->chart.across = "size of the vector, or of a block, bytes";
    all->chart.up = "time, us";
    begin(&s, what, what->ask->algorithm, ranks, counts);
    s.ask.params = what->ask->params;
    s.ask.inner = what->ask->inner;
    sweep_make(&s);
    add_lines(all, &s, what->jobs);
    sweep_free(&s);
    choose_others(all, what, own, ranks, others);
    if (others[1] == '\0')
        return;
    others[strlen(others) - 1] = '\0';
    begin(&s, what, others + 1, ranks, counts);
    sweep_make(&s);
    add_lines(all, &s, what->jobs);
    sweep_free(&s);
}

/* ---- both -------------------------------------------------------------------------------- */

void comparison_make(struct comparison *all, const struct compared_with *what)
{
    char ranks[32], count[32];
    coll_pick own;
    uint64_t most = 0;
    memset(all, 0, sizeof *all);
    algorithm_named(collective_named(what->ask->collective), what->ask->algorithm, &own);
    snprintf(ranks, sizeof ranks, "%" PRIu64, what->ask->p);
    snprintf(count, sizeof count, "%" PRIu64, what->ask->count);
    begin(&all->sweep, what, "all", ranks, count);
    sweep_make(&all->sweep);
    all->row = compare_at(&all->sweep, own.algorithm->name, what, true, &all->n);
    while (all->ran < all->n && all->row[all->ran].times.runs > 0)
        all->ran++;
    for (size_t i = 0; i < all->ran; i++)
        most = all->row[i].times.messages > most ? all->row[i].times.messages : most;
    if (collective_named(what->ask->collective) != COLL_BARRIER && what->ask->p > 1 &&
        most <= COMPARED_MESSAGES)
        compare_over_sizes(all, what, own.algorithm->name, ranks);
}

void comparison_free(struct comparison *all)
{
    free_rows(all->row, all->n);
    sweep_free(&all->sweep);
}
