/* coll/executor.h — the window engine: runs one rank's part of a plan over a transport
 *
 *   coll_slot slots[8];                      // the window: actions in flight
 *   coll_engine engine;
 *   coll_engine_init(&engine, slots, 8);
 *   coll_task task;                          // what to run, on which memory
 *   coll_task_init(&task, &plan, me, &transport, context);
 *   task.in = x; task.out = y; task.op = &op; …
 *   coll_status status = coll_engine_start(&engine, &task);
 *   if (status == COLL_OK)
 *       status = coll_engine_wait(&engine);
 *
 * The actions of a rank are a sequential program (plan/action.h). The engine finds the parallelism
 * in it: an action enters a slot in program order and starts when no older unfinished action
 * conflicts with it (one writes what the other reads or writes), and sends, as well as
 * receives, of one peer start in order. RECV_REDUCE starts to receive when its staging is free,
 * and combines when its operands are.
 *
 * Memory: the engine and its slots, the caller's; nothing grows with p. Nothing here allocates.
 * start and progress do not block; wait does. One thread at a time may use an engine.
 *
 *   executor/task.h       what is run, and how one action of it is given to the transport
 *   executor/window.h     which actions in flight must wait for which
 *   executor/engine.h     admit, issue, poll, retire; fail
 *   executor/in_order.h   the other engine: one action after the other, with sends in flight
 *   executor/pending.h       what an engine waits for, in words
 */
#ifndef COLL_EXECUTOR_H
#define COLL_EXECUTOR_H

#include "executor/engine.h"

/* Gives the engine its window: 1 … 32 slots, the caller's as long as the engine is used. */
COLL_INLINE coll_status coll_engine_init(coll_engine *e, coll_slot *slots, uint32_t window)
{
    if (!e || !slots)
        return COLL_ERR_NULL;
    if (window == 0 || window > 32)
        return COLL_ERR_WINDOW;
    e->window.slots = slots;
    e->window.size = (uint8_t)window;
    e->status = COLL_OK;
    return COLL_OK;
}

/* Can this task be started with a window of so many slots? */
COLL_INLINE coll_status coll_engine_check(const coll_task *task, uint32_t window)
{
    const coll_status status = coll_task_check(task);
    if (status != COLL_OK)
        return status;
    return window < task->plan->window || (task->schedule && window < task->schedule->window)
               ? COLL_ERR_WINDOW
               : COLL_OK;
}

/* Has all been started that this rank starts? Then it only waits: none of the messages in flight
 * lets it do anything for others. */
COLL_INLINE bool coll_engine_only_waits(const coll_engine *e)
{
    return e->window.step == e->window.steps && e->window.pending == 0;
}

/* Moves the collective on without blocking. COLL_OK: it is done and the buffers are the caller's;
 * COLL_AGAIN: not yet; < 0: it failed, OUT and SCRATCH are undefined, all else is untouched. */
COLL_INLINE coll_status coll_engine_progress(coll_engine *e)
{
    coll_window *w = &e->window;
    const uint32_t all = coll_i_window_all(w);
    coll_status moved;
    if (e->status != COLL_AGAIN)
        return e->status;
    if (w->idle < UINT16_MAX)
        w->idle++;
    if (w->idle == COLL_I_WINDOW_PATIENCE)
        w->ready |= w->pending & ~w->flying;
    do {
        uint32_t left;
        moved = coll_i_engine_fill(e);
        for (left = w->flying; left && moved >= 0; left &= left - 1) {
            const coll_status status = coll_i_engine_poll(e, COLL_LOWEST_BIT(left));
            moved = status == COLL_AGAIN ? moved : status;
        }
        for (left = w->ready; left && moved >= 0; left &= left - 1) {
            const coll_status status = coll_i_engine_issue(e, COLL_LOWEST_BIT(left));
            moved = status == COLL_AGAIN ? moved : status;
        }
        if (moved < 0) {
            coll_i_engine_fail(e, moved);
            return moved;
        }
        if (moved == COLL_OK)
            w->idle = 0;
    } while (moved == COLL_OK && (w->step < w->steps || w->free != all));
    if (w->step == w->steps && w->free == all)
        e->status = COLL_OK;
    return e->status;
}

/* Starts, without looking at it, an engine that is not running, with a task that is in it already
 * and that coll_engine_check has passed before, as it is now but for other buffers of the same
 * sizes and another tag: for those who start it again and again. Else as coll_engine_start. */
COLL_INLINE coll_status coll_engine_restart(coll_engine *e)
{
    coll_status status;
    coll_i_engine_arm(e);
    status = coll_engine_progress(e);
    return status < 0 ? status : COLL_OK;
}

/* Starts the collective on this rank. COLL_OK: it is under way (or done). An error of
 * coll_engine_check, or COLL_ERR_BUSY: nothing was started. Any other: it failed at once, as
 * progress says. */
COLL_INLINE coll_status coll_engine_start(coll_engine *e, const coll_task *task)
{
    coll_status status;
    if (!e || !e->window.slots)
        return COLL_ERR_NULL;
    if (e->status == COLL_AGAIN)
        return COLL_ERR_BUSY;
    status = COLL_CHECKS ? coll_engine_check(task, e->window.size) : COLL_OK;
    if (status != COLL_OK)
        return status;
    coll_i_task_assign(&e->task, task);
    return coll_engine_restart(e);
}

/* Blocks until the collective is done or failed, or the clock comes to the deadline: COLL_AGAIN, and it
 * still runs. executor/pending.h says what it waits for; it may be waited for again, or cancelled. */
COLL_INLINE coll_status coll_engine_wait_until(coll_engine *e, const coll_clock *clock,
                                               uint64_t deadline)
{
    coll_status status;
    while ((status = coll_engine_progress(e)) == COLL_AGAIN &&
           !coll_i_clock_is_over(clock, deadline))
        if (e->task.transport->wait)
            e->task.transport->wait(e->task.ctx, e->window.idle);
    return status;
}

/* Blocks until the collective is done or failed. */
COLL_INLINE coll_status coll_engine_wait(coll_engine *e)
{
    return coll_engine_wait_until(e, NULL, 0);
}

/* Gives up a running collective; its status is COLL_ERR_CANCELLED from then on. Other ranks
 * learn of it if the transport can abort. Returns COLL_ERR_STATE if it was not running. */
COLL_INLINE coll_status coll_engine_cancel(coll_engine *e)
{
    if (e->status != COLL_AGAIN)
        return COLL_ERR_STATE;
    coll_i_engine_fail(e, COLL_ERR_CANCELLED);
    return COLL_OK;
}

#endif /* COLL_EXECUTOR_H */
