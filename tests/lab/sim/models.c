/* tests/lab/sim/models.c — cost models against the closed forms of model/, where those hold
 * exactly */
#include "support/simulated.h"

#include "coll/lab/model.h"
#include "coll/plan/placement.h"

static coll_cost_model model;
static coll_sim sim;

static uint32_t window = COLL_WINDOW;

static double us(const coll_plan *plan)
{
    coll_sim_options options;
    coll_sim_options_init(&options, &model);
    options.window = window;
    CHECK_STATUS(coll_sim_run(&sim, plan, false, &options), COLL_OK);
    return coll_time_us(sim.makespan);
}

/* Within so much of the other? */
static bool near(double is, double wanted, double relative)
{
    const double off = is > wanted ? is - wanted : wanted - is;
    const bool held = off <= relative * wanted + 1e-5;
    if (!held)
        printf("    %g is not %g (%+.2f %%)\n", is, wanted, (is / wanted - 1) * 100);
    return held;
}

/* ---- Hockney ----------------------------------------------------------------------------- */

TEST(hockney)
{
    const coll_hockney_costs costs = {5, .8, .3};
    coll_sim_hockney at;
    coll_sim_hockney_init(&model, &at, &costs);
    for (uint32_t p = 2; p <= 256; p *= 4) {
        const double n = 8 * 4096;
        coll_plan plan = sim_plan(COLL_BCAST, "fnomial", p, 4096, 2);
        CHECK(near(us(&plan), coll_hockney_binomial_us(&costs, p, n), 0));
        plan = sim_plan(COLL_BCAST, "linear", p, 4096, 0);
        CHECK(near(us(&plan), coll_hockney_flat_us(&costs, p, n), 0));
        plan = sim_plan(COLL_ALLGATHER, "ring", p, 4096, 0);
        CHECK(near(us(&plan), coll_hockney_ring_us(&costs, p, p * n), 0));
        plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", p, 4096, 0);
        CHECK(near(us(&plan), coll_hockney_recursive_doubling_us(&costs, p, n), 0));
        plan = sim_plan(COLL_ALLREDUCE, "rabenseifner", p, 4096, 0);
        CHECK(near(us(&plan), coll_hockney_rabenseifner_us(&costs, p, n), 0));
        plan = sim_plan(COLL_ALLREDUCE, "ring", p, 4096, 0);
        CHECK(near(us(&plan), coll_hockney_ring_allreduce_us(&costs, p, n), 0));
    }
}

/* ---- parameterised LogP ------------------------------------------------------------------ */

static const coll_plogp_costs table = {
    12,
    3,
    {{1024, {2, 3, 20, 0}}, {65536, {30, 40, 1000, 0}}, {1 << 20, {400, 500, 16000, 0}}}};

TEST(plogp)
{
    coll_sim_plogp_init(&model, &table);
    for (double bytes = 1024; bytes <= 4e6; bytes *= 3) {
        const size_t n = (size_t)bytes / 8;
        coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, n, 0);
        CHECK(near(us(&plan), coll_plogp_message_us(&table, 8. * (double)n), 0));
        plan = sim_plan(COLL_BCAST, "linear", 9, n, 0);
        CHECK(
            near(us(&plan), coll_plogp_flat_us(&table, 9, 8. * (double)n, 8. * (double)n), 0));
    }
}

/* A pipeline of k segments along a chain: L + g each, and a gap for each further segment. The
 * formula has no processor that sends one segment when the next one arrives: os and or of 3 and
 * 4 % of g make 2 % here. */
TEST(plogp_chain)
{
    const uint32_t p = 9;
    const coll_plan plan = sim_plan_with(COLL_BCAST, "chain", p, 1 << 17, 1, 1 << 13);
    coll_sim_plogp_init(&model, &table);
    CHECK(near(us(&plan), coll_plogp_chain_us(&table, p, 1 << 20, 1 << 16), .025));
}

/* Combining goes by the column c, in proportion below the first row; one message does not. */
TEST(plogp_combines)
{
    static const coll_plogp_costs combining = {
        12, 2, {{1024, {2, 3, 20, 0, 8}}, {65536, {30, 40, 1000, 0, 512}}}};
    coll_sim_plogp_init(&model, &combining);
    for (size_t bytes = 256; bytes <= 65536; bytes *= 16) {
        const coll_plan reduce = sim_plan(COLL_REDUCE, "linear", 2, bytes / 8, 0),
                        bcast = sim_plan(COLL_BCAST, "linear", 2, bytes / 8, 0);
        const double c = bytes == 256 ? 2 : bytes == 4096 ? 8 + 504. * 3072 / 64512 : 512;
        CHECK(near(us(&reduce), coll_plogp_message_us(&combining, (double)bytes) + c, 0));
        CHECK(near(us(&bcast), coll_plogp_message_us(&combining, (double)bytes), 0));
    }
}

/* With two tables, a chain's first message is of IN and clean, and what is sent on is not. */
TEST(plogp_written_data)
{
    static const coll_plogp_costs clean = {12, 1, {{1024, {2, 3, 20, 0, 0}}}},
                                  dirty = {99, 1, {{1024, {2, 3, 120, 0, 0}}}};
    const coll_sim_plogp both = {&clean, &dirty};
    coll_plan plan = sim_plan(COLL_BCAST, "chain", 4, 128, 1);
    coll_sim_plogp_pair_init(&model, &both);
    CHECK(near(us(&plan), 3 * 12 + 20 + 2 * 120, 0));
    plan = sim_plan(COLL_REDUCE, "fnomial", 8, 128, 2);
    CHECK(near(us(&plan), 3 * 12 + 20 + 2 * 120, 0));
}

/* ---- Moody ------------------------------------------------------------------------------- */

static uint8_t placed[1024];

static void place(const coll_plan *plan, int how)
{
    for (uint32_t r = 0; r < plan->problem.p; r++)
        placed[r] = how == 2 || (how == 1 && coll_placement_of(plan, r) == COLL_INTERMEDIATE);
}

/* Full trees, any degree, all on the host, all on the NIC; and the messages of several ranks at
 * one root. */
TEST(moody)
{
    static const coll_moody_costs *const host = &coll_moody_host_f64_add;
    static const coll_moody_costs *const nic = &coll_moody_nic_f64_add;
    coll_sim_moody at = {host, nic, placed};
    coll_sim_moody_init(&model, &at);
    for (uint32_t f = 2; f <= 8; f++)
        for (uint32_t p = f; p <= 1024; p *= f)
            for (size_t elements = 1; elements <= 8; elements *= 2) {
                const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", p, elements, f);
                place(&plan, 0);
                CHECK(near(us(&plan), coll_moody_fnomial_us(host, p, f, (double)elements), 0));
                place(&plan, 2);
                CHECK(near(us(&plan), coll_moody_fnomial_us(nic, p, f, (double)elements), 0));
            }
    for (uint32_t p = 2; p <= 32; p++) {
        const coll_plan plan = sim_plan(COLL_REDUCE, "linear", p, 1, 0);
        place(&plan, 0);
        CHECK(near(us(&plan), coll_moody_serial_us(host, p, 1), 0));
    }
}

/* On two and three nodes there is nothing for a NIC to do. On more the hybrid is between: half of
 * the meeting of host and NIC is hidden. */
TEST(moody_hybrid)
{
    static const coll_moody_costs *const host = &coll_moody_host_f64_add;
    static const coll_moody_costs *const nic = &coll_moody_nic_f64_add;
    coll_sim_moody at = {host, nic, placed};
    coll_sim_moody_init(&model, &at);
    for (uint32_t p = 2; p <= 512; p *= 2) {
        const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", p, 1, 2);
        double on_host, on_nic, hybrid;
        place(&plan, 0);
        on_host = us(&plan);
        place(&plan, 2);
        on_nic = us(&plan);
        place(&plan, 1);
        hybrid = us(&plan);
        CHECK(hybrid < on_nic);
        if (!coll_moody_has_intermediate(p, 2))
            CHECK(near(hybrid, on_host, 0));
    }
}

/* By operation: as the NIC alone where that reduces faster, and where the host does, as the formula has it. */
TEST(moody_by_action)
{
    static const coll_moody_costs *const host = &coll_moody_host_f64_add;
    static const coll_moody_costs *const nic = &coll_moody_nic_f64_add;
    coll_sim_moody at = {host, nic, placed};
    coll_sim_moody_init(&model, &at);
    CHECK_EQ(coll_moody_host_elements(host, nic, 64), 5);
    CHECK_EQ(coll_moody_host_elements(&coll_moody_host_i32_max, &coll_moody_nic_i32_max, 8), 0);
    memset(placed, COLL_SIM_ON_BOTH, sizeof placed);
    for (uint32_t f = 2; f <= 8; f++)
        for (uint32_t p = f; p <= 1024; p *= f)
            for (size_t elements = 1; elements <= 16; elements *= 2) {
                const coll_plan plan = sim_plan(COLL_REDUCE, "fnomial", p, elements, f);
                const double by_both = us(&plan), e = (double)elements;
                CHECK(near(by_both, coll_moody_placed_us(host, nic, p, f, e), 0));
                CHECK((by_both < coll_moody_fnomial_us(nic, p, f, e) - .001) ==
                      (elements >= 5));
            }
}

/* ---- node bandwidth limits --------------------------------------------------------------- */

/* L messages at once on one node: Lα + f(L)βS, plus what it combines. */
TEST(nbl_links)
{
    static const coll_nbl_costs costs = {54, 1.54, 1.1, 1.3, 3.9, 5.1, 0, 0};
    coll_sim_nbl at;
    coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, 600, 0);
    coll_sim_nbl_init(&model, &at, &costs);
    CHECK(near(us(&plan), coll_nbl_message_us(&costs, 1, 600), 0));
    plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", 2, 600, 0); /* one in, one out */
    CHECK(near(us(&plan), coll_nbl_message_us(&costs, 2, 600), 0));
    plan = sim_plan(COLL_BCAST, "linear", 5, 600, 0); /* 4 out of the root */
    CHECK(near(us(&plan), coll_nbl_message_us(&costs, 4, 600), 0));
    plan = sim_plan(COLL_GATHER, "linear", 5, 600, 0); /* 4 into the root */
    CHECK(near(us(&plan), coll_nbl_message_us(&costs, 4, 600), 0));
    plan = sim_plan(COLL_ALLTOALL, "throttled", 3, 600, 4); /* 2 in and 2 out, of all */
    CHECK(near(us(&plan), coll_nbl_message_us(&costs, 4, 600), 0));
}

/* With f(L) = L a node does one thing after the other, however its messages overlap. */
TEST(nbl_nominal)
{
    coll_sim_nbl at;
    coll_sim_nbl_init(&model, &at, &coll_nbl_delta_nominal);
    for (uint32_t p = 2; p <= 12; p++) {
        const coll_plan plan = sim_plan(COLL_GATHER, "linear", p, 100, 0);
        CHECK(
            near(us(&plan), (p - 1) * coll_nbl_message_us(&coll_nbl_delta_nominal, 1, 100), 0));
    }
}

/* The formula of the tree has one message at a time, as a window of one slot has: with more, a
 * rank sends to all its children at once, and reaches the last of them later. */
TEST(nbl_tree)
{
    coll_sim_nbl at;
    coll_sim_nbl_init(&model, &at, &coll_nbl_delta);
    for (uint32_t w = 2; w <= 16; w *= 2)
        for (size_t n = 100; n <= 100000; n *= 10) {
            const coll_plan plan = sim_plan(COLL_ALLREDUCE, "tree", w * 2 * w, n, w);
            const double formula = coll_nbl_tree_us(&coll_nbl_delta, w, 2 * w, (double)n);
            window = 1;
            CHECK(near(us(&plan), formula, .01));
            window = COLL_WINDOW;
            CHECK(us(&plan) > formula);
        }
}

static double pipeline_us(const coll_nbl_costs *costs, const char *name, uint32_t w, uint32_t h,
                          size_t n, size_t s)
{
    const coll_plan plan = sim_plan_with(COLL_ALLREDUCE, name, w * h, n, w, (uint32_t)s);
    coll_sim_nbl at;
    double us_of;
    coll_sim_nbl_init(&model, &at, costs);
    window = 16;
    us_of = us(&plan);
    window = COLL_WINDOW;
    return us_of;
}

/* Snake and fence keep all links of a node busy while their pipelines are full. The formulas let
 * all nodes make a step at the same time; here they keep in step by themselves. */
TEST(nbl_pipelines)
{
    static const coll_nbl_costs *const costs[] = {&coll_nbl_delta_nominal, &coll_nbl_delta,
                                                  &coll_nbl_delta_standard};
    const size_t n = 200000, s = 400;
    for (unsigned i = 0; i < 3; i += CHECK_SHARE) {
        for (uint32_t h = 4; h <= 8; h *= 2) {
            CHECK(near(pipeline_us(costs[i], "snake", 4, h, n, s),
                       coll_nbl_snake_us(costs[i], 4 * h, n, s), .01));
            CHECK(near(pipeline_us(costs[i], "fence", 4, h, n, s),
                       coll_nbl_fence_us(costs[i], 4, h, n, s), .01));
        }
        CHECK(near(pipeline_us(costs[i], "fence", 16, 16, n, s),
                   coll_nbl_fence_us(costs[i], 16, 16, n, s), .01));
    }
}

/* Short blocks on many nodes: start-ups are most of the time then. A node must neither start the
 * messages of later blocks before it has moved the first one's data, nor take in what it does not
 * expect yet, or the first block waits for all others at every node: it took five times as long. */
TEST(nbl_short_blocks)
{
    static const coll_nbl_costs *const costs[] = {&coll_nbl_delta_nominal, &coll_nbl_delta,
                                                  &coll_nbl_delta_standard};
    for (unsigned i = 0; i < 3; i += CHECK_SHARE)
        for (uint32_t h = 4; h <= 32; h *= 2)
            for (size_t n = 100; n <= 1000; n *= 10) {
                const uint64_t s = coll_nbl_snake_best_block(costs[i], 16 * h, n);
                CHECK(near(pipeline_us(costs[i], "snake", 16, h, n, (size_t)s),
                           coll_nbl_snake_us(costs[i], 16 * h, (double)n, (double)s), .005));
            }
}

/* What the formula of the fence, in which all nodes make each step together, has too much: (1) The
 * node beside the root has taken two blocks from its column when the first comes along the row, so
 * the last of the steps with the most links, 6, or 4 of three blocks, has one link less. (2) The
 * root combines its last block while that node still moves data of its own. So the fence is faster
 * by so much, however large the mesh and however many the blocks, where starts are not hidden. */
TEST(nbl_fence_is_a_link_and_a_combination_faster)
{
    static const coll_nbl_costs *const costs[] = {&coll_nbl_delta_nominal, &coll_nbl_delta,
                                                  &coll_nbl_delta_standard};
    const size_t s = 100;
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t w = 4; w <= 16; w *= 2)
            for (uint32_t h = 3; h <= 12; h *= 2)
                for (size_t blocks = 3; blocks <= 24; blocks += blocks < 10 ? 1 : 7) {
                    const coll_nbl_costs *m = costs[i];
                    const unsigned most = blocks == 3 ? 4 : 6;
                    const double link = coll_nbl_message_us(m, most, (double)s) -
                                        coll_nbl_message_us(m, most - 1, (double)s);
                    const double formula =
                        coll_nbl_fence_us(m, w, h, (double)(blocks * s), (double)s);
                    CHECK(near(pipeline_us(m, "fence", w, h, blocks * s, s),
                               formula - link - m->c2_us_per_element * (double)s, 1e-9));
                }
}

/* ---- shared memory ----------------------------------------------------------------------- */

static coll_sim_shm shm;
static coll_sim_hockney between;
static coll_cost_model network;
static coll_nodes nodes;

static void share(const coll_shm_costs *costs, uint32_t p, uint32_t ppn)
{
    const coll_hockney_costs far = {1.5, .1, 0};
    coll_sim_hockney_init(&network, &between, &far);
    coll_nodes_even(&nodes, p, ppn);
    shm.costs = costs;
    shm.between = &network;
    shm.nodes = &nodes;
    shm.ends = p;
    coll_sim_shm_init(&model, &shm);
}

TEST(within_and_between_nodes)
{
    const coll_shm_costs costs = {1, 1, 0, .25, .5, 2, 3, 0, 0};
    coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, 1000, 0);
    share(&costs, 2, 2);
    CHECK(near(us(&plan), 2 * 9 + .25, 0)); /* two copies */
    share(&costs, 2, 1);
    (void)us(&plan); /* the root also copies */
    CHECK(near(coll_time_us(coll_sim_finish(&sim, 1)), 1.5 + .8, 0));
    plan = sim_plan(COLL_BARRIER, "linear", 2, 0, 0);
    share(&costs, 2, 2);
    CHECK(near(us(&plan), 2 * .25, 0));
    plan = sim_plan(COLL_ALLREDUCE, "in_network", 4, 1000, 0);
    CHECK(near(us(&plan), 2 + 24, 0));
    plan = sim_plan(COLL_REDUCE, "linear", 2, 1000, 0);
    share(&costs, 2, 1);
    CHECK(near(us(&plan), 1.5 + .8 + 4, 0));
}

/* A message of a node is copied once from `once` bytes on: its sender waits for that. */
TEST(copied_once)
{
    const coll_shm_costs costs = {1, 1, 0, .25, .5, 0, 0, 2048, COLL_SHM_AS_BETWEEN},
                         fused = {1, 1, 0, .25, .5, 0, 0, 2048, .125};
    for (size_t bytes = 1024; bytes <= 4096; bytes *= 2) {
        const double copy = 1 + (double)bytes * 1e-3, copies = bytes < 2048 ? 2 : 1;
        const double c = (double)bytes * .5e-3, at_once = (double)bytes * .125e-3;
        coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, bytes / 8, 0);
        share(&costs, 2, 2);
        CHECK(near(us(&plan), copies * copy + .25, 0));
        plan = sim_plan(COLL_REDUCE, "linear", 2, bytes / 8, 0);
        CHECK(near(us(&plan), copies * copy + .25 + c, 0));
        CHECK(near(coll_time_us(coll_sim_finish(&sim, 1)), bytes < 2048 ? copy : .25 + copy,
                   0)); /* the sender's buffer is free */
        share(&fused, 2, 2);
        CHECK(near(us(&plan), copies * copy + .25 + (bytes < 2048 ? c : at_once), 0));
    }
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(hockney);
    RUN(plogp);
    RUN(plogp_chain);
    RUN(plogp_combines);
    RUN(plogp_written_data);
    RUN(moody);
    RUN(moody_hybrid);
    RUN(moody_by_action);
    RUN(nbl_links);
    RUN(nbl_nominal);
    RUN(nbl_tree);
    RUN(nbl_pipelines);
    RUN(nbl_short_blocks);
    RUN(nbl_fence_is_a_link_and_a_combination_faster);
    RUN(within_and_between_nodes);
    RUN(copied_once);
    coll_sim_free(&sim);
    return check_done();
}
