/* tests/support/trees.h — what holds of every algorithm that walks a tree
 * (coll/algos/kit/tree_walk.h)
 *
 *   tree t = tree_of(&coll_kary_bcast, &coll_kary_reduce, &coll_kary_allreduce, p, k, order);
 *   t.parent[v] = …                      for every rank, by a definition of the test's own
 *   check_tree_messages(&t, root);
 *   check_tree_all_costs(&t);
 */
#ifndef COLL_TESTS_ALGOS_TREES_H
#define COLL_TESTS_ALGOS_TREES_H

#include "coll/algos/kit/tree_walk.h"

#include "walk.h"

typedef struct tree {
    const coll_algorithm *bcast, *reduce, *allreduce;
    uint32_t p, degree, order; /* degree 0: the algorithms have no such parameter */
    uint32_t top; /* the rank at the root of an allreduce, or of a reduction in rank order */
    uint32_t parent[WALK_RANKS]; /* in renumbered ranks; of 0, 0 */
    uint32_t children[WALK_RANKS], depth[WALK_RANKS], height;
} tree;

static inline tree tree_of(const coll_algorithm *bcast, const coll_algorithm *reduce,
                           const coll_algorithm *allreduce, uint32_t p, uint32_t degree,
                           uint32_t order)
{
    tree t;
    memset(&t, 0, sizeof t);
    t.bcast = bcast;
    t.reduce = reduce;
    t.allreduce = allreduce;
    t.p = p;
    t.degree = degree;
    t.order = order;
    return t;
}

/* After parent[] is known. */
static inline void tree_complete(tree *t)
{
    t->height = 0;
    for (uint32_t v = 0; v < t->p; v++)
        t->children[v] = t->depth[v] = 0;
    for (uint32_t v = 1; v < t->p; v++) {
        t->children[t->parent[v]]++;
        for (uint32_t above = v; above != 0 && t->depth[v] < t->p; above = t->parent[above])
            t->depth[v]++;
        CHECK(t->depth[v] < t->p); /* no circles */
        t->height = t->depth[v] > t->height ? t->depth[v] : t->height;
    }
}

static inline coll_plan tree_plan(const tree *t, const coll_algorithm *algorithm, size_t count,
                                  uint32_t segment, uint32_t flags, uint32_t root)
{
    const uint32_t params[3] = {t->degree, segment, t->order};
    const bool has_degree = t->degree > 0;
    return plan_with(algorithm,
                     algorithm == t->bcast    ? COLL_BCAST
                     : algorithm == t->reduce ? COLL_REDUCE
                                              : COLL_ALLREDUCE,
                     t->p, count, flags, root, has_degree ? params : params + 1);
}

/* Everyone talks to its parent and to its children, once each way, and to nobody else. */
static inline void check_tree_messages(const tree *t, uint32_t root)
{
    const coll_plan plans[3] = {tree_plan(t, t->bcast, 1, 0, 0, root),
                                tree_plan(t, t->reduce, 1, 0, COLL_FLAG_COMMUTATIVE, root),
                                tree_plan(t, t->allreduce, 1, 0, 0, 0)};
    for (uint32_t which = 0; which < 3; which++)
        for (uint32_t rank = 0; rank < t->p; rank++) {
            const uint32_t first = which == 2 ? t->top : root, v = (rank + t->p - first) % t->p;
            const walk *w = walk_of(&plans[which], rank);
            uint32_t up_out = 0, up_in = 0, down_out = 0, down_in = 0;
            for (size_t i = 0; i < w->n; i++) {
                const uint32_t peer = (w->act[i].peer + t->p - first) % t->p;
                const bool to_parent = v != 0 && peer == t->parent[v];
                if (!is_send(&w->act[i]) && !is_receive(&w->act[i]))
                    continue;
                CHECK(to_parent || (peer != 0 && t->parent[peer] == v));
                if (is_send(&w->act[i]) && to_parent) {
                    CHECK_EQ(up_in, t->children[v]); /* after all its children */
                    up_out++;
                } else if (is_send(&w->act[i])) {
                    CHECK_EQ(down_in, v != 0); /* after its parent */
                    down_out++;
                } else if (to_parent) {
                    down_in++;
                } else {
                    up_in++;
                }
            }
            CHECK_EQ(down_in, which != 1 && v != 0);
            CHECK_EQ(down_out, which != 1 ? t->children[v] : 0);
            CHECK_EQ(up_in, which != 0 ? t->children[v] : 0);
            CHECK_EQ(up_out, which != 0 && v != 0);
        }
}

/* Every rank's share, in closed form. */
static inline void check_tree_costs(const tree *t, size_t count, uint32_t segment,
                                    uint32_t flags, uint32_t root)
{
    const size_t s = coll_segments(count, segment), staging = s > 1 ? segment : count;
    const bool detour = !(flags & COLL_FLAG_COMMUTATIVE) && root != t->top;
    const bool in_place = (flags & COLL_FLAG_IN_PLACE) != 0;
    const uint32_t top = detour ? t->top : root;
    coll_plan plan = tree_plan(t, t->bcast, count, segment, flags, root);
    coll_report cost = cost_of(&plan);
    CHECK_EQ(cost.rounds, t->height);
    CHECK_EQ(cost.total.scratch, 0);
    for (uint32_t rank = 0; rank < t->p; rank++) {
        const uint32_t m = t->children[(rank + t->p - root) % t->p];
        CHECK_EQ(cost.ranks[rank].messages, m * s);
        CHECK_EQ(cost.ranks[rank].elements, m * count);
    }
    plan = tree_plan(t, t->reduce, count, segment, flags, root);
    cost = cost_of(&plan);
    if (!detour || s == 1)
        CHECK_EQ(cost.rounds, t->height + (detour ? 1 : 0));
    for (uint32_t rank = 0; rank < t->p; rank++) {
        const uint32_t v = (rank + t->p - top) % t->p, m = t->children[v];
        const bool sends = v != 0 || detour, in_out = rank == root && !detour;
        const bool apart = !in_out || (t->order && m > 1 && in_place);
        CHECK_EQ(cost.ranks[rank].messages, sends ? s : 0);
        CHECK_EQ(cost.ranks[rank].elements, sends ? count : 0);
        CHECK_EQ(cost.ranks[rank].reduced, m * count);
        CHECK_EQ(coll_plan_scratch(&plan, rank),
                 m == 0 ? 0 : (apart ? count : 0) + (m * s > 1 ? 2 : 1) * staging);
    }
    plan = tree_plan(t, t->allreduce, count, segment, flags, 0);
    cost = cost_of(&plan);
    if (s == 1)
        CHECK_EQ(cost.rounds, 2 * t->height);
    for (uint32_t v = 0; v < t->p; v++) {
        const uint32_t m = t->children[v], rank = (v + t->top) % t->p;
        const bool apart = t->order && m > 1 && in_place;
        CHECK_EQ(cost.ranks[rank].messages, (m + (v != 0)) * s);
        CHECK_EQ(cost.ranks[rank].elements, (m + (v != 0)) * count);
        CHECK_EQ(cost.ranks[rank].reduced, m * count);
        CHECK_EQ(coll_plan_scratch(&plan, rank),
                 m == 0 ? 0 : (apart ? count : 0) + (m * s > 1 ? 2 : 1) * staging);
    }
}

/* … for segments that fit, do not, and are longer than the vector, with all flags. */
static inline void check_tree_all_costs(const tree *t)
{
    static const uint32_t segments[] = {0, 1, 4, 7};
    for (size_t k = 0; k < sizeof segments / sizeof *segments; k++)
        for (uint32_t flags = 0; flags < 4; flags++)
            check_tree_costs(t, 6, segments[k], flags, t->p / 3);
}

/* The barrier of such a tree: a notification up and one down each edge. */
static inline void check_tree_barrier(const tree *t, const coll_algorithm *barrier)
{
    const uint32_t params[1] = {t->degree};
    const coll_plan plan = plan_with(barrier, COLL_BARRIER, t->p, 0, 0, 0, params);
    const coll_report cost = cost_of(&plan);
    CHECK_EQ(cost.rounds, 2 * t->height);
    CHECK_EQ(cost.total.elements, 0);
    for (uint32_t v = 0; v < t->p; v++)
        CHECK_EQ(cost.ranks[v].messages, t->children[v] + (v != 0));
}

#endif /* COLL_TESTS_ALGOS_TREES_H */
