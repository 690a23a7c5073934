/* Collectives that survive crashes, with a death at each point, or two: uniform, right, and nothing
 * left over.
 *
 *   reliable [all]      all: single deaths of up to 16 ranks, pairs of up to 7
 */
#define MORTALS_MOST       16
#define MORTALS_BYTES_MOST 192
#include "support/check.h"

#include "coll/comm.h"
#include "coll/comm/reliable.h"
#include "support/mortal.h"

enum {
    CALLS = 2,
    STEPS = 20000,
    TAGS = 64,   /* of a recovery */
    MOST_F = 4,  /* crashes survived */
    LONG = 20,   /* elements, of 8 bytes: more than goes with a head … */
    PIECE = 120, /* … and than the transport takes at once */
    BITS = 4,    /* of a contribution: each rank has a digit of its own */
    LAST = 9     /* the value of a broadcast, in each digit */
};

typedef enum kind { BCAST, REDUCE, ALLREDUCE, KINDS } kind;

/* The program of all ranks: a call, and an allreduce behind it that meets what it left over. */
static struct {
    uint32_t p, f, root;
    kind kind;
    size_t count;
    bool mutant; /* something is wrong on purpose: `noticed` says that it was seen */
} asked;

typedef struct member {
    uint32_t call; /* CALLS: it closes; CALLS + 1: over */
    bool begun;
    coll_comm comm;
    coll_recovery recovery;
    coll_reliable reliable;
    uint64_t in[LONG], out[LONG];
    uint64_t room[COLL_RECOVERY_BYTES(MORTALS) / 8 + 1];
    uint64_t room_too[COLL_RELIABLE_BYTES(MORTALS, MORTALS - 1, LONG * 8) / 8 + 1];
    unsigned char arena[64];
} member;

static member members[MORTALS];
static coll_transport pieces;
static uint32_t everything; /* the argument `all` */
static bool noticed;
static unsigned long runs, survived, refused;

/* How a call ended on whoever returned first. */
static struct {
    bool there;
    coll_status status;
    uint64_t who;
} ended[CALLS];

/* Checks, or, of a mutant, notes whether it was noticed. */
static bool holds(bool is, int line, const char *what)
{
    if (asked.mutant) {
        noticed = noticed || !is;
        return is;
    }
    return check_that(is, __FILE__, line, what);
}

#define HOLDS(condition) holds((condition), __LINE__, #condition)

static uint64_t digit(uint32_t rank)
{
    return (uint64_t)1 << rank * BITS;
}

static uint64_t who_of(const member *m)
{
    uint64_t who = 0;
    for (uint32_t r = 0; r < asked.p; r++)
        who += coll_reliable_has(&m->reliable, r) ? digit(r) : 0;
    return who;
}

static uint32_t dead_now(void)
{
    uint32_t dead = 0;
    for (uint32_t r = 0; r < asked.p; r++)
        dead += mortal.dead[r];
    return dead;
}

static kind kind_of(uint32_t call)
{
    return call == 0 ? asked.kind : ALLREDUCE;
}

/* A rank's value in a call: of a broadcast what the root has, else what the rank adds. */
static uint64_t value_of(kind its, uint32_t rank, size_t i)
{
    return its == BCAST ? (LAST + i) * 0x123456789u : digit(rank);
}

static coll_status begin(uint32_t r)
{
    member *m = &members[r];
    const kind its = kind_of(m->call);
    coll_reliable *call = &m->reliable;
    for (size_t i = 0; i < asked.count; i++) {
        m->in[i] = value_of(its, r, i);
        m->out[i] = its == BCAST && r == asked.root ? m->in[i] : 0;
    }
    return its == BCAST ? coll_reliable_ibcast(call, m->out, asked.count, COLL_U64, asked.root)
           : its == REDUCE
               ? coll_reliable_ireduce(call, m->in, r == asked.root ? m->out : NULL,
                                       asked.count, COLL_U64, COLL_SUM, asked.root)
               : coll_reliable_iallreduce(call, m->in, m->out, asked.count, COLL_U64, COLL_SUM);
}

/* A rank has returned from a call: as all others, and right. */
static bool returned(uint32_t r, coll_status status)
{
    member *m = &members[r];
    const uint32_t n = m->call;
    const kind its = kind_of(n);
    const bool gets = its != REDUCE || r == asked.root;
    const uint64_t who = who_of(m);
    bool well = HOLDS(status == COLL_OK || status == COLL_ERR_PEER);
    if (!ended[n].there) {
        ended[n].there = true;
        ended[n].status = status;
        ended[n].who = who;
    }
    well = HOLDS(status == ended[n].status) && well;
    if (status != COLL_OK)
        return HOLDS(dead_now() > asked.f || (its != ALLREDUCE && mortal.dead[asked.root])) &&
               well;
    for (uint32_t q = 0; q < asked.p && gets && its != BCAST; q++)
        well = HOLDS(mortal.dead[q] || coll_reliable_has(&m->reliable, q)) && well;
    for (size_t i = 0; i < asked.count && gets; i++)
        well = HOLDS(m->out[i] == (its == BCAST ? value_of(its, r, i) : who)) && well;
    return HOLDS(its != ALLREDUCE || who == ended[n].who) && well;
}

/* Moves a rank on by one step of its program. */
static bool step(uint32_t r)
{
    member *m = &members[r];
    coll_status status = COLL_OK;
    if (m->call == CALLS) { /* closes */
        if (!m->begun)
            coll_i_agree_close(&m->recovery.agree);
        m->begun = true;
        coll_progress(&m->comm);
        m->call += coll_i_agree_progress(&m->recovery.agree) != COLL_AGAIN;
        return true;
    }
    if (!m->begun)
        status = begin(r);
    m->begun = status == COLL_OK;
    if (m->begun)
        status = coll_reliable_test(&m->reliable);
    if (status == COLL_AGAIN)
        return true;
    m->begun = false;
    if (!mortal.dead[r] && !returned(r, status))
        return false;
    m->call++;
    return true;
}

/* Do two ranks that live have a message left over between them? */
static bool left_over(void)
{
    for (uint32_t r = 0; r < asked.p; r++)
        for (uint32_t q = 0; q < asked.p; q++)
            for (uint32_t i = 0; i < mortal.queued[r][q]; i++)
                if (!mortal.dead[r] && !mortal.dead[q] &&
                    mortal.queue[r][q][i].tag == members[q].reliable.tag)
                    return true;
    return false;
}

static void prepare(void)
{
    memset(ended, 0, sizeof ended);
    pieces = mortal_transport;
    pieces.max_bytes = PIECE;
    for (uint32_t r = 0; r < asked.p; r++) {
        member *m = &members[r];
        m->call = 0;
        m->begun = false;
        CHECK_STATUS(coll_comm_init(&m->comm, &pieces, &mortal.ends[r], r, asked.p, m->arena,
                                    sizeof m->arena),
                     COLL_OK);
        CHECK_STATUS(coll_recovery_init(&m->recovery, &m->comm, TAGS, m->room, sizeof m->room),
                     COLL_OK);
        CHECK_STATUS(coll_reliable_init(&m->reliable, &m->recovery, asked.f, m->room_too,
                                        sizeof m->room_too),
                     COLL_OK);
    }
}

/* Runs the program on all ranks, in an order that the seed says. False: something was wrong. */
static bool run(uint32_t seed)
{
    bool well = true;
    uint32_t left = asked.p;
    prepare();
    for (uint32_t steps = 0; left > 0 && well && steps < STEPS; steps++) {
        left = 0;
        mortal.now++;
        for (uint32_t i = 0; i < asked.p; i++) {
            const uint32_t r = seed % 4 == 0 ? i : mortal_draw(asked.p);
            if (!mortal.dead[r] && members[r].call <= CALLS)
                well = step(r) && well;
        }
        for (uint32_t r = 0; r < asked.p; r++)
            left += !mortal.dead[r] && members[r].call <= CALLS;
    }
    well = HOLDS(left == 0 || asked.mutant) && well;
    well = HOLDS(!left_over() || left > 0) && well;
    runs++;
    survived += ended[0].there && ended[0].status == COLL_OK;
    refused += ended[0].there && ended[0].status != COLL_OK;
    return CHECK(!mortal.overflow) && well;
}

static void say(uint32_t mode, uint32_t seed)
{
    if (asked.mutant)
        return;
    printf("    p = %u, f = %u, root %u, kind %d, %zu elements, mode %u, seed %u:", asked.p,
           asked.f, asked.root, (int)asked.kind, asked.count, mode, seed);
    for (uint32_t r = 0; r < asked.p; r++)
        printf(" rank %u in call %u, part %d, dies at point %d%s;", r, members[r].call,
               (int)members[r].reliable.part, (int)mortal.dies_at[r],
               mortal.dead[r] ? ", dead" : "");
    printf("\n");
}

/* Calls `each` for every kind and root, number of crashes survived, and p up to `most`. False ends
 * it. */
static bool for_all(uint32_t from, uint32_t most, uint32_t most_f, bool (*each)(void))
{
    static uint32_t turn;
    for (asked.p = from; asked.p <= most; asked.p++)
        for (asked.f = 0; asked.f < asked.p && asked.f <= most_f; asked.f++)
            for (uint32_t k = 0; k < KINDS; k++)
                for (asked.root = 0; asked.root < (k == ALLREDUCE ? 1 : asked.p);
                     asked.root++) {
                    asked.kind = (kind)k;
                    asked.count = turn++ % 2 == 0 ? LONG : 1;
                    if (!each())
                        return false;
                }
    return true;
}

/* ---- nobody dies ----------------------------------------------------------------------------- */

/* Messages that rank r sends in the first call, but for its agreement. */
static uint32_t bcast_messages(uint32_t q, uint32_t f)
{
    const uint32_t m = (q - 1) / (f + 1);
    return q - 1 + (m > 0 ? f * (f + 1) * (m - 1) : 0);
}

static uint32_t reduce_messages(uint32_t q, uint32_t f)
{
    return q - 1 + f * (f + 1) * ((q - 1) / (f + 1));
}

static uint32_t counted;

static void count_messages(uint32_t rank, uint32_t peer, uint32_t tag, void *message,
                           size_t bytes)
{
    (void)peer, (void)message, (void)bytes;
    counted += tag == members[rank].reliable.tag;
}

static bool with_nobody_dead(void)
{
    const uint32_t b = bcast_messages(asked.p, asked.f), r = reduce_messages(asked.p, asked.f);
    for (uint32_t seed = 0; seed < 4; seed++) {
        mortal_begin(asked.p, MORTAL_LATE, seed);
        asked.count = 1;
        counted = 0;
        mortal.tamper = count_messages;
        if (!run(seed) || !CHECK_STATUS(ended[0].status, COLL_OK) ||
            !CHECK_EQ(counted,
                      (asked.kind == REDUCE ? 0 : b) + (asked.kind == BCAST ? 0 : r) + b + r)) {
            say(MORTAL_LATE, seed);
            mortal.tamper = NULL;
            return false;
        }
        mortal.tamper = NULL;
        asked.count = seed % 2 == 0 ? LONG : 0;
        mortal_begin(asked.p, MORTAL_LATE, seed);
        if (!run(seed) || !CHECK_STATUS(ended[0].status, COLL_OK)) {
            say(MORTAL_LATE, seed);
            return false;
        }
    }
    return true;
}

/* … and the messages are as many as the head of reliable.h says. */
TEST(nobody_dies)
{
    CHECK(for_all(1, everything ? MORTALS : 10, MORTALS - 1, with_nobody_dead));
}

/* ---- some die -------------------------------------------------------------------------------- */

/* What a death looks like, and the order of the ranks, go round. */
static uint32_t next_seed;

static bool with_one_dead(void)
{
    for (uint32_t victim = 0; victim < asked.p; victim++) {
        bool died = true;
        for (uint32_t at = 0; died; at++) {
            const uint32_t seed = next_seed++, mode = seed * 7 / 4 % MORTAL_MODES;
            mortal_begin(asked.p, mode, seed);
            mortal.dies_at[victim] = at;
            if (!run(seed)) {
                say(mode, seed);
                return false;
            }
            died = mortal.dead[victim];
        }
    }
    return true;
}

static void tell_runs(void)
{
    printf("    %lu runs: in %lu the first call was well, in %lu it was not\n", runs, survived,
           refused);
    runs = survived = refused = 0;
}

/* Each rank dies at each of its points. */
TEST(one_dies)
{
    for (uint32_t turn = 0; turn < (everything ? 1u : 2u); turn += CHECK_SHARE)
        CHECK(for_all(2, everything ? MORTALS : 8, MOST_F, with_one_dead));
    tell_runs();
}

/* Has a rank died in the first call? The second one is one that others have as their first. */
static bool dies_in_first_call(uint32_t rank)
{
    return mortal.dead[rank] && members[rank].call == 0;
}

static bool with_two_dead(void)
{
    for (uint32_t first = 0; first < asked.p; first++)
        for (uint32_t second = first + 1; second < asked.p; second++) {
            bool died = true;
            for (uint32_t at = 0; died; at++) {
                bool died_too = true;
                for (uint32_t then = 0; died_too; then++) {
                    const uint32_t seed = next_seed++, mode = seed * 7 / 4 % MORTAL_MODES;
                    mortal_begin(asked.p, mode, seed);
                    mortal.dies_at[first] = at;
                    mortal.dies_at[second] = then;
                    if (!run(seed)) {
                        say(mode, seed);
                        return false;
                    }
                    died = dies_in_first_call(first);
                    died_too = dies_in_first_call(second);
                }
            }
        }
    return true;
}

/* … and a second one at each of its own. */
TEST(two_die)
{
    CHECK(for_all(3, everything ? 7 : 5, 2, with_two_dead));
    tell_runs();
}

/* Any number of ranks die, at points drawn at random: more than f, too. */
TEST(many_die)
{
    const uint32_t most = (everything ? 1000000u : 30000u) / CHECK_SHARE;
    for (uint32_t seed = 1; seed <= most; seed++) {
        const uint32_t mode = seed % MORTAL_MODES;
        asked.p = 2 + seed / MORTAL_MODES % (everything ? MORTALS - 1 : 8);
        mortal_begin(asked.p, mode, seed);
        asked.f = mortal_draw(asked.p);
        asked.kind = (kind)mortal_draw(KINDS);
        asked.root = mortal_draw(asked.p);
        asked.count = mortal_draw(2) ? LONG : 1;
        for (uint32_t r = 1; r < asked.p; r++)
            if (mortal_draw(3) != 0)
                mortal.dies_at[(r + seed) % asked.p] = mortal_draw(40);
        if (!run(seed)) {
            say(mode, seed);
            return;
        }
    }
    tell_runs();
}

/* ---- what is wrong on purpose ---------------------------------------------------------------- */

enum { HAS = COLL_I_RELIABLE_HAS, WHO = COLL_I_RELIABLE_WHO };

/* The head of a message of this part of a call, or NULL: it is another one. */
static uint64_t *head_of(uint32_t rank, uint32_t tag, void *message, coll_i_reliable_part part)
{
    uint64_t *head = (uint64_t *)message;
    if (tag != members[rank].reliable.tag ||
        (head[COLL_I_RELIABLE_WHAT] & 0xFF) != (uint64_t)part)
        return NULL;
    return head;
}

/* The correction does not reach as far as it should. */
static void short_correction(uint32_t rank, uint32_t peer, uint32_t tag, void *message,
                             size_t bytes)
{
    uint64_t *head = head_of(rank, tag, message, COLL_I_RELIABLE_ANSWER);
    (void)bytes;
    if (head && members[peer].reliable.x - members[rank].reliable.x == asked.f)
        head[HAS] = 0;
}

/* The set of ranks lacks one that is in the value. */
static void forgotten_bit(uint32_t rank, uint32_t peer, uint32_t tag, void *message,
                          size_t bytes)
{
    uint64_t *head = head_of(rank, tag, message, COLL_I_RELIABLE_UP);
    (void)peer, (void)bytes;
    if (head)
        head[WHO] &= head[WHO] - 1;
}

/* A contribution does not come to one of the group. */
static void silent_group(uint32_t rank, uint32_t peer, uint32_t tag, void *message,
                         size_t bytes)
{
    uint64_t *head = head_of(rank, tag, message, COLL_I_RELIABLE_GROUP);
    (void)bytes;
    if (head && rank > peer)
        head[HAS] = 0;
}

/* A class in which somebody is missing counts as whole. */
static void broken_class(uint32_t rank, uint32_t peer, uint32_t tag, void *message,
                         size_t bytes)
{
    uint64_t *head = head_of(rank, tag, message, COLL_I_RELIABLE_UP);
    (void)peer;
    if (!head || head[HAS] != 0)
        return;
    head[HAS] = 1;
    memcpy((unsigned char *)message + bytes - 8, members[rank].reliable.sum, 8);
}

/* Who was not reached passes on what happens to be there. */
static void empty_value(uint32_t rank, uint32_t peer, uint32_t tag, void *message, size_t bytes)
{
    uint64_t *head = head_of(rank, tag, message, COLL_I_RELIABLE_DOWN);
    (void)peer;
    if (!head || head[HAS] != 0)
        return;
    head[HAS] = 1;
    memset((unsigned char *)message + bytes - 8, 0, 8);
}

/* Ranks say in the agreement that they have the value, whether or not. */
static void hasty_agreement(uint32_t rank, uint32_t peer, uint32_t tag, void *message,
                            size_t bytes)
{
    (void)peer;
    if (tag != members[rank].reliable.tag && bytes != 0)
        ((uint64_t *)message)[COLL_I_AGREE_FLAGS] |= COLL_I_RELIABLE_ALL_HAVE;
}

/* Is it noticed, with at most this many crashes? */
static bool is_noticed(void (*tamper)(uint32_t, uint32_t, uint32_t, void *, size_t), kind its,
                       uint32_t survives, bool two)
{
    asked.mutant = true;
    asked.f = survives;
    asked.kind = its;
    asked.count = 1;
    asked.root = 1;
    noticed = false;
    mortal.tamper = tamper;
    for (asked.p = 6; asked.p <= 10 && !noticed; asked.p++)
        if (two)
            (void)with_two_dead();
        else
            (void)with_one_dead();
    mortal.tamper = NULL;
    asked.mutant = false;
    return noticed;
}

/* Each error is noticed, and nothing is where there is none. */
TEST(mutants)
{
    CHECK(!is_noticed(NULL, BCAST, 1, false));
    CHECK(!is_noticed(NULL, REDUCE, 1, false));
    CHECK(!is_noticed(NULL, ALLREDUCE, 1, false));
    CHECK(is_noticed(short_correction, BCAST, 1, false));
    CHECK(is_noticed(short_correction, ALLREDUCE, 1, false));
    CHECK(is_noticed(short_correction, BCAST, 2, true));
    CHECK(is_noticed(forgotten_bit, REDUCE, 1, false));
    CHECK(is_noticed(forgotten_bit, ALLREDUCE, 1, false));
    CHECK(is_noticed(silent_group, REDUCE, 1, false));
    CHECK(is_noticed(broken_class, REDUCE, 1, false));
    CHECK(is_noticed(empty_value, BCAST, 1, false));
    CHECK(is_noticed(hasty_agreement, BCAST, 0, false));
    CHECK(is_noticed(hasty_agreement, REDUCE, 0, false));
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* One rank calls something else than the others, which is `odd`: no rank is told that it is
 * well. */
typedef enum odd { NULL_BUFFER, ALIAS, NO_OPERATOR, OTHER_COUNT, LONGER, OTHER_ROOT, ODDS } odd;

static coll_status begin_oddly(uint32_t r, odd how)
{
    member *m = &members[r];
    coll_reliable *call = &m->reliable;
    const bool is = r == 1;
    const size_t count = is && how == OTHER_COUNT ? 2 : is && how == LONGER ? LONG : 1;
    if (how == OTHER_ROOT)
        return coll_reliable_ibcast(call, m->out, count, COLL_U64, is);
    return coll_reliable_iallreduce(call, is && how == NULL_BUFFER ? NULL : m->in,
                                    is && how == ALIAS ? m->in : m->out, count, COLL_U64,
                                    is && how == NO_OPERATOR ? COLL_USER_OP : COLL_SUM);
}

TEST(ranks_that_disagree)
{
    asked.f = 1;
    for (asked.p = 2; asked.p <= 5; asked.p++)
        for (uint32_t how = 0; how < ODDS; how++) {
            coll_status status[MORTALS];
            uint32_t left = asked.p;
            mortal_begin(asked.p, MORTAL_LATE, how);
            prepare();
            for (uint32_t r = 0; r < asked.p; r++) {
                CHECK_STATUS(begin_oddly(r, (odd)how), COLL_OK);
                CHECK_STATUS(begin_oddly(r, (odd)how), COLL_ERR_BUSY);
                CHECK_STATUS(coll_reliable_free(&members[r].reliable), COLL_ERR_BUSY);
                status[r] = COLL_AGAIN;
            }
            for (uint32_t steps = 0; left > 0 && steps < STEPS; steps++) {
                const uint32_t r = mortal_draw(asked.p);
                mortal.now++;
                if (status[r] != COLL_AGAIN) {
                    coll_progress(&members[r].comm);
                    continue;
                }
                status[r] = coll_reliable_test(&members[r].reliable);
                left -= status[r] != COLL_AGAIN;
            }
            if (!CHECK_EQ(left, 0))
                say(how, how);
            for (uint32_t r = 0; r < asked.p; r++) {
                CHECK(status[r] < 0);
                CHECK_STATUS(coll_reliable_test(&members[r].reliable), status[r]);
                CHECK_STATUS(coll_reliable_bcast(&members[r].reliable, NULL, 0, COLL_U8, 0),
                             status[r]);
                CHECK_STATUS(coll_reliable_free(&members[r].reliable), COLL_OK);
            }
            if (how <= NO_OPERATOR)
                CHECK_STATUS(status[1], how == NULL_BUFFER ? COLL_ERR_NULL
                                        : how == ALIAS     ? COLL_ERR_IN_PLACE
                                                           : COLL_ERR_OP);
        }
}

static void keep_first(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)b, (void)arg;
    memmove(dst, a, count * 8);
}

/* What all ranks find alike is refused, and nothing has happened; a rank alone, by the calls that
 * block. */
TEST(refused_and_alone)
{
    member *m = &members[0];
    const coll_op left = COLL_OP(keep_first, NULL, false, false);
    coll_op_entry entry;
    coll_operator ordered = COLL_SUM;
    asked.p = 1;
    asked.f = 0;
    mortal_begin(1, 0, 0);
    prepare();
    m->in[0] = 7;
    CHECK_STATUS(coll_comm_add_op(&m->comm, &entry, &left, COLL_U64, &ordered), COLL_OK);
    CHECK_STATUS(coll_reliable_bcast(&m->reliable, m->out, 1, COLL_U64, 1), COLL_ERR_ROOT);
    CHECK_STATUS(coll_reliable_bcast(&m->reliable, m->out, 1, COLL_OPAQUE(0), 0),
                 COLL_ERR_TYPE);
    CHECK_STATUS(coll_reliable_bcast(&m->reliable, m->out, SIZE_MAX, COLL_U64, 0),
                 COLL_ERR_OVERFLOW);
    CHECK_STATUS(
        coll_reliable_allreduce(&m->reliable, m->in, m->out, 1 << 20, COLL_U64, COLL_SUM),
        COLL_ERR_MEMORY);
    CHECK_STATUS(coll_reliable_allreduce(&m->reliable, m->in, m->out, 1, COLL_F64, COLL_BOR),
                 COLL_ERR_OP);
    CHECK_STATUS(coll_reliable_reduce(&m->reliable, m->in, m->out, 1, COLL_U64, ordered, 0),
                 COLL_ERR_ORDER);
    CHECK_STATUS(coll_reliable_allreduce(&m->reliable, m->in, m->out, 1, COLL_U64, COLL_SUM),
                 COLL_OK);
    CHECK(m->out[0] == 7 && coll_reliable_has(&m->reliable, 0));
    CHECK(!coll_reliable_has(&m->reliable, 1) && !coll_reliable_has(NULL, 0));
    CHECK_STATUS(coll_reliable_reduce(&m->reliable, m->in, m->out, 1, COLL_U64, COLL_SUM, 0),
                 COLL_OK);
    CHECK_STATUS(coll_reliable_bcast(&m->reliable, m->out, 1, COLL_U64, 0), COLL_OK);
    CHECK_STATUS(coll_reliable_wait(&m->reliable), COLL_OK);
    CHECK_STATUS(coll_recovery_free(&m->recovery), COLL_ERR_BUSY);
    CHECK_STATUS(coll_reliable_free(&m->reliable), COLL_OK);

    CHECK_STATUS(coll_reliable_init(&m->reliable, &m->recovery, 1, m->room_too, sizeof m->room),
                 COLL_ERR_PARAM);
    CHECK(strstr(coll_reliable_lacks(&m->recovery, 1), "below the number of ranks") != NULL);
    CHECK(strstr(coll_reliable_lacks(NULL, 1), "coll_recovery_init") != NULL);
    CHECK(coll_reliable_lacks(&m->recovery, 0) == NULL);
    CHECK_STATUS(coll_reliable_init(&m->reliable, &m->recovery, 0, m->room_too, 64),
                 COLL_ERR_MEMORY);
    CHECK_STATUS(coll_reliable_init(&m->reliable, &m->recovery, 0, NULL, 64), COLL_ERR_NULL);
    CHECK_STATUS(coll_reliable_init(NULL, NULL, 0, NULL, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_reliable_bcast(NULL, NULL, 0, COLL_U8, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_reliable_test(NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_reliable_free(NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_recovery_free(&m->recovery), COLL_OK);

    asked.p = 2;
    mortal_begin(2, 0, 0);
    prepare();
    pieces.max_bytes = 64; /* less than a head */
    CHECK(strstr(coll_reliable_lacks(&m->recovery, 0), "max_bytes") != NULL);
    CHECK_STATUS(
        coll_reliable_init(&m->reliable, &m->recovery, 0, m->room_too, sizeof m->room_too),
        COLL_ERR_CAPABILITY);
    pieces.max_bytes = PIECE;
    for (uint32_t i = 0; i < TAGS / 2; i++) {
        static coll_reliable many[TAGS / 2];
        const coll_status status =
            coll_reliable_init(&many[i], &m->recovery, 0, m->room_too, sizeof m->room_too);
        CHECK_STATUS(status, i + 1 < TAGS / 2 ? COLL_OK : COLL_ERR_TAG);
    }
}

int main(int argc, char **argv)
{
    everything = argc > 1 && strcmp(argv[1], "all") == 0;
    RUN(refused_and_alone);
    RUN(ranks_that_disagree);
    RUN(mutants);
    RUN(nobody_dies);
    RUN(one_dies);
    RUN(two_die);
    RUN(many_die);
    return check_done();
}
