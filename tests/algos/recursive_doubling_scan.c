/* tests/algos/recursive_doubling_scan.c — the laws of coll/algos/recursive_doubling_scan.h */
#include "coll/algos/recursive_doubling_scan.h"

#include "walk.h"

static coll_plan scan_plan(uint32_t p, size_t count, uint32_t flags)
{
    return plan_of(&coll_recursive_doubling_scan, COLL_SCAN, p, count, flags);
}

/* Law 1. */
TEST(what_goes_right_comes_from_the_left)
{
    for (uint32_t p = 1; p <= 64; p++) {
        const coll_plan plan = scan_plan(p, 1, 0);
        check_step_by_step(&plan);
        for (uint32_t rank = 0; rank < p; rank++) {
            const walk *w = walk_of(&plan, rank);
            for (size_t i = 0; i < w->n; i++) {
                const uint32_t distance = (uint32_t)1 << w->step[i];
                if (is_send(&w->act[i]))
                    CHECK_EQ(w->act[i].peer, rank + distance);
                if (is_receive(&w->act[i]))
                    CHECK_EQ(w->act[i].peer, rank - distance);
            }
        }
    }
}

/* Law 2: the first operand of every rank's sum, round by round; the last is its own. */
TEST(sums_reach_twice_as_far)
{
    for (uint32_t p = 1; p <= 64; p++) {
        const coll_plan plan = scan_plan(p, 1, 0);
        uint32_t first[64], next[64];
        for (uint32_t rank = 0; rank < p; rank++)
            first[rank] = rank;
        for (uint32_t k = 0; k < 7; k++) {
            for (uint32_t rank = 0; rank < p; rank++) {
                const uint32_t reach = (uint32_t)1 << k;
                const walk *w = walk_of(&plan, rank);
                CHECK_EQ(first[rank], rank + 1 < reach ? 0 : rank + 1 - reach);
                next[rank] = first[rank];
                for (size_t i = 0; i < w->n; i++)
                    if (w->act[i].kind == COLL_DO_RECV_REDUCE && w->step[i] == k) {
                        const uint32_t from = w->act[i].peer;
                        CHECK(w->act[i].flags & COLL_LEFT);
                        CHECK_EQ(from + 1, first[rank]); /* they meet */
                        next[rank] = first[from];
                    }
            }
            for (uint32_t rank = 0; rank < p; rank++)
                first[rank] = next[rank];
        }
        for (uint32_t rank = 0; rank < p; rank++)
            CHECK_EQ(first[rank], 0);
    }
}

/* Law 3. */
TEST(rounds_write_where_they_do_not_read)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE) {
            const coll_plan plan = scan_plan(p, 1, flags);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                coll_ref result = COLL_AT(COLL_OUT, 0);
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    if (!is_receive(a))
                        continue;
                    CHECK(a->kind != COLL_DO_RECV_REDUCE || a->dst != a->src);
                    if (i > 0 && is_send(&w->act[i - 1]) && w->step[i - 1] == w->step[i])
                        CHECK(w->act[i - 1].src != a->dst);
                    result = a->dst;
                }
                CHECK_EQ(result, COLL_AT(COLL_OUT, 0));
            }
        }
}

TEST(costs)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= 64; p++)
        for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE) {
            const coll_plan plan = scan_plan(p, count, flags);
            const coll_report cost = cost_of(&plan);
            const uint32_t rounds = coll_log2_ceil(p);
            uint32_t messages = 0;
            size_t steps = 0;
            for (uint32_t rank = 0; p > 1 && rank < p; rank++)
                if (steps < coll_plan_steps(&plan, rank))
                    steps = coll_plan_steps(&plan, rank);
            CHECK_EQ(steps, rounds); /* a round is a step, but a chain may skip some */
            CHECK(cost.rounds <= rounds);
            for (uint32_t rank = 0; rank < p; rank++) {
                const uint32_t sends = coll_log2_ceil(p - rank);
                messages += sends;
                CHECK_EQ(cost.ranks[rank].messages, sends);
                CHECK_EQ(cost.ranks[rank].elements, sends * count);
                CHECK(coll_plan_scratch(&plan, rank) <= count);
            }
            CHECK_EQ(cost.total.messages, messages);
        }
}

int main(void)
{
    RUN(what_goes_right_comes_from_the_left);
    RUN(sums_reach_twice_as_far);
    RUN(rounds_write_where_they_do_not_read);
    RUN(costs);
    return check_done();
}
