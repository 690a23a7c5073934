/* tests/algos/fnomial.c — the laws of coll/algos/fnomial.h */
#include "coll/algos/fnomial.h"

#include "support/trees.h"

static const uint32_t degrees[] = {2, 3, 4, 5, 8, 64, 1000};
enum { DEGREES = sizeof degrees / sizeof *degrees };

/* Law 1, the definition: without its lowest digit that is not 0. */
static tree defined(uint32_t p, uint32_t f, uint32_t order)
{
    tree t = tree_of(&coll_fnomial_bcast, &coll_fnomial_reduce, &coll_fnomial_allreduce, p, f,
                     order);
    for (uint32_t v = 1; v < p; v++) {
        uint32_t stride = 1;
        while (v / stride % f == 0)
            stride *= f;
        t.parent[v] = v - v / stride % f * stride;
    }
    tree_complete(&t);
    return t;
}

TEST(parents_lack_a_digit)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t order = 0; order < 2; order++) {
                const tree t = defined(p, degrees[d], order);
                for (uint32_t root = 0; root < p; root += 1 + p / 3)
                    check_tree_messages(&t, root);
            }
}

/* Law 2. Children come after their parents, so sizes of subtrees add up from the last rank to
 * the first. */
TEST(subtrees_are_consecutive_intervals)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const coll_fast_divisor radix = coll_fast_divisor_of(degrees[d]);
            uint32_t ranks[64];
            for (uint32_t v = p; v-- > 0;) {
                const coll_fnomial at = coll_fnomial_of(p, &radix, v);
                ranks[v] = 1;
                for (uint32_t slot = 0; slot < at.children; slot++) {
                    const uint32_t child = coll_fnomial_child(degrees[d], v, slot);
                    CHECK_EQ(child, v + ranks[v]);
                    ranks[v] += ranks[child];
                }
                CHECK_EQ(ranks[v], at.stride < p - v ? at.stride : p - v);
            }
            CHECK_EQ(ranks[0], p);
        }
}

/* Law 3. */
TEST(trees_are_shallow)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const tree t = defined(p, degrees[d], 0);
            uint64_t children = 0; /* of the root: one for each e·f^i < p, 0 < e < f */
            uint32_t height = 0;   /* … a rank of as many digits, none of them 0, … */
            for (uint64_t stride = 1, least = 1; stride < p; stride *= degrees[d]) {
                const uint64_t multiples = (p - 1) / stride;
                children += multiples < degrees[d] - 1 ? multiples : degrees[d] - 1;
                height += least < p ? 1 : 0; /* … the least of which is 1 + f + f² … */
                least = least * degrees[d] + 1;
            }
            CHECK_EQ(t.height, height);
            CHECK_EQ(t.children[0], children);
            for (uint32_t v = 1; v < p; v++)
                CHECK(t.children[v] <= children);
        }
}

/* Law 4: on the way up children come in increasing rank, which is that of increasing subtrees, and on
 * the way down they go in decreasing; with order 1 in reverse. Sums are of consecutive ranks. */
TEST(children_have_their_turns)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t order = 0; order < 2; order++) {
                const tree t = defined(p, degrees[d], order);
                const coll_plan plan = tree_plan(&t, t.allreduce, 1, 0, 0, 0);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    const uint32_t m = t.children[rank];
                    uint32_t peers[2][64], n[2] = {0, 0}, begin = rank + 1, end = p;
                    for (size_t i = 0; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        const bool send = is_send(a);
                        if ((!send && !is_receive(a)) ||
                            (rank != 0 && a->peer == t.parent[rank]))
                            continue;
                        peers[send][n[send]++] = a->peer;
                        if (!send) /* what follows the own operand, or what is before the sum */
                            CHECK_EQ((a->flags & COLL_LEFT) != 0, order && m > 1 && n[0] > 1);
                        if (a->kind == COLL_DO_RECV)
                            CHECK(order && m > 1 && n[0] == 1);
                    }
                    CHECK_EQ(n[0], m);
                    CHECK_EQ(n[1], m);
                    for (uint32_t i = 0; i < m; i++) {
                        CHECK_EQ(peers[0][i], peers[1][m - 1 - i]);
                        if (order == 0) {
                            CHECK(peers[0][i] >= begin);
                            begin = peers[0][i] + 1;
                        } else {
                            CHECK(peers[0][i] < end && peers[0][i] > rank);
                            end = peers[0][i];
                        }
                    }
                }
            }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t order = 0; order < 2; order++) {
                const tree t = defined(p, degrees[d], order);
                check_tree_all_costs(&t);
                check_tree_barrier(&t, &coll_fnomial_barrier);
            }
}

int main(void)
{
    RUN(parents_lack_a_digit);
    RUN(subtrees_are_consecutive_intervals);
    RUN(trees_are_shallow);
    RUN(children_have_their_turns);
    RUN(costs);
    return check_done();
}
