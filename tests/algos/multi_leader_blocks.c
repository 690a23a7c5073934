/* tests/algos/multi_leader_blocks.c — the laws of coll/algos/multi_leader_blocks.h, and every
 * algorithm in both roles */
#include "support/levels.h"

static const coll_composite *const rows[] = {
    &coll_multi_leader_allgather, &coll_multi_leader_allgather,
    &coll_multi_leader_reduce_scatter, &coll_multi_leader_reduce_scatter};
static const coll_collective collectives[] = {COLL_ALLGATHER, COLL_ALLGATHERV,
                                              COLL_REDUCE_SCATTER_BLOCK, COLL_REDUCE_SCATTER};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Number of the run that a rank of a node of m ranks is in, of l; where it begins, and its
 * ranks. */
static uint32_t run_of(uint32_t m, uint32_t l, uint32_t local, uint32_t *begin, uint32_t *ranks)
{
    uint32_t j = local / (m / l);
    j = j < l ? j : l - 1;
    *begin = j * (m / l);
    *ranks = j + 1 < l ? m / l : m - *begin;
    return j;
}

/* (1) */
TEST(runs_have_a_leader)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t leaders = 1; leaders <= 5; leaders++) {
                coll_grid_case of =
                    level_case(&coll_multi_leader_allgather.algorithm, COLL_ALLGATHER, p, 1, 0);
                of.nodes = level_nodes[kind];
                of.param[0] = leaders;
                CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK);
                for (uint32_t r = 0; r < p; r++) {
                    const coll_workspace *workspace = level_kit(r);
                    const uint32_t least = coll_nodes_smallest(&workspace->nodes, p);
                    const uint32_t l = leaders < least ? leaders : least;
                    uint32_t begin, ranks;
                    const uint32_t j =
                        run_of(workspace->at.ranks, l, workspace->at.local, &begin, &ranks);
                    const coll_phase *gathers = &workspace->phases[0];
                    CHECK_EQ(coll_leader(workspace->at.ranks, j, &workspace->leaders), begin);
                    if (coll_i_composite_flat(workspace))
                        continue;
                    CHECK_EQ(gathers->plan->problem.p, ranks);
                    CHECK_EQ(gathers->map.group.base, workspace->at.first + begin);
                    CHECK_EQ(gathers->seat.rank, workspace->at.local - begin);
                }
            }
}

/* Elements of the blocks before each rank, as the verifier's grid makes them. */
static size_t all_displs[65];

static void count_blocks(const coll_grid_case *of)
{
    for (uint32_t r = 0; r < of->p; r++)
        all_displs[r + 1] =
            all_displs[r] +
            (of->layout == COLL_GRID_PLAIN ? of->count : coll_i_grid_count(of, r, 0));
}

/* (2) */
TEST(sorting_moves_every_element_once)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t l = 2; l <= 5; l++) {
                const bool v = (l & 1) != 0;
                coll_grid_case of =
                    level_case(&coll_multi_leader_reduce_scatter.algorithm,
                               v ? COLL_REDUCE_SCATTER : COLL_REDUCE_SCATTER_BLOCK, p, 2, 0);
                of.nodes = level_nodes[kind];
                of.layout = v ? COLL_GRID_UNEVEN : COLL_GRID_PLAIN;
                of.param[0] = l;
                CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK);
                count_blocks(&of);
                for (uint32_t i = 0; i < level_kit(0)->sequence.n; i++)
                    if (strcmp(level_kit(0)->phases[i].plan->algorithm->name, "sort runs") == 0)
                        level_check_sorting(level_kit(0)->phases[i].plan, all_displs[p]);
            }
}

/* The default algorithm of a role, alone: blocks of `counts` elements. */
static const level_part *apart(const coll_composite *composite, coll_level role,
                               coll_collective it, uint32_t n, const size_t *counts)
{
    static size_t displs[64];
    coll_problem problem;
    coll_layout *layout =
        it == COLL_REDUCE_SCATTER || it == COLL_SCATTERV ? &problem.in : &problem.out;
    coll_problem_init(&problem, it, n, 0, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    for (uint32_t i = 0; i < n; i++)
        displs[i] = i == 0 ? 0 : displs[i - 1] + counts[i - 1];
    layout->counts = counts;
    layout->displs = displs;
    return level_apart(level_usual(composite, role, it), &problem);
}

/* Elements of run k of l of a node. */
static size_t run_elements(const coll_node *node, uint32_t l, uint32_t k)
{
    const uint32_t m = node->ranks, first = node->first + k * (m / l);
    return all_displs[k + 1 < l ? first + m / l : node->first + m] - all_displs[first];
}

/* Adds what a node does: in each run, and all ranks of the node, of which the leaders have the
 * blocks of the runs of their number. */
static void add_within(level_sum *sum, const coll_composite *composite, bool gathers,
                       uint32_t p, uint32_t l, const coll_node *node)
{
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t m = node->ranks;
    size_t blocks[64] = {0}, counts[64];
    const level_part *part;
    for (uint32_t k = 0; k < l; k++) {
        uint32_t begin, ranks;
        (void)run_of(m, l, k * (m / l), &begin, &ranks);
        for (uint32_t i = 0; i < coll_nodes_count(nodes); i++) {
            const coll_node other = coll_node_at(nodes, p, i, 0);
            blocks[begin] += run_elements(&other, l, k);
        }
        for (uint32_t i = 0; i < ranks; i++)
            counts[i] =
                all_displs[node->first + begin + i + 1] - all_displs[node->first + begin + i];
        part =
            apart(composite, COLL_INTRA, gathers ? COLL_GATHERV : COLL_SCATTERV, ranks, counts);
        for (uint32_t i = 0; i < ranks; i++)
            level_add(sum, gathers ? LEVEL_BEFORE : LEVEL_AFTER, node->first + begin + i, part,
                      i);
    }
    part = apart(composite, COLL_INTRA, gathers ? COLL_ALLGATHERV : COLL_REDUCE_SCATTER, m,
                 blocks);
    for (uint32_t i = 0; i < m; i++)
        level_add(sum, gathers ? LEVEL_AFTER : LEVEL_BEFORE, node->first + i, part, i);
}

/* Costs. */
static void check_case(const coll_grid_case *of, const coll_composite *composite)
{
    const bool gathers = coll_is(COLL_I_RUNS_ALLGATHERS, of->collective);
    const coll_report whole = level_cost(of);
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t h = coll_nodes_count(nodes), p = of->p;
    const uint32_t least = coll_nodes_smallest(nodes, p);
    const uint32_t l = of->param[0] < least ? of->param[0] : least;
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    count_blocks(of);
    for (uint32_t k = 0; k < l; k++) {
        size_t inter[64];
        const level_part *part;
        for (uint32_t i = 0; i < h; i++) {
            const coll_node node = coll_node_at(nodes, p, i, 0);
            inter[i] = run_elements(&node, l, k);
        }
        part = apart(composite, COLL_INTER, gathers ? COLL_ALLGATHERV : COLL_REDUCE_SCATTER, h,
                     inter);
        for (uint32_t i = 0; i < h; i++) {
            const coll_node node = coll_node_at(nodes, p, i, 0);
            level_add(&sum, LEVEL_ACROSS, node.first + k * (node.ranks / l), part, i);
        }
    }
    for (uint32_t r = 0; r < p; r++) {
        const coll_verify_count outward = level_outward(r);
        CHECK_EQ(outward.messages, sum.ranks[r].messages);
        CHECK_EQ(outward.elements, sum.ranks[r].elements);
    }
    for (uint32_t i = 0; i < h && !coll_i_composite_flat(level_kit(0)); i++) {
        const coll_node node = coll_node_at(nodes, p, i, 0);
        add_within(&sum, composite, gathers, p, l, &node);
    }
    level_check(&whole, &sum, p,
                level_even(p) &&
                    (gathers || (least % l == 0 && of->layout == COLL_GRID_PLAIN)));
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t l = 1; l <= 3; l++)
                for (uint32_t row = 0; row < ROWS; row++) {
                    coll_grid_case of = level_case(&rows[row]->algorithm, collectives[row], p,
                                                   3, COLL_FLAG_COMMUTATIVE);
                    of.nodes = level_nodes[kind];
                    of.layout = row & 1 ? COLL_GRID_UNEVEN : COLL_GRID_PLAIN;
                    of.param[0] = l;
                    check_case(&of, rows[row]);
                }
}

TEST(every_algorithm_in_both_roles)
{
    for (uint32_t row = 0; row < ROWS; row++)
        level_try_all(rows[row], collectives[row]);
}

/* SHARED is that of the parts of a node, not of a node of as many ranks, which may need less. */
TEST(runs_and_sockets_have_shared_memory_of_their_own)
{
    static const coll_binding inside[] = {{COLL_INTRA, &coll_shm_gather, NULL},
                                          {COLL_INTRA, &coll_shm_scatter, NULL},
                                          {COLL_INTRA, &coll_shm_reduce, NULL},
                                          {COLL_INTRA, &coll_shm_bcast, NULL}};
    const coll_composite *const composites[] = {&coll_multi_leader_reduce_scatter,
                                                &coll_multi_leader_allgather,
                                                &coll_socket_leader_allreduce};
    const coll_collective solves[] = {COLL_REDUCE_SCATTER_BLOCK, COLL_ALLGATHER,
                                      COLL_ALLREDUCE};
    for (uint32_t row = 0; row < 3; row++)
        for (uint32_t p = 4; p <= 40; p += 4)
            for (uint32_t parts = 1; parts <= 4; parts++) {
                coll_grid_case of = level_case(&composites[row]->algorithm, solves[row], p,
                                               3 * p + 10, COLL_FLAG_COMMUTATIVE);
                coll_report report;
                of.param[0] = parts;
                of.bindings = inside;
                of.n_bindings = 4;
                CHECK_STATUS(level_prove(&of, &report), COLL_OK);
            }
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(runs_have_a_leader);
    RUN(sorting_moves_every_element_once);
    RUN(costs);
    RUN(every_algorithm_in_both_roles);
    RUN(runs_and_sockets_have_shared_memory_of_their_own);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
