/* coll/comm/tuna_alltoallv.h — alltoallv in few rounds without padding: sizes travel first
 *
 *     bytes = coll_tuna_alltoallv_bytes(&comm, 2, 0);        // of memory, the same on all ranks
 *     status = coll_tuna_alltoallv(&comm, in, in_counts, in_displs, out, out_counts, out_displs,
 *                                  COLL_F64, 2, 0, memory, bytes);
 *
 * Not included by comm.h. For many short blocks of very different sizes. A plan is pure, so
 * the rounds of algos/bruck_alltoallv.h send slots of one size. Here an exchange of one word a
 * block goes first, by the route by which the blocks will go (algos/tuna.h). After it each rank
 * knows the sizes of all blocks that pass it, and sends exactly these: messages of no elements are
 * not sent at all. So it costs the rounds twice, and saves all padding.
 *
 * `intra` and `inter` are the radices within nodes and across them (coll_comm_nodes; without, all
 * ranks are on one), 0 for two rounds on a level. With radices of the size of a level or more
 * its blocks go straight. Larger ones send fewer bytes in more messages.
 *
 * The sizes are compared with out_counts before any block is sent. A rank that does not agree finds
 * COLL_ERR_SIZE, its `out` is as it was, and the others end with COLL_ERR_PEER.
 *
 * All ranks give the same type, radices and bytes of memory; `memory` is the caller's while the
 * call runs. `in` may be COLL_IN_PLACE, on all ranks: in_counts and in_displs are not read then.
 * The calls within are persistent ones, with a tag: they block, and end with what ends one of them.
 * Of the arena they take at first 8 bytes for each block that is sent or received, and then at most
 * the bytes that are sent and received, in place once more those of `out`.
 *
 * All ranks find, before anything is sent, and may go on: COLL_ERR_TYPE; COLL_ERR_PARAM, if a radix
 * is 1; COLL_ERR_MEMORY, if `bytes` is too little; COLL_ERR_OVERFLOW, with more than
 * COLL_TUNA_RANKS ranks. Tables or memory that are missing (COLL_ERR_COUNTS, COLL_ERR_NULL), and an
 * arena that is too small, end the communicator. Over a transport without tags no other call may
 * run (COLL_ERR_BUSY).
 */
#ifndef COLL_COMM_TUNA_ALLTOALLV_H
#define COLL_COMM_TUNA_ALLTOALLV_H

#include "../algos/tuna.h"
#include "move.h"
#include "sized_call.h"

/* ---- alltoallv --------------------------------------------------------------------------------- */

/* The memory of a call, cut. */
typedef struct coll_i_tuna_memory {
    uint64_t *send, *get; /* sizes of the blocks to and from each rank */
    size_t *at;           /* where blocks lie in scratch */
    void *route;
    size_t route_bytes, bytes;
} coll_i_tuna_memory;

/* False: there is no such route. */
COLL_INLINE bool coll_i_tuna_memory_cut(coll_i_tuna_memory *cut, const coll_problem *problem,
                                        uint32_t intra, uint32_t inter, void *memory)
{
    coll_i_cutter cutter;
    cut->send = cut->get = NULL;
    cut->at = NULL;
    cut->route = NULL;
    cut->route_bytes = coll_tuna_route_bytes(problem, intra, inter);
    if (cut->route_bytes == 0)
        return false;
    cutter.at = (unsigned char *)memory;
    cutter.used = (0 - (uintptr_t)memory) % sizeof(uint64_t);
    cut->send = (uint64_t *)coll_i_cut(&cutter, problem->p, sizeof(uint64_t));
    cut->get = (uint64_t *)coll_i_cut(&cutter, problem->p, sizeof(uint64_t));
    cut->at = (size_t *)coll_i_cut(&cutter, coll_tuna_route_scratch(problem, intra, inter) + 1,
                                   sizeof(size_t));
    cut->route = coll_i_cut(&cutter, cut->route_bytes, 1);
    cut->bytes = cutter.used;
    return true;
}

/* A call's problem, but for its tables. */
COLL_INLINE void coll_i_tuna_problem(coll_problem *problem, const coll_comm *comm,
                                     bool in_place)
{
    coll_problem_init(problem, COLL_ALLTOALLV, comm->p, 0, 1);
    problem->flags = in_place ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
    if (comm->nodes)
        coll_i_nodes_assign(&problem->nodes, comm->nodes);
}

/* Bytes of memory for a call, in place or not, on any rank; 0: a radix is 1, there are more than
 * COLL_TUNA_RANKS ranks, or this one is none of them. O(ranks). */
COLL_INLINE size_t coll_tuna_alltoallv_bytes(const coll_comm *comm, uint32_t intra,
                                             uint32_t inter)
{
    coll_i_tuna_memory cut;
    coll_problem problem;
    if (!comm || comm->rank >= comm->p)
        return 0;
    coll_i_tuna_problem(&problem, comm, true);
    return coll_i_tuna_memory_cut(&cut, &problem, intra, inter, NULL)
               ? cut.bytes + sizeof(uint64_t) - 1
               : 0;
}

/* What is wrong with the arguments? *alone: other ranks may not find it. */
COLL_INLINE coll_status coll_i_tuna_check(const coll_comm *comm, const coll_args *args,
                                          uint32_t intra, uint32_t inter, const void *memory,
                                          size_t bytes, bool *alone)
{
    const bool in_place = args->in == COLL_IN_PLACE;
    const size_t needs = coll_tuna_alltoallv_bytes(comm, intra, inter);
    *alone = false;
    if (coll_type_bytes(args->type) == 0)
        return COLL_ERR_TYPE;
    if (intra == 1 || inter == 1)
        return COLL_ERR_PARAM;
    if (needs == 0)
        return COLL_ERR_OVERFLOW;
    if (bytes < needs)
        return COLL_ERR_MEMORY;
    *alone = true;
    if (args->out == COLL_IN_PLACE)
        return COLL_ERR_IN_PLACE;
    if (!args->out_counts || !args->out_displs ||
        (!in_place && (!args->in_counts || !args->in_displs)))
        return COLL_ERR_COUNTS;
    return memory ? COLL_OK : COLL_ERR_NULL;
}

/* The sizes, by the route of the blocks; then this rank knows where blocks will lie. COLL_ERR_SIZE:
 * another rank's are not those of out_counts. */
COLL_INLINE coll_status coll_i_tuna_sizes(coll_comm *comm, const coll_args *of,
                                          const coll_i_tuna_memory *cut,
                                          const coll_route *route)
{
    const bool in_place = of->in == COLL_IN_PLACE;
    coll_args args;
    for (uint32_t r = 0; r < comm->p; r++) {
        cut->send[r] = in_place ? of->out_counts[r] : of->in_counts[r];
        cut->get[r] = cut->send[r];
    }
    coll_i_moving(&args, COLL_ALLTOALL, in_place ? COLL_IN_PLACE : cut->send, cut->get, 1,
                  COLL_U64, 0);
    return coll_i_sized_words(comm, &args, route, cut->at, of->out_counts, comm->p);
}

/* coll_alltoallv, by messages of digits to the bases `intra` and `inter`: in_counts[i] elements at
 * in + in_displs[i] go to rank i, out_counts[i] elements from rank i come to out + out_displs[i]. */
COLL_INLINE coll_status coll_tuna_alltoallv(coll_comm *comm, const void *in,
                                            const size_t *in_counts, const size_t *in_displs,
                                            void *out, const size_t *out_counts,
                                            const size_t *out_displs, coll_type type,
                                            uint32_t intra, uint32_t inter, void *memory,
                                            size_t bytes)
{
    coll_i_tuna_memory cut;
    coll_problem problem;
    coll_route route;
    coll_sized_route sized;
    coll_args args;
    coll_status status = coll_i_sized_ready(comm);
    bool alone = true;
    if (status != COLL_OK)
        return status;
    coll_i_alltoallv_args(&args, in, in_counts, in_displs, out, out_counts, out_displs, type);
    status = coll_i_tuna_check(comm, &args, intra, inter, memory, bytes, &alone);
    if (status == COLL_OK) {
        coll_i_tuna_problem(&problem, comm, in == COLL_IN_PLACE);
        status = coll_i_tuna_memory_cut(&cut, &problem, intra, inter, memory)
                     ? coll_tuna_route(&route, &problem, comm->rank, intra, inter, cut.route,
                                       cut.route_bytes)
                     : COLL_ERR_OVERFLOW;
    }
    if (status == COLL_OK) {
        status = coll_i_tuna_sizes(comm, &args, &cut, &route);
        alone = !coll_i_sized_unsent(status);
    }
    if (status == COLL_OK) {
        sized.route = &route;
        sized.at = cut.at;
        status = coll_i_sized_run(comm, &args, &sized, NULL);
    }
    if (status != COLL_OK && alone)
        (void)coll_comm_abort(comm, status);
    return status;
}

#endif /* COLL_COMM_TUNA_ALLTOALLV_H */
