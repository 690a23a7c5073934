/* tools/world.c — see world.h */
#include "world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/transports/idle.h"
#include "coll/transports/loopback.h"
#include "ends.h"
#include "memory.h"
#include "progress.h"

enum { STACK = 256 * 1024 };

struct world_rank {
    struct world *world;
    uint32_t rank;
    coll_task run;
    coll_engine request;
    coll_slot *slots;
    coll_status status;
    double start, end;
    coll_loopback_rank end_point;
    coll_traced *traced; /* NULL: nothing is noted */
    coll_traced_event *events;
    uint64_t call; /* that is noted */
    pthread_t thread;
};

struct world_engine {
    /* threads */
    struct ends ends;
    pthread_barrier_t gate;    /* the ranks and the main thread */
    uint32_t arrived, release; /* the ranks, that start together */
    double margin;             /* seconds from the last one's arrival until they start … */
    double begin;              /* … at that time */
    uint32_t entered;          /* ranks that have come to the barrier that is run */
    bool fill, over;
    /* loopback */
    coll_loopback loopback;
    void *loopback_memory;
    coll_engine **requests;
};

static bool add(uint64_t *sum, uint64_t a, uint64_t b)
{
    if (b != 0 && a > (UINT64_MAX - *sum) / b)
        return false;
    *sum += a * b;
    return true;
}

uint64_t world_bytes(const struct data *data, uint32_t window, uint32_t sets)
{
    uint64_t bytes = 0;
    for (uint32_t rank = 0; rank < data->job->p; rank++) {
        const coll_plan *plan = job_plan(data->job, rank);
        const coll_extents extents = coll_plan_extents(plan, rank);
        if (!extents.fits || !add(&bytes, extents.in, data->elem_bytes * sets) ||
            !add(&bytes, extents.out, data->elem_bytes * sets) ||
            !add(&bytes, coll_plan_scratch(plan, rank), data->elem_bytes) ||
            !add(&bytes, window, sizeof(coll_slot) + sizeof(coll_i_loop_entry) + 8))
            return UINT64_MAX;
    }
    return bytes;
}

/* ---- what is noted ---------------------------------------------------------------------- */

static uint64_t now_ns(void *unused)
{
    (void)unused;
    return (uint64_t)(seconds_now() * 1e9);
}

void world_trace(struct world *w, uint32_t room)
{
    const coll_clock clock = {now_ns, NULL};
    for (uint32_t rank = 0; rank < w->p; rank++) {
        struct world_rank *me = &w->ranks[rank];
        coll_status status;
        me->traced = memory_of(1, sizeof *me->traced);
        me->events = memory_of(room, sizeof *me->events);
        status = coll_traced_init(me->traced, me->run.transport, me->run.ctx, &clock,
                                  me->events, room);
        if (status != COLL_OK)
            refuse("this transport cannot be traced: %s", coll_status_text(status));
        me->run.transport = coll_traced_transport(me->traced);
        me->run.ctx = me->traced;
    }
}

coll_real_rank world_traced(const struct world *w, uint32_t rank)
{
    return coll_real_rank_of(w->ranks[rank].traced);
}

static void note_begin(struct world_rank *me)
{
    const coll_plan *plan = me->run.plan;
    if (!me->traced)
        return;
    coll_traced_clear(me->traced);
    me->call = coll_traced_begin(me->traced, plan->problem.collective, me->run.tag,
                                 (uint64_t)plan->problem.count * plan->problem.elem_bytes);
}

static void note_end(struct world_rank *me)
{
    if (me->traced)
        coll_traced_end(me->traced, me->call, me->status);
}

/* ---- threads ----------------------------------------------------------------------------- */

/* So long after the last rank's arrival those that have a processor each know it for sure: it takes a
 * yield and a line of memory, well below a microsecond. */
#define MARGIN 5e-6

/* Waits until all ranks are here. Unlike the gate it lets them go at once: at the same time by the clock, or,
 * where they share processors, as they come. */
static void start_together(struct world *w)
{
    struct world_engine *e = w->engine;
    const uint32_t release = __atomic_load_n(&e->release, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&e->arrived, 1, __ATOMIC_ACQ_REL) == w->p) {
        __atomic_store_n(&e->arrived, 0, __ATOMIC_RELAXED);
        e->begin = seconds_now() + e->margin;
        __atomic_store_n(&e->release, release + 1, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&e->release, __ATOMIC_ACQUIRE) == release)
        sched_yield();
    while (seconds_now() < e->begin)
        ;
}

static void *rank_main(void *argument)
{
    struct world_rank *me = argument;
    struct world *w = me->world;
    struct world_engine *e = w->engine;
    for (;;) {
        pthread_barrier_wait(&e->gate);
        if (e->over)
            return NULL;
        if (e->fill)
            data_fill(w->data, me->rank, w->in[me->rank], w->out[me->rank]);
        start_together(w);
        me->start = seconds_now();
        __atomic_add_fetch(&e->entered, 1, __ATOMIC_SEQ_CST);
        note_begin(me);
        me->status = coll_engine_start(&me->request, &me->run);
        if (me->status == COLL_OK)
            me->status = coll_engine_wait(&me->request);
        if (me->status == COLL_OK)
            data_divide(w->data, me->rank, w->out[me->rank]);
        note_end(me);
        me->end = seconds_now();
        if (w->data->job->collective == COLL_BARRIER && me->status == COLL_OK &&
            __atomic_load_n(&e->entered, __ATOMIC_SEQ_CST) < w->p)
            __atomic_store_n(&w->barrier_broken, true, __ATOMIC_RELAXED);
        pthread_barrier_wait(&e->gate);
    }
}

static void make_threads(struct world *w)
{
    struct world_engine *e = w->engine;
    pthread_attr_t attributes;
    uint64_t processors[COLL_PROCESSORS_WORDS] = {0};
    coll_processors_add(processors);
    e->margin = w->p <= coll_processors_count(processors) ? MARGIN : 0;
    ends_make(&e->ends,
              w->kind == WORLD_JOIN  ? ENDS_JOIN
              : w->kind == WORLD_TCP ? ENDS_TCP
                                     : ENDS_THREADS,
              w->p, &job_plan(w->data->job, 0)->problem.nodes);
    if (pthread_barrier_init(&e->gate, NULL, w->p + 1) != 0 ||
        pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, STACK) != 0)
        refuse("there is not enough memory for %u threads", w->p);
    for (uint32_t rank = 0; rank < w->p; rank++) {
        struct world_rank *me = &w->ranks[rank];
        me->run.transport = ends_of(&e->ends, rank, &me->run.ctx);
        if (pthread_create(&me->thread, &attributes, rank_main, me) != 0)
            refuse("this machine does not start %u threads; --transport loopback needs none",
                   w->p);
    }
    pthread_attr_destroy(&attributes);
}

/* ---- loopback ---------------------------------------------------------------------------- */

static void make_loopback(struct world *w)
{
    struct world_engine *e = w->engine;
    const uint64_t wanted = (uint64_t)w->p * w->window + w->p;
    const uint32_t messages = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX - 1;
    const size_t bytes = COLL_LOOPBACK_BYTES(messages);
    e->loopback_memory = memory_of(1, bytes);
    e->requests = memory_of(w->p, sizeof *e->requests);
    if (coll_loopback_init(&e->loopback, w->p, messages, e->loopback_memory, bytes) != COLL_OK)
        refuse("there is not enough memory for this");
    for (uint32_t rank = 0; rank < w->p; rank++) {
        struct world_rank *me = &w->ranks[rank];
        (void)coll_loopback_attach(&e->loopback, rank, &me->end_point);
        me->run.transport = &coll_loopback_transport;
        me->run.ctx = &me->end_point;
        e->requests[rank] = &me->request;
    }
}

/* Starts all ranks and moves them on in turn. A barrier must hold all of them until the last
 * one is started. */
static void run_loopback(struct world *w)
{
    const bool barrier = w->data->job->collective == COLL_BARRIER;
    const double start = seconds_now();
    coll_status status = COLL_OK;
    for (uint32_t rank = 0; rank < w->p; rank++) {
        struct world_rank *me = &w->ranks[rank];
        if (barrier && rank + 1 == w->p)
            for (uint32_t r = 0; r < rank; r++)
                if (coll_engine_progress(&w->ranks[r].request) == COLL_OK)
                    w->barrier_broken = true;
        me->start = start;
        note_begin(me);
        me->status = coll_engine_start(&me->request, &me->run);
        if (me->status != COLL_OK && status == COLL_OK)
            status = me->status;
    }
    if (status == COLL_OK)
        status = coll_loopback_run(&w->engine->loopback, w->engine->requests, w->p);
    for (uint32_t rank = 0; rank < w->p; rank++) {
        struct world_rank *me = &w->ranks[rank];
        if (me->status == COLL_OK)
            me->status = me->request.status == COLL_AGAIN ? status : me->request.status;
        if (me->status == COLL_OK)
            data_divide(w->data, rank, w->out[rank]);
        me->end = seconds_now();
        note_end(me);
    }
}

/* ---- the world --------------------------------------------------------------------------- */

void world_make(struct world *w, const struct data *data, enum world_kind kind, uint32_t window,
                uint32_t sets)
{
    const struct job *job = data->job;
    const size_t shared = coll_plan_shared(job_plan(job, 0)); /* of each node */
    const coll_nodes *nodes = &job_plan(job, 0)->problem.nodes;
    memset(w, 0, sizeof *w);
    w->data = data;
    w->kind = kind;
    w->p = job->p;
    w->window = window;
    w->sets = sets;
    w->set = sets - 1; /* the first comes next */
    w->in = w->all_in = memory_of((size_t)w->p * sets, sizeof *w->in);
    w->out = w->all_out = memory_of((size_t)w->p * sets, sizeof *w->out);
    w->ranks = memory_of(w->p, sizeof *w->ranks);
    w->engine = memory_of(1, sizeof *w->engine);
    w->shared = memory_of(shared * coll_nodes_count(nodes), data->elem_bytes);
    for (uint32_t rank = 0; rank < w->p; rank++) {
        struct world_rank *me = &w->ranks[rank];
        const coll_plan *plan = job_plan(job, rank);
        const coll_extents extents = coll_plan_extents(plan, rank);
        const size_t scratch = coll_plan_scratch(plan, rank);
        for (uint32_t set = 0; set < sets; set++) {
            w->all_in[set * w->p + rank] =
                extents.in ? memory_of(extents.in, data->elem_bytes) : NULL;
            w->all_out[set * w->p + rank] = memory_of(extents.out, data->elem_bytes);
        }
        me->world = w;
        me->rank = rank;
        me->slots = memory_of(window, sizeof *me->slots);
        me->run.plan = plan;
        me->run.rank = rank;
        me->run.op = coll_is(COLL_REDUCING, job->collective) ? &data->op : NULL;
        me->run.scratch = memory_of(scratch, data->elem_bytes);
        me->run.scratch_bytes = scratch * data->elem_bytes;
        me->run.shared = (char *)w->shared +
                         coll_node_of(nodes, w->p, rank).index * shared * data->elem_bytes;
        me->run.shared_bytes = shared * data->elem_bytes;
        (void)coll_engine_init(&me->request, me->slots, window);
    }
    if (kind == WORLD_LOOPBACK)
        make_loopback(w);
    else
        make_threads(w);
}

coll_status world_run(struct world *w, bool fill, double *seconds)
{
    struct world_engine *e = w->engine;
    coll_status status = COLL_OK;
    double start, end;
    w->set = (w->set + 1) % w->sets;
    w->in = w->all_in + (size_t)w->set * w->p;
    w->out = w->all_out + (size_t)w->set * w->p;
    for (uint32_t rank = 0; rank < w->p; rank++) {
        w->ranks[rank].run.in = w->in[rank];
        w->ranks[rank].run.out = w->out[rank];
    }
    if (w->kind != WORLD_LOOPBACK) {
        e->fill = fill;
        e->entered = 0;
        pthread_barrier_wait(&e->gate);
        pthread_barrier_wait(&e->gate);
    } else {
        for (uint32_t rank = 0; fill && rank < w->p; rank++)
            data_fill(w->data, rank, w->in[rank], w->out[rank]);
        run_loopback(w);
    }
    start = w->ranks[0].start;
    end = w->ranks[0].end;
    for (uint32_t rank = 0; rank < w->p; rank++) {
        const struct world_rank *me = &w->ranks[rank];
        start = me->start < start ? me->start : start;
        end = me->end > end ? me->end : end;
        /* Ranks that were told of another's failure are not where it began. */
        if (me->status != COLL_OK && (status == COLL_OK || status == COLL_ERR_PEER)) {
            status = me->status;
            w->failed = rank;
        }
    }
    *seconds = end - start;
    return status;
}

void world_free(struct world *w)
{
    struct world_engine *e = w->engine;
    if (w->kind != WORLD_LOOPBACK) {
        e->over = true;
        pthread_barrier_wait(&e->gate);
        for (uint32_t rank = 0; rank < w->p; rank++)
            pthread_join(w->ranks[rank].thread, NULL);
        pthread_barrier_destroy(&e->gate);
        ends_free(&e->ends);
    }
    for (size_t i = 0; i < (size_t)w->p * w->sets; i++) {
        free(w->all_in[i]);
        free(w->all_out[i]);
    }
    for (uint32_t rank = 0; rank < w->p; rank++) {
        free(w->ranks[rank].run.scratch);
        free(w->ranks[rank].slots);
        free(w->ranks[rank].traced);
        free(w->ranks[rank].events);
    }
    free(e->loopback_memory);
    free(e->requests);
    free(e);
    free(w->shared);
    free(w->ranks);
    free(w->all_in);
    free(w->all_out);
}
