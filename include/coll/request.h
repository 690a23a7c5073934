/* coll/request.h — the window executor: runs one rank's part of a plan over a transport
 *
 *   coll_slot slots[8];                      // the window: actions in flight
 *   coll_request request;
 *   coll_request_init(&request, slots, 8);
 *   coll_run run = {0};                      // what to run, on which memory; stays the caller's
 *   run.plan = &plan; run.rank = me; run.transport = &mine; run.ctx = my_context; …
 *   coll_status status = coll_request_start(&request, &run);
 *   if (status == COLL_OK)
 *       status = coll_request_wait(&request);
 *
 * The actions of a rank are a sequential program (action.h). The request finds the parallelism
 * in it: an action enters a slot in program order and starts when no older unfinished action
 * conflicts with it (one writes what the other reads or writes), and sends, as well as
 * receives, of one peer start in order. RECV_REDUCE starts to receive when its staging is free,
 * and combines when its operands are.
 *
 * Memory: the request, its slots and the run, all the caller's; nothing grows with p. Nothing here
 * allocates. start and progress never block; wait does. One thread at a time may use a request.
 */
#ifndef COLL_REQUEST_H
#define COLL_REQUEST_H

#include "window.h"

/* What to run. Filled in by the caller, who keeps it, and all it points to, until the request
 * is done. */
typedef struct coll_run {
    const coll_plan *plan;
    const coll_transport *transport;
    void *ctx;         /* the transport's */
    const coll_op *op; /* NULL where nothing is reduced */
    const void *in;    /* extents: coll_plan_extents; NULL where there are none */
    void *out;
    void *scratch; /* at least coll_plan_scratch elements */
    void *shared;  /* at least coll_plan_shared elements, the same on all ranks of a node */
    size_t scratch_bytes, shared_bytes;
    uint32_t rank; /* in the plan's group */
    uint32_t tag;  /* the same on all ranks, of no other collective that is running */
} coll_run;

/* ---- refs to memory ---------------------------------------------------------------------- */

COLL_INLINE unsigned char *coll_i_target(const coll_run *run, coll_ref ref)
{
    const size_t at = coll_ref_offset(ref) * run->plan->problem.elem_bytes;
    const coll_space space = coll_ref_space(ref);
    void *base = space == COLL_OUT       ? run->out
                 : space == COLL_SCRATCH ? run->scratch
                                         : run->shared;
    return (unsigned char *)base + at;
}

COLL_INLINE const unsigned char *coll_i_source(const coll_run *run, coll_ref ref)
{
    if (coll_ref_space(ref) == COLL_IN)
        return (const unsigned char *)run->in +
               coll_ref_offset(ref) * run->plan->problem.elem_bytes;
    return coll_i_target(run, ref);
}

/* ---- operations of a slot ---------------------------------------------------------------- */

/* dst = src ⊕ operands on this processor, in one sweep of memory: in chunks that stay in the
 * cache. */
COLL_INLINE void coll_i_reduce(const coll_run *run, const coll_action *a)
{
    const size_t elem_bytes = run->plan->problem.elem_bytes;
    const size_t chunk = a->inputs > 1 ? 4096 / elem_bytes + 1 : a->count;
    unsigned char *dst = coll_i_target(run, a->dst);
    const unsigned char *src = coll_i_source(run, a->src), *via = coll_i_source(run, a->via);
    for (size_t done = 0; done < a->count; done += chunk) {
        const size_t n = a->count - done < chunk ? a->count - done : chunk,
                     at = done * elem_bytes;
        run->op->combine(dst + at, src + at, via + at, n, run->op->arg);
        for (uint32_t i = 1; i < a->inputs; i++)
            run->op->combine(dst + at, dst + at, via + at + i * a->stride * elem_bytes, n,
                             run->op->arg);
    }
}

/* Bytes of an action's message. */
COLL_INLINE size_t coll_i_bytes(const coll_run *run, const coll_action *a)
{
    return coll_i_has(COLL_I_TOKENS, a) ? 0 : a->count * run->plan->problem.elem_bytes;
}

/* dst = src ⊕ message, or message ⊕ src, of n elements from byte `at` of the vectors on. */
COLL_INLINE void coll_i_merge_chunk(const coll_run *run, const coll_action *a,
                                    const void *message, size_t at, size_t n)
{
    const void *src = coll_i_source(run, a->src) + at;
    const bool left = (a->flags & COLL_LEFT) != 0;
    run->op->combine(coll_i_target(run, a->dst) + at, left ? message : src,
                     left ? src : message, n, run->op->arg);
}

/* The same for a message, or for `bytes` of it from byte `done` on. What another processor has just
 * written comes slowly: while one chunk of it is combined, the next is on its way. Of longer
 * vectors most is elsewhere by then, and chunks would only disturb. */
COLL_INLINE void coll_i_merge(const coll_run *run, const coll_action *a,
                              const unsigned char *message, size_t done, size_t bytes)
{
    enum { CHUNK = 2048, LINE = 64, LONG = 1 << 19 };
    const size_t elem_bytes = run->plan->problem.elem_bytes, whole = coll_i_bytes(run, a);
    size_t chunk;
    if (bytes <= 2 * CHUNK || whole > LONG) {
        coll_i_merge_chunk(run, a, message, done,
                           bytes == whole ? a->count : bytes / elem_bytes);
        return;
    }
    chunk = elem_bytes < CHUNK ? CHUNK / elem_bytes * elem_bytes : elem_bytes;
    for (size_t at = 0, asked = 0; at < bytes; at += chunk) {
        for (; asked < bytes && asked < at + 2 * chunk; asked += LINE)
            COLL_PREFETCH(message + asked);
        coll_i_merge_chunk(run, a, message + at, done + at,
                           (bytes - at < chunk ? bytes - at : chunk) / elem_bytes);
    }
}

/* Bytes of the next piece of a message of which `bytes` are left. */
COLL_INLINE size_t coll_i_piece(const coll_run *run, size_t bytes)
{
    const size_t most = run->transport->max_bytes;
    return most != 0 && bytes > most ? most : bytes;
}

/* Has the action, after the operation that runs now, others to start? A long message has
 * pieces; and a transport reduces one operand at a time. */
COLL_INLINE bool coll_i_is_cut(const coll_run *run, const coll_action *a)
{
    if (a->kind == COLL_DO_REDUCE)
        return a->inputs > 1;
    return run->transport->max_bytes != 0 && coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, a) &&
           coll_i_bytes(run, a) - a->stride > run->transport->max_bytes;
}

/* Can the action's message be borrowed: whole, or piece by piece, if these end with an element? */
COLL_INLINE bool coll_i_is_lent(const coll_run *run, const coll_action *a)
{
    const coll_transport *t = run->transport;
    const size_t bytes = coll_i_bytes(run, a), piece = coll_i_piece(run, bytes);
    const size_t within = run->plan->problem.elem_bytes - 1;
    return t->borrow && (t->max_lent == 0 || piece <= t->max_lent) &&
           (piece == bytes || ((within & (within + 1)) | (piece & within)) == 0);
}

/* Starts an action's operation, or its next piece. */
COLL_INLINE coll_status coll_i_begin(const coll_run *run, coll_action *a, coll_handle *h)
{
    const coll_transport *t = run->transport;
    const uint32_t peer = coll_group_outer(&run->plan->group, a->peer);
    const size_t bytes = coll_i_bytes(run, a), done = a->stride;
    const size_t piece = coll_i_piece(run, bytes - done);
    const bool token = coll_i_has(COLL_I_TOKENS, a);
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
    case COLL_DO_FABRIC_REDUCE: {
        coll_team team;
        team.number = a->peer;
        team.members = (uint32_t)a->stride;
        return t->fabric_reduce(run->ctx, run->tag, team, run->op, coll_i_target(run, a->dst),
                                coll_i_source(run, a->src), a->count,
                                run->plan->problem.elem_bytes, h);
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
        coll_i_reduce(run, a);
        a->inputs = 1;
        return COLL_OK;
    case COLL_KINDS:
        break;
    }
    return COLL_ERR_STATE;
}

/* One operation of slot k is done. Is there another to start for the same action? */
COLL_INLINE bool coll_i_goes_on(coll_request *r, uint32_t k)
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
COLL_INLINE void coll_i_combine(coll_request *r, uint32_t k)
{
    const coll_action *a = &r->slots[k].act;
    coll_i_merge(r->run, a, coll_i_source(r->run, a->via), 0, coll_i_bytes(r->run, a));
    coll_i_finish(r, k);
}

/* All operations of slot k are done. */
COLL_INLINE void coll_i_complete(coll_request *r, uint32_t k)
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
COLL_INLINE coll_status coll_i_borrow(coll_request *r, uint32_t k)
{
    const coll_run *run = r->run;
    coll_slot *slot = &r->slots[k];
    coll_action *a = &slot->act;
    const uint32_t peer = coll_group_outer(&run->plan->group, a->peer);
    const size_t bytes = coll_i_bytes(run, a), before = a->stride;
    while (a->stride < bytes) {
        const size_t piece = coll_i_piece(run, bytes - a->stride);
        const void *message = NULL;
        const coll_status status =
            run->transport->borrow(run->ctx, peer, run->tag, piece, &message, &slot->handle);
        if (status == COLL_AGAIN && a->stride != before) {
            r->ready |= (uint32_t)1 << k;
            return COLL_OK;
        }
        if (status != COLL_OK)
            return status;
        coll_i_merge(run, a, (const unsigned char *)message, a->stride, piece);
        run->transport->give_back(run->ctx, &slot->handle);
        slot->handle.word[0] = slot->handle.word[1] = 0;
        a->stride += piece;
        a->flags |= COLL_I_LENT;
    }
    coll_i_finish(r, k);
    return COLL_OK;
}

/* Starts what of slot k can start. COLL_OK: it moved. COLL_AGAIN: it did not, and stays `ready`
 * only if that is because the transport had no room, or no message yet. */
COLL_INLINE coll_status coll_i_launch(coll_request *r, uint32_t k)
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
    if (slot->act.kind == COLL_DO_RECV_REDUCE && coll_i_is_lent(r->run, &slot->act) &&
        !(r->flying & bit) && (slot->act.stride == 0 || (slot->act.flags & COLL_I_LENT))) {
        if (slot->hold == 0 && slot->order == 0) {
            status = coll_i_borrow(r, k);
            if (status == COLL_AGAIN)
                r->ready |= bit;
            return status;
        }
        if (slot->hold == 0 || (!(slot->act.flags & COLL_I_STAGE) && r->idle < COLL_I_PATIENCE))
            return COLL_AGAIN;
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
COLL_INLINE coll_status coll_i_poll(coll_request *r, uint32_t k)
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

/* Starts an action while the window is empty: there is nothing to wait for. If it is over at once,
 * as short messages are that can be sent without waiting, it never takes its slot. */
COLL_INLINE coll_status coll_i_start_alone(coll_request *r, coll_action *a)
{
    const uint32_t k = COLL_LOWEST_BIT(r->free), bit = (uint32_t)1 << k;
    coll_slot *slot = &r->slots[k];
    coll_status status;
    slot->handle.word[0] = slot->handle.word[1] = 0;
    status = coll_i_begin(r->run, a, &slot->handle);
    if (status == COLL_OK && a->kind == COLL_DO_RECV_REDUCE)
        coll_i_merge(r->run, a, coll_i_source(r->run, a->via), 0, coll_i_bytes(r->run, a));
    if (status <= COLL_OK)
        return status;
    (void)coll_i_admit(r, a);
    if (status == COLL_AGAIN) {
        r->ready |= bit;
    } else {
        r->pending &= ~bit;
        r->flying |= bit;
    }
    return COLL_OK;
}

/* Takes an action into the window, and starts it if it can start. */
COLL_INLINE coll_status coll_i_enter(coll_request *r, coll_action *a)
{
    const bool waits = a->kind == COLL_DO_RECV_REDUCE && coll_i_is_lent(r->run, a);
    uint32_t k;
    if (r->free == coll_i_all(r) && !waits && !coll_i_is_cut(r->run, a))
        return coll_i_start_alone(r, a);
    k = coll_i_admit(r, a);
    r->slots[k].handle.word[0] = r->slots[k].handle.word[1] = 0;
    return coll_i_launch(r, k);
}

/* The last messages of this rank, while the window is empty: the first of the n actions that are
 * left, which sends or receives, or the first two, which do one and then the other. *taken: how
 * many the transport took. To wait for them holds nobody up: what is left then happens here alone. */
COLL_INLINE coll_status coll_i_trade_alone(coll_request *r, const coll_action *acts, uint32_t n,
                                           uint32_t *taken)
{
    const coll_run *run = r->run;
    const bool sends = coll_i_has(COLL_I_KIND(SEND) | COLL_I_KIND(NOTIFY), acts);
    const coll_action *in = sends ? acts + 1 : acts;
    const bool receives = (!sends || n > 1) && coll_i_has(COLL_I_RECEIVES, in) && in->count > 0;
    const uint32_t first = (uint32_t)sends + (uint32_t)receives;
    const bool merges = receives && in->kind == COLL_DO_RECV_REDUCE;
    coll_trade trade;
    coll_status status;
    *taken = 0;
    for (uint32_t i = first; i < n; i++)
        if (coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES | COLL_I_KIND(FABRIC_REDUCE), &acts[i]))
            return COLL_AGAIN;
    if (first == 0 || (first == 2 && coll_i_overlap(merges ? in->via : in->dst, in->count,
                                                    acts->src, acts->count)))
        return COLL_AGAIN;
    trade.to = trade.from = COLL_NOBODY;
    trade.src = NULL;
    trade.dst = NULL;
    trade.src_bytes = trade.dst_bytes = 0;
    if (sends) {
        trade.to = coll_group_outer(&run->plan->group, acts->peer);
        trade.src_bytes = coll_i_bytes(run, acts);
        if (trade.src_bytes > 0)
            trade.src = coll_i_source(run, acts->src);
    }
    if (receives) {
        trade.from = coll_group_outer(&run->plan->group, in->peer);
        trade.dst_bytes = coll_i_bytes(run, in);
        if (trade.dst_bytes > 0)
            trade.dst = coll_i_target(run, merges ? in->via : in->dst);
    }
    status = run->transport->trade(run->ctx, run->tag, &trade);
    if (status == COLL_OK) {
        *taken = first;
        if (merges)
            coll_i_merge(run, in, coll_i_source(run, in->via), 0, trade.dst_bytes);
    }
    return status;
}

/* Takes steps into the window while there is room, starting at once what can start. */
COLL_INLINE coll_status coll_i_fill(coll_request *r)
{
    const coll_run *run = r->run;
    coll_action acts[COLL_STEP_MAX];
    coll_status moved = COLL_AGAIN;
    while (r->step < r->steps && r->free) {
        const uint32_t n = coll_plan_step(run->plan, run->rank, r->step, acts);
        const bool ends = COLL_TRADES && run->transport->trade && r->step + 1 == r->steps;
        uint32_t i = r->skip;
        for (; i < n && r->free; i++) {
            coll_status status = COLL_AGAIN;
            uint32_t taken = 0;
            if (acts[i].count == 0)
                continue;
            if (ends && r->free == coll_i_all(r))
                status = coll_i_trade_alone(r, &acts[i], n - i, &taken);
            if (taken > 0)
                i += taken - 1;
            else if (status == COLL_AGAIN)
                status = coll_i_enter(r, &acts[i]);
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

/* Ends the request with an error: tells the peers, then cancels what is in flight. In this
 * order, no peer finds a message missing and takes the next one for it before it knows why. */
COLL_INLINE void coll_i_fail(coll_request *r, coll_status status)
{
    const coll_transport *t = r->run->transport;
    if (t->abort && status != COLL_ERR_PEER)
        t->abort(r->run->ctx, r->run->tag);
    for (; r->flying; r->flying &= r->flying - 1)
        if (t->cancel)
            t->cancel(r->run->ctx, &r->slots[COLL_LOWEST_BIT(r->flying)].handle);
    r->status = status;
}

/* ---- the request ------------------------------------------------------------------------- */

/* Gives the request its window: 1 … 32 slots, the caller's as long as the request is used. */
COLL_INLINE coll_status coll_request_init(coll_request *r, coll_slot *slots, uint32_t window)
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
COLL_INLINE coll_status coll_run_check(const coll_run *run, uint32_t window)
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
    if (window < run->plan->window)
        return COLL_ERR_WINDOW;
    if (((run->plan->traits & COLL_NEEDS_MULTICAST) && !run->transport->multicast) ||
        ((run->plan->traits & COLL_NEEDS_FABRIC_REDUCE) && !run->transport->fabric_reduce))
        return COLL_ERR_CAPABILITY;
    if (coll_is(COLL_REDUCING, run->plan->problem.collective)) {
        if (!run->op || !run->op->combine)
            return COLL_ERR_OP;
        if (!run->op->commutative && (run->plan->problem.flags & COLL_COMMUTATIVE))
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
COLL_INLINE bool coll_request_only_waits(const coll_request *r)
{
    return r->step == r->steps && r->pending == 0;
}

/* Moves the collective on without blocking. COLL_OK: it is done and the buffers are the caller's;
 * COLL_AGAIN: not yet; < 0: it failed, OUT and SCRATCH are undefined, all else is untouched. */
COLL_INLINE coll_status coll_request_progress(coll_request *r)
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
        r->status = COLL_OK;
    return r->status;
}

/* Starts, without looking at them, a request that is not running and a run that coll_run_check has
 * passed before, as it is now but for other buffers of the same sizes and another tag: for those
 * who have checked it, or start it again and again. Else as coll_request_start. */
COLL_INLINE coll_status coll_request_start_checked(coll_request *r, const coll_run *run)
{
    coll_status status;
    r->run = run;
    r->step = 0;
    r->steps = coll_plan_steps(run->plan, run->rank);
    r->free = coll_i_all(r);
    r->pending = r->ready = r->flying = r->landed = r->apart = r->idle = 0;
    r->skip = 0;
    r->status = COLL_AGAIN;
    status = coll_request_progress(r);
    return status < 0 ? status : COLL_OK;
}

/* Starts the collective on this rank. COLL_OK: it is under way (or done). An error of
 * coll_run_check, or COLL_ERR_BUSY: nothing was started. Any other: it failed at once, as
 * progress says. The run stays the caller's and must not change until the request is done. */
COLL_INLINE coll_status coll_request_start(coll_request *r, const coll_run *run)
{
    coll_status status;
    if (!r || !r->slots)
        return COLL_ERR_NULL;
    if (r->status == COLL_AGAIN)
        return COLL_ERR_BUSY;
    status = COLL_CHECKS ? coll_run_check(run, r->window) : COLL_OK;
    return status == COLL_OK ? coll_request_start_checked(r, run) : status;
}

/* Blocks until the collective is done or failed. */
COLL_INLINE coll_status coll_request_wait(coll_request *r)
{
    coll_status status;
    while ((status = coll_request_progress(r)) == COLL_AGAIN)
        if (r->run->transport->wait)
            r->run->transport->wait(r->run->ctx, r->idle);
    return status;
}

/* Gives up a running collective; its status is COLL_ERR_CANCELLED from then on. Other ranks
 * learn of it if the transport can abort. Returns COLL_ERR_STATE if it was not running. */
COLL_INLINE coll_status coll_request_cancel(coll_request *r)
{
    if (r->status != COLL_AGAIN)
        return COLL_ERR_STATE;
    coll_i_fail(r, COLL_ERR_CANCELLED);
    return COLL_OK;
}

#endif /* COLL_REQUEST_H */
