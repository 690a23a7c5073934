/* examples/cg/replay.c — the run of many ranks again, in one thread, with the same operator order
 *
 * One member holds the rows of all ranks. Its dot products leave one term a rank, as those of
 * the run did, and p communicators over loopback add them up with the algorithm of the run.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/transports/loopback.h"
#include "ranks.h"

typedef struct replay {
    uint32_t p;
    coll_loopback world;
    void *world_memory;
    coll_loopback_rank *ends;
    coll_comm *comms;
    coll_request *requests;
    double *sums; /* SOLVER_SUMS a rank */
    unsigned char *scratch;
    const ranks_outcome *was;
} replay;

/* All rows are here. */
static coll_status gather(void *arg)
{
    (void)arg;
    return COLL_OK;
}

/* Moves all calls on until all are done. */
static coll_status wait_all(replay *all)
{
    uint32_t running = all->p;
    while (running > 0) {
        running = 0;
        for (uint32_t r = 0; r < all->p; r++) {
            const coll_status status = coll_test(&all->requests[r]);
            if (status < 0)
                return status;
            running += status == COLL_AGAIN;
        }
    }
    return COLL_OK;
}

static coll_status sum(void *arg, const double *terms, uint32_t k, double *sums)
{
    replay *all = arg;
    const coll_plan *plan = &all->was->use[k].plan;
    for (uint32_t r = 0; r < all->p; r++) {
        double *mine = all->sums + r * (size_t)SOLVER_SUMS;
        memcpy(mine, terms + r * (size_t)k, k * sizeof *mine);
        coll_status status = coll_comm_set_algorithm(&all->comms[r], COLL_ALLREDUCE,
                                                     plan->algorithm, plan->param);
        if (status == COLL_OK)
            status = coll_iallreduce(&all->comms[r], COLL_IN_PLACE, mine, k, COLL_F64, COLL_SUM,
                                     &all->requests[r]);
        if (status != COLL_OK)
            return status;
    }
    const coll_status status = wait_all(all);
    memcpy(sums, all->sums, k * sizeof *sums);
    return status;
}

/* Elements of scratch that any of the allreduces needs on any rank. */
static size_t scratch_elements(const ranks_outcome *was, uint32_t p)
{
    size_t most = 0;
    for (unsigned k = 1; k < RANKS_USES; k++)
        for (uint32_t r = 0; r < p; r++) {
            const size_t need = coll_plan_scratch(&was->use[k].plan, r);
            if (most < need)
                most = need;
        }
    return most;
}

static coll_status open_ranks(replay *all)
{
    const uint32_t messages = all->p * COLL_WINDOW;
    const size_t bytes = COLL_LOOPBACK_BYTES(messages);
    const size_t scratch =
        coll_arena_bytes(scratch_elements(all->was, all->p) * sizeof(double)) +
        COLL_ARENA_ALIGN;
    all->world_memory = malloc(bytes);
    all->ends = calloc(all->p, sizeof *all->ends);
    all->comms = calloc(all->p, sizeof *all->comms);
    all->requests = calloc(all->p, sizeof *all->requests);
    all->sums = calloc(all->p, SOLVER_SUMS * sizeof *all->sums);
    all->scratch = calloc(all->p, scratch);
    if (!all->world_memory || !all->ends || !all->comms || !all->requests || !all->sums ||
        !all->scratch)
        return COLL_ERR_MEMORY;
    coll_status status =
        coll_loopback_init(&all->world, all->p, messages, all->world_memory, bytes);
    for (uint32_t r = 0; r < all->p && status == COLL_OK; r++) {
        status = coll_loopback_attach(&all->world, r, &all->ends[r]);
        if (status == COLL_OK)
            status = coll_comm_init(&all->comms[r], &coll_loopback_transport, &all->ends[r], r,
                                    all->p, all->scratch + r * scratch, scratch);
    }
    return status;
}

solver_result ranks_replay(const ranks_job *job, const ranks_outcome *was, double *x)
{
    replay all = {.p = job->ranks, .was = was};
    const coll_partition cut = coll_partition_of(job->a->rows, job->ranks);
    const solver_problem problem = {job->a, cut, job->tolerance, job->max_iterations};
    double *full = calloc(job->a->rows, sizeof *full);
    const solver_group group = {&all, full, gather, sum, NULL};
    solver_result result = {SOLVER_NO_MEMORY, COLL_ERR_MEMORY, 0, 0, 0, 0};
    if (full) {
        const coll_status status = open_ranks(&all);
        if (status == COLL_OK)
            result = solver_run(&problem, &group, 0, job->ranks, x);
        else
            result.status = status;
    }
    free(full);
    free(all.world_memory);
    free(all.ends);
    free(all.comms);
    free(all.requests);
    free(all.sums);
    free(all.scratch);
    return result;
}
