/* tests/algos/multi_leader_alltoall.c — the laws of coll/algos/multi_leader_alltoall.h, and every
 * algorithm in both roles */
#include "support/levels.h"

enum { COUNT = 2, MOST = 5 };

static coll_grid_case case_of(uint32_t p, uint32_t kind, uint32_t leaders)
{
    coll_grid_case of =
        level_case(&coll_multi_leader_alltoall.algorithm, COLL_ALLTOALL, p, COUNT, 0);
    of.nodes = level_nodes[kind];
    of.param[0] = leaders;
    return of;
}

/* How many leaders a node has, of the case that was made last. */
static uint32_t leaders_of(uint32_t p, uint32_t leaders)
{
    const uint32_t least = coll_nodes_smallest(&level_kit(0)->nodes, p);
    return leaders < least ? leaders : least;
}

/* The run of a local rank on a node of m ranks: where it begins, and its ranks. */
static uint32_t run_of(uint32_t m, uint32_t l, uint32_t local, uint32_t *begin, uint32_t *ranks)
{
    const uint32_t at = local / (m / l), j = at < l ? at : l - 1;
    *begin = j * (m / l);
    *ranks = j + 1 < l ? m / l : m - *begin;
    return j;
}

/* Ranks of all runs of a number. */
static uint32_t ranks_of(const coll_nodes *nodes, uint32_t p, uint32_t l, uint32_t j)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < coll_nodes_count(nodes); i++) {
        const uint32_t m = coll_node_at(nodes, p, i, 0).ranks;
        uint32_t begin, ranks;
        (void)run_of(m, l, j * (m / l), &begin, &ranks);
        sum += ranks;
    }
    return sum;
}

/* (1) */
TEST(sorting_moves_every_element_once)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t leaders = 2; leaders <= MOST; leaders++) {
                const coll_grid_case of = case_of(p, kind, leaders);
                uint32_t l;
                if (!CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                    continue;
                l = leaders_of(p, leaders);
                for (uint32_t r = 0; r < p && l > 1; r++) {
                    const coll_workspace *workspace = level_kit(r);
                    const uint32_t m = workspace->at.ranks;
                    uint32_t begin, s, j = run_of(m, l, workspace->at.local, &begin, &s);
                    for (uint32_t i = 0; i < workspace->sequence.n; i++) {
                        const coll_plan *plan = workspace->phases[i].plan;
                        const bool by_rank = strcmp(plan->algorithm->name, "sort by rank") == 0;
                        if (strncmp(plan->algorithm->name, "sort", 4) == 0)
                            level_check_sorting(
                                plan, COUNT * (by_rank ? (size_t)m * ranks_of(&workspace->nodes,
                                                                              p, l, j)
                                                       : (size_t)s * p));
                    }
                }
            }
}

/* Gather and scatter of a run, at one of its ranks. */
static void add_run(level_sum *sum, uint32_t rank, uint32_t number, uint32_t ranks, uint32_t p)
{
    for (unsigned scatters = 0; scatters < 2; scatters++) {
        coll_problem problem;
        coll_problem_init(&problem, scatters ? COLL_SCATTER : COLL_GATHER, ranks, COUNT * p, 8);
        level_add(sum, scatters ? LEVEL_AFTER : LEVEL_BEFORE, rank,
                  level_apart(&coll_fnomial_gather, &problem), number);
    }
}

/* (2), and what all levels cost. */
TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t leaders = 2; leaders <= MOST; leaders++) {
                const coll_grid_case of = case_of(p, kind, leaders);
                const coll_report whole = level_cost(&of);
                const coll_nodes *nodes = &level_kit(0)->nodes;
                const uint32_t h = coll_nodes_count(nodes), l = leaders_of(p, leaders);
                level_sum sum;
                if (l == 1 || h == 1)
                    continue;
                memset(&sum, 0, sizeof sum);
                sum.rounds[LEVEL_ACROSS] = h - 1 + coll_nodes_largest(nodes, p) - 1;
                for (uint32_t r = 0; r < p; r++) {
                    const coll_node at = coll_node_of(nodes, p, r);
                    const coll_verify_count outward = level_outward(r);
                    uint32_t begin, s, n;
                    n = ranks_of(nodes, p, l, run_of(at.ranks, l, at.local, &begin, &s));
                    add_run(&sum, r, at.local - begin, s, p);
                    if (at.local != begin) {
                        CHECK_EQ(outward.messages, 0);
                        continue;
                    }
                    CHECK_EQ(outward.messages, h - 1);
                    CHECK_EQ(outward.elements, COUNT * s * (p - at.ranks));
                    sum.ranks[r].messages += h - 1 + l - 1;
                    sum.ranks[r].elements += COUNT * s * (p - at.ranks);
                    sum.ranks[r].elements += COUNT * n * (at.ranks - s);
                }
                level_check(&whole, &sum, p, false);
            }
}

/* As many leaders as the smallest node has ranks: nobody gathers. */
TEST(full_lane)
{
    uint32_t params[COLL_PARAM_MAX];
    CHECK(coll_resolve(COLL_ALLTOALL, "full_lane", params) ==
          coll_find(COLL_ALLTOALL, "multi_leader"));
    for (uint32_t p = 4; p <= CHECK_RANKS; p += 4) {
        coll_grid_case of = case_of(p, 4, params[0]);
        CHECK_EQ(of.nodes, 4);
        (void)level_cost(&of);
        for (uint32_t r = 0; r < p; r++)
            CHECK_EQ(level_outward(r).messages, p / 4 - 1);
    }
}

TEST(every_algorithm_in_both_roles)
{
    level_try_all(&coll_multi_leader_alltoall, COLL_ALLTOALL);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(sorting_moves_every_element_once);
    RUN(costs);
    RUN(full_lane);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
