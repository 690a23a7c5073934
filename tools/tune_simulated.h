/* tools/tune_simulated.h — what coll tune --simulate knows of a problem: all choices, on a machine in words */
#ifndef COLL_TOOLS_TUNE_SIMULATED_H
#define COLL_TOOLS_TUNE_SIMULATED_H

#include "coll/lab/tune/tuner.h"
#include "simulated.h"

/* Simulates all choices for a cell's problem, composite ones too, and fills the cell with what is near the best, and
 * what the tuner's rules choose. `capabilities`: as of coll_candidates_find. */
void tune_simulate_cell(struct simulated *on, unsigned capabilities, coll_sim *sim,
                        const coll_tuner *tuner, coll_tuner_cell *cell);

#endif /* COLL_TOOLS_TUNE_SIMULATED_H */
