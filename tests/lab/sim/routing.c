/* tests/lab/sim/routing.c — links that failed, places that are missing, one of several ways; by hand
 * where machines are small */
#include "support/simulated.h"

static coll_topology topology;
static coll_cost_model model;
static coll_sim_loggp loggp;
static coll_sim sim;

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

static bool refused(const char *text, const char *because)
{
    coll_sentence why = {""};
    bool held;
    coll_topology_free(&topology);
    held = !coll_topology_read(&topology, text, &why) && strstr(why.text, because) != NULL;
    if (!held)
        printf("    %s: \"%s\"\n", text, why.text);
    return held;
}

/* 1 us of latency, 1 ns a byte, nothing else; 100 ns a hop is the topology's. */
static coll_status simulate(const coll_plan *plan, uint64_t seed)
{
    const coll_loggp_costs costs = {1000, 0, 0, 1, 0, 1e18, 0};
    coll_sim_options options;
    coll_sim_loggp_init(&model, &loggp, &costs);
    coll_sim_options_init(&options, &model);
    options.topology = &topology;
    options.seed = seed;
    return coll_sim_run(&sim, plan, false, &options);
}

static uint64_t messages(uint32_t from, uint32_t to)
{
    return coll_sim_link(&sim, topology.link(&topology, from, to, 0))->messages;
}

/* ---- ways -------------------------------------------------------------------------------- */

/* Every way is as long as the first, over links that follow each other, and no two are the same. */
static void check_ways(const char *text, uint32_t from, uint32_t to, uint32_t ways)
{
    const uint32_t hops = read(text) ? topology.hops(&topology, from, to) : 0;
    CHECK_EQ(topology.ways(&topology, from, to), ways);
    for (uint32_t way = 0; way < ways; way++) {
        uint32_t at = from;
        for (uint32_t i = 0; i < hops; i++) {
            const uint32_t link = topology.way_link(&topology, from, to, way, i);
            CHECK(link < topology.links);
            CHECK(way > 0 || link == topology.link(&topology, from, to, i));
            for (uint32_t k = 0, its; topology.neighbour && k < topology.degree; k++)
                if (topology.neighbour(&topology, at, k, &its) != COLL_RANK_NONE &&
                    its == link) {
                    at = topology.neighbour(&topology, at, k, &its);
                    break;
                }
        }
        CHECK(at == to || !topology.neighbour);
        for (uint32_t other = 0; other < way; other++) {
            bool same = true;
            for (uint32_t i = 0; i < hops; i++)
                same = same && topology.way_link(&topology, from, to, way, i) ==
                                   topology.way_link(&topology, from, to, other, i);
            CHECK(!same);
        }
    }
}

TEST(ways)
{
    check_ways("mesh:4x4", 0, 3, 1);
    check_ways("mesh:4x4", 0, 5, 2);
    check_ways("mesh:4x4x4", 0, 63, 6);
    check_ways("mesh:3x3x3x3", 0, 80, 24);
    check_ways("torus:8", 0, 4, 2);       /* either way round */
    check_ways("torus:4x4x4", 0, 42, 48); /* 6 orders, 8 choices of the way round */
    check_ways("torus:5x4", 0, 12, 4);    /* (2, 2): 2 orders, 2 ways round */
    check_ways("fattree:k=4,n=3", 0, 1, 1);
    check_ways("fattree:k=4,n=3", 0, 5, 4);
    check_ways("fattree:k=4,n=3", 7, 63, 16);
    check_ways("fattree:k=4,n=3,up=2", 7, 63, 4);
    check_ways("fattree:k=3,n=3,route=destination", 26, 13, 9);
}

/* ---- links that failed ------------------------------------------------------------------- */

/* A message from 0 to 1 of a square goes round by 2 and 3: three hops instead of one. */
TEST(round_a_square)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 4, 1, 0);
    CHECK(read("mesh:2x2,hop=100"));
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    CHECK_EQ(coll_sim_finish(&sim, 1), 1107000);
    CHECK_EQ(coll_sim_finish(&sim, 3), 1221000);
    CHECK(read("mesh:2x2,hop=100,failed=0-1"));
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    CHECK_EQ(sim.hops, 3 + 1 + 2);
    CHECK_EQ(sim.hops_most, 3);
    CHECK_EQ(messages(0, 2), 3);
    CHECK_EQ(messages(2, 3), 2);
    CHECK_EQ(messages(3, 1), 1);
    CHECK_EQ(coll_sim_finish(&sim, 1), 1307000);
    CHECK_EQ(coll_sim_finish(&sim, 2), 1115000); /* 8 ns behind the first on the link to 2 */
    CHECK_EQ(coll_sim_finish(&sim, 3), 1223000); /* and 8 more behind the second */
}

/* The other order of dimensions is as short. In a torus, the other way round is. */
TEST(another_shortest_way)
{
    coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, 1, 0);
    static const uint32_t corners[2] = {0, 8}, opposite[2] = {0, 4};
    coll_group group;
    coll_group_table(&group, corners, NULL);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK(read("mesh:3x3,failed=0-1/1-2"));
    topology.full = false;
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    CHECK_EQ(sim.hops, 4);
    CHECK_EQ(messages(0, 3), 1);
    CHECK_EQ(messages(6, 7), 1);
    coll_group_table(&group, opposite, NULL);
    plan = sim_plan(COLL_BCAST, "linear", 2, 1, 0);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK(read("torus:8,failed=2-3"));
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    CHECK_EQ(sim.hops, 4);
    CHECK_EQ(messages(0, 7), 1);
    CHECK(read("torus:8,failed=2-3/7-0")); /* both, and there is no third one */
    CHECK_STATUS(simulate(&plan, 1), COLL_ERR_PEER);
    CHECK_EQ(sim.stuck, 0);
    CHECK_EQ(sim.cut_off, 1);
}

/* A rank that has no link left. */
TEST(cut_off)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 9, 1, 0);
    CHECK(read("mesh:3x3,failed=7-8/8-5"));
    CHECK_STATUS(simulate(&plan, 1), COLL_ERR_PEER);
    CHECK_EQ(sim.stuck, 0);
    CHECK_EQ(sim.cut_off, 8);
    CHECK(read("mesh:3x3,failed=7-8"));
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
}

/* In a fat tree another port upwards leads round; a node has one link. */
TEST(fat_trees)
{
    const coll_plan plan = sim_plan(COLL_ALLTOALL, "pairwise", 16, 1, 0);
    uint64_t hops;
    char name[80];
    CHECK(read("fattree:k=4,n=2"));
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    hops = sim.hops;
    CHECK(read("fattree:k=4,n=2,failed=1.2.3/1.0.0"));
    CHECK_EQ(topology.n_failed, 4);
    topology.name(&topology, topology.failed[0], name, sizeof name);
    CHECK(strcmp(name, "up 3 of subtree 2 of level 1") == 0);
    topology.name(&topology, topology.failed[1], name, sizeof name);
    CHECK(strcmp(name, "down 3 of subtree 2 of level 1") == 0);
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    CHECK_EQ(sim.hops, hops);
    for (uint32_t i = 0; i < topology.n_failed; i++)
        CHECK_EQ(coll_sim_link(&sim, topology.failed[i])->messages, 0);
    CHECK(read("fattree:k=4,n=2,failed=1.2.0/1.2.1/1.2.2/1.0.3")); /* 2 by 3 up, 0 by 3 not */
    CHECK_STATUS(simulate(&plan, 1), COLL_ERR_PEER);
    CHECK(sim.stuck / 4 + sim.cut_off / 4 == 2 && sim.stuck / 4 != 1);
    CHECK(read("fattree:k=4,n=2,failed=0.5.0"));
    CHECK_STATUS(simulate(&plan, 1), COLL_ERR_PEER);
    CHECK(sim.stuck == 5 || sim.cut_off == 5);
}

TEST(words)
{
    CHECK(refused("mesh:4x4,failed=0-5", "no link between places 0 and 5"));
    CHECK(refused("mesh:4x4,failed=3-4", "no link between places 3 and 4"));
    CHECK(refused("mesh:4x4,failed=0-99", "no link between places 0 and 99"));
    CHECK(refused("mesh:4x4,failed=0", "two places"));
    CHECK(refused("mesh:4x4,failed=0-1/", "two places"));
    CHECK(refused("mesh:4x4,failed=@/nowhere/at/all", "cannot be read"));
    CHECK(refused("mesh:4x4,route=source", "source"));
    CHECK(refused("fattree:k=4,n=2,failed=1.4.0", "no link 0 of subtree 4 of level 1"));
    CHECK(refused("fattree:k=4,n=2,failed=1.0.4", "no link 4"));
    CHECK(refused("fattree:k=4,n=2,failed=2.0.0", "of level 2"));
    CHECK(refused("fattree:k=4,n=2,failed=1.0", "level, subtree and number"));
    CHECK(refused("fattree:k=4,n=2,missing=5..4", "growing numbers below 16"));
    CHECK(refused("fattree:k=4,n=2,missing=3..16", "growing numbers below 16"));
    CHECK(refused("fattree:k=4,n=2,missing=0..15", "all 16 places"));
    CHECK(read("torus:4x4,failed=0-12"));
    CHECK_EQ(topology.n_failed, 2);
    CHECK(read("torus:2x2,failed=0-1")); /* two links, two directions */
    CHECK_EQ(topology.n_failed, 4);
}

/* ---- places that are missing ------------------------------------------------------------- */

/* Any set: every place but each third of 4096, from a file and in words. */
TEST(missing_places)
{
    const char *path = "routing_missing.txt";
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    for (uint32_t end = 0; end < 4096; end++)
        if (end % 3 != 0)
            fprintf(file, "%u%s", end, end % 64 == 0 ? "\n" : " ");
    fclose(file);
    CHECK(read("fattree:k=4,n=6,missing=@routing_missing.txt"));
    (void)remove(path);
    CHECK_EQ(topology.n_missing, 4096 - 1366);
    for (uint32_t rank = 0; rank < 1366; rank++)
        CHECK_EQ(coll_topology_end(&topology, rank), 3 * rank);
    CHECK(read("fattree:k=4,n=6,missing=1..4094"));
    CHECK_EQ(coll_topology_end(&topology, 0), 0);
    CHECK_EQ(coll_topology_end(&topology, 1), 4095);
    CHECK(read("fattree:k=4,n=6,missing=0/2..2/4..5"));
    CHECK_EQ(coll_topology_end(&topology, 0), 1);
    CHECK_EQ(coll_topology_end(&topology, 1), 3);
    CHECK_EQ(coll_topology_end(&topology, 2), 6);
}

/* ---- hash and load ----------------------------------------------------------------------- */

/* Four nodes of one switch send 8000 bytes to four of the next, which need the same digits of both:
 * by destination they share no link upwards. By hash they may, and it depends on the seed. */
TEST(by_hash)
{
    coll_plan plan = sim_plan(COLL_ALLTOALL, "pairwise", 64, 1000, 0);
    coll_time least = COLL_NEVER, most = 0, fixed;
    CHECK(read("fattree:k=4,n=3"));
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    fixed = sim.makespan;
    CHECK(read("fattree:k=4,n=3,route=hash"));
    for (uint64_t seed = 1; seed <= 4; seed++) {
        coll_time first;
        CHECK_STATUS(simulate(&plan, seed), COLL_OK);
        first = sim.makespan;
        least = least < first ? least : first;
        most = most > first ? most : first;
        CHECK_STATUS(simulate(&plan, seed), COLL_OK);
        CHECK_EQ(sim.makespan, first);
    }
    CHECK(least >
          fixed); /* shifts and XORs share no link where digits choose, and by hash they do */
    CHECK(most > least);
}

/* Ranks 0 and 1 of a ring of places 0 and 1 of 2 x 2 … of a square both send 8000 bytes to place 3, at
 * the same time: 0 goes by 1 or by 2. By dimensions both share the link from 1 to 3, and the second
 * message is 8 us later. By load, 0 finds it taken and goes by 2. */
TEST(by_load)
{
    static const uint32_t first[3] = {3, 1, 0};
    coll_plan plan = sim_plan(COLL_GATHER, "linear", 3, 1000, 0);
    coll_group group;
    coll_group_table(&group, first, NULL);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    CHECK(read("mesh:2x2"));
    topology.full = false;
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    CHECK_EQ(messages(1, 3), 2);
    CHECK_EQ(coll_sim_link(&sim, topology.link(&topology, 1, 3, 0))->waited, 8000000);
    CHECK(read("mesh:2x2,route=adaptive"));
    topology.full = false;
    CHECK_STATUS(simulate(&plan, 1), COLL_OK);
    CHECK_EQ(messages(1, 3), 1);
    CHECK_EQ(messages(0, 2), 1);
    CHECK_EQ(messages(2, 3), 1);
    for (uint32_t link = 0; link < topology.links; link++)
        CHECK_EQ(coll_sim_link(&sim, link)->waited, 0);
}

/* Adaptive messages are not slower than hashed ones in an alltoall of a tree, and whoever sends many
 * messages to one rank has them arrive in order, or the run would end with an error. */
TEST(order_is_kept)
{
    static const char *const routes[] = {"fattree:k=2,n=4,route=hash",
                                         "fattree:k=2,n=4,route=adaptive"};
    coll_time time[2];
    for (unsigned i = 0; i < 2; i++) {
        const coll_plan plan = sim_plan_with(COLL_BCAST, "chain", 16, 100, 8, 0);
        const coll_plan all = sim_plan(COLL_ALLTOALL, "pairwise", 16, 1000, 0);
        CHECK(read(routes[i]));
        CHECK_STATUS(simulate(&plan, 1), COLL_OK);
        CHECK_STATUS(simulate(&all, 1), COLL_OK);
        time[i] = sim.makespan;
        CHECK_STATUS(simulate(&all, 1), COLL_OK);
        CHECK_EQ(sim.makespan, time[i]);
    }
    CHECK(time[1] <= time[0]);
}

/* By load, and round what failed. */
TEST(by_load_round_what_failed)
{
    static const char *const words[] = {"fattree:k=4,n=2,route=adaptive,failed=1.0.0/1.2.3",
                                        "torus:4x4,route=adaptive,failed=0-1/5-6/9-13",
                                        "mesh:4x4,route=hash,failed=0-1/1-2/14-15",
                                        "mesh:4x4,route=adaptive,failed=0-1/1-5/14-15"};
    const coll_plan plan = sim_plan(COLL_ALLTOALL, "pairwise", 16, 100, 0);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(read(words[i]));
        CHECK_STATUS(simulate(&plan, 1), COLL_OK);
        for (uint32_t k = 0; k < topology.n_failed; k++)
            CHECK_EQ(coll_sim_link(&sim, topology.failed[k])->messages, 0);
    }
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(ways);
    RUN(round_a_square);
    RUN(another_shortest_way);
    RUN(cut_off);
    RUN(fat_trees);
    RUN(words);
    RUN(missing_places);
    RUN(by_hash);
    RUN(by_load);
    RUN(order_is_kept);
    RUN(by_load_round_what_failed);
    coll_topology_free(&topology);
    coll_sim_free(&sim);
    return check_done();
}
