/* What is used is what was proven: every rule, with its own parameters, over its own range; and a rule
 * that is wrong is found */
#include <stdlib.h>

#include "support/check.h"
#include "coll/comm.h"
#include "coll/comm/multi_node.h"
#include "coll/table.h"
#include "coll/select/clusters.h"
#include "coll/select/intra_node.h"
#include "support/rules.h"
#include "support/records.h"

/* The rules of the MPI layer, for either library. */
static const char mpich[] =
#include "../../mpi/layer/tuned.h"
    ;
#define OPEN_MPI 1
static const char open_mpi[] =
#include "../../mpi/layer/tuned.h"
    ;

static rules_proof proof;

static void prove(const char *name, const coll_rule_list *lists)
{
    const uint64_t plans = proof.plans, problems = proof.problems;
    rules_prove(&proof, name, lists);
    CHECK(proof.plans > plans);
    printf("    %s: %llu problems, %llu plans\n", name,
           (unsigned long long)(proof.problems - problems),
           (unsigned long long)(proof.plans - plans));
}

/* The rules of a text, before the built-in ones. */
static void read_table(coll_table *table, const char *name, const char *text)
{
    const size_t bytes = COLL_TABLE_BYTES(100);
    coll_table_init(table, malloc(bytes), bytes);
    if (!CHECK(coll_table_read(table, name, text)))
        printf("    %s\n", table->error.text);
    table->list.next = &coll_rules_built_in;
}

/* ---- by communicators -------------------------------------------------------------------- */

/* A rank's communicator, and what its plan points to. */
typedef struct member {
    coll_comm comm;
    coll_op_entry op;
    coll_request call;
    void *memory;
} member;

static member members[ASKED_RANKS];
static size_t shared_bytes; /* that the transport has, if it has any */

static void combine(void *dst, const void *a, const void *b, size_t n, void *arg)
{
    (void)arg, (void)dst, (void)a, (void)b, (void)n;
}

static coll_status send_nothing(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_ERR_IO;
}

static coll_status recv_nothing(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_ERR_IO;
}

static coll_status test_nothing(void *ctx, coll_handle *h)
{
    (void)ctx, (void)h;
    return COLL_ERR_IO;
}

static coll_status cast_nothing(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                coll_handle *h)
{
    (void)ctx, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_ERR_IO;
}

static coll_status meet_nothing(void *ctx, const coll_network_call *call, coll_handle *h)
{
    (void)ctx, (void)call, (void)h;
    return COLL_ERR_IO;
}

static size_t share_nothing(void *ctx, bool take, uint32_t *binding, void **memory)
{
    (void)ctx, (void)take, (void)binding, (void)memory;
    return shared_bytes;
}

static coll_status enter_nothing(void *ctx, uint32_t tag, uint32_t binding)
{
    (void)ctx, (void)tag, (void)binding;
    return COLL_ERR_IO;
}

static void leave_nothing(void *ctx, uint32_t binding)
{
    (void)ctx, (void)binding;
}

/* What of a problem a rank says in a call. */
static void args_of(const coll_problem *problem, uint32_t rank,
                    const coll_conditions *conditions, coll_args *args)
{
    const bool scatter =
        problem->collective == COLL_SCATTER || problem->collective == COLL_SCATTERV;
    const bool in_place = (problem->flags & COLL_FLAG_IN_PLACE) &&
                          problem->collective != COLL_BCAST &&
                          (rank == problem->root || !coll_is(COLL_ROOTED, problem->collective));
    coll_args_init(args, problem->collective);
    args->root = problem->root;
    args->in = in_place && !scatter ? COLL_IN_PLACE : NULL;
    args->out = in_place && scatter ? COLL_IN_PLACE : NULL;
    args->count = problem->count;
    args->in_counts = problem->in.counts;
    args->in_displs = problem->in.displs;
    args->out_counts = problem->out.counts;
    args->out_displs = problem->out.displs;
    if (problem->collective == COLL_REDUCE_SCATTER &&
        (conditions->capabilities & COLL_NEEDS_PACKED))
        args->in_displs = NULL;
    args->type = COLL_OPAQUE(problem->elem_bytes);
    args->graph = problem->graph;
}

/* Is it a plan of what was asked for, that has room? */
static coll_status check_plan(const member *me, const coll_problem *wanted,
                              const coll_args *args)
{
    const coll_problem *of = &me->call.own.plan.problem;
    const bool in_place = wanted->collective == COLL_BCAST || args->in == COLL_IN_PLACE ||
                          args->out == COLL_IN_PLACE;
    const unsigned bytes = COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_ALLTOALLW) |
                           COLL_BIT(COLL_NEIGHBOR_ALLTOALLW); /* they have elements of one */
    if (of->collective != wanted->collective || of->p != wanted->p ||
        of->graph != wanted->graph || ((of->flags & COLL_FLAG_IN_PLACE) != 0) != in_place ||
        (of->elem_bytes != wanted->elem_bytes && !coll_is(bytes, of->collective)))
        return COLL_ERR_COLLECTIVE;
    if (coll_is(COLL_REDUCING, of->collective) &&
        (of->flags & COLL_FLAG_COMMUTATIVE) != (wanted->flags & COLL_FLAG_COMMUTATIVE))
        return COLL_ERR_ORDER;
    if (coll_is(COLL_ROOTED, of->collective) && of->root != wanted->root)
        return COLL_ERR_ROOT;
    return coll_plan_fits_shared(&me->call.own.plan, shared_bytes) ? COLL_OK : COLL_ERR_SHARED;
}

/* By a communicator that has the rules, over a transport that has what is offered. */
static coll_status by_communicator(void *arg, const rules_question *question, coll_plan *plan,
                                   const coll_rule **rule)
{
    static coll_transport transport;
    static records own;
    const coll_problem *problem = question->problem;
    const unsigned capabilities = question->conditions->capabilities;
    const uint32_t rank = question->rank;
    const coll_op op =
        COLL_OP(combine, NULL, (problem->flags & COLL_FLAG_COMMUTATIVE) != 0, true);
    member *me = &members[rank];
    const size_t bytes = coll_workspace_bytes(problem) + (problem->p + 64) * sizeof(size_t);
    coll_status status;
    coll_args args;
    (void)arg, (void)rule;
    memset(&transport, 0, sizeof transport);
    memset(&own, 0, sizeof own);
    transport.send = send_nothing;
    transport.recv = recv_nothing;
    transport.test = test_nothing;
    transport.tags = 1000;
    own.in_network.multicast = capabilities & COLL_NEEDS_MULTICAST ? cast_nothing : NULL;
    own.in_network.reduce = capabilities & COLL_NEEDS_NETWORK_BARRIER ? meet_nothing : NULL;
    own.in_network.max_bytes = capabilities & COLL_NEEDS_NETWORK_REDUCE ? 0 : 1;
    own.node_memory.shared = capabilities & COLL_NEEDS_SHARED ? share_nothing : NULL;
    own.node_memory.enter = capabilities & COLL_NEEDS_SHARED ? enter_nothing : NULL;
    own.node_memory.leave = capabilities & COLL_NEEDS_SHARED ? leave_nothing : NULL;
    records_use(&own, &transport);
    if (!(capabilities & COLL_NEEDS_NETWORK_REDUCE) &&
        coll_is(COLL_REDUCING, problem->collective) &&
        coll_network_reduce_takes(&transport, problem))
        own.in_network.reduce = NULL; /* nothing is so short that it would not take it */
    records_use(&own, &transport);
    shared_bytes = proof.it.count % 2 ? 1 << 16 : SIZE_MAX / 2;
    free(me->memory);
    me->memory = malloc(bytes);
    args_of(problem, rank, question->conditions, &args);
    status = coll_comm_init(&me->comm, &transport, NULL, rank, problem->p, me->memory, bytes);
    if (status == COLL_OK)
        status = coll_comm_add_op(&me->comm, &me->op, &op, args.type, &args.op);
    if (status == COLL_OK && coll_nodes_count(&problem->nodes) > 1)
        status = coll_comm_nodes(&me->comm, &problem->nodes);
    if (status == COLL_OK)
        status = coll_comm_rules(&me->comm, question->lists);
    if (status != COLL_OK)
        return status;
    me->call.comm = &me->comm;
    status = coll_i_request_prepare(&me->call, &args, coll_i_comm_shared(&me->comm));
    *plan = me->call.own.plan;
    return status == COLL_OK ? check_plan(me, problem, &args) : status;
}

TEST(every_rule_is_proven)
{
    coll_table tuned[2];
    read_table(&tuned[0], "tuned.h, MPICH", mpich);
    read_table(&tuned[1], "tuned.h, Open MPI", open_mpi);
    rules_begin(&proof);
    prove("select.h", &coll_rules_built_in);
    prove("select/inter_node.h", &coll_rules_of_nodes);
    prove("select/intra_node.h", coll_node_rules(false, false));
    prove("select/intra_node.h, in place", coll_node_rules(false, true));
    prove("select/intra_node.h, oversubscribed", coll_node_rules(true, false));
    CHECK(coll_node_rules(true, true) == coll_node_rules(true, false));
    prove("select/cluster_ethernet.h", &coll_cluster_ethernet);
    prove("select/cluster_roce.h", &coll_cluster_roce);
    prove("select/cluster_infiniband.h", &coll_cluster_infiniband);
    prove("select/cluster_crowded.h", &coll_cluster_crowded);
    for (unsigned i = 0; i < 2; i++)
        prove(tuned[i].source, &tuned[i].list);
    proof.select = by_communicator;
    proof.requirements = COLL_GIVES_IDENTICAL;
    prove("communicators", &coll_rules_built_in);
    prove("communicators, select/inter_node.h", &coll_rules_of_nodes);
    prove("communicators, select/intra_node.h", coll_node_rules(false, true));
    prove("communicators, select/intra_node.h, oversubscribed", coll_node_rules(true, false));
    proof.select = NULL;
    rules_end(&proof);
    CHECK_EQ(proof.findings, 0);
    for (uint32_t rank = 0; rank < ASKED_RANKS; rank++)
        free(members[rank].memory);
    for (unsigned i = 0; i < 2; i++)
        free(tuned[i].rules);
}

/* ---- rules that are wrong ---------------------------------------------------------------- */

#define PARAM(k) {k, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT}, 0, "a reason", NULL, 0, 0, 0
#define USUAL    COLL_DEFAULTS("a reason")

/* Proves rules, quickly; is this found first? NULL: nothing is. */
static bool finds(const coll_rule *rules, size_t n, const char *said)
{
    const coll_rule_list list = {rules, n, NULL};
    bool same;
    proof.quiet = true;
    proof.p_most = proof.beyond = 9;
    proof.draws = 30;
    rules_prove(&proof, "these", &list);
    rules_end(&proof);
    same = said ? proof.findings > 0 && strstr(proof.first, said) : proof.findings == 0;
    if (!same)
        printf("    %u findings, the first: %s\n", proof.findings, proof.first);
    return same;
}

/* The same of rules that leave problems open. */
static bool finds_in(const coll_rule *rules, size_t n, const char *said)
{
    rules_begin(&proof);
    proof.open = true;
    return finds(rules, n, said);
}

/* Wrong for seven ranks and segments of three elements alone: a rank sends one too few. */
static unsigned short_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const unsigned n = coll_fnomial_bcast.step(plan, rank, s, out);
    if (plan->problem.p == 7 && plan->param[1] == 3 && rank == 1)
        for (unsigned i = 0; i < n; i++)
            out[i].count -= out[i].kind == COLL_DO_SEND && out[i].count > 0;
    return n;
}

TEST(unproven_plans_are_found)
{
    coll_algorithm broken = coll_fnomial_bcast;
    coll_rule rule = {COLL_BIT(COLL_BCAST),
                      3,
                      8,
                      COLL_I_KIB(256),
                      SIZE_MAX,
                      &broken,
                      COLL_IN_SEGMENTS(1, 65536, "a reason")};
    CHECK(finds_in(&rule, 1, NULL));
    broken.step = short_step;
    CHECK(finds_in(&rule, 1, "which sent"));
    rule.param[1] = COLL_DEFAULT;
    rule.in_bytes = 0;
    CHECK(finds_in(&rule, 1, NULL));
    rule.p_most = 6;
    rule.param[1] = 3;
    CHECK(finds_in(&rule, 1, NULL));
    rule.p_most = 7;
    CHECK(finds_in(&rule, 1, "which sent"));
}

TEST(refusals_are_found)
{
    static const uint32_t k[] = {1, 3};
    const coll_binding inter[] = {{COLL_INTER, &coll_recursive_multiplying_allreduce, &k[0]},
                                  {COLL_INTER, &coll_recursive_multiplying_allreduce, &k[1]},
                                  {COLL_INTER, &coll_chain_bcast, NULL}};
    const coll_rule rules[] = {
        {COLL_BIT(COLL_ALLREDUCE), 3, 8, 0, 64, &coll_recursive_multiplying_allreduce,
         PARAM(1)},
        {COLL_BIT(COLL_ALLREDUCE), 3, 8, 0, 64, &coll_recursive_multiplying_allreduce,
         PARAM(3)},
        {COLL_BIT(COLL_BCAST), 4, 8, 0, 64, &coll_mesh_tree_bcast, PARAM(4)},
        {COLL_BIT(COLL_BCAST), 8, 8, 0, 64, &coll_mesh_tree_bcast, PARAM(4)},
    };
    coll_rule levels = {
        COLL_BIT(COLL_ALLREDUCE), 3, 9, 0, 64, &coll_two_level_allreduce.algorithm, USUAL};
    CHECK(finds_in(&rules[0], 1, "outside of its range"));
    CHECK(finds_in(&rules[1], 1, NULL));
    CHECK(finds_in(&rules[2], 1, "does not fit the algorithm's geometry, for bcast p=5"));
    CHECK(finds_in(&rules[3], 1, NULL));
    levels.n_bindings = 1;
    levels.bindings = &inter[0];
    CHECK(finds_in(&levels, 1, "outside of its range"));
    levels.bindings = &inter[1];
    CHECK(finds_in(&levels, 1, NULL));
    levels.bindings = &inter[2];
    CHECK(finds_in(&levels, 1, "does not solve this collective"));
}

static const coll_rule any = {COLL_BIT(COLL_ALLREDUCE), 1,    COLL_ANY_P, 0, SIZE_MAX,
                              &coll_linear_allreduce,   USUAL};

TEST(rules_that_nothing_reaches_are_found)
{
    coll_algorithm powers = coll_linear_allreduce;
    coll_rule rules[] = {any, any};
    powers.traits |= COLL_NEEDS_POWER_OF_TWO;
    rules[0].p_least = 4;
    CHECK(finds_in(rules, 2, NULL));
    rules[1].p_least = 5;
    CHECK(finds_in(rules, 2, "another rule comes first, allreduce  p 4..  linear"));
    rules[0].p_most = 3;
    CHECK(finds_in(rules, 1, "its range is empty"));
    rules[0] = any;
    rules[0].bytes_least = 10;
    rules[0].bytes_most = 9;
    CHECK(finds_in(rules, 1, "its range is empty"));
    rules[0] = any;
    rules[0].p_most = 9;
    rules[0].ppn_least = rules[0].ppn_most = 9;
    CHECK(finds_in(rules, 1, "its range is empty"));
    rules[0].ppn_least = 8;
    CHECK(finds_in(rules, 1, NULL));
    rules[0] = any;
    rules[0].p_least = 5;
    rules[0].p_most = 7;
    rules[0].algorithm = &powers;
    CHECK(
        finds_in(rules, 1, "its algorithm refuses them all, the number of ranks does not fit"));
    rules[0].p_most = 8;
    CHECK(finds_in(rules, 1, NULL));
}

TEST(rules_that_are_written_wrong_are_found)
{
    coll_rule rule = any;
    CHECK(finds_in(&rule, 1, NULL));
    rule.in_bytes = 8;
    CHECK(finds_in(&rule, 1, "has a parameter that its algorithm does not have"));
    rule = any;
    rule.why = "";
    CHECK(finds_in(&rule, 1, "does not say why"));
    rule = any;
    rule.collectives |= COLL_BIT(COLL_REDUCE);
    CHECK(finds_in(&rule, 1, "has an algorithm of other collectives"));
}

/* ---- selection that is wrong ------------------------------------------------------------- */

/* Odd ranks think that they are on one node. */
static coll_status odd_ones_out(void *arg, const rules_question *question, coll_plan *plan,
                                const coll_rule **rule)
{
    coll_problem problem = *question->problem;
    (void)arg;
    if (question->rank % 2 == 1)
        coll_nodes_even(&problem.nodes, problem.p, problem.p);
    return coll_select_from(question->lists, &problem, question->conditions,
                            question->workspace, plan, rule);
}

/* What is asked for is not looked at. */
static coll_status careless(void *arg, const rules_question *question, coll_plan *plan,
                            const coll_rule **rule)
{
    const coll_conditions conditions = {~0u, 0};
    (void)arg;
    return coll_select_from(question->lists, question->problem, &conditions,
                            question->workspace, plan, rule);
}

TEST(wrong_selection_is_found)
{
    const coll_rule levels[] = {{COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, SIZE_MAX,
                                 &coll_two_level_allreduce.algorithm,
                                 COLL_DEFAULTS("a reason")},
                                any};
    coll_rule rules[] = {levels[0], any};
    rules[0].ppn_least = 2;
    rules[0].ppn_most = UINT32_MAX;
    rules_begin(&proof);
    CHECK(finds(rules, 2, NULL));
    rules_begin(&proof);
    proof.select = odd_ones_out;
    CHECK(finds(rules, 2, "is not what rank 0 chooses"));
    rules[0] = any;
    rules[0].algorithm = &coll_shm_allreduce;
    rules_begin(&proof);
    CHECK(finds(rules, 2, NULL));
    rules_begin(&proof);
    proof.select = careless;
    CHECK(finds(rules, 2, "breaks the terms"));
    rules_begin(&proof);
    rules[1].p_least = 3;
    CHECK(finds(&rules[1], 1, NULL));
    rules[1] = rules[0];
    rules_begin(&proof);
    CHECK(finds(&rules[1], 1, "\"no rule\" the transport lacks a capability"));
}

int main(void)
{
    RUN(every_rule_is_proven);
    RUN(unproven_plans_are_found);
    RUN(refusals_are_found);
    RUN(rules_that_nothing_reaches_are_found);
    RUN(rules_that_are_written_wrong_are_found);
    RUN(wrong_selection_is_found);
    return check_done();
}
