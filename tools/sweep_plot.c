/* tools/sweep_plot.c — the picture of a sweep: a line for each algorithm and machine, over one axis */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

enum { LINES = 8 };

/* The axes that a picture can have. */
enum axis { RANKS, COUNTS, PARAMS = SWEEP_AXIS_PARAMS };

/* The axis with several numbers: ranks or counts; or, if both have one, a parameter. Other parameters make lines. */
static size_t axis_of(const struct sweep *s)
{
    size_t params = 0, axis = COUNTS;
    bool counts = false;
    for (size_t i = 0; i < s->n; i++)
        counts = counts || s->cells[i].count > 0;
    if (counts && s->p.n > 1)
        refuse("--plot draws over ranks or over counts: give -p or -n one number");
    if (counts || s->p.n > 1)
        return counts ? COUNTS : RANKS;
    for (size_t k = 0; k < s->n_params; k++)
        if (s->param[k].values.n > 1) {
            params++;
            axis = PARAMS + k;
        }
    if (params != 1)
        refuse("--plot draws over ranks, counts or a parameter: give one of -p, -n and --param "
               "several numbers");
    return axis;
}

static double value_of(const struct sweep *s, const struct sweep_cell *cell, size_t axis)
{
    if (axis == RANKS)
        return (double)s->p.at[cell->p];
    if (axis == COUNTS)
        return (double)(s->count.at[cell->count] * s->elem_bytes);
    return cell->param[axis - PARAMS] == 0
               ? (double)NAN
               : (double)s->param[axis - PARAMS].values.at[cell->param[axis - PARAMS] - 1];
}

bool sweep_same_line(const struct sweep *s, size_t axis, const struct sweep_cell *a,
                     const struct sweep_cell *b)
{
    for (size_t k = 0; k < s->n_params; k++)
        if (a->param[k] != b->param[k] && axis != PARAMS + k)
            return false;
    return a->collective == b->collective && a->algorithm == b->algorithm &&
           a->model == b->model && a->topology == b->topology && a->noise == b->noise &&
           a->skew == b->skew;
}

/* The first cell of each line that has points. Returns how many lines there are. */
static size_t lines_of(const struct sweep *s, size_t axis, size_t *first)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t k = 0;
        while (k < n && !sweep_same_line(s, axis, &s->cells[first[k]], &s->cells[i]))
            k++;
        if (k < n || !(value_of(s, &s->cells[i], axis) > 0))
            continue;
        if (n == LINES)
            refuse("nobody reads a picture of more than %d lines: give fewer algorithms, "
                   "parameters or machines",
                   LINES);
        first[n++] = i;
    }
    return n;
}

void sweep_check_plot(const struct sweep *s, const char *path)
{
    size_t first[LINES];
    struct plot plot;
    if (lines_of(s, axis_of(s), first) == 0)
        refuse("--plot has a logarithmic axis, on which 0 has no place");
    fclose(plot_open(&plot, path)); /* a name that ends with .svg, and a folder that is there */
}

void sweep_line_title(const struct sweep *s, size_t axis, const struct sweep_cell *cell,
                      char *text, size_t room)
{
    bool collectives = false;
    int n;
    for (size_t i = 0; i < s->n; i++)
        collectives = collectives || s->cells[i].collective != cell->collective;
    n = snprintf(text, room, "%s%s%s",
                 collectives ? coll_collective_name(cell->collective) : "",
                 collectives ? " " : "", cell->algorithm);
    for (size_t k = 0; k < s->n_params; k++)
        if (cell->param[k] > 0 && s->param[k].values.n > 1 && axis != PARAMS + k)
            n += snprintf(text + n, room - (size_t)n, " %s=%" PRIu64, s->param[k].name,
                          s->param[k].values.at[cell->param[k] - 1]);
    if (s->models.n > 1)
        n += snprintf(text + n, room - (size_t)n, ", %.80s", s->models.word[cell->model]);
    if (s->topologies.n > 1)
        n +=
            snprintf(text + n, room - (size_t)n, ", %.80s", s->topologies.word[cell->topology]);
    if (s->noises.n > 1)
        n += snprintf(text + n, room - (size_t)n, ", %.80s", s->noises.word[cell->noise]);
    if (s->skews.n > 1)
        snprintf(text + n, room - (size_t)n, ", skew %.40s", s->skews.word[cell->skew]);
}

void sweep_plot(const struct sweep *s, const struct sweep_times *times, const char *path)
{
    /* Colours that the colour-blind tell apart; points that tell lines apart in print. */
    static const char *const colours[LINES] = {"#0072b2", "#d55e00", "#009e73", "#aa4499",
                                               "#e69f00", "#000000", "#56b4e9", "#666666"};
    const size_t axis = axis_of(s);
    size_t first[LINES];
    const size_t n = lines_of(s, axis, first);
    struct plot plot;
    char text[2000]; /* more than the parameters can be */
    FILE *to = plot_open(&plot, path);
    fprintf(to, "set logscale xy\nset grid\nset key top left\nset xlabel ");
    plot_quoted(to, axis == RANKS    ? "ranks"
                    : axis == COUNTS ? "bytes of the vector, or of a block"
                                     : s->param[axis - PARAMS].name);
    fprintf(to, "\nset ylabel 'time, us'\n");
    if (s->models.n == 1) {
        fputs("set title ", to);
        snprintf(text, sizeof text, "%s, %.500s", s->collectives, s->models.word[0]);
        plot_quoted(to, text);
        fputs(" noenhanced\n", to);
    }
    for (size_t k = 0; k < n; k++) {
        fprintf(to, "$line%zu << END\n", k);
        for (size_t i = 0; i < s->n; i++) {
            const double x = value_of(s, &s->cells[i], axis);
            if (!sweep_same_line(s, axis, &s->cells[first[k]], &s->cells[i]) ||
                times[i].runs == 0 || !(x > 0))
                continue;
            fprintf(to, "%.17g %.9g %.9g\n", x, times[i].mean, fmax(times[i].half, 0));
        }
        fputs("END\n", to);
    }
    fputs("plot ", to);
    for (size_t k = 0; k < n; k++) {
        sweep_line_title(s, axis, &s->cells[first[k]], text, sizeof text);
        fprintf(to, "%s$line%zu using 1:2:3 with yerrorlines lw 2 pt %zu lc rgb '%s' title ",
                k ? ", " : "", k, k + 4, colours[k]);
        plot_quoted(to, text);
        fputs(" noenhanced", to);
    }
    fputs("\n", to);
    plot_close(&plot);
}
