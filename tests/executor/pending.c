/* executor/pending.h: what a running engine says of its actions that are not over; and waiting with a
 * deadline. */
#include "coll/executor/pending.h"

#include "support/script.h"

static coll_in_order in_order;
static coll_outstanding ops[8];
static char text[1000];

/* The text is what is asked for, however little room there is for it. */
static void check_words(size_t length, const char *words)
{
    if (!CHECK(strcmp(text, words) == 0))
        printf("    %s\n", text);
    CHECK_EQ(length, strlen(words));
}

static void check_engine(const char *words)
{
    memset(text, 'x', sizeof text);
    check_words(coll_engine_dump(&engine, text, sizeof text), words);
}

static void check_in_order(const char *words)
{
    memset(text, 'x', sizeof text);
    check_words(coll_in_order_dump(&in_order, text, sizeof text), words);
}

static bool is_dead(void *ctx, uint32_t peer)
{
    (void)ctx;
    return peer == 2;
}

TEST(window_engines)
{
    coll_pending pending[8];
    begin(4);
    coll_act_recv(next(), 2, OUT(0), 2);
    coll_act_send(next(), 3, OUT(0), 2);
    coll_act_send(next(), 4, OUT(2), 1);
    coll_act_notify(next(), 5, OUT(3), 1);
    coll_act_copy(next(), OUT(4), OUT(5), 1);
    own.failure.dead = is_dead;
    run.tag = 6;
    START(COLL_OK, "r2> s4? s5. u2? s4?");
    check_engine(
        "allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 6: 5 of 5 steps begun"
        "\n  recv from rank 2, which is dead, 0 of 16 bytes: in flight"
        "\n  send to rank 3, 0 of 16 bytes: waits for an action before it"
        "\n  send to rank 4, 0 of 8 bytes: not taken by the transport yet");
    memset(pending, 0xA5, sizeof pending);
    CHECK_EQ(coll_engine_pending(&engine, pending, 2), 3);
    CHECK(pending[0].kind == COLL_DO_RECV && pending[0].state == COLL_PENDING_IN_FLIGHT);
    CHECK(pending[0].peer == 2 && pending[0].dead && pending[0].bytes == 16);
    CHECK(pending[1].kind == COLL_DO_SEND && pending[1].state == COLL_PENDING_HELD);
    CHECK(pending[1].peer == 3 && !pending[1].dead && pending[1].done == 0);
    CHECK_EQ(((unsigned char *)&pending[2])[0], 0xA5);
    CHECK_EQ(coll_engine_pending(&engine, NULL, 0), 3);
    own.failure.dead = NULL;
    PROGRESS(COLL_AGAIN, "u2? s4>  t4?");
    CHECK(coll_engine_pending(&engine, pending, 8) == 3 && !pending[0].dead);
    CHECK_EQ(pending[2].state, COLL_PENDING_IN_FLIGHT);
    PROGRESS(COLL_ERR_IO, "u2!");
    CHECK_EQ(coll_engine_pending(&engine, pending, 8), 0);
    check_engine("allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 6: "
                 "the transport failed");
}

/* What is cut, what is staged, and what lies in shared memory, with other words. */
TEST(messages_of_other_kinds)
{
    coll_pending pending[8];
    begin(4);
    transport.max_bytes = 8;
    coll_act_recv_reduce(next(), 2, OUT(0), OUT(0), SCRATCH(0), 3);
    coll_act_await(next(), 3, OUT(4), 1);
    coll_act_multicast(next(), OUT(8), 2);
    own.in_network.multicast = my_multicast;
    START(COLL_OK, "r2. r2> r3? m-> u2? v-? r3?");
    check_engine(
        "allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 0: 3 of 3 steps begun"
        "\n  recv_reduce from rank 2, 8 of 24 bytes: in flight"
        "\n  await from rank 3: no message yet"
        "\n  multicast, 0 of 16 bytes: in flight");
    CHECK_EQ(coll_engine_pending(&engine, pending, 8), 3);
    CHECK(pending[0].done == 8 && pending[2].peer == COLL_RANK_NONE && pending[1].bytes == 0);
}

/* The program's next action waits, too, where nothing blocks but a send for which there is no room. */
TEST(in_order_engines)
{
    coll_pending pending[3];
    begin(1);
    memset(ops, 0xFF, sizeof ops);
    memset(&in_order, 0xFF, sizeof in_order);
    CHECK_STATUS(coll_in_order_init(&in_order, ops, 2), COLL_OK);
    in_order.status = COLL_OK;
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_send(next(), 2, OUT(1), 1);
    coll_act_recv(next(), 3, OUT(0), 1);
    coll_act_recv(next(), 4, OUT(2), 2);
    TALK(coll_in_order_start(&in_order, &run), COLL_OK, "s1> t1?");
    check_in_order(
        "allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 0: 1 of 4 steps begun"
        "\n  send to rank 1, 0 of 8 bytes: in flight"
        "\n  send to rank 2, 0 of 8 bytes: not taken by the transport yet");
    memset(pending, 0xA5, sizeof pending);
    CHECK_EQ(coll_in_order_pending(&in_order, pending, 1), 2);
    CHECK(pending[0].peer == 1 && ((unsigned char *)&pending[1])[0] == 0xA5);
    TALK(coll_in_order_progress(&in_order), COLL_AGAIN, "t1. s2. r3. r4> u4?");
    check_in_order(
        "allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 0: 4 of 4 steps begun"
        "\n  recv from rank 4, 0 of 16 bytes: in flight");
    TALK(coll_in_order_progress(&in_order), COLL_OK, "u4.");
    CHECK_EQ(coll_in_order_pending(&in_order, pending, 3), 0);
    check_in_order("allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 0: done");
}

/* … where a step has begun that waits for a send, and where a staged message does. */
TEST(in_order_waits)
{
    begin(1);
    CHECK_STATUS(coll_in_order_init(&in_order, ops, 3), COLL_OK);
    per_step = 2;
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_recv_reduce(next(), 2, OUT(0), OUT(4), SCRATCH(0), 1);
    TALK(coll_in_order_start(&in_order, &run), COLL_OK, "s1> r2. t1?");
    check_in_order(
        "allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 0: 1 of 1 steps begun"
        "\n  reduce, 0 of 8 bytes: waits for an action before it"
        "\n  send to rank 1, 0 of 8 bytes: in flight");
    TALK(coll_in_order_progress(&in_order), COLL_OK, "t1.");
    transport.max_bytes = 8;
    n_acts = 0;
    per_step = 1;
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 2, OUT(4), 1);
    TALK(coll_in_order_start(&in_order, &run), COLL_OK, "s1. s1? r2> u2? s1?");
    check_in_order(
        "allreduce by program, rank 0 of 9, 16 elements of 8 bytes, tag 0: 2 of 2 steps begun"
        "\n  recv from rank 2, 0 of 8 bytes: in flight"
        "\n  send to rank 1, 8 of 16 bytes: not taken by the transport yet");
}

/* Ranks are those of the transport, a root is named, and blocks have no one count. */
TEST(groups_roots_and_blocks)
{
    static const size_t counts[9] = {1}, displs[9] = {0};
    coll_group group;
    begin(1);
    coll_act_recv(next(), 2, OUT(0), 1);
    coll_group_affine(&group, 3, 2);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    run.rank = 1;
    START(COLL_OK, "r7> u7?");
    check_engine("allreduce by program, rank 1 of 9 (the transport's rank 5), 16 elements of 8 "
                 "bytes, tag 0: "
                 "1 of 1 steps begun\n  recv from rank 7, 0 of 8 bytes: in flight");
    plan.problem.collective = COLL_GATHERV;
    plan.problem.root = 4;
    plan.problem.out.counts = counts;
    plan.problem.out.displs = displs;
    check_engine("gatherv by program, rank 1 of 9 (the transport's rank 5), root 4, blocks of "
                 "elements of 8 bytes, "
                 "tag 0: 1 of 1 steps begun\n  recv from rank 7, 0 of 8 bytes: in flight");
    plan.problem.out.counts = plan.problem.out.displs = NULL;
    plan.problem.in.counts = counts;
    plan.problem.collective = COLL_ALLGATHERV;
    CHECK(coll_engine_dump(&engine, text, sizeof text) > 0 && strstr(text, ", blocks of "));
    plan.problem.in.counts = NULL;
    plan.problem.collective = COLL_BARRIER;
    check_engine(
        "barrier by program, rank 1 of 9 (the transport's rank 5), tag 0: 1 of 1 steps begun"
        "\n  recv from rank 7, 0 of 8 bytes: in flight");
    plan.problem.collective = COLL_ALLGATHER;
    plan.problem.elem_bytes = 1;
    plan.problem.count = SIZE_MAX;
    CHECK(coll_engine_dump(&engine, text, sizeof text) > 0);
    CHECK(strstr(text, sizeof(size_t) == 8 ? ", 18446744073709551615 elements of 1 byte, tag"
                                           : ", 4294967295 elements of 1 byte, tag"));
}

/* Text that does not fit ends where its memory does, and says how long it is. */
TEST(little_room)
{
    char whole[1000];
    size_t length;
    begin(1);
    coll_act_recv(next(), 2, OUT(0), 1);
    START(COLL_OK, "r2> u2?");
    length = coll_engine_dump(&engine, whole, sizeof whole);
    CHECK_EQ(length, strlen(whole));
    for (size_t room = 0; room <= length + 1; room++) {
        memset(text, 'x', sizeof text);
        CHECK_EQ(coll_engine_dump(&engine, text, room), length);
        CHECK_EQ(text[room], 'x');
        CHECK(room == 0 || (strncmp(text, whole, room - 1) == 0 && text[room - 1] == '\0'));
    }
    CHECK_EQ(coll_engine_dump(&engine, NULL, 0), length);
    CHECK_EQ(coll_engine_dump(&engine, NULL, 5), length);
}

/* Which message did not fit, and why. */
TEST(misfits)
{
    coll_misfit its;
    (void)coll_misfit_note(&its, 3, 7, 16);
    its.bytes = 24;
    memset(text, 'x', sizeof text);
    check_words(coll_misfit_text(&its, text, sizeof text),
                "a message from rank 3 has 24 bytes, where this rank expects 16");
    its.its_tag = 8;
    check_words(coll_misfit_text(&its, text, sizeof text),
                "a message from rank 3 has 24 bytes, where this rank expects 16; it is of "
                "another call with this tag");
    its.peer = COLL_RANK_NONE;
    check_words(coll_misfit_text(&its, text, sizeof text),
                "other ranks reduce another number of bytes than the 16 of this one");
}

/* A clock that goes on by one each time that it is looked at. */
static uint64_t ticks(void *arg)
{
    return (*(uint64_t *)arg)++;
}

/* With progress before each look; after the deadline the collective goes on. */
TEST(deadlines)
{
    uint64_t time = 10;
    coll_clock clock;
    clock.now = ticks;
    clock.arg = &time;
    begin(1);
    transport.wait = my_wait;
    coll_act_recv(next(), 2, OUT(0), 1);
    START(COLL_OK, "r2> u2?");
    TALK(coll_engine_wait_until(&engine, &clock, 12), COLL_AGAIN, "u2? w1. u2? w2. u2?");
    CHECK_EQ(time, 13);
    CHECK_EQ(coll_engine_pending(&engine, NULL, 0), 1);
    TALK(coll_engine_wait_until(&engine, &clock, 12), COLL_AGAIN, "u2?");
    TALK(coll_engine_wait_until(&engine, &clock, 12), COLL_OK, "u2.");
    TALK(coll_engine_wait_until(&engine, &clock, 0), COLL_OK, "");
    START(COLL_OK, "r2> u2?");
    TALK(coll_engine_wait_until(&engine, NULL, 0), COLL_ERR_IO, "u2? w1. u2!");
    CHECK_STATUS(coll_in_order_init(&in_order, ops, 2), COLL_OK);
    time = 0;
    TALK(coll_in_order_start(&in_order, &run), COLL_OK, "r2> u2?");
    TALK(coll_in_order_wait_until(&in_order, &clock, 1), COLL_AGAIN, "u2? w1. u2?");
    TALK(coll_in_order_wait_until(&in_order, &clock, 1), COLL_OK, "u2.");
    transport.wait = NULL;
    TALK(coll_in_order_start(&in_order, &run), COLL_OK, "r2> u2?");
    TALK(coll_in_order_wait_until(&in_order, &clock, 4), COLL_AGAIN, "u2? u2?");
    TALK(coll_in_order_wait(&in_order), COLL_OK, "u2? u2.");
}

int main(void)
{
    RUN(window_engines);
    RUN(messages_of_other_kinds);
    RUN(in_order_engines);
    RUN(in_order_waits);
    RUN(groups_roots_and_blocks);
    RUN(little_room);
    RUN(misfits);
    RUN(deadlines);
    return check_done();
}
