/* Deadlines and explanations: of eight ranks, which are threads, one does something wrong; all others that wait for
 * it, or whose call fails, name it, and why. Nothing is decided by time: ranks wait until all have said so. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coll/algos/ring.h"
#include "coll/coll.h"
#include "coll/comm/explain.h"
#include "coll/transports/loopback.h"
#include "coll/transports/threads.h"
#include "support/check.h"

/* LATE: ms until a wait is explained, and PATIENCE such times that a test may take. */
enum {
    P = 8,
    MANY = 64,
    WRONG = 5,
    BEFORE = 4,
    ARENA = 1 << 14,
    COUNT = 4,
    LATE = 20,
    PATIENCE = 1000
};
enum { MESSAGES = 1 << 13, TICKS = 20000 };

typedef enum fault {
    NOT_CALLED,
    NEVER_CALLED,
    OTHER_COLLECTIVE,
    OTHER_ROOT,
    OTHER_TYPE,
    OTHER_COUNT,
    OTHER_OPERATOR,
    DEAD,
    SLOW,
    STOPPED,
    LOST,
    APART, /* it has started the call, and does not wait for it */
    FAULTS
} fault;

static const struct expected {
    const char *name, *words;
    coll_explain_cause cause;
} expected[FAULTS] = {
    {"not called", "rank 5 has not called it; its last call was number 1, allreduce",
     COLL_EXPLAIN_NOT_CALLED},
    {"never called", "rank 5 has not called it; its last call was none",
     COLL_EXPLAIN_NOT_CALLED},
    {"other collective", "rank 5 calls barrier, others allreduce", COLL_EXPLAIN_MISMATCH},
    {"other root", "rank 5 names root 2, others 0", COLL_EXPLAIN_MISMATCH},
    {"other type", "rank 5 gives elements of f32, others f64", COLL_EXPLAIN_MISMATCH},
    {"other count", "rank 5 gives 3 elements, others 1", COLL_EXPLAIN_MISMATCH},
    {"other operator", "rank 5 combines by max, others by sum", COLL_EXPLAIN_MISMATCH},
    {"dead", "rank 5 is dead", COLL_EXPLAIN_DEAD},
    {"slow", "rank 5 is in it", COLL_EXPLAIN_SLOW},
    {"stopped", "rank 5 is in it, and has told nothing for ", COLL_EXPLAIN_STOPPED},
    {"lost", "rank 5 has sent what is waited for, and it has not arrived", COLL_EXPLAIN_LOST},
    {"apart", "rank 5 has started it, and does not wait for it", COLL_EXPLAIN_APART},
};

typedef struct rank {
    pthread_t thread;
    coll_comm comm;
    coll_explain explain;
    coll_op_entry op;
    void *ctx;
    uint32_t r, asked;
    coll_status made, status;
    int right; /* it has explained it, or has nothing to explain */
    char text[500];
    unsigned char arena[ARENA];
    coll_request request;
    double in[COUNT], out[COUNT];
} rank;

static rank ranks[MANY];
static uint32_t p;
static uint64_t lines[COLL_BOARD_WORDS * MANY];
static fault what;
static int is_frozen, lost, ready, posted;
static coll_transport transport;
static coll_failure failure;
static const coll_transport *inner;
static _Thread_local rank *self;

static uint64_t milliseconds(void *arg)
{
    struct timespec t;
    (void)arg;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

/* Have all others explained it? */
static bool is_explained(void)
{
    for (uint32_t r = 0; r < p; r++)
        if (r != WRONG && !__atomic_load_n(&ranks[r].right, __ATOMIC_ACQUIRE))
            return false;
    return true;
}

static void hold(void)
{
    const uint64_t end = milliseconds(NULL) + (uint64_t)LATE * PATIENCE;
    while (!is_explained() && milliseconds(NULL) < end)
        sched_yield();
}

/* Does the rank that is wrong, or another one, say what is expected? */
static void look(rank *me)
{
    const struct expected *it = &expected[what];
    (void)coll_explain_text(&me->explain, me->text, sizeof me->text);
    if (me->explain.rank == WRONG && strstr(me->text, it->words) &&
        (me->explain.cause == it->cause ||
         (what == SLOW && me->explain.cause == COLL_EXPLAIN_STOPPED)))
        __atomic_store_n(&me->right, 1, __ATOMIC_RELEASE);
}

static bool late(coll_explain *explain, void *arg)
{
    rank *me = (rank *)arg;
    (void)explain;
    look(me);
    return !is_explained() && ++me->asked < PATIENCE;
}

/* ---- what goes wrong --------------------------------------------------------------------- */

static coll_status losing_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                               size_t bytes, coll_handle *h)
{
    if (what == LOST && self->r == WRONG && self->explain.calls == 2 && lost++ == 0)
        return COLL_OK;
    return inner->send(ctx, peer, tag, buf, bytes, h);
}

static bool some_dead(void *ctx, uint32_t peer)
{
    (void)ctx;
    return what == DEAD && peer == WRONG;
}

/* One that has told that it waits is stopped. */
static void stopping_wait(void *ctx, uint32_t idle)
{
    if (what == STOPPED && self->r == WRONG && self->explain.calls == 2 &&
        (self->explain.told.word[0] & 0xff) == COLL_I_EXPLAIN_WAITS) {
        __atomic_store_n(&is_frozen, 1, __ATOMIC_RELEASE);
        hold();
    }
    coll_threads_transport.wait(ctx, idle);
}

static void slow_sum(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    double *to = (double *)dst;
    const double *x = (const double *)a, *y = (const double *)b;
    (void)arg;
    if (what == SLOW && self->r == WRONG)
        hold();
    for (size_t i = 0; i < count; i++)
        to[i] = x[i] + y[i];
}

/* The second call's arguments, which are wrong on one rank. */
static coll_args second_args(rank *me)
{
    coll_args args;
    coll_args_init(&args, what == OTHER_ROOT ? COLL_BCAST : COLL_ALLREDUCE);
    args.in = me->in;
    args.out = me->out;
    args.count = 1;
    args.type = COLL_F64;
    if (me->r == WRONG) {
        args.collective = what == OTHER_COLLECTIVE ? COLL_BARRIER : args.collective;
        args.root = what == OTHER_ROOT ? 2 : 0;
        args.type = what == OTHER_TYPE ? COLL_F32 : args.type;
        args.count = what == OTHER_COUNT ? 3 : 1;
        args.op = what == OTHER_OPERATOR ? COLL_MAX : args.op;
    }
    return args;
}

/* Does a rank not make the second call? With another operator, or root, no message is wrong, so one more does not. */
static bool stays_away(uint32_t r)
{
    return r == WRONG ? what == NOT_CALLED || what == NEVER_CALLED || what == DEAD
                      : r == BEFORE && (what == OTHER_OPERATOR || what == OTHER_ROOT);
}

static coll_status second_call(rank *me)
{
    coll_args args = second_args(me);
    if (what == SLOW) {
        const coll_op op = COLL_OP(slow_sum, NULL, true, false);
        const coll_status status =
            coll_comm_add_op(&me->comm, &me->op, &op, COLL_F64, &args.op);
        if (status != COLL_OK)
            return status;
    }
    if (stays_away(me->r)) {
        __atomic_store_n(&me->right, 1, __ATOMIC_RELEASE);
        hold();
        return coll_comm_abort(&me->comm, COLL_ERR_CANCELLED);
    }
    while (what == STOPPED && me->r == BEFORE && !__atomic_load_n(&is_frozen, __ATOMIC_ACQUIRE))
        sched_yield();
    /* one that comes later may find all messages that it needs, and be over at once */
    while (what == APART && me->r != WRONG && !__atomic_load_n(&posted, __ATOMIC_ACQUIRE))
        sched_yield();
    if (what == APART && me->r == WRONG) {
        const coll_status status = coll_post(&me->comm, &args, &me->request);
        __atomic_store_n(&posted, 1, __ATOMIC_RELEASE);
        if (status != COLL_OK)
            return status;
        hold();
        return coll_wait(&me->request);
    }
    return coll_run(&me->comm, &args);
}

static void *work(void *arg)
{
    rank *me = (rank *)arg;
    const coll_explain_options options = {
        {milliseconds, NULL}, LATE, 10 * LATE, "ms", late, me};
    coll_board board;
    self = me;
    for (int i = 0; i < COUNT; i++)
        me->in[i] = me->r + 1;
    coll_board_init(&board, lines, me->r, p);
    me->made = coll_comm_init(&me->comm, &transport, me->ctx, me->r, p, me->arena, ARENA);
    if (me->made == COLL_OK)
        me->made = coll_comm_explain(&me->comm, &me->explain, &board, &options);
    if (me->made == COLL_OK && what != NEVER_CALLED)
        me->made = coll_allreduce(&me->comm, me->in, me->out, 1, COLL_F64, COLL_SUM);
    (void)__atomic_add_fetch(&ready, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != (int)p) /* the first call is over */
        sched_yield();
    me->status = me->made == COLL_OK ? second_call(me) : COLL_OK;
    if (me->r != WRONG && me->status < 0 && !me->right) { /* it failed before its deadline */
        const uint64_t end = milliseconds(NULL) + (uint64_t)LATE * PATIENCE;
        for (look(me); !me->right && milliseconds(NULL) < end; look(me))
            sched_yield();
    }
    if (me->status == COLL_OK)
        __atomic_store_n(&me->right, 1, __ATOMIC_RELEASE); /* it has nothing to explain */
    hold(); /* so that lines stay what they are */
    return NULL;
}

/* A fault is about to happen, over a transport. */
static void begin(fault it, uint32_t n, const coll_transport *of)
{
    what = it;
    p = n;
    inner = of;
    is_frozen = lost = ready = posted = 0;
    memset(lines, 0, sizeof lines);
    transport = *of;
    failure = *of->failure;
    failure.dead = some_dead;
    transport.failure = &failure;
    transport.in_network = NULL; /* so that there are messages */
    transport.send = losing_send;
    for (uint32_t r = 0; r < p; r++) {
        ranks[r].r = r;
        ranks[r].asked = 0;
        ranks[r].right = 0;
        ranks[r].made = ranks[r].status = COLL_OK;
        ranks[r].text[0] = '\0';
    }
}

/* All ranks but the one that is wrong have explained it, or have nothing to explain. */
static void end(void)
{
    uint32_t explained = 0;
    printf("    %s: %s\n", expected[what].name, ranks[BEFORE - 1].text);
    for (uint32_t r = 0; r < p; r++) {
        CHECK_STATUS(ranks[r].made, COLL_OK);
        if (r != WRONG && !CHECK(ranks[r].right))
            printf("    rank %u, %s: %s\n", (unsigned)r, coll_status_text(ranks[r].status),
                   ranks[r].text);
        explained += strstr(ranks[r].text, expected[what].words) != NULL;
        CHECK_STATUS(coll_comm_free(&ranks[r].comm), COLL_OK);
    }
    CHECK(explained > 0);
}

TEST(threads)
{
    for (int f = 0; f < FAULTS; f++) {
        coll_threads *world = coll_threads_create(P);
        if (!CHECK(world != NULL))
            return;
        begin((fault)f, P, &coll_threads_transport);
        transport.wait = stopping_wait;
        for (uint32_t r = 0; r < p; r++)
            ranks[r].ctx = coll_threads_rank(world, r);
        for (uint32_t r = 0; r < p; r++)
            if (pthread_create(&ranks[r].thread, NULL, work, &ranks[r]) != 0)
                abort();
        for (uint32_t r = 0; r < p; r++)
            (void)pthread_join(ranks[r].thread, NULL);
        end();
        coll_threads_destroy(world);
    }
}

/* ---- in one thread ----------------------------------------------------------------------- */

static uint64_t ticks(void *arg)
{
    return ++*(uint64_t *)arg;
}

static bool tells(coll_explain *explain, void *arg)
{
    (void)explain;
    look((rank *)arg);
    return true;
}

/* All ranks wait a little in turn, until all calls are over, or, with `second`, all have explained what is wrong. */
static void wait_in_turn(const coll_clock *clock, const uint64_t *time, bool second)
{
    bool waits = true;
    for (uint32_t turn = 0; waits && turn < 100000; turn++) {
        waits = false;
        for (uint32_t r = 0; r < p; r++) {
            rank *me = &ranks[r];
            self = me;
            if (me->status < 0 && !me->right && r != WRONG)
                look(me);
            if (me->status == COLL_AGAIN &&
                !(second && what == APART && r == WRONG && !is_explained()))
                me->status = coll_wait_until(&me->request, clock, *time + 2);
            if (me->status == COLL_OK)
                me->right = 1;
            waits = waits || me->status == COLL_AGAIN || (me->status < 0 && !me->right);
        }
        waits = waits && (!second || what == APART || !is_explained());
    }
}

/* Of 64 ranks, all in one thread. */
static void run_many(fault it)
{
    static unsigned char messages[COLL_LOOPBACK_BYTES(MESSAGES)];
    static coll_loopback_rank ends[MANY];
    uint64_t time = 0;
    coll_clock clock = {ticks, NULL};
    coll_loopback world;
    clock.arg = &time;
    CHECK_STATUS(coll_loopback_init(&world, MANY, MESSAGES, messages, sizeof messages),
                 COLL_OK);
    begin(it, MANY, &coll_loopback_transport);
    for (int call = 0; call < 2; call++) {
        for (uint32_t r = 0; r < MANY; r++) {
            rank *me = &ranks[r];
            self = me;
            if (call == 0) {
                coll_explain_options options = {{ticks, NULL}, TICKS, 8 * TICKS, "",
                                                tells,         NULL};
                coll_board board;
                options.clock.arg = &time;
                options.arg = me;
                CHECK_STATUS(coll_loopback_attach(&world, r, &ends[r]), COLL_OK);
                coll_board_init(&board, lines, r, MANY);
                me->made =
                    coll_comm_init(&me->comm, &transport, &ends[r], r, MANY, me->arena, ARENA);
                CHECK_STATUS(coll_comm_explain(&me->comm, &me->explain, &board, &options),
                             COLL_OK);
                me->in[0] = r;
                me->status = coll_iallreduce(&me->comm, me->in, me->out, 1, COLL_F64, COLL_SUM,
                                             &me->request);
            } else {
                const coll_args args = second_args(me);
                me->right = 0;
                if (stays_away(r))
                    me->right = 1;
                else
                    me->status = coll_post(&me->comm, &args, &me->request);
            }
            if (me->status == COLL_OK && !(call == 1 && stays_away(r)))
                me->status = COLL_AGAIN;
        }
        wait_in_turn(&clock, &time, call == 1);
    }
    for (uint32_t r = 0; r < MANY; r++)
        (void)coll_comm_abort(&ranks[r].comm, COLL_ERR_CANCELLED);
    for (uint32_t r = 0; r < MANY; r++)
        if (ranks[r].status == COLL_AGAIN)
            (void)coll_wait(&ranks[r].request);
    end();
    CHECK_EQ(world.n_free, MESSAGES);
}

TEST(many)
{
    static const fault faults[] = {NOT_CALLED,  OTHER_COLLECTIVE, OTHER_ROOT, OTHER_TYPE,
                                   OTHER_COUNT, OTHER_OPERATOR,   DEAD,       LOST,
                                   APART};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        run_many(faults[i]);
}

int main(void)
{
    RUN(threads);
    RUN_ALONE(many);
    return check_done();
}
