/* coll/executor/in_order.h — the in-order engine: a rank's actions one after the other, with sends in
 * flight
 *
 *   coll_outstanding ops[2];                 // the action that blocks, and one send in flight
 *   coll_in_order engine;
 *   coll_in_order_init(&engine, ops, 2);
 *   coll_status status = coll_in_order_start(&engine, &task);        // of executor/task.h
 *   if (status == COLL_OK)
 *       status = coll_in_order_wait(&engine);
 *
 * The actions of a rank are a sequential program (plan/action.h), and this engine runs it as that: it
 * goes on when an action is over, but for sends, which stay in flight while others follow, so long as
 * none of these writes what is sent (a message may be staged meanwhile). A long message that is cut stays one send, and no later one to
 * the same peer passes it. How many sends must have room so that a collective ends even if each
 * waits for its receiver, coll_plan.sends says; it is proven for each algorithm.
 *
 * It is the small engine, for firmware; and the short one for callers who block over a transport that
 * completes short messages at once. The window engine (executor.h) overlaps more, and combines
 * messages where they lie (zero copy), which this one does not.
 *
 * Memory: the engine and its operations, the caller's. Nothing here allocates. start and progress do
 * not block; wait does. One thread at a time may use an engine.
 */
#ifndef COLL_EXECUTOR_IN_ORDER_H
#define COLL_EXECUTOR_IN_ORDER_H

#include "task.h"

/* An action that is not over. */
typedef struct coll_outstanding {
    coll_action act; /* act.stride of a message: bytes of it that are done */
    coll_handle handle;
} coll_outstanding;

/* An in-order engine: one collective of one rank, again and again. */
typedef struct coll_in_order {
    coll_task task;        /* what it runs, or ran; the first member, as of coll_engine */
    coll_outstanding *ops; /* the first blocks the program; the others are sends in flight */
    size_t step, steps;    /* the next step to start, and how many there are */
    uint32_t used;         /* ops that are not over … */
    uint32_t flying;    /* … and that the transport works on: others have a piece to start */
    coll_status status; /* COLL_AGAIN: running */
    uint16_t idle; /* calls of progress in a row in which nothing happened, at most 65535 */
    uint8_t size;  /* ops */
    uint8_t skip;  /* actions of step `step` that have started already */
} coll_in_order;

/* Gives the engine its operations: 2 … 32, of which all but one are for sends; the caller's as long
 * as the engine is used. */
COLL_INLINE coll_status coll_in_order_init(coll_in_order *e, coll_outstanding *ops, uint32_t n)
{
    if (!e || !ops)
        return COLL_ERR_NULL;
    if (n < 2 || n > 32)
        return COLL_ERR_WINDOW;
    e->ops = ops;
    e->size = (uint8_t)n;
    e->status = COLL_OK;
    return COLL_OK;
}

/* Can this task be started with so many operations? */
COLL_INLINE coll_status coll_in_order_check(const coll_task *task, uint32_t n)
{
    const coll_status status = coll_task_check(task);
    if (status != COLL_OK)
        return status;
    return n <= (task->schedule ? task->schedule->sends : task->plan->sends) ? COLL_ERR_WINDOW
                                                                             : COLL_OK;
}

/* Must an action that writes to `to` wait for a send in flight, as that reads there, or as it would
 * pass the rest of it on the way to its peer? */
COLL_INLINE bool coll_i_in_order_is_behind(const coll_in_order *e, const coll_action *a,
                                           coll_ref to)
{
    for (uint32_t left = e->used & ~(uint32_t)1; left; left &= left - 1) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        const coll_action *o = &e->ops[k].act;
        if (coll_i_has(COLL_I_WRITES_DST, a) && coll_i_overlap(to, a->count, o->src, o->count))
            return true;
        if (coll_i_has(COLL_I_SENDS, a) &&
            (!(e->flying >> k & 1) || coll_i_task_is_cut(&e->task, o)) &&
            coll_i_share_a_channel(a, o))
            return true;
    }
    return false;
}

/* … before its next operation? A RECV_REDUCE first writes its staging alone. */
COLL_INLINE bool coll_i_in_order_waits(const coll_in_order *e, const coll_action *a)
{
    return coll_i_in_order_is_behind(e, a, a->kind == COLL_DO_RECV_REDUCE ? a->via : a->dst);
}

/* Starts the next operation of an action. A message does not wait for its sum to be sent, as the
 * receiver of that may wait for this rank: it is staged then, instead of combined as it arrives. */
COLL_INLINE coll_status coll_i_in_order_issue(coll_in_order *e, coll_outstanding *one)
{
    coll_action *a = &one->act;
    if (coll_i_task_arrives(&e->task, a) && coll_i_in_order_is_behind(e, a, a->dst))
        a->flags |= COLL_I_TASK_RECEIVED;
    return coll_i_task_issue(&e->task, a, &one->handle);
}

/* Moves an operation on. COLL_OK: its action is over. COLL_STARTED: not, but something happened;
 * COLL_AGAIN: nothing did. */
COLL_INLINE coll_status coll_i_in_order_move(coll_in_order *e, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k;
    coll_outstanding *one = &e->ops[k];
    coll_status moved = COLL_AGAIN;
    for (;;) {
        coll_status status = COLL_AGAIN;
        if (e->flying & bit)
            status = e->task.transport->test(e->task.ctx, &one->handle);
        else if (k != 0 || !coll_i_in_order_waits(e, &one->act))
            status = coll_i_in_order_issue(e, one);
        if (status == COLL_AGAIN)
            return moved;
        if (status < 0)
            return status;
        moved = COLL_STARTED;
        if (status == COLL_STARTED) {
            e->flying |= bit;
            return moved;
        }
        e->flying &= ~bit;
        if (!coll_i_task_next(&e->task, &one->act)) {
            e->used &= ~bit;
            return COLL_OK;
        }
    }
}

/* Starts an action, while none blocks. COLL_OK: it is over, or a send in flight; COLL_STARTED: it
 * blocks; COLL_AGAIN: it has not started. */
COLL_HOT_INLINE coll_status coll_i_in_order_admit_with(coll_in_order *e, const coll_action *a,
                                                       coll_send_with send, coll_recv_with recv)
{
    const bool sends = coll_i_has(COLL_I_SENDS, a), arrives = coll_i_task_arrives(&e->task, a);
    const uint32_t free = (UINT32_MAX >> (32 - e->size)) & ~(sends ? e->used | 1u : 0u);
    const uint32_t bit = free & (0 - free); /* 0: a send, and there is no room */
    coll_outstanding *one;
    coll_status status = COLL_OK;
    if (e->used != 0 && (bit == 0 || coll_i_in_order_waits(e, a)))
        return COLL_AGAIN;
    one = &e->ops[COLL_LOWEST_BIT(bit)];
    if (!arrives)
        status = coll_i_task_issue_with(&e->task, a, send, recv, &one->handle);
    if (status < 0 || status == COLL_AGAIN)
        return status;
    if (COLL_LIKELY(status == COLL_OK) && !arrives && !coll_i_task_is_cut(&e->task, a)) {
        if (a->kind != COLL_DO_RECV_REDUCE)
            return COLL_OK;
        if (e->used == 0 && !e->task.transport->reduce) {
            coll_i_task_merge_staged(&e->task, a);
            return COLL_OK;
        }
    }
    coll_i_action_assign(&one->act, a);
    e->used |= bit;
    if (status == COLL_STARTED) {
        e->flying |= bit;
    } else {
        if (!arrives)
            (void)coll_i_task_next(&e->task, &one->act);
        status = coll_i_in_order_move(e, COLL_LOWEST_BIT(bit));
        if (status < 0)
            return status;
    }
    return e->used & 1u ? COLL_STARTED : COLL_OK;
}

/* The same with those of the transport. Small code has no shorter ways for what is over at once. */
COLL_INLINE coll_status coll_i_in_order_admit(coll_in_order *e, const coll_action *a)
{
#if COLL_SMALL
    coll_status status;
    uint32_t k = 0;
    if (coll_i_has(COLL_I_SENDS, a)) {
        for (k = 1; k < e->size && (e->used >> k & 1u); k++)
            ;
        if (k == e->size || coll_i_in_order_waits(e, a))
            return COLL_AGAIN;
    }
    coll_i_action_assign(&e->ops[k].act, a);
    e->used |= (uint32_t)1 << k;
    status = coll_i_in_order_move(e, k);
    if (status == COLL_AGAIN)
        e->used &= ~((uint32_t)1 << k);
    return status == COLL_STARTED && k != 0 ? COLL_OK : status;
#else
    return coll_i_in_order_admit_with(e, a, e->task.transport->send, e->task.transport->recv);
#endif
}

/* Have all pieces of all sends in flight started? Else a receive that waits could wait for ever. */
COLL_INLINE bool coll_i_in_order_all_started(const coll_in_order *e)
{
    uint32_t left = e->used;
    while (left && (e->flying & left & (0 - left)) &&
           !coll_i_task_is_cut(&e->task, &e->ops[COLL_LOWEST_BIT(left)].act))
        left &= left - 1;
    return left == 0;
}

/* Goes on with the program, while no action blocks; with `send` and `recv` if they are `handed` over.
 * COLL_OK: it has come to its end. COLL_STARTED: not, but something happened; COLL_AGAIN: nothing did. */
COLL_HOT_INLINE coll_status coll_i_in_order_advance(coll_in_order *e, bool handed,
                                                    coll_send_with send, coll_recv_with recv)
{
    coll_action room[COLL_STEP_MAX];
    coll_status moved = COLL_AGAIN;
    for (; e->step < e->steps; e->step++) {
        const coll_action *step;
        const unsigned n = coll_i_task_step(&e->task, e->step, room, &step);
        for (unsigned i = e->skip; i < n; i++) {
            coll_status status = COLL_OK;
            if (step[i].count == 0)
                continue;
            if (handed && (COLL_LIKELY(e->used == 0) || coll_i_in_order_all_started(e)))
                status = coll_i_in_order_admit_with(e, &step[i], send, recv);
            else
                status = coll_i_in_order_admit(e, &step[i]);
            if (COLL_LIKELY(status == COLL_OK)) {
                moved = COLL_STARTED;
                continue;
            }
            e->skip = (uint8_t)(status == COLL_STARTED ? i + 1 : i);
            return status == COLL_AGAIN ? moved : status;
        }
        e->skip = 0;
    }
    return e->used ? moved : COLL_OK;
}

/* Moves on what has started, and then the program. The status as of coll_i_in_order_advance. */
COLL_HOT_INLINE coll_status coll_i_in_order_pass(coll_in_order *e)
{
    coll_status moved = COLL_AGAIN, status;
    for (uint32_t left = e->used; left; left &= left - 1) {
        status = coll_i_in_order_move(e, COLL_LOWEST_BIT(left));
        if (status < 0)
            return status;
        if (status != COLL_AGAIN)
            moved = COLL_STARTED;
    }
    if (e->used & 1u)
        return moved;
    status = coll_i_in_order_advance(e, false, NULL, NULL);
    return status == COLL_AGAIN ? moved : status;
}

/* Ends the engine with an error: tells the peers, then cancels what is in flight. */
COLL_INLINE void coll_i_in_order_fail(coll_in_order *e, coll_status status)
{
    coll_i_task_abort(&e->task, status);
    for (; e->flying; e->flying &= e->flying - 1)
        coll_i_task_cancel(&e->task, &e->ops[COLL_LOWEST_BIT(e->flying)].handle);
    e->status = status;
}

/* Moves the collective on without blocking; the status as of coll_engine_progress. */
COLL_INLINE coll_status coll_in_order_progress(coll_in_order *e)
{
    coll_status status;
    if (e->status != COLL_AGAIN)
        return e->status;
    if (e->idle < UINT16_MAX)
        e->idle++;
    while ((status = coll_i_in_order_pass(e)) == COLL_STARTED)
        e->idle = 0;
    if (status < 0)
        coll_i_in_order_fail(e, status);
    e->status = status;
    return status;
}

/* Starts the program; its beginning with `send` and `recv` if they are `handed` over. */
COLL_HOT_INLINE coll_status coll_i_in_order_begin(coll_in_order *e, bool handed,
                                                  coll_send_with send, coll_recv_with recv)
{
    coll_status status;
    e->step = 0;
    e->steps = coll_i_task_steps(&e->task);
    e->used = e->flying = 0;
    e->idle = 0;
    e->skip = 0;
    e->status = COLL_AGAIN;
    status = handed ? coll_i_in_order_advance(e, true, send, recv) : COLL_AGAIN;
    if (COLL_LIKELY(status == COLL_OK))
        e->status = COLL_OK;
    else if (status < 0)
        coll_i_in_order_fail(e, status);
    else
        status = coll_in_order_progress(e);
    return status < 0 ? status : COLL_OK;
}

/* Starts, without looking at it, an engine that is not running, as coll_engine_restart. */
COLL_INLINE coll_status coll_in_order_restart(coll_in_order *e)
{
    return coll_i_in_order_begin(e, false, NULL, NULL);
}

/* The same, but the messages that it comes to before an action blocks go by `send` and `recv`, which a
 * compiler that knows them makes part of the caller; those after that by the transport's. They are as
 * the transport's, but recv may wait for its message while it moves on the sends in flight, of which
 * all pieces have started then: the program is right as a sequential one. */
COLL_HOT_INLINE coll_status coll_in_order_restart_with(coll_in_order *e, coll_send_with send,
                                                       coll_recv_with recv)
{
    return coll_i_in_order_begin(e, true, send, recv);
}

/* Starts the collective on this rank, as coll_engine_start. */
COLL_INLINE coll_status coll_in_order_start(coll_in_order *e, const coll_task *task)
{
    coll_status status;
    if (!e || !e->ops)
        return COLL_ERR_NULL;
    if (e->status == COLL_AGAIN)
        return COLL_ERR_BUSY;
    status = COLL_CHECKS ? coll_in_order_check(task, e->size) : COLL_OK;
    if (status != COLL_OK)
        return status;
    coll_i_task_assign(&e->task, task);
    return coll_in_order_restart(e);
}

/* Blocks until the collective is done or failed, or the clock comes to the deadline: COLL_AGAIN, as
 * coll_engine_wait_until. */
COLL_INLINE coll_status coll_in_order_wait_until(coll_in_order *e, const coll_clock *clock,
                                                 uint64_t deadline)
{
    coll_status status;
    while ((status = coll_in_order_progress(e)) == COLL_AGAIN &&
           !coll_i_clock_is_over(clock, deadline))
        if (e->task.transport->wait)
            e->task.transport->wait(e->task.ctx, e->idle);
    return status;
}

/* Blocks until the collective is done or failed. */
COLL_INLINE coll_status coll_in_order_wait(coll_in_order *e)
{
    return coll_in_order_wait_until(e, NULL, 0);
}

/* Gives up a running collective, as coll_engine_cancel. */
COLL_INLINE coll_status coll_in_order_cancel(coll_in_order *e)
{
    if (e->status != COLL_AGAIN)
        return COLL_ERR_STATE;
    coll_i_in_order_fail(e, COLL_ERR_CANCELLED);
    return COLL_OK;
}

#endif /* COLL_EXECUTOR_IN_ORDER_H */
