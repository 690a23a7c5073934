/* tools/sim.c — coll sim: how long an algorithm takes on a machine that is described in words */
#include "coll/lab/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "imported.h"
#include "job.h"
#include "json.h"
#include "memory.h"
#include "names.h"
#include "progress.h"
#include "simulated.h"
#include "traces.h"
#include "workload.h"

struct world {
    struct job *job;
    struct simulated on;
    struct traces traces;
    coll_sim_record record;
};

static void prepare(struct world *w, uint64_t window, uint64_t seed)
{
    const struct job *job = w->job;
    const uint32_t n = job->per_rank ? job->p : 1;
    simulated_prepare(&w->on, job->plans, n, job->p, seed);
    for (uint32_t i = 0; i < n; i++)
        if (window < job->plans[i].window)
            refuse("%s needs a window of at least %u", job->algorithm->name,
                   job->plans[i].window);
    w->on.options.window = (uint32_t)window;
}

/* ---- what comes out ---------------------------------------------------------------------- */

/* Of all NICs. */
static coll_nic_load nics_of(const coll_sim *sim)
{
    coll_nic_load all = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t i = 0; i < sim->nic_count; i++) {
        const coll_nic_load *nic = coll_sim_nic(sim, i);
        all.high = nic->high > all.high ? nic->high : all.high;
        all.refused += nic->refused;
        all.lost += nic->lost;
        all.downs += nic->downs;
        all.ups += nic->ups;
        all.down = nic->down > all.down ? nic->down : all.down;
        all.up = nic->up > all.up ? nic->up : all.up;
        all.saved += nic->saved;
        all.combined += nic->combined;
        all.reduced += nic->reduced;
    }
    return all;
}

static void print_nics(const coll_sim *sim)
{
    const coll_nic_load all = nics_of(sim);
    if (sim->nic_count == 0)
        return;
    printf("NICs       at the most %" PRIu64 " bytes in a memory; %" PRIu64
           " messages refused, which waited for %.7g us\n",
           all.high, all.refused, coll_time_us(all.lost));
    printf("crossings  %" PRIu64 " down and %" PRIu64
           " up, which took a bus for %.7g and %.7g us at the most; %" PRIu64
           " messages sent without\n",
           all.downs, all.ups, coll_time_us(all.down), coll_time_us(all.up), all.saved);
    printf("combined   %" PRIu64 " times by NICs, %" PRIu64 " times by hosts for them\n",
           all.combined, all.reduced);
}

static void print_report(const struct world *w, const coll_sim *sim, double seconds,
                         uint64_t most)
{
    const uint32_t p = w->job->p;
    const struct spread end = simulated_spread(sim, p, coll_sim_finish),
                        busy = simulated_spread(sim, p, coll_sim_busy);
    char text[600];
    job_print(w->job, stdout);
    (void)coll_sim_machine_text(&w->on.machine, text, sizeof text);
    printf("\n%s", text);
    simulated_print(&w->on, stdout);
    printf("\n\n");
    printf("makespan   %.12g us\n", coll_time_us(sim->makespan));
    printf("ranks end  after %.7g us at the least, %.7g in the mean, %.7g at the most\n",
           end.least, end.mean, end.most);
    printf("busy       %.7g us at the least, %.7g in the mean, %.7g at the most\n", busy.least,
           busy.mean, busy.most);
    printf("messages   %" PRIu64 ", of %" PRIu64 " bytes\n", sim->messages, sim->bytes);
    print_nics(sim);
    if (sim->links > 0) {
        uint32_t n, *links = simulated_busiest(sim, most, &n);
        printf("hops       %" PRIu64 " in all, %u at the most\n", sim->hops, sim->hops_most);
        for (uint32_t i = 0; i < n; i++) {
            const coll_link_load *load = coll_sim_link(sim, links[i]);
            w->on.options.topology->name(w->on.options.topology, links[i], text, sizeof text);
            printf("%-10s %s: %" PRIu64 " message%s, %" PRIu64
                   " bytes, taken %.7g us, waited for %.7g us\n",
                   i ? "" : "busiest", text, load->messages, load->messages == 1 ? "" : "s",
                   load->bytes, coll_time_us(load->busy), coll_time_us(load->waited));
        }
        free(links);
    }
    printf("simulated  %" PRIu64 " events in %.3g s, %.3g million messages a second, %.3g MB\n",
           sim->events, seconds, (double)sim->messages / seconds * 1e-6,
           (double)sim->memory * 1e-6);
}

static void print_spread(const char *name, const struct spread *s)
{
    printf(", \"%s\": {\"least_us\": %.17g, \"mean_us\": %.17g, \"most_us\": %.17g}", name,
           s->least, s->mean, s->most);
}

/* What was asked for. */
static void print_json_job(const struct world *w)
{
    const struct simulated *s = &w->on;
    const coll_plan *plan = job_plan(w->job, 0);
    const struct {
        const char *name, *words;
    } settings[] = {{"memory", s->memory},     {"nic", s->nic},  {"placement", s->placement},
                    {"topology", s->topology}, {"map", s->map},  {"traffic", s->traffic},
                    {"noise", s->noise},       {"skew", s->skew}};
    char text[600];
    printf("{\"collective\": \"%s\", \"algorithm\": \"%s\", \"parameters\": {",
           coll_collective_name(w->job->collective), w->job->algorithm->name);
    for (uint32_t i = 0; i < w->job->algorithm->n_params; i++)
        printf("%s\"%s\": %u", i ? ", " : "", w->job->algorithm->params[i].name,
               plan->param[i]);
    printf("},\n \"ranks\": %u, \"count\": %zu, \"elem_bytes\": %zu, \"window\": %u, "
           "\"seed\": %" PRIu64 ",\n \"model\": ",
           w->job->p, plan->problem.count, plan->problem.elem_bytes, w->on.options.window,
           w->on.options.seed);
    (void)coll_sim_machine_text(&w->on.machine, text, sizeof text);
    json_string(text);
    printf(", \"ports\": %" PRIu64, s->ports > 0 ? s->ports : 1);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        printf(", \"%s\": ", settings[i].name);
        if (settings[i].words)
            json_string(settings[i].words);
        else
            printf("null");
    }
}

static void print_json(const struct world *w, const coll_sim *sim, double seconds,
                       uint64_t most)
{
    const struct spread end = simulated_spread(sim, w->job->p, coll_sim_finish),
                        busy = simulated_spread(sim, w->job->p, coll_sim_busy);
    const coll_nic_load nics = nics_of(sim);
    char text[600];
    uint32_t n = 0, *links = simulated_busiest(sim, most, &n);
    print_json_job(w);
    printf(",\n \"makespan_us\": %.17g", coll_time_us(sim->makespan));
    print_spread("end", &end);
    print_spread("busy", &busy);
    printf(",\n \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"hops\": %" PRIu64
           ", \"hops_most\": %u, \"links\": [",
           sim->messages, sim->bytes, sim->hops, sim->hops_most);
    for (uint32_t i = 0; i < n; i++) {
        const coll_link_load *load = coll_sim_link(sim, links[i]);
        w->on.options.topology->name(w->on.options.topology, links[i], text, sizeof text);
        printf("%s\n  {\"name\": ", i ? "," : "");
        json_string(text);
        printf(", \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64
               ", \"busy_us\": %.17g, \"waited_us\": %.17g}",
               load->messages, load->bytes, coll_time_us(load->busy),
               coll_time_us(load->waited));
    }
    printf("],\n \"nics\": ");
    if (sim->nic_count > 0)
        printf("{\"high_bytes\": %" PRIu64 ", \"refused\": %" PRIu64
               ", \"waited_us\": %.17g, \"downs\": %" PRIu64 ", \"ups\": %" PRIu64
               ", \"down_us\": %.17g, \"up_us\": %.17g, \"saved\": %" PRIu64
               ", \"combined\": %" PRIu64 ", \"reduced\": %" PRIu64 "}",
               nics.high, nics.refused, coll_time_us(nics.lost), nics.downs, nics.ups,
               coll_time_us(nics.down), coll_time_us(nics.up), nics.saved, nics.combined,
               nics.reduced);
    else
        printf("null");
    printf(",\n \"events\": %" PRIu64 ", \"seconds\": %.6g, \"memory_bytes\": %zu}\n",
           sim->events, seconds, sim->memory);
    free(links);
}

/* Several collectives, from a file; of what is asked for it takes the ranks and what they share. */
static int sim_workload(const char *path, struct ask *ask, const struct simulated *on,
                        size_t elem_bytes, uint32_t window, bool json,
                        const struct traces *traces)
{
    struct workload workload;
    bool good;
    const uint64_t seed = ask->seed == UINT64_MAX ? 1 : ask->seed;
    if (ask->collective || ask->import || ask->count != UINT64_MAX || ask->root != UINT64_MAX ||
        ask->params.n > 0 || ask->inner.n > 0 || ask->in_place || ask->counts || ask->layout)
        refuse("--workload FILE says which collectives, of what: leave them out here");
    if (on->skew)
        refuse("when ranks begin is said in the workload: compute 0us random 5us, not --skew");
    if (ask->p == UINT64_MAX)
        refuse("-p P, the number of ranks, is missing");
    traces_check(traces, (uint32_t)ask->p);
    ask->seed = UINT64_MAX;
    workload_read(&workload, path, ask, elem_bytes);
    good = workload_sim(&workload, on, window, seed, json, traces);
    workload_free(&workload);
    return good ? 0 : 1;
}

/* ---- the command ------------------------------------------------------------------------- */

int sim_main(int argc, char **argv)
{
    static struct world w;
    struct ask ask = ASK_NOTHING;
    const char *type = "f64", *workload = NULL;
    uint64_t window = COLL_WINDOW, links = UINT64_MAX;
    bool json = false;
    const struct option options[] = {
        ASK_OPTIONS(ask),
        LAYOUT_OPTIONS(ask),
        WORD("type", "T", "element type (f64), of which the size counts", &type),
        WORD("workload", "FILE",
             "instead of these, several, and what ranks compute between them", &workload),
        SIMULATED_OPTIONS(w.on),
        NUMBER(0, "seed", "S", "of all that is random (1); sizes of blocks are, if it is given",
               &ask.seed, 0, UINT64_MAX - 1),
        NUMBER(0, "window", "W", "actions of a rank in flight (that of comm.h)", &window, 1,
               32),
        NUMBER(0, "links", "N", "tell of the N busiest links (1)", &links, 0, UINT32_MAX),
        TRACES_OPTIONS(w.traces, "what happens"),
        FLAG("json", "print the results as an object in JSON", &json),
    };
    const struct command command = {
        "sim", "simulate an algorithm on a machine of any size",
        "Models: hockney, loggp, plogp, nbl, moody, dpml.\n"
        "Topologies: flat, mesh:16x32, torus:8x8x8, fattree:k=4,n=3, dragonfly:a=4,h=2,t=2,\n"
        "nodes:8x2x16 (nodes, sockets, ranks).\n"
        "coll model NAME lists what each of them, shm, nic and noise want to know.\n"
        "@FILE is what coll calibrate wrote; MODEL:@FILE, shm:@FILE and noise:@FILE are what "
        "it "
        "says of these.\n"
        "Without --nodes all ranks share a node.",
        options, sizeof options / sizeof options[0]};
    static coll_sim sim;
    struct job job;
    coll_status status;
    double start;
    bool good = true;
    options_read(&command, argc, argv);
    if (workload && links != UINT64_MAX)
        refuse("--links tells of one collective, not of a workload");
    if (workload)
        return sim_workload(workload, &ask, &w.on, coll_type_bytes(type_named(type)),
                            (uint32_t)window, json, &w.traces);
    ask.seeds_more = true;
    job_make(&job, &ask, coll_type_bytes(type_named(type)));
    if (job.import)
        imported_has_data(job.import, ask.import);
    traces_check(&w.traces, job.p);
    w.job = &job;
    prepare(&w, window, ask.seed == UINT64_MAX ? 1 : ask.seed);
    if (links != UINT64_MAX && !w.on.options.topology)
        refuse("--links tells of the links of a --topology");
    links = links == UINT64_MAX ? 1 : links;
    if (traces_are_wanted(&w.traces)) {
        coll_sim_record_init(&w.record, TRACES_MOST);
        w.on.options.see = coll_sim_record_see;
        w.on.options.arg = &w.record;
    }
    coll_sim_init(&sim);
    start = seconds_now();
    status = coll_sim_run(&sim, job.plans, job.per_rank, &w.on.options);
    if (status != COLL_OK)
        simulated_fail(&sim, status);
    {
        const double seconds = seconds_now() - start;
        if (traces_are_wanted(&w.traces))
            good = traces_write_sim(&w.traces, &job, &w.record, &sim);
        if (json)
            print_json(&w, &sim, seconds, links);
        else
            print_report(&w, &sim, seconds, links);
    }
    coll_sim_record_free(&w.record);
    coll_sim_free(&sim);
    simulated_free(&w.on);
    job_free(&job);
    return good ? 0 : 1;
}
