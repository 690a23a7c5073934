/* coll/transports/ofi_offload/translate.h — a program as pieces of deferred work
 *
 *   program            deferred work, in each epoch
 *   SEND, RECV         FI_OP_TSEND, FI_OP_TRECV
 *   COPY               FI_OP_READ of this rank's own memory
 *   REDUCE dst = src ⊕ via_0 ⊕ via_1 …
 *                      where dst is not src: FI_OP_READ of src to dst; then one FI_OP_ATOMIC after the other,
 *                      target dst, operand via_k
 *   ADD                FI_OP_CNTR_ADD
 *   END                FI_OP_CNTR_ADD of the counter that the host waits for, and of the one that
 *                      starts the next epoch
 *
 * What a piece does to its target is target = target ⊕ operand, so operands keep their order; where dst is
 * via_0 alone, it is via_0 ⊕ src, which has the same bits for the operators that are taken. Each
 * piece of a reduction waits for the one before, on a counter of the reduction's own. An atomic
 * combines few elements at a time: then it is several, up to 16 side by side, and each counts. So thresholds become
 * larger. The first T operations of the list that count on a counter are those for which a
 * threshold of T waits, as the list is an order in which the program may run; their pieces are the new threshold.
 *
 * The provider sockets completes sends, and receives, while it holds the lock that starting another one
 * takes, and adds to counters while it holds theirs. So a send that a send triggers, and a receive that a
 * receive triggers, wait for a read in between, and an ADD is one.
 *
 * Use ../ofi_offload.h.
 */
#ifndef COLL_TRANSPORTS_OFI_OFFLOAD_TRANSLATE_H
#define COLL_TRANSPORTS_OFI_OFFLOAD_TRANSLATE_H

#include "offload_nic.h"

/* What a piece of work does. */
enum {
    COLL_I_OFFLOAD_SEND,
    COLL_I_OFFLOAD_RECV,
    COLL_I_OFFLOAD_READ,
    COLL_I_OFFLOAD_ATOMIC,
    COLL_I_OFFLOAD_ADD
};

/* In which epochs of a start. */
enum {
    COLL_I_OFFLOAD_ALL,
    COLL_I_OFFLOAD_NOT_LAST, /* it starts the next one */
    COLL_I_OFFLOAD_LAST      /* it tells the host */
};

/* Atomics of a reduction that are in flight at one time. */
enum { COLL_I_OFFLOAD_WAVE = 16 };

/* Spaces of memory are those of refs, and one more: coll_ofi_nic.word. */
enum { COLL_I_OFFLOAD_WORD = COLL_SPACES, COLL_I_OFFLOAD_SPACES };

/* A piece of work. */
typedef struct coll_i_offload_step {
    uint8_t kind, when;
    uint8_t local,
        remote; /* spaces: of SEND, RECV, what is read to, the operand; read from, the target */
    uint32_t trigger, threshold; /* in the first epoch */
    uint32_t done;               /* the counter that it adds 1 to */
    uint32_t peer, number;       /* of a message */
    size_t local_at, remote_at;  /* bytes into the spaces */
    size_t bytes;
} coll_i_offload_step;

/* What a program takes of a NIC, all of it known before anything starts. */
typedef struct coll_ofi_offload_needs {
    uint32_t works;    /* pieces of deferred work, in each epoch that is armed; */
    uint32_t counters; /* those of start and end too */
    uint32_t sends;    /* at most so many at one time … */
    uint32_t receives; /* … likewise … */
    uint32_t own;      /* … and so many reads and atomics of its own memory */
} coll_ofi_offload_needs;

typedef struct coll_i_offload_translation {
    const coll_nic_program *program;
    const coll_ofi_nic *nic;
    size_t elem_bytes;
    size_t most; /* elements that one atomic combines */
    coll_i_offload_step *steps;
    uint32_t *weights; /* by operation: the pieces that count where it counts */
    uint32_t *counts;  /* by counter: in one epoch */
    uint32_t start, end;
    coll_ofi_offload_needs needs;
    size_t extents[COLL_SPACES]; /* bytes that are used */
} coll_i_offload_translation;

/* ---- counters ---------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_offload_bytes(const coll_i_offload_translation *t,
                                        const coll_nic_op *op)
{
    return op->token ? 0 : op->count * t->elem_bytes;
}

/* Atomics that combine one operand of a reduction. */
COLL_INLINE size_t coll_i_offload_pieces(const coll_i_offload_translation *t,
                                         const coll_nic_op *op)
{
    return (op->count + t->most - 1) / t->most;
}

/* Of so many atomics, those that may be in flight at one time. */
COLL_INLINE uint32_t coll_i_offload_wave(size_t pieces)
{
    const uint32_t most = COLL_I_OFFLOAD_WAVE;
    return pieces < most ? (uint32_t)pieces : most;
}

/* The same threshold, of pieces. */
COLL_INLINE uint32_t coll_i_offload_threshold(const coll_i_offload_translation *t,
                                              uint32_t counter, uint32_t threshold)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->program->needs.ops && threshold > 0; i++)
        if (t->program->ops[i].done == counter) {
            sum += t->weights[i];
            threshold--;
        }
    return sum;
}

/* May an operation of this kind be the one that brings a counter to a threshold? It is one of the group that ends
 * there: those after the threshold before. */
COLL_INLINE bool coll_i_offload_is_fired_by(const coll_nic_program *program, uint32_t counter,
                                            uint32_t threshold, uint8_t kind)
{
    uint32_t before = 0, at = 0;
    for (uint32_t i = 0; i < program->needs.ops; i++)
        if (program->ops[i].trigger == counter && program->ops[i].threshold < threshold &&
            program->ops[i].threshold > before)
            before = program->ops[i].threshold;
    for (uint32_t i = 0; i < program->needs.ops && at < threshold; i++)
        if (program->ops[i].done == counter && at++ >= before && program->ops[i].kind == kind)
            return true;
    return false;
}

/* A counter of one operation's own. */
COLL_INLINE uint32_t coll_i_offload_new_counter(coll_i_offload_translation *t, uint32_t counts)
{
    t->counts[t->needs.counters] = counts;
    return t->needs.counters++;
}

/* ---- pieces ------------------------------------------------------------------------------ */

/* One more piece, with the trigger of an operation. */
COLL_INLINE coll_i_offload_step *coll_i_offload_step_for(coll_i_offload_translation *t,
                                                         const coll_nic_op *op, uint8_t kind)
{
    coll_i_offload_step *step = &t->steps[t->needs.works++];
    memset(step, 0, sizeof *step);
    step->kind = kind;
    step->when = COLL_I_OFFLOAD_ALL;
    step->local = step->remote = COLL_I_OFFLOAD_WORD;
    step->done = op->done;
    step->trigger = t->start;
    step->threshold = 1;
    if (op->trigger != COLL_NIC_NONE && op->threshold > 0) {
        step->trigger = op->trigger;
        step->threshold = coll_i_offload_threshold(t, op->trigger, op->threshold);
    }
    if (kind == COLL_I_OFFLOAD_READ)
        t->needs.own++;
    return step;
}

/* Where a piece's own end of memory is, `skip` bytes behind a ref. */
COLL_INLINE void coll_i_offload_local(const coll_i_offload_translation *t,
                                      coll_i_offload_step *step, coll_ref ref, size_t skip)
{
    step->local = (uint8_t)coll_ref_space(ref);
    step->local_at = coll_ref_offset(ref) * t->elem_bytes + skip;
}

/* … and the other end. */
COLL_INLINE void coll_i_offload_remote(const coll_i_offload_translation *t,
                                       coll_i_offload_step *step, coll_ref ref, size_t skip)
{
    step->remote = (uint8_t)coll_ref_space(ref);
    step->remote_at = coll_ref_offset(ref) * t->elem_bytes + skip;
}

/* A piece that does nothing but count, later: a read of a word. */
COLL_INLINE coll_i_offload_step *coll_i_offload_relay(coll_i_offload_translation *t,
                                                      const coll_nic_op *op)
{
    coll_i_offload_step *step = coll_i_offload_step_for(t, op, COLL_I_OFFLOAD_READ);
    step->local_at = sizeof t->nic->word[0];
    step->bytes = sizeof t->nic->word[0];
    return step;
}

COLL_INLINE void coll_i_offload_message(coll_i_offload_translation *t, const coll_nic_op *op)
{
    const bool sends = op->kind == COLL_NIC_SEND;
    coll_i_offload_step *step;
    uint32_t relayed = UINT32_MAX;
    if (t->nic->relays && op->trigger != COLL_NIC_NONE &&
        coll_i_offload_is_fired_by(t->program, op->trigger, op->threshold, op->kind)) {
        relayed = coll_i_offload_new_counter(t, 1);
        coll_i_offload_relay(t, op)->done = relayed;
    }
    step = coll_i_offload_step_for(t, op, sends ? COLL_I_OFFLOAD_SEND : COLL_I_OFFLOAD_RECV);
    if (relayed != UINT32_MAX) {
        step->trigger = relayed;
        step->threshold = 1;
    }
    step->peer = op->peer;
    step->number = op->number;
    step->bytes = coll_i_offload_bytes(t, op);
    if (step->bytes > 0)
        coll_i_offload_local(t, step, sends ? op->src : op->dst, 0);
    t->needs.sends += sends ? 1 : 0;
}

/* Something that only counts. */
COLL_INLINE void coll_i_offload_add(coll_i_offload_translation *t, const coll_nic_op *op)
{
    if (t->nic->relays)
        (void)coll_i_offload_relay(t, op);
    else
        (void)coll_i_offload_step_for(t, op, COLL_I_OFFLOAD_ADD);
}

/* dst = src. */
COLL_INLINE coll_i_offload_step *coll_i_offload_copy(coll_i_offload_translation *t,
                                                     const coll_nic_op *op)
{
    coll_i_offload_step *step = coll_i_offload_step_for(t, op, COLL_I_OFFLOAD_READ);
    step->bytes = coll_i_offload_bytes(t, op);
    coll_i_offload_local(t, step, op->dst, 0);
    coll_i_offload_remote(t, step, op->src, 0);
    return step;
}

/* dst = dst ⊕ operand, of the pieces from one on, which count on `done`. They wait for the counter `chain`, or, if
 * there is no threshold, for what the operation waits for. */
COLL_INLINE void coll_i_offload_combine(coll_i_offload_translation *t, const coll_nic_op *op,
                                        coll_ref operand, size_t from, uint32_t chain,
                                        uint32_t threshold, uint32_t done)
{
    const size_t all = coll_i_offload_bytes(t, op), most = t->most * t->elem_bytes;
    for (size_t i = from; i < from + COLL_I_OFFLOAD_WAVE && i * most < all; i++) {
        coll_i_offload_step *step = coll_i_offload_step_for(t, op, COLL_I_OFFLOAD_ATOMIC);
        step->bytes = all - i * most < most ? all - i * most : most;
        step->done = done;
        if (threshold > 0) {
            step->trigger = chain;
            step->threshold = threshold;
        }
        coll_i_offload_local(t, step, operand, i * most);
        coll_i_offload_remote(t, step, op->dst, i * most);
    }
}

/* dst = src ⊕ via_0 ⊕ … */
COLL_INLINE void coll_i_offload_reduce(coll_i_offload_translation *t, const coll_nic_op *op)
{
    const size_t pieces = coll_i_offload_pieces(t, op);
    const bool swaps = op->dst == op->via && op->dst != op->src; /* via_0 ⊕ src */
    const bool copies = !swaps && op->dst != op->src;
    uint32_t chain = UINT32_MAX, waits = copies ? 1 : 0;
    if (op->inputs > 1 || copies || pieces > COLL_I_OFFLOAD_WAVE)
        chain = coll_i_offload_new_counter(t, 0);
    if (copies)
        coll_i_offload_copy(t, op)->done = chain;
    for (uint32_t k = 0; k < op->inputs; k++) {
        const coll_ref operand = k == 0 && swaps ? op->src : op->via + k * op->stride;
        for (size_t from = 0; from < pieces; from += COLL_I_OFFLOAD_WAVE) {
            const bool more = pieces - from > COLL_I_OFFLOAD_WAVE;
            const bool last = !more && k + 1u == op->inputs;
            coll_i_offload_combine(t, op, operand, from, chain, waits, last ? op->done : chain);
            if (!last)
                waits += coll_i_offload_wave(pieces - from);
        }
    }
    if (chain != UINT32_MAX)
        t->counts[chain] = waits;
    t->needs.own += coll_i_offload_wave(pieces);
}

/* The end of an epoch: it starts the next one, or tells the host. */
COLL_INLINE void coll_i_offload_end(coll_i_offload_translation *t, const coll_nic_op *op)
{
    coll_i_offload_step *again = t->nic->relays
                                     ? coll_i_offload_relay(t, op)
                                     : coll_i_offload_step_for(t, op, COLL_I_OFFLOAD_ADD);
    coll_i_offload_step *tell = coll_i_offload_step_for(t, op, COLL_I_OFFLOAD_ADD);
    again->when = COLL_I_OFFLOAD_NOT_LAST;
    again->done = t->start;
    tell->when = COLL_I_OFFLOAD_LAST;
    tell->done = t->end;
}

COLL_INLINE void coll_i_offload_translate_op(coll_i_offload_translation *t,
                                             const coll_nic_op *op)
{
    switch ((coll_nic_kind)op->kind) {
    case COLL_NIC_SEND:
    case COLL_NIC_RECV:
        coll_i_offload_message(t, op);
        break;
    case COLL_NIC_COPY:
        if (op->dst != op->src && coll_i_offload_bytes(t, op) > 0)
            (void)coll_i_offload_copy(t, op);
        else
            coll_i_offload_add(t, op);
        break;
    case COLL_NIC_REDUCE:
        coll_i_offload_reduce(t, op);
        break;
    case COLL_NIC_ADD:
        coll_i_offload_add(t, op);
        break;
    case COLL_NIC_END:
        coll_i_offload_end(t, op);
        break;
    case COLL_NIC_NETWORK:
    case COLL_NIC_SIGNAL:
    case COLL_NIC_PUT:
    case COLL_NIC_ARRIVE:
    case COLL_NIC_KINDS:
        break; /* refused */
    }
}

/* ---- what is refused --------------------------------------------------------------------- */

/* Bytes of a space that an operand takes. */
COLL_INLINE void coll_i_offload_extend(coll_i_offload_translation *t, coll_ref ref,
                                       size_t count)
{
    const size_t end = (coll_ref_offset(ref) + count) * t->elem_bytes;
    const unsigned space = (unsigned)coll_ref_space(ref);
    if (count > 0 && end > t->extents[space])
        t->extents[space] = end;
}

/* Why deferred work cannot do an operation; NULL: it can. */
COLL_INLINE const char *coll_i_offload_refuses(coll_i_offload_translation *t,
                                               const coll_nic_op *op)
{
    const bool message = op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_RECV;
    if (op->kind == COLL_NIC_NETWORK)
        return "the program reduces in the network, which is no deferred work: take an "
               "algorithm that sends messages";
    if (op->kind == COLL_NIC_SIGNAL)
        return "the program signals its peers: lower it with limits.unexpected, as libfabric "
               "keeps messages that come before their receives";
    if (op->kind == COLL_NIC_PUT || op->kind == COLL_NIC_ARRIVE)
        return "the program puts its messages, whose credits would be signals: lower it "
               "without "
               "limits.puts";
    if (message && (op->peer >= t->nic->p || op->number >> COLL_I_OFFLOAD_NUMBER_BITS != 0))
        return "the program is not one of these ranks, or has more than a million messages "
               "between two of them: lower a plan of as many ranks as the NIC was opened for";
    if (message && coll_i_offload_bytes(t, op) > t->nic->info->ep_attr->max_msg_size)
        return "the program has a message that is longer than the provider sends at once: "
               "take smaller segments";
    if (op->kind == COLL_NIC_REDUCE && (op->token || op->count == 0 || op->inputs == 0))
        return "the program reduces nothing, which is no deferred work: lower it again";
    if (!op->token && coll_i_nic_reads(op))
        coll_i_offload_extend(t, op->src, op->count);
    if (!op->token && coll_i_nic_writes(op))
        coll_i_offload_extend(t, op->dst, op->count);
    if (op->kind == COLL_NIC_REDUCE)
        coll_i_offload_extend(t, op->via, coll_i_nic_span(op));
    if (t->extents[COLL_SHARED] > 0)
        return "the program uses memory that the ranks of a node share, which a NIC does not "
               "know: take an algorithm without";
    return NULL;
}

/* What the NIC has too little of; NULL: nothing. */
COLL_INLINE const char *coll_i_offload_lacks(const coll_i_offload_translation *t)
{
    const struct fi_info *info = t->nic->info;
    if (t->needs.counters > info->domain_attr->cntr_cnt - t->nic->counters)
        return "the program needs more counters than the provider has left: close other "
               "programs, or lower it with fewer (coll_nic_limits.counters)";
    if (t->needs.sends > info->tx_attr->size || t->needs.own > info->tx_attr->size)
        return "the program may have more sends, or copies and reductions, in flight than the "
               "provider queues: take an algorithm with fewer steps, or larger segments";
    if (t->needs.receives > info->rx_attr->size)
        return "the program posts more receives at one time than the provider holds: lower it "
               "with fewer (coll_nic_limits.receives)";
    return NULL;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Pieces of all operations, at most. */
COLL_INLINE size_t coll_i_offload_count(coll_i_offload_translation *t)
{
    size_t all = 0;
    for (uint32_t i = 0; i < t->program->needs.ops; i++) {
        const coll_nic_op *op = &t->program->ops[i];
        const bool reduces = op->kind == COLL_NIC_REDUCE;
        const size_t pieces = reduces ? coll_i_offload_pieces(t, op) : (size_t)1;
        all += reduces ? 1 + op->inputs * pieces : 2;
        t->weights[i] = (uint32_t)((pieces - 1) % COLL_I_OFFLOAD_WAVE + 1);
        if (op->done != COLL_NIC_NONE)
            t->counts[op->done] += t->weights[i];
    }
    return all;
}

COLL_INLINE void coll_i_offload_forget(coll_i_offload_translation *t)
{
    free(t->steps);
    free(t->weights);
    free(t->counts);
    t->steps = NULL;
    t->weights = t->counts = NULL;
}

/* Translates a program, for elements of so many bytes of which an atomic combines `most`. NULL, and *t has what
 * coll_i_offload_forget frees; else a sentence that says why not. */
COLL_INLINE const char *coll_i_offload_translate(coll_i_offload_translation *t,
                                                 const coll_ofi_nic *nic,
                                                 const coll_nic_program *program,
                                                 size_t elem_bytes, size_t most)
{
    const char *why = NULL;
    memset(t, 0, sizeof *t);
    t->program = program;
    t->nic = nic;
    t->elem_bytes = elem_bytes;
    t->most = most ? most : 1;
    for (uint32_t i = 0; i < program->needs.ops && !why; i++)
        why = coll_i_offload_refuses(t, &program->ops[i]);
    if (why)
        return why;
    t->weights = (uint32_t *)calloc(program->needs.ops, sizeof *t->weights);
    t->counts = (uint32_t *)calloc((size_t)program->needs.counters + program->needs.ops + 2,
                                   sizeof *t->counts);
    if (t->weights && t->counts)
        t->steps = (coll_i_offload_step *)calloc(coll_i_offload_count(t), sizeof *t->steps);
    if (!t->steps) {
        coll_i_offload_forget(t);
        return "there is not enough memory";
    }
    t->needs.receives = program->needs.receives;
    t->needs.counters = program->needs.counters;
    t->start = coll_i_offload_new_counter(t, 1);
    t->end = coll_i_offload_new_counter(t, 0);
    for (uint32_t i = 0; i < program->needs.ops; i++)
        coll_i_offload_translate_op(t, &program->ops[i]);
    why = coll_i_offload_lacks(t);
    if (why)
        coll_i_offload_forget(t);
    return why;
}

/* ---- operators --------------------------------------------------------------------------- */

/* An operator and a type as libfabric has them. */
typedef struct coll_i_offload_operator {
    enum fi_op op;
    enum fi_datatype type;
} coll_i_offload_operator;

/* False: libfabric has it not, or not with the same result for every bit of the operands. */
COLL_INLINE bool coll_i_offload_operator_of(const coll_op *op, coll_i_offload_operator *its)
{
    static const enum fi_op ops[] = {FI_SUM, FI_PROD, FI_MIN,  FI_MAX, FI_BAND,
                                     FI_BOR, FI_BXOR, FI_LAND, FI_LOR, FI_LXOR};
    static const enum fi_datatype types[] = {FI_INT8,  FI_INT16,  FI_INT32,  FI_INT64,
                                             FI_UINT8, FI_UINT16, FI_UINT32, FI_UINT64};
    coll_operator number;
    coll_type type;
    if (!coll_op_predefined(op, &number, &type) || number >= sizeof ops / sizeof ops[0])
        return false;
    its->op = ops[number];
    its->type = type == COLL_F32 ? FI_FLOAT : FI_DOUBLE;
    if (type == COLL_F32 || type == COLL_F64)
        return number == COLL_SUM || number == COLL_PROD;
    if (type >= sizeof types / sizeof types[0])
        return false;
    its->type = types[type];
    return true;
}

#endif /* COLL_TRANSPORTS_OFI_OFFLOAD_TRANSLATE_H */
