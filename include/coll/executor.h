/* coll/executor.h — the window executor: runs one rank's part of a plan over a transport
 *
 *   coll_slot slots[8];                      // the window: actions in flight
 *   coll_engine engine;
 *   coll_engine_init(&engine, slots, 8);
 *   coll_task run = {0};                      // what to run, on which memory; stays the caller's
 *   run.plan = &plan; run.rank = me; run.transport = &mine; run.ctx = my_context; …
 *   coll_status status = coll_engine_start(&engine, &run);
 *   if (status == COLL_OK)
 *       status = coll_engine_wait(&engine);
 *
 * The actions of a rank are a sequential program (plan/action.h). The engine finds the parallelism
 * in it: an action enters a slot in program order and starts when no older unfinished action
 * conflicts with it (one writes what the other reads or writes), and sends, as well as
 * receives, of one peer start in order. RECV_REDUCE starts to receive when its staging is free,
 * and combines when its operands are.
 *
 * Memory: the engine, its slots and the run, all the caller's; nothing grows with p. Nothing here
 * allocates. start and progress do not block, unless the transport trades (transport.h); wait does.
 * One thread at a time may use an engine.
 */
#ifndef COLL_EXECUTOR_H
#define COLL_EXECUTOR_H

#include "executor/launch.h"

/* Gives the engine its window: 1 … 32 slots, the caller's as long as the engine is used. */
COLL_INLINE coll_status coll_engine_init(coll_engine *r, coll_slot *slots, uint32_t window)
{
    if (!r || !slots)
        return COLL_ERR_NULL;
    if (window == 0 || window > 32)
        return COLL_ERR_WINDOW;
    r->run = NULL;
    r->slots = slots;
    r->window = (uint8_t)window;
    r->status = COLL_OK;
    return COLL_OK;
}

/* Is there memory for so many elements? */
COLL_INLINE bool coll_i_holds(const void *memory, size_t bytes, size_t elements,
                              size_t elem_bytes)
{
    size_t needed;
    return (memory || bytes == 0) && coll_multiply(elements, elem_bytes, &needed) &&
           needed <= bytes;
}

/* Can this run be started with this window? */
COLL_INLINE coll_status coll_task_check(const coll_task *run, uint32_t window)
{
    coll_status status;
    coll_extents need;
    size_t elem_bytes;
    if (!run || !run->plan)
        return COLL_ERR_NULL;
    status = coll_transport_check(run->transport);
    if (status != COLL_OK)
        return status;
    status = coll_plan_check_rank(run->plan, run->rank);
    if (status != COLL_OK)
        return status;
    if (run->transport->tags != 0 && run->tag >= run->transport->tags)
        return COLL_ERR_TAG;
    if (window < run->plan->window || (run->schedule && window < run->schedule->window))
        return COLL_ERR_WINDOW;
    if (run->schedule && run->schedule->rank != run->rank)
        return COLL_ERR_RANK;
    if (((run->plan->traits & COLL_NEEDS_MULTICAST) && !run->transport->multicast) ||
        ((run->plan->traits & COLL_I_NEEDS_TEAM) && !run->transport->network_reduce))
        return COLL_ERR_CAPABILITY;
    if (coll_is(COLL_REDUCING, run->plan->problem.collective)) {
        if (!run->op || !run->op->combine)
            return COLL_ERR_OP;
        if (!run->op->commutative && (run->plan->problem.flags & COLL_FLAG_COMMUTATIVE))
            return COLL_ERR_ORDER; /* the plan was made for another operator */
    }
    elem_bytes = run->plan->problem.elem_bytes;
    need = coll_plan_extents(run->plan, run->rank);
    if (!need.fits || !coll_i_addressable(need.in, elem_bytes) ||
        !coll_i_addressable(need.out, elem_bytes))
        return COLL_ERR_OVERFLOW;
    if ((need.in && !run->in) || (need.out && !run->out))
        return COLL_ERR_NULL;
    if (!coll_i_holds(run->scratch, run->scratch_bytes, coll_plan_scratch(run->plan, run->rank),
                      elem_bytes))
        return COLL_ERR_SCRATCH;
    if (!coll_i_holds(run->shared, run->shared_bytes, coll_plan_shared(run->plan), elem_bytes))
        return COLL_ERR_SHARED;
    return COLL_OK;
}

/* Has all been started that this rank starts? Then it only waits: none of the messages in flight
 * lets it do anything for others. */
COLL_INLINE bool coll_engine_only_waits(const coll_engine *r)
{
    return r->step == r->steps && r->pending == 0;
}

/* Moves the collective on without blocking. COLL_OK: it is done and the buffers are the caller's;
 * COLL_AGAIN: not yet; < 0: it failed, OUT and SCRATCH are undefined, all else is untouched. */
COLL_INLINE coll_status coll_engine_progress(coll_engine *r)
{
    const uint32_t all = coll_i_all(r);
    coll_status moved;
    if (r->status != COLL_AGAIN)
        return r->status;
    if (r->idle < UINT16_MAX)
        r->idle++;
    if (r->idle == COLL_I_PATIENCE)
        r->ready |= r->pending & ~r->flying;
    do {
        uint32_t left;
        moved = coll_i_fill(r);
        for (left = r->flying; left && moved >= 0; left &= left - 1) {
            const coll_status status = coll_i_poll(r, COLL_LOWEST_BIT(left));
            moved = status == COLL_AGAIN ? moved : status;
        }
        for (left = r->ready; left && moved >= 0; left &= left - 1) {
            const coll_status status = coll_i_launch(r, COLL_LOWEST_BIT(left));
            moved = status == COLL_AGAIN ? moved : status;
        }
        if (moved < 0) {
            coll_i_fail(r, moved);
            return moved;
        }
        if (moved == COLL_OK)
            r->idle = 0;
    } while (moved == COLL_OK && (r->step < r->steps || r->free != all));
    if (r->step == r->steps && r->free == all)
        return coll_i_end(r);
    return r->status;
}

/* Starts an engine at a step, or an action of its schedule, of which `status` came: all before it
 * is over, and the message of this one in flight if it is COLL_STARTED. */
COLL_INLINE coll_status coll_i_start_at(coll_engine *r, const coll_task *run, size_t step,
                                        coll_status status)
{
    r->run = run;
    r->step = step;
    r->steps =
        COLL_TRADES && run->schedule ? run->schedule->n : coll_plan_steps(run->plan, run->rank);
    r->free = coll_i_all(r);
    r->pending = r->ready = r->flying = r->landed = r->apart = r->idle = 0;
    r->skip = 0;
    r->status = COLL_AGAIN;
    if (status == COLL_STARTED)
        (void)coll_i_begun_alone(r, &run->schedule->actions[r->step++], status);
    if (status < 0)
        coll_i_fail(r, status);
    else
        status = coll_engine_progress(r);
    return status < 0 ? status : COLL_OK;
}

/* As coll_engine_start_checked, which takes this way by itself, of a run whose schedule is brief,
 * over a transport of which these are trade and settle, or which trades nothing: for those who know
 * them when they compile. All is traded, one action after the other, and the window is needed only
 * if one cannot be. */
COLL_HOT_INLINE coll_status coll_engine_start_brief(coll_engine *r, const coll_task *run,
                                                    coll_trade_with trade,
                                                    coll_settle_with settle)
{
    const coll_schedule *schedule = run->schedule;
    coll_handle *h = &r->slots[0].handle;
    coll_status status;
    for (size_t i = 0; i < schedule->n; i++) {
        h->word[0] = h->word[1] = 0;
        status = coll_i_at_once(run, &schedule->actions[i], trade, true, true, h);
        if (!COLL_LIKELY(status == COLL_OK))
            return coll_i_start_at(r, run, i, status);
    }
    status = settle(run->ctx, false);
    if (!COLL_LIKELY(status == COLL_OK))
        return coll_i_start_at(r, run, schedule->n, status);
    r->run = run;
    r->status = COLL_OK;
    return COLL_OK;
}

/* Starts, without looking at them, an engine that is not running and a run that coll_task_check has
 * passed before, as it is now but for other buffers of the same sizes and another tag: for those
 * who have checked it, or start it again and again. Else as coll_engine_start. */
COLL_INLINE coll_status coll_engine_start_checked(coll_engine *r, const coll_task *run)
{
    const coll_transport *t = run->transport;
    return COLL_TRADES && run->schedule && run->schedule->brief && t->trade && t->settle
               ? coll_engine_start_brief(r, run, coll_i_trade, t->settle)
               : coll_i_start_at(r, run, 0, COLL_OK);
}

/* Starts the collective on this rank. COLL_OK: it is under way (or done). An error of
 * coll_task_check, or COLL_ERR_BUSY: nothing was started. Any other: it failed at once, as
 * progress says. The run stays the caller's and must not change until the engine is done. */
COLL_INLINE coll_status coll_engine_start(coll_engine *r, const coll_task *run)
{
    coll_status status;
    if (!r || !r->slots)
        return COLL_ERR_NULL;
    if (r->status == COLL_AGAIN)
        return COLL_ERR_BUSY;
    status = COLL_CHECKS ? coll_task_check(run, r->window) : COLL_OK;
    return status == COLL_OK ? coll_engine_start_checked(r, run) : status;
}

/* Blocks until the collective is done or failed. */
COLL_INLINE coll_status coll_engine_wait(coll_engine *r)
{
    coll_status status;
    while ((status = coll_engine_progress(r)) == COLL_AGAIN)
        if (r->run->transport->wait)
            r->run->transport->wait(r->run->ctx, r->idle);
    return status;
}

/* Gives up a running collective; its status is COLL_ERR_CANCELLED from then on. Other ranks
 * learn of it if the transport can abort. Returns COLL_ERR_STATE if it was not running. */
COLL_INLINE coll_status coll_engine_cancel(coll_engine *r)
{
    if (r->status != COLL_AGAIN)
        return COLL_ERR_STATE;
    coll_i_fail(r, COLL_ERR_CANCELLED);
    return COLL_OK;
}

#endif /* COLL_EXECUTOR_H */
