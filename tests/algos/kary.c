/* tests/algos/kary.c — the laws of coll/algos/kary.h */
#include "coll/algos/kary.h"

#include "support/trees.h"

static const uint32_t degrees[] = {2, 3, 4, 7, 64, 1000};
enum { DEGREES = sizeof degrees / sizeof *degrees };

/* Law 1, the definition: of the tree of `ranks` ranks from `first` on. */
static void define(uint32_t *parent, uint32_t k, uint32_t first, uint32_t ranks)
{
    uint32_t child = first + 1, left = ranks - 1;
    for (uint32_t i = 0; i < k && left > 0; i++) {
        const uint32_t part = (left + k - i - 1) / (k - i); /* ⌈left / parts⌉ */
        parent[child] = first;
        define(parent, k, child, part);
        child += part;
        left -= part;
    }
    CHECK_EQ(left, 0);
}

static tree defined(uint32_t p, uint32_t k)
{
    tree t = tree_of(&coll_kary_bcast, &coll_kary_reduce, &coll_kary_allreduce, p, k, 0);
    define(t.parent, k, 0, p);
    tree_complete(&t);
    return t;
}

TEST(subtrees_are_equal_runs_of_ranks)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const tree t = defined(p, degrees[d]);
            for (uint32_t root = 0; root < p; root += 1 + p / 3)
                check_tree_messages(&t, root);
        }
}

/* Law 2. */
TEST(no_tree_of_this_degree_is_less_deep)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const tree t = defined(p, degrees[d]);
            uint64_t ranks = 1, level = 1; /* of a full tree, and of its last level */
            uint32_t height = 0;
            for (; ranks < p; height++) {
                level *= degrees[d];
                ranks += level;
            }
            CHECK_EQ(t.height, height);
            CHECK_EQ(t.children[0], degrees[d] < p - 1 ? degrees[d] : p - 1);
            for (uint32_t v = 1; v < p; v++)
                CHECK(t.children[v] <= t.children[0]);
        }
}

/* Law 3: of two sends of a rank for one segment, the first goes to no smaller subtree. */
static void check_order(const coll_algorithm *algorithm, uint32_t p, uint32_t k, size_t count)
{
    const uint32_t params[COLL_PARAM_MAX] = {k, count > 1 ? 1u : 0u};
    const tree t = defined(p, k);
    coll_problem problem;
    coll_plan plan;
    uint32_t ranks[WALK_RANKS];
    for (uint32_t v = p; v-- > 0;) {
        ranks[v] = 1;
        for (uint32_t c = v + 1; c < p; c++)
            ranks[v] += t.parent[c] == v ? ranks[c] : 0;
    }
    coll_problem_init(&problem, algorithm == &coll_kary_bcast ? COLL_BCAST : COLL_ALLREDUCE, p,
                      count, 8);
    CHECK_STATUS(coll_plan_init(&plan, algorithm, &problem, params), COLL_OK);
    for (uint32_t v = 0; v < p; v++) {
        uint32_t last = 0, sent = 0;
        for (size_t s = 0; s < coll_plan_steps(&plan, v); s++) {
            coll_action acts[COLL_STEP_MAX];
            const unsigned n = coll_plan_step(&plan, v, s, acts);
            for (unsigned i = 0; i < n; i++) {
                if (acts[i].kind != COLL_DO_SEND || (v > 0 && acts[i].peer == t.parent[v]))
                    continue;
                CHECK(sent % t.children[v] == 0 || ranks[acts[i].peer] <= ranks[last]);
                last = acts[i].peer;
                sent++;
            }
        }
        CHECK_EQ(sent, t.children[v] * count);
    }
}

TEST(larger_subtrees_are_served_first)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            check_order(&coll_kary_bcast, p, degrees[d], 1);
            check_order(&coll_kary_bcast, p, degrees[d], 3);
            check_order(&coll_kary_allreduce, p, degrees[d], 3);
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const tree t = defined(p, degrees[d]);
            check_tree_all_costs(&t);
            check_tree_barrier(&t, &coll_kary_barrier);
        }
}

int main(void)
{
    RUN(subtrees_are_equal_runs_of_ranks);
    RUN(no_tree_of_this_degree_is_less_deep);
    RUN(larger_subtrees_are_served_first);
    RUN(costs);
    return check_done();
}
