/* coll/nic/transport_wire.h — a counter machine over any transport
 *
 *   coll_nic_flight flights[…];                      // as many as the program has operations
 *   coll_nic_port port;
 *   coll_nic_port_init(&port, &transport, ctx, tag, flights);
 *   coll_nic_open(&machine, &program, &coll_nic_over_transport, &port, counters, states);
 *   …
 *   coll_nic_port_run(&port, &machine, collective);  // before each start
 *   status = coll_nic_start(&machine);
 *   while ((status = coll_nic_progress(&machine)) == COLL_AGAIN)
 *       coll_nic_port_poll(&port);                   // operations that the transport has done
 *
 * Operations of a program start when their counters say so, and the messages of two ranks in any order; a
 * transport matches those of one tag in the order in which they start. So a message waits here until the one
 * before it, in the same direction between the same ranks, has begun. That never blocks a program: what a message
 * waits for is before it in the list. Messages are cut as engines cut them. Programs may not have
 * signals, as transports keep unexpected messages, nor reduce in the network. A transport with room for few
 * operations (COLL_AGAIN) must have it for all messages of the programs that run at once: else receives that are
 * posted early may leave none for what others wait for. Of the transport it takes copy
 * and reduce, too, if they are there, and failure->cancel, without which memory cannot be given back.
 */
#ifndef COLL_NIC_TRANSPORT_WIRE_H
#define COLL_NIC_TRANSPORT_WIRE_H

#include "../transport.h"
#include "counter_machine.h"

/* Of an operation that a machine has started. */
typedef enum coll_i_nic_flight_state {
    COLL_I_NIC_HELD,   /* it is not its turn, or there was no room */
    COLL_I_NIC_FLYING, /* the transport has it */
    COLL_I_NIC_AT_HOST /* the host has it */
} coll_i_nic_flight_state;

/* An operation on its way. */
typedef struct coll_nic_flight {
    coll_handle handle;
    size_t begun;  /* bytes of a message that the transport has had */
    uint8_t state; /* HELD, FLYING, AT_HOST */
} coll_nic_flight;

/* What joins one machine to one tag of a transport. */
typedef struct coll_nic_port {
    const coll_transport *transport;
    void *ctx;                 /* the transport's */
    coll_nic_machine *machine; /* that runs */
    coll_nic_flight *flights;  /* by number of an operation; the caller's */
    uint32_t tag;
    uint32_t first;  /* all operations before this one are done … */
    uint32_t flying; /* … and so many have started and are not */
    coll_collective collective;
    /* Has the host do an operation that is placed there (COLL_NIC_BY_HOST): COLL_STARTED, and
     * coll_nic_complete follows; COLL_AGAIN: not now. NULL: the NIC does all. */
    coll_status (*host)(void *host_ctx, uint32_t op);
    /* The host is to forget an operation that it has not done. NULL where host is. */
    void (*forget)(void *host_ctx, uint32_t op);
    void *host_ctx; /* theirs */
} coll_nic_port;

/* A port to a tag, where the NIC does everything. All stays the caller's as long as the port is used. */
COLL_INLINE void coll_nic_port_init(coll_nic_port *port, const coll_transport *transport,
                                    void *ctx, uint32_t tag, coll_nic_flight *flights)
{
    port->transport = transport;
    port->ctx = ctx;
    port->machine = NULL;
    port->flights = flights;
    port->tag = tag;
    port->first = port->flying = 0;
    port->collective = COLL_BARRIER;
    port->host = NULL;
    port->forget = NULL;
    port->host_ctx = NULL;
}

/* Before a machine that was opened on the port starts, in every epoch. */
COLL_INLINE void coll_nic_port_run(coll_nic_port *port, coll_nic_machine *machine,
                                   coll_collective collective)
{
    port->machine = machine;
    port->collective = collective;
    port->first = port->flying = 0;
}

/* ---- messages ---------------------------------------------------------------------------- */

COLL_INLINE size_t coll_i_nic_message_bytes(const coll_nic_machine *m, uint32_t i)
{
    const coll_nic_op *op = &m->program->ops[i];
    return op->token ? 0 : op->count * m->elem_bytes;
}

/* Has all of a message begun? */
COLL_INLINE bool coll_i_nic_has_begun(const coll_nic_port *port, uint32_t i)
{
    const coll_nic_machine *m = port->machine;
    const coll_nic_flight *flight = &port->flights[i];
    if (m->states[i] == COLL_I_NIC_STARTED)
        return flight->state == COLL_I_NIC_FLYING &&
               flight->begun == coll_i_nic_message_bytes(m, i);
    return m->states[i] == COLL_I_NIC_DONE;
}

/* The message before this one in the same direction between the same ranks, or `i`: it is the first. */
COLL_INLINE uint32_t coll_i_nic_older(const coll_nic_machine *m, uint32_t i)
{
    const coll_nic_op *ops = m->program->ops;
    uint32_t k = i;
    while (ops[i].number > 0 && k-- > 0)
        if (ops[k].kind == ops[i].kind && ops[k].peer == ops[i].peer)
            return k;
    return i;
}

/* Is it a message's turn: has the one before it begun? COLL_AGAIN: no. */
COLL_INLINE coll_status coll_i_nic_turn(const coll_nic_port *port, uint32_t i)
{
    const coll_nic_op *ops = port->machine->program->ops;
    const uint32_t older = coll_i_nic_older(port->machine, i);
    if (older == i)
        return ops[i].number == 0 ? COLL_OK : COLL_ERR_STATE;
    if (ops[older].number + 1 != ops[i].number)
        return COLL_ERR_STATE; /* no program that was lowered is like that */
    return coll_i_nic_has_begun(port, older) ? COLL_OK : COLL_AGAIN;
}

/* May an operation be tested? A transport may match a receive in its test, so not one that is younger than
 * another of its peer. */
COLL_INLINE bool coll_i_nic_may_test(const coll_nic_machine *m, uint32_t i)
{
    uint32_t older = i;
    if (m->program->ops[i].kind == COLL_NIC_RECV)
        older = coll_i_nic_older(m, i);
    return older == i || m->states[older] == COLL_I_NIC_DONE;
}

/* Begins the next piece of a message, or all that need no waiting. */
COLL_INLINE coll_status coll_i_nic_push(coll_nic_port *port, uint32_t i)
{
    const coll_nic_machine *m = port->machine;
    const coll_nic_op *op = &m->program->ops[i];
    const coll_transport *t = port->transport, *route = t;
    coll_nic_flight *flight = &port->flights[i];
    const size_t bytes = coll_i_nic_message_bytes(m, i);
    const bool sends = op->kind == COLL_NIC_SEND;
    bool whole;
    coll_status status = coll_i_nic_turn(port, i);
    if (COLL_ROUTES && t->routes)
        route = t->routes->to(port->ctx, op->peer);
    whole = coll_i_transport_is_whole_from(route, port->collective, bytes);
    while (status == COLL_OK) {
        const size_t left = bytes - flight->begun;
        const size_t piece = coll_i_transport_cuts(route, port->collective, left) && !whole
                                 ? route->max_bytes
                                 : left;
        flight->handle.word[0] = flight->handle.word[1] = 0;
        if (sends)
            status = t->send(port->ctx, op->peer, port->tag,
                             bytes ? (const unsigned char *)coll_nic_source(m, op->src) +
                                         flight->begun
                                   : NULL,
                             piece, &flight->handle);
        else
            status = t->recv(
                port->ctx, op->peer, port->tag,
                bytes ? (unsigned char *)coll_nic_target(m, op->dst) + flight->begun : NULL,
                piece, &flight->handle);
        if (status == COLL_OK || status == COLL_STARTED)
            flight->begun += piece;
        if (flight->begun == bytes)
            break;
    }
    return status;
}

/* ---- operations -------------------------------------------------------------------------- */

/* Has the host, or the transport's hardware, copy or reduce. COLL_ERR_CAPABILITY: this processor is to. */
COLL_INLINE coll_status coll_i_nic_compute_elsewhere(const coll_nic_port *port, uint32_t i)
{
    const coll_nic_machine *m = port->machine;
    const coll_nic_op *op = &m->program->ops[i];
    coll_handle *handle = &port->flights[i].handle;
    coll_reduce_call call;
    if (op->peer == COLL_NIC_BY_HOST && port->host)
        return port->host(port->host_ctx, i);
    handle->word[0] = handle->word[1] = 0;
    if (op->kind == COLL_NIC_COPY)
        return port->transport->copy && op->dst != op->src
                   ? port->transport->copy(port->ctx, coll_nic_target(m, op->dst),
                                           coll_nic_source(m, op->src),
                                           op->count * m->elem_bytes, handle)
                   : COLL_ERR_CAPABILITY;
    if (!port->transport->reduce || op->inputs != 1)
        return COLL_ERR_CAPABILITY;
    call.op = m->op;
    call.dst = coll_nic_target(m, op->dst);
    call.a = coll_nic_source(m, op->src);
    call.b = coll_nic_source(m, op->via);
    call.count = op->count;
    call.elem_bytes = m->elem_bytes;
    return port->transport->reduce(port->ctx, &call, handle);
}

/* Starts an operation, or goes on with it: COLL_STARTED, whatever it waits for. */
COLL_INLINE coll_status coll_i_nic_fly(coll_nic_port *port, uint32_t i)
{
    const coll_nic_op *op = &port->machine->program->ops[i];
    coll_nic_flight *flight = &port->flights[i];
    const bool message = op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_RECV;
    const coll_status status =
        message ? coll_i_nic_push(port, i) : coll_i_nic_compute_elsewhere(port, i);
    flight->state = COLL_I_NIC_HELD;
    if (status == COLL_STARTED)
        flight->state = !message && op->peer == COLL_NIC_BY_HOST && port->host
                            ? COLL_I_NIC_AT_HOST
                            : COLL_I_NIC_FLYING;
    return status == COLL_AGAIN ? COLL_STARTED : status;
}

COLL_INLINE coll_status coll_i_nic_port_start(coll_nic_port *port, uint32_t i)
{
    coll_status status;
    port->flights[i].begun = 0;
    status = coll_i_nic_fly(port, i);
    if (status == COLL_STARTED)
        port->flying++;
    return status;
}

COLL_INLINE coll_status coll_i_nic_port_message(void *ctx, const coll_nic_message *message)
{
    return coll_i_nic_port_start((coll_nic_port *)ctx, message->op);
}

COLL_INLINE coll_status coll_i_nic_port_compute(void *ctx, uint32_t op)
{
    return coll_i_nic_port_start((coll_nic_port *)ctx, op);
}

COLL_INLINE void coll_i_nic_port_cancel(void *ctx, uint32_t op)
{
    coll_nic_port *port = (coll_nic_port *)ctx;
    coll_nic_flight *flight = &port->flights[op];
    const coll_failure *failure = port->transport->failure;
    if (flight->state == COLL_I_NIC_FLYING && failure && failure->cancel)
        failure->cancel(port->ctx, &flight->handle);
    if (flight->state == COLL_I_NIC_AT_HOST && port->forget)
        port->forget(port->host_ctx, op);
    port->flying--;
}

/* The wire; its context is a coll_nic_port. */
COLL_CONST(coll_nic_wire, coll_nic_over_transport,
           {coll_i_nic_port_message, coll_i_nic_port_message, NULL /* signal */,
            NULL /* network */, coll_i_nic_port_compute, coll_i_nic_port_compute,
            coll_i_nic_port_cancel, NULL /* notify */, NULL /* put */});

/* Moves on what has started, the oldest first. COLL_OK: something is done, and the machine may go on;
 * COLL_AGAIN: nothing is. */
COLL_INLINE coll_status coll_nic_port_poll(coll_nic_port *port)
{
    coll_nic_machine *m = port->machine;
    coll_status moved = COLL_AGAIN;
    uint32_t left = port->flying;
    for (uint32_t i = port->first; left > 0 && m->status == COLL_AGAIN; i++) {
        coll_nic_flight *flight = &port->flights[i];
        coll_status status = COLL_STARTED;
        if (m->states[i] == COLL_I_NIC_DONE && i == port->first)
            port->first++;
        if (m->states[i] != COLL_I_NIC_STARTED)
            continue;
        left--;
        if (flight->state == COLL_I_NIC_FLYING) {
            if (!coll_i_nic_may_test(m, i))
                continue;
            status = port->transport->test(port->ctx, &flight->handle);
            if (status == COLL_AGAIN)
                continue;
            if (status < 0) { /* it is in flight until it is cancelled */
                coll_i_nic_port_cancel(port, i);
                coll_nic_complete(m, i, status);
                return COLL_OK;
            }
            if (flight->begun == coll_i_nic_message_bytes(m, i) || flight->begun == 0)
                status = COLL_OK;
            else
                flight->state = COLL_I_NIC_HELD;
        }
        if (flight->state == COLL_I_NIC_HELD)
            status = coll_i_nic_fly(port, i);
        if (status == COLL_STARTED)
            continue;
        port->flying--;
        moved = COLL_OK;
        if (status == COLL_ERR_CAPABILITY)
            status = coll_i_nic_compute(m, &m->program->ops[i]);
        coll_nic_complete(m, i, status);
    }
    return moved;
}

#endif /* COLL_NIC_TRANSPORT_WIRE_H */
