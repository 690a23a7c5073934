/* tests/algos/node_combining.c — the laws of coll/algos/node_combining.h */
#include "coll/algos/node_combining.h"
#include "coll/lab/verify/case.h"

#include "support/walk.h"

enum { P = WALK_RANKS };

static coll_grid_worker worker;
static coll_nodes nodes;
static uint32_t tables[2 * P + 1];

static coll_node node_of(uint32_t p, uint32_t rank)
{
    return coll_node_of(&nodes, p, rank);
}

/* The rank of the node of `here` that stands for it towards the node of `there`. */
static uint32_t stands_for(uint32_t p, uint32_t here, uint32_t there)
{
    const coll_node of = node_of(p, here);
    return of.first + node_of(p, there).index % of.ranks;
}

/* Blocks that go from rank to rank in each phase: of an alltoall each edge, of an allgather each
 * origin once. */
static uint32_t blocks[3][P][P];

static void add_block(uint32_t phase, uint32_t from, uint32_t to, bool first)
{
    blocks[phase][from][to] += from != to && first;
}

static void count_blocks(uint32_t p, bool all)
{
    static bool handed[3][P][P]; /* of one origin: in this phase, from, to */
    memset(blocks, 0, sizeof blocks);
    for (uint32_t u = 0; u < p; u++) {
        const coll_graph *graph = coll_i_graph_of(&worker.graphs, u);
        memset(handed, 0, sizeof handed);
        for (uint32_t i = 0; i < graph->n_out; i++) {
            const uint32_t v = coll_graph_destination(graph, u, i);
            const bool near = v == COLL_RANK_NONE || node_of(p, u).index == node_of(p, v).index;
            const uint32_t speaker = near ? v : stands_for(p, u, v);
            const uint32_t listener = near ? v : stands_for(p, v, u);
            if (v == COLL_RANK_NONE)
                continue;
            add_block(0, u, speaker, all || !handed[0][u][speaker]);
            add_block(1, speaker, listener, all || !handed[1][speaker][listener]);
            add_block(2, listener, v, all || !handed[2][listener][v]);
            handed[0][u][speaker] = handed[1][speaker][listener] = handed[2][listener][v] =
                true;
        }
    }
}

/* All laws for one case: the messages of a rank are exactly these. */
static void check_case(const coll_grid_case *of)
{
    const uint32_t p = of->p;
    uint64_t between = 0, most = 0;
    bool ways[3][P] = {{false}}; /* that a message of a phase goes */
    coll_report report;
    CHECK_STATUS(prove_case(&worker, of, &report), COLL_OK);
    if (!CHECK(report.ok)) {
        printf("    %s\n", report.sentence);
        return;
    }
    count_blocks(p, of->collective == COLL_NEIGHBOR_ALLTOALL);
    for (uint32_t rank = 0; rank < p; rank++) {
        const walk *w = walk_of(coll_i_grid_plan_of(&worker, rank), rank);
        const uint32_t N = coll_nodes_count(&nodes), n = node_of(p, rank).ranks;
        uint64_t messages = 0, elements = 0, took = 0, far = 0;
        uint32_t found[3][P] = {{0}};
        for (uint32_t phase = 0; phase < 3; phase++)
            for (uint32_t to = 0; to < p; to++) {
                messages += blocks[phase][rank][to] > 0;
                elements += blocks[phase][rank][to] * of->count;
                took += blocks[phase][to][rank] * of->count;
                far += phase == 1 && blocks[phase][rank][to] > 0;
                if (blocks[phase][rank][to] > 0)
                    ways[phase][(to + p - rank) % p] = true;
            }
        CHECK_EQ(report.ranks[rank].messages, messages);
        CHECK_EQ(report.ranks[rank].elements, elements);
        CHECK(far <= (N + n - 1) / n && messages - far <= 2 * (n - 1));
        CHECK(coll_plan_scratch(coll_i_grid_plan_of(&worker, rank), rank) <= elements + took);
        between += far;
        for (size_t k = 0; k < w->n; k++) {
            const coll_action *a = &w->act[k];
            const bool near = is_send(a) && node_of(p, rank).index == node_of(p, a->peer).index;
            uint32_t phase = 1;
            if (!is_send(a))
                continue;
            if (near) /* on the node the first message comes before the second */
                phase = blocks[0][rank][a->peer] > 0 && !found[0][a->peer] ? 0 : 2;
            CHECK_EQ(a->count, blocks[phase][rank][a->peer] * of->count);
            found[phase][a->peer]++;
            CHECK_EQ(found[phase][a->peer], 1);
        }
    }
    for (uint32_t phase = 0; phase < 3; phase++)
        for (uint32_t way = 0; way < p; way++)
            most += ways[phase][way];
    CHECK(report.rounds <= most && (report.rounds > 0) == (most > 0));
    for (uint32_t a = 0; a < coll_nodes_count(&nodes); a++) /* one for each pair with an edge */
        for (uint32_t b = 0; b < coll_nodes_count(&nodes); b++) {
            bool edge = false;
            const coll_node to = coll_node_at(&nodes, p, b, 0);
            const coll_node from = coll_node_at(&nodes, p, a, 0);
            for (uint32_t u = from.first; u < from.first + from.ranks && a != b; u++) {
                const coll_graph *graph = coll_i_graph_of(&worker.graphs, u);
                for (uint32_t i = 0; i < graph->n_out && !edge; i++)
                    edge = coll_graph_destination(graph, u, i) - to.first < to.ranks;
            }
            between -= edge;
        }
    CHECK_EQ(between, 0);
}

static void check_all_nodes(uint32_t p, coll_grid_graph which)
{
    static const uint32_t kinds[] = {0, 1, 2, 3, 5, 16, COLL_GRID_NODES_UNEVEN};
    for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        coll_problem problem;
        coll_grid_case of;
        memset(&of, 0, sizeof of);
        of.algorithm = &coll_node_combining;
        of.collective =
            (p + (uint32_t)which + k) & 1 ? COLL_NEIGHBOR_ALLGATHER : COLL_NEIGHBOR_ALLTOALL;
        of.graph = which;
        of.p = p;
        of.count = 2;
        of.nodes = kinds[k] < p || kinds[k] == COLL_GRID_NODES_UNEVEN ? kinds[k] : p;
        coll_problem_init(&problem, of.collective, p, 1, 8);
        if (of.nodes == COLL_GRID_NODES_UNEVEN)
            coll_i_grid_uneven(&problem.nodes, p, tables);
        else
            coll_nodes_even(&problem.nodes, p, of.nodes ? of.nodes : p);
        nodes = problem.nodes;
        check_case(&of);
    }
}

TEST(three_phases)
{
    worker.skip = COLL_VERIFY_NO_WINDOW | COLL_VERIFY_NO_PURITY;
    for (uint32_t p = 1; p <= P; p++)
        for (unsigned which = 1; which < COLL_GRID_GRAPHS; which++)
            check_all_nodes(p, (coll_grid_graph)which);
}

TEST(graphs_at_random)
{
    for (worker.graphs.seed = 1; worker.graphs.seed <= 60; worker.graphs.seed++) {
        const uint32_t p = 1 + (uint32_t)worker.graphs.seed * 37 % 31;
        check_all_nodes(p, COLL_GRID_SPARSE);
        check_all_nodes(p, COLL_GRID_DENSE);
    }
}

/* 4 ranks a node, each with edges to all 4 of the next one: 1 message instead of 16. */
TEST(messages_saved)
{
    static const uint32_t dims[1] = {8};
    static const int32_t vectors[7] = {1, 2, 3, 4, 5, 6, 7};
    coll_i_graphs graphs;
    coll_problem problem;
    uint32_t between = 0;
    memset(&graphs, 0, sizeof graphs);
    coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALL, 8, 1, 8);
    coll_nodes_even(&problem.nodes, 8, 4);
    CHECK(coll_i_reserve_new(&graphs.graphs, sizeof(coll_graph)) != NULL);
    CHECK_STATUS(coll_graph_stencil((coll_graph *)graphs.graphs.at, 1, dims, 1, vectors, 7),
                 COLL_OK);
    CHECK_STATUS(coll_i_graphs_route(&graphs, &problem, true), COLL_OK);
    for (uint32_t rank = 0; rank < 8; rank++) {
        const coll_route *route = coll_i_graph_of(&graphs, rank)->alltoall;
        for (uint32_t i = 0; i < route->n; i++)
            if (route->moves[i].dst == COLL_RANK_NONE && route->moves[i].peer / 4 != rank / 4) {
                CHECK_EQ(route->moves[i].blocks, 16);
                between++;
            }
    }
    CHECK_EQ(between, 2);
    coll_i_graphs_release(&graphs);
}

/* A node with more than 2^24 ends of edges is refused. */
TEST(edges_that_are_far_too_many)
{
    coll_neighbors all[2] = {{1u << 23, NULL, (1u << 23) - 3, NULL}, {1, NULL, 2, NULL}};
    coll_graph graph;
    coll_problem problem;
    memset(&graph, 0, sizeof graph);
    coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALL, 2, 1, 8);
    problem.graph = &graph;
    CHECK(coll_route_nodes_bytes(&problem, 0, all) != SIZE_MAX);
    all[1].n_in++;
    CHECK(coll_route_nodes_bytes(&problem, 0, all) == SIZE_MAX);
}

TEST(errors)
{
    static const uint32_t peers[2] = {1, 7};
    coll_neighbors all[2] = {{1, peers, 1, peers}, {0, NULL, 0, NULL}};
    uint32_t memory[400], order[2];
    const size_t bytes = sizeof memory;
    coll_graph graph;
    coll_route route;
    coll_problem problem;
    coll_plan plan;
    CHECK_STATUS(coll_graph_lists(&graph, &all[0], 0, 2, order), COLL_OK);
    coll_problem_init(&problem, COLL_NEIGHBOR_ALLTOALL, 2, 1, 8);
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, all, memory, bytes), COLL_ERR_GRAPH);
    CHECK(coll_route_nodes_bytes(&problem, 0, all) == SIZE_MAX);
    problem.graph = &graph;
    CHECK_STATUS(coll_plan_init(&plan, &coll_node_combining, &problem, NULL), COLL_ERR_ROUTE);
    CHECK_STATUS(coll_route_by_nodes(NULL, &problem, 0, all, memory, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_route_by_nodes(&route, NULL, 0, all, memory, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, all, NULL, bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, NULL, memory, bytes),
                 COLL_ERR_GRAPH); /* the lists of the others are missing */
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 2, all, memory, bytes), COLL_ERR_RANK);
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, all, memory,
                                     coll_route_nodes_bytes(&problem, 0, all) - 1),
                 COLL_ERR_MEMORY);
    problem.nodes.by_ppn = coll_fast_divisor_of(3);
    problem.nodes.count = 3;
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, all, memory, bytes), COLL_ERR_NODES);
    coll_nodes_even(&problem.nodes, 2, 1);
    problem.collective = COLL_NEIGHBOR_ALLTOALLW;
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, all, memory, bytes),
                 COLL_ERR_COLLECTIVE);
    problem.collective = COLL_NEIGHBOR_ALLTOALL;
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, all, memory, bytes), COLL_OK);
    CHECK_STATUS(coll_graph_add_route(&graph, &route), COLL_OK);
    CHECK_STATUS(coll_plan_init(&plan, &coll_node_combining, &problem, NULL), COLL_OK);
    all[0].destinations = peers + 1; /* no rank */
    CHECK_STATUS(coll_route_by_nodes(&route, &problem, 0, all, memory, bytes), COLL_ERR_GRAPH);
}

int main(void)
{
    RUN(three_phases);
    RUN(graphs_at_random);
    RUN(messages_saved);
    RUN(edges_that_are_far_too_many);
    RUN(errors);
    coll_grid_worker_release(&worker);
    return check_done();
}
