/* The in-order engine with every row of the registry: over loopback made difficult, with errors in every
 * call, and over threads that block in their receives. */
#undef COLL_EXTERN /* it has bodies of its own */
#include "support/check.h"

#include <pthread.h>

#define COLL_THREADS_SLOT 128 /* longer messages wait for their receiver */
#include "coll/algos/registry.h"
#include "coll/executor/in_order.h"
#include "coll/transports/threads.h"
#include "support/flaky.h"

#include "support/kinds.h"

enum { RANKS = 8 };

typedef struct side {
    coll_in_order engine;
    coll_outstanding ops[32];
    coll_schedule schedule;
    coll_action *actions;
} side;

static side sides[RANKS];

/* Has a rank's actions written out, with its sends first. */
static void write_out(side *me, const coll_plan *plan, uint32_t rank, coll_task *run)
{
    coll_counts counts;
    CHECK_STATUS(coll_plan_count(plan, rank, &counts), COLL_OK);
    me->actions = (coll_action *)malloc((counts.total + 1) * sizeof *me->actions);
    CHECK_STATUS(coll_schedule_write(&me->schedule, plan, rank, me->actions, counts.total),
                 COLL_OK);
    coll_schedule_sends_first(&me->schedule, me->actions);
    run->schedule = me->schedule.sends < 31 ? &me->schedule : NULL;
}

static void forget(side *me, coll_task *run)
{
    run->schedule = NULL;
    free(me->actions);
    me->actions = NULL;
}

/* Operations that a rank must have. */
static uint32_t least(const coll_task *run)
{
    return 1 + (run->schedule ? run->schedule->sends : run->plan->sends);
}

/* Runs all ranks in turns until nothing moves any more; `more` sends than are needed. What the first
 * one ended with that failed. */
static coll_status run_all(rig *it, const coll_transport *transport, uint32_t more)
{
    coll_status first = COLL_OK;
    uint32_t running = it->p, quiet = 0;
    for (uint32_t r = 0; r < it->p; r++) {
        side *me = &sides[r];
        coll_task *run = &it->ranks[r].run;
        coll_status status;
        const uint32_t n = least(run) + more < 32 ? least(run) + more : 32;
        memset(me->ops, 0xFF, sizeof me->ops);
        run->transport = transport;
        CHECK_STATUS(coll_in_order_init(&me->engine, me->ops, n), COLL_OK);
        status = coll_in_order_start(&me->engine, run);
        first = first == COLL_OK && status < 0 ? status : first;
    }
    while (running > 0 && quiet < 1000) {
        running = 0;
        quiet++;
        for (uint32_t r = 0; r < it->p; r++) {
            const coll_status before = sides[r].engine.status;
            const coll_status status = coll_in_order_progress(&sides[r].engine);
            running += status == COLL_AGAIN;
            quiet = sides[r].engine.idle == 0 ? 0 : quiet;
            first = first == COLL_OK && before == COLL_AGAIN && status < 0 ? status : first;
        }
    }
    return running > 0 ? COLL_ERR_DEADLOCK : first;
}

/* ---- one thread -------------------------------------------------------------------------- */

/* All ranks of a run in which one callback of `bad` failed have ended as they should. */
static bool ended(const rig *it, const flaky *bad)
{
    bool well = bad->live == 0 && bad->violations == 0 && bad->aborts == 1;
    for (uint32_t r = 0; r < it->p; r++) {
        const coll_status status = sides[r].engine.status;
        well = well && (r == bad->fail_rank ? status == COLL_ERR_IO
                                            : status == COLL_OK || status == COLL_ERR_PEER);
    }
    return well && rig_unharmed(it);
}

static unsigned long arrivals, declined;

static void visit(rig *it, const char *what, void *arg)
{
    static flaky bad;
    (void)arg;
    flaky_init(&bad, it, 1);
    for (uint32_t variant = 0; variant < 10; variant++) {
        unsigned long k = it->p % CHECK_SHARE;
        const bool faults = variant >= 4 && variant < 7;
        const bool written_out = (variant & 2) != 0 && variant != 7;
        bad.fail_rank = variant == 4 ? 0 : it->p - 1;
        bad.transport.max_bytes = variant & 1 ? 16 : 0;
        bad.own.arrival.recv_reduce = variant < 6 ? NULL : flaky_recv_reduce;
        records_use(&bad.own, &bad.transport);
        bad.transport.copy = variant > 3 ? NULL : flaky_copy;
        bad.transport.reduce = variant == 2 ? NULL : flaky_reduce;
        if (written_out)
            for (uint32_t r = 0; r < it->p; r++)
                write_out(&sides[r], &it->ranks[r].plan, r, &it->ranks[r].run);
        do {
            coll_status status;
            flaky_again(&bad, it, variant + 1);
            bad.fail_at = faults ? 1 + k : 0;
            bad.hesitates = variant == 1 ? 0 : 80;
            bad.refuses = variant == 3 || variant > 7 ? 128 : 0;
            rig_fill(it);
            status = run_all(it, &bad.transport, variant % 3);
            if (!(bad.fired ? status == COLL_ERR_IO && ended(it, &bad)
                            : status == COLL_OK && rig_right(it) && bad.violations == 0))
                printf("    %s %s p=%u variant %u call %lu: %s\n", what,
                       it->ranks[0].plan.algorithm->name, it->p, variant, k,
                       coll_status_text(status));
            CHECK(bad.fired ? status == COLL_ERR_IO : status == COLL_OK);
            CHECK_EQ(bad.borrows, 0);
            arrivals += bad.arrivals;
            declined += bad.declined;
            coll_loopback_recover(&it->world);
            k += CHECK_SHARE;
        } while (bad.fired);
        for (uint32_t r = 0; r < it->p && written_out; r++)
            forget(&sides[r], &it->ranks[r].run);
    }
    flaky_free(&bad, it);
}

TEST(every_row)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1 + (uint32_t)i % CHECK_SHARE; p <= 6; p += CHECK_SHARE)
            CHECK(rig_each(coll_registry[i], p, (i + p) & 1 ? 3 : 9, visit, NULL));
    CHECK(arrivals > 1000 && declined > 1000);
}

TEST(every_kind)
{
    for (size_t i = 0; i < KINDS; i++)
        for (uint32_t p = 1; p <= kinds_ranks(kinds[i]) && p <= 5; p++)
            CHECK(rig_each(kinds[i], p, 7, visit, NULL));
}

/* ---- threads ----------------------------------------------------------------------------- */

static const coll_transport *const t = &coll_threads_transport;
static unsigned long blocked;

/* As recv, but waits. */
static coll_status recv_at_once(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    coll_status status = t->recv(ctx, peer, tag, buf, bytes, h);
    for (uint32_t idle = 0; status == COLL_STARTED || status == COLL_AGAIN; idle++) {
        status = t->test(ctx, h);
        t->wait(ctx, idle);
    }
    return status;
}

static void *work(void *arg)
{
    side *me = (side *)arg;
    if (coll_in_order_restart_with(&me->engine, t->send, recv_at_once) == COLL_OK)
        (void)coll_in_order_wait(&me->engine);
    return NULL;
}

static void visit_threads(rig *it, const char *what, void *arg)
{
    for (uint32_t pass = 0; pass < 3; pass++) {
        pthread_t threads[RANKS];
        bool well = true;
        coll_transport transport = *t;
        transport.max_bytes = pass == 2 ? 24 : 0;
        rig_fill(it);
        for (uint32_t r = 0; r < it->p; r++) {
            coll_task *run = &it->ranks[r].run;
            run->transport = &transport;
            run->ctx = coll_threads_rank((coll_threads *)arg, r);
            run->tag = it->problem.flags + it->problem.root;
            if (pass > 0)
                write_out(&sides[r], &it->ranks[r].plan, r, run);
            (void)coll_in_order_init(&sides[r].engine, sides[r].ops, least(run));
            coll_i_task_assign(&sides[r].engine.task, run);
        }
        for (uint32_t r = 0; r < it->p; r++)
            if (pthread_create(&threads[r], NULL, work, &sides[r]) != 0)
                abort();
        for (uint32_t r = 0; r < it->p; r++) {
            (void)pthread_join(threads[r], NULL);
            well = well && sides[r].engine.status == COLL_OK;
            forget(&sides[r], &it->ranks[r].run);
        }
        if (!CHECK(well && rig_right(it)))
            printf("    %s %s p=%u count=%zu pass %u\n", what,
                   it->ranks[0].plan.algorithm->name, it->p, it->problem.count, pass);
        blocked++;
    }
}

TEST(every_row_with_threads)
{
    static const uint32_t ranks[] = {2, 3, 5};
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
        const uint32_t p = ranks[k];
        coll_threads *world = coll_threads_create(p);
        for (size_t i = k % CHECK_SHARE; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
            CHECK(rig_each(coll_registry[i], p, (i / CHECK_SHARE + p) & 1 ? 3 : 40,
                           visit_threads, world));
        coll_threads_destroy(world);
    }
    CHECK(blocked > 1000);
}

int main(void)
{
    RUN_ALONE(every_row);
    RUN_ALONE(every_kind);
    RUN(every_row_with_threads);
    return check_done();
}
