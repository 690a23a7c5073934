/* coll/executor/schedule.h — a plan written out: counted, stored
 *
 *   coll_counts counts;
 *   status = coll_plan_count(&plan, rank, &counts);    // how many actions, messages, elements
 *
 *   coll_action actions[…];                            // counts.total of them, the caller's
 *   coll_schedule schedule;
 *   status = coll_schedule_write(&schedule, &plan, rank, actions, n);
 *   coll_schedule_sends_first(&schedule, actions);     // sends need not wait for receives
 *   task.schedule = &schedule;                         // an engine runs it instead of the steps
 *
 * A written schedule costs memory and saves the time of the step functions: for what is started
 * very often, for export, for lowering to hardware. A plan as bytes is plan/pack.h. Nothing here
 * allocates, blocks or communicates.
 */
#ifndef COLL_EXECUTOR_SCHEDULE_H
#define COLL_EXECUTOR_SCHEDULE_H

#include "../plan.h"

/* ---- counting ---------------------------------------------------------------------------- */

/* What one rank does. Actions of 0 elements are none. Elements of REDUCE count once for each
 * operand at via. Elements and bytes that are too many to count are SIZE_MAX. */
typedef struct coll_counts {
    size_t steps;                            /* of the plan, empty ones too */
    size_t total;                            /* actions */
    size_t actions[COLL_KINDS];              /* … of each kind … */
    size_t elements[COLL_KINDS];             /* … and their elements */
    size_t messages_sent, messages_received; /* a multicast is one */
    size_t bytes_sent, bytes_received;       /* in them */
} coll_counts;

/* a + b·c, or SIZE_MAX. */
COLL_INLINE size_t coll_i_schedule_saturate(size_t a, size_t b, size_t c)
{
    size_t product;
    return coll_multiply(b, c, &product) && product <= SIZE_MAX - a ? a + product : SIZE_MAX;
}

COLL_INLINE void coll_i_schedule_count(coll_counts *counts, const coll_action *a,
                                       size_t elem_bytes)
{
    const size_t inputs = a->kind == COLL_DO_REDUCE ? a->inputs : 1;
    const size_t bytes = coll_i_is_token(a) ? 0 : elem_bytes;
    counts->total++;
    counts->actions[a->kind]++;
    counts->elements[a->kind] =
        coll_i_schedule_saturate(counts->elements[a->kind], a->count, inputs);
    if (coll_i_has(COLL_I_SENDS, a)) {
        counts->messages_sent++;
        counts->bytes_sent = coll_i_schedule_saturate(counts->bytes_sent, a->count, bytes);
    } else if (coll_i_has(COLL_I_RECEIVES, a)) {
        counts->messages_received++;
        counts->bytes_received =
            coll_i_schedule_saturate(counts->bytes_received, a->count, bytes);
    }
}

/* Counts what a rank does, in time linear in its steps. COLL_ERR_RANK, COLL_ERR_COUNTS:
 * coll_plan_check_rank. */
COLL_INLINE coll_status coll_plan_count(const coll_plan *plan, uint32_t rank,
                                        coll_counts *counts)
{
    coll_action acts[COLL_STEP_MAX];
    coll_status status;
    if (!plan || !counts)
        return COLL_ERR_NULL;
    status = coll_plan_check_rank(plan, rank);
    if (status != COLL_OK)
        return status;
    counts->steps = coll_plan_steps(plan, rank);
    counts->total = 0;
    for (unsigned kind = 0; kind < COLL_KINDS; kind++)
        counts->actions[kind] = counts->elements[kind] = 0;
    counts->messages_sent = counts->messages_received = 0;
    counts->bytes_sent = counts->bytes_received = 0;
    for (size_t s = 0; s < counts->steps; s++) {
        const unsigned n = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < n; i++)
            if (acts[i].count != 0)
                coll_i_schedule_count(counts, &acts[i], plan->problem.elem_bytes);
    }
    return COLL_OK;
}

/* ---- writing out ----------- -------------------------------------------------------------- */

/* One rank's actions in program order. */
typedef struct coll_schedule {
    const coll_action *actions; /* the caller's */
    size_t n;                   /* how many */
    size_t scratch, shared;     /* elements that they need */
    uint32_t rank;
    uint32_t window, sends; /* slots of a window engine, sends in flight of an in-order one */
} coll_schedule;

/* Writes all actions of a rank to `actions`, of which there are `room`, and makes *schedule of
 * them. coll_plan_count says how many there are; COLL_ERR_MEMORY: more than `room`. */
COLL_INLINE coll_status coll_schedule_write(coll_schedule *schedule, const coll_plan *plan,
                                            uint32_t rank, coll_action *actions, size_t room)
{
    coll_action acts[COLL_STEP_MAX];
    size_t steps, total = 0;
    coll_status status;
    if (!schedule || !plan || (!actions && room != 0))
        return COLL_ERR_NULL;
    status = coll_plan_check_rank(plan, rank);
    if (status != COLL_OK)
        return status;
    steps = coll_plan_steps(plan, rank);
    for (size_t s = 0; s < steps; s++) {
        const unsigned n = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < n; i++) {
            if (acts[i].count == 0)
                continue;
            if (total == room)
                return COLL_ERR_MEMORY;
            coll_i_action_assign(&actions[total++], &acts[i]);
        }
    }
    schedule->actions = actions;
    schedule->n = total;
    schedule->scratch = coll_plan_scratch(plan, rank);
    schedule->shared = coll_plan_shared(plan);
    schedule->rank = rank;
    schedule->window = plan->window;
    schedule->sends = plan->sends;
    return COLL_OK;
}

/* Does an action write what a send reads? */
COLL_INLINE bool coll_i_schedule_feeds(const coll_action *a, const coll_action *send)
{
    return (coll_i_has(COLL_I_WRITES_DST, a) &&
            coll_i_overlap(a->dst, a->count, send->src, send->count)) ||
           (a->kind == COLL_DO_RECV_REDUCE &&
            coll_i_overlap(a->via, a->count, send->src, send->count));
}

/* May a send have to wait for one of the actions before it? It must not pass the rest of a message to the
 * same peer that is cut (max_bytes). */
COLL_INLINE bool coll_i_schedule_is_behind(const coll_action *actions, size_t n,
                                           const coll_action *send)
{
    for (size_t i = 0; i < n; i++)
        if (coll_i_has(COLL_I_SENDS, &actions[i]) && coll_i_share_a_channel(&actions[i], send))
            return true;
    return false;
}

/* Brings an action forward. */
COLL_INLINE void coll_i_schedule_move(coll_action *actions, size_t from, size_t to)
{
    coll_action moved;
    coll_i_action_assign(&moved, &actions[from]);
    for (; from > to; from--)
        coll_i_action_assign(&actions[from], &actions[from - 1]);
    coll_i_action_assign(&actions[to], &moved);
}

/* Has sends of a schedule that was just written to `actions` pass actions before them that do not
 * write what they send, as far as they come to the sends at the head of all receives: then a rank
 * that blocks in a receive has sent what it can. Of several sends to one peer only the first passes.
 * An engine has more in flight then, which it must have room for: each of the sends, or each action,
 * beside what the plan needs. */
COLL_INLINE void coll_schedule_sends_first(coll_schedule *schedule, coll_action *actions)
{
    size_t first = 0;
    for (size_t i = 0; i < schedule->n; i++) {
        size_t to = i;
        if (!coll_i_has(COLL_I_SENDS | COLL_I_KIND(NETWORK_REDUCE), &actions[i]))
            continue;
        schedule->sends++;
        if (coll_i_has(COLL_I_SENDS, &actions[i]) &&
            !coll_i_schedule_is_behind(actions, first, &actions[i]))
            while (to > first && !coll_i_schedule_feeds(&actions[to - 1], &actions[i]))
                to--;
        if (to == first && to < i)
            coll_i_schedule_move(actions, i, to);
        first = to == first ? first + 1 : i + 1;
    }
    schedule->window += (uint32_t)schedule->n;
}

#endif /* COLL_EXECUTOR_SCHEDULE_H */
