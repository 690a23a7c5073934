/* tests/algos/kshift.c — the laws of coll/algos/kshift.h */
#include "coll/algos/kshift.h"

#include "support/fattree.h"
#include "support/missing.h"

static const uint32_t degrees[] = {1, 2, 3, 4, 5, 7, 8, 16, 63, 64, 65, 1000, UINT32_MAX};
enum { DEGREES = sizeof degrees / sizeof *degrees, COUNT = 2 };

static coll_plan kshift(coll_collective collective, uint32_t p, uint32_t k, uint32_t flags)
{
    return plan_with(collective == COLL_ALLGATHER ? &coll_kshift_allgather
                                                  : &coll_kshift_alltoall,
                     collective, p, COUNT, flags, 0, &k);
}

/* Laws 1 and 3 of an allgather; who has which block is followed message by message. */
TEST(a_block_gets_to_every_distance)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = kshift(COLL_ALLGATHER, p, degrees[d], flags);
                check_step_by_step(&plan);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    uint64_t to = 0, from = 0, held = (uint64_t)1 << rank;
                    for (size_t i = 0; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        const size_t at = coll_ref_offset(is_send(a) ? a->src : a->dst) / COUNT;
                        const uint32_t block = is_send(a) && coll_ref_space(a->src) == COLL_IN
                                                   ? rank
                                                   : (uint32_t)at;
                        if (is_send(a)) {
                            CHECK(held >> block & 1);
                            to |= (uint64_t)1 << (a->peer + p - block) % p;
                        } else if (is_receive(a)) {
                            held |= (uint64_t)1 << block;
                            from |= (uint64_t)1 << (rank + p - block) % p;
                        }
                    }
                    CHECK_EQ(to, (UINT64_MAX >> (64 - p)) - 1);
                    CHECK_EQ(from, to);
                    CHECK_EQ(held, UINT64_MAX >> (64 - p));
                }
            }
}

/* Law 2, and the definition: neighbours −⌊(k−1)/2⌋ … −1, 1 … ⌊k/2⌋, and +k. */
TEST(holders_supply_their_neighbours)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const uint32_t k = degrees[d] < p ? degrees[d] : p, before = (k - 1) / 2;
            const coll_plan plan = kshift(COLL_ALLGATHER, p, degrees[d], COLL_FLAG_IN_PLACE);
            const uint32_t rank = p / 3;
            const walk *w = walk_of(&plan, rank);
            for (size_t i = 0; i < w->n; i++) {
                const uint32_t turn = (uint32_t)(w->step[i] / k);
                const bool last = (turn + 1) * k >= p;
                const bool first = w->step[i] % k == 0;
                if (!is_send(&w->act[i]))
                    continue;
                {
                    const uint32_t block = (uint32_t)coll_ref_offset(w->act[i].src) / COUNT;
                    const uint32_t far = (rank + p - block) % p;
                    const uint32_t to = (w->act[i].peer + p - rank) % p;
                    CHECK(last ? far <= turn * k && far + before >= turn * k : far == turn * k);
                    CHECK(!(first && last));
                    if (first && (turn + 2) * k <= p)
                        CHECK_EQ(to, k % p);
                    else if (first)
                        CHECK(to <= k);
                    else
                        CHECK((to >= 1 && to <= k / 2) || to + (last ? k : before) >= p);
                }
            }
        }
}

/* An alltoall goes to the distances of the allgather's blocks, in their order. */
TEST(alltoall_takes_the_same_order)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const coll_plan plan = kshift(COLL_ALLTOALL, p, degrees[d], 0);
            const coll_plan model = kshift(COLL_ALLGATHER, p, degrees[d], COLL_FLAG_IN_PLACE);
            const uint32_t rank = p / 2;
            const walk *w = walk_of(&plan, rank);
            CHECK_EQ(coll_plan_steps(&plan, rank), coll_plan_steps(&model, rank));
            check_step_by_step(&plan);
            for (size_t i = 0; i < w->n; i++) {
                coll_action act[COLL_STEP_MAX];
                if (!is_send(&w->act[i]))
                    continue;
                if (!CHECK(coll_plan_step(&model, rank, w->step[i], act) > 0))
                    continue;
                CHECK_EQ((w->act[i].peer + p - rank) % p,
                         (act[0].peer + p - coll_ref_offset(act[0].src) / COUNT) % p);
            }
        }
}

/* ---- missing nodes ----------------------------------------------------------------------- */

/* The ranks are the nodes that exist, so that nothing depends on which these are. */
static void check_missing(const missing *it)
{
    for (unsigned row = 0; row < 2; row++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const uint32_t k = 1 + it->nodes % 9;
            const coll_plan plan =
                missing_plan(row ? &coll_kshift_alltoall : &coll_kshift_allgather,
                             row ? COLL_ALLTOALL : COLL_ALLGATHER, it, COUNT, flags, &k);
            cost_of(&plan);
        }
}

TEST(missing_nodes)
{
    missing_all(8, check_missing);
    missing_random(CHECK_RANKS, 60, check_missing);
}

/* The nodes to which each node sends: bit i of row n. */
static void destinations(const missing *it, uint32_t k, uint64_t to[MISSING_MOST])
{
    const coll_plan plan = missing_plan(&coll_kshift_allgather, COLL_ALLGATHER, it, 1, 0, &k);
    for (uint32_t rank = 0; rank < it->p; rank++) {
        const walk *w = walk_of(&plan, rank);
        uint64_t *mine = &to[it->table[rank]];
        *mine = 0;
        for (size_t i = 0; i < w->n; i++)
            if (is_send(&w->act[i]))
                *mine |= (uint64_t)1 << it->table[w->act[i].peer];
    }
}

/* Law 4. */
TEST(most_destinations_stay)
{
    for (uint32_t k = 4; k <= 16; k++)
        for (uint32_t nodes = 3 * k; nodes <= 64; nodes += k) {
            uint64_t whole[MISSING_MOST], part[MISSING_MOST];
            const missing all = missing_of(nodes, UINT64_MAX);
            destinations(&all, k, whole);
            for (uint32_t gone = 0; gone < nodes; gone++) {
                const missing but_one = missing_of(nodes, ~((uint64_t)1 << gone));
                uint32_t changed = 0;
                destinations(&but_one, k, part);
                for (uint32_t rank = 0; rank < but_one.p; rank++) {
                    const uint32_t node = but_one.table[rank];
                    changed += part[node] != whole[node];
                }
                CHECK_EQ(changed, k + (k - 1) / 2);
            }
        }
}

/* ---- fat trees --------------------------------------------------------------------------- */

/* On a whole tree every step is a cyclic shift, which shares no link. */
TEST(steps_share_no_link)
{
    static fattree tree;
    for (unsigned route = FATTREE_BY_SOURCE; route <= FATTREE_BY_DESTINATION; route++)
        for (uint32_t k = 1; k <= 64; k++) {
            const coll_plan plan = kshift(COLL_ALLGATHER, 64, k, 0);
            fattree_init(&tree, 4, 3, (fattree_route)route);
            for (size_t s = 0; s < 64; s++) {
                fattree_clear(&tree);
                for (uint32_t rank = 0; rank < 64; rank++) {
                    coll_action act[COLL_STEP_MAX];
                    if (coll_plan_step(&plan, rank, s, act) > 0 && is_send(&act[0]))
                        CHECK(fattree_send(&tree, rank, act[0].peer));
                }
            }
        }
}

/* ---- cost -------------------------------------------------------------------------------- */

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const uint32_t k = degrees[d];
                coll_plan plan = kshift(COLL_ALLGATHER, p, k, flags);
                coll_report cost = cost_of(&plan);
                CHECK_EQ(cost.rounds, p - 1);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    uint32_t forwarded = 0, blocks = 0;
                    coll_ref last = COLL_AT(COLL_SHARED, 0);
                    CHECK_EQ(cost.ranks[rank].messages, p - 1);
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                    CHECK_EQ(cost.ranks[rank].copied, flags ? 0 : COUNT);
                    for (size_t i = 0; i < w->n; i++)
                        if (is_send(&w->act[i])) {
                            forwarded += w->step[i] % k == 0;
                            blocks += w->act[i].src != last;
                            last = w->act[i].src;
                        }
                    CHECK_EQ(forwarded, (p - 1) / k); /* ⌈p/k⌉ − 1 */
                    CHECK_EQ(blocks, (p - 1) / k + ((p - 1) % k ? 1 : 0));
                }
                plan = kshift(COLL_ALLTOALL, p, k, flags);
                cost = cost_of(&plan);
                if (!flags)
                    CHECK_EQ(cost.rounds, p - 1);
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].messages, p - 1);
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                    CHECK_EQ(coll_plan_scratch(&plan, rank), flags ? 2 * COUNT : 0);
                }
            }
}

int main(void)
{
    RUN(a_block_gets_to_every_distance);
    RUN(holders_supply_their_neighbours);
    RUN(alltoall_takes_the_same_order);
    RUN(missing_nodes);
    RUN(most_destinations_stay);
    RUN(steps_share_no_link);
    RUN(costs);
    return check_done();
}
