/* tests/lab/sim/traffic.c — what others send over links, and which rank is on which place */
#include "support/simulated.h"

static coll_topology topology;
static coll_cost_model model;
static coll_sim_loggp loggp;
static coll_sim sim;

/* ---- traffic ----------------------------------------------------------------------------- */

/* A rank sends `count` doubles to its neighbour; 1.5 us of latency, 1 ns a byte. */
static coll_time ns_of(size_t count, const coll_traffic *traffic)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, count, 0);
    const coll_loggp_costs costs = {1500, 0, 0, 1, 0, 1e18, 0};
    coll_sim_options options;
    coll_sim_loggp_init(&model, &loggp, &costs);
    coll_sim_options_init(&options, &model);
    options.topology = &topology;
    options.traffic = traffic;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    return sim.makespan / 1000;
}

/* A link by itself: messages of 100 ps in periods of 400, each in its own. The link is free again
 * 100 after the last that came, whenever it is asked, and however often. */
TEST(periods)
{
    const coll_traffic traffic = {.25, 100, 1, 5};
    for (uint32_t link = 0; link < 8; link++) {
        uint64_t next = 0, once = 0;
        coll_time free_at = 0, at_once = 0, sum = 0;
        for (coll_time now = 0; now <= 400000; now += 100) {
            const coll_time before = free_at;
            const uint64_t had = next;
            coll_traffic_pass(&traffic, link, 100, now, &next, &free_at);
            CHECK(free_at <= now + 100 && next >= had);
            CHECK(next <= now / 400 + 1 && next + 1 >= now / 400);
            if (free_at != before)
                sum += 100;
        }
        CHECK(sum > 99000 && sum <= 100100);
        coll_traffic_pass(&traffic, link, 100, 400000, &once, &at_once);
        CHECK_EQ(coll_later(at_once, 400000),
                 coll_later(free_at, 400000)); /* at the end alone */
    }
}

/* A link that was taken for long has all its messages still before it. */
TEST(backlog)
{
    const coll_traffic traffic = {.25, 100, 1, 5};
    uint64_t next = 0;
    coll_time free_at = 4000;
    coll_traffic_pass(&traffic, 3, 100, 3999, &next, &free_at);
    CHECK(next >= 9 && next <= 10);
    CHECK_EQ(free_at, 4000 + 100 * next);
    coll_traffic_pass(&traffic, 3, 100, 100000, &next, &free_at);
    CHECK(free_at <= 100100 && next >= 249);
}

/* Messages of a collective wait for it, on some seeds, and never for longer than for one message on an
 * empty link; without load, or on none of the links, for nothing. 400 ns in a period of 1000 begin at
 * any time up to 600; at 500 two thirds of them have begun and not ended, 200 ns before in the mean. */
TEST(waiting)
{
    coll_sentence why;
    coll_traffic traffic;
    double sum = 0;
    const unsigned seeds = 4000;
    CHECK(coll_topology_read(&topology, "mesh:2", &why));
    CHECK_EQ(ns_of(1, NULL), 1507);
    for (unsigned seed = 0; seed < seeds; seed++) {
        coll_time ns;
        CHECK(coll_traffic_read(&traffic, "traffic:load=0.4,bytes=400", seed, &why));
        ns = ns_of(1, &traffic);
        CHECK(ns >= 1507 && ns <= 1507 + 400);
        CHECK_EQ(ns_of(1, &traffic), ns);
        sum += (double)(ns - 1507) / seeds;
        CHECK(coll_traffic_read(&traffic, "traffic:load=0.4,bytes=400,links=0", seed, &why));
        CHECK_EQ(ns_of(1, &traffic), 1507);
        CHECK(coll_traffic_read(&traffic, "traffic:load=0,bytes=400", seed, &why));
        CHECK_EQ(ns_of(1, &traffic), 1507);
    }
    CHECK(sum > .95 * 2 / 3 * 200 && sum < 1.05 * 2 / 3 * 200);
}

/* Of many links, a part has traffic. */
TEST(part_of_the_links)
{
    const coll_traffic traffic = {.5, 100, .3, 9};
    unsigned some = 0;
    for (uint32_t link = 0; link < 10000; link++) {
        uint64_t next = 0;
        coll_time free_at = 0;
        coll_traffic_pass(&traffic, link, 100, 1100, &next, &free_at);
        some += free_at > 0;
    }
    CHECK(some > 2850 && some < 3150);
}

TEST(traffic_in_words)
{
    static const char *const bad[] = {"traffic:load=1,bytes=4", "traffic:bytes=4", "noise",
                                      "traffic:load=0.5,bytes=-1",
                                      "traffic:load=0.5,bytes=4,links=2"};
    coll_traffic traffic;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        coll_sentence why = {""};
        CHECK(!coll_traffic_read(&traffic, bad[i], 1, &why) && why.text[0]);
    }
}

/* ---- places ------------------------------------------------------------------------------ */

static bool mapped(const char *text, uint32_t p, uint32_t room, const uint32_t *places)
{
    uint32_t its[16];
    coll_sentence why = {""};
    bool good = coll_mapping_read(its, p, room, text, &why);
    if (!good)
        printf("    %s: %s\n", text, why.text);
    for (uint32_t rank = 0; good && rank < p; rank++)
        good = its[rank] == places[rank];
    return good;
}

static bool unmapped(const char *text, uint32_t p, uint32_t room, const char *because)
{
    uint32_t its[16];
    coll_sentence why = {""};
    const bool held =
        !coll_mapping_read(its, p, room, text, &why) && strstr(why.text, because) != NULL;
    if (!held)
        printf("    %s: \"%s\"\n", text, why.text);
    return held;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (CHECK(file != NULL)) {
        fputs(text, file);
        fclose(file);
    }
}

TEST(mappings)
{
    static const uint32_t block[] = {0, 1, 2, 3, 4, 5, 6}, cyclic[] = {0, 3, 6, 1, 4, 2, 5},
                          file[] = {9, 2, 4};
    static uint32_t random[1000], again[1000];
    static bool seen[1000];
    coll_sentence why;
    unsigned fixed = 0, alike = 0;
    CHECK(mapped("block", 7, 8, block));
    CHECK(mapped("cyclic:3", 7, 8, cyclic));
    CHECK(mapped("cyclic:7", 7, 8, block));
    CHECK(mapped("cyclic:1", 7, 8, block));
    write_file("traffic_map.txt", "9 2\n4\n");
    CHECK(mapped("@traffic_map.txt", 3, 10, file));
    CHECK(unmapped("@traffic_map.txt", 3, 9, "rank 0 is to be on place 9, and there are 9"));
    CHECK(unmapped("@traffic_map.txt", 4, 10, "has 3 places, and there are 4 ranks"));
    write_file("traffic_map.txt", "9 2 9");
    CHECK(
        unmapped("@traffic_map.txt", 3, 10, "rank 2 is to be on place 9, where another rank"));
    write_file("traffic_map.txt", "9 x 9");
    CHECK(unmapped("@traffic_map.txt", 3, 10, "a number, not \"x 9\""));
    (void)remove("traffic_map.txt");
    CHECK(unmapped("@traffic_map.txt", 3, 10, "cannot be read"));
    CHECK(unmapped("cyclic", 3, 3, "a mapping is"));
    CHECK(unmapped("cyclic:0", 3, 3, "a mapping is"));
    CHECK(unmapped("random:x", 3, 3, "a mapping is"));
    CHECK(unmapped("block:1", 3, 3, "a mapping is"));
    CHECK(unmapped("snake", 3, 3, "snake"));
    CHECK(coll_mapping_read(random, 1000, 1000, "random:1", &why));
    CHECK(coll_mapping_read(again, 1000, 1000, "random:2", &why));
    for (uint32_t rank = 0; rank < 1000; rank++) {
        CHECK(random[rank] < 1000 && !seen[random[rank]]);
        seen[random[rank]] = true;
        fixed += random[rank] == rank;
        alike += random[rank] == again[rank];
    }
    CHECK(fixed < 10 && alike < 10);
}

/* A ring of 8 ranks on a line of 8 places: neighbours are a hop apart but for the ends; dealt to two
 * runs of four places, they are four and three. */
TEST(a_ring_on_a_line)
{
    static const char *const maps[] = {"block", "cyclic:4"};
    static const uint32_t hops[] = {7 + 7, 4 * 4 + 3 * 3 + 7};
    for (unsigned i = 0; i < 2; i++) {
        coll_plan plan = sim_plan(COLL_ALLGATHER, "ring", 8, 1, 0);
        const coll_loggp_costs costs = {1000, 0, 0, 1, 0, 1e18, 0};
        uint32_t place[8];
        coll_sim_options options;
        coll_sentence why;
        coll_group group;
        CHECK(coll_topology_read(&topology, "mesh:8", &why));
        CHECK(coll_mapping_read(place, 8, 8, maps[i], &why));
        coll_group_table(&group, place, NULL);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
        coll_sim_loggp_init(&model, &loggp, &costs);
        coll_sim_options_init(&options, &model);
        options.topology = &topology;
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
        CHECK_EQ(sim.hops, 7 * hops[i]);
    }
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(periods);
    RUN(backlog);
    RUN(waiting);
    RUN(part_of_the_links);
    RUN(traffic_in_words);
    RUN(mappings);
    RUN(a_ring_on_a_line);
    coll_sim_free(&sim);
    return check_done();
}
