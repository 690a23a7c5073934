/* Rules for clusters: chosen by what the machine is; each list fits every problem of several nodes, and, simulated on
 * problems that it was not made from, loses less than the rules that know no cluster. */
#include <math.h>
#include <stdlib.h>

#include "coll/lab/sim.h"
#include "coll/lab/sim/machine.h"
#include "coll/select/inter_node.h"
#include "support/check.h"

#include "../../bench/cluster_machines.h"

enum { RANKS = 128, UNIT = 8 };

static coll_sim sim;
static coll_plan plans[RANKS];
static coll_workspace workspaces[RANKS];

/* Makes the plans of all ranks; the tables are the caller's to free. NULL: one of them failed, or two ranks chose
 * different rules. */
static size_t *plans_of(const coll_rule_list *list, const coll_problem *problem)
{
    const coll_conditions conditions = {COLL_NEEDS_PACKED, COLL_GIVES_IDENTICAL};
    const size_t room = coll_workspace_tables(problem);
    size_t *tables = (size_t *)malloc(problem->p * room * sizeof *tables);
    const coll_rule *first = NULL, *found;
    bool good = true;
    for (uint32_t rank = 0; good && rank < problem->p; rank++) {
        coll_workspace_init(&workspaces[rank], rank, tables + rank * room, room);
        good = CHECK_STATUS(coll_select_from(list, problem, &conditions, &workspaces[rank],
                                             &plans[rank], &found),
                            COLL_OK);
        first = first ? first : found;
        good = good && CHECK(found == first);
    }
    if (good)
        return tables;
    free(tables);
    return NULL;
}

static void problem_of(coll_problem *problem, coll_collective c, uint32_t nodes, uint32_t ppn,
                       size_t bytes)
{
    coll_problem_init(problem, c, nodes * ppn, c == COLL_BARRIER ? 0 : bytes / UNIT, UNIT);
    problem->flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem->nodes, nodes * ppn, ppn);
}

static double us_of(const struct cluster_machine *at, const coll_rule_list *list,
                    const coll_problem *problem)
{
    static coll_sim_machine machine;
    coll_sim_options options;
    coll_topology nics;
    coll_sentence why;
    size_t *tables = plans_of(list, problem);
    coll_sim_machine_init(&machine, &problem->nodes, problem->p);
    if (!tables || !CHECK(coll_sim_machine_read(&machine, at->model, &why)) ||
        !CHECK(coll_sim_machine_share(&machine, at->memory, &why)))
        return 1;
    coll_topology_nics(&nics, &problem->nodes, problem->p);
    nics.cost.message = coll_time_of(at->message_us * 1e6);
    nics.cost.byte_ps = at->byte_ns * 1000;
    coll_sim_options_init(&options, &machine.model);
    options.topology = &nics;
    CHECK_STATUS(coll_sim_run(&sim, plans, true, &options), COLL_OK);
    free(tables);
    return coll_time_us(sim.makespan);
}

TEST(a_machine_has_a_list)
{
    const coll_cluster tcp = {25000, 1000}, roce = {3900, 100}, fast = {1900, 10},
                       slow = {1900, 150};
    CHECK(coll_cluster_rules(&tcp, 1) == &coll_cluster_ethernet);
    CHECK(coll_cluster_rules(&tcp, 128) == &coll_cluster_ethernet);
    CHECK(coll_cluster_rules(&roce, 16) == &coll_cluster_roce);
    CHECK(coll_cluster_rules(&fast, 32) == &coll_cluster_infiniband);
    CHECK(coll_cluster_rules(&slow, 8) == &coll_cluster_infiniband);
    CHECK(coll_cluster_rules(&slow, 64) == &coll_cluster_crowded);
    CHECK(coll_cluster_rules(&slow, 0) == &coll_cluster_infiniband);
}

/* Of any nodes, in any order of operands, all ranks choose the same rule, and its plan can be made. */
TEST(all_ranks_choose_alike)
{
    static const uint32_t shapes[][2] = {{2, 1},  {13, 1}, {3, 3}, {2, 7},
                                         {5, 12}, {3, 24}, {2, 61}};
    for (uint32_t i = 0; i < CLUSTERS; i++)
        for (uint32_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (uint32_t c = 0; c < CLUSTER_COLLECTIVES; c++)
                for (size_t bytes = 0; bytes <= 1 << 20; bytes = bytes ? bytes * 8 : 8)
                    for (unsigned order = 0; order < 2; order++) {
                        coll_problem problem;
                        problem_of(&problem, cluster_collectives[c], shapes[s][0], shapes[s][1],
                                   bytes);
                        if (order)
                            problem.flags = 0;
                        free(plans_of(cluster_machines[i].list, &problem));
                    }
}

/* What is not covered by a list is what the built-in rules say. */
TEST(one_node_is_not_theirs)
{
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        const coll_conditions conditions = {0, 0};
        const coll_rule *found;
        coll_problem problem;
        coll_plan plan;
        coll_problem_init(&problem, COLL_ALLREDUCE, 16, 100, UNIT);
        CHECK_STATUS(coll_select_from(cluster_machines[i].list, &problem, &conditions, NULL,
                                      &plan, &found),
                     COLL_OK);
        CHECK(found >= coll_rules && found < coll_rules + COLL_RULE_COUNT);
    }
}

TEST(they_lose_less)
{
    static const uint32_t shapes[][2] = {{7, 1}, {40, 1}, {9, 3}, {5, 7}, {11, 10}, {3, 36}};
    coll_sim_init(&sim);
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        double sum = 0;
        uint32_t n = 0;
        for (uint32_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (uint32_t c = 0; c < CLUSTER_COLLECTIVES; c++)
                for (size_t bytes = 24; bytes <= 200000; bytes = bytes * 20 / UNIT * UNIT) {
                    coll_problem problem;
                    if ((cluster_collectives[c] == COLL_BARRIER && bytes > 24) ||
                        (s + c + bytes / UNIT) % CHECK_SHARE)
                        continue;
                    problem_of(&problem, cluster_collectives[c], shapes[s][0], shapes[s][1],
                               bytes);
                    sum += log(us_of(&cluster_machines[i], &coll_rules_of_nodes, &problem) /
                               us_of(&cluster_machines[i], cluster_machines[i].list, &problem));
                    n++;
                }
        CHECK(sum > 0);
        printf("    %s: %.2f times as fast in %u problems\n", cluster_machines[i].name,
               exp(sum / n), n);
    }
    coll_sim_free(&sim);
}

int main(void)
{
    RUN(a_machine_has_a_list);
    RUN(all_ranks_choose_alike);
    RUN(one_node_is_not_theirs);
    RUN(they_lose_less);
    return check_done();
}
