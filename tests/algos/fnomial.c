/* tests/algos/fnomial.c — the laws of coll/algos/fnomial.h */
#include "coll/algos/fnomial.h"

#include "walk.h"

static const uint32_t degrees[] = {2, 3, 4, 5, 8, 64, 1000};
enum { DEGREES = sizeof degrees / sizeof *degrees };

static coll_plan tree(const coll_algorithm *algorithm, uint32_t p, size_t count, uint32_t flags,
                      uint32_t root, uint32_t f, uint32_t segment)
{
    const uint32_t params[2] = {f, segment};
    const coll_collective collective = algorithm == &coll_fnomial_bcast       ? COLL_BCAST
                                       : algorithm == &coll_fnomial_reduce    ? COLL_REDUCE
                                       : algorithm == &coll_fnomial_allreduce ? COLL_ALLREDUCE
                                                                              : COLL_BARRIER;
    return plan_with(algorithm, collective, p, count, flags, root, params);
}

/* Law 1, for any root, by the messages themselves. */
TEST(every_rank_has_one_parent)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t root = 0; root < p; root += 1 + p / 3) {
                const coll_plan down = tree(&coll_fnomial_bcast, p, 1, 0, root, degrees[d], 0);
                const coll_plan up =
                    tree(&coll_fnomial_reduce, p, 1, COLL_COMMUTATIVE, root, degrees[d], 0);
                uint32_t parent[64], parents = 0, children = 0;
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&down, rank);
                    parent[rank] = COLL_NOBODY;
                    for (size_t i = 0; i < w->n; i++)
                        if (is_receive(&w->act[i])) {
                            CHECK_EQ(i, 0); /* before it sends */
                            parent[rank] = w->act[i].peer;
                            parents++;
                        }
                    CHECK_EQ(parent[rank] == COLL_NOBODY, rank == root);
                }
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&down, rank);
                    uint64_t met = 0;
                    for (size_t i = 0; i < w->n; i++)
                        if (is_send(&w->act[i])) {
                            CHECK_EQ(parent[w->act[i].peer], rank);
                            CHECK(!((met >> w->act[i].peer) & 1u));
                            met |= (uint64_t)1 << w->act[i].peer;
                            children++;
                        }
                    w = walk_of(&up, rank); /* the same tree */
                    for (size_t i = 0; i < w->n; i++) {
                        if (is_send(&w->act[i]))
                            CHECK_EQ(w->act[i].peer, parent[rank]);
                        if (is_receive(&w->act[i]))
                            CHECK_EQ(parent[w->act[i].peer], rank);
                    }
                }
                CHECK_EQ(parents, p - 1);
                CHECK_EQ(children, p - 1);
            }
}

/* Law 2. Children come after their parents, so sizes of subtrees add up from the last rank to
 * the first. */
TEST(subtrees_are_consecutive_intervals)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const coll_divider radix = coll_divider_of(degrees[d]);
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
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const coll_divider radix = coll_divider_of(degrees[d]);
            uint32_t phases = 0, depth[64] = {0};
            for (uint64_t reach = 1; reach < p; reach *= degrees[d])
                phases++;
            for (uint32_t v = 1; v < p; v++) {
                depth[v] = depth[coll_fnomial_of(p, &radix, v).parent] + 1;
                CHECK(depth[v] <= phases);
            }
        }
}

/* A reduction's sums are of consecutive ranks: children come in increasing rank, down in
 * decreasing. */
TEST(children_come_smallest_subtree_first_and_go_last)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t rank = 0; rank < p; rank++) {
                const coll_plan plan = tree(&coll_fnomial_allreduce, p, 1, 0, 0, degrees[d], 0);
                const walk *w = walk_of(&plan, rank);
                uint32_t last = rank;
                bool down = rank == 0;
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    if (a->kind == COLL_DO_RECV_REDUCE) {
                        CHECK(a->peer > last);
                        CHECK(!(a->flags & COLL_LEFT));
                        last = a->peer;
                    } else if (a->kind == COLL_DO_RECV) {
                        down = true;
                    } else if (a->kind == COLL_DO_SEND && down) {
                        CHECK_EQ(a->peer, last); /* the way back */
                        if (last > rank) {
                            const uint32_t slots =
                                coll_i_fnomial_place(&plan, 0, rank).at.children;
                            uint32_t k = 0;
                            while (k < slots && coll_fnomial_child(degrees[d], rank, k) != last)
                                k++;
                            last = k > 0 ? coll_fnomial_child(degrees[d], rank, k - 1) : rank;
                        }
                    }
                }
                CHECK_EQ(last, rank);
            }
}

TEST(costs)
{
    static const uint32_t segments[] = {0, 1, 3, 6, 7};
    const size_t count = 6;
    for (uint32_t p = 1; p <= 64; p += 1 + p / 12)
        for (size_t d = 0; d < DEGREES; d++) {
            uint32_t phases = 0;
            for (uint64_t reach = 1; reach < p; reach *= degrees[d])
                phases++;
            for (size_t k = 0; k < sizeof segments / sizeof *segments; k++)
                for (uint32_t flags = 0; flags < 4; flags++) {
                    const uint32_t f = degrees[d], segment = segments[k], root = p / 3;
                    const size_t s = coll_segments(count, segment);
                    const bool detour = !(flags & COLL_COMMUTATIVE) && root != 0;
                    coll_plan plan =
                        tree(&coll_fnomial_bcast, p, count, flags, root, f, segment);
                    coll_report cost = cost_of(&plan);
                    CHECK_EQ(cost.total.messages, (p - 1) * s);
                    CHECK_EQ(cost.total.elements, (p - 1) * count);
                    CHECK(cost.most.messages <= (uint64_t)(f - 1) * phases * s);
                    CHECK_EQ(cost.total.scratch, 0);
                    plan = tree(&coll_fnomial_reduce, p, count, flags, root, f, segment);
                    cost = cost_of(&plan);
                    CHECK_EQ(cost.total.messages, (p - 1 + (detour ? 1u : 0u)) * s);
                    CHECK_EQ(cost.total.reduced, (p - 1) * count);
                    for (uint32_t rank = 0; rank < p; rank++)
                        CHECK(coll_plan_scratch(&plan, rank) <=
                              count + 2 * (segment && segment < count ? segment : count));
                    plan = tree(&coll_fnomial_allreduce, p, count, flags, 0, f, segment);
                    cost = cost_of(&plan);
                    CHECK_EQ(cost.total.messages, 2 * (p - 1) * s);
                    CHECK_EQ(cost.total.elements, 2 * (p - 1) * count);
                    for (uint32_t rank = 0; rank < p; rank++)
                        CHECK(coll_plan_scratch(&plan, rank) <=
                              2 * (segment && segment < count ? segment : count));
                }
            const coll_plan plan = tree(&coll_fnomial_barrier, p, 0, 0, 0, degrees[d], 0);
            const coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.total.messages, 2 * (p - 1));
            CHECK_EQ(cost.total.elements, 0);
        }
}

int main(void)
{
    RUN(every_rank_has_one_parent);
    RUN(subtrees_are_consecutive_intervals);
    RUN(trees_are_shallow);
    RUN(children_come_smallest_subtree_first_and_go_last);
    RUN(costs);
    return check_done();
}
