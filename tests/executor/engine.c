/* The executor on real data: every row of the registry over loopback, with every window, cut
 * messages, late copies and reductions; actions that no row uses; waits in circles that staging
 * prevents. */
#include "support/check.h"
#include "coll/algos/registry.h"
#include "support/flaky.h"
#include "support/kinds.h"

/* ---- waiting in circles ------------------------------------------------------------------ */

/* Waits that need staging, each of a rank for itself by way of others. Bcast of nothing:
 * results do not matter, only that it ends. What each rank does, with A = 0:
 *
 *   stuck 0                          stuck 1
 *   A  RECV_REDUCE X from B          A  SEND X to C
 *      RECV_REDUCE X from C             RECV Y from B
 *   B  RECV X from C, SEND X to A       RECV_REDUCE X from B
 *   C  SEND Z to A                      RECV_REDUCE Z from B
 *      RECV Z from D, SEND Z to B    B  SEND X, SEND Y, SEND Z to A
 *   D  SEND X to C                      RECV Z from D, SEND Z to C
 *                                    C  RECV X from B, RECV X from A
 *                                    D  SEND X to B
 *
 * Left, A cannot combine C's message before B's, for which B needs C to go on, for which C
 * needs A to take it. Right, A cannot combine while it sends, and must take what follows. */
typedef struct stuck_row {
    char kind;  /* s, r, R(educe); 0 ends a rank */
    char place; /* of X, Y, Z */
    uint8_t peer;
} stuck_row;

static const stuck_row stuck_rows[3][4][6] = {
    {{{'R', 'X', 1}, {'R', 'X', 2}},
     {{'r', 'X', 2}, {'s', 'X', 0}},
     {{'s', 'Z', 0}, {'r', 'Z', 3}, {'s', 'Z', 1}},
     {{'s', 'X', 2}}},
    {{{'s', 'X', 2}, {'r', 'Y', 1}, {'R', 'X', 1}, {'R', 'Z', 1}},
     {{'s', 'X', 0}, {'s', 'Y', 0}, {'s', 'Z', 0}, {'r', 'Z', 3}, {'s', 'Z', 2}},
     {{'r', 'X', 1}, {'r', 'X', 0}},
     {{'s', 'X', 1}}},
    {{{0}}, {{'r', 'Z', 0}, {'s', 'Z', 0}, {'s', 'Y', 0}}, {{0}}, {{0}}}};

static const coll_param stuck_params[] = {{"which", "of the three", 0, 2, 0, {0, 1, 2, 0}}};

static size_t stuck_steps(const coll_plan *plan, uint32_t rank)
{
    size_t n = 0;
    while (stuck_rows[plan->param[0]][rank][n].kind)
        n++;
    return n;
}

static unsigned stuck_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const stuck_row *row = &stuck_rows[plan->param[0]][rank][s];
    const coll_ref place = COLL_AT(COLL_SCRATCH, row->place - 'X');
    if (row->kind == 's')
        coll_act_send(out, row->peer, place, 1);
    else if (row->kind == 'r')
        coll_act_recv(out, row->peer, place, 1);
    else
        coll_act_recv_reduce(out, row->peer, place, place, COLL_AT(COLL_SCRATCH, 3 + s), 1);
    return 1;
}

static size_t stuck_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 8;
}

COLL_STATIC_ALGORITHM(stuck, "stuck", "", COLL_BIT(COLL_ALLREDUCE), /* traits */ 0,
                      /* window */ 1, /* sends */ 1, COLL_PARAMS(1, stuck_params), stuck_steps,
                      stuck_step, stuck_scratch);

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
        for (uint32_t p = 1 + (uint32_t)i % CHECK_SHARE; p <= 17; p += CHECK_SHARE)
            CHECK(rig_each(coll_registry[i], p, some_count(p), visit_windows, NULL));
        CHECK(rig_each(coll_registry[i], 4, 0, visit_windows, NULL));
    }
    CHECK_EQ(solved, COLL_BIT(COLL_COLLECTIVES) - 1);
}

TEST(actions_of_every_kind)
{
    for (size_t i = 0; i < KINDS; i++)
        for (uint32_t p = 1; p <= kinds_ranks(kinds[i]); p++)
            for (size_t count = 0; count < 4; count++)
                CHECK(rig_each(kinds[i], p, count, visit_windows, NULL));
}

/* No rank waits for itself by way of others. The world gives up before the executor's patience
 * ends, where staging at once is called for. */
TEST(staging_prevents_deadlock)
{
    for (uint32_t i = 0; i < 4; i++) {
        static const uint32_t windows[4][4] = {
            {0, 0, 0, 0}, {2, 3, 3, 3}, {4, 5, 5, 5}, {3, 5, 5, 5}};
        const uint32_t which[1] = {i > 1};
        coll_problem problem;
        rig it;
        coll_problem_init(&problem, COLL_ALLREDUCE, i == 0 ? 2 : 4, 4, sizeof(uint64_t));
        CHECK_STATUS(rig_init(&it, i == 0 ? &swap : &stuck, &problem, i == 0 ? NULL : which),
                     COLL_OK);
        rig_fill(&it);
        it.world.quiet = i == 1 ? 64 : 4;
        if (i == 0) {
            CHECK_STATUS(rig_loopback(&it, &coll_loopback_transport, 2, 0), COLL_OK);
            CHECK(rig_right(&it));
        } else {
            for (uint32_t r = 0; r < 4; r++) {
                rig_rank *me = &it.ranks[r];
                me->run.transport = &coll_loopback_transport;
                (void)coll_engine_init(&me->engine, me->slots, windows[i][r]);
                CHECK_STATUS(coll_engine_start(&me->engine, &me->run), COLL_OK);
            }
            CHECK_STATUS(coll_loopback_run(&it.world, it.requests, 4), COLL_OK);
        }
        rig_free(&it);
    }
}

/* A message that waits for the one before it on its channel starts as soon as that has started. */
TEST(one_after_the_other)
{
    const uint32_t which[1] = {2};
    const coll_transport *const t = &coll_loopback_transport;
    uint64_t message = 1;
    uint32_t n_free;
    coll_handle h;
    coll_problem problem;
    rig it;
    rig_rank *me;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 4, sizeof(uint64_t));
    CHECK_STATUS(rig_init(&it, &stuck, &problem, which), COLL_OK);
    n_free = it.world.n_free;
    me = &it.ranks[1];
    me->run.transport = t;
    (void)coll_engine_init(&me->engine, me->slots, 3);
    CHECK_STATUS(coll_engine_start(&me->engine, &me->run), COLL_OK);
    CHECK_EQ(it.world.n_free, n_free - 1); /* the receive */
    CHECK_STATUS(t->send(&it.ranks[0].end, 1, 0, &message, sizeof message, &h), COLL_STARTED);
    CHECK_STATUS(coll_engine_progress(&me->engine), COLL_AGAIN);
    CHECK_STATUS(t->test(&it.ranks[0].end, &h), COLL_OK);
    CHECK_EQ(it.world.n_free, n_free - 2); /* both sends */
    CHECK_STATUS(coll_engine_cancel(&me->engine), COLL_OK);
    CHECK_EQ(it.world.n_free, n_free);
    rig_free(&it);
}

/* A transport that cuts messages, or those of all other collectives, hesitates, and has only some
 * capabilities. */
static void visit_flaky(rig *it, const char *what, void *arg)
{
    static const size_t cuts[] = {0, 1, 3, 8, 13, 0, 8, 16, 13};
    static flaky bad;
    const uint32_t least = it->ranks[0].plan.window;
    const bool whole = it->p % 2 != 0;
    const uint32_t its = COLL_BIT(it->problem.collective);
    unsigned long *const done = (unsigned long *)arg, uncut = 0;
    flaky_init(&bad, it, it->p);
    bad.transport.unsegmented = whole ? its : ~its;
    for (uint32_t i = 0; i < 9; i++) {
        flaky_again(&bad, it, i + 1);
        bad.transport.max_bytes = cuts[i];
        bad.own.zero_copy.max_bytes = i == 2 ? 8 : 0;
        bad.own.zero_copy.acquire = i & 1 ? NULL : flaky_borrow;
        bad.own.zero_copy.release = i & 1 ? NULL : flaky_give_back;
        bad.own.arrival.recv_reduce = i < 5 ? NULL : flaky_recv_reduce;
        records_use(&bad.own, &bad.transport);
        bad.transport.copy = i & 2 ? NULL : flaky_copy;
        bad.transport.reduce = i == 4 ? NULL : flaky_reduce;
        bad.refuses = i == 7 ? 0 : 64 * (i % 5);
        bad.hesitates = 50 * (i % 5);
        run_once(it, what, &bad.transport, i == 5 ? least : least + 3 * (i % 5), i);
        CHECK_EQ(bad.violations, 0);
        CHECK_EQ(bad.live, 0);
        CHECK_EQ(bad.cancels + bad.aborts, 0);
        uncut = i == 0 ? bad.messages : uncut;
        CHECK(whole ? bad.messages == uncut : bad.messages >= uncut);
        done[0] += bad.copies;
        done[1] += bad.reductions;
        done[2] += bad.borrows;
        done[3] += bad.messages > uncut;
        done[4] += bad.arrivals;
        done[5] += bad.declined;
    }
    flaky_free(&bad, it);
}

TEST(difficult_transports)
{
    unsigned long done[6] = {0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= 9; p += p < 5 ? 1 : 4)
            CHECK(rig_each(coll_registry[i], p, some_count(p), visit_flaky, done));
    for (size_t i = 0; i < KINDS; i++)
        for (uint32_t p = 1; p <= kinds_ranks(kinds[i]); p++)
            CHECK(rig_each(kinds[i], p, 5, visit_flaky, done));
    for (unsigned i = 0; i < 6; i++)
        CHECK(done[i] > 100);
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
        problem.flags = COLL_FLAG_COMMUTATIVE;
        CHECK_STATUS(rig_init(&it, &coll_ring_allreduce, &problem, NULL), COLL_OK);
        CHECK_STATUS(coll_loopback_init(&it.world, 8, 64, it.memory, COLL_LOOPBACK_BYTES(64)),
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

/* What an engine costs: 8 slots, the engine and the run. */
TEST(memory)
{
    const size_t bytes = 8 * sizeof(coll_slot) + sizeof(coll_engine) + sizeof(coll_task);
    CHECK(bytes <= (sizeof(void *) == 8 ? 1024 : 576));
}

int main(void)
{
    RUN(every_row_with_every_window);
    RUN(actions_of_every_kind);
    RUN(staging_prevents_deadlock);
    RUN(one_after_the_other);
    RUN(difficult_transports);
    RUN(groups);
    RUN(memory);
    return check_done();
}
