/* coll/lab/verify/groups.h — groups and places of any number of ranks, by name and two numbers
 *
 *   coll_grid_group some = {COLL_GRID_MISSING, 9, 4};      // missing:9:4
 *   coll_i_groups groups;
 *   memset(&groups, 0, sizeof groups);
 *   if (coll_i_groups_make(&groups, &some, p) == COLL_OK)
 *       … coll_plan_place(&plan, &groups.group) …
 *   coll_i_groups_release(&groups);
 *
 * The groups and places for which plans are proven. Everyone can make them again from their words.
 * Hosted; allocates.
 */
#ifndef COLL_LAB_VERIFY_GROUPS_H
#define COLL_LAB_VERIFY_GROUPS_H

#include "../../plan/rank_order.h"
#include "report.h"

/* p ranks of `outer`, the choice number `which`. Tables of an odd number have an inverse. One line a
 * kind: name, text, meaning. */
#define COLL_GRID_GROUP_LIST(X)                                                                \
    X(COLL_GRID_NO_GROUP, "none") /* the plan is not placed */                                 \
    X(COLL_GRID_AFFINE, "affine") /* from `which` on, as far apart as they fit */              \
    X(COLL_GRID_MISSING,                                                                       \
      "missing") /* a table, ascending; all of them, if 32 bits can count them */              \
    X(COLL_GRID_SHUFFLED, "shuffled") /* a table in another order, at random */

/* Ranks on `nodes` nodes, beginning with number `which`, or by it. */
#define COLL_GRID_PLACES_LIST(X)                                                               \
    X(COLL_GRID_NO_PLACES, "none") /* nodes have runs of ranks */                              \
    X(COLL_GRID_DEALT, "dealt")    /* in turn */                                               \
    X(COLL_GRID_LUMPY, "uneven")   /* 1 to 4 ranks in turn */                                  \
    X(COLL_GRID_ALONE, "alone")    /* rank number `which` has a node to itself */              \
    X(COLL_GRID_STREWN, "random")  /* at random */

#define COLL_I_GRID_GROUPING(name, text) name,
/* Whose plan it is, outside: kinds of groups. */
typedef enum coll_grid_grouping {
    COLL_GRID_GROUP_LIST(COLL_I_GRID_GROUPING) COLL_GRID_GROUPS
} coll_grid_grouping;

/* How ranks are scattered over nodes. */
typedef enum coll_grid_placing {
    COLL_GRID_PLACES_LIST(COLL_I_GRID_GROUPING) COLL_GRID_PLACES
} coll_grid_placing;

/* A group of a kind, among so many outer ranks. */
typedef struct coll_grid_group {
    coll_grid_grouping kind;
    uint32_t outer, which; /* outer ranks; number among those of the kind */
} coll_grid_group;

/* Ranks scattered in a way over so many nodes. */
typedef struct coll_grid_places {
    coll_grid_placing kind;
    uint32_t nodes, which; /* how many nodes; number among those of the kind */
} coll_grid_places;

#define COLL_I_GRID_GROUPING_CASE(name, text)                                                  \
    case name:                                                                                 \
        return text;

/* The name of a kind of groups, never NULL. */
COLL_INLINE const char *coll_grid_group_name(coll_grid_grouping kind)
{
    switch (kind) {
        COLL_GRID_GROUP_LIST(COLL_I_GRID_GROUPING_CASE)
    case COLL_GRID_GROUPS:
        break;
    }
    return "unknown group";
}

/* The name of a kind of scattering, never NULL. */
COLL_INLINE const char *coll_grid_places_name(coll_grid_placing kind)
{
    switch (kind) {
        COLL_GRID_PLACES_LIST(COLL_I_GRID_GROUPING_CASE)
    case COLL_GRID_PLACES:
        break;
    }
    return "unknown places";
}

typedef struct coll_i_groups {
    coll_i_memory memory;
    coll_group
        group; /* of coll_i_groups_make, or of coll_i_rank_order_make: whose the places are */
    coll_rank_order
        places; /* of coll_i_rank_order_make, and each rank's node, below the number of nodes */
    const uint32_t *node;
} coll_i_groups;

COLL_INLINE void coll_i_groups_release(coll_i_groups *groups)
{
    coll_i_release(&groups->memory);
}

/* ---- groups ------------------------------------------------------------------------------ */

/* How many choices of k out of n there are; UINT32_MAX, if they are that many or more. */
COLL_INLINE uint32_t coll_i_choices(uint32_t n, uint32_t k)
{
    uint64_t choices = k <= n ? 1 : 0;
    k = k < n - k ? k : n - k;
    for (uint32_t i = 1; choices > 0 && i <= k; i++) {
        choices = choices * (n - k + i) / i;
        if (choices >= UINT32_MAX)
            return UINT32_MAX;
    }
    return (uint32_t)choices;
}

/* Writes a choice of p out of `outer`, ascending. */
COLL_INLINE void coll_i_groups_choose(uint32_t *table, uint32_t p, uint32_t outer,
                                      uint32_t which)
{
    const bool all = coll_i_choices(outer, p) < UINT32_MAX;
    uint64_t random = which;
    for (uint32_t left = p; left > 0;) {
        const uint32_t without = all ? coll_i_choices(outer - 1, left) : 0;
        const bool taken = all ? which >= without : coll_i_random_below(&random, outer) < left;
        outer--;
        if (!taken)
            continue;
        table[--left] = outer;
        which -= without;
    }
}

/* Makes a group of p ranks. COLL_ERR_GROUP: that kind has none of these numbers. */
COLL_INLINE coll_status coll_i_groups_make(coll_i_groups *groups, const coll_grid_group *of,
                                           uint32_t p)
{
    const uint32_t outer = of->outer;
    uint64_t random = of->which;
    uint32_t *table, *inverse;
    coll_group_identity(&groups->group);
    if (of->kind == COLL_GRID_NO_GROUP)
        return COLL_OK;
    if (outer < p || of->which >= (of->kind == COLL_GRID_AFFINE    ? outer - p + 1
                                   : of->kind == COLL_GRID_MISSING ? coll_i_choices(outer, p)
                                                                   : UINT32_MAX))
        return COLL_ERR_GROUP;
    if (of->kind == COLL_GRID_AFFINE) {
        coll_group_affine(&groups->group, of->which,
                          p > 1 ? (outer - 1 - of->which) / (p - 1) : 1);
        return COLL_OK;
    }
    table =
        (uint32_t *)coll_i_reserve_new(&groups->memory, (p + (size_t)outer) * sizeof *table);
    if (!table)
        return COLL_ERR_MEMORY;
    inverse = table + p;
    coll_i_groups_choose(table, p, outer,
                         of->kind == COLL_GRID_MISSING
                             ? of->which
                             : coll_i_random_below(&random, coll_i_choices(outer, p)));
    if (of->kind == COLL_GRID_SHUFFLED) {
        bool ascends = true;
        for (uint32_t i = p; i-- > 1;) {
            const uint32_t k = coll_i_random_below(&random, i + 1), at_k = table[k];
            table[k] = table[i];
            table[i] = at_k;
        }
        for (uint32_t i = 1; i < p; i++)
            ascends = ascends && table[i - 1] < table[i];
        for (uint32_t i = 0; ascends && i < p / 2; i++) {
            const uint32_t low = table[i];
            table[i] = table[p - 1 - i];
            table[p - 1 - i] = low;
        }
    }
    for (uint32_t i = 0; i < outer; i++)
        inverse[i] = COLL_RANK_NONE;
    for (uint32_t rank = 0; rank < p; rank++)
        inverse[table[rank]] = rank;
    coll_group_table(&groups->group, table, of->which & 1 ? inverse : NULL);
    return COLL_OK;
}

/* ---- places ------------------------------------------------------------------------------ */

/* Makes the places of p ranks. False: no memory, or there are no nodes. */
COLL_INLINE bool coll_i_rank_order_make(coll_i_groups *groups, const coll_grid_places *of,
                                        uint32_t p)
{
    const size_t room = coll_rank_order_tables(p);
    const uint32_t nodes = of->nodes, which = of->which;
    uint64_t random = which;
    uint32_t *tables, *node;
    if (nodes == 0)
        return false;
    tables = (uint32_t *)coll_i_reserve_new(&groups->memory, (room + p) * sizeof *tables);
    if (!tables)
        return false;
    node = tables + room;
    for (uint32_t rank = 0, lump = which, left = 1 + which % 4; rank < p; rank++, left--) {
        if (left == 0) {
            lump++;
            left = 1 + (5 * lump + 2) % 4;
        }
        node[rank] = of->kind == COLL_GRID_LUMPY    ? lump % nodes
                     : of->kind == COLL_GRID_STREWN ? coll_i_random_below(&random, nodes)
                     : of->kind == COLL_GRID_ALONE
                         ? (rank == which % p ? nodes : rank % nodes)
                         : (uint32_t)(((uint64_t)rank + which) % nodes);
    }
    coll_rank_order_of(&groups->places, node, p, tables);
    coll_group_places(&groups->group, &groups->places);
    groups->node = node;
    return true;
}

#endif /* COLL_LAB_VERIFY_GROUPS_H */
