/* Calls that come again try algorithms and settle: on simulated ranks, where it is known which one is the fastest
 * and how many messages each takes; and on threads, of which one's transport fails. */
#include <pthread.h>

#include "coll/algos/ring.h"
#include "coll/algos/snake.h"
#include "coll/coll.h"
#include "coll/comm/settle.h"
#include "coll/transports/threads.h"
#include "support/check.h"
#include "support/virtual.h"

enum { CALLS = 64, COUNT = 4096, ARENA = 1 << 18, AFTER = 2, REPEATS = 3, PASSES = 2 };

#define ALTERNATIVE(collective, algorithm, why)                                                \
    {                                                                                          \
        COLL_BIT(collective), 1, COLL_ANY_P, 0, SIZE_MAX, &(algorithm), COLL_DEFAULTS(why)     \
    }

/* The rules' choice, and others, one of them twice. */
static const coll_rule usual[] = {
    ALTERNATIVE(COLL_ALLREDUCE, coll_fnomial_allreduce, "the usual one"),
    ALTERNATIVE(COLL_BCAST, coll_fnomial_bcast, "the usual one")};
static const coll_rule others[] = {
    ALTERNATIVE(COLL_ALLREDUCE, coll_ring_allreduce, "one"),
    ALTERNATIVE(COLL_ALLREDUCE, coll_recursive_doubling_allreduce, "two"),
    ALTERNATIVE(COLL_BCAST, coll_scatter_ring_bcast, "one"),
    ALTERNATIVE(COLL_BCAST, coll_linear_bcast, "two")};
static const coll_rule_list usual_list = {usual, 2, &coll_rules_built_in},
                            others_list = {others, 4, NULL};

static const uint32_t numbers[] = {2, 3, 5, 8};

/* ---- simulated ranks: one runs at a time ------------------------------------------------------- */

/* What a rank saw in each of its calls. */
typedef struct seen {
    const char *name[CALLS];
    uint64_t took[CALLS], messages[CALLS];
    coll_settle_state state[CALLS];
    uint64_t known[COLL_SETTLE_MOST]; /* by all ranks, after they agreed */
    uint32_t n, chosen;
    coll_status status;
    bool wrong;
} seen;

static seen ranks[VIRTUAL_RANKS];
static coll_collective collective;
static const coll_algorithm *forced; /* nothing is tried */
static coll_settle_options asked;
static coll_type type;
static uint64_t all_messages;
static coll_transport counting;
static unsigned char inputs[VIRTUAL_RANKS][COUNT * 8], outputs[VIRTUAL_RANKS][COUNT * 8];
static unsigned char arenas[VIRTUAL_RANKS][ARENA], caches[VIRTUAL_RANKS][COLL_CACHE_BYTES(8)];
static coll_settle settles[VIRTUAL_RANKS];
static coll_settle_entry entries[VIRTUAL_RANKS][4];

static coll_status counting_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                 size_t bytes, coll_handle *h)
{
    const coll_status status = virtual_transport.send(ctx, peer, tag, buf, bytes, h);
    all_messages += status != COLL_AGAIN;
    return status;
}

static uint64_t ticks(void *arg)
{
    const coll_bench_clock *clock = (const coll_bench_clock *)arg;
    return (uint64_t)clock->now(clock->arg);
}

/* The call of these tests: the same count, so only the first elements are carried, which are checked. */
static void call_of(coll_args *args, uint32_t rank, size_t count)
{
    coll_args_init(args, collective);
    args->in = inputs[rank];
    args->out = outputs[rank];
    args->count = count;
    args->type = type;
    args->op = COLL_SUM;
}

/* The algorithm of the call that comes next; NULL before it is known. */
static const coll_settle_candidate *next_of(const coll_settle_entry *entry)
{
    return entry->state == COLL_SETTLE_TRIES && entry->pass < asked.passes
               ? &entry->one[entry->now]
           : entry->state >= COLL_SETTLE_TRIES && entry->n > 0 ? &entry->one[entry->chosen]
                                                               : NULL;
}

static void make_calls(coll_comm *comm, seen *its, const coll_clock *clock, size_t count)
{
    coll_args args;
    call_of(&args, comm->rank, count);
    for (uint32_t i = 0; i < CALLS && its->status == COLL_OK; i++) {
        const uint64_t start = clock->now(clock->arg), before = all_messages;
        const coll_settle_entry *entry;
        const coll_settle_candidate *one;
        if (collective == COLL_BCAST)
            memset(outputs[comm->rank], comm->rank == 0 ? (int)i + 1 : 0, 8);
        its->status = coll_run(comm, &args);
        its->took[i] = clock->now(clock->arg) - start;
        its->messages[i] = all_messages - before;
        entry = coll_settle_of(comm, &args);
        its->state[i] = entry ? entry->state : COLL_SETTLE_FREE;
        one = entry ? next_of(entry) : NULL;
        its->name[i] = one && one->algorithm ? one->algorithm->name : "?";
        its->n = entry ? entry->n : 0;
        its->chosen = entry ? entry->chosen : 0;
        for (uint32_t k = 0; k < its->n; k++)
            its->known[k] = entry->one[k].took;
        if (collective == COLL_BCAST)
            its->wrong = its->wrong || outputs[comm->rank][0] != i + 1;
        else if (collective == COLL_ALLREDUCE && type == COLL_U8)
            its->wrong = its->wrong || outputs[comm->rank][3] != comm->p * (comm->p + 1) / 2;
    }
}

static void settles_program(uint32_t rank, const coll_transport *transport, void *ctx,
                            const coll_bench_clock *clock, void *arg)
{
    const uint32_t p = ((virtual_rank *)ctx)->world->p;
    const size_t count = *(const size_t *)arg;
    coll_bench_clock own = *clock;
    seen *its = &ranks[rank];
    coll_settle_options options = asked;
    coll_comm comm;
    coll_args args;
    size_t bytes = 0;
    (void)transport;
    options.clock.now = ticks;
    options.clock.arg = &own;
    memset(its, 0, sizeof *its);
    its->status = coll_comm_init(&comm, &counting, ctx, rank, p, NULL, 0);
    CHECK_STATUS(its->status, COLL_OK);
    CHECK_STATUS(coll_comm_rules(&comm, &usual_list), COLL_OK);
    if (forced)
        CHECK_STATUS(coll_comm_set_algorithm(&comm, collective, forced, NULL), COLL_OK);
    CHECK_STATUS(coll_comm_settle(&comm, &settles[rank], entries[rank], 4, &options), COLL_OK);
    call_of(&args, rank, count);
    CHECK_STATUS(coll_settle_bytes(&comm, &args, &bytes), COLL_OK);
    CHECK(bytes < ARENA);
    coll_arena_init(&comm.arena, arenas[rank], bytes + COLL_ARENA_ALIGN - 1);
    CHECK_STATUS(coll_comm_set_cache(&comm, caches[rank], sizeof caches[rank]), COLL_OK);
    for (size_t i = 0; i < sizeof inputs[rank]; i++)
        inputs[rank][i] = (unsigned char)(rank + 1);
    make_calls(&comm, its, &options.clock, count);
    CHECK_STATUS(coll_comm_free(&comm), COLL_OK);
}

static coll_cost_model model, inner_model;
static bool far_is_slow; /* messages that are not to a neighbour in the ring */

static void sloping_send(const coll_cost_model *m, const coll_message *message, coll_cost *cost)
{
    const uint32_t p = *(const uint32_t *)m->data;
    inner_model.send(&inner_model, message, cost);
    if (far_is_slow && (message->from + 1) % p != message->to)
        cost->wire += coll_time_of(1e9);
}

static void plain_receive(const coll_cost_model *m, const coll_message *message,
                          coll_cost *cost)
{
    (void)m;
    inner_model.receive(&inner_model, message, cost);
}

/* Runs CALLS calls of `count` elements on p ranks. */
static void simulate(uint32_t p, size_t count)
{
    static const coll_hockney_costs costs = {10, 1, 0};
    static coll_sim_hockney hockney;
    static uint32_t ring;
    const virtual_program program = {settles_program, &count};
    ring = p;
    coll_sim_hockney_init(&inner_model, &hockney, &costs);
    coll_cost_model_init(&model, &ring);
    model.send = sloping_send;
    model.receive = plain_receive;
    counting = virtual_transport;
    counting.send = counting_send;
    counting.copy = NULL; /* the processor does both, so that sums are right */
    counting.reduce = NULL;
    all_messages = 0;
    virtual_run(p, &model, NULL, NULL, program);
    for (uint32_t r = 0; r < p; r++) {
        CHECK_STATUS(ranks[r].status, COLL_OK);
        CHECK(!ranks[r].wrong);
    }
}

static void begin(coll_collective which, coll_type of)
{
    collective = which;
    type = of;
    forced = NULL;
    far_is_slow = false;
    coll_settle_options_init(&asked);
    asked.alternatives = &others_list;
    asked.after = AFTER;
    asked.repeats = REPEATS;
    asked.passes = PASSES;
}

/* All ranks saw the same, at each call. */
static void check_alike(uint32_t p)
{
    for (uint32_t r = 1; r < p; r++) {
        CHECK(ranks[r].n == ranks[0].n && ranks[r].chosen == ranks[0].chosen);
        for (uint32_t i = 0; i < CALLS; i++)
            CHECK(strcmp(ranks[r].name[i], ranks[0].name[i]) == 0 &&
                  ranks[r].state[i] == ranks[0].state[i]);
        if (ranks[0].state[CALLS - 1] == COLL_SETTLE_SETTLED)
            for (uint32_t k = 0; k < ranks[0].n; k++)
                CHECK(ranks[r].known[k] == ranks[0].known[k]);
    }
}

/* How long a call by this algorithm takes all ranks, after the first ones; *messages: of a call. */
static uint64_t alone(const coll_algorithm *algorithm, uint32_t p, size_t count,
                      uint64_t *messages)
{
    uint64_t most = 0;
    forced = algorithm;
    simulate(p, count);
    forced = NULL;
    for (uint32_t r = 0; r < p; r++) {
        CHECK_EQ(ranks[r].state[CALLS - 1], COLL_SETTLE_FREE);
        most = ranks[r].took[CALLS - 1] > most ? ranks[r].took[CALLS - 1] : most;
    }
    *messages = all_messages / CALLS;
    return most;
}

/* The fastest of three settles, where it is so by more than what decides. */
static void check_settles(uint32_t p, size_t count, const coll_algorithm *const *all)
{
    uint64_t took[3], messages[3], agreement, before;
    const bool slow = far_is_slow;
    const uint32_t turns = PASSES * (REPEATS + 1);
    coll_type its = type;
    uint32_t best = 0;
    for (uint32_t k = 0; k < 3; k++) {
        took[k] = alone(all[k], p, count, &messages[k]);
        best = took[k] < took[best] ? k : best;
    }
    {
        const coll_collective was = collective; /* the allreduce by which they agree */
        collective = COLL_ALLREDUCE;
        type = COLL_U64;
        (void)alone(&coll_fnomial_allreduce, p, 3, &agreement);
        collective = was;
        type = its;
    }
    far_is_slow = slow;
    simulate(p, count);
    check_alike(p);
    before = all_messages;
    CHECK_EQ(ranks[0].state[CALLS - 1], COLL_SETTLE_SETTLED);
    CHECK_EQ(ranks[0].n, 3);
    if (took[best] * 100 < took[0] * 90) /* clearly */
        CHECK_EQ(ranks[0].chosen, best);
    CHECK(strcmp(ranks[0].name[CALLS - 1], all[ranks[0].chosen]->name) == 0);
    /* One agreement, and nothing else beside the calls. */
    CHECK_EQ(before, AFTER * messages[0] + turns * (messages[0] + messages[1] + messages[2]) +
                         agreement + (CALLS - AFTER - 3 * turns) * messages[ranks[0].chosen]);
}

TEST(the_fastest_settles)
{
    static const coll_algorithm *const sums[] = {&coll_fnomial_allreduce, &coll_ring_allreduce,
                                                 &coll_recursive_doubling_allreduce};
    static const coll_algorithm *const bcasts[] = {
        &coll_fnomial_bcast, &coll_scatter_ring_bcast, &coll_linear_bcast};
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t p = numbers[i];
        begin(COLL_ALLREDUCE, COLL_U8);
        check_settles(p, 32, sums);
        check_settles(p, COUNT * 8, sums);
        far_is_slow = true;
        check_settles(p, COUNT, sums);
        if (p > 3)
            CHECK(strcmp(ranks[0].name[CALLS - 1], "ring") == 0);
        begin(COLL_BCAST, COLL_U8);
        check_settles(p, 32, bcasts);
    }
}

/* Of three rules two say the same, and one refuses the problem: both are left out after one call. */
TEST(what_is_the_same_is_left_out)
{
    static const coll_rule rules[] = {
        ALTERNATIVE(COLL_ALLREDUCE, coll_fnomial_allreduce, "as the usual one"),
        ALTERNATIVE(COLL_ALLREDUCE, coll_recursive_doubling_allreduce, "another"),
        ALTERNATIVE(COLL_ALLREDUCE, coll_recursive_doubling_allreduce, "again"),
        {COLL_BIT(COLL_ALLREDUCE),
         1,
         COLL_ANY_P,
         0,
         SIZE_MAX,
         &coll_snake_allreduce,
         {2, COLL_DEFAULT, COLL_DEFAULT, COLL_DEFAULT},
         0,
         "no mesh of two columns",
         NULL,
         0,
         0,
         0}};
    static const coll_rule_list list = {rules, 4, NULL}, two = {rules, 1, NULL};
    begin(COLL_ALLREDUCE, COLL_U8);
    asked.alternatives = &list;
    simulate(5, 64);
    check_alike(5);
    CHECK_EQ(ranks[0].n, 2);
    CHECK_EQ(ranks[0].state[CALLS - 1], COLL_SETTLE_SETTLED);
    asked.alternatives = &two;
    simulate(5, 64);
    check_alike(5);
    CHECK_EQ(ranks[0].state[CALLS - 1], COLL_SETTLE_ENDED);
}

/* Trials come again, and find the same on a machine that stays the same. */
TEST(trials_are_repeated)
{
    uint32_t tried = 0;
    begin(COLL_ALLREDUCE, COLL_U8);
    asked.again = 10;
    far_is_slow = true;
    simulate(8, COUNT);
    check_alike(8);
    for (uint32_t i = 1; i < CALLS; i++)
        tried += ranks[0].state[i] == COLL_SETTLE_TRIES &&
                 ranks[0].state[i - 1] != COLL_SETTLE_TRIES;
    CHECK_EQ(tried, 2);
    CHECK(strcmp(ranks[0].name[CALLS - 1], "ring") == 0);
}

/* Without `rounding` a sum of doubles has the same bits in all calls, and nobody tries. */
TEST(sums_stay_what_they_are)
{
    begin(COLL_ALLREDUCE, COLL_F64);
    simulate(5, 8);
    check_alike(5);
    CHECK_EQ(ranks[0].state[CALLS - 1], COLL_SETTLE_ENDED);
    asked.rounding = true;
    simulate(5, 8);
    check_alike(5);
    CHECK_EQ(ranks[0].state[CALLS - 1], COLL_SETTLE_SETTLED);
    begin(COLL_ALLREDUCE, COLL_I32);
    simulate(5, 8);
    CHECK_EQ(ranks[0].state[CALLS - 1], COLL_SETTLE_SETTLED);
}

/* ---- one rank at a time ------------------------------------------------------------------------ */

static uint64_t counted;

static uint64_t count_clock(void *arg)
{
    (void)arg;
    return ++counted;
}

TEST(what_is_asked_for_is_checked)
{
    coll_settle_options options;
    coll_settle settle;
    coll_settle_entry own[2];
    coll_comm comm, member;
    size_t bytes;
    coll_args args;
    coll_settle_options_init(&options);
    CHECK_STATUS(coll_comm_init(&comm, &virtual_transport, NULL, 0, 2, NULL, 0), COLL_OK);
    CHECK_STATUS(coll_comm_settle(NULL, &settle, own, 2, &options), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 2, &options), COLL_ERR_NULL);
    options.clock.now = count_clock;
    CHECK_STATUS(coll_comm_settle(&comm, &settle, NULL, 2, &options), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 2, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 0, &options), COLL_ERR_PARAM);
    options.repeats = 0;
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 2, &options), COLL_ERR_PARAM);
    options.repeats = COLL_SETTLE_REPEATS + 1;
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 2, &options), COLL_ERR_PARAM);
    options.repeats = 1;
    options.passes = 0;
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 2, &options), COLL_ERR_PARAM);
    options.passes = 1;
    options.gain = 100;
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 2, &options), COLL_ERR_PARAM);
    options.gain = 0;
    member = comm;
    member.rank = COLL_RANK_NONE;
    CHECK_STATUS(coll_comm_settle(&member, &settle, own, 2, &options), COLL_ERR_RANK);
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 2, &options), COLL_OK);
    coll_args_init(&args, COLL_BARRIER);
    CHECK(coll_settle_of(&comm, &args) == NULL);
    CHECK(coll_settle_of(NULL, &args) == NULL);
    CHECK_STATUS(coll_settle_bytes(&comm, &args, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_settle_bytes(&comm, &args, &bytes), COLL_OK);
    CHECK_STATUS(coll_comm_settle(&comm, NULL, NULL, 0, NULL), COLL_OK);
    CHECK(!comm.settler && !comm.settle);
    CHECK_STATUS(coll_settle_bytes(&comm, &args, &bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_free(&comm), COLL_OK);
}

/* Problems are the same if all ranks know that they are. */
TEST(problems_have_keys)
{
    coll_comm comm;
    coll_settle settle;
    coll_settle_entry own[3];
    coll_settle_options options;
    coll_args args;
    const coll_settle_entry *first;
    uint32_t before = 0;
    for (size_t bytes = 1; bytes < 1 << 20; bytes++) {
        const uint32_t its = coll_i_settle_class(bytes);
        CHECK(its >= before);
        before = its;
    }
    CHECK_EQ(coll_i_settle_class(1000), coll_i_settle_class(1023));
    CHECK(coll_i_settle_class(1024) != coll_i_settle_class(1023));
    coll_settle_options_init(&options);
    options.clock.now = count_clock;
    CHECK_STATUS(coll_comm_init(&comm, &virtual_transport, NULL, 0, 2, NULL, 0), COLL_OK);
    CHECK_STATUS(coll_comm_settle(&comm, &settle, own, 3, &options), COLL_OK);
    coll_args_init(&args, COLL_REDUCE);
    args.count = 1000;
    first = coll_i_settle_find(&settle, &comm, &args, true);
    CHECK(first != NULL && first->state == COLL_SETTLE_WAITS);
    args.in = COLL_IN_PLACE; /* at the root, which others do not know */
    CHECK(coll_settle_of(&comm, &args) == first);
    args.root = 1;
    CHECK(coll_settle_of(&comm, &args) == NULL);
    CHECK(coll_i_settle_find(&settle, &comm, &args, true) != first);
    coll_args_init(&args, COLL_ALLREDUCE);
    args.count = 1000;
    first = coll_i_settle_find(&settle, &comm, &args, true);
    args.in = COLL_IN_PLACE; /* on all ranks */
    CHECK(first != NULL && coll_settle_of(&comm, &args) == NULL);
    CHECK(coll_i_settle_find(&settle, &comm, &args, true) == NULL); /* all are taken */
    args.in = NULL;
    CHECK(coll_settle_of(&comm, &args) == first);
    args.op = COLL_USER_OP + 7; /* there is none */
    CHECK(coll_settle_of(&comm, &args) == NULL);
    args.op = COLL_SUM;
    CHECK_STATUS(coll_comm_rules(&comm, &usual_list), COLL_OK);
    CHECK(coll_settle_of(&comm, &args) == NULL && own[0].state == COLL_SETTLE_FREE);
    args.collective = COLL_ALLGATHERV; /* with tables */
    CHECK(coll_i_settle_find(&settle, &comm, &args, true) == NULL);
    CHECK_STATUS(coll_comm_free(&comm), COLL_OK);
}

/* ---- threads ----------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 60 };

/* What a thread finds, to be checked by the test. */
typedef struct worker {
    coll_threads *world;
    const void *ctx;
    uint32_t rank;
    bool fails; /* in its 40th message */
    uint32_t sent, good, wrong, posted, kept;
    coll_status status;
    coll_settle_state state;
    coll_comm comm;
    coll_settle settle;
    coll_settle_entry entries[4];
    unsigned char arena[1 << 16];
} worker;

static worker workers[THREADS];
static uint32_t fails_after;

static coll_status failing_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    for (uint32_t r = 0; r < THREADS; r++)
        if (workers[r].ctx == ctx && workers[r].fails && ++workers[r].sent > fails_after)
            return COLL_ERR_IO;
    return coll_threads_transport.send(ctx, peer, tag, buf, bytes, h);
}

static coll_transport failing;

static uint64_t worker_clock(void *arg)
{
    uint64_t *at = (uint64_t *)arg;
    return *at += 100;
}

/* Blocking calls, between them nonblocking and persistent ones, which take what has settled. */
static void *work(void *arg)
{
    worker *me = (worker *)arg;
    coll_settle_options options;
    coll_request request;
    coll_args args;
    int32_t mine = 1 + (int32_t)me->rank, sum;
    uint64_t at = me->rank;
    coll_args_init(&args, COLL_ALLREDUCE);
    args.in = &mine;
    args.out = &sum;
    args.count = 1;
    args.type = COLL_I32;
    coll_settle_options_init(&options);
    options.clock.now = worker_clock;
    options.clock.arg = &at;
    options.alternatives = &others_list;
    me->status = coll_comm_init(&me->comm, &failing, coll_threads_rank(me->world, me->rank),
                                me->rank, THREADS, me->arena, sizeof me->arena);
    if (me->status == COLL_OK)
        me->status = coll_comm_settle(&me->comm, &me->settle, me->entries, 4, &options);
    for (uint32_t i = 0; i < ROUNDS && me->status == COLL_OK; i++) {
        const coll_settle_entry *entry;
        sum = 0;
        me->status = coll_run(&me->comm, &args);
        me->good += me->status == COLL_OK;
        me->wrong += me->status == COLL_OK && sum != THREADS * (THREADS + 1) / 2;
        entry = coll_settle_of(&me->comm, &args);
        me->state = entry ? entry->state : COLL_SETTLE_FREE;
        if (me->status != COLL_OK || i % 7 != 0)
            continue;
        for (unsigned persistent = 0; persistent < 2 && me->status == COLL_OK; persistent++) {
            sum = 0;
            me->status = persistent ? coll_request_init(&me->comm, &args, &request)
                                    : coll_post(&me->comm, &args, &request);
            if (me->status == COLL_OK && persistent)
                me->status = coll_start(&request);
            if (me->status != COLL_OK)
                break;
            me->posted++;
            me->kept += strcmp(coll_request_plan(&request)->algorithm->name,
                               entry->state == COLL_SETTLE_SETTLED
                                   ? entry->one[entry->chosen].algorithm->name
                                   : "recursive_doubling") == 0;
            me->status = coll_wait(&request);
            me->wrong += me->status == COLL_OK && sum != THREADS * (THREADS + 1) / 2;
            if (persistent && me->status == COLL_OK)
                me->status = coll_request_free(&request);
        }
    }
    return NULL;
}

static void run_threads(bool fails, uint32_t after)
{
    pthread_t threads[THREADS];
    coll_threads *world = coll_threads_create(THREADS);
    if (!CHECK(world != NULL))
        return;
    failing = coll_threads_transport;
    failing.send = failing_send;
    failing.zero_copy = NULL;
    failing.in_network = NULL;
    fails_after = after;
    memset(workers, 0, sizeof workers);
    for (uint32_t r = 0; r < THREADS; r++) {
        workers[r].world = world;
        workers[r].rank = r;
        workers[r].fails = fails && r == 1;
        workers[r].ctx = coll_threads_rank(world, r);
    }
    for (uint32_t r = 0; r < THREADS; r++)
        if (pthread_create(&threads[r], NULL, work, &workers[r]) != 0)
            exit(1);
    for (uint32_t r = 0; r < THREADS; r++)
        pthread_join(threads[r], NULL);
    for (uint32_t r = 0; r < THREADS; r++)
        CHECK_EQ(workers[r].wrong, 0);
    coll_threads_destroy(world);
}

TEST(all_kinds_of_calls_follow)
{
    run_threads(false, 0);
    for (uint32_t r = 0; r < THREADS; r++) {
        CHECK_STATUS(workers[r].status, COLL_OK);
        CHECK_EQ(workers[r].good, ROUNDS);
        CHECK_EQ(workers[r].state, COLL_SETTLE_SETTLED);
        CHECK_EQ(workers[r].kept, workers[r].posted);
    }
}

/* A message fails: before, in the midst of the trials, while ranks agree, later. */
TEST(what_fails_ends)
{
    for (uint32_t after = 0; after < 140; after += CHECK_SHARE) {
        run_threads(true, after);
        for (uint32_t r = 0; r < THREADS; r++) {
            const coll_status status = workers[r].status;
            CHECK(r == 1 ? status == COLL_ERR_IO || status == COLL_OK
                         : status == COLL_ERR_PEER || status == COLL_OK);
            CHECK(status != COLL_OK || workers[1].status == COLL_OK ||
                  workers[r].good == ROUNDS);
        }
    }
}

int main(void)
{
    RUN(the_fastest_settles);
    RUN(what_is_the_same_is_left_out);
    RUN(trials_are_repeated);
    RUN(sums_stay_what_they_are);
    RUN(what_is_asked_for_is_checked);
    RUN(problems_have_keys);
    RUN(all_kinds_of_calls_follow);
    RUN(what_fails_ends);
    return check_done();
}
