/* Selection of composite algorithms: all ranks choose alike, whatever is used
 * inside. */
#include "support/check.h"
#include "coll/algos/registry.h"
#include "coll/select.h"

#define ALWAYS(collective) COLL_BIT(collective), 1, COLL_ANY_P, 0, SIZE_MAX
#define NO_PARAMS          {COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT}, 0

enum { P_MOST = 9, TABLES = 128 };

static coll_workspace workspace;
static size_t tables[TABLES];

/* What the lists choose on a rank; NULL: nothing. */
static const coll_rule *chosen(const coll_rule_list *lists, const coll_problem *problem,
                               uint32_t rank, coll_plan *plan, coll_status *status)
{
    const coll_conditions conditions = {COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_REDUCE,
                                        COLL_GIVES_IDENTICAL};
    const coll_rule *rule;
    coll_workspace_init(&workspace, rank, tables, TABLES);
    CHECK(coll_workspace_tables(problem) <= TABLES);
    *status = coll_select_from(lists, problem, &conditions, &workspace, plan, &rule);
    CHECK(*status != COLL_OK || workspace.rank == rank);
    return rule;
}

/* Do all ranks choose the same rule, with the same parameters? */
static const coll_rule *chosen_by_all(const coll_rule_list *lists, const coll_problem *problem)
{
    const coll_rule *first = NULL;
    coll_plan plans[2];
    coll_status statuses[2];
    bool alike = true;
    for (uint32_t rank = 0; rank < problem->p; rank++) {
        const uint32_t k = rank > 0;
        const coll_rule *rule = chosen(lists, problem, rank, &plans[k], &statuses[k]);
        if (rank == 0) {
            first = rule;
            continue;
        }
        alike = alike && rule == first && statuses[0] == statuses[1];
        for (uint32_t i = 0; rule && i < COLL_PARAM_MAX; i++)
            alike = alike && plans[0].param[i] == plans[1].param[i];
        alike = alike && (!rule || (plans[0].window == plans[1].window &&
                                    plans[0].traits == plans[1].traits));
    }
    if (!CHECK(alike))
        printf("    %s, p = %u, %s of %s\n", coll_collective_name(problem->collective),
               problem->p, lists->rules->algorithm->name,
               lists->rules->n_bindings > 0 ? lists->rules->bindings->algorithm->name
                                            : "the usual");
    return first;
}

/* Puts p ranks on nodes: of one size, or as in a table. */
static void place(coll_problem *problem, uint32_t ppn)
{
    static const uint32_t first[] = {0, 1, 4, 6, 9};
    if (ppn > 0)
        coll_nodes_even(&problem->nodes, problem->p, ppn);
    else if (problem->p == 9)
        coll_nodes_table(&problem->nodes, 4, first, NULL);
}

/* With the default ones inside, and with any other one at either level. */
TEST(all_ranks_choose_alike)
{
    size_t taken = 0, passed = 0;
    for (size_t row = 0; row < COLL_REGISTRY_COUNT; row++)
        for (size_t inner = 0; inner <= COLL_REGISTRY_COUNT; inner++)
            for (unsigned level = 0; level < COLL_LEVELS; level++)
                for (uint32_t p = 1; p <= P_MOST; p += p < 3 ? 1 : 3) {
                    const coll_algorithm *const algorithm = coll_registry[row];
                    const bool default_value = inner == COLL_REGISTRY_COUNT;
                    const coll_binding binding = {
                        (coll_level)level, coll_registry[default_value ? 0 : inner], NULL};
                    const coll_collective collective =
                        (coll_collective)COLL_LOWEST_BIT(algorithm->collectives);
                    const coll_rule rule = {
                        ALWAYS(collective),      algorithm, NO_PARAMS, "", &binding,
                        default_value ? 0u : 1u, 0,         0};
                    const coll_rule_list list = {&rule, 1, &coll_rules_built_in};
                    if (!(algorithm->traits & COLL_NEEDS_BUILD) ||
                        (!default_value && (binding.algorithm->traits & COLL_NEEDS_BUILD)) ||
                        coll_is(COLL_PAIRED | COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                                    COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_REDUCE_SCATTER),
                                collective))
                        continue;
                    for (uint32_t ppn = 0; ppn <= 4; ppn++) {
                        coll_problem problem;
                        coll_problem_init(&problem, collective, p, 24, 4);
                        problem.flags = COLL_FLAG_COMMUTATIVE;
                        place(&problem, ppn);
                        if (chosen_by_all(&list, &problem) == &rule)
                            taken++;
                        else
                            passed++;
                        CHECK(!default_value || chosen_by_all(&list, &problem) == &rule);
                    }
                }
    CHECK(taken > 1000 && passed > 1000);
}

/* An algorithm that takes a power of two of ranks. */
static coll_status only_powers(const coll_plan *plan)
{
    return (plan->problem.p & (plan->problem.p - 1)) == 0 ? COLL_OK : COLL_ERR_SHAPE;
}

/* On nodes of 1, 3, 2 and 3 ranks only some ranks would see that a node has three. */
TEST(sizes_of_nodes_are_known_to_all)
{
    coll_algorithm powers = coll_fnomial_bcast;
    const coll_binding bindings[] = {{COLL_INTRA, &powers, NULL}, {COLL_INTER, &powers, NULL}};
    const coll_rule rules[] = {{ALWAYS(COLL_BCAST), &coll_two_level_bcast.algorithm, NO_PARAMS,
                                "", &bindings[0], 1, 0, 0},
                               {ALWAYS(COLL_BCAST), &coll_two_level_bcast.algorithm, NO_PARAMS,
                                "", &bindings[1], 1, 0, 0}};
    const coll_rule_list list = {rules, 2, &coll_rules_built_in};
    coll_problem problem;
    powers.check = only_powers;
    coll_problem_init(&problem, COLL_BCAST, 9, 24, 4);
    place(&problem, 0);
    CHECK(chosen_by_all(&list, &problem) == &rules[1]);
    place(&problem, 4);
    CHECK(chosen_by_all(&list, &problem) == &rules[0]); /* 4, 4, 1 */
    place(&problem, 3);
    CHECK(chosen_by_all(&list, &problem) == coll_select_rule(&problem, 0)); /* 3, 3, 3 */
}

/* What such a plan needs, and gives, is what its parts do. */
TEST(terms_hold_for_what_is_inside)
{
    const coll_binding bindings[] = {{COLL_INTER, &coll_swing_latency_allreduce, NULL},
                                     {COLL_INTRA, &coll_shm_reduce, NULL}};
    const coll_rule rules[] = {{ALWAYS(COLL_ALLREDUCE), &coll_two_level_allreduce.algorithm,
                                NO_PARAMS, "", bindings, 1, 0, 0},
                               {ALWAYS(COLL_ALLREDUCE), &coll_two_level_allreduce.algorithm,
                                NO_PARAMS, "", &bindings[1], 1, 0, 0},
                               {ALWAYS(COLL_ALLREDUCE), &coll_two_level_allreduce.algorithm,
                                NO_PARAMS, "", NULL, 0, 0, 0}};
    const coll_rule_list list = {rules, 3, NULL};
    coll_conditions conditions = {COLL_NEEDS_SHARED, COLL_GIVES_IDENTICAL};
    const coll_rule *rule;
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLREDUCE, 8, 24, 4);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem.nodes, 8, 2);
    coll_workspace_init(&workspace, 0, tables, TABLES);
    CHECK_STATUS(coll_select_from(&list, &problem, &conditions, &workspace, &plan, &rule),
                 COLL_OK);
    CHECK(rule == &rules[1]);
    conditions.capabilities = 0;
    CHECK_STATUS(coll_select_from(&list, &problem, &conditions, &workspace, &plan, &rule),
                 COLL_OK);
    CHECK(rule == &rules[2]);
    conditions.requirements = 0;
    CHECK_STATUS(coll_select_from(&list, &problem, &conditions, &workspace, &plan, &rule),
                 COLL_OK);
    CHECK(rule == &rules[0]);
    CHECK_STATUS(coll_select_from(&list, &problem, &conditions, NULL, &plan, &rule),
                 COLL_ERR_BUILD);
    CHECK(rule == NULL);
    coll_workspace_init(&workspace, 0, tables,
                        1); /* that is this rank's own fault: no other rule is tried */
    CHECK_STATUS(coll_select_from(&list, &problem, &conditions, &workspace, &plan, &rule),
                 COLL_ERR_MEMORY);
    CHECK(rule == NULL);
}

/* Only the root would see that a gather is in place: a part that cannot be is passed over on all ranks, whichever
 * of the parts it is. */
TEST(what_only_the_root_sees_is_asked_of_all_parts)
{
    coll_algorithm apart = coll_fnomial_gather;
    const coll_binding bindings[] = {{COLL_INTRA, &apart, NULL},
                                     {COLL_INTER, &coll_fnomial_gather, NULL},
                                     {COLL_INTRA, &coll_fnomial_gather, NULL},
                                     {COLL_INTER, &apart, NULL}};
    const coll_rule rules[] = {{ALWAYS(COLL_GATHER), &coll_two_level_gather.algorithm,
                                NO_PARAMS, "", &bindings[0], 2, 0, 0},
                               {ALWAYS(COLL_GATHER), &coll_two_level_gather.algorithm,
                                NO_PARAMS, "", &bindings[2], 2, 0, 0},
                               {ALWAYS(COLL_GATHER), &coll_two_level_gather.algorithm,
                                NO_PARAMS, "", &bindings[1], 2, 0, 0}};
    const coll_rule_list list = {rules, 3, NULL};
    coll_problem problem;
    coll_problem_init(&problem, COLL_GATHER, 8, 24, 4);
    place(&problem, 2);
    CHECK(chosen_by_all(&list, &problem) == &rules[0]);
    apart.traits |= COLL_NEEDS_OUT_OF_PLACE;
    CHECK(chosen_by_all(&list, &problem) == &rules[2]);
    problem.flags = COLL_FLAG_IN_PLACE;
    CHECK(chosen_by_all(&list, &problem) == &rules[2]);
}

int main(void)
{
    RUN(all_ranks_choose_alike);
    RUN(sizes_of_nodes_are_known_to_all);
    RUN(terms_hold_for_what_is_inside);
    RUN(what_only_the_root_sees_is_asked_of_all_parts);
    return check_done();
}
