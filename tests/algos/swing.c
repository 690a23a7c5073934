/* tests/algos/swing.c — the laws of coll/algos/swing.h */
#include "coll/algos/swing.h"

#include "support/core.h"

static coll_plan swing(const coll_algorithm *algorithm, coll_collective collective, uint32_t p,
                       size_t count, uint32_t flags)
{
    return plan_of(algorithm, collective, p, count, flags | COLL_FLAG_COMMUTATIVE);
}

/* 1 − 2 + 4 − … ± 2^t. */
static int64_t rho(uint32_t t)
{
    int64_t sum = 0, term = 1;
    for (uint32_t i = 0; i <= t; i++, term *= -2)
        sum += term;
    return sum;
}

/* Whom a number of the core meets in round t. */
static uint32_t partner(const core *of, uint32_t number, uint32_t t)
{
    const int64_t size = of->size, to = number + (number % 2 ? -rho(t) : rho(t));
    return (uint32_t)((to % size + size) % size);
}

/* The number itself, and all that it reaches from round t on. */
static uint64_t reach(const core *of, uint32_t number, uint32_t t)
{
    if (t == of->rounds)
        return (uint64_t)1 << number;
    return reach(of, number, t + 1) | reach(of, partner(of, number, t), t + 1);
}

/* Law 1: the rounds are the first steps of a reduce_scatter and of both allreduces, and the last
 * steps of an allgather and of an allreduce, backwards. */
TEST(partners_swing)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const core of = core_of(p, 2);
        const coll_plan plans[] = {
            swing(&coll_swing_allreduce, COLL_ALLREDUCE, p, 3 * (size_t)p, 0),
            swing(&coll_swing_latency_allreduce, COLL_ALLREDUCE, p, 3, 0),
            swing(&coll_swing_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, 3, 0),
            swing(&coll_swing_allgather, COLL_ALLGATHER, p, 3, 0)};
        core_check_partners(&plans[0], &of, 2 * of.rounds);
        core_check_partners(&plans[1], &of, of.rounds);
        core_check_partners(&plans[2], &of, of.rounds);
        for (uint32_t rank = 0; rank < p; rank++)
            for (uint32_t t = 0; t < of.rounds && !core_idle(&of, rank); t++) {
                const uint32_t number = core_number(&of, rank);
                const uint32_t other = core_rank(&of, partner(&of, number, t));
                coll_action acts[COLL_STEP_MAX];
                CHECK_EQ(partner(&of, partner(&of, number, t), t), number);
                for (uint32_t which = 0; which < 5; which++) {
                    const coll_plan *plan = &plans[which % 4];
                    const size_t step = which == 3   ? of.rounds - t
                                        : which == 4 ? 2 * of.rounds - 1 - t
                                                     : t;
                    const unsigned n = which == 3 ? coll_plan_step(plan, rank, step, acts)
                                                  : core_step(plan, &of, rank, step, acts);
                    CHECK_EQ(core_message(acts, n, true)->peer, other);
                    CHECK_EQ(core_message(acts, n, false)->peer, other);
                }
            }
    }
}

/* Law 2, by the recursion of the paper: one element a piece, so that offsets are slots. */
TEST(what_is_given_is_for_those_behind_the_partner)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const core of = core_of(p, 2);
        const coll_plan plan =
            swing(&coll_swing_allreduce, COLL_ALLREDUCE, p, of.size, COLL_FLAG_IN_PLACE);
        for (uint32_t rank = 0; rank < p; rank++)
            for (uint32_t t = 0; t < of.rounds && !core_idle(&of, rank); t++) {
                coll_action acts[COLL_STEP_MAX];
                const unsigned n = core_step(&plan, &of, rank, t, acts);
                const coll_action *send = core_message(acts, n, true);
                const size_t first = coll_ref_offset(send->src);
                uint64_t numbers = 0;
                for (size_t slot = first; slot < first + send->count; slot++)
                    numbers |= (uint64_t)1 << coll_swing_number(&plan.fold, (uint32_t)slot);
                CHECK_EQ(numbers, reach(&of, core_number(&of, send->peer), t + 1));
            }
    }
}

/* Law 3. */
TEST(parts_come_back)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const core of = core_of(p, 2);
        const coll_plan plan = swing(&coll_swing_allreduce, COLL_ALLREDUCE, p,
                                     3 * (size_t)p + 1, COLL_FLAG_IN_PLACE);
        for (uint32_t rank = 0; rank < p; rank++)
            for (uint32_t t = 0; t < of.rounds && !core_idle(&of, rank); t++) {
                coll_action there[COLL_STEP_MAX], back[COLL_STEP_MAX];
                const unsigned n = core_step(&plan, &of, rank, t, there);
                const unsigned m = core_step(&plan, &of, rank, 2 * of.rounds - 1 - t, back);
                const coll_action *give = core_message(there, n, true);
                const coll_action *get = core_message(back, m, false);
                CHECK_EQ(give->peer, get->peer);
                CHECK_EQ(give->src, get->dst);
                CHECK_EQ(give->count, get->count);
            }
    }
}

/* Law 4. */
TEST(messages_stay_near)
{
    static const uint32_t k[] = {2};
    for (uint32_t p = 4; p <= CHECK_RANKS; p *= 2) {
        const size_t count = 3 * (size_t)p;
        const coll_plan plan = swing(&coll_swing_allreduce, COLL_ALLREDUCE, p, count, 0);
        const coll_plan whole =
            swing(&coll_swing_latency_allreduce, COLL_ALLREDUCE, p, count, 0);
        const coll_plan far =
            plan_with(&coll_rabenseifner_allreduce, COLL_ALLREDUCE, p, count, 0, 0, k);
        const coll_plan far_whole =
            plan_of(&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, p, count, 0);
        CHECK(element_hops(&plan) < element_hops(&far));
        CHECK(element_hops(&whole) < element_hops(&far_whole));
    }
}

/* ---- costs ------------------------------------------------------------------------------- */

/* Where piece i of a vector begins. */
static size_t piece_at(const core *of, size_t count, uint32_t i)
{
    return count / of->size * i + (i < count % of->size ? i : count % of->size);
}

/* Elements of the interval of slots of which a number keeps after `rounds` rounds. */
static size_t elements_of(const core *of, size_t count, uint32_t slot, uint32_t rounds)
{
    const uint32_t span = of->size >> rounds, first = slot / span * span;
    return piece_at(of, count, first + span) - piece_at(of, count, first);
}

/* The slot of a number: the highest bits of those that it reaches from a round on are alike. */
static uint32_t slot_of(const core *of, uint32_t number)
{
    const coll_fold fold = coll_fold_of(of->p, &coll_fast_divisor_two);
    return coll_swing_slot(&fold, number);
}

/* Where the way ends that begins at a number and goes on in each round. */
static uint32_t swing_end(const core *of, uint32_t number)
{
    for (uint32_t t = 0; t < of->rounds; t++)
        number = partner(of, number, t);
    return number;
}

/* Is a block sent on at the end of the longest way through the rounds? */
static bool goes_home(const core *of)
{
    for (uint32_t number = 0; number < (of->extra > 0 ? of->extra : of->size); number++) {
        const uint32_t end = swing_end(of, number), slot = slot_of(of, end);
        if (slot != end || slot < of->extra)
            return true;
    }
    return false;
}

TEST(costs_of_allreduce)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const core of = core_of(p, 2);
            const size_t count = 3 * (size_t)p + 1;
            const uint32_t m = of.rounds, folds = of.extra > 0 ? 2 : 0;
            const coll_plan halved =
                swing(&coll_swing_allreduce, COLL_ALLREDUCE, p, count, flags);
            const coll_plan whole =
                swing(&coll_swing_latency_allreduce, COLL_ALLREDUCE, p, count, flags);
            coll_report cost = cost_of(&halved);
            CHECK_EQ(cost.rounds, 2 * m + folds);
            for (uint32_t rank = 0; rank < p; rank++) {
                const bool idle = core_idle(&of, rank), folded = core_folded(&of, rank);
                const uint32_t slot = idle ? 0 : slot_of(&of, core_number(&of, rank));
                size_t elements = count + (folded ? count : 0),
                       staged = folded && flags ? count : 0;
                for (uint32_t t = 0; t < m && !idle; t++) {
                    const size_t part = elements_of(&of, count, slot, t + 1);
                    elements += part;
                    if (part > staged && (t > 0 || folded || flags))
                        staged = part;
                }
                elements -= idle ? 0 : elements_of(&of, count, slot, m);
                CHECK_EQ(cost.ranks[rank].messages, idle ? 1 : 2 * m + (folded ? 1 : 0));
                CHECK_EQ(cost.ranks[rank].elements, elements);
                CHECK_EQ(coll_plan_scratch(&halved, rank), staged);
            }
            cost = cost_of(&whole);
            {
                uint32_t most = folds / 2; /* on the longest way */
                for (uint32_t number = 0; number < of.extra; number++)
                    most = swing_end(&of, number) < of.extra ? folds : most;
                CHECK_EQ(cost.rounds, m + most);
            }
            for (uint32_t rank = 0; rank < p; rank++) {
                const bool idle = core_idle(&of, rank), folded = core_folded(&of, rank);
                const uint32_t messages = idle ? 1 : m + (folded ? 1 : 0);
                CHECK_EQ(cost.ranks[rank].messages, messages);
                CHECK_EQ(cost.ranks[rank].elements, count * messages);
                CHECK_EQ(coll_plan_scratch(&whole, rank),
                         !idle && (m > 1 || (m == 1 && (folded || flags))) ? count : 0);
            }
        }
}

TEST(costs_of_halves)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const core of = core_of(p, 2);
            const uint32_t m = of.rounds, folds = of.extra > 0 ? 1 : 0;
            const coll_plan scatter =
                swing(&coll_swing_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, count, flags);
            const coll_plan gather =
                swing(&coll_swing_allgather, COLL_ALLGATHER, p, count, flags);
            coll_report cost = cost_of(&scatter);
            CHECK_EQ(cost.rounds, m + folds + (goes_home(&of) ? 1 : 0));
            for (uint32_t rank = 0; rank < p; rank++) {
                const bool idle = core_idle(&of, rank);
                const uint32_t number = idle ? 0 : core_number(&of, rank);
                const uint32_t slot = slot_of(&of, number);
                const bool pair = core_folded(&of, core_rank(&of, slot));
                const bool folded = core_folded(&of, rank);
                size_t kept = 0, slots = 0;
                for (uint32_t t = m; t-- > 0;) {
                    const uint32_t span = of.size >> (t + 1);
                    const size_t part = core_ranks(&of, slot / span * span, span);
                    if (part > slots && (t > 0 || folded))
                        slots = part;
                    kept = folded ? p : part;
                }
                CHECK_EQ(coll_plan_scratch(&scatter, rank), idle ? 0 : count * (kept + slots));
                CHECK_EQ(cost.ranks[rank].messages,
                         idle ? 1 : m + (slot == number ? 0 : 1) + (pair ? 1 : 0));
                CHECK_EQ(cost.ranks[rank].elements,
                         count * (idle || slot != number ? p : p - 1));
            }
            cost = cost_of(&gather);
            CHECK_EQ(cost.rounds, m + folds + (goes_home(&of) ? 1 : 0));
            for (uint32_t rank = 0; rank < p; rank++) {
                const bool idle = core_idle(&of, rank), folded = core_folded(&of, rank);
                const uint32_t number = idle ? 0 : core_number(&of, rank);
                const uint32_t slot = slot_of(&of, number);
                const bool away = slot != number;
                size_t blocks = (away ? 1 : 0) + (folded ? p : 0);
                for (uint32_t t = 0; t < m; t++) {
                    const uint32_t span = of.size >> (t + 1);
                    blocks += core_ranks(&of, slot / span * span, span);
                }
                CHECK_EQ(cost.ranks[rank].messages,
                         idle ? 1 : m + (away ? 1 : 0) + (folded ? 1 : 0));
                CHECK_EQ(cost.ranks[rank].elements, count * (idle ? 1 : blocks));
                CHECK_EQ(coll_plan_scratch(&gather, rank), 0);
            }
        }
}

int main(void)
{
    RUN(partners_swing);
    RUN(what_is_given_is_for_those_behind_the_partner);
    RUN(parts_come_back);
    RUN(messages_stay_near);
    RUN(costs_of_allreduce);
    RUN(costs_of_halves);
    return check_done();
}
