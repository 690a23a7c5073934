/* tests/lab/sim/engine.c — every row of the registry ends, eager or not, and the same way each
 * time; what is wrong is said; a rank needs little memory */
#include "support/rig.h"
#include "support/simulated.h"

#include "coll/executor/schedule.h"

static coll_time in_network(const coll_cost_model *model, coll_network_group group,
                            uint64_t bytes)
{
    (void)model;
    return group.members + bytes;
}

static coll_cost_model model;
static coll_sim_loggp loggp;

static void make_model(double S)
{
    const coll_loggp_costs costs = {1000, 200, 100, 1, .5, S, .25};
    coll_sim_loggp_init(&model, &loggp, &costs);
    model.in_network = in_network;
}

/* ---- rows -------------------------------------------------------------------------------- */

static coll_plan plans[64];
static coll_sim sim, again;

static void simulate(rig *it, const char *what, void *arg)
{
    coll_sim_options options;
    uint64_t messages = 0, bytes = 0;
    coll_sim_options_init(&options, &model);
    options.window = it->ranks[0].plan.window;
    options.skew_most = *(const coll_time *)arg;
    (void)what;
    for (uint32_t r = 0; r < it->p; r++) {
        coll_counts tally = {0, 0, {0}, {0}, 0, 0, 0, 0};
        plans[r] = it->ranks[r].plan;
        CHECK_STATUS(coll_plan_count(&plans[r], r, &tally), COLL_OK);
        messages += tally.messages_sent;
        bytes += tally.bytes_sent;
    }
    CHECK_STATUS(coll_sim_run(&sim, plans, true, &options), COLL_OK);
    CHECK_EQ(sim.messages, messages);
    CHECK_EQ(sim.bytes, bytes);
    CHECK(sim.makespan > 0 || messages == 0);
    CHECK_STATUS(coll_sim_run(&again, plans, true, &options), COLL_OK);
    CHECK_EQ(again.makespan, sim.makespan);
    CHECK_EQ(again.events, sim.events);
    for (uint32_t r = 0; r < it->p; r++) {
        CHECK_EQ(coll_sim_finish(&again, r), coll_sim_finish(&sim, r));
        CHECK_EQ(coll_sim_busy(&again, r), coll_sim_busy(&sim, r));
        CHECK(coll_sim_busy(&sim, r) <= coll_sim_finish(&sim, r));
        CHECK(coll_sim_finish(&sim, r) <= sim.makespan);
    }
}

static void simulate_all(coll_time skew)
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 16, 23};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t row = 0; row < COLL_REGISTRY_COUNT; row++)
            CHECK(rig_each(coll_registry[row], sizes[i], 1 + 5 * i, simulate, &skew));
}

TEST(eager)
{
    make_model(1e18);
    simulate_all(0);
}

TEST(with_rendezvous_and_skew)
{
    make_model(0);
    simulate_all(3000000);
}

/* ---- one plan for all, or one for each ---------------------------------------------------- */

TEST(seeds)
{
    const coll_plan plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", 64, 1, 0);
    coll_sim_options options;
    coll_time first;
    make_model(1e18);
    coll_sim_options_init(&options, &model);
    options.skew_most = 5000000;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    first = sim.makespan;
    CHECK(first > 5000000 / 2);
    for (uint32_t r = 0; r < 64; r++)
        plans[r] = plan;
    CHECK_STATUS(coll_sim_run(&sim, plans, true, &options), COLL_OK);
    CHECK_EQ(sim.makespan, first);
    options.seed = 2;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK(sim.makespan != first);
}

/* A rank that begins late is waited for, and nobody ends before it begins. */
TEST(given_skew)
{
    const coll_plan plan = sim_plan(COLL_BARRIER, "dissemination", 16, 0, 0);
    coll_time skew[16] = {0};
    coll_sim_options options;
    make_model(1e18);
    skew[5] = 1000000000;
    coll_sim_options_init(&options, &model);
    options.skew = skew;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    for (uint32_t r = 0; r < 16; r++)
        CHECK(coll_sim_finish(&sim, r) >= skew[5]);
}

/* ---- more messages than a list is good for ------------------------------------------------ */

/* The root receives in the order of the ranks what comes in the order of their starts. */
TEST(large_inboxes)
{
    const coll_plan plan = sim_plan(COLL_GATHER, "linear", 5000, 1, 0);
    coll_sim_options options;
    make_model(1e18);
    coll_sim_options_init(&options, &model);
    options.skew_most = 20000000000;
    for (options.seed = 1; options.seed < 4; options.seed++) {
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
        CHECK(sim.makespan < 21000000000);
        CHECK_EQ(sim.messages, 4999);
    }
}

/* ---- program order ----------------------------------------------------------------------- */

/* Rank 0's window of 4: it receives from 5, early, and from 1, late, and then sends what came from 1
 * to 2, 3 and 4. The send to 4 gets the slot of the first receive, below those of the others. */
static unsigned forwards(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    (void)plan;
    if (rank != 0)
        coll_act_move(out, rank == 1 || rank == 5, 0, COLL_AT(COLL_OUT, 0), 1);
    else if (s < 2)
        coll_act_recv(out, s == 0 ? 5 : 1, COLL_AT(COLL_OUT, 1 - s), 1);
    else
        coll_act_send(out, (uint32_t)s, COLL_AT(COLL_OUT, 0), 1);
    return 1;
}

static size_t forwards_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    return rank == 0 ? 5 : 1;
}

TEST(sends_that_wait_since_one_time_go_in_program_order)
{
    coll_plan plan = sim_plan(COLL_ALLREDUCE, "ring", 6, 6, 0);
    coll_algorithm algorithm = *plan.algorithm;
    const coll_time skew[6] = {0, 1000000000, 0, 0, 0, 0};
    coll_sim_options options;
    make_model(1e18);
    algorithm.steps = forwards_steps;
    algorithm.step = forwards;
    plan.algorithm = &algorithm;
    coll_sim_options_init(&options, &model);
    options.skew = skew;
    options.window = 4;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK(skew[1] < coll_sim_finish(&sim, 2));
    CHECK(coll_sim_finish(&sim, 2) < coll_sim_finish(&sim, 3));
    CHECK(coll_sim_finish(&sim, 3) < coll_sim_finish(&sim, 4));
}

/* ---- what is wrong ----------------------------------------------------------------------- */

static size_t one_step(const coll_plan *plan, uint32_t rank)
{
    (void)plan, (void)rank;
    return 1;
}

/* Rank 0 waits for rank 1, which waits for rank 0. */
static unsigned circle(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    (void)plan, (void)s;
    coll_act_recv(&out[0], 1 - rank, COLL_AT(COLL_OUT, 0), 1);
    coll_act_send(&out[1], 1 - rank, COLL_AT(COLL_OUT, 0), 1);
    return 2;
}

static unsigned sizes_differ(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    (void)plan, (void)s;
    coll_act_move(out, rank == 0, 1 - rank, COLL_AT(COLL_OUT, 0), 1 + rank);
    return 1;
}

static unsigned nobody_there(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    (void)plan, (void)rank, (void)s;
    coll_act_send(out, 2, COLL_AT(COLL_OUT, 0), 1);
    return 1;
}

static coll_status run_steps(unsigned (*step)(const coll_plan *, uint32_t, size_t,
                                              coll_action *))
{
    coll_plan plan = sim_plan(COLL_ALLREDUCE, "ring", 2, 2, 0);
    coll_algorithm algorithm = *plan.algorithm;
    coll_sim_options options;
    algorithm.steps = one_step;
    algorithm.step = step;
    plan.algorithm = &algorithm;
    coll_sim_options_init(&options, &model);
    return coll_sim_run(&sim, &plan, false, &options);
}

TEST(errors)
{
    coll_plan plan = sim_plan(COLL_ALLREDUCE, "in_network", 2, 1, 0);
    coll_sim_options options;
    make_model(1e18);
    CHECK_STATUS(run_steps(circle), COLL_ERR_DEADLOCK);
    CHECK_STATUS(run_steps(sizes_differ), COLL_ERR_SIZE);
    CHECK_EQ(sim.stuck, 1);
    CHECK_STATUS(run_steps(nobody_there), COLL_ERR_RANK);
    coll_sim_options_init(&options, &model);
    options.window = 33;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_ERR_WINDOW);
    options.window = 1;
    model.in_network = NULL;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_ERR_CAPABILITY);
    loggp.L = COLL_TIME_LIMIT / 2;
    plan = sim_plan(COLL_BCAST, "fnomial", 16, 1, 0);
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_ERR_OVERFLOW);
    for (int i = 0; i < 3; i++) { /* one cost that is too long; nothing waits for its end */
        loggp.L = i == 0 ? coll_time_of(1e300) : 0;
        loggp.o = i == 1 ? coll_time_of(1e300) : 0;
        loggp.G = i == 2 ? 1e300 : 0;
        plan = sim_plan(COLL_BCAST, "linear", 2, 4, 0);
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_ERR_OVERFLOW);
    }
    options.model = NULL;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_ERR_NULL);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Of ranks that have few actions in flight, well below a kilobyte each; never more than the window
 * and the messages need. */
TEST(memory_of_a_rank)
{
    const uint32_t p = CHECK_SHARE == 1 ? 1 << 17 : 1 << 14;
    coll_plan plan = sim_plan(COLL_BCAST, "fnomial", p, 1, 0);
    coll_sim_options options;
    make_model(1e18);
    coll_sim_free(&sim);
    coll_sim_options_init(&options, &model);
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK(sim.memory / p < 512);
    plan = sim_plan(COLL_ALLREDUCE, "fnomial", p, 1, 0);
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK(sim.memory / p < 768);
    plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", p, 1, 0);
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK(sim.memory / p < 2048);
}

int main(void)
{
    coll_sim_init(&sim);
    coll_sim_init(&again);
    RUN(eager);
    RUN(with_rendezvous_and_skew);
    RUN(seeds);
    RUN(given_skew);
    RUN(large_inboxes);
    RUN(sends_that_wait_since_one_time_go_in_program_order);
    RUN(errors);
    RUN(memory_of_a_rank);
    coll_sim_free(&sim);
    coll_sim_free(&again);
    return check_done();
}
