/* tests/algos/levels.h — algorithms that are made of others: cases of the verifier's grid, with
 * what is used inside
 *
 *   coll_grid_case of = level_case(&coll_dpml_allreduce.algorithm, COLL_ALLREDUCE, p, count,
 *   flags);
 *   of.nodes = 4;
 *   const coll_report report = level_cost(&of);       // proven
 *   … level_plan(rank), of the case that was made last
 */
#ifndef COLL_TESTS_ALGOS_LEVELS_H
#define COLL_TESTS_ALGOS_LEVELS_H

#include "walk.h"

#include "coll/registry.h"
#include "coll/verify_grid.h"

static coll_grid_worker level_worker;

static inline coll_grid_case level_case(const coll_algorithm *algorithm,
                                        coll_collective collective, uint32_t p, size_t count,
                                        uint32_t flags)
{
    coll_grid_case of;
    memset(&of, 0, sizeof of);
    of.algorithm = algorithm;
    of.collective = collective;
    of.p = p;
    of.count = count;
    of.flags = flags;
    for (uint32_t i = 0; i < algorithm->n_params; i++)
        of.param[i] = algorithm->params[i].usual;
    return of;
}

/* What coll_plan_build says; proven if that is COLL_OK. */
static inline coll_status level_prove(const coll_grid_case *of, coll_report *report)
{
    const coll_status status = coll_grid_prove(&level_worker, of, 0, report);
    if (status == COLL_OK && !CHECK(report->ok)) {
        char words[256];
        coll_grid_case_words(of, words, sizeof words);
        printf("    %s: %s\n", words, report->sentence);
    }
    return status;
}

static inline coll_report level_cost(const coll_grid_case *of)
{
    coll_report report;
    memset(&report, 0, sizeof report);
    CHECK_STATUS(level_prove(of, &report), COLL_OK);
    return report;
}

static inline const coll_plan *level_plan(uint32_t rank)
{
    return coll_i_grid_plan_of(&level_worker, rank);
}

static inline const coll_kit *level_kit(uint32_t rank)
{
    return coll_i_kit(level_plan(rank));
}

/* What must be said of an algorithm across `nodes` nodes of which one has more than one rank (flat:
 * none has), with an operator; COLL_OK: it is right. `team`: the ranks across are one. */
static inline coll_status level_expected(const coll_algorithm *inner, uint32_t nodes, bool flat,
                                         bool team, uint32_t flags)
{
    if ((inner->traits & COLL_NEEDS_MULTICAST) && !flat)
        return COLL_ERR_GROUP;
    if ((inner->traits & COLL_NEEDS_FABRIC_REDUCE) && !flat && !team)
        return COLL_ERR_GROUP;
    if ((inner->traits & COLL_NEEDS_COMMUTATIVE) && !(flags & COLL_COMMUTATIVE))
        return COLL_ERR_ORDER;
    if ((inner->traits & COLL_NEEDS_POWER_OF_TWO) && (nodes & (nodes - 1)) != 0)
        return COLL_ERR_SHAPE;
    if ((inner->traits & COLL_NEEDS_SHARED) && nodes > 1)
        return COLL_ERR_NODES;
    return COLL_OK;
}

#endif /* COLL_TESTS_ALGOS_LEVELS_H */
