/* tests/algos/trivance.c — the laws of coll/algos/trivance.h */
#include "coll/algos/trivance.h"

#include "support/core.h"

static const uint32_t three[] = {3};

static coll_plan trivance(const coll_algorithm *algorithm, uint32_t p, size_t count)
{
    return plan_of(algorithm, COLL_ALLREDUCE, p, count, COLL_FLAG_COMMUTATIVE);
}

/* So far up, or down, from a number of the core. */
static uint32_t moved(const core *of, uint32_t number, uint32_t distance, bool up)
{
    return (number + (up ? distance : of->size - distance)) % of->size;
}

/* Law 1: the first turn goes up and the second down, of both algorithms, and when pieces come
 * together. */
TEST(partners_are_on_both_sides)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const core of = core_of(p, 3);
        const coll_plan plans[] = {trivance(&coll_trivance_allreduce, p, 2 * (size_t)p),
                                   trivance(&coll_trivance_latency_allreduce, p, 2)};
        const size_t steps = core_steps(&of, true);
        core_check_partners(&plans[0], &of, steps + core_steps(&of, false));
        core_check_partners(&plans[1], &of, steps);
        for (uint32_t rank = 0; rank < p; rank++) {
            const uint32_t number = core_number(&of, rank);
            size_t step = 0, back = steps + core_steps(&of, false);
            for (uint32_t t = 0; t < of.rounds && !core_idle(&of, rank); t++) {
                back -= of.radix[t] - 1;
                for (uint32_t turn = 0; turn + 1 < of.radix[t]; turn++)
                    for (uint32_t which = 0; which < 3; which++) {
                        coll_action acts[COLL_STEP_MAX];
                        const unsigned n =
                            core_step(&plans[which % 2], &of, rank,
                                      which == 2 ? back + turn : step + turn, acts);
                        const bool up = turn == 0;
                        CHECK_EQ(core_message(acts, n, true)->peer,
                                 core_rank(&of, moved(&of, number, of.stride[t], up)));
                        CHECK_EQ(core_message(acts, n, false)->peer,
                                 core_rank(&of, moved(&of, number, of.stride[t], !up)));
                    }
                step += of.radix[t] - 1 + (of.radix[t] > 2 ? 1 : 0);
            }
        }
    }
}

/* Law 2, by following what ranks stand for. */
TEST(a_rank_stands_for_its_neighbours)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const core of = core_of(p, 3);
        const coll_plan plan = trivance(&coll_trivance_latency_allreduce, p, 1);
        uint64_t has[64], next[64]; /* bit n: number n */
        size_t step = 0;
        for (uint32_t number = 0; number < of.size; number++)
            next[number] = (uint64_t)1 << number;
        for (uint32_t t = 0; t < of.rounds; t++) {
            const uint32_t side = (of.stride[t] - 1) / 2;
            memcpy(has, next, sizeof has);
            for (uint32_t number = 0; number < of.size; number++) {
                uint64_t near = 0;
                for (uint32_t i = 0; i < of.stride[t]; i++)
                    near |= (uint64_t)1 << (number + of.size - side + i) % of.size;
                CHECK_EQ(has[number], near);
                for (uint32_t turn = 0; turn + 1 < of.radix[t]; turn++) {
                    coll_action acts[COLL_STEP_MAX];
                    const unsigned n =
                        core_step(&plan, &of, core_rank(&of, number), step + turn, acts);
                    const uint32_t from = core_number(&of, core_message(acts, n, false)->peer);
                    CHECK_EQ(next[number] & has[from], 0);
                    next[number] |= has[from];
                }
            }
            step += of.radix[t] - 1 + (of.radix[t] > 2 ? 1 : 0);
        }
        for (uint32_t number = 0; number < of.size; number++)
            CHECK_EQ(next[number], UINT64_MAX >> (64 - of.size));
    }
}

/* Law 3: one element a piece, so that offsets are mirrors. */
TEST(pieces_are_those_of_equal_digits)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const core of = core_of(p, 3);
        const coll_plan plan = trivance(&coll_trivance_allreduce, p, of.size);
        for (uint32_t rank = 0; rank < p; rank++) {
            size_t step = 0, back = core_steps(&of, true) + core_steps(&of, false);
            for (uint32_t t = 0; t < of.rounds && !core_idle(&of, rank); t++) {
                back -= of.radix[t] - 1;
                for (uint32_t turn = 0; turn + 1 < of.radix[t]; turn++) {
                    coll_action there[COLL_STEP_MAX], home[COLL_STEP_MAX];
                    const uint32_t other = of.radix[t] - 2 - turn; /* the opposite direction */
                    const unsigned n = core_step(&plan, &of, rank, step + turn, there);
                    const unsigned m = core_step(&plan, &of, rank, back + other, home);
                    const coll_action *give = core_message(there, n, true);
                    const coll_action *get = core_message(home, m, false);
                    const uint32_t to = core_number(&of, give->peer);
                    const coll_mirrors theirs = core_mirrors(&of, to, t + 1);
                    CHECK_EQ(coll_ref_offset(give->src), theirs.first);
                    CHECK_EQ(give->count, theirs.span);
                    CHECK_EQ(get->peer, give->peer);
                    CHECK_EQ(coll_ref_offset(get->dst), theirs.first);
                    CHECK_EQ(get->count, theirs.span);
                }
                step += of.radix[t] - 1 + (of.radix[t] > 2 ? 1 : 0);
            }
        }
    }
}

/* Law 4. */
TEST(messages_stay_near)
{
    for (uint32_t p = 9; p <= CHECK_RANKS; p *= 3) {
        const size_t count = 2 * (size_t)p;
        const coll_plan near = trivance(&coll_trivance_allreduce, p, count),
                        near_whole = trivance(&coll_trivance_latency_allreduce, p, count);
        const coll_plan far =
            plan_with(&coll_rabenseifner_allreduce, COLL_ALLREDUCE, p, count, 0, 0, three);
        const coll_plan far_whole = plan_with(&coll_recursive_multiplying_allreduce,
                                              COLL_ALLREDUCE, p, count, 0, 0, three);
        CHECK(element_hops(&near) < element_hops(&far));
        CHECK(element_hops(&near_whole) < element_hops(&far_whole));
    }
}

/* What one costs on each rank, the other does. */
static void check_same_costs(const coll_plan *plan, const coll_plan *other)
{
    const coll_report cost = cost_of(plan), like = cost_of(other);
    for (uint32_t rank = 0; rank < plan->problem.p; rank++) {
        CHECK_EQ(cost.ranks[rank].messages, like.ranks[rank].messages);
        CHECK_EQ(cost.ranks[rank].elements, like.ranks[rank].elements);
        CHECK_EQ(coll_plan_scratch(plan, rank), coll_plan_scratch(other, rank));
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const size_t count = 2 * (size_t)p + 1;
            const uint32_t all = flags | COLL_FLAG_COMMUTATIVE;
            const coll_plan pieces =
                plan_of(&coll_trivance_allreduce, COLL_ALLREDUCE, p, count, all);
            const coll_plan whole =
                plan_of(&coll_trivance_latency_allreduce, COLL_ALLREDUCE, p, count, all);
            const coll_plan like_pieces = plan_with(&coll_rabenseifner_allreduce,
                                                    COLL_ALLREDUCE, p, count, all, 0, three);
            const coll_plan like_whole = plan_with(&coll_recursive_multiplying_allreduce,
                                                   COLL_ALLREDUCE, p, count, all, 0, three);
            check_same_costs(&pieces, &like_pieces);
            check_same_costs(&whole, &like_whole);
        }
}

int main(void)
{
    RUN(partners_are_on_both_sides);
    RUN(a_rank_stands_for_its_neighbours);
    RUN(pieces_are_those_of_equal_digits);
    RUN(messages_stay_near);
    RUN(costs);
    return check_done();
}
