/* tools/report_cost.c — what the model's formulas say of the collective of a report */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "formulas.h"
#include "page.h"
#include "report.h"

enum { ITEMS = 16, ITEM = 48 };

/* The question of a model, asked for this job: KEY=VALUE each. */
struct asked {
    const struct subject *subject;
    char item[ITEMS][ITEM];
    struct option_words words;
    const char *outside; /* a key whose value the formulas do not take; NULL: none */
};

static void ask_for(struct asked *a, const char *key, double value)
{
    const coll_parameter *row = coll_parameter_named(a->subject->arguments, key);
    char *item = a->item[a->words.n];
    if (!row || a->words.n == ITEMS)
        return;
    if (value < row->least || value > row->most) {
        a->outside = row->name;
        return;
    }
    snprintf(item, ITEM, "%s=%.17g", key, value);
    a->words.word[a->words.n++] = item;
}

/* Bytes of what formulas call the vector: of an allgather, all that comes together. */
static double vector_bytes(const coll_problem *of)
{
    const double bytes = (double)of->count * (double)of->elem_bytes;
    return of->collective == COLL_ALLGATHER ? bytes * of->p : bytes;
}

/* What the algorithm's parameters are in the formulas. */
static void ask_params(struct asked *a, const struct job *job)
{
    static const char *const same[] = {"f", "k", "splits", "sockets"};
    const coll_plan *plan = job_plan(job, 0);
    for (uint32_t i = 0; i < job->algorithm->n_params; i++) {
        const char *name = job->algorithm->params[i].name;
        for (size_t s = 0; s < sizeof same / sizeof same[0]; s++)
            if (strcmp(name, same[s]) == 0)
                ask_for(a, name, plan->param[i]);
        if (strcmp(name, "leaders") == 0)
            ask_for(a, "l", plan->param[i]);
        if (strcmp(name, "segment") == 0) { /* 0: all at once */
            const bool whole = plan->param[i] == 0 || plan->param[i] >= plan->problem.count;
            const double elements = (double)(whole ? plan->problem.count : plan->param[i]);
            ask_for(a, "segment", elements * (double)plan->problem.elem_bytes);
            ask_for(a, "S", elements);
        }
    }
}

/* The width of the mesh on which the plan is: its own, or that of the links; 0: none. */
static uint32_t width_of(const struct report *r)
{
    const struct job *job = &r->job;
    for (uint32_t i = 0; i < job->algorithm->n_params; i++)
        if (strcmp(job->algorithm->params[i].name, "width") == 0)
            return job_plan(job, 0)->param[i];
    return r->on.topology && r->on.its_topology.dimensions == 2 ? r->on.its_topology.size[0]
                                                                : 0;
}

static void ask_all(struct asked *a, const struct report *r)
{
    const coll_problem *of = &job_plan(&r->job, 0)->problem;
    const uint32_t width = width_of(r), nodes = of->nodes.count;
    ask_for(a, "P", of->p);
    ask_for(a, "n", vector_bytes(of));
    ask_for(a, "N", (double)of->count);
    ask_for(a, "M", (double)of->count);
    if (width > 0 && of->p % width == 0) {
        ask_for(a, "W", width);
        ask_for(a, "H", of->p / width);
    }
    if (nodes > 0 && of->p % nodes == 0) {
        ask_for(a, "h", nodes);
        ask_for(a, "ppn", of->p / nodes);
    }
    ask_params(a, &r->job);
}

/* The first key that must be given, and is not; NULL: none. */
static const char *missing_of(const struct asked *a)
{
    const coll_model *model = a->subject->arguments;
    for (size_t i = 0; i < model->n_parameters; i++) {
        const coll_parameter *row = &model->parameters[i];
        const size_t length = strlen(row->name);
        bool given = row->default_value >= row->least;
        for (size_t w = 0; w < a->words.n && !given; w++)
            given = strncmp(a->words.word[w], row->name, length) == 0 &&
                    a->words.word[w][length] == '=';
        if (!given)
            return row->name;
    }
    return NULL;
}

/* Is it a formula of the collective, and how does it call the algorithm? */
static bool is_of(const struct formula *f, const char *collective, char *word, size_t room)
{
    const size_t length = strlen(collective);
    if (strncmp(f->name, collective, length) != 0 || f->name[length] != ' ')
        return false;
    snprintf(word, room, "%.*s", (int)strcspn(f->name + length + 1, " ,"),
             f->name + length + 1);
    return true;
}

/* Does a name mean the algorithm, with the parameters that it has? */
static bool is_own(const char *word, const struct job *job)
{
    const coll_alias *alias = coll_find_alias(job->collective, word);
    if (strcmp(word, job->algorithm->name) == 0)
        return true;
    return alias && strcmp(alias->algorithm, job->algorithm->name) == 0 &&
           (alias->first == 0 || job_plan(job, 0)->param[0] == alias->first);
}

/* Lines of a table: formulas, and how far the simulation is from those of the algorithm. */
static void write_formulas(const struct report *r, const struct request *request, FILE *to)
{
    const double simulated = coll_time_us(r->sim.makespan);
    const char *collective = coll_collective_name(r->job.collective);
    fputs("<table>\n<thead><tr><th>formula</th><th class=\"n\">time, us</th>"
          "<th class=\"n\">simulated / formula</th><th>source</th></tr></thead>\n<tbody>\n",
          to);
    for (size_t i = 0; i < request->subject->n_formulas; i++) {
        const struct formula *f = &request->subject->formulas[i];
        char word[64];
        double us;
        bool own;
        if (!is_of(f, collective, word, sizeof word))
            continue;
        us = f->value(request->costs, &request->question);
        us = strcmp(f->unit, "ns") == 0 ? us / 1000 : us;
        own = is_own(word, &r->job);
        fprintf(to, "<tr%s><td>", own ? " class=\"own\"" : "");
        page_text(to, f->name);
        if (isfinite(us))
            fprintf(to, "</td><td class=\"n\">%.6g</td><td class=\"n\">", us);
        else
            fputs("</td><td>does not apply</td><td class=\"n\">", to);
        if (own && isfinite(us) && us > 0)
            fprintf(to, "%.3f", simulated / us);
        fputs("</td><td>", to);
        page_text(to, f->source);
        fputs("</td></tr>\n", to);
    }
    fputs("</tbody>\n</table>\n", to);
    page_paragraph(
        to,
        "Of the algorithm of this report the name is bold. A formula knows neither links nor "
        "noise, and has its own idea of what overlaps; coll model %s explains each.",
        request->subject->model->name);
}

void report_cost(const struct report *r, FILE *to)
{
    static struct request request;
    struct asked a = {.subject = subject_named(r->on.model)};
    const char *collective = coll_collective_name(r->job.collective), *missing,
               *model = a.subject->model->name;
    char word[64];
    size_t formulas = 0;
    for (size_t i = 0; i < a.subject->n_formulas; i++)
        formulas += is_of(&a.subject->formulas[i], collective, word, sizeof word) ? 1 : 0;
    if (formulas == 0) {
        page_paragraph(to,
                       "The model %s has no formula for %s; coll model lists those of all "
                       "models.",
                       model, collective);
        return;
    }
    ask_all(&a, r);
    missing = missing_of(&a);
    if (a.outside || missing) {
        page_paragraph(to, "The formulas of %s do not apply: %s %s.", model,
                       a.outside ? a.outside : missing,
                       a.outside ? "is not in their range" : "is not known of this plan");
        return;
    }
    request_read(&request, model_words(r->on.model), &a.words, false);
    write_formulas(r, &request, to);
}
