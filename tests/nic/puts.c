/* tests/nic/puts.c — programs whose messages are put, over transports that can: loopback, threads and processes that share
 * memory; several epochs of each, on the same regions, and what happens when one is given up */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/bruck.h"
#include "coll/algos/dissemination.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/pairwise.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/ring.h"
#include "coll/executor/in_order.h"
#include "coll/nic.h"
#include "coll/reduce.h"
#include "coll/transports/idle.h"
#include "coll/transports/loopback.h"
#include "coll/transports/threads.h"
#include "support/chance.h"
#include "support/check.h"
#include "support/processes.h"

enum { RANKS = 7, COUNT = 9, OUT = COUNT * RANKS, SCRATCH = 8 * OUT, MESSAGES = 64 };
enum { OPS = 512, PROGRAM = 1 << 17, EPOCHS = 4, REGION = 2, TAG = 3 };

static const struct job {
    const coll_algorithm *algorithm;
    coll_collective collective;
} jobs[] = {{&coll_ring_allreduce, COLL_ALLREDUCE},
            {&coll_recursive_doubling_allreduce, COLL_ALLREDUCE},
            {&coll_fnomial_allreduce, COLL_ALLREDUCE},
            {&coll_fnomial_bcast, COLL_BCAST},
            {&coll_bruck_allgather, COLL_ALLGATHER},
            {&coll_ring_allgather, COLL_ALLGATHER},
            {&coll_pairwise_alltoall, COLL_ALLTOALL},
            {&coll_dissemination_barrier, COLL_BARRIER}};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* A rank; OUT and SCRATCH are its region. */
typedef struct rank {
    uint32_t number;
    int64_t in[OUT], own[OUT + SCRATCH];
    int64_t *window; /* its own, or in memory that others see */
    size_t memory[PROGRAM / sizeof(size_t)];
    coll_nic_program program;
    coll_nic_machine machine;
    coll_nic_put_port port;
    coll_handle handles[OPS];
    uint32_t words[COLL_NIC_PUT_WORDS(RANKS)], counters[OPS];
    uint8_t states[OPS];
    coll_status status;
} rank;

static struct {
    const struct job *job;
    coll_plan plan;
    coll_op op;
    uint32_t p;
    rank ranks[RANKS];
} all;

static int64_t value(uint32_t r, uint32_t epoch, size_t i)
{
    return (int64_t)(r * 1000 + epoch * 100000 + i);
}

static int64_t wanted(uint32_t r, uint32_t epoch, size_t i)
{
    int64_t sum = 0;
    if (all.job->collective == COLL_BCAST)
        return value(0, epoch, i);
    if (all.job->collective == COLL_ALLGATHER)
        return value((uint32_t)(i / COUNT), epoch, i % COUNT);
    if (all.job->collective == COLL_ALLTOALL)
        return value((uint32_t)(i / COUNT), epoch, r * COUNT + i % COUNT);
    for (uint32_t k = 0; k < all.p; k++)
        sum += value(k, epoch, i);
    return sum;
}

static void make_plan(const struct job *job, uint32_t p)
{
    coll_problem problem;
    all.job = job;
    all.p = p;
    coll_problem_init(&problem, job->collective, p, COUNT, sizeof(int64_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_op_builtin(&all.op, COLL_SUM, COLL_I64), COLL_OK);
    CHECK_STATUS(coll_plan_init(&all.plan, job->algorithm, &problem, NULL), COLL_OK);
}

/* Lowers the program of a rank, and exposes its memory. */
static void make_rank(uint32_t r, const coll_transport *t, void *ctx, int64_t *window)
{
    static coll_action actions[OPS];
    rank *me = &all.ranks[r];
    const size_t bytes = (OUT + SCRATCH) * sizeof *window;
    coll_nic_memory memory = {me->memory, sizeof me->memory, 0};
    coll_nic_limits limits;
    coll_schedule schedule;
    me->number = r;
    me->window = window ? window : me->own;
    coll_nic_limits_init(&limits);
    limits.puts = true;
    CHECK_STATUS(coll_schedule_write(&schedule, &all.plan, r, actions, OPS), COLL_OK);
    CHECK_STATUS(coll_nic_lower(&me->program, &all.plan, &schedule, &limits, &memory), COLL_OK);
    CHECK_STATUS(coll_nic_puts(&me->program, &memory, coll_nic_same_plan, &all.plan), COLL_OK);
    CHECK(me->program.needs.ops <= OPS && me->program.needs.counters <= OPS);
    CHECK_EQ(me->program.needs.receives, 0);
    CHECK(coll_plan_scratch(&all.plan, r) <= SCRATCH);
    coll_nic_put_init(&me->port, t, ctx, r, all.p, me->words, me->handles);
    coll_nic_put_place(&me->port, me->window, bytes, 0, OUT * sizeof *window);
    CHECK_STATUS(coll_nic_put_expose(&me->port, REGION, TAG), COLL_OK);
    CHECK_STATUS(coll_nic_open(&me->machine, &me->program, &coll_nic_by_puts, &me->port,
                               me->counters, me->states),
                 COLL_OK);
    me->machine.op = &all.op;
    me->machine.elem_bytes = sizeof(int64_t);
    me->machine.in = me->in;
}

static void make(const struct job *job, uint32_t p, const coll_transport *t, void *const *ctx)
{
    make_plan(job, p);
    for (uint32_t r = 0; r < p; r++)
        make_rank(r, t, ctx[r], NULL);
}

static coll_status begin(rank *me, uint32_t epoch)
{
    for (size_t i = 0; i < OUT; i++) {
        me->in[i] = value(me->number, epoch, i);
        me->window[i] = -1;
    }
    coll_nic_put_run(&me->port, &me->machine);
    return coll_nic_start(&me->machine);
}

static coll_status go_on(rank *me)
{
    const coll_status status = coll_nic_progress(&me->machine);
    if (status == COLL_AGAIN)
        (void)coll_nic_put_poll(&me->port);
    return status;
}

static bool is_right(const rank *me, uint32_t epoch)
{
    const coll_collective c = all.job->collective;
    const size_t n = c == COLL_BARRIER                           ? 0
                     : c == COLL_ALLGATHER || c == COLL_ALLTOALL ? COUNT * all.p
                                                                 : COUNT;
    for (size_t i = 0; i < n; i++)
        if (me->window[i] != wanted(me->number, epoch, i))
            return false;
    return true;
}

static void withdraw(void)
{
    for (uint32_t r = 0; r < all.p; r++)
        coll_nic_put_withdraw(&all.ranks[r].port);
}

/* ---- in one thread ----------------------------------------------------------------------- */

static unsigned char messages[COLL_LOOPBACK_BYTES(MESSAGES)];
static coll_loopback world;
static coll_loopback_rank ends[RANKS];

static void open_world(void **ctx)
{
    CHECK_STATUS(coll_loopback_init(&world, RANKS, MESSAGES, messages, sizeof messages),
                 COLL_OK);
    for (uint32_t r = 0; r < RANKS; r++) {
        CHECK_STATUS(coll_loopback_attach(&world, r, &ends[r]), COLL_OK);
        ctx[r] = &ends[r];
    }
}

/* Ranks begin an epoch when they have ended the last one, whatever the others do. */
TEST(in_any_order)
{
    uint64_t random = 7;
    for (uint32_t p = 1; p <= RANKS; p++)
        for (uint32_t k = 0; k < JOBS; k++) {
            void *ctx[RANKS];
            uint32_t epoch[RANKS] = {0}, ended = 0, turns = 0;
            open_world(ctx);
            make(&jobs[k], p, &coll_loopback_transport, ctx);
            for (uint32_t r = 0; r < p; r++)
                CHECK_STATUS(begin(&all.ranks[r], 0), COLL_OK);
            while (ended < p && turns++ < 1000000) {
                const uint32_t r = chance_of(&random, p);
                if (epoch[r] == EPOCHS || go_on(&all.ranks[r]) == COLL_AGAIN)
                    continue;
                CHECK_STATUS(all.ranks[r].machine.status, COLL_OK);
                CHECK(is_right(&all.ranks[r], epoch[r]));
                if (++epoch[r] < EPOCHS)
                    CHECK_STATUS(begin(&all.ranks[r], epoch[r]), COLL_OK);
                else
                    ended++;
            }
            CHECK_EQ(ended, p);
            withdraw();
            CHECK(world.regions.first == NULL && world.n_free == MESSAGES);
        }
}

/* A rank gives up: all others end with COLL_ERR_PEER, and their memory is theirs. */
TEST(giving_up)
{
    void *ctx[RANKS];
    open_world(ctx);
    make(&jobs[0], RANKS, &coll_loopback_transport, ctx);
    for (uint32_t r = 0; r < RANKS - 1; r++)
        CHECK_STATUS(begin(&all.ranks[r], 0), COLL_OK);
    for (uint32_t turn = 0; turn < 100 * RANKS; turn++)
        CHECK_STATUS(go_on(&all.ranks[turn % (RANKS - 1)]), COLL_AGAIN);
    CHECK_STATUS(coll_nic_cancel(&all.ranks[2].machine, COLL_ERR_CANCELLED), COLL_OK);
    world.events++;
    coll_loopback_transport.failure->abort(ctx[2], TAG, 1);
    for (uint32_t turn = 0; turn < 10 * RANKS; turn++)
        (void)go_on(&all.ranks[turn % (RANKS - 1)]);
    for (uint32_t r = 0; r < RANKS - 1; r++)
        CHECK_STATUS(all.ranks[r].machine.status, r == 2 ? COLL_ERR_CANCELLED : COLL_ERR_PEER);
    withdraw();
    CHECK(world.regions.first == NULL && world.n_free == MESSAGES);
}

/* What is not to be had is told. */
TEST(what_cannot_be)
{
    void *ctx[RANKS];
    coll_transport lacks = coll_loopback_transport;
    rank *me = &all.ranks[0];
    coll_nic_memory memory = {me->memory, sizeof me->memory, 0};
    coll_nic_limits limits;
    coll_action actions[OPS];
    coll_schedule schedule;
    coll_problem problem;
    size_t used;
    open_world(ctx);
    make(&jobs[0], 4, &coll_loopback_transport, ctx);
    CHECK_STATUS(coll_nic_put_expose(&me->port, REGION, TAG), COLL_ERR_STATE);
    withdraw();
    lacks.one_sided = NULL;
    me->port.transport = &lacks;
    CHECK_STATUS(coll_nic_put_expose(&me->port, REGION, TAG), COLL_ERR_CAPABILITY);
    coll_nic_limits_init(&limits);
    CHECK_STATUS(coll_schedule_write(&schedule, &all.plan, 0, actions, OPS), COLL_OK);
    CHECK_STATUS(coll_nic_lower(&me->program, &all.plan, &schedule, &limits, &memory), COLL_OK);
    CHECK_STATUS(coll_nic_puts(&me->program, &memory, coll_nic_same_plan, &all.plan),
                 COLL_ERR_STATE); /* without limits.puts */
    limits.puts = true;
    CHECK_STATUS(coll_nic_lower(&me->program, &all.plan, &schedule, &limits, &memory), COLL_OK);
    used = memory.bytes;
    memory.bytes = memory.used;
    CHECK_STATUS(coll_nic_puts(&me->program, &memory, coll_nic_same_plan, &all.plan),
                 COLL_ERR_MEMORY);
    memory.bytes = used;
    coll_problem_init(&problem, COLL_ALLTOALLV, 2, 1, 8); /* each rank has tables of its own */
    problem.in.counts = problem.out.counts = (const size_t[]){1, 1};
    problem.in.displs = problem.out.displs = (const size_t[]){0, 1};
    CHECK_STATUS(coll_plan_init(&all.plan, &coll_pairwise_alltoall, &problem, NULL), COLL_OK);
    CHECK_STATUS(coll_schedule_write(&schedule, &all.plan, 0, actions, OPS), COLL_OK);
    CHECK_STATUS(coll_nic_lower(&me->program, &all.plan, &schedule, &limits, &memory), COLL_OK);
    CHECK_STATUS(coll_nic_puts(&me->program, &memory, coll_nic_same_plan, &all.plan),
                 COLL_ERR_CAPABILITY);
}

/* ---- a thread each ----------------------------------------------------------------------- */

static void *run_thread(void *arg)
{
    rank *me = (rank *)arg;
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint32_t idle = 0;
        me->status = begin(me, epoch);
        while (me->status >= 0 && (me->status = go_on(me)) == COLL_AGAIN)
            me->port.transport->wait(me->port.ctx, ++idle);
        if (me->status != COLL_OK)
            return me;
        if (!is_right(me, epoch)) {
            me->status = COLL_ERR_STATE;
            return me;
        }
    }
    return me;
}

TEST(threads)
{
    for (uint32_t p = 2; p <= 4; p++)
        for (uint32_t k = 0; k < JOBS; k++) {
            void *ctx[RANKS];
            pthread_t thread[RANKS];
            coll_threads *threads = coll_threads_create(p);
            for (uint32_t r = 0; r < p; r++)
                ctx[r] = coll_threads_rank(threads, r);
            make(&jobs[k], p, &coll_threads_transport, ctx);
            for (uint32_t r = 0; r < p; r++)
                CHECK_EQ(pthread_create(&thread[r], NULL, run_thread, &all.ranks[r]), 0);
            for (uint32_t r = 0; r < p; r++)
                CHECK_EQ(pthread_join(thread[r], NULL), 0);
            for (uint32_t r = 0; r < p; r++)
                CHECK_STATUS(all.ranks[r].status, COLL_OK);
            withdraw();
            coll_threads_destroy(threads);
        }
}

/* ---- a process each ---------------------------------------------------------------------- */

/* All ranks have exposed their memory. */
static coll_status meet(const coll_transport *t, void *ctx, uint32_t r)
{
    coll_problem problem;
    coll_plan plan;
    coll_task task;
    coll_outstanding room[4];
    coll_in_order engine;
    coll_status status;
    coll_problem_init(&problem, COLL_BARRIER, all.p, 0, 1);
    status = coll_plan_init(&plan, &coll_dissemination_barrier, &problem, NULL);
    coll_task_init(&task, &plan, r, t, ctx);
    if (status == COLL_OK)
        status = coll_in_order_init(&engine, room, 4);
    if (status == COLL_OK)
        status = coll_in_order_start(&engine, &task);
    return status == COLL_OK ? coll_in_order_wait(&engine) : status;
}

/* Memory that other processes do not see is not exposed. */
static int run_process(coll_shm *shm, void *arg)
{
    const uint32_t r = coll_shm_rank(shm);
    const coll_transport *t = coll_shm_transport(shm);
    rank *me = &all.ranks[r];
    int64_t *window = (int64_t *)coll_shm_alloc(shm, (OUT + SCRATCH) * sizeof *window);
    coll_region private_one = {me->own, sizeof me->own, me->words, 1, TAG, {0, 0}};
    check_failures = check_count = 0;
    CHECK(window != NULL);
    CHECK_STATUS(t->one_sided->expose(shm, 0, &private_one), COLL_ERR_PLACE);
    make_plan((const struct job *)arg, coll_shm_size(shm));
    make_rank(r, t, shm, window);
    CHECK_STATUS(meet(t, shm, r), COLL_OK);
    (void)run_thread(me);
    CHECK_STATUS(me->status, COLL_OK);
    CHECK_STATUS(meet(t, shm, r), COLL_OK); /* nobody puts any more */
    coll_nic_put_withdraw(&me->port);
    coll_shm_free(shm, window);
    return check_failures != 0;
}

TEST(processes)
{
    for (uint32_t k = 0; k < JOBS; k++) {
        pid_t pid[RANKS];
        processes_start(pid, 2 + k % 3, 4096, 0, run_process, (void *)(uintptr_t)&jobs[k]);
        CHECK(processes_end(pid, 2 + k % 3));
    }
}

/* A rank dies, before or after the others have noticed that all have met: they end, and withdraw their regions. */
static int run_mortal(coll_shm *shm, void *arg)
{
    const uint32_t r = coll_shm_rank(shm);
    const coll_transport *t = coll_shm_transport(shm);
    rank *me = &all.ranks[r];
    int64_t *window = (int64_t *)coll_shm_alloc(shm, (OUT + SCRATCH) * sizeof *window);
    coll_status met;
    check_failures = check_count = 0;
    make_plan((const struct job *)arg, coll_shm_size(shm));
    make_rank(r, t, shm, window);
    met = meet(t, shm, r);
    CHECK(met == COLL_OK || (r != 1 && met == COLL_ERR_PEER));
    if (r == 1)
        (void)raise(SIGKILL);
    if (met == COLL_OK) {
        (void)run_thread(me);
        CHECK(me->status == COLL_ERR_PEER || me->status == COLL_ERR_IO);
    }
    coll_nic_put_withdraw(&me->port);
    return check_failures != 0;
}

TEST(a_rank_dies)
{
    pid_t pid[RANKS];
    int state, died = 0, well = 0;
    processes_start(pid, 4, 4096, 0, run_mortal, (void *)(uintptr_t)&jobs[0]);
    for (uint32_t r = 0; r < 4; r++)
        if (CHECK(waitpid(pid[r], &state, 0) == pid[r])) {
            died += WIFSIGNALED(state);
            well += WIFEXITED(state) && WEXITSTATUS(state) == 0;
        }
    CHECK(died == 1 && well == 3);
}

int main(void)
{
    RUN(in_any_order);
    RUN(giving_up);
    RUN(what_cannot_be);
    RUN(threads);
    RUN(processes);
    RUN(a_rank_dies);
    return check_done();
}
