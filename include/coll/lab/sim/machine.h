/* coll/lab/sim/machine.h — a machine in words: a cost model, and what goes with it
 *
 *   coll_sim_machine machine;
 *   coll_sentence why;
 *   coll_sim_machine_init(&machine, &plan.problem.nodes, p);
 *   if (!coll_sim_machine_read(&machine, "loggp:L=1us,o=200,g=300,G=0.5", &why) ||
 *       !coll_sim_machine_share(&machine, "shm:a=0.2us,b=0.1", &why))    // may be left out
 *       puts(why.text);
 *   coll_sim_options_init(&options, &machine.model);
 *   options.topology = machine.nics;           // or another one; NULL: none
 *
 * Models are those of coll/model that say what a message costs:
 *
 *   hockney, loggp, plogp, nbl   as their headers say
 *   moody                        all ranks on hosts, or with coll_sim_machine_nic some on NICs
 *                                whose costs are those of moody, too
 *   dpml                         Hockney's a and b between nodes, copies of a_shm and b_shm within,
 *                                c everywhere; where gap or wire is not 0, the NICs of the nodes as
 *                                links, one for each rail that ranks use
 *
 * With coll_sim_machine_nic, and words such as nic:elan3_f64_add,memory=64KiB, ranks of hockney, loggp, plogp
 * and moody have NICs with a memory and a bus (adapter.h); then also
 *   options.adapter = machine.adapter;
 *
 * Each rank has one port for sending and one for receiving, or several: coll_sim_machine_ports.
 *
 * @FILE, or MODEL:@FILE, is what the file of a machine says (model/machine_words.h), and so is shm:@FILE.
 *
 * A machine must stay where it is once it has been read; nodes are the caller's.
 */
#ifndef COLL_LAB_SIM_MACHINE_H
#define COLL_LAB_SIM_MACHINE_H

#include "../model/dpml_model.h"
#include "../model/machine_words.h"
#include "adapter.h"
#include "hockney_costs.h"
#include "loggp_costs.h"
#include "moody_costs.h"
#include "nbl_costs.h"
#include "plogp_costs.h"
#include "ports.h"
#include "shm_costs.h"
#include "topology/nics.h"

/* A machine made of words: a cost model, and what it needs. */
typedef struct coll_sim_machine {
    coll_cost_model model;
    const coll_topology *nics;       /* of dpml, or NULL */
    const coll_sim_adapter *adapter; /* of coll_sim_machine_nic, or NULL */

    /* private */
    const coll_model *row;
    const coll_nodes *nodes;
    uint32_t ends;
    union {
        coll_hockney_costs hockney;
        coll_loggp_costs loggp;
        coll_plogp_words plogp;
        coll_nbl_costs nbl;
        coll_moody_costs moody;
        coll_dpml_costs dpml;
    } words;
    coll_plogp_costs plogp, plogp_dirty;
    coll_moody_costs nic;
    coll_nic_costs nic_costs;
    coll_sim_adapter nic_adapter;
    coll_shm_costs memory;
    coll_cost_model between, network;
    coll_sim_hockney sim_hockney;
    coll_sim_loggp sim_loggp;
    coll_sim_plogp sim_plogp;
    coll_sim_nbl sim_nbl;
    coll_sim_moody sim_moody;
    coll_sim_shm sim_shm;
    coll_topology topology;
} coll_sim_machine;

/* The models that a machine can have. */
COLL_TABLE(coll_model *const, coll_i_sim_models, {
    &coll_hockney_model, &coll_loggp_model,
    &coll_plogp_model,   &coll_nbl_model,
    &coll_moody_model,   &coll_dpml_model});
enum { COLL_SIM_MODELS = sizeof coll_i_sim_models / sizeof coll_i_sim_models[0] };

/* Before everything else. Ranks share nodes as these say, of `ends` numbers outside of the
 * plan. */
COLL_INLINE void coll_sim_machine_init(coll_sim_machine *machine, const coll_nodes *nodes,
                                       uint32_t ends)
{
    memset(machine, 0, sizeof *machine);
    machine->nodes = nodes;
    machine->ends = ends;
}

/* From now on ranks of a node copy through its memory. */
COLL_INLINE void coll_i_sim_machine_memory(coll_sim_machine *m)
{
    m->between = m->model;
    m->sim_shm.costs = &m->memory;
    m->sim_shm.between = &m->between;
    m->sim_shm.nodes = m->nodes;
    m->sim_shm.ends = m->ends;
    coll_sim_shm_init(&m->model, &m->sim_shm);
}

/* The memory of the nodes, and their NICs. */
COLL_INLINE bool coll_i_sim_machine_dpml(coll_sim_machine *m)
{
    const coll_dpml_costs *costs = &m->words.dpml;
    const coll_hockney_costs between = {costs->a_us, costs->b_ns_per_byte,
                                        costs->c_ns_per_byte};
    coll_sim_hockney_init(&m->model, &m->sim_hockney, &between);
    memset(&m->memory, 0, sizeof m->memory);
    m->memory.a_us = costs->a_shm_us;
    m->memory.b_ns_per_byte = costs->b_shm_ns_per_byte;
    m->memory.c_ns_per_byte = costs->c_ns_per_byte;
    m->memory.a_fabric_us = costs->a_fabric_us;
    m->memory.b_fabric_ns_per_byte = costs->b_fabric_ns_per_byte;
    coll_i_sim_machine_memory(m);
    if (!(costs->gap_us > 0 || costs->wire_ns_per_byte > 0))
        return true;
    coll_topology_nics(&m->topology, m->nodes, m->ends);
    m->topology.cost.message = coll_time_of(costs->gap_us * 1e6);
    m->topology.cost.byte_ps = costs->wire_ns_per_byte * 1000;
    m->nics = &m->topology;
    return true;
}

/* Reads a model and its parameters; false, and what is wrong with them. */
COLL_INLINE bool coll_sim_machine_read(coll_sim_machine *m, const char *text,
                                       coll_sentence *why)
{
    char words[COLL_MACHINE_WORDS];
    if (!coll_machine_words(text, words, sizeof words, why))
        return false;
    m->row = coll_model_of("model", coll_i_sim_models, COLL_SIM_MODELS, words, why);
    if (!m->row || !coll_parameters_read(m->row, words, &m->words, why))
        return false;
    if (m->row == &coll_hockney_model) {
        coll_sim_hockney_init(&m->model, &m->sim_hockney, &m->words.hockney);
    } else if (m->row == &coll_loggp_model) {
        coll_sim_loggp_init(&m->model, &m->sim_loggp, &m->words.loggp);
    } else if (m->row == &coll_nbl_model) {
        coll_sim_nbl_init(&m->model, &m->sim_nbl, &m->words.nbl);
    } else if (m->row == &coll_moody_model) {
        m->sim_moody.host = m->sim_moody.nic = &m->words.moody;
        m->sim_moody.on_nic = NULL;
        coll_sim_moody_init(&m->model, &m->sim_moody);
    } else if (m->row == &coll_dpml_model) {
        return coll_i_sim_machine_dpml(m);
    } else {
        if (!coll_plogp_load(&m->plogp, &m->words.plogp, why) ||
            !coll_plogp_load_dirty(&m->plogp_dirty, &m->words.plogp, why))
            return false;
        m->sim_plogp.clean = &m->plogp;
        m->sim_plogp.dirty = &m->plogp_dirty;
        if (m->words.plogp.dirty[0])
            coll_sim_plogp_pair_init(&m->model, &m->sim_plogp);
        else
            coll_sim_plogp_init(&m->model, &m->plogp);
    }
    return true;
}

/* Each rank of hockney, loggp and plogp has so many ports for sending, and as many for receiving, 1 …
 * COLL_PORTS_MOST; of dpml each rail of a node. Comes right behind coll_sim_machine_read. false, and
 * what is wrong. */
COLL_INLINE bool coll_sim_machine_ports(coll_sim_machine *m, uint32_t ports, coll_sentence *why)
{
    if (m->row == &coll_nbl_model || m->row == &coll_moody_model)
        return coll_refuse(
            why, "%s has no ports to have several of; hockney, loggp, plogp and dpml have",
            m->row->name);
    if (m->row == &coll_dpml_model && !m->nics)
        return coll_refuse(why, "the nodes of dpml have ports where gap or wire is not 0");
    if (m->nics)
        coll_topology_nics_ports(&m->topology, ports);
    else
        m->model.ports = ports;
    return true;
}

/* Ranks of a node copy through its memory, shm:a=…,b=…: another model than dpml and nbl, which
 * has been read, is between the nodes. false, and what is wrong. */
COLL_INLINE bool coll_sim_machine_share(coll_sim_machine *m, const char *text,
                                        coll_sentence *why)
{
    static const coll_model *const rows[] = {&coll_shm_model};
    char words[COLL_MACHINE_WORDS];
    if (!coll_machine_words(text, words, sizeof words, why) ||
        !coll_model_of("memory", rows, 1, words, why) ||
        !coll_parameters_read(&coll_shm_model, words, &m->memory, why))
        return false;
    if (m->row == &coll_dpml_model || m->row == &coll_nbl_model)
        return coll_refuse(why,
                           m->row == &coll_dpml_model
                               ? "dpml has copies of its own, a_shm and b_shm"
                               : "nodes of nbl have one rank each, and so no memory to share");
    if (m->adapter && m->nodes->count == 0)
        return coll_refuse(why,
                           "ranks that copy through a memory share a NIC: say which do, by "
                           "--nodes");
    coll_i_sim_machine_memory(m);
    return true;
}

/* NICs with a memory and a bus, which have been read. */
COLL_INLINE bool coll_i_sim_machine_adapter(coll_sim_machine *m, const uint8_t *on_nic,
                                            coll_sentence *why)
{
    bool hosts = true;
    for (uint32_t i = 0; i < m->ends; i++)
        hosts = hosts && on_nic[i] == COLL_SIM_ON_HOST;
    if (m->row == &coll_nbl_model || m->row == &coll_dpml_model)
        return coll_refuse(why,
                           "NICs with a memory and a bus go with hockney, loggp, plogp and "
                           "moody, not with %s",
                           m->row->name);
    if (m->nodes->most > 1 && !hosts)
        return coll_refuse(why,
                           "a NIC runs the part of one rank, and nodes have up to %u: "
                           "--placement host, or nodes of one rank",
                           m->nodes->most);
    m->network = m->model;
    coll_sim_adapter_init(&m->nic_adapter, &m->model, &m->nic_costs, &m->network, on_nic,
                          m->nodes, m->ends);
    m->adapter = &m->nic_adapter;
    return true;
}

/* The NICs of moody, which has been read and is the hosts, as moody:nic_f64_add; or of what has
 * been read, which is then the hosts and the network between NICs, as nic:elan3_f64_add. The
 * rank whose number outside of the plan is i runs where on_nic[i] says, COLL_SIM_ON_…; the
 * array, of `ends` bytes, must stay. Comes before coll_sim_machine_share. false, and what is
 * wrong. */
COLL_INLINE bool coll_sim_machine_nic(coll_sim_machine *m, const char *text,
                                      const uint8_t *on_nic, coll_sentence *why)
{
    static const coll_model *const rows[] = {&coll_moody_model, &coll_nic_model};
    const coll_model *row = coll_model_of("model of NICs", rows, 2, text, why);
    if (row == &coll_nic_model)
        return coll_parameters_read(row, text, &m->nic_costs, why) &&
               coll_i_sim_machine_adapter(m, on_nic, why);
    if (!row || !coll_parameters_read(row, text, &m->nic, why))
        return false;
    if (m->row != &coll_moody_model)
        return coll_refuse(why, "NICs go with hosts of moody, not of %s", m->row->name);
    m->sim_moody.nic = &m->nic;
    m->sim_moody.on_nic = on_nic;
    return true;
}

/* Writes the model with all its values, as coll_parameters_text does. */
COLL_INLINE size_t coll_sim_machine_text(const coll_sim_machine *m, char *text, size_t bytes)
{
    return coll_parameters_text(m->row, &m->words, text, bytes);
}

#endif /* COLL_LAB_SIM_MACHINE_H */
