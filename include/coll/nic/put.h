/* coll/nic/put.h — messages that are put: no receive is posted, and each put waits for its credit
 *
 *   limits.puts = true;
 *   status = coll_nic_lower(&program, &plan, &schedule, &limits, &memory);
 *   status = coll_nic_puts(&program, &memory, coll_nic_same_plan, &plan);
 *
 * Where a message goes is known before it is sent: the plan says what the receiver does with it. So the sender writes it there
 * (PUT), if the network can (one_sided.h), and a counter of the receiver counts the puts of each peer. What was a RECV
 * is an ARRIVE, which waits for that counter and is all that is left of it:
 *
 *   the receiver   its memory is free → SIGNAL ─┐            ┌→ ARRIVE: as many of that peer have come → …
 *   the sender     its data are there ──────────┴→ PUT ──────┘
 *
 * The signals of a peer are credits: the n-th put to it waits for n of them, and for the put before it. So puts
 * come in the order in which the receiver's counter is read. A credit is a put of 0 bytes.
 *
 * It takes the memory of the receiver, so its plan, or what it depends on, must be known to the sender. That is so where all
 * ranks have the same plan. A composite plan is of one rank (phase.h), and so are tables of counts of its own.
 */
#ifndef COLL_NIC_PUT_H
#define COLL_NIC_PUT_H

#include "nic_events.h"

/* The plan that another rank has of the same collective, or NULL: it is not known. */
typedef const coll_plan *(*coll_nic_plan_of)(void *arg, uint32_t rank);

/* A coll_nic_plan_of, whose arg is a plan: that plan, if all ranks have the same. */
COLL_INLINE const coll_plan *coll_nic_same_plan(void *arg, uint32_t rank)
{
    const coll_plan *plan = (const coll_plan *)arg;
    const coll_collective collective = plan->problem.collective;
    const bool tables = coll_is(COLL_TABLES_IN | COLL_TABLES_OUT, collective) &&
                        (plan->traits & (uint32_t)COLL_NEEDS_COUNTS) == 0;
    (void)rank;
    return tables || coll_is(COLL_NEIGHBORLY, collective) ||
                   (plan->traits & (uint32_t)COLL_NEEDS_BUILD) != 0
               ? NULL
               : plan;
}

/* Where message `number` of one rank to another ends, as the plan of that one says. COLL_ERR_SIZE: there is no such
 * message, or not of so many elements. */
COLL_INLINE coll_status coll_i_nic_landing(const coll_plan *plan, uint32_t from, uint32_t to,
                                           const coll_nic_op *send, coll_ref *dst)
{
    coll_action acts[COLL_STEP_MAX];
    const size_t steps = coll_plan_steps(plan, to);
    uint32_t number = 0;
    for (size_t s = 0; s < steps; s++) {
        const unsigned n = coll_plan_step(plan, to, s, acts);
        for (unsigned i = 0; i < n; i++) {
            const coll_action *a = &acts[i];
            if (a->count == 0 || !coll_i_has(COLL_I_RECEIVES, a) || a->peer != from ||
                number++ != send->number)
                continue;
            *dst = a->kind == COLL_DO_RECV_REDUCE ? a->via : a->dst;
            return coll_i_is_token(a) == (send->token != 0) &&
                           (send->token || a->count == send->count)
                       ? COLL_OK
                       : COLL_ERR_SIZE;
        }
    }
    return COLL_ERR_SIZE;
}

/* The number of a peer among those that are put from, made if it is not there. */
COLL_INLINE uint32_t coll_i_nic_arrivals_add(coll_nic_program *program, uint32_t *peers,
                                             uint32_t peer)
{
    uint32_t c = 0;
    while (c < program->arrivals && peers[program->signals + c] != peer)
        c++;
    if (c == program->arrivals)
        peers[program->signals + program->arrivals++] = peer;
    return c;
}

/* Makes room for the counters of arrivals behind all others. COLL_ERR_MEMORY: there is none; *words: the counts. */
COLL_INLINE coll_status coll_i_nic_make_room(coll_nic_program *program, coll_nic_memory *memory,
                                             uint32_t **words)
{
    coll_nic_op *ops = (coll_nic_op *)memory->at;
    const uint32_t counters = program->needs.counters, signals = program->signals;
    uint32_t *counts = (uint32_t *)(void *)(ops + program->needs.ops), n = 0;
    for (uint32_t i = 0; i < program->needs.ops; i++) {
        bool first = ops[i].kind == COLL_NIC_RECV;
        for (uint32_t k = 0; k < i && first; k++)
            first = ops[k].kind != COLL_NIC_RECV || ops[k].peer != ops[i].peer;
        n += first;
    }
    if (counters + (uint64_t)n >= COLL_NIC_NONE)
        return COLL_ERR_OVERFLOW;
    memory->used += 2 * n * sizeof *counts;
    if (memory->used > memory->bytes)
        return COLL_ERR_MEMORY;
    for (uint32_t c = signals; c-- > 0;)
        counts[counters + n + c] = counts[counters + c];
    for (uint32_t c = 0; c < n; c++)
        counts[counters + c] = 0;
    program->needs.counters += n;
    program->signal_peers = counts + program->needs.counters;
    *words = counts;
    return COLL_OK;
}

/* Turns the messages of a program, which was lowered into *memory with limits.puts, into puts. `plan_of` tells of the plans of
 * its peers. COLL_ERR_CAPABILITY: one is not known; COLL_ERR_SIZE: the plans do not belong together; COLL_ERR_STATE: it
 * was lowered without limits.puts; COLL_ERR_MEMORY: it takes memory->used bytes. After an error it is no program any more. */
COLL_INLINE coll_status coll_nic_puts(coll_nic_program *program, coll_nic_memory *memory,
                                      coll_nic_plan_of plan_of, void *arg)
{
    coll_nic_op *ops;
    uint32_t *counts, *peers;
    coll_status status;
    if (!program || !memory || !memory->at || !plan_of)
        return COLL_ERR_NULL;
    ops = (coll_nic_op *)memory->at;
    status = coll_i_nic_make_room(program, memory, &counts);
    if (status != COLL_OK)
        return status;
    peers = counts + program->needs.counters;
    for (uint32_t i = 0; i < program->needs.ops; i++) {
        coll_nic_op *op = &ops[i];
        if (op->kind == COLL_NIC_SEND) {
            const coll_plan *plan = plan_of(arg, op->peer);
            if (!plan)
                return COLL_ERR_CAPABILITY;
            status = coll_i_nic_landing(plan, program->rank, op->peer, op, &op->dst);
            if (status != COLL_OK)
                return status;
            op->kind = COLL_NIC_PUT;
        } else if (op->kind == COLL_NIC_RECV) {
            coll_nic_op signal, arrive;
            if (i + 1 == program->needs.ops || ops[i + 1].kind != COLL_NIC_SIGNAL)
                return COLL_ERR_STATE;
            coll_i_nic_op_assign(&arrive, op);
            coll_i_nic_op_assign(&signal, &ops[i + 1]);
            arrive.kind = COLL_NIC_ARRIVE;
            arrive.trigger = (uint16_t)coll_i_nic_arrivals_add(program, peers, op->peer);
            arrive.threshold = op->number + 1;
            coll_i_nic_op_assign(op, &signal);
            coll_i_nic_op_assign(&ops[++i], &arrive);
        }
    }
    for (uint32_t i = 0; i < program->needs.ops; i++)
        if (ops[i].kind == COLL_NIC_ARRIVE) {
            ops[i].trigger =
                (uint16_t)(program->needs.counters - program->arrivals + ops[i].trigger);
            counts[ops[i].trigger]++;
        }
    program->needs.receives = 0;
    return COLL_OK;
}

#endif /* COLL_NIC_PUT_H */
