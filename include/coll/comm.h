/* coll/comm.h — the collectives: blocking, nonblocking, persistent
 *
 *   unsigned char memory[1 << 20];                     // scratch of running calls
 *   coll_comm comm;
 *   coll_comm_init(&comm, &my_transport, my_context, rank, p, memory, sizeof memory);
 *
 *   status = coll_allreduce(&comm, x, y, n, COLL_F64, COLL_SUM);            // blocking
 *
 *   coll_call call;                                                         // nonblocking
 *   status = coll_iallreduce(&comm, x, y, n, COLL_F64, COLL_SUM, &call);
 *   … status = coll_wait(&call);
 *
 *   status = coll_allreduce_init(&comm, x, y, n, COLL_F64, COLL_SUM, &call); // persistent
 *   for (…) {
 *       status = coll_start(&call);
 *       … status = coll_wait(&call);
 *   }
 *   coll_free(&call);
 *   coll_comm_free(&comm);
 *
 * Meanings are MPI's. Counts and displacements are in elements of `type`: a predefined type or
 * COLL_OPAQUE(bytes). `op` is a predefined operator or a user's (coll_comm_add_op). COLL_IN_OUT
 * as `in` (scatter, scatterv: as `out`) means in place; for rooted collectives at the root
 * only. Any count may be 0, and a buffer of no elements NULL.
 *
 * All ranks of a communicator make the same calls in the same order, with matching arguments.
 * Each returns COLL_OK or an error. The nonblocking twin coll_iNAME returns at once, and the
 * persistent one coll_NAME_init does not even start: see coll_begin and coll_prepare in call.h,
 * which has coll_start, coll_test, coll_wait, coll_cancel and coll_free. Any number of calls
 * may be under way, and be waited for in any order. Buffers and tables are the caller's, and
 * are left alone until the call is done.
 *
 * An error in the arguments is found before anything is started. A call that fails later (the
 * transport's error, COLL_ERR_PEER) has cancelled its operations, its output is undefined, and
 * the communicator is fit only to be freed.
 *
 * Where the ranks of the transport share memory, calls of a communicator made by coll_comm_init may
 * use it (algorithms with COLL_NEEDS_SHARED), but for persistent ones. Calls follow each other
 * without a barrier: a part of that memory is used again when all ranks are done with it.
 *
 *   comm/move.h      barrier, bcast, gather, scatter, allgather, alltoall and their v forms
 *   comm/combine.h   reduce, allreduce, reduce_scatter, scan, exscan
 *   comm/nodes.h     not included here: calls in levels, where ranks are on several nodes
 *   communicator.h   communicators and parts of them, operators, choosing algorithms; tags
 *   call.h           calls and how they progress; how much of the arena they take
 *   neighbor.h       the collectives along the edges of a graph
 */
#ifndef COLL_COMM_H
#define COLL_COMM_H

#include "comm/combine.h"
#include "comm/move.h"

#endif /* COLL_COMM_H */
