/* tools/tune_report.c — see tune_report.h */
#include "tune_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/tune/tuned_rules.h"
#include "memory.h"
#include "plot.h"
#include "progress.h"

#define LOSES .1 /* what an unseen problem loses to be told, as a part */

static void add_cells(struct tune_report *report, const coll_tuner_cell *cell, uint32_t n)
{
    const size_t all = (size_t)report->n + n;
    report->cell = memory_must(realloc(report->cell, all * sizeof *report->cell));
    memcpy(&report->cell[report->n], cell, n * sizeof *cell);
    report->n = (uint32_t)all;
}

bool tune_report_has(const struct tune_report *report, const coll_problem *problem)
{
    for (uint32_t i = 0; i < report->n; i++) {
        const coll_problem *has = &report->cell[i].problem;
        if (has->collective == problem->collective && has->p == problem->p &&
            has->count == problem->count)
            return true;
    }
    return false;
}

void tune_report_add_earlier(struct tune_report *report, const coll_tuner_cell *cell)
{
    add_cells(report, cell, 1);
}

void tune_report_add(struct tune_report *report, const coll_tuner *tuner)
{
    add_cells(report, tuner->cell, tuner->n);
    report->left = tuner->left > report->left ? tuner->left : report->left;
    report->unfinished = report->unfinished || !tuner->in_time;
    tune_report_sort(report);
}

/* The rules' choice, or NULL. */
static const coll_candidate *by_rules(const coll_tuner_cell *cell)
{
    for (uint32_t i = 0; i < cell->n; i++)
        if (cell->one[i].by_rules)
            return &cell->one[i];
    return NULL;
}

/* How many times as long that takes as the best one; 0: nobody knows. What was only simulated is compared
 * with simulations alone. */
static double times_rules(const coll_tuner_cell *cell)
{
    const coll_candidate *one = by_rules(cell);
    const uint32_t best = coll_tuner_best(cell);
    if (!one || best == cell->n || (one->is.n > 0) != (cell->one[best].is.n > 0) ||
        !(coll_candidate_ns(one) > 0) || coll_candidate_ns(one) == HUGE_VAL)
        return 0;
    return coll_candidate_ns(one) / coll_candidate_ns(&cell->one[best]);
}

static void lose(struct tune_losses *losses, double part)
{
    losses->value =
        memory_must(realloc(losses->value, (losses->n + 1) * sizeof *losses->value));
    losses->value[losses->n++] = part;
}

/* The median of every other pass, from this one on; infinite: there are none. */
static double half_of(const coll_candidate *one, uint32_t from)
{
    coll_sample sample;
    coll_sample_clear(&sample);
    for (uint32_t i = from; i < one->is.n && !one->fails; i += 2)
        coll_sample_add(&sample, one->pass[i]);
    return sample.n > 0 ? coll_sample_estimate(&sample).median : HUGE_VAL;
}

/* What the best choice by one half of the passes loses by the other half. */
static double half_loses(const coll_tuner_cell *cell)
{
    double best = HUGE_VAL, chosen = HUGE_VAL, least = HUGE_VAL;
    for (uint32_t i = 0; i < cell->n; i++) {
        const double one = half_of(&cell->one[i], 0), other = half_of(&cell->one[i], 1);
        if (one < best) {
            best = one;
            chosen = other;
        }
        least = fmin(least, other);
    }
    return chosen < HUGE_VAL ? chosen / least - 1 : 0;
}

void tune_report_unseen(struct tune_report *report, const coll_tuner *tuner)
{
    for (uint32_t i = 0; i < tuner->n; i++) {
        const coll_tuner_cell *cell = &tuner->cell[i];
        const double times = times_rules(cell);
        if (times > 0) {
            lose(&report->table, times - 1);
            lose(&report->half, half_loses(cell));
        }
        if (times <= 1 + LOSES)
            continue;
        progress_clear();
        fprintf(
            stderr, "%s of %zu bytes, %" PRIu32 " ranks: %s takes %.2f times as long as %s\n",
            coll_collective_name(cell->problem.collective), coll_problem_bytes(&cell->problem),
            cell->problem.p, by_rules(cell)->algorithm->name, times,
            cell->one[coll_tuner_best(cell)].algorithm->name);
    }
}

/* The mean, the median, one of ten, the worst. */
static void print_losses(struct tune_losses *losses)
{
    const uint32_t n = losses->n;
    double sum = 0;
    qsort(losses->value, n, sizeof *losses->value, coll_i_sample_order);
    for (uint32_t i = 0; i < n; i++)
        sum += losses->value[i];
    fprintf(stderr,
            "%.1f%% in the mean, %.1f%% in the median, %.1f%% in one of ten, %.1f%% at most\n",
            100 * sum / n, 100 * losses->value[n / 2], 100 * losses->value[n - 1 - n / 10],
            100 * losses->value[n - 1]);
}

static int order(const void *a, const void *b)
{
    const coll_problem *x = &((const coll_tuner_cell *)a)->problem;
    const coll_problem *y = &((const coll_tuner_cell *)b)->problem;
    if (x->collective != y->collective)
        return x->collective < y->collective ? -1 : 1;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return x->count < y->count ? -1 : x->count > y->count;
}

void tune_report_sort(struct tune_report *report)
{
    if (report->n > 0)
        qsort(report->cell, report->n, sizeof *report->cell, order);
}

void tune_report_print(struct tune_report *report)
{
    uint32_t considered = 0, measured = 0;
    for (uint32_t begin = 0, end; begin < report->n; begin = end) {
        const coll_collective c = report->cell[begin].problem.collective;
        double logs = 0, most = 0;
        uint32_t n = 0;
        for (end = begin; end < report->n && report->cell[end].problem.collective == c; end++) {
            const coll_tuner_cell *cell = &report->cell[end];
            const double times = times_rules(cell);
            considered += cell->considered;
            for (uint32_t i = 0; i < cell->n; i++)
                measured += cell->one[i].is.n > 0;
            if (!(times > 0))
                continue;
            n++;
            logs += log(times);
            most = times > most ? times : most;
        }
        if (n > 0)
            fprintf(stderr,
                    "%-22s %3" PRIu32 " cells: the built-in rules' choice takes %.2f times as "
                    "long as the best one, at most %.2f\n",
                    coll_collective_name(c), end - begin, exp(logs / n), most);
    }
    fprintf(stderr, "%" PRIu32 " choices simulated, %" PRIu32 " measured; ", considered,
            measured);
    if (measured == 0)
        fprintf(stderr, "so nothing is sure of a real machine\n");
    else if (report->unfinished)
        fprintf(stderr, "the time was over before all was sure\n");
    else
        fprintf(stderr, "no other one can save more than %.0f%%\n", 100 * report->left);
    if (report->table.n > 0) {
        fprintf(stderr, "in %" PRIu32 " unseen problems the table loses ", report->table.n);
        print_losses(&report->table);
        fprintf(stderr, "what half of these measurements say is the best, by the others, ");
        print_losses(&report->half);
    }
}

void tune_report_plot(const struct tune_report *report, const char *path)
{
    struct plot plot;
    FILE *script = plot_open(&plot, path);
    uint32_t rows = 0;
    fprintf(script, "$cells << END\n");
    for (uint32_t i = 0; i < report->n; i++) {
        const coll_tuner_cell *cell = &report->cell[i], *before = i > 0 ? cell - 1 : NULL;
        const uint32_t best = coll_tuner_best(cell);
        if (before && (before->problem.collective != cell->problem.collective ||
                       before->problem.p != cell->problem.p))
            rows++;
        if (best < cell->n && times_rules(cell) > 0)
            fprintf(script, "%zu %" PRIu32 " %.3f \"%s\"\n", coll_problem_bytes(&cell->problem),
                    rows, times_rules(cell), cell->one[best].algorithm->name);
    }
    fprintf(script, "END\nset title \"Times the built-in rules' choice takes, and what won\"\n"
                    "set xlabel 'bytes'\nset logscale x 4\nset format x '%%.0s%%c'\n"
                    "set ytics ()\nset cbrange [1:2]\nset cblabel 'times'\n");
    for (uint32_t i = 0, row = 0; i < report->n; i++) {
        const coll_tuner_cell *cell = &report->cell[i], *before = i > 0 ? cell - 1 : NULL;
        const bool first = !before || before->problem.collective != cell->problem.collective ||
                           before->problem.p != cell->problem.p;
        row += before && first;
        if (first)
            fprintf(script, "set ytics add (\"%s, p = %" PRIu32 "\" %" PRIu32 ")\n",
                    coll_collective_name(cell->problem.collective), cell->problem.p, row);
    }
    fprintf(script,
            "set yrange [%" PRIu32 ".5:-0.5]\nset key off\n"
            "plot $cells using ($1 > 0 ? $1 : 2):2:3 with points pt 5 ps 3 palette, \\\n"
            "     $cells using ($1 > 0 ? $1 : 2):2:4 with labels font ',6'\n",
            rows);
    plot_close(&plot);
}

void tune_report_free(struct tune_report *report)
{
    free(report->cell);
    free(report->table.value);
    free(report->half.value);
    *report = (struct tune_report){.cell = NULL};
}
