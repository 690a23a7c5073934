/* coll/lab/sim.h — how long would it take? A discrete-event simulator of plans
 *
 *   coll_sim_loggp loggp;                    // what a machine costs: here LogGP
 *   coll_cost_model model;
 *   coll_sim_loggp_init(&model, &loggp, &coll_loggp_loggopsim);
 *   coll_sim_options options;
 *   coll_sim_options_init(&options, &model);
 *   coll_sim sim;
 *   coll_sim_init(&sim);
 *   if (coll_sim_run(&sim, &plan, false, &options) == COLL_OK)
 *       printf("%g us, rank 3 after %g\n", coll_time_us(sim.makespan),
 *              coll_time_us(coll_sim_finish(&sim, 3)));
 *   coll_sim_free(&sim);
 *
 * Any plan runs, composed, built or replayed: step functions are asked for one step after the
 * other, as the executor asks them, and nothing is written down. So memory is that of the actions
 * in flight: 400 to 600 bytes a rank of a tree, 1 to 2 KB where many are. Time is counted in
 * integer picoseconds; the same numbers and the same seed give the same result on every machine.
 *
 * What is simulated
 *   A rank is an executor with a window (executor/window.h; the very same masks), a processor,
 *   a port for sending and a port for receiving. An action begins when no older unfinished one
 *   conflicts with it and the messages before it on its channel have begun. A send then waits for
 *   the processor and the sending port; a message that arrives waits for the processor and the
 *   receiving port, expected or not; copies, reductions and the combining of RECV_REDUCE wait for the processor.
 *   A processor that gets free begins what its rank has to do, with that which the operation just
 *   ended has made ready, and only then takes in a message: as a progress engine starts what it
 *   can before it polls. Who has waited longest goes first; of the actions that wait since one
 *   time, sends come before computations. A receive ends when its message has been taken in and is
 *   expected; messages of one channel keep their order. A send of at most `eager` bytes ends when
 *   the model says; a longer one when its message meets its receive. A multicast is one send that
 *   arrives everywhere; a network reduction ends for all members at once, a time after the last one came.
 *
 * A rank may have several ports (ports.h). Messages may go over the links of a topology, round those
 * that failed, by one of several ways (topologies.h, outages.h, routing.h), meet the traffic of others
 * there (traffic.h), and ranks may be on any of its places (mapping.h). Between ranks and the network
 * there may be NICs with a memory, a bus and a processor: adapter.h.
 *
 * How an engine of this kind gets through millions of messages a second
 *   queue.h     events in buckets, by the digits of their times: nothing is sorted
 *   state.h     a rank is two cache lines; slots are taken from a pool as they are needed
 *   inbox.h     messages are linked by number, and found without hashing where there are few
 *   world.h     a slot's end gets an event only if something waits for it
 *   engine.h    the ranks of the next few events are fetched before they are due
 *
 * To add a cost model: write the functions of coll_cost_model that it needs, as loggp.h does; each
 * says what an operation takes of its own ends, and knows nothing of the rest. Put what it wants to
 * know into a structure and a table of model/parameters.h, so that it can be written in words.
 *
 * Hosted: allocates; needs stdlib and string.
 */
#ifndef COLL_LAB_SIM_H
#define COLL_LAB_SIM_H

#include "sim/adapter.h"
#include "sim/hockney_costs.h"
#include "sim/loggp_costs.h"
#include "sim/machine.h"
#include "sim/mapping.h"
#include "sim/moody_costs.h"
#include "sim/nbl_costs.h"
#include "sim/plogp_costs.h"
#include "sim/real_record.h"
#include "sim/record.h"
#include "sim/shm_costs.h"
#include "sim/simulate.h"
#include "sim/svg.h"
#include "sim/topologies.h"
#include "sim/topology/nics.h"
#include "sim/trace.h"

#endif /* COLL_LAB_SIM_H */
