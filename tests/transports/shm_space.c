/* The transport of processes: memory of the segment that programs ask for. */
#include "support/check.h"

#include <string.h>

#include "support/chance.h"
#include "coll/comm.h"
#include "support/pages.h"
#include "support/processes.h"

enum { PAGE = COLL_I_IPC_PAGE };

static unsigned char *take(coll_shm *shm, size_t bytes, unsigned char first)
{
    unsigned char *const memory = (unsigned char *)coll_shm_alloc(shm, bytes);
    if (CHECK(memory != NULL))
        for (size_t i = 0; i < bytes; i++)
            memory[i] = (unsigned char)(first + i % 251);
    return memory;
}

static bool holds(const unsigned char *memory, size_t bytes, unsigned char first)
{
    size_t i = 0;
    while (i < bytes && memory[i] == (unsigned char)(first + i % 251))
        i++;
    return i == bytes;
}

/* Bytes of the segment that are there. */
static uint64_t held(const coll_shm *shm)
{
    struct stat its;
    CHECK(fstat(shm->fd, &its) == 0);
    return (uint64_t)its.st_blocks * 512;
}

/* Can nobody read at an address, and does nothing come to lie there by itself? */
static bool is_held(void *memory)
{
    void *const other = mmap(memory, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int ends[2];
    bool readable;
    if (!CHECK(other != MAP_FAILED && munmap(other, PAGE) == 0 && pipe(ends) == 0))
        return false;
    readable = write(ends[1], memory, 1) == 1;
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    return other != memory && !readable;
}

/* What is free in a row is given out again, whole or in parts, whatever was freed first. */
TEST(space_is_used_again)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    coll_shm *end[2];
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        unsigned char *const before = take(end[0], 100, 1), *part[3], *whole, *after;
        for (unsigned k = 0; k < 3; k++)
            part[k] = take(end[0], PAGE * (k + 1), 2);
        after = take(end[0], PAGE, 3);
        for (unsigned k = 0; k < 3; k++)
            CHECK(coll_shm_free(end[0], part[orders[i][k]]));
        whole = take(end[0], 5 * PAGE + 1, 4);
        CHECK(whole == part[0] && part[2] == part[0] + 3 * PAGE);
        CHECK(holds(before, 100, 1) && holds(after, PAGE, 3));
        CHECK(coll_shm_free(end[0], whole));
        for (unsigned k = 3; k-- > 0;) /* the rest of each is there for the next */
            CHECK(take(end[0], PAGE * (k + 1), 5) == whole + PAGE * (k == 2   ? 0
                                                                     : k == 1 ? 3
                                                                              : 5));
        CHECK(holds(before, 100, 1) && holds(after, PAGE, 3));
        CHECK(coll_shm_free(end[0], whole) && coll_shm_free(end[0], whole + 3 * PAGE) &&
              coll_shm_free(end[0], whole + 5 * PAGE));
        CHECK(coll_shm_free(end[0], before) && coll_shm_free(end[0], after));
    }
    ends_free(end, 2);
}

/* Only what this rank has, and once. */
TEST(what_is_not_freed)
{
    coll_shm *end[2];
    unsigned char *mine, *its, *next, private_one[8];
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    CHECK(!coll_shm_free(end[0], private_one));
    mine = take(end[0], 2 * PAGE, 1);
    its = take(end[1], PAGE, 2);
    next = take(end[0], PAGE, 3);
    CHECK(coll_shm_free(end[0], NULL) && coll_shm_free(end[1], NULL));
    CHECK(!coll_shm_free(end[0], mine + 1) && !coll_shm_free(end[0], mine + PAGE) &&
          !coll_shm_free(end[0], mine - PAGE) && !coll_shm_free(end[0], private_one));
    CHECK(!coll_shm_free(end[0], end[0]->segment) && !coll_shm_free(end[1], its + PAGE));
    CHECK(!coll_shm_free(end[0], (unsigned char *)end[0]->segment +
                                     (its - (unsigned char *)end[1]->segment)));
    CHECK(coll_shm_free(end[0], mine) && !coll_shm_free(end[0], mine));
    CHECK(holds(its, PAGE, 2) && holds(next, PAGE, 3));
    CHECK(take(end[0], 3 * PAGE, 4) > next); /* the other rank's page lies between */
    CHECK(take(end[0], 2 * PAGE, 4) == mine);
    ends_free(end, 2);
}

/* Pages of long free blocks go back to the system, and the last addresses to all ranks. */
TEST(space_goes_back)
{
    const size_t kept = COLL_SHM_KEPT;
    coll_shm *end[2];
    uint64_t before, from;
    unsigned char *one, *two;
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    before = held(end[0]);
    from = end[0]->segment->space;
    one = take(end[0], kept, 1);
    two = take(end[1], kept, 2);
    CHECK(held(end[0]) >= before + 2 * kept);
    CHECK(coll_shm_free(end[0], one)); /* not longer, so it stays */
    CHECK(held(end[0]) >= before + 2 * kept);
    CHECK(take(end[0], kept, 3) == one && coll_shm_free(end[0], one));
    CHECK(coll_shm_free(end[1], two));
    CHECK_EQ(end[0]->segment->space, from + 2 * kept);
    one = take(end[0], kept + 1, 4); /* does not fit, … */
    CHECK_EQ((uintptr_t)one - end[0]->node.base, from + 2 * kept);
    CHECK(coll_shm_free(end[0], one)); /* … and what follows is free now: nothing stays of it */
    CHECK_EQ(end[0]->segment->space, from + 2 * kept);
    CHECK(held(end[0]) < before + 2 * kept + PAGE);
    two = take(end[1], kept + 1, 5); /* its last block, made longer */
    CHECK_EQ((uintptr_t)two - end[1]->node.base, from + kept);
    CHECK(coll_shm_free(end[1], two));
    CHECK_EQ(end[0]->segment->space, from + kept);
    CHECK(held(end[0]) < before + kept + PAGE);
    one = take(end[0], COLL_HUGE_PAGE, 6); /* two neighbours are longer together */
    two = take(end[0], kept, 7);
    CHECK(coll_shm_free(end[0], two) && coll_shm_free(end[0], one));
    CHECK_EQ(end[0]->segment->space, from);
    CHECK(held(end[0]) < before + PAGE);
    ends_free(end, 2);
}

/* All of what is given out is there, wherever it comes from. */
TEST(space_is_there)
{
    const size_t more = COLL_SHM_KEPT + PAGE;
    coll_shm *end[2];
    uint64_t before;
    unsigned char *one, *two, *guard;
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    CHECK(coll_shm_free(end[0], take(end[0], PAGE, 1)));
    before = held(end[0]);
    one = (unsigned char *)coll_shm_alloc(end[0], more); /* the last block, made longer */
    CHECK(held(end[0]) >= before + more - PAGE);
    two = (unsigned char *)coll_shm_alloc(end[0], PAGE);
    guard = (unsigned char *)coll_shm_alloc(end[0], PAGE);
    CHECK(coll_shm_free(end[0], one) && one && two == one + more && guard == two + PAGE);
    CHECK(held(end[0]) < before + more);
    before = held(end[0]);
    CHECK(coll_shm_alloc(end[0], more - 2 * PAGE) == one); /* a part of it */
    CHECK(held(end[0]) >= before + more - 2 * PAGE);
    CHECK(coll_shm_free(end[0], two)); /* the rest has no pages, but this has one */
    before = held(end[0]);
    CHECK(coll_shm_alloc(end[0], 3 * PAGE) == two - 2 * PAGE);
    CHECK(held(end[0]) >= before + 2 * PAGE);
    ends_free(end, 2);
}

/* Long blocks begin where a huge page may, and have such pages. What lies before them is for short
 * ones. */
TEST(space_in_huge_pages)
{
    const size_t huge = COLL_HUGE_PAGE;
    for (uint32_t ways = ZERO_COPY; ways <= (ZERO_COPY | WHOLE); ways += WHOLE) {
        coll_shm *end[2];
        unsigned char *before, *one, *two, *last;
        long kib;
        if (!CHECK(ends_make(end, 2, 0, ways)))
            return;
        CHECK_EQ((uintptr_t)end[0]->segment % huge, 0);
        before = take(end[0], 3 * PAGE, 1);
        one = take(end[0], 2 * huge + PAGE, 2);
        two = take(end[0], huge, 3);
        last = take(end[0], huge - PAGE, 4);
        CHECK_EQ((uintptr_t)before % huge, 0);
        CHECK(one == before + huge && two == one + 3 * huge && last == two - huge + PAGE);
        kib = huge_kib(one, 2 * huge);
        if (ways & WHOLE && coll_huge_is_possible()) /* unless it has none left */
            CHECK(kib >= 3 * (long)huge / 1024 || !coll_huge_move(one) || !coll_huge_move(two));
        CHECK(holds(before, 3 * PAGE, 1) && holds(one, 2 * huge + PAGE, 2) &&
              holds(two, huge, 3) && holds(last, huge - PAGE, 4));
        CHECK(coll_shm_free(end[0], one));
        CHECK(take(end[0], 3 * huge - 4 * PAGE, 7) == two + huge); /* only too early it fits */
        CHECK(take(end[0], 2 * huge, 5) == before + huge);
        CHECK(coll_shm_free(end[0], two) && coll_shm_free(end[0], last));
        CHECK(take(end[0], 2 * huge, 6) == before + 3 * huge);
        ends_free(end, 2);
    }
}

/* Two ranks take and free at random for long. They never have the same memory, and need not much more
 * than they have at a time. */
TEST(space_for_long)
{
    enum { MOST = 16, LARGEST = 64 * PAGE, STEPS = 20000, BOUND = 4 * 2 * MOST * LARGEST };
    static unsigned char *memory[2][MOST];
    static size_t bytes[2][MOST];
    coll_shm *end[2];
    uint64_t from;
    random_state = 3;
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    from = end[0]->segment->space;
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t rank = chance(2), i = chance(MOST);
        unsigned char **const at = &memory[rank][i];
        const unsigned char mark = (unsigned char)(rank * MOST + i);
        size_t *const n = &bytes[rank][i];
        if (*at) {
            CHECK((*at)[0] == mark && (*at)[*n / 2] == mark && (*at)[*n - 1] == mark);
            CHECK(coll_shm_free(end[rank], *at));
            *at = NULL;
        } else {
            *n = 1 + chance(1 + chance(LARGEST));
            *at = (unsigned char *)coll_shm_alloc(end[rank], *n);
            if (!CHECK(*at != NULL))
                break;
            (*at)[0] = (*at)[*n / 2] = (*at)[*n - 1] = mark;
        }
    }
    CHECK(end[0]->segment->space - from <= BOUND);
    ends_free(end, 2);
    memset(memory, 0, sizeof memory);
}

/* Memory that is freed for a little more each time: the last block grows. */
TEST(space_for_more)
{
    enum { STEPS = 2000 };
    coll_shm *end[2];
    uint64_t from;
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    from = end[0]->segment->space;
    for (size_t n = 1; n <= STEPS; n++) {
        unsigned char *const memory = (unsigned char *)coll_shm_alloc(end[0], n * PAGE);
        if (CHECK(memory != NULL))
            memory[0] = memory[n * PAGE - 1] = 1;
        CHECK(coll_shm_free(end[0], memory));
    }
    CHECK(end[0]->segment->space - from <= (uint64_t)STEPS * PAGE);
    ends_free(end, 2);
}

/* What a rank has stays with it when it leaves, and nothing else. */
TEST(space_outlives)
{
    coll_shm *end[2];
    unsigned char *base, *one, *gap, *two;
    uint64_t mapped;
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    base = (unsigned char *)end[0]->segment;
    mapped = end[0]->mapped;
    one = take(end[0], 2 * PAGE, 1);
    gap = take(end[0], PAGE, 2);
    two = take(end[0], PAGE, 3);
    CHECK(coll_shm_free(end[0], gap));
    ends_free(end, 2);
    CHECK(holds(one, 2 * PAGE, 1) && holds(two, PAGE, 3));
    CHECK(is_held(base) && is_held(one - PAGE) && is_held(gap) && is_held(two + PAGE));
    CHECK(is_mapped_of(one, "memfd:coll") && munmap(base, mapped) == 0);
}

/* A child that has parted writes to memory of its own. */
TEST(space_of_children)
{
    coll_shm *end[2];
    unsigned char *one, *two;
    int status = -1;
    pid_t child;
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    one = take(end[0], 3 * PAGE, 1);
    two = take(end[0], COLL_HUGE_PAGE, 2);
    child = fork();
    if (child == 0) {
        bool parted = coll_shm_part(end[0]);
        parted = parted && holds(one, 3 * PAGE, 1) && holds(two, COLL_HUGE_PAGE, 2);
        memset(one, 9, 3 * PAGE);
        memset(two, 9, COLL_HUGE_PAGE);
        _exit(parted && one[PAGE] == 9 && two[PAGE] == 9 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(holds(one, 3 * PAGE, 1) && holds(two, COLL_HUGE_PAGE, 2));
    CHECK(coll_shm_free(end[0], one) && coll_shm_free(end[0], two));
    ends_free(end, 2);
}

int main(void)
{
    RUN(space_is_used_again);
    RUN(what_is_not_freed);
    RUN(space_goes_back);
    RUN(space_is_there);
    RUN(space_in_huge_pages);
    RUN(space_for_long);
    RUN(space_for_more);
    RUN(space_outlives);
    RUN(space_of_children);
    return check_done();
}
