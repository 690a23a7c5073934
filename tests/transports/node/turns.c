/* node/turns.h: whether a rank's turn comes when it should, and what it does about it. Five ranks, of
 * which 0, 2 and 4 share processor 1, and 1 and 3 processor 2; turns are given by hand. */
#include "support/check.h"

#include "coll/transports/threads.h"

enum { P = 5 };

static coll_i_node_rank ranks[P];
static coll_i_node_link links[P][P];
static coll_i_node_link *tables[P][P];
static coll_i_node_watch watches[P];
static uint32_t cpus[P];

static void begin(void)
{
    memset(ranks, 0, sizeof ranks);
    memset(links, 0, sizeof links);
    memset(watches, 0, sizeof watches);
    for (uint32_t r = 0; r < P; r++) {
        cpus[r] = 1 + r % 2;
        ranks[r].rank = ranks[r].order.lowest = ranks[r].order.before = r;
        ranks[r].order.company = 1;
        ranks[r].p = P;
        ranks[r].cpus = cpus;
        ranks[r].watches = watches;
        ranks[r].links = tables[r];
        for (uint32_t s = 0; s < P; s++)
            tables[r][s] = &links[r][s];
    }
    for (uint32_t r = 0; r < P; r++)
        coll_i_node_look_around(&ranks[r]);
}

/* Rank r has a turn: is it out of order? */
static bool turn(uint32_t r)
{
    return coll_i_node_is_out_of_order(&ranks[r]);
}

TEST(who_is_here)
{
    static const uint32_t before[P] = {4, 3, 0, 1, 2};
    begin();
    for (uint32_t r = 0; r < P; r++) {
        const coll_i_node_order *order = &ranks[r].order;
        CHECK(order->lowest == r % 2 && order->before == before[r]);
        CHECK(order->place == r / 2 && order->company == (r % 2 ? 2u : 3u));
    }
    cpus[2] = 0; /* nobody knows where that one is */
    coll_i_node_look_around(&ranks[4]);
    CHECK(ranks[4].order.before == 0 && ranks[4].order.place == 1);
    CHECK(ranks[4].order.company == 2);
    cpus[0] = 2; /* the only one that is left */
    coll_i_node_look_around(&ranks[4]);
    CHECK(ranks[4].order.lowest == 4 && ranks[4].order.before == 4);
    CHECK(ranks[4].order.place == 0 && ranks[4].order.company == 1);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(!turn(4));
}

TEST(in_order)
{
    begin();
    for (uint32_t i = 0; i < 30; i++) {
        CHECK(!turn(i % 3 * 2));
        CHECK(i % 5 != 0 || !turn(i % 2 * 2 + 1)); /* the other processor has its own */
    }
}

TEST(out_of_order)
{
    begin();
    turn(0), turn(4), turn(2);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK(turn(0)); /* 4 had one, and then 2 */
        CHECK(turn(4));
        CHECK(turn(2));
    }
    CHECK(turn(0));
    turn(2); /* it has moved */
    for (uint32_t i = 0; i < 10; i++) {
        CHECK(!turn(4));
        CHECK(!turn(0));
        CHECK(!turn(2));
    }
}

/* Who does not yield, as it computes, or sleeps, keeps nobody from its place; nor do turns that nobody
 * else wanted. */
TEST(away)
{
    begin();
    turn(0), turn(2), turn(4);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK(!turn(0));
        CHECK(!turn(4)); /* after 2, which had none */
        CHECK(!turn(4));
        CHECK(!turn(4));
    }
    CHECK(turn(2)); /* back, behind 4 */
}

/* Turns are numbered modulo 2^32. */
TEST(many_turns)
{
    static const uint32_t wrong[3] = {0, 4, 2};
    for (uint32_t in_order = 0; in_order < 2; in_order++) {
        begin();
        watches[0].turns = UINT32_MAX - 8;
        for (uint32_t r = 0; r < P; r += 2)
            ranks[r].order.turn = watches[r].turn = UINT32_MAX - 8;
        turn(0), turn(in_order ? 2 : 4), turn(in_order ? 4 : 2);
        for (uint32_t i = 0; i < 15; i++)
            CHECK(in_order ? !turn(i % 3 * 2) : turn(wrong[i % 3]));
    }
}

/* Who hears only of some others, as its neighbours, has no need of an order. */
TEST(who_is_heard)
{
    begin();
    CHECK(ranks[0].order.heard_all);
    ranks[0].order.n_turns = COLL_I_NODE_ROUND;
    coll_i_node_look_around(&ranks[0]);
    CHECK(ranks[0].order.heard_all);
    ranks[0].order.n_turns++;
    coll_i_node_look_around(&ranks[0]);
    CHECK(!ranks[0].order.heard_all);
    links[0][2].heard = ranks[0].order.n_turns;
    coll_i_node_look_around(&ranks[0]);
    CHECK(!ranks[0].order.heard_all);
    links[0][4].heard = 1;
    coll_i_node_look_around(&ranks[0]);
    CHECK(ranks[0].order.heard_all); /* 1 and 3 are elsewhere */
    tables[0][2] = NULL;
    coll_i_node_look_around(&ranks[0]);
    CHECK(!ranks[0].order.heard_all);
}

TEST(a_message_is_heard)
{
    coll_threads *world = coll_threads_create(2);
    coll_i_node_rank *to = (coll_i_node_rank *)coll_threads_rank(world, 1);
    coll_handle handle = {{0, 0}};
    uint32_t word = 1, got = 0;
    to->order.n_turns = 7;
    CHECK_STATUS(coll_threads_transport.recv(to, 0, 0, &got, sizeof got, &handle),
                 COLL_STARTED);
    CHECK(to->links[0]->heard == 0);
    CHECK_STATUS(coll_threads_transport.send(coll_threads_rank(world, 0), 1, 0, &word,
                                             sizeof word, NULL),
                 COLL_OK);
    CHECK_STATUS(coll_threads_transport.test(to, &handle), COLL_OK);
    CHECK(to->links[0]->heard == 7 && got == 1);
    coll_threads_destroy(world);
}

/* Rank 4 comes out of order all the time, as 2 comes just after it: how often does it move? */
TEST(tries)
{
    coll_i_node_order *order = &ranks[4].order;
    uint32_t moves = 0, last = 0;
    for (uint32_t heard = 0; heard < 2; heard++) {
        begin();
        order->tries = COLL_I_NODE_TRIES;
        for (uint32_t i = 1; i < 1000; i++) {
            const uint32_t before = order->tries;
            for (uint32_t r = 0; r < P && heard; r++)
                links[4][r].heard = order->n_turns;
            coll_i_node_take_turn(&ranks[4]);
            if (order->tries < before) {
                CHECK(moves == 0 || i - last > COLL_I_NODE_REST);
                moves++;
                last = i;
            }
            turn(2), turn(0);
        }
        CHECK(order->moves);
        CHECK(heard ? moves > 1000 / COLL_I_NODE_ROUND
                    : moves == 2); /* until it looks around */
        CHECK(!heard || moves <= COLL_I_NODE_TRIES + 1000 / COLL_I_NODE_ROUND + 1);
        moves = 0;
    }
}

/* A move leaves the thread as it was; one that the system schedules in another way is left alone. */
TEST(schedule)
{
    coll_i_node_schedule before, after;
    const uint64_t slice = coll_i_node_slice(&before);
    begin();
    if (slice == 0)
        fprintf(stderr, "order: the system does not tell how long turns are\n");
    for (uint32_t i = 0; i < 20; i++) {
        ranks[4].order.turn = i;
        coll_i_node_move(&ranks[4], i == 0);
        CHECK(coll_i_node_slice(&after) == slice);
        CHECK(after.policy == before.policy && after.nice == before.nice);
        CHECK(after.flags == before.flags);
    }
#if defined(SYS_sched_setattr)
    before.policy = 3; /* SCHED_BATCH */
    if (coll_i_node_set_slice(&before, slice)) {
        CHECK(coll_i_node_slice(&after) == 0 && after.policy == 3);
        coll_i_node_move(&ranks[4], false);
        CHECK(coll_i_node_slice(&after) == 0 && after.policy == 3);
    }
#endif
}

int main(void)
{
    RUN(schedule); /* first: what a move leaves behind it might leave to all others */
    RUN(who_is_here);
    RUN(in_order);
    RUN(out_of_order);
    RUN(away);
    RUN(many_turns);
    RUN(who_is_heard);
    RUN(tries);
    RUN(a_message_is_heard);
    return check_done();
}
