/* coll/coll.h — the whole library, and its manual
 *
 * Collective communication over any messaging layer. Three things are needed:
 *
 *   1. A transport: callbacks that send, receive and test (transport.h), or one that is shipped:
 *      transports/loopback.h (all ranks in one thread), transports/threads.h (one rank a thread).
 *   2. A communicator: this rank's number, how many there are, and memory for scratch.
 *   3. Calls, with MPI's meanings.
 *
 *          coll_comm comm;
 *          coll_status status = coll_comm_init(&comm, &my_transport, my_context, rank, p,
 *                                              memory, sizeof memory);
 *          if (status == COLL_OK)
 *              status = coll_allreduce(&comm, x, y, n, COLL_F64, COLL_SUM);
 *          if (status != COLL_OK)
 *              fprintf(stderr, "%s\n", coll_status_text(status));
 *
 * Nothing is allocated, nothing printed, no thread started. A status is 0 when done, positive while
 * something is under way, and negative after an error.
 *
 * To read further, in this order:
 *
 *   config.h      what can be configured, by macros
 *   types.h       status codes, collectives, element types, operators
 *   comm.h        the collectives (call.h: calls as values; communicator.h: communicators)
 *   select.h      which algorithm a call uses; registry.h: which ones there are
 *   transport.h   what a transport must do
 *   plan.h        problems, algorithms and plans, for those who run one algorithm by hand;
 *   request.h     … the executor that runs it, in the caller's memory;
 *   action.h      … and what it executes; topo.h: the arithmetic of patterns
 *   reduce.h      predefined operators; softfloat.h: IEEE 754 in integers
 *   compose.h     plans made of plans
 *   schedule.h    a plan written out, counted, replayed, packed
 *
 * Each can be included alone. Hosted programs also have verify.h and verify_grid.h, which prove
 * plans, and the transports; these are not included here.
 */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include "comm.h"
#include "compose.h"
#include "schedule.h"

#endif /* COLL_COLL_H */
