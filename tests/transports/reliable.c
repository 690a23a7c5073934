/* Collectives that survive crashes, among processes of which one is killed at any time, and in some
 * rounds another one kills itself in the call after: results are right, and the same on all
 * survivors.
 *
 *   reliable [KILLS]      20 over each transport if nothing is said
 */
#define KILLS_MANY 6
#include "support/kills.h"

#include "coll/comm/reliable.h"
#include "coll/transports/shm.h"

enum {
    TAGS = 100,
    MOST_F = 2,
    MOST_CALLS = 1 << 20,
    AFTER = 9,      /* calls after the first loss */
    LONG = 1 << 14, /* elements, of 8 bytes */
    BITS = 8        /* of a contribution: each rank has digits of its own */
};

typedef enum kind { BCAST, REDUCE, ALLREDUCE, KINDS } kind;

static int segment = -1;

/* How calls ended on whoever returned first; and the calls that ended well although a rank was lost
 * in them. */
static struct {
    uint64_t ended[MOST_CALLS];
    uint32_t survived, refused;
} * shared;

static uint64_t digit(uint32_t rank)
{
    return (uint64_t)1 << rank * BITS;
}

static uint32_t lost_of(const coll_recovery *recovery)
{
    uint32_t lost = 0;
    for (uint32_t r = 0; r < KILLS_RANKS; r++)
        lost += coll_recovery_is_lost(recovery, r);
    return lost;
}

/* Has the call ended here as on all others? */
static bool same_everywhere(uint32_t call, coll_status status, uint64_t who)
{
    const uint64_t its = who << 8 | (status == COLL_OK ? 1u : 2u);
    uint64_t first = 0;
    return __atomic_compare_exchange_n(&shared->ended[call], &first, its, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
           first == its;
}

/* One call, of a kind and length that its number says. `dies`: this rank kills itself in it. 0: all
 * was right. */
static int calls(coll_reliable *r, uint32_t round, uint32_t call, uint32_t rank, bool dies)
{
    static uint64_t in[LONG], out[LONG];
    const coll_recovery *recovery = r->recovery;
    const kind its = (kind)((call + round) % KINDS);
    const uint32_t before = lost_of(recovery), root = (call / KINDS + round) % KILLS_RANKS;
    const bool gets = its != REDUCE || rank == root;
    const size_t count = call % 7 == 6 ? LONG : call % 5 == 4 ? 300 : 1;
    uint64_t who = 0;
    coll_status status;
    for (size_t i = 0; i < count; i++) {
        in[i] = digit(rank);
        out[i] = its == BCAST && rank == root ? call + i : 0;
    }
    status = its == BCAST ? coll_reliable_ibcast(r, out, count, COLL_U64, root)
             : its == REDUCE
                 ? coll_reliable_ireduce(r, in, out, count, COLL_U64, COLL_SUM, root)
                 : coll_reliable_iallreduce(r, in, out, count, COLL_U64, COLL_SUM);
    if (dies) {
        for (uint32_t i = 0; i < round % 5 && status == COLL_OK; i++)
            (void)coll_reliable_test(r);
        __atomic_store_n(&kills_entered[1], rank + 1, __ATOMIC_RELEASE);
        (void)kill(getpid(), SIGKILL);
    }
    if (status == COLL_OK)
        status = coll_reliable_wait(r);
    for (uint32_t q = 0; q < KILLS_RANKS && its != BCAST && gets && status == COLL_OK; q++) {
        if (!coll_reliable_has(r, q) && !coll_recovery_is_lost(recovery, q))
            return 30;
        who += coll_reliable_has(r, q) ? digit(q) : 0;
    }
    for (size_t i = 0; i < count && gets && status == COLL_OK; i++)
        if (out[i] != (its == BCAST ? call + i : who))
            return 31;
    if (!same_everywhere(call, status, its == ALLREDUCE ? who : 0))
        return 32;
    if (status != COLL_OK && status != COLL_ERR_PEER)
        return 33;
    if (status != COLL_OK && lost_of(recovery) - before <= r->f &&
        (its == ALLREDUCE || !coll_recovery_is_lost(recovery, root)))
        return 34;
    if (lost_of(recovery) > before)
        __atomic_add_fetch(status == COLL_OK ? &shared->survived : &shared->refused, 1,
                           __ATOMIC_RELAXED);
    return 0;
}

/* Calls until some calls after the first loss. Exit code 0: all was right. */
static int survives(uint32_t round, const coll_transport *transport, void *ctx, uint32_t rank)
{
    static unsigned char memory[1 << 16];
    static uint64_t room[COLL_RECOVERY_BYTES(KILLS_RANKS) / 8 + 1];
    static uint64_t more[COLL_RELIABLE_BYTES(KILLS_RANKS, MOST_F, LONG * 8) / 8 + 1];
    static coll_comm comm;
    static coll_recovery recovery;
    static coll_reliable reliable;
    const uint32_t second = round % 3 == 2 ? round / 3 % KILLS_RANKS : KILLS_RANKS;
    uint32_t after = 0, call = 0;
    if (coll_comm_init(&comm, transport, ctx, rank, KILLS_RANKS, memory, sizeof memory) !=
            COLL_OK ||
        coll_recovery_init(&recovery, &comm, TAGS, room, sizeof room) != COLL_OK ||
        coll_reliable_init(&reliable, &recovery, 1 + round % MOST_F, more, sizeof more) !=
            COLL_OK)
        return 10;
    for (; after < AFTER && call < MOST_CALLS; call++) {
        const int code = calls(&reliable, round, call, rank, after == 1 && rank == second);
        if (code != 0)
            return code;
        after += lost_of(&recovery) > 0;
        if (call == 0)
            __atomic_add_fetch(kills_entered, 1, __ATOMIC_RELEASE);
    }
    if (call == MOST_CALLS)
        return 11;
    if (coll_reliable_free(&reliable) != COLL_OK || coll_recovery_free(&recovery) != COLL_OK)
        return 22;
    return coll_comm_free(&comm) == COLL_OK ? 0 : 23;
}

/* Before each round: nothing has ended. */
static void forget(void)
{
    memset(shared->ended, 0, sizeof shared->ended);
}

static void survive_some(const char *what, void (*before)(void), int (*body)(uint32_t round))
{
    shared->survived = shared->refused = 0;
    kill_some_after(kills, before, body);
    printf("    %s: of calls in which a rank was lost, %u ended well, %u did not\n", what,
           shared->survived, shared->refused);
}

/* ---- transports ------------------------------------------------------------------------------ */

static int over_tcp(uint32_t round)
{
    char why[COLL_TCP_WHY];
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    int code;
    if (!tcp)
        return KILLS_ALONE;
    code = survives(round, &coll_tcp_transport, tcp, coll_tcp_rank(tcp));
    coll_tcp_close(tcp);
    return code;
}

static void make_segment(void)
{
    forget();
    if (segment >= 0)
        (void)close(segment);
    segment = coll_shm_create(NULL, KILLS_RANKS, 1 << 16, NULL);
}

static int over_shm(uint32_t round)
{
    const uint32_t rank = (uint32_t)strtoul(getenv("COLL_RANK"), NULL, 10);
    coll_shm *shm = coll_shm_attach(segment, rank, KILLS_RANKS, 1 << 16, NULL);
    int code;
    if (!shm || !coll_shm_join(shm, 20000, NULL))
        return KILLS_ALONE;
    code = survives(round, coll_shm_transport(shm), shm, rank);
    coll_shm_detach(shm);
    return code;
}

TEST(tcp)
{
    survive_some("tcp", forget, over_tcp);
}

TEST(shm)
{
    survive_some("shm", make_segment, over_shm);
}

int main(int argc, char **argv)
{
    (void)setenv("COLL_MACHINE", "off", 0);
    kills_asked(argc, argv);
    shared = kills_shared(sizeof *shared);
    if (shared) {
        RUN(tcp);
        RUN(shm);
    }
    return check_done();
}
