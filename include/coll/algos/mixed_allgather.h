/* coll/algos/mixed_allgather.h — allgather between nodes by messages, within nodes by shared
 * memory, both at once
 *
 * A coordinator on each node, its first rank, gathers the node's blocks through slots of shared
 * memory, a segment at a time. Then the runs of blocks go round a ring of nodes, in segments; when
 * one is on its way to the next node, the first `overlap` elements of it go through the node's
 * pipeline buffers, and at the end what is left of all (mixed.h).
 *
 *   3 nodes, coordinator of node 0:
 *     gather | send own, recv of 2, put own | send that on, recv of 1, put 2 | put 1 | rests
 *
 * Laws (tests/algos/mixed.c)
 *   (1) only coordinators send and receive elements; each segment comes to a node once
 *   (2) while segment i + 1 is under way, at most `overlap` elements of segment i are put
 *   (3) with overlap ≥ segment nothing is left for the end; with 0, everything
 * Cost    h nodes, the largest of n ranks, S = ⌈n·count/segment⌉. A coordinator sends every element
 *         but those of the next node, in at most (h−1)S messages, and receives all but its node's.
 *         Others copy their block in, and p blocks out; the coordinator copies those of its node
 *         out, and p blocks in. Rounds: (h−1)S for n = 1; else, with P = h·S stages, or 2h·S if
 *         0 < overlap < segment, E = max(0, P − buffers) and a tree of height t on a node,
 *         2⌈count/segment⌉ − 1 + (h−1)S + t(2E + 1), where, unless overlap is 0, messages hide
 *         behind the node's words from stage `buffers` on, so that instead of (h−1)S there are
 *         `buffers` at most; on nodes of several sizes at most so many
 * Source  Wu 2005, section 3.4.3
 */
#ifndef COLL_ALGOS_MIXED_ALLGATHER_H
#define COLL_ALGOS_MIXED_ALLGATHER_H

#include "kit/derived.h"
#include "kit/mixed_ring.h"

COLL_TABLE(coll_param, coll_i_mixed_allgather_params, {
    COLL_PARAM("f", "degree of the tree of notifications in a node",
               2, UINT32_MAX / 2, 64, {3, 4, 3, 3}),
    COLL_PARAM("buffers", "pipeline buffers", 1, 1 << 16, 2, {3, 3, 3, 3}),
    COLL_PARAM("segment", "elements of a segment; 0: all of a node", 0, UINT32_MAX, 1024,
     {300, 3, 20, 300}),
    COLL_PARAM("overlap", "elements of a segment that are put while the next is under way",
               0, UINT32_MAX,
     UINT32_MAX, {200, 1, 13, 200})});

/* Action j of round `round` of the gathering. */
COLL_HOT_INLINE void coll_i_mixed_gather(const coll_plan *plan, const coll_i_mixed_ring *at,
                                         size_t round, uint32_t j, coll_action *out)
{
    const size_t count = plan->problem.count;
    const uint32_t other = at->tree.v == 0 ? j / 3 + 1 : at->node.local; /* whose block */
    const coll_block part = coll_segment_block(count, at->slot, round);
    const coll_ref slot =
        COLL_AT(COLL_SHARED, plan->param[1] * at->cut.piece + (other - 1) * at->slot);
    const coll_ref place = COLL_AT(COLL_OUT, (at->node.first + other) * count + part.offset);
    const coll_ref own = coll_in_place(plan) ? place : COLL_AT(COLL_IN, part.offset);
    const uint32_t with = at->tree.v == 0 ? at->node.first + other : at->node.first;
    if (at->tree.v == 0) { /* is told, gets, tells that the slot is free */
        if (j % 3 == 0)
            coll_act_await(out, with, slot, part.count);
        else if (j % 3 == 1)
            coll_act_copy(out, place, slot, part.count);
        else
            coll_act_notify(out, with, place, round + 1 < at->rounds ? part.count : 0);
    } else if (j == 0) {
        coll_act_await(out, with, slot, round > 0 ? part.count : 0);
    } else if (j == 1) {
        coll_act_copy(out, slot, own, part.count);
    } else {
        coll_act_notify(out, with, slot, part.count);
    }
}

COLL_HOT_INLINE void coll_i_mixed_ring_pass(const coll_plan *plan, const coll_i_mixed_ring *at,
                                            size_t stage, bool late, uint32_t j,
                                            coll_action *out)
{
    const size_t early = at->cut.early ? at->stages : 0;
    const size_t now = late ? early + stage : stage;
    const size_t before = coll_i_mixed_before(plan, now);
    const coll_block segment = coll_i_mixed_ring_segment(plan, at, stage);
    const coll_block then =
        coll_i_mixed_ring_segment(plan, at, before < early ? before : before - early);
    const coll_i_shm_pass pass =
        coll_i_mixed_pass(plan, &at->cut, now, early + (at->cut.late ? at->stages : 0),
                          coll_i_mixed_part(&at->cut, segment, late),
                          coll_i_mixed_part(&at->cut, then, before >= early));
    if (at->tree.v == 0)
        coll_i_shm_pass_put(&pass, &at->tree, COLL_AT(COLL_OUT, 0), j, out);
    else
        coll_i_shm_pass_get(&pass, &at->tree, j, out);
}

/* Action j of a segment: send it to the node after, unless it is of that one, and receive the
 * one that comes in its stead from the node before; put or get. */
COLL_HOT_INLINE void coll_i_mixed_ring_action(const coll_plan *plan,
                                              const coll_i_mixed_ring *at, size_t stage,
                                              uint32_t j, coll_action *out)
{
    if (j < at->messages) {
        const bool last = stage >= at->stages - at->cut.segments;
        const coll_block segment = coll_i_mixed_ring_segment(
            plan, at, j == 0 || last ? stage : stage + at->cut.segments);
        const coll_ref place = COLL_AT(COLL_OUT, segment.offset);
        const uint32_t peer =
            coll_nodes_first(&plan->problem.nodes, plan->problem.p,
                             j == 0 ? coll_mod_add(at->node.index, 1, at->nodes)
                                    : coll_mod_sub(at->node.index, 1, at->nodes));
        if (j == 0)
            coll_act_send(out, peer, place, last ? 0 : segment.count);
        else
            coll_act_recv(out, peer, place, last ? 0 : segment.count);
    } else {
        coll_i_mixed_ring_pass(plan, at, stage, false, j - at->messages, out);
    }
}

/* The gathering, and the rank's own block to its place; then the segments, then the rests. */
COLL_INLINE size_t coll_i_mixed_allgather_steps(const coll_plan *plan, uint32_t rank)
{
    if (plan->problem.count == 0)
        return 0;
    if (plan->problem.p == 1)
        return coll_in_place(plan) ? 0 : 1;
    {
        coll_i_mixed_ring at;
        coll_i_mixed_ring_of(plan, rank, &at);
        return (at.gather * at.rounds + (at.tree.v == 0 ? 1 : 0) +
                (at.early + (size_t)at.late) * at.stages + COLL_STEP_MAX - 1) /
               COLL_STEP_MAX;
    }
}

COLL_INLINE unsigned coll_i_mixed_allgather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const size_t count = plan->problem.count;
    coll_i_mixed_ring at;
    size_t i = s * COLL_STEP_MAX, own, gather, early, late;
    unsigned n = 0;
    if (plan->problem.p == 1) {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0), count);
        return 1;
    }
    coll_i_mixed_ring_of(plan, rank, &at);
    own = at.tree.v == 0 ? 1 : 0;
    gather = at.gather * at.rounds;
    early = at.early * at.stages;
    late = at.late * at.stages;
    for (; n < COLL_STEP_MAX; n++, i++) {
        size_t k = i;
        if (k < own) {
            const coll_ref place = COLL_AT(COLL_OUT, rank * count);
            coll_act_copy(&out[n], place, COLL_AT(COLL_IN, 0), coll_in_place(plan) ? 0 : count);
            continue;
        }
        k -= own;
        if (k < gather) {
            const size_t round = k < at.gather ? 0 : k / at.gather;
            coll_i_mixed_gather(plan, &at, round, (uint32_t)(k - round * at.gather), &out[n]);
            continue;
        }
        k -= gather;
        if (k < early) {
            const size_t stage = k < at.early ? 0 : k / at.early;
            coll_i_mixed_ring_action(plan, &at, stage, (uint32_t)(k - stage * at.early),
                                     &out[n]);
            continue;
        }
        k -= early;
        if (k >= late)
            break;
        coll_i_mixed_ring_pass(plan, &at, k / at.late, true, (uint32_t)(k % at.late), &out[n]);
    }
    return n;
}

COLL_INLINE size_t coll_i_mixed_allgather_shared(const coll_plan *plan)
{
    const uint32_t most = coll_nodes_largest(&plan->problem.nodes, plan->problem.p);
    if (plan->problem.count == 0 || most == 1)
        return 0;
    {
        coll_i_mixed_ring at;
        coll_i_mixed_ring_of(plan, 0, &at);
        return plan->param[1] * at.cut.piece + (most - 1) * at.slot;
    }
}

COLL_INLINE coll_status coll_i_mixed_allgather_check(const coll_plan *plan)
{
    const coll_nodes *nodes = &plan->problem.nodes;
    size_t longest;
    if (!coll_multiply(coll_nodes_largest(nodes, plan->problem.p), plan->problem.count,
                       &longest))
        return COLL_ERR_OVERFLOW;
    return coll_i_mixed_check_size(plan, longest, coll_nodes_count(nodes));
}

COLL_ALGORITHM(coll_mixed_allgather, "mixed", "Wu 2005, section 3.4.3",
    COLL_BIT(COLL_ALLGATHER), COLL_NEEDS_SHARED | COLL_USES_NODES | COLL_GIVES_IDENTICAL,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(4, coll_i_mixed_allgather_params, coll_i_prepare_radixes),
    coll_i_mixed_allgather_steps, coll_i_mixed_allgather_step, NULL,
    coll_i_mixed_allgather_check, coll_i_mixed_allgather_shared);

#endif /* COLL_ALGOS_MIXED_ALLGATHER_H */
