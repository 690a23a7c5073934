/* tests/algos/two_level_exchange.c — the laws of coll/algos/two_level_exchange.h, and every algorithm
 * in both roles */
#include "levels.h"

/* (1) Sorted by node, exchanged, sorted by rank: each copy moves other elements, and all are
 * moved. */
static void check_sorting(const coll_plan *sorts, uint32_t m, uint32_t p)
{
    static unsigned char from[8192], to[8192];
    const size_t blocks = (size_t)m * p, steps = coll_plan_steps(sorts, 0);
    size_t moved = 0;
    memset(from, 0, sizeof from);
    memset(to, 0, sizeof to);
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(sorts, 0, s, acts);
        for (unsigned i = 0; i < n; i++)
            for (size_t k = 0; k < acts[i].count; k++) {
                CHECK_EQ(acts[i].kind, COLL_DO_COPY);
                CHECK(from[coll_ref_offset(acts[i].src) + k]++ == 0);
                CHECK(to[coll_ref_offset(acts[i].dst) + k]++ == 0);
                moved++;
            }
    }
    CHECK_EQ(moved, blocks * sorts->problem.count);
}

TEST(sorting_moves_every_element_once)
{
    for (uint32_t p = 2; p <= 64; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
            coll_grid_case of =
                level_case(&coll_two_level_alltoall.algorithm, COLL_ALLTOALL, p, 2, 0);
            of.nodes = level_nodes[kind];
            if (!CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                continue;
            for (uint32_t r = 0; r < p; r++)
                for (uint32_t i = 0; i < level_kit(r)->n_stages; i++) {
                    const coll_stage *stage = &level_kit(r)->stages[i];
                    if (strncmp(stage->plan->algorithm->name, "sort", 4) == 0)
                        check_sorting(stage->plan, level_kit(r)->at.ranks, p);
                }
        }
}

/* A level apart, of blocks with these counts or, NULL, of `count`. */
static coll_report apart(const coll_algorithm *algorithm, coll_collective it, uint32_t n,
                         size_t count, const size_t *counts)
{
    static size_t displs[64];
    coll_problem problem;
    coll_problem_init(&problem, it, n, count, 8);
    problem.flags = COLL_COMMUTATIVE;
    for (uint32_t i = 0; counts && i < n; i++)
        displs[i] = i == 0 ? 0 : displs[i - 1] + counts[i - 1];
    if (counts) {
        problem.in.counts = counts;
        problem.in.displs = displs;
    }
    return level_apart(algorithm, &problem);
}

/* (2) and the costs of a reduce_scatter_block, of 3 elements a block. */
static void check_reduce_scatter(const coll_grid_case *of)
{
    const coll_report whole = level_cost(of);
    coll_verify_count own[64], across[64];
    size_t counts[64];
    const coll_kit *kit = level_kit(0);
    const uint32_t nodes = coll_nodes_count(&kit->nodes), p = of->p;
    const bool within = !coll_i_kit_flat(kit);
    memcpy(own, whole.ranks, p * sizeof own[0]);
    for (uint32_t i = 0; i < nodes; i++)
        counts[i] = 3 * (size_t)coll_node_at(&kit->nodes, p, i, 0).ranks;
    {
        const coll_report report =
            apart(&coll_pairwise_reduce_scatter, COLL_REDUCE_SCATTER, nodes, 0, counts);
        memcpy(across, report.ranks, nodes * sizeof across[0]);
    }
    for (uint32_t r = 0; r < p; r++) {
        const coll_node at = coll_node_of(&kit->nodes, p, r);
        const coll_verify_count outward = level_outward(r);
        coll_verify_count sum;
        memset(&sum, 0, sizeof sum);
        if (within) {
            coll_report report =
                apart(&coll_fnomial_reduce, COLL_REDUCE, at.ranks, 3 * (size_t)p, NULL);
            level_add(&sum, &report.ranks[at.local]);
            report = apart(&coll_fnomial_gather, COLL_SCATTER, at.ranks, 3, NULL);
            level_add(&sum, &report.ranks[at.local]);
        }
        if (at.local == 0 && nodes > 1)
            level_add(&sum, &across[at.index]);
        CHECK_EQ(own[r].messages, sum.messages);
        CHECK_EQ(own[r].elements, sum.elements);
        CHECK_EQ(own[r].reduced, sum.reduced);
        CHECK_EQ(outward.messages, at.local == 0 ? across[at.index].messages : 0);
        CHECK_EQ(outward.elements, at.local == 0 ? across[at.index].elements : 0);
    }
}

/* The same of an alltoall, of 2 elements a block; the leaders have h − 1 messages each. */
static void check_alltoall(const coll_grid_case *of)
{
    const coll_report whole = level_cost(of);
    coll_verify_count own[64];
    const coll_kit *kit = level_kit(0);
    const uint32_t nodes = coll_nodes_count(&kit->nodes), p = of->p;
    memcpy(own, whole.ranks, p * sizeof own[0]);
    for (uint32_t r = 0; r < p; r++) {
        const coll_node at = coll_node_of(&kit->nodes, p, r);
        const coll_verify_count outward = level_outward(r);
        const size_t outside = 2 * (size_t)at.ranks * (p - at.ranks);
        coll_verify_count sum;
        memset(&sum, 0, sizeof sum);
        if (nodes == 1 || coll_i_kit_flat(kit)) {
            CHECK_EQ(own[r].messages, p - 1);
            continue;
        }
        {
            coll_report report =
                apart(&coll_fnomial_gather, COLL_GATHER, at.ranks, 2 * (size_t)p, NULL);
            level_add(&sum, &report.ranks[at.local]);
            report = apart(&coll_fnomial_gather, COLL_SCATTER, at.ranks, 2 * (size_t)p, NULL);
            level_add(&sum, &report.ranks[at.local]);
        }
        CHECK_EQ(outward.messages, at.local == 0 ? nodes - 1 : 0);
        CHECK_EQ(outward.elements, at.local == 0 ? outside : 0);
        level_add(&sum, &outward);
        CHECK_EQ(own[r].messages, sum.messages);
        CHECK_EQ(own[r].elements, sum.elements);
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= 64; p += p < 16 ? 1 : 16)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
            coll_grid_case of = level_case(&coll_two_level_reduce_scatter_block.algorithm,
                                           COLL_REDUCE_SCATTER_BLOCK, p, 3, COLL_COMMUTATIVE);
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
