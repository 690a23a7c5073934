/* Ranks on an Ethernet in memory: the conformance kit, collectives, failures and leaving, while the wire loses,
 * repeats and reorders frames; what a frame looks like; frames of strangers. */
#include "support/ethernet_wire.h"

#include "coll/algos/dissemination.h"
#include "coll/algos/multicast.h"
#include "coll/algos/ring.h"
#include "coll/executor.h"
#include "coll/executor/in_order.h"
#include "coll/reduce.h"
#include "coll/transports/conformance.h"

static const coll_transport *const t = &coll_ethernet_transport;

/* ---- a rank ------------------------------------------------------------------------------ */

TEST(opening)
{
    static unsigned char memory[COLL_ETHERNET_BYTES(4, 4, 2) + 64];
    coll_ethernet_options options;
    coll_ethernet *eth = &wire_ranks[0];
    wire_init(4, 1);
    options = wire_options(3, 4, 2);
    CHECK_STATUS(coll_transport_check(t), COLL_OK);
    for (uint32_t at = 0; at < 16; at++) {
        const size_t bytes = COLL_ETHERNET_BYTES(4, 4, 2);
        memset(memory, 0xee, sizeof memory);
        CHECK_STATUS(coll_ethernet_init(eth, &options, memory + at, bytes), COLL_OK);
        memset(eth->head, 0, COLL_I_ETH_HEAD + 4 * 4);
        CHECK((uintptr_t)eth->ops % sizeof(void *) == 0);
        CHECK(eth->head + COLL_I_ETH_HEAD + 16 <= memory + at + bytes);
        CHECK(memory[at + bytes] == 0xee && (at == 0 || memory[at - 1] == 0xee));
        CHECK_STATUS(coll_ethernet_init(eth, &options, memory + at, bytes - 1),
                     COLL_ERR_MEMORY);
    }
    CHECK_STATUS(coll_ethernet_init(NULL, &options, memory, sizeof memory), COLL_ERR_NULL);
    CHECK_STATUS(coll_ethernet_init(eth, NULL, memory, sizeof memory), COLL_ERR_NULL);
    CHECK_STATUS(coll_ethernet_init(eth, &options, NULL, sizeof memory), COLL_ERR_NULL);
    for (uint32_t wrong = 0; wrong < 12; wrong++) {
        static const coll_status status[] = {COLL_ERR_NULL,  COLL_ERR_RANKS, COLL_ERR_RANKS,
                                             COLL_ERR_RANK,  COLL_ERR_PARAM, COLL_ERR_PARAM,
                                             COLL_ERR_PARAM, COLL_ERR_PARAM, COLL_ERR_PARAM,
                                             COLL_ERR_PARAM, COLL_ERR_PARAM, COLL_ERR_MEMORY};
        coll_ethernet_options o = options;
        o.driver = wrong == 0 ? NULL : o.driver;
        o.p = wrong == 1 ? 0 : wrong == 2 ? 116 : o.p;
        o.rank = wrong == 3 ? 4 : o.rank;
        o.session = wrong == 4 ? 0x10000 : o.session;
        o.patience = wrong == 5   ? (uint32_t)1 << 31
                     : wrong == 6 ? 32 * o.retry - 1
                                  : o.patience;
        o.retry = wrong == 7 ? 0 : o.retry;
        o.ops = wrong == 8 ? 0 : wrong == 9 ? 1 : wrong == 10 ? 0xffff : o.ops;
        o.early = wrong == 11 ? 0x10000 : o.early;
        CHECK_STATUS(coll_ethernet_init(eth, &o, memory, sizeof memory), status[wrong]);
    }
}

/* What may not be started. */
TEST(refusals)
{
    coll_handle h, other;
    uint32_t word = 0;
    wire_init(2, 1);
    wire_open_all(3, 0);
    CHECK_STATUS(t->send(&wire_ranks[0], 2, 0, &word, 4, &h), COLL_ERR_RANK);
    CHECK_STATUS(t->send(&wire_ranks[0], 0, 0, &word, 4, &h), COLL_ERR_RANK);
    CHECK_STATUS(t->recv(&wire_ranks[0], 1, COLL_ETHERNET_TAGS, &word, 4, &h), COLL_ERR_TAG);
    CHECK_STATUS(t->recv(&wire_ranks[0], 1, 0, &word, COLL_ETHERNET_MOST + 1, &h),
                 COLL_ERR_SIZE);
    CHECK_STATUS(t->in_network->multicast(&wire_ranks[0], COLL_ETHERNET_TAGS, &word, 4, &h),
                 COLL_ERR_TAG);
    CHECK_STATUS(t->send(&wire_ranks[0], 1, 0, &word, 4, &h), COLL_STARTED);
    CHECK_STATUS(t->send(&wire_ranks[0], 1, 0, &word, 4, &other), COLL_STARTED);
    CHECK_STATUS(t->send(&wire_ranks[0], 1, 0, &word, 4, &other), COLL_AGAIN);
    CHECK_STATUS(t->in_network->multicast(&wire_ranks[0], 0, &word, 4, &other), COLL_AGAIN);
    CHECK_STATUS(t->recv(&wire_ranks[0], 1, 0, &word, 4, &other), COLL_STARTED);
    CHECK_STATUS(t->recv(&wire_ranks[0], 1, 0, &word, 4, &h), COLL_AGAIN);
    wire_close();
    wire_init(1, 1);
    wire_open_all(2, 0);
    CHECK_STATUS(t->in_network->multicast(&wire_ranks[0], 0, &word, 4, &h), COLL_OK);
    CHECK_EQ(t->in_network->ranks(&wire_ranks[0]), 1);
    CHECK_STATUS(coll_ethernet_leave(&wire_ranks[0]), COLL_OK);
    wire_close();
}

/* A frame, byte by byte: other implementations depend on it. */
TEST(frames)
{
    static const unsigned char message[] = {0x02, 0x00, 0x12, 0x34, 0x00, 0x01, 0x02, 0x00,
                                            0x12, 0x34, 0x00, 0x02, 0x88, 0xb5, 0x00, 0x05,
                                            0x34, 0x12, 0x02, 0x00, 0x01, 0x00, 0x03, 0x00,
                                            0x00, 0x00, 0x00, 0x00, 'a',  'b',  'c',  0x00};
    static const unsigned char multicast[] = {
        0x03, 0x00, 0x12, 0x34, 0xff, 0xff, 0x02, 0x00, 0x12, 0x34, 0x00, 0x02,
        0x88, 0xb5, 0x01, 0x05, 0x34, 0x12, 0x02, 0x00, 0xff, 0xff, 0x03, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00};
    static const unsigned char acknowledgement[] = {
        0x02, 0x00, 0x12, 0x34, 0x00, 0x02, 0x02, 0x00, 0x12, 0x34, 0x00, 0x01, 0x88, 0xb5,
        0x02, 0x05, 0x34, 0x12, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
    const wire_frame *first = &ether.card[1].queue[0];
    static unsigned char foreign[COLL_I_ETH_HEAD + COLL_ETHERNET_MOST + 1];
    char in[3] = "";
    coll_handle h, multicasts;
    wire_init(3, 1);
    wire_open_all(8, 1);
    CHECK_STATUS(t->send(&wire_ranks[2], 1, 5, "abc", 3, &h), COLL_STARTED);
    CHECK(ether.card[0].queued == 0 && ether.card[1].queued == 1 && first->bytes == 60);
    CHECK(memcmp(first->data, message, sizeof message) == 0);
    CHECK_STATUS(t->in_network->multicast(&wire_ranks[2], 5, "def", 3, &multicasts),
                 COLL_STARTED);
    CHECK(ether.card[0].queued == 1 && ether.card[1].queued == 2);
    CHECK(memcmp(first[1].data, multicast, sizeof multicast) == 0);
    CHECK(memcmp(first[1].data + 28 + 12, "def", 3) == 0);
    t->progress(&wire_ranks[1]); /* one message is kept, the other dropped */
    CHECK_EQ(ether.card[2].queued, 0);
    CHECK_STATUS(t->recv(&wire_ranks[1], 2, 5, in, 3, &h), COLL_OK);
    CHECK(memcmp(in, "abc", 3) == 0 && ether.card[2].queued == 1);
    CHECK(memcmp(ether.card[2].queue[0].data, acknowledgement, sizeof acknowledgement) == 0);
    CHECK_STATUS(t->recv(&wire_ranks[1], 2, 5, in, 3, &h), COLL_STARTED);
    CHECK_EQ(ether.card[2].queued, 2); /* it is asked for */
    t->progress(&wire_ranks[2]);
    CHECK_STATUS(t->test(&wire_ranks[1], &h), COLL_OK);
    CHECK(memcmp(in, "def", 3) == 0);
    memcpy(foreign, message,
           sizeof message); /* of a rank that cuts messages later than this one */
    foreign[22] = (COLL_ETHERNET_MOST + 1) & 0xff;
    foreign[23] = (COLL_ETHERNET_MOST + 1) >> 8;
    foreign[24] = 2;
    wire_deliver(&ether.card[1], foreign, sizeof foreign);
    t->progress(&wire_ranks[1]);
    CHECK_STATUS(t->recv(&wire_ranks[1], 2, 5, in, 3, &h), COLL_STARTED);
    wire_deliver(&ether.card[1], foreign, sizeof foreign);
    CHECK_STATUS(t->test(&wire_ranks[1], &h), COLL_ERR_SIZE);
    wire_close();
}

/* ---- the kit ----------------------------------------------------------------------------- */

#define ABSENT(check) (1u << COLL_CONFORMANCE_##check)

/* Steps the kits in turn. A rank whose kit waits, or has passed, still answers, as one does that computes. */
static coll_status drive(coll_conformance *kit, uint32_t p)
{
    coll_status status = COLL_AGAIN;
    while (status == COLL_AGAIN) {
        status = COLL_OK;
        for (uint32_t r = 0; r < p && status >= 0; r++) {
            const coll_status its = coll_conformance_step(&kit[r]);
            t->progress(&wire_ranks[r]);
            status = its == COLL_OK ? status : its;
        }
    }
    return status;
}

static void run_kit(uint32_t p, uint32_t w, uint32_t ops, uint32_t early, uint64_t seed)
{
    static coll_conformance kit[WIRE_RANKS];
    const uint32_t absent = ABSENT(COPY) | ABSENT(REDUCE) | ABSENT(ACQUIRE) | ABSENT(ARRIVAL) |
                            ABSENT(NETWORK_REDUCE) | ABSENT(SHARED) | ABSENT(TURNS) |
                            ABSENT(EVENTS) | ABSENT(USES) | ABSENT(CLAIMS) | ABSENT(KEPT) |
                            ABSENT(PUTS) | (p < 3 ? ABSENT(SLOW_PEER) : 0);
    bool well = true;
    wire_init(p, seed);
    wire_blow(w);
    wire_open_all(ops, early);
    for (uint32_t r = 0; r < p && well; r++) {
        coll_conformance_task task = {t, &wire_ranks[r], r, p, 0, 16, 0, 0, NULL, 0};
        task.bytes = coll_conformance_bytes(&task);
        task.memory = malloc(task.bytes);
        well = CHECK(task.memory != NULL) &&
               CHECK_STATUS(coll_conformance_init(&kit[r], &task), COLL_OK);
    }
    if (well && !CHECK_STATUS(drive(kit, p), COLL_OK))
        printf("    p = %u, weather %u, %u early: %s\n", (unsigned)p, (unsigned)w,
               (unsigned)early, coll_conformance_sentence(kit, p));
    for (uint32_t c = 0; c < COLL_CONFORMANCE_CHECKS && well && kit->status == COLL_OK; c++) {
        const coll_conformance_check check = (coll_conformance_check)c;
        const coll_conformance_result result = coll_conformance_result_of(kit, p, check);
        if (!CHECK(result == (absent >> c & 1u ? COLL_CONFORMANCE_NOT_THERE
                                               : COLL_CONFORMANCE_PASSED) ||
                   check == COLL_CONFORMANCE_REFUSAL))
            printf("    %s: %s\n", coll_conformance_name(check),
                   coll_conformance_result_text(result));
    }
    for (uint32_t r = 0; r < p; r++)
        free(kit[r].task.memory);
    wire_close();
}

TEST(conformance)
{
    for (uint32_t p = 2; p <= 5; p++)
        for (uint32_t w = 0; w < WIRE_WEATHERS; w++)
            run_kit(p, w, w % 2 ? 60 : 14, p % 3, 100 * p + w);
}

/* ---- collectives ------------------------------------------------------------------------- */

enum { COUNT = 1500, SLOTS = 8 };

static struct job {
    coll_plan plan;
    coll_engine engine;
    coll_slot slots[SLOTS];
    coll_in_order in_order;
    coll_outstanding ops[4];
    int32_t in[COUNT], out[COUNT];
} jobs[3][WIRE_RANKS];

static const coll_op add = COLL_OP(coll_sum_i32, NULL, true, true);

/* Starts a collective on a rank: with the window engine, or in order. */
static void start(struct job *job, const coll_algorithm *algorithm, coll_collective collective,
                  uint32_t rank, uint32_t tag, bool in_order)
{
    coll_problem problem;
    coll_task task;
    coll_problem_init(&problem, collective, ether.p, collective == COLL_BARRIER ? 0 : COUNT,
                      sizeof(int32_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&job->plan, algorithm, &problem, NULL), COLL_OK);
    coll_task_init(&task, &job->plan, rank, t, &wire_ranks[rank]);
    task.tag = tag;
    for (int32_t i = 0; i < COUNT; i++) {
        job->in[i] = (int32_t)(rank + 1) * (i + (int32_t)tag);
        job->out[i] = -1;
    }
    if (collective != COLL_BARRIER) {
        task.in = job->in;
        task.out = job->out;
        task.op = collective == COLL_ALLREDUCE ? &add : NULL;
    }
    if (in_order) {
        CHECK_STATUS(coll_in_order_init(&job->in_order, job->ops, 4), COLL_OK);
        CHECK_STATUS(coll_in_order_start(&job->in_order, &task), COLL_OK);
    } else {
        CHECK_STATUS(coll_engine_init(&job->engine, job->slots, SLOTS), COLL_OK);
        CHECK_STATUS(coll_engine_start(&job->engine, &task), COLL_OK);
    }
}

/* An allreduce, a broadcast by multicast and a barrier run at once, on three tags. */
static void three(uint32_t p, uint32_t w, uint32_t early, uint64_t seed)
{
    const int32_t all = (int32_t)(p * (p + 1) / 2);
    uint32_t running = 3 * p, rounds = 0;
    wire_init(p, seed);
    wire_blow(w);
    wire_open_all(3 * SLOTS + p, early);
    for (uint32_t r = 0; r < p; r++) {
        start(&jobs[0][r], &coll_ring_allreduce, COLL_ALLREDUCE, r, 0, r % 2);
        start(&jobs[1][r], &coll_multicast_bcast, COLL_BCAST, r, 1, false);
        start(&jobs[2][r], &coll_dissemination_barrier, COLL_BARRIER, r, 2, r % 2 == 0);
    }
    while (running > 0 && rounds++ < 1000000) {
        running = 0;
        for (uint32_t r = 0; r < p; r++)
            t->progress(&wire_ranks[r]);
        for (uint32_t k = 0; k < 3; k++)
            for (uint32_t r = 0; r < p; r++)
                running += ((k == 0 && r % 2) || (k == 2 && r % 2 == 0)
                                ? coll_in_order_progress(&jobs[k][r].in_order)
                                : coll_engine_progress(&jobs[k][r].engine)) == COLL_AGAIN;
    }
    CHECK_EQ(running, 0);
    for (uint32_t r = 0; r < p; r++) {
        const struct job *sum = &jobs[0][r], *copy = &jobs[1][r], *barrier = &jobs[2][r];
        int32_t wrong = 0;
        CHECK_STATUS(r % 2 ? sum->in_order.status : sum->engine.status, COLL_OK);
        CHECK_STATUS(copy->engine.status, COLL_OK);
        CHECK_STATUS(r % 2 ? barrier->engine.status : barrier->in_order.status, COLL_OK);
        for (int32_t i = 0; i < COUNT; i++)
            wrong += sum->out[i] != all * i || (r != 0 && copy->out[i] != i + 1);
        CHECK_EQ(wrong, 0);
    }
    CHECK(wire_weather[w].busy != 0 ||
          ether.multicasts >=
              (COUNT * sizeof(int32_t) + COLL_ETHERNET_MOST - 1) / COLL_ETHERNET_MOST);
    wire_close();
}

TEST(collectives)
{
    for (uint32_t p = 2; p <= WIRE_RANKS; p++)
        for (uint32_t w = 0; w < WIRE_WEATHERS; w++)
            for (uint32_t k = 0; k < 3; k++)
                three(p, w, 4 * k, 1000 * p + 10 * w + k);
}

/* Without loss no frame is sent that could have been spared: the message, and its acknowledgement. */
TEST(no_frame_too_many)
{
    coll_handle s, r;
    uint32_t out = 7, in = 0;
    wire_init(2, 1);
    wire_open_all(4, 1);
    for (uint32_t i = 0; i < 100; i++) {
        if (i % 2)
            CHECK_STATUS(t->recv(&wire_ranks[1], 0, 0, &in, 4, &r), COLL_STARTED);
        CHECK_STATUS(t->send(&wire_ranks[0], 1, 0, &out, 4, &s), COLL_STARTED);
        if (i % 2) {
            CHECK_STATUS(t->test(&wire_ranks[1], &r), COLL_OK);
        } else {
            t->progress(&wire_ranks[1]);
            CHECK_STATUS(t->recv(&wire_ranks[1], 0, 0, &in, 4, &r), COLL_OK);
        }
        CHECK_STATUS(t->test(&wire_ranks[0], &s), COLL_OK);
    }
    CHECK_EQ(ether.frames, 200);
    wire_close();
}

/* ---- failures ---------------------------------------------------------------------------- */

/* Rank 2 is pulled out; who waits for it notices, and tells the others, who notice although they only wait for
 * each other. A rank that lives but has nothing to say is not dead. */
TEST(death)
{
    for (uint32_t sends = 0; sends < 2; sends++) {
        coll_handle waits, other;
        uint32_t word = 1;
        wire_init(4, sends + 1);
        ether.lost = 50;
        ether.patience = 100 * WIRE_RETRY;
        wire_open_all(4, 1);
        CHECK_STATUS(t->recv(&wire_ranks[3], 0, 1, &word, 4, &other), COLL_STARTED);
        for (uint32_t i = 0; i < 4 * ether.patience; i++) {
            CHECK(t->test(&wire_ranks[3], &other) == COLL_AGAIN);
            t->progress(&wire_ranks[0]);
        }
        CHECK(!t->failure->dead(&wire_ranks[3], 0));
        ether.card[2].out = true;
        if (sends)
            CHECK_STATUS(t->send(&wire_ranks[0], 2, 1, &word, 4, &waits), COLL_STARTED);
        else
            CHECK_STATUS(t->recv(&wire_ranks[0], 2, 1, &word, 4, &waits), COLL_STARTED);
        CHECK_STATUS(wire_poll(0, &waits), COLL_ERR_IO);
        CHECK(t->failure->dead(&wire_ranks[0], 2) && !t->failure->dead(&wire_ranks[0], 3));
        t->failure->abort(&wire_ranks[0], 1, 1);
        t->failure->cancel(&wire_ranks[0], &waits);
        CHECK_STATUS(wire_poll(3, &other), COLL_ERR_PEER);
        t->failure->cancel(&wire_ranks[3], &other);
        CHECK_STATUS(t->send(&wire_ranks[3], 0, 1, &word, 4, &other), COLL_ERR_PEER);
        CHECK_STATUS(t->send(&wire_ranks[0], 2, 0, &word, 4, &other), COLL_ERR_IO);
        CHECK_STATUS(t->recv(&wire_ranks[3], 0, 0, &word, 4, &other), COLL_STARTED);
        CHECK_STATUS(t->send(&wire_ranks[0], 3, 0, &word, 4, &waits), COLL_STARTED);
        CHECK_STATUS(wire_poll(0, &waits), COLL_OK); /* other tags go on */
        wire_close();
    }
}

/* A rank that was away for long does not think that the others are dead. */
TEST(away)
{
    coll_handle h;
    uint32_t word = 1;
    wire_init(2, 1);
    ether.patience = 100 * WIRE_RETRY;
    wire_open_all(4, 1);
    CHECK_STATUS(t->recv(&wire_ranks[0], 1, 1, &word, 4, &h), COLL_STARTED);
    CHECK_STATUS(t->test(&wire_ranks[0], &h), COLL_AGAIN);
    ether.clock += 5 * ether.patience;
    for (uint32_t i = 0; i < 2 * ether.patience; i++) {
        CHECK(t->test(&wire_ranks[0], &h) == COLL_AGAIN);
        t->progress(&wire_ranks[1]);
    }
    wire_close();
}

/* The first frame that tells of an abort is lost: those who ask in vain are told. */
TEST(aborts_are_lost)
{
    coll_handle h[2];
    uint32_t word = 1;
    wire_init(3, 1);
    wire_open_all(4, 1);
    CHECK_STATUS(t->recv(&wire_ranks[0], 1, 3, &word, 4, &h[0]), COLL_STARTED);
    CHECK_STATUS(t->send(&wire_ranks[1], 2, 3, &word, 4, &h[1]), COLL_STARTED);
    ether.lost = 1000;
    t->failure->abort(&wire_ranks[2], 3, COLL_ETHERNET_TAGS);
    ether.lost = 0;
    CHECK_EQ(wire_ranks[2].aborted, UINT32_MAX - 7);
    CHECK_STATUS(wire_poll(1, &h[1]), COLL_ERR_PEER);
    CHECK_STATUS(wire_poll(0, &h[0]), COLL_ERR_PEER);
    wire_close();
}

/* All leave, whatever is lost, and answer until then. */
TEST(leaving)
{
    for (uint32_t w = 0; w < WIRE_WEATHERS; w++) {
        uint32_t rounds = 0, left = 0, word = 1;
        bool over[WIRE_RANKS] = {false};
        coll_handle h, late;
        coll_status status = COLL_AGAIN;
        wire_init(5, w);
        wire_open_all(4, 1);
        CHECK_STATUS(t->recv(&wire_ranks[1], 0, 0, &word, 4, &h), COLL_STARTED);
        CHECK_STATUS(t->send(&wire_ranks[0], 1, 0, &word, 4, &late), COLL_STARTED);
        CHECK_STATUS(t->test(&wire_ranks[1], &h), COLL_OK);
        ether.card[0].queued = 0; /* its acknowledgement is lost, and rank 1 leaves */
        wire_blow(w);
        while (left < 5 && rounds++ < 4 * ether.patience) {
            for (uint32_t r = 0; r < 5; r++) {
                if (over[r])
                    continue;
                if (r == 0 && status == COLL_AGAIN)
                    status = t->test(&wire_ranks[0], &late);
                else
                    over[r] = coll_ethernet_leave(&wire_ranks[r]) == COLL_OK;
                left += over[r];
            }
        }
        CHECK_STATUS(status, COLL_OK);
        CHECK_EQ(left, 5);
        CHECK(w == 4 || rounds < 40 * WIRE_RETRY);
        wire_close();
    }
    wire_init(2, 1); /* the other one never comes */
    ether.patience = 100 * WIRE_RETRY;
    wire_open_all(4, 1);
    ether.card[1].out = true;
    for (uint32_t i = 0;
         i < ether.patience && coll_ethernet_leave(&wire_ranks[0]) == COLL_AGAIN; i++)
        ;
    CHECK_STATUS(coll_ethernet_leave(&wire_ranks[0]), COLL_OK);
    wire_close();
}

/* Frames of strangers, and frames of which any byte is wrong: whatever they say, memory stays whole (the
 * sanitizers look), and what is in flight ends or goes on. */
static void spoil(unsigned char *frame, size_t bytes)
{
    for (uint32_t n = chance(4); n > 0; n--)
        frame[chance((uint32_t)bytes)] = (unsigned char)chance(256);
}

TEST(strangers)
{
    enum { ROUNDS = 20000 };
    static unsigned char buffer[WIRE_RANKS][16][64];
    coll_handle h[WIRE_RANKS][16];
    bool flies[WIRE_RANKS][16] = {{false}};
    uint32_t over = 0;
    wire_init(4, 9);
    wire_open_all(16, 2);
    ether.spoil = spoil;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t r = chance(4), k = chance(16), peer = (r + 1 + chance(3)) % 4;
        const size_t bytes = chance(64);
        coll_status status;
        unsigned char junk[128];
        if (flies[r][k])
            status = t->test(&wire_ranks[r], &h[r][k]);
        else
            status =
                chance(2)
                    ? t->send(&wire_ranks[r], peer, chance(3), buffer[r][k], bytes, &h[r][k])
                    : t->recv(&wire_ranks[r], peer, chance(3), buffer[r][k], bytes, &h[r][k]);
        if (flies[r][k] && status == COLL_AGAIN && chance(20) == 0)
            status = COLL_ERR_CANCELLED;
        if (flies[r][k] && status < 0)
            t->failure->cancel(&wire_ranks[r], &h[r][k]);
        over += flies[r][k] && status != COLL_AGAIN;
        flies[r][k] = status == COLL_STARTED || (flies[r][k] && status == COLL_AGAIN);
        wire_ranks[r].aborted &= ~(uint32_t)7; /* or nothing would go on */
        for (size_t at = 0; at < sizeof junk; at++)
            junk[at] = (unsigned char)chance(256);
        junk[12] = 0x88, junk[13] = 0xb5, junk[16] = 0x34, junk[17] = 0x12;
        junk[14] = (unsigned char)(chance(8) + (chance(2) ? 128 : 0));
        junk[19] = junk[21] = junk[23] = 0;
        wire_deliver(&ether.card[r], junk, chance(sizeof junk));
    }
    CHECK(over > ROUNDS / 50);
    wire_close();
}

int main(void)
{
    RUN(opening);
    RUN(refusals);
    RUN(frames);
    RUN(conformance);
    RUN(collectives);
    RUN(no_frame_too_many);
    RUN(death);
    RUN(away);
    RUN(aborts_are_lost);
    RUN(leaving);
    RUN(strangers);
    return check_done();
}
