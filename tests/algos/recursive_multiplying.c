/* tests/algos/recursive_multiplying.c — the laws of coll/algos/recursive_multiplying.h and
 * recursive_multiplying_allgather.h */
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/recursive_multiplying_allgather.h"

#include "support/core.h"

/* The plan for radix k: for 2, recursive doubling. */
static coll_plan multiplying(coll_collective collective, uint32_t p, uint32_t k, size_t count,
                             uint32_t flags)
{
    const bool sums = collective == COLL_ALLREDUCE;
    if (k == 2)
        return plan_of(sums ? &coll_recursive_doubling_allreduce
                            : &coll_recursive_doubling_allgather,
                       collective, p, count, flags);
    return plan_with(sums ? &coll_recursive_multiplying_allreduce
                          : &coll_recursive_multiplying_allgather,
                     collective, p, count, flags, 0, &k);
}

/* Law 1. */
TEST(partners_meet_in_the_same_turn)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (int sums = 0; sums <= 1; sums++) {
                const core of = core_of(p, core_radices[i]);
                const coll_plan plan = multiplying(sums ? COLL_ALLREDUCE : COLL_ALLGATHER, p,
                                                   of.k, 1, COLL_FLAG_IN_PLACE);
                core_check_partners(&plan, &of, core_steps(&of, sums));
                for (uint32_t rank = 0; rank < p; rank++)
                    CHECK_EQ(coll_plan_steps(&plan, rank),
                             core_idle(&of, rank)
                                 ? 2
                                 : core_steps(&of, sums) + (core_folded(&of, rank) ? 2 : 0));
            }
}

/* Law 2, by what the messages of an allgather carry. */
TEST(sets_of_ranks_multiply)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const coll_plan plan = multiplying(COLL_ALLGATHER, p, of.k, 1, COLL_FLAG_IN_PLACE);
            uint64_t has[64], next[64]; /* blocks */
            size_t step = 0, ranks = 1;
            for (uint32_t rank = 0; rank < p; rank++)
                has[rank] = (uint64_t)(core_folded(&of, rank) ? 3 : 1)
                            << (core_folded(&of, rank) ? rank - 1 : rank);
            for (uint32_t t = 0; t < of.rounds; step += of.radix[t] - 1, ranks *= of.radix[t++])
                for (uint32_t rank = 0; rank < p; rank++) {
                    next[rank] = has[rank];
                    for (uint32_t turn = 0; turn + 1 < of.radix[t] && !core_idle(&of, rank);
                         turn++) {
                        coll_action acts[COLL_STEP_MAX];
                        const unsigned n = core_step(&plan, &of, rank, step + turn, acts);
                        const coll_action *send = core_message(acts, n, true);
                        const coll_action *recv = core_message(acts, n, false);
                        const uint64_t run = UINT64_MAX >> (64 - recv->count)
                                                               << coll_ref_offset(recv->dst);
                        CHECK_EQ(UINT64_MAX >> (64 - send->count) << coll_ref_offset(send->src),
                                 has[rank]);
                        CHECK_EQ(run, has[recv->peer]);
                        CHECK_EQ(run & next[rank], 0);
                        CHECK_EQ(run < has[rank], recv->peer < rank);
                        next[rank] |= run;
                    }
                    /* one run: adding its lowest bit leaves a single one */
                    CHECK_EQ((next[rank] + (next[rank] & (0 - next[rank]))) & next[rank], 0);
                    if (rank + 1 == p)
                        memcpy(has, next, sizeof has);
                }
            for (uint32_t rank = 0; rank < p; rank++)
                if (!core_idle(&of, rank))
                    CHECK_EQ(has[rank], UINT64_MAX >> (64 - p));
        }
}

/* Of a rank's round t, which begins at *step. */
static void check_slots(const coll_plan *plan, const core *of, uint32_t rank, uint32_t t,
                        size_t *step)
{
    const uint32_t turns = of->radix[t] - 1 + (of->radix[t] > 2 ? 1 : 0);
    uint32_t peer_at[64], lower = 0; /* by offset from the first slot */
    coll_ref own = 0, least = SIZE_MAX, sum = 0;
    memset(peer_at, 0xff, sizeof peer_at);
    for (uint32_t turn = 0; turn < turns; turn++, ++*step) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = core_step(plan, of, rank, *step, acts);
        for (const coll_action *a = acts; a < acts + n; a++) {
            if (is_send(a)) {
                CHECK(turn == 0 || a->src == own);
                own = a->src;
                continue;
            }
            if (a->kind == COLL_DO_COPY)
                continue;
            CHECK(a->dst != own);
            sum = a->dst;
            if (!is_receive(a))
                continue;
            lower += a->peer < rank ? 1 : 0;
            least = a->dst < least ? a->dst : least;
            if (a->kind == COLL_DO_RECV_REDUCE)
                CHECK_EQ(a->flags & COLL_LEFT, a->peer < rank ? COLL_LEFT : 0);
            else if (CHECK(coll_ref_offset(a->dst) < 64))
                peer_at[coll_ref_offset(a->dst)] = a->peer;
        }
    }
    CHECK_EQ(coll_ref_space(sum), (of->rounds - t) % 2 ? COLL_OUT : COLL_SCRATCH);
    for (uint32_t j = 0; of->radix[t] > 2 && j + 1 < of->radix[t]; j++) {
        const uint32_t peer = peer_at[coll_ref_offset(least) + j];
        CHECK(j < lower ? peer < rank : peer > rank && peer < of->p);
        CHECK(j == 0 || peer > peer_at[coll_ref_offset(least) + j - 1]);
    }
}

/* Law 3, and the order of operands: slots are those of the others in rank order. */
TEST(rounds_write_where_they_do_not_read)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const core of = core_of(p, core_radices[i]);
                const coll_plan plan = multiplying(COLL_ALLREDUCE, p, of.k, 1, flags);
                for (uint32_t rank = 0; rank < p; rank++) {
                    size_t step = 0;
                    for (uint32_t t = 0; t < of.rounds && !core_idle(&of, rank); t++)
                        check_slots(&plan, &of, rank, t, &step);
                }
            }
}

TEST(costs)
{
    const size_t count = 2;
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const core of = core_of(p, core_radices[i]);
                const uint32_t most = of.rounds > 1 ? of.k : of.rounds == 1 ? of.radix[0] : 0;
                const uint32_t slots = most > 2 ? most - 1 : 0;
                const bool spare = of.rounds > 1 || flags;
                for (int sums = 0; sums <= 1; sums++) {
                    const coll_plan plan = multiplying(sums ? COLL_ALLREDUCE : COLL_ALLGATHER,
                                                       p, of.k, count, flags);
                    const coll_report cost = cost_of(&plan);
                    CHECK_EQ(cost.rounds, of.messages + core_folds(&of));
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const bool idle = core_idle(&of, rank);
                        const uint32_t messages =
                            idle ? 1 : of.messages + (core_folded(&of, rank) ? 1 : 0);
                        CHECK_EQ(cost.ranks[rank].messages, messages);
                        if (sums)
                            CHECK_EQ(cost.ranks[rank].elements, count * messages);
                        CHECK_EQ(coll_plan_scratch(&plan, rank),
                                 sums && !idle && p > 1
                                     ? count *
                                           (slots + (spare || core_folded(&of, rank) ? 1 : 0))
                                     : 0);
                    }
                    if (!sums)
                        CHECK_EQ(cost.total.elements,
                                 count * (of.size * (p - 1) + of.extra * p));
                }
            }
}

/* Operands that together do not fit the machine are refused: those of a group of k, or of all
 * ranks. */
TEST(counts_that_overflow)
{
    static const struct {
        uint32_t p, k;
        coll_status status;
    } cases[] = {{3, 1000, COLL_OK},
                 {1000, 3, COLL_OK},
                 {1000, 1000, COLL_ERR_OVERFLOW},
                 {1000, 65536, COLL_ERR_OVERFLOW}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        coll_problem problem;
        coll_plan plan;
        coll_problem_init(&problem, COLL_ALLREDUCE, cases[i].p, COLL_REF_LIMIT / 64, 1);
        CHECK_STATUS(
            coll_plan_init(&plan, &coll_recursive_multiplying_allreduce, &problem, &cases[i].k),
            cases[i].status);
    }
}

int main(void)
{
    RUN(partners_meet_in_the_same_turn);
    RUN(sets_of_ranks_multiply);
    RUN(rounds_write_where_they_do_not_read);
    RUN(costs);
    RUN(counts_that_overflow);
    return check_done();
}
