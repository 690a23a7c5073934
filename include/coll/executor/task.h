/* coll/executor/task.h — what an engine runs, on which memory and over what: one action of it at a time
 *
 * Both engines issue actions by the one dispatcher at the end. Use executor.h or executor/in_order.h.
 */
#ifndef COLL_EXECUTOR_TASK_H
#define COLL_EXECUTOR_TASK_H

#include "../transport.h"
#include "schedule.h"

/* What to run. An engine copies it as it starts; all that it points to stays the caller's, and as it
 * is, until the engine is done. */
typedef struct coll_task {
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
    /* The rank's actions, written out; NULL: by the plan's steps. */
    const coll_schedule *schedule;
} coll_task;

/* A clock of the caller's, in any unit; it does not go back. */
typedef struct coll_clock {
    uint64_t (*now)(void *arg);
    void *arg;
} coll_clock;

/* Has it come to the deadline? NULL: there is none. */
COLL_INLINE bool coll_i_clock_is_over(const coll_clock *clock, uint64_t deadline)
{
    return clock && clock->now(clock->arg) >= deadline;
}

/* ---- refs to memory ---------------------------------------------------------------------- */

COLL_INLINE unsigned char *coll_i_task_target(const coll_task *task, coll_ref ref)
{
    const size_t at = coll_ref_offset(ref) * task->plan->problem.elem_bytes;
    const coll_space space = coll_ref_space(ref);
    void *base = COLL_LIKELY(space == COLL_OUT) ? task->out
                 : space == COLL_SCRATCH        ? task->scratch
                                                : task->shared;
    return (unsigned char *)base + at;
}

COLL_INLINE const unsigned char *coll_i_task_source(const coll_task *task, coll_ref ref)
{
    if (COLL_LIKELY(coll_ref_space(ref) == COLL_IN))
        return (const unsigned char *)task->in +
               coll_ref_offset(ref) * task->plan->problem.elem_bytes;
    return coll_i_task_target(task, ref);
}

/* ---- operations of a slot ---------------------------------------------------------------- */

/* dst = src ⊕ the operands on this processor, in one sweep of memory: in chunks that stay in the
 * cache. */
COLL_INLINE void coll_i_task_reduce(const coll_task *task, const coll_action *a)
{
    const uint32_t inputs = a->inputs;
    const size_t elem_bytes = task->plan->problem.elem_bytes;
    const size_t chunk = inputs > 1 ? 4096 / elem_bytes + 1 : a->count;
    unsigned char *dst = coll_i_task_target(task, a->dst);
    const unsigned char *src = coll_i_task_source(task, a->src),
                        *via = coll_i_task_source(task, a->via);
    for (size_t done = 0; done < a->count; done += chunk) {
        const size_t n = a->count - done < chunk ? a->count - done : chunk,
                     at = done * elem_bytes;
        task->op->combine(dst + at, src + at, via + at, n, task->op->arg);
        for (uint32_t i = 1; i < inputs; i++)
            task->op->combine(dst + at, dst + at, via + at + i * a->stride * elem_bytes, n,
                              task->op->arg);
    }
}

/* Bytes of an action's message. */
COLL_INLINE size_t coll_i_task_bytes(const coll_task *task, const coll_action *a)
{
    return coll_i_is_token(a) ? 0 : a->count * task->plan->problem.elem_bytes;
}

/* dst = src ⊕ message, or message ⊕ src, of n elements from byte `at` of the vectors on. */
COLL_INLINE void coll_i_task_merge_chunk(const coll_task *task, const coll_action *a,
                                         const void *message, size_t at, size_t n)
{
    const void *src = coll_i_task_source(task, a->src) + at;
    const bool left = (a->flags & COLL_LEFT) != 0;
    task->op->combine(coll_i_task_target(task, a->dst) + at, left ? message : src,
                      left ? src : message, n, task->op->arg);
}

/* The same for `bytes` of a long message from byte `done` on. What another processor has just
 * written comes slowly: while one chunk of it is combined, the next is on its way. */
COLL_INLINE void coll_i_task_merge_chunks(const coll_task *task, const coll_action *a,
                                          const unsigned char *message, size_t done,
                                          size_t bytes, size_t most)
{
    enum { LINE = 64 };
    const size_t elem_bytes = task->plan->problem.elem_bytes;
    const size_t chunk = elem_bytes < most ? most / elem_bytes * elem_bytes : elem_bytes;
    for (size_t at = 0, asked = 0; at < bytes; at += chunk) {
        for (; asked < bytes && asked < at + 2 * chunk; asked += LINE)
            COLL_PREFETCH(message + asked);
        coll_i_task_merge_chunk(task, a, message + at, done + at,
                                (bytes - at < chunk ? bytes - at : chunk) / elem_bytes);
    }
}

/* The same for a message that is acquired, or for `bytes` of it from byte `done` on. Of the
 * longest vectors most is not in the other processor's cache any more, and chunks would only
 * disturb. */
COLL_HOT_INLINE void coll_i_task_merge(const coll_task *task, const coll_action *a,
                                       const unsigned char *message, size_t done, size_t bytes)
{
    enum { CHUNK = 2048, LONG = 1 << 19 };
    const size_t whole = coll_i_task_bytes(task, a);
    if (bytes <= 2 * CHUNK || whole > LONG)
        coll_i_task_merge_chunk(task, a, message, done,
                                bytes == whole ? a->count
                                               : bytes / task->plan->problem.elem_bytes);
    else
        coll_i_task_merge_chunks(task, a, message, done, bytes, CHUNK);
}

/* Whose limits hold for an action's message. */
COLL_INLINE const coll_transport *coll_i_task_route(const coll_task *task, const coll_action *a)
{
    const coll_transport *t = task->transport;
    if (!COLL_ROUTES || !t->routes || !coll_i_has_peer(a))
        return t;
    return t->routes->to(task->ctx, coll_group_outer(&task->plan->group, a->peer));
}

/* Is an action's message, of which `bytes` are left, sent in pieces? */
COLL_INLINE bool coll_i_task_is_long(const coll_task *task, const coll_action *a, size_t bytes)
{
    const coll_transport *t = coll_i_task_route(task, a);
    const coll_collective collective = task->plan->problem.collective;
    return coll_i_transport_cuts(t, collective, bytes) &&
           !coll_i_transport_is_whole_from(t, collective, coll_i_task_bytes(task, a));
}

/* Bytes of its next piece. */
COLL_INLINE size_t coll_i_task_piece(const coll_task *task, const coll_action *a, size_t bytes)
{
    return coll_i_task_is_long(task, a, bytes) ? coll_i_task_route(task, a)->max_bytes : bytes;
}

/* Is one operand reduced at a time? So does a transport, and small code. */
COLL_INLINE bool coll_i_task_reduces_one(const coll_task *task)
{
    return COLL_SMALL || task->transport->reduce;
}

/* Has the action, after the operation that runs now, others to start? A long message has
 * pieces, and a reduction operands. */
COLL_INLINE bool coll_i_task_is_cut(const coll_task *task, const coll_action *a)
{
    if (a->kind == COLL_DO_REDUCE)
        return a->inputs > 1 && coll_i_task_reduces_one(task);
    return coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, a) &&
           coll_i_task_is_long(task, a, coll_i_task_bytes(task, a) - a->stride);
}

/* Do the pieces of a message end with an element? Or is it whole? */
COLL_INLINE bool coll_i_task_has_elements(const coll_task *task, size_t bytes, size_t piece)
{
    const size_t within = task->plan->problem.elem_bytes - 1;
    return piece == bytes || ((within & (within + 1)) | (piece & within)) == 0;
}

/* Has a message of so many bytes no address, surely, but can be read? */
COLL_INLINE bool coll_i_task_is_read(const coll_task *task, const coll_zero_copy *z,
                                     size_t bytes)
{
    return z->read && z->max_bytes != 0 && bytes > z->max_bytes &&
           coll_is(z->reads, task->plan->problem.collective);
}

/* Can the action's message be acquired: whole, or piece by piece, if these end with an element? It is
 * combined by this processor then. */
COLL_INLINE bool coll_i_task_is_zero_copy(const coll_task *task, const coll_action *a)
{
    const coll_transport *t = coll_i_task_route(task, a);
    const size_t bytes = coll_i_task_bytes(task, a), piece = coll_i_task_piece(task, a, bytes);
    return COLL_ZERO_COPY && t->zero_copy && !task->transport->reduce &&
           (t->zero_copy->max_bytes == 0 || piece <= t->zero_copy->max_bytes ||
            coll_i_task_is_read(task, t->zero_copy, piece)) &&
           (!t->zero_copy->read ||
            task->plan->problem.elem_bytes <= t->zero_copy->part_bytes) &&
           coll_i_task_has_elements(task, bytes, piece);
}

/* In flags of a RECV_REDUCE that an engine keeps: what is left of its message is received, and staged;
 * or the last operation combined it as it arrived. */
enum { COLL_I_TASK_RECEIVED = 0x08, COLL_I_TASK_ARRIVED = 0x10 };

/* Is the action's message, or what is left of it, to be combined as it arrives? */
COLL_INLINE bool coll_i_task_arrives(const coll_task *task, const coll_action *a)
{
    size_t bytes;
    if (!COLL_ARRIVAL || a->kind != COLL_DO_RECV_REDUCE || !task->transport->arrival ||
        (a->flags & COLL_I_TASK_RECEIVED))
        return false;
    bytes = coll_i_task_bytes(task, a);
    return coll_i_task_has_elements(task, bytes, coll_i_task_piece(task, a, bytes));
}

/* ---- one operation ----------------------------------------------------------------------- */

/* As send and recv of a transport. */
typedef coll_status (*coll_send_with)(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                      size_t bytes, coll_handle *h);
/* A receive in place of the transport's; likewise. */
typedef coll_status (*coll_recv_with)(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                      size_t bytes, coll_handle *h);

/* Combines the first two operands of a REDUCE: the transport, or this processor. */
COLL_INLINE coll_status coll_i_task_reduce_one(const coll_task *task, const coll_action *a,
                                               coll_handle *h)
{
    coll_reduce_call call;
    coll_status status = COLL_ERR_CAPABILITY;
    call.op = task->op;
    call.dst = coll_i_task_target(task, a->dst);
    call.a = coll_i_task_source(task, a->src);
    call.b = coll_i_task_source(task, a->via);
    call.count = a->count;
    call.elem_bytes = task->plan->problem.elem_bytes;
    if (task->transport->reduce)
        status = task->transport->reduce(task->ctx, &call, h);
    if (status != COLL_ERR_CAPABILITY)
        return status;
    task->op->combine(call.dst, call.a, call.b, call.count, task->op->arg);
    return COLL_OK;
}

/* dst = src: the transport, or this processor. */
COLL_INLINE coll_status coll_i_task_copy(const coll_task *task, const coll_action *a,
                                         size_t bytes, coll_handle *h)
{
    void *dst = coll_i_task_target(task, a->dst);
    const void *src = coll_i_task_source(task, a->src);
    coll_status status = COLL_ERR_CAPABILITY;
    if (task->transport->copy)
        status = task->transport->copy(task->ctx, dst, src, bytes, h);
    if (status != COLL_ERR_CAPABILITY)
        return status;
    COLL_COPY(dst, src, bytes);
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_task_network_reduce(const coll_task *task, const coll_action *a,
                                                   coll_handle *h)
{
    const bool token = (a->flags & COLL_NETWORK_BARRIER) != 0;
    coll_network_call call;
    call.tag = task->tag;
    call.group.number = a->peer;
    call.group.members = (uint32_t)a->stride;
    call.is_member = task->plan->algorithm->is_member;
    call.of = task->plan;
    call.op = task->op;
    call.dst = token ? NULL : coll_i_task_target(task, a->dst);
    call.src = token ? NULL : coll_i_task_source(task, a->src);
    call.count = token ? 0 : a->count;
    call.elem_bytes = task->plan->problem.elem_bytes;
    return task->transport->in_network->reduce(task->ctx, &call, h);
}

/* Starts an action's operation, or its next one, with `send` and `recv` for messages. */
COLL_HOT_INLINE coll_status coll_i_task_issue_with(const coll_task *task, const coll_action *a,
                                                   coll_send_with send, coll_recv_with recv,
                                                   coll_handle *h)
{
    const coll_transport *t = task->transport;
    const uint32_t peer =
        coll_i_has_peer(a) ? coll_group_outer(&task->plan->group, a->peer) : COLL_RANK_NONE;
    const bool token = coll_i_is_token(a);
    const size_t bytes = coll_i_task_bytes(task, a), done = a->stride;
    const size_t piece = coll_i_task_piece(task, a, bytes - done);
    h->word[0] = h->word[1] = 0;
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
    case COLL_DO_NOTIFY:
        return send(task->ctx, peer, task->tag,
                    token ? NULL : coll_i_task_source(task, a->src) + done, piece, h);
    case COLL_DO_RECV:
    case COLL_DO_AWAIT:
    case COLL_DO_RECV_REDUCE: {
        const coll_ref to = a->kind == COLL_DO_RECV_REDUCE ? a->via : a->dst;
        return recv(task->ctx, peer, task->tag,
                    token ? NULL : coll_i_task_target(task, to) + done, piece, h);
    }
    case COLL_DO_MULTICAST:
        if (!COLL_IN_NETWORK)
            break;
        return t->in_network->multicast(task->ctx, task->tag,
                                        coll_i_task_source(task, a->src) + done, piece, h);
    case COLL_DO_NETWORK_REDUCE:
        if (!COLL_IN_NETWORK)
            break;
        return coll_i_task_network_reduce(task, a, h);
    case COLL_DO_COPY:
        return a->dst == a->src ? COLL_OK : coll_i_task_copy(task, a, bytes, h);
    case COLL_DO_REDUCE:
        if (coll_i_task_reduces_one(task))
            return coll_i_task_reduce_one(task, a, h);
        coll_i_task_reduce(task, a);
        return COLL_OK;
    case COLL_KINDS:
        break;
    }
    return COLL_ERR_STATE;
}

/* Receives a message, or its next piece, into the reduction. COLL_AGAIN, too, if the transport does not
 * combine it: then what is left becomes an action of its own, which receives. */
COLL_INLINE coll_status coll_i_task_arrive(const coll_task *task, coll_action *a,
                                           coll_handle *h)
{
    const size_t elem_bytes = task->plan->problem.elem_bytes, done = a->stride;
    coll_arrival_call call;
    coll_status status;
    call.peer = coll_group_outer(&task->plan->group, a->peer);
    call.tag = task->tag;
    call.op = task->op;
    call.dst = coll_i_task_target(task, a->dst) + done;
    call.operand = coll_i_task_source(task, a->src) + done;
    call.count = coll_i_task_piece(task, a, coll_i_task_bytes(task, a) - done) / elem_bytes;
    call.elem_bytes = elem_bytes;
    call.left = (a->flags & COLL_LEFT) != 0;
    h->word[0] = h->word[1] = 0;
    a->flags |= COLL_I_TASK_ARRIVED;
    status = task->transport->arrival->recv_reduce(task->ctx, &call, h);
    if (status != COLL_ERR_CAPABILITY)
        return status;
    a->flags ^= COLL_I_TASK_ARRIVED | COLL_I_TASK_RECEIVED;
    a->dst += done / elem_bytes;
    a->src += done / elem_bytes;
    a->via += done / elem_bytes;
    a->count -= done / elem_bytes;
    a->stride = 0;
    return COLL_AGAIN;
}

/* The same with those of the transport, for an action that an engine keeps: a message that arrives in a
 * reduction is combined there, so its operands are ready. */
COLL_INLINE coll_status coll_i_task_issue(const coll_task *task, coll_action *a, coll_handle *h)
{
    return coll_i_task_arrives(task, a) ? coll_i_task_arrive(task, a, h)
                                        : coll_i_task_issue_with(task, a, task->transport->send,
                                                                 task->transport->recv, h);
}

/* Makes of a RECV_REDUCE whose message is staged the REDUCE that is left of it. */
COLL_INLINE void coll_i_task_stage(coll_action *a)
{
    const coll_ref message = a->via;
    a->kind = COLL_DO_REDUCE;
    a->inputs = 1;
    a->stride = 0;
    if (a->flags & COLL_LEFT) {
        a->via = a->src;
        a->src = message;
    }
}

/* An operation of an action is over. Is another left? Then *a becomes that one. */
COLL_INLINE bool coll_i_task_next(const coll_task *task, coll_action *a)
{
    if (!coll_i_task_is_cut(task, a)) {
        if (a->kind != COLL_DO_RECV_REDUCE ||
            (COLL_ARRIVAL && (a->flags & COLL_I_TASK_ARRIVED)))
            return false;
        coll_i_task_stage(a);
    } else if (a->kind == COLL_DO_REDUCE) {
        a->inputs--;
        a->src = a->dst;
        a->via += a->stride;
    } else {
        a->stride += coll_i_task_route(task, a)->max_bytes;
    }
    return true;
}

/* dst = src ⊕ the message that a RECV_REDUCE has just staged, by this processor. */
COLL_INLINE void coll_i_task_merge_staged(const coll_task *task, const coll_action *a)
{
    coll_i_task_merge_chunk(task, a, coll_i_task_source(task, a->via), 0, a->count);
}

/* ---- beginning and end ------------------------------------------------------------------- */

/* A task of a plan without buffers, memory and operator, with tag 0; the caller sets what it has. */
COLL_INLINE void coll_task_init(coll_task *task, const coll_plan *plan, uint32_t rank,
                                const coll_transport *transport, void *ctx)
{
    task->plan = plan;
    task->transport = transport;
    task->ctx = ctx;
    task->op = NULL;
    task->in = NULL;
    task->out = task->scratch = task->shared = NULL;
    task->scratch_bytes = task->shared_bytes = 0;
    task->rank = rank;
    task->tag = 0;
    task->schedule = NULL;
}

/* Is there memory for so many elements? */
COLL_I_APART bool coll_i_task_holds(const void *memory, size_t bytes, size_t elements,
                                    size_t elem_bytes)
{
    size_t needed;
    return (memory || bytes == 0) && coll_multiply(elements, elem_bytes, &needed) &&
           needed <= bytes;
}

/* Does the network do what the plan needs, for all ranks that it reaches? */
COLL_INLINE coll_status coll_i_task_check_network(const coll_task *task)
{
    const coll_in_network *network = coll_i_transport_network(task->transport);
    bool reduces;
    if (!network || ((task->plan->traits & COLL_NEEDS_MULTICAST) && !network->multicast) ||
        ((task->plan->traits & COLL_I_NEEDS_GROUP) && !network->reduce))
        return COLL_ERR_CAPABILITY;
    if (network->ranks && coll_i_plan_needs_all(task->plan, &reduces) &&
        network->ranks(task->ctx) != task->plan->problem.p)
        return COLL_ERR_GROUP;
    return COLL_OK;
}

/* Can this be started, by an engine with room enough for it? Of the transport it looks at what engines
 * call; coll_transport_check looks at all. */
COLL_INLINE coll_status coll_task_check(const coll_task *task)
{
    coll_status status;
    unsigned buffers = 0;
    size_t elem_bytes;
    if (!task || !task->plan || !task->transport)
        return COLL_ERR_NULL;
    if (!coll_i_transport_is_whole(task->transport))
        return COLL_ERR_TRANSPORT;
    status = coll_plan_check_rank(task->plan, task->rank);
    if (status != COLL_OK)
        return status;
    if (task->transport->tags != 0 && task->tag >= task->transport->tags)
        return COLL_ERR_TAG;
    if (task->schedule && task->schedule->rank != task->rank)
        return COLL_ERR_RANK;
    if (task->plan->traits & (COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP)) {
        status = coll_i_task_check_network(task);
        if (status != COLL_OK)
            return status;
    }
    if (coll_is(COLL_REDUCING, task->plan->problem.collective)) {
        if (!task->op || !task->op->combine)
            return COLL_ERR_OP;
        if (!task->op->commutative && (task->plan->problem.flags & COLL_FLAG_COMMUTATIVE))
            return COLL_ERR_ORDER; /* the plan was made for another operator */
    }
    elem_bytes = task->plan->problem.elem_bytes;
    if (COLL_IRREGULAR) {
        const coll_extents need = coll_plan_extents(task->plan, task->rank);
        if (!need.fits || !coll_i_addressable(need.in, elem_bytes) ||
            !coll_i_addressable(need.out, elem_bytes))
            return COLL_ERR_OVERFLOW;
        buffers = (need.in ? 1u : 0u) | (need.out ? 2u : 0u);
    } else if (task->plan->problem.count != 0) {
        buffers = coll_i_plan_buffers(task->plan, task->rank);
    }
    if (((buffers & 1) && !task->in) || ((buffers & 2) && !task->out))
        return COLL_ERR_NULL;
    if (!coll_i_task_holds(task->scratch, task->scratch_bytes,
                           coll_plan_scratch(task->plan, task->rank), elem_bytes))
        return COLL_ERR_SCRATCH;
    if (!coll_i_task_holds(task->shared, task->shared_bytes, coll_plan_shared(task->plan),
                           elem_bytes))
        return COLL_ERR_SHARED;
    return COLL_OK;
}

/* Field by field: on bare metal, compilers call memcpy for the assignment of a structure this
 * large. */
COLL_INLINE void coll_i_task_assign(coll_task *to, const coll_task *from)
{
    if (COLL_SMALL) {
        coll_i_assign(to, from, sizeof *to);
        return;
    }
    to->plan = from->plan;
    to->transport = from->transport;
    to->ctx = from->ctx;
    to->op = from->op;
    to->in = from->in;
    to->out = from->out;
    to->scratch = from->scratch;
    to->shared = from->shared;
    to->scratch_bytes = from->scratch_bytes;
    to->shared_bytes = from->shared_bytes;
    to->rank = from->rank;
    to->tag = from->tag;
    to->schedule = from->schedule;
}

/* Steps of the task, or actions of its schedule. */
COLL_INLINE size_t coll_i_task_steps(const coll_task *task)
{
    return task->schedule ? task->schedule->n : coll_plan_steps(task->plan, task->rank);
}

/* The actions of step s: how many, and in *acts where; `room` is for COLL_STEP_MAX. */
COLL_HOT_INLINE unsigned coll_i_task_step(const coll_task *task, size_t s, coll_action *room,
                                          const coll_action **acts)
{
    if (task->schedule) {
        *acts = &task->schedule->actions[s];
        return 1;
    }
    *acts = room;
    return coll_plan_step(task->plan, task->rank, s, room);
}

/* Tells the peers, unless all are told, that the collective ends with an error. */
COLL_INLINE void coll_i_task_abort(const coll_task *task, coll_status status)
{
    const coll_failure *failure = task->transport->failure;
    if (failure && failure->abort && coll_i_abort_is_news(task->transport, status))
        failure->abort(task->ctx, task->tag, 1);
}

/* Gives up an operation in flight. */
COLL_INLINE void coll_i_task_cancel(const coll_task *task, coll_handle *h)
{
    const coll_failure *failure = task->transport->failure;
    if (failure && failure->cancel)
        failure->cancel(task->ctx, h);
}

#endif /* COLL_EXECUTOR_TASK_H */
