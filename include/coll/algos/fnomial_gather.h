/* coll/algos/fnomial_gather.h — gather(v), scatter(v) on f-nomial trees
 *
 * Gather climbs the tree of fnomial.h: a rank collects the blocks of its subtree and sends them
 * on as one message. A subtree is an interval of renumbered ranks (the root is 0), so a rank
 * keeps its blocks in SCRATCH in that order and every message is one run of them. At the root
 * they go to OUT, in true order; there the one subtree that runs past rank p−1 to rank 0 is two
 * runs, and two messages. Leaves send IN itself. Scatter is the same backwards. Blocks may differ
 * in size where every rank knows all sizes, and the root's buffer has no gaps.
 *
 *   f = 2, p = 6, root 4:  renumbered    0   1   2   3   4   5
 *                          rank          4   5   0   1   2   3
 *     messages of gather:  1→0   3→2: {3}   5→4: {5}   2→0: {2 3}   4→0: {4 5}
 *     with root 3, the subtree {2 3} is rank 5 and rank 0, so 2→0 is two messages
 *
 * Laws (tests/algos/fnomial_gather.c)
 *   (1) the subtrees of a rank's children, after the rank itself, tile its own interval
 *   (2) what a rank sends to its parent is what the parent receives from it, message by message
 *   (3) at most one child of the root has two messages, and no other rank has
 * Cost    ⌈log_f p⌉ phases; p−1 messages, or one more; a rank other than the root moves the
 * blocks of its subtree to
 *         or from its parent. scratch: the blocks of the subtree, at ranks with children but the
 *         root
 * Source  Moody 2003, §3.2.3 and Appendix A (the tree)
 */
#ifndef COLL_ALGOS_FNOMIAL_GATHER_H
#define COLL_ALGOS_FNOMIAL_GATHER_H

#include "fnomial.h"

/* Ranks in the subtree of renumbered rank v whose stride is `stride`. */
COLL_HOT_INLINE uint32_t coll_i_fnomial_span(const coll_plan *plan, uint32_t v, uint32_t stride)
{
    const uint32_t left = plan->problem.p - v;
    return stride < left ? stride : left;
}

/* What a rank does. Its list for a gather: copy its own block to the others, receive from each
 * child, send to the parent, as far as it applies. For a scatter the list runs backwards and
 * the other way. */
typedef struct coll_i_fnomial_blocks {
    coll_i_fnomial place;
    bool gathers;
    const coll_layout *layout; /* of the root's buffer */
    coll_ref own, blocks;      /* the user's own block, and the blocks of the subtree */
    uint32_t copies;           /* 1: these are different places */
    uint32_t entries;          /* of the list */
} coll_i_fnomial_blocks;

COLL_HOT_INLINE coll_i_fnomial_blocks coll_i_fnomial_blocks_of(const coll_plan *plan,
                                                               uint32_t rank)
{
    coll_i_fnomial_blocks role;
    role.place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    role.gathers =
        coll_is(COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV), plan->problem.collective);
    role.layout = role.gathers ? &plan->problem.out : &plan->problem.in;
    role.own = role.gathers ? COLL_AT(COLL_IN, 0) : COLL_AT(COLL_OUT, 0);
    if (role.place.v == 0) {
        role.copies = coll_in_place(plan) ? 0 : 1;
        role.blocks = role.gathers ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_IN, 0);
    } else {
        role.copies = role.place.at.children > 0 ? 1 : 0;
        role.blocks = role.copies ? COLL_AT(COLL_SCRATCH, 0) : role.own;
    }
    role.entries = role.copies + role.place.at.children + (role.place.v == 0 ? 0 : 1);
    return role;
}

/* Where the block of a rank begins in the root's buffer; rank p: where the last one ends. */
COLL_HOT_INLINE size_t coll_i_fnomial_at(const coll_plan *plan,
                                         const coll_i_fnomial_blocks *role, uint32_t rank)
{
    return coll_i_layout_at(role->layout, plan->problem.count, plan->problem.p, rank);
}

/* Elements of the blocks of `ranks` ranks, from `first` on and past the last one to rank 0. */
COLL_HOT_INLINE size_t coll_i_fnomial_elements(const coll_plan *plan,
                                               const coll_i_fnomial_blocks *role,
                                               uint32_t first, uint32_t ranks)
{
    const uint32_t p = plan->problem.p, unwrapped = p - first;
    if (!role->layout->counts)
        return plan->problem.count * ranks;
    if (ranks <= unwrapped)
        return coll_i_fnomial_at(plan, role, first + ranks) -
               coll_i_fnomial_at(plan, role, first);
    return coll_i_fnomial_at(plan, role, p) - coll_i_fnomial_at(plan, role, first) +
           coll_i_fnomial_at(plan, role, ranks - unwrapped);
}

/* Entry i of the list; yields two messages where a subtree of the root's children wraps around. */
COLL_HOT_INLINE unsigned coll_i_fnomial_entry(const coll_plan *plan, uint32_t rank,
                                              const coll_i_fnomial_blocks *role, uint32_t i,
                                              coll_action *out)
{
    const uint32_t p = plan->problem.p, v = role->place.v;
    uint32_t peer, first, ranks;    /* the subtree that is moved */
    bool send = role->gathers, cut; /* cut: between ranks p−1 and 0, as the root's buffer is */
    coll_ref at = role->blocks;     /* where its blocks begin */
    size_t elements, unwrapped;
    if (!role->gathers)
        i = role->entries - 1 - i;
    if (i < role->copies) {
        at += v == 0 ? coll_i_fnomial_at(plan, role, rank) : 0;
        coll_act_copy(out, role->gathers ? at : role->own, role->gathers ? role->own : at,
                      coll_own_count(plan, rank));
        return 1;
    }
    i -= role->copies;
    if (i < role->place.at.children) {
        const coll_fnomial_phase phase = coll_fnomial_phase_of(plan->param[0], i);
        const uint32_t distance = (i - phase.first + 1) * phase.stride;
        peer = first = coll_mod_add(rank, distance, p);
        ranks = coll_i_fnomial_span(plan, v + distance, phase.stride);
        at += v == 0 ? coll_i_fnomial_at(plan, role, first)
                     : coll_i_fnomial_elements(plan, role, rank, distance);
        cut = v == 0;
        send = !send;
    } else {
        peer = coll_i_fnomial_parent(plan, &role->place);
        first = rank;
        ranks = coll_i_fnomial_span(plan, v, role->place.at.stride);
        cut = role->place.at.parent == 0;
    }
    elements = coll_i_fnomial_elements(plan, role, first, ranks);
    if (!cut || ranks <= p - first) {
        coll_act_move(out, send, peer, at, elements);
        return 1;
    }
    unwrapped = coll_i_fnomial_elements(plan, role, first, p - first);
    coll_act_move(&out[0], send, peer, at, unwrapped);
    coll_act_move(&out[1], send, peer, v == 0 ? role->blocks : at + unwrapped,
                  elements - unwrapped);
    return 2;
}

/* A step takes as many entries as surely fit: at most one of a rank's messages is two. */
enum { COLL_I_FNOMIAL_ENTRIES = COLL_STEP_MAX - 1 };

COLL_INLINE size_t coll_i_fnomial_gather_steps(const coll_plan *plan, uint32_t rank)
{
    const size_t entries = coll_i_fnomial_blocks_of(plan, rank).entries;
    return (entries + COLL_I_FNOMIAL_ENTRIES - 1) / COLL_I_FNOMIAL_ENTRIES;
}

COLL_INLINE unsigned coll_i_fnomial_gather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const coll_i_fnomial_blocks role = coll_i_fnomial_blocks_of(plan, rank);
    const uint32_t first = (uint32_t)s * COLL_I_FNOMIAL_ENTRIES;
    unsigned n = 0;
    for (uint32_t i = first; i < role.entries && i < first + COLL_I_FNOMIAL_ENTRIES; i++)
        n += coll_i_fnomial_entry(plan, rank, &role, i, &out[n]);
    return n;
}

COLL_INLINE size_t coll_i_fnomial_gather_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial_blocks role = coll_i_fnomial_blocks_of(plan, rank);
    if (coll_ref_space(role.blocks) != COLL_SCRATCH)
        return 0;
    return coll_i_fnomial_elements(
        plan, &role, rank, coll_i_fnomial_span(plan, role.place.v, role.place.at.stride));
}

static const coll_algorithm coll_fnomial_gather = {
    "fnomial",
    "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER),
    /* traits */ 0,
    /* window */ 1,
    /* parameters */ 1,
    coll_i_fnomial_params,
    /* check */ NULL,
    coll_i_fnomial_gather_steps,
    coll_i_fnomial_gather_step,
    coll_i_fnomial_gather_scratch,
    /* shared */ NULL,
};

static const coll_algorithm coll_fnomial_gatherv = {
    "fnomial",
    "Moody 2003, section 3.2.3, Appendix A",
    COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV),
    COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED,
    /* window */ 1,
    /* parameters */ 1,
    coll_i_fnomial_params,
    /* check */ NULL,
    coll_i_fnomial_gather_steps,
    coll_i_fnomial_gather_step,
    coll_i_fnomial_gather_scratch,
    /* shared */ NULL,
};

#endif /* COLL_ALGOS_FNOMIAL_GATHER_H */
