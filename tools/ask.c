/* tools/ask.c — see ask.h */
#include "ask.h"

bool has_in_table(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_SCATTERV) | COLL_PAIRED | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   c);
}

bool has_out_table(coll_collective c)
{
    return coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_ALLGATHERV) | COLL_PAIRED |
                       COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |
                       COLL_BIT(COLL_NEIGHBOR_ALLTOALLW),
                   c);
}

void ask_named(const struct ask *ask)
{
    if (!ask->import && (!ask->collective || !ask->algorithm))
        refuse("%s is missing; coll %s --help shows the usage",
               ask->collective ? "ALGORITHM" : "COLLECTIVE", command_name());
}

void ask_check(const struct ask *ask, coll_collective c)
{
    const char *name = coll_collective_name(c);
    const bool has_table = has_in_table(c) || has_out_table(c);
    const bool sizes = ask->seed != UINT64_MAX && !ask->seeds_more;
    if (ask->p == UINT64_MAX)
        refuse("-p P, the number of ranks, is missing");
    if (ask->root != UINT64_MAX && !coll_is(COLL_ROOTED, c))
        refuse("%s has no root", name);
    if (ask->root != UINT64_MAX && ask->root >= ask->p)
        refuse("the root is a rank from 0 to %llu, not %llu", (unsigned long long)ask->p - 1,
               (unsigned long long)ask->root);
    if (c == COLL_BARRIER && ask->count != UINT64_MAX && ask->count != 0)
        refuse("barrier moves no elements, so it has no count");
    if (c == COLL_BARRIER && ask->in_place)
        refuse("barrier has no buffers, so it cannot be in place");
    if (ask->non_commutative && !coll_is(COLL_REDUCING, c))
        refuse("%s has no operator", name);
    if (ask->graph && !coll_is(COLL_NEIGHBORLY, c))
        refuse("%s has no neighbours, so --graph has no meaning", name);
    if (ask->in_place && coll_is(COLL_NEIGHBORLY, c))
        refuse("%s cannot be in place", name);
    if (ask->counts && (!has_table || coll_is(COLL_PAIRED | COLL_NEIGHBORLY, c)))
        refuse("--counts is for gatherv, scatterv, allgatherv and reduce_scatter");
    if (ask->counts && ask->count != UINT64_MAX)
        refuse("--count and --counts exclude each other");
    if (sizes && !has_table)
        refuse("--seed is for collectives whose blocks may differ");
    if (sizes && ask->counts)
        refuse("--counts and --seed exclude each other");
    if (ask->layout && !has_table)
        refuse("--layout is for collectives whose blocks may differ");
    if (ask->layout && (ask->counts || ask->seed != UINT64_MAX))
        refuse("--layout excludes --counts and --seed");
    if (ask->group && ask->places)
        refuse("--group and --places exclude each other");
    if (ask->places && (ask->nodes.nodes || ask->layout || ask->graph))
        refuse("--places excludes --nodes, --layout and --graph");
    if (ask->root_tables && (!ask->layout || !coll_is(COLL_ROOTED, c)))
        refuse("--root-tables goes with --layout, for gatherv and scatterv");
}
