/* Plans of composite algorithms: what is refused, whose a plan is, what is used
 * inside. What they compute is proven with each of them (algos/). */
#include "support/check.h"
#include "coll/plan/composite.h"
#include "coll/algos/registry.h"
#include "support/prove.h"

#include "support/kinds.h" /* its names are those of members in other headers */

#include <stdlib.h>
#include <string.h>

enum { P = 6, TABLES = 64 };

static const coll_algorithm *const dpml = &coll_dpml_allreduce.algorithm;
static size_t tables[TABLES];

static coll_problem problem_of(uint32_t ppn, uint32_t flags)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLREDUCE, P, 10, 8);
    coll_nodes_even(&problem.nodes, P, ppn);
    problem.flags = flags;
    return problem;
}

/* Makes a plan of rank 0 with one algorithm inside. */
static coll_status with(coll_level level, const coll_algorithm *algorithm,
                        const uint32_t *params, uint32_t ppn)
{
    static coll_workspace workspace;
    const coll_problem problem = problem_of(ppn, COLL_FLAG_COMMUTATIVE);
    const coll_binding binding = {level, algorithm, params};
    coll_plan plan;
    coll_workspace_init(&workspace, 0, tables, TABLES);
    workspace.bindings = &binding;
    workspace.n_bindings = 1;
    return coll_plan_build(&plan, dpml, &problem, NULL, &workspace);
}

TEST(what_is_refused)
{
    static coll_workspace workspace;
    coll_problem problem = problem_of(2, 0);
    coll_plan plan;
    uint32_t leaders = 0;
    coll_workspace_init(&workspace, 0, tables, TABLES);
    CHECK_STATUS(coll_plan_init(&plan, dpml, &problem, NULL), COLL_ERR_BUILD);
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_build(NULL, dpml, &problem, NULL, &workspace), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_build(&plan, NULL, &problem, NULL, &workspace), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_build(&plan, dpml, NULL, NULL, &workspace), COLL_ERR_NULL);
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, &leaders, &workspace), COLL_ERR_PARAM);
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_OK);
    workspace.n_bindings = 1;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_ERR_NULL);
    coll_workspace_init(&workspace, P, tables, TABLES);
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_ERR_RANK);
    coll_workspace_init(&workspace, 0, tables, coll_workspace_tables(&problem) - 1);
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_ERR_MEMORY);
    coll_workspace_init(&workspace, 0, tables, coll_workspace_tables(&problem));
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_OK);
    problem.nodes.count = 2;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_ERR_NODES);
    coll_workspace_init(&workspace, 0, tables, TABLES);
    problem = problem_of(P, 0);
    problem.count = COLL_REF_LIMIT / 8 - 1;
    problem.elem_bytes = 1;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_ERR_OVERFLOW);
}

TEST(what_is_used_inside)
{
    const uint32_t wrong = 1, right = 3;
    CHECK_STATUS(with(COLL_INTER, &coll_ring_allreduce, NULL, 2), COLL_OK);
    CHECK_STATUS(with(COLL_INTRA, &coll_ring_allreduce, NULL, 2), COLL_ERR_COLLECTIVE);
    CHECK_STATUS(with(COLL_INTER, &coll_ring_allgather, NULL, 2), COLL_ERR_COLLECTIVE);
    CHECK_STATUS(with(COLL_INTER, &coll_recursive_multiplying_allreduce, &right, 2), COLL_OK);
    CHECK_STATUS(with(COLL_INTER, &coll_recursive_multiplying_allreduce, &wrong, 2),
                 COLL_ERR_PARAM);
    CHECK_STATUS(with(COLL_INTER, dpml, NULL, 2), COLL_ERR_BUILD);
    CHECK_STATUS(with(COLL_INTER, &hub, NULL, 2), COLL_ERR_GROUP);
    CHECK_STATUS(with(COLL_INTER, &hub, NULL, 1), COLL_OK);
    CHECK_STATUS(with(COLL_INTER, &in_network, NULL, 2), COLL_ERR_GROUP);
    CHECK_STATUS(with(COLL_INTER, &in_network, NULL, 1), COLL_OK);
    CHECK_STATUS(with(COLL_INTER, &shared, NULL, 2), COLL_ERR_NODES);
    CHECK_STATUS(with(COLL_INTER, &shared, NULL, P), COLL_OK);
}

/* What is inside decides what a plan needs and promises. */
TEST(traits)
{
    static coll_workspace workspace;
    const coll_problem problem = problem_of(1, COLL_FLAG_COMMUTATIVE);
    coll_binding binding = {COLL_INTER, &coll_ring_allreduce, NULL};
    coll_plan plan;
    coll_workspace_init(&workspace, 0, tables, TABLES);
    workspace.bindings = &binding;
    workspace.n_bindings = 1;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_OK);
    CHECK_EQ(plan.traits, COLL_NEEDS_BUILD | COLL_USES_NODES | COLL_NEEDS_COMMUTATIVE |
                              COLL_GIVES_IDENTICAL);
    binding.algorithm = &in_network;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_OK);
    CHECK_EQ(plan.traits, COLL_NEEDS_BUILD | COLL_USES_NODES | COLL_NEEDS_NETWORK_REDUCE);
}

TEST(a_plan_is_of_one_rank)
{
    static coll_workspace workspace;
    const coll_problem problem = problem_of(2, 0);
    coll_plan plan;
    coll_workspace_init(&workspace, 3, tables, TABLES);
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(coll_plan_steps(&plan, r) > 0, r == 3);
        CHECK(r == 3 || coll_plan_scratch(&plan, r) == 0);
    }
}

/* ---- more than two levels ---------------------------------------------------------------- */

enum { RANKS = 25 };

static const coll_plan *plan_of(void *arg, uint32_t rank)
{
    return (const coll_plan *)arg + rank;
}

/* Ranks on nodes of 2, in groups of 2 nodes, in groups of 3 of those, in groups of 2: as deep as it may
 * be. Only the first allreduce is bound; those that are nested have bindings of their own. */
TEST(five_levels)
{
    const coll_binding inter = {COLL_INTER, &coll_two_level_allreduce.algorithm, NULL};
    static coll_plan plans[RANKS];
    coll_workspace *workspaces[RANKS];
    coll_nodes level[3];
    coll_beyond beyond[3];
    coll_problem problem;
    coll_report report;
    coll_verify_options options;
    memset(beyond, 0, sizeof beyond);
    coll_problem_init(&problem, COLL_ALLREDUCE, RANKS, 10, 8);
    coll_nodes_even(&problem.nodes, RANKS, 2);
    coll_nodes_even(&level[0], 13, 2);
    coll_nodes_even(&level[1], 7, 3);
    coll_nodes_even(&level[2], 3, 2);
    problem.nodes.beyond = &beyond[0];
    for (uint32_t i = 0; i < 3; i++) {
        beyond[i].groups = &level[i];
        if (i < 2)
            level[i].beyond = &beyond[i + 1];
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        coll_workspace *at;
        workspaces[r] = at =
            coll_workspace_in(malloc(coll_workspace_bytes(&problem)), &problem, r);
        for (uint32_t i = 0; i < 3; i++, at = at->nested) {
            at->bindings = &inter;
            at->n_bindings = 1;
        }
        CHECK(at->nested == NULL);
        CHECK_STATUS(coll_plan_build(&plans[r], dpml, &problem, NULL, workspaces[r]), COLL_OK);
        CHECK_EQ(workspaces[r]->nested->nested->n_nested, 1);
    }
    memset(&options, 0, sizeof options);
    options.plan_of = plan_of;
    options.arg = plans;
    if (!CHECK(prove_plan(NULL, &options, &report) == COLL_PROVEN))
        printf("    %s\n", report.sentence);
    for (uint32_t r = 0; r < RANKS; r++)
        free(workspaces[r]);
}

/* What is nested has no memory that its ranks share, and needs a workspace. */
TEST(what_is_not_nested)
{
    static coll_workspace workspace;
    coll_binding binding = {COLL_INTER, &coll_two_level_allreduce.algorithm, NULL};
    coll_problem problem = problem_of(2, COLL_FLAG_COMMUTATIVE);
    coll_nodes groups;
    coll_beyond beyond = {NULL, &groups};
    coll_workspace *all;
    coll_plan plan;
    coll_nodes_even(&groups, 3, 2);
    problem.nodes.beyond = &beyond;
    coll_workspace_init(&workspace, 0, tables, TABLES);
    workspace.bindings = &binding;
    workspace.n_bindings = 1;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, &workspace), COLL_ERR_MEMORY);
    all = coll_workspace_in(malloc(coll_workspace_bytes(&problem)), &problem, 0);
    all->bindings = &binding;
    all->n_bindings = 1;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, all), COLL_OK);
    binding.algorithm = dpml;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, all), COLL_ERR_NODES);
    binding.algorithm = &coll_node_leader_allreduce.algorithm;
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, all), COLL_ERR_GROUP);
    binding.algorithm = &coll_two_level_allreduce.algorithm;
    CHECK_STATUS(
        coll_plan_build(&plan, &coll_socket_leader_allreduce.algorithm, &problem, NULL, all),
        COLL_ERR_GROUP);
    coll_nodes_even(&groups, 5, 2); /* of more nodes than there are */
    CHECK_STATUS(coll_plan_build(&plan, dpml, &problem, NULL, all), COLL_ERR_NODES);
    free(all);
}

/* A window has at most 32 slots, however many an algorithm inside may ask for. */
TEST(windows)
{
    coll_algorithm wide = coll_ring_allreduce;
    for (wide.window = 31; wide.window <= 34; wide.window++)
        CHECK_STATUS(with(COLL_INTER, &wide, NULL, 1),
                     wide.window <= 32 ? COLL_OK : COLL_ERR_WINDOW);
}

/* Others need no workspace, and are made as by coll_plan_init. */
TEST(plain_algorithms)
{
    const coll_problem problem = problem_of(2, COLL_FLAG_COMMUTATIVE);
    coll_plan plan;
    CHECK_STATUS(coll_plan_build(&plan, &coll_ring_allreduce, &problem, NULL, NULL), COLL_OK);
    CHECK(plan.inner == NULL);
    CHECK_EQ(coll_plan_steps(&plan, 0), 2 * (P - 1));
}

int main(void)
{
    RUN(what_is_refused);
    RUN(what_is_used_inside);
    RUN(traits);
    RUN(a_plan_is_of_one_rank);
    RUN(five_levels);
    RUN(what_is_not_nested);
    RUN(windows);
    RUN(plain_algorithms);
    return check_done();
}
