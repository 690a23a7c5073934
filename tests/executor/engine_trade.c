/* Callers that wait anyway: every row of the registry, written out, over a transport that waits for a
 * rank's last messages, with a thread a rank. */
#undef COLL_EXTERN /* it has bodies of its own */
#include "support/check.h"

#include <pthread.h>

#define COLL_THREADS_SLOT 128 /* longer messages wait for their receiver */
#include "coll/algos/registry.h"
#include "coll/transports/threads.h"
#include "support/rig.h"

#include "support/kinds.h"

static const coll_transport *const t = &coll_threads_transport;

/* Between a rank and its end of the world. */
typedef struct trader {
    void *end;
    coll_engine *engine;
    const coll_task *run;
    coll_schedule schedule;
    coll_action *actions;
    unsigned refuses; /* every so many trades; 0: none */
    size_t most;      /* bytes of a message that is traded */
    unsigned long calls, taken;
    unsigned long later; /* sends that are looked at when they are settled */
    bool starts;         /* it trades nothing: what is brief runs by its send and recv, … */
    coll_handle *held;   /* … and of some that are over it says so when it is asked again: */
    unsigned long begun; /* so many */
    size_t in_flight;
    bool settles; /* it does not wait for what it trades and sends, but at the end */
    struct {
        bool over;
        coll_handle handle;
        const void *buf;
        size_t bytes;
        unsigned char before[64];
    } sent[8];
    unsigned n_sent;
    size_t copied;
    bool last;  /* it has waited for what it sent, … */
    bool mute;  /* … or received, and sends no more, unless all is brief */
    bool wrong; /* a trade came too early, or something after it that should have come before */
    pthread_t thread;
} trader;

static void look(trader *me, bool sends)
{
    me->wrong = me->wrong || me->last || (sends && me->mute);
}

/* Is no message, or piece, longer than the transport says? */
static bool fits(trader *me, size_t bytes)
{
    const coll_transport *its = me->run->transport;
    if (its->max_bytes != 0 && bytes > its->max_bytes &&
        !coll_is(its->whole, me->run->plan->problem.collective))
        me->wrong = true;
    return !me->wrong;
}

static coll_status counted(trader *me, bool sends, coll_status status)
{
    me->in_flight += status == COLL_STARTED;
    if (status != COLL_AGAIN)
        look(me, sends);
    return status;
}

static coll_status trader_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                               size_t bytes, coll_handle *h)
{
    trader *me = (trader *)ctx;
    if (!fits(me, bytes))
        return COLL_ERR_STATE;
    return counted(me, true, t->send(me->end, peer, tag, buf, bytes, h));
}

static coll_status trader_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                               coll_handle *h)
{
    trader *me = (trader *)ctx;
    if (!fits(me, bytes))
        return COLL_ERR_STATE;
    return counted(me, false, t->recv(me->end, peer, tag, buf, bytes, h));
}

static coll_status trader_test(void *ctx, coll_handle *h)
{
    trader *me = (trader *)ctx;
    const coll_status status = h == me->held ? COLL_OK : t->test(me->end, h);
    me->held = h == me->held ? NULL : me->held;
    me->in_flight -= status == COLL_OK;
    return status;
}

static coll_status trader_multicast(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                    coll_handle *h)
{
    trader *me = (trader *)ctx;
    if (!fits(me, bytes))
        return COLL_ERR_STATE;
    return counted(me, true, t->multicast(me->end, tag, buf, bytes, h));
}

static coll_status trader_fabric_reduce(void *ctx, uint32_t tag, coll_team team,
                                        const struct coll_plan *plan, const coll_op *op,
                                        void *dst, const void *src, size_t count,
                                        size_t elem_bytes, coll_handle *h)
{
    trader *me = (trader *)ctx;
    return counted(
        me, true,
        t->network_reduce(me->end, tag, team, plan, op, dst, src, count, elem_bytes, h));
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

/* Sends for trade, without waiting. */
static coll_status send_for_now(trader *me, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes)
{
    coll_handle *h = &me->sent[me->n_sent].handle;
    coll_status status;
    if (me->n_sent == sizeof me->sent / sizeof *me->sent)
        return COLL_AGAIN;
    h->word[0] = h->word[1] = 0;
    status = t->send(me->end, peer, tag, buf, bytes, h);
    if (status != COLL_OK && status != COLL_STARTED)
        return status;
    me->sent[me->n_sent].over = status == COLL_OK;
    me->sent[me->n_sent].buf = buf;
    me->sent[me->n_sent].bytes = bytes;
    if (bytes > 0)
        memcpy(me->sent[me->n_sent].before, buf, bytes);
    me->n_sent++;
    me->later++;
    return COLL_OK;
}

/* What was sent must not have changed meanwhile. */
static coll_status trader_settle(void *ctx, bool give_up)
{
    trader *me = (trader *)ctx;
    coll_status status = COLL_OK;
    for (; me->n_sent > 0; me->n_sent--) {
        coll_handle *h = &me->sent[me->n_sent - 1].handle;
        const size_t bytes = me->sent[me->n_sent - 1].bytes;
        if (give_up && !me->sent[me->n_sent - 1].over)
            t->cancel(me->end, h);
        else if (status == COLL_OK && !me->sent[me->n_sent - 1].over)
            status = to_its_end(me, COLL_STARTED, h);
        me->wrong = me->wrong || (bytes > 0 && memcmp(me->sent[me->n_sent - 1].before,
                                                      me->sent[me->n_sent - 1].buf, bytes));
    }
    return status;
}

static coll_status trader_trade(void *ctx, bool sends, uint32_t peer, uint32_t tag, void *buf,
                                size_t bytes)
{
    trader *me = (trader *)ctx;
    coll_handle h = {{0, 0}};
    coll_status status;
    me->wrong = me->wrong || me->in_flight > 0 || bytes > me->most;
    look(me, sends);
    if (me->wrong)
        return COLL_ERR_STATE;
    if (me->refuses > 0 && me->calls++ % me->refuses == 0)
        return COLL_AGAIN;
    me->taken++;
    if (sends && me->settles)
        return send_for_now(me, peer, tag, buf, bytes);
    me->last = me->last || sends;
    me->mute = !(me->settles && me->schedule.brief);
    if (!sends)
        return to_its_end(me, t->recv(me->end, peer, tag, buf, bytes, &h), &h);
    while ((status = t->send(me->end, peer, tag, buf, bytes, &h)) == COLL_AGAIN)
        t->wait(me->end, 100);
    return to_its_end(me, status, &h);
}

static coll_status trader_copy(void *ctx, void *dst, const void *src, size_t bytes,
                               coll_handle *h)
{
    (void)h;
    ((trader *)ctx)->copied++;
    memcpy(dst, src, bytes);
    return COLL_OK;
}

static void trader_abort(void *ctx, uint32_t first, uint32_t tags)
{
    t->abort(((trader *)ctx)->end, first, tags);
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
                                       NULL, /* acquire */
                                       NULL, /* release */
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
                                       trader_trade,
                                       NULL, /* settle */
                                       0,
                                       0};

static coll_status start_only(const coll_task *run, bool sends, uint32_t peer, void *buf,
                              size_t bytes, coll_handle *h)
{
    trader *me = (trader *)run->ctx;
    coll_status status;
    if (me->refuses == 0 || me->calls++ % me->refuses != 0)
        return sends ? trader_send(me, peer, run->tag, buf, bytes, h)
                     : trader_recv(me, peer, run->tag, buf, bytes, h);
    status = sends ? t->send(me->end, peer, run->tag, buf, bytes, h)
                   : t->recv(me->end, peer, run->tag, buf, bytes, h);
    if (status == COLL_AGAIN || to_its_end(me, status, h) != COLL_OK)
        return status;
    me->held = h;
    me->in_flight++;
    me->begun++;
    return COLL_STARTED;
}

static coll_status nothing_to_settle(void *ctx, bool give_up)
{
    (void)ctx;
    (void)give_up;
    return COLL_OK;
}

static void *work(void *arg)
{
    trader *me = (trader *)arg;
    const coll_status status =
        me->starts && me->schedule.brief
            ? coll_engine_start_brief(me->engine, me->run, start_only, nothing_to_settle)
            : coll_engine_start(me->engine, me->run);
    if (status == COLL_OK)
        (void)coll_engine_wait(me->engine);
    return NULL;
}

/* ---- every row --------------------------------------------------------------------------- */

static unsigned long trades, refused, later, begun;

static void write_out(trader *me, const coll_plan *plan, uint32_t rank, uint32_t window)
{
    coll_counts tally;
    if (coll_plan_count(plan, rank, &tally) != COLL_OK)
        abort();
    me->actions = (coll_action *)malloc((tally.total + 1) * sizeof *me->actions);
    if (!me->actions ||
        coll_schedule_write(&me->schedule, plan, rank, me->actions, tally.total) != COLL_OK)
        abort();
    coll_schedule_close(&me->schedule, plan, me->actions, me->most, window);
}

/* Are all copies the transport's, if it copies? */
static bool has_copied(const trader *me)
{
    size_t copies = 0;
    for (size_t i = 0; i < me->schedule.n; i++)
        copies +=
            me->actions[i].kind == COLL_DO_COPY && me->actions[i].dst != me->actions[i].src;
    return me->copied == (me->run->transport->copy ? copies : 0);
}

static bool run_traders(rig *it, coll_threads *world, trader *traders, uint32_t window,
                        size_t piece)
{
    coll_transport transport = trading;
    bool well = true;
    transport.max_bytes = piece;
    transport.copy = it->p % 2 ? trader_copy : NULL;
    transport.whole = it->p % 2 ? COLL_BIT(it->problem.collective) : 0;
    transport.settle = traders[0].settles ? trader_settle : NULL;
    if (traders[0].starts)
        transport.trade = NULL;
    rig_fill(it);
    for (uint32_t r = 0; r < it->p; r++) {
        rig_rank *me = &it->ranks[r];
        traders[r].end = coll_threads_rank(world, r);
        traders[r].engine = &me->engine;
        traders[r].run = &me->run;
        write_out(&traders[r], &me->plan, r, me->plan.window + window);
        me->run.schedule = &traders[r].schedule;
        me->run.transport = &transport;
        me->run.ctx = &traders[r];
        me->run.tag = it->problem.flags + it->problem.root;
        (void)coll_engine_init(&me->engine, me->slots, me->plan.window + window);
        if (pthread_create(&traders[r].thread, NULL, work, &traders[r]) != 0)
            abort();
    }
    for (uint32_t r = 0; r < it->p; r++) {
        (void)pthread_join(traders[r].thread, NULL);
        well = well && it->ranks[r].engine.status == COLL_OK && !traders[r].wrong &&
               traders[r].n_sent == 0 && has_copied(&traders[r]);
        trades += traders[r].taken;
        refused += traders[r].calls;
        later += traders[r].later;
        begun += traders[r].begun;
        it->ranks[r].run.schedule = NULL;
        free(traders[r].actions);
    }
    return well && rig_right(it);
}

/* `refuses` of a rank differ, as those of transports may; in the last pass longer messages go in
 * pieces, which are not traded, or are not cut and not traded. No sends pass others in the first, for
 * want of slots. All that once more by a transport that settles, and by one that trades nothing. */
static void visit_row(rig *it, const char *what, void *arg)
{
    for (uint32_t round = 0; round < 9; round++) {
        const uint32_t pass = round % 3;
        trader traders[8] = {0};
        for (uint32_t r = 0; r < it->p; r++) {
            traders[r].settles = round / 3 == 1;
            traders[r].starts = round / 3 == 2;
            traders[r].refuses = pass > 0 ? (r + pass) % 3 : 0;
            traders[r].most = pass == 2 ? 24 : 64;
        }
        if (!CHECK(run_traders(it, (coll_threads *)arg, traders, 7 * pass, pass == 2 ? 24 : 0)))
            printf("    %s %s p=%u count=%zu round=%u\n", what,
                   it->ranks[0].plan.algorithm->name, it->p, it->problem.count, round);
    }
}

TEST(every_row)
{
    static const uint32_t ranks[] = {2, 3, 5};
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
        const uint32_t p = ranks[k];
        coll_threads *world = coll_threads_create(p);
        for (size_t i = k % CHECK_SHARE; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
            CHECK(rig_each(coll_registry[i], p, (i / CHECK_SHARE + p) & 1 ? 3 : 40, visit_row,
                           world));
        coll_threads_destroy(world);
    }
    CHECK(trades > 1000);
    CHECK(refused > 1000);
    CHECK(later > 1000);
    CHECK(begun > 1000);
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

COLL_ALGORITHM(turn, "turn", "",
    COLL_BIT(COLL_ALLREDUCE), /* traits */ 0,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    turn_steps, turn_step, turn_scratch, turn_check);

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
static coll_status no_trade(void *ctx, bool sends, uint32_t peer, uint32_t tag, void *buf,
                            size_t bytes)
{
    (void)sends;
    (void)peer;
    (void)tag;
    (void)buf;
    (void)bytes;
    ((trader *)ctx)->calls++;
    return COLL_ERR_IO;
}

static coll_status sends_only(void *ctx, bool sends, uint32_t peer, uint32_t tag, void *buf,
                              size_t bytes)
{
    return sends ? trader_trade(ctx, sends, peer, tag, buf, bytes)
                 : no_trade(ctx, sends, peer, tag, buf, bytes);
}

static coll_status any_trade(void *ctx, bool sends, uint32_t peer, uint32_t tag, void *buf,
                             size_t bytes)
{
    (void)no_trade(ctx, sends, peer, tag, buf, bytes);
    return COLL_OK;
}

static coll_status no_settlement(void *ctx, bool give_up)
{
    trader *me = (trader *)ctx;
    me->later += give_up;
    me->begun += !give_up;
    return give_up ? COLL_OK : COLL_ERR_IO;
}

static void visit_failure(rig *it, const char *what, void *arg)
{
    coll_transport failing = trading;
    rig_rank *one = &it->ranks[1];
    trader me = {0};
    (void)what;
    failing.trade = no_trade;
    me.end = coll_threads_rank((coll_threads *)arg, 1);
    me.run = &one->run;
    me.most = 64;
    write_out(&me, &one->plan, 1, 8);
    one->run.transport = &failing;
    one->run.ctx = &me;
    one->run.schedule = &me.schedule;
    rig_fill(it);
    (void)coll_engine_init(&one->engine, one->slots, 1);
    CHECK_STATUS(coll_engine_start(&one->engine, &one->run), COLL_ERR_WINDOW);
    (void)coll_engine_init(&one->engine, one->slots, 8);
    me.schedule.rank = 0;
    CHECK_STATUS(coll_engine_start(&one->engine, &one->run), COLL_ERR_RANK);
    me.schedule.rank = 1;
    CHECK_STATUS(coll_engine_start(&one->engine, &one->run), COLL_ERR_IO);
    CHECK_STATUS(one->engine.status, COLL_ERR_IO);
    CHECK_EQ(me.calls, 1);
    CHECK_EQ(me.in_flight, 0);
    failing.trade = sends_only; /* what was sent is given up */
    failing.settle = trader_settle;
    me.settles = true;
    one->run.tag++; /* the other one was aborted */
    CHECK_STATUS(coll_engine_start(&one->engine, &one->run), COLL_ERR_IO);
    CHECK_EQ(me.calls, 2);
    CHECK_EQ(me.taken, 1);
    CHECK_EQ(me.n_sent, 0);
    failing.trade = any_trade;
    failing.settle = no_settlement;
    me.later = 0;
    one->run.tag++;
    CHECK_STATUS(coll_engine_start(&one->engine, &one->run), COLL_ERR_IO);
    CHECK_STATUS(one->engine.status, COLL_ERR_IO);
    CHECK_EQ(me.calls, 4);
    CHECK_EQ(me.begun, 1);
    CHECK_EQ(me.later, 1);
    one->run.schedule = NULL;
    free(me.actions);
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
