/* tests/algos/prefix.c — the laws of coll/algos/prefix.h, and what a fat tree makes of them */
#include "coll/algos/prefix.h"

#include "support/fattree.h"
#include "support/missing.h"

static const coll_algorithm *const rows[] = {&coll_prefix_allgather, &coll_prefix_alltoall};
static const coll_collective solved[] = {COLL_ALLGATHER, COLL_ALLTOALL};

/* ---- which node, which partner ----------------------------------------------------------- */

static void check_machine(const missing *it)
{
    coll_group group;
    coll_i_machine machine;
    coll_group_table(&group, it->table, NULL);
    machine.group = &group;
    machine.p = it->p;
    machine.nodes = it->nodes;
    CHECK(coll_group_ascends(&group, it->p, it->nodes));
    for (uint32_t node = 0, rank = 0; node <= it->nodes; node++) {
        const bool here = rank < it->p && it->table[rank] == node;
        CHECK_EQ(coll_i_machine_below(&machine, node), rank);
        CHECK_EQ(coll_i_machine_rank(&machine, node), here ? rank : COLL_RANK_NONE);
        rank += here ? 1 : 0;
    }
}

TEST(ranks_on_nodes)
{
    missing_all(10, check_machine);
    missing_random(CHECK_RANKS, 400, check_machine);
}

TEST(affine_groups)
{
    for (uint32_t base = 0; base <= 5; base++)
        for (uint32_t stride = 1; stride <= 4; stride++)
            for (uint32_t p = 1; p <= 20; p++) {
                coll_group group;
                coll_i_machine machine;
                coll_group_affine(&group, base, stride);
                machine.group = &group;
                machine.p = p;
                for (uint32_t more = 0; more <= 3; more++) {
                    machine.nodes = base + (p - 1) * stride + 1 + more;
                    CHECK(coll_group_ascends(&group, p, machine.nodes));
                    for (uint32_t node = 0; node <= machine.nodes; node++) {
                        const bool here = node >= base && (node - base) % stride == 0 &&
                                          (node - base) / stride < p;
                        CHECK_EQ(coll_i_machine_rank(&machine, node),
                                 here ? (node - base) / stride : COLL_RANK_NONE);
                    }
                }
                CHECK(!coll_group_ascends(&group, p, base + (p - 1) * stride));
            }
}

/* Laws 1 to 3, of a plan whose rank r is on node table[r]. */
static void check_laws(const coll_plan *plan, const uint32_t *table)
{
    const uint32_t p = plan->problem.p;
    if (p > 1)
        check_step_by_step(plan);
    for (uint32_t rank = 0; rank < p; rank++) {
        const walk *w = walk_of(plan, rank);
        uint64_t to = 0, from = 0;
        for (size_t i = 0; i < w->n; i++) {
            if (!is_send(&w->act[i]) && !is_receive(&w->act[i]))
                continue;
            CHECK_EQ(table[w->act[i].peer], table[rank] ^ (w->step[i] + 1));
            *(is_send(&w->act[i]) ? &to : &from) |= (uint64_t)1 << w->act[i].peer;
            if (is_send(&w->act[i]) && plan->problem.collective == COLL_ALLGATHER)
                CHECK_EQ(w->act[i].src, coll_in_place(plan)
                                            ? COLL_AT(COLL_OUT, rank * plan->problem.count)
                                            : COLL_AT(COLL_IN, 0));
        }
        CHECK_EQ(to, (UINT64_MAX >> (64 - p)) & ~((uint64_t)1 << rank));
        CHECK_EQ(from, to);
    }
}

TEST(stages_are_prefix_permutations)
{
    uint32_t numbers[64];
    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned row = 0; row < 2; row++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = plan_of(rows[row], solved[row], p, 2, flags);
                check_laws(&plan, numbers);
            }
}

/* ---- missing nodes ----------------------------------------------------------------------- */

static void check_missing(const missing *it)
{
    for (unsigned row = 0; row < 2; row++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan =
                missing_plan(rows[row], solved[row], it, 2, flags, &it->nodes);
            check_laws(&plan, it->table);
            cost_of(&plan);
        }
}

TEST(missing_nodes)
{
    missing_all(8, check_missing);
    missing_random(CHECK_RANKS, 60, check_missing);
}

static void prove(const missing *it)
{
    for (unsigned row = 0; row < 2; row++) {
        const coll_plan plan = missing_plan(rows[row], solved[row], it, 1, 0, &it->nodes);
        cost_of(&plan);
    }
}

TEST(nodes_missing_in_large_machines)
{
    missing_large(prove);
}

TEST(groups_that_do_not_fit)
{
    static const uint32_t up[4] = {1, 2, 5, 7}, down[4] = {7, 5, 2, 1}, twice[4] = {1, 2, 2, 5};
    const uint32_t eight = 8, three = 3;
    coll_problem problem;
    coll_plan plan;
    coll_group group;
    coll_problem_init(&problem, COLL_ALLGATHER, 4, 1, 8);
    for (unsigned row = 0; row < 2; row++) {
        problem.collective = solved[row];
        CHECK_STATUS(coll_plan_init(&plan, rows[row], &problem, &three), COLL_ERR_GROUP);
        plan = plan_with(rows[row], solved[row], 4, 1, 0, 0, &eight);
        coll_group_table(&group, down, NULL);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_ERR_GROUP);
        coll_group_table(&group, twice, NULL);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_ERR_GROUP);
        coll_group_affine(&group, 2, 2);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_ERR_GROUP); /* … 8 */
        coll_group_affine(&group, 1, 2);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
        coll_group_table(&group, up, NULL);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
        plan = plan_of(rows[row], solved[row], 4, 1, 0); /* the nodes do not matter */
        coll_group_table(&group, down, NULL);
        CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
        cost_of(&plan);
    }
}

/* ---- fat trees --------------------------------------------------------------------------- */

/* A stage in which node x sends to to(x, by); do all messages have their links to themselves? */
static bool is_free(fattree *tree, uint32_t (*to)(const fattree *tree, uint32_t x, uint32_t by),
                    uint32_t by)
{
    bool free = true;
    fattree_clear(tree);
    for (uint32_t x = 0; x < tree->nodes; x++)
        free = fattree_send(tree, x, to(tree, x, by)) && free;
    return free;
}

static uint32_t prefix(const fattree *tree, uint32_t x, uint32_t by)
{
    (void)tree;
    return x ^ by;
}

static uint32_t shift(const fattree *tree, uint32_t x, uint32_t by)
{
    return (x + by) % tree->nodes;
}

/* A shift by 21 among the nodes below `by`; the others stay. */
static uint32_t partial_shift(const fattree *tree, uint32_t x, uint32_t by)
{
    (void)tree;
    return x < by ? (x + 21) % by : x;
}

/* The digits in reverse: all nodes of a subtree of level 1 send to nodes of the same low digits,
 * which one subtree after the other takes in. */
static uint32_t reversal(const fattree *tree, uint32_t x, uint32_t by)
{
    uint32_t y = 0;
    (void)by;
    for (uint32_t l = 0; l < tree->levels; l++, x /= tree->k)
        y = y * tree->k + x % tree->k;
    return y;
}

/* Law 4, on whole trees; on parts of them below. Shifts keep apart for any k. */
TEST(whole_permutations_share_no_link)
{
    static const uint32_t shapes[][2] = {{2, 3}, {2, 6}, {4, 1}, {4, 2}, {4, 3},
                                         {4, 4}, {8, 2}, {3, 4}, {5, 3}, {6, 2}};
    static fattree tree;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned route = FATTREE_BY_SOURCE; route <= FATTREE_BY_DESTINATION; route++) {
            fattree_init(&tree, shapes[i][0], shapes[i][1], (fattree_route)route);
            for (uint32_t by = 1; by < tree.nodes; by++) {
                CHECK(is_free(&tree, shift, by));
                if ((tree.k & (tree.k - 1)) == 0)
                    CHECK(is_free(&tree, prefix, by));
            }
        }
}

/* The check can say no. */
TEST(other_permutations_share_links)
{
    static fattree tree;
    for (unsigned route = FATTREE_BY_SOURCE; route <= FATTREE_BY_DESTINATION; route++) {
        fattree_init(&tree, 4, 3, (fattree_route)route);
        CHECK(!is_free(&tree, reversal, 0));
        CHECK(is_free(&tree, partial_shift, 64));
        CHECK(is_free(&tree, partial_shift, 48)); /* whole subtrees */
        CHECK(!is_free(&tree, partial_shift, 61));
        CHECK(!is_free(&tree, partial_shift, 63));
        fattree_init(&tree, 3, 4, (fattree_route)route); /* XOR mixes digits of base 3 */
        {
            uint32_t bad = 0;
            for (uint32_t by = 1; by < 64; by++) {
                bool free = true;
                fattree_clear(&tree);
                for (uint32_t x = 0; x < tree.nodes; x++)
                    if ((x ^ by) < tree.nodes)
                        free = fattree_send(&tree, x, x ^ by) && free;
                bad += free ? 0 : 1;
            }
            CHECK(bad > 32);
        }
    }
}

static void check_links(const missing *it)
{
    static fattree tree;
    for (unsigned route = FATTREE_BY_SOURCE; route <= FATTREE_BY_DESTINATION; route++)
        for (unsigned row = 0; row < 2; row++) {
            const coll_plan plan = missing_plan(rows[row], solved[row], it, 1, 0, &it->nodes);
            const size_t steps = coll_plan_steps(&plan, 0);
            fattree_init(&tree, 4, 3, (fattree_route)route);
            for (size_t s = 0; s < steps; s++) {
                fattree_clear(&tree);
                for (uint32_t rank = 0; rank < it->p; rank++) {
                    coll_action act[COLL_STEP_MAX];
                    const unsigned n = coll_plan_step(&plan, rank, s, act);
                    for (unsigned i = 0; i < n; i++)
                        if (is_send(&act[i]))
                            CHECK(fattree_send(&tree, it->table[rank], it->table[act[i].peer]));
                }
            }
        }
}

TEST(stages_share_no_link_whatever_is_missing)
{
    missing_all(6, check_links);
    missing_random(CHECK_RANKS, 100, check_links);
}

/* ---- cost -------------------------------------------------------------------------------- */

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned row = 0; row < 2; row++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = plan_of(rows[row], solved[row], p, 3, flags);
                const coll_report cost = cost_of(&plan);
                uint32_t stages = 1;
                while (stages < p)
                    stages *= 2;
                stages--;
                CHECK_EQ(coll_plan_steps(&plan, 0), stages + (p == 1 && !flags ? 1 : 0));
                CHECK_EQ(cost.rounds, p >= stages           ? stages
                                      : 2 * p == stages + 3 ? p
                                                            : stages - 1);
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].messages, p - 1);
                    CHECK_EQ(cost.ranks[rank].elements, 3 * (p - 1));
                    CHECK_EQ(cost.ranks[rank].copied, flags ? (row ? 3 * (p - 1) : 0) : 3);
                    CHECK_EQ(coll_plan_scratch(&plan, rank), row && flags ? 6 : 0);
                }
            }
}

int main(void)
{
    RUN(ranks_on_nodes);
    RUN(affine_groups);
    RUN(stages_are_prefix_permutations);
    RUN(missing_nodes);
    RUN(nodes_missing_in_large_machines);
    RUN(groups_that_do_not_fit);
    RUN(whole_permutations_share_no_link);
    RUN(other_permutations_share_links);
    RUN(stages_share_no_link_whatever_is_missing);
    RUN(costs);
    return check_done();
}
