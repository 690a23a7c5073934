/* tests/support/waste.h — what a plan does in vain: looked for where the verifier proves only
 * that nothing is missing
 *
 *   waste found;
 *   if (waste_of(&worker, &of, &found) == COLL_OK && found.n[WASTE_SCRATCH] > 0)
 *       puts(found.words[WASTE_SCRATCH]);
 *
 * The plan is run by the verifier's own functions, action by action, with a note for each element
 * of who wrote it last and whether anybody has read that.
 */
#ifndef COLL_TESTS_WASTE_H
#define COLL_TESTS_WASTE_H

#include "check.h"
#include "coll/lab/verify/case.h"

/* What is looked for. One line a kind: name, words. */
#define WASTE_LIST(X)                                                                          \
    X(WASTE_SCRATCH, "an element of SCRATCH that no action touches")                           \
    X(WASTE_SHARED, "an element of SHARED that no rank touches")                               \
    X(WASTE_STEP, "a step without an action")                                                  \
    X(WASTE_LAST, "a last step without an action")                                             \
    X(WASTE_EMPTY, "an action of no elements")                                                 \
    X(WASTE_UNREAD, "an action whose result is overwritten, or left in SCRATCH, unread")       \
    X(WASTE_AGAIN, "an action that writes what is there already")

/* Of so many elements no rank, part or piece goes without; a step or an action without any is waste. */
enum { WASTE_MANY = 48 };

#define WASTE_NAME(name, words) name,
enum waste_kind { WASTE_LIST(WASTE_NAME) WASTE_KINDS };

static inline const char *waste_words(enum waste_kind kind)
{
#define WASTE_WORDS(name, words) words,
    static const char *const all[] = {WASTE_LIST(WASTE_WORDS)};
    return all[kind];
}

typedef struct waste {
    uint64_t n[WASTE_KINDS];    /* how many elements, steps, actions */
    uint32_t rank[WASTE_KINDS]; /* where the first of them was found */
    size_t step[WASTE_KINDS];
    uint64_t steps, none; /* … none: actions of no elements, also where there are too few */
    uint64_t
        asked[COLL_SPACES]; /* elements of SCRATCH of all ranks, and of SHARED of all nodes */
} waste;

/* An action that wrote: how many of its elements are to be read yet, and how many were in vain. */
typedef struct waste_action {
    uint32_t rank;
    size_t step, wrote, vain;
} waste_action;

typedef struct waste_run {
    coll_i_data *d;
    waste *found;
    coll_i_memory touched, writer,
        actions; /* by element; its last writer + 1, 0: has been read */
    uint32_t n_actions;
} waste_run;

static inline void waste_count(waste_run *run, enum waste_kind kind, uint32_t rank, size_t step)
{
    if (run->found->n[kind]++ == 0) {
        run->found->rank[kind] = rank;
        run->found->step[kind] = step;
    }
}

static inline size_t waste_index(const waste_run *run, uint32_t rank, coll_ref ref)
{
    return (size_t)(coll_i_values_at(coll_i_rank_at(run->d, rank), ref) -
                    (const coll_i_value *)run->d->elements.at);
}

static inline void waste_reads(waste_run *run, uint32_t rank, coll_ref ref, size_t count)
{
    const size_t at = waste_index(run, rank, ref);
    memset((unsigned char *)run->touched.at + at, 1, count);
    memset((uint32_t *)run->writer.at + at, 0, count * sizeof(uint32_t));
}

/* The element's last write was in vain, if nobody has read it. */
static inline void waste_loses(waste_run *run, size_t element)
{
    uint32_t *writer = (uint32_t *)run->writer.at + element;
    if (*writer != 0)
        ((waste_action *)run->actions.at)[*writer - 1].vain++;
    *writer = 0;
}

static inline void waste_writes(waste_run *run, uint32_t rank, size_t step, coll_ref ref,
                                size_t count)
{
    const size_t at = waste_index(run, rank, ref);
    waste_action *action;
    coll_i_reserve(&run->actions, (run->n_actions + (size_t)1) * sizeof(waste_action));
    action = (waste_action *)run->actions.at + run->n_actions++;
    action->rank = rank;
    action->step = step;
    action->wrote = count;
    action->vain = 0;
    memset((unsigned char *)run->touched.at + at, 1, count);
    for (size_t i = 0; i < count; i++) {
        waste_loses(run, at + i);
        ((uint32_t *)run->writer.at)[at + i] = run->n_actions;
    }
}

/* Notes what an action does, before it is run for the first time. */
static inline void waste_note(waste_run *run, uint32_t rank, size_t s, const coll_action *a)
{
    if (coll_i_is_token(a))
        return;
    if (coll_i_has(COLL_I_READS_SRC, a))
        waste_reads(run, rank, a->src, a->count);
    for (uint32_t i = 0; a->kind == COLL_DO_REDUCE && i < a->inputs; i++)
        waste_reads(run, rank, a->via + i * a->stride, a->count);
    if (a->kind == COLL_DO_RECV_REDUCE && a->via != a->dst) {
        waste_writes(run, rank, s, a->via, a->count);
        waste_reads(run, rank, a->via, a->count);
    }
    if (coll_i_has(COLL_I_WRITES_DST, a))
        waste_writes(run, rank, s, a->dst, a->count);
}

/* Does the action, which is about to be run, write just what is there already? */
static inline bool waste_again(const waste_run *run, uint32_t rank, const coll_action *a)
{
    coll_i_rank *at = coll_i_rank_at(run->d, rank);
    const coll_i_value *dst, *from;
    if (a->kind == COLL_DO_COPY && a->dst == a->src) {
        return false; /* nothing is copied */
    } else if (a->kind == COLL_DO_COPY) {
        from = coll_i_values_at(at, a->src);
    } else if (a->kind == COLL_DO_RECV) {
        const coll_i_channel *channel = coll_i_channel_at(
            &run->d->channels, coll_i_channel_of(&run->d->channels, a->peer, rank));
        if (channel->head == COLL_I_NONE)
            return false;
        from = (const coll_i_value *)run->d->payload.at +
               coll_i_message_at(run->d, channel->head)->at;
    } else {
        return false;
    }
    dst = coll_i_values_at(at, a->dst);
    for (size_t i = 0; i < a->count; i++)
        if (dst[i] != from[i] || coll_i_structure(dst[i]) < COLL_I_LEAF)
            return false;
    return true;
}

/* Looks at the step that the rank has taken. */
static inline void waste_step(waste_run *run, uint32_t rank, bool moves)
{
    const coll_i_rank *at = coll_i_rank_at(run->d, rank);
    uint32_t n = 0;
    for (uint32_t i = 0; i < at->n; i++)
        if (at->acts[i].count > 0)
            n++;
        else if (moves)
            waste_count(run, WASTE_EMPTY, rank, at->step - 1);
    run->found->none += at->n - n;
    if (n == 0 && moves)
        waste_count(run, at->step == at->steps ? WASTE_LAST : WASTE_STEP, rank, at->step - 1);
}

/* As coll_i_run_rank. */
static inline bool waste_run_rank(waste_run *run, uint32_t rank, bool moves,
                                  coll_report *report)
{
    coll_i_data *d = run->d;
    coll_i_rank *at = coll_i_rank_at(d, rank);
    for (;;) {
        for (; at->next < at->n; at->next++) {
            const coll_action *a = &at->acts[at->next];
            const size_t s = at->step - 1;
            if (a->count == 0)
                continue;
            if (waste_again(run, rank, a))
                waste_count(run, WASTE_AGAIN, rank, s);
            if (!at->checked)
                waste_note(run, rank, s, a);
            at->checked = true;
            if (!coll_i_run_action(d, rank, s, a, report))
                return at->state != COLL_I_READY && report->ok;
            at->checked = false;
        }
        if (at->step == at->steps)
            break;
        if (!coll_i_take_step(d, rank, report))
            return false;
        waste_step(run, rank, moves);
    }
    at->state = COLL_I_ENDED;
    return true;
}

/* Elements of a rank's SCRATCH, or SHARED, at the end. */
static inline void waste_space(waste_run *run, uint32_t rank, coll_space space,
                               enum waste_kind kind)
{
    const coll_i_rank *at = coll_i_rank_at(run->d, rank);
    const size_t from = waste_index(run, rank, COLL_AT(space, 0)), n = at->extent[space];
    for (size_t i = from; i < from + n; i++) {
        if (!((const unsigned char *)run->touched.at)[i])
            waste_count(run, kind, rank, i - from);
        waste_loses(run, i);
    }
    run->found->asked[space] += n;
}

/* Looks for waste in a case. Returns what coll_plan_build says of it. */
static inline coll_status waste_of(coll_grid_worker *worker, const coll_grid_case *of,
                                   waste *found)
{
    const coll_status status = coll_i_grid_plans(worker, of);
    const bool moves = of->collective == COLL_BARRIER ||
                       (of->layout == COLL_GRID_PLAIN && of->count >= WASTE_MANY);
    coll_report report;
    coll_i_plans plans;
    static waste_run run; /* its memory is kept */
    size_t n = 0;
    memset(found, 0, sizeof *found);
    if (status != COLL_OK)
        return status;
    memset(&report, 0, sizeof report);
    report.ok = true;
    run.n_actions = 0;
    memset(&plans, 0, sizeof plans);
    plans.plan_of = coll_i_grid_plan_of;
    plans.arg = worker;
    run.d = &worker->verifier.data;
    run.found = found;
    if (!coll_i_data_begin(run.d, &plans, false, &report)) {
        CHECK(report.ok);
        return status;
    }
    for (uint32_t rank = 0; rank < of->p; rank++)
        for (int space = 0; space < COLL_SPACES; space++)
            n += coll_i_rank_at(run.d, rank)->extent[space];
    memset(coll_i_reserve(&run.touched, n), 0, n);
    memset(coll_i_reserve(&run.writer, n * sizeof(uint32_t)), 0, n * sizeof(uint32_t));
    while (run.d->n_ready > 0 && report.ok)
        waste_run_rank(&run, ((uint32_t *)run.d->ready.at)[--run.d->n_ready], moves, &report);
    if (!CHECK(report.ok))
        printf("    %s\n", report.sentence);
    for (uint32_t rank = 0; rank < of->p; rank++) {
        const coll_plan *plan = coll_i_grid_plan_of(worker, rank);
        found->steps += coll_plan_steps(plan, rank);
        waste_space(&run, rank, COLL_SCRATCH, WASTE_SCRATCH);
        if (coll_node_of(&plan->problem.nodes, of->p, rank).first == rank)
            waste_space(&run, rank, COLL_SHARED, WASTE_SHARED);
    }
    for (uint32_t i = 0; i < run.n_actions; i++) {
        const waste_action *action = (const waste_action *)run.actions.at + i;
        if (action->vain == action->wrote)
            waste_count(&run, WASTE_UNREAD, action->rank, action->step);
    }
    return status;
}

#endif /* COLL_TESTS_WASTE_H */
