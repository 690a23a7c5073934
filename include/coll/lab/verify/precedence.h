/* coll/lab/verify/precedence.h — the actions that were run, with edges to those that precede them
 *
 * An action waits, as the executor has it, for older ones of its rank that touch the same elements,
 * one of them writing; messages of a channel keep their order; and a message comes after what
 * its sender waited for. What precedes an action is searched for along these edges. Use
 * lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_PRECEDENCE_H
#define COLL_LAB_VERIFY_PRECEDENCE_H

#include "../../executor.h"
#include "../../plan/phase.h"
#include "data.h"

/* What precedes a deed: a node has edges to nodes that precede it. OVER: all that has happened when
 * the deed is over, without itself. Of a RECV_REDUCE also GOT: when its message is here, though
 * not yet combined; and STAGED: when its staging is written. */
enum { COLL_I_OVER, COLL_I_GOT, COLL_I_STAGED, COLL_I_NODES };

/* An action that was run. */
typedef struct coll_i_deed {
    coll_action act;
    size_t step;
    uint32_t rank;
    uint32_t part;     /* which call of a sequence it belongs to */
    uint32_t previous; /* the rank's deed before this one */
    uint32_t meeting;  /* deed that stands for all who met here; COLL_I_NONE */
    uint32_t first[COLL_I_NODES], n[COLL_I_NODES]; /* edges of its nodes */
    uint32_t marked;                               /* by the last set of edges that it is in */
    uint32_t visited[2], known; /* by the last search that came to OVER, GOT, and to itself */
} coll_i_deed;

/* An edge: deed · 4, + 2 for GOT and not OVER, + 1 if the deed itself has happened too. */
enum { COLL_I_ITSELF = 1, COLL_I_TO_GOT = 2 };

typedef struct coll_i_order_rank {
    const coll_plan *plan;
    size_t step, steps;
    uint32_t n, next, last; /* last deed */
    uint32_t multicast;     /* last one */
    uint32_t state, peer;
    uint32_t part, begun; /* the call that it has come to; that it has begun */
    uint32_t entered;     /* the deed that let it begin; none */
    uint32_t ranges[COLL_SPACES];
    uint32_t known; /* by the last search that came to one of its deeds */
    size_t shared;  /* where its node's SHARED begins in `touched` */
    coll_action acts[COLL_STEP_MAX];
} coll_i_order_rank;

/* Elements that a rank touched together, and which of its deeds did. */
typedef struct coll_i_range {
    coll_ref ref;
    size_t count;
    uint32_t writers, readers; /* notes */
    uint32_t overlaps;         /* notes of other ranges of the rank */
    uint32_t same, next;       /* range that begins at the same element; in the same space */
} coll_i_range;

/* A note in a list: of a deed, or of a range. */
typedef struct coll_i_note {
    uint32_t deed, next; /* `deed`: of what the list is */
} coll_i_note;

typedef struct coll_i_order {
    coll_i_channels channels; /* `sent` and `received`: the last deed there, + 1 */
    coll_i_channels places; /* from: rank; to: an element; head: the ranges that begin there */
    coll_i_memory ranks, deeds, edges, notes, ranges, ready, touched, stack;
    uint32_t p, n_deeds, n_edges, n_notes, n_ranges, n_ready;
    uint32_t mark, query; /* numbers of the last set of edges, and of the last search … */
    uint32_t searched, oldest; /* … which began there, or COLL_I_NONE, and went back to here */
    uint32_t met[COLL_NETWORK_GROUPS]; /* ranks of each group in its current NETWORK_REDUCE */
    uint32_t turns;                    /* coll_verify_options */
    uint32_t part;                     /* edges from here lead to no older call … */
    uint32_t of;                       /* … of this rank */
    bool barrier;
} coll_i_order;

COLL_INLINE coll_i_deed *coll_i_deed_at(const coll_i_order *o, uint32_t deed)
{
    return (coll_i_deed *)o->deeds.at + deed;
}

COLL_INLINE coll_i_order_rank *coll_i_order_rank_at(const coll_i_order *o, uint32_t rank)
{
    return (coll_i_order_rank *)o->ranks.at + rank;
}

COLL_INLINE coll_i_note *coll_i_note_at(const coll_i_order *o, uint32_t note)
{
    return (coll_i_note *)o->notes.at + note;
}

COLL_INLINE uint32_t coll_i_note_new(coll_i_order *o, uint32_t deed, uint32_t next)
{
    if (!coll_i_reserve(&o->notes, (o->n_notes + (size_t)1) * sizeof(coll_i_note)))
        return COLL_I_NONE;
    coll_i_note_at(o, o->n_notes)->deed = deed;
    coll_i_note_at(o, o->n_notes)->next = next;
    return o->n_notes++;
}

/* ---- searching --------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_visit_later(coll_i_order *o, size_t *n, uint32_t deed, uint32_t which)
{
    coll_i_deed *d = coll_i_deed_at(o, deed);
    uint32_t *stack;
    if (which != COLL_I_STAGED && d->visited[which] == o->query)
        return true;
    stack = (uint32_t *)coll_i_reserve(&o->stack, (*n + 1) * sizeof(uint32_t));
    if (!stack)
        return false;
    if (which != COLL_I_STAGED)
        d->visited[which] = o->query;
    stack[(*n)++] = deed * COLL_I_NODES + which;
    return true;
}

/* Marks the deeds, and their ranks, that precede a node as known to this query: all of number
 * `oldest` or younger, and maybe older ones. A deed is younger than those that precede it, but
 * for meetings. False: no memory. */
COLL_INLINE bool coll_i_search(coll_i_order *o, uint32_t deed, uint32_t which, uint32_t oldest)
{
    size_t n = 0;
    if (!coll_i_visit_later(o, &n, deed, which))
        return false;
    while (n > 0) {
        const uint32_t node = ((uint32_t *)o->stack.at)[--n];
        const uint32_t at = node / COLL_I_NODES, part = node % COLL_I_NODES;
        const coll_i_deed *here = coll_i_deed_at(o, at);
        const uint32_t *edges = (const uint32_t *)o->edges.at + here->first[part];
        if (part == COLL_I_OVER && here->meeting != COLL_I_NONE &&
            !coll_i_visit_later(o, &n, here->meeting, COLL_I_OVER))
            return false;
        for (uint32_t i = 0; i < here->n[part]; i++) {
            const uint32_t to = edges[i] / 4;
            coll_i_deed *older = coll_i_deed_at(o, to);
            if (edges[i] & COLL_I_ITSELF) {
                older->known = o->query;
                coll_i_order_rank_at(o, older->rank)->known = o->query;
            }
            if ((to >= oldest || older->act.kind == COLL_DO_NETWORK_REDUCE) &&
                !coll_i_visit_later(o, &n, to,
                                    edges[i] & COLL_I_TO_GOT ? COLL_I_GOT : COLL_I_OVER))
                return false;
        }
    }
    return true;
}

/* ---- what the executor orders ------------------------------------------------------------ */

COLL_INLINE bool coll_i_edge(coll_i_order *o, uint32_t deed, uint32_t flags)
{
    uint32_t *edges;
    if (coll_i_deed_at(o, deed)->part < o->part && coll_i_deed_at(o, deed)->rank == o->of)
        return true;
    edges = (uint32_t *)coll_i_reserve(&o->edges, (o->n_edges + (size_t)1) * sizeof(uint32_t));
    if (!edges)
        return false;
    edges[o->n_edges++] = deed * 4 + flags;
    return true;
}

COLL_INLINE coll_i_range *coll_i_range_at(const coll_i_order *o, uint32_t range)
{
    return (coll_i_range *)o->ranges.at + range;
}

/* Puts a note at the head of a list. */
COLL_INLINE bool coll_i_note_on(coll_i_order *o, uint32_t of, uint32_t *list)
{
    const uint32_t note = coll_i_note_new(o, of, *list);
    if (note != COLL_I_NONE)
        *list = note;
    return note != COLL_I_NONE;
}

/* A new range, with notes of those that it overlaps; COLL_I_NONE: no memory. */
COLL_INLINE uint32_t coll_i_range_new(coll_i_order *o, uint32_t rank, coll_ref ref,
                                      size_t count)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    const uint32_t index = o->n_ranges;
    uint32_t *first = &at->ranges[coll_ref_space(ref)];
    coll_i_range *range;
    if (!coll_i_reserve(&o->ranges, (index + (size_t)1) * sizeof(coll_i_range)))
        return COLL_I_NONE;
    o->n_ranges++;
    range = coll_i_range_at(o, index);
    range->ref = ref;
    range->count = count;
    range->writers = range->readers = range->overlaps = range->same = COLL_I_NONE;
    range->next = *first;
    *first = index;
    for (uint32_t other = range->next; other != COLL_I_NONE;) {
        coll_i_range *older = coll_i_range_at(o, other);
        if (coll_i_overlap(ref, count, older->ref, older->count) &&
            (!coll_i_note_on(o, index, &older->overlaps) ||
             !coll_i_note_on(o, other, &range->overlaps)))
            return COLL_I_NONE;
        other = older->next;
    }
    return index;
}

/* The range [ref, ref + count) of a rank; COLL_I_NONE: no memory. */
COLL_INLINE uint32_t coll_i_range_of(coll_i_order *o, uint32_t rank, coll_ref ref, size_t count)
{
    const uint32_t place =
        (uint32_t)coll_ref_space(ref) << 30 | ((uint32_t)coll_ref_offset(ref) & 0x3fffffffu);
    const uint32_t c = coll_i_channel_of(&o->places, rank, place);
    uint32_t range;
    if (c == COLL_I_NONE)
        return COLL_I_NONE;
    range = coll_i_channel_at(&o->places, c)->head;
    while (range != COLL_I_NONE &&
           (coll_i_range_at(o, range)->count != count || coll_i_range_at(o, range)->ref != ref))
        range = coll_i_range_at(o, range)->same;
    if (range != COLL_I_NONE)
        return range;
    range = coll_i_range_new(o, rank, ref, count);
    if (range == COLL_I_NONE)
        return COLL_I_NONE;
    coll_i_range_at(o, range)->same = coll_i_channel_at(&o->places, c)->head;
    coll_i_channel_at(&o->places, c)->head = range;
    return range;
}

/* Edges to the deeds of a list. */
COLL_INLINE bool coll_i_edges_to(coll_i_order *o, uint32_t note)
{
    for (; note != COLL_I_NONE; note = coll_i_note_at(o, note)->next) {
        const uint32_t older = coll_i_note_at(o, note)->deed;
        if (coll_i_deed_at(o, older)->marked == o->mark)
            continue;
        coll_i_deed_at(o, older)->marked = o->mark;
        if (!coll_i_edge(o, older, COLL_I_ITSELF))
            return false;
    }
    return true;
}

/* Edges to the rank's older deeds that touched [ref, ref + count), as coll_i_window_admit has them wait:
 * a writer for all of them, a reader for writers. What lies in IN is never written. */
COLL_INLINE bool coll_i_order_after(coll_i_order *o, uint32_t rank, coll_ref ref, size_t count,
                                    bool writes)
{
    uint32_t range, note;
    if (coll_ref_space(ref) == COLL_IN)
        return true;
    range = coll_i_range_of(o, rank, ref, count);
    if (range == COLL_I_NONE)
        return false;
    note = coll_i_range_at(o, range)->overlaps;
    for (;;) {
        if (!coll_i_edges_to(o, coll_i_range_at(o, range)->writers) ||
            (writes && !coll_i_edges_to(o, coll_i_range_at(o, range)->readers)))
            return false;
        if (note == COLL_I_NONE)
            return true;
        range = coll_i_note_at(o, note)->deed;
        note = coll_i_note_at(o, note)->next;
    }
}

/* The deed has read [ref, ref + count), or written it; `last`: after all others that touched
 * it, so that nobody need wait for those any more. */
COLL_INLINE bool coll_i_order_note(coll_i_order *o, uint32_t rank, uint32_t deed, coll_ref ref,
                                   size_t count, bool wrote, bool last)
{
    coll_i_range *range;
    uint32_t index;
    if (coll_ref_space(ref) == COLL_IN)
        return true;
    index = coll_i_range_of(o, rank, ref, count);
    if (index == COLL_I_NONE)
        return false;
    range = coll_i_range_at(o, index);
    for (uint32_t note = last ? range->overlaps : COLL_I_NONE; note != COLL_I_NONE;
         note = coll_i_note_at(o, note)->next) {
        coll_i_range *part = coll_i_range_at(o, coll_i_note_at(o, note)->deed);
        if (part->ref - ref <= count && part->count <= count - (part->ref - ref))
            part->writers = part->readers = COLL_I_NONE;
    }
    if (last)
        range->writers = range->readers = COLL_I_NONE;
    return coll_i_note_on(o, deed, wrote ? &range->writers : &range->readers);
}

/* An edge to when the message of an older receive was here. */
COLL_INLINE bool coll_i_edge_got(coll_i_order *o, uint32_t deed)
{
    const bool merges = coll_i_deed_at(o, deed)->act.kind == COLL_DO_RECV_REDUCE;
    return coll_i_edge(o, deed, merges ? COLL_I_TO_GOT : COLL_I_ITSELF);
}

/* Edges of the order of messages. `message` is the deed that sent what it receives. */
COLL_INLINE bool coll_i_order_channel(coll_i_order *o, uint32_t rank, uint32_t index,
                                      const coll_action *a, uint32_t message)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    const bool all = a->kind == COLL_DO_MULTICAST, sends = coll_i_has(COLL_I_SENDS, a);
    if (!sends && !coll_i_has(COLL_I_RECEIVES, a))
        return true;
    if (message != COLL_I_NONE) { /* others may still receive a multicast */
        const bool itself =
            o->barrier || coll_i_deed_at(o, message)->act.kind != COLL_DO_MULTICAST;
        if (!coll_i_edge(o, message, itself ? COLL_I_ITSELF : 0))
            return false;
    }
    if (sends && at->multicast != COLL_I_NONE && !coll_i_edge(o, at->multicast, 0))
        return false;
    for (uint32_t peer = all ? 0 : a->peer; peer <= (all ? o->p - 1 : a->peer); peer++) {
        const uint32_t c =
            coll_i_channel_of(&o->channels, sends ? rank : peer, sends ? peer : rank);
        coll_i_channel *channel;
        if (c == COLL_I_NONE)
            return false;
        channel = coll_i_channel_at(&o->channels, c);
        if (sends && channel->sent > 0 && !coll_i_edge(o, channel->sent - 1, 0))
            return false;
        if (!sends && channel->received > 0 && !coll_i_edge_got(o, channel->received - 1))
            return false;
        if (sends)
            channel->sent = index + 1;
        else
            channel->received = index + 1;
    }
    if (all)
        at->multicast = index;
    return true;
}

/* Begins, and ends, the edges of a node. */
COLL_INLINE void coll_i_node_begin(coll_i_order *o, coll_i_deed *deed, uint32_t which)
{
    deed->first[which] = o->n_edges;
    o->mark++;
}

COLL_INLINE void coll_i_node_end(const coll_i_order *o, coll_i_deed *deed, uint32_t which)
{
    deed->n[which] = o->n_edges - deed->first[which];
}

/* A new deed without edges; NULL: no memory. */
COLL_INLINE coll_i_deed *coll_i_deed_new(coll_i_order *o, uint32_t rank, size_t step,
                                         const coll_action *a)
{
    coll_i_deed *deed;
    if (!coll_i_reserve(&o->deeds, (o->n_deeds + (size_t)1) * sizeof(coll_i_deed)))
        return NULL;
    deed = coll_i_deed_at(o, o->n_deeds++);
    memset(deed, 0, sizeof *deed);
    deed->act = *a;
    deed->step = step;
    deed->rank = rank;
    deed->part = coll_i_order_rank_at(o, rank)->part;
    deed->previous = deed->meeting = COLL_I_NONE;
    return deed;
}

/* An edge to what let the rank begin its call. */
COLL_INLINE bool coll_i_edge_entered(coll_i_order *o, uint32_t rank)
{
    const uint32_t entered = coll_i_order_rank_at(o, rank)->entered;
    return entered == COLL_I_NONE || coll_i_edge(o, entered, 0);
}

/* The edges of a deed, and what it touched. */
COLL_INLINE bool coll_i_order_edges(coll_i_order *o, uint32_t rank, uint32_t index,
                                    const coll_action *a, uint32_t message)
{
    coll_i_deed *deed = coll_i_deed_at(o, index);
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    const bool reads = coll_i_has(COLL_I_READS_SRC, a),
               writes = coll_i_has(COLL_I_WRITES_DST, a);
    const size_t span = coll_i_action_via_span(a);
    if (merges) {
        coll_i_node_begin(o, deed, COLL_I_GOT);
        if (!coll_i_edge_entered(o, rank) || !coll_i_order_channel(o, rank, index, a, message))
            return false;
        coll_i_node_end(o, deed, COLL_I_GOT);
        coll_i_node_begin(o, deed, COLL_I_STAGED);
        if (!coll_i_edge(o, index, COLL_I_TO_GOT) ||
            !coll_i_order_after(o, rank, a->via, a->count, true))
            return false;
        coll_i_node_end(o, deed, COLL_I_STAGED);
    }
    coll_i_node_begin(o, deed, COLL_I_OVER);
    if (!coll_i_edge_entered(o, rank) ||
        (merges ? !coll_i_edge(o, index, COLL_I_TO_GOT)
                : !coll_i_order_channel(o, rank, index, a, message)) ||
        (writes && !coll_i_order_after(o, rank, a->dst, a->count, true)) ||
        (reads && !coll_i_order_after(o, rank, a->src, a->count, false)) ||
        (a->kind == COLL_DO_REDUCE && !coll_i_order_after(o, rank, a->via, span, false)))
        return false;
    coll_i_node_end(o, deed, COLL_I_OVER);
    /* a RECV_REDUCE may be over before others that touched its staging: it need not use it */
    return (!reads || coll_i_order_note(o, rank, index, a->src, a->count, false, false)) &&
           (a->kind != COLL_DO_REDUCE ||
            coll_i_order_note(o, rank, index, a->via, span, false, false)) &&
           (!merges || coll_i_order_note(o, rank, index, a->via, a->count, true, false)) &&
           (!writes || coll_i_order_note(o, rank, index, a->dst, a->count, true, true));
}

/* Records a deed. `message` is the deed that sent what it receives, or COLL_I_NONE. */
COLL_INLINE bool coll_i_order_deed(coll_i_order *o, uint32_t rank, size_t step,
                                   const coll_action *a, uint32_t message, coll_report *report)
{
    coll_i_order_rank *at = coll_i_order_rank_at(o, rank);
    coll_i_deed *deed = coll_i_deed_new(o, rank, step, a);
    if (!deed)
        return coll_i_no_memory(report);
    deed->previous = at->last;
    at->last = o->n_deeds - 1;
    o->part = o->turns ? at->part : 0;
    o->of = rank;
    return coll_i_order_edges(o, rank, at->last, a, message) || coll_i_no_memory(report);
}

#endif /* COLL_LAB_VERIFY_PRECEDENCE_H */
