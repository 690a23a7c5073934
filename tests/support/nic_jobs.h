/* tests/support/nic_jobs.h — collectives on 64-bit integers, for hosts and their NICs, and what each rank must hold in the
 * end
 */
#ifndef COLL_TESTS_NIC_JOBS_H
#define COLL_TESTS_NIC_JOBS_H

#include "coll/algos/bruck.h"
#include "coll/algos/dissemination.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/fnomial_gather.h"
#include "coll/algos/pairwise.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/recursive_multiplying_scan.h"
#include "coll/algos/ring.h"
#include "coll/algos/two_level.h"
#include "coll/plan/composite.h"
#include "support/nic_hosts.h"

/* A collective on 64-bit integers. */
typedef struct job {
    const coll_algorithm *algorithm;
    coll_collective collective;
    coll_operator op;
} job;

static const job jobs[] = {{&coll_ring_allreduce, COLL_ALLREDUCE, COLL_SUM},
                           {&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, COLL_MAX},
                           {&coll_two_level_allreduce.algorithm, COLL_ALLREDUCE, COLL_SUM},
                           {&coll_dissemination_barrier, COLL_BARRIER, COLL_NIC_NO_OPERATOR},
                           {&coll_fnomial_bcast, COLL_BCAST, COLL_NIC_NO_OPERATOR},
                           {&coll_fnomial_reduce, COLL_REDUCE, COLL_SUM},
                           {&coll_bruck_allgather, COLL_ALLGATHER, COLL_NIC_NO_OPERATOR},
                           {&coll_pairwise_alltoall, COLL_ALLTOALL, COLL_NIC_NO_OPERATOR},
                           {&coll_recursive_doubling_scan, COLL_SCAN, COLL_SUM},
                           {&coll_fnomial_gather, COLL_GATHER, COLL_NIC_NO_OPERATOR},
                           {&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, COLL_SUM}};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* Has all hosts describe a job in a slot. */
static void describe(uint32_t slot, const job *it, bool place)
{
    coll_problem problem;
    coll_problem_init(&problem, it->collective, hosts.p, COUNT, sizeof(int64_t));
    problem.root = hosts.p - 1;
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem.nodes, hosts.p, 2);
    for (uint32_t r = 0; r < hosts.p; r++) {
        static size_t tables[4096];
        coll_workspace workspace;
        coll_plan plan;
        coll_workspace_init(&workspace, r, tables, 4096);
        CHECK_STATUS(coll_plan_build(&plan, it->algorithm, &problem, NULL, &workspace),
                     COLL_OK);
        CHECK_STATUS(hosts_describe(r, slot, &plan, place), COLL_OK);
    }
}

static int64_t value(uint32_t salt, uint32_t rank, uint32_t i)
{
    return (int64_t)salt * 100000 + rank * 1000 + i * 7;
}

static void fill(uint32_t salt, uint32_t channel)
{
    for (uint32_t r = 0; r < hosts.p; r++)
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            hosts.at[r].memory->in[channel][i] = value(salt, r, i);
            hosts.at[r].memory->out[channel][i] = -1;
        }
}

/* Element i of a rank's result. */
static int64_t wanted(const job *it, uint32_t salt, uint32_t rank, uint32_t i)
{
    const uint32_t last = it->collective == COLL_SCAN ? rank : hosts.p - 1;
    const uint32_t own = it->collective == COLL_REDUCE_SCATTER_BLOCK ? rank * COUNT : 0;
    int64_t sum = 0;
    switch (it->collective) {
    case COLL_ALLGATHER:
    case COLL_GATHER:
        return value(salt, i / COUNT, i % COUNT);
    case COLL_ALLTOALL:
        return value(salt, i / COUNT, rank * COUNT + i % COUNT);
    case COLL_BCAST:
        return value(salt, hosts.p - 1, i);
    default:
        for (uint32_t r = 0; r <= last; r++)
            sum = it->op == COLL_MAX ? value(salt, r, i) : sum + value(salt, r, own + i);
        return sum;
    }
}

static bool is_right(const job *it, uint32_t salt, uint32_t channel)
{
    const bool blocks = it->collective == COLL_ALLGATHER || it->collective == COLL_ALLTOALL ||
                        it->collective == COLL_GATHER;
    const uint32_t n = it->collective == COLL_BARRIER ? 0 : blocks ? COUNT * hosts.p : COUNT;
    for (uint32_t r = 0; r < hosts.p; r++) {
        const bool has = (it->collective != COLL_GATHER && it->collective != COLL_REDUCE) ||
                         r == hosts.p - 1;
        for (uint32_t i = 0; i < n && has; i++)
            if (hosts.at[r].memory->out[channel][i] != wanted(it, salt, r, i))
                return false;
    }
    return true;
}

/* All hosts have been told that a channel's call is over, and well. */
static bool all_well(uint32_t channel)
{
    bool well = true;
    for (uint32_t r = 0; r < hosts.p; r++)
        if (coll_nic_queue_test(&hosts.at[r].queue, channel) != COLL_OK) {
            printf("    rank %u: %s\n", r, coll_nic_queue_why(&hosts.at[r].queue, channel));
            well = false;
        }
    return well;
}

#endif /* COLL_TESTS_NIC_JOBS_H */
