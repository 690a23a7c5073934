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

/* What must be said of an algorithm across `nodes` nodes of which one has more than one rank
 * (flat: none has), with an operator; COLL_OK: it is right. `team`: the ranks across are one. */
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

static const uint32_t level_nodes[] = {0, 1, 2, 3, 4, COLL_GRID_NODES_UNEVEN};
enum { LEVEL_NODES = sizeof level_nodes / sizeof level_nodes[0] };

/* A plan of a level, apart from the algorithm that it is inside of. */
static inline coll_report level_apart(const coll_algorithm *algorithm,
                                      const coll_problem *problem)
{
    coll_plan plan;
    CHECK_STATUS(coll_plan_init(&plan, algorithm, problem, NULL), COLL_OK);
    return cost_of(&plan);
}

static inline void level_add(coll_verify_count *sum, const coll_verify_count *more)
{
    sum->messages += more->messages;
    sum->elements += more->elements;
    sum->reduced += more->reduced;
}

/* Messages of a rank to ranks of other nodes, and their elements. */
static inline coll_verify_count level_outward(uint32_t r)
{
    const coll_kit *kit = level_kit(r);
    const walk *w = walk_of(level_plan(r), r);
    coll_verify_count sum;
    memset(&sum, 0, sizeof sum);
    for (size_t i = 0; i < w->n; i++) {
        const coll_action *a = &w->act[i];
        if (a->count == 0 || !is_send(a) ||
            coll_node_of(&kit->nodes, kit->p, a->peer).index ==
                coll_node_of(&kit->nodes, kit->p, r).index)
            continue;
        sum.messages++;
        sum.elements += coll_i_has(COLL_I_TOKENS, a) ? 0 : a->count;
    }
    return sum;
}

/* May coll_plan_build say this because of what is inside? */
static inline bool level_explains(const coll_algorithm *inner, coll_status status)
{
    switch (status) {
    case COLL_OK:
        return true;
    case COLL_ERR_ORDER:
        return (inner->traits & COLL_NEEDS_COMMUTATIVE) != 0;
    case COLL_ERR_SHAPE:
        return (inner->traits & COLL_NEEDS_POWER_OF_TWO) || inner->check;
    case COLL_ERR_IN_PLACE:
        return (inner->traits & COLL_NEEDS_OUT_OF_PLACE) != 0;
    case COLL_ERR_NODES:
    case COLL_ERR_SHARED:
        return (inner->traits & COLL_NEEDS_SHARED) != 0;
    case COLL_ERR_GROUP:
        return (inner->traits & (COLL_NEEDS_MULTICAST | COLL_NEEDS_FABRIC_REDUCE)) != 0;
    case COLL_ERR_COLLECTIVE: /* blocks of one size only, or of different sizes only */
        return true;
    default:
        return false;
    }
}

/* Puts one algorithm into one role, on all kinds of nodes, in and out of place, commutative and
 * not: proven, or refused for a reason. It must do something for some p. */
static inline void level_try(const coll_recipe *recipe, coll_collective collective,
                             coll_role role, const coll_algorithm *inner)
{
    const coll_use use = {role, inner, NULL};
    unsigned long proven = 0;
    for (uint32_t p = 1; p <= 13; p += p < 7 ? 1 : 3)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t shape = 0; shape < 3; shape++)
                for (uint32_t flags = 0; flags < 4; flags++) {
                    coll_grid_case of = level_case(&recipe->algorithm, collective, p, 0, flags);
                    coll_report report;
                    coll_status status;
                    if (!coll_i_grid_shape(&of, 2 * shape) ||
                        (flags != 0 && collective == COLL_BARRIER))
                        continue;
                    of.root = coll_is(COLL_ROOTED, collective) ? (p + flags) / 2 % p : 0;
                    of.nodes = level_nodes[kind];
                    of.uses = &use;
                    of.n_uses = 1;
                    status = level_prove(&of, &report);
                    proven += status == COLL_OK;
                    if (!CHECK(level_explains(inner, status)))
                        printf("    %s in %s, p = %u: %s\n", inner->name,
                               recipe->algorithm.name, p, coll_status_text(status));
                }
    if (!CHECK(proven > 0))
        printf("    %s is of no use in %s\n", inner->name, recipe->algorithm.name);
}

/* Does it for all algorithms that solve what a role's usual ones do. */
static inline void level_try_all(const coll_recipe *recipe, coll_collective collective)
{
    for (uint32_t role = 0; role < COLL_ROLES; role++) {
        uint32_t wanted = 0;
        for (uint32_t i = 0; i < recipe->n_usual; i++)
            if (recipe->usual[i].role == (coll_role)role)
                wanted |= recipe->usual[i].algorithm->collectives;
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            if ((coll_registry[i]->collectives & wanted) &&
                !(coll_registry[i]->traits & COLL_NEEDS_BUILD))
                level_try(recipe, collective, (coll_role)role, coll_registry[i]);
    }
}

#endif /* COLL_TESTS_ALGOS_LEVELS_H */
