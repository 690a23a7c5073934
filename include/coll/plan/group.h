/* coll/plan/group.h — which ranks outside a plan's ranks are
 *
 * Use plan.h, or this part alone.
 */
#ifndef COLL_PLAN_GROUP_H
#define COLL_PLAN_GROUP_H

#include "topo/integers.h"

/* How the ranks of a plan map to ranks outside: base + rank·stride, or a table. */
typedef struct coll_group {
    uint32_t base, stride;
    const uint32_t *table; /* p outer ranks, the caller's; NULL: affine */
    const uint32_t
        *inverse; /* rank of an outer rank or COLL_RANK_NONE; needed to embed a table,
                                else NULL, and a rank is searched for */
} coll_group;

/* Rank r is outer rank base + r · stride. */
COLL_INLINE void coll_group_affine(coll_group *group, uint32_t base, uint32_t stride)
{
    group->base = base;
    group->stride = stride;
    group->table = group->inverse = NULL;
}

/* *to = *from, without a call of memcpy on bare metal. */
COLL_INLINE void coll_group_assign(coll_group *to, const coll_group *from)
{
    to->base = from->base;
    to->stride = from->stride;
    to->table = from->table;
    to->inverse = from->inverse;
}

/* Rank r is outer rank r. */
COLL_INLINE void coll_group_identity(coll_group *group)
{
    coll_group_affine(group, 0, 1);
}

/* Rank r is outer rank table[r]; `inverse` may be NULL. Both stay the caller's. */
COLL_INLINE void coll_group_table(coll_group *group, const uint32_t *table,
                                  const uint32_t *inverse)
{
    group->base = 0;
    group->stride = 0;
    group->table = table;
    group->inverse = inverse;
}

/* The outer rank of a rank. */
COLL_INLINE uint32_t coll_group_outer(const coll_group *group, uint32_t rank)
{
    return COLL_LIKELY(!group->table) ? group->base + rank * group->stride : group->table[rank];
}

/* The rank, below p, of an outer rank; COLL_RANK_NONE if it is no member. O(p) for a table
 * without an inverse. */
COLL_INLINE uint32_t coll_group_rank(const coll_group *group, uint32_t p, uint32_t outer)
{
    uint32_t rank;
    if (group->inverse)
        return group->inverse[outer];
    if (group->table) {
        for (rank = 0; rank < p; rank++)
            if (group->table[rank] == outer)
                return rank;
        return COLL_RANK_NONE;
    }
    if (outer < group->base)
        return COLL_RANK_NONE;
    rank = outer - group->base;
    if (group->stride != 1) {
        if (rank % group->stride != 0)
            return COLL_RANK_NONE;
        rank /= group->stride;
    }
    return rank < p ? rank : COLL_RANK_NONE;
}

/* Are the p ranks of the group different, and all below `outer_p`? O(p) for affine, O(p²) for a
 * table. */
COLL_INLINE coll_status coll_group_check(const coll_group *group, uint32_t p, uint32_t outer_p)
{
    if (p == 0)
        return COLL_ERR_GROUP;
    if (!group->table)
        return group->stride > 0 && group->base + (uint64_t)(p - 1) * group->stride < outer_p
                   ? COLL_OK
                   : COLL_ERR_GROUP;
    for (uint32_t i = 0; i < p; i++) {
        if (group->table[i] >= outer_p ||
            (group->inverse && group->inverse[group->table[i]] != i))
            return COLL_ERR_GROUP;
        for (uint32_t k = 0; !group->inverse && k < i; k++)
            if (group->table[k] == group->table[i])
                return COLL_ERR_GROUP;
    }
    return COLL_OK;
}

/* Are the p ranks of a group, which are different, the first p outside (`in_order`: each at its own
 * place)? O(1) for affine, O(p) for a table. */
COLL_INLINE bool coll_group_is_whole(const coll_group *group, uint32_t p, bool in_order)
{
    if (!group->table)
        return group->base == 0 && (group->stride == 1 || p == 1);
    for (uint32_t i = 0; i < p; i++)
        if (group->table[i] >= p || (in_order && group->table[i] != i))
            return false;
    return true;
}

/* Do the outer ranks, all below `outer_p`, grow with the rank? O(1) for affine, O(p) for a
 * table. */
COLL_INLINE bool coll_group_ascends(const coll_group *group, uint32_t p, uint32_t outer_p)
{
    if (!group->table)
        return coll_group_check(group, p, outer_p) == COLL_OK;
    for (uint32_t i = 1; i < p; i++)
        if (group->table[i - 1] >= group->table[i])
            return false;
    return p > 0 && group->table[p - 1] < outer_p;
}

/* How many of the p ranks have an outer rank below `outer`, which is at most `outer_p`. The group
 * ascends. O(log(outer_p − p)). */
COLL_HOT_INLINE uint32_t coll_group_below(const coll_group *group, uint32_t p, uint32_t outer_p,
                                          uint32_t outer)
{
    const uint32_t missing = outer_p - p;
    uint32_t low = outer > missing ? outer - missing : 0, high = outer < p ? outer : p;
    if (!group->table && group->stride == 1) {
        low = outer > group->base ? outer - group->base : 0;
        return low < p ? low : p;
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (coll_group_outer(group, middle) < outer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif /* COLL_PLAN_GROUP_H */
