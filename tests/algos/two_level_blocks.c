/* tests/algos/two_level_blocks.c — the laws of coll/algos/two_level_blocks.h, and every algorithm
 * in both roles */
#include "support/levels.h"

static const coll_composite *const rows[] = {
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
static const level_part *apart(const coll_composite *composite, coll_level role, uint32_t level,
                               uint32_t n, const uint32_t *firsts, uint32_t root, bool v)
{
    static size_t counts[64], displs[64];
    const coll_collective it = levels[level][v];
    coll_problem problem;
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
    return level_apart(level_usual(composite, role, it), &problem);
}

/* (1), (2) and the costs. */
static void check_case(uint32_t row, coll_grid_case *of)
{
    const coll_composite *composite = rows[row];
    const uint32_t level = row / 2;
    const coll_report whole = level_cost(of);
    uint32_t firsts[65], ranks[65], leaders[64];
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const coll_node root = coll_node_of(nodes, of->p, of->root);
    const bool v = (row & 1) != 0;
    const level_part *part;
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    count_blocks(of);
    for (uint32_t i = 0; i <= n; i++)
        firsts[i] = coll_nodes_first(nodes, of->p, i);
    for (uint32_t node = 0; node < n; node++) {
        const uint32_t m = firsts[node + 1] - firsts[node];
        const uint32_t lead = node == root.index ? root.local : 0;
        for (uint32_t i = 0; i <= m; i++)
            ranks[i] = firsts[node] + i;
        part = apart(composite, COLL_INTRA, level == 2 ? 0 : level, m, ranks, lead, v);
        for (uint32_t i = 0; i < m; i++)
            level_add(&sum, level == 1 ? LEVEL_AFTER : LEVEL_BEFORE, ranks[i], part, i);
        if (level == 2) {
            coll_problem problem;
            coll_problem_init(&problem, COLL_BCAST, m, all_displs[of->p], 8);
            part = level_apart(&coll_fnomial_bcast, &problem);
            for (uint32_t i = 0; i < m; i++)
                level_add(&sum, LEVEL_AFTER, ranks[i], part, i);
        }
        leaders[node] = firsts[node] + lead;
    }
    part = apart(composite, COLL_INTER, level, n, firsts, root.index, v || !level_even(of->p));
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        const coll_verify_count outward = level_outward(r);
        const bool leads = r == leaders[at.index];
        if (leads)
            level_add(&sum, LEVEL_ACROSS, r, part, at.index);
        CHECK_EQ(outward.messages, leads ? part->ranks[at.index].messages : 0);
        CHECK_EQ(outward.elements, leads ? part->ranks[at.index].elements : 0);
    }
    level_check(&whole, &sum, of->p, level_even(of->p) && !v);
}

TEST(costs)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= CHECK_RANKS; p++)
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
