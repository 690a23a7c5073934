/* tests/algos/multi_leader_scan.c — the laws of coll/algos/multi_leader_scan.h, and every algorithm
 * in both roles */
#include "support/levels.h"

static const coll_collective collectives[] = {COLL_SCAN, COLL_EXSCAN};
enum { COUNT = 12, MOST = 3 };

static coll_grid_case case_of(uint32_t which, uint32_t p, uint32_t kind, uint32_t leaders)
{
    coll_grid_case of =
        level_case(&coll_multi_leader_scan.algorithm, collectives[which], p, COUNT, 0);
    of.nodes = level_nodes[kind];
    of.param[0] = leaders;
    of.param[1] = 1;
    return of;
}

/* (1) COUNT elements are l partitions of equal size. */
TEST(leaders_exscan_their_partitions)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t l = 1; l <= MOST; l++)
                for (uint32_t which = 0; which < 2; which++) {
                    const coll_grid_case of = case_of(which, p, kind, l);
                    const coll_nodes *nodes;
                    coll_fast_divisor leaders = coll_fast_divisor_of(l);
                    coll_verify_count expected[64];
                    uint32_t h;
                    (void)level_cost(&of);
                    nodes = &level_kit(0)->nodes;
                    h = coll_nodes_count(nodes);
                    if (h == 1 || coll_i_composite_flat(level_kit(0)))
                        continue;
                    memset(expected, 0, sizeof expected);
                    for (uint32_t j = 0; j < l; j++)
                        for (uint32_t i = 0; i < h; i++) {
                            const coll_node at = coll_node_at(nodes, p, i, 0);
                            const uint32_t r = at.first + coll_leader(at.ranks, j, &leaders);
                            const level_part *part;
                            coll_problem problem;
                            coll_problem_init(&problem, COLL_EXSCAN, h, COUNT / l, 8);
                            part = level_apart(&coll_recursive_doubling_exscan, &problem);
                            expected[r].messages += part->ranks[i].messages;
                            expected[r].elements += part->ranks[i].elements;
                        }
                    for (uint32_t r = 0; r < p; r++) {
                        CHECK_EQ(level_outward(r).messages, expected[r].messages);
                        CHECK_EQ(level_outward(r).elements, expected[r].elements);
                    }
                }
}

/* (2) */
TEST(the_ends_do_less)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
            const coll_grid_case of = case_of(0, p, kind, 2);
            const coll_nodes *nodes;
            uint32_t h;
            if (!CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                continue;
            nodes = &level_kit(0)->nodes;
            h = coll_nodes_count(nodes);
            if (h == 1 || coll_i_composite_flat(level_kit(0)))
                continue;
            for (uint32_t r = 0; r < p; r++) {
                const uint32_t index = coll_node_of(nodes, p, r).index;
                unsigned sums = 0, gathers = 0;
                for (uint32_t i = 0; i < level_kit(r)->sequence.n; i++) {
                    const coll_plan *plan = level_kit(r)->phases[i].plan;
                    sums += plan && plan->problem.collective == COLL_REDUCE_SCATTER;
                    gathers += plan && plan->problem.collective == COLL_ALLGATHERV;
                }
                CHECK_EQ(sums, index + 1 < h);
                CHECK_EQ(gathers, index > 0);
            }
        }
}

TEST(every_algorithm_in_both_roles)
{
    level_try_all(&coll_multi_leader_scan, COLL_SCAN);
    level_try_all(&coll_multi_leader_scan, COLL_EXSCAN);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(leaders_exscan_their_partitions);
    RUN(the_ends_do_less);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
