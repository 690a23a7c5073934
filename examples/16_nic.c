/* examples/16_nic.c — a NIC runs collectives without its host: a plan as a program of counters and triggers
 *
 * Each rank's plan is lowered to operations that wait for counters, and handed to its NIC as bytes. The host
 * then starts it again and again by one call. The NICs are counter machines here, in one thread.
 *
 *   cc -O2 -Iinclude examples/16_nic.c -o 16 && ./16
 */
#include <stdio.h>

#include "coll/algos/recursive_multiplying.h"
#include "coll/nic.h"
#include "coll/reduce.h"

enum { P = 4, COUNT = 1000, ACTIONS = 64, OPS = 64, COUNTERS = 16, ROUNDS = 1000 };

static int32_t in[P][COUNT], out[P][COUNT], scratch[P][2 * COUNT];
static size_t memory[P][4096];
static coll_nic_program programs[P];
static coll_nic_machine machines[P];
static coll_nic_endpoint ends[P];
static uint32_t counters[P][COUNTERS];
static uint8_t states[P][OPS];

static void print(const coll_nic_program *program)
{
    printf("rank %u: %u operations, %u counters, at most %u receives posted\n", program->rank,
           program->needs.ops, program->needs.counters, program->needs.receives);
    for (uint32_t i = 0; i < program->needs.ops; i++) {
        const coll_nic_op *op = &program->ops[i];
        printf("%4u %-6s", i, coll_nic_kind_name((coll_nic_kind)op->kind));
        if (op->trigger == COLL_NIC_NONE)
            printf("  at the start  ");
        else
            printf("  counter %u >= %u", op->trigger, op->threshold);
        if (op->done != COLL_NIC_NONE)
            printf("  then counter %u + 1", op->done);
        if (op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_RECV)
            printf("  (rank %u)", op->peer);
        printf("\n");
    }
}

/* The host's side: lowers a rank's plan, for a NIC with few counters, and writes bytes. */
static coll_status lower(const coll_plan *plan, uint32_t rank, unsigned char *bytes,
                         size_t room, size_t *used)
{
    coll_action actions[ACTIONS];
    coll_schedule schedule;
    coll_nic_limits limits;
    coll_nic_program program;
    coll_nic_memory work = {memory[rank], sizeof memory[rank], 0};
    const char *refusal;
    coll_status status = coll_schedule_write(&schedule, plan, rank, actions, ACTIONS);
    coll_nic_limits_init(&limits);
    limits.counters = COUNTERS;
    limits.ops = OPS;
    if (status == COLL_OK)
        status = coll_nic_lower(&program, plan, &schedule, &limits, &work);
    if (status != COLL_OK)
        return status;
    refusal = coll_nic_refusal(&program.needs, &limits);
    if (refusal) {
        puts(refusal);
        return COLL_ERR_CAPABILITY;
    }
    if (rank == 0)
        print(&program);
    return coll_nic_pack(&program, bytes, room, used);
}

/* The NIC's side: takes the bytes, and opens its machine. */
static coll_status take(uint32_t rank, const unsigned char *bytes, size_t n, const coll_op *op)
{
    const coll_nic_bounds bounds = {P, {COUNT, COUNT, 2 * COUNT, 0}};
    coll_nic_memory own = {memory[rank], sizeof memory[rank], 0};
    coll_nic_machine *m = &machines[rank];
    coll_status status = coll_nic_unpack(&programs[rank], bytes, n, &bounds, &own);
    if (status == COLL_OK)
        status = coll_nic_open(m, &programs[rank], &coll_nic_loopback, &ends[rank],
                               counters[rank], states[rank]);
    m->op = op;
    m->in = in[rank];
    m->out = out[rank];
    m->scratch = scratch[rank];
    m->elem_bytes = sizeof(int32_t);
    return status;
}

int main(void)
{
    coll_problem problem;
    coll_plan plan;
    coll_op sum;
    coll_nic_world world;
    unsigned char bytes[512];
    size_t used = 0;
    coll_status status = coll_op_builtin(&sum, COLL_SUM, COLL_I32);
    coll_problem_init(&problem, COLL_ALLREDUCE, P, COUNT, sizeof(int32_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    if (status == COLL_OK)
        status = coll_plan_init(&plan, &coll_recursive_doubling_allreduce, &problem, NULL);
    coll_nic_world_init(&world, machines, ends, P);
    for (uint32_t rank = 0; rank < P && status == COLL_OK; rank++) {
        status = lower(&plan, rank, bytes, sizeof bytes, &used);
        if (status == COLL_OK)
            status = take(rank, bytes, used, &sum);
    }
    for (int32_t round = 0; round < ROUNDS && status == COLL_OK; round++) {
        for (int32_t rank = 0; rank < P; rank++)
            for (int32_t i = 0; i < COUNT; i++)
                in[rank][i] = round + rank * i;
        status =
            coll_nic_world_start(&world, NULL); /* coll_nic_start of all ranks, and waits */
        for (int32_t i = 0; i < COUNT && status == COLL_OK; i++)
            if (out[i % P][i] != P * round + P * (P - 1) / 2 * i)
                status = COLL_ERR_STATE;
    }
    if (status == COLL_OK)
        printf("%d allreduces of %d elements from %zu bytes a rank\n", ROUNDS, COUNT, used);
    else
        printf("%s\n", coll_status_text(status));
    return status == COLL_OK ? 0 : 1;
}
