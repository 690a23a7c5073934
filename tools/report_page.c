/* tools/report_page.c — the page of coll report */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/export/action_words.h"
#include "memory.h"
#include "names.h"
#include "page.h"
#include "picture_svg.h"
#include "report.h"
#include "rows.h"
#include "traces.h"

/* What `write` writes, as HTML has it. */
static void write_escaped(FILE *to, void (*write)(const struct report *r, FILE *words),
                          const struct report *r)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *words = memory_must(open_memstream(&text, &bytes));
    write(r, words);
    if (fclose(words) != 0)
        memory_must(NULL);
    page_text(to, text);
    free(text);
}

/* ---- plan -------------------------------------------------------------------------------- */

static void write_traits(uint32_t traits, FILE *to)
{
    const char *comma = "";
    fputs("<tr><th scope=\"row\">traits</th><td>", to);
#define WRITE_TRAIT(trait, text)                                                               \
    if (traits & (uint32_t)(trait)) {                                                          \
        fprintf(to, "%s%s", comma, text);                                                      \
        comma = ", ";                                                                          \
    }
    COLL_TRAIT_LIST(WRITE_TRAIT)
#undef WRITE_TRAIT
    if (!*comma)
        fputs("any operator, any number of ranks", to);
    fputs("</td></tr>\n", to);
}

static void write_steps(const struct report *r, FILE *words)
{
    coll_writer writer;
    unsigned lines = 0;
    coll_writer_init(&writer, words);
    for (uint32_t rank = 0; rank < r->job.p; rank++) {
        const coll_plan *plan = job_plan(&r->job, rank);
        const size_t steps = coll_plan_steps(plan, rank);
        fprintf(words, "rank %" PRIu32 "\n", rank);
        for (size_t s = 0; s < steps; s++) {
            coll_action acts[COLL_STEP_MAX];
            const unsigned n = job_step(plan, rank, s, acts);
            for (unsigned i = 0; i < n; i++) {
                if (acts[i].count == 0)
                    continue;
                if (++lines > REPORT_LINES) {
                    fputs("  … coll show --all prints all\n", words);
                    return;
                }
                fprintf(words, "  step %-4zu ", s);
                coll_write_action(&writer, &acts[i]);
                fputc('\n', words);
            }
        }
    }
}

static void write_numbers(const struct report *r, FILE *to)
{
    const coll_plan *plan = job_plan(&r->job, 0);
    const struct rounds *played = &r->played;
    size_t scratch = 0;
    for (uint32_t rank = 0; rank < r->job.p; rank++) {
        const size_t mine = coll_plan_scratch(job_plan(&r->job, rank), rank);
        scratch = mine > scratch ? mine : scratch;
    }
    if (played->complete) {
        page_row(to, "rounds",
                 "%" PRIu32 ", if a rank sends one message and receives one at a "
                 "time",
                 played->rounds);
        page_row(to, "depth", "%" PRIu32 " messages in the longest chain", played->chain);
        page_row(to, "messages", "%zu in all, at most %zu sent by a rank", played->n,
                 played->most_messages);
        page_row(to, "elements", "%zu sent in all, at most %zu by a rank", played->elements,
                 played->most_elements);
    }
    page_row(to, "scratch", "at most %zu elements a rank", scratch);
    page_row(to, "window", "at least %u actions in flight; of the in-order engine %u sends",
             plan->window, plan->sends);
}

static void write_plan(const struct report *r, FILE *to)
{
    const coll_algorithm *algorithm = r->job.algorithm;
    const struct origin *origin = origin_of(algorithm);
    const char *refusal = r->played.stuck ? "the ranks wait for each other"
                          : r->job.p > PICTURE_SVG_RANKS
                              ? "a picture shows at most 1024 ranks"
                              : picture_svg_refusal(&r->played, r->job.p);
    page_section(to, "plan", "Plan");
    page_table(to);
    page_row(to, "source", "%s", algorithm->source);
    if (origin)
        page_row(to, "header", "%s, %s", origin->header, origin->symbol);
    write_traits(algorithm->traits, to);
    for (uint32_t i = 0; i < algorithm->n_params; i++)
        page_row(to, algorithm->params[i].name, "%" PRIu32 ": %s",
                 job_plan(&r->job, 0)->param[i], algorithm->params[i].meaning);
    write_numbers(r, to);
    page_table_end(to);
    if (refusal || r->played.n > REPORT_SHOWN) {
        page_paragraph(to, "There is no picture: %s.",
                       refusal ? refusal : "a page shows at most 32768 messages");
    } else if (r->played.n > 0 || r->played.n_meetings > 0) {
        page_figure(to, "Ranks downwards, rounds to the right, a line for each message.");
        picture_svg_draw(&r->played, &r->job, to);
        page_figure_end(to);
    }
    fputs("<details><summary>Steps in words</summary>\n<pre>", to);
    write_escaped(to, write_steps, r);
    fputs("</pre></details>\n", to);
    page_section_end(to);
}

/* ---- proof ------------------------------------------------------------------------------- */

static void write_verdict(FILE *to, const char *name, bool good, const char *words)
{
    fputs("<tr><th scope=\"row\">", to);
    page_text(to, name);
    fprintf(to, "</th><td><span class=\"%s\">%s</span>", good ? "good" : "bad",
            good ? "proven" : "FAILED");
    page_text(to, words);
    fputs("</td></tr>\n", to);
}

static void write_proof(const struct report *r, FILE *to)
{
    const coll_report *plan = &r->plan_proof;
    const coll_grid_row *grid = &r->grid;
    char words[640 + PROOF_COMMAND], name[64];
    page_section(to, "proof", "Proof");
    page_paragraph(
        to, "The verifier executes all ranks symbolically, with sends that wait for their "
            "receivers and with channels of one message: every element of each result, every "
            "message, no deadlock, no race, in all interleavings.");
    page_table(to);
    if (r->plan_large) {
        page_row(to, "this plan",
                 "not tried: it has too many elements or steps; the plans "
                 "below are of the same functions");
    } else {
        if (plan->ok)
            snprintf(words, sizeof words,
                     ": %" PRIu64 " actions, %" PRIu64 " messages, %" PRIu64
                     " elements combined; %" PRIu32
                     " messages in the longest chain; a window of "
                     "%" PRIu32 " suffices",
                     plan->total.actions, plan->messages, plan->total.reduced, plan->rounds,
                     plan->window);
        else
            snprintf(words, sizeof words, ": %s", plan->sentence);
        write_verdict(to, "this plan", plan->ok, words);
    }
    snprintf(name, sizeof name, "p = %" PRIu32 " to %" PRIu32, r->grid_least, r->grid_most);
    if (grid->report.ok && grid->plans == 0) {
        page_row(to, name, "no plan: the traits forbid these numbers of ranks");
    } else if (grid->report.ok) {
        snprintf(words, sizeof words,
                 ": %" PRIu64 " plans, of up to %" PRIu32 " ranks, with %" PRIu64
                 " actions: roots, counts, layouts, parameters, flags",
                 grid->plans, grid->p_most, grid->actions);
        write_verdict(to, name, true, words);
    } else {
        char command[PROOF_COMMAND];
        proof_command(&grid->failed, &r->job.inner, command);
        snprintf(words, sizeof words, ": %s; coll %sshow %s", grid->report.sentence,
                 algorithms_from(), command);
        write_verdict(to, name, false, words);
    }
    page_table_end(to);
    page_section_end(to);
}

/* ---- simulation -------------------------------------------------------------------------- */

static void write_machine(const struct report *r, FILE *words)
{
    char text[600];
    (void)coll_sim_machine_text(&r->on.machine, text, sizeof text);
    fputs(text, words);
    simulated_print(&r->on, words);
}

static void write_links(const struct report *r, FILE *to)
{
    uint32_t n, *links = simulated_busiest(&r->sim, 5, &n);
    char name[128];
    page_row(to, "hops", "%" PRIu64 " in all, %" PRIu32 " at the most", r->sim.hops,
             r->sim.hops_most);
    for (uint32_t i = 0; i < n; i++) {
        const coll_link_load *load = coll_sim_link(&r->sim, links[i]);
        const coll_topology *topology = r->on.options.topology;
        topology->name(topology, links[i], name, sizeof name);
        page_row(to, i ? "" : "busiest links",
                 "%s: %" PRIu64 " messages, %" PRIu64 " bytes, taken %.7g us, waited for "
                 "%.7g us",
                 name, load->messages, load->bytes, coll_time_us(load->busy),
                 coll_time_us(load->waited));
    }
    free(links);
}

static void write_simulation(const struct report *r, FILE *to)
{
    const struct spread end = simulated_spread(&r->sim, r->job.p, coll_sim_finish),
                        busy = simulated_spread(&r->sim, r->job.p, coll_sim_busy);
    const size_t shown = r->record.spans.n + r->record.flights.n;
    page_section(to, "simulation", "Simulation");
    fputs("<table>\n<tbody>\n<tr><th scope=\"row\">machine</th><td><code>", to);
    write_escaped(to, write_machine, r);
    fprintf(to, "</code>%s</td></tr>\n",
            r->machine_given ? "" : ", an example: --model says another one");
    page_row(to, "makespan", "%.9g us", coll_time_us(r->sim.makespan));
    page_row(to, "ranks end", "after %.7g us at the least, %.7g in the mean, %.7g at the most",
             end.least, end.mean, end.most);
    page_row(to, "busy", "%.7g us at the least, %.7g in the mean, %.7g at the most", busy.least,
             busy.mean, busy.most);
    page_row(to, "messages", "%" PRIu64 ", of %" PRIu64 " bytes", r->sim.messages,
             r->sim.bytes);
    if (r->sim.links > 0)
        write_links(r, to);
    page_table_end(to);
    if (compared_is_free(&r->on, r->job.algorithm))
        page_paragraph(to, "Copies through the memory of a node take no time on this machine: "
                           "--memory shm:… says what they take.");
    if (r->record.full || shown > REPORT_SHOWN || r->job.p > PICTURE_SVG_RANKS) {
        page_paragraph(to,
                       "There is no timeline: it would show more than %d messages and "
                       "operations, or more than %d ranks; coll sim --trace writes one.",
                       REPORT_SHOWN, PICTURE_SVG_RANKS);
    } else if (shown > 0) {
        char title[128];
        traces_title(&r->job, 9, coll_time_us(r->sim.makespan), title, sizeof title);
        page_figure(to, "Ranks downwards, time to the right: what each rank's processor does, "
                        "and a line for each message.");
        coll_sim_svg(&r->record, &r->sim, title, to);
        page_figure_end(to);
    }
    page_section_end(to);
}

/* ---- comparison -------------------------------------------------------------------------- */

static void write_compared(const struct compared *row, double slowest, FILE *to)
{
    const double own = slowest > 0 ? row->times.mean / slowest * 100 : 0;
    fprintf(to, "<tr%s><td>", row->own ? " class=\"own\"" : "");
    page_text(to, row->name);
    fprintf(to,
            "</td><td class=\"n\">%.6g</td><td><svg class=\"bar\" viewBox=\"0 0 100 1\" "
            "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"%.2f\" "
            "height=\"1\"/></svg></td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
            "</td></tr>\n",
            row->times.mean, own, row->times.messages, row->times.bytes);
}

static void write_refused(const struct comparison *all, FILE *to)
{
    if (all->ran == all->n)
        return;
    fprintf(to, "<details><summary>%zu cannot be compared here</summary>\n", all->n - all->ran);
    page_table(to);
    for (size_t i = all->ran; i < all->n; i++)
        page_row(to, all->row[i].name, "%s", all->row[i].refusal);
    page_table_end(to);
    fputs("</details>\n", to);
}

static void write_comparison(const struct report *r, FILE *to)
{
    const struct comparison *all = &r->comparison;
    const double slowest = all->ran > 0 ? all->row[all->ran - 1].times.mean : 0;
    page_section(to, "comparison", "Comparison");
    page_paragraph(to,
                   "All algorithms for %s that run here, the others with their default "
                   "parameters, on the same machine and at this size.",
                   coll_collective_name(r->job.collective));
    fputs("<table>\n<thead><tr><th>algorithm</th><th class=\"n\">time, us</th><th></th>"
          "<th class=\"n\">messages</th><th class=\"n\">bytes sent</th></tr></thead>\n"
          "<tbody>\n",
          to);
    for (size_t i = 0; i < all->ran; i++)
        write_compared(&all->row[i], slowest, to);
    page_table_end(to);
    write_refused(all, to);
    if (all->chart.lines > 0) {
        fputs("<h3>Over sizes</h3>\n", to);
        page_figure(to, "Time over the size, both logarithmic: a line for this algorithm and "
                        "for the fastest others.");
        chart_draw(&all->chart, to);
        page_figure_end(to);
    }
    page_section_end(to);
}

/* ---- all of it --------------------------------------------------------------------------- */

static void write_job(const struct report *r, FILE *words)
{
    job_print(&r->job, words);
}

void report_write(const struct report *r, FILE *to)
{
    char title[128];
    snprintf(title, sizeof title, "%s %s, %" PRIu32 " rank%s",
             coll_collective_name(r->job.collective), r->job.algorithm->name, r->job.p,
             r->job.p == 1 ? "" : "s");
    page_begin(to, title);
    fputs("<p>", to);
    write_escaped(to, write_job, r);
    fputs("<br/>\n<code>", to);
    page_text(to, r->command);
    fputs("</code>", to);
    page_printf(to, " of coll %d.%d.%d", COLL_VERSION_MAJOR, COLL_VERSION_MINOR,
                COLL_VERSION_PATCH);
    fputs("</p>\n<nav><a href=\"#plan\">Plan</a> <a href=\"#proof\">Proof</a>", to);
    fputs(r->proven ? " <a href=\"#cost\">Cost</a> <a href=\"#simulation\">Simulation</a> "
                      "<a href=\"#comparison\">Comparison</a></nav>\n"
                    : "</nav>\n",
          to);
    write_plan(r, to);
    write_proof(r, to);
    if (r->proven) {
        page_section(to, "cost", "Cost");
        report_cost(r, to);
        page_section_end(to);
        write_simulation(r, to);
        write_comparison(r, to);
    } else {
        page_paragraph(to, "A plan that is wrong is neither simulated nor compared.");
    }
    page_end(to);
}
