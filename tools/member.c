/* tools/member.c — see member.h */
#if COLL_WITH_UCX || COLL_WITH_OFI
#undef COLL_EXTERN /* their bodies are not among those that are compiled once */
#endif
#include "member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/executor.h"
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
}

void member_leave(struct member *me)
{
    (void)coll_comm_free(&me->comm);
    me->transport->tag_ranges->unclaim(me->ctx, me->tag);
    me->by->close(me->ctx);
    free(me->memory);
}

/* ---- a job ------------------------------------------------------------------------------- */

/* What a rank has for a job. */
struct part {
    coll_task task;
    coll_engine engine;
    coll_slot *slots;
    void *in, *out;
};

static void make_part(struct member *me, const struct data *data, uint32_t window,
                      struct part *part)
{
    const coll_plan *plan = job_plan(data->job, me->rank);
    const coll_extents extents = coll_plan_extents(plan, me->rank);
    const size_t scratch = coll_plan_scratch(plan, me->rank);
    part->in = extents.in ? memory_of(extents.in, data->elem_bytes) : NULL;
    part->out = memory_of(extents.out, data->elem_bytes);
    part->slots = memory_of(window, sizeof *part->slots);
    coll_task_init(&part->task, plan, me->rank, me->transport, me->ctx);
    part->task.op = coll_is(COLL_REDUCING, data->job->collective) ? &data->op : NULL;
    part->task.in = part->in;
    part->task.out = part->out;
    part->task.scratch = memory_of(scratch, data->elem_bytes);
    part->task.scratch_bytes = scratch * data->elem_bytes;
    part->task.tag = me->tag + me->jobs++ % me->tags;
    (void)coll_engine_init(&part->engine, part->slots, window);
}

static void free_part(struct part *part)
{
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

bool member_repeat(struct member *me, const struct data *data, uint32_t window, uint64_t n,
                   double *times, struct failure *failure)
{
    const bool in_place = coll_in_place(job_plan(data->job, me->rank));
    struct part part;
    double wrong = 0; /* 1 + the rank whose result is */
    coll_status status = COLL_OK;
    memset(failure, 0, sizeof *failure);
    failure->rank = me->rank;
    if (coll_plan_shared(job_plan(data->job, me->rank)) !=
        0) { /* ranks have none, as processes */
        failure->status = COLL_ERR_CAPABILITY;
        failure->repetition = 1;
        return false;
    }
    make_part(me, data, window, &part);
    for (uint64_t i = 0; i < n && status == COLL_OK; i++) {
        const bool checked = i == 0 || i + 1 == n;
        double start;
        if (checked || in_place)
            data_fill(data, me->rank, part.in, part.out);
        if (wrong == 0)
            failure->repetition = i + 1;
        status = coll_barrier(&me->comm);
        if (status != COLL_OK)
            break;
        start = seconds_now();
        status = coll_engine_start(&part.engine, &part.task);
        if (status == COLL_OK)
            status = coll_engine_wait(&part.engine);
        times[i] = seconds_now() - start;
        if (status == COLL_OK && checked && wrong == 0 &&
            !data_check(data, me->rank, 1, &part.in, &part.out, failure->why,
                        sizeof failure->why))
            wrong = 1 + me->rank;
    }
    free_part(&part);
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
