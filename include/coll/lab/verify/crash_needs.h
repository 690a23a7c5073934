/* coll/lab/verify/crash_needs.h — which ranks can still end well when another one stops
 *
 * A rank stops between two of its events. What it has done by then is closed under precedence, so it is
 * enough to know of each event which ranks need it: those that have an action after it. Whoever needs
 * an event that never happens cannot end well; all others can, as channels are FIFO and all that they
 * wait for happens. Of several ranks that stop, what one of them lacks and what another one lacks add up.
 *
 *   rank      0        1        2          a broadcast in a line: 0 → 1 → 2
 *           send ──▶ recv                  0's send is needed by 0, 1 and 2
 *                    send ──▶ recv         1's send by 1 and 2: rank 1 stops before it, and rank 0
 *                                          ends well, rank 2 does not
 *
 * An action has two events. It has BEGUN when others can see it: its message is in the channel, or was
 * taken out of it, or the rank has come to its group. It is OVER when what it reads may be written, and
 * what it writes be read. Three orders are looked at: that of the window engine, whose actions wait for
 * those that they conflict with; the same with sends that wait for their receivers; and program order,
 * that of the in-order engine. Among at most COLL_CRASH_RANKS ranks. Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_CRASH_NEEDS_H
#define COLL_LAB_VERIFY_CRASH_NEEDS_H

#include "order.h"

/* The most ranks of a plan whose crashes are followed: one bit of a word each. */
enum { COLL_CRASH_RANKS = 64 };

/* Which order of events: that of the window engine, if sends are over as soon as they have begun; the same
 * if they wait for their receivers; that of the in-order engine, if sends do not wait. */
typedef enum coll_i_crash_how {
    COLL_I_CRASH_WINDOW,
    COLL_I_CRASH_SYNCHRONOUS,
    COLL_I_CRASH_IN_ORDER,
    COLL_I_CRASH_HOWS
} coll_i_crash_how;

/* Who needs which event, and how many messages a rank sends. */
typedef struct coll_i_crash_needs {
    const coll_i_order *order; /* the events */
    coll_i_memory
        needs[COLL_I_CRASH_HOWS]; /* by deed: who needs that it has begun, and is over */
    coll_i_memory own; /* by deed: it is an action of its rank, and no meeting of several */
    uint32_t p;
} coll_i_crash_needs;

/* The events of a deed. */
enum { COLL_I_CRASH_BEGUN, COLL_I_CRASH_OVER, COLL_I_CRASH_EVENTS };

/* Who needs an event, one bit a rank. */
COLL_INLINE uint64_t *coll_i_crash_need(const coll_i_crash_needs *c, coll_i_crash_how how,
                                        uint32_t deed, uint32_t event)
{
    return (uint64_t *)c->needs[how].at + (size_t)deed * COLL_I_CRASH_EVENTS + event;
}

/* Is the deed an action of its rank? */
COLL_INLINE bool coll_i_crash_is_own(const coll_i_crash_needs *c, uint32_t deed)
{
    return ((const unsigned char *)c->own.at)[deed] != 0;
}

/* All ranks. */
COLL_INLINE uint64_t coll_i_crash_all(const coll_i_crash_needs *c)
{
    return UINT64_MAX >> (64 - c->p);
}

/* ---- who needs an event ------------------------------------------------------------------ */

/* The event `of` needs the event `to`: so does whoever needs `of`. Is that news? */
COLL_INLINE bool coll_i_crash_add(uint64_t *to, uint64_t of)
{
    const bool news = (of & ~*to) != 0;
    *to |= of;
    return news;
}

/* The event at the older end of an edge. Those of another rank, and of an older message of the same
 * channel, have only begun. */
COLL_INLINE uint32_t coll_i_crash_event(const coll_i_crash_needs *c, uint32_t deed,
                                        uint32_t edge)
{
    const bool local =
        coll_i_crash_is_own(c, deed) &&
        coll_i_deed_at(c->order, edge / 4)->rank == coll_i_deed_at(c->order, deed)->rank;
    return local && (edge & COLL_I_ITSELF) && !(edge & COLL_I_TO_GOT) ? COLL_I_CRASH_OVER
                                                                      : COLL_I_CRASH_BEGUN;
}

/* Hands on what is known of the events at one node of a deed, to what they wait for. Where sends wait for
 * their receivers, who needs a send to be over needs the receive. Was any of it news? */
COLL_INLINE bool coll_i_crash_hand_on_node(const coll_i_crash_needs *c, coll_i_crash_how how,
                                           uint32_t deed, uint32_t node)
{
    const coll_i_deed *d = coll_i_deed_at(c->order, deed);
    const bool combines = d->act.kind == COLL_DO_RECV_REDUCE && node == COLL_I_OVER;
    const uint32_t *edges = (const uint32_t *)c->order->edges.at + d->first[node];
    uint64_t *who =
        coll_i_crash_need(c, how, deed, combines ? COLL_I_CRASH_OVER : COLL_I_CRASH_BEGUN);
    bool news = false;
    for (uint32_t i = 0; i < d->n[node]; i++) {
        const uint32_t to = edges[i] / 4, event = coll_i_crash_event(c, deed, edges[i]);
        const coll_i_deed *older = coll_i_deed_at(c->order, to);
        const bool waits = how == COLL_I_CRASH_SYNCHRONOUS && older->rank != d->rank &&
                           coll_i_has(COLL_I_SENDS, &older->act);
        if (waits && coll_i_crash_add(who, *coll_i_crash_need(c, how, to, COLL_I_CRASH_OVER)))
            news = true;
        if (coll_i_crash_add(coll_i_crash_need(c, how, to, event), *who))
            news = true;
    }
    return news;
}

/* Hands what is known of a deed on to what it waits for. Was any of it news? */
COLL_INLINE bool coll_i_crash_hand_on(const coll_i_crash_needs *c, coll_i_crash_how how,
                                      uint32_t deed)
{
    const coll_i_deed *d = coll_i_deed_at(c->order, deed);
    uint64_t *begun = coll_i_crash_need(c, how, deed, COLL_I_CRASH_BEGUN);
    const uint64_t over = *coll_i_crash_need(c, how, deed, COLL_I_CRASH_OVER);
    bool news = coll_i_crash_add(begun, over);
    if (d->meeting != COLL_I_NONE &&
        coll_i_crash_add(coll_i_crash_need(c, how, d->meeting, COLL_I_CRASH_OVER), over))
        news = true;
    if (how == COLL_I_CRASH_IN_ORDER && d->previous != COLL_I_NONE &&
        coll_i_crash_add(coll_i_crash_need(c, how, d->previous, COLL_I_CRASH_OVER), *begun))
        news = true;
    if (coll_i_crash_hand_on_node(c, how, deed, COLL_I_OVER))
        news = true;
    if (d->act.kind == COLL_DO_RECV_REDUCE &&
        coll_i_crash_hand_on_node(c, how, deed, COLL_I_GOT))
        news = true;
    return news;
}

/* Finds who needs which event. */
COLL_INLINE void coll_i_crash_follow(const coll_i_crash_needs *c, coll_i_crash_how how)
{
    const uint32_t n = c->order->n_deeds;
    bool news = true;
    for (uint32_t deed = 0; deed < n; deed++) {
        *coll_i_crash_need(c, how, deed, COLL_I_CRASH_BEGUN) = 0;
        *coll_i_crash_need(c, how, deed, COLL_I_CRASH_OVER) =
            coll_i_crash_is_own(c, deed) ? (uint64_t)1 << coll_i_deed_at(c->order, deed)->rank
                                         : 0;
    }
    while (
        news) { /* deeds are younger than what they wait for, but for meetings and receivers */
        news = false;
        for (uint32_t deed = n; deed-- > 0;)
            if (coll_i_crash_hand_on(c, how, deed))
                news = true;
    }
}

/* Finds who needs which event of a plan whose order was run. False: no memory. */
COLL_INLINE bool coll_i_crash_needs_find(coll_i_crash_needs *c, const coll_i_order *order,
                                         coll_report *report)
{
    const size_t n = order->n_deeds;
    unsigned char *own = (unsigned char *)coll_i_reserve_new(&c->own, n + 1);
    c->order = order;
    c->p = order->p;
    for (unsigned how = 0; how < COLL_I_CRASH_HOWS; how++)
        if (!coll_i_reserve_new(&c->needs[how],
                                (n + 1) * COLL_I_CRASH_EVENTS * sizeof(uint64_t)))
            return coll_i_no_memory(report);
    if (!own)
        return coll_i_no_memory(report);
    memset(own, 0, n + 1);
    for (uint32_t rank = 0; rank < c->p; rank++)
        for (uint32_t deed = coll_i_order_rank_at(order, rank)->last; deed != COLL_I_NONE;
             deed = coll_i_deed_at(order, deed)->previous)
            own[deed] = 1;
    coll_i_crash_follow(c, COLL_I_CRASH_WINDOW);
    coll_i_crash_follow(c, COLL_I_CRASH_SYNCHRONOUS);
    coll_i_crash_follow(c, COLL_I_CRASH_IN_ORDER);
    return true;
}

/* ---- the points at which one rank stops -------------------------------------------------- */

/* Does an event split the other ranks into some that need it, and some that do not? */
COLL_INLINE bool coll_i_crash_splits(uint64_t who, uint64_t others)
{
    return (who & others) != 0 && (who & others) != others;
}

/* Counts a point at which these ranks need something that does not happen any more. */
COLL_INLINE void coll_i_crash_point(uint64_t lost, uint64_t others, coll_crash_count *count)
{
    count->points++;
    if ((lost & others) == 0)
        count->all++;
    else if ((lost & others) == others)
        count->none++;
    else
        count->some++;
}

/* Goes through the points of all ranks, in program order. Uniform is what splits the survivors at no set
 * of events that a rank may have done: an engine may do them in another order, and what one of them does not
 * split, a union of them does not split. */
COLL_INLINE void coll_i_crash_points(const coll_i_crash_needs *c, coll_crash_count *count)
{
    bool splits = false;
    for (uint32_t rank = 0; rank < c->p && c->p > 1; rank++) {
        const uint64_t others = coll_i_crash_all(c) & ~((uint64_t)1 << rank);
        uint64_t lost = 0;
        coll_i_crash_point(lost, others, count);
        for (uint32_t deed = coll_i_order_rank_at(c->order, rank)->last; deed != COLL_I_NONE;
             deed = coll_i_deed_at(c->order, deed)->previous) {
            for (unsigned how = 0; how < COLL_I_CRASH_IN_ORDER; how++)
                for (uint32_t event = 0; event < COLL_I_CRASH_EVENTS; event++)
                    splits =
                        splits ||
                        coll_i_crash_splits(
                            *coll_i_crash_need(c, (coll_i_crash_how)how, deed, event), others);
            lost |= *coll_i_crash_need(c, COLL_I_CRASH_WINDOW, deed, COLL_I_CRASH_OVER);
            if (coll_i_deed_at(c->order, deed)->act.kind == COLL_DO_RECV_REDUCE)
                coll_i_crash_point(lost, others, count);
            lost |= *coll_i_crash_need(c, COLL_I_CRASH_WINDOW, deed, COLL_I_CRASH_BEGUN);
            coll_i_crash_point(lost, others, count);
        }
    }
    count->plans++;
    if (c->p > 2) { /* else there is one survivor, or none */
        count->several++;
        count->uniform += splits ? 0 : 1;
    }
}

/* ---- what a rank had done when it stopped ------------------------------------------------ */

/* What a rank has shown to others: messages sent to each, and times that it came to a group. */
typedef struct coll_i_crash_shown {
    uint32_t sent[COLL_CRASH_RANKS], met[COLL_NETWORK_GROUPS];
} coll_i_crash_shown;

/* Counts an action that others see into how often the rank has done so; before this one. */
COLL_INLINE uint32_t coll_i_crash_show(const coll_i_crash_needs *c, uint32_t rank,
                                       const coll_action *a, coll_i_crash_shown *shown)
{
    const bool all = a->kind == COLL_DO_MULTICAST;
    const uint32_t first = all ? (rank == 0 ? 1 : 0) : a->peer;
    uint32_t before;
    if (a->kind == COLL_DO_NETWORK_REDUCE)
        return shown->met[a->peer]++;
    before = shown->sent[first];
    for (uint32_t to = all ? 0 : a->peer; to <= (all ? c->p - 1 : a->peer); to++)
        shown->sent[to]++;
    return before;
}

/* Which ranks need what a rank that stopped did not show any more. */
COLL_INLINE uint64_t coll_i_crash_lost(const coll_i_crash_needs *c, coll_i_crash_how how,
                                       uint32_t rank, const coll_i_crash_shown *shown)
{
    const unsigned seen = COLL_I_SENDS | COLL_I_KIND(NETWORK_REDUCE);
    const uint32_t last = coll_i_order_rank_at(c->order, rank)->last;
    coll_i_crash_shown all, later;
    uint64_t lost = 0;
    memset(&all, 0, sizeof all);
    memset(&later, 0, sizeof later);
    for (uint32_t deed = last; deed != COLL_I_NONE;
         deed = coll_i_deed_at(c->order, deed)->previous)
        if (coll_i_has(seen, &coll_i_deed_at(c->order, deed)->act))
            (void)coll_i_crash_show(c, rank, &coll_i_deed_at(c->order, deed)->act, &all);
    for (uint32_t deed = last; deed != COLL_I_NONE;
         deed = coll_i_deed_at(c->order, deed)->previous) {
        const coll_action *a = &coll_i_deed_at(c->order, deed)->act;
        const bool meets = a->kind == COLL_DO_NETWORK_REDUCE;
        const uint32_t to = a->kind == COLL_DO_MULTICAST ? (rank == 0 ? 1 : 0) : a->peer;
        uint32_t number;
        if (!coll_i_has(seen, a))
            continue;
        number =
            (meets ? all.met[to] : all.sent[to]) - 1 - coll_i_crash_show(c, rank, a, &later);
        if (number >= (meets ? shown->met[to] : shown->sent[to]))
            lost |= *coll_i_crash_need(c, how, deed, COLL_I_CRASH_BEGUN);
    }
    return lost;
}

COLL_INLINE void coll_i_crash_needs_release(coll_i_crash_needs *c)
{
    for (unsigned how = 0; how < COLL_I_CRASH_HOWS; how++)
        coll_i_release(&c->needs[how]);
    coll_i_release(&c->own);
}

#endif /* COLL_LAB_VERIFY_CRASH_NEEDS_H */
