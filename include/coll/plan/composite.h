/* coll/plan/composite.h — composite algorithms: what they use inside, and memory for it
 *
 *   size_t tables[…];                               // coll_workspace_tables(&problem) of them
 *   coll_workspace workspace;                       // at a fixed place, as long as the plan
 *   coll_workspace_init(&workspace, rank, tables, n);
 *   coll_plan plan;
 *   status = coll_plan_build(&plan, &coll_dpml_allreduce.algorithm, &problem, NULL, &workspace);
 *
 *   const coll_binding ring = {COLL_INTER, &coll_ring_allreduce, NULL};
 *   workspace.bindings = &ring;                     // before: across the nodes, not the default one
 *   workspace.n_bindings = 1;
 *
 * An algorithm with the trait COLL_NEEDS_BUILD works in levels: it runs some algorithm among the
 * ranks of a node, some algorithm among leaders of the nodes, and so on. To each level any
 * algorithm can be bound that solves the collective of the level. A composite
 * algorithm is a record with a function behind it that makes its phases; all readers of plans
 * treat its plan as any other, but for one thing: a plan is made for one rank, and on any other
 * it has no steps, as the ranks of different nodes do different things.
 *
 * Among nodes that have groups (coll_beyond) an algorithm may be bound to the inter-node level that is
 * composite itself: its nodes are the groups, its ranks the nodes. So there are three levels: ranks of
 * a node, nodes of a group, groups; and more if groups have groups. Such plans need workspaces that are
 * nested in the first, which coll_workspace_in makes; the algorithms inside are default ones.
 *
 * A composite algorithm writes this rank's phases (phase.h) into the workspace: inner plans, placed
 * among the ranks and the spaces of the outer plan, one after the other. Compositions of one's own
 * are in compose.h. coll_plan_build makes a plan of any algorithm, and needs no workspace where
 * there is no composite algorithm. Nothing here allocates, blocks or communicates.
 */
#ifndef COLL_PLAN_COMPOSITE_H
#define COLL_PLAN_COMPOSITE_H

#include "phase.h"

/* ---- what is used inside ----------------------------------------------------------------- */

/* Levels: among the ranks of a node, and among leaders of the nodes. */
typedef enum coll_level { COLL_INTRA, COLL_INTER, COLL_LEVELS } coll_level;

/* The name of a level, never NULL. */
COLL_INLINE const char *coll_level_name(coll_level level)
{
    return level == COLL_INTRA ? "intra" : level == COLL_INTER ? "inter" : "unknown level";
}

/* An algorithm that is bound to a level, for the collectives that it solves. */
typedef struct coll_binding {
    coll_level level; /* at which level */
    const coll_algorithm *algorithm;
    const uint32_t *params; /* in its order; NULL: the default ones */
} coll_binding;

struct coll_workspace;

/* A composite algorithm. */
typedef struct coll_composite {
    coll_algorithm
        algorithm; /* first: a record with COLL_NEEDS_BUILD is part of a composite algorithm */
    /* Makes the phases. The plan is that of the record and the problem, without an inside. */
    coll_status (*build)(coll_plan *plan, struct coll_workspace *workspace);
    const coll_binding
        *defaults; /* what is bound to the levels unless the caller says otherwise */
    uint32_t n_defaults;
} coll_composite;

/* Its record: that of an algorithm with the traits of what works in levels, what makes the phases,
 * and what is bound to the levels.
 *
 *   COLL_COMPOSITE(coll_two_level_bcast, "two_level", "Wu 2005",
 *       COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
 *       window, sends, COLL_NO_PARAMS,
 *       build, COLL_BINDINGS(n, array));
 */
#define COLL_COMPOSITE(symbol, ...)                                                            \
    COLL_CONST(coll_composite, symbol, COLL_I_COMPOSITE(__VA_ARGS__))
/* The algorithms that are bound unless the caller says otherwise. */
#define COLL_BINDINGS(n, array) (array), (n)
#define COLL_I_COMPOSITE(name, source, collectives, traits, window, sends, n_params, params,   \
                         prepare, ...)                                                         \
    {                                                                                          \
        COLL_I_ALGORITHM(name, source, collectives,                                            \
                         COLL_NEEDS_BUILD | COLL_USES_NODES | (traits), window, sends,         \
                         n_params, params, prepare, coll_i_sequence_steps,                     \
                         coll_i_sequence_step, coll_i_composite_scratch, NULL,                 \
                         coll_i_composite_shared, coll_i_composite_is_member, 0),              \
            __VA_ARGS__                                                                        \
    }

/* The record of a composite algorithm (COLL_NEEDS_BUILD). */
COLL_INLINE const coll_composite *coll_composite_of(const coll_algorithm *algorithm)
{
    return (const coll_composite *)(const void *)algorithm;
}

/* ---- memory ------------------------------------------------------------------------------ */

enum { COLL_WORKSPACE_PLANS = 7, COLL_WORKSPACE_PHASES = 8, COLL_WORKSPACE_NESTED = 2 };

/* Inner plans and phases of one rank's plan. */
typedef struct coll_workspace {
    coll_composition sequence; /* first: the phases, made by coll_plan_build */
    /* the caller's, until coll_plan_build */
    uint32_t rank;
    const coll_binding *bindings; /* the first that fits is taken; else a default one */
    uint32_t n_bindings;
    size_t *tables;
    size_t room;
    /* COLL_WORKSPACE_NESTED of them, for composite algorithms that are bound to the inter-node level
     * of nodes that have groups (coll_beyond); NULL: there are none */
    struct coll_workspace *nested;
    /* made by coll_plan_build */
    uint32_t p, n_plans; /* ranks; plans made so far */
    uint32_t n_nested;   /* … and those of them that are composite */
    uint32_t wanted;     /* mask of levels that the composite algorithm asked for */
    uint32_t found;      /* … and of those whose algorithm it took from `bindings` */
    coll_nodes nodes;
    coll_node at;              /* the rank's place */
    coll_fast_divisor leaders; /* of a node: division by their number, … */
    size_t part;               /* … the elements that each of them takes care of, … */
    const size_t *below; /* … and those below each rank, where rails chose them; else NULL */
    uint32_t sockets;    /* of a node, at most: runs of nearly equal length */
    uint32_t runs;       /* of a node, of equal length but the last: those of a phase within */
    size_t scratch, shared; /* elements of each */
    coll_plan plans[COLL_WORKSPACE_PLANS];
    coll_phase phases[COLL_WORKSPACE_PHASES];
} coll_workspace;

/* Entries of `tables` that a workspace needs. O(nodes), or O(p) where every rank has a table of all
 * blocks, or nodes have rails. */
COLL_INLINE size_t coll_workspace_tables(const coll_problem *problem)
{
    const uint32_t v = COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_REDUCE_SCATTER) |
                       COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV);
    const uint32_t h = coll_nodes_count(&problem->nodes);
    return 4 * ((size_t)h + coll_nodes_largest(&problem->nodes, problem->p)) +
           (problem->collective == COLL_ALLTOALL ? (size_t)h + 2 : 0) +
           (coll_is(v, problem->collective) ? problem->p : 0) +
           (coll_nodes_rails(&problem->nodes) ? 2 * (size_t)problem->p : 0);
}

/* The same, of those that are nested: they may have to solve something else for the nodes. */
COLL_INLINE size_t coll_i_workspace_tables(const coll_nodes *nodes, uint32_t p)
{
    return 5 * (size_t)coll_nodes_count(nodes) + 4 * (size_t)coll_nodes_largest(nodes, p) + 2 +
           (coll_nodes_rails(nodes) ? 3 : 1) * (size_t)p;
}

/* Gives a workspace its memory: `room` entries of tables, coll_workspace_tables or more. */
COLL_INLINE void coll_workspace_init(coll_workspace *workspace, uint32_t rank, size_t *tables,
                                     size_t room)
{
    workspace->rank = rank;
    workspace->bindings = NULL;
    workspace->n_bindings = 0;
    workspace->tables = tables;
    workspace->room = room;
    workspace->nested = NULL;
}

/* Goes from nodes to their groups, of which *p says how many ranks they have; NULL: there are none.
 * Level 0 are the nodes themselves. */
COLL_INLINE const coll_nodes *coll_i_workspace_groups(const coll_nodes *nodes, uint32_t level,
                                                      uint32_t *p)
{
    if (level == COLL_GROUPS_MOST || !nodes->beyond || !nodes->beyond->groups)
        return NULL;
    *p = coll_nodes_count(nodes);
    return nodes->beyond->groups;
}

/* Bytes of memory, aligned for pointers, for a workspace with its tables and, where nodes have groups,
 * those that are nested … */
COLL_INLINE size_t coll_workspace_bytes(const coll_problem *problem)
{
    const coll_nodes *nodes = &problem->nodes;
    size_t bytes = sizeof(coll_workspace) + coll_workspace_tables(problem) * sizeof(size_t),
           n = 1;
    uint32_t p = problem->p;
    for (uint32_t level = 0; (nodes = coll_i_workspace_groups(nodes, level, &p)) != NULL;
         level++) {
        n *= COLL_WORKSPACE_NESTED;
        bytes +=
            n * (sizeof(coll_workspace) + coll_i_workspace_tables(nodes, p) * sizeof(size_t));
    }
    return bytes;
}

/* … and the workspace in it. */
COLL_INLINE coll_workspace *coll_workspace_in(void *memory, const coll_problem *problem,
                                              uint32_t rank)
{
    coll_workspace *workspace = (coll_workspace *)memory, *outer = workspace;
    const coll_nodes *nodes = &problem->nodes;
    size_t room = coll_workspace_tables(problem), n = 1;
    size_t *tables = (size_t *)(void *)(workspace + 1);
    uint32_t p = problem->p;
    coll_workspace_init(workspace, rank, tables, room);
    for (uint32_t level = 0; (nodes = coll_i_workspace_groups(nodes, level, &p)) != NULL;
         level++) {
        coll_workspace *nested = (coll_workspace *)(void *)(tables + n * room);
        room = coll_i_workspace_tables(nodes, p);
        tables = (size_t *)(void *)(nested + n * COLL_WORKSPACE_NESTED);
        for (size_t i = 0; i < n * COLL_WORKSPACE_NESTED; i++) {
            coll_workspace_init(&nested[i], 0, tables + i * room, room);
            if (i % COLL_WORKSPACE_NESTED == 0)
                outer[i / COLL_WORKSPACE_NESTED].nested = &nested[i];
        }
        outer = nested;
        n *= COLL_WORKSPACE_NESTED;
    }
    return workspace;
}

/* ---- steps of a built plan --------------------------------------------------------------- */

COLL_INLINE const coll_workspace *coll_i_workspace(const coll_plan *plan)
{
    return (const coll_workspace *)plan->inner;
}

COLL_INLINE size_t coll_i_composite_scratch(const coll_plan *plan, uint32_t rank)
{
    return rank == coll_i_workspace(plan)->rank ? coll_i_workspace(plan)->scratch : 0;
}

COLL_INLINE size_t coll_i_composite_shared(const coll_plan *plan)
{
    return coll_i_workspace(plan)->shared;
}

/* Who reduces in the network: all ranks, or the first of each node or socket. O(log nodes), and what
 * coll_group_rank takes. Without its workspace, as in a cache, a plan does not tell of sockets. */
COLL_INLINE bool coll_i_composite_is_member(const void *of, uint32_t group, uint32_t outer)
{
    const coll_plan *plan = (const coll_plan *)of;
    const uint32_t p = plan->problem.p, rank = coll_group_rank(&plan->group, p, outer);
    uint32_t sockets = 1;
    if (group == COLL_GROUP_SOCKETS && !plan->inner)
        return false;
    if (group == COLL_GROUP_SOCKETS)
        sockets = coll_i_workspace(plan)->sockets;
    return rank != COLL_RANK_NONE &&
           (group == COLL_GROUP_ALL || coll_node_leads(&plan->problem.nodes, p, sockets, rank));
}

/* ---- making a plan ----------------------------------------------------------------------- */

/* Writes a rank's place, field by field: compilers may call memcpy to assign a structure. */
COLL_INLINE void coll_i_node_write(coll_node *at, const coll_nodes *nodes, uint32_t p,
                                   uint32_t rank)
{
    const coll_node place = coll_node_of(nodes, p, rank);
    at->index = place.index;
    at->first = place.first;
    at->ranks = place.ranks;
    at->local = place.local;
}

/* Steps and SCRATCH of a phase; false: too many. */
COLL_INLINE bool coll_i_composite_finish(coll_workspace *workspace, coll_phase *phase)
{
    const uint32_t rank = phase->seat.rank;
    size_t scratch, one;
    coll_i_phase_follow(&workspace->sequence, phase);
    phase->base[COLL_SCRATCH] += phase->skip;
    phase->skip = 0;
    phase->steps = 1;
    if (!phase->plan)
        return true;
    one = coll_plan_steps(phase->plan, rank);
    phase->slot = coll_plan_scratch(phase->plan, rank);
    if (!coll_multiply(one, phase->all, &phase->steps) ||
        !coll_multiply(phase->slot, phase->batch, &scratch) || one > UINT32_MAX / phase->pieces)
        return false;
    phase->by_copy = coll_fast_divisor_of(one ? (uint32_t)one * phase->pieces : 1);
    phase->by_batch = coll_fast_divisor_of(one ? (uint32_t)one * phase->batch : 1);
    if (scratch > 0 && phase->all > 0)
        scratch += coll_ref_offset(phase->base[COLL_SCRATCH]);
    if (phase->all > 0 && workspace->scratch < scratch)
        workspace->scratch = scratch;
    return true;
}

/* Makes *plan as coll_plan_init does, also of composite algorithms: for the rank
 * that the workspace was given, which may be NULL for all other algorithms. Workspace and tables
 * stay in place as long as the plan is used. Errors besides those of coll_plan_init, also of
 * inner plans: COLL_ERR_MEMORY too few tables; COLL_ERR_COLLECTIVE none of the algorithms in
 * workspace->bindings for a level solves what there is to solve in it; COLL_ERR_GROUP one reaches
 * ranks that are not its own; COLL_ERR_WINDOW. */
COLL_INLINE coll_status coll_plan_build(coll_plan *plan, const coll_algorithm *algorithm,
                                        const coll_problem *problem, const uint32_t *params,
                                        coll_workspace *workspace)
{
    const coll_composite *composite;
    coll_status status;
    uint32_t roles = 0;
    if (!algorithm || !(algorithm->traits & COLL_NEEDS_BUILD))
        return coll_plan_init(plan, algorithm, problem, params);
    if (!workspace || (workspace->n_bindings > 0 && !workspace->bindings))
        return COLL_ERR_NULL;
    composite = coll_composite_of(algorithm);
    status = coll_i_plan_init(plan, algorithm, problem, params);
    if (status != COLL_OK)
        return status;
    if (workspace->rank >= problem->p)
        return COLL_ERR_RANK;
    if (workspace->room < coll_workspace_tables(problem))
        return COLL_ERR_MEMORY;
    if (!coll_beyond_check(&problem->nodes, problem->p))
        return COLL_ERR_NODES;
    plan->inner = workspace;
    coll_composition_init(&workspace->sequence, workspace->phases, 0);
    workspace->sequence.rank = workspace->rank;
    plan->traits &= COLL_USES_NODES | COLL_NEEDS_BUILD | COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED;
    plan->window = plan->sends = 1;
    workspace->p = problem->p;
    coll_i_nodes_assign(&workspace->nodes, &problem->nodes);
    coll_i_node_write(&workspace->at, &workspace->nodes, workspace->p, workspace->rank);
    workspace->leaders = coll_fast_divisor_of(1);
    workspace->sockets = workspace->runs = 1;
    workspace->below = NULL;
    workspace->n_nested = 0;
    workspace->n_plans = workspace->wanted = workspace->found = 0;
    workspace->scratch = workspace->shared = 0;
    status = composite->build(plan, workspace);
    if (status != COLL_OK)
        return status;
    for (uint32_t i = 0; i < composite->n_defaults; i++)
        roles |= 1u << composite->defaults[i].level;
    for (uint32_t i = 0; i < workspace->n_bindings; i++)
        if (!((roles & (workspace->found | ~workspace->wanted)) >>
                  workspace->bindings[i].level &
              1u))
            return COLL_ERR_COLLECTIVE;
    for (uint32_t i = 0; i < workspace->sequence.n; i++)
        if (!coll_i_composite_finish(workspace, &workspace->phases[i]))
            return COLL_ERR_OVERFLOW;
    return plan->window <= 32 ? COLL_OK : COLL_ERR_WINDOW;
}

/* ---- for composite algorithms ------------------------------------------------------------ */

/* The algorithm that is bound to a level for a collective; NULL: there is none. */
COLL_INLINE const coll_binding *coll_i_composite_use(const coll_plan *plan,
                                                     coll_workspace *workspace,
                                                     coll_level level,
                                                     coll_collective collective)
{
    const coll_composite *composite = coll_composite_of(plan->algorithm);
    workspace->wanted |= 1u << level;
    for (uint32_t i = 0; i < workspace->n_bindings; i++)
        if (workspace->bindings[i].level == level &&
            coll_is(workspace->bindings[i].algorithm->collectives, collective)) {
            workspace->found |= 1u << level;
            return &workspace->bindings[i];
        }
    for (uint32_t i = 0; i < composite->n_defaults; i++)
        if (composite->defaults[i].level == level &&
            coll_is(composite->defaults[i].algorithm->collectives, collective))
            return &composite->defaults[i];
    return NULL;
}

/* Makes the next inner plan. What it needs of the transport the outer plan needs. */
COLL_INLINE coll_status coll_i_composite_make(coll_plan *plan, coll_workspace *workspace,
                                              const coll_algorithm *algorithm,
                                              const uint32_t *params,
                                              const coll_problem *problem, coll_plan **inner)
{
    coll_plan *made = &workspace->plans[workspace->n_plans];
    const coll_status status = coll_plan_init(made, algorithm, problem, params);
    if (status != COLL_OK)
        return status;
    coll_i_phase_needs(plan, made, 1, false);
    workspace->n_plans++;
    *inner = made;
    return COLL_OK;
}

/* Makes the next inner plan by a composite algorithm among the nodes, whose nodes are their groups. It
 * has no memory that its ranks share, and meets nobody in the network. */
COLL_INLINE coll_status coll_i_composite_nest(coll_plan *plan, coll_workspace *workspace,
                                              const coll_binding *binding,
                                              const coll_problem *problem, coll_plan **inner)
{
    const unsigned never = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP;
    const coll_beyond *beyond = workspace->nodes.beyond;
    coll_plan *made = &workspace->plans[workspace->n_plans];
    coll_workspace *nested;
    coll_problem of;
    coll_status status;
    if (plan->algorithm->traits & COLL_NEEDS_INTER_GROUP)
        return COLL_ERR_GROUP; /* only the network finds who it is */
    if (!beyond || !beyond->groups || problem->p != coll_nodes_count(&workspace->nodes))
        return COLL_ERR_BUILD;
    if (!workspace->nested || workspace->n_nested == COLL_WORKSPACE_NESTED)
        return COLL_ERR_MEMORY;
    nested = &workspace->nested[workspace->n_nested++];
    nested->rank = workspace->at.index;
    coll_i_problem_assign(&of, problem);
    coll_i_nodes_assign(&of.nodes, beyond->groups);
    status = coll_plan_build(made, binding->algorithm, &of, binding->params, nested);
    if (status != COLL_OK)
        return status;
    if (made->traits & never)
        return made->traits & COLL_NEEDS_SHARED ? COLL_ERR_NODES : COLL_ERR_GROUP;
    coll_i_phase_needs(plan, made, 1, false);
    workspace->n_plans++;
    *inner = made;
    return COLL_OK;
}

/* The same, by the algorithm of a level. `group`: the phase's ranks are one. All ranks make
 * the same plans, also of phases that are not theirs, so that they agree on errors. */
COLL_INLINE coll_status coll_i_composite_play(coll_plan *plan, coll_workspace *workspace,
                                              coll_level level, const coll_problem *problem,
                                              bool group, coll_plan **inner)
{
    const unsigned all = COLL_NEEDS_MULTICAST | (group ? 0 : COLL_I_NEEDS_GROUP);
    const coll_binding *binding =
        coll_i_composite_use(plan, workspace, level, problem->collective);
    if (!binding)
        return COLL_ERR_COLLECTIVE;
    if ((binding->algorithm->traits & all) && problem->p != plan->problem.p)
        return COLL_ERR_GROUP; /* it would meet ranks that are not in the phase */
    if (level == COLL_INTER && (binding->algorithm->traits & COLL_NEEDS_BUILD))
        return coll_i_composite_nest(plan, workspace, binding, problem, inner);
    return coll_i_composite_make(plan, workspace, binding->algorithm, binding->params, problem,
                                 inner);
}

/* The problem of a level: of `p` ranks and the outer one's elements and operator. Ranks of a node
 * share memory; those of different nodes do not. */
COLL_INLINE void coll_i_composite_problem(const coll_plan *plan, coll_level level,
                                          coll_collective collective, uint32_t p, size_t count,
                                          coll_problem *problem)
{
    coll_problem_init(problem, collective, p, count, plan->problem.elem_bytes);
    problem->flags = plan->problem.flags & COLL_FLAG_COMMUTATIVE;
    if (level == COLL_INTER)
        coll_nodes_even(&problem->nodes, p, 1);
}

/* The next phase: an inner plan (NULL: an action) in which this is `rank`, and rank 0 the outer
 * plan's rank `first`; at the outer plan's spaces. */
COLL_INLINE coll_phase *coll_i_composite_phase(coll_workspace *workspace,
                                               const coll_plan *inner, uint32_t rank,
                                               uint32_t first)
{
    coll_phase *phase = &workspace->phases[workspace->sequence.n++];
    coll_phase_init(phase, inner);
    phase->map.group.base = first;
    phase->seat.rank = rank;
    return phase;
}

/* The same, of the leaders whose number is `copy`, one a node. */
COLL_INLINE coll_phase *coll_i_composite_leaders(coll_workspace *workspace,
                                                 const coll_plan *inner, uint32_t rank,
                                                 uint32_t copy)
{
    coll_phase *phase = coll_i_composite_phase(workspace, inner, rank, 0);
    phase->map.nodes = &workspace->nodes;
    phase->map.leaders = &workspace->leaders;
    phase->map.below = workspace->below;
    phase->map.p = workspace->p;
    phase->map.root_node = COLL_RANK_NONE;
    phase->map.lasts = false;
    phase->seat.copy = copy;
    return phase;
}

/* Where every node has one rank, there is nothing to do within. */
COLL_INLINE bool coll_i_composite_flat(const coll_workspace *workspace)
{
    return coll_nodes_largest(&workspace->nodes, workspace->p) == 1;
}

/* Ranks of one of the parts of a node of m ranks among which phases within are: all of them,
 * sockets, or runs. Parts have two lengths at most, unless rails make the runs (below: of the node). */
COLL_INLINE uint32_t coll_i_composite_part(const coll_workspace *workspace, const size_t *below,
                                           uint32_t m, uint32_t which)
{
    const uint32_t sockets = workspace->sockets < m ? workspace->sockets : m;
    if (workspace->runs > 1 && below) {
        const uint32_t begin = coll_i_rails_leader(below, m, which);
        return (which + 1 < workspace->runs ? coll_i_rails_leader(below, m, which + 1) : m) -
               begin;
    }
    if (workspace->runs > 1)
        return which == 0 ? m / workspace->runs
                          : m - (workspace->runs - 1) * (m / workspace->runs);
    return m / sockets + (which == 0 && m % sockets != 0 ? 1 : 0);
}

/* The most SHARED that a part of a node needs for a level: a larger one may need less. O(nodes). */
COLL_INLINE coll_status coll_i_composite_shared_most(coll_plan *plan, coll_workspace *workspace,
                                                     coll_level level, coll_problem *of,
                                                     size_t *shared)
{
    const coll_binding *binding = coll_i_composite_use(plan, workspace, level, of->collective);
    const uint32_t ranks = of->p, root = of->root, nodes = coll_nodes_count(&workspace->nodes);
    const uint32_t parts = workspace->below && workspace->runs > 1 ? workspace->runs : 2;
    coll_status status = COLL_OK;
    *shared = 0;
    if (!binding || !(binding->algorithm->traits & COLL_NEEDS_SHARED))
        return COLL_OK;
    if (of->in.counts || of->out.counts)
        return COLL_ERR_SHARED; /* what it needs depends on tables that nobody has */
    of->root = 0;
    for (uint32_t i = 0, before = 0; i < parts * nodes && status == COLL_OK;
         i++, before = of->p) {
        const uint32_t node = i / parts;
        const uint32_t first = coll_nodes_first(&workspace->nodes, workspace->p, node);
        coll_plan *inner;
        size_t needed;
        of->p = coll_i_composite_part(
            workspace, workspace->below ? workspace->below + first : NULL,
            coll_nodes_first(&workspace->nodes, workspace->p, node + 1) - first,
            i - node * parts);
        if (of->p == before)
            continue;
        status = coll_i_composite_play(plan, workspace, level, of, false, &inner);
        if (status != COLL_OK)
            continue;
        workspace->n_plans--;
        needed = coll_plan_shared(inner);
        *shared = needed > *shared ? needed : *shared;
    }
    of->p = ranks;
    of->root = root;
    if (status != COLL_OK)
        return status;
    return coll_i_addressable(*shared, plan->problem.elem_bytes) ? COLL_OK : COLL_ERR_OVERFLOW;
}

/* A phase of all ranks of this rank's node, by the algorithm of the level. It has SHARED
 * of its own. */
COLL_INLINE coll_status coll_i_composite_intra(coll_plan *plan, coll_workspace *workspace,
                                               coll_problem *of, coll_phase **phase)
{
    size_t shared;
    coll_plan *inner;
    coll_status status = coll_i_composite_shared_most(plan, workspace, COLL_INTRA, of, &shared);
    if (status == COLL_OK)
        status = coll_i_composite_play(plan, workspace, COLL_INTRA, of, false, &inner);
    if (status != COLL_OK)
        return status;
    *phase = coll_i_composite_phase(workspace, inner, workspace->at.local, workspace->at.first);
    (*phase)->base[COLL_SHARED] += workspace->shared;
    workspace->shared += shared;
    return COLL_OK;
}

/* Pieces of a batch, where a part has so many. The window grows with them, and sends in flight. */
COLL_INLINE uint32_t coll_i_composite_batch(coll_plan *plan, const coll_plan *inner,
                                            uint32_t pieces)
{
    const uint32_t fit = COLL_I_BATCH_WINDOW / inner->window;
    uint32_t batch = pieces;
    if (batch > COLL_I_BATCH)
        batch = COLL_I_BATCH;
    if (batch > fit)
        batch = fit > 0 ? fit : 1;
    coll_i_phase_needs(plan, inner, batch, false);
    return batch;
}

#endif /* COLL_PLAN_COMPOSITE_H */
