/* coll/algos/kit/levels.h — a rank's place in two levels: within its node, and among the leaders
 *
 * For composite algorithms (plan/composite.h). A node's leader is its first rank, or the root on
 * the root's own node; in scans, its last rank. Where every node has one rank, or all ranks are
 * on one, there is only one level, and its problem is that of all.
 */
#ifndef COLL_ALGOS_KIT_LEVELS_H
#define COLL_ALGOS_KIT_LEVELS_H

#include "../../plan/composite.h"

/* This rank's place in both. */
typedef struct coll_i_levels {
    uint32_t nodes, index; /* how many; the number of this rank's */
    coll_node root;        /* the root's place; rank 0's, where there is none */
    uint32_t lead;         /* local rank of this node's leader */
    uint32_t group;        /* number of the group of leaders */
    bool lasts;            /* leaders are last ranks; else first ones, but for the root */
    bool leads;            /* this rank is its node's leader */
    bool here;             /* the root is on this node */
    bool intra;            /* nodes have several ranks, and … */
    bool inter;            /* … there are several nodes */
} coll_i_levels;

COLL_INLINE void coll_i_levels_of(const coll_plan *plan, const coll_workspace *workspace,
                                  coll_i_levels *at)
{
    at->nodes = coll_nodes_count(&workspace->nodes);
    at->index = workspace->at.index;
    at->group = COLL_GROUP_NODES;
    at->lasts = false;
    coll_i_node_write(&at->root, &workspace->nodes, workspace->p, plan->problem.root);
    at->here = workspace->at.index == at->root.index;
    at->lead = at->here ? at->root.local : 0;
    at->leads = workspace->at.local == at->lead;
    at->intra = !coll_i_composite_flat(workspace);
    at->inter = at->nodes > 1;
}

/* The problem of a level. Where it is the only one, it is that of all. */
COLL_INLINE void coll_i_levels_problem(const coll_plan *plan, const coll_workspace *workspace,
                                       const coll_i_levels *at, coll_level role,
                                       coll_collective collective, coll_problem *of)
{
    const bool inter = role == COLL_INTER;
    coll_i_composite_problem(plan, role, collective, inter ? at->nodes : workspace->at.ranks,
                             plan->problem.count, of);
    of->root = inter ? at->root.index : at->lead;
    if (inter ? !at->intra : !at->inter)
        of->flags |= plan->problem.flags & COLL_FLAG_IN_PLACE;
}

/* A phase among the leaders. On any other rank nothing comes of it but errors and traits. */
COLL_INLINE coll_status coll_i_composite_inter(coll_plan *plan, coll_workspace *workspace,
                                               const coll_i_levels *at, const coll_problem *of,
                                               coll_phase **phase)
{
    coll_plan *inner;
    const bool group = !at->lasts && plan->problem.root == 0;
    const coll_status status =
        coll_i_composite_play(plan, workspace, COLL_INTER, of, group, &inner);
    if (status != COLL_OK)
        return status;
    if (at->group == COLL_GROUP_SOCKETS && !(inner->traits & COLL_I_NEEDS_GROUP))
        return COLL_ERR_GROUP; /* only the network finds the leaders of sockets */
    *phase = coll_i_composite_leaders(workspace, inner, at->index, 0);
    (*phase)->map.lasts = at->lasts;
    (*phase)->map.root = plan->problem.root;
    (*phase)->map.root_node = at->root.index;
    (*phase)->group = at->group;
    if (!at->leads)
        workspace->sequence.n--;
    return COLL_OK;
}

/* Where the block of a rank begins; rank p: where the last one ends. */
COLL_INLINE size_t coll_i_levels_at(const coll_plan *plan, const coll_layout *layout,
                                    uint32_t rank)
{
    return coll_i_layout_at(layout, plan->problem.count, plan->problem.p, rank);
}

/* Elements of the blocks of this rank's node. */
COLL_INLINE size_t coll_i_levels_node(const coll_plan *plan, const coll_workspace *workspace,
                                      const coll_layout *layout)
{
    return coll_i_levels_at(plan, layout, workspace->at.first + workspace->at.ranks) -
           coll_i_levels_at(plan, layout, workspace->at.first);
}

#endif /* COLL_ALGOS_KIT_LEVELS_H */
