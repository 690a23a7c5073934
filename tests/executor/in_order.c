/* The in-order engine, call by call. */
#include "coll/executor/in_order.h"

#include "support/script.h"

static coll_in_order it;
static coll_outstanding ops[8];

static void begin_with(uint32_t sends)
{
    begin(1);
    own.failure.cancel = my_cancel;
    own.failure.abort = my_abort;
    memset(ops, 0xFF, sizeof ops);
    memset(&it, 0xFF, sizeof it);
    CHECK_STATUS(coll_in_order_init(&it, ops, sends + 1), COLL_OK);
}

#define GO(status, words) TALK(coll_in_order_start(&it, &run), status, words)
#define ON(status, words) TALK(coll_in_order_progress(&it), status, words)

/* A receive blocks what follows, a send does not. */
TEST(one_after_the_other)
{
    begin_with(2);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_recv(next(), 2, OUT(1), 2);
    coll_act_send(next(), 3, OUT(1), 1);
    coll_act_recv(next(), 4, OUT(4), 1);
    for (per_step = 1; per_step <= 4; per_step++) {
        memset(out, 0, sizeof out);
        n_sizes = 0;
        GO(COLL_OK, "s1. r2. s3. r4.");
        CHECK_STATUS(it.status, COLL_OK);
        CHECK(out[1] == 1000 && out[2] == 1001 && out[4] == 1000);
        CHECK(sizes[1] == 16 && buffers[1] == out + 1 && buffers[2] == out + 1);
        GO(COLL_OK, "s1> r2> u2? t1?");
        ON(COLL_AGAIN, "u2? t1.");
        CHECK_EQ(it.idle, 0);
        ON(COLL_AGAIN, "u2?");
        CHECK_EQ(it.idle, 1);
        ON(COLL_AGAIN, "u2. s3> r4> u4? t3?");
        ON(COLL_AGAIN, "u4. t3?");
        ON(COLL_OK, "t3.");
        ON(COLL_OK, "");
        GO(COLL_OK, "s1> r2? t1? r2?");
        ON(COLL_AGAIN, "t1. r2> u2. s3. r4> u4?");
        ON(COLL_OK, "u4.");
    }
}

/* What writes what is sent waits for that; so does a send for which there is no room. */
TEST(waits)
{
    begin_with(1);
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 2, OUT(2), 1);
    coll_act_recv(next(), 2, OUT(1), 1);
    GO(COLL_OK, "s1> r2. t1?");
    ON(COLL_OK, "t1. r2.");
    GO(COLL_OK, "s1. r2. r2.");
    begin_with(1);
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_recv_reduce(next(), 2, OUT(4), OUT(4), OUT(1), 1);
    GO(COLL_OK, "s1> t1?");
    ON(COLL_OK, "t1. r2.");
    begin_with(1);
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_copy(next(), OUT(4), OUT(0), 2);
    coll_act_copy(next(), OUT(1), OUT(5), 1);
    GO(COLL_OK, "s1> t1?");
    CHECK(out[4] == 200 && out[1] == 201);
    ON(COLL_OK, "t1.");
    CHECK_EQ(out[1], 201);
    begin_with(1);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_send(next(), 2, OUT(1), 1);
    coll_act_recv(next(), 3, OUT(2), 1);
    GO(COLL_OK, "s1> t1?");
    ON(COLL_AGAIN, "t1. s2> r3> u3? t2?");
    ON(COLL_AGAIN, "u3. t2?");
    ON(COLL_OK, "t2.");
    begin_with(2);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_send(next(), 2, OUT(1), 1);
    coll_act_recv(next(), 3, OUT(2), 1);
    GO(COLL_OK, "s1> s2> r3> u3? t1? t2?");
    ON(COLL_AGAIN, "u3? t1? t2.");
    ON(COLL_OK, "u3. t1.");
    GO(COLL_OK, "s1?");
    ON(COLL_AGAIN, "s1> s2? t1? s2?");
    ON(COLL_OK, "t1. s2. r3.");
}

/* Of the most operations that there may be, too. */
TEST(all_in_flight)
{
    static coll_outstanding most[32];
    static coll_action sends[33];
    coll_schedule schedule = {sends, 33, 0, 0, 0, 1, 1};
    begin_with(1);
    own.failure.cancel = NULL;
    own.failure.abort = NULL;
    CHECK_STATUS(coll_in_order_init(&it, most, 32), COLL_OK);
    for (unsigned i = 0; i < 33; i++)
        coll_act_send(&sends[i], i % 9 + 1, OUT(0), 1);
    run.schedule = &schedule;
    TALK(coll_in_order_start(&it, &run), COLL_OK,
         "s1> s2> s3> s4> s5> s6> s7> s8> s9> s1> s2> s3> s4> s5> s6> s7> s8> s9> s1> s2> s3> "
         "s4> "
         "s5> s6> s7> s8> s9> s1> s2> s3> s4> t1? t2? t3? t4? t5? t6? t7? t8? t9?");
    CHECK_EQ(it.used, 0xFFFFFFFEu);
    CHECK_STATUS(it.status, COLL_AGAIN);
}

/* A long message is one send, and is not passed on its way to a peer. */
TEST(pieces)
{
    begin_with(3);
    transport.max_bytes = 16;
    coll_act_send(next(), 1, OUT(0), 5);
    coll_act_send(next(), 2, OUT(0), 1);
    coll_act_send(next(), 1, OUT(5), 1);
    coll_act_recv(next(), 3, OUT(6), 3);
    GO(COLL_OK, "s1. s1. s1. s2. s1. r3. r3.");
    CHECK(sizes[0] == 16 && sizes[1] == 16 && sizes[2] == 8 && buffers[2] == out + 4);
    CHECK(sizes[5] == 16 && sizes[6] == 8 && buffers[6] == out + 8);
    GO(COLL_OK, "s1. s1> s2. t1?");
    ON(COLL_AGAIN, "t1. s1> s1> r3> u3? t1? t1?");
    ON(COLL_AGAIN, "u3. r3> t1. t1. u3?");
    ON(COLL_OK, "u3.");
    GO(COLL_OK, "s1. s1? s2. s1?");
    ON(COLL_OK, "s1. s1. s1. r3. r3.");
    begin_with(3);
    transport.max_bytes = 16;
    own.in_network.multicast = my_multicast;
    algorithm.traits = COLL_NEEDS_MULTICAST;
    CHECK_STATUS(coll_plan_init(&plan, &algorithm, &plan.problem, NULL), COLL_OK);
    coll_act_send(next(), 1, OUT(0), 3);
    coll_act_multicast(next(), OUT(0), 1);
    GO(COLL_OK, "s1> t1?");
    ON(COLL_OK, "t1. s1. m-.");
    n_acts = 0;
    coll_act_multicast(next(), OUT(0), 3);
    coll_act_send(next(), 1, OUT(0), 1);
    GO(COLL_OK, "m-> v-?");
    ON(COLL_AGAIN, "v-. m-> s1> v-? t1?");
    ON(COLL_OK, "v-. t1.");
    algorithm.traits = 0;
}

/* Memory that moves is copied: by the transport, or by this processor if that refuses. */
TEST(copies)
{
    begin_with(1);
    transport.copy = my_copy;
    coll_act_copy(next(), OUT(0), COLL_AT(COLL_IN, 2), 2);
    coll_act_copy(next(), OUT(4), OUT(4), 2);
    coll_act_copy(next(), OUT(6), OUT(1), 1);
    coll_act_send(next(), 1, OUT(6), 1);
    GO(COLL_OK, "c-. c-. s1.");
    CHECK(out[0] == 102 && out[1] == 103 && out[2] == 202 && out[6] == 103);
    out[0] = out[1] = out[6] = 0;
    GO(COLL_OK, "c-?");
    ON(COLL_AGAIN, "c-> v-?");
    ON(COLL_OK, "v-. c-. s1.");
    CHECK(out[0] == 102 && out[1] == 103 && out[2] == 202 && out[6] == 103);
    out[0] = out[1] = out[6] = 0;
    GO(COLL_OK, "c-/ s1.");
    CHECK(out[0] == 102 && out[1] == 103 && out[2] == 202 && out[6] == 103);
    out[0] = out[1] = out[6] = 0;
    GO(COLL_OK, "c-> v-?");
    ON(COLL_OK, "v-. c-/ s1.");
    CHECK(out[0] == 102 && out[1] == 103 && out[6] == 103);
    GO(COLL_ERR_IO, "c-! a0.");
}

/* What comes is combined: by this processor, by another one, or by this if that refuses. */
TEST(sums)
{
    begin_with(1);
    coll_act_recv_reduce(next(), 1, OUT(0), OUT(0), SCRATCH(0), 2);
    coll_act_recv_reduce(next(), 1, OUT(2), OUT(2), SCRATCH(2), 1);
    acts[1].flags = COLL_LEFT;
    GO(COLL_OK, "r1. r1.");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1001 && out[2] == 3 * 1000 + 202);
    out[0] = 200, out[1] = 201, out[2] = 202;
    GO(COLL_OK, "r1> u1?");
    CHECK_EQ(out[0], 200);
    ON(COLL_OK, "u1. r1.");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1001 && out[2] == 3 * 1000 + 202);
    transport.reduce = my_reduce;
    out[0] = 200, out[1] = 201, out[2] = 202;
    GO(COLL_OK, "r1. d-. r1> u1?");
    ON(COLL_AGAIN, "u1. d-> v-?");
    ON(COLL_OK, "v-.");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1001 && out[2] == 3 * 1000 + 202);
    out[0] = 200, out[1] = 201, out[2] = 202;
    GO(COLL_OK, "r1. d-/ r1. d-? d-?");
    ON(COLL_OK, "d-/");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1001 && out[2] == 3 * 1000 + 202);
    n_acts = 0;
    coll_act_reduce(next(), OUT(4), OUT(4), SCRATCH(0), 1);
    acts[0].inputs = 2;
    acts[0].stride = 1;
    GO(COLL_OK, "d-> v-?");
    ON(COLL_OK, "v-. d-.");
    CHECK_EQ(out[4], 3 * (3 * 204 + 1000) + 1001);
}

/* What is sent may be combined with what comes: it is staged until the send is over. */
TEST(exchange)
{
    for (unsigned left = 0; left < 2; left++) {
        begin_with(1);
        coll_act_send(next(), 1, OUT(0), 2);
        coll_act_recv_reduce(next(), 2, OUT(0), OUT(0), SCRATCH(0), 2);
        coll_act_send(next(), 1, OUT(1), 1);
        acts[1].flags = left ? COLL_LEFT : 0;
        GO(COLL_OK, "s1> r2. t1?");
        CHECK_EQ(out[0], 200);
        ON(COLL_OK, "t1. s1.");
        CHECK(out[1] == (left ? 3 * 1001 + 201 : 3 * 201 + 1001));
        out[0] = 200, out[1] = 201;
        GO(COLL_OK, "s1> r2> u2? t1?");
        ON(COLL_AGAIN, "u2. t1?");
        CHECK_EQ(out[0], 200);
        ON(COLL_OK, "t1. s1.");
        CHECK(out[0] == (left ? 3 * 1000 + 200 : 3 * 200 + 1000));
        GO(COLL_OK, "s1. r2. s1.");
    }
}

/* An error ends it, and what is in flight is cancelled. */
TEST(failures)
{
    begin_with(2);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_send(next(), 2, OUT(0), 1);
    coll_act_recv(next(), 3, OUT(1), 1);
    GO(COLL_ERR_IO, "s1> s2! a0. x1.");
    ON(COLL_ERR_IO, "");
    GO(COLL_OK, "s1> s2> r3> u3? t1? t2?");
    TALK(coll_in_order_start(&it, &run), COLL_ERR_BUSY, "");
    ON(COLL_ERR_PEER, "u3? t1p y3. x1. x2.");
    GO(COLL_OK, "s1> s2> r3> u3? t1? t2?");
    ON(COLL_AGAIN, "u3. t1? t2?");
    TALK(coll_in_order_cancel(&it), COLL_OK, "a0. x1. x2.");
    CHECK_STATUS(it.status, COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_in_order_cancel(&it), COLL_ERR_STATE);
    transport.wait = my_wait;
    GO(COLL_OK, "s1. s2. r3> u3?");
    TALK(coll_in_order_wait(&it), COLL_OK, "u3? w1. u3.");
    own.failure.cancel = NULL;
    own.failure.abort = NULL;
    GO(COLL_ERR_IO, "s1> s2!");
    it.status = COLL_OK;
    run.plan = NULL;
    GO(COLL_ERR_NULL, "");
    CHECK_STATUS(coll_in_order_start(NULL, &run), COLL_ERR_NULL);
}

/* So many operations there must be. */
TEST(room)
{
    coll_schedule schedule;
    begin_with(1);
    CHECK_STATUS(coll_in_order_init(NULL, ops, 2), COLL_ERR_NULL);
    CHECK_STATUS(coll_in_order_init(&it, NULL, 2), COLL_ERR_NULL);
    CHECK_STATUS(coll_in_order_init(&it, ops, 1), COLL_ERR_WINDOW);
    CHECK_STATUS(coll_in_order_init(&it, ops, 33), COLL_ERR_WINDOW);
    CHECK_STATUS(coll_in_order_init(&it, ops, 2), COLL_OK);
    coll_act_recv(next(), 3, OUT(1), 1);
    coll_act_send(next(), 1, OUT(0), 1);
    GO(COLL_OK, "r3. s1.");
    plan.sends = 2;
    GO(COLL_ERR_WINDOW, "");
    plan.sends = 1;
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, acts, n_acts), COLL_OK);
    run.schedule = &schedule;
    GO(COLL_OK, "r3. s1.");
    coll_schedule_sends_first(&schedule, acts);
    GO(COLL_ERR_WINDOW, "");
    CHECK_STATUS(coll_in_order_init(&it, ops, 3), COLL_OK);
    GO(COLL_OK, "s1. r3.");
}

/* With functions that are handed over, until something stays in flight. */
static coll_status send_at_once(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    (void)ctx, (void)tag, (void)buf, (void)bytes;
    (void)h;
    return call('S', peer);
}

static coll_status recv_at_once(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    (void)ctx, (void)tag, (void)h;
    memcpy(buf, message, bytes);
    return call('R', peer);
}

#define WITH(status, words)                                                                    \
    TALK(coll_in_order_restart_with(&it, send_at_once, recv_at_once), status, words)

TEST(handed_over)
{
    begin_with(2);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_recv(next(), 2, OUT(1), 2);
    coll_act_recv_reduce(next(), 3, OUT(4), OUT(4), SCRATCH(0), 1);
    coll_i_task_assign(&it.task, &run);
    WITH(COLL_OK, "S1. R2. R3.");
    CHECK(it.status == COLL_OK && out[1] == 1000 && out[4] == 3 * 204 + 1000);
    WITH(COLL_OK, "S1. R2? r2> u2?");
    ON(COLL_OK, "u2. r3.");
    WITH(COLL_ERR_IO, "S1. R2! a0.");
    CHECK_STATUS(it.status, COLL_ERR_IO);
    WITH(COLL_ERR_PEER, "S1p");
}

int main(void)
{
    RUN(one_after_the_other);
    RUN(waits);
    RUN(all_in_flight);
    RUN(pieces);
    RUN(copies);
    RUN(sums);
    RUN(exchange);
    RUN(failures);
    RUN(room);
    RUN(handed_over);
    return check_done();
}
