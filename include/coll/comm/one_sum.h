/* coll/comm/one_sum.h — reductions in one order, whatever the number of ranks
 *
 *     // rank r has counts[r] operands, each a vector of n elements; behind those of rank r − 1
 *     status = coll_one_sum_allreduce(&comm, counts, x, y, n, COLL_F64, COLL_SUM, memory, bytes);
 *
 * Not included by comm.h. All operands of all ranks are numbered, and combined in the order of one_sum_tree.h,
 * which depends on these numbers alone. So the result has the same bits for any number of ranks that share
 * the same operands in the same order, any algorithm, any size of messages and any nodes. Any predefined
 * operator and type; and none needs to commute, as operands stay in order. Rounding is as in any sum: exact
 * ones that also do not mind the order are those of order_free.h.
 *
 * A rank computes the blocks among its own operands. If each has one block of the same size, and p
 * is one of 2, 3, 4, 6, 7, 8, 12, 14 … (coll_i_one_sum_folds), recursive doubling and halving combine
 * in the order of the tree: allreduces, and long reduces, are ordinary ones by these. Otherwise ranks
 * exchange blocks by the communicator's collectives, by whatever algorithms it takes. Short vectors
 * are gathered, and merged by all who want the result. Of long ones each rank gets the blocks of one
 * section by an alltoallv, and merges these: the traffic of a reduce_scatter, if each rank has as
 * many operands, a power of two; with other numbers up to twice the logarithm of that number as much.
 *
 * All ranks give the same counts, count, type, operator, root and bytes of memory; `counts` has comm.p entries, or
 * is NULL: one operand each. `in` has this rank's operands, one behind the other, and is no part of `out`
 * (COLL_ERR_IN_PLACE). `memory` is the
 * caller's, as much as coll_one_sum_bytes says, while the call runs. Calls block, and end with what
 * ends one of those within. All ranks find, before anything is sent: COLL_ERR_TYPE, COLL_ERR_OP, COLL_ERR_ROOT;
 * COLL_ERR_MEMORY, if memory is less; COLL_ERR_SIZE, if nobody has an operand; COLL_ERR_OVERFLOW, with 2⁴⁸
 * operands or more, or more bytes than SIZE_MAX. A buffer that is missing (COLL_ERR_NULL), or in place, ends
 * the communicator. Over a transport without tags no other call may run (COLL_ERR_BUSY).
 */
#ifndef COLL_COMM_ONE_SUM_H
#define COLL_COMM_ONE_SUM_H

#include "../algos/rabenseifner.h"
#include "../algos/rabenseifner_reduce.h"
#include "../algos/recursive_multiplying.h"
#include "../reduce.h"
#include "move.h"
#include "one_sum_blocks.h"

enum {
    COLL_I_ONE_SUM_HALVES =
        1 << 19, /* bytes of a vector that two ranks share out, unless they read in place */
    COLL_I_ONE_SUM_SETTLED =
        1 << 16 /* no candidate of settle.h: plans that are kept for these calls */
};

/* Bytes of memory that a call of p ranks needs, whichever it is; 0: no such type, or more than SIZE_MAX. `count`:
 * elements of an operand (of coll_one_sum_reduce_scatter_block: p times those of a block). */
COLL_INLINE size_t coll_one_sum_bytes(const size_t *counts, uint32_t p, size_t count,
                                      coll_type type)
{
    const size_t elem = type < COLL_TYPES ? coll_type_bytes(type) : 0;
    uint64_t first, n, blocks, most = 0, vectors;
    size_t bytes;
    if (elem == 0 || (uint64_t)p * (4 * sizeof(size_t)) > SIZE_MAX / 4 ||
        !coll_i_one_sum_count(counts, p, 0, &first, &n, &blocks))
        return 0;
    for (uint32_t r = 0; r < p; r++) {
        const uint64_t its = coll_i_one_sum_operands(counts, r);
        const uint64_t here = coll_i_one_sum_blocks(first, its);
        most = here > most ? here : most;
        first += its;
    }
    bytes = 4 * p * sizeof(size_t) + 64 +
            coll_i_one_sum_depth(n) * coll_i_one_sum_piece(count, elem);
    if (count > (SIZE_MAX - bytes) / 2 / elem)
        return 0;
    vectors = most + blocks;
    if (coll_i_one_sum_is_long(p, blocks, count, elem)) {
        /* packed blocks, those of a section, results for all */
        vectors = most * p + blocks + p;
        count = count / p + 1; /* a section at the most */
    }
    if (vectors > (SIZE_MAX - bytes) / (count ? count : 1) / elem)
        return 0;
    return bytes + (size_t)vectors * count * elem;
}

/* ---- exchanges --------------------------------------------------------------------------------- */

/* All blocks of whole vectors, to all ranks, or to the root. */
COLL_INLINE coll_status coll_i_one_sum_gather(coll_i_one_sum_call *it, uint32_t root)
{
    coll_comm *comm = it->comm;
    uint64_t first = 0;
    size_t at = 0;
    coll_i_one_sum_own(it, 0, it->count, it->packed);
    for (uint32_t r = 0; r < comm->p; r++) {
        const uint64_t its = coll_i_one_sum_operands(it->counts, r);
        it->get[r] = (size_t)coll_i_one_sum_blocks(first, its) * it->count;
        it->get_at[r] = at;
        at += it->get[r];
        first += its;
    }
    if (root == COLL_RANK_NONE)
        return coll_allgatherv(comm, it->packed, it->get[comm->rank], it->parts, it->get,
                               it->get_at, it->type);
    return coll_gatherv(comm, it->packed, it->get[comm->rank], it->parts, it->get, it->get_at,
                        it->type, root);
}

/* All blocks of this rank's section. */
COLL_INLINE coll_status coll_i_one_sum_scatter(coll_i_one_sum_call *it)
{
    coll_comm *comm = it->comm;
    const uint32_t p = comm->p;
    const size_t here = coll_i_one_sum_section(it->count, p, comm->rank + 1) -
                        coll_i_one_sum_section(it->count, p, comm->rank);
    const bool as_is = coll_i_one_sum_operands(it->counts, comm->rank) == 1;
    uint64_t first = 0;
    size_t at = 0, packed = 0;
    for (uint32_t r = 0; r < p; r++) {
        const uint64_t its = coll_i_one_sum_operands(it->counts, r);
        const size_t from = coll_i_one_sum_section(it->count, p, r),
                     n = coll_i_one_sum_section(it->count, p, r + 1) - from;
        it->get[r] = (size_t)coll_i_one_sum_blocks(first, its) * here;
        it->get_at[r] = at;
        it->send[r] = (size_t)it->mine * n;
        it->send_at[r] = as_is ? from : packed;
        if (!as_is)
            coll_i_one_sum_own(it, from, n, it->packed + packed * it->elem_bytes);
        at += it->get[r];
        packed += it->send[r];
        first += its;
    }
    return coll_alltoallv(comm, as_is ? it->in : it->packed, it->send, it->send_at, it->parts,
                          it->get, it->get_at, it->type);
}

/* The sections of the result, of all ranks, to all, or to the root. */
COLL_INLINE coll_status coll_i_one_sum_collect(coll_i_one_sum_call *it, uint32_t root)
{
    coll_comm *comm = it->comm;
    const uint32_t p = comm->p;
    for (uint32_t r = 0; r < p; r++) {
        it->get_at[r] = coll_i_one_sum_section(it->count, p, r);
        it->get[r] = coll_i_one_sum_section(it->count, p, r + 1) - it->get_at[r];
    }
    coll_i_one_sum_merge(it, it->get[comm->rank], 0, it->get[comm->rank], COLL_I_ONE_SUM_ALL, 0,
                         it->results);
    if (root == COLL_RANK_NONE)
        return coll_allgatherv(comm, it->results, it->get[comm->rank], it->out, it->get,
                               it->get_at, it->type);
    return coll_gatherv(comm, it->results, it->get[comm->rank], it->out, it->get, it->get_at,
                        it->type, root);
}

/* Each rank's prefix of this section, to that rank. */
COLL_INLINE coll_status coll_i_one_sum_return(coll_i_one_sum_call *it, bool before)
{
    coll_comm *comm = it->comm;
    const uint32_t p = comm->p;
    const size_t here = coll_i_one_sum_section(it->count, p, comm->rank + 1) -
                        coll_i_one_sum_section(it->count, p, comm->rank);
    const bool none = before && it->first == 0; /* nothing comes before this rank */
    uint64_t first = 0;
    coll_i_one_sum_merge(it, here, 0, here,
                         before ? COLL_I_ONE_SUM_EACH_BEFORE : COLL_I_ONE_SUM_EACH_UP_TO, 0,
                         it->results);
    for (uint32_t r = 0; r < p; r++) {
        const uint64_t up_to = first + coll_i_one_sum_operands(it->counts, r);
        it->send[r] = (before ? first : up_to) > 0 ? here : 0;
        it->send_at[r] = r * here;
        it->get_at[r] = coll_i_one_sum_section(it->count, p, r);
        it->get[r] = coll_i_one_sum_section(it->count, p, r + 1) - it->get_at[r];
        if (none ||
            (!before && it->first == 0 && coll_i_one_sum_operands(it->counts, comm->rank) == 0))
            it->get[r] = 0;
        first = up_to;
    }
    return coll_alltoallv(comm, it->results, it->send, it->send_at, it->out, it->get,
                          it->get_at, it->type);
}

/* ---- where an ordinary reduction has the tree's order ------------------------------------------- */

/* The algorithm that combines the ranks' only blocks in this order; NULL: there is none, or another way takes less
 * time. The same on all ranks. */
COLL_INLINE const coll_algorithm *coll_i_one_sum_algorithm(const coll_i_one_sum_call *it,
                                                           bool rooted)
{
    const uint32_t p = it->comm->p;
    const uint64_t each = coll_i_one_sum_operands(it->counts, 0);
    if (p < 2 || !coll_i_one_sum_folds(p) || each == 0 || (each & (each - 1)) != 0)
        return NULL;
    for (uint32_t r = 1; r < p; r++)
        if (coll_i_one_sum_operands(it->counts, r) != each)
            return NULL;
    if (!coll_i_one_sum_is_long(p, it->blocks, it->count, it->elem_bytes))
        return rooted ? NULL : &coll_recursive_doubling_allreduce;
    if (p == 2 && !rooted &&
        (it->comm->transport->zero_copy || it->count < COLL_I_ONE_SUM_HALVES / it->elem_bytes))
        return &coll_recursive_doubling_allreduce;
    return rooted ? &coll_rabenseifner_reduce : &coll_rabenseifner_allreduce;
}

/* An ordinary reduction by this algorithm, whatever the communicator would choose. */
COLL_INLINE coll_status coll_i_one_sum_ordinary(coll_i_one_sum_call *it,
                                                const coll_algorithm *algorithm,
                                                coll_operator op, uint32_t root)
{
    coll_comm *comm = it->comm;
    const bool rooted = root != COLL_RANK_NONE;
    coll_choice *choice = &comm->choice[rooted ? COLL_REDUCE : COLL_ALLREDUCE];
    const coll_algorithm *chosen = choice->algorithm;
    const uint32_t param = choice->param[0], settled = comm->settled;
    const void *in = it->in;
    coll_request request;
    coll_args args;
    coll_status status;
    if (coll_i_one_sum_operands(it->counts, comm->rank) > 1) {
        coll_i_one_sum_own(it, 0, it->count, it->packed);
        in = it->packed;
    }
    coll_i_reducing(&args, rooted ? COLL_REDUCE : COLL_ALLREDUCE, in, it->out, it->count,
                    it->type, op, rooted ? root : 0);
    choice->algorithm = algorithm;
    choice->param[0] = 2;
    comm->settled = COLL_I_ONE_SUM_SETTLED;
    status = coll_post(comm, &args, &request);
    choice->algorithm = chosen;
    choice->param[0] = param;
    comm->settled = settled;
    return status == COLL_OK ? coll_wait(&request) : status;
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* Looks at the arguments, and lays out the memory. */
COLL_INLINE coll_status coll_i_one_sum_open(coll_i_one_sum_call *it, coll_comm *comm,
                                            const size_t *counts, const void *in, void *out,
                                            size_t count, coll_type type, coll_operator op,
                                            bool has_out, void *memory, size_t bytes)
{
    const size_t needs = comm ? coll_one_sum_bytes(counts, comm->p, count, type) : 0;
    unsigned char *at = (unsigned char *)memory;
    uint64_t operands;
    coll_status status;
    if (!comm)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    status = coll_op_builtin(&it->op, op, type);
    if (status != COLL_OK)
        return status;
    if (needs == 0)
        return COLL_ERR_OVERFLOW;
    if (bytes < needs)
        return COLL_ERR_MEMORY;
    it->comm = comm;
    it->counts = counts;
    it->in = (const unsigned char *)in;
    it->out = (unsigned char *)out;
    it->count = count;
    it->type = type;
    it->elem_bytes = coll_type_bytes(type);
    (void)coll_i_one_sum_count(counts, comm->p, comm->rank, &it->first, &operands, &it->blocks);
    it->mine = coll_i_one_sum_blocks(it->first, coll_i_one_sum_operands(counts, comm->rank));
    if (operands == 0)
        return COLL_ERR_SIZE;
    if (in == COLL_IN_PLACE)
        status = COLL_ERR_IN_PLACE;
    else if (!memory || (count > 0 && ((it->mine > 0 && !in) || (has_out && !out))))
        status = COLL_ERR_NULL;
    if (status != COLL_OK) {
        (void)coll_comm_abort(comm, status);
        return status;
    }
    at += (0 - (uintptr_t)at) % 32;
    it->send = (size_t *)(void *)at;
    it->send_at = it->send + comm->p;
    it->get = it->send_at + comm->p;
    it->get_at = it->get + comm->p;
    it->room = (unsigned char *)(it->get_at + comm->p);
    it->room += (0 - (uintptr_t)it->room) % 32;
    it->piece = coll_i_one_sum_piece(count, it->elem_bytes);
    it->packed = it->room + coll_i_one_sum_depth(operands) * it->piece;
    if (coll_i_one_sum_is_long(comm->p, it->blocks, count, it->elem_bytes)) {
        const size_t section = (count / comm->p + 1) * it->elem_bytes;
        it->parts = it->packed + (size_t)it->mine * comm->p * section;
        it->results = it->parts + (size_t)it->blocks * section;
    } else {
        it->parts = it->packed + (size_t)it->mine * count * it->elem_bytes;
        it->results = NULL;
    }
    return COLL_OK;
}

/* What the ranks get. */
typedef enum coll_i_one_sum_kind {
    COLL_I_ONE_SUM_REDUCE, /* all, or the root */
    COLL_I_ONE_SUM_SCATTER,
    COLL_I_ONE_SUM_SCAN,
    COLL_I_ONE_SUM_EXSCAN
} coll_i_one_sum_kind;

/* A call that is open. */
COLL_INLINE coll_status coll_i_one_sum_run(coll_i_one_sum_call *it, coll_i_one_sum_kind kind,
                                           coll_operator op, uint32_t root)
{
    const uint32_t rank = it->comm->rank, p = it->comm->p;
    const coll_algorithm *ordinary = kind == COLL_I_ONE_SUM_REDUCE
                                         ? coll_i_one_sum_algorithm(it, root != COLL_RANK_NONE)
                                         : NULL;
    const bool cuts = coll_i_one_sum_is_long(p, it->blocks, it->count, it->elem_bytes);
    const size_t section = kind == COLL_I_ONE_SUM_SCATTER ? it->count / p : it->count;
    coll_status status;
    if (ordinary)
        return coll_i_one_sum_ordinary(it, ordinary, op, root);
    status = cuts ? coll_i_one_sum_scatter(it) : coll_i_one_sum_gather(it, root);
    if (status != COLL_OK)
        return status;
    if (cuts && kind == COLL_I_ONE_SUM_REDUCE)
        return coll_i_one_sum_collect(it, root);
    if (cuts && kind != COLL_I_ONE_SUM_SCATTER)
        return coll_i_one_sum_return(it, kind == COLL_I_ONE_SUM_EXSCAN);
    if (root == COLL_RANK_NONE || root == rank)
        coll_i_one_sum_merge(it, cuts ? section : it->count,
                             kind == COLL_I_ONE_SUM_SCATTER && !cuts ? rank * section : 0,
                             section,
                             kind == COLL_I_ONE_SUM_SCAN     ? COLL_I_ONE_SUM_UP_TO
                             : kind == COLL_I_ONE_SUM_EXSCAN ? COLL_I_ONE_SUM_BEFORE
                                                             : COLL_I_ONE_SUM_ALL,
                             rank, it->out);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_one_sum_call_of(coll_comm *comm, const size_t *counts,
                                               const void *in, void *out, size_t count,
                                               coll_type type, coll_operator op,
                                               coll_i_one_sum_kind kind, uint32_t root,
                                               void *memory, size_t bytes)
{
    coll_i_one_sum_call it;
    const bool has_out = root == COLL_RANK_NONE || (comm && root == comm->rank);
    coll_status status =
        comm && root != COLL_RANK_NONE && root >= comm->p ? COLL_ERR_ROOT : COLL_OK;
    if (status == COLL_OK)
        status = coll_i_one_sum_open(&it, comm, counts, in, out, count, type, op, has_out,
                                     memory, bytes);
    return status == COLL_OK ? coll_i_one_sum_run(&it, kind, op, root) : status;
}

/* On every rank: out = all operands of all ranks, combined. */
COLL_INLINE coll_status coll_one_sum_allreduce(coll_comm *comm, const size_t *counts,
                                               const void *in, void *out, size_t count,
                                               coll_type type, coll_operator op, void *memory,
                                               size_t bytes)
{
    return coll_i_one_sum_call_of(comm, counts, in, out, count, type, op, COLL_I_ONE_SUM_REDUCE,
                                  COLL_RANK_NONE, memory, bytes);
}

/* The same at the root alone; elsewhere `out` is not used. */
COLL_INLINE coll_status coll_one_sum_reduce(coll_comm *comm, const size_t *counts,
                                            const void *in, void *out, size_t count,
                                            coll_type type, coll_operator op, uint32_t root,
                                            void *memory, size_t bytes)
{
    if (root == COLL_RANK_NONE)
        return COLL_ERR_ROOT;
    return coll_i_one_sum_call_of(comm, counts, in, out, count, type, op, COLL_I_ONE_SUM_REDUCE,
                                  root, memory, bytes);
}

/* On every rank: out = its block of the combined operands, `count` elements; an operand has a block for each
 * rank. */
COLL_INLINE coll_status coll_one_sum_reduce_scatter_block(coll_comm *comm, const size_t *counts,
                                                          const void *in, void *out,
                                                          size_t count, coll_type type,
                                                          coll_operator op, void *memory,
                                                          size_t bytes)
{
    if (comm && comm->p > 0 && count > SIZE_MAX / comm->p)
        return COLL_ERR_OVERFLOW;
    return coll_i_one_sum_call_of(comm, counts, in, out, comm ? count * comm->p : 0, type, op,
                                  COLL_I_ONE_SUM_SCATTER, COLL_RANK_NONE, memory, bytes);
}

/* On every rank: out = the operands up to its own last one, combined; where there are none, out stays. */
COLL_INLINE coll_status coll_one_sum_scan(coll_comm *comm, const size_t *counts, const void *in,
                                          void *out, size_t count, coll_type type,
                                          coll_operator op, void *memory, size_t bytes)
{
    return coll_i_one_sum_call_of(comm, counts, in, out, count, type, op, COLL_I_ONE_SUM_SCAN,
                                  COLL_RANK_NONE, memory, bytes);
}

/* On every rank: out = the operands before its own first one, combined; where there are none, out stays. */
COLL_INLINE coll_status coll_one_sum_exscan(coll_comm *comm, const size_t *counts,
                                            const void *in, void *out, size_t count,
                                            coll_type type, coll_operator op, void *memory,
                                            size_t bytes)
{
    return coll_i_one_sum_call_of(comm, counts, in, out, count, type, op, COLL_I_ONE_SUM_EXSCAN,
                                  COLL_RANK_NONE, memory, bytes);
}

#endif /* COLL_COMM_ONE_SUM_H */
