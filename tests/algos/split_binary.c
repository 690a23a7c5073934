/* tests/algos/split_binary.c — the laws of coll/algos/split_binary.h */
#include "coll/algos/split_binary.h"

#include "support/timed.h"

enum { COUNT = 13 }; /* elements: 7 and 6 */

static coll_plan plan_on(uint32_t p, size_t count, uint32_t flags, uint32_t root,
                         uint32_t segment)
{
    return plan_with(&coll_split_binary_bcast, COLL_BCAST, p, count, flags, root, &segment);
}

/* Does the rank receive from, and send to, the peer? */
static bool exchanges(const coll_plan *plan, uint32_t rank, uint32_t peer)
{
    const walk *w = walk_of(plan, rank);
    bool sends = false, receives = false;
    for (size_t i = 0; i < w->n; i++) {
        sends = sends || (is_send(&w->act[i]) && w->act[i].peer == peer);
        receives = receives || (is_receive(&w->act[i]) && w->act[i].peer == peer);
    }
    return sends && receives;
}

/* The depth is how many ranks the half passed before the first message of this rank. */
static uint32_t depth_of(const coll_plan *plan, uint32_t rank)
{
    const uint32_t root = plan->problem.root;
    return rank == root ? 0 : depth_of(plan, walk_of(plan, rank)->act[0].peer) + 1;
}

/* Laws 1 and 2. */
TEST(partners_exchange_halves)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t root = 0; root < p; root += 1 + p / 3) {
            const coll_plan plan = plan_on(p, COUNT, 0, root, 0);
            const uint32_t n = (p - 1) / 2;
            for (uint32_t v = 0; v < p; v++) {
                const uint32_t rank = (v + root) % p;
                const uint32_t partner = (v > n ? v - n : v + n) % p;
                for (uint32_t u = 0; u < p; u++)
                    CHECK_EQ(exchanges(&plan, rank, (u + root) % p),
                             v > 0 && v <= 2 * n && u == partner);
                if (v > 0 && v <= 2 * n)
                    CHECK_EQ(depth_of(&plan, rank), depth_of(&plan, (partner + root) % p));
            }
        }
}

/* Each half comes down its tree: the left one has the first. */
TEST(halves_go_separate_ways)
{
    for (uint32_t p = 3; p <= CHECK_RANKS; p++) {
        const coll_plan plan = plan_on(p, COUNT, 0, 0, 0);
        const uint32_t n = (p - 1) / 2;
        for (uint32_t v = 1; v <= 2 * n; v++) {
            const coll_action *first = &walk_of(&plan, v)->act[0];
            CHECK_EQ(first->kind, COLL_DO_RECV);
            CHECK_EQ(first->dst, COLL_AT(COLL_OUT, v <= n ? 0 : 7));
            CHECK_EQ(first->count, v <= n ? 7 : 6);
            CHECK(first->peer < v && (first->peer == 0 || (first->peer <= n) == (v <= n)));
        }
    }
}

/* Law 3. */
TEST(segments_stream)
{
    enum { SEGMENTS = 40 };
    for (uint32_t p = 3; p <= TIMED_RANKS; p++) {
        const coll_plan plan = plan_on(p, 2 * SEGMENTS, 0, 0, 1);
        CHECK_EQ(time_of(&plan), SEGMENTS + COLL_HIGHEST_BIT((p - 1) / 2) + 1);
    }
}

TEST(costs)
{
    static const uint32_t segments[] = {0, 1, 3, 6, 7, 20};
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t k = 0; k < sizeof segments / sizeof *segments; k++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const uint32_t segment = segments[k], root = p / 3, n = (p - 1) / 2;
                const size_t half[2] = {COUNT - COUNT / 2, COUNT / 2};
                const size_t s[2] = {coll_segments(half[0], segment),
                                     coll_segments(half[1], segment)};
                const coll_plan plan = plan_on(p, COUNT, flags, root, segment);
                const coll_report cost = cost_of(&plan);
                uint32_t children[64] = {0};
                if (s[0] == 1)
                    CHECK_EQ(cost.rounds, n > 0 ? COLL_HIGHEST_BIT(n) + 2 : p - 1);
                CHECK_EQ(cost.total.scratch, 0);
                CHECK_EQ(cost.total.elements, (p - 1) * (uint64_t)COUNT);
                for (uint32_t v = 1; v <= 2 * n; v++) {
                    const uint32_t from = walk_of(&plan, (v + root) % p)->act[0].peer;
                    children[(from + p - root) % p]++;
                }
                for (uint32_t v = 0; v < p; v++) {
                    const uint64_t messages = cost.ranks[(v + root) % p].messages;
                    const uint64_t elements = cost.ranks[(v + root) % p].elements;
                    const uint32_t which = v <= n ? 0 : 1;
                    const uint64_t times = children[v] + (uint64_t)1 +
                                           (p % 2 == 0 && (v == n || v == 2 * n) ? 1 : 0);
                    if (v == 0) {
                        CHECK_EQ(messages, p > 1 ? s[0] + s[1] : 0);
                        CHECK_EQ(elements, p > 1 ? COUNT : 0);
                    } else if (v > 2 * n) {
                        CHECK_EQ(messages, 0);
                    } else {
                        CHECK_EQ(messages, times * s[which]);
                        CHECK_EQ(elements, times * half[which]);
                        CHECK(times <= 3);
                    }
                }
            }
}

int main(void)
{
    RUN(partners_exchange_halves);
    RUN(halves_go_separate_ways);
    RUN(segments_stream);
    RUN(costs);
    return check_done();
}
