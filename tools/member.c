/* tools/member.c — see member.h */
#if COLL_WITH_UCX || COLL_WITH_OFI
#undef COLL_EXTERN /* their bodies are not among those that are compiled once */
#endif
#include "member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/executor.h"
#include "coll/lab/tune/clock_offsets.h"
#include "coll/transports/bootstrap.h"
#include "coll/transports/shm.h"
#if COLL_WITH_UCX
#include "coll/transports/ucx.h"
#endif
#if COLL_WITH_OFI
#include "coll/transports/ofi.h"
#endif
#include "memory.h"
#include "progress.h"

enum {
    SCRATCH = 1 << 18,
    TIMES = 1 << 10 /* that are combined at once */
};

/* ---- transports -------------------------------------------------------------------------- */

/* How a process becomes a rank of a transport. */
struct launched {
    const char *name;
    void *(*open)(struct member *me, char *why); /* of WHY bytes */
    void (*close)(void *ctx);
};
enum {
    WHY = (int)COLL_TCP_WHY > (int)COLL_SHM_WHY ? (int)COLL_TCP_WHY : (int)COLL_SHM_WHY,
    PATIENCE_MS = 20000 /* for ranks that are being started */
};

#define LAUNCHED(network)                                                                      \
    static void *open_##network(struct member *me, char *why)                                  \
    {                                                                                          \
        coll_##network *its = coll_##network##_launched(NULL, why);                            \
        if (its) {                                                                             \
            me->rank = coll_##network##_rank(its);                                             \
            me->p = coll_##network##_size(its);                                                \
            me->transport = &coll_##network##_transport;                                       \
        }                                                                                      \
        return its;                                                                            \
    }                                                                                          \
    static void close_##network(void *ctx)                                                     \
    {                                                                                          \
        coll_##network##_close((coll_##network *)ctx);                                         \
    }

static void *open_shm(struct member *me, char *why)
{
    coll_shm *its = coll_shm_launched(PATIENCE_MS, why);
    if (its) {
        me->rank = coll_shm_rank(its);
        me->p = coll_shm_size(its);
        me->transport = coll_shm_transport(its);
    }
    return its;
}

static void close_shm(void *ctx)
{
    coll_shm_detach((coll_shm *)ctx);
}

LAUNCHED(tcp)
#if COLL_WITH_UCX
LAUNCHED(ucx)
#endif
#if COLL_WITH_OFI
LAUNCHED(ofi)
#endif

static const struct launched *launched_named(const char *name)
{
    static const struct launched all[] = {
        {"shm", open_shm, close_shm},
        {"tcp", open_tcp, close_tcp},
#if COLL_WITH_UCX
        {"ucx", open_ucx, close_ucx},
#endif
#if COLL_WITH_OFI
        {"ofi", open_ofi, close_ofi},
#endif
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

bool member_knows(const char *transport)
{
    return launched_named(transport) != NULL;
}

bool member_is_launched(const char *transport)
{
    const struct launched *by = launched_named(transport);
    return by && (by->open == open_shm ? getenv("COLL_SEGMENT") != NULL : coll_is_launched());
}

void member_join(struct member *me, const char *transport)
{
    char why[WHY];
    coll_status status;
    memset(me, 0, sizeof *me);
    me->by = launched_named(transport);
    me->ctx = me->by->open(me, why);
    if (!me->ctx)
        refuse("%s", why);
    me->memory = memory_of(SCRATCH, 1);
    status = me->transport->tag_ranges->claim(me->ctx, &me->tag, &me->tags);
    if (status == COLL_OK)
        status = coll_comm_init(&me->comm, me->transport, me->ctx, me->rank, me->p, me->memory,
                                SCRATCH);
    if (status != COLL_OK)
        refuse("rank %u has no communicator: %s", me->rank, coll_status_text(status));
    telling_open(&me->telling, &me->comm);
}

void member_leave(struct member *me)
{
    telling_close(&me->telling);
    (void)coll_comm_free(&me->comm);
    coll_bench_free(&me->bench);
    me->transport->tag_ranges->unclaim(me->ctx, me->tag);
    me->by->close(me->ctx);
    free(me->memory);
    free(me->events);
}

/* ---- a job ------------------------------------------------------------------------------- */

/* What a rank has for a job. */
struct part {
    coll_task task;
    coll_engine engine;
    coll_slot *slots;
    void **in, **out; /* of each set */
    uint32_t sets;
    uint32_t use; /* of the memory that all ranks share … */
    bool shares;  /* … if the plan needs that */
};

/* Takes memory that all ranks share, for all repetitions, between which they meet. COLL_ERR_CAPABILITY, on all
 * ranks: the transport has not so much, or each node would need some of its own. */
static coll_status share(struct member *me, const struct data *data, struct part *part)
{
    const coll_plan *plan = job_plan(data->job, me->rank);
    const coll_node_memory *memory = me->transport->node_memory;
    const size_t bytes = coll_plan_shared(plan) * data->elem_bytes;
    coll_task *task = &part->task;
    coll_status status;
    part->shares = false;
    if (bytes == 0)
        return COLL_OK;
    if (!memory || coll_nodes_count(&plan->problem.nodes) > 1 ||
        memory->shared(me->ctx, false, &part->use, &task->shared) < bytes)
        return COLL_ERR_CAPABILITY;
    task->shared_bytes = memory->shared(me->ctx, true, &part->use, &task->shared);
    part->shares = true;
    for (uint32_t idle = 0;
         (status = memory->enter(me->ctx, task->tag, part->use)) == COLL_AGAIN; idle++)
        if (me->transport->wait)
            me->transport->wait(me->ctx, idle);
    return status;
}

static void make_part(struct member *me, const struct data *data, uint32_t window,
                      uint32_t sets, struct part *part)
{
    const coll_plan *plan = job_plan(data->job, me->rank);
    const coll_extents extents = coll_plan_extents(plan, me->rank);
    const size_t scratch = coll_plan_scratch(plan, me->rank);
    part->sets = sets;
    part->in = memory_of(sets, sizeof *part->in);
    part->out = memory_of(sets, sizeof *part->out);
    for (uint32_t set = 0; set < sets; set++) {
        part->in[set] = extents.in ? memory_of(extents.in, data->elem_bytes) : NULL;
        part->out[set] = memory_of(extents.out, data->elem_bytes);
    }
    part->slots = memory_of(window, sizeof *part->slots);
    coll_task_init(&part->task, plan, me->rank, me->transport, me->ctx);
    if (me->events) {
        part->task.transport = coll_traced_transport(&me->traced);
        part->task.ctx = &me->traced;
    }
    part->task.op = coll_is(COLL_REDUCING, data->job->collective) ? &data->op : NULL;
    part->task.scratch = memory_of(scratch, data->elem_bytes);
    part->task.scratch_bytes = scratch * data->elem_bytes;
    part->task.tag = me->tag + 1 + me->jobs++ % (me->tags - 1);
    (void)coll_engine_init(&part->engine, part->slots, window);
}

static void free_part(struct member *me, struct part *part)
{
    if (part->shares)
        me->transport->node_memory->leave(me->ctx, part->use);
    for (uint32_t set = 0; set < part->sets; set++) {
        free(part->in[set]);
        free(part->out[set]);
    }
    free(part->in);
    free(part->out);
    free(part->task.scratch);
    free(part->slots);
}

/* Takes the largest of all ranks' numbers. */
static coll_status largest(struct member *me, double *numbers, uint64_t n)
{
    double most[TIMES];
    coll_status status = COLL_OK;
    for (uint64_t at = 0; at < n && status == COLL_OK; at += TIMES) {
        const size_t count = n - at < TIMES ? (size_t)(n - at) : TIMES;
        status = coll_allreduce(&me->comm, numbers + at, most, count, COLL_F64, COLL_MAX);
        if (status == COLL_OK)
            memcpy(numbers + at, most, count * sizeof *numbers);
    }
    return status;
}

/* The clock of a bench (coll_bench_clock). */
double member_now_ns(void *unused)
{
    (void)unused;
    return seconds_now() * 1e9;
}

/* Before the first job: compares the clocks, and finds how long before a start all ranks are to be told of it,
 * twice as long as that mostly takes the slowest of them. */
static coll_status meet_first(struct member *me)
{
    enum { TRIED = 9 };
    coll_sample late;
    coll_bench *bench = &me->bench;
    coll_bench_options options;
    coll_status status;
    if (me->margin > 0)
        return bench->status;
    coll_bench_options_init(&options);
    options.clock.now = member_now_ns;
    options.largest = 0;
    status = coll_bench_init(bench, me->transport, me->ctx, me->rank, me->p, me->tag, &options);
    if (status != COLL_OK)
        return status;
    coll_bench_clocks(bench, NULL, 1e6);
    coll_sample_clear(&late);
    for (int i = 0; i < TRIED; i++) {
        const double at = coll_bench_meet(bench, 0);
        coll_sample_add(&late, coll_bench_now(bench) - at);
    }
    me->margin = 2 * coll_sample_estimate(&late).median + 1;
    coll_bench_largest(bench, &me->margin, 1);
    return bench->status;
}

/* ---- what is noted ----------------------------------------------------------------------- */

static uint64_t now_ns(void *unused)
{
    return (uint64_t)member_now_ns(unused);
}

void member_trace(struct member *me, uint32_t room)
{
    const coll_clock clock = {now_ns, NULL};
    coll_status status;
    me->events = memory_of(room, sizeof *me->events);
    me->room = room;
    status =
        coll_traced_init(&me->traced, me->transport, me->ctx, &clock, me->events, me->room);
    if (status != COLL_OK)
        refuse("this transport cannot be traced: %s", coll_status_text(status));
}

/* The call that comes next is the only one that is there, so far. */
static uint64_t note_begin(struct member *me, const coll_task *task)
{
    const coll_problem *problem = &task->plan->problem;
    coll_traced_clear(&me->traced);
    return coll_traced_begin(&me->traced, problem->collective, task->tag,
                             (uint64_t)problem->count * problem->elem_bytes);
}

/* How far this rank's clock is ahead of rank 0's, in ns. */
static int64_t clock_ahead(const struct member *me)
{
    const coll_bench *bench = &me->bench;
    return (int64_t)(bench->ahead + bench->drift * (coll_bench_now(bench) - bench->since));
}

coll_status member_traced(struct member *me, coll_real_rank *ranks)
{
    enum { CHUNK = 1 << 10 };
    coll_status status = COLL_OK;
    for (uint32_t rank = 0; rank < me->p && status == COLL_OK; rank++) {
        coll_traced_event *events;
        coll_real_rank *its = &ranks[rank];
        *its = coll_real_rank_of(&me->traced);
        its->ahead = clock_ahead(me);
        status = coll_bcast(&me->comm, its, 1, COLL_OPAQUE(sizeof *its), rank);
        if (status != COLL_OK)
            return status;
        its->events = events = memory_of(its->n, sizeof *events);
        for (uint32_t i = 0; i < its->n && rank == me->rank; i++)
            events[i] = *coll_traced_at(&me->traced, i);
        for (uint32_t at = 0; at < its->n && status == COLL_OK; at += CHUNK)
            status =
                coll_bcast(&me->comm, events + at, its->n - at < CHUNK ? its->n - at : CHUNK,
                           COLL_OPAQUE(sizeof *events), rank);
        its->first = 0;
        its->room = its->n ? its->n : 1;
    }
    return status;
}

bool member_repeat(struct member *me, const struct data *data, uint32_t window, uint32_t sets,
                   uint64_t n, double *times, struct failure *failure)
{
    const bool in_place = coll_in_place(job_plan(data->job, me->rank));
    struct part part;
    double wrong = 0; /* 1 + the rank whose result is */
    coll_status status;
    memset(failure, 0, sizeof *failure);
    failure->rank = me->rank;
    failure->repetition = 1;
    make_part(me, data, window, sets, &part);
    status = share(me, data, &part);
    if (status == COLL_ERR_CAPABILITY) {
        free_part(me, &part);
        failure->status = status;
        return false;
    }
    if (status == COLL_OK)
        status = meet_first(me);
    for (uint64_t i = 0; i < n && status == COLL_OK; i++) {
        const bool checked = i == 0 || i + 1 == n;
        uint64_t call = 0;
        void **const in = &part.in[i % sets], **const out = &part.out[i % sets];
        double start;
        if (checked || in_place || i < sets)
            data_fill(data, me->rank, *in, *out);
        part.task.in = *in;
        part.task.out = *out;
        if (wrong == 0)
            failure->repetition = i + 1;
        telling_begin(&me->telling, &job_plan(data->job, me->rank)->problem, data->type,
                      data->which);
        start = coll_bench_meet(&me->bench, me->margin);
        status = me->bench.status;
        if (status != COLL_OK)
            break;
        if (me->events)
            call = note_begin(me, &part.task);
        status = coll_engine_start(&part.engine, &part.task);
        if (status == COLL_OK)
            status = coll_engine_wait(&part.engine);
        if (status == COLL_OK)
            data_divide(data, me->rank, *out);
        if (me->events)
            coll_traced_end(&me->traced, call, status);
        times[i] = (coll_bench_now(&me->bench) - start) / 1e9;
        telling_end(&me->telling);
        if (status == COLL_OK && checked && wrong == 0 &&
            !data_check(data, me->rank, 1, in, out, failure->why, sizeof failure->why))
            wrong = 1 + me->rank;
    }
    free_part(me, &part);
    failure->status = status;
    if (status == COLL_OK)
        failure->status = largest(me, times, n);
    if (failure->status == COLL_OK)
        failure->status = largest(me, &wrong, 1);
    if (failure->status == COLL_OK && wrong != 0 && !failure->why[0])
        snprintf(failure->why, sizeof failure->why, "that of rank %u is, at least",
                 (unsigned)wrong - 1);
    return failure->status == COLL_OK && wrong == 0;
}
