/* tests/lab/sim/ports.c — several ports a rank, a node or a rail, by hand where machines are small */
#include "support/simulated.h"

static coll_cost_model model;
static coll_sim sim;

/* The makespan of a plan in ns, of this many ports a rank. */
static coll_time ns_of(const coll_plan *plan, uint32_t ports, const coll_topology *topology)
{
    coll_sim_options options;
    model.ports = ports;
    coll_sim_options_init(&options, &model);
    options.topology = topology;
    CHECK_STATUS(coll_sim_run(&sim, plan, false, &options), COLL_OK);
    return sim.makespan / 1000;
}

/* 1 us a message and 1 ns a byte: the root sends 1000 bytes to six others in 6, 3, 2 or 1 rounds of
 * 2 us. Of four ports, two have a message in the second round. */
TEST(rounds_of_a_root)
{
    static const uint32_t rounds[] = {6, 3, 2, 2, 2, 1, 1};
    const coll_plan bcast = sim_plan(COLL_BCAST, "linear", 7, 125, 0);
    const coll_plan reduce = sim_plan(COLL_GATHER, "linear", 7, 125, 0);
    const coll_hockney_costs costs = {1, 1, 0};
    coll_sim_hockney hockney;
    coll_sim_hockney_init(&model, &hockney, &costs);
    for (uint32_t ports = 1; ports <= 7; ports++) {
        CHECK_EQ(ns_of(&bcast, ports, NULL), 2000 * rounds[ports - 1]);
        for (uint32_t rank = 1; rank < 7; rank++)
            CHECK_EQ(coll_sim_finish(&sim, rank), 2000000 * ((rank - 1) / ports + 1));
        CHECK_EQ(ns_of(&reduce, ports, NULL), 2000 * rounds[ports - 1]);
    }
}

/* Messages of one sender to two receivers: overheads of 100 ns follow each other, the data of 8001
 * bytes, 1 ns each, does not. With one port the second message leaves 300 + 8000 ns after the first.
 */
TEST(overheads_follow_each_other)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 3, 1000, 0);
    const coll_loggp_costs costs = {1000, 100, 300, 1, 0, 1e18, 0};
    coll_sim_loggp loggp;
    coll_sim_loggp_init(&model, &loggp, &costs);
    CHECK_EQ(ns_of(&plan, 1, NULL), 300 + 7999 + 1200 + 7999);
    CHECK_EQ(ns_of(&plan, 2, NULL), 100 + 1200 + 7999);
}

/* One that receives from two: the data of both comes at once where there are two ports, and the
 * processor takes the messages in one after the other. */
TEST(data_comes_by_itself)
{
    const coll_plan plan = sim_plan(COLL_GATHER, "linear", 3, 1000, 0);
    const coll_loggp_costs costs = {1000, 100, 300, 1, 0, 1e18, 0};
    coll_sim_loggp loggp;
    coll_sim_loggp_init(&model, &loggp, &costs);
    CHECK_EQ(ns_of(&plan, 1, NULL), 100 + 1000 + 300 + 7999 + 100 + 7999);
    CHECK_EQ(ns_of(&plan, 2, NULL), 100 + 1000 + 100 + 100 + 7999);
}

/* Rings that run at the same time share a port, or have one each: 2 (p − 1) rounds of a message of
 * n/p bytes, or of two halves of it. More ports than rings are of no use. */
TEST(rings_have_a_port_each)
{
    const uint32_t p = 8;
    const size_t count = 1 << 16;
    const coll_plan two = sim_plan(COLL_ALLREDUCE, "multi_ring", p, count, 2);
    const coll_plan one = sim_plan(COLL_ALLREDUCE, "ring", p, count, 0);
    const coll_hockney_costs costs = {1, 1, 0};
    const coll_time round = 1000 + count * 8 / p, half = 1000 + count * 8 / p / 2;
    coll_sim_hockney hockney;
    coll_sim_hockney_init(&model, &hockney, &costs);
    CHECK_EQ(ns_of(&one, 1, NULL), 2 * (p - 1) * round);
    CHECK_EQ(ns_of(&one, 2, NULL), 2 * (p - 1) * round);
    CHECK_EQ(ns_of(&two, 1, NULL), 2 * (p - 1) * 2 * half);
    CHECK_EQ(ns_of(&two, 2, NULL), 2 * (p - 1) * half);
    CHECK_EQ(ns_of(&two, 4, NULL), 2 * (p - 1) * half);
}

/* Trees of k children, k messages a round. */
TEST(wide_trees_have_a_port_for_each_child)
{
    const coll_hockney_costs costs = {1, 1, 0};
    coll_sim_hockney hockney;
    coll_sim_hockney_init(&model, &hockney, &costs);
    for (uint32_t k = 2; k <= 4; k++) {
        const coll_plan plan = sim_plan(COLL_BCAST, "fnomial", k == 3 ? 27 : 64, 125, k);
        const uint32_t levels = k == 2 ? 6 : 3;
        CHECK_EQ(ns_of(&plan, k - 1, NULL), 2000 * levels);
    }
}

/* ---- ports of nodes ---------------------------------------------------------------------- */

/* Four ranks of a node send to four of another one, all at once: 8000 bytes take 8 us of a port. */
TEST(ports_of_a_node)
{
    const coll_plan plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", 8, 1000, 0);
    const coll_loggp_costs costs = {1000, 0, 0, 1, 0, 1e18, 0};
    static const char *const words[] = {"nodes:2x1x4", "nodes:2x1x4,ports=2",
                                        "nodes:2x1x4,ports=3", "nodes:2x1x4,ports=4"};
    static const uint32_t after[] = {4, 2, 2, 1}; /* messages of the busiest port */
    coll_sim_loggp loggp;
    coll_sim_loggp_init(&model, &loggp, &costs);
    for (unsigned i = 0; i < 4; i++) {
        coll_topology topology;
        coll_sentence why;
        char name[64];
        CHECK(coll_topology_read(&topology, words[i], &why));
        CHECK_EQ(topology.links, 2 + 4 * (i + 1));
        CHECK_EQ(ns_of(&plan, 1, &topology), 3 * 8999 + 8000 * (after[i] - 1));
        CHECK_EQ(coll_sim_link(&sim, coll_sim_busiest(&sim))->messages, after[i]);
        topology.name(&topology, topology.links - 1, name, sizeof name);
        CHECK(strstr(name, i == 0 ? "into node 1" : "port ") == name);
    }
}

/* The same by dpml, whose nodes have rails. */
TEST(ports_of_a_rail)
{
    coll_plan plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", 8, 1000, 0);
    static coll_sim_machine machine;
    coll_sim_options options;
    coll_nodes nodes;
    coll_sentence why;
    coll_time before = 0;
    coll_nodes_even(&nodes, 8, 4);
    for (uint32_t ports = 1; ports <= 4; ports *= 2) {
        coll_sim_machine_init(&machine, &nodes, 8);
        CHECK(coll_sim_machine_read(
            &machine, "dpml:a=1us,b=1,a_shm=0,b_shm=0,c=0,gap=0.5us,wire=1", &why));
        CHECK(coll_sim_machine_ports(&machine, ports, &why));
        CHECK_EQ(machine.nics->links, 4 * ports);
        coll_sim_options_init(&options, &machine.model);
        options.topology = machine.nics;
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
        CHECK_EQ(coll_sim_link(&sim, 0)->messages, 4 / ports);
        CHECK(ports == 1 || before - sim.makespan == 8500000 * (ports == 2 ? 2 : 1));
        before = sim.makespan;
    }
    coll_sim_machine_init(&machine, &nodes, 8);
    CHECK(coll_sim_machine_read(&machine, "dpml:infiniband", &why));
    CHECK(!coll_sim_machine_ports(&machine, 2, &why) && strstr(why.text, "gap or wire"));
    CHECK(coll_sim_machine_read(&machine, "nbl:delta", &why));
    CHECK(!coll_sim_machine_ports(&machine, 2, &why) && strstr(why.text, "nbl has no ports"));
}

/* A root with a NIC: its messages cross the bus, 0.4 us, and then take a port for 1 us and 1 ns a byte;
 * 15 of them take 15 rounds, or four. */
TEST(ports_of_a_nic)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 16, 125, 0);
    static uint8_t on_nic[16]; /* COLL_SIM_ON_HOST */
    static coll_sim_machine machine;
    coll_sim_options options;
    coll_nodes nodes;
    coll_sentence why;
    coll_time one = 0;
    coll_nodes_even(&nodes, 16, 1);
    for (uint32_t ports = 1; ports <= 16; ports *= 4) {
        coll_sim_machine_init(&machine, &nodes, 16);
        CHECK(coll_sim_machine_read(&machine, "hockney:alpha=1us,beta=1,gamma=0", &why));
        CHECK(coll_sim_machine_ports(&machine, ports, &why));
        CHECK(coll_sim_machine_nic(&machine, "nic:elan3_f64_add", on_nic, &why));
        coll_sim_options_init(&options, &machine.model);
        options.topology = NULL;
        options.adapter = machine.adapter;
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
        if (ports == 1)
            one = sim.makespan;
        CHECK_EQ(one - sim.makespan, ports == 1 ? 0 : (ports == 4 ? 11 : 14) * 2400000);
    }
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(rounds_of_a_root);
    RUN(overheads_follow_each_other);
    RUN(data_comes_by_itself);
    RUN(rings_have_a_port_each);
    RUN(wide_trees_have_a_port_for_each_child);
    RUN(ports_of_a_node);
    RUN(ports_of_a_rail);
    RUN(ports_of_a_nic);
    coll_sim_free(&sim);
    return check_done();
}
