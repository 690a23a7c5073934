/* Selection: a plan for every possible problem, the same on all ranks, that keeps the
 * algorithms' promises. */
#include <string.h>

#include "support/check.h"
#include "coll/executor/schedule.h"
#include "coll/algos/registry.h"
#include "coll/select.h"
#include "coll/lab/verify/graphs.h"

static const unsigned all_offers =
    COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP;

/* The neighbours on a ring, where the collective has neighbours, with the routes that an algorithm
 * needs. */
static void give_neighbors(coll_problem *problem, const coll_algorithm *algorithm)
{
    static coll_i_graphs graphs;
    problem->graph = NULL;
    if (!coll_is(COLL_NEIGHBORLY, problem->collective))
        return;
    CHECK(coll_i_graphs_make(&graphs, COLL_GRID_RING, problem->p));
    if (algorithm)
        CHECK_STATUS(coll_i_graphs_equip(&graphs, problem, algorithm), COLL_OK);
    problem->graph = coll_i_graph_of(&graphs, 0);
}

/* A problem with tables where its collective has them. */
static void make_problem(coll_problem *problem, unsigned collective, uint32_t p, size_t count,
                         const size_t *tables)
{
    coll_problem_init(problem, (coll_collective)collective, p, count, 8);
    give_neighbors(problem, NULL);
    if (collective == COLL_GATHERV || collective == COLL_ALLGATHERV ||
        coll_is(COLL_PAIRED, (coll_collective)collective))
        problem->out.counts = problem->out.displs = tables;
    if (collective == COLL_SCATTERV || collective == COLL_REDUCE_SCATTER ||
        coll_is(COLL_PAIRED, (coll_collective)collective))
        problem->in.counts = problem->in.displs = tables;
}

TEST(every_problem_has_a_plan)
{
    static const uint32_t ps[] = {1, 2, 3, 7, 8, 64, 1000, 1u << 20};
    static const size_t counts[] = {0, 1, 100, 4096, 1u << 20};
    static size_t tables[1u << 20];
    for (unsigned collective = 0; collective < COLL_COLLECTIVES; collective++)
        for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++)
            for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
                for (uint32_t flags = 0; flags < 4; flags++) {
                    coll_problem problem;
                    coll_plan plan;
                    const coll_rule *rule;
                    if (((flags & COLL_FLAG_IN_PLACE) &&
                         coll_is(COLL_NEIGHBORLY, (coll_collective)collective)) ||
                        ps[i] > COLL_REF_LIMIT / 32 / (counts[k] + 1)) /* 32 bits: too many */
                        continue;
                    make_problem(&problem, collective, ps[i], counts[k], tables);
                    problem.flags = flags;
                    problem.root = ps[i] - 1;
                    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_OK);
                    rule = coll_select_rule(&problem, 0);
                    if (!CHECK(rule != NULL))
                        continue;
                    CHECK(rule->algorithm == plan.algorithm);
                    CHECK(rule->why && rule->why[0]);
                    CHECK(coll_is(rule->collectives, problem.collective));
                    CHECK_EQ(plan.traits & all_offers, 0);
                    CHECK(plan.window <= COLL_WINDOW);
                    CHECK(!(plan.traits & COLL_NEEDS_COMMUTATIVE) ||
                          (flags & COLL_FLAG_COMMUTATIVE));
                }
}

/* A root in place, the counts that only the root has, and each rank's own count change nothing
 * elsewhere. */
TEST(all_ranks_choose_alike)
{
    static const size_t counts[] = {0, 3, 300, 30000, 300000};
    size_t tables[9];
    for (unsigned collective = 0; collective < COLL_COLLECTIVES; collective++)
        for (uint32_t p = 1; p <= 9; p++)
            for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
                coll_problem root, other;
                coll_plan at_root, elsewhere;
                for (uint32_t i = 0; i < p; i++)
                    tables[i] = counts[k];
                if (!coll_is(COLL_ROOTED, (coll_collective)collective))
                    continue;
                make_problem(&root, collective, p, counts[k], tables);
                other = root;
                root.flags = COLL_FLAG_IN_PLACE;
                other.flags = collective == COLL_BCAST ? COLL_FLAG_IN_PLACE : 0;
                if (collective == COLL_GATHERV || collective == COLL_SCATTERV) {
                    other.in.counts = other.in.displs = other.out.counts = other.out.displs =
                        NULL;
                    root.count = 77; /* not significant at a root that works in place */
                }
                CHECK_STATUS(coll_select(&root, 0, &at_root), COLL_OK);
                CHECK_STATUS(coll_select(&other, 0, &elsewhere), COLL_OK);
                CHECK(at_root.algorithm == elsewhere.algorithm);
                CHECK(memcmp(at_root.param, elsewhere.param, sizeof at_root.param) == 0);
            }
}

/* A rooted collective in place at the root: the others' steps are the same as if it were
 * not. */
TEST(only_the_root_works_in_place)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (unsigned collective = 0; collective < COLL_COLLECTIVES; collective++)
            for (uint32_t p = 2; p <= 9; p++)
                for (uint32_t root = 0; root < p; root++) {
                    const coll_algorithm *const row = coll_registry[i];
                    coll_problem problem;
                    if (!coll_is(COLL_ROOTED & row->collectives, (coll_collective)collective) ||
                        collective == COLL_BCAST || collective == COLL_GATHERV ||
                        collective == COLL_SCATTERV)
                        continue;
                    coll_problem_init(&problem, (coll_collective)collective, p, 5, 8);
                    problem.root = root;
                    if (row->traits & COLL_USES_NODES)
                        coll_nodes_even(&problem.nodes, p, 3);
                    for (uint32_t r = 0; r < p; r++) {
                        coll_action a[64], b[64];
                        coll_schedule sa, sb;
                        coll_plan in_place, apart;
                        size_t tables[2][64];
                        coll_workspace workspaces[2];
                        if (r == root)
                            continue;
                        coll_workspace_init(&workspaces[0], r, tables[0], 64);
                        coll_workspace_init(&workspaces[1], r, tables[1], 64);
                        problem.flags = COLL_FLAG_COMMUTATIVE;
                        CHECK_STATUS(
                            coll_plan_build(&apart, row, &problem, NULL, &workspaces[0]),
                            COLL_OK);
                        problem.flags |= COLL_FLAG_IN_PLACE;
                        CHECK_STATUS(
                            coll_plan_build(&in_place, row, &problem, NULL, &workspaces[1]),
                            COLL_OK);
                        CHECK_STATUS(coll_schedule_write(&sa, &apart, r, a, 64), COLL_OK);
                        CHECK_STATUS(coll_schedule_write(&sb, &in_place, r, b, 64), COLL_OK);
                        CHECK_EQ(sa.n, sb.n);
                        CHECK_EQ(sa.scratch, sb.scratch);
                        for (size_t k = 0; k < sa.n && k < sb.n; k++) {
                            CHECK_EQ(a[k].kind, b[k].kind);
                            CHECK_EQ(a[k].peer, b[k].peer);
                            CHECK_EQ(a[k].count, b[k].count);
                            CHECK(a[k].dst == b[k].dst && a[k].src == b[k].src &&
                                  a[k].via == b[k].via);
                        }
                    }
                }
}

/* The rule of some lists for a problem whose blocks lie packed on all ranks; NULL: none fits. */
static const coll_rule *selected(const coll_rule_list *lists, const coll_problem *problem,
                                 unsigned requirements)
{
    const coll_conditions conditions = {COLL_NEEDS_PACKED, requirements};
    const coll_rule *rule;
    coll_plan plan;
    const coll_status status =
        coll_select_from(lists, problem, &conditions, NULL, &plan, &rule);
    CHECK((status == COLL_OK) == (rule != NULL));
    CHECK(!rule || plan.algorithm == rule->algorithm);
    return rule;
}

/* The rules are in a sensible order: the last one of a collective has no limits, and each can
 * be reached. */
TEST(the_table_is_sound)
{
    const uint32_t gives = COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE;
    for (unsigned collective = 0; collective < COLL_COLLECTIVES; collective++) {
        const coll_rule *last = NULL;
        for (size_t i = 0; i < COLL_RULE_COUNT; i++)
            if (coll_is(coll_rules[i].collectives, (coll_collective)collective))
                last = &coll_rules[i];
        if (!CHECK(last != NULL))
            continue;
        CHECK_EQ(last->p_least, 1);
        CHECK(last->bytes_least == 0 && last->bytes_most == SIZE_MAX);
        CHECK((last->algorithm->traits | gives) == gives);
        CHECK(!coll_is(COLL_REDUCING, (coll_collective)collective) ||
              (last->algorithm->traits & COLL_GIVES_REPRODUCIBLE));
    }
    for (size_t i = 0; i < COLL_RULE_COUNT; i++) {
        const coll_rule *rule = &coll_rules[i];
        bool reached = false;
        CHECK_EQ(rule->collectives & ~rule->algorithm->collectives, 0);
        /* so no call of comm.h gives its ranks sums that differ */
        CHECK(!coll_is(rule->collectives, COLL_ALLREDUCE) ||
              (rule->algorithm->traits & COLL_GIVES_IDENTICAL));
        for (uint32_t k = 0; k < COLL_PARAM_MAX; k++)
            CHECK(((rule->in_bytes >> k) & 1u) == 0 || k < rule->algorithm->n_params);
        for (uint32_t flags = 0; flags < 4; flags += 2) {
            coll_problem problem;
            uint32_t collective = COLL_LOWEST_BIT(rule->collectives);
            coll_problem_init(&problem, (coll_collective)collective, rule->p_least,
                              rule->bytes_least, 1);
            problem.flags = flags;
            give_neighbors(&problem, rule->algorithm);
            reached = reached || selected(&coll_rules_built_in, &problem, 0) == rule;
            problem.p = 300;
            give_neighbors(&problem, rule->algorithm);
            problem.count = rule->bytes_most < 1000000 ? rule->bytes_most : 1000000;
            reached = reached || selected(&coll_rules_built_in, &problem, 0) == rule;
            problem.p = 2;
            give_neighbors(&problem, rule->algorithm);
            reached = reached || selected(&coll_rules_built_in, &problem, 0) == rule ||
                      selected(&coll_rules_built_in, &problem, COLL_GIVES_REPRODUCIBLE) == rule;
        }
        if (!CHECK(reached))
            printf("    rule %zu: %s\n", i, rule->why);
    }
}

TEST(segments_are_in_elements)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_BCAST, 4, 1u << 20, 8);
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_OK);
    CHECK_EQ(plan.param[1], 65536 / 8);
    problem.count = 1000;
    problem.elem_bytes = 100000; /* larger than a segment */
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_OK);
    CHECK_EQ(plan.param[1], 1);
}

TEST(bytes_of_problems)
{
    const size_t counts[4] = {1, 2, 3, 6};
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 10, 8);
    CHECK_EQ(coll_problem_bytes(&problem), 80);
    problem.count = SIZE_MAX;
    CHECK(coll_problem_bytes(&problem) == SIZE_MAX);
    problem.collective = COLL_GATHERV;
    CHECK_EQ(coll_problem_bytes(&problem), 0);
    problem.collective = COLL_ALLGATHERV;
    problem.out.counts = problem.out.displs = counts;
    CHECK_EQ(coll_problem_bytes(&problem), 24);
}

/* ---- lists of rules ---------------------------------------------------------------------- */

#define ALWAYS(collective) COLL_BIT(collective), 1, COLL_ANY_P, 0, SIZE_MAX

/* The first list comes first, and what does not fit is passed over. */
TEST(lists_are_searched_in_turn)
{
    const coll_rule first[] = {
        {COLL_BIT(COLL_ALLREDUCE), 5, 6, 100, 200, &coll_kary_allreduce, COLL_DEFAULTS("a")},
        {ALWAYS(COLL_ALLREDUCE), &coll_ring_allreduce, COLL_DEFAULTS("b")}};
    const coll_rule second[] = {
        {ALWAYS(COLL_ALLREDUCE), &coll_linear_allreduce, COLL_DEFAULTS("c")},
        {ALWAYS(COLL_BCAST), &coll_chain_bcast, COLL_IN_SEGMENTS(1, 64, "d")}};
    const coll_rule_list two = {second, 2, &coll_rules_built_in}, one = {first, 2, &two},
                         only = {first, 1, NULL};
    const coll_conditions none = {0, 0};
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLREDUCE, 5, 100, 1);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK(selected(&one, &problem, 0) == &first[0]);
    problem.count = 200;
    problem.p = 6;
    CHECK(selected(&one, &problem, 0) == &first[0]);
    problem.p = 7;
    CHECK(selected(&one, &problem, 0) == &first[1]);
    CHECK(selected(&only, &problem, 0) == NULL);
    CHECK_STATUS(coll_select_from(&only, &problem, &none, NULL, &plan, NULL),
                 COLL_ERR_COLLECTIVE);
    problem.p = 4;
    CHECK(selected(&one, &problem, 0) == &first[1]);
    problem.p = 5;
    problem.count = 201;
    CHECK(selected(&one, &problem, 0) == &first[1]);
    problem.count = 99;
    problem.flags = 0;
    CHECK(selected(&one, &problem, 0) == &second[0]);
    problem.collective = COLL_BCAST;
    CHECK(selected(&one, &problem, 0) == &second[1]);
    problem.elem_bytes = 8;
    CHECK_STATUS(coll_select_from(&one, &problem, &none, NULL, &plan, NULL), COLL_OK);
    CHECK_EQ(plan.param[1], 8);
    problem.collective = COLL_BARRIER;
    CHECK(selected(&one, &problem, 0) == &coll_rules[0]);
}

/* What the caller wants, and what the transport has. */
TEST(terms_are_kept)
{
    const coll_rule rules[] = {
        {ALWAYS(COLL_ALLREDUCE), &coll_shm_allreduce, COLL_DEFAULTS("a")},
        {ALWAYS(COLL_ALLREDUCE), &coll_swing_latency_allreduce, COLL_DEFAULTS("b")},
        {ALWAYS(COLL_ALLREDUCE), &coll_ring_allreduce, COLL_DEFAULTS("c")},
        {ALWAYS(COLL_REDUCE), &coll_fnomial_reduce, COLL_DEFAULTS("d")}};
    const coll_rule_list list = {rules, 4, &coll_rules_built_in};
    const coll_rule_list shared = {rules, 1, NULL}, swing = {&rules[1], 1, NULL};
    coll_conditions conditions = {COLL_NEEDS_SHARED, COLL_GIVES_IDENTICAL};
    const coll_rule *rule;
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLREDUCE, 8, 100, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK(selected(&list, &problem, 0) == &rules[1]);
    CHECK(selected(&list, &problem, COLL_GIVES_IDENTICAL) == &rules[2]);
    rule = selected(&list, &problem, COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE);
    CHECK(rule && rule->algorithm == &coll_recursive_doubling_allreduce);
    CHECK_STATUS(coll_select_from(&list, &problem, &conditions, NULL, &plan, &rule), COLL_OK);
    CHECK(rule == &rules[0]);
    coll_nodes_even(&problem.nodes, 8, 4); /* what is shared is shared by four of them */
    CHECK_STATUS(coll_select_from(&list, &problem, &conditions, NULL, &plan, &rule), COLL_OK);
    CHECK(rule == &rules[2]);
    CHECK_STATUS(coll_select_from(&shared, &problem, &conditions, NULL, &plan, NULL),
                 COLL_ERR_NODES);
    CHECK_STATUS(coll_select_from(&swing, &problem, &conditions, NULL, &plan, &rule),
                 COLL_ERR_PROMISE);
    CHECK(rule == NULL);
    conditions.capabilities = 0;
    CHECK_STATUS(coll_select_from(&shared, &problem, &conditions, NULL, &plan, NULL),
                 COLL_ERR_CAPABILITY);
    problem.collective = COLL_REDUCE; /* whose sum only one rank gets */
    CHECK(selected(&list, &problem, COLL_GIVES_IDENTICAL) == &rules[3]);
    CHECK(selected(&list, &problem, COLL_GIVES_REPRODUCIBLE) != &rules[3]);
}

/* That the blocks of all ranks lie packed, one rank cannot see: it has to be said. */
TEST(packed_everywhere)
{
    const size_t counts[3] = {2, 0, 5}, displs[3] = {0, 2, 2}, apart[3] = {0, 2, 3};
    const coll_rule rules[] = {
        {ALWAYS(COLL_ALLGATHERV), &coll_bruck_allgather, COLL_DEFAULTS("a")},
        {ALWAYS(COLL_REDUCE_SCATTER), &coll_butterfly_reduce_scatter, COLL_DEFAULTS("b")},
        {ALWAYS(COLL_GATHERV), &coll_fnomial_gatherv, COLL_DEFAULTS("c")}};
    const coll_rule_list list = {rules, 3, NULL};
    const coll_conditions none = {0, 0}, packed = {COLL_NEEDS_PACKED, 0};
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLGATHERV, 3, 0, 1);
    problem.out.counts = counts;
    problem.out.displs = displs;
    CHECK_STATUS(coll_select_from(&list, &problem, &none, NULL, &plan, NULL), COLL_ERR_LAYOUT);
    CHECK_STATUS(coll_select_from(&list, &problem, &packed, NULL, &plan, NULL), COLL_OK);
    problem.out.displs = apart;
    CHECK_STATUS(coll_select_from(&list, &problem, &packed, NULL, &plan, NULL),
                 COLL_ERR_LAYOUT);
    coll_problem_init(&problem, COLL_REDUCE_SCATTER, 3, 0, 1);
    problem.in.counts = counts;
    problem.in.displs = displs;
    CHECK_STATUS(coll_select_from(&list, &problem, &none, NULL, &plan, NULL), COLL_ERR_LAYOUT);
    CHECK_STATUS(coll_select_from(&list, &problem, &packed, NULL, &plan, NULL), COLL_OK);
    coll_problem_init(&problem, COLL_GATHERV, 3, 2,
                      1); /* its counts one rank has, all the same */
    problem.out.counts = counts;
    problem.out.displs = displs;
    CHECK_STATUS(coll_select_from(&list, &problem, &packed, NULL, &plan, NULL),
                 COLL_ERR_COUNTS);
}

TEST(errors)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 10, 8);
    CHECK_STATUS(coll_select(NULL, 0, &plan), COLL_ERR_NULL);
    CHECK_STATUS(coll_select(&problem, 0, NULL), COLL_ERR_NULL);
    CHECK(coll_select_rule(NULL, 0) == NULL);
    problem.p = 0;
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_ERR_RANKS);
    CHECK(coll_select_rule(&problem, 0) == NULL);
    problem.p = 4;
    problem.elem_bytes = 0;
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_ERR_TYPE);
    problem.elem_bytes = 8;
    problem.collective = COLL_COLLECTIVES;
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_ERR_COLLECTIVE);
    problem.collective = COLL_REDUCE;
    problem.root = 4;
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_ERR_ROOT);
    problem.root = 0;
    problem.count = SIZE_MAX / 2;
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_ERR_OVERFLOW);
    problem.count = 10;
    problem.nodes.count = 2; /* of no ranks */
    CHECK_STATUS(coll_select(&problem, 0, &plan), COLL_ERR_NODES);
    CHECK_STATUS(coll_select_from(NULL, &problem, NULL, NULL, &plan, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_select_from(&coll_rules_built_in, &problem, NULL, NULL, &plan, NULL),
                 COLL_ERR_NULL);
}

int main(void)
{
    RUN(every_problem_has_a_plan);
    RUN(all_ranks_choose_alike);
    RUN(only_the_root_works_in_place);
    RUN(the_table_is_sound);
    RUN(segments_are_in_elements);
    RUN(bytes_of_problems);
    RUN(lists_are_searched_in_turn);
    RUN(terms_are_kept);
    RUN(packed_everywhere);
    RUN(errors);
    return check_done();
}
