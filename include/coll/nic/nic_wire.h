/* coll/nic/nic_wire.h — a wire between the counter machines of all ranks, in one thread
 *
 *   coll_nic_machine machines[P];
 *   coll_nic_world world;
 *   coll_nic_endpoint ends[P];
 *   coll_nic_world_init(&world, machines, ends, P);
 *   for (r = 0; r < P; r++)
 *       coll_nic_open(&machines[r], &programs[r], &coll_nic_loopback, &ends[r], counters[r], states[r]);
 *   …
 *   status = coll_nic_world_start(&world, NULL);   // all ranks, to the end
 *
 * A message is complete at both ends when both are posted: so a send always waits for its receiver, which is
 * the most that a NIC may have it wait. With random numbers one operation starts at a time, any of those that may:
 * so do arrivals in any order. For tests and proofs; nothing here allocates.
 */
#ifndef COLL_NIC_NIC_WIRE_H
#define COLL_NIC_NIC_WIRE_H

#include "counter_machine.h"

struct coll_nic_world;

/* A rank's end of the wire. */
typedef struct coll_nic_endpoint {
    struct coll_nic_world *world;
    uint32_t rank; /* whose it is */
} coll_nic_endpoint;

/* The machines that talk to each other. */
typedef struct coll_nic_world {
    coll_nic_machine *machines;
    uint32_t p; /* how many */
    bool
        unexpected; /* a message may come before its receive is posted; else it is COLL_ERR_STATE */
    /* Operations that are placed on the host are done some time after they have started, by the host of a rank; else at
     * once, by the machine. */
    bool hosts;
    void *sum; /* memory for what a group reduces in the network; NULL: none does */
} coll_nic_world;

/* A world of p machines and their ends, the caller's, where messages may be unexpected. */
COLL_INLINE void coll_nic_world_init(coll_nic_world *w, coll_nic_machine *machines,
                                     coll_nic_endpoint *ends, uint32_t p)
{
    w->machines = machines;
    w->p = p;
    w->unexpected = true;
    w->hosts = false;
    w->sum = NULL;
    for (uint32_t r = 0; r < p; r++) {
        ends[r].world = w;
        ends[r].rank = r;
    }
}

/* ---- the wire ---------------------------------------------------------------------------- */

/* The operation of a machine that has started, of this kind, with this peer and number; or their number: none. */
COLL_INLINE uint32_t coll_i_nic_started(const coll_nic_machine *m, coll_nic_kind kind,
                                        uint32_t peer, uint32_t number)
{
    uint32_t i = 0;
    for (; i < m->program->needs.ops; i++)
        if (m->states[i] == COLL_I_NIC_STARTED && m->program->ops[i].kind == (uint8_t)kind &&
            m->program->ops[i].peer == peer && m->program->ops[i].number == number)
            break;
    return i;
}

/* One end of a message is posted; `kind`: of the other. */
COLL_INLINE coll_status coll_i_nic_meet(const coll_nic_endpoint *me,
                                        const coll_nic_message *message, coll_nic_kind kind)
{
    coll_nic_machine *other;
    const coll_nic_op *op;
    uint32_t i;
    size_t bytes;
    if (message->peer >= me->world->p)
        return COLL_ERR_RANK;
    other = &me->world->machines[message->peer];
    i = other->epoch == message->epoch && other->status == COLL_AGAIN
            ? coll_i_nic_started(other, kind, me->rank, message->number)
            : other->program->needs.ops;
    if (i == other->program->needs.ops)
        return kind == COLL_NIC_RECV && !me->world->unexpected ? COLL_ERR_STATE : COLL_STARTED;
    op = &other->program->ops[i];
    bytes = op->token ? 0 : op->count * other->elem_bytes;
    if (bytes != message->bytes)
        return COLL_ERR_SIZE;
    if (bytes != 0 && kind == COLL_NIC_RECV)
        COLL_COPY(coll_nic_target(other, op->dst), message->from, bytes);
    else if (bytes != 0)
        COLL_COPY(message->to, coll_nic_source(other, op->src), bytes);
    coll_nic_complete(other, i, COLL_OK);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_nic_wire_send(void *ctx, const coll_nic_message *message)
{
    return coll_i_nic_meet((const coll_nic_endpoint *)ctx, message, COLL_NIC_RECV);
}

COLL_INLINE coll_status coll_i_nic_wire_recv(void *ctx, const coll_nic_message *message)
{
    return coll_i_nic_meet((const coll_nic_endpoint *)ctx, message, COLL_NIC_SEND);
}

/* A put needs nothing of the peer but that it runs the same epoch, and has memory there. */
COLL_INLINE coll_status coll_i_nic_wire_put(void *ctx, const coll_nic_message *message)
{
    const coll_nic_endpoint *me = (const coll_nic_endpoint *)ctx;
    coll_nic_machine *other;
    if (message->peer >= me->world->p)
        return COLL_ERR_RANK;
    other = &me->world->machines[message->peer];
    if (other->epoch != message->epoch || other->status != COLL_AGAIN)
        return COLL_ERR_STATE; /* its memory is the host's */
    if (message->bytes != 0)
        COLL_COPY(coll_nic_target(other, message->at), message->from, message->bytes);
    return coll_nic_arrived(other, me->rank) ? COLL_OK : COLL_ERR_RANK;
}

COLL_INLINE coll_status coll_i_nic_wire_signal(void *ctx, uint32_t peer)
{
    const coll_nic_endpoint *me = (const coll_nic_endpoint *)ctx;
    return peer < me->world->p && coll_nic_signalled(&me->world->machines[peer], me->rank)
               ? COLL_OK
               : COLL_ERR_RANK;
}

/* All of a group have come: reduces in rank order. */
COLL_INLINE coll_status coll_i_nic_wire_reduce(const coll_nic_world *w, const coll_nic_op *op,
                                               uint32_t epoch)
{
    const bool moves = !op->token && op->count != 0;
    bool begun = false;
    for (uint32_t pass = 0; pass < 2; pass++) /* reads all, then writes all */
        for (uint32_t r = 0; r < w->p; r++) {
            coll_nic_machine *m = &w->machines[r];
            const uint32_t i = coll_i_nic_started(m, COLL_NIC_NETWORK, op->peer, op->number);
            const coll_nic_op *its = &m->program->ops[i];
            if (i == m->program->needs.ops || m->epoch != epoch)
                continue;
            if (moves && its->count != op->count)
                return COLL_ERR_SIZE;
            if (pass == 0 && moves && !begun)
                COLL_COPY(w->sum, coll_nic_source(m, its->src), op->count * m->elem_bytes);
            else if (pass == 0 && moves)
                m->op->combine(w->sum, w->sum, coll_nic_source(m, its->src), op->count,
                               m->op->arg);
            else if (pass == 1 && moves)
                COLL_COPY(coll_nic_target(m, its->dst), w->sum, op->count * m->elem_bytes);
            begun = true;
            if (pass == 1)
                coll_nic_complete(m, i, COLL_OK);
        }
    return COLL_STARTED; /* it is complete already */
}

COLL_INLINE coll_status coll_i_nic_wire_network(void *ctx, uint32_t op)
{
    const coll_nic_endpoint *me = (const coll_nic_endpoint *)ctx;
    const coll_nic_world *w = me->world;
    const coll_nic_op *mine = &w->machines[me->rank].program->ops[op];
    uint32_t here = 0;
    for (uint32_t r = 0; r < w->p; r++)
        if (w->machines[r].epoch == w->machines[me->rank].epoch &&
            coll_i_nic_started(&w->machines[r], COLL_NIC_NETWORK, mine->peer, mine->number) <
                w->machines[r].program->needs.ops)
            here++;
    if (here < mine->stride)
        return COLL_STARTED;
    if (!w->sum && !mine->token)
        return COLL_ERR_MEMORY;
    return coll_i_nic_wire_reduce(w, mine, w->machines[me->rank].epoch);
}

COLL_INLINE coll_status coll_i_nic_wire_compute(void *ctx, uint32_t op)
{
    const coll_nic_endpoint *me = (const coll_nic_endpoint *)ctx;
    const coll_nic_program *program = me->world->machines[me->rank].program;
    return me->world->hosts && program->ops[op].peer == COLL_NIC_BY_HOST ? COLL_STARTED
                                                                         : COLL_ERR_CAPABILITY;
}

/* Nothing is kept but in the machines: what they do not have started is met by nobody. */
COLL_INLINE void coll_i_nic_wire_cancel(void *ctx, uint32_t op)
{
    (void)ctx, (void)op;
}

/* The wire of coll_nic_world; its context is a coll_nic_endpoint. */
COLL_CONST(coll_nic_wire, coll_nic_loopback,
           {coll_i_nic_wire_send, coll_i_nic_wire_recv, coll_i_nic_wire_signal,
            coll_i_nic_wire_network, coll_i_nic_wire_compute, coll_i_nic_wire_compute,
            coll_i_nic_wire_cancel, NULL, coll_i_nic_wire_put});

/* ---- running ----------------------------------------------------------------------------- */

/* May an operation start, with nothing ahead of it that has its trigger, too? */
COLL_INLINE bool coll_i_nic_may_start(const coll_nic_machine *m, uint32_t i)
{
    const coll_nic_op *op = &m->program->ops[i];
    if (m->states[i] != COLL_I_NIC_WAITS || !coll_i_nic_triggered(m, op))
        return false;
    for (uint32_t k = 0; k < i; k++)
        if (m->states[k] == COLL_I_NIC_WAITS && m->program->ops[k].trigger == op->trigger &&
            m->program->ops[k].threshold == op->threshold)
            return false;
    return true;
}

/* A number below n that looks random: splitmix64. */
COLL_INLINE uint32_t coll_i_nic_any(uint64_t *state, uint32_t n)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(((x ^ x >> 31) >> 32) * n >> 32);
}

/* Starts one operation of a machine, the first that may from a place at random on. False: none may. */
COLL_INLINE bool coll_i_nic_step(coll_nic_machine *m, uint64_t *random)
{
    const uint32_t n = m->program->needs.ops, from = coll_i_nic_any(random, n);
    for (uint32_t k = 0; k < n && m->status == COLL_AGAIN; k++) {
        const uint32_t i = from + k < n ? from + k : from + k - n;
        coll_status status;
        if (!coll_i_nic_may_start(m, i))
            continue;
        status = coll_i_nic_issue(m, i);
        if (m->status == COLL_AGAIN && (status < 0 || m->program->ops[i].kind == COLL_NIC_END))
            coll_i_nic_end(m, status < 0 ? status : COLL_OK);
        return true;
    }
    return false;
}

/* The host of a machine does what that has started and placed on it, one operation. False: there is none. */
COLL_INLINE bool coll_i_nic_host_step(coll_nic_machine *m)
{
    for (uint32_t i = 0; i < m->program->needs.ops && m->status == COLL_AGAIN; i++) {
        const coll_nic_op *op = &m->program->ops[i];
        if (m->states[i] != COLL_I_NIC_STARTED ||
            (op->kind != COLL_NIC_COPY && op->kind != COLL_NIC_REDUCE))
            continue;
        coll_nic_complete(m, i, coll_i_nic_compute(m, op));
        return true;
    }
    return false;
}

/* Runs machines that have started until nothing moves any more. COLL_OK: all are at their end;
 * COLL_ERR_DEADLOCK: they are not; or the first error of one. `random`: the state of random numbers, or
 * NULL: in order. */
COLL_INLINE coll_status coll_nic_world_run(coll_nic_world *w, uint64_t *random)
{
    uint32_t quiet = 0, r = 0;
    for (; quiet < w->p; r = random ? coll_i_nic_any(random, w->p) : (r + 1) % w->p) {
        bool moved = false;
        if (random) {
            const bool host = w->hosts && coll_i_nic_any(random, 4) == 0;
            moved = host ? coll_i_nic_host_step(&w->machines[r])
                         : coll_i_nic_step(&w->machines[r], random);
            for (uint32_t k = 0; k < w->p && !moved; k++)
                moved = coll_i_nic_step(&w->machines[(r + k) % w->p], random) ||
                        coll_i_nic_host_step(&w->machines[(r + k) % w->p]);
            if (!moved)
                break;
        } else if (w->machines[r].status == COLL_AGAIN) {
            const uint32_t started = w->machines[r].started;
            moved = coll_nic_progress(&w->machines[r]) != COLL_AGAIN ||
                    started != w->machines[r].started || coll_i_nic_host_step(&w->machines[r]);
        }
        quiet = moved ? 0 : quiet + 1;
    }
    for (r = 0; r < w->p; r++)
        if (w->machines[r].status < 0)
            return w->machines[r].status;
    for (r = 0; r < w->p; r++)
        if (w->machines[r].status == COLL_AGAIN)
            return COLL_ERR_DEADLOCK;
    return COLL_OK;
}

/* Starts all machines, and runs them as coll_nic_world_run. */
COLL_INLINE coll_status coll_nic_world_start(coll_nic_world *w, uint64_t *random)
{
    for (uint32_t r = 0; r < w->p; r++) {
        if (w->machines[r].status != COLL_OK)
            return COLL_ERR_STATE;
        coll_i_nic_arm(&w->machines[r]);
    }
    return coll_nic_world_run(w, random);
}

#endif /* COLL_NIC_NIC_WIRE_H */
