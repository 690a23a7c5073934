/* coll/algos/double_tree.h — bcast, reduce, allreduce on two binary trees, half of the vector each
 *
 * On the way down a binary tree half of the ranks, its leaves, send nothing, and the others send
 * twice what they receive. Here are two trees, each for half of the vector, and every rank but the
 * root is a leaf of at least one: so nobody sends or receives more than the whole vector each way,
 * which is the least there can be, at the height of one tree. The root stands above both. The
 * others are numbered from 1, in order in both trees: left subtree, rank, right subtree, so
 * operands stay in order. Leaves of tree 0 are the odd numbers; tree 1 is the tree of one rank
 * more without its first leaf, so that all numbers move on by one and its leaves are the even
 * ones.
 *
 *   p = 7    tree 0    0           tree 1    0
 *                      └──┐               ┌──┘
 *                         4               3
 *                     ┌───┴───┐       ┌───┴───┐
 *                     2       6       1       5
 *                   ┌─┴─┐   ┌─┘       └─┐   ┌─┴─┐
 *                   1   3   5           2   4   6
 *
 * A rank takes turns; in each it works on a segment of both halves, of which it lies deeper in one
 * tree than in the other: on the way down the deeper one is later, and on the way up sooner, by
 * the difference of depths. In an allreduce, a segment's way down follows its way up by twice the
 * depth, as in kit/tree_walk.h. Operands of an operator that is not commutative go to rank 0 in
 * rank order, and the result from there to the root.
 *
 * Laws (tests/algos/double_tree.c)
 *   (1) every rank but the root is in both trees, and has children in one of them at most
 *   (2) left subtree, rank and right subtree are consecutive runs of numbers
 *   (3) the height of both trees, with the root above them, is ⌊log2 p⌋ + 1 (1 for p = 2)
 *   (4) if a message takes one unit of time, every link carries one at a time and p > 2, bcast and
 *       reduce take height + S − 1, and allreduce at most the larger of 2·height + S − 1 and
 *       2S + height: two neighbours use one link up one tree and down the other
 * Cost    S = ⌈⌈count/2⌉/segment⌉ (1 for segment 0) segments of a half; T of the other, shorter
 *         half. bcast: a rank with m children in tree 0 and n in tree 1 sends mS + nT messages,
 *         m⌈count/2⌉ + n⌊count/2⌋ elements, at most 2⌈count/2⌉, reached for p > 3; rounds: `height`
 *         for S = 1. reduce: S + T messages, `count` elements, none at the root; an operator that
 *         is not commutative, to another root than 0: all ranks send, one round more. allreduce:
 *         both. scratch: m + n segments, and, if it has children, `count` where the sum is not in
 *         OUT
 * Source  Sanders, Speck, Träff 2009, doi:10.1016/j.parco.2009.09.001
 */
#ifndef COLL_ALGOS_DOUBLE_TREE_H
#define COLL_ALGOS_DOUBLE_TREE_H

#include "kit/double_tree_roles.h"

COLL_TABLE(coll_param, coll_i_double_tree_params, {
    COLL_PARAM("segment", "elements of a segment; 0: half the vector",
               0, UINT32_MAX, 0, {0, 2, 0, 0})});

/* ---- what a rank does -------------------------------------------------------------------- */

/* Segment `i` of the half of the vector that tree 0 or tree 1 has. */
COLL_HOT_INLINE coll_block coll_i_double_segment(const coll_plan *plan, uint32_t tree, size_t i)
{
    const size_t second = plan->problem.count / 2, first = plan->problem.count - second;
    coll_block seg = coll_segment_block(tree == 0 ? first : second, plan->param[0], i);
    seg.offset += tree == 0 ? 0 : first;
    return seg;
}

/* A tree's part of a turn of the way up: at most three actions. */
COLL_HOT_INLINE unsigned coll_i_double_up(const coll_plan *plan, const coll_i_double_role *role,
                                          uint32_t tree, size_t segment, coll_action *out)
{
    const coll_i_double_place *at = &role->at[tree];
    const uint32_t p = plan->problem.p;
    const coll_block seg = coll_i_double_segment(plan, tree, segment);
    const size_t staging = coll_i_double_segment(plan, 0, 0).count;
    const coll_ref input = role->input + seg.offset, sum = role->sum + seg.offset;
    const coll_ref via =
        COLL_AT(COLL_SCRATCH, role->sum == COLL_AT(COLL_OUT, 0) ? 0 : plan->problem.count);
    unsigned n = 0;
    if (at->right != COLL_RANK_NONE)
        coll_act_recv_reduce(&out[n++], coll_mod_add(at->right, role->top, p), sum, input,
                             via + (role->v == 0 && tree == 1 ? staging : 0), seg.count);
    if (at->left != COLL_RANK_NONE) {
        coll_act_recv_reduce(&out[n], coll_mod_add(at->left, role->top, p), sum,
                             n > 0 ? sum : input, via + (n > 0 ? staging : 0), seg.count);
        out[n++].flags = COLL_LEFT;
    }
    if (role->v != 0) {
        coll_act_send(&out[n], coll_mod_add(at->parent, role->top, p), n > 0 ? sum : input,
                      seg.count);
        n++;
    } else if (n == 0) {
        coll_act_copy(&out[n++], sum, input, seg.count);
    }
    return n;
}

/* … and of the way down: at most three. */
COLL_HOT_INLINE unsigned coll_i_double_down(const coll_plan *plan, coll_collective collective,
                                            const coll_i_double_role *role, uint32_t tree,
                                            size_t segment, coll_action *out)
{
    const coll_i_double_place *at = &role->at[tree];
    const uint32_t p = plan->problem.p;
    const coll_block seg = coll_i_double_segment(plan, tree, segment);
    const coll_ref here = COLL_AT(COLL_OUT, seg.offset), from = role->from + seg.offset;
    unsigned n = 0;
    if (collective == COLL_REDUCE) { /* from rank 0 to the root */
        if (role->collects)
            coll_act_recv(out, 0, here, seg.count);
        else
            coll_act_send(out, plan->problem.root, from, seg.count);
        return 1;
    }
    if (role->v != 0)
        coll_act_recv(&out[n++], coll_mod_add(at->parent, role->top, p), here, seg.count);
    if (at->left != COLL_RANK_NONE)
        coll_act_send(&out[n++], coll_mod_add(at->left, role->top, p), here, seg.count);
    if (at->right != COLL_RANK_NONE)
        coll_act_send(&out[n++], coll_mod_add(at->right, role->top, p),
                      role->v == 0 ? from : here, seg.count);
    if (role->v == 0 && from != here)
        coll_act_copy(&out[n++], here, from, seg.count);
    return n;
}

/* A tree's part of turn t of one way. A result goes from rank 0 to the root without delay. */
COLL_HOT_INLINE unsigned coll_i_double_turn(const coll_plan *plan, coll_collective collective,
                                            const coll_i_double_role *role, uint32_t tree,
                                            bool up, size_t t, coll_action *out)
{
    const size_t late = up                          ? role->late[1 - tree]
                        : collective != COLL_REDUCE ? role->late[tree]
                                                    : 0;
    const size_t segment = t - late; /* wraps before the first */
    if (segment >= role->segments)
        return 0;
    return up ? coll_i_double_up(plan, role, tree, segment, out)
              : coll_i_double_down(plan, collective, role, tree, segment, out);
}

COLL_HOT_INLINE size_t coll_i_double_steps(const coll_plan *plan, coll_collective collective,
                                           uint32_t rank)
{
    coll_i_double_role role;
    coll_i_double_role_of(plan, collective, rank, &role);
    return role.up + role.down;
}

/* A step is a turn of one way: `lag` turns up, then one up and one down in turn, then down. */
COLL_HOT_INLINE unsigned coll_i_double_step(const coll_plan *plan, coll_collective collective,
                                            uint32_t rank, size_t s, coll_action *out)
{
    coll_i_double_role role;
    size_t t = s, both;
    bool up = true;
    unsigned n;
    coll_i_double_role_of(plan, collective, rank, &role);
    both = role.up - role.lag;
    if (role.down > 0 && s >= role.lag) {
        t = s - role.lag;
        up = t < 2 * both && (t & 1) == 0;
        t = t < 2 * both ? t / 2 + (up ? role.lag : 0) : t - both;
    }
    n = coll_i_double_turn(plan, collective, &role, 0, up, t, out);
    return n + coll_i_double_turn(plan, collective, &role, 1, up, t, &out[n]);
}

COLL_HOT_INLINE size_t coll_i_double_scratch(const coll_plan *plan, coll_collective collective,
                                             uint32_t rank)
{
    coll_i_double_role role;
    size_t children = 0;
    coll_i_double_role_of(plan, collective, rank, &role);
    for (uint32_t tree = 0; tree < 2; tree++)
        children += (role.at[tree].left != COLL_RANK_NONE ? 1u : 0u) +
                    (role.at[tree].right != COLL_RANK_NONE ? 1u : 0u);
    if (children == 0)
        return 0;
    return (role.sum == COLL_AT(COLL_OUT, 0) ? 0 : plan->problem.count) +
           children * coll_i_double_segment(plan, 0, 0).count;
}

/* ---- bcast, reduce, allreduce ------------------------------------------------------------ */

COLL_INLINE size_t coll_i_double_tree_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_double_steps(plan, plan->problem.collective, rank);
}

COLL_INLINE size_t coll_i_double_tree_scratch(const coll_plan *plan, uint32_t rank)
{
    return coll_i_double_scratch(plan, plan->problem.collective, rank);
}

COLL_INLINE unsigned coll_i_double_tree_bcast_step(const coll_plan *plan, uint32_t rank,
                                                   size_t s, coll_action *out)
{
    return coll_i_double_step(plan, COLL_BCAST, rank, s, out);
}

COLL_ALGORITHM(coll_double_tree_bcast, "double_tree", "Sanders, Speck, Traeff 2009",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 3, /* sends */ 2, COLL_PARAMS(1, coll_i_double_tree_params),
    coll_i_double_tree_steps, coll_i_double_tree_bcast_step);

COLL_INLINE unsigned coll_i_double_tree_reduce_step(const coll_plan *plan, uint32_t rank,
                                                    size_t s, coll_action *out)
{
    return coll_i_double_step(plan, COLL_REDUCE, rank, s, out);
}

/* In rank order, to a root inside, segments come down one way while others wait on the other: each
 * doubling of p, or each second one, takes one more in flight. As many as the record says are enough
 * for so many ranks. */
COLL_INLINE coll_status coll_i_double_tree_reduce_check(const coll_plan *plan)
{
    return (plan->problem.flags & COLL_FLAG_COMMUTATIVE) || plan->problem.p <= 4096
               ? COLL_OK
               : COLL_ERR_SHAPE;
}

COLL_ALGORITHM(coll_double_tree_reduce, "double_tree", "Sanders, Speck, Traeff 2009",
    COLL_BIT(COLL_REDUCE), /* traits */ 0,
    /* window */ 7, /* sends */ 9, COLL_PARAMS(1, coll_i_double_tree_params),
    coll_i_double_tree_steps, coll_i_double_tree_reduce_step, coll_i_double_tree_scratch,
    coll_i_double_tree_reduce_check);

COLL_INLINE unsigned coll_i_double_tree_allreduce_step(const coll_plan *plan, uint32_t rank,
                                                       size_t s, coll_action *out)
{
    return coll_i_double_step(plan, COLL_ALLREDUCE, rank, s, out);
}

COLL_ALGORITHM(coll_double_tree_allreduce, "double_tree", "Sanders, Speck, Traeff 2009",
    COLL_BIT(COLL_ALLREDUCE), COLL_GIVES_IDENTICAL,
    /* window */ 4, /* sends */ 3, COLL_PARAMS(1, coll_i_double_tree_params),
    coll_i_double_tree_steps, coll_i_double_tree_allreduce_step, coll_i_double_tree_scratch);

#endif /* COLL_ALGOS_DOUBLE_TREE_H */
