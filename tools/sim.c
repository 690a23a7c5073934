/* tools/sim.c — coll sim: how long an algorithm takes on a machine that is described in words */
#include "coll/lab/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coll/plan/placement.h"
#include "commands.h"
#include "job.h"
#include "json.h"
#include "memory.h"
#include "names.h"
#include "progress.h"
#include "traces.h"

/* What the user says besides the job. */
struct setting {
    const char *model, *memory, *nic, *placement, *topology, *noise, *skew;
    struct traces traces;
};

struct world {
    struct job *job;
    coll_sim_machine machine;
    coll_topology topology;
    coll_noise noise;
    coll_sim_options options;
    coll_sim_record record;
    uint32_t *places; /* of the ranks, where some are missing */
    uint8_t *on_nic;
};

/* A sentence that says what is wrong. */
static void must(bool good, const coll_sentence *why)
{
    if (!good)
        refuse("%s", why->text);
}

/* ---- the machine ------------------------------------------------------------------------- */

/* Puts the ranks on the places that are there. Returns how many places there are. */
static uint32_t place(struct world *w, const struct setting *s)
{
    const struct job *job = w->job;
    const uint32_t n = job->per_rank ? job->p : 1;
    coll_sentence why;
    coll_group group;
    if (!s->topology)
        return job->p;
    must(coll_topology_read(&w->topology, s->topology, &why) &&
             coll_topology_fits(&w->topology, s->topology, job->p, &why),
         &why);
    w->options.topology = &w->topology;
    if (w->topology.n_missing == 0)
        return job->p;
    if (job_plan(job, 0)->problem.nodes.count > 0)
        refuse("ranks that share nodes have none missing between them: leave out --nodes, or "
               "missing=…");
    w->places = memory_of(job->p, sizeof *w->places);
    for (uint32_t rank = 0; rank < job->p; rank++)
        w->places[rank] = coll_topology_end(&w->topology, rank);
    coll_group_table(&group, w->places, NULL);
    for (uint32_t i = 0; i < n; i++) {
        bool reduces; /* who multicasts, say, does so to the ranks that there are */
        const bool all = coll_i_plan_needs_all(&job->plans[i], &reduces);
        const coll_status status = all ? COLL_OK : coll_plan_place(&job->plans[i], &group);
        if (all)
            coll_group_assign(&job->plans[i].group, &group);
        if (status != COLL_OK)
            refuse("%s cannot have places that are missing: %s", job->algorithm->name,
                   coll_status_text(status));
    }
    return w->places[job->p - 1] + 1;
}

/* Which ranks run on NICs: all, those between the root and the leaves, all but for what hosts combine faster, or
 * none. */
static void set_nics(struct world *w, const struct setting *s, uint32_t ends)
{
    static const char *const names[] = {"all", "hybrid", "action", "host"};
    const size_t how = s->placement ? name_index("placement", s->placement, names, 4) : 0;
    coll_sentence why;
    if (s->placement && !s->nic)
        refuse("--placement says which ranks use their NICs, and --nic what those cost");
    if (!s->nic)
        return;
    w->on_nic = memory_of(ends, 1);
    for (uint32_t rank = 0; rank < w->job->p; rank++) {
        const coll_plan *plan = job_plan(w->job, rank);
        w->on_nic[coll_group_outer(&plan->group, rank)] =
            how == 3                                                         ? COLL_SIM_ON_HOST
            : how == 2                                                       ? COLL_SIM_ON_BOTH
            : how == 0 || coll_placement_of(plan, rank) == COLL_INTERMEDIATE ? COLL_SIM_ON_NIC
                                                                             : COLL_SIM_ON_HOST;
    }
    must(coll_sim_machine_nic(&w->machine, s->nic, w->on_nic, &why), &why);
    w->options.adapter = w->machine.adapter;
}

/* Reads a time such as 5us. */
static coll_time read_skew(const char *text)
{
    static const coll_parameter row = {"skew", "us", COLL_PARAMETER_NUMBER, 0, 0,
                                       1e9,    0,    "the latest start"};
    double us;
    if (!coll_i_parameter_number(&row, text, &us))
        refuse("--skew is a time from 0 to 1000 s such as 5us, not \"%.60s\"", text);
    return coll_time_of(us * 1e6);
}

static void prepare(struct world *w, const struct setting *s, uint64_t window, uint64_t seed)
{
    const coll_plan *plan = job_plan(w->job, 0);
    coll_sentence why;
    uint32_t ends;
    if (!s->model)
        refuse("--model is missing: hockney, loggp, plogp, nbl, moody, dpml, or @FILE of coll "
               "calibrate; coll model explains them");
    coll_sim_options_init(&w->options, &w->machine.model);
    w->options.seed = seed;
    ends = place(w, s);
    coll_sim_machine_init(&w->machine, &plan->problem.nodes, ends);
    must(coll_sim_machine_read(&w->machine, s->model, &why), &why);
    set_nics(w, s, ends);
    if (s->memory)
        must(coll_sim_machine_share(&w->machine, s->memory, &why), &why);
    if (w->machine.nics && s->topology)
        refuse("dpml has links of its own, its NICs: without --topology, or with gap=0,wire=0");
    if (w->machine.nics)
        w->options.topology = w->machine.nics;
    if (s->noise) {
        must(coll_noise_read(&w->noise, s->noise, w->options.seed, &why), &why);
        w->options.noise = &w->noise;
    }
    if (s->skew)
        w->options.skew_most = read_skew(s->skew);
    for (uint32_t i = 0; i < (w->job->per_rank ? w->job->p : 1); i++)
        if (window < w->job->plans[i].window)
            refuse("%s needs a window of at least %u", w->job->algorithm->name,
                   w->job->plans[i].window);
    w->options.window = (uint32_t)window;
}

/* ---- what comes out ---------------------------------------------------------------------- */

struct spread {
    double least, mean, most; /* us */
};

static struct spread spread_of(const coll_sim *sim, uint32_t p,
                               coll_time (*of)(const coll_sim *sim, uint32_t rank))
{
    struct spread s = {coll_time_us(of(sim, 0)), 0, 0};
    for (uint32_t rank = 0; rank < p; rank++) {
        const double us = coll_time_us(of(sim, rank));
        s.least = us < s.least ? us : s.least;
        s.most = us > s.most ? us : s.most;
        s.mean += us / p;
    }
    return s;
}

/* The `most` links that were taken longest. The caller frees them. */
static uint32_t *busiest_of(const coll_sim *sim, uint64_t most, uint32_t *n)
{
    uint32_t *links = memory_of(most < sim->links ? most : sim->links, sizeof *links);
    *n = 0;
    for (uint32_t link = 0; link < sim->links && most > 0; link++) {
        const coll_link_load *load = coll_sim_link(sim, link);
        uint32_t at = *n;
        if (load->messages == 0)
            continue;
        while (at > 0 && coll_sim_busier(sim, link, links[at - 1]))
            at--;
        if (at >= most)
            continue;
        *n += *n < most ? 1 : 0;
        for (uint32_t i = *n - 1; i > at; i--)
            links[i] = links[i - 1];
        links[at] = link;
    }
    return links;
}

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

static void print_report(const struct world *w, const struct setting *s, const coll_sim *sim,
                         double seconds, uint64_t most)
{
    const uint32_t p = w->job->p;
    const struct spread end = spread_of(sim, p, coll_sim_finish),
                        busy = spread_of(sim, p, coll_sim_busy);
    const char *const words[] = {s->nic, s->memory, s->topology, s->noise};
    char text[600];
    job_print(w->job);
    (void)coll_sim_machine_text(&w->machine, text, sizeof text);
    printf("\n%s", text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i])
            printf(" %s", words[i]);
    printf("\n\n");
    printf("makespan   %.12g us\n", coll_time_us(sim->makespan));
    printf("ranks end  after %.7g us at the least, %.7g in the mean, %.7g at the most\n",
           end.least, end.mean, end.most);
    printf("busy       %.7g us at the least, %.7g in the mean, %.7g at the most\n", busy.least,
           busy.mean, busy.most);
    printf("messages   %" PRIu64 ", of %" PRIu64 " bytes\n", sim->messages, sim->bytes);
    print_nics(sim);
    if (sim->links > 0) {
        uint32_t n, *links = busiest_of(sim, most, &n);
        printf("hops       %" PRIu64 " in all, %u at the most\n", sim->hops, sim->hops_most);
        for (uint32_t i = 0; i < n; i++) {
            const coll_link_load *load = coll_sim_link(sim, links[i]);
            w->options.topology->name(w->options.topology, links[i], text, sizeof text);
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
static void print_json_job(const struct world *w, const struct setting *s)
{
    const coll_plan *plan = job_plan(w->job, 0);
    const struct {
        const char *name, *words;
    } settings[] = {{"memory", s->memory},     {"nic", s->nic},     {"placement", s->placement},
                    {"topology", s->topology}, {"noise", s->noise}, {"skew", s->skew}};
    char text[600];
    printf("{\"collective\": \"%s\", \"algorithm\": \"%s\", \"parameters\": {",
           coll_collective_name(w->job->collective), w->job->algorithm->name);
    for (uint32_t i = 0; i < w->job->algorithm->n_params; i++)
        printf("%s\"%s\": %u", i ? ", " : "", w->job->algorithm->params[i].name,
               plan->param[i]);
    printf("},\n \"ranks\": %u, \"count\": %zu, \"elem_bytes\": %zu, \"window\": %u, "
           "\"seed\": %" PRIu64 ",\n \"model\": ",
           w->job->p, plan->problem.count, plan->problem.elem_bytes, w->options.window,
           w->options.seed);
    (void)coll_sim_machine_text(&w->machine, text, sizeof text);
    json_string(text);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        printf(", \"%s\": ", settings[i].name);
        if (settings[i].words)
            json_string(settings[i].words);
        else
            printf("null");
    }
}

static void print_json(const struct world *w, const struct setting *s, const coll_sim *sim,
                       double seconds, uint64_t most)
{
    const struct spread end = spread_of(sim, w->job->p, coll_sim_finish),
                        busy = spread_of(sim, w->job->p, coll_sim_busy);
    const coll_nic_load nics = nics_of(sim);
    char text[600];
    uint32_t n = 0, *links = busiest_of(sim, most, &n);
    print_json_job(w, s);
    printf(",\n \"makespan_us\": %.17g", coll_time_us(sim->makespan));
    print_spread("end", &end);
    print_spread("busy", &busy);
    printf(",\n \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"hops\": %" PRIu64
           ", \"hops_most\": %u, \"links\": [",
           sim->messages, sim->bytes, sim->hops, sim->hops_most);
    for (uint32_t i = 0; i < n; i++) {
        const coll_link_load *load = coll_sim_link(sim, links[i]);
        w->options.topology->name(w->options.topology, links[i], text, sizeof text);
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

/* ---- the command ------------------------------------------------------------------------- */

static _Noreturn void fail(const coll_sim *sim, coll_status status)
{
    if (status == COLL_ERR_CAPABILITY)
        refuse("nothing reduces in this network: give it --memory shm:…,a_fabric=…, or a dpml "
               "with a_fabric");
    if (status == COLL_ERR_OVERFLOW)
        refuse("it takes longer than 26 days, which is as far as the simulator counts");
    if (status == COLL_ERR_MEMORY && sim->options.adapter &&
        sim->nic_needs > sim->options.adapter->memory)
        refuse("the NIC of rank %u needs a memory of at least %" PRIu64
               " bytes, for its operands and its longest message: give it memory=…",
               sim->stuck, sim->nic_needs);
    if (status == COLL_ERR_MEMORY)
        refuse("there is not enough memory for this");
    if (status == COLL_ERR_DEADLOCK)
        fprintf(stderr, "coll sim: rank %u waits for something that never comes\n", sim->stuck);
    else
        fprintf(stderr, "coll sim: rank %u: %s\n", sim->stuck, coll_status_text(status));
    exit(1);
}

int sim_main(int argc, char **argv)
{
    struct ask ask = ASK_NOTHING;
    struct setting s = {0};
    const char *type = "f64";
    uint64_t window = COLL_WINDOW, links = UINT64_MAX;
    bool json = false;
    const struct option options[] = {
        ASK_OPTIONS(ask),
        LAYOUT_OPTIONS(ask),
        WORD("type", "T", "element type (f64), of which the size counts", &type),
        WORD("model", "MODEL",
             "what messages cost, as in loggp:L=1us,o=200,g=300,G=0.5, or as @FILE says",
             &s.model),
        WORD("memory", "SHM", "ranks of a node copy through it, as in shm:a=0.2us,b=0.1",
             &s.memory),
        WORD("nic", "NIC",
             "the NICs, with a memory and a bus, as nic:elan3_f64_add,memory=64KiB; or, where "
             "the model is "
             "moody's hosts, by constants: moody:nic_f64_add",
             &s.nic),
        WORD("placement", "P",
             "who uses its NIC: all; hybrid: not the root and the leaves; action: all, and the "
             "host "
             "reduces what it reduces faster; host: messages alone go through it",
             &s.placement),
        WORD("topology", "TOPOLOGY", "links, as in mesh:16x32,hop=40ns or fattree:k=4,n=3",
             &s.topology),
        WORD("noise", "NOISE", "of processors: noise:frequency=100Hz,duration=250us", &s.noise),
        WORD("skew", "TIME", "ranks begin at random times up to this one, as 5us (0)", &s.skew),
        NUMBER(0, "seed", "S", "of all that is random (1); sizes of blocks are, if it is given",
               &ask.seed, 0, UINT64_MAX - 1),
        NUMBER(0, "window", "W", "actions of a rank in flight (that of comm.h)", &window, 1,
               32),
        NUMBER(0, "links", "N", "tell of the N busiest links (1)", &links, 0, UINT32_MAX),
        TRACES_OPTIONS(s.traces, "what happens"),
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
    static struct world w;
    static coll_sim sim;
    struct job job;
    coll_status status;
    double start;
    bool good = true;
    options_read(&command, argc, argv);
    ask.seeds_more = true;
    job_make(&job, &ask, coll_type_bytes(type_named(type)));
    traces_check(&s.traces, job.p);
    w.job = &job;
    prepare(&w, &s, window, ask.seed == UINT64_MAX ? 1 : ask.seed);
    if (links != UINT64_MAX && !w.options.topology)
        refuse("--links tells of the links of a --topology");
    links = links == UINT64_MAX ? 1 : links;
    if (traces_are_wanted(&s.traces)) {
        coll_sim_record_init(&w.record, TRACES_MOST);
        w.options.see = coll_sim_record_see;
        w.options.arg = &w.record;
    }
    coll_sim_init(&sim);
    start = seconds_now();
    status = coll_sim_run(&sim, job.plans, job.per_rank, &w.options);
    if (status != COLL_OK)
        fail(&sim, status);
    {
        const double seconds = seconds_now() - start;
        if (traces_are_wanted(&s.traces))
            good = traces_write_sim(&s.traces, &job, &w.record, &sim);
        if (json)
            print_json(&w, &s, &sim, seconds, links);
        else
            print_report(&w, &s, &sim, seconds, links);
    }
    coll_sim_record_free(&w.record);
    coll_sim_free(&sim);
    free(w.places);
    free(w.on_nic);
    job_free(&job);
    return good ? 0 : 1;
}
