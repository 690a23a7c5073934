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
 *   version, rank, operations, counters, receives, actions, signals; in version 2 arrivals; the peers whose signals, and whose
 *   arrivals, are counted; what each counter counts in an epoch; the operations.
 * Version 2 is for programs that put. An operation is one number, a byte for most, kind % 8 + 128·(kind / 8) + 8·(a token) + 16·(it starts with the program) + 32·(its trigger and threshold are
 * those of the operation before it) + 64·(the host does it), and, as far as its kind has them: trigger, threshold;
 * the done counter; peer; number; inputs; stride, if inputs are more than 1; count; dst, src, via as 4·offset + space. Nothing depends on
 * the machine that wrote it. What is wrong with the bytes, or leads beyond the bounds, is COLL_ERR_FORMAT. Where a PUT ends is
 * the peer's memory: whoever has that checks it (one_sided.h).
 */
#ifndef COLL_NIC_NIC_PACK_H
#define COLL_NIC_NIC_PACK_H

#include "nic_events.h"

/* Of the bytes. */
enum { COLL_NIC_PACK_VERSION = 1, COLL_NIC_PACK_PUTS = 2 /* … of a program that puts */ };

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
    COLL_I_NIC_HOST = 64,
    COLL_I_NIC_LATER = 128 /* the kind is 8 more */
};

/* Which fields the kinds have, by bits of coll_nic_kind. */
#define COLL_I_NIC_BIT(name) (1u << COLL_NIC_##name)
enum {
    COLL_I_NIC_HAS_PEER = COLL_I_NIC_BIT(SEND) | COLL_I_NIC_BIT(RECV) |
                          COLL_I_NIC_BIT(NETWORK) | COLL_I_NIC_BIT(SIGNAL) |
                          COLL_I_NIC_BIT(PUT) | COLL_I_NIC_BIT(ARRIVE),
    COLL_I_NIC_HAS_NUMBER = COLL_I_NIC_BIT(SEND) | COLL_I_NIC_BIT(RECV) |
                            COLL_I_NIC_BIT(NETWORK) | COLL_I_NIC_BIT(PUT) |
                            COLL_I_NIC_BIT(ARRIVE),
    COLL_I_NIC_HAS_DST = COLL_I_NIC_BIT(RECV) | COLL_I_NIC_BIT(COPY) | COLL_I_NIC_BIT(REDUCE) |
                         COLL_I_NIC_BIT(NETWORK) | COLL_I_NIC_BIT(PUT) | COLL_I_NIC_BIT(ARRIVE),
    COLL_I_NIC_HAS_SRC = COLL_I_NIC_BIT(SEND) | COLL_I_NIC_BIT(COPY) | COLL_I_NIC_BIT(REDUCE) |
                         COLL_I_NIC_BIT(NETWORK) | COLL_I_NIC_BIT(PUT),
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
    coll_i_nic_put(to, (size_t)(op->kind & 7) + (op->kind > 7 ? COLL_I_NIC_LATER : 0) +
                           (op->token ? COLL_I_NIC_TOKEN : 0) +
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
    coll_i_nic_put(&to, program->arrivals > 0 ? COLL_NIC_PACK_PUTS : COLL_NIC_PACK_VERSION);
    coll_i_nic_put(&to, program->rank);
    coll_i_nic_put(&to, program->needs.ops);
    coll_i_nic_put(&to, program->needs.counters);
    coll_i_nic_put(&to, program->needs.receives);
    coll_i_nic_put(&to, program->needs.actions);
    coll_i_nic_put(&to, program->signals);
    if (program->arrivals > 0)
        coll_i_nic_put(&to, program->arrivals);
    for (uint32_t c = 0; c < program->signals + program->arrivals; c++)
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

/* A ref that was written as 4·offset + space. */
COLL_INLINE coll_ref coll_i_nic_ref(size_t number)
{
    return COLL_AT(number % 4, number / 4);
}

/* Does a ref of an operation lie inside the bounds? A token is never touched. */
COLL_INLINE bool coll_i_nic_is_inside(const coll_nic_bounds *bounds, const coll_nic_op *op,
                                      coll_ref ref)
{
    const size_t extent = op->token ? COLL_REF_LIMIT / 2 : bounds->extent[coll_ref_space(ref)];
    return op->count <= extent && coll_ref_offset(ref) <= extent - op->count;
}

/* … and apart from the result of the operation, or at the same place? */
COLL_INLINE bool coll_i_nic_is_operand(const coll_nic_bounds *bounds, const coll_nic_op *op,
                                       coll_ref ref)
{
    return coll_i_nic_is_inside(bounds, op, ref) &&
           (ref == op->dst || !coll_i_overlap(ref, op->count, op->dst, op->count));
}

/* Does an operation touch what it may? */
COLL_INLINE bool coll_i_nic_op_is_sound(const coll_nic_bounds *bounds, const coll_nic_op *op)
{
    coll_ref via = op->via;
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_DST, op) &&
        ((op->kind == COLL_NIC_PUT ? coll_ref_offset(op->dst) > COLL_REF_LIMIT / 2
                                   : !coll_i_nic_is_inside(bounds, op, op->dst)) ||
         (!op->token && coll_ref_space(op->dst) == COLL_IN)))
        return false;
    if (coll_i_nic_kind_has(COLL_I_NIC_HAS_SRC, op) &&
        (coll_i_nic_kind_has(COLL_I_NIC_HAS_PLACE, op)
             ? !coll_i_nic_is_operand(bounds, op, op->src)
             : !coll_i_nic_is_inside(bounds, op, op->src)))
        return false;
    if (op->kind != COLL_NIC_REDUCE)
        return true;
    if (op->inputs > 1 && op->stride < op->count)
        return false;
    for (uint32_t left = op->inputs; left > 0; left--, via += op->stride)
        if (!coll_i_nic_is_operand(bounds, op, via))
            return false;
    return op->inputs != 0;
}

/* The first numbers of a program, in the order of the bytes. */
enum {
    COLL_I_NIC_VERSION_AT,
    COLL_I_NIC_RANK_AT,
    COLL_I_NIC_OPS_AT,
    COLL_I_NIC_COUNTERS_AT,
    COLL_I_NIC_RECEIVES_AT,
    COLL_I_NIC_ACTIONS_AT,
    COLL_I_NIC_SIGNALS_AT,
    COLL_I_NIC_HEADS
};

/* The numbers of an operation behind its trigger, in the order of the bytes: which kinds have
 * each. */
enum {
    COLL_I_NIC_DONE_AT,
    COLL_I_NIC_PEER_AT,
    COLL_I_NIC_NUMBER_AT,
    COLL_I_NIC_INPUTS_AT,
    COLL_I_NIC_STRIDE_AT,
    COLL_I_NIC_COUNT_AT,
    COLL_I_NIC_DST_AT,
    COLL_I_NIC_SRC_AT,
    COLL_I_NIC_VIA_AT,
    COLL_I_NIC_FIELDS
};
COLL_TABLE(uint16_t, coll_i_nic_fields, {
    (COLL_I_NIC_BIT(END) - 1) | COLL_I_NIC_BIT(PUT) | COLL_I_NIC_BIT(ARRIVE), COLL_I_NIC_HAS_PEER, COLL_I_NIC_HAS_NUMBER,
    COLL_I_NIC_BIT(REDUCE), COLL_I_NIC_BIT(REDUCE) | COLL_I_NIC_BIT(NETWORK),
    COLL_I_NIC_HAS_COUNT, COLL_I_NIC_HAS_DST, COLL_I_NIC_HAS_SRC, COLL_I_NIC_BIT(REDUCE)});

/* The next operation; *op is the one before it, or zero. */
COLL_INLINE void coll_i_nic_get_op(coll_i_nic_reader *from, const coll_nic_bounds *bounds,
                                   const coll_nic_program *program, coll_nic_op *op)
{
    const size_t head = coll_i_nic_get(from, 255);
    size_t field[COLL_I_NIC_FIELDS];
    op->kind = (uint8_t)((head & 7) + (head & COLL_I_NIC_LATER ? 8 : 0));
    from->wrong |= op->kind >= COLL_NIC_KINDS;
    op->token = (uint8_t)(head >> 3 & 1);
    if (head & COLL_I_NIC_AT_ONCE) {
        op->trigger = COLL_NIC_NONE;
        op->threshold = 0;
    } else if (!(head & COLL_I_NIC_SAME)) {
        op->trigger = (uint16_t)coll_i_nic_get(from, program->needs.counters - 1);
        op->threshold = (uint32_t)coll_i_nic_get(from, UINT32_MAX / 2);
    }
    for (unsigned i = 0; i < COLL_I_NIC_FIELDS; i++) {
        field[i] = 0;
        if (coll_i_nic_kind_has(coll_i_nic_fields[i], op) &&
            !(i == COLL_I_NIC_STRIDE_AT && op->kind == COLL_NIC_REDUCE && field[i - 1] < 2))
            field[i] = coll_i_nic_get(from, SIZE_MAX / 2);
    }
    op->done = op->kind == COLL_NIC_END ? COLL_NIC_NONE : (uint16_t)field[COLL_I_NIC_DONE_AT];
    op->peer = (uint32_t)field[COLL_I_NIC_PEER_AT];
    op->number = (uint32_t)field[COLL_I_NIC_NUMBER_AT];
    op->inputs = (uint16_t)field[COLL_I_NIC_INPUTS_AT];
    op->stride = field[COLL_I_NIC_STRIDE_AT];
    op->count = field[COLL_I_NIC_COUNT_AT];
    op->dst = coll_i_nic_ref(field[COLL_I_NIC_DST_AT]);
    op->src = coll_i_nic_ref(field[COLL_I_NIC_SRC_AT]);
    op->via = coll_i_nic_ref(field[COLL_I_NIC_VIA_AT]);
    if (field[COLL_I_NIC_PEER_AT] >=
            (op->kind == COLL_NIC_NETWORK ? (uint32_t)COLL_NETWORK_GROUPS : bounds->p) ||
        (op->kind != COLL_NIC_END && field[COLL_I_NIC_DONE_AT] >= program->needs.counters) ||
        (op->trigger != COLL_NIC_NONE && op->trigger >= program->needs.counters) ||
        field[COLL_I_NIC_NUMBER_AT] > UINT32_MAX / 2 ||
        field[COLL_I_NIC_INPUTS_AT] > UINT16_MAX || op->stride > COLL_REF_LIMIT / 4 ||
        op->count > COLL_REF_LIMIT / 4 || !coll_i_nic_op_is_sound(bounds, op))
        from->wrong = true;
    if ((head & COLL_I_NIC_HOST) != 0) {
        op->peer = COLL_NIC_BY_HOST;
        from->wrong |= !coll_i_nic_kind_has(COLL_I_NIC_HAS_PLACE, op);
    }
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
    coll_nic_op *ops, *before = NULL;
    uint32_t *words, head[COLL_I_NIC_HEADS], peers;
    if (!program || !bytes || !bounds || !memory || !memory->at)
        return COLL_ERR_NULL;
    from.at = bytes;
    from.left = n;
    from.wrong = false;
    for (uint32_t i = 0; i < COLL_I_NIC_HEADS; i++)
        head[i] = (uint32_t)coll_i_nic_get(&from, UINT32_MAX / 2);
    program->rank = head[COLL_I_NIC_RANK_AT];
    program->needs.ops = head[COLL_I_NIC_OPS_AT];
    program->needs.counters = head[COLL_I_NIC_COUNTERS_AT];
    program->needs.receives = head[COLL_I_NIC_RECEIVES_AT];
    program->needs.actions = head[COLL_I_NIC_ACTIONS_AT];
    program->signals = head[COLL_I_NIC_SIGNALS_AT];
    program->arrivals = 0;
    if (head[0] == COLL_NIC_PACK_PUTS)
        program->arrivals = (uint32_t)coll_i_nic_get(&from, UINT32_MAX / 2);
    peers = program->signals + program->arrivals;
    if (from.wrong || (head[0] != COLL_NIC_PACK_VERSION && head[0] != COLL_NIC_PACK_PUTS) ||
        program->rank >= bounds->p || program->needs.ops == 0 ||
        program->needs.ops > n || /* each takes a byte or more */
        program->needs.counters >= COLL_NIC_NONE || program->needs.receives > n ||
        peers > program->needs.counters)
        return COLL_ERR_FORMAT;
    memory->used = 0;
    ops = (coll_nic_op *)coll_i_nic_take(memory, program->needs.ops, sizeof *ops);
    words = (uint32_t *)coll_i_nic_take(memory, (size_t)program->needs.counters + peers,
                                        sizeof *words);
    if (!ops || !words)
        return COLL_ERR_MEMORY;
    program->ops = ops;
    program->counts = words;
    program->signal_peers = words + program->needs.counters;
    for (uint32_t c = 0; c < peers; c++)
        words[program->needs.counters + c] = (uint32_t)coll_i_nic_get(&from, bounds->p - 1);
    for (uint32_t c = 0; c < program->needs.counters; c++)
        words[c] = (uint32_t)coll_i_nic_get(&from, UINT32_MAX / 2);
    for (uint32_t left = program->needs.ops; left > 0; left--, before = ops++) {
        ops->trigger = before ? before->trigger : COLL_NIC_NONE;
        ops->threshold = before ? before->threshold : 0;
        coll_i_nic_get_op(&from, bounds, program, ops);
        from.wrong |= (ops->kind == COLL_NIC_END) != (left == 1);
    }
    return from.wrong || from.left != 0 ? COLL_ERR_FORMAT : COLL_OK;
}

#endif /* COLL_NIC_NIC_PACK_H */
