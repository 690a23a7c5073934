/* coll/lab/import/import_goal.h — GOAL programs, read back: messages that match, and an order that ends
 *
 * GOAL has sends, receives and computations with an order on them, and no data. So what can be proven is that each
 * message has one receive of its size, and that all ranks end: where sends are buffered, and where they wait for their
 * receiver. The k-th receive of a tag from a rank takes its k-th send. An operation starts and ends: after the end of
 * what it `requires`, and the start of what it `irequires`. Its plans have the messages, in an order in which they may
 * come, without data and computations: for eyes. Private; use lab/import.h.
 *
 * Source  Hoefler, Siebert, Lumsdaine 2009 (ICPP; group operation assembly language)
 */
#ifndef COLL_LAB_IMPORT_IMPORT_GOAL_H
#define COLL_LAB_IMPORT_IMPORT_GOAL_H

#include "goal_file.h"

/* ---- messages ---------------------------------------------------------------------------- */

typedef struct coll_i_goal_message {
    uint32_t from, to, tag, op;
} coll_i_goal_message;

COLL_INLINE int coll_i_goal_compare(const void *a, const void *b)
{
    const coll_i_goal_message *x = (const coll_i_goal_message *)a,
                              *y = (const coll_i_goal_message *)b;
    const uint32_t of_x[] = {x->from, x->to, x->tag, x->op},
                   of_y[] = {y->from, y->to, y->tag, y->op};
    int i = 0;
    while (i < 3 && of_x[i] == of_y[i])
        i++;
    return (of_x[i] > of_y[i]) - (of_x[i] < of_y[i]);
}

COLL_INLINE bool coll_i_goal_same(const coll_i_goal_message *x, const coll_i_goal_message *y)
{
    return x->from == y->from && x->to == y->to && x->tag == y->tag;
}

/* Sends or receives, sorted by sender, receiver, tag, and as they stand. */
COLL_INLINE coll_i_goal_message *coll_i_goal_messages(coll_i_goal_file *f, char kind,
                                                      uint32_t *n)
{
    coll_i_goal_message *list =
        (coll_i_goal_message *)malloc((f->n + (size_t)1) * sizeof *list);
    *n = 0;
    for (uint32_t i = 0; list && i < f->n; i++) {
        const coll_i_goal_op *op = coll_i_goal_op_at(f, i);
        if (op->kind != kind)
            continue;
        list[*n].from = kind == 's' ? op->rank : op->peer;
        list[*n].to = kind == 's' ? op->peer : op->rank;
        list[*n].tag = op->tag;
        list[(*n)++].op = i;
    }
    if (list)
        qsort(list, *n, sizeof *list, coll_i_goal_compare);
    return list;
}

COLL_INLINE bool coll_i_goal_pairs(coll_i_goal_file *f, const coll_i_goal_message *sends,
                                   uint32_t n_sends, const coll_i_goal_message *recvs,
                                   uint32_t n_recvs)
{
    uint32_t s = 0, r = 0;
    while (s < n_sends || r < n_recvs) {
        const bool both = s < n_sends && r < n_recvs && coll_i_goal_same(&sends[s], &recvs[r]);
        coll_i_goal_message key[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
        if (both) {
            coll_i_goal_op *send = coll_i_goal_op_at(f, sends[s].op),
                           *recv = coll_i_goal_op_at(f, recvs[r].op);
            if (send->bytes != recv->bytes)
                return coll_i_goal_found(f, COLL_FOUND_SIZE, recvs[r].op,
                                         "expects %" PRIu64 " bytes from rank %" PRIu32
                                         ", which sends %" PRIu64 " (line %" PRIu32 ")",
                                         recv->bytes, recv->peer, send->bytes, send->line);
            send->match = recvs[r++].op;
            recv->match = sends[s++].op;
            continue;
        }
        if (s < n_sends && r < n_recvs) {
            key[0] = sends[s];
            key[1] = recvs[r];
            key[0].op = key[1].op = 0;
        }
        if (r == n_recvs || (s < n_sends && coll_i_goal_compare(&key[0], &key[1]) < 0))
            return coll_i_goal_found(f, COLL_FOUND_UNRECEIVED, sends[s].op,
                                     "sends rank %" PRIu32 " a message of tag %" PRIu32
                                     " that nobody receives",
                                     sends[s].to, sends[s].tag);
        return coll_i_goal_found(f, COLL_FOUND_UNSENT, recvs[r].op,
                                 "waits for a message of tag %" PRIu32 " from rank %" PRIu32
                                 ", which sends no such one, or no more of them",
                                 recvs[r].tag, recvs[r].from);
    }
    return true;
}

/* ---- order ------------------------------------------------------------------------------- */

COLL_INLINE coll_i_goal_event *coll_i_goal_event_at(const coll_i_goal_file *f, uint32_t event)
{
    return (coll_i_goal_event *)f->events.at + event;
}

/* The next event that this one comes after; `at` walks through them from 0 on. COLL_I_NONE: all were there. Events
 * 2·i and 2·i + 1 are the start and end of operation i. */
COLL_INLINE uint32_t coll_i_goal_before(const coll_i_goal_file *f, uint32_t event, uint32_t *at)
{
    const coll_i_goal_op *op = coll_i_goal_op_at(f, event / 2);
    if (event % 2 != 0) { /* an end */
        const bool waits = op->kind == 'r' || (op->kind == 's' && f->synchronous);
        const uint32_t i = (*at)++;
        return i == 0 ? event - 1 : i == 1 && waits ? 2 * op->match : COLL_I_NONE;
    }
    {
        const uint32_t edge = *at == 0 ? op->edges : *at - 1;
        const coll_i_goal_edge *e;
        if (edge == COLL_I_NONE)
            return COLL_I_NONE;
        e = (const coll_i_goal_edge *)f->edges.at + edge;
        *at = e->next == COLL_I_NONE ? 0 : e->next + 1;
        if (*at == 0)
            *at = COLL_I_NONE; /* the list has ended */
        return 2 * e->op + (e->started ? 0u : 1u);
    }
}

/* The next of what comes before, where the last one of a list was told. */
COLL_INLINE uint32_t coll_i_goal_next(const coll_i_goal_file *f, uint32_t event, uint32_t *at)
{
    return *at == COLL_I_NONE ? COLL_I_NONE : coll_i_goal_before(f, event, at);
}

COLL_INLINE bool coll_i_goal_circle(coll_i_goal_file *f, uint32_t top, uint32_t event)
{
    const uint32_t *stack = (const uint32_t *)f->stack.at;
    char circle[300];
    size_t used = 0;
    uint32_t i = top - 1, last = COLL_I_NONE;
    circle[0] = '\0';
    while (i > 0 && stack[i] != event)
        i--;
    for (uint32_t k = i; k < top && used + 60 < sizeof circle; k++) {
        const coll_i_goal_op *op = coll_i_goal_op_at(f, stack[k] / 2);
        if (stack[k] / 2 == last)
            continue;
        last = stack[k] / 2;
        used += (size_t)snprintf(circle + used, sizeof circle - used,
                                 "%s rank %" PRIu32 ", line %" PRIu32, used ? ", for" : "",
                                 op->rank, op->line);
    }
    return coll_i_goal_found(
        f, f->synchronous ? COLL_FOUND_DEADLOCK_SYNCHRONOUS : COLL_FOUND_DEADLOCK, event / 2,
        "waits for itself%s:%s", f->synchronous ? ", if sends wait for their receivers" : "",
        circle);
}

/* Levels of all events. */
COLL_INLINE bool coll_i_goal_levels(coll_i_goal_file *f)
{
    uint32_t *stack =
        (uint32_t *)coll_i_reserve_new(&f->stack, (2 * (size_t)f->n + 1) * sizeof *stack);
    if (!stack ||
        !coll_i_reserve_new(&f->events, (2 * (size_t)f->n + 1) * sizeof(coll_i_goal_event)))
        return coll_i_no_memory(f->report);
    memset(f->events.at, 0, (2 * (size_t)f->n + 1) * sizeof(coll_i_goal_event));
    for (uint32_t begin = 0; begin < 2 * f->n; begin++) {
        uint32_t top = 0;
        if (coll_i_goal_event_at(f, begin)->level != 0)
            continue;
        stack[top++] = begin;
        coll_i_goal_event_at(f, begin)->level = COLL_I_NONE;
        while (top > 0) {
            const uint32_t event = stack[top - 1];
            coll_i_goal_event *at = coll_i_goal_event_at(f, event);
            const uint32_t before = coll_i_goal_next(f, event, &at->at);
            if (before == COLL_I_NONE) {
                uint32_t level = 1, walk = 0, other;
                while ((other = coll_i_goal_next(f, event, &walk)) != COLL_I_NONE)
                    if (coll_i_goal_event_at(f, other)->level >= level)
                        level = coll_i_goal_event_at(f, other)->level + 1;
                at->level = level;
                top--;
            } else if (coll_i_goal_event_at(f, before)->level == COLL_I_NONE) {
                return coll_i_goal_circle(f, top, before);
            } else if (coll_i_goal_event_at(f, before)->level == 0) {
                coll_i_goal_event_at(f, before)->level = COLL_I_NONE;
                stack[top++] = before;
            }
        }
    }
    return true;
}

/* Does one operation of a rank start before another, however they run? */
COLL_INLINE bool coll_i_goal_starts_before(coll_i_goal_file *f, uint32_t older, uint32_t op)
{
    uint32_t *stack = (uint32_t *)f->stack.at, top = 0;
    const uint32_t least = coll_i_goal_event_at(f, 2 * older)->level;
    f->query++;
    stack[top++] = 2 * op;
    while (top > 0) {
        const uint32_t event = stack[--top];
        uint32_t walk = 0, other;
        while ((other = coll_i_goal_next(f, event, &walk)) != COLL_I_NONE) {
            coll_i_goal_event *at = coll_i_goal_event_at(f, other);
            if (other == 2 * older)
                return true;
            if (at->seen == f->query || at->level <= least)
                continue;
            at->seen = f->query;
            stack[top++] = other;
        }
    }
    return false;
}

/* Messages of one tag that are not all of one size must start in the order in which they stand, at either end. */
COLL_INLINE bool coll_i_goal_in_order(coll_i_goal_file *f, const coll_i_goal_message *list,
                                      uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const coll_i_goal_op *op = coll_i_goal_op_at(f, list[i].op),
                             *last = coll_i_goal_op_at(f, list[i - 1].op);
        if (!coll_i_goal_same(&list[i], &list[i - 1]) ||
            coll_i_goal_starts_before(f, list[i - 1].op, list[i].op))
            continue;
        if (op->bytes != last->bytes)
            return coll_i_goal_found(f, COLL_FOUND_RACE, list[i].op,
                                     "has the tag %" PRIu32
                                     " of a message of another size (line %" PRIu32
                                     "), and may start before it",
                                     op->tag, last->line);
        f->it->ambiguous++;
    }
    return true;
}

/* ---- plans ------------------------------------------------------------------------------- */

/* When an operation comes in a sequence: a send where it starts, a receive where it ends. */
COLL_INLINE uint32_t coll_i_goal_when(const coll_i_goal_file *f, uint32_t op)
{
    return 2 * op + (coll_i_goal_op_at(f, op)->kind == 'r' ? 1u : 0u);
}

COLL_INLINE bool coll_i_goal_plans(coll_i_goal_file *f)
{
    static const coll_i_lexeme name = {"goal", 4};
    coll_import *it = f->it;
    coll_problem problem;
    uint32_t *sorted =
        (uint32_t *)coll_i_reserve_new(&f->sorted, (f->n + (size_t)1) * sizeof *sorted);
    uint32_t *counts = (uint32_t *)calloc(2 * (size_t)f->n + 3, sizeof *counts);
    bool good = sorted && counts;
    it->plans = (coll_plan *)calloc(it->p, sizeof *it->plans);
    for (uint32_t i = 0; good && i < f->n; i++)
        counts[coll_i_goal_event_at(f, coll_i_goal_when(f, i))->level + 1]++;
    for (size_t level = 1; good && level < 2 * (size_t)f->n + 3; level++)
        counts[level] += counts[level - 1];
    for (uint32_t i = 0; good && i < f->n; i++)
        sorted[counts[coll_i_goal_event_at(f, coll_i_goal_when(f, i))->level]++] = i;
    free(counts);
    for (uint32_t i = 0; good && i < f->n; i++) {
        const coll_i_goal_op *op = coll_i_goal_op_at(f, sorted[i]);
        coll_i_imported_rank *r = &it->ranks[op->rank];
        coll_action *a;
        if (op->kind == 'c')
            continue;
        good = coll_i_imported_step_add(r, op->line, COLL_I_NONE, 0);
        a = good ? coll_i_imported_add(r) : NULL;
        good = a != NULL;
        if (good)
            coll_act_move(a, op->kind == 's', op->peer, COLL_AT(COLL_SCRATCH, 0),
                          (size_t)op->bytes);
        if (good && r->extent[COLL_SCRATCH] < op->bytes)
            r->extent[COLL_SCRATCH] = (size_t)op->bytes;
    }
    coll_i_import_record(it, COLL_BCAST, name);
    coll_problem_init(&problem, COLL_BCAST, it->p, 0, 1);
    for (uint32_t rank = 0; good && it->plans && rank < it->p; rank++)
        good = coll_i_import_plan(it, rank, &problem) == COLL_OK;
    it->problem = problem;
    it->custom = true;
    return (good && it->plans) || coll_i_goal_no_memory(f);
}

/* Reads GOAL into *it. */
COLL_INLINE coll_import_result coll_i_import_goal(coll_import *it, const char *text,
                                                  size_t bytes, coll_sentence *why)
{
    coll_i_goal_file f;
    coll_i_goal_message *sends, *recvs;
    uint32_t n_sends, n_recvs;
    bool good;
    memset(&f, 0, sizeof f);
    f.it = it;
    f.report = &it->report;
    coll_i_text_init(&f.text, text, bytes, why);
    good = coll_i_goal_read(&f);
    sends = good ? coll_i_goal_messages(&f, 's', &n_sends) : NULL;
    recvs = good ? coll_i_goal_messages(&f, 'r', &n_recvs) : NULL;
    if (good)
        good = (sends && recvs) || coll_i_goal_no_memory(&f);
    good = good && coll_i_goal_pairs(&f, sends, n_sends, recvs, n_recvs) &&
           coll_i_goal_levels(&f) && coll_i_goal_in_order(&f, sends, n_sends) &&
           coll_i_goal_in_order(&f, recvs, n_recvs) && coll_i_goal_plans(&f);
    f.synchronous = true;
    good = good && coll_i_goal_levels(&f);
    if (good)
        it->report.messages = n_sends;
    free(sends);
    free(recvs);
    coll_i_release(&f.ops);
    coll_i_release(&f.edges);
    coll_i_release(&f.events);
    coll_i_release(&f.stack);
    coll_i_release(&f.sorted);
    coll_i_release(&f.labels);
    return good ? COLL_IMPORTED : !f.text.bad ? COLL_IMPORT_WRONG : COLL_IMPORT_REFUSED;
}

#endif /* COLL_LAB_IMPORT_IMPORT_GOAL_H */
