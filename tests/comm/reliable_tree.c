/* The tree of collectives that survive f crashes, law by law (comm/reliable_tree.h). */
#include "support/check.h"

#include "coll/comm/reliable_tree.h"
#include "support/chance.h"

enum { MOST = CHECK_RANKS, SMALL = 11 };

static coll_i_reliable_tree tree;
static uint32_t f;
static bool crashed[MOST];

/* Calls `each` for all shapes. */
static void for_all(uint32_t most, void (*each)(void))
{
    for (uint32_t q = 1; q <= most; q++)
        for (f = 0; f < q; f++) {
            tree = coll_i_reliable_tree_of(q, f);
            each();
        }
}

static void one_tree(void)
{
    uint32_t edges = 0;
    for (uint32_t x = 0; x < tree.q; x++) {
        const uint32_t children = coll_i_reliable_children(&tree, x);
        for (uint32_t i = 0; i < children; i++) {
            const uint32_t y = coll_i_reliable_child(&tree, x, i);
            CHECK(y > x && y < tree.q); /* so it hangs off the root */
            CHECK_EQ(coll_i_reliable_parent(&tree, y), x);
        }
        edges += children;
    }
    CHECK_EQ(edges, tree.q - 1);
}

TEST(parents_and_children)
{
    for_all(MOST, one_tree);
}

static void asked_positions(void)
{
    for (uint32_t x = 0; x < tree.q; x++) {
        if (!coll_i_reliable_asks(&tree, x))
            continue;
        CHECK(coll_i_reliable_in_class(&tree, x) && coll_i_reliable_parent(&tree, x) != 0);
        for (uint32_t d = 1; d <= f; d++)
            CHECK(coll_i_reliable_in_class(&tree, x - d) && d % tree.classes != 0);
    }
    for (uint32_t x = 1; x < tree.q; x++)
        CHECK(coll_i_reliable_asks(&tree, x) || coll_i_reliable_parent(&tree, x) == 0);
}

TEST(who_asks_whom)
{
    for_all(MOST, asked_positions);
}

static bool is_reached(uint32_t x)
{
    for (; !crashed[x] && x != 0; x = coll_i_reliable_parent(&tree, x))
        ;
    return x == 0;
}

/* With these crashed, is every position that lives reached, or corrected from at most this far? */
static bool all_have(uint32_t distance)
{
    for (uint32_t x = 1; x < tree.q; x++) {
        bool has = crashed[x] || is_reached(x);
        for (uint32_t d = 1; d <= distance && !has && coll_i_reliable_asks(&tree, x); d++)
            has = is_reached(x - d);
        if (!has)
            return false;
    }
    return true;
}

static void every_set(void)
{
    const uint32_t sets = (uint32_t)1 << (tree.q - 1);
    bool less_suffices = true;
    for (uint32_t set = 0; set < sets; set++) {
        if (coll_bits(set) > f)
            continue;
        for (uint32_t x = 1; x < tree.q; x++)
            crashed[x] = (set >> (x - 1) & 1) != 0;
        CHECK(all_have(f));
        less_suffices = less_suffices && (f == 0 || all_have(f - 1));
    }
    /* crashes of a position's parent, and of the f − 1 before it, if there is one that asks */
    CHECK(less_suffices == (f == 0 || tree.levels < 2));
}

static void some_sets(void)
{
    enum { SETS = 200 };
    random_state = tree.q * 64 + f;
    for (uint32_t n = 0; n < SETS; n++) {
        for (uint32_t x = 1; x < tree.q; x++)
            crashed[x] = false;
        for (uint32_t i = 0; i < f; i++)
            crashed[1 + chance(n % 2 == 0 || tree.q <= 2 * f ? tree.q - 1 : 2 * f)] = true;
        CHECK(all_have(f));
    }
}

/* Small trees with every set of crashes, others with some. */
TEST(correction_suffices)
{
    for_all(SMALL, every_set);
    for_all(MOST, some_sets);
}

static void groups_of_all(void)
{
    uint32_t in_groups = 0;
    for (uint32_t x = 1; x < tree.q; x++) {
        uint32_t first;
        if (!coll_i_reliable_in_class(&tree, x))
            continue;
        in_groups++;
        first = coll_i_reliable_group(&tree, x);
        CHECK(first <= x && x < first + tree.classes && (first - 1) % tree.classes == 0);
        CHECK(coll_i_reliable_in_class(&tree, first + tree.classes - 1));
        /* the same class as its parent */
        CHECK(!coll_i_reliable_asks(&tree, x) ||
              (x - coll_i_reliable_parent(&tree, x)) % tree.classes == 0);
    }
    CHECK_EQ(in_groups, tree.classes * tree.levels);
    CHECK(coll_i_reliable_extras(&tree) < tree.classes);
}

TEST(groups)
{
    for_all(MOST, groups_of_all);
}

static void near_the_root(void)
{
    for (uint32_t x = 1; x < tree.q; x++) {
        uint32_t depth = 0, most = 1;
        while ((uint32_t)2 << (most - 1) <= tree.levels)
            most++;
        for (uint32_t y = x; y != 0; y = coll_i_reliable_parent(&tree, y))
            depth++;
        CHECK(depth <= most);
    }
}

TEST(depth)
{
    for_all(MOST, near_the_root);
}

int main(void)
{
    RUN(parents_and_children);
    RUN(who_asks_whom);
    RUN(correction_suffices);
    RUN(groups);
    RUN(depth);
    return check_done();
}
