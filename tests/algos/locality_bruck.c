/* tests/algos/locality_bruck.c — the laws of coll/algos/locality_bruck.h */
#include "support/levels.h"

enum { COUNT = 2 }; /* elements of a block */

static const uint32_t radices[] = {0, 2, 3, 4, 9};
enum { RADICES = sizeof radices / sizeof radices[0] };

/* The plans of a case, proven. */
static void prove_locality(uint32_t p, uint32_t kind, uint32_t radix, bool v)
{
    coll_grid_case of = level_case(&coll_locality_bruck_allgather,
                                   v ? COLL_ALLGATHERV : COLL_ALLGATHER, p, COUNT, 0);
    of.nodes = level_nodes[kind];
    of.layout = v ? COLL_GRID_UNEVEN : COLL_GRID_PLAIN;
    of.param[0] = radices[radix];
    (void)level_cost(&of);
}

static uint32_t node_of(const coll_plan *plan, uint32_t rank)
{
    return coll_node_of(&plan->problem.nodes, plan->problem.p, rank).index;
}

/* (1) */
TEST(ranks_share_the_digits)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t radix = 0; radix < RADICES; radix++) {
                prove_locality(p, kind, radix, false);
                for (uint32_t r = 0; r < p; r++) {
                    const coll_plan *plan = level_plan(r);
                    const uint32_t h = coll_nodes_count(&plan->problem.nodes);
                    const uint32_t m = coll_node_of(&plan->problem.nodes, p, r).ranks;
                    const uint32_t least = coll_nodes_smallest(&plan->problem.nodes, p);
                    const uint32_t k = radices[radix] > 1 ? radices[radix] : least + 1;
                    const uint32_t digits = (k - 1 + m - 1) / m;
                    const walk *w = walk_of(plan, r);
                    uint32_t rounds = 0, messages = 0;
                    for (uint64_t n = 1; n < h; n *= k)
                        rounds++;
                    for (size_t i = 0; i < w->n; i++)
                        messages += is_send(&w->act[i]) && w->act[i].count > 0 &&
                                    node_of(plan, w->act[i].peer) != node_of(plan, r);
                    CHECK(messages <= 2 * digits * rounds);
                    if (radices[radix] < 2)
                        CHECK_EQ(digits, 1);
                }
            }
}

/* (2) */
TEST(every_block_comes_to_a_node_once)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t radix = 0; radix < RADICES; radix++) {
                unsigned times[64][64] = {{0}}; /* of a node, of a block */
                prove_locality(p, kind, radix, false);
                for (uint32_t r = 0; r < p; r++) {
                    const walk *w = walk_of(level_plan(r), r);
                    const uint32_t node = node_of(level_plan(r), r);
                    for (size_t i = 0; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        const size_t first = coll_ref_offset(a->dst) / COUNT;
                        if (!is_receive(a) || node_of(level_plan(r), a->peer) == node)
                            continue;
                        for (size_t b = 0; b < a->count / COUNT; b++)
                            times[node][first + b]++;
                    }
                }
                for (uint32_t r = 0; r < p; r++)
                    for (uint32_t b = 0; b < p; b++)
                        CHECK_EQ(times[node_of(level_plan(r), r)][b],
                                 node_of(level_plan(r), b) != node_of(level_plan(r), r));
            }
}

TEST(blocks_of_any_size)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            prove_locality(p, kind, (p + kind) % RADICES, true);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(ranks_share_the_digits);
    RUN(every_block_comes_to_a_node_once);
    RUN(blocks_of_any_size);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
