/* coll/lab/verify/nic_proof.h — the NIC programs of all ranks: lowered, checked, and run by the counter machine
 *
 * The programs are those that were packed and unpacked, as on their way to a NIC.
 * Each rank's program means one order of its operations (nic_order.h), in which all that touch the same memory
 * are ordered. Messages have numbers, and a number has one sender and one receiver. So all ranks together are
 * one partial order, and any run computes what one run does. That run is of the real machines (nic.h),
 * on elements that are expressions, with sends that wait for their receivers: a NIC that lets more happen at
 * once ends as well. Operations of hosts complete some time after they have started, as all do in the order of a program.
 * Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_NIC_PROOF_H
#define COLL_LAB_VERIFY_NIC_PROOF_H

#include "../../nic.h"
#include "nic_order.h"
#include "result.h"

/* Called with the program of each rank before it is checked, to spoil it. */
typedef void (*coll_i_nic_spoil)(void *arg, coll_nic_program *program, coll_nic_op *ops);

typedef struct coll_i_nic_proof {
    coll_i_nic_order order;
    coll_i_channels
        channels; /* `sent`, `received`: messages; `head`: where its operations begin in `ends` */
    coll_i_memory actions, work, packed, unpacked, pool, programs, machines, endpoints, ends,
        counters, states, sum;
    size_t pooled; /* bytes of programs */
    size_t host; /* from so many elements on the host reduces and copies; 0: it does nothing */
    coll_i_nic_spoil spoil; /* NULL: nobody does */
    void *arg;
} coll_i_nic_proof;

/* Who combines elements in a machine. */
typedef struct coll_i_nic_combining {
    coll_i_data *data;
    bool mixed; /* elements of different index, or none at all, were combined */
} coll_i_nic_combining;

COLL_INLINE coll_nic_program *coll_i_nic_program_at(const coll_i_nic_proof *proof,
                                                    uint32_t rank)
{
    return (coll_nic_program *)proof->programs.at + rank;
}

/* ---- lowering ---------------------------------------------------------------------------- */

/* The plan of a rank; arg is a coll_i_data. */
COLL_INLINE const coll_plan *coll_i_nic_plan_at(void *arg, uint32_t rank)
{
    return coll_i_rank_at((const coll_i_data *)arg, rank)->plan;
}

/* Lowers a rank's plan to the begin of the work memory, which grows as needed. */
COLL_INLINE coll_status coll_i_nic_lower_rank(coll_i_nic_proof *proof, coll_i_data *d,
                                              uint32_t rank, const coll_nic_limits *limits,
                                              coll_nic_memory *memory)
{
    const coll_plan *plan = coll_i_rank_at(d, rank)->plan;
    coll_nic_program *program = coll_i_nic_program_at(proof, rank);
    coll_schedule schedule;
    coll_counts counts;
    coll_status status = coll_plan_count(plan, rank, &counts);
    coll_action *actions;
    if (status != COLL_OK)
        return status;
    actions = (coll_action *)coll_i_reserve_new(&proof->actions,
                                                (counts.total + 1) * sizeof *actions);
    if (!actions)
        return COLL_ERR_MEMORY;
    status = coll_schedule_write(&schedule, plan, rank, actions, counts.total);
    memory->bytes = proof->work.bytes;
    while (status == COLL_OK) {
        memory->at = coll_i_reserve_new(&proof->work, memory->bytes ? memory->bytes : 4096);
        if (!memory->at)
            return COLL_ERR_MEMORY;
        memory->bytes = memory->bytes ? memory->bytes : 4096;
        status = coll_nic_lower(program, plan, &schedule, limits, memory);
        if (status == COLL_OK && limits->puts)
            status = coll_nic_puts(program, memory, coll_i_nic_plan_at, d);
        if (status != COLL_ERR_MEMORY || memory->bytes > SIZE_MAX / 4)
            break;
        memory->bytes = memory->used > 2 * memory->bytes ? memory->used : 2 * memory->bytes;
        status = COLL_OK;
    }
    return status;
}

/* Has a program go the way to a NIC: it becomes bytes, and these a program, which lies in *memory then.
 * Returns how many bytes; 0: a finding. */
COLL_INLINE size_t coll_i_nic_pack_rank(coll_i_nic_proof *proof, const coll_i_data *d,
                                        uint32_t rank, coll_nic_memory *memory,
                                        coll_report *report)
{
    coll_nic_program *program = coll_i_nic_program_at(proof, rank);
    coll_nic_bounds bounds;
    size_t bytes;
    coll_status status;
    bounds.p = d->p;
    for (int space = 0; space < COLL_SPACES; space++)
        bounds.extent[space] = coll_i_rank_at(d, rank)->extent[space];
    (void)coll_nic_pack(program, NULL, 0, &bytes);
    memory->at = coll_i_reserve_new(&proof->unpacked, memory->used);
    memory->bytes = memory->used;
    if (!coll_i_reserve_new(&proof->packed, bytes) || !memory->at) {
        (void)coll_i_no_memory(report);
        return 0;
    }
    (void)coll_nic_pack(program, (unsigned char *)proof->packed.at, bytes, &bytes);
    status = coll_nic_unpack(program, (const unsigned char *)proof->packed.at, bytes, &bounds,
                             memory);
    if (status == COLL_OK)
        return bytes;
    (void)coll_i_found(report, COLL_FOUND_NIC_NEEDS, rank, COLL_NO_STEP,
                       "its NIC program cannot be taken from its bytes: %s",
                       coll_status_text(status));
    return 0;
}

/* Lowers all ranks. */
COLL_INLINE bool coll_i_nic_lower_all(coll_i_nic_proof *proof, coll_i_data *d,
                                      const coll_nic_limits *limits, coll_report *report)
{
    size_t *at;
    proof->pooled = 0;
    if (!coll_i_reserve_new(&proof->programs, d->p * sizeof(coll_nic_program)) ||
        !coll_i_reserve_new(&proof->ends, d->p * sizeof *at))
        return coll_i_no_memory(report);
    at = (size_t *)proof->ends.at; /* lent: where each rank's program begins in the pool */
    for (uint32_t rank = 0; rank < d->p; rank++) {
        const coll_nic_needs *needs = &coll_i_nic_program_at(proof, rank)->needs;
        coll_nic_memory memory;
        size_t bytes;
        const coll_status status = coll_i_nic_lower_rank(proof, d, rank, limits, &memory);
        const char *refusal =
            status == COLL_OK ? coll_nic_refusal(needs, limits) : coll_status_text(status);
        if (status == COLL_ERR_MEMORY)
            return coll_i_no_memory(report);
        if (refusal)
            return coll_i_found(report, COLL_FOUND_NIC_NEEDS, rank, COLL_NO_STEP, "%s",
                                refusal);
        if (proof->host > 0)
            (void)coll_nic_place(coll_i_nic_program_at(proof, rank), &memory, 1, proof->host);
        bytes = coll_i_nic_pack_rank(proof, d, rank, &memory, report);
        if (bytes == 0)
            return false;
        report->nic_bytes = bytes > report->nic_bytes ? bytes : report->nic_bytes;
        at[rank] = proof->pooled;
        if (!coll_i_reserve(&proof->pool, proof->pooled + memory.used + sizeof(size_t)))
            return coll_i_no_memory(report);
        memcpy((char *)proof->pool.at + proof->pooled, memory.at, memory.used);
        proof->pooled += (memory.used + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t);
        report->nic.ops = needs->ops > report->nic.ops ? needs->ops : report->nic.ops;
        report->nic.counters =
            needs->counters > report->nic.counters ? needs->counters : report->nic.counters;
        report->nic.receives =
            needs->receives > report->nic.receives ? needs->receives : report->nic.receives;
        report->nic.actions =
            needs->actions > report->nic.actions ? needs->actions : report->nic.actions;
    }
    for (uint32_t rank = 0; rank < d->p; rank++) {
        coll_nic_program *program = coll_i_nic_program_at(proof, rank);
        coll_nic_op *ops = (coll_nic_op *)(void *)((char *)proof->pool.at + at[rank]);
        program->ops = ops;
        program->counts = (uint32_t *)(void *)(ops + program->needs.ops);
        program->signal_peers = program->counts + program->needs.counters;
        if (proof->spoil)
            proof->spoil(proof->arg, program, ops);
    }
    return true;
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Has every message one sender and one receiver, of one size? */
COLL_INLINE bool coll_i_nic_check_messages(coll_i_nic_proof *proof, uint32_t p,
                                           coll_report *report)
{
    uint32_t total = 0;
    size_t *
        ends; /* of each message: elements of the send + 1, and of the receive + 1; then where each ends */
    coll_i_channels_clear(&proof->channels);
    for (int pass = 0; pass < 2; pass++) {
        ends = (size_t *)proof->ends.at;
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_nic_program *program = coll_i_nic_program_at(proof, rank);
            for (uint32_t i = 0; i < program->needs.ops; i++) {
                const coll_nic_op *op = &program->ops[i];
                const bool puts = op->kind == COLL_NIC_PUT,
                           arrives = op->kind == COLL_NIC_ARRIVE,
                           sends = puts || op->kind == COLL_NIC_SEND;
                coll_i_channel *channel;
                uint32_t c;
                size_t *end;
                if (!sends && !arrives && op->kind != COLL_NIC_RECV)
                    continue;
                if (op->peer >= p || op->peer == rank)
                    return coll_i_found(report, COLL_FOUND_PEER, rank, COLL_NO_STEP,
                                        "operation %u of its NIC program has rank %u of %u as "
                                        "its peer",
                                        i, op->peer, p);
                c = coll_i_channel_of(&proof->channels, sends ? rank : op->peer,
                                      sends ? op->peer : rank);
                if (c == COLL_I_NONE)
                    return coll_i_no_memory(report);
                channel = coll_i_channel_at(&proof->channels, c);
                if (pass == 0) {
                    channel->sent += sends ? 1 : 0;
                    channel->received += sends ? 0 : 1;
                    continue;
                }
                end = ends + 2 * ((size_t)channel->head + op->number) + (sends ? 0 : 1);
                if (op->number >= channel->sent || *end != 0)
                    return coll_i_found(
                        report, COLL_FOUND_UNRECEIVED, rank, COLL_NO_STEP,
                        "operation %u of its NIC program is one of message %u "
                        "of rank %u to %u, which there is not, or which has one",
                        i, op->number, channel->from, channel->to);
                *end = op->token ? 1 : op->count + 1;
                if ((puts || arrives) && !op->token)
                    end[2 * (size_t)total] = op->dst + 1;
            }
        }
        for (uint32_t c = 0; c < proof->channels.n; c++) {
            coll_i_channel *channel = coll_i_channel_at(&proof->channels, c);
            for (uint32_t k = 0; pass == 1 && k < channel->sent; k++)
                if (ends[2 * (channel->head + k)] != ends[2 * (channel->head + k) + 1])
                    return coll_i_found(report, COLL_FOUND_SIZE, channel->to, COLL_NO_STEP,
                                        "message %u of rank %u has %zu elements, and its NIC "
                                        "program receives %zu",
                                        k, channel->from, ends[2 * (channel->head + k)] - 1,
                                        ends[2 * (channel->head + k) + 1] - 1);
            for (uint32_t k = channel->head; pass == 1 && k < channel->head + channel->sent;
                 k++)
                if (ends[2 * ((size_t)total + k)] != ends[2 * ((size_t)total + k) + 1])
                    return coll_i_found(report, COLL_FOUND_NIC_RACE, channel->to, COLL_NO_STEP,
                                        "message %u of rank %u is put elsewhere than where its "
                                        "NIC program expects it",
                                        k - channel->head, channel->from);
            if (pass == 1)
                continue;
            if (channel->sent != channel->received)
                return coll_i_found(
                    report,
                    channel->sent > channel->received ? COLL_FOUND_UNRECEIVED
                                                      : COLL_FOUND_UNSENT,
                    channel->to, COLL_NO_STEP,
                    "its NIC program receives %u messages of rank %u, which sends %u",
                    channel->received, channel->from, channel->sent);
            channel->head = total;
            total += channel->sent;
        }
        if (pass == 0) {
            if (!coll_i_reserve_new(&proof->ends, (4 * (size_t)total + 1) * sizeof *ends))
                return coll_i_no_memory(report);
            memset(proof->ends.at, 0, (4 * (size_t)total + 1) * sizeof *ends);
        }
    }
    return true;
}

/* ---- the run ----------------------------------------------------------------------------- */

COLL_INLINE void coll_i_nic_combine(void *dst, const void *a, const void *b, size_t count,
                                    void *arg)
{
    coll_i_nic_combining *combining = (coll_i_nic_combining *)arg;
    if (coll_i_combine_values(&combining->data->structures, (coll_i_value *)dst,
                              (const coll_i_value *)a, (const coll_i_value *)b, count) != count)
        combining->mixed = true;
}

/* Opens the machines of all ranks on their memory. */
COLL_INLINE bool coll_i_nic_open_all(coll_i_nic_proof *proof, const coll_i_data *d,
                                     const coll_op *op, coll_nic_world *world,
                                     coll_report *report)
{
    size_t counters = 0, states = 0, largest = 1;
    coll_nic_machine *machines;
    coll_nic_endpoint *endpoints;
    for (uint32_t rank = 0; rank < d->p; rank++) {
        const coll_nic_program *program = coll_i_nic_program_at(proof, rank);
        counters += program->needs.counters;
        states += program->needs.ops;
        for (uint32_t i = 0; i < program->needs.ops; i++)
            if (program->ops[i].kind == COLL_NIC_NETWORK && program->ops[i].count > largest)
                largest = program->ops[i].count;
    }
    machines = (coll_nic_machine *)coll_i_reserve_new(&proof->machines,
                                                      d->p * sizeof(coll_nic_machine));
    endpoints = (coll_nic_endpoint *)coll_i_reserve_new(&proof->endpoints,
                                                        d->p * sizeof(coll_nic_endpoint));
    if (!machines || !endpoints ||
        !coll_i_reserve_new(&proof->counters, (counters + 1) * sizeof(uint32_t)) ||
        !coll_i_reserve_new(&proof->states, states) ||
        !coll_i_reserve_new(&proof->sum, largest * sizeof(coll_i_value)))
        return coll_i_no_memory(report);
    coll_nic_world_init(world, machines, endpoints, d->p);
    world->sum = proof->sum.at;
    counters = states = 0;
    for (uint32_t rank = 0; rank < d->p; rank++) {
        const coll_nic_program *program = coll_i_nic_program_at(proof, rank);
        const coll_i_rank *at = coll_i_rank_at(d, rank);
        coll_nic_machine *m = &machines[rank];
        (void)coll_nic_open(m, program, &coll_nic_loopback, &endpoints[rank],
                            (uint32_t *)proof->counters.at + counters,
                            (uint8_t *)proof->states.at + states);
        m->op = op;
        m->in = at->at[COLL_IN];
        m->out = at->at[COLL_OUT];
        m->scratch = at->at[COLL_SCRATCH];
        m->shared = at->at[COLL_SHARED];
        m->elem_bytes = sizeof(coll_i_value);
        counters += program->needs.counters;
        states += program->needs.ops;
    }
    return true;
}

/* Runs the programs on the ranks' memory, which is as at the begin: in order, or at random. */
COLL_INLINE bool coll_i_nic_run(coll_i_nic_proof *proof, coll_i_data *d, bool unexpected,
                                uint64_t *random, coll_report *report)
{
    coll_i_nic_combining combining;
    const coll_op op = COLL_OP(coll_i_nic_combine, &combining, false, false);
    coll_nic_world world;
    coll_status status;
    combining.data = d;
    combining.mixed = false;
    if (!coll_i_nic_open_all(proof, d, &op, &world, report))
        return false;
    world.unexpected = unexpected;
    world.hosts = proof->host > 0;
    status = coll_nic_world_start(&world, random);
    if (status != COLL_OK) {
        uint32_t rank = 0;
        while (world.machines[rank].status == COLL_OK)
            rank++;
        return coll_i_found(report, COLL_FOUND_DEADLOCK, rank, COLL_NO_STEP,
                            "its NIC program does not come to an end: %s",
                            coll_status_text(status));
    }
    return !combining.mixed ||
           coll_i_found(report, COLL_FOUND_MIXED, 0, COLL_NO_STEP,
                        "NIC programs combine elements that do not belong together");
}

/* Lowers the plans that were set up, and proves the programs. The ranks' memory must be as at the begin, and
 * is as at the end after that. */
COLL_INLINE bool coll_i_nic_prove(coll_i_nic_proof *proof, coll_i_data *d,
                                  const coll_nic_limits *limits, uint64_t *random,
                                  coll_report *report)
{
    const coll_i_rank *first = coll_i_rank_at(d, 0);
    const bool channels =
        first->extent[COLL_SHARED] > 0 || first->plan->problem.collective == COLL_BARRIER;
    if (!coll_i_nic_lower_all(proof, d, limits, report))
        return false;
    for (uint32_t rank = 0; rank < d->p; rank++)
        if (!coll_i_nic_check_order(&proof->order, coll_i_nic_program_at(proof, rank), rank,
                                    limits->unexpected && !limits->puts, channels, report))
            return false;
    return coll_i_nic_check_messages(proof, d->p, report) &&
           coll_i_nic_run(proof, d, limits->unexpected && !limits->puts, random, report);
}

COLL_INLINE void coll_i_nic_proof_release(coll_i_nic_proof *proof)
{
    coll_i_nic_order_release(&proof->order);
    coll_i_channels_release(&proof->channels);
    coll_i_release(&proof->actions);
    coll_i_release(&proof->work);
    coll_i_release(&proof->packed);
    coll_i_release(&proof->unpacked);
    coll_i_release(&proof->pool);
    coll_i_release(&proof->programs);
    coll_i_release(&proof->machines);
    coll_i_release(&proof->endpoints);
    coll_i_release(&proof->ends);
    coll_i_release(&proof->counters);
    coll_i_release(&proof->states);
    coll_i_release(&proof->sum);
}

#endif /* COLL_LAB_VERIFY_NIC_PROOF_H */
