/* coll/nic/counter_machine.h — the counter machine: runs one rank's program over what a NIC can do
 *
 *   uint32_t counters[…]; uint8_t states[…];       // as many as program.needs says
 *   coll_nic_machine machine;
 *   coll_nic_open(&machine, &program, &wire, context, counters, states);
 *   machine.in = x; machine.out = y; …
 *   status = coll_nic_start(&machine);             // one call, in every epoch
 *   while ((status = coll_nic_progress(&machine)) == COLL_AGAIN)
 *       …                                          // the NIC's events: coll_nic_complete, coll_nic_signalled
 *
 * It is what hardware with counters and triggered operations does, in software: for a NIC that runs
 * programs on a small processor, and for proofs. An operation starts when its counter has reached
 * its threshold, in the order of the list where several may. The wire moves messages; it tells by
 * coll_nic_complete when it is done with an operation's memory. All ranks open their machines before one
 * of them starts.
 *
 * The first error, and coll_nic_cancel, end the program: every operation that the wire works on is taken back,
 * and then all memory is the host's again. After that the counters of the ranks do not agree any more, and
 * all ranks have to open their machines anew. Memory: the caller's. Nothing here allocates, blocks or waits.
 */
#ifndef COLL_NIC_COUNTER_MACHINE_H
#define COLL_NIC_COUNTER_MACHINE_H

#include "nic_program.h"

struct coll_nic_machine;

/* A message of a machine, or its end of it. */
typedef struct coll_nic_message {
    uint32_t op; /* for coll_nic_complete */
    uint32_t peer;
    uint32_t number; /* among those between the two ranks in this direction, in one epoch … */
    uint32_t epoch;  /* … and which epoch: the tag is made of both */
    const void *from; /* SEND: where it lies; NULL where it has 0 bytes */
    void *to;         /* RECV: where it is to be put; likewise */
    coll_ref at;      /* PUT: where in the peer's memory */
    size_t bytes;
} coll_nic_message;

/* What a NIC can do. Each call returns COLL_OK: it is complete already; COLL_STARTED: coll_nic_complete will
 * be called; COLL_AGAIN: there is no room for it now, which others' progress brings and not this machine's;
 * or an error. coll_nic_complete may be called from within. */
typedef struct coll_nic_wire {
    /* Sends a message, whose memory is read, or receives one. */
    coll_status (*send)(void *ctx, const coll_nic_message *message);
    coll_status (*recv)(void *ctx, const coll_nic_message *message); /* see send */
    /* Has the peer's machine count a signal: coll_nic_signalled. NULL: programs have no signals. */
    coll_status (*signal)(void *ctx, uint32_t peer);
    /* Meets a group. NULL: COLL_ERR_CAPABILITY. */
    coll_status (*network)(void *ctx, uint32_t op);
    /* dst = src, dst = src ⊕ …, by hardware. NULL, or COLL_ERR_CAPABILITY: this processor does it. */
    coll_status (*copy)(void *ctx, uint32_t op);
    coll_status (*reduce)(void *ctx, uint32_t op); /* see copy */
    /* Takes back an operation that was started: when it returns, its memory is not touched any more. */
    void (*cancel)(void *ctx, uint32_t op);
    void (*notify)(void *ctx,
                   coll_status status); /* tells the host of the end; NULL: nobody is told */
    /* Puts a message into the peer's memory, whose machine then counts it: coll_nic_arrived. To one peer they take effect in
     * the order in which they are started. NULL: COLL_ERR_CAPABILITY. */
    coll_status (*put)(void *ctx, const coll_nic_message *message);
} coll_nic_wire;

/* Of an operation: it waits for its counter; the wire has it; it is complete. */
enum { COLL_I_NIC_WAITS, COLL_I_NIC_STARTED, COLL_I_NIC_DONE };

/* A machine of one rank. The host sets op and buffers between coll_nic_open and coll_nic_start, and may set
 * others before each start. */
typedef struct coll_nic_machine {
    coll_status status;              /* COLL_AGAIN: it runs */
    uint32_t epoch;                  /* starts so far; the first one is 1 */
    uint32_t first;                  /* all operations before this one have started … */
    uint32_t started;                /* … and so many altogether, in this epoch */
    const coll_nic_program *program; /* what it runs … */
    const coll_nic_wire *wire;       /* … and over what */
    void *ctx;                       /* the wire's */
    uint32_t *counters;              /* of all epochs so far */
    uint8_t *states;                 /* of operations, in this epoch */
    const coll_op *op;               /* NULL where nothing is reduced */
    const void *in;                  /* as of coll_task … */
    void *out;                       /* … likewise */
    void *scratch;                   /* … likewise */
    void *shared;                    /* … likewise */
    size_t elem_bytes;               /* of an element */
} coll_nic_machine;

/* A machine that has not started, with counters at 0. `counters` and `states` are as many as the program needs
 * counters and operations; they, the program and the wire stay the caller's as long as the machine is used. */
COLL_INLINE coll_status coll_nic_open(coll_nic_machine *m, const coll_nic_program *program,
                                      const coll_nic_wire *wire, void *ctx, uint32_t *counters,
                                      uint8_t *states)
{
    if (!m || !program || !wire || (!counters && program->needs.counters != 0) || !states)
        return COLL_ERR_NULL;
    m->op = NULL;
    m->in = NULL;
    m->out = m->scratch = m->shared = NULL;
    m->elem_bytes = 1;
    m->program = program;
    m->wire = wire;
    m->ctx = ctx;
    m->counters = counters;
    m->states = states;
    m->epoch = 0;
    m->first = m->started = 0;
    m->status = COLL_OK;
    for (uint32_t c = 0; c < program->needs.counters; c++)
        counters[c] = 0;
    return COLL_OK;
}

/* ---- one operation ----------------------------------------------------------------------- */

/* Where a ref of OUT, SCRATCH or SHARED lies. */
COLL_INLINE void *coll_nic_target(const coll_nic_machine *m, coll_ref ref)
{
    const coll_space space = coll_ref_space(ref);
    void *base = space == COLL_OUT ? m->out : space == COLL_SCRATCH ? m->scratch : m->shared;
    return (unsigned char *)base + coll_ref_offset(ref) * m->elem_bytes;
}

/* Where a ref of any space lies. */
COLL_INLINE const void *coll_nic_source(const coll_nic_machine *m, coll_ref ref)
{
    return coll_ref_space(ref) == COLL_IN
               ? (const unsigned char *)m->in + coll_ref_offset(ref) * m->elem_bytes
               : (const unsigned char *)coll_nic_target(m, ref);
}

/* Has its counter reached the threshold of an operation? */
COLL_INLINE bool coll_i_nic_triggered(const coll_nic_machine *m, const coll_nic_op *op)
{
    const uint32_t c = op->trigger;
    return c == COLL_NIC_NONE ||
           m->counters[c] - ((m->epoch - 1) * m->program->counts[c] + op->threshold) <=
               UINT32_MAX / 2;
}

/* Counts a complete operation. */
COLL_INLINE void coll_i_nic_count(coll_nic_machine *m, uint32_t i)
{
    m->states[i] = COLL_I_NIC_DONE;
    if (m->program->ops[i].done != COLL_NIC_NONE)
        m->counters[m->program->ops[i].done]++;
}

/* A COPY or a REDUCE, by this processor. Of the machine it takes op, buffers and elem_bytes. */
COLL_INLINE coll_status coll_i_nic_compute(const coll_nic_machine *m, const coll_nic_op *op)
{
    if (op->kind == COLL_NIC_REDUCE)
        for (uint32_t k = 0; k < op->inputs; k++)
            m->op->combine(coll_nic_target(m, op->dst),
                           coll_nic_source(m, k == 0 ? op->src : op->dst),
                           coll_nic_source(m, op->via + k * op->stride), op->count, m->op->arg);
    else if (op->dst != op->src)
        COLL_COPY(coll_nic_target(m, op->dst), coll_nic_source(m, op->src),
                  op->count * m->elem_bytes);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_nic_message_start(const coll_nic_machine *m, uint32_t i)
{
    const coll_nic_op *op = &m->program->ops[i];
    const bool puts = op->kind == COLL_NIC_PUT, sends = puts || op->kind == COLL_NIC_SEND;
    coll_nic_message message;
    message.op = i;
    message.peer = op->peer;
    message.number = op->number;
    message.epoch = m->epoch;
    message.bytes = op->token ? 0 : op->count * m->elem_bytes;
    message.from = sends && !op->token ? coll_nic_source(m, op->src) : NULL;
    message.to = sends || op->token ? NULL : coll_nic_target(m, op->dst);
    message.at = op->dst;
    if (puts)
        return m->wire->put ? m->wire->put(m->ctx, &message) : COLL_ERR_CAPABILITY;
    return sends ? m->wire->send(m->ctx, &message) : m->wire->recv(m->ctx, &message);
}

/* Starts an operation; the status of the wire. */
COLL_INLINE coll_status coll_i_nic_start_op(coll_nic_machine *m, uint32_t i)
{
    const coll_nic_op *op = &m->program->ops[i];
    coll_status status = COLL_ERR_CAPABILITY;
    switch ((coll_nic_kind)op->kind) {
    case COLL_NIC_SEND:
    case COLL_NIC_RECV:
    case COLL_NIC_PUT:
        return coll_i_nic_message_start(m, i);
    case COLL_NIC_COPY:
        if (m->wire->copy)
            status = m->wire->copy(m->ctx, i);
        return status != COLL_ERR_CAPABILITY ? status : coll_i_nic_compute(m, op);
    case COLL_NIC_REDUCE:
        if (m->wire->reduce)
            status = m->wire->reduce(m->ctx, i);
        return status != COLL_ERR_CAPABILITY ? status : coll_i_nic_compute(m, op);
    case COLL_NIC_NETWORK:
        return m->wire->network ? m->wire->network(m->ctx, i) : status;
    case COLL_NIC_SIGNAL:
        return m->wire->signal ? m->wire->signal(m->ctx, op->peer) : status;
    case COLL_NIC_ADD:
    case COLL_NIC_ARRIVE:
    case COLL_NIC_END:
        return COLL_OK;
    case COLL_NIC_KINDS:
        break;
    }
    return COLL_ERR_STATE;
}

/* Ends the program: the wire gives back what it has. That of a program whose end is right is nothing; else it is
 * COLL_ERR_STATE. */
COLL_INLINE void coll_i_nic_end(coll_nic_machine *m, coll_status status)
{
    for (uint32_t i = 0; i < m->program->needs.ops; i++)
        if (m->states[i] == COLL_I_NIC_STARTED) {
            m->wire->cancel(m->ctx, i);
            m->states[i] = COLL_I_NIC_DONE;
            if (status == COLL_OK)
                status = COLL_ERR_STATE;
        }
    m->status = status;
    if (m->wire->notify)
        m->wire->notify(m->ctx, status);
}

/* Starts an operation that may start. COLL_AGAIN: there was no room. */
COLL_INLINE coll_status coll_i_nic_issue(coll_nic_machine *m, uint32_t i)
{
    coll_status status;
    m->states[i] = COLL_I_NIC_STARTED; /* the wire may complete it at once */
    status = coll_i_nic_start_op(m, i);
    if (status == COLL_AGAIN)
        m->states[i] = COLL_I_NIC_WAITS;
    else if (status < 0)
        m->states[i] = COLL_I_NIC_DONE; /* nothing to take back */
    else if (status == COLL_OK)
        coll_i_nic_count(m, i);
    if (status != COLL_AGAIN)
        m->started++;
    return status;
}

/* ---- running ----------------------------------------------------------------------------- */

/* The wire is done with an operation, well or not. What it says of one that it does not have is not
 * heard. */
COLL_INLINE void coll_nic_complete(coll_nic_machine *m, uint32_t op, coll_status status)
{
    if (m->status != COLL_AGAIN || op >= m->program->needs.ops ||
        m->states[op] != COLL_I_NIC_STARTED)
        return;
    if (status == COLL_OK) {
        coll_i_nic_count(m, op);
    } else {
        m->states[op] = COLL_I_NIC_DONE;
        coll_i_nic_end(m, status);
    }
}

/* A signal of a peer is here. It may be so before this machine starts. False: none is to come of it. */
COLL_INLINE bool coll_nic_signalled(coll_nic_machine *m, uint32_t peer)
{
    for (uint32_t c = 0; c < m->program->signals; c++)
        if (m->program->signal_peers[c] == peer) {
            m->counters[c]++;
            return true;
        }
    return false;
}

/* A put of a peer is here: its bytes are. False: none is to come of it. */
COLL_INLINE bool coll_nic_arrived(coll_nic_machine *m, uint32_t peer)
{
    const uint32_t c = coll_i_nic_arrivals_of(m->program, peer);
    if (c == COLL_NIC_NONE)
        return false;
    m->counters[c]++;
    return true;
}

/* Starts what may start. COLL_AGAIN: the program is not over; COLL_OK: it is; or the error that ended it. */
COLL_INLINE coll_status coll_nic_progress(coll_nic_machine *m)
{
    bool moved = true;
    while (m->status == COLL_AGAIN && moved) {
        moved = false;
        for (uint32_t i = m->first; i < m->program->needs.ops && m->status == COLL_AGAIN; i++) {
            coll_status status;
            if (i == m->first && m->states[i] != COLL_I_NIC_WAITS)
                m->first++;
            if (m->states[i] != COLL_I_NIC_WAITS ||
                !coll_i_nic_triggered(m, &m->program->ops[i]))
                continue;
            status = coll_i_nic_issue(m, i);
            if (status == COLL_AGAIN) /* nothing passes what has no room */
                return m->status;
            moved = true;
            if (m->status != COLL_AGAIN)
                return m->status;
            if (status < 0)
                coll_i_nic_end(m, status);
            else if (m->program->ops[i].kind == COLL_NIC_END)
                coll_i_nic_end(m, COLL_OK);
        }
    }
    return m->status;
}

/* The next epoch begins, in which nothing has started. */
COLL_INLINE void coll_i_nic_arm(coll_nic_machine *m)
{
    m->epoch++;
    m->first = m->started = 0;
    for (uint32_t i = 0; i < m->program->needs.ops; i++)
        m->states[i] = COLL_I_NIC_WAITS;
    m->status = COLL_AGAIN;
}

/* Starts the program, for the first time or again: thresholds are higher by what the last epoch counted.
 * COLL_ERR_STATE: it is running, or has failed and is not open. */
COLL_INLINE coll_status coll_nic_start(coll_nic_machine *m)
{
    if (m->status != COLL_OK)
        return COLL_ERR_STATE;
    coll_i_nic_arm(m);
    return coll_nic_progress(m) < 0 ? m->status : COLL_OK;
}

/* Gives up a program that runs: COLL_ERR_CANCELLED, or another error, is its status then. COLL_ERR_STATE: it does
 * not run. */
COLL_INLINE coll_status coll_nic_cancel(coll_nic_machine *m, coll_status status)
{
    if (m->status != COLL_AGAIN || status >= 0)
        return COLL_ERR_STATE;
    coll_i_nic_end(m, status);
    return COLL_OK;
}

#endif /* COLL_NIC_COUNTER_MACHINE_H */
