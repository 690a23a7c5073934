/* coll/plan/rank_order.h — ranks numbered so that those of a node follow each other
 *
 *   uint32_t node[…];                         // of each rank: equal for the ranks of a node alone
 *   uint32_t tables[…];                       // coll_rank_order_tables(p) of them
 *   coll_rank_order places;
 *   coll_rank_order_of(&places, node, p, tables);
 *   if (coll_problem_place(&problem, &places))
 *       coll_group_places(&group, &places);
 *
 * Plans know nodes as runs of ranks. But launchers deal ranks out to nodes in turn, and communicators
 * come in any order. So each rank has a place: node by node, in the order of their first ranks, and on a
 * node in the order of its ranks. A plan in which no rank's number matters is made for places, and its
 * group says whose they are.
 *
 *   rank   0 1 2 3 4 5 6    place  0 1 2  3 4  5 6
 *   node   a b c a b c a    rank   0 3 6  1 4  2 5
 *   place  0 3 5 1 4 6 2    node   a . .  b .  c .
 *
 * Laws (tests/plan/topo.c)
 *   (1) the ranks of the places are a permutation, and the places of the ranks its inverse
 *   (2) ranks have the same node if their places have, and their places then grow with them
 *   (3) the first ranks of the nodes grow with the nodes
 *   (4) where the ranks of all nodes follow each other, and there alone, places are ranks
 */
#ifndef COLL_PLAN_RANK_ORDER_H
#define COLL_PLAN_RANK_ORDER_H

#include "group.h"
#include "problem.h"

/* Ranks numbered node by node: places. */
typedef struct coll_rank_order {
    coll_nodes nodes;      /* of the places */
    const uint32_t *rank;  /* of each place … */
    const uint32_t *place; /* … and of each rank; both NULL: places are ranks */
} coll_rank_order;

/* Entries that the tables of p ranks' places need. */
COLL_INLINE size_t coll_rank_order_tables(uint32_t p)
{
    return 4 * (size_t)p + 1;
}

/* All ranks are on one node. */
COLL_INLINE void coll_rank_order_init(coll_rank_order *places)
{
    coll_nodes *nodes = &places->nodes;
    nodes->by_ppn = coll_fast_divisor_of(1);
    nodes->count = nodes->most = 0;
    nodes->first = nodes->of = places->rank = places->place = NULL;
    nodes->beyond = NULL;
}

/* The place of a rank. */
COLL_INLINE uint32_t coll_place_of(const coll_rank_order *places, uint32_t rank)
{
    return places->place ? places->place[rank] : rank;
}

/* Finds the places of p ranks, at least 1, by their nodes' names. `node` is read here alone; `tables`
 * stay the caller's, and unchanged while the places are used. O(p), if names are not chosen to make
 * it slow. */
COLL_INLINE void coll_rank_order_of(coll_rank_order *places, const uint32_t *node, uint32_t p,
                                    uint32_t *tables)
{
    const size_t slots = 2 * (size_t)p;
    uint32_t *rank = tables, *place = rank + p, *of = place + p, *first = of + p;
    uint32_t *next = of, n = 0, at = 0; /* a rank's next one on its node; p: it is the last */
    bool moved = false;
    for (size_t i = 0; i < slots; i++) /* by name: the least rank so far; p: none */
        tables[i] = p;
    for (uint32_t r = p; r-- > 0;) {
        size_t slot = (size_t)((uint64_t)(node[r] * 0x9E3779B9u) * slots >> 32);
        while (tables[slot] < p && node[tables[slot]] != node[r])
            slot = slot + 1 < slots ? slot + 1 : 0;
        next[r] = tables[slot];
        tables[slot] = r;
    }
    for (uint32_t r = 0; r < p; r++)
        place[r] = p;
    for (uint32_t r = 0; r < p; r++) {
        if (place[r] < p)
            continue;
        first[n++] = at;
        for (uint32_t i = r; i < p; i = next[i]) {
            moved = moved || i != at;
            place[i] = at;
            rank[at++] = i;
        }
    }
    first[n] = p;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = first[i]; k < first[i + 1]; k++)
            of[k] = i;
    coll_nodes_table(&places->nodes, n, first, of);
    places->rank = moved ? rank : NULL;
    places->place = moved ? place : NULL;
}

/* The ranks of a plan are places, and those outside the ranks that have them. */
COLL_INLINE void coll_group_places(coll_group *group, const coll_rank_order *places)
{
    if (places->rank)
        coll_group_table(group, places->rank, places->place);
    else
        coll_group_identity(group);
}

/* Numbers the ranks of a problem, on one node until then, by their places on several. Rank r then runs a plan of it as number coll_place_of(places, r).
 * False: its ranks' numbers matter, and are not places; all remain on one node. */
COLL_INLINE bool coll_problem_place(coll_problem *problem, const coll_rank_order *places)
{
    if (places->rank && !coll_problem_is_orderless(problem))
        return false;
    coll_i_nodes_assign(&problem->nodes, &places->nodes);
    if (coll_is(COLL_ROOTED, problem->collective) && problem->root < problem->p)
        problem->root = coll_place_of(places, problem->root);
    return true;
}

#endif /* COLL_PLAN_RANK_ORDER_H */
