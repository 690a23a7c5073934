/* tests/algos/two_level.c — the laws of coll/algos/two_level.h; every algorithm in both roles */
#include "levels.h"

static const coll_recipe *const rows[] = {&coll_two_level_barrier, &coll_two_level_bcast,
                                          &coll_two_level_reduce, &coll_two_level_allreduce};
static const coll_collective collectives[] = {COLL_BARRIER, COLL_BCAST, COLL_REDUCE,
                                              COLL_ALLREDUCE};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The local rank that leads a node. */
static uint32_t leader_of(const coll_kit *kit, uint32_t root, uint32_t node)
{
    const coll_node at = coll_node_of(&kit->nodes, kit->p, root);
    return node == at.index ? at.local : 0;
}

static coll_report plain_cost(const coll_algorithm *algorithm, coll_collective collective,
                              uint32_t p, size_t count, uint32_t flags, uint32_t root)
{
    const coll_plan plan = plan_with(algorithm, collective, p, count, flags, root, NULL);
    return cost_of(&plan);
}

/* (1), (2) Messages to other nodes, and their elements. */
static void check_across(const coll_grid_case *of, const coll_algorithm *inner)
{
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const uint32_t root = coll_node_of(nodes, of->p, of->root).index;
    const coll_report across = plain_cost(inner, of->collective, n, of->count, of->flags, root);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        const bool leads = at.local == leader_of(level_kit(r), of->root, at.index);
        const coll_verify_count outward = level_outward(r);
        CHECK_EQ(outward.messages, leads ? across.ranks[at.index].messages : 0);
        CHECK_EQ(outward.elements, leads ? across.ranks[at.index].elements : 0);
    }
}

TEST(only_leaders_talk_across)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= 64; p += p < 20 ? 1 : 4)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
                for (uint32_t root = 0; root < p; root += p / 3 + 1) {
                    const coll_recipe *recipe = rows[row];
                    coll_grid_case of = level_case(&recipe->algorithm, collectives[row], p,
                                                   row == 0 ? 0 : 7, COLL_COMMUTATIVE);
                    of.nodes = level_nodes[kind];
                    of.root = coll_is(COLL_ROOTED, of.collective) ? root : 0;
                    if (CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                        check_across(&of, recipe->usual[recipe->n_usual - 1].algorithm);
                }
}

/* What a rank's inner collectives within its node cost, by the usual algorithms. */
static void add_within(const coll_grid_case *of, const coll_recipe *recipe, uint32_t node,
                       uint32_t ranks, uint32_t local, coll_verify_count *sum)
{
    const uint32_t root = leader_of(level_kit(0), of->root, node);
    const uint32_t times =
        of->collective == COLL_BARRIER && coll_nodes_count(&level_kit(0)->nodes) > 1 ? 2 : 1;
    for (uint32_t i = 0; i + 1 < recipe->n_usual; i++) {
        const coll_algorithm *algorithm = recipe->usual[i].algorithm;
        const coll_collective it = of->collective == COLL_ALLREDUCE
                                       ? (i == 0 ? COLL_REDUCE : COLL_BCAST)
                                       : of->collective;
        const coll_report report = plain_cost(algorithm, it, ranks, of->count, COLL_COMMUTATIVE,
                                              it == COLL_BARRIER ? 0 : root);
        sum->messages += times * report.ranks[local].messages;
        sum->elements += report.ranks[local].elements;
        sum->reduced += report.ranks[local].reduced;
    }
}

static void check_costs(const coll_grid_case *of, const coll_recipe *recipe)
{
    const coll_report report = level_cost(of);
    const coll_algorithm *inner = recipe->usual[recipe->n_usual - 1].algorithm;
    coll_verify_count own[64];
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const uint32_t root = coll_node_of(nodes, of->p, of->root).index;
    memcpy(own, report.ranks, of->p * sizeof own[0]);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        coll_verify_count sum;
        memset(&sum, 0, sizeof sum);
        add_within(of, recipe, at.index, at.ranks, at.local, &sum);
        if (at.local == leader_of(level_kit(r), of->root, at.index)) {
            const coll_report across =
                plain_cost(inner, of->collective, n, of->count, COLL_COMMUTATIVE, root);
            sum.messages += across.ranks[at.index].messages;
            sum.elements += across.ranks[at.index].elements;
            sum.reduced += across.ranks[at.index].reduced;
        }
        CHECK_EQ(own[r].messages, sum.messages);
        CHECK_EQ(own[r].elements, sum.elements);
        CHECK_EQ(own[r].reduced, sum.reduced);
    }
}

TEST(costs)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= 64; p += p < 20 ? 1 : 11)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
                coll_grid_case of = level_case(&rows[row]->algorithm, collectives[row], p,
                                               row == 0 ? 0 : 5, COLL_COMMUTATIVE);
                of.nodes = level_nodes[kind];
                of.root = coll_is(COLL_ROOTED, of.collective) ? p / 2 : 0;
                check_costs(&of, rows[row]);
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
    RUN(only_leaders_talk_across);
    RUN(costs);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
