/* tests/support/nic_mutants.h — NIC programs that are wrong in one way, for tests of the verifier
 *
 * Each is the program of one rank with an edit. It says which finding that must lead to.
 */
#ifndef COLL_TESTS_NIC_MUTANTS_H
#define COLL_TESTS_NIC_MUTANTS_H

#include "coll/algos/registry.h"
#include "coll/lab/verify_grid.h"

enum { NIC_POSTED, NIC_KEEPS, NIC_PUTS };

struct nic_mutant {
    const char *name;
    const coll_algorithm *algorithm;
    coll_collective collective;
    uint32_t p;
    int mode; /* NIC_POSTED; NIC_KEEPS: the NIC keeps messages that meet no receive; NIC_PUTS */
    uint32_t rank; /* whose program is edited */
    void (*edit)(coll_nic_program *program, coll_nic_op *ops);
    coll_finding finding;
};

/* The n-th operation of a kind. */
static uint32_t nth(const coll_nic_program *program, coll_nic_kind kind, uint32_t n)
{
    for (uint32_t i = 0; i < program->needs.ops; i++)
        if (program->ops[i].kind == (uint8_t)kind && n-- == 0)
            return i;
    return program->needs.ops - 1;
}

static void end_too_early(coll_nic_program *program, coll_nic_op *ops)
{
    ops[program->needs.ops - 1].threshold--;
}

static void reduces_too_early(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_REDUCE, 0)].trigger = COLL_NIC_NONE;
}

static void waits_for_ever(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_REDUCE, 0)].threshold += 100;
}

/* Two receives that come in any order count as if they came in one. */
static void shares_a_counter(coll_nic_program *program, coll_nic_op *ops)
{
    const uint32_t a = nth(program, COLL_NIC_RECV, 0), b = nth(program, COLL_NIC_RECV, 1);
    uint32_t *counts = (uint32_t *)program->counts;
    counts[ops[a].done]++;
    counts[ops[b].done]--;
    for (uint32_t i = 0; i < program->needs.ops; i++)
        if (ops[i].trigger == ops[b].done && i > b && ops[i].threshold == 1) {
            ops[i].trigger = ops[a].done;
            ops[i].threshold = 2;
        }
    ops[b].done = ops[a].done;
}

static void counts_elsewhere(coll_nic_program *program, coll_nic_op *ops)
{
    ops[0].done = (uint16_t)(program->needs.counters - 1 - ops[0].done);
}

static void counter_of_nobody(coll_nic_program *program, coll_nic_op *ops)
{
    ops[0].done = (uint16_t)program->needs.counters;
}

static void waits_for_nobody(coll_nic_program *program, coll_nic_op *ops)
{
    ops[program->needs.ops - 1].trigger = (uint16_t)program->needs.counters;
}

static void ends_before_the_end(coll_nic_program *program, coll_nic_op *ops)
{
    (void)program;
    ops[0].kind = COLL_NIC_END;
}

static void sends_another_message(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_SEND, 0)].number++;
}

static void sends_to_itself(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_SEND, 0)].peer = program->rank;
}

static void sends_less(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_SEND, 0)].count--;
}

static void sends_what_is_not_there(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_SEND, 0)].src = COLL_AT(COLL_OUT, 0);
}

static void sends_unasked(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_SEND, 0)].trigger = COLL_NIC_NONE;
}

static void signals_before_the_receive(coll_nic_program *program, coll_nic_op *ops)
{
    coll_nic_op *recv = &ops[nth(program, COLL_NIC_RECV, 0)];
    const coll_nic_op signal = recv[1];
    recv[1] = recv[0];
    recv[0] = signal;
}

static void posts_late(coll_nic_program *program, coll_nic_op *ops)
{
    coll_nic_op *recv = &ops[nth(program, COLL_NIC_RECV, 0)];
    recv->trigger = (uint16_t)(program->needs.counters - 1);
    recv->threshold = 1;
}

static void puts_elsewhere(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_PUT, 1)].dst++;
}

static void puts_unasked(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_PUT, 0)].trigger = COLL_NIC_NONE;
}

/* With as many credits as it needs, but before the put ahead of it. */
static void puts_out_of_turn(coll_nic_program *program, coll_nic_op *ops)
{
    coll_nic_op *put = &ops[nth(program, COLL_NIC_PUT, 1)];
    put->trigger = 0;
    put->threshold = put->number + 1;
}

/* The memory is said to be free while it is still read. */
static void asks_too_early(coll_nic_program *program, coll_nic_op *ops)
{
    for (uint32_t i = program->needs.ops; i-- > 0;)
        if (ops[i].kind == COLL_NIC_SIGNAL && ops[i].trigger != COLL_NIC_NONE) {
            ops[i].trigger = COLL_NIC_NONE;
            return;
        }
}

static void takes_the_last_one_for_it(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_ARRIVE, 1)].threshold--;
}

static void counts_as_if_put(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_PUT, 0)].done = (uint16_t)(program->needs.counters - 1);
}

static void done_by_nobody(coll_nic_program *program, coll_nic_op *ops)
{
    ops[nth(program, COLL_NIC_REDUCE, 1)].peer = COLL_NIC_BY_HOST + 1;
}

static void says_fewer_receives(coll_nic_program *program, coll_nic_op *ops)
{
    (void)ops;
    program->needs.receives = 0;
}

/* The next epoch would begin with thresholds that are too low. */
static void counts_less_in_an_epoch(coll_nic_program *program, coll_nic_op *ops)
{
    (void)ops;
    ((uint32_t *)program->counts)[program->needs.counters - 1]++;
}

/* clang-format off */
static const struct nic_mutant nic_mutants[] = {
    {"the end comes too early", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 1, end_too_early, COLL_FOUND_NIC_COUNT},
    {"a reduction does not wait for its message", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 2, reduces_too_early, COLL_FOUND_NIC_RACE},
    {"a threshold is never reached", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 0, waits_for_ever, COLL_FOUND_NIC_COUNT},
    {"two receives count as one chain", &coll_ring_allgather, COLL_ALLGATHER, 5, NIC_KEEPS, 3, shares_a_counter, COLL_FOUND_NIC_COUNT},
    {"an operation counts elsewhere", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 1, counts_elsewhere, COLL_FOUND_NIC_COUNT},
    {"a counter that is not there counts", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 1, counter_of_nobody, COLL_FOUND_NIC_FIELD},
    {"the end waits for a counter that is not there", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 1, waits_for_nobody, COLL_FOUND_NIC_FIELD},
    {"the end is not at the end", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 1, ends_before_the_end, COLL_FOUND_NIC_FIELD},
    {"a message has the number of another one", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 1, sends_another_message, COLL_FOUND_UNRECEIVED},
    {"a rank sends to itself", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 1, sends_to_itself, COLL_FOUND_PEER},
    {"a message is too short", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_KEEPS, 1, sends_less, COLL_FOUND_SIZE},
    {"a message is read too early", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_KEEPS, 1, sends_what_is_not_there, COLL_FOUND_NIC_RACE},
    {"a message is sent without a signal", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_POSTED, 1, sends_unasked, COLL_FOUND_NIC_UNPOSTED},
    {"a signal passes its receive", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_POSTED, 1, signals_before_the_receive, COLL_FOUND_NIC_UNPOSTED},
    {"a receive is posted late", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_POSTED, 1, posts_late, COLL_FOUND_NIC_UNPOSTED},
    {"a put ends elsewhere", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_PUTS, 1, puts_elsewhere, COLL_FOUND_NIC_RACE},
    {"a put is not asked for", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_PUTS, 1, puts_unasked, COLL_FOUND_NIC_UNPOSTED},
    {"a put passes an older one", &coll_chain_bcast, COLL_BCAST, 4, NIC_PUTS, 0, puts_out_of_turn, COLL_FOUND_NIC_UNPOSTED},
    {"a put is asked for too early", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_PUTS, 2, asks_too_early, COLL_FOUND_NIC_RACE},
    {"an older put is taken for it", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_PUTS, 1, takes_the_last_one_for_it, COLL_FOUND_NIC_UNPOSTED},
    {"a put counts as one of a peer", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_PUTS, 1, counts_as_if_put, COLL_FOUND_NIC_FIELD},
    {"a reduction is placed nowhere", &coll_ring_allreduce, COLL_ALLREDUCE, 4, NIC_KEEPS, 2, done_by_nobody, COLL_FOUND_NIC_FIELD},
    {"more receives than it says", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_KEEPS, 1, says_fewer_receives, COLL_FOUND_NIC_NEEDS},
    {"an epoch counts less than it says", &coll_ring_allgather, COLL_ALLGATHER, 4, NIC_KEEPS, 1, counts_less_in_an_epoch, COLL_FOUND_NIC_COUNT},
};
/* clang-format on */

/* The rank's program is edited. */
static void nic_spoil(void *arg, coll_nic_program *program, coll_nic_op *ops)
{
    const struct nic_mutant *mutant = (const struct nic_mutant *)arg;
    if (mutant->edit && program->rank == mutant->rank)
        mutant->edit(program, ops);
}

/* Proves a mutant's programs; `healthy`: without the edit. */
static coll_status nic_prove(const struct nic_mutant *mutant, bool healthy, coll_report *report)
{
    struct nic_mutant edited = *mutant;
    coll_grid_worker worker;
    coll_grid_case one;
    coll_nic_limits limits;
    coll_status status;
    coll_nic_limits_init(&limits);
    limits.unexpected = mutant->mode == NIC_KEEPS;
    limits.puts = mutant->mode == NIC_PUTS;
    coll_grid_case_init(&one, mutant->algorithm, mutant->collective, mutant->p);
    one.flags = coll_is(COLL_REDUCING, mutant->collective) ? COLL_FLAG_COMMUTATIVE : 0;
    one.count = 2 * (size_t)mutant->p;
    if (healthy)
        edited.edit = NULL;
    coll_grid_worker_init(&worker);
    worker.nic = &limits;
    worker.verifier.nic.spoil = nic_spoil;
    worker.verifier.nic.arg = &edited;
    status = coll_grid_prove(&worker, &one, report);
    coll_grid_worker_release(&worker);
    return status;
}

#endif /* COLL_TESTS_NIC_MUTANTS_H */
