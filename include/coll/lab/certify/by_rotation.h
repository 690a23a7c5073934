/* coll/lab/certify/by_rotation.h — the argument of rotation: what rank 0 does, all do, r further on
 *
 * In an algorithm that looks the same from every rank, rank r does what rank 0 does with r added to
 * peers and block numbers, modulo p. The claims are then the messages of rank 0, moved on by r: they
 * are learned from its program, whose receives are its own earlier sends, moved. So a proof for p
 * ranks is one rank's program, of O(log p) steps, and the comparison of other ranks with it.
 *
 *   p = 6, bruck, step 1:  rank 0 sends blocks 0 1 to rank 4; claimed of rank 3: blocks 3 4 to rank 1
 *                          rank 0 takes from rank 2: claimed are blocks 2 3
 *
 * A run that goes on from block p−1 to block 0 may be two messages. They are one here, in two pieces
 * that the two ends must cut alike.
 */
#ifndef COLL_LAB_CERTIFY_BY_ROTATION_H
#define COLL_LAB_CERTIFY_BY_ROTATION_H

#include "local_proof.h"

COLL_INLINE bool coll_i_rotation_message(const coll_i_theorem *of, uint32_t from, uint32_t to,
                                         size_t step, coll_i_claim *claimed)
{
    const uint32_t p = of->in.p;
    (void)to;
    if (step >= of->learned)
        return false; /* rank 0 has not sent it yet, or sends nothing there */
    *claimed = of->learn[step];
    if (of->in.elements == p)
        claimed->is.element = coll_mod_add(claimed->is.element, from, p);
    claimed->is.first = coll_mod_add(claimed->is.first, from, p);
    coll_i_contributions_tidy(&of->in, &claimed->is);
    return claimed->count > 0;
}

/* Everyone is in the same step, and sends before it receives. */
COLL_INLINE size_t coll_i_rotation_there(const coll_i_theorem *of, uint32_t rank, size_t step,
                                         const coll_action *a)
{
    (void)of, (void)rank, (void)a;
    return step;
}

COLL_INLINE uint64_t coll_i_rotation_since(const coll_i_theorem *of, uint32_t rank, size_t step)
{
    (void)of, (void)rank;
    return 2 * (uint64_t)step + 1;
}

COLL_INLINE uint64_t coll_i_rotation_when(const coll_i_theorem *of, uint32_t rank, size_t step,
                                          const coll_action *a)
{
    return coll_i_rotation_since(of, rank, step) + (coll_i_has(COLL_I_RECEIVES, a) ? 1 : 0);
}

/* Beside rank 0, which was learned from: the last rank; and one of those about which runs of a power of two go
 * past the end, or any one. */
COLL_INLINE unsigned coll_i_rotation_classes(const coll_i_theorem *of, uint32_t *rank)
{
    const uint32_t p = of->in.p, drawn = coll_i_drawn(p, 2, 4);
    const uint32_t run = (uint32_t)1 << coll_i_drawn(p, 0, coll_log2_ceil(p));
    rank[0] = p - 1;
    rank[1] = drawn < 2 ? p - run - drawn % (p - run) : coll_i_drawn(p, 1, p);
    return 2;
}

COLL_CONST(coll_i_claims, coll_i_by_rotation, {
    coll_i_rotation_message, coll_i_rotation_there,
    coll_i_rotation_when,    coll_i_rotation_since,
    NULL,                    coll_i_rotation_classes, true});

#endif /* COLL_LAB_CERTIFY_BY_ROTATION_H */
