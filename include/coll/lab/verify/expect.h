/* coll/lab/verify/expect.h — what a case must be refused for, and what it may be refused for
 *
 *   const coll_grid_expected expected = coll_i_grid_expect(worker, &one); // of its plans
 *   if (!coll_i_grid_is_expected(&expected, coll_i_grid_plans(worker, &one)))
 *       … a wrong refusal, or none where there must be one
 *
 * A plan is refused for what the traits of its algorithm say, and for nothing else: this is read
 * from the traits, p, nodes, group, parameters and flags alone, without the functions that refuse. Of what
 * is used inside, it is known what its traits may forbid at its level, not whether the level comes to
 * pass: there a refusal needs a reason, but a reason needs no refusal.
 */
#ifndef COLL_LAB_VERIFY_EXPECT_H
#define COLL_LAB_VERIFY_EXPECT_H

#include "axes.h"

/* Sets of statuses: bit −status. */
typedef struct coll_grid_expected {
    uint64_t must; /* one of these, if there are any, … */
    uint64_t may;  /* … or of these; else COLL_OK */
} coll_grid_expected;

COLL_INLINE uint64_t coll_i_status_bit(coll_status status)
{
    return (uint64_t)1 << -(int)status;
}

COLL_INLINE bool coll_i_grid_is_expected(const coll_grid_expected *expected, coll_status status)
{
    const uint64_t bit = coll_i_status_bit(status);
    return status == COLL_OK ? expected->must == 0
                             : ((expected->must | expected->may) & bit) != 0;
}

/* Of the statuses that must come, the first; else of those that may. COLL_OK: none. */
COLL_INLINE coll_status coll_i_grid_first_expected(const coll_grid_expected *expected)
{
    const uint64_t set = expected->must ? expected->must : expected->may;
    int k = 0;
    while (k < 63 && !(set >> k & 1))
        k++;
    return set ? (coll_status)-k : COLL_OK;
}

COLL_INLINE bool coll_i_is_power_of_two(uint32_t n)
{
    while (n % 2 == 0)
        n /= 2;
    return n == 1;
}

/* How many nodes scattered ranks are on, and the ranks of the largest. */
COLL_INLINE uint32_t coll_i_case_scattered(const coll_grid_worker *worker,
                                           const coll_grid_case *of, uint32_t *largest)
{
    uint32_t n = 0;
    *largest = 0;
    for (uint32_t node = 0; node <= of->places.nodes;
         node++) { /* one may be alone beyond them */
        uint32_t ranks = 0;
        for (uint32_t rank = 0; rank < of->p; rank++)
            ranks += worker->groups.node[rank] == node ? 1 : 0;
        *largest = ranks > *largest ? ranks : *largest;
        n += ranks > 0 ? 1 : 0;
    }
    return n;
}

/* How many nodes there are, and the ranks of the largest. */
COLL_INLINE uint32_t coll_i_case_nodes(const coll_grid_worker *worker, const coll_grid_case *of,
                                       uint32_t *largest)
{
    uint32_t n = 0;
    if (of->places.kind != COLL_GRID_NO_PLACES &&
        (worker->moved || !worker->groups.places.rank))
        return coll_i_case_scattered(worker, of, largest);
    *largest = 0;
    for (uint32_t first = 0; first < of->p; n++) {
        const uint32_t size = of->nodes == 0                        ? of->p
                              : of->nodes == COLL_GRID_NODES_UNEVEN ? 1 + (5 * n + 2) % 4
                                                                    : of->nodes;
        const uint32_t ranks = size < of->p - first ? size : of->p - first;
        *largest = ranks > *largest ? ranks : *largest;
        first += ranks;
    }
    return n;
}

/* What the traits of the row forbid. */
COLL_INLINE uint64_t coll_i_grid_forbidden(const coll_grid_worker *worker,
                                           const coll_grid_case *of)
{
    const uint32_t traits = coll_i_case_traits(of), width = of->param[0];
    const bool ordered =
        coll_is(COLL_REDUCING, of->collective) && !(of->flags & COLL_FLAG_COMMUTATIVE);
    const bool cartesian = of->graph != COLL_GRID_SPARSE && of->graph != COLL_GRID_DENSE;
    uint32_t largest;
    uint64_t set = 0;
    if ((traits & COLL_NEEDS_COMMUTATIVE) && ordered)
        set |= coll_i_status_bit(COLL_ERR_ORDER);
    if ((traits & COLL_NEEDS_LINE) && ordered && width != 1 && width < of->p)
        set |= coll_i_status_bit(COLL_ERR_ORDER);
    if ((of->flags & COLL_FLAG_IN_PLACE) &&
        ((traits & COLL_NEEDS_OUT_OF_PLACE) || coll_is(COLL_NEIGHBORLY, of->collective)))
        set |= coll_i_status_bit(COLL_ERR_IN_PLACE);
    if ((traits & COLL_NEEDS_POWER_OF_TWO) && !coll_i_is_power_of_two(of->p))
        set |= coll_i_status_bit(COLL_ERR_SHAPE);
    if ((traits & COLL_NEEDS_FULL_ROWS) && of->p % width != 0)
        set |= coll_i_status_bit(COLL_ERR_SHAPE);
    if ((traits & COLL_NEEDS_CARTESIAN) && !cartesian) /* there is no such route, or plan */
        set |= coll_i_status_bit(COLL_ERR_GRAPH) | coll_i_status_bit(COLL_ERR_ROUTE);
    if ((traits & COLL_NEEDS_SHARED) && !(traits & COLL_USES_NODES) &&
        coll_i_case_nodes(worker, of, &largest) > 1)
        set |= coll_i_status_bit(COLL_ERR_NODES);
    if (coll_i_grid_group_status(worker, of) != COLL_OK)
        set |= coll_i_status_bit(COLL_ERR_GROUP);
    return set;
}

/* What the traits of an algorithm that is bound to a level may forbid there. */
COLL_INLINE uint64_t coll_i_grid_inner(const coll_grid_worker *worker, const coll_grid_case *of,
                                       coll_level level, const coll_algorithm *inner,
                                       const uint32_t *param)
{
    const uint32_t outer = of->algorithm->traits, traits = inner->traits;
    uint32_t largest;
    const uint32_t nodes = coll_i_case_nodes(worker, of, &largest);
    const uint32_t most = level == COLL_INTRA ? largest : nodes; /* ranks of the level */
    const bool ordered =
        coll_is(COLL_REDUCING, of->collective) && !(of->flags & COLL_FLAG_COMMUTATIVE);
    const bool parts = of->algorithm->n_params > 0 && of->param[0] > 1; /* of a node */
    const bool tabled =
        (inner->collectives & coll_i_grid_solves(of->algorithm, level) &
         (COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_ALLGATHERV) |
          COLL_BIT(COLL_REDUCE_SCATTER) | COLL_PAIRED)) != 0;
    uint64_t set = 0;
    if (ordered &&
        ((traits & COLL_NEEDS_COMMUTATIVE) ||
         ((traits & COLL_NEEDS_LINE) && param[0] > 1 && param[0] < (parts ? of->p : most))))
        set |= coll_i_status_bit(COLL_ERR_ORDER);
    /* of the leaders of sockets there are others than nodes */
    if (((traits & COLL_NEEDS_POWER_OF_TWO) &&
         (level == COLL_INTRA
              ? most > 2
              : (outer & COLL_NEEDS_INTER_GROUP) || !coll_i_is_power_of_two(most))) ||
        ((traits & COLL_NEEDS_FULL_ROWS) && param[0] > 1))
        set |= coll_i_status_bit(COLL_ERR_SHAPE);
    if (traits & COLL_NEEDS_OUT_OF_PLACE)
        set |= coll_i_status_bit(COLL_ERR_IN_PLACE);
    if ((traits & COLL_NEEDS_PACKED) && tabled)
        set |= coll_i_status_bit(COLL_ERR_LAYOUT);
    if ((traits & COLL_NEEDS_SHARED) && !(traits & COLL_USES_NODES) && level == COLL_INTER &&
        (nodes > 1 || (outer & COLL_NEEDS_INTER_GROUP)))
        set |= coll_i_status_bit(COLL_ERR_NODES);
    if ((traits & COLL_NEEDS_SHARED) && level == COLL_INTRA && tabled)
        set |= coll_i_status_bit(COLL_ERR_SHARED);
    if ((traits & (COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP)) && (most != of->p || parts))
        set |= coll_i_status_bit(COLL_ERR_GROUP);
    if ((outer & COLL_NEEDS_INTER_GROUP) && level == COLL_INTER &&
        !(traits & COLL_I_NEEDS_GROUP))
        set |= coll_i_status_bit(COLL_ERR_GROUP);
    return set;
}

/* The same of all that is used inside. */
COLL_INLINE uint64_t coll_i_grid_inside(const coll_grid_worker *worker,
                                        const coll_grid_case *of, const coll_binding *bindings,
                                        uint32_t n)
{
    uint32_t solved[COLL_LEVELS] = {0};
    uint64_t set = 0;
    for (uint32_t i = 0; i < n; i++) {
        const coll_algorithm *inner = bindings[i].algorithm;
        const coll_level level = bindings[i].level;
        uint32_t default_value[COLL_PARAM_MAX] = {0};
        for (uint32_t k = 0; k < inner->n_params; k++)
            default_value[k] = inner->params[k].default_value;
        solved[level] |= inner->collectives;
        if (inner->collectives & coll_i_grid_solves(of->algorithm, level))
            set |= coll_i_grid_inner(worker, of, level, inner,
                                     bindings[i].params ? bindings[i].params : default_value);
    }
    for (uint32_t i = 0; i < n; i++) { /* the level may have to solve just what they do not */
        const uint32_t solves = coll_i_grid_solves(of->algorithm, bindings[i].level);
        if (solves == 0 || (solves & ~solved[bindings[i].level]))
            set |= coll_i_status_bit(COLL_ERR_COLLECTIVE);
    }
    return set;
}

/* What must come of the case that the worker has made plans of. */
COLL_INLINE coll_grid_expected coll_i_grid_expect(const coll_grid_worker *worker,
                                                  const coll_grid_case *of)
{
    coll_grid_expected expected;
    expected.must = coll_i_grid_forbidden(worker, of);
    expected.may = 0;
    if (of->algorithm->traits & COLL_NEEDS_BUILD)
        expected.may =
            of->n_bindings > 0
                ? coll_i_grid_inside(worker, of, of->bindings, of->n_bindings)
                : coll_i_grid_inside(worker, of, worker->bindings.binding, worker->bindings.n);
    return expected;
}

#endif /* COLL_LAB_VERIFY_EXPECT_H */
