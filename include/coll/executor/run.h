/* coll/executor/run.h — what an engine runs, and on which memory: refs, sums, pieces of messages
 *
 * Use executor.h.
 */
#ifndef COLL_EXECUTOR_RUN_H
#define COLL_EXECUTOR_RUN_H

#include "schedule.h"
#include "window.h"

/* What to run. Filled in by the caller, who keeps it, and all it points to, until the engine
 * is done. */
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

/* ---- refs to memory ---------------------------------------------------------------------- */

COLL_INLINE unsigned char *coll_i_target(const coll_task *run, coll_ref ref)
{
    const size_t at = coll_ref_offset(ref) * run->plan->problem.elem_bytes;
    const coll_space space = coll_ref_space(ref);
    void *base = COLL_LIKELY(space == COLL_OUT) ? run->out
                 : space == COLL_SCRATCH        ? run->scratch
                                                : run->shared;
    return (unsigned char *)base + at;
}

COLL_INLINE const unsigned char *coll_i_source(const coll_task *run, coll_ref ref)
{
    if (COLL_LIKELY(coll_ref_space(ref) == COLL_IN))
        return (const unsigned char *)run->in +
               coll_ref_offset(ref) * run->plan->problem.elem_bytes;
    return coll_i_target(run, ref);
}

/* ---- operations of a slot ---------------------------------------------------------------- */

/* dst = src ⊕ the first operands on this processor, in one sweep of memory: in chunks that stay in
 * the cache. */
COLL_INLINE void coll_i_reduce(const coll_task *run, const coll_action *a, uint32_t inputs)
{
    const size_t elem_bytes = run->plan->problem.elem_bytes;
    const size_t chunk = inputs > 1 ? 4096 / elem_bytes + 1 : a->count;
    unsigned char *dst = coll_i_target(run, a->dst);
    const unsigned char *src = coll_i_source(run, a->src), *via = coll_i_source(run, a->via);
    for (size_t done = 0; done < a->count; done += chunk) {
        const size_t n = a->count - done < chunk ? a->count - done : chunk,
                     at = done * elem_bytes;
        run->op->combine(dst + at, src + at, via + at, n, run->op->arg);
        for (uint32_t i = 1; i < inputs; i++)
            run->op->combine(dst + at, dst + at, via + at + i * a->stride * elem_bytes, n,
                             run->op->arg);
    }
}

/* Bytes of an action's message. */
COLL_INLINE size_t coll_i_bytes(const coll_task *run, const coll_action *a)
{
    return coll_i_is_token(a) ? 0 : a->count * run->plan->problem.elem_bytes;
}

/* dst = src ⊕ message, or message ⊕ src, of n elements from byte `at` of the vectors on. */
COLL_INLINE void coll_i_merge_chunk(const coll_task *run, const coll_action *a,
                                    const void *message, size_t at, size_t n)
{
    const void *src = coll_i_source(run, a->src) + at;
    const bool left = (a->flags & COLL_LEFT) != 0;
    run->op->combine(coll_i_target(run, a->dst) + at, left ? message : src,
                     left ? src : message, n, run->op->arg);
}

/* The same of the whole message that the action staged, which was brought here just now. */
COLL_INLINE void coll_i_merge_staged(const coll_task *run, const coll_action *a)
{
    coll_i_merge_chunk(run, a, coll_i_source(run, a->via), 0, a->count);
}

/* The same for `bytes` of a long message from byte `done` on. What another processor has just
 * written comes slowly: while one chunk of it is combined, the next is on its way. */
COLL_INLINE void coll_i_merge_chunks(const coll_task *run, const coll_action *a,
                                     const unsigned char *message, size_t done, size_t bytes,
                                     size_t most)
{
    enum { LINE = 64 };
    const size_t elem_bytes = run->plan->problem.elem_bytes;
    const size_t chunk = elem_bytes < most ? most / elem_bytes * elem_bytes : elem_bytes;
    for (size_t at = 0, asked = 0; at < bytes; at += chunk) {
        for (; asked < bytes && asked < at + 2 * chunk; asked += LINE)
            COLL_PREFETCH(message + asked);
        coll_i_merge_chunk(run, a, message + at, done + at,
                           (bytes - at < chunk ? bytes - at : chunk) / elem_bytes);
    }
}

/* The same for a message that is acquired, or for `bytes` of it from byte `done` on. Of the
 * longest vectors most is not in the other processor's cache any more, and chunks would only
 * disturb. */
COLL_HOT_INLINE void coll_i_merge(const coll_task *run, const coll_action *a,
                                  const unsigned char *message, size_t done, size_t bytes)
{
    enum { CHUNK = 2048, LONG = 1 << 19 };
    const size_t whole = coll_i_bytes(run, a);
    if (bytes <= 2 * CHUNK || whole > LONG)
        coll_i_merge_chunk(run, a, message, done,
                           bytes == whole ? a->count : bytes / run->plan->problem.elem_bytes);
    else
        coll_i_merge_chunks(run, a, message, done, bytes, CHUNK);
}

/* Is a message of so many bytes sent in pieces? */
COLL_INLINE bool coll_i_is_long(const coll_task *run, size_t bytes)
{
    const coll_transport *t = run->transport;
    return t->max_bytes != 0 && bytes > t->max_bytes &&
           !coll_is(t->whole, run->plan->problem.collective);
}

/* Bytes of the next piece of a message of which `bytes` are left. */
COLL_INLINE size_t coll_i_piece(const coll_task *run, size_t bytes)
{
    return coll_i_is_long(run, bytes) ? run->transport->max_bytes : bytes;
}

/* Has the action, after the operation that runs now, others to start? A long message has
 * pieces; and a transport reduces one operand at a time. */
COLL_INLINE bool coll_i_is_cut(const coll_task *run, const coll_action *a)
{
    if (a->kind == COLL_DO_REDUCE)
        return a->inputs > 1 && run->transport->reduce;
    return coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, a) &&
           coll_i_is_long(run, coll_i_bytes(run, a) - a->stride);
}

/* Can the action's message be acquired: whole, or piece by piece, if these end with an element? */
COLL_INLINE bool coll_i_is_zero_copy(const coll_task *run, const coll_action *a)
{
    const coll_transport *t = run->transport;
    const size_t bytes = coll_i_bytes(run, a), piece = coll_i_piece(run, bytes);
    const size_t within = run->plan->problem.elem_bytes - 1;
    return t->acquire && (t->max_zero_copy == 0 || piece <= t->max_zero_copy) &&
           (piece == bytes || ((within & (within + 1)) | (piece & within)) == 0);
}

#endif /* COLL_EXECUTOR_RUN_H */
