/* The window engine, call by call, of actions that are written out. */
#include "support/script.h"

static coll_schedule schedule;

/* Send, receive, receive; written out. */
static void begin_three(uint32_t window)
{
    begin(window);
    own.failure.cancel = my_cancel;
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_recv(next(), 2, OUT(1), 1);
    coll_act_recv(next(), 3, OUT(2), 2);
    CHECK_STATUS(coll_schedule_write(&schedule, &plan, 0, acts, n_acts), COLL_OK);
    run.schedule = &schedule;
}

/* It runs as the plan does. */
TEST(written_out)
{
    begin_three(4);
    memset(out, 0, sizeof out);
    START(COLL_OK, "s1> r2? r3> t1? u3?");
    PROGRESS(COLL_AGAIN, "t1. u3? r2> u2?");
    PROGRESS(COLL_OK, "u2. u3.");
    CHECK(out[1] == 1000 && out[2] == 1000 && out[3] == 1001);
    START(COLL_OK, "s1. r2. r3.");
    CHECK_STATUS(engine.status, COLL_OK);
    START(COLL_ERR_IO, "s1> r2! x1.");
    PROGRESS(COLL_ERR_IO, "");
    schedule.n = 2;
    START(COLL_OK, "s1. r2.");
    schedule.rank = 1;
    START(COLL_ERR_RANK, "");
}

/* No more of it are in the window than it has slots. */
TEST(small_window)
{
    begin_three(1);
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
    RUN(written_out);
    RUN(small_window);
    return check_done();
}
