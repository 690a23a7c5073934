/* bench/reproduce/simulated.h — algorithms of the registry, run by the simulator
 *
 *   const coll_problem sum = simulated_problem(COLL_REDUCE, 31, 1);
 *   const uint32_t degree[COLL_PARAM_MAX] = {4};
 *   const coll_sim_options machine = simulated_options(&model);
 *   double us = simulated_us(&sum, "fnomial", degree, &machine);
 *
 * What cannot be simulated ends the program with a sentence.
 */
#ifndef COLL_BENCH_REPRODUCE_SIMULATED_H
#define COLL_BENCH_REPRODUCE_SIMULATED_H

#include "coll/lab/sim/simulation.h"

/* Of elements of 8 bytes, with an operator that commutes. */
coll_problem simulated_problem(coll_collective collective, uint32_t p, size_t count);

/* The plan of a row that is no composite algorithm; params NULL: the default ones. */
coll_plan simulated_plan(const coll_problem *problem, const char *row, const uint32_t *params);

/* Of a machine without noise and links. */
coll_sim_options simulated_options(const coll_cost_model *model);

/* Microseconds until the last rank has ended. */
double simulated_plan_us(const coll_plan *plan, const coll_sim_options *options);

/* The same of any row, composite algorithms too. */
double simulated_us(const coll_problem *problem, const char *row, const uint32_t *params,
                    const coll_sim_options *options);

/* Of a composite algorithm whose reductions and broadcasts within nodes are those of the row
 * `within`; NULL: the default ones. */
double simulated_composite_us(const coll_problem *problem, const char *row, const char *within,
                              const uint32_t *params, const coll_sim_options *options);

#endif /* COLL_BENCH_REPRODUCE_SIMULATED_H */
