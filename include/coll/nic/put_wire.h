/* coll/nic/put_wire.h — counter machines that put, over any transport that can (one_sided.h)
 *
 *   uint32_t words[COLL_NIC_PUT_WORDS(P)];
 *   coll_handle handles[…];                          // as many as the program has operations
 *   coll_nic_put_port port;
 *   coll_nic_put_init(&port, &transport, ctx, rank, P, words, handles);
 *   coll_nic_put_place(&port, window, bytes, out_at, scratch_at);   // where OUT and SCRATCH lie, on all ranks
 *   status = coll_nic_put_expose(&port, number, tag);
 *   … a barrier …
 *   coll_nic_open(&machine, &program, &coll_nic_by_puts, &port, counters, states);
 *   coll_nic_put_run(&port, &machine);               // before each start
 *   status = coll_nic_start(&machine);
 *   while ((status = coll_nic_progress(&machine)) == COLL_AGAIN)
 *       (void)coll_nic_put_poll(&port);
 *   coll_nic_put_withdraw(&port);
 *
 * The program is one of put.h, of p ranks. Each rank exposes one region, in which OUT and SCRATCH lie at the same places
 * on all ranks. It has two counters for each peer: the credits of that, which are puts of 0 bytes, and the puts of that.
 * Nothing is received, and the next epoch needs no barrier: its puts wait for credits, which come after its start.
 *
 * A program that fails aborts its tag, so that all end. A peer that dies ends it, too, if the transport knows. Then all
 * ranks withdraw their regions, and begin anew. Memory: the caller's. Nothing here allocates, blocks or waits.
 */
#ifndef COLL_NIC_PUT_WIRE_H
#define COLL_NIC_PUT_WIRE_H

#include "../transport.h"
#include "counter_machine.h"

/* Words of memory for p ranks: a constant expression. */
#define COLL_NIC_PUT_WORDS(p) (4 * (size_t)(p))

/* What joins one machine to regions of a transport. */
typedef struct coll_nic_put_port {
    const coll_transport *transport;
    void *ctx; /* the transport's */
    coll_nic_machine *machine;
    coll_handle *handles;      /* by number of an operation */
    uint32_t *seen;            /* of each counter: what the machine knows of */
    coll_region region;        /* OUT and SCRATCH, and two counters for each peer */
    size_t out_at, scratch_at; /* where they lie in the region */
    uint32_t rank, p;          /* whose it is, and of how many */
    uint32_t number;           /* of the region */
    uint32_t quiet;            /* polls in which nothing came */
} coll_nic_put_port;

/* A port of a rank without memory. Words and handles stay the caller's as long as it is used. */
COLL_INLINE void coll_nic_put_init(coll_nic_put_port *port, const coll_transport *transport,
                                   void *ctx, uint32_t rank, uint32_t p, uint32_t *words,
                                   coll_handle *handles)
{
    port->transport = transport;
    port->ctx = ctx;
    port->machine = NULL;
    port->handles = handles;
    port->seen = words;
    port->region.memory = NULL;
    port->region.bytes = 0;
    port->region.counters = words + 2 * (size_t)p;
    port->region.n = 2 * p;
    port->region.tag = 0;
    port->region.own[0] = port->region.own[1] = 0;
    port->out_at = port->scratch_at = 0;
    port->rank = rank;
    port->p = p;
    port->number = 0;
    port->quiet = 0;
}

/* Where OUT and SCRATCH lie in the caller's memory: so many bytes behind its begin, the same on all ranks. */
COLL_INLINE void coll_nic_put_place(coll_nic_put_port *port, void *memory, size_t bytes,
                                    size_t out_at, size_t scratch_at)
{
    port->region.memory = memory;
    port->region.bytes = bytes;
    port->out_at = out_at;
    port->scratch_at = scratch_at;
}

/* Exposes the memory as a region of the transport, the same number and tag on all ranks. COLL_ERR_CAPABILITY: the
 * transport cannot put, or not cancel; or an error of its expose. */
COLL_INLINE coll_status coll_nic_put_expose(coll_nic_put_port *port, uint32_t number,
                                            uint32_t tag)
{
    const coll_transport *t = port->transport;
    if (!t->one_sided || !t->failure || !t->failure->cancel)
        return COLL_ERR_CAPABILITY;
    port->number = number;
    port->region.tag = tag;
    for (size_t i = 0; i < COLL_NIC_PUT_WORDS(port->p) / 2; i++)
        port->seen[i] = 0;
    return t->one_sided->expose(port->ctx, number, &port->region);
}

/* Takes the memory back, when no machine runs. */
COLL_INLINE void coll_nic_put_withdraw(coll_nic_put_port *port)
{
    port->transport->one_sided->withdraw(port->ctx, port->number);
}

/* Before a machine that was opened on the port starts, in every epoch: sets its OUT and SCRATCH. */
COLL_INLINE void coll_nic_put_run(coll_nic_put_port *port, coll_nic_machine *machine)
{
    unsigned char *memory = (unsigned char *)port->region.memory;
    port->machine = machine;
    port->quiet = 0;
    if (!memory)
        return;
    machine->out = memory + port->out_at;
    machine->scratch = memory + port->scratch_at;
}

/* ---- the wire ---------------------------------------------------------------------------- */

/* Puts, for an operation. */
COLL_INLINE coll_status coll_i_nic_put_start(coll_nic_put_port *port, uint32_t op,
                                             coll_put_call *call)
{
    coll_handle *handle = &port->handles[op];
    handle->word[0] = handle->word[1] = 0;
    call->region = port->number;
    return port->transport->one_sided->put(port->ctx, call, handle);
}

COLL_INLINE coll_status coll_i_nic_put_message(void *ctx, const coll_nic_message *message)
{
    coll_nic_put_port *port = (coll_nic_put_port *)ctx;
    const coll_space space = coll_ref_space(message->at);
    coll_put_call call;
    if (message->peer >= port->p)
        return COLL_ERR_RANK;
    if (message->bytes != 0 && space != COLL_OUT && space != COLL_SCRATCH)
        return COLL_ERR_SHARED;
    call.peer = message->peer;
    call.counter = port->p + port->rank;
    call.from = message->from;
    call.bytes = message->bytes;
    call.offset = 0;
    if (message->bytes != 0)
        call.offset = (space == COLL_OUT ? port->out_at : port->scratch_at) +
                      coll_ref_offset(message->at) * port->machine->elem_bytes;
    return coll_i_nic_put_start(port, message->op, &call);
}

/* A credit: the operation is the SIGNAL to that peer which is just starting, the last one that has. */
COLL_INLINE coll_status coll_i_nic_put_signal(void *ctx, uint32_t peer)
{
    coll_nic_put_port *port = (coll_nic_put_port *)ctx;
    const coll_nic_machine *m = port->machine;
    uint32_t op = m->program->needs.ops;
    coll_put_call call;
    while (op-- > 0)
        if (m->states[op] == COLL_I_NIC_STARTED &&
            m->program->ops[op].kind == COLL_NIC_SIGNAL && m->program->ops[op].peer == peer)
            break;
    if (peer >= port->p || op >= m->program->needs.ops)
        return COLL_ERR_RANK;
    call.peer = peer;
    call.counter = port->rank;
    call.from = NULL;
    call.bytes = call.offset = 0;
    return coll_i_nic_put_start(port, op, &call);
}

COLL_INLINE void coll_i_nic_put_cancel(void *ctx, uint32_t op)
{
    coll_nic_put_port *port = (coll_nic_put_port *)ctx;
    port->transport->failure->cancel(port->ctx, &port->handles[op]);
}

/* The wire; its context is a coll_nic_put_port. */
COLL_CONST(coll_nic_wire, coll_nic_by_puts,
           {NULL /* send */, NULL /* recv */, coll_i_nic_put_signal, NULL /* network */,
            NULL /* copy */, NULL /* reduce */, coll_i_nic_put_cancel, NULL /* notify */,
            coll_i_nic_put_message});

/* ---- what comes -------------------------------------------------------------------------- */

/* Reads a counter, and tells the machine of what it does not know. */
COLL_INLINE coll_status coll_i_nic_put_read(coll_nic_put_port *port, uint32_t peer,
                                            bool credits, bool *moved)
{
    const uint32_t counter = credits ? peer : port->p + peer;
    uint32_t value = 0;
    const coll_status status =
        port->transport->one_sided->count(port->ctx, port->number, counter, &value);
    if (status != COLL_OK)
        return status;
    for (; port->seen[counter] != value; port->seen[counter]++) {
        *moved = true;
        if (!(credits ? coll_nic_signalled(port->machine, peer)
                      : coll_nic_arrived(port->machine, peer)))
            return COLL_ERR_STATE; /* nothing was to come of it */
    }
    return COLL_OK;
}

/* Is something to come in this epoch on a counter, that of place c among signal_peers? */
COLL_INLINE bool coll_i_nic_put_is_awaited(const coll_nic_put_port *port, uint32_t c)
{
    const coll_nic_machine *m = port->machine;
    const coll_nic_program *program = m->program;
    const uint32_t counter =
        c < program->signals
            ? c
            : program->needs.counters - program->arrivals + c - program->signals;
    return m->counters[counter] != m->epoch * program->counts[counter];
}

/* Reads all counters; now and then, when nothing comes, asks whether the peers live. */
COLL_INLINE coll_status coll_i_nic_put_look(coll_nic_put_port *port, bool *moved)
{
    enum { QUIET = 256 };
    const coll_nic_program *program = port->machine->program;
    const coll_failure *failure = port->transport->failure;
    const uint32_t peers = program->signals + program->arrivals;
    coll_status status = COLL_OK;
    for (uint32_t c = 0; c < peers && status == COLL_OK; c++)
        status =
            coll_i_nic_put_read(port, program->signal_peers[c], c < program->signals, moved);
    port->quiet = *moved ? 0 : port->quiet + 1;
    if (status != COLL_OK || port->quiet < QUIET || !failure->dead)
        return status;
    port->quiet = 0;
    for (uint32_t c = 0; c < peers && status == COLL_OK; c++)
        if (coll_i_nic_put_is_awaited(port, c) &&
            failure->dead(port->ctx, program->signal_peers[c])) {
            status = coll_i_nic_put_read(port, program->signal_peers[c], c < program->signals,
                                         moved);
            if (status == COLL_OK && coll_i_nic_put_is_awaited(port, c))
                status = COLL_ERR_IO;
        }
    return status;
}

/* Moves on what has started, and reads the counters. COLL_OK: something is done, or has come, and the machine may go
 * on; COLL_AGAIN: nothing is. */
COLL_INLINE coll_status coll_nic_put_poll(coll_nic_put_port *port)
{
    coll_nic_machine *m = port->machine;
    bool moved = false;
    coll_status status = COLL_OK;
    for (uint32_t i = 0; i < m->program->needs.ops && status >= 0; i++) {
        if (m->states[i] != COLL_I_NIC_STARTED)
            continue;
        status = port->transport->test(port->ctx, &port->handles[i]);
        if (status == COLL_OK) {
            moved = true;
            coll_nic_complete(m, i, COLL_OK);
        }
    }
    if (status >= 0)
        status = coll_i_nic_put_look(port, &moved);
    if (status < 0 && coll_nic_cancel(m, status) == COLL_OK && port->transport->failure->abort)
        port->transport->failure->abort(port->ctx, port->region.tag, 1);
    return moved || status < 0 ? COLL_OK : COLL_AGAIN;
}

#endif /* COLL_NIC_PUT_WIRE_H */
