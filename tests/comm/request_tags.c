/* Tags of calls and communicators: whose they are, in which order calls with the same one go, and
 * which fail together. */
#include "support/comm_loopback.h"

enum { CALLS = 200, TAGS = 40, TURNS = 20, MESSAGES = P * CALLS * 4 };

static coll_request requests[P][CALLS];
static uint32_t in[P][CALLS], out[P][CALLS];

static void begin(uint32_t tags)
{
    memset(requests, 0xA5, sizeof requests); /* memory that holds anything */
    loopback_begin(MESSAGES, tags, 0xA5);
}

/* Begins call i of a rank: the sum of r·1000 + i. */
static coll_status sum(coll_comm *comm, uint32_t r, uint32_t i)
{
    in[r][i] = 1000 * r + i;
    out[r][i] = 0;
    return coll_iallreduce(comm, &in[r][i], &out[r][i], 1, COLL_U32, COLL_SUM, &requests[r][i]);
}

/* How a call ends on this rank while all go on; COLL_AGAIN: it does not. */
static coll_status ends_with(uint32_t r, uint32_t i)
{
    coll_status status = COLL_AGAIN;
    for (unsigned round = 0; status == COLL_AGAIN && round < 1000; round++) {
        for (uint32_t other = 0; other < P; other++)
            coll_progress(&comms[other]);
        status = coll_test(&requests[r][i]);
    }
    return status;
}

static void all_end(uint32_t i)
{
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(ends_with(r, i), COLL_OK);
        CHECK_EQ(out[r][i], 3000 + 3 * i);
    }
}

/* An older call of the same tag that has ended, of which nobody was told yet, holds none up. */
TEST(youngest_first)
{
    for (uint32_t tags = 1; tags <= 1000; tags += 999) {
        begin(tags);
        for (uint32_t r = 0; r < P; r++)
            for (uint32_t i = 0; i < CALLS; i++)
                CHECK_STATUS(sum(&comms[r], r, i), COLL_OK);
        for (uint32_t i = CALLS; i-- > 0;)
            all_end(i);
        loopback_end();
    }
}

/* Half of a communicator's tags go round, 32 at most or an eighth; the others are for what has one of its own. */
TEST(how_many_go_round)
{
    static const uint32_t turns[][2] = {{0, 0},    {1, 1},    {2, 1},    {3, 2},   {4, 2},
                                        {62, 31},  {63, 32},  {64, 32},  {65, 32}, {80, 32},
                                        {256, 32}, {264, 33}, {800, 100}};
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        coll_comm dup;
        begin(turns[i][0]);
        memset(&dup, 0xA5, sizeof dup);
        CHECK_EQ(comms[0].turns, turns[i][1]);
        CHECK_EQ(comms[0].tags.count, turns[i][0] - turns[i][1]);
        CHECK_EQ(comms[0].subs.count, turns[i][0] - turns[i][1]);
        if (turns[i][0] == 0) { /* one that is asked for has none, either */
            CHECK_STATUS(coll_comm_dup(&dup, &comms[0], 10), COLL_OK);
            CHECK(dup.first_tag == 0 && dup.turns == 0);
            CHECK_STATUS(coll_comm_free(&dup), COLL_OK);
        }
        for (uint32_t k = 0; k < 2 * turns[i][1]; k++) {
            for (uint32_t r = 0; r < P; r++)
                CHECK_STATUS(sum(&comms[r], r, k), COLL_OK);
            CHECK_EQ(requests[0][k].engine.task.tag, k % turns[i][1]);
        }
        for (uint32_t k = 0; k < 2 * turns[i][1]; k++)
            all_end(k);
        loopback_end();
    }
}

/* Persistent calls have tags from the lower end, communicators from the upper one; they meet, and
 * what is released is taken again. */
TEST(who_has_which)
{
    coll_comm dup[3], of_dup;
    begin(TAGS);
    CHECK_EQ(comms[0].turns, TURNS);
    CHECK_STATUS(coll_comm_dup(&dup[0], &comms[0], 8), COLL_OK);
    CHECK_EQ(dup[0].first_tag, TAGS - 8);
    CHECK_EQ(dup[0].turns, 4);
    CHECK_STATUS(coll_comm_dup(&of_dup, &dup[0], 2), COLL_OK);
    CHECK_EQ(of_dup.first_tag, TAGS - 2);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_STATUS(coll_barrier_init(&dup[0], &requests[1][i]), COLL_OK);
        CHECK_EQ(requests[1][i].engine.task.tag, TAGS - 8 + 4 + i);
    }
    CHECK_STATUS(coll_barrier_init(&dup[0], &requests[1][2]), COLL_ERR_TAG);
    CHECK_STATUS(coll_barrier_init(&of_dup, &requests[1][3]), COLL_OK);
    CHECK_EQ(requests[1][3].engine.task.tag, TAGS - 1);
    for (uint32_t i = 0; i < TAGS - TURNS - 8; i++) {
        CHECK_STATUS(coll_barrier_init(&comms[0], &requests[0][i]), COLL_OK);
        CHECK_EQ(requests[0][i].engine.task.tag, TURNS + i);
    }
    CHECK_STATUS(coll_barrier_init(&comms[0], &requests[0][50]), COLL_ERR_TAG);
    in[0][50] = 1;
    CHECK_STATUS(coll_allreduce_init(&comms[0], &in[0][50], &out[0][50], 100, COLL_F64,
                                     COLL_SUM, &requests[0][50]),
                 COLL_ERR_TAG);
    CHECK(comms[0].arena.units.first == NULL); /* it has released what it took */
    CHECK_STATUS(coll_comm_dup(&dup[1], &comms[0], 1), COLL_ERR_TAG);
    CHECK_STATUS(coll_request_free(&requests[0][11]), COLL_OK);
    CHECK_STATUS(coll_comm_dup(&dup[1], &comms[0], 2), COLL_ERR_TAG);
    CHECK_STATUS(coll_comm_dup(&dup[1], &comms[0], 1), COLL_OK);
    CHECK_EQ(dup[1].first_tag, TURNS + 11);
    CHECK_STATUS(coll_request_free(&requests[0][3]), COLL_OK);
    CHECK_STATUS(coll_comm_dup(&dup[2], &comms[0], 1), COLL_ERR_TAG); /* it is not behind all */
    CHECK_STATUS(coll_barrier_init(&comms[0], &requests[0][3]), COLL_OK);
    CHECK_EQ(requests[0][3].engine.task.tag, TURNS + 3);
    for (uint32_t i = 0; i < 11; i++)
        CHECK_STATUS(coll_request_free(&requests[0][i]), COLL_OK);
    CHECK_STATUS(coll_comm_free(&comms[0]), COLL_ERR_BUSY);
    CHECK_STATUS(coll_request_free(&requests[1][3]), COLL_OK);
    CHECK_STATUS(coll_comm_free(&of_dup), COLL_OK);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_STATUS(coll_request_free(&requests[1][i]), COLL_OK);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_STATUS(coll_comm_free(&dup[i]), COLL_OK);
    loopback_end();
}

/* Calls of a communicator and of those made from it, blocking and persistent, do not meet. */
TEST(persistent_calls_do_not_meet)
{
    coll_comm dup[P][2];
    begin(TAGS);
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t k = 0; k < 3; k++) {
            coll_comm *const comm = k < 2 ? &dup[r][k] : &comms[r];
            if (k < 2)
                CHECK_STATUS(coll_comm_dup(comm, &comms[r], 6), COLL_OK);
            for (uint32_t i = 3 * k; i < 3 * k + 3; i++) {
                in[r][i] = 1000 * r + i;
                CHECK_STATUS(coll_allreduce_init(comm, &in[r][i], &out[r][i], 1, COLL_U32,
                                                 COLL_SUM, &requests[r][i]),
                             COLL_OK);
            }
            CHECK_STATUS(sum(comm, r, 9 + k), COLL_OK);
        }
    for (uint32_t r = 0; r < P; r++) /* each rank in another order */
        for (uint32_t i = 0; i < 9; i++)
            CHECK_STATUS(coll_start(&requests[r][(i << r) % 9]), COLL_OK);
    for (uint32_t i = 12; i-- > 0;)
        all_end(i);
    for (uint32_t r = 0; r < P; r++) {
        for (uint32_t i = 0; i < 9; i++)
            CHECK_STATUS(coll_request_free(&requests[r][i]), COLL_OK);
        for (uint32_t k = 0; k < 2; k++)
            CHECK_STATUS(coll_comm_free(&dup[r][k]), COLL_OK);
    }
    loopback_end();
}

/* ---- failure ----------------------------------------------------------------------------- */

/* A communicator fails on rank 0: its calls of all kinds end on all ranks. That from which it was
 * made, and those that were made from it before, go on. */
TEST(relatives_go_on)
{
    enum { RUNS, WAITS, LATER, PARENT, OLDER, YOUNGER, OTHERS };
    coll_comm it[P], child[P][4];
    begin(1000);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_dup(&it[r], &comms[r], 60), COLL_OK);
        for (uint32_t k = 0; k < 3; k++)
            CHECK_STATUS(coll_comm_dup(&child[r][k], &it[r], 5), COLL_OK);
        CHECK_STATUS(coll_comm_free(&child[r][1]), COLL_OK);
        CHECK_STATUS(sum(&it[r], r, RUNS), COLL_OK);
        CHECK_STATUS(coll_barrier_init(&it[r], &requests[r][WAITS]), COLL_OK);
        CHECK_STATUS(sum(&child[r][0], r, OLDER), COLL_OK);
        CHECK_STATUS(sum(&comms[r], r, PARENT), COLL_OK);
    }
    CHECK_STATUS(coll_start(&requests[1][WAITS]), COLL_OK);
    CHECK_STATUS(coll_comm_abort(&it[0], COLL_ERR_FORMAT), COLL_OK);
    CHECK_STATUS(coll_comm_abort(&it[0], COLL_ERR_IO), COLL_OK); /* it has failed before */
    CHECK_STATUS(coll_wait(&requests[0][RUNS]), COLL_ERR_FORMAT);
    CHECK_STATUS(sum(&it[0], 0, LATER), COLL_ERR_FORMAT);
    CHECK_STATUS(coll_start(&requests[0][WAITS]), COLL_ERR_FORMAT);
    CHECK_STATUS(coll_barrier_init(&it[0], &requests[0][LATER]), COLL_ERR_FORMAT);
    CHECK_STATUS(coll_comm_dup(&child[0][1], &it[0], 5), COLL_ERR_FORMAT);

    /* what the others make of it before they learn of that: where one was freed, below all, … */
    for (uint32_t r = 1; r < P; r++) {
        CHECK_STATUS(coll_comm_dup(&child[r][1], &it[r], 5), COLL_OK);
        CHECK_STATUS(sum(&child[r][1], r, OTHERS), COLL_ERR_PEER);
        CHECK_STATUS(coll_comm_dup(&child[r][3], &it[r], 5), COLL_OK);
        CHECK_STATUS(sum(&child[r][3], r, OTHERS), COLL_ERR_PEER);
        for (uint32_t i = 0; i < 4; i++) {
            CHECK_STATUS(coll_barrier_init(&it[r], &requests[r][OTHERS + i]), COLL_OK);
            CHECK_STATUS(it[r].status, COLL_OK);
        }
    }
    CHECK_STATUS(coll_start(&requests[2][OTHERS + 3]), COLL_ERR_PEER);
    CHECK_STATUS(coll_start(&requests[2][OTHERS + 2]), COLL_ERR_PEER);
    CHECK_STATUS(ends_with(1, WAITS), COLL_ERR_PEER);
    for (uint32_t r = 1; r < P; r++) {
        CHECK_STATUS(ends_with(r, RUNS), COLL_ERR_PEER);
        CHECK_STATUS(sum(&it[r], r, LATER), COLL_ERR_PEER);
        for (uint32_t i = 0; i < 4; i++)
            CHECK_STATUS(coll_request_free(&requests[r][OTHERS + i]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&child[r][1]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&child[r][3]), COLL_OK);
    }
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(sum(&child[r][2], r, YOUNGER), COLL_OK);
    for (uint32_t i = PARENT; i <= YOUNGER; i++)
        all_end(i);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_request_free(&requests[r][WAITS]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&child[r][0]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&child[r][2]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&it[r]), COLL_OK);
        CHECK_STATUS(sum(&comms[r], r, OTHERS), COLL_OK);
    }
    all_end(OTHERS);
    loopback_end();
}

static unsigned aborted[TAGS], ranges;

static void marked_abort(void *ctx, uint32_t first, uint32_t tags)
{
    CHECK(tags > 0);
    ranges++;
    for (uint32_t i = first; i < first + tags; i++)
        if (CHECK(i < TAGS))
            aborted[i]++;
    coll_loopback_transport.failure->abort(ctx, first, tags);
}

/* What is aborted is every tag of a communicator once, and none of those that were made from it. */
TEST(whose_tags_are_aborted)
{
    for (unsigned gone = 0; gone < 8; gone++) { /* which of three that were made from it are */
        coll_comm it, sub[3];
        begin(TAGS);
        own.failure.abort = marked_abort;
        memset(aborted, 0, sizeof aborted);
        ranges = 0;
        CHECK_STATUS(coll_comm_dup(&it, &comms[0], 20), COLL_OK);
        for (unsigned k = 0; k < 3; k++)
            CHECK_STATUS(coll_comm_dup(&sub[k], &it, 2 + k), COLL_OK);
        for (unsigned k = 0; k < 3; k++)
            if (gone & 1u << k)
                CHECK_STATUS(coll_comm_free(&sub[k]), COLL_OK);
        CHECK_STATUS(coll_comm_abort(&it, COLL_ERR_IO), COLL_OK);
        for (uint32_t i = 0; i < TAGS; i++) {
            bool its = i >= it.first_tag && i < it.first_tag + 20;
            for (unsigned k = 0; k < 3; k++)
                if (!(gone & 1u << k) && i >= sub[k].first_tag && i < sub[k].first_tag + 2 + k)
                    its = false;
            CHECK_EQ(aborted[i], its ? 1 : 0);
        }
        CHECK(ranges <= 3);
        for (unsigned k = 0; k < 3; k++)
            if (!(gone & 1u << k))
                CHECK_STATUS(coll_comm_free(&sub[k]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&it), COLL_OK);
        loopback_end();
    }
    begin(0); /* the one that a transport without tags has */
    own.failure.abort = marked_abort;
    memset(aborted, 0, sizeof aborted);
    CHECK_STATUS(coll_comm_abort(&comms[0], COLL_ERR_IO), COLL_OK);
    CHECK_EQ(aborted[0], 1);
    CHECK_EQ(aborted[1], 0);
    loopback_end();
}

/* A call that runs when its communicator fails otherwise ends for that reason, on all ranks. */
TEST(calls_of_one_that_fails_otherwise)
{
    begin(TAGS);
    for (uint32_t r = 0; r < 2; r++)
        CHECK_STATUS(sum(&comms[r], r, 0), COLL_OK);
    CHECK_STATUS(coll_comm_create(NULL, &comms[0], &comms[0].group, P, 2), COLL_ERR_NULL);
    CHECK_STATUS(ends_with(0, 0), COLL_ERR_NULL);
    CHECK_STATUS(ends_with(1, 0), COLL_ERR_PEER);
    CHECK_STATUS(sum(&comms[2], 2, 0), COLL_ERR_PEER);
    loopback_end();
}

/* A call that was started cannot be started before it has been waited for, whether it is queued, runs
 * or is done. */
TEST(started_twice)
{
    begin(1);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_STATUS(coll_ibarrier(&comms[0], &requests[0][i]), COLL_OK);
    CHECK_STATUS(coll_start(&requests[0][1]), COLL_ERR_STATE);
    CHECK_STATUS(comms[0].status, COLL_ERR_STATE);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_STATUS(coll_wait(&requests[0][i]), COLL_ERR_STATE);
    loopback_end();
    for (uint32_t n = 1; n <= P; n += P - 1) { /* ranks that have started theirs */
        begin(TAGS);
        for (uint32_t r = 0; r < P; r++)
            CHECK_STATUS(coll_barrier_init(&comms[r], &requests[r][0]), COLL_OK);
        for (uint32_t r = 0; r < n; r++)
            CHECK_STATUS(coll_start(&requests[r][0]), COLL_OK);
        for (unsigned round = 0; round < 100; round++)
            coll_progress(&comms[round % P]);
        CHECK(requests[0][0].state == (n == 1 ? COLL_REQUEST_RUNNING : COLL_REQUEST_DONE));
        CHECK_STATUS(coll_request_free(&requests[0][0]), COLL_ERR_BUSY);
        CHECK_STATUS(coll_start(&requests[0][0]), COLL_ERR_STATE);
        CHECK_STATUS(comms[0].status, COLL_ERR_STATE);
        CHECK_STATUS(coll_wait(&requests[0][0]), n == P ? COLL_OK : COLL_ERR_STATE);
        CHECK_STATUS(coll_start(&requests[0][0]),
                     COLL_ERR_STATE); /* its communicator has failed */
        for (uint32_t r = 1; r < n; r++)
            CHECK_STATUS(coll_wait(&requests[r][0]), COLL_OK);
        for (uint32_t r = 0; r < P; r++)
            CHECK_STATUS(coll_request_free(&requests[r][0]), COLL_OK);
        loopback_end();
    }
}

/* Without tags all communicators have the same one, and fail together. */
TEST(one_tag_for_all)
{
    coll_comm dup[P];
    begin(0);
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_dup(&dup[r], &comms[r], 0), COLL_OK);
    CHECK_STATUS(sum(&comms[1], 1, 0), COLL_OK);
    CHECK_STATUS(coll_comm_abort(&dup[0], COLL_OK), COLL_OK); /* which is no error */
    CHECK_STATUS(coll_barrier(&dup[0]), COLL_ERR_CANCELLED);
    CHECK_STATUS(ends_with(1, 0), COLL_ERR_PEER);
    CHECK_STATUS(coll_barrier(&comms[2]), COLL_ERR_PEER);
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_free(&dup[r]), COLL_OK);
    loopback_end();
}

/* Over a transport that cannot abort this rank's calls end, and only those. */
TEST(without_abort)
{
    begin(10);
    own.failure.abort = NULL;
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < 7; i++) /* two are queued behind others */
            CHECK_STATUS(sum(&comms[r], r, i), COLL_OK);
    CHECK_STATUS(coll_comm_abort(NULL, COLL_ERR_IO), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_abort(&comms[1], COLL_ERR_IO), COLL_OK);
    for (uint32_t i = 0; i < 7; i++)
        CHECK_STATUS(coll_wait(&requests[1][i]), COLL_ERR_IO);
    CHECK_STATUS(ends_with(0, 0), COLL_AGAIN);
    for (uint32_t r = 0; r < P; r += 2) {
        CHECK_STATUS(coll_cancel(&requests[r][6]), COLL_OK); /* which is queued */
        for (uint32_t i = 0; i < 7; i++)
            CHECK_STATUS(coll_wait(&requests[r][i]), COLL_ERR_CANCELLED);
    }
    loopback_end();
    CHECK_STATUS(coll_comm_abort(&comms[1], COLL_ERR_IO), COLL_ERR_RANK);
}

int main(void)
{
    RUN(youngest_first);
    RUN(how_many_go_round);
    RUN(who_has_which);
    RUN(persistent_calls_do_not_meet);
    RUN(relatives_go_on);
    RUN(whose_tags_are_aborted);
    RUN(calls_of_one_that_fails_otherwise);
    RUN(started_twice);
    RUN(one_tag_for_all);
    RUN(without_abort);
    return check_done();
}
