/* coll/comm/order_free.h — sums of floats that are the same bits on any number of ranks
 *
 *     static unsigned char memory[1 << 18];              // caller's memory, while the call runs
 *     status = coll_order_free_allreduce(&comm, x, y, n, COLL_F64, memory, sizeof memory);
 *     status = coll_order_free_sum(&comm, x, n, &total, COLL_F64);
 *
 * Not included by comm.h. Each element of the result is the float nearest to the exact sum, ties to
 * even. So it depends on the values alone: not on the number of ranks, on who has which value, on the
 * algorithm, on the size of messages or on the machine. Infinities, NaNs and −0 are those of
 * exact_sum.h; what overflows is the result, never a part of the sum.
 *
 * Values become integers, whose sums are exact in any order, so the calls within are allreduce,
 * reduce, reduce_scatter_block and allgather of the communicator, by whatever algorithms it takes:
 *
 *   1  a maximum over the ranks says for each block of 64 elements between which powers of two its
 *      values lie (order_free_blocks.h); a few elements do without
 *   2  the block's values are cut into digits, as few as that range needs, and COLL_SUM of COLL_I64
 *      adds them: one or two words an element where values of a block differ by less than 2⁵⁰ or
 *      so, up to 51 where they are any
 *   3  sums are rounded: in long vectors each rank has its part, which an allgather then hands on
 *
 * All ranks give the same count, type, root and bytes of memory. Calls block, and end with what ends one
 * of those within, which take scratch of the communicator's arena: as much as calls of so many
 * elements of COLL_I64 as `memory` has words. All ranks find, before anything is sent, and may go on:
 * COLL_ERR_TYPE, if it is neither COLL_F32 nor COLL_F64; COLL_ERR_MEMORY, if coll_order_free_bytes says
 * more; COLL_ERR_ROOT; COLL_ERR_OVERFLOW, with more than 2²⁰ ranks. A buffer that is missing
 * (COLL_ERR_NULL) ends the communicator. Over a transport without tags no other call may run (COLL_ERR_BUSY).
 */
#ifndef COLL_COMM_ORDER_FREE_H
#define COLL_COMM_ORDER_FREE_H

#include "combine.h"
#include "move.h"
#include "order_free_blocks.h"

enum {
    COLL_I_ORDER_FREE_SHORT = 4,   /* elements that have digits for any float at once */
    COLL_I_ORDER_FREE_LONG = 2048, /* words that are worth two collectives instead of one */
    COLL_I_ORDER_FREE_TABLE = 8    /* the windows have one part of so many of the memory */
};

/* One call. */
typedef struct coll_i_order_free {
    coll_comm *comm;
    const unsigned char *in;
    unsigned char *out;
    bool mine;    /* the result is also this rank's */
    size_t bytes; /* of an element */
    coll_i_float_format format;
    const coll_i_order_free_loops *loops;
    uint32_t bits;               /* of a digit */
    uint32_t root;               /* COLL_RANK_NONE: all ranks */
    coll_i_block_window *window; /* of blocks */
    int64_t *word;               /* memory for digits, so many words */
    size_t words;
} coll_i_order_free;

COLL_INLINE coll_i_float_format coll_i_order_free_format(coll_type type)
{
    coll_i_float_format format;
    format.fraction = type == COLL_F64 ? 52 : 23;
    format.infinity = type == COLL_F64 ? 2047 : 255;
    return format;
}

/* The least memory for a call of so many elements, in bytes; 0 if the type is neither COLL_F32 nor
 * COLL_F64. At most 32 KiB; with 256 KiB to 1 MiB long vectors take less time. */
COLL_INLINE size_t coll_order_free_bytes(size_t count, coll_type type)
{
    const coll_i_block_digits any = coll_i_order_free_any(
        coll_i_order_free_bits(COLL_I_ORDER_FREE_RANKS), coll_i_order_free_format(type));
    const size_t words = coll_i_order_free_length(count) * coll_i_order_free_planes(&any);
    return type != COLL_F32 && type != COLL_F64
               ? 0
               : (words + 3) * COLL_I_ORDER_FREE_TABLE / (COLL_I_ORDER_FREE_TABLE - 1) *
                     sizeof(int64_t);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

COLL_INLINE coll_i_block_digits coll_i_order_free_of(const coll_i_order_free *it, size_t block)
{
    return coll_i_order_free_digits(&it->window[block], it->bits, it->format);
}

/* The words of `n` whole blocks. */
COLL_INLINE size_t coll_i_order_free_sized(const coll_i_order_free *it, size_t block, size_t n)
{
    size_t planes = 0;
    for (size_t b = block; b < block + n; b++) {
        const coll_i_block_digits digits = coll_i_order_free_of(it, b);
        planes += coll_i_order_free_planes(&digits);
    }
    return planes * COLL_I_ORDER_FREE_BLOCK;
}

/* Values of elements that begin with a block, as digits. Returns the words. */
COLL_INLINE size_t coll_i_order_free_write(const coll_i_order_free *it, size_t block,
                                           const unsigned char *in, size_t count, int64_t *word)
{
    int64_t *const start = word;
    for (size_t i = 0; i < count; i += COLL_I_ORDER_FREE_BLOCK, block++) {
        const coll_i_block_digits digits = coll_i_order_free_of(it, block);
        const uint32_t n = coll_i_order_free_length(count - i);
        if (it->bytes == 8)
            coll_i_order_free_write_f64(it->loops, &digits, in + i * 8, n, word);
        else
            coll_i_order_free_write_f32(it->loops, &digits, in + i * 4, n, word);
        word += n * coll_i_order_free_planes(&digits);
    }
    return (size_t)(word - start);
}

/* The other way. */
COLL_INLINE void coll_i_order_free_read(const coll_i_order_free *it, size_t block,
                                        int64_t *word, size_t count, unsigned char *out)
{
    for (size_t i = 0; i < count; i += COLL_I_ORDER_FREE_BLOCK, block++) {
        const coll_i_block_digits digits = coll_i_order_free_of(it, block);
        const uint32_t n = coll_i_order_free_length(count - i);
        if (it->bytes == 8)
            coll_i_order_free_read_f64(it->loops, &digits, it->comm->p, word, n, out + i * 8);
        else
            coll_i_order_free_read_f32(it->loops, &digits, it->comm->p, word, n, out + i * 4);
        word += n * coll_i_order_free_planes(&digits);
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* As many of the `count` elements as fit, by one collective that gives all digits to whom the result
 * is. Returns how many they are in *done. */
COLL_INLINE coll_status coll_i_order_free_together(const coll_i_order_free *it, size_t block,
                                                   size_t first, size_t count, size_t *done)
{
    coll_comm *comm = it->comm;
    coll_status status = COLL_OK;
    size_t words = 0, n = 0;
    for (size_t b = block; n < count; b++) {
        const coll_i_block_digits digits = coll_i_order_free_of(it, b);
        const uint32_t here = coll_i_order_free_length(count - n);
        if (here * coll_i_order_free_planes(&digits) > it->words - words)
            break;
        words += here * coll_i_order_free_planes(&digits);
        n += here;
    }
    *done = n;
    (void)coll_i_order_free_write(it, block, it->in + first * it->bytes, n, it->word);
    if (words > 0 && it->root == COLL_RANK_NONE)
        status = coll_allreduce(comm, COLL_IN_PLACE, it->word, words, COLL_I64, COLL_SUM);
    else if (words > 0)
        status = coll_reduce(comm, it->mine ? COLL_IN_PLACE : it->word, it->word, words,
                             COLL_I64, COLL_SUM, it->root);
    if (status == COLL_OK && it->mine)
        coll_i_order_free_read(it, block, it->word, n, it->out + first * it->bytes);
    return status;
}

/* As many of the `count` elements as fit, of which each rank gets the digits of one section, rounds, and
 * hands on. *done is 0 where that is not worth while. */
COLL_INLINE coll_status coll_i_order_free_apart(const coll_i_order_free *it, size_t block,
                                                size_t first, size_t count, size_t *done)
{
    coll_comm *comm = it->comm;
    const size_t p = comm->p;
    size_t blocks = count / COLL_I_ORDER_FREE_BLOCK / p, section = 0, elements;
    coll_status status = COLL_OK;
    const size_t room = it->words / COLL_I_ORDER_FREE_BLOCK / p;
    *done = 0;
    blocks = blocks < room ? blocks : room;
    for (; blocks > 0; blocks /= 2) {
        section = 0;
        for (size_t r = 0; r < p; r++) {
            const size_t words = coll_i_order_free_sized(it, block + r * blocks, blocks);
            section = words > section ? words : section;
        }
        if (section <= it->words / p)
            break;
    }
    if (blocks == 0 || section * p < COLL_I_ORDER_FREE_LONG)
        return COLL_OK;
    elements = blocks * COLL_I_ORDER_FREE_BLOCK;
    for (size_t r = 0; r < p; r++) {
        int64_t *word = it->word + r * section;
        size_t words = coll_i_order_free_write(it, block + r * blocks,
                                               it->in + (first + r * elements) * it->bytes,
                                               elements, word);
        for (; words < section; words++)
            word[words] = 0;
    }
    status =
        coll_reduce_scatter_block(comm, COLL_IN_PLACE, it->word, section, COLL_I64, COLL_SUM);
    if (status != COLL_OK)
        return status;
    coll_i_order_free_read(it, block + comm->rank * blocks, it->word, elements,
                           it->out + (first + comm->rank * elements) * it->bytes);
    *done = p * elements;
    return coll_allgather(comm, COLL_IN_PLACE, it->out + first * it->bytes, elements,
                          it->bytes == 8 ? COLL_F64 : COLL_F32);
}

/* `count` elements whose windows have room in the table. */
COLL_INLINE coll_status coll_i_order_free_span(const coll_i_order_free *it, size_t first,
                                               size_t count)
{
    const size_t blocks = (count + COLL_I_ORDER_FREE_BLOCK - 1) / COLL_I_ORDER_FREE_BLOCK;
    const unsigned char *in = it->in + first * it->bytes;
    coll_status status = COLL_OK;
    for (size_t b = 0; b < blocks; b++) {
        const size_t i = b * COLL_I_ORDER_FREE_BLOCK;
        const uint32_t n = coll_i_order_free_length(count - i);
        if (it->bytes == 8)
            coll_i_order_free_window_f64(&it->window[b], it->loops, in + i * 8, n);
        else
            coll_i_order_free_window_f32(&it->window[b], it->loops, in + i * 4, n);
    }
    status =
        coll_allreduce(it->comm, COLL_IN_PLACE, it->window,
                       blocks * (sizeof *it->window / sizeof(uint16_t)), COLL_U16, COLL_MAX);
    for (size_t i = 0, done; i < count && status == COLL_OK; i += done) {
        const size_t block = i / COLL_I_ORDER_FREE_BLOCK;
        done = 0;
        if (it->root == COLL_RANK_NONE)
            status = coll_i_order_free_apart(it, block, first + i, count - i, &done);
        if (status == COLL_OK && done == 0)
            status = coll_i_order_free_together(it, block, first + i, count - i, &done);
    }
    return status;
}

/* Looks at the arguments, and lays out the memory. */
COLL_INLINE coll_status coll_i_order_free_begin(coll_i_order_free *it, size_t count,
                                                coll_type type, void *memory, size_t bytes)
{
    const size_t odd = (0 - (uintptr_t)memory) % sizeof(int64_t),
                 words = bytes / sizeof(int64_t);
    const size_t table = words / COLL_I_ORDER_FREE_TABLE + 1;
    coll_comm *comm = it->comm;
    if (!comm)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    if (comm->p > COLL_I_ORDER_FREE_RANKS)
        return COLL_ERR_OVERFLOW;
    if (it->root != COLL_RANK_NONE && it->root >= comm->p)
        return COLL_ERR_ROOT;
    if (type != COLL_F32 && type != COLL_F64)
        return COLL_ERR_TYPE;
    if (bytes < coll_order_free_bytes(count, type))
        return COLL_ERR_MEMORY;
    if (count > 0 && (!it->in || !memory || (it->mine && !it->out))) {
        (void)coll_comm_abort(comm, COLL_ERR_NULL);
        return COLL_ERR_NULL;
    }
    it->bytes = coll_type_bytes(type);
    it->format = coll_i_order_free_format(type);
    it->loops = coll_i_order_free_loops_of(type == COLL_F64);
    it->bits = coll_i_order_free_bits(comm->p);
    it->window = (coll_i_block_window *)(void *)((unsigned char *)memory + odd);
    it->word = (int64_t *)(void *)((unsigned char *)memory + odd) + table;
    it->words = words - table - 1; /* one is for alignment, whether this rank needs it or not */
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_order_free_run(coll_i_order_free *it, size_t count,
                                              coll_type type, void *memory, size_t bytes)
{
    const size_t table = bytes / sizeof(int64_t) / COLL_I_ORDER_FREE_TABLE + 1;
    const size_t most = table * sizeof(int64_t) / sizeof *it->window * COLL_I_ORDER_FREE_BLOCK;
    coll_status status = coll_i_order_free_begin(it, count, type, memory, bytes);
    if (status == COLL_OK && count > 0 && count <= COLL_I_ORDER_FREE_SHORT) {
        size_t done;
        coll_i_order_free_widest(it->window, it->format);
        return coll_i_order_free_together(it, 0, 0, count, &done);
    }
    for (size_t i = 0; i < count && status == COLL_OK; i += most)
        status = coll_i_order_free_span(it, i, count - i < most ? count - i : most);
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* On every rank: out = the nearest floats to the exact sums over all ranks of `count` elements. `in` may be
 * COLL_IN_PLACE. */
COLL_INLINE coll_status coll_order_free_allreduce(coll_comm *comm, const void *in, void *out,
                                                  size_t count, coll_type type, void *memory,
                                                  size_t bytes)
{
    coll_i_order_free it;
    it.comm = comm;
    it.in = (const unsigned char *)(in == COLL_IN_PLACE ? out : in);
    it.out = (unsigned char *)out;
    it.mine = true;
    it.root = COLL_RANK_NONE;
    return coll_i_order_free_run(&it, count, type, memory, bytes);
}

/* The same at the root alone; elsewhere `out` is not used. `in` may be COLL_IN_PLACE at the root. */
COLL_INLINE coll_status coll_order_free_reduce(coll_comm *comm, const void *in, void *out,
                                               size_t count, coll_type type, uint32_t root,
                                               void *memory, size_t bytes)
{
    coll_i_order_free it;
    it.comm = comm;
    it.in = (const unsigned char *)(in == COLL_IN_PLACE ? out : in);
    it.out = (unsigned char *)out;
    it.mine = comm && comm->rank == root;
    it.root = root;
    return coll_i_order_free_run(&it, count, type, memory, bytes);
}

/* On every rank: the element at out = the nearest float to the exact sum of all elements of all ranks, of
 * which this one has `count`, any number. So it stays the same when a vector is distributed over
 * more ranks. One allreduce of 584 bytes (COLL_F32: 128). */
COLL_INLINE coll_status coll_order_free_sum(coll_comm *comm, const void *in, size_t count,
                                            void *out, coll_type type)
{
    coll_status status;
    if (!comm)
        return COLL_ERR_NULL;
    if (!out || (count > 0 && !in)) {
        (void)coll_comm_abort(comm, COLL_ERR_NULL);
        return COLL_ERR_NULL;
    }
    if (type == COLL_F32) {
        coll_exact_f32 sum;
        coll_exact_zero_f32(&sum);
        coll_exact_add_f32(&sum, in, count);
        coll_exact_normalize_f32(&sum);
        status = coll_allreduce(comm, COLL_IN_PLACE, sum.word, COLL_EXACT_F32_WORDS, COLL_I64,
                                COLL_SUM);
        if (status == COLL_OK)
            coll_exact_read_f32(&sum, out);
    } else if (type == COLL_F64) {
        coll_exact_f64 sum;
        coll_exact_zero_f64(&sum);
        coll_exact_add_f64(&sum, in, count);
        coll_exact_normalize_f64(&sum);
        status = coll_allreduce(comm, COLL_IN_PLACE, sum.word, COLL_EXACT_F64_WORDS, COLL_I64,
                                COLL_SUM);
        if (status == COLL_OK)
            coll_exact_read_f64(&sum, out);
    } else {
        status = COLL_ERR_TYPE;
    }
    return status;
}

#endif /* COLL_COMM_ORDER_FREE_H */
