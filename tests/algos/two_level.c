/* tests/algos/two_level.c — the laws of coll/algos/two_level.h; every algorithm in both roles */
#include "support/levels.h"

static const coll_composite *const rows[] = {&coll_two_level_barrier, &coll_two_level_bcast,
                                             &coll_two_level_reduce, &coll_two_level_allreduce};
static const coll_collective collectives[] = {COLL_BARRIER, COLL_BCAST, COLL_REDUCE,
                                              COLL_ALLREDUCE};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The local rank that leads a node. */
static uint32_t leader_of(const coll_workspace *workspace, uint32_t root, uint32_t node)
{
    const coll_node at = coll_node_of(&workspace->nodes, workspace->p, root);
    return node == at.index ? at.local : 0;
}

static const level_part *apart(const coll_algorithm *algorithm, coll_collective collective,
                               uint32_t p, size_t count, uint32_t root, uint32_t flags)
{
    coll_problem problem;
    coll_problem_init(&problem, collective, p, count, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE | flags;
    problem.root = root;
    return level_apart(algorithm, &problem);
}

/* (1), (2) Messages to other nodes, and their elements. */
static void check_across(const coll_grid_case *of, const coll_algorithm *inner)
{
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const uint32_t root = coll_node_of(nodes, of->p, of->root).index;
    const level_part *inter = apart(inner, of->collective, n, of->count, root, 0);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        const bool leads = at.local == leader_of(level_kit(r), of->root, at.index);
        const coll_verify_count outward = level_outward(r);
        CHECK_EQ(outward.messages, leads ? inter->ranks[at.index].messages : 0);
        CHECK_EQ(outward.elements, leads ? inter->ranks[at.index].elements : 0);
    }
}

TEST(only_leaders_talk_across)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= CHECK_RANKS; p++)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
                for (uint32_t root = 0; root < p; root += p / 3 + 1) {
                    const coll_composite *composite = rows[row];
                    coll_grid_case of = level_case(&composite->algorithm, collectives[row], p,
                                                   row == 0 ? 0 : 7, COLL_FLAG_COMMUTATIVE);
                    of.nodes = level_nodes[kind];
                    of.root = coll_is(COLL_ROOTED, of.collective) ? root : 0;
                    if (CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                        check_across(&of,
                                     composite->defaults[composite->n_defaults - 1].algorithm);
                }
}

/* What a collective within a node costs its ranks, by the default algorithm. */
static void add_within(level_sum *sum, level_stage phase, const coll_algorithm *algorithm,
                       coll_collective it, const coll_grid_case *of, const coll_node *at)
{
    const uint32_t lead = leader_of(level_kit(0), of->root, at->index);
    const level_part *part =
        apart(algorithm, it, at->ranks, of->count, it == COLL_BARRIER ? 0 : lead, 0);
    for (uint32_t i = 0; i < at->ranks; i++)
        level_add(sum, phase, at->first + i, part, i);
}

static void check_costs(const coll_grid_case *of, const coll_composite *composite)
{
    const coll_report whole = level_cost(of);
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const uint32_t root = coll_node_of(nodes, of->p, of->root).index;
    const coll_algorithm *first = composite->defaults[0].algorithm;
    const coll_algorithm *last = composite->defaults[composite->n_defaults - 2].algorithm;
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    for (uint32_t i = 0; i < n; i++) {
        const coll_node at = coll_node_at(nodes, of->p, i, 0);
        if (of->collective == COLL_BARRIER)
            add_within(&sum, LEVEL_BEFORE, first, COLL_BARRIER, of, &at);
        if (of->collective == COLL_BARRIER && n > 1)
            add_within(&sum, LEVEL_AFTER, last, COLL_BARRIER, of, &at);
        if (coll_is(COLL_REDUCING, of->collective))
            add_within(&sum, LEVEL_BEFORE, first, COLL_REDUCE, of, &at);
        if (of->collective == COLL_BCAST || of->collective == COLL_ALLREDUCE)
            add_within(&sum, LEVEL_AFTER, last, COLL_BCAST, of, &at);
    }
    for (uint32_t i = 0; i < n; i++) {
        const coll_node at = coll_node_at(nodes, of->p, i, 0);
        const uint32_t lead = at.first + leader_of(level_kit(0), of->root, i);
        /* what a node has summed up is in its place */
        const uint32_t flags =
            coll_is(COLL_REDUCING, of->collective) && at.ranks > 1 ? COLL_FLAG_IN_PLACE : 0;
        level_add(&sum, LEVEL_ACROSS, lead,
                  apart(composite->defaults[composite->n_defaults - 1].algorithm,
                        of->collective, n, of->count, root, flags),
                  i);
    }
    level_check(&whole, &sum, of->p, level_even(of->p));
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        const bool leads = r == at.first + leader_of(level_kit(0), of->root, at.index);
        const bool holds = of->collective == COLL_ALLREDUCE ||
                           (of->collective == COLL_REDUCE && at.index != root);
        const size_t held = leads && holds && n > 1 && at.ranks > 1 ? of->count : 0;
        CHECK_EQ(coll_plan_scratch(level_plan(r), r), held + sum.ranks[r].scratch);
    }
}

TEST(costs)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= CHECK_RANKS; p++)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++) {
                coll_grid_case of = level_case(&rows[row]->algorithm, collectives[row], p,
                                               row == 0 ? 0 : 5, COLL_FLAG_COMMUTATIVE);
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
