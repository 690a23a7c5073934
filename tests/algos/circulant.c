/* tests/algos/circulant.c — the laws of coll/algos/circulant.h */
#include "coll/algos/circulant.h"

#include "support/walk.h"

enum { COUNT = 3 }; /* elements of a block */

static coll_plan circulant(coll_collective collective, uint32_t p, uint32_t flags)
{
    return plan_of(collective == COLL_ALLREDUCE   ? &coll_circulant_allreduce
                   : collective == COLL_ALLGATHER ? &coll_circulant_allgather
                                                  : &coll_circulant_reduce_scatter,
                   collective, p, collective == COLL_ALLREDUCE ? COUNT * p : COUNT,
                   flags | COLL_FLAG_COMMUTATIVE);
}

/* p halved k times, rounding up. */
static uint32_t halved(uint32_t p, uint32_t k)
{
    for (; k > 0; k--)
        p = p / 2 + p % 2;
    return p;
}

/* Laws 1 and 3. */
TEST(the_second_half_goes_to_the_right)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan = circulant(COLL_REDUCE_SCATTER_BLOCK, p, flags);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                bool sent[64] = {false};
                size_t taken = 0;
                uint32_t next = 0, round = 0; /* the block that is to be sent next */
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    const size_t at = coll_ref_offset(a->src) / COUNT;
                    if (is_receive(a)) {
                        const uint32_t k = (uint32_t)w->step[i];
                        taken += a->count / COUNT;
                        CHECK_EQ(a->peer, (rank + p - halved(p, k + 1)) % p);
                        CHECK(taken <= p - halved(p, k + 1));
                    }
                    if (!is_send(a))
                        continue;
                    if (w->step[i] > round || i == 0) {
                        CHECK(i == 0 || next == halved(p, round));
                        round = (uint32_t)w->step[i];
                        next = halved(p, round + 1);
                    }
                    CHECK_EQ(a->peer, (rank + halved(p, round + 1)) % p);
                    CHECK_EQ(a->count % COUNT, 0);
                    CHECK_EQ(round == 0 ? at : (rank + at) % p, (rank + next) % p);
                    for (size_t b = 0; b < a->count / COUNT; b++, next++)
                        if (CHECK(next < p && !sent[(rank + next) % p]))
                            sent[(rank + next) % p] = true;
                    CHECK(next <= halved(p, round));
                }
                CHECK_EQ(taken, p - 1);
                for (uint32_t b = 0; b < p; b++)
                    CHECK_EQ(sent[b], b != rank);
            }
        }
}

/* Law 2: the same blocks in the rounds from last to first; a rank sends what it received there, to
 * the rank that it had them from. */
TEST(an_allgather_goes_backwards)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const coll_plan plan = circulant(COLL_ALLGATHER, p, COLL_FLAG_IN_PLACE);
        const uint32_t rounds = coll_log2_ceil(p);
        for (uint32_t rank = 0; rank < p; rank++) {
            const walk *w = walk_of(&plan, rank);
            size_t given[32] = {0}, taken[32] = {0};
            for (size_t i = 0; i < w->n; i++) {
                const uint32_t k = rounds - 1 - (uint32_t)w->step[i], skip = halved(p, k + 1);
                const coll_action *a = &w->act[i];
                const uint32_t first = is_send(a) ? rank : (rank + skip) % p;
                size_t *done = is_send(a) ? &given[k] : &taken[k];
                CHECK_EQ(a->peer, (rank + (is_send(a) ? p - skip : skip)) % p);
                CHECK_EQ(coll_ref_offset(is_send(a) ? a->src : a->dst),
                         (first + *done) % p * COUNT);
                *done += a->count / COUNT;
            }
            for (uint32_t k = 0; k < rounds; k++) {
                CHECK_EQ(given[k], halved(p, k) - halved(p, k + 1));
                CHECK_EQ(taken[k], given[k]);
            }
        }
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan scatter = circulant(COLL_REDUCE_SCATTER_BLOCK, p, flags);
            const coll_plan gather = circulant(COLL_ALLGATHER, p, flags);
            const coll_plan both = circulant(COLL_ALLREDUCE, p, flags);
            const uint32_t rounds = coll_log2_ceil(p), half = p / 2 + p % 2;
            coll_report cost = cost_of(&scatter);
            size_t messages[2][64];
            CHECK_EQ(cost.rounds, rounds);
            CHECK_EQ(cost.total.reduced, COUNT * p * (p - 1));
            for (uint32_t rank = 0; rank < p; rank++) {
                const uint32_t first = (rank + half) % p;
                messages[0][rank] = rounds + (p > 1 && first + (p - half) > p ? 1u : 0u);
                CHECK_EQ(cost.ranks[rank].messages, messages[0][rank]);
                CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
                CHECK_EQ(coll_plan_scratch(&scatter, rank),
                         COUNT * (p == 1 || (p == 2 && !flags) ? 0
                                  : p > 4                      ? half + half / 2
                                                               : half));
            }
            cost = cost_of(&gather);
            CHECK_EQ(cost.rounds, rounds);
            CHECK_EQ(cost.total.scratch, 0);
            for (uint32_t rank = 0; rank < p; rank++) {
                messages[1][rank] = rounds;
                for (uint32_t k = 0; k < rounds; k++)
                    messages[1][rank] += rank + (halved(p, k) - halved(p, k + 1)) > p ? 1u : 0u;
                CHECK_EQ(cost.ranks[rank].messages, messages[1][rank]);
                CHECK_EQ(cost.ranks[rank].elements, COUNT * (p - 1));
            }
            cost = cost_of(&both);
            CHECK_EQ(cost.rounds, 2 * rounds);
            CHECK_EQ(cost.total.reduced, COUNT * p * (p - 1));
            for (uint32_t rank = 0; rank < p; rank++) {
                CHECK_EQ(cost.ranks[rank].messages, messages[0][rank] + messages[1][rank]);
                CHECK_EQ(cost.ranks[rank].elements, 2 * COUNT * (p - 1));
            }
        }
}

int main(void)
{
    RUN(the_second_half_goes_to_the_right);
    RUN(an_allgather_goes_backwards);
    RUN(costs);
    return check_done();
}
