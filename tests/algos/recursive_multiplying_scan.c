/* tests/algos/recursive_multiplying_scan.c — the laws of coll/algos/recursive_multiplying_scan.h */
#include "coll/algos/recursive_multiplying_scan.h"

#include "support/walk.h"

static const uint32_t radices[] = {2, 3, 4, 7, 63, 64};
enum { RADICES = sizeof radices / sizeof *radices };

/* For radix 2, recursive doubling. */
static coll_plan scan_plan(uint32_t p, uint32_t k, size_t count, uint32_t flags)
{
    return k == 2
               ? plan_of(&coll_recursive_doubling_scan, COLL_SCAN, p, count, flags)
               : plan_with(&coll_recursive_multiplying_scan, COLL_SCAN, p, count, flags, 0, &k);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Law 1: the messages of each round in turn, by definition; the other end has the same turn. */
TEST(what_goes_right_comes_from_the_left)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < RADICES; i++) {
            const uint32_t k = radices[i];
            const coll_plan plan = scan_plan(p, k, 1, COLL_FLAG_IN_PLACE);
            for (uint32_t rank = 0; rank < p; rank++) {
                size_t step = 0;
                for (uint32_t stride = 1; stride < p; stride *= k) {
                    const uint32_t takes = least(k - 1, rank / stride);
                    const uint32_t gives = least(k - 1, (p - 1 - rank) / stride);
                    for (uint32_t turn = 0; turn < takes || turn < gives; turn++, step++) {
                        coll_action acts[COLL_STEP_MAX];
                        const unsigned n = coll_plan_step(&plan, rank, step, acts);
                        uint32_t sent = 0, received = 0;
                        for (unsigned a = 0; a < n; a++) {
                            if (is_send(&acts[a]) && ++sent)
                                CHECK_EQ(acts[a].peer, rank + (turn + 1) * stride);
                            if (is_receive(&acts[a]) && ++received)
                                CHECK_EQ(acts[a].peer, rank - (turn + 1) * stride);
                        }
                        CHECK_EQ(sent, turn < gives ? 1 : 0);
                        CHECK_EQ(received, turn < takes ? 1 : 0);
                    }
                    step += takes > 1 ? 1 : 0;
                }
                CHECK_EQ(coll_plan_steps(&plan, rank), step);
            }
        }
}

/* Laws 2 and 3: what a sum reaches, round by round, and where it lies. */
static void check_rounds(const coll_plan *plan, uint32_t k, uint32_t rank)
{
    const uint32_t p = plan->problem.p;
    coll_ref result = COLL_AT(COLL_OUT, 0);
    size_t step = 0;
    for (uint32_t stride = 1; stride < p; stride *= k) {
        const uint32_t takes = least(k - 1, rank / stride);
        const uint32_t turns = takes > least(k - 1, (p - 1 - rank) / stride)
                                   ? takes
                                   : least(k - 1, (p - 1 - rank) / stride);
        uint32_t first = rank + 1 < stride ? 0 : rank + 1 - stride;
        coll_ref sum = 0, slot = 0;
        bool known = false;
        for (size_t end = step + turns + (takes > 1 ? 1 : 0); step < end; step++) {
            coll_action acts[COLL_STEP_MAX];
            const unsigned n = coll_plan_step(plan, rank, step, acts);
            for (unsigned a = 0; a < n; a++) {
                const coll_action *act = &acts[a];
                if (is_send(act)) {
                    CHECK(!known || act->src == sum);
                    sum = act->src;
                    known = true;
                } else if (is_receive(act)) {
                    CHECK_EQ(act->peer + 1, first); /* they meet */
                    first = act->peer + 1 < stride ? 0 : act->peer + 1 - stride;
                    CHECK_EQ(act->kind == COLL_DO_RECV_REDUCE, takes == 1);
                    if (takes == 1)
                        CHECK(act->flags == COLL_LEFT && act->src != act->dst);
                    else if (slot != 0) /* nearest last */
                        CHECK_EQ(act->dst, slot - plan->problem.count);
                    slot = act->dst;
                }
                if (!is_send(act) && act->kind != COLL_DO_COPY) {
                    CHECK(!known || act->dst != sum);
                    result = act->dst;
                }
            }
        }
        CHECK_EQ(first, (uint64_t)rank + 1 < (uint64_t)stride * k ? 0 : rank + 1 - stride * k);
    }
    CHECK_EQ(result, COLL_AT(COLL_OUT, 0));
}

TEST(sums_reach_k_times_as_far)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const coll_plan plan = scan_plan(p, radices[i], 1, flags);
                for (uint32_t rank = 0; rank < p && p > 1; rank++)
                    check_rounds(&plan, radices[i], rank);
            }
}

TEST(costs)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const uint32_t k = radices[i];
                const coll_plan plan = scan_plan(p, k, count, flags);
                const coll_report cost = cost_of(&plan);
                uint32_t rounds = 0;
                for (uint32_t stride = 1; stride < p; stride *= k)
                    rounds++;
                CHECK(cost.rounds <= rounds * (k - 1)); /* messages one by one */
                for (uint32_t rank = 0; rank < p; rank++) {
                    uint32_t messages = 0;
                    for (uint32_t stride = 1; stride < p; stride *= k)
                        messages += least(k - 1, (p - 1 - rank) / stride);
                    CHECK_EQ(cost.ranks[rank].messages, messages);
                    CHECK_EQ(cost.ranks[rank].elements, messages * count);
                    const uint32_t first = least(k - 1, rank); /* messages of round 0 */
                    uint32_t takes = 0;
                    for (uint32_t stride = 1; stride <= rank; stride *= k)
                        takes++; /* rounds in which it receives */
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             count * ((takes > (flags ? 0u : 1u) ? 1 : 0) +
                                      (first > 1 ? first : 0)));
                }
            }
}

int main(void)
{
    RUN(what_goes_right_comes_from_the_left);
    RUN(sums_reach_k_times_as_far);
    RUN(costs);
    return check_done();
}
