/* node/spread.h: which rank moves, and where to; and that a thread that moved may run where it might before. */
#include "support/check.h"

#include "coll/transports/threads.h"

enum { P = 5 };

static coll_i_node_rank ranks[P];
static uint32_t cpus[P];

static void place(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
    const uint32_t at[P] = {a, b, c, d, e};
    memset(ranks, 0, sizeof ranks);
    for (uint32_t r = 0; r < P; r++) {
        cpus[r] = at[r];
        ranks[r].rank = r;
        ranks[r].p = P;
        ranks[r].cpus = cpus;
    }
}

/* Where rank r is to move, of processors 1, 2, 3 and 70. */
static uint32_t emptier(uint32_t r)
{
    const uint64_t set[COLL_PROCESSORS_WORDS] = {7, 1 << (70 - 65)};
    return coll_i_node_emptier(&ranks[r], set);
}

TEST(who_moves)
{
    place(1, 2, 3, 70, 0); /* all are apart */
    for (uint32_t r = 0; r < P - 1; r++)
        CHECK(emptier(r) == 0);
    place(1, 1, 2, 2, 3); /* 70 is left, for the higher of two */
    CHECK(emptier(0) == 0 && emptier(1) == 70);
    CHECK(emptier(2) == 0 && emptier(3) == 70);
    CHECK(emptier(4) == 0);
    place(1, 1, 0, 0, 0); /* the nearest */
    CHECK(emptier(0) == 0 && emptier(1) == 2);
    place(70, 70, 1, 2, 0);
    CHECK(emptier(1) == 3);
    place(2, 2, 2, 1, 1); /* one less is not enough */
    CHECK(emptier(2) == 3);
    place(2, 2, 3, 1, 70);
    for (uint32_t r = 0; r < P; r++)
        CHECK(emptier(r) == 0);
    place(3, 3, 3, 3, 3);
    for (uint32_t r = 0; r < P; r++)
        CHECK(emptier(r) == (r == P - 1 ? 2u : 0u));
    place(9, 9, 0, 0, 0); /* where it may not run any more: it is about to be moved */
    CHECK(emptier(1) == 3);
}

#if defined(SYS_sched_setaffinity)
TEST(moves)
{
    uint64_t usual[COLL_PROCESSORS_WORDS] = {0}, after[COLL_PROCESSORS_WORDS] = {0};
    uint32_t here, there;
    CHECK(syscall(SYS_sched_getaffinity, 0l, sizeof usual, usual) > 0);
    if (coll_processors_count(usual) < 2)
        return;
    here = coll_i_node_processor();
    place(here, here, 0, 0, 0);
    coll_i_node_spread(&ranks[0]); /* the lower one stays */
    CHECK(cpus[0] == here && cpus[1] == here);
    coll_i_node_spread(&ranks[1]);
    there = cpus[1];
    CHECK(there != here && there != 0 && cpus[0] == here);
    CHECK(usual[(there - 1) / 64] >> (there - 1) % 64 & 1);
    CHECK(syscall(SYS_sched_getaffinity, 0l, sizeof after, after) > 0);
    CHECK(memcmp(usual, after, sizeof usual) == 0);
    cpus[1] = 0; /* nobody knows where it is */
    ranks[1].spread = 0;
    coll_i_node_spread(&ranks[1]);
    CHECK(cpus[1] == 0);
}
#endif

int main(void)
{
    RUN(who_moves);
#if defined(SYS_sched_setaffinity)
    RUN(moves);
#endif
    return check_done();
}
