/* coll/executor/schedule.h — a plan written out: counted, stored, replayed
 *
 *   coll_counts counts;
 *   status = coll_plan_count(&plan, rank, &counts);    // how many actions, messages, elements
 *
 *   coll_action actions[…];                            // counts.total of them, the caller's
 *   coll_schedule schedule;
 *   status = coll_schedule_write(&schedule, &plan, rank, actions, n);
 *   coll_schedule_close(&schedule, &plan, actions, 4096, window);    // for those that block
 *   run.schedule = &schedule;                          // executor.h runs it instead of the steps
 *
 *   coll_plan again;                                   // it as a plan of this rank alone, …
 *   status = coll_plan_replay(&again, &plan, &schedule);    // … to be proven, drawn, simulated
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
    size_t bytes_sent, bytes_received;
} coll_counts;

/* a + b·c, or SIZE_MAX. */
COLL_INLINE size_t coll_i_saturate(size_t a, size_t b, size_t c)
{
    size_t product;
    return coll_multiply(b, c, &product) && product <= SIZE_MAX - a ? a + product : SIZE_MAX;
}

COLL_INLINE void coll_i_counts_add(coll_counts *counts, const coll_action *a, size_t elem_bytes)
{
    const size_t inputs = a->kind == COLL_DO_REDUCE ? a->inputs : 1;
    const size_t bytes = coll_i_is_token(a) ? 0 : elem_bytes;
    counts->total++;
    counts->actions[a->kind]++;
    counts->elements[a->kind] = coll_i_saturate(counts->elements[a->kind], a->count, inputs);
    if (coll_i_has(COLL_I_SENDS, a)) {
        counts->messages_sent++;
        counts->bytes_sent = coll_i_saturate(counts->bytes_sent, a->count, bytes);
    } else if (coll_i_has(COLL_I_RECEIVES, a)) {
        counts->messages_received++;
        counts->bytes_received = coll_i_saturate(counts->bytes_received, a->count, bytes);
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
                coll_i_counts_add(counts, &acts[i], plan->problem.elem_bytes);
    }
    return COLL_OK;
}

/* ---- writing out, replaying -------------------------------------------------------------- */

/* One rank's actions in program order. */
typedef struct coll_schedule {
    const coll_action *actions; /* the caller's */
    size_t n;
    size_t scratch, shared; /* elements that they need */
    size_t patient; /* from this action on a run may wait for messages (coll_schedule_close) */
    bool apart;     /* what is sent is short, and nothing is written over it afterwards */
    bool brief;     /* so is what is received, and nothing is sent later than it may be */
    uint32_t rank;
    uint32_t window; /* an engine that follows it has at least so many slots */
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
    schedule->n = schedule->patient = total;
    schedule->scratch = coll_plan_scratch(plan, rank);
    schedule->shared = coll_plan_shared(plan);
    schedule->rank = rank;
    schedule->window = plan->window;
    schedule->apart = schedule->brief = false;
    return COLL_OK;
}

/* Does an action write what a send reads? */
COLL_INLINE bool coll_i_feeds(const coll_action *a, const coll_action *send)
{
    return (coll_i_has(COLL_I_WRITES_DST, a) &&
            coll_i_overlap(a->dst, a->count, send->src, send->count)) ||
           (a->kind == COLL_DO_RECV_REDUCE &&
            coll_i_overlap(a->via, a->count, send->src, send->count));
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

/* Prepares a schedule that was just written to `actions` for transports that trade messages of at
 * most `bytes` (transport.h), and engines of at least `window` slots. What a rank may wait for is
 * what it receives after it has sent all that it sends, if it is short, as then nobody waits for
 * the rank but for room; and its last message, if it sends that. So that there is more of it, sends
 * pass receives that do not write what they send, if all actions have slots beside those that the
 * plan needs. And if all that is sent is short, and nothing is written over it afterwards, it may be
 * traded, as far as the transport does not wait for it; then the rank may wait for whatever it
 * receives, as the schedule is right as a sequential program, if all of that is short, too. */
COLL_INLINE void coll_schedule_close(coll_schedule *schedule, const coll_plan *plan,
                                     coll_action *actions, size_t bytes, uint32_t window)
{
    const size_t most = bytes / plan->problem.elem_bytes, n = schedule->n;
    const bool dedicated = window >= plan->window && window - plan->window >= n;
    bool receives = false;
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        size_t to = i;
        if (coll_i_has(COLL_I_SENDS, &actions[i]))
            while (dedicated && to > first && !coll_i_feeds(&actions[to - 1], &actions[i]))
                to--;
        if (coll_i_has(COLL_I_SENDS, &actions[i]) && to == first) {
            coll_i_schedule_move(actions, i, first++);
        } else if (coll_i_has(COLL_I_SENDS | COLL_I_KIND(NETWORK_REDUCE), &actions[i])) {
            first = i + 1;
            receives = false;
        } else if (coll_i_has(COLL_I_RECEIVES, &actions[i])) {
            receives = true;
        }
    }
    if (first > 0 && !receives)
        first--;
    schedule->patient = first;
    schedule->window = plan->window + (dedicated ? (uint32_t)n : 0);
    schedule->apart = true;
    for (size_t j = 0; j < n; j++) {
        if (!coll_i_has(COLL_I_SENDS, &actions[j]))
            continue;
        if (actions[j].kind != COLL_DO_NOTIFY && actions[j].count > most)
            schedule->apart = false;
        for (size_t i = j + 1; i < n && schedule->apart; i++)
            schedule->apart = !coll_i_feeds(&actions[i], &actions[j]);
    }
    schedule->brief = schedule->apart && dedicated;
    for (size_t i = 0; i < n; i++)
        if (coll_i_has((COLL_I_SENDS | COLL_I_RECEIVES) & ~COLL_I_TOKENS, &actions[i]) &&
            actions[i].count > most) {
            schedule->brief = false;
            if (i >= first)
                schedule->patient = n;
        }
}

COLL_INLINE const coll_schedule *coll_i_schedule(const coll_plan *plan)
{
    return (const coll_schedule *)plan->inner;
}

/* As many actions a step as fit. */
COLL_INLINE size_t coll_i_replay_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_schedule *of = coll_i_schedule(plan);
    return rank == of->rank ? of->n / COLL_STEP_MAX + (of->n % COLL_STEP_MAX != 0 ? 1u : 0u)
                            : 0;
}

COLL_INLINE unsigned coll_i_replay_step(const coll_plan *plan, uint32_t rank, size_t s,
                                        coll_action *out)
{
    const coll_schedule *of = coll_i_schedule(plan);
    unsigned n = 0;
    (void)rank;
    for (size_t i = s * COLL_STEP_MAX; n < COLL_STEP_MAX && i < of->n; i++)
        coll_i_action_assign(&out[n++], &of->actions[i]);
    return n;
}

COLL_INLINE size_t coll_i_replay_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_schedule *of = coll_i_schedule(plan);
    return rank == of->rank ? of->scratch : 0;
}

COLL_INLINE size_t coll_i_replay_shared(const coll_plan *plan)
{
    return coll_i_schedule(plan)->shared;
}

/* What a written schedule runs as: the plan of one rank, on the others there is nothing to do.
 * Made by coll_plan_replay. */
COLL_ALGORITHM(coll_replay, "replay", "a schedule that was written out",
    COLL_BIT(COLL_COLLECTIVES) - 1, /* traits: those of the plan */ 0,
    /* window, sends: likewise */ 1, 1, COLL_NO_PARAMS,
    coll_i_replay_steps, coll_i_replay_step, coll_i_replay_scratch, NULL, coll_i_replay_shared);

/* Makes *replay a plan that does on the schedule's rank what `plan`, from which the schedule
 * was written, does there. The other ranks may run the plan itself or replays of their own. The
 * schedule must outlive it. */
COLL_INLINE coll_status coll_plan_replay(coll_plan *replay, const coll_plan *plan,
                                         const coll_schedule *schedule)
{
    coll_status status;
    if (!plan || !schedule)
        return COLL_ERR_NULL;
    if (schedule->rank >= plan->problem.p)
        return COLL_ERR_RANK;
    status = coll_plan_init(replay, &coll_replay, &plan->problem, NULL);
    if (status != COLL_OK)
        return status;
    replay->traits = plan->traits;
    replay->window = schedule->window;
    coll_group_assign(&replay->group, &plan->group);
    replay->inner = schedule;
    return COLL_OK;
}

#endif /* COLL_EXECUTOR_SCHEDULE_H */
