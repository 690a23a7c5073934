/* examples/boards/jobs.h — what the boards of a rack do together, and what a host does for comparison
 *
 * Each job is a collective by one algorithm. Its input depends on job and rank alone, and its result is told
 * as a checksum of the bytes of OUT; floats have any sign, 8 exponents, and any mantissa, so that nearly every
 * sum is rounded. A board adds them without floating point (softfloat.h), the host by its hardware.
 *
 * Boards that run plans themselves multicast, and have no composite plans (JOB_COMPOSITES 0, as they cost memory);
 * boards that are the cards of hosts (card.h) do what their hosts lower: composite plans as any others, and no
 * multicasts. job_is_for tells them apart.
 *
 *   for (i = 0; i < JOBS; i++)
 *       if (job_fits(i, p, bytes)) {                  // IN, OUT and SCRATCH of a rank have so many bytes
 *           status = job_make(&call, i, p, rank);     // its plan and task; the caller adds transport and engine
 *           …
 *           sum = job_sum(&call);
 *       }
 */
#ifndef COLL_EXAMPLES_BOARDS_JOBS_H
#define COLL_EXAMPLES_BOARDS_JOBS_H

#include "coll/algos/binary_tree_scan.h"
#include "coll/algos/bruck_alltoall.h"
#include "coll/algos/butterfly.h"
#include "coll/algos/dissemination.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/fnomial_gather.h"
#include "coll/algos/linear_neighbor.h"
#include "coll/algos/multicast.h"
#include "coll/algos/multicast_all.h"
#include "coll/algos/pairwise.h"
#include "coll/algos/rabenseifner.h"
#include "coll/algos/recursive_doubling_exscan.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/ring.h"
#include "coll/algos/two_level.h"
#include "coll/executor/in_order.h"
#include "coll/plan/composite.h"
#include "coll/plan/graph.h"
#include "coll/reduce.h"

/* Are there composite plans? */
#ifndef JOB_COMPOSITES
#define JOB_COMPOSITES 0
#endif

enum { JOB_RANKS = 16, JOB_TABLES = JOB_COMPOSITES ? 1024 : 1 }; /* at most */

typedef struct job {
    const char *name;
    const coll_algorithm *algorithm;
    coll_collective collective;
    coll_type type;
    size_t count; /* elements of the vector, or of the smallest block */
    const coll_op *op;
} job;

static const coll_op job_add_i32 = COLL_OP(coll_sum_i32, NULL, true, true);
static const coll_op job_add_f32 = COLL_OP(coll_sum_f32, NULL, true, false);
static const coll_op job_add_f64 = COLL_OP(coll_sum_f64, NULL, true, false);

#define JOB(collective, algorithm, type, count, op)                                            \
    {                                                                                          \
#collective " by " #algorithm ", " #count " " #type, &coll_##algorithm,                \
            COLL_##collective, COLL_##type, count, op                                          \
    }

static const job jobs[] = {
    JOB(BARRIER, dissemination_barrier, U8, 0, NULL),
    JOB(BCAST, fnomial_bcast, I32, 300, NULL),
    JOB(BCAST, multicast_bcast, F64, 150, NULL),
    JOB(REDUCE, fnomial_reduce, F64, 100, &job_add_f64),
    JOB(ALLREDUCE, ring_allreduce, I32, 1500, &job_add_i32),
    JOB(ALLREDUCE, ring_allreduce, F32, 300, &job_add_f32),
    JOB(ALLREDUCE, ring_allreduce, F64, 37, &job_add_f64),
    JOB(ALLREDUCE, recursive_doubling_allreduce, F64, 100, &job_add_f64),
    JOB(ALLREDUCE, rabenseifner_allreduce, F32, 333, &job_add_f32),
    JOB(ALLREDUCE, fnomial_allreduce, F64, 50, &job_add_f64),
    JOB(ALLREDUCE, fnomial_multicast_allreduce, F32, 1, &job_add_f32),
    JOB(GATHER, fnomial_gather, I32, 20, NULL),
    JOB(GATHERV, fnomial_gatherv, I32, 20, NULL),
    JOB(SCATTER, fnomial_gather, F32, 20, NULL),
    JOB(SCATTERV, fnomial_gatherv, F64, 10, NULL),
    JOB(ALLGATHER, multicast_allgather, I32, 40, NULL),
    JOB(ALLGATHERV, ring_allgather, F64, 15, NULL),
    JOB(ALLTOALL, bruck_alltoall, I32, 10, NULL),
    JOB(ALLTOALLV, pairwise_alltoall, F32, 20, NULL),
    JOB(ALLTOALLW, pairwise_alltoall, U8, 33, NULL),
    JOB(REDUCE_SCATTER, butterfly_reduce_scatter, F32, 20, &job_add_f32),
    JOB(REDUCE_SCATTER_BLOCK, ring_reduce_scatter, F64, 20, &job_add_f64),
    JOB(SCAN, binary_tree_scan, F64, 80, &job_add_f64),
    JOB(EXSCAN, recursive_doubling_exscan, F32, 160, &job_add_f32),
    JOB(NEIGHBOR_ALLGATHER, linear_neighbor, I32, 100, NULL),
    JOB(NEIGHBOR_ALLGATHERV, linear_neighbor, I32, 50, NULL),
    JOB(NEIGHBOR_ALLTOALL, linear_neighbor, F64, 50, NULL),
    JOB(NEIGHBOR_ALLTOALLV, linear_neighbor, F32, 150, NULL),
    JOB(NEIGHBOR_ALLTOALLW, linear_neighbor, U8, 500, NULL),
#if JOB_COMPOSITES
    JOB(ALLREDUCE, two_level_allreduce.algorithm, F64, 120, &job_add_f64),
    JOB(BCAST, two_level_bcast.algorithm, I32, 250, NULL),
#endif
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

/* A job of a rank: what its task points to. */
typedef struct job_call {
    coll_plan plan;
    coll_task task;
    coll_graph graph;
    coll_extents extents;
    size_t scratch; /* elements */
#if JOB_COMPOSITES
    coll_workspace workspace;
    size_t tables[JOB_TABLES];
#endif
    size_t in_counts[JOB_RANKS], in_displs[JOB_RANKS], out_counts[JOB_RANKS],
        out_displs[JOB_RANKS];
} job_call;

/* Elements in what rank `from` has for rank `to`, or the other way round where only one of them has blocks. */
static inline size_t job_count(const job *its, uint32_t from, uint32_t to)
{
    return its->count + (coll_is(COLL_PAIRED, its->collective) ? from * 3 + to : to) % 5;
}

/* Tables of counts, for the collectives that have them; a ring of neighbours for those. Block 0 of these goes
 * to the rank before, which has it as block 1. */
static inline void job_tables(job_call *call, coll_problem *problem, const job *its,
                              uint32_t rank)
{
    const bool neighbors = coll_is(COLL_NEIGHBORLY, its->collective);
    const uint32_t n = neighbors ? 2 : problem->p;
    const bool in = coll_is(COLL_TABLES_IN, its->collective),
               out = coll_is(COLL_TABLES_OUT, its->collective);
    size_t in_at = 0, out_at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const bool all = its->collective == COLL_NEIGHBOR_ALLGATHERV;
        call->in_counts[i] = neighbors ? its->count + 3 * i : job_count(its, rank, i);
        call->out_counts[i] =
            all         ? its->count
            : neighbors ? its->count + 3 * (1 - i)
                        : job_count(its, i, coll_is(COLL_PAIRED, its->collective) ? rank : i);
        call->in_displs[i] = in_at;
        call->out_displs[i] = out_at;
        in_at += call->in_counts[i];
        out_at += call->out_counts[i];
    }
    if (in) {
        problem->in.counts = call->in_counts;
        problem->in.displs = call->in_displs;
    }
    if (out) {
        problem->out.counts = call->out_counts;
        problem->out.displs = call->out_displs;
    }
}

/* Makes the plan of a job for a rank, and its task, which has neither buffers nor transport yet. */
static inline coll_status job_make(job_call *call, uint32_t number, uint32_t p, uint32_t rank)
{
    const job *its = &jobs[number];
    coll_problem problem;
    coll_status status = COLL_OK;
    coll_problem_init(&problem, its->collective, p, its->count, coll_type_bytes(its->type));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    problem.root = coll_is(COLL_ROOTED, its->collective) ? number % p : 0;
    if (coll_is(COLL_NEIGHBORLY, its->collective)) {
        status = coll_graph_mesh(&call->graph, 1, &p, 1);
        problem.graph = &call->graph;
    }
    job_tables(call, &problem, its, rank);
#if JOB_COMPOSITES
    coll_nodes_even(&problem.nodes, p, 2);
    coll_workspace_init(&call->workspace, rank, call->tables, JOB_TABLES);
    if (status == COLL_OK)
        status = coll_plan_build(&call->plan, its->algorithm, &problem, NULL, &call->workspace);
#else
    if (status == COLL_OK)
        status = coll_plan_init(&call->plan, its->algorithm, &problem, NULL);
#endif
    if (status != COLL_OK)
        return status;
    call->extents = coll_plan_extents(&call->plan, rank);
    call->scratch = coll_plan_scratch(&call->plan, rank);
    coll_task_init(&call->task, &call->plan, rank, NULL, NULL);
    call->task.op = its->op;
    return COLL_OK;
}

/* Is a job for boards that run plans themselves, or, if `cards`, for hosts whose cards they are? */
static inline bool job_is_for(uint32_t number, bool cards)
{
    return !(jobs[number].algorithm->traits &
             (uint32_t)(cards ? COLL_NEEDS_MULTICAST : COLL_NEEDS_BUILD));
}

/* Have IN, OUT and SCRATCH of all ranks no more than so many bytes? Then all ranks do the job, else none. */
static inline bool job_fits(job_call *call, uint32_t number, uint32_t p, size_t bytes)
{
    const size_t most = bytes / coll_type_bytes(jobs[number].type);
    for (uint32_t rank = 0; rank < p; rank++)
        if (job_make(call, number, p, rank) != COLL_OK || call->extents.in > most ||
            call->extents.out > most || call->scratch > most)
            return false;
    return true;
}

/* The bytes of a vector, from the low ones up on all machines. */
static inline void job_fill(const job *its, uint32_t number, uint32_t rank, unsigned char *in,
                            size_t elements)
{
    const size_t bytes = coll_type_bytes(its->type);
    uint32_t random = (number + 1) * 0x9e3779b9u ^ (rank + 1) * 0x85ebca6bu;
    for (size_t at = 0; at < elements * bytes; at += bytes) {
        for (size_t i = 0; i < bytes; i++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            in[at + i] = (unsigned char)(random >> 8);
        }
        if (its->type == COLL_F32) { /* 2⁻⁷ … 2 */
            in[at + 3] = (unsigned char)((in[at + 3] & 0x83) | 0x3c);
        } else if (its->type == COLL_F64) {
            in[at + 7] = (unsigned char)((in[at + 7] & 0x80) | 0x3f);
            in[at + 6] |= 0x80;
        }
    }
}

/* The checksum of a rank's result: FNV-1a, of 32 bits. */
static inline uint32_t job_sum(const job_call *call)
{
    const unsigned char *out = (const unsigned char *)call->task.out;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < call->extents.out * call->plan.problem.elem_bytes; i++)
        sum = (sum ^ out[i]) * 16777619u;
    return sum;
}

/* Gives a job its buffers, of so many bytes each, fills IN, and OUT with what nobody sends. */
static inline void job_buffers(job_call *call, uint32_t number, void *in, void *out,
                               void *scratch, size_t bytes)
{
    const job *its = &jobs[number];
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)out)[i] = 0xa5;
    job_fill(its, number, call->task.rank, (unsigned char *)in, call->extents.in);
    call->task.in = in;
    call->task.out = out;
    call->task.scratch = scratch;
    call->task.scratch_bytes = bytes;
}

#endif /* COLL_EXAMPLES_BOARDS_JOBS_H */
