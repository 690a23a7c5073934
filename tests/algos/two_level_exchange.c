/* tests/algos/two_level_exchange.c — the laws of coll/algos/two_level_exchange.h, and every
 * algorithm in both roles */
#include "support/levels.h"

/* (1) */
TEST(sorting_moves_every_element_once)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
            coll_grid_case of =
                level_case(&coll_two_level_alltoall.algorithm, COLL_ALLTOALL, p, 2, 0);
            of.nodes = level_nodes[kind];
            if (!CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                continue;
            for (uint32_t r = 0; r < p; r++)
                for (uint32_t i = 0; i < level_kit(r)->sequence.n; i++) {
                    const coll_phase *phase = &level_kit(r)->phases[i];
                    if (strncmp(phase->plan->algorithm->name, "sort", 4) == 0)
                        level_check_sorting(phase->plan,
                                            (size_t)level_kit(r)->at.ranks * p * of.count);
                }
        }
}

/* A level apart, of blocks with these counts or, NULL, of `count`. */
static const level_part *apart(const coll_algorithm *algorithm, coll_collective it, uint32_t n,
                               size_t count, const size_t *counts)
{
    static size_t displs[64];
    coll_problem problem;
    coll_problem_init(&problem, it, n, count, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    for (uint32_t i = 0; counts && i < n; i++)
        displs[i] = i == 0 ? 0 : displs[i - 1] + counts[i - 1];
    if (counts) {
        problem.in.counts = counts;
        problem.in.displs = displs;
    }
    return level_apart(algorithm, &problem);
}

/* The levels within the nodes: blocks come to the leader, and others leave it. */
static void add_within(level_sum *sum, uint32_t p, const coll_algorithm *collects,
                       coll_collective before, size_t collected, size_t dealt)
{
    const coll_nodes *nodes = &level_kit(0)->nodes;
    for (uint32_t node = 0; node < coll_nodes_count(nodes); node++) {
        const coll_node at = coll_node_at(nodes, p, node, 0);
        const level_part *part = apart(collects, before, at.ranks, collected, NULL);
        for (uint32_t i = 0; i < at.ranks; i++)
            level_add(sum, LEVEL_BEFORE, at.first + i, part, i);
        part = apart(&coll_fnomial_gather, COLL_SCATTER, at.ranks, dealt, NULL);
        for (uint32_t i = 0; i < at.ranks; i++)
            level_add(sum, LEVEL_AFTER, at.first + i, part, i);
    }
}

/* (2) and the costs of a reduce_scatter_block, of 3 elements a block. */
static void check_reduce_scatter(const coll_grid_case *of)
{
    const coll_report whole = level_cost(of);
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes), p = of->p;
    size_t counts[64];
    const level_part *part;
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    if (!coll_i_composite_flat(level_kit(0)))
        add_within(&sum, p, &coll_fnomial_reduce, COLL_REDUCE, 3 * (size_t)p, 3);
    for (uint32_t i = 0; i < n; i++)
        counts[i] = 3 * (size_t)coll_node_at(nodes, p, i, 0).ranks;
    part = apart(&coll_pairwise_reduce_scatter, COLL_REDUCE_SCATTER, n, 0, counts);
    for (uint32_t r = 0; r < p; r++) {
        const coll_node at = coll_node_of(nodes, p, r);
        const coll_verify_count outward = level_outward(r);
        if (at.local == 0 && n > 1)
            level_add(&sum, LEVEL_ACROSS, r, part, at.index);
        CHECK_EQ(outward.messages, at.local == 0 ? part->ranks[at.index].messages : 0);
        CHECK_EQ(outward.elements, at.local == 0 ? part->ranks[at.index].elements : 0);
    }
    level_check(&whole, &sum, p, level_even(p));
}

/* The same of an alltoall, of 2 elements a block; the leaders have h − 1 messages each. */
static void check_alltoall(const coll_grid_case *of)
{
    const coll_report whole = level_cost(of);
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes), p = of->p;
    const bool levels = n > 1 && !coll_i_composite_flat(level_kit(0));
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    if (levels)
        add_within(&sum, p, &coll_fnomial_gather, COLL_GATHER, 2 * (size_t)p, 2 * (size_t)p);
    sum.rounds[LEVEL_ACROSS] = (levels ? n : p) - 1;
    for (uint32_t r = 0; r < p; r++) {
        const coll_node at = coll_node_of(nodes, p, r);
        const bool sends = !levels || at.local == 0;
        const uint64_t messages = sends ? sum.rounds[LEVEL_ACROSS] : 0;
        const uint64_t elements = !levels ? 2 * messages
                                  : sends ? 2 * (uint64_t)at.ranks * (p - at.ranks)
                                          : 0;
        const coll_verify_count outward = level_outward(r);
        CHECK_EQ(outward.messages, n > 1 ? messages : 0);
        CHECK_EQ(outward.elements, n > 1 ? elements : 0);
        sum.ranks[r].messages += messages;
        sum.ranks[r].elements += elements;
    }
    level_check(&whole, &sum, p, level_even(p));
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
            coll_grid_case of =
                level_case(&coll_two_level_reduce_scatter_block.algorithm,
                           COLL_REDUCE_SCATTER_BLOCK, p, 3, COLL_FLAG_COMMUTATIVE);
            of.nodes = level_nodes[kind];
            check_reduce_scatter(&of);
            of.algorithm = &coll_two_level_alltoall.algorithm;
            of.collective = COLL_ALLTOALL;
            of.flags = 0;
            of.count = 2;
            check_alltoall(&of);
        }
}

TEST(every_algorithm_in_both_roles)
{
    level_try_all(&coll_two_level_alltoall, COLL_ALLTOALL);
    level_try_all(&coll_two_level_reduce_scatter, COLL_REDUCE_SCATTER);
    level_try_all(&coll_two_level_reduce_scatter_block, COLL_REDUCE_SCATTER_BLOCK);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(sorting_moves_every_element_once);
    RUN(costs);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
