/* The threads transport: its queues by themselves, in one thread; then every row of the
 * registry with a thread a rank, several collectives at once, ranks that fail or give up in the
 * middle. */
#include "support/check.h"

#include <pthread.h>
#include <time.h>

#include "coll/algos/registry.h"
#include "coll/transports/threads.h"
#include "support/records.h"
#include "support/rig.h"

#include "support/kinds.h"

/* ---- one thread -------------------------------------------------------------------------- */

static const coll_transport *const t = &coll_threads_transport;

enum { MEDIUM = COLL_NODE_INLINE + 1, LONG = COLL_NODE_STREAM + 1 };

TEST(worlds)
{
    coll_threads *world = coll_threads_create(3);
    coll_handle h;
    char a = 'a';
    CHECK(coll_threads_create(0) == NULL);
    CHECK(coll_threads_rank(world, 3) == NULL);
    CHECK(coll_threads_rank(NULL, 0) == NULL);
    CHECK_STATUS(coll_transport_check(t), COLL_OK);
    CHECK_STATUS(t->send(coll_threads_rank(world, 0), 3, 0, &a, 1, &h), COLL_ERR_RANK);
    CHECK_STATUS(t->recv(coll_threads_rank(world, 0), 3, 0, &a, 1, &h), COLL_ERR_RANK);
    coll_threads_destroy(world);
    coll_threads_destroy(NULL);
}

static size_t length_of(unsigned i)
{
    return i % 4 == 0 ? LONG : i % 4 == 2 ? MEDIUM + i : i;
}

/* Short, medium and long messages of three tags, taken in another order than they were sent. */
TEST(order_and_tags)
{
    enum { N = 24 };
    coll_threads *world = coll_threads_create(2);
    void *const a = coll_threads_rank(world, 0), *const b = coll_threads_rank(world, 1);
    static unsigned char sent[N][LONG], got[LONG];
    coll_handle s[N], r;
    for (int round = 0; round < 3; round++) {
        coll_status status[N];
        for (unsigned i = 0; i < N; i++) {
            memset(sent[i], (int)i + 1, LONG);
            status[i] = t->send(a, 1, i % 3, sent[i], length_of(i), &s[i]);
            CHECK_STATUS(status[i], i % 4 ? COLL_OK : COLL_STARTED);
        }
        for (unsigned k = 0; k < N; k++) { /* tag 2, then 0, then 1 */
            const unsigned i = k % (N / 3) * 3 + (k / (N / 3) + 2) % 3;
            const size_t bytes = length_of(i);
            if (status[i] == COLL_STARTED)
                CHECK_STATUS(t->test(a, &s[i]), COLL_AGAIN);
            if (i % 5 == 0) {
                const void *message = NULL;
                CHECK_STATUS(t->zero_copy->acquire(b, 0, i % 3, bytes, &message, &r), COLL_OK);
                CHECK(bytes == 0 || *(const unsigned char *)message == i + 1);
                t->zero_copy->release(b, &r);
            } else {
                memset(got, 0, sizeof got);
                CHECK_STATUS(t->recv(b, 0, i % 3, got, bytes, &r), COLL_OK);
                CHECK(bytes == 0 || (got[0] == i + 1 && got[bytes - 1] == i + 1));
            }
            if (status[i] == COLL_STARTED)
                CHECK_STATUS(t->test(a, &s[i]), COLL_OK);
        }
    }
    coll_threads_destroy(world);
}

/* A receive that was started keeps its message from younger ones, and sizes must agree. */
TEST(receives)
{
    coll_threads *world = coll_threads_create(2);
    void *const a = coll_threads_rank(world, 0), *const b = coll_threads_rank(world, 1);
    char sent[2][LONG] = {"one", "two"}, got[2][LONG];
    coll_handle s, r[2];
    const void *message;
    for (int i = 0; i < 2; i++)
        CHECK_STATUS(t->recv(b, 0, 0, got[i], 4, &r[i]), COLL_STARTED);
    CHECK_STATUS(t->test(b, &r[0]), COLL_AGAIN);
    for (int i = 0; i < 2; i++)
        CHECK_STATUS(t->send(a, 1, 0, sent[i], 4, &s), COLL_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(t->test(b, &r[i]), COLL_OK);
        CHECK_EQ(strcmp(sent[i], got[i]), 0);
    }
    CHECK_STATUS(t->send(a, 1, 0, sent[0], 4, &s), COLL_OK);
    CHECK_STATUS(t->recv(b, 0, 0, got[0], 5, &r[0]), COLL_ERR_SIZE);
    CHECK_STATUS(t->recv(b, 0, 0, got[0], LONG, &r[0]), COLL_ERR_SIZE);
    CHECK_STATUS(t->zero_copy->acquire(b, 0, 0, 0, &message, &r[0]), COLL_ERR_SIZE);
    CHECK_STATUS(t->recv(b, 0, 0, got[0], 4, &r[0]), COLL_OK);
    CHECK_STATUS(t->send(a, 1, 0, sent[0], LONG, &s), COLL_STARTED);
    CHECK_STATUS(t->recv(b, 0, 0, got[0], 4, &r[0]), COLL_ERR_SIZE);
    CHECK_STATUS(t->test(a, &s), COLL_AGAIN);
    CHECK_STATUS(t->recv(b, 0, 0, got[0], LONG, &r[0]), COLL_OK);
    CHECK_STATUS(t->test(a, &s), COLL_OK);
    coll_threads_destroy(world);
}

/* A full ring takes nothing more, until its reader looks for another tag. */
TEST(full_ring)
{
    enum { N = 10 * COLL_NODE_CELLS };
    coll_threads *world = coll_threads_create(2);
    void *const a = coll_threads_rank(world, 0), *const b = coll_threads_rank(world, 1);
    unsigned sent = 0, got = 0;
    coll_handle h;
    const void *message;
    while (sent < N) {
        const coll_status status = t->send(a, 1, 1, &sent, sizeof sent, &h);
        sent += status == COLL_OK;
        if (status == COLL_AGAIN) {
            CHECK_EQ(((coll_i_node_rank *)a)->links[1]->tail % COLL_NODE_CELLS, 0);
            CHECK_STATUS(t->zero_copy->acquire(b, 0, 2, 0, &message, &h), COLL_AGAIN);
        }
    }
    CHECK_STATUS(t->zero_copy->acquire(b, 0, 2, 0, &message, &h), COLL_AGAIN);
    CHECK_STATUS(t->send(a, 1, 2, NULL, 0, &h), COLL_OK);
    CHECK_STATUS(t->recv(b, 0, 2, NULL, 0, &h), COLL_OK);
    for (unsigned i = 0; i < N; i++) {
        CHECK_STATUS(t->recv(b, 0, 1, &got, sizeof got, &h), COLL_OK);
        CHECK_EQ(got, i);
    }
    coll_threads_destroy(world);
}

TEST(cancelling_and_aborting)
{
    coll_threads *world = coll_threads_create(2);
    void *const a = coll_threads_rank(world, 0), *const b = coll_threads_rank(world, 1);
    static char sent[3][LONG + 1] = {"one", "two", "three"}, got[LONG];
    coll_handle s[3], r;
    const void *message;
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 3; i++)
            CHECK_STATUS(t->send(a, 1, 6, sent[i], i == 1 ? LONG : LONG + 1, &s[i]),
                         COLL_STARTED);
        if (round & 1)
            CHECK_STATUS(t->zero_copy->acquire(b, 0, 7, 0, &message, &r), COLL_AGAIN);
        t->failure->cancel(a, &s[0]);
        t->failure->cancel(a, &s[2]);
        CHECK_STATUS(t->recv(b, 0, 6, got, LONG, &r), COLL_OK);
        CHECK_EQ(strcmp(got, "two"), 0);
        t->failure->cancel(a, &s[1]);
        CHECK_STATUS(t->recv(b, 0, 6, got, LONG, &r), COLL_STARTED);
        t->failure->cancel(b, &r);
    }
    for (uint32_t tag = 10; tag <= 10 + COLL_NODE_ABORTS; tag++) {
        CHECK_STATUS(t->send(a, 1, tag, sent[0], 4, &s[0]), COLL_OK);
        CHECK_STATUS(t->send(a, 1, tag, sent[1], LONG, &s[1]), COLL_STARTED);
        CHECK_STATUS(t->recv(b, 0, 999, got, LONG, &r), COLL_STARTED);
        t->failure->abort(b, tag, 1);
        t->failure->abort(a, tag, 1);
        CHECK_STATUS(t->test(a, &s[1]), COLL_ERR_PEER);
        t->failure->cancel(a, &s[1]);
        t->failure->cancel(b, &r);
        CHECK_STATUS(t->send(a, 1, tag, sent[0], 4, &s[0]), COLL_ERR_PEER);
        CHECK_STATUS(t->send(a, 1, 1000, sent[0], 4, &s[0]),
                     tag < 10 + COLL_NODE_ABORTS ? COLL_OK : COLL_ERR_PEER);
        if (tag < 10 + COLL_NODE_ABORTS)
            CHECK_STATUS(t->recv(b, 0, 1000, got, 4, &r), COLL_OK);
    }
    coll_threads_recover(world);
    world->world.aborted[0] =
        (uint64_t)1 << 32 | 10; /* by a rank that was stopped before it told the others */
    t->failure->abort(a, 10, 1);
    CHECK_STATUS(t->send(b, 0, 10, sent[0], 4, &s[0]), COLL_ERR_PEER);
    CHECK_STATUS(t->send(b, 0, 11, sent[0], 4, &s[0]), COLL_OK);
    coll_threads_recover(world);
    for (uint32_t tag = 10; tag <= 10 + COLL_NODE_ABORTS; tag++) {
        CHECK_STATUS(t->zero_copy->acquire(b, 0, tag, 4, &message, &r), COLL_AGAIN);
        CHECK_STATUS(t->send(a, 1, tag, sent[0], 4, &s[0]), COLL_OK);
        CHECK_STATUS(t->zero_copy->acquire(b, 0, tag, 4, &message, &r), COLL_OK);
        t->zero_copy->release(b, &r);
    }
    coll_threads_destroy(world);
}

/* Uses of SHARED that end in any order, and one so far ahead that nobody remembers it. */
TEST(uses_of_shared)
{
    coll_threads *world = coll_threads_create(2);
    void *const a = coll_threads_rank(world, 0), *const b = coll_threads_rank(world, 1);
    CHECK_STATUS(coll_threads_share(world, 1 << 12), COLL_OK);
    for (uint32_t last = 63; last <= 64; last++) {
        for (uint32_t use = 0; use < COLL_NODE_PARTS; use++)
            CHECK_STATUS(t->node_memory->enter(b, 0, use), COLL_OK);
        t->node_memory->leave(a, last);
        t->node_memory->leave(b, last);
        CHECK_STATUS(t->node_memory->enter(b, 0, COLL_NODE_PARTS),
                     last > 63 ? COLL_ERR_PEER : COLL_AGAIN);
        for (uint32_t use = 0; use < last; use++) {
            t->node_memory->leave(a, use);
            t->node_memory->leave(b, use);
        }
        CHECK_STATUS(t->node_memory->enter(b, 0, last + COLL_NODE_PARTS),
                     last > 63 ? COLL_ERR_PEER : COLL_OK);
        coll_threads_recover(world);
    }
    coll_threads_destroy(world);
}

/* A message to all, short and long; and none to anybody while one ring is full. */
TEST(multicast)
{
    enum { RANKS = 4 };
    coll_threads *world = coll_threads_create(RANKS);
    static char sent[LONG] = "to all", got[LONG];
    void *end[RANKS];
    coll_handle s, r;
    for (uint32_t i = 0; i < RANKS; i++)
        end[i] = coll_threads_rank(world, i);
    for (size_t bytes = 4; bytes <= LONG; bytes += LONG - 4) {
        const bool is_long = bytes == LONG;
        CHECK_STATUS(t->in_network->multicast(end[1], 5, sent, bytes, &s),
                     is_long ? COLL_STARTED : COLL_OK);
        for (uint32_t i = RANKS; i-- > 0;) {
            if (i == 1)
                continue;
            if (is_long)
                CHECK_STATUS(t->test(end[1], &s), COLL_AGAIN);
            memset(got, 0, sizeof got);
            CHECK_STATUS(t->recv(end[i], 1, 5, got, bytes, &r), COLL_OK);
            CHECK_EQ(memcmp(sent, got, bytes), 0);
        }
        if (is_long)
            CHECK_STATUS(t->test(end[1], &s), COLL_OK);
        uint32_t fit = 0;
        while (t->send(end[1], 3, 6, NULL, 0, &r) == COLL_OK)
            fit++;
        CHECK(fit > COLL_NODE_CELLS - COLL_NODE_LAG && fit <= COLL_NODE_CELLS);
        CHECK_STATUS(t->in_network->multicast(end[1], 6, sent, bytes, &s), COLL_AGAIN);
        CHECK_STATUS(t->recv(end[0], 1, 6, got, bytes, &r), COLL_STARTED);
        for (uint32_t i = 0; i < fit; i++)
            CHECK_STATUS(t->recv(end[3], 1, 6, NULL, 0, &s), COLL_OK);
        CHECK_STATUS(t->in_network->multicast(end[1], 6, sent, bytes, &s),
                     is_long ? COLL_STARTED : COLL_OK);
        CHECK_STATUS(t->test(end[0], &r), COLL_OK);
        for (uint32_t i = 2; i < RANKS; i++)
            CHECK_STATUS(t->recv(end[i], 1, 6, got, bytes, &r), COLL_OK);
        if (is_long)
            CHECK_STATUS(t->test(end[1], &s), COLL_OK);
    }
    CHECK_STATUS(t->in_network->multicast(end[1], 7, sent, LONG, &s), COLL_STARTED);
    CHECK_STATUS(t->recv(end[2], 1, 7, got, LONG, &r), COLL_OK);
    CHECK_STATUS(t->test(end[1], &s), COLL_AGAIN);
    t->failure->abort(end[1], 7, 1);
    CHECK_STATUS(t->test(end[1], &s), COLL_ERR_PEER);
    t->failure->cancel(end[1], &s);
    CHECK_STATUS(t->recv(end[0], 1, 7, got, LONG, &r), COLL_ERR_PEER);
    CHECK_STATUS(t->in_network->multicast(end[1], 7, sent, LONG, &s), COLL_ERR_PEER);
    coll_threads_destroy(world);
    world = coll_threads_create(1);
    CHECK_STATUS(t->in_network->multicast(coll_threads_rank(world, 0), 0, sent, LONG, &s),
                 COLL_OK);
    coll_threads_destroy(world);
}

/* Digits in the order of operands. */
static void append(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++) {
        const int left = ((const int *)a)[i], right = ((const int *)b)[i];
        ((int *)dst)[i] = left * (right < 10 ? 10 : 100) + right;
    }
}

static const coll_op appends = COLL_OP(append, NULL, false, true);

/* Brings elements of tag 9 to a group. */
static coll_status bring(void *end, uint32_t number, uint32_t members, int *dst, const int *src,
                         size_t count, coll_handle *h)
{
    coll_network_group group;
    group.number = number;
    group.members = members;
    return network_reduce(t, end, 9, group, &appends, dst, src, count, sizeof(int), h);
}

TEST(reductions_by_the_network)
{
    enum { RANKS = 4 };
    static const uint32_t arrivals[RANKS] = {3, 1, 0, 2};
    coll_threads *world = coll_threads_create(RANKS);
    int in[RANKS][2], out[RANKS][2];
    coll_handle h[RANKS], early, late;
    void *end[RANKS];
    for (uint32_t i = 0; i < RANKS; i++)
        end[i] = coll_threads_rank(world, i);
    for (int round = 0; round < 3; round++) {
        for (uint32_t k = 0; k < RANKS;
             k++) { /* the last in place, rank 1 after it gave up one */
            const uint32_t i = arrivals[k];
            int *const dst = i == 3 ? in[i] : out[i];
            in[i][0] = (int)i + 1;
            in[i][1] = (int)i + 5;
            if (i == 1) {
                CHECK_STATUS(bring(end[1], COLL_GROUP_ALL, RANKS, out[1], in[1], 2, &early),
                             COLL_STARTED);
                t->failure->cancel(end[1], &early);
            }
            CHECK_STATUS(bring(end[i], COLL_GROUP_ALL, RANKS, dst, in[i], 2, &h[i]),
                         COLL_STARTED);
            if (k + 1 < RANKS)
                CHECK_STATUS(t->test(end[i], &h[i]), COLL_AGAIN);
        }
        CHECK_STATUS(bring(end[2], COLL_GROUP_ALL, RANKS, in[2], in[2], 1, &late),
                     COLL_STARTED);
        for (uint32_t i = 0; i < RANKS; i++) {
            CHECK_STATUS(t->test(end[i], &h[i]), COLL_OK);
            CHECK_EQ(i == 3 ? in[i][0] : out[i][0], 1234);
            CHECK_EQ(i == 3 ? in[i][1] : out[i][1], 5678);
        }
        for (uint32_t i = 0; i < RANKS; i++) {
            CHECK_STATUS(t->test(end[2], &late), COLL_AGAIN);
            if (i != 2)
                CHECK_STATUS(bring(end[i], COLL_GROUP_ALL, RANKS, out[i], in[0], 1, &h[i]),
                             COLL_STARTED);
        }
        CHECK_STATUS(t->test(end[2], &late), COLL_OK);
        CHECK_EQ(in[2][0], 1131);
        for (uint32_t i = 0; i < RANKS; i++)
            if (i != 2)
                CHECK_STATUS(t->test(end[i], &h[i]), COLL_OK);
    }
    for (uint32_t i = 0; i < RANKS; i++)
        CHECK_STATUS(bring(end[i], COLL_GROUP_ALL, RANKS, out[i], in[i], i ? 1 : 2, &h[i]),
                     COLL_STARTED);
    for (uint32_t i = 0; i < RANKS; i++) {
        CHECK_STATUS(t->test(end[i], &h[i]), COLL_ERR_SIZE);
        t->failure->cancel(end[i], &h[i]);
    }
    CHECK_STATUS(bring(end[0], COLL_GROUP_ALL, RANKS, out[0], in[0], 1, &h[0]), COLL_STARTED);
    t->failure->abort(end[1], 9, 1);
    CHECK_STATUS(t->test(end[0], &h[0]), COLL_ERR_PEER);
    CHECK_STATUS(bring(end[1], COLL_GROUP_ALL, RANKS, out[1], in[1], 1, &h[1]), COLL_ERR_PEER);
    coll_threads_recover(world); /* drops what rank 0 brought */
    for (uint32_t i = 0; i < RANKS; i++) {
        if (i > 0)
            CHECK_STATUS(t->test(end[0], &h[0]), COLL_AGAIN);
        CHECK_STATUS(bring(end[i], COLL_GROUP_ALL, RANKS, out[i], in[i], 1, &h[i]),
                     COLL_STARTED);
    }
    CHECK_STATUS(t->test(end[0], &h[0]), COLL_OK);
    coll_threads_destroy(world);
}

/* Two groups at once, ranks 1 and 3, and rank 2 alone. */
TEST(reductions_by_groups)
{
    enum { RANKS = 4 };
    coll_threads *world = coll_threads_create(RANKS);
    int in[RANKS] = {1, 2, 3, 4}, out[RANKS] = {0};
    coll_handle h[RANKS];
    void *end[RANKS];
    for (uint32_t i = 0; i < RANKS; i++)
        end[i] = coll_threads_rank(world, i);
    CHECK_STATUS(bring(end[3], COLL_GROUP_NODES, 2, &out[3], &in[3], 1, &h[3]), COLL_STARTED);
    CHECK_STATUS(bring(end[2], COLL_GROUP_SOCKETS, 1, &out[2], &in[2], 1, &h[2]), COLL_STARTED);
    CHECK_STATUS(t->test(end[3], &h[3]), COLL_AGAIN);
    CHECK_STATUS(t->test(end[2], &h[2]), COLL_OK);
    CHECK_STATUS(bring(end[1], COLL_GROUP_NODES, 2, &out[1], &in[1], 1, &h[1]), COLL_STARTED);
    CHECK_STATUS(t->test(end[1], &h[1]), COLL_OK);
    CHECK_STATUS(t->test(end[3], &h[3]), COLL_OK);
    CHECK_EQ(out[1], 24);
    CHECK_EQ(out[2], 3);
    CHECK_EQ(out[3], 24);
    CHECK_STATUS(bring(end[0], COLL_NETWORK_GROUPS, 2, out, in, 1, h), COLL_ERR_CAPABILITY);
    CHECK_STATUS(bring(end[0], COLL_GROUP_ALL, 0, out, in, 1, h), COLL_ERR_CAPABILITY);
    CHECK_STATUS(bring(end[0], COLL_GROUP_ALL, RANKS + 1, out, in, 1, h), COLL_ERR_CAPABILITY);
    coll_threads_destroy(world);
}

/* ---- a thread a rank --------------------------------------------------------------------- */

enum { AT_ONCE = 3 }; /* collectives that a thread runs at the same time */

/* What one thread does: starts its rank of some rigs, and progresses them in a random order to
 * their end. */
typedef struct worker {
    rig **rigs;
    unsigned n;
    uint32_t rank;
    uint64_t random;
    unsigned cancel_after;  /* progress calls after which it gives up the first; 0: never */
    unsigned long *fail_at; /* transport calls until one fails; NULL: none does */
    void *inner;
    pthread_t thread;
} worker;

/* Yields, or sleeps for up to 60 µs, at random. */
static void delay(worker *w)
{
    if (chance_of(&w->random, 20) == 0)
        (void)sched_yield();
    if (chance_of(&w->random, 400) == 0) {
        const struct timespec time = {0, chance_of(&w->random, 60000)};
        (void)nanosleep(&time, NULL);
    }
}

static void *work(void *arg)
{
    worker *w = (worker *)arg;
    unsigned running = 0, calls = 0;
    for (unsigned i = 0; i < w->n; i++) {
        rig_rank *me = &w->rigs[i]->ranks[w->rank];
        (void)coll_engine_init(&me->engine, me->slots,
                               me->plan.window + chance_of(&w->random, 8));
        if (coll_engine_start(&me->engine, &me->run) == COLL_OK)
            running++;
        delay(w);
    }
    while (running > 0) {
        running = 0;
        for (unsigned i = 0; i < w->n; i++) {
            rig_rank *me = &w->rigs[(i + w->rank) % w->n]->ranks[w->rank];
            const coll_status status = coll_engine_progress(&me->engine);
            if (status == COLL_AGAIN && w->cancel_after > 0 && ++calls >= w->cancel_after)
                (void)coll_engine_cancel(&me->engine);
            if (status < 0) /* the buffers are this thread's again */
                for (size_t k = 0; k < me->out.count; k++)
                    me->out.raw[RIG_GUARD + k] = k;
            running += me->engine.status == COLL_AGAIN;
            t->wait(w->fail_at ? w->inner : me->run.ctx, me->engine.window.idle);
        }
        delay(w);
    }
    return NULL;
}

/* Runs the rigs, all of p ranks, at once with p threads. */
static void run_threads(worker *workers, rig **rigs, unsigned n)
{
    const uint32_t p = rigs[0]->p;
    for (uint32_t r = 0; r < p; r++) {
        workers[r].rigs = rigs;
        workers[r].n = n;
        workers[r].rank = r;
        workers[r].random += 7919 * r + p;
        if (pthread_create(&workers[r].thread, NULL, work, &workers[r]) != 0)
            abort();
    }
    for (uint32_t r = 0; r < p; r++)
        (void)pthread_join(workers[r].thread, NULL);
}

static void attach(rig *it, coll_threads *world, uint32_t tag)
{
    for (uint32_t r = 0; r < it->p; r++) {
        it->ranks[r].run.transport = t;
        it->ranks[r].run.ctx = coll_threads_rank(world, r);
        it->ranks[r].run.tag = tag;
    }
}

static bool all_done(const rig *it)
{
    bool done = true;
    for (uint32_t r = 0; r < it->p; r++)
        done = done && it->ranks[r].engine.status == COLL_OK;
    return done;
}

static void visit_row(rig *it, const char *what, void *arg)
{
    coll_threads *const world = (coll_threads *)arg;
    worker workers[16] = {0};
    attach(it, world, it->problem.flags + it->problem.root);
    rig_fill(it);
    run_threads(workers, &it, 1);
    if (!CHECK(all_done(it) && rig_right(it)))
        printf("    %s %s p=%u count=%zu\n", what, it->ranks[0].plan.algorithm->name, it->p,
               it->problem.count);
}

TEST(every_row)
{
    static const uint32_t ranks[] = {1, 2, 3, 5, 8, 13, 16};
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
        coll_threads *world = coll_threads_create(ranks[k]);
        for (size_t i = k % CHECK_SHARE; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
            CHECK(rig_each(coll_registry[i], ranks[k], (i / CHECK_SHARE + k) & 1 ? 3 : 70,
                           visit_row, world));
        coll_threads_destroy(world);
    }
}

/* … and those of all kinds of actions, of one length and the other. */
TEST(every_kind)
{
    for (uint32_t p = 1; p <= 7; p++) {
        coll_threads *world = coll_threads_create(p);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            for (size_t count = 3; count <= 70 && p <= kinds_ranks(kinds[i]); count += 67)
                CHECK(rig_each(kinds[i], p, count, visit_row, world));
        coll_threads_destroy(world);
    }
}

/* Several collectives at once on the same ranks, short and long, each with its tag. */
TEST(several_at_once)
{
    static const coll_algorithm *const rows[AT_ONCE] = {
        &coll_fnomial_allreduce, &coll_ring_allgather, &coll_pairwise_alltoall};
    static const coll_collective collectives[AT_ONCE] = {COLL_ALLREDUCE, COLL_ALLGATHER,
                                                         COLL_ALLTOALL};
    for (uint32_t p = 2; p <= 8; p += 3) {
        coll_threads *world = coll_threads_create(p);
        rig its[AT_ONCE], *rigs[AT_ONCE];
        for (unsigned i = 0; i < AT_ONCE; i++) {
            static const uint32_t params[AT_ONCE][3] = {{2, 1, 0}, {0, 0, 0}, {0, 0, 0}};
            coll_problem problem;
            coll_problem_init(&problem, collectives[i], p, i == 0 ? 300 : 40, 8);
            problem.flags = COLL_FLAG_COMMUTATIVE;
            CHECK_STATUS(rig_init(&its[i], rows[i], &problem, i == 0 ? params[0] : NULL),
                         COLL_OK);
            rigs[i] = &its[i];
            attach(rigs[i], world, i);
        }
        for (uint32_t round = 0; round < 10; round++) {
            worker workers[8] = {0};
            for (uint32_t r = 0; r < p; r++)
                workers[r].random = round;
            for (unsigned i = 0; i < AT_ONCE; i++)
                rig_fill(rigs[i]);
            run_threads(workers, rigs, AT_ONCE);
            for (unsigned i = 0; i < AT_ONCE; i++)
                CHECK(all_done(rigs[i]) && rig_right(rigs[i]));
        }
        for (unsigned i = 0; i < AT_ONCE; i++)
            rig_free(rigs[i]);
        coll_threads_destroy(world);
    }
}

/* ---- trouble ----------------------------------------------------------------------------- */

/* The ctx of a rank, one of whose sends or receives fails. */
static coll_status failing(worker *w)
{
    return --*w->fail_at == 0 ? COLL_ERR_IO : COLL_OK;
}

static coll_status failing_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    worker *w = (worker *)ctx;
    const coll_status status = failing(w);
    return status < 0 ? status : t->send(w->inner, peer, tag, buf, bytes, h);
}

static coll_status failing_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    worker *w = (worker *)ctx;
    const coll_status status = failing(w);
    return status < 0 ? status : t->recv(w->inner, peer, tag, buf, bytes, h);
}

static coll_status failing_test(void *ctx, coll_handle *h)
{
    return t->test(((worker *)ctx)->inner, h);
}

static void failing_cancel(void *ctx, coll_handle *h)
{
    t->failure->cancel(((worker *)ctx)->inner, h);
}

static void failing_abort(void *ctx, uint32_t first, uint32_t tags)
{
    t->failure->abort(((worker *)ctx)->inner, first, tags);
}

static coll_status failing_multicast(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                     coll_handle *h)
{
    worker *w = (worker *)ctx;
    const coll_status status = failing(w);
    return status < 0 ? status : t->in_network->multicast(w->inner, tag, buf, bytes, h);
}

static coll_status failing_network_reduce(void *ctx, const coll_network_call *call,
                                          coll_handle *h)
{
    worker *w = (worker *)ctx;
    const coll_status status = failing(w);
    return status < 0 ? status : t->in_network->reduce(w->inner, call, h);
}

static const coll_failure failing_failure = {failing_cancel, failing_abort, NULL, NULL};
static const coll_in_network failing_network = {failing_multicast, failing_network_reduce, 0,
                                                NULL};
static const coll_transport failing_transport = {
    .send = failing_send,
    .recv = failing_recv,
    .test = failing_test,
    .tags = UINT32_MAX,
    .failure = &failing_failure,
    .in_network = &failing_network,
};

/* How the ranks ended: those that did not cause it, well or told by another. */
static bool ended(const rig *it, uint32_t cause, coll_status with)
{
    bool well = rig_unharmed(it);
    for (uint32_t r = 0; r < it->p; r++) {
        const coll_status status = it->ranks[r].engine.status;
        well = well && (status == COLL_OK || status == (r == cause ? with : COLL_ERR_PEER));
    }
    return well;
}

static void visit_trouble(rig *it, const char *what, void *arg)
{
    coll_threads *const world = (coll_threads *)arg;
    const uint32_t cause = it->p / 2;
    rig_rank *const bad = &it->ranks[cause];
    for (unsigned long k = 1; k <= 12; k++) {
        worker workers[16] = {0};
        unsigned long left = (k + 1) / 2;
        attach(it, world, 5);
        if (k & 1) { /* a call fails, or the caller gives up */
            workers[cause].fail_at = &left;
            workers[cause].inner = bad->run.ctx;
            bad->run.transport = &failing_transport;
            bad->run.ctx = &workers[cause];
        } else {
            workers[cause].cancel_after = (unsigned)left;
        }
        rig_fill(it);
        run_threads(workers, &it, 1);
        if (!CHECK(ended(it, cause, k & 1 ? COLL_ERR_IO : COLL_ERR_CANCELLED)))
            printf("    %s %s p=%u call %lu\n", what, it->ranks[0].plan.algorithm->name, it->p,
                   k);
        coll_threads_recover(world);
    }
    visit_row(it, what, arg);
}

TEST(a_rank_fails)
{
    for (uint32_t p = 2; p <= 9; p += 3) {
        coll_threads *world = coll_threads_create(p);
        const size_t by = 3 * (size_t)CHECK_SHARE;
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += by)
            CHECK(rig_each(coll_registry[i], p, i / by & 1 ? 70 : 3, visit_trouble, world));
        CHECK(rig_each(&hub, p, 70, visit_trouble, world));
        CHECK(rig_each(&in_network, p, 70, visit_trouble, world));
        coll_threads_destroy(world);
    }
}

int main(void)
{
    RUN(worlds);
    RUN(order_and_tags);
    RUN(receives);
    RUN(full_ring);
    RUN(cancelling_and_aborting);
    RUN(uses_of_shared);
    RUN(multicast);
    RUN(reductions_by_the_network);
    RUN(reductions_by_groups);
    RUN(every_row);
    RUN(every_kind);
    RUN(several_at_once);
    RUN(a_rank_fails);
    return check_done();
}
