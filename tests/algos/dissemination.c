/* tests/algos/dissemination.c — the laws of coll/algos/dissemination.h */
#include "coll/algos/dissemination.h"

#include "support/walk.h"

static const uint32_t degrees[] = {2, 3, 4, 5, 8, 64, 1000};
enum { DEGREES = sizeof degrees / sizeof *degrees };

static coll_plan barrier(uint32_t p, uint32_t f)
{
    return plan_with(&coll_dissemination_barrier, COLL_BARRIER, p, 0, 0, 0, &f);
}

/* Law 1. */
TEST(whom_a_rank_notifies_awaits_it)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const coll_plan plan = barrier(p, degrees[d]);
            if (p > 1)
                check_step_by_step(&plan);
            else
                CHECK_EQ(coll_plan_steps(&plan, 0), 0);
        }
}

/* Law 2: what a rank knows by what the notifications named, round by round. */
TEST(after_the_rounds_a_rank_has_heard_of_all)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const uint32_t f = degrees[d];
            const coll_plan plan = barrier(p, f);
            const size_t steps = coll_plan_steps(&plan, 0);
            uint64_t heard[64], next[64], stride = 1; /* bit i: of the rank i to the left */
            for (uint32_t rank = 0; rank < p; rank++)
                next[rank] = 1;
            for (size_t s = 0; s <= steps; s++) {
                if (s == steps || coll_fnomial_phase_of(f, (uint32_t)s).first == s) {
                    stride = s == steps ? p : coll_fnomial_phase_of(f, (uint32_t)s).stride;
                    for (uint32_t rank = 0; rank < p; rank++) {
                        heard[rank] = next[rank];
                        CHECK_EQ(heard[rank], UINT64_MAX >> (64 - (stride < p ? stride : p)));
                    }
                }
                for (uint32_t rank = 0; s < steps && rank < p; rank++) {
                    coll_action act[COLL_STEP_MAX];
                    CHECK_EQ(coll_plan_step(&plan, rank, s, act), 2);
                    const uint32_t distance = coll_mod_sub(rank, act[1].peer, p);
                    next[rank] |= heard[act[1].peer] << distance; /* beyond p: itself again */
                    next[rank] &= UINT64_MAX >> (64 - p);
                }
            }
        }
}

/* Law 3. */
TEST(a_notification_names_the_earlier_rounds)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const coll_plan plan = barrier(p, degrees[d]);
            const walk *w = walk_of(&plan, p / 2);
            uint32_t first = 0; /* step of the round */
            uint64_t stride = 1;
            for (uint32_t s = 0; 2 * s < w->n; s++) {
                if (s - first == degrees[d] - 1) {
                    first = s;
                    stride *= degrees[d];
                }
                const coll_action *notify = &w->act[2 * s], *await = &w->act[2 * s + 1];
                CHECK_EQ(notify->kind, COLL_DO_NOTIFY);
                CHECK_EQ(notify->peer, (p / 2 + (s - first + 1) * stride) % p);
                CHECK_EQ(notify->src, COLL_AT(COLL_SCRATCH, 0));
                CHECK_EQ(notify->count, first + 1);
                CHECK_EQ(await->kind, COLL_DO_AWAIT);
                CHECK_EQ(await->dst, COLL_AT(COLL_SCRATCH, s + 1));
                CHECK_EQ(await->count, 1);
            }
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++) {
            const coll_plan plan = barrier(p, degrees[d]);
            const coll_report cost = cost_of(&plan);
            uint32_t rounds = 0;
            uint64_t messages = 0;
            for (uint64_t reach = 1; reach < p; reach *= degrees[d]) {
                const uint64_t others = (p - 1) / reach; /* multiples that are distances */
                messages += others < degrees[d] - 1 ? others : degrees[d] - 1;
                rounds++;
            }
            CHECK_EQ(cost.most.messages, messages);
            CHECK_EQ(cost.total.messages, p * cost.most.messages);
            CHECK_EQ(cost.total.elements, 0);
            if (degrees[d] == 2)
                CHECK_EQ(cost.rounds, rounds);
        }
}

int main(void)
{
    RUN(whom_a_rank_notifies_awaits_it);
    RUN(after_the_rounds_a_rank_has_heard_of_all);
    RUN(a_notification_names_the_earlier_rounds);
    RUN(costs);
    return check_done();
}
