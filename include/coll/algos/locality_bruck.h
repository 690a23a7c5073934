/* coll/algos/locality_bruck.h — allgather(v) in few rounds across nodes, with all ranks of a node
 *
 * First the ranks of each node allgather their blocks. Then a node has the blocks of N = 1 node,
 * its own, and in each round of k times as many: those of the nodes e·N to its right come in one
 * message for each digit e = 1 … k − 1 (modulo h nodes, as all nodes here). A node's ranks share
 * the digits, so each has one message across in a round if k − 1 is at most their number; and an
 * allgather within the node brings the parts together. So there are ⌈log_k h⌉ rounds across instead
 * of ⌈log2 p⌉, and of the elements of other nodes each comes to a node once. Blocks go
 * straight to their places; a message over the end of OUT is two.
 *
 *   7 nodes of 2 ranks, k = 3: nodes whose blocks node 0 has, and who gets them from which node
 *     round 0     0
 *     round 1     0 1 2            rank 0 from 1 (1), rank 1 from 2 (2)
 *     round 2     0 1 2 3 4 5 6    rank 0 from 3 (3 4 5), rank 1 from 6 (6)
 *
 * Within a node parts travel as in bruck.h, at distances 1, 2, 4 …: those of c ranks to the right
 * at once. Nodes may have any sizes; with k = 0 it is one more than the ranks of the smallest.
 *
 * Laws (tests/algos/locality_bruck.c)
 *   (1) in a round a rank sends a message for each of its ⌈(k−1)/m⌉ digits at most, m ranks being on
 *       its node, or two where it goes over the end
 *   (2) every block comes to a node once from another one
 * Cost    ⌈log_k h⌉ rounds across, and ⌈log2 m⌉ within before them and after each; elements across:
 *         those of all other nodes, once a node. No scratch
 * Source  Bienz, Gautam, Kharel 2022, arXiv:2206.03564; the own node's part needs no rank, so here
 *         k is m + 1 instead of m
 */
#ifndef COLL_ALGOS_LOCALITY_BRUCK_H
#define COLL_ALGOS_LOCALITY_BRUCK_H

#include "../plan.h"

/* Division by k: of param[0], or by one more than the ranks of the smallest node. */
COLL_INLINE void coll_i_prepare_locality_bruck(coll_plan *plan)
{
    const uint32_t k = plan->param[0], p = plan->problem.p, most = UINT32_MAX / 2;
    const uint32_t smallest = coll_nodes_smallest(&plan->problem.nodes, p);
    plan->radix = coll_fast_divisor_of(k > 1 ? k : smallest < most ? smallest + 1 : most);
}

/* Where a rank is, and the round that a step belongs to. */
typedef struct coll_i_locality {
    coll_node at;
    uint32_t h, k, each; /* nodes; radix; digits of a rank */
    uint32_t within;     /* rounds within: ⌈log2 m⌉ */
    uint64_t n;          /* N, or 0: in round 0 */
} coll_i_locality;

/* Digits of each rank on a node of m ranks: the first ones are rank 0's. */
COLL_HOT_INLINE uint32_t coll_i_locality_each(uint32_t k, uint32_t m)
{
    return k - 1 <= m ? 1 : (k - 2) / m + 1;
}

COLL_INLINE void coll_i_locality_of(const coll_plan *plan, uint32_t rank, coll_i_locality *my)
{
    const coll_node at = coll_node_of(&plan->problem.nodes, plan->problem.p, rank);
    my->at.index = at.index;
    my->at.first = at.first;
    my->at.ranks = at.ranks;
    my->at.local = at.local;
    my->h = coll_nodes_count(&plan->problem.nodes);
    my->k = plan->radix.by;
    my->each = coll_i_locality_each(my->k, at.ranks);
    my->within = coll_log2_ceil(at.ranks);
    my->n = 0;
}

/* The own block, round 0 within, and each round across and within. A round within has two steps. */
COLL_INLINE size_t coll_i_locality_bruck_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_locality my;
    size_t steps;
    coll_i_locality_of(plan, rank, &my);
    steps = 1 + 2 * (size_t)my.within;
    for (my.n = 1; my.n < my.h; my.n *= my.k)
        steps += my.each + 2 * (size_t)my.within;
    return steps;
}

/* Where the blocks of nodes `from` … `to` − 1 lie, which are less than h apart, as at most two
 * messages. */
COLL_INLINE unsigned coll_i_locality_move(const coll_plan *plan, bool sends, uint32_t peer,
                                          uint64_t from, uint64_t to, coll_action *out)
{
    const coll_nodes *nodes = &plan->problem.nodes;
    const coll_layout *layout = &plan->problem.out;
    const uint32_t p = plan->problem.p, h = coll_nodes_count(nodes);
    const size_t count = plan->problem.count;
    unsigned n = 0;
    for (unsigned turn = 0; turn < 2; turn++) {
        const uint64_t low = turn == 0 ? 0 : h, high = low + h;
        const uint64_t begin = from > low ? from : low, end = to < high ? to : high;
        size_t at, beyond;
        if (begin >= end)
            continue;
        at = coll_i_layout_at(layout, count, p,
                              coll_nodes_first(nodes, p, (uint32_t)(begin - low)));
        beyond = coll_i_layout_at(layout, count, p,
                                  coll_nodes_first(nodes, p, (uint32_t)(end - low)));
        if (sends)
            coll_act_send(&out[n++], peer, COLL_AT(COLL_OUT, at), beyond - at);
        else
            coll_act_recv(&out[n++], peer, COLL_AT(COLL_OUT, at), beyond - at);
    }
    return n;
}

/* Digit e of this rank: what the node has, to the nodes on the left that want it, and likewise. */
COLL_INLINE unsigned coll_i_locality_inter(const coll_plan *plan, const coll_i_locality *my,
                                           uint32_t x, coll_action *out)
{
    const coll_nodes *nodes = &plan->problem.nodes;
    const uint32_t p = plan->problem.p, h = my->h, i = my->at.index;
    const uint64_t e = (uint64_t)my->at.local * my->each + x + 1, far = e * my->n;
    const uint64_t some = my->n < h - far ? my->n : h - far;
    unsigned n = 0;
    if (e >= my->k || far >= h)
        return 0;
    for (unsigned sends = 2; sends-- > 0;) {
        const uint64_t node = sends ? i + h - far : i + far;
        const coll_node at = coll_node_at(nodes, p, (uint32_t)(node < h ? node : node - h), 0);
        const uint32_t share = coll_i_locality_each(my->k, at.ranks);
        const uint32_t peer =
            at.first + (share == 1 ? (uint32_t)e - 1 : ((uint32_t)e - 1) / share);
        const uint64_t from = sends ? i : at.index;
        n += coll_i_locality_move(plan, sends > 0, peer, from, from + some, out + n);
    }
    return n;
}

/* Where the part of local rank j begins: the number of a node behind this one, at most h. */
COLL_HOT_INLINE uint64_t coll_i_locality_part(const coll_i_locality *my, uint32_t j)
{
    const uint64_t e = 1 + (uint64_t)j * my->each;
    const uint64_t at = (e < my->k ? e : my->k) * my->n;
    return at < my->h ? at : my->h;
}

/* The parts of local ranks from … to − 1: of round 0 their blocks. */
COLL_INLINE unsigned coll_i_locality_parts(const coll_plan *plan, const coll_i_locality *my,
                                           bool sends, uint32_t peer, uint32_t from,
                                           uint32_t to, coll_action *out)
{
    const uint32_t p = plan->problem.p, first = my->at.first, i = my->at.index;
    size_t at, beyond;
    if (from >= to)
        return 0;
    if (my->n > 0)
        return coll_i_locality_move(plan, sends, peer, i + coll_i_locality_part(my, from),
                                    i + coll_i_locality_part(my, to), out);
    at = coll_i_layout_at(&plan->problem.out, plan->problem.count, p, first + from);
    beyond = coll_i_layout_at(&plan->problem.out, plan->problem.count, p, first + to);
    if (sends)
        coll_act_send(out, peer, COLL_AT(COLL_OUT, at), beyond - at);
    else
        coll_act_recv(out, peer, COLL_AT(COLL_OUT, at), beyond - at);
    return 1;
}

/* Step s of the rounds within: the sends of one, or its receives. Parts may go over the last rank. */
COLL_INLINE unsigned coll_i_locality_intra(const coll_plan *plan, const coll_i_locality *my,
                                           size_t s, coll_action *out)
{
    const uint32_t m = my->at.ranks, j = my->at.local, d = (uint32_t)1 << (s >> 1);
    const bool sends = (s & 1) == 0;
    const uint32_t some = d < m - d ? d : m - d;
    const uint32_t peer = sends ? coll_mod_sub(j, d, m) : coll_mod_add(j, d, m);
    const uint32_t from = sends ? j : peer, to = from + some < m ? from + some : m;
    const unsigned n =
        coll_i_locality_parts(plan, my, sends, my->at.first + peer, from, to, out);
    return n + coll_i_locality_parts(plan, my, sends, my->at.first + peer, 0, from + some - to,
                                     out + n);
}

COLL_INLINE unsigned coll_i_locality_bruck_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const coll_block own = coll_out_block(plan, rank);
    coll_i_locality my;
    size_t within;
    if (s == 0) {
        coll_act_copy(&out[0], COLL_AT(COLL_OUT, own.offset), COLL_AT(COLL_IN, 0), own.count);
        return coll_in_place(plan) ? 0 : 1;
    }
    s--;
    coll_i_locality_of(plan, rank, &my);
    within = 2 * (size_t)my.within;
    if (s < within)
        return coll_i_locality_intra(plan, &my, s, out);
    s -= within;
    for (my.n = 1; s >= my.each + within; my.n *= my.k)
        s -= my.each + within;
    return s < my.each ? coll_i_locality_inter(plan, &my, (uint32_t)s, out)
                       : coll_i_locality_intra(plan, &my, s - my.each, out);
}

COLL_TABLE(coll_param, coll_i_locality_bruck_params, {
    COLL_PARAM("k", "k-1 messages of a node a round; below 2: one for each rank of the smallest",
               0, UINT32_MAX / 2, 0, {2, 3, 4, 6})});

COLL_ALGORITHM(coll_locality_bruck_allgather, "locality_bruck", "Bienz, Gautam, Kharel 2022",
    COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV),
    COLL_GIVES_IDENTICAL | COLL_NEEDS_PACKED | COLL_USES_NODES,
    /* window */ 3, /* sends */ 2,
    COLL_PREPARED(1, coll_i_locality_bruck_params, coll_i_prepare_locality_bruck),
    coll_i_locality_bruck_steps, coll_i_locality_bruck_step);

#endif /* COLL_ALGOS_LOCALITY_BRUCK_H */
