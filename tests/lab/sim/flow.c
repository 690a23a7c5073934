/* tests/lab/sim/flow.c — what flows through something shared: copies of a node, messages between
 * nodes */
#include "support/simulated.h"

static coll_cost_model model, network;
static coll_sim_hockney between;
static coll_sim_shm shm;
static coll_nodes nodes;
static coll_sim sim;

/* What each rank does: its row of a table, up to the first action of 0 elements. */
enum { RANKS = 4, ACTIONS = 3 };
static coll_action program[RANKS][ACTIONS];

static void nothing_to_do(void)
{
    memset(program, 0, sizeof program);
}

static size_t steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan, (void)rank;
    return 1;
}

static unsigned step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    unsigned n = 0;
    (void)plan, (void)s;
    for (; n < ACTIONS && program[rank][n].count > 0; n++)
        out[n] = program[rank][n];
    return n;
}

/* Runs what `program` says, of bytes, on p ranks that begin at these times or at once. */
static coll_status run(uint32_t p, const coll_time *skew)
{
    coll_plan plan = sim_plan(COLL_ALLREDUCE, "ring", p, 8, 0);
    coll_algorithm algorithm = *plan.algorithm;
    coll_sim_options options;
    algorithm.steps = steps;
    algorithm.step = step;
    plan.algorithm = &algorithm;
    plan.problem.elem_bytes = 1;
    coll_sim_options_init(&options, &model);
    options.skew = skew;
    return coll_sim_run(&sim, &plan, false, &options);
}

static coll_action copy(uint32_t rank, size_t bytes)
{
    coll_action a;
    coll_act_copy(&a, COLL_AT(COLL_OUT, rank), COLL_AT(COLL_IN, 0), bytes);
    return a;
}

static coll_action send(uint32_t to, size_t bytes)
{
    coll_action a;
    coll_act_send(&a, to, COLL_AT(COLL_IN, 0), bytes);
    return a;
}

static coll_action recv(uint32_t from, size_t bytes)
{
    coll_action a;
    coll_act_recv(&a, from, COLL_AT(COLL_OUT, 100000 * from), bytes);
    return a;
}

static coll_time ns(uint32_t rank)
{
    CHECK_EQ(coll_sim_finish(&sim, rank) % 1000, 0);
    return coll_sim_finish(&sim, rank) / 1000;
}

/* ---- copies ------------------------------------------------------------------------------ */

/* Nodes of ppn ranks: a copy takes 1 us and 1 ns a byte, all of a node `node` ns a byte. */
static void share(double node, uint32_t p, uint32_t ppn)
{
    static const coll_hockney_costs far = {1.5, .1, 0};
    static coll_shm_costs costs = {1, 1, 0, 0, 0, 0, 0, 0, 0};
    costs.node_ns_per_byte = node;
    coll_sim_hockney_init(&network, &between, &far);
    coll_nodes_even(&nodes, p, ppn);
    shm.costs = &costs;
    shm.between = &network;
    shm.nodes = &nodes;
    shm.ends = p;
    coll_sim_shm_init(&model, &shm);
}

/* Copies of 8000, 16000, … bytes at once on nodes of three ranks, whose memory moves two at full
 * speed. */
TEST(copies_share_the_memory)
{
    nothing_to_do();
    for (uint32_t r = 0; r < 4; r++)
        program[r][0] = copy(r, 8000 * (r + 1));
    for (uint32_t p = 1; p <= 4; p++) {
        share(.5, p, 3);
        CHECK_STATUS(run(p, NULL), COLL_OK);
        if (p < 3)
            CHECK_EQ(ns(p - 1), 1000 + 8000 * p);
        if (p >= 3) { /* all three 12 us for 8 each, then two at full speed, then one */
            CHECK_EQ(ns(0), 1000 + 12000);
            CHECK_EQ(ns(1), 1000 + 12000 + 8000);
            CHECK_EQ(ns(2), 1000 + 12000 + 8000 + 8000);
        }
        if (p == 4) /* alone on a node */
            CHECK_EQ(ns(3), 1000 + 32000);
        for (uint32_t r = 0; r < p; r++)
            CHECK_EQ(coll_sim_busy(&sim, r), coll_sim_finish(&sim, r));
    }
}

/* Two copies of a node, twice as slow together. When the shorter one ends, at 9 us, the longer one
 * is to end at 13 instead of at 17, so there is an old event at 17. A copy on another node begins at
 * 14, as the same flow in memory, and ends at 17 too: nobody but that rank may be told. */
TEST(an_old_event_does_not_end_another_flow)
{
    static const coll_time begin[] = {0, 0, 14000000};
    nothing_to_do();
    program[0][0] = copy(0, 8000);
    program[1][0] = copy(1, 4000);
    program[2][0] = copy(2, 2000);
    share(1, 3, 2);
    CHECK_STATUS(run(3, begin), COLL_OK);
    CHECK_EQ(ns(0), 13000);
    CHECK_EQ(ns(1), 9000);
    CHECK_EQ(ns(2), 17000);
}

/* Where ranks work in steps a copy goes on although its rank's processor is busy, namely with it. */
TEST(copies_of_ranks_that_work_in_steps)
{
    for (uint32_t p = 2; p <= 9; p++) {
        coll_plan plan = sim_plan(COLL_BCAST, "shm", p, 10000, 64);
        coll_time at_will;
        share(.25, p, p);
        at_will = sim_ps(&plan, &model);
        model.step = 1;
        CHECK_EQ(sim_ps(&plan, &model), at_will);
    }
}

/* ---- messages ---------------------------------------------------------------------------- */

/* A message flows, 1 ns a byte, through the shares of its ends, which it needs the ports for; `still`
 * is how many bytes and more stand still while anything is copied. */
static uint64_t still;

static void move(const coll_cost_model *of, const coll_message *m, coll_cost *cost)
{
    (void)of;
    cost->flow = m->bytes * 1000;
    cost->port = COLL_NEVER;
}

static double slow(const coll_cost_model *of, const coll_flowing *all, uint64_t bytes)
{
    (void)of;
    return bytes >= still && all->computations > 0 ? HUGE_VAL
                                                   : all->messages + all->computations;
}

static void flow(uint32_t p, uint32_t ppn)
{
    share(1, p, ppn);
    model.send = model.receive = move;
    model.slow = slow;
    still = UINT64_MAX;
}

/* A rank's messages flow one after the other, so they do not slow each other down, and whoever
 * comes first is done first; without ports all flow at once, and are as late as the last. */
TEST(a_port_is_held_until_its_message_has_flowed)
{
    flow(4, 1);
    nothing_to_do();
    for (uint32_t r = 1; r < 4; r++) {
        program[0][r - 1] = send(r, 1000);
        program[r][0] = recv(0, 1000);
    }
    CHECK_STATUS(run(4, NULL), COLL_OK);
    for (uint32_t r = 1; r < 4; r++)
        CHECK_EQ(ns(r), 1000 * r);
    nothing_to_do();
    for (uint32_t r = 1; r < 4; r++) {
        program[0][r - 1] = recv(r, 1000);
        program[r][0] = send(0, 1000);
    }
    CHECK_STATUS(run(4, NULL), COLL_OK);
    for (uint32_t r = 1; r < 4; r++)
        CHECK_EQ(ns(r), 1000); /* they have left, and wait at the receiver's */
    CHECK_EQ(ns(0), 3000);
}

/* Two ranks of a node send to another node: they share it. */
TEST(ports_are_of_ranks_and_shares_of_nodes)
{
    nothing_to_do();
    program[0][0] = send(2, 1000);
    program[1][0] = send(3, 1000);
    program[2][0] = recv(0, 1000);
    program[3][0] = recv(1, 1000);
    flow(4, 2);
    CHECK_STATUS(run(4, NULL), COLL_OK);
    for (uint32_t r = 0; r < 4; r++)
        CHECK_EQ(ns(r), 2000);
}

/* A message, and a rank beside its sender or receiver, or the sender itself, that copies. */
TEST(a_message_stands_still_while_a_node_copies)
{
    for (int who = 0; who < 3; who++) {
        const uint32_t copier = who == 0 ? 1 : who == 1 ? 3 : 0;
        nothing_to_do();
        program[0][0] = send(2, 4000);
        program[2][0] = recv(0, 4000);
        program[copier][copier == 0 ? 1 : 0] = copy(copier, 3000);
        flow(4, 2);
        still = 4000;
        CHECK_STATUS(run(4, NULL), COLL_OK);
        CHECK_EQ(ns(2), 4000 + 3000 * 2);
        still = 4001; /* a copy of 3 us alone begins after 1 us; then each at half its pace */
        CHECK_STATUS(run(4, NULL), COLL_OK);
        CHECK_EQ(ns(2), 7000);
    }
}

/* Where ranks work in steps: a message of 1 us and one of 4, each twice as slow with the other in
 * the share. When the short one is there its receiver copies that, for 1 us and then, twice as slow
 * as alone, for 6. Meanwhile its own message stands still, with 3 us left. */
TEST(messages_of_ranks_that_work_in_steps)
{
    flow(2, 1);
    model.step = 1;
    nothing_to_do();
    program[0][0] = send(1, 4000);
    program[0][1] = recv(1, 1000);
    program[0][2] = copy(0, 3000);
    program[0][2].src = program[0][1].dst;
    program[1][0] = send(0, 1000);
    program[1][1] = recv(0, 4000);
    CHECK_STATUS(run(2, NULL), COLL_OK);
    CHECK_EQ(ns(0), 2000 + 1000 + 3000 * 2 + 3000);
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(copies_share_the_memory);
    RUN(an_old_event_does_not_end_another_flow);
    RUN(copies_of_ranks_that_work_in_steps);
    RUN(a_port_is_held_until_its_message_has_flowed);
    RUN(ports_are_of_ranks_and_shares_of_nodes);
    RUN(a_message_stands_still_while_a_node_copies);
    RUN(messages_of_ranks_that_work_in_steps);
    coll_sim_free(&sim);
    return check_done();
}
