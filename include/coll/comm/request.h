/* coll/comm/request.h — calls: one collective of one rank, from its arguments to its end
 *
 *   coll_args args;
 *   coll_args_init(&args, COLL_ALLREDUCE);
 *   args.in = x; args.out = y; args.count = n; args.type = COLL_F64; args.op = COLL_SUM;
 *   status = coll_run(&comm, &args);                // blocking
 *
 *   coll_request call;                                // nonblocking: memory at a fixed place
 *   status = coll_post(&comm, &args, &request);
 *   … status = coll_wait(&request);                   // or coll_test now and then
 *
 *   status = coll_request_init(&comm, &args, &request);    // persistent
 *   … coll_start(&request); … coll_wait(&request); …     // any number of times
 *   status = coll_request_free(&request);
 *
 * For runtimes, which have more to wait for than collectives: a call may be told of instead of asked about,
 * and who has nothing to do sleeps on a descriptor (transports with coll_events).
 *
 *   static void done(coll_request *request, coll_status status, void *arg) …
 *   status = coll_post(&comm, &args, &request);
 *   coll_request_on_done(&request, done, arg);        // called once, by coll_progress
 *   for (;;) {
 *       do                                            // all that moves, and what it leads to
 *           coll_progress(&comm);
 *       while (coll_comm_arm(&comm) == COLL_AGAIN);
 *       … poll: coll_comm_descriptor(&comm), and sockets and timers of the program's …
 *   }
 *
 * Several threads may use a communicator, and all that has the same ctx, if one lock of theirs is around each
 * call and what belongs together, the polling left out. Who gives the lock back while another thread sleeps
 * arms first, as above; he may have ended calls of others, whom their functions tell. Only one thread
 * sleeps on the descriptor at a time. Calls that block (coll_wait, coll_allreduce …) keep the lock.
 *
 * comm.h has the same with one function for each collective, and says what an error means for the
 * communicator; this is for programs that have the collective as a value. All arguments are checked
 * before anything is started, and a call that fails, or cannot be started, leaves nothing behind in
 * the arena. Errors of which the other ranks do not know leave these waiting, unless the transport
 * can abort.
 *
 *   args.h       the arguments, the plan that they ask for, and what it takes of the arena
 *   progress.h   how a call is prepared, started and moved on
 *   prepared.h   what is kept of a call for those like it
 *   dump.h       what a call waits for, in words
 */
#ifndef COLL_COMM_REQUEST_H
#define COLL_COMM_REQUEST_H

#include "progress.h"

/* ---- calls ------------------------------------------------------------------------------- */

/* Starts a collective. COLL_OK: coll_wait or coll_test must say that it is done; anything else:
 * it was not started, or failed at once, and the call is not in use. Never blocks. */
COLL_INLINE coll_status coll_post(coll_comm *comm, const coll_args *args, coll_request *request)
{
    coll_status status = coll_i_request_make(comm, args, request, false);
    if (status != COLL_OK)
        return status;
    request->own_tag = comm->first_tag + comm->turn;
    request->engine.task.tag = request->own_tag + comm->use;
    if (request->shares)
        (void)coll_i_comm_part(comm, true, &request->use, &request->engine.task.shared);
    status = coll_i_request_start(request);
    if (status == COLL_ERR_BUSY)
        coll_i_request_release(request);
    else if (++comm->turn >= comm->turns) {
        comm->turn = 0;
        comm->use += coll_i_use_step(comm->transport);
    }
    return status;
}

/* Has the transport keep, or forget, the memory that a persistent call uses each time: the caller's buffers,
 * from their beginning to the last element that the plan touches, and the call's scratch. */
COLL_INLINE void coll_i_request_keep(coll_request *request, bool keeps)
{
    const coll_task *task = &request->engine.task;
    const coll_registration *registration = task->transport->registration;
    if (!registration || request->kept == keeps)
        return;
    if (keeps) {
        const coll_extents need = coll_plan_extents(task->plan, task->rank);
        request->in_bytes = need.in * task->plan->problem.elem_bytes;
        request->out_bytes = need.out * task->plan->problem.elem_bytes;
    }
    for (unsigned i = 0; i < 3; i++) {
        const void *memory = i == 0 ? task->in : i == 1 ? task->out : task->scratch;
        const size_t bytes = i == 0   ? request->in_bytes
                             : i == 1 ? request->out_bytes
                                      : task->scratch_bytes;
        if (memory && bytes != 0)
            (keeps ? registration->keep : registration->forget)(task->ctx, memory, bytes,
                                                                i != 0);
    }
    request->kept = keeps;
    request->comm->root_comm->kept += keeps ? 1u : UINT32_MAX;
}

/* Prepares a collective that can be started many times by coll_start; its scratch is taken
 * until coll_request_free, and over a transport with coll_registration its buffers are registered.
 * All ranks prepare and free in the same order, but may start in any order if the transport has tags.
 * Does not communicate. COLL_ERR_TAG: the communicator has no tag left. */
COLL_INLINE coll_status coll_request_init(coll_comm *comm, const coll_args *args,
                                          coll_request *request)
{
    coll_status status = coll_i_request_make(comm, args, request, true);
    if (status != COLL_OK)
        return status;
    if (comm->transport->tags != 0) {
        status = coll_i_comm_take_tags(&comm->tags, &comm->subs, 1, &request->tag);
        if (status != COLL_OK) {
            coll_i_request_release(request);
            return status;
        }
        request->own_tag = comm->first_tag + comm->turns + (uint32_t)request->tag.at;
    }
    request->engine.task.tag = request->own_tag + coll_i_comm_first_use(comm);
    coll_i_request_keep(request, true);
    request->state = COLL_REQUEST_READY;
    return COLL_OK;
}

/* Starts a persistent call. COLL_ERR_STATE: it is not one, or was started and not yet waited
 * for; in that case its communicator has failed. Never blocks. */
COLL_INLINE coll_status coll_start(coll_request *request)
{
    if (!request)
        return COLL_ERR_NULL;
    if (request->state == COLL_REQUEST_READY)
        return request->comm->status < 0 ? request->comm->status
                                         : coll_i_request_start(request);
    if (request->state == COLL_REQUEST_QUEUED || request->state == COLL_REQUEST_RUNNING ||
        request->state == COLL_REQUEST_DONE) /* else it may be no call at all */
        coll_i_comm_fail(request->comm, COLL_ERR_STATE, true);
    return COLL_ERR_STATE;
}

/* Has a function called when a call is over, once for each start, by the next coll_progress of its root
 * communicator; also by one within coll_test, coll_wait or a call that blocks. Until then it is not told,
 * though the call may be over already, have been cancelled, or its communicator have failed; an error that
 * coll_start returns is not told again. NULL: it is asked about again. COLL_ERR_STATE: the request is not in use. */
COLL_INLINE coll_status coll_request_on_done(coll_request *request, coll_on_done on_done,
                                             void *arg)
{
    if (!request)
        return COLL_ERR_NULL;
    if (request->state == COLL_REQUEST_OVER)
        return COLL_ERR_STATE;
    request->on_done = on_done;
    request->on_done_arg = arg;
    if (on_done && request->state == COLL_REQUEST_DONE)
        request->comm->root_comm->tells = true;
    return COLL_OK;
}

/* A descriptor to sleep on (poll: POLLIN) until the ranks of a communicator's transport have something for
 * this one: after coll_comm_arm. It stays the same, and is the transport's. −1: there is none. */
COLL_INLINE int coll_comm_descriptor(const coll_comm *comm)
{
    const coll_events *events = comm ? comm->transport->events : NULL;
    return events ? events->descriptor(comm->ctx) : -1;
}

/* Before sleep, with all root communicators of the same ctx one after the other. COLL_OK: there is nothing to
 * do, until the descriptor is readable or something is started. COLL_AGAIN: something has happened; progress was
 * made, and it is to be called again. COLL_ERR_CAPABILITY: the transport has no events. Any other error is the transport's.
 * Never blocks. */
COLL_INLINE coll_status coll_comm_arm(coll_comm *comm)
{
    const coll_transport *transport = comm ? comm->transport : NULL;
    uint32_t rounds =
        0; /* in which nothing happens before an engine gives up waiting for better */
    if (!comm)
        return COLL_ERR_NULL;
    if (transport->zero_copy || transport->arrival)
        rounds = COLL_I_WINDOW_PATIENCE;
    if (!transport->events)
        return COLL_ERR_CAPABILITY;
    coll_progress(comm);
    return comm->root_comm->idle <= rounds ? COLL_AGAIN : transport->events->arm(comm->ctx);
}

/* Makes progress, and says how the call stands: COLL_AGAIN while it runs, COLL_OK when it is
 * done, or its error. Once it said that the call is over, the call's memory is free, or ready
 * for the next coll_start; it then returns COLL_OK. One with a function (coll_request_on_done) whose
 * memory that function gives away, or starts again, is not to be asked about. */
COLL_INLINE coll_status coll_test(coll_request *request)
{
    if (!request)
        return COLL_ERR_NULL;
    if (request->state == COLL_REQUEST_READY || request->state == COLL_REQUEST_OVER)
        return COLL_OK;
    if (request->state != COLL_REQUEST_DONE || request->on_done)
        coll_progress(request->comm);
    if (request->state == COLL_REQUEST_READY || request->state == COLL_REQUEST_OVER)
        return request->status; /* which its function was told, too */
    return request->state == COLL_REQUEST_DONE ? coll_i_request_report(request) : COLL_AGAIN;
}

/* Blocks until the call is done, and says how it ended, or until the clock comes to the deadline:
 * COLL_AGAIN, and it still runs. coll_dump (comm/dump.h) says what it waits for; it may be waited for
 * again, or cancelled. All other calls of the root communicator make progress meanwhile: without that,
 * ranks that wait for two calls in different orders would wait for each other. */
COLL_INLINE coll_status coll_wait_until(coll_request *request, const coll_clock *clock,
                                        uint64_t deadline)
{
    coll_status status;
    while ((status = coll_test(request)) == COLL_AGAIN &&
           !coll_i_clock_is_over(clock, deadline)) {
        const coll_comm *root_comm = request->comm->root_comm;
        const coll_i_comm_watch *watch = request->comm->watch;
        if (!COLL_LIKELY(!watch))
            watch->waits(watch, request);
        if (root_comm->transport->wait)
            root_comm->transport->wait(root_comm->ctx, root_comm->idle);
    }
    return status;
}

/* Blocks until the call is done, and says how it ended. */
COLL_INLINE coll_status coll_wait(coll_request *request)
{
    return coll_wait_until(request, NULL, 0);
}

/* Runs a collective from start to end. */
COLL_INLINE coll_status coll_run(coll_comm *comm, const coll_args *args)
{
    coll_request request;
    coll_status status;
    if (!COLL_LIKELY(!comm || !comm->settler || !args)) {
        coll_args own; /* so that the caller's stay in registers */
        COLL_COPY(&own, args, sizeof own);
        return comm->settler->run(comm, &own);
    }
    status = coll_post(comm, args, &request);
    return status == COLL_OK ? coll_wait(&request) : status;
}

/* Gives up a call that runs or is queued: it ends with COLL_ERR_CANCELLED, which coll_wait then
 * says, and so does its communicator, as by coll_comm_abort. COLL_ERR_STATE: it is not running. */
COLL_INLINE coll_status coll_cancel(coll_request *request)
{
    if (!request)
        return COLL_ERR_NULL;
    if (request->state == COLL_REQUEST_RUNNING)
        (void)coll_engine_cancel(&request->engine);
    else if (request->state != COLL_REQUEST_QUEUED)
        return COLL_ERR_STATE;
    coll_i_request_fail(request, COLL_ERR_CANCELLED);
    return COLL_OK;
}

/* Gives a persistent call's tag and scratch back; all ranks do so in the same order. Its buffers,
 * which must still be there, are registered no more. Has no effect on other calls that are over.
 * COLL_ERR_BUSY: it was started and not yet waited for. */
COLL_INLINE coll_status coll_request_free(coll_request *request)
{
    if (!request)
        return COLL_ERR_NULL;
    if (request->state == COLL_REQUEST_OVER)
        return COLL_OK;
    if (request->state != COLL_REQUEST_READY)
        return COLL_ERR_BUSY;
    coll_i_request_keep(request, false);
    coll_spans_give(&request->comm->tags, &request->tag);
    coll_i_request_release(request);
    request->state = COLL_REQUEST_OVER;
    return COLL_OK;
}

/* Gives up a communicator, for the reason `status`; one that is no error counts as
 * COLL_ERR_CANCELLED. All its calls on this rank end with it, at once, and so does all that is asked
 * of the communicator from now on. The other ranks learn of it, if the transport can abort: their
 * calls, those that wait and later ones, end with COLL_ERR_PEER within bounded time. Has no effect on
 * one that failed before. For a rank that will make no more calls, for whatever reason. */
COLL_INLINE coll_status coll_comm_abort(coll_comm *comm, coll_status status)
{
    if (!comm)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    coll_i_comm_fail(comm, status < 0 ? status : COLL_ERR_CANCELLED, true);
    return COLL_OK;
}

/* Ends a communicator, in the same order on all ranks. Those made from it, its persistent
 * calls, and a root communicator's operators must be gone. COLL_ERR_BUSY: calls are running, or
 * persistent ones or communicators made from it still exist; over a transport without tags nobody
 * knows of these two, but of a root communicator's persistent calls if the transport keeps their memory. */
COLL_INLINE coll_status coll_comm_free(coll_comm *comm)
{
    if (!comm)
        return COLL_ERR_NULL;
    for (const coll_request *request = comm->root_comm->requests; request;
         request = request->next)
        if (request->comm == comm)
            return COLL_ERR_BUSY;
    if (comm->tags.first || comm->subs.first || (!comm->parent && comm->kept != 0))
        return COLL_ERR_BUSY;
    coll_i_cache_forget(&comm->cache, comm);
    if (comm->parent) {
        coll_spans_give(&comm->parent->subs, &comm->range);
        coll_arena_give(&comm->table);
    } else {
        coll_arena_free(&comm->arena);
    }
    if (comm->claimed)
        comm->transport->tag_ranges->unclaim(comm->ctx, comm->first_tag);
    comm->claimed = false;
    comm->rank = COLL_RANK_NONE;
    return COLL_OK;
}

#endif /* COLL_COMM_REQUEST_H */
