/* coll/comm/progress.h — calls under way: how one is prepared, started and moved on
 *
 * A root communicator has a list of those that were started, in their order. Who makes progress moves all of
 * them on: one in turn is queued behind an older one with its tag, then runs, and is done when its engine is.
 *
 * Use request.h.
 */
#ifndef COLL_COMM_PROGRESS_H
#define COLL_COMM_PROGRESS_H

#include "../executor.h"
#include "args.h"

struct coll_request;

/* Tells that a call is over, and how. Its memory is free then, or ready for the next coll_start. May make
 * and start calls, also of the same request. */
typedef void (*coll_on_done)(struct coll_request *request, coll_status status, void *arg);

/* Where a request is on its way. */
typedef enum coll_request_state {
    COLL_REQUEST_READY,  /* persistent, and not started */
    COLL_REQUEST_QUEUED, /* started, behind an older call with its tag */
    COLL_REQUEST_RUNNING,
    COLL_REQUEST_DONE, /* ended, which nobody was told yet */
    COLL_REQUEST_OVER  /* of no use any more */
} coll_request_state;

/* A call. Caller's memory, which stays in place until coll_wait, or coll_test, has said that it
 * is done (persistent: until coll_request_free), as do the buffers and tables that it was given.
 * Uninitialised memory before that. */
typedef struct coll_request {
    coll_comm *comm; /* whose it is */
    coll_request_state state;
    coll_status status;            /* of a call that is done */
    bool persistent, shares;       /* … and uses SHARED */
    bool kept;                     /* the transport keeps its memory (coll_registration) … */
    size_t in_bytes, out_bytes;    /* … so much of its buffers */
    uint32_t use;                  /* of SHARED, if its plan needs that */
    uint32_t own_tag;              /* engine.task.tag without its use */
    coll_on_done on_done;          /* tells that it is over; NULL: it is asked about … */
    void *on_done_arg;             /* … with this */
    struct coll_request *next;     /* in the root communicator's list of calls */
    coll_span tag;                 /* persistent: its tag among those of the communicator */
    coll_piece tables;             /* in the arena: what its plan points to … */
    coll_piece scratch;            /* … and its scratch */
    const coll_i_scaling *scaling; /* of its operator, or NULL … */
    const void *unscaled;          /* … and the caller's IN, which is copied then */
    coll_prepared *prepared; /* what it runs by: its own, or one of the cache; NULL: none */
    coll_prepared own;       /* if none of the cache fits, or it is persistent */
    coll_engine engine;
    coll_slot slots[COLL_WINDOW];
} coll_request;

/* The plan by which a call runs; of one that is persistent, until it is freed. */
COLL_INLINE const coll_plan *coll_request_plan(const coll_request *request)
{
    return request->engine.task.plan;
}

/* ---- making a call ----------------------------------------------------------------------- */

COLL_INLINE void coll_i_request_release(coll_request *request)
{
    coll_arena_give(&request->scratch);
    coll_arena_give(&request->tables);
    if (request->prepared)
        request->prepared->users--;
    request->prepared = NULL;
}

/* How many operands the results of a call of this rank are the sum of. */
COLL_INLINE uint32_t coll_i_request_operands(const coll_request *request)
{
    const coll_task *task = &request->engine.task;
    const coll_collective it = task->plan->problem.collective;
    return it == COLL_SCAN ? task->rank + 1 : it == COLL_EXSCAN ? task->rank : request->comm->p;
}

/* Multiplies a rank's operand, before its call runs. */
COLL_INLINE void coll_i_request_multiply(coll_request *request)
{
    const coll_task *task = &request->engine.task;
    const coll_extents need = coll_plan_extents(task->plan, task->rank);
    void *copy = (void *)(uintptr_t)task->in; /* in scratch */
    if (!request->scaling->multiply)
        return;
    if (coll_in_place(task->plan))
        request->scaling->multiply(request->scaling, task->out, task->out, need.out);
    else
        request->scaling->multiply(request->scaling, copy, request->unscaled, need.in);
}

/* Divides the results of a call that is done. */
COLL_INLINE void coll_i_request_divide(const coll_request *request)
{
    const coll_task *task = &request->engine.task;
    const coll_problem *problem = &task->plan->problem;
    const uint32_t n = coll_i_request_operands(request);
    size_t count = problem->count;
    if (problem->collective == COLL_REDUCE_SCATTER)
        count = coll_in_block(task->plan, task->rank).count;
    if (problem->collective == COLL_REDUCE && task->rank != problem->root)
        count = 0;
    if (request->scaling->divide && n > 1 && count > 0)
        request->scaling->divide(task->out, count, n);
}

/* A running or queued call has ended. */
COLL_INLINE void coll_i_request_close(coll_request *request, coll_status status)
{
    if (!COLL_LIKELY(!request->scaling) && status == COLL_OK)
        coll_i_request_divide(request);
    request->status = status;
    request->state = COLL_REQUEST_DONE;
    if (request->on_done)
        request->comm->root_comm->tells = true;
    if (request->shares)
        request->engine.task.transport->node_memory->leave(request->engine.task.ctx,
                                                           request->use);
    if (!request->persistent)
        coll_i_request_release(request);
}

/* Ends all calls of a communicator that fails. `tells`: the other ranks do not know. */
COLL_INLINE void coll_i_comm_fail(coll_comm *comm, coll_status status, bool tells)
{
    if (comm->status < 0)
        return;
    coll_i_comm_spoil(comm, status, tells);
    for (coll_request *request = comm->root_comm->requests; request; request = request->next) {
        if (request->comm != comm)
            continue;
        if (request->state == COLL_REQUEST_RUNNING)
            coll_i_engine_fail(&request->engine, COLL_ERR_PEER); /* which tells nobody again */
        if (request->state == COLL_REQUEST_RUNNING || request->state == COLL_REQUEST_QUEUED)
            coll_i_request_close(request, status);
    }
}

/* A running or queued call has failed, and with it its communicator. */
COLL_INLINE void coll_i_request_fail(coll_request *request, coll_status status)
{
    coll_comm *comm = request->comm;
    const coll_tag_ranges *ranges = comm->transport->tag_ranges;
    if (status == COLL_ERR_SIZE && comm->status == COLL_OK && ranges && ranges->misfit)
        ranges->misfit(comm->ctx, &comm->misfit);
    coll_i_request_close(request, comm->status < 0 ? comm->status : status);
    coll_i_comm_fail(comm, status, coll_i_abort_is_news(comm->transport, status));
}

/* Prepares a call that is not in the cache. On an error, call->tables may be taken. */
COLL_INLINE coll_status coll_i_request_prepare(coll_request *request, const coll_args *args,
                                               size_t shared_bytes)
{
    const coll_comm *comm = request->comm;
    coll_prepared *call = &request->own;
    coll_problem problem;
    coll_extents need;
    void *workspace = NULL;
    coll_status status = coll_i_args_problem(comm, args, &problem);
    if (status == COLL_OK)
        status = coll_i_args_count(args, &problem, comm->rank);
    if (status == COLL_OK)
        status = coll_i_args_op(comm, args, &problem, &call->op);
    if (status == COLL_OK)
        status = coll_i_comm_tables(comm, &problem, coll_i_comm_workspace(comm, &problem),
                                    &request->tables, &workspace);
    if (status == COLL_OK)
        status = coll_i_comm_plan(comm, &problem,
                                  coll_i_comm_capabilities(comm, args, &problem, shared_bytes),
                                  shared_bytes, workspace, &call->plan);
    if (status == COLL_OK)
        status = coll_plan_check_rank(&call->plan, comm->rank);
    if (status != COLL_OK)
        return status;
    need = coll_plan_extents(&call->plan, comm->rank);
    call->in = need.in != 0;
    call->out = need.out != 0;
    call->written = false;
    return coll_multiply(coll_plan_scratch(&call->plan, comm->rank), problem.elem_bytes,
                         &call->scratch)
               ? COLL_OK
               : COLL_ERR_OVERFLOW;
}

/* Everything but the start. On an error, call->tables and call->scratch may be taken. */
COLL_INLINE coll_status coll_i_request_build(coll_request *request, const coll_args *args)
{
    const size_t shared = request->persistent ? 0 : coll_i_comm_shared(request->comm);
    coll_comm *comm = request->comm;
    coll_task *task = &request->engine.task;
    coll_cache_entry *entry = request->persistent ? NULL : coll_i_args_find(comm, args, shared);
    coll_prepared *call = entry ? &entry->call : &request->own;
    coll_status status = COLL_OK;
    size_t copied = 0; /* bytes behind scratch, of IN */
    if (!entry) {
        call->users = 0;
        status = coll_i_request_prepare(request, args, shared);
    } else if (args->op >= COLL_USER_OP) { /* it may have been removed */
        status = coll_i_comm_user_op(comm, args->op, args->type, &request->own.op);
    }
    request->prepared = call;
    call->users++;
    if (!COLL_LIKELY(args->op < COLL_USER_OP) && coll_is(COLL_REDUCING, args->collective))
        request->scaling = coll_i_comm_scaling(comm, args->op, args->type);
    if (!COLL_LIKELY(!request->scaling) && status == COLL_OK && request->scaling->multiply)
        copied = coll_plan_extents(&call->plan, comm->rank).in * call->plan.problem.elem_bytes;
    if (status == COLL_OK && call->scratch + copied != 0)
        status =
            coll_arena_take(&comm->root_comm->arena,
                            (copied ? coll_arena_bytes(call->scratch) : call->scratch) + copied,
                            &request->scratch);
    if (status != COLL_OK)
        return status;
    task->plan = &call->plan;
    task->transport = comm->transport;
    task->ctx = comm->ctx;
    task->op = coll_is(COLL_REDUCING, args->collective) ? &call->op : NULL;
    task->in = args->in == COLL_IN_PLACE ? NULL : args->in;
    task->out = args->out == COLL_IN_PLACE ? NULL : args->out;
    task->scratch = coll_arena_at(&request->scratch);
    request->unscaled = task->in;
    if (!COLL_LIKELY(copied == 0) && task->in)
        task->in = (unsigned char *)task->scratch + coll_arena_bytes(call->scratch);
    task->scratch_bytes = call->scratch;
    task->shared = NULL;
    task->shared_bytes = 0;
    request->shares = (call->plan.traits & COLL_NEEDS_SHARED) != 0;
    if (request->shares) {
        task->shared_bytes = shared;
        (void)coll_i_comm_part(comm, false, &request->use, &task->shared);
    }
    task->rank = comm->rank;
    task->tag = comm->first_tag;
    task->schedule = entry ? coll_i_cache_schedule(entry, comm->rank) : NULL;
    (void)coll_engine_init(&request->engine, request->slots, COLL_WINDOW);
    if (entry) /* it can be started, if its buffers are there */
        return (call->in && !task->in) || (call->out && !task->out) ? COLL_ERR_NULL : COLL_OK;
    status = coll_engine_check(task, COLL_WINDOW);
    if (status == COLL_OK && !request->persistent)
        coll_i_args_keep(comm, args, shared, call);
    return status;
}

/* Is this call in its root communicator's list? */
COLL_INLINE bool coll_i_request_listed(const coll_comm *root_comm, const coll_request *request)
{
    for (const coll_request *other = root_comm->requests; other; other = other->next)
        if (other == request)
            return true;
    return false;
}

/* Has the plan be made by the candidate that is the call's turn, where some are tried: `rules` are then
 * to be put back. */
COLL_INLINE void coll_i_comm_choose_settled(coll_comm *comm, const coll_args *args)
{
    coll_args own; /* so that the caller's stay in registers */
    COLL_COPY(&own, args, sizeof own);
    comm->settler->choose(comm, &own);
}

/* An error that the others may not find ends the communicator. */
COLL_INLINE coll_status coll_i_request_make(coll_comm *comm, const coll_args *args,
                                            coll_request *request, bool persistent)
{
    const coll_rule_list *rules;
    coll_status status = COLL_ERR_NULL;
    if (!comm)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    if (comm->status < 0)
        return comm->status;
    rules = comm->rules;
    if (args && request)
        status = coll_i_request_listed(comm->root_comm, request) ? COLL_ERR_STATE : COLL_OK;
    if (status == COLL_OK) {
        request->comm = comm;
        request->state = COLL_REQUEST_OVER;
        request->status = COLL_OK;
        request->persistent = persistent;
        request->kept = false;
        request->prepared = NULL;
        request->scaling = NULL;
        request->on_done = NULL;
        request->own_tag = comm->first_tag;
        request->tag.count = request->tables.span.count = request->scratch.span.count = 0;
        if (!COLL_LIKELY(!comm->settler))
            coll_i_comm_choose_settled(comm, args);
        status = coll_i_request_build(request, args);
        if (!COLL_LIKELY(!comm->settler)) {
            comm->rules = rules;
            comm->settled = 0;
        }
        if (status == COLL_OK)
            return COLL_OK;
        coll_i_request_release(request);
    }
    if (!args || !coll_i_args_fail_alike(comm, args, status))
        coll_i_comm_fail(comm, status, true);
    return status;
}

/* ---- running ----------------------------------------------------------------------------- */

/* Takes a call that is done off its root communicator's list, and says how it ended. */
COLL_INLINE coll_status coll_i_request_report(coll_request *request)
{
    const coll_i_comm_watch *watch = request->comm->watch;
    for (coll_request **link = &request->comm->root_comm->requests; *link;
         link = &(*link)->next)
        if (*link == request) {
            *link = request->next;
            break;
        }
    request->state = request->persistent ? COLL_REQUEST_READY : COLL_REQUEST_OVER;
    if (request->persistent) /* its tag is used again */
        request->engine.task.tag += coll_i_use_step(request->comm->transport);
    if (!COLL_LIKELY(!watch))
        watch->over(watch);
    return request->status;
}

/* Is an older call with this call's tag still running, in whatever use? Then its messages come first. */
COLL_INLINE bool coll_i_request_blocked(const coll_request *request)
{
    for (const coll_request *older = request->comm->root_comm->requests; older != request;
         older = older->next)
        if (older->own_tag == request->own_tag && older->state != COLL_REQUEST_DONE)
            return true;
    return false;
}

/* Moves a call on. COLL_OK: something happened. */
COLL_INLINE coll_status coll_i_request_progress(coll_request *request)
{
    const bool starts = request->state == COLL_REQUEST_QUEUED;
    coll_status status = COLL_OK;
    if (starts) {
        if (coll_i_request_blocked(request))
            return COLL_AGAIN;
        if (request->shares)
            status = request->engine.task.transport->node_memory->enter(
                request->engine.task.ctx, request->engine.task.tag, request->use);
        if (status == COLL_AGAIN)
            return COLL_AGAIN;
        request->state = COLL_REQUEST_RUNNING;
        if (!COLL_LIKELY(!request->scaling) && status == COLL_OK)
            coll_i_request_multiply(request);
        if (status == COLL_OK) /* it was checked when it was built */
            coll_i_engine_arm(&request->engine);
    } else if (request->state != COLL_REQUEST_RUNNING) {
        return COLL_AGAIN;
    }
    if (status == COLL_OK)
        status = coll_engine_progress(&request->engine);
    if (status == COLL_AGAIN && !starts && request->engine.window.idle != 0)
        return COLL_AGAIN;
    if (COLL_LIKELY(status == COLL_OK))
        coll_i_request_close(request, COLL_OK);
    else if (status < 0)
        coll_i_request_fail(request, status);
    return COLL_OK;
}

/* Tells of all calls that are over and have a function for that. Each is off the list before, so that
 * the functions may do with it, and with others, what they like. */
COLL_INLINE void coll_i_comm_tell(coll_comm *root_comm)
{
    coll_request *request;
    root_comm->tells = false;
    do {
        request = root_comm->requests;
        while (request && (request->state != COLL_REQUEST_DONE || !request->on_done))
            request = request->next;
        if (request) {
            const coll_on_done on_done = request->on_done;
            on_done(request, coll_i_request_report(request), request->on_done_arg);
        }
    } while (request);
}

/* Moves all calls of this communicator and of those that share its root communicator on, without
 * blocking, and tells of those that are over (coll_request_on_done). For programs that compute while calls run and
 * do not care which one they help. */
COLL_INLINE void coll_progress(coll_comm *comm)
{
    coll_comm *root_comm = comm->root_comm;
    coll_status moved = COLL_AGAIN;
    for (coll_request *request = root_comm->requests; request; request = request->next)
        if (coll_i_request_progress(request) == COLL_OK)
            moved = COLL_OK;
    root_comm->idle = moved == COLL_OK ? 0 : root_comm->idle + 1;
    if (!COLL_LIKELY(!root_comm->serve))
        root_comm->serve(root_comm);
    if (root_comm->tells) {
        coll_i_comm_tell(root_comm);
        root_comm->idle = 0;
    }
}

/* Puts a call that is ready at the end of the root communicator's list, and starts it as far as
 * it goes. An error that it meets at once is returned, and the call is off the list again. */
COLL_INLINE coll_status coll_i_request_start(coll_request *request)
{
    coll_comm *root_comm = request->comm->root_comm;
    coll_request **link = &root_comm->requests;
    if (root_comm->requests && root_comm->transport->tags == 0)
        return COLL_ERR_BUSY;
    while (*link)
        link = &(*link)->next;
    request->next = NULL;
    *link = request;
    request->state = COLL_REQUEST_QUEUED;
    (void)coll_i_request_progress(request);
    return request->state == COLL_REQUEST_DONE && request->status < 0
               ? coll_i_request_report(request)
               : COLL_OK;
}

#endif /* COLL_COMM_PROGRESS_H */
