/* tests/algos/two_level_blocks.c — the laws of coll/algos/two_level_blocks.h, and every algorithm
 * in both roles */
#include "levels.h"

static const coll_recipe *const rows[] = {
    &coll_two_level_gather,   &coll_two_level_gatherv,   &coll_two_level_scatter,
    &coll_two_level_scatterv, &coll_two_level_allgather, &coll_two_level_allgatherv};
static const coll_collective collectives[] = {COLL_GATHER,   COLL_GATHERV,   COLL_SCATTER,
                                              COLL_SCATTERV, COLL_ALLGATHER, COLL_ALLGATHERV};
/* the collective of a level where blocks have one size, and where not */
static const coll_collective levels[3][2] = {{COLL_GATHER, COLL_GATHERV},
                                             {COLL_SCATTER, COLL_SCATTERV},
                                             {COLL_ALLGATHER, COLL_ALLGATHERV}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static size_t all_counts[64], all_displs[65];

/* What the ranks' blocks have, as the verifier's grid makes them. */
static void count_blocks(const coll_grid_case *of)
{
    for (uint32_t r = 0; r < of->p; r++) {
        all_counts[r] = of->layout == COLL_GRID_PLAIN ? of->count : coll_i_grid_count(of, r, 0);
        all_displs[r + 1] = all_displs[r] + all_counts[r];
    }
}

/* A level apart: `n` blocks, which begin where the blocks of the ranks firsts[0], firsts[1] …
 * do. */
static coll_report apart(uint32_t row, const coll_recipe *recipe, coll_role role,
                         uint32_t level, uint32_t n, const uint32_t *firsts, uint32_t root,
                         bool v)
{
    static size_t counts[64], displs[64];
    const coll_collective it = levels[level][v];
    const coll_algorithm *algorithm = NULL;
    coll_problem problem;
    (void)row;
    for (uint32_t i = recipe->n_usual; i-- > 0;)
        if (recipe->usual[i].role == role &&
            coll_is(recipe->usual[i].algorithm->collectives, it))
            algorithm = recipe->usual[i].algorithm;
    coll_problem_init(&problem, it, n, all_displs[firsts[1]] - all_displs[firsts[0]], 8);
    problem.root = level == 2 ? 0 : root;
    for (uint32_t i = 0; i < n; i++) {
        displs[i] = all_displs[firsts[i]] - all_displs[firsts[0]];
        counts[i] = all_displs[firsts[i + 1]] - all_displs[firsts[i]];
    }
    if (v) {
        coll_layout *layout = level == 1 ? &problem.in : &problem.out;
        layout->counts = counts;
        layout->displs = displs;
    }
    return level_apart(algorithm, &problem);
}

/* (1), (2) and the costs. */
static void check_case(uint32_t row, coll_grid_case *of)
{
    const coll_recipe *recipe = rows[row];
    const uint32_t level = row / 2;
    const coll_report whole = level_cost(of);
    coll_verify_count own[64], across[64];
    uint32_t firsts[65], ranks[65];
    const coll_kit *kit = level_kit(0);
    const uint32_t nodes = coll_nodes_count(&kit->nodes);
    const coll_node root = coll_node_of(&kit->nodes, of->p, of->root);
    const bool even =
        coll_nodes_smallest(&kit->nodes, of->p) == coll_nodes_largest(&kit->nodes, of->p);
    memcpy(own, whole.ranks, of->p * sizeof own[0]);
    count_blocks(of);
    for (uint32_t i = 0; i <= nodes; i++)
        firsts[i] = coll_nodes_first(&kit->nodes, of->p, i);
    {
        const coll_report report = apart(row, recipe, COLL_ACROSS, level, nodes, firsts,
                                         root.index, (row & 1) != 0 || !even);
        memcpy(across, report.ranks, nodes * sizeof across[0]);
    }
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(&kit->nodes, of->p, r);
        const uint32_t lead = at.index == root.index ? root.local : 0;
        const coll_verify_count outward = level_outward(r);
        coll_report report;
        coll_verify_count sum;
        for (uint32_t i = 0; i <= at.ranks; i++)
            ranks[i] = at.first + i;
        report = apart(row, recipe, COLL_WITHIN, level == 2 ? 0 : level, at.ranks, ranks, lead,
                       (row & 1) != 0);
        sum = report.ranks[at.local];
        if (level == 2) {
            coll_problem problem;
            coll_problem_init(&problem, COLL_BCAST, at.ranks, all_displs[of->p], 8);
            problem.root = lead;
            report = level_apart(&coll_fnomial_bcast, &problem);
            level_add(&sum, &report.ranks[at.local]);
        }
        if (at.local == lead)
            level_add(&sum, &across[at.index]);
        CHECK_EQ(own[r].messages, sum.messages);
        CHECK_EQ(own[r].elements, sum.elements);
        CHECK_EQ(outward.messages, at.local == lead ? across[at.index].messages : 0);
        CHECK_EQ(outward.elements, at.local == lead ? across[at.index].elements : 0);
    }
}

TEST(costs)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= 64; p += p < 16 ? 1 : 16)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
                coll_grid_case of =
                    level_case(&rows[row]->algorithm, collectives[row], p, 3, 0);
                of.nodes = level_nodes[kind];
                of.root = row < 4 ? p / 2 : 0;
                of.layout = row & 1 ? COLL_GRID_UNEVEN : COLL_GRID_PLAIN;
                check_case(row, &of);
            }
}

TEST(every_algorithm_in_both_roles)
{
    for (uint32_t row = 0; row < ROWS; row++)
        level_try_all(rows[row], collectives[row]);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(costs);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
