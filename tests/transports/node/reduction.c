/* node/reduction.h: whom a rank misses while it waits for its group. Three ranks of a thread each,
 * which this one plays. */
#include "support/check.h"

#include "coll/reduce.h"
#include "coll/transports/threads.h"
#include "support/records.h"

static const coll_network_group all = {COLL_GROUP_ALL, 3};
static coll_threads *world;
static double sums[3];
static coll_handle handles[3];
static uint32_t tag;

static coll_i_node_rank *rank_of(uint32_t rank)
{
    return (coll_i_node_rank *)coll_threads_rank(world, rank);
}

static coll_i_node_brought *bring_to(coll_network_group group, uint32_t rank)
{
    const double x = rank;
    coll_op sum;
    CHECK_STATUS(coll_op_builtin(&sum, COLL_SUM, COLL_F64), COLL_OK);
    CHECK_STATUS(network_reduce(&coll_threads_transport, rank_of(rank), tag, group, &sum,
                                &sums[rank], &x, 1, sizeof x, &handles[rank]),
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

/* A rank that waits for its group in another use of the tag does so in vain, which the last one that comes
 * finds out; but not one that has been handed its result and has not looked. */
TEST(another_use)
{
    const uint32_t use = (uint32_t)COLL_CLAIMS * COLL_CLAIM_TAGS;
    const double x = 1;
    coll_op sum;
    CHECK_STATUS(coll_op_builtin(&sum, COLL_SUM, COLL_F64), COLL_OK);
    for (uint32_t waits = 0; waits < 3; waits++) {
        const uint32_t next = (waits + 1) % 3, last = (waits + 2) % 3;
        world = coll_threads_create(3);
        tag = 5;
        for (uint32_t r = 0; r < 3; r++)
            (void)bring(r);
        tag += use;
        for (uint32_t r = 0; r < 3; r++) {
            CHECK_STATUS(coll_i_node_test_any(rank_of(r), &handles[r]), COLL_OK);
            (void)bring(r); /* the others have not looked */
        }
        for (uint32_t r = 0; r < 3; r++)
            CHECK_STATUS(coll_i_node_test_any(rank_of(r), &handles[r]), COLL_OK);
        (void)bring(waits);
        tag += use;
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t r = k ? last : next;
            const coll_status status =
                network_reduce(&coll_threads_transport, rank_of(r), tag, all, &sum, &sums[r],
                               &x, 1, sizeof x, &handles[r]);
            CHECK(status == COLL_ERR_SIZE || (k == 0 && status == COLL_STARTED));
        }
        coll_threads_destroy(world);
    }
    tag = 0;
}

static bool is_astray(uint32_t rank, const coll_i_node_brought *own)
{
    bool astray;
    CHECK(!coll_i_node_find_group(rank_of(rank), own, all, &astray));
    return astray;
}

/* Others go on to the next use of the tag as soon as they are handed the result, while a rank that has
 * brought its operand still looks for them. */
TEST(who_has_gone_on_is_not_astray)
{
    const uint32_t use = (uint32_t)COLL_CLAIMS * COLL_CLAIM_TAGS;
    coll_i_node_brought *own[3];
    world = coll_threads_create(3);
    tag = 5;
    for (uint32_t r = 0; r < 3; r++)
        own[r] = bring(r);
    tag += use;
    for (uint32_t r = 1; r < 3; r++) {
        CHECK_STATUS(coll_i_node_test_any(rank_of(r), &handles[r]), COLL_OK);
        (void)bring(r);
    }
    CHECK(!is_astray(0, own[0]));
    own[0]->operand->over = own[0]->uses - 1; /* as if not yet told, */
    own[0]->operand->state = 2 * 4 + COLL_I_NODE_CLAIMED;
    CHECK(!is_astray(0, own[0]));
    own[0]->operand->state = COLL_I_NODE_IDLE; /* about to be told, */
    CHECK(!is_astray(0, own[0]));
    own[0]->operand->state = own[0]->uses * 4 + COLL_I_NODE_WAITS; /* and left behind */
    CHECK(is_astray(0, own[0]));
    coll_threads_destroy(world);
    tag = 0;
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
TEST(members_of_a_group_are_missed)
{
    static const coll_network_group some = {COLL_GROUP_NODES, 2};
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

/* ---- an operand that is taken back ------------------------------------------------------- */

static coll_i_node_brought *claimed;
static uint32_t asked;

/* Rank 2, which reduces it, is dead when it is asked for the second time. */
static bool is_gone(coll_i_node_rank *me, uint32_t peer)
{
    CHECK(me == rank_of(0) && peer == 2);
    return ++asked == 2;
}

/* … or gives the claim up. */
static bool gives_up(coll_i_node_rank *me, uint32_t peer)
{
    CHECK(me == rank_of(0) && peer == 2);
    if (++asked == 2)
        claimed->operand->state = claimed->uses * 4 + COLL_I_NODE_WAITS;
    return false;
}

/* … or has reduced it. */
static bool ends(coll_i_node_rank *me, uint32_t peer)
{
    CHECK(me == rank_of(0) && peer == 2);
    if (++asked == 2)
        claimed->operand->state = COLL_I_NODE_IDLE;
    return false;
}

/* When nobody reduces it any more; one whose reducer died of it is used no more. */
TEST(taken_back_while_it_is_reduced)
{
    bool (*const what[3])(coll_i_node_rank *, uint32_t) = {is_gone, gives_up, ends};
    for (uint32_t i = 0; i < 3; i++) {
        coll_i_node_brought *next;
        world = coll_threads_create(3);
        claimed = bring(0);
        claimed->operand->state = 2 * 4 + COLL_I_NODE_CLAIMED;
        rank_of(0)->is_dead = what[i];
        asked = 0;
        coll_i_node_cancel_brought(rank_of(0), claimed);
        CHECK_EQ(asked, 2);
        CHECK_EQ(claimed->used, i == 0);
        CHECK_EQ(claimed->operand->state,
                 i == 0 ? 2 * 4 + COLL_I_NODE_CLAIMED : COLL_I_NODE_IDLE);
        tag = 1; /* it has one operand at a time of the same */
        next = bring(0);
        tag = 0;
        CHECK_EQ(next == claimed, i != 0);
        coll_threads_destroy(world);
    }
}

/* Whom it waits for: who reduces the operand of a lower rank of its group, not of a higher one. */
TEST(who_may_be_reducing_an_operand)
{
    coll_i_node_brought *zero, *one;
    world = coll_threads_create(3);
    zero = bring(0);
    one = bring(1);
    CHECK_EQ(coll_i_node_claimer(rank_of(0), zero), COLL_RANK_NONE);
    CHECK_EQ(coll_i_node_claimer(rank_of(1), one), COLL_RANK_NONE);
    zero->operand->state = 2 * 4 + COLL_I_NODE_CLAIMED;
    CHECK_EQ(coll_i_node_claimer(rank_of(0), zero), 2);
    CHECK_EQ(coll_i_node_claimer(rank_of(1), one), 2);
    zero->operand->state = zero->uses * 4 + COLL_I_NODE_WAITS;
    one->operand->state = 0 * 4 + COLL_I_NODE_CLAIMED;
    CHECK_EQ(coll_i_node_claimer(rank_of(0), zero), COLL_RANK_NONE);
    CHECK_EQ(coll_i_node_claimer(rank_of(1), one), 0);
    coll_threads_destroy(world);
}

/* A group of another size, or vectors of another length: an error for all that came. */
TEST(operands_that_do_not_fit)
{
    for (uint32_t i = 0; i < 4; i++) {
        static const coll_network_group two = {COLL_GROUP_ALL, 2};
        coll_i_node_operand *wrong;
        world = coll_threads_create(3);
        (void)bring(0);
        wrong = bring_to(i == 0 ? two : all, 1)->operand;
        if (i == 1)
            wrong->bytes = sizeof(double) + 1;
        if (i >= 2) { /* nonsense */
            wrong->lies = 1;
            wrong->vector.at[0] = i == 2 ? (uint64_t)UINTPTR_MAX : (uintptr_t)&sums[1];
            wrong->vector.at[1] = i == 3 ? (uint64_t)UINTPTR_MAX : (uintptr_t)&sums[1];
        }
        (void)bring(2);
        for (uint32_t rank = 0; rank < 3; rank++)
            CHECK_STATUS(coll_i_node_test_any(rank_of(rank), &handles[rank]),
                         i == 0 && rank == 2 ? COLL_AGAIN : COLL_ERR_SIZE);
        coll_threads_destroy(world);
    }
}

/* Vectors that all ranks can address are read where they lie, and the result is written where it goes. */
TEST(vectors_that_lie)
{
    enum { COUNT = COLL_NODE_REDUCE / sizeof(double) + 1 }; /* no operand holds it */
    static double in[3][COUNT], out[3][COUNT];
    coll_op sum;
    CHECK_STATUS(coll_op_builtin(&sum, COLL_SUM, COLL_F64), COLL_OK);
    for (uint32_t round = 0; round < 3; round++) { /* the last to come is another one */
        world = coll_threads_create(3);
        memset(out, 0, sizeof out);
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t rank = (k + round) % 3;
            double *const dst = rank == round ? in[rank] : out[rank]; /* one in place */
            for (uint32_t i = 0; i < COUNT; i++)
                in[rank][i] = rank * 1000.0 + i;
            CHECK_STATUS(network_reduce(&coll_threads_transport, rank_of(rank), 0, all, &sum,
                                        dst, in[rank], COUNT, sizeof(double), &handles[rank]),
                         COLL_STARTED);
            CHECK_STATUS(coll_i_node_test_any(rank_of(rank), &handles[rank]),
                         k < 2 ? COLL_AGAIN : COLL_OK);
        }
        for (uint32_t rank = 0; rank < 3; rank++) {
            uint32_t wrong = 0;
            if (rank != (round + 2) % 3)
                CHECK_STATUS(coll_i_node_test_any(rank_of(rank), &handles[rank]), COLL_OK);
            for (uint32_t i = 0; i < COUNT; i++) {
                wrong += (rank == round ? in : out)[rank][i] != 3000.0 + 3 * i;
                wrong += rank != round && in[rank][i] != rank * 1000.0 + i;
            }
            CHECK_EQ(wrong, 0);
        }
        coll_threads_destroy(world);
    }
}

int main(void)
{
    RUN(another_use);
    RUN(who_has_gone_on_is_not_astray);
    RUN(who_has_not_come_is_missed);
    RUN(who_was_handed_the_result_is_not_missed);
    RUN(members_of_a_group_are_missed);
    RUN(taken_back_while_it_is_reduced);
    RUN(who_may_be_reducing_an_operand);
    RUN(operands_that_do_not_fit);
    RUN(vectors_that_lie);
    return check_done();
}
