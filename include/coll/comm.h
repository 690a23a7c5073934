/* coll/comm.h — the collectives: blocking, nonblocking, persistent
 *
 *   unsigned char memory[1 << 20];                     // scratch of running calls
 *   coll_comm comm;
 *   coll_comm_init(&comm, &my_transport, my_context, rank, p, memory, sizeof memory);
 *   coll_comm_set_cache(&comm, cache, sizeof cache);   // of COLL_CACHE_BYTES(n); optional
 *
 *   status = coll_allreduce(&comm, x, y, n, COLL_F64, COLL_SUM);            // blocking
 *
 *   coll_request call;                                                         // nonblocking
 *   status = coll_iallreduce(&comm, x, y, n, COLL_F64, COLL_SUM, &request);
 *   … status = coll_wait(&request);
 *
 *   status = coll_allreduce_init(&comm, x, y, n, COLL_F64, COLL_SUM, &request); // persistent
 *   for (…) {
 *       status = coll_start(&request);
 *       … status = coll_wait(&request);
 *   }
 *   coll_request_free(&request);
 *   coll_comm_free(&comm);
 *
 * Meanings are MPI's. Counts and displacements are in elements of `type`: a predefined type or
 * COLL_OPAQUE(bytes). `op` is a predefined operator or a user's (coll_comm_add_op). COLL_IN_PLACE
 * as `in` (scatter, scatterv: as `out`) means in place; for rooted collectives at the root
 * only. Any count may be 0, and a buffer of no elements NULL.
 *
 * All ranks of a communicator make the same calls in the same order, with matching arguments.
 * Each returns COLL_OK or an error. The nonblocking twin coll_iNAME returns at once, and the
 * persistent one coll_NAME_init does not even start: see coll_post and coll_request_init in
 * comm/request.h, which has coll_start, coll_test, coll_wait, coll_cancel and coll_request_free.
 * Any number of calls may be under way, and be waited for in any order. Buffers and tables are
 * the caller's, and are left alone until the call is done.
 *
 * An error in the arguments is found before anything is started. If it is one of those that all
 * ranks must give alike, all ranks find it, and may go on: COLL_ERR_COLLECTIVE, _ROOT, _TYPE, _OP
 * (of a predefined operator), _TAG, _IN_PLACE (but for rooted collectives), and what speaks against an
 * algorithm that was forced: _PARAM, _ORDER, _SHAPE, _GROUP, _NODES, _SHARED, _CAPABILITY, _BUILD,
 * _PROMISE (but with comm/multi_node.h). So is COLL_ERR_MISMATCH (comm/compare.h). COLL_ERR_BUSY says to come again, COLL_ERR_RANK that
 * this rank is no member.
 *
 * With any other error the communicator fails, as the other ranks may know nothing of it, have
 * started the call, and wait: a buffer or table that is missing (COLL_ERR_NULL, COLL_ERR_COUNTS), too
 * little memory (coll_comm_bytes tells before how much, coll_comm_set_allocator brings more), sizes,
 * graphs; what the transport says while a call runs; COLL_ERR_PEER; or a call that was cancelled.
 * coll_comm_abort is for all other reasons why a rank may stop. Then
 *   - all calls of the communicator on this rank have ended, with its error: nothing touches their
 *     buffers any more, and their output is undefined;
 *   - on the other ranks they end with COLL_ERR_PEER, in bounded time, as do those that begin later;
 *     without abort (transport.h) the others know nothing, and wait;
 *   - calls that were over stay what they were; waiting for the others returns at once;
 *   - it is fit only to be freed. Others that share its root communicator go on, and a new root
 *     communicator is not affected; see comm/communicator.h.
 * Counts of which some ranks' are too small may leave messages over. They are noticed at the latest when
 * their tag comes round, 32 calls later: COLL_ERR_SIZE at a rank that receives one, COLL_ERR_PEER at the others.
 *
 * Where the ranks of the transport share memory, calls of a communicator made by coll_comm_init may
 * use it (algorithms with COLL_NEEDS_SHARED), but for persistent ones. Calls follow each other
 * without a barrier: a part of that memory is used again when all ranks are done with it.
 *
 *   comm/move.h      barrier, bcast, gather, scatter, allgather, alltoall and their v forms
 *   comm/combine.h   reduce, allreduce, reduce_scatter, scan, exscan
 *   comm/multi_node.h     not included here: calls in levels, where ranks are on several nodes
 *   comm/settle.h         not included here: calls that come again settle on the fastest algorithm
 *   comm/scaled.h         not included here: averages, and sums of operands times factors of their ranks
 *   comm/order_free.h     not included here: sums of floats that are the same bits on any number of ranks
 *   comm/one_sum.h        not included here: any reduction, in one order of all operands of all ranks
 *   comm/tuna_alltoallv.h not included here: alltoallv in few rounds without padding, sizes first
 *   comm/combining_neighbors.h   nor this: neighbour collectives with tables, messages combined
 *   comm/recover.h        not included here: what the survivors do when a rank has died
 *   comm/compare.h        not included here: arguments are compared before data move, to find mistakes
 *   comm/explain.h        not included here: deadlines, and whom a call waits for, and why
 *   comm/published.h      not included here: the same in a file that `coll top` shows
 *   comm/trace_calls.h    not included here: calls among what a traced transport notes
 *   comm/communicator.h   communicators and parts of them, operators, choosing algorithms; tags
 *   comm/request.h        calls: one collective of one rank, from its arguments to its end
 *   comm/progress.h       how calls are prepared, started and moved on
 *   comm/prepared.h       what is kept of calls that are made again
 *   neighbor.h       the collectives along the edges of a graph
 */
#ifndef COLL_COMM_H
#define COLL_COMM_H

#include "comm/combine.h"
#include "comm/move.h"

#endif /* COLL_COMM_H */
