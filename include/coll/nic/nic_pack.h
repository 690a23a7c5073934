/* coll/nic/nic_pack.h — a NIC program as bytes, which a host writes and a NIC checks and takes
 *
 *   size_t used;
 *   status = coll_nic_pack(&program, bytes, room, &used);       // host: about 10 bytes an operation
 *   …
 *   coll_nic_bounds bounds = {p, {in, out, scratch, shared}};   // NIC: what the program may touch
 *   status = coll_nic_unpack(&program, bytes, used, &bounds, &memory);
 *
 * A number takes a byte for each 7 bits of it, the low ones first; all but the last byte have the highest
 * bit set. In this order:
 *   version, rank, operations, counters, receives, actions, signals; the peers whose signals are counted; what each
 *   counter counts in an epoch; the operations.
 * An operation is one byte, kind + 8·(a token) + 16·(it starts with the program) + 32·(its trigger and threshold are
 * those of the operation before it) + 64·(the host does it), and, as far as its kind has them: trigger, threshold;
 * the done counter; peer; number; inputs; stride, if inputs are more than 1; count; dst, src, via as 4·offset + space. Nothing depends on
 * the machine that wrote it. What is wrong with the bytes, or leads beyond the bounds, is COLL_ERR_FORMAT.
 */
#ifndef COLL_NIC_NIC_PACK_H
#define COLL_NIC_NIC_PACK_H

#include "nic_events.h"

/* Of the bytes. */
#define COLL_NIC_PACK_VERSION 1

/* What a program may touch: peers below p, and elements of each space, all that its buffers have. */
typedef struct coll_nic_bounds {
    uint32_t p;                 /* ranks of the plan */
    size_t extent[COLL_SPACES]; /* elements of each space */
} coll_nic_bounds;

/* In the first byte of an operation. */
enum {
    COLL_I_NIC_TOKEN = 8,
    COLL_I_NIC_AT_ONCE = 16,
    COLL_I_NIC_SAME = 32,
    COLL_I_NIC_HOST = 64
};

/* Which fields the kinds have, by bits of coll_nic_kind. */
#define COLL_I_NIC_BIT(name) (1u << COLL_NIC_##name)
enum {
    COLL_I_NIC_HAS_PEER = COLL_I_NIC_BIT(SEND) | COLL_I_NIC_BIT(RECV) |
                          COLL_I_NIC_BIT(NETWORK) | COLL_I_NIC_BIT(SIGNAL),
    COLL_I_NIC_HAS_NUMBER =
        COLL_I_NIC_BIT(SEND) | COLL_I_NIC_BIT(RECV) | COLL_I_NIC_BIT(NETWORK),
    COLL_I_NIC_HAS_DST = COLL_I_NIC_BIT(RECV) | COLL_I_NIC_BIT(COPY) | COLL_I_NIC_BIT(REDUCE) |
                         COLL_I_NIC_BIT(NETWORK),
    COLL_I_NIC_HAS_SRC = COLL_I_NIC_BIT(SEND) | COLL_I_NIC_BIT(COPY) | COLL_I_NIC_BIT(REDUCE) |
                         COLL_I_NIC_BIT(NETWORK),
    COLL_I_NIC_HAS_COUNT = COLL_I_NIC_HAS_DST | COLL_I_NIC_HAS_SRC,
    COLL_I_NIC_HAS_PLACE = COLL_I_NIC_BIT(COPY) | COLL_I_NIC_BIT(REDUCE)
};

COLL_INLINE bool coll_i_nic_kind_has(unsigned kinds, const coll_nic_op *op)
{
    return (kinds >> op->kind & 1u) != 0;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Bytes that are written, or would be: beyond `room` none are. */
typedef struct coll_i_nic_writer {
    unsigned char *bytes;
    size_t room, used;
} coll_i_nic_writer;

COLL_INLINE void coll_i_nic_put(coll_i_nic_writer *to, size_t number)
{
    do {
        if (to->used < to->room)
            to->bytes[to->used] = (unsigned char)((number & 127) | (number > 127 ? 128 : 0));
        to->used++;
        number >>= 7;
    } while (number > 0);
}

COLL_INLINE void coll_i_nic_put_ref(coll_i_nic_writer *to, coll_ref ref)
{
    coll_i_nic_put(to, coll_ref_offset(ref) * 4 + (size_t)coll_ref_space(ref));
}

COLL_INLINE void coll_i_nic_put_op(coll_i_nic_writer *to, const coll_nic_op *op,
                                   const coll_nic_op *before)
{
    const bool at_once = op->trigger == COLL_NIC_NONE;
    const bool same = !at_once && before && before->trigger == op->trigger &&
                      before->threshold == op->threshold;
    const bool by_host =
        coll_i_nic_kind_has(COLL_I_NIC_HAS_PLACE, op) && op->peer == COLL_NIC_BY_HOST;
    coll_i_nic_put(to, (size_t)op->kind + (op->token ? COLL_I_NIC_TOKEN : 0) +
                           (at_once ? COLL_I_NIC_AT_ONCE : 0) + (same ? COLL_I_NIC_SAME : 0) +
                           (by_host ? COLL_I_NIC_HOST : 0));
    if (!at_once && !same) {
        coll_i_nic_put(to, op->trigger);
        coll_i_nic_put(to, op->threshold);
    }
    if (op->kind != COLL_NIC_END)
        coll_i_nic_put(to, op->done);
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_PEER, op))
        coll_i_nic_put(to, op->peer);
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_NUMBER, op))
        coll_i_nic_put(to, op->number);
    if (op->kind == COLL_NIC_REDUCE)
        coll_i_nic_put(to, op->inputs);
    if (op->inputs > 1 || op->kind == COLL_NIC_NETWORK)
        coll_i_nic_put(to, op->stride);
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_COUNT, op))
        coll_i_nic_put(to, op->count);
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_DST, op))
        coll_i_nic_put_ref(to, op->dst);
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_SRC, op))
        coll_i_nic_put_ref(to, op->src);
    if (op->kind == COLL_NIC_REDUCE)
        coll_i_nic_put_ref(to, op->via);
}

/* Writes a program as bytes. *used: how many, or, with COLL_ERR_MEMORY, how many it takes; `bytes` may be
 * NULL where room is 0. */
COLL_INLINE coll_status coll_nic_pack(const coll_nic_program *program, unsigned char *bytes,
                                      size_t room, size_t *used)
{
    coll_i_nic_writer to;
    if (!program || !used || (!bytes && room != 0))
        return COLL_ERR_NULL;
    to.bytes = bytes;
    to.room = room;
    to.used = 0;
    coll_i_nic_put(&to, COLL_NIC_PACK_VERSION);
    coll_i_nic_put(&to, program->rank);
    coll_i_nic_put(&to, program->needs.ops);
    coll_i_nic_put(&to, program->needs.counters);
    coll_i_nic_put(&to, program->needs.receives);
    coll_i_nic_put(&to, program->needs.actions);
    coll_i_nic_put(&to, program->signals);
    for (uint32_t c = 0; c < program->signals; c++)
        coll_i_nic_put(&to, program->signal_peers[c]);
    for (uint32_t c = 0; c < program->needs.counters; c++)
        coll_i_nic_put(&to, program->counts[c]);
    for (uint32_t i = 0; i < program->needs.ops; i++)
        coll_i_nic_put_op(&to, &program->ops[i], i > 0 ? &program->ops[i - 1] : NULL);
    *used = to.used;
    return to.used <= room ? COLL_OK : COLL_ERR_MEMORY;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Bytes that are read; `wrong` from the first on that may not be there. */
typedef struct coll_i_nic_reader {
    const unsigned char *at;
    size_t left;
    bool wrong;
} coll_i_nic_reader;

/* The next number, which must be at most `most`. */
COLL_INLINE size_t coll_i_nic_get(coll_i_nic_reader *from, size_t most)
{
    const unsigned bits = sizeof(size_t) * 8;
    size_t number = 0;
    for (unsigned shift = 0; from->left > 0 && shift < bits; shift += 7) {
        const size_t byte = *from->at++, low = byte & 127;
        from->left--;
        number |= low << shift;
        if (number >> shift != low || (byte < 128 && number > most))
            break;
        if (byte < 128)
            return number;
    }
    from->wrong = true;
    from->left = 0;
    return 0;
}

/* The next ref, of so many elements, inside the bounds. A token is never touched. */
COLL_INLINE coll_ref coll_i_nic_get_ref(coll_i_nic_reader *from, const coll_nic_bounds *bounds,
                                        const coll_nic_op *op, size_t count)
{
    const size_t word = coll_i_nic_get(from, SIZE_MAX / 2), offset = word / 4;
    const size_t extent = op->token ? COLL_REF_LIMIT / 2 : bounds->extent[word % 4];
    if (count > extent || offset > extent - count)
        from->wrong = true;
    return COLL_AT(word % 4, offset);
}

/* Would an operand of a COPY or a REDUCE lie across its result, neither apart nor the same? */
COLL_INLINE bool coll_i_nic_is_shifted(const coll_nic_op *op)
{
    bool shifted = op->dst != op->src && coll_i_overlap(op->dst, op->count, op->src, op->count);
    for (uint32_t k = 0; k < op->inputs && !shifted; k++) {
        const coll_ref via = op->via + k * op->stride;
        shifted = op->dst != via && coll_i_overlap(op->dst, op->count, via, op->count);
    }
    return shifted;
}

/* The next operation; *op is the one before it, or zero. */
COLL_INLINE void coll_i_nic_get_op(coll_i_nic_reader *from, const coll_nic_bounds *bounds,
                                   const coll_nic_program *program, coll_nic_op *op)
{
    const size_t head = coll_i_nic_get(from, 127), most = COLL_REF_LIMIT / 4;
    size_t span = 0;
    op->kind = (uint8_t)(head & 7);
    op->token = (uint8_t)(head >> 3 & 1);
    if (head & COLL_I_NIC_AT_ONCE) {
        op->trigger = COLL_NIC_NONE;
        op->threshold = 0;
    } else if (!(head & COLL_I_NIC_SAME)) {
        op->trigger = (uint16_t)coll_i_nic_get(from, program->needs.counters - 1);
        op->threshold = (uint32_t)coll_i_nic_get(from, UINT32_MAX / 2);
    }
    op->done = COLL_NIC_NONE;
    if (op->kind != COLL_NIC_END)
        op->done = (uint16_t)coll_i_nic_get(from, program->needs.counters - 1);
    op->peer = op->number = 0;
    op->inputs = 0;
    op->count = op->stride = 0;
    op->dst = op->src = op->via = 0;
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_PEER, op))
        op->peer = (uint32_t)coll_i_nic_get(
            from, op->kind == COLL_NIC_NETWORK ? COLL_NETWORK_GROUPS - 1u : bounds->p - 1);
    if ((head & COLL_I_NIC_HOST) != 0) {
        op->peer = COLL_NIC_BY_HOST;
        from->wrong = from->wrong || !coll_i_nic_kind_has(COLL_I_NIC_HAS_PLACE, op);
    }
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_NUMBER, op))
        op->number = (uint32_t)coll_i_nic_get(from, UINT32_MAX / 2);
    if (op->kind == COLL_NIC_REDUCE)
        op->inputs = (uint16_t)coll_i_nic_get(from, UINT16_MAX);
    if (op->inputs > 1 || op->kind == COLL_NIC_NETWORK)
        op->stride = coll_i_nic_get(from, most);
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_COUNT, op))
        op->count = coll_i_nic_get(from, most);
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_DST, op)) {
        op->dst = coll_i_nic_get_ref(from, bounds, op, op->count);
        from->wrong = from->wrong || (!op->token && coll_ref_space(op->dst) == COLL_IN);
    }
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_SRC, op))
        op->src = coll_i_nic_get_ref(from, bounds, op, op->count);
    if (op->kind == COLL_NIC_COPY && coll_i_nic_is_shifted(op))
        from->wrong = true;
    if (op->kind != COLL_NIC_REDUCE)
        return;
    if (op->inputs == 0 || (op->inputs > 1 && op->stride < op->count) ||
        !coll_multiply(op->inputs - 1u, op->stride, &span) || span > most)
        from->wrong = true;
    op->via = coll_i_nic_get_ref(from, bounds, op, span + op->count);
    if (!from->wrong && coll_i_nic_is_shifted(op))
        from->wrong = true;
}

/* Makes a program of bytes, and checks that it touches nothing beyond the bounds, and no counter that it does
 * not have; that it is right is the host's affair. The program lies in *memory, as of coll_nic_lower; the bytes
 * may go. COLL_ERR_FORMAT: they are none of a program, or lead beyond the bounds; COLL_ERR_MEMORY: it takes
 * more, memory->used bytes. */
COLL_INLINE coll_status coll_nic_unpack(coll_nic_program *program, const unsigned char *bytes,
                                        size_t n, const coll_nic_bounds *bounds,
                                        coll_nic_memory *memory)
{
    coll_i_nic_reader from;
    coll_nic_op *ops;
    uint32_t *words;
    if (!program || !bytes || !bounds || !memory || !memory->at)
        return COLL_ERR_NULL;
    from.at = bytes;
    from.left = n;
    from.wrong = bounds->p == 0;
    if (coll_i_nic_get(&from, COLL_NIC_PACK_VERSION) != COLL_NIC_PACK_VERSION)
        return COLL_ERR_FORMAT;
    program->rank = (uint32_t)coll_i_nic_get(&from, bounds->p - 1);
    program->needs.ops = (uint32_t)coll_i_nic_get(&from, n); /* each takes a byte or more */
    program->needs.counters = (uint32_t)coll_i_nic_get(&from, COLL_NIC_NONE - 1);
    program->needs.receives = (uint32_t)coll_i_nic_get(&from, n);
    program->needs.actions = (uint32_t)coll_i_nic_get(&from, UINT32_MAX / 2);
    program->signals = (uint32_t)coll_i_nic_get(&from, program->needs.counters);
    if (from.wrong || program->needs.ops == 0)
        return COLL_ERR_FORMAT;
    memory->used = 0;
    ops = (coll_nic_op *)coll_i_nic_take(memory, program->needs.ops, sizeof *ops);
    words = (uint32_t *)coll_i_nic_take(
        memory, (size_t)program->needs.counters + program->signals, sizeof *words);
    if (!ops || !words)
        return COLL_ERR_MEMORY;
    program->ops = ops;
    program->counts = words;
    program->signal_peers = words + program->needs.counters;
    for (uint32_t c = 0; c < program->signals; c++)
        words[program->needs.counters + c] = (uint32_t)coll_i_nic_get(&from, bounds->p - 1);
    for (uint32_t c = 0; c < program->needs.counters; c++)
        words[c] = (uint32_t)coll_i_nic_get(&from, UINT32_MAX / 2);
    for (uint32_t i = 0; i < program->needs.ops; i++) {
        ops[i].trigger = i > 0 ? ops[i - 1].trigger : COLL_NIC_NONE;
        ops[i].threshold = i > 0 ? ops[i - 1].threshold : 0;
        coll_i_nic_get_op(&from, bounds, program, &ops[i]);
        if (program->needs.counters == 0 && ops[i].kind != COLL_NIC_END)
            from.wrong = true;
        if ((ops[i].kind == COLL_NIC_END) != (i + 1 == program->needs.ops))
            from.wrong = true;
    }
    return from.wrong || from.left != 0 ? COLL_ERR_FORMAT : COLL_OK;
}

#endif /* COLL_NIC_NIC_PACK_H */
