/* tests/lab/sim/loggp.c — LogGP: LogGOPSim's numbers to the nanosecond where no processor is
 * saturated, and its rules one by one */
#include "support/simulated.h"

/* LogGOPSim's parameters are whole nanoseconds. */
typedef struct machine {
    coll_cost_model model;
    coll_sim_loggp loggp;
} machine;

static void machine_init(machine *at, double L, double o, double g, double G, double O,
                         double S)
{
    const coll_loggp_costs costs = {L, o, g, G, O, S, 0};
    coll_sim_loggp_init(&at->model, &at->loggp, &costs);
}

static coll_time ns(coll_collective collective, const char *name, uint32_t p, size_t count,
                    const machine *on)
{
    const coll_plan plan = sim_plan(collective, name, p, count, 0);
    return sim_ps(&plan, &on->model) / 1000;
}

/* H = 2o + L + G(s−1) is 1407 ns of A and 1207 ns of B for 8 bytes. */
static machine a, b;

TEST(trees_take_k_messages)
{
    CHECK_EQ(ns(COLL_BCAST, "fnomial", 1024, 1, &a), 14070);
    CHECK_EQ(ns(COLL_REDUCE, "fnomial", 1024, 1, &a), 14070);
    CHECK_EQ(ns(COLL_ALLREDUCE, "recursive_doubling", 1024, 1, &a), 14070);
    for (uint32_t k = 1; k <= 12; k++)
        CHECK_EQ(ns(COLL_BCAST, "fnomial", (uint32_t)1 << k, 1, &a), 1407 * k);
}

TEST(trees_wait_for_the_gap)
{
    CHECK_EQ(ns(COLL_BCAST, "fnomial", 1024, 1, &b), 46270);
    CHECK_EQ(ns(COLL_REDUCE, "fnomial", 1024, 1, &b), 46270);
    for (uint32_t k = 1; k <= 12; k++)
        CHECK_EQ(ns(COLL_BCAST, "fnomial", (uint32_t)1 << k, 1, &b), (k - 1) * 5007 + 1207);
}

/* A message of a dissemination has no bytes here, and costs as much as one of one byte. */
TEST(dissemination)
{
    CHECK_EQ(ns(COLL_BARRIER, "dissemination", 1024, 0, &a), 14000);
    CHECK_EQ(ns(COLL_BARRIER, "dissemination", 1024, 0, &b), 9 * 5000 + 1200);
}

TEST(halving_and_doubling)
{
    CHECK_EQ(ns(COLL_ALLREDUCE, "rabenseifner", 1024, 8192 / 8, &a), 44348);
}

TEST(ring)
{
    CHECK_EQ(ns(COLL_ALLREDUCE, "ring", 1024, (1 << 20) / 8, &a), 4957458);
}

/* 2o + L + max(O, G)(s − 1), whichever is larger, eager or not. */
TEST(one_message)
{
    for (size_t count = 1; count < 1000; count = 3 * count + 1)
        for (unsigned i = 0; i < 8; i++) {
            const double O = i & 1 ? 5 : 0, G = i & 2 ? 3 : 1, S = i & 4 ? 0 : 1e18;
            machine m;
            machine_init(&m, 2500, 1500, 1000, G, O, S);
            CHECK_EQ(ns(COLL_BCAST, "linear", 2, count, &m),
                     2 * 1500 + 2500 + (O > G ? O : G) * (8 * (double)count - 1));
        }
}

/* A root sends to p − 1: every g it may, and the processor must be free, o + (s−1)O. */
TEST(senders_are_bound_by_gap_and_overhead)
{
    machine m;
    machine_init(&m, 1000, 200, 700, 2, 0, 1e18);
    CHECK_EQ(ns(COLL_BCAST, "linear", 9, 4, &m), 7 * (700 + 62) + 1400 + 62);
    machine_init(&m, 1000, 200, 100, 2, 9, 1e18);
    CHECK_EQ(ns(COLL_BCAST, "linear", 9, 4, &m), 7 * (200 + 279) + 1400 + 279);
}

/* p − 1 messages reach a root at once, which takes them one after the other. */
TEST(receivers_take_one_message_at_a_time)
{
    machine m;
    machine_init(&m, 1000, 200, 700, 2, 0, 1e18);
    CHECK_EQ(ns(COLL_GATHER, "linear", 9, 4, &m), 1200 + 7 * (700 + 62) + 262);
    machine_init(&m, 1000, 200, 100, 2, 0, 1e18);
    CHECK_EQ(ns(COLL_GATHER, "linear", 9, 4, &m), 1200 + 8 * 262);
}

/* The processor that combines does nothing else: c ns a byte, on the way of every message. */
TEST(combining)
{
    machine m = a;
    const coll_loggp_costs costs = {1000, 200, 100, 1, 0, 1e18, 4};
    coll_sim_loggp_init(&m.model, &m.loggp, &costs);
    CHECK_EQ(ns(COLL_REDUCE, "fnomial", 1024, 1, &m), 10 * (1407 + 32));
}

/* A processor that is saturated receives a segment and sends it on in turns: each segment but the
 * first takes it o + (s−1)G and o. */
TEST(pipelines_forward_before_they_receive)
{
    for (uint32_t p = 3; p <= 16; p++)
        for (size_t segments = 1; segments <= 32; segments = 2 * segments + 1) {
            const coll_plan plan =
                sim_plan_with(COLL_BCAST, "chain", p, 128 * segments, 1, 128);
            machine m;
            machine_init(&m, 2500, 1500, 1000, 6, 0, 1e18);
            CHECK_EQ(sim_ps(&plan, &m.model) / 1000,
                     (p - 1) * (2 * 1500 + 2500 + 6 * 1023) +
                         (segments - 1) * (2 * 1500 + 6 * 1023));
        }
}

/* The message that arrives as the one before it has been taken in waits for the send of that. */
TEST(ties_go_to_the_rank)
{
    const coll_plan plan = sim_plan_with(COLL_BCAST, "chain", 3, 2, 1, 1);
    machine m;
    machine_init(&m, 1000, 200, 207, 1, 0, 1e18); /* a segment takes 207 to be taken in */
    CHECK_EQ(sim_ps(&plan, &m.model) / 1000, 2 * 1407 + 200 + 207);
    machine_init(&m, 1000, 200, 200, 1, 0, 1e18);
    CHECK_EQ(sim_ps(&plan, &m.model) / 1000, 2 * 1407 + 200 + 207);
}

/* A sender of more than S bytes waits for its receiver, which here sleeps at first. */
TEST(rendezvous)
{
    static const coll_time skew[2] = {0, 50000000};
    for (unsigned S = 0; S < 2; S++) {
        const coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, 1, 0);
        coll_sim_options options;
        coll_sim sim;
        machine m;
        machine_init(&m, 1000, 200, 100, 1, 0, S ? 8 : 7);
        coll_sim_options_init(&options, &m.model);
        options.skew = skew;
        coll_sim_init(&sim);
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
        CHECK_EQ(coll_sim_finish(&sim, 0) / 1000, S ? 200 : 50000);
        CHECK_EQ(coll_sim_finish(&sim, 1) / 1000, 50207);
        CHECK_EQ(coll_sim_busy(&sim, 1) / 1000, 207);
        CHECK_EQ(sim.messages, 1);
        CHECK_EQ(sim.bytes, 8);
        coll_sim_free(&sim);
    }
}

int main(void)
{
    machine_init(&a, 1000, 200, 100, 1, 0, 65535);
    machine_init(&b, 1000, 100, 5000, 1, 0, 65535);
    RUN(trees_take_k_messages);
    RUN(trees_wait_for_the_gap);
    RUN(dissemination);
    RUN(halving_and_doubling);
    RUN(ring);
    RUN(one_message);
    RUN(senders_are_bound_by_gap_and_overhead);
    RUN(receivers_take_one_message_at_a_time);
    RUN(combining);
    RUN(pipelines_forward_before_they_receive);
    RUN(ties_go_to_the_rank);
    RUN(rendezvous);
    return check_done();
}
