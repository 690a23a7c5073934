/* coll/nic/lower.h — lowering: a schedule becomes a program of counters and triggers
 *
 *   coll_nic_limits limits;
 *   coll_nic_program program;
 *   coll_nic_memory memory = {malloc(bytes), bytes, 0};
 *   coll_nic_limits_init(&limits);                       // then what the NIC has
 *   status = coll_nic_lower(&program, &plan, &schedule, &limits, &memory);
 *   if (status == COLL_OK && (why = coll_nic_refusal(&program.needs, &limits)) != NULL)
 *       …                                                // the NIC has less than program.needs
 *
 * Events that one operation waits for are a group (nic/nic_events.h), and a counter counts one group after the
 * other. A group may follow another on its counter if each of its events begins after that one is
 * complete: then a threshold of as many events as there are up to the end of a group is reached if and only
 * if these have happened, whatever the order of all others. An event that is in several groups counts
 * alone, and an ADD for each of the others; where a group has all that an older one has, one ADD stands
 * for that.
 *
 *   broadcast in a chain, a rank in the middle, two segments:
 *     recv 0 → send 0 ─┐        counter 0 counts recv 0, and counter 1 recv 1, as they come in any order;
 *     recv 1 → send 1 ─┴→ end   counter 2 counts both sends, and the end waits for 2
 *
 * Receives are posted as early as their memory is free. If the NIC holds fewer, or has too few counters, some
 * wait for older ones to complete. If that does not do, all keep the order in which an in-order engine
 * runs them, with coll_plan.sends sends in flight, so that the program still ends. The same (plan,
 * schedule, limits) gives the same program. Nothing here allocates, and all of it may run on a host long
 * before the NIC has the program.
 */
#ifndef COLL_NIC_LOWER_H
#define COLL_NIC_LOWER_H

#include "nic_events.h"

/* What the second half keeps: counters, and what has become of groups. */
typedef struct coll_i_nic_assignment {
    coll_i_nic_lowering *l;
    coll_nic_op *ops;
    uint32_t *adds;   /* by number of an add: the operation */
    uint32_t *counts; /* by counter: events so far */
    uint32_t *last;   /* … and the last group */
    uint32_t *order;  /* … and the number of that when it was placed */
    uint32_t n_ops, n_adds, counters, placed;
} coll_i_nic_assignment;

/* What counts for a member of a group: the event itself, or the event of its ADD. */
COLL_INLINE uint32_t *coll_i_nic_counted(const coll_i_nic_lowering *l, uint32_t group)
{
    return l->counted + l->groups[group].first;
}

/* Begins every event of a group after all of another one are complete? */
COLL_INLINE bool coll_i_nic_succeeds(const coll_i_nic_lowering *l, uint32_t group,
                                     uint32_t other)
{
    const uint32_t *later = coll_i_nic_counted(l, group), *first = coll_i_nic_counted(l, other);
    for (uint32_t i = 0; i < l->groups[group].parts; i++)
        for (uint32_t k = 0; k < l->groups[other].parts; k++)
            if (!coll_i_nic_has(coll_i_nic_row(l, later[i]), first[k]))
                return false;
    return true;
}

/* The counter of a group: of those that it may share the one that was used last, else a new one. */
COLL_INLINE uint32_t coll_i_nic_counter_for(coll_i_nic_assignment *a, uint32_t group)
{
    uint32_t best = a->counters;
    for (uint32_t c = a->l->signals; c < a->counters; c++)
        if ((best == a->counters || a->order[c] > a->order[best]) &&
            coll_i_nic_succeeds(a->l, group, a->last[c]))
            best = c;
    if (best == a->counters) {
        a->counts[best] = 0;
        a->counters++;
    }
    return best;
}

/* Places a group on a counter, all of whose members count for themselves or have an ADD. */
COLL_INLINE void coll_i_nic_place(coll_i_nic_assignment *a, uint32_t group)
{
    coll_i_nic_lowering *l = a->l;
    coll_i_nic_group *it = &l->groups[group];
    const uint32_t *counted = coll_i_nic_counted(l, group);
    const uint32_t c = coll_i_nic_counter_for(a, group);
    a->counts[c] += it->parts;
    a->last[c] = group;
    a->order[c] = a->placed++;
    it->counter = (uint16_t)c;
    it->threshold = a->counts[c];
    for (uint32_t i = 0; i < it->parts; i++)
        if (counted[i] < l->all)
            a->ops[l->events[counted[i]].at].done = it->counter;
        else
            a->ops[a->adds[counted[i] - l->all]].done = it->counter;
}

/* The group of an event alone, with a counter. */
COLL_INLINE uint32_t coll_i_nic_alone(coll_i_nic_assignment *a, uint32_t event)
{
    coll_i_nic_lowering *l = a->l;
    coll_i_nic_event *it = &l->events[event];
    uint32_t group = it->head;
    if (it->own != COLL_I_NIC_NOTHING)
        return it->own;
    while (group != COLL_I_NIC_NOTHING && l->groups[group].n != 1)
        group = l->groups[group].next;
    if (group == COLL_I_NIC_NOTHING) {
        group = l->n_groups++;
        l->groups[group].first = l->n_members + event;
        l->groups[group].n = l->groups[group].parts = 1;
    }
    it->own = group;
    if (it->op.kind == COLL_I_NIC_CREDIT) {
        l->groups[group].counter = it->op.done;
        l->groups[group].threshold = it->op.number + 1;
    } else {
        *coll_i_nic_counted(l, group) = event;
        coll_i_nic_place(a, group);
    }
    return group;
}

/* Writes an ADD for an event that has a counter; its number as an event. */
COLL_INLINE uint32_t coll_i_nic_add_for(coll_i_nic_assignment *a, uint32_t event,
                                        uint32_t group)
{
    coll_i_nic_lowering *l = a->l;
    coll_nic_op *op = &a->ops[a->n_ops];
    const uint32_t number = l->all + a->n_adds;
    coll_i_nic_op_assign(op, &l->events[event].op);
    op->kind = COLL_NIC_ADD;
    op->token = 0;
    op->inputs = 0;
    op->trigger = l->groups[group].counter;
    op->threshold = l->groups[group].threshold;
    op->peer = op->number = 0;
    op->count = op->stride = 0;
    op->dst = op->src = op->via = 0;
    a->adds[a->n_adds++] = a->n_ops++;
    coll_i_nic_clear(l, number);
    coll_i_nic_follow(l, number, event);
    return number;
}

/* An event comes after all that counts for a group, which has a counter. */
COLL_INLINE void coll_i_nic_follow_all(const coll_i_nic_lowering *l, uint32_t event,
                                       uint32_t group)
{
    const coll_i_nic_group *it = &l->groups[group];
    if (it->n == 1) /* what comes in a signal counts by itself */
        coll_i_nic_follow(l, event, l->members[it->first]);
    for (uint32_t i = 0; it->n > 1 && i < it->parts; i++)
        coll_i_nic_follow(l, event, coll_i_nic_counted(l, group)[i]);
}

/* Writes an event's operation, which waits for a group that has a counter, or for nothing. */
COLL_INLINE void coll_i_nic_write_op(coll_i_nic_assignment *a, uint32_t event)
{
    coll_i_nic_lowering *l = a->l;
    coll_i_nic_event *it = &l->events[event];
    coll_nic_op *op = &a->ops[a->n_ops];
    coll_i_nic_op_assign(op, &it->op);
    it->at = a->n_ops++;
    coll_i_nic_clear(l, event);
    if (it->need == COLL_I_NIC_NOTHING)
        return;
    op->trigger = l->groups[it->need].counter;
    op->threshold = l->groups[it->need].threshold;
    coll_i_nic_follow_all(l, event, it->need);
}

/* Has a part count for a group, or an ADD for it, if it counts for others, too. */
COLL_INLINE uint32_t coll_i_nic_counts_as(coll_i_nic_assignment *a, uint32_t event)
{
    if (a->l->events[event].uses <= 1)
        return event;
    return coll_i_nic_add_for(a, event, coll_i_nic_alone(a, event));
}

/* Gives a group its counter. Its base is older, and has one. */
COLL_INLINE void coll_i_nic_assign(coll_i_nic_assignment *a, uint32_t group)
{
    coll_i_nic_lowering *l = a->l;
    const coll_i_nic_group *it = &l->groups[group];
    const uint32_t base = it->base;
    uint32_t *counted = coll_i_nic_counted(l, group);
    if (it->counter != COLL_NIC_NONE)
        return;
    if (it->n == 1) {
        (void)coll_i_nic_alone(a, l->members[it->first]);
        return;
    }
    if (base != COLL_I_NIC_NOTHING) {
        const uint32_t marker = l->groups[base].marker;
        if (l->events[marker].at == COLL_I_NIC_NOTHING)
            coll_i_nic_write_op(a, marker);
        *counted++ = coll_i_nic_counts_as(a, marker);
    }
    for (uint32_t i = 0; i < it->n; i++) {
        const uint32_t event = l->members[it->first + i];
        if (base == COLL_I_NIC_NOTHING || !coll_i_nic_is_member(l, base, event))
            *counted++ = coll_i_nic_counts_as(a, event);
    }
    coll_i_nic_place(a, group);
}

/* Writes what an event becomes, and before it the ADDs of its group. */
COLL_INLINE void coll_i_nic_write(coll_i_nic_assignment *a, uint32_t event)
{
    coll_i_nic_lowering *l = a->l;
    const coll_i_nic_event *it = &l->events[event];
    if (it->op.kind == COLL_I_NIC_CREDIT) {
        coll_i_nic_clear(l, event);
        if (it->op.number > 0)
            coll_i_nic_follow(l, event, coll_i_nic_previous(l, event));
        return;
    }
    if (it->need != COLL_I_NIC_NOTHING)
        coll_i_nic_assign(a, it->need);
    coll_i_nic_write_op(a, event);
}

/* Operations of the kind ADD: markers, and one for each part of a group that is one of others, too. */
COLL_INLINE uint32_t coll_i_nic_count_adds(const coll_i_nic_lowering *l)
{
    uint32_t adds = 0;
    for (uint32_t g = 0; g < l->n_groups; g++) {
        const coll_i_nic_group *it = &l->groups[g];
        const bool based = it->base != COLL_I_NIC_NOTHING;
        if (based && l->events[l->groups[it->base].marker].uses > 1)
            adds++;
        for (uint32_t i = 0; it->n > 1 && i < it->n; i++) {
            const uint32_t event = l->members[it->first + i];
            if (l->events[event].uses > 1 &&
                !(based && coll_i_nic_is_member(l, it->base, event)))
                adds++;
        }
    }
    return adds;
}

/* Brings what the program keeps to the begin of the memory. */
COLL_INLINE void coll_i_nic_keep(coll_i_nic_assignment *a, coll_nic_program *program)
{
    coll_nic_memory *memory = a->l->memory;
    coll_nic_op *ops = (coll_nic_op *)memory->at;
    uint32_t *words = (uint32_t *)(void *)(ops + a->n_ops);
    program->signals = a->l->signals;
    program->arrivals = 0;
    program->needs.ops = a->n_ops;
    program->needs.counters = a->counters;
    program->needs.receives = /* each waits for the one so many before it, or is in a chain */
        a->l->most > 0 && a->l->most < a->l->chains ? a->l->most : a->l->chains;
    /* the peers whose signals are counted, before their events are written over */
    for (uint32_t event = 0; event < a->l->n; event++)
        if (a->l->events[event].op.kind == COLL_I_NIC_CREDIT) {
            const coll_nic_op *op = &a->l->events[event].op;
            a->last[op->done] = op->peer;
            a->counts[op->done] = op->number + 1;
        }
    for (uint32_t i = 0; i < a->n_ops; i++)
        coll_i_nic_op_assign(&ops[i], &a->ops[i]);
    for (uint32_t i = 0; i < a->counters; i++)
        words[i] = a->counts[i];
    for (uint32_t i = 0; i < program->signals; i++)
        words[a->counters + i] = a->last[i];
    program->ops = ops;
    program->counts = words;
    program->signal_peers = words + a->counters;
    memory->used = a->n_ops * sizeof *ops + (a->counters + program->signals) * sizeof *words;
}

/* Lowers with at most so many receives posted at one time. */
COLL_INLINE coll_status coll_i_nic_lower(coll_nic_program *program, const coll_plan *plan,
                                         const coll_schedule *schedule,
                                         const coll_nic_limits *limits, uint32_t most,
                                         coll_nic_memory *memory)
{
    coll_i_nic_lowering l;
    coll_i_nic_assignment a;
    size_t events, groups;
    coll_status status;
    l.plan = plan;
    l.memory = memory;
    l.most = most;
    l.in_flight = schedule->sends > 0 ? schedule->sends : 1;
    l.unexpected = limits->unexpected && !limits->puts;
    l.puts = limits->puts;
    l.ordered = schedule->shared > 0 || plan->problem.collective == COLL_BARRIER;
    status = coll_i_nic_events(&l, schedule);
    if (status != COLL_OK)
        return status;
    events = (size_t)l.all + coll_i_nic_count_adds(&l);
    groups = (size_t)l.n_groups + l.all;
    l.words = (uint32_t)(events + 31) / 32;
    l.counted =
        (uint32_t *)coll_i_nic_take(memory, (size_t)l.n_members + l.all, sizeof *l.counted);
    l.before = (uint32_t *)coll_i_nic_take(memory, events * l.words, sizeof *l.before);
    a.l = &l;
    a.ops = (coll_nic_op *)coll_i_nic_take(memory, events, sizeof *a.ops);
    a.adds = (uint32_t *)coll_i_nic_take(memory, events, sizeof *a.adds);
    a.counts = (uint32_t *)coll_i_nic_take(memory, groups + l.signals, sizeof *a.counts);
    a.last = (uint32_t *)coll_i_nic_take(memory, groups + l.signals, sizeof *a.last);
    a.order = (uint32_t *)coll_i_nic_take(memory, groups + l.signals, sizeof *a.order);
    if (!l.counted || !l.before || !a.ops || !a.adds || !a.counts || !a.last || !a.order)
        return COLL_ERR_MEMORY;
    a.n_ops = a.n_adds = a.placed = 0;
    a.counters = l.signals;
    for (uint32_t event = 0; event < l.n; event++)
        coll_i_nic_write(&a, event);
    if (a.counters >= COLL_NIC_NONE)
        return COLL_ERR_OVERFLOW;
    coll_i_nic_keep(&a, program);
    program->rank = schedule->rank;
    program->needs.actions = (uint32_t)schedule->n;
    return COLL_OK;
}

/* Makes a program of a rank's schedule, which was written from the plan, and tells its needs; these may
 * be more than the limits (coll_nic_refusal). The program lies at the begin of *memory, memory->used bytes of
 * it, and the rest is free again; the schedule may go. COLL_ERR_MEMORY: it takes more, at least
 * memory->used bytes. COLL_ERR_OVERFLOW: the schedule is too long. */
COLL_INLINE coll_status coll_nic_lower(coll_nic_program *program, const coll_plan *plan,
                                       const coll_schedule *schedule,
                                       const coll_nic_limits *limits, coll_nic_memory *memory)
{
    uint32_t most;
    coll_status status;
    if (!program || !plan || !schedule || !limits || !memory || !memory->at)
        return COLL_ERR_NULL;
    most = limits->receives > 0 ? limits->receives : 1;
    for (;;) {
        status = coll_i_nic_lower(program, plan, schedule, limits, most, memory);
        if (status != COLL_OK || most == 0 || program->needs.counters <= limits->counters)
            return status;
        if (program->needs.receives < most)
            most = program->needs.receives;
        most /= 2;
    }
}

#endif /* COLL_NIC_LOWER_H */
