/* What a call asks for: arguments that it has not are not read, what a communicator offers to an
 * algorithm, which errors all ranks find, and how often nothing happened while a rank waits. */
#include "coll/algos/registry.h"
#include "support/comm_loopback.h"

enum { MESSAGES = 64 };

static coll_request requests[P];

/* Communicators and calls in memory that holds this. */
static void begin_in(int fill)
{
    memset(requests, fill, sizeof requests);
    loopback_begin(MESSAGES, coll_loopback_transport.tags, fill);
}

static void begin(void)
{
    begin_in(0xA5);
}

static void finish(void)
{
    bool open[P] = {true, true, true};
    uint32_t left = P;
    for (unsigned round = 0; left > 0 && round < 1000; round++)
        for (uint32_t r = 0; r < P; r++) {
            const coll_status status = open[r] ? coll_test(&requests[r]) : COLL_AGAIN;
            if (status == COLL_AGAIN)
                continue;
            CHECK_STATUS(status, COLL_OK);
            open[r] = false;
            left--;
        }
    CHECK_EQ(left, 0);
}

/* ---- arguments --------------------------------------------------------------------------- */

/* Sets all that the collective has not to what would do harm. */
static void spoil(coll_args *args)
{
    static size_t wild[P] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    const coll_collective it = args->collective;
    const coll_args was = *args;
    if (!coll_is(COLL_ROOTED, it))
        args->root = 2;
    if (!coll_is(COLL_REDUCING, it))
        args->op = COLL_OPERATORS;
    args->graph = (const coll_graph *)(const void *)wild;
    args->in_counts = args->in_displs = args->out_counts = args->out_displs = wild;
    switch (it) {
    case COLL_BARRIER:
        args->type = COLL_TYPES;
        args->count = 77;
        break;
    case COLL_ALLTOALLW:
        args->type = COLL_TYPES; /* fall through */
    case COLL_ALLTOALLV:
        args->count = 77;
        args->in_counts = was.in_counts;
        args->in_displs = was.in_displs;
        args->out_counts = was.out_counts;
        args->out_displs = was.out_displs;
        break;
    case COLL_REDUCE_SCATTER:
        args->count = 77;
        args->in_counts = was.in_counts;
        args->in_displs = was.in_displs;
        break;
    case COLL_ALLGATHERV:
    case COLL_GATHERV:
        args->out_counts = was.out_counts;
        args->out_displs = was.out_displs;
        break;
    case COLL_SCATTERV:
        args->in_counts = was.in_counts;
        args->in_displs = was.in_displs;
        break;
    default:
        break;
    }
}

/* Twice, so that the second call is one that is remembered. A plan knows nothing of what is spoilt. */
TEST(what_a_collective_has_not_is_not_read)
{
    static const size_t ones[P] = {1, 1, 1}, places[P] = {0, 1, 2};
    begin();
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        const coll_collective it = (coll_collective)c;
        const bool sums = coll_is(COLL_REDUCING, c), bytes = it == COLL_ALLTOALLW;
        if (coll_is(COLL_NEIGHBORLY, c))
            continue;
        for (int again = 0; again < 2; again++) {
            uint8_t in[P][P], out[P][P];
            for (uint32_t r = 0; r < P; r++) {
                coll_args args;
                const coll_problem *problem;
                for (uint32_t i = 0; i < P; i++)
                    in[r][i] = (uint8_t)(10 * r + i + 1);
                memset(out[r], 0, sizeof out[r]);
                coll_i_reducing(&args, it, it == COLL_BCAST ? COLL_IN_PLACE : in[r], out[r], 1,
                                COLL_U8, COLL_SUM, 0);
                if (it == COLL_BCAST && r == 0)
                    out[r][0] = 1;
                args.in_counts = args.out_counts = ones;
                args.in_displs = args.out_displs = places;
                spoil(&args);
                CHECK_STATUS(coll_post(&comms[r], &args, &requests[r]), COLL_OK);
                problem = &requests[r].engine.task.plan->problem;
                CHECK_EQ(problem->root, 0);
                CHECK(problem->graph == NULL);
                if (coll_is(COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_ALLGATHERV) |
                                COLL_BIT(COLL_ALLTOALLV) | COLL_BIT(COLL_ALLTOALLW) |
                                COLL_BIT(COLL_REDUCE_SCATTER),
                            c))
                    CHECK_EQ(problem->count, 0);
                CHECK_EQ(problem->elem_bytes, 1);
                CHECK((requests[r].engine.task.plan != &requests[r].own.plan) == (again != 0));
                CHECK((requests[r].engine.task.op != NULL) == sums);
                CHECK(requests[r].engine.task.shared == NULL &&
                      requests[r].engine.task.shared_bytes == 0);
            }
            finish();
            if (it == COLL_BCAST || it == COLL_SCATTER || it == COLL_SCATTERV)
                CHECK_EQ(out[2][0], it == COLL_BCAST ? 1 : 3);
            if (it == COLL_ALLREDUCE || it == COLL_REDUCE)
                CHECK_EQ(out[0][0], 33);
            if (it == COLL_SCAN || it == COLL_EXSCAN)
                CHECK_EQ(out[2][0], it == COLL_SCAN ? 33 : 12);
            if (it == COLL_REDUCE_SCATTER || it == COLL_REDUCE_SCATTER_BLOCK)
                CHECK_EQ(out[1][0], 36);
            if (it == COLL_ALLGATHER || it == COLL_ALLGATHERV || it == COLL_GATHER ||
                it == COLL_GATHERV)
                CHECK_EQ(out[0][2], 21);
            if (it == COLL_ALLTOALL || it == COLL_ALLTOALLV || bytes)
                CHECK_EQ(out[1][2], 22);
        }
    }
    loopback_end();
}

/* Of tables every entry counts: a plan for others is not used, whatever the memory held in which it is
 * remembered. */
TEST(tables_that_differ_somewhere)
{
    static const size_t ones[P] = {1, 1, 1};
    static const size_t places[][P] = {{0, 1, 2}, {0, 2, 1}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}};
    enum { TIMES = sizeof places / sizeof places[0] };
    for (int fill = 0; fill < 2; fill++) {
        begin_in(fill ? 0xA5 : 0);
        for (unsigned i = 0; i < 3 * TIMES; i++) {
            const size_t *const displs = places[i % TIMES];
            uint8_t in[P][P], out[P][P];
            memset(out, 0, sizeof out);
            for (uint32_t r = 0; r < P; r++) {
                for (uint32_t k = 0; k < P; k++)
                    in[r][k] = (uint8_t)(10 * r + k + 1);
                CHECK_STATUS(i < TIMES ? coll_iallgatherv(&comms[r], in[r], 1, out[r], ones,
                                                          displs, COLL_U8, &requests[r])
                             : i < 2 * TIMES
                                 ? coll_ialltoallv(&comms[r], in[r], ones, places[0], out[r],
                                                   ones, displs, COLL_U8, &requests[r])
                                 : coll_ialltoallv(&comms[r], in[r], ones, displs, out[r], ones,
                                                   places[0], COLL_U8, &requests[r]),
                             COLL_OK);
                CHECK((requests[r].engine.task.plan != &requests[r].own.plan) ==
                      (i % TIMES == 2 || i == 2 * TIMES)); /* the latter is i == TIMES again */
            }
            finish();
            for (uint32_t r = 0; r < P; r++)
                for (uint32_t k = 0; k < P; k++)
                    CHECK_EQ(out[r][i < 2 * TIMES ? displs[k] : k],
                             10 * k + 1 +
                                 (i < TIMES       ? 0
                                  : i < 2 * TIMES ? r
                                                  : displs[r]));
        }
        loopback_end();
    }
}

/* A call that is remembered is refused without the buffers that it needs, and only without these. */
TEST(buffers_of_calls_made_again)
{
    double x[P], y[P][P];
    begin();
    for (int again = 0; again < 3; again++) {
        for (uint32_t r = 0; r < P; r++) {
            x[r] = r;
            CHECK_STATUS(coll_igather(&comms[r], &x[r], r == 0 ? y[0] : NULL, 1, COLL_F64, 0,
                                      &requests[r]),
                         COLL_OK);
        }
        finish();
        CHECK(y[0][0] == 0 && y[0][1] == 1 && y[0][2] == 2);
        for (uint32_t r = 0; r < P; r++)
            CHECK_STATUS(coll_iscatter(&comms[r], r == 0 ? y[0] : NULL, &x[r], 1, COLL_F64, 0,
                                       &requests[r]),
                         COLL_OK);
        finish();
        CHECK(x[2] == 2);
        for (uint32_t r = 0; r < P; r++)
            CHECK_STATUS(
                coll_iallreduce(&comms[r], &x[r], y[r], 1, COLL_F64, COLL_SUM, &requests[r]),
                COLL_OK);
        finish();
        CHECK(y[1][0] == 3);
    }
    CHECK_STATUS(coll_iallreduce(&comms[0], &x[0], NULL, 1, COLL_F64, COLL_SUM, &requests[0]),
                 COLL_ERR_NULL);
    CHECK_STATUS(coll_iallreduce(&comms[1], NULL, y[1], 1, COLL_F64, COLL_SUM, &requests[1]),
                 COLL_ERR_NULL);
    loopback_end();
}

/* An operator that is gone is not used, whatever its number. */
TEST(operators_of_calls_made_again)
{
    coll_op op;
    coll_op_entry entry;
    coll_operator number = 0;
    coll_comm alone;
    double x = 3, y = 0;
    begin();
    CHECK_STATUS(coll_comm_init(&alone, &transport, &ends[0], 0, 1, NULL, 0), COLL_OK);
    CHECK_STATUS(coll_comm_set_cache(&alone, caches[0], sizeof caches[0]), COLL_OK);
    CHECK_STATUS(coll_op_builtin(&op, COLL_SUM, COLL_F64), COLL_OK);
    CHECK_STATUS(coll_comm_add_op(&alone, &entry, &op, COLL_F64, &number), COLL_OK);
    CHECK_EQ(number, COLL_USER_OP);
    for (int again = 0; again < 2; again++)
        CHECK_STATUS(coll_allreduce(&alone, &x, &y, 1, COLL_F64, number), COLL_OK);
    CHECK_STATUS(coll_comm_remove_op(&alone, number), COLL_OK);
    CHECK_STATUS(coll_allreduce(&alone, &x, &y, 1, COLL_F64, number), COLL_ERR_OP);
    alone.n_ops = UINT32_MAX - 1 - COLL_USER_OP; /* the last number but for one */
    CHECK_STATUS(coll_comm_add_op(&alone, &entry, &op, COLL_F64, &number), COLL_OK);
    CHECK_EQ(number, UINT32_MAX - 1);
    CHECK_STATUS(coll_comm_add_op(&alone, &entry, &op, COLL_F64, &number), COLL_ERR_OVERFLOW);
    loopback_end();
}

/* ---- what there is ----------------------------------------------------------------------- */

static unsigned offers_of(const coll_comm *comm, coll_collective collective,
                          const size_t *displs, size_t count, size_t shared)
{
    coll_args args;
    coll_problem problem;
    coll_args_init(&args, collective);
    args.in_displs = displs;
    coll_problem_init(&problem, collective, comm->p, count, 1);
    return coll_i_comm_capabilities(comm, &args, &problem, shared);
}

/* Multicasts, reductions by the network and SHARED are for all ranks in their order, … */
TEST(capabilities)
{
    static const uint32_t same[P] = {0, 1, 2}, other[P] = {2, 0, 1};
    static const size_t places[P] = {0, 1, 2};
    const unsigned packed = COLL_NEEDS_PACKED, multicast = COLL_NEEDS_MULTICAST,
                   in_network = COLL_NEEDS_NETWORK_BARRIER | COLL_NEEDS_NETWORK_REDUCE,
                   all = multicast | in_network;
    coll_comm sub, alone;
    coll_group group;
    begin();
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 1, 0), all);
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 1, 1), all | COLL_NEEDS_SHARED);
    CHECK_EQ(offers_of(&comms[0], COLL_REDUCE_SCATTER, NULL, 1, 0), all | packed);
    CHECK_EQ(offers_of(&comms[0], COLL_REDUCE_SCATTER, places, 1, 0), all);
    own.in_network.multicast = NULL;
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 1, 0), in_network);
    records_of(&own, &coll_loopback_transport);
    own.in_network.max_bytes = 4;
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 4, 0), all);
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 5, 0),
             multicast | COLL_NEEDS_NETWORK_BARRIER);
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 0, 0), all);
    own.in_network.reduce = NULL;
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 1, 0), multicast);
    own.in_network.max_bytes = 0;
    CHECK_EQ(offers_of(&comms[0], COLL_BCAST, NULL, 1, 0), multicast);
    records_of(&own, &coll_loopback_transport);
    CHECK_STATUS(coll_comm_dup(&sub, &comms[0], 2), COLL_OK);
    CHECK_EQ(offers_of(&sub, COLL_BCAST, NULL, 1, 0), all);
    CHECK_STATUS(coll_comm_free(&sub), COLL_OK);
    for (unsigned k = 0; k < 3; k++) { /* … and not for some, in another order, or by a table */
        if (k == 0)
            coll_group_identity(&group);
        else
            coll_group_table(&group, k == 1 ? other : same, NULL);
        CHECK_STATUS(coll_comm_create(&sub, &comms[0], &group, k == 0 ? P - 1 : P, 2), COLL_OK);
        CHECK_EQ(offers_of(&sub, COLL_BCAST, NULL, 1, 0), 0);
        CHECK_EQ(offers_of(&sub, COLL_REDUCE_SCATTER, NULL, 1, 0), packed);
        CHECK_STATUS(coll_comm_free(&sub), COLL_OK);
    }
    own.in_network.ranks = NULL;
    CHECK_STATUS(coll_comm_init(&alone, &transport, &ends[0], 0, 1, NULL, 0), COLL_OK);
    CHECK_STATUS(coll_comm_set_cache(&alone, caches[0], sizeof caches[0]), COLL_OK);
    coll_group_affine(&group, 0, 5); /* of one rank all steps are the same */
    CHECK_STATUS(coll_comm_create(&sub, &alone, &group, 1, 2), COLL_OK);
    CHECK_EQ(offers_of(&sub, COLL_BCAST, NULL, 1, 0), all);
    CHECK_STATUS(coll_comm_free(&sub), COLL_OK);
    CHECK_STATUS(coll_comm_free(&alone), COLL_OK);
    loopback_end();
}

/* What the network reduces of a reduce_scatter is all blocks. */
TEST(what_the_network_takes)
{
    static const size_t counts[P] = {1, 0, 4}, places[P] = {0, 1, 1};
    coll_problem problem;
    transport = coll_loopback_transport;
    records_of(&own, &transport);
    records_use(&own, &transport);
    for (size_t most = 1; most < 40; most++) {
        own.in_network.max_bytes = most;
        coll_problem_init(&problem, COLL_ALLREDUCE, P, 5, 2);
        CHECK(coll_network_reduce_takes(&transport, &problem) == (most >= 10));
        coll_problem_init(&problem, COLL_REDUCE_SCATTER_BLOCK, P, 5, 2);
        CHECK(coll_network_reduce_takes(&transport, &problem) == (most >= 30));
        coll_problem_init(&problem, COLL_REDUCE_SCATTER, P, 0, 2);
        problem.in.counts = counts;
        problem.in.displs = places;
        CHECK(coll_network_reduce_takes(&transport, &problem) == (most >= 10));
    }
    coll_problem_init(&problem, COLL_ALLREDUCE, P, SIZE_MAX / 2 + 2, 2);
    CHECK(!coll_network_reduce_takes(&transport, &problem));
    own.in_network.max_bytes = 0;
    CHECK(coll_network_reduce_takes(&transport, &problem));
}

/* No rule gives ranks sums that differ; the caller may. */
TEST(identical)
{
    coll_algorithm differs = coll_linear_allreduce;
    coll_rule rule = {COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, SIZE_MAX, NULL,
                      COLL_DEFAULTS("differs")};
    const coll_rule_list lists = {&rule, 1, &coll_rules_built_in};
    double x = 1, y;
    differs.traits &= ~(uint32_t)COLL_GIVES_IDENTICAL;
    rule.algorithm = &differs;
    begin();
    for (int forced = 0; forced < 2; forced++) {
        for (uint32_t r = 0; r < P; r++) {
            CHECK_STATUS(coll_comm_rules(&comms[r], &lists), COLL_OK);
            if (forced)
                CHECK_STATUS(coll_comm_set_algorithm(&comms[r], COLL_ALLREDUCE, &differs, NULL),
                             COLL_OK);
            CHECK_STATUS(
                coll_iallreduce(&comms[r], &x, &y, 1, COLL_F64, COLL_SUM, &requests[r]),
                COLL_OK);
            CHECK((requests[r].engine.task.plan->algorithm == &differs) == (forced != 0));
        }
        finish();
    }
    loopback_end();
}

/* Rules, and choices, are those of the next call, also where it is one that was made before. */
TEST(rules_that_change)
{
    static const coll_rule mine = {
        COLL_BIT(COLL_ALLREDUCE), 1, COLL_ANY_P, 0, SIZE_MAX, &coll_linear_allreduce,
        COLL_DEFAULTS("mine")};
    static const coll_rule_list lists = {&mine, 1, &coll_rules_built_in};
    coll_comm alone;
    coll_request request;
    double x = 3, y = 0;
    begin();
    CHECK_STATUS(coll_comm_init(&alone, &transport, &ends[0], 0, 1, arenas[0], ARENA), COLL_OK);
    CHECK_STATUS(coll_comm_set_cache(&alone, caches[0], sizeof caches[0]), COLL_OK);
    for (unsigned i = 0; i < 12; i++) {
        const bool is_mine = i / 3 % 2 != 0;
        if (i % 3 == 0)
            CHECK_STATUS(
                i < 6 ? coll_comm_rules(&alone, is_mine ? &lists : NULL)
                      : coll_comm_set_algorithm(&alone, COLL_ALLREDUCE,
                                                is_mine ? &coll_linear_allreduce : NULL, NULL),
                COLL_OK);
        if (i == 6) /* the rules of before are still there */
            CHECK_STATUS(coll_comm_rules(&alone, NULL), COLL_OK);
        CHECK_STATUS(coll_iallreduce(&alone, &x, &y, 1, COLL_F64, COLL_SUM, &request), COLL_OK);
        CHECK((request.engine.task.plan->algorithm == &coll_linear_allreduce) == is_mine);
        CHECK((request.engine.task.plan != &request.own.plan) == (i % 3 != 0));
        CHECK_STATUS(coll_wait(&request), COLL_OK);
    }
    loopback_end();
}

/* ---- errors, waiting --------------------------------------------------------------------- */

/* A communicator fails unless all ranks find the error. */
TEST(errors_that_all_ranks_find)
{
    static const coll_i_comm_builder builder = {NULL, NULL};
    static const coll_status alike[] = {
        COLL_ERR_COLLECTIVE, COLL_ERR_PARAM,  COLL_ERR_ORDER,  COLL_ERR_SHAPE,
        COLL_ERR_GROUP,      COLL_ERR_NODES,  COLL_ERR_SHARED, COLL_ERR_CAPABILITY,
        COLL_ERR_BUILD,      COLL_ERR_PROMISE};
    static const coll_status alone[] = {COLL_ERR_NULL,   COLL_ERR_COUNTS, COLL_ERR_SIZE,
                                        COLL_ERR_MEMORY, COLL_ERR_STATE,  COLL_ERR_OVERFLOW,
                                        COLL_ERR_GRAPH,  COLL_ERR_IO,     COLL_ERR_LAYOUT};
    coll_args args;
    coll_comm *const comm = &comms[0];
    begin();
    coll_args_init(&args, COLL_ALLREDUCE);
    for (int built = 0; built < 2; built++) {
        comm->builder = built ? &builder : NULL;
        for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
            CHECK(coll_i_args_fail_alike(comm, &args, alike[i]) == !built);
        for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
            CHECK(!coll_i_args_fail_alike(comm, &args, alone[i]));
        CHECK(coll_i_args_fail_alike(comm, &args, COLL_ERR_ROOT));
        CHECK(coll_i_args_fail_alike(comm, &args, COLL_ERR_TYPE));
        args.op = COLL_USER_OP;
        CHECK(!coll_i_args_fail_alike(comm, &args, COLL_ERR_OP));
        args.op = COLL_USER_OP - 1;
        CHECK(coll_i_args_fail_alike(comm, &args, COLL_ERR_OP));
        CHECK(coll_i_args_fail_alike(comm, &args, COLL_ERR_IN_PLACE) == !built);
        args.collective = COLL_REDUCE;
        CHECK(!coll_i_args_fail_alike(comm, &args, COLL_ERR_IN_PLACE));
        args.collective = COLL_ALLREDUCE;
    }
    comm->builder = NULL;
    loopback_end();
}

static uint32_t waits, idles[100];

/* The others do nothing until this rank has waited ten times. */
static void recorded_wait(void *ctx, uint32_t idle)
{
    CHECK(ctx == &ends[0]);
    if (waits < 100)
        idles[waits++] = idle;
    if (waits > 10)
        for (uint32_t r = 1; r < P; r++)
            coll_progress(&comms[r]);
}

/* A rank tells its transport how often nothing happened, one after the other: a call that runs waits,
 * one is queued behind it, and one has ended of which nobody was told. */
TEST(idle_rounds_are_counted)
{
    coll_request more[P][2];
    begin();
    transport.wait = recorded_wait;
    for (uint32_t r = 0; r < P; r++) {
        comms[r].turns = 1; /* tags that go round */
        CHECK_STATUS(coll_ibarrier(&comms[r], &requests[r]), COLL_OK);
    }
    for (uint32_t round = 0; round < 100; round++)
        coll_progress(&comms[round % P]);
    CHECK(requests[0].state == COLL_REQUEST_DONE);
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < 2; i++)
            CHECK_STATUS(coll_ibarrier(&comms[r], &more[r][i]), COLL_OK);
    CHECK(more[0][1].state == COLL_REQUEST_QUEUED);
    waits = 0;
    CHECK_STATUS(coll_wait(&more[0][1]), COLL_OK);
    CHECK(waits > 10);
    for (uint32_t i = 2; i < 10; i++)
        CHECK_EQ(idles[i], idles[i - 1] + 1);
    CHECK_EQ(comms[0].idle, 0);
    finish();
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < 2; i++)
            CHECK_STATUS(coll_wait(&more[r][i]), COLL_OK);
    loopback_end();
}

/* ---- SHARED ------------------------------------------------------------------------------ */

enum { PART = 1 << 16, TAG = 5, FIRST_USE = 70 };

static unsigned char part[PART];
static uint32_t next_use, entered, left_use, leaves;
static coll_status refuses; /* enter says so, once it was asked three times */

static size_t fake_shared(void *ctx, bool take, uint32_t *use, void **memory)
{
    (void)ctx;
    *use = next_use;
    next_use += take ? 1 : 0;
    *memory = part;
    return sizeof part;
}

static coll_status fake_enter(void *ctx, uint32_t tag, uint32_t use)
{
    (void)ctx;
    CHECK_EQ(tag, TAG);
    CHECK_EQ(use, next_use - 1);
    return ++entered > 3 ? refuses : COLL_AGAIN;
}

static void fake_leave(void *ctx, uint32_t use)
{
    (void)ctx;
    leaves++;
    left_use = use;
}

/* A call enters its part of SHARED before it starts, and leaves it once, whatever its end. A persistent
 * one has none, nor has one of a part of the ranks, or of a transport without tags. */
TEST(a_part_of_shared)
{
    coll_comm alone, sub;
    coll_request request;
    double x = 3, y = 0;
    begin();
    own.node_memory.shared = fake_shared;
    own.node_memory.enter = fake_enter;
    own.node_memory.leave = fake_leave;
    records_use(&own, &transport);
    next_use = FIRST_USE;
    leaves = 0;
    CHECK_STATUS(coll_comm_init(&alone, &transport, &ends[0], 0, 1, arenas[0], ARENA), COLL_OK);
    CHECK_STATUS(coll_comm_set_cache(&alone, caches[0], sizeof caches[0]), COLL_OK);
    alone.turn = TAG;
    CHECK_STATUS(coll_comm_set_algorithm(&alone, COLL_ALLREDUCE, &coll_shm_allreduce, NULL),
                 COLL_OK);
    for (uint32_t again = 0; again < 3; again++) {
        entered = 0;
        refuses = again < 2 ? COLL_OK : COLL_ERR_IO;
        alone.turn = TAG;
        CHECK_STATUS(coll_iallreduce(&alone, &x, &y, 1, COLL_F64, COLL_SUM, &request), COLL_OK);
        CHECK(request.state == COLL_REQUEST_QUEUED);
        CHECK_STATUS(coll_test(&request), COLL_AGAIN);
        CHECK(alone.idle > 0);
        CHECK_STATUS(coll_wait(&request), refuses);
        CHECK_EQ(entered, 4);
        CHECK_EQ(leaves, again + 1);
        CHECK_EQ(left_use, FIRST_USE + again);
        CHECK_EQ(next_use, FIRST_USE + again + 1);
    }
    alone.status = COLL_OK;
    CHECK_STATUS(coll_allreduce_init(&alone, &x, &y, 1, COLL_F64, COLL_SUM, &request),
                 COLL_ERR_CAPABILITY);
    CHECK_EQ(coll_i_comm_shared(&alone), PART);
    CHECK_STATUS(coll_comm_dup(&sub, &alone, 4), COLL_OK);
    CHECK_EQ(coll_i_comm_shared(&sub), 0);
    alone.shares = 4;
    alone.share = 3;
    CHECK_EQ(coll_i_comm_shared(&alone), PART / 4 / 64 * 64);
    alone.shares = 0;
    CHECK_EQ(coll_i_comm_shared(&alone), 0);
    transport.tags = 0;
    CHECK_STATUS(coll_comm_init(&sub, &transport, alone.ctx, 0, 1, NULL, 0), COLL_OK);
    CHECK_EQ(coll_i_comm_shared(&sub), 0);
    loopback_end();
}

/* A communicator says which capability an algorithm lacks. */
TEST(what_is_missing)
{
    static const struct {
        coll_collective collective;
        const coll_algorithm *algorithm;
        unsigned lacks;
        const char *text;
    } some[] = {{COLL_BCAST, &coll_multicast_bcast, COLL_NEEDS_MULTICAST, "multicasts"},
                {COLL_BARRIER, &coll_in_network_barrier, COLL_NEEDS_NETWORK_BARRIER,
                 "barriers in the network"},
                {COLL_ALLREDUCE, &coll_in_network_allreduce, COLL_NEEDS_NETWORK_REDUCE,
                 "reductions in the network"},
                {COLL_ALLREDUCE, &coll_shm_allreduce, COLL_NEEDS_SHARED, "shared memory"},
                {COLL_BARRIER, &coll_dissemination_barrier, 0, "nothing"}};
    begin();
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        double x = 1, y = 0;
        coll_args args;
        coll_args_init(&args, some[i].collective);
        args.type = COLL_F64;
        args.count = 1;
        args.op = COLL_SUM;
        args.in = &x;
        args.out = &y;
        CHECK_STATUS(
            coll_comm_set_algorithm(&comms[0], some[i].collective, some[i].algorithm, NULL),
            COLL_OK);
        if (some[i].lacks != COLL_NEEDS_SHARED)
            CHECK_EQ(coll_comm_lacks(&comms[0], &args, false), 0);
        own.in_network.multicast = NULL;
        own.in_network.reduce = NULL;
        if (some[i].lacks)
            CHECK_STATUS(coll_post(&comms[0], &args, &requests[0]), COLL_ERR_CAPABILITY);
        CHECK_EQ(coll_comm_lacks(&comms[0], &args, false), some[i].lacks);
        CHECK_EQ(coll_comm_lacks(&comms[0], &args, true), some[i].lacks);
        CHECK(strcmp(coll_capability_text(some[i].lacks), some[i].text) == 0);
        own.in_network.multicast = coll_loopback_transport.in_network->multicast;
        own.in_network.reduce = coll_loopback_transport.in_network->reduce;
    }
    loopback_end();
}

int main(void)
{
    RUN(what_is_missing);
    RUN(what_a_collective_has_not_is_not_read);
    RUN(tables_that_differ_somewhere);
    RUN(buffers_of_calls_made_again);
    RUN(operators_of_calls_made_again);
    RUN(capabilities);
    RUN(what_the_network_takes);
    RUN(identical);
    RUN(rules_that_change);
    RUN(errors_that_all_ranks_find);
    RUN(idle_rounds_are_counted);
    RUN(a_part_of_shared);
    return check_done();
}
