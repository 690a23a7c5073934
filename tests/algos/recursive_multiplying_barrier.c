/* tests/algos/recursive_multiplying_barrier.c — the laws of
 * coll/algos/recursive_multiplying_barrier.h */
#include "coll/algos/recursive_multiplying_barrier.h"

#include "support/core.h"

static coll_plan barrier(uint32_t p, uint32_t k)
{
    return plan_with(&coll_recursive_multiplying_barrier, COLL_BARRIER, p, 0, 0, 0, &k);
}

/* Law 1. */
TEST(partners_meet_in_the_same_turn)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = barrier(p, of.k);
            core_check_partners(&plan, &of, of.messages);
            for (uint32_t rank = 0; rank < p; rank++)
                CHECK_EQ(coll_plan_steps(&plan, rank),
                         core_idle(&of, rank)
                             ? 1
                             : of.messages + (core_folded(&of, rank) ? (size_t)2 : 0));
        }
}

/* Law 2. */
TEST(runs_of_ranks_multiply)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = barrier(p, of.k);
            core_check_runs(&plan, &of, false);
        }
}

/* Law 3. */
TEST(a_notification_names_the_earlier_rounds)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = barrier(p, of.k);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                const uint32_t before = core_folded(&of, rank) ? 2 : 1;
                uint32_t known = 1, awaited = 0, sent = 0, t = 0, turn = 0;
                for (size_t a = 0; a < w->n; a++) {
                    if (is_receive(&w->act[a])) {
                        CHECK_EQ(w->act[a].kind, COLL_DO_AWAIT);
                        CHECK_EQ(w->act[a].dst, COLL_AT(COLL_SCRATCH, ++awaited));
                        CHECK_EQ(w->act[a].count, 1);
                        continue;
                    }
                    CHECK_EQ(w->act[a].kind, COLL_DO_NOTIFY);
                    CHECK_EQ(w->act[a].src, COLL_AT(COLL_SCRATCH, 0));
                    if (!core_idle(&of, rank) && turn == 0)
                        known = before + sent;
                    CHECK_EQ(w->act[a].count, known);
                    sent++;
                    if (t < of.rounds && ++turn == of.radix[t] - 1) {
                        turn = 0;
                        t++;
                    }
                }
            }
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const uint32_t folds = of.extra > 0 ? 2 : 0;
            const coll_plan plan = barrier(p, of.k);
            const coll_report cost = cost_of(&plan);
            CHECK_EQ(cost.most.messages, of.messages + folds / 2);
            CHECK_EQ(cost.total.messages, of.size * of.messages + 2 * of.extra);
            CHECK_EQ(cost.total.elements, 0);
            if (of.k == 2) /* a larger k takes its messages of a round one after the other */
                CHECK_EQ(cost.rounds, of.rounds + core_folds(&of));
        }
}

int main(void)
{
    RUN(partners_meet_in_the_same_turn);
    RUN(runs_of_ranks_multiply);
    RUN(a_notification_names_the_earlier_rounds);
    RUN(costs);
    return check_done();
}
