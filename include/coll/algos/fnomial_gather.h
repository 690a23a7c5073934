/* coll/algos/fnomial_gather.h — gather, scatter on f-nomial trees
 *
 * Gather climbs the tree of fnomial.h: a rank collects the blocks of its subtree and sends them on as one
 * message. A subtree is an interval of renumbered ranks (the root is 0), so a rank keeps its blocks in
 * SCRATCH in that order and every message is one run of them. At the root they go to OUT, in true
 * order; there the one subtree that runs past rank p−1 to rank 0 is two runs, and two messages. Leaves
 * send IN itself. Scatter is the same backwards.
 *
 *   f = 2, p = 6, root 4:  renumbered    0   1   2   3   4   5
 *                          rank          4   5   0   1   2   3
 *     messages of gather:  1→0   3→2: {3}   5→4: {5}   2→0: {2 3}   4→0: {4 5}
 *     with root 5, the subtree {0 1} of a 2-nomial tree is rank 5 and rank 0
 *
 * Laws (tests/algos/fnomial_gather.c)
 *   (1) the subtrees of a rank's children, after the rank itself, tile its own interval
 *   (2) what a rank sends to its parent is what the parent receives from it, message by message
 *   (3) at most one child of the root has two messages, and no other rank has
 * Cost    ⌈log_f p⌉ phases; p−1 messages, or one more; a rank sends the blocks of its subtree.
 *         scratch: the blocks of the subtree, at ranks with children but the root
 * Source  Moody 2003, §3.2.3 and Appendix A (the tree)
 */
#ifndef COLL_ALGOS_FNOMIAL_GATHER_H
#define COLL_ALGOS_FNOMIAL_GATHER_H

#include "fnomial.h"

/* Ranks in the subtree of a rank. */
COLL_INLINE uint32_t coll_i_fnomial_span(const coll_plan *plan, const coll_i_fnomial *place)
{
    const uint32_t left = plan->problem.p - place->v;
    return place->at.stride < left ? place->at.stride : left;
}

/* Renumbered ranks [first, first + ranks). */
typedef struct coll_i_fnomial_interval {
    uint32_t first, ranks;
} coll_i_fnomial_interval;

/* The subtree of child number `slot`. It ends where the next child's begins, or with its parent's. */
COLL_INLINE coll_i_fnomial_interval coll_i_fnomial_subtree(const coll_plan *plan,
                                                           const coll_i_fnomial *place,
                                                           uint32_t slot)
{
    const uint32_t f = plan->param[0];
    const uint32_t end = slot + 1 < place->at.children
                             ? coll_fnomial_child(f, place->v, slot + 1)
                             : place->v + coll_i_fnomial_span(plan, place);
    coll_i_fnomial_interval subtree;
    subtree.first = coll_fnomial_child(f, place->v, slot);
    subtree.ranks = end - subtree.first;
    return subtree;
}

/* An interval of renumbered ranks as two runs of true ranks: [first, first + before), up to p−1, and
 * [0, after). */
typedef struct coll_i_fnomial_runs {
    uint32_t first, before, after;
} coll_i_fnomial_runs;

COLL_INLINE coll_i_fnomial_runs coll_i_fnomial_runs_of(const coll_plan *plan, uint32_t v,
                                                       uint32_t ranks)
{
    const uint32_t p = plan->problem.p;
    coll_i_fnomial_runs runs;
    runs.first = coll_mod_add(v, plan->problem.root, p);
    runs.before = ranks < p - runs.first ? ranks : p - runs.first;
    runs.after = ranks - runs.before;
    return runs;
}

/* One message to (kind SEND) or from (kind RECV) a peer. */
COLL_INLINE void coll_i_fnomial_move(coll_action *a, coll_kind kind, uint32_t peer, coll_ref at,
                                     size_t count)
{
    if (kind == COLL_DO_SEND)
        coll_act_send(a, peer, at, count);
    else
        coll_act_recv(a, peer, at, count);
}

/* Moves the blocks of a child's subtree between the child and `blocks`, in true order at the root. */
COLL_INLINE unsigned coll_i_fnomial_with_child(const coll_plan *plan,
                                               const coll_i_fnomial *place, uint32_t slot,
                                               coll_kind kind, coll_ref blocks,
                                               coll_action *out)
{
    const size_t count = plan->problem.count;
    const coll_i_fnomial_interval ranks = coll_i_fnomial_subtree(plan, place, slot);
    const coll_i_fnomial_runs runs = coll_i_fnomial_runs_of(plan, ranks.first, ranks.ranks);
    if (place->v != 0) {
        coll_i_fnomial_move(out, kind, runs.first, blocks + (ranks.first - place->v) * count,
                            ranks.ranks * count);
        return 1;
    }
    coll_i_fnomial_move(&out[0], kind, runs.first, blocks + runs.first * count,
                        runs.before * count);
    if (runs.after == 0)
        return 1;
    coll_i_fnomial_move(&out[1], kind, runs.first, blocks, runs.after * count);
    return 2;
}

/* Moves the blocks of the rank's own subtree between its parent and `blocks`. */
COLL_INLINE unsigned coll_i_fnomial_with_parent(const coll_plan *plan,
                                                const coll_i_fnomial *place, coll_kind kind,
                                                coll_ref blocks, coll_action *out)
{
    const size_t count = plan->problem.count;
    const uint32_t parent = coll_i_fnomial_parent(plan, place);
    const uint32_t span = coll_i_fnomial_span(plan, place);
    const coll_i_fnomial_runs runs = coll_i_fnomial_runs_of(plan, place->v, span);
    if (place->at.parent != 0 || runs.after == 0) {
        coll_i_fnomial_move(out, kind, parent, blocks, span * count);
        return 1;
    }
    coll_i_fnomial_move(&out[0], kind, parent, blocks, runs.before * count);
    coll_i_fnomial_move(&out[1], kind, parent, blocks + runs.before * count,
                        runs.after * count);
    return 2;
}

/* Both: a step for each child, one for the parent; a root without children has one for its copy. */
COLL_INLINE size_t coll_i_fnomial_gather_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    const bool more = place.v != 0 || (place.at.children == 0 && !coll_in_place(plan));
    return place.at.children + (more ? (size_t)1 : 0);
}

/* Does the root have a copy to make between IN and OUT? It rides on step 0. */
COLL_INLINE bool coll_i_fnomial_root_copies(const coll_plan *plan, const coll_i_fnomial *place,
                                            size_t s)
{
    return place->v == 0 && s == 0 && !coll_in_place(plan);
}

/* ---- gather ------------------------------------------------------------------------------ */

COLL_INLINE unsigned coll_i_fnomial_gather_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                coll_action *out)
{
    const size_t count = plan->problem.count;
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    const uint32_t m = place.at.children;
    const coll_ref own = COLL_AT(COLL_IN, 0);
    const coll_ref blocks = place.v == 0 ? COLL_AT(COLL_OUT, 0) : COLL_AT(COLL_SCRATCH, 0);
    unsigned n = 0;
    if (s < m)
        n = coll_i_fnomial_with_child(plan, &place, (uint32_t)s, COLL_DO_RECV, blocks, out);
    else if (place.v != 0)
        n = coll_i_fnomial_with_parent(plan, &place, COLL_DO_SEND, m == 0 ? own : blocks, out);
    if (coll_i_fnomial_root_copies(plan, &place, s))
        coll_act_copy(&out[n++], blocks + rank * count, own, count);
    else if (place.v != 0 && s == 0 && m > 0)
        coll_act_copy(&out[n++], blocks, own, count);
    return n;
}

COLL_INLINE size_t coll_i_fnomial_gather_scratch(const coll_plan *plan, uint32_t rank)
{
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    if (place.v == 0 || place.at.children == 0)
        return 0;
    return coll_i_fnomial_span(plan, &place) * plan->problem.count;
}

static const coll_algorithm coll_fnomial_gather = {"fnomial",
                                                   "Moody 2003, section 3.2.3, Appendix A",
                                                   COLL_BIT(COLL_GATHER),
                                                   /* traits */ 0,
                                                   /* window */ 1,
                                                   /* parameters */ 1,
                                                   coll_i_fnomial_params,
                                                   /* check */ NULL,
                                                   coll_i_fnomial_gather_steps,
                                                   coll_i_fnomial_gather_step,
                                                   coll_i_fnomial_gather_scratch,
                                                   /* shared */ NULL};

/* ---- scatter ----------------------------------------------------------------------------- */

COLL_INLINE unsigned coll_i_fnomial_scatter_step(const coll_plan *plan, uint32_t rank, size_t s,
                                                 coll_action *out)
{
    const size_t count = plan->problem.count;
    const coll_i_fnomial place = coll_i_fnomial_place(plan, plan->problem.root, rank);
    const uint32_t m = place.at.children;
    const coll_ref own = COLL_AT(COLL_OUT, 0);
    const coll_ref blocks = place.v == 0 ? COLL_AT(COLL_IN, 0) : COLL_AT(COLL_SCRATCH, 0);
    const uint32_t sent = (uint32_t)s - (place.v == 0 ? 0 : 1); /* largest subtree first */
    unsigned n = 0;
    if (place.v != 0 && s == 0)
        n = coll_i_fnomial_with_parent(plan, &place, COLL_DO_RECV, m == 0 ? own : blocks, out);
    else if (m > 0)
        n = coll_i_fnomial_with_child(plan, &place, m - 1 - sent, COLL_DO_SEND, blocks, out);
    if (coll_i_fnomial_root_copies(plan, &place, s))
        coll_act_copy(&out[n++], own, blocks + rank * count, count);
    else if (place.v != 0 && s == m && m > 0)
        coll_act_copy(&out[n++], own, blocks, count);
    return n;
}

static const coll_algorithm coll_fnomial_scatter = {"fnomial",
                                                    "Moody 2003, section 3.2.3, Appendix A",
                                                    COLL_BIT(COLL_SCATTER),
                                                    /* traits */ 0,
                                                    /* window */ 1,
                                                    /* parameters */ 1,
                                                    coll_i_fnomial_params,
                                                    /* check */ NULL,
                                                    coll_i_fnomial_gather_steps,
                                                    coll_i_fnomial_scatter_step,
                                                    coll_i_fnomial_gather_scratch,
                                                    /* shared */ NULL};

#endif /* COLL_ALGOS_FNOMIAL_GATHER_H */
