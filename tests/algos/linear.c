/* tests/algos/linear.c — the laws of coll/algos/linear.h */
#include "coll/algos/linear.h"

#include "support/walk.h"

static const coll_algorithm *const rooted[] = {&coll_linear_bcast, &coll_linear_reduce};

/* Law 1. */
TEST(every_other_rank_meets_the_root_once)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t root = 0; root < p; root += 1 + p / 5)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (size_t which = 0; which < 2; which++) {
                    const coll_collective collective = which ? COLL_REDUCE : COLL_BCAST;
                    const coll_plan plan =
                        plan_with(rooted[which], collective, p, 3, flags, root, NULL);
                    const walk *w = walk_of(&plan, root);
                    uint64_t met = 0;
                    for (size_t i = 0; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        if (is_send(a) || is_receive(a)) {
                            CHECK_EQ(is_send(a), collective == COLL_BCAST);
                            CHECK(!((met >> a->peer) & 1u));
                            met |= (uint64_t)1 << a->peer;
                        }
                    }
                    CHECK_EQ(met, (UINT64_MAX >> (64 - p)) & ~((uint64_t)1 << root));
                    for (uint32_t rank = 0; rank < p; rank++)
                        if (rank != root) {
                            w = walk_of(&plan, rank);
                            CHECK_EQ(w->n, 1);
                            CHECK_EQ(w->act[0].peer, root);
                            CHECK_EQ(is_receive(&w->act[0]), collective == COLL_BCAST);
                        }
                }
}

/* Laws 2 and 3, and how large the scratch is. */
TEST(the_root_adds_in_rank_order_through_slots_in_turn)
{
    static const uint32_t slots[] = {1, 2, 3, 4, 7, 64, 65536};
    const size_t count = 5;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t root = 0; root < p; root += 1 + p / 5)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (size_t k = 0; k < sizeof slots / sizeof *slots; k++) {
                    const coll_plan plan = plan_with(&coll_linear_reduce, COLL_REDUCE, p, count,
                                                     flags, root, &slots[k]);
                    const walk *w = walk_of(&plan, root);
                    const size_t apart = flags && root > 0 ? count : 0;
                    const uint32_t used = slots[k] < p - 1 ? slots[k] : p - 1;
                    uint32_t operand =
                        root == 0 ? 1 : 0; /* the next one; root 0 starts with its own */
                    for (size_t i = 0; i < w->n && p > 1; i++) {
                        const coll_action *a = &w->act[i];
                        CHECK_EQ(is_receive(a) ? a->peer : root, operand);
                        if (a->kind == COLL_DO_RECV_REDUCE)
                            CHECK_EQ(a->via, COLL_AT(COLL_SCRATCH,
                                                     apart + (operand - 1) % slots[k] * count));
                        operand++;
                    }
                    CHECK(p == 1 || operand == p);
                    CHECK_EQ(coll_plan_scratch(&plan, root), used * count + apart);
                    if (p > 1)
                        CHECK_EQ(coll_plan_scratch(&plan, root == 0 ? 1 : 0), 0);
                }
}

TEST(slots_that_do_not_fit_are_refused)
{
    const uint32_t slots = 65536;
    coll_problem problem;
    coll_plan plan;
    const size_t most = COLL_REF_LIMIT / 4 / (slots + 1); /* the slots and an accumulator */
    coll_problem_init(&problem, COLL_REDUCE, 100000, most, 1);
    CHECK_STATUS(coll_plan_init(&plan, &coll_linear_reduce, &problem, &slots), COLL_OK);
    problem.count = most + 1;
    CHECK_STATUS(coll_plan_init(&plan, &coll_linear_reduce, &problem, &slots),
                 COLL_ERR_OVERFLOW);
    problem.count = most;
    problem.elem_bytes = 8;
    CHECK_STATUS(coll_plan_init(&plan, &coll_linear_reduce, &problem, &slots),
                 COLL_ERR_OVERFLOW);
}

TEST(costs)
{
    const size_t count = 3;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        coll_plan plan = plan_with(&coll_linear_bcast, COLL_BCAST, p, count, 0, p / 2, NULL);
        coll_report cost = cost_of(&plan);
        CHECK_EQ(cost.total.messages, p - 1);
        CHECK_EQ(cost.most.messages, p - 1);
        CHECK_EQ(cost.total.elements, (p - 1) * count);
        CHECK_EQ(cost.rounds, p > 1 ? 1 : 0);
        plan = plan_with(&coll_linear_reduce, COLL_REDUCE, p, count, 0, p / 2, NULL);
        cost = cost_of(&plan);
        CHECK_EQ(cost.total.messages, p - 1);
        CHECK_EQ(cost.total.elements, (p - 1) * count);
        CHECK_EQ(cost.total.reduced, (p - 1) * count);
        CHECK_EQ(cost.rounds, p > 1 ? 1 : 0);
        plan = plan_of(&coll_linear_allreduce, COLL_ALLREDUCE, p, count, COLL_FLAG_IN_PLACE);
        cost = cost_of(&plan);
        CHECK_EQ(cost.total.messages, 2 * (p - 1));
        CHECK_EQ(cost.total.elements, 2 * (p - 1) * count);
        CHECK_EQ(cost.total.copied, 0);
        CHECK_EQ(cost.rounds, p > 1 ? 2 : 0);
        plan = plan_of(&coll_linear_barrier, COLL_BARRIER, p, 0, 0);
        cost = cost_of(&plan);
        CHECK_EQ(cost.total.messages, 2 * (p - 1));
        CHECK_EQ(cost.total.elements, 0);
        CHECK_EQ(cost.rounds, p > 1 ? 2 : 0);
    }
}

int main(void)
{
    RUN(every_other_rank_meets_the_root_once);
    RUN(the_root_adds_in_rank_order_through_slots_in_turn);
    RUN(slots_that_do_not_fit_are_refused);
    RUN(costs);
    return check_done();
}
