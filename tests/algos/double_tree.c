/* tests/algos/double_tree.c — the laws of coll/algos/double_tree.h */
#include "coll/algos/double_tree.h"

#include "support/timed.h"

enum { COUNT = 13 }; /* elements: 7 and 6 */

static coll_plan plan_on(coll_collective collective, uint32_t p, size_t count, uint32_t flags,
                         uint32_t root, uint32_t segment)
{
    const coll_algorithm *algorithm = collective == COLL_BCAST    ? &coll_double_tree_bcast
                                      : collective == COLL_REDUCE ? &coll_double_tree_reduce
                                                                  : &coll_double_tree_allreduce;
    return plan_with(algorithm, collective, p, count, flags, root, &segment);
}

static coll_i_double_place place_of(uint32_t p, uint32_t which, uint32_t v)
{
    coll_i_double_place place;
    coll_i_double_place_of(p, which, v, &place);
    return place;
}

static uint32_t children_of(const coll_i_double_place *place)
{
    return (place->left != COLL_RANK_NONE) + (uint32_t)(place->right != COLL_RANK_NONE);
}

/* Law 1. */
TEST(everyone_is_a_leaf)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t v = 0; v < p; v++) {
            const coll_i_double_place a = place_of(p, 0, v), b = place_of(p, 1, v);
            if (v == 0) {
                CHECK(a.parent == COLL_RANK_NONE && b.parent == COLL_RANK_NONE);
                CHECK(a.left == COLL_RANK_NONE && b.left == COLL_RANK_NONE);
                CHECK_EQ(children_of(&a), p > 1);
                CHECK_EQ(children_of(&b), p > 1);
            } else {
                CHECK(a.parent < p && b.parent < p);
                CHECK_EQ(children_of(v % 2 ? &a : &b), 0);
            }
        }
}

/* Law 2: a run of numbers that ends before `end`; where it begins. */
static uint32_t run_of(uint32_t p, uint32_t which, uint32_t v, uint32_t *end, uint32_t depth)
{
    const coll_i_double_place at = place_of(p, which, v);
    uint32_t first = v, inner;
    CHECK_EQ(at.depth, depth);
    *end = v + 1;
    if (at.left != COLL_RANK_NONE) {
        CHECK_EQ(place_of(p, which, at.left).parent, v);
        first = run_of(p, which, at.left, &inner, depth + 1);
        CHECK_EQ(inner, v);
    }
    if (at.right != COLL_RANK_NONE) {
        CHECK_EQ(place_of(p, which, at.right).parent, v);
        CHECK_EQ(run_of(p, which, at.right, end, depth + 1), v + 1);
    }
    return first;
}

TEST(subtrees_are_runs_around_their_roots)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t which = 0; which < 2; which++) {
            uint32_t end;
            CHECK_EQ(run_of(p, which, 0, &end, 0), 0);
            CHECK_EQ(end, p);
        }
}

static uint32_t height_of(uint32_t p)
{
    uint32_t height = 0;
    for (uint32_t v = 0; v < p; v++)
        for (uint32_t which = 0; which < 2; which++)
            if (height < place_of(p, which, v).depth)
                height = place_of(p, which, v).depth;
    return height;
}

/* Law 3. */
TEST(trees_are_shallow)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        CHECK_EQ(height_of(p), p == 2 ? 1 : COLL_HIGHEST_BIT(p) + 1);
}

/* Law 4. */
TEST(both_trees_stream)
{
    enum { SEGMENTS = 40 };
    for (uint32_t p = 3; p <= TIMED_RANKS; p++) {
        const size_t count = 2 * SEGMENTS;
        const coll_plan down = plan_on(COLL_BCAST, p, count, 0, 0, 1);
        const coll_plan up = plan_on(COLL_REDUCE, p, count, 0, 0, 1);
        const coll_plan both = plan_on(COLL_ALLREDUCE, p, count, 0, 0, 1);
        const size_t height = height_of(p), deep = 2 * height + SEGMENTS - 1;
        const size_t shared = 2 * SEGMENTS + height;
        CHECK_EQ(time_of(&down), height + SEGMENTS - 1);
        CHECK_EQ(time_of(&up), height + SEGMENTS - 1);
        CHECK(time_of(&both) <= (deep > shared ? deep : shared));
    }
}

TEST(costs)
{
    static const uint32_t segments[] = {0, 1, 3, 6, 7, 20};
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t k = 0; k < sizeof segments / sizeof *segments; k++)
            for (uint32_t flags = 0; flags < 4; flags++) {
                const uint32_t segment = segments[k], root = p / 3, height = height_of(p);
                const size_t half[2] = {COUNT - COUNT / 2, COUNT / 2};
                const size_t s[2] = {coll_segments(half[0], segment),
                                     coll_segments(half[1], segment)};
                const size_t staging = s[0] > 1 ? segment : half[0];
                const bool detour = !(flags & COLL_FLAG_COMMUTATIVE) && root != 0;
                const bool one = s[0] == 1;
                coll_plan plan = plan_on(COLL_BCAST, p, COUNT, flags, root, segment);
                coll_report cost = cost_of(&plan);
                if (one)
                    CHECK_EQ(cost.rounds, height);
                CHECK_EQ(cost.total.scratch, 0);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t v = (rank + p - root) % p;
                    const coll_i_double_place a = place_of(p, 0, v), b = place_of(p, 1, v);
                    const size_t m = children_of(&a), n = children_of(&b);
                    CHECK_EQ(cost.ranks[rank].messages, m * s[0] + n * s[1]);
                    CHECK_EQ(cost.ranks[rank].elements, m * half[0] + n * half[1]);
                }
                if (p > 1)
                    CHECK_EQ(cost.most.elements, p > 3 ? 2 * half[0] : COUNT);
                plan = plan_on(COLL_REDUCE, p, COUNT, flags, root, segment);
                cost = cost_of(&plan);
                if (one)
                    CHECK_EQ(cost.rounds, height + (detour ? 1 : 0));
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t v = (rank + p - (detour ? 0 : root)) % p;
                    const coll_i_double_place a = place_of(p, 0, v), b = place_of(p, 1, v);
                    const size_t m = children_of(&a), n = children_of(&b);
                    const bool sends = v != 0 || detour;
                    CHECK_EQ(cost.ranks[rank].messages, sends ? s[0] + s[1] : 0);
                    CHECK_EQ(cost.ranks[rank].elements, sends ? COUNT : 0);
                    CHECK_EQ(cost.ranks[rank].reduced, m * half[0] + n * half[1]);
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             m + n == 0
                                 ? 0
                                 : (rank == root && !detour ? 0 : COUNT) + (m + n) * staging);
                }
                plan = plan_on(COLL_ALLREDUCE, p, COUNT, flags, 0, segment);
                cost = cost_of(&plan);
                if (one)
                    CHECK_EQ(cost.rounds, 2 * height);
                for (uint32_t v = 0; v < p; v++) {
                    const coll_i_double_place a = place_of(p, 0, v), b = place_of(p, 1, v);
                    const size_t m = children_of(&a), n = children_of(&b), up = v != 0;
                    CHECK_EQ(cost.ranks[v].messages, (m + up) * s[0] + (n + up) * s[1]);
                    CHECK_EQ(cost.ranks[v].elements, (m + up) * half[0] + (n + up) * half[1]);
                    CHECK_EQ(cost.ranks[v].reduced, m * half[0] + n * half[1]);
                    CHECK_EQ(coll_plan_scratch(&plan, v), (m + n) * staging);
                }
            }
}

int main(void)
{
    RUN(everyone_is_a_leaf);
    RUN(subtrees_are_runs_around_their_roots);
    RUN(trees_are_shallow);
    RUN(both_trees_stream);
    RUN(costs);
    return check_done();
}
