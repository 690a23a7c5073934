/* Callers that wait anyway: every row of the registry over a transport that trades a rank's last
 * messages in one call, which waits for them, with a thread a rank. */
#include "check.h"

#include <pthread.h>

#define COLL_THREADS_SLOT 128 /* longer messages wait for their receiver */
#include "coll/registry.h"
#include "coll/transports/threads.h"
#include "rig.h"

#include "kinds.h"

static const coll_transport *const t = &coll_threads_transport;

/* Between a rank and its end of the world. */
typedef struct trader {
    void *end;
    coll_request *request;
    const coll_run *run;
    unsigned refuses; /* every so many trades; 0: none */
    size_t most;      /* bytes of a message; 0: any */
    unsigned long calls, taken;
    size_t in_flight;
    bool wrong; /* a trade came too early, or over itself, or anything after it */
    pthread_t thread;
} trader;

static coll_status counted(trader *me, coll_status status)
{
    me->in_flight += status == COLL_STARTED;
    me->wrong = me->wrong || (me->taken > 0 && status != COLL_AGAIN);
    return status;
}

static coll_status trader_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                               size_t bytes, coll_handle *h)
{
    trader *me = (trader *)ctx;
    return counted(me, t->send(me->end, peer, tag, buf, bytes, h));
}

static coll_status trader_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                               coll_handle *h)
{
    trader *me = (trader *)ctx;
    return counted(me, t->recv(me->end, peer, tag, buf, bytes, h));
}

static coll_status trader_test(void *ctx, coll_handle *h)
{
    trader *me = (trader *)ctx;
    const coll_status status = t->test(me->end, h);
    me->in_flight -= status == COLL_OK;
    return status;
}

static coll_status trader_multicast(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                    coll_handle *h)
{
    trader *me = (trader *)ctx;
    return counted(me, t->multicast(me->end, tag, buf, bytes, h));
}

static coll_status trader_fabric_reduce(void *ctx, uint32_t tag, coll_team team,
                                        const coll_op *op, void *dst, const void *src,
                                        size_t count, size_t elem_bytes, coll_handle *h)
{
    trader *me = (trader *)ctx;
    return counted(me,
                   t->fabric_reduce(me->end, tag, team, op, dst, src, count, elem_bytes, h));
}

/* Waits for an operation; `status` is what starting it returned. */
static coll_status to_its_end(trader *me, coll_status status, coll_handle *h)
{
    for (uint32_t idle = 0; status == COLL_STARTED || status == COLL_AGAIN; idle++) {
        status = t->test(me->end, h);
        t->wait(me->end, idle);
    }
    return status;
}

/* The send is started first, and ends last, as a receiver may have to come first. */
static coll_status trader_trade(void *ctx, uint32_t tag, const coll_trade *what)
{
    trader *me = (trader *)ctx;
    coll_handle out = {{0, 0}}, in = {{0, 0}};
    coll_status sent = COLL_OK, status = COLL_OK;
    me->wrong = me->wrong || me->in_flight > 0 || me->taken > 0 ||
                (me->most > 0 && (what->src_bytes > me->most || what->dst_bytes > me->most)) ||
                (what->to == COLL_NOBODY && what->from == COLL_NOBODY) ||
                (what->dst_bytes > 0 && what->dst == what->src);
    if (me->wrong)
        return COLL_ERR_STATE;
    if (me->refuses > 0 && me->calls++ % me->refuses == 0)
        return COLL_AGAIN;
    me->taken++;
    if (what->to != COLL_NOBODY)
        while ((sent = t->send(me->end, what->to, tag, what->src, what->src_bytes, &out)) ==
               COLL_AGAIN)
            t->wait(me->end, 100);
    if (what->from != COLL_NOBODY) {
        status = t->recv(me->end, what->from, tag, what->dst, what->dst_bytes, &in);
        status = to_its_end(me, status, &in);
    }
    sent = to_its_end(me, sent, &out);
    return status != COLL_OK ? status : sent;
}

static void trader_abort(void *ctx, uint32_t tag)
{
    t->abort(((trader *)ctx)->end, tag);
}

static void trader_wait(void *ctx, uint32_t idle)
{
    t->wait(((trader *)ctx)->end, idle);
}

static const coll_transport trading = {trader_send,
                                       trader_recv,
                                       trader_test,
                                       NULL, /* cancel */
                                       trader_abort,
                                       trader_wait,
                                       NULL, /* borrow */
                                       NULL, /* give_back */
                                       NULL, /* copy */
                                       NULL, /* reduce */
                                       trader_multicast,
                                       trader_fabric_reduce,
                                       0,
                                       UINT32_MAX,
                                       0,
                                       NULL, /* shared */
                                       NULL, /* enter */
                                       NULL, /* leave */
                                       trader_trade};

static void *work(void *arg)
{
    coll_request *request = ((trader *)arg)->request;
    if (coll_request_start(request, ((trader *)arg)->run) == COLL_OK)
        (void)coll_request_wait(request);
    return NULL;
}

/* ---- every row --------------------------------------------------------------------------- */

static unsigned long trades, refused;

static bool run_traders(rig *it, coll_threads *world, trader *traders, uint32_t window)
{
    coll_transport transport = trading;
    bool well = true;
    transport.max_bytes = traders[0].most;
    rig_fill(it);
    for (uint32_t r = 0; r < it->p; r++) {
        rig_rank *me = &it->ranks[r];
        traders[r].end = coll_threads_rank(world, r);
        traders[r].request = &me->request;
        traders[r].run = &me->run;
        me->run.transport = &transport;
        me->run.ctx = &traders[r];
        me->run.tag = it->problem.flags + it->problem.root;
        (void)coll_request_init(&me->request, me->slots, me->plan.window + window);
        if (pthread_create(&traders[r].thread, NULL, work, &traders[r]) != 0)
            abort();
    }
    for (uint32_t r = 0; r < it->p; r++) {
        (void)pthread_join(traders[r].thread, NULL);
        well = well && it->ranks[r].request.status == COLL_OK && !traders[r].wrong;
        trades += traders[r].taken;
        refused += traders[r].calls;
    }
    return well && rig_right(it);
}

/* `refuses` of a rank differ, as those of transports may. In the last pass longer messages go in
 * pieces, which no trade has. */
static void visit_row(rig *it, const char *what, void *arg)
{
    for (uint32_t pass = 0; pass < 3; pass++) {
        trader traders[8] = {0};
        for (uint32_t r = 0; r < it->p && pass > 0; r++) {
            traders[r].refuses = (r + pass) % 3;
            traders[r].most = pass == 2 ? 24 : 0;
        }
        if (!CHECK(run_traders(it, (coll_threads *)arg, traders, 7 * pass)))
            printf("    %s %s p=%u count=%zu pass=%u\n", what,
                   it->ranks[0].plan.algorithm->name, it->p, it->problem.count, pass);
    }
}

TEST(every_row)
{
    for (uint32_t p = 2; p <= 5; p += 1 + p % 2) {
        coll_threads *world = coll_threads_create(p);
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            CHECK(rig_each(coll_registry[i], p, (i + p) & 1 ? 3 : 40, visit_row, world));
        coll_threads_destroy(world);
    }
    CHECK(trades > 1000);
    CHECK(refused > 1000);
}

/* What is received overwrites what was sent, so it must not be received at once. */
static size_t turn_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return 1;
}

static unsigned turn_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const coll_ref here = COLL_AT(COLL_SCRATCH, 0), input = coll_input(plan);
    const size_t n = plan->problem.count;
    (void)s;
    coll_act_copy(out, here, input, n);
    coll_act_send(out + 1, 1 - rank, here, n);
    coll_act_recv(out + 2, 1 - rank, here, n);
    coll_act_reduce(out + 3, COLL_AT(COLL_OUT, 0), rank ? here : input, rank ? input : here, n);
    return 4;
}

static size_t turn_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return plan->problem.count;
}

static coll_status turn_check(const coll_plan *plan)
{
    return plan->problem.p == 2 ? COLL_OK : COLL_ERR_SHAPE;
}

static const coll_algorithm turn = {"turn",
                                    "",
                                    COLL_BIT(COLL_ALLREDUCE),
                                    0,
                                    1,
                                    0,
                                    NULL,
                                    turn_check,
                                    turn_steps,
                                    turn_step,
                                    turn_scratch,
                                    NULL};

TEST(overwriting)
{
    coll_threads *world = coll_threads_create(2);
    CHECK(rig_each(&turn, 2, 3, visit_row, world)); /* longer ones would wait for each other */
    coll_threads_destroy(world);
}

TEST(every_kind)
{
    for (uint32_t p = 1; p <= 5; p++) {
        coll_threads *world = coll_threads_create(p);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            for (size_t count = 3; count <= 70 && p <= kinds_ranks(kinds[i]); count += 67)
                CHECK(rig_each(kinds[i], p, count, visit_row, world));
        coll_threads_destroy(world);
    }
}

/* What trading returns, the collective returns. */
static coll_status no_trade(void *ctx, uint32_t tag, const coll_trade *what)
{
    (void)ctx;
    (void)tag;
    (void)what;
    return COLL_ERR_IO;
}

static void visit_failure(rig *it, const char *what, void *arg)
{
    coll_transport failing = trading;
    trader me = {0};
    (void)what;
    failing.trade = no_trade;
    me.end = coll_threads_rank((coll_threads *)arg, 1);
    it->ranks[1].run.transport = &failing;
    it->ranks[1].run.ctx = &me;
    rig_fill(it);
    (void)coll_request_init(&it->ranks[1].request, it->ranks[1].slots, 8);
    CHECK_STATUS(coll_request_start(&it->ranks[1].request, &it->ranks[1].run), COLL_ERR_IO);
    CHECK_STATUS(it->ranks[1].request.status, COLL_ERR_IO);
    CHECK_EQ(me.in_flight, 0);
}

TEST(failures)
{
    coll_threads *world = coll_threads_create(2);
    CHECK(rig_each(&coll_dissemination_barrier, 2, 3, visit_failure, world));
    coll_threads_destroy(world);
}

int main(void)
{
    RUN(every_row);
    RUN(overwriting);
    RUN(every_kind);
    RUN(failures);
    return check_done();
}
