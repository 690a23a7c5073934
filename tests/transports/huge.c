/* Memory that is moved to huge pages: when that is tried, by an madvise that answers what it is told;
 * and by the system's, what it does to memory of several kinds, and under ranks that read it. */
#undef COLL_EXTERN /* it has bodies of its own */
#include "support/check.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

int fake_madvise(void *addr, size_t length, int advice);
uint64_t clock_as_told(void);
#define madvise fake_madvise
#include "coll/transports/clock.h"
#define coll_clock_ns clock_as_told
#include "coll/transports/huge.h"
#undef coll_clock_ns
#include "coll/comm.h"
#include "support/pages.h"
#include "support/processes.h"
#undef madvise
extern int madvise(void *addr, size_t length, int advice);

enum { MIB = 1 << 20, EXTENT = COLL_HUGE_PAGE };

static coll_huge pages;
static bool real;      /* the system answers, not … */
static int error;      /* … this: an errno, or 0 */
static uint64_t takes; /* so many nanoseconds, then */
static uint64_t now;   /* that went by so far */
static unsigned asked; /* how often, since it was looked at … */
static uintptr_t last; /* … and where */

int fake_madvise(void *addr, size_t length, int advice)
{
    if (length == 0) /* is the advice known? */
        return madvise(addr, length, advice);
    asked++;
    last = (uintptr_t)addr;
    CHECK(length == EXTENT && last % EXTENT == 0 && advice == 25);
    if (real) {
        int result = madvise(addr, length, advice);
        /* the system itself may be at work there */
        for (int i = 0; i < 1000 && result != 0 && errno == EAGAIN; i++) {
            (void)poll(NULL, 0, 1);
            result = madvise(addr, length, advice);
        }
        return result;
    }
    now += takes;
    errno = error;
    return error == 0 ? 0 : -1;
}

uint64_t clock_as_told(void)
{
    return now;
}

/* ---- when it is tried -------------------------------------------------------------------- */

/* Sends messages from some place until it is tried to move its extent; how many MiB that took. */
static unsigned sent_until(uintptr_t at, size_t bytes)
{
    size_t sent = 0;
    for (asked = 0; asked == 0 && sent < (size_t)600 * MIB; sent += bytes)
        coll_huge_sends(&pages, (const void *)at, bytes);
    CHECK(asked == 1 && last == at / EXTENT * EXTENT);
    CHECK(sent % MIB == 0);
    return (unsigned)(sent / MIB);
}

static uintptr_t anew(void)
{
    memset(&pages, 0, sizeof pages);
    real = false;
    error = 0;
    return (uintptr_t)1000 * EXTENT; /* nobody touches what is there */
}

TEST(how_often)
{
    static const int errors[] = {0, EINVAL, ENOMEM, EBUSY};
    for (unsigned i = 0; i < 4; i++) {
        const uintptr_t at = anew();
        error = errors[i];
        CHECK_EQ(sent_until(at + 5, MIB), 8);
        CHECK_EQ(sent_until(at + MIB / 2, MIB / 2), 256);
        CHECK_EQ(sent_until(at, 2 * MIB), 256);
        CHECK_EQ(sent_until(at + 3 * EXTENT, MIB), 8); /* each by itself */
    }
}

/* A peer that reads is done with that soon. */
TEST(a_peer_reads)
{
    const uintptr_t at = anew();
    error = EAGAIN;
    CHECK_EQ(sent_until(at, MIB), 8);
    for (unsigned soon = 2; soon <= 128; soon *= 2)
        CHECK_EQ(sent_until(at, MIB), soon);
    CHECK_EQ(sent_until(at, MIB), 256);
    CHECK_EQ(sent_until(at, MIB), 256);
    (void)anew();
    error = EAGAIN;
    CHECK_EQ(sent_until(at, MIB), 8);
    error = 0;
    CHECK_EQ(sent_until(at, MIB), 2);
    CHECK_EQ(sent_until(at, MIB), 256);
}

/* Two that are remembered at the same place. */
TEST(another_extent)
{
    const uintptr_t at = anew(), other = at + (uintptr_t)COLL_HUGE_EXTENTS * EXTENT;
    error = EAGAIN;
    CHECK_EQ(sent_until(at, MIB), 8);
    CHECK_EQ(sent_until(at, MIB), 2);
    coll_huge_sends(&pages, (const void *)at, MIB);
    CHECK_EQ(sent_until(other, MIB), 8);
    CHECK_EQ(sent_until(at, MIB), 8);
    CHECK_EQ(sent_until(at, MIB), 2);
    error = 0;
    CHECK_EQ(sent_until(at, MIB), 4);
    CHECK_EQ(sent_until(other, MIB), 8);
}

/* Each extent counts what of a message lies in it. */
TEST(messages_that_span)
{
    const uintptr_t at = anew(), from = at + MIB;
    asked = 0;
    coll_huge_sends(&pages, (const void *)from, 0);
    for (unsigned i = 1; i <= 8; i++) {
        coll_huge_sends(&pages, (const void *)from, 5 * MIB); /* 1, 2 and 2 MiB */
        CHECK_EQ(asked, i < 4 ? 0 : i < 8 ? 2 : 3);
        CHECK(asked == 0 || last == at + (i < 8 ? 2 * EXTENT : 0));
    }
    CHECK_EQ(pages.extents[(at / EXTENT + 3) % COLL_HUGE_EXTENTS].number, 0);
    CHECK_EQ(sent_until(at + 2 * EXTENT + MIB, MIB), 256 - 8);
    coll_huge_sends(&pages, (const void *)(at + 4 * EXTENT - 1), 2); /* one byte of each */
    CHECK_EQ(pages.extents[(at / EXTENT + 3) % COLL_HUGE_EXTENTS].sent, 1);
    CHECK_EQ(pages.extents[(at / EXTENT + 4) % COLL_HUGE_EXTENTS].sent, 1);
}

/* Where moves take long they are made later; a retry says nothing of that. */
TEST(what_a_move_takes)
{
    enum { GAIN_PS = 100 };
    const uintptr_t at = anew();
    CHECK_EQ(coll_huge_earns(1000000, GAIN_PS), 10000000);
    CHECK_EQ(coll_huge_earns(1, GAIN_PS), COLL_HUGE_LEAST);
    CHECK_EQ(coll_huge_earns(UINT32_MAX, GAIN_PS), COLL_HUGE_LATER);
    coll_huge_init(&pages, GAIN_PS, 900000); /* 9,000,000 bytes */
    takes = 30000000;                        /* longer than 256 MiB gain */
    CHECK_EQ(sent_until(at, MIB), 9);
    CHECK_EQ(sent_until(at + EXTENT, MIB), 256);
    takes = 900000;
    CHECK_EQ(sent_until(at, MIB), 256);
    CHECK_EQ(sent_until(at + 2 * EXTENT, MIB), 256);
    CHECK_EQ(sent_until(at + 3 * EXTENT, MIB), 9);
    takes = 0;
    coll_huge_init(&pages, 0, 900000);
    CHECK_EQ(sent_until(at, MIB), 8);
}

/* ---- what it does ------------------------------------------------------------------------ */

enum { EXTENTS = 3, BYTES = EXTENTS * EXTENT, EARNED = COLL_HUGE_EARNED / EXTENT };

/* Whole extents, with a gap before and behind them, of a file or of none. */
static unsigned char *map(int fd, int flags, int protection)
{
    unsigned char *all = (unsigned char *)mmap(NULL, BYTES + 2 * EXTENT, PROT_NONE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *at = all + EXTENT - (uintptr_t)all % EXTENT;
    void *got = mmap(at, BYTES, protection, flags | MAP_FIXED, fd, 0);
    if (all == MAP_FAILED || got == MAP_FAILED)
        abort();
    return at;
}

static unsigned char value(size_t i)
{
    return (unsigned char)(i * 7 + i / 4096 + 1);
}

static void fill(unsigned char *at)
{
    for (size_t i = 0; i < BYTES; i++)
        at[i] = value(i);
}

static bool is_unchanged(const unsigned char *at, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (at[i] != value(i))
            return false;
    return true;
}

/* MiB of huge pages in the mapping that begins here. */
static unsigned huge_at(const void *at)
{
    return (unsigned)(huge_kib(at, 1) / 1024);
}

/* Sends all of it until each extent has earned it. */
static void send_often(const unsigned char *at)
{
    for (int i = 0; i < EARNED; i++)
        coll_huge_sends(&pages, at, BYTES);
}

/* It happened; or it need not, on this machine. */
static void happened(bool did, const char *what)
{
    const char *all = getenv("COLL_REQUIRE_ALL");
    if (did || (coll_huge_is_possible() && all && strcmp(all, "1") == 0))
        CHECK(did);
    else
        printf("skipped: %s, as the system does not do it\n", what);
}

static void begin(void)
{
    (void)anew();
    real = true;
    asked = 0;
}

TEST(memory_is_moved)
{
    unsigned char *at = map(-1, MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ | PROT_WRITE);
    begin();
    fill(at);
    send_often(at);
    CHECK_EQ(asked, EXTENTS);
    CHECK(is_unchanged(at, 0, BYTES));
    happened(huge_at(at) == BYTES / MIB, "memory in huge pages");
    at[BYTES - 1]++;
    CHECK(at[BYTES - 1] == (unsigned char)(value(BYTES - 1) + 1));
    (void)munmap(at, BYTES);
}

/* An extent with a hole stays, its neighbours move. */
TEST(a_hole)
{
    enum { PAGE = 4096, HOLE = EXTENT + EXTENT / 2 };
    unsigned char *at = map(-1, MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ | PROT_WRITE);
    begin();
    fill(at);
    (void)munmap(at + HOLE, PAGE);
    send_often(at); /* the addresses of the hole, too: that does not read them */
    CHECK_EQ(asked, EXTENTS);
    CHECK(is_unchanged(at, 0, HOLE) && is_unchanged(at, HOLE + PAGE, BYTES));
    happened(huge_at(at) == EXTENT / MIB, "memory before a hole in a huge page");
    happened(huge_at(at + HOLE + PAGE) == EXTENT / MIB, "memory behind a hole in a huge page");
    (void)munmap(at, BYTES);
}

/* Memory that is not to be written, and files, whose pages may move, too. */
TEST(other_memory)
{
    static const int ways[] = {MAP_PRIVATE, MAP_SHARED};
    FILE *const file = tmpfile();
    const int files[] = {file ? fileno(file) : -1, (int)syscall(SYS_memfd_create, "coll", 0u)};
    unsigned char *at = map(-1, MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ | PROT_WRITE);
    begin();
    fill(at);
    CHECK(mprotect(at, BYTES, PROT_READ) == 0);
    send_often(at);
    CHECK(is_unchanged(at, 0, BYTES));
    for (int f = 0; f < 2; f++) {
        CHECK_EQ(write(files[f], at, BYTES), BYTES);
        for (int i = 0; i < 4; i++) {
            const int protection = i < 2 ? PROT_READ : PROT_READ | PROT_WRITE;
            unsigned char *its = map(files[f], ways[i % 2], protection);
            begin();
            send_often(its);
            CHECK_EQ(asked, EXTENTS);
            CHECK(is_unchanged(its, 0, BYTES));
            if (i >= 2) { /* who writes writes to the file, or not, as before */
                unsigned char stored = 0;
                its[EXTENT + 1]++;
                CHECK_EQ(pread(files[f], &stored, 1, EXTENT + 1), 1);
                CHECK((stored == its[EXTENT + 1]) == (ways[i % 2] == MAP_SHARED));
                its[EXTENT + 1]--;
            }
            (void)munmap(its, BYTES);
        }
        (void)close(files[f]);
    }
    (void)munmap(at, BYTES);
}

/* ---- ranks ------------------------------------------------------------------------------- */

/* Exchanges blocks whose memory moves meanwhile. */
static int exchange(coll_shm *shm, void *arg)
{
    /* in so many calls memory has earned it, however long a move took */
    enum { BLOCK = BYTES / 2 / sizeof(uint32_t), CALLS = COLL_HUGE_LATER / EXTENT + 4 };
    static uint32_t scratch[BYTES / sizeof(uint32_t)];
    uint32_t *const in =
        (uint32_t *)(void *)map(-1, MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ | PROT_WRITE);
    uint32_t *const out = (uint32_t *)malloc(BYTES);
    const uint32_t me = coll_shm_rank(shm);
    const unsigned long before = check_failures;
    coll_comm comm;
    begin();
    shm->node.oversubscribed = arg != NULL;
    coll_i_ipc_choose(shm);
    if (!out || coll_comm_init(&comm, coll_shm_transport(shm), shm, me, 2, scratch,
                               sizeof scratch) != COLL_OK)
        return 1;
    for (uint32_t call = 0; call < CALLS; call++) {
        for (uint32_t i = 0; i < 2 * BLOCK; i++)
            in[i] = i * 3 + me + call;
        if (coll_alltoall(&comm, in, out, BLOCK, COLL_I32) != COLL_OK)
            return 2;
        for (uint32_t i = 0; i < 2 * BLOCK; i++)
            if (out[i] != (me * BLOCK + i % BLOCK) * 3 + i / BLOCK + call)
                return 3;
    }
    if (coll_barrier(&comm) != COLL_OK)
        return 4;
    if (asked == 0 && shm->ways & COLL_I_IPC_FROM_HUGE)
        return 5;
    happened(huge_at(in) > 0, "memory of a rank in huge pages");
    free(out);
    return check_failures > before ? 6 : 0;
}

TEST(ranks)
{
    static char oversubscribed;
    for (int i = 0; i < 2; i++) {
        pid_t pid[2];
        processes_start(pid, 2, 0, COLL_I_IPC_WHOLE, exchange, i ? &oversubscribed : NULL);
        CHECK(processes_end(pid, 2));
    }
}

int main(void)
{
    RUN(how_often);
    RUN(a_peer_reads);
    RUN(another_extent);
    RUN(messages_that_span);
    RUN(what_a_move_takes);
    RUN(memory_is_moved);
    RUN(a_hole);
    RUN(other_memory);
    RUN(ranks);
    return check_done();
}
