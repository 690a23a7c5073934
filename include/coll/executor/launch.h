/* coll/executor/launch.h — the executor at work: what starts, ends and fails in the window
 *
 * Use executor.h.
 */
#ifndef COLL_EXECUTOR_LAUNCH_H
#define COLL_EXECUTOR_LAUNCH_H

#include "run.h"

/* Starts an action's operation, or its next piece. */
COLL_INLINE coll_status coll_i_begin(const coll_task *run, const coll_action *a, coll_handle *h)
{
    const coll_transport *t = run->transport;
    const uint32_t peer = coll_group_outer(&run->plan->group, a->peer);
    const size_t bytes = coll_i_bytes(run, a), done = a->stride;
    const size_t piece = coll_i_piece(run, bytes - done);
    const bool token = coll_i_is_token(a);
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
    case COLL_DO_NOTIFY:
        return t->send(run->ctx, peer, run->tag,
                       token ? NULL : coll_i_source(run, a->src) + done, piece, h);
    case COLL_DO_RECV:
    case COLL_DO_AWAIT:
    case COLL_DO_RECV_REDUCE: {
        const coll_ref to = a->kind == COLL_DO_RECV_REDUCE ? a->via : a->dst;
        return t->recv(run->ctx, peer, run->tag, token ? NULL : coll_i_target(run, to) + done,
                       piece, h);
    }
    case COLL_DO_MULTICAST:
        return t->multicast(run->ctx, run->tag, coll_i_source(run, a->src) + done, piece, h);
    case COLL_DO_NETWORK_REDUCE: {
        coll_team team;
        team.number = a->peer;
        team.members = (uint32_t)a->stride;
        return t->network_reduce(run->ctx, run->tag, team, run->plan, run->op,
                                 token ? NULL : coll_i_target(run, a->dst),
                                 token ? NULL : coll_i_source(run, a->src),
                                 token ? 0 : a->count, run->plan->problem.elem_bytes, h);
    }
    case COLL_DO_COPY:
        if (t->copy && a->dst != a->src)
            return t->copy(run->ctx, coll_i_target(run, a->dst), coll_i_source(run, a->src),
                           bytes, h);
        if (a->dst != a->src)
            COLL_COPY(coll_i_target(run, a->dst), coll_i_source(run, a->src), bytes);
        return COLL_OK;
    case COLL_DO_REDUCE:
        if (t->reduce) {
            const coll_status status =
                t->reduce(run->ctx, run->op, coll_i_target(run, a->dst),
                          coll_i_source(run, a->src), coll_i_source(run, a->via), a->count, h);
            if (status != COLL_ERR_CAPABILITY)
                return status;
        }
        coll_i_reduce(run, a, t->reduce ? 1 : a->inputs);
        return COLL_OK;
    case COLL_KINDS:
        break;
    }
    return COLL_ERR_STATE;
}

/* One operation of slot k is done. Is there another to start for the same action? */
COLL_INLINE bool coll_i_goes_on(coll_engine *r, uint32_t k)
{
    coll_slot *slot = &r->slots[k];
    coll_action *a = &slot->act;
    if (!coll_i_is_cut(r->run, a))
        return false;
    slot->handle.word[0] = slot->handle.word[1] = 0;
    if (a->kind == COLL_DO_REDUCE) {
        a->inputs--;
        a->src = a->dst;
        a->via += a->stride;
    } else {
        a->stride += r->run->transport->max_bytes;
    }
    return true;
}

/* Combines the message that slot k staged, and ends it. */
COLL_INLINE void coll_i_combine(coll_engine *r, uint32_t k)
{
    coll_i_merge_staged(r->run, &r->slots[k].act);
    coll_i_finish(r, k);
}

/* All operations of slot k are done. */
COLL_INLINE void coll_i_complete(coll_engine *r, uint32_t k)
{
    if (r->slots[k].act.kind != COLL_DO_RECV_REDUCE)
        coll_i_finish(r, k);
    else if (r->slots[k].hold == 0)
        coll_i_combine(r, k);
    else
        coll_i_land(r, k);
}

/* Takes the message of slot k, or what is there of its pieces, from where the transport has it
 * straight into the sum. */
COLL_INLINE coll_status coll_i_acquire(coll_engine *r, uint32_t k)
{
    const coll_task *run = r->run;
    coll_slot *slot = &r->slots[k];
    coll_action *a = &slot->act;
    const uint32_t peer = coll_group_outer(&run->plan->group, a->peer);
    const size_t bytes = coll_i_bytes(run, a), before = a->stride;
    while (a->stride < bytes) {
        const size_t piece = coll_i_piece(run, bytes - a->stride);
        const void *message = NULL;
        const coll_status status =
            run->transport->acquire(run->ctx, peer, run->tag, piece, &message, &slot->handle);
        if (status == COLL_AGAIN && a->stride != before) {
            r->ready |= (uint32_t)1 << k;
            return COLL_OK;
        }
        if (status != COLL_OK)
            return status;
        coll_i_merge(run, a, (const unsigned char *)message, a->stride, piece);
        run->transport->release(run->ctx, &slot->handle);
        slot->handle.word[0] = slot->handle.word[1] = 0;
        a->stride += piece;
        a->flags |= COLL_I_LENT;
    }
    coll_i_finish(r, k);
    return COLL_OK;
}

/* Starts what of slot k can start. COLL_OK: it moved. COLL_AGAIN: it did not, and stays `ready`
 * only if that is because the transport had no room, or no message yet. */
COLL_INLINE coll_status coll_i_launch(coll_engine *r, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k;
    coll_slot *slot = &r->slots[k];
    coll_status status;
    r->ready &= ~bit;
    if (r->landed & bit) {
        if (slot->hold != 0)
            return COLL_AGAIN;
        coll_i_combine(r, k);
        return COLL_OK;
    }
    if (slot->act.kind == COLL_DO_RECV_REDUCE && coll_i_is_zero_copy(r->run, &slot->act) &&
        !(r->flying & bit) && !(slot->act.flags & COLL_I_KEPT) &&
        (slot->act.stride == 0 || (slot->act.flags & COLL_I_LENT))) {
        if (slot->hold == 0 && slot->order == 0) {
            status = coll_i_acquire(r, k);
            if (status == COLL_AGAIN)
                r->ready |= bit;
            if (status != COLL_ERR_CAPABILITY || slot->act.stride != 0)
                return status;
            slot->act.flags |= COLL_I_KEPT;
        } else if (slot->hold == 0 ||
                   (!(slot->act.flags & COLL_I_STAGE) && r->idle < COLL_I_PATIENCE)) {
            return COLL_AGAIN;
        }
    }
    if (!coll_i_may_start(r, k))
        return COLL_AGAIN;
    do {
        status = coll_i_begin(r->run, &slot->act, &slot->handle);
        if (status == COLL_AGAIN)
            r->ready |= bit;
        if (status < 0 || status == COLL_AGAIN)
            return status;
        if (status == COLL_STARTED) {
            r->flying |= bit;
            if (!coll_i_is_cut(r->run, &slot->act)) {
                r->pending &= ~bit;
                r->ready |= slot->dependents & ~r->free;
            }
            return COLL_OK;
        }
    } while (coll_i_goes_on(r, k));
    r->pending &= ~bit;
    coll_i_complete(r, k);
    return COLL_OK;
}

/* Asks the transport about slot k. COLL_OK: it moved; COLL_AGAIN: it did not. */
COLL_INLINE coll_status coll_i_poll(coll_engine *r, uint32_t k)
{
    coll_slot *slot = &r->slots[k];
    coll_status status;
    if (slot->order != 0 && coll_i_has(COLL_I_RECEIVES, &slot->act))
        return COLL_AGAIN; /* receives of one peer are tested oldest first */
    status = r->run->transport->test(r->run->ctx, &slot->handle);
    if (status != COLL_OK)
        return status;
    r->flying &= ~((uint32_t)1 << k);
    if (coll_i_goes_on(r, k)) {
        status = coll_i_launch(r, k);
        return status < 0 ? status : COLL_OK;
    }
    coll_i_complete(r, k);
    return COLL_OK;
}

/* An action was begun while the window was empty. If it is over, as short messages are that can be
 * sent without waiting, it never takes its slot, the first. */
COLL_INLINE coll_status coll_i_begun_alone(coll_engine *r, const coll_action *a,
                                           coll_status status)
{
    if (status <= COLL_OK)
        return status;
    (void)coll_i_admit(r, a);
    if (status == COLL_AGAIN) {
        r->ready |= 1u;
    } else {
        r->pending &= ~(uint32_t)1;
        r->flying |= 1u;
    }
    return COLL_OK;
}

/* Starts an action while the window is empty: there is nothing to wait for. */
COLL_INLINE coll_status coll_i_start_alone(coll_engine *r, const coll_action *a)
{
    coll_handle *h = &r->slots[0].handle;
    coll_status status;
    h->word[0] = h->word[1] = 0;
    status = coll_i_begin(r->run, a, h);
    if (status == COLL_OK && a->kind == COLL_DO_RECV_REDUCE)
        coll_i_merge_staged(r->run, a);
    return coll_i_begun_alone(r, a, status);
}

/* The same of a whole message that may be acquired. COLL_ERR_CAPABILITY: it is not acquired. */
COLL_INLINE coll_status coll_i_acquire_alone(coll_engine *r, const coll_action *a)
{
    const coll_task *run = r->run;
    const uint32_t peer = coll_group_outer(&run->plan->group, a->peer);
    const size_t bytes = coll_i_bytes(run, a);
    coll_handle *h = &r->slots[0].handle;
    const void *message = NULL;
    coll_status status;
    h->word[0] = h->word[1] = 0;
    status = run->transport->acquire(run->ctx, peer, run->tag, bytes, &message, h);
    if (status == COLL_OK) {
        coll_i_merge(run, a, (const unsigned char *)message, 0, bytes);
        run->transport->release(run->ctx, h);
    }
    return coll_i_begun_alone(r, a, status);
}

/* Takes an action into the window, and starts it if it can start. */
COLL_INLINE coll_status coll_i_enter(coll_engine *r, const coll_action *a)
{
    const bool zero_copy = a->kind == COLL_DO_RECV_REDUCE && coll_i_is_zero_copy(r->run, a);
    uint32_t k;
    if (r->free == coll_i_all(r) && !coll_i_is_cut(r->run, a)) {
        const coll_status status =
            zero_copy ? coll_i_acquire_alone(r, a) : coll_i_start_alone(r, a);
        if (!zero_copy || status != COLL_ERR_CAPABILITY)
            return status;
    }
    k = coll_i_admit(r, a);
    r->slots[k].handle.word[0] = r->slots[k].handle.word[1] = 0;
    return coll_i_launch(r, k);
}

/* Sends or receives a message of a run at once: as trade of its transport, or, with COLL_STARTED, as
 * send and recv. Where the function itself is known, it is part of what calls it. */
typedef coll_status (*coll_trade_with)(const coll_task *run, bool sends, uint32_t peer,
                                       void *buf, size_t bytes, coll_handle *h);
/* settle of a transport, likewise. */
typedef coll_status (*coll_settle_with)(void *ctx, bool give_up);

COLL_INLINE coll_status coll_i_trade(const coll_task *run, bool sends, uint32_t peer, void *buf,
                                     size_t bytes, coll_handle *h)
{
    (void)h;
    return run->transport->trade(run->ctx, sends, peer, run->tag, buf, bytes);
}

/* Runs an action that is written out while the window is empty, without a look at the engine, if it
 * is a copy, or a message that may be traded: what is sent (`sends`), what is received (`waits`).
 * COLL_AGAIN: it is not, nor was anything done. COLL_STARTED: its message was. */
COLL_HOT_INLINE coll_status coll_i_at_once(const coll_task *run, const coll_action *a,
                                           coll_trade_with trade, bool sends, bool waits,
                                           coll_handle *h)
{
    const uint32_t peer = coll_group_outer(&run->plan->group, a->peer);
    const bool token = coll_i_has(COLL_I_TOKENS, a);
    const size_t bytes = COLL_LIKELY(!token) ? a->count * run->plan->problem.elem_bytes : 0;
    if (coll_i_has(COLL_I_KIND(SEND) | COLL_I_KIND(NOTIFY), a)) {
        const void *buf = COLL_LIKELY(!token) ? coll_i_source(run, a->src) : NULL;
        return sends ? trade(run, true, peer, (void *)(uintptr_t)buf, bytes, h) : COLL_AGAIN;
    }
    if (coll_i_has(COLL_I_RECEIVES, a)) {
        const bool merges = a->kind == COLL_DO_RECV_REDUCE;
        void *buf = COLL_LIKELY(!token) ? coll_i_target(run, merges ? a->via : a->dst) : NULL;
        const coll_status status = waits ? trade(run, false, peer, buf, bytes, h) : COLL_AGAIN;
        if (status == COLL_OK && merges)
            coll_i_merge_staged(run, a);
        return status;
    }
    if (a->kind != COLL_DO_COPY || run->transport->copy)
        return COLL_AGAIN;
    if (a->dst != a->src)
        COLL_COPY(coll_i_target(run, a->dst), coll_i_source(run, a->src), bytes);
    return COLL_OK;
}

/* Takes actions that are written out into the window while there is room, as coll_i_fill does. */
COLL_INLINE coll_status coll_i_follow(coll_engine *r)
{
    const coll_task *run = r->run;
    const coll_schedule *schedule = run->schedule;
    const coll_transport *t = run->transport;
    const size_t patient = !t->trade                      ? r->steps
                           : t->settle && schedule->brief ? 0
                                                          : schedule->patient;
    const uint32_t all = coll_i_all(r);
    const coll_status moved = r->step < r->steps && r->free ? COLL_OK : COLL_AGAIN;
    for (; r->step < r->steps && r->free; r->step++) {
        const coll_action *a = &schedule->actions[r->step];
        const bool waits = r->step >= patient;
        coll_status status = COLL_AGAIN;
        if (r->free == all)
            status = coll_i_at_once(run, a, coll_i_trade, t->settle ? schedule->apart : waits,
                                    waits, NULL);
        if (status == COLL_AGAIN)
            status = coll_i_enter(r, a);
        if (status < 0)
            return status;
    }
    return moved;
}

/* Takes steps into the window while there is room, starting at once what can start. */
COLL_INLINE coll_status coll_i_fill(coll_engine *r)
{
    const coll_task *run = r->run;
    coll_action acts[COLL_STEP_MAX];
    coll_status moved = COLL_AGAIN;
    if (COLL_TRADES && run->schedule)
        return coll_i_follow(r);
    while (r->step < r->steps && r->free) {
        const uint32_t n = coll_plan_step(run->plan, run->rank, r->step, acts);
        uint32_t i = r->skip;
        for (; i < n && r->free; i++) {
            const coll_status status = acts[i].count == 0 ? COLL_OK : coll_i_enter(r, &acts[i]);
            if (status < 0)
                return status;
        }
        moved = COLL_OK;
        r->skip = (uint8_t)(i < n ? i : 0);
        if (i == n)
            r->step++;
    }
    return moved;
}

/* What was traded is over, or given up. */
COLL_INLINE coll_status coll_i_settle(const coll_task *run, bool give_up)
{
    return COLL_TRADES && run->schedule && run->transport->settle
               ? run->transport->settle(run->ctx, give_up)
               : COLL_OK;
}

/* Ends the engine with an error: tells the peers, then cancels what is in flight. In this
 * order, no peer finds a message missing and takes the next one for it before it knows why. */
COLL_INLINE void coll_i_fail(coll_engine *r, coll_status status)
{
    const coll_transport *t = r->run->transport;
    if (t->abort && status != COLL_ERR_PEER)
        t->abort(r->run->ctx, r->run->tag, 1);
    for (; r->flying; r->flying &= r->flying - 1)
        if (t->cancel)
            t->cancel(r->run->ctx, &r->slots[COLL_LOWEST_BIT(r->flying)].handle);
    (void)coll_i_settle(r->run, true);
    r->status = status;
}

/* All actions are over. */
COLL_INLINE coll_status coll_i_end(coll_engine *r)
{
    const coll_status status = coll_i_settle(r->run, false);
    if (status < 0)
        coll_i_fail(r, status);
    else
        r->status = COLL_OK;
    return r->status;
}

#endif /* COLL_EXECUTOR_LAUNCH_H */
