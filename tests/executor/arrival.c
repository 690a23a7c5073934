/* Messages that the transport combines as they arrive, call by call, in both engines: when it is asked,
 * in which order operands go, what becomes of long messages, and of those that it refuses; and what the
 * network refuses. */
#include "coll/executor/in_order.h"

#include "support/script.h"

static coll_in_order it;
static coll_outstanding ops[4];

static void begin_with(uint32_t window)
{
    begin(window);
    own.arrival.recv_reduce = my_recv_reduce;
    own.failure.cancel = my_cancel;
    own.failure.abort = my_abort;
    memset(ops, 0xFF, sizeof ops);
    memset(&it, 0xFF, sizeof it);
    CHECK_STATUS(coll_in_order_init(&it, ops, 3), COLL_OK);
}

#define GO(status, words) TALK(coll_in_order_start(&it, &run), status, words)
#define ON(status, words) TALK(coll_in_order_progress(&it), status, words)

/* Elements 1 … of OUT are to be those of IN combined with the message; `from`: the first one. */
static bool is_combined(uint32_t n, uint32_t from, bool left)
{
    bool well = true;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t mine = 102 + from + i, its = 1000 + i;
        well = well && out[1 + from + i] == (left ? 3 * its + mine : 3 * mine + its);
    }
    return well;
}

/* A message of 4 elements, combined with IN to OUT, with staging in SCRATCH. */
static void merge(bool left)
{
    coll_action *a = next();
    coll_act_recv_reduce(a, 2, OUT(1), COLL_AT(COLL_IN, 2), SCRATCH(8), 4);
    a->flags = left ? COLL_LEFT : 0;
}

/* With what it is called, in the order of the operands. */
TEST(operands)
{
    for (unsigned left = 0; left < 2; left++) {
        begin_with(4);
        merge(left != 0);
        run.tag = 7;
        START(COLL_OK, "q2.");
        CHECK_STATUS(engine.status, COLL_OK);
        CHECK(is_combined(4, 0, left != 0));
        CHECK(arrived.peer == 2 && arrived.tag == 7 && arrived.op == &op);
        CHECK(arrived.dst == out + 1 && arrived.operand == in + 2 && arrived.count == 4);
        CHECK(arrived.left == (left != 0));
        memset(out, 0, sizeof out);
        GO(COLL_OK, "q2.");
        CHECK_STATUS(it.status, COLL_OK);
        CHECK(is_combined(4, 0, left != 0));
        START(COLL_OK, "q2> v2?");
        PROGRESS(COLL_AGAIN, "v2?");
        PROGRESS(COLL_OK, "v2.");
        GO(COLL_OK, "q2> v2?");
        ON(COLL_AGAIN, "v2?");
        ON(COLL_OK, "v2.");
        START(COLL_OK, "q2?");
        PROGRESS(COLL_OK, "q2.");
        GO(COLL_OK, "q2?");
        ON(COLL_OK, "q2.");
    }
}

/* What is refused is received, and combined here, or by reduce; then it is not asked again. */
TEST(refusals)
{
    for (unsigned left = 0; left < 2; left++) {
        begin_with(4);
        merge(left != 0);
        START(COLL_OK, "q2/ r2.");
        CHECK(is_combined(4, 0, left != 0));
        memset(out, 0, sizeof out);
        GO(COLL_OK, "q2/ r2.");
        CHECK(is_combined(4, 0, left != 0));
        memset(out, 0, sizeof out);
        transport.reduce = my_reduce;
        START(COLL_OK, "q2/ r2. d-.");
        CHECK(is_combined(4, 0, left != 0));
        memset(out, 0, sizeof out);
        GO(COLL_OK, "q2/ r2> u2. d-/");
        CHECK(is_combined(4, 0, left != 0));
    }
}

/* One that is refused may be acquired by the engine that does that. */
TEST(refused_and_acquired)
{
    begin_with(4);
    own.zero_copy.acquire = my_borrow;
    own.zero_copy.release = my_give_back;
    merge(true);
    START(COLL_OK, "q2/ b2. g2.");
    CHECK(is_combined(4, 0, true));
    START(COLL_OK, "q2/ b2/ r2.");
    GO(COLL_OK, "q2/ r2.");
}

/* Pieces that end with an element arrive one by one. */
TEST(pieces)
{
    begin_with(4);
    transport.max_bytes = 24;
    merge(false);
    START(COLL_OK, "q2. q2.");
    CHECK(arrived.dst == out + 4 && arrived.operand == in + 5 && arrived.count == 1);
    CHECK(is_combined(3, 0, false) && is_combined(1, 3, false));
    GO(COLL_OK, "q2> v2. q2> v2?");
    ON(COLL_OK, "v2.");
    transport.max_bytes = 20; /* these do not */
    START(COLL_OK, "r2. r2.");
    GO(COLL_OK, "r2. r2.");
    transport.unsegmented = COLL_BIT(COLL_ALLREDUCE);
    START(COLL_OK, "q2.");
    CHECK_EQ(arrived.count, 4);
    GO(COLL_OK, "q2.");
}

/* Of a message whose later pieces are refused these alone are received, and combined with what is theirs. */
TEST(refused_in_the_middle)
{
    for (unsigned left = 0; left < 2; left++) {
        begin_with(4);
        transport.max_bytes = 8;
        merge(left != 0);
        for (unsigned engines = 0; engines < 2; engines++) {
            memset(out, 0, sizeof out);
            memset(scratch, 0, sizeof scratch);
            n_sizes = 0;
            if (engines == 0) {
                START(COLL_OK, "q2. q2> v2. q2/ r2. r2.");
            } else {
                GO(COLL_OK, "q2. q2> v2. q2/ r2> u2. r2.");
            }
            CHECK(n_sizes == 2 && buffers[0] == scratch + 10 && buffers[1] == scratch + 11);
            for (uint32_t i = 0; i < 4; i++)
                CHECK(is_combined(1, i, left != 0));
            CHECK(out[0] == 0 && out[5] == 0 && scratch[8] == 0 && scratch[9] == 0);
        }
    }
}

/* While its operands are not there, or what it would write is sent, the window engine leaves it with the
 * transport for a while, and the in-order one stages it. */
TEST(operands_that_are_not_there)
{
    begin_with(4);
    coll_act_recv(next(), 1, OUT(1), 4);
    coll_act_recv_reduce(next(), 2, OUT(1), OUT(1), SCRATCH(8), 4);
    START(COLL_OK, "r1> u1?");
    PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_OK, "u1. q2.");
    CHECK(out[1] == 3 * 1000 + 1000);
    START(COLL_OK, "r1> u1?");
    for (unsigned i = 0; i < COLL_I_WINDOW_PATIENCE - 1; i++)
        PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_AGAIN, "u1? r2> u2?"); /* patience is over */
    PROGRESS(COLL_AGAIN, "u1? u2.");
    PROGRESS(COLL_OK, "u1.");

    begin_with(4); /* an exchange: its peer may wait for the message that is in flight */
    coll_act_send(next(), 2, OUT(1), 4);
    coll_act_recv_reduce(next(), 2, OUT(1), OUT(1), SCRATCH(8), 4);
    START(COLL_OK, "s2> r2> t2? u2?");
    PROGRESS(COLL_AGAIN, "t2? u2.");
    PROGRESS(COLL_OK, "t2.");
    GO(COLL_OK, "s2> r2> u2? t2?");
    ON(COLL_AGAIN, "u2. t2?");
    ON(COLL_OK, "t2.");
    GO(COLL_OK, "s2. q2.");
    START(COLL_OK, "s2. q2.");
}

/* Later messages of the same peer stay behind it. */
TEST(channels)
{
    begin_with(4);
    merge(false);
    coll_act_recv(next(), 2, OUT(8), 1);
    START(COLL_OK, "q2? q2?");
    PROGRESS(COLL_AGAIN, "q2> v2? r2> v2?");
    PROGRESS(COLL_AGAIN, "v2?");
    PROGRESS(COLL_AGAIN, "v2. u2?");
    PROGRESS(COLL_OK, "u2.");
}

/* Errors, and what is cancelled. */
TEST(failures)
{
    begin_with(4);
    merge(false);
    START(COLL_ERR_IO, "q2! a0.");
    GO(COLL_ERR_IO, "q2! a0.");
    START(COLL_OK, "q2> v2?");
    PROGRESS(COLL_ERR_PEER, "v2p z2.");
    GO(COLL_OK, "q2> v2?");
    ON(COLL_ERR_IO, "v2! a0. z2.");
}

/* What the network alone can do ends the collective where it is refused, and the others are told. */
TEST(the_network_refuses)
{
    const coll_network_group group = {3, 5};
    begin_with(4);
    own.in_network.multicast = my_multicast;
    coll_act_multicast(next(), OUT(0), 2);
    START(COLL_ERR_CAPABILITY, "m-/ a0.");
    GO(COLL_ERR_CAPABILITY, "m-/ a0.");
    begin_with(4);
    own.in_network.reduce = my_network_reduce;
    coll_act_network_reduce(next(), group, OUT(1), COLL_AT(COLL_IN, 2), 4);
    START(COLL_ERR_CAPABILITY, "f3/ a0.");
    GO(COLL_ERR_CAPABILITY, "f3/ a0.");
}

int main(void)
{
    RUN(operands);
    RUN(refusals);
    RUN(refused_and_acquired);
    RUN(pieces);
    RUN(refused_in_the_middle);
    RUN(operands_that_are_not_there);
    RUN(channels);
    RUN(failures);
    RUN(the_network_refuses);
    return check_done();
}
