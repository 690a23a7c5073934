/* coll/lab/tune.h — measures a machine: what messages, copies and reductions take over a transport
 *
 *   coll_bench bench;                                  // of each rank, all at the same time
 *   coll_bench_options options;
 *   coll_bench_options_init(&options);                 // 20 s, 2 %; see bench.h
 *   options.clock.now = my_nanoseconds;
 *   status = coll_bench_init(&bench, &transport, ctx, rank, p, tag, &options);
 *   if (status == COLL_OK)
 *       status = coll_calibrate(&bench, "mine", processors, machine);
 *   if (status == COLL_OK && rank == 0)
 *       coll_machine_file_write(machine, file);        // for coll sim --model @FILE
 *   coll_bench_free(&bench);
 *
 * The transport and the clock are the caller's; all ranks call it together. A machine is large: not on
 * a stack. Programs that run on it in practice have better things to do, so this is for once, and the file is
 * for later: lab/model/machine_file.h says what is in it. `coll calibrate` does it for the transports of
 * the library.
 *
 *   tune/sample.h          medians, how sure they are, outliers; lines
 *   tune/bench.h           ranks that do the same, over a transport and a clock
 *   tune/bench_messages.h  their messages, barriers, and what they tell each other
 *   tune/measure.h         one measurement, and when it is enough
 *   tune/clock_offsets.h   clocks that show different times; starting together
 *   tune/message_costs.h   P-LogP by Kielmann's method; LogGP and Hockney fitted to it
 *   tune/link_costs.h      links of a rank at once, pairs at once, permutations, barriers
 *   tune/local_costs.h     copies, reductions, serial reductions, noise
 *   tune/calibrate.h       all of these, and the models that follow
 *   tune/plan_times.h      plans, measured and predicted; from here on not included here, as these need the simulator
 *   tune/candidates.h      algorithms and parameters that there are for a problem
 *   tune/tuner.h           which of them is the fastest where: simulated, then measured
 *   tune/tuned_rules.h     rules from that
 *
 * Hosted: allocates; needs libm, stdio, stdlib and string.
 */
#ifndef COLL_LAB_TUNE_H
#define COLL_LAB_TUNE_H

#include "tune/calibrate.h"

#endif /* COLL_LAB_TUNE_H */
