/* examples/cg/ranks.c — running the solver on many ranks, one thread each */
#include "ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coll/transports/threads.h"

/* A rank's thread, and what it leaves behind. */
typedef struct member {
    const ranks_job *job;
    coll_threads *world;
    double *x; /* all rows; each rank writes its own */
    uint32_t rank, first, pieces;
    coll_partition cut;

    coll_comm comm;
    coll_request request[RANKS_USES]; /* persistent: planned once, started in every iteration */
    coll_plan plan[RANKS_USES];
    double *sums;          /* what the allreduces work on */
    uint32_t sums_per_dot; /* elements that they have for each dot product */
    double seconds_in[RANKS_USES];

    coll_status status; /* of the set-up */
    solver_result result;
    double seconds;
    size_t requests[RANKS_USES], messages[RANKS_USES], bytes[RANKS_USES];
} member;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- what the solver asks of its group ----------------------------------------------------- */

static coll_status run_call(member *m, unsigned use)
{
    const double start = now();
    coll_status status = coll_start(&m->request[use]);
    if (status == COLL_OK)
        status = coll_wait(&m->request[use]);
    m->seconds_in[use] += now() - start;
    m->requests[use]++;
    return status;
}

static coll_status gather(void *arg)
{
    return run_call(arg, RANKS_GATHER);
}

/* One term a rank and sum: the allreduce adds them up in its own order. */
static coll_status sum(void *arg, const double *terms, uint32_t k, double *sums)
{
    member *m = arg;
    memcpy(m->sums, terms, k * sizeof *sums);
    const coll_status status = run_call(m, k);
    memcpy(sums, m->sums, k * sizeof *sums);
    return status;
}

/* Every piece has an element of its own in the allreduce, to which all ranks but one add zero,
 * which is exact in any order. The pieces are then added up here, in the same order on every
 * rank and for any number of ranks. */
static coll_status sum_reproducibly(void *arg, const double *terms, uint32_t k, double *sums)
{
    member *m = arg;
    memset(m->sums, 0, k * (size_t)m->sums_per_dot * sizeof *sums);
    memcpy(m->sums + m->first * (size_t)k, terms, m->pieces * (size_t)k * sizeof *sums);
    const coll_status status = run_call(m, k);
    for (uint32_t j = 0; j < k; j++) {
        sums[j] = 0;
        for (uint32_t i = 0; i < m->sums_per_dot; i++)
            sums[j] += m->sums[i * (size_t)k + j];
    }
    return status;
}

static void residual(void *arg, size_t iteration, double relative)
{
    const member *m = arg;
    m->job->residual(NULL, iteration, relative);
}

/* ---- a rank ------------------------------------------------------------------------------- */

/* The rows of each rank, as allgatherv wants to know them. */
static void layout(const ranks_job *job, coll_partition cut, uint32_t pieces, size_t *counts,
                   size_t *displs)
{
    const coll_partition pieces_of = coll_partition_of(pieces, job->ranks);
    for (uint32_t r = 0; r < job->ranks; r++) {
        const coll_block own = coll_part_block(pieces_of, r);
        displs[r] = coll_part_offset(cut, (uint32_t)own.offset);
        counts[r] = coll_part_offset(cut, (uint32_t)(own.offset + own.count)) - displs[r];
    }
}

/* What will be communicated: the arguments of each use. */
static void arguments(const member *m, double *full, const size_t *counts, const size_t *displs,
                      coll_args args[RANKS_USES])
{
    coll_args_init(&args[RANKS_GATHER], COLL_ALLGATHERV);
    args[RANKS_GATHER].in = COLL_IN_PLACE;
    args[RANKS_GATHER].out = full;
    args[RANKS_GATHER].count = counts[m->rank];
    args[RANKS_GATHER].out_counts = counts;
    args[RANKS_GATHER].out_displs = displs;
    args[RANKS_GATHER].type = COLL_F64;
    for (uint32_t k = 1; k < RANKS_USES; k++) {
        coll_args_init(&args[k], COLL_ALLREDUCE);
        args[k].in = COLL_IN_PLACE;
        args[k].out = m->sums;
        args[k].count = k * (size_t)m->sums_per_dot;
        args[k].type = COLL_F64;
        args[k].op = COLL_SUM;
    }
}

static void *allocate(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, bytes);
}

static void release(void *ctx, void *memory, size_t bytes)
{
    (void)ctx, (void)bytes;
    free(memory);
}

/* Makes the communicator, which uses what the job chose. */
static coll_status open_comm(member *m)
{
    static const coll_allocator heap = {allocate, release, NULL};
    const ranks_job *job = m->job;
    coll_status status =
        coll_comm_init(&m->comm, &coll_threads_transport, coll_threads_rank(m->world, m->rank),
                       m->rank, job->ranks, NULL, 0);
    if (status == COLL_OK)
        status = coll_comm_set_allocator(&m->comm, &heap);
    if (status == COLL_OK)
        status = coll_comm_set_algorithm(&m->comm, COLL_ALLGATHERV, job->gather.algorithm,
                                         job->gather.param);
    if (status == COLL_OK)
        status = coll_comm_set_algorithm(&m->comm, COLL_ALLREDUCE, job->sum.algorithm,
                                         job->sum.param);
    return status;
}

/* Notes the plan of a call, and messages and bytes that this rank sends in it. */
static void count_traffic(member *m, unsigned use)
{
    const coll_plan *plan = coll_request_plan(&m->request[use]);
    const size_t steps = coll_plan_steps(plan, m->rank);
    m->plan[use] = *plan;
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(plan, m->rank, s, acts);
        for (unsigned i = 0; i < n; i++)
            if (acts[i].kind == COLL_DO_SEND && acts[i].count > 0) {
                m->messages[use]++;
                m->bytes[use] += acts[i].count * plan->problem.elem_bytes;
            }
    }
}

static coll_status solve(member *m, double *full, const size_t *counts, const size_t *displs)
{
    const ranks_job *job = m->job;
    const solver_problem problem = {job->a, m->cut, job->tolerance, job->max_iterations};
    const solver_group group = {m, full, gather, job->reproducible ? sum_reproducibly : sum,
                                job->residual && m->rank == 0 ? residual : NULL};
    coll_args args[RANKS_USES];
    arguments(m, full, counts, displs, args);
    coll_status status = open_comm(m);
    for (unsigned use = 0; use < RANKS_USES && status == COLL_OK; use++)
        status = coll_request_init(&m->comm, &args[use], &m->request[use]);
    if (status == COLL_OK)
        status = coll_barrier(&m->comm);
    if (status == COLL_OK) {
        const double start = now();
        m->result = solver_run(&problem, &group, m->first, m->pieces, m->x);
        m->seconds = now() - start;
        for (unsigned use = 0; use < RANKS_USES; use++)
            count_traffic(m, use);
        for (unsigned use = 0; use < RANKS_USES; use++)
            coll_request_free(&m->request[use]);
        coll_comm_free(&m->comm);
    }
    return status;
}

static void *member_main(void *arg)
{
    member *m = arg;
    const ranks_job *job = m->job;
    const uint32_t p = job->ranks;
    size_t *tables = malloc(2 * (size_t)p * sizeof *tables);
    double *full = calloc(job->a->rows, sizeof *full);
    m->sums = calloc(SOLVER_SUMS * (size_t)m->sums_per_dot, sizeof *m->sums);
    m->status = COLL_ERR_MEMORY;
    if (tables && full && m->sums) {
        layout(job, m->cut, job->reproducible ? RANKS_PIECES : p, tables, tables + p);
        m->status = solve(m, full, tables, tables + p);
    }
    if (m->status != COLL_OK || m->result.end == SOLVER_NO_MEMORY ||
        m->result.end == SOLVER_BROKEN) { /* the others may wait for this rank: end here */
        fprintf(stderr, "cg: rank %u: %s\n", m->rank,
                coll_status_text(m->status != COLL_OK                ? m->status
                                 : m->result.end == SOLVER_NO_MEMORY ? COLL_ERR_MEMORY
                                                                     : m->result.status));
        exit(1);
    }
    free(m->sums);
    free(full);
    free(tables);
    return NULL;
}

/* ---- all ranks ---------------------------------------------------------------------------- */

static void *memory_of(size_t n, size_t bytes)
{
    void *memory = calloc(n, bytes);
    if (!memory) {
        fprintf(stderr, "cg: no memory\n");
        exit(1);
    }
    return memory;
}

static ranks_outcome summarise(const member *all, uint32_t p)
{
    ranks_outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    outcome.result = all[0].result;
    for (uint32_t r = 0; r < p; r++) {
        const member *m = &all[r];
        if (outcome.seconds < m->seconds)
            outcome.seconds = m->seconds;
        if (outcome.result.largest_error < m->result.largest_error)
            outcome.result.largest_error = m->result.largest_error;
        for (unsigned use = 0; use < RANKS_USES; use++) {
            ranks_use *to = &outcome.use[use];
            to->messages += m->messages[use];
            to->bytes += m->bytes[use];
            to->mean_seconds += m->seconds_in[use] / p;
            if (to->most_seconds < m->seconds_in[use])
                to->most_seconds = m->seconds_in[use];
        }
    }
    for (unsigned use = 0; use < RANKS_USES; use++) {
        outcome.use[use].plan = all[0].plan[use];
        outcome.use[use].requests = all[0].requests[use];
    }
    return outcome;
}

ranks_outcome ranks_run(const ranks_job *job, double *x)
{
    const uint32_t p = job->ranks, pieces = job->reproducible ? RANKS_PIECES : p;
    const coll_partition pieces_of = coll_partition_of(pieces, p);
    coll_threads *world = coll_threads_create(p);
    pthread_t *threads = memory_of(p, sizeof *threads);
    member *all = memory_of(p, sizeof *all);
    if (!world) {
        fprintf(stderr, "cg: no memory\n");
        exit(1);
    }
    for (uint32_t r = 0; r < p; r++) {
        const coll_block own = coll_part_block(pieces_of, r);
        member *m = &all[r];
        m->job = job;
        m->world = world;
        m->x = x;
        m->rank = r;
        m->first = (uint32_t)own.offset;
        m->pieces = (uint32_t)own.count;
        m->cut = coll_partition_of(job->a->rows, pieces);
        m->sums_per_dot = job->reproducible ? RANKS_PIECES : 1;
    }
    for (uint32_t r = 0; r < p; r++)
        if (pthread_create(&threads[r], NULL, member_main, &all[r]) != 0) {
            fprintf(stderr, "cg: cannot start thread %u of %u\n", r + 1, p);
            exit(1);
        }
    for (uint32_t r = 0; r < p; r++)
        pthread_join(threads[r], NULL);
    const ranks_outcome outcome = summarise(all, p);
    free(all);
    free(threads);
    coll_threads_destroy(world);
    return outcome;
}
