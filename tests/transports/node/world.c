/* node/world.h: which processors ranks may run on, and whether they are enough. */
#include "support/check.h"

#include "coll/transports/threads.h"
#include "support/processes.h"

static uint64_t allowed[COLL_PROCESSORS_WORDS]; /* when the test begins */

static uint32_t count(const uint64_t *set)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < COLL_PROCESSORS_WORDS * 64; i++)
        n += set[i / 64] >> i % 64 & 1;
    return n;
}

/* The n-th processor of those allowed, as a set. */
static void nth(uint32_t n, uint64_t *set)
{
    memset(set, 0, COLL_PROCESSORS_WORDS * sizeof *set);
    for (uint32_t i = 0; i < COLL_PROCESSORS_WORDS * 64; i++)
        if (allowed[i / 64] >> i % 64 & 1 && n-- == 0)
            set[i / 64] |= (uint64_t)1 << i % 64;
}

/* Lets this thread run on no other processors. */
static void run_on(const uint64_t *set)
{
    CHECK(syscall(SYS_sched_setaffinity, 0l, COLL_PROCESSORS_WORDS * sizeof *set, set) == 0);
}

TEST(sets)
{
    uint64_t one[COLL_PROCESSORS_WORDS], seen[COLL_PROCESSORS_WORDS] = {0};
    coll_processors_add(allowed);
    CHECK(count(allowed) > 0);
    for (uint32_t n = 0; n < 2 && n < count(allowed); n++) {
        nth(n, one);
        run_on(one);
        coll_processors_add(seen);
        CHECK(count(seen) == n + 1);
    }
    run_on(allowed);
}

TEST(enough)
{
    coll_i_node_rank me = {0};
    coll_node_costs costs = coll_node_costs_usual();
    uint64_t set[COLL_PROCESSORS_WORDS] = {0};
    set[0] = 5;
    set[COLL_PROCESSORS_WORDS - 1] = (uint64_t)1 << 63;
    me.p = 3;
    coll_i_node_settle(&me, set, &costs);
    CHECK(!me.oversubscribed);
    me.p = 4;
    coll_i_node_settle(&me, set, &costs);
    CHECK(me.oversubscribed);
    costs.yield_ns = 1000; /* how long it looks is a matter of time */
    costs.look_ns = 10;
    coll_i_node_settle(&me, set, &costs);
    CHECK(me.spins == 200 && me.patience == 15000);
    me.p = 3;
    coll_i_node_settle(&me, set, &costs);
    CHECK_EQ(me.spins, 110);
}

TEST(threads)
{
    uint64_t one[COLL_PROCESSORS_WORDS];
    nth(0, one);
    run_on(one);
    for (uint32_t p = 1; p <= 2; p++) {
        coll_threads *world = coll_threads_create(p);
        CHECK(world && coll_threads_is_oversubscribed(world) == (p > 1));
        coll_threads_destroy(world);
    }
    run_on(allowed);
}

/* Two ranks, each bound to a processor: to one of its own, or both to the first. */
TEST(ranks_that_are_bound)
{
    for (uint32_t apart = 0; apart < 2 && apart < count(allowed); apart++) {
        const int fd = coll_shm_create(NULL, 2, 0, NULL);
        pthread_t thread[2];
        coll_shm *end[2];
        for (uint32_t r = 0; r < 2; r++) {
            uint64_t one[COLL_PROCESSORS_WORDS];
            nth(r * apart, one);
            run_on(one);
            end[r] = coll_shm_attach(fd, r, 2, 0, NULL);
            CHECK(end[r]);
        }
        run_on(allowed);
        (void)close(fd);
        for (uint32_t r = 0; r < 2; r++)
            CHECK(pthread_create(&thread[r], NULL, ends_join, end[r]) == 0);
        for (uint32_t r = 0; r < 2; r++) {
            void *joined;
            CHECK(pthread_join(thread[r], &joined) == 0 && joined);
            CHECK(coll_shm_is_oversubscribed(end[r]) == (apart == 0));
        }
        ends_free(end, 2);
    }
}

int main(void)
{
    RUN(sets);
    RUN(enough);
    RUN(threads);
    RUN(ranks_that_are_bound);
    return check_done();
}
