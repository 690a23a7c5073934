/* The executor in trouble: what coll_engine_check refuses, callbacks that fail, cancelling and
 * starting again. */
#include "support/check.h"
#include "coll/algos/registry.h"
#include "support/flaky.h"
#include "support/kinds.h"

/* ---- what is refused --------------------------------------------------------------------- */

static void leave_nothing(void *ctx, uint32_t use)
{
    (void)ctx, (void)use;
}

static coll_status arm_nothing(void *ctx)
{
    (void)ctx;
    return COLL_OK;
}

static int no_descriptor(void *ctx)
{
    (void)ctx;
    return -1;
}

static void keep_nothing(void *ctx, const void *memory, size_t bytes, bool writes)
{
    (void)ctx, (void)memory, (void)bytes, (void)writes;
}

/* Of some records one may be missing, of others not. */
TEST(parts_of_records)
{
    coll_transport t;
    records own;
#define PARTS(change, error)                                                                   \
    do {                                                                                       \
        t = coll_loopback_transport;                                                           \
        records_of(&own, &t);                                                                  \
        change;                                                                                \
        records_use(&own, &t);                                                                 \
        CHECK_STATUS(coll_transport_check(&t), error);                                         \
    } while (0)
    PARTS(t.send = NULL, COLL_ERR_TRANSPORT);
    PARTS(own.zero_copy.acquire = NULL, COLL_ERR_TRANSPORT);
    PARTS(own.zero_copy.release = NULL, COLL_ERR_TRANSPORT);
    PARTS(own.failure.cancel = NULL, COLL_OK);
    PARTS(own.failure.abort = NULL, COLL_OK);
    PARTS(own.in_network.multicast = NULL, COLL_OK);
    PARTS(own.in_network.reduce = NULL, COLL_OK);
    PARTS(own.in_network.ranks = NULL, COLL_OK);
    PARTS(own.node_memory.leave = leave_nothing, COLL_ERR_TRANSPORT);
    PARTS(own.tag_ranges.claim = NULL, COLL_ERR_TRANSPORT);
    PARTS(own.tag_ranges.unclaim = NULL, COLL_ERR_TRANSPORT);
    PARTS(own.tag_ranges.misfit = NULL, COLL_OK);
    PARTS(own.tag_ranges.use_step = 0, COLL_OK);
    PARTS(own.tag_ranges.use_step = 3 << 20, COLL_ERR_TRANSPORT);
    PARTS(own.tag_ranges.use_step = 1 << 20, COLL_ERR_TRANSPORT); /* less than there are tags */
    PARTS(own.events.arm = arm_nothing, COLL_ERR_TRANSPORT);
    PARTS(own.events.descriptor = no_descriptor, COLL_ERR_TRANSPORT);
    PARTS(own.registration.keep = keep_nothing, COLL_ERR_TRANSPORT);
    PARTS(own.registration.forget = keep_nothing, COLL_ERR_TRANSPORT);
#undef PARTS
}

/* A record that is there has something in it. */
TEST(empty_records)
{
    static const coll_zero_copy zero_copy = {NULL, NULL, 1, NULL, 0, 0};
    static const coll_arrival arrival = {NULL};
    static const coll_failure failure = {NULL, NULL, NULL, NULL};
    static const coll_in_network in_network_record = {NULL, NULL, 1, NULL};
    static const coll_node_memory node_memory = {NULL, NULL, NULL, NULL};
    static const coll_tag_ranges tag_ranges = {NULL, NULL, 0, NULL};
    static const coll_events events = {NULL, NULL};
    for (unsigned i = 0; i <= 7; i++) {
        coll_transport t = coll_loopback_transport;
        if (i == 1)
            t.zero_copy = &zero_copy;
        else if (i == 2)
            t.arrival = &arrival;
        else if (i == 3)
            t.failure = &failure;
        else if (i == 4)
            t.in_network = &in_network_record;
        else if (i == 5)
            t.node_memory = &node_memory;
        else if (i == 6)
            t.tag_ranges = &tag_ranges;
        else if (i == 7)
            t.events = &events;
        CHECK_STATUS(coll_transport_check(&t), i == 0 ? COLL_OK : COLL_ERR_TRANSPORT);
    }
    CHECK_STATUS(coll_transport_check(NULL), COLL_ERR_NULL);
}

TEST(checks)
{
    coll_problem problem;
    coll_engine engine;
    coll_slot slots[8];
    coll_transport transport = coll_loopback_transport;
    records own;
    rig it;
    coll_task run;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 5, sizeof(uint64_t));
    problem.flags = COLL_FLAG_COMMUTATIVE | COLL_FLAG_IN_PLACE;
    CHECK_STATUS(rig_init(&it, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    it.ranks[1].run.transport = &transport;

    CHECK_STATUS(coll_engine_init(NULL, slots, 8), COLL_ERR_NULL);
    CHECK_STATUS(coll_engine_init(&engine, NULL, 8), COLL_ERR_NULL);
    CHECK_STATUS(coll_engine_init(&engine, slots, 0), COLL_ERR_WINDOW);
    CHECK_STATUS(coll_engine_init(&engine, slots, 33), COLL_ERR_WINDOW);
    CHECK_STATUS(coll_engine_init(&engine, slots, 8), COLL_OK);
    CHECK_STATUS(coll_engine_start(NULL, &it.ranks[1].run), COLL_ERR_NULL);
    CHECK_STATUS(coll_engine_start(&engine, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_engine_cancel(&engine), COLL_ERR_STATE);

#define REFUSES(change, error)                                                                 \
    do {                                                                                       \
        transport = coll_loopback_transport;                                                   \
        records_of(&own, &transport);                                                          \
        run = it.ranks[1].run;                                                                 \
        change;                                                                                \
        records_use(&own, &transport);                                                         \
        CHECK_STATUS(coll_engine_check(&run, 8), error);                                       \
        CHECK_STATUS(coll_engine_start(&engine, &run), error);                                 \
        CHECK_STATUS(coll_engine_progress(&engine), COLL_OK);                                  \
    } while (0)
    REFUSES(run.plan = NULL, COLL_ERR_NULL);
    REFUSES(run.transport = NULL, COLL_ERR_NULL);
    REFUSES(transport.send = NULL, COLL_ERR_TRANSPORT);
    REFUSES(transport.recv = NULL, COLL_ERR_TRANSPORT);
    REFUSES(transport.test = NULL, COLL_ERR_TRANSPORT);
    REFUSES(own.zero_copy.acquire = NULL, COLL_ERR_TRANSPORT);
    REFUSES(own.zero_copy.release = NULL, COLL_ERR_TRANSPORT);
    REFUSES(run.rank = 4, COLL_ERR_RANK);
    REFUSES(transport.tags = 3; run.tag = 3, COLL_ERR_TAG);
    REFUSES(run.op = NULL, COLL_ERR_OP);
    REFUSES(coll_op none = it.op; none.combine = NULL; run.op = &none, COLL_ERR_OP);
    REFUSES(coll_op ordered = it.op; ordered.commutative = false;
            run.op = &ordered, COLL_ERR_ORDER);
    REFUSES(run.out = NULL, COLL_ERR_NULL);
    REFUSES(run.scratch_bytes -= 1, COLL_ERR_SCRATCH);
    REFUSES(run.scratch = NULL, COLL_ERR_SCRATCH);
    CHECK_STATUS(coll_engine_check(&it.ranks[1].run, 1), COLL_ERR_WINDOW);
    rig_free(&it);

    problem.flags = COLL_FLAG_COMMUTATIVE;
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
    REFUSES(own.in_network.multicast = NULL, COLL_ERR_CAPABILITY);
    rig_free(&it);
    CHECK_STATUS(rig_init(&it, &in_network, &problem, NULL), COLL_OK);
    it.ranks[1].run.transport = &transport;
    REFUSES(own.in_network.reduce = NULL, COLL_ERR_CAPABILITY);
    rig_free(&it);
}

/* A v-collective without its tables. */
TEST(checks_of_tables)
{
    coll_problem problem;
    coll_plan plan;
    coll_task run = {0};
    const coll_algorithm *row = coll_find(COLL_ALLGATHERV, "ring");
    coll_problem_init(&problem, COLL_ALLGATHERV, 4, 5, sizeof(uint64_t));
    CHECK(row != NULL && coll_plan_init(&plan, row, &problem, NULL) == COLL_OK);
    run.plan = &plan;
    run.transport = &coll_loopback_transport;
    CHECK_STATUS(coll_engine_check(&run, 8), COLL_ERR_COUNTS);
}

/* ---- the life of an engine --------------------------------------------------------------- */

static bool works(rig *it, const coll_transport *transport)
{
    const uint32_t least = it->ranks[0].plan.window;
    rig_fill(it);
    return rig_loopback(it, transport, least > 8 ? least : 8, 0) == COLL_OK && rig_right(it);
}

TEST(cancel_and_start_again)
{
    coll_problem problem;
    rig it;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 5, sizeof(uint64_t));
    CHECK_STATUS(rig_init(&it, &coll_fnomial_allreduce, &problem, NULL), COLL_OK);
    CHECK(works(&it, &coll_loopback_transport));
    rig_fill(&it);
    CHECK_STATUS(rig_start(&it, &coll_loopback_transport, 8), COLL_OK);
    CHECK_STATUS(it.ranks[2].engine.status, COLL_AGAIN);
    CHECK_STATUS(coll_engine_start(&it.ranks[2].engine, &it.ranks[2].run), COLL_ERR_BUSY);
    CHECK_STATUS(coll_engine_cancel(&it.ranks[2].engine), COLL_OK);
    CHECK_STATUS(coll_engine_cancel(&it.ranks[2].engine), COLL_ERR_STATE);
    CHECK_STATUS(coll_engine_progress(&it.ranks[2].engine), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_engine_wait(&it.ranks[2].engine), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_loopback_run(&it.world, it.requests, it.p), COLL_ERR_CANCELLED);
    for (uint32_t r = 0; r < it.p; r++)
        CHECK(it.ranks[r].engine.status == (r == 2 ? COLL_ERR_CANCELLED : COLL_ERR_PEER) ||
              it.ranks[r].engine.status == COLL_OK);
    CHECK(rig_unharmed(&it));
    CHECK_EQ(it.world.n_free, it.p * 40);
    CHECK_STATUS(rig_loopback(&it, &coll_loopback_transport, 8, 0), COLL_ERR_PEER);
    coll_loopback_recover(&it.world);
    CHECK(works(&it, &coll_loopback_transport));
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
    CHECK_STATUS(coll_engine_cancel(&it.ranks[3].engine), COLL_OK);
    coll_loopback_recover(&it.world);
    CHECK_STATUS(coll_loopback_run(&it.world, it.requests, it.p), COLL_ERR_DEADLOCK);
    for (uint32_t r = 0; r < 3; r++)
        CHECK_STATUS(coll_engine_cancel(&it.ranks[r].engine), COLL_OK);
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

/* ---- callbacks that fail ----------------------------------------------------------------- */

/* All ranks of a run in which one callback of `bad` failed have ended as they should. */
static bool ended(const rig *it, const flaky *bad)
{
    bool well = bad->live == 0 && bad->violations == 0 && bad->aborts == 1;
    for (uint32_t r = 0; r < it->p; r++) {
        const coll_status status = it->ranks[r].engine.status;
        if (r == bad->fail_rank)
            well = well && status == COLL_ERR_IO;
        else
            well = well && (status == COLL_OK || status == COLL_ERR_PEER);
    }
    return well && rig_unharmed(it);
}

/* Lets every call of some ranks fail, one a run. */
static void visit_faults(rig *it, const char *what, void *arg)
{
    static flaky bad;
    unsigned long *const cancels = (unsigned long *)arg;
    flaky_init(&bad, it, 1);
    for (uint32_t variant = 0; variant < 6; variant++) {
        unsigned long k = (it->p + variant) % CHECK_SHARE;
        bad.fail_rank = variant < 3 ? variant % it->p : it->p - 1;
        bad.transport.max_bytes = variant == 1 || variant == 4 ? 16 : 0;
        bad.own.zero_copy.acquire = variant & 1 ? NULL : flaky_borrow;
        bad.own.zero_copy.release = variant & 1 ? NULL : flaky_give_back;
        records_use(&bad.own, &bad.transport);
        bad.transport.copy = variant > 3 ? NULL : flaky_copy;
        do {
            coll_status status;
            flaky_again(&bad, it, variant + 1);
            bad.fail_at = 1 + k;
            bad.hesitates = variant == 5 ? 80 : 0;
            rig_fill(it);
            status =
                rig_loopback(it, &bad.transport, it->ranks[0].plan.window + variant, k & 3);
            if (!bad.fired) {
                if (!CHECK(status == COLL_OK && rig_right(it)))
                    printf("    %s %s p=%u variant %u call %lu: %s\n", what,
                           it->ranks[0].plan.algorithm->name, it->p, variant, k,
                           coll_status_text(status));
            } else if (!CHECK(status == COLL_ERR_IO && ended(it, &bad))) {
                printf("    %s %s p=%u variant %u call %lu: %s\n", what,
                       it->ranks[0].plan.algorithm->name, it->p, variant, k,
                       coll_status_text(status));
            }
            *cancels += bad.cancels;
            coll_loopback_recover(&it->world);
            k += CHECK_SHARE;
        } while (bad.fired);
    }
    bad.fail_at = 0;
    if (!CHECK(works(it, &bad.transport)))
        printf("    %s %s p=%u\n", what, it->ranks[0].plan.algorithm->name, it->p);
    flaky_free(&bad, it);
}

TEST(every_call_may_fail)
{
    unsigned long cancels = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        CHECK(rig_each(coll_registry[i], i & 1 ? 4 : 5, 5, visit_faults, &cancels));
    for (size_t i = 0; i < KINDS; i++)
        CHECK(rig_each(kinds[i], kinds_ranks(kinds[i]) / 2 + 1, 5, visit_faults, &cancels));
    CHECK(cancels > 1000);
}

/* More failed collectives than the world remembers by tag: all tags count as failed then, until
 * it recovers. */
TEST(many_aborts)
{
    coll_problem problem;
    rig it;
    coll_problem_init(&problem, COLL_BARRIER, 3, 0, sizeof(uint64_t));
    CHECK_STATUS(rig_init(&it, &coll_fnomial_barrier, &problem, NULL), COLL_OK);
    for (uint32_t tag = 0; tag <= COLL_LOOPBACK_ABORTS + 2; tag++) {
        for (uint32_t r = 0; r < it.p; r++)
            it.ranks[r].run.tag = tag;
        if (tag <= COLL_LOOPBACK_ABORTS)
            CHECK(works(&it, &coll_loopback_transport));
        coll_loopback_transport.failure->abort(&it.ranks[0].end, tag, 1);
        coll_loopback_transport.failure->abort(&it.ranks[1].end, tag, 1);
        CHECK_STATUS(rig_loopback(&it, &coll_loopback_transport, 2, 0), COLL_ERR_PEER);
    }
    coll_loopback_recover(&it.world);
    CHECK(works(&it, &coll_loopback_transport));
    rig_free(&it);
}

int main(void)
{
    RUN(empty_records);
    RUN(parts_of_records);
    RUN(checks);
    RUN(checks_of_tables);
    RUN(cancel_and_start_again);
    RUN(deadlock);
    RUN(sizes_that_differ);
    RUN(every_call_may_fail);
    RUN(many_aborts);
    return check_done();
}
