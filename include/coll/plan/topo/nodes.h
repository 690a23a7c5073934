/* coll/plan/topo/nodes.h — which ranks share a node
 *
 * Use plan/topo.h, or this part alone.
 */
#ifndef COLL_PLAN_TOPO_NODES_H
#define COLL_PLAN_TOPO_NODES_H

#include "integers.h"
#include "partition.h"

/* What lies beyond nodes, the caller's like the tables. Zeroed: nothing that is known. */
typedef struct coll_beyond {
    /* The rail of each rank, that is the network adapter of its node that it uses, by numbers below
     * COLL_RAILS_MOST (rails.h), of which not every node needs all; NULL: a node has one. */
    const uint8_t *rail;
    /* Which nodes are nearer to each other: those of a switch, or, where ranks share the memory of a
     * socket, and sockets are what is called nodes here, the sockets of a machine. The `ranks` of
     * groups are the nodes. They may have groups, too. NULL: there are none. */
    const struct coll_nodes *groups;
} coll_beyond;

/* Which ranks share a node: runs of consecutive ranks. Zeroed: all ranks are on one node. */
typedef struct coll_nodes {
    uint32_t count; /* how many nodes; 0: one, of all ranks */
    uint32_t most;  /* ranks of the largest */
    /* Division by the ranks of a node (the last may have fewer), where `first` is NULL. */
    coll_fast_divisor by_ppn;
    const uint32_t *first; /* count + 1 entries, the caller's: node i has ranks first[i] …
                              first[i+1]−1. Or NULL */
    const uint32_t *of;    /* with `first`: the node of each rank; NULL: it is searched for */
    const coll_beyond *beyond; /* rails and groups; NULL: none */
} coll_nodes;

/* A rank's place. */
typedef struct coll_node {
    uint32_t index; /* of the node */
    uint32_t first; /* its first rank */
    uint32_t ranks; /* how many it has */
    uint32_t local; /* the rank is its number `local`, from 0 */
} coll_node;

/* ⌈p/ppn⌉ nodes of ppn ranks, the last with what is left. ppn is at least 1. Nothing is beyond. */
COLL_INLINE void coll_nodes_even(coll_nodes *nodes, uint32_t p, uint32_t ppn)
{
    nodes->by_ppn = coll_fast_divisor_of(ppn);
    nodes->count = coll_divide(p - 1, &nodes->by_ppn) + 1;
    nodes->most = ppn < p ? ppn : p;
    nodes->first = nodes->of = NULL;
    nodes->beyond = NULL;
}

/* Nodes of any size. Both tables are the caller's, and unchanged while they are used. Nothing is
 * beyond. O(nodes). */
COLL_INLINE void coll_nodes_table(coll_nodes *nodes, uint32_t count, const uint32_t *first,
                                  const uint32_t *of)
{
    nodes->by_ppn = coll_fast_divisor_of(1);
    nodes->count = count;
    nodes->most = 0;
    for (uint32_t node = 0; node < count; node++)
        if (nodes->most < first[node + 1] - first[node])
            nodes->most = first[node + 1] - first[node];
    nodes->first = first;
    nodes->of = of;
    nodes->beyond = NULL;
}

/* How many nodes there are, at least 1. */
COLL_INLINE uint32_t coll_nodes_count(const coll_nodes *nodes)
{
    return nodes->count ? nodes->count : 1;
}

/* The first rank of a node; p for the node after the last. */
COLL_INLINE uint32_t coll_nodes_first(const coll_nodes *nodes, uint32_t p, uint32_t node)
{
    if (nodes->first)
        return nodes->first[node];
    return node >= coll_nodes_count(nodes) ? p : node * nodes->by_ppn.by;
}

/* Place of rank `local` of a node. */
COLL_INLINE coll_node coll_node_at(const coll_nodes *nodes, uint32_t p, uint32_t node,
                                   uint32_t local)
{
    coll_node at;
    at.index = node;
    at.first = coll_nodes_first(nodes, p, node);
    at.ranks = coll_nodes_first(nodes, p, node + 1) - at.first;
    at.local = local;
    return at;
}

/* Place of a rank. O(1), or O(log nodes) for a table without `of`. */
COLL_HOT_INLINE coll_node coll_node_of(const coll_nodes *nodes, uint32_t p, uint32_t rank)
{
    uint32_t node = 0;
    coll_node at;
    if (nodes->of) {
        node = nodes->of[rank];
    } else if (nodes->first) {
        uint32_t beyond = nodes->count; /* first[node] <= rank < first[beyond] */
        while (beyond - node > 1) {
            const uint32_t middle = node + (beyond - node) / 2;
            if (nodes->first[middle] <= rank)
                node = middle;
            else
                beyond = middle;
        }
    } else if (nodes->count) {
        node = coll_divide(rank, &nodes->by_ppn);
    }
    at = coll_node_at(nodes, p, node, 0);
    at.local = rank - at.first;
    return at;
}

/* Is a rank the first one of its node, or of one of its sockets? */
COLL_INLINE bool coll_node_leads(const coll_nodes *nodes, uint32_t p, uint32_t sockets,
                                 uint32_t rank)
{
    const coll_node at = coll_node_of(nodes, p, rank);
    const uint32_t runs = sockets < at.ranks ? sockets : at.ranks;
    const coll_partition cut = coll_partition_of(at.ranks, runs);
    return coll_part_offset(cut, coll_part_of(cut, runs, at.local)) == at.local;
}

/* Does every rank below p have a node, and every node a rank? O(nodes), with `of` O(p). */
COLL_INLINE bool coll_nodes_check(const coll_nodes *nodes, uint32_t p)
{
    if (nodes->count == 0)
        return !nodes->first && !nodes->of;
    if (!nodes->first)
        return nodes->by_ppn.by > 0 &&
               nodes->most == (nodes->by_ppn.by < p ? nodes->by_ppn.by : p) &&
               nodes->count == coll_divide(p - 1, &nodes->by_ppn) + 1;
    if (nodes->first[0] != 0 || nodes->first[nodes->count] != p)
        return false;
    for (uint32_t node = 0; node < nodes->count; node++) {
        if (nodes->first[node] >= nodes->first[node + 1] || nodes->first[node + 1] > p)
            return false;
        for (uint32_t r = nodes->first[node]; nodes->of && r < nodes->first[node + 1]; r++)
            if (nodes->of[r] != node)
                return false;
    }
    return true;
}

/* Ranks of the largest node. */
COLL_INLINE uint32_t coll_nodes_largest(const coll_nodes *nodes, uint32_t p)
{
    return nodes->count ? nodes->most : p;
}

/* Ranks of the smallest node. O(nodes) for a table. */
COLL_INLINE uint32_t coll_nodes_smallest(const coll_nodes *nodes, uint32_t p)
{
    uint32_t least = p;
    if (!nodes->first)
        return nodes->count ? p - (nodes->count - 1) * nodes->by_ppn.by : p;
    for (uint32_t node = 0; node < nodes->count; node++)
        if (least > nodes->first[node + 1] - nodes->first[node])
            least = nodes->first[node + 1] - nodes->first[node];
    return least;
}

/* Leaders of a node: l of them, at most COLL_LEADERS_MOST, spread evenly over its ranks, in
 * their order. Where there are fewer ranks than l, each is several leaders.
 *
 *   l = 3:    8 ranks  0 · 1 · 2 · · ·      3 ranks  0 1 2      2 ranks  0,1 2
 */
enum { COLL_LEADERS_MOST = 4096 };

/* The local rank of leader j on a node of `ranks` ranks. */
COLL_HOT_INLINE uint32_t coll_leader(uint32_t ranks, uint32_t j, const coll_fast_divisor *l)
{
    return ranks >= l->by ? coll_divide(ranks, l) * j : coll_divide(ranks * j, l);
}

/* How many of the l leaders have a lower local rank: those from this number on, up to that of
 * the next rank, are rank `local` itself. */
COLL_INLINE uint32_t coll_leaders_below(uint32_t ranks, uint32_t local, uint32_t l)
{
    if (ranks >= l) {
        const uint32_t apart = ranks / l, below = local / apart + (local % apart != 0 ? 1 : 0);
        return below < l ? below : l;
    }
    return (local * l + ranks - 1) / ranks;
}

#endif /* COLL_PLAN_TOPO_NODES_H */
