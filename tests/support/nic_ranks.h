/* tests/support/nic_ranks.h — all ranks of one plan, each with its NIC program, machine and memory */
#ifndef COLL_TESTS_NIC_RANKS_H
#define COLL_TESTS_NIC_RANKS_H

#include <stdlib.h>
#include <string.h>

#include "coll/algos/fnomial.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/ring.h"
#include "coll/nic.h"
#include "coll/reduce.h"
#include "support/check.h"

enum { P = 6, COUNT = 13, OPS = 256, MEMORY = 1 << 18 };

/* All ranks of one plan, each with its program and memory. */
static struct {
    coll_plan plan;
    coll_op op;
    coll_nic_program programs[P];
    size_t memory[P][MEMORY / P / sizeof(size_t)];
    coll_action actions[OPS];
    coll_nic_machine machines[P];
    coll_nic_endpoint ends[P];
    coll_nic_world world;
    uint32_t counters[P][OPS];
    uint8_t states[P][OPS];
    int32_t in[P][COUNT], out[P][COUNT], scratch[P][8 * COUNT];
} all;

/* Lowers a rank's plan. */
static inline coll_status lower(uint32_t rank, const coll_nic_limits *limits,
                                coll_nic_memory *memory)
{
    coll_schedule schedule;
    const coll_status status =
        coll_schedule_write(&schedule, &all.plan, rank, all.actions, (size_t)OPS);
    return status == COLL_OK
               ? coll_nic_lower(&all.programs[rank], &all.plan, &schedule, limits, memory)
               : status;
}

/* Opens the machines of all ranks over a wire. */
static inline void open_all(const coll_nic_wire *wire)
{
    coll_nic_world_init(&all.world, all.machines, all.ends, P);
    for (uint32_t r = 0; r < P; r++) {
        coll_nic_machine *m = &all.machines[r];
        CHECK_STATUS(coll_nic_open(m, &all.programs[r], wire, &all.ends[r], all.counters[r],
                                   all.states[r]),
                     COLL_OK);
        m->op = &all.op;
        m->in = all.in[r];
        m->out = all.out[r];
        m->scratch = all.scratch[r];
        m->elem_bytes = sizeof(int32_t);
    }
}

/* Makes the programs of an allreduce or a broadcast. */
static inline void make(const coll_algorithm *algorithm, coll_collective collective,
                        bool unexpected)
{
    coll_problem problem;
    coll_nic_limits limits;
    coll_nic_limits_init(&limits);
    limits.unexpected = unexpected;
    coll_problem_init(&problem, collective, P, COUNT, sizeof(int32_t));
    problem.flags = collective == COLL_ALLREDUCE ? COLL_FLAG_COMMUTATIVE : 0;
    CHECK_STATUS(coll_plan_init(&all.plan, algorithm, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_op_builtin(&all.op, COLL_SUM, COLL_I32), COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        coll_nic_memory memory;
        memory.at = all.memory[r];
        memory.bytes = sizeof all.memory[r];
        memory.used = 0;
        CHECK_STATUS(lower(r, &limits, &memory), COLL_OK);
        CHECK(memory.used > 0 && memory.used <= memory.bytes);
        CHECK(all.programs[r].needs.ops <= OPS);
        CHECK(coll_nic_refusal(&all.programs[r].needs, &limits) == NULL);
    }
    open_all(&coll_nic_loopback);
    all.world.unexpected = unexpected;
}

static inline void fill_rank(uint32_t r, uint32_t epoch)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        all.in[r][i] = (int32_t)(1000 * epoch + 10 * r + i);
        all.out[r][i] = -1;
    }
}

static inline void fill(uint32_t epoch)
{
    for (uint32_t r = 0; r < P; r++)
        fill_rank(r, epoch);
}

/* Has a rank the sums of what was filled in? */
static inline bool sum_is_right(uint32_t r, uint32_t epoch)
{
    for (uint32_t i = 0; i < COUNT; i++)
        if (all.out[r][i] != (int32_t)(P * (1000 * epoch + i) + 10 * P * (P - 1) / 2))
            return false;
    return true;
}

static inline bool sums_are_right(uint32_t epoch)
{
    for (uint32_t r = 0; r < P; r++)
        if (!sum_is_right(r, epoch))
            return false;
    return true;
}

static const coll_algorithm *const sums[] = {&coll_ring_allreduce, &coll_fnomial_allreduce,
                                             &coll_recursive_doubling_allreduce};

#endif /* COLL_TESTS_NIC_RANKS_H */
