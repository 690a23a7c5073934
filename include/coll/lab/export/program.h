/* coll/lab/export/program.h — one rank's actions as a graph: what must come after what
 *
 * The order in which an executor may run a rank's actions, written down. A RECV_REDUCE is two
 * nodes, receiving into its staging and combining; any other action is one. A node has edges to
 * older ones of two kinds:
 *
 *   after  it starts when that one has ended: one of them writes what the other touches
 *   behind it starts when that one has started: messages of one channel keep their order
 *
 * These are the masks of executor/window.h for a window that holds the whole program: for each
 * element, a reader comes after the last writer, a writer after that and the readers since. What
 * follows from other edges is left out, so an edge that is missing in a file is a hole in the
 * order. Private.
 */
#ifndef COLL_LAB_EXPORT_PROGRAM_H
#define COLL_LAB_EXPORT_PROGRAM_H

#include "../../executor/window.h"
#include "../../plan.h"
#include "../verify/memory.h"

typedef enum coll_i_half { COLL_I_WHOLE, COLL_I_TAKES, COLL_I_MERGES } coll_i_half;

typedef struct coll_i_task {
    coll_action act;
    size_t step;
    uint32_t action;         /* number of its action in the program */
    coll_i_half half;        /* of a RECV_REDUCE */
    uint32_t message;        /* messages of its channel before it; not of a MULTICAST */
    uint32_t first, n;       /* edges */
    uint32_t started, ended; /* the last node, + 1, that was found to come after that */
} coll_i_task;

enum { COLL_I_BEHIND = 1 }; /* an edge is the older node's number times 2, and this */

/* Elements that no action touches in part, and the nodes that did last. */
typedef struct coll_i_cell {
    uint32_t writer, readers; /* a node; notes of those that read what it wrote */
} coll_i_cell;

typedef struct coll_i_reader {
    uint32_t node, next;
} coll_i_reader;

/* Zero it, make one program after the other in it, release it. */
typedef struct coll_i_program {
    coll_i_memory nodes, edges, bounds, cells, readers, found, stack;
    coll_i_channels channels; /* from: a direction; tail: the last node */
    uint32_t n, n_edges, n_actions, n_bounds, n_readers, n_found;
    uint32_t multicast; /* the last one */
} coll_i_program;

COLL_INLINE void coll_i_program_release(coll_i_program *g)
{
    coll_i_release(&g->nodes);
    coll_i_release(&g->edges);
    coll_i_release(&g->bounds);
    coll_i_release(&g->cells);
    coll_i_release(&g->readers);
    coll_i_release(&g->found);
    coll_i_release(&g->stack);
    coll_i_channels_release(&g->channels);
}

COLL_INLINE coll_i_task *coll_i_task_at(const coll_i_program *g, uint32_t node)
{
    return (coll_i_task *)g->nodes.at + node;
}

/* The edges of a node. */
COLL_INLINE const uint32_t *coll_i_edges_of(const coll_i_program *g, const coll_i_task *node)
{
    return (const uint32_t *)g->edges.at + node->first;
}

/* Adds a number to a list. */
COLL_INLINE bool coll_i_append(coll_i_memory *list, uint32_t *n, uint32_t number)
{
    uint32_t *at = (uint32_t *)coll_i_reserve(list, (*n + (size_t)1) * sizeof(uint32_t));
    if (!at)
        return false;
    at[(*n)++] = number;
    return true;
}

/* ---- what a node touches ------------------------------------------------------------------ */

typedef struct coll_i_access {
    coll_ref at;
    size_t count;
    bool writes;
} coll_i_access;

COLL_INLINE void coll_i_access_add(coll_i_access *accesses, uint32_t *n, coll_ref at,
                                   size_t count, bool writes)
{
    accesses[*n].at = at;
    accesses[*n].count = count;
    accesses[(*n)++].writes = writes;
}

/* The ranges of a node, those that it reads first; how many. Also of IN: an AWAIT may order who
 * reads it. To combine spoils the staging: nobody may rely on what is there, as a message need
 * not have been staged. */
COLL_INLINE uint32_t coll_i_task_accesses(const coll_i_task *node, coll_i_access accesses[3])
{
    const coll_action *a = &node->act;
    uint32_t n = 0;
    if (node->half == COLL_I_TAKES) {
        coll_i_access_add(accesses, &n, a->via, a->count, true);
        return n;
    }
    if (coll_i_has(COLL_I_READS_SRC, a))
        coll_i_access_add(accesses, &n, a->src, a->count, false);
    if (a->kind == COLL_DO_REDUCE)
        coll_i_access_add(accesses, &n, a->via, coll_i_action_via_span(a), false);
    if (node->half == COLL_I_MERGES)
        coll_i_access_add(accesses, &n, a->via, a->count, true);
    if (coll_i_has(COLL_I_WRITES_DST, a))
        coll_i_access_add(accesses, &n, a->dst, a->count, true);
    return n;
}

/* ---- nodes ------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_task_add(coll_i_program *g, const coll_action *a, size_t step,
                                 coll_i_half half)
{
    coll_i_task *node;
    if (g->n == UINT32_MAX / 4 ||
        !coll_i_reserve(&g->nodes, (g->n + (size_t)1) * sizeof(coll_i_task)))
        return false;
    node = coll_i_task_at(g, g->n++);
    node->act = *a;
    node->step = step;
    node->action = g->n_actions;
    node->half = half;
    node->message = node->first = node->n = node->started = node->ended = 0;
    return true;
}

COLL_INLINE bool coll_i_program_read(coll_i_program *g, const coll_plan *plan, uint32_t rank,
                                     bool staged)
{
    const size_t steps = coll_plan_steps(plan, rank);
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < n; i++) {
            const bool merges = staged && acts[i].kind == COLL_DO_RECV_REDUCE;
            if (acts[i].count == 0 ||
                (!staged && acts[i].kind == COLL_DO_COPY && acts[i].dst == acts[i].src))
                continue;
            if (!coll_i_task_add(g, &acts[i], s, merges ? COLL_I_TAKES : COLL_I_WHOLE) ||
                (merges && !coll_i_task_add(g, &acts[i], s, COLL_I_MERGES)))
                return false;
            g->n_actions++;
        }
    }
    return true;
}

/* ---- cells ------------------------------------------------------------------------------- */

COLL_INLINE int coll_i_compare_refs(const void *a, const void *b)
{
    const coll_ref x = *(const coll_ref *)a, y = *(const coll_ref *)b;
    return (x > y) - (x < y);
}

/* Cuts the spaces wherever a range begins or ends: cell i is from bound i to the next. */
COLL_INLINE bool coll_i_program_cut(coll_i_program *g)
{
    coll_ref *bounds =
        (coll_ref *)coll_i_reserve(&g->bounds, (6 * (size_t)g->n + 1) * sizeof(coll_ref));
    coll_i_cell *cells;
    size_t n = 0;
    if (!bounds)
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        coll_i_access accesses[3];
        const uint32_t touched = coll_i_task_accesses(coll_i_task_at(g, i), accesses);
        for (uint32_t k = 0; k < touched; k++) {
            bounds[n++] = accesses[k].at;
            bounds[n++] = accesses[k].at + accesses[k].count;
        }
    }
    qsort(bounds, n, sizeof *bounds, coll_i_compare_refs);
    g->n_bounds = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || bounds[i] != bounds[i - 1])
            bounds[g->n_bounds++] = bounds[i];
    cells = (coll_i_cell *)coll_i_reserve(&g->cells, (g->n_bounds + (size_t)1) * sizeof *cells);
    for (uint32_t i = 0; cells && i < g->n_bounds; i++)
        cells[i].writer = cells[i].readers = COLL_I_NONE;
    return cells != NULL;
}

/* The cell that begins at a bound. */
COLL_INLINE uint32_t coll_i_cell_of(const coll_i_program *g, coll_ref bound)
{
    const coll_ref *bounds = (const coll_ref *)g->bounds.at;
    uint32_t low = 0, high = g->n_bounds - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (bounds[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- edges ------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_found_edge(coll_i_program *g, uint32_t older, uint32_t kind)
{
    return coll_i_append(&g->found, &g->n_found, older * 2 + kind);
}

/* Finds the nodes that touched the range before, and so must have ended. */
COLL_INLINE bool coll_i_find_conflicts(coll_i_program *g, const coll_i_access *touch)
{
    const coll_ref *bounds = (const coll_ref *)g->bounds.at;
    for (uint32_t i = coll_i_cell_of(g, touch->at); bounds[i] != touch->at + touch->count;
         i++) {
        const coll_i_cell *cell = (const coll_i_cell *)g->cells.at + i;
        if (cell->writer != COLL_I_NONE && !coll_i_found_edge(g, cell->writer, 0))
            return false;
        for (uint32_t r = touch->writes ? cell->readers : COLL_I_NONE; r != COLL_I_NONE;) {
            const coll_i_reader *reader = (const coll_i_reader *)g->readers.at + r;
            if (!coll_i_found_edge(g, reader->node, 0))
                return false;
            r = reader->next;
        }
    }
    return true;
}

/* Records that the node touched the range. */
COLL_INLINE bool coll_i_note_access(coll_i_program *g, uint32_t node,
                                    const coll_i_access *touch)
{
    const coll_ref *bounds = (const coll_ref *)g->bounds.at;
    for (uint32_t i = coll_i_cell_of(g, touch->at); bounds[i] != touch->at + touch->count;
         i++) {
        coll_i_cell *cell = (coll_i_cell *)g->cells.at + i;
        coll_i_reader *readers;
        if (touch->writes) {
            cell->writer = node;
            cell->readers = COLL_I_NONE;
            continue;
        }
        readers = (coll_i_reader *)coll_i_reserve(&g->readers,
                                                  (g->n_readers + (size_t)1) * sizeof *readers);
        if (!readers)
            return false;
        readers[g->n_readers].node = node;
        readers[g->n_readers].next = cell->readers;
        cell->readers = g->n_readers++;
    }
    return true;
}

/* Finds the message before this one. A MULTICAST comes behind the last of each channel, and
 * before all that follow. */
COLL_INLINE bool coll_i_find_channel(coll_i_program *g, uint32_t index)
{
    coll_i_task *node = coll_i_task_at(g, index);
    const unsigned kinds = coll_i_window_channel_kinds(&node->act);
    const bool sends = kinds == COLL_I_SENDS;
    coll_i_channel *channel;
    uint32_t c;
    if (kinds == 0 || node->half == COLL_I_MERGES)
        return true;
    if (sends && g->multicast != COLL_I_NONE &&
        !coll_i_found_edge(g, g->multicast, COLL_I_BEHIND))
        return false;
    if (node->act.kind == COLL_DO_MULTICAST) {
        for (c = 0; c < g->channels.n; c++) {
            channel = coll_i_channel_at(&g->channels, c);
            if (channel->from == COLL_I_SENDS &&
                !coll_i_found_edge(g, channel->tail, COLL_I_BEHIND))
                return false;
        }
        g->multicast = index;
        return true;
    }
    c = coll_i_channel_of(&g->channels, kinds, node->act.peer);
    if (c == COLL_I_NONE)
        return false;
    channel = coll_i_channel_at(&g->channels, c);
    if (channel->sent > 0 && !coll_i_found_edge(g, channel->tail, COLL_I_BEHIND))
        return false;
    node->message = channel->sent++;
    channel->tail = index;
    return true;
}

/* Younger nodes first, of one node the edge that says more first. */
COLL_INLINE int coll_i_compare_edges(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a ^ COLL_I_BEHIND,
                   y = *(const uint32_t *)b ^ COLL_I_BEHIND;
    return (x < y) - (x > y);
}

/* Notes that node `of` comes after what an edge leads to. */
COLL_INLINE bool coll_i_reach(coll_i_program *g, uint32_t of, uint32_t edge, uint32_t *pending)
{
    coll_i_task *older = coll_i_task_at(g, edge / 2);
    if (!(edge & COLL_I_BEHIND))
        older->ended = of + 1;
    if (older->started == of + 1)
        return true;
    older->started = of + 1;
    return coll_i_append(&g->stack, pending, edge / 2);
}

/* Keeps those of the edges that were found which do not follow from younger ones. */
COLL_INLINE bool coll_i_reduce_edges(coll_i_program *g, uint32_t index)
{
    uint32_t *found = (uint32_t *)g->found.at;
    coll_i_task *node = coll_i_task_at(g, index);
    node->first = g->n_edges;
    if (g->n_found > 1)
        qsort(found, g->n_found, sizeof *found, coll_i_compare_edges);
    for (uint32_t i = 0; i < g->n_found; i++) {
        const coll_i_task *older = coll_i_task_at(g, found[i] / 2);
        uint32_t pending = 0;
        if ((found[i] & COLL_I_BEHIND ? older->started : older->ended) == index + 1)
            continue;
        if (!coll_i_append(&g->edges, &g->n_edges, found[i]) ||
            !coll_i_reach(g, index, found[i], &pending))
            return false;
        while (pending > 0 && i + 1 < g->n_found) {
            const coll_i_task *at = coll_i_task_at(g, ((uint32_t *)g->stack.at)[--pending]);
            const uint32_t *edges = coll_i_edges_of(g, at);
            for (uint32_t k = 0; k < at->n; k++)
                if (edges[k] / 2 >= found[g->n_found - 1] / 2 &&
                    !coll_i_reach(g, index, edges[k], &pending))
                    return false;
        }
    }
    node->n = g->n_edges - node->first;
    return true;
}

COLL_INLINE bool coll_i_program_order(coll_i_program *g, uint32_t index)
{
    const coll_i_task *node = coll_i_task_at(g, index);
    coll_i_access accesses[3];
    const uint32_t touched = coll_i_task_accesses(node, accesses);
    g->n_found = 0;
    if (node->half == COLL_I_MERGES && !coll_i_found_edge(g, index - 1, 0))
        return false;
    for (uint32_t i = 0; i < touched; i++)
        if (!coll_i_find_conflicts(g, &accesses[i]))
            return false;
    if (!coll_i_find_channel(g, index) || !coll_i_reduce_edges(g, index))
        return false;
    for (uint32_t i = 0; i < touched; i++)
        if (!coll_i_note_access(g, index, &accesses[i]))
            return false;
    return true;
}

/* Makes the program of a rank; not staged: of one that combines messages as it receives them,
 * and leaves out copies of what is in its place. In time that is linear in the program and in the cells that its actions touch, as long as actions
 * wait for recent ones. False: no memory. */
COLL_INLINE bool coll_i_program_make(coll_i_program *g, const coll_plan *plan, uint32_t rank,
                                     bool staged)
{
    g->n = g->n_edges = g->n_actions = g->n_bounds = g->n_readers = 0;
    g->multicast = COLL_I_NONE;
    coll_i_channels_clear(&g->channels);
    if (!coll_i_reserve(&g->edges, sizeof(uint32_t)) ||
        !coll_i_program_read(g, plan, rank, staged) || !coll_i_program_cut(g))
        return false;
    for (uint32_t i = 0; i < g->n; i++)
        if (!coll_i_program_order(g, i))
            return false;
    return true;
}

#endif /* COLL_LAB_EXPORT_PROGRAM_H */
