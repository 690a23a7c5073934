/* coll/executor/pending.h — what a running engine waits for, as records and in words
 *
 *   char text[400];
 *   if (coll_engine_wait_until(&engine, &clock, deadline) == COLL_AGAIN) {
 *       (void)coll_engine_dump(&engine, text, sizeof text);
 *       puts(text);
 *   }
 *
 *   allreduce by ring, rank 1 of 4, 1000 elements of 8 bytes, tag 1: 3 of 6 steps begun
 *     recv_reduce from rank 0, 0 of 2000 bytes: no message yet
 *     send to rank 2, 0 of 2000 bytes: in flight
 *
 * Ranks of messages are those of the transport. Steps are those of the plan, or actions of a schedule.
 * Nothing here moves the engine on, allocates or blocks.
 */
#ifndef COLL_EXECUTOR_PENDING_H
#define COLL_EXECUTOR_PENDING_H

#include "../executor.h"
#include "in_order.h"

/* Why an action is not over. */
typedef enum coll_pending_state {
    COLL_PENDING_HELD,      /* an older action is to end first */
    COLL_PENDING_NOT_TAKEN, /* the transport had no room for it, or no message yet */
    COLL_PENDING_IN_FLIGHT, /* the transport works on it */
    COLL_PENDING_STATES
} coll_pending_state;

/* An action that is not over. */
typedef struct coll_pending {
    coll_kind kind;
    coll_pending_state state;
    uint32_t peer;      /* COLL_RANK_NONE: it has none, or all ranks */
    size_t bytes, done; /* of its message or vector, and of those that are behind it */
    bool dead;          /* the transport knows that the peer is */
} coll_pending;

/* ---- records ----------------------------------------------------------------------------- */

COLL_INLINE void coll_i_pending_action(const coll_task *task, const coll_action *a,
                                       coll_pending_state state, coll_pending *out)
{
    const coll_failure *failure = task->transport->failure;
    const bool message = coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, a);
    out->kind = (coll_kind)a->kind;
    out->state = state;
    out->peer =
        coll_i_has_peer(a) ? coll_group_outer(&task->plan->group, a->peer) : COLL_RANK_NONE;
    out->bytes = coll_i_task_bytes(task, a);
    out->done = message ? a->stride : 0;
    out->dead = out->peer != COLL_RANK_NONE && failure && failure->dead &&
                failure->dead(task->ctx, out->peer);
}

/* The action that engines come to next, where nothing of it is in flight; false: there is none. */
COLL_INLINE bool coll_i_pending_next(const coll_task *task, size_t step, size_t steps,
                                     uint32_t skip, coll_pending *out)
{
    coll_action room[COLL_STEP_MAX];
    const coll_action *acts;
    if (step >= steps || coll_i_task_step(task, step, room, &acts) <= skip)
        return false;
    coll_i_pending_action(task, &acts[skip], COLL_PENDING_NOT_TAKEN, out);
    return true;
}

/* Writes the actions of a running engine that are not over, at most `most` of them, and returns how
 * many there are: 0 if it is not running. */
COLL_INLINE uint32_t coll_engine_pending(const coll_engine *e, coll_pending *out, uint32_t most)
{
    const coll_window *w = &e->window;
    uint32_t n = 0, left = e->status == COLL_AGAIN ? coll_i_window_all(w) & ~w->free : 0;
    for (; left; left &= left - 1, n++) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        if (n < most)
            coll_i_pending_action(&e->task, &w->slots[k].act,
                                  w->flying >> k & 1              ? COLL_PENDING_IN_FLIGHT
                                  : coll_i_window_may_start(w, k) ? COLL_PENDING_NOT_TAKEN
                                                                  : COLL_PENDING_HELD,
                                  &out[n]);
    }
    return n;
}

/* The same of an in-order engine. */
COLL_INLINE uint32_t coll_in_order_pending(const coll_in_order *e, coll_pending *out,
                                           uint32_t most)
{
    uint32_t n = 0;
    coll_pending next;
    if (e->status != COLL_AGAIN)
        return 0;
    for (uint32_t left = e->used; left; left &= left - 1, n++) {
        const uint32_t k = COLL_LOWEST_BIT(left);
        const coll_action *a = &e->ops[k].act;
        if (n < most)
            coll_i_pending_action(&e->task, a,
                                  e->flying >> k & 1 ? COLL_PENDING_IN_FLIGHT
                                  : k == 0 && coll_i_in_order_waits(e, a)
                                      ? COLL_PENDING_HELD
                                      : COLL_PENDING_NOT_TAKEN,
                                  &out[n]);
    }
    if (!(e->used & 1u) &&
        coll_i_pending_next(&e->task, e->step, e->steps, e->skip, n < most ? &out[n] : &next))
        n++;
    return n;
}

/* ---- words ------------------------------------------------------------------------------- */

/* Text that is cut where the caller's memory ends; its length goes on. */
typedef struct coll_i_pending_words {
    char *text;
    size_t room, length;
} coll_i_pending_words;

COLL_INLINE void coll_i_pending_begin(coll_i_pending_words *to, char *text, size_t room)
{
    to->text = text;
    to->room = text ? room : 0;
    to->length = 0;
    if (to->room != 0)
        text[0] = '\0';
}

COLL_INLINE void coll_i_pending_text(coll_i_pending_words *to, const char *text)
{
    for (; *text; text++, to->length++)
        if (to->length + 1 < to->room) {
            to->text[to->length] = *text;
            to->text[to->length + 1] = '\0';
        }
}

/* … and a number behind it. */
COLL_INLINE void coll_i_pending_number(coll_i_pending_words *to, const char *text,
                                       size_t number)
{
    char digits[24];
    uint32_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
    } while ((number /= 10) != 0);
    coll_i_pending_text(to, text);
    coll_i_pending_text(to, &digits[at]);
}

/* The first line, without its end: what runs, and which rank of it this is. */
COLL_INLINE void coll_i_pending_plan(coll_i_pending_words *to, const coll_plan *plan,
                                     uint32_t rank, uint32_t tag)
{
    const coll_problem *problem = &plan->problem;
    coll_i_pending_text(to, coll_collective_name(problem->collective));
    coll_i_pending_text(to, " by ");
    coll_i_pending_text(to, plan->algorithm->name);
    coll_i_pending_number(to, ", rank ", rank);
    coll_i_pending_number(to, " of ", problem->p);
    if (coll_group_outer(&plan->group, rank) != rank)
        coll_i_pending_number(to, " (the transport's rank ",
                              coll_group_outer(&plan->group, rank)),
            coll_i_pending_text(to, ")");
    if (coll_is(COLL_ROOTED, problem->collective))
        coll_i_pending_number(to, ", root ", problem->root);
    if (problem->in.counts || problem->out.counts) {
        coll_i_pending_number(to, ", blocks of elements of ", problem->elem_bytes);
        coll_i_pending_text(to, " bytes");
    } else if (problem->collective != COLL_BARRIER) {
        coll_i_pending_number(to, ", ", problem->count);
        coll_i_pending_number(to, " elements of ", problem->elem_bytes);
        coll_i_pending_text(to, problem->elem_bytes == 1 ? " byte" : " bytes");
    }
    coll_i_pending_number(to, ", tag ", tag);
}

COLL_INLINE void coll_i_pending_line(coll_i_pending_words *to, const coll_pending *one)
{
    const bool receives = (COLL_I_RECEIVES >> one->kind & 1u) != 0;
    coll_i_pending_text(to, "\n  ");
    coll_i_pending_text(to, coll_kind_name(one->kind));
    if (one->peer != COLL_RANK_NONE)
        coll_i_pending_number(to, receives ? " from rank " : " to rank ", one->peer);
    if (one->dead)
        coll_i_pending_text(to, ", which is dead");
    if (one->bytes != 0) {
        coll_i_pending_number(to, ", ", one->done);
        coll_i_pending_number(to, " of ", one->bytes);
        coll_i_pending_text(to, " bytes");
    }
    coll_i_pending_text(to, one->state == COLL_PENDING_IN_FLIGHT ? ": in flight"
                            : one->state == COLL_PENDING_HELD
                                ? ": waits for an action before it"
                            : receives ? ": no message yet"
                                       : ": not taken by the transport yet");
}

COLL_INLINE void coll_i_pending_misfit(coll_i_pending_words *to, const coll_misfit *its)
{
    if (its->peer == COLL_RANK_NONE) {
        coll_i_pending_number(to, "other ranks reduce another number of bytes than the ",
                              its->expected);
        coll_i_pending_text(to, " of this one");
        return;
    }
    coll_i_pending_number(to, "a message from rank ", its->peer);
    coll_i_pending_number(to, " has ", its->bytes);
    coll_i_pending_number(to, " bytes, where this rank expects ", its->expected);
    if (its->tag != its->its_tag)
        coll_i_pending_text(to, "; it is of another call with this tag");
}

/* What an engine with so many actions that are not over says. */
COLL_INLINE void coll_i_pending_run(coll_i_pending_words *to, const coll_task *task,
                                    coll_status status, size_t step, size_t steps,
                                    const coll_pending *pending, uint32_t n)
{
    coll_i_pending_plan(to, task->plan, task->rank, task->tag);
    coll_i_pending_text(to, ": ");
    if (status != COLL_AGAIN) {
        coll_i_pending_text(to, coll_status_text(status));
        return;
    }
    coll_i_pending_number(to, "", step);
    coll_i_pending_number(to, " of ", steps);
    coll_i_pending_text(to, " steps begun");
    for (uint32_t i = 0; i < n; i++)
        coll_i_pending_line(to, &pending[i]);
}

COLL_INLINE void coll_i_pending_engine(coll_i_pending_words *to, const coll_engine *e)
{
    coll_pending pending[32];
    const uint32_t n = coll_engine_pending(e, pending, 32);
    coll_i_pending_run(to, &e->task, e->status, e->window.step + (e->window.skip != 0),
                       e->window.steps, pending, n);
}

/* Writes what an engine that was started runs, and each action that is not over, as text of `room`
 * bytes with its end; returns the length of the whole, which may be longer. NULL and 0 ask for that. */
COLL_INLINE size_t coll_engine_dump(const coll_engine *e, char *text, size_t room)
{
    coll_i_pending_words to;
    coll_i_pending_begin(&to, text, room);
    coll_i_pending_engine(&to, e);
    return to.length;
}

/* The same of an in-order engine. */
COLL_INLINE size_t coll_in_order_dump(const coll_in_order *e, char *text, size_t room)
{
    coll_i_pending_words to;
    coll_pending pending[33];
    const uint32_t n = coll_in_order_pending(e, pending, 33);
    coll_i_pending_begin(&to, text, room);
    coll_i_pending_run(&to, &e->task, e->status, e->step + (e->skip != 0), e->steps, pending,
                       n);
    return to.length;
}

/* Writes which message did not fit (COLL_ERR_SIZE), as coll_engine_dump writes. */
COLL_INLINE size_t coll_misfit_text(const coll_misfit *its, char *text, size_t room)
{
    coll_i_pending_words to;
    coll_i_pending_begin(&to, text, room);
    coll_i_pending_misfit(&to, its);
    return to.length;
}

#endif /* COLL_EXECUTOR_PENDING_H */
