/* tests/support/orders.h — partial orders on a rank's program, and what they must be
 *
 * A program is nodes: an action is one, but a RECV_REDUCE is two, receiving and combining. An
 * order says of any two whether one starts after the other has ended, and whether after it has
 * started. Three ways to get one: from edges that somebody else found; by comparing every two
 * actions; and from the masks of the executor's window, where that holds the whole program.
 */
#ifndef COLL_TESTS_EXPORT_ORDERS_H
#define COLL_TESTS_EXPORT_ORDERS_H

#include <stdlib.h>
#include <string.h>

#include "coll/executor/window.h"

typedef struct order_node {
    coll_action act;
    unsigned half; /* 0: the whole action; RECV_REDUCE 1: receives, 2: combines */
    uint32_t action;
} order_node;

typedef struct orders {
    uint32_t n;
    bool *ended, *started; /* n × n: does row start after column has ended, has started? */
} orders;

/* ---- programs ---------------------------------------------------------------------------- */

/* The nodes of a rank, which the caller frees; how many. */
static inline uint32_t order_nodes(const coll_plan *plan, uint32_t rank, order_node **nodes)
{
    const size_t steps = coll_plan_steps(plan, rank);
    uint32_t n = 0, actions = 0;
    *nodes = (order_node *)calloc(2 * steps * COLL_STEP_MAX + 1, sizeof **nodes);
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned made = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < made; i++) {
            const bool two = acts[i].kind == COLL_DO_RECV_REDUCE;
            if (acts[i].count == 0)
                continue;
            for (unsigned half = two; half <= 2u * two; half++) {
                (*nodes)[n].act = acts[i];
                (*nodes)[n].half = half;
                (*nodes)[n++].action = actions;
            }
            actions++;
        }
    }
    return n;
}

/* ---- orders ------------------------------------------------------------------------------ */

static inline void order_init(orders *o, uint32_t n)
{
    o->n = n;
    o->ended = (bool *)calloc((size_t)n * n + 1, sizeof(bool));
    o->started = (bool *)calloc((size_t)n * n + 1, sizeof(bool));
}

static inline void order_free(orders *o)
{
    free(o->ended);
    free(o->started);
}

/* Node v starts after u, an older one whose own edges are complete, has ended or started. */
static inline void order_edge(orders *o, uint32_t v, uint32_t u, bool ended)
{
    const size_t to = (size_t)v * o->n, from = (size_t)u * o->n;
    o->started[to + u] = true;
    o->ended[to + u] = o->ended[to + u] || ended;
    for (uint32_t w = 0; w < o->n; w++) {
        o->started[to + w] = o->started[to + w] || o->started[from + w];
        o->ended[to + w] = o->ended[to + w] || o->ended[from + w];
    }
}

static inline bool order_same(const orders *a, const orders *b)
{
    const size_t bytes = (size_t)a->n * a->n * sizeof(bool);
    return a->n == b->n && memcmp(a->ended, b->ended, bytes) == 0 &&
           memcmp(a->started, b->started, bytes) == 0;
}

/* ---- by comparing every two -------------------------------------------------------------- */

typedef struct order_range {
    coll_ref at;
    size_t count;
} order_range;

/* What a node reads and writes. */
static inline unsigned order_ranges(const order_node *node, bool writes, order_range out[3])
{
    const coll_action *a = &node->act;
    const order_range src = {a->src, a->count}, dst = {a->dst, a->count},
                      via = {a->via, a->count};
    unsigned n = 0;
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
    case COLL_DO_NOTIFY:
    case COLL_DO_MULTICAST:
        if (!writes)
            out[n++] = src;
        break;
    case COLL_DO_RECV:
    case COLL_DO_AWAIT:
        if (writes)
            out[n++] = dst;
        break;
    case COLL_DO_COPY:
    case COLL_DO_NETWORK_REDUCE:
        out[n++] = writes ? dst : src;
        break;
    case COLL_DO_REDUCE:
        out[n++] = writes ? dst : src;
        if (!writes) {
            out[n].at = a->via;
            out[n++].count = (a->inputs - 1u) * a->stride + a->count;
        }
        break;
    case COLL_DO_RECV_REDUCE:
        if (writes)
            out[n++] = via; /* to combine spoils the staging */
        if (node->half == 2)
            out[n++] = writes ? dst : src;
        break;
    case COLL_KINDS:
        break;
    }
    return n;
}

static inline bool order_meet(const order_node *a, bool a_writes, const order_node *b,
                              bool b_writes)
{
    order_range x[3], y[3];
    const unsigned n = order_ranges(a, a_writes, x), m = order_ranges(b, b_writes, y);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < m; k++)
            if (coll_ref_space(x[i].at) == coll_ref_space(y[k].at) &&
                x[i].at < y[k].at + y[k].count && y[k].at < x[i].at + x[i].count)
                return true;
    return false;
}

static inline bool order_conflict(const order_node *a, const order_node *b)
{
    return order_meet(a, true, b, true) || order_meet(a, true, b, false) ||
           order_meet(a, false, b, true) || (a->half == 1 && a->action == b->action);
}

/* Must the messages of two nodes keep their order? */
static inline bool order_channel(const order_node *a, const order_node *b)
{
    static const int ways[COLL_KINDS] = {1, 2, 2, 0, 0, 1, 2, 1, 3};
    const int way = ways[a->act.kind];
    if (way == 0 || way != ways[b->act.kind] || a->half == 2 || b->half == 2)
        return false;
    return a->act.peer == b->act.peer || a->act.kind == COLL_DO_MULTICAST ||
           b->act.kind == COLL_DO_MULTICAST;
}

static inline void order_by_pairs(orders *o, const order_node *nodes, uint32_t n)
{
    order_init(o, n);
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t u = 0; u < v; u++) {
            if (order_conflict(&nodes[u], &nodes[v]))
                order_edge(o, v, u, true);
            else if (order_channel(&nodes[u], &nodes[v]))
                order_edge(o, v, u, false);
        }
}

/* ---- from the window --------------------------------------------------------------------- */

/* The node at which action k begins (or, in a window of the whole program, slot k); its last
 * one. */
static inline uint32_t order_first(const order_node *nodes, uint32_t action)
{
    uint32_t i = 0;
    while (nodes[i].action != action)
        i++;
    return i;
}

static inline uint32_t order_last(const order_node *nodes, uint32_t action)
{
    const uint32_t i = order_first(nodes, action);
    return i + (nodes[i].half == 1);
}

/* Of a program of up to 32 actions; false: it has more. */
static inline bool order_by_window(orders *o, const order_node *nodes, uint32_t n)
{
    const uint32_t actions = n == 0 ? 0 : nodes[n - 1].action + 1;
    coll_slot slots[32];
    coll_window r;
    if (actions > 32)
        return false;
    memset(&r, 0, sizeof r);
    memset(slots, 0, sizeof slots);
    r.slots = slots;
    r.size = 32;
    r.free = UINT32_MAX;
    for (uint32_t k = 0; k < actions; k++)
        (void)coll_i_window_admit(&r, &nodes[order_first(nodes, k)].act);
    order_init(o, n);
    for (uint32_t v = 0; v < n; v++) {
        const coll_slot *slot = &slots[nodes[v].action];
        const uint32_t after = nodes[v].half == 2 ? slot->hold : slot->gate;
        const uint32_t behind = nodes[v].half == 2 ? 0 : slot->order;
        if (nodes[v].half == 2)
            order_edge(o, v, v - 1, true);
        for (uint32_t k = 0; k < nodes[v].action; k++) {
            if ((after >> k) & 1u)
                order_edge(o, v, order_last(nodes, k), true);
            if ((behind >> k) & 1u)
                order_edge(o, v, order_first(nodes, k), false);
        }
    }
    return true;
}

#endif /* COLL_TESTS_EXPORT_ORDERS_H */
