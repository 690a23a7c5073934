/* The loopback transport by itself: matching, order, sizes, borrowing, cancelling, aborting,
 * full queues. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "coll/transports/loopback.h"

enum { RANKS = 4, MESSAGES = 9 };

static const coll_transport *const t = &coll_loopback_transport;
static coll_loopback world;
static coll_loopback_rank end[RANKS];
static unsigned char memory[4096];

static void fresh(void)
{
    CHECK(coll_loopback_bytes(RANKS, MESSAGES) < sizeof memory);
    CHECK_STATUS(coll_loopback_init(&world, RANKS, MESSAGES, memory + 1, sizeof memory - 1),
                 COLL_OK);
    for (uint32_t r = 0; r < RANKS; r++)
        CHECK_STATUS(coll_loopback_attach(&world, r, &end[r]), COLL_OK);
}

/* Nothing is in flight, and nothing is lost. */
static bool quiet(void)
{
    return world.n_free == MESSAGES;
}

TEST(worlds)
{
    const size_t bytes = coll_loopback_bytes(RANKS, MESSAGES);
    CHECK_STATUS(coll_loopback_init(NULL, RANKS, MESSAGES, memory, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_loopback_init(&world, RANKS, MESSAGES, NULL, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_loopback_init(&world, 0, MESSAGES, memory, bytes), COLL_ERR_RANKS);
    CHECK_STATUS(coll_loopback_init(&world, RANKS, MESSAGES, memory, bytes - 1),
                 COLL_ERR_MEMORY);
    CHECK_STATUS(coll_loopback_init(&world, RANKS, 0, memory, bytes), COLL_ERR_MEMORY);
    fresh();
    CHECK_STATUS(coll_loopback_attach(&world, RANKS, &end[0]), COLL_ERR_RANK);
    CHECK_STATUS(coll_loopback_attach(&world, 0, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_loopback_attach(NULL, 0, &end[0]), COLL_ERR_NULL);
    CHECK_STATUS(coll_transport_check(t), COLL_OK);
}

TEST(order_and_tags)
{
    int sent[4] = {10, 11, 12, 13}, got[4] = {0, 0, 0, 0};
    coll_handle s[4], r[4];
    fresh();
    for (uint32_t i = 0; i < 4; i++) /* tags 0, 1, 0, 1 */
        CHECK_STATUS(t->send(&end[0], 1, i & 1, &sent[i], sizeof(int), &s[i]), COLL_STARTED);
    CHECK_STATUS(t->test(&end[0], &s[0]), COLL_AGAIN);
    for (uint32_t i = 0; i < 4; i++) /* tags 1, 1, 0, 0 */
        CHECK_STATUS(t->recv(&end[1], 0, i < 2, &got[i], sizeof(int), &r[i]), COLL_STARTED);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_STATUS(t->test(&end[1], &r[i]), COLL_OK);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_STATUS(t->test(&end[0], &s[i]), COLL_OK);
    CHECK_EQ(got[0], 11);
    CHECK_EQ(got[1], 13);
    CHECK_EQ(got[2], 10);
    CHECK_EQ(got[3], 12);
    CHECK(quiet());
    CHECK_STATUS(t->send(&end[0], RANKS, 0, sent, 4, &s[0]), COLL_ERR_RANK);
    CHECK_STATUS(t->recv(&end[0], RANKS, 0, got, 4, &s[0]), COLL_ERR_RANK);
}

TEST(empty_messages_to_itself)
{
    coll_handle s, r;
    fresh();
    CHECK_STATUS(t->recv(&end[2], 2, 7, NULL, 0, &r), COLL_STARTED);
    CHECK_STATUS(t->test(&end[2], &r), COLL_AGAIN);
    CHECK_STATUS(t->send(&end[2], 2, 7, NULL, 0, &s), COLL_STARTED);
    CHECK_STATUS(t->test(&end[2], &r), COLL_OK);
    CHECK_STATUS(t->test(&end[2], &s), COLL_OK);
    CHECK(quiet());
}

TEST(sizes)
{
    char a[4] = "abc", b[4];
    coll_handle s, r;
    const void *message;
    fresh();
    CHECK_STATUS(t->send(&end[0], 1, 0, a, 4, &s), COLL_STARTED);
    CHECK_STATUS(t->recv(&end[1], 0, 0, b, 3, &r), COLL_STARTED);
    CHECK_STATUS(t->test(&end[1], &r), COLL_ERR_SIZE);
    t->cancel(&end[1], &r);
    CHECK_STATUS(t->borrow(&end[1], 0, 0, 3, &message, &r), COLL_ERR_SIZE);
    CHECK_STATUS(t->test(&end[0], &s), COLL_AGAIN);
    t->cancel(&end[0], &s);
    CHECK(quiet());
}

TEST(borrowing)
{
    char a[4] = "abc";
    coll_handle s, r;
    const void *message = NULL;
    fresh();
    CHECK_STATUS(t->borrow(&end[1], 0, 0, 4, &message, &r), COLL_AGAIN);
    CHECK_STATUS(t->send(&end[0], 1, 0, a, 4, &s), COLL_STARTED);
    CHECK_STATUS(t->borrow(&end[1], 0, 0, 4, &message, &r), COLL_OK);
    CHECK(message == a);
    CHECK_STATUS(t->test(&end[0], &s), COLL_AGAIN);
    t->give_back(&end[1], &r);
    CHECK_STATUS(t->test(&end[0], &s), COLL_OK);
    CHECK(quiet());

    CHECK_STATUS(t->send(&end[0], 1, 0, a, 4, &s), COLL_STARTED);
    CHECK_STATUS(t->borrow(&end[1], 0, 0, 4, &message, &r), COLL_OK);
    t->cancel(&end[0], &s);
    t->give_back(&end[1], &r);
    CHECK(quiet());
}

TEST(cancelling)
{
    char a = 'a', b = 'b', got = 0;
    coll_handle s[3], r;
    fresh();
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(t->send(&end[0], 1, 0, i == 1 ? &b : &a, 1, &s[i]), COLL_STARTED);
    t->cancel(&end[0], &s[0]); /* the oldest and the youngest; the one between arrives */
    t->cancel(&end[0], &s[2]);
    CHECK_STATUS(t->recv(&end[1], 0, 0, &got, 1, &r), COLL_STARTED);
    CHECK_STATUS(t->test(&end[1], &r), COLL_OK);
    CHECK_EQ(got, 'b');
    t->cancel(&end[0], &s[1]); /* it has arrived, but nobody asked */
    CHECK_STATUS(t->recv(&end[1], 0, 0, &got, 1, &r), COLL_STARTED);
    t->cancel(&end[1], &r);
    CHECK(quiet());
}

TEST(full_queue)
{
    char a = 'a', got;
    coll_handle s[MESSAGES], r;
    fresh();
    for (int i = 0; i < MESSAGES; i++)
        CHECK_STATUS(t->send(&end[0], 1, 0, &a, 1, &s[i]), COLL_STARTED);
    CHECK_STATUS(t->send(&end[2], 1, 0, &a, 1, &r), COLL_AGAIN);
    CHECK_STATUS(t->recv(&end[1], 0, 0, &got, 1, &r), COLL_AGAIN);
    CHECK_STATUS(t->multicast(&end[1], 0, &a, 1, &r), COLL_AGAIN);
    t->cancel(&end[0], &s[3]);
    for (int i = 0; i < MESSAGES - 1; i++) {
        const void *message;
        CHECK_STATUS(t->borrow(&end[1], 0, 0, 1, &message, &r), COLL_OK);
        t->give_back(&end[1], &r);
    }
    for (int i = 0; i < MESSAGES; i++)
        if (i != 3)
            CHECK_STATUS(t->test(&end[0], &s[i]), COLL_OK);
    CHECK(quiet());
}

TEST(multicast)
{
    int sent = 42, got[RANKS] = {0};
    coll_handle s, r;
    fresh();
    CHECK_STATUS(t->multicast(&end[1], 5, &sent, sizeof sent, &s), COLL_STARTED);
    CHECK_EQ(world.n_free, MESSAGES - (RANKS - 1));
    for (uint32_t i = 0; i < RANKS; i++) {
        if (i == 1)
            continue;
        CHECK_STATUS(t->test(&end[1], &s), COLL_AGAIN);
        CHECK_STATUS(t->recv(&end[i], 1, 5, &got[i], sizeof(int), &r), COLL_STARTED);
        CHECK_STATUS(t->test(&end[i], &r), COLL_OK);
        CHECK_EQ(got[i], 42);
    }
    CHECK_STATUS(t->test(&end[1], &s), COLL_OK);
    CHECK(quiet());
    CHECK_STATUS(t->multicast(&end[1], 5, &sent, sizeof sent, &s), COLL_STARTED);
    t->cancel(&end[1], &s);
    CHECK(quiet());
}

/* Digits in the order of operands. */
static void append(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++) {
        const int left = ((const int *)a)[i], right = ((const int *)b)[i];
        ((int *)dst)[i] = left * (right < 10 ? 10 : 100) + right;
    }
}

TEST(fabric_reduce)
{
    const coll_op op = {append, NULL, false, true};
    int in[RANKS][2] = {{1, 5}, {2, 6}, {3, 7}, {4, 8}}, out[RANKS][2];
    const coll_team all = {COLL_TEAM_ALL, RANKS};
    coll_handle h[RANKS], second;
    fresh();
    for (uint32_t i = 0; i < RANKS; i++) { /* the last in place */
        CHECK_STATUS(t->fabric_reduce(&end[i], 0, all, NULL, &op, i == 3 ? in[i] : out[i],
                                      in[i], 2, sizeof(int), &h[i]),
                     COLL_STARTED);
        CHECK_STATUS(i < 3 ? t->test(&end[i], &h[i]) : COLL_AGAIN, COLL_AGAIN);
    }
    CHECK_STATUS(
        t->fabric_reduce(&end[2], 0, all, NULL, &op, out[2], in[2], 2, sizeof(int), &second),
        COLL_STARTED);
    CHECK_STATUS(t->test(&end[2], &second), COLL_AGAIN);
    for (uint32_t i = 0; i < RANKS; i++) {
        CHECK_STATUS(t->test(&end[i], &h[i]), COLL_OK);
        CHECK_EQ(i == 3 ? in[i][0] : out[i][0], 1234);
        CHECK_EQ(i == 3 ? in[i][1] : out[i][1], 5678);
    }
    t->cancel(&end[2], &second);
    CHECK(quiet());
}

/* Two teams at once, ranks 1 and 3, and rank 2 alone. */
TEST(fabric_reduce_in_teams)
{
    const coll_op op = {append, NULL, false, true};
    const coll_team pair = {COLL_TEAM_NODES, 2}, alone = {COLL_TEAM_SOCKETS, 1},
                    none = {COLL_TEAMS, 2}, many = {COLL_TEAM_NODES, RANKS + 1};
    int in[RANKS] = {1, 2, 3, 4}, out[RANKS] = {0};
    coll_handle h[RANKS];
    fresh();
    CHECK_STATUS(
        t->fabric_reduce(&end[3], 0, pair, NULL, &op, &out[3], &in[3], 1, sizeof(int), &h[3]),
        COLL_STARTED);
    CHECK_STATUS(
        t->fabric_reduce(&end[2], 0, alone, NULL, &op, &out[2], &in[2], 1, sizeof(int), &h[2]),
        COLL_STARTED);
    CHECK_STATUS(t->test(&end[3], &h[3]), COLL_AGAIN);
    CHECK_STATUS(t->test(&end[2], &h[2]), COLL_OK);
    CHECK_STATUS(
        t->fabric_reduce(&end[1], 0, pair, NULL, &op, &out[1], &in[1], 1, sizeof(int), &h[1]),
        COLL_STARTED);
    CHECK_STATUS(t->test(&end[1], &h[1]), COLL_OK);
    CHECK_STATUS(t->test(&end[3], &h[3]), COLL_OK);
    CHECK_EQ(out[1], 24);
    CHECK_EQ(out[2], 3);
    CHECK_EQ(out[3], 24);
    CHECK_STATUS(t->fabric_reduce(&end[0], 0, none, NULL, &op, out, in, 1, sizeof(int), h),
                 COLL_ERR_CAPABILITY);
    CHECK_STATUS(t->fabric_reduce(&end[0], 0, many, NULL, &op, out, in, 1, sizeof(int), h),
                 COLL_ERR_CAPABILITY);
    CHECK(quiet());
}

TEST(aborting)
{
    char a = 'a', got;
    coll_handle s, r, other;
    const void *message;
    fresh();
    CHECK_STATUS(t->send(&end[0], 1, 3, &a, 1, &s), COLL_STARTED);
    CHECK_STATUS(t->recv(&end[2], 1, 3, &got, 1, &r), COLL_STARTED);
    CHECK_STATUS(t->send(&end[0], 1, 4, &a, 1, &other), COLL_STARTED);
    t->abort(&end[1], 3, 1);
    CHECK_STATUS(t->test(&end[0], &s), COLL_ERR_PEER);
    CHECK_STATUS(t->test(&end[2], &r), COLL_ERR_PEER);
    CHECK_STATUS(t->test(&end[0], &other), COLL_AGAIN);
    t->cancel(&end[0], &s);
    t->cancel(&end[2], &r);
    t->cancel(&end[0], &other);
    CHECK_STATUS(t->send(&end[0], 1, 3, &a, 1, &s), COLL_ERR_PEER);
    CHECK_STATUS(t->recv(&end[0], 1, 3, &a, 1, &s), COLL_ERR_PEER);
    CHECK_STATUS(t->borrow(&end[0], 1, 3, 1, &message, &s), COLL_ERR_PEER);
    CHECK_STATUS(t->multicast(&end[0], 3, &a, 1, &s), COLL_ERR_PEER);
    CHECK(quiet());
    coll_loopback_recover(&world);
    CHECK_STATUS(t->borrow(&end[0], 1, 3, 1, &message, &s), COLL_AGAIN);
}

int main(void)
{
    RUN(worlds);
    RUN(order_and_tags);
    RUN(empty_messages_to_itself);
    RUN(sizes);
    RUN(borrowing);
    RUN(cancelling);
    RUN(full_queue);
    RUN(multicast);
    RUN(fabric_reduce);
    RUN(fabric_reduce_in_teams);
    RUN(aborting);
    return check_done();
}
