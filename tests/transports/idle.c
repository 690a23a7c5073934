/* transports/idle.h: processors, and a wait that returns whatever comes. How long it takes is not
 * looked at. */
#include "coll/transports/idle.h"
#include "support/check.h"

TEST(sets_of_processors)
{
    uint64_t set[COLL_PROCESSORS_WORDS] = {0};
    uint32_t mine;
    CHECK_EQ(coll_processors_count(set), 0);
    coll_processors_add(set);
    mine = coll_processors_count(set);
    CHECK(mine >= 1 && mine <= 64 * COLL_PROCESSORS_WORDS);
    coll_processors_add(set);
    CHECK_EQ(coll_processors_count(set), mine);
    for (uint32_t i = 0; i < COLL_PROCESSORS_WORDS; i++)
        set[i] = i == 0 ? 5 : i == COLL_PROCESSORS_WORDS - 1 ? (uint64_t)1 << 63 : 0;
    CHECK_EQ(coll_processors_count(set), 3);
}

/* It spins only where each rank can have a processor. */
TEST(spinning)
{
    uint64_t set[COLL_PROCESSORS_WORDS] = {0};
    uint32_t mine;
    coll_idle waiting;
    coll_processors_add(set);
    mine = coll_processors_count(set);
    coll_idle_init(&waiting, mine);
    CHECK(waiting.spins > 0 && waiting.yields > 0);
    coll_idle_init(&waiting, mine + 1);
    CHECK(waiting.spins == 0 && waiting.yields > 0);
}

/* Each way of waiting comes back: with nothing to look at, with what is readable, and what is not. */
TEST(comes_back)
{
    coll_idle waiting = {2, 3};
    char byte = 0;
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    for (uint32_t idle = 0; idle < 8; idle++) {
        coll_idle_wait(&waiting, idle, -1);
        coll_idle_wait(&waiting, idle, ends[0]);
    }
    coll_idle_wait(&waiting, UINT32_MAX, ends[0]);
    CHECK_EQ(write(ends[1], &byte, 1), 1);
    coll_idle_wait(&waiting, 6, ends[0]);
    CHECK_EQ(read(ends[0], &byte, 1), 1); /* it is left there */
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* Other processes know this machine by the same number. */
TEST(this_machine)
{
    const uint64_t mine = coll_machine();
    uint64_t its = 1;
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    if (fork() == 0) {
        its = coll_machine();
        _exit(write(ends[1], &its, sizeof its) != (ssize_t)sizeof its);
    }
    CHECK_EQ(read(ends[0], &its, sizeof its), (ssize_t)sizeof its);
    CHECK(its == mine);
#if defined(__linux__)
    CHECK(mine != 0);
#endif
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

int main(void)
{
    RUN(sets_of_processors);
    RUN(spinning);
    RUN(comes_back);
    RUN(this_machine);
    return check_done();
}
