/* tools/simulated.c — see simulated.h */
#include "simulated.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coll/plan/placement.h"
#include "memory.h"
#include "names.h"

/* A sentence that says what is wrong. */
static void must(bool good, const coll_sentence *why)
{
    if (!good)
        refuse("%s", why->text);
}

/* Puts the ranks on the places that are there. Returns how many places there are. */
static uint32_t place(struct simulated *s, coll_plan *plans, uint32_t n, uint32_t p)
{
    coll_sentence why;
    coll_group group;
    uint32_t ends = p;
    if (!s->topology && (s->map || s->traffic))
        refuse("%s of a topology: say which, by --topology",
               s->map ? "--map puts ranks on the places" : "--traffic goes over the links");
    if (!s->topology)
        return p;
    must(coll_topology_read(&s->its_topology, s->topology, &why) &&
             coll_topology_fits(&s->its_topology, s->topology, p, &why),
         &why);
    s->options.topology = &s->its_topology;
    if (s->traffic && s->its_topology.links == 0)
        refuse("--traffic goes over links, and %.60s has none", s->topology);
    if (s->its_topology.n_missing == 0 && !s->map)
        return p;
    if (plans[0].problem.nodes.count > 0)
        refuse(
            "ranks that share nodes are on places that follow each other: leave out --nodes, "
            "or %s",
            s->map ? "--map" : "missing=…");
    s->places = memory_of(p, sizeof *s->places);
    must(coll_mapping_read(s->places, p, s->its_topology.ends - s->its_topology.n_missing,
                           s->map ? s->map : "block", &why),
         &why);
    for (uint32_t rank = 0; rank < p; rank++) {
        s->places[rank] = coll_topology_end(&s->its_topology, s->places[rank]);
        ends = s->places[rank] >= ends ? s->places[rank] + 1 : ends;
    }
    coll_group_table(&group, s->places, NULL);
    for (uint32_t i = 0; i < n; i++) {
        bool reduces; /* who multicasts, say, does so to the ranks that there are */
        const bool all = coll_i_plan_needs_all(&plans[i], &reduces);
        const coll_status status = all ? COLL_OK : coll_plan_place(&plans[i], &group);
        if (all)
            coll_group_assign(&plans[i].group, &group);
        if (status != COLL_OK)
            refuse("%s cannot have its ranks on other places than the first ones, in order: %s",
                   plans[i].algorithm->name, coll_status_text(status));
    }
    return ends;
}

/* Which ranks run on NICs: all, those between the root and the leaves, all but for what hosts combine faster, or
 * none. */
static void set_nics(struct simulated *s, const coll_plan *plans, uint32_t n, uint32_t p,
                     uint32_t ends)
{
    static const char *const names[] = {"all", "hybrid", "action", "host"};
    const size_t how = s->placement ? name_index("placement", s->placement, names, 4) : 0;
    coll_sentence why;
    if (s->placement && !s->nic)
        refuse("--placement says which ranks use their NICs, and --nic what those cost");
    if (!s->nic)
        return;
    s->on_nic = memory_of(ends, 1);
    for (uint32_t rank = 0; rank < p; rank++) {
        const coll_plan *plan = &plans[n > 1 ? rank : 0];
        s->on_nic[coll_group_outer(&plan->group, rank)] =
            how == 3                                                         ? COLL_SIM_ON_HOST
            : how == 2                                                       ? COLL_SIM_ON_BOTH
            : how == 0 || coll_placement_of(plan, rank) == COLL_INTERMEDIATE ? COLL_SIM_ON_NIC
                                                                             : COLL_SIM_ON_HOST;
    }
    must(coll_sim_machine_nic(&s->machine, s->nic, s->on_nic, &why), &why);
    s->options.adapter = s->machine.adapter;
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

void simulated_prepare(struct simulated *s, coll_plan *plans, uint32_t n, uint32_t p,
                       uint64_t seed)
{
    coll_sentence why;
    uint32_t ends;
    if (!s->model)
        refuse("--model is missing: hockney, loggp, plogp, nbl, moody, dpml, or @FILE of coll "
               "calibrate; coll model explains them");
    coll_sim_options_init(&s->options, &s->machine.model);
    s->options.seed = seed;
    ends = place(s, plans, n, p);
    coll_sim_machine_init(&s->machine, &plans[0].problem.nodes, ends);
    must(coll_sim_machine_read(&s->machine, s->model, &why), &why);
    if (s->ports > 0)
        must(coll_sim_machine_ports(&s->machine, (uint32_t)s->ports, &why), &why);
    set_nics(s, plans, n, p, ends);
    if (s->memory)
        must(coll_sim_machine_share(&s->machine, s->memory, &why), &why);
    if (s->machine.nics && s->topology)
        refuse("dpml has links of its own, its NICs: without --topology, or with gap=0,wire=0");
    if (s->machine.nics)
        s->options.topology = s->machine.nics;
    if (s->noise) {
        must(coll_noise_read(&s->its_noise, s->noise, s->options.seed, &why), &why);
        s->options.noise = &s->its_noise;
    }
    if (s->traffic) {
        must(coll_traffic_read(&s->its_traffic, s->traffic, s->options.seed, &why), &why);
        s->options.traffic = &s->its_traffic;
    }
    if (s->skew)
        s->options.skew_most = read_skew(s->skew);
}

void simulated_print(const struct simulated *s, FILE *file)
{
    const char *const words[] = {s->nic, s->memory, s->topology, s->traffic, s->noise};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i])
            fprintf(file, " %s", words[i]);
    if (s->map)
        fprintf(file, " map=%s", s->map);
    if (s->ports > 0)
        fprintf(file, " ports=%" PRIu64, s->ports);
}

struct spread simulated_spread(const coll_sim *sim, uint32_t p,
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

uint32_t *simulated_busiest(const coll_sim *sim, uint64_t most, uint32_t *n)
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

_Noreturn void simulated_fail(const coll_sim *sim, coll_status status)
{
    if (status == COLL_ERR_CAPABILITY)
        refuse("nothing reduces in this network: give it --memory shm:…,a_fabric=…, or a dpml "
               "with a_fabric");
    if (status == COLL_ERR_PEER)
        refuse("no way leads from rank %u to rank %u: the links that failed cut them off from "
               "each other",
               sim->stuck, sim->cut_off);
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
        fprintf(stderr, "coll: rank %u waits for something that never comes\n", sim->stuck);
    else
        fprintf(stderr, "coll: rank %u: %s\n", sim->stuck, coll_status_text(status));
    exit(1);
}

void simulated_free(struct simulated *s)
{
    if (s->topology)
        coll_topology_free(&s->its_topology);
    free(s->places);
    free(s->on_nic);
    s->places = NULL;
    s->on_nic = NULL;
}
