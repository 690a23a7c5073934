/* tests/algos/recursive_doubling_scan.c — the laws of coll/algos/recursive_doubling_scan.h */
#include "coll/algos/recursive_doubling_scan.h"

#include "walk.h"

static coll_plan scan_plan(bool scan, uint32_t p, size_t count, uint32_t flags)
{
    return plan_of(scan ? &coll_recursive_doubling_scan : &coll_recursive_doubling_exscan,
                   scan ? COLL_SCAN : COLL_EXSCAN, p, count, flags);
}

/* Law 1; an exscan's shift is its step 0. */
TEST(what_goes_right_comes_from_the_left)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (unsigned scan = 0; scan < 2; scan++) {
            const coll_plan plan = scan_plan(scan, p, 1, 0);
            check_step_by_step(&plan);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                for (size_t i = 0; i < w->n; i++) {
                    const uint32_t k = (uint32_t)w->step[i] - (scan || w->step[i] == 0 ? 0 : 1);
                    const uint32_t distance = (uint32_t)1 << k;
                    if (is_send(&w->act[i]))
                        CHECK_EQ(w->act[i].peer, rank + distance);
                    if (is_receive(&w->act[i]))
                        CHECK_EQ(w->act[i].peer, rank - distance);
                }
            }
        }
}

/* Law 2: the first operand of every rank's sum, round by round; the last is its own (exscan:
 * the one before). */
TEST(sums_reach_twice_as_far)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (unsigned scan = 0; scan < 2; scan++) {
            const coll_plan plan = scan_plan(scan, p, 1, 0);
            const uint32_t shift = scan ? 0 : 1;
            uint32_t first[64], next[64]; /* operands numbered from the first that takes part */
            for (uint32_t rank = shift; rank < p; rank++)
                first[rank] = rank - shift;
            for (uint32_t k = 0; k < 7; k++) {
                for (uint32_t rank = shift; rank < p; rank++) {
                    const uint32_t v = rank - shift, reach = (uint32_t)1 << k;
                    const walk *w = walk_of(&plan, rank);
                    CHECK_EQ(first[rank], v + 1 < reach ? 0 : v + 1 - reach);
                    next[rank] = first[rank];
                    for (size_t i = 0; i < w->n; i++)
                        if (w->act[i].kind == COLL_DO_RECV_REDUCE && w->step[i] == k + shift) {
                            const uint32_t from = w->act[i].peer;
                            CHECK(w->act[i].flags & COLL_LEFT);
                            CHECK_EQ(from - shift + 1, first[rank]); /* they meet */
                            next[rank] = first[from];
                        }
                }
                for (uint32_t rank = shift; rank < p; rank++)
                    first[rank] = next[rank];
            }
            for (uint32_t rank = shift; rank < p; rank++)
                CHECK_EQ(first[rank], 0);
        }
}

/* Law 3. */
TEST(rounds_write_where_they_do_not_read)
{
    for (uint32_t p = 1; p <= 64; p++)
        for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE)
            for (unsigned scan = 0; scan < 2; scan++) {
                const coll_plan plan = scan_plan(scan, p, 1, flags);
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
        for (uint32_t flags = 0; flags <= COLL_IN_PLACE; flags += COLL_IN_PLACE)
            for (unsigned scan = 0; scan < 2; scan++) {
                const coll_plan plan = scan_plan(scan, p, count, flags);
                const coll_report cost = cost_of(&plan);
                const uint32_t rounds = scan     ? coll_log2_ceil(p)
                                        : p == 1 ? 0
                                                 : 1 + coll_log2_ceil(p - 1);
                uint32_t messages = scan ? 0 : p - 1;
                for (uint32_t d = 1, n = scan ? p : p - 1; d < n; d *= 2)
                    messages += n - d;
                size_t steps = 0;
                for (uint32_t rank = 0; p > 1 && rank < p; rank++)
                    if (steps < coll_plan_steps(&plan, rank))
                        steps = coll_plan_steps(&plan, rank);
                CHECK_EQ(steps,
                         rounds); /* a round is a step, but a chain of messages may skip some */
                CHECK(cost.rounds <= rounds);
                CHECK(cost.most.messages <= rounds);
                CHECK_EQ(cost.total.messages, messages);
                CHECK_EQ(cost.total.elements, messages * count);
                for (uint32_t rank = 0; rank < p; rank++)
                    CHECK(coll_plan_scratch(&plan, rank) <= count);
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
