/* coll/nic/nic_events.h — what happens in one rank's program, and what each event needs: the first half of
 * lowering
 *
 * The actions of a schedule become events: a RECV_REDUCE is a receive and a reduction, a multicast is
 * a send to each other rank. An event needs those before it that touch the same memory, one of them
 * writing; of these only the ones that no other implies. Events that need the same wait for one group.
 * Use nic/lower.h.
 */
#ifndef COLL_NIC_NIC_EVENTS_H
#define COLL_NIC_NIC_EVENTS_H

#include "../executor/schedule.h"
#include "nic_program.h"

/* Memory of the caller's for lowering. */
typedef struct coll_nic_memory {
    void *at;     /* aligned as of malloc; the program lies there at the end */
    size_t bytes; /* of it */
    size_t
        used; /* bytes that the program keeps; after COLL_ERR_MEMORY: at least so many are needed */
} coll_nic_memory;

/* Beside the kinds of operations: the peer signals that its receive is posted. */
enum { COLL_I_NIC_CREDIT = COLL_NIC_KINDS };
#define COLL_I_NIC_NOTHING UINT32_MAX

typedef struct coll_i_nic_event {
    coll_nic_op op;
    uint32_t need;         /* the group that it waits for, or NOTHING */
    uint32_t uses;         /* groups that it is in; 2: one more than that may be */
    uint32_t own;          /* the group of it alone, once that has a counter */
    uint32_t head;         /* the last group of which it is the first member */
    uint32_t at;           /* of the operations, which one it became */
    uint32_t order, after; /* how many receives, and sends, come before it */
    uint32_t send;         /* by number of a send: its event */
    uint32_t recv,
        tail; /* by number of a receive: its event; by number of a chain: its last receive */
} coll_i_nic_event;

/* Events that an operation waits for. */
typedef struct coll_i_nic_group {
    uint32_t first,
        n; /* in `members`, the youngest first; or, of an event alone, only in `counted` */
    uint32_t next;   /* a group with the same first member */
    uint32_t base;   /* a group whose members are all in this one, too, or NOTHING … */
    uint32_t marker; /* … the event that stands for all of this one there, or NOTHING */
    uint32_t parts;  /* what counts for it: the marker of the base, and the other members */
    uint32_t threshold;
    uint16_t counter; /* COLL_NIC_NONE: none yet */
} coll_i_nic_group;

typedef struct coll_i_nic_lowering {
    const coll_plan *plan;
    coll_nic_memory *memory;
    coll_i_nic_event *events;
    coll_i_nic_group *groups;
    uint32_t *members; /* of groups */
    uint32_t *
        counted; /* in the second half: what counts for groups; behind them, for each event alone */
    uint32_t *before;  /* a row of bits for each event: what happens before it */
    uint32_t n, words; /* events, END too; of a row */
    uint32_t all;      /* with markers, which are behind them */
    uint32_t n_groups, n_members;
    uint32_t receives, most;   /* so far; that may be posted at one time; 0: as in order */
    uint32_t sends, in_flight; /* so far; in order: at one time */
    uint32_t chains;           /* of receives */
    uint32_t signals;          /* counters of signals */
    bool unexpected;
    bool puts; /* messages to a peer are sent one after the other */
    /* Ranks share memory, or meet in a barrier: messages of one direction between two ranks bring each
     * other's past along, as those of an engine do. */
    bool ordered;
} coll_i_nic_lowering;

/* Memory for n objects of so many bytes; NULL: there is not so much. */
COLL_INLINE void *coll_i_nic_take(coll_nic_memory *memory, size_t n, size_t bytes)
{
    const size_t align = sizeof(size_t) - 1;
    size_t begin = (memory->used + align) & ~align, more;
    if (!coll_multiply(n, bytes, &more) || more > SIZE_MAX / 2 - begin)
        more = SIZE_MAX / 2 - begin;
    memory->used = begin + more;
    return memory->used > memory->bytes ? NULL : (unsigned char *)memory->at + begin;
}

/* ---- sets of events ---------------------------------------------------------------------- */

COLL_INLINE uint32_t *coll_i_nic_row(const coll_i_nic_lowering *l, uint32_t event)
{
    return l->before + (size_t)event * l->words;
}

COLL_INLINE bool coll_i_nic_has(const uint32_t *row, uint32_t event)
{
    return (row[event / 32] >> event % 32 & 1u) != 0;
}

COLL_INLINE void coll_i_nic_clear(const coll_i_nic_lowering *l, uint32_t event)
{
    uint32_t *row = coll_i_nic_row(l, event);
    for (uint32_t i = 0; i < l->words; i++)
        row[i] = 0;
}

/* Before `event` comes `other`, and all that comes before that. */
COLL_INLINE void coll_i_nic_follow(const coll_i_nic_lowering *l, uint32_t event, uint32_t other)
{
    uint32_t *row = coll_i_nic_row(l, event);
    const uint32_t *more = coll_i_nic_row(l, other);
    for (uint32_t i = 0; i < l->words; i++)
        row[i] |= more[i];
    row[other / 32] |= (uint32_t)1 << other % 32;
}

/* ---- events of a schedule ---------------------------------------------------------------- */

/* The event before this one of the same kind with the same peer, or NOTHING. */
COLL_INLINE uint32_t coll_i_nic_previous(const coll_i_nic_lowering *l, uint32_t event)
{
    const coll_nic_op *op = &l->events[event].op;
    while (event-- > 0)
        if (l->events[event].op.kind == op->kind && l->events[event].op.peer == op->peer)
            return event;
    return COLL_I_NIC_NOTHING;
}

/* How many events an action becomes. */
COLL_INLINE uint32_t coll_i_nic_events_of(const coll_i_nic_lowering *l, const coll_action *a)
{
    const uint32_t message = l->unexpected ? 1 : 2;
    if (a->count == 0)
        return 0;
    if (a->kind == COLL_DO_MULTICAST)
        return (l->plan->problem.p - 1) * message;
    if (coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, a))
        return message + (a->kind == COLL_DO_RECV_REDUCE ? 1 : 0);
    return 1;
}

/* An event that needs nothing yet. */
COLL_INLINE void coll_i_nic_event_init(coll_i_nic_event *event, unsigned kind, uint32_t peer,
                                       size_t count)
{
    coll_nic_op *op = &event->op;
    op->kind = (uint8_t)kind;
    op->token = 0;
    op->inputs = 0;
    op->trigger = op->done = COLL_NIC_NONE;
    op->threshold = op->number = 0;
    op->peer = peer;
    op->count = count;
    op->dst = op->src = op->via = 0;
    op->stride = 0;
    event->need = event->own = event->head = event->at = COLL_I_NIC_NOTHING;
    event->uses = kind == COLL_I_NIC_CREDIT ? 2 : 0;
    event->order = event->after = event->tail = 0; /* events[…].recv and send may be set */
}

/* Adds an event. */
COLL_INLINE coll_i_nic_event *coll_i_nic_add(coll_i_nic_lowering *l, unsigned kind,
                                             uint32_t peer, size_t count)
{
    coll_i_nic_event *event = &l->events[l->n++];
    coll_nic_op *op = &event->op;
    uint32_t previous;
    coll_i_nic_event_init(event, kind, peer, count);
    event->order = l->receives;
    event->after = l->sends;
    if (kind != COLL_NIC_SEND && kind != COLL_NIC_RECV && kind != COLL_NIC_NETWORK &&
        kind != COLL_I_NIC_CREDIT)
        return event; /* it has no number */
    previous = coll_i_nic_previous(l, l->n - 1);
    if (previous != COLL_I_NIC_NOTHING)
        op->number = l->events[previous].op.number + 1;
    if (kind == COLL_I_NIC_CREDIT)
        op->done = previous != COLL_I_NIC_NOTHING ? l->events[previous].op.done
                                                  : (uint16_t)l->signals++;
    if (kind == COLL_NIC_RECV)
        l->events[l->receives++].recv = l->n - 1;
    if (kind == COLL_NIC_SEND)
        l->events[l->sends++].send = l->n - 1;
    return event;
}

COLL_INLINE void coll_i_nic_add_send(coll_i_nic_lowering *l, const coll_action *a,
                                     uint32_t peer)
{
    coll_i_nic_event *event;
    if (!l->unexpected)
        (void)coll_i_nic_add(l, COLL_I_NIC_CREDIT, peer, 0);
    event = coll_i_nic_add(l, COLL_NIC_SEND, peer, a->count);
    event->op.token = coll_i_is_token(a);
    event->op.src = a->src;
}

COLL_INLINE void coll_i_nic_add_action(coll_i_nic_lowering *l, uint32_t rank,
                                       const coll_action *a)
{
    const bool merges = a->kind == COLL_DO_RECV_REDUCE,
               left = merges && (a->flags & COLL_LEFT) != 0;
    coll_i_nic_event *event;
    if (a->kind == COLL_DO_MULTICAST) {
        for (uint32_t peer = 0; peer < l->plan->problem.p; peer++)
            if (peer != rank)
                coll_i_nic_add_send(l, a, peer);
        return;
    }
    if (coll_i_has(COLL_I_SENDS, a)) {
        coll_i_nic_add_send(l, a, a->peer);
        return;
    }
    if (coll_i_has(COLL_I_RECEIVES, a)) {
        event = coll_i_nic_add(l, COLL_NIC_RECV, a->peer, a->count);
        event->op.token = coll_i_is_token(a);
        event->op.dst = merges ? a->via : a->dst;
        if (!l->unexpected)
            (void)coll_i_nic_add(l, COLL_NIC_SIGNAL, a->peer, 0);
        if (!merges)
            return;
    }
    event = coll_i_nic_add(l,
                           a->kind == COLL_DO_COPY             ? COLL_NIC_COPY
                           : a->kind == COLL_DO_NETWORK_REDUCE ? COLL_NIC_NETWORK
                                                               : COLL_NIC_REDUCE,
                           a->kind == COLL_DO_NETWORK_REDUCE ? a->peer : 0, a->count);
    event->op.token = coll_i_is_token(a);
    event->op.dst = a->dst;
    event->op.src = left ? a->via : a->src;
    event->op.via = left ? a->src : a->via;
    event->op.inputs = merges ? 1 : a->inputs;
    event->op.stride = merges ? 0 : a->stride;
}

/* ---- what an event needs ----------------------------------------------------------------- */

/* Is an event a member of a group? */
COLL_INLINE bool coll_i_nic_is_member(const coll_i_nic_lowering *l, uint32_t group,
                                      uint32_t event)
{
    const coll_i_nic_group *it = &l->groups[group];
    for (uint32_t i = 0; i < it->n; i++)
        if (l->members[it->first + i] == event)
            return true;
    return false;
}

/* Is an event an operation that an in-order engine waits for? */
COLL_INLINE bool coll_i_nic_blocks(const coll_i_nic_event *event)
{
    return event->op.kind == COLL_NIC_RECV || event->op.kind == COLL_NIC_COPY ||
           event->op.kind == COLL_NIC_REDUCE || event->op.kind == COLL_NIC_NETWORK;
}

/* What an in-order engine waits for before this event, or NOTHING. */
COLL_INLINE uint32_t coll_i_nic_behind(const coll_i_nic_lowering *l, uint32_t event)
{
    if (l->most > 0 ||
        (!coll_i_nic_blocks(&l->events[event]) && l->events[event].op.kind != COLL_NIC_SEND))
        return COLL_I_NIC_NOTHING;
    while (event-- > 0)
        if (coll_i_nic_blocks(&l->events[event]))
            return event;
    return COLL_I_NIC_NOTHING;
}

/* The youngest send that is complete before this event in an in-order engine, as so many may be in flight; or NOTHING. */
COLL_INLINE uint32_t coll_i_nic_sent(const coll_i_nic_lowering *l, uint32_t event)
{
    const coll_i_nic_event *it = &l->events[event];
    const uint32_t flying = l->in_flight + (it->op.kind == COLL_NIC_SEND ? 0 : 1);
    if (l->most > 0 || (!coll_i_nic_blocks(it) && it->op.kind != COLL_NIC_SEND) ||
        it->after < flying)
        return COLL_I_NIC_NOTHING;
    return l->events[it->after - flying].send;
}

/* Must an event come after an older one? `previous`: its coll_i_nic_previous; `signal`: a SIGNAL that a
 * receive must come after. */
COLL_INLINE bool coll_i_nic_depends(const coll_i_nic_lowering *l, uint32_t event,
                                    uint32_t older, uint32_t previous, uint32_t signal)
{
    const coll_nic_op *op = &l->events[event].op;
    switch (op->kind) {
    case COLL_NIC_END:
        return true;
    case COLL_NIC_NETWORK:
        if (older == previous)
            return true;
        break;
    case COLL_NIC_SEND:
        if ((older + 1 == event && l->events[older].op.kind == COLL_I_NIC_CREDIT) ||
            (l->puts && older == previous) ||
            (l->ordered && previous != COLL_I_NIC_NOTHING &&
             l->events[previous].need != COLL_I_NIC_NOTHING &&
             coll_i_nic_is_member(l, l->events[previous].need, older)))
            return true;
        break;
    case COLL_NIC_RECV:
        if (older == signal || (l->ordered && older == previous) ||
            (l->most > 0 && l->events[event].order >= l->most &&
             older == l->events[l->events[event].order - l->most].recv))
            return true;
        break;
    default:
        break;
    }
    return coll_i_nic_conflict(&l->events[older].op, op);
}

/* Writes the members of the event's group, those that no other implies. Their number; `room` at most, or one more. */
COLL_INLINE uint32_t coll_i_nic_find_needs(const coll_i_nic_lowering *l, uint32_t event,
                                           uint32_t signal, uint32_t *members, uint32_t room)
{
    const uint32_t kind = l->events[event].op.kind;
    const bool keeps = kind == COLL_NIC_NETWORK || (l->ordered && kind <= COLL_NIC_RECV) ||
                       (l->puts && kind == COLL_NIC_SEND);
    const uint32_t previous = keeps ? coll_i_nic_previous(l, event) : COLL_I_NIC_NOTHING,
                   behind = coll_i_nic_behind(l, event), sent = coll_i_nic_sent(l, event);
    const uint32_t *row = coll_i_nic_row(l, event);
    uint32_t n = 0;
    coll_i_nic_clear(l, event);
    for (uint32_t older = event; older-- > 0;) {
        if (coll_i_nic_has(row, older) ||
            (older != behind && older != sent &&
             !coll_i_nic_depends(l, event, older, previous, signal)))
            continue;
        if (n == room)
            return n + 1;
        members[n++] = older;
        coll_i_nic_follow(l, event, older);
    }
    return n;
}

/* Finds the largest group of at least two members that are all in a new one: its marker stands for them. */
COLL_INLINE void coll_i_nic_find_base(coll_i_nic_lowering *l, uint32_t group)
{
    coll_i_nic_group *it = &l->groups[group];
    uint32_t most = 1;
    it->base = it->marker = COLL_I_NIC_NOTHING;
    for (uint32_t g = 0; g < group; g++) {
        const coll_i_nic_group *other = &l->groups[g];
        uint32_t in = 0;
        if (other->n <= most || other->n >= it->n)
            continue;
        while (in < other->n && coll_i_nic_is_member(l, group, l->members[other->first + in]))
            in++;
        if (in < other->n)
            continue;
        most = other->n;
        it->base = g;
    }
    it->parts = it->base == COLL_I_NIC_NOTHING ? it->n : it->n - most + 1;
}

/* Makes the markers, and counts for each event, and each marker, the groups that it is a part of. */
COLL_INLINE void coll_i_nic_count_uses(coll_i_nic_lowering *l)
{
    l->all = l->n;
    for (uint32_t g = 0; g < l->n_groups; g++) {
        const coll_i_nic_group *it = &l->groups[g];
        coll_i_nic_group *base = &l->groups[it->base == COLL_I_NIC_NOTHING ? g : it->base];
        if (it->base != COLL_I_NIC_NOTHING && base->marker == COLL_I_NIC_NOTHING) {
            base->marker = l->all++;
            coll_i_nic_event_init(&l->events[base->marker], COLL_NIC_ADD, 0, 0);
            l->events[base->marker].need = it->base;
        }
        if (it->base != COLL_I_NIC_NOTHING)
            l->events[base->marker].uses++;
        for (uint32_t i = 0; i < it->n; i++)
            if (it->base == COLL_I_NIC_NOTHING ||
                !coll_i_nic_is_member(l, it->base, l->members[it->first + i]))
                l->events[l->members[it->first + i]].uses++;
    }
}

/* The group of these members, the last ones of `members`; made where there is none. */
COLL_INLINE uint32_t coll_i_nic_group_of(coll_i_nic_lowering *l, uint32_t n)
{
    const uint32_t first = l->n_members;
    const uint32_t *members = l->members + first;
    coll_i_nic_event *head = &l->events[members[0]];
    coll_i_nic_group *group;
    for (uint32_t g = head->head; g != COLL_I_NIC_NOTHING; g = l->groups[g].next) {
        uint32_t same = 0;
        group = &l->groups[g];
        while (same < n && group->n == n && l->members[group->first + same] == members[same])
            same++;
        if (same == n)
            return g;
    }
    group = &l->groups[l->n_groups];
    group->first = first;
    group->n = n;
    group->threshold = 0;
    group->counter = COLL_NIC_NONE;
    group->next = head->head;
    head->head = l->n_groups;
    l->n_members += n;
    coll_i_nic_find_base(l, l->n_groups);
    return l->n_groups++;
}

/* Puts a receive behind another one that is over when it is posted, or at the head of a new chain. */
COLL_INLINE void coll_i_nic_chain(coll_i_nic_lowering *l, uint32_t event)
{
    uint32_t chain = 0;
    while (chain < l->chains &&
           !coll_i_nic_has(coll_i_nic_row(l, event), l->events[chain].tail))
        chain++;
    if (chain == l->chains)
        l->chains++;
    l->events[chain].tail = event;
}

/* Finds what an event needs. `room`: for members. COLL_ERR_MEMORY: there is none. */
COLL_INLINE coll_status coll_i_nic_connect(coll_i_nic_lowering *l, uint32_t event,
                                           uint32_t room)
{
    coll_i_nic_event *it = &l->events[event];
    uint32_t n, before = COLL_I_NIC_NOTHING;
    if (it->op.kind == COLL_I_NIC_CREDIT) { /* it is no operation, and waits for nothing */
        before = coll_i_nic_previous(l, event);
        coll_i_nic_clear(l, event);
        if (before != COLL_I_NIC_NOTHING)
            coll_i_nic_follow(l, event, before);
        return COLL_OK;
    }
    if (it->op.kind == COLL_NIC_SIGNAL) { /* it starts with its receive */
        it->need = l->events[event - 1].need;
        coll_i_nic_clear(l, event);
        for (uint32_t i = 0; i < l->words; i++)
            coll_i_nic_row(l, event)[i] = coll_i_nic_row(l, event - 1)[i];
        return COLL_OK;
    }
    n = coll_i_nic_find_needs(l, event, COLL_I_NIC_NOTHING, l->members + l->n_members, room);
    if (it->op.kind == COLL_NIC_RECV && !l->unexpected) {
        before = coll_i_nic_previous(l, event);
        if (before != COLL_I_NIC_NOTHING &&
            (n > 0 || l->events[before].need != COLL_I_NIC_NOTHING))
            n = coll_i_nic_find_needs(l, event, before + 1, l->members + l->n_members, room);
    }
    if (n > room)
        return COLL_ERR_MEMORY;
    if (n > 0)
        it->need = coll_i_nic_group_of(l, n);
    if (it->op.kind == COLL_NIC_RECV)
        coll_i_nic_chain(l, event);
    return COLL_OK;
}

/* Makes events of a schedule, and groups of what they need. */
COLL_INLINE coll_status coll_i_nic_events(coll_i_nic_lowering *l, const coll_schedule *schedule)
{
    coll_nic_memory *memory = l->memory;
    uint64_t all = 1;
    size_t room;
    for (size_t i = 0; i < schedule->n; i++)
        all += coll_i_nic_events_of(l, &schedule->actions[i]);
    if (all > UINT32_MAX / 4)
        return COLL_ERR_OVERFLOW;
    l->n = l->n_groups = l->n_members = l->receives = l->sends = l->chains = l->signals = 0;
    l->words = (uint32_t)(all + 31) / 32;
    memory->used = 0;
    l->events = (coll_i_nic_event *)coll_i_nic_take(memory, 2 * (size_t)all, sizeof *l->events);
    l->groups = (coll_i_nic_group *)coll_i_nic_take(memory, 3 * (size_t)all, sizeof *l->groups);
    l->before = (uint32_t *)coll_i_nic_take(memory, (size_t)all * l->words, sizeof *l->before);
    l->members = (uint32_t *)coll_i_nic_take(memory, 0, 1);
    if (!l->events || !l->groups || !l->before || !l->members)
        return COLL_ERR_MEMORY;
    for (size_t i = 0; i < schedule->n; i++)
        if (schedule->actions[i].count != 0)
            coll_i_nic_add_action(l, schedule->rank, &schedule->actions[i]);
    (void)coll_i_nic_add(l, COLL_NIC_END, 0, 0);
    for (uint32_t event = 0; event < l->n; event++) {
        coll_status status;
        room = (memory->bytes - memory->used) / sizeof *l->members - l->n_members;
        status = coll_i_nic_connect(l, event, room > UINT32_MAX ? UINT32_MAX : (uint32_t)room);
        if (status != COLL_OK) {
            memory->used = memory->bytes + 1;
            return status;
        }
    }
    memory->used += l->n_members * sizeof *l->members;
    coll_i_nic_count_uses(l);
    return COLL_OK;
}

#endif /* COLL_NIC_NIC_EVENTS_H */
