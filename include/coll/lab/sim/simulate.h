/* coll/lab/sim/simulate.h — from a plan to what it takes
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_SIMULATE_H
#define COLL_LAB_SIM_SIMULATE_H

#include "run.h"

/* When a rank begins. */
COLL_INLINE coll_time coll_i_sim_begins(const coll_sim *sim, uint32_t rank)
{
    const coll_sim_options *o = &sim->options;
    coll_time start = o->skew ? o->skew[rank] : 0;
    if (!o->skew && o->skew_most > 0)
        start = coll_time_of((double)o->skew_most *
                             coll_i_fraction(coll_i_mixed(o->seed, rank, 0)));
    if (o->model->start)
        start += o->model->start(o->model, coll_i_sim_outer(sim, rank));
    return start;
}

/* Ranks begin at once, in order, or when they are told to. */
COLL_INLINE void coll_i_sim_begin(coll_sim *sim)
{
    for (uint32_t rank = 0; rank < sim->p; rank++) {
        const coll_time start = coll_i_sim_begins(sim, rank);
        if (start > 0)
            coll_i_sim_put(sim, start, rank, COLL_I_SIM_WHAT(COLL_I_SIM_START, 0));
    }
    for (uint32_t rank = 0; rank < sim->p; rank++) {
        const coll_time start = coll_i_sim_begins(sim, rank);
        coll_i_sim_rank *at = &sim->ranks[rank];
        memset(at, 0, sizeof *at);
        at->timer = COLL_NEVER;
        at->arrived = at->inbox = COLL_I_SIM_NONE_LISTED;
        at->cpu = at->finish = start;
        sim->busy[rank] = 0;
        if (start == 0 && sim->status == COLL_OK)
            coll_i_sim_start(sim, rank, false);
    }
}

/* Lets happen what happens at one time. */
COLL_INLINE void coll_i_sim_batch(coll_sim *sim, coll_i_span *span)
{
    const uint32_t first = span->at->rank;
    sim->now = sim->queue->last;
    do {
        sim->events += (size_t)(span->end - span->at);
        for (; span->at != span->end && sim->status == COLL_OK; span->at++) {
            const uint32_t rank = span->at->rank;
            coll_i_sim_prefetch(sim, span);
            coll_i_sim_event(sim, span->at);
            if (sim->nics)
                coll_i_sim_nic_look(sim, rank);
        }
    } while (coll_i_span_next(sim->queue, span));
    if (sim->now >= COLL_TIME_LIMIT || (sim->options.most > 0 && sim->now > sim->options.most))
        coll_i_sim_fail(sim, COLL_ERR_OVERFLOW, first);
    if (sim->queue->out_of_memory || sim->mail.out_of_memory)
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, first);
}

/* Memory for p ranks, and nothing under way. */
COLL_INLINE bool coll_i_sim_clear(coll_sim *sim)
{
    if (sim->room < sim->p) {
        free(sim->rank_memory);
        free(sim->busy);
        sim->room = sim->p;
        sim->rank_memory = malloc(sim->p * sizeof *sim->ranks + COLL_I_CACHE_LINE);
        sim->busy = (coll_time *)malloc(sim->p * sizeof *sim->busy);
        coll_i_large_pages(sim->rank_memory, sim->p * sizeof *sim->ranks);
    }
    if (!sim->queue)
        sim->queue = (coll_i_queue *)malloc(sizeof *sim->queue);
    if (!sim->rank_memory || !sim->busy || !sim->queue) {
        sim->room = 0;
        return false;
    }
    sim->ranks = (coll_i_sim_rank *)coll_i_cache_line(sim->rank_memory);
    free(sim->loads);
    sim->loads = NULL;
    sim->links = sim->options.topology ? sim->options.topology->links : 0;
    if (sim->links > 0) {
        sim->loads = (coll_link_load *)calloc(sim->links, sizeof *sim->loads);
        if (!sim->loads)
            return false;
    }
    free(sim->others);
    sim->others = NULL;
    if (sim->options.traffic && sim->links > 0) {
        sim->others = (uint64_t *)calloc(sim->links, sizeof *sim->others);
        if (!sim->others)
            return false;
    }
    if (!coll_i_sim_routing_clear(sim) || !coll_i_sim_ports_clear(sim) ||
        !coll_i_sim_nics_clear(sim))
        return false;
    sim->nic_count = sim->nics ? sim->nics->n : 0;
    coll_i_pool_clear(&sim->pool);
    coll_i_queue_clear(sim->queue, &sim->pool);
    coll_i_mail_clear(&sim->mail);
    sim->meetings.n = sim->flows.n = sim->shares.n = 0;
    sim->free_flow = COLL_RANK_NONE;
    free(sim->attended);
    sim->attended = NULL;
    return true;
}

/* Has the rank done all its actions? */
COLL_INLINE bool coll_i_sim_done(const coll_i_sim_rank *at)
{
    const coll_window *w = &at->window;
    return w->step == w->steps && !w->pending && !at->open && !at->waits &&
           !(w->staged & ~w->flying);
}

COLL_INLINE size_t coll_i_sim_memory(const coll_sim *sim)
{
    return sim->room * (sizeof(coll_i_sim_rank) + sizeof(coll_time)) + sizeof(coll_i_queue) +
           sim->mail.ops.room * sizeof(coll_i_op) + sim->pool.bytes +
           sim->travels.room * sizeof(coll_i_sim_travel) +
           sim->flows.room * sizeof(coll_i_sim_flow_state) +
           sim->shares.room * sizeof(coll_i_sim_share) + sim->links * sizeof(coll_link_load) +
           (sim->others ? sim->links * sizeof *sim->others : 0) +
           (sim->flights ? sim->p * sizeof *sim->flights : 0) +
           sim->meetings.room * sizeof(coll_i_sim_meeting) + coll_i_sim_nics_bytes(sim) +
           (sim->ports ? 2 * (size_t)sim->p * sim->options.model->ports * sizeof(coll_time)
                       : 0) +
           (sim->attended ? sim->p * COLL_NETWORK_GROUPS * sizeof(uint32_t) : 0);
}

/* Sets the options to what is usual: the window of comm.h, no skew. */
COLL_INLINE void coll_sim_options_init(coll_sim_options *options, const coll_cost_model *model)
{
    memset(options, 0, sizeof *options);
    options->model = model;
    options->window = COLL_WINDOW;
    options->seed = 1;
}

/* Before the first run. */
COLL_INLINE void coll_sim_init(coll_sim *sim)
{
    memset(sim, 0, sizeof *sim);
}

/* Gives the memory back. */
COLL_INLINE void coll_sim_free(coll_sim *sim)
{
    free(sim->queue);
    free(sim->attended);
    free(sim->rank_memory);
    free(sim->busy);
    free(sim->loads);
    free(sim->ports);
    free(sim->others);
    free(sim->flights);
    coll_i_sim_nics_free(sim);
    coll_i_array_free(&sim->flows);
    coll_i_array_free(&sim->shares);
    coll_i_sim_travels_free(sim);
    coll_i_array_free(&sim->meetings);
    coll_i_mail_free(&sim->mail);
    coll_i_pool_free(&sim->pool);
    memset(sim, 0, sizeof *sim);
}

/* When a rank ended; how long its processor was busy. */
COLL_INLINE coll_time coll_sim_finish(const coll_sim *sim, uint32_t rank)
{
    return sim->ranks[rank].finish;
}

/* How long a rank's processor was busy. */
COLL_INLINE coll_time coll_sim_busy(const coll_sim *sim, uint32_t rank)
{
    return sim->busy[rank];
}

/* Simulates all ranks of a collective: of one plan, or with `per_rank` of a plan for each.
 * *sim, which coll_sim_init has seen, then holds the results, until the next run; its memory is
 * kept for that. COLL_OK; COLL_ERR_DEADLOCK: ranks wait for each other, one of them is
 * sim->stuck; COLL_ERR_WINDOW; COLL_ERR_GROUP: a rank has no place in the topology, or no NIC;
 * COLL_ERR_PEER: links that failed cut rank sim->cut_off off from rank sim->stuck;
 * COLL_ERR_CAPABILITY: the model has no NETWORK_REDUCE; COLL_ERR_SIZE, COLL_ERR_RANK: the plan
 * is wrong; COLL_ERR_MEMORY: there is none here, or, if sim->nic_needs is more than the
 * adapter's, too little in the NIC of rank sim->stuck; COLL_ERR_OVERFLOW: it takes longer than
 * COLL_TIME_LIMIT, or than options->most. */
COLL_INLINE coll_status coll_sim_run(coll_sim *sim, const coll_plan *plans, bool per_rank,
                                     const coll_sim_options *options)
{
    coll_i_span span;
    if (!sim || !plans || !options || !options->model)
        return COLL_ERR_NULL;
    if (options->window == 0 || options->window > 32)
        return COLL_ERR_WINDOW;
    sim->options = *options;
    sim->plans = plans;
    sim->per_rank = per_rank;
    sim->p = plans[0].problem.p;
    sim->outside = per_rank || plans[0].group.table || plans[0].group.base != 0 ||
                   plans[0].group.stride != 1;
    sim->status = COLL_OK;
    sim->now = sim->makespan = 0;
    sim->messages = sim->bytes = sim->events = sim->hops = 0;
    sim->hops_most = 0;
    sim->nic_needs = 0;
    for (uint32_t rank = 0; options->topology && rank < sim->p; rank++)
        if (coll_i_sim_outer(sim, rank) >= options->topology->ends)
            return COLL_ERR_GROUP;
    for (uint32_t rank = 0; options->adapter && rank < sim->p; rank++)
        if (coll_i_sim_outer(sim, rank) >= options->adapter->ends)
            return COLL_ERR_GROUP;
    if (!coll_i_sim_clear(sim))
        return COLL_ERR_MEMORY;
    if (sim->nics && !coll_i_sim_nics_begin(sim))
        return sim->status;
    coll_i_sim_begin(sim);
    while (sim->status == COLL_OK && coll_i_queue_take(sim->queue, &span))
        coll_i_sim_batch(sim, &span);
    sim->memory = coll_i_sim_memory(sim);
    for (uint32_t rank = 0; rank < sim->p; rank++) {
        if (sim->nics)
            sim->ranks[rank].finish = coll_i_sim_nic_finish(sim, rank, sim->ranks[rank].finish);
        if (options->model->end)
            sim->ranks[rank].finish +=
                options->model->end(options->model, coll_i_sim_outer(sim, rank));
        sim->makespan = coll_later(sim->makespan, sim->ranks[rank].finish);
        if (!coll_i_sim_done(&sim->ranks[rank]))
            coll_i_sim_fail(sim, COLL_ERR_DEADLOCK, rank);
        else if (sim->ranks[rank].finish >= COLL_TIME_LIMIT)
            coll_i_sim_fail(sim, COLL_ERR_OVERFLOW, rank);
    }
    return sim->status;
}

#endif /* COLL_LAB_SIM_SIMULATE_H */
