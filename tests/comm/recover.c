/* Ranks that go on without those that die: agree, shrink, revoke, with a death, or two, at each point. */
#include "support/check.h"

#include "coll/comm.h"
#include "coll/comm/recover.h"
#include "coll/transports/loopback.h"
#include "support/mortal.h"

enum {
    AGREEMENTS = 24,
    STEPS = 20000,
    TAGS = 256, /* of a recovery */
    SMALL = 20, /* … of a communicator of survivors */
    ALL = 0x3FF
};

/* Where a rank is in its program. */
typedef enum place {
    AGREES, /* on bits that each lacks one of */
    WORKS,  /* allreduce on the first communicator */
    JUDGES, /* agrees on whether that was well */
    SHRINKS,
    REWORKS, /* allreduce among the survivors */
    REJUDGES,
    CLOSES,
    OVER
} place;

typedef struct member {
    place at;
    bool begun, shrunk_there, lost_any;
    coll_comm comm, shrunk;
    coll_recovery recovery;
    coll_request request;
    coll_status worked;
    uint64_t in, out, flags;
    uint32_t agreements, rounds;
    uint64_t room[COLL_RECOVERY_BYTES(MORTALS) / 8 + 1];
    unsigned char arena[4096];
} member;

static member members[MORTALS];
static uint32_t p;
static coll_loopback *synchronous; /* over which they talk, or NULL: by mortal.h */
static coll_loopback_rank loopback_ends[MORTALS];
static coll_transport loopback_table;
static bool long_from_the_start; /* rank 0 gives the brief form up, though nobody has died */
static uint32_t rounds;          /* of the first phase */

/* What was agreed, by whoever returned first. */
static struct {
    bool there;
    uint64_t flags, lost;
} agreed[AGREEMENTS];

static uint64_t lost_of(const member *m)
{
    uint64_t lost = 0;
    for (uint32_t r = 0; r < p; r++)
        lost |= (uint64_t)coll_recovery_is_lost(&m->recovery, r) << r;
    return lost;
}

static uint64_t dead_now(void)
{
    uint64_t dead = 0;
    for (uint32_t r = 0; r < p; r++)
        dead |= (uint64_t)mortal.dead[r] << r;
    return dead;
}

/* A rank has returned from an agreement: as all others, and nobody is taken for dead that lives. */
static bool returned(uint32_t r, uint64_t flags)
{
    const uint32_t n = members[r].agreements++;
    const uint64_t lost = lost_of(&members[r]);
    bool well = CHECK(n < AGREEMENTS);
    if (mortal.dead[r] || !well) /* it has died in this step */
        return well;
    if (!agreed[n].there) {
        agreed[n].there = true;
        agreed[n].flags = flags;
        agreed[n].lost = lost;
    }
    well = CHECK_EQ(flags, agreed[n].flags) && CHECK_EQ(lost, agreed[n].lost);
    return CHECK((lost & ~dead_now()) == 0) && well;
}

/* Moves an agreement on; true: it is over. */
static bool agrees(uint32_t r, uint64_t *flags, bool looks, bool *well)
{
    member *m = &members[r];
    coll_status status = COLL_OK;
    if (!m->begun)
        status = looks ? coll_i_recovery_begin(&m->recovery, *flags, true)
                       : coll_agree_begin(&m->recovery, *flags);
    if (!m->begun && long_from_the_start && r == 0 && m->agreements == 0)
        coll_i_agree_lengthen(&m->recovery.agree);
    m->begun = true;
    if (status == COLL_OK)
        status = coll_agree_test(&m->recovery, flags);
    if (status == COLL_AGAIN)
        return false;
    m->begun = false;
    *well = (mortal.dead[r] || CHECK_STATUS(status, COLL_OK)) && returned(r, *flags) && *well;
    return true;
}

/* Moves an allreduce on; true: it is over. */
static bool works(uint32_t r, coll_comm *comm, uint64_t bit)
{
    member *m = &members[r];
    if (!m->begun) {
        m->in = bit;
        m->out = 0;
        m->worked = coll_iallreduce(comm, &m->in, &m->out, 1, COLL_U64, COLL_BOR, &m->request);
        m->begun = m->worked == COLL_OK;
        return !m->begun;
    }
    m->worked = coll_test(&m->request);
    m->begun = m->worked == COLL_AGAIN;
    return !m->begun;
}

/* Moves a rank on by one step of its program. */
static bool step(uint32_t r)
{
    member *m = &members[r];
    bool well = true;
    switch (m->at) {
    case AGREES:
        if (!m->begun)
            m->flags = ALL & ~((uint64_t)1 << (r + m->rounds) % p);
        if (agrees(r, &m->flags, false, &well) && ++m->rounds == rounds)
            m->at = WORKS;
        break;
    case WORKS:
        if (works(r, &m->comm, (uint64_t)1 << r)) {
            m->at = JUDGES;
            if (m->worked != COLL_OK && r % 2 == 0)
                (void)coll_comm_revoke(&m->recovery);
        }
        break;
    case JUDGES:
        if (!m->begun)
            m->flags = m->worked == COLL_OK;
        if (agrees(r, &m->flags, false, &well)) {
            if (m->flags != 0 && !mortal.dead[r])
                well = CHECK_EQ(m->out, ((uint64_t)1 << p) - 1) && well;
            m->at = m->flags ? CLOSES : SHRINKS;
        }
        break;
    case SHRINKS:
        if (!m->begun)
            m->flags = 1;
        if (agrees(r, &m->flags, true, &well)) {
            well =
                CHECK_STATUS(coll_i_recovery_make(&m->recovery, &m->shrunk, SMALL), COLL_OK) &&
                well;
            m->at = REWORKS;
        }
        break;
    case REWORKS:
        if (works(r, &m->shrunk, (uint64_t)1 << r))
            m->at = REJUDGES;
        break;
    case REJUDGES:
        if (!m->begun)
            m->flags = m->worked == COLL_OK;
        if (agrees(r, &m->flags, m->shrunk.status < 0, &well)) {
            if (m->flags != 0 && !mortal.dead[r]) {
                well = CHECK_EQ(m->out,
                                (((uint64_t)1 << p) - 1) & ~agreed[m->agreements - 2].lost) &&
                       well;
            }
            well = CHECK_STATUS(coll_comm_free(&m->shrunk), COLL_OK) && well;
            m->at = m->flags ? CLOSES : SHRINKS;
        }
        break;
    case CLOSES:
        if (!m->begun)
            coll_i_agree_close(&m->recovery.agree);
        m->begun = true;
        coll_progress(&m->comm);
        if (coll_i_agree_progress(&m->recovery.agree) != COLL_AGAIN) {
            m->at = OVER;
            m->begun = false;
        }
        break;
    case OVER:
        break;
    }
    return well;
}

/* Runs the program on all ranks, in an order that the seed says. False: something was wrong. */
static bool run(uint32_t seed)
{
    bool well = true;
    uint32_t left = p, steps = 0;
    memset(agreed, 0, sizeof agreed);
    for (uint32_t r = 0; r < p; r++) {
        member *m = &members[r];
        m->at = AGREES;
        m->begun = false;
        m->agreements = m->rounds = 0;
        well =
            CHECK_STATUS(coll_comm_init(
                             &m->comm, synchronous ? &loopback_table : &mortal_transport,
                             synchronous ? (void *)&loopback_ends[r] : (void *)&mortal.ends[r],
                             r, p, m->arena, sizeof m->arena),
                         COLL_OK) &&
            CHECK_STATUS(
                coll_recovery_init(&m->recovery, &m->comm, TAGS, m->room, sizeof m->room),
                COLL_OK) &&
            well;
    }
    for (; left > 0 && well && steps < STEPS; steps++) {
        left = 0;
        mortal.now++;
        for (uint32_t i = 0; i < p; i++) {
            const uint32_t r = seed == 0 ? i : mortal_draw(p);
            if (!mortal.dead[r] && members[r].at != OVER)
                well = step(r) && well;
        }
        for (uint32_t r = 0; r < p; r++)
            left += !mortal.dead[r] && members[r].at != OVER;
    }
    well = CHECK_EQ(left, 0) && well;
    return CHECK(!mortal.overflow) && well;
}

static void say(uint32_t mode, uint32_t seed)
{
    printf("    p = %u, mode %u, seed %u:", p, mode, seed);
    for (uint32_t r = 0; r < p; r++)
        printf(" rank %u at %d, dies at point %d%s;", r, (int)members[r].at,
               (int)mortal.dies_at[r], mortal.dead[r] ? ", dead" : "");
    printf("\n");
}

/* Without a death each rank sends 2 · ⌈log₂ p⌉ messages for an agreement. */
TEST(nobody_dies)
{
    for (p = 1; p <= MORTALS; p++) {
        uint32_t levels = 0, before;
        while (1u << levels < p)
            levels++;
        rounds = 3;
        for (uint32_t seed = 0; seed < 20; seed++) {
            mortal_begin(p, MORTAL_LATE, seed);
            if (!run(seed))
                say(MORTAL_LATE, seed);
            for (uint32_t n = 0; n < 4; n++)
                CHECK(agreed[n].there && agreed[n].lost == 0);
            for (uint32_t r = 0; r < p; r++) {
                CHECK_EQ(members[r].at, OVER);
                for (uint32_t q = 0; q < p; q++)
                    CHECK_EQ(mortal.queued[r][q], 0);
            }
            CHECK_EQ(agreed[0].flags, ALL & ~(((uint64_t)1 << p) - 1));
        }
        before = 0;
        mortal_begin(p, 0, 0);
        rounds = 1;
        CHECK(run(0));
        before = mortal.points[0];
        mortal_begin(p, 0, 0);
        rounds = 2;
        CHECK(run(0));
        CHECK_EQ(mortal.points[0] - before, 2 * levels);
    }
}

/* Each rank dies at each of its points, however its death looks. */
TEST(one_dies)
{
    unsigned long runs = 0;
    rounds = 2;
    for (p = 2; p <= MORTALS; p++)
        for (uint32_t mode = 0; mode < MORTAL_MODES; mode += CHECK_SHARE)
            for (uint32_t seed = 0; seed < 6; seed += CHECK_SHARE)
                for (uint32_t victim = 0; victim < p; victim++) {
                    bool died = true;
                    for (uint32_t at = 0; died; at++) {
                        mortal_begin(p, mode, seed);
                        mortal.dies_at[victim] = at;
                        if (!run(seed)) {
                            say(mode, seed);
                            return;
                        }
                        runs++;
                        died = mortal.dead[victim];
                    }
                }
    printf("    %lu runs\n", runs);
}

/* … and a second one at each of its own, also while the others recover from the first death. */
TEST(two_die)
{
    unsigned long runs = 0;
    rounds = 1;
    for (p = 3; p <= 4; p++)
        for (uint32_t mode = 0; mode < MORTAL_MODES; mode += CHECK_SHARE)
            for (uint32_t first = 0; first < p; first++)
                for (uint32_t second = 0; second < p; second++) {
                    bool died = first != second;
                    for (uint32_t at = 0; died; at++) {
                        bool died_too = true;
                        for (uint32_t then = 0; died_too; then++) {
                            const uint32_t seed = at + then;
                            mortal_begin(p, mode, seed);
                            mortal.dies_at[first] = at;
                            mortal.dies_at[second] = then;
                            if (!run(seed)) {
                                say(mode, seed);
                                return;
                            }
                            runs++;
                            died = mortal.dead[first];
                            died_too = mortal.dead[second];
                        }
                    }
                }
    printf("    %lu runs\n", runs);
}

/* All but one die, at points drawn at random. */
TEST(many_die)
{
    enum { RUNS = 200000 / CHECK_SHARE };
    for (uint32_t seed = 1; seed <= RUNS; seed++) {
        const uint32_t mode = seed % MORTAL_MODES;
        p = 2 + seed / MORTAL_MODES % (MORTALS - 1);
        rounds = 1 + seed % 3;
        mortal_begin(p, mode, seed);
        for (uint32_t r = 1; r < p; r++)
            if (mortal_draw(4) != 0)
                mortal.dies_at[(r + seed) % p] = mortal_draw(90);
        if (!run(seed)) {
            say(mode, seed);
            return;
        }
    }
}

static bool lives_for_ever(void *ctx, uint32_t peer)
{
    (void)ctx, (void)peer;
    return false;
}

/* Sends may wait for their receivers, if nobody dies: the brief form, and the long one. */
TEST(synchronous_sends)
{
    enum { MESSAGES = MORTALS * 64 };
    static unsigned char messages[COLL_LOOPBACK_BYTES(MESSAGES)];
    static coll_loopback world;
    coll_failure failure = *coll_loopback_transport.failure;
    failure.dead = lives_for_ever;
    loopback_table = coll_loopback_transport;
    loopback_table.failure = &failure;
    synchronous = &world;
    rounds = 3;
    for (p = 1; p <= MORTALS; p++)
        for (uint32_t seed = 0; seed < 40; seed++) {
            long_from_the_start = seed % 2 == 1;
            mortal_begin(p, 0, seed);
            CHECK_STATUS(coll_loopback_init(&world, p, MESSAGES, messages, sizeof messages),
                         COLL_OK);
            for (uint32_t r = 0; r < p; r++)
                CHECK_STATUS(coll_loopback_attach(&world, r, &loopback_ends[r]), COLL_OK);
            if (!run(seed / 2))
                say(0, seed);
            for (uint32_t r = 0; r < p; r++) {
                CHECK_EQ(members[r].at, OVER);
                CHECK_STATUS(coll_recovery_free(&members[r].recovery), COLL_OK);
                CHECK_STATUS(coll_comm_free(&members[r].comm), COLL_OK);
            }
            CHECK_EQ(world.n_free, MESSAGES);
        }
    synchronous = NULL;
    long_from_the_start = false;
}

/* What cannot be done is refused, with a sentence. */
TEST(what_is_missing)
{
    static unsigned char messages[COLL_LOOPBACK_BYTES(64)];
    static coll_loopback world;
    static coll_loopback_rank end;
    coll_transport without = mortal_transport;
    coll_failure less = mortal_failure;
    member *m = &members[0];
    CHECK(coll_recovery_lacks(&mortal_transport) == NULL);
    CHECK(strstr(coll_recovery_lacks(&coll_loopback_transport), "coll_failure.dead") != NULL);
    CHECK(strstr(coll_recovery_lacks(NULL), "coll_failure.dead") != NULL);
    without.failure = &less;
    less.abort = NULL;
    CHECK(strstr(coll_recovery_lacks(&without), "coll_failure.abort") != NULL);
    less = mortal_failure;
    less.cancel = NULL;
    CHECK(strstr(coll_recovery_lacks(&without), "coll_failure.cancel") != NULL);
    less = mortal_failure;
    without.tags = 0;
    CHECK(strstr(coll_recovery_lacks(&without), "tags") != NULL);
    CHECK_STATUS(coll_loopback_init(&world, 1, 64, messages, sizeof messages), COLL_OK);
    CHECK_STATUS(coll_loopback_attach(&world, 0, &end), COLL_OK);
    CHECK_STATUS(coll_comm_init(&m->comm, &coll_loopback_transport, &end, 0, 1, NULL, 0),
                 COLL_OK);
    CHECK_STATUS(coll_recovery_init(&m->recovery, &m->comm, TAGS, m->room, sizeof m->room),
                 COLL_ERR_CAPABILITY);
    CHECK_STATUS(m->comm.status, COLL_OK);
    CHECK_STATUS(coll_comm_free(&m->comm), COLL_OK);

    p = 2;
    mortal_begin(p, 0, 0);
    without = mortal_transport;
    without.max_bytes = 16;
    CHECK_STATUS(coll_comm_init(&m->comm, &without, &mortal.ends[0], 0, p, NULL, 0), COLL_OK);
    CHECK_STATUS(coll_recovery_init(&m->recovery, &m->comm, TAGS, m->room, sizeof m->room),
                 COLL_ERR_CAPABILITY);
    CHECK_STATUS(coll_comm_init(&m->comm, &mortal_transport, &mortal.ends[0], 0, p, NULL, 0),
                 COLL_OK);
    CHECK_STATUS(coll_recovery_init(NULL, NULL, TAGS, m->room, sizeof m->room), COLL_ERR_NULL);
    CHECK_STATUS(coll_recovery_init(&m->recovery, &m->comm, 5, m->room, sizeof m->room),
                 COLL_ERR_TAG);
    CHECK_STATUS(
        coll_recovery_init(&m->recovery, &m->comm, MORTAL_TAGS, m->room, sizeof m->room),
        COLL_ERR_TAG);
    CHECK_STATUS(m->comm.status, COLL_OK);
    CHECK_STATUS(
        coll_recovery_init(&m->recovery, &m->comm, TAGS, m->room, COLL_RECOVERY_BYTES(2) - 1),
        COLL_ERR_MEMORY);
    CHECK_STATUS(m->comm.status, COLL_ERR_MEMORY);
    CHECK_STATUS(coll_recovery_init(&m->recovery, &m->comm, TAGS, m->room, sizeof m->room),
                 COLL_ERR_MEMORY);
    CHECK_STATUS(coll_comm_agree(NULL, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_agree_begin(NULL, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_agree_test(NULL, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_shrink(NULL, NULL, 1), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_revoke(NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_recovery_free(NULL), COLL_ERR_NULL);
    CHECK(!coll_recovery_is_lost(NULL, 0));
}

/* A rank alone, by the calls that block. */
TEST(alone)
{
    member *m = &members[0];
    uint64_t flags = 5;
    p = 1;
    mortal_begin(p, 0, 0);
    CHECK_STATUS(coll_comm_init(&m->comm, &mortal_transport, &mortal.ends[0], 0, p, m->arena,
                                sizeof m->arena),
                 COLL_OK);
    CHECK_STATUS(coll_recovery_init(&m->recovery, &m->comm, TAGS, m->room, sizeof m->room),
                 COLL_OK);
    CHECK_STATUS(coll_comm_free(&m->comm), COLL_ERR_BUSY);
    CHECK_STATUS(coll_comm_agree(&m->recovery, &flags), COLL_OK);
    CHECK_EQ(flags, 5);
    CHECK_STATUS(coll_comm_shrink(&m->recovery, NULL, SMALL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_shrink(&m->recovery, &m->shrunk, TAGS), COLL_ERR_TAG);
    for (uint32_t i = 0, first = 0; i < 2; i++) {
        CHECK_STATUS(coll_comm_shrink(&m->recovery, &m->shrunk, SMALL), COLL_OK);
        CHECK(i == 0 || m->shrunk.first_tag != first); /* tags are not used again */
        first = m->shrunk.first_tag;
        CHECK_EQ(m->shrunk.p, 1);
        CHECK_EQ(m->shrunk.rank, 0);
        m->in = 3;
        CHECK_STATUS(coll_allreduce(&m->shrunk, &m->in, &m->out, 1, COLL_U64, COLL_BOR),
                     COLL_OK);
        CHECK_EQ(m->out, 3);
        CHECK_STATUS(coll_comm_shrink(&m->recovery, &m->shrunk, SMALL), COLL_ERR_BUSY);
        CHECK_STATUS(coll_recovery_free(&m->recovery), COLL_ERR_BUSY);
        CHECK_STATUS(coll_comm_free(&m->shrunk), COLL_OK);
    }
    CHECK_STATUS(coll_comm_revoke(&m->recovery), COLL_OK);
    CHECK_STATUS(coll_barrier(&m->comm), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_comm_agree(&m->recovery, &flags), COLL_OK);
    CHECK_STATUS(coll_recovery_free(&m->recovery), COLL_OK);
    CHECK(m->comm.serve == NULL && m->comm.recoveries == NULL);
    CHECK_STATUS(coll_comm_free(&m->comm), COLL_OK);
}

int main(void)
{
    RUN(what_is_missing);
    RUN(alone);
    RUN(nobody_dies);
    RUN(synchronous_sends);
    RUN(one_dies);
    RUN(two_die);
    RUN(many_die);
    return check_done();
}
