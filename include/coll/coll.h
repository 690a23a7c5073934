/* coll/coll.h — collective algorithms: all of the library that needs no operating system, but
 * transports, and its manual
 *
 *   #include "coll.h"
 *   #include "transports/threads.h"           // or a transport of your own: transport.h
 *
 *   coll_comm comm;                                 // this rank's end of the group
 *   unsigned char memory[1 << 20];                  // scratch for calls
 *   unsigned char cache[COLL_CACHE_BYTES(8)];       // what is kept of 8 calls
 *   coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(world, rank), rank, p,
 *                  memory, sizeof memory);
 *   coll_comm_set_cache(&comm, cache, sizeof cache);   // optional: calls made again are short
 *
 *   double x[3], y[3];
 *   coll_status status = coll_allreduce(&comm, x, y, 3, COLL_F64, COLL_SUM);
 *   if (status < 0)
 *       puts(coll_status_text(status));
 *
 * There is nothing to build or link: the library is these headers. They need a C99 or C++11
 * compiler and no C library, allocate nothing, and have no state of their own. Large programs
 * compile them once: COLL_EXTERN, config.h.
 *
 * Three ways in
 *   calls        comm.h: MPI's collectives, blocking, nonblocking, persistent. The algorithm is
 *                chosen by rules, or by you
 *   executor     plan.h, executor.h, one of algos/: your plan, your memory, your loop. For
 *                firmware, and for libraries that have communicators of their own
 *   laboratory   lab/: plans proven, simulated, priced, written down for other programs (hosted)
 *
 * The headers, in the order in which to read them. Each begins with what it is for and how to
 * use it.
 *   config.h, types.h         knobs; status codes, collectives, element types, operators
 *   plan.h                    a problem, an algorithm for it, and both together
 *     plan/topo.h             pattern arithmetic: partitions, nodes, trees, meshes, foldings
 *     plan/graph.h            who is whose neighbour, for the neighbour collectives
 *     plan/action.h           send, receive, reduce … on refs instead of pointers
 *     plan/rank_map.h         which ranks of an outer plan the ranks of an inner one are
 *     plan/phase.h            an inner plan placed in an outer one; phases one after the other
 *     plan/composite.h        composite algorithms: in levels, within nodes and across them
 *     plan/compose.h          plans made of plans: in sequence, interleaved
 *     plan/pack.h             plans as bytes
 *     plan/peers.h            whom a rank exchanges messages with
 *     plan/placement.h        which ranks should run on the host, which on the network adapter
 *   algos/ring.h              an algorithm, as an example; the others are beside it
 *   executor.h                runs one rank's part of a plan
 *     executor/window.h       actions in flight, and which must wait for which
 *     executor/in_order.h     runs it one action after the other, with sends in flight
 *     executor/schedule.h     plans counted, written out
 *     executor/pending.h         what an engine waits for
 *   transport.h               what the library asks of a messaging layer
 *   reduce.h, softfloat.h     the predefined operators; floats by integers
 *   exact_sum.h               not included here: sums of floats without rounding
 *   select.h                  the rules by which an algorithm is chosen
 *   comm.h, neighbor.h        a function for each collective
 *     comm/communicator.h     groups of ranks, tags, user's operators
 *     comm/request.h          one collective, from its arguments to its end
 *     comm/progress.h         how it is prepared, started and moved on
 *     comm/dump.h             what a request waits for, in words
 *     comm/recover.h          not included here: survivors agree, and go on in a smaller communicator
 *     comm/reliable.h         nor this: bcast, reduce and allreduce that are right though ranks crash
 *     comm/prepared.h         what is kept of a call for those like it
 *     comm/arena.h            memory for scratch; an allocator
 *
 * Glossary
 *   problem         what is asked: collective, ranks, root, counts, in place or not, nodes, graph
 *   algorithm       a record: a name, its collectives, traits, parameters, and pure functions
 *   trait           what an algorithm needs of the problem or the transport, or what it promises
 *   plan            a problem, an algorithm, its parameters: validated, the same on every rank
 *   step            a number of a rank's part of a plan, which yields a few actions
 *   action          send, receive, receive and reduce, copy, reduce, notify, await, multicast, …
 *   space, ref      IN, OUT, SCRATCH (a rank's own), SHARED (a node's); and an offset in one of them
 *   block           a run of elements; a layout says where those of IN or OUT lie
 *   group           who takes part, and which rank of the transport each is
 *   node            ranks that share memory; intra-node: among them, inter-node: among nodes
 *   rank order      ranks renumbered node by node, where they are scattered over nodes
 *   schedule        the actions of one rank, written out in the caller's memory
 *   window          the actions of one rank in flight, and which must wait for which
 *   engine          runs one rank's part of a plan
 *   transport       the callbacks through which a messaging layer, or a NIC, is used
 *   tag             tells collectives apart that run at once over one transport
 *   zero copy       a message is combined or copied from where it lies: acquired, then released
 *   in-network      done by the network: a reduction, a barrier, a multicast
 *   request         what a caller waits for: one collective, from its arguments to its end
 *   communicator    a group of ranks with tags, memory and operators of its own
 *   root communicator  the one that was made from a transport; others are made from it
 *   phase           an inner plan placed among the ranks and the spaces of an outer one
 *   rank map        which ranks of the outer plan those of the inner one are, in one copy or more
 *   composition     the caller's plan of phases: a sequence, or an interleaving
 *   composite       an algorithm made of others: phases at levels, an algorithm bound to each
 *   workspace       the memory for the plan of a composite algorithm
 *   rule            for which problems which algorithm is taken; the first that fits
 *   identical       a reduction gives all ranks the same bits
 *   reproducible    operands are combined in an order that p and the parameters alone decide
 *   oversubscribed  more ranks than processors
 *
 * Not included here
 *   comm/multi_node.h         calls in levels, where ranks are on several nodes
 *   select/inter_node.h       rules for several nodes; select/intra_node.h, for ranks of one node
 *   transports/loopback.h     all ranks in one thread, deterministic
 *   transports/threads.h      a rank a thread (hosted: POSIX)
 *   transports/shm.h          a rank a process, on one machine (hosted: 64-bit Linux)
 *   transports/tcp.h          ranks on any machines, joined by TCP (hosted: POSIX)
 *   transports/mpi.h          ranks of an MPI program, over its messages (hosted; includes mpi.h)
 *   transports/bootstrap.h    how the ranks of a job find each other (hosted)
 *   transports/idle.h      spinning, yielding, sleeping; transports/liveness.h, who is alive;
 *                          transports/sleeper.h, a set of descriptors (hosted)
 *   algos/registry.h          the table of all algorithms, for tools and tests
 *   table.h, select/names.h   rules in words; words of users (hosted)
 *   lab/verify.h              proves a plan for all interleavings; lab/verify_grid.h, many plans
 *   lab/model.h, lab/sim.h    what a plan costs, by formulas and by simulation
 *   lab/tune.h                what a machine costs: measures it
 *   lab/export.h              plans written down for others
 */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include "comm.h"
#include "comm/dump.h"
#include "executor/schedule.h"
#include "neighbor.h"
#include "plan/compose.h"
#include "plan/composite.h"
#include "plan/pack.h"
#include "plan/placement.h"
#include "select.h"

#endif /* COLL_COLL_H */
