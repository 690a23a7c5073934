/* tests/algos/two_level_scan.c — the laws of coll/algos/two_level_scan.h, and every algorithm in both
 * roles */
#include "support/levels.h"

static const coll_collective collectives[] = {COLL_SCAN, COLL_EXSCAN};

/* A level apart, by the default algorithm. */
static const level_part *apart(coll_level role, coll_collective it, uint32_t n, size_t count)
{
    coll_problem problem;
    coll_problem_init(&problem, it, n, count, 8);
    problem.root = it == COLL_BCAST ? n - 1 : 0;
    problem.flags = COLL_FLAG_COMMUTATIVE;
    return level_apart(level_usual(&coll_two_level_scan, role, it), &problem);
}

/* (1), (2) and the costs. */
static void check_case(const coll_grid_case *of)
{
    const bool exclusive = of->collective == COLL_EXSCAN;
    const coll_report whole = level_cost(of);
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const bool levels = n > 1 && !coll_i_composite_flat(level_kit(0));
    const level_part *part;
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    for (uint32_t node = 0; node < n; node++) {
        const coll_node at = coll_node_at(nodes, of->p, node, 0);
        part = apart(COLL_INTRA, of->collective, at.ranks, of->count);
        for (uint32_t i = 0; i < at.ranks; i++)
            level_add(&sum, LEVEL_BEFORE, at.first + i, part, i);
        if (!levels || node == 0)
            continue;
        part = apart(COLL_INTRA, COLL_BCAST, at.ranks, of->count);
        for (uint32_t i = 0; i < at.ranks; i++) {
            level_add(&sum, LEVEL_AFTER, at.first + i, part, i);
            sum.ranks[at.first + i].reduced += exclusive && i == 0 ? 0 : of->count;
        }
    }
    part = apart(COLL_INTER, levels ? COLL_EXSCAN : of->collective, n, of->count);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        const coll_verify_count outward = level_outward(r);
        const bool last = at.local + 1 == at.ranks && n > 1;
        if (last) {
            level_add(&sum, LEVEL_ACROSS, r, part, at.index);
            sum.ranks[r].reduced +=
                levels && exclusive && at.ranks > 1 && at.index + 1 < n ? of->count : 0;
        }
        CHECK_EQ(outward.messages, last ? part->ranks[at.index].messages : 0);
        CHECK_EQ(outward.elements, last ? part->ranks[at.index].elements : 0);
    }
    level_check(&whole, &sum, of->p, level_even(of->p));
}

TEST(costs)
{
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t p = 1; p <= CHECK_RANKS; p++)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
                coll_grid_case of = level_case(&coll_two_level_scan.algorithm, collectives[row],
                                               p, 3, COLL_FLAG_COMMUTATIVE);
                of.nodes = level_nodes[kind];
                check_case(&of);
            }
}

TEST(every_algorithm_in_both_roles)
{
    for (uint32_t row = 0; row < 2; row++)
        level_try_all(&coll_two_level_scan, collectives[row]);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(costs);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
