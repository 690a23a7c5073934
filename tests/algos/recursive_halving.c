/* tests/algos/recursive_halving.c — the laws of coll/algos/recursive_halving.h */
#include "coll/algos/recursive_halving.h"

#include "support/core.h"

static coll_plan halving(uint32_t p, uint32_t k, size_t count, uint32_t flags)
{
    return plan_with(&coll_recursive_halving_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p,
                     count, flags | COLL_FLAG_COMMUTATIVE, 0, &k);
}

/* Law 1. */
TEST(partners_meet_in_the_same_turn)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = halving(p, of.k, 1, 0);
            core_check_partners(&plan, &of, core_steps(&of, true));
        }
}

/* Laws 2 and 3: blocks have one element, so that offsets are blocks. */
static void check_parts(const coll_plan *plan, const core *of, uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    uint32_t begin = 0, end = of->p; /* the blocks that the rank keeps */
    size_t step = 0;
    for (uint32_t t = of->rounds; t-- > 0;) {
        const coll_i_halving h = coll_i_recursive_halving_of(plan, rank, &me, t);
        const coll_block keep = coll_i_halving_part(plan, &h, h.x.digit);
        uint64_t parts = (UINT64_MAX >> (64 - keep.count)) << keep.offset;
        CHECK_EQ(h.x.digit, core_digit(of, me.number, t));
        for (uint32_t turn = 0; turn + 1 < of->radix[t]; turn++, step++) {
            coll_action acts[COLL_STEP_MAX];
            const unsigned n = core_step(plan, of, rank, step, acts);
            const coll_action *send = core_message(acts, n, true);
            const coll_action *recv = core_message(acts, n, false);
            const uint32_t first = (uint32_t)(send->src - h.from);
            const uint64_t part = (UINT64_MAX >> (64 - send->count)) << first;
            CHECK(first <= send->peer && send->peer < first + send->count);
            CHECK_EQ(parts & part, 0);
            CHECK_EQ(recv->count, keep.count);
            parts |= part;
        }
        step += of->radix[t] > 2 ? 1 : 0;
        CHECK_EQ(parts, (UINT64_MAX >> (64 - (end - begin))) << begin);
        begin = (uint32_t)keep.offset;
        end = begin + (uint32_t)keep.count;
        CHECK(begin <= rank && rank < end);
    }
    CHECK_EQ(begin, core_folded(of, rank) ? rank - 1 : rank);
    CHECK_EQ(end, rank + 1);
}

TEST(parts_go_to_those_who_keep_them)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const core of = core_of(p, core_radices[i]);
                const coll_plan plan = halving(p, of.k, 1, flags);
                for (uint32_t rank = 0; rank < p; rank++)
                    if (!core_idle(&of, rank))
                        check_parts(&plan, &of, rank);
            }
}

TEST(costs)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const core of = core_of(p, core_radices[i]);
                const coll_plan plan = halving(p, of.k, count, flags);
                const coll_report cost = cost_of(&plan);
                CHECK_EQ(cost.rounds, of.messages + core_folds(&of));
                for (uint32_t rank = 0; rank < p; rank++) {
                    const bool idle = core_idle(&of, rank), folded = core_folded(&of, rank);
                    const uint32_t number = core_number(&of, rank);
                    size_t kept = 0, slots = 0;
                    for (uint32_t t = 0; t < of.rounds; t++) {
                        const uint32_t first = number - number % of.stride[t];
                        const size_t part = core_ranks(&of, first, of.stride[t]);
                        const size_t more = (of.radix[t] - 1) * part;
                        /* of a pair one is IN or OUT, where that is free */
                        const bool free = !folded && ((t + 1 == of.rounds) ||
                                                      (t == 0 && (of.rounds > 1 || !flags)));
                        if (more > slots && (of.radix[t] > 2 || !free))
                            slots = more;
                        kept = folded ? p : of.rounds == 1 && !flags ? 0 : part;
                    }
                    CHECK_EQ(cost.ranks[rank].messages,
                             idle ? 1 : of.messages + (folded ? 1 : 0));
                    CHECK_EQ(cost.ranks[rank].elements, count * (idle ? p : p - 1));
                    CHECK_EQ(coll_plan_scratch(&plan, rank), idle ? 0 : count * (kept + slots));
                }
            }
}

int main(void)
{
    RUN(partners_meet_in_the_same_turn);
    RUN(parts_go_to_those_who_keep_them);
    RUN(costs);
    return check_done();
}
