/* tools/traces.c — see traces.h */
#include "traces.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "pdf.h"

enum {
    SVG_MOST =
        1 << 17, /* messages and operations in a picture, which has so many ranks at most: */
    SVG_RANKS = 1024,
    EVENTS = 1 << 16,    /* of a rank of a real run, at most … */
    EVENTS_ALL = 1 << 22 /* … and of all */
};

/* Refuses one file for two of them. */
static void check_differ(const char *a, const char *a_words, const char *b, const char *b_words)
{
    if (a && b && strcmp(a, b) == 0)
        refuse("%s and %s write different files, not both %s", a_words, b_words, a);
}

void traces_check(const struct traces *t, uint32_t p)
{
    if ((t->trace && strcmp(t->trace, "-") == 0) || (t->svg && strcmp(t->svg, "-") == 0))
        refuse("--trace and --svg write files, not \"-\"");
    if (t->pdf && strcmp(t->pdf, "-") == 0)
        refuse("--pdf writes a file, not \"-\"");
    check_differ(t->trace, "--trace", t->svg, "--svg");
    check_differ(t->trace, "--trace", t->pdf, "--pdf");
    check_differ(t->svg, "--svg", t->pdf, "--pdf");
    if ((t->svg || t->pdf) && p > SVG_RANKS)
        refuse("a picture shows at most %d ranks, not %u", SVG_RANKS, p);
}

/* How many messages and operations can be shown. */
static size_t most_of(const struct traces *t)
{
    return t->svg || t->pdf ? SVG_MOST : TRACES_MOST;
}

uint32_t traces_room(uint32_t p)
{
    return p > EVENTS_ALL / EVENTS ? EVENTS_ALL / p + 1 : EVENTS;
}

void traces_title(const struct job *job, int digits, double us, char *title, size_t room)
{
    snprintf(title, room, "%s %s, %u rank%s: %.*g us", coll_collective_name(job->collective),
             job->algorithm->name, job->p, job->p == 1 ? "" : "s", digits, us);
}

/* What is shown: a simulation, a run, or a workload. */
struct shown {
    const coll_sim_record *record;
    const char *title;
    const coll_sim *sim;
    const coll_real_run *run;
    const struct traces_workload *workload;
};

static coll_time workload_finish(const void *of, uint32_t rank)
{
    return ((const struct traces_workload *)of)->finish[rank];
}

static void write_trace(const struct shown *shown, FILE *file)
{
    if (shown->sim) {
        coll_sim_trace(shown->record, shown->sim, shown->title, file);
    } else if (shown->run) {
        coll_real_run_trace(shown->run, file);
    } else {
        coll_i_trace_head(shown->workload->p, NULL, file);
        coll_i_trace_rest(shown->record, file);
    }
}

static void write_svg(const struct shown *shown, FILE *file)
{
    if (shown->sim) {
        coll_sim_svg(shown->record, shown->sim, shown->title, file);
    } else if (shown->run) {
        coll_real_run_svg(shown->run, shown->title, file);
    } else {
        const coll_i_svg_shown all = {shown->record,
                                      shown->workload->p,
                                      shown->workload->end,
                                      workload_finish,
                                      shown->workload,
                                      shown->title,
                                      true};
        coll_i_svg_draw(&all, file);
    }
}

static bool write_files(const struct traces *t, const struct shown *shown)
{
    struct output out;
    struct pdf pdf;
    bool good = true;
    if (t->trace) {
        output_open(&out, t->trace);
        write_trace(shown, out.file);
        good = output_close(&out);
    }
    if (t->svg && good) {
        output_open(&out, t->svg);
        write_svg(shown, out.file);
        good = output_close(&out);
    }
    if (t->pdf && good) {
        pdf_open(&pdf, t->pdf);
        write_svg(shown, pdf.svg);
        good = pdf_close(&pdf);
    }
    return good;
}

/* Refuses a record of a simulation that is too long. */
static void check_record(const struct traces *t, const coll_sim_record *record,
                         const char *fewer)
{
    if (record->full || record->spans.n + record->flights.n > most_of(t))
        refuse("there is too much to show, more than %zu messages and operations: simulate "
               "fewer %s",
               most_of(t), fewer);
}

bool traces_write_sim(const struct traces *t, const struct job *job,
                      const coll_sim_record *record, const coll_sim *sim)
{
    char title[128];
    const struct shown shown = {record, title, sim, NULL, NULL};
    check_record(t, record, "ranks or segments");
    traces_title(job, 12, coll_time_us(sim->makespan), title, sizeof title);
    return write_files(t, &shown);
}

bool traces_write_workload(const struct traces *t, const struct traces_workload *workload,
                           const coll_sim_record *record)
{
    char title[256];
    const struct shown shown = {record, title, NULL, NULL, workload};
    check_record(t, record, "ranks or calls");
    snprintf(title, sizeof title, "%.100s, %u rank%s: %.12g us", workload->name, workload->p,
             workload->p == 1 ? "" : "s", coll_time_us(workload->end));
    return write_files(t, &shown);
}

bool traces_write_run(const struct traces *t, const struct job *job,
                      const coll_real_rank *ranks, double seconds)
{
    coll_real_run run;
    char title[128];
    const struct shown shown = {&run.record, title, NULL, &run, NULL};
    bool good;
    coll_status status;
    for (uint32_t rank = 0; rank < job->p; rank++)
        if (ranks[rank].dropped)
            refuse(
                "there is too much to show: rank %u did more than %u things; run fewer ranks, "
                "or shorter messages",
                rank, ranks[rank].room);
    status = coll_real_run_make(&run, ranks, job->p, 1000);
    if (status != COLL_OK)
        refuse("the trace cannot be made: %s", coll_status_text(status));
    if ((t->svg || t->pdf) && run.record.spans.n + run.record.flights.n > SVG_MOST)
        refuse("there is too much to show, more than %d messages and operations: run fewer "
               "ranks or segments",
               SVG_MOST);
    traces_title(job, 4, seconds * 1e6, title, sizeof title);
    good = write_files(t, &shown);
    coll_real_run_free(&run);
    return good;
}
