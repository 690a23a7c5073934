/* coll/plan/rank_map.h — which ranks of an outer plan the ranks of an inner one are
 *
 *   coll_rank_map map;
 *   coll_rank_map_init(&map);                    // rank i is outer rank i
 *   coll_group_affine(&map.group, 0, 4);         // … 4i
 *   map.copies = 3;                              // … and, in two further copies, 4i + 1 and 4i + 2
 *   map.spacing = 1;
 *
 * A map with several copies runs an inner plan on several sets of outer ranks at once, each on its
 * own data: on the nodes of a machine, or along the columns of a grid. Copies lie one after the
 * other, or side by side, all of them between two ranks of the group. Use plan.h, or this part
 * alone.
 */
#ifndef COLL_PLAN_RANK_MAP_H
#define COLL_PLAN_RANK_MAP_H

#include "group.h"
#include "topo/nodes.h"
#include "topo/rails.h"

/* Which outer ranks the ranks of an inner plan are. */
typedef struct coll_rank_map {
    coll_group group;         /* of the first copy, in outer ranks; a table has an inverse */
    uint32_t copies, spacing; /* outer ranks from one copy to the next; a table has one copy */
    /* Or, of composite algorithms alone, inner rank i is a rank of node i: its last rank, or the
     * leader whose number is that of the copy, but on one node the root. */
    const coll_nodes *nodes;          /* NULL: the group */
    const coll_fast_divisor *leaders; /* division by the leaders of a node … */
    const size_t *below; /* … or, chosen by their rails, how many of them are below each rank */
    uint32_t p;          /* outer ranks */
    uint32_t root, root_node; /* the root, and its node or COLL_RANK_NONE */
    bool lasts;               /* inner rank i is the last rank of node i */
} coll_rank_map;

/* All ranks, in order. */
COLL_INLINE void coll_rank_map_init(coll_rank_map *map)
{
    coll_group_identity(&map->group);
    map->copies = 1;
    map->spacing = 0;
    map->nodes = NULL;
}

/* Where an outer rank is in an inner plan: this rank of this copy. */
typedef struct coll_i_seat {
    uint32_t rank; /* COLL_RANK_NONE: nowhere */
    uint32_t copy; /* of a group, outer ranks behind the first copy; of leaders, their number */
} coll_i_seat;

/* The outer rank of a rank in one of the copies. */
COLL_HOT_INLINE uint32_t coll_i_rank_map_outer(const coll_rank_map *map, uint32_t copy,
                                               uint32_t rank)
{
    uint32_t first;
    if (COLL_LIKELY(!map->nodes))
        return coll_group_outer(&map->group, rank) + copy;
    if (map->lasts)
        return coll_nodes_first(map->nodes, map->p, rank + 1) - 1;
    if (rank == map->root_node)
        return map->root;
    first = coll_nodes_first(map->nodes, map->p, rank);
    if (copy == 0)
        return first;
    if (map->below)
        return first + coll_i_rails_leader(
                           map->below + first,
                           coll_nodes_first(map->nodes, map->p, rank + 1) - first, copy);
    return first + coll_leader(coll_nodes_first(map->nodes, map->p, rank + 1) - first, copy,
                               map->leaders);
}

/* The seat of an outer rank, in a map that coll_i_rank_map_check found good for p ranks. */
COLL_INLINE coll_i_seat coll_i_rank_map_seat(const coll_rank_map *map, uint32_t p,
                                             uint32_t outer)
{
    const bool side_by_side = map->spacing <= (uint64_t)(p - 1) * map->group.stride;
    coll_i_seat seat;
    seat.copy = 0;
    if (map->copies > 1 && outer >= map->group.base) {
        const uint32_t at = outer - map->group.base;
        const uint32_t copy = (side_by_side ? at % map->group.stride : at) / map->spacing;
        seat.copy = (copy < map->copies ? copy : map->copies - 1) * map->spacing;
    }
    seat.rank = coll_group_rank(&map->group, p, outer - seat.copy);
    return seat;
}

/* Has each of `outer_p` outer ranks one seat at most, and each seat of an inner plan of p ranks an
 * outer rank? O(p) for a table. */
COLL_INLINE coll_status coll_i_rank_map_check(const coll_rank_map *map, uint32_t p,
                                              uint32_t outer_p)
{
    const coll_group *group = &map->group;
    const uint64_t shift = (uint64_t)(map->copies - 1) * map->spacing;
    if (map->nodes || map->copies == 0 || (group->table ? !group->inverse : group->stride == 0))
        return COLL_ERR_GROUP;
    if (map->copies == 1)
        return coll_group_check(group, p, outer_p);
    if (group->table || map->spacing == 0 || shift >= outer_p ||
        (map->spacing <= (uint64_t)(p - 1) * group->stride && shift >= group->stride))
        return COLL_ERR_GROUP;
    return coll_group_check(group, p, outer_p - (uint32_t)shift);
}

#endif /* COLL_PLAN_RANK_MAP_H */
