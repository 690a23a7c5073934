/* coll/select.h — which algorithm for which problem: a table of rules, read from the top
 *
 *   coll_plan plan;
 *   status = coll_select(&problem, 0, &plan);              // by the first rule that fits
 *   puts(coll_select_rule(&problem, 0)->why);              // … and why that one
 *
 * A rule fits when its collectives, ranks and bytes do, and coll_plan_init takes its algorithm:
 * so no rule leads to an algorithm whose traits the problem breaks. The last rule of each
 * collective fits everything. A choice depends only on what is the same on all ranks: not on
 * the counts of gatherv and scatterv, which the root alone knows, nor on those of alltoallv
 * and alltoallw, nor on whether a root works in place. Nothing here allocates, blocks or communicates.
 */
#ifndef COLL_SELECT_H
#define COLL_SELECT_H

#include "registry.h"

/* Stands for the usual value of a parameter. */
#define COLL_USUAL UINT32_MAX

typedef struct coll_rule {
    uint32_t collectives; /* mask of COLL_BIT */
    uint32_t p_least;     /* for this many ranks or more … */
    size_t bytes_least;   /* … and coll_problem_bytes from here … */
    size_t bytes_most;    /* … to here */
    const coll_algorithm *algorithm;
    uint32_t param
        [COLL_PARAM_MAX]; /* in the algorithm's order; entries beyond its number are unused … */
    uint32_t in_bytes;    /* … bit i: param[i] is in bytes here, and in elements there */
    const char *why;
} coll_rule;

#define COLL_I_KIB(n) ((size_t)(n)*1024)

/* The end of a row: parameters, which of them are in bytes, and why. Segments are param[i]. */
#define COLL_I_AS_USUAL(why) {COLL_USUAL, COLL_USUAL, COLL_USUAL, COLL_USUAL}, 0, why
#define COLL_I_SEGMENTS(i, bytes, why)                                                         \
    {i == 0 ? bytes : COLL_USUAL, i == 1 ? bytes : COLL_USUAL, COLL_USUAL, COLL_USUAL},        \
        1u << i, why

/* clang-format off */
static const coll_rule coll_rules[] = {
    /* collectives, least p, bytes from, to, algorithm, parameters and why */
    {COLL_BIT(COLL_BARRIER), 1, 0, SIZE_MAX, &coll_dissemination_barrier,
     COLL_I_AS_USUAL("the fewest rounds, and no root")},

    {COLL_BIT(COLL_BCAST), 8, COLL_I_KIB(512), SIZE_MAX, &coll_scatter_ring_bcast,
     COLL_I_AS_USUAL("long, many ranks: every element to every rank once, between neighbours")},
    {COLL_BIT(COLL_BCAST), 8, COLL_I_KIB(64), SIZE_MAX, &coll_scatter_allgather_bcast,
     COLL_I_AS_USUAL("longer, many ranks: every element to every rank once, in few rounds")},
    {COLL_BIT(COLL_BCAST), 3, COLL_I_KIB(256), SIZE_MAX, &coll_fnomial_bcast,
     COLL_I_SEGMENTS(1, 65536, "long: segments keep all levels of the tree busy")},
    {COLL_BIT(COLL_BCAST), 1, 0, SIZE_MAX, &coll_fnomial_bcast,
     COLL_I_AS_USUAL("short: a tree reaches all ranks in the fewest rounds")},

    {COLL_BIT(COLL_REDUCE), 4, COLL_I_KIB(16), SIZE_MAX, &coll_rabenseifner_reduce,
     COLL_I_AS_USUAL("longer: all ranks share the reducing")},
    {COLL_BIT(COLL_REDUCE), 3, COLL_I_KIB(256), SIZE_MAX, &coll_fnomial_reduce,
     COLL_I_SEGMENTS(1, 65536, "long: segments keep all levels of the tree busy")},
    {COLL_BIT(COLL_REDUCE), 1, 0, SIZE_MAX, &coll_fnomial_reduce,
     COLL_I_AS_USUAL("short: a tree collects all operands in the fewest rounds")},

    {COLL_BIT(COLL_ALLREDUCE), 4, COLL_I_KIB(4), COLL_I_KIB(1024) - 1, &coll_rabenseifner_allreduce,
     COLL_I_AS_USUAL("longer: the least traffic in few rounds, any operator")},
    {COLL_BIT(COLL_ALLREDUCE), 3, COLL_I_KIB(32), SIZE_MAX, &coll_ring_allreduce,
     COLL_I_AS_USUAL("long, and the operator commutes: the least traffic, between neighbours")},
    {COLL_BIT(COLL_ALLREDUCE), 4, COLL_I_KIB(1024), SIZE_MAX, &coll_rabenseifner_allreduce,
     COLL_I_AS_USUAL("long, operands in rank order: the least traffic")},
    {COLL_BIT(COLL_ALLREDUCE), 3, COLL_I_KIB(256), SIZE_MAX, &coll_fnomial_allreduce,
     COLL_I_SEGMENTS(1, 65536, "long, operands in rank order: a tree up and down, in segments")},
    {COLL_BIT(COLL_ALLREDUCE), 1, 0, SIZE_MAX, &coll_recursive_doubling_allreduce,
     COLL_I_AS_USUAL("short: the fewest rounds")},

    {COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER), 8, 0, 2047, &coll_fnomial_gather,
     COLL_I_AS_USUAL("short blocks: a tree spares the root most of the messages")},
    {COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_GATHERV), 1, 0, SIZE_MAX, &coll_linear_gather,
     COLL_I_AS_USUAL("every block goes straight to the root, once")},
    {COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV), 1, 0, SIZE_MAX, &coll_linear_scatter,
     COLL_I_AS_USUAL("every block comes straight from the root, once")},

    {COLL_BIT(COLL_ALLGATHER), 3, 0, 4095, &coll_recursive_doubling_allgather,
     COLL_I_AS_USUAL("short blocks: the fewest rounds")},
    {COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLGATHERV), 1, 0, SIZE_MAX, &coll_ring_allgather,
     COLL_I_AS_USUAL("all links busy, and only between neighbours")},

    {COLL_BIT(COLL_ALLTOALL), 8, 0, 256, &coll_bruck_alltoall,
     COLL_I_AS_USUAL("short blocks, many ranks: blocks travel together, in the fewest rounds")},
    {COLL_EXCHANGING, 1, 0, SIZE_MAX, &coll_pairwise_alltoall,
     COLL_I_AS_USUAL("one partner at a time, a different one for every rank")},

    {COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 4, 0, COLL_I_KIB(16), &coll_recursive_halving_reduce_scatter,
     COLL_I_AS_USUAL("short, and the operator commutes: the fewest rounds")},
    {COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 4, 0, COLL_I_KIB(16), &coll_butterfly_reduce_scatter,
     COLL_I_AS_USUAL("short, operands in rank order: few rounds")},
    {COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 1, 0, SIZE_MAX,
     &coll_ring_reduce_scatter,
     COLL_I_AS_USUAL("the operator commutes: only between neighbours")},
    {COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK), 1, 0, SIZE_MAX,
     &coll_pairwise_reduce_scatter,
     COLL_I_AS_USUAL("operands in rank order: every block straight to its rank")},

    {COLL_BIT(COLL_SCAN), 8, COLL_I_KIB(64), SIZE_MAX, &coll_binary_tree_scan,
     COLL_I_SEGMENTS(0, 16384, "long, many ranks: segments follow each other through a tree")},
    {COLL_BIT(COLL_SCAN), 3, COLL_I_KIB(64), SIZE_MAX, &coll_linear_scan,
     COLL_I_SEGMENTS(0, 16384, "long: segments follow each other along the ranks")},
    {COLL_BIT(COLL_SCAN), 1, 0, SIZE_MAX, &coll_recursive_doubling_scan,
     COLL_I_AS_USUAL("short: the fewest rounds")},
    {COLL_BIT(COLL_EXSCAN), 8, COLL_I_KIB(64), SIZE_MAX, &coll_binary_tree_exscan,
     COLL_I_SEGMENTS(0, 16384, "long, many ranks: segments follow each other through a tree")},
    {COLL_BIT(COLL_EXSCAN), 3, COLL_I_KIB(64), SIZE_MAX, &coll_linear_exscan,
     COLL_I_SEGMENTS(0, 16384, "long: segments follow each other along the ranks")},
    {COLL_BIT(COLL_EXSCAN), 1, 0, SIZE_MAX, &coll_recursive_doubling_exscan,
     COLL_I_AS_USUAL("short: the fewest rounds")},

    {COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLTOALL), 1, 0, 1024,
     &coll_mesh_combining, COLL_I_AS_USUAL("short, and there is a route: the fewest messages")},
    {COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLTOALL), 1, 0, 1024,
     &coll_node_combining, COLL_I_AS_USUAL("short, and there is a route by nodes: few messages")},
    {COLL_NEIGHBORLY, 1, 0, SIZE_MAX, &coll_linear_neighbor,
     COLL_I_AS_USUAL("every block straight to its neighbour")},
};
/* clang-format on */

#define COLL_RULE_COUNT (sizeof coll_rules / sizeof coll_rules[0])

/* What a rule's bytes are compared with: the bytes of the vector, or of one block (allgatherv,
 * reduce_scatter: of an average one); 0 where the ranks do not all know it. SIZE_MAX if it
 * overflows. */
COLL_INLINE size_t coll_problem_bytes(const coll_problem *problem)
{
    const size_t *counts = NULL;
    size_t elements = 0, bytes;
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
        counts = problem->out.counts;
        break;
    case COLL_REDUCE_SCATTER:
        counts = problem->in.counts;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; counts && i < problem->p; i++)
        elements = counts[i] > SIZE_MAX - elements ? SIZE_MAX : elements + counts[i];
    elements = counts ? elements / problem->p : problem->count;
    return coll_multiply(elements, problem->elem_bytes, &bytes) ? bytes : SIZE_MAX;
}

/* May the algorithm be chosen, by all ranks alike, as far as coll_plan_init on one rank cannot
 * tell? */
COLL_INLINE bool coll_i_selectable(const coll_algorithm *algorithm, coll_collective collective,
                                   unsigned offers)
{
    const unsigned special =
        COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_NEEDS_FABRIC_REDUCE;
    const unsigned tables = COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                            COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_ALLTOALLV) |
                            COLL_BIT(COLL_ALLTOALLW) | COLL_BIT(COLL_REDUCE_SCATTER);
    if (algorithm->traits & special & ~offers)
        return false;
    if (coll_is(COLL_ROOTED, collective) && (algorithm->traits & COLL_NEEDS_OUT_OF_PLACE))
        return false;
    if ((algorithm->traits & COLL_NEEDS_PACKED) && coll_is(tables, collective))
        return false; /* where blocks lie is each rank's own affair */
    return !(algorithm->traits & COLL_NEEDS_COUNTS) ||
           (collective != COLL_GATHERV && collective != COLL_SCATTERV);
}

/* Makes the plan that a rule leads to. */
COLL_INLINE coll_status coll_i_rule_plan(const coll_rule *rule, const coll_problem *problem,
                                         coll_plan *plan)
{
    const coll_algorithm *algorithm = rule->algorithm;
    uint32_t param[COLL_PARAM_MAX];
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++) {
        param[i] = rule->param[i];
        if (i < algorithm->n_params && param[i] == COLL_USUAL)
            param[i] = algorithm->params[i].usual;
        else if ((rule->in_bytes >> i) & 1u)
            param[i] =
                problem->elem_bytes < param[i] ? param[i] / (uint32_t)problem->elem_bytes : 1;
    }
    return coll_plan_init(plan, algorithm, problem, param);
}

/* Finds the first rule that fits, and makes its plan. */
COLL_INLINE coll_status coll_i_select(const coll_problem *problem, unsigned offers,
                                      coll_plan *plan, const coll_rule **found)
{
    size_t bytes;
    *found = NULL;
    if (!problem || !plan)
        return COLL_ERR_NULL;
    if (problem->p == 0)
        return COLL_ERR_RANKS;
    if ((unsigned)problem->collective >= COLL_COLLECTIVES)
        return COLL_ERR_COLLECTIVE;
    if (problem->elem_bytes == 0)
        return COLL_ERR_TYPE;
    bytes = coll_problem_bytes(problem);
    for (size_t i = 0; i < COLL_RULE_COUNT; i++) {
        const coll_rule *rule = &coll_rules[i];
        coll_status status;
        if (!coll_is(rule->collectives, problem->collective) || problem->p < rule->p_least ||
            bytes < rule->bytes_least || bytes > rule->bytes_most ||
            !coll_i_selectable(rule->algorithm, problem->collective, offers))
            continue;
        status = coll_i_rule_plan(rule, problem, plan);
        if (status == COLL_ERR_ORDER || status == COLL_ERR_IN_PLACE ||
            status == COLL_ERR_SHAPE || status == COLL_ERR_PARAM || status == COLL_ERR_LAYOUT ||
            status == COLL_ERR_ROUTE || status == COLL_ERR_BUILD)
            continue; /* this algorithm cannot do it; any other error is the problem's own */
        *found = rule;
        return status;
    }
    return COLL_ERR_COLLECTIVE;
}

/* Chooses an algorithm and its parameters for a problem, and makes the plan. `offers` are the
 * needs that the ranks' transport meets: a mask of COLL_NEEDS_SHARED, COLL_NEEDS_MULTICAST and
 * COLL_NEEDS_FABRIC_REDUCE, the same on all ranks. Returns what coll_plan_init does. */
COLL_INLINE coll_status coll_select(const coll_problem *problem, unsigned offers,
                                    coll_plan *plan)
{
    const coll_rule *rule;
    return coll_i_select(problem, offers, plan, &rule);
}

/* The rule by which coll_select chooses; NULL where it returns an error. */
COLL_INLINE const coll_rule *coll_select_rule(const coll_problem *problem, unsigned offers)
{
    const coll_rule *rule;
    coll_plan plan;
    return coll_i_select(problem, offers, &plan, &rule) == COLL_OK ? rule : NULL;
}

#endif /* COLL_SELECT_H */
