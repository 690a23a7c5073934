/* tests/support/offloaded.h — ranks as processes, each with a communicator in shared memory and a NIC of libfabric */
#ifndef COLL_TESTS_OFFLOADED_H
#define COLL_TESTS_OFFLOADED_H

#include <stdlib.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "coll/coll.h"
#include "coll/nic.h"
#include "coll/reduce.h"
#include "coll/transports/ofi_offload.h"
#include "support/check.h"
#include "support/processes.h"

enum { OFFLOADED_PATIENCE = 60000, OFFLOADED_MEMORY = 1 << 20 };

/* A rank; one a process. */
static struct {
    uint32_t rank, p;
    coll_comm comm;
    coll_ofi_nic *nic;
    unsigned char memory[OFFLOADED_MEMORY];
} me;

static bool gather_by_comm(void *ctx, const void *mine, size_t bytes, void *all)
{
    return coll_allgather((coll_comm *)ctx, mine, all, bytes, COLL_U8) == COLL_OK;
}

/* Opens the NIC, with the others. */
static bool nic_open(void)
{
    char why[COLL_OFI_WHY];
    coll_ofi_options options = {0};
    options.provider = "sockets";
    options.source = "127.0.0.1";
    (void)setenv("FI_SOCKETS_PE_WAITTIME", "0", 0); /* threads that play NICs do not spin */
    me.nic = coll_ofi_nic_start(me.rank, me.p, &options, gather_by_comm, &me.comm, why);
    if (!me.nic)
        printf("    %s\n", why);
    return CHECK(me.nic != NULL);
}

/* Do all ranks say so? */
static bool all_say(bool so)
{
    const int32_t mine = so;
    int32_t all = 0;
    CHECK_STATUS(coll_allreduce(&me.comm, &mine, &all, 1, COLL_I32, COLL_MIN), COLL_OK);
    return all == 1;
}

/* A call: what is computed, where, and by which algorithm. */
typedef struct offloaded_call {
    const coll_algorithm *algorithm;
    coll_collective collective;
    coll_type type;
    coll_operator operator_;
    size_t count;
    uint32_t root;
    coll_plan plan;
    coll_op op;
    size_t in_bytes, out_bytes, scratch_bytes;
    unsigned char *in, *out, *scratch, *wanted;
    coll_ofi_offload *offload;
    char why[COLL_OFI_WHY];
} offloaded_call;

/* A call by an algorithm of this name; it sums, at rank 0 where it has a root. */
static offloaded_call call_by(coll_collective collective, const char *algorithm, coll_type type,
                              size_t count)
{
    offloaded_call c;
    memset(&c, 0, sizeof c);
    c.collective = collective;
    c.algorithm = coll_find(collective, algorithm);
    c.type = type;
    c.count = count;
    return c;
}

/* Makes the plan, and memory. False: the algorithm does not solve this. */
static bool call_plan(offloaded_call *c)
{
    const size_t bytes = coll_type_bytes(c->type);
    coll_problem problem;
    coll_extents extents;
    coll_problem_init(&problem, c->collective, me.p, c->count, bytes);
    problem.root = c->root;
    if (coll_is(COLL_REDUCING, c->collective)) {
        problem.flags = COLL_FLAG_COMMUTATIVE;
        CHECK_STATUS(coll_op_builtin(&c->op, c->operator_, c->type), COLL_OK);
    }
    if (coll_plan_init(&c->plan, c->algorithm, &problem, NULL) != COLL_OK)
        return false;
    extents = coll_plan_extents(&c->plan, me.rank);
    c->in_bytes = extents.in * bytes;
    c->out_bytes = extents.out * bytes;
    c->scratch_bytes = coll_plan_scratch(&c->plan, me.rank) * bytes;
    c->in = calloc(1, c->in_bytes + 1);
    c->out = calloc(1, c->out_bytes + 1);
    c->wanted = calloc(1, c->out_bytes + 1);
    c->scratch = calloc(1, c->scratch_bytes + 1);
    return c->in && c->out && c->wanted && c->scratch;
}

static void call_end(offloaded_call *c)
{
    if (c->offload)
        coll_ofi_offload_close(c->offload);
    free(c->in);
    free(c->out);
    free(c->wanted);
    free(c->scratch);
    memset(c, 0, sizeof *c);
}

/* Lowers the plan for the NIC, and hands the program to `use`. */
static void call_lower(offloaded_call *c, coll_nic_limits *limits,
                       void (*use)(offloaded_call *c, const coll_nic_program *program,
                                   uint32_t slots),
                       uint32_t slots)
{
    coll_counts counts;
    coll_schedule schedule;
    coll_nic_program program;
    coll_nic_memory memory = {NULL, (size_t)1 << 24, 0};
    coll_action *actions = NULL;
    coll_status status = coll_plan_count(&c->plan, me.rank, &counts);
    if (status == COLL_OK) {
        actions = malloc((counts.total + 1) * sizeof *actions);
        memory.at = malloc(memory.bytes);
        status = coll_schedule_write(&schedule, &c->plan, me.rank, actions, counts.total);
    }
    if (status == COLL_OK)
        status = coll_nic_lower(&program, &c->plan, &schedule, limits, &memory);
    if (status == COLL_OK)
        use(c, &program, slots);
    else
        (void)snprintf(c->why, sizeof c->why, "%s", coll_status_text(status));
    free(actions);
    free(memory.at);
}

static void call_open_program(offloaded_call *c, const coll_nic_program *program,
                              uint32_t slots)
{
    const coll_ofi_buffers buffers = {coll_is(COLL_REDUCING, c->collective) ? &c->op : NULL,
                                      c->in, c->out, c->scratch, coll_type_bytes(c->type)};
    c->offload = coll_ofi_offload_open(me.nic, program, &buffers, slots, c->why);
}

/* Opens the program, on all ranks or on none. */
static bool call_open(offloaded_call *c, uint32_t slots)
{
    coll_nic_limits limits;
    coll_ofi_nic_limits(me.nic, &limits);
    call_lower(c, &limits, call_open_program, slots);
    return all_say(c->offload != NULL);
}

/* Numbers below 2²⁴ that depend on all there is; sums of floats of them are rounded. */
static void call_fill_bytes(const offloaded_call *c, unsigned char *at, size_t bytes,
                            uint32_t epoch)
{
    for (size_t i = 0; i < bytes / coll_type_bytes(c->type); i++) {
        const uint32_t x = (uint32_t)(i * 2654435761u + me.rank * 40503u + epoch * 69069u) >> 8;
        const double real = (double)x / 3;
        const int32_t whole = (int32_t)x;
        if (c->type == COLL_F64)
            memcpy(at + i * sizeof real, &real, sizeof real);
        else if (c->type == COLL_I32)
            memcpy(at + i * sizeof whole, &whole, sizeof whole);
        else
            at[i] = (unsigned char)x;
    }
}

/* Fills buffers in for an epoch. */
static void call_fill(offloaded_call *c, uint32_t epoch)
{
    call_fill_bytes(c, c->in, c->in_bytes, epoch);
    memset(c->out, 0x55, c->out_bytes);
    memset(c->scratch, 0x77, c->scratch_bytes);
    if (c->collective == COLL_BCAST && me.rank == c->root)
        call_fill_bytes(c, c->out, c->out_bytes, epoch);
}

/* Has the host's engine compute what is wanted, by the same algorithm. False: the communicator does not. */
static bool call_by_host(offloaded_call *c)
{
    coll_args args;
    coll_status status;
    coll_args_init(&args, c->collective);
    args.root = c->root;
    args.in = c->in;
    args.out = c->wanted;
    args.count = c->count;
    args.type = c->type;
    args.op = c->operator_;
    memcpy(c->wanted, c->out, c->out_bytes);
    status = coll_comm_set_algorithm(&me.comm, c->collective, c->algorithm, NULL);
    if (status == COLL_OK)
        status = coll_run(&me.comm, &args);
    return coll_comm_set_algorithm(&me.comm, c->collective, NULL, NULL) == COLL_OK &&
           status == COLL_OK;
}

static bool call_is_right(const offloaded_call *c)
{
    return memcmp(c->out, c->wanted, c->out_bytes) == 0;
}

static int (*offloaded_body)(void);

/* What a process does. */
static int offloaded_main(coll_shm *shm, void *arg)
{
    (void)arg;
    check_count = check_failures = 0;
    me.rank = coll_shm_rank(shm);
    me.p = coll_shm_size(shm);
    if (!CHECK_STATUS(coll_comm_init(&me.comm, coll_shm_transport(shm), shm, me.rank, me.p,
                                     me.memory, sizeof me.memory),
                      COLL_OK) ||
        !nic_open())
        return 2;
    if (offloaded_body() == 0) {
        CHECK_STATUS(coll_barrier(&me.comm), COLL_OK);
        coll_ofi_nic_close(me.nic);
        CHECK_STATUS(coll_comm_free(&me.comm), COLL_OK);
    }
    return check_failures != 0;
}

/* Runs a body in p processes. */
static void offloaded(uint32_t p, int (*body)(void))
{
    pid_t pid[PROCESSES_MOST];
    offloaded_body = body;
    processes_start(pid, p, 1 << 16, 0, offloaded_main, NULL);
    for (uint32_t r = 0; r < p; r++)
        CHECK_EQ(process_end(pid[r], 4 * OFFLOADED_PATIENCE), 0);
}

#endif /* COLL_TESTS_OFFLOADED_H */
