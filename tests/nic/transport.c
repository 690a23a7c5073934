/* tests/nic/transport.c — counter machines over a transport: every line of the table, over one that hesitates, cuts
 * messages, and computes late or not at all; and errors, after which it has nothing left */
#include "coll/algos/registry.h"
#include "coll/nic.h"
#include "support/check.h"
#include "support/flaky.h"

enum { RANKS = 7, ENTRIES = 1 << 13, TURNS = 200000 };

/* A rank's NIC. */
typedef struct nic {
    coll_nic_program program;
    coll_nic_machine machine;
    coll_nic_port port;
    void *memory;
    coll_nic_flight *flights;
    uint32_t *counters;
    uint8_t *states;
} nic;

static struct {
    nic nics[RANKS];
    void *world; /* room for all messages of all ranks */
    uint64_t random;
    unsigned long plans, refused, pieces, computed, held;
} all;

/* Lowers a rank's plan into memory of its own. */
static coll_status lower(nic *n, const rig_rank *me, uint32_t rank,
                         const coll_nic_limits *limits)
{
    coll_counts counts;
    coll_schedule schedule;
    coll_nic_memory memory;
    coll_action *actions;
    coll_status status = coll_plan_count(&me->plan, rank, &counts);
    if (status != COLL_OK)
        return status;
    actions = (coll_action *)malloc((counts.total + 1) * sizeof *actions);
    memset(&schedule, 0, sizeof schedule);
    status = coll_schedule_write(&schedule, &me->plan, rank, actions, counts.total);
    memory.bytes = 1 << 12;
    do {
        free(n->memory);
        memory.bytes *= 4;
        memory.at = n->memory = malloc(memory.bytes);
        memory.used = 0;
        if (status == COLL_OK)
            status = coll_nic_lower(&n->program, &me->plan, &schedule, limits, &memory);
    } while (status == COLL_ERR_MEMORY && (status = COLL_OK, memory.bytes < (size_t)1 << 24));
    free(actions);
    return status;
}

static bool open_nic(nic *n, flaky *over, uint32_t rank)
{
    const coll_nic_needs *needs = &n->program.needs;
    n->flights = (coll_nic_flight *)malloc(needs->ops * sizeof *n->flights);
    n->counters = (uint32_t *)malloc((needs->counters + 1) * sizeof *n->counters);
    n->states = (uint8_t *)malloc(needs->ops);
    coll_nic_port_init(&n->port, &over->transport, &over->ranks[rank], 5, n->flights);
    return CHECK_STATUS(coll_nic_open(&n->machine, &n->program, &coll_nic_over_transport,
                                      &n->port, n->counters, n->states),
                        COLL_OK);
}

static void aim(nic *n, const rig_rank *me)
{
    n->machine.op = me->run.op;
    n->machine.in = me->run.in;
    n->machine.out = me->run.out;
    n->machine.scratch = me->run.scratch;
    n->machine.shared = me->run.shared;
    n->machine.elem_bytes = sizeof(uint64_t);
}

/* Runs all ranks to their ends, in an order at random; the first error. */
static coll_status run_all(rig *it, uint64_t *random)
{
    uint32_t running = it->p;
    coll_status first = COLL_OK;
    for (uint32_t r = 0; r < it->p; r++) {
        nic *n = &all.nics[r];
        coll_nic_port_run(&n->port, &n->machine, it->problem.collective);
        if (coll_nic_start(&n->machine) == COLL_ERR_STATE)
            return COLL_ERR_STATE;
    }
    for (uint32_t turn = 0; running > 0 && turn < TURNS; turn++) {
        nic *n = &all.nics[chance_of(random, it->p)];
        (void)coll_nic_port_poll(&n->port);
        (void)coll_nic_progress(&n->machine);
        running = 0;
        for (uint32_t r = 0; r < it->p; r++)
            running += all.nics[r].machine.status == COLL_AGAIN;
    }
    for (uint32_t r = 0; r < it->p; r++)
        if (all.nics[r].machine.status != COLL_OK && first == COLL_OK)
            first = all.nics[r].machine.status;
    return first;
}

static void close_all(uint32_t p)
{
    for (uint32_t r = 0; r < p; r++) {
        free(all.nics[r].flights);
        free(all.nics[r].counters);
        free(all.nics[r].states);
        free(all.nics[r].memory);
        memset(&all.nics[r], 0, sizeof all.nics[r]);
    }
}

/* A world with room for everything at once. */
static void make_room(rig *it)
{
    if (!all.world)
        all.world = malloc(COLL_LOOPBACK_BYTES(ENTRIES));
    CHECK_STATUS(
        coll_loopback_init(&it->world, it->p, ENTRIES, all.world, COLL_LOOPBACK_BYTES(ENTRIES)),
        COLL_OK);
    for (uint32_t r = 0; r < it->p; r++)
        CHECK_STATUS(coll_loopback_attach(&it->world, r, &it->ranks[r].end), COLL_OK);
}

/* Lowers and opens all ranks of a rig. False: the plan needs what no transport's wire has. */
static bool make(rig *it, flaky *over, const char *what)
{
    coll_nic_limits limits;
    coll_nic_limits_init(&limits);
    limits.receives = 1 + chance_of(&all.random, 9);
    make_room(it);
    flaky_init(over, it, (uint32_t)all.plans + 1);
    for (uint32_t r = 0; r < it->p; r++) {
        coll_status status = lower(&all.nics[r], &it->ranks[r], r, &limits);
        bool network = false;
        if (!CHECK_STATUS(status, COLL_OK))
            printf("    %s, rank %u\n", what, r);
        for (uint32_t i = 0; status == COLL_OK && i < all.nics[r].program.needs.ops; i++)
            network = network || all.nics[r].program.ops[i].kind == COLL_NIC_NETWORK;
        all.refused += network;
        if (network || status != COLL_OK || !open_nic(&all.nics[r], over, r))
            return false;
        aim(&all.nics[r], &it->ranks[r]);
    }
    return true;
}

static void visit(rig *it, const char *what, void *arg)
{
    flaky over;
    (void)arg;
    if (all.plans++ % CHECK_SHARE != 0)
        return;
    if (make(it, &over, what)) {
        over.hesitates = 60;
        over.transport.max_bytes = all.plans % 2 ? 3 : 16;
        over.refuses = all.plans % 3 ? 100 : 0;
        for (uint32_t epoch = 0; epoch < 2; epoch++) {
            rig_fill(it);
            if (!CHECK_STATUS(run_all(it, &all.random), COLL_OK) || !CHECK(rig_right(it)))
                printf("    %s, epoch %u\n", what, epoch);
        }
        CHECK_EQ(over.violations, 0);
        CHECK_EQ(over.live, 0);
        CHECK_EQ(it->world.n_free, ENTRIES);
        all.pieces += over.messages;
        all.computed += over.reductions + over.copies;
    }
    close_all(it->p);
    flaky_free(&over, it);
}

TEST(every_line_of_the_table)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t p = 1; p <= RANKS; p += 3)
            (void)rig_each(coll_registry[i], p, 5, visit, NULL);
    CHECK(all.pieces > 100000);
    CHECK(all.computed > 1000);
    CHECK(all.refused > 0 && all.refused < all.plans / 10);
}

/* Whatever call of a rank fails: its machine ends with that, those that give up have their buffers back, and the
 * transport has nothing of anybody. */
TEST(errors_leave_nothing)
{
    rig it;
    coll_problem problem;
    unsigned long calls = 1;
    coll_problem_init(&problem, COLL_ALLREDUCE, 4, 9, sizeof(uint64_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(rig_init(&it, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    for (unsigned long at = 1; at <= calls && at < 500; at++) {
        flaky over;
        CHECK(make(&it, &over, "ring"));
        over.transport.max_bytes = 8;
        over.fail_rank = 1;
        over.fail_at = at;
        rig_fill(&it);
        (void)run_all(&it, &all.random);
        calls = over.fired ? at + 1 : at;
        for (uint32_t r = 0; r < it.p; r++) {
            coll_nic_machine *m = &all.nics[r].machine;
            if (over.fired && r == 1)
                CHECK_STATUS(m->status, COLL_ERR_IO);
            if (m->status == COLL_AGAIN)
                CHECK_STATUS(coll_nic_cancel(m, COLL_ERR_CANCELLED), COLL_OK);
            for (uint32_t i = 0; i < m->program->needs.ops; i++)
                CHECK(m->states[i] != COLL_I_NIC_STARTED);
        }
        CHECK_EQ(over.violations, 0);
        CHECK_EQ(over.live, 0);
        if (!over.fired)
            CHECK(rig_right(&it));
        close_all(it.p);
        flaky_free(&over, &it);
    }
    CHECK(calls > 50);
    rig_free(&it);
}

/* Numbers that no lowering writes end a program, and nothing else. */
TEST(messages_out_of_order)
{
    rig it;
    flaky over;
    coll_problem problem;
    coll_nic_op *ops;
    coll_problem_init(&problem, COLL_ALLREDUCE, 3, 9, sizeof(uint64_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(rig_init(&it, &coll_ring_allreduce, &problem, NULL), COLL_OK);
    CHECK(make(&it, &over, "ring"));
    ops = (coll_nic_op *)all.nics[2].memory;
    for (uint32_t i = 0; i < all.nics[2].program.needs.ops; i++)
        if (ops[i].kind == COLL_NIC_SEND && ops[i].number == 1)
            ops[i].number = 7;
    rig_fill(&it);
    (void)run_all(&it, &all.random);
    CHECK_STATUS(all.nics[2].machine.status, COLL_ERR_STATE);
    for (uint32_t r = 0; r < it.p; r++)
        if (all.nics[r].machine.status == COLL_AGAIN)
            CHECK_STATUS(coll_nic_cancel(&all.nics[r].machine, COLL_ERR_CANCELLED), COLL_OK);
    CHECK_EQ(over.live, 0);
    close_all(it.p);
    flaky_free(&over, &it);
    rig_free(&it);
}

int main(void)
{
    all.random = 11;
    RUN(every_line_of_the_table);
    RUN(errors_leave_nothing);
    RUN(messages_out_of_order);
    free(all.world);
    return check_done();
}
