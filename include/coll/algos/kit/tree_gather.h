/* coll/algos/kit/tree_gather.h — gather(v), scatter(v) on trees: what the shapes have in common
 *
 * Gather climbs a tree of tree_walk.h whose subtrees are runs of ranks, around the ring: a rank
 * collects the blocks of its subtree and sends them on as one message. It keeps them in SCRATCH in
 * the order of the run, so every message is one run of them. At the root they go to OUT, in true
 * order; there the one subtree that runs past rank p−1 to rank 0 is two runs, and two messages.
 * Leaves send IN itself. Scatter is the same backwards. Blocks may differ in size where every rank
 * knows all sizes, and the root's buffer has no gaps.
 *
 *   binomial, p = 6, root 4:  renumbered    0   1   2   3   4   5
 *                             rank          4   5   0   1   2   3
 *     messages of gather:  1→0   3→2: {3}   5→4: {5}   2→0: {2 3}   4→0: {4 5}
 *     with root 3, the subtree {2 3} is rank 5 and rank 0, so 2→0 is two messages
 *
 * Laws (tests/algos/tree_gather.c)
 *   (1) the subtrees of a rank's children and the rank itself tile its own run
 *   (2) what a rank sends to its parent is what the parent receives from it, message by message
 *   (3) at most one child of the root has two messages, and no other rank has
 * Cost    `height` rounds; p−1 messages, and one more if a subtree of the root's runs past rank
 *         p−1, less those of empty blocks; a rank other than the root moves the blocks of its
 *         subtree to or from its parent. scratch: the blocks of the subtree, at ranks with children
 *         but the root
 */
#ifndef COLL_ALGOS_KIT_TREE_GATHER_H
#define COLL_ALGOS_KIT_TREE_GATHER_H

#include "../../plan/topo/bine_tree.h"
#include "../../plan/topo/tree.h"
#include "tree_walk.h"

/* ---- the ranks of a subtree -------------------------------------------------------------- */

typedef struct coll_i_tree_run {
    uint32_t root;         /* of the subtree */
    uint32_t first, ranks; /* `ranks` ranks from `first` on, and past rank p−1 to rank 0 */
} coll_i_tree_run;

/* The subtree of child number i. */
COLL_HOT_INLINE coll_i_tree_run coll_i_tree_child_run(const coll_plan *plan, coll_i_shape shape,
                                                      const coll_i_tree_place *place,
                                                      uint32_t i)
{
    const uint32_t p = plan->problem.p;
    coll_i_tree_run run;
    if (shape == COLL_I_BINE) {
        const uint32_t number = place->number + ((uint32_t)1 << i);
        const uint32_t before = coll_bine_before(p, number, i);
        run.root = coll_i_tree_child(plan, shape, place, i);
        run.first = coll_mod_sub(run.root, before, p);
        run.ranks = before + 1 + coll_bine_after(p, number, i);
    } else { /* f-nomial */
        const coll_fnomial_phase phase = coll_fnomial_phase_of(plan->param[0], i);
        const uint32_t v = place->v + (i - phase.first + 1) * phase.stride;
        run.root = run.first = coll_mod_add(v, place->root, p);
        run.ranks = phase.stride < p - v ? phase.stride : p - v;
    }
    return run;
}

/* The rank's own subtree. */
COLL_HOT_INLINE coll_i_tree_run coll_i_tree_run_of(const coll_plan *plan, coll_i_shape shape,
                                                   const coll_i_tree_place *place)
{
    const uint32_t p = plan->problem.p, m = place->at.children;
    coll_i_tree_run run;
    run.root = run.first = coll_mod_add(place->v, place->root, p);
    run.ranks = 1;
    if (shape == COLL_I_BINE) {
        const uint32_t before = coll_bine_before(p, place->number, m);
        run.first = coll_mod_sub(run.root, before, p);
        run.ranks = before + 1 + coll_bine_after(p, place->number, m);
    } else if (m > 0) { /* to the end of the last child's */
        const coll_i_tree_run last = coll_i_tree_child_run(plan, shape, place, m - 1);
        run.ranks = coll_mod_sub(last.first, run.first, p) + last.ranks;
    }
    return run;
}

/* ---- what a rank does -------------------------------------------------------------------- */

/* The list for a gather: copy the own block to the others, receive from each child, send to the
 * parent, as far as it applies. For a scatter the list runs backwards and the other way. */
typedef struct coll_i_tree_blocks {
    coll_i_tree_place place;
    bool gathers;
    const coll_layout *layout; /* of the root's buffer */
    coll_ref own, blocks;      /* the user's own block, and the blocks of the subtree */
    uint32_t copies;           /* 1: these are different places */
    uint32_t entries;          /* of the list */
} coll_i_tree_blocks;

COLL_HOT_INLINE void coll_i_tree_blocks_set(coll_i_tree_blocks *role, const coll_plan *plan,
                                            coll_i_shape shape, uint32_t rank)
{
    coll_i_tree_place_set(&role->place, plan, shape, plan->problem.root, rank);
    role->gathers =
        coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV), plan->problem.collective);
    role->layout = role->gathers ? &plan->problem.out : &plan->problem.in;
    role->own = role->gathers ? COLL_AT(COLL_IN, 0) : COLL_AT(COLL_OUT, 0);
    if (role->place.v == 0) {
        role->copies = coll_in_place(plan) ? 0 : 1;
        role->blocks = role->gathers ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_IN, 0);
    } else {
        role->copies = role->place.at.children > 0 ? 1 : 0;
        role->blocks = role->copies ? COLL_AT(COLL_SCRATCH, 0) : role->own;
    }
    role->entries = role->copies + role->place.at.children + (role->place.v == 0 ? 0 : 1);
}

/* Where the block of a rank begins in the root's buffer; rank p: where the last one ends. */
COLL_HOT_INLINE size_t coll_i_tree_block_at(const coll_plan *plan,
                                            const coll_i_tree_blocks *role, uint32_t rank)
{
    return coll_i_layout_at(role->layout, plan->problem.count, plan->problem.p, rank);
}

/* Elements of the blocks of `ranks` ranks, from `first` on and past the last one to rank 0. */
COLL_HOT_INLINE size_t coll_i_tree_elements(const coll_plan *plan,
                                            const coll_i_tree_blocks *role, uint32_t first,
                                            uint32_t ranks)
{
    const uint32_t p = plan->problem.p, unwrapped = p - first;
    if (!role->layout->counts)
        return plan->problem.count * ranks;
    if (ranks <= unwrapped)
        return coll_i_tree_block_at(plan, role, first + ranks) -
               coll_i_tree_block_at(plan, role, first);
    return coll_i_tree_block_at(plan, role, p) - coll_i_tree_block_at(plan, role, first) +
           coll_i_tree_block_at(plan, role, ranks - unwrapped);
}

/* Where the block of a rank of this subtree is; runs of it begin there. */
COLL_HOT_INLINE coll_ref coll_i_tree_kept_at(const coll_plan *plan, coll_i_shape shape,
                                             const coll_i_tree_blocks *role, uint32_t rank)
{
    const uint32_t first = coll_i_tree_run_of(plan, shape, &role->place).first;
    if (role->place.v == 0)
        return role->blocks + coll_i_tree_block_at(plan, role, rank);
    return role->blocks +
           coll_i_tree_elements(plan, role, first, coll_mod_sub(rank, first, plan->problem.p));
}

/* Entry i of the list; yields two messages where a subtree of the root's children wraps around. */
COLL_HOT_INLINE unsigned coll_i_tree_gather_entry(const coll_plan *plan, coll_i_shape shape,
                                                  uint32_t rank, const coll_i_tree_blocks *role,
                                                  uint32_t i, coll_action *out)
{
    const uint32_t p = plan->problem.p, v = role->place.v;
    bool send = role->gathers, cut; /* cut: between ranks p−1 and 0, as the root's buffer is */
    uint32_t peer, first, ranks;    /* the subtree that is moved */
    coll_ref at = role->blocks;     /* where its blocks begin */
    size_t elements, unwrapped;
    if (!role->gathers)
        i = role->entries - 1 - i;
    if (i < role->copies) {
        at = coll_i_tree_kept_at(plan, shape, role, rank);
        coll_act_copy(out, role->gathers ? at : role->own, role->gathers ? role->own : at,
                      coll_own_count(plan, rank));
        return 1;
    }
    i -= role->copies;
    if (i < role->place.at.children) {
        const coll_i_tree_run run = coll_i_tree_child_run(plan, shape, &role->place, i);
        peer = run.root;
        first = run.first;
        ranks = run.ranks;
        at = coll_i_tree_kept_at(plan, shape, role, first);
        cut = v == 0;
        send = !send;
    } else {
        const coll_i_tree_run run = coll_i_tree_run_of(plan, shape, &role->place);
        peer = coll_i_tree_parent(plan, shape, &role->place);
        first = run.first;
        ranks = run.ranks;
        cut = role->place.at.parent == 0;
    }
    elements = coll_i_tree_elements(plan, role, first, ranks);
    if (!cut || ranks <= p - first) {
        coll_act_move(out, send, peer, at, elements);
        return 1;
    }
    unwrapped = coll_i_tree_elements(plan, role, first, p - first);
    coll_act_move(&out[0], send, peer, at, unwrapped);
    coll_act_move(&out[1], send, peer, v == 0 ? role->blocks : at + unwrapped,
                  elements - unwrapped);
    return 2;
}

/* A step takes as many entries as surely fit: at most one of a rank's messages is two. */
enum { COLL_I_TREE_ENTRIES = COLL_STEP_MAX - 1 };

COLL_HOT_INLINE size_t coll_i_tree_gather_steps(const coll_plan *plan, coll_i_shape shape,
                                                uint32_t rank)
{
    coll_i_tree_blocks role;
    coll_i_tree_blocks_set(&role, plan, shape, rank);
    return (role.entries + (size_t)COLL_I_TREE_ENTRIES - 1) / COLL_I_TREE_ENTRIES;
}

COLL_HOT_INLINE unsigned coll_i_tree_gather_step(const coll_plan *plan, coll_i_shape shape,
                                                 uint32_t rank, size_t s, coll_action *out)
{
    const uint32_t first = (uint32_t)s * COLL_I_TREE_ENTRIES;
    coll_i_tree_blocks role;
    unsigned n = 0;
    coll_i_tree_blocks_set(&role, plan, shape, rank);
    for (uint32_t i = first; i < role.entries && i < first + COLL_I_TREE_ENTRIES; i++)
        n += coll_i_tree_gather_entry(plan, shape, rank, &role, i, &out[n]);
    return n;
}

COLL_HOT_INLINE size_t coll_i_tree_gather_scratch(const coll_plan *plan, coll_i_shape shape,
                                                  uint32_t rank)
{
    coll_i_tree_blocks role;
    coll_i_tree_blocks_set(&role, plan, shape, rank);
    if (coll_ref_space(role.blocks) != COLL_SCRATCH)
        return 0;
    {
        const coll_i_tree_run run = coll_i_tree_run_of(plan, shape, &role.place);
        return coll_i_tree_elements(plan, &role, run.first, run.ranks);
    }
}

#endif /* COLL_ALGOS_KIT_TREE_GATHER_H */
