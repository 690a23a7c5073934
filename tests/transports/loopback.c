/* The loopback transport by itself: matching, order, sizes, acquiring, cancelling, aborting,
 * full queues, and in which order requests move on. */
#include "support/chance.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "coll/algos/dissemination.h"
#include "coll/algos/in_network.h"
#include "coll/algos/multicast.h"
#include "coll/executor/in_order.h"
#include "coll/transports/loopback.h"
#include "support/records.h"

enum { RANKS = 4, MESSAGES = 9 };

static const coll_transport *const t = &coll_loopback_transport;
static coll_loopback world;
static coll_loopback_rank end[RANKS];
static unsigned char memory[4096];

static void fresh(void)
{
    CHECK(COLL_LOOPBACK_BYTES(MESSAGES) < sizeof memory);
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
    const size_t bytes = COLL_LOOPBACK_BYTES(MESSAGES);
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

/* A world needs what it says, wherever that lies, and nothing beside it. */
TEST(memory_of_a_world)
{
    enum { GUARD = 32 };
    static const uint32_t messages[] = {1, 2, 3, 4, 5, 8, 9, 15, 16, 17};
    for (uint32_t k = 0; k < sizeof messages / sizeof *messages; k++) {
        const size_t bytes = COLL_LOOPBACK_BYTES(messages[k]);
        uint32_t buckets = 1;
        while (2 * buckets <= messages[k])
            buckets *= 2;
        CHECK(bytes + 2 * GUARD < sizeof memory);
        for (uint32_t at = GUARD; at < GUARD + 16; at++) {
            int sent = 1, got = 0;
            size_t beside = 0;
            coll_handle h[17];
            memset(memory, 0xee, sizeof memory);
            CHECK_STATUS(coll_loopback_init(&world, 2, messages[k], memory + at, bytes),
                         COLL_OK);
            CHECK_EQ(world.mask, buckets - 1);
            CHECK_EQ((uintptr_t)world.entries % sizeof(void *), 0);
            CHECK(world.seed == 0 && world.events == 0 && world.n_free == messages[k]);
            CHECK_STATUS(coll_loopback_attach(&world, 1, &end[1]), COLL_OK);
            CHECK(end[1].world == &world && end[1].rank == 1);
            for (uint32_t i = 0; i < messages[k]; i++) /* to itself, each of another bucket */
                CHECK_STATUS(t->send(&end[1], 1, i, &sent, sizeof sent, &h[i]), COLL_STARTED);
            CHECK_STATUS(t->send(&end[1], 1, 0, &sent, sizeof sent, &h[0]), COLL_AGAIN);
            for (uint32_t i = 0; i < messages[k]; i++)
                t->failure->cancel(&end[1], &h[i]);
            CHECK_STATUS(t->recv(&end[1], 1, 0, &got, sizeof got, &h[0]), COLL_STARTED);
            for (size_t i = 0; i < sizeof memory; i++)
                beside += (i < at || i >= at + bytes) && memory[i] != 0xee;
            CHECK_EQ(beside, 0);
        }
    }
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
    t->failure->cancel(&end[1], &r);
    CHECK_STATUS(t->zero_copy->acquire(&end[1], 0, 0, 3, &message, &r), COLL_ERR_SIZE);
    CHECK_STATUS(t->test(&end[0], &s), COLL_AGAIN);
    t->failure->cancel(&end[0], &s);
    CHECK(quiet());
}

TEST(acquiring)
{
    char a[4] = "abc";
    coll_handle s, r;
    const void *message = NULL;
    fresh();
    CHECK_STATUS(t->zero_copy->acquire(&end[1], 0, 0, 4, &message, &r), COLL_AGAIN);
    CHECK_STATUS(t->send(&end[0], 1, 0, a, 4, &s), COLL_STARTED);
    CHECK_STATUS(t->zero_copy->acquire(&end[1], 0, 0, 4, &message, &r), COLL_OK);
    CHECK(message == a);
    CHECK_STATUS(t->test(&end[0], &s), COLL_AGAIN);
    t->zero_copy->release(&end[1], &r);
    CHECK_STATUS(t->test(&end[0], &s), COLL_OK);
    CHECK(quiet());

    CHECK_STATUS(t->send(&end[0], 1, 0, a, 4, &s), COLL_STARTED);
    CHECK_STATUS(t->zero_copy->acquire(&end[1], 0, 0, 4, &message, &r), COLL_OK);
    t->failure->cancel(&end[0], &s);
    t->zero_copy->release(&end[1], &r);
    CHECK(quiet());
}

TEST(cancelling)
{
    char a = 'a', b = 'b', got = 0;
    coll_handle s[3], r;
    fresh();
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(t->send(&end[0], 1, 0, i == 1 ? &b : &a, 1, &s[i]), COLL_STARTED);
    t->failure->cancel(&end[0],
                       &s[0]); /* the oldest and the youngest; the one between arrives */
    t->failure->cancel(&end[0], &s[2]);
    CHECK_STATUS(t->recv(&end[1], 0, 0, &got, 1, &r), COLL_STARTED);
    CHECK_STATUS(t->test(&end[1], &r), COLL_OK);
    CHECK_EQ(got, 'b');
    t->failure->cancel(&end[0], &s[1]); /* it has arrived, but nobody asked */
    CHECK_STATUS(t->recv(&end[1], 0, 0, &got, 1, &r), COLL_STARTED);
    t->failure->cancel(&end[1], &r);
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
    CHECK_STATUS(t->in_network->multicast(&end[1], 0, &a, 1, &r), COLL_AGAIN);
    t->failure->cancel(&end[0], &s[3]);
    for (int i = 0; i < MESSAGES - 1; i++) {
        const void *message;
        CHECK_STATUS(t->zero_copy->acquire(&end[1], 0, 0, 1, &message, &r), COLL_OK);
        t->zero_copy->release(&end[1], &r);
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
    CHECK_STATUS(t->in_network->multicast(&end[1], 5, &sent, sizeof sent, &s), COLL_STARTED);
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
    CHECK_STATUS(t->in_network->multicast(&end[1], 5, &sent, sizeof sent, &s), COLL_STARTED);
    t->failure->cancel(&end[1], &s);
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

TEST(reductions_by_the_network)
{
    const coll_op op = COLL_OP(append, NULL, false, true);
    int in[RANKS][2] = {{1, 5}, {2, 6}, {3, 7}, {4, 8}}, out[RANKS][2];
    const coll_network_group all = {COLL_GROUP_ALL, RANKS};
    coll_handle h[RANKS], second;
    fresh();
    for (uint32_t i = 0; i < RANKS; i++) { /* the last in place */
        CHECK_STATUS(network_reduce(t, &end[i], 0, all, &op, i == 3 ? in[i] : out[i], in[i], 2,
                                    sizeof(int), &h[i]),
                     COLL_STARTED);
        CHECK_STATUS(i < 3 ? t->test(&end[i], &h[i]) : COLL_AGAIN, COLL_AGAIN);
    }
    CHECK_STATUS(
        network_reduce(t, &end[2], 0, all, &op, out[2], in[2], 2, sizeof(int), &second),
        COLL_STARTED);
    CHECK_STATUS(t->test(&end[2], &second), COLL_AGAIN);
    for (uint32_t i = 0; i < RANKS; i++) {
        CHECK_STATUS(t->test(&end[i], &h[i]), COLL_OK);
        CHECK_EQ(i == 3 ? in[i][0] : out[i][0], 1234);
        CHECK_EQ(i == 3 ? in[i][1] : out[i][1], 5678);
    }
    t->failure->cancel(&end[2], &second);
    CHECK(quiet());
}

/* Two groups at once, ranks 1 and 3, and rank 2 alone. */
TEST(reductions_by_groups)
{
    const coll_op op = COLL_OP(append, NULL, false, true);
    const coll_network_group pair = {COLL_GROUP_NODES, 2}, alone = {COLL_GROUP_SOCKETS, 1},
                             none = {COLL_NETWORK_GROUPS, 2},
                             many = {COLL_GROUP_NODES, RANKS + 1};
    int in[RANKS] = {1, 2, 3, 4}, out[RANKS] = {0};
    coll_handle h[RANKS];
    fresh();
    CHECK_STATUS(
        network_reduce(t, &end[3], 0, pair, &op, &out[3], &in[3], 1, sizeof(int), &h[3]),
        COLL_STARTED);
    CHECK_STATUS(
        network_reduce(t, &end[2], 0, alone, &op, &out[2], &in[2], 1, sizeof(int), &h[2]),
        COLL_STARTED);
    CHECK_STATUS(t->test(&end[3], &h[3]), COLL_AGAIN);
    CHECK_STATUS(t->test(&end[2], &h[2]), COLL_OK);
    CHECK_STATUS(
        network_reduce(t, &end[1], 0, pair, &op, &out[1], &in[1], 1, sizeof(int), &h[1]),
        COLL_STARTED);
    CHECK_STATUS(t->test(&end[1], &h[1]), COLL_OK);
    CHECK_STATUS(t->test(&end[3], &h[3]), COLL_OK);
    CHECK_EQ(out[1], 24);
    CHECK_EQ(out[2], 3);
    CHECK_EQ(out[3], 24);
    CHECK_STATUS(network_reduce(t, &end[0], 0, none, &op, out, in, 1, sizeof(int), h),
                 COLL_ERR_CAPABILITY);
    CHECK_STATUS(network_reduce(t, &end[0], 0, many, &op, out, in, 1, sizeof(int), h),
                 COLL_ERR_CAPABILITY);
    CHECK(quiet());
}

/* Operands that do not fit each other are an error for whoever looks; a barrier has none. */
TEST(operands_that_do_not_fit)
{
    const coll_op op = COLL_OP(append, NULL, false, true);
    const coll_network_group pair = {COLL_GROUP_NODES, 2}, three = {COLL_GROUP_NODES, 3},
                             all = {COLL_GROUP_ALL, 2}, none = {COLL_GROUP_ALL, 0},
                             whole = {COLL_GROUP_ALL, RANKS};
    int in[RANKS][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, out[RANKS][2] = {{0, 0}};
    coll_handle h[RANKS];
    for (uint32_t i = 0; i < 5;
         i++) { /* fewer elements, shorter ones, another group; what fits */
        const bool fits = i >= 3;
        fresh();
        CHECK_STATUS(
            network_reduce(t, &end[3], i == 4, pair, &op, out[3], in[3], 2, sizeof(int), &h[3]),
            COLL_STARTED);
        CHECK_STATUS(network_reduce(t, &end[1], i == 4, i == 2 ? three : pair, &op, out[1],
                                    in[1], i == 0 ? 1 : 2, i == 1 ? 1 : sizeof(int), &h[1]),
                     COLL_STARTED);
        CHECK_STATUS(t->test(&end[3], &h[3]), fits ? COLL_OK : COLL_ERR_SIZE);
        CHECK_STATUS(t->test(&end[1], &h[1]), fits ? COLL_OK : COLL_ERR_SIZE);
        for (uint32_t r = 1; r < RANKS; r += 2) {
            CHECK(out[r][0] == (fits ? 37 : 0) && out[r][1] == (fits ? 48 : 0));
            if (!fits)
                t->failure->cancel(&end[r], &h[r]);
        }
        memset(out, 0, sizeof out);
        CHECK(quiet());
    }
    fresh();
    CHECK_STATUS(network_reduce(t, &end[0], 0, none, &op, out[0], in[0], 1, 4, h),
                 COLL_ERR_CAPABILITY);
    for (uint32_t r = 0; r < RANKS; r++)
        CHECK_STATUS(network_reduce(t, &end[r], 0, whole, NULL, NULL, NULL, 0, 0, &h[r]),
                     COLL_STARTED);
    for (uint32_t r = 0; r < RANKS; r++)
        CHECK_STATUS(t->test(&end[r], &h[r]), COLL_OK);
    /* of two groups and tags each waits for its own; in place, the first is the last */
    CHECK_STATUS(network_reduce(t, &end[0], 0, all, &op, in[0], in[0], 1, sizeof(int), &h[0]),
                 COLL_STARTED);
    CHECK_STATUS(network_reduce(t, &end[1], 1, all, &op, in[1], in[1], 1, sizeof(int), &h[1]),
                 COLL_STARTED);
    CHECK_STATUS(t->test(&end[1], &h[1]), COLL_AGAIN);
    CHECK_STATUS(network_reduce(t, &end[2], 1, all, &op, in[2], in[2], 1, sizeof(int), &h[2]),
                 COLL_STARTED);
    CHECK_STATUS(t->test(&end[0], &h[0]), COLL_AGAIN);
    CHECK_STATUS(t->test(&end[2], &h[2]), COLL_OK);
    CHECK_STATUS(t->test(&end[1], &h[1]), COLL_OK);
    CHECK(in[1][0] == 35 && in[2][0] == 35);
    t->failure->abort(&end[0], 0, 1);
    CHECK_STATUS(t->test(&end[0], &h[0]), COLL_ERR_PEER);
    CHECK_STATUS(network_reduce(t, &end[1], 0, all, &op, in[1], in[1], 1, sizeof(int), &h[1]),
                 COLL_ERR_PEER);
    t->failure->cancel(&end[0], &h[0]);
    CHECK(quiet());
}

/* A multicast of one rank has nobody to go to; of four it takes three entries, no more. */
TEST(multicast_needs_room)
{
    int sent = 42;
    coll_handle h[MESSAGES], all;
    fresh();
    for (uint32_t i = 0; i < MESSAGES - RANKS + 1; i++)
        CHECK_STATUS(t->recv(&end[0], 1, 9, &sent, sizeof sent, &h[i]), COLL_STARTED);
    CHECK_STATUS(t->in_network->multicast(&end[0], 0, &sent, sizeof sent, &all), COLL_STARTED);
    CHECK_EQ(world.n_free, 0);
    t->failure->cancel(&end[0], &all);
    CHECK_STATUS(t->recv(&end[0], 1, 9, &sent, sizeof sent, &h[MESSAGES - 1]), COLL_STARTED);
    CHECK_STATUS(t->in_network->multicast(&end[0], 0, &sent, sizeof sent, &all), COLL_AGAIN);
    CHECK_EQ(world.n_free, RANKS - 2);
    CHECK_STATUS(coll_loopback_init(&world, 1, 1, memory, sizeof memory), COLL_OK);
    CHECK_STATUS(coll_loopback_attach(&world, 0, &end[0]), COLL_OK);
    CHECK_STATUS(t->in_network->multicast(&end[0], 0, &sent, sizeof sent, &all), COLL_OK);
    CHECK_EQ(world.n_free, 1);
}

/* ---- a model: a list of messages --------------------------------------------------------- */

typedef struct letter {
    uint32_t src, dst, tag, text;
    coll_handle h;
} letter;

static letter letters[MESSAGES];
static uint32_t n_letters;

static void drop(uint32_t i)
{
    n_letters--;
    for (; i < n_letters; i++)
        letters[i] = letters[i + 1];
}

/* Channels share buckets, and messages leave these in any order. */
TEST(any_order)
{
    random_state = 5;
    fresh();
    for (uint32_t step = 0; step < 20000; step++) {
        const uint32_t src = chance(RANKS), dst = chance(RANKS), tag = chance(3),
                       what = chance(8);
        const void *message = NULL;
        uint32_t got = 0, i = 0;
        coll_handle h;
        if (what < 4) {
            letter *it = &letters[n_letters];
            if (n_letters == MESSAGES) {
                CHECK_STATUS(t->send(&end[src], dst, tag, &got, sizeof got, &h), COLL_AGAIN);
                continue;
            }
            it->src = src;
            it->dst = dst;
            it->tag = tag;
            it->text = step + 1;
            n_letters++; /* the text moves with its letter, but is only read below */
            CHECK_STATUS(t->send(&end[src], dst, tag, &it->text, sizeof it->text, &it->h),
                         COLL_STARTED);
            CHECK_EQ(world.n_free, MESSAGES - n_letters);
        } else if (what == 4 && n_letters > 0) {
            i = chance(n_letters);
            CHECK_STATUS(t->test(&end[letters[i].src], &letters[i].h), COLL_AGAIN);
            t->failure->cancel(&end[letters[i].src], &letters[i].h);
            drop(i);
        } else {
            while (i < n_letters &&
                   (letters[i].src != src || letters[i].dst != dst || letters[i].tag != tag))
                i++;
            if (i == n_letters) {
                CHECK_STATUS(
                    t->zero_copy->acquire(&end[dst], src, tag, sizeof got, &message, &h),
                    COLL_AGAIN);
                continue;
            }
            CHECK_STATUS(t->zero_copy->acquire(&end[dst], src, tag, sizeof got, &message, &h),
                         COLL_OK);
            CHECK_EQ(h.word[0], letters[i].h.word[0]); /* it is the oldest of its channel */
            t->zero_copy->release(&end[dst], &h);
            CHECK_STATUS(t->test(&end[src], &letters[i].h), COLL_OK);
            drop(i);
        }
    }
    while (n_letters > 0) {
        t->failure->cancel(&end[letters[0].src], &letters[0].h);
        drop(0);
    }
    CHECK(quiet());
    for (uint32_t i = 0; i <= world.mask; i++)
        CHECK(world.buckets[i].head == COLL_RANK_NONE &&
              world.buckets[i].tail == COLL_RANK_NONE);
}

/* ---- aborts ------------------------------------------------------------------------------ */

static bool is_aborted(uint32_t tag)
{
    const void *message;
    coll_handle h;
    return t->zero_copy->acquire(&end[0], 1, tag, 1, &message, &h) == COLL_ERR_PEER;
}

/* Ranges, each noted once; those of a longer one are replaced by it; too many are all tags of
 * a communicator. */
TEST(aborting_ranges)
{
    fresh();
    t->failure->abort(&end[0], 10, 5);
    for (uint32_t tag = 8; tag < 18; tag++)
        CHECK(is_aborted(tag) == (tag >= 10 && tag < 15));
    t->failure->abort(&end[1], 10, 5);
    t->failure->abort(&end[1], 12, 3);
    CHECK_EQ(world.aborts.n, 1);
    t->failure->abort(&end[1], 12, 4);
    CHECK(world.aborts.n == 2 && is_aborted(15) && !is_aborted(16) && is_aborted(10));
    t->failure->abort(&end[2], 9, 7);
    CHECK(world.aborts.n == 2 && is_aborted(9) && is_aborted(15) && !is_aborted(8));
    coll_loopback_recover(&world);
    CHECK(world.aborts.n == 0 && !is_aborted(12));
    for (uint32_t i = 0; i < COLL_LOOPBACK_ABORTS; i++) {
        const size_t before = world.events;
        CHECK_EQ(world.aborts.n, i);
        CHECK(!is_aborted(100 * i));
        t->failure->abort(&end[0], 100 * i, 1);
        CHECK(is_aborted(100 * i) && !is_aborted(100 * i + 1) && is_aborted(0));
        CHECK(world.events > before); /* others may end now */
    }
    t->failure->abort(&end[0], 300, 1);
    CHECK(!is_aborted(1));
    t->failure->abort(&end[0], UINT32_MAX, 1);
    CHECK(is_aborted(UINT32_MAX) && is_aborted(COLL_CLAIMS * COLL_CLAIM_TAGS - 1) &&
          !is_aborted(1)); /* all of that one's */
    t->failure->abort(&end[0], 7, 1);
    CHECK(is_aborted(1) && is_aborted(8) && is_aborted(12345));
    CHECK(!is_aborted(COLL_CLAIM_TAGS) && world.aborts.n == 0);
    coll_loopback_recover(&world);
    CHECK(!is_aborted(1) && !is_aborted(0));
    t->failure->abort(&end[0], 1, 1);
    CHECK(is_aborted(1) && !is_aborted(0) && !is_aborted(2));
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
    t->failure->abort(&end[1], 3, 1);
    CHECK_STATUS(t->test(&end[0], &s), COLL_ERR_PEER);
    CHECK_STATUS(t->test(&end[2], &r), COLL_ERR_PEER);
    CHECK_STATUS(t->test(&end[0], &other), COLL_AGAIN);
    t->failure->cancel(&end[0], &s);
    t->failure->cancel(&end[2], &r);
    t->failure->cancel(&end[0], &other);
    CHECK_STATUS(t->send(&end[0], 1, 3, &a, 1, &s), COLL_ERR_PEER);
    CHECK_STATUS(t->recv(&end[0], 1, 3, &a, 1, &s), COLL_ERR_PEER);
    CHECK_STATUS(t->zero_copy->acquire(&end[0], 1, 3, 1, &message, &s), COLL_ERR_PEER);
    CHECK_STATUS(t->in_network->multicast(&end[0], 3, &a, 1, &s), COLL_ERR_PEER);
    CHECK(quiet());
    coll_loopback_recover(&world);
    CHECK_STATUS(t->zero_copy->acquire(&end[0], 1, 3, 1, &message, &s), COLL_AGAIN);
}

/* ---- requests ---------------------------------------------------------------------------- */

enum { LOOKS = 4096 };

static coll_transport watched;
static uint32_t looks[LOOKS], n_looks, sick;
static coll_engine request[2 * RANKS];
static coll_engine *requests[2 * RANKS];

/* Notes who looks; rank `sick` fails. */
static coll_status look(void *ctx, coll_handle *h)
{
    const uint32_t rank = ((coll_loopback_rank *)ctx)->rank;
    if (n_looks < LOOKS)
        looks[n_looks++] = rank;
    return rank == sick ? COLL_ERR_IO : coll_i_loop_test(ctx, h);
}

/* Barriers of tag 0, and of tag 1, as requests from RANKS on. */
static void start(uint32_t n)
{
    static coll_plan plan;
    static coll_slot slots[2 * RANKS][8];
    static coll_task run[2 * RANKS];
    coll_problem problem;
    coll_problem_init(&problem, COLL_BARRIER, RANKS, 0, 1);
    CHECK_STATUS(coll_plan_init(&plan, &coll_dissemination_barrier, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_loopback_init(&world, RANKS, 40, memory, sizeof memory), COLL_OK);
    watched = coll_loopback_transport;
    watched.test = look;
    memset(run, 0, sizeof run);
    memset(requests, 0, sizeof requests);
    n_looks = 0;
    sick = COLL_RANK_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t rank = i % RANKS;
        CHECK_STATUS(coll_loopback_attach(&world, rank, &end[rank]), COLL_OK);
        run[i].plan = &plan;
        run[i].transport = &watched;
        run[i].ctx = &end[rank];
        run[i].rank = rank;
        run[i].tag = i / RANKS;
        requests[i] = &request[i];
        CHECK_STATUS(coll_engine_init(&request[i], slots[i], 8), COLL_OK);
        CHECK_STATUS(coll_engine_start(&request[i], &run[i]), COLL_OK);
        CHECK_STATUS(request[i].status, COLL_AGAIN);
    }
    n_looks = 0;
}

/* The ranks in the order in which they looked first. */
static uint32_t order(void)
{
    uint32_t found = 0, digits = 0;
    for (uint32_t i = 0; i < n_looks; i++)
        if (!(found >> looks[i] & 1)) {
            found |= 1u << looks[i];
            digits = digits * 10 + looks[i] + 1;
        }
    return digits;
}

/* One after the other, or in an order of the seed; no others. */
TEST(turns_of_requests)
{
    uint32_t orders = 0, same = 0;
    start(2 * RANKS);
    CHECK_STATUS(coll_loopback_run(&world, requests, RANKS), COLL_OK);
    CHECK_EQ(order(), 1234);
    for (uint32_t seed = 1; seed <= 40; seed++) {
        uint32_t first = 0;
        for (uint32_t again = 0; again < 2; again++) {
            uint16_t idle[RANKS];
            start(2 * RANKS);
            world.seed = seed * 2654435769u;
            for (uint32_t i = 0; i < RANKS; i++)
                idle[i] = request[RANKS + i].window.idle;
            CHECK_STATUS(coll_loopback_run(&world, requests, RANKS), COLL_OK);
            for (uint32_t i = 0; i < RANKS; i++) {
                CHECK_STATUS(request[i].status, COLL_OK);
                CHECK_STATUS(request[RANKS + i].status, COLL_AGAIN);
                CHECK_EQ(request[RANKS + i].window.idle, idle[i]);
            }
            CHECK(again == 0 || order() == first);
            first = order();
        }
        orders |= 1u << looks[0];
        same += first == 1234;
    }
    CHECK_EQ(orders, (1u << RANKS) - 1); /* each is the first for some seed */
    CHECK(same < 20);
}

/* How often the three ranks look, of a barrier that the fourth never comes to. */
static uint32_t looks_in_vain(uint32_t quiet_rounds)
{
    start(RANKS - 1);
    world.quiet = quiet_rounds;
    CHECK_STATUS(coll_loopback_run(&world, requests, RANKS - 1), COLL_ERR_DEADLOCK);
    for (uint32_t i = 0; i < RANKS - 1; i++)
        CHECK_STATUS(request[i].status, COLL_AGAIN);
    return n_looks;
}

TEST(nothing_moves)
{
    const uint32_t none = looks_in_vain(0), one = looks_in_vain(1), ten = looks_in_vain(10);
    CHECK(one > none);
    CHECK_EQ(ten - one, 9 * (one - none));
    start(RANKS - 1);
    CHECK_EQ(world.quiet, 64);
}

/* An order of a seed leaves nobody out, for however long. */
TEST(turns_in_a_long_run)
{
    for (uint32_t seed = 1; seed <= 8; seed++) {
        uint32_t turns[RANKS] = {0};
        start(RANKS - 1);
        world.seed = seed * 2654435769u;
        world.quiet = 1000;
        CHECK_STATUS(coll_loopback_run(&world, requests, RANKS - 1), COLL_ERR_DEADLOCK);
        if (!CHECK(n_looks > 1000))
            return;
        for (uint32_t i = n_looks - 900; i < n_looks; i++)
            turns[looks[i]]++;
        for (uint32_t r = 0; r < RANKS - 1; r++) { /* rank 0 looks for one message, not two */
            const uint32_t its = turns[r] * (r == 0 ? 2 : 1);
            CHECK(its > 290 && its < 430);
        }
    }
}

/* The error of who failed first, be it before. */
TEST(who_failed_first)
{
    for (uint32_t before = 0; before < 2; before++) {
        start(RANKS);
        sick = 2;
        if (before) {
            coll_engine_cancel(&request[1]);
            CHECK_STATUS(request[1].status, COLL_ERR_CANCELLED);
        }
        CHECK_STATUS(coll_loopback_run(&world, requests, RANKS),
                     before ? COLL_ERR_CANCELLED : COLL_ERR_IO);
        for (uint32_t i = 0; i < RANKS; i++)
            CHECK(request[i].status != COLL_AGAIN);
        CHECK_STATUS(request[2].status, COLL_ERR_IO);
    }
    CHECK_STATUS(coll_loopback_run(&world, requests, 0), COLL_OK);
}

/* What reaches all ranks of the transport is not started by some of them. */
TEST(all_or_none)
{
    static const coll_algorithm *const both[2] = {&coll_multicast_bcast,
                                                  &coll_in_network_barrier};
    fresh();
    CHECK_EQ(t->in_network->ranks(&end[1]), RANKS);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t p = 1; p <= RANKS + 1; p++) {
            coll_plan plan;
            coll_task task;
            coll_problem problem;
            coll_engine engine;
            coll_slot slots[8];
            coll_in_order in_order;
            coll_outstanding ops[8];
            char data = 0;
            coll_problem_init(&problem, k ? COLL_BARRIER : COLL_BCAST, p, k ? 0 : 1, 1);
            memset(&task, 0, sizeof task);
            CHECK_STATUS(coll_plan_init(&plan, both[k], &problem, NULL), COLL_OK);
            task.plan = &plan;
            task.transport = t;
            task.ctx = &end[0];
            task.in = task.out = &data;
            CHECK_STATUS(coll_task_check(&task), p == RANKS ? COLL_OK : COLL_ERR_GROUP);
            if (p == RANKS)
                continue;
            CHECK_STATUS(coll_engine_init(&engine, slots, 8), COLL_OK);
            CHECK_STATUS(coll_engine_start(&engine, &task), COLL_ERR_GROUP);
            CHECK_STATUS(coll_in_order_init(&in_order, ops, 8), COLL_OK);
            CHECK_STATUS(coll_in_order_start(&in_order, &task), COLL_ERR_GROUP);
        }
    CHECK(quiet());
}

int main(void)
{
    RUN(all_or_none);
    RUN(worlds);
    RUN(memory_of_a_world);
    RUN(order_and_tags);
    RUN(empty_messages_to_itself);
    RUN(sizes);
    RUN(acquiring);
    RUN(cancelling);
    RUN(full_queue);
    RUN(multicast);
    RUN(reductions_by_the_network);
    RUN(reductions_by_groups);
    RUN(operands_that_do_not_fit);
    RUN(multicast_needs_room);
    RUN(any_order);
    RUN(aborting_ranges);
    RUN(aborting);
    RUN(turns_of_requests);
    RUN(nothing_moves);
    RUN(turns_in_a_long_run);
    RUN(who_failed_first);
    return check_done();
}
