/* coll/coll.h — collective algorithms: all of the library that needs no operating system, but
 * transports, and its manual
 *
 *   #include "coll/coll.h"
 *   #include "coll/transports/threads.h"           // or a transport of your own: transport.h
 *
 *   coll_comm comm;                                 // this rank's end of the group
 *   unsigned char memory[1 << 20];                  // scratch for calls
 *   coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(world, rank), rank, p,
 *                  memory, sizeof memory);
 *
 *   double x[3], y[3];
 *   coll_status status = coll_allreduce(&comm, x, y, 3, COLL_F64, COLL_SUM);
 *   if (status < 0)
 *       puts(coll_status_text(status));
 *
 * There is nothing to build or link: the library is these headers. They need a C99 or C++11
 * compiler and no C library, allocate nothing, and have no state of their own.
 *
 * Three ways to use them
 *   calls        comm.h: MPI's collectives, blocking, nonblocking, persistent. The algorithm is
 *                chosen by rules, or by you
 *   executor     plan.h and request.h: your plan, your memory, your loop. For firmware, and for
 *                libraries that have communicators of their own
 *   algorithms   plan.h and algos/: what each rank sends, receives and reduces at each step, as
 *                plain data, to be lowered to hardware, simulated, drawn or proven
 *
 * The headers, in the order in which to read them. Each begins with what it is for and how to
 * use it.
 *   config.h         knobs
 *   types.h          status codes, collectives, element types, operators
 *   topo.h           pattern arithmetic: partitions, trees, foldings
 *   graph.h          who is whose neighbour, for the neighbour collectives
 *   action.h         send, receive, reduce … on refs instead of pointers
 *   plan.h           a problem, an algorithm for it, and both together; groups; what IN and OUT
 *                    hold
 *   algos/ring.h     an algorithm, as an example; the others are beside it
 *   select.h         the rules by which one is chosen
 *   compose.h        plans made of plans
 *   build.h          algorithms made of others: in levels, within nodes and across them
 *   team.h           which ranks meet in the network
 *   schedule.h       plans counted, written out, replayed
 *   pack.h           plans as bytes
 *   placement.h      which ranks of a plan should run on the host, which on the network adapter
 *   transport.h      what the library asks of a messaging layer
 *   reduce.h         the predefined operators; softfloat.h adds floats by integers
 *   window.h         actions in flight, and which must wait for which
 *   request.h        the executor: runs one rank's part of a plan
 *   arena.h          memory for scratch
 *   communicator.h   groups of ranks, tags, user's operators
 *   call.h           one collective, from its arguments to its end
 *   comm.h           a function for each collective; neighbor.h, those of neighbours
 *
 * Not included here
 *   registry.h              the table of all algorithms, for tools and tests
 *   comm/nodes.h            calls in levels, where ranks are on several nodes; select/nodes.h, its rules
 *   transports/loopback.h   all ranks in one thread, deterministic
 *   transports/threads.h    a rank a thread (hosted: POSIX)
 *   transports/shm.h        a rank a process, on one machine (hosted: 64-bit Linux)
 *   verify.h                proves a plan for all interleavings; verify_grid.h, many plans (hosted)
 *   names.h, table.h        words of users; rules in words (hosted)
 *   model.h, sim.h          what a plan costs, by formulas and by simulation (hosted)
 *   export.h                plans written down for others (hosted)
 */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include "build.h"
#include "comm.h"
#include "compose.h"
#include "neighbor.h"
#include "pack.h"
#include "placement.h"
#include "schedule.h"
#include "select.h"
#include "team.h"

#endif /* COLL_COLL_H */
