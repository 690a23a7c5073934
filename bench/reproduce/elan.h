/* bench/reproduce/elan.h — the machine of Moody 2003 in the simulator: hosts, their NICs, and
 * the buses between them (lab/sim/adapter.h)
 *
 * A crossing of a bus takes half of what L of hosts is more than that of NICs, which is the
 * network's. What C of NICs is more than that of hosts is their meetings: operand and words
 * cross, the NIC begins after `post`, the result crosses, the host notices after `tell`. How
 * these two share what the crossings leave is fitted, as of coll_nic_elan3_…, so that half of
 * it is seen in trees of both on 32 nodes (section 5.2.2); nothing else is.
 */
#ifndef COLL_BENCH_REPRODUCE_ELAN_H
#define COLL_BENCH_REPRODUCE_ELAN_H

#include "coll/plan/placement.h"
#include "coll/lab/sim/moody_costs.h"

#include "simulated.h"

/* Where ranks run; both: those between the root and the leaves on their NICs; action: all on
 * their NICs, and hosts reduce for them what they reduce faster. */
typedef enum elan_place { ELAN_HOST, ELAN_NIC, ELAN_BOTH, ELAN_ACTION } elan_place;

enum { ELAN_RANKS = 4096 };

typedef struct elan {
    coll_moody_costs host;
    coll_nic_costs nic;
    coll_sim_moody costs;
    coll_cost_model network, model;
    coll_sim_adapter adapter;
    uint8_t on_nic[ELAN_RANKS];
} elan;

/* NICs with such costs, of hosts with such. */
static inline coll_nic_costs elan_nic_of(const coll_moody_costs *host,
                                         const coll_moody_costs *nic)
{
    const coll_nic_costs *elan3 = &coll_nic_elan3_f64_add;
    const double begins = elan3->post_us / (elan3->post_us + elan3->tell_us);
    coll_nic_costs costs = *elan3;
    double meeting;
    costs.bus_us = host->L_us > nic->L_us ? (host->L_us - nic->L_us) / 2 : 0;
    meeting = nic->C_us - host->C_us - 2 * costs.bus_us;
    meeting = meeting > 0 ? meeting : 0;
    costs.post_us = begins * meeting;
    costs.tell_us = meeting - costs.post_us;
    costs.r_us = nic->r_us;
    costs.c1_us = nic->c1_us;
    costs.c2_us = nic->c2_us;
    costs.c4_us = nic->c4_us;
    costs.c8_us = nic->c8_us;
    return costs;
}

/* Puts the ranks of a plan at their places. */
static inline void elan_init(elan *at, const coll_moody_costs *host,
                             const coll_moody_costs *nic, elan_place place,
                             const coll_plan *plan)
{
    for (uint32_t rank = 0; rank < plan->problem.p; rank++)
        at->on_nic[rank] =
            place == ELAN_ACTION ? COLL_SIM_ON_BOTH
            : place == ELAN_NIC ||
                    (place == ELAN_BOTH && coll_placement_of(plan, rank) == COLL_INTERMEDIATE)
                ? COLL_SIM_ON_NIC
                : COLL_SIM_ON_HOST;
    at->nic = elan_nic_of(host, nic);
    at->host = *host;
    at->host.L_us = host->L_us - 2 * at->nic.bus_us; /* from NIC to NIC */
    at->costs.host = at->costs.nic = &at->host;
    at->costs.on_nic = NULL;
    coll_sim_moody_init(&at->network, &at->costs);
    coll_sim_adapter_init(&at->adapter, &at->model, &at->nic, &at->network, at->on_nic, NULL,
                          plan->problem.p);
}

/* For a simulation of it, without noise. */
static inline coll_sim_options elan_options(const elan *at)
{
    coll_sim_options options = simulated_options(&at->model);
    options.adapter = &at->adapter;
    return options;
}

/* A reduction of M elements on P nodes by a row with two parameters at most. */
static inline coll_plan elan_plan(uint32_t P, uint32_t M, const char *row, uint32_t f,
                                  uint32_t second)
{
    const coll_problem problem = simulated_problem(COLL_REDUCE, P, M);
    uint32_t params[COLL_PARAM_MAX] = {0};
    params[0] = f;
    params[1] = second;
    return simulated_plan(&problem, row, params);
}

static inline double elan_us(const coll_moody_costs *host, const coll_moody_costs *nic,
                             elan_place place, const coll_plan *plan)
{
    static elan at;
    coll_sim_options options;
    elan_init(&at, host, nic, place, plan);
    options = elan_options(&at);
    return simulated_plan_us(plan, &options);
}

/* The same of an f-nomial tree. */
static inline double elan_fnomial_us(const coll_moody_costs *host, const coll_moody_costs *nic,
                                     elan_place place, uint32_t P, uint32_t f, uint32_t M)
{
    const coll_plan plan = elan_plan(P, M, "fnomial", f, 0);
    return elan_us(host, nic, place, &plan);
}

#endif /* COLL_BENCH_REPRODUCE_ELAN_H */
