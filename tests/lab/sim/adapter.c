/* tests/lab/sim/adapter.c — NICs with a memory and a bus: timelines by hand; what must hold on
 * all rows */
#include "support/rig.h"
#include "support/simulated.h"

enum { MOST = 64 };

static coll_sim sim, other;
static coll_cost_model base, model;
static coll_sim_moody moody;
static coll_sim_hockney hockney;
static coll_sim_loggp loggp;
static coll_nic_costs costs;
static coll_sim_adapter adapter;
static uint8_t places[MOST];

/* Hosts, and NICs L from each other. */
static const coll_moody_costs hosts = {2, .5, 1, .25, 0, 0, 0};

/* A message of 8 bytes: 0.3 + 0.1 + 0.8 us down, of which it takes the bus for 0.9, and 0.3 +
 * 0.1 + 0.4 up. A NIC begins 0.6 after it is told, and a host notices after 0.2; receives in
 * 0.4, combines in 1.5. */
static void by_hand(void)
{
    memset(&costs, 0, sizeof costs);
    costs.memory_bytes = COLL_NIC_MEMORY_ANY;
    costs.bus_us = .3;
    costs.take_us = .1;
    costs.down_ns_per_byte = 100;
    costs.up_ns_per_byte = 50;
    costs.again_us = 1;
    costs.post_us = .6;
    costs.tell_us = .2;
    costs.r_us = .4;
    costs.c1_us = 1.5;
    moody.host = moody.nic = &hosts;
    moody.on_nic = NULL;
    coll_sim_moody_init(&base, &moody);
}

static coll_status run(coll_sim *of, const coll_plan *plans, bool per_rank, uint8_t place)
{
    coll_sim_options options;
    memset(places, place, sizeof places);
    coll_sim_adapter_init(&adapter, &model, &costs, &base, places, NULL, MOST);
    coll_sim_options_init(&options, &model);
    options.adapter = &adapter;
    return coll_sim_run(of, plans, per_rank, &options);
}

/* Picoseconds of a plan. */
static coll_time ps(const coll_plan *plan, uint8_t place)
{
    CHECK_STATUS(run(&sim, plan, false, place), COLL_OK);
    return sim.makespan;
}

static coll_time ns(uint64_t n)
{
    return n * 1000;
}

/* ---- two and three ranks by hand --------------------------------------------------------- */

/* Rank 1 sends at 1.0: in its NIC at 2.2, in the other at 4.2, in the host at 5.0; received 5.5,
 * combined 5.75. */
TEST(two_hosts)
{
    const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", 2, 1, 2);
    by_hand();
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(5750));
    CHECK_EQ(coll_sim_finish(&sim, 1), ns(2200));
    CHECK_EQ(sim.nic_count, MOST);
    CHECK_EQ(coll_sim_nic(&sim, 1)->downs, 1);
    CHECK_EQ(coll_sim_nic(&sim, 1)->down, ns(900));
    CHECK_EQ(coll_sim_nic(&sim, 1)->high, 0); /* it streams through */
    CHECK_EQ(coll_sim_nic(&sim, 0)->ups, 1);
    CHECK_EQ(coll_sim_nic(&sim, 0)->up, ns(500));
    CHECK_EQ(coll_sim_nic(&sim, 0)->high, 8);
}

/* Operands are in the NICs at 2.2, which begin at 2.8. The message is there at 4.8, received
 * 5.2, combined 6.7; the result is in the host at 7.5, which notices at 7.7. Rank 1's host
 * hears at 2.8 + 0.4 + 0.2. */
TEST(two_nics)
{
    const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", 2, 1, 2);
    by_hand();
    CHECK_EQ(ps(&plan, COLL_SIM_ON_NIC), ns(7700));
    CHECK_EQ(coll_sim_finish(&sim, 1), ns(3400));
    CHECK_EQ(coll_sim_nic(&sim, 0)->combined, 1);
    CHECK_EQ(coll_sim_nic(&sim, 0)->high, 3 * 8); /* operand, result, message */
    CHECK_EQ(coll_sim_nic(&sim, 1)->high, 8);
}

/* Two messages are at the root's NIC at 4.2. The bus takes the second at 4.7, and it is in the
 * host at 5.5, when the first has been received; that is combined first, until 5.75. The other:
 * 6.25, 6.5. */
TEST(two_messages_for_one_bus)
{
    const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", 3, 1, 3);
    by_hand();
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(6500));
    CHECK_EQ(coll_sim_nic(&sim, 0)->high, 16);
    costs.take_us =
        1; /* in their NICs at 3.1, there at 5.1; up to 6.8, and from 6.5 to 8.2: 8.95 */
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(8950));
}

/* Down and up take one bus: rank 1 of a chain sends one message while another one comes. */
TEST(one_bus_for_both_directions)
{
    const coll_plan plan = sim_plan(COLL_ALLGATHER, "ring", 2, 1, 0);
    by_hand();
    costs.bus_us = 0;
    costs.take_us = 2;
    costs.down_ns_per_byte = costs.up_ns_per_byte = 0;
    costs.again_us = 0;
    /* 1.0, down to 3.0, there at 5.0, up to 7.0, received 7.5 */
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(7500));
    costs.shared = 1; /* the same, as they do not meet */
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(7500));
    {
        const coll_plan more = sim_plan(COLL_ALLGATHER, "linear", 3, 1, 0);
        costs.shared = 0; /* two down 1 to 5, there at 5 and 7; up to 7 and 9 */
        CHECK_EQ(ps(&more, COLL_SIM_ON_HOST), ns(9500));
        costs.take_us = 3; /* down 1 to 4 and 7, there at 6 and 9: up to 9 and 12 */
        CHECK_EQ(ps(&more, COLL_SIM_ON_HOST), ns(12500));
        costs.shared =
            1; /* down to 4 and 7; what comes at 6 crosses 7 to 10, the other to 13 */
        CHECK_EQ(ps(&more, COLL_SIM_ON_HOST), ns(13500));
    }
}

/* Of 800 bytes at 10 ns, and 1 us: 9 us of a port. They cross in 16.3 us, or go on with the
 * first 80 when the rest follows in time: 7.2 us before its end. A block that is kept crosses
 * once. */
TEST(long_messages_from_the_host)
{
    const coll_hockney_costs wire = {1, 10, 0};
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 4, 100, 0);
    by_hand();
    coll_sim_hockney_init(&base, &hockney, &wire);
    costs.take_us = costs.up_ns_per_byte = 0;
    costs.down_ns_per_byte = 20;
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), 3 * ns(16300 + 9000) + ns(300));
    CHECK_EQ(coll_sim_nic(&sim, 0)->downs, 3);
    costs.keep = 1;
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(16300 + 3 * 9000) + ns(300));
    CHECK_EQ(coll_sim_nic(&sim, 0)->downs, 1);
    CHECK_EQ(coll_sim_nic(&sim, 0)->saved, 2);
    CHECK_EQ(coll_sim_nic(&sim, 0)->high, 800);
    costs.memory_bytes = 799; /* no room for it */
    CHECK_STATUS(run(&sim, &plan, false, COLL_SIM_ON_HOST), COLL_ERR_MEMORY);
    CHECK_EQ(sim.nic_needs, 800);
    costs.memory_bytes = 800;
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(16300 + 3 * 9000) + ns(300));
    costs.keep = 0;
    costs.memory_bytes = COLL_NIC_MEMORY_ANY;
    costs.chunk_bytes = 80;
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), 3 * ns(16300 - 7200 + 9000) + ns(300));
    costs.down_ns_per_byte = 5; /* faster than the network: 0.3 + 0.4 behind it */
    CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), 3 * ns(700 + 9000) + ns(300));
}

/* What came is kept, too: a chain's second rank sends it on without a crossing. */
TEST(blocks_that_came_are_kept)
{
    const coll_plan plan = sim_plan(COLL_BCAST, "chain", 3, 1, 1);
    by_hand();
    for (int keep = 0; keep <= 2; keep++) {
        costs.keep = keep;
        /* in the NIC 2.2, at the other 4.2, in the host 5.0, received 5.5; down again 6.7, 8.7,
         * 9.5, 10.0 */
        CHECK_EQ(ps(&plan, COLL_SIM_ON_HOST), ns(keep < 2 ? 10000 : 8800));
        CHECK_EQ(coll_sim_nic(&sim, 1)->saved, keep < 2 ? 0 : 1);
    }
}

/* Of two messages at 4.8 the first has the room that there is, until it is combined at 6.7. The
 * second comes again at 7.7: received 8.1, combined 9.6, in the host 10.4, noticed 10.6. With
 * more room it is received from 6.7 on. */
TEST(a_message_that_finds_no_room)
{
    const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", 3, 1, 3);
    by_hand();
    costs.memory_bytes = 23;
    CHECK_STATUS(run(&sim, &plan, false, COLL_SIM_ON_NIC), COLL_ERR_MEMORY);
    CHECK_EQ(sim.nic_needs, 24);
    CHECK_EQ(sim.stuck, 0);
    costs.memory_bytes = 24;
    CHECK_EQ(ps(&plan, COLL_SIM_ON_NIC), ns(10600));
    CHECK_EQ(coll_sim_nic(&sim, 0)->high, 24);
    CHECK_EQ(coll_sim_nic(&sim, 0)->refused, 1);
    CHECK_EQ(coll_sim_nic(&sim, 0)->lost, ns(7700 - 4800));
    CHECK_EQ(coll_sim_finish(&sim, 1),
             ns(4800 + 400 + 200)); /* its message was let in at 4.8 */
    CHECK_EQ(coll_sim_finish(&sim, 2), ns(6700 + 400 + 200));
    costs.memory_bytes = 32;
    CHECK_EQ(ps(&plan, COLL_SIM_ON_NIC), ns(9600));
    CHECK_EQ(coll_sim_nic(&sim, 0)->refused, 0);
    CHECK_EQ(coll_sim_nic(&sim, 0)->high, 32);
}

/* The NIC would take 100 us. NICs begin at 1.4 + 0.6. Rank 1's operand is fetched: in its NIC
 * at 3.2, at the other 5.2, received 5.6; in the host 6.4, noticed 6.6, combined 6.85; the NIC
 * has heard at 7.25 and goes on at 7.85; the host hears at 8.25 and notices at 8.45. */
TEST(a_host_reduces_for_its_nic)
{
    const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", 2, 1, 2);
    by_hand();
    costs.c1_us = 100;
    CHECK_EQ(ps(&plan, COLL_SIM_ON_BOTH), ns(8450));
    CHECK_EQ(coll_sim_nic(&sim, 0)->reduced, 1);
    CHECK_EQ(coll_sim_nic(&sim, 0)->combined, 0);
    costs.c1_us = 1.5; /* less than the 0.8 + 0.2 + 0.25 + 0.4 + 0.6 of asking */
    CHECK_EQ(ps(&plan, COLL_SIM_ON_BOTH), ns(7700));
    CHECK_EQ(coll_sim_nic(&sim, 0)->reduced, 0);
}

/* Ranks 2 and 3 share a node, and its bus down: 1.0 to 1.9 to 2.8, there at 4.2 and 5.1; up to
 * 5.0 and 5.9, received 5.5 and 6.4. Rank 1 is with rank 0, without a NIC between them. */
TEST(a_bus_for_a_node)
{
    const coll_plan plan = sim_plan(COLL_GATHER, "linear", 4, 1, 0);
    coll_sim_options options;
    coll_nodes nodes;
    by_hand();
    coll_nodes_even(&nodes, 4, 2);
    coll_sim_adapter_init(&adapter, &model, &costs, &base, NULL, &nodes, 4);
    coll_sim_options_init(&options, &model);
    options.adapter = &adapter;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK_EQ(sim.makespan, ns(6400));
    CHECK_EQ(sim.nic_count, 2);
    CHECK_EQ(coll_sim_nic(&sim, 0)->downs, 0);
    CHECK_EQ(coll_sim_nic(&sim, 0)->ups, 2);
    CHECK_EQ(coll_sim_nic(&sim, 1)->downs, 2);
    CHECK_EQ(coll_sim_finish(&sim, 3), ns(3100));
    adapter.ends = 3;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_ERR_GROUP);
}

/* ---- all rows ---------------------------------------------------------------------------- */

static coll_plan plans[MOST];

static void take_plans(const rig *it)
{
    for (uint32_t r = 0; r < it->p; r++)
        plans[r] = it->ranks[r].plan;
}

static bool same(uint32_t p)
{
    bool held = sim.makespan == other.makespan;
    for (uint32_t r = 0; r < p; r++)
        held = held && coll_sim_finish(&sim, r) == coll_sim_finish(&other, r) &&
               coll_sim_busy(&sim, r) == coll_sim_busy(&other, r);
    return held;
}

/* A bus that costs nothing, and memory without an end, are as if they were not there. */
static void without(rig *it, const char *what, void *arg)
{
    const coll_loggp_costs wire = {1000, 200, 100, 1, .5, *(const double *)arg, .25};
    coll_sim_options options;
    take_plans(it);
    coll_sim_loggp_init(&base, &loggp, &wire);
    memset(&costs, 0, sizeof costs);
    costs.memory_bytes = COLL_NIC_MEMORY_ANY;
    coll_sim_options_init(&options, &base);
    if (coll_sim_run(&other, plans, true, &options) == COLL_ERR_CAPABILITY)
        return;
    CHECK_STATUS(run(&sim, plans, true, COLL_SIM_ON_HOST), COLL_OK);
    if (!CHECK(same(it->p)))
        printf("    %s, p=%u\n", what, it->p);
}

/* With the least memory all rows end, the same way each time, and no NIC has more in it than
 * fits. */
static void with_the_least(rig *it, const char *what, void *arg)
{
    const uint8_t place = *(const uint8_t *)arg & 3;
    coll_status status;
    by_hand();
    base.eager = *(const uint8_t *)arg & 4 ? 0 : UINT64_MAX; /* 0: all are long messages */
    take_plans(it);
    costs.memory_bytes = 1;
    costs.keep = 2;
    status = run(&sim, plans, true, place);
    if (status == COLL_ERR_CAPABILITY)
        return;
    if (sim.nic_needs > 1)
        CHECK_STATUS(status, COLL_ERR_MEMORY);
    costs.memory_bytes = (double)(sim.nic_needs ? sim.nic_needs : 1);
    status = run(&sim, plans, true, place);
    if (status == COLL_ERR_CAPABILITY)
        return;
    if (!CHECK_STATUS(status, COLL_OK))
        printf("    %s, p=%u, place %u\n", what, it->p, place);
    CHECK_STATUS(run(&other, plans, true, place), COLL_OK);
    CHECK(same(it->p) && sim.events == other.events);
    for (uint32_t i = 0; i < sim.nic_count; i++)
        CHECK(coll_sim_nic(&sim, i)->high <= (uint64_t)costs.memory_bytes);
}

static void all_rows(void (*each)(rig *it, const char *what, void *arg), void *arg)
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 16, 23};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t row = 0; row < COLL_REGISTRY_COUNT; row++)
            CHECK(rig_each(coll_registry[row], sizes[i], 1 + 5 * i, each, arg));
}

TEST(nothing_is_as_before)
{
    double eager = 1e18, rendezvous = 0;
    all_rows(without, &eager);
    all_rows(without, &rendezvous);
}

TEST(the_least_memory_suffices)
{
    for (uint8_t place = COLL_SIM_ON_HOST; place <= COLL_SIM_ON_BOTH; place++) {
        uint8_t long_too = (uint8_t)(place | 4);
        all_rows(with_the_least, &place);
        all_rows(with_the_least, &long_too);
    }
}

/* ---- more memory ------------------------------------------------------------------------- */

/* Trees are never slower with more memory, and with as much as they ever use as fast as without
 * an end. */
TEST(more_memory_is_not_slower_for_trees)
{
    static const struct {
        coll_collective collective;
        const char *row;
        uint32_t degree;
    } trees[] = {{COLL_REDUCE, "fnomial", 2},    {COLL_REDUCE, "fnomial", 4},
                 {COLL_REDUCE, "linear", 0},     {COLL_BCAST, "fnomial", 2},
                 {COLL_BCAST, "fnomial", 4},     {COLL_ALLREDUCE, "fnomial", 2},
                 {COLL_ALLREDUCE, "fnomial", 4}, {COLL_GATHER, "linear", 0},
                 {COLL_GATHER, "fnomial", 2},    {COLL_REDUCE, "kary", 3}};
    for (size_t t = 0; t < sizeof trees / sizeof trees[0]; t++)
        for (uint32_t p = 2; p <= 40; p += p < 8 ? 1 : 8)
            for (uint8_t place = COLL_SIM_ON_HOST; place <= COLL_SIM_ON_NIC; place++) {
                const coll_plan plan =
                    sim_plan(trees[t].collective, trees[t].row, p, 4, trees[t].degree);
                coll_time before = COLL_NEVER, unlimited;
                uint64_t least, high = 0;
                by_hand();
                unlimited = ps(&plan, place);
                for (uint32_t i = 0; i < sim.nic_count; i++)
                    high =
                        coll_sim_nic(&sim, i)->high > high ? coll_sim_nic(&sim, i)->high : high;
                costs.memory_bytes = 1;
                (void)run(&sim, &plan, false, place);
                least = sim.nic_needs;
                for (uint64_t memory = least; memory <= high + 32 + least; memory += 8) {
                    coll_time now;
                    costs.memory_bytes = (double)memory;
                    now = ps(&plan, place);
                    if (!CHECK(now <= before))
                        printf("    %s %s %u, p=%u, place %u: %g us with %u bytes, not %g\n",
                               coll_collective_name(trees[t].collective), trees[t].row,
                               trees[t].degree, p, place, coll_time_us(now), (unsigned)memory,
                               coll_time_us(before));
                    before = now;
                }
                if (!CHECK(before == unlimited))
                    printf("    %s %s %u, p=%u, place %u: %g us, not %g\n",
                           coll_collective_name(trees[t].collective), trees[t].row,
                           trees[t].degree, p, place, coll_time_us(before),
                           coll_time_us(unlimited));
            }
}

int main(void)
{
    coll_sim_init(&sim);
    coll_sim_init(&other);
    RUN(two_hosts);
    RUN(two_nics);
    RUN(two_messages_for_one_bus);
    RUN(one_bus_for_both_directions);
    RUN(long_messages_from_the_host);
    RUN(blocks_that_came_are_kept);
    RUN(a_message_that_finds_no_room);
    RUN(a_host_reduces_for_its_nic);
    RUN(a_bus_for_a_node);
    RUN(nothing_is_as_before);
    RUN(the_least_memory_suffices);
    RUN(more_memory_is_not_slower_for_trees);
    coll_sim_free(&sim);
    coll_sim_free(&other);
    return check_done();
}
