/* coll/lab/certify/by_subtree.h — the argument of subtrees: trees whose subtrees are runs of ranks
 *
 * Ranks are renumbered so that the root is 0, and a subtree is a run of numbers that begins with its
 * root. So of a message up the tree is claimed that it is of the sender's run, and of one down that it
 * is for the receiver's; what a rank does depends on the size of its run alone, and the proof is the
 * induction over sizes: the runs of the children and the rank itself tile its own run.
 *
 *   binomial, p = 6:  0–5 ◄─ 1     of rank 2's message is claimed: ranks 2, 3
 *                      ├◄─ 2–3     level: of messages up twice the size of the run, of those down
 *                      └◄─ 4–5     the more the smaller it is
 *
 * Most subtrees are full, and there is one for each size; those on the way from the root to rank p−1
 * are cut short.
 */
#ifndef COLL_LAB_CERTIFY_BY_SUBTREE_H
#define COLL_LAB_CERTIFY_BY_SUBTREE_H

#include "local_proof.h"
#include "../../plan/topo/tree.h"

/* A rank's number, the ranks of its subtree, and its parent's number. */
typedef struct coll_i_subtree {
    uint32_t v, ranks, parent;
} coll_i_subtree;

COLL_INLINE coll_i_subtree coll_i_subtree_of(const coll_i_theorem *of, uint32_t rank)
{
    const coll_plan *plan = of->plan;
    const uint32_t p = of->in.p;
    coll_i_subtree at;
    at.v = coll_mod_sub(rank, plan->problem.root, p);
    if (plan->algorithm->name[0] == 'f') {
        const coll_fnomial here = coll_fnomial_of(p, &plan->radix, at.v);
        at.parent = here.parent;
        at.ranks = here.stride < p - at.v ? here.stride : p - at.v;
    } else {
        const coll_branch here = plan->algorithm->name[0] == 'k'
                                     ? coll_kary_of(p, &plan->radix, at.v)
                                     : coll_chain_of(p, &plan->radix, at.v);
        at.parent = here.parent;
        at.ranks = 1 + here.below.extra +
                   (uint32_t)here.below.base *
                       (here.children < plan->radix.by ? here.children : plan->radix.by);
    }
    return at;
}

/* Is the one rank's run within the other's, if they are parent and child? */
COLL_INLINE bool coll_i_subtree_is_below(const coll_i_theorem *of, uint32_t one, uint32_t other)
{
    const uint32_t root = of->plan->problem.root;
    return coll_mod_sub(one, root, of->in.p) > coll_mod_sub(other, root, of->in.p);
}

COLL_INLINE bool coll_i_subtree_message(const coll_i_theorem *of, uint32_t from, uint32_t to,
                                        size_t step, coll_i_claim *claimed)
{
    const coll_problem *problem = &of->plan->problem;
    const coll_collective c = problem->collective;
    const bool up = coll_i_subtree_is_below(of, from, to);
    const uint32_t ranks = coll_i_subtree_of(of, up ? from : to).ranks;
    (void)step;
    claimed->count = 1;
    claimed->is = coll_i_given(of, from, 1);
    if (up) {
        if (c == COLL_GATHER) {
            claimed->count = ranks;
            claimed->is.first_moves = ranks > 1;
        } else {
            claimed->is.ranks = ranks;
        }
    } else if (coll_is(COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_SCATTER), c)) {
        claimed->is = coll_i_given(of, problem->root, 1);
        if (c == COLL_SCATTER) {
            claimed->count = ranks;
            claimed->is.element = to;
            claimed->is.element_moves = ranks > 1;
        }
    } else {
        claimed->is = coll_i_complete(of);
    }
    coll_i_contributions_tidy(&of->in, &claimed->is);
    return true;
}

COLL_INLINE uint64_t coll_i_subtree_when(const coll_i_theorem *of, uint32_t rank, size_t step,
                                         const coll_action *a)
{
    const uint64_t p = of->in.p, ranks = coll_i_subtree_of(of, rank).ranks;
    const bool receives = coll_i_has(COLL_I_RECEIVES, a);
    const bool up = receives == coll_i_subtree_is_below(of, a->peer, rank);
    (void)step;
    return (up ? 2 * ranks : 4 * p + 2 * (p - ranks)) - (receives ? 1 : 0);
}

/* The root; rank p−1; two of those whose subtrees it cuts short; a subtree of some size; any rank. */
COLL_INLINE unsigned coll_i_subtree_classes(const coll_i_theorem *of, uint32_t *rank)
{
    const uint32_t p = of->in.p, root = of->plan->problem.root;
    const uint32_t up = coll_i_drawn(p, 0, coll_log2_ceil(p));
    uint32_t v = p - 1, before = v;
    unsigned n = 0;
    for (uint32_t i = 0; i < up && v > 0; i++) {
        before = v;
        v = coll_i_subtree_of(of, coll_mod_add(v, root, p)).parent;
    }
    rank[n++] = root;
    rank[n++] = coll_mod_add(p - 1, root, p);
    rank[n++] = coll_mod_add(v, root, p);
    rank[n++] = coll_mod_add(before, root, p);
    rank[n++] = coll_mod_add((uint32_t)1 << up, root, p);
    rank[n++] = coll_i_drawn(p, 1, p);
    return n;
}

COLL_CONST(coll_i_claims, coll_i_by_subtree, {
    coll_i_subtree_message, NULL, coll_i_subtree_when, NULL, NULL, coll_i_subtree_classes, false});

#endif /* COLL_LAB_CERTIFY_BY_SUBTREE_H */
