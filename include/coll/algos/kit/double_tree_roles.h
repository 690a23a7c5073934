/* coll/algos/kit/double_tree_roles.h — two binary trees on the same ranks, and places in both
 *
 * The root, renumbered 0, stands above both trees; the others are numbered from 1, in order in
 * both. Leaves of tree 0 are the odd numbers; tree 1 is the tree of one rank more without its first
 * leaf, so that all numbers move on by one and its leaves are the even ones.
 *
 *   p = 7    tree 0    0           tree 1    0
 *                      └──┐               ┌──┘
 *                         4               3
 *                     ┌───┴───┐       ┌───┴───┐
 *                     2       6       1       5
 *                   ┌─┴─┐   ┌─┘       └─┐   ┌─┴─┐
 *                   1   3   5           2   4   6
 *
 * Laws (tests/algos/double_tree.c): (1) to (3) of double_tree.h
 * Source  Sanders, Speck, Träff 2009, doi:10.1016/j.parco.2009.09.001
 */
#ifndef COLL_ALGOS_KIT_DOUBLE_TREE_ROLES_H
#define COLL_ALGOS_KIT_DOUBLE_TREE_ROLES_H

#include "../../plan.h"
#include "../../plan/topo/tree.h"

/* ---- a rank's place in one of the trees -------------------------------------------------- */

/* In numbers; COLL_RANK_NONE where there is none. The root has a right child only. */
typedef struct coll_i_double_place {
    uint32_t parent, left, right;
    uint32_t depth; /* distance from the root */
} coll_i_double_place;

/* Number v's place in tree 0 or 1 of p numbers. */
COLL_HOT_INLINE void coll_i_double_place_of(uint32_t p, uint32_t tree, uint32_t v,
                                            coll_i_double_place *place)
{
    const uint32_t ranks = p - 1 + tree,
                   first = 1 - tree; /* of the tree in order; its first number */
    place->parent = place->left = place->right = COLL_RANK_NONE;
    place->depth = 0;
    if (v != 0) {
        const uint32_t here = v - first;
        const coll_inorder at = coll_inorder_of(ranks, here);
        place->parent = at.parent == here ? 0 : at.parent + first;
        if (at.left != here && at.left + first != 0)
            place->left = at.left + first;
        if (at.right != here)
            place->right = at.right + first;
        place->depth = coll_inorder_depth(ranks, here) + 1;
    } else if (p > 1) {
        place->right = coll_pow2_floor(ranks) - 1 + first;
    }
}

/* ---- what a rank does -------------------------------------------------------------------- */

/* Turns of the way up, and turns of the way down, the first of them after `lag` of the others. In
 * turn t of the way down it works on segment t − late[i] of the half of tree i, in turn t of the
 * way up on segment t − late[1 − i], as far as there are such segments. */
typedef struct coll_i_double_role {
    coll_i_double_place at[2];
    uint32_t v, top; /* the rank's number, and the rank that is number 0 */
    bool collects;   /* the root of a non-commutative reduction: gets the result from rank 0 */
    size_t segments, late[2];
    size_t up, down, lag;
    coll_ref input, sum; /* up: the own operand, and where it adds */
    coll_ref from;       /* down: what number 0 sends */
} coll_i_double_role;

/* How much deeper a rank is in one tree than in the other, but not more than there are segments. */
COLL_HOT_INLINE size_t coll_i_double_late(const coll_i_double_place *at,
                                          const coll_i_double_place *other, size_t segments)
{
    const size_t late = at->depth > other->depth ? at->depth - other->depth : 0;
    return late < segments ? late : segments;
}

COLL_HOT_INLINE void coll_i_double_role_of(const coll_plan *plan, coll_collective collective,
                                           uint32_t rank, coll_i_double_role *role)
{
    const coll_problem *of = &plan->problem;
    const bool reduces = collective != COLL_BCAST, spreads = collective != COLL_REDUCE;
    const bool is_root = rank == of->root, has_out = spreads || is_root;
    size_t late;
    role->top = !reduces || (of->flags & COLL_FLAG_COMMUTATIVE) ? of->root : 0;
    role->v = coll_mod_sub(rank, role->top, of->p);
    coll_i_double_place_of(of->p, 0, role->v, &role->at[0]);
    coll_i_double_place_of(of->p, 1, role->v, &role->at[1]);
    role->segments = coll_segments(of->count - of->count / 2, plan->param[0]);
    role->late[0] = coll_i_double_late(&role->at[0], &role->at[1], role->segments);
    role->late[1] = coll_i_double_late(&role->at[1], &role->at[0], role->segments);
    role->collects = !spreads && is_root && role->v != 0;
    role->input = has_out ? coll_input(plan) : COLL_AT(COLL_IN, 0);
    role->sum = has_out && !role->collects ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
    role->from = reduces ? role->sum : role->input;
    late = role->late[0] + role->late[1]; /* one of them is 0 */
    role->up = role->segments + late;
    role->down = role->segments + (spreads ? late : 0);
    if (!reduces || (of->p == 1 && role->input == role->sum))
        role->up = 0;
    if (spreads ? of->p == 1 && role->from == COLL_AT(COLL_OUT, 0)
                : !role->collects && (role->v != 0 || is_root))
        role->down = 0;
    role->lag = 0;
    if (role->up > 0) { /* the deeper tree's start, and then twice the other's depth */
        const uint32_t d0 = role->at[0].depth, d1 = role->at[1].depth;
        const size_t twice = 2 * (size_t)(d0 < d1 ? d0 : d1);
        role->lag = late + (twice < role->segments ? twice : role->segments);
    }
}

#endif /* COLL_ALGOS_KIT_DOUBLE_TREE_ROLES_H */
