/* The executor call by call: what one rank asks of its transport, in which order, and what it makes of
 * each answer. */
#include "support/script.h"

/* ---- progress ---------------------------------------------------------------------------- */

/* What can move moves in one call, however small the window is; a run leaves nothing to the next. */
TEST(all_that_can_move_moves)
{
    for (unsigned each = 1; each <= 4; each++) {
        begin(1);
        per_step = each;
        coll_act_send(next(), 1, OUT(0), 2);
        coll_act_send(next(), 2, OUT(1), 0); /* is none */
        coll_act_recv(next(), 3, OUT(2), 2);
        coll_act_send(next(), 4, OUT(3), 2);
        START(COLL_OK, "s1> t1. r3> u3. s4.");
        CHECK_STATUS(engine.status, COLL_OK);
        PROGRESS(COLL_OK, "");
        START(COLL_OK, "s1> t1?");
        CHECK_STATUS(engine.status, COLL_AGAIN);
        PROGRESS(COLL_AGAIN, "t1. r3> u3?");
        PROGRESS(COLL_AGAIN, "u3. s4?");
        CHECK(!coll_engine_only_waits(&engine)); /* it has not started the last one */
        PROGRESS(COLL_AGAIN, "s4> t4?");
        CHECK(coll_engine_only_waits(&engine));
        PROGRESS(COLL_OK, "t4.");
    }
}

/* All that it was given; the caller's own may be gone. */
TEST(an_engine_keeps_its_task)
{
    begin(1);
    run.shared = &message[2];
    run.shared_bytes = 24;
    run.tag = 3;
    run.rank = 2;
    START(COLL_OK, "");
    CHECK(engine.task.plan == &plan && engine.task.transport == &transport);
    CHECK(engine.task.ctx == run.ctx && engine.task.op == &op && engine.task.schedule == NULL);
    CHECK(engine.task.in == in && engine.task.out == out && engine.task.scratch == scratch);
    CHECK(engine.task.shared == &message[2] && engine.task.shared_bytes == 24);
    CHECK(engine.task.scratch_bytes == sizeof scratch && engine.task.tag == 3);
    CHECK_EQ(engine.task.rank, 2);
}

/* In the middle of a step, too. */
TEST(given_up_and_started_again)
{
    begin(2);
    per_step = 4;
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 2, OUT(2), 2);
    coll_act_send(next(), 3, OUT(4), 2);
    coll_act_send(next(), 4, OUT(6), 2);
    run.tag = 5;
    own.failure.cancel = my_cancel;
    own.failure.abort = my_abort;
    START(COLL_OK, "s1> r2> t1? u2?");
    CHECK(!coll_engine_only_waits(&engine));
    START(COLL_ERR_BUSY, "");
    TALK(coll_engine_cancel(&engine), COLL_OK, "a5. x1. y2.");
    PROGRESS(COLL_ERR_CANCELLED, "");
    TALK(coll_engine_wait(&engine), COLL_ERR_CANCELLED, "");
    START(COLL_OK, "s1. r2> s3. s4. u2.");
    START(COLL_ERR_IO, "s1> r2! a5. x1.");
    START(COLL_ERR_PEER, "s1> r2p x1.");
    own.failure.abort = NULL;
    START(COLL_OK, "s1> r2> t1? u2?");
    PROGRESS(COLL_ERR_IO, "t1! x1. y2.");
    PROGRESS(COLL_ERR_IO, "");
    own.failure.cancel = NULL;
    START(COLL_ERR_IO, "s1> r2!");
}

/* Calls in a row in which nothing happened; wait is told of them, if there is one. */
TEST(idle_calls)
{
    for (unsigned waits = 0; waits < 2; waits++) {
        begin(2);
        coll_act_recv(next(), 1, OUT(0), 2);
        coll_act_recv(next(), 2, OUT(2), 2);
        transport.wait = waits ? my_wait : NULL;
        START(COLL_OK, "r1> r2> u1? u2?");
        CHECK_EQ(engine.window.idle, 0);
        PROGRESS(COLL_AGAIN, "u1? u2?");
        PROGRESS(COLL_AGAIN, "u1? u2?");
        CHECK_EQ(engine.window.idle, 2);
        PROGRESS(COLL_AGAIN, "u1. u2?");
        CHECK_EQ(engine.window.idle, 0);
        engine.window.idle = UINT16_MAX - 1;
        PROGRESS(COLL_AGAIN, "u2?");
        PROGRESS(COLL_AGAIN, "u2?");
        CHECK_EQ(engine.window.idle, UINT16_MAX);
        engine.window.idle = 5;
        TALK(coll_engine_wait(&engine), COLL_OK, waits ? "u2? w6. u2? w7. u2." : "u2? u2.");
    }
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Sends of one peer start in order, and receives; one that was not taken holds up the next, but
 * nobody else's. */
TEST(channels)
{
    begin(8);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 1, OUT(4), 1);
    coll_act_send(next(), 2, OUT(0), 3);
    START(COLL_OK, "s1? r1> s2. u1?");
    PROGRESS(COLL_AGAIN, "u1? s1> t1? s1>");
    CHECK_EQ(sizes[(n_sizes - 2) % 8], 8);
    CHECK_EQ(sizes[(n_sizes - 1) % 8], 16);
    PROGRESS(COLL_OK, "t1. t1. u1.");
    START(COLL_OK, "s1> s1? r1? s2> t1? t2?");
    PROGRESS(COLL_OK, "t1. t2. s1. r1.");
}

/* A message in pieces: one after the other, the next message only then. */
TEST(pieces)
{
    begin(8);
    transport.max_bytes = 12;
    coll_act_send(next(), 1, OUT(0), 4);
    coll_act_send(next(), 1, OUT(4), 1);
    START(COLL_OK, "s1. s1> t1?");
    PROGRESS(COLL_AGAIN, "t1. s1> s1? t1?");
    PROGRESS(COLL_OK, "t1. s1.");
    CHECK(sizes[0] == 12 && sizes[1] == 12 && sizes[2] == 8);
    CHECK(buffers[0] == out && buffers[1] == (char *)out + 12 && buffers[2] == out + 3);
    begin(8);
    transport.max_bytes = 8;
    coll_act_recv(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 1, OUT(2), 1);
    START(COLL_OK, "r1> u1?");
    PROGRESS(COLL_AGAIN, "u1. r1? ");
    PROGRESS(COLL_OK, "r1. r1.");
    CHECK(buffers[0] == out && buffers[(n_sizes - 2) % 8] == out + 1 &&
          buffers[(n_sizes - 1) % 8] == out + 2);
}

/* Tokens are of no bytes. */
TEST(tokens)
{
    begin(1);
    transport.max_bytes = 4;
    coll_act_notify(next(), 1, OUT(0), 4);
    coll_act_await(next(), 2, OUT(4), 4);
    START(COLL_OK, "s1. r2> u2.");
    for (unsigned i = 0; i < 2; i++)
        CHECK(buffers[i] == NULL && sizes[i] == 0);
    for (unsigned i = 0; i < 16; i++)
        CHECK_EQ(out[i], 200 + i);
}

TEST(multicasts)
{
    begin(4);
    own.in_network.multicast = my_multicast;
    transport.max_bytes = 8;
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_multicast(next(), OUT(1), 2);
    coll_act_send(next(), 2, OUT(2), 1);
    START(COLL_OK, "s1? ");
    PROGRESS(COLL_AGAIN, "s1. m-> v-?");
    PROGRESS(COLL_OK, "v-. m-. s2.");
    CHECK(buffers[(n_sizes - 2) % 8] == out + 2 && sizes[(n_sizes - 2) % 8] == 8);
}

/* Where memory moves, but not where it stays: by the transport, or by this processor if that refuses. */
TEST(copies)
{
    static const char *const words[] = {"s1.", "c-? c->  v-. s1.", "c-/ s1."};
    for (unsigned copies = 0; copies < 3; copies++) {
        begin(2);
        transport.copy = copies ? my_copy : NULL;
        coll_act_copy(next(), OUT(0), COLL_AT(COLL_IN, 2), 2);
        coll_act_copy(next(), OUT(4), OUT(4), 2);
        coll_act_send(next(), 1, OUT(1), 1);
        START(COLL_OK, words[copies]);
        CHECK(out[0] == 102 && out[1] == 103 && out[2] == 202);
    }
}

/* What is none of the kinds is an error, and not passed over. */
TEST(no_kind)
{
    begin(2);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_copy(next(), OUT(0), OUT(1), 1);
    acts[1].kind = COLL_KINDS;
    START(COLL_ERR_STATE, "s1.");
}

/* ---- sums -------------------------------------------------------------------------------- */

static coll_action *merge(uint32_t peer, size_t at, size_t staging, size_t count)
{
    coll_action *a = next();
    coll_act_recv_reduce(a, peer, OUT(at), OUT(at), SCRATCH(staging), count);
    return a;
}

static void lends(void)
{
    own.zero_copy.acquire = my_borrow;
    own.zero_copy.release = my_give_back;
}

/* A message that is acquired is not received; nor is one asked for that may not be combined yet,
 * until the rank has been idle for some time. */
TEST(acquired)
{
    begin(4);
    lends();
    merge(1, 0, 0, 2);
    START(COLL_OK, "b1. g1.");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1001 && out[2] == 202);
    START(COLL_OK, "b1?");
    PROGRESS(COLL_OK, "b1. g1.");
    START(COLL_ERR_IO, "b1!");
    START(COLL_OK, "b1/ r1> u1?");
    PROGRESS(COLL_OK, "u1.");

    begin(4);
    lends();
    coll_act_recv(next(), 1, OUT(0), 1);
    merge(2, 0, 0, 1);
    START(COLL_OK, "r1> u1?");
    PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_OK, "u1. b2. g2.");
    CHECK_EQ(out[0], 3 * 1000 + 1000);
    START(COLL_OK, "r1> u1?");
    for (unsigned i = 1; i < COLL_I_WINDOW_PATIENCE; i++)
        PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_AGAIN, "u1? r2> u2?");
    PROGRESS(COLL_AGAIN, "u1? u2. ");
    PROGRESS(COLL_OK, "u1.");
    CHECK_EQ(out[0], 3 * 1000 + 1000);
    START(COLL_OK, "r1> u1?");
    for (unsigned i = 1; i < COLL_I_WINDOW_PATIENCE; i++)
        PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_AGAIN, "u1? r2?"); /* there is no room */
    PROGRESS(COLL_AGAIN, "u1? r2> u2?");
    PROGRESS(COLL_OK, "u1. u2.");
    CHECK_EQ(out[0], 3 * 1000 + 1000);
}

/* One that waits for a send is received at once. */
TEST(staged)
{
    begin(4);
    lends();
    coll_act_send(next(), 1, OUT(0), 1);
    merge(2, 0, 0, 1);
    START(COLL_OK, "s1> r2> t1? u2?");
    PROGRESS(COLL_AGAIN, "t1? u2.");
    CHECK_EQ(out[0], 200);
    PROGRESS(COLL_OK, "t1.");
    CHECK_EQ(out[0], 3 * 200 + 1000);
}

/* The one before it on its channel is taken first: if that was not acquired, when it is here. */
TEST(borrowed_in_order)
{
    begin(4);
    lends();
    coll_act_recv(next(), 1, OUT(4), 1);
    merge(1, 0, 0, 1);
    START(COLL_OK, "r1> u1?");
    PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_AGAIN, "u1. b1?");
    PROGRESS(COLL_OK, "b1. g1.");
    begin(4);
    lends();
    merge(1, 0, 0, 1);
    merge(1, 1, 1, 1);
    START(COLL_OK, "b1/ r1> u1?");
    PROGRESS(COLL_AGAIN, "u1. b1?");
    PROGRESS(COLL_OK, "b1/ r1.");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1000);
}

/* Pieces that are acquired, each as soon as it is here. */
TEST(borrowed_in_pieces)
{
    begin(4);
    lends();
    transport.max_bytes = 8;
    merge(1, 0, 0, 3);
    START(COLL_OK, "b1?");
    PROGRESS(COLL_AGAIN, "b1. g1. b1?");
    PROGRESS(COLL_OK, "b1. g1. b1. g1.");
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQ(out[i], 3 * (200 + i) + 1000);
    CHECK_EQ(out[3], 203);
    START(COLL_OK, "b1/ r1> u1?"); /* none of them is, then */
    PROGRESS(COLL_AGAIN, "u1. r1> u1?");
    PROGRESS(COLL_OK, "u1. r1.");

    begin(4); /* … in any slot */
    lends();
    transport.max_bytes = 8;
    coll_act_send(next(), 2, OUT(8), 1);
    merge(1, 0, 0, 3);
    START(COLL_OK, "s2> b1. g1. b1? t2?");
    PROGRESS(COLL_AGAIN, "t2? b1. g1. b1?");
    PROGRESS(COLL_AGAIN, "t2? b1. g1.");
    PROGRESS(COLL_OK, "t2.");
}

/* Operands one by one where the transport reduces; those that it does not take are reduced here. */
TEST(reductions)
{
    static const char *const words[] = {"", "d-. d-. d-.", NULL, "d-/", "d-. d-/ d-."};
    for (unsigned i = 0; i < 5; i++) {
        bool right = true;
        begin(2);
        transport.reduce = i > 0 ? my_reduce : NULL;
        coll_act_reduce(next(), OUT(0), COLL_AT(COLL_IN, 1), SCRATCH(2), 2);
        acts[0].inputs = 3;
        acts[0].stride = 4;
        for (unsigned k = 0; k < 16; k++)
            scratch[k] = 10 * k;
        if (i == 2) {
            START(COLL_OK, "d-> v-. d-?");
            PROGRESS(COLL_OK, "d-> v-. d-.");
        } else {
            START(COLL_OK, words[i]);
        }
        for (unsigned k = 0; k < 2; k++)
            right = right && out[k] == 3 * (3 * (3 * in[1 + k] + 10 * (2 + k)) + 10 * (6 + k)) +
                                           10 * (10 + k);
        CHECK(right && out[2] == 202);
    }
}

/* Sums by the network, and meetings: of nothing, nowhere. */
TEST(groups)
{
    const coll_network_group group = {3, 5};
    begin(4);
    own.in_network.reduce = my_network_reduce;
    transport.max_bytes = 8;
    coll_act_network_reduce(next(), group, OUT(1), COLL_AT(COLL_IN, 2), 4);
    coll_act_network_barrier(next(), group, OUT(8));
    START(COLL_OK, "f3> f3> v3?");
    CHECK(buffers[0] == out + 1 && sizes[0] == 4 && buffers[1] == in + 2 && sizes[1] == 5);
    PROGRESS(COLL_OK, "v3. v3.");
    CHECK(buffers[n_sizes - 2] == NULL && sizes[n_sizes - 2] == 0);
    CHECK(buffers[n_sizes - 1] == NULL && sizes[n_sizes - 1] == 5);
}

/* ---- what is refused --------------------------------------------------------------------- */

/* More than a machine can address, of one of the buffers, or of all blocks of one together. */
TEST(too_large)
{
    static const struct {
        coll_collective collective;
        uint32_t flags;
        size_t count;
    } rows[] = {{COLL_ALLREDUCE, COLL_FLAG_IN_PLACE, SIZE_MAX / 8}, /* OUT */
                {COLL_REDUCE, 0, SIZE_MAX / 8},                     /* IN */
                {COLL_ALLTOALL, 0, SIZE_MAX / 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(4);
        plan.problem.root = 1;
        plan.problem.collective = rows[i].collective;
        plan.problem.flags = rows[i].flags;
        op.commutative = true;
        CHECK_STATUS(coll_engine_check(&run, 4), COLL_OK);
        plan.problem.count = rows[i].count;
        CHECK_STATUS(coll_engine_check(&run, 4), COLL_ERR_OVERFLOW);
        START(COLL_ERR_OVERFLOW, "");
    }
}

/* Scratch is as much as the plan says; none may be nowhere. */
TEST(scratch_is_enough)
{
    begin(4);
    CHECK_STATUS(coll_engine_check(&run, 4), COLL_OK);
    run.scratch_bytes--;
    CHECK_STATUS(coll_engine_check(&run, 4), COLL_ERR_SCRATCH);
    scratch_needed = SIZE_MAX / 8 + 2; /* the bytes of one element, if one does not look */
    run.scratch_bytes = 16;
    CHECK_STATUS(coll_engine_check(&run, 4), COLL_ERR_SCRATCH);
    scratch_needed = 0;
    CHECK_STATUS(coll_engine_check(&run, 4), COLL_OK);
    run.scratch = NULL;
    CHECK_STATUS(coll_engine_check(&run, 4), COLL_ERR_SCRATCH);
    run.scratch_bytes = 0;
    CHECK_STATUS(coll_engine_check(&run, 4), COLL_OK);
    START(COLL_OK, "");
}

/* An engine that has run nothing yet, and one that was never given a window. */
TEST(not_started)
{
    begin(4);
    PROGRESS(COLL_OK, "");
    memset(&engine, 0, sizeof engine);
    START(COLL_ERR_NULL, "");
}

int main(void)
{
    RUN(all_that_can_move_moves);
    RUN(an_engine_keeps_its_task);
    RUN(given_up_and_started_again);
    RUN(idle_calls);
    RUN(channels);
    RUN(pieces);
    RUN(tokens);
    RUN(multicasts);
    RUN(copies);
    RUN(no_kind);
    RUN(acquired);
    RUN(staged);
    RUN(borrowed_in_order);
    RUN(borrowed_in_pieces);
    RUN(reductions);
    RUN(groups);
    RUN(too_large);
    RUN(scratch_is_enough);
    RUN(not_started);
    return check_done();
}
