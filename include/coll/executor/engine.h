/* coll/executor/engine.h — the window engine at work: admit, issue, poll, retire; fail
 *
 * Use executor.h.
 */
#ifndef COLL_EXECUTOR_ENGINE_H
#define COLL_EXECUTOR_ENGINE_H

#include "task.h"
#include "window.h"

/* A window engine: one collective of one rank, again and again. */
typedef struct coll_engine {
    coll_task task;     /* what it runs, or ran */
    coll_window window; /* its actions in flight */
    coll_status status; /* COLL_AGAIN: running */
} coll_engine;

/* Makes the engine one that is about to run its task: the next progress starts it. */
COLL_INLINE void coll_i_engine_arm(coll_engine *e)
{
    coll_i_window_begin(&e->window, coll_i_task_steps(&e->task));
    e->status = COLL_AGAIN;
}

/* Combines an acquired piece, which comes from byte `done` of its message on and has no address here, part
 * by part, each as soon as it is read. */
COLL_INLINE coll_status coll_i_engine_read(const coll_task *task, const coll_action *a,
                                           size_t done, size_t piece, coll_handle *h)
{
    const coll_zero_copy *z = task->transport->zero_copy;
    const size_t elem_bytes = task->plan->problem.elem_bytes;
    const size_t most = coll_i_task_route(task, a)->zero_copy->part_bytes;
    const size_t part = most / elem_bytes * elem_bytes;
    for (size_t at = 0; at < piece; at += part) {
        const size_t bytes = piece - at < part ? piece - at : part;
        const void *here = NULL;
        const coll_status status = z->read(task->ctx, h, at, bytes, &here);
        if (status != COLL_OK)
            return status < 0 ? status : COLL_ERR_TRANSPORT;
        coll_i_task_merge_chunk(task, a, (const unsigned char *)here, done + at,
                                bytes / elem_bytes);
    }
    return COLL_OK;
}

/* Takes a piece of a message, from byte `done` on, from where the transport has it straight into
 * the sum. */
COLL_INLINE coll_status coll_i_engine_acquire(const coll_task *task, const coll_action *a,
                                              size_t done, size_t piece, coll_handle *h)
{
    const uint32_t peer = coll_group_outer(&task->plan->group, a->peer);
    const void *message = NULL;
    coll_status status;
    h->word[0] = h->word[1] = 0;
    status =
        task->transport->zero_copy->acquire(task->ctx, peer, task->tag, piece, &message, h);
    if (status == COLL_OK) {
        if (message)
            coll_i_task_merge(task, a, (const unsigned char *)message, done, piece);
        else
            status = coll_i_engine_read(task, a, done, piece, h);
        task->transport->zero_copy->release(task->ctx, h);
    }
    return status;
}

/* Takes what is there of the message of slot k. */
COLL_INLINE coll_status coll_i_engine_take(coll_engine *e, uint32_t k)
{
    coll_slot *slot = &e->window.slots[k];
    coll_action *a = &slot->act;
    const size_t bytes = coll_i_task_bytes(&e->task, a), before = a->stride;
    while (a->stride < bytes) {
        const size_t piece = coll_i_task_piece(&e->task, a, bytes - a->stride);
        const coll_status status =
            coll_i_engine_acquire(&e->task, a, a->stride, piece, &slot->handle);
        if (status == COLL_AGAIN && a->stride != before) {
            e->window.ready |= (uint32_t)1 << k;
            return COLL_OK;
        }
        if (status != COLL_OK)
            return status;
        a->stride += piece;
        a->flags |= COLL_I_WINDOW_ACQUIRED;
    }
    coll_i_window_retire(&e->window, k);
    return COLL_OK;
}

/* An operation of slot k is over. Is there another one of its action to issue? If not, it retires. */
COLL_INLINE bool coll_i_engine_next(coll_engine *e, uint32_t k)
{
    coll_slot *slot = &e->window.slots[k];
    const bool message = slot->act.kind == COLL_DO_RECV_REDUCE;
    if (!coll_i_task_next(&e->task, &slot->act)) {
        coll_i_window_retire(&e->window, k);
        return false;
    }
    if (message && slot->act.kind == COLL_DO_REDUCE) { /* … which is staged */
        coll_i_window_stage(&e->window, k);
        slot->gate = slot->hold;
        slot->hold = slot->order = 0;
        e->window.pending |= (uint32_t)1 << k;
        e->window.apart |= (uint32_t)1 << k;
    }
    return true;
}

/* May the message of slot k be acquired, now or when its operands are there? */
COLL_INLINE bool coll_i_engine_is_zero_copy(const coll_engine *e, uint32_t k)
{
    const coll_action *a = &e->window.slots[k].act;
    return a->kind == COLL_DO_RECV_REDUCE && coll_i_task_is_zero_copy(&e->task, a) &&
           !(e->window.flying >> k & 1) && !(a->flags & COLL_I_WINDOW_RECEIVED) &&
           (a->stride == 0 || (a->flags & COLL_I_WINDOW_ACQUIRED));
}

/* … and is it surely one without an address? */
COLL_INLINE bool coll_i_engine_reads(const coll_engine *e, uint32_t k)
{
    const coll_action *a = &e->window.slots[k].act;
    return coll_i_task_is_read(&e->task, coll_i_task_route(&e->task, a)->zero_copy,
                               coll_i_task_piece(&e->task, a, coll_i_task_bytes(&e->task, a)));
}

/* Starts what of slot k can start. COLL_OK: it moved. COLL_AGAIN: it did not, and stays `ready`
 * only if that is because the transport had no room, or no message yet. */
COLL_INLINE coll_status coll_i_engine_issue(coll_engine *e, uint32_t k)
{
    coll_window *w = &e->window;
    const uint32_t bit = (uint32_t)1 << k;
    coll_slot *slot = &w->slots[k];
    const bool arrives = coll_i_task_arrives(&e->task, &slot->act);
    coll_status moved = COLL_AGAIN, status;
    w->ready &= ~bit;
    if (arrives || coll_i_engine_is_zero_copy(e, k)) {
        if (slot->hold != 0) {
            /* to read a message now, and combine it later, takes no longer than both later */
            if (!(slot->act.flags & COLL_I_WINDOW_STAGE) && w->idle < COLL_I_WINDOW_PATIENCE &&
                (arrives || !coll_i_engine_reads(e, k)))
                return COLL_AGAIN;
            if (arrives)
                slot->act.flags |= COLL_I_TASK_RECEIVED;
        } else if (!arrives) {
            if (slot->order != 0)
                return COLL_AGAIN;
            status = coll_i_engine_take(e, k);
            if (status == COLL_AGAIN)
                w->ready |= bit;
            if (status != COLL_ERR_CAPABILITY || slot->act.stride != 0)
                return status;
            slot->act.flags |= COLL_I_WINDOW_RECEIVED;
        }
    }
    while (coll_i_window_may_start(w, k)) {
        status = coll_i_task_issue(&e->task, &slot->act, &slot->handle);
        if (status == COLL_AGAIN)
            w->ready |= bit;
        if (status < 0 || status == COLL_AGAIN)
            return status < 0 ? status : moved;
        moved = COLL_OK;
        if (status == COLL_STARTED) {
            w->flying |= bit;
            if (!coll_i_task_is_cut(&e->task, &slot->act)) {
                w->pending &= ~bit;
                w->ready |= slot->dependents & ~w->free;
            }
            break;
        }
        if (!coll_i_engine_next(e, k))
            break;
    }
    return moved;
}

/* Asks the transport about slot k. COLL_OK: it moved; COLL_AGAIN: it did not. */
COLL_INLINE coll_status coll_i_engine_poll(coll_engine *e, uint32_t k)
{
    coll_slot *slot = &e->window.slots[k];
    coll_status status;
    if (slot->order != 0 && coll_i_has(COLL_I_RECEIVES, &slot->act))
        return COLL_AGAIN; /* receives of one peer are tested oldest first */
    status = e->task.transport->test(e->task.ctx, &slot->handle);
    if (status != COLL_OK)
        return status;
    e->window.flying &= ~((uint32_t)1 << k);
    if (coll_i_engine_next(e, k)) {
        status = coll_i_engine_issue(e, k);
        return status < 0 ? status : COLL_OK;
    }
    return COLL_OK;
}

/* Gives an action that nothing keeps waiting to the transport, with the handle of free slot k. It takes
 * the slot only if it is not over then, as short messages are that can be sent without waiting. */
COLL_INLINE coll_status coll_i_engine_begin(coll_engine *e, const coll_action *a, uint32_t k)
{
    coll_window *w = &e->window;
    coll_handle *h = &w->slots[k].handle;
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    coll_i_window_waits waits;
    coll_status status = COLL_ERR_CAPABILITY;
    if (merges && coll_i_task_is_zero_copy(&e->task, a))
        status = coll_i_engine_acquire(&e->task, a, 0, coll_i_task_bytes(&e->task, a), h);
    if (status == COLL_ERR_CAPABILITY) {
        status = coll_i_task_issue_with(&e->task, a, e->task.transport->send,
                                        e->task.transport->recv, h);
        if (status == COLL_OK && merges)
            coll_i_task_merge_staged(&e->task, a);
    }
    if (COLL_LIKELY(status <= COLL_OK))
        return status;
    waits.start = waits.combine = 0;
    (void)coll_i_window_place(w, a, waits, 0);
    if (status == COLL_AGAIN) {
        w->ready |= (uint32_t)1 << k;
    } else {
        w->pending &= ~((uint32_t)1 << k);
        w->flying |= (uint32_t)1 << k;
    }
    return COLL_OK;
}

/* Takes an action into the window, and starts it if it can start. */
COLL_INLINE coll_status coll_i_engine_admit(coll_engine *e, const coll_action *a)
{
    coll_window *w = &e->window;
    const uint32_t used = coll_i_window_all(w) & ~w->free;
    coll_i_window_waits waits;
    uint32_t order = 0, k = 0;
    waits.start = waits.combine = 0;
    if (used) {
        waits = coll_i_window_find_waits(w, a, used, &order);
        k = COLL_LOWEST_BIT(w->free);
    }
    return (waits.start | waits.combine | order) == 0 && !coll_i_task_is_cut(&e->task, a) &&
                   !(a->kind == COLL_DO_RECV_REDUCE &&
                     (e->task.transport->reduce ||
                      (COLL_ARRIVAL && e->task.transport->arrival)))
               ? coll_i_engine_begin(e, a, k)
               : coll_i_engine_issue(e, coll_i_window_place(w, a, waits, order));
}

/* Takes steps into the window while there is room, starting at once what can start. */
COLL_INLINE coll_status coll_i_engine_fill(coll_engine *e)
{
    coll_window *w = &e->window;
    coll_action room[COLL_STEP_MAX];
    coll_status moved = COLL_AGAIN;
    while (w->step < w->steps && w->free) {
        const coll_action *step;
        const uint32_t n = coll_i_task_step(&e->task, w->step, room, &step);
        uint32_t i = w->skip;
        for (; i < n && w->free; i++) {
            const coll_status status =
                step[i].count == 0 ? COLL_OK : coll_i_engine_admit(e, &step[i]);
            if (status < 0)
                return status;
        }
        moved = COLL_OK;
        w->skip = (uint8_t)(i < n ? i : 0);
        if (i == n)
            w->step++;
    }
    return moved;
}

/* Ends the engine with an error: tells the peers, then cancels what is in flight. In this
 * order, no peer finds a message missing and takes the next one for it before it knows why. */
COLL_INLINE void coll_i_engine_fail(coll_engine *e, coll_status status)
{
    coll_window *w = &e->window;
    coll_i_task_abort(&e->task, status);
    for (; w->flying; w->flying &= w->flying - 1)
        coll_i_task_cancel(&e->task, &w->slots[COLL_LOWEST_BIT(w->flying)].handle);
    e->status = status;
}

#endif /* COLL_EXECUTOR_ENGINE_H */
