/* tests/algos/multi_leader.c — the laws of coll/algos/multi_leader.h, and every algorithm in both
 * roles */
#include "support/leaders.h"

static const coll_composite *const rows[] = {
    &coll_multi_leader_bcast, &coll_multi_leader_reduce, &coll_multi_leader_allreduce};
static const coll_collective collectives[] = {COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Adds what a level within costs; blocks are the partitions that a rank leads. */
static void add_within(level_sum *sum, level_stage phase, const coll_grid_case *of,
                       const coll_algorithm *algorithm, coll_collective it,
                       const coll_node *node, uint32_t root)
{
    size_t counts[64], displs[64];
    coll_problem problem;
    const level_part *part;
    const bool in = it == COLL_SCATTERV || it == COLL_REDUCE_SCATTER;
    coll_layout *layout = in ? &problem.in : &problem.out;
    coll_problem_init(&problem, it, node->ranks, 0, 8);
    problem.root = root;
    problem.flags = COLL_FLAG_COMMUTATIVE;
    for (uint32_t t = 0; t < node->ranks; t++) {
        displs[t] = leaders_part(of, coll_leaders_below(node->ranks, t, of->param[0]));
        counts[t] =
            leaders_part(of, coll_leaders_below(node->ranks, t + 1, of->param[0])) - displs[t];
    }
    layout->counts = counts;
    layout->displs = displs;
    part = level_apart(algorithm, &problem);
    for (uint32_t i = 0; i < node->ranks; i++)
        level_add(sum, phase, node->first + i, part, i);
}

/* (1) and the costs. */
static void check_case(const coll_grid_case *of, const coll_composite *composite)
{
    const coll_report whole = level_cost(of);
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const coll_node root = coll_node_of(nodes, of->p, of->root);
    const bool intra = !coll_i_composite_flat(level_kit(0));
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        const coll_verify_count outward = level_outward(r);
        leaders_across(&sum, of, composite->defaults[2].algorithm, root.index, &at);
        CHECK_EQ(outward.messages, sum.ranks[r].messages);
        CHECK_EQ(outward.elements, sum.ranks[r].elements);
    }
    for (uint32_t node = 0; intra && node < n; node++) {
        const coll_node at = coll_node_at(nodes, of->p, node, 0);
        const bool here = node == root.index;
        if (of->collective != COLL_BCAST || here)
            add_within(&sum, LEVEL_BEFORE, of, composite->defaults[0].algorithm,
                       of->collective == COLL_BCAST ? COLL_SCATTERV : COLL_REDUCE_SCATTER, &at,
                       of->collective == COLL_BCAST ? root.local : 0);
        if (of->collective != COLL_REDUCE || here)
            add_within(&sum, LEVEL_AFTER, of, composite->defaults[1].algorithm,
                       of->collective == COLL_REDUCE ? COLL_GATHERV : COLL_ALLGATHERV, &at,
                       of->collective == COLL_REDUCE ? root.local : 0);
    }
    level_check(&whole, &sum, of->p,
                level_even(of->p) && of->param[0] <= of->p / n && of->param[1] == 1 &&
                    of->collective != COLL_REDUCE);
}

TEST(costs)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= CHECK_RANKS; p++)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
                for (uint32_t l = 1; l <= 5; l += 2)
                    for (uint32_t k = 1; k <= 3; k += 2) {
                        coll_grid_case of = level_case(&rows[row]->algorithm, collectives[row],
                                                       p, 17, COLL_FLAG_COMMUTATIVE);
                        of.nodes = level_nodes[kind];
                        of.root = row < 2 ? p / 2 : 0;
                        of.param[0] = l;
                        of.param[1] = k;
                        check_case(&of, rows[row]);
                    }
}

/* (2) */
TEST(blocks_within_are_packed)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t l = 1; l <= 9; l += 2) {
                coll_grid_case of = level_case(&coll_multi_leader_allreduce.algorithm,
                                               COLL_ALLREDUCE, p, 31, COLL_FLAG_COMMUTATIVE);
                of.nodes = level_nodes[kind];
                of.param[0] = l;
                CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK);
                for (uint32_t r = 0; r < p && !coll_i_composite_flat(level_kit(r)); r++) {
                    const coll_problem *first = &level_kit(r)->phases[0].plan->problem;
                    const uint32_t m = first->p;
                    CHECK(coll_i_layout_packed(&first->in, m));
                    CHECK_EQ(first->in.displs[m - 1] + first->in.counts[m - 1], of.count);
                }
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
    RUN(blocks_within_are_packed);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
