/* coll/plan/team.h — which ranks reduce together in the network
 *
 * A NETWORK_REDUCE names its team by a number (types.h), which is all that those who come to it
 * need to know. Who still waits for others may have to know who they are: one of them that is
 * gone will never come. That follows from what the plan is made of, not from the steps of other
 * ranks, for which this rank may not have the tables.
 *
 * Nothing here allocates, blocks or communicates.
 */
#ifndef COLL_PLAN_TEAM_H
#define COLL_PLAN_TEAM_H

#include "compose.h"
#include "composite.h"

/* Is a rank the first one of its node, or of one of its sockets? */
COLL_INLINE bool coll_i_nodes_leads(const coll_nodes *nodes, uint32_t p, uint32_t sockets,
                                    uint32_t rank)
{
    const coll_node at = coll_node_of(nodes, p, rank);
    const uint32_t runs = sockets < at.ranks ? sockets : at.ranks;
    const coll_partition cut = coll_partition_of(at.ranks, runs);
    return coll_part_offset(cut, coll_part_of(cut, runs, at.local)) == at.local;
}

/* Is a rank of a composition in a part that meets by this number? No deeper than compositions are. */
COLL_INLINE bool coll_i_composed_in_team(const coll_plan *plan, uint32_t team, uint32_t rank)
{
    const coll_composition *of = coll_i_composition(plan);
    for (uint32_t i = 0; i < of->n; i++) {
        const coll_part *part = &of->parts[i];
        const uint32_t seat = coll_i_part_seat(part, rank).rank;
        const bool meets = part->team == team; /* whoever has no other number yet */
        if (seat == COLL_RANK_NONE)
            continue;
        if (coll_i_is_composed(part->plan)
                ? coll_i_composed_in_team(part->plan, team, seat) ||
                      (meets && coll_i_composed_in_team(part->plan, COLL_TEAM_ALL, seat))
                : meets && (part->plan->traits & COLL_I_NEEDS_TEAM))
            return true;
    }
    return false;
}

/* Is a rank of the transport in this team, in which ranks of the plan meet? O(parts), or O(log nodes),
 * and what coll_group_rank takes. False, too, if the plan does not tell: that of a schedule, or of an
 * algorithm with a team of its own. */
COLL_INLINE bool coll_plan_is_in_team(const coll_plan *plan, uint32_t team, uint32_t outer)
{
    const uint32_t p = plan->problem.p, rank = coll_group_rank(&plan->group, p, outer);
    if (rank == COLL_RANK_NONE)
        return false;
    if (coll_i_is_composed(plan))
        return coll_i_composed_in_team(plan, team, rank);
    if (team == COLL_TEAM_ALL)
        return (plan->traits & COLL_I_NEEDS_TEAM) != 0;
    if (!(plan->algorithm->traits & COLL_NEEDS_BUILD))
        return false;
    return coll_i_nodes_leads(&plan->problem.nodes, p,
                              team == COLL_TEAM_NODES ? 1 : coll_i_workspace(plan)->sockets,
                              rank);
}

#endif /* COLL_PLAN_TEAM_H */
