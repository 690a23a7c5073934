/* coll/plan/topo/rails.h — which rail of its node a rank uses, and leaders that are spread over them
 *
 *   uint8_t rail[p];                                  // the caller's, as long as the nodes
 *   coll_beyond beyond = {rail, NULL};
 *   coll_rails_runs(rail, &nodes, p, 2);              // or the caller's own: of rank r, rail[r]
 *   nodes.beyond = &beyond;
 *
 * A rail is one of several network adapters of a node. Ranks that work for their whole node, its
 * leaders, have as many adapters at work as there are rails among them. So where rails are known, l
 * leaders of a node of m ranks are chosen by them:
 *
 *   (1) each rank is ⌊l/m⌋ leaders, and l mod m ranks are one more
 *   (2) a rail has at most one leader more than another one, unless all ranks of that one are ⌈l/m⌉
 *       leaders, or all of its own ⌊l/m⌋
 *   (3) leaders are in the order of their ranks, spread over the node as far as (2) allows, and
 *       rank 0 of the node is leader 0
 *
 *   8 ranks, l = 4   rank   0 1 2 3 4 5 6 7      without rails   0 · 1 · 2 · 3 ·
 *                    rail   0 0 0 0 1 1 1 1                      0 · 1 · 2 · 3 ·
 *                    rail   0 1 0 1 0 1 0 1                      0 · 1 · · 2 · 3
 *                    rail   0 0 0 0 0 0 1 1                      0 · 1 · · · 2 3
 *
 * Laws (tests/plan/rails.c)    those above
 * Source  Bayatpour et al. 2017, section 4.1 (a leader's adapter), doi:10.1145/3126908.3126954
 */
#ifndef COLL_PLAN_TOPO_RAILS_H
#define COLL_PLAN_TOPO_RAILS_H

#include "nodes.h"

/* Rails of a node, and levels of groups beyond it, at most. */
enum { COLL_RAILS_MOST = 16, COLL_GROUPS_MOST = 3 };

/* The rail of each rank, or NULL. */
COLL_HOT_INLINE const uint8_t *coll_nodes_rails(const coll_nodes *nodes)
{
    return nodes->beyond ? nodes->beyond->rail : NULL;
}

/* The rail that a rank uses; 0, where its node has one. */
COLL_INLINE uint32_t coll_rail_of(const coll_nodes *nodes, uint32_t rank)
{
    const uint8_t *rail = coll_nodes_rails(nodes);
    return rail ? rail[rank] : 0;
}

/* How many rails have numbers: one more than the greatest of them. O(p). */
COLL_INLINE uint32_t coll_rails_count(const coll_nodes *nodes, uint32_t p)
{
    const uint8_t *rail = coll_nodes_rails(nodes);
    uint32_t rails = 1;
    for (uint32_t rank = 0; rail && rank < p; rank++)
        if (rails <= rail[rank])
            rails = rail[rank] + (uint32_t)1;
    return rails;
}

/* Writes the rails of p ranks: those of a node are cut into as many runs of nearly equal length as
 * there are rails, at least 1 and at most COLL_RAILS_MOST; on a node of fewer ranks each has its
 * own. O(p). */
COLL_INLINE void coll_rails_runs(uint8_t *rail, const coll_nodes *nodes, uint32_t p,
                                 uint32_t rails)
{
    for (uint32_t i = 0; i < coll_nodes_count(nodes); i++) {
        const uint32_t first = coll_nodes_first(nodes, p, i);
        const uint32_t m = coll_nodes_first(nodes, p, i + 1) - first;
        const coll_partition cut = coll_partition_of(m, rails < m ? rails : m);
        for (uint32_t t = 0; t < m; t++)
            rail[first + t] = (uint8_t)coll_part_of(cut, rails < m ? rails : m, t);
    }
}

/* Has every rank below p a rail, where there are rails, and every node a group, where there are
 * groups, and these likewise, at most COLL_GROUPS_MOST times? O(p). */
COLL_INLINE bool coll_beyond_check(const coll_nodes *nodes, uint32_t p)
{
    for (uint32_t level = 0; nodes->beyond && level <= COLL_GROUPS_MOST; level++) {
        const coll_beyond *beyond = nodes->beyond;
        for (uint32_t rank = 0; beyond->rail && rank < p; rank++)
            if (beyond->rail[rank] >= COLL_RAILS_MOST)
                return false;
        if (!beyond->groups)
            return true;
        p = coll_nodes_count(nodes);
        nodes = beyond->groups;
        if (!coll_nodes_check(nodes, p))
            return false;
    }
    return !nodes->beyond;
}

/* ---- leaders ----------------------------------------------------------------------------- */

/* How many more leaders each rail of a node of m ranks gets, of `more` in all, at most one a rank:
 * each goes to the rail that has the fewest, `each` a rank before; of several, to the one whose
 * first rank is lower. `ranks`: of each rail. */
COLL_INLINE void coll_i_rails_share(const uint8_t *rail, uint32_t m, uint32_t each,
                                    uint32_t more, uint32_t ranks[COLL_RAILS_MOST],
                                    uint32_t gets[COLL_RAILS_MOST])
{
    uint32_t order[COLL_RAILS_MOST], n = 0;
    for (uint32_t r = 0; r < COLL_RAILS_MOST; r++)
        ranks[r] = gets[r] = 0;
    for (uint32_t t = 0; t < m; t++)
        if (ranks[rail[t]]++ == 0)
            order[n++] = rail[t];
    for (; more > 0; more--) {
        uint32_t best = COLL_RANK_NONE;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t r = order[i];
            if (gets[r] < ranks[r] &&
                (best == COLL_RANK_NONE ||
                 each * ranks[r] + gets[r] < each * ranks[best] + gets[best]))
                best = r;
        }
        gets[best]++;
    }
}

/* Writes, for each of the m ranks of a node, which have these rails, how many of the l leaders have
 * a lower rank: those from that number on, up to that of the next rank, or l, are this rank. l is at
 * most COLL_LEADERS_MOST. O(m) for each rail. */
COLL_INLINE void coll_i_rails_leaders(const uint8_t *rail, uint32_t m, uint32_t l,
                                      size_t *below)
{
    const uint32_t each = l / m, more = l - each * m;
    uint32_t ranks[COLL_RAILS_MOST], gets[COLL_RAILS_MOST], n = 0;
    coll_i_rails_share(rail, m, each, more, ranks, gets);
    for (uint32_t t = 0; t < m; t++) {
        const uint32_t r = rail[t];
        const bool due = ((uint64_t)t + 1) * more > (uint64_t)n * m;
        below[t] = (size_t)each * t + n;
        if (gets[r] > 0 && (due || gets[r] == ranks[r])) {
            gets[r]--;
            n++;
        }
        ranks[r]--;
    }
}

/* The local rank of leader j on a node of m ranks, by what coll_i_rails_leaders wrote. O(log m). */
COLL_INLINE uint32_t coll_i_rails_leader(const size_t *below, uint32_t m, uint32_t j)
{
    uint32_t t = 0, beyond = m; /* below[t] <= j < below[beyond] */
    while (beyond - t > 1) {
        const uint32_t middle = t + (beyond - t) / 2;
        if (below[middle] <= j)
            t = middle;
        else
            beyond = middle;
    }
    return t;
}

/* Is local rank t of m a leader, by the same, of l ones? */
COLL_HOT_INLINE bool coll_i_rails_leads(const size_t *below, uint32_t m, uint32_t l, uint32_t t)
{
    return below[t] < (t + 1 < m ? below[t + 1] : l);
}

#endif /* COLL_PLAN_TOPO_RAILS_H */
