/* A communicator that fails does so on all ranks: stories of up to six calls at once, of which one
 * goes wrong on one rank, and every rank stops at its first error. All stop, and nothing that any of
 * them was told is wrong. Over loopback, threads and processes. */
#include <pthread.h>
#include <unistd.h>

#include "support/check.h"
#include "coll/transports/loopback.h"
#include "coll/transports/threads.h"
#include "support/mixed_calls.h"
#include "support/processes.h"

enum { MOST_RANKS = 6, MOST_CALLS = 6, SHARED = 4 << 20, MINUTES = 4 };

/* What goes wrong on one rank. */
typedef enum trouble {
    NOTHING,
    CANCELLED,  /* it gives up a call … */
    GIVEN_UP,   /* … or the communicator */
    NO_MEMORY,  /* its arena is full */
    NO_BUFFER,  /* it has forgotten its buffers */
    NO_MESSAGE, /* its transport fails */
    TROUBLES
} trouble;

static const coll_status errors[TROUBLES] = {
    COLL_OK, COLL_ERR_CANCELLED, COLL_ERR_FORMAT, COLL_ERR_MEMORY, COLL_ERR_NULL, COLL_ERR_IO};

/* The same on all ranks. */
typedef struct story {
    uint64_t seed;
    uint32_t p, requests, victim;
    trouble trouble;
    uint32_t at;              /* the call at which it happens … */
    unsigned after;           /* … or the message */
    coll_transport t;         /* that of the victim may fail … */
    coll_zero_copy zero_copy; /* … with this record, if it has one */
} story;

static story the;
static const coll_transport *inner;
static const void *victim_ctx;
static bool through; /* the victim, with its calls */

static story story_of(uint32_t number, const coll_transport *transport)
{
    uint64_t random = number;
    story it;
    it.seed = chance_bits(&random);
    it.trouble = (trouble)(number % TROUBLES);
    it.p = 2 + chance_of(&random, MOST_RANKS - 1);
    it.requests = 1 + chance_of(&random, MOST_CALLS);
    it.victim = chance_of(&random, it.p);
    it.at = it.trouble == NO_MEMORY ? 0 : chance_of(&random, it.requests); /* few need any */
    it.after = 1 + chance_of(&random, 12);
    it.t = *transport;
    return it;
}

static bool message_fails(const void *ctx)
{
    return ctx == victim_ctx && !through && the.trouble == NO_MESSAGE && --the.after == 0;
}

static coll_status failing_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    return message_fails(ctx) ? COLL_ERR_IO : inner->send(ctx, peer, tag, buf, bytes, h);
}

static coll_status failing_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                                coll_handle *h)
{
    return message_fails(ctx) ? COLL_ERR_IO : inner->recv(ctx, peer, tag, buf, bytes, h);
}

static coll_status failing_borrow(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                                  const void **message, coll_handle *h)
{
    return message_fails(ctx) ? COLL_ERR_IO
                              : inner->zero_copy->acquire(ctx, peer, tag, bytes, message, h);
}

static void begin_story(uint32_t number, const coll_transport *transport)
{
    the = story_of(number, transport);
    through = false;
    inner = transport;
    the.t.send = failing_send;
    the.t.recv = failing_recv;
    if (transport->zero_copy) {
        the.zero_copy = *transport->zero_copy;
        the.zero_copy.acquire = failing_borrow;
        the.t.zero_copy = &the.zero_copy;
    }
}

/* ---- one rank ---------------------------------------------------------------------------- */

/* Its memory, of the segment if messages are read there. */
typedef struct member {
    uint64_t in[MOST_CALLS][MIXED_MOST], out[MOST_CALLS][MIXED_MOST];
    uint64_t arena[8 * MIXED_MOST];
    mixed_call it[MOST_CALLS];
    coll_request request[MOST_CALLS], barrier;
    coll_piece all[64]; /* of the arena, if it is full */
    coll_comm comm;
    uint32_t rank, begun, open; /* calls that were begun; mask of those that run */
    bool blocks;                /* it waits for its calls, and else tests them */
    bool meets, ended;          /* it has begun the last barrier; it makes no calls any more */
    uint64_t random, own;       /* what all ranks make up, and this one alone */
    coll_status status;         /* its first error */
    bool wrong; /* a result is not what COLL_OK promised, or an error is not kept */
} member;

static void member_init(member *me, void *ctx, uint32_t rank, bool blocks)
{
    memset(me, 0, offsetof(member, rank));
    me->rank = rank;
    me->begun = me->open = 0;
    me->blocks = blocks;
    me->meets = me->ended = false;
    me->random = me->own = the.seed;
    me->own += rank + 1;
    me->status = COLL_OK;
    me->wrong = coll_comm_init(&me->comm, &the.t, ctx, rank, the.p, me->arena,
                               sizeof me->arena) != COLL_OK;
    if (rank == the.victim)
        victim_ctx = ctx;
}

/* Its first error: from now on all is refused, and its memory is its own again. */
static bool stop(member *me, coll_status status)
{
    me->status = status;
    me->ended = true;
    me->wrong = me->wrong || coll_ibarrier(&me->comm, &me->barrier) != status ||
                coll_barrier(&me->comm) != status;
    memset(me->in, 0xEE, sizeof me->in);
    memset(me->out, 0xEE, sizeof me->out);
    memset(me->arena, 0xEE, sizeof me->arena);
    return false;
}

static void fill_arena(member *me)
{
    uint32_t n = 0;
    for (size_t bytes = sizeof me->arena; bytes >= COLL_ARENA_ALIGN;)
        if (n == 64 || coll_arena_take(&me->comm.arena, bytes, &me->all[n]) != COLL_OK)
            bytes /= 2;
        else
            n++;
}

static bool begin_next(member *me)
{
    const uint32_t k = me->begun;
    const bool now = me->rank == the.victim && k == the.at;
    mixed_call *const it = &me->it[k];
    coll_status status;
    it->in = me->in[k];
    it->out = me->out[k];
    mixed_make(it, &me->comm, k, &me->random);
    if (now && the.trouble == NO_BUFFER)
        it->args.in = it->args.out = NULL;
    if (now && the.trouble == NO_MEMORY)
        fill_arena(me);
    if (now && the.trouble == GIVEN_UP)
        me->wrong = me->wrong || coll_comm_abort(&me->comm, errors[the.trouble]) != COLL_OK;
    status = coll_post(&me->comm, &it->args, &me->request[k]);
    if (status < 0)
        return stop(me, status);
    me->open |= 1u << k;
    me->begun++;
    if (now && the.trouble == CANCELLED)
        (void)coll_cancel(&me->request[k]); /* unless it is over */
    return true;
}

/* Does one thing; false: it has stopped. */
static bool act(member *me)
{
    coll_status status;
    if (me->begun < the.requests && (me->open == 0 || chance_of(&me->own, 2) == 0))
        return begin_next(me);
    if (me->open != 0) {
        uint32_t k = chance_of(&me->own, the.requests);
        while (!(me->open & 1u << k))
            k = k + 1 < the.requests ? k + 1 : 0;
        status = me->blocks && me->begun == the.requests ? coll_wait(&me->request[k])
                                                         : coll_test(&me->request[k]);
        if (status == COLL_AGAIN)
            return true;
        me->open &= ~(1u << k);
        if (status == COLL_OK)
            me->wrong = me->wrong || !mixed_right(&me->it[k], &me->comm);
        return status == COLL_OK ? true : stop(me, status);
    }
    if (me->rank == the.victim)
        through = true;
    status = me->meets ? coll_test(&me->barrier) : coll_ibarrier(&me->comm, &me->barrier);
    me->ended = status == COLL_OK && me->meets;
    me->meets = true;
    return status < 0 ? stop(me, status) : !me->ended;
}

/* To its end, beside the others. */
static void live(member *me)
{
    while (act(me))
        if (the.t.wait && !me->blocks)
            the.t.wait(me->comm.ctx, 1);
}

/* ---- the end ----------------------------------------------------------------------------- */

static unsigned failures[TROUBLES];

/* Has every rank stopped for the same reason? */
static void check_end(uint32_t number, const coll_status *status)
{
    const coll_status cause = status[the.victim];
    failures[the.trouble] += cause != COLL_OK;
    CHECK(cause == COLL_OK || cause == errors[the.trouble]);
    for (uint32_t r = 0; r < the.p; r++)
        if (!CHECK(r == the.victim ||
                   status[r] == (cause == COLL_OK ? COLL_OK : COLL_ERR_PEER)))
            printf("    story %u, rank %u of %u: %s\n", number, r, the.p,
                   coll_status_text(status[r]));
}

static void check_troubles(unsigned least)
{
    for (unsigned i = 0; i < TROUBLES; i++) {
        if (!CHECK(i == NOTHING ? failures[i] == 0 : failures[i] >= least))
            printf("    %u failures of kind %u\n", failures[i], i);
        failures[i] = 0;
    }
}

/* ---- loopback ---------------------------------------------------------------------------- */

TEST(all_stop_on_loopback)
{
    enum { STORIES = 900 / CHECK_SHARE, MESSAGES = 4096, ROUNDS = 20000 };
    const size_t bytes = COLL_LOOPBACK_BYTES(MESSAGES);
    void *const memory = malloc(bytes);
    member *members = (member *)malloc(MOST_RANKS * sizeof *members);
    for (uint32_t i = 0; i < STORIES; i++) {
        coll_loopback world;
        coll_loopback_rank ends[MOST_RANKS];
        coll_status status[MOST_RANKS];
        uint32_t left, random_ranks = i + 1;
        uint64_t random = random_ranks;
        begin_story(i, &coll_loopback_transport);
        CHECK_STATUS(coll_loopback_init(&world, the.p, MESSAGES, memory, bytes), COLL_OK);
        for (uint32_t r = 0; r < the.p; r++) {
            CHECK_STATUS(coll_loopback_attach(&world, r, &ends[r]), COLL_OK);
            member_init(&members[r], &ends[r], r, false);
        }
        left = the.p;
        for (uint32_t round = 0; left > 0 && round < ROUNDS; round++) {
            member *const me = &members[chance_of(&random, the.p)];
            left -= !me->ended && !act(me);
        }
        if (!CHECK_EQ(left, 0)) {
            printf("    story %u: %u ranks wait for ever\n", i, left);
            continue;
        }
        for (uint32_t r = 0; r < the.p; r++) {
            status[r] = members[r].status;
            CHECK(!members[r].wrong);
        }
        check_end(i, status);
        CHECK_EQ(world.n_free, MESSAGES); /* nothing is in flight */
    }
    check_troubles(STORIES / TROUBLES / 8);
    free(members);
    free(memory);
}

/* ---- threads ----------------------------------------------------------------------------- */

static void *thread_main(void *arg)
{
    live((member *)arg);
    return NULL;
}

TEST(all_stop_on_threads)
{
    enum { STORIES = 240 };
    member *members = (member *)malloc(MOST_RANKS * sizeof *members);
    for (uint32_t i = 0; i < STORIES; i++) {
        pthread_t thread[MOST_RANKS];
        coll_status status[MOST_RANKS];
        coll_threads *world;
        begin_story(i, &coll_threads_transport);
        world = coll_threads_create(the.p);
        CHECK_STATUS(coll_threads_share(world, SHARED), COLL_OK);
        for (uint32_t r = 0; r < the.p; r++)
            member_init(&members[r], coll_threads_rank(world, r), r, i / TROUBLES % 3 != 0);
        for (uint32_t r = 0; r < the.p; r++)
            if (pthread_create(&thread[r], NULL, thread_main, &members[r]) != 0)
                abort();
        for (uint32_t r = 0; r < the.p; r++) {
            (void)pthread_join(thread[r], NULL);
            status[r] = members[r].status;
            CHECK(!members[r].wrong);
        }
        check_end(i, status);
        coll_threads_destroy(world);
    }
    check_troubles(STORIES / TROUBLES / 8);
    free(members);
}

/* ---- processes --------------------------------------------------------------------------- */

enum { WRONG = 99 };

/* Ends with its first error, as a number above 0. */
static int process_main(coll_shm *shm, void *arg)
{
    member *const me =
        (member *)(shm->ways & COLL_I_IPC_IN_PLACE ? coll_shm_alloc(shm, sizeof(member))
                                                   : malloc(sizeof(member)));
    begin_story((uint32_t)(uintptr_t)arg, coll_shm_transport(shm));
    if (!me)
        return WRONG;
    member_init(me, shm, coll_shm_rank(shm), true);
    live(me);
    return me->wrong ? WRONG : -me->status;
}

TEST(all_stop_on_processes)
{
    enum { STORIES = 120 };
    static const uint32_t ways[] = {0, WHOLE, PULLS, ZERO_COPY};
    for (uint32_t i = 0; i < STORIES; i++) {
        pid_t pid[MOST_RANKS];
        coll_status status[MOST_RANKS];
        begin_story(i, &coll_i_ipc_transport);
        processes_start(pid, the.p, SHARED, ways[i / TROUBLES % 4], process_main,
                        (void *)(uintptr_t)i);
        for (uint32_t r = 0; r < the.p; r++)
            status[r] = (coll_status)-process_end(pid[r], PROCESSES_PATIENCE);
        check_end(i, status);
    }
    check_troubles(STORIES / TROUBLES / 8);
}

int main(void)
{
    (void)alarm(MINUTES * 60); /* a rank that waits for ever */
    RUN_ALONE(all_stop_on_loopback);
    RUN(all_stop_on_threads);
    RUN(all_stop_on_processes);
    return check_done();
}
