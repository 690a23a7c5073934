/* coll/select.h — which algorithm for which problem: rules, read from the top
 *
 *   coll_plan plan;
 *   status = coll_select(&problem, 0, &plan);              // by the first rule that fits
 *   puts(coll_select_rule(&problem, 0)->why);              // … and why that one
 *
 *   const coll_rule ring = {COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, SIZE_MAX,
 *                           &coll_ring_allreduce, COLL_DEFAULTS("because I say so")};
 *   const coll_rule_list mine = {&ring, 1, &coll_rules_built_in};   // mine first
 *   const coll_conditions conditions = {COLL_NEEDS_SHARED, COLL_GIVES_IDENTICAL};
 *   status = coll_select_from(&mine, &problem, &conditions, NULL, &plan, &rule);
 *
 * A rule fits when its collectives, ranks and bytes do, its algorithm keeps the conditions, and
 * coll_plan_init, or coll_plan_build, takes it: so no rule leads to an algorithm whose traits the
 * problem breaks. Of the built-in rules the last one of each collective fits everything. table.h
 * reads and writes rules as text. Nothing here allocates, blocks or communicates.
 *
 * All ranks choose alike, if they have the same lists and conditions: a choice depends only on what is
 * the same on all of them. Not on the counts of gatherv and scatterv, which the root alone knows,
 * nor on those of alltoallv and alltoallw, nor on whether a root works in place. The plan of a composite
 * algorithm is this rank's own, and what can be wrong with it may be wrong on this rank alone; so
 *   - a rule is passed over if the traits of its algorithm forbid the problem. The default inner
 *     algorithms cannot refuse more than that, as they take any number of ranks;
 *   - an inner algorithm that the rule names may refuse the size of some nodes, which only their
 *     ranks would notice. So all ranks first make the plan for one rank of each node size, and pass
 *     the rule over if one of these plans cannot be made;
 *   - any other failure is returned as an error, and no other rule is tried: too little memory in the
 *     workspace (COLL_ERR_MEMORY), a rank that is none (COLL_ERR_RANK), sizes that this rank cannot
 *     address (COLL_ERR_OVERFLOW), more than 32 slots of a window (COLL_ERR_WINDOW), tables that are
 *     broken (COLL_ERR_COUNTS).
 */
#ifndef COLL_SELECT_H
#define COLL_SELECT_H

#include "algos/binary_tree_scan.h"
#include "algos/binary_tree_exscan.h"
#include "algos/bruck_alltoall.h"
#include "algos/butterfly.h"
#include "algos/dissemination.h"
#include "algos/fnomial.h"
#include "algos/fnomial_gather.h"
#include "algos/linear.h"
#include "algos/linear_all.h"
#include "algos/linear_gather.h"
#include "algos/linear_neighbor.h"
#include "algos/linear_scan.h"
#include "algos/mesh_combining.h"
#include "algos/node_combining.h"
#include "algos/pairwise.h"
#include "algos/rabenseifner.h"
#include "algos/rabenseifner_reduce.h"
#include "algos/recursive_doubling_exscan.h"
#include "algos/recursive_halving.h"
#include "algos/recursive_multiplying.h"
#include "algos/recursive_multiplying_allgather.h"
#include "algos/recursive_multiplying_scan.h"
#include "algos/ring.h"
#include "algos/scatter_allgather.h"
#include "plan/composite.h"

/* Stands for the default value of a parameter. */
#define COLL_DEFAULT UINT32_MAX

/* For any number of ranks from p_least on. */
#define COLL_ANY_P UINT32_MAX

/* For which problems which algorithm is taken. */
typedef struct coll_rule {
    uint32_t collectives;     /* mask of COLL_BIT */
    uint32_t p_least, p_most; /* for so many ranks … */
    size_t bytes_least;       /* … and coll_problem_bytes from here … */
    size_t bytes_most;        /* … to here */
    const coll_algorithm *algorithm;
    /* In the algorithm's order; entries beyond its number are unused … */
    uint32_t param[COLL_PARAM_MAX];
    uint32_t in_bytes; /* … bit i: param[i] is in bytes here, and in elements there */
    const char *why;
    const coll_binding *bindings; /* what a composite algorithm uses inside: plan/composite.h */
    uint32_t n_bindings;          /* 0: the default ones */
    /* Several nodes, the largest of so many ranks; 0 and 0: whatever nodes there are */
    uint32_t ppn_least, ppn_most;
} coll_rule;

/* Rules, and the lists that are searched after them. Caller's memory. */
typedef struct coll_rule_list {
    const coll_rule *rules;
    size_t n;                          /* rules */
    const struct coll_rule_list *next; /* NULL: none */
} coll_rule_list;

/* What an algorithm may need and what it must give: the same on all ranks. `capabilities` is a
 * mask of COLL_NEEDS_SHARED, COLL_NEEDS_MULTICAST, COLL_NEEDS_NETWORK_REDUCE and
 * COLL_NEEDS_NETWORK_BARRIER, which the ranks' transport fulfils, and of COLL_NEEDS_PACKED, if in
 * the tables of all ranks each block lies right behind the last. `requirements` is a mask of
 * COLL_GIVES_IDENTICAL, which concerns allreduce alone, as the others give no two ranks the same
 * sum, and COLL_GIVES_REPRODUCIBLE, for all that reduce. */
typedef struct coll_conditions {
    unsigned capabilities, requirements; /* see above */
} coll_conditions;

#define COLL_I_KIB(n) ((size_t)(n)*1024)

/* The end of a rule: parameters, which of them are in bytes, and why. Segments are param[i]. */
#define COLL_DEFAULTS(why)                                                                     \
    {COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT}, 0, why, NULL, 0, 0, 0
/* The end of a rule: parameter i, a segment, is so many bytes. */
#define COLL_IN_SEGMENTS(i, bytes, why)                                                        \
    {i == 0 ? bytes : COLL_DEFAULT, i == 1 ? bytes : COLL_DEFAULT, COLL_DEFAULT,               \
     COLL_DEFAULT},                                                                            \
        1u << i, why, NULL, 0, 0, 0

/* clang-format off */
COLL_TABLE(coll_rule, coll_rules, {
    /* collectives, p from, to, bytes from, to, algorithm, parameters and why */
    {COLL_BIT(COLL_BARRIER), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_dissemination_barrier,
     COLL_DEFAULTS("the fewest rounds, and no root")},

    {COLL_BIT(COLL_BCAST), 8, COLL_ANY_P, COLL_I_KIB(512), SIZE_MAX, &coll_scatter_ring_bcast,
     COLL_DEFAULTS("long, many ranks: every element to every rank once, between neighbours")},
    {COLL_BIT(COLL_BCAST), 8, COLL_ANY_P, COLL_I_KIB(64), SIZE_MAX, &coll_scatter_allgather_bcast,
     COLL_DEFAULTS("longer, many ranks: every element to every rank once, in few rounds")},
    {COLL_BIT(COLL_BCAST), 3, COLL_ANY_P, COLL_I_KIB(256), SIZE_MAX, &coll_fnomial_bcast,
     COLL_IN_SEGMENTS(1, 65536, "long: segments keep all levels of the tree busy")},
    {COLL_BIT(COLL_BCAST), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_fnomial_bcast,
     COLL_DEFAULTS("short: a tree reaches all ranks in the fewest rounds")},

    {COLL_BIT(COLL_REDUCE), 4, COLL_ANY_P, COLL_I_KIB(16), SIZE_MAX, &coll_rabenseifner_reduce,
     COLL_DEFAULTS("longer: all ranks share the reducing")},
    {COLL_BIT(COLL_REDUCE), 3, COLL_ANY_P, COLL_I_KIB(256), SIZE_MAX, &coll_fnomial_reduce,
     COLL_IN_SEGMENTS(1, 65536, "long: segments keep all levels of the tree busy")},
    {COLL_BIT(COLL_REDUCE), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_fnomial_reduce,
     COLL_DEFAULTS("short: a tree collects all operands in the fewest rounds")},
    {COLL_BIT(COLL_REDUCE), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_reduce,
     COLL_DEFAULTS("operands are to be combined in one order for any root: by the root alone")},

    {COLL_BIT(COLL_ALLREDUCE), 4, COLL_ANY_P, COLL_I_KIB(4), COLL_I_KIB(1024) - 1, &coll_rabenseifner_allreduce,
     COLL_DEFAULTS("longer: the least traffic in few rounds, any operator")},
    {COLL_BIT(COLL_ALLREDUCE), 3, COLL_ANY_P, COLL_I_KIB(32), SIZE_MAX, &coll_ring_allreduce,
     COLL_DEFAULTS("long, and the operator commutes: the least traffic, between neighbours")},
    {COLL_BIT(COLL_ALLREDUCE), 4, COLL_ANY_P, COLL_I_KIB(1024), SIZE_MAX, &coll_rabenseifner_allreduce,
     COLL_DEFAULTS("long, operands in rank order: the least traffic")},
    {COLL_BIT(COLL_ALLREDUCE), 3, COLL_ANY_P, COLL_I_KIB(256), SIZE_MAX, &coll_fnomial_allreduce,
     COLL_IN_SEGMENTS(1, 65536, "long, operands in rank order: a tree up and down, in segments")},
    {COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_recursive_doubling_allreduce,
     COLL_DEFAULTS("short: the fewest rounds")},

    {COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER), 8, COLL_ANY_P, 0, 2047, &coll_fnomial_gather,
     COLL_DEFAULTS("short blocks: a tree spares the root most of the messages")},
    {COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_gather,
     COLL_DEFAULTS("every block goes straight to the root, once")},
    {COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_scatter,
     COLL_DEFAULTS("every block comes straight from the root, once")},

    {COLL_BIT(COLL_ALLGATHER), 3, COLL_ANY_P, 0, 4095, &coll_recursive_doubling_allgather,
     COLL_DEFAULTS("short blocks: the fewest rounds")},
    {COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_ring_allgather,
     COLL_DEFAULTS("all links busy, and only between neighbours")},

    {COLL_BIT(COLL_ALLTOALL), 8, COLL_ANY_P, 0, 256, &coll_bruck_alltoall,
     COLL_DEFAULTS("short blocks, many ranks: blocks travel together, in the fewest rounds")},
    {COLL_EXCHANGING, 1, COLL_ANY_P, 0, SIZE_MAX, &coll_pairwise_alltoall,
     COLL_DEFAULTS("one partner at a time, a different one for every rank")},

    {COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 4, COLL_ANY_P, 0, COLL_I_KIB(16),
     &coll_recursive_halving_reduce_scatter,
     COLL_DEFAULTS("short, and the operator commutes: the fewest rounds")},
    {COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 4, COLL_ANY_P, 0, COLL_I_KIB(16),
     &coll_butterfly_reduce_scatter,
     COLL_DEFAULTS("short, operands in rank order: few rounds")},
    {COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 1, COLL_ANY_P, 0, SIZE_MAX,
     &coll_ring_reduce_scatter,
     COLL_DEFAULTS("the operator commutes: only between neighbours")},
    {COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 1, COLL_ANY_P, 0, SIZE_MAX,
     &coll_pairwise_reduce_scatter,
     COLL_DEFAULTS("operands in rank order: every block straight to its rank")},
    {COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 1, COLL_ANY_P, 0, SIZE_MAX,
     &coll_linear_reduce_scatter,
     COLL_DEFAULTS("operands are to be combined in one order for all blocks: by rank 0 alone")},

    {COLL_BIT(COLL_SCAN), 8, COLL_ANY_P, COLL_I_KIB(64), SIZE_MAX, &coll_binary_tree_scan,
     COLL_IN_SEGMENTS(0, 16384, "long, many ranks: segments follow each other through a tree")},
    {COLL_BIT(COLL_SCAN), 3, COLL_ANY_P, COLL_I_KIB(64), SIZE_MAX, &coll_linear_scan,
     COLL_IN_SEGMENTS(0, 16384, "long: segments follow each other along the ranks")},
    {COLL_BIT(COLL_SCAN), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_recursive_doubling_scan,
     COLL_DEFAULTS("short: the fewest rounds")},
    {COLL_BIT(COLL_EXSCAN), 8, COLL_ANY_P, COLL_I_KIB(64), SIZE_MAX, &coll_binary_tree_exscan,
     COLL_IN_SEGMENTS(0, 16384, "long, many ranks: segments follow each other through a tree")},
    {COLL_BIT(COLL_EXSCAN), 3, COLL_ANY_P, COLL_I_KIB(64), SIZE_MAX, &coll_linear_exscan,
     COLL_IN_SEGMENTS(0, 16384, "long: segments follow each other along the ranks")},
    {COLL_BIT(COLL_EXSCAN), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_recursive_doubling_exscan,
     COLL_DEFAULTS("short: the fewest rounds")},

    {COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLTOALL), 1, COLL_ANY_P, 0, 1024,
     &coll_mesh_combining, COLL_DEFAULTS("short, and there is a route: the fewest messages")},
    {COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLTOALL), 1, COLL_ANY_P, 0, 1024,
     &coll_node_combining, COLL_DEFAULTS("short, and there is a route by nodes: few messages")},
    {COLL_NEIGHBORLY, 1, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_neighbor,
     COLL_DEFAULTS("every block straight to its neighbour")},
});
/* clang-format on */

/* How many built-in rules there are. */
#define COLL_RULE_COUNT (sizeof coll_rules / sizeof coll_rules[0])

/* The built-in rules: the last list of every chain. */
COLL_CONST(coll_rule_list, coll_rules_built_in, {coll_rules, COLL_RULE_COUNT, NULL});

/* What a rule's bytes are compared with: the bytes of the vector, or of one block (allgatherv,
 * reduce_scatter: of an average one); 0 where the ranks do not all know it. SIZE_MAX if it
 * overflows. */
COLL_INLINE size_t coll_problem_bytes(const coll_problem *problem)
{
    const coll_layout *layout = NULL;
    size_t elements = problem->count, bytes;
    switch (problem->collective) {
    case COLL_BARRIER:
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
    case COLL_NEIGHBOR_ALLGATHERV:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        return 0;
    case COLL_ALLGATHERV:
        layout = &problem->out;
        break;
    case COLL_REDUCE_SCATTER:
        layout = &problem->in;
        break;
    default:
        break;
    }
    if (layout && layout->counts)
        elements = coll_i_layout_elements(layout, 0, problem->p) / problem->p;
    return coll_multiply(elements, problem->elem_bytes, &bytes) ? bytes : SIZE_MAX;
}

/* Is the rule for such problems, whose bytes are those of coll_problem_bytes? */
COLL_INLINE bool coll_i_rule_covers(const coll_rule *rule, const coll_problem *problem,
                                    size_t bytes)
{
    const uint32_t ppn = coll_nodes_largest(&problem->nodes, problem->p);
    return coll_is(rule->collectives, problem->collective) && problem->p >= rule->p_least &&
           problem->p <= rule->p_most && bytes >= rule->bytes_least &&
           bytes <= rule->bytes_most &&
           (rule->ppn_most == 0 || (coll_nodes_count(&problem->nodes) > 1 &&
                                    ppn >= rule->ppn_least && ppn <= rule->ppn_most));
}

/* Does a rule for such problems name a composite algorithm? Then coll_select_from
 * needs a workspace, lest it is passed over. The same on all ranks. */
COLL_INLINE bool coll_select_builds(const coll_rule_list *lists, const coll_problem *problem)
{
    const size_t bytes = coll_problem_bytes(problem);
    for (; lists; lists = lists->next)
        for (size_t i = 0; i < lists->n; i++)
            if ((lists->rules[i].algorithm->traits & COLL_NEEDS_BUILD) &&
                coll_i_rule_covers(&lists->rules[i], problem, bytes))
                return true;
    return false;
}

/* What of a mask of COLL_NEEDS_… a transport may lack, in a word or three: the first one there is. */
COLL_INLINE const char *coll_capability_text(unsigned needs)
{
    return needs & COLL_NEEDS_SHARED            ? "shared memory"
           : needs & COLL_NEEDS_MULTICAST       ? "multicasts"
           : needs & COLL_NEEDS_NETWORK_BARRIER ? "barriers in the network"
           : needs & COLL_NEEDS_NETWORK_REDUCE  ? "reductions in the network"
                                                : "nothing";
}

/* What the algorithm needs of these and does not find. */
COLL_INLINE unsigned coll_conditions_lack(const coll_conditions *conditions, unsigned traits)
{
    return traits & (COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP) &
           ~conditions->capabilities;
}

/* What do the conditions have against an algorithm? `traits` are those of its record or, in a plan
 * that is composite, of the plan. */
COLL_INLINE coll_status coll_i_conditions_check(const coll_conditions *conditions,
                                                unsigned traits, coll_collective collective)
{
    unsigned requirements = 0;
    if (collective == COLL_ALLREDUCE)
        requirements |= COLL_GIVES_IDENTICAL;
    if (coll_is(COLL_REDUCING, collective))
        requirements |= COLL_GIVES_REPRODUCIBLE;
    if (coll_conditions_lack(conditions, traits))
        return COLL_ERR_CAPABILITY;
    return conditions->requirements & requirements & ~traits ? COLL_ERR_PROMISE : COLL_OK;
}

/* What speaks against an algorithm that a plan made on one rank cannot tell, as only some of the
 * ranks would see it? */
COLL_INLINE coll_status coll_i_agreement_check(const coll_conditions *conditions,
                                               unsigned traits, coll_collective collective)
{
    const unsigned tables = COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                            COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_ALLTOALLV) |
                            COLL_BIT(COLL_ALLTOALLW) | COLL_BIT(COLL_REDUCE_SCATTER);
    if ((traits & COLL_NEEDS_OUT_OF_PLACE) && coll_is(COLL_ROOTED, collective))
        return COLL_ERR_IN_PLACE;
    if ((traits & COLL_NEEDS_PACKED & ~conditions->capabilities) && coll_is(tables, collective))
        return COLL_ERR_LAYOUT; /* where blocks lie is each rank's own affair */
    return (traits & COLL_NEEDS_COUNTS) &&
                   (collective == COLL_GATHERV || collective == COLL_SCATTERV)
               ? COLL_ERR_COUNTS
               : COLL_OK;
}

/* Is this error one of the algorithm, so that another one may do? Any other is the problem's own,
 * or this rank's. */
COLL_INLINE bool coll_i_passes_over(coll_status status, bool built)
{
    switch (status) {
    case COLL_ERR_ORDER:
    case COLL_ERR_IN_PLACE:
    case COLL_ERR_SHAPE:
    case COLL_ERR_PARAM:
    case COLL_ERR_LAYOUT:
    case COLL_ERR_NODES:
    case COLL_ERR_ROUTE:
        return true;
    case COLL_ERR_COLLECTIVE: /* of what is used inside */
    case COLL_ERR_GROUP:
    case COLL_ERR_SHARED:
        return built;
    default:
        return false;
    }
}

/* The rule's parameters for elements of this size. */
COLL_INLINE void coll_i_rule_params(const coll_rule *rule, size_t elem_bytes, uint32_t *param)
{
    const coll_algorithm *algorithm = rule->algorithm;
    for (uint32_t i = 0; i < algorithm->n_params && i < COLL_PARAM_MAX; i++) {
        param[i] = rule->param[i];
        if (param[i] == COLL_DEFAULT)
            param[i] = algorithm->params[i].default_value;
        else if (((rule->in_bytes >> i) & 1u) && param[i] > 0)
            param[i] = elem_bytes < param[i] ? param[i] / (uint32_t)elem_bytes : 1;
    }
}

/* Makes the plan of a rule whose algorithm is composite. Where the rule says of what, for a
 * rank of each size of node first, so that all ranks agree: O(nodes). */
COLL_INLINE coll_status coll_i_rule_build(const coll_rule *rule, const coll_problem *problem,
                                          const coll_conditions *conditions,
                                          const uint32_t *param, coll_workspace *workspace,
                                          coll_plan *plan)
{
    const uint32_t rank = workspace->rank;
    const uint32_t nodes = rule->n_bindings > 0 ? coll_nodes_count(&problem->nodes) : 0;
    coll_status status = COLL_OK;
    workspace->bindings = rule->bindings;
    workspace->n_bindings = rule->n_bindings;
    for (uint32_t i = 0; i < rule->n_bindings; i++) {
        status = coll_i_agreement_check(conditions, rule->bindings[i].algorithm->traits,
                                        problem->collective);
        if (status == COLL_ERR_IN_PLACE)
            return status;
    }
    status = COLL_OK;
    for (uint32_t i = 0, before = 0; i < nodes && status == COLL_OK; i++) {
        const uint32_t first = coll_nodes_first(&problem->nodes, problem->p, i);
        const uint32_t ranks = coll_nodes_first(&problem->nodes, problem->p, i + 1) - first;
        if (ranks == before)
            continue;
        before = ranks;
        workspace->rank = first;
        status = coll_plan_build(plan, rule->algorithm, problem, param, workspace);
    }
    workspace->rank = rank;
    return status == COLL_OK ? coll_plan_build(plan, rule->algorithm, problem, param, workspace)
                             : status;
}

/* Makes the plan of a rule that covers the problem. *passed: it does not fit, for the reason that
 * is returned. */
COLL_INLINE coll_status coll_i_rule_plan(const coll_rule *rule, const coll_problem *problem,
                                         const coll_conditions *conditions,
                                         coll_workspace *workspace, coll_plan *plan,
                                         bool *passed)
{
    const unsigned traits = rule->algorithm->traits;
    const bool built = (traits & COLL_NEEDS_BUILD) != 0;
    uint32_t param[COLL_PARAM_MAX];
    coll_status status = coll_i_conditions_check(conditions, traits, problem->collective);
    if (status == COLL_OK)
        status = coll_i_agreement_check(conditions, traits, problem->collective);
    if (status == COLL_OK && built && !workspace)
        status = COLL_ERR_BUILD;
    *passed = status != COLL_OK;
    if (*passed)
        return status;
    coll_i_rule_params(rule, problem->elem_bytes, param);
    if (!built) {
        status = coll_plan_init(plan, rule->algorithm, problem, param);
        *passed = coll_i_passes_over(status, false);
        return status;
    }
    status = coll_i_rule_build(rule, problem, conditions, param, workspace, plan);
    *passed = coll_i_passes_over(status, true);
    if (status == COLL_OK) {
        status = coll_i_conditions_check(conditions, plan->traits, problem->collective);
        *passed = status != COLL_OK;
    }
    return status;
}

/* Chooses an algorithm and its parameters for a problem by the first rule of the lists that fits,
 * makes the plan, and writes the rule to *found, unless that is NULL. `workspace`, as
 * coll_workspace_init leaves it, with coll_workspace_tables(problem) tables or more, is for
 * composite algorithms: what it uses inside is set by the rule, and it stays in place as long as
 * such a plan is used; NULL passes such rules over. All ranks give a workspace, or none does.
 * Returns what coll_plan_build does; if no rule fits, what the last one that covers the problem
 * has against it, COLL_ERR_CAPABILITY, COLL_ERR_PROMISE and COLL_ERR_BUILD among it, or
 * COLL_ERR_COLLECTIVE if none does. *plan is usable, and *found not NULL, if it returns COLL_OK. */
COLL_INLINE coll_status coll_select_from(const coll_rule_list *lists,
                                         const coll_problem *problem,
                                         const coll_conditions *conditions,
                                         coll_workspace *workspace, coll_plan *plan,
                                         const coll_rule **found)
{
    coll_status status = COLL_ERR_COLLECTIVE;
    size_t bytes;
    if (found)
        *found = NULL;
    if (!lists || !problem || !conditions || !plan)
        return COLL_ERR_NULL;
    if (problem->p == 0)
        return COLL_ERR_RANKS;
    if ((unsigned)problem->collective >= COLL_COLLECTIVES)
        return COLL_ERR_COLLECTIVE;
    if (problem->elem_bytes == 0)
        return COLL_ERR_TYPE;
    bytes = coll_problem_bytes(problem);
    for (; lists; lists = lists->next)
        for (size_t i = 0; i < lists->n; i++) {
            const coll_rule *rule = &lists->rules[i];
            bool passed;
            if (!coll_i_rule_covers(rule, problem, bytes))
                continue;
            status = coll_i_rule_plan(rule, problem, conditions, workspace, plan, &passed);
            if (passed)
                continue;
            if (found && status == COLL_OK)
                *found = rule;
            return status;
        }
    return status;
}

/* The same by the built-in rules, of algorithms that are not composite. `capabilities` as in
 * coll_conditions. */
COLL_INLINE coll_status coll_select(const coll_problem *problem, unsigned capabilities,
                                    coll_plan *plan)
{
    coll_conditions conditions;
    conditions.capabilities = capabilities;
    conditions.requirements = 0;
    return coll_select_from(&coll_rules_built_in, problem, &conditions, NULL, plan, NULL);
}

/* The rule by which coll_select chooses; NULL where it returns an error. */
COLL_INLINE const coll_rule *coll_select_rule(const coll_problem *problem,
                                              unsigned capabilities)
{
    const coll_rule *rule;
    coll_conditions conditions;
    coll_plan plan;
    conditions.capabilities = capabilities;
    conditions.requirements = 0;
    (void)coll_select_from(&coll_rules_built_in, problem, &conditions, NULL, &plan, &rule);
    return rule;
}

#endif /* COLL_SELECT_H */
