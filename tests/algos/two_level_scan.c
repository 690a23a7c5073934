/* tests/algos/two_level_scan.c — the laws of coll/algos/two_level_scan.h, and every algorithm in both
 * roles */
#include "levels.h"

static const coll_collective collectives[] = {COLL_SCAN, COLL_EXSCAN};

/* A level apart, by the usual algorithm. */
static coll_report apart(coll_role role, coll_collective it, uint32_t n, size_t count)
{
    const coll_recipe *recipe = &coll_two_level_scan;
    const coll_algorithm *algorithm = NULL;
    coll_problem problem;
    for (uint32_t i = recipe->n_usual; i-- > 0;)
        if (recipe->usual[i].role == role &&
            coll_is(recipe->usual[i].algorithm->collectives, it))
            algorithm = recipe->usual[i].algorithm;
    coll_problem_init(&problem, it, n, count, 8);
    problem.root = it == COLL_BCAST ? n - 1 : 0;
    problem.flags = COLL_COMMUTATIVE;
    return level_apart(algorithm, &problem);
}

/* (1), (2) and the costs. */
static void check_case(const coll_grid_case *of)
{
    const bool exclusive = of->collective == COLL_EXSCAN;
    const coll_report whole = level_cost(of);
    coll_verify_count own[64], across[64];
    const coll_kit *kit = level_kit(0);
    const uint32_t nodes = coll_nodes_count(&kit->nodes);
    const bool levels = nodes > 1 && !coll_i_kit_flat(kit);
    memcpy(own, whole.ranks, of->p * sizeof own[0]);
    {
        const coll_report report =
            apart(COLL_ACROSS, levels ? COLL_EXSCAN : of->collective, nodes, of->count);
        memcpy(across, report.ranks, nodes * sizeof across[0]);
    }
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(&kit->nodes, of->p, r);
        const bool last = at.local + 1 == at.ranks;
        const coll_verify_count outward = level_outward(r);
        coll_report report = apart(COLL_WITHIN, of->collective, at.ranks, of->count);
        coll_verify_count sum = report.ranks[at.local];
        if (levels && at.index > 0) {
            report = apart(COLL_WITHIN, COLL_BCAST, at.ranks, of->count);
            level_add(&sum, &report.ranks[at.local]);
            sum.reduced += exclusive && at.local == 0 ? 0 : of->count;
        }
        if (last && nodes > 1) {
            level_add(&sum, &across[at.index]);
            sum.reduced +=
                levels && exclusive && at.ranks > 1 && at.index + 1 < nodes ? of->count : 0;
            CHECK_EQ(outward.messages, across[at.index].messages);
            CHECK_EQ(outward.elements, across[at.index].elements);
        } else {
            CHECK_EQ(outward.messages, 0);
        }
        CHECK_EQ(own[r].messages, sum.messages);
        CHECK_EQ(own[r].elements, sum.elements);
        CHECK_EQ(own[r].reduced, sum.reduced);
    }
}

TEST(costs)
{
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t p = 1; p <= 64; p += p < 20 ? 1 : 11)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
                coll_grid_case of = level_case(&coll_two_level_scan.algorithm, collectives[row],
                                               p, 3, COLL_COMMUTATIVE);
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
