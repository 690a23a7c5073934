/* coll/algos/mixed.h — bcast between nodes by messages, within nodes by shared memory, both at once
 *
 * A coordinator on each node (the root, or the node's first rank) talks to those of other nodes,
 * segment by segment. When a segment is on its way to the next nodes, and before the next one
 * comes, it puts the first `overlap` elements of it through the node's pipeline buffers; what is
 * left of all segments goes through at the end. So the copying hides behind the messages, as far as
 * it is not in their way. A broadcast goes down a tree of nodes: binomial, a chain, or k-ary. An
 * allgather on the same parts is in mixed_allgather.h.
 *
 *   bcast, a coordinator with one child, 3 segments, overlap of a half:
 *     recv 0, send 0, put 0a | recv 1, send 1, put 1a | recv 2, send 2, put 2a | put 0b, 1b, 2b
 *
 * Laws (tests/algos/mixed.c)
 *   (1) only coordinators send and receive elements; each segment comes to a node once
 *   (2) while segment i + 1 is under way, at most `overlap` elements of segment i are put
 *   (3) with overlap ≥ segment nothing is left for the end; with 0, everything
 * Cost    S = ⌈count/segment⌉. A coordinator receives and sends `count` elements in S messages to
 *         each of its child nodes; every rank copies `count` elements, the root also to its own
 *         OUT. With P = S stages, or 2S if 0 < overlap < segment, and E = max(0, P − buffers):
 *         H + h(2E + 1) rounds, H the height of the tree of nodes, h that of the binomial tree of a
 *         node; on nodes of several sizes at most, for the largest h
 * Source  Wu 2005, sections 3.3, 3.4.1 and 3.4.3
 */
#ifndef COLL_ALGOS_MIXED_H
#define COLL_ALGOS_MIXED_H

#include "../plan/topo/tree.h"
#include "kit/derived.h"
#include "kit/mixed_passes.h"

COLL_TABLE(coll_param, coll_i_mixed_bcast_params, {
    COLL_PARAM("k", "tree of nodes: 0 binomial, 1 a chain, else k-ary", 0, UINT32_MAX / 2, 2,
     {1, 3, 1, 1}),
    COLL_PARAM("buffers", "pipeline buffers", 1, 1 << 16, 2, {3, 3, 3, 3}),
    COLL_PARAM("segment", "elements of a segment; 0: the whole vector", 0, UINT32_MAX, 1024,
     {20, 3, 20, 20}),
    COLL_PARAM("overlap", "elements of a segment that are put while the next is under way",
               0, UINT32_MAX,
     UINT32_MAX, {13, 1, 13, 13})});

/* A rank's place. */
typedef struct coll_i_mixed_place {
    coll_node node;
    coll_i_shm_tree tree; /* in the node, below its coordinator */
    uint32_t nodes, root; /* nodes are renumbered: the root's is 0 */
    uint32_t v, parent, children;
    coll_branch branch;
} coll_i_mixed_place;

COLL_HOT_INLINE void coll_i_mixed_place_of(const coll_plan *plan, uint32_t rank,
                                           coll_i_mixed_place *at)
{
    const coll_problem *of = &plan->problem;
    const coll_node home = coll_node_of(&of->nodes, of->p, of->root);
    const coll_node node = coll_node_of(&of->nodes, of->p, rank);
    at->node.index = node.index; /* by field: on bare metal, compilers call memcpy for all */
    at->node.first = node.first;
    at->node.ranks = node.ranks;
    at->node.local = node.local;
    at->nodes = coll_nodes_count(&of->nodes);
    at->root = home.index;
    at->v = coll_mod_sub(at->node.index, home.index, at->nodes);
    coll_i_shm_tree_among(&at->tree, &coll_fast_divisor_two, at->node.first, at->node.ranks,
                          at->v == 0 ? home.local : 0, at->node.local);
    if (plan->param[0] == 0) {
        const coll_fnomial place = coll_fnomial_of(at->nodes, &coll_fast_divisor_two, at->v);
        at->parent = place.parent;
        at->children = place.children;
        at->branch.parent = at->branch.children = at->branch.depth = at->branch.below.extra = 0;
        at->branch.below.base = 0;
    } else {
        const coll_branch place = plan->param[0] == 1
                                      ? coll_chain_of(at->nodes, &plan->radix, at->v)
                                      : coll_kary_of(at->nodes, &plan->radix, at->v);
        at->parent = place.parent;
        at->children = place.children;
        at->branch.parent = at->branch.children = at->branch.depth = 0;
        at->branch.below.base = place.below.base;
        at->branch.below.extra = place.below.extra;
    }
}

/* The coordinator of a node, renumbered. */
COLL_HOT_INLINE uint32_t coll_i_mixed_coordinator(const coll_plan *plan,
                                                  const coll_i_mixed_place *at, uint32_t v)
{
    return v == 0 ? plan->problem.root
                  : coll_nodes_first(&plan->problem.nodes, plan->problem.p,
                                     coll_mod_add(v, at->root, at->nodes));
}

COLL_HOT_INLINE uint32_t coll_i_mixed_child(const coll_plan *plan, const coll_i_mixed_place *at,
                                            uint32_t i)
{
    return plan->param[0] == 0 ? coll_fnomial_child(2, at->v, i)
                               : coll_branch_child(&at->branch, at->v, i);
}

COLL_HOT_INLINE coll_i_shm_pass coll_i_mixed_bcast_pass(const coll_plan *plan,
                                                        const coll_i_mixed_cut *cut,
                                                        size_t stage)
{
    const size_t early = cut->early ? cut->segments : 0;
    const size_t before = coll_i_mixed_before(plan, stage);
    coll_block all, now, then;
    all.offset = 0;
    all.count = plan->problem.count;
    now = coll_i_mixed_segment(cut, all, stage < early ? stage : stage - early);
    then = coll_i_mixed_segment(cut, all, before < early ? before : before - early);
    return coll_i_mixed_pass(plan, cut, stage, coll_i_mixed_passes(cut),
                             coll_i_mixed_part(cut, now, stage >= early),
                             coll_i_mixed_part(cut, then, before >= early));
}

/* Actions of a rank: for each segment `early`, then for each `late`, and at the end the root's own
 * OUT. */
typedef struct coll_i_mixed_list {
    uint32_t early, late;
    bool own;
} coll_i_mixed_list;

COLL_HOT_INLINE coll_i_mixed_list coll_i_mixed_bcast_list(const coll_plan *plan,
                                                          const coll_i_mixed_place *at,
                                                          const coll_i_mixed_cut *cut,
                                                          uint32_t rank)
{
    const uint32_t pass = at->node.ranks > 1 ? coll_i_shm_pass_actions(&at->tree) : 0;
    coll_i_mixed_list list;
    list.early = cut->early ? pass : 0;
    list.late = cut->late ? pass : 0;
    if (at->tree.v == 0)
        list.early += at->children + (at->v == 0 ? 0 : 1);
    list.own = rank == plan->problem.root && !coll_in_place(plan);
    return list;
}

COLL_INLINE size_t coll_i_mixed_bcast_steps(const coll_plan *plan, uint32_t rank)
{
    coll_i_mixed_place at;
    if (plan->problem.count == 0)
        return 0;
    coll_i_mixed_place_of(plan, rank, &at);
    {
        coll_i_mixed_cut cut;
        coll_i_mixed_list list;
        coll_i_mixed_cut_of(plan, plan->problem.count, &cut);
        list = coll_i_mixed_bcast_list(plan, &at, &cut, rank);
        return ((list.early + (size_t)list.late) * cut.segments + (list.own ? 1 : 0) +
                COLL_STEP_MAX - 1) /
               COLL_STEP_MAX;
    }
}

/* Action j of a segment: receive, send on, put or get. */
COLL_HOT_INLINE void coll_i_mixed_bcast_action(const coll_plan *plan,
                                               const coll_i_mixed_place *at,
                                               const coll_i_mixed_cut *cut, size_t stage,
                                               bool late, uint32_t j, coll_action *out)
{
    const coll_ref from = at->v == 0 ? coll_input(plan) : COLL_AT(COLL_OUT, 0);
    const uint32_t messages =
        late || at->tree.v != 0 ? 0 : at->children + (at->v == 0 ? 0u : 1u);
    if (j < messages) {
        coll_block all, seg;
        all.offset = 0;
        all.count = plan->problem.count;
        seg = coll_i_mixed_segment(cut, all, stage);
        if (at->v != 0 && j == 0)
            coll_act_recv(out, coll_i_mixed_coordinator(plan, at, at->parent),
                          from + seg.offset, seg.count);
        else
            coll_act_send(out,
                          coll_i_mixed_coordinator(
                              plan, at, coll_i_mixed_child(plan, at, messages - 1 - j)),
                          from + seg.offset, seg.count);
    } else {
        const coll_i_shm_pass pass = coll_i_mixed_bcast_pass(
            plan, cut, late && cut->early ? stage + cut->segments : stage);
        if (at->tree.v == 0)
            coll_i_shm_pass_put(&pass, &at->tree, from, j - messages, out);
        else
            coll_i_shm_pass_get(&pass, &at->tree, j, out);
    }
}

COLL_INLINE unsigned coll_i_mixed_bcast_step(const coll_plan *plan, uint32_t rank, size_t s,
                                             coll_action *out)
{
    coll_i_mixed_place at;
    coll_i_mixed_cut cut;
    coll_i_mixed_list list;
    size_t i = s * COLL_STEP_MAX, early, late;
    bool is_late;
    coll_i_shm_at where;
    unsigned n = 0;
    coll_i_mixed_place_of(plan, rank, &at);
    coll_i_mixed_cut_of(plan, plan->problem.count, &cut);
    list = coll_i_mixed_bcast_list(plan, &at, &cut, rank);
    early = list.early * cut.segments;
    late = list.late * cut.segments;
    is_late = i >= early;
    if (is_late)
        i -= early;
    where.stage = !is_late ? i / list.early : list.late ? i / list.late : 0;
    where.j = (uint32_t)(i - where.stage * (is_late ? list.late : list.early));
    for (; n < COLL_STEP_MAX; n++) {
        if (!is_late && where.stage == cut.segments) {
            is_late = true;
            where.stage = where.j = 0;
        }
        if (is_late && (late == 0 || where.stage == cut.segments))
            break;
        coll_i_mixed_bcast_action(plan, &at, &cut, where.stage, is_late, where.j, &out[n]);
        coll_i_shm_next(&where, is_late ? list.late : list.early);
    }
    if (n < COLL_STEP_MAX && list.own && s * COLL_STEP_MAX + n == early + late)
        coll_act_copy(&out[n++], COLL_AT(COLL_OUT, 0), COLL_AT(COLL_IN, 0),
                      plan->problem.count);
    return n;
}

COLL_INLINE size_t coll_i_mixed_bcast_shared(const coll_plan *plan)
{
    const size_t count = plan->problem.count;
    if (count == 0 || coll_nodes_largest(&plan->problem.nodes, plan->problem.p) == 1)
        return 0;
    {
        coll_i_mixed_cut cut;
        size_t passes;
        coll_i_mixed_cut_of(plan, count, &cut);
        passes = coll_i_mixed_passes(&cut);
        return (passes < plan->param[1] ? passes : plan->param[1]) * cut.piece;
    }
}

COLL_INLINE coll_status coll_i_mixed_bcast_check(const coll_plan *plan)
{
    return coll_i_mixed_check_size(plan, plan->problem.count, 1);
}

COLL_ALGORITHM(coll_mixed_bcast, "mixed", "Wu 2005, section 3.4.1",
    COLL_BIT(COLL_BCAST), COLL_NEEDS_SHARED | COLL_USES_NODES | COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_PREPARED(4, coll_i_mixed_bcast_params, coll_i_prepare_radixes),
    coll_i_mixed_bcast_steps, coll_i_mixed_bcast_step, NULL, coll_i_mixed_bcast_check,
    coll_i_mixed_bcast_shared);

#endif /* COLL_ALGOS_MIXED_H */
