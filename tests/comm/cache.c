/* What a communicator keeps of its calls (coll/comm/prepared.h): memory that the caller gives it,
 * or none; shared by those made from it. */
#include "support/comm_loopback.h"

enum { MESSAGES = 64 };

static coll_request requests[P];

static void begin(void)
{
    loopback_begin(MESSAGES, coll_loopback_transport.tags, 0xA5);
}

static void finish(void)
{
    bool open[P] = {true, true, true};
    for (unsigned round = 0; round < 1000; round++)
        for (uint32_t r = 0; r < P; r++)
            open[r] = open[r] && coll_test(&requests[r]) == COLL_AGAIN;
    CHECK(!open[0] && !open[1] && !open[2]);
}

/* An allreduce of `count` ones on communicators of all ranks; on how many of them was it in the
 * cache? */
static unsigned sum(coll_comm *all, size_t count)
{
    static double x[P][64], y[P][64];
    unsigned known = 0;
    for (uint32_t r = 0; r < P; r++) {
        for (size_t i = 0; i < count; i++)
            x[r][i] = 1;
        CHECK_STATUS(
            coll_iallreduce(&all[r], x[r], y[r], count, COLL_F64, COLL_SUM, &requests[r]),
            COLL_OK);
        known += coll_request_plan(&requests[r]) != &requests[r].own.plan;
    }
    finish();
    for (uint32_t r = 0; r < P; r++)
        for (size_t i = 0; i < count; i++)
            CHECK(y[r][i] == P);
    return known;
}

TEST(a_communicator_is_small)
{
    CHECK(sizeof(void *) > 8 || sizeof(coll_comm) < 2048);
    CHECK_EQ(COLL_CACHE_BYTES(3) - COLL_CACHE_BYTES(2), sizeof(coll_cache_entry));
}

/* Calls are the same with a cache, without one, and with one that is no more than a call,
 * wherever it begins. */
TEST(any_memory)
{
    static unsigned char memory[P][COLL_CACHE_BYTES(2) + 16];
    begin();
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_set_cache(&comms[r], NULL, 0), COLL_OK);
    for (size_t i = 0; i < 6; i++)
        CHECK_EQ(sum(comms, 1 + i % 2), 0);
    for (size_t skip = 0; skip < 16; skip++) {
        for (uint32_t r = 0; r < P; r++) {
            CHECK_STATUS(coll_comm_set_cache(&comms[r], memory[r] + skip, COLL_CACHE_BYTES(1)),
                         COLL_OK);
            CHECK_EQ(comms[r].cache.n, 1);
            CHECK_EQ((uintptr_t)comms[r].cache.entries % sizeof(void *), 0);
        }
        CHECK_EQ(sum(comms, 1), 0);
        CHECK_EQ(sum(comms, 1), P);
        CHECK_EQ(sum(comms, 2), 0); /* in its place */
        CHECK_EQ(sum(comms, 1), 0);
    }
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_set_cache(&comms[r], memory[r], sizeof(coll_cache_entry) - 1),
                     COLL_OK);
        CHECK_EQ(comms[r].cache.n, 0);
    }
    CHECK_STATUS(coll_comm_set_cache(NULL, memory, sizeof memory), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_set_cache(&comms[0], NULL, 1), COLL_ERR_NULL);
    loopback_end();
}

/* As many calls as there are entries behind each other are there together, in whatever order. */
TEST(calls_in_turn)
{
    enum { WAYS = 4 };
    unsigned again = 0, missed = 0;
    begin();
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_set_cache(&comms[r], caches[r], COLL_CACHE_BYTES(WAYS)),
                     COLL_OK);
    for (size_t i = 0; i < 5 * WAYS; i++)
        again += sum(comms, 1 + i * 3 % WAYS);
    CHECK_EQ(again, 4 * WAYS * P);
    for (size_t i = 0; i < 40; i++) /* one too many */
        missed += P - sum(comms, 1 + i % (WAYS + 1));
    CHECK(missed > 0);
    loopback_end();
}

/* Those made from a communicator share its cache, and know their own calls there. */
TEST(shared_by_communicators)
{
    static coll_comm dup[P];
    static unsigned char shared[P][COLL_CACHE_BYTES(2)];
    begin();
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_dup(&dup[r], &comms[r], 8), COLL_OK);
        CHECK_STATUS(
            coll_comm_set_algorithm(&dup[r], COLL_ALLREDUCE, &coll_linear_allreduce, NULL),
            COLL_OK);
    }
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(sum(comms, 3), i == 0 ? 0 : P);
        CHECK(coll_request_plan(&requests[0])->algorithm != &coll_linear_allreduce);
        CHECK_EQ(sum(dup, 3), i == 0 ? 0 : P);
        CHECK(coll_request_plan(&requests[0])->algorithm == &coll_linear_allreduce);
    }
    for (uint32_t r = 0; r < P; r++) /* forgets its own */
        CHECK_STATUS(coll_comm_rules(&comms[r], NULL), COLL_OK);
    CHECK_EQ(sum(dup, 3), P);
    CHECK_EQ(sum(comms, 3), 0);
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_set_cache(&dup[r], shared[r], sizeof shared[r]), COLL_OK);
    CHECK_EQ(sum(dup, 3), 0);
    CHECK_EQ(sum(dup, 3), P);
    CHECK_EQ(sum(comms, 3), P);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_free(&dup[r]), COLL_OK);
        CHECK_STATUS(coll_comm_dup(&dup[r], &comms[r], 8), COLL_OK);
    }
    CHECK_EQ(sum(dup, 3), 0);
    CHECK_EQ(sum(dup, 3), P);
    for (uint32_t r = 0; r < P;
         r++) { /* what it left there is not the next one's at its place */
        CHECK_STATUS(coll_comm_free(&dup[r]), COLL_OK);
        CHECK_STATUS(coll_comm_dup(&dup[r], &comms[r], 8), COLL_OK);
    }
    CHECK_EQ(sum(dup, 3), 0);
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_free(&dup[r]), COLL_OK);
    loopback_end();
}

/* A cache by which calls run stays, and so do their entries, though others come and go, and the
 * choice of algorithms may change. */
TEST(in_use)
{
    enum { CALLS = 8, HELD = 0 }; /* of 1, 2 … elements */
    static coll_request calls[P][CALLS];
    static double x[P][CALLS], y[P][CALLS][CALLS];
    begin();
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_set_cache(&comms[r], caches[r], COLL_CACHE_BYTES(2)), COLL_OK);
    CHECK_EQ(sum(comms, 1), 0);
    for (uint32_t r = 0; r < P; r++) { /* none ends before the last rank makes them */
        for (size_t i = 0; i < CALLS; i++) {
            x[r][i] = r + 1;
            if (i == 5)
                CHECK_STATUS(coll_comm_rules(&comms[r], NULL), COLL_OK);
            CHECK_STATUS(coll_iallreduce(&comms[r], x[r], y[r][i], 1 + i, COLL_F64, COLL_SUM,
                                         &calls[r][i]),
                         COLL_OK);
        }
        CHECK(calls[r][HELD].engine.task.plan != &calls[r][HELD].own.plan);
        CHECK(r == P - 1 || calls[r][HELD].prepared->users == 1);
        CHECK(r == P - 1 || coll_comm_set_cache(&comms[r], NULL, 0) == COLL_ERR_BUSY);
        CHECK_EQ(coll_request_plan(&calls[r][HELD])->problem.count, 1);
    }
    for (size_t i = 0; i < CALLS; i++) {
        for (unsigned round = 0; round < 1000; round++)
            for (uint32_t r = 0; r < P; r++)
                if (coll_test(&calls[r][i]) < 0)
                    CHECK(false);
        for (uint32_t r = 0; r < P; r++)
            for (size_t k = 0; k <= i; k++)
                CHECK(y[r][i][k] == 6);
    }
    for (uint32_t r = 0; r < P; r++)
        CHECK_STATUS(coll_comm_set_cache(&comms[r], NULL, 0), COLL_OK);
    loopback_end();
}

/* Persistent calls have what was prepared for them, and leave the cache to others. */
TEST(persistent_calls_have_their_own)
{
    static const double x[P] = {1, 2, 3};
    static double y[P];
    begin();
    CHECK_EQ(sum(comms, 1), 0);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(
            coll_allreduce_init(&comms[r], &x[r], &y[r], 1, COLL_F64, COLL_SUM, &requests[r]),
            COLL_OK);
        CHECK(requests[r].prepared == &requests[r].own);
        CHECK_STATUS(coll_comm_set_cache(&comms[r], NULL, 0), COLL_OK);
        CHECK_STATUS(coll_start(&requests[r]), COLL_OK);
    }
    finish();
    for (uint32_t r = 0; r < P; r++) {
        CHECK(y[r] == 6);
        CHECK_STATUS(coll_request_free(&requests[r]), COLL_OK);
    }
    loopback_end();
}

int main(void)
{
    RUN(a_communicator_is_small);
    RUN(any_memory);
    RUN(calls_in_turn);
    RUN(shared_by_communicators);
    RUN(in_use);
    RUN(persistent_calls_have_their_own);
    return check_done();
}
