/* tests/algos/pairwise.c — the laws of coll/algos/pairwise.h */
#include "coll/algos/pairwise.h"

#include "support/walk.h"

/* Laws 1 and 2. */
TEST(rounds_are_shifts)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (unsigned trades = 0; trades < 2; trades++) {
            const coll_plan plan =
                plan_of(trades ? &coll_pairwise_alltoall : &coll_pairwise_reduce_scatter,
                        trades ? COLL_ALLTOALL : COLL_REDUCE_SCATTER_BLOCK, p, 2, 0);
            check_step_by_step(&plan);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                uint64_t to = 0, from = 0;
                for (size_t i = 0; i < w->n; i++) {
                    const uint32_t round = (uint32_t)w->step[i] + 1, peer = w->act[i].peer;
                    const uint32_t right = (rank + round) % p, left = (rank + p - round) % p;
                    if (is_send(&w->act[i])) {
                        CHECK_EQ(peer, trades ? right : left);
                        to |= (uint64_t)1 << peer;
                    } else if (is_receive(&w->act[i])) {
                        CHECK_EQ(peer, trades ? left : right);
                        from |= (uint64_t)1 << peer;
                    }
                }
                CHECK_EQ(to, (UINT64_MAX >> (64 - p)) & ~((uint64_t)1 << rank));
                CHECK_EQ(from, to);
            }
        }
}

/* The round of a rank's exchange in place with a partner; p: there is none. */
static uint32_t round_with(const walk *w, uint32_t p, uint32_t rank, uint32_t partner)
{
    for (size_t i = 0; i < w->n; i++)
        if (is_send(&w->act[i]) && w->act[i].peer == partner) {
            const uint32_t skipped = 2 * rank % p; /* with itself */
            return (uint32_t)w->step[i] + (w->step[i] >= skipped ? 1 : 0);
        }
    return p;
}

/* Laws 2 and 3. */
TEST(in_place_rounds_are_pairs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const coll_plan plan =
            plan_of(&coll_pairwise_alltoall, COLL_ALLTOALL, p, 2, COLL_FLAG_IN_PLACE);
        for (uint32_t rank = 0; rank < p; rank++) {
            const walk *mine = walk_of(&plan, rank);
            CHECK_EQ(mine->n, 3 * (p - 1));
            for (uint32_t other = 0; other < p; other++)
                if (other != rank) {
                    const uint32_t round = round_with(mine, p, rank, other);
                    CHECK(round < p);
                    CHECK_EQ(round_with(walk_of(&plan, other), p, other, rank), round);
                }
        }
    }
}

/* Law 4. */
TEST(operands_come_in_two_runs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_plan plan = plan_of(&coll_pairwise_reduce_scatter,
                                           COLL_REDUCE_SCATTER_BLOCK, p, 2, COLL_FLAG_IN_PLACE);
            const walk *w = walk_of(&plan, rank);
            uint32_t next = rank;
            for (size_t i = 0; i < w->n; i++)
                if (is_receive(&w->act[i])) {
                    next = next + 1 == p ? 0 : next + 1;
                    CHECK_EQ(w->act[i].peer, next);
                    CHECK(!(w->act[i].flags & COLL_LEFT));
                }
            CHECK_EQ((next + 1) % p, rank);
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            coll_plan plan = plan_of(&coll_pairwise_alltoall, COLL_ALLTOALL, p, 2, flags);
            coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.most.messages, p - 1);
            CHECK_EQ(cost.total.messages, p * (p - 1));
            CHECK_EQ(cost.most.elements, 2 * (p - 1));
            CHECK_EQ(cost.most.copied, flags ? 2 * (p - 1) : 2);
            for (uint32_t rank = 0; rank < p; rank++)
                CHECK_EQ(coll_plan_scratch(&plan, rank), flags ? 4 : 0);
            plan =
                plan_of(&coll_pairwise_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, 2, flags);
            cost = cost_of(&plan);
            CHECK_EQ(cost.total.messages, p * (p - 1));
            CHECK_EQ(cost.most.elements, 2 * (p - 1));
            CHECK_EQ(cost.total.reduced, p * 2 * (p - 1));
            for (uint32_t rank = 0; rank < p; rank++)
                CHECK_EQ(coll_plan_scratch(&plan, rank), flags ? 8 : 6);
        }
}

int main(void)
{
    RUN(rounds_are_shifts);
    RUN(in_place_rounds_are_pairs);
    RUN(operands_come_in_two_runs);
    RUN(costs);
    return check_done();
}
