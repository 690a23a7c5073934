/* coll/algos/kit/split_groups.h — groups of ranks that split, and the pieces they hold
 *
 * After d splits ranks of equal d lowest bits, counted from the top, are a group, and each group
 * has a piece of the vector: at a split, the even members keep the first half and the odd ones the
 * second.
 *
 *   p = 7   d = 0    0 1 2 3 4 5 6          all
 *           d = 1    0 2 4 6 │ 1 3 5        half a piece each
 *           d = 2    0 4 │ 2 6 │ 1 5 │ 3    a quarter
 *
 * Laws (tests/algos/fnomial_split.c): (1) to (3) of fnomial_split.h
 * Source  Moody 2003, §3.2.4
 */
#ifndef COLL_ALGOS_KIT_SPLIT_GROUPS_H
#define COLL_ALGOS_KIT_SPLIT_GROUPS_H

#include "../../plan.h"

/* The rank that is counted 0: the root, but 0 where operands must keep their order. */
COLL_HOT_INLINE uint32_t coll_i_split_top(const coll_plan *plan)
{
    return plan->problem.flags & COLL_FLAG_COMMUTATIVE ? plan->problem.root : 0;
}

/* How many groups, and pieces, there are in the end. */
COLL_HOT_INLINE uint32_t coll_i_split_groups(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p, splits = plan->param[1];
    return splits < 32 && (uint32_t)1 << splits < p ? (uint32_t)1 << splits : p;
}

/* How often the group of v is split: as often as is wanted, or until v is alone. */
COLL_HOT_INLINE uint32_t coll_i_split_depth(const coll_plan *plan, uint32_t v)
{
    const uint32_t p = plan->problem.p, most = COLL_HIGHEST_BIT(p);
    const uint32_t pow2 = (uint32_t)1 << most;
    if (plan->param[1] <= most)
        return plan->param[1];
    return most + (p - (v & (pow2 - 1)) > pow2 ? 1 : 0);
}

/* The piece of the group of v after d splits. */
COLL_HOT_INLINE coll_block coll_i_split_piece(const coll_plan *plan, uint32_t v, uint32_t d)
{
    coll_block piece;
    piece.offset = 0;
    piece.count = plan->problem.count;
    for (; d > 0; d--, v >>= 1) {
        const size_t second = piece.count / 2;
        piece.offset += v & 1 ? piece.count - second : 0;
        piece.count = v & 1 ? second : piece.count - second;
    }
    return piece;
}

/* A rank's place in its group after d splits. */
typedef struct coll_i_split_place {
    uint32_t index, members;
    bool paired; /* it has a partner in the next split */
    bool extra;  /* it also takes over from the last member, which has none */
} coll_i_split_place;

COLL_HOT_INLINE coll_i_split_place coll_i_split_place_of(const coll_plan *plan, uint32_t v,
                                                         uint32_t d)
{
    const uint64_t tail = v & (((uint64_t)1 << d) - 1);
    coll_i_split_place at;
    at.index = (uint32_t)((uint64_t)v >> d);
    at.members = (uint32_t)((plan->problem.p - 1 - tail) >> d) + 1;
    at.paired = (at.index ^ 1) < at.members;
    at.extra = (at.members & 1) != 0 && at.index + 2 == at.members;
    return at;
}

/* How often a rank combines in the first d splits. */
COLL_HOT_INLINE uint32_t coll_i_split_combined(const coll_plan *plan, uint32_t v, uint32_t d)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < d; e++) {
        const coll_i_split_place at = coll_i_split_place_of(plan, v, e);
        n += (at.paired ? 1u : 0u) + (at.extra ? 1u : 0u);
    }
    return n;
}

#endif /* COLL_ALGOS_KIT_SPLIT_GROUPS_H */
