/* tests/algos/butterfly.c — the laws of coll/algos/butterfly.h */
#include "coll/algos/butterfly.h"

#include "support/core.h"

static coll_plan butterfly(uint32_t p, uint32_t k, size_t count, uint32_t flags)
{
    return plan_with(&coll_butterfly_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, count, flags,
                     0, &k);
}

/* Law 1. */
TEST(partners_meet_in_the_same_turn)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = butterfly(p, of.k, 1, 0);
            core_check_partners(&plan, &of, core_steps(&of, true));
        }
}

/* The blocks of an interval of mirrors, as a set. */
static uint64_t blocks_of(const core *of, coll_mirrors m)
{
    uint64_t set = 0;
    for (uint32_t i = m.first; i < m.first + m.span; i++) {
        const uint32_t rank = core_rank(of, i);
        set |= (uint64_t)(core_folded(of, rank) ? 3 : 1)
               << (core_folded(of, rank) ? rank - 1 : rank);
    }
    return set;
}

/* Law 2: blocks have one element, so that offsets are blocks. */
static void check_parts(const coll_plan *plan, const core *of, uint32_t rank)
{
    const coll_i_folded me = coll_i_folded_of(plan, rank);
    size_t step = 0;
    for (uint32_t t = 0; t < of->rounds; t++) {
        const coll_i_halving h = coll_i_butterfly_of(plan, COLL_I_DIGITS, &me, t);
        uint64_t parts = blocks_of(of, core_mirrors(of, me.number, t + 1));
        for (uint32_t turn = 0; turn + 1 < of->radix[t]; turn++, step++) {
            coll_action acts[COLL_STEP_MAX];
            const unsigned n = core_step(plan, of, rank, step, acts);
            const coll_action *send = core_message(acts, n, true);
            const uint64_t part = (UINT64_MAX >> (64 - send->count)) << (send->src - h.from);
            CHECK_EQ(part, blocks_of(of, core_mirrors(of, core_number(of, send->peer), t + 1)));
            CHECK_EQ(parts & part, 0);
            parts |= part;
        }
        step += of->radix[t] > 2 ? 1 : 0;
        CHECK_EQ(parts, blocks_of(of, core_mirrors(of, me.number, t)));
    }
}

TEST(parts_go_to_those_who_keep_them)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = butterfly(p, of.k, 1, COLL_FLAG_IN_PLACE);
            for (uint32_t rank = 0; rank < p; rank++)
                if (!core_idle(&of, rank))
                    check_parts(&plan, &of, rank);
        }
}

/* Law 3: the ranks for which a rank stands, by whom it hears of in each round. */
TEST(sums_are_of_runs_of_ranks)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = butterfly(p, of.k, 1, 0);
            core_check_runs(&plan, &of, true);
        }
}

/* Is a block sent on at the end of the longest way through the rounds? */
static bool goes_home(const core *of)
{
    for (uint32_t number = 0; number < (of->extra > 0 ? of->extra : of->size); number++) {
        const uint32_t end = core_end(of, number);
        const uint32_t mirror = core_mirrors(of, end, of->rounds).first;
        if (mirror != end || mirror < of->extra)
            return true;
    }
    return false;
}

TEST(costs)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const core of = core_of(p, core_radices[i]);
                const uint32_t folds = of.extra > 0 ? 1 : 0;
                const coll_plan plan = butterfly(p, of.k, count, flags);
                const coll_report cost = cost_of(&plan);
                CHECK_EQ(cost.rounds, of.messages + folds + (goes_home(&of) ? 1 : 0));
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t number = core_number(&of, rank);
                    const uint32_t mirror = core_mirrors(&of, number, of.rounds).first;
                    const bool own = mirror == number;
                    size_t kept = 0, slots = 0;
                    const bool pair = core_folded(&of, core_rank(&of, mirror));
                    if (core_idle(&of, rank)) {
                        CHECK_EQ(cost.ranks[rank].messages, 1);
                        CHECK_EQ(cost.ranks[rank].elements, count * p);
                        CHECK_EQ(coll_plan_scratch(&plan, rank), 0);
                        continue;
                    }
                    CHECK_EQ(cost.ranks[rank].messages,
                             of.messages + (own ? 0 : 1) + (pair ? 1 : 0));
                    CHECK_EQ(cost.ranks[rank].elements, count * (own ? p - 1 : p));
                    for (uint32_t t = of.rounds; t-- > 0;) {
                        const coll_mirrors m = core_mirrors(&of, number, t + 1);
                        const size_t part = core_ranks(&of, m.first, m.span);
                        const size_t more = (of.radix[t] - 1) * part;
                        /* a pair's part comes to what is in IN */
                        if (more > slots &&
                            (of.radix[t] > 2 || t > 0 || core_folded(&of, rank)))
                            slots = more;
                        kept = core_folded(&of, rank) ? p : part;
                    }
                    CHECK_EQ(coll_plan_scratch(&plan, rank), count * (kept + slots));
                }
            }
}

int main(void)
{
    RUN(partners_meet_in_the_same_turn);
    RUN(parts_go_to_those_who_keep_them);
    RUN(sums_are_of_runs_of_ranks);
    RUN(costs);
    return check_done();
}
