/* The executor call by call, of actions that are written out: what is traded, what is started, and what
 * is settled in the end. */
#include "support/script.h"

static coll_schedule schedule;

/* The program so far, written out: from action `patient` on it may wait for messages. */
static void write_out(size_t patient, bool apart, bool brief)
{
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, acts, n_acts), COLL_OK);
    schedule.patient = patient;
    schedule.apart = apart;
    schedule.brief = brief;
    run.schedule = &schedule;
}

static void trades(bool settles)
{
    transport.trade = my_trade;
    transport.settle = settles ? my_settle : NULL;
}

/* Send, receive, receive. */
static void begin_three(void)
{
    begin(4);
    transport.cancel = my_cancel;
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_recv(next(), 2, OUT(1), 1);
    coll_act_recv(next(), 3, OUT(2), 2);
}

/* Over a transport that does not trade a schedule runs as the plan does. */
TEST(not_traded)
{
    for (unsigned brief = 0; brief < 2; brief++) {
        begin_three();
        write_out(0, brief, brief);
        START(COLL_OK, "s1> r2? r3> t1? u3?");
        PROGRESS(COLL_AGAIN, "t1. u3? r2> u2?");
        PROGRESS(COLL_OK, "u2. u3.");
        START(COLL_OK, "s1. r2. r3.");
        START(COLL_ERR_IO, "s1> r2! x1.");
    }
}

/* What is received is traded from where the rank may wait on, while nothing is in flight. */
TEST(traded_last)
{
    begin_three();
    write_out(2, true, true);
    trades(false);
    START(COLL_OK, "s1. r2. R3.");
    CHECK(out[2] == 1000 && out[3] == 1001 && sizes[2] == 16 && buffers[2] == out + 2);
    START(COLL_OK, "s1. r2. R3? r3> u3?");
    PROGRESS(COLL_OK, "u3.");
    START(COLL_OK, "s1> r2. r3. t1?");
    PROGRESS(COLL_OK, "t1.");
    START(COLL_ERR_IO, "s1. r2. R3!");
    write_out(0, true, true);
    START(COLL_OK, "T1. R2. R3.");
    write_out(3, true, true);
    START(COLL_OK, "s1. r2. r3.");
}

/* Where what is sent is settled, it is traded at once, if that is right. */
TEST(settled)
{
    begin_three();
    transport.abort = my_abort;
    trades(true);
    write_out(2, true, false);
    START(COLL_OK, "T1. r2. R3. e-.");
    START(COLL_OK, "T1? s1> r2? r3> t1? u3?"); /* nothing is, while something is in flight */
    PROGRESS(COLL_OK, "t1. u3. r2. e-.");
    START(COLL_ERR_IO, "T1. r2. R3. e-! a0. k-.");
    START(COLL_ERR_IO, "T1. r2. R3! a0. k-.");
    START(COLL_ERR_IO, "T1. r2! a0. k-.");
    write_out(2, false, false);
    START(COLL_OK, "s1. r2. R3. e-.");
    write_out(3, false, false);
    START(COLL_OK, "s1. r2. r3. e-.");
}

/* What is brief is traded as it is written, without a look at the window. */
TEST(brief)
{
    begin_three();
    trades(true);
    write_out(3, true, true);
    memset(out, 0, sizeof out);
    START(COLL_OK, "T1. R2. R3. e-.");
    CHECK_STATUS(engine.status, COLL_OK);
    CHECK(engine.run == &run);
    CHECK(out[1] == 1000 && out[2] == 1000 && out[3] == 1001);
    START(COLL_OK, "T1. R2? r2> r3> u2? u3?");
    PROGRESS(COLL_OK, "u2. u3. e-.");
    START(COLL_OK, "T1. R2? r2. R3. e-.");
    START(COLL_ERR_IO, "T1. R2! k-.");
    START(COLL_ERR_IO, "T1. R2. R3. e-! k-.");
    CHECK_STATUS(engine.status, COLL_ERR_IO);
    PROGRESS(COLL_ERR_IO, "");
    schedule.rank = 1;
    START(COLL_ERR_RANK, "");
}

static coll_status begun(const coll_task *of, bool sends, uint32_t peer, void *buf,
                         size_t bytes, coll_handle *h)
{
    return sends ? my_send(of->ctx, peer, of->tag, buf, bytes, h)
                 : my_recv(of->ctx, peer, of->tag, buf, bytes, h);
}

/* By callers who know trade and settle: what was begun takes its place in the window. */
TEST(begun_without_a_look)
{
#define BRIEF(status, words)                                                                   \
    TALK(coll_engine_start_brief(&engine, &run, begun, my_settle), status, words)
    begin_three();
    write_out(3, true, true);
    BRIEF(COLL_OK, "s1. r2. r3. e-.");
    BRIEF(COLL_OK, "s1> r2> r3> t1? u2? u3?");
    PROGRESS(COLL_AGAIN, "t1? u2. u3?");
    PROGRESS(COLL_OK, "t1. u3.");
    BRIEF(COLL_OK, "s1. r2. r3> u3?");
    PROGRESS(COLL_OK, "u3.");
    BRIEF(COLL_ERR_IO, "s1. r2!");
    BRIEF(COLL_ERR_IO, "s1. r2> r3! y2.");
    BRIEF(COLL_OK, "s1. r2? r3> u3?");
    PROGRESS(COLL_OK, "u3. r2.");
}

/* Sums and copies between. */
TEST(sums_and_copies)
{
    for (unsigned copies = 0; copies < 2; copies++) {
        begin(2);
        trades(true);
        transport.copy = copies ? my_copy : NULL;
        coll_act_recv_reduce(next(), 1, OUT(0), OUT(0), SCRATCH(0), 2);
        coll_act_copy(next(), OUT(4), OUT(0), 2);
        coll_act_copy(next(), OUT(0), OUT(0), 2);
        coll_act_notify(next(), 2, OUT(0), 2);
        coll_act_await(next(), 3, OUT(0), 2);
        write_out(0, true, true);
        START(COLL_OK, copies ? "R1. c-. T2. R3. e-." : "R1. T2. R3. e-.");
        CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1001 && out[2] == 202);
        CHECK(out[4] == out[0] && out[5] == out[1] && out[6] == 206);
        CHECK(sizes[0] == 16 && buffers[0] == scratch);
        for (unsigned i = 1; i < 3; i++)
            CHECK(sizes[i] == 0 && buffers[i] == NULL);
    }
}

/* No more of them are in the window than it has slots. */
TEST(small_window)
{
    begin_three();
    CHECK_STATUS(coll_engine_init(&engine, slots, 1), COLL_OK);
    write_out(3, false, false);
    START(COLL_OK, "s1> t1?");
    PROGRESS(COLL_AGAIN, "t1. r2? ");
    PROGRESS(COLL_AGAIN, "r2> u2. r3> u3?");
    PROGRESS(COLL_OK, "u3.");
    schedule.window = 2;
    START(COLL_ERR_WINDOW, "");
    schedule.window = 1;
    plan.window = 2;
    START(COLL_ERR_WINDOW, "");
}

int main(void)
{
    RUN(not_traded);
    RUN(traded_last);
    RUN(settled);
    RUN(brief);
    RUN(begun_without_a_look);
    RUN(sums_and_copies);
    RUN(small_window);
    return check_done();
}
