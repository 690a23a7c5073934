/* bench/reproduce/elan.h — the machine of Moody 2003 in the simulator: hosts and their NICs */
#ifndef COLL_BENCH_REPRODUCE_ELAN_H
#define COLL_BENCH_REPRODUCE_ELAN_H

#include "coll/plan/placement.h"
#include "coll/lab/sim/moody_costs.h"

#include "simulated.h"

/* Where ranks run; both: those between the root and the leaves on their NICs. */
typedef enum elan_place { ELAN_HOST, ELAN_NIC, ELAN_BOTH } elan_place;

enum { ELAN_RANKS = 4096 };

typedef struct elan {
    coll_sim_moody costs;
    coll_cost_model model;
    uint8_t on_nic[ELAN_RANKS];
} elan;

/* Puts the ranks of a plan at their places. */
static inline void elan_init(elan *at, const coll_moody_costs *host,
                             const coll_moody_costs *nic, elan_place place,
                             const coll_plan *plan)
{
    for (uint32_t rank = 0; rank < plan->problem.p; rank++)
        at->on_nic[rank] =
            place == ELAN_NIC ||
            (place == ELAN_BOTH && coll_placement_of(plan, rank) == COLL_INTERMEDIATE);
    at->costs.host = host;
    at->costs.nic = nic;
    at->costs.on_nic = at->on_nic;
    coll_sim_moody_init(&at->model, &at->costs);
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
    options = simulated_options(&at.model);
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
