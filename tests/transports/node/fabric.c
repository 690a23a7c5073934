/* node/fabric.h: whom a rank misses while it waits for its team. Three ranks of a thread each, which
 * this one plays. */
#include "check.h"

#include "coll/reduce.h"
#include "coll/transports/threads.h"

static const coll_team all = {COLL_TEAM_ALL, 3};
static coll_threads *world;
static double sums[3];
static coll_handle handles[3];

static coll_i_node_rank *rank_of(uint32_t rank)
{
    return (coll_i_node_rank *)coll_threads_rank(world, rank);
}

static coll_i_node_brought *bring_to(coll_team team, uint32_t rank)
{
    const double x = rank;
    coll_op sum;
    CHECK_STATUS(coll_op_builtin(&sum, COLL_SUM, COLL_F64), COLL_OK);
    CHECK_STATUS(coll_i_node_fabric_reduce(rank_of(rank), 0, team, NULL, &sum, &sums[rank], &x,
                                           1, sizeof x, &handles[rank]),
                 COLL_STARTED);
    return (coll_i_node_brought *)(uintptr_t)handles[rank].word[0];
}

static coll_i_node_brought *bring(uint32_t rank)
{
    return bring_to(all, rank);
}

static bool misses(coll_i_node_brought *own, uint32_t rank, uint32_t other)
{
    coll_i_node_rank *me = rank_of(rank);
    if (me->links[other])
        me->links[other]->missed = false;
    coll_i_node_miss_absent(me, own);
    return me->links[other] && me->links[other]->missed;
}

/* Also one that it has exchanged nothing with. */
TEST(who_has_not_come_is_missed)
{
    coll_i_node_brought *zero, *one;
    world = coll_threads_create(3);
    zero = bring(0);
    CHECK(misses(zero, 0, 1));
    CHECK(misses(zero, 0, 2));
    one = bring(1);
    CHECK(!misses(zero, 0, 1));
    CHECK(misses(zero, 0, 2));
    CHECK(misses(one, 1, 2));
    CHECK(!misses(one, 1, 0));
    coll_threads_destroy(world);
}

/* Rank 2 hands out the results, from the highest rank to the lowest; rank 1 may have left. */
TEST(who_was_handed_the_result_is_not_missed)
{
    coll_i_node_brought *zero, *two;
    world = coll_threads_create(3);
    zero = bring(0);
    two = bring(2); /* as if 1 had come, and 2 had found it, and not been over yet */
    zero->operand->state = 2 * 4 + COLL_I_NODE_CLAIMED;
    CHECK(!misses(zero, 0, 1));
    CHECK(!misses(two, 2, 1));
    zero->operand->state = COLL_I_NODE_IDLE; /* … and is about to say that it is over */
    CHECK(!misses(zero, 0, 1));
    zero->operand->state = zero->uses * 4 + COLL_I_NODE_WAITS;
    CHECK(misses(zero, 0, 1));
    CHECK(misses(two, 2, 1));
    two->operand->over = two->uses;
    CHECK(!misses(two, 2, 1));
    coll_threads_destroy(world);
}

/* Of a part of the ranks, who has been there before. */
TEST(members_of_a_team_are_missed)
{
    static const coll_team some = {COLL_TEAM_NODES, 2};
    coll_i_node_brought *zero;
    world = coll_threads_create(3);
    (void)bring(0); /* all ranks' operands are nobody's business */
    (void)bring(1);
    (void)bring(2);
    zero = bring_to(some, 0);
    CHECK(!misses(zero, 0, 1));
    CHECK(!misses(zero, 0, 2)); /* it may be either of them */
    (void)bring_to(some, 2);
    for (uint32_t rank = 0; rank < 3; rank += 2)
        CHECK_STATUS(coll_i_node_test_any(rank_of(rank), &handles[rank]), COLL_OK);
    CHECK_EQ(sums[0], 2);
    zero = bring_to(some, 0);
    CHECK(!misses(zero, 0, 1));
    CHECK(misses(zero, 0, 2));
    coll_threads_destroy(world);
}

int main(void)
{
    RUN(who_has_not_come_is_missed);
    RUN(who_was_handed_the_result_is_not_missed);
    RUN(members_of_a_team_are_missed);
    return check_done();
}
