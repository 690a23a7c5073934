/* The executor on real data: every row of the registry over loopback, with every window, cut messages, late
 * copies and reductions; actions that no row uses; what coll_run_check refuses; cancelling and starting again. */
#include "check.h"
#include "flaky.h"

#include "coll/registry.h"

/* ---- algorithms that use what no row uses ------------------------------------------------ */

/* Allreduce at a hub: rank 0 collects all vectors, adds them up in one pass and sends the sum to all at once. */
static size_t hub_steps(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? plan->problem.p + (size_t)1 : 2;
}

static unsigned hub_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t n = plan->problem.count;
    const coll_ref sum = COLL_AT(COLL_OUT, 0);
    if (rank != 0) {
        if (s == 0)
            coll_act_send(out, 0, coll_input(plan), n);
        else
            coll_act_recv(out, 0, sum, n);
    } else if (s + 1 < p) {
        coll_act_recv(out, (uint32_t)s + 1, COLL_AT(COLL_SCRATCH, s * (n + 1)), n);
    } else if (s == p) {
        coll_act_multicast(out, sum, n);
    } else if (p == 1) {
        coll_act_copy(out, sum, coll_input(plan), n);
    } else {
        coll_act_reduce(out, sum, coll_input(plan), COLL_AT(COLL_SCRATCH, 0), n);
        out->inputs = (uint16_t)(p - 1);
        out->stride = n + 1;
    }
    return 1;
}

static size_t hub_scratch(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? (plan->problem.p - (size_t)1) * (plan->problem.count + 1) : 0;
}

static const coll_algorithm hub = {"hub",
                                   "",
                                   COLL_BIT(COLL_ALLREDUCE),
                                   COLL_NEEDS_MULTICAST,
                                   1,
                                   0,
                                   NULL,
                                   NULL,
                                   hub_steps,
                                   hub_step,
                                   hub_scratch,
                                   NULL};

/* Allreduce by the network, the vector in two halves. */
static size_t fabric_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 2;
}

static unsigned fabric_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const size_t half = plan->problem.count / 2;
    (void)rank;
    coll_act_fabric_reduce(out, COLL_AT(COLL_OUT, s * half), coll_input(plan) + s * half,
                           s == 0 ? half : plan->problem.count - half);
    return 1;
}

static const coll_algorithm fabric = {"fabric",
                                      "",
                                      COLL_BIT(COLL_ALLREDUCE),
                                      COLL_NEEDS_FABRIC_REDUCE,
                                      1,
                                      0,
                                      NULL,
                                      NULL,
                                      fabric_steps,
                                      fabric_step,
                                      NULL,
                                      NULL};

/* Allreduce in shared memory: each rank puts its vector there and tells rank 0, which adds them up there and tells all.
 * Block r of SHARED is rank r's, block p the sum. */
static size_t shared_steps(const coll_plan *plan, uint32_t rank)
{
    return rank == 0 ? 2 * (size_t)plan->problem.p + 1 : 4;
}

static unsigned shared_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const uint32_t p = plan->problem.p;
    const size_t n = plan->problem.count;
    const coll_ref sum = COLL_AT(COLL_SHARED, p * n), mine = COLL_AT(COLL_SHARED, rank * n);
    if (s == 0) {
        coll_act_copy(out, mine, coll_input(plan), n);
    } else if (rank != 0) {
        if (s == 1)
            coll_act_notify(out, 0, mine, n);
        else if (s == 2)
            coll_act_await(out, 0, sum, n);
        else
            coll_act_copy(out, COLL_AT(COLL_OUT, 0), sum, n);
    } else if (s < p) {
        coll_act_await(out, (uint32_t)s, COLL_AT(COLL_SHARED, s * n), n);
    } else if (s == p && p > 1) {
        coll_act_reduce(out, sum, COLL_AT(COLL_SHARED, 0), COLL_AT(COLL_SHARED, n), n);
        out->inputs = (uint16_t)(p - 1);
        out->stride = n;
    } else if (s == p) {
        coll_act_copy(out, sum, mine, n);
    } else if (s < 2 * (size_t)p) {
        coll_act_notify(out, (uint32_t)(s - p), sum, n);
    } else {
        coll_act_copy(out, COLL_AT(COLL_OUT, 0), sum, n);
    }
    return 1;
}

static size_t shared_elements(const coll_plan *plan)
{
    return (plan->problem.p + (size_t)1) * plan->problem.count;
}

static const coll_algorithm shared = {"shared",
                                      "",
                                      COLL_BIT(COLL_ALLREDUCE),
                                      COLL_NEEDS_SHARED,
                                      1,
                                      0,
                                      NULL,
                                      NULL,
                                      shared_steps,
                                      shared_step,
                                      NULL,
                                      shared_elements};

/* Two ranks swap what both then overwrite: with sends that wait for their receiver, each must take the
 * other's message before it may combine it. The second message waits for the first to be combined. */
static size_t swap_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.p == 2 ? 3 : 1;
}

static unsigned swap_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const size_t n = plan->problem.count, half = n / 2;
    const coll_ref sum = COLL_AT(COLL_OUT, 0);
    coll_act_copy(out, sum, coll_input(plan), n);
    if (s == 0)
        return 1;
    coll_act_send(out, 1 - rank, sum, half);
    coll_act_recv_reduce(out + 1, 1 - rank, sum, sum, COLL_AT(COLL_SCRATCH, 0), half);
    if (s == 2) {
        coll_act_send(out, 1 - rank, sum + half, n - half);
        coll_act_recv_reduce(out + 1, 1 - rank, sum + half, sum + half,
                             COLL_AT(COLL_SCRATCH, half), n - half);
    }
    out[1].flags = rank == 0 ? 0 : COLL_LEFT;
    return 2;
}

static size_t swap_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.count;
}

static coll_status swap_check(const coll_plan *plan)
{
    return plan->problem.p <= 2 ? COLL_OK : COLL_ERR_SHAPE;
}

static const coll_algorithm swap = {"swap",
                                    "",
                                    COLL_BIT(COLL_ALLREDUCE),
                                    0,
                                    2,
                                    0,
                                    NULL,
                                    swap_check,
                                    swap_steps,
                                    swap_step,
                                    swap_scratch,
                                    NULL};

static const coll_algorithm *const own[] = {&hub, &fabric, &shared, &swap};

/* ---- right results ----------------------------------------------------------------------- */

static size_t some_count(uint32_t p)
{
    return p % 3 == 0 ? 1 : p % 3 == 1 ? 5 : p + (size_t)2;
}

/* One run: ends well, and with the right result. */
static void run_once(rig *it, const char *what, const coll_transport *transport,
                     uint32_t window, uint32_t seed)
{
    coll_status status;
    bool right;
    rig_fill(it);
    status = rig_loopback(it, transport, window, seed);
    right = status == COLL_OK && rig_right(it);
    if (!CHECK(right))
        printf("    %s %s p=%u count=%zu window=%u seed=%u: %s\n", what,
               it->ranks[0].plan.algorithm->name, it->p, it->problem.count, window, seed,
               coll_status_text(status));
}

static void visit_windows(rig *it, const char *what, void *arg)
{
    const uint32_t least = it->ranks[0].plan.window;
    const uint32_t windows[] = {least, least + 1, least + 2, 8, 32};
    (void)arg;
    for (uint32_t i = 0; i < 5; i++)
        if (windows[i] >= least)
            run_once(it, what, &coll_loopback_transport, windows[i], i & 1 ? it->p * i : 0);
}

TEST(every_row_with_every_window)
{
    unsigned solved = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        solved |= coll_registry[i]->collectives;
        for (uint32_t p = 1; p <= 17; p++)
            CHECK(rig_each(coll_registry[i], p, some_count(p), visit_windows, NULL) > 0 ||
                  (coll_registry[i]->traits & COLL_NEEDS_POWER_OF_TWO) != 0);
        CHECK(rig_each(coll_registry[i], 4, 0, visit_windows, NULL) > 0);
    }
    CHECK_EQ(solved, COLL_BIT(COLL_COLLECTIVES) - 1);
}

TEST(actions_of_every_kind)
{
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        for (uint32_t p = 1; p <= (own[i] == &swap ? 2 : 9); p++)
            for (size_t count = 0; count < 4; count++)
                CHECK(rig_each(own[i], p, count, visit_windows, NULL) == 4);
}

/* A transport that cuts messages, hesitates, and has only some capabilities. */
static void visit_flaky(rig *it, const char *what, void *arg)
{
    static const size_t cuts[] = {0, 1, 3, 8, 13};
    static flaky bad;
    const uint32_t least = it->ranks[0].plan.window;
    unsigned long *const done = (unsigned long *)arg;
    flaky_init(&bad, it, it->p);
    for (uint32_t i = 0; i < 5; i++) {
        flaky_again(&bad, it, i + 1);
        bad.transport.max_bytes = cuts[i];
        bad.transport.borrow = i & 1 ? NULL : flaky_borrow;
        bad.transport.give_back = i & 1 ? NULL : flaky_give_back;
        bad.transport.copy = i & 2 ? NULL : flaky_copy;
        bad.transport.reduce = i == 4 ? NULL : flaky_reduce;
        bad.refuses = 64 * i;
        bad.hesitates = 50 * i;
        run_once(it, what, &bad.transport, least + 3 * i, i);
        CHECK_EQ(bad.violations, 0);
        CHECK_EQ(bad.live, 0);
        CHECK_EQ(bad.cancels + bad.aborts, 0);
        done[0] += bad.copies;
        done[1] += bad.reductions;
        done[2] += bad.borrows;
    }
    flaky_free(&bad, it);
}

TEST(difficult_transports)
{
    unsigned long done[3] = {0, 0, 0};
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= 9; p += p < 5 ? 1 : 4)
            (void)rig_each(coll_registry[i], p, some_count(p), visit_flaky, done);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        for (uint32_t p = 1; p <= (own[i] == &swap ? 2 : 7); p++)
            (void)rig_each(own[i], p, 5, visit_flaky, done);
    CHECK(done[0] > 100 && done[1] > 100 && done[2] > 100);
}

/* The plan's ranks may be any ranks of the transport. */
TEST(groups)
{
    static const uint32_t table[4] = {5, 1, 6, 2};
    for (int affine = 0; affine < 2; affine++) {
        coll_problem problem;
        coll_loopback_rank ends[4];
        rig it;
        coll_problem_init(&problem, COLL_ALLREDUCE, 4, 9, sizeof(uint64_t));
        problem.flags = COLL_COMMUTATIVE;
        CHECK_STATUS(rig_init(&it, &coll_ring_allreduce, &problem, NULL), COLL_OK);
        CHECK_STATUS(
            coll_loopback_init(&it.world, 8, 64, it.memory, coll_loopback_bytes(8, 64)),
            COLL_OK);
        for (uint32_t r = 0; r < 4; r++) {
            coll_group *group = &it.ranks[r].plan.group;
            if (affine)
                coll_group_affine(group, 1, 2);
            else
                coll_group_table(group, table, NULL);
            CHECK_STATUS(coll_loopback_attach(&it.world, coll_group_outer(group, r), &ends[r]),
                         COLL_OK);
            it.ranks[r].run.ctx = &ends[r];
        }
        run_once(&it, "group", &coll_loopback_transport, 4, 0);
        rig_free(&it);
    }
}

/* ---- what is refused --------------------------------------------------------------------- */

TEST(checks)
{
    coll_problem problem;
    coll_request request;
    coll_slot slots[8];
    coll_transport transport = coll_loopback_transport;
    rig it;
    coll_run run;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 5, sizeof(uint64_t));
    problem.flags = COLL_COMMUTATIVE | COLL_IN_PLACE;
    CHECK_STATUS(rig_init(&it, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    it.ranks[1].run.transport = &transport;

    CHECK_STATUS(coll_request_init(NULL, slots, 8), COLL_ERR_NULL);
    CHECK_STATUS(coll_request_init(&request, NULL, 8), COLL_ERR_NULL);
    CHECK_STATUS(coll_request_init(&request, slots, 0), COLL_ERR_WINDOW);
    CHECK_STATUS(coll_request_init(&request, slots, 33), COLL_ERR_WINDOW);
    CHECK_STATUS(coll_request_init(&request, slots, 8), COLL_OK);
    CHECK_STATUS(coll_request_start(NULL, &it.ranks[1].run), COLL_ERR_NULL);
    CHECK_STATUS(coll_request_start(&request, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_request_cancel(&request), COLL_ERR_STATE);

#define REFUSES(change, error)                                                                 \
    do {                                                                                       \
        transport = coll_loopback_transport;                                                   \
        run = it.ranks[1].run;                                                                 \
        change;                                                                                \
        CHECK_STATUS(coll_run_check(&run, 8), error);                                          \
        CHECK_STATUS(coll_request_start(&request, &run), error);                               \
        CHECK_STATUS(coll_request_progress(&request), COLL_OK);                                \
    } while (0)
    REFUSES(run.plan = NULL, COLL_ERR_NULL);
    REFUSES(run.transport = NULL, COLL_ERR_NULL);
    REFUSES(transport.send = NULL, COLL_ERR_TRANSPORT);
    REFUSES(transport.recv = NULL, COLL_ERR_TRANSPORT);
    REFUSES(transport.test = NULL, COLL_ERR_TRANSPORT);
    REFUSES(transport.borrow = NULL, COLL_ERR_TRANSPORT);
    REFUSES(transport.give_back = NULL, COLL_ERR_TRANSPORT);
    REFUSES(run.rank = 4, COLL_ERR_RANK);
    REFUSES(transport.tags = 3; run.tag = 3, COLL_ERR_TAG);
    REFUSES(run.op = NULL, COLL_ERR_OP);
    REFUSES(coll_op none = it.op; none.combine = NULL; run.op = &none, COLL_ERR_OP);
    REFUSES(coll_op ordered = it.op; ordered.commutative = false;
            run.op = &ordered, COLL_ERR_ORDER);
    REFUSES(run.out = NULL, COLL_ERR_NULL);
    REFUSES(run.scratch_bytes -= 1, COLL_ERR_SCRATCH);
    REFUSES(run.scratch = NULL, COLL_ERR_SCRATCH);
    CHECK_STATUS(coll_run_check(&it.ranks[1].run, 1), COLL_ERR_WINDOW);
    rig_free(&it);

    problem.flags = COLL_COMMUTATIVE;
    CHECK_STATUS(rig_init(&it, &coll_fnomial_allreduce, &problem, NULL), COLL_OK);
    it.ranks[1].run.transport = &transport;
    REFUSES(run.in = NULL, COLL_ERR_NULL);
    /* made for an operator that commutes, although the algorithm could do without */
    REFUSES(coll_op ordered = it.op; ordered.commutative = false;
            run.op = &ordered, COLL_ERR_ORDER);
    rig_free(&it);

    CHECK_STATUS(rig_init(&it, &shared, &problem, NULL), COLL_OK);
    it.ranks[1].run.transport = &transport;
    REFUSES(run.shared = NULL, COLL_ERR_SHARED);
    REFUSES(run.shared_bytes--, COLL_ERR_SHARED);
    rig_free(&it);
    CHECK_STATUS(rig_init(&it, &hub, &problem, NULL), COLL_OK);
    it.ranks[1].run.transport = &transport;
    REFUSES(transport.multicast = NULL, COLL_ERR_CAPABILITY);
    rig_free(&it);
    CHECK_STATUS(rig_init(&it, &fabric, &problem, NULL), COLL_OK);
    it.ranks[1].run.transport = &transport;
    REFUSES(transport.fabric_reduce = NULL, COLL_ERR_CAPABILITY);
    rig_free(&it);
}

/* A v-collective without its tables. */
TEST(checks_of_tables)
{
    coll_problem problem;
    coll_plan plan;
    coll_run run = {0};
    const coll_algorithm *row = coll_find(COLL_ALLGATHERV, "ring");
    coll_problem_init(&problem, COLL_ALLGATHERV, 4, 5, sizeof(uint64_t));
    CHECK(row != NULL && coll_plan_init(&plan, row, &problem, NULL) == COLL_OK);
    run.plan = &plan;
    run.transport = &coll_loopback_transport;
    CHECK_STATUS(coll_run_check(&run, 8), COLL_ERR_COUNTS);
}

/* ---- the life of a request --------------------------------------------------------------- */

TEST(cancel_and_start_again)
{
    coll_problem problem;
    rig it;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 5, sizeof(uint64_t));
    CHECK_STATUS(rig_init(&it, &coll_fnomial_allreduce, &problem, NULL), COLL_OK);
    run_once(&it, "first", &coll_loopback_transport, 8, 0);
    rig_fill(&it);
    CHECK_STATUS(rig_start(&it, &coll_loopback_transport, 8), COLL_OK);
    CHECK_STATUS(it.ranks[2].request.status, COLL_AGAIN);
    CHECK_STATUS(coll_request_start(&it.ranks[2].request, &it.ranks[2].run), COLL_ERR_BUSY);
    CHECK_STATUS(coll_request_cancel(&it.ranks[2].request), COLL_OK);
    CHECK_STATUS(coll_request_cancel(&it.ranks[2].request), COLL_ERR_STATE);
    CHECK_STATUS(coll_request_progress(&it.ranks[2].request), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_request_wait(&it.ranks[2].request), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_loopback_run(&it.world, it.requests, it.p), COLL_ERR_CANCELLED);
    for (uint32_t r = 0; r < it.p; r++)
        CHECK(it.ranks[r].request.status == (r == 2 ? COLL_ERR_CANCELLED : COLL_ERR_PEER) ||
              it.ranks[r].request.status == COLL_OK);
    CHECK(rig_unharmed(&it));
    CHECK_EQ(it.world.n_free, it.p * 40);
    CHECK_STATUS(rig_loopback(&it, &coll_loopback_transport, 8, 0), COLL_ERR_PEER);
    coll_loopback_recover(&it.world);
    run_once(&it, "again", &coll_loopback_transport, 8, 0);
    rig_free(&it);
}

/* A rank that never starts: the others wait, and say so. */
TEST(deadlock)
{
    coll_problem problem;
    rig it;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 5, sizeof(uint64_t));
    CHECK_STATUS(rig_init(&it, &coll_fnomial_allreduce, &problem, NULL), COLL_OK);
    rig_fill(&it);
    CHECK_STATUS(rig_start(&it, &coll_loopback_transport, 8), COLL_OK);
    CHECK_STATUS(coll_request_cancel(&it.ranks[3].request), COLL_OK);
    coll_loopback_recover(&it.world);
    CHECK_STATUS(coll_loopback_run(&it.world, it.requests, it.p), COLL_ERR_DEADLOCK);
    for (uint32_t r = 0; r < 3; r++)
        CHECK_STATUS(coll_request_cancel(&it.ranks[r].request), COLL_OK);
    CHECK_EQ(it.world.n_free, it.p * 40);
    rig_free(&it);
}

/* Counts that differ between ranks are noticed where the message arrives. */
TEST(sizes_that_differ)
{
    coll_problem problem;
    rig it;
    coll_problem_init(&problem, COLL_BCAST, 4, 5, sizeof(uint64_t));
    for (int borrows = 0; borrows < 2; borrows++) {
        problem.collective = borrows ? COLL_REDUCE : COLL_BCAST;
        CHECK_STATUS(
            rig_init(&it, borrows ? &coll_fnomial_reduce : &coll_fnomial_bcast, &problem, NULL),
            COLL_OK);
        rig_fill(&it);
        it.ranks[borrows ? 3 : 2].plan.problem.count = 4;
        CHECK_STATUS(rig_loopback(&it, &coll_loopback_transport, 8, 0), COLL_ERR_SIZE);
        CHECK(rig_unharmed(&it));
        CHECK_EQ(it.world.n_free, it.p * 40);
        rig_free(&it);
    }
}

/* What a request costs: 8 slots, the request and the run. */
TEST(memory)
{
    const size_t bytes = 8 * sizeof(coll_slot) + sizeof(coll_request) + sizeof(coll_run);
    CHECK(bytes <= (sizeof(void *) == 8 ? 1024 : 512));
}

int main(void)
{
    RUN(every_row_with_every_window);
    RUN(actions_of_every_kind);
    RUN(difficult_transports);
    RUN(groups);
    RUN(checks);
    RUN(checks_of_tables);
    RUN(cancel_and_start_again);
    RUN(deadlock);
    RUN(sizes_that_differ);
    RUN(memory);
    return check_done();
}
