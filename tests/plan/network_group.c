/* Who is a member of a group that reduces in the network, by the plan, against the steps of all ranks */
#include "support/check.h"

#include <string.h>

#include "coll/coll.h"
#include "coll/algos/registry.h"
#include "support/replay.h"

enum { MOST = 24 };

typedef struct member {
    coll_plan plan;
    coll_workspace workspace;
    size_t tables[256];
} member;

static member ranks[MOST];
static bool meets[COLL_NETWORK_GROUPS][MOST]; /* by the steps */

/* Does a plan tell that a rank of the transport is a member of this group? */
static bool is_member(const coll_plan *plan, uint32_t group, uint32_t outer)
{
    if (!(plan->traits & COLL_I_NEEDS_GROUP))
        return false;
    if (plan->algorithm->is_member)
        return plan->algorithm->is_member(plan, group, outer);
    return group == COLL_GROUP_ALL &&
           coll_group_rank(&plan->group, plan->problem.p, outer) != COLL_RANK_NONE;
}

static void note_steps(const coll_plan *plan, uint32_t rank, uint32_t outer)
{
    for (size_t s = 0; s < coll_plan_steps(plan, rank); s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(plan, rank, s, acts);
        for (unsigned i = 0; i < n; i++)
            if (acts[i].kind == COLL_DO_NETWORK_REDUCE)
                meets[acts[i].peer][outer] = true;
    }
}

/* What the plan of each rank that meets says of all. Returns how many there are. */
static uint32_t compare(const coll_plan *plan_of(uint32_t), uint32_t p)
{
    uint32_t members = 0;
    for (uint32_t group = 0; group < COLL_NETWORK_GROUPS; group++)
        for (uint32_t rank = 0; rank < p; rank++) {
            members += meets[group][rank];
            for (uint32_t other = 0; other < p && meets[group][rank]; other++)
                CHECK_EQ(is_member(plan_of(rank), group, other), meets[group][other]);
        }
    return members;
}

/* ---- composite algorithms
 * ----------------------------------------------------------------------------- */

static const coll_plan *own(uint32_t rank)
{
    return &ranks[rank].plan;
}

/* Builds the plans of all ranks, across the nodes by the network. */
static uint32_t build(const coll_algorithm *algorithm, coll_collective collective, uint32_t p,
                      const coll_nodes *nodes, const uint32_t *params)
{
    const coll_binding inter[] = {{COLL_INTER, &coll_in_network_allreduce, NULL},
                                  {COLL_INTER, &coll_in_network_barrier, NULL}};
    coll_problem problem;
    coll_problem_init(&problem, collective, p, 10, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    problem.nodes = *nodes;
    memset(meets, 0, sizeof meets);
    for (uint32_t rank = 0; rank < p; rank++) {
        member *at = &ranks[rank];
        coll_status status;
        coll_workspace_init(&at->workspace, rank, at->tables,
                            sizeof at->tables / sizeof *at->tables);
        at->workspace.bindings = &inter[collective == COLL_BARRIER];
        at->workspace.n_bindings = 1;
        status = coll_plan_build(&at->plan, algorithm, &problem, params, &at->workspace);
        if (status != COLL_OK) {
            CHECK_STATUS(status, COLL_ERR_COLLECTIVE); /* the usual case of one level alone */
            return 0;
        }
        note_steps(&at->plan, rank, rank);
    }
    return compare(own, p);
}

static uint32_t build_all(uint32_t p, const coll_nodes *nodes)
{
    static const uint32_t one[] = {1, 1}, sockets[] = {3};
    return build(&coll_node_leader_allreduce.algorithm, COLL_ALLREDUCE, p, nodes, NULL) +
           build(&coll_socket_leader_allreduce.algorithm, COLL_ALLREDUCE, p, nodes, NULL) +
           build(&coll_socket_leader_allreduce.algorithm, COLL_ALLREDUCE, p, nodes, sockets) +
           build(&coll_two_level_allreduce.algorithm, COLL_ALLREDUCE, p, nodes, NULL) +
           build(&coll_two_level_barrier.algorithm, COLL_BARRIER, p, nodes, NULL) +
           build(&coll_dpml_allreduce.algorithm, COLL_ALLREDUCE, p, nodes, one);
}

TEST(composites)
{
    static const uint32_t first[] = {0, 1, 6, 8, 9, 14};
    coll_nodes nodes;
    uint32_t members = 0;
    for (uint32_t p = 2; p <= MOST; p++)
        for (uint32_t ppn = 1; ppn <= p; ppn++) {
            coll_nodes_even(&nodes, p, ppn);
            members += build_all(p, &nodes);
        }
    coll_nodes_table(&nodes, 5, first, NULL);
    members += build_all(14, &nodes);
    CHECK(members > 1000);
}

/* ---- compositions ------------------------------------------------------------------------ */

static coll_plan outer;

static const coll_plan *of_all(uint32_t rank)
{
    (void)rank;
    return &outer;
}

static void phase_of(coll_phase *phase, const coll_plan *plan, uint32_t base, uint32_t stride,
                     uint32_t group)
{
    coll_phase_init(phase, plan);
    coll_group_affine(&phase->map.group, base, stride);
    phase->group = group;
}

static void barrier_plan(coll_plan *plan, const coll_algorithm *algorithm, uint32_t p)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_BARRIER, p, 0, 1);
    CHECK_STATUS(coll_plan_init(plan, algorithm, &problem, NULL), COLL_OK);
}

static void compose(coll_plan *plan, coll_composition *composition, coll_phase *phases,
                    uint32_t n, uint32_t p)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_BARRIER, p, 0, 1);
    coll_composition_init(composition, phases, n);
    CHECK_STATUS(coll_plan_compose(plan, &coll_sequence, &problem, composition), COLL_OK);
}

/* 12 ranks: a barrier of each pair by messages, and inside of a composition of ranks 0, 4 and 8 one of
 * all three in the network and one of the first two. */
TEST(compositions)
{
    static const uint32_t table[] = {11, 3, 5, 7, 1, 9, 2, 0, 4, 6, 8, 10};
    coll_plan pairs, four, three, two, nested;
    coll_phase inner[2], phases[3];
    coll_composition in, all;
    coll_group group;
    barrier_plan(&pairs, &coll_fnomial_barrier, 2);
    barrier_plan(&four, &coll_in_network_barrier, 4);
    barrier_plan(&three, &coll_in_network_barrier, 3);
    barrier_plan(&two, &coll_in_network_barrier, 2);
    phase_of(&inner[0], &three, 0, 1, COLL_GROUP_ALL);
    phase_of(&inner[1], &two, 0, 1, COLL_GROUP_SOCKETS);
    compose(&nested, &in, inner, 2, 3);
    phase_of(&phases[0], &pairs, 0, 1, COLL_GROUP_NODES);
    phases[0].map.copies = 6;
    phases[0].map.spacing = 2;
    phase_of(&phases[1], &four, 0, 3, COLL_GROUP_NODES);
    phase_of(&phases[2], &nested, 0, 4, COLL_GROUP_NODES);
    for (uint32_t alone = 0; alone < 2;
         alone++) { /* … or with the same ranks in the network before */
        memset(meets, 0, sizeof meets);
        phase_of(&phases[1], alone ? &pairs : &three, 0, 4, COLL_GROUP_NODES);
        compose(&outer, &all, phases, 3, 12);
        for (uint32_t rank = 0; rank < 12; rank++)
            note_steps(&outer, rank, rank);
        CHECK_EQ(compare(of_all, 12), 5);
    }
    memset(meets, 0, sizeof meets); /* placed elsewhere, by a table and not */
    phase_of(&phases[1], &four, 0, 3, COLL_GROUP_NODES);
    compose(&outer, &all, phases, 2, 12);
    coll_group_table(&group, table, NULL);
    CHECK_STATUS(coll_plan_place(&outer, &group), COLL_OK);
    for (uint32_t rank = 0; rank < 12; rank++)
        note_steps(&outer, rank, table[rank]);
    CHECK_EQ(compare(of_all, 12), 4);
    coll_group_affine(&group, 5, 1);
    CHECK_STATUS(coll_plan_place(&outer, &group), COLL_OK);
    CHECK(is_member(&outer, COLL_GROUP_NODES, 5));
    CHECK(is_member(&outer, COLL_GROUP_NODES, 8));
    CHECK(!is_member(&outer, COLL_GROUP_NODES, 0));
    CHECK(!is_member(&outer, COLL_GROUP_NODES, 17));
}

/* Of what they are not made for plans do not tell. */
TEST(other_plans)
{
    coll_action actions[4];
    coll_schedule schedule;
    coll_plan replay;
    coll_nodes nodes;
    barrier_plan(&outer, &coll_in_network_barrier, 4);
    CHECK(is_member(&outer, COLL_GROUP_ALL, 3));
    CHECK(!is_member(&outer, COLL_GROUP_NODES, 3));
    barrier_plan(&outer, &coll_linear_barrier, 4);
    CHECK(!is_member(&outer, COLL_GROUP_ALL, 3));
    coll_nodes_even(&nodes, 4, 2);
    CHECK_EQ(build(&coll_node_leader_allreduce.algorithm, COLL_ALLREDUCE, 4, &nodes, NULL), 2);
    CHECK_STATUS(coll_schedule_write(&schedule, &ranks[1].plan, 1, actions, 4), COLL_OK);
    replay = replay_plan(&ranks[1].plan, &schedule);
    CHECK(!is_member(&replay, COLL_GROUP_SOCKETS, 0));
    replay =
        ranks[1]
            .plan; /* that of a call in a cache, which is written out, has nothing inside any more */
    replay.inner = NULL;
    CHECK(is_member(&replay, COLL_GROUP_NODES, 2) && !is_member(&replay, COLL_GROUP_NODES, 3));
    CHECK(!is_member(&replay, COLL_GROUP_SOCKETS, 0));
}

int main(void)
{
    RUN(composites);
    RUN(compositions);
    RUN(other_plans);
    return check_done();
}
