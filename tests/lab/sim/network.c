/* tests/lab/sim/network.c — loads of links, and what they cost, by hand where machines are small */
#include "support/simulated.h"

static coll_topology topology;

static bool read(const char *text)
{
    coll_sentence why;
    bool held;
    coll_topology_free(&topology);
    held = coll_topology_read(&topology, text, &why);
    if (!held)
        printf("    %s: %s\n", text, why.text);
    return CHECK(held);
}

/* ---- loads and times --------------------------------------------------------------------- */

static coll_cost_model model;
static coll_sim_loggp loggp;
static coll_sim sim;

/* 1 us of latency, 1 ns a byte, nothing else. */
static void simulate(const coll_plan *plan, const coll_topology *on)
{
    const coll_loggp_costs costs = {1000, 0, 0, 1, 0, 1e18, 0};
    coll_sim_options options;
    coll_sim_loggp_init(&model, &loggp, &costs);
    coll_sim_options_init(&options, &model);
    options.topology = on;
    CHECK_STATUS(coll_sim_run(&sim, plan, false, &options), COLL_OK);
}

static uint64_t messages(uint32_t from, uint32_t to)
{
    return coll_sim_link(&sim, topology.link(&topology, from, to, 0))->messages;
}

/* The root of a line of four sends to all: 8 bytes take 8 ns of each link, and set out 7 ns after
 * each other. */
TEST(a_line)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 4, 1, 0);
    CHECK(read("mesh:4"));
    simulate(&plan, &topology);
    CHECK_EQ(messages(0, 1), 3);
    CHECK_EQ(messages(1, 2), 2);
    CHECK_EQ(messages(2, 3), 1);
    CHECK_EQ(messages(1, 0), 0);
    CHECK_EQ(coll_sim_link(&sim, topology.link(&topology, 1, 2, 0))->bytes, 16);
    CHECK_EQ(coll_sim_link(&sim, topology.link(&topology, 1, 2, 0))->busy, 16000);
    CHECK_EQ(coll_sim_busiest(&sim), topology.link(&topology, 0, 1, 0));
    CHECK_EQ(sim.hops, 6);
    CHECK_EQ(sim.hops_most, 3);
    CHECK_EQ(coll_sim_finish(&sim, 1), 1007000);
    CHECK_EQ(coll_sim_finish(&sim, 2), 1015000);
    CHECK_EQ(coll_sim_finish(&sim, 3), 1023000);
    CHECK(read("mesh:4,hop=100"));
    simulate(&plan, &topology);
    CHECK_EQ(coll_sim_finish(&sim, 3), 1323000);
}

/* Of a 2 by 2 mesh, ranks 0 and 1 send 800 bytes to 3 and 2: X before Y, so their links differ, but
 * those of an exchange between 0 and 3, 1 and 2 meet neither. */
TEST(a_square)
{
    const coll_plan plan = sim_plan(COLL_ALLTOALL, "pairwise", 4, 100, 0);
    CHECK(read("mesh:2x2"));
    simulate(&plan, &topology);
    for (uint32_t from = 0; from < 4; from++)
        for (uint32_t axis = 1; axis <= 2; axis++)
            CHECK_EQ(messages(from, from ^ axis), 2); /* its own, and one that turns */
    CHECK_EQ(sim.hops, 16);
}

/* The second round of a recursive doubling crosses between the nodes: both messages of a node
 * share its NIC, and go over it one after the other. */
TEST(a_shared_link)
{
    const coll_plan plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", 4, 1000, 0);
    CHECK(read("nodes:2x1x2"));
    simulate(&plan, &topology);
    for (uint32_t link = 2; link < 6; link++) {
        CHECK_EQ(coll_sim_link(&sim, link)->messages, 2);
        CHECK_EQ(coll_sim_link(&sim, link)->bytes, 16000);
        CHECK_EQ(coll_sim_link(&sim, link)->waited, link & 1 ? 0 : 8000000);
    }
    CHECK_EQ(sim.makespan / 1000, 2 * 8999 + 8000);
    simulate(&plan, NULL);
    CHECK_EQ(sim.makespan / 1000, 2 * 8999);
}

/* A slower link than the model's: the last byte comes later. A time for each message. */
TEST(slow_links)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, 1000, 0);
    CHECK(read("mesh:2,byte=3ns/byte"));
    simulate(&plan, &topology);
    CHECK_EQ(sim.makespan / 1000, 1000 + 24000 - 8000 + 7999);
    CHECK(read("mesh:2,message=500"));
    simulate(&plan, &topology);
    CHECK_EQ(sim.makespan / 1000, 1000 + 500 + 7999);
    CHECK(read("nodes:1x2x1,socket=2"));
    simulate(&plan, &topology);
    CHECK_EQ(sim.makespan / 1000, 1000 + 16000 - 8000 + 7999);
}

/* Packets of 320 bytes, acknowledged over hops of 20 ns: 320 ns suffice for 8 links, not for 12. */
TEST(acknowledged_packets)
{
    for (uint32_t p = 2; p <= 16; p += 2) {
        const coll_plan plan = sim_plan(COLL_SCAN, "linear", p, 4000, 0);
        const coll_plan far = sim_plan(COLL_BCAST, "linear", p, 4000, 0);
        coll_time alone;
        CHECK(read("mesh:16,hop=20,packet=320"));
        topology.full = false;
        simulate(&plan, &topology);
        CHECK_EQ(sim.hops_most, 1);
        CHECK_EQ(sim.makespan / 1000, (p - 1) * (1000 + 20 + 31999));
        simulate(&far, &topology);
        alone = 20 * (p - 1) * 2 > 320 ? 32000 * (20 * (p - 1) * 2) / 320 : 32000;
        CHECK(sim.makespan / 1000 >= 1000 + 20 * (p - 1) + alone - 1);
    }
}

/* tree, snake and fence share no link at any time: no message waits for one. Those of a
 * recursive doubling do. */
TEST(littlefields_algorithms_share_no_link)
{
    static const char *const names[] = {"tree", "snake", "fence", "recursive_doubling"};
    const coll_hockney_costs costs = {1, 1, .1};
    coll_sim_hockney hockney;
    coll_sim_options options;
    CHECK(read("mesh:4x8"));
    coll_sim_hockney_init(&model, &hockney, &costs);
    coll_sim_options_init(&options, &model);
    options.topology = &topology;
    for (unsigned i = 0; i < 4; i++) {
        const coll_plan plan = sim_plan(COLL_ALLREDUCE, names[i], 32, 4096, i < 3 ? 4 : 0);
        coll_time waited = 0;
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
        for (uint32_t link = 0; link < topology.links; link++)
            waited += coll_sim_link(&sim, link)->waited;
        CHECK_EQ(waited > 0, i == 3);
        CHECK(sim.hops >= sim.messages);
    }
}

/* ---- groups ------------------------------------------------------------------------------ */

/* Ranks are where their group puts them. */
TEST(places)
{
    static const uint32_t table[2] = {5, 2};
    coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, 1, 0);
    coll_group group;
    CHECK(read("mesh:6"));
    coll_group_table(&group, table, NULL);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    simulate(&plan, &topology);
    CHECK_EQ(sim.hops, 3);
    CHECK_EQ(messages(5, 4), 1);
    CHECK_EQ(messages(3, 2), 1);
    CHECK(read("mesh:5"));
    {
        coll_sim_options options;
        coll_sim_options_init(&options, &model);
        options.topology = &topology;
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_ERR_GROUP);
    }
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(a_line);
    RUN(a_square);
    RUN(a_shared_link);
    RUN(slow_links);
    RUN(acknowledged_packets);
    RUN(littlefields_algorithms_share_no_link);
    RUN(places);
    coll_sim_free(&sim);
    return check_done();
}
