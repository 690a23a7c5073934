/* coll/lab/verify/beyond.h — what lies beyond the nodes of a case: rails, and groups of nodes
 *
 * Besides that the plans are right on them: leaders are spread over the rails. It is not asked which
 * ranks were chosen, but which ranks of a node have messages to other nodes. Use
 * lab/verify_grid.h, or this part alone. Hosted; allocates.
 */
#ifndef COLL_LAB_VERIFY_BEYOND_H
#define COLL_LAB_VERIFY_BEYOND_H

#include "../../plan/composite.h"
#include "memory.h"
#include "symbolic.h"

/* The rails of ranks, as `coll show --rails` takes them: a number of runs, or the rails of a node's
 * ranks, again and again. One line a kind: name, text. */
#define COLL_GRID_RAILS_LIST(X)                                                                \
    X(COLL_GRID_NO_RAILS, "1")                                                                 \
    X(COLL_GRID_RAILS_RUNS, "2")                                                               \
    X(COLL_GRID_RAILS_TURNS, "0,1")                                                            \
    X(COLL_GRID_RAILS_UNEQUAL, "0,2,2,1,2")

#define COLL_I_GRID_RAILS(name, text) name,
/* Which ranks of a node use which rail. */
typedef enum coll_grid_rails {
    COLL_GRID_RAILS_LIST(COLL_I_GRID_RAILS) COLL_GRID_RAILS
} coll_grid_rails;

/* The words of rails, never NULL. */
COLL_INLINE const char *coll_grid_rails_words(coll_grid_rails rails)
{
#define COLL_I_GRID_RAILS_CASE(name, text)                                                     \
    case name:                                                                                 \
        return text;
    switch (rails) {
        COLL_GRID_RAILS_LIST(COLL_I_GRID_RAILS_CASE)
    case COLL_GRID_RAILS:
        break;
    }
    return "unknown rails";
}

/* What lies beyond nodes, with its memory. */
typedef struct coll_i_beyond {
    coll_beyond beyond;
    coll_nodes groups;
    coll_i_memory rail, tables;
} coll_i_beyond;

COLL_INLINE void coll_i_beyond_release(coll_i_beyond *b)
{
    coll_i_release(&b->rail);
    coll_i_release(&b->tables);
}

/* Writes the rails of the p ranks on nodes by their words, which are those of a kind, or of --rails;
 * false: they are none. O(p). */
COLL_INLINE bool coll_i_rails_write(uint8_t *rail, const coll_nodes *nodes, uint32_t p,
                                    const char *words)
{
    uint8_t list[256];
    uint32_t n = 0;
    for (const char *at = words; n < sizeof list; at++) {
        uint32_t number = 0, digits = 0;
        for (; *at >= '0' && *at <= '9' && digits < 3; at++, digits++)
            number = 10 * number + (uint32_t)(*at - '0');
        if (digits == 0 || number > COLL_RAILS_MOST || (*at && *at != ','))
            return false;
        list[n++] = (uint8_t)number;
        if (!*at)
            break;
        if (n == sizeof list)
            return false;
    }
    if (n == 1 && list[0] > 0) {
        coll_rails_runs(rail, nodes, p, list[0]);
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        if (n == 1 || list[i] == COLL_RAILS_MOST)
            return false;
    for (uint32_t rank = 0; rank < p; rank++)
        rail[rank] = list[coll_node_of(nodes, p, rank).local % n];
    return true;
}

/* Gives nodes rails, and groups of so many nodes each, or uneven ones, where there are several nodes.
 * `uneven` writes the latter. False: no memory. */
COLL_INLINE bool coll_i_beyond_make(coll_i_beyond *b, coll_nodes *nodes, uint32_t p,
                                    coll_grid_rails rails, uint32_t groups,
                                    void (*uneven)(coll_nodes *nodes, uint32_t p,
                                                   uint32_t *tables))
{
    const uint32_t h = coll_nodes_count(nodes);
    b->beyond.rail = NULL;
    b->beyond.groups = NULL;
    if (nodes->count == 0 || (rails == COLL_GRID_NO_RAILS && groups == 0))
        return true;
    nodes->beyond = &b->beyond;
    if (rails != COLL_GRID_NO_RAILS) {
        uint8_t *rail = (uint8_t *)coll_i_reserve_new(&b->rail, p);
        if (!rail)
            return false;
        (void)coll_i_rails_write(rail, nodes, p, coll_grid_rails_words(rails));
        b->beyond.rail = rail;
    }
    if (groups == 0)
        return true;
    b->beyond.groups = &b->groups;
    if (groups != UINT32_MAX) {
        coll_nodes_even(&b->groups, h, groups);
    } else {
        uint32_t *tables =
            (uint32_t *)coll_i_reserve_new(&b->tables, (2 * (size_t)h + 1) * sizeof *tables);
        if (!tables)
            return false;
        uneven(&b->groups, h, tables);
    }
    return true;
}

/* ---- leaders ----------------------------------------------------------------------------- */

/* Has a rank messages with ranks of other nodes? */
COLL_INLINE bool coll_i_rails_speaks(const coll_plan *plan, uint32_t rank)
{
    const coll_nodes *nodes = &plan->problem.nodes;
    const uint32_t p = plan->problem.p, own = coll_node_of(nodes, p, rank).index;
    const size_t steps = coll_plan_steps(plan, rank);
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < n; i++)
            if (acts[i].count != 0 && coll_i_has_peer(&acts[i]) &&
                acts[i].kind != COLL_DO_NETWORK_REDUCE &&
                coll_node_of(nodes, p, acts[i].peer).index != own)
                return true;
    }
    return false;
}

/* Are the ranks of a node that speak with other nodes spread over the rails? They are, if none has two
 * more than one that has a rank which does not speak. Where other ranks speak than l, as there is
 * less to say, or as all of them lead, nothing is asked. */
COLL_INLINE bool coll_i_rails_spread(coll_report *report, const coll_nodes *nodes,
                                     const coll_node *at, const bool *speaks, uint32_t l)
{
    uint32_t all[COLL_RAILS_MOST] = {0}, speak[COLL_RAILS_MOST] = {0}, n = 0;
    for (uint32_t t = 0; t < at->ranks; t++) {
        const uint32_t r = coll_rail_of(nodes, at->first + t);
        all[r]++;
        speak[r] += speaks[at->first + t];
        n += speaks[at->first + t];
    }
    for (uint32_t a = 0; n == l && a < COLL_RAILS_MOST; a++)
        for (uint32_t b = 0; b < COLL_RAILS_MOST; b++)
            if (speak[a] >= speak[b] + 2 && speak[b] < all[b])
                return coll_i_found(report, COLL_FOUND_RAIL, at->first, COLL_NO_STEP,
                                    "of its node %u ranks on rail %u and %u on rail %u, which "
                                    "has %u, speak with other nodes",
                                    speak[a], a, speak[b], b, all[b]);
    return true;
}

/* Are those of all nodes, of l leaders each? The plans are proven. False: not, or no memory. */
COLL_INLINE bool coll_i_rails_prove(coll_report *report,
                                    const coll_plan *(*plan_of)(void *arg, uint32_t rank),
                                    void *arg, uint32_t l)
{
    const coll_problem *of = &plan_of(arg, 0)->problem;
    const uint32_t p = of->p, nodes = coll_nodes_count(&of->nodes);
    bool *speaks, spread = true;
    if (nodes == 1 || !coll_nodes_rails(&of->nodes))
        return true;
    speaks = (bool *)malloc(p * sizeof *speaks);
    if (!speaks)
        return coll_i_no_memory(report);
    for (uint32_t rank = 0; rank < p; rank++)
        speaks[rank] = coll_i_rails_speaks(plan_of(arg, rank), rank);
    for (uint32_t i = 0; i < nodes && spread; i++) {
        const coll_node at = coll_node_at(&of->nodes, p, i, 0);
        spread = coll_i_rails_spread(report, &of->nodes, &at, speaks, l);
    }
    free(speaks);
    return spread;
}

#endif /* COLL_LAB_VERIFY_BEYOND_H */
