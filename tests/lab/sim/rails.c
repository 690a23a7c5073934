/* tests/lab/sim/rails.c — a port of its own for each rail: leaders that are spread over the rails of
 * their nodes against leaders that share one */
#include "coll/lab/model.h"

#include "support/simulated.h"

enum { RANKS = 128, PPN = 16, NODES = RANKS / PPN };

static coll_sim_machine machine;

/* Ranks of a node use rails in turn; plans know of that, or not. */
static uint8_t turns[RANKS];
static const coll_beyond beyond = {turns, NULL};

/* An allreduce by l leaders a node. `rails`: the nodes have two; `aware`: the plans know. */
static double us_of(const char *name, size_t count, uint32_t l, bool rails, bool aware)
{
    static coll_plan plans[RANKS];
    const coll_algorithm *row = sim_row(COLL_ALLREDUCE, name);
    const uint32_t params[COLL_PARAM_MAX] = {l, 1};
    coll_sim_options options;
    coll_nodes nodes;
    coll_problem problem;
    coll_sentence why;
    coll_sim sim;
    void *memory[RANKS];
    double us;
    coll_problem_init(&problem, COLL_ALLREDUCE, RANKS, count, sizeof(double));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem.nodes, RANKS, PPN);
    coll_nodes_even(&nodes, RANKS, PPN);
    problem.nodes.beyond = aware ? &beyond : NULL;
    nodes.beyond = rails ? &beyond : NULL;
    for (uint32_t r = 0; r < RANKS; r++) {
        memory[r] = malloc(coll_workspace_bytes(&problem));
        CHECK_STATUS(coll_plan_build(&plans[r], row, &problem, params,
                                     coll_workspace_in(memory[r], &problem, r)),
                     COLL_OK);
    }
    coll_sim_machine_init(&machine, &nodes, RANKS);
    CHECK(coll_sim_machine_read(
        &machine, "dpml:a=1.5us,b=0.1,a_shm=0.2us,b_shm=0.1,c=0.1,gap=0.05us,wire=0.1", &why));
    coll_sim_options_init(&options, &machine.model);
    options.topology = machine.nics;
    options.window = 32;
    CHECK(machine.nics && machine.nics->links == 2 * NODES * (rails ? 2 : 1));
    coll_sim_init(&sim);
    CHECK_STATUS(coll_sim_run(&sim, plans, true, &options), COLL_OK);
    us = coll_time_us(sim.makespan);
    coll_sim_free(&sim);
    for (uint32_t r = 0; r < RANKS; r++)
        free(memory[r]);
    return us;
}

/* Of 16 ranks with rails in turn, every second or fourth is on rail 0: leaders that are chosen without
 * regard to rails all share it, and take as long as if there were no other. Spread over both they are
 * faster; but one leader has no choice, and of two of dpml, one combines while the other sends. */
TEST(a_rail_for_each_leader_is_faster)
{
    static const char *const names[] = {"dpml", "multi_leader"};
    static const size_t counts[] = {4096, 65536, 262144};
    for (uint32_t rank = 0; rank < RANKS; rank++)
        turns[rank] = rank % 2;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (uint32_t l = 1; l <= 8; l *= 2) {
                const double one = us_of(names[i], counts[c], l, false, false);
                const double shared = us_of(names[i], counts[c], l, true, false);
                const double each = us_of(names[i], counts[c], l, true, true);
                CHECK(shared == one);
                CHECK(each <= shared);
                if (!CHECK(l == 1 ? each == shared : l == 2 || each < shared))
                    printf("    %s, %lu doubles, %u leaders: %g us by one rail, %g by two\n",
                           names[i], (unsigned long)counts[c], l, shared, each);
            }
}

/* Where all ranks lead, all rails are used anyway. */
TEST(all_ranks_lead)
{
    const double unaware = us_of("dpml", 65536, PPN, true, false);
    CHECK(us_of("dpml", 65536, PPN, true, true) == unaware);
    CHECK(unaware < us_of("dpml", 65536, PPN, false, false));
}

/* Links, of nodes of any sizes. */
TEST(links)
{
    static const uint32_t first[] = {0, 3, 4, 9};
    static const uint8_t rail[] = {0, 2, 1, 0, 0, 1, 2, 2, 0};
    const coll_beyond its = {rail, NULL};
    coll_nodes nodes;
    coll_topology nics;
    char text[64];
    coll_nodes_table(&nodes, 3, first, NULL);
    coll_topology_nics(&nics, &nodes, 9);
    CHECK_EQ(nics.links, 6);
    nics.name(&nics, nics.link(&nics, 8, 0, 0), text, sizeof text);
    CHECK(strcmp(text, "out of node 2") == 0);
    nodes.beyond = &its;
    coll_topology_nics(&nics, &nodes, 9);
    CHECK_EQ(nics.links, 18);
    for (uint32_t from = 0; from < 9; from++)
        for (uint32_t to = 0; to < 9; to++) {
            const uint32_t out = coll_node_of(&nodes, 9, from).index,
                           in = coll_node_of(&nodes, 9, to).index;
            CHECK_EQ(nics.hops(&nics, from, to), out == in ? 0 : 2);
            CHECK_EQ(nics.link(&nics, from, to, 0), 6 * out + 2 * rail[from]);
            CHECK_EQ(nics.link(&nics, from, to, 1), 6 * in + 2 * rail[to] + 1);
        }
    nics.name(&nics, nics.link(&nics, 7, 1, 0), text, sizeof text);
    CHECK(strcmp(text, "out of rail 2 of node 2") == 0);
    nics.name(&nics, nics.link(&nics, 7, 1, 1), text, sizeof text);
    CHECK(strcmp(text, "into rail 2 of node 0") == 0);
}

int main(void)
{
    RUN(a_rail_for_each_leader_is_faster);
    RUN(all_ranks_lead);
    RUN(links);
    return check_done();
}
