/* The transport of processes when a rank leaves in peace before it has done its part: whatever the
 * others wait for ends with an error; and without one, if the rank had no part in it. */
#include "support/check.h"

#include "support/processes.h"
#include "support/records.h"

#include "coll/algos/node_leader.h"
#include "coll/algos/two_level.h"
#include "coll/plan/compose.h"
#include "coll/reduce.h"
#include "coll/executor.h"

enum { RANKS = 3, LEAVER = 2, TAG = 7, SHARED = 4096 };

/* … at once: in what follows for groups, rank 2. */
static uint32_t leaver = LEAVER;

static void pause_for(long milliseconds)
{
    const struct timespec moment = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    (void)nanosleep(&moment, NULL);
}

/* Waits as a request does for what is in flight. */
static coll_status wait_for(coll_shm *shm, coll_status status, coll_handle *h)
{
    const coll_transport *t = coll_shm_transport(shm);
    for (uint32_t idle = 0; status == COLL_STARTED || status == COLL_AGAIN; idle++) {
        status = t->test(shm, h);
        t->wait(shm, idle);
    }
    return status;
}

/* ---- groups of a plan --------------------------------------------------------------------- */

typedef struct group_plan {
    coll_problem problem;
    coll_plan plan, inner;
    coll_phase phase;
    coll_composition composition;
    coll_workspace workspace;
    size_t tables[64];
} group_plan;

typedef coll_status (*group_make)(group_plan *it, uint32_t rank);

static coll_status make_composite(group_plan *it, uint32_t rank,
                                  const coll_composite *composite, uint32_t ppn)
{
    coll_problem_init(&it->problem, COLL_ALLREDUCE, RANKS, 1, sizeof(double));
    it->problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&it->problem.nodes, RANKS, ppn);
    coll_workspace_init(&it->workspace, rank, it->tables,
                        sizeof it->tables / sizeof *it->tables);
    return coll_plan_build(&it->plan, &composite->algorithm, &it->problem, NULL,
                           &it->workspace);
}

/* The node of ranks 0 and 1, and that of rank 2. */
static coll_status make_nodes(group_plan *it, uint32_t rank)
{
    return make_composite(it, rank, &coll_node_leader_allreduce, 2);
}

/* Likewise the sockets of a node. */
static coll_status make_sockets(group_plan *it, uint32_t rank)
{
    return make_composite(it, rank, &coll_socket_leader_allreduce, RANKS);
}

/* A barrier of ranks `base` and 0. */
static coll_status make_barrier(group_plan *it, uint32_t base, uint32_t stride, uint32_t group)
{
    coll_status status;
    coll_problem_init(&it->problem, COLL_BARRIER, 2, 0, 1);
    status = coll_plan_init(&it->inner, &coll_in_network_barrier, &it->problem, NULL);
    if (status != COLL_OK)
        return status;
    coll_phase_init(&it->phase, &it->inner);
    coll_group_affine(&it->phase.map.group, base, stride);
    it->phase.group = group;
    coll_composition_init(&it->composition, &it->phase, 1);
    it->problem.p = RANKS;
    return coll_plan_compose(&it->plan, &coll_sequence, &it->problem, &it->composition);
}

static coll_status make_composed(group_plan *it, uint32_t rank)
{
    (void)rank;
    return make_barrier(it, 0, LEAVER, COLL_GROUP_NODES);
}

static coll_status run_plan(coll_shm *shm, group_plan *it)
{
    coll_slot slots[8];
    coll_engine request;
    coll_task run;
    coll_op sum;
    coll_status status = coll_op_builtin(&sum, COLL_SUM, COLL_F64);
    double in = 1, out = 0, scratch[16];
    memset(&run, 0, sizeof run);
    run.plan = &it->plan;
    run.transport = coll_shm_transport(shm);
    run.ctx = shm;
    run.op = &sum;
    run.in = &in;
    run.out = &out;
    run.scratch = scratch;
    run.scratch_bytes = sizeof scratch;
    run.rank = coll_shm_rank(shm);
    run.tag = TAG;
    if (status == COLL_OK)
        status = coll_engine_init(&request, slots, 8);
    if (status == COLL_OK)
        status = coll_engine_start(&request, &run);
    return status == COLL_OK ? coll_engine_wait(&request) : status;
}

/* All but the leaver run the plan (arg), and learn who is missing. */
static int misses_a_member(coll_shm *shm, void *arg)
{
    const group_make make = *(const group_make *)arg;
    group_plan it;
    if (coll_shm_rank(shm) == LEAVER)
        return 0;
    if (make(&it, coll_shm_rank(shm)) != COLL_OK)
        return 1;
    if (run_plan(shm, &it) == COLL_ERR_PEER)
        return coll_shm_lost(shm) == LEAVER ? 0 : 2;
    return coll_shm_rank(shm) == 1 && make == make_composed ? 0 : 3; /* it has nothing to do */
}

TEST(a_member_that_never_came_is_missed)
{
    static const group_make makes[] = {make_nodes, make_sockets, make_composed};
    for (size_t i = 0; i < sizeof makes / sizeof *makes; i++) {
        group_make make = makes[i];
        pid_t pid[RANKS];
        processes_start(pid, RANKS, 0, 0, misses_a_member, &make);
        if (!CHECK(processes_end(pid, RANKS)))
            printf("    plan %zu\n", i);
    }
}

static void *thread_main(void *shm)
{
    group_make make = make_nodes;
    return misses_a_member((coll_shm *)shm, &make) == 0 ? shm : NULL;
}

/* Nor does it matter that the ranks are threads of one process. */
TEST(a_member_that_is_a_thread_is_missed)
{
    coll_shm *end[RANKS];
    pthread_t thread[LEAVER];
    if (!CHECK(ends_make(end, RANKS, 0, 0)))
        return;
    coll_shm_detach(end[LEAVER]);
    for (uint32_t r = 0; r < LEAVER; r++)
        if (pthread_create(&thread[r], NULL, thread_main, end[r]) != 0)
            abort();
    for (uint32_t r = 0; r < LEAVER; r++) {
        void *well;
        (void)pthread_join(thread[r], &well);
        CHECK(well);
    }
    ends_free(end, LEAVER);
}

/* Ranks 0 and 1 meet, the one long after the other. */
static int misses_nobody(coll_shm *shm, void *arg)
{
    group_plan it;
    (void)arg;
    if (coll_shm_rank(shm) == LEAVER)
        return 0;
    if (coll_shm_rank(shm) == 1)
        pause_for(100);
    if (make_barrier(&it, 0, 1, COLL_GROUP_SOCKETS) != COLL_OK)
        return 1;
    return run_plan(shm, &it) == COLL_OK && coll_shm_lost(shm) == COLL_RANK_NONE ? 0 : 2;
}

TEST(who_is_no_member_is_not_missed)
{
    pid_t pid[RANKS];
    processes_start(pid, RANKS, 0, 0, misses_nobody, NULL);
    CHECK(processes_end(pid, RANKS));
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Rank 0 waits for a rank that has left; `busy` is another one. */
typedef coll_status (*waits)(coll_shm *shm, uint32_t busy);

static coll_status wait_to_receive(coll_shm *shm, uint32_t busy)
{
    coll_handle h = {{0, 0}};
    (void)busy;
    return wait_for(shm, coll_shm_transport(shm)->recv(shm, leaver, TAG, NULL, 0, &h), &h);
}

/* For room in the channel. */
static coll_status wait_to_send(coll_shm *shm, uint32_t busy)
{
    coll_status status = COLL_OK;
    (void)busy;
    for (uint32_t idle = 0; status == COLL_OK || status == COLL_AGAIN; idle++) {
        coll_handle h = {{0, 0}};
        status = coll_shm_transport(shm)->send(shm, leaver, TAG, NULL, 0, &h);
        coll_shm_transport(shm)->wait(shm, status == COLL_OK ? 0 : idle);
    }
    return status;
}

/* For room in all channels, or for a slot to be free. */
static coll_status wait_to_cast(coll_shm *shm, size_t bytes)
{
    static unsigned char message[1000];
    coll_status status = COLL_OK;
    for (uint32_t idle = 0; status == COLL_OK || status == COLL_AGAIN; idle++) {
        coll_handle h = {{0, 0}};
        status = coll_shm_transport(shm)->in_network->multicast(shm, TAG, message, bytes, &h);
        coll_shm_transport(shm)->wait(shm, status == COLL_OK ? 0 : idle);
    }
    return status;
}

static coll_status wait_to_cast_short(coll_shm *shm, uint32_t busy)
{
    (void)busy;
    return wait_to_cast(shm, 8);
}

static coll_status wait_to_cast_medium(coll_shm *shm, uint32_t busy)
{
    (void)busy;
    return wait_to_cast(shm, 1000);
}

/* For a reader of a message where it lies, or for all. */
static coll_status wait_to_be_read(coll_shm *shm, bool all)
{
    const size_t bytes = 1 << 16;
    const coll_transport *t = coll_shm_transport(shm);
    void *message = coll_shm_alloc(shm, bytes);
    coll_handle h = {{0, 0}};
    if (!message)
        return COLL_ERR_MEMORY;
    return wait_for(shm,
                    all ? t->in_network->multicast(shm, TAG, message, bytes, &h)
                        : t->send(shm, leaver, TAG, message, bytes, &h),
                    &h);
}

static coll_status wait_for_a_reader(coll_shm *shm, uint32_t busy)
{
    (void)busy;
    return wait_to_be_read(shm, false);
}

static coll_status wait_for_readers(coll_shm *shm, uint32_t busy)
{
    (void)busy;
    return wait_to_be_read(shm, true);
}

/* For a part of SHARED that not all are done with. */
static coll_status wait_to_enter(coll_shm *shm, uint32_t busy)
{
    const coll_transport *t = coll_shm_transport(shm);
    (void)busy;
    for (;;) {
        uint32_t use;
        void *memory;
        coll_status status = COLL_AGAIN;
        (void)t->node_memory->shared(shm, true, &use, &memory);
        for (uint32_t idle = 0; status == COLL_AGAIN; idle++) {
            status = t->node_memory->enter(shm, TAG, use);
            t->wait(shm, idle);
        }
        if (status != COLL_OK)
            return status;
        t->node_memory->leave(shm, use);
    }
}

/* In a group, beside so many receives from who is busy, all tested in turn. */
static coll_status wait_in_turn(coll_shm *shm, uint32_t busy, uint32_t receives)
{
    enum { MOST = 64 };
    const coll_network_group all = {COLL_GROUP_ALL, RANKS};
    const coll_transport *t = coll_shm_transport(shm);
    coll_handle h[MOST + 1];
    coll_status status;
    memset(h, 0, sizeof h);
    if (network_reduce(t, shm, TAG, all, NULL, NULL, NULL, 0, 0, &h[0]) != COLL_STARTED)
        return COLL_ERR_STATE;
    for (uint32_t i = 1; i <= receives; i++)
        if (t->recv(shm, busy, TAG + i, NULL, 0, &h[i]) != COLL_STARTED)
            return COLL_ERR_STATE;
    shm->node.misses -= shm->node.misses % (receives + 1);
    for (uint32_t idle = 0;; idle++) {
        status = t->test(shm, &h[0]);
        for (uint32_t i = 1; i <= receives && status == COLL_AGAIN; i++)
            status = t->test(shm, &h[i]);
        if (status != COLL_AGAIN)
            return status;
        t->wait(shm, idle);
    }
}

static coll_status wait_for_all(coll_shm *shm, uint32_t busy)
{
    return wait_in_turn(shm, busy, 0);
}

static coll_status wait_for_all_and_one(coll_shm *shm, uint32_t busy)
{
    return wait_in_turn(shm, busy, 1);
}

static coll_status wait_for_all_and_many(coll_shm *shm, uint32_t busy)
{
    return wait_in_turn(shm, busy, 63);
}

/* … the other one does nothing until that is over. */
static int misses_a_peer(coll_shm *shm, void *arg)
{
    const waits wait = *(const waits *)arg;
    if (coll_shm_rank(shm) == leaver)
        return 0;
    if (coll_shm_rank(shm) == 0)
        return wait(shm, RANKS - leaver) == COLL_ERR_PEER && coll_shm_lost(shm) == leaver ? 0
                                                                                          : 1;
    for (uint32_t i = 0; i < PROCESSES_PATIENCE && coll_shm_lost(shm) == COLL_RANK_NONE; i++)
        pause_for(1);
    return coll_shm_lost(shm) == leaver ? 0 : 2;
}

TEST(a_peer_is_missed_by_whoever_waits_for_it)
{
    static const waits all[] = {wait_to_receive,      wait_to_send,      wait_to_cast_short,
                                wait_to_cast_medium,  wait_for_a_reader, wait_for_readers,
                                wait_to_enter,        wait_for_all,      wait_for_all_and_one,
                                wait_for_all_and_many};
    for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
        waits wait = all[i / 2];
        pid_t pid[RANKS];
        leaver = 1 + i % 2;
        processes_start(pid, RANKS, SHARED, ZERO_COPY, misses_a_peer, &wait);
        if (!CHECK(processes_end(pid, RANKS)))
            printf("    wait %zu, rank %u left\n", i / 2, leaver);
    }
}

int main(void)
{
    RUN(a_member_that_never_came_is_missed);
    RUN(a_member_that_is_a_thread_is_missed);
    RUN(who_is_no_member_is_not_missed);
    RUN(a_peer_is_missed_by_whoever_waits_for_it);
    return check_done();
}
