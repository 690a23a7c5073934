/* coll/algos/kit/tree_shape.h — the shapes of trees, and a rank's place in one
 *
 * A shape is a tree of plan/topo.h on ranks that are renumbered, so that the root is 0. Here are
 * the parent, the children and the depth of a rank, whatever the shape is: of the walk that all
 * share (kit/tree_walk.h).
 */
#ifndef COLL_ALGOS_KIT_TREE_SHAPE_H
#define COLL_ALGOS_KIT_TREE_SHAPE_H

#include "../../plan.h"
#include "../../plan/topo/bine_tree.h"
#include "../../plan/topo/mesh.h"
#include "../../plan/topo/tree.h"

/* Shapes; param[0] is the degree, but of a Bine tree, or the width of a mesh. The caller of what
 * follows gives a constant, so that nothing is decided at run time. */
typedef enum coll_i_shape {
    COLL_I_FNOMIAL,
    COLL_I_KARY,
    COLL_I_CHAIN,
    COLL_I_BINE,
    COLL_I_MESH
} coll_i_shape;

/* Elements of a segment: the last parameter of those that a shape has. */
COLL_HOT_INLINE uint32_t coll_i_tree_segment(const coll_plan *plan, coll_i_shape shape)
{
    return plan->param[shape == COLL_I_BINE ? 0 : 1];
}

/* The root of the tree in true rank order. */
COLL_HOT_INLINE uint32_t coll_i_tree_top(const coll_plan *plan, coll_i_shape shape)
{
    return shape == COLL_I_BINE ? coll_bine_before(plan->problem.p, 0, 32) : 0;
}

/* ---- a rank's place ---------------------------------------------------------------------- */

typedef struct coll_i_tree_place {
    uint32_t root;   /* the rank that is renumbered 0 */
    uint32_t v;      /* this rank, renumbered */
    uint32_t number; /* of a Bine tree: this rank's in the binomial tree */
    coll_branch at;  /* in renumbered ranks; depth and parts of k-ary trees and chains alone */
} coll_i_tree_place;

/* Written in place: on bare metal, compilers call memcpy for the copy of a structure this large. */
COLL_HOT_INLINE void coll_i_tree_place_set(coll_i_tree_place *place, const coll_plan *plan,
                                           coll_i_shape shape, uint32_t root, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    place->root = root;
    place->v = shape == COLL_I_MESH ? coll_mesh_from(&plan->radix, p, root, rank)
                                    : coll_mod_sub(rank, root, p);
    if (!COLL_SMALL || shape != COLL_I_FNOMIAL) { /* which has none of these */
        place->number = 0;
        place->at.depth = 0;
        place->at.below.base = 0;
        place->at.below.extra = 0;
    }
    if (shape == COLL_I_FNOMIAL) {
        const coll_fnomial at = coll_fnomial_of(p, &plan->radix, place->v);
        place->at.parent = at.parent;
        place->at.children = at.children;
    } else if (shape == COLL_I_BINE) {
        const coll_bine at = coll_bine_of(p, place->v);
        place->number = at.number;
        place->at.parent = at.parent;
        place->at.children = at.children;
    } else if (shape == COLL_I_MESH) {
        const coll_mesh_branch at = coll_mesh_tree(&plan->radix, p, place->v);
        place->at.parent = at.parent;
        place->at.children = at.children;
    } else {
        const coll_branch at = shape == COLL_I_KARY ? coll_kary_of(p, &plan->radix, place->v)
                                                    : coll_chain_of(p, &plan->radix, place->v);
        place->at.parent = at.parent;
        place->at.children = at.children;
        place->at.depth = at.depth;
        place->at.below.base = at.below.base;
        place->at.below.extra = at.below.extra;
    }
}

/* For segments: trees on meshes have none. */
COLL_HOT_INLINE uint32_t coll_i_tree_depth(const coll_plan *plan, coll_i_shape shape,
                                           const coll_i_tree_place *place)
{
    return shape == COLL_I_FNOMIAL ? coll_fnomial_depth(&plan->radix, place->v)
           : shape == COLL_I_BINE  ? coll_bits(place->number)
                                   : place->at.depth;
}

/* The rank that is renumbered v. */
COLL_HOT_INLINE uint32_t coll_i_tree_rank(const coll_plan *plan, coll_i_shape shape,
                                          const coll_i_tree_place *place, uint32_t v)
{
    const uint32_t p = plan->problem.p;
    return shape == COLL_I_MESH ? coll_mesh_back(&plan->radix, p, place->root, v)
                                : coll_mod_add(v, place->root, p);
}

/* The rank of the parent, and of child number i. */
COLL_HOT_INLINE uint32_t coll_i_tree_parent(const coll_plan *plan, coll_i_shape shape,
                                            const coll_i_tree_place *place)
{
    return coll_i_tree_rank(plan, shape, place, place->at.parent);
}

COLL_HOT_INLINE uint32_t coll_i_tree_child(const coll_plan *plan, coll_i_shape shape,
                                           const coll_i_tree_place *place, uint32_t i)
{
    const uint32_t child =
        shape == COLL_I_FNOMIAL ? coll_fnomial_child(plan->param[0], place->v, i)
        : shape == COLL_I_BINE  ? coll_bine_child(plan->problem.p, place->v, place->number, i)
        : shape == COLL_I_MESH  ? coll_mesh_child(&plan->radix, place->v, i)
                                : coll_branch_child(&place->at, place->v, i);
    return coll_i_tree_rank(plan, shape, place, child);
}

#endif /* COLL_ALGOS_KIT_TREE_SHAPE_H */
