/* coll/transports/ofi_offload/works.h — pieces of deferred work that are queued, again in each epoch
 *
 * A slot has a struct fi_deferred_work for each piece, which libfabric uses until the piece is done; an epoch
 * takes a slot. Only thresholds and tags change from one epoch to the next.
 *
 * Use ../ofi_offload.h.
 */
#ifndef COLL_TRANSPORTS_OFI_OFFLOAD_WORKS_H
#define COLL_TRANSPORTS_OFI_OFFLOAD_WORKS_H

#include "translate.h"

/* A piece, with all that its description points to. */
typedef struct coll_i_offload_work {
    struct fi_deferred_work work;
    union {
        struct fi_op_tagged tagged;
        struct fi_op_rma rma;
        struct fi_op_atomic atomic;
        struct fi_op_cntr add;
    } op;
    union {
        struct iovec bytes;
        struct fi_ioc elements;
    } local;
    union {
        struct fi_rma_iov bytes;
        struct fi_rma_ioc elements;
    } remote;
    void *descriptor;
} coll_i_offload_work;

/* A program that is queued; all of it is private. */
typedef struct coll_ofi_offload {
    coll_ofi_nic *nic;
    coll_i_offload_step *steps; /* needs.works of them */
    uint32_t *counts;           /* by counter: in one epoch */
    struct fid_cntr **counters;
    coll_i_offload_work *works; /* of all slots */
    struct fid_mr *registered[COLL_I_OFFLOAD_SPACES];
    void *base[COLL_I_OFFLOAD_SPACES];
    coll_ofi_offload_needs needs;
    coll_i_offload_operator op;
    size_t elem_bytes;
    uint32_t start, end; /* counters */
    uint32_t number;     /* of the program */
    uint32_t slots;
    uint32_t epoch;       /* armed so far */
    uint32_t ahead, each; /* starts that are armed, and epochs of each */
    uint32_t starts;      /* so far */
    int sleeps_on;        /* a descriptor that tells of the end; −1: there is none */
    coll_status status;   /* COLL_AGAIN: it runs */
} coll_ofi_offload;

/* ---- one piece --------------------------------------------------------------------------- */

COLL_INLINE void *coll_i_offload_at(const coll_ofi_offload *o, uint8_t space, size_t at)
{
    return (unsigned char *)o->base[space] + at;
}

COLL_INLINE void *coll_i_offload_descriptor(const coll_ofi_offload *o, uint8_t space)
{
    return o->registered[space] ? fi_mr_desc(o->registered[space]) : NULL;
}

COLL_INLINE void coll_i_offload_fill_message(const coll_ofi_offload *o,
                                             const coll_i_offload_step *step,
                                             coll_i_offload_work *w)
{
    struct fi_msg_tagged *message = &w->op.tagged.msg;
    w->work.op_type = step->kind == COLL_I_OFFLOAD_SEND ? FI_OP_TSEND : FI_OP_TRECV;
    w->work.op.tagged = &w->op.tagged;
    w->local.bytes.iov_base = coll_i_offload_at(o, step->local, step->local_at);
    w->local.bytes.iov_len = step->bytes;
    w->op.tagged.ep = o->nic->ep;
    message->msg_iov = &w->local.bytes;
    message->desc = &w->descriptor;
    message->iov_count = 1;
    message->addr = o->nic->peers[step->peer];
    message->context = &w->work.context;
}

COLL_INLINE void coll_i_offload_fill_read(const coll_ofi_offload *o,
                                          const coll_i_offload_step *step,
                                          coll_i_offload_work *w)
{
    struct fi_msg_rma *message = &w->op.rma.msg;
    w->work.op_type = FI_OP_READ;
    w->work.op.rma = &w->op.rma;
    w->local.bytes.iov_base = coll_i_offload_at(o, step->local, step->local_at);
    w->local.bytes.iov_len = step->bytes;
    w->remote.bytes.addr = coll_i_offload_place(o->nic, o->base[step->remote], step->remote_at);
    w->remote.bytes.len = step->bytes;
    w->remote.bytes.key = fi_mr_key(o->registered[step->remote]);
    w->op.rma.ep = o->nic->own;
    message->msg_iov = &w->local.bytes;
    message->desc = &w->descriptor;
    message->iov_count = 1;
    message->addr = o->nic->self;
    message->rma_iov = &w->remote.bytes;
    message->rma_iov_count = 1;
    message->context = &w->work.context;
}

/* An atomic is complete when its target has the result. */
COLL_INLINE void coll_i_offload_fill_atomic(const coll_ofi_offload *o,
                                            const coll_i_offload_step *step,
                                            coll_i_offload_work *w)
{
    struct fi_msg_atomic *message = &w->op.atomic.msg;
    w->work.op_type = FI_OP_ATOMIC;
    w->work.op.atomic = &w->op.atomic;
    w->local.elements.addr = coll_i_offload_at(o, step->local, step->local_at);
    w->local.elements.count = step->bytes / o->elem_bytes;
    w->remote.elements.addr =
        coll_i_offload_place(o->nic, o->base[step->remote], step->remote_at);
    w->remote.elements.count = w->local.elements.count;
    w->remote.elements.key = fi_mr_key(o->registered[step->remote]);
    w->op.atomic.ep = o->nic->own;
    w->op.atomic.flags = FI_DELIVERY_COMPLETE;
    message->msg_iov = &w->local.elements;
    message->desc = &w->descriptor;
    message->iov_count = 1;
    message->addr = o->nic->self;
    message->rma_iov = &w->remote.elements;
    message->rma_iov_count = 1;
    message->datatype = o->op.type;
    message->op = o->op.op;
    message->context = &w->work.context;
}

/* Fills a piece in, but for what changes with epochs. */
COLL_INLINE void coll_i_offload_fill(const coll_ofi_offload *o, const coll_i_offload_step *step,
                                     coll_i_offload_work *w)
{
    memset(w, 0, sizeof *w);
    w->descriptor = coll_i_offload_descriptor(o, step->local);
    w->work.triggering_cntr = o->counters[step->trigger];
    w->work.completion_cntr = o->counters[step->done];
    switch (step->kind) {
    case COLL_I_OFFLOAD_SEND:
    case COLL_I_OFFLOAD_RECV:
        coll_i_offload_fill_message(o, step, w);
        break;
    case COLL_I_OFFLOAD_READ:
        coll_i_offload_fill_read(o, step, w);
        break;
    case COLL_I_OFFLOAD_ATOMIC:
        coll_i_offload_fill_atomic(o, step, w);
        break;
    default:
        w->work.op_type = FI_OP_CNTR_ADD;
        w->work.op.cntr = &w->op.add;
        w->op.add.cntr = o->counters[step->done];
        w->op.add.value = 1;
        w->work.completion_cntr = NULL; /* an operation on a counter must have none */
        break;
    }
}

/* Of which message of which epoch. */
COLL_INLINE uint64_t coll_i_offload_tag(const coll_ofi_offload *o, uint32_t epoch,
                                        uint32_t number)
{
    const uint64_t low = epoch & (((uint32_t)1 << COLL_I_OFFLOAD_EPOCH_BITS) - 1);
    return ((low << COLL_I_OFFLOAD_PROGRAM_BITS) + o->number) << COLL_I_OFFLOAD_NUMBER_BITS |
           number;
}

/* ---- epochs ------------------------------------------------------------------------------ */

/* Queues a piece. The provider may have to connect to a peer first. */
COLL_INLINE int coll_i_offload_queue_one(const coll_ofi_offload *o, coll_i_offload_work *w)
{
    const uint64_t until = coll_i_tcp_now() + o->nic->patience;
    int code;
    do
        code = fi_control(&o->nic->domain->fid, FI_QUEUE_WORK, &w->work);
    while (code == -FI_EAGAIN && coll_i_tcp_now() < until);
    return code;
}

/* Queues the next epoch, the last one of a start or not. */
COLL_INLINE int coll_i_offload_queue(coll_ofi_offload *o, bool last)
{
    coll_i_offload_work *works = o->works + (size_t)(o->epoch % o->slots) * o->needs.works;
    int code = 0;
    for (uint32_t i = 0; i < o->needs.works && code == 0; i++) {
        const coll_i_offload_step *step = &o->steps[i];
        coll_i_offload_work *w = &works[i];
        if (step->when == (last ? COLL_I_OFFLOAD_NOT_LAST : COLL_I_OFFLOAD_LAST))
            continue;
        w->work.threshold = (uint64_t)o->epoch * o->counts[step->trigger] + step->threshold;
        if (step->kind <= COLL_I_OFFLOAD_RECV)
            w->op.tagged.msg.tag = coll_i_offload_tag(o, o->epoch, step->number);
        code = coll_i_offload_queue_one(o, w);
    }
    o->epoch++;
    return code;
}

/* Would counters exceed what a provider counts, after so many more epochs? sockets has 31 bits. */
COLL_INLINE bool coll_i_offload_is_worn(const coll_ofi_offload *o, uint32_t epochs)
{
    for (uint32_t c = 0; c < o->needs.counters; c++)
        if (o->counts[c] != 0 &&
            (uint64_t)o->epoch + epochs > (uint64_t)INT32_MAX / o->counts[c])
            return true;
    return false;
}

/* Sleeps until the end counter is added to, for so many milliseconds at most. fi_cntr_wait is for those without a
 * descriptor: before libfabric 1.22 sockets returns from it at once, if there is a limit. */
COLL_INLINE void coll_i_offload_sleep(coll_ofi_offload *o, int milliseconds)
{
    struct fid *one = &o->counters[o->end]->fid;
    struct pollfd descriptor;
    char bytes[64];
    if (o->sleeps_on < 0) {
        (void)fi_cntr_wait(o->counters[o->end], o->starts, milliseconds);
        return;
    }
    descriptor.fd = o->sleeps_on;
    descriptor.events = POLLIN;
    descriptor.revents = 0;
    if (fi_trywait(o->nic->fabric, &one, 1) == 0 && poll(&descriptor, 1, milliseconds) == 1 &&
        o->nic->relays) /* sockets writes a byte each time, and leaves reading them to others */
        while (read(descriptor.fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
            ;
}

/* ---- opening and closing ----------------------------------------------------------------- */

COLL_INLINE void coll_i_offload_drop(coll_ofi_offload *o)
{
    for (uint32_t c = 0; o->counters && c < o->needs.counters; c++)
        coll_i_offload_close_counter(o->nic, o->counters[c]);
    for (unsigned s = 0; s < COLL_I_OFFLOAD_WORD; s++)
        if (o->registered[s])
            (void)fi_close(&o->registered[s]->fid);
    free(o->works);
    free(o->counters);
    free(o->counts);
    free(o->steps);
    o->nic->open--;
    free(o);
}

/* Opens the counters, the last one with a descriptor, if the provider has one. False: there are none. */
COLL_INLINE bool coll_i_offload_open_counters(coll_ofi_offload *o)
{
    for (uint32_t c = 0; c < o->needs.counters; c++) {
        o->counters[c] =
            coll_i_offload_counter(o->nic, c == o->end ? FI_WAIT_FD : FI_WAIT_NONE);
        if (c == o->end && !o->counters[c])
            o->counters[c] = coll_i_offload_counter(o->nic, FI_WAIT_UNSPEC);
        if (!o->counters[c])
            return false;
    }
    if (fi_control(&o->counters[o->end]->fid, FI_GETWAIT, &o->sleeps_on) != 0)
        o->sleeps_on = -1;
    return true;
}

/* Opens counters, registers memory of so many bytes, and fills in all pieces. */
COLL_INLINE bool coll_i_offload_prepare(coll_ofi_offload *o, const size_t *extents)
{
    o->counters = (struct fid_cntr **)calloc(o->needs.counters, sizeof(struct fid_cntr *));
    o->works =
        (coll_i_offload_work *)calloc((size_t)o->slots * o->needs.works, sizeof *o->works);
    if (!o->counters || !o->works)
        return false;
    if (!coll_i_offload_open_counters(o))
        return false;
    for (unsigned s = 0; s < COLL_SPACES; s++) {
        if (extents[s] == 0)
            continue;
        o->registered[s] =
            coll_i_offload_register(o->nic, o->base[s], extents[s], s != COLL_IN);
        if (!o->registered[s])
            return false;
    }
    o->registered[COLL_I_OFFLOAD_WORD] = o->nic->word_mr;
    o->base[COLL_I_OFFLOAD_WORD] = o->nic->word;
    for (uint32_t slot = 0; slot < o->slots; slot++)
        for (uint32_t i = 0; i < o->needs.works; i++)
            coll_i_offload_fill(o, &o->steps[i], &o->works[(size_t)slot * o->needs.works + i]);
    return true;
}

#endif /* COLL_TRANSPORTS_OFI_OFFLOAD_WORKS_H */
