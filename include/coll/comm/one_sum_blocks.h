/* coll/comm/one_sum_blocks.h — the blocks of a call in one order: what each rank has, and how they are merged
 *
 * A call knows how many operands each rank has, so which blocks of the tree (one_sum_tree.h) are whose: this
 * rank computes its own, and merges those of all ranks once it has them. Nothing here communicates. Use one_sum.h.
 */
#ifndef COLL_COMM_ONE_SUM_BLOCKS_H
#define COLL_COMM_ONE_SUM_BLOCKS_H

#include "communicator.h"
#include "one_sum_tree.h"

enum { COLL_I_ONE_SUM_LONG = 1 << 14 }; /* bytes of all blocks that are worth an alltoallv */

/* One call. */
typedef struct coll_i_one_sum_call {
    coll_comm *comm;
    const size_t *counts; /* NULL: 1 each */
    const unsigned char *in;
    unsigned char *out;
    size_t count, elem_bytes; /* of a vector */
    coll_type type;
    coll_op op;
    uint64_t first;                        /* operand of this rank */
    uint64_t blocks, mine;                 /* of all ranks, and of this one */
    size_t *send, *send_at, *get, *get_at; /* tables of an alltoallv */
    unsigned char *room;                   /* for pieces of … */
    size_t piece;                          /* … so many bytes */
    unsigned char *packed, *parts, *results;
} coll_i_one_sum_call;

COLL_INLINE uint64_t coll_i_one_sum_operands(const size_t *counts, uint32_t rank)
{
    return counts ? counts[rank] : 1;
}

/* Are the vectors cut into sections? The same on all ranks. */
COLL_INLINE bool coll_i_one_sum_is_long(uint32_t p, uint64_t blocks, size_t count,
                                        size_t elem_bytes)
{
    return count >= p && p > 1 && blocks > 0 &&
           count > COLL_I_ONE_SUM_LONG / elem_bytes / blocks;
}

/* Elements before the section of a rank. */
COLL_INLINE size_t coll_i_one_sum_section(size_t count, uint32_t p, uint32_t rank)
{
    const size_t each = count / p, rest = count % p;
    return each * rank + (rank < rest ? rank : rest);
}

/* Blocks of the operands of all ranks; the operands of those before `rank` to *first, all to *n. False: 2⁴⁸ or
 * more. */
COLL_INLINE bool coll_i_one_sum_count(const size_t *counts, uint32_t p, uint32_t rank,
                                      uint64_t *first, uint64_t *n, uint64_t *blocks)
{
    *first = *n = *blocks = 0;
    for (uint32_t r = 0; r < p; r++) {
        const uint64_t its = coll_i_one_sum_operands(counts, r);
        if (r == rank)
            *first = *n;
        if (its >> COLL_I_ONE_SUM_LEVELS != 0 || (*n + its) >> COLL_I_ONE_SUM_LEVELS != 0)
            return false;
        *blocks += coll_i_one_sum_blocks(*n, its);
        *n += its;
    }
    return true;
}

/* Bytes of a vector that are merged at a time. */
COLL_INLINE size_t coll_i_one_sum_piece(size_t count, size_t elem_bytes)
{
    return count < COLL_I_ONE_SUM_PIECE / elem_bytes ? (count * elem_bytes + 31) / 32 * 32
                                                     : (size_t)COLL_I_ONE_SUM_PIECE;
}

/* ---- merging ----------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_one_sum_begin(coll_i_one_sum *sum, const coll_i_one_sum_call *it,
                                      size_t elements)
{
    sum->combine = it->op.combine;
    sum->arg = it->op.arg;
    sum->count = elements;
    sum->room = it->room;
    sum->piece = it->piece;
    sum->n = 0;
}

/* So many elements are merged at a time. */
COLL_INLINE size_t coll_i_one_sum_step(const coll_i_one_sum_call *it, size_t left)
{
    const size_t most = COLL_I_ONE_SUM_PIECE / it->elem_bytes;
    return left < most ? left : most;
}

/* This rank's blocks of elements from..from+n of its operands, one behind the other. */
COLL_INLINE void coll_i_one_sum_own(const coll_i_one_sum_call *it, size_t from, size_t n,
                                    unsigned char *out)
{
    uint64_t first = it->first, left = coll_i_one_sum_operands(it->counts, it->comm->rank);
    const unsigned char *in = it->in + from * it->elem_bytes;
    const size_t vector = it->count * it->elem_bytes;
    while (left > 0) {
        const uint32_t level = coll_i_one_sum_level(first, left);
        const size_t operands = (size_t)1 << level;
        for (size_t i = 0, step; i < n; i += step) {
            coll_i_one_sum sum;
            step = coll_i_one_sum_step(it, n - i);
            coll_i_one_sum_begin(&sum, it, step);
            for (size_t k = 0; k < operands; k++)
                coll_i_one_sum_push(&sum, in + k * vector + i * it->elem_bytes, 0);
            coll_i_one_sum_value(&sum, out + i * it->elem_bytes, it->elem_bytes);
        }
        in += operands * vector;
        out += n * it->elem_bytes;
        first += operands;
        left -= operands;
    }
}

/* Whose results coll_i_one_sum_merge computes. */
typedef enum coll_i_one_sum_of {
    COLL_I_ONE_SUM_ALL,        /* of all ranks' operands, to `out` */
    COLL_I_ONE_SUM_UP_TO,      /* of those up to rank `last`, to `out` */
    COLL_I_ONE_SUM_BEFORE,     /* of those before it; none: nothing is written */
    COLL_I_ONE_SUM_EACH_UP_TO, /* of those up to each rank, n elements behind each other */
    COLL_I_ONE_SUM_EACH_BEFORE
} coll_i_one_sum_of;

/* Merges n elements, from `from` on, of the blocks of all ranks, which have `length`, in their order. */
COLL_INLINE void coll_i_one_sum_merge(const coll_i_one_sum_call *it, size_t length, size_t from,
                                      size_t n, coll_i_one_sum_of of, uint32_t last,
                                      unsigned char *out)
{
    const size_t elem = it->elem_bytes;
    for (size_t i = 0, step; i < n; i += step) {
        const unsigned char *block = it->parts + (from + i) * elem;
        uint64_t first = 0;
        coll_i_one_sum sum;
        step = coll_i_one_sum_step(it, n - i);
        coll_i_one_sum_begin(&sum, it, step);
        for (uint32_t r = 0; r < it->comm->p; r++) {
            uint64_t left = coll_i_one_sum_operands(it->counts, r);
            if (of == COLL_I_ONE_SUM_BEFORE && r == last)
                break;
            if (of == COLL_I_ONE_SUM_EACH_BEFORE && sum.n > 0)
                coll_i_one_sum_value(&sum, out + (r * n + i) * elem, elem);
            while (left > 0) {
                const uint32_t level = coll_i_one_sum_level(first, left);
                coll_i_one_sum_push(&sum, block, level);
                block += length * elem;
                first += (uint64_t)1 << level;
                left -= (uint64_t)1 << level;
            }
            if (of == COLL_I_ONE_SUM_EACH_UP_TO && sum.n > 0)
                coll_i_one_sum_value(&sum, out + (r * n + i) * elem, elem);
            if (of == COLL_I_ONE_SUM_UP_TO && r == last)
                break;
        }
        if (of <= COLL_I_ONE_SUM_BEFORE && sum.n > 0)
            coll_i_one_sum_value(&sum, out + i * elem, elem);
    }
}

#endif /* COLL_COMM_ONE_SUM_BLOCKS_H */
