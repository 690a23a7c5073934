/* coll/algos/kit/mixed_ring.h — runs of blocks on a ring of nodes: what comes when
 *
 * The blocks of a node are a run, cut into segments. Stage by stage the runs go round the ring:
 * first the segments of the own node's run, then those of the node before, and so on.
 *
 *   3 nodes, 2 segments a run, node 0:   stage   0    1    2    3    4    5
 *                                        run     0    0    2    2    1    1
 *
 * Laws (tests/algos/mixed.c): (1) of mixed_allgather.h
 * Source  Wu 2005, section 3.4.3
 */
#ifndef COLL_ALGOS_KIT_MIXED_RING_H
#define COLL_ALGOS_KIT_MIXED_RING_H

#include "mixed_passes.h"

/* A rank's place, and how far its list of actions has come: gathering, segments, rests. */
typedef struct coll_i_mixed_ring {
    coll_node node;
    coll_i_shm_tree tree;
    coll_i_mixed_cut cut; /* of the longest run of blocks; segments: of one run */
    uint32_t nodes;
    size_t slot, rounds;  /* elements of a slot; in how many pieces blocks are gathered */
    uint32_t gather;      /* actions for each round */
    uint32_t messages;    /* of a coordinator, among the early ones */
    uint32_t early, late; /* … for each segment of each run, and again */
    size_t stages;        /* segments of all runs */
} coll_i_mixed_ring;

/* Elements of the longest run of blocks; they fit: coll_i_mixed_allgather_check. */
COLL_INLINE size_t coll_i_mixed_longest(const coll_plan *plan)
{
    return coll_nodes_largest(&plan->problem.nodes, plan->problem.p) * plan->problem.count;
}

COLL_HOT_INLINE void coll_i_mixed_ring_of(const coll_plan *plan, uint32_t rank,
                                          coll_i_mixed_ring *at)
{
    const coll_problem *of = &plan->problem;
    const coll_node node = coll_node_of(&of->nodes, of->p, rank);
    uint32_t pass;
    at->node.index = node.index; /* by field: on bare metal, compilers call memcpy for all */
    at->node.first = node.first;
    at->node.ranks = node.ranks;
    at->node.local = node.local;
    at->nodes = coll_nodes_count(&of->nodes);
    coll_i_mixed_cut_of(plan, coll_i_mixed_longest(plan), &at->cut);
    coll_i_shm_tree_among(&at->tree, &plan->radix, at->node.first, at->node.ranks, 0,
                          at->node.local);
    at->slot = at->cut.segment < of->count ? at->cut.segment : of->count;
    at->rounds = coll_segments(of->count, at->slot);
    at->stages = at->nodes * at->cut.segments;
    pass = at->node.ranks > 1 ? coll_i_shm_pass_actions(&at->tree) : 0;
    at->gather = at->tree.v == 0 ? 3 * (at->node.ranks - 1) : 3;
    at->messages = at->tree.v == 0 && at->nodes > 1 ? 2 : 0;
    at->early = (at->cut.early ? pass : 0) + at->messages;
    at->late = at->cut.late ? pass : 0;
}

/* The run of blocks of the node that is `back` before this one on the ring. */
COLL_HOT_INLINE coll_block coll_i_mixed_run(const coll_plan *plan, const coll_i_mixed_ring *at,
                                            uint32_t back)
{
    const coll_problem *of = &plan->problem;
    const coll_node node =
        coll_node_at(&of->nodes, of->p, coll_mod_sub(at->node.index, back, at->nodes), 0);
    coll_block run;
    run.offset = node.first * of->count;
    run.count = node.ranks * of->count;
    return run;
}

COLL_HOT_INLINE coll_block coll_i_mixed_ring_segment(const coll_plan *plan,
                                                     const coll_i_mixed_ring *at, size_t stage)
{
    const uint32_t segments = (uint32_t)at->cut.segments, t = (uint32_t)stage;
    const uint32_t back = segments == 1 ? t : t / segments;
    return coll_i_mixed_segment(&at->cut, coll_i_mixed_run(plan, at, back),
                                t - back * segments);
}

#endif /* COLL_ALGOS_KIT_MIXED_RING_H */
