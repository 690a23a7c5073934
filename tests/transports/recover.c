/* Ranks that are processes, of which one is killed at any time, and in some rounds another one while the
 * others recover: the survivors agree, and go on in a smaller communicator with right results.
 *
 *   recover [KILLS [TRANSPORT]]      20 over each of tcp, shm and join if nothing is said
 */
#include "support/kills.h"

#include "coll/comm/recover.h"
#include "coll/transports/join.h"
#include "coll/transports/shm.h"

enum {
    TAGS = 4000,
    SMALL = 200,
    MOST_TURNS = 5,
    AFTER = 12,
    ALL_RANKS = 2 * ((1 << KILLS_RANKS) - 1),
    BUCKETS = 10000, /* of so many microseconds each; the last one has all that took longer */
    BUCKET_US = 100,
    SOON_US = 100000
};

static int segments[2]; /* shm: one; join: one for each node */

/* How long survivors took, from when a call had failed until one of the smaller communicator was right. */
static struct {
    uint64_t longest, sum; /* µs */
    uint64_t n, late;      /* survivors; those that took longer than SOON_US */
    uint32_t bucket[BUCKETS];
} * took;

static uint64_t microseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* A survivor is back. */
static void note(uint64_t microseconds_taken)
{
    const uint64_t bucket = microseconds_taken / BUCKET_US;
    __atomic_add_fetch(&took->sum, microseconds_taken, __ATOMIC_RELAXED);
    __atomic_add_fetch(&took->n, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&took->late, microseconds_taken > SOON_US ? 1 : 0, __ATOMIC_RELAXED);
    __atomic_add_fetch(&took->bucket[bucket < BUCKETS ? bucket : BUCKETS - 1], 1,
                       __ATOMIC_RELAXED);
    for (uint64_t was = took->longest; was < microseconds_taken;)
        if (__atomic_compare_exchange_n(&took->longest, &was, microseconds_taken, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
}

/* Half of the survivors took no longer, in ms. */
static double median(void)
{
    uint64_t below = 0;
    uint32_t i = 0;
    while (i < BUCKETS - 1 && 2 * (below += took->bucket[i]) < took->n)
        i++;
    return (i + 1) * (double)BUCKET_US / 1e3;
}

/* Which rank kills itself, too, in this round, and where; KILLS_RANKS: none does. */
static uint32_t second_of(uint32_t round)
{
    return round % 3 == 2 ? round / 3 % KILLS_RANKS : KILLS_RANKS;
}

static void die_at(uint32_t round, uint32_t rank, uint32_t place)
{
    if (second_of(round) == rank && round / 12 % 4 == place) {
        __atomic_store_n(&kills_entered[1], rank + 1, __ATOMIC_RELEASE);
        (void)kill(getpid(), SIGKILL);
    }
}

/* An allreduce of so many numbers whose result is known. */
static bool adds(coll_comm *comm, size_t count, coll_status *status)
{
    static int32_t in[KILLS_LONG], out[KILLS_LONG];
    const int32_t p = (int32_t)comm->p;
    for (size_t i = 0; i < count; i++) {
        in[i] = (int32_t)comm->rank + (int32_t)(i % 1000);
        out[i] = -1;
    }
    *status = coll_allreduce(comm, in, out, count, COLL_I32, COLL_SUM);
    for (size_t i = 0; i < count && *status == COLL_OK; i++)
        if (out[i] != p * (p - 1) / 2 + p * (int32_t)(i % 1000))
            return false;
    return true;
}

/* Calls until one fails, recovers, and calls again. Exit code 0: all was right. */
static int recovers(uint32_t round, const coll_transport *transport, void *ctx, uint32_t rank)
{
    static unsigned char memory[1 << 21];
    static uint64_t room[COLL_RECOVERY_BYTES(KILLS_RANKS) / 8 + 1];
    static coll_comm comm, small;
    static coll_recovery recovery;
    coll_status status = COLL_OK, last = COLL_OK;
    uint64_t begin = 0, well;
    if (coll_comm_init(&comm, transport, ctx, rank, KILLS_RANKS, memory, sizeof memory) !=
            COLL_OK ||
        coll_recovery_init(&recovery, &comm, TAGS, room, sizeof room) != COLL_OK)
        return 10;
    for (uint32_t i = 0; i < 1000000; i++) {
        const size_t count = (round + i) % 5 == 0   ? KILLS_LONG
                             : (round + i) % 3 == 0 ? 3000
                                                    : 1;
        if (!adds(&comm, count, &status) ||
            (status == COLL_OK && i % 2 == 0 && !adds(&comm, 3, &status)))
            return 11;
        if (status == COLL_OK && i % 3 == 0)
            status = coll_barrier(&comm);
        if (i == 0)
            __atomic_add_fetch(kills_entered, 1, __ATOMIC_RELEASE);
        begin = microseconds();
        if (status != COLL_OK && coll_comm_revoke(&recovery) != COLL_OK)
            return 14;
        die_at(round, rank, status == COLL_OK ? KILLS_RANKS : 0);
        well = (status == COLL_OK ? 1u : 0u) | (ALL_RANKS & ~((uint64_t)2 << rank));
        if (coll_comm_agree(&recovery, &well) != COLL_OK)
            return 12;
        for (uint32_t r = 0; r < KILLS_RANKS; r++)
            if (coll_recovery_is_lost(&recovery, r) ? r == rank : (well >> r & 2) != 0)
                return 13;
        if ((well & 1) == 0)
            break;
    }
    for (uint32_t turn = 0;; turn++) {
        if (turn == MOST_TURNS)
            return 15;
        if (coll_comm_shrink(&recovery, &small, SMALL) != COLL_OK)
            return 16;
        die_at(round, rank, 1);
        if (!adds(&small, 1, &last))
            return 17;
        die_at(round, rank, 2);
        well = last == COLL_OK && small.p < KILLS_RANKS;
        if (coll_comm_agree(&recovery, &well) != COLL_OK)
            return 18;
        if (well)
            break;
        if (coll_comm_free(&small) != COLL_OK)
            return 19;
    }
    note(microseconds() - begin);
    for (uint32_t i = 0; i < AFTER && last == COLL_OK; i++)
        if (!adds(&small, i % 3 == 0 ? KILLS_LONG : i % 3 == 1 ? 3000 : 1, &last))
            return 20;
    if (second_of(round) == KILLS_RANKS && last != COLL_OK)
        return 21;
    die_at(round, rank, 3);
    if (last != COLL_OK)
        (void)coll_comm_abort(&small, last);
    if (coll_comm_free(&small) != COLL_OK || coll_recovery_free(&recovery) != COLL_OK)
        return 22;
    return coll_comm_free(&comm) == COLL_OK ? 0 : 23;
}

static void recover_some(const char *what, void (*before)(void), int (*body)(uint32_t round))
{
    const uint64_t begin = microseconds();
    double seconds;
    memset(took, 0, sizeof *took);
    kill_some_after(kills, before, body);
    seconds = (double)(microseconds() - begin) / 1e6;
    printf("    %s: %llu survivors were back after %.1f ms (median), %.2f on average, %.2f at "
           "most; %llu after more than %d ms; %.0f kills a minute\n",
           what, (unsigned long long)took->n, median(),
           took->n ? (double)took->sum / (double)took->n / 1e3 : 0.0,
           (double)took->longest / 1e3, (unsigned long long)took->late, SOON_US / 1000,
           60 * (double)kills / seconds);
}

/* ---- transports -------------------------------------------------------------------------------- */

static int over_tcp(uint32_t round)
{
    char why[COLL_TCP_WHY];
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    int code;
    if (!tcp)
        return KILLS_ALONE;
    code = recovers(round, &coll_tcp_transport, tcp, coll_tcp_rank(tcp));
    coll_tcp_close(tcp);
    return code;
}

static uint32_t own_rank(void)
{
    return (uint32_t)strtoul(getenv("COLL_RANK"), NULL, 10);
}

static void make_segments(uint32_t n)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (segments[i] >= 0)
            (void)close(segments[i]);
        segments[i] = i < n ? coll_shm_create(NULL, KILLS_RANKS / n, 4 << 20, NULL) : -1;
    }
}

static void make_segment(void)
{
    make_segments(1);
}

static void make_two(void)
{
    make_segments(2);
}

static coll_shm *enter_segment(uint32_t n, uint32_t rank, uint32_t ranks)
{
    coll_shm *shm = coll_shm_attach(segments[n], rank, ranks, 4 << 20, NULL);
    return shm && coll_shm_join(shm, 20000, NULL) ? shm : NULL;
}

static int over_shm(uint32_t round)
{
    coll_shm *shm = enter_segment(0, own_rank(), KILLS_RANKS);
    int code;
    if (!shm)
        return KILLS_ALONE;
    code = recovers(round, coll_shm_transport(shm), shm, own_rank());
    coll_shm_detach(shm);
    return code;
}

static int over_a_join(uint32_t round)
{
    static coll_nodes nodes;
    static coll_join join;
    enum { PPN = KILLS_RANKS / 2 };
    const uint32_t rank = own_rank();
    char why[COLL_TCP_WHY];
    coll_shm *shm = enter_segment(rank / PPN, rank % PPN, PPN);
    coll_tcp *tcp = shm ? coll_tcp_launched(NULL, why) : NULL;
    int code;
    if (!tcp)
        return KILLS_ALONE;
    coll_nodes_even(&nodes, KILLS_RANKS, PPN);
    if (coll_join_init(&join, rank, KILLS_RANKS, &nodes, coll_shm_transport(shm), shm,
                       &coll_tcp_transport, tcp) != COLL_OK)
        return KILLS_ALONE;
    code = recovers(round, coll_join_transport(&join), &join, rank);
    coll_tcp_close(tcp);
    coll_shm_detach(shm);
    return code;
}

TEST(tcp)
{
    recover_some("tcp", NULL, over_tcp);
}

TEST(shm)
{
    recover_some("shm", make_segment, over_shm);
}

TEST(join)
{
    recover_some("join", make_two, over_a_join);
}

int main(int argc, char **argv)
{
    (void)setenv("COLL_MACHINE", "off", 0);
    kills_asked(argc, argv);
    segments[0] = segments[1] = -1;
    took = kills_shared(sizeof *took);
    if (took) {
        if (argc < 3 || strcmp(argv[2], "tcp") == 0)
            RUN(tcp);
        if (argc < 3 || strcmp(argv[2], "shm") == 0)
            RUN(shm);
        if (argc < 3 || strcmp(argv[2], "join") == 0)
            RUN(join);
    }
    return check_done();
}
