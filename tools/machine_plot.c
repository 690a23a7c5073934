/* tools/machine_plot.c — see machine_plot.h */
#include "machine_plot.h"

#include "coll/lab/tune.h"
#include "options.h"
#include "plot.h"

double machine_fit_error(const coll_machine_file *m)
{
    const coll_estimate *empty = coll_machine_find(m, COLL_MEASURED_ROUNDTRIP, "", 0);
    coll_sample errors;
    coll_sample_clear(&errors);
    for (uint32_t i = 0; empty && i < m->n; i++) {
        const coll_measured *is = &m->measured[i];
        const double there = is->is.median - empty->median / 2;
        const double fitted = m->hockney.alpha_us * 1000 + m->hockney.beta_ns_per_byte * is->at;
        if (is->quantity == COLL_MEASURED_ROUNDTRIP && there > 0)
            coll_sample_add(&errors, fabs(fitted / there - 1));
    }
    return coll_sample_estimate(&errors).median;
}

/* ---- data ---------------------------------------------------------------------------------------- */

/* A block of gnuplot's: where, median, low and high of a quantity; ns are us, less `shift`, and at 0 a half byte, as
 * axes are logarithmic. false: there is nothing. */
static bool block(FILE *to, const coll_machine_file *m, coll_quantity quantity,
                  const char *variant, const char *name, double shift, bool relative)
{
    double one = 0;
    bool any = false;
    fprintf(to, "$%s << END\n", name);
    for (uint32_t i = 0; i < m->n; i++) {
        const coll_measured *is = &m->measured[i];
        if (is->quantity != quantity || strcmp(is->variant, variant) != 0 ||
            !(is->is.median > shift))
            continue;
        if (!any)
            one = is->is.median;
        any = true;
        fprintf(to, "%g %g %g %g\n", is->at > 0 ? is->at : .5,
                (is->is.median - shift) / (relative ? one : 1000),
                (is->is.low - shift > 0 ? is->is.low - shift : 0) / (relative ? one : 1000),
                (is->is.high - shift) / (relative ? one : 1000));
    }
    fprintf(to, "END\n");
    return any;
}

/* One more curve: a comma before all but the first. */
static void curve(FILE *to, bool *first, const char *what)
{
    fprintf(to, "%s%s", *first ? "plot " : ", ", what);
    *first = false;
}

static void panel(FILE *to, const char *title, const char *x, const char *y, bool log_y)
{
    fprintf(to, "set title '%s'\nset xlabel '%s'\nset ylabel '%s'\n%s logscale y\n", title, x,
            y, log_y ? "set" : "unset");
}

/* ---- panels ---------------------------------------------------------------------------------------- */

static void draw_messages(FILE *to, const coll_machine_file *m)
{
    const coll_estimate *empty = coll_machine_find(m, COLL_MEASURED_ROUNDTRIP, "", 0);
    const struct {
        coll_quantity quantity;
        const char *name, *title;
    } columns[] = {{COLL_MEASURED_ROUNDTRIP, "there", "message"},
                   {COLL_MEASURED_GAP, "gap", "gap"},
                   {COLL_MEASURED_OS, "os", "os"},
                   {COLL_MEASURED_OR, "or", "or"}};
    bool first = true, any[4];
    for (int i = 0; i < 4; i++)
        any[i] = block(to, m, columns[i].quantity, "", columns[i].name,
                       i == 0 && empty ? empty->median / 2 : 0, false);
    panel(to, "messages, and LogGP fitted to them", "bytes", "us", true);
    fprintf(to, "set logscale x 2\nset format x '2^{%%L}'\nset key top left Left reverse "
                "samplen 1 font ',9'\n");
    for (int i = 0; i < 4; i++) {
        char text[160];
        snprintf(text, sizeof text, "$%s with yerrorbars lc %d pt %d ps .5 title '%s'",
                 columns[i].name, i + 1, i + 4, columns[i].title);
        if (any[i])
            curve(to, &first, text);
    }
    if (any[0]) {
        char text[160];
        snprintf(text, sizeof text, "%g + %g * x lc 1 title '%.3g us + %.3g ns/byte'",
                 m->hockney.alpha_us, m->hockney.beta_ns_per_byte / 1000, m->hockney.alpha_us,
                 m->hockney.beta_ns_per_byte);
        curve(to, &first, text);
    }
    fprintf(to, "\n");
}

static void draw_local(FILE *to, const coll_machine_file *m)
{
    char all[COLL_VARIANT_BYTES], text[160];
    bool first = true, alone, together, sum;
    snprintf(all, sizeof all, "%.0f", m->origin.ranks);
    alone = block(to, m, COLL_MEASURED_COPY, "1", "copy", 0, false);
    together =
        m->origin.ranks > 1 && block(to, m, COLL_MEASURED_COPY, all, "together", 0, false);
    sum = block(to, m, COLL_MEASURED_COMBINE, "sum_f64", "sum", 0, false);
    panel(to, "copies and reductions", "bytes", "us", true);
    if (alone) {
        curve(to, &first, "$copy with yerrorbars lc 1 pt 5 ps .5 title 'copy'");
        snprintf(text, sizeof text, "%g + %g * x lc 1 title '%.3g us + %.3g ns/byte'",
                 m->shm.a_us, m->shm.b_ns_per_byte / 1000, m->shm.a_us, m->shm.b_ns_per_byte);
        curve(to, &first, text);
    }
    if (together) {
        snprintf(text, sizeof text,
                 "$together with yerrorbars lc 2 pt 7 ps .7 title '%s copies at once'", all);
        curve(to, &first, text);
    }
    if (sum)
        curve(to, &first, "$sum with yerrorbars lc 3 pt 9 ps .5 title 'sum of f64'");
    fprintf(to, "\n");
}

static void draw_links(FILE *to, const coll_machine_file *m)
{
    static const struct {
        coll_quantity quantity;
        const char *variant, *name, *what;
    } rows[] = {
        {COLL_MEASURED_LINKS, "65536", "links", "lc 1 pt 5 title 'links of a rank, 64 KiB'"},
        {COLL_MEASURED_PAIRS, "65536", "pairs", "lc 2 pt 7 title 'pairs, 64 KiB'"},
        {COLL_MEASURED_PAIRS, "8", "short", "lc 3 pt 9 title 'pairs, 8 bytes'"},
        {COLL_MEASURED_DISTANCE, "65536", "far", "lc 4 pt 11 title 'distance, 64 KiB'"}};
    bool first = true, any[4];
    for (int i = 0; i < 4; i++)
        any[i] = block(to, m, rows[i].quantity, rows[i].variant, rows[i].name, 0, true);
    panel(to, "links, pairs, distances: times as long as the first",
          "how many at once, or how far", "times as long", false);
    fprintf(to, "unset logscale x\nset format x '%%g'\nset xtics 1\nset yrange [0:*]\n");
    for (int i = 0; i < 4; i++) {
        char text[160];
        snprintf(text, sizeof text, "$%s with linespoints %s", rows[i].name, rows[i].what);
        if (any[i])
            curve(to, &first, text);
    }
    fprintf(to, "\n");
}

static void draw_serial(FILE *to, const coll_machine_file *m)
{
    const double start = m->moody.C_us + m->moody.L_us, each = m->moody.r_us + m->moody.c1_us;
    char text[160];
    bool first = true;
    const bool received = block(to, m, COLL_MEASURED_SERIAL, "0", "received", 0, false);
    const bool combined = block(to, m, COLL_MEASURED_SERIAL, "1", "combined", 0, false);
    panel(to, "serial reductions, and C + L + n (r + c)", "messages", "us", false);
    if (received)
        curve(to, &first, "$received with yerrorbars lc 1 pt 5 ps .7 title 'received'");
    if (combined)
        curve(to, &first,
              "$combined with yerrorbars lc 2 pt 7 ps .7 title 'received and combined'");
    snprintf(text, sizeof text, "%g + %g * x lc 2 title '%.3g + n %.3g us'", start, each, start,
             each);
    curve(to, &first, text);
    fprintf(to, "\n");
}

void machine_plot(const coll_machine_file *m, const char *path)
{
    struct plot plot;
    char title[3 * COLL_PARAMETER_BYTES];
    FILE *to;
    if (coll_machine_find(m, COLL_MEASURED_COPY, "1", 8) == NULL)
        refuse(
            "a picture shows what was measured, and this machine's file has nothing of that");
    to = plot_open(&plot, path);
    snprintf(title, sizeof title, "%.0f rank%s over %s, data %s", m->origin.ranks,
             m->origin.ranks > 1 ? "s" : "", m->origin.transport, m->origin.data);
    fprintf(to, "set samples 400\nset multiplot layout 2,2 title ");
    plot_quoted(to, title);
    fprintf(to, " noenhanced\n");
    if (m->plogp.n > 0)
        draw_messages(to, m);
    else
        fprintf(to, "set logscale x 2\nset format x '2^{%%L}'\nset key top left Left reverse "
                    "samplen 1 font ',9'\n");
    draw_local(to, m);
    if (m->plogp.n > 0) {
        draw_links(to, m);
        draw_serial(to, m);
    }
    fprintf(to, "unset multiplot\n");
    plot_close(&plot);
}
